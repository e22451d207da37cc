"""A steady rotation integrated by a Runge-Kutta method: y' = i w y, in steps that rotate by p = w h each.

A step of a method of order n with n stages multiplies y by the first terms of the exponential series,
1 + z + z^2/2 + ... + z^n/n!, z = i p.  Its modulus gives the drift, its argument the rotation angle.
"""

from __future__ import annotations

from math import factorial
from typing import TYPE_CHECKING

import numpy as np

from polhode.reference import argument_checks
from polhode.validation import Array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def amplification_factor(angle: ArrayLike, order: int) -> Array:
    """The complex factor by which a step multiplies y."""
    return _exponential_terms(argument_checks.finite_array(angle, "angle"), range(_check_order(order) + 1))


def phase_error(angle: ArrayLike, order: int) -> Array:
    """Phase error of a step, in rad; negative if it rotates too little.

    Examples
    --------
    >>> from math import pi
    >>> from polhode.gallery.closed_forms.runge_kutta_rotation import phase_error
    >>> [round(2 * float(phase_error(0.25, order)) * 2 * pi / 0.5, 6) for order in (2, 4)]  # a quaternion has w/2
    [0.064196, -0.0002]
    """
    angles = argument_checks.finite_array(angle, "angle")
    last = _check_order(order) + 1
    is_small = np.abs(angles) <= last
    small, back = np.where(is_small, angles, 0.0), np.exp(-1j * angles)
    # The truncated terms, where they decrease monotonically: avoids cancellation.
    truncated = _exponential_terms(small, range(last, 3 * last + 30)) * back
    return np.asarray(np.angle(np.where(is_small, 1 - truncated, amplification_factor(angles, order) * back)))


def rk4_norm_loss(angle: ArrayLike, steps: ArrayLike) -> Array:
    """1 - |y|^2 after N RK4 steps from |y| = 1: 1 - (1 - p^6/72 + p^8/576)^N.

    A rotation matrix rotates by the full angle, a quaternion by half of it.

    Examples
    --------
    >>> from polhode.gallery.closed_forms.runge_kutta_rotation import rk4_norm_loss
    >>> f"{rk4_norm_loss(0.1, 10_000):.6e}, {rk4_norm_loss(0.05, 10_000):.6e}"
    '1.387057e-04, 2.169458e-06'
    """
    p, count = argument_checks.finite_array(angle, "angle"), argument_checks.finite_array(steps, "steps")
    return np.asarray(-np.expm1(count * np.log1p(-(p**6) / 72 + p**8 / 576)))


def _check_order(order: int) -> int:
    return argument_checks.integer_in_range(order, "order", range(1, 101))


def _exponential_terms(angles: Array, powers: range) -> Array:
    """Sum of these terms of the exponential series of i p, smallest first."""
    return np.asarray(sum((1j * angles) ** k / factorial(k) for k in reversed(powers)))
