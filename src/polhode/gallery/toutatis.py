"""The asteroid Toutatis tumbles: free rotation compared with radar observations."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from polhode.equations.quaternions import from_angles, to_world
from polhode.equations.scalar_ops import sqrt
from polhode.gallery.closed_forms.precession_and_wobble import axis_precession
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.independent_rk4 import euler_equations, quaternion_rate
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.measurements import azimuths, zero_crossings
from polhode.gallery.pictures import Curves, DrawPanel, Line, components, panels, space
from polhode.massprops.body import Body
from polhode.massprops.shapes import ellipsoid
from polhode.reference.free_rotation import AsymmetricTop
from polhode.results.motion import Motion
from polhode.rotations import angle_between
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.validation import Array
from polhode.web.props import PointsCloud
from polhode.web.stage import Stage

DAY = 86400.0
MOMENTS = (3.0836, 3.235, 1.0)
EPOCH, ANGLES, RATES = "1992-11-09T17:49:47", (145.498, 65.865, 241.524), (14.51, 33.529, -98.709)
"""State of [Takahashi et al. 2013]: Z-X-Z angles in degrees, rates in degrees per day, as printed."""
HALF_LAST_DIGIT = ((5e-5, 5e-4, 0.0), (5e-4, 5e-4, 5e-4), (5e-3, 5e-4, 5e-4))
"""Half a unit in the last printed digit of moments, angles and rates."""
LENGTH, DENSITY = 4260.0, 2000.0
"""Uniform ellipsoid with these moments, in m and kg/m3: as long as the asteroid; the density has no effect."""
OBSERVED_AT = 1.3
"""Where the page draws the tips of the body axes, relative to the size of the body."""
ANIMATED_DAYS, FRAMES, STEPS, MEMBERS = 40.0, 800, 1_000_000, 64


class RadarObservations(NamedTuple):
    """Radar observations: seconds after the epoch, orientations (body to ICRF), rates in degrees per day."""

    times: Array
    quaternions: Array
    rates: Array


@cache
def radar_observations() -> RadarObservations:
    """The rows of the table: seventeen from 1992, one from 2008."""
    text = files("polhode.gallery").joinpath("data/toutatis.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
    start = datetime.fromisoformat(EPOCH)
    angles = np.radians([[float(row[f"{name}_deg"]) for name in ("alpha", "beta", "gamma")] for row in rows])
    return RadarObservations(
        np.array([(datetime.fromisoformat(row["utc"]) - start).total_seconds() for row in rows]),
        np.stack(from_angles(tuple(angles.T)), axis=-1),
        np.array([[float(row[f"rate{i}_deg_per_day"]) for i in (1, 2, 3)] for row in rows]),
    )


def _make_ellipsoid(moments: Any) -> Body:
    """Uniform ellipsoid with moments in these ratios."""
    a, b, c = moments if isinstance(moments, tuple) else np.moveaxis(moments, -1, 0)
    longest = a + b - c
    shares = ((b + c - a) / longest, (a + c - b) / longest, longest / longest)
    semi_axes = [LENGTH / 2 * sqrt(share) for share in shares]
    return ellipsoid(tuple(semi_axes) if isinstance(moments, tuple) else np.stack(semi_axes, axis=-1), density=DENSITY)


def _changed_inputs(spin_change: float, moment_change: float) -> tuple[Array, Array, Array]:
    """Moments, angles (degrees) and rates (degrees per day)."""
    changed = np.array((1.0, 1 + moment_change, 1.0))
    return np.array(MOMENTS) * changed, np.array(ANGLES), np.array(RATES) * (1 + spin_change)


def _initial_state(angles: Array, rates: Array) -> State:
    q = np.stack(from_angles(tuple(np.radians(np.moveaxis(angles, -1, 0)))), axis=-1)
    return State(quaternion_wxyz=q, angular_velocity_body=np.radians(rates) / DAY)


def scenario(spin_change: float, moment_change: float) -> dict[str, Scenario]:
    """Forty days to watch, and the times of the table in closed form and by a million steps."""
    _, angles, rates = _changed_inputs(spin_change, moment_change)
    moments = (MOMENTS[0], MOMENTS[1] * (1 + moment_change), MOMENTS[2])
    body, start, times = _make_ellipsoid(moments), _initial_state(angles, rates), radar_observations().times
    animated: dict[str, Any] = {"duration": ANIMATED_DAYS * DAY, "output_step": ANIMATED_DAYS * DAY / FRAMES}
    table: dict[str, Any] = {"duration": float(times[-1]), "output_times": times}
    return {
        "forty days": Scenario(body, start, method="exact", name="toutatis", **animated),
        "closed form": Scenario(body, start, method="exact", name="toutatis", **table),
        "steps": Scenario(body, start, method="rk4", step=float(times[-1]) / STEPS, name="toutatis", **table),
    }


def perturb_last_digits(spin_change: float, moment_change: float) -> Array:
    """Angles from the 2008 attitude (degrees) of 64 members whose inputs differ within the printed precision."""
    from polhode.ensembles.ensemble import ensemble

    moments, angles, rates = (
        value + np.random.default_rng(seed).uniform(-1, 1, (MEMBERS, 3)) * half
        for seed, (value, half) in enumerate(
            zip(_changed_inputs(spin_change, moment_change), HALF_LAST_DIGIT, strict=True)
        )
    )
    end = float(radar_observations().times[-1])
    motion = ensemble(
        _make_ellipsoid(moments), _initial_state(angles, rates), duration=end, output_times=[end], method="exact"
    )
    return np.asarray(np.degrees(angle_between(motion.quaternion_wxyz[-1], radar_observations().quaternions[-1])))


def _attitude_errors_deg(quaternions: Array) -> Array:
    """Angle between computed and observed attitude for each row, in degrees."""
    return np.asarray(np.degrees(angle_between(quaternions, radar_observations().quaternions[: len(quaternions)])))


def numbers(motions: Mapping[str, Motion], spin_change: float, moment_change: float) -> list[ReferenceCheck]:
    """Angles between computed and observed attitudes, and the two periods of the tumbling."""
    errors = _attitude_errors_deg(motions["closed form"].quaternion_wxyz)
    early, again = errors[:-1], _attitude_errors_deg(_attitudes_by_scipy(*_changed_inputs(spin_change, moment_change)))
    checks = [
        check(f"{name} angle from the 1992 attitudes", "deg", f(early), f(again), 1e-7, "SciPy's DOP853")
        for name, f in (("median", np.median), ("smallest", np.min), ("largest", np.max))
    ]
    stepped = float(_attitude_errors_deg(motions["steps"].quaternion_wxyz)[-1])
    late = float(
        np.degrees(
            angle_between(
                _attitude_by_angles(*_changed_inputs(spin_change, moment_change)), radar_observations().quaternions[-1]
            )
        )
    )
    source = "theta, psi about L from Jacobi's functions, phi by quadrature"
    checks += [
        check("angle from the 2008 attitude", "deg", errors[-1], late, 1e-7, source),
        check("angle from the 2008 attitude, a million RK4 steps", "deg", stepped, late, 5e-4, source),
    ]
    return [*checks, *_check_periods(motions["forty days"], spin_change, moment_change)]


def _attitudes_by_scipy(moments: Array, angles: Array, rates: Array) -> Array:
    """Attitudes of the 1992 rows from Euler's equations in days, by SciPy's integrator and rotations."""
    from scipy.integrate import solve_ivp
    from scipy.spatial.transform import Rotation

    def rate(_: float, y: Array) -> tuple[float, ...]:
        numbers = y.tolist()
        return (*quaternion_rate(numbers[:4], numbers[4:]), *euler_equations(moments.tolist(), numbers[4:]))

    start = (*Rotation.from_euler("ZXZ", angles, degrees=True).as_quat(scalar_first=True), *np.radians(rates))
    times = radar_observations().times[:-1] / DAY
    found = solve_ivp(rate, (0.0, times[-1]), start, "DOP853", times, rtol=1e-11, atol=1e-12).y[:4]
    return np.asarray(Rotation.from_quat(found.T, scalar_first=True).as_quat(scalar_first=True))


def _attitude_by_angles(moments: Array, angles: Array, rates: Array) -> Array:
    """Attitude of the last row by Euler angles about L: w by Jacobi's functions, phi' integrated over all periods."""
    from scipy.spatial.transform import Rotation

    top, end = AsymmetricTop(moments, np.radians(rates)), float(radar_observations().times[-1]) / DAY
    whole, rest = divmod(end, top.period)
    nodes, weights = np.polynomial.legendre.leggauss(160)

    def gone_round(duration: float) -> float:
        times = duration * (1 + nodes) / 2
        return float(duration / 2 * weights @ axis_precession(moments, top.rates_at(times)))

    def about_l(phi: float, w: Array) -> Rotation:
        l1, l2, l3 = moments * w
        return Rotation.from_euler("ZXZ", (phi, np.arctan2(np.hypot(l1, l2), l3), np.arctan2(l1, l2)))

    start = Rotation.from_euler("ZXZ", angles, degrees=True)
    turned = about_l(whole * gone_round(top.period) + gone_round(rest), top.rates_at(rest))
    return np.asarray((start * about_l(0.0, top.rates).inv() * turned).as_quat(scalar_first=True))


def _make_top(spin_change: float, moment_change: float) -> AsymmetricTop:
    moments, _, rates = _changed_inputs(spin_change, moment_change)
    return AsymmetricTop(moments, np.radians(rates))


def _precession_days(top: AsymmetricTop) -> float:
    """Precession period of the long axis: phi' = L (I1 w1^2 + I2 w2^2)/(L1^2 + L2^2), averaged over a rate period."""
    mean = axis_precession(top.moments, top.rates_at(np.arange(64) * top.period / 64)).mean()
    return float(2 * np.pi / mean)


def _check_periods(motion: Motion, spin_change: float, moment_change: float) -> list[ReferenceCheck]:
    top, L = _make_top(spin_change, moment_change), motion.angular_momentum[0]
    turns = zero_crossings(motion, motion.angular_velocity_body[:, 0], lambda state: state.angular_velocity_body[0])[
        ::2
    ]
    spin = float(np.diff(turns).mean()) / DAY
    end = motion.at(float(turns[0]) + 6 * top.period * DAY)
    between = (motion.times > turns[0]) & (motion.times < end.time)
    ends = [state.orientation.as_matrix()[:, 2] for state in (motion.at(turns[0]), end)]
    gone = azimuths(np.stack((ends[0], *motion.rotation_matrix[between, :, 2], ends[1])), L)[-1]
    found = float(2 * np.pi * 6 * top.period / gone)
    formula = "2 pi over the mean of L (I1 w1^2 + I2 w2^2)/(L1^2 + L2^2)"
    return [
        check("precession period of the long axis about L", "d", found, _precession_days(top), 1e-9, formula),
        check("rotation period about the long axis", "d", spin, top.period, 1e-9, "4 K(m)/rate, Jacobi's closed form"),
    ]


@panels("AABBBB;CCCDDE", size=(12.4, 8.0))
def picture(motions: Mapping[str, Motion], spin_change: float, moment_change: float) -> list[DrawPanel]:
    """The asteroid, its long axis in the sky, its rates, and the angles between computed and observed attitudes."""
    digits, seen, animated = (
        perturb_last_digits(spin_change, moment_change),
        radar_observations(),
        motions["forty days"],
    )
    errors = _attitude_errors_deg(motions["closed form"].quaternion_wxyz)
    days, median = seen.times[:-1] / DAY, float(np.median(errors[:-1]))
    aside = np.random.default_rng(0).uniform(-0.2, 0.2, len(digits))
    most = np.abs(digits - errors[-1]).max()
    hollow = {"markerfacecolor": "none"}
    radar = components(seen.rates[:-1], ("", "", ""), style="o", x=days, size=4, look=hollow)
    return [
        _tumbling(animated),
        _sky(animated, motions["closed form"].quaternion_wxyz[:-1], seen),
        Curves(
            "rates, body axes",
            "deg/d",
            [
                *components(np.degrees(animated.angular_velocity_body) * DAY, x=animated.times / DAY),
                *radar,
                Line([], "radar", "muted", "o", [], size=4, look=hollow),
            ],
            across="days after 1992-11-09",
            x=(20, ANIMATED_DAYS),
        ),
        Curves(
            f"angle from observed, 1992: median {median:.2f}",
            "deg",
            Line(errors[:-1], "", "axis_3", "o", days),
            across="days after 1992-11-09",
            levels=(median,),
            y=(0, None),
            also=lambda axes: axes.vlines(days, 0, errors[:-1], color="#0072b2", linewidth=2.5),
        ),
        Curves(
            "2008",
            "deg",
            [Line(digits, "", "muted", ".", aside, size=4), Line(errors[-1:], "", "axis_3", "o", [0.0], size=7)],
            across=f"{errors[-1]:.2f}; the last\ndigits move it\nby up to {most:.1f}",
            x=(-0.5, 0.5),
            x_ticks=(),
            y=(0, 180),
            y_ticks=range(0, 181, 30),
        ),
    ]


def _tumbling(motion: Motion) -> DrawPanel:
    scene, reach, rotation = space(0.5, 0.35), 0.75 * LENGTH, motion.rotation_matrix
    frames = int((motion.times <= 8 * DAY).sum())
    L, w = motion.angular_momentum[0], motion.angular_velocity[frames - 1]
    scene.body(motion.scenario.bodies[0], (0, 0, 0), rotation[frames - 1], half=2)
    path = reach * rotation[:frames, :, 2]
    scene.line(path, "axis_3")
    scene.text(path[np.argmax(path @ scene.camera.up)], "long axis, 8 days", "axis_3", (0.0, 6.0))
    scene.arrow((0, 0, 0), reach * L / np.linalg.norm(L), "L", "L")
    scene.arrow((0, 0, 0), reach * w / np.linalg.norm(w), "omega", "ω")
    return scene.panel("uniform ellipsoid with its moments")


def _sky(motion: Motion, computed: Array, seen: RadarObservations) -> Curves:
    """The path of the long axis, and its computed and observed directions at 17 times, connected in pairs."""

    def equatorial(vectors: Array) -> tuple[Array, Array]:
        ascension = np.degrees(np.arctan2(vectors[..., 1], vectors[..., 0])) % 360
        return ascension, np.degrees(np.arcsin(np.clip(vectors[..., 2], -1, 1)))

    right, up = equatorial(motion.rotation_matrix[motion.times > seen.times[0] - DAY / 2, :, 2])
    right = np.where(np.abs(np.diff(right, prepend=right[0])) > 180, np.nan, right)
    (right_0, up_0), (right_1, up_1) = (equatorial(_long_axes(q)) for q in (computed, seen.quaternions[:-1]))
    pairs = np.flatnonzero(np.abs(right_0 - right_1) < 180)
    low, high = float(min(up.min(), up_1.min())), float(max(up.max(), up_1.max()))
    return Curves(
        "its long axis on the sky",
        "declination (deg)",
        [
            Line(up, "computed, December 1992", "axis_3", x=right, width=1.2),
            *(Line((up_0[k], up_1[k]), "", "muted", x=(right_0[k], right_1[k]), width=1.0) for k in pairs),
            Line(up_0, "at the 17 times", "axis_3", "o", right_0, size=4.5),
            Line(up_1, "observed by radar", "axis_1", "o", right_1, size=5.5, look={"markerfacecolor": "none"}),
        ],
        across="right ascension (deg)",
        x=(360, 0),
        y=(max(low - 10, -90), min(high + 15, 90)),
        x_ticks=range(0, 361, 60),
    )


def _long_axes(quaternions: Array) -> Array:
    """The direction of body axis 3 along world axes, (..., 3)."""
    w, x, y, z = np.moveaxis(quaternions, -1, 0)
    return np.stack(to_world((w, x, y, z), (0.0, 0.0, 1.0)), axis=-1)


def stage(spin_change: float, moment_change: float, run: str) -> Stage:
    """The directions of the long axis that radar has observed, at the tip of axis 3."""
    radar = radar_observations()
    w, x, y, z = radar.quaternions.T
    long_axes = np.stack(to_world((w, x, y, z), (0.0, 0.0, 1.0)), axis=-1)
    early = radar.times <= (ANIMATED_DAYS * DAY if run == "forty days" else np.inf)
    tips = OBSERVED_AT * LENGTH / 2 * long_axes[early]
    return Stage(
        switches=("trailAxis3",),
        off=("omega", "trailOmega"),
        panels=("euler_angles", "angular_velocity", "drift"),
        props=(
            PointsCloud(tips.tolist(), radar.times[early].tolist(), 9.0, label="long axis, by radar", color="impact"),
        ),
        shows="An elongated asteroid tumbles; dots are where radar has seen its long axis, and axis 3 passes by them.",
    )


MODEL = Model(
    name="toutatis",
    title="The asteroid Toutatis tumbles: free rotation compared with radar",
    theme="real bodies",
    source="[Hudson and Ostro 1995]; [Takahashi et al. 2013]",
    explanation="""\
Toutatis does not rotate about a fixed axis: its long axis precesses about the angular momentum in 7.4
days while the body rotates about it in 5.4. Started from one published state, free rotation matches the
attitudes observed by radar within 16 degrees for five weeks. Sixteen years later it is 131 degrees off.
The Earth and the Sun have exerted torques in between; but the digits that were not printed matter too:
half a unit in the last place of the inputs (gray dots) already changes that angle by several degrees.""",
    parameters=(
        Parameter("spin_change", "1", 0.0, -0.005, 0.005, "relative change of all three initial rates"),
        Parameter("moment_change", "1", 0.0, -0.02, 0.02, "relative change of the largest moment"),
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
            Formula(r"\mathbf{L} = R\,I\,R^T\boldsymbol{\omega}", "constant in space, where no torque acts"),
        ),
        steps=(
            TryThis("Forty days of tumbling.", run="forty days"),
            TryThis(
                "Half a percent more spin: the attitude after forty days is another.",
                values={"spin_change": 0.005},
                run="forty days",
            ),
            TryThis("A largest moment 2 percent larger.", values={"moment_change": 0.02}, run="forty days"),
        ),
        references=("Hudson and Ostro 1995", "Takahashi et al. 2013"),
    ),
)
