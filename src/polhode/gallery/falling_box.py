"""Boxes that bounce without loss: how much energy goes into rotation, in two and in three dimensions?"""

from __future__ import annotations

from collections.abc import Mapping
from math import pi, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.pictures import Curves, DrawPanel, Line, drawn, energies, panels, space
from polhode.massprops.body import Body
from polhode.massprops.shapes import box, thin_sheet
from polhode.results.motion import Motion
from polhode.scenario.contact import floor
from polhode.scenario.forces import STANDARD_GRAVITY, gravity
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.validation import Array
from polhode.web.stage import Stage, StageCamera

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MASS, WIDTH, DEPTH = 1.0, 0.2, 0.1
FALLS, OUTPUTS = 270, 500
"""Duration of an ensemble in times of fall sqrt(2 h/g), and how often it is looked at."""
WATCHED_FALLS, FRAMES = 18, 400
TRANSIENT = 0.1
"""Share of the duration that the means leave out."""
ONE, SPACE, PLANE = "one box", "boxes in 3D", "boxes in 2D"
SEED = 17


def scenario(height: float, length: float, boxes: float) -> dict[str, Scenario]:
    """One box to watch; and many, released at rest at the same height in random attitudes, in space and in a plane."""
    count, random = round(boxes), np.random.default_rng(SEED)
    fall = sqrt(2 * height / STANDARD_GRAVITY)
    attitudes, in_plane = random.normal(size=(2, count, 4))
    in_plane[:, [1, 3]] = 0.0
    attitudes, in_plane = (q / np.linalg.norm(q, axis=1, keepdims=True) for q in (attitudes, in_plane))
    solid = box((DEPTH, WIDTH, length), MASS)
    return {
        ONE: _drop_scenario(solid, height, attitudes[0], WATCHED_FALLS * fall, FRAMES, "auto"),
        SPACE: _drop_scenario(solid, height, attitudes, FALLS * fall, OUTPUTS, "auto"),
        # The steps of dop853 keep a plane motion in its plane to the last bit; the closed form rounds, and the
        # impacts amplify that.
        PLANE: _drop_scenario(_make_section(length), height, in_plane, FALLS * fall, OUTPUTS, "dop853"),
    }


def _make_section(length: float) -> Body:
    """The box in its plane, x and z; its depth does not matter."""
    return thin_sheet((WIDTH, length), MASS).mirror((0.0, 1.0, -1.0))


def _drop_scenario(body: Body, height: float, attitude: Array, duration: float, outputs: int, method: str) -> Scenario:
    return Scenario(
        body,
        State(position=np.broadcast_to((0.0, 0.0, height), (*attitude.shape[:-1], 3)), quaternion_wxyz=attitude),
        [gravity()],
        duration=duration,
        output_step=duration / outputs,
        method=method,
        contacts=[floor(restitution=1.0)],
        name="falling-box",
    )


class MeanEnergies(NamedTuple):
    """Means over time and members, in J, and the ratio with its standard error over the members."""

    vertical: float
    rotational: float
    ratio: float
    error: float


def mean_energies(motion: Motion) -> MeanEnergies:
    """Mean kinetic energies of the vertical motion and of rotation, after the transient."""
    late = motion.times > TRANSIENT * motion.times[-1]
    vertical = (MASS * motion.velocity[late, :, 2] ** 2 / 2).mean(axis=0)
    rotational = motion.rotational_energy[late].mean(axis=0)
    ratio = rotational.mean() / vertical.mean()
    error = np.std(rotational - ratio * vertical, ddof=1) / (sqrt(len(vertical)) * vertical.mean())
    return MeanEnergies(*(float(x) for x in (vertical.mean(), rotational.mean(), ratio, error)))


def microcanonical_mean(height: float, length: float, dimensions: int) -> float:
    """Mean kinetic energy in J if all states of the energy M g h are equally likely, without horizontal momentum.

    With n quadratic terms in the kinetic energy K the density of positions is proportional to K^(n/2 - 1), K = M g (h
    - z), above the height at which the box touches the floor.  In a plane n = 2.  In space the vertical angular
    momentum stays 0: n = 3, and an attitude has the weight 1/sqrt(Izz).
    """
    x, weights = np.polynomial.legendre.leggauss(60)
    angle, weights = (x + 1) * pi / 4, weights * pi / 4
    if dimensions == 2:
        free = height - (WIDTH * np.cos(angle) + length * np.sin(angle)) / 2
        return float(MASS * STANDARD_GRAVITY * (weights @ free**2 / 2) / (weights @ free))
    theta, phi = angle[:, None], angle[None, :]
    up = np.stack((np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta) + 0 * phi), axis=-1)
    sides = np.array((DEPTH, WIDTH, length))
    moment = (up**2 * (sides @ sides - sides**2)).sum(axis=-1)
    share = weights[:, None] * weights * np.sin(theta) / np.sqrt(moment)
    free = height - (up * sides).sum(axis=-1) / 2
    return float(MASS * STANDARD_GRAVITY * 3 / 5 * (share * free**2.5).sum() / (share * free**1.5).sum())


def numbers(motions: Mapping[str, Motion], height: float, length: float, boxes: float) -> list[ReferenceCheck]:
    """What is conserved, the ratio of the mean energies in 2D and 3D, and the mean kinetic energies."""
    whole, space, plane = MASS * STANDARD_GRAVITY * height, motions[SPACE], motions[PLANE]
    momentum = np.linalg.norm(space.angular_momentum, axis=-1).max()
    about_z = space.angular_momentum[..., 2] - MASS * np.cross(space.position, space.velocity)[..., 2]
    checks = [
        check(
            "largest relative change of energy, 3D",
            "1",
            np.abs(space.energy / whole - 1).max(),
            0.0,
            1e-11,
            "restitution 1, no friction",
            size=1.0,
        ),
        check(
            "largest vertical angular momentum, 3D",
            "kg m2/s",
            np.abs(about_z).max(),
            0.0,
            1e-11 * float(momentum),
            "vertical impulses have no torque about the vertical",
            size=momentum,
        ),
    ]
    for motion, dimensions, terms in ((plane, 2, "1 : 1"), (space, 3, "1 : 2, since L is horizontal")):
        found = mean_energies(motion)
        checks += [
            check(
                f"rotational over vertical kinetic energy, {dimensions}D",
                "1",
                found.ratio,
                dimensions - 1.0,
                0.05 * (dimensions - 1),
                f"equipartition, {terms}",
            ),
            check(
                f"mean kinetic energy, {dimensions}D",
                "J",
                found.vertical + found.rotational,
                expected := microcanonical_mean(height, length, dimensions),
                0.03 * expected,
                "mean over all states of that energy",
            ),
        ]
    return checks


@panels("AB;CD")
def picture(motions: Mapping[str, Motion], height: float, length: float, boxes: float) -> list[DrawPanel]:
    """One box and its energies; the means of many, in 2D and 3D, as they settle, and box by box."""
    one = motions[ONE]
    parts = energies(one, "rotational", "translational", "potential")
    return [
        _bounces(one),
        Curves("its energy", "J", over=one, stacked=parts, y=(0.0, 1.04 * float(one.energy.max())), impacts=True),
        Curves(
            "rotational/vertical",
            "ratio of means",
            [_running_ratio(motions[name], name[-2:]) for name in (SPACE, PLANE)],
            over=motions[SPACE],
            levels=(1.0, 2.0),
            y=(0.0, 2.6),
        ),
        drawn(_draw_shares, motions, title="rotational share"),
    ]


def _bounces(motion: Motion) -> DrawPanel:
    """The first falls and bounces; the box stays where it is, the copies are moved aside."""
    scene, sides = space(0.0, 0.0), (DEPTH, WIDTH, motion.scenario.bodies[0].surface().vertices[:, 2].max() * 2)
    size, frames = float(np.linalg.norm(sides)), np.arange(0, FRAMES // 3, 9)
    scene.frames(motion, frames, (0.62 * size, 0.0, 0.0), half=2)
    scene.ground((-size, 0.0, 0.0), (0.62 * size * len(frames) + size / 2, 0.0, 0.0), 0.12 * size)
    return scene.panel(f"one box, every {motion.times[9]:.2g} s, to the right", margin=0.01)


def _running_ratio(motion: Motion, name: str) -> Line:
    """Ratio of the means from the end of the transient on, with its final standard error."""
    late, found = motion.times > TRANSIENT * motion.times[-1], mean_energies(motion)
    vertical = (MASS * motion.velocity[late, :, 2] ** 2 / 2).mean(axis=1).cumsum()
    ratio = motion.rotational_energy[late].mean(axis=1).cumsum() / vertical
    return Line(ratio, f"{name}: {found.ratio:.3f} ± {found.error:.3f}", x=motion.times[late])


def _draw_shares(axes: Axes, motions: Mapping[str, Motion]) -> None:
    """Histograms over the boxes of the rotational share of the kinetic energy, mean over time."""
    from polhode.plot.style import COLOR_CYCLE, add_legend_above

    for name, expected, color in ((SPACE, 2 / 3, COLOR_CYCLE[0]), (PLANE, 1 / 2, COLOR_CYCLE[1])):
        motion = motions[name]
        late = motion.times > TRANSIENT * motion.times[-1]
        share = motion.rotational_energy[late].mean(axis=0) / motion.kinetic_energy[late].mean(axis=0)
        axes.hist(share, bins=np.linspace(0.35, 0.8, 46).tolist(), color=color, alpha=0.6, label=name)
        axes.axvline(expected, color="#222222", linewidth=1.0, linestyle=(0, (4, 3)))
    axes.set_xlabel("share of the kinetic energy, mean over time; dashed: 1/2 and 2/3")
    axes.set_ylabel("boxes")
    add_legend_above(axes, 2)


def stage(height: float, length: float, boxes: float, run: str) -> Stage:
    """One box that bounces, or many."""
    return Stage(
        camera=StageCamera(elevation_deg=10.0, target=(0.0, 0.0, 0.5 * height), radius=0.82 * height)
        if run == ONE
        else None,
        off=("omega", "L", "torque", "trailOmega", "bodyAxes", "forces"),
        panels=("energy", "position", "angular_velocity", "drift"),
        shows="A box bounces on a floor that returns all of its energy, and tumbles ever differently.",
    )


MODEL = Model(
    name="falling-box",
    title="Bouncing boxes share their energy evenly between the degrees of freedom that take part",
    theme="impact and contact",
    source="[Christian 2011, project 17.3]",
    explanation="""\
Does the average energy of translation equal that of rotation? Boxes start at rest above a floor without
friction that returns all energy; a corner strikes, they tumble, and after many bounces the answer is:
evenly between degrees of freedom. Horizontal translation has none, for the floor only pushes upward. In
a plane vertical motion and rotation are equal. In space three rotational degrees would make it 1 : 3, but
the vertical angular momentum stays zero: 1 : 2. The means are those of all states of that energy.""",
    parameters=(
        Parameter("height", "m", 1.0, 0.5, 3.0, "initial height of the center of the box"),
        Parameter("length", "m", 0.3, 0.05, 0.6, "one side; the others are 0.2 and 0.1 m"),
        Parameter("boxes", "1", 64.0, 64.0, 2000.0, "number of boxes in each ensemble"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=stage,
    lesson=Lesson(
        formulas=(
            Formula(
                r"\langle E_{\mathrm{trans}}\rangle : \langle E_{\mathrm{rot}}\rangle = 1 : 2",
                "in space: one vertical degree of freedom, two of rotation",
            ),
            Formula(r"\langle E_{\mathrm{trans}}\rangle : \langle E_{\mathrm{rot}}\rangle = 1 : 1", "in a plane"),
        ),
        steps=(
            TryThis("One box: each bounce exchanges energy between falling and turning.", run="one box"),
            TryThis("From 3 m.", values={"height": 3.0}, run="one box"),
            TryThis("Sixty-four boxes in a plane.", run="boxes in 2D"),
        ),
        references=("Christian 2011, project 17.3",),
    ),
)
