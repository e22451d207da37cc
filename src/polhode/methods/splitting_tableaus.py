"""Splitting methods as tableaus: the lengths of kicks and drifts, as fractions of the step.

A kick changes the momenta by force and torque at fixed coordinates; a drift is the free motion of the bodies.
All are palindromes, hence time-reversible.
"""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import NamedTuple


class Composition(NamedTuple):
    """kick, drift, kick, drift, ..., kick: one kick more than drifts."""

    name: str
    order: int
    kicks: tuple[float, ...]
    drifts: tuple[float, ...]
    drift: str
    """The free rotation: "exact" (closed form), or "axes" (rotations about L and two body axes)."""
    source: str


def _total(lengths: tuple[float, ...]) -> float:
    """The sum, from left to right: that of `sum` has other last bits from Python 3.12 on."""
    return reduce(add, lengths, 0.0)


def compose_steps(name: str, order: int, lengths: tuple[float, ...], drift: str, source: str) -> Composition:
    """Compose steps (half a kick, drift, half a kick) of these lengths, a middle one, and the same in reverse.

    The order holds for any symmetric approximation of the drift.
    """
    lengths = (*lengths, 1 - 2 * _total(lengths), *lengths[::-1])
    ends = (0.0, *lengths, 0.0)
    kicks = tuple((ends[i] + ends[i + 1]) / 2 for i in range(len(ends) - 1))
    return Composition(name, order, kicks, lengths, drift, source)


def compose_flows(
    name: str, order: int, kicks: tuple[float, ...], drifts: tuple[float, ...], source: str
) -> Composition:
    """Compose kicks and drifts of these lengths, the middle ones that complete the sums to 1, and the same in reverse.

    The order holds for exact drifts only.
    """
    last = 0.5 - _total(drifts)
    return Composition(
        name,
        order,
        (*kicks, 1 - 2 * _total(kicks), *kicks[::-1]),
        (*drifts, last, last, *drifts[::-1]),
        "exact",
        source,
    )


_STRANG = "[Strang 1968]; drift about L and two axes [Dullweber et al. 1997]"
_SUZUKI = 1 / (4 - 4 ** (1 / 3))

COMPOSITIONS: dict[str, Composition] = {
    composition.name: composition
    for composition in (
        compose_steps("splitting2", 2, (), "axes", _STRANG),
        compose_steps("splitting4", 4, (_SUZUKI, _SUZUKI), "axes", "[Suzuki 1990]"),
        compose_steps(
            "splitting6",
            6,
            (
                0.39216144400731413928,
                0.33259913678935943860,
                -0.70624617255763935981,
                0.08221359629355080023,
            ),
            "axes",
            "[Kahan and Li 1997; Hairer et al. 2006, section V.3.2]",
        ),
        compose_steps("splitting2_exact", 2, (), "exact", "[Strang 1968]"),
        compose_flows(
            "splitting4_exact",
            4,
            (0.0792036964311957, 0.353172906049774, -0.0420650803577195),
            (0.209515106613362, -0.143851773179818),
            "[Blanes and Moan 2002, S6]",
        ),
        compose_flows(
            "splitting6_exact",
            6,
            (0.0502627644003922, 0.413514300428344, 0.0450798897943977, -0.188054853819569, 0.541960678450780),
            (0.148816447901042, -0.132385865767784, 0.067307604692185, 0.432666402578175),
            "[Blanes and Moan 2002, S10]",
        ),
    )
}
