"""What can be measured on a surface; what is costly is computed once, and only if asked for."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from polhode.checks import Array
from polhode.equations.surfaces import area_vector
from polhode.mass.geometry import Surface
from polhode.mass.surface.edges import Edges, shells
from polhode.mass.surface.integrals import BLOCK, Integrals, enclosed
from polhode.mass.surface.soundings import winding_at

FLAT = 1e-13
"""A volume less than this part of area times size is none."""
NO_AREA = 1e-12
"""The area of a face, as part of the square of its longest side, that is none."""
NEGLIGIBLE = 1e-9
"""A distance less than this part of the size is none."""
PROBES = 9
"""Places on a shell at which is looked what lies round it: where shells touch, one alone may be in doubt."""


class Nested(NamedTuple):
    """A shell: its number, its volume in m3 (negative if it looks inwards), and what goes round it."""

    number: int
    volume: float
    winding: float
    """How often the other shells go round it, counted with their sense."""
    depth: int
    """How many of them do, whichever way they look."""


class Facts:
    """Edges, shells, areas and insides of one surface."""

    def __init__(self, surface: Surface, name: str) -> None:
        self.surface, self.name = surface, name
        self.edges = Edges.of(surface.faces, len(surface.vertices))
        self.shells, self.shell = shells(self.edges, len(surface.faces))
        self.size = float((surface.vertices.max(axis=0) - surface.vertices.min(axis=0)).max())

    @cached_property
    def inside(self) -> Integrals:
        """What the surface encloses, counted with its sign."""
        return enclosed(self.surface)

    @cached_property
    def areas(self) -> Array:
        """The area of every face, in units of the size squared, and 0 for what has none."""
        scaled = (self.surface.vertices - self.surface.vertices[0]).T / (self.size or 1.0)
        areas = np.empty(len(self.surface.faces))
        for begin in range(0, len(areas), BLOCK):
            block = slice(begin, begin + BLOCK)
            a, b, c = (tuple(axis[corner] for axis in scaled) for corner in self.surface.faces[block].T)
            x, y, z = area_vector(a, b, c)
            twice = np.sqrt(x * x + y * y + z * z)
            sides = ((b, a), (c, b), (a, c))
            longest = np.max([sum((p - q) ** 2 for p, q in zip(u, v, strict=True)) for u, v in sides], axis=0)
            areas[block] = np.where(twice <= NO_AREA * longest, 0.0, twice / 2)
        return areas

    @property
    def area(self) -> float:
        """Of the whole surface, in m2."""
        return float(self.areas.sum()) * self.size**2

    @cached_property
    def nesting(self) -> list[Nested]:
        """Every shell, and how it lies within others."""
        vertices = self.surface.vertices
        each = [Surface(vertices, self.surface.faces[self.shell == k]) for k in range(self.shells)]
        boxes = np.array([(vertices[s.faces].min(axis=(0, 1)), vertices[s.faces].max(axis=(0, 1))) for s in each])
        result = []
        for k, one in enumerate(each):
            spread = np.linspace(0, len(one.faces) - 1, min(len(one.faces), PROBES)).astype(int)
            places = vertices[one.faces[spread]].mean(axis=1)
            near = ((boxes[:, 0] <= boxes[k, 1]) & (boxes[:, 1] >= boxes[k, 0])).all(axis=1)
            near[k] = False
            around = [winding_at(each[other], places) for other in np.flatnonzero(near)]
            winding = float(np.median(np.sum(around, axis=0))) if around else 0.0
            depth = sum(bool(np.median(np.abs(w)) > 0) for w in around)
            volume, area = enclosed(one).extent, float(self.areas[self.shell == k].sum()) * self.size**2
            result.append(Nested(k, volume if abs(volume) > FLAT * area * self.size else 0.0, winding, depth))
        return result

    def is_in_hull(self, place: Array) -> bool:
        """Whether a place lies within the convex hull."""
        from scipy.spatial import ConvexHull, QhullError

        vertices = self.surface.vertices
        try:
            hull = ConvexHull((vertices - vertices[0]) / self.size)
        except QhullError:  # a flat one: other findings say so
            return True
        heights = hull.equations[:, :3] @ ((place - vertices[0]) / self.size) + hull.equations[:, 3]
        return bool((heights <= NEGLIGIBLE).all())

    # Places ---------------------------------------------------------------------------------------------------------
    def about(self, face: int) -> str:
        """Where a face is."""
        return place(self.surface.vertices[self.surface.faces[face]].mean(axis=0))

    def about_edge(self, which: Array) -> str:
        """Where the first edge is for which a flag is set."""
        k = np.flatnonzero(which)[0]
        return place((self.surface.vertices[self.edges.low[k]] + self.surface.vertices[self.edges.high[k]]) / 2)

    def about_shell(self, number: int) -> str:
        """Where the middle of a shell is."""
        corners = self.surface.vertices[self.surface.faces[self.shell == number]]
        return place((corners.min(axis=(0, 1)) + corners.max(axis=(0, 1))) / 2)


def place(point: Array) -> str:
    """A point in words, in m."""
    return "(" + ", ".join(f"{x + 0.0:.4g}" for x in point) + ")"
