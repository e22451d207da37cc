"""Mass, center of mass and inertia that change along a given course, and the reaction of the mass that leaves.

Within a piece of the course the numbers (mass, center, tensor) are polynomials of s = (t - origin) scale.  The flow
inside the body is steady relative to it.  [Cornelisse et al. 1979]
"""

from __future__ import annotations

from typing import NamedTuple

from polhode.equations.law import Groups, Matrix, Number, Vector, law
from polhode.equations.vectors import cross, minus, plus, scaled


class MassPiece(NamedTuple):
    """A piece of the course."""

    origin: Number
    scale: Number
    coefficients: Groups
    """Of mass, center x, y, z, and the tensor xx, yy, zz, xy, xz, yz about it; lowest power first.

    Without the last three the tensor stays diagonal.  One that does not change has the power 0 alone.
    """
    nozzle: Vector
    """Where mass leaves, in the coordinates of the center."""
    has_nozzle: Number
    """1; or 0: mass leaves at the center of mass."""
    exhaust_velocity: Vector
    """Of the mass that leaves, relative to the body, body axes."""


class MassNow(NamedTuple):
    """The mass properties at one time."""

    mass: Number
    mass_rate: Number
    tensor: Groups
    """xx, yy, zz, and xy, xz, yz if it is not diagonal."""
    com_to_nozzle: Vector


@law
def polynomial(coefficients: Groups, s: Number) -> Number:
    """c0 + c1 s + c2 s^2 + ..."""
    total = coefficients[-1]
    for c in coefficients[-2::-1]:
        total = total * s + c
    return total


@law
def polynomial_rate(coefficients: Groups, s: Number) -> Number:
    """c1 + 2 c2 s + 3 c3 s^2 + ..."""
    return polynomial(tuple(k * c for k, c in enumerate(coefficients) if k > 0), s)


@law
def mass_now(piece: Groups, t: Number) -> MassNow:
    """The mass properties at the time t, and the rate of the mass."""
    origin, scale, coefficients, nozzle, has_nozzle, _ = piece
    s = (t - origin) * scale
    mass, *others = (polynomial(row, s) for row in coefficients)
    center: Vector = (others[0], others[1], others[2])
    com_to_nozzle = scaled(has_nozzle, minus(nozzle, center))
    return MassNow(mass, polynomial_rate(coefficients[0], s) * scale, tuple(others[3:]), com_to_nozzle)


@law
def current_mass(piece: Groups, now: MassNow) -> Groups:
    """What `constants_for_forces` takes: the mass, its reciprocal, and the tensor if it changes."""
    changing = now.tensor if len(piece[2][4]) > 1 else ()
    return (now.mass, 1 / now.mass, *changing)


@law
def invert_symmetric(tensor: Groups) -> Matrix:
    """The inverse of a symmetric matrix (xx, yy, zz, xy, xz, yz), by its cofactors."""
    xx, yy, zz, xy, xz, yz = tensor
    a, b, c = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
    d, e, f = xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy
    s = 1 / (xx * a + xy * b + xz * c)
    return (s * a, s * b, s * c, s * b, s * d, s * e, s * c, s * e, s * f)


@law
def exhaust_force(now: MassNow, exhaust_velocity: Vector, v: Vector, w: Vector) -> Vector:
    """P' = m' (u + v + 2 w x r), body axes: thrust, the momentum that leaves, Coriolis force of the flow.

    r is from the center of mass to the nozzle.  [Cornelisse et al. 1979; P = m v]
    """
    leaving = plus(plus(exhaust_velocity, v), scaled(2, cross(w, now.com_to_nozzle)))
    return scaled(now.mass_rate, leaving)


@law
def exhaust_torque(now: MassNow, exhaust_velocity: Vector, w: Vector) -> Vector:
    """L' = m' r x (u + w x r), body axes: the moment of the thrust, and jet damping.  [Thomson and Reiter 1965]"""
    r = now.com_to_nozzle
    return scaled(now.mass_rate, cross(r, plus(exhaust_velocity, cross(w, r))))
