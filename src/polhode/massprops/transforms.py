"""Translation, rotation, scaling and reflection of bodies: affine maps r -> A (r - p) + p + b."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import validation
from polhode.errors import InertiaError, show
from polhode.massprops.line_bodies import line_axis, line_tensor
from polhode.massprops.principal_axes import ROUNDING, ZERO_MOMENT_RTOL, Diagonalized, order_principal_axes
from polhode.validation import Array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from polhode.massprops.body import Body
    from polhode.massprops.geometry import Part


def translate_body(body: Body, offset: ArrayLike) -> Body:
    """The body translated: only its center of mass and the placement of its parts change."""
    by = _check_vector(offset, "the displacement", body)
    return replace(body, center_of_mass=body.center_of_mass + by, parts=_place_parts(body.parts, np.eye(3), by))


def rotate_body(body: Body, rotation: Any, about: ArrayLike) -> Body:
    """The body rotated about a point, I' = R I R^T; an ensemble by one rotation, or each member by its own."""
    from scipy.spatial.transform import Rotation

    if not isinstance(rotation, Rotation):
        raise InertiaError(
            "rotation must be a SciPy Rotation, such as Rotation.from_euler('z', 90, degrees=True), not "
            f"{show(rotation)}"
        )
    if not rotation.single and body.members is None:
        raise InertiaError(f"a single body takes one rotation, but {len(rotation)} were given: turn it by each in turn")
    return _transform_orthogonally(body, rotation.as_matrix(), about)


def mirror_body(body: Body, normal: ArrayLike, about: ArrayLike) -> Body:
    """The mirror image, A = 1 - 2 n n^T: products of inertia with the plane's normal axis change sign."""
    n = _check_vector(normal, "normal", body)
    longest = np.abs(n).max(axis=-1, keepdims=True)
    if not longest.all():
        raise InertiaError("normal must not be (0, 0, 0): give the direction normal to the mirror plane")
    n = n / longest
    twice = 2 / (n * n).sum(axis=-1)
    return _transform_orthogonally(body, np.eye(3) - twice[..., None, None] * n[..., :, None] * n[..., None, :], about)


def scale_body(body: Body, factor: ArrayLike, keep: str) -> Body:
    """The body scaled about the origin; with the density kept, the mass scales with the volume.

    As many factors as the body has members are one for each; but three are always those of the axes.
    A body that is flat in the direction of a factor stays flat.  With unequal factors the area is unknown.
    """
    shape = validation.shape_of(factor)
    if shape == () or (shape == (body.members,) and shape != (3,)):
        factor = validation.check_numbers(factor, "factor", (), InertiaError)[..., None] * np.ones(3)
    f = _check_vector(factor, "factor", body)
    if not (f > 0).all():
        raise InertiaError(
            f"a scale factor must be greater than 0, but the smallest is {f.min():g}: "
            "for a mirror image use mirror(normal), for a flat body a shape without thickness"
        )
    validation.check_word(keep, "keep", ("density", "mass"), InertiaError)
    growth = f[..., 0] * f[..., 1] * f[..., 2]
    more = growth if keep == "density" else np.ones(())
    if keep == "density":
        _refuse_without_density(body)
    is_uniform = bool((f == f[..., :1]).all())
    linear = f[..., None] * np.eye(3)
    one = f[..., 0]
    if is_uniform and not (one.ndim or body.members or body.is_line):
        inertia = np.asarray(body.inertia) * float(more * one * one)
    elif is_uniform and not body.is_line:
        inertia = body.inertia_body * (more * one * one)[..., None, None]
    else:
        inertia = _stretch_inertia(body, linear) * more[..., None, None]
    moments, axes = body.principal_moments * (more * one * one)[..., None], body._axes
    return replace(
        body,
        mass=body.mass * more,
        inertia=inertia,
        diagonalized=Diagonalized(inertia, *_broadcast_axes(inertia, moments, axes)) if is_uniform else None,
        center_of_mass=f * body.center_of_mass,
        volume=None if body.volume is None else body.volume * growth,
        area=body.area * (one * one) if is_uniform and body.area is not None else None,
        parts=_place_parts(body.parts, linear, np.zeros(3)),
    )


def _transform_orthogonally(body: Body, orthogonal: Array, about: ArrayLike) -> Body:
    """The body rotated or mirrored about a point: I' = Q I Q^T.

    The principal moments are kept and the axes rotated: recomputed from I', a small moment would be lost in the
    rounding of the large ones.
    """
    point = _check_vector(about, "about", body)
    validation.member_count((np.empty(body.members or ()), 0), (orthogonal, 2), (point, 1))
    if body.is_line:
        moment, direction = line_axis(body)
        inertia = line_tensor(moment, _apply_linear(orthogonal, direction))
    else:
        inertia = orthogonal @ body.inertia_body @ np.swapaxes(orthogonal, -1, -2)
        inertia = (inertia + np.swapaxes(inertia, -1, -2)) / 2
    moments = np.broadcast_to(body.principal_moments, inertia.shape[:-1])
    axes = np.broadcast_to(orthogonal @ body.principal_axes.as_matrix(), inertia.shape)
    return replace(
        body,
        inertia=inertia,
        diagonalized=Diagonalized(inertia, *order_principal_axes(moments, axes)),
        center_of_mass=_apply_linear(orthogonal, body.center_of_mass - point) + point,
        parts=_place_parts(body.parts, orthogonal, point - _apply_linear(orthogonal, point)),
    )


def _stretch_inertia(body: Body, linear: Array) -> Array:
    """The tensor after a linear map at constant mass: S = tr(I)/2 - I, S' = A S A^T, I' = tr S' - S'."""
    if body.is_line:
        moment, direction = line_axis(body)
        longer = _apply_linear(linear, direction)
        squared = (longer * longer).sum(axis=-1)
        return line_tensor(moment * squared, longer / np.sqrt(squared)[..., None])
    tensor = body.inertia_body
    second = _trace(tensor) / 2 * np.eye(3) - (tensor + np.swapaxes(tensor, -1, -2)) / 2
    extents, axes = np.linalg.eigh(second)
    least, largest = extents[..., 0], extents[..., -1]
    bad = np.flatnonzero(least < -ROUNDING * largest)
    if bad.size:
        m = np.atleast_2d(body.principal_moments)[bad[0]]
        raise InertiaError(
            f"moments {m[0]:g}, {m[1]:g}, {m[2]:g} kg m2 belong to no solid, which cannot be stretched: "
            "scale by one factor, or start from a physical body"
        )
    # A flat body's thickness is 0: remove the rounding in its place, which would be stretched, too.
    flat = np.where(least <= ZERO_MOMENT_RTOL * largest, least, 0.0)[..., None, None]
    second = second - flat * axes[..., :, :1] * np.swapaxes(axes[..., :, :1], -1, -2)
    second = linear @ second @ linear
    stretched: Array = _trace(second) * np.eye(3) - second
    return stretched


def _check_vector(value: ArrayLike, name: str, body: Body) -> Array:
    """Three numbers, or three per ensemble member, consistent with the members of the body."""
    array = validation.check_numbers(value, name, (3,), InertiaError)
    validation.member_count((np.empty(body.members or ()), 0), (array, 1))
    return array


def _broadcast_axes(tensor: Array, moments: Array, axes: Array) -> tuple[Array, Array]:
    """The moments and the axes' quaternions, broadcast to the tensors."""
    leading = tensor.shape[:-2]
    return np.broadcast_to(moments, (*leading, 3)), np.broadcast_to(axes, (*leading, 4))


def _refuse_without_density(body: Body) -> None:
    if body.is_particle or body.is_line or (body.volume is not None and not np.all(body.volume)):
        what = "a particle" if body.is_particle else "a line" if body.is_line else "a body without thickness"
        raise InertiaError(
            f"{what} has no volume, so no density to keep: use scale(factor, keep='mass'), "
            "or create it with the new mass"
        )
    if body.volume is None:
        raise InertiaError(
            "the volume is unknown, so there is no density to keep: use scale(factor, keep='mass'), or give the body "
            "its volume, as in dataclasses.replace(body, volume=0.001)"
        )


def _place_parts(parts: tuple[Part, ...], linear: Array, offset: Array) -> tuple[Part, ...]:
    """The parts after the map; none if each member of an ensemble has its own map."""
    return () if linear.ndim > 2 or offset.ndim > 1 else tuple(part.transform(linear, offset) for part in parts)


def _apply_linear(linear: Array, vector: Array) -> Array:
    result: Array = (linear @ vector[..., None])[..., 0]
    return result


def _trace(tensor: Array) -> Array:
    result: Array = np.trace(tensor, axis1=-2, axis2=-1)[..., None, None]
    return result
