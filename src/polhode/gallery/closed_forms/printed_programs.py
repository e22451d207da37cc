"""The programs printed in the source texts, reimplemented step by step in plain NumPy.

They are references for what such a program computes, errors included.  Each takes principal moments (kg m2), the
initial angular velocity in body axes (rad/s), step (s) and the number of steps; body and world axes coincide at t = 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from polhode.validation import Array


class PrintedResult(NamedTuple):
    """Final state of a printed program."""

    quaternion: Array
    """(w, x, y, z), body to world."""
    rates: Array
    """Angular velocity in body axes, in rad/s."""


def matlab_top(moments: Any, rates: Any, step: float, steps: int, renormalize_stages: bool = True) -> PrintedResult:
    """RK4 for w in body axes together with q.  [Tops report, section 3.4, corrected]

    The rate of q is half of (0, R w) q; q is renormalized after each step.  R is that of q/|q|, or, as in the text,
    eq. 7 for the stage's own q, which is not quite a rotation: another error of the same order.
    """
    j, w, q = np.asarray(moments, dtype=float), np.asarray(rates, dtype=float), np.array((1.0, 0.0, 0.0, 0.0))

    def slope(w: Array, q: Array) -> tuple[Array, Array]:
        rate = _quaternion_rate_body(q, w) if renormalize_stages else _quaternion_rate_world(_matrix(q) @ w, q)
        return np.cross(j * w, w) / j, rate

    for _ in range(steps):
        w1, q1 = slope(w, q)
        w2, q2 = slope(w + step / 2 * w1, q + step / 2 * q1)
        w3, q3 = slope(w + step / 2 * w2, q + step / 2 * q2)
        w4, q4 = slope(w + step * w3, q + step * q3)
        w = w + step / 6 * (w1 + 2 * w2 + 2 * w3 + w4)
        q = q + step / 6 * (q1 + 2 * q2 + 2 * q3 + q4)
        q = q / np.linalg.norm(q)
    return PrintedResult(q, w)


def plate_code(moments: Any, rates: Any, step: float, steps: int) -> PrintedResult:
    """The Feynman plate code as printed: q' at t, explicit Euler.  [Christian 2011, after eq. 17.46]"""
    j, spin, q = _initial_plate(moments, rates)
    for _ in range(steps):
        q = q + step * _quaternion_rate_body(q, _rotate_to_body(q, spin) / j)
        q = q / np.linalg.norm(q)
    return PrintedResult(q, _rotate_to_body(q, spin) / j)


def plate_leapfrog(moments: Any, rates: Any, step: float, steps: int) -> PrintedResult:
    """The algorithm described for the Feynman plate: q' at t + h/2.  [Christian 2011, eqs. 17.45 and 17.46]"""
    j, spin, q = _initial_plate(moments, rates)
    for _ in range(steps):
        half = q + step / 2 * _quaternion_rate_body(q, _rotate_to_body(q, spin) / j)
        half = half / np.linalg.norm(half)
        q = q + step * _quaternion_rate_body(half, _rotate_to_body(half, spin) / j)
        q = q / np.linalg.norm(q)
    return PrintedResult(q, _rotate_to_body(q, spin) / j)


def _initial_plate(moments: Any, rates: Any) -> tuple[Array, Array, Array]:
    j = np.asarray(moments, dtype=float)
    return j, j * np.asarray(rates, dtype=float), np.array((1.0, 0.0, 0.0, 0.0))


def _quaternion_rate_body(q: Array, w: Array) -> Array:
    """q' = 1/2 q (0, w), w in body axes.  [Christian 2011, eq. 17.44]"""
    return np.concatenate(((-q[1:] @ w,), q[0] * w + np.cross(q[1:], w))) / 2


def _quaternion_rate_world(w: Array, q: Array) -> Array:
    """q' = 1/2 (0, w) q, w in world axes.  [Tops report, section 3.3, with the missing 1/2]"""
    return np.concatenate(((-q[1:] @ w,), q[0] * w + np.cross(w, q[1:]))) / 2


def _matrix(q: Array) -> Array:
    """The matrix of a quaternion, a rotation if |q| = 1.  [Tops report, eq. 7]"""
    s, x, y, z = q
    return np.array(
        (
            (1 - 2 * y * y - 2 * z * z, 2 * x * y - 2 * s * z, 2 * x * z + 2 * s * y),
            (2 * x * y + 2 * s * z, 1 - 2 * x * x - 2 * z * z, 2 * y * z - 2 * s * x),
            (2 * x * z - 2 * s * y, 2 * y * z + 2 * s * x, 1 - 2 * x * x - 2 * y * y),
        )
    )


def _rotate_to_body(q: Array, v: Array) -> Array:
    """A world vector in body axes, q a unit quaternion."""
    t = 2 * np.cross(v, q[1:])
    return np.asarray(v + q[0] * t + np.cross(t, q[1:]))
