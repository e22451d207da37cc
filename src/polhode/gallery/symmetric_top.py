"""The free symmetric top: ω precesses in the body, the axis precesses about L, both at constant rates."""

from __future__ import annotations

import numpy as np

from polhode.gallery.closed_forms.printed_programs import matlab_top
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.measurements import angle_between_vectors, azimuth_rate, turning_rate
from polhode.gallery.pictures import Closed, Curves, DrawPanel, Line, drawn, panels
from polhode.massprops.body import Body
from polhode.reference.free_rotation import SymmetricTop
from polhode.reference.poinsot import cones
from polhode.results.motion import Motion
from polhode.rotations import angle_between
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.validation import Array
from polhode.web.props import RollingCones
from polhode.web.stage import Grab, Stage, StageCamera

ACROSS = 2.0
STEPS = 300
COARSE, FINE, FINER, FINEST = "full step", "step / 2", "step / 4", "step / 8"


def _make_top(wobble: float, spin: float, axial: float) -> SymmetricTop:
    return SymmetricTop((ACROSS, ACROSS, axial), (wobble, 0.0, spin))


def scenario(wobble: float, spin: float, axial: float, step: float) -> dict[str, Scenario]:
    """300 RK4 steps in body rates, and the same duration in 600, 1200 and 2400."""
    body = Body(1.0, (ACROSS, ACROSS, axial), allow_unphysical=True)
    return {
        name: Scenario(
            body,
            State(angular_velocity_body=(wobble, 0.0, spin)),
            duration=STEPS * step,
            step=size,
            output_step=step,
            method="rk4",
            formulation="body_rates",
            name="symmetric-top",
        )
        for name, size in ((COARSE, step), (FINE, step / 2), (FINER, step / 4), (FINEST, step / 8))
    }


def _expected_spiral(top: SymmetricTop, step: float, steps: int) -> float:
    """Error of w after `steps` steps: each multiplies w1 + i w2 by 1 + z + z^2/2 + z^3/6 + z^4/24 instead of e^z."""
    z = 1j * top.body_precession * step
    return float(abs((1 + z + z**2 / 2 + z**3 / 6 + z**4 / 24) ** steps - np.exp(steps * z)) * top.rates[0])


def _attitude_errors(motion: Motion, top: SymmetricTop) -> Array:
    return np.asarray(angle_between(motion.quaternion_wxyz, top.quaternions_at(motion.times)))


def _measured_order(errors: list[float]) -> float:
    """Observed order of the error, extrapolated to zero step.

    From the three finest runs, or from the three coarsest if the finest is close to rounding.
    """
    used = np.array(errors[1:] if errors[2] > 1e-10 else errors[:3])
    first, second = np.log2(used[:-1] / used[1:])
    return float(2 * second - first)


def numbers(motions: dict[str, Motion], wobble: float, spin: float, axial: float, step: float) -> list[ReferenceCheck]:
    """Rates and angles in the finest run, the errors of the coarsest, and their order."""
    top, fine, coarse = _make_top(wobble, spin, axial), motions[FINEST], motions[COARSE]
    angles = cones(top.moments, top.rates, 2)
    axis, along_l = fine.rotation_matrix[:, :, 2], fine.angular_momentum[0]
    l_body = np.einsum("nji,j->ni", fine.rotation_matrix, along_l)
    errors = [float(_attitude_errors(motion, top)[-1]) for motion in motions.values()]
    printed = matlab_top(top.moments, top.rates, step, STEPS).quaternion
    slack = (top.space_precession * step) ** 4 / 500 + 1e-10

    def rate(label: str, found: float, expected: float, source: str) -> ReferenceCheck:
        return check(label, "rad/s", found, expected, slack * top.space_precession, source)

    def angle(label: str, one: Array, other: Array, expected: float, source: str) -> ReferenceCheck:
        found = float(np.degrees(angle_between_vectors(one, other).mean()))
        return check(label, "deg", found, np.degrees(expected), 60 * slack, source)

    return [
        rate(
            "precession of ω in the body",
            turning_rate(fine.times, fine.angular_velocity_body[:, :2]),
            top.body_precession,
            "(I3/I1 - 1) w3",
        ),
        rate("precession of the axis about L", azimuth_rate(fine.times, axis, along_l), top.space_precession, "L/I1"),
        rate(
            "spin relative to the precessing frame",
            -turning_rate(fine.times, l_body[:, :2]),
            axial * spin * (1 / axial - 1 / ACROSS),
            "L cos(theta) (1/I3 - 1/I1)",
        ),
        angle("tilt of the axis from L", axis, along_l, angles.tilt, "tan(theta) = I1 w1/(I3 w3)"),
        angle("half-angle of the body cone", fine.angular_velocity, axis, angles.body, "tan = w1/w3"),
        angle("half-angle of the space cone", fine.angular_velocity, along_l, angles.space, "body cone - tilt"),
        check(
            "radius of the error spiral",
            "rad/s",
            np.linalg.norm(coarse.angular_velocity_body[-1] - top.rates_at(coarse.times[-1])),
            expected := _expected_spiral(top, step, STEPS),
            1e-7 * expected + 1e-13 * float(np.linalg.norm(top.rates)),
            "|R(z)^N - e^(N z)|, z = i Omega h: N (Omega h)^5/120 in leading order",
        ),
        check(
            "final attitude error",
            "rad",
            errors[0],
            expected := float(angle_between(printed, top.quaternions_at(STEPS * step))),
            1e-6 * expected + 1e-12,
            "the same steps written out [Tops report, section 3.4]",
        ),
        check(
            "order of the attitude error",
            "1",
            _measured_order(errors),
            4.0,
            0.1,
            "order of RK4; from three step sizes, each half the last, extrapolated to h = 0",
        ),
    ]


@panels("ABC;DEF", size=(12.0, 7.8))
def picture(motions: dict[str, Motion], wobble: float, spin: float, axial: float, step: float) -> list[DrawPanel]:
    """The axis in space, the cones, w in the body, its error spiral, and the attitude error over time."""
    from polhode.plot.free_rotation_figures import draw_in_space, draw_rates
    from polhode.plot.rolling_cones import draw_cones

    top, coarse, fine = _make_top(wobble, spin, axial), motions[COARSE], motions[FINEST]
    moment, errors = 0.7 / top.space_precession, {name: _attitude_errors(m, top) for name, m in motions.items()}
    last = [float(values[-1]) for values in errors.values()]
    return [
        drawn(draw_in_space, fine, moment, title="in space: the axis precesses about L"),
        drawn(draw_cones, fine, moment),
        _circle(coarse, top),
        drawn(draw_rates, coarse),
        _spiral(coarse, top, step),
        Curves(
            f"attitude error, final value (rad): order {_measured_order(last):.2f}",
            "rad",
            [
                Line(values[1:], f"{name}: {values[-1]:.3g}", x=motions[name].times[1:])
                for name, values in errors.items()
            ],
            over=coarse,
            log="y",
            y=(last[-1] / 1000, last[0] * 3),
            legend=(2, 2),
        ),
    ]


def _circle(motion: Motion, top: SymmetricTop) -> Curves:
    """Path of w in the body, over the closed form.  [Tops report, figure 1]"""
    closed = top.rates_at(np.linspace(0, 2 * np.pi / abs(top.body_precession), 361))
    w, reach = motion.angular_velocity_body, 1.1 * float(top.rates[0])
    return Curves(
        "ω in the body, viewed along axis 3",
        "ω₂ (rad/s)",
        [Line(w[:, 1], "simulated", "omega", x=w[:, 0]), Line(w[:1, 1], "", "omega", "o", w[:1, 0])],
        Closed(closed[:, 1], x=closed[:, 0]),
        across="ω₁ (rad/s)",
        x=(-reach, reach),
        y=(-reach, 1.45 * reach),
        equal="box",
        legend="upper left",
    )


def _spiral(motion: Motion, top: SymmetricTop, step: float) -> Curves:
    """Error of w, step by step.  [Tops report, figure 2]"""
    leading = STEPS * abs(top.body_precession * step) ** 5 / 120 * float(top.rates[0])
    power, turn = int(np.floor(np.log10(leading))), np.linspace(0, 2 * np.pi, 361)
    x, y = (motion.angular_velocity_body - top.rates_at(motion.times))[:, :2].T / 10.0**power
    ring = leading / 10.0**power
    reach = 1.12 * max(ring, float(np.abs((x, y)).max()))
    unit = f"1e{power} rad/s"
    return Curves(
        f"error of ω at h = {step:g} s",
        f"ω₂ ({unit})",
        [
            Line(ring * np.sin(turn), "N (Ωh)⁵/120 · ω₁(0)", "muted", "--", ring * np.cos(turn), 1.0),
            Line(y, "300 steps", "omega", "-.", x, 0.8, 2.5),
        ],
        across=f"ω₁ ({unit})",
        x=(-reach, reach),
        y=(-reach, 1.45 * reach),
        equal="box",
        legend="upper left",
    )


MODEL = Model(
    name="symmetric-top",
    title="A free symmetric top: the body cone rolls on the space cone",
    theme="free rotation",
    source="[Tops report, section 4, figures 1 to 3]",
    explanation="""\
A body with two equal moments rotates freely. In body axes the angular velocity precesses about the
symmetry axis at (I3/I1 - 1) w3; in space the axis precesses about the angular momentum at L/I1, and the
body cone rolls on the space cone. The RK4 error of the angular velocity is a spiral: each step lags by
(Omega h)^5/120. Moments such as (2, 2, 8) belong to no solid, since the largest exceeds the sum of the
others: the mathematics works, but only the inertia ellipsoid can be drawn.""",
    parameters=(
        Parameter("wobble", "rad/s", 1.0, 0.2, 1.5, "initial rate about the first axis"),
        Parameter("spin", "rad/s", 1.0, 0.5, 1.5, "rate about the symmetry axis"),
        Parameter("axial", "kg m2", 8.0, 4.0, 10.0, "moment about the symmetry axis; the others are 2"),
        Parameter("step", "s", 0.03, 0.02, 0.04, "integration step, of which there are 300"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=Stage(
        camera=StageCamera(elevation_deg=18.0, target=(0.0, 0.0, 0.5), radius=1.8),
        off=("bodyAxes", "trailOmega"),
        panels=("angular_velocity", "angular_velocity_world", "tilt_precession", "drift"),
        props=(RollingCones(),),
        grabs=(
            Grab("angular_velocity", knob="wobble", component=0),
            Grab("angular_velocity", knob="spin", component=2),
        ),
        shows="The cone of ω in the body rolls on the cone of ω in space, which stands about L.",
    ),
    lesson=Lesson(
        formulas=(
            Formula(
                r"\Omega = \left(\frac{I_3}{I_1} - 1\right)\omega_3",
                "how fast ω goes round the symmetry axis, in the body",
            ),
            Formula(r"\dot\varphi = \frac{L}{I_1}", "how fast the axis goes round L, in space"),
        ),
        steps=(
            TryThis(
                "The tip of ω draws a circle on the body and another in space.", switches=("trailOmega", "trailAxis3")
            ),
            TryThis("Moments 2, 2 and 4: a flat disk, the flattest real body.", values={"axial": 4.0}),
            TryThis("Little wobble: narrow cones.", values={"wobble": 0.2}),
            TryThis("Much wobble: wide cones.", values={"wobble": 1.5}),
        ),
        references=("Tops report, section 4", "Landau and Lifshitz, section 33"),
    ),
)
