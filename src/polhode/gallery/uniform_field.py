"""A body of irregular parts in a uniform field: it falls and does not turn."""

from __future__ import annotations

from math import cos, radians, sin
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck
from polhode.massprops.body import Body
from polhode.massprops.shapes import box, tetrahedron
from polhode.model.forces import STANDARD_GRAVITY, gravity
from polhode.model.scenario import Scenario
from polhode.model.state import State
from polhode.validation import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from polhode.results.motion import Motion

WEDGE = ((0.0, 0.0, 0.3), (0.2, 0.0, 0.3), (0.0, 0.7, 0.3), (0.05, 0.1, 0.9))
AXIS = (2 / 3, -1 / 3, 2 / 3)
"""About which the body is tilted."""
DURATION, FRAMES, STEPS_A_FRAME = 1.0, 100, 4


class TetrahedronCells(NamedTuple):
    """The tetrahedra that a body consists of: masses in kg, centres from the centre of mass in m, body axes."""

    masses: Array
    centres: Array


def make_parts() -> tuple[Body, ...]:
    """Two beams of oak, a steel weight at the end of one, a wedge of aluminium on the other: all of them convex."""
    return (
        box((0.9, 0.2, 0.3), density=700.0).move((0.45, 0.1, 0.15)),
        box((0.2, 0.5, 0.3), density=700.0).move((0.1, 0.45, 0.15)),
        box((0.2, 0.25, 0.3), density=7800.0).move((1.0, 0.1, 0.15)),
        tetrahedron(WEDGE, density=2700.0),
    )


def _make_body() -> Body:
    first, *others = make_parts()
    return first.join(*others)


def cut_into_cells() -> TetrahedronCells:
    """Every part cut into tetrahedra between its own centre and the triangles of its surface."""
    masses, centres = [], []
    for part in make_parts():
        mesh = part.mesh()
        corners = np.asarray(mesh.vertices)[np.asarray(mesh.faces)] - part.center_of_mass
        volumes = np.linalg.det(corners) / 6
        masses.append(part.mass * volumes / volumes.sum())
        centres.append(corners.sum(axis=1) / 4 + part.center_of_mass)
    return TetrahedronCells(np.concatenate(masses), np.concatenate(centres) - _make_body().center_of_mass)


def _field_vector(field: float, g: float) -> Array:
    return g * np.array((sin(radians(field)), 0.0, -cos(radians(field))))


def scenario(tilt: float, field: float, g: float) -> Scenario:
    """The body let go at rest, tilted, for a second."""
    half = radians(tilt) / 2
    return Scenario(
        _make_body(),
        State(quaternion_wxyz=(cos(half), *(sin(half) * a for a in AXIS))),
        [gravity(_field_vector(field, g))],
        duration=DURATION,
        step=DURATION / (FRAMES * STEPS_A_FRAME),
        output_step=DURATION / FRAMES,
        method="rk4",
        name="uniform-field",
    )


def _cell_torques(motion: Motion, g: Array, com_to_point_body: Any = (0.0, 0.0, 0.0)) -> Array:
    """Of every cell's weight about a point of the body, in the last attitude, in N m."""
    masses, centres = cut_into_cells()
    arms = (centres - np.asarray(com_to_point_body)) @ motion.rotation_matrix[-1].T
    return np.cross(arms, masses[:, None] * g)


def _outer_corner(body: Body) -> Array:
    """From the centre of mass to the outer corner of the beams, body axes."""
    return -np.asarray(body.center_of_mass)


def numbers(motion: Motion, tilt: float, field: float, g: float) -> list[ReferenceCheck]:
    """The weights of all cells turn nothing about the centre of mass, and so the body does not turn."""
    body, pull = motion.scenario.bodies[0], _field_vector(field, g)
    reach = float(np.linalg.norm(np.asarray(body.mesh().vertices) - body.center_of_mass, axis=1).max())
    size = body.mass * g * reach
    about_centre = float(np.linalg.norm(_cell_torques(motion, pull).sum(axis=0)))
    lever = motion.rotation_matrix[-1] @ -_outer_corner(body)
    about_corner = float(np.linalg.norm(_cell_torques(motion, pull, _outer_corner(body)).sum(axis=0)))
    expected = body.mass * float(np.linalg.norm(np.cross(lever, pull)))
    spin = float(np.linalg.norm(motion.angular_momentum[-1]))
    turned = float(np.abs(motion.rotation_matrix[-1] - motion.rotation_matrix[0]).max())
    fallen, distance = float(motion.position[-1] @ pull) / g, g * DURATION**2 / 2
    return [
        ReferenceCheck(
            "torque of all cells about the centre of mass",
            "N m",
            about_centre,
            0.0,
            1e-14 * size,
            "(sum m r) x g = 0",
            size,
        ),
        ReferenceCheck("the same about a corner", "N m", about_corner, expected, 1e-12 * size, "M (c - p) x g", size),
        ReferenceCheck("angular momentum after 1 s", "kg m2/s", spin, 0.0, 1e-14 * size, "no torque", size),
        ReferenceCheck("change of the attitude in 1 s", "1", turned, 0.0, 1e-13, "it does not turn", 1.0),
        ReferenceCheck(
            "distance fallen in 1 s", "m", fallen, distance, 1e-12 * distance, "g t^2/2; the text prints Mg/g for Mg/M"
        ),
    ]


def picture(motion: Motion, tilt: float, field: float, g: float) -> Figure:
    """The body as it falls with the weights of its cells, their torques summed up, and the fall itself."""
    from polhode.plot.style import styled_figure

    with styled_figure(11.5, 7.2, MODEL.title) as figure:
        grid = figure.add_gridspec(2, 2, width_ratios=(1, 1.1))
        _draw_falling(figure.add_subplot(grid[:, 0]), motion, _field_vector(field, g))
        _draw_running_sums(figure.add_subplot(grid[0, 1]), motion, _field_vector(field, g))
        _draw_fall(figure.add_subplot(grid[1, 1]), motion, _field_vector(field, g))
    return figure


def _draw_falling(axes: Axes, motion: Motion, g: Array) -> None:
    """The body at the start with the weights of its cells, at the end with their sum; not so far apart as it falls."""
    from polhode.gallery.drawing.force_arrows import move_toward_camera
    from polhode.plot.scene import Scene, world_camera
    from polhode.plot.style import COLORS

    scene = Scene(world_camera(0.5, 0.3))
    body, turn = motion.scenario.bodies[0], motion.rotation_matrix[0]
    down = g / np.linalg.norm(g)
    masses, centres = cut_into_cells()
    places = [np.zeros(3), 1.9 * down]
    for n, place in enumerate(places):
        for part, color in zip(make_parts(), ("body", "body", "muted", "closed_form"), strict=True):
            scene.body(part, place + turn @ (part.center_of_mass - body.center_of_mass), turn, COLORS[color])
        scene.text(place - 0.75 * scene.seen.right, f"{n} s", offset=(-6.0, 0.0))
    for mass, centre in zip(masses, centres, strict=True):
        at = move_toward_camera(scene, places[0] + turn @ centre, 5.0)
        scene.arrow(at, 0.55 * (mass / masses.max()) ** 0.5 * down, COLORS["weight"], width=1.1)
    scene.dot(move_toward_camera(scene, places[-1], 5.0), COLORS["ink"])
    scene.arrow(move_toward_camera(scene, places[-1], 5.0), 1.1 * down, COLORS["weight"], "M g")
    scene.draw(axes, "the weights of its cells, and their sum", margin=0.03)


def _draw_running_sums(axes: Axes, motion: Motion, g: Array) -> None:
    """The torques of the cells added up one after the other, about the centre of mass and about a corner."""
    from polhode.plot.style import COLOR_CYCLE, COLORS, add_legend_above

    corner = _outer_corner(motion.scenario.bodies[0])
    each = {"centre of mass": _cell_torques(motion, g), "corner": _cell_torques(motion, g, corner)}
    total = each["corner"].sum(axis=0)
    along = total / max(float(np.linalg.norm(total)), float(np.finfo(float).tiny))
    for (name, torques), color in zip(each.items(), COLOR_CYCLE, strict=False):
        sums = np.concatenate(([0.0], np.cumsum(torques @ along)))
        axes.plot(np.arange(len(sums)), sums, color=color, drawstyle="steps-post", label=f"about the {name}")
        axes.plot(len(sums) - 1, sums[-1], color=color, marker="o")
    axes.axhline(0.0, color=COLORS["muted"], linewidth=0.9)
    axes.set_title("torque of n cells")
    axes.set_xlabel("n, cells")
    axes.set_ylabel("N m")
    add_legend_above(axes, 2)


def _draw_fall(axes: Axes, motion: Motion, g: Array) -> None:
    from polhode.plot.panels import format_time_axis
    from polhode.plot.style import COLORS, add_legend_above, draw_closed_form

    size = float(np.linalg.norm(g))
    turned = 2 * np.linalg.norm(motion.quaternion_wxyz[:, 1:] - motion.quaternion_wxyz[0, 1:], axis=1)
    draw_closed_form(axes, motion.times, size * motion.times**2 / 2, "g t²/2 (m)")
    axes.plot(motion.times, motion.position @ g / size, color=COLORS["translational"], label="fallen (m)")
    axes.plot(motion.times, turned, color=COLORS["rotational"], label="turned (rad)")
    axes.set_title("the fall")
    axes.set_ylabel("m, rad")
    format_time_axis(axes, motion)
    add_legend_above(axes, 3)


MODEL = Model(
    name="uniform-field",
    title="In a uniform field the weights turn nothing about the centre of mass",
    theme="forces and torques",
    source="seed 000 section 5.2; seed 002",
    explanation=(
        "An angle of oak carries a steel weight and a wedge of aluminium: no symmetry, no constant density,\n"
        "and the centre of mass is not the centre of the shape. Cut into tetrahedra, each with its own weight,\n"
        "the torques of all these weights about the centre of mass add up to (sum m r) x g = 0, however the\n"
        "body is tilted and wherever the field points. About another point they do not. So the body falls\n"
        "with g, as if all of its weight pulled at the centre of mass, and does not begin to turn."
    ),
    parameters=(
        Parameter("tilt", "deg", 40.0, -180.0, 180.0, "of the body, about the axis (2, -1, 2)/3"),
        Parameter("field", "deg", 20.0, -180.0, 180.0, "of the field, from -z towards x"),
        Parameter("g", "m/s2", STANDARD_GRAVITY, 0.1, 30.0, "strength of the field"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
)
