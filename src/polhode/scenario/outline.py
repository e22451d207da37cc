"""The outline of a body: its convex hull, as points, circles and ellipsoids, some of them rounded by a ball."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from polhode.errors import ScenarioError
from polhode.massprops.body import Body
from polhode.massprops.geometry import Part, Shape
from polhode.validation import Array

COLUMNS = 13
POINT, CIRCLE, ELLIPSOID = 0.0, 1.0, 2.0
KIND, RADIUS, ROUNDING = 0, 7, 8
CENTER, AXIS, SEMI_AXES, QUATERNION = slice(1, 4), slice(4, 7), slice(4, 7), slice(9, 13)
"""The columns of an outline.  A circle has an axis, an ellipsoid semi-axes in their place."""

SAME = 1e-12
"""Points are the same, or lie in one plane or line, to within this fraction of their extent."""
FLAT_CORNER = 1e-10
"""A corner whose faces all contain one line, to this angle, lies on an edge or a face."""

_outlines: WeakKeyDictionary[Body, Array] = WeakKeyDictionary()


def outline_of(body: Body) -> Array:
    """The features (n, 13), or (members, n, 13), whose convex hull is the body's, about its center of mass, in m.

    Columns: kind (0 point, 1 circle, 2 ellipsoid); center (3); axis of a circle, or semi-axes of an ellipsoid (3);
    radius of a circle; radius of the ball that rounds a point or a circle; quaternion from the ellipsoid's axes to
    the body's (4).  Holes have no part in a hull.

    Examples
    --------
    >>> import polhode as ph
    >>> from polhode.scenario.outline import outline_of
    >>> outline_of(ph.shapes.capsule(0.5, 2.0, mass=1.0))[:, [0, 3, 8]].tolist()
    [[0.0, -1.0, 0.5], [0.0, 1.0, 0.5]]
    """
    if body not in _outlines:
        outline = _build_outline(body)
        outline.setflags(write=False)
        _outlines[body] = outline
    return _outlines[body]


def outline_support(outline: Array, direction: Array) -> Array:
    """max u.r over the hull of an outline, in m times |u|, for directions u (..., 3) in body axes."""
    u = direction[..., None, :]
    length = np.linalg.norm(u, axis=-1)
    axis, own = outline[..., AXIS], _to_own_axes(outline[..., QUATERNION], u)
    circle = outline[..., RADIUS] * np.linalg.norm(np.cross(axis, u), axis=-1)
    ellipsoid = np.linalg.norm(outline[..., SEMI_AXES] * own, axis=-1)
    extent = np.where(outline[..., KIND] == ELLIPSOID, ellipsoid, circle + outline[..., ROUNDING] * length)
    farthest: Array = ((outline[..., CENTER] * u).sum(axis=-1) + extent).max(axis=-1)
    return farthest


def outline_size(outline: Array) -> Array:
    """The largest distance of the hull from the center of mass, in m; for ellipsoids a bound on it."""
    center, axis = outline[..., CENTER], outline[..., AXIS]
    along = (center * axis).sum(axis=-1)
    across = np.linalg.norm(center - along[..., None] * axis, axis=-1) + outline[..., RADIUS]
    circle = np.hypot(across, along) + outline[..., ROUNDING]
    ellipsoid = np.linalg.norm(center, axis=-1) + outline[..., SEMI_AXES].max(axis=-1)
    farthest: Array = np.where(outline[..., KIND] == ELLIPSOID, ellipsoid, circle).max(axis=-1)
    return farthest


def _build_outline(body: Body) -> Array:
    if body.is_particle:
        return _points(np.zeros((1, 3)))
    solid = [part for part in body.parts if not part.is_hole]
    if not solid:
        raise ScenarioError(
            "contacts need a shape, but the body has mass properties only: make it with ph.shapes or Body.from_mesh. "
            "Where members of an ensemble were moved, turned or scaled each by its own amount, the shape was lost: "
            "give each its place in the state, its size in the shape"
        )
    blocks = [_place(block, part) for part in solid for block in _features(part)]
    blocks = _reduce_points(blocks, expects_volume=not all(isinstance(part.source, Shape) for part in solid))
    center = body.center_of_mass[..., None, :]
    leading = tuple({len(array) for array in (*blocks, center) if array.ndim == 3})
    outline = np.concatenate([np.broadcast_to(block, (*leading, *block.shape[-2:])) for block in blocks], axis=-2)
    outline[..., CENTER] -= center
    return outline


# Features of the shapes, in their own coordinates -------------------------------------------------------------------
def _points(centers: Any, rounding: Any = 0.0) -> Array:
    """Points (..., n, 3), each of them perhaps the center of a ball."""
    centers, radius = np.asarray(centers, dtype=float), np.asarray(rounding, dtype=float)[..., None]
    leading = np.broadcast_shapes(centers.shape[:-1], radius.shape)
    block = np.zeros((*leading, COLUMNS))
    block[..., CENTER], block[..., ROUNDING], block[..., 9] = centers, radius, 1.0
    return block


def _circle(radius: Any, height: Any = 0.0, rounding: Any = 0.0) -> Array:
    """A circle about z."""
    radius, height, rounding = np.broadcast_arrays(radius, height, rounding)
    block = np.zeros((*radius.shape, 1, COLUMNS))
    block[..., KIND], block[..., 6], block[..., 9] = CIRCLE, 1.0, 1.0
    for column, value in ((RADIUS, radius), (3, height), (ROUNDING, rounding)):
        block[..., column] = value[..., None]
    return block


def _ellipsoid(semi_axes: Any) -> list[Array]:
    semi_axes = np.asarray(semi_axes, dtype=float)
    block = np.zeros((*semi_axes.shape[:-1], 1, COLUMNS))
    block[..., KIND], block[..., SEMI_AXES], block[..., 9] = ELLIPSOID, semi_axes[..., None, :], 1.0
    return [block]


def _frustum(bottom_radius: Any, top_radius: Any, height: Any) -> list[Array]:
    a, b, h = bottom_radius, top_radius, height
    low = -h * (a * a + 2 * a * b + 3 * b * b) / (4 * (a * a + a * b + b * b))
    return [_circle(a, low), _circle(b, low + h)]


def _cone(radius: Any, height: Any) -> list[Array]:
    return [_circle(radius, -height / 4), _points(_on_axis(3 * height / 4))]


def _cylinder(radius: Any, height: Any) -> list[Array]:
    return [_circle(radius, -height / 2), _circle(radius, height / 2)]


def _thin_rod(length: Any, radius: Any) -> list[Array]:
    if np.any(radius):
        return _cylinder(radius, length)
    return [_points(_on_axis(-length / 2)), _points(_on_axis(length / 2))]


def _capsule(radius: Any, cylinder_height: Any) -> list[Array]:
    return [_points(_on_axis(-cylinder_height / 2), radius), _points(_on_axis(cylinder_height / 2), radius)]


def _on_axis(height: Any) -> Array:
    """A point of the z axis, (..., 1, 3)."""
    points: Array = np.asarray(height, dtype=float)[..., None, None] * np.array((0.0, 0.0, 1.0))
    return points


def _box(sides: Any) -> list[Array]:
    signs = np.array([(i, j, k) for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
    return [_points(signs * (np.asarray(sides)[..., None, :] / 2))]


def _thin_sheet(sides: Any) -> list[Array]:
    signs = np.array([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)])
    x, y = np.moveaxis(np.asarray(sides), -1, 0)
    return [_points(signs * (np.stack((x, y, 0 * x), axis=-1)[..., None, :] / 2))]


def _parallelepiped(edges: Any) -> list[Array]:
    corners = np.array([(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    return [_points(corners @ edges)]


def _prism(base: Any, height: Any) -> list[Array]:
    x, y, top = np.broadcast_arrays(base[..., 0], base[..., 1], np.asarray(height)[..., None])
    return [_points(np.stack((x, y, z), axis=-1)) for z in (0 * top, top)]


def _refuse_half_ellipsoid(semi_axes: Any) -> list[Array]:
    raise ScenarioError(
        "the body is half an ellipsoid, which contacts do not know: give it a mesh instead, "
        "ph.Body.from_mesh(body.mesh(segments=48), mass=body.mass)"
    )


OUTLINES: dict[str, Callable[..., list[Array]]] = {
    "box": _box,
    "capsule": _capsule,
    "cone": _cone,
    "cylinder": _cylinder,
    "ellipsoid": _ellipsoid,
    "frustum": _frustum,
    "half_ellipsoid": _refuse_half_ellipsoid,
    "parallelepiped": _parallelepiped,
    "prism": _prism,
    "ring": lambda radius: [_circle(radius)],
    "sphere": lambda radius: [_points(np.zeros((1, 3)), radius)],
    "spherical_shell": lambda radius, inner_radius=None: [_points(np.zeros((1, 3)), radius)],
    "tetrahedron": lambda corners: [_points(corners)],
    "thin_disk": lambda radius: [_circle(radius)],
    "thin_rod": _thin_rod,
    "thin_sheet": _thin_sheet,
    "torus": lambda radius, tube_radius: [_circle(radius, 0.0, tube_radius)],
    "tube": lambda outer_radius, inner_radius, height: _cylinder(outer_radius, height),
}


def _features(part: Part) -> list[Array]:
    """The features of a part, in the coordinates of its shape or mesh; blocks (n, 13) or (members, n, 13)."""
    if isinstance(part.source, Shape):
        sizes: Mapping[str, Any] = {name: np.asarray(size) for name, size in part.source.sizes.items()}
        return OUTLINES[part.source.name](**sizes)
    surface = part.source.surface(3)
    return [_points(surface.vertices[np.unique(surface.faces)])]


# Placement ----------------------------------------------------------------------------------------------------------
def _place(block: Array, part: Part) -> Array:
    """Features of one kind after the part's affine map; balls become ellipsoids where it stretches them."""
    linear, placed, kind = part.linear, block.copy(), block[..., KIND].flat[0]
    placed[..., CENTER] = block[..., CENTER] @ linear.T + part.offset
    factor = _scale_factor(linear)
    if kind == ELLIPSOID:
        return _place_ellipsoid(placed, block[..., SEMI_AXES], linear, factor)
    if kind == CIRCLE:
        return _place_circle(placed, linear, factor)
    if factor is not None:
        placed[..., ROUNDING] *= factor
    elif block[..., ROUNDING].any():
        radius = block[..., ROUNDING, None] * np.ones(3)
        placed[..., KIND], placed[..., ROUNDING] = ELLIPSOID, 0.0
        return _place_ellipsoid(placed, radius, linear, None)
    return placed


def _scale_factor(linear: Array) -> float | None:
    """The factor of a map that changes no angle; None of any other."""
    gram = linear.T @ linear
    squared = float(np.trace(gram)) / 3
    if np.abs(gram - squared * np.eye(3)).max() > SAME * squared:
        return None
    return _snapped(np.sqrt(squared))


def _snapped(factor: Any) -> float:
    """A factor, 1 where it differs from it by rounding only."""
    return 1.0 if abs(factor - 1) < 1e-14 else float(factor)


def _place_circle(placed: Array, linear: Array, factor: float | None) -> Array:
    """A circle about z; the map must keep it a circle."""
    x, y = linear[:, 0], linear[:, 1]
    normal = np.cross(x, y)
    square = x @ x
    if max(abs(x @ y), abs(square - y @ y)) > SAME * square or (factor is None and placed[..., ROUNDING].any()):
        raise ScenarioError(
            "the body has a round part that was stretched so that it is no longer round, which contacts do not know: "
            "give it a mesh instead, ph.Body.from_mesh(body.mesh(segments=48), mass=body.mass)"
        )
    placed[..., AXIS] = normal / np.linalg.norm(normal)
    placed[..., RADIUS] *= _snapped(np.sqrt(square))
    if factor is not None:
        placed[..., ROUNDING] *= factor
    return placed


def _place_ellipsoid(placed: Array, semi_axes: Array, linear: Array, factor: float | None) -> Array:
    """An ellipsoid, from its semi-axes along x, y and z: the principal axes of the map's image of it."""
    if factor is not None:
        turn = linear / np.cbrt(np.linalg.det(linear))  # of a mirror image: turned, since it is symmetric
        placed[..., SEMI_AXES] = semi_axes * factor
    else:
        turn, lengths, _ = np.linalg.svd(linear * semi_axes[..., None, :])
        turn = turn * np.linalg.det(turn)[..., None, None]
        placed[..., SEMI_AXES] = lengths
    placed[..., QUATERNION] = _quaternion(turn)
    return placed


def _quaternion(turn: Array) -> Array:
    from scipy.spatial.transform import Rotation

    flat = Rotation.from_matrix(turn.reshape(-1, 3, 3)).as_quat(canonical=True, scalar_first=True)
    return np.asarray(flat).reshape(*turn.shape[:-2], 4)


def _to_own_axes(quaternion: Array, vector: Array) -> Array:
    """A vector in body axes along the axes of an ellipsoid: v - 2 w (q x v) + 2 q x (q x v)."""
    w, q = quaternion[..., :1], quaternion[..., 1:]
    across = np.cross(q, vector)
    own: Array = vector - 2 * w * across + 2 * np.cross(q, across)
    return own


# Fewer points -------------------------------------------------------------------------------------------------------
def _reduce_points(blocks: list[Array], expects_volume: bool) -> list[Array]:
    """The same blocks with the plain points that are the same for all members reduced to corners of their hull."""
    plain = [b for b in blocks if b.ndim == 2 and b[0, KIND] == POINT and not b[:, ROUNDING].any()]
    others = _without_repeats([b for b in blocks if not any(b is p for p in plain)])
    if not plain:
        return others
    points = np.concatenate(plain)
    corners, dimension = _corners_of_hull(points[:, CENTER])
    if expects_volume and dimension < 3 and not others:
        what = ("point", "line", "plane")[dimension]
        raise ScenarioError(
            f"the convex hull of the body has no volume: the {len(points)} points of its mesh lie in one {what}. For a "
            "plate use ph.shapes.thin_sheet, ph.shapes.thin_disk or a mesh with a thickness"
        )
    return [points[corners], *others]


def _corners_of_hull(points: Array) -> tuple[Any, int]:
    """The indices of the corners of the convex hull of points (n, 3), in order, and its dimension."""
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    near = points - middle
    extent = np.abs(near).max()
    if extent <= SAME * np.abs(middle).max():
        return np.array([0]), 0
    _, lengths, directions = np.linalg.svd(near / extent - (near / extent).mean(axis=0), full_matrices=False)
    dimension = int((lengths > SAME * lengths[0] * np.sqrt(len(points))).sum())
    flat = near / extent @ directions[:dimension].T
    if dimension == 1:
        return np.sort([flat[:, 0].argmin(), flat[:, 0].argmax()]), 1
    from scipy.spatial import ConvexHull

    hull = ConvexHull(flat)
    normals = hull.equations[:, :-1]
    spread = np.zeros((len(points), dimension, dimension))
    for corners in hull.simplices.T:
        np.add.at(spread, corners, normals[:, :, None] * normals[:, None, :])
    is_sharp = np.linalg.eigvalsh(spread)[:, 0] > np.sqrt(FLAT_CORNER)
    for corner in hull.vertices[~is_sharp[hull.vertices]]:  # the squares above lose half of the digits
        faces = (hull.simplices == corner).any(axis=1)
        is_sharp[corner] = np.linalg.svd(normals[faces])[1].min() > FLAT_CORNER
    return np.flatnonzero(is_sharp), dimension


def _without_repeats(blocks: list[Array]) -> list[Array]:
    """Blocks without those that repeat one before them, as where two cylinders stand on each other."""
    kept: list[Array] = []
    for block in blocks:
        size = np.abs(block[..., 1:9]).max()
        if not any(b.shape == block.shape and np.abs(b - block).max() <= SAME * size for b in kept):
            kept.append(block)
    return kept
