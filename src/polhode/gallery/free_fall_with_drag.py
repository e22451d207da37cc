"""Free fall with drag: a skydiver reaches terminal speed."""

from __future__ import annotations

from typing import Any

from polhode.equations.scalar_ops import larger, sqrt
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.pictures import Closed, Curves, DrawPanel, Line, Note, drawn, panels
from polhode.gallery.shared import rk4_settings
from polhode.massprops.body import particle
from polhode.reference.fall import with_quadratic_drag
from polhode.results.motion import Motion
from polhode.scenario.forces import STANDARD_GRAVITY, gravity, quadratic_drag
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.validation import Array
from polhode.web.props import TargetDirection
from polhode.web.stage import Stage, StageCamera

FRAMES = 400


def scenario(mass: float, drag: float, speed: float, duration: float) -> Scenario:
    """A particle that falls along -z."""
    relaxation = sqrt(mass / (drag * STANDARD_GRAVITY))
    fastest = -larger(-relaxation, -(mass / (drag * larger(speed, 1e-300))))
    steps_per_frame = -(-duration // (FRAMES * fastest / 200))
    return Scenario(
        particle(mass),
        State(velocity=(0.0, 0.0, -speed)),
        [gravity(), quadratic_drag(drag)],
        **rk4_settings(duration, FRAMES, steps_per_frame),
        name="free-fall-with-drag",
    )


def numbers(motion: Motion, mass: float, drag: float, speed: float, duration: float) -> list[ReferenceCheck]:
    """Distance fallen."""
    fall = with_quadratic_drag(motion.times[-1], mass, drag, STANDARD_GRAVITY, speed)
    expected = float(fall.position)
    return [
        check(
            f"distance fallen in {duration:g} s",
            "m",
            -motion.position[-1, 2],
            expected,
            1e-9 * expected,
            "V^2/g ln(cosh(g t/V) + v0/V sinh(g t/V)), V = sqrt(M g/c)",
        )
    ]


@panels("AB;CD", size=(11.0, 7.2))
def picture(motion: Motion, mass: float, drag: float, speed: float, duration: float) -> list[DrawPanel]:
    """Speed and distance with the closed form and the fall in vacuum, and the error of the simulation."""
    from polhode.plot.panels import draw_conserved_drift

    t, v, fallen = motion.times, -motion.velocity[:, 2], -motion.position[:, 2]
    fall = with_quadratic_drag(t, mass, drag, STANDARD_GRAVITY, speed)
    terminal = (mass * STANDARD_GRAVITY / drag) ** 0.5
    words, is_near = f"terminal speed {terminal:.4g} m/s", terminal < 0.93 * 1.3 * float(v.max())
    near = Note((0.99, terminal), words, "width", ("right", "bottom"))  # a short fall stays well below it
    far = Note((0.99, 0.04), f"{words}: above", "panel", ("right", "bottom"))

    def pane(title: str, unit: str, found: Array, closed: Array, without_air: Array, **options: Any) -> Curves:
        lines = [Line(found, "simulated", "translational"), Line(without_air, "in vacuum", "muted", "--", width=1.2)]
        limits = (min(0.0, 1.1 * float(found.min())), 1.3 * float(found.max()))
        return Curves(title, unit, lines, Closed(closed), motion, y=limits, **options)

    levels: Any = {"levels": (terminal,), "notes": (near,)} if is_near else {"notes": (far,)}
    vacuum = speed + STANDARD_GRAVITY * t
    return [
        pane("speed", "m/s", v, fall.velocity, vacuum, **levels),
        pane("distance fallen", "m", fallen, fall.position, (speed + STANDARD_GRAVITY * t / 2) * t),
        _powers(motion, mass * STANDARD_GRAVITY * v / 1e3, drag * v**3 / 1e3, mass * STANDARD_GRAVITY * terminal / 1e3),
        drawn(draw_conserved_drift, motion),
    ]


def _powers(motion: Motion, weight: Array, air: Array, steady: float) -> Curves:
    """Power of the weight in kW, and its division between air and motion."""
    is_cut = float(air.max()) > 4 * steady
    return Curves(
        "power",
        "kW; cut off at first" if is_cut else "kW",
        [
            Line(weight, "weight", "weight"),
            Line(air, "to the air", "path"),
            Line(weight - air, "to the motion", "kinetic"),
        ],
        over=motion,
        y=(-2 * steady, 4 * steady) if is_cut else None,
    )


def stage(mass: float, drag: float, speed: float, duration: float) -> Stage:
    """The camera falls along, so that one sees drag grow until it balances the weight."""
    return Stage(
        camera=StageCamera(-60.0, 8.0, target="body"),
        panels=("speed", "forces", "energy"),
        props=(TargetDirection((0.0, 0.0, -1.0), label="down"),),
        floor=True,
        shows="A skydiver falls; the arrow of the drag grows until it is as long as that of the weight.",
        moment=0.7,
    )


MODEL = Model(
    name="free-fall-with-drag",
    title="A skydiver falls until drag balances the weight",
    theme="forces and torques",
    source="[Baraff 1997, sections 1 and 5.2]; [Slides]",
    explanation="""\
A skydiver of 80 kg falls through air with quadratic drag c v^2. At first only the weight matters, and
the speed grows as in a vacuum; then drag catches up, and the speed approaches the terminal speed
V = sqrt(M g/c), here 56 m/s, whatever its initial value. From then on the work of the weight goes into
the air: the audit compares the work of all forces with the change of kinetic energy. Along a straight
line the motion has a closed form, v = V tanh(g t/V) from rest.""",
    parameters=(
        Parameter("mass", "kg", 80.0, 20.0, 500.0, "mass of the body"),
        Parameter("drag", "kg/m", 0.25, 0.05, 20.0, "c in the drag c v^2; about 20 for an open parachute"),
        Parameter("speed", "m/s", 0.0, 0.0, 100.0, "initial downward speed"),
        Parameter("duration", "s", 20.0, 1.0, 60.0, "duration of the fall"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=stage,
    lesson=Lesson(
        formulas=(
            Formula(r"M\dot v = M g - c v^2", "weight against drag"),
            Formula(r"V = \sqrt{\frac{M g}{c}}", "the terminal speed"),
            Formula(r"v = V\tanh\frac{g t}{V}", "a fall from rest"),
        ),
        steps=(
            TryThis("From rest to 56 m/s."),
            TryThis("Open the parachute: the terminal speed is 6.3 m/s.", values={"drag": 20.0}),
            TryThis("Start at 100 m/s: the drag exceeds the weight, and the fall slows down.", values={"speed": 100.0}),
            TryThis("Four times the mass: twice the terminal speed.", values={"mass": 320.0, "duration": 40.0}),
        ),
        references=("Baraff 1997, section 5.2",),
    ),
)
