"""Affine transformations of the plane and of space, as matrices acting on homogeneous coordinates.

A point has w = 1 as its last coordinate, a vector w = 0, so that a translation moves points but not vectors.
Lengths in m, angles in rad, counterclockwise about +z or by the right-hand rule.  [Christian 2011, sections 17.1, 17.2]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import rotations, validation
from polhode.errors import InputError, show
from polhode.validation import Array, is_whole_number

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from scipy.spatial.transform import Rotation

__all__ = [
    "about",
    "applied",
    "combined",
    "homogenized",
    "inverse",
    "point",
    "projected",
    "rotation",
    "scaling",
    "skew",
    "translation",
    "vector",
]

_PROJECTION_AXES = {"x": (1, 2, 0), "y": (2, 0, 1), "z": (0, 1, 2)}
"""Viewed from the positive end of an axis: the coordinates to the right, upwards, and toward the viewer."""


def point(places: ArrayLike) -> Array:
    """Coordinates (x, y) or (x, y, z), one point or many, as homogeneous points with w = 1.

    [Christian 2011, eq. 17.4, 17.9]

    Examples
    --------
    >>> import polhode as ph
    >>> ph.affine.point((2, 3)).tolist()
    [2.0, 3.0, 1.0]
    """
    return _append_w(places, "places", 1.0)


def vector(components: ArrayLike) -> Array:
    """Components, one vector or many, as homogeneous vectors with w = 0, which no translation changes.

    Examples
    --------
    >>> import polhode as ph
    >>> arrow = ph.affine.vector((2, 3))
    >>> ph.affine.applied(ph.affine.translation((5, 5)), arrow).tolist()
    [2.0, 3.0, 0.0]
    """
    return _append_w(components, "components", 0.0)


def homogenized(points: ArrayLike) -> Array:
    """Divide points by their w, so that w = 1.  Vectors (w = 0) raise an InputError.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.affine.homogenized((2, 4, 2)).tolist()
    [1.0, 2.0, 1.0]
    """
    array = _homogeneous(points)
    if (array[..., -1] == 0).any():
        raise InputError("w = 0 means a vector, which has no position: only points can be divided by their w")
    with np.errstate(over="ignore"):
        return validation.check_still_finite(np.asarray(array / array[..., -1:]), "the division by w")


def rotation(turn: float | Rotation, axis: ArrayLike | None = None) -> Array:
    """Rotation about the origin: in the plane by an angle, in space by a SciPy `Rotation` or by angle and axis.

    Positive angles are counterclockwise.  It rotates the body, not the axes.  [Christian 2011, eqs. 17.1 and 17.17]

    Examples
    --------
    >>> import numpy as np
    >>> import polhode as ph
    >>> quarter = ph.affine.rotation(np.pi / 2)
    >>> ph.affine.applied(quarter, ph.affine.point((1, 0))).round(12).tolist()
    [0.0, 1.0, 1.0]
    """
    if hasattr(turn, "as_matrix"):
        if axis is not None:
            raise InputError("a Rotation has its own axis: give an angle in rad with axis=, or a Rotation alone")
        return _embed_block(_linear_block(turn.as_matrix(), "the rotation's matrix"))
    angle = validation.check_number(turn, "the angle")
    if axis is not None:
        return _embed_block(rotations.matrix(validation.check_vector(axis, "axis", "rotation"), angle))
    c, s = np.cos(angle), np.sin(angle)
    return _embed_block(np.array([(c, -s), (s, c)]))


def scaling(factors: ArrayLike) -> Array:
    """Scale by a factor along each axis, two in the plane or three in space.  [Christian 2011, eq. 17.2]

    Examples
    --------
    >>> import polhode as ph
    >>> ph.affine.applied(ph.affine.scaling((2, 1)), ph.affine.point((3, 4))).tolist()
    [6.0, 4.0, 1.0]
    """
    return _embed_block(np.diag(_coordinates(factors, "factors", one=True)))


def skew(amount: float, moves: str = "x", by: str = "y", dimensions: int = 2) -> Array:
    """Add `amount` times coordinate `by` to coordinate `moves`; preserves volumes.  [Christian 2011, eq. 17.6]

    Examples
    --------
    >>> import polhode as ph
    >>> ph.affine.skew(0.2).tolist()
    [[1.0, 0.2, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    if not is_whole_number(dimensions) or dimensions not in (2, 3):
        raise InputError(f"dimensions must be 2 or 3, not {show(dimensions)}")
    names = ("x", "y", "z")[:dimensions]
    if not (isinstance(moves, str) and isinstance(by, str) and moves in names and by in names and moves != by):
        raise InputError(
            f"a skew moves one axis by another: two of {', '.join(names)}, not {show(moves)} and {show(by)}"
        )
    block = np.eye(dimensions)
    block[names.index(moves), names.index(by)] = validation.check_number(amount, "amount")
    return _embed_block(block)


def translation(displacement: ArrayLike) -> Array:
    """Translate points by two or three numbers in m; vectors are unchanged.  [Christian 2011, eqs. 17.5 and 17.9]

    Examples
    --------
    >>> import polhode as ph
    >>> ph.affine.applied(ph.affine.translation((1, 2, 3)), ph.affine.point((0, 0, 1))).tolist()
    [1.0, 2.0, 4.0, 1.0]
    """
    moved = _coordinates(displacement, "displacement", one=True)
    matrix = np.eye(len(moved) + 1)
    matrix[:-1, -1] = moved
    return matrix


def combined(first: ArrayLike, *then: ArrayLike) -> Array:
    """Compose transformations, applied in the given order: the last matrix is the leftmost factor.

    Examples
    --------
    >>> import numpy as np
    >>> import polhode as ph
    >>> turn_then_move = ph.affine.combined(ph.affine.rotation(np.pi / 2), ph.affine.translation((5, 0)))
    >>> ph.affine.applied(turn_then_move, ph.affine.point((1, 0))).round(12).tolist()
    [5.0, 1.0, 1.0]
    """
    whole = _affine_matrix(first)
    for later in then:
        matrix = _affine_matrix(later)
        if matrix.shape != whole.shape:
            raise InputError(
                "a matrix of the plane and one of space cannot be combined: make all of them 3 x 3 or 4 x 4"
            )
        with np.errstate(over="ignore", invalid="ignore"):
            whole = matrix @ whole
    return validation.check_still_finite(whole, "the combined matrix")


def about(matrix: ArrayLike, place: ArrayLike) -> Array:
    """The same transformation about a point p instead of the origin: T(p) M T(-p).  [Christian 2011, exercise 17.2 b]

    Examples
    --------
    >>> import numpy as np
    >>> import polhode as ph
    >>> turn = ph.affine.about(ph.affine.rotation(np.pi / 2), (1, 0))
    >>> ph.affine.applied(turn, ph.affine.point([(1, 0), (2, 0)])).round(12).tolist()
    [[1.0, 0.0, 1.0], [1.0, 1.0, 1.0]]
    """
    m, p = _affine_matrix(matrix), _coordinates(place, "place", one=True)
    if len(p) != len(m) - 1:
        raise InputError(
            f"place must be {len(m) - 1} numbers for a matrix of {len(m)} x {len(m)}, the coordinates without w, "
            f"but has {len(p)}"
        )
    return combined(translation(-p), m, translation(p))


def applied(matrix: ArrayLike, points: ArrayLike) -> Array:
    """Transform homogeneous points or vectors, one or many; the last axis holds x, y, (z,) w.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.affine.applied(ph.affine.skew(0.2), ph.affine.point([(0, 0), (0, 1)])).tolist()
    [[0.0, 0.0, 1.0], [0.2, 1.0, 1.0]]
    """
    m, array = _affine_matrix(matrix), _homogeneous(points)
    if array.shape[-1] != len(m):
        raise InputError(
            f"a matrix of {len(m)} x {len(m)} acts on {len(m)} numbers per point, w last, but there are "
            f"{array.shape[-1]}: pass places through point() and vectors through vector()"
        )
    with np.errstate(over="ignore", invalid="ignore"):
        return validation.check_still_finite(np.asarray(array @ m.T), "the transformation")


def inverse(matrix: ArrayLike) -> Array:
    """The inverse transformation.  A singular matrix raises an InputError.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.affine.inverse(ph.affine.translation((1, 2))).tolist()
    [[1.0, 0.0, -1.0], [0.0, 1.0, -2.0], [0.0, 0.0, 1.0]]
    """
    m = _affine_matrix(matrix)
    block = m[:-1, :-1]
    if _is_singular(block):
        raise InputError(
            "the matrix is singular: it flattens everything onto a line, a plane or a point, and has no inverse. "
            "Give a matrix with a nonzero determinant."
        )
    undone = np.eye(len(m))
    with np.errstate(all="ignore"):
        undone[:-1, :-1] = np.linalg.inv(block)
        undone[:-1, -1] = 0.0 - undone[:-1, :-1] @ m[:-1, -1]
    return validation.check_still_finite(undone, "the inverse")


def projected(points: ArrayLike, along: str = "z", distance: float | None = None) -> tuple[Array, Array]:
    """Project points of space onto a plane, viewed from the positive end of an axis.

    The depth is the coordinate along the axis: draw the smallest first.  The projection is parallel, or with `distance`
    (m from the origin to the camera) in perspective, by w = 1 - depth/distance.

    Returns
    -------
    flat, depth : ndarray
        (..., 2) and (...), in m.

    Examples
    --------
    >>> import polhode as ph
    >>> flat, depth = ph.affine.projected(ph.affine.point([(1, 2, 3), (1, 2, -3)]))
    >>> flat.tolist(), depth.tolist()
    ([[1.0, 2.0], [1.0, 2.0]], [3.0, -3.0])
    >>> ph.affine.projected(ph.affine.point((1, 2, 3)), distance=6.0)[0].tolist()
    [2.0, 4.0]
    """
    array = homogenized(points)
    if array.shape[-1] != 4:
        raise InputError("a projection needs points of space: x, y, z and w")
    validation.check_word(along, "along", _PROJECTION_AXES)
    right, up, toward = _PROJECTION_AXES[along]
    flat, depth = array[..., [right, up]], array[..., toward]
    if distance is None:
        return flat, depth
    eye = float(validation.check_positive(validation.check_number(distance, "distance"), "distance", "m"))
    if (depth >= eye).any():
        raise InputError(f"a point lies at depth {depth.max():g} m, at the camera or behind it: use a larger distance")
    seen = np.concatenate((flat, 1 - depth[..., None] / eye), axis=-1)
    return homogenized(seen)[..., :2], depth


# Argument checks ------------------------------------------------------------------------------------------------------
def _finite_numbers(value: Any, name: str, wanted: str) -> Array:
    return validation.check_numbers(value, name, validation.shape_of(value), wanted=wanted)


def _coordinates(value: Any, name: str, one: bool = False) -> Array:
    wanted = "2 numbers (the plane) or 3 (space)" + ("" if one else " each")
    array = _finite_numbers(value, name, wanted)
    if array.ndim == 0 or array.shape[-1] not in (2, 3) or (one and array.ndim > 1):
        raise InputError(f"{name} must be {wanted}, but has the shape {array.shape}")
    return array


def _append_w(value: Any, name: str, w: float) -> Array:
    array = _coordinates(value, name)
    return np.concatenate((array, np.full((*array.shape[:-1], 1), w)), axis=-1)


def _homogeneous(value: Any) -> Array:
    array = _finite_numbers(value, "points", "homogeneous, 3 numbers each in the plane or 4 in space")
    if array.ndim == 0 or array.shape[-1] not in (3, 4):
        raise InputError(
            f"points must be homogeneous, 3 numbers each in the plane or 4 in space, but have the shape {array.shape}: "
            "pass places through point() and vectors through vector()"
        )
    return array


def _linear_block(value: Any, name: str) -> Array:
    block = _finite_numbers(value, name, "3 x 3 numbers")
    if block.shape != (3, 3):
        raise InputError(f"{name} must be 3 x 3 numbers, but has the shape {block.shape}: give one rotation at a time")
    return block


def _embed_block(block: Array) -> Array:
    matrix = np.eye(len(block) + 1)
    matrix[:-1, :-1] = block
    return matrix


def _affine_matrix(value: Any) -> Array:
    wanted = "3 x 3 (the plane) or 4 x 4 (space)"
    matrix = _finite_numbers(value, "the matrix", wanted + " numbers")
    if matrix.shape not in ((3, 3), (4, 4)):
        raise InputError(f"the matrix must be {wanted}, but has the shape {matrix.shape}")
    last = [0.0] * (len(matrix) - 1) + [1.0]
    if matrix[-1].tolist() != last:
        raise InputError(
            f"the matrix's last row must be {last}, but is {matrix[-1].tolist()}: the matrix is not affine"
        )
    return matrix


def _is_singular(block: Array) -> bool:
    """Whether the block is singular within rounding, after scaling its rows and columns."""
    for axis in (1, 0):
        largest = np.abs(block).max(axis=axis, keepdims=True)
        if (largest == 0).any():
            return True
        block = block / largest
    values = np.linalg.svd(block, compute_uv=False)
    return bool(values[-1] <= len(block) * np.finfo(float).eps * values[0])
