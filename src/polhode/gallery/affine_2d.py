"""Affine transformations of the plane: rotation, scaling, skew and translation, and why their order matters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polhode.gallery import affine
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.shared import rk4_settings
from polhode.massprops.shapes import prism
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.validation import Array
from polhode.web.props import Polygon, Text
from polhode.web.stage import Stage, StageCamera

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from polhode.results.motion import Motion

CORNERS = np.array([(1.0, 0.5), (3.0, 0.5), (3.0, 1.3), (1.8, 1.3), (1.8, 2.5), (1.0, 2.5)])
THICKNESS = 0.05
MASS = 1.0
FRAMES = 200
STEPS_PER_FRAME = 10


def _corners_from_com() -> Array:
    """Corners relative to the center of mass, in m: (n, 3)."""
    center = prism(CORNERS, THICKNESS, mass=MASS).center_of_mass
    return np.column_stack((CORNERS - center[:2], np.zeros(len(CORNERS))))


def scenario(angle: float, stretch: float, skew: float, shift_x: float, shift_y: float) -> Scenario:
    """An L-shaped plate that rotates clockwise about its inner corner, by the angle in one second."""
    arm = _corners_from_com()[0]
    return Scenario(
        prism(CORNERS, THICKNESS, mass=MASS),
        State(position=(*CORNERS[0], 0.0) - arm, angular_velocity=(0.0, 0.0, -np.radians(angle))),
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
        ReferenceCheck(label, unit, float(found), float(expected), 2e-12 * size, source, size=size)
        for label, unit, found, expected, size, source in rows
    ]


def _polygon_area(corners: Array) -> float:
    """Area of a counterclockwise polygon, in m2."""
    x, y = corners.T
    return float(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2


def picture(motion: Motion, angle: float, stretch: float, skew: float, shift_x: float, shift_y: float) -> Figure:
    """Plate and vector before and after: rotated about the origin and a corner, scaled, skewed, shifted, flattened."""
    from polhode.gallery.drawing import shapes_2d
    from polhode.plot.style import COLOR_CYCLE, COLORS, styled_figure

    turn, scale = affine.rotation(-np.radians(angle)), affine.scaling((stretch, 1.0))
    move, slant = affine.translation((shift_x, shift_y)), affine.skew(skew)
    arrow = np.array((-1.2, 0.5))
    blue, red = COLOR_CYCLE[:2]
    with styled_figure(12.0, 7.6, MODEL.title) as figure:
        (origin, corner, slanted), (orders, shifts, flattened) = figure.subplots(2, 3)
        for axes, matrix, color in ((origin, turn, blue), (slanted, slant, blue)):
            shapes_2d.draw_polygon(axes, CORNERS, COLORS["muted"], "before", filled=False)
            shapes_2d.draw_arrow(axes, (0, 0), arrow, COLORS["muted"])
            shapes_2d.draw_polygon(axes, affine.applied(matrix, affine.point(CORNERS))[:, :2], color, "after")
            shapes_2d.draw_arrow(axes, (0, 0), affine.applied(matrix, affine.vector(arrow))[:2], color)
        shapes_2d.label_point(origin, arrow / 2, "w = 0", (-4.0, -5.0), COLORS["muted"])
        shapes_2d.draw_arc(origin, (0, 0), CORNERS[1], -np.radians(angle), f"{angle:g}°")
        origin.set_title(f"rotated by {angle:g}° clockwise, (17.1)")
        slanted.set_title(f"skewed, (17.6): x + {skew:g} y" if skew >= 0 else f"skewed, (17.6): x - {-skew:g} y")
        _draw_turn_about_corner(corner, motion, angle, arrow)
        shapes_2d.draw_polygon(orders, CORNERS, COLORS["muted"], "before", filled=False)
        shapes_2d.draw_polygon(
            orders, affine.applied(affine.combined(scale, turn), affine.point(CORNERS))[:, :2], blue, "RS: S first"
        )
        shapes_2d.draw_polygon(
            orders, affine.applied(affine.combined(turn, scale), affine.point(CORNERS))[:, :2], red, "SR: R first"
        )
        orders.set_title(f"rotated (R) and scaled by {stretch:g} (S)")
        shapes_2d.draw_polygon(shifts, CORNERS, COLORS["muted"], "before", filled=False)
        ends = [
            affine.applied(m, affine.point(CORNERS))[:, :2]
            for m in (affine.combined(turn, move), affine.combined(move, turn))
        ]
        shapes_2d.draw_polygon(shifts, ends[0], blue, "TR: R first")
        shapes_2d.draw_polygon(shifts, ends[1], red, "RT: T first")
        shapes_2d.draw_arrow(shifts, ends[1][2], ends[0][2] - ends[1][2], COLORS["ink"], "(1 - R) d")
        shifts.set_title(f"rotated (R), translated by d = ({shift_x:g}, {shift_y:g}) m (T)")
        _draw_flattened(flattened)
        for axes in figure.axes:
            shapes_2d.format_plane_axes(axes)
    return figure


def _draw_turn_about_corner(axes: Axes, motion: Motion, angle: float, arrow: Array) -> None:
    """The simulated plate at a few times, over the circles that its corners follow in closed form."""
    from polhode.gallery.drawing import shapes_2d
    from polhode.plot.style import COLOR_CYCLE, COLORS, draw_closed_form

    paths = motion.points(_corners_from_com())[..., :2]
    grid = np.linspace(0, np.radians(angle), 60)
    for k in (1, 5):
        path = [
            affine.applied(affine.about(affine.rotation(-a), CORNERS[0]), affine.point(CORNERS[k]))[:2] for a in grid
        ]
        x, y = np.array(path).T
        draw_closed_form(axes, x, y, "closed form" if k == 1 else "")
        axes.plot(*paths[:, k].T, color=COLORS["ink"], linewidth=1.0)
    shapes_2d.draw_polygon(axes, CORNERS, COLORS["muted"], "before", filled=False)
    for share in (1 / 3, 2 / 3):
        shapes_2d.draw_polygon(axes, paths[int(share * (len(paths) - 1))], COLOR_CYCLE[0], alpha=0.12)
    shapes_2d.draw_polygon(axes, paths[-1], COLOR_CYCLE[0], "simulated")
    shapes_2d.draw_arrow(axes, (0, 0), arrow, COLORS["muted"])
    turned = affine.applied(affine.about(affine.rotation(-np.radians(angle)), CORNERS[0]), affine.vector(arrow))
    shapes_2d.draw_arrow(axes, (0, 0), turned[:2], COLOR_CYCLE[0])
    axes.plot(*CORNERS[0], marker="o", markersize=5, color=COLORS["ink"])
    axes.set_title("about a corner: T(p) R T(-p)")


def _draw_flattened(axes: Axes) -> None:
    """Any matrix keeps parallel lines parallel; a singular one maps the plane onto a line."""
    from polhode.gallery.drawing import shapes_2d
    from polhode.plot.style import COLOR_CYCLE, COLORS

    shapes_2d.draw_polygon(axes, CORNERS, COLORS["muted"], "before", filled=False)
    for name, color, rows, shift, words in (
        ("A", COLOR_CYCLE[0], ((0.9, -0.5), (0.35, 0.8)), (-1.6, 0.2), ""),
        ("B", COLOR_CYCLE[1], ((0.8, 0.4), (0.4, 0.2)), (1.0, -2.4), ": singular"),
    ):
        matrix = affine.translation(shift)
        matrix[:2, :2] = rows
        numbers = "; ".join(", ".join(f"{value:g}" for value in row) for row in rows)
        label = f"{name} = ({numbers}),\ndet {np.linalg.det(rows):.3g}{words}"
        shapes_2d.draw_polygon(axes, affine.applied(matrix, affine.point(CORNERS))[:, :2], color, label)
    axes.set_title("parallel lines stay parallel")


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
    explanation=(
        "A 3 x 3 matrix rotates, scales, skews and translates the plane if each point carries a third coordinate\n"
        "w = 1. A vector carries w = 0: it is rotated and scaled, but no translation changes it, since a vector\n"
        "has no position. To rotate about a corner, translate it to the origin, rotate, and translate back; here\n"
        "a plate on a pivot does the same in simulation. Transformations rarely commute: R S and S R differ by\n"
        "(1 - s_x) sin(angle), T R and R T by (1 - R) d. A matrix with determinant 0 has no inverse."
    ),
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
