"""Means and covariances of blocks, merged without loss of digits.  [Chan 1983]

Numbers are counted from the first one of each row, which is subtracted exactly where the spread is small beside the
offset; so an offset, however large, costs no digits.  Sums are halved again and again, elementwise: the result does not
depend on how a library sums, nor on the layout of the arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.ensembles.merge_tree import Partial
from polhode.validation import Array


def sum_pairwise(values: Array) -> Array:
    """The sum along the last axis, as a balanced tree of additions.

    Examples
    --------
    >>> import numpy as np
    >>> sum_pairwise(np.array([[1.0, 2.0, 3.0], [0.5, 0.25, 0.0]])).tolist()
    [6.0, 0.75]
    """
    while (length := values.shape[-1]) > 1:
        half = (length + 1) // 2
        folded = values[..., :half].copy()
        folded[..., : length - half] += values[..., half:]
        values = folded
    return values[..., 0] if values.shape[-1] else np.zeros(values.shape[:-1])


def find_moments(vectors: Array) -> Partial:
    """Count, mean and sums of products of deviations of an array (rows, components, members).

    A member counts in a row if none of its components there is NaN.

    Examples
    --------
    >>> import numpy as np
    >>> found = find_moments(np.array([[[1.0, 2.0, 3.0, np.nan]]]))
    >>> found["count"].tolist(), (found["origin"] + found["mean"]).tolist(), found["products"].tolist()
    ([3], [[2.0]], [[[2.0]]])
    """
    valid = np.asarray(~np.isnan(vectors).any(axis=1))
    count = valid.sum(axis=1)
    first = np.argmax(valid, axis=1) if vectors.shape[-1] else np.zeros(len(vectors), dtype=np.int64)
    origin = (
        np.take_along_axis(vectors, first[:, None, None], axis=2)[..., 0]
        if vectors.shape[-1]
        else np.zeros(vectors.shape[:-1])
    )
    origin = np.where(count[:, None] > 0, origin, 0.0)
    inside, n = valid[:, None, :], np.maximum(count, 1).astype(np.float64)[:, None]
    with np.errstate(invalid="ignore", over="ignore"):
        deviation = np.where(inside, vectors - origin[..., None], 0.0)
        mean = sum_pairwise(deviation) / n
        deviation = np.where(inside, deviation - mean[..., None], 0.0)
        rest = sum_pairwise(deviation)
        products = _sums_of_products(deviation) - rest[:, :, None] * rest[:, None, :] / n[..., None]
        mean = mean + rest / n
    return {"count": count.astype(np.int64), "origin": origin, "mean": mean, "products": products}


def merge_moments(left: Partial, right: Partial) -> Partial:
    """The moments of the members of both: M = M_l + M_r + d d^T n_l n_r / n, d the difference of the means.

    Examples
    --------
    >>> import numpy as np
    >>> left, right = (find_moments(np.array([[row]])) for row in ([1.0, 2.0], [6.0]))
    >>> both = merge_moments(left, right)
    >>> (both["origin"] + both["mean"]).tolist(), both["products"].tolist()
    ([[3.0]], [[[14.0]]])
    """
    n_left, n_right = left["count"], right["count"]
    n = np.maximum(n_left + n_right, 1).astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        d = (right["origin"] - left["origin"]) + (right["mean"] - left["mean"])
        mean = left["mean"] + d * (n_right / n)[:, None]
        outer = d[:, :, None] * d[:, None, :] * (n_left * (n_right / n))[:, None, None]
        products = left["products"] + right["products"] + outer
    return {
        "count": n_left + n_right,
        "origin": _choose(n_left, n_right, left["origin"], right["origin"], left["origin"]),
        "mean": _choose(n_left, n_right, left["mean"], right["mean"], mean),
        "products": _choose(n_left, n_right, left["products"], right["products"], products),
    }


def _choose(n_left: Any, n_right: Any, left: Array, right: Array, both: Array) -> Array:
    """Where one side has no members, the other one as it is."""
    across = (slice(None), *(None,) * (left.ndim - 1))
    return np.where((n_right == 0)[across], left, np.where((n_left == 0)[across], right, both))


def _sums_of_products(deviation: Array) -> Array:
    components = deviation.shape[1]
    products = np.empty((len(deviation), components, components))
    for i in range(components):
        for j in range(i + 1):
            products[:, i, j] = products[:, j, i] = sum_pairwise(deviation[:, i] * deviation[:, j])
    return products
