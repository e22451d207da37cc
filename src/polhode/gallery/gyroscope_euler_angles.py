"""The gyroscope in Euler angles: accurate until its axle comes close to the vertical."""

from __future__ import annotations

from dataclasses import replace
from math import cos, degrees, inf, pi, sin
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.equations.quaternions import from_angles
from polhode.gallery import gyroscope_disk
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck
from polhode.gallery.independent_rk4 import Numbers, euler_equations, quaternion_rate, renormalize, rk4_step
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.reference.heavy_top import HeavyTop
from polhode.rotations import angle_between
from polhode.scenario.scenario import Scenario
from polhode.validation import Array

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from polhode.results.motion import Motion

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
        checks.append(
            ReferenceCheck(f"attitude error, {name}", "rad", found, expected, 0.01 * expected, INDEPENDENT_RK4)
        )
    nearest, expected = degrees(gyroscope_disk.inclination(motion.at(passing))), degrees(top.turning_angles[0])
    source = "u2, a root of the cubic in u = cos(theta)"
    checks.append(ReferenceCheck("closest approach to the vertical", "deg", nearest, expected, 1e-3 * expected, source))
    half = step / 2
    before, after = (_azimuth_of_state(motion.at(passing + by)) for by in (-half, half))
    ends = top.angles_at((passing - half, passing + half))[:, 0]
    source = "elliptic integrals of the third kind"
    turned, expected = (after - before) % (2 * pi), float(ends[1] - ends[0])
    checks.append(
        ReferenceCheck(
            "change of phi in the step of closest approach", "rad", turned, expected, 1e-3 * expected, source
        )
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
        return ReferenceCheck(f"attitude error, {EULER}", "rad", float(errors[-1]), expected, off, INDEPENDENT_RK4)
    before = int(passing / step) - 1
    expected = _expected_error(_attitude_by_plain_angles, top, before, step)
    label = f"attitude error, {EULER}, before the closest approach, at {before * step:.4g} s"
    source = f"{INDEPENDENT_RK4}; later rounding decides, since a stage meets the vertical"
    return ReferenceCheck(label, "rad", float(errors[before]), expected, 0.01 * expected, source)


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
def picture(motions: Mapping[str, Motion], spin: float, miss: float, step: float) -> Figure:
    """The tip's path past the vertical, the Euler angles, their change per step, and the errors."""
    from polhode.gallery.drawing.tops import EULER_ANGLE_COLORS
    from polhode.plot.log_axes import mask_nonpositive, set_log_y, set_log_y_limits
    from polhode.plot.panels import format_time_axis
    from polhode.plot.style import COLOR_CYCLE, add_legend_above, styled_figure

    tops = _tops(spin, miss)
    with styled_figure(12.0, 7.6, MODEL.title) as figure:
        grid = figure.add_gridspec(3, 2, width_ratios=(1.0, 1.05))
        _draw_space(figure.add_subplot(grid[:2, 0]), motions, tops)
        _draw_from_above(figure.add_subplot(grid[2, 0]), motions, tops)
        angles, turns, errors = (figure.add_subplot(grid[i, 1]) for i in range(3))
        t = motions[EULER].times
        closed = np.unwrap(tops[EULER].angles_at(t), axis=0)
        for i, (name, color) in enumerate(EULER_ANGLE_COLORS.items()):
            angles.plot(t, np.degrees(closed[:, i]), color=color, label=name)
        angles.set_title("Euler angles, closed form")
        angles.set_ylabel("deg")
        turn = np.abs(np.diff(closed[:, 0]))
        turns.step(t[1:], mask_nonpositive(turn), color=EULER_ANGLE_COLORS["φ"], where="mid", linewidth=1.3)
        set_log_y(turns)
        turns.set_title("change of φ in one step, closed form")
        turns.set_ylabel("rad")
        for n, name in enumerate((EULER, THROUGH, QUATERNIONS)):
            error = mask_nonpositive(_attitude_error(motions[name], tops[name]))
            look: Any = {
                "color": COLOR_CYCLE[(1, 4, 0)[n]],
                "linestyle": (0, (5, 4)) if name == QUATERNIONS else "solid",
            }
            errors.plot(t, error, label=name.replace("Euler angles, ", "").replace(" the vertical", ""), **look)
        set_log_y_limits(errors, 1e-17, 10.0, 6)
        errors.set_title("error")
        errors.set_ylabel("rad")
        for axes in (angles, turns, errors):
            format_time_axis(axes, motions[EULER])
        add_legend_above(angles, 3)
        add_legend_above(errors, 3)
    return figure


def _draw_space(axes: Axes, motions: Mapping[str, Motion], tops: Mapping[str, HeavyTop]) -> None:
    from polhode.gallery.drawing import tops as draw
    from polhode.plot.scene import Scene, world_camera
    from polhode.plot.style import COLOR_CYCLE, COLORS

    tip = 1.75
    scene = Scene(world_camera(-0.9, 0.6))
    draw.draw_globe(scene, tip)
    times = np.linspace(0.0, DURATION, 400)
    scene.line(tip * tops[EULER].axis_at(times), COLORS["closed_form"], "closed form", width=4.5)
    by_angles, by_quaternions = (tip * motions[name].rotation_matrix[:, :, 2] for name in (EULER, QUATERNIONS))
    scene.line(by_angles + scene.camera.eye / 8, COLOR_CYCLE[1], EULER, width=2.4)
    dashes, gap = by_quaternions + scene.camera.eye / 4, len(by_quaternions) // 40
    scene.line(dashes[:2], COLOR_CYCLE[0], QUATERNIONS, width=1.6, style=(0, (4, 3)))
    for start in range(0, len(dashes) - gap, 2 * gap):
        scene.line(dashes[start : start + gap + 1], COLOR_CYCLE[0], width=1.6)
    motion = motions[QUATERNIONS]
    draw.draw_top(scene, gyroscope_disk.make_disk(), motion.position[-1], motion.rotation_matrix[-1], tip - 1, -1.0)
    scene.dot(tip * motion.rotation_matrix[0, :, 2] + scene.camera.eye / 4, COLORS["ink"], 5.0, "start")
    scene.dot((0, 0, 0), COLORS["ink"], 6.0)
    scene.draw(axes, "the tip of the axle passes close to the vertical", legend=(-0.3, 0.0))


def _draw_from_above(axes: Axes, motions: Mapping[str, Motion], tops: Mapping[str, HeavyTop]) -> None:
    """The near miss from above: the steps of both formulations."""
    from polhode.plot.style import COLOR_CYCLE, COLORS, add_legend_above, draw_closed_form

    top = tops[EULER]
    across = 8 * degrees(top.turning_angles[0])
    along = 6 * degrees(abs(THETA_RATE) * float(motions[EULER].times[1]))
    times = np.linspace(0.0, DURATION, 20001)
    x, y, _ = np.degrees(top.axis_at(times)).T
    draw_closed_form(axes, y, x)
    for name, color in ((QUATERNIONS, COLOR_CYCLE[0]), (EULER, COLOR_CYCLE[1])):
        x, y = np.degrees(motions[name].rotation_matrix[:, :2, 2].T)
        axes.plot(y, x, color=color, label=name, marker=".", markersize=7, linewidth=0.8)
    axes.plot(0, 0, "+", color=COLORS["ink"], markersize=12)
    axes.set_xlim(-along, along)
    axes.set_ylim(-across, across)
    axes.set_title("from above")
    axes.set_xlabel("y (deg from the vertical, +)")
    axes.set_ylabel("x (deg)")
    add_legend_above(axes, 3)


MODEL = Model(
    name="gyroscope-euler-angles",
    title="Euler angles lose accuracy when the axle passes close to the vertical",
    theme="tops and gyroscopes",
    source="[Christian 2011, project 17.2, section 17.3.1]",
    explanation=(
        "The same gyroscope is computed with quaternions and with the angles phi, theta and psi. When the axle\n"
        "narrowly misses the vertical, phi and psi must each change by half a turn almost at once, in opposite\n"
        "senses, while the body does nothing special: a step that is short for the body is long for the angles, and\n"
        "their error is permanent. Exactly through the vertical there is nothing to turn, and the angles are fine:\n"
        "it is the near misses that fail. Quaternions are unaffected."
    ),
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
