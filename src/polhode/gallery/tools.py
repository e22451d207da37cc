"""How models find their numbers in a motion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from polhode.checks import Array
from polhode.errors import InputError
from polhode.motion import Motion


def crossings(motion: Motion, values: Array, value: Callable[[Any], float]) -> Array:
    """When a quantity changes its sign, in s, to about the rounding of the motion itself.

    `values` holds the quantity at the output times; `value` takes it from what `motion.at` gives.  An output at which
    it is exactly zero counts once.
    """
    signs = np.sign(values)
    found = [float(t) for t, sign in zip(motion.times, signs, strict=True) if sign == 0]
    found += [
        _root(lambda t: value(motion.at(t)), *motion.times[i : i + 2], *values[i : i + 2])
        for i in np.flatnonzero(signs[1:] * signs[:-1] < 0)
    ]
    return np.sort(np.array(found))


def first_interval(times: Array, what: str) -> float:
    """The time between the first two crossings."""
    if len(times) < 2:
        raise InputError(
            f"{what} was found {len(times)} times in the motion: two are needed to measure the time between them"
        )
    return float(times[1] - times[0])


def _root(f: Callable[[float], float], a: float, b: float, f_a: float, f_b: float) -> float:
    """Where f vanishes between a and b: false position with the Illinois rule, to rounding."""
    for _ in range(60):
        middle = float((a * f_b - b * f_a) / (f_b - f_a))
        if abs(middle - b) <= 4 * np.finfo(float).eps * abs(b):
            break
        f_middle = f(middle)
        a, f_a = (b, f_b) if f_middle * f_b < 0 else (a, f_a / 2)
        b, f_b = middle, f_middle
        if f_middle == 0:
            break
    return middle
