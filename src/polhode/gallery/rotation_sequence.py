"""Successive rotations of a body that changes its spin only by impulses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from polhode.equations.law import Number, Quaternion, Vector
from polhode.equations.quaternions import product, to_body
from polhode.equations.scalar_ops import cos, sin, sqrt
from polhode.equations.vectors import cross, dot, minus, scaled
from polhode.gallery.shared import rk4_settings
from polhode.massprops.body import Body
from polhode.massprops.shapes import prism
from polhode.scenario.force import Force
from polhode.scenario.forces import impulse
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.validation import Array

FRAMES, STEADY_FRAMES = 120, 200
STEPS_PER_FRAME = 10


def isotropic_prism(corners: int, radius: float, mass: float) -> Body:
    """A prism on a regular polygon whose height makes its three moments equal: it spins steadily about any axis.

    A polygon of circumradius r has the polar moment m r^2 (2 + cos(2 pi/n))/6, and I1 = I3/2 + m h^2/12.
    """
    height = radius * float(np.sqrt(2 + np.cos(2 * np.pi / corners)))
    return prism(prism_corners(corners, radius)[:corners, :2], height, mass=mass)


def prism_corners(corners: int, radius: float) -> Array:
    """Corners of that prism relative to its center, lower ones first: (2 n, 3), in m."""
    angles = 2 * np.pi * np.arange(corners) / corners
    half = radius * float(np.sqrt(2 + np.cos(2 * np.pi / corners))) / 2
    flat = radius * np.stack((np.cos(angles), np.sin(angles)), axis=-1)
    return np.concatenate([np.column_stack((flat, np.full(corners, z))) for z in (-half, half)])


def sequence_scenario(
    body: Body, sequence: Sequence[tuple[Vector, Number]], axes: str, beside: Vector, name: str
) -> Scenario:
    """Successive rotations of one second each, given as (axis, angle in rad) in world or body axes.

    The body's three moments must be equal.  Between two rotations a couple of impulses changes the spin; `beside` is a
    body axis that none of these changes is parallel to.
    """
    moment = float(body.principal_moments[0])
    attitude: Quaternion = (1.0, 0.0, 0.0, 0.0)
    spins = list[Vector]()
    for axis, angle in sequence:
        axis_body = to_body(attitude, axis) if axes == "world" else axis
        spins.append(scaled(angle, axis_body))
        attitude = product(attitude, (cos(angle / 2), *scaled(sin(angle / 2), axis_body)))
    arm = float(np.sqrt(moment / body.mass))
    impulses = [
        single
        for k in range(1, len(spins))
        for single in impulse_couple(scaled(moment, minus(spins[k], spins[k - 1])), float(k), arm, beside)
    ]
    return Scenario(
        body,
        State(angular_velocity_body=spins[0]),
        impulses,
        duration=float(len(spins)),
        step=1 / (FRAMES * STEPS_PER_FRAME),
        output_step=1 / FRAMES,
        method="rk4",
        name=name,
    )


def impulse_couple(angular_impulse_body: Vector, time: float, arm: float, beside: Vector) -> list[Force]:
    """Two opposite impulses at opposite points, `arm` (m) from the center: zero net impulse, given angular impulse."""
    if angular_impulse_body == (0.0, 0.0, 0.0):
        return []
    across = cross(angular_impulse_body, beside)
    point = scaled(arm / sqrt(dot(across, across)), across)
    push = scaled(1 / (2 * arm**2), cross(angular_impulse_body, point))
    return [impulse(scaled(sign, push), time, scaled(sign, point), axes="body") for sign in (1.0, -1.0)]


def steady_spin_scenario(body: Body, angular_velocity: Any, name: str) -> Scenario:
    """One second of a constant spin (world axes, rad/s)."""
    return Scenario(
        body, State(angular_velocity=angular_velocity), **rk4_settings(1.0, STEADY_FRAMES, STEPS_PER_FRAME), name=name
    )
