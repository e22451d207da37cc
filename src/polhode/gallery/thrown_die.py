"""Thrown dice: all come to rest on a face, and each face is as likely as any other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.pictures import Curves, DrawPanel, Line, drawn, energies, panels, space
from polhode.massprops.shapes import box
from polhode.results.motion import Motion
from polhode.scenario.contact import floor
from polhode.scenario.forces import STANDARD_GRAVITY, gravity
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.validation import Array
from polhode.web.props import Bonds
from polhode.web.stage import Stage, StageCamera

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIDE, MASS = 0.016, 0.005
PIP, SUNK = 0.0015, 0.0070
"""Radius of a point on a face, and distance of its center from that of the die, in m."""
HEIGHT, SPEED, SPIN = 0.15, 1.0, 15.0
"""Of the hand: height in m, mean speed in m/s, standard deviation of each rate in rad/s."""
FACES = np.array(((6, 1), (5, 2), (4, 3)))
"""Points on the face on the positive and on the negative side of each body axis: opposite faces sum to 7."""
DURATION, FRAMES = 5.0, 500
ONE, ALL = "one throw", "all throws"
CHI_SQUARE_MEAN, CHI_SQUARE_LIMIT = 5.0, 20.515
"""Of five degrees of freedom: mean, and the value that one experiment in a thousand exceeds."""
SEED = 6


def scenario(throws: float, restitution: float, friction: float) -> dict[str, Scenario]:
    """One throw to watch, and all of them, of which it is the first: random attitudes and rates."""
    count, random = round(throws), np.random.default_rng(SEED)
    attitudes = random.normal(size=(count, 4))
    velocities = random.normal((SPEED, 0.0, 0.0), 0.2, (count, 3))
    rates = random.normal(0.0, SPIN, (count, 3))
    start = State(
        position=np.broadcast_to((0.0, 0.0, HEIGHT), (count, 3)),
        velocity=velocities,
        quaternion_wxyz=attitudes / np.linalg.norm(attitudes, axis=1, keepdims=True),
        angular_velocity_body=rates,
    )
    first = State(
        position=start.position[0],
        velocity=velocities[0],
        quaternion_wxyz=start.quaternion_wxyz[0],
        angular_velocity_body=rates[0],
    )
    table: Any = {"forces": [gravity()], "contacts": [floor(restitution, friction)], "name": "thrown-die"}
    die = box((SIDE, SIDE, SIDE), MASS)
    return {
        ONE: Scenario(die, first, duration=DURATION, output_step=DURATION / FRAMES, **table),
        ALL: Scenario(die, start, duration=DURATION, output_times=[DURATION], **table),
    }


def points_on_top(motion: Motion) -> Array:
    """The points on the face that ends on top, of each die."""
    up = motion.rotation_matrix[-1][..., 2, :]
    axis = np.abs(up).argmax(axis=-1)
    below = np.take_along_axis(up, axis[..., None], axis=-1)[..., 0] < 0
    return np.asarray(FACES[axis, below.astype(int)])


def count_faces(motion: Motion) -> NDArray[np.intp]:
    """How often 1 to 6 came up."""
    return np.bincount(points_on_top(motion), minlength=7)[1:]


def chi_square(counts: NDArray[np.intp]) -> float:
    """Sum of (count - mean)^2/mean."""
    return float(((counts - counts.mean()) ** 2).sum() / counts.mean())


def numbers(motions: Mapping[str, Motion], throws: float, restitution: float, friction: float) -> list[ReferenceCheck]:
    """How the dice end, and whether they are fair."""
    motion, one = motions[ALL], motions[ONE]
    height = motion.position[-1, :, 2]
    resting = MASS * STANDARD_GRAVITY * SIDE / 2
    return [
        check(
            "height of the center in the end, where it differs most",
            "m",
            height[np.abs(height - SIDE / 2).argmax()],
            SIDE / 2,
            1e-9 * SIDE,
            "half a side: every die lies on a face",
        ),
        check("dice at rest", "1", (motion.contact_state[-1] == "resting").sum(), round(throws), 0.0, "all of them"),
        check("energy in the end, one throw", "J", one.energy[-1], resting, 1e-9 * resting, "M g a/2"),
        check(
            "chi-square of the faces",
            "1",
            chi_square(count_faces(motion)),
            CHI_SQUARE_MEAN,
            CHI_SQUARE_LIMIT - CHI_SQUARE_MEAN,
            "5 degrees of freedom: 5 on average, above 20.5 once in a thousand",
        ),
    ]


@panels("AAA;BCD", size=(12.0, 7.6), heights=(1.0, 1.2))
def picture(motions: Mapping[str, Motion], throws: float, restitution: float, friction: float) -> list[DrawPanel]:
    """One throw and its energy; how often each face came up, and where the dice lie."""
    one, motion = motions[ONE], motions[ALL]
    ends, top = int(np.argmax(one.contact_state == "resting")), points_on_top(motion)
    places = [motion.position[-1][top == points].T for points in range(1, 7)]
    parts = energies(one, "rotational", "translational", "potential", scale=1e3)
    return [
        _throw(one, ends),
        Curves(
            "its energy", "mJ", over=one, stacked=parts, impacts=True, x=(0.0, float(one.times[ends])), legend=(3, 1)
        ),
        drawn(_draw_faces, motion),
        Curves(
            "where they lie",
            "y (m)",
            [Line(y, f"{k + 1}", k, ".", x, size=3) for k, (x, y, _) in enumerate(places)],
            across="x (m)",
            legend=(6, 1),
        ),
    ]


def _throw(motion: Motion, ends: int) -> DrawPanel:
    """The die at equal time intervals until it rests, from the side."""
    scene, x = space(0.0, 0.0), motion.position[:, 0]
    scene.frames(motion, np.linspace(0, ends, 24).round().astype(int), color=_face_colors)
    scene.ground((x.min() - SIDE, 0.0, 0.0), (x.max() + 2 * SIDE, 0.0, 0.0), SIDE / 3)
    title = f"one throw until it rests after {motion.times[ends]:.2f} s, with {points_on_top(motion)} on top"
    return scene.panel(title, margin=0.01)


def _face_colors(centers: Array) -> list[int]:
    """A color for each face."""
    axis = np.abs(centers).argmax(axis=1)
    return [int(FACES[k, int(center[k] < 0)]) - 1 for center, k in zip(centers, axis, strict=True)]


def _draw_faces(axes: Axes, motion: Motion) -> None:
    """Counts, over the band of one standard deviation of a fair die."""
    from polhode.plot.style import COLOR_CYCLE, COLORS

    counts = count_faces(motion)
    mean, spread = counts.mean(), np.sqrt(counts.sum() * 5 / 36)
    axes.bar(range(1, 7), counts, color=COLOR_CYCLE[0], alpha=0.75)
    axes.axhspan(mean - spread, mean + spread, color=COLORS["potential"], alpha=0.35, linewidth=0)
    axes.set_title(f"{counts.sum():,} throws: chi-square {chi_square(counts):.2f}")
    axes.set_xlabel("points on top; band: a sixth, ± one standard deviation")
    axes.set_ylabel("throws")


def _place_pips() -> Array:
    """Centers of the 21 points on the faces, in m, body axes."""
    spread = {1: [(0, 0)], 2: [(-1, -1), (1, 1)], 3: [(-1, -1), (0, 0), (1, 1)]}
    spread[4] = [(x, y) for x in (-1, 1) for y in (-1, 1)]
    spread[5] = [*spread[4], (0, 0)]
    spread[6] = [(x, y) for x in (-1, 0, 1) for y in (-1, 1)]
    found = []
    for axis, both in enumerate(FACES):
        for side, points in zip((1, -1), both, strict=True):
            found += [np.roll((side * SUNK, x * SIDE / 4, y * SIDE / 4), axis) for x, y in spread[int(points)]]
    return np.array(found)


def stage(throws: float, restitution: float, friction: float, run: str) -> Stage:
    """The die with its points."""
    pips = Bonds(_place_pips().tolist(), (), PIP, radii=(PIP,) * 21, color="#222222")
    return Stage(
        camera=StageCamera(elevation_deg=30.0) if run == ONE else None,
        off=("omega", "L", "torque", "trailOmega", "bodyAxes", "forces"),
        panels=("position", "angular_velocity", "energy"),
        props=(pips,),
        shows="A die falls on a table, bounces, slides and comes to rest on a face.",
    )


MODEL = Model(
    name="thrown-die",
    title="Thrown dice come to rest, and no face is favored",
    theme="impact and contact",
    source="[Christian 2011, project 17.3]; Pearson's chi-square test",
    explanation="""\
Dice of 16 mm are thrown from a hand's height with random attitudes and rates. They strike the table with
corners, edges and faces, rebound, slide and tumble, and after infinitely many, ever smaller bounces each
lies still on a face. By the symmetry of the throw all faces are equally likely; the chi-square of the
counts says whether the simulation agrees. Try --throws 100000: the same throws give the same faces on any
number of threads.""",
    parameters=(
        Parameter("throws", "1", 300.0, 60.0, 100_000.0, "number of throws"),
        Parameter("restitution", "1", 0.4, 0.0, 0.6, "restitution of the table"),
        Parameter("friction", "1", 0.3, 0.1, 1.0, "friction of the table"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=stage,
    lesson=Lesson(
        formulas=(
            Formula(r"\chi^2 = \sum_{k=1}^{6}\frac{(n_k - n/6)^2}{n/6}", "how far the counts are from equal shares"),
        ),
        steps=(
            TryThis("One throw.", run="one throw"),
            TryThis("A table that does not rebound.", values={"restitution": 0.0}, run="one throw"),
            TryThis("A lively table: more bounces.", values={"restitution": 0.6}, run="one throw"),
            TryThis("All throws together.", run="all throws"),
        ),
        references=("Christian 2011, project 17.3",),
    ),
)
