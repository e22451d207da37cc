"""Forces on one body: (t, state, body, params) -> (force, torque about the center of mass), both in world axes."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from polhode.equations.formulations import StateView
from polhode.equations.inertia import BodyConstants, inertia_times
from polhode.equations.law import Groups, Number, Vector, law
from polhode.equations.quaternions import to_body, to_world
from polhode.equations.scalar_ops import if_less, sqrt, within
from polhode.equations.vectors import cross, dot, minus, plus, scaled, zero_vector


@law
def gravity(t: Number, state: StateView, body: BodyConstants, params: Groups) -> tuple[Vector, Vector]:
    """F = M g, no torque: a uniform field acts at the center of mass.  [Baraff 1997, eq. 5-4, 5-5]"""
    return scaled(body.mass, params[0]), zero_vector(t)


@law
def gravity_potential(t: Number, state: StateView, body: BodyConstants, params: Groups) -> Number:
    """V = -M g . x"""
    return -body.mass * dot(params[0], state.position)


@law
def point_gravity(t: Number, state: StateView, body: BodyConstants, params: Groups) -> tuple[Vector, Vector]:
    """F = -M gm n/r^2, torque = 3 gm/r^3 n x (I n), n from the attracting point.  [gravity-gradient torque]"""
    gm, center = params
    away = minus(state.position, center)
    rr = dot(away, away)
    r = sqrt(rr)
    n_body = scaled(1 / r, to_body(state.orientation, away))
    torque_body = scaled(3 * gm / (rr * r), cross(n_body, inertia_times(body, n_body)))
    return scaled(-gm * body.mass / (rr * r), away), to_world(state.orientation, torque_body)


@law
def linear_drag(t: Number, state: StateView, body: BodyConstants, params: Groups) -> tuple[Vector, Vector]:
    """F = -c (v - wind)"""
    c, wind = params
    return scaled(-c, minus(state.velocity, wind)), zero_vector(t)


@law
def quadratic_drag(t: Number, state: StateView, body: BodyConstants, params: Groups) -> tuple[Vector, Vector]:
    """F = -c |u| u, u = v - wind"""
    c, wind = params
    u = minus(state.velocity, wind)
    return scaled(-c * sqrt(dot(u, u)), u), zero_vector(t)


@law
def rotational_drag(t: Number, state: StateView, body: BodyConstants, params: Groups) -> tuple[Vector, Vector]:
    """torque = -c w"""
    return zero_vector(t), scaled(-params[0], state.angular_velocity)


@law
def world_force_at_body_point(
    t: Number, state: StateView, body: BodyConstants, params: Groups
) -> tuple[Vector, Vector]:
    """F fixed in the world, at a point fixed in the body: torque = (R r) x F.  [Baraff 1997, eq. 2-21]"""
    force, com_to_point_body = params
    return force, cross(to_world(state.orientation, com_to_point_body), force)


@law
def body_force_at_body_point(t: Number, state: StateView, body: BodyConstants, params: Groups) -> tuple[Vector, Vector]:
    """F fixed in the body, at a point fixed in the body: torque_body = r x F_body."""
    force_body, com_to_point_body = params
    torque_body = cross(com_to_point_body, force_body)
    return to_world(state.orientation, force_body), to_world(state.orientation, torque_body)


@law
def world_force_at_world_point(
    t: Number, state: StateView, body: BodyConstants, params: Groups
) -> tuple[Vector, Vector]:
    """F fixed in the world, at a point fixed in the world: torque = (p - x) x F.  [Baraff 1997, eq. 2-21]"""
    force, point = params
    return force, cross(minus(point, state.position), force)


@law
def body_force_at_world_point(
    t: Number, state: StateView, body: BodyConstants, params: Groups
) -> tuple[Vector, Vector]:
    """F fixed in the body, at a point fixed in the world: torque = (p - x) x (R F_body)."""
    force_body, point = params
    force = to_world(state.orientation, force_body)
    return force, cross(minus(point, state.position), force)


@law
def world_torque(t: Number, state: StateView, body: BodyConstants, params: Groups) -> tuple[Vector, Vector]:
    """A torque fixed in the world."""
    return zero_vector(t), params[0]


@law
def body_torque(t: Number, state: StateView, body: BodyConstants, params: Groups) -> tuple[Vector, Vector]:
    """A torque fixed in the body.  [Tops report, section 7]"""
    return zero_vector(t), to_world(state.orientation, params[0])


@law
def magnetic_torquer(t: Number, state: StateView, body: BodyConstants, params: Groups) -> tuple[Vector, Vector]:
    """torque = m x B of a dipole fixed in the body in a uniform field, in its windows of time.  [Wertz 1978, ch. 19]"""
    dipole_body, field, times = params
    dipole = to_world(state.orientation, scaled(within_any(t, times), dipole_body))
    return zero_vector(t), cross(dipole, field)


@law
def magnetic_torquer_over_earth(
    t: Number, state: StateView, body: BodyConstants, params: Groups
) -> tuple[Vector, Vector]:
    """torque = m x B in the field of a dipole at the origin: B = (3 (p.n) n - p)/r^3.  [Wertz 1978, app. H]

    p in T m3 is along the world's axes: the Earth's own, along -z, is the same at all longitudes.
    """
    dipole_body, moment, times = params
    rr = dot(state.position, state.position)
    share = 3 * dot(moment, state.position) / rr
    field = scaled(1 / (rr * sqrt(rr)), minus(scaled(share, state.position), moment))
    return magnetic_torquer(t, state, body, (dipole_body, field, times))


@law
def thruster(t: Number, state: StateView, body: BodyConstants, params: Groups) -> tuple[Vector, Vector]:
    """A force fixed in the body, in its windows of time."""
    com_to_nozzle_body, force_body, times = params
    force_now = scaled(within_any(t, times), force_body)
    return body_force_at_body_point(t, state, body, (force_now, com_to_nozzle_body))


@law
def within_any(t: Number, times: Groups) -> Number:
    """1 in some window, start <= t < stop, of times = (start, stop, start, stop, ...) that do not overlap; else 0."""
    inside = within(t, times[0], times[1])
    for k in range(2, len(times), 2):
        inside = inside + within(t, times[k], times[k + 1])
    return inside


@lru_cache
def in_windows(kernel: Callable[..., tuple[Vector, Vector]]) -> Callable[..., tuple[Vector, Vector]]:
    """A force that acts in its windows of time: params = (the force's own..., times)."""

    def windowed(t: Number, state: StateView, body: BodyConstants, params: Groups) -> tuple[Vector, Vector]:
        inside = within_any(t, params[-1])
        force, torque = kernel(t, state, body, params[:-1])
        return scaled(inside, force), scaled(inside, torque)

    return windowed


@law
def spring(t: Number, state: StateView, body: BodyConstants, params: Groups) -> tuple[Vector, Vector]:
    """F = -(k (|d| - length) + c d') d/|d| at a point of the body, d from the anchor in the world."""
    stiffness, damping, length, com_to_point_body, anchor = params
    arm = to_world(state.orientation, com_to_point_body)
    away = minus(plus(state.position, arm), anchor)
    velocity = plus(state.velocity, cross(state.angular_velocity, arm))
    force = spring_force(away, velocity, stiffness, damping, length)
    return force, cross(arm, force)


@law
def spring_potential(t: Number, state: StateView, body: BodyConstants, params: Groups) -> Number:
    """V = k (|d| - length)^2/2"""
    stiffness, _, length, com_to_point_body, anchor = params
    away = minus(plus(state.position, to_world(state.orientation, com_to_point_body)), anchor)
    return spring_energy(away, stiffness, length)


@law
def spring_force(away: Vector, velocity: Vector, stiffness: Number, damping: Number, length: Number) -> Vector:
    """The force along d = `away`; zero where d = 0, where the direction is undefined."""
    dd = dot(away, away)
    safe = if_less(0 * dd, dd, dd, 1 + 0 * dd)
    per_length = stiffness * (1 - length / sqrt(safe)) + damping * dot(velocity, away) / safe
    return scaled(-per_length, away)


@law
def spring_energy(away: Vector, stiffness: Number, length: Number) -> Number:
    """k (|d| - length)^2/2"""
    stretch = sqrt(dot(away, away)) - length
    return stiffness * stretch * stretch / 2


@law
def impulse(t: Number, state: StateView, body: BodyConstants, params: Groups) -> tuple[Vector, Vector]:
    """The jumps of P and L when an impulse J, in world axes, acts at a point of the body: J, (R r) x J."""
    jump, com_to_point_body = params
    return jump, cross(to_world(state.orientation, com_to_point_body), jump)


@law
def body_impulse(t: Number, state: StateView, body: BodyConstants, params: Groups) -> tuple[Vector, Vector]:
    """The jumps of P and L when an impulse, in body axes, acts at a point of the body."""
    return body_force_at_body_point(t, state, body, params)


@law
def applied_load(t: Number, state: StateView, body: BodyConstants, params: Groups) -> tuple[Vector, Vector]:
    """A force and a torque about the center of mass in world axes, and the same in body axes, all of them given."""
    force, torque, force_body, torque_body = params
    q = state.orientation
    return plus(force, to_world(q, force_body)), plus(torque, to_world(q, torque_body))


@law
def coupled_load(t: Number, state: StateView, body: BodyConstants, params: Groups) -> tuple[Vector, Vector]:
    """What another program applies, each vector with its rate: value + (t - since) rate.

    A force and a torque in world axes, the same in body axes, and world forces F_i at points of the body, given by the
    three body vectors sum(r_i F_ix), sum(r_i F_iy), sum(r_i F_iz): their torque is sum((R r_i) x F_i).  Their sum is
    part of the force.  [Baraff 1997, eq. 2-21, summed over points]
    """
    values, rates, since = params
    dt = t - since
    force, torque, force_body, torque_body, *arms_body = (
        plus(value, scaled(dt, rate)) for value, rate in zip(values, rates, strict=True)
    )
    push, turn = applied_load(t, state, body, (force, torque, force_body, torque_body))
    x, y, z = (to_world(state.orientation, arm) for arm in arms_body)
    return push, plus(turn, (z[1] - y[2], x[2] - z[0], y[0] - x[1]))
