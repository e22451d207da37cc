"""How the triangles of a surface hang together: edges, holes, shells, and which way faces look."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from polhode.massprops.geometry import Flags, Indices, Surface
from polhode.validation import Array


@dataclass(frozen=True, eq=False)
class EdgeTopology:
    """The sides of all faces, those of one edge next to each other.

    A surface encloses a definite volume if, and only if, every edge is passed as often one way as the other.
    """

    face: Indices
    """The face that each side belongs to."""
    way: Indices
    """1 where a side leads from the corner with the smaller number to the other, -1 where it leads back."""
    begins: Indices
    """Where the sides of each edge begin."""
    low: Indices
    high: Indices
    """The corners of each edge."""

    @classmethod
    def of(cls, faces: Indices, corners: int) -> EdgeTopology:
        """The edges of faces; a side from a corner to itself is none."""
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
        """How many sides each edge has."""
        return np.diff(np.append(self.begins, len(self.face)))

    @cached_property
    def balance(self) -> Indices:
        """How often each edge is passed from low to high, less how often back."""
        return np.add.reduceat(self.way, self.begins) if len(self.way) else self.way

    @property
    def are_closed(self) -> bool:
        """Whether the surface encloses a definite volume, counted with its sign."""
        return not self.balance.any()

    @property
    def are_plain(self) -> bool:
        """Whether every edge joins exactly two faces that agree which side is out."""
        return len(self.face) == 2 * len(self.begins) and bool((self.uses == 2).all()) and self.are_closed

    def some(self, which: Flags) -> Indices:
        """The sides of those edges for which a flag is set."""
        return np.flatnonzero(np.repeat(which, self.uses))

    def unmatched(self) -> tuple[Indices, Indices]:
        """The sides, from corner to corner, that the surface lacks to be closed."""
        missing = np.flatnonzero(self.balance)
        times, low, high = self.balance[missing], self.low[missing], self.high[missing]
        start, end = np.where(times > 0, high, low), np.where(times > 0, low, high)
        return np.repeat(start, np.abs(times)), np.repeat(end, np.abs(times))

    def neighbors(self, uses: int | None = None) -> tuple[Indices, Indices, Flags]:
        """Pairs of faces that follow each other at an edge, and whether they agree which side is out.

        With `uses` only at edges that have so many sides.
        """
        later = np.ones(len(self.face), dtype=bool)
        later[self.begins] = False
        if uses is not None and not (self.uses == uses).all():
            later &= np.repeat(self.uses == uses, self.uses)
        second = np.flatnonzero(later)
        first = second - 1
        return self.face[first], self.face[second], self.way[first] != self.way[second]

    def are_closed_per_piece(self, piece: Indices) -> bool:
        """Whether at every edge with more than two sides each piece is balanced for itself."""
        crowded = self.edge_of_side[sides := self.some(self.uses > 2)]
        _, group = np.unique(crowded * (piece.max() + 1) + piece[self.face[sides]], return_inverse=True)
        return not np.bincount(group, self.way[sides]).any()

    @property
    def edge_of_side(self) -> Indices:
        """The edge that each side belongs to."""
        return np.repeat(np.arange(len(self.begins)), self.uses)


def label_shells(edges: EdgeTopology, faces: int) -> tuple[int, Indices]:
    """How many pieces the surface has, and the piece of each face.

    Faces hang together where two meet at an edge.  Where more meet, as where two solids touch, they hang together only
    if otherwise a piece would not be closed.
    """
    count, piece = _label_components(*edges.neighbors(uses=2)[:2], faces)
    if (edges.uses > 2).any() and not edges.are_closed_per_piece(piece):
        count, piece = _label_components(*edges.neighbors()[:2], faces)
    return count, piece


def find_faces_to_flip(edges: EdgeTopology, faces: int) -> Flags | None:
    """Which faces must be turned so that neighbors agree; the fewest in each piece.  None if there is no such choice.

    Every face is taken twice, as it is and turned; those that can go together hang together.
    """
    first, second, agree = edges.neighbors(uses=2)
    other = np.where(agree, second, second + faces)
    again = np.where(agree, second + faces, second)
    _, piece = _label_components(np.concatenate((first, first + faces)), np.concatenate((other, again)), 2 * faces)
    as_it_is, turned = piece[:faces], piece[faces:]
    if (as_it_is == turned).any():
        return None
    sizes = np.bincount(as_it_is, minlength=piece.max() + 1)
    # A piece and its turned twin hold the same faces: the one with more faces as they are is taken.
    mine, twin = sizes[as_it_is], sizes[turned]
    keep: Flags = (mine > twin) | ((mine == twin) & (as_it_is < turned))
    return ~keep


def find_holes(edges: EdgeTopology, vertices: Array) -> list[tuple[int, float, Array]]:
    """For every hole, the longest first: the number of its edges, their length, and its middle."""
    start, end = edges.unmatched()
    if not len(start):
        return []
    corners, numbers = np.unique(np.concatenate((start, end)), return_inverse=True)
    count, piece = _label_components(numbers[: len(start)], numbers[len(start) :], len(corners))
    of_edge = piece[numbers[: len(start)]]
    lengths = np.linalg.norm(vertices[end] - vertices[start], axis=1)
    middles = [vertices[corners[piece == k]].mean(axis=0) for k in range(count)]
    found = [
        (int((of_edge == k).sum()), float(lengths[of_edge == k].sum()), middle) for k, middle in enumerate(middles)
    ]
    return sorted(found, key=lambda hole: -hole[1])


def cap_holes(surface: Surface, edges: EdgeTopology) -> Surface:
    """The surface with every hole closed by triangles to its middle: if flat, exactly its plane."""
    start, end = edges.unmatched()
    corners, numbers = np.unique(np.concatenate((start, end)), return_inverse=True)
    count, piece = _label_components(numbers[: len(start)], numbers[len(start) :], len(corners))
    origin = surface.vertices[corners[0]]
    near = surface.vertices[corners] - origin
    middles = np.stack([near[piece == k].mean(axis=0) for k in range(count)]) + origin
    tips = len(surface.vertices) + piece[numbers[: len(start)]]
    caps = np.stack((start, end, tips), axis=1)
    return Surface(np.concatenate((surface.vertices, middles)), np.concatenate((surface.faces, caps)))


def _label_components(first: Indices, second: Indices, count: int) -> tuple[int, Indices]:
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    links = coo_matrix((np.ones(len(first), dtype=np.int8), (first, second)), shape=(count, count))
    number, piece = connected_components(links, directed=False)
    return int(number), piece.astype(np.int64)
