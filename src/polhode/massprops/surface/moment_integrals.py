"""Moments of the volume enclosed by a triangle mesh, or of its surface, exact up to rounding.

Three things preserve precision.  Coordinates are relative to a nearby point for which all differences are exact, so a
part a million times its size away from the origin loses nothing.  Second moments are about the center.  And where much
cancels, as in thin walls, everything is summed in double-double arithmetic.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.equations.surface_integrals import area_of, area_vector, first_moments, second_moments, volume_beneath
from polhode.massprops.geometry import Surface
from polhode.massprops.surface.double_double import DoubleDouble, exact_difference
from polhode.validation import Array

TRIANGLES_PER_BLOCK = 16384
"""Triangles per block, sized to the processor's cache."""
DOUBLE_PRECISION_RTOL = 8 * sys.float_info.epsilon
"""Relative error of the volume up to which double precision suffices, estimated for random rounding."""
MAX_CANCELLATION = 1e3
"""Largest ratio of absolute to net sum for which double precision suffices."""

Subtraction = Callable[[Array, Array], Any]
"""The subtraction of coordinates, which determines the number type (double or double-double)."""


@dataclass(frozen=True, eq=False)
class MomentIntegrals:
    """Integrals of 1, r and r r^T: extent (m3 or m2), center, and second moments about the center."""

    extent: float
    center: Array
    second: Array

    @property
    def inertia(self) -> Array:
        """The inertia tensor about the center, for a density of 1."""
        tensor: Array = np.trace(self.second) * np.eye(3) - self.second
        return tensor

    def in_unit(self, meters: float, dimensions: int) -> MomentIntegrals:
        """Converted to meters from a unit of this length; the extent is a volume (3 dimensions) or an area (2)."""
        unit = meters**dimensions
        return MomentIntegrals(self.extent * unit, self.center * meters, self.second * (unit * meters * meters))


def integrate_enclosed_volume(surface: Surface) -> MomentIntegrals:
    """Integrals over the enclosed volume; negative for an inverted surface."""
    origin, size, near = _normalize_vertices(surface)
    plain = _integrate_moments(near, surface, volume_beneath, (6, 4, 20), np.subtract)
    found = (
        plain
        if _is_well_conditioned(near, surface, plain)
        else _integrate_moments(near, surface, volume_beneath, (6, 4, 20), exact_difference)
    )
    return _undo_normalization(found, origin, size, 3)


def integrate_surface_area(surface: Surface) -> MomentIntegrals:
    """Integrals over the surface itself."""
    origin, size, near = _normalize_vertices(surface)
    return _undo_normalization(_integrate_moments(near, surface, area_of, (2, 3, 12), np.subtract), origin, size, 2)


def _normalize_vertices(surface: Surface) -> tuple[Array, float, Array]:
    """A nearby point, a power of two near the size, and the vertices relative to that point in that unit, exactly.

    The point is the origin unless that is far away; then it is a multiple of the size.
    """
    low, high = surface.box
    size = 2.0 ** math.ceil(math.log2((high - low).max() or 1.0))
    middle = low / 2 + high / 2
    origin = np.where(np.abs(middle) > 4 * size, np.round(middle / size) * size, 0.0)
    return origin, size, np.ascontiguousarray(((surface.vertices - origin) / size).T)


def _undo_normalization(found: MomentIntegrals, origin: Array, size: float, dimensions: int) -> MomentIntegrals:
    unit = size**dimensions
    return MomentIntegrals(found.extent * unit, origin + found.center * size, found.second * unit * size * size)


def _integrate_moments(
    near: Array, surface: Surface, weigh: Callable[..., Any], parts: tuple[int, int, int], numbers: Subtraction
) -> MomentIntegrals:
    middle = (near.min(axis=1) + near.max(axis=1)) / 2
    weight, *moments = _sum_over_triangles(
        near, surface, middle, numbers, lambda w, *corners: (w, *first_moments(w, *corners)), weigh
    )
    if weight == 0:
        return MomentIntegrals(0.0, middle, np.zeros((3, 3)))
    center = middle + np.array(moments) / (parts[1] * weight)
    xx, yy, zz, yz, zx, xy = np.array(_sum_over_triangles(near, surface, center, numbers, second_moments, weigh)) / (
        parts[0] * parts[2]
    )
    return MomentIntegrals(weight / parts[0], center, np.array(((xx, xy, zx), (xy, yy, yz), (zx, yz, zz))))


def _sum_over_triangles(
    near: Array, surface: Surface, about: Array, numbers: Subtraction, law: Any, weigh: Any
) -> list[float]:
    """Sums over all triangles of a law of weight and corners."""
    parts = [
        [_sum_exactly(part) for part in law(weigh(*corners), *corners)]
        for corners in _triangle_blocks(near, surface, about, numbers)
    ]
    return [math.fsum(number for pair in column for number in pair) for column in zip(*parts, strict=True)]


def _triangle_blocks(near: Array, surface: Surface, about: Array, numbers: Subtraction) -> Iterator[list[Any]]:
    """The corners a, b, c of all triangles, block by block, each a tuple of three arrays of numbers."""
    for begin in range(0, len(surface.faces), TRIANGLES_PER_BLOCK):
        faces = surface.faces[begin : begin + TRIANGLES_PER_BLOCK]
        yield [tuple(numbers(near[axis, corner], about[axis]) for axis in range(3)) for corner in faces.T]


def _sum_exactly(part: Any) -> tuple[float, ...]:
    if isinstance(part, DoubleDouble):
        whole = part.total()
        return float(whole.high[0]), float(whole.low[0])
    return (float(part.sum()),)


def _is_well_conditioned(near: Array, surface: Surface, found: MomentIntegrals) -> bool:
    """Whether double precision was enough: the volume is a sum of products that may cancel."""
    if found.extent == 0:
        return False
    whole = squares = 0.0
    for a, b, c in _triangle_blocks(near, surface, found.center, np.subtract):
        n = area_vector(a, b, c)
        sizes = np.abs(a[0] * n[0]) + np.abs(a[1] * n[1]) + np.abs(a[2] * n[2])
        whole, squares = whole + float(sizes.sum()), squares + float((sizes * sizes).sum())
    extent = abs(6 * found.extent)
    return (
        whole <= MAX_CANCELLATION * extent
        and math.sqrt(squares) * sys.float_info.epsilon <= DOUBLE_PRECISION_RTOL * extent
    )
