"""Orthogonality drift of the attitude: a matrix, a quaternion, and a renormalized quaternion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.gallery.closed_forms.runge_kutta_rotation import rk4_norm_loss
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.massprops.shapes import box
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.web.props import AxisLine, Polygon
from polhode.web.stage import Stage

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from polhode.results.motion import Motion

MATRIX, RAW, RENORMALIZED = "matrix", "quaternion, not renormalized", "quaternion, renormalized"
SQUARE = ((-1, -1), (1, -1), (1, 1), (-1, 1))
SIDES = (1.0, 1.0, 0.5)
FRAMES = 200
DRAWN_LOSS = 0.3
"""Fraction by which the drawing shrinks the box of the matrix."""


def scenario(turn: float, steps: float) -> dict[str, Scenario]:
    """A spin about a fixed axis at 1 rad/s in steps of `turn`, with three representations of the attitude."""
    count = round(steps)
    settings: dict[str, Any] = {
        "duration": turn * count,
        "step": turn,
        "method": "rk4",
        "output_times": turn * np.unique(np.linspace(0, count, FRAMES + 1).round()),
    }
    body, state = box(SIDES, 1.0), State(angular_velocity_body=(0.0, 0.0, 1.0))
    return {
        MATRIX: Scenario(body, state, formulation="momentum_matrix", name="drift", **settings),
        RAW: Scenario(body, state, renormalize=False, name="drift", **settings),
        RENORMALIZED: Scenario(body, state, name="drift", **settings),
    }


def numbers(motions: Mapping[str, Motion], turn: float, steps: float) -> list[ReferenceCheck]:
    """The final drift."""
    count = round(steps)
    by_matrix, by_quaternion = (float(rk4_norm_loss(angle, count)) for angle in (turn, turn / 2))
    matrix = float(motions[MATRIX].attitude_drift[-1])
    length = np.linalg.norm(motions[RAW].quaternion_wxyz[-1])
    quaternion = float((1 - length) * (1 + length))
    unit = np.linalg.norm(motions[RENORMALIZED].quaternion_wxyz, axis=1)
    rounding, after = 2e-16 * count, "" if count == steps else f", {count} steps"
    formula = "1 - (1 - p^6/72 + p^8/576)^N, RK4's amplification of a steady rotation"
    ratio = by_matrix / by_quaternion
    return [
        ReferenceCheck(
            f"drift of the matrix{after}",
            "1",
            matrix,
            by_matrix,
            1e-9 * by_matrix + rounding,
            f"{formula}; p = angle per step",
        ),
        ReferenceCheck(
            f"drift of the quaternion, not renormalized{after}",
            "1",
            quaternion,
            by_quaternion,
            1e-9 * by_quaternion + rounding,
            f"{formula}; p = half the angle per step",
        ),
        ReferenceCheck(
            "norm error of the renormalized quaternion",
            "1",
            float(np.abs(unit - 1).max()),
            0.0,
            1e-15,
            "1 again after every step",
            size=by_quaternion,
        ),
        ReferenceCheck(
            "ratio of matrix drift to quaternion drift",
            "1",
            matrix / quaternion,
            ratio,
            ratio * (2e-9 + 2 * rounding / by_quaternion),
            "close to 2^6 = 64 for small drift: half the angle in p^6",
        ),
    ]


def picture(motions: Mapping[str, Motion], turn: float, steps: float) -> Figure:
    """The drift over time, its effect on a box, and its growth with the angle per step."""
    from polhode.gallery.drawing.attitude_drift import draw_attitude_drift
    from polhode.plot.style import draw_closed_form, styled_figure

    with styled_figure(12.0, 8.0, MODEL.title) as figure:
        halves: Any = figure.subfigures(2, 1, height_ratios=(1.0, 1.06))
        above, below = halves
        _draw_boxes(above.subplots(1, 3), motions, float(rk4_norm_loss(turn, round(steps))))
        over_time, over_angle = below.subplots(1, 2)
        done = motions[MATRIX].times / turn
        for angle in (turn, turn / 2):
            closed = np.maximum(rk4_norm_loss(angle, done), 1e-17)
            draw_closed_form(over_time, motions[MATRIX].times, closed, "")
        draw_attitude_drift(over_time, motions)
        over_time.set_title("drift over time; broad: closed form")
        over_time.set_ylim(1e-17, 30.0)
        _draw_drift_against_angle(over_angle, motions, turn, round(steps))
    return figure


def _draw_boxes(panels: Any, motions: Mapping[str, Motion], loss: float) -> None:
    """The box drawn with the computed attitude, its shrinkage exaggerated, and the edges of the true box."""
    from polhode.plot.scene import Scene, world_camera
    from polhode.plot.style import COLOR_CYCLE, COLORS

    enlarged = max(DRAWN_LOSS / loss, 1.0)
    titles = ("matrix: narrower across the axis", "quaternion: smaller on all sides", "renormalized: the true box")
    body = box(SIDES, 1.0)
    corners = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.25, 0.25)])
    edges = [(a, b) for a in range(8) for b in range(a) if np.count_nonzero(corners[a] != corners[b]) == 1]
    for axes, name, title, color in zip(panels, (MATRIX, RAW, RENORMALIZED), titles, COLOR_CYCLE, strict=False):
        scene, motion = Scene(world_camera(0.5, 0.5)), motions[name]
        rotation = motions[RENORMALIZED].rotation_matrix[-1]
        squared = 1 - min(enlarged * _size_loss(motion), 0.95)
        size = np.sqrt(squared) * np.array((1.0, 1.0, 0.0)) + (0, 0, 1.0) if name == MATRIX else np.full(3, squared)
        scene.body(body, rotation=rotation @ np.diag(size), color=color)
        for a, b in edges:
            ends = corners[[a, b]] @ rotation.T + 0.004 * scene.camera.eye
            scene.line(np.linspace(ends[0], ends[1], 25), COLORS["muted"], width=1.0)
        scene.draw(axes, title)
    panels[0].text(
        0.0,
        -0.02,
        f"shrinkage exaggerated {enlarged:,.0f} times" if enlarged > 1 else "to scale",
        transform=panels[0].transAxes,
        color=COLORS["muted"],
        fontsize=9,
    )


def _size_loss(motion: Motion) -> float:
    from polhode.gallery.drawing.attitude_drift import orthogonality_error

    return float(orthogonality_error(motion)[-1])


def _draw_drift_against_angle(axes: Axes, motions: Mapping[str, Motion], turn: float, count: int) -> None:
    """The closed form against the angle per step, with the two simulated drifts."""
    from polhode.plot.log_axes import set_log_x, set_log_y
    from polhode.plot.style import COLOR_CYCLE, draw_closed_form

    angles = np.geomspace(0.02, 0.5, 200)
    for name, share, color in ((MATRIX, 1.0, COLOR_CYCLE[0]), (RAW, 0.5, COLOR_CYCLE[1])):
        draw_closed_form(axes, angles, rk4_norm_loss(share * angles, count), "closed form" if share < 1 else "")
        axes.plot(turn, _size_loss(motions[name]), marker="o", color=color, linestyle="none", label=name)
    set_log_x(axes, (0.02, 0.05, 0.1, 0.2, 0.5))
    set_log_y(axes)
    axes.set_title(f"drift after {count:,} steps")
    axes.set_xlabel("angle per step (rad)")
    axes.set_ylabel("largest entry of |RᵀR - 1|")
    axes.legend(loc="lower right")


def stage(turn: float, steps: float, run: str = MATRIX) -> Stage:
    """The spinning box, and its upper face as the attitude at the end draws it: narrower by what the norm has lost."""
    angle = {MATRIX: turn, RAW: turn / 2}.get(run)
    loss = 0.0 if angle is None else float(rk4_norm_loss(angle, round(steps)))
    width = (1 - loss) ** (0.5 if run == MATRIX else 1.0)
    half = np.array(SIDES) / 2
    corners = [(sx * width * half[0], sy * width * half[1], 1.01 * half[2]) for sx, sy in SQUARE]
    words = "keeps its size" if angle is None else f"{100 * (1 - width):.2g} % narrower at the end"
    return Stage(
        off=("L", "trailOmega"),
        switches=("trailAxis1",),
        panels=("drift", "quaternion", "angular_velocity_world"),
        props=(AxisLine((0.0, 0.0, 1.0), label="axis"), Polygon(corners, label=words, attached="body", color="impact")),
        shows="A box spins about a fixed axis; its upper face is outlined as the drifted attitude would draw it.",
    )


MODEL = Model(
    name="drift",
    title="A matrix drifts away from a rotation; a quaternion drifts less and is easily renormalized",
    theme="forces and torques",
    source="[Baraff 1997, section 4]",
    explanation=(
        "A box spins about a fixed axis, and its attitude is integrated by RK4, once as a matrix of nine numbers,\n"
        "twice as a quaternion of four. Every step shrinks the rotating part slightly: the matrix becomes narrower\n"
        "across the axis, so that a box drawn with it shrinks. The quaternion rotates by half the angle and loses\n"
        "about 2^6 = 64 times less; and it has only one error of this kind, its norm, which dividing by |q| after\n"
        "each step removes. The drift follows a closed form exactly."
    ),
    parameters=(
        Parameter("turn", "rad", 0.1, 0.02, 0.5, "rotation angle per step"),
        Parameter("steps", "1", 10_000.0, 1000.0, 20_000.0, "number of steps, rounded to an integer"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=stage,
    lesson=Lesson(
        formulas=(
            Formula(
                r"\lvert P(i\varphi)\rvert \approx 1 - \frac{\varphi^6}{144}",
                "what one step of RK4 leaves of the length of a vector that it turns by φ",
            ),
            Formula(
                r"\frac{\varphi^6}{144} : \frac{(\varphi/2)^6}{144} = 64 : 1", "a quaternion turns by half the angle"
            ),
        ),
        steps=(
            TryThis(
                ("Half a radian per step: in 10,000 steps the matrix shrinks across the axis to about a third."),
                values={"turn": 0.5},
                run="matrix",
            ),
            TryThis(
                "The same steps with a quaternion: its norm falls by about 2 percent.",
                values={"turn": 0.5},
                run="quaternion, not renormalized",
            ),
            TryThis(
                "Divided by its norm after each step, it stays a rotation.",
                values={"turn": 0.5},
                run="quaternion, renormalized",
            ),
        ),
        references=("Baraff 1997, section 4", "Hairer et al. 2006"),
    ),
)
