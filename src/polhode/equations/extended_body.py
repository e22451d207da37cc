"""The formulation of bodies that are more than rigid: with rotors inside, a mass that changes, or added mass.

The state is that of the formulation "momentum", attitude of the body axes, followed by a group for the momenta of the
rotors, if there are any, and one for the time, if the mass depends on it.
"""

from __future__ import annotations

from functools import cache

from polhode.equations.formulations import FORMULATIONS, Formulation, StateView
from polhode.equations.gyrostat import rotor_speeds, sum_along_axes
from polhode.equations.inertia import BodyConstants, inertia_times
from polhode.equations.interpolation import interp
from polhode.equations.law import Groups, Number, Vector, law
from polhode.equations.matrices import matvec, transpose
from polhode.equations.quaternions import rate as quaternion_rate
from polhode.equations.quaternions import to_body, to_world
from polhode.equations.variable_mass import (
    MassNow,
    current_mass,
    exhaust_force,
    exhaust_torque,
    invert_symmetric,
    mass_now,
)
from polhode.equations.vectors import cross, minus, plus, scaled


@law
def _mass_of(y: Groups, body: BodyConstants) -> MassNow:
    """The mass properties at the time that the state holds."""
    return mass_now(body.course, y[5 if len(body.rotors) else 4][0])


@law
def _inverse_tensor(tensor: Groups, rotors: Groups) -> Groups:
    """(I - sum of J a a^T)^-1 of a tensor (xx, yy, zz, xy, xz, yz), or only its diagonal."""
    zero = 0 * tensor[0]
    xx, yy, zz, xy, xz, yz = tensor if len(tensor) == 6 else (*tensor, zero, zero, zero)
    for (x, y, z), inertia, _ in rotors:
        xx, yy, zz = xx - inertia * (x * x), yy - inertia * (y * y), zz - inertia * (z * z)
        xy, xz, yz = xy - inertia * (x * y), xz - inertia * (x * z), yz - inertia * (y * z)
    return invert_symmetric((xx, yy, zz, xy, xz, yz))


@law
def velocities_with_added_mass(body: BodyConstants, p: Vector, spin: Vector) -> tuple[Vector, Vector]:
    """(v, w) = M^-1 (P, L), body axes, M the 6 x 6 matrix of the body and the fluid around it.  [Lamb 1932]"""
    by_momentum, by_spin = body.added
    v = plus(matvec(by_momentum, p), matvec(by_spin, spin))
    w = plus(matvec(transpose(by_spin), p), matvec(body.inverse_tensor, spin))
    return v, w


@law
def extended_view(y: Groups, body: BodyConstants) -> StateView:
    """w = (I - sum of J a a^T)^-1 (R^T L - sum of H a).  [Hughes 1986, with H instead of s]"""
    x, q, p, angular_momentum = y[:4]
    momenta = y[4] if len(body.rotors) else ()
    inverse_tensor, inverse_mass = body.inverse_tensor, body.inverse_mass
    current: Groups = ()
    if len(body.course):
        now = _mass_of(y, body)
        current = current_mass(body.course, now)
        inverse_tensor, inverse_mass = _inverse_tensor(now.tensor, body.rotors), current[1]
    spin = to_body(q, angular_momentum)
    if len(momenta):
        spin = minus(spin, sum_along_axes(body.rotors, momenta))
    if len(body.added):
        v_body, w = velocities_with_added_mass(body, to_body(q, p), spin)
        velocity = to_world(q, v_body)
    else:
        w = matvec(inverse_tensor, spin)
        velocity = scaled(inverse_mass, p)
    speeds = rotor_speeds(body.rotors, momenta, w)
    return StateView(x, q, p, angular_momentum, velocity, to_world(q, w), w, speeds, momenta, current)


@law
def extended_momentum(y: Groups, body: BodyConstants, force: Vector, torque: Vector, *rotor_torques: Groups) -> Groups:
    """x' = P/M, q' = 1/2 q w, P' = F, L' = torque, H' = u: L is that of body and rotors.  [Hughes 1986]

    What leaves a body whose mass changes adds to F and to the torque.  With added mass P is not along v, and about the
    center of mass, which moves, L' = torque + P x v.  [Kirchhoff's equations: Lamb 1932]
    """
    state, q = extended_view(y, body), y[1]
    if len(body.course):
        now, w, exhaust_velocity = _mass_of(y, body), state.angular_velocity_body, body.course[5]
        v = to_body(q, state.velocity)
        force = plus(force, to_world(q, exhaust_force(now, exhaust_velocity, v, w)))
        torque = plus(torque, to_world(q, exhaust_torque(now, exhaust_velocity, w)))
    if len(body.added):
        torque = plus(torque, cross(y[2], state.velocity))
    q_rate = quaternion_rate(q, state.angular_velocity_body)
    clock = ((1 + 0 * force[0],),) if len(body.course) else ()
    return (state.velocity, q_rate, force, torque, *rotor_torques, *clock)


@law
def gyrostat_acceleration(state: StateView, body: BodyConstants, torque_body: Vector, rotor_torques: Groups) -> Vector:
    """w' = (I - sum of J a a^T)^-1 (torque - w x L - sum of u a), body axes, about the center of mass or the pivot."""
    w = state.angular_velocity_body
    relative = tuple(rotor[1] * speed for rotor, speed in zip(body.rotors, state.rotor_speed, strict=True))
    total = plus(inertia_times(body, w), sum_along_axes(body.rotors, relative))
    left = minus(minus(torque_body, cross(w, total)), sum_along_axes(body.rotors, rotor_torques))
    return matvec(body.inverse_tensor, left)


@law
def variable_mass_acceleration(y: Groups, body: BodyConstants, force: Vector) -> Vector:
    """(F + m' (u + 2 w x r))/m: the acceleration of the center of mass.  [Cornelisse et al. 1979]"""
    state, now = extended_view(y, body), _mass_of(y, body)
    rest = scaled(0, state.angular_velocity_body)
    reaction = exhaust_force(now, body.course[5], rest, state.angular_velocity_body)
    return scaled(1 / now.mass, plus(force, to_world(state.orientation, reaction)))


@law
def _added_mass_rates(
    state: StateView, body: BodyConstants, force: Vector, torque: Vector, rotor_torques: Groups
) -> tuple[Vector, Vector]:
    """(v', w') = M^-1 (P x w + F, L x w + P x v + torque), body axes.  [Kirchhoff's equations: Lamb 1932]"""
    q, w = state.orientation, state.angular_velocity_body
    p, v, spin = to_body(q, state.linear_momentum), to_body(q, state.velocity), to_body(q, state.angular_momentum)
    p_rate = plus(cross(p, w), to_body(q, force))
    spin_rate = plus(plus(cross(spin, w), cross(p, v)), to_body(q, torque))
    if len(rotor_torques):
        spin_rate = minus(spin_rate, sum_along_axes(body.rotors, rotor_torques))
    return velocities_with_added_mass(body, p_rate, spin_rate)


@law
def added_mass_acceleration(
    state: StateView, body: BodyConstants, force: Vector, torque: Vector, rotor_torques: Groups
) -> Vector:
    """The acceleration of the center of mass, R (v' + w x v).  [Kirchhoff's equations: Lamb 1932]"""
    q, w = state.orientation, state.angular_velocity_body
    v_rate, _ = _added_mass_rates(state, body, force, torque, rotor_torques)
    return to_world(q, plus(v_rate, cross(w, to_body(q, state.velocity))))


@law
def added_mass_angular_acceleration(
    state: StateView, body: BodyConstants, force: Vector, torque: Vector, rotor_torques: Groups
) -> Vector:
    """R w', the angular acceleration in world axes.  [Kirchhoff's equations: Lamb 1932]"""
    return to_world(state.orientation, _added_mass_rates(state, body, force, torque, rotor_torques)[1])


def torque_from_table(t: Number, state: StateView, body: BodyConstants, params: Groups) -> Number:
    """The torque of a rotor at the time t, interpolated linearly in a table: params = (times, torques)."""
    return interp(t, params[0], params[1])


@cache
def extended_formulation(sizes: tuple[int, ...], controlled: int) -> Formulation:
    """The formulation of a body with more groups of these sizes, in which so many numbers have an error."""
    momentum = FORMULATIONS["momentum"]
    return momentum._replace(
        sizes=momentum.sizes + sizes,
        rate=extended_momentum,
        view=extended_view,
        controlled=momentum.controlled + controlled,
    )
