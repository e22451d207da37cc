"""Do cells lie upon other cells?  The outside of a sound mesh goes round every place within it exactly once.

Faces between two cells cancel, so the outer faces alone decide.  Where they go round a place twice, matter would count
twice: a part within another, the same part twice, a cell too many.  Places are taken within the cells at the outside,
since two cells that overlap cannot both be hidden; then faces are compared with faces, for what the places missed.
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
from polhode.massprops.volume.boundary_faces import FACE_TRIANGLES, face_corner_count
from polhode.massprops.volume.cell_types import CELL_TYPES, cube_lattice
from polhode.massprops.volume.quadrature import brick_shape_functions
from polhode.validation import Array

EPS = float(np.finfo(float).eps)
PROBE_COUNT = 60_000
"""Places within cells that are looked at, about."""
PROBE_DIRECTIONS = np.vstack((np.eye(3), -np.eye(3)))


@dataclass(frozen=True, eq=False)
class NormalizedMesh:
    """Sound cells: nodes in a unit near the mesh's size, about its middle, and the outer faces."""

    blocks: Sequence[tuple[str, Indices]]
    nodes: Array
    same: Indices
    """Numbers of the nodes in which coinciding ones are one."""
    outside: Sequence[Indices]
    rounding: float
    """How exact the nodes' coordinates are."""
    center: Array
    scale: float

    @cached_property
    def surface(self) -> Surface:
        """The outer faces as triangles."""
        triangles = np.concatenate(
            [faces[:, list(t)] for faces in self.outside for t in FACE_TRIANGLES[faces.shape[1]]]
        )
        used, renumbered = np.unique(triangles, return_inverse=True)
        return Surface(self.nodes[used], renumbered.reshape(-1, 3))

    @cached_property
    def part(self) -> tuple[int, Indices]:
        """How many heaps of cells have no node in common, and which one each node belongs to."""
        return _label_linked_nodes([self.same[cells] for _, cells in self.blocks], len(self.nodes))

    @cached_property
    def warp(self) -> float:
        """How far outer faces lie from the triangles through their nodes, at most about."""
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
        """A place in words, in m."""
        return "(" + ", ".join(f"{x + 0.0:.4g}" for x in self.center + self.scale * point) + ") m"


def _label_linked_nodes(tables: Sequence[Indices], count: int) -> tuple[int, Indices]:
    """Into how many heaps nodes fall if those in a row belong together, and the heap of each; -1 for those in none."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    first = np.concatenate([np.repeat(table[:, 0], table.shape[1] - 1) for table in tables])
    other = np.concatenate([table[:, 1:].ravel() for table in tables])
    is_used = np.zeros(count, dtype=bool)
    is_used[first] = is_used[other] = True
    graph = coo_array((np.ones(len(first), dtype=np.int8), (first, other)), shape=(count, count))
    heap = connected_components(graph, directed=False)[1]
    used, renumbered = np.unique(heap[is_used], return_inverse=True)
    heaps = np.full(count, -1)
    heaps[is_used] = renumbered.reshape(-1)
    return len(used), heaps


def check_cell_overlaps(heap: NormalizedMesh) -> list[str]:
    """Complain about cells that overlap; what merely touches is worth a sentence."""
    if not heap.outside:
        raise MeshError("the mesh has no outside: every face belongs to two cells, so some cells overlap")
    clear = max(2 * heap.warp, TOUCHING_DEPTH)
    for cells, places in _interior_probes(heap):
        inside = np.flatnonzero(winding_numbers(heap.surface, places) > 1.5)
        if inside.size:
            # Not merely by rounding, or between a curved face and its triangles: the places round it are inside too.
            around = (places[inside][:, None] + clear * PROBE_DIRECTIONS).reshape(-1, 3)
            deep = (winding_numbers(heap.surface, around) > 1.5).reshape(-1, 6).all(axis=1)
            if deep.any():
                first = int(inside[deep.argmax()])
                raise MeshError(
                    f"cells overlap, and their mass would count twice: for example cell {cells[first]} lies upon "
                    f"others about {heap.at(places[first])}. Unite parts before meshing, or leave the wrong ones out"
                )
    contact = _deepest_boundary_intersection(heap)
    if contact is None or contact.depth <= NEGLIGIBLE_DEPTH:
        return []
    depth = contact.depth * heap.scale
    if contact.depth > max(4 * heap.warp, TOUCHING_DEPTH):
        raise MeshError(
            f"cells overlap, and their mass would count twice: outer faces run through each other about "
            f"{heap.at(contact.place)}, by {depth:.2g} m. Unite the parts before meshing, or leave the wrong ones out"
        )
    if heap.part[0] == 1:
        return []
    return [
        f"separate parts of the mesh touch, and run through each other about {heap.at(contact.place)}, by {depth:.2g}"
        " m: what lies in both counts twice"
    ]


def _interior_probes(heap: NormalizedMesh) -> Iterator[tuple[Indices, Array]]:
    """Places within the cells that have a node at the outside, and the cells' numbers; kind by kind."""
    is_outer = np.zeros(len(heap.nodes), dtype=bool)
    for faces in heap.outside:
        is_outer[faces] = True
    low, high = heap.surface.vertices.min(axis=0), heap.surface.vertices.max(axis=0)
    found, start = [], 0
    for kind, cells in heap.blocks:
        near = np.flatnonzero(is_outer[heap.same[cells]].any(axis=1))
        found.append((kind, cells[near], near + start))
        start += len(cells)
    total = sum(len(numbers) for _, _, numbers in found)
    each = int(np.clip((PROBE_COUNT / max(total, 1)) ** (1 / 3), 1, 4))
    stride = max(1, total // (4 * PROBE_COUNT))
    for kind, cells, numbers in found:
        order = CELL_TYPES[kind].order
        cube = (cube_lattice(each - 1) * (each - 1) + 0.5) / each if each > 1 else np.full((1, 3), 0.5)
        functions = brick_shape_functions(order, cube)[0] @ CELL_TYPES[kind].brick
        places = np.einsum("pn,cnk->cpk", functions, heap.nodes[cells[::stride]]).reshape(-1, 3)
        if len(places):
            # A place on the border of the box stands for itself only by rounding.
            keep = ((places > low) & (places < high)).all(axis=1)
            if keep.any():
                yield np.repeat(numbers[::stride], len(cube))[keep], places[keep]


def _deepest_boundary_intersection(heap: NormalizedMesh) -> FaceIntersection | None:
    flat = max(1e-12, 16 * heap.rounding)
    with suppress(TooManyPairs):  # the places inside cells were looked at before
        if len(heap.surface.faces) <= MAX_FACES_ALL_PAIRS:
            return deepest_self_intersection(heap.surface, flat)
        if heap.part[0] > 1:
            faces = [faces[:, list(t)] for faces in heap.outside for t in FACE_TRIANGLES[faces.shape[1]]]
            return deepest_shell_intersection(heap.surface, heap.part[1][np.concatenate(faces)[:, 0]], flat)
    return None


def find_voids_and_parts(heap: NormalizedMesh) -> list[str]:
    """Voids within the cells, and parts that hold together only by being one body."""
    count = heap.part[0]
    found = [f"{count} parts that share no node, counted as one rigid body."] if count > 1 else []
    surface = heap.surface
    number, shell = _label_linked_nodes([surface.faces], len(surface.vertices))
    shell = shell[surface.faces[:, 0]]
    if number > count:
        corners = surface.vertices[surface.faces]
        first = np.zeros((number, 3))
        first[shell[::-1]] = corners[::-1, 0]
        a, b, c = (corners - first[shell][:, None]).transpose(1, 0, 2)
        volumes = np.bincount(shell, np.einsum("fk,fk->f", a, np.cross(b, c)) / 6, minlength=number)
        voids = -volumes[volumes < -64 * heap.rounding]
        if len(voids):
            many = "1 void" if len(voids) == 1 else f"{len(voids)} voids"
            filled = " but for parts that lie within" if count > 1 else ""
            found.append(f"{many} within the cells, {voids.sum() * heap.scale**3:.6g} m3, counted as empty{filled}.")
    return found
