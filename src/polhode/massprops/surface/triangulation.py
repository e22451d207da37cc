"""Triangulation of the polygons of a mesh.

A fan from the first corner fills a convex polygon.  Where it folds back on itself, the volume of the mesh is right but
its area is not: such a polygon is triangulated by ear clipping.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from polhode.massprops.geometry import Indices
from polhode.massprops.polygons import find_crossing_edges, triangulate_polygon
from polhode.validation import Array

FOLD_RTOL = 1e-12
"""Fraction of the polygon below which a fan that folds back is rounding."""


def triangulate_polygons(points: Array, corners: Indices, sizes: Indices) -> tuple[Indices, list[int]]:
    """Triangles of the polygons, in order, and the indices of self-intersecting polygons."""
    if (sizes == 3).all():
        return corners.reshape(-1, 3), []
    begins, counts = np.cumsum(sizes) - sizes, sizes - 2
    places = np.cumsum(counts) - counts
    result = np.empty((int(counts.sum()), 3), dtype=np.int64)
    crossed = []
    for size in np.unique(sizes).tolist():
        mine = np.flatnonzero(sizes == size)
        polygons = corners[begins[mine][:, None] + np.arange(size)]
        fan = np.stack((np.zeros(size - 2, dtype=np.int64), np.arange(1, size - 1), np.arange(2, size)), axis=1)
        pieces = polygons[:, fan]
        # Points whose distance overflows are reported later.
        with np.errstate(all="ignore"):
            folds = _fan_folds_back(points, polygons)
        for k in np.flatnonzero(folds).tolist():
            cut = _triangulate_by_projection(points[polygons[k]])
            if cut is None:
                crossed.append(int(mine[k]))
            else:
                pieces[k] = polygons[k][cut]
        result[places[mine][:, None] + np.arange(size - 2)] = pieces
    return result, sorted(crossed)


def _fan_folds_back(points: Array, polygons: Indices) -> NDArray[np.bool_]:
    """Whether part of the fan from the first corner is oriented opposite to the polygon (N, corners) as a whole."""
    arms = points[polygons[:, 1:]] - points[polygons[:, :1]]
    size = np.abs(arms).max(axis=(1, 2), keepdims=True)
    arms = np.divide(arms, size, out=np.zeros_like(arms), where=size > 0)
    pieces = np.cross(arms[:, :-1], arms[:, 1:])
    whole = pieces.sum(axis=1)
    along = np.einsum("pti,pi->pt", pieces, whole)
    length, all_of_it = np.linalg.norm(whole, axis=1), np.linalg.norm(pieces, axis=2).sum(axis=1)
    folds: NDArray[np.bool_] = (along.min(axis=1) < -FOLD_RTOL * length * all_of_it) | (length < FOLD_RTOL * all_of_it)
    return folds


def _triangulate_by_projection(corners: Array) -> Indices | None:
    """Triangles of one polygon, projected along its dominant normal axis; None if the projection crosses itself."""
    arms = corners[1:] - corners[0]
    scale = float(np.abs(arms).max())
    whole = np.cross(arms[:-1] / scale, arms[1:] / scale).sum(axis=0)
    axis = int(np.abs(whole).argmax())
    # Scaling by a power of two is exact, and keeps products of very large or small numbers representable.
    projected = np.ldexp(corners[:, [(axis + 1) % 3, (axis + 2) % 3]], -int(np.frexp(np.abs(corners).max())[1]))
    if find_crossing_edges(projected) is not None:
        return None
    found = triangulate_polygon(projected)
    return found if whole[axis] > 0 else found[:, ::-1]
