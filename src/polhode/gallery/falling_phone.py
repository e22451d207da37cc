"""A dropped phone spinning about each of its three axes: about one of them it tumbles."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Any

import numpy as np

from polhode.equations.scalar_ops import sqrt as plain_sqrt
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.measurements import zero_crossings
from polhode.gallery.pictures import Closed, Curves, DrawPanel, Line, components, panels, space
from polhode.gallery.shared import rk4_settings
from polhode.massprops.shapes import box
from polhode.reference.free_rotation import AsymmetricTop
from polhode.results.motion import Motion
from polhode.scenario.forces import STANDARD_GRAVITY, gravity
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.validation import Array, as_leaves
from polhode.web.props import Cuboid
from polhode.web.stage import Grab, Stage, StageCamera

SIDES = (0.15, 0.07, 0.008)
MASS = 0.18
AXES_NAMES = ("long axis", "intermediate axis", "short axis")
MIDDLE = 1
SMALL_NUDGE, SMALL_NUDGE_SUFFIX = 3e-6, ", tiny nudge"
"""Nudge as a fraction of the spin, small enough for the linear theory of its growth or wobble."""
HALF = sqrt(0.5)
ACROSS = ((1.0, 0.0, 0.0, 0.0), (HALF, 0.0, 0.0, -HALF), (HALF, 0.0, HALF, 0.0))
"""Attitudes in which axis 1, 2 or 3 of the phone points along world x."""
FRAMES = 240
STEPS_PER_TURN = 1500


def _moments() -> Array:
    squares = np.array(SIDES) ** 2
    return np.asarray(MASS * (squares.sum() - squares) / 12)


def _stability_coefficient(axis: int) -> float:
    """(I - I')(I - I'')/(I' I''), I the moment of that axis: a nudge n obeys n'' = -coefficient spin^2 n."""
    i, j, k = np.roll(_moments(), -axis)
    return float((i - j) * (i - k) / (j * k))


def _initial_rates(axis: int, spin: float, nudge: float) -> Array:
    """Spin about one axis, nudge about the next."""
    rates = np.zeros(3)
    rates[axis], rates[(axis + 1) % 3] = spin, nudge * spin
    return rates


def _growing_mode_rates(spin: float, nudge: float) -> Array:
    """Spin about the intermediate axis, with a nudge along the growing mode of the linearized equations."""
    rates, (i, j, k) = _initial_rates(MIDDLE, spin, nudge), np.roll(_moments(), -MIDDLE)
    rates[(MIDDLE + 2) % 3] = nudge * spin * sqrt(-_stability_coefficient(MIDDLE)) * j / (k - i)
    return rates


def _fall_duration(height: float) -> float:
    duration: float = plain_sqrt(2 * height / STANDARD_GRAVITY)
    return duration


def scenario(spin: float, nudge: float, height: float) -> dict[str, Scenario]:
    """Three drops, intermediate axis first; then three with a tiny nudge, long enough to measure its rate."""
    order = (MIDDLE, 0, 2)
    drops = {
        AXES_NAMES[i]: _drop_scenario(i, _initial_rates(i, spin, nudge), height, _fall_duration(height)) for i in order
    }
    for i in order:
        start = _growing_mode_rates(spin, SMALL_NUDGE) if i == MIDDLE else _initial_rates(i, spin, SMALL_NUDGE)
        drops[AXES_NAMES[i] + SMALL_NUDGE_SUFFIX] = _drop_scenario(
            i, start, height, 4 / (spin * sqrt(abs(_stability_coefficient(i))))
        )
    return drops


def _drop_scenario(axis: int, rates: Array, height: float, duration: float) -> Scenario:
    spin = as_leaves(rates)[axis]
    steps_per_frame = -(-duration // (FRAMES * 2 * np.pi / spin / STEPS_PER_TURN))
    return Scenario(
        box(SIDES, MASS),
        State(position=(0.0, 0.0, height), quaternion_wxyz=ACROSS[axis], angular_velocity_body=rates),
        [gravity()],
        **rk4_settings(duration, FRAMES, steps_per_frame),
        name="falling-phone",
    )


def _closed_form_rates(axis: int, spin: float, nudge: float) -> AsymmetricTop:
    return AsymmetricTop(_moments(), _initial_rates(axis, spin, nudge))


def numbers(motions: Mapping[str, Motion], spin: float, nudge: float, height: float) -> list[ReferenceCheck]:
    """Growth rate about the intermediate axis, wobble rates about the others, and the state at impact."""
    fallen, closed = motions[AXES_NAMES[MIDDLE]], _closed_form_rates(MIDDLE, spin, nudge)
    speed = sqrt(2 * STANDARD_GRAVITY * height)
    return [
        check(
            "growth rate about the intermediate axis, per unit spin",
            "1",
            _measure_growth(motions) / spin,
            sqrt(-_stability_coefficient(MIDDLE)),
            3e-8,
            "sqrt((I3 - I2)(I2 - I1)/(I1 I3))",
        ),
        *(
            check(
                f"wobble rate about the {AXES_NAMES[axis]}, per unit spin",
                "1",
                _measure_wobble(motions, axis) / spin,
                sqrt(_stability_coefficient(axis)),
                3e-8,
                "sqrt((I - I')(I - I'')/(I' I''))",
            )
            for axis in (0, 2)
        ),
        check(
            "spin about the intermediate axis at impact",
            "rad/s",
            fallen.angular_velocity_body[-1, MIDDLE],
            closed.rates_at(fallen.times[-1])[MIDDLE],
            1e-8 * spin,
            "Jacobi's closed form",
            size=spin,
        ),
        check(
            "speed at impact",
            "m/s",
            -fallen.velocity[-1, 2],
            speed,
            1e-11 * speed,
            "sqrt(2 g h), independent of the rotation",
        ),
    ]


def _measure_growth(motions: Mapping[str, Motion]) -> float:
    """Growth rate from the final size of the nudge, in 1/s."""
    motion = motions[AXES_NAMES[MIDDLE] + SMALL_NUDGE_SUFFIX]
    away = motion.angular_velocity_body[:, (MIDDLE + 1) % 3]
    return float(np.log(away[-1] / away[0]) / motion.times[-1])


def _measure_wobble(motions: Mapping[str, Motion], axis: int) -> float:
    """Wobble rate from the first zero of the nudge, a quarter period, in rad/s."""
    motion, j = motions[AXES_NAMES[axis] + SMALL_NUDGE_SUFFIX], (axis + 1) % 3
    zero = zero_crossings(motion, motion.angular_velocity_body[:, j], lambda state: state.angular_velocity_body[j])
    return float(np.pi / (2 * zero[0]))


@panels("AB;AC;AD", size=(12.0, 8.4))
def picture(motions: Mapping[str, Motion], spin: float, nudge: float, height: float) -> list[DrawPanel]:
    """The three falls, the tilt of the spin axis, and the growth of a nudge."""
    middle, tiny = motions[AXES_NAMES[MIDDLE]], motions[AXES_NAMES[MIDDLE] + SMALL_NUDGE_SUFFIX]
    closed: Any = SMALL_NUDGE * np.exp(spin * sqrt(-_stability_coefficient(MIDDLE)) * tiny.times)
    share = tiny.angular_velocity_body[:, (MIDDLE + 1) % 3] / spin
    rate = f"rate {_measure_growth(motions) / spin:.7f} times the spin"
    return [
        _falls(motions),
        Curves(
            "tilt from L",
            "deg",
            [Line(_tilt(motions[name], i), name, f"axis_{i + 1}") for i, name in enumerate(AXES_NAMES)],
            over=middle,
            across="",
            y=(0.0, 185.0),
            y_ticks=(0, 45, 90, 135, 180),
        ),
        Curves(
            "intermediate axis",
            "rad/s",
            components(middle.angular_velocity_body),
            Closed(_closed_form_rates(MIDDLE, spin, nudge).rates_at(middle.times)),
            middle,
        ),
        Curves(
            "growth",
            "fraction of the spin",
            Line(share, rate, f"axis_{MIDDLE + 1}"),
            Closed(closed, "exponential"),
            tiny,
            log="y",
        ),
    ]


def _falls(motions: Mapping[str, Motion]) -> DrawPanel:
    """The phone at equal time intervals, one column per axis."""
    scene, body = space(0.7, 0.2), box(SIDES, MASS)
    across, down = scene.camera.right, np.array((0.0, 0.0, -0.19))
    frames = np.linspace(0, FRAMES, 8).round().astype(int)
    for column, name in enumerate(AXES_NAMES):
        motion, top = motions[name], 0.42 * column * across + np.array((0.0, 0.0, 0.13))
        scene.text(top, name, f"axis_{column + 1}", (0, 14))
        scene.arrow(top - (0.05, 0, 0), (0.1, 0, 0), f"axis_{column + 1}")
        for row, frame in enumerate(frames):
            scene.body(body, 0.42 * column * across + row * down, motion.rotation_matrix[frame], _face_colors)
    for row, frame in enumerate(frames):
        scene.text(row * down - 0.13 * across, f"{motion.times[frame]:.2f} s", "muted", (-4, 0))
    return scene.panel("falling; screen dark, back bright; arrows along the spin", margin=0.0)


def _face_colors(centers: Array) -> list[str]:
    """Dark screen, bright back, gray rim."""
    edge = 0.49 * SIDES[2]
    return ["ink" if z > edge else "body" if z < -edge else "muted" for z in centers[:, 2]]


def _tilt(motion: Motion, axis: int) -> Array:
    """Angle in deg between the spin axis of the phone and the angular momentum, which is constant."""
    along = motion.angular_momentum / np.linalg.norm(motion.angular_momentum, axis=1, keepdims=True)
    cosine = np.einsum("ti,ti->t", along, motion.rotation_matrix[:, :, axis])
    return np.asarray(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))))


def stage(spin: float, nudge: float, height: float, run: str) -> Stage:
    """The phone with its screen, in the fall; the floor comes near."""
    spun = next(i for i, name in enumerate(AXES_NAMES) if run.startswith(name))
    long, wide, thick = SIDES
    screen = Cuboid((0.96 * long, 0.9 * wide, 0.06 * thick), (0.0, 0.0, thick / 2), color="#1c2530", attached="body")
    return Stage(
        camera=StageCamera(elevation_deg=16.0),
        switches=(f"trailAxis{spun + 1}",),
        off=("L", "trailOmega"),
        panels=("angular_velocity", "position", "energy", "drift"),
        props=(screen,),
        floor=0.0 if run in AXES_NAMES else None,
        grabs=(
            Grab("angular_velocity", knob="spin", component=spun),
            Grab("angular_velocity", knob="nudge", component=(spun + 1) % 3, scale=1 / spin),
        ),
        shows="A phone falls, spinning about one of its axes; about the intermediate one it flips over.",
    )


MODEL = Model(
    name="falling-phone",
    title="A phone spinning about its intermediate axis flips over if it falls long enough",
    theme="real bodies",
    source="[Tops report, section 5, figures 4 and 5]; [Christian 2011, problem 17.6]",
    explanation="""\
A phone of 150 x 70 x 8 mm is dropped, spinning about one of its three axes, with a nudge of a few
percent about another. Gravity exerts no torque: the phone rotates as in free space. About the long and
the short axis the nudge only causes a wobble; about the intermediate one, the axis across the screen, it
grows as exp(0.79 spin t). Dropped from 1.5 m at three revolutions per second, the phone makes half a
twist and flips over; slower or from a lower height, it hits the floor before the nudge has grown.""",
    parameters=(
        Parameter("spin", "rad/s", 20.0, 5.0, 40.0, "rate about one of the phone's axes"),
        Parameter("nudge", "1", 0.03, 0.005, 0.2, "initial rate about the next axis, as a fraction of the spin"),
        Parameter("height", "m", 1.5, 0.3, 4.0, "drop height"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=stage,
    lesson=Lesson(
        formulas=(
            Formula(
                r"\lambda = \omega\sqrt{\frac{(I_2 - I_1)(I_3 - I_2)}{I_1 I_3}} \approx 0.79\,\omega",
                "the growth of a nudge about the intermediate axis",
            ),
            Formula(r"t = \sqrt{\frac{2h}{g}}", "the time there is"),
        ),
        steps=(
            TryThis("From 1.5 m at three revolutions per second: half a twist.", run="intermediate axis"),
            TryThis(
                "From half a meter it hits the floor in the middle of the flip.",
                values={"height": 0.5},
                run="intermediate axis",
            ),
            TryThis("About the long axis it only wobbles.", run="long axis"),
            TryThis("About the short axis, too.", run="short axis"),
        ),
        references=("Tops report, section 5", "Landau and Lifshitz, section 37"),
    ),
)
