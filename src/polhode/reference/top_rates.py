"""Rates of a heavy top in a scaled time unit, so that no square overflows."""

from __future__ import annotations

import math
from typing import NamedTuple

from polhode.errors import InputError

_MAX_EXPONENT = 1000
"""Largest binary exponent of a rate in rad/s."""
_MAX_EXPONENT_OVER_WEIGHT = 120
"""Largest binary exponent by which a rate may exceed that of the weight; the cubic holds the squared ratio."""
_NEGLIGIBLE_SHARE = 2.0**-250
"""Fraction of the fastest rate below which a rate counts as 0, since its square underflows."""


class TopRates(NamedTuple):
    """a = I3 w3/Is, beta = 2 M g l/Is, and initial phi' and theta', in a scaled time unit."""

    unit: float
    """Time unit in s, a power of 2."""
    a: float
    beta: float
    precession: float
    theta_rate: float


def scale_top_rates(
    moment: float, axial_moment: float, weight: float, spin: float, precession: float, theta_rate: float
) -> TopRates:
    """Scale the rates so that the fastest is about 1."""
    powers = [_binary_exponent(spin) + _binary_exponent(axial_moment) - _binary_exponent(moment)] if spin else []
    powers += [_binary_exponent(rate) for rate in (precession, theta_rate) if rate]
    of_weight = (_binary_exponent(weight) - _binary_exponent(moment)) // 2
    fastest = max([of_weight, *powers])
    if abs(fastest) > _MAX_EXPONENT:
        raise InputError(
            "the rates of this top exceed double precision: its moments, weight_times_height and rates "
            "differ by too many orders of magnitude"
        )
    if fastest - of_weight > _MAX_EXPONENT_OVER_WEIGHT:
        raise InputError(
            f"weight_times_height = {weight:g} N m is negligible beside spin, precession or theta_rate in double "
            "precision: use SymmetricTop"
        )
    a, p, r = (
        rate if abs(rate) > _NEGLIGIBLE_SHARE else 0.0
        for rate in (
            _scaled_quotient(axial_moment, spin, moment, -fastest),
            math.ldexp(precession, -fastest),
            math.ldexp(theta_rate, -fastest),
        )
    )
    return TopRates(math.ldexp(1.0, -fastest), a, _scaled_quotient(2.0, weight, moment, -2 * fastest), p, r)


def _binary_exponent(x: float) -> int:
    return math.frexp(x)[1]


def _scaled_quotient(x: float, y: float, over: float, power: int) -> float:
    """x y/over times a power of 2, without intermediate overflow."""
    (a, i), (b, j), (c, k) = math.frexp(x), math.frexp(y), math.frexp(over)
    return math.ldexp(a * b / c, i + j - k + power)
