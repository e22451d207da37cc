"""Closed forms in plain arithmetic, for durations and initial states: a page can follow them from its knobs.

The numbers of a model are checked against `polhode.reference`, which does not use them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import pi
from typing import Any

from polhode.equations.law import Number, Vector
from polhode.equations.scalar_ops import absolute, if_less, larger, sqrt

MEANS = 9
"""Enough steps of the arithmetic-geometric mean for 1 - m above 1e-30."""


def radians(degrees: Number) -> Number:
    """An angle in rad."""
    return degrees * (pi / 180)


def quarter_period(complement: Number) -> Number:
    """K(m) = pi/(2 agm(1, sqrt(1 - m))), of 1 - m.  [DLMF 19.8.5]"""
    a: Any = 1.0
    b = sqrt(complement)
    for _ in range(MEANS):
        a, b = (a + b) / 2, sqrt(a * b)
    return pi / (2 * a)


def free_rotation_period(moments: Vector, rates: Vector) -> Number:
    """4 K(m)/lambda: the period of the angular velocity of a free body in its axes.  [Landau and Lifshitz, section 37]

    Moments increase or decrease from axis to axis.
    """
    (a, b, c), (p, q, r) = moments, rates
    outer, inner = absolute(a - b), absolute(b - c)
    beyond = c * inner * (r * r) - a * outer * (p * p)  # |L^2 - 2 E Ib|, with a sign that tells the circled axis
    d12, d23 = if_less(beyond, 0.0, inner, outer), if_less(beyond, 0.0, outer, inner)
    j3, w3 = if_less(beyond, 0.0, a, c), if_less(beyond, 0.0, p, r)
    d13 = absolute(a - c)
    moves = d23 * (b * d12 * (q * q) + j3 * d13 * (w3 * w3))
    rate = sqrt(moves / (a * b * c))
    return 4 * quarter_period(d13 * absolute(beyond) / moves) / rate


def sorted_period(moments: Sequence[float], rates: Vector) -> Number:
    """The same for constant moments in any order."""
    order = sorted(range(3), key=moments.__getitem__)
    a, b, c = (moments[k] for k in order)
    p, q, r = (rates[k] for k in order)
    return free_rotation_period((a, b, c), (p, q, r))


def released_period(
    moment: Number, axial_moment: Number, weight_times_height: Number, cosine: Number, spin: Number
) -> Number:
    """4 K(m)/sqrt(beta (u3 - u1)): the nutation of a heavy top released at cos(theta) with spin only.

    u1 and u3 are the roots of u^2 - 2 b u + 2 b cos(theta) - 1, b = (I3 w3)^2/(4 Is M g l), and u2 = cos(theta).
    """
    along = axial_moment * spin
    b = along * along / (4 * moment * weight_times_height)
    root = sqrt(b * b - 2 * b * cosine + 1)
    complement = (b + root - cosine) / (2 * root)
    return 4 * quarter_period(complement) / sqrt(4 * weight_times_height * root / moment)


def nutation_period(
    moment: Number, axial_moment: Number, weight_times_height: Number, cosine: Number, spin: Number, precession: Number
) -> Number:
    """4 K(m)/sqrt(beta (u3 - u1)) of a heavy top at a turning point of theta, with any precession there.

    u'^2 = (1 - u^2)(alpha - beta u) - (b - a u)^2 has the root u = cos(theta); the others solve a quadratic equation.
    """
    a, beta = axial_moment * spin / moment, 2 * weight_times_height / moment
    sine_squared = 1 - cosine * cosine
    b = precession * sine_squared + a * cosine
    linear = beta * cosine - (precession * precession * sine_squared + beta * cosine + a * a)
    constant = linear * cosine + (2 * a * b - beta)
    root = sqrt(linear * linear - 4 * beta * constant)
    u3, other = (root - linear) / (2 * beta), 2 * constant / (root - linear)
    u2, u1 = larger(cosine, other), -larger(-cosine, -other)
    return 4 * quarter_period((u3 - u2) / (u3 - u1)) / sqrt(beta * (u3 - u1))


def steady_precession_rates(
    moment: Number, axial_moment: Number, weight_times_height: Number, cosine: Number, spin: Number
) -> tuple[Number, Number]:
    """The slow and the fast root of Is cos(theta) p^2 - I3 w3 p + M g l = 0."""
    along = axial_moment * spin
    half = (along + sqrt(along * along - 4 * moment * weight_times_height * cosine)) / 2
    return weight_times_height / half, half / (moment * cosine)
