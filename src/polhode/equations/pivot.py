"""A body held at a pivot: moving momentum and torque between the pivot and the center of mass.

r = pivot_to_com points from the pivot to the center of mass; all vectors are in world axes unless the name says body.
"""

from __future__ import annotations

from polhode.equations.law import Quaternion, Vector, law
from polhode.equations.quaternions import to_world
from polhode.equations.vectors import cross, minus, plus, scaled


@law
def pivot_to_com_world(q: Quaternion, com_to_pivot_body: Vector) -> Vector:
    """r = -R(q) r_body, r_body from the center of mass to the pivot."""
    return scaled(-1, to_world(q, com_to_pivot_body))


@law
def com_velocity(angular_velocity: Vector, pivot_to_com: Vector) -> Vector:
    """v = w x r: the velocity of the center of mass of a body that turns about its pivot."""
    return cross(angular_velocity, pivot_to_com)


@law
def com_acceleration(angular_acceleration: Vector, angular_velocity: Vector, pivot_to_com: Vector) -> Vector:
    """a = w' x r + w x (w x r): tangential and centripetal acceleration of the center of mass."""
    centripetal = cross(angular_velocity, cross(angular_velocity, pivot_to_com))
    return plus(cross(angular_acceleration, pivot_to_com), centripetal)


@law
def angular_momentum_about_pivot(about_com: Vector, pivot_to_com: Vector, linear_momentum: Vector) -> Vector:
    """L_pivot = L_com + r x P"""
    return plus(about_com, cross(pivot_to_com, linear_momentum))


@law
def angular_momentum_about_com(about_pivot: Vector, pivot_to_com: Vector, linear_momentum: Vector) -> Vector:
    """L_com = L_pivot - r x P"""
    return minus(about_pivot, cross(pivot_to_com, linear_momentum))


@law
def torque_about_pivot(about_com: Vector, pivot_to_com: Vector, force: Vector) -> Vector:
    """torque_pivot = torque_com + r x F; likewise for an angular impulse and an impulse."""
    return plus(about_com, cross(pivot_to_com, force))
