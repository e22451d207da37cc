"""Solids given by their corners; they stay in place, wherever their center of mass is."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import validation
from polhode.errors import InertiaError
from polhode.massprops.body import Body
from polhode.massprops.polygons import find_crossing_edges, triangulate_polygon
from polhode.massprops.shapes.shape_builder import build_placed_shape_body, check_lengths, resolve_shape_mass
from polhode.massprops.simplices import shortest_spanning_edges, triangle_areas, triple_product, triple_product_rounding
from polhode.synonyms import explain_unknown_arguments
from polhode.validation import Array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@explain_unknown_arguments(InertiaError)
def tetrahedron(corners: ArrayLike, mass: ArrayLike | None = None, density: ArrayLike | None = None) -> Body:
    """A solid tetrahedron: the mean of r r^T about its center is the sum of d d^T/20 over its corners d.

    Parameters
    ----------
    corners : array_like
        Four points, shape (4, 3), in any order, in m.
    mass, density : float
        In kg, or in kg/m3: exactly one of them.

    Examples
    --------
    >>> import polhode as ph
    >>> body = ph.shapes.tetrahedron([(0, 0, 0), (4, 0, 0), (0, 4, 0), (0, 0, 4)], mass=10.0)
    >>> body.center_of_mass.tolist(), body.inertia_body.tolist()
    ([1.0, 1.0, 1.0], [[12.0, 2.0, 2.0], [2.0, 12.0, 2.0], [2.0, 2.0, 12.0]])
    """
    corners = validation.check_numbers(corners, "corners", (4, 3), InertiaError)
    from_first = corners - corners[..., :1, :]
    if not (np.abs(from_first).max(axis=(-1, -2)) > 0).all():
        raise InertiaError("the four corners of the tetrahedron coincide")
    edges = shortest_spanning_edges(corners)
    filled = np.abs(triple_product(edges))
    _check_volume(filled, edges, np.abs(corners).max(axis=-2), "the four corners of the tetrahedron lie in one plane")
    faces = [corners[..., list(face), :] for face in ((1, 2, 3), (0, 2, 3), (0, 1, 3), (0, 1, 2))]
    volume, area = filled / 6, sum(triangle_areas(*np.moveaxis(face, -2, 0)) for face in faces)
    m = resolve_shape_mass("a tetrahedron", volume, mass=(mass, 1), density=(density, volume))
    center = from_first.mean(axis=-2)
    spread = _sum_outer_products(from_first - center[..., None, :]) / 20
    return build_placed_shape_body(
        "tetrahedron", {"corners": corners}, m, spread, corners[..., 0, :] + center, volume, area
    )


@explain_unknown_arguments(InertiaError)
def parallelepiped(edges: ArrayLike, mass: ArrayLike | None = None, density: ArrayLike | None = None) -> Body:
    """A solid parallelepiped with a corner at the origin: the mean of r r^T about its center is the sum of e e^T/12.

    Parameters
    ----------
    edges : array_like
        The three edges e from that corner, shape (3, 3), one per row, in m.
    mass, density : float
        In kg, or in kg/m3: exactly one of them.

    Examples
    --------
    >>> import polhode as ph
    >>> body = ph.shapes.parallelepiped([(2, 0, 0), (2, 2, 0), (0, 0, 2)], mass=3.0)
    >>> body.center_of_mass.tolist(), body.inertia_body.tolist()
    ([2.0, 1.0, 1.0], [[2.0, -1.0, 0.0], [-1.0, 3.0, 0.0], [0.0, 0.0, 3.0]])
    """
    edges = validation.check_numbers(edges, "edges", (3, 3), InertiaError)
    volume = np.abs(triple_product(edges))
    _check_volume(volume, edges, np.zeros(3), "the three edges of the parallelepiped lie in one plane")
    origin = np.zeros(3)
    u, v, w = np.moveaxis(edges, -2, 0)
    area = 4 * sum(triangle_areas(origin, one, other) for one, other in ((u, v), (v, w), (w, u)))
    m = resolve_shape_mass("a parallelepiped", volume, mass=(mass, 1), density=(density, volume))
    return build_placed_shape_body(
        "parallelepiped", {"edges": edges}, m, _sum_outer_products(edges) / 12, (u + v + w) / 2, volume, area
    )


@explain_unknown_arguments(InertiaError)
def prism(base: ArrayLike, height: ArrayLike, mass: ArrayLike | None = None, density: ArrayLike | None = None) -> Body:
    """A solid right prism between a polygon in the plane z = 0 and the same polygon at z = height.

    Parameters
    ----------
    base : array_like
        The corners (x, y), shape (n, 2), in order, either orientation, in m.  The first is not repeated at the end.
    height : float
        In m.
    mass, density : float
        In kg, or in kg/m3: exactly one of them.

    Examples
    --------
    >>> import polhode as ph
    >>> body = ph.shapes.prism([(0, 0), (6, 0), (0, 6)], height=6.0, mass=2.0)
    >>> body.center_of_mass.tolist(), body.inertia_body.round(9).diagonal().tolist()
    ([2.0, 2.0, 3.0], [10.0, 10.0, 8.0])
    """
    base, (h,) = _check_polygon(base), check_lengths(height=height)
    validation.member_count((base, 2), (h, 0))
    alone = [_polygon_properties(corners) for corners in base.reshape(-1, *base.shape[-2:])]
    surface, center, flat, rim = (
        np.reshape(values, (*base.shape[:-2], *np.shape(values[0]))) for values in zip(*alone, strict=True)
    )
    volume, area = surface * h, 2 * surface + rim * h
    m = resolve_shape_mass("a prism", volume, mass=(mass, 1), density=(density, volume))
    spread = np.zeros((*volume.shape, 3, 3))
    spread[..., :2, :2], spread[..., 2, 2] = flat, h * h / 12
    middle = np.stack(np.broadcast_arrays(center[..., 0], center[..., 1], h / 2), axis=-1)
    return build_placed_shape_body("prism", {"base": base, "height": h}, m, spread, middle, volume, area)


def _sum_outer_products(vectors: Array) -> Array:
    """The sum of d d^T over the rows d."""
    return np.swapaxes(vectors, -1, -2) @ vectors


def _check_volume(volume: Array, edges: Array, reach: Array, sentence: str) -> None:
    flat = np.flatnonzero(volume <= triple_product_rounding(edges, reach))
    if flat.size:
        which = f" (member {flat[0]})" if np.ndim(volume) else ""
        raise InertiaError(f"{sentence}{which}, to within rounding: it has no volume. Move one out of the plane")


def _check_polygon(base: Any) -> Array:
    """The base's corners: at least three, no two consecutive ones equal."""
    shape = validation.shape_of(base)
    if len(shape) not in (2, 3) or shape[-1] != 2 or shape[-2] < 3:
        raise InertiaError(f"base must be the (x, y) of at least three corners, shape (n, 2), but has shape {shape}")
    corners = validation.check_numbers(base, "base", shape[-2:], InertiaError)
    same = np.argwhere((corners == np.roll(corners, -1, axis=-2)).all(axis=-1))
    if same.size:
        i = int(same[0, -1])
        raise InertiaError(f"corner {(i + 1) % shape[-2]} of the base repeats corner {i}: remove one of them")
    return corners


def _polygon_properties(corners: Array) -> tuple[Any, Array, Array, Any]:
    """A polygon's area, center, mean of r r^T about it, and perimeter, summed over its triangulation.

    All areas are positive, so that nothing cancels for thin walls around a large cavity.
    """
    _check_area(corners)
    crossing = find_crossing_edges(corners)
    if crossing:
        i, j = crossing
        raise InertiaError(
            f"the base crosses or touches itself: its edges from corner {i} and from corner {j} meet. "
            "Give the corners in order along the outline"
        )
    near = corners - corners[0]
    three = near[triangulate_polygon(corners)]
    areas = triangle_areas(*np.moveaxis(three, 1, 0))
    area, sums = areas.sum(), three.sum(axis=1)
    center = areas @ sums / (3 * area)
    three = three - center
    sums = three.sum(axis=1)
    spread = (
        _sum_outer_products((three * np.sqrt(areas)[:, None, None]).reshape(-1, 2)) + (areas[:, None] * sums).T @ sums
    ) / 12
    rim = np.linalg.norm(near - np.roll(near, -1, axis=0), axis=-1).sum()
    return area, corners[0] + center, spread / area, rim


def _check_area(corners: Array) -> None:
    """Raise if the area of a polygon is zero to within rounding."""
    near, edges = corners - corners[0], np.roll(corners, -1, axis=0) - corners
    doubled = np.abs((near[:, 0] * edges[:, 1] - near[:, 1] * edges[:, 0]).sum())
    noise = (np.abs(edges[:, ::-1]) * np.abs(corners).max(axis=0)).sum()
    if doubled <= 16 * sys.float_info.epsilon * noise:
        raise InertiaError(
            "the base has no area, to within rounding: its corners are collinear, or it crosses itself in equal loops"
        )
