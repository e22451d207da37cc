"""Shared by all shapes: validation of sizes, the mass, and construction of the body."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode import validation
from polhode.errors import InertiaError
from polhode.massprops.body import Body
from polhode.massprops.geometry import Part, Shape
from polhode.massprops.mass_from_density import resolve_mass
from polhode.validation import Array


def check_lengths(**given: Any) -> list[Array]:
    """Lengths greater than 0, with consistent ensemble members."""
    found = [_check_positive(value, name, ()) for name, value in given.items()]
    validation.member_count(*((array, 0) for array in found))
    return found


def check_axis_lengths(value: Any, name: str, axes: int) -> Array:
    """Lengths greater than 0, one per axis."""
    return _check_positive(value, name, (axes,))


def _check_positive(value: Any, name: str, shape: tuple[int, ...]) -> Array:
    array = validation.check_numbers(value, name, shape, InertiaError)
    if not (array > 0).all():
        raise InertiaError(f"{name} must be greater than 0 m, but the smallest is {array.min():g} m")
    return array


def check_less_than(small: Array, large: Array, sentence: str, or_equal: bool = False) -> None:
    """Raise where the first is not less than the second; `sentence` has a placeholder for each."""
    low, high = np.broadcast_arrays(np.atleast_1d(small), np.atleast_1d(large))
    bad = np.flatnonzero(~(low <= high if or_equal else low < high))
    if bad.size:
        raise InertiaError(sentence.format(float(low[bad[0]]), float(high[bad[0]])))


def resolve_shape_mass(what: str, extent: Array, **amounts_and_extents: tuple[Any, Any]) -> Array:
    """The mass from exactly one amount, with members consistent with the extent: see `resolve_mass`."""
    for name, (value, _) in amounts_and_extents.items():
        if value is not None:
            validation.member_count(
                (np.asarray(extent), 0), (validation.check_numbers(value, name, (), InertiaError), 0)
            )
    return resolve_mass(what, **amounts_and_extents)


def build_shape_body(
    name: str,
    sizes: dict[str, Array],
    mass: Array,
    moments: tuple[Any, Any, Any],
    volume: Any,
    area: Any,
    is_line: bool = False,
) -> Body:
    """A body with these principal moments, its center of mass at the origin.

    Moments of an ensemble are stored as tensors, whose shape is unambiguous.
    """
    together = np.stack(np.broadcast_arrays(*moments), axis=-1)
    return Body(
        mass=mass,
        inertia=together if together.ndim == 1 else together[..., None] * np.eye(3),
        is_line=is_line,
        volume=volume,
        area=area,
        parts=(Part(Shape(name, sizes)),),
    )


def build_placed_shape_body(
    name: str, sizes: dict[str, Array], mass: Array, spread: Array, center: Array, volume: Any, area: Any
) -> Body:
    """A body in place.  `spread` is the mean of r r^T about the center of mass, 3 x 3, in m2."""
    x, y, z = np.moveaxis(np.diagonal(spread, axis1=-2, axis2=-1), -1, 0)
    moments = np.stack((y + z, z + x, x + y), axis=-1)
    per_mass = np.where(np.eye(3, dtype=bool), moments[..., None, :], 0.0 - spread)
    return Body(
        mass=mass,
        inertia=np.asarray(mass)[..., None, None] * per_mass,
        center_of_mass=center,
        volume=volume,
        area=area,
        parts=(Part(Shape(name, sizes)),),
    )
