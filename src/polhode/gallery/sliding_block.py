"""A block on a slope: it stays where tan(angle) <= friction, and slides with g (sin - friction cos) beyond."""

from __future__ import annotations

from collections.abc import Mapping
from math import atan, cos, degrees, pi, radians, sin, tan
from typing import Any

import numpy as np

from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.pictures import Closed, Curves, DrawPanel, Line, Note, panels, space
from polhode.massprops.shapes import box
from polhode.results.motion import Motion
from polhode.scenario.contact import slope
from polhode.scenario.forces import STANDARD_GRAVITY, gravity
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.validation import Array
from polhode.web.stage import Grab, Stage, StageCamera

SIDES, MASS = (0.4, 0.2, 0.1), 2.0
"""Four times as long as high: friction below 4 cannot topple it."""
DURATION, FRAMES = 1.0, 100
BESIDE = 0.5
"""How far below and above the angle of friction the block stays and starts, in degrees."""
STEEPEST, ANGLES = 60.0, 121
BLOCK, BELOW, ABOVE, ALL = "the block", "just below", "just above", "0 to 60 degrees"


def scenario(angle: float, friction: float) -> dict[str, Scenario]:
    """The block at the angle, just below and just above that of friction, and at 121 angles."""
    limit = degrees(atan(friction))
    runs: dict[str, Any] = {
        BLOCK: angle,
        BELOW: limit - BESIDE,
        ABOVE: limit + BESIDE,
        ALL: np.linspace(0.0, STEEPEST, ANGLES),
    }
    return {name: _slide_scenario(np.radians(given), friction) for name, given in runs.items()}


def _slide_scenario(angle: Any, friction: float) -> Scenario:
    normal = _vector(np.sin(angle), np.cos(angle))
    return Scenario(
        box(SIDES, MASS),
        State(
            position=SIDES[2] / 2 * normal,
            quaternion_wxyz=np.stack((np.cos(angle / 2), 0 * angle, np.sin(angle / 2), 0 * angle), axis=-1),
        ),
        [gravity()],
        duration=DURATION,
        output_step=DURATION / FRAMES,
        contacts=[slope(angle, friction=friction)],
        name="sliding-block",
    )


def _vector(x: Any, z: Any) -> Array:
    return np.stack((x, 0 * x, z), axis=-1)


def _acceleration(angle: Any, friction: float) -> Any:
    """Closed form, for an angle in rad: g (sin - friction cos), or 0 if friction holds the block."""
    return np.maximum(0.0, STANDARD_GRAVITY * (np.sin(angle) - friction * np.cos(angle)))


def _measure_acceleration(motion: Motion, angle: Any) -> Any:
    """Final speed down the slope over the duration, in m/s2."""
    return (motion.velocity[-1] * _vector(np.cos(angle), -np.sin(angle))).sum(axis=-1) / DURATION


def numbers(motions: Mapping[str, Motion], angle: float, friction: float) -> list[ReferenceCheck]:
    """Acceleration and forces at the angle; whether the block starts at the angle of friction."""
    a, motion, above = radians(angle), motions[BLOCK], atan(friction) + radians(BESIDE)
    down, normal = np.array((cos(a), 0.0, -sin(a))), np.array((sin(a), 0.0, cos(a)))
    load = motion.contact_forces[-1]
    every = np.radians(np.linspace(0.0, STEEPEST, ANGLES))
    return [
        check(
            "acceleration",
            "m/s2",
            _measure_acceleration(motion, a),
            _acceleration(a, friction),
            1e-10,
            "g (sin θ - μ cos θ), or 0 where tan θ ≤ μ",
            size=STANDARD_GRAVITY,
        ),
        check(
            "friction over normal force",
            "1",
            -(load @ down) / (load @ normal),
            min(friction, tan(a)),
            1e-10,
            "the smaller of μ and tan θ",
            size=1.0,
        ),
        check(
            f"displacement {BESIDE:g}° below the angle of friction",
            "m",
            np.linalg.norm(motions[BELOW].position[-1] - motions[BELOW].position[0]),
            0.0,
            1e-12,
            "static friction holds it: tan θ < μ",
            size=SIDES[0],
        ),
        check(
            f"acceleration {BESIDE:g}° above the angle of friction",
            "m/s2",
            _measure_acceleration(motions[ABOVE], above),
            STANDARD_GRAVITY * sin(radians(BESIDE)) / cos(atan(friction)),
            1e-9,
            "g sin(θ - atan μ)/cos(atan μ)",
        ),
        check(
            f"largest error of the acceleration, {ALL}",
            "m/s2",
            np.abs(_measure_acceleration(motions[ALL], every) - _acceleration(every, friction)).max(),
            0.0,
            1e-10,
            "g (sin θ - μ cos θ), or 0 where tan θ ≤ μ",
            size=STANDARD_GRAVITY,
        ),
    ]


@panels("AB;CD", size=(12.0, 7.2))
def picture(motions: Mapping[str, Motion], angle: float, friction: float) -> list[DrawPanel]:
    """The block on its way down, its distance and forces over time, and the acceleration at all angles."""
    a, motion, limit = radians(angle), motions[BLOCK], degrees(atan(friction))
    down, normal, load = _down(a), _vector(sin(a), cos(a)), motion.contact_forces
    angles = np.linspace(0.0, STEEPEST, ANGLES)
    found = _measure_acceleration(motions[ALL], np.radians(angles))
    return [
        _slope(motion, a),
        Curves(
            "acceleration",
            "m/s²",
            [
                Line(found, "simulated", 0, ".", angles, size=4),
                Line([_acceleration(a, friction)], "the block", "impact", "o", [angle]),
            ],
            Closed(_acceleration(np.radians(angles), friction), "g (sin θ - μ cos θ)", angles),
            across="θ (deg)",
            marks=(limit,),
            notes=[Note((limit, 0.93 * float(found.max())), f" tan θ = μ: {limit:.4g}°")],
        ),
        Curves(
            "distance",
            "m",
            Line((motion.position - motion.position[0]) @ down, "simulated"),
            Closed(_acceleration(a, friction) * motion.times**2 / 2, "a t²/2"),
            motion,
        ),
        Curves(
            f"contact: {motion.contact_state[-1]}",
            "N",
            [Line(load @ normal, "normal force", "force"), Line(-load @ down, "friction", "impact")],
            over=motion,
            y=(0.0, None),
        ),
    ]


def _down(angle: float) -> Array:
    """Direction down the slope."""
    return _vector(cos(angle), -sin(angle))


def _slope(motion: Motion, angle: float) -> DrawPanel:
    """The block at equal time intervals, with weight, normal force and friction at the first."""
    scene, down, normal = space(0.0, 0.0), _down(angle), _vector(sin(angle), cos(angle))
    path = float((motion.position[-1] - motion.position[0]) @ down)
    scene.ground(-0.5 * down, (path + 0.5) * down, 0.04)
    scene.frames(motion, [0])
    if path > SIDES[0]:
        scene.frames(motion, np.linspace(0, FRAMES, 5).round().astype(int)[1:], alpha=0.45)
    scale, load, center = 0.35 / (MASS * STANDARD_GRAVITY), motion.contact_forces[0], motion.position[0]
    foot, weight = center - SIDES[2] / 2 * normal, MASS * STANDARD_GRAVITY * np.array((0.0, 0.0, -1.0))
    for point, force, name, color, offset in (
        (center, weight, "weight", "weight", (0, -9)),
        (foot, (load @ normal) * normal, "normal force", "force", (10, 6)),
        (foot, (load @ down) * down, "friction", "impact", (-12, 8)),
    ):
        if np.linalg.norm(force) > 0:
            tip = scene.toward(point + scale * force, SIDES[1])
            scene.force(tip, scale * force, "", color)
            scene.text(tip, name, color, offset)
    return scene.panel("the block and the forces on it")


MODEL = Model(
    name="sliding-block",
    title="A block on a slope starts to slide where the tangent of the angle exceeds the friction",
    theme="impact and contact",
    source="Coulomb's law of friction; [Slides]",
    explanation="""\
A block of 2 kg is put on a slope. Up to the angle whose tangent is the coefficient of friction it stays,
to the last digit: friction balances the pull of its weight. Half a degree beyond, it starts to
slide. Then friction is the coefficient times the normal force, whatever the speed, and the block
accelerates by g (sin θ - μ cos θ). The masses cancel.""",
    parameters=(
        Parameter("angle", "deg", 20.0, 0.0, 60.0, "angle of the slope"),
        Parameter("friction", "1", 0.3, 0.01, 1.5, "coefficient of friction"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=Stage(
        camera=StageCamera(-75.0, 12.0),
        off=("omega", "L", "trailOmega", "bodyAxes", "torque"),
        panels=("speed", "forces", "position", "energy"),
        grabs=(Grab("attitude", knob="angle", component="tilt", scale=180 / pi),),
        shows="A block on a slope, with its weight and the force of the slope on it.",
    ),
    lesson=Lesson(
        formulas=(
            Formula(r"\tan\theta_0 = \mu", "the angle at which it starts to slide"),
            Formula(r"a = g\,(\sin\theta - \mu\cos\theta)", "then it accelerates"),
        ),
        steps=(
            TryThis("At 20 degrees it slides.", run="the block"),
            TryThis(
                "At 16 degrees it stays: tan 16° is 0.287, less than 0.3.", values={"angle": 16.0}, run="the block"
            ),
            TryThis("At 17 degrees it starts: tan 17° is 0.306.", values={"angle": 17.0}, run="the block"),
            TryThis("A slippery slope.", values={"friction": 0.05}, run="the block"),
        ),
        references=("Moreau 1988", "Stronge 2000"),
    ),
)
