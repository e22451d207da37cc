"""Euler's disk: the flatter a coin rolls on its rim, the faster it goes round."""

from __future__ import annotations

from collections.abc import Mapping
from math import cos, pi, radians, sin, sqrt
from typing import Any

import numpy as np

from polhode.equations.quaternions import to_world
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.pictures import Closed, Curves, DrawPanel, Line, panels, space
from polhode.massprops.shapes import thin_disk
from polhode.results.motion import Motion
from polhode.scenario.contact import floor
from polhode.scenario.force import force
from polhode.scenario.forces import STANDARD_GRAVITY, gravity
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.validation import Array
from polhode.web.stage import Grab, Stage, StageCamera

RADIUS, MASS = 0.0375, 0.44
STEADY, ROUGH, SMOOTH = "steady", "rough floor", "smooth floor"
TURNS, FRAMES = 10, 400
SHARE = 0.7
"""How much of the time until it would lie flat is computed."""


@force
def rolling_resistance(t: Any, state: Any, body: Any, params: Any) -> Any:
    """A torque of constant size against the rotation: weight times the length by which its support is displaced."""
    (size,) = params
    w = to_world(state.orientation, state.angular_velocity_body)
    rate = (w[0] ** 2 + w[1] ** 2 + w[2] ** 2) ** 0.5
    return (0.0, 0.0, 0.0), tuple(-size * x / rate for x in w)


def _steady_rate(tilt: float) -> float:
    """Rate in rad/s at which the point of contact goes round while the center of the disk is at rest.

    w is along the diameter through the point of contact: L = M a^2/4 Omega sin(tilt) along it turns with Omega, and
    the floor's torque M g a cos(tilt) is its rate Omega L cos(tilt).
    """
    return sqrt(4 * STANDARD_GRAVITY / (RADIUS * sin(tilt)))


def _time_to_fall(tilt: float, resistance: float) -> float:
    """When the disk would lie flat, in s: of E = 3/2 M g a sin(tilt), Omega sin(tilt) resistance M g a is lost."""
    return 3 / (2 * resistance) * sqrt(RADIUS * sin(tilt) / STANDARD_GRAVITY)


def scenario(tilt: float, resistance: float) -> dict[str, Scenario]:
    """With rolling resistance on a rough and on a smooth floor; and without, ten times round."""
    a = radians(tilt)
    lasts = SHARE * _time_to_fall(a, resistance)
    against = rolling_resistance(resistance * MASS * STANDARD_GRAVITY * RADIUS)
    return {
        ROUGH: _disk_scenario(a, [gravity(), against], lasts, 1.0),
        SMOOTH: _disk_scenario(a, [gravity(), against], lasts, 0.0),
        STEADY: _disk_scenario(a, [gravity()], TURNS * 2 * pi / _steady_rate(a), 1.0),
    }


def _disk_scenario(tilt: float, forces: list[Any], duration: float, friction: float) -> Scenario:
    return Scenario(
        thin_disk(RADIUS, MASS),
        State(
            position=(0.0, 0.0, RADIUS * sin(tilt)),
            quaternion_wxyz=(cos(tilt / 2), sin(tilt / 2), 0.0, 0.0),
            angular_velocity_body=(0.0, _steady_rate(tilt) * sin(tilt), 0.0),
        ),
        forces,
        duration=duration,
        output_step=duration / FRAMES,
        method="dop853" if len(forces) > 1 else "auto",
        contacts=[floor(friction=friction)],
        name="eulers-disk",
    )


def tilt_and_rates(motion: Motion) -> tuple[Array, Array, Array]:
    """Tilt of the disk (rad), rate of its axis about the vertical, and spin about its axis (rad/s), at the outputs."""
    axis = motion.rotation_matrix[:, :, 2]
    sine = np.hypot(axis[:, 0], axis[:, 1])
    turned = np.cross(axis, np.cross(motion.angular_velocity, axis))[:, 2]
    return np.arctan2(sine, axis[:, 2]), turned / sine**2, motion.angular_velocity_body[:, 2]


def _relation(motion: Motion) -> Array:
    """(Omega^2 sin - 6 Omega spin tan) a/(4 g): 1 in steady rolling, where the center of the disk goes round too.

    From A Omega^2 sin cos - (C + M a^2) Omega spin sin = M g a cos, with A = M a^2/4 and C = M a^2/2; without friction
    the center stays where it is, and the spin is 0.
    """
    tilt, rate, spin = tilt_and_rates(motion)
    return np.asarray((rate**2 * np.sin(tilt) - 6 * rate * spin * np.tan(tilt)) * RADIUS / (4 * STANDARD_GRAVITY))


def numbers(motions: Mapping[str, Motion], tilt: float, resistance: float) -> list[ReferenceCheck]:
    """The rate of steady rolling, the relation between rate and tilt along both falls, and how the tilt decreases."""
    from polhode.gallery.measurements import azimuth_rate

    a, steady = radians(tilt), motions[STEADY]
    expected = _steady_rate(a)
    found = azimuth_rate(steady.times, steady.rotation_matrix[:, :, 2], np.array((0.0, 0.0, 1.0)))
    checks = [
        check("rate of steady rolling", "rad/s", found, expected, 1e-9 * expected, "Ω² sin θ = 4 g/a"),
        check(
            "largest displacement of the center in steady rolling",
            "m",
            np.abs(steady.position - steady.position[0]).max(),
            0.0,
            1e-10 * RADIUS,
            "the floor exerts no horizontal force",
            size=RADIUS,
        ),
    ]
    rolling = motions[ROUGH].contact_state == "rolling"
    for name, relation, source in (
        (ROUGH, _relation(motions[ROUGH])[rolling], "Ω² sin θ - 6 Ω ω₃ tan θ = 4 g/a"),
        (SMOOTH, _relation(motions[SMOOTH]), "Ω² sin θ = 4 g/a: the center is at rest, and ω₃ = 0"),
    ):
        checks.append(check(f"mean of that relation as it falls, {name}", "1", relation.mean(), 1.0, 0.02, source))
    ends, _, _ = tilt_and_rates(motions[SMOOTH])
    checks.append(
        check(
            "mean of √(sin θ), smooth floor",
            "1",
            np.sqrt(np.sin(ends)).mean(),
            sqrt(sin(a)) * (1 - SHARE / 2),
            0.002 * sqrt(sin(a)),
            "falls linearly: steady rolling at every instant",
        )
    )
    return checks


@panels("AB;CD", size=(12.0, 7.6))
def picture(motions: Mapping[str, Motion], tilt: float, resistance: float) -> list[DrawPanel]:
    """The disk at several instants, its tilt and rate over time, and the relation between them."""
    a, smooth = radians(tilt), motions[SMOOTH]
    left = 1 - smooth.times / _time_to_fall(a, resistance)
    angles = np.linspace(0.6 * (1 - SHARE) ** 2 * a, a, 200)
    found = {name: tilt_and_rates(motions[name]) for name in (SMOOTH, ROUGH)}
    tilts = [Line(np.degrees(angle), name, width=1.0) for name, (angle, _, _) in found.items()]
    rates = [Line(rate, name, width=1.0) for name, (_, rate, _) in found.items()]
    relation = [Line(rate, name, None, ".", np.degrees(angle), size=3) for name, (angle, rate, _) in found.items()]
    closed_rate = Closed(
        np.sqrt(4 * STANDARD_GRAVITY / (RADIUS * np.sin(angles))), "√(4 g/(a sin θ))", np.degrees(angles)
    )
    closed_tilt = Closed(np.degrees(np.arcsin(sin(a) * left**2)), "√(sin θ) linear in t")
    return [
        _disks(motions[ROUGH]),
        Curves("tilt θ", "deg", tilts, closed_tilt, smooth, y=(0.0, None)),
        Curves("rate over tilt", "rad/s", relation, closed_rate, across="tilt θ (deg)", y=(0.0, None)),
        Curves("rate Ω", "rad/s", rates, Closed(_steady_rate(a) / left, "1/(1 - t/t₀)"), smooth, y=(0.0, None)),
    ]


def _disks(motion: Motion) -> DrawPanel:
    """Six instants, each turned about the vertical so that the disk is seen from the side."""
    from scipy.spatial.transform import Rotation

    scene, (tilt, rate, _) = space(0.0, 0.0), tilt_and_rates(motion)
    for n, frame in enumerate(np.linspace(0, FRAMES, 6).round().astype(int)):
        axis = motion.rotation_matrix[frame, :, 2]
        about = Rotation.from_euler("z", 0.5 - float(np.arctan2(axis[1], axis[0]))).as_matrix()
        foot = 2.6 * RADIUS * np.array((n % 3, 0.0, -(n // 3)))
        scene.ground(foot - (1.15 * RADIUS, 0, 0), foot + (1.15 * RADIUS, 0, 0), RADIUS / 6)
        place = foot + (0.0, 0.0, RADIUS * sin(float(tilt[frame])))
        scene.body(motion.scenario.bodies[0], place, about @ motion.rotation_matrix[frame], half=0)
        text = f"{motion.times[frame]:.2f} s\n{np.degrees(tilt[frame]):.1f}°, {rate[frame] / (2 * pi):.1f} Hz"
        scene.text(foot, text, offset=(0, -22))
    return scene.panel("the disk on the rough floor: tilt, and times round per second", margin=0.02)


MODEL = Model(
    name="eulers-disk",
    title="Euler's disk: the flatter the coin, the faster it goes round",
    theme="impact and contact",
    source="[Moffatt 2000]; steady rolling by Euler's equations",
    explanation="""\
A heavy disk rolls on its rim, its center almost at rest. Its angular momentum points along the diameter
through the point of contact and must go round as fast as the floor's torque demands: Ω² sin θ = 4 g/a,
so the rate grows without bound as the disk lies down. A small torque of rolling resistance takes the
energy: the sound rises until it suddenly stops. On a rough floor the sinking disk picks up a spin ω₃
about its axis and its center moves in a small circle, which adds a term; without friction it does not.""",
    parameters=(
        Parameter("tilt", "deg", 30.0, 10.0, 60.0, "initial angle between the disk and the floor"),
        Parameter("resistance", "1", 0.003, 0.001, 0.01, "rolling resistance: torque over weight times radius"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=Stage(
        camera=StageCamera(elevation_deg=24.0),
        switches=("trailAxis3",),
        off=("trailOmega", "bodyAxes", "forces", "torque"),
        panels=("tilt_precession", "energy", "drift"),
        grabs=(Grab("attitude", knob="tilt", component="tilt", scale=180 / pi),),
        shows="A coin rolls on its rim and lies down; the flatter it is, the faster it goes round.",
    ),
    lesson=Lesson(
        formulas=(Formula(r"\Omega^2\sin\theta = \frac{4g}{a}", "the flatter, the faster"),),
        steps=(
            TryThis("On a rough floor: the rate grows until the disk lies down.", run="rough floor"),
            TryThis("Without resistance it would roll on for ever at the same angle.", run="steady"),
            TryThis("More resistance: it is over sooner.", values={"resistance": 0.01}, run="rough floor"),
            TryThis("Started flat, it goes round faster.", values={"tilt": 10.0}, run="rough floor"),
        ),
        references=("Moffatt 2000",),
    ),
)
