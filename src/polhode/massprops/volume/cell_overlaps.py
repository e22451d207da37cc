"""Overlapping cells: the boundary of a sound mesh has winding number 1 around every interior point.

Faces between two cells cancel, so the boundary faces alone decide.  A winding number of 2 is mass counted twice: a part
inside another, a duplicate part, an extra cell.  Points in boundary cells are probed, since two overlapping cells
cannot both be hidden; then faces are tested against faces, for what the probes missed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from polhode.errors import MeshError
from polhode.massprops.geometry import Indices, Surface
from polhode.massprops.surface.ray_winding import winding_numbers
from polhode.massprops.surface.self_intersection import (
    MAX_FACES_ALL_PAIRS,
    NEGLIGIBLE_DEPTH,
    TOUCHING_DEPTH,
    FaceIntersection,
    TooManyPairs,
    deepest_self_intersection,
    deepest_shell_intersection,
)
from polhode.massprops.volume.boundary_faces import (
    FACE_TRIANGLES,
    boundary_surface,
    boundary_triangles,
    face_corner_count,
)
from polhode.massprops.volume.cell_types import CELL_TYPES, cube_lattice
from polhode.massprops.volume.quadrature import POINTS_PER_CHUNK, brick_shape_functions
from polhode.validation import Array

EPS = float(np.finfo(float).eps)
PROBE_COUNT = 60_000
"""Approximate number of probe points."""
PROBE_OFFSET = 1e-6
"""Distance of a probe in front of a face, relative to its size."""
SIGN_MARGIN = 16
"""Multiple of its rounding error beyond which a height has a definite sign."""
PROBE_DIRECTIONS = np.vstack((np.eye(3), -np.eye(3)))


@dataclass(frozen=True, eq=False)
class NormalizedMesh:
    """Valid cells with nodes relative to the mesh's center and size, and their boundary faces."""

    blocks: Sequence[tuple[str, Indices]]
    nodes: Array
    same: Indices
    """Node indices with coincident nodes merged."""
    outside: Sequence[Indices]
    rounding: float
    """Rounding error of the node coordinates."""
    center: Array
    scale: float

    @cached_property
    def surface(self) -> Surface:
        """The boundary faces as triangles."""
        return boundary_surface(self.outside, self.nodes)

    @cached_property
    def part(self) -> tuple[int, Indices]:
        """The number of parts without common nodes, and the part of each node."""
        return _label_linked_nodes([self.same[cells] for _, cells in self.blocks], len(self.nodes))

    @cached_property
    def warp(self) -> float:
        """Approximate maximum distance of boundary faces from the triangles through their nodes."""
        worst = [0.0]
        for faces in self.outside:
            corners, count = self.nodes[faces], face_corner_count(faces.shape[1])
            if count == 4:
                bent = corners[:, 0] - corners[:, 1] + corners[:, 2] - corners[:, 3]
                worst.append(float(np.linalg.norm(bent, axis=1).max()) / 4)
            if faces.shape[1] > count:
                middles = (corners[:, :count] + np.roll(corners[:, :count], -1, axis=1)) / 2
                worst.append(float(np.linalg.norm(corners[:, count : 2 * count] - middles, axis=-1).max()))
        return max(worst) if max(worst) > 64 * self.rounding else 0.0

    def at(self, point: Array) -> str:
        """A point as text, in m."""
        return "(" + ", ".join(f"{x + 0.0:.4g}" for x in self.center + self.scale * point) + ") m"


def _label_linked_nodes(tables: Sequence[Indices], count: int) -> tuple[int, Indices]:
    """The number of components of nodes linked by rows, and the component of each; -1 for unused nodes."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    first = np.concatenate([np.repeat(table[:, 0], table.shape[1] - 1) for table in tables])
    other = np.concatenate([table[:, 1:].ravel() for table in tables])
    is_used = np.zeros(count, dtype=bool)
    is_used[first] = is_used[other] = True
    graph = coo_array((np.ones(len(first), dtype=np.int8), (first, other)), shape=(count, count))
    component = connected_components(graph, directed=False)[1]
    used, renumbered = np.unique(component[is_used], return_inverse=True)
    components = np.full(count, -1)
    components[is_used] = renumbered.reshape(-1)
    return len(used), components


def check_cell_overlaps(mesh: NormalizedMesh) -> list[str]:
    """Raise if cells overlap; return warnings about parts that merely touch."""
    if not mesh.outside:
        raise MeshError("the mesh has no boundary: every face belongs to two cells, so some cells overlap")
    clear = max(2 * mesh.warp, TOUCHING_DEPTH)
    for cells, places in _interior_probes(mesh):
        inside = np.flatnonzero(winding_numbers(mesh.surface, places) > 1.5)
        if inside.size:
            # Not merely by rounding, or between a curved face and its triangles: its surroundings are inside, too.
            around = (places[inside][:, None] + clear * PROBE_DIRECTIONS).reshape(-1, 3)
            deep = (winding_numbers(mesh.surface, around) > 1.5).reshape(-1, 6).all(axis=1)
            if deep.any():
                first = int(inside[deep.argmax()])
                raise MeshError(
                    f"cells overlap, and their mass would count twice: for example cell {cells[first]} overlaps "
                    f"others near {mesh.at(places[first])}. Unite parts before meshing, or remove the wrong ones"
                )
    contact = _deepest_boundary_intersection(mesh)
    if contact is None or contact.depth <= NEGLIGIBLE_DEPTH:
        return []
    depth = contact.depth * mesh.scale
    if contact.depth > max(4 * mesh.warp, TOUCHING_DEPTH):
        raise MeshError(
            f"cells overlap, and their mass would count twice: boundary faces intersect near "
            f"{mesh.at(contact.place)}, by {depth:.2g} m. Unite the parts before meshing, or remove the wrong ones"
        )
    if mesh.part[0] == 1:
        return []
    return [
        f"separate parts of the mesh touch, and intersect near {mesh.at(contact.place)}, by {depth:.2g} m: the overlap "
        "counts twice"
    ]


def _interior_probes(mesh: NormalizedMesh) -> Iterator[tuple[Indices, Array]]:
    """Points in the cells that have a boundary node, and the indices of the cells, by type."""
    is_outer = np.zeros(len(mesh.nodes), dtype=bool)
    for faces in mesh.outside:
        is_outer[faces] = True
    low, high = mesh.surface.vertices.min(axis=0), mesh.surface.vertices.max(axis=0)
    found, start = [], 0
    for kind, cells in mesh.blocks:
        near = np.flatnonzero(is_outer[mesh.same[cells]].any(axis=1))
        found.append((kind, cells[near], near + start))
        start += len(cells)
    total = sum(len(numbers) for _, _, numbers in found)
    each = int(np.clip((PROBE_COUNT / max(total, 1)) ** (1 / 3), 1, 4))
    stride = max(1, total // (4 * PROBE_COUNT))
    for kind, cells, numbers in found:
        order = CELL_TYPES[kind].order
        cube = (cube_lattice(each - 1) * (each - 1) + 0.5) / each if each > 1 else np.full((1, 3), 0.5)
        functions = brick_shape_functions(order, cube)[0] @ CELL_TYPES[kind].brick
        places = np.einsum("pn,cnk->cpk", functions, mesh.nodes[cells[::stride]]).reshape(-1, 3)
        if len(places):
            # A point on the boundary of the box is decided by rounding alone.
            keep = ((places > low) & (places < high)).all(axis=1)
            if keep.any():
                yield np.repeat(numbers[::stride], len(cube))[keep], places[keep]


def _deepest_boundary_intersection(mesh: NormalizedMesh) -> FaceIntersection | None:
    flat = max(1e-12, 16 * mesh.rounding)
    with suppress(TooManyPairs):  # interior points were probed before
        if len(mesh.surface.faces) <= MAX_FACES_ALL_PAIRS:
            return deepest_self_intersection(mesh.surface, flat)
        if mesh.part[0] > 1:
            part = mesh.part[1][boundary_triangles(mesh.outside)[:, 0]]
            return deepest_shell_intersection(mesh.surface, part, flat)
    return None


def find_voids_and_parts(mesh: NormalizedMesh) -> list[str]:
    """Notes about voids inside the mesh, and about disconnected parts."""
    count = mesh.part[0]
    found = [f"{count} parts that share no node, treated as one rigid body."] if count > 1 else []
    surface = mesh.surface
    number, shell = _label_linked_nodes([surface.faces], len(surface.vertices))
    shell = shell[surface.faces[:, 0]]
    if number > count:
        corners = surface.vertices[surface.faces]
        first = np.zeros((number, 3))
        first[shell[::-1]] = corners[::-1, 0]
        a, b, c = (corners - first[shell][:, None]).transpose(1, 0, 2)
        volumes = np.bincount(shell, np.einsum("fk,fk->f", a, np.cross(b, c)) / 6, minlength=number)
        voids = -volumes[volumes < -64 * mesh.rounding]
        if len(voids):
            many = "1 void" if len(voids) == 1 else f"{len(voids)} voids"
            filled = " except for parts inside" if count > 1 else ""
            found.append(f"{many} inside the mesh, {voids.sum() * mesh.scale**3:.6g} m3, counted as empty{filled}.")
    return found


def count_covered_faces(mesh: NormalizedMesh) -> int:
    """The number of boundary triangles with another cell in front of them.

    Only cells with a common node are tested, and of these only the kernel (the part visible from all their faces): so a
    sound mesh is never reported, and a wrong one may pass.  Rounding of the coordinates tilts a face by its ratio to
    the face's height, and shifts a distant point in proportion to its distance.
    """
    nodes, triangles = mesh.nodes, boundary_triangles(mesh.outside)
    a, b, c = nodes[triangles].transpose(1, 0, 2)
    normal = np.cross(b - a, c - a)
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    # normal/length times the square root of the area; a degenerate triangle has nothing in front
    points = (a + b + c) / 3 + PROBE_OFFSET * np.divide(
        normal, np.sqrt(length), out=np.zeros_like(normal), where=length > 0
    )
    is_outer = np.zeros(len(nodes), dtype=bool)
    is_outer[triangles] = True
    hit = np.zeros(len(triangles), dtype=bool)
    for kind, cells in mesh.blocks:
        near = mesh.same[cells[is_outer[mesh.same[cells]].any(axis=1)]]
        sides = np.array([[f[i] for i in t] for f in CELL_TYPES[kind].faces for t in FACE_TRIANGLES[len(f)]])
        for which, cell in _face_cell_pairs(triangles, near):
            corners = nodes[near[cell]][:, sides]
            first = corners[:, :, 0]
            outward = np.cross(corners[:, :, 1] - first, corners[:, :, 2] - first)
            away = points[which][:, None] - first
            height = np.einsum("psk,psk->ps", outward, away)
            area = np.square(outward).sum(axis=-1)
            longest = np.square(corners[:, :, 1:] - corners[:, :, :1]).sum(axis=-1).max(axis=-1)
            margin = SIGN_MARGIN * mesh.rounding * (np.sqrt(longest * np.square(away).sum(axis=-1)) + np.sqrt(area))
            hit[which[((height < -margin) | (area == 0)).all(axis=1)]] = True
    return int((hit & (length[:, 0] > 0)).sum())


def _face_cell_pairs(triangles: Indices, cells: Indices) -> Iterator[tuple[Indices, Indices]]:
    """Pairs of triangles and cells with a common node, in batches."""
    order = np.argsort(cells, axis=None, kind="stable")
    of_node = cells.ravel()[order]
    owner = order // cells.shape[1]
    for nodes in triangles.T:
        begin, end = np.searchsorted(of_node, nodes), np.searchsorted(of_node, nodes, side="right")
        ends = np.cumsum(end - begin)
        step = max(1, POINTS_PER_CHUNK // 4)
        for start in range(0, int(ends[-1]), step):
            pair = np.arange(start, min(start + step, int(ends[-1])))
            which = np.searchsorted(ends, pair, side="right")
            yield which, owner[end[which] - (ends[which] - pair)]
