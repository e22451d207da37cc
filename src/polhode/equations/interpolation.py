"""Linear interpolation in tables, for every scalar type."""

from __future__ import annotations

import math
from bisect import bisect_right
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from numbers import Real
from typing import Any

from polhode.equations.law import Number, law
from polhode.equations.scalar_ops import if_less, is_written_out, library_of
from polhode.errors import InputError

Table = tuple[Any, ...]


def interp(x: Number, xp: Any, fp: Any) -> Number:
    """Interpolate linearly in a table: the values fp at the knots xp, which increase; constant beyond the ends.

    The knots and values are tuples, lists or arrays of the same length.  The value is that of `numpy.interp`:
    slope * (x - knot) + value at the knot.  The same bits on every backend.

    Examples
    --------
    >>> import polhode as ph
    >>> angles, lift = (0.0, 0.2, 0.3), (0.0, 1.0, 0.7)
    >>> ph.interp(0.1, angles, lift), ph.interp(1.0, angles, lift)
    (0.5, 0.7)
    """
    xp, fp = _entries(xp), _entries(fp)
    if len(xp) != len(fp) or not xp:
        raise InputError(
            f"a table has as many values as knots, and at least one, but there are {len(xp)} knots xp and {len(fp)} "
            "values fp: give interp(x, xp, fp) two sequences of the same length"
        )
    if not all(isinstance(number, Real) for number in xp + fp):
        library = library_of(x, *xp, *fp)
        if library.__name__ == "numpy":
            _check_knots(xp)
        return _interpolate(library, x, xp, fp)
    library = library_of(x)
    is_ours = library.__name__.startswith("polhode.")
    if not is_written_out(library) and not is_ours:
        _check_knots(xp)
        return _interpolate(library, x, xp, fp)
    xp, fp, slopes = _doubles(tuple(map(float, xp)), tuple(map(float, fp)))
    if is_ours:
        return _interpolate(library, x, xp, fp)
    inside = if_less(x, xp[0], xp[0], if_less(xp[-1], x, xp[-1], x))
    if library is math:
        at = bisect_right(xp, inside) - 1
        return slopes[at] * (inside - xp[at]) + fp[at]
    at = library.searchsorted(xp, inside, side="right") - 1
    lines = library.array((slopes, xp, fp))[:, at]
    return lines[0] * (inside - lines[1]) + lines[2]


def _entries(table: Any) -> Table:
    return tuple(table.tolist() if type(table).__module__ == "numpy" else table)


def _check_knots(xp: Table) -> None:
    for i, (a, b) in enumerate(pairwise(xp)):
        increases = a < b
        if not (increases.all() if hasattr(increases, "all") else increases):  # all members of an array
            raise InputError(
                f"the knots of a table increase, but xp[{i}] = {a} is followed by xp[{i + 1}] = {b}: sort the table by "
                "its knots, with each knot once"
            )


@lru_cache(maxsize=256)
def _doubles(xp: tuple[float, ...], fp: tuple[float, ...]) -> tuple[Table, Table, Table]:
    """A checked table without negative zeros, and the slopes of its lines; beyond the last knot the slope is 0."""
    _check_knots(xp)
    slopes = [(d - c) / (b - a) for (a, b), (c, d) in zip(pairwise(xp), pairwise(fp), strict=True)]
    if not all(map(math.isfinite, (*xp, *fp, *slopes))):
        raise InputError(
            "a table holds finite numbers, and lines of finite slope: look for NaN, infinities and knots that almost "
            "coincide in xp and fp"
        )
    return tuple(v + 0.0 for v in xp), tuple(v + 0.0 for v in fp), (*slopes, 0.0)


def _interpolate(library: Any, x: Number, xp: Table, fp: Table) -> Number:
    """By the library's own function if it has one, or by choices."""
    name = library.__name__
    if name == "jax.numpy":
        return library.interp(x, library.asarray(xp), library.asarray(fp))
    if hasattr(library, "interp") and name != "numpy" and len(xp) > 1:
        return library.interp(x, xp, fp)
    if name == "fractions" or name == "mpmath":  # floats would round the slopes
        exact: Any = Fraction if name == "fractions" else library.mpf
        xp, fp = tuple(map(exact, xp)), tuple(map(exact, fp))
    return choose_line(x, xp, fp)


@law
def choose_line(x: Number, xp: Table, fp: Table) -> Number:
    """slope (x - knot) + value of the last knot that x has reached; constant beyond the ends."""
    last = len(xp) - 1
    beyond = if_less(xp[last], x, fp[last], 0 * (x - xp[last]) + fp[last])  # NaN stays NaN
    return if_less(x, xp[0], fp[0], _choose_between(x, xp, fp, 0, last, beyond))


def _choose_between(x: Number, xp: Table, fp: Table, first: int, last: int, beyond: Number) -> Number:
    """The line of the knots from first to last on which x lies, found by halves."""
    if first == last:
        return beyond
    middle = (first + last + 1) // 2
    line = (fp[middle] - fp[middle - 1]) / (xp[middle] - xp[middle - 1]) * (x - xp[middle - 1]) + fp[middle - 1]
    below = line if middle - 1 == first else _choose_between(x, xp, fp, first, middle - 1, line)
    return if_less(x, xp[middle], below, _choose_between(x, xp, fp, middle, last, beyond))
