"""The Dzhanibekov effect: a box thrown about its middle axis turns over, again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.checks import Array
from polhode.gallery.model import Model, Parameter, Shown
from polhode.gallery.tools import crossings, first_interval
from polhode.mass.shapes import box
from polhode.reference.free_rotation import AsymmetricTop
from polhode.scenario import Scenario
from polhode.state import State

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from polhode.motion import Motion

SIDES = (0.1, 0.4, 0.9)
MASS = 10.0
STEPS_A_TURN = 8000
FRAMES = 720


def _top(spin: float, nudge: float) -> AsymmetricTop:
    return AsymmetricTop(box(SIDES, MASS).principal_moments, (nudge, spin, nudge))


def scenario(spin: float, nudge: float) -> Scenario:
    """A free box, for the time of three flips."""
    duration = 3 * _top(spin, nudge).flip_time
    turn = 2 * np.pi / spin
    steps_a_frame = -(-duration // (FRAMES * turn / STEPS_A_TURN))
    return Scenario(
        box(SIDES, MASS),
        State(angular_velocity_body=(nudge, spin, nudge)),
        duration=duration,
        step=duration / (FRAMES * steps_a_frame),
        output_step=duration / FRAMES,
        method="rk4",
        name="dzhanibekov",
    )


def numbers(motion: Motion, spin: float, nudge: float) -> list[Shown]:
    """The time of one flip: between two reversals of the rate about the middle axis."""
    top = _top(spin, nudge)
    # An error e of m moves the flip by e/((1 - m) rate): the closer to the separatrix, the less any number can tell.
    tolerance = 1e-9 * top.flip_time + 1e-13 / (top.complement * top.phase_rate)
    return [
        Shown(
            "time of one flip",
            "s",
            first_interval(_reversals(motion), "a reversal"),
            top.flip_time,
            tolerance,
            "2 K(m)/lambda, Jacobi's closed form",
        ),
    ]


def _reversals(motion: Motion) -> Array:
    return crossings(motion, motion.angular_velocity_body[:, 1], lambda state: state.angular_velocity_body[1])


def picture(motion: Motion, spin: float, nudge: float) -> Figure:
    """The box at instants of its flips, the angular velocity below it, the polhode, and what was conserved."""
    from textwrap import fill

    from polhode.plots import panels
    from polhode.plots.style import sheet

    top = _top(spin, nudge)
    with sheet(12.0, 7.0, MODEL.title, constrained=False) as figure:
        boxes = figure.add_axes((0.058, 0.735, 0.542, 0.165))
        rates = figure.add_axes((0.058, 0.345, 0.542, 0.33))
        kept = figure.add_axes((0.058, 0.075, 0.542, 0.19))
        polhode = figure.add_axes((0.632, 0.38, 0.353, 0.52))
        _boxes_panel(boxes, motion, top)
        _rates_panel(rates, motion, top)
        panels.departures(kept, motion)
        panels.polhode(polhode, motion)
        text = fill(MODEL.explanation.replace("\n", " "), 61)
        figure.text(0.632, 0.355, text, va="top", fontsize=9.5, linespacing=1.4)
    return figure


def _boxes_panel(axes: Axes, motion: Motion, top: AsymmetricTop) -> None:
    """The box above the times at which it is so: at each reversal, and half-way between."""
    from polhode.plots.panels import time_axis
    from polhode.plots.projection import camera, draw_boxes

    time_axis(axes, motion)
    axes.set_ylim(-1, 1)
    axes.axis("off")
    axes.set_title("the box over its time, its green half towards axis 2 of the body")
    along_l = motion.angular_momentum[0]
    seen = camera((1, 0, 0), along_l, 0.0, 0.3)
    towards = np.cos(0.9) * seen.right + np.sin(0.9) * np.cross(seen.right, along_l) / np.linalg.norm(along_l)
    shown = np.abs(motion.rotation_matrix[:, :, 2] @ towards)
    frames = []
    for k in range(-1, 9):
        t = top.first_flip + k * top.flip_time / 2
        near = np.abs(motion.times - max(t, motion.times[0])) <= top.flip_time * (0.15 if k % 2 else 0.01)
        if near.any():
            frames.append(int(np.argmax(np.where(near, shown, -1.0))))
    draw_boxes(axes, motion, SIDES, frames, seen, inches_a_metre=0.95)


def _rates_panel(axes: Axes, motion: Motion, top: AsymmetricTop) -> None:
    """The components of the angular velocity over the closed form, and the time of one flip."""
    from polhode.plots.panels import time_axis
    from polhode.plots.style import AXES, COLOURS, OMEGA, legend_above

    closed = top.rates_at(motion.times)
    axes.plot(motion.times, closed, color=COLOURS["closed_form"], linewidth=4.5)
    for i, name in enumerate((OMEGA[0], f"{OMEGA[1]}, middle axis", OMEGA[2])):
        axes.plot(motion.times, motion.angular_velocity_body[:, i], color=AXES[i], label=name)
    axes.plot([], [], color=COLOURS["closed_form"], linewidth=4.5, label="closed form")
    largest = float(np.abs(closed).max())
    axes.set_ylim(-1.12 * largest, 1.5 * largest)
    first, second = _reversals(motion)[:2]
    arrow = {"arrowstyle": "<|-|>", "color": COLOURS["ink"], "linewidth": 1.0, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", xy=(first, 1.2 * largest), xytext=(second, 1.2 * largest), arrowprops=arrow)
    text = f"one flip: {second - first:.8f} s (closed form {top.flip_time:.8f} s)"
    axes.text((first + second) / 2, 1.24 * largest, text, ha="center", va="bottom", fontsize=9)
    ends: dict[str, Any] = {"color": COLOURS["muted"], "linewidth": 0.8, "linestyle": (0, (2, 2))}
    axes.vlines((first, second), -1.12 * largest, 1.2 * largest, **ends)
    axes.set_title("angular velocity, body axes")
    axes.set_ylabel("rad/s")
    time_axis(axes, motion)
    axes.set_xlabel("")
    legend_above(axes, 4)


MODEL = Model(
    name="dzhanibekov",
    title="A box spun about its middle axis turns over, and back, for ever",
    theme="free rotation",
    source="V. Dzhanibekov in orbit, 1985; seed 003 figure 5; seed 004 problems 17.3, 17.6",
    explanation=(
        "A box of 10 kg, 0.1 x 0.4 x 0.9 m, is spun about the axis of its middle moment of inertia.\n"
        "About the other two axes it would spin steadily; about this one the smallest nudge grows\n"
        "exponentially until the box has turned over. Nothing acts on it: energy and angular momentum\n"
        "stay what they are, and so the box must come back, and turn over again. The angular velocity,\n"
        "seen from the body, runs along its polhode close to the separatrix, which it never crosses."
    ),
    parameters=(
        Parameter("spin", "rad/s", 5.0, 1.0, 20.0, "rate about the middle axis"),
        Parameter("nudge", "rad/s", 0.1, 0.01, 0.5, "rate about each of the other two axes"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
)
