"""The rotation that points a long box along a given direction, by quaternion; and non-unit quaternions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polhode import rotations
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.rotation_sequence import steady_spin_scenario
from polhode.gallery.shared import finish_time_panel
from polhode.massprops.shapes import box
from polhode.scenario.scenario import Scenario
from polhode.validation import Array
from polhode.web.props import AxisLine, Polyline, StageArrow
from polhode.web.stage import Stage, StageCamera

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from polhode.results.motion import Motion

SIDES = (2.0, 0.6, 0.6)
MASS = 2.0
LONG_AXIS = np.array((1.0, 0.0, 0.0))
ROUNDING = 4e-15
"""Rounding error of a component after some twenty operations of 1.1e-16 each."""


def _turn_to_target(target: tuple[float, float, float]) -> tuple[Array, Array, float]:
    """Quaternion from the x axis to the target, its axis, and its angle in rad."""
    q = rotations.turn_between(LONG_AXIS, target)
    return q, *rotations.axis_and_angle(q)


def scenario(target_x: float, target_y: float, target_z: float, last: float) -> Scenario:
    """A long box of square section spins about a transverse axis and points at the target after one second."""
    _, axis, angle = _turn_to_target((target_x, target_y, target_z))
    return steady_spin_scenario(box(SIDES, mass=MASS), angle * axis, "quaternion-rotation")


def numbers(motion: Motion, target_x: float, target_y: float, target_z: float, last: float) -> list[ReferenceCheck]:
    """Rotation angle and quaternion, agreement of the formulas, and the effect of a non-unit q."""
    target = (target_x, target_y, target_z)
    q, axis, angle = _turn_to_target(target)
    length = float(np.linalg.norm(target))
    across, s = float(np.hypot(target_y, target_z)), np.sqrt((1 - target_x / length) / 2)
    found = motion.final.quaternion_wxyz
    ways = [
        rotations.rodrigues(LONG_AXIS, axis, angle),
        rotations.matrix(axis, angle) @ LONG_AXIS,
        rotations.sandwiched(q, LONG_AXIS),
    ]
    ways.append(_matrix_by_scipy(q))
    stretched = rotations.sandwiched((1.0, 0.0, 0.0, last), LONG_AXIS)
    half = "(cos(a/2), sin(a/2) (0, -z, y)/sqrt(y^2 + z^2)), cos a = x/length"
    rows = [
        (
            "rotation angle",
            "deg",
            np.degrees(rotations.axis_and_angle(found)[1]),
            np.degrees(np.arctan2(across, target_x)),
            180.0,
            "atan2(sqrt(y^2 + z^2), x)",
        ),
        ("q0", "1", found[0], np.sqrt((1 + target_x / length) / 2), 1.0, half),
        ("q1", "1", found[1], 0.0, 1.0, half),
        ("q2", "1", found[2], -s * target_z / across, 1.0, half),
        ("q3", "1", found[3], s * target_y / across, 1.0, half),
        ("x of q e_x q* for q = (1, 0, 0, last)", "1", stretched[0], 1 - last**2, 1 + last**2, "1 - last^2"),
        ("y of q e_x q* for q = (1, 0, 0, last)", "1", stretched[1], 2 * last, 1 + last**2, "2 last"),
    ]
    checks = [
        ReferenceCheck(label, unit, float(value), float(expected), 2e-12 * float(size), source, float(size))
        for label, unit, value, expected, size, source in rows
    ]
    spread = float(np.ptp(ways, axis=0).max())
    return [
        *checks,
        ReferenceCheck(
            "spread of (17.16), (17.17), q v q* and SciPy", "1", spread, 0.0, ROUNDING, "the same rotation", 1.0
        ),
    ]


def _matrix_by_scipy(q: Array) -> Array:
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_quat(q, scalar_first=True).apply(LONG_AXIS))


def picture(motion: Motion, target_x: float, target_y: float, target_z: float, last: float) -> Figure:
    """The box before and after, its quaternion over time, non-unit quaternions, and small angles."""
    from polhode.plot.style import styled_figure

    with styled_figure(12.0, 7.8, MODEL.title) as figure:
        grid = figure.add_gridspec(2, 2, height_ratios=(1.2, 1.0))
        _draw_box_scene(figure.add_subplot(grid[0, 0]), motion, (target_x, target_y, target_z))
        _draw_quaternion(figure.add_subplot(grid[0, 1]), motion, (target_x, target_y, target_z))
        _draw_lengths(figure.add_subplot(grid[1, 0]), last)
        _draw_small_angles(figure.add_subplot(grid[1, 1]))
    return figure


def _draw_box_scene(axes: Axes, motion: Motion, target: tuple[float, float, float]) -> None:
    from polhode.gallery.drawing.clearest_camera import choose_clearest_camera
    from polhode.plot.scene import Scene
    from polhode.plot.style import AXIS_COLORS, COLORS

    _, axis, angle = _turn_to_target(target)
    direction = np.array(target) / np.linalg.norm(target)
    seen = choose_clearest_camera((LONG_AXIS, direction, axis))
    scene = Scene(seen)
    body, tip = motion.scenario.bodies[0], SIDES[0] / 2 * LONG_AXIS
    for start, end in _box_edges():
        scene.line([start, end], COLORS["muted"], width=1.0, style=(0, (3, 2)))
    scene.body(body, rotation=motion.rotation_matrix[-1], half=0, half_color="#f0b48a")
    closed = rotations.rodrigues(1.6 * tip, axis, np.linspace(0, angle, 80))
    scene.line(closed, COLORS["closed_form"], "q v q*", width=4.5)
    scene.line(1.6 * motion.points(tip) + 0.1 * seen.eye, COLORS["omega"], "simulated")
    scene.arrow(tip, 0.9 * LONG_AXIS, COLORS["muted"], "x")
    scene.arrow(direction, 0.9 * direction, AXIS_COLORS[0], f"({target[0]:.3g}, {target[1]:.3g}, {target[2]:.3g})")
    scene.arrow((0, 0, 0), 1.3 * axis, COLORS["omega"], "axis")
    scene.draw(axes, f"from the x axis to the target: {np.degrees(angle):.6f}°", legend=(0.0, -0.14))
    axes.set_anchor("W")


def _box_edges() -> list[tuple[Array, Array]]:
    """The twelve edges of the box in its initial attitude."""
    corners = [np.array(SIDES) / 2 * sign for sign in np.ndindex(2, 2, 2)]
    corners = [2 * corner - np.array(SIDES) / 2 for corner in corners]
    return [(a, b) for i, a in enumerate(corners) for b in corners[:i] if np.count_nonzero(a - b) == 1]


def _draw_quaternion(axes: Axes, motion: Motion, target: tuple[float, float, float]) -> None:
    from polhode.plot.style import AXIS_COLORS, COLORS, draw_closed_form

    _, axis, angle = _turn_to_target(target)
    draw_closed_form(axes, motion.times, rotations.quaternion(axis, angle * motion.times), "(17.25)")
    for i, color in enumerate((COLORS["ink"], *AXIS_COLORS)):
        axes.plot(motion.times, motion.quaternion_wxyz[:, i], color=color, label=f"q{'₀₁₂₃'[i]}")
    finish_time_panel(axes, motion, "the quaternion", "component", 5)


def _draw_lengths(axes: Axes, last: float) -> None:
    """Image of the tip of e_x under q = (1, 0, 0, k), by three rules.  [Christian 2011, exercise 17.9 c]"""
    from polhode.plot.style import COLOR_CYCLE, COLORS

    k = np.linspace(-2.0, 2.0, 201) if abs(last) <= 2 else np.linspace(-abs(last), abs(last), 201)
    many = np.stack((1 + 0 * k, 0 * k, 0 * k, k), axis=-1)
    rules: dict[str, Callable[[Array], Array]] = {
        "q v q*: rotated and scaled": lambda q: rotations.sandwiched(q, LONG_AXIS),
        "(17.28): distorted": lambda q: np.asarray(rotations.skewed_matrix(q) @ LONG_AXIS),
        "q/|q|: a rotation": lambda q: rotations.sandwiched(q / np.linalg.norm(q, axis=-1, keepdims=True), LONG_AXIS),
    }
    here = np.array((1.0, 0.0, 0.0, last))
    for (name, rule), color in zip(rules.items(), (COLOR_CYCLE[0], COLOR_CYCLE[1], COLORS["ink"]), strict=True):
        axes.plot(*rule(many)[:, :2].T, color=color, label=name)
        axes.plot(*rule(here)[:2], color=color, marker="o", markersize=5)
    axes.plot(*LONG_AXIS[:2], color=COLORS["muted"], marker="s", markersize=5, linestyle="none", label="v = (1, 0)")
    axes.set_xlim(-3.6, 5.6)
    axes.set_ylim(-2.6, 2.6)
    if abs(last) > 1.2:
        axes.set_xlim(-2.2 * last**2, 2.4 * last**2)
        axes.set_ylim(-1.3 * last**2, 1.3 * last**2)
    axes.set_aspect("equal")
    axes.set_anchor("W")
    axes.set_title(f"non-unit q = (1, 0, 0, k); dots: k = {last:g}")
    axes.set_xlabel("x")
    axes.set_ylabel("y")
    axes.legend(loc="center right", handlelength=1.0)


def _draw_small_angles(axes: Axes) -> None:
    """(17.27a) by acos and by atan2, for small rotations about z."""
    from polhode.plot.style import COLOR_CYCLE, draw_closed_form, format_power_of_ten

    angles = np.geomspace(1e-10, 1.0, 161)
    q = rotations.quaternion((0, 0, 1), angles)
    by_acos = 2 * np.arccos(q[:, 0])
    by_atan2 = np.array([rotations.axis_and_angle(one)[1] for one in q])
    for found, color, name in (
        (by_acos, COLOR_CYCLE[1], "2 acos q₀, as printed"),
        (by_atan2, COLOR_CYCLE[0], "2 atan2(|q|, q₀)"),
    ):
        off = np.abs(found / angles - 1)
        axes.loglog(angles, np.maximum(off, 2e-17), ".", markersize=4, color=color, label=name)
    eps = float(np.finfo(float).eps)
    draw_closed_form(axes, angles, eps / angles**2, "rounding/angle²")
    axes.set_ylim(1e-17, 1e2)
    axes.xaxis.set_major_formatter(format_power_of_ten)
    axes.yaxis.set_major_formatter(format_power_of_ten)
    axes.minorticks_off()
    axes.set_title("error of the recovered angle, (17.27)")
    axes.set_xlabel("angle (rad)")
    axes.set_ylabel("relative")
    axes.legend(loc="upper right", markerscale=2)


def stage(target_x: float, target_y: float, target_z: float, last: float) -> Stage:
    """The target, the axis of the rotation, and the arc along which the long side goes."""
    target = np.array((target_x, target_y, target_z))
    _, axis, angle = _turn_to_target((target_x, target_y, target_z))
    arc = [rotations.rodrigues(1.6 * LONG_AXIS, axis, share * angle) for share in np.linspace(0.0, 1.0, 49)]
    return Stage(
        camera=StageCamera(-35.0, 26.0, radius=2.3),
        switches=(),
        off=("omega", "L", "trailOmega", "bodyAxes"),
        panels=("quaternion", "angular_velocity_world"),
        props=(
            StageArrow((0.0, 0.0, 0.0), 2.0 * target / np.linalg.norm(target), label="target", color="axis1"),
            StageArrow((1.0, 0.0, 0.0), (0.75, 0.0, 0.0), label="long side", attached="body", color="axis3"),
            AxisLine(axis, (0.0, 0.0, 0.0), 3.6, label="axis of rotation", color="ink"),
            Polyline(arc, dashed=True, color="axis3"),
        ),
        shows="A long box turns about an axis that is normal to its side and to the target until it points at it.",
        moment=0.6,
    )


MODEL = Model(
    name="quaternion-rotation",
    title="A quaternion points a box in a given direction",
    theme="transformations and rotations",
    source="[Christian 2011, section 17.3.3, exercises 17.8 to 17.10, eqs. 17.25 to 17.28]",
    explanation=(
        "Which rotation points the long side of a box, along x, at a target? The axis is normal to both, the angle\n"
        "lies between them, and q = (cos a/2, r sin a/2). Four formulas agree to the last digit, and a box spinning\n"
        "about that axis arrives there. With a quaternion of another norm, q v q* rotates and scales by the square\n"
        "of the norm, and the matrix (17.28) distorts; a zero quaternion is rejected. The angle is recovered with\n"
        "atan2: acos loses half the digits of small angles, and finally all of them."
    ),
    parameters=(
        Parameter("target_x", "1", 1.0, -3.0, 3.0, "x of the target direction, any length"),
        Parameter("target_y", "1", 2.0, -3.0, 3.0, "y of the target direction"),
        Parameter("target_z", "1", 1.0, 0.1, 3.0, "z of the target direction"),
        Parameter("last", "1", 1.0, -3.0, 3.0, "k of a non-unit quaternion (1, 0, 0, k)"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=stage,
    lesson=Lesson(
        formulas=(
            Formula(
                r"q = \left(\cos\frac{\alpha}{2},\ \mathbf{r}\sin\frac{\alpha}{2}\right)",
                "the quaternion of a rotation by α about the unit vector r",
            ),
            Formula(r"\mathbf{v}' = q\,\mathbf{v}\,q^*", "it rotates a vector"),
            Formula(
                r"\alpha = 2\arctan\frac{\lvert\mathbf{q}\rvert}{q_0}", "and gives the angle without losing digits"
            ),
        ),
        steps=(
            TryThis("The shortest rotation points the long side at (1, 2, 1)."),
            TryThis(
                "Straight up: a quarter turn about the y axis.",
                values={"target_x": 0.0, "target_y": 0.0, "target_z": 1.0},
            ),
            TryThis(
                "A target almost behind: nearly half a turn, 178 degrees.",
                values={"target_x": -3.0, "target_y": 0.0, "target_z": 0.1},
            ),
        ),
        references=("Christian 2011, section 17.3.3",),
    ),
)
