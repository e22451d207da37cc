"""Areas and volumes of triangles and tetrahedra, to the precision of their corners."""

from __future__ import annotations

import sys
from itertools import combinations

import numpy as np

from polhode.validation import Array

_RELATIVE_ROUNDING = 16 * sys.float_info.epsilon

_SPANNING_TREES = np.array(
    [tree for tree in combinations(combinations(range(4), 2), 3) if len(set().union(*tree)) == 4]
)
"""The 16 spanning trees of a tetrahedron's edges."""
_TREE_SIGNS = np.linalg.det((np.eye(4)[_SPANNING_TREES[..., 1]] - np.eye(4)[_SPANNING_TREES[..., 0]])[..., 1:]).round()
"""The sign of each tree's determinant relative to that of the edges from the first corner."""


def shortest_spanning_edges(corners: Array) -> Array:
    """Three edges (..., 3, 3) that span a tetrahedron (..., 4, 3): those with the least product of lengths.

    These minimize cancellation in the determinant, even for a needle.  Its sign is that of the edges from the first
    corner to the second, third and fourth.
    """
    edges = corners[..., _SPANNING_TREES[..., 1], :] - corners[..., _SPANNING_TREES[..., 0], :]
    lengths = np.linalg.norm(edges / np.abs(edges).max(axis=(-1, -2, -3), keepdims=True), axis=-1)
    best = np.prod(lengths, axis=-1).argmin(axis=-1)
    chosen: Array = np.take_along_axis(edges, best[..., None, None, None], axis=-3)[..., 0, :, :]
    chosen[..., 2, :] *= _TREE_SIGNS[best][..., None]
    return chosen


def triple_product(edges: Array) -> Array:
    """(e1 x e2) . e3: the signed volume of the parallelepiped, six times that of the tetrahedron."""
    found: Array = (np.cross(edges[..., 0, :], edges[..., 1, :]) * edges[..., 2, :]).sum(axis=-1)
    return found


def triple_product_rounding(edges: Array, reach: Array) -> Array:
    """Bound on the triple product by rounding alone: of its products, and of corners with coordinates up to `reach`."""
    e1, e2, e3 = np.moveaxis(edges, -2, 0)
    x, y, z = np.moveaxis(np.abs(edges), -1, 0)
    products = sum(
        x[..., i] * (y[..., j] * z[..., k] + y[..., k] * z[..., j]) for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1))
    )
    faces = sum(np.abs(np.cross(u, v)) for u, v in ((e1, e2), (e2, e3), (e3, e1)))
    noise: Array = _RELATIVE_ROUNDING * (products + (faces * reach).sum(axis=-1))
    return noise


def triangle_areas(a: Array, b: Array, c: Array) -> Array:
    """Areas of triangles in the plane or in space, from their two shortest sides."""
    sides = np.stack(np.broadcast_arrays(b - a, c - b, a - c), axis=-2)
    size = np.abs(sides).max(axis=(-1, -2))
    order = np.argsort(((sides / size[..., None, None]) ** 2).sum(axis=-1), axis=-1)
    u, v = np.moveaxis(np.take_along_axis(sides, order[..., :2, None], axis=-2), -2, 0)
    if u.shape[-1] == 2:
        flat: Array = np.abs(u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]) / 2
        return flat
    area: Array = np.linalg.norm(np.cross(u, v), axis=-1) / 2
    return area
