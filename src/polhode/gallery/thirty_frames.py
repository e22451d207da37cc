"""Thirty frames per second for ten seconds: a box in the wind, with every frame at its exact time."""

from __future__ import annotations

import numpy as np

from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.pictures import Closed, Curves, DrawPanel, Line, panels, space
from polhode.massprops.shapes import box
from polhode.reference.fall import Flight, with_linear_drag
from polhode.results.motion import Motion
from polhode.scenario.forces import STANDARD_GRAVITY, gravity, linear_drag
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.validation import Array
from polhode.web.props import PointsCloud, TargetDirection
from polhode.web.stage import Stage, StageCamera

RATE, FRAMES = 30, 300
SIDES = (0.5, 0.3, 0.2)
STEPS_PER_FRAME = 40
BOXES = 8
"""Number of boxes drawn after the first."""


def scenario(mass: float, drag: float, wind: float, spin: float) -> Scenario:
    """A box released with spin only; frame k is at k/30 s."""
    return Scenario(
        box(SIDES, mass),
        State(angular_velocity_body=(0.1 * spin, spin, 0.1 * spin)),
        [gravity(), linear_drag(drag, (wind, 0.0, 0.0))],
        duration=FRAMES / RATE,
        step=1 / (RATE * STEPS_PER_FRAME),
        output_times=np.arange(FRAMES + 1) / RATE,
        method="rk4",
        name="thirty-frames",
    )


def _closed_form_fall(t: Array, mass: float, drag: float, wind: float) -> Flight:
    return with_linear_drag(t, mass, drag, (0.0, 0.0, -STANDARD_GRAVITY), wind=(wind, 0.0, 0.0))


def run_printed_loop() -> tuple[int, float]:
    """Iterations of the loop `for (t = 0; t < 10.0; t += 1./30.)` in doubles, and the time at which the last ends."""
    t, turns = 0.0, 0
    while t < 10.0:
        t += 1.0 / 30.0
        turns += 1
    return turns, t


def numbers(motion: Motion, mass: float, drag: float, wind: float, spin: float) -> list[ReferenceCheck]:
    """Position of the box in the last frame, and the number of frames."""
    x, _, z = motion.position[-1].tolist()
    end = _closed_form_fall(motion.times[-1], mass, drag, wind).position
    size = float(np.linalg.norm(end))
    late = float(np.abs(motion.times * RATE - np.arange(len(motion.times))).max())
    turns, last = run_printed_loop()
    closed = "(g + c w/M) t^2 p2(c t/M), p2(z) = (z - 1 + e^-z)/z^2"
    return [
        check("x in the last frame", "m", x, end[0], 1e-10 * size, closed, size),
        check("z in the last frame", "m", z, end[2], 1e-10 * size, closed),
        check("frames after the start", "1", len(motion.times) - 1.0, 300.0, 0.0, "30 per second for 10 s"),
        check("time of the last frame", "s", motion.times[-1], 10.0, 0.0, "exactly 300/30"),
        check("largest timing error of a frame", "frames", late, 0.0, 1e-13, "t = k/30 instead of a sum of 1/30", 1.0),
        check(
            "iterations of the printed loop", "1", turns, 301.0, 0.0, "300 additions of 1/30 in doubles stay below 10"
        ),
        check("end time of the printed loop", "s", last, 301 / 30, 1e-12, "one frame too late"),
    ]


@panels("AB;AC;AD", size=(11.5, 7.0), widths=(1, 1.25), heights=(1.2, 1, 0.8))
def picture(motion: Motion, mass: float, drag: float, wind: float, spin: float) -> list[DrawPanel]:
    """The box in some frames, its velocity, the error against the closed form, and the clock of the printed loop."""
    closed = _closed_form_fall(motion.times, mass, drag, wind)
    sums = np.concatenate(([0.0], np.cumsum(np.full(301, 1.0 / 30.0))))  # it lags: 10 is reached one iteration late
    exact, velocity = np.arange(302) / 30, motion.velocity
    return [
        _some_frames(motion),
        Curves(
            "velocity; dotted: the wind",
            "m/s",
            [Line(velocity[:, 0], "along x", "axis_1"), Line(velocity[:, 2], "along z", "axis_3")],
            Closed(closed.velocity[:, ::2]),
            motion,
            across="",
            levels=(wind,),
        ),
        Curves(
            "error against the closed form",
            "m",
            Line(np.linalg.norm(motion.position - closed.position, axis=1), color="ink", width=1.2),
            over=motion,
            across="",
            log="y",
        ),
        Curves(
            f"printed clock minus k/30; {sums[300]:.16g} s after 300 additions",
            "10⁻¹⁵ s",
            Line((sums - exact) * 1e15, color="ink", x=exact, width=2.0),
            levels=(0.0,),
            x=(0.0, 10.0),
        ),
    ]


def _some_frames(motion: Motion) -> DrawPanel:
    """The box, enlarged, in frames equally spaced along its path."""
    scene, path = space(0.35, 0.25), motion.position
    length = np.concatenate(([0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))))
    larger = float(length[-1]) / BOXES * 0.8 / SIDES[0]
    enlarged = box(tuple(larger * side for side in SIDES), mass=1.0)
    scene.line(path, "translational", width=1.4)
    falls = abs(path[-1, 2]) > abs(path[-1, 0])
    for n, k in enumerate(np.searchsorted(length, np.linspace(0.0, length[-1], BOXES + 1))):
        scene.body(enlarged, path[k], motion.rotation_matrix[k], half=1)
        if falls or n % 2 == 0:
            scene.text(path[k], f"frame {k}", offset=(34.0, 0.0) if falls else (0.0, -24.0))
    return scene.panel(f"some frames; box enlarged {larger:.3g} times")


def stage(mass: float, drag: float, wind: float, spin: float) -> Stage:
    """A dot for every frame of the film, and the wind."""
    times = np.arange(FRAMES + 1) / RATE
    return Stage(
        camera=StageCamera(-80.0, 8.0, zoom=0.85),
        off=("L", "omega", "trailOmega", "bodyAxes", "trailCenter", "follow"),
        panels=("position", "velocity", "angular_velocity"),
        props=(
            PointsCloud(_closed_form_fall(times, mass, drag, wind).position, times, 4.0, color="path"),
            TargetDirection((1.0, 0.0, 0.0), label="wind", color="axis3"),
        ),
        floor=False,
        shows="A box falls and tumbles in the wind; a dot marks its center in every frame of the film.",
    )


MODEL = Model(
    name="thirty-frames",
    title="Thirty frames per second: 300 frames, the last at exactly 10 s",
    theme="forces and torques",
    source="[Baraff 1997, section 3, RunSimulation]",
    explanation="""\
A box falls and tumbles in a steady wind with linear drag c (v - wind). It is filmed at 30 frames per
second for 10 s: frame k is at k/30 s, and the integration steps do not depend on the frame rate. The
center of mass has a closed form, so every frame is checked. The text adds 1/30 to the time until it is no
longer below 10; in double precision 300 such additions stay just below 10, one frame too many is made,
and the film ends at 10.0333 s.""",
    parameters=(
        Parameter("mass", "kg", 1.0, 0.2, 20.0, "mass of the box"),
        Parameter("drag", "kg/s", 0.5, 0.0, 5.0, "c of the linear drag"),
        Parameter("wind", "m/s", 3.0, -30.0, 30.0, "wind speed along x"),
        Parameter(
            "spin", "rad/s", 3.0, 0.0, 10.0, "initial rate about the intermediate axis, with a tenth about the others"
        ),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=stage,
    lesson=Lesson(
        formulas=(
            Formula(r"m\dot{\mathbf{v}} = m\mathbf{g} - c\,(\mathbf{v} - \mathbf{w})", "linear drag in a wind w"),
            Formula(r"t_k = \frac{k}{30}", "the time of frame k, without adding up rounding errors"),
        ),
        steps=(
            TryThis("Without drag the box flies along a parabola.", values={"drag": 0.0}),
            TryThis("A storm of 30 m/s carries it away.", values={"wind": 30.0}),
            TryThis("The last frame, at exactly 10 s.", time=10.0),
        ),
        references=("Baraff 1997, section 3",),
    ),
)
