"""Falling through air, in closed form."""

from __future__ import annotations

from math import factorial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from polhode import validation
from polhode.validation import Array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["with_linear_drag", "with_quadratic_drag"]


class Flight(NamedTuple):
    """Position (m) and velocity (m/s) of a falling body."""

    position: Array
    velocity: Array


def with_linear_drag(
    t: ArrayLike,
    mass: float,
    c: float,
    gravity: ArrayLike,
    position: ArrayLike = (0.0, 0.0, 0.0),
    velocity: ArrayLike = (0.0, 0.0, 0.0),
    wind: ArrayLike = (0.0, 0.0, 0.0),
) -> Flight:
    """Fall with linear drag in three dimensions: M v' = M g - c (v - wind).

    With a the initial acceleration and z = c t/M: v = v0 + a t p1(z), x = x0 + v0 t + a t^2 p2(z),
    p1 = (1 - e^-z)/z, p2 = (1 - p1)/z, also for c = 0.

    Parameters
    ----------
    t : array_like
        Times, in s.
    mass, c : float
        In kg and kg/s.
    gravity, position, velocity, wind : array_like
        Three numbers each: acceleration (m/s2), initial position (m), initial velocity and wind (m/s).

    Returns
    -------
    Flight
        `position` and `velocity`, (..., 3).

    Examples
    --------
    >>> from polhode.reference.fall import with_linear_drag
    >>> with_linear_drag(10.0, 1.0, 0.5, (0, 0, -9.80665), wind=(3, 0, 0)).position.round(7).tolist()
    [24.0404277, 0.0, -157.1707068]
    """
    times = np.asarray(validation.check_numbers(t, "t", np.shape(t)))[..., None]
    per_mass = validation.check_number(c, "c") / float(validation.check_positive(mass, "mass", "kg"))
    x0, v0, air, g = (
        validation.check_numbers(vector, name, (3,))
        for vector, name in ((position, "position"), (velocity, "velocity"), (wind, "wind"), (gravity, "gravity"))
    )
    acceleration = g + per_mass * (air - v0)
    p1, p2 = _decay_integrals(per_mass * times)
    return Flight(x0 + v0 * times + acceleration * times**2 * p2, v0 + acceleration * times * p1)


def _decay_integrals(z: Array) -> tuple[Array, Array]:
    """(1 - e^-z)/z and (z - 1 + e^-z)/z^2; by series for |z| < 1, to avoid cancellation."""
    small = np.where(np.abs(z) < 1, z, 0.0)
    large = np.where(np.abs(z) < 1, 1.0, z)
    series_1 = sum((-small) ** k / factorial(k + 1) for k in range(19))
    series_2 = sum((-small) ** k / factorial(k + 2) for k in range(19))
    near = np.abs(z) < 1
    return (
        np.where(near, series_1, -np.expm1(-large) / large),
        np.where(near, series_2, (large + np.expm1(-large)) / large**2),
    )


def with_quadratic_drag(t: ArrayLike, mass: float, c: float, g: float, speed: float = 0.0) -> Flight:
    """Vertical fall with quadratic drag: M v' = M g - c |v| v, positive downwards.

    With V = sqrt(M g/c), T = V/g, r = v0/V, z = t/T.  Downwards: v = V (r + tanh z)/(1 + r tanh z),
    x = V T ln(cosh z + r sinh z).  Upwards, until z = -atan r: the same with tan, cos and -ln(cos z - r sin z).

    Parameters
    ----------
    t : array_like
        Times, in s.
    mass, c, g : float
        In kg, kg/m and m/s2.
    speed : float, optional
        Initial speed in m/s; negative upwards.

    Returns
    -------
    Flight
        `position` is the distance fallen, `velocity` the speed.

    Examples
    --------
    >>> from polhode.reference.fall import with_quadratic_drag
    >>> round(float(with_quadratic_drag(10.0, 80.0, 0.25, 9.80665).velocity), 6)
    52.738696
    """
    times = np.asarray(validation.check_numbers(t, "t", np.shape(t)))
    m, drag, pull = (
        float(validation.check_positive(value, name, unit))
        for value, name, unit in ((mass, "mass", "kg"), (c, "c", "kg/m"), (g, "g", "m/s2"))
    )
    terminal = np.sqrt(m * pull / drag)
    unit = terminal / pull
    r = validation.check_number(speed, "speed") / terminal
    apex = np.arctan(max(-r, 0.0))
    z = times / unit
    up = np.minimum(z, apex)
    climbed = -np.log1p(-2 * np.sin(up / 2) ** 2 - min(r, 0.0) * np.sin(up))
    down, r_down = np.maximum(z - apex, 0.0), max(r, 0.0)
    tanh = np.tanh(down)
    falling = (r_down + tanh) / (1 + r_down * tanh)
    rising = np.tan(up - apex)
    return Flight(
        terminal * unit * (climbed + _log_growth(down, r_down)), terminal * np.where(z < apex, rising, falling)
    )


def _log_growth(z: Array, r: float) -> Array:
    """ln(cosh z + r sinh z) for z >= 0, without cancellation for small z or overflow for large z."""
    small = np.minimum(z, 1.0)
    near = np.log1p(2 * np.sinh(small / 2) ** 2 + r * np.sinh(small))
    far = z + np.log((1 + r) / 2 + (1 - r) / 2 * np.exp(-2 * z))
    return np.where(z < 1, near, far)
