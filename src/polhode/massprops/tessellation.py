"""Triangle meshes of the shapes of `ph.shapes`, for display and for checks of the formulas.

All vertices lie on the true surface, so sizes and moments converge with the square of the number of segments.
Surfaces are closed and face outward, except disks and sheets, which are one-sided and face +z.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from polhode.errors import InputError, show
from polhode.massprops.geometry import Indices, Surface
from polhode.massprops.polygons import counterclockwise_order, triangulate_polygon
from polhode.massprops.simplices import shortest_spanning_edges, triple_product
from polhode.validation import Array, is_whole_number

LINE_RADIUS_RATIO = 1 / 100
"""Radius of a drawn line relative to its length (a rod) or radius (a ring)."""


def tessellate_shape(name: str, sizes: Mapping[str, Any], segments: int) -> Surface:
    """The triangles of a shape, with this many segments per full circle."""
    if not is_whole_number(segments) or segments < 3:
        raise InputError(f"segments must be an integer, 3 or more, not {show(segments)}: the number per full circle")
    return TESSELLATORS[name](int(segments), **sizes)


# Solids of revolution -----------------------------------------------------------------------------------------------
def revolve_outline(outline: Array, segments: int, closed: bool = True) -> Surface:
    """The surface of revolution about z of an outline (N, 2) of radii and heights, with the material on its left.

    A point on the axis is a single vertex; segments along the axis have no surface.
    """
    angle = 2 * np.pi * np.arange(segments) / segments
    on_axis = outline[:, 0] == 0
    counts = np.where(on_axis, 1, segments)
    starts = np.cumsum(counts) - counts
    rings = [
        [(0.0, 0.0, z)] if pole else np.stack((r * np.cos(angle), r * np.sin(angle), np.full(segments, z)), axis=-1)
        for (r, z), pole in zip(outline, on_axis, strict=True)
    ]
    here = np.arange(segments)
    there = (here + 1) % segments
    faces = []
    for i in range(len(outline) if closed else len(outline) - 1):
        k = (i + 1) % len(outline)
        low, high = starts[i], starts[k]
        if not on_axis[i]:
            faces.append(np.stack((low + here, low + there, high + there * (not on_axis[k])), axis=-1))
        if not on_axis[k]:
            faces.append(np.stack((low + here * (not on_axis[i]), high + there, high + here), axis=-1))
    return Surface(np.concatenate(rings), np.concatenate(faces))


def _arc_points(steps: int, start: float, stop: float) -> Array:
    """Cosines and sines along an arc; start and stop are in quarter turns."""
    quarters = np.linspace(start, stop, steps + 1)
    points = np.stack((np.cos(quarters * np.pi / 2), np.sin(quarters * np.pi / 2)), axis=-1)
    whole = quarters % 1 == 0
    points[whole] = np.round(points[whole])
    return points


def _half_circle_outline(segments: int) -> Array:
    return _arc_points(max(2, (segments + 1) // 2), -1, 1)


def _tessellate_tube(segments: int, outer_radius: Any, inner_radius: Any, height: Any) -> Surface:
    a, b, h = inner_radius, outer_radius, height / 2
    return revolve_outline(np.array([(a, -h), (b, -h), (b, h), (a, h)]), segments)


def _tessellate_frustum(segments: int, bottom_radius: Any, top_radius: Any, height: Any) -> Surface:
    a, b, h = bottom_radius, top_radius, height
    low = -h * (a * a + 2 * a * b + 3 * b * b) / (4 * (a * a + a * b + b * b))
    outline = [(0, low), (a, low), (b, low + h), (0, low + h)]
    return revolve_outline(np.array(outline if b > 0 else outline[:3]), segments)


def _tessellate_capsule(segments: int, radius: Any, cylinder_height: Any) -> Surface:
    steps = -(-segments // 4)
    shift = np.array((0.0, cylinder_height / 2))
    return revolve_outline(
        np.concatenate((radius * _arc_points(steps, -1, 0) - shift, radius * _arc_points(steps, 0, 1) + shift)),
        segments,
    )


def _tessellate_torus(segments: int, radius: Any, tube_radius: Any) -> Surface:
    return revolve_outline(np.array((radius, 0.0)) + tube_radius * _arc_points(segments, -2, 2)[:-1], segments)


def _tessellate_sphere(segments: int, radius: Any) -> Surface:
    return revolve_outline(radius * _half_circle_outline(segments), segments)


def _tessellate_spherical_shell(segments: int, radius: Any, inner_radius: Any = None) -> Surface:
    if inner_radius is None:
        return _tessellate_sphere(segments, radius)
    half = _half_circle_outline(segments)
    return revolve_outline(np.concatenate((radius * half, inner_radius * half[::-1])), segments)


def _tessellate_ellipsoid(segments: int, semi_axes: Any) -> Surface:
    ball = _tessellate_sphere(segments, 1.0)
    return Surface(ball.vertices * semi_axes, ball.faces)


def _tessellate_half_ellipsoid(segments: int, semi_axes: Any) -> Surface:
    half = revolve_outline(np.concatenate(([(0.0, 0.0)], _arc_points(-(-segments // 4), 0, 1))), segments)
    return Surface((half.vertices - (0, 0, 3 / 8)) * semi_axes, half.faces)


# Thin shapes --------------------------------------------------------------------------------------------------------
def _tessellate_thin_rod(segments: int, length: Any, radius: Any) -> Surface:
    radius = radius if radius > 0 else LINE_RADIUS_RATIO * length
    return _tessellate_frustum(segments, radius, radius, length)


def _tessellate_thin_sheet(segments: int, sides: Any) -> Surface:
    x, y = np.asarray(sides) / 2
    return Surface(np.array([(-x, -y, 0.0), (x, -y, 0), (x, y, 0), (-x, y, 0)]), np.array([(0, 1, 2), (0, 2, 3)]))


# Polyhedra, exact ---------------------------------------------------------------------------------------------------
def _tessellate_box(segments: int, sides: Any) -> Surface:
    whole = _tessellate_parallelepiped(segments, np.diag(sides))
    return Surface(whole.vertices - np.asarray(sides) / 2, whole.faces)


def _tessellate_parallelepiped(segments: int, edges: Any) -> Surface:
    corners = np.array([(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)]) @ edges
    quads = np.array([(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)])
    faces = np.concatenate((quads[:, (0, 1, 2)], quads[:, (0, 2, 3)]))
    return Surface(corners, _orient_faces_outward(faces, triple_product(np.asarray(edges)) > 0))


def _tessellate_tetrahedron(segments: int, corners: Any) -> Surface:
    faces = np.array([(0, 2, 1), (0, 3, 2), (0, 1, 3), (1, 2, 3)])
    return Surface(corners, _orient_faces_outward(faces, triple_product(shortest_spanning_edges(corners)) > 0))


def _tessellate_prism(segments: int, base: Any, height: Any) -> Surface:
    n, bottom = len(base), triangulate_polygon(base)
    here = counterclockwise_order(base)
    there = np.roll(here, -1)
    sides = [np.stack(three, axis=-1) for three in ((here, there, there + n), (here, there + n, here + n))]
    vertices = np.concatenate([np.column_stack((base, np.full(n, z))) for z in (0.0, height)])
    return Surface(vertices, np.concatenate((bottom[:, ::-1], bottom + n, *sides)))


def _orient_faces_outward(faces: Indices, already: Any) -> Indices:
    return faces if already else faces[:, ::-1]


TESSELLATORS: dict[str, Callable[..., Surface]] = {
    "box": _tessellate_box,
    "capsule": _tessellate_capsule,
    "cone": lambda segments, radius, height: _tessellate_frustum(segments, radius, 0.0, height),
    "cylinder": lambda segments, radius, height: _tessellate_frustum(segments, radius, radius, height),
    "ellipsoid": _tessellate_ellipsoid,
    "frustum": _tessellate_frustum,
    "half_ellipsoid": _tessellate_half_ellipsoid,
    "parallelepiped": _tessellate_parallelepiped,
    "prism": _tessellate_prism,
    "ring": lambda segments, radius: _tessellate_torus(segments, radius, LINE_RADIUS_RATIO * radius),
    "sphere": _tessellate_sphere,
    "spherical_shell": _tessellate_spherical_shell,
    "tetrahedron": _tessellate_tetrahedron,
    "thin_disk": lambda n, radius: revolve_outline(np.array([(radius, 0.0), (0.0, 0.0)]), n, closed=False),
    "thin_rod": _tessellate_thin_rod,
    "thin_sheet": _tessellate_thin_sheet,
    "torus": _tessellate_torus,
    "tube": _tessellate_tube,
}
