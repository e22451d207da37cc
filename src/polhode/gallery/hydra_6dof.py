"""A meshed body in six degrees of freedom: its nodes, its energy, and what large turns in a step do to RK2 and RK4."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from math import pi
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.gallery.closed_forms.runge_kutta_rotation import phase_error
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck
from polhode.massprops.body import Body
from polhode.model.forces import STANDARD_GRAVITY, gravity
from polhode.model.scenario import Scenario
from polhode.model.state import State
from polhode.validation import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from polhode.results.motion import Motion

SIDES = np.array((0.9, 0.6, 0.3))
CELLS = np.array((6, 4, 2))
MASS = 12.0
SPEED = np.array((7.0, 0.0, 4.0))
AXIS = np.array((0.3, 1.0, 0.4))
"""About which it is spun."""
DURATION = 2 * SPEED[2] / STANDARD_GRAVITY
FRAMES = 200
STEPS_A_FRAME = 10
TURNS = 5
CORNER = 0
"""The node that is followed."""
THROWN, RESTING = "thrown", "at rest"
METHODS = {"RK2": ("midpoint", 2), "RK4": ("rk4", 4)}


def _node_positions() -> Array:
    """The corners of the cells, (n, 3) in m."""
    along = [np.linspace(-side / 2, side / 2, cells + 1) for side, cells in zip(SIDES, CELLS, strict=True)]
    return np.array(list(product(*along)))


def _node_masses() -> Array:
    """An eighth of each cell to each of its corners, in kg."""
    shares = [np.where(np.abs(c) == c.max(), 1.0, 2.0) for c in (np.arange(n + 1) - n / 2 for n in CELLS)]
    return np.asarray(np.array([a * b * c for a, b, c in product(*shares)]) * MASS / (8 * CELLS.prod()))


def scenario(turn: float, spin: float) -> dict[str, Scenario]:
    """A throw in fine steps, a rest, and spins about a fixed axis in steps of `turn` by both methods."""
    body = Body.from_particles(_node_masses(), _node_positions())
    fine: dict[str, Any] = {
        "duration": DURATION,
        "step": DURATION / (FRAMES * STEPS_A_FRAME),
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
    """By how much the spin has turned too far, divided by the turns, in rad."""
    w, _, _, z = motion.quaternion_wxyz.T
    angles = np.unwrap(2 * np.arctan2(z, w))
    return float((angles[-1] - angles[0] - motion.times[-1]) * 2 * pi / motion.times[-1])


def _expected_error_per_turn(turn: Any, order: int) -> Any:
    return 2 * phase_error(turn / 2, order) * 2 * pi / turn


def _node_energy(motion: Motion) -> Array:
    """sum m v^2/2 over the nodes, in J."""
    velocities = motion.point_velocities(_node_positions())
    return np.asarray((velocities**2).sum(axis=-1) @ _node_masses() / 2)


def _energy_by_hand(t: float, spin: float) -> float:
    """M v^2/2 + w . I w/2 in J: v falls freely, and w . I w stays what it was at the start.

    Along a side of a and n cells the nodes, an end counted half, have the mean square a^2/12 (1 + 2/n^2).
    """
    squares = SIDES**2 / 12 * (1 + 2 / CELLS**2)
    v = SPEED - (0.0, 0.0, STANDARD_GRAVITY * t)
    w = spin * AXIS / np.linalg.norm(AXIS)
    return float(MASS * (v @ v) / 2 + MASS * (squares.sum() - squares) @ w**2 / 2)


def numbers(motions: Mapping[str, Motion], turn: float, spin: float) -> list[ReferenceCheck]:
    """The error of both methods in a turn; nodes at rest; the energy and the mean displacement of the nodes."""
    thrown = motions[THROWN]
    errors = [
        ReferenceCheck(
            f"{name}: turned too far in each turn",
            "rad",
            _error_per_turn(motions[name]),
            float(_expected_error_per_turn(turn, order)),
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
        ReferenceCheck(
            "largest displacement of a node at rest",
            "m",
            float(np.abs(motions[RESTING].displacements(_node_positions())).max()),
            0.0,
            0.0,
            "u = R p - p + x(t) - x(0); as printed, (4.25) gives p itself",
            size=float(np.linalg.norm(SIDES) / 2),
        ),
        ReferenceCheck(
            "kinetic energy at the apex, sum over the nodes",
            "J",
            float(energy),
            expected := _energy_by_hand(t, spin),
            1e-11 * expected,
            "(4.27): m v^2/2 + w . (I w)/2 of the start, less what the fall takes; <x^2> = a^2/12 (1 + 2/n^2) of nodes",
        ),
        ReferenceCheck(
            "mean displacement of the nodes at the apex, upwards",
            "m",
            float(mean),
            float(SPEED[2] * t - STANDARD_GRAVITY * t**2 / 2),
            1e-12,
            "that of the centre of mass: v t - g t^2/2",
        ),
    ]


def picture(motions: Mapping[str, Motion], turn: float, spin: float) -> Figure:
    """The mesh on its way, displacements of nodes, the energy's history, and the errors of RK2 and RK4."""
    from polhode.plot.style import styled_figure

    with styled_figure(12.0, 8.4, MODEL.title) as figure:
        halves: Any = figure.subfigures(2, 1, height_ratios=(1.12, 1.0))
        above, below = halves
        _draw_flight(above.subplots(), motions[THROWN])
        displacement, energy, errors = below.subplots(1, 3)
        _draw_displacements(displacement, motions)
        _draw_energies(energy, motions[THROWN])
        _draw_errors(errors, motions, turn)
    return figure


def _surface_quads() -> list[tuple[int, int, int, int]]:
    """The faces of the cells on the surface of the mesh, anticlockwise from outside."""
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


def _draw_flight(axes: Axes, motion: Motion) -> None:
    """The mesh at some instants, the way of one corner, and displacements of the nodes of one end."""
    import trimesh

    from polhode.plot.scene import Scene, world_camera
    from polhode.plot.style import COLOR_CYCLE, COLORS

    scene, nodes = Scene(world_camera(0.28, 0.2)), motion.points(_node_positions())
    triangles = [t for a, b, c, d in _surface_quads() for t in ((a, b, c), (a, c, d))]
    for frame in np.linspace(0, FRAMES, 6).astype(int):
        scene.body(trimesh.Trimesh(nodes[frame], triangles, process=False), color=COLORS["body"])
        lift = 0.004 * scene.seen.eye
        for a, b, c, d in _surface_quads():
            loop = nodes[frame, [a, b, c, d]]
            normal = np.cross(loop[1] - loop[0], loop[2] - loop[0])
            if normal @ scene.seen.eye > 0:
                scene.line(np.vstack((loop, loop[:1])) + lift, COLOR_CYCLE[0], width=0.7)
    before = 5.0 * scene.seen.eye
    corner = nodes[:, CORNER] + before
    scene.line(motion.position + before, COLORS["muted"], "centre of mass", 1.4, (0, (4, 3)))
    scene.line(corner, COLOR_CYCLE[1], "a corner node", 1.8)
    later = 2 * FRAMES // 5
    scene.arrow(corner[0], corner[later] - corner[0], COLOR_CYCLE[2], width=1.8)
    for frame in (0, later):
        scene.dot(corner[frame], COLOR_CYCLE[1], 5)
    scene.text((corner[0] + corner[later]) / 2, "its displacement u", COLOR_CYCLE[2], (4, -8))
    scene.draw(axes, "a mesh of 6 x 4 x 2 cells on its way", margin=0.03, legend="upper right")


def _draw_displacements(axes: Axes, motions: Mapping[str, Motion]) -> None:
    """How far some nodes have come, in the throw and at rest."""
    from polhode.plot.panels import format_time_axis
    from polhode.plot.style import COLOR_CYCLE, COLORS

    thrown = motions[THROWN]
    far = np.linalg.norm(thrown.displacements(_node_positions()), axis=-1)
    axes.fill_between(thrown.times, far.min(axis=1), far.max(axis=1), color=COLORS["body"], label="all nodes")
    axes.plot(thrown.times, far[:, CORNER], color=COLOR_CYCLE[1], label="the corner")
    resting = np.linalg.norm(motions[RESTING].displacements(_node_positions()[-1]), axis=-1)
    axes.plot(thrown.times, resting, color=COLOR_CYCLE[2], label="at rest: exactly 0")
    axes.set_title("displacement of nodes")
    axes.set_ylabel("m")
    axes.set_ylim(-0.05 * far.max(), 1.35 * far.max())
    format_time_axis(axes, thrown)
    axes.legend(loc="upper left", ncols=2)


def _draw_energies(axes: Axes, motion: Motion) -> None:
    """The history of the kinetic energy, of the body and of its nodes."""
    from polhode.plot.panels import format_time_axis
    from polhode.plot.style import COLORS, draw_closed_form

    nodes = _node_energy(motion)
    draw_closed_form(axes, motion.times, nodes, "sum over the nodes")
    axes.plot(motion.times, motion.kinetic_energy, color=COLORS["total"], label="of the body")
    for name in ("translational", "rotational"):
        axes.plot(motion.times, getattr(motion, f"{name}_energy"), color=COLORS[name], label=name)
    axes.set_title("kinetic energy")
    axes.set_ylabel("J")
    axes.set_ylim(0.0, 1.45 * nodes.max())
    format_time_axis(axes, motion)
    axes.legend(loc="upper left", ncols=2)


def _draw_errors(axes: Axes, motions: Mapping[str, Motion], turn: float) -> None:
    """How far each turn is off, for any angle a step."""
    from polhode.plot.log_axes import set_log_x, set_log_y
    from polhode.plot.style import COLOR_CYCLE, draw_closed_form

    angles = np.geomspace(0.05, 1.5, 200)
    for (name, (_, order)), color in zip(METHODS.items(), COLOR_CYCLE, strict=False):
        draw_closed_form(
            axes, angles, np.abs(_expected_error_per_turn(angles, order)), "closed form" if order == 2 else ""
        )
        found = _error_per_turn(motions[name])
        axes.plot(turn, abs(found), marker="o", linestyle="none", color=color, label=f"{name}: {found:+.4e}")
    set_log_x(axes, (0.05, 0.1, 0.2, 0.5, 1.0))
    set_log_y(axes)
    axes.set_ylim(top=300.0)
    axes.set_title("error in a turn, sizes")
    axes.set_xlabel("angle a step (rad)")
    axes.set_ylabel("rad")
    axes.legend(loc="upper left")


MODEL = Model(
    name="hydra-6dof",
    title="A mesh in six degrees of freedom: every node moves with the body, none by itself",
    theme="forces and torques",
    source="seed 001 chapter 4, (4.4) to (4.15), (4.24) to (4.27)",
    explanation=(
        "A block of 6 x 4 x 2 cells is thrown, its mass lumped at the nodes. Every node's place, displacement\n"
        "and velocity follow from six degrees of freedom; the energy of all nodes is that of the body, and\n"
        "nodes of a body at rest have displacement zero, which (4.25) as printed misses. Where a step turns\n"
        "by a large angle, RK2 is off by much and RK4 by little: a spin about a fixed axis multiplies the\n"
        "quaternion by a polynomial in each step, and its argument says by how much each turn is off."
    ),
    parameters=(
        Parameter("turn", "rad", 0.5, 0.05, 1.5, "the angle turned in one coarse step"),
        Parameter("spin", "rad/s", 6.0, 0.5, 20.0, "of the block that is thrown"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
)
