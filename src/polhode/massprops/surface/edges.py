"""Connectivity of a triangle mesh: edges, holes, shells, and the orientation of faces."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from polhode.massprops.geometry import Flags, Indices, Surface
from polhode.validation import Array


@dataclass(frozen=True, eq=False)
class EdgeTopology:
    """The sides (half-edges) of all faces, grouped by edge.

    A surface encloses a well-defined volume if, and only if, each edge is traversed equally often in both directions.
    """

    face: Indices
    """The face that each side belongs to."""
    way: Indices
    """1 where a side runs from the smaller vertex index to the larger, -1 in the opposite direction."""
    begins: Indices
    """The index of the first side of each edge."""
    low: Indices
    high: Indices
    """The vertices of each edge."""

    @classmethod
    def of(cls, faces: Indices, corners: int) -> EdgeTopology:
        """The edges of faces; a side from a vertex to itself is dropped."""
        count = len(faces)
        keys = np.empty((3, count), dtype=np.int64)
        for i in range(3):
            a, b = faces[:, i], faces[:, (i + 1) % 3]
            low = np.minimum(a, b)
            keys[i] = np.where(a == b, -1, (low * corners + (a + b - low)) * 2 + (a > b))
        flat = keys.ravel()
        order = np.argsort(flat)
        flat = flat[order]
        real = np.searchsorted(flat, 0)
        flat, order = flat[real:], order[real:]
        edge = flat >> 1
        is_new = np.ones(len(edge), dtype=bool)
        np.not_equal(edge[1:], edge[:-1], out=is_new[1:])
        begins = np.flatnonzero(is_new)
        low, high = np.divmod(edge[begins], corners)
        return cls(order % count, 1 - 2 * (flat & 1), begins, low, high)

    @cached_property
    def uses(self) -> Indices:
        """The number of sides of each edge."""
        return np.diff(np.append(self.begins, len(self.face)))

    @cached_property
    def balance(self) -> Indices:
        """Traversals of each edge from low to high, minus those from high to low."""
        return np.add.reduceat(self.way, self.begins) if len(self.way) else self.way

    @property
    def are_closed(self) -> bool:
        """Whether the surface encloses a well-defined signed volume."""
        return not self.balance.any()

    def sides_of(self, which: Flags) -> Indices:
        """The sides of the flagged edges."""
        return np.flatnonzero(np.repeat(which, self.uses))

    def unmatched(self) -> tuple[Indices, Indices]:
        """The sides, from vertex to vertex, that are missing for the surface to be closed."""
        missing = np.flatnonzero(self.balance)
        times, low, high = self.balance[missing], self.low[missing], self.high[missing]
        start, end = np.where(times > 0, high, low), np.where(times > 0, low, high)
        return np.repeat(start, np.abs(times)), np.repeat(end, np.abs(times))

    def neighbors(self, uses: int | None = None) -> tuple[Indices, Indices, Flags]:
        """Pairs of consecutive faces at an edge, and whether their orientations agree.

        With `uses` only at edges with this number of sides.
        """
        later = np.ones(len(self.face), dtype=bool)
        later[self.begins] = False
        if uses is not None and not (self.uses == uses).all():
            later &= np.repeat(self.uses == uses, self.uses)
        second = np.flatnonzero(later)
        first = second - 1
        return self.face[first], self.face[second], self.way[first] != self.way[second]

    def are_closed_per_piece(self, piece: Indices) -> bool:
        """Whether at every edge with more than two sides each piece alone is balanced."""
        crowded = self.edge_of_side[sides := self.sides_of(self.uses > 2)]
        _, group = np.unique(crowded * (piece.max() + 1) + piece[self.face[sides]], return_inverse=True)
        return not np.bincount(group, self.way[sides]).any()

    @property
    def edge_of_side(self) -> Indices:
        """The edge of each side."""
        return np.repeat(np.arange(len(self.begins)), self.uses)


def label_shells(edges: EdgeTopology, faces: int) -> tuple[int, Indices]:
    """The number of shells (connected components), and the shell of each face.

    Faces are connected where two meet at an edge.  Where more meet, as where two solids touch, they are connected only
    if otherwise a shell would not be closed.
    """
    count, piece = _label_components(*edges.neighbors(uses=2)[:2], faces)
    if (edges.uses > 2).any() and not edges.are_closed_per_piece(piece):
        count, piece = _label_components(*edges.neighbors()[:2], faces)
    return count, piece


def find_faces_to_flip(edges: EdgeTopology, faces: int) -> Flags | None:
    """The faces to flip so that neighbors agree, the fewest in each shell; None if the surface is not orientable.

    Computed on the orientation double cover: each face occurs as it is and flipped, linked where compatible.
    """
    first, second, agree = edges.neighbors(uses=2)
    other = np.where(agree, second, second + faces)
    again = np.where(agree, second + faces, second)
    _, piece = _label_components(np.concatenate((first, first + faces)), np.concatenate((other, again)), 2 * faces)
    as_it_is, turned = piece[:faces], piece[faces:]
    if (as_it_is == turned).any():
        return None
    sizes = np.bincount(as_it_is, minlength=piece.max() + 1)
    # A component and its flipped twin hold the same faces: choose the one with more unflipped faces.
    mine, twin = sizes[as_it_is], sizes[turned]
    keep: Flags = (mine > twin) | ((mine == twin) & (as_it_is < turned))
    return ~keep


def find_holes(edges: EdgeTopology, vertices: Array) -> list[tuple[int, float, Array]]:
    """For every hole, the longest first: the number of its edges, their total length, and its centroid."""
    if edges.are_closed:
        return []
    start, end, corners, hole, hole_of_edge = _label_holes(edges)
    lengths = np.linalg.norm(vertices[end] - vertices[start], axis=1)
    found = []
    for k in range(int(hole.max()) + 1):
        mine = hole_of_edge == k
        found.append((int(mine.sum()), float(lengths[mine].sum()), vertices[corners[hole == k]].mean(axis=0)))
    return sorted(found, key=lambda hole: -hole[1])


def cap_holes(surface: Surface, edges: EdgeTopology) -> Surface:
    """The surface with every hole closed by triangles to its centroid, exact for a flat hole."""
    start, end, corners, hole, hole_of_edge = _label_holes(edges)
    origin = surface.vertices[corners[0]]
    near = surface.vertices[corners] - origin
    centers = np.stack([near[hole == k].mean(axis=0) for k in range(int(hole.max()) + 1)]) + origin
    caps = np.stack((start, end, len(surface.vertices) + hole_of_edge), axis=1)
    return Surface(np.concatenate((surface.vertices, centers)), np.concatenate((surface.faces, caps)))


def _label_holes(edges: EdgeTopology) -> tuple[Indices, Indices, Indices, Indices, Indices]:
    """The missing sides (start, end), their vertices, and the hole of each vertex and of each side."""
    start, end = edges.unmatched()
    corners, numbers = np.unique(np.concatenate((start, end)), return_inverse=True)
    _, hole = _label_components(numbers[: len(start)], numbers[len(start) :], len(corners))
    return start, end, corners, hole, hole[numbers[: len(start)]]


def _label_components(first: Indices, second: Indices, count: int) -> tuple[int, Indices]:
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    links = coo_matrix((np.ones(len(first), dtype=np.int8), (first, second)), shape=(count, count))
    number, piece = connected_components(links, directed=False)
    return int(number), piece.astype(np.int64)
