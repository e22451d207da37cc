"""Forces between two bodies, in world axes.

(t, state_a, body_a, state_b, body_b, params) -> (force on a, torque on a, torque on b).
Body b feels the opposite force, so the total linear momentum is conserved.
"""

from __future__ import annotations

from polhode.equations.force_laws import spring_energy, spring_force
from polhode.equations.formulations import StateView
from polhode.equations.inertia import BodyConstants
from polhode.equations.law import Groups, Number, Vector, law
from polhode.equations.quaternions import to_world
from polhode.equations.scalar_ops import sqrt
from polhode.equations.vectors import cross, dot, minus, plus, scaled, zero_vector


@law
def spring_between(
    t: Number, a: StateView, body_a: BodyConstants, b: StateView, body_b: BodyConstants, params: Groups
) -> tuple[Vector, Vector, Vector]:
    """A spring-damper from a point of body a to a point of body b."""
    stiffness, damping, length, com_to_point_a, com_to_point_b = params
    arm_a, arm_b = to_world(a.orientation, com_to_point_a), to_world(b.orientation, com_to_point_b)
    away = minus(plus(a.position, arm_a), plus(b.position, arm_b))
    velocity_a = plus(a.velocity, cross(a.angular_velocity, arm_a))
    velocity_b = plus(b.velocity, cross(b.angular_velocity, arm_b))
    force = spring_force(away, minus(velocity_a, velocity_b), stiffness, damping, length)
    return force, cross(arm_a, force), cross(force, arm_b)


@law
def spring_between_potential(
    t: Number, a: StateView, body_a: BodyConstants, b: StateView, body_b: BodyConstants, params: Groups
) -> Number:
    """V = k (|d| - length)^2/2"""
    stiffness, _, length, com_to_point_a, com_to_point_b = params
    point_a = plus(a.position, to_world(a.orientation, com_to_point_a))
    point_b = plus(b.position, to_world(b.orientation, com_to_point_b))
    return spring_energy(minus(point_a, point_b), stiffness, length)


@law
def mutual_gravity(
    t: Number, a: StateView, body_a: BodyConstants, b: StateView, body_b: BodyConstants, params: Groups
) -> tuple[Vector, Vector, Vector]:
    """F = -G M_a M_b d/|d|^3, d from b to a: Newton's law between the centers of mass."""
    away = minus(a.position, b.position)
    rr = dot(away, away)
    force = scaled(-params[0] * body_a.mass * body_b.mass / (rr * sqrt(rr)), away)
    return force, zero_vector(t), zero_vector(t)


@law
def mutual_gravity_potential(
    t: Number, a: StateView, body_a: BodyConstants, b: StateView, body_b: BodyConstants, params: Groups
) -> Number:
    """V = -G M_a M_b/|d|"""
    away = minus(a.position, b.position)
    return -params[0] * body_a.mass * body_b.mass / sqrt(dot(away, away))
