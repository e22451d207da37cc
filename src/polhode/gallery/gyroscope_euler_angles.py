"""The gyroscope in Euler angles: accurate until its axle comes close to the vertical."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import cos, degrees, inf, pi, sin
from typing import Any

import numpy as np

from polhode.equations.quaternions import from_angles
from polhode.gallery import gyroscope_disk
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.independent_rk4 import Numbers, euler_equations, quaternion_rate, renormalize, rk4_step
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.pictures import ANGLE_COLORS, Closed, Curves, DrawPanel, Line, components, panels, space
from polhode.reference.heavy_top import HeavyTop
from polhode.results.motion import Motion
from polhode.rotations import angle_between
from polhode.scenario.scenario import Scenario
from polhode.validation import Array

THETA, THETA_RATE, DURATION = 20.0, -1.0, 3.0
INDEPENDENT_RK4 = "RK4 in plain Python against elliptic functions"
EULER, QUATERNIONS, THROUGH = "Euler angles", "quaternions", "Euler angles, exactly through the vertical"


def _tops(spin: float, miss: float) -> dict[str, HeavyTop]:
    """Near miss and passage: with phi' = a/(1 + cos(theta)) the axle passes exactly through the vertical."""
    at_rest = gyroscope_disk.make_heavy_top(THETA, spin)
    passing = at_rest.axial_moment * spin / (at_rest.moment * (1 + cos(at_rest.theta)))
    near, through = (gyroscope_disk.make_heavy_top(THETA, spin, f * passing, THETA_RATE) for f in (1 + miss, 1.0))
    return {QUATERNIONS: near, EULER: near, THROUGH: through}


def _step_count(step: float) -> int:
    """Number of steps in about 3 s."""
    return round(DURATION / step)


def scenario(spin: float, miss: float, step: float) -> dict[str, Scenario]:
    """The same initial state in both formulations, and Euler angles exactly through the vertical."""
    n = _step_count(step)
    angles: dict[str, Any] = {"formulation": "euler_angles", "largest_turn": inf}
    return {
        name: gyroscope_disk.pivot_scenario(
            top,
            n * step,
            n * step / n,
            f"gyroscope-euler-angles, {name}",
            n,
            **({"formulation": "body_rates"} if name == QUATERNIONS else angles),
        )
        for name, top in _tops(spin, miss).items()
    }


def _attitude_error(motion: Motion, top: HeavyTop) -> Array:
    """Attitude error against the closed form at each output, in rad."""
    return np.asarray(angle_between(motion.quaternion_wxyz, top.quaternion_at(motion.times)))


def numbers(motions: Mapping[str, Motion], spin: float, miss: float, step: float) -> list[ReferenceCheck]:
    """Final errors of all three, the closest approach to the vertical, and the change of phi there."""
    tops, n = _tops(spin, miss), _step_count(step)
    motion, top = motions[QUATERNIONS], tops[QUATERNIONS]
    passing = float(gyroscope_disk.turning_times(motion)[0])
    checks = [_check_angle_error(motions[EULER], top, step, passing)]
    for name, plain in ((QUATERNIONS, _attitude_by_plain_quaternions), (THROUGH, _attitude_by_plain_angles)):
        expected = _expected_error(plain, tops[name], n, step)
        found = float(_attitude_error(motions[name], tops[name])[-1])
        checks.append(check(f"attitude error, {name}", "rad", found, expected, 0.01 * expected, INDEPENDENT_RK4))
    nearest, expected = degrees(gyroscope_disk.inclination(motion.at(passing))), degrees(top.turning_angles[0])
    source = "u2, a root of the cubic in u = cos(theta)"
    checks.append(check("closest approach to the vertical", "deg", nearest, expected, 1e-3 * expected, source))
    half = step / 2
    before, after = (_azimuth_of_state(motion.at(passing + by)) for by in (-half, half))
    ends = top.angles_at((passing - half, passing + half))[:, 0]
    source = "elliptic integrals of the third kind"
    turned, expected = (after - before) % (2 * pi), float(ends[1] - ends[0])
    checks.append(
        check("change of phi in the step of closest approach", "rad", turned, expected, 1e-3 * expected, source)
    )
    return checks


def _expected_error(plain: Callable[[HeavyTop, int, float], Numbers], top: HeavyTop, steps: int, step: float) -> float:
    """Error after `steps` steps in plain Python, in rad."""
    return float(angle_between(np.array(plain(top, steps, step)), top.quaternion_at(steps * step)))


def _check_angle_error(motion: Motion, top: HeavyTop, step: float, passing: float) -> ReferenceCheck:
    """The final error; where rounding decides it, the error two steps before the closest approach.

    If a stage of RK4 happens to meet the vertical almost exactly, the last digits of the initial state decide the
    error of the Euler angles: initial states that differ by 1e-14 end far apart, and no value can be predicted.
    """
    n = _step_count(step)
    expected = _expected_error(_attitude_by_plain_angles, top, n, step)
    moved = [replace(top, theta=top.theta * (1 + by)) for by in (-1e-14, 1e-14)]
    spread = max(abs(_expected_error(_attitude_by_plain_angles, one, n, step) - expected) for one in moved)
    errors = _attitude_error(motion, top)
    if spread <= 0.01 * expected:
        off = 0.01 * expected + 3 * spread
        return check(f"attitude error, {EULER}", "rad", errors[-1], expected, off, INDEPENDENT_RK4)
    before = int(passing / step) - 1
    expected = _expected_error(_attitude_by_plain_angles, top, before, step)
    label = f"attitude error, {EULER}, before the closest approach, at {before * step:.4g} s"
    source = f"{INDEPENDENT_RK4}; later rounding decides, since a stage meets the vertical"
    return check(label, "rad", errors[before], expected, 0.01 * expected, source)


def _azimuth_of_state(state: Any) -> float:
    """Azimuth phi of a state, in rad."""
    w, x, y, z = state.quaternion_wxyz
    return float(np.arctan2(z, w) + np.arctan2(y, x))


# Independent implementations in plain Python --------------------------------------------------------------------------
def _attitude_by_plain_angles(top: HeavyTop, steps: int, step: float) -> Numbers:
    """Euler's equations and (17.36) solved for the angle rates; returns the final quaternion."""
    moments, weight = (top.moment, top.moment, top.axial_moment), top.weight_times_height

    def rate(y: Numbers) -> Numbers:
        _, theta, psi, w1, w2, w3 = y
        phi_rate = (w1 * sin(psi) + w2 * cos(psi)) / sin(theta)
        k1, k2 = sin(theta) * sin(psi), sin(theta) * cos(psi)
        return (
            phi_rate,
            w1 * cos(psi) - w2 * sin(psi),
            w3 - phi_rate * cos(theta),
            *euler_equations(moments, (w1, w2, w3), (weight * k2, -weight * k1, 0.0)),
        )

    y: Numbers = (0.0, top.theta, 0.0, top.theta_rate, top.precession * sin(top.theta), top.spin)
    for _ in range(steps):
        y = rk4_step(rate, y, step)
    return from_angles((y[0], y[1], y[2]))


def _attitude_by_plain_quaternions(top: HeavyTop, steps: int, step: float) -> Numbers:
    """Euler's equations and q' = q (0, w)/2, q renormalized after every step."""
    moments, weight = (top.moment, top.moment, top.axial_moment), top.weight_times_height

    def rate(y: Numbers) -> Numbers:
        a, b, c, d = y[:4]
        size = a * a + b * b + c * c + d * d
        k1, k2 = 2 * (b * d - a * c) / size, 2 * (c * d + a * b) / size
        torque = (weight * k2, -weight * k1, 0.0)
        return (*quaternion_rate(y[:4], y[4:]), *euler_equations(moments, y[4:], torque))

    q: Numbers = from_angles((0.0, top.theta, 0.0))
    y: Numbers = (*q, top.theta_rate, top.precession * sin(top.theta), top.spin)
    for _ in range(steps):
        y = renormalize(rk4_step(rate, y, step))
    return y[:4]


# The picture ----------------------------------------------------------------------------------------------------------
@panels("AB;AC;DE", size=(12.0, 7.6), widths=(1.0, 1.05))
def picture(motions: Mapping[str, Motion], spin: float, miss: float, step: float) -> list[DrawPanel]:
    """The tip's path past the vertical, the Euler angles, their change per step, and the errors."""
    tops, motion = _tops(spin, miss), motions[EULER]
    t = motion.times
    closed = np.unwrap(tops[EULER].angles_at(t), axis=0)
    turns = np.abs(np.diff(closed[:, 0]))
    errors = {"Euler angles": EULER, "exactly through": THROUGH, QUATERNIONS: QUATERNIONS}
    return [
        _tip_paths(motions, tops),
        Curves(
            "Euler angles, closed form",
            "deg",
            components(np.degrees(closed), list(ANGLE_COLORS), list(ANGLE_COLORS.values())),
            over=motion,
        ),
        Curves(
            "change of φ in one step, closed form",
            "rad",
            Line(turns, "", ANGLE_COLORS["φ"], x=t[1:], width=1.3, look={"drawstyle": "steps-mid"}),
            over=motion,
            log="y",
        ),
        _from_above(motions, tops[EULER]),
        Curves(
            "error",
            "rad",
            [
                Line(_attitude_error(motions[name], tops[name]), label, color, "--" if name == QUATERNIONS else "-")
                for (label, name), color in zip(errors.items(), (1, 4, 0), strict=True)
            ],
            over=motion,
            log="y",
            y=(1e-17, 10.0),
            most_ticks=6,
        ),
    ]


def _tip_paths(motions: Mapping[str, Motion], tops: Mapping[str, HeavyTop]) -> DrawPanel:
    scene, tip, disk, motion = space(-0.9, 0.6), 1.75, gyroscope_disk.make_disk(), motions[QUATERNIONS]
    scene.globe(tip)
    scene.line(tip * tops[EULER].axis_at(np.linspace(0.0, DURATION, 400)), "closed_form", "closed form", width=4.5)
    by_angles, by_quaternions = (tip * motions[name].rotation_matrix[:, :, 2] for name in (EULER, QUATERNIONS))
    scene.line(scene.toward(by_angles, 1 / 8), 1, EULER, width=2.4)
    dashes, gap = scene.toward(by_quaternions, 1 / 4), len(by_quaternions) // 40
    scene.line(dashes[:2], 0, QUATERNIONS, width=1.6, style=(0, (4, 3)))
    for start in range(0, len(dashes) - gap, 2 * gap):
        scene.line(dashes[start : start + gap + 1], 0, width=1.6)
    scene.top(disk, motion.position[-1], motion.rotation_matrix[-1], tip - 1, -1.0)
    scene.dot(scene.toward(tip * motion.rotation_matrix[0, :, 2], 1 / 4), "ink", 5.0, "start")
    scene.dot((0, 0, 0), "ink", 6.0)
    return scene.panel("the tip of the axle passes close to the vertical", legend=(-0.3, 0.0))


def _from_above(motions: Mapping[str, Motion], top: HeavyTop) -> Curves:
    """The near miss from above: the steps of both formulations."""
    across = 8 * degrees(top.turning_angles[0])
    along = 6 * degrees(abs(THETA_RATE) * float(motions[EULER].times[1]))
    x, y, _ = np.degrees(top.axis_at(np.linspace(0.0, DURATION, 20001))).T
    tips = {name: np.degrees(motions[name].rotation_matrix[:, :2, 2].T) for name in (QUATERNIONS, EULER)}
    return Curves(
        "from above",
        "x (deg)",
        [
            *(Line(tip[0], name, n, "-.", tip[1], 0.8, 7) for n, (name, tip) in enumerate(tips.items())),
            Line([0], "", "ink", "+", [0], size=12),
        ],
        Closed(x, x=y),
        across="y (deg from the vertical, +)",
        x=(-along, along),
        y=(-across, across),
    )


MODEL = Model(
    name="gyroscope-euler-angles",
    title="Euler angles lose accuracy when the axle passes close to the vertical",
    theme="tops and gyroscopes",
    source="[Christian 2011, project 17.2, section 17.3.1]",
    explanation="""\
The same gyroscope is computed with quaternions and with the angles phi, theta and psi. When the axle
narrowly misses the vertical, phi and psi must each change by half a turn almost at once, in opposite
senses, while the body does nothing special: a step that is short for the body is long for the angles, and
their error is permanent. Exactly through the vertical there is nothing to turn, and the angles are fine:
it is the near misses that fail. Quaternions are unaffected.""",
    parameters=(
        Parameter("spin", "rad/s", 3.0, 2.0, 4.0, "angular velocity along the axle"),
        Parameter(
            "miss",
            "1",
            0.01,
            0.005,
            0.1,
            "relative excess of the initial precession over that which meets the vertical",
        ),
        Parameter("step", "s", 0.01, 0.004, 0.012, "RK4 step; the number of steps is the nearest to 3 s"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=gyroscope_disk.make_stage(
        ("euler_angles", "quaternion", "angular_velocity", "drift"),
        switches=("trailAxis3", "closedForm"),
        off=("omega", "trailOmega", "L", "forces", "torque"),
        shows="The axle of a gyroscope passes close to the vertical; the two angles about it jump, the disk does not.",
    ),
    lesson=Lesson(
        formulas=(
            Formula(
                r"\dot\varphi = \frac{\omega_1\sin\psi + \omega_2\cos\psi}{\sin\theta}", "what fails near the vertical"
            ),
            Formula(r"\dot q = \frac{1}{2}\,q\,\boldsymbol{\omega}", "what does not"),
        ),
        steps=(
            TryThis("With quaternions, the near miss is nothing special.", run="quaternions"),
            TryThis("With Euler angles, the same step: the error stays.", run="Euler angles"),
            TryThis("A miss ten times as wide: the error is much smaller.", values={"miss": 0.1}, run="Euler angles"),
            TryThis(
                "Exactly through the vertical the angles are fine.", run="Euler angles, exactly through the vertical"
            ),
        ),
        references=("Christian 2011, project 17.2",),
    ),
)
