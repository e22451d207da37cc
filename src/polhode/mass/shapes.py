"""Bodies of simple shape and uniform density, centred on their centre of mass, axes along their symmetry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import checks
from polhode.body import Body
from polhode.checks import Array
from polhode.errors import InertiaError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def box(sides: ArrayLike, mass: ArrayLike | None = None, density: ArrayLike | None = None) -> Body:
    """A solid box.

    Parameters
    ----------
    sides : array_like
        The three lengths along the body's axes, in m.
    mass, density : float
        In kg, or in kg/m3: exactly one of them.

    Any of them may carry a leading axis for the members of an ensemble.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.shapes.box((1.0, 2.0, 3.0), density=1.0).principal_moments.tolist()
    [6.5, 5.0, 2.5]
    """
    a, b, c = np.moveaxis(_lengths(sides, "sides", (3,)), -1, 0)
    m = _mass(a * b * c, mass, density)
    return _body(m, (m * (b * b + c * c) / 12, m * (c * c + a * a) / 12, m * (a * a + b * b) / 12))


def sphere(radius: ArrayLike, mass: ArrayLike | None = None, density: ArrayLike | None = None) -> Body:
    """A solid ball.

    Parameters
    ----------
    radius : float
        In m.
    mass, density : float
        In kg, or in kg/m3: exactly one of them.

    Any of them may carry a leading axis for the members of an ensemble.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.shapes.sphere(0.5, mass=10.0).principal_moments.tolist()
    [1.0, 1.0, 1.0]
    """
    r = _lengths(radius, "radius", ())
    m = _mass(4 * np.pi * r**3 / 3, mass, density)
    return _body(m, (2 * m * r * r / 5,) * 3)


def _lengths(value: Any, name: str, shape: tuple[int, ...]) -> Array:
    array = checks.numbers(value, name, shape, InertiaError)
    if not (array > 0).all():
        raise InertiaError(f"{name} must be greater than 0 m, but the smallest is {array.min():g} m")
    return array


def _mass(volume: Array, mass: Any, density: Any) -> Array:
    """The mass, given as it is or by the density: the rule of every shape."""
    if (mass is None) == (density is None):
        found = "neither was given" if mass is None else "both were given"
        raise InertiaError(f"a shape needs its mass (kg) or its density (kg/m3), exactly one of them; {found}")
    if mass is not None:
        return checks.positive(mass, "mass", "kg", InertiaError)
    return checks.positive(density, "density", "kg/m3", InertiaError) * volume


def _body(mass: Array, moments: tuple[Any, Any, Any]) -> Body:
    """A body with these principal moments; the members' moments as tensors, which nobody takes for anything else."""
    together = np.stack(np.broadcast_arrays(*moments), axis=-1)
    return Body(mass=mass, inertia=together if together.ndim == 1 else together[..., None] * np.eye(3))
