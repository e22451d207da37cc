"""The Dzhanibekov effect: a box thrown about its middle axis turns over, again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polhode.gallery.model import Model, Parameter, Shown
from polhode.gallery.tools import crossings, first_interval
from polhode.mass.shapes import box
from polhode.reference.free_rotation import AsymmetricTop
from polhode.scenario import Scenario
from polhode.state import State

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from polhode.motion import Motion

SIDES = (0.1, 0.4, 0.9)
MASS = 10.0
STEPS_A_TURN = 2000


def _top(spin: float, nudge: float) -> AsymmetricTop:
    return AsymmetricTop(box(SIDES, MASS).principal_moments, (nudge, spin, nudge))


def scenario(spin: float, nudge: float) -> Scenario:
    """Two periods of a free box."""
    period = _top(spin, nudge).period
    turn = 2 * 3.141592653589793 / spin
    frames = 960
    steps_a_frame = -(-2 * period // (frames * turn / STEPS_A_TURN))
    return Scenario(
        box(SIDES, MASS),
        State(angular_velocity_body=(nudge, spin, nudge)),
        duration=2 * period,
        step=2 * period / (frames * steps_a_frame),
        output_step=2 * period / frames,
        method="rk4",
        name="dzhanibekov",
    )


def number(motion: Motion, spin: float, nudge: float) -> Shown:
    """The time of one flip: between two reversals of the rate about the middle axis."""
    reversals = crossings(motion, motion.angular_velocity_body[:, 1], lambda state: state.angular_velocity_body[1])
    expected = _top(spin, nudge).flip_time
    return Shown(
        "time of one flip",
        "s",
        first_interval(reversals, "a reversal"),
        expected,
        1e-8 * expected,
        "2 K(m)/lambda, Jacobi's closed form",
    )


def picture(motion: Motion, spin: float, nudge: float) -> Figure:
    """The box at instants of its flip, the angular velocity, the polhode between its neighbours, what was conserved."""
    from polhode.plots.tumbling import tumbling_box

    top = _top(spin, nudge)
    return tumbling_box(motion, SIDES, top, "A box spun about its middle axis turns over, and back, for ever")


MODEL = Model(
    name="dzhanibekov",
    title="A box spun about its middle axis turns over, and back, for ever",
    source="cosmonaut V. Dzhanibekov, 1985; seed 003 section 6, seed 004 problem 17.6",
    explanation=(
        "A box of 10 kg, 0.1 x 0.4 x 0.9 m, is spun about the axis of its middle moment of inertia.\n"
        "About the other two axes it would spin steadily; about this one the smallest nudge grows\n"
        "exponentially until the box has turned over. Nothing acts on it: energy and angular momentum\n"
        "stay what they are, and so the box must come back, and turn over again. The angular velocity,\n"
        "seen from the body, runs along its polhode close to the separatrix, which it never crosses."
    ),
    parameters=(
        Parameter("spin", "rad/s", 5.0, 0.5, 50.0, "rate about the middle axis"),
        Parameter("nudge", "rad/s", 0.1, 0.001, 0.4, "rate about each of the other two axes"),
    ),
    scenario=scenario,
    number=number,
    picture=picture,
)
