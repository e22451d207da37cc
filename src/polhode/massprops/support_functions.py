"""Support functions of shapes and meshes, max u.r, exact for curved ones, too; one value per ensemble member."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from polhode.massprops.geometry import Part, Shape, Surface
from polhode.validation import Array


def support_of_parts(parts: Sequence[Part], direction: Array) -> Array | None:
    """max u.r over the solid parts of a body, in m times |u|; None if one is not known exactly."""
    found = [_part_support(part, direction) for part in parts if not part.is_hole]
    known = [most for most in found if most is not None]
    if not known or len(known) < len(found):
        return None
    return _maximum(known)


def _part_support(part: Part, direction: Array) -> Array | None:
    u, source = part.linear.T @ direction, part.source
    if isinstance(source, Shape):
        most = np.asarray(SUPPORT_FUNCTIONS[source.name](u, **source.sizes))
    elif isinstance(source, Surface):
        most = _points_support(u, source.vertices)
    else:
        return None
    return most + part.offset @ direction


def _maximum(values: list[Array]) -> Array:
    most: Array = np.max(np.stack(np.broadcast_arrays(*values)), axis=0)
    return most


def _points_support(u: Array, points: Array) -> Array:
    """Of points (..., N, 3)."""
    most: Array = (points @ u).max(axis=-1)
    return most


def _disks_support(u: Array, *radii_and_heights: tuple[Any, Any]) -> Array:
    """Of the convex hull of disks normal to z: the largest r |u_xy| + z u_z."""
    each = [r * np.hypot(u[0], u[1]) + z * u[2] for r, z in radii_and_heights]
    return _maximum(each)


def _cylinder_support(u: Array, radius: Any, height: Any) -> Array:
    return _disks_support(u, (radius, -height / 2), (radius, height / 2))


def _frustum_support(u: Array, bottom_radius: Any, top_radius: Any, height: Any) -> Array:
    a, b = bottom_radius, top_radius
    low = -height * (a * a + 2 * a * b + 3 * b * b) / (4 * (a * a + a * b + b * b))
    return _disks_support(u, (a, low), (b, low + height))


def _half_ellipsoid_support(u: Array, semi_axes: Any) -> Array:
    """Its flat face lies 3/8 of its height below the origin, and alone counts for directions below."""
    stretched = u * semi_axes
    seen = np.where(u[2] > 0, stretched, stretched * (1, 1, 0))
    most: Array = np.sqrt((seen**2).sum(axis=-1)) - 3 / 8 * stretched[..., 2]
    return most


def _norm(u: Array) -> float:
    return float(np.sqrt(u @ u))


SUPPORT_FUNCTIONS: dict[str, Callable[..., Array]] = {
    "box": lambda u, sides: (np.abs(u) * sides / 2).sum(axis=-1),
    "capsule": lambda u, radius, cylinder_height: radius * _norm(u) + cylinder_height / 2 * abs(u[2]),
    "cone": lambda u, radius, height: _frustum_support(u, radius, 0 * radius, height),
    "cylinder": _cylinder_support,
    "ellipsoid": lambda u, semi_axes: np.sqrt(((u * semi_axes) ** 2).sum(axis=-1)),
    "frustum": _frustum_support,
    "half_ellipsoid": _half_ellipsoid_support,
    "parallelepiped": lambda u, edges: np.maximum(edges @ u, 0.0).sum(axis=-1),
    "prism": lambda u, base, height: _points_support(u[:2], base) + np.maximum(u[2] * height, 0.0),
    "ring": lambda u, radius: _disks_support(u, (radius, 0.0)),
    "sphere": lambda u, radius: radius * _norm(u),
    "spherical_shell": lambda u, radius, inner_radius=0.0: radius * _norm(u),
    "tetrahedron": lambda u, corners: _points_support(u, corners),
    "thin_disk": lambda u, radius: _disks_support(u, (radius, 0.0)),
    "thin_rod": lambda u, length, radius: _cylinder_support(u, radius, length),
    "thin_sheet": lambda u, sides: (np.abs(u[:2]) * sides / 2).sum(axis=-1),
    "torus": lambda u, radius, tube_radius: radius * np.hypot(u[0], u[1]) + tube_radius * _norm(u),
    "tube": lambda u, outer_radius, inner_radius, height: _cylinder_support(u, outer_radius, height),
}
