"""Free fall with drag: a skydiver reaches terminal speed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from polhode.equations.scalar_ops import larger, sqrt
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.shared import finish_time_panel, rk4_settings
from polhode.massprops.body import particle
from polhode.reference.fall import with_quadratic_drag
from polhode.scenario.forces import STANDARD_GRAVITY, gravity, quadratic_drag
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.web.props import TargetDirection
from polhode.web.stage import Stage, StageCamera

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from polhode.results.motion import Motion

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
        ReferenceCheck(
            f"distance fallen in {duration:g} s",
            "m",
            float(-motion.position[-1, 2]),
            expected,
            1e-9 * expected,
            "V^2/g ln(cosh(g t/V) + v0/V sinh(g t/V)), V = sqrt(M g/c)",
        )
    ]


def picture(motion: Motion, mass: float, drag: float, speed: float, duration: float) -> Figure:
    """Speed and distance with the closed form and the fall in vacuum, and the error of the simulation."""
    from polhode.plot import panels
    from polhode.plot.style import COLORS, add_legend_above, draw_closed_form, styled_figure

    t = motion.times
    fall = with_quadratic_drag(t, mass, drag, STANDARD_GRAVITY, speed)
    panes = (
        ("speed", "m/s", -motion.velocity[:, 2], fall.velocity, speed + STANDARD_GRAVITY * t),
        ("distance fallen", "m", -motion.position[:, 2], fall.position, (speed + STANDARD_GRAVITY * t / 2) * t),
    )
    with styled_figure(11.0, 7.2, MODEL.title) as figure:
        grid = figure.subplots(2, 2)
        for axes, (title, unit, found, closed, without_air) in zip(grid[0], panes, strict=True):
            draw_closed_form(axes, t, closed)
            axes.plot(t, found, color=COLORS["translational"], label="simulated")
            axes.plot(t, without_air, color=COLORS["muted"], linewidth=1.2, linestyle=(0, (5, 3)), label="in vacuum")
            axes.set_ylim(min(0.0, 1.1 * float(found.min())), 1.3 * float(found.max()))
            axes.set_title(title)
            axes.set_ylabel(unit)
            panels.format_time_axis(axes, motion)
            add_legend_above(axes, 3)
        _draw_terminal_speed(grid[0, 0], (mass * STANDARD_GRAVITY / drag) ** 0.5)
        _draw_powers(grid[1, 0], motion, mass, drag)
        panels.draw_conserved_drift(grid[1, 1], motion)
    return figure


def _draw_terminal_speed(axes: Axes, terminal: float) -> None:
    """A line at the terminal speed, or a text if a short fall stays well below it."""
    from polhode.plot.style import COLORS

    look: Any = {"ha": "right", "va": "bottom", "fontsize": 9}
    if terminal < 0.93 * axes.get_ylim()[1]:
        axes.axhline(terminal, color=COLORS["ink"], linewidth=0.9, linestyle=(0, (2, 2)))
        look |= {"xycoords": axes.get_yaxis_transform(), "textcoords": "offset points"}
        axes.annotate(f"terminal speed {terminal:.4g} m/s", (0.99, terminal), xytext=(0, 2), **look)
    else:
        axes.text(0.99, 0.04, f"terminal speed {terminal:.4g} m/s: above", transform=axes.transAxes, **look)


def _draw_powers(axes: Axes, motion: Motion, mass: float, drag: float) -> None:
    """Power of the weight, and its division between air and motion."""
    from polhode.plot.style import COLORS

    v = -motion.velocity[:, 2]
    weight, air = mass * STANDARD_GRAVITY * v, drag * v**3
    axes.plot(motion.times, weight / 1e3, color=COLORS["weight"], label="weight")
    axes.plot(motion.times, air / 1e3, color=COLORS["path"], label="to the air")
    axes.plot(motion.times, (weight - air) / 1e3, color=COLORS["kinetic"], label="to the motion")
    steady = mass * STANDARD_GRAVITY * (mass * STANDARD_GRAVITY / drag) ** 0.5 / 1e3
    is_cut = float(air.max()) / 1e3 > 4 * steady
    if is_cut:
        axes.set_ylim(-2 * steady, 4 * steady)
    finish_time_panel(axes, motion, "power", "kW; cut off at first" if is_cut else "kW", 3)


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
    explanation=(
        "A skydiver of 80 kg falls through air with quadratic drag c v^2. At first only the weight matters, and\n"
        "the speed grows as in a vacuum; then drag catches up, and the speed approaches the terminal speed\n"
        "V = sqrt(M g/c), here 56 m/s, whatever its initial value. From then on the work of the weight goes into\n"
        "the air: the audit compares the work of all forces with the change of kinetic energy. Along a straight\n"
        "line the motion has a closed form, v = V tanh(g t/V) from rest."
    ),
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
