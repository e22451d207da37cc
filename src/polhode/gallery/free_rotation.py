"""Free rotation by quaternion acceleration: the plate again, and a block about each of its three axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from polhode.equations.elementary import tan
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.measurements import azimuth_rate, first_interval, zero_crossings
from polhode.gallery.pictures import Closed, Curves, DrawPanel, Line, drawn, panels
from polhode.gallery.plain_formulas import radians, sorted_period
from polhode.massprops.body import Body
from polhode.massprops.shapes import box, thin_disk
from polhode.reference.free_rotation import AsymmetricTop, SymmetricTop
from polhode.results.motion import Motion
from polhode.rotations import angle_between
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.validation import Array
from polhode.web.props import RollingCones
from polhode.web.stage import Grab, Stage, StageCamera

RADIUS, MASS = 0.12, 0.3
SIDES = (0.3, 0.2, 0.1)
"""Sides of the block: I1 < I2 < I3."""
EXACT = "block exactly about axis 2"
BLOCKS = ("block about axis 1", "block about axis 2", "block about axis 3")
DURATION = 1.0
FRAMES = 500
STEPS = 20_000


def _make_plate(spin: float, tilt: float) -> SymmetricTop:
    """As in feynman-plate: w3 = spin, L tilted from axis 3 by `tilt` (deg).  I1 = M R^2/4, I3 = M R^2/2."""
    across = MASS * RADIUS**2 / 4
    return SymmetricTop((across, across, 2 * across), (2 * spin * tan(radians(tilt)), 0.0, spin))


def _make_block(axis: int, spin: float, nudge: float) -> AsymmetricTop:
    """Spin about one axis, nudge about the next.  I1 = M (b^2 + c^2)/12 and so on."""
    rates = np.zeros(3)
    rates[axis], rates[(axis + 1) % 3] = spin, nudge
    return AsymmetricTop(_block_moments(), rates)


def _block_moments() -> Array:
    squares = np.square(SIDES)
    return np.asarray(MASS * (squares.sum() - squares) / 12)


def _run_scenario(body: Body, rates: Any, duration: float) -> Scenario:
    return Scenario(
        body,
        State(angular_velocity_body=rates),
        duration=duration,
        step=duration / STEPS,
        output_step=duration / FRAMES,
        method="rk4",
        formulation="quaternion_acceleration",
        name="free-rotation",
    )


def scenario(spin: float, tilt: float, nudge: float) -> dict[str, Scenario]:
    """The plate for one second, and a nudged block about each axis for one and a half wobble periods."""
    runs = {"plate": _run_scenario(thin_disk(RADIUS, MASS), _make_plate(spin, tilt).rates, DURATION)}
    for axis, name in enumerate(BLOCKS):
        start: Any = tuple({axis: spin, (axis + 1) % 3: nudge}.get(k, 0.0) for k in range(3))
        period = sorted_period(_block_moments().tolist(), start)
        runs[name] = _run_scenario(box(SIDES, MASS), start, 1.5 * period)
    exact = (0.0, spin, 0.0)
    return runs | {EXACT: _run_scenario(box(SIDES, MASS), exact, 2 * np.pi / spin)}


def _rate_component(axis: int) -> Callable[[Any], float]:
    return lambda state: float(state.angular_velocity_body[axis])


def numbers(motions: dict[str, Motion], spin: float, tilt: float, nudge: float) -> list[ReferenceCheck]:
    """The plate against its closed form, and the wobble period about each axis."""
    plate, top = motions["plate"], _make_plate(spin, tilt)
    off = float(angle_between(plate.quaternion_wxyz, top.quaternions_at(plate.times)).max())
    ratio = 2 / float(np.cos(np.radians(tilt)))
    wobble = azimuth_rate(plate.times, plate.rotation_matrix[:, :, 2], plate.angular_momentum[0])
    found = [
        check("attitude error of the plate", "rad", off, 0.0, 1e-10, "closed form of feynman-plate", 1.0),
        check("wobble-to-spin ratio of the plate", "1", wobble / spin, ratio, 1e-9 * ratio, "(I3/I1)/cos(theta)"),
        check(
            "change of ω₃ of the plate",
            "rad/s",
            np.ptp(plate.angular_velocity_body[:, 2]),
            0.0,
            1e-9 * spin,
            "constant if I1 = I2 [Christian 2011, problem 17.6]",
            spin,
        ),
    ]
    for axis, name in enumerate(BLOCKS):
        motion, closed = motions[name], _make_block(axis, spin, nudge)
        watched = (axis + 2) % 3 if axis != 1 else 1
        zeros = zero_crossings(motion, motion.angular_velocity_body[:, watched], _rate_component(watched))
        zeros = zeros[zeros > 0]
        tolerance = 1e-8 * closed.period + 1e-12 / (closed.complement * closed.phase_rate)
        period = 2 * first_interval(zeros, "a reversal")
        found.append(check(f"period, {name}", "s", period, closed.period, tolerance, "4 K(m)/rate"))
    aside = float(np.abs(motions[EXACT].angular_velocity_body[:, (0, 2)]).max())
    source = "spin about a principal axis is an equilibrium, even about the intermediate one"
    found.append(
        check(
            "transverse rates, spun exactly about the intermediate axis", "rad/s", aside, 0.0, 1e-9 * spin, source, spin
        )
    )
    return found


@panels("ABC;DEF")
def picture(motions: dict[str, Motion], spin: float, tilt: float, nudge: float) -> list[DrawPanel]:
    """The block about each axis in space, the deviation of w from that axis, and the plate over its closed form."""
    from polhode.plot.free_rotation_figures import draw_in_space, draw_rates

    words = ("axis 1, smallest moment: stable", "axis 2, intermediate: unstable", "axis 3, largest moment: stable")
    blocks = [motions[name] for name in BLOCKS]
    return [
        *(
            drawn(draw_in_space, motion, 0.27 * float(motion.times[-1]), path_of=axis, title=words[axis])
            for axis, motion in enumerate(blocks)
        ),
        _axis_departures(blocks, spin, nudge),
        drawn(draw_rates, motions["plate"], title="plate: ω"),
        _plate_errors(motions["plate"], _make_plate(spin, tilt)),
    ]


def _axis_departures(blocks: list[Motion], spin: float, nudge: float) -> Curves:
    """Component of w along the initial spin axis, relative to the spin."""
    lines, closed = list[Line](), list[Closed]()
    for axis, motion in enumerate(blocks):
        top = _make_block(axis, spin, nudge)
        share, rates = motion.times / top.period, motion.angular_velocity_body[:, axis]
        lines.append(Line(rates / spin, f"axis {axis + 1}", f"axis_{axis + 1}", x=share))
        closed.append(Closed(top.rates_at(motion.times)[:, axis] / spin, "" if axis else "closed form", share))
    return Curves(
        "block: rate about the initial spin axis",
        "fraction of the spin",
        lines,
        closed,
        across="time (wobble periods)",
        x=(0.0, 1.5),
        y=(-1.15, 1.15),
        legend=(4, 1),
    )


def _plate_errors(motion: Motion, top: SymmetricTop) -> Curves:
    rates = np.linalg.norm(motion.angular_velocity_body - top.rates_at(motion.times), axis=1)
    energy = np.abs(motion.rotational_energy / motion.rotational_energy[0] - 1)
    attitude = angle_between(motion.quaternion_wxyz, top.quaternions_at(motion.times))
    tolerance = np.full_like(motion.times, 1e-10)
    return Curves(
        "plate: error against the closed form",
        "error",
        [
            Line(attitude, "attitude (rad)", 1, width=1.1),
            Line(rates / np.linalg.norm(top.rates), "ω, relative", "omega", width=1.1),
            Line(energy, "energy, relative", "kinetic", width=1.1),
            Line(tolerance, "attitude tolerance", "muted", "--", width=1.0),
        ],
        over=motion,
        log="y",
        y=(1e-17, 1e-9),
        legend=(2, 2),
    )


def stage(spin: float, tilt: float, nudge: float, run: str) -> Stage:
    """The plate with its two cones, and the blocks with their inertia ellipsoid, which rolls on a plane."""
    spun = BLOCKS.index(run) if run in BLOCKS else 1 if run == EXACT else 2
    grabs = [Grab("angular_velocity", knob="spin", component=spun)]
    if run in BLOCKS:
        grabs.append(Grab("angular_velocity", knob="nudge", component=(spun + 1) % 3))
    isplate = run == "plate"
    return Stage(
        camera=StageCamera(elevation_deg=16.0, target=(0.0, 0.0, 0.5 * RADIUS), radius=1.75 * RADIUS)
        if isplate
        else None,
        switches=() if isplate else ("poinsot",),
        off=("bodyAxes", "trailOmega") if isplate else ("trailOmega",),
        panels=("quaternion", "angular_velocity", "drift"),
        props=(RollingCones(),) if isplate else (),
        grabs=tuple(grabs),
        shows="A plate wobbles; a block keeps its axis of spin, or leaves it, according to which axis it is.",
    )


MODEL = Model(
    name="free-rotation",
    title="Free rotation by quaternion acceleration: stable about two axes, unstable about the third",
    theme="free rotation",
    source="[Christian 2011, section 17.6, exercise 17.12, problem 17.6]",
    explanation="""\
The state is the quaternion and its rate; the angular velocity is computed from them when needed.
Feynman's plate, thrown as before, is reproduced to 1e-10 rad. A block is then spun about each of its
axes and nudged: about the axes of smallest and largest moment the angular velocity stays close, and its
tip follows a small closed curve; about the intermediate axis it departs, the block flips over, and comes
back. With I1 = I2, as for the plate, the rate about axis 3 is constant.""",
    parameters=(
        Parameter("spin", "rad/s", 10.0, 5.0, 20.0, "rate about the plate's axis, and about each axis of the block"),
        Parameter("tilt", "deg", 10.0, 1.0, 30.0, "angle between the plate's axis and the angular momentum"),
        Parameter("nudge", "rad/s", 0.5, 0.05, 1.0, "initial rate of the block about the next axis"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=stage,
    lesson=Lesson(
        formulas=(
            Formula(
                r"\ddot q = \frac{1}{2}\,q\,\dot{\boldsymbol{\omega}} - \frac{\omega^2}{4}\,q",
                "the acceleration of the quaternion",
            ),
            Formula(
                r"I_1\dot\omega_1 = (I_2 - I_3)\,\omega_2\omega_3",
                "Euler's equation of a free body about axis 1; the others follow by exchange of the axes",
            ),
        ),
        steps=(
            TryThis("About axis 1: a nudge only makes it wobble.", run="block about axis 1"),
            TryThis("About axis 2, the intermediate one: it flips over and comes back.", run="block about axis 2"),
            TryThis("Exactly about axis 2, without a nudge: it spins steadily.", run="block exactly about axis 2"),
            TryThis("About axis 3: stable again.", run="block about axis 3"),
        ),
        references=("Christian 2011, section 17.6",),
    ),
)
