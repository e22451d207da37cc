"""An asymmetric top near its intermediate axis: the smallest perturbation grows until the body flips."""

from __future__ import annotations

import numpy as np

from polhode.gallery.closed_forms.precession_and_wobble import wobble_rate_squared
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.measurements import first_interval, zero_crossings
from polhode.gallery.pictures import Closed, Curves, DrawPanel, Line, drawn, panels
from polhode.gallery.plain_formulas import sorted_period
from polhode.gallery.shared import rk4_settings
from polhode.massprops.body import Body
from polhode.reference.free_rotation import AsymmetricTop
from polhode.results.motion import Motion
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.validation import Array
from polhode.web.stage import Grab, Stage

MOMENTS = (2.0, 8.0, 4.0)
NUDGED, TINY = "nudged", "tiny nudge"
LEAST = 1e-6
"""The tiny nudge, relative to the spin."""
EARLY_TIMES = 6.0
"""Number of e-folding times for which the linear growth law holds for the tiny nudge."""
FRAMES = 1000
STEPS_PER_FRAME = 20


def _top(spin: float, nudge: float) -> AsymmetricTop:
    return AsymmetricTop(MOMENTS, (0.0, nudge, spin))


def _growth_rate(spin: float) -> float:
    return spin * float(np.sqrt(-wobble_rate_squared(MOMENTS, 2)))


def scenario(spin: float, nudge: float) -> dict[str, Scenario]:
    """One and a half periods from the nudge, and two flips from a tiny one."""
    starts = {NUDGED: (0.0, nudge, spin), TINY: (0.0, LEAST * spin, spin)}
    return {
        name: Scenario(
            Body(1.0, MOMENTS, allow_unphysical=True),
            State(angular_velocity_body=rates),
            **rk4_settings(1.5 * sorted_period(MOMENTS, rates), FRAMES, STEPS_PER_FRAME),
            name="asymmetric-top-unstable",
        )
        for name, rates in starts.items()
    }


def numbers(motions: dict[str, Motion], spin: float, nudge: float) -> list[ReferenceCheck]:
    """Period and first reversal after a nudge; growth rate of a tiny one."""
    top, rate, least = _top(spin, nudge), _growth_rate(spin), LEAST * spin
    motion, tiny = motions[NUDGED], motions[TINY]
    zeros = zero_crossings(motion, motion.angular_velocity_body[:, 2], lambda state: state.angular_velocity_body[2])
    early = EARLY_TIMES / rate
    grown = float(tiny.at(early).angular_velocity_body[1])
    last = zero_crossings(tiny, tiny.angular_velocity_body[:, 2], lambda state: state.angular_velocity_body[2])
    slow = _top(spin, least)
    return [
        check(
            "period after the nudge",
            "s",
            2 * first_interval(zeros, "a reversal of ω₃"),
            top.period,
            1e-9 * top.period,
            "4 K(m)/rate, Jacobi's closed form",
        ),
        check("first zero of ω₃", "s", zeros[0], top.period / 4, 1e-9 * top.period, "K(m)/rate"),
        check(
            "growth rate of a tiny nudge",
            "1/s",
            float(np.arccosh(grown / least)) / early,
            rate,
            1e-7 * rate,
            "w3 sqrt((I3 - I1)(I2 - I3)/(I1 I2))",
        ),
        check(
            "ω₂ growing from a tiny nudge",
            "rad/s",
            grown,
            least * float(np.cosh(EARLY_TIMES)),
            1e-6 * least * float(np.cosh(EARLY_TIMES)),
            "e cosh(rate t)",
        ),
        check(
            "first zero of ω₃ after a tiny nudge",
            "s",
            last[0],
            slow.period / 4,
            1e-9 * slow.period,
            "K(m)/rate, about ln(4 w3/e)/rate",
        ),
    ]


@panels("ABC;DEF")
def picture(motions: dict[str, Motion], spin: float, nudge: float) -> list[DrawPanel]:
    """The body in space, its polhode, the Poinsot construction, the rates, and the growth of a tiny nudge."""
    from polhode.plot.free_rotation_figures import draw_in_space, draw_rates
    from polhode.plot.panels import draw_conserved_drift, draw_polhode_panel
    from polhode.plot.poinsot_construction import draw_poinsot

    motion, moment = motions[NUDGED], 0.21 * _top(spin, nudge).period
    return [
        drawn(draw_in_space, motion, moment, title="in space: intermediate axis 3 flips"),
        drawn(draw_polhode_panel, motion),
        drawn(draw_poinsot, motion, moment),
        drawn(draw_rates, motion),
        _growth(motions[TINY], spin),
        drawn(draw_conserved_drift, motion),
    ]


def _growth(motion: Motion, spin: float) -> Curves:
    """Growth of a tiny nudge about axis 2 on a logarithmic axis, with the linear theory."""
    rate, least = _growth_rate(spin), LEAST * spin
    t = motion.times[motion.times < np.log(2 / LEAST) / rate]
    lines = []
    for i, values in enumerate(motion.angular_velocity_body.T):
        times, rates = _insert_zeros(motion.times, values)
        lines.append(Line(np.maximum(np.abs(rates), 1e-3 * least), f"|ω{'₁₂₃'[i]}|", f"axis_{i + 1}", x=times))
    return Curves(
        f"from a nudge of {least:.3g} rad/s",
        "rad/s",
        lines,
        Closed(least * np.cosh(rate * t), "e cosh(rate t)", t),
        motion,
        log="y",
        y=(0.2 * least, 4 * spin),
        legend=(4, 1),
    )


def _insert_zeros(times: Array, values: Array) -> tuple[Array, Array]:
    """Insert a zero at every sign change, so that the line leaves a logarithmic axis downwards there."""
    before = np.flatnonzero(values[1:] * values[:-1] < 0)
    share = values[before] / (values[before] - values[before + 1])
    zeros = times[before] + share * (times[before + 1] - times[before])
    return np.insert(times, before + 1, zeros), np.insert(values, before + 1, 0.0)


MODEL = Model(
    name="asymmetric-top-unstable",
    title="About the intermediate axis the smallest nudge grows until the top flips",
    theme="free rotation",
    source="[Tops report, figure 5]; [Christian 2011, problems 17.3 and 17.6]",
    explanation="""\
A body with moments 2, 8 and 4 spins about the axis of the intermediate moment, 4, and is nudged. While
the perturbation e is small it grows as e cosh(rate t), rate = w3 sqrt((I3 - I1)(I2 - I3)/(I1 I2)): spin
about this axis is unstable. The polhode follows the separatrix to the other end of the axis, where the
body spins upside down, and back. A perturbation ten times smaller only delays the flip by ln(10)/rate.
Energy and angular momentum are conserved throughout.""",
    parameters=(
        Parameter("spin", "rad/s", 1.0, 0.5, 3.0, "rate about the intermediate axis"),
        Parameter("nudge", "rad/s", 0.1, 0.01, 0.4, "initial rate about the axis of largest moment"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=Stage(
        switches=("poinsot",),
        off=("trailOmega",),
        panels=("angular_velocity", "phase:angular_velocity_body_3:angular_velocity_body_2", "drift"),
        grabs=(Grab("angular_velocity", knob="spin", component=2), Grab("angular_velocity", knob="nudge", component=1)),
        shows="An ellipsoid rolls on a plane; the point of contact leaves the axis of spin and goes to its other end.",
    ),
    lesson=Lesson(
        formulas=(
            Formula(
                r"\lambda = \omega_3\sqrt{\frac{(I_3 - I_1)(I_2 - I_3)}{I_1 I_2}}",
                "the rate at which a nudge grows; axis 3 has the intermediate moment",
            ),
            Formula(r"\epsilon(t) = \epsilon\cosh\lambda t", "the nudge, while it is small"),
        ),
        steps=(
            TryThis("The nudge grows until the top flips.", run="nudged"),
            TryThis(
                "Ten times smaller: the flip comes 3.3 s later, not less violent.", values={"nudge": 0.01}, run="nudged"
            ),
            TryThis("Tinier still.", run="tiny nudge"),
            TryThis(
                "Three times the spin: it flips three times as soon.", values={"spin": 3.0, "nudge": 0.3}, run="nudged"
            ),
        ),
        references=("Tops report, figure 5", "Landau and Lifshitz, section 37"),
    ),
)
