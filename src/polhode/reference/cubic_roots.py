"""Roots of the cubic that bounds the nutation of a top, without cancellation."""

from __future__ import annotations

import math
from typing import NamedTuple

Cubic = tuple[float, float, float, float]


class CubicRoots(NamedTuple):
    """x1 <= x2 <= x3."""

    x1: float
    x2: float
    x3: float


def roots_about_zero(cubic: Cubic, below: float) -> CubicRoots:
    """Real roots x1 <= 0 <= x2 <= x3 of c0 + c1 x + c2 x^2 + c3 x^3 with c0 >= 0, c3 > 0; x1 >= `below`.

    The outer two by Newton's method from outside, the middle one from their product: roots of very different size keep
    full precision.
    """
    c0, c1, c2, c3 = cubic
    if c0 == 0:
        low, high = sorted(_quadratic_roots(c3, c2, c1))
        return CubicRoots(low, 0.0, high) if low < 0 else CubicRoots(0.0, low, high)
    spread = 2 * math.sqrt(c2 * c2 - 3 * c3 * c1)  # all roots lie between -c2/3 -+ spread/3, over c3
    x1 = _newton_from_outside(cubic, max((-c2 - spread) / (3 * c3), below))
    x3 = _newton_from_outside(cubic, (-c2 + spread) / (3 * c3))
    return CubicRoots(x1, -c0 / (c3 * x1 * x3), x3)


def _quadratic_roots(a: float, b: float, c: float) -> tuple[float, float]:
    """Real roots of a x^2 + b x + c without cancellation."""
    half = -(b + math.copysign(math.sqrt(max(b * b - 4 * a * c, 0.0)), b)) / 2
    return half / a, c / half if half else 0.0


def _newton_from_outside(cubic: Cubic, x: float) -> float:
    """The root next to x, which lies outside all three: Newton's method converges monotonically.

    A step back ends the iteration, unless it is far smaller than the last step, which was rounded near a tiny root.
    """
    c0, c1, c2, c3 = cubic
    moved = 0.0
    for _ in range(200):
        slope = c1 + x * (2 * c2 + 3 * x * c3)
        step = (c0 + x * (c1 + x * (c2 + x * c3))) / slope if slope else 0.0
        is_back = (step < 0 < moved or moved < 0 < step) and abs(step) > abs(moved) / 1000
        if step == 0 or is_back or x - step == x:
            break
        x, moved = x - step, step
    return x
