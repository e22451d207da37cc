"""A tippe top: a ball with its weight below the center turns over by friction alone, if it spins about the vertical."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from math import cos, pi, radians, sin
from typing import Any

import numpy as np

from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.pictures import Curves, DrawPanel, Line, energies, panels, space
from polhode.massprops.body import Body
from polhode.massprops.shapes import cylinder, sphere
from polhode.results.motion import Motion
from polhode.scenario.contact import floor
from polhode.scenario.forces import gravity
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.validation import Array
from polhode.web.props import Rod
from polhode.web.stage import Grab, Stage, StageCamera

RADIUS, BALL = 0.02, 0.010
WEIGHT_RADIUS, WEIGHT_HEIGHT, WEIGHT, BELOW = 0.012, 0.003, 0.004, 0.010
"""A flat cylinder inside the ball, its center this far below the ball's."""
RING = (0.75, 0.6)
"""Angles from its axis, in rad, between which the page draws a ring on the top."""
DURATION, FRAMES = 6.0, 600
VERTICAL, OWN = "spun about the vertical", "spun about its own axis"


@cache
def _make_top() -> Body:
    return sphere(RADIUS, BALL).join(cylinder(WEIGHT_RADIUS, WEIGHT_HEIGHT, WEIGHT).move((0.0, 0.0, -BELOW)))


def mass_properties() -> tuple[float, float, float]:
    """By hand: moments across and along the axis about the center of mass (kg m2), and its depth below the center."""
    depth = WEIGHT * BELOW / (BALL + WEIGHT)
    ball, apart = 2 * BALL * RADIUS**2 / 5, BALL * WEIGHT / (BALL + WEIGHT) * BELOW**2
    across = ball + WEIGHT * (3 * WEIGHT_RADIUS**2 + WEIGHT_HEIGHT**2) / 12 + apart
    return across, ball + WEIGHT * WEIGHT_RADIUS**2 / 2, depth


def scenario(spin: float, friction: float, tilt: float) -> dict[str, Scenario]:
    """Put on the floor, its axis tilted, spinning about the vertical; and spinning about that axis."""
    a = radians(tilt)
    rates = {VERTICAL: (0.0, spin * sin(a), spin * cos(a)), OWN: (0.0, 0.0, spin)}
    return {name: _spin_scenario(a, rate, friction) for name, rate in rates.items()}


def _spin_scenario(a: float, rates_body: tuple[float, float, float], friction: float) -> Scenario:
    _, _, depth = mass_properties()
    return Scenario(
        _make_top(),
        State(
            position=(0.0, 0.0, RADIUS - depth * cos(a)),
            quaternion_wxyz=(cos(a / 2), sin(a / 2), 0.0, 0.0),
            angular_velocity_body=rates_body,
        ),
        [gravity()],
        duration=DURATION,
        output_step=DURATION / FRAMES,
        contacts=[floor(friction=friction)],
        name="tippe-top",
    )


def jellett(motion: Motion) -> Array:
    """Jellett's invariant, L . (point of contact to center of mass), at the outputs, in kg m3/s."""
    across, along, depth = mass_properties()
    axis = motion.rotation_matrix[:, :, 2]
    momentum = np.einsum("tij,tj->ti", motion.rotation_matrix, motion.angular_velocity_body * (across, across, along))
    return np.asarray(RADIUS * momentum[:, 2] - depth * (momentum * axis).sum(axis=1))


def _tilts(motion: Motion) -> Array:
    axis = motion.rotation_matrix[:, :, 2]
    return np.asarray(np.degrees(np.arctan2(np.hypot(axis[:, 0], axis[:, 1]), axis[:, 2])))


def numbers(motions: Mapping[str, Motion], spin: float, friction: float, tilt: float) -> list[ReferenceCheck]:
    """Jellett's invariant from both starts; contact and energy."""
    a, (across, along, depth) = radians(tilt), mass_properties()
    expected = spin * (RADIUS * (across * sin(a) ** 2 + along * cos(a) ** 2) - depth * along * cos(a))
    of_axis = spin * along * (RADIUS * cos(a) - depth)
    motion = motions[VERTICAL]
    tilts = np.radians(_tilts(motion))
    gap = motion.position[:, 2] - (RADIUS - depth * np.cos(tilts))
    return [
        *(
            check(
                f"Jellett's invariant where it differs most, {name}",
                "kg m3/s",
                found[np.abs(found - closed).argmax()],
                closed,
                1e-8 * closed,
                "L . (point of contact to center of mass), whatever the floor's force",
            )
            for name, closed in ((VERTICAL, expected), (OWN, of_axis))
            for found in (jellett(motions[name]),)
        ),
        check(
            "largest gap between the top and the floor",
            "m",
            np.abs(gap).max(),
            0.0,
            1e-9 * RADIUS,
            "z = R - d cos θ while it touches the floor",
            size=RADIUS,
        ),
        check(
            "energy gained",
            "J",
            max(0.0, np.diff(motion.energy).max()),
            0.0,
            1e-9 * float(motion.energy[0]),
            "friction only takes energy, though the center of mass rises",
            size=motion.energy[0],
        ),
    ]


@panels("AA;BC;DE", size=(12.0, 7.6), heights=(0.9, 1.0, 1.0))
def picture(motions: Mapping[str, Motion], spin: float, friction: float, tilt: float) -> list[DrawPanel]:
    """The top as it turns over; its tilt, energies, and rates."""
    motion, other = motions[VERTICAL], motions[OWN]
    energy = energies(motion, "rotational", "potential", "total", scale=1e3)
    rates, vertical, invariant = motion.angular_velocity[:, 2], motion.angular_momentum[:, 2], jellett(motion)
    look: Any = {"where": motion.contact_state == "sliding", "color": "#d9d6cf", "alpha": 0.6, "step": "mid"}
    return [
        _turning_over(motion),
        Curves(
            "tilt",
            "deg",
            [Line(_tilts(motion), VERTICAL, "axis_3"), Line(_tilts(other), "about its own axis", "muted")],
            over=motion,
            y=(0.0, 180.0),
            y_ticks=(0, 45, 90, 135, 180),
            also=lambda axes: axes.fill_between(motion.times, 0, 180, label="slides", **look),
        ),
        Curves("energy", "mJ", energy, over=motion, y=(0.0, None)),
        Curves(
            "angular velocity",
            "rad/s",
            [
                Line(rates, "about the vertical", "omega"),
                Line(motion.angular_velocity_body[:, 2], "about its axis", "axis_3"),
            ],
            over=motion,
        ),
        Curves(
            "invariant",
            "relative to the start",
            [
                Line(invariant / invariant[0], "Jellett's invariant", "L"),
                Line(vertical / vertical[0], "vertical angular momentum", "muted"),
            ],
            over=motion,
            y=(0.0, 1.25),
        ),
    ]


def _turning_over(motion: Motion) -> DrawPanel:
    """Eight instants, each turned about the vertical so that its axis is seen from the side."""
    from scipy.spatial.transform import Rotation

    scene, tilts, (_, _, depth) = space(0.0, 0.1), _tilts(motion), mass_properties()
    scene.ground((-1.6 * RADIUS, 0, 0), (24 * RADIUS, 0, 0), RADIUS / 3)
    ends = int(np.argmax(tilts > 0.98 * tilts.max()))
    for n, frame in enumerate(np.linspace(0, max(ends, 8), 8).round().astype(int)):
        x, y, _ = motion.rotation_matrix[frame, :, 2]
        turn = Rotation.from_euler("z", -float(np.arctan2(y, x))).as_matrix() @ motion.rotation_matrix[frame]
        center = np.array((3.2 * n * RADIUS, 0.0, RADIUS))
        scene.body(sphere(RADIUS, BALL), center, turn, half=2, alpha=0.55, segments=32)
        scene.line((center, center + RADIUS * turn[:, 2]), "axis_3", width=3.0)
        scene.dot(scene.toward(center - depth * turn[:, 2], 2 * RADIUS), "ink", 5.0)
        scene.text(center, f"{motion.times[frame]:.2f} s: {tilts[frame]:.0f}°", offset=(0, -40))
    return scene.panel("the top, its axis (blue) and its center of mass (dot)", margin=0.02)


def stage(spin: float, friction: float, tilt: float) -> Stage:
    """A ring around the end of the axis that is above at first shows how the top turns over."""
    _, _, depth = mass_properties()
    low, high = (RADIUS * cos(angle) for angle in RING)
    across = [1.008 * RADIUS * sin(angle) for angle in RING]
    ring = Rod((0, 0, depth + low), (0, 0, depth + high), *across, color="axis1", attached="body")
    return Stage(
        camera=StageCamera(elevation_deg=14.0),
        off=("omega", "trailOmega", "forces", "torque", "bodyAxes"),
        panels=("tilt_precession", "position", "energy", "angular_velocity_world"),
        props=(ring,),
        grabs=(Grab("attitude", knob="tilt", component="tilt", scale=180 / pi),),
        shows="A spinning ball with a weight inside turns over: its colored ring, above at first, ends below.",
    )


MODEL = Model(
    name="tippe-top",
    title="A tippe top spun about the vertical turns over, and its center of mass rises",
    theme="impact and contact",
    source="[Cohen 1977]",
    explanation="""\
A ball with a weight below its center spins on the floor. Friction at the point of contact slows it and tips
its axis over: the center of mass rises while energy is lost, until the top rolls without sliding. The start
matters: it rises if it spins about the vertical. Spun about its own tilted axis it slides the other way,
and friction rights it instead; with little spin and much friction it rolls at once. In every case Jellett's
invariant stays: L times the line from the point of contact to the center of mass.""",
    parameters=(
        Parameter("spin", "rad/s", 150.0, 50.0, 200.0, "initial rate about the vertical"),
        Parameter("friction", "1", 0.1, 0.03, 0.3, "coefficient of friction"),
        Parameter("tilt", "deg", 6.0, 1.0, 60.0, "initial angle of its axis from the vertical"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=stage,
    lesson=Lesson(
        formulas=(
            Formula(
                r"J = \mathbf{L}\cdot\mathbf{d} = \text{const}",
                "Jellett's invariant; d is the line from the point of contact to the center of mass",
            ),
        ),
        steps=(
            TryThis(
                "Spun about the vertical: it turns over, and its center rises.",
                run="spun about the vertical",
                switches=("trailAxis3",),
            ),
            TryThis("Spun about its own tilted axis: friction rights it instead.", run="spun about its own axis"),
            TryThis(
                "With more friction it turns over sooner.", values={"friction": 0.2}, run="spun about the vertical"
            ),
        ),
        references=("Cohen 1977",),
    ),
)
