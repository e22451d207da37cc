"""The geometry of a body: placed shapes and meshes.  Display and coupling need it, motion does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from polhode.massprops.frozen_arrays import freeze_array, freeze_arrays
from polhode.validation import Array

Indices: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]

SIZE_DIMENSIONS = {
    ("box", "sides"): 1,
    ("ellipsoid", "semi_axes"): 1,
    ("half_ellipsoid", "semi_axes"): 1,
    ("thin_sheet", "sides"): 1,
    ("tetrahedron", "corners"): 2,
    ("parallelepiped", "edges"): 2,
    ("prism", "base"): 2,
}
"""Array dimensions of a size that is not a scalar; one more is the ensemble axis."""


@dataclass(frozen=True, eq=False)
class Surface:
    """Triangles: vertices (N, 3) in m, and faces (M, 3) of vertex indices, counterclockwise seen from outside."""

    vertices: Array
    faces: Indices

    @cached_property
    def box(self) -> tuple[Array, Array]:
        """Lowest and highest corner of the axis-aligned bounding box."""
        return bounding_box(self.vertices)

    @property
    def nodes(self) -> Array | None:
        """The vertices."""
        return self.vertices

    def surface(self, segments: int) -> Surface:  # noqa: ARG002
        """The surface itself, whatever the number of segments."""
        return self


@dataclass(frozen=True, eq=False)
class Shape:
    """A shape of `ph.shapes`, by name and sizes."""

    name: str
    sizes: Mapping[str, Any]

    def __post_init__(self) -> None:
        kept = {name: freeze_arrays(size) for name, size in self.sizes.items()}
        object.__setattr__(self, "sizes", MappingProxyType(kept))

    def __reduce__(self) -> tuple[Any, ...]:
        return Shape, (self.name, dict(self.sizes))

    @property
    def nodes(self) -> Array | None:
        """None: a shape has no mesh."""
        return None

    def select_members(self, members: Any) -> Shape:
        """The shape of one member of an ensemble (an index), or of several (an array of indices)."""
        sizes = {
            name: size[members] if np.ndim(size) > SIZE_DIMENSIONS.get((self.name, name), 0) else size
            for name, size in self.sizes.items()
        }
        return Shape(self.name, sizes)

    def surface(self, segments: int) -> Surface:
        """Its triangles, with this many segments per full circle."""
        from polhode.massprops.tessellation import tessellate_shape

        return tessellate_shape(self.name, self.sizes, segments)


class GeometrySource(Protocol):
    """A shape, a surface mesh, or a volume mesh."""

    @property
    def nodes(self) -> Array | None:
        """The nodes of a mesh; None for a shape."""

    def surface(self, segments: int) -> Surface:
        """Triangles, with this many segments per full circle of a curved shape."""


@dataclass(frozen=True, eq=False)
class Part:
    """A shape or mesh placed in a body: r = linear r_source + offset."""

    source: GeometrySource
    linear: Array = field(default_factory=lambda: np.eye(3))
    offset: Array = field(default_factory=lambda: np.zeros(3))
    is_hole: bool = False
    is_mixed: bool = False
    """True in a body of several densities, where the mean density is not the local one."""

    def __post_init__(self) -> None:
        if isinstance(self.source, Surface):
            kept = Surface(freeze_array(self.source.vertices), freeze_array(self.source.faces))
            object.__setattr__(self, "source", kept)
        for name in ("linear", "offset"):
            object.__setattr__(self, name, freeze_array(getattr(self, name)))

    def __reduce__(self) -> tuple[Any, ...]:
        return Part, (self.source, self.linear, self.offset, self.is_hole, self.is_mixed)

    def transform(self, linear: Array, offset: Array) -> Part:
        """The part after the affine map r -> linear r + offset."""
        return replace(self, linear=linear @ self.linear, offset=linear @ self.offset + offset)

    def select_members(self, members: Any) -> Part:
        """The part of one member of an ensemble, or of several."""
        source = self.source.select_members(members) if isinstance(self.source, Shape) else self.source
        return replace(self, source=source)

    @property
    def nodes(self) -> Array | None:
        """The nodes of its mesh, in the body's coordinates."""
        nodes = self.source.nodes
        return None if nodes is None else nodes @ self.linear.T + self.offset

    def surface(self, segments: int) -> Surface:
        """Its triangles in the body's coordinates; those of a hole face inward."""
        given = self.source.surface(segments)
        faces = given.faces
        if (np.linalg.det(self.linear) < 0) != self.is_hole:
            faces = faces[:, ::-1]
        return Surface(given.vertices @ self.linear.T + self.offset, faces)


def bounding_box(points: Array) -> tuple[Array, Array]:
    """Lowest and highest corner of the bounding box of points (N, 3), column by column, which is faster."""
    return np.array([column.min() for column in points.T]), np.array([column.max() for column in points.T])


def merge_surfaces(surfaces: list[Surface]) -> Surface:
    """Several surfaces as one."""
    starts = np.cumsum([0, *(len(s.vertices) for s in surfaces)])
    faces = [s.faces + start for s, start in zip(surfaces, starts, strict=False)]
    return Surface(np.concatenate([s.vertices for s in surfaces]), np.concatenate(faces))
