"""Measurements on a motion that several models share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from polhode.errors import InputError
from polhode.results.motion import Motion
from polhode.validation import Array


def zero_crossings(motion: Motion, values: Array, value: Callable[[Any], float]) -> Array:
    """Times at which a quantity changes sign, in s, to about the rounding of the motion.

    `values` holds the quantity at the output times; `value` computes it from the result of `motion.at`.  An output
    at which it is exactly zero counts once.
    """
    signs = np.sign(values)
    found = [float(t) for t, sign in zip(motion.times, signs, strict=True) if sign == 0]
    found += [
        _find_root(lambda t: value(motion.at(t)), *motion.times[i : i + 2], *values[i : i + 2])
        for i in np.flatnonzero(signs[1:] * signs[:-1] < 0)
    ]
    return np.sort(np.array(found))


def extremes(motion: Motion, values: Array, value: Callable[[Any], float]) -> tuple[float, float]:
    """Minimum and maximum of a quantity over the motion, refined around the extreme outputs.

    `values` holds the quantity at the output times; `value` computes it from the result of `motion.at`.
    """
    from scipy.optimize import minimize_scalar

    found, last = [], len(values) - 1
    for sign, i in ((1, int(np.argmin(values))), (-1, int(np.argmax(values)))):
        ends = motion.times[max(i - 1, 0)], motion.times[min(i + 1, last)]
        best = minimize_scalar(lambda t, sign=sign: sign * value(motion.at(t)), bounds=ends, method="bounded").fun
        found.append(sign * min(float(best), sign * float(values[i])))
    return found[0], found[1]


def first_interval(times: Array, what: str) -> float:
    """Time between the first two crossings, in s."""
    if len(times) < 2:
        raise InputError(
            f"{what} was found {len(times)} times in the motion: two are needed to measure the time between them"
        )
    return float(times[1] - times[0])


def lever_arms(motion: Motion, com_to_point_body: Any) -> Array:
    """Vector from the center of mass to a point of the body, in world axes, at every output time: (times, 3), in m."""
    return np.asarray(motion.points(com_to_point_body) - motion.position)


def initial_rate(times: Array, values: Array) -> Array:
    """Initial rate of a quantity that is odd in time, from its first outputs, starting at t = 0.

    For a body at rest under time-independent forces, velocities and momenta are odd: values/t is a power series in
    t^2, and its value at 0 follows from the polynomial through five outputs.
    """
    squares, quotients = times[1:6] ** 2, (values[1:6].T / times[1:6]).T
    weights = [np.prod([other / (other - one) for other in squares if other != one]) for one in squares]
    return np.asarray(np.array(weights) @ quotients)


def _find_root(f: Callable[[float], float], a: float, b: float, f_a: float, f_b: float) -> float:
    """Root of f between a and b to rounding, by the Illinois variant of false position."""
    for _ in range(60):
        middle = float((a * f_b - b * f_a) / (f_b - f_a))
        if abs(middle - b) <= 4 * np.finfo(float).eps * abs(b):
            break
        f_middle = f(middle)
        a, f_a = (b, f_b) if f_middle * f_b < 0 else (a, f_a / 2)
        b, f_b = middle, f_middle
        if f_middle == 0:
            break
    return middle


def turning_rate(times: Array, path: Array) -> float:
    """Mean rotation rate of a plane vector, in rad/s; `path` is (n, 2), with less than half a turn per output."""
    angles = np.unwrap(np.arctan2(path[:, 1], path[:, 0]))
    return float((angles[-1] - angles[0]) / (times[-1] - times[0]))


def azimuths(directions: Array, pole: Array) -> Array:
    """Azimuth of a direction about a fixed pole relative to the first, in rad; `directions` is (n, 3)."""
    up = pole / np.linalg.norm(pole)
    first = directions[0] - (directions[0] @ up) * up
    second = np.cross(up, first)
    return np.unwrap(np.arctan2(directions @ second, directions @ first))


def azimuth_rate(times: Array, directions: Array, pole: Array) -> float:
    """Mean rotation rate of a direction about a fixed pole, in rad/s."""
    angles = azimuths(directions, pole)
    return float((angles[-1] - angles[0]) / (times[-1] - times[0]))


def angle_between_vectors(a: Array, b: Array) -> Array:
    """Angle between vectors (..., 3), in rad, accurate for small angles too."""
    p, q = (v / np.linalg.norm(v, axis=-1, keepdims=True) for v in (a, b))
    angle: Array = 2 * np.arctan2(np.linalg.norm(p - q, axis=-1), np.linalg.norm(p + q, axis=-1))
    return angle
