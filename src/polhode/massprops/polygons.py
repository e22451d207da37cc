"""Self-intersection and triangulation of plane polygons, with exact predicates."""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np

from polhode.massprops.geometry import Indices
from polhode.validation import Array

_SIGN_ROUNDING = 4 * sys.float_info.epsilon
"""A cross product smaller than this, relative to its two products, may have the wrong sign."""


def orientation(a: Array, b: Array, c: Array) -> Indices:
    """1 where a, b, c turn left, -1 right, 0 collinear.  Exact for the given floats."""
    a, b, c = np.broadcast_arrays(a, b, c)
    one = (a[..., 0] - c[..., 0]) * (b[..., 1] - c[..., 1])
    other = (a[..., 1] - c[..., 1]) * (b[..., 0] - c[..., 0])
    sign = np.atleast_1d(np.sign(one - other).astype(np.int64))
    for index in np.argwhere(np.atleast_1d(np.abs(one - other) <= _SIGN_ROUNDING * (np.abs(one) + np.abs(other)))):
        place = tuple(index) if a.ndim > 1 else ()
        (ax, ay), (bx, by), (cx, cy) = ([Fraction(float(x)) for x in corner[place]] for corner in (a, b, c))
        exact = (ax - cx) * (by - cy) - (ay - cy) * (bx - cx)
        sign[tuple(index)] = (exact > 0) - (exact < 0)
    return sign.reshape(a.shape[:-1])


def find_crossing_edges(corners: Array) -> tuple[int, int] | None:
    """Two edges of a closed polygon that cross, or touch other than at their common corner; None if there are none.

    Edge i goes from corner i to the next one.
    """
    n, ends = len(corners), np.roll(corners, -1, axis=0)
    low, high = np.minimum(corners, ends), np.maximum(corners, ends)
    for i in range(n):
        a, b, c = corners[i], ends[i], ends[(i + 1) % n]
        if orientation(a, b, c) == 0 and np.dot(a - b, c - b) > 0:
            return i, (i + 1) % n
        others = np.arange(i + 2, n if i else n - 1)
        near = ((low[others] <= high[i]) & (low[i] <= high[others])).all(axis=-1)
        others = others[near]
        c, d = corners[others], ends[others]
        across = (orientation(a, b, c) * orientation(a, b, d) <= 0) & (orientation(c, d, a) * orientation(c, d, b) <= 0)
        if across.any():
            return i, int(others[across][0])
    return None


def counterclockwise_order(corners: Array) -> Indices:
    """The corner indices of a simple polygon in counterclockwise order."""
    first, n = int(np.lexsort((corners[:, 1], corners[:, 0]))[0]), len(corners)
    # The lowest of the leftmost corners is convex, so its turn gives the orientation of the polygon.
    turn = orientation(corners[first - 1], corners[first], corners[(first + 1) % n])
    return np.arange(n) if turn > 0 else np.arange(n)[::-1]


def triangulate_polygon(corners: Array) -> Indices:
    """Counterclockwise triangles (n - 2, 3) of a simple polygon, by ear clipping, the roundest ear first."""
    left = counterclockwise_order(corners)
    found = []
    while len(left) > 3:
        ear = _find_roundest_ear(corners, left)
        found.append(np.roll(left, 1 - ear)[:3])
        left = np.delete(left, ear)
    return np.array([*found, left])


def _find_roundest_ear(corners: Array, left: Indices) -> int:
    """The position in `left` of a convex corner whose triangle, with its boundary, contains no other corner."""
    a, b, c = (corners[np.roll(left, by)] for by in (1, 0, -1))
    u, v, w = b - a, c - b, a - c
    roundness = (u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]) / (u * u + v * v + w * w).sum(axis=-1)
    for i in np.argsort(-roundness, kind="stable"):
        corner_set = np.stack((a[i], b[i], c[i]))
        if orientation(*corner_set) <= 0:
            continue
        others = corners[np.roll(left, 1 - i)[3:]]
        others = others[((others >= corner_set.min(axis=0)) & (others <= corner_set.max(axis=0))).all(axis=-1)]
        within = [orientation(corner_set[k], corner_set[(k + 1) % 3], others) >= 0 for k in range(3)]
        if not np.all(within, axis=0).any():
            return int(i)
    raise AssertionError("a simple polygon has two ears")
