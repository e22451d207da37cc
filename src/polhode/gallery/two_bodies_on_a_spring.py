"""Two bodies on a spring: they oscillate about their common center of mass, which moves uniformly."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from polhode.equations.elementary import power
from polhode.equations.scalar_ops import sqrt
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.measurements import zero_crossings
from polhode.gallery.pictures import Closed, Curves, DrawPanel, Line, drawn, panels, space
from polhode.gallery.shared import rk4_settings
from polhode.massprops.shapes import sphere
from polhode.reference.spring import SpringPair
from polhode.results.motion import Motion
from polhode.scenario.forces import spring_between
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.web.props import PointsCloud, Text
from polhode.web.stage import Stage, StageCamera

LENGTH = 1.0
DENSITY = 1000.0
SWINGS = 4
FRAMES = 400
STEPS_PER_FRAME = 10
LARGEST = 0.2
"""Largest radius of a ball in the drawing, in m."""


def _pair(mass_a: float, mass_b: float, stiffness: float, stretch: float, drift: float) -> SpringPair:
    return SpringPair((mass_a, mass_b), stiffness, LENGTH, (0.0, LENGTH + stretch), (drift, drift))


def scenario(mass_a: float, mass_b: float, stiffness: float, stretch: float, drift: float) -> Scenario:
    """Two balls along x, released with the spring stretched, for four oscillations."""
    duration = SWINGS * 2 * pi / sqrt(stiffness * (1 / mass_a + 1 / mass_b))
    radius_a, radius_b = (power(3 * m / (4 * pi * DENSITY), 1 / 3) for m in (mass_a, mass_b))
    return Scenario(
        [sphere(radius_a, mass_a), sphere(radius_b, mass_b)],
        [State(position=(x, 0.0, 0.0), velocity=(drift, 0.0, 0.0)) for x in (0.0, LENGTH + stretch)],
        [spring_between(0, 1, stiffness, length=LENGTH)],
        **rk4_settings(duration, FRAMES, STEPS_PER_FRAME),
        name="two-bodies-on-a-spring",
    )


def _spring_stretch(states: Any) -> float:
    a, b = states
    return float(b.position[0] - a.position[0] - LENGTH)


def numbers(
    motion: Motion, mass_a: float, mass_b: float, stiffness: float, stretch: float, drift: float
) -> list[ReferenceCheck]:
    """Period of the oscillation: twice the mean time between passages through the natural length."""
    distance = motion.position[:, 1, 0] - motion.position[:, 0, 0]
    passages = zero_crossings(motion, distance - LENGTH, _spring_stretch)
    expected = _pair(mass_a, mass_b, stiffness, stretch, drift).period
    return [
        check(
            "oscillation period",
            "s",
            2 * (passages[-1] - passages[0]) / (len(passages) - 1),
            expected,
            1e-8 * expected,
            "2 pi sqrt(mu/k), mu = m_a m_b/(m_a + m_b)",
        )
    ]


@panels("AA;BC;DE", size=(11.0, 8.4), heights=(0.42, 1, 1))
def picture(
    motion: Motion, mass_a: float, mass_b: float, stiffness: float, stretch: float, drift: float
) -> list[DrawPanel]:
    """The balls over one period, their positions and center of mass, the distance, and the energies."""
    from polhode.plot.panels import draw_conserved_drift

    pair = _pair(mass_a, mass_b, stiffness, stretch, drift)
    places, kinetic = motion.position[:, :, 0], motion.kinetic_energy
    parts = [
        Line(kinetic[:, 0], "first ball"),
        Line(kinetic[:, 1], "second ball"),
        Line(motion.potential_energy, "spring", "potential"),
    ]
    return [
        _one_swing(motion),
        Curves(
            "positions",
            "m",
            [
                *(Line(places[:, i], f"{mass:g} kg", i) for i, mass in enumerate((mass_a, mass_b))),
                Line(places @ pair.masses / pair.masses.sum(), "center", "ink", "--", width=1.0),
            ],
            Closed(pair.positions_at(motion.times)),
            motion,
        ),
        Curves(
            "distance",
            "m",
            Line(places[:, 1] - places[:, 0], f"simulated, period {pair.period:.6g} s", "omega"),
            Closed(LENGTH + pair.stretch_at(motion.times)),
            motion,
            levels=(LENGTH,),
        ),
        Curves(
            "energy",
            "J",
            Line(motion.energy, color="total", width=1.4),
            over=motion,
            stacked=parts,
            y=(0.0, 1.06 * float(motion.energy.max())),
        ),
        drawn(draw_conserved_drift, motion),
    ]


def _one_swing(motion: Motion) -> DrawPanel:
    """Balls and spring at five instants side by side, relative to their center of mass."""
    scene, masses = space(0.0, 0.0), np.array([body.mass for body in motion.scenario.bodies])
    radii = (3 * masses / (4 * pi * DENSITY)) ** (1 / 3)
    radii *= min(1.0, LARGEST / radii.max())
    middle = LENGTH * (masses[0] - masses[1]) / (2 * masses.sum())
    across = np.linspace(0.0, 1.0, 81)
    zigzag = 0.07 * np.interp(across * 16, np.arange(17), (0, 0, *(1, -1) * 6, 1, 0, 0))
    for n, when in enumerate(("t = 0", "T/4", "T/2", "3 T/4", "T")):
        x, center = motion.position[n * FRAMES // (4 * SWINGS), :, 0], 2.1 * n - middle
        ends = x - x @ masses / masses.sum() + center
        spring = np.stack((ends[0] + across * (ends[1] - ends[0]), 0 * across + 1.0, zigzag), axis=1)
        scene.line(spring, "ink", width=1.1)
        for i, (radius, end) in enumerate(zip(radii, ends, strict=True)):
            scene.body(sphere(radius, 1.0), (end, 0.0, 0.0), color=i, segments=32)
        scene.line(((center, 2.0, -0.3), (center, 2.0, 0.3)), "muted", width=1.0, style=(0, (4, 3)))
        scene.text((2.1 * n, 0.0, -0.3), when, offset=(0, -6))
    return scene.panel("one period T, relative to the center of mass (dashed)", margin=0.0)


def stage(mass_a: float, mass_b: float, stiffness: float, stretch: float, drift: float) -> Stage:
    """Marks of the center of mass at equal times: it moves uniformly."""
    pair = _pair(mass_a, mass_b, stiffness, stretch, drift)
    times = [pair.period * k / 8 for k in range(8 * SWINGS + 1)]
    center = (mass_a * pair.positions[0] + mass_b * pair.positions[1]) / (mass_a + mass_b)
    marks = [(center + drift * t, 0.0, 0.0) for t in times]
    label = Text((marks[-1][0], 0.0, 0.0), label="center of mass", color="ink")
    return Stage(
        camera=StageCamera(-80.0, 18.0),
        off=("follow", "omega", "L", "bodyAxes"),
        panels=("position", "velocity", "energy"),
        props=(PointsCloud(marks, times, 6.0, color="ink"), label),
        floor=True,
        shows="Two balls on a spring swing against each other while their center of mass moves uniformly.",
    )


MODEL = Model(
    name="two-bodies-on-a-spring",
    title="Two balls on a spring oscillate about a uniformly moving center of mass",
    theme="forces and torques",
    source="[Baraff 1997, sections 1 and 2]",
    explanation="""\
Two balls are joined by a spring, pulled apart and released while both drift along. The spring exerts equal
and opposite forces: the linear momentum of the pair is conserved, and the center of mass moves as if there
were no spring. The distance oscillates like a single body of reduced mass mu = m_a m_b/(m_a + m_b), and
energy is exchanged between the spring and the balls, of which the lighter takes the larger share.""",
    parameters=(
        Parameter("mass_a", "kg", 1.0, 0.01, 100.0, "mass of the first ball"),
        Parameter("mass_b", "kg", 2.0, 0.01, 100.0, "mass of the second ball"),
        Parameter("stiffness", "N/m", 20.0, 0.1, 10000.0, "stiffness of the spring"),
        Parameter("stretch", "m", 0.4, 0.01, 0.5, "initial extension beyond the spring's natural length of 1 m"),
        Parameter("drift", "m/s", 0.25, -5.0, 5.0, "initial velocity of both"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=stage,
    lesson=Lesson(
        formulas=(
            Formula(r"\mu = \frac{m_a m_b}{m_a + m_b}", "the reduced mass"),
            Formula(r"T = 2\pi\sqrt{\frac{\mu}{k}}", "the period of the distance"),
        ),
        steps=(
            TryThis("The center of mass moves uniformly; each ball oscillates about it.", switches=("trailCenter",)),
            TryThis("A partner of 100 kg hardly moves.", values={"mass_b": 100.0}),
            TryThis("Four times the stiffness: half the period.", values={"stiffness": 80.0}),
            TryThis(
                "Equal masses, no drift: equal and opposite motions.",
                values={"mass_a": 2.0, "mass_b": 2.0, "drift": 0.0},
            ),
        ),
        references=("Baraff 1997, section 2",),
    ),
)
