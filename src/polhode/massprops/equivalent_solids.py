"""The solid ellipsoid and the solid box with the mass and moments of a body."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polhode.errors import InertiaError
from polhode.massprops.principal_axes import ROUNDING, ZERO_MOMENT_RTOL
from polhode.validation import Array

if TYPE_CHECKING:
    from polhode.massprops.body import Body


def equivalent_ellipsoid_semi_axes(body: Body) -> Array:
    """a^2 = 5 (I2 + I3 - I1) / (2 m), and cyclic.  [Christian 2011, table 17.1, solved for a, b, c]"""
    axes: Array = np.sqrt(5 * _twice_second_moments(body) / (2 * np.asarray(body.mass)[..., None]))
    return axes


def equivalent_box_sides(body: Body) -> Array:
    """a^2 = 6 (I2 + I3 - I1) / m, and cyclic.  [Christian 2011, table 17.1, solved for a, b, c]"""
    sides: Array = np.sqrt(6 * _twice_second_moments(body) / np.asarray(body.mass)[..., None])
    return sides


def _twice_second_moments(body: Body) -> Array:
    """I2 + I3 - I1 = 2 integral of rho x^2, and cyclic; 0 (a flat body) where only rounding of the moments remains."""
    moments = body.principal_moments
    twice: Array = np.roll(moments, -1, axis=-1) + np.roll(moments, -2, axis=-1) - moments
    largest = moments.max(axis=-1, keepdims=True)
    bad = np.flatnonzero((twice < -2 * ROUNDING * largest).any(axis=-1))
    if bad.size:
        m = np.atleast_2d(moments)[bad[0]]
        raise InertiaError(
            f"moments {m[0]:g}, {m[1]:g}, {m[2]:g} kg m2 belong to no solid: there is no ellipsoid or box with them, "
            "because the square of one side would be negative. Draw the inertia ellipsoid instead, whose semi-axes "
            "are 1/sqrt(I) along the principal axes"
        )
    return np.where(twice <= ZERO_MOMENT_RTOL * largest, 0.0, twice)
