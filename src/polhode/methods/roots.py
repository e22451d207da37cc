"""Roots between two points at which a function has different signs: regula falsi with the Illinois rule.

The function is above zero at the lower point.  A point that stays for the second time counts half, so that the other
comes near too.  [Dowell and Jarratt 1971]
"""

from __future__ import annotations

from polhode.equations.law import Groups, Number, law
from polhode.equations.scalar_ops import if_less


@law
def secant_point(low: Number, f_low: Number, high: Number, f_high: Number) -> Number:
    """Where the line through both ends crosses zero; the middle if rounding puts that outside."""
    point = (low * f_high - high * f_low) / (f_high - f_low)
    middle = (low + high) / 2
    return if_less(low, point, if_less(point, high, point, middle), middle)


@law
def narrow_bracket(bracket: Groups, moved: Number, point: Number, f: Number, above: Number) -> tuple[Groups, Number]:
    """The bracket (low, weight there, high, weight there) with a point as a new end, and which end that is: 1, or -1.

    The point becomes the lower end if `above` is more than 0; `moved` is the end that moved before.
    """
    low, f_low, high, f_high = bracket
    zero, one = 0 * moved, 1 + 0 * moved
    light_high, light_low = if_less(zero, moved, f_high / 2, f_high), if_less(moved, zero, f_low / 2, f_low)
    raised, lowered = (point, f, high, light_high), (low, light_low, point, f)
    chosen = tuple(if_less(zero, above, a, b) for a, b in zip(raised, lowered, strict=True))
    return chosen, if_less(zero, above, one, -one)
