"""Drifts: the free motion of a body during a splitting step, with constant momenta.

The rotational energy is |l|^2/2 Ib + (1/Ia - 1/Ib) la^2/2 + (1/Ic - 1/Ib) lc^2/2, with l the angular momentum in
principal axes and Ib the intermediate moment.  The first term rotates the body about L and commutes with the others.
Those rotate it about its axes a and c; half of one, the other, and half of the first again is a symmetric
approximation of second order, exact if two moments are equal.
"""

from __future__ import annotations

from collections.abc import Callable

from polhode.equations.free_rotation import rotate_freely
from polhode.equations.inertia import BodyConstants
from polhode.equations.law import Groups, Number, Quaternion, Vector, law
from polhode.equations.quaternions import product, to_body
from polhode.equations.scalar_ops import cos, if_less, sin, sqrt
from polhode.equations.vectors import dot, plus, scaled, times


@law
def rotate_exactly(q: Quaternion, angular_momentum: Vector, body: BodyConstants, h: Number) -> Quaternion:
    """The attitude after a free rotation, in closed form."""
    w = times(body.inverse_moments, to_body(q, angular_momentum))
    return rotate_freely(q, w, body.moments, h)[0]


@law
def rotate_about_axes(q: Quaternion, angular_momentum: Vector, body: BodyConstants, h: Number) -> Quaternion:
    """The attitude after a free rotation, by rotations about L and two body axes.  [Dullweber et al. 1997]"""
    middle = _middle_axis(body.moments)
    la, lb, lc = _cycle_axes(middle, to_body(q, angular_momentum))
    ia, ib, ic = _cycle_axes(middle, body.inverse_moments)
    rate_a, rate_c = h * (ia - ib), h * (ic - ib)
    half = rate_a * la / 4
    c1, s1 = cos(half), sin(half)
    lb, lc = _rotate_back(lb, lc, c1, s1)
    whole = rate_c * lc / 2
    c2, s2 = cos(whole), sin(whole)
    la, lb = _rotate_back(la, lb, c2, s2)
    last = rate_a * la / 4
    c3, s3 = cos(last), sin(last)
    # (c1 + s1 e_a)(c2 + s2 e_c)(c3 + s3 e_a), where e_a e_c = -e_b
    along = (c2 * (c1 * c3 - s1 * s3), c2 * (c1 * s3 + s1 * c3))
    across = (s2 * (c1 * s3 - s1 * c3), s2 * (c1 * c3 + s1 * s3))
    x, y, z = _uncycle_axes(middle, (along[1], across[0], across[1]))
    return product(_rotation_about(angular_momentum, ib * h / 2), product(q, (along[0], x, y, z)))


@law
def _rotation_about(vector: Vector, factor: Number) -> Quaternion:
    """The rotation about a vector by twice its length times a factor."""
    length = sqrt(dot(vector, vector))
    angle = factor * length
    s = sin(angle) / if_less(0, length, length, 1 + 0 * length)
    return (cos(angle), s * vector[0], s * vector[1], s * vector[2])


@law
def _rotate_back(x: Number, y: Number, c: Number, s: Number) -> tuple[Number, Number]:
    """Components in axes rotated by the angle whose half has cosine c and sine s."""
    cos2, sin2 = c * c - s * s, 2 * (c * s)
    return cos2 * x + sin2 * y, cos2 * y - sin2 * x


@law
def _middle_axis(moments: Vector) -> Number:
    """0, 1 or 2: the index of the intermediate moment."""
    a, b, c = moments
    zero = 0 * a
    return if_less((b - a) * (c - b), 0, if_less((a - c) * (b - a), 0, 2 + zero, zero), 1 + zero)


@law
def _cycle_axes(middle: Number, v: Vector) -> Vector:
    """Components in cyclic order, with the intermediate moment second."""
    a, b, c = v
    return (
        if_less(middle, 0.5, c, if_less(middle, 1.5, a, b)),
        if_less(middle, 0.5, a, if_less(middle, 1.5, b, c)),
        if_less(middle, 0.5, b, if_less(middle, 1.5, c, a)),
    )


@law
def _uncycle_axes(middle: Number, v: Vector) -> Vector:
    """The inverse of `_cycle_axes`."""
    a, b, c = v
    return (
        if_less(middle, 0.5, b, if_less(middle, 1.5, a, c)),
        if_less(middle, 0.5, c, if_less(middle, 1.5, b, a)),
        if_less(middle, 0.5, a, if_less(middle, 1.5, c, b)),
    )


DRIFTS: dict[str, Callable[..., Quaternion]] = {"exact": rotate_exactly, "axes": rotate_about_axes}


def build_drift(name: str) -> Callable[..., Groups]:
    """(y, h, body) -> y after a drift; y holds (x, q, P, L), and the work if it is counted."""
    turn = DRIFTS[name]

    @law
    def drift(y: Groups, h: Number, body: BodyConstants) -> Groups:
        x = plus(y[0], scaled(h * body.inverse_mass, y[2]))
        return (x, turn(y[1], y[3], body, h)) + y[2:]

    return drift
