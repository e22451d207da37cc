"""Euler angles: three successive rotations give any attitude."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from polhode import rotations
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.pictures import ANGLE_COLORS, Closed, Curves, DrawPanel, Line, Note, panels, space
from polhode.gallery.plain_formulas import radians
from polhode.gallery.rotation_sequence import isotropic_prism, prism_corners, sequence_scenario
from polhode.results.motion import Motion
from polhode.scenario.scenario import Scenario
from polhode.web.props import AxisLine
from polhode.web.stage import Stage, StageCamera

SIDES = 3
RADIUS = 0.6
MASS = 2.0
PALE_BLUE = "#8fc3e3"
UPRIGHT = "without tilt"


def scenario(phi: float, theta: float, psi: float) -> dict[str, Scenario]:
    """A wedge rotates about its axis 3, then 1, then 3, one second each; and again without the middle rotation."""
    wedge = isotropic_prism(SIDES, RADIUS, MASS)
    return {
        name: sequence_scenario(
            wedge, _turn_sequence(phi, tilt, psi), "body", (0.0, 1.0, 0.0), f"euler-angles-{name.replace(' ', '-')}"
        )
        for name, tilt in (("three rotations", theta), (UPRIGHT, 0.0))
    }


def _turn_sequence(phi: float, theta: float, psi: float) -> list[tuple[tuple[float, float, float], Any]]:
    third, first = (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)
    return [(axis, radians(angle)) for axis, angle in ((third, phi), (first, theta), (third, psi))]


def numbers(motions: Mapping[str, Motion], phi: float, theta: float, psi: float) -> list[ReferenceCheck]:
    """Third row of the final matrix, determinant of (17.36), and the recovered angles."""
    motion = motions["three rotations"]
    t, p = np.radians((theta, psi))
    row = motion.rotation_matrix[-1, 2]
    found = rotations.euler_angles(motion.final.orientation)
    given = np.radians((phi, theta, psi))
    found = np.degrees(given + np.angle(np.exp(1j * (found - given))))
    upright = motions[UPRIGHT].rotation_matrix[-1]
    total = np.arctan2(upright[1, 0], upright[0, 0]) - np.radians(phi + psi)
    total = phi + psi + np.degrees(np.angle(np.exp(1j * total)))
    det = np.linalg.det(rotations.rate_matrix(np.radians(found[1]), np.radians(found[2])))
    corrected = "[Christian 2011, eq. 17.10], third row corrected, transposed"
    # An attitude error e changes phi and psi by e/sin(theta).
    lost = 1 / np.sin(t)
    rows = [
        ("matrix, row 3, column 1", "1", row[0], np.sin(t) * np.sin(p), 1.0, corrected),
        ("matrix, row 3, column 2", "1", row[1], np.sin(t) * np.cos(p), 1.0, corrected),
        ("matrix, row 3, column 3", "1", row[2], np.cos(t), 1.0, corrected),
        ("determinant of (17.36)", "1", det, -np.sin(t), 1.0, "-sin(theta)"),
        ("phi recovered", "deg", found[0], phi, 180 * lost, "angle of the first rotation"),
        ("theta recovered", "deg", found[1], theta, 180.0, "angle of the second rotation"),
        ("psi recovered", "deg", found[2], psi, 180 * lost, "angle of the third rotation"),
        ("phi + psi at theta = 0", "deg", total, phi + psi, 180.0, "both rotate about the same line"),
    ]
    return [
        check(label, unit, value, expected, 2e-12 * float(size), source, size=size)
        for label, unit, value, expected, size, source in rows
    ]


@panels("ABCD;EEFF", size=(12.0, 7.6))
def picture(motions: Mapping[str, Motion], phi: float, theta: float, psi: float) -> list[DrawPanel]:
    """The wedge after each rotation, the angles recovered from its attitude, and the singularity near theta = 0."""
    motion, given = motions["three rotations"], np.array((phi, theta, psi))
    titles = ("start", f"φ = {phi:g}° about 3", f"θ = {theta:g}° about 1", f"ψ = {psi:g}° about 3")
    asked = given * np.clip(motion.times[:, None] - np.arange(3), 0.0, 1.0)
    found = np.degrees(motion.euler_angles)
    low, high = min(0.0, float(found.min())), float(max(found.max(), asked.max()))
    angles = Curves(
        "angles from the attitude",
        "deg",
        [
            Line(found[:, k], name, color, "-" if k < 2 else "--")
            for k, (name, color) in enumerate(ANGLE_COLORS.items())
        ],
        Closed(asked, "given"),
        motion,
        y=(low - 0.05 * (high - low), high + 0.3 * (high - low)),
        notes=[Note((0.03, 0.96), "θ = 0: only φ + ψ is determined;\nψ is set to 0", "panel", ("left", "top"))],
        also=lambda axes: axes.axvspan(0.0, 1.0, color="#f4f1ea", zorder=0),
    )
    return [
        *(_wedge(motion, float(k), title) for k, title in enumerate(titles)),
        angles,
        _inverse_rates(theta if theta <= 90 else 180 - theta),
    ]


def _wedge(motion: Motion, time: float, title: str) -> DrawPanel:
    """The wedge at one time, with its axes, and those before the last rotation."""
    scene, half = space(0.45, 0.42), float(prism_corners(SIDES, RADIUS)[-1, 2])
    turn, before = (motion.at(max(t, 0.0)).orientation.as_matrix() for t in (time, time - 1.0))
    scene.body(motion.scenario.bodies[0], rotation=turn, half=2, half_color=PALE_BLUE)
    for i, (inner, outer) in enumerate(((RADIUS, 1.05), (RADIUS / 2, 1.05), (half, 0.95))):
        color = f"axis_{i + 1}"
        scene.line([0.1 * before[:, i], outer * before[:, i]], color, width=1.0, style=(0, (2, 2)), alpha=0.7)
        name = "" if scene.hides((inner + 0.6 * (outer - inner)) * turn[:, i]) else "123"[i]
        scene.arrow(inner * turn[:, i], (outer - inner) * turn[:, i], color, name)
    return scene.panel(title, x=(-1.15, 1.25), y=(-0.95, 1.3))


def _inverse_rates(theta: float) -> Curves:
    """The largest angle rate for an angular velocity of 1 rad/s: 1/sin(theta)."""
    tilt = np.geomspace(1e-4, 90.0, 200)
    largest = [np.linalg.norm(rotations.inverse_rate_matrix(float(np.radians(x)), 0.3)[0]) for x in tilt]
    return Curves(
        "rate of φ for 1 rad/s across the common line",
        "rad/s",
        [
            Line(largest, "inverse of (17.36)", ANGLE_COLORS["φ"], x=tilt),
            Line([1 / np.sin(np.radians(theta))], "here", "ink", "o", [theta]),
        ],
        Closed(1 / np.sin(np.radians(tilt)), "1/sin θ", tilt),
        across="θ, or 180° - θ (deg)",
        log="xy",
        x_ticks=(1e-4, 1e-3, 0.01, 0.1, 1.0, 10.0, 90.0),
        legend="lower left",
    )


def stage(phi: float, theta: float, psi: float, run: str = "three rotations") -> Stage:
    """The axis of each of the three rotations while it happens, and the path of axis 3."""
    props, attitude = list[AxisLine](), np.eye(3)
    tilt = 0.0 if run == UPRIGHT else theta
    for k, ((axis, angle), name) in enumerate(zip(_turn_sequence(phi, tilt, psi), "φθψ", strict=True)):
        words = f"{name} about {3 if k != 1 else 1}"
        props.append(AxisLine(attitude @ axis, label=words, since=float(k), until=float(k + 1), color="ink"))
        attitude = attitude @ rotations.matrix(axis, angle)
    return Stage(
        camera=StageCamera(-40.0, 24.0, zoom=0.9),
        switches=("trailAxis1", "trailAxis3"),
        off=("omega", "L", "trailOmega", "torque"),
        panels=("euler_angles", "angular_velocity"),
        props=(*props, AxisLine((0.0, 0.0, 1.0), label="z", color="muted")),
        shows="A wedge turns about its axis 3, about its axis 1, and about its axis 3 again.",
        moment=0.6,
    )


MODEL = Model(
    name="euler-angles",
    title="Three rotations give any attitude, but their angles are singular at the vertical",
    theme="transformations and rotations",
    source="[Christian 2011, sections 17.3.1 and 17.4, exercise 17.4, eqs. 17.10 and 17.36]",
    explanation="""\
A wedge rotates by phi about its axis 3, by theta about its new axis 1, and by psi about its new axis 3.
Every attitude can be reached this way. The third row of the matrix is (sin psi sin theta, cos psi sin
theta, cos theta). At theta = 0, phi and psi rotate about the same line, and the attitude determines only
their sum. The body itself is unaffected: it is the rates of the angles that grow as 1/sin(theta), since
the determinant of the rate matrix (17.36) is -sin(theta). Quaternions have no such singularity.""",
    parameters=(
        Parameter("phi", "deg", 30.0, -175.0, 175.0, "first rotation, about axis 3"),
        Parameter("theta", "deg", 60.0, 2.0, 178.0, "second rotation, about axis 1"),
        Parameter("psi", "deg", 45.0, -175.0, 175.0, "third rotation, about axis 3"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=stage,
    lesson=Lesson(
        formulas=(
            Formula(
                r"R = R_3(\varphi)\,R_1(\theta)\,R_3(\psi)",
                "the attitude from three rotations, each about an axis of the body",
            ),
            Formula(r"\omega_3 = \dot\psi + \dot\varphi\cos\theta", "at θ = 0 only the sum of the two rates matters"),
            Formula(
                r"\dot\varphi = \frac{\omega_1\sin\psi + \omega_2\cos\psi}{\sin\theta}",
                "the rates of the angles grow without bound near the vertical",
            ),
        ),
        steps=(
            TryThis("One rotation per second: φ about axis 3, θ about axis 1, ψ about axis 3."),
            TryThis("Almost no tilt: φ and ψ turn about nearly the same line.", values={"theta": 2.0}),
            TryThis("Without any tilt, the attitude determines only the sum of φ and ψ.", run="without tilt"),
            TryThis(
                "A tilt of 90 degrees: the two lines are perpendicular, as far from singular as possible.",
                values={"theta": 90.0},
            ),
        ),
        references=("Christian 2011, section 17.3.1", "Goldstein 1980, section 4.4"),
    ),
)
