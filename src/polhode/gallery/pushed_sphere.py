"""A sphere is pushed off center, and Euler's method takes two steps: the exercise of [Slides]."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.equations.scalar_ops import cos as cosine
from polhode.equations.scalar_ops import sin as sine
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.plain_formulas import radians as plain_radians
from polhode.massprops.shapes import sphere
from polhode.scenario.forces import STANDARD_GRAVITY, gravity, thruster
from polhode.scenario.scenario import Scenario
from polhode.validation import Array
from polhode.web.props import PointsCloud, StageArrow
from polhode.web.stage import Stage, StageCamera

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from polhode.results.motion import Motion

STEPS = 12
HALVINGS = 4


def _push_force(push: float, angle: float) -> Array:
    return np.array((push * cosine(plain_radians(angle)), push * sine(plain_radians(angle)), 0.0))


def _turn_per_step(push: float, angle: float, step: float) -> float:
    """omega h in every step after the first: (5/2) F_y h^2 clockwise, from L = p x F h and I = 2/5."""
    return 5 / 2 * float(_push_force(push, angle)[1]) * step**2


def scenario(step: float, push: float, angle: float, g: float) -> dict[str, Scenario]:
    """Twelve Euler steps with the push during the first and gravity along -y; then two steps each at halved sizes."""
    runs = {"the exercise": (step, STEPS)} | {f"step / {2**n}": (step / 2**n, 2) for n in range(1, HALVINGS + 1)}
    return {
        name: Scenario(
            sphere(1.0, mass=1.0),
            forces=[
                gravity((0.0, -g, 0.0)),
                thruster((-1.0, 0.0, 0.0), _push_force(push, angle), push, start=0.0, stop=h),
            ],
            duration=count * h,
            step=h,
            output_times=np.arange(count + 1) * h,
            method="euler",
            formulation="momentum_matrix",
            name=f"pushed-sphere, {name}",
        )
        for name, (h, count) in runs.items()
    }


def numbers(motions: Mapping[str, Motion], step: float, push: float, angle: float, g: float) -> list[ReferenceCheck]:
    """Position and matrix after two steps, and the deviation of the matrix from a rotation."""
    motion = motions["the exercise"]
    place, matrix = motion.position[2], motion.rotation_matrix[2]
    expected = step**2 * (_push_force(push, angle) - np.array((0.0, g, 0.0)))
    size, turn = step**2 * (push + g), _turn_per_step(push, angle, step)
    swelling = float(np.linalg.det(matrix)) - 1
    deviations = [float(np.abs(m.T @ m - np.eye(3)).max()) for m in (m.rotation_matrix[2] for m in motions.values())]
    order = float(np.log2(deviations[0] / deviations[1]))
    off = float(np.abs(matrix - np.array(((1, turn, 0), (-turn, 1, 0), (0, 0, 1)))).max())
    return [
        ReferenceCheck(
            "x after two steps", "m", float(place[0]), float(expected[0]), 1e-14 * size, "h^2 F cos(angle)", size
        ),
        ReferenceCheck(
            "y after two steps", "m", float(place[1]), float(expected[1]), 1e-14 * size, "h^2 (F sin(angle) - g)", size
        ),
        ReferenceCheck("R₁₂ after two steps", "1", float(matrix[0, 1]), turn, 1e-14 * turn, "(5/2) F sin(angle) h^2"),
        ReferenceCheck("R₂₁ after two steps", "1", float(matrix[1, 0]), -turn, 1e-14 * turn, "-(5/2) F sin(angle) h^2"),
        ReferenceCheck("largest entry error of R", "1", off, 0.0, 1e-15, "R = 1 + h omega*", turn),
        ReferenceCheck("det R - 1 after two steps", "1", swelling, turn**2, 2e-15, "((5/2) F sin(angle) h^2)^2"),
        ReferenceCheck(
            "power of h in |RᵀR - 1|", "1", order, 4.0, 1e-3, "omega h grows as h^2, |R^T R - 1| as its square"
        ),
    ]


def picture(motions: Mapping[str, Motion], step: float, push: float, angle: float, g: float) -> Figure:
    """The push, the path of the center, the image of the x axis under R, and its deviation from a rotation."""
    from polhode.plot.style import styled_figure

    motion = motions["the exercise"]
    with styled_figure(11.5, 7.6, MODEL.title) as figure:
        (body, way), (equator, departure) = figure.subplots(2, 2, width_ratios=(1, 1.3))
        _draw_sphere(body, push, angle, g)
        _draw_center_path(way, motion, step, _push_force(push, angle), g)
        _draw_equator(equator, motion)
        _draw_departure(departure, motions, _turn_per_step(push, angle, 1.0))
    return figure


def _draw_sphere(axes: Axes, push: float, angle: float, g: float) -> None:
    """The sphere, the push at (-1, 0, 0), and the weight of 1 kg, both arrows to the same scale."""
    from polhode.gallery.drawing.force_arrows import draw_force as draw_push
    from polhode.gallery.drawing.force_arrows import move_toward_camera
    from polhode.plot.projection import make_camera
    from polhode.plot.scene import Scene
    from polhode.plot.style import AXIS_COLORS, COLORS

    scene = Scene(make_camera((1, 0, 0), (0, 1, 0), 0.18, 0.25))
    scene.body(sphere(1.0, mass=1.0), half=0, segments=32)
    scale = min(0.3, 2.4 / max(push, g))
    draw_push(
        scene, move_toward_camera(scene, (-1.0, 0.0, 0.0), 3.0), scale * _push_force(push, angle), f"F = {push:.3g} N"
    )
    scene.text((-1.0, 0.0, 0.0), "p", COLORS["ink"], (7.0, 5.0))
    if g > 0:
        weight = (0.0, -scale * g, 0.0)
        scene.arrow(move_toward_camera(scene, (0.0, 0.0, 0.0), 3.0), weight, COLORS["weight"], f"m g = {g:.3g} N")
    for i, name in enumerate("xy"):
        scene.arrow(1.05 * np.eye(3)[i], 0.55 * np.eye(3)[i], AXIS_COLORS[i], name)
    scene.draw(axes, f"push at {angle:.3g}° to x, during the first step")


def _draw_center_path(axes: Axes, motion: Motion, step: float, push: Array, g: float) -> None:
    """The center in Euler steps, with the exact motion."""
    from polhode.plot.style import COLORS, add_legend_above, draw_closed_form

    t = np.linspace(0.0, float(motion.times[-1]), 200)
    pushed = np.where(t < step, t**2 / 2, step * (t - step / 2))
    closed = pushed[:, None] * push + t[:, None] ** 2 / 2 * np.array((0.0, -g, 0.0))
    draw_closed_form(axes, closed[:, 0], closed[:, 1], "exact motion")
    steps = motion.position
    axes.plot(steps[:, 0], steps[:, 1], color=COLORS["translational"], marker="o", markersize=4, label="Euler")
    axes.plot(*steps[2, :2], marker="o", markersize=9, markerfacecolor="none", markeredgecolor=COLORS["ink"])
    axes.set_title(f"center: x₂ = ({steps[2, 0]:.4g}, {steps[2, 1]:.4g}, 0) m")
    axes.set_xlabel("x (m)")
    axes.set_ylabel("y (m)")
    add_legend_above(axes, 2)


def _draw_equator(axes: Axes, motion: Motion) -> None:
    """Image of the body's x axis under R: along tangents of the unit circle, and therefore off it."""
    from polhode.plot.style import AXIS_COLORS, draw_closed_form

    around = np.linspace(0, 2 * np.pi, 721)
    tips = motion.rotation_matrix[1:, :2, 0]
    draw_closed_form(axes, np.cos(around), np.sin(around), "unit circle")
    axes.plot(tips[:, 0], tips[:, 1], color=AXIS_COLORS[0], marker="o", markersize=4)
    for n in (1, 2, STEPS):
        outwards = tuple((11 * tips[n - 1] / np.hypot(*tips[n - 1])).tolist())
        look: Any = {"textcoords": "offset points", "fontsize": 9, "ha": "center", "va": "center"}
        axes.annotate(f"{n}", tips[n - 1], xytext=outwards, **look)
    middle, half = (tips.max(axis=0) + tips.min(axis=0)) / 2, 0.62 * float(np.ptp(tips, axis=0).max())
    axes.set_xlim(middle[0] - half, middle[0] + half)
    axes.set_ylim(middle[1] - half, middle[1] + half)
    length = float(np.hypot(*tips[-1]))
    axes.set_title(f"tip of R eₓ, {STEPS} steps: length {length:.5g}")
    axes.set_aspect("equal")
    axes.set_xlabel("x (m)")
    axes.set_ylabel("y (m)")


def _draw_departure(axes: Axes, motions: Mapping[str, Motion], turn: float) -> None:
    """|R^T R - 1| after two steps against h."""
    from polhode.plot.log_axes import set_log_x, set_log_y
    from polhode.plot.style import COLORS, draw_closed_form

    steps = np.array([m.scenario.needed_step for m in motions.values()])
    second = [m.rotation_matrix[2] for m in motions.values()]
    found = [float(np.abs(r.T @ r - np.eye(3)).max()) for r in second]
    draw_closed_form(axes, steps, (turn * steps**2) ** 2, "(5/2 F sin a)² h⁴")
    axes.plot(steps, found, color=COLORS["omega"], marker="o", markersize=5, label="simulated")
    axes.set_title("loss of orthogonality |RᵀR - 1|")
    axes.set_xlabel("step h (s)")
    axes.set_ylabel("largest entry after two steps")
    set_log_x(axes, steps.tolist())
    set_log_y(axes)
    axes.legend(loc="upper left")


def stage(step: float, push: float, angle: float, g: float) -> Stage:
    """The push during the first step, and the center after every step of Euler's method."""
    force, pull = _push_force(push, angle), np.array((0.0, -g, 0.0))
    place, velocity, centers = np.zeros(3), np.zeros(3), [np.zeros(3)]
    for k in range(STEPS):
        place, velocity = place + step * velocity, velocity + step * (pull + (force if k == 0 else 0.0))
        centers.append(place)
    arrow = 1.2 * force / np.linalg.norm(force)
    return Stage(
        camera=StageCamera(-90.0, 14.0, zoom=0.85, up=(0.0, 1.0, 0.0)),
        off=("L", "forces", "trailOmega", "bodyAxes"),
        panels=("position", "velocity", "drift"),
        props=(
            StageArrow((-1.0, 0.0, 0.0) - arrow, arrow, label="push", color="impact", until=1.5 * step),
            PointsCloud(centers, step * np.arange(STEPS + 1), 7.0, color="ink"),
        ),
        floor=False,
        shows="A sphere is pushed off center, falls and spins; dots mark its center after each step.",
    )


MODEL = Model(
    name="pushed-sphere",
    title="A sphere is pushed off center: two steps of Euler's method by hand and by machine",
    theme="forces and torques",
    source="[Slides, last exercise]",
    explanation=(
        "A sphere of 1 kg and radius 1 m rests at the origin. During the first time step a force F pushes it at\n"
        "p = (-1, 0, 0), and gravity acts along -y. After Euler's second step the center is at\n"
        "h^2 (4 cos 30, 2 - g, 0), and the matrix is R = 1 + h omega*, with 5 h^2 and -5 h^2 off its diagonal.\n"
        "This is not a rotation: its determinant is 1 + 25 h^4. Each step moves along the tangent and leaves the\n"
        "rotation group outwards, so the sphere grows; halving the step divides the error after two steps by 16."
    ),
    parameters=(
        Parameter("step", "s", 0.1, 0.005, 0.2, "h, the time step"),
        Parameter("push", "N", 4.0, 1.0, 8.0, "F, during the first step only"),
        Parameter("angle", "deg", 30.0, 5.0, 85.0, "direction of the push, from x toward y"),
        Parameter("g", "m/s2", STANDARD_GRAVITY, 0.0, 25.0, "gravity, along -y"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=stage,
    lesson=Lesson(
        formulas=(
            Formula(r"R_{k+1} = R_k + h\,\omega^* R_k", "Euler's step for the rotation matrix"),
            Formula(r"\det R = 1 + 25 h^4", "after two steps: no rotation any more"),
        ),
        steps=(
            TryThis("Two steps by hand, and ten more by machine.", run="the exercise"),
            TryThis(
                "A step of 0.2 s: the determinant is 1.04, and the sphere has grown by 4 percent.",
                values={"step": 0.2},
                run="the exercise",
            ),
            TryThis("Without gravity only the push remains.", values={"g": 0.0}, run="the exercise"),
        ),
        references=("Slides",),
    ),
)
