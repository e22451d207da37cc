"""The rates of a heavy top, counted in a unit of time of its own, so that no square of them overflows."""

from __future__ import annotations

import math
from typing import NamedTuple

from polhode.errors import InputError

_MAX_EXPONENT = 1000
"""The largest power of 2 that a rate in rad/s may reach."""
_MAX_EXPONENT_OVER_WEIGHT = 120
"""By how many powers of 2 a rate may exceed that of the weight: the cubic holds the square of their ratio."""
_NEGLIGIBLE_SHARE = 2.0**-250
"""A rate that is such a share of the fastest counts as 0: its square underflows beside it."""


class TopRates(NamedTuple):
    """a = I3 w3/Is, beta = 2 M g l/Is, phi' and theta' at the start, counted in a unit of time."""

    unit: float
    """In s, a power of 2."""
    a: float
    beta: float
    precession: float
    theta_rate: float


def scale_top_rates(
    moment: float, axial_moment: float, weight: float, spin: float, precession: float, theta_rate: float
) -> TopRates:
    """In a unit in which the fastest rate is about 1."""
    powers = [_binary_exponent(spin) + _binary_exponent(axial_moment) - _binary_exponent(moment)] if spin else []
    powers += [_binary_exponent(rate) for rate in (precession, theta_rate) if rate]
    of_weight = (_binary_exponent(weight) - _binary_exponent(moment)) // 2
    fastest = max([of_weight, *powers])
    if abs(fastest) > _MAX_EXPONENT:
        raise InputError(
            "the rates of this top cannot be held in double precision: its moments, weight_times_height and rates "
            "are too far apart"
        )
    if fastest - of_weight > _MAX_EXPONENT_OVER_WEIGHT:
        raise InputError(
            f"weight_times_height = {weight:g} N m is lost beside spin, precession or theta_rate in double precision: "
            "without it use SymmetricTop"
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
    """x y/over times a power of 2; nothing on the way to it overflows."""
    (a, i), (b, j), (c, k) = math.frexp(x), math.frexp(y), math.frexp(over)
    return math.ldexp(a * b / c, i + j - k + power)
