"""Double-double arithmetic: numbers of twice the precision, each the unevaluated sum of two doubles.

The rounding error of a sum or product of two doubles is itself a double and can be computed.  [Dekker 1971; Knuth, The
Art of Computer Programming, vol. 2, section 4.2.2]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.validation import Array

DEKKER_SPLITTER = 2.0**27 + 1


@dataclass(frozen=True, eq=False)
class DoubleDouble:
    """Arrays high + low, with |low| at most half a unit in the last place of high."""

    high: Array
    low: Array

    def __add__(self, other: DoubleDouble) -> DoubleDouble:
        s, e = _two_sum(self.high, other.high)
        return _renormalize_pair(s, e + (self.low + other.low))

    def __sub__(self, other: DoubleDouble) -> DoubleDouble:
        s, e = _two_sum(self.high, -other.high)
        return _renormalize_pair(s, e + (self.low - other.low))

    def __mul__(self, other: DoubleDouble) -> DoubleDouble:
        p, e = _two_product(self.high, other.high)
        return _renormalize_pair(p, e + (self.high * other.low + self.low * other.high))

    def total(self) -> DoubleDouble:
        """The sum of all elements, by pairwise summation."""
        high, low = self.high, self.low
        while len(high) > 1:
            if len(high) % 2:
                high, low = np.append(high, 0.0), np.append(low, 0.0)
            pair = DoubleDouble(high[0::2], low[0::2]) + DoubleDouble(high[1::2], low[1::2])
            high, low = pair.high, pair.low
        return DoubleDouble(high, low)


def exact_difference(a: Any, b: Any) -> DoubleDouble:
    """a - b of doubles, exactly."""
    return DoubleDouble(*_two_sum(np.asarray(a), -np.asarray(b)))


def _two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    s = a + b
    v = s - a
    return s, (a - (s - v)) + (b - v)


def _two_product(a: Array, b: Array) -> tuple[Array, Array]:
    p = a * b
    (a1, a2), (b1, b2) = _split_double(a), _split_double(b)
    return p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2


def _split_double(a: Array) -> tuple[Array, Array]:
    """Two numbers of half the digits each, whose sum is a (Dekker's split)."""
    t = DEKKER_SPLITTER * a
    high = t - (t - a)
    return high, a - high


def _renormalize_pair(high: Array, low: Array) -> DoubleDouble:
    s = high + low
    return DoubleDouble(s, low - (s - high))
