"""Intersecting triangles, and coplanar overlapping ones with equal orientation: volume counted twice."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np

from polhode.massprops.geometry import Indices, Surface
from polhode.massprops.surface.ray_winding import concatenated_ranges
from polhode.validation import Array

MAX_FACES_ALL_PAIRS = 20_000
"""Faces up to which all pairs are tested; beyond, only pairs of different shells or parts."""
NEGLIGIBLE_DEPTH = 1e-9
"""Penetration relative to the size that is silently treated as touching."""
TOUCHING_DEPTH = 1e-6
"""Penetration that is touching to the precision of single-precision files; gives a warning."""
PAIRS_PER_BATCH = 500_000
"""Pairs of triangles processed together."""
MAX_PAIRS_WITHIN, MAX_PAIRS_BETWEEN = 4_000_000, 64_000_000
"""Maximum number of candidate pairs, within a surface and between shells; more would take too long."""
MIN_CELL_RATIO = 1e-6
"""Smallest grid cell relative to the size."""
MAX_CELLS_PER_SIDE = 1 << 21
"""Upper bound on the cells along a side, for cell keys."""


class TooManyPairs(Exception):  # noqa: N818
    """Too many faces lie close together to test every pair."""


class FaceIntersection(NamedTuple):
    """Two faces, the depth of their intersection or overlap in the surface's unit, and its location."""

    faces: tuple[int, int]
    depth: float
    place: Array


def deepest_shell_intersection(surface: Surface, shell: Indices, rounding: float) -> FaceIntersection | None:
    """The deepest intersection, or overlap with equal orientation, between faces of different shells."""
    corners = surface.vertices[surface.faces]
    low, high = corners.min(axis=1), corners.max(axis=1)
    some = _faces_near_other_shells(low, high, shell)
    return _deepest_of_pairs(surface, _overlapping_box_pairs(low[some], high[some], shell[some]), some, rounding)


def deepest_self_intersection(surface: Surface, rounding: float) -> FaceIntersection | None:
    """The deepest between any two faces; those with a common corner are tested for overlap only."""
    corners = surface.vertices[surface.faces]
    low, high = corners.min(axis=1), corners.max(axis=1)
    return _deepest_of_pairs(surface, _overlapping_box_pairs(low, high, None), np.arange(len(low)), rounding)


def _deepest_of_pairs(
    surface: Surface, pairs: Iterator[tuple[Indices, Indices]], some: Indices, rounding: float
) -> FaceIntersection | None:
    corners = surface.vertices[surface.faces]
    normals = _unit_normals(corners)
    deepest: FaceIntersection | None = None
    for first, second in pairs:
        i, j = some[first], some[second]
        apart = ~(surface.faces[i][:, :, None] == surface.faces[j][:, None, :]).any(axis=(1, 2))
        alike = np.einsum("ni,ni->n", normals[i], normals[j]) > 0.5
        for which, depth_of in (
            (apart, _penetration_depth),
            (alike, partial(_coplanar_overlap_depth, rounding=rounding)),
        ):
            k, m = i[which], j[which]
            depth = depth_of(corners[k], corners[m], normals[k], normals[m])
            at = int(depth.argmax()) if len(depth) else -1
            if at >= 0 and depth[at] > (deepest.depth if deepest is not None else 0.0):
                deepest = FaceIntersection((int(k[at]), int(m[at])), float(depth[at]), corners[k[at]].mean(axis=0))
    return deepest


# Broad phase --------------------------------------------------------------------------------------------------------
def shell_bounding_boxes(low: Array, high: Array, shell: Indices) -> tuple[Array, Array]:
    """Lowest and highest corner of each shell's bounding box."""
    order = np.argsort(shell, kind="stable")
    begins = np.searchsorted(shell[order], np.arange(int(shell.max()) + 1))
    return np.minimum.reduceat(low[order], begins), np.maximum.reduceat(high[order], begins)


def _faces_near_other_shells(low: Array, high: Array, shell: Indices) -> Indices:
    """The faces whose box meets the box of another shell."""
    lows, highs = shell_bounding_boxes(low, high, shell)
    order = np.argsort(shell, kind="stable")
    ends = np.searchsorted(shell[order], np.arange(len(lows) + 1))
    near = np.zeros(len(shell), dtype=bool)
    for k in range(len(lows)):
        others = np.flatnonzero((lows <= highs[k]).all(axis=1) & (highs >= lows[k]).all(axis=1))
        mine = order[ends[k] : ends[k + 1]]
        for other in others[others != k]:
            near[mine] |= ((low[mine] <= highs[other]) & (high[mine] >= lows[other])).all(axis=1)
    return np.flatnonzero(near)


def _overlapping_box_pairs(low: Array, high: Array, group: Indices | None) -> Iterator[tuple[Indices, Indices]]:
    """Pairs of overlapping boxes, in batches; of different groups, if groups are given.

    Hierarchical grid: boxes of one size and all smaller ones are put into the cells of a grid of that size.  Each lies
    in at most eight cells, and only boxes with a common cell can overlap.
    """
    if not len(low):
        return
    origin = low.min(axis=0)
    size = float((high.max(axis=0) - origin).max())
    tested = 0
    level = np.ceil(np.log2(np.maximum((high - low).max(axis=1), MIN_CELL_RATIO * size))).astype(int)
    for one in np.unique(level):
        cell = 2.0**one
        boxes = np.flatnonzero(level <= one)
        mine = level[boxes] == one
        lowest, highest = low[boxes[mine]].min(axis=0), high[boxes[mine]].max(axis=0)
        boxes = boxes[((low[boxes] <= highest) & (high[boxes] >= lowest)).all(axis=1)]
        keys, box = _assign_to_cells(low[boxes] - origin, high[boxes] - origin, cell)
        box = boxes[box]
        order = np.argsort(keys, kind="stable")
        keys, box = keys[order], box[order]
        if group is not None and len(keys):
            begins = np.flatnonzero(np.diff(keys, prepend=-1))
            mixed = np.minimum.reduceat(group[box], begins) != np.maximum.reduceat(group[box], begins)
            keep = np.repeat(mixed, np.diff(np.append(begins, len(keys))))
            keys, box = keys[keep], box[keep]
        is_mine = level[box] == one
        own_keys, own = keys[is_mine], box[is_mine]
        start = np.searchsorted(keys, own_keys, side="left")
        lengths = np.searchsorted(keys, own_keys, side="right") - start
        tested += int(lengths.sum())
        if tested > (MAX_PAIRS_WITHIN if group is None else MAX_PAIRS_BETWEEN):
            raise TooManyPairs
        for begin, end in _split_into_batches(lengths):
            some = lengths[begin:end]
            i, key = np.repeat(own[begin:end], some), np.repeat(own_keys[begin:end], some)
            j = box[np.repeat(start[begin:end], some) + concatenated_ranges(some)]
            meet = (i < j) | (level[j] < one)
            meet &= (i != j) if group is None else (group[i] != group[j])
            i, j, key = i[meet], j[meet], key[meet]
            meet = (low[i] <= high[j]).all(axis=1) & (high[i] >= low[j]).all(axis=1)
            # A pair with several common cells counts in the one with the lowest corner of the boxes' intersection.
            meet &= key == _cell_key(np.floor((np.maximum(low[i], low[j]) - origin) / cell).astype(np.int64))
            yield i[meet], j[meet]


def _assign_to_cells(low: Array, high: Array, cell: float) -> tuple[Indices, Indices]:
    """The cells of boxes no larger than a cell, and the box of each."""
    first, last = np.floor(low / cell).astype(np.int64), np.floor(high / cell).astype(np.int64)
    keys, boxes = [], []
    for step in product((0, 1), repeat=3):
        some = np.flatnonzero((first + step <= last).all(axis=1))
        keys.append(_cell_key(first[some] + step))
        boxes.append(some)
    return np.concatenate(keys), np.concatenate(boxes)


def _cell_key(cells: Indices) -> Indices:
    """One number for each cell."""
    x, y, z = cells.T
    keys: Indices = (x * MAX_CELLS_PER_SIDE + y) * MAX_CELLS_PER_SIDE + z
    return keys


def _split_into_batches(counts: Indices) -> Iterator[tuple[int, int]]:
    """Ranges (begin, end) of a list whose counts fit into a batch."""
    sums = np.cumsum(counts)
    begin = 0
    while begin < len(counts):
        reached = sums[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(sums, reached + PAIRS_PER_BATCH, side="right")))
        yield begin, end
        begin = end


# Narrow phase -------------------------------------------------------------------------------------------------------
def _penetration_depth(a: Array, b: Array, normal_a: Array, normal_b: Array) -> Array:
    """The penetration depth of the triangles a (N, 3, 3) and b; 0 if they are disjoint or only touch.

    Two triangles intersect along a segment of the line in which their planes meet.  The depth is the least of the
    length of that segment and the distances by which each has corners on both sides of the other's plane.
    """
    depth = np.zeros(len(a))
    maybe = np.flatnonzero(_straddle_depth(_heights_along(a, b, normal_b)) > 0)
    maybe = maybe[_straddle_depth(_heights_along(b[maybe], a[maybe], normal_a[maybe])) > 0]
    a, b, normal_a, normal_b = a[maybe], b[maybe], normal_a[maybe], normal_b[maybe]
    line = np.cross(normal_a, normal_b)
    sine = np.linalg.norm(line, axis=1)
    real = sine > 0
    maybe, a, b, normal_a, normal_b = maybe[real], a[real], b[real], normal_a[real], normal_b[real]
    if len(maybe):
        above_a, above_b = _heights_along(a, b, normal_b), _heights_along(b, a, normal_a)
        direction = line[real] / sine[real, None]
        (low_a, high_a), (low_b, high_b) = (
            _intersection_interval(_heights_along(t, a, direction), above) for t, above in ((a, above_a), (b, above_b))
        )
        common = np.minimum(high_a, high_b) - np.maximum(low_a, low_b)
        both = np.minimum(_straddle_depth(above_a), _straddle_depth(above_b))
        depth[maybe] = np.maximum(0.0, np.minimum(both, common))
    return depth


def _coplanar_overlap_depth(a: Array, b: Array, normal_a: Array, normal_b: Array, rounding: float) -> Array:
    """The overlap depth of coplanar triangles with equal orientation; 0 for all others.

    The volume behind both is counted twice.  The depth is the least over the normals of their six sides.
    """
    depth = np.zeros(len(a))
    maybe = np.flatnonzero(np.abs(_heights_along(b, a, normal_a)).max(axis=1) <= rounding)
    least = np.full(len(maybe), np.inf)
    for which in (0, 1):
        for k in range(3):
            here_a, here_b = a[maybe], b[maybe]
            corners = (here_a, here_b)[which]
            across = np.cross(normal_a[maybe], corners[:, (k + 1) % 3] - corners[:, k])
            across /= np.maximum(np.linalg.norm(across, axis=1, keepdims=True), np.finfo(float).tiny)
            along_a, along_b = _heights_along(here_a, here_a, across), _heights_along(here_b, here_a, across)
            high = np.minimum(along_a.max(axis=1), along_b.max(axis=1))
            least = np.minimum(least, high - np.maximum(along_a.min(axis=1), along_b.min(axis=1)))
            maybe, least = maybe[least > 0], least[least > 0]
    depth[maybe] = least
    return depth


def _heights_along(of: Array, over: Array, normal: Array) -> Array:
    """Heights of the three corners of triangles above the first corner of others, along a direction."""
    heights: Array = np.einsum("nij,nj->ni", of - over[:, :1], normal)
    return heights


def _unit_normals(t: Array) -> Array:
    normal = np.cross(t[:, 1] - t[:, 0], t[:, 2] - t[:, 0])
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    unit: Array = np.divide(normal, length, out=np.zeros_like(normal), where=length > 0)
    return unit


def _straddle_depth(above: Array) -> Array:
    """The smaller of the extents of a triangle on the two sides of a plane."""
    least: Array = np.minimum(above.max(axis=1), -above.min(axis=1))
    return least


def _intersection_interval(along: Array, above: Array) -> tuple[Array, Array]:
    """The interval of a triangle on the common line, from where its sides cross the other's plane."""
    places = np.full((3, len(along)), np.nan)
    for i in range(3):
        j = (i + 1) % 3
        crosses = (above[:, i] < 0) != (above[:, j] < 0)
        part = np.divide(above[:, i], above[:, i] - above[:, j], out=np.zeros(len(along)), where=crosses)
        places[i] = np.where(crosses, along[:, i] + part * (along[:, j] - along[:, i]), np.nan)
    return np.nanmin(places, axis=0), np.nanmax(places, axis=0)
