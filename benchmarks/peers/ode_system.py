"""Euler's and Newton's equations as a user of SciPy or heyoka writes them down, the fewest numbers that answer.

(q, w) for a body that only turns, (q, w, x, v) for one that is pushed; w in principal axes, the rest in world axes.
They share no law with the package: a second opinion on it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.contestant import ProblemData

RightHandSide = Callable[[Any, Any], Any]
"""(y, whether the thruster fires: 0 or 1) -> dy/dt"""


def initial_state(task: ProblemData) -> list[float]:
    """y at the start."""
    moving = (*task.position, *task.velocity) if task.moves else ()
    return [*task.quaternion, *task.spin_body, *moving]


def make_right_hand_side(task: ProblemData, sqrt: Callable[[Any], Any]) -> RightHandSide:
    """dy/dt on any kind of number."""
    if task.pivot_to_com is not None:
        return _heavy_top_right_hand_side(task)
    return _free_body_right_hand_side(task, sqrt) if task.moves else _rotation_right_hand_side(task)


def _inertia_ratios(moments: tuple[float, ...]) -> tuple[float, float, float]:
    a, b, c = moments
    return (b - c) / a, (c - a) / b, (a - b) / c


def _rotation_right_hand_side(task: ProblemData) -> RightHandSide:
    ga, gb, gc = _inertia_ratios(task.moments)

    def slope(y: Any, fires: Any) -> Any:
        s, i, j, k, a, b, c = y
        return (
            (-i * a - j * b - k * c) / 2,
            (s * a + j * c - k * b) / 2,
            (s * b + k * a - i * c) / 2,
            (s * c + i * b - j * a) / 2,
            ga * b * c,
            gb * c * a,
            gc * a * b,
        )

    return slope


def _heavy_top_right_hand_side(task: ProblemData) -> RightHandSide:
    """Gravity along -z, and the center of mass on the body's z axis."""
    assert task.pivot_to_com is not None
    assert not any(task.gravity[:2])
    assert not any(task.pivot_to_com[:2])
    ga, gb, gc = _inertia_ratios(task.moments)
    weight = -task.mass * task.gravity[2] * task.pivot_to_com[2]
    ma, mb = 2 * weight / task.moments[0], 2 * weight / task.moments[1]

    def slope(y: Any, fires: Any) -> Any:
        s, i, j, k, a, b, c = y
        return (
            (-i * a - j * b - k * c) / 2,
            (s * a + j * c - k * b) / 2,
            (s * b + k * a - i * c) / 2,
            (s * c + i * b - j * a) / 2,
            ga * b * c + ma * (j * k + s * i),
            gb * c * a - mb * (i * k - s * j),
            gc * a * b,
        )

    return slope


def _free_body_right_hand_side(task: ProblemData, sqrt: Callable[[Any], Any]) -> RightHandSide:
    ga, gb, gc = _inertia_ratios(task.moments)
    gx, gy, gz = task.gravity
    drag = task.drag / task.mass
    thruster = task.thruster
    fx, fy, fz = (f / task.mass for f in thruster.force_body) if thruster else (0.0, 0.0, 0.0)
    ta, tb, tc = (
        (t / m for t, m in zip(thruster.torque_body, task.moments, strict=True)) if thruster else (0.0, 0.0, 0.0)
    )

    def slope(y: Any, fires: Any) -> Any:
        s, i, j, k, a, b, c, _, _, _, u, v, w = y
        turning = (
            (-i * a - j * b - k * c) / 2,
            (s * a + j * c - k * b) / 2,
            (s * b + k * a - i * c) / 2,
            (s * c + i * b - j * a) / 2,
        )
        da, db, dc = ga * b * c, gb * c * a, gc * a * b
        ax, ay, az = gx, gy, gz
        if drag:
            d = drag * sqrt(u * u + v * v + w * w)
            ax, ay, az = ax - d * u, ay - d * v, az - d * w
        if thruster and not (isinstance(fires, float) and fires == 0.0):
            px, py, pz = 2 * (j * fz - k * fy), 2 * (k * fx - i * fz), 2 * (i * fy - j * fx)
            ax = ax + fires * (fx + s * px + j * pz - k * py)
            ay = ay + fires * (fy + s * py + k * px - i * pz)
            az = az + fires * (fz + s * pz + i * py - j * px)
            da, db, dc = da + fires * ta, db + fires * tb, dc + fires * tc
        return (*turning, da, db, dc, u, v, w, ax, ay, az)

    return slope
