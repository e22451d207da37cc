"""The gyroscope in closed form: loops, cusps or waves, depending on the initial precession."""

from __future__ import annotations

from collections.abc import Mapping
from math import degrees, pi

import numpy as np

from polhode.equations.scalar_ops import cos
from polhode.gallery import gyroscope_disk
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.measurements import first_interval
from polhode.gallery.pictures import ANGLE_COLORS, Closed, Curves, DrawPanel, Line, panels, space
from polhode.gallery.plain_formulas import nutation_period
from polhode.reference.heavy_top import HeavyTop
from polhode.results.motion import Motion
from polhode.rotations import angle_between
from polhode.scenario.scenario import Scenario
from polhode.validation import Array

THETA = 60.0
NUTATIONS = 6
FRAMES = 900
SMALLEST_NUTATION = 1e-5
"""Nutation amplitude, in rad, that is too small to be visible."""
LARGEST_AZIMUTH_STEP = 0.8
"""Change of azimuth between two frames, in rad, above which the interval is bisected."""
TIP = 1.75


def _tops(spin: float, precession: float) -> dict[str, HeavyTop]:
    return {
        "chosen": gyroscope_disk.make_heavy_top(THETA, spin, precession),
        "released": gyroscope_disk.make_heavy_top(THETA, spin),
    }


def scenario(spin: float, precession: float) -> dict[str, Scenario]:
    """The gyroscope with the given precession, and with none, for six nutations each."""
    runs = {}
    for name, top in _tops(spin, precession).items():
        numbers = top.moment, top.axial_moment, top.weight_times_height, cos(top.theta), top.spin, top.precession
        period = nutation_period(*numbers)
        step = gyroscope_disk.accurate_step(top, period)
        runs[name] = gyroscope_disk.pivot_scenario(top, NUTATIONS * period, step, f"gyroscope-analytic-{name}", FRAMES)
    return runs


def numbers(motions: Mapping[str, Motion], spin: float, precession: float) -> list[ReferenceCheck]:
    """Period, turning angles, mean precession and final attitude against the closed form."""
    tops = _tops(spin, precession)
    top, motion = tops["chosen"], motions["chosen"]
    fall = gyroscope_disk.turning_times(motions["released"])[0]
    lowest = degrees(gyroscope_disk.inclination(motions["released"].at(fall)))
    return [
        *_check_nutation(motion, top),
        _check_mean_precession(motion, top),
        check(
            "final attitude error",
            "rad",
            angle_between(motion.quaternion_wxyz, top.quaternion_at(motion.times))[-1],
            0.0,
            1e-10,
            "Jacobi's sn and elliptic integrals of the third kind",
            size=1.0,
        ),
        check(
            "largest theta after release",
            "deg",
            lowest,
            degrees(tops["released"].released_theta),
            1e-10,
            "cos = b - sqrt(b^2 - 2 b cos(theta0) + 1), b = (I3 w3)^2/(4 Is M g l)",
        ),
    ]


def _check_nutation(motion: Motion, top: HeavyTop) -> list[ReferenceCheck]:
    """Period and turning angles; for a nutation too small to time, the change of theta.

    The rate of cos(theta) has an error of up to 1e-12, which shifts its zeros by that over the range of cos(theta).
    If this exceeds a thousandth of the period, the precession counts as steady.
    """
    swing = top.roots.x2 - top.roots.x1
    if 1e-3 * top.period * swing < 1e-12:
        change, tolerance = float(np.ptp(motion.euler_angles[:, 1])), 1e-11 + 2 * swing / np.sin(top.theta)
        source = "steady precession: Is cos(theta) p^2 - I3 w3 p + M g l = 0"
        return [check("change of theta", "rad", change, 0.0, tolerance, source, size=top.theta)]
    turns = gyroscope_disk.turning_times(motion)
    period = 2 * first_interval(turns, "a turning point")
    angles = sorted(degrees(gyroscope_disk.inclination(motion.at(t))) for t in turns[:2])
    smallest, largest = (degrees(angle) for angle in top.turning_angles)
    off = 1e-10 + 1e-12 / swing
    return [
        check("nutation period", "s", period, top.period, off, "4 K(m)/sqrt((2 M g l/Is)(u3 - u1))"),
        check("smallest angle", "deg", angles[0], smallest, 1e-8, "u2, a root of the cubic in u = cos(theta)"),
        check("largest angle", "deg", angles[1], largest, 1e-10, "u1, a root of the cubic in u = cos(theta)"),
    ]


def _check_mean_precession(motion: Motion, top: HeavyTop) -> ReferenceCheck:
    """From the total azimuth of the axis over all nutations, tracked from frame to frame."""
    found = _final_azimuth(motion) / (NUTATIONS * top.period)
    source = "elliptic integrals of the third kind"
    return check("mean precession", "rad/s", found, top.mean_precession, 1e-10, source, size=1.0)


def _final_azimuth(motion: Motion) -> float:
    """Final phi in rad, including whole revolutions; intervals with a large change are bisected."""
    x, y, _ = motion.rotation_matrix[:, :, 2].T
    phi = np.arctan2(x, -y)
    total = 0.0
    stretches = list(zip(motion.times, motion.times[1:], phi, phi[1:], strict=False))
    while stretches:
        start, end, before, after = stretches.pop()
        turned = float((after - before + pi) % (2 * pi) - pi)
        middle = (start + end) / 2
        if abs(turned) < LARGEST_AZIMUTH_STEP or end - start < 1e-9 * motion.times[-1]:
            total += turned
            continue
        x, y, _ = motion.at(middle).orientation.as_matrix()[:, 2]
        between = np.arctan2(x, -y)
        stretches += [(start, middle, before, between), (middle, end, between, after)]
    return total


@panels("AB;AC;AD", size=(12.0, 7.6), widths=(1.0, 1.05))
def picture(motions: Mapping[str, Motion], spin: float, precession: float) -> list[DrawPanel]:
    """The path of the axle's tip, theta, phi, and the error, with the closed form behind the simulation."""
    top, motion = _tops(spin, precession)["chosen"], motions["chosen"]
    t, closed = motion.times, np.degrees(top.angles_at(motion.times))
    phi = np.degrees(np.unwrap(np.arctan2(*(motion.rotation_matrix[:, :, 2] * (1, -1, 1))[:, :2].T)))
    phi += 360 * round(float(closed[-1, 0] - phi[-1]) / 360)
    theta, middle = np.degrees(motion.euler_angles[:, 1]), float(closed[0, 1])
    off = angle_between(motion.quaternion_wxyz, top.quaternion_at(t))
    steady = np.ptp(closed[:, 1]) < degrees(SMALLEST_NUTATION)  # only rounding
    return [
        _tip_path(motion, top, precession),
        Curves(
            "angle θ from the vertical",
            "deg",
            Line(theta, "simulated", ANGLE_COLORS["θ"]),
            Closed(closed[:, 1]),
            motion,
            y=(middle - 1, middle + 1) if steady else None,
            downward=True,
        ),
        Curves(
            "azimuth φ",
            "deg",
            [
                Line(phi, "simulated", ANGLE_COLORS["φ"]),
                Line(np.degrees(top.mean_precession * t), "mean", "muted", "--", width=1.0),
            ],
            Closed(closed[:, 0]),
            motion,
        ),
        Curves(
            "attitude error against the closed form",
            "rad",
            Line(off, color="ink", width=1.1),
            over=motion,
            log="y",
            y=(1e-17, 10.0 ** max(-9, np.ceil(np.log10(off.max() + 1e-17)) + 1)),
        ),
    ]


def _tip_path(motion: Motion, top: HeavyTop, precession: float) -> DrawPanel:
    scene, disk = space(1.25, 0.6), gyroscope_disk.make_disk()
    scene.globe(TIP, top.turning_angles)
    scene.line(TIP * top.axis_at(motion.times), "closed_form", "closed form", width=4.5)
    path = scene.toward(TIP * motion.rotation_matrix[:, :, 2], 1 / 8)  # drawn in front of the closed form
    scene.line(path, "axis_3", "tip of the axle, simulated", width=1.7)
    scene.top(disk, motion.position[0], motion.rotation_matrix[0], TIP - 1, -1.0)
    scene.dot((0, 0, 0), "ink", 6.0)
    title = f"{_path_kind(top, motion.times)}: dφ/dt = {precession:g} rad/s at the start"
    return scene.panel(title, legend="lower left")


def _path_kind(top: HeavyTop, times: Array) -> str:
    """Kind of path that the tip traces."""
    smallest, largest = top.turning_angles
    if largest - smallest < SMALLEST_NUTATION:
        return "a steady circle"
    steps = np.diff(top.angles_at(times)[:, 0])
    if top.precession == 0:
        return "cusps"
    return "loops" if steps.min() * steps.max() < 0 else "waves"


MODEL = Model(
    name="gyroscope-analytic",
    title="The heavy top in closed form traces loops, cusps or waves",
    theme="tops and gyroscopes",
    source="[Christian 2011, problem 17.2]; [Goldstein 1980, section 5.7]",
    explanation="""\
The cosine of the axle's angle moves like a particle in a cubic potential: between two roots of the cubic,
as the square of Jacobi's sn. The precession follows as an elliptic integral of the third kind. The
simulation, which uses none of this, follows the gray line. Given a backward push, the tip of the axle
traces loops; released from rest, cusps; with a forward push, waves. At one particular push it does not
nutate at all, and with a larger one the start is the lowest point.""",
    parameters=(
        Parameter("spin", "rad/s", 10.0, 4.0, 20.0, "angular velocity along the axle, w3"),
        Parameter("precession", "rad/s", -0.3, -1.0, 5.0, "initial phi', at theta = 60 degrees"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=gyroscope_disk.make_stage(
        ("tilt_precession", "phase:phi:theta", "energy", "drift"),
        switches=("trailAxis3", "closedForm"),
        off=("omega", "trailOmega", "bodyAxes", "L", "forces", "torque"),
        shows="The tip of the axle of a gyroscope traces loops, cusps or waves about the vertical.",
    ),
    lesson=Lesson(
        formulas=(
            Formula(
                r"\dot u^2 = (1 - u^2)(\alpha - \beta u) - (b - a u)^2", "u = cos θ moves between two roots of a cubic"
            ),
            Formula(r"\dot\varphi = \frac{b - a u}{1 - u^2}", "where this changes its sign, the path has loops"),
        ),
        steps=(
            TryThis("Pushed backward: loops.", run="chosen", switches=("trailAxis3",)),
            TryThis("Released: cusps.", run="released", switches=("trailAxis3",)),
            TryThis(
                "Pushed forward a little: waves.", values={"precession": 0.15}, run="chosen", switches=("trailAxis3",)
            ),
            TryThis(
                "At 0.26 rad/s, the steady rate, it hardly nutates.",
                values={"precession": 0.26},
                run="chosen",
                switches=("trailAxis3",),
            ),
        ),
        references=("Goldstein 1980, section 5.7", "Christian 2011, problem 17.2"),
    ),
)
