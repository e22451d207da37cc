"""Methane: a tumbling tetrahedron, drawn as disks and lines sorted by depth."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.pictures import Closed, Curves, DrawPanel, components, panels, space
from polhode.gallery.shared import rk4_settings
from polhode.massprops.body import Body
from polhode.massprops.shapes import sphere
from polhode.results.motion import Motion
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.validation import Array
from polhode.web.props import Bonds, Polyline, Text
from polhode.web.stage import Stage

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
        check(
            "angle between two bonds",
            "deg",
            np.degrees(np.arccos(np.mean(cosines))),
            np.degrees(np.arccos(-1 / 3)),
            1e-10,
            "acos(-1/3)",
        ),
        check(
            "C-H bond length",
            "m",
            np.linalg.norm(bonds, axis=1).mean(),
            separation * 6**0.5 / 4,
            tight * separation,
            "sqrt(6)/4 of H-H",
        ),
        check(
            "largest of the six H-H distances", "m", max(apart), separation, tight * separation, "regular tetrahedron"
        ),
        check(
            "intermediate moment of inertia",
            "kg m2",
            np.sort(motion.scenario.bodies[0].principal_moments)[1],
            moment,
            tight * moment,
            "m_H s^2 + 2/5 (m_C r_C^2 + 4 m_H r_H^2)",
        ),
        check("change of the angular velocity", "rad/s", change, 0.0, tight * spin, "three equal moments", spin),
        check(
            "attitude after two revolutions, sine of the half angle",
            "1",
            turned,
            0.0,
            tight,
            "back at the initial attitude",
            1.0,
        ),
    ]


@panels("AAABBBCCCDDD;EEEEFFFFGGGG", heights=(1.0, 1.15))
def picture(motion: Motion, separation: float, spin: float) -> list[DrawPanel]:
    """The molecule with and without depth sorting, its bond angle, the hydrogen paths, and the angular velocity."""
    first, second = (int(share * (len(motion.times) - 1)) for share in (0.06, 0.13))
    rates = components(motion.angular_velocity, "xyz")
    initial = Closed(np.tile(spin * SPIN, (len(motion.times), 1)), "initial value")
    return [
        _flat_molecule(motion, separation, 0, "flat elements sorted by depth"),
        *(_flat_molecule(motion, separation, at, f"after {motion.times[at]:.2g} s") for at in (first, second)),
        _flat_molecule(motion, separation, first, "unsorted: misleading", by_depth=False),
        _bond_angle(separation),
        _paths(motion, separation),
        Curves("ω is constant", "rad/s", rates, initial, motion, y=(0.0, 1.15 * spin), legend=(4, 1)),
    ]


def _flat_molecule(motion: Motion, separation: float, at: int, title: str, by_depth: bool = True) -> DrawPanel:
    """The molecule as flat elements, viewed along z.  [Christian 2011, problem 17.1]"""
    from polhode.gallery.drawing import DepthLayers

    layers, bonds = DepthLayers(), _bond_vectors(motion, separation)[at]
    layers.disc((0, 0, 0), CARBON_SIZE * separation, "#555555")
    for bond in bonds:
        layers.disc(bond, HYDROGEN_SIZE * separation, "#dfe8f2")
    for bond in bonds:
        length = float(np.linalg.norm(bond))
        inner, outer = CARBON_SIZE * separation / length, 1 - HYDROGEN_SIZE * separation / length
        layers.line(inner * bond, outer * bond, "#b5b5b5", width=7.0)
    return layers.panel(title, by_depth, 0.8 * separation)


def _bond_angle(separation: float) -> DrawPanel:
    """The plane of the carbon and two hydrogens, with the bond angle."""
    from polhode.gallery.drawing import DepthLayers
    from polhode.plot.style import COLORS

    length, half, layers = separation * 6**0.5 / 4, np.arccos(-1 / 3) / 2, DepthLayers()
    ends = [length * np.array((sign * np.sin(half), -np.cos(half), 0.0)) for sign in (-1.0, 1.0)]
    for end in ends:
        layers.line((0, 0, -0.1), end, "#b5b5b5", width=7.0)
    layers.disc((0, 0, 0.1), CARBON_SIZE * separation, "#555555")
    for end in ends:
        layers.disc(end + np.array((0, 0, 0.1)), HYDROGEN_SIZE * separation, "#dfe8f2")

    def draw(axes: Axes) -> None:
        layers.draw(axes, "two bonds in their plane")
        a, low = np.linspace(-half, half, 60), -0.62 * separation
        axes.plot(0.5 * length * np.sin(a), -0.5 * length * np.cos(a), color=COLORS["omega"], zorder=5)
        look = {"arrowstyle": "<|-|>", "color": COLORS["muted"], "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", xy=(-separation / 2, low), xytext=(separation / 2, low), arrowprops=look)
        texts = {
            -0.66 * length: (f"{np.degrees(2 * half):.5f}°", "omega"),
            low - 0.07 * separation: (f"H-H {separation:g} m", "muted"),
            0.3 * separation: (f"C-H {length:.5g} m", "ink"),
        }
        for y, (text, color) in texts.items():
            axes.text(0, y, text, color=COLORS[color], ha="center", va="center", fontsize=11)
        axes.set(xlim=(-0.72 * separation, 0.72 * separation), ylim=(-0.78 * separation, 0.4 * separation))

    return draw


def _paths(motion: Motion, separation: float) -> DrawPanel:
    """The molecule in space, and the circles of its hydrogens around the angular velocity."""
    scene, at, bonds = space(0.65, 0.35), len(motion.times) // 16, _bond_vectors(motion, separation)

    def atom_colors(centers: Array) -> list[str]:
        return ["#777777" if near else "#dfe8f2" for near in np.linalg.norm(centers, axis=1) < 0.35 * separation]

    scene.frames(motion, [at], color=atom_colors, segments=20)
    center = motion.position[at]
    for k, color in enumerate(("axis_1", "axis_2", "axis_3", "ink")):
        scene.line(bonds[: FRAMES // 2 + 1, k], color, width=1.1)
        scene.line([center, bonds[at, k]], "#8a8a8a", width=3.0)
    scene.arrow(center, 0.95 * separation * SPIN, "omega", "ω = L/I")
    return scene.panel("the hydrogens move on circles")


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
    explanation="""\
Carbon sits at the center of a tetrahedron, four hydrogens at its corners: the cosine of the angle between
any two bonds is -1/3, since the four unit vectors sum to zero. A bond is sqrt(6)/4 of the distance between
two hydrogens. The drawing consists of disks and lines; it looks solid only if the far ones are drawn first.
The molecule also tumbles: its symmetry makes its three moments of inertia equal, so it spins steadily
about any axis, like a ball, and each hydrogen moves on a circle.""",
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
                "Follow one body axis: its tip moves on a circle, since the molecule spins like a ball.",
                switches=("trailAxis1",),
            ),
            TryThis("Ten times the spin: the motion is the same, only faster.", values={"spin": 20.0}),
            TryThis("Ten times the size: angles stay, and so does the period.", values={"separation": 10.0}),
        ),
        references=("Christian 2011, problem 17.1",),
    ),
)
