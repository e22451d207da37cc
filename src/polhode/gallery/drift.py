"""Orthogonality drift of the attitude: a matrix, a quaternion, and a renormalized quaternion."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from polhode.equations.scalar_ops import nearest_integer
from polhode.gallery.closed_forms.runge_kutta_rotation import rk4_norm_loss
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.pictures import Closed, Curves, DrawPanel, Line, panels, space
from polhode.massprops.shapes import box
from polhode.results.motion import Motion
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.validation import Array
from polhode.web.props import AxisLine, Polygon
from polhode.web.stage import Stage

MATRIX, RAW, RENORMALIZED = "matrix", "quaternion, not renormalized", "quaternion, renormalized"
SQUARE = ((-1, -1), (1, -1), (1, 1), (-1, 1))
SIDES = (1.0, 1.0, 0.5)
FRAMES = 200
DRAWN_LOSS = 0.3
"""Fraction by which the drawing shrinks the box of the matrix."""
FLOOR = 1e-17
"""Where a drift of exactly 0 is drawn on a logarithmic axis."""


def scenario(turn: float, steps: float) -> dict[str, Scenario]:
    """A spin about a fixed axis at 1 rad/s in steps of `turn`, with three representations of the attitude."""
    count = nearest_integer(steps)
    settings: dict[str, Any] = {
        "duration": turn * count,
        "step": turn,
        "method": "rk4",
        "output_times": [turn * nearest_integer(count * k / FRAMES) for k in range(FRAMES + 1)],
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
        check(
            f"drift of the matrix{after}",
            "1",
            matrix,
            by_matrix,
            1e-9 * by_matrix + rounding,
            f"{formula}; p = angle per step",
        ),
        check(
            f"drift of the quaternion, not renormalized{after}",
            "1",
            quaternion,
            by_quaternion,
            1e-9 * by_quaternion + rounding,
            f"{formula}; p = half the angle per step",
        ),
        check(
            "norm error of the renormalized quaternion",
            "1",
            np.abs(unit - 1).max(),
            0.0,
            1e-15,
            "1 again after every step",
            size=by_quaternion,
        ),
        check(
            "ratio of matrix drift to quaternion drift",
            "1",
            matrix / quaternion,
            ratio,
            ratio * (2e-9 + 2 * rounding / by_quaternion),
            "close to 2^6 = 64 for small drift: half the angle in p^6",
        ),
    ]


@panels("AABBCC;DDDEEE", heights=(1.25, 1.0))
def picture(motions: Mapping[str, Motion], turn: float, steps: float) -> list[DrawPanel]:
    """The drift over time, its effect on a box, and its growth with the angle per step."""
    count, angles, done = round(steps), np.geomspace(0.02, 0.5, 200), motions[MATRIX].times / turn
    closed = np.stack([rk4_norm_loss(angle, done) for angle in (turn, turn / 2)], axis=1)
    enlarged = max(DRAWN_LOSS / float(rk4_norm_loss(turn, count)), 1.0)
    words = f"shrinkage exaggerated {enlarged:,.0f} times" if enlarged > 1 else "to scale"
    return [
        _shrunk_box(motions, MATRIX, "matrix: narrower across the axis", enlarged, words),
        _shrunk_box(motions, RAW, "quaternion: smaller on all sides", enlarged, words),
        _shrunk_box(motions, RENORMALIZED, "renormalized: the true box", enlarged, "nothing to exaggerate"),
        Curves(
            "drift over time",
            "largest entry of |RᵀR - 1|",
            [Line(np.maximum(orthogonality_error(motion), FLOOR), name) for name, motion in motions.items()],
            Closed(np.maximum(closed, FLOOR)),
            motions[MATRIX],
            log="y",
            y=(FLOOR, 30.0),
            legend=(2, 2),
        ),
        Curves(
            f"drift after {count:,} steps",
            "largest entry of |RᵀR - 1|",
            [
                Line(orthogonality_error(motions[name])[-1:], name, k, "o", [turn])
                for k, name in enumerate((MATRIX, RAW))
            ],
            Closed(np.stack([rk4_norm_loss(share * angles, count) for share in (1.0, 0.5)], axis=1), x=angles),
            across="angle per step (rad)",
            log="xy",
            x_ticks=(0.02, 0.05, 0.1, 0.2, 0.5),
            legend="lower right",
        ),
    ]


def orthogonality_error(motion: Motion) -> Array:
    """The largest entry of |R^T R - 1| at each output; for a quaternion ||q|^2 - 1|, before it is renormalized."""
    if motion.scenario.form.keeps_matrix:
        return motion.attitude_drift
    return np.asarray(np.abs((motion.quaternion_wxyz**2).sum(axis=-1) - 1))


def _shrunk_box(motions: Mapping[str, Motion], name: str, title: str, enlarged: float, words: str) -> DrawPanel:
    """The box drawn with the computed attitude, its shrinkage exaggerated, and the edges of the true box."""
    scene, rotation = space(0.5, 0.5), motions[RENORMALIZED].rotation_matrix[-1]
    corners = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.25, 0.25)])
    squared = 1 - min(enlarged * float(orthogonality_error(motions[name])[-1]), 0.95)
    size = np.sqrt(squared) * np.array((1.0, 1.0, 0.0)) + (0, 0, 1.0) if name == MATRIX else np.full(3, squared)
    scene.body(box(SIDES, 1.0), rotation=rotation @ np.diag(size), color=list(motions).index(name))
    for a, b in combinations(corners, 2):
        if np.count_nonzero(a != b) == 1:
            ends = np.linspace(a, b, 25) @ rotation.T
            scene.line(scene.toward(ends, 0.004), "muted", width=1.0)
    scene.text((0.0, 0.0, -0.75), words, "muted")
    return scene.panel(title)


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
    explanation="""\
A box spins about a fixed axis, and its attitude is integrated by RK4, once as a matrix of nine numbers,
twice as a quaternion of four. Every step shrinks the rotating part slightly: the matrix becomes narrower
across the axis, so that a box drawn with it shrinks. The quaternion rotates by half the angle and loses
about 2^6 = 64 times less; and it has only one error of this kind, its norm, which dividing by |q| after
each step removes. The drift follows a closed form exactly.""",
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
                "Half a radian per step: in 10,000 steps the matrix shrinks across the axis to about a third.",
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
