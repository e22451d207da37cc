"""An independent implementation of rotation and RK4 in plain Python, sharing no code with the engines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import hypot

Numbers = tuple[float, ...]


def quaternion_rate(q: Sequence[float], w: Sequence[float]) -> Numbers:
    """q' = q (0, w)/2, scalar first; w in body axes, in rad/s."""
    (a, b, c, d), (w1, w2, w3) = q, w
    return (
        (-b * w1 - c * w2 - d * w3) / 2,
        (a * w1 - d * w2 + c * w3) / 2,
        (d * w1 + a * w2 - b * w3) / 2,
        (-c * w1 + b * w2 + a * w3) / 2,
    )


def euler_equations(moments: Sequence[float], w: Sequence[float], torque: Sequence[float] = (0.0, 0.0, 0.0)) -> Numbers:
    """w' in principal axes, in rad/s2: (torque - w x I w)/I."""
    (i1, i2, i3), (w1, w2, w3), (t1, t2, t3) = moments, w, torque
    return ((t1 + (i2 - i3) * w2 * w3) / i1, (t2 + (i3 - i1) * w3 * w1) / i2, (t3 + (i1 - i2) * w1 * w2) / i3)


def rk4_step(rate: Callable[[Numbers], Sequence[float]], y: Numbers, h: float) -> Numbers:
    """One step of RK4."""

    def add_scaled(k: Sequence[float], by: float) -> Numbers:
        return tuple(a + by * b for a, b in zip(y, k, strict=True))

    k1 = rate(y)
    k2 = rate(add_scaled(k1, h / 2))
    k3 = rate(add_scaled(k2, h / 2))
    k4 = rate(add_scaled(k3, h))
    return add_scaled([(a + 2 * b + 2 * c + d) / 6 for a, b, c, d in zip(k1, k2, k3, k4, strict=True)], h)


def renormalize(y: Numbers) -> Numbers:
    """The state with its quaternion, the first four numbers, scaled to unit norm."""
    size = hypot(*y[:4])
    return (*(x / size for x in y[:4]), *y[4:])
