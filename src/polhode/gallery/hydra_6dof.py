"""A meshed body in six degrees of freedom: nodes, energy, and the effect of large rotations per step on RK2 and RK4."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from math import pi
from typing import Any

import numpy as np

from polhode.gallery.closed_forms.runge_kutta_rotation import phase_error
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.pictures import Closed, Curves, DrawPanel, Line, energies, panels, space
from polhode.massprops.body import Body
from polhode.massprops.shapes import box
from polhode.results.motion import Motion
from polhode.scenario.forces import STANDARD_GRAVITY, gravity
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.validation import Array
from polhode.web.props import PointsCloud
from polhode.web.stage import Stage, StageCamera

SIDES = np.array((0.9, 0.6, 0.3))
CELLS = np.array((6, 4, 2))
MASS = 12.0
SPEED = np.array((7.0, 0.0, 4.0))
AXIS = np.array((0.3, 1.0, 0.4))
"""Spin axis."""
DURATION = 2 * SPEED[2] / STANDARD_GRAVITY
FRAMES = 200
STEPS_PER_FRAME = 10
TURNS = 5
CORNER = 0
"""The node that is tracked."""
THROWN, RESTING = "thrown", "at rest"
METHODS = {"RK2": ("midpoint", 2), "RK4": ("rk4", 4)}


def _node_positions() -> Array:
    """Corners of the cells, (n, 3), in m."""
    along = [np.linspace(-side / 2, side / 2, cells + 1) for side, cells in zip(SIDES, CELLS, strict=True)]
    return np.array(list(product(*along)))


def _node_masses() -> Array:
    """One eighth of each cell's mass at each of its corners, in kg."""
    shares = [np.where(np.abs(c) == c.max(), 1.0, 2.0) for c in (np.arange(n + 1) - n / 2 for n in CELLS)]
    return np.asarray(np.array([a * b * c for a, b, c in product(*shares)]) * MASS / (8 * CELLS.prod()))


def scenario(turn: float, spin: float) -> dict[str, Scenario]:
    """A throw with fine steps, a body at rest, and spins about a fixed axis in steps of `turn` by both methods."""
    body = Body.from_particles(_node_masses(), _node_positions())
    fine: dict[str, Any] = {
        "duration": DURATION,
        "step": DURATION / (FRAMES * STEPS_PER_FRAME),
        "output_step": DURATION / FRAMES,
        "method": "rk4",
        "name": "hydra-6dof",
    }
    tumbling = State(velocity=SPEED, angular_velocity=spin * AXIS / np.linalg.norm(AXIS))
    steps = -(-TURNS * 2 * pi // turn)
    coarse: dict[str, Any] = {"duration": steps * turn, "step": turn, "output_step": turn, "name": "hydra-6dof"}
    about_z = State(angular_velocity=(0.0, 0.0, 1.0))
    return {
        THROWN: Scenario(body, tumbling, [gravity()], **fine),
        RESTING: Scenario(body, State(position=(1.0, 2.0, 3.0)), **fine),
        **{name: Scenario(body, about_z, method=method, **coarse) for name, (method, _) in METHODS.items()},
    }


def _error_per_turn(motion: Motion) -> float:
    """Angle error of the spin per revolution, in rad."""
    w, _, _, z = motion.quaternion_wxyz.T
    angles = np.unwrap(2 * np.arctan2(z, w))
    return float((angles[-1] - angles[0] - motion.times[-1]) * 2 * pi / motion.times[-1])


def _expected_error_per_turn(turn: Any, order: int) -> Any:
    return 2 * phase_error(turn / 2, order) * 2 * pi / turn


def _node_energy(motion: Motion) -> Array:
    """Sum of m v^2/2 over the nodes, in J."""
    velocities = motion.point_velocities(_node_positions())
    return np.asarray((velocities**2).sum(axis=-1) @ _node_masses() / 2)


def _energy_by_hand(t: float, spin: float) -> float:
    """M v^2/2 + w . I w/2 in J, with v in free fall and w . I w constant.

    On a side of length a with n cells, the nodes (end nodes with half weight) have mean square a^2/12 (1 + 2/n^2).
    """
    squares = SIDES**2 / 12 * (1 + 2 / CELLS**2)
    v = SPEED - (0.0, 0.0, STANDARD_GRAVITY * t)
    w = spin * AXIS / np.linalg.norm(AXIS)
    return float(MASS * (v @ v) / 2 + MASS * (squares.sum() - squares) @ w**2 / 2)


def numbers(motions: Mapping[str, Motion], turn: float, spin: float) -> list[ReferenceCheck]:
    """Error of both methods per revolution; nodes at rest; energy and mean displacement of the nodes."""
    thrown = motions[THROWN]
    errors = [
        check(
            f"{name}: angle error per revolution",
            "rad",
            _error_per_turn(motions[name]),
            _expected_error_per_turn(turn, order),
            1e-12,
            f"2 pi/p (2 arg(1 + z + ... + z^{order}/{order}!) - p), z = i p/2: a quaternion has half the angle",
        )
        for name, (_, order) in METHODS.items()
    ]
    half = FRAMES // 2
    shares = _node_masses() / MASS
    energy, mean = _node_energy(thrown)[half], shares @ thrown.displacements(_node_positions())[half, :, 2]
    t = float(thrown.times[half])
    return [
        *errors,
        check(
            "largest displacement of a node at rest",
            "m",
            np.abs(motions[RESTING].displacements(_node_positions())).max(),
            0.0,
            0.0,
            "u = R p - p + x(t) - x(0); [Hydra 2017, eq. 4.25] as printed gives p itself",
            size=np.linalg.norm(SIDES) / 2,
        ),
        check(
            "kinetic energy at the apex, sum over the nodes",
            "J",
            energy,
            expected := _energy_by_hand(t, spin),
            1e-11 * expected,
            "m v^2/2 + w . (I w)/2 [Hydra 2017, eq. 4.27] minus the work against gravity; <x^2> = a^2/12 (1 + 2/n^2)",
        ),
        check(
            "mean upward displacement of the nodes at the apex",
            "m",
            mean,
            SPEED[2] * t - STANDARD_GRAVITY * t**2 / 2,
            1e-12,
            "v t - g t^2/2 of the center of mass",
        ),
    ]


@panels("AAA;BCD", size=(12.0, 8.4), heights=(1.12, 1.0))
def picture(motions: Mapping[str, Motion], turn: float, spin: float) -> list[DrawPanel]:
    """The mesh in flight, node displacements, energy history, and the errors of RK2 and RK4."""
    thrown, angles = motions[THROWN], np.geomspace(0.05, 1.5, 200)
    far = np.linalg.norm(thrown.displacements(_node_positions()), axis=-1)
    resting = np.linalg.norm(motions[RESTING].displacements(_node_positions()[-1]), axis=-1)
    nodes, errors = _node_energy(thrown), {name: _error_per_turn(motions[name]) for name in METHODS}
    laws = [np.abs(_expected_error_per_turn(angles, order)) for _, order in METHODS.values()]
    return [
        _flight(thrown),
        Curves(
            "displacement of nodes",
            "m",
            [
                Line(far.max(axis=1), "all nodes", "body", width=1.0),
                Line(far[:, CORNER], "the corner", 1),
                Line(resting, "at rest: exactly 0", 2),
            ],
            over=thrown,
            y=(-0.05 * far.max(), 1.35 * far.max()),
            legend="upper left",
            also=lambda axes: axes.fill_between(thrown.times, far.min(axis=1), far.max(axis=1), color="#ece5d6"),
        ),
        Curves(
            "kinetic energy",
            "J",
            [Line(thrown.kinetic_energy, "body", "total"), *energies(thrown, "translational", "rotational")],
            Closed(nodes, "sum over the nodes"),
            thrown,
            y=(0.0, 1.45 * nodes.max()),
            legend="upper left",
        ),
        Curves(
            "angle error per revolution",
            "rad",
            [Line([abs(x)], f"{name}: {x:+.4e}", n, "o", [turn]) for n, (name, x) in enumerate(errors.items())],
            Closed(np.stack(laws, axis=1), x=angles),
            across="angle per step (rad)",
            log="xy",
            x_ticks=(0.05, 0.1, 0.2, 0.5, 1.0),
            y=(None, 300.0),
            legend="upper left",
        ),
    ]


def _surface_quads() -> list[tuple[int, int, int, int]]:
    """Cell faces on the surface of the mesh, counterclockwise from outside."""
    n = CELLS + 1
    number = np.arange(n.prod()).reshape(n)
    faces = []
    for axis in range(3):
        for end in (0, -1):
            layer = np.take(number, end, axis=axis)
            around = [layer[:-1, :-1], layer[1:, :-1], layer[1:, 1:], layer[:-1, 1:]]
            outward = (end == -1) == (axis != 1)
            faces += np.stack(around if outward else around[::-1], axis=-1).reshape(-1, 4).tolist()
    return [(a, b, c, d) for a, b, c, d in faces]


def _flight(motion: Motion) -> DrawPanel:
    """The mesh at several instants, the path of one corner, and the displacements of the nodes at one end."""
    import trimesh

    scene, nodes, quads = space(0.28, 0.2), motion.points(_node_positions()), _surface_quads()
    triangles = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
    for frame in np.linspace(0, FRAMES, 6).astype(int):
        scene.body(trimesh.Trimesh(nodes[frame], triangles, process=False))
        for a, b, c, d in quads:
            loop = nodes[frame, [a, b, c, d, a]]
            if np.cross(loop[1] - loop[0], loop[2] - loop[0]) @ scene.camera.eye > 0:
                scene.line(scene.toward(loop, 0.004), 0, width=0.7)
    corner, later = scene.toward(nodes[:, CORNER], 5.0), 2 * FRAMES // 5
    scene.line(scene.toward(motion.position, 5.0), "muted", "center of mass", 1.4, (0, (4, 3)))
    scene.line(corner, 1, "a corner node", 1.8)
    scene.arrow(corner[0], corner[later] - corner[0], 2, width=1.8)
    for frame in (0, later):
        scene.dot(corner[frame], 1, 5)
    scene.text((corner[0] + corner[later]) / 2, "its displacement u", 2, (4, -8))
    return scene.panel("a mesh of 6 x 4 x 2 cells in flight", margin=0.03, legend="upper right")


def stage(turn: float, spin: float, run: str = THROWN) -> Stage:
    """The nodes of the mesh within a block of glass."""
    return Stage(
        camera=StageCamera(-70.0, 16.0, target="body" if run != THROWN else None),
        switches=("trailPoint",),
        off=("L", "trailOmega", "bodyAxes"),
        panels=("position", "angular_velocity_world", "energy"),
        props=(PointsCloud(_node_positions(), pixels=4.0, attached="body", color="axis3"),),
        likeness=box(SIDES, MASS),
        see_through=True,
        shows="A block of cells is thrown and tumbles; its nodes move rigidly with it.",
        still="The second run is at rest." if run == RESTING else "",
    )


MODEL = Model(
    name="hydra-6dof",
    title="A mesh in six degrees of freedom: all nodes move rigidly with the body",
    theme="forces and torques",
    source="[Hydra 2017, chapter 4, eqs. 4.4 to 4.15 and 4.24 to 4.27]",
    explanation="""\
A block of 6 x 4 x 2 cells is thrown, its mass lumped at the nodes. The position, displacement and velocity
of every node follow from six degrees of freedom; the energy of all nodes is that of the body, and nodes
of a body at rest have zero displacement, which eq. 4.25 as printed misses. If a step rotates by a large
angle, RK2 has a large error and RK4 a small one: a spin about a fixed axis multiplies the quaternion by a
polynomial in each step, whose argument gives the angle error per revolution.""",
    parameters=(
        Parameter("turn", "rad", 0.5, 0.05, 1.5, "rotation angle per coarse step"),
        Parameter("spin", "rad/s", 6.0, 0.5, 20.0, "angular velocity of the thrown block"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=stage,
    lesson=Lesson(
        formulas=(
            Formula(
                r"\mathbf{x}_i = \mathbf{x} + R\,\mathbf{X}_i", "the position of each node, from six degrees of freedom"
            ),
            Formula(
                r"\mathbf{v}_i = \mathbf{v} + \boldsymbol{\omega}\times(\mathbf{x}_i - \mathbf{x})", "and its velocity"
            ),
        ),
        steps=(
            TryThis(
                "The block is thrown; the path of one corner shows translation and rotation.",
                run="thrown",
                switches=("trailPoint",),
            ),
            TryThis(
                "RK2 with a radian per step: its angle is off by 14 degrees in each revolution.",
                values={"turn": 1.0},
                run="RK2",
            ),
            TryThis("RK4 with the same step: a fifth of a degree.", values={"turn": 1.0}, run="RK4"),
        ),
        references=("Hydra 2017, chapter 4",),
    ),
)
