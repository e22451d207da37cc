"""Whether the shells of a surface run through each other: triangles of one that pierce triangles of another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from polhode.checks import Array
from polhode.mass.geometry import Indices, Surface
from polhode.mass.surface.soundings import counted

AT_ONCE = 1_000_000
"""Pairs of triangles that are looked at together."""


class Contact(NamedTuple):
    """Two faces of different shells, and how deep one reaches through the other, in m."""

    faces: tuple[int, int]
    depth: float
    place: Array


def deepest_contact(surface: Surface, shell: Indices) -> Contact | None:
    """Where a triangle of one shell reaches deepest through one of another; None if none does."""
    corners = surface.vertices[surface.faces]
    low, high = corners.min(axis=1), corners.max(axis=1)
    some = _near_other_shells(low, high, shell)
    deepest: Contact | None = None
    for first, second in _pairs(low[some], high[some], shell[some]):
        i, j = some[first], some[second]
        depth = _piercing(corners[i], corners[j])
        k = int(depth.argmax()) if len(depth) else -1
        if k >= 0 and depth[k] > (deepest.depth if deepest is not None else 0.0):
            deepest = Contact((int(i[k]), int(j[k])), float(depth[k]), corners[i[k]].mean(axis=0))
    return deepest


def _near_other_shells(low: Array, high: Array, shell: Indices) -> Indices:
    """The faces that reach into the box around another shell."""
    count = int(shell.max()) + 1
    order = np.argsort(shell, kind="stable")
    begins = np.searchsorted(shell[order], np.arange(count))
    lows, highs = np.minimum.reduceat(low[order], begins), np.maximum.reduceat(high[order], begins)
    near = np.zeros(len(shell), dtype=bool)
    for k in range(count):
        touched = (lows <= highs[k]).all(axis=1) & (highs >= lows[k]).all(axis=1)
        touched[k] = False
        if touched.any():
            inside = ((low <= highs[k]) & (high >= lows[k])).all(axis=1)
            near |= inside & touched[shell]
    return np.flatnonzero(near)


def _pairs(low: Array, high: Array, shell: Indices) -> Iterator[tuple[Indices, Indices]]:
    """Pairs of boxes that overlap, of different shells, some at a time: those that share a cell of a grid."""
    if not len(low):
        return
    span = (high - low).max(axis=1)
    size = max(float(np.median(span)) * 2, float((high.max(axis=0) - low.min(axis=0)).max()) / 512)
    if size == 0:
        return
    first, last = (np.floor((x - low.min(axis=0)) / size).astype(np.int64) for x in (low, high))
    extent = last - first + 1
    cells = extent.prod(axis=1)
    box = np.repeat(np.arange(len(low)), cells)
    within = counted(cells)
    z, rest = np.divmod(within, (extent[:, 0] * extent[:, 1])[box])
    y, x = np.divmod(rest, extent[box, 0])
    wide = last.max(axis=0) + 1
    cell = ((first[box, 2] + z) * wide[1] + first[box, 1] + y) * wide[0] + first[box, 0] + x
    order = np.argsort(cell, kind="stable")
    cell, box = cell[order], box[order]
    # Each entry is paired with those behind it in the same cell.
    ends = np.searchsorted(cell, cell, side="right")
    behind = ends - np.arange(len(cell)) - 1
    blocks = np.searchsorted(np.cumsum(behind), np.arange(AT_ONCE, behind.sum() + AT_ONCE, AT_ONCE))
    begin = 0
    for end in [*(blocks[:-1] + 1).tolist(), len(cell)]:
        entries = np.arange(begin, end)
        begin = end
        i = np.repeat(entries, behind[entries])
        j = i + 1 + counted(behind[entries])
        i, j = box[i], box[j]
        meet = (shell[i] != shell[j]) & (low[i] <= high[j]).all(axis=1) & (high[i] >= low[j]).all(axis=1)
        yield i[meet], j[meet]


def _piercing(a: Array, b: Array) -> Array:
    """How deep the triangles a (N, 3, 3) and b reach through each other; 0 if they do not, or only touch.

    Two triangles cross along a piece of the line in which their planes meet.  The depth is the least of: that piece's
    length, and how far each has corners on both sides of the other's plane.
    """
    normal_a, normal_b = _unit_normals(a), _unit_normals(b)
    above_a = np.einsum("nij,nj->ni", a - b[:, :1], normal_b)
    above_b = np.einsum("nij,nj->ni", b - a[:, :1], normal_a)
    both = np.minimum(_both_sides(above_a), _both_sides(above_b))
    line = np.cross(normal_a, normal_b)
    sine = np.linalg.norm(line, axis=1)
    maybe = np.flatnonzero((both > 0) & (sine > 0))
    depth = np.zeros(len(a))
    if len(maybe):
        direction = line[maybe] / sine[maybe, None]
        origin = a[maybe, :1]
        spans = [
            _cut(np.einsum("nij,nj->ni", t[maybe] - origin, direction), above[maybe])
            for t, above in ((a, above_a), (b, above_b))
        ]
        (low_a, high_a), (low_b, high_b) = spans
        common = np.minimum(high_a, high_b) - np.maximum(low_a, low_b)
        depth[maybe] = np.maximum(0.0, np.minimum(both[maybe], common))
    return depth


def _unit_normals(t: Array) -> Array:
    normal = np.cross(t[:, 1] - t[:, 0], t[:, 2] - t[:, 0])
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    unit: Array = np.divide(normal, length, out=np.zeros_like(normal), where=length > 0)
    return unit


def _both_sides(above: Array) -> Array:
    """How far corners lie on the side of a plane where they lie less far."""
    least: Array = np.minimum(above.max(axis=1), -above.min(axis=1))
    return least


def _cut(along: Array, above: Array) -> tuple[Array, Array]:
    """Between which points of the common line a triangle lies, from where its sides pass the plane of the other."""
    places = np.full((3, len(along)), np.nan)
    for i in range(3):
        j = (i + 1) % 3
        passes = (above[:, i] < 0) != (above[:, j] < 0)
        part = np.divide(above[:, i], above[:, i] - above[:, j], out=np.zeros(len(along)), where=passes)
        places[i] = np.where(passes, along[:, i] + part * (along[:, j] - along[:, i]), np.nan)
    return np.nanmin(places, axis=0), np.nanmax(places, axis=0)
