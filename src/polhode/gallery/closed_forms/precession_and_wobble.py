"""Precession of a body axis about L, and the rate of a small wobble."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polhode.reference import argument_checks
from polhode.validation import Array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def axis_precession(moments: ArrayLike, rates: ArrayLike) -> Array:
    """Precession rate of axis 3 about L for body rates (..., 3): L (I1 w1^2 + I2 w2^2)/(L1^2 + L2^2), in rad/s.

    This is phi' of the Euler angles about L, whose components in the body are sin(theta) sin(psi), sin(theta) cos(psi)
    and cos(theta).  [Landau and Lifshitz, section 37]

    Examples
    --------
    >>> from polhode.gallery.closed_forms.precession_and_wobble import axis_precession
    >>> round(float(axis_precession((2.0, 2.0, 8.0), (1.0, 0.0, 1.0))), 7)
    4.1231056
    """
    j, w = np.asarray(moments, dtype=float), np.asarray(rates, dtype=float)
    length = np.linalg.norm(j * w, axis=-1)
    return np.asarray(length * (w[..., :2] ** 2 @ j[:2]) / (w[..., :2] ** 2 @ j[:2] ** 2))


def wobble_rate_squared(moments: ArrayLike, axis: int) -> float:
    """Squared rate of a small wobble for unit spin about a principal axis: (I - Ia)(I - Ib)/(Ia Ib).

    Positive about the axes of largest and smallest moment, where the wobble oscillates; negative about the intermediate
    axis, where it grows as exp(rate t).  [Tops report, section 6]

    Examples
    --------
    >>> from polhode.gallery.closed_forms.precession_and_wobble import wobble_rate_squared
    >>> wobble_rate_squared((2.0, 8.0, 4.0), axis=2)
    -0.5
    """
    j = argument_checks.positive_vector(moments, "moments", "kg m2")
    one = j[argument_checks.integer_in_range(axis, "axis", range(3))]
    a, b = np.delete(j, axis)
    return float((one - a) / a * ((one - b) / b))
