"""Methane: a tumbling tetrahedron, drawn as disks and lines sorted by depth."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.shared import finish_time_panel, rk4_settings
from polhode.massprops.shapes import sphere
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.validation import Array
from polhode.web.props import Bonds, Polyline, Text
from polhode.web.stage import Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from polhode.massprops.body import Body
    from polhode.results.motion import Motion

CARBON, HYDROGEN = 12.011, 1.008
CARBON_SIZE, HYDROGEN_SIZE = 0.22, 0.15
"""Radii of the balls, relative to the distance between two hydrogens."""
SPIN = np.array((0.75, 0.2, 0.6)) / np.linalg.norm((0.75, 0.2, 0.6))
LARGER = 1.004
"""Drawn atoms enclose those of the body."""
FRAMES = 400
STEPS_PER_FRAME = 10


def hydrogens(separation: float) -> Array:
    """Positions of the four hydrogens, with the carbon at the origin: (4, 3), in m.

    The first is on z at 3/4 of the tetrahedron height h, h^2 = 1 - 4 cos(pi/6)^2/9.  [Christian 2011, problem 17.1]
    """
    height = np.sqrt(1 - 4 * np.cos(np.pi / 6) ** 2 / 9)
    angles = 2 * np.pi * np.arange(3) / 3
    base = np.stack((np.cos(angles) / np.sqrt(3), np.sin(angles) / np.sqrt(3), np.full(3, -height / 4)), axis=-1)
    return separation * np.concatenate(([(0.0, 0.0, 3 * height / 4)], base))


def molecule(separation: float) -> Body:
    """Five balls, 1 kg per atomic mass unit."""
    body = sphere(CARBON_SIZE * separation, mass=CARBON)
    for place in hydrogens(separation):
        body = body.join(sphere(HYDROGEN_SIZE * separation, mass=HYDROGEN).move(place))
    return body


def scenario(separation: float, spin: float) -> Scenario:
    """The molecule rotates twice about an axis that is not one of its symmetry axes."""
    duration = 4 * np.pi / spin
    return Scenario(
        molecule(separation),
        State(angular_velocity=spin * SPIN),
        **rk4_settings(duration, FRAMES, STEPS_PER_FRAME),
        name="methane",
    )


def _bond_vectors(motion: Motion, separation: float) -> Array:
    """Vectors from the carbon to each hydrogen at every time: (times, 4, 3), in m."""
    places = motion.points(np.concatenate((np.zeros((1, 3)), hydrogens(separation))))
    return np.asarray(places[:, 1:] - places[:, :1])


def numbers(motion: Motion, separation: float, spin: float) -> list[ReferenceCheck]:
    """Bond angle and bond length of the simulated molecule, and the constancy of its spin."""
    bonds = _bond_vectors(motion, separation)[-1]
    cosines = [a @ b / np.sqrt((a @ a) * (b @ b)) for a, b in combinations(bonds, 2)]
    moment = HYDROGEN * separation**2
    moment += (2 / 5) * separation**2 * (CARBON * CARBON_SIZE**2 + 4 * HYDROGEN * HYDROGEN_SIZE**2)
    change = float(np.linalg.norm(motion.angular_velocity - spin * SPIN, axis=1).max())
    turned = float(np.linalg.norm(motion.quaternion_wxyz[-1, 1:]))
    apart = [float(np.linalg.norm(a - b)) for a, b in combinations(bonds, 2)]
    tight = 2e-12
    return [
        ReferenceCheck(
            "angle between two bonds",
            "deg",
            float(np.degrees(np.arccos(np.mean(cosines)))),
            float(np.degrees(np.arccos(-1 / 3))),
            1e-10,
            "acos(-1/3)",
        ),
        ReferenceCheck(
            "C-H bond length",
            "m",
            float(np.linalg.norm(bonds, axis=1).mean()),
            separation * 6**0.5 / 4,
            tight * separation,
            "sqrt(6)/4 of H-H",
        ),
        ReferenceCheck(
            "largest of the six H-H distances", "m", max(apart), separation, tight * separation, "regular tetrahedron"
        ),
        ReferenceCheck(
            "intermediate moment of inertia",
            "kg m2",
            float(np.sort(motion.scenario.bodies[0].principal_moments)[1]),
            moment,
            tight * moment,
            "m_H s^2 + 2/5 (m_C r_C^2 + 4 m_H r_H^2)",
        ),
        ReferenceCheck(
            "change of the angular velocity", "rad/s", change, 0.0, tight * spin, "three equal moments", spin
        ),
        ReferenceCheck(
            "attitude after two revolutions, sine of the half angle",
            "1",
            turned,
            0.0,
            tight,
            "back at the initial attitude",
            1.0,
        ),
    ]


def picture(motion: Motion, separation: float, spin: float) -> Figure:
    """The molecule with and without depth sorting, its bond angle, the hydrogen paths, and the angular velocity."""
    from polhode.plot.style import styled_figure

    with styled_figure(12.0, 8.0, MODEL.title) as figure:
        rows = figure.add_gridspec(2, 1, height_ratios=(1.0, 1.15))
        grid, lower = rows[0].subgridspec(1, 4), rows[1].subgridspec(1, 3, width_ratios=(1.0, 1.0, 1.15))
        for k, share in enumerate((0.0, 0.06, 0.13)):
            at = int(share * (len(motion.times) - 1))
            title = "flat elements sorted by depth" if k == 0 else f"after {motion.times[at]:.2g} s"
            _draw_molecule(figure.add_subplot(grid[k]), motion, separation, at, title)
        listed = int(0.06 * (len(motion.times) - 1))
        _draw_molecule(figure.add_subplot(grid[3]), motion, separation, listed, "unsorted: misleading", by_depth=False)
        _draw_bond_angle(figure.add_subplot(lower[0]), separation)
        _draw_paths(figure.add_subplot(lower[1]), motion, separation)
        _draw_rates(figure.add_subplot(lower[2]), motion, spin)
    return figure


def _draw_molecule(axes: Axes, motion: Motion, separation: float, at: int, title: str, by_depth: bool = True) -> None:
    """The molecule as flat elements, viewed along z.  [Christian 2011, problem 17.1]"""
    from polhode.gallery.drawing.depth_layers import DepthLayers

    layers = DepthLayers()
    bonds = _bond_vectors(motion, separation)[at]
    layers.disc((0, 0, 0), CARBON_SIZE * separation, "#555555")
    for bond in bonds:
        layers.disc(bond, HYDROGEN_SIZE * separation, "#dfe8f2")
    for bond in bonds:
        length = float(np.linalg.norm(bond))
        inner, outer = CARBON_SIZE * separation / length, 1 - HYDROGEN_SIZE * separation / length
        layers.line(inner * bond, outer * bond, "#b5b5b5", width=7.0)
    layers.draw(axes, title, by_depth)
    reach = 0.8 * separation
    axes.set_xlim(-reach, reach)
    axes.set_ylim(-reach, reach)


def _draw_bond_angle(axes: Axes, separation: float) -> None:
    """The plane of the carbon and two hydrogens, with the bond angle."""
    from polhode.gallery.drawing.depth_layers import DepthLayers
    from polhode.plot.style import COLORS

    length, half = separation * 6**0.5 / 4, np.arccos(-1 / 3) / 2
    ends = [length * np.array((sign * np.sin(half), -np.cos(half), 0.0)) for sign in (-1.0, 1.0)]
    layers = DepthLayers()
    for end in ends:
        layers.line((0, 0, -0.1), end, "#b5b5b5", width=7.0)
    layers.disc((0, 0, 0.1), CARBON_SIZE * separation, "#555555")
    for end in ends:
        layers.disc(end + np.array((0, 0, 0.1)), HYDROGEN_SIZE * separation, "#dfe8f2")
    layers.draw(axes, "two bonds in their plane")
    a = np.linspace(-half, half, 60)
    axes.plot(0.5 * length * np.sin(a), -0.5 * length * np.cos(a), color=COLORS["omega"], zorder=5)
    text: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 11}
    axes.text(0, -0.66 * length, f"{np.degrees(2 * half):.5f}°", color=COLORS["omega"], **text)
    low, ends_x = -0.62 * separation, (-separation / 2, separation / 2)
    look = {"arrowstyle": "<|-|>", "color": COLORS["muted"], "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", xy=(ends_x[0], low), xytext=(ends_x[1], low), arrowprops=look)
    axes.vlines(ends_x, low, ends[0][1], color=COLORS["muted"], linewidth=0.8, linestyle=(0, (2, 2)), zorder=1)
    axes.text(0, low - 0.07 * separation, f"H-H {separation:g} m", color=COLORS["muted"], **text)
    axes.text(0, 0.3 * separation, f"C-H {length:.5g} m", **text)
    axes.set_xlim(-0.72 * separation, 0.72 * separation)
    axes.set_ylim(-0.78 * separation, 0.4 * separation)


def _draw_paths(axes: Axes, motion: Motion, separation: float) -> None:
    """The molecule in space, and the circles of its hydrogens around the angular velocity."""
    from polhode.plot.scene import Scene, world_camera
    from polhode.plot.style import AXIS_COLORS, COLORS

    scene = Scene(world_camera(0.65, 0.35))
    at = len(motion.times) // 16
    scene.body(
        motion.scenario.bodies[0], rotation=motion.rotation_matrix[at], color=_atom_colors(separation), segments=20
    )
    bonds, center = _bond_vectors(motion, separation), motion.position[at]
    for k, color in enumerate((*AXIS_COLORS, COLORS["ink"])):
        scene.line(bonds[: FRAMES // 2 + 1, k], color, width=1.1)
        scene.line([center, bonds[at, k]], "#8a8a8a", width=3.0)
    scene.arrow(center, 0.95 * separation * SPIN, COLORS["omega"], "ω = L/I")
    scene.draw(axes, "the hydrogens move on circles")


def _atom_colors(separation: float) -> Callable[[Array], list[str]]:
    def colors(centers: Array) -> list[str]:
        inside = np.linalg.norm(centers, axis=1) < 0.35 * separation
        return ["#777777" if near else "#dfe8f2" for near in inside]

    return colors


def _draw_rates(axes: Axes, motion: Motion, spin: float) -> None:
    from polhode.plot.style import AXIS_COLORS, XYZ_LABELS, draw_closed_form

    draw_closed_form(axes, motion.times, np.tile(spin * SPIN, (len(motion.times), 1)), "initial value")
    for i, name in enumerate(XYZ_LABELS):
        axes.plot(motion.times, motion.angular_velocity[:, i], color=AXIS_COLORS[i], label=name)
    axes.set_ylim(0.0, 1.15 * spin)
    finish_time_panel(axes, motion, "ω is constant", "rad/s", 4)


def stage(separation: float, spin: float) -> Stage:
    """Balls and sticks, and the angle between two bonds."""
    atoms = np.concatenate((np.zeros((1, 3)), hydrogens(separation)))
    radii = separation * np.array((CARBON_SIZE, *[HYDROGEN_SIZE] * 4)) * LARGER
    one, other = (atoms[k] / np.linalg.norm(atoms[k]) for k in (1, 2))
    arc = [t * one + (1 - t) * other for t in np.linspace(0.0, 1.0, 25)]
    bow = np.array([0.36 * separation * p / np.linalg.norm(p) for p in arc])
    bonds = Bonds(
        atoms, [(0, k) for k in range(1, 5)], 0.045 * separation, radii.tolist(), ("#4a4f58", *["#f2f2f2"] * 4)
    )
    return Stage(
        off=("L", "omega", "bodyAxes", "trailOmega"),
        switches=("trailPoint",),
        point=atoms[1],
        panels=("quaternion", "angular_velocity_world"),
        props=(
            bonds,
            Polyline(bow, attached="body", color="axis1"),
            Text(bow[12] * 1.3, label="109.47°", attached="body", color="axis1"),
        ),
        shows="A molecule of methane tumbles: a carbon atom with four hydrogens at the corners of a tetrahedron.",
    )


MODEL = Model(
    name="methane",
    title="Methane: four bonds, 109.47° between any two",
    theme="transformations and rotations",
    source="[Christian 2011, problem 17.1]",
    explanation=(
        "Carbon sits at the center of a tetrahedron, four hydrogens at its corners: the cosine of the angle between\n"
        "any two bonds is -1/3, since the four unit vectors sum to zero. A bond is sqrt(6)/4 of the distance between\n"
        "two hydrogens. The drawing consists of disks and lines; it looks solid only if the far ones are drawn first.\n"
        "The molecule also tumbles: its symmetry makes its three moments of inertia equal, so it spins steadily\n"
        "about any axis, like a ball, and each hydrogen moves on a circle."
    ),
    parameters=(
        Parameter("separation", "m", 1.0, 0.1, 10.0, "distance between two hydrogens, center to center"),
        Parameter("spin", "rad/s", 2.0, 0.1, 20.0, "angular velocity"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=stage,
    lesson=Lesson(
        formulas=(
            Formula(r"\cos\alpha = -\frac{1}{3}", "the angle between two bonds: 109.47 degrees"),
            Formula(r"b = \frac{\sqrt{6}}{4}\,a", "a bond, from the distance a between two hydrogens"),
        ),
        steps=(
            TryThis(
                ("Follow one body axis: its tip moves on a circle, since the molecule spins like a ball."),
                switches=("trailAxis1",),
            ),
            TryThis("Ten times the spin: the motion is the same, only faster.", values={"spin": 20.0}),
            TryThis("Ten times the size: angles stay, and so does the period.", values={"separation": 10.0}),
        ),
        references=("Christian 2011, problem 17.1",),
    ),
)
