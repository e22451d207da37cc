"""Boundary faces of a volume mesh: faces that belong to a single cell, their area, and their triangulation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from polhode.errors import MeshError
from polhode.massprops.geometry import Indices, Surface
from polhode.massprops.volume.cell_types import CELL_TYPES
from polhode.massprops.volume.quadrature import POINTS_PER_CHUNK
from polhode.validation import Array

FACE_TRIANGLES = {
    3: [(0, 1, 2)],
    4: [(0, 1, 2), (0, 2, 3)],
    6: [(0, 3, 5), (3, 1, 4), (5, 4, 2), (3, 4, 5)],
    8: [(0, 4, 7), (4, 1, 5), (5, 2, 6), (6, 3, 7), (4, 5, 6), (4, 6, 7)],
    9: [(0, 4, 8), (4, 1, 8), (1, 5, 8), (5, 2, 8), (2, 6, 8), (6, 3, 8), (3, 7, 8), (7, 0, 8)],
}
"""Triangulation of a face through all of its nodes, by number of nodes."""
AREA_RTOL = 1e-13
"""Relative difference of two rules below which the area of a face has converged."""


@dataclass(frozen=True, eq=False)
class CellMesh:
    """A volume mesh: nodes (N, 3), in m, and cells, (type, node indices), in the order of the file."""

    nodes: Array
    blocks: tuple[tuple[str, Indices], ...]
    outside: tuple[Indices, ...]
    """The boundary faces, oriented outward, grouped by number of nodes; node order as in `cell_types`."""
    fields: Mapping[str, Array] = field(default_factory=dict)
    """Cell fields of the file by name, one row per cell."""
    regions: Mapping[str | int, Indices] = field(default_factory=dict)
    """Regions of the file by name and by number: the cells in each."""

    def surface(self, segments: int) -> Surface:  # noqa: ARG002
        """The boundary faces as triangles through their nodes; curved ones are as coarse as their nodes."""
        return boundary_surface(self.outside, self.nodes)


def boundary_triangles(outside: Sequence[Indices]) -> Indices:
    """The triangles of boundary faces, through all of their nodes."""
    return np.concatenate([faces[:, list(t)] for faces in outside for t in FACE_TRIANGLES[faces.shape[1]]])


def boundary_surface(outside: Sequence[Indices], nodes: Array) -> Surface:
    """The triangles of boundary faces, with only the nodes that they use."""
    used, renumbered = np.unique(boundary_triangles(outside), return_inverse=True)
    return Surface(nodes[used], renumbered.reshape(-1, 3))


def match_coincident_nodes(nodes: Array, used: Indices) -> Indices:
    """For each node used by cells, the first one at the same position."""
    same = np.arange(len(nodes))
    order = used[np.lexsort(nodes[used].T)]
    new = np.concatenate(([True], (nodes[order][1:] != nodes[order][:-1]).any(axis=1)))
    starts = np.flatnonzero(new)
    same[order] = np.repeat(np.minimum.reduceat(order, starts), np.diff(np.append(starts, len(order))))
    return same


def find_boundary_faces(blocks: Sequence[tuple[str, Indices]], same: Indices) -> tuple[Indices, ...]:
    """The faces of a single cell, by number of nodes.  Two cells that share a face must lie on opposite sides.

    `same` maps coincident nodes to one index.
    """
    listed: dict[int, list[tuple[Indices, Indices]]] = {}
    start = 0
    for kind, cells in blocks:
        for face in CELL_TYPES[kind].faces:
            listed.setdefault(len(face), []).append((same[cells[:, list(face)]], np.arange(start, start + len(cells))))
        start += len(cells)
    faces = {count: tuple(map(np.concatenate, zip(*found, strict=True))) for count, found in sorted(listed.items())}
    owners = np.concatenate([owner for _, owner in faces.values()])
    keys, forwards = _face_keys([found[:, : face_corner_count(count)] for count, (found, _) in faces.items()])
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    begins = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    counts = np.diff(np.append(begins, len(ordered)))
    real = ordered[begins] >= 0
    _check_face_sharing(order, begins[real], counts[real], forwards, owners)
    is_outer = np.zeros(len(keys), dtype=bool)
    is_outer[order[begins[real & (counts == 1)]]] = True
    parts = np.split(is_outer, np.cumsum([len(found) for found, _ in faces.values()]))
    outside = [found[which] for (found, _), which in zip(faces.values(), parts, strict=False)]
    return tuple(found for found in outside if len(found))


def face_corner_count(count: int) -> int:
    """The number of corners of a face with this number of nodes."""
    return 3 if count in (3, 6) else 4


def count_nonmanifold_edges(outside: Sequence[Indices]) -> int:
    """The number of edges with more than two boundary faces: there cells touch along an edge only, or overlap."""
    corners = [faces[:, : face_corner_count(faces.shape[1])] for faces in outside]
    pairs = [np.stack((found[:, i], found[:, i - 1]), axis=-1) for found in corners for i in range(found.shape[1])]
    edges = np.sort(np.concatenate(pairs), axis=1)
    edges = edges[edges[:, 0] != edges[:, 1]]
    return int((np.unique(_row_ids(edges), return_counts=True)[1] > 2).sum())


def _face_keys(groups: Sequence[Indices]) -> tuple[Indices, Array]:
    """A key for each face's set of corners, -1 if fewer than three are distinct; and its orientation."""
    starts = np.cumsum([0, *map(len, groups)])
    keys, forwards = np.full(starts[-1], -1), np.zeros(starts[-1], dtype=bool)
    triangles, quads = [], []
    for corners, start in zip(groups, starts, strict=False):
        rows = np.arange(start, start + len(corners))
        if corners.shape[1] == 3:
            triangles.append((rows, corners))
            continue
        # A side may have collapsed to a point: the remaining triangle may belong to a cell of another type.
        shrunk = corners == np.roll(corners, -1, axis=1)
        crossed = (corners[:, :2] == corners[:, 2:]).any(axis=1)
        once = shrunk.sum(axis=1) == 1
        whole = ~shrunk.any(axis=1) & ~crossed
        others = (shrunk[once].argmax(axis=1)[:, None] + np.arange(1, 4)) % 4
        triangles.append((rows[once], np.take_along_axis(corners[once], others, axis=1)))
        quads.append((rows[whole], corners[whole]))
    for number, kind in enumerate((triangles, quads)):
        if not sum(len(rows) for rows, _ in kind):
            continue
        rows, corners = (np.concatenate(column) for column in zip(*kind, strict=True))
        if corners.shape[1] == 3:
            a, b, c = corners.T
            forwards[rows] = (a < b) ^ (b < c) ^ (c < a)
            proper = (a != b) & (b != c) & (c != a)
            rows, corners = rows[proper], corners[proper]
        else:
            turned = (corners.argmin(axis=1)[:, None] + np.array((1, 3))) % 4
            ahead, behind = np.take_along_axis(corners, turned, axis=1).T
            forwards[rows] = ahead < behind
        keys[rows] = 2 * _row_ids(np.sort(corners, axis=1)) + number
    return keys, forwards


def _row_ids(ordered: Indices) -> Indices:
    """An integer for each row, equal for equal rows only."""
    count, columns = int(ordered.max()) + 1, list(ordered.T)
    if count ** len(columns) < 1 << 62:
        numbers: Indices = columns[0]
        for column in columns[1:]:
            numbers = numbers * count + column
        return numbers
    first: Indices
    last: Indices
    first, last = (np.unique(a * count + b, return_inverse=True)[1] for a, b in (columns[:2], columns[-2:]))
    return first * len(ordered) + last


def _check_face_sharing(order: Indices, begins: Indices, counts: Indices, forwards: Array, owners: Indices) -> None:
    many = np.flatnonzero(counts > 2)
    if many.size:
        found = order[begins[many[0]] : begins[many[0]] + counts[many[0]]]
        raise MeshError(
            f"{many.size} faces belong to more than two cells: the first to the cells "
            f"{sorted(owners[found].tolist())}. At least two of them overlap; remesh, or remove the wrong ones"
        )
    pairs = begins[counts == 2]
    alike = np.flatnonzero(forwards[order[pairs]] == forwards[order[pairs + 1]])
    if alike.size:
        a, b = sorted(owners[order[pairs[alike[0]] : pairs[alike[0]] + 2]].tolist())
        raise MeshError(
            f"{alike.size} faces have both of their cells on the same side: the first are the cells {a} and {b}, which "
            "overlap. Remesh, or remove the wrong ones"
        )


def boundary_area(outside: Sequence[Indices], nodes: Array) -> float:
    """The area of faces: exact for flat triangles, by Gauss quadrature of increasing order for others."""
    return sum(_faces_area(faces, nodes) for faces in outside)


def _faces_area(faces: Indices, nodes: Array) -> float:
    if faces.shape[1] == 3:
        a, b, c = nodes[faces].transpose(1, 0, 2)
        return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2)
    total, before = 0.0, _quadrature_areas(faces, nodes, 4)
    for points in (8, 16, 32):
        now = _quadrature_areas(faces, nodes, points)
        unconverged = np.abs(now - before) > AREA_RTOL * now
        total += float(now[~unconverged].sum())
        faces, before = faces[unconverged], now[unconverged]
        if not len(faces):
            break
    return total + float(before.sum())


def _quadrature_areas(faces: Indices, nodes: Array, points: int) -> Array:
    """Each face's area by Gauss quadrature with this number of points per direction."""
    x, w = np.polynomial.legendre.leggauss(points)
    u, v = (grid.ravel() for grid in np.meshgrid((x + 1) / 2, (x + 1) / 2, indexing="ij"))
    weights = np.outer(w, w).ravel() / 4
    along_u, along_v = _face_derivatives(faces.shape[1], u, v)
    result = np.empty(len(faces))
    chunk = max(1, POINTS_PER_CHUNK // len(u))
    for start in range(0, len(faces), chunk):
        places = nodes[faces[start : start + chunk]]
        places = places - places.mean(axis=1, keepdims=True)
        normals = np.cross(along_u @ places, along_v @ places)
        result[start : start + chunk] = np.sqrt(np.square(normals).sum(axis=-1)) @ weights
    return result


def _face_derivatives(count: int, u: Array, v: Array) -> tuple[Array, Array]:
    """Derivatives of a face's shape functions along the square's directions; triangles are collapsed squares.

    A triangle is the bottom of a wedge, a quadrilateral that of a hexahedron; the central difference of a quadratic is
    exact.
    """
    kind = CELL_TYPES[{4: "hexahedron", 6: "wedge15", 8: "hexahedron20", 9: "hexahedron27"}[count]]
    bottom = np.flatnonzero(kind.reference[:, 2] == 0)

    def functions(u: Array, v: Array) -> Array:
        second = v * (1 - u) if count == 6 else v
        return kind.shape(np.stack((u, second, np.zeros_like(u)), axis=-1))[:, bottom]

    return functions(u + 0.5, v) - functions(u - 0.5, v), functions(u, v + 0.5) - functions(u, v - 0.5)
