"""Contact of bodies with planes: which feature of a body is lowest, how high it is, and how long it cannot touch.

A body is the convex hull of features: points, circles and ellipsoids, points and circles also swept by a ball.  A
candidate is one feature over one plane.
"""

from __future__ import annotations

from typing import Any

from polhode.equations.contact_laws import (
    circle_rim,
    lowest_of_circle,
    lowest_of_ellipsoid,
    lowest_of_point,
    slide_of_circle,
    slide_of_ellipsoid,
    slide_of_point,
    sunk_circle,
    sunk_ellipsoid,
    sunk_point,
)
from polhode.equations.law import Vector
from polhode.equations.scalar_ops import sqrt
from polhode.equations.vectors import cross, dot
from polhode.ir.loops import Loop, loop

POINT, CIRCLE, ELLIPSOID, RIM = 0.0, 1.0, 2.0, 3.0
"""Kinds of features.  A point of a circle's rim counts only where the circle lies flat."""
KIND, CENTER, AXIS, RADIUS, ROUNDING, OWN, REACH, CIRCLE_ROW, FEATURE = 0, 1, 4, 7, 8, 9, 13, 14, 15
"""Columns of a feature: ..., its own axes, its largest distance from the center of mass, the circle of a rim point."""
NORMAL, OFFSET, RESTITUTION, FRICTION, PLANE = 0, 3, 4, 5, 6
"""Columns of a plane."""
FLAT = 1e-9
"""A circle tilted by less lies flat."""


def vector(array: Any, at: Any) -> Vector:
    """Three numbers of an array."""
    return (array[at], array[at + 1], array[at + 2])


def quaternion(array: Any, at: Any) -> Any:
    """Four numbers of an array."""
    return (array[at], array[at + 1], array[at + 2], array[at + 3])


def store(array: Any, at: Any, values: Any) -> None:
    """Write a tuple of numbers to an array."""
    for i, value in enumerate(values):
        array[at + i] = value


def tilt_of(normal: Any, axis: Any) -> Any:
    """The sine of the angle between a circle and a plane."""
    return circle_rim(normal, axis)[1]


@loop
def counts(features: Any, row: int, first: int, normal: Any) -> Any:
    """Whether a feature can touch: a tilted circle by its lowest point, a flat one by fixed points of its rim."""
    feature = features[row]
    if feature[KIND] == CIRCLE:
        return tilt_of(normal, vector(feature, AXIS)) > FLAT
    if feature[KIND] == RIM:
        circle = features[first + int(feature[CIRCLE_ROW])]
        return tilt_of(normal, vector(circle, AXIS)) <= FLAT
    return True


@loop
def find_lowest(feature: Any, normal: Any, w: Any, out: Any) -> None:
    """The lowest point of a feature, and how fast it moves over the body; all in body axes."""
    if feature[KIND] == CIRCLE:
        axis, rho, rounding = vector(feature, AXIS), feature[RADIUS], feature[ROUNDING]
        store(out, 0, lowest_of_circle(normal, vector(feature, CENTER), axis, rho, rounding))
        store(out, 3, slide_of_circle(normal, w, axis, rho, rounding))
    else:
        if feature[KIND] == ELLIPSOID:
            semi, own = vector(feature, AXIS), quaternion(feature, OWN)
            store(out, 0, lowest_of_ellipsoid(normal, vector(feature, CENTER), semi, own))
            store(out, 3, slide_of_ellipsoid(normal, w, semi, own))
        else:
            store(out, 0, lowest_of_point(normal, vector(feature, CENTER), feature[ROUNDING]))
            store(out, 3, slide_of_point(normal, w, feature[ROUNDING]))


@loop
def depth_of_lowest(feature: Any, normal: Any) -> Any:
    """n . p of the lowest point, the normal in body axes."""
    if feature[KIND] == CIRCLE:
        axis, rho, rounding = vector(feature, AXIS), feature[RADIUS], feature[ROUNDING]
        return dot(normal, lowest_of_circle(normal, vector(feature, CENTER), axis, rho, rounding))
    if feature[KIND] == ELLIPSOID:
        semi, own = vector(feature, AXIS), quaternion(feature, OWN)
        return dot(normal, lowest_of_ellipsoid(normal, vector(feature, CENTER), semi, own))
    return dot(normal, vector(feature, CENTER)) - feature[ROUNDING]


@loop
def sunk(feature: Any, normal: Any, turn: Any) -> Any:
    """How much the lowest point has risen by a turn, the normal in the axes before it."""
    if feature[KIND] == CIRCLE:
        axis, rho = vector(feature, AXIS), feature[RADIUS]
        return sunk_circle(normal, turn, vector(feature, CENTER), axis, rho)
    if feature[KIND] == ELLIPSOID:
        return sunk_ellipsoid(normal, turn, vector(feature, CENTER), vector(feature, AXIS), quaternion(feature, OWN))
    return sunk_point(normal, turn, vector(feature, CENTER))


def falling_rate(velocity: Any, normal: Any, normal_body: Any, w: Any, point: Any) -> Any:
    """n . (v + w x p): how fast a point of the body rises over a plane."""
    return dot(normal, velocity) + dot(normal_body, cross(w, point))


@loop
def safe_step(gap: float, rate: float, bound: float) -> Any:
    """How long gap + rate s - bound s^2/2 stays positive."""
    if gap <= 0.0 and rate <= 0.0:
        return 0.0
    above = max(gap, 0.0)
    if bound <= 0.0:
        return 1e300 if rate >= 0.0 else above / -rate
    root = sqrt(rate * rate + 2.0 * bound * above)
    # the form without cancellation
    return (rate + root) / bound if rate > 0.0 else 2.0 * above / (root - rate)


@loop
def time_without_contact(feature: Any, normal: Any, gap: float, rate: float, limits: Any) -> Any:
    """A time in which a feature cannot touch, however the body moves within limits (acceleration, spin, its rate)."""
    a, w, w_rate = limits
    turning = w_rate + w * w
    if feature[KIND] == CIRCLE:
        # The height of the lowest point bends without bound where the circle lies flat: its slope is bounded.
        rho, tilt = feature[RADIUS], tilt_of(normal, vector(feature, AXIS))
        reach = feature[REACH] - rho
        slow = safe_step(gap, rate - 2.0 * rho * w, a + turning * reach)
        if w <= 0.0:
            return safe_step(gap, rate, a)
        smooth = safe_step(gap, rate, a + turning * reach + rho * (w_rate + 3.0 * w * w / tilt))
        return max(slow, min(smooth, tilt / (2.0 * w)))
    if feature[KIND] == ELLIPSOID:
        long = max(feature[AXIS], feature[AXIS + 1], feature[AXIS + 2])
        short = min(feature[AXIS], feature[AXIS + 1], feature[AXIS + 2])
        return safe_step(gap, rate, a + turning * feature[REACH] + long * long / short * (w * w))
    return safe_step(gap, rate, a + turning * feature[REACH])


__all__ = ["Loop", "find_lowest", "sunk", "time_without_contact"]
