"""An irregular body in a uniform field: it falls without rotating."""

from __future__ import annotations

from math import radians
from typing import Any, NamedTuple

import numpy as np

from polhode import rotations
from polhode.equations.scalar_ops import cos as cosine
from polhode.equations.scalar_ops import sin as sine
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.pictures import Closed, Curves, DrawPanel, Line, panels, space
from polhode.gallery.plain_formulas import radians as plain_radians
from polhode.gallery.shared import rk4_settings
from polhode.massprops.body import Body
from polhode.massprops.shapes import box, tetrahedron
from polhode.results.motion import Motion
from polhode.scenario.forces import STANDARD_GRAVITY, gravity
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.validation import Array
from polhode.web.props import Ball, StageArrow, TargetDirection
from polhode.web.stage import Stage, StageCamera

WEDGE = ((0.0, 0.0, 0.3), (0.2, 0.0, 0.3), (0.0, 0.7, 0.3), (0.05, 0.1, 0.9))
AXIS = (2 / 3, -1 / 3, 2 / 3)
"""Tilt axis."""
DURATION, FRAMES, STEPS_PER_FRAME = 1.0, 100, 4


class TetrahedronCells(NamedTuple):
    """Tetrahedra of a body: masses in kg, centroids relative to the center of mass in m, body axes."""

    masses: Array
    centers: Array


def make_parts() -> tuple[Body, ...]:
    """Two oak beams, a steel weight at the end of one, and an aluminum wedge on the other, all convex."""
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
    """Cut every part into tetrahedra between its own center and the triangles of its surface."""
    masses, centers = [], []
    for part in make_parts():
        mesh = part.mesh()
        corners = np.asarray(mesh.vertices)[np.asarray(mesh.faces)] - part.center_of_mass
        volumes = np.linalg.det(corners) / 6
        masses.append(part.mass * volumes / volumes.sum())
        centers.append(corners.sum(axis=1) / 4 + part.center_of_mass)
    return TetrahedronCells(np.concatenate(masses), np.concatenate(centers) - _make_body().center_of_mass)


def _field_vector(field: float, g: float) -> Array:
    return np.array((g * sine(plain_radians(field)), 0.0, -(g * cosine(plain_radians(field)))))


def scenario(tilt: float, field: float, g: float) -> Scenario:
    """The tilted body, released at rest, for one second."""
    half = plain_radians(tilt) / 2
    return Scenario(
        _make_body(),
        State(quaternion_wxyz=(cosine(half), *(sine(half) * a for a in AXIS))),
        [gravity(_field_vector(field, g))],
        **rk4_settings(DURATION, FRAMES, STEPS_PER_FRAME),
        name="uniform-field",
    )


def _cell_torques(motion: Motion, g: Array, com_to_point_body: Any = (0.0, 0.0, 0.0)) -> Array:
    """Torque of every cell's weight about a point of the body in the final attitude, in N m."""
    masses, centers = cut_into_cells()
    arms = (centers - np.asarray(com_to_point_body)) @ motion.rotation_matrix[-1].T
    return np.cross(arms, masses[:, None] * g)


def _outer_corner(body: Body) -> Array:
    """Vector from the center of mass to the outer corner of the beams, body axes."""
    return -np.asarray(body.center_of_mass)


def numbers(motion: Motion, tilt: float, field: float, g: float) -> list[ReferenceCheck]:
    """The weights of all cells exert no net torque about the center of mass, so the body does not rotate."""
    body, pull = motion.scenario.bodies[0], _field_vector(field, g)
    reach = float(np.linalg.norm(np.asarray(body.mesh().vertices) - body.center_of_mass, axis=1).max())
    size = body.mass * g * reach
    about_center = float(np.linalg.norm(_cell_torques(motion, pull).sum(axis=0)))
    lever = motion.rotation_matrix[-1] @ -_outer_corner(body)
    about_corner = float(np.linalg.norm(_cell_torques(motion, pull, _outer_corner(body)).sum(axis=0)))
    expected = body.mass * float(np.linalg.norm(np.cross(lever, pull)))
    spin = float(np.linalg.norm(motion.angular_momentum[-1]))
    turned = float(np.abs(motion.rotation_matrix[-1] - motion.rotation_matrix[0]).max())
    fallen, distance = float(motion.position[-1] @ pull) / g, g * DURATION**2 / 2
    return [
        check(
            "total torque about the center of mass", "N m", about_center, 0.0, 1e-14 * size, "(sum m r) x g = 0", size
        ),
        check("total torque about a corner", "N m", about_corner, expected, 1e-12 * size, "M (c - p) x g", size),
        check("angular momentum after 1 s", "kg m2/s", spin, 0.0, 1e-14 * size, "no torque", size),
        check("change of attitude in 1 s", "1", turned, 0.0, 1e-13, "no rotation", 1.0),
        check(
            "distance fallen in 1 s",
            "m",
            fallen,
            distance,
            1e-12 * distance,
            "g t^2/2; [Baraff 1997] prints Mg/g for Mg/M",
        ),
    ]


@panels("AB;AC", size=(11.5, 7.2), widths=(1, 1.1))
def picture(motion: Motion, tilt: float, field: float, g: float) -> list[DrawPanel]:
    """The falling body with the weights of its cells, their cumulative torque, and the fall."""
    pull, q = _field_vector(field, g), motion.quaternion_wxyz
    turned = 2 * np.linalg.norm(q[:, 1:] - q[0, 1:], axis=1)
    return [
        _falling(motion, pull),
        _running_sums(motion, pull),
        Curves(
            "the fall",
            "m, rad",
            [
                Line(motion.position @ pull / g, "fallen (m)", "translational"),
                Line(turned, "rotation angle (rad)", "rotational"),
            ],
            Closed(g * motion.times**2 / 2, "g t²/2 (m)"),
            motion,
        ),
    ]


def _falling(motion: Motion, g: Array) -> DrawPanel:
    """The initial body with the weights of its cells, and the final one with their sum; distance not to scale."""
    scene, (masses, centers) = space(0.5, 0.3), cut_into_cells()
    body, turn, down = motion.scenario.bodies[0], motion.rotation_matrix[0], g / np.linalg.norm(g)
    places = [np.zeros(3), 1.9 * down]
    for n, place in enumerate(places):
        for part, color in zip(make_parts(), ("body", "body", "muted", "closed_form"), strict=True):
            scene.body(part, place + turn @ (part.center_of_mass - body.center_of_mass), turn, color)
        scene.text(place - 0.75 * scene.camera.right, f"{n} s", offset=(-6.0, 0.0))
    for mass, center in zip(masses, centers, strict=True):
        at = scene.toward(places[0] + turn @ center, 5.0)
        scene.arrow(at, 0.55 * (mass / masses.max()) ** 0.5 * down, "weight", width=1.1)
    scene.dot(scene.toward(places[-1], 5.0), "ink")
    scene.arrow(scene.toward(places[-1], 5.0), 1.1 * down, "weight", "M g")
    return scene.panel("weights of the cells, and their sum", margin=0.03)


def _running_sums(motion: Motion, g: Array) -> Curves:
    """Cumulative torque of the cells about the center of mass and about a corner."""
    about_corner = _cell_torques(motion, g, _outer_corner(motion.scenario.bodies[0]))
    total = about_corner.sum(axis=0)
    along = total / max(float(np.linalg.norm(total)), float(np.finfo(float).tiny))
    lines = []
    for n, (name, torques) in enumerate({"center of mass": _cell_torques(motion, g), "corner": about_corner}.items()):
        sums = np.concatenate(([0.0], np.cumsum(torques @ along)))
        counts = np.arange(len(sums))
        lines.append(Line(sums, f"about the {name}", n, x=counts, look={"drawstyle": "steps-post"}))
        lines.append(Line(sums[-1:], "", n, "o", counts[-1:]))
    return Curves("torque of n cells", "N m", lines, across="n, cells", levels=(0.0,))


def stage(tilt: float, field: float, g: float) -> Stage:
    """The weight of every tetrahedron at its centroid, in a body of glass, and the direction of the field."""
    masses, centers = cut_into_cells()
    turn = rotations.matrix(AXIS, radians(tilt))
    pull = turn.T @ _field_vector(field, 1.0)
    longest = 0.5 / float(masses.max())
    weights = [
        StageArrow(center, longest * mass * pull, attached="body", color="axis1")
        for mass, center in zip(masses, centers, strict=True)
    ]
    return Stage(
        camera=StageCamera(-60.0, 14.0, zoom=1.4, target="body"),
        off=("L", "omega", "bodyAxes", "forces"),
        panels=("velocity", "position", "energy"),
        props=(
            *weights,
            TargetDirection(_field_vector(field, 1.0), label="field", color="ink"),
            Ball((0.0, 0.0, 0.0), 0.03, label="center of mass", attached="body", color="ink"),
        ),
        floor=True,
        see_through=True,
        shows="A body of three materials falls; the weights of all its parts balance about its center of mass.",
    )


MODEL = Model(
    name="uniform-field",
    title="In a uniform field gravity exerts no torque about the center of mass",
    theme="forces and torques",
    source="[Baraff 1997, section 5.2]; [Slides]",
    explanation="""\
An L-shaped oak body carries a steel weight and an aluminum wedge: no symmetry, no constant density, and
the center of mass is not the center of the shape. If it is cut into tetrahedra, each with its own weight,
the torques of all weights about the center of mass sum to (sum m r) x g = 0, whatever the tilt of the body
and the direction of the field. About any other point they do not. The body falls with acceleration g, as if
its whole weight acted at the center of mass, and does not start to rotate.""",
    parameters=(
        Parameter("tilt", "deg", 40.0, -180.0, 180.0, "tilt of the body about the axis (2, -1, 2)/3"),
        Parameter("field", "deg", 20.0, -180.0, 180.0, "direction of the field, from -z toward x"),
        Parameter("g", "m/s2", STANDARD_GRAVITY, 0.1, 30.0, "strength of the field"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=stage,
    lesson=Lesson(
        formulas=(
            Formula(
                (
                    r"\sum_i m_i\,\mathbf{r}_i\times\mathbf{g} = \left(\sum_i "
                    r"m_i\mathbf{r}_i\right)\times\mathbf{g} = 0"
                ),
                "the torques of all weights about the center of mass",
            ),
        ),
        steps=(
            TryThis("It falls and does not start to turn."),
            TryThis("Another tilt: still no torque.", values={"tilt": 150.0}),
            TryThis("A field that points up: it falls upward, without turning.", values={"field": 180.0}),
            TryThis("On the Moon it falls more slowly.", values={"g": 1.62}),
        ),
        references=("Baraff 1997, section 5.2",),
    ),
)
