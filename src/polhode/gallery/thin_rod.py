"""A thin rod rotates freely: the angular velocity precesses about the rod, the angular momentum is constant."""

from __future__ import annotations

import numpy as np

from polhode.equations.scalar_ops import larger, sqrt
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.measurements import angle_between_vectors, azimuth_rate, turning_rate
from polhode.gallery.pictures import Curves, DrawPanel, Line, drawn, panels
from polhode.gallery.shared import rk4_settings
from polhode.massprops.body import Body
from polhode.massprops.shapes import cylinder
from polhode.reference.free_rotation import SymmetricTop
from polhode.reference.poinsot import cones
from polhode.results.motion import Motion
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.web.props import RollingCones
from polhode.web.stage import Grab, Stage

MASS = 1.0
FRAMES = 600
STEPS_PER_FRAME = 40


def _make_rod(length: float, radius: float) -> Body:
    return cylinder(radius, length, MASS)


def _make_top(length: float, radius: float, tumble: float, spin: float) -> SymmetricTop:
    """A cylinder has I1 = m (3 r^2 + l^2)/12, I3 = m r^2/2."""
    across, axial = MASS * (3 * radius**2 + length**2) / 12, MASS * radius**2 / 2
    return SymmetricTop((across, across, axial), (tumble, 0.0, spin))


def scenario(length: float, radius: float, tumble: float, spin: float) -> Scenario:
    """Two revolutions of the rod about its angular momentum."""
    across = 3 * (radius * radius) + length * length  # the moments, in units of m/12
    axial = 6 * (radius * radius)
    along, turning = axial * spin, across * tumble
    duration = 4 * np.pi * across / sqrt(along * along + turning * turning)  # two turns at the rate L/I1
    fast = -(-larger(1.0, spin / tumble) // 1)
    return Scenario(
        _make_rod(length, radius),
        State(angular_velocity_body=(tumble, 0.0, spin)),
        **rk4_settings(duration, FRAMES, STEPS_PER_FRAME * fast),
        name="thin-rod",
    )


def numbers(motion: Motion, length: float, radius: float, tumble: float, spin: float) -> list[ReferenceCheck]:
    """Both precession rates, the tilt, and the constancy of L."""
    top = _make_top(length, radius, tumble, spin)
    angles = cones(top.moments, top.rates, 2)
    axis, momenta = motion.rotation_matrix[:, :, 2], motion.angular_momentum
    moved = float(np.linalg.norm(momenta - momenta[0], axis=1).max())
    size = float(np.linalg.norm(momenta[0]))
    tilt = float(np.degrees(angle_between_vectors(axis, momenta).mean()))
    space = float(np.degrees(angle_between_vectors(motion.angular_velocity, momenta).mean()))
    return [
        check(
            "precession of ω about the rod",
            "rad/s",
            turning_rate(motion.times, motion.angular_velocity_body[:, :2]),
            top.body_precession,
            1e-7 * abs(top.body_precession),
            "(I3/I1 - 1) w3 [Christian 2011, eq. 17.47]",
        ),
        check(
            "precession of the rod about L",
            "rad/s",
            azimuth_rate(motion.times, axis, momenta[0]),
            top.space_precession,
            1e-8 * top.space_precession,
            "L/I1",
        ),
        check("tilt of the rod from L", "deg", tilt, np.degrees(angles.tilt), 1e-6, "tan = I1 w1/(I3 w3)"),
        check("half-angle of the space cone", "deg", space, np.degrees(angles.space), 1e-6, "tilt - body cone"),
        check("largest change of L", "kg m2/s", moved, 0.0, 1e-12 * size, "no torque acts", size),
    ]


@panels("ABC;DEF", size=(12.0, 7.8))
def picture(motion: Motion, length: float, radius: float, tumble: float, spin: float) -> list[DrawPanel]:
    """The rod in space, the cones, w in body and world axes, and the motion in body axes."""
    from polhode.plot.free_rotation_figures import draw_in_body, draw_in_space, draw_rates
    from polhode.plot.poinsot_construction import draw_herpolhode
    from polhode.plot.rolling_cones import draw_cones

    moment = 0.08 * float(motion.times[-1])
    return [
        drawn(draw_in_space, motion, moment, title="in space: the rod precesses about L"),
        drawn(draw_cones, motion, moment),
        drawn(draw_in_body, motion, title="in body axes: ω and L precess"),
        drawn(draw_rates, motion),
        drawn(draw_herpolhode, motion),
        _along_and_across(motion),
    ]


def _along_and_across(motion: Motion) -> Curves:
    """Components of L and w along and normal to L, in world axes."""
    momenta, w = motion.angular_momentum, motion.angular_velocity
    size = float(np.linalg.norm(momenta[0]))
    along_l = momenta[0] / size
    first = np.cross(along_l, motion.rotation_matrix[0, :, 2])
    first /= np.linalg.norm(first)
    across = w / np.linalg.norm(w, axis=1)[:, None]
    return Curves(
        "world axes: parallel and normal to L",
        "relative",
        [
            Line(momenta @ along_l / size, "L, parallel", "L", width=2.4),
            Line(momenta @ first / size, "L, normal", "L", "--", width=2.4),
            Line(across @ first, "ω, normal", "omega"),
            Line(across @ np.cross(along_l, first), "ω, normal, at 90°", "omega", "--"),
        ],
        over=motion,
        y=(-1.15, 1.15),
        legend=(2, 2),
    )


MODEL = Model(
    name="thin-rod",
    title="A thin rod: the angular velocity precesses, the angular momentum is constant",
    theme="free rotation",
    source="[Christian 2011, problem 17.7]",
    explanation="""\
A rod of 1 kg, 1 m long and 5 cm in radius, tumbles and spins about its own axis. Its axial moment is so
small that the angular momentum is almost perpendicular to the rod, although most of the spin is along it.
In body axes the angular velocity precesses at (I3/I1 - 1) w3, nearly -w3; in space the rod precesses about
L at L/I1. L itself cannot precess: no torque acts. A rod without thickness would have I3 = 0 and no axial
spin; the body cone of a prolate body rolls outside the space cone.""",
    parameters=(
        Parameter("length", "m", 1.0, 0.5, 2.0, "length of the rod"),
        Parameter("radius", "m", 0.05, 0.01, 0.1, "radius of the rod"),
        Parameter("tumble", "rad/s", 3.0, 1.0, 10.0, "initial rate normal to the rod"),
        Parameter("spin", "rad/s", 5.0, 1.0, 20.0, "rate about the rod's own axis"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=Stage(
        off=("bodyAxes", "trailOmega"),
        panels=("angular_velocity", "angular_velocity_world", "angular_momentum"),
        props=(RollingCones(),),
        grabs=(
            Grab("angular_velocity", knob="tumble", component=0),
            Grab("angular_velocity", knob="spin", component=2),
        ),
        shows="A rod tumbles; the narrow cone of ω in it rolls around the cone of ω in space, about L.",
    ),
    lesson=Lesson(
        formulas=(
            Formula(
                r"\Omega = \left(\frac{I_3}{I_1} - 1\right)\omega_3", "nearly -ω₃, since the axial moment is small"
            ),
            Formula(r"I_3 = \frac{1}{2}M r^2, \quad I_1 = \frac{M}{12}(3 r^2 + l^2)", "moments of the rod"),
        ),
        steps=(
            TryThis("Most of the spin is along the rod, but L is almost perpendicular to it."),
            TryThis("A needle: L is perpendicular to the rod.", values={"radius": 0.01}),
            TryThis("Short and thick: L leans toward the rod's axis.", values={"length": 0.5, "radius": 0.1}),
        ),
        references=("Christian 2011, problem 17.7",),
    ),
)
