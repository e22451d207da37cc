"""Rotors in a body (gyrostats): flywheels and reaction wheels that spin about axes fixed in it.

The inertia of the body is that of the whole, with the rotors locked.  A rotor is symmetric about its axis a; its speed
s is relative to the body, and H = J (a . w + s) is its angular momentum along a.  [Hughes 1986]
"""

from __future__ import annotations

from typing import NamedTuple

from polhode.equations.law import Groups, Number, Vector, law
from polhode.equations.scalar_ops import absolute, if_less, larger
from polhode.equations.vectors import dot, plus, scaled


class RotorConstants(NamedTuple):
    """What the equations need of a rotor.  One that another body of the system carries has zeros."""

    axis: Vector
    """A unit vector, body axes."""
    inertia: Number
    """J, about the axis."""
    inverse_inertia: Number


@law
def sum_along_axes(rotors: Groups, amounts: Groups) -> Vector:
    """h = sum of H a, body axes: the momenta of all rotors along their axes, or their torques."""
    total = scaled(amounts[0], rotors[0][0])
    for (axis, _, _), amount in zip(rotors[1:], amounts[1:], strict=True):
        total = plus(total, scaled(amount, axis))
    return total


@law
def rotor_speeds(rotors: Groups, momenta: Groups, w: Vector) -> Groups:
    """s = H/J - a . w, relative to the body.  [Hughes 1986]"""
    return tuple(
        momentum * inverse_inertia - dot(axis, w)
        for (axis, _, inverse_inertia), momentum in zip(rotors, momenta, strict=True)
    )


@law
def rotor_energy(speeds: Groups, momenta: Groups) -> Number:
    """sum of H s/2: what the rotors add to w . L/2 of the whole, so that the sum is the kinetic energy."""
    total = momenta[0] * speeds[0]
    for momentum, speed in zip(momenta[1:], speeds[1:], strict=True):
        total = total + momentum * speed
    return total / 2


@law
def rotor_power(torques: Groups, speeds: Groups) -> Number:
    """sum of u s: the power of the motors, each of which turns its rotor one way and the body the other."""
    total = torques[0] * speeds[0]
    for torque, speed in zip(torques[1:], speeds[1:], strict=True):
        total = total + torque * speed
    return total


@law
def limit_rotor_torque(
    torque: Number, speed: Number, max_torque: Number, inverse_max_speed: Number, taper: Number
) -> Number:
    """The torque that a motor delivers: at most `max_torque`, and near the largest speed less.

    A torque that drives the rotor faster falls linearly to zero over the last part, `taper`, of the way to the largest
    speed; one that brakes it does not.
    """
    zero, one = 0 * torque, 1 + 0 * torque
    strong = if_less(max_torque, torque, max_torque, if_less(torque, -max_torque, -max_torque, torque))
    left = larger((1 - absolute(speed) * inverse_max_speed) / taper, zero)
    return if_less(zero, strong * speed, strong * if_less(left, one, left, one), strong)
