"""An asymmetric top near the axes of largest and smallest moment: a small perturbation stays small."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.measurements import extremes, first_interval, zero_crossings
from polhode.gallery.pictures import DrawPanel, drawn, panels
from polhode.gallery.plain_formulas import sorted_period
from polhode.gallery.shared import rk4_settings
from polhode.massprops.body import Body
from polhode.reference.free_rotation import AsymmetricTop
from polhode.reference.poinsot import herpolhode_radii
from polhode.results.motion import Motion
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.web.stage import Grab, Stage, StageCamera

MOMENTS = (2.0, 8.0, 4.0)
LARGEST, SMALLEST = "spun about the largest-moment axis", "spun about the smallest-moment axis"
PERIODS = 4
FRAMES = 800
STEPS_PER_FRAME = 20


def _tops(spin: float, nudge: float) -> dict[str, AsymmetricTop]:
    return {name: AsymmetricTop(MOMENTS, rates) for name, rates in _starts(spin, nudge).items()}


def _starts(spin: float, nudge: float) -> dict[str, tuple[float, float, float]]:
    """Spin about axis 2 (largest moment) or axis 1 (smallest), perturbed about the intermediate axis 3."""
    return {LARGEST: (0.0, spin, nudge), SMALLEST: (spin, 0.0, nudge)}


def scenario(spin: float, nudge: float) -> dict[str, Scenario]:
    """Four periods of the wobble about each of the two axes."""
    return {
        name: Scenario(
            Body(1.0, MOMENTS, allow_unphysical=True),
            State(angular_velocity_body=rates),
            **rk4_settings(PERIODS * sorted_period(MOMENTS, rates), FRAMES, STEPS_PER_FRAME),
            name="asymmetric-top-stable",
        )
        for name, rates in _starts(spin, nudge).items()
    }


def _rate_component(axis: int) -> Callable[[Any], float]:
    return lambda state: float(state.angular_velocity_body[axis])


def numbers(motions: dict[str, Motion], spin: float, nudge: float) -> list[ReferenceCheck]:
    """Period and amplitude of the wobble."""
    tops, found = _tops(spin, nudge), []
    i1, i2, i3 = MOMENTS
    farthest = {
        LARGEST: (0, nudge * np.sqrt(i3 * (i2 - i3) / (i1 * (i2 - i1))), "w3 sqrt(I3 (I2 - I3)/(I1 (I2 - I1)))"),
        SMALLEST: (1, nudge * np.sqrt(i3 * (i3 - i1) / (i2 * (i2 - i1))), "w3 sqrt(I3 (I3 - I1)/(I2 (I2 - I1)))"),
    }
    for name, motion in motions.items():
        w, period = motion.angular_velocity_body, tops[name].period
        middle = zero_crossings(motion, w[:, 2], _rate_component(2))
        interval = 2 * first_interval(middle, "a reversal of ω₃")
        found.append(
            check(f"period, {name}", "s", interval, period, 1e-9 * period, "4 K(m)/rate, Jacobi's closed form")
        )
        axis, most, source = farthest[name]
        largest = float(abs(motion.at(float(middle[0])).angular_velocity_body[axis]))
        label = f"maximum rate about axis {axis + 1}, {name}"
        found.append(check(label, "rad/s", largest, most, 1e-9 * float(most), source))
    inner, outer = herpolhode_radii(MOMENTS, (0.0, spin, nudge))
    reach = _angle_range_to_momentum(motions[LARGEST])
    source = "sqrt(-(L^2 - 2 E Ij)(L^2 - 2 E Ik)/(Ij Ik))/L"
    found.append(check("inner radius of the herpolhode", "rad/s", reach[0], inner, 1e-7 * inner, source))
    found.append(check("outer radius of the herpolhode", "rad/s", reach[1], outer, 1e-7 * outer, source))
    return found


def _angle_range_to_momentum(motion: Motion) -> tuple[float, float]:
    """Minimum and maximum distance of w from L over the motion."""
    along_l = motion.angular_momentum[0] / np.linalg.norm(motion.angular_momentum[0])
    distances = np.linalg.norm(np.cross(motion.angular_velocity, along_l), axis=1)
    return extremes(motion, distances, lambda state: float(np.linalg.norm(np.cross(state.angular_velocity, along_l))))


@panels("ABC;ABC;DEF;DGF")
def picture(motions: dict[str, Motion], spin: float, nudge: float) -> list[DrawPanel]:
    """Both motions in space, polhode and Poinsot construction of the first, and the rates of both."""
    from polhode.plot.free_rotation_figures import draw_in_space, draw_rates
    from polhode.plot.panels import draw_polhode_panel
    from polhode.plot.poinsot_construction import draw_herpolhode, draw_poinsot

    largest, smallest = motions[LARGEST], motions[SMALLEST]
    moment = 0.2 * float(largest.times[-1])
    return [
        drawn(draw_in_space, largest, moment, title="spun about axis 2, largest moment"),
        drawn(draw_polhode_panel, largest),
        drawn(draw_poinsot, largest, moment),
        drawn(draw_in_space, smallest, moment, title="spun about axis 1, smallest moment"),
        drawn(draw_rates, largest, title="spun about axis 2"),
        drawn(draw_herpolhode, largest, title="herpolhode, spun about axis 2"),
        drawn(draw_rates, smallest, title="spun about axis 1"),
    ]


def stage(spin: float, nudge: float, run: str) -> Stage:
    """The inertia ellipsoid rolls on the invariable plane; the polhode is a small curve about the axis of spin."""
    return Stage(
        camera=StageCamera(azimuth_deg=-75.0 if run == SMALLEST else 15.0, elevation_deg=20.0),
        switches=("poinsot",),
        off=("trailOmega",),
        panels=("angular_velocity", "angular_velocity_world", "drift"),
        grabs=(
            Grab("angular_velocity", knob="spin", component=0 if run == SMALLEST else 1),
            Grab("angular_velocity", knob="nudge", component=2),
        ),
        shows="An ellipsoid rolls on a plane; the point of contact goes round in a small curve about the axis of spin.",
    )


MODEL = Model(
    name="asymmetric-top-stable",
    title="An asymmetric top is stable about the axes of largest and smallest moment",
    theme="free rotation",
    source="[Tops report, figure 4]; [Christian 2011, problems 17.3 and 17.6]",
    explanation="""\
A body with moments 2, 8 and 4 spins about the axis of the largest or the smallest moment and is nudged.
Its angular velocity then circles that axis on a small closed curve, the polhode, with a period given by
Jacobi's elliptic functions; in space it stays near the angular momentum, between the two circles of the
herpolhode. Spin about either axis is stable. No solid has these moments (8 > 2 + 4), so the inertia
ellipsoid is drawn instead of a body; it rolls on the invariable plane without slipping.""",
    parameters=(
        Parameter("spin", "rad/s", 1.0, 0.5, 3.0, "rate about the axis of largest or smallest moment"),
        Parameter("nudge", "rad/s", 0.1, 0.01, 0.4, "initial rate about the intermediate axis"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=stage,
    lesson=Lesson(
        formulas=(
            Formula(
                r"I_1\dot\omega_1 = (I_2 - I_3)\,\omega_2\omega_3",
                "Euler's equation of a free body about axis 1; the others follow by exchange of the axes",
            ),
            Formula(
                r"\Omega = \omega\sqrt{\frac{(I - I_a)(I - I_b)}{I_a I_b}}",
                "the rate of a small wobble about the axis of moment I; real if I is the largest or the smallest",
            ),
        ),
        steps=(
            TryThis("About the axis of the largest moment: ω circles it.", run="spun about the largest-moment axis"),
            TryThis(
                "About that of the smallest moment: slower circles, just as stable.",
                run="spun about the smallest-moment axis",
            ),
            TryThis(
                "A nudge four times as large: a larger curve, still closed.",
                values={"nudge": 0.4},
                run="spun about the largest-moment axis",
            ),
            TryThis(
                "Poinsot: the ellipsoid rolls on the invariable plane.",
                run="spun about the largest-moment axis",
                switches=("poinsot",),
            ),
        ),
        references=("Tops report, figure 4", "Landau and Lifshitz, section 37"),
    ),
)
