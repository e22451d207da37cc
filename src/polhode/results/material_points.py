"""Material points of a body: positions, displacements and velocities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from polhode import validation
from polhode.equations.formulations import StateView
from polhode.equations.quaternions import conjugate, product, to_world
from polhode.equations.vectors import cross, minus, plus
from polhode.errors import InputError
from polhode.scenario.state import stack_components
from polhode.validation import Array


def evaluate_at_points(view: StateView, points_body: Any, law: Callable[[StateView, Any], Any]) -> Array:
    """Evaluate law(view, point_body) for each point: (time, body, points, 3).

    A single point of three numbers drops the axis of the points.
    """
    given = validation.check_numbers(
        points_body, "points_body", validation.shape_of(points_body), wanted="3 numbers a point"
    )
    points = np.atleast_2d(given)
    if points.shape[-1] != 3 or points.ndim != 2:
        raise InputError(f"points_body must be 3 numbers a point, but has the shape {given.shape}")
    array = stack_components(law(_add_point_axis(view), tuple(points.T)))
    return array if given.ndim == 2 else array[..., 0, :]


def _add_point_axis(view: StateView) -> StateView:
    vectors: Any = (tuple(c[..., None] for c in vector) for vector in view)
    return StateView(*vectors)


def point_position(view: StateView, point_body: Any) -> Any:
    """x + R r  [Baraff 1997, eq. 2-1]"""
    return plus(view.position, to_world(view.orientation, point_body))


def point_velocity(view: StateView, point_body: Any) -> Any:
    """v + w x (R r)  [Baraff 1997, eq. 2-17; Hydra 2017, eq. 4.26]"""
    return plus(view.velocity, cross(view.angular_velocity, to_world(view.orientation, point_body)))


def point_displacement_from(start: StateView) -> Callable[[StateView, Any], Any]:
    """(x - x0) + (R r - R0 r)  [Hydra 2017, eq. 4.25, corrected]

    R r - R0 r is computed from the relative rotation q0* q, so that no digits are lost if it is small.  A rotation
    within the rounding of q counts as none: renormalizing q moves its last bits, even at rest.
    """
    first = _add_point_axis(start)

    def displacement(view: StateView, point_body: Any) -> Any:
        w, e = rotation_between(first.orientation, view.orientation)
        across: Any = cross((e[0], e[1], e[2]), point_body)
        twice: Any = tuple(2 * (w * c + d) for c, d in zip(across, cross((e[0], e[1], e[2]), across), strict=True))
        return plus(minus(view.position, first.position), to_world(first.orientation, twice))

    return displacement


def rotation_between(first: Any, q: Any) -> tuple[Any, list[Any]]:
    """The rotation first* q as a unit quaternion (w, e); none if it is within the rounding of q."""
    w, *e = product(conjugate(first), q)
    length = np.sqrt(w * w + (e[0] * e[0] + e[1] * e[1] + e[2] * e[2]))
    rounding = 4 * np.finfo(np.float64).eps * length
    turned = (np.abs(e) > rounding).any(axis=0)
    return w / length, [np.where(turned, c / length, 0.0) for c in e]
