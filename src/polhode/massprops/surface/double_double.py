"""Numbers of twice the digits: each the exact sum of two doubles.  The laws run on them as they stand.

The error of a sum, and of a product, of two doubles is itself a double and can be computed.  [Dekker 1971; Knuth, The
Art of Computer Programming, vol. 2, section 4.2.2]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.validation import Array

SPLITTER = 2.0**27 + 1


@dataclass(frozen=True, eq=False)
class Twofold:
    """Arrays of numbers high + low, |low| at most half a unit in the last place of high."""

    high: Array
    low: Array

    def __add__(self, other: Twofold) -> Twofold:
        s, e = _sum(self.high, other.high)
        return _tidied(s, e + (self.low + other.low))

    def __sub__(self, other: Twofold) -> Twofold:
        s, e = _sum(self.high, -other.high)
        return _tidied(s, e + (self.low - other.low))

    def __mul__(self, other: Twofold) -> Twofold:
        p, e = _product(self.high, other.high)
        return _tidied(p, e + (self.high * other.low + self.low * other.high))

    def total(self) -> Twofold:
        """The sum of all of them, by halves."""
        high, low = self.high, self.low
        while len(high) > 1:
            if len(high) % 2:
                high, low = np.append(high, 0.0), np.append(low, 0.0)
            pair = Twofold(high[0::2], low[0::2]) + Twofold(high[1::2], low[1::2])
            high, low = pair.high, pair.low
        return Twofold(high, low)


def difference(a: Any, b: Any) -> Twofold:
    """a - b of doubles, exactly."""
    return Twofold(*_sum(np.asarray(a), -np.asarray(b)))


def _sum(a: Array, b: Array) -> tuple[Array, Array]:
    s = a + b
    v = s - a
    return s, (a - (s - v)) + (b - v)


def _product(a: Array, b: Array) -> tuple[Array, Array]:
    p = a * b
    (a1, a2), (b1, b2) = _halves(a), _halves(b)
    return p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2


def _halves(a: Array) -> tuple[Array, Array]:
    """Two numbers of half the digits each, whose sum is a."""
    t = SPLITTER * a
    high = t - (t - a)
    return high, a - high


def _tidied(high: Array, low: Array) -> Twofold:
    s = high + low
    return Twofold(s, low - (s - high))
