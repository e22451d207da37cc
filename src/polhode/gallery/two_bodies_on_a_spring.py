"""Two bodies on a spring: they swing about their common centre, which drifts on."""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING

from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck
from polhode.gallery.measurements import zero_crossings
from polhode.massprops.shapes import sphere
from polhode.model.forces import spring_between
from polhode.model.scenario import Scenario
from polhode.model.state import State
from polhode.reference.spring import SpringPair

if TYPE_CHECKING:
    from typing import Any

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from polhode.results.motion import Motion

LENGTH = 1.0
DENSITY = 1000.0
SWINGS = 4
FRAMES = 400
STEPS_A_FRAME = 10
LARGEST = 0.2
"""In the drawing no ball has a larger radius, in m."""


def _pair(mass_a: float, mass_b: float, stiffness: float, stretch: float, drift: float) -> SpringPair:
    return SpringPair((mass_a, mass_b), stiffness, LENGTH, (0.0, LENGTH + stretch), (drift, drift))


def scenario(mass_a: float, mass_b: float, stiffness: float, stretch: float, drift: float) -> Scenario:
    """Two balls along x, let go with the spring stretched, four swings long."""
    pair = _pair(mass_a, mass_b, stiffness, stretch, drift)
    duration = SWINGS * pair.period
    radius_a, radius_b = ((3 * m / (4 * pi * DENSITY)) ** (1 / 3) for m in (mass_a, mass_b))
    return Scenario(
        [sphere(radius_a, mass_a), sphere(radius_b, mass_b)],
        [
            State(position=(x, 0.0, 0.0), velocity=(v, 0.0, 0.0))
            for x, v in zip(pair.positions, pair.velocities, strict=True)
        ],
        [spring_between(0, 1, stiffness, length=LENGTH)],
        duration=duration,
        step=duration / (FRAMES * STEPS_A_FRAME),
        output_step=duration / FRAMES,
        method="rk4",
        name="two-bodies-on-a-spring",
    )


def _spring_stretch(states: Any) -> float:
    a, b = states
    return float(b.position[0] - a.position[0] - LENGTH)


def numbers(
    motion: Motion, mass_a: float, mass_b: float, stiffness: float, stretch: float, drift: float
) -> list[ReferenceCheck]:
    """The period of the swing: twice the mean time between passages through the spring's length."""
    distance = motion.position[:, 1, 0] - motion.position[:, 0, 0]
    passages = zero_crossings(motion, distance - LENGTH, _spring_stretch)
    expected = _pair(mass_a, mass_b, stiffness, stretch, drift).period
    return [
        ReferenceCheck(
            "period of the swing",
            "s",
            float(2 * (passages[-1] - passages[0]) / (len(passages) - 1)),
            expected,
            1e-8 * expected,
            "2 pi sqrt(mu/k), mu = m_a m_b/(m_a + m_b)",
        ),
    ]


def picture(motion: Motion, mass_a: float, mass_b: float, stiffness: float, stretch: float, drift: float) -> Figure:
    """The balls in one swing, where they and their centre of mass are, how the distance swings, where the energy is."""
    from polhode.plot import panels
    from polhode.plot.style import COLOR_CYCLE, COLORS, add_legend_above, draw_closed_form, styled_figure

    pair = _pair(mass_a, mass_b, stiffness, stretch, drift)
    t, places = motion.times, motion.position[:, :, 0]
    with styled_figure(11.0, 8.4, MODEL.title) as figure:
        grid = figure.add_gridspec(3, 2, height_ratios=(0.42, 1, 1))
        _draw_one_swing(figure.add_subplot(grid[0, :]), motion)
        where, distance, energy, kept = (figure.add_subplot(grid[1 + i, j]) for i in (0, 1) for j in (0, 1))
        draw_closed_form(where, t, pair.positions_at(t))
        for i, mass in enumerate((mass_a, mass_b)):
            where.plot(t, places[:, i], color=COLOR_CYCLE[i], label=f"{mass:g} kg")
        center = places @ pair.masses / pair.masses.sum()
        where.plot(t, center, color=COLORS["ink"], linewidth=1.0, linestyle=(0, (5, 3)), label="centre")
        draw_closed_form(distance, t, LENGTH + pair.stretch_at(t))
        simulated = f"simulated, period {pair.period:.6g} s"
        distance.plot(t, places[:, 1] - places[:, 0], color=COLORS["omega"], label=simulated)
        distance.axhline(LENGTH, color=COLORS["muted"], linewidth=0.9, linestyle=(0, (2, 2)))
        distance.set_title("distance")
        where.set_title("places")
        for axes in (where, distance):
            axes.set_ylabel("m")
            panels.format_time_axis(axes, motion)
            add_legend_above(axes, 4)
        _draw_energies(energy, motion)
        panels.draw_conserved_drift(kept, motion)
    return figure


def _draw_one_swing(axes: Axes, motion: Motion) -> None:
    """Balls and spring at five instants side by side, seen from their centre of mass."""
    import numpy as np

    from polhode.plot.scene import Scene, world_camera
    from polhode.plot.style import COLOR_CYCLE, COLORS

    scene, masses = Scene(world_camera(0.0, 0.0)), np.array([body.mass for body in motion.scenario.bodies])
    radii = (3 * masses / (4 * pi * DENSITY)) ** (1 / 3)
    radii *= min(1.0, LARGEST / radii.max())
    middle = LENGTH * (masses[0] - masses[1]) / (2 * masses.sum())
    across = np.linspace(0.0, 1.0, 81)
    zigzag = 0.07 * np.interp(across * 16, np.arange(17), (0, 0, *(1, -1) * 6, 1, 0, 0))
    for n, when in enumerate(("at the start", "T/4", "T/2", "3 T/4", "T")):
        x, centre = motion.position[n * FRAMES // (4 * SWINGS), :, 0], 2.1 * n - middle
        ends = x - x @ masses / masses.sum() + centre
        spring = np.stack((ends[0] + across * (ends[1] - ends[0]), 0 * across + 1.0, zigzag), axis=1)
        scene.line(spring, COLORS["ink"], width=1.1)
        for radius, end, color in zip(radii, ends, COLOR_CYCLE, strict=False):
            scene.body(sphere(radius, 1.0), (end, 0.0, 0.0), color=color, segments=32)
        scene.line(((centre, 2.0, -0.3), (centre, 2.0, 0.3)), COLORS["muted"], width=1.0, style=(0, (4, 3)))
        scene.text((2.1 * n, 0.0, -0.3), when, offset=(0, -6))
    scene.draw(axes, "one swing of the period T, seen from the centre of mass (dashed)", margin=0.0)


def _draw_energies(axes: Axes, motion: Motion) -> None:
    """The kinetic energy of each ball and the energy of the spring, one on top of the other."""
    from polhode.plot.panels import format_time_axis
    from polhode.plot.style import COLOR_CYCLE, COLORS, add_legend_above

    kinetic = motion.kinetic_energy
    parts = (kinetic[:, 0], kinetic[:, 1], motion.potential_energy)
    colors = (COLOR_CYCLE[0], COLOR_CYCLE[1], COLORS["potential"])
    axes.stackplot(motion.times, *parts, colors=colors, alpha=0.75, labels=("first ball", "second ball", "spring"))
    axes.plot(motion.times, motion.energy, color=COLORS["total"], linewidth=1.4)
    axes.set_ylim(0.0, 1.06 * float(motion.energy.max()))
    axes.set_title("energy")
    axes.set_ylabel("J")
    format_time_axis(axes, motion)
    add_legend_above(axes, 3)


MODEL = Model(
    name="two-bodies-on-a-spring",
    title="Two balls on a spring swing about a centre that drifts on",
    theme="forces and torques",
    source="seed 000 sections 1, 2",
    explanation=(
        "Two balls are joined by a spring, pulled apart and let go while both drift along. The spring pulls\n"
        "both with the same force, in opposite directions: the linear momentum of the pair stays, and the\n"
        "centre of mass moves on as if there were no spring. The distance swings like a single body of the\n"
        "reduced mass mu = m_a m_b/(m_a + m_b), and energy goes to and fro between the spring and the\n"
        "balls, of which the lighter takes the larger share."
    ),
    parameters=(
        Parameter("mass_a", "kg", 1.0, 0.01, 100.0, "of the first ball"),
        Parameter("mass_b", "kg", 2.0, 0.01, 100.0, "of the second ball"),
        Parameter("stiffness", "N/m", 20.0, 0.1, 10000.0, "of the spring"),
        Parameter("stretch", "m", 0.4, 0.01, 0.5, "at the start, beyond the spring's length of 1 m"),
        Parameter("drift", "m/s", 0.25, -5.0, 5.0, "of both at the start"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
)
