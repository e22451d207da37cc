"""Buttered toast that slips off a table: from an ordinary height it makes half a turn and lands on its butter."""

from __future__ import annotations

from collections.abc import Mapping
from math import radians
from typing import Any, NamedTuple

import numpy as np

from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.pictures import Curves, DrawPanel, Line, panels, space
from polhode.massprops.shapes import box
from polhode.results.motion import Motion
from polhode.scenario.contact import floor
from polhode.scenario.forces import STANDARD_GRAVITY, gravity
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.validation import Array
from polhode.web.props import Cuboid, Prop, Rod
from polhode.web.stage import Grab, Stage, StageCamera

LENGTH, THICKNESS, MASS = 0.1, 0.014, 0.04
RESTITUTION, FRICTION = 0.1, 0.5
DURATION, FRAMES = 4.0, 800
HEIGHTS, PER_HEIGHT = np.linspace(0.25, 3.0, 12), 25
"""Heights of the tables in the ensemble, in m, and toasts for each."""
OVERHANG_SPREAD, ANGLE_SPREAD = 0.5, 10.0
"""The toasts' overhangs differ by up to this share, their angles by up to this, in degrees."""
ONE, ALL = "one toast", "tables of all heights"
SEED = 1995
BUTTER, BREAD, WOOD = "#f2c230", "#b98b54", "#a8784a"
TABLE = (0.36, 0.4, 0.025)
"""Sides of the table that the page draws, in m."""


class Slip(NamedTuple):
    """How toasts leave the edge: heights of the tables, overhangs in half lengths, angles (rad), and rates (rad/s)."""

    height: Any
    overhang: Any
    angle: Any
    rate: Any


def _slip(height: Any, overhang: Any, angle: Any) -> Slip:
    """Turning about the edge from rest, w^2 = 6 g/a eta/(1 + 3 eta^2) sin(angle).  [Matthews 1995]"""
    rate = np.sqrt(12 * STANDARD_GRAVITY / LENGTH * overhang / (1 + 3 * overhang**2) * np.sin(angle))
    return Slip(height, overhang, angle, rate)


def _all_slips(overhang: float, angle: float) -> Slip:
    random, count = np.random.default_rng(SEED), len(HEIGHTS) * PER_HEIGHT
    shares = overhang * (1 + OVERHANG_SPREAD * random.uniform(-1, 1, count))
    angles = angle + ANGLE_SPREAD * random.uniform(-1, 1, count)
    return _slip(np.repeat(HEIGHTS, PER_HEIGHT), shares, np.radians(angles))


def _initial_state(slip: Slip) -> State:
    """Just off the edge, which is at x = 0: the toast's lower face touched it at the overhang from its center."""
    a, zero = slip.angle, 0.0 * slip.angle
    along, normal = np.stack((np.cos(a), zero, -np.sin(a)), -1), np.stack((np.sin(a), zero, np.cos(a)), -1)
    arm = np.asarray(slip.overhang * LENGTH / 2)[..., None] * along + THICKNESS / 2 * normal
    rates = np.stack((zero, slip.rate, zero), -1)
    return State(
        position=arm + np.stack((zero, zero, slip.height + zero), -1),
        velocity=np.cross(rates, arm),
        quaternion_wxyz=np.stack((np.cos(a / 2), zero, np.sin(a / 2), zero), -1),
        angular_velocity_body=rates,
    )


def scenario(height: float, overhang: float, angle: float) -> dict[str, Scenario]:
    """One toast from the given table, and 25 that differ a little from each of twelve tables."""
    fall: Any = {
        "forces": [gravity()],
        "duration": DURATION,
        "contacts": [floor(RESTITUTION, FRICTION)],
        "name": "buttered-toast",
    }
    toast, ends = box((LENGTH, LENGTH, THICKNESS), MASS), [0.0, DURATION]
    slip = _slip(np.array(height), np.array(overhang), np.array(radians(angle)))
    return {
        ONE: Scenario(toast, _initial_state(slip), output_step=DURATION / FRAMES, **fall),
        ALL: Scenario(toast, _initial_state(_all_slips(overhang, angle)), output_times=ends, **fall),
    }


def first_contact(slip: Slip) -> tuple[Array, Array]:
    """When toasts first touch the floor (s), and the angles by which they have then turned (rad), in closed form.

    The lowest point is |sin| of half the length and |cos| of half the thickness below the center, which falls freely.
    """
    start = _initial_state(slip)
    z, v = np.asarray(start.position)[..., 2], np.asarray(start.velocity)[..., 2]

    def clearance(t: Array) -> Array:
        turned = slip.angle + slip.rate * t
        lowest = (LENGTH * np.abs(np.sin(turned)) + THICKNESS * np.abs(np.cos(turned))) / 2
        return np.asarray(z + v * t - STANDARD_GRAVITY * t**2 / 2 - lowest)

    lands = (v + np.sqrt(v**2 + 2 * STANDARD_GRAVITY * z)) / STANDARD_GRAVITY
    grid = np.linspace(0.0, 1.0, 4001)
    i = np.argmax([clearance(share * lands) <= 0 for share in grid], axis=0)
    low, high = grid[i - 1] * lands, grid[i] * lands
    for _ in range(60):
        middle = (low + high) / 2
        above = clearance(middle) > 0
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return high, np.asarray(slip.angle + slip.rate * high)


def butter_down(motion: Motion) -> Array:
    """Whether each toast ends with the butter, on its +z face, below."""
    return np.asarray(motion.rotation_matrix[-1][..., 2, 2] < 0)


def numbers(motions: Mapping[str, Motion], height: float, overhang: float, angle: float) -> list[ReferenceCheck]:
    """When and how the toast first touches the floor; when all the others do."""
    one, impacts = motions[ONE], motions[ALL].impacts
    slip = _slip(np.array(height), np.array(overhang), np.array(radians(angle)))
    expected, turned = (float(x) for x in first_contact(slip))
    touched = float(one.impacts.time[0])
    _, first = np.unique(impacts.member, return_index=True)
    errors = impacts.time[first] - first_contact(_all_slips(overhang, angle))[0]
    q = one.at(np.nextafter(touched, 0.0)).quaternion_wxyz
    found = 2 * float(np.arctan2(q[2], q[0]))
    return [
        check(
            "time until it touches the floor",
            "s",
            touched,
            expected,
            1e-10,
            "z(t) = (a |sin θ| + d |cos θ|)/2, θ = θ₀ + ω t",
        ),
        check(
            "angle turned by then",
            "deg",
            np.degrees(turned + np.angle(np.exp(1j * (found - turned)))),
            np.degrees(turned),
            1e-6,
            "θ₀ + ω t",
        ),
        check(
            f"largest error of that time, {len(first)} toasts",
            "s",
            np.abs(errors).max(),
            0.0,
            1e-10,
            "the same, for each",
            size=expected,
        ),
    ]


@panels("AB;AC", size=(12.0, 7.6), widths=(1.15, 1.0))
def picture(motions: Mapping[str, Motion], height: float, overhang: float, angle: float) -> list[DrawPanel]:
    """The fall; how far the toasts have turned when they land, and how many end on their butter, by table."""
    slips, down = _all_slips(overhang, angle), butter_down(motions[ALL])
    turned = first_contact(slips)[1]
    own = float(np.degrees(first_contact(_slip(np.array(height), np.array(overhang), np.array(radians(angle))))[1]))
    most = max(450.0, float(np.degrees(turned).max()) + 20)

    def percent(which: Any) -> Array:
        return np.asarray(100 * which.reshape(len(HEIGHTS), PER_HEIGHT).mean(axis=1))

    return [
        _fall(motions[ONE], height),
        Curves(
            "landing",
            "angle turned at contact (deg)",
            [
                Line(np.degrees(turned), "toasts", 0, ".", slips.height, size=4),
                Line([own], "the one shown", "impact", "o", [height]),
            ],
            across="height of the table (m)",
            y=(0.0, most),
            y_ticks=range(0, int(most), 90),
            also=lambda axes: axes.axhspan(90, 270, color=BUTTER, alpha=0.35, lw=0, label="butter faces the floor"),
        ),
        Curves(
            "butter side down",
            "% of the toasts",
            [
                Line(percent(np.cos(turned) < 0), "faces the floor at contact", "muted", "-o", HEIGHTS, size=4),
                Line(percent(down), "at rest", 0, "-o", HEIGHTS, size=4),
            ],
            across="height of the table (m)",
            y=(0.0, 105.0),
        ),
    ]


def _fall(motion: Motion, height: float) -> DrawPanel:
    """The toast from the edge of the table to the floor, at equal time intervals, and where it comes to rest."""
    scene, aside = space(0.0, 0.0), 0.9 * LENGTH
    lands = int(np.searchsorted(motion.times, motion.impacts.time[0]))
    frames = (*np.linspace(0, lands, 8).round().astype(int), FRAMES)
    scene.frames(motion, frames, (aside, 0.0, 0.0), color=BREAD, half=2, half_color=BUTTER)
    end = motion.position[-1, 0] + aside * len(frames)
    scene.ground((-2.5 * LENGTH, 0.0, 0.0), (end, 0.0, 0.0), LENGTH / 4)
    scene.ground((-2.5 * LENGTH, 0.0, height), (0.0, 0.0, height), LENGTH / 4)
    side = "butter side down" if butter_down(motion) else "butter side up"
    return scene.panel(f"every {motion.times[lands] / 7:.2g} s, to the right; at last: {side}", margin=0.02)


def stage(height: float, overhang: float, angle: float, run: str) -> Stage:
    """The table beside which the toast falls, and the butter on the toast."""
    butter = Cuboid((0.92 * LENGTH, 0.92 * LENGTH, 0.002), (0, 0, THICKNESS / 2), color=BUTTER, attached="body")
    wide, _, thick = TABLE
    legs = [
        Rod((-x, y, 0.0), (-x, y, height - thick), 0.014, color=WOOD)
        for x in (0.04, wide - 0.04)
        for y in (-0.16, 0.16)
    ]
    table = Cuboid(TABLE, (-wide / 2, 0.0, height - thick / 2), color=WOOD)
    props: tuple[Prop, ...] = (butter, table, *legs) if run == ONE else (butter,)
    return Stage(
        camera=StageCamera(-72.0, 12.0, target=(-0.05, 0.0, 0.5 * height), radius=0.62 * height + 0.12)
        if run == ONE
        else None,
        off=("omega", "L", "torque", "trailOmega", "bodyAxes", "forces", "impacts"),
        panels=("angular_velocity", "position", "energy"),
        props=props,
        grabs=(Grab("attitude", knob="angle", component=1, scale=180 / np.pi),),
        moment=0.06,
        shows="A slice of toast slips off a table, turns in the fall and lands on its butter.",
    )


MODEL = Model(
    name="buttered-toast",
    title="Toast that slips off a table lands on its butter, for lack of height",
    theme="impact and contact",
    source="[Matthews 1995]",
    explanation="""\
A slice of toast is pushed over the edge of a table, turns about it and slips off. Its rate then stays, and
the height of the table decides how far it turns: from 0.75 m about half a turn, butter side down. A table
of three meters would leave time for a whole turn. What bounces and friction make of the landing is computed
until it rests: a slice that lands on its edge may fall either way. The table itself is not simulated: the
toast starts as it leaves the edge.""",
    parameters=(
        Parameter("height", "m", 0.75, 0.2, 3.0, "height of the table"),
        Parameter("overhang", "1", 0.05, 0.01, 0.2, "overhang of the center, in half lengths, as it slips off"),
        Parameter("angle", "deg", 45.0, 20.0, 70.0, "angle at which it slips off"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=stage,
    lesson=Lesson(
        formulas=(
            Formula(
                r"\omega^2 = \frac{6 g}{a}\,\frac{\eta\sin\theta}{1 + 3\eta^2}",
                "the rate at which it slips off at the angle θ; a is half its length, ηa the overhang",
            ),
            Formula(r"t \approx \sqrt{\frac{2h}{g}}", "the time that the table leaves it"),
        ),
        steps=(
            TryThis("From a table of 0.75 m: butter side down.", run="one toast"),
            TryThis(
                "From a table of 3 m it turns almost once, and lands on the other side.",
                values={"height": 3.0},
                run="one toast",
            ),
            TryThis(
                "From 0.2 m it lands on an edge, after little more than a quarter turn.",
                values={"height": 0.2},
                run="one toast",
            ),
            TryThis("All heights at once.", run="tables of all heights"),
        ),
        references=("Matthews 1995",),
    ),
)
