"""Free fall with drag: a jumper reaches a terminal speed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polhode.body import particle
from polhode.forces import STANDARD_GRAVITY, gravity, quadratic_drag
from polhode.gallery.model import Model, Parameter, Shown
from polhode.reference.fall import with_quadratic_drag
from polhode.scenario import Scenario
from polhode.state import State

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from polhode.motion import Motion

FRAMES = 400


def scenario(mass: float, drag: float, speed: float, duration: float) -> Scenario:
    """A particle that falls along -z."""
    relaxation = (mass / (drag * STANDARD_GRAVITY)) ** 0.5
    fastest = min(relaxation, mass / (drag * max(speed, 1e-300)))
    steps_a_frame = -(-duration // (FRAMES * fastest / 200))
    return Scenario(
        particle(mass),
        State(velocity=(0.0, 0.0, -speed)),
        [gravity(), quadratic_drag(drag)],
        duration=duration,
        step=duration / (FRAMES * steps_a_frame),
        output_step=duration / FRAMES,
        method="rk4",
        name="free-fall-with-drag",
    )


def number(motion: Motion, mass: float, drag: float, speed: float, duration: float) -> Shown:
    """The distance fallen at the end."""
    fall = with_quadratic_drag(motion.times[-1], mass, drag, STANDARD_GRAVITY, speed)
    expected = float(fall.position)
    return Shown(
        f"distance fallen in {duration:g} s",
        "m",
        float(-motion.position[-1, 2]),
        expected,
        1e-9 * expected,
        "V^2/g ln(cosh(g t/V) + v0/V sinh(g t/V)), V = sqrt(M g/c)",
    )


def picture(motion: Motion, mass: float, drag: float, speed: float, duration: float) -> Figure:
    """Speed and distance beside the closed form and the fall without air, and how far the simulation is off."""
    from polhode.plots.lines import fall_in_air

    fall = with_quadratic_drag(motion.times, mass, drag, STANDARD_GRAVITY, speed)
    terminal = (mass * STANDARD_GRAVITY / drag) ** 0.5
    return fall_in_air(motion, fall.position, fall.velocity, terminal, speed)


MODEL = Model(
    name="free-fall-with-drag",
    title="A jumper falls until the air carries the weight",
    source="seed 000 sections 2.5, 5.2; seed 002",
    explanation=(
        "A jumper of 80 kg falls through air that resists with c v^2. At first nothing but weight acts, and\n"
        "speed grows as in a vacuum; then the drag catches up with the weight, and the speed settles at\n"
        "V = sqrt(M g/c), here 56 m/s, whatever it was at the start. What the weight works from there on\n"
        "goes into the air: the audit compares the work of all forces with the gain of kinetic energy.\n"
        "Along a straight line the motion has a closed form, v = V tanh(g t/V) from rest."
    ),
    parameters=(
        Parameter("mass", "kg", 80.0, 0.001, 1000.0, "of the body"),
        Parameter("drag", "kg/m", 0.25, 0.0001, 10.0, "c in the drag c v^2"),
        Parameter("speed", "m/s", 0.0, 0.0, 200.0, "downwards at the start"),
        Parameter("duration", "s", 20.0, 0.1, 100.0, "of the fall"),
    ),
    scenario=scenario,
    number=number,
    picture=picture,
)
