"""Measurements on a surface mesh; expensive ones are computed once, on demand."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from polhode.equations.surface_integrals import area_vector, volume_beneath
from polhode.massprops.geometry import Flags, Indices, Surface
from polhode.massprops.surface.edges import EdgeTopology, label_shells
from polhode.massprops.surface.moment_integrals import TRIANGLES_PER_BLOCK, MomentIntegrals, integrate_enclosed_volume
from polhode.massprops.surface.ray_winding import find_interior_points, winding_numbers
from polhode.massprops.surface.self_intersection import NEGLIGIBLE_DEPTH, TOUCHING_DEPTH, shell_bounding_boxes
from polhode.validation import Array

FLAT_VOLUME_RATIO = 1e-13
"""Volume relative to area times size below which it is zero."""
ZERO_AREA_RATIO = 1e-12
"""Area of a face relative to the square of its longest side below which it is zero."""
PROBES_PER_SHELL = 5
"""Probe points in a shell that decide what encloses it: where shells touch, a single one may be ambiguous."""
OVERLAP_SAMPLES, MAX_SHELL_PAIRS = 512, 2000
"""Samples in the intersection of two shells' boxes, and the maximum number of pairs of shells."""


class NestedShell(NamedTuple):
    """A shell: its number, its volume in the surface's unit (negative if it faces inward), and its nesting."""

    number: int
    volume: float
    winding: float
    """Winding number of the other shells around it."""
    depth: int
    """Number of shells that enclose it, whatever their orientation."""


class SurfaceAnalysis:
    """Edges, shells, areas and enclosed volume of one surface."""

    def __init__(self, surface: Surface, name: str, meters: float = 1.0) -> None:
        self.surface, self.name, self.meters = surface, name, meters
        self.edges = EdgeTopology.of(surface.faces, len(surface.vertices))
        self.shells, self.shell = label_shells(self.edges, len(surface.faces))
        low, high = surface.box
        self.size = float((high - low).max())

    @cached_property
    def rounding(self) -> float:
        """Rounding error of the vertices, in the surface's unit: many files are in single precision."""
        vertices = self.surface.vertices
        is_single = bool((vertices == vertices.astype(np.float32)).all())
        return 4 * float(np.finfo(np.float32 if is_single else np.float64).eps) * float(np.abs(vertices).max())

    @property
    def touching(self) -> float:
        """Penetration depth up to which faces count as touching."""
        return max(TOUCHING_DEPTH * self.size, self.rounding)

    @cached_property
    def inside(self) -> MomentIntegrals:
        """Moments of the enclosed volume, signed."""
        return integrate_enclosed_volume(self.surface)

    @cached_property
    def areas(self) -> Array:
        """The area of each face, in units of the size squared; 0 for degenerate faces."""
        return self._face_areas_and_normals[0]

    @property
    def normals(self) -> Array:
        """The unit normal of each face; 0 for degenerate faces."""
        return self._face_areas_and_normals[1]

    @cached_property
    def _face_areas_and_normals(self) -> tuple[Array, Array]:
        scaled = (self.surface.vertices - self.surface.vertices[0]).T / (self.size or 1.0)
        areas, normals = np.empty(len(self.surface.faces)), np.zeros((len(self.surface.faces), 3))
        for begin in range(0, len(areas), TRIANGLES_PER_BLOCK):
            block = slice(begin, begin + TRIANGLES_PER_BLOCK)
            a, b, c = (tuple(axis[corner] for axis in scaled) for corner in self.surface.faces[block].T)
            x, y, z = area_vector(a, b, c)
            twice = np.sqrt(x * x + y * y + z * z)
            sides = ((b, a), (c, b), (a, c))
            longest = np.max([sum((p - q) ** 2 for p, q in zip(u, v, strict=True)) for u, v in sides], axis=0)
            areas[block] = np.where(twice <= ZERO_AREA_RATIO * longest, 0.0, twice / 2)
            inverse = np.divide(0.5, areas[block], out=np.zeros(len(x)), where=areas[block] > 0)
            normals[block] = np.stack((x * inverse, y * inverse, z * inverse), axis=1)
        return areas, normals

    @property
    def area(self) -> float:
        """Total area, in the square of the surface's unit."""
        return float(self.areas.sum()) * self.size**2

    # Shells ---------------------------------------------------------------------------------------------------------
    def only(self, number: int) -> Surface:
        """One shell, with only its own vertices."""
        order, ends = self._faces_by_shell
        corners, faces = np.unique(self.surface.faces[order[ends[number] : ends[number + 1]]], return_inverse=True)
        return Surface(self.surface.vertices[corners], faces.reshape(-1, 3))

    @cached_property
    def _faces_by_shell(self) -> tuple[Indices, Indices]:
        order = np.argsort(self.shell, kind="stable")
        return order, np.searchsorted(self.shell[order], np.arange(self.shells + 1))

    @cached_property
    def boxes(self) -> tuple[Array, Array]:
        """Lowest and highest corner of each shell's bounding box."""
        corners = self.surface.vertices[self.surface.faces]
        return shell_bounding_boxes(corners.min(axis=1), corners.max(axis=1), self.shell)

    @cached_property
    def volumes(self) -> Array:
        """The signed volume of each shell; 0 for flat ones."""
        order, ends = self._faces_by_shell
        start = self.surface.vertices[self.surface.faces[order[ends[:-1]], 0]]
        near = (self.surface.vertices[self.surface.faces] - start[self.shell][:, None, :]) / self.size
        a, b, c = (tuple(near[:, k].T) for k in range(3))
        volumes = np.bincount(self.shell, volume_beneath(a, b, c) / 6, minlength=self.shells).astype(np.float64)
        areas = np.bincount(self.shell, self.areas, minlength=self.shells)
        return np.where(np.abs(volumes) > FLAT_VOLUME_RATIO * areas, volumes, 0.0) * self.size**3

    @cached_property
    def nesting(self) -> list[NestedShell]:
        """Each shell and its nesting.  Only a larger shell can enclose it.

        A void and the solid that fills it exactly have the same size: then the void encloses the solid.
        """
        volumes, (low, high) = self.volumes, self.boxes
        sizes, margin = np.abs(volumes), self.touching
        inside: dict[int, list[int]] = {}
        for k in range(self.shells):
            if volumes[k] != 0:
                holds = ((low <= low[k] + margin) & (high >= high[k] - margin)).all(axis=1)
                equal = np.abs(sizes - sizes[k]) <= NEGLIGIBLE_DEPTH * sizes[k]
                holds &= np.where(equal, (volumes < 0) & (volumes[k] > 0), sizes > sizes[k])
                for j in np.flatnonzero(holds).tolist():
                    inside.setdefault(j, []).append(k)
        winding, depth = np.zeros(self.shells), np.zeros(self.shells, dtype=int)
        places = {
            k: find_interior_points(self.only(k), PROBES_PER_SHELL)
            for k in {k for several in inside.values() for k in several}
        }
        for j, several in inside.items():
            around = winding_numbers(self.only(j), np.concatenate([places[k] for k in several]))
            ends = np.cumsum([len(places[k]) for k in several])
            for k, found in zip(several, np.split(around, ends[:-1]), strict=True):
                if len(found):
                    winding[k] += np.median(found)
                    depth[k] += bool(np.median(np.abs(found)) > 0)
        return [NestedShell(k, float(volumes[k]), float(winding[k]), int(depth[k])) for k in range(self.shells)]

    def find_shared_point(self) -> tuple[int, int, Array] | None:
        """Two outward-facing shells, and a point in both that is counted twice; None if none is found.

        Random points in the intersection of their boxes are tested, since faces that meet exactly along edges escape
        the other checks.
        """
        (low, high), places = self.boxes, np.random.default_rng(0).random((OVERLAP_SAMPLES, 3))
        outward = np.flatnonzero(self.volumes > 0)
        tried = 0
        for n, k in enumerate(outward.tolist()):
            bottom, top = np.maximum(low[outward[n + 1 :]], low[k]), np.minimum(high[outward[n + 1 :]], high[k])
            for m in np.flatnonzero((top - bottom > self.touching).all(axis=1)):
                tried += 1
                if tried > MAX_SHELL_PAIRS:
                    return None
                other = int(outward[n + 1 + m])
                there = bottom[m] + places * (top[m] - bottom[m])
                there = there[winding_numbers(self.only(k), there) > 0]
                if len(there):
                    there = there[winding_numbers(self.only(other), there) > 0][:PROBES_PER_SHELL]
                if len(there) and (deep := self._is_counted_twice(there)).any():
                    return k, other, there[deep][0]
        return None

    def _is_counted_twice(self, places: Array) -> Flags:
        """Whether points and their surroundings, out to the touching depth, lie inside more than once."""
        about = np.concatenate((np.zeros((1, 3)), np.eye(3), -np.eye(3))) * self.touching
        windings = winding_numbers(self.surface, (places[:, None, :] + about).reshape(-1, 3))
        return np.asarray((windings.reshape(len(places), -1) > 1).all(axis=1))

    def is_in_hull(self, place: Array) -> bool:
        """Whether a point lies in the convex hull."""
        from scipy.spatial import ConvexHull, QhullError

        vertices = self.surface.vertices
        try:
            hull = ConvexHull((vertices - vertices[0]) / self.size)
        except QhullError:  # flat, which other findings report
            return True
        heights = hull.equations[:, :3] @ ((place - vertices[0]) / self.size) + hull.equations[:, 3]
        return bool((heights <= NEGLIGIBLE_DEPTH).all())

    # Locations for messages, in meters ------------------------------------------------------------------------------
    def place(self, point: Array) -> str:
        """A point as text."""
        return "(" + ", ".join(f"{x * self.meters + 0.0:.4g}" for x in point) + ")"

    def about(self, face: int) -> str:
        """The centroid of a face as text."""
        return self.place(self.surface.vertices[self.surface.faces[face]].mean(axis=0))

    def edge_location(self, which: Flags) -> str:
        """The midpoint of the first flagged edge as text."""
        k = np.flatnonzero(which)[0]
        return self.place((self.surface.vertices[self.edges.low[k]] + self.surface.vertices[self.edges.high[k]]) / 2)

    def shell_location(self, number: int) -> str:
        """The center of a shell's bounding box as text."""
        low, high = self.boxes
        return self.place((low[number] + high[number]) / 2)
