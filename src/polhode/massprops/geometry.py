"""What a body looks like: shapes and meshes, each at its place.  Display and coupling need it, motion does not."""

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
"""How many axes a size has, where it is not one number: one more is that of an ensemble's members."""


@dataclass(frozen=True, eq=False)
class Surface:
    """Triangles: corners (N, 3) in m, and faces (M, 3) of corners' numbers, anticlockwise as seen from outside."""

    vertices: Array
    faces: Indices

    @cached_property
    def box(self) -> tuple[Array, Array]:
        """The lowest and the highest corner of the box around it, along the axes."""
        return bounding_box(self.vertices)

    @property
    def nodes(self) -> Array | None:
        """The points that the mesh was given by."""
        return self.vertices

    def surface(self, segments: int) -> Surface:  # noqa: ARG002
        """The surface itself: it is as fine as it is."""
        return self


@dataclass(frozen=True, eq=False)
class Shape:
    """A shape of `ph.shapes`, by name, with the sizes that it was made with."""

    name: str
    sizes: Mapping[str, Any]

    def __post_init__(self) -> None:
        kept = {name: freeze_arrays(size) for name, size in self.sizes.items()}
        object.__setattr__(self, "sizes", MappingProxyType(kept))

    def __reduce__(self) -> tuple[Any, ...]:
        return Shape, (self.name, dict(self.sizes))

    @property
    def nodes(self) -> Array | None:
        """None: a shape is a formula."""
        return None

    def taken(self, members: Any) -> Shape:
        """The shape of one member of an ensemble (a number), or of some (an array of numbers)."""
        sizes = {
            name: size[members] if np.ndim(size) > SIZE_DIMENSIONS.get((self.name, name), 0) else size
            for name, size in self.sizes.items()
        }
        return Shape(self.name, sizes)

    def surface(self, segments: int) -> Surface:
        """Triangles for it, with so many round a full circle."""
        from polhode.massprops.tessellation import tessellate_shape

        return tessellate_shape(self.name, self.sizes, segments)


class GeometrySource(Protocol):
    """Anything that has a surface: a shape, a surface mesh, a volume mesh."""

    @property
    def nodes(self) -> Array | None:
        """The points that a mesh was given by; None for a formula."""

    def surface(self, segments: int) -> Surface:
        """Triangles, with so many round a full circle where they approximate one."""


@dataclass(frozen=True, eq=False)
class Part:
    """A shape or mesh at its place in a body: r = linear r_source + offset."""

    source: GeometrySource
    linear: Array = field(default_factory=lambda: np.eye(3))
    offset: Array = field(default_factory=lambda: np.zeros(3))
    is_hole: bool = False
    is_mixed: bool = False
    """Of a body in which matter of several densities is joined: the mean density is not the density here."""

    def __post_init__(self) -> None:
        if isinstance(self.source, Surface):
            kept = Surface(freeze_array(self.source.vertices), freeze_array(self.source.faces))
            object.__setattr__(self, "source", kept)
        for name in ("linear", "offset"):
            object.__setattr__(self, name, freeze_array(getattr(self, name)))

    def __reduce__(self) -> tuple[Any, ...]:
        return Part, (self.source, self.linear, self.offset, self.is_hole, self.is_mixed)

    def placed(self, linear: Array, offset: Array) -> Part:
        """The part after another map of space."""
        return replace(self, linear=linear @ self.linear, offset=linear @ self.offset + offset)

    def taken(self, members: Any) -> Part:
        """The part of one member of an ensemble, or of some."""
        source = self.source.taken(members) if isinstance(self.source, Shape) else self.source
        return replace(self, source=source)

    def with_mixed_density(self) -> Part:
        """The part of a body whose mean density is not its own."""
        return replace(self, is_mixed=True)

    def toggle_hole(self) -> Part:
        """The part as a hole, or a hole as a part."""
        return replace(self, is_hole=not self.is_hole)

    @property
    def nodes(self) -> Array | None:
        """The points of its mesh, in the body's coordinates."""
        nodes = self.source.nodes
        return None if nodes is None else nodes @ self.linear.T + self.offset

    def surface(self, segments: int) -> Surface:
        """Its triangles, in the body's coordinates; those of a hole face inwards."""
        given = self.source.surface(segments)
        faces = given.faces
        if (np.linalg.det(self.linear) < 0) != self.is_hole:
            faces = faces[:, ::-1]
        return Surface(given.vertices @ self.linear.T + self.offset, faces)


def bounding_box(points: Array) -> tuple[Array, Array]:
    """The lowest and the highest corner of the box around points (N, 3): one column at a time, which is quicker."""
    return np.array([column.min() for column in points.T]), np.array([column.max() for column in points.T])


def merge_surfaces(surfaces: list[Surface]) -> Surface:
    """Several surfaces as one."""
    starts = np.cumsum([0, *(len(s.vertices) for s in surfaces)])
    faces = [s.faces + start for s, start in zip(surfaces, starts, strict=False)]
    return Surface(np.concatenate([s.vertices for s in surfaces]), np.concatenate(faces))
