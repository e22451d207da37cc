"""Affine transformations of the plane: rotation, scaling, skew and translation, and why their order matters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from polhode import affine
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.pictures import Arrow, Closed, Curves, Line, Note, Outline, panels
from polhode.gallery.plain_formulas import radians
from polhode.gallery.shared import rk4_settings
from polhode.massprops.shapes import prism
from polhode.results.motion import Motion
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.validation import Array
from polhode.web.props import Polygon, Text
from polhode.web.stage import Stage, StageCamera

CORNERS = np.array([(1.0, 0.5), (3.0, 0.5), (3.0, 1.3), (1.8, 1.3), (1.8, 2.5), (1.0, 2.5)])
THICKNESS = 0.05
MASS = 1.0
FRAMES = 200
STEPS_PER_FRAME = 10
FLATTENED = {"A": (((0.9, -0.5), (0.35, 0.8)), (-1.6, 0.2)), "B": (((0.8, 0.4), (0.4, 0.2)), (1.0, -2.4))}
"""Two matrices, of which the second is singular, and where the images go."""


def _corners_from_com() -> Array:
    """Corners relative to the center of mass, in m: (n, 3)."""
    center = prism(CORNERS, THICKNESS, mass=MASS).center_of_mass
    return np.column_stack((CORNERS - center[:2], np.zeros(len(CORNERS))))


def scenario(angle: float, stretch: float, skew: float, shift_x: float, shift_y: float) -> Scenario:
    """An L-shaped plate that rotates clockwise about its inner corner, by the angle in one second."""
    arm = _corners_from_com()[0]
    return Scenario(
        prism(CORNERS, THICKNESS, mass=MASS),
        State(position=(*CORNERS[0], 0.0) - arm, angular_velocity=(0.0, 0.0, -radians(angle))),
        pivot=tuple(arm.tolist()),
        **rk4_settings(1.0, FRAMES, STEPS_PER_FRAME),
        name="affine-2d",
    )


def numbers(
    motion: Motion, angle: float, stretch: float, skew: float, shift_x: float, shift_y: float
) -> list[ReferenceCheck]:
    """Final position of the far corner, and the commutators of transformations with the simulated rotation R."""
    turn = np.eye(3)
    turn[:2, :2] = motion.rotation_matrix[-1, :2, :2]
    scale, move = affine.scaling((stretch, 1.0)), affine.translation((shift_x, shift_y))
    s = np.sin(np.radians(angle))
    places = affine.point(CORNERS)
    formula = affine.applied(affine.about(affine.rotation(-np.radians(angle)), CORNERS[0]), places)
    far = motion.points(_corners_from_com())[-1, 1]
    swapped = affine.combined(scale, turn) - affine.combined(turn, scale)
    moved = affine.applied(affine.combined(turn, move), places) - affine.applied(affine.combined(move, turn), places)
    fixed_point = np.linalg.solve(np.eye(2) - turn[:2, :2], (shift_x, shift_y))
    half = np.tan(np.radians(angle) / 2)
    shift = float(np.hypot(shift_x, shift_y))
    arrow = affine.vector((1.0, 0.5))
    skewed = affine.applied(affine.skew(skew), places)
    about = "T(p) R T(-p) [Christian 2011, exercise 17.2]"
    rows = [
        ("x of the far corner, final", "m", far[0], formula[1, 0], 3.0, about),
        ("y of the far corner, final", "m", far[1], formula[1, 1], 3.0, about),
        ("RS - SR, row 1, column 2", "1", swapped[0, 1], s * (1 - stretch), stretch, "(1 - s_x) sin(angle)"),
        ("RS - SR, row 2, column 1", "1", swapped[1, 0], s * (1 - stretch), stretch, "(1 - s_x) sin(angle)"),
        (
            "distance between the images under T(d)R and RT(d)",
            "m",
            np.hypot(*moved[0, :2]),
            2 * np.sin(np.radians(angle) / 2) * shift,
            shift,
            "abs((1 - R) d) = 2 abs(d) sin(angle/2)",
        ),
        (
            "x of the fixed point of rotation and translation",
            "m",
            fixed_point[0],
            (shift_x + shift_y / half) / 2,
            shift / half,
            "(1 - R)^-1 d = (d + cot(angle/2) (d_y, -d_x))/2",
        ),
        (
            "area ratio under the skew",
            "1",
            _polygon_area(skewed[:, :2]) / _polygon_area(CORNERS),
            1.0,
            1.0,
            "determinant of the matrix [Christian 2011, eq. 17.6]",
        ),
        (
            "change of a vector under T(d)",
            "m",
            np.abs(affine.applied(move, arrow) - arrow).max(),
            0.0,
            shift,
            "w = 0 [Christian 2011, section 17.1]",
        ),
    ]
    return [
        check(label, unit, found, expected, 2e-12 * size, source, size=size)
        for label, unit, found, expected, size, source in rows
    ]


def _polygon_area(corners: Array) -> float:
    """Area of a counterclockwise polygon, in m2."""
    x, y = corners.T
    return float(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2


@panels("ABC;DEF", size=(12.0, 7.6))
def picture(motion: Motion, angle: float, stretch: float, skew: float, shift_x: float, shift_y: float) -> list[Curves]:
    """Plate and vector before and after: rotated about the origin and a corner, scaled, skewed, shifted, flattened."""
    a, arrow, before = np.radians(angle), np.array((-1.2, 0.5)), Outline(CORNERS, "before", filled=False)
    turn, scale = affine.rotation(-a), affine.scaling((stretch, 1.0))
    move, slant = affine.translation((shift_x, shift_y)), affine.skew(skew)
    about, halfway = affine.about(turn, CORNERS[0]), affine.applied(affine.rotation(-a / 2), affine.point(CORNERS[1]))

    def image(matrix: Array) -> Array:
        return np.asarray(affine.applied(matrix, affine.point(CORNERS))[:, :2])

    def arrows(matrix: Array) -> list[Arrow]:
        return [
            Arrow((0, 0), arrow, "muted", "w = 0"),
            Arrow((0, 0), affine.applied(matrix, affine.vector(arrow))[:2], 0),
        ]

    def plane(title: str, *shapes: Outline, **options: Any) -> Curves:
        look: Any = {"across": "x (m)", "equal": "datalim", "levels": (0.0,), "marks": (0.0,), "legend": "best"}
        return Curves(title, "y (m)", shapes=(before, *shapes), **(look | options))

    paths = motion.points(_corners_from_com())[..., :2]
    steps = [Outline(paths[k], "", 0, alpha=0.12) for k in (len(paths) // 3, 2 * len(paths) // 3)]
    circles = np.array([image(affine.about(affine.rotation(-x), CORNERS[0])) for x in np.linspace(0, a, 60)])
    ends = image(affine.combined(turn, move)), image(affine.combined(move, turn))
    slope = f"x + {skew:g} y" if skew >= 0 else f"x - {-skew:g} y"
    return [
        plane(
            f"rotated by {angle:g}° clockwise, (17.1)",
            Outline(image(turn), "after", 0),
            arrows=arrows(turn),
            lines=_arc(CORNERS[1], -a),
            notes=[Note(0.62 * halfway[:2], f"{angle:g}°", align=("center", "center"))],
        ),
        plane(
            "about a corner: T(p) R T(-p)",
            *steps,
            Outline(paths[-1], "simulated", 0),
            closed=[Closed(circles[:, k, 1], "closed form" if k == 1 else "", circles[:, k, 0]) for k in (1, 5)],
            lines=[Line(paths[:, k, 1], "", "ink", x=paths[:, k, 0], width=1.0) for k in (1, 5)],
            arrows=arrows(about),
        ),
        plane(f"skewed, (17.6): {slope}", Outline(image(slant), "after", 0), arrows=arrows(slant)),
        plane(
            f"rotated (R) and scaled by {stretch:g} (S)",
            Outline(image(affine.combined(scale, turn)), "RS: S first", 0),
            Outline(image(affine.combined(turn, scale)), "SR: R first", 1),
        ),
        plane(
            f"rotated (R), translated by d = ({shift_x:g}, {shift_y:g}) m (T)",
            Outline(ends[0], "TR: R first", 0),
            Outline(ends[1], "RT: T first", 1),
            arrows=[Arrow(ends[1][2], ends[0][2] - ends[1][2], "ink", "(1 - R) d")],
        ),
        plane("parallel lines stay parallel", *(_flattened(image, k, *one) for k, one in enumerate(FLATTENED.items()))),
    ]


def _arc(start: Array, angle: float) -> list[Line]:
    """The arc of a point about the origin by an angle in rad, with radii to both ends.  [Christian 2011, fig. 17.1]"""
    a = np.linspace(0.0, angle, 80)
    x, y = start[0] * np.cos(a) - start[1] * np.sin(a), start[1] * np.cos(a) + start[0] * np.sin(a)
    radii = [Line((0.0, y[k]), "", "ink", "-o", (0.0, x[k]), 0.8, 3.5) for k in (0, -1)]
    return [*radii, Line(y, "", "ink", x=x, width=1.2)]


def _flattened(image: Callable[[Array], Array], color: int, name: str, given: tuple[Any, Any]) -> Outline:
    """The plate under a matrix, which is named in the legend; a singular one maps the plane onto a line."""
    rows, shift = given
    matrix = affine.translation(shift)
    matrix[:2, :2], det = rows, float(np.linalg.det(rows))
    entries = "; ".join(", ".join(f"{value:g}" for value in row) for row in rows)
    singular = ": singular" if abs(det) < 1e-12 else ""
    return Outline(image(matrix), f"{name} = ({entries}),\ndet {det:.3g}{singular}", color)


def stage(angle: float, stretch: float, skew: float, shift_x: float, shift_y: float) -> Stage:
    """From above: the plate before, and all transformations applied to it in one order and in the reverse."""
    steps = {
        "stretch": affine.scaling((stretch, 1.0)),
        "skew": affine.skew(skew),
        "rotate": affine.rotation(-np.radians(angle)),
        "shift": affine.translation((shift_x, shift_y)),
    }
    orders = {"axis1": list(steps), "axis3": list(steps)[::-1]}
    outlines, labels = [Polygon(_on_the_table(CORNERS), faded=True, color="muted")], list[Text]()
    for (color, order), corner in zip(orders.items(), (1, 4), strict=True):
        image = affine.applied(affine.combined(*(steps[name] for name in order)), affine.point(CORNERS))
        points = _on_the_table(image[:, :2])
        outlines.append(Polygon(points, color=color))
        labels.append(Text(points[corner], label=", ".join(order), color=color))
    all_points = np.concatenate([np.asarray(outline.points) for outline in outlines])
    low, high = all_points.min(axis=0), all_points.max(axis=0)
    return Stage(
        camera=StageCamera(-90.0, 62.0, target=tuple((low + high) / 2), radius=0.64 * float(np.max(high - low))),
        off=("omega", "L", "trailOmega", "forces", "torque", "trailCenter", "bodyAxes"),
        panels=("position", "quaternion"),
        props=(*outlines, *labels),
        floor=-THICKNESS,
        shows="An L-shaped plate turns about its corner, among its images under four maps in two orders.",
    )


def _on_the_table(points: Array) -> Array:
    return np.column_stack((points, np.zeros(len(points))))


MODEL = Model(
    name="affine-2d",
    title="Rotate, scale, skew and translate a plate: the order matters",
    theme="transformations and rotations",
    source="[Christian 2011, section 17.1, exercises 17.1 and 17.2, figure 17.1]",
    explanation="""\
A 3 x 3 matrix rotates, scales, skews and translates the plane if each point carries a third coordinate
w = 1. A vector carries w = 0: it is rotated and scaled, but no translation changes it, since a vector
has no position. To rotate about a corner, translate it to the origin, rotate, and translate back; here
a plate on a pivot does the same in simulation. Transformations rarely commute: R S and S R differ by
(1 - s_x) sin(angle), T R and R T by (1 - R) d. A matrix with determinant 0 has no inverse.""",
    parameters=(
        Parameter("angle", "deg", 30.0, 5.0, 175.0, "rotation angle, clockwise"),
        Parameter("stretch", "1", 2.0, 0.2, 5.0, "scale factor along x"),
        Parameter("skew", "1", 0.2, -2.0, 2.0, "fraction of y added to x"),
        Parameter("shift_x", "m", 1.0, 0.1, 5.0, "translation d along x"),
        Parameter("shift_y", "m", 0.5, -5.0, 5.0, "translation d along y"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=stage,
    lesson=Lesson(
        formulas=(
            Formula(
                (
                    r"\begin{pmatrix}x' \\ y' \\ 1\end{pmatrix} = \begin{pmatrix}\cos\alpha & "
                    r"\sin\alpha & d_x \\ -\sin\alpha & \cos\alpha & d_y \\ 0 & 0 & "
                    r"1\end{pmatrix}\begin{pmatrix}x \\ y \\ 1\end{pmatrix}"
                ),
                "a clockwise rotation and a translation in one matrix",
            ),
            Formula(
                r"R S - S R = (1 - s_x)\sin\alpha\begin{pmatrix}0 & 1 \\ 1 & 0\end{pmatrix}",
                "rotation and scaling do not commute",
            ),
        ),
        steps=(
            TryThis("The plate turns by 30 degrees about its corner, which stays."),
            TryThis(
                "A quarter turn and a stretch of 5: the order matters most.", values={"angle": 90.0, "stretch": 5.0}
            ),
            TryThis("A stretch of 1 changes nothing: then the order does not matter either.", values={"stretch": 1.0}),
        ),
        references=("Christian 2011, section 17.1",),
    ),
)
