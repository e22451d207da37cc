"""Winding numbers of a closed surface by ray casting.

Along a ray through a sound solid, entries and exits alternate: the winding number is 0 outside and 1 inside.  A 2 is
volume counted twice, a -1 volume counted negatively; neither shows in the edges alone.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from polhode.massprops.geometry import Indices, Surface, bounding_box
from polhode.validation import Array

TILT = np.array(((36.0, 48.0, -80.0), (-80.0, 60.0, 0.0), (48.0, 64.0, 60.0))) / 100
"""A rotation that moves every axis, so that rays rarely meet the edges of an axis-aligned part."""
RAYS_PER_SIDE = 64
"""Rays in each of the two directions of the grid."""
TRIANGLES_PER_BATCH = 65536
"""Triangles processed together."""
CANDIDATES_PER_BATCH = 2_000_000
"""Triangle-point pairs processed together."""


class RayHits(NamedTuple):
    """Intersections of vertical rays through points of the xy plane with triangles."""

    face: Indices
    point: Indices
    height: Array
    sense: Array
    """1 where the ray exits (the triangle faces up), -1 where it enters."""


class RaySegments(NamedTuple):
    """Segments of rays between intersections, with their winding numbers."""

    winding: Array
    length: Array
    across: Array
    """The length measured normal to the faces at its ends, since a ray may graze them."""
    middle: Array
    """The midpoint of each segment, in the surface's coordinates."""
    area: float
    """The cross section that each ray represents, so that length times area is a volume."""


def cast_rays(surface: Surface, lines: int = RAYS_PER_SIDE) -> RaySegments:
    """Ray segments through a closed surface, on a jittered grid of lines x lines; outer ones omitted."""
    low, high = surface.box
    middle = low / 2 + high / 2
    tilted = _to_tilted_axes(surface.vertices - middle)
    low, high = bounding_box(tilted)
    cells = np.stack(np.meshgrid(np.arange(lines), np.arange(lines)), axis=-1).reshape(-1, 2)
    jitter = np.random.default_rng(0).random((lines * lines, 2))
    points = low[:2] + (cells + jitter) / lines * (high - low)[:2]
    found = intersect_vertical_rays(tilted, surface.faces, points)
    order = np.lexsort((found.height, found.point))
    point, height, sense = found.point[order], found.height[order], found.sense[order]
    slope = _incidence_cosines(tilted, surface.faces[found.face[order]])
    begins = np.flatnonzero(np.diff(point, prepend=-1))
    before = np.cumsum(-sense)
    base = np.repeat((before - -sense)[begins], np.diff(np.append(begins, len(point))))
    inner = np.flatnonzero(point[:-1] == point[1:])
    ends = np.stack((height[inner], height[inner + 1]))
    places = np.column_stack((points[point[inner]], ends.mean(axis=0))) @ TILT + middle
    area = float(np.prod((high - low)[:2])) / (lines * lines)
    length = ends[1] - ends[0]
    across = length * np.minimum(slope[inner], slope[inner + 1])
    return RaySegments((before - base)[inner], length, across, places, area)


def find_interior_points(surface: Surface, count: int) -> Array:
    """A few points inside a closed shell: midpoints of the longest ray segments in it.

    If the shell is so thin that no ray hits it, centroids of its faces are used.
    """
    for lines in (8, 64):
        depths = cast_rays(surface, lines)
        inside = np.flatnonzero(depths.winding != 0)
        if len(inside):
            return depths.middle[inside[np.argsort(-depths.length[inside])[:count]]]
    return np.asarray(surface.vertices[surface.faces[:count]].mean(axis=1))


def _incidence_cosines(tilted: Array, faces: Indices) -> Array:
    """The cosines between vertical rays and the normals of faces."""
    a, b, c = (tilted[faces[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    length = np.linalg.norm(normal, axis=1)
    slopes: Array = np.divide(np.abs(normal[:, 2]), length, out=np.zeros(len(faces)), where=length > 0)
    return slopes


def winding_numbers(surface: Surface, places: Array) -> Array:
    """The winding number of the surface around each point."""
    if not len(places):
        return np.empty(0)
    middle = places[0]
    tilted, points = _to_tilted_axes(surface.vertices - middle), _to_tilted_axes(places - middle)
    found = intersect_vertical_rays(tilted, surface.faces, points[:, :2])
    above = found.height > points[found.point, 2]
    windings: Array = np.bincount(found.point[above], found.sense[above], minlength=len(places)).astype(np.float64)
    return windings


def _to_tilted_axes(places: Array) -> Array:
    """Points in tilted axes.  Written out, because a thin matrix product would start BLAS threads."""
    x, y, z = places.T
    return np.stack([x * row[0] + y * row[1] + z * row[2] for row in TILT.tolist()], axis=1)


def intersect_vertical_rays(vertices: Array, faces: Indices, points: Array) -> RayHits:
    """Intersections of the rays along z through these points (N, 2) with the triangles.

    A ray through an edge hits exactly one of its two triangles: both evaluate the edge in the same direction.
    """
    grid = _PointGrid(points)
    xy, z = vertices[:, :2], vertices[:, 2]
    met, counts, low, high = grid.met(xy, faces)
    groups = [np.empty(0, dtype=np.int64)]
    if len(met):
        groups = np.split(
            np.arange(len(met)),
            np.searchsorted(np.cumsum(counts), np.arange(CANDIDATES_PER_BATCH, counts.sum(), CANDIDATES_PER_BATCH)),
        )
    parts = []
    for some in groups:
        rectangle, point = grid.pairs(low[some], high[some])
        face = met[some][rectangle]
        sides = [_side_of_edge(xy, faces[face, i], faces[face, (i + 1) % 3], points[point]) for i in range(3)]
        sense = _hit_orientation(sides)
        hit = sense != 0
        face, point, weights = face[hit], point[hit], np.stack([side[0][hit] for side in sides])
        heights = (weights * z[faces[face][:, (2, 0, 1)]].T).sum(axis=0) / weights.sum(axis=0)
        parts.append(RayHits(face, point, heights, sense[hit]))
    return RayHits(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _side_of_edge(xy: Array, start: Indices, end: Indices, points: Array) -> tuple[Array, Array]:
    """The side of its edge on which each point lies: twice the signed area that they span, and a sign, never 0."""
    swapped = start > end
    a, b = xy[np.where(swapped, end, start)], xy[np.where(swapped, start, end)]
    turn = (b[:, 0] - a[:, 0]) * (points[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (points[:, 0] - a[:, 0])
    sign = np.where(turn >= 0, 1.0, -1.0)
    return np.where(swapped, -turn, turn), np.where(swapped, -sign, sign)


def _hit_orientation(sides: list[tuple[Array, Array]]) -> Array:
    """1 or -1 where a point is on the same side of all three edges of a non-degenerate triangle, else 0."""
    signs = sum(sign for _, sign in sides)
    area = sum(turn for turn, _ in sides)
    return np.where((np.abs(signs) == 3) & (area != 0), np.sign(signs), 0.0)


class _PointGrid:
    """Points binned into about sixteen cells per point, so that most small triangles meet none."""

    def __init__(self, points: Array) -> None:
        self.across = 4 * math.isqrt(len(points)) + 1
        self.low = points.min(axis=0)
        extent = points.max(axis=0) - self.low
        self.cells_per_meter = np.divide(self.across, extent, out=np.zeros(2), where=extent > 0)
        column, row = self.cell(points).clip(0, self.across - 1).T
        number = row * self.across + column
        self.order = np.argsort(number, kind="stable")
        self.begins = np.searchsorted(number[self.order], np.arange(self.across**2 + 1))
        table = np.bincount(number, minlength=self.across**2).reshape(self.across, self.across)
        self.sums = np.zeros((self.across + 1,) * 2, dtype=np.int64)
        self.sums[1:, 1:] = table.cumsum(axis=0).cumsum(axis=1)

    def cell(self, places: Array) -> Indices:
        """Column and row of points; those outside get the row or column before the first or after the last."""
        cells: Indices = np.floor((places - self.low) * self.cells_per_meter).clip(-1, self.across).astype(np.int64)
        return cells

    def met(self, xy: Array, faces: Indices) -> tuple[Indices, Indices, Indices, Indices]:
        """The triangles that may contain points: indices, numbers of points, and first and last cell of each."""
        columns, rows = self.cell(xy).clip(0, self.across - 1).astype(np.int32).T.copy()
        parts = []
        sums, width = self.sums.ravel(), self.across + 1
        for begin in range(0, len(faces), TRIANGLES_PER_BATCH):
            a, b, c = faces[begin : begin + TRIANGLES_PER_BATCH].T
            (x0, x1), (y0, y1) = (_minimum_and_maximum(cells[a], cells[b], cells[c]) for cells in (columns, rows))
            below, above = y0 * width, (y1 + 1) * width
            counts = sums[above + x1 + 1] - sums[below + x1 + 1] - sums[above + x0] + sums[below + x0]
            some = np.flatnonzero(counts)
            parts.append((some + begin, counts[some], np.stack((x0, y0))[:, some], np.stack((x1, y1))[:, some]))
        number, counts, low, high = (np.concatenate(column, axis=-1) for column in zip(*parts, strict=True))
        return number, counts, low.T, high.T

    def pairs(self, low: Indices, high: Indices) -> tuple[Indices, Indices]:
        """All pairs of a rectangle of cells and a point in it."""
        heights = high[:, 1] - low[:, 1] + 1
        rectangle = np.repeat(np.arange(len(low)), heights)
        row = (low[rectangle, 1] + concatenated_ranges(heights)) * self.across
        start = self.begins[row + low[rectangle, 0]]
        lengths = self.begins[row + high[rectangle, 0] + 1] - start
        place = np.repeat(start, lengths) + concatenated_ranges(lengths)
        return np.repeat(rectangle, lengths), self.order[place]


def _minimum_and_maximum(a: Indices, b: Indices, c: Indices) -> tuple[Indices, Indices]:
    """The smallest and the largest of three."""
    return np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)


def concatenated_ranges(lengths: Indices) -> Indices:
    """0, 1, ..., n - 1 for each of these lengths n, concatenated."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) - np.repeat(ends - lengths, lengths)
