"""Histograms of blocks: with given edges, or with bins that widen by powers of two as the range grows.

Bins of the latter are [i w, (i + 1) w) with w a power of two, the smallest for which the range takes at most a given
number of them.  Bins of twice the width consist of two whole bins, so counts are exact and the result depends on all
the numbers only, not on how they were divided into blocks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.ensembles.merge_tree import Partial
from polhode.validation import Array

IntArray = np.ndarray[Any, np.dtype[np.int64]]
_FINEST = 44
"""A bin is at least 2**-44 of the largest number wide: below that rounding would decide."""
_OF_ZEROS = -1000
"""The exponent of the width while all numbers are zero."""


def count_between_edges(rows: Array, edges: Array) -> Partial:
    """How many numbers of each row lie in each bin, [a, b), the last one with its end; below, above, and altogether.

    Examples
    --------
    >>> import numpy as np
    >>> found = count_between_edges(np.array([[0.0, 0.5, 1.0, 2.0, 9.0, np.nan]]), np.array([0.0, 1.0, 2.0]))
    >>> found["counts"].tolist(), found["above"].tolist(), found["count"].tolist()
    ([[2, 2]], [1], [5])
    """
    valid, bins = ~np.isnan(rows), len(edges) - 1
    place = np.searchsorted(edges, rows, side="right")  # NaN comes last
    place = np.where(rows == edges[-1], bins, place)
    counts = _count_places(np.where(valid, place, bins + 2), bins + 3)
    return {
        "counts": counts[:, 1 : bins + 1],
        "below": counts[:, 0],
        "above": counts[:, bins + 1],
        "count": valid.sum(axis=1).astype(np.int64),
    }


def count_in_growing_bins(rows: Array, most: int) -> Partial:
    """How many numbers of each row lie in each bin, of at most `most` bins; infinite ones below or above.

    Examples
    --------
    >>> import numpy as np
    >>> found = count_in_growing_bins(np.array([[0.0, 0.3, 2.9]]), 8)
    >>> float(2.0 ** found["exponent"][0]), found["start"].tolist(), found["counts"].tolist()
    (0.5, [0], [[2, 0, 0, 0, 0, 1, 0, 0]])
    """
    finite = np.isfinite(rows)
    with np.errstate(invalid="ignore"):
        least = np.where(finite, rows, np.inf).min(axis=1, initial=np.inf)
        greatest = np.where(finite, rows, -np.inf).max(axis=1, initial=-np.inf)
    empty = ~finite.any(axis=1)
    exponent = _choose_exponent(np.where(empty, 0.0, least), np.where(empty, 0.0, greatest), most)
    start = _bin_of(np.where(empty, 0.0, least), exponent)
    places = _bin_of(np.where(finite, rows, 0.0), exponent[:, None]) - start[:, None]
    counts = _count_places(np.where(finite, places, most), most + 1)[:, :most]
    return {
        "counts": counts,
        "exponent": exponent,
        "start": start,
        "least": least,
        "greatest": greatest,
        "below": (rows == -np.inf).sum(axis=1).astype(np.int64),
        "above": (rows == np.inf).sum(axis=1).astype(np.int64),
        "count": (~np.isnan(rows)).sum(axis=1).astype(np.int64),
    }


def merge_growing_bins(left: Partial, right: Partial) -> Partial:
    """The counts of both, in bins wide enough for both.

    Examples
    --------
    >>> import numpy as np
    >>> left, right = (count_in_growing_bins(np.array([row]), 8) for row in ([0.0, 0.3, 2.9], [7.5]))
    >>> both = merge_growing_bins(left, right)
    >>> float(2.0 ** both["exponent"][0]), both["counts"].tolist()
    (1.0, [[2, 0, 1, 0, 0, 0, 0, 1]])
    """
    most = left["counts"].shape[1]
    least, greatest = np.minimum(left["least"], right["least"]), np.maximum(left["greatest"], right["greatest"])
    empty = least > greatest
    exponent = _choose_exponent(np.where(empty, 0.0, least), np.where(empty, 0.0, greatest), most)
    start = _bin_of(np.where(empty, 0.0, least), exponent)
    counts = sum(
        (_rebin(side, exponent, start, most) for side in (left, right)), np.zeros((len(start), most), np.int64)
    )
    added = {name: left[name] + right[name] for name in ("below", "above", "count")}
    return {"counts": counts, "exponent": exponent, "start": start, "least": least, "greatest": greatest} | added


def _choose_exponent(least: Array, greatest: Array, most: int) -> IntArray:
    """Of the width of the bins: the smallest for which they are at most so many."""
    size = np.maximum(np.abs(least), np.abs(greatest))
    exponent = np.where(size > 0, np.frexp(size)[1] - _FINEST, _OF_ZEROS).astype(np.int64)
    with np.errstate(over="ignore"):
        span = greatest / most - least / most
    exponent = np.maximum(exponent, np.where(span > 0, np.frexp(span)[1] - 1, exponent).astype(np.int64))
    while (narrow := _bin_of(greatest, exponent) - _bin_of(least, exponent) >= most).any():
        exponent = exponent + narrow
    return exponent


def _bin_of(values: Array, exponent: IntArray) -> IntArray:
    return np.floor(np.ldexp(values, (-exponent).astype(np.int32))).astype(np.int64)


def _rebin(side: Partial, exponent: IntArray, start: IntArray, most: int) -> IntArray:
    bins = side["start"][:, None] + np.arange(most)
    shift = np.clip(exponent - side["exponent"], 0, 62)[:, None]
    places = np.where(side["counts"] > 0, (bins >> shift) - start[:, None], most)
    return _count_places(places, most + 1, side["counts"])[:, :most]


def _count_places(places: Any, bins: int, weights: IntArray | None = None) -> IntArray:
    """(rows, bins): how often each place from 0 to bins - 1 occurs in each row."""
    flat = (places + bins * np.arange(len(places))[:, None]).ravel()
    if weights is None:
        counts = np.bincount(flat, minlength=len(places) * bins)
    else:
        counts = np.zeros(len(places) * bins, dtype=np.int64)
        np.add.at(counts, flat, weights.ravel())
    return counts.reshape(len(places), bins).astype(np.int64)
