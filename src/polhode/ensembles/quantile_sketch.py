"""Quantiles of more numbers than fit in memory, with a guaranteed bound on the error of the rank.

A sketch keeps at most `capacity` sorted values of each row, each standing for 2**level numbers.  Two sketches are
merged by sorting what both keep; if that is too much, every other value is dropped, and the level rises by one.
[Manku 1998]

How wrong that can be is known.  Let E(x) be the estimate of the number of values <= x, and R(x) the truth.  Values are
taken in pairs of neighbors, one of which is kept; only a pair with x between its two values changes E(x) - R(x), by
+2**level if the smaller one is kept and by -2**level if the larger one is, and there is at most one such pair.  So the
sums of 2**level over all such steps, `over` and `under`, bound the error: -under <= E(x) - R(x) <= over, whatever the
numbers are and in whatever order they come.  Nothing is random.  With n numbers the bound on the rank is about
n log2(n / capacity) / (4 capacity).

NaN is no number: it is counted, sorted to the end, and never kept.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from polhode.ensembles.merge_tree import Partial
from polhode.validation import Array

SMALLEST_CAPACITY, LARGEST_CAPACITY = 256, 16_384


class SketchedQuantiles(NamedTuple):
    """Quantiles of each row, (probabilities, rows)."""

    values: Array
    lower: Array
    upper: Array
    """The quantile of all numbers is certainly between these two."""
    rank_error: Array
    """How far the rank of `values` may be from the one asked for, as a fraction of the count; 0 if it is exact."""
    counted: np.ndarray[Any, Any]
    """Of each row: how many numbers there were, without NaN."""


def choose_capacity(rows: int, memory: float) -> int:
    """How many values a sketch of so many rows keeps of each: a power of two that fits in so many bytes.

    At least 256 and at most 16,384.

    Examples
    --------
    >>> choose_capacity(600, 16 * 2**20)
    2048
    """
    fitting = max(memory / (8 * max(rows, 1)), 1)
    return int(min(max(2 ** int(np.log2(fitting)), SMALLEST_CAPACITY), LARGEST_CAPACITY))


def sketch_rows(rows: Array, capacity: int) -> Partial:
    """The sketch of an array (rows, numbers).

    Examples
    --------
    >>> import numpy as np
    >>> sketch = sketch_rows(np.arange(8.0)[None], 4)
    >>> sketch["items"].tolist(), sketch["level"].tolist(), sketch["over"].tolist(), sketch["under"].tolist()
    ([[0.0, 2.0, 4.0, 6.0]], [1], [1], [0])
    """
    count = (~np.isnan(rows)).sum(axis=1)
    ordered, zeros = np.sort(rows, axis=1), np.zeros(len(rows), dtype=np.int64)
    width = max(int(count.max(initial=0)), 1)
    ordered = ordered[:, :width] if rows.shape[1] else np.full((len(rows), 1), np.nan)
    last = np.take_along_axis(ordered, np.maximum(count - 1, 0)[:, None], axis=1)[:, 0]
    sketch = {
        "items": ordered,
        "level": zeros,
        "over": zeros.copy(),
        "under": zeros.copy(),
        "count": count.astype(np.int64),
        "least": ordered[:, 0].copy(),
        "greatest": last,
    }
    return _thin_out(sketch, capacity)


def merge_sketches(left: Partial, right: Partial, capacity: int) -> Partial:
    """The sketch of the numbers of both.

    Examples
    --------
    >>> import numpy as np
    >>> left, right = (sketch_rows(np.array([row]), 4) for row in ([4.0, 1.0, 7.0], [2.0, np.nan]))
    >>> merge_sketches(left, right, 4)["items"].tolist()
    [[1.0, 2.0, 4.0, 7.0]]
    """
    level = np.maximum(left["level"], right["level"])
    left, right = _raise_level(left, level), _raise_level(right, level)
    both = {
        "items": np.sort(np.concatenate((left["items"], right["items"]), axis=1), axis=1, kind="stable"),  # two runs
        "level": level,
        "least": np.fmin(left["least"], right["least"]),
        "greatest": np.fmax(left["greatest"], right["greatest"]),
    }
    both |= {name: left[name] + right[name] for name in ("over", "under", "count")}
    return _thin_out(both, capacity)


def quantiles_of_sketch(sketch: Partial, probabilities: Array) -> SketchedQuantiles:
    """Quantiles with their bounds: NumPy's (linear interpolation) where every number was kept, else a kept value.

    Examples
    --------
    >>> import numpy as np
    >>> sketch = sketch_rows(np.array([[1.0, 2.0, 4.0]]), 4)
    >>> quantiles_of_sketch(sketch, np.array([0.5, 0.75])).values.tolist()
    [[2.0], [3.0]]
    """
    items, n, weight = sketch["items"], sketch["count"], 1 << sketch["level"]
    kept = (~np.isnan(items)).sum(axis=1)
    position = probabilities[:, None] * np.maximum(n - 1, 0)
    rank = 1 + position  # the first value has rank 1
    aim = rank + (sketch["over"] - sketch["under"]) / 2  # the middle of where that rank may be found
    last = np.maximum(kept - 1, 0)
    i = np.clip(np.ceil(aim / weight).astype(np.int64) - 1, 0, last)
    error = np.maximum(weight * i + sketch["under"] + 1 - rank, rank - weight * (i + 1) + sketch["over"])
    value = _pick(items, i)
    for end, distance in ((sketch["least"], rank - 1), (sketch["greatest"], n - rank)):  # whose ranks are known
        value, error = np.where(distance < error, end, value), np.minimum(distance, error)
    below = np.floor((np.floor(rank) - 1 - sketch["under"]) / weight).astype(np.int64)
    above = np.ceil((np.ceil(rank) + sketch["over"]) / weight).astype(np.int64) - 1
    lower = np.where(below < 0, sketch["least"], _pick(items, np.clip(below, 0, last)))
    upper = np.where(above >= kept, sketch["greatest"], _pick(items, np.clip(above, 0, last)))
    exact = sketch["level"] == 0
    value = np.where(exact, _interpolate(items, position, n), value)
    return SketchedQuantiles(
        value,
        np.where(exact, value, lower),
        np.where(exact, value, upper),
        np.where(exact | (n == 0), 0.0, np.maximum(error, 0.0) / np.maximum(n, 1)),
        n,
    )


def _thin_out(sketch: Partial, capacity: int) -> Partial:
    """Rows with more values than the capacity lose every other one; then no column is empty."""
    while (full := (kept := (~np.isnan(sketch["items"])).sum(axis=1)) > capacity).any():
        sketch = _drop_every_other(sketch, full)
    width = max(int(kept.max(initial=0)), 1)
    return {**sketch, "items": np.ascontiguousarray(sketch["items"][:, :width])}


def _raise_level(sketch: Partial, level: np.ndarray[Any, Any]) -> Partial:
    while (lower := sketch["level"] < level).any():
        sketch = _drop_every_other(sketch, lower)
    return sketch


def _drop_every_other(sketch: Partial, rows: np.ndarray[Any, Any]) -> Partial:
    """Keep one value of each pair of neighbors in these rows: the one that balances the two bounds."""
    items = sketch["items"]
    smaller, larger = items[:, 0::2], items[:, 1::2]
    if larger.shape != smaller.shape:  # the last value of an odd number has a partner beyond all numbers
        larger = np.concatenate((larger, np.full((len(items), 1), np.nan)), axis=1)
    keeps_larger = sketch["over"] > sketch["under"]
    thinned = np.full_like(items, np.nan)
    thinned[:, : smaller.shape[1]] = np.where(keeps_larger[:, None], larger, smaller)
    changed = rows & ~np.isnan(items[:, 0])
    weight = 1 << sketch["level"]
    return {
        **sketch,
        "items": np.where(rows[:, None], thinned, items),
        "level": sketch["level"] + rows,
        "over": sketch["over"] + np.where(changed & ~keeps_larger, weight, 0),
        "under": sketch["under"] + np.where(changed & keeps_larger, weight, 0),
    }


def _pick(items: Array, i: np.ndarray[Any, Any]) -> Array:
    return np.asarray(np.take_along_axis(items, i.T, axis=1).T)


def _interpolate(items: Array, position: Array, n: np.ndarray[Any, Any]) -> Array:
    """Between the two values next to a position, as NumPy's `quantile` does, to the bit."""
    last = np.minimum(np.maximum(n - 1, 0), items.shape[1] - 1)
    i = np.minimum(np.floor(position).astype(np.int64), last)
    a, b, t = _pick(items, i), _pick(items, np.minimum(i + 1, last)), position - np.floor(position)
    with np.errstate(invalid="ignore"):
        difference = b - a
        value = np.where(t >= 0.5, b - difference * (1 - t), a + difference * t)
    return np.where(a == b, a, value)
