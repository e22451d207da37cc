"""A free top with two thrusters: the torque z x x3 acts on it as gravity acts on a top on a table."""

from __future__ import annotations

from math import acos, atan2, degrees, pi, radians, tan

import numpy as np

from polhode.equations.quaternions import from_angles
from polhode.equations.scalar_ops import cos as cosine
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.gyroscope_disk import inclination, turning_times
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.measurements import first_interval
from polhode.gallery.pictures import ANGLE_COLORS, Closed, Curves, DrawPanel, Line, panels, space
from polhode.gallery.plain_formulas import radians as plain_radians
from polhode.gallery.plain_formulas import released_period
from polhode.massprops.body import Body
from polhode.massprops.shapes import ellipsoid
from polhode.reference.heavy_top import HeavyTop
from polhode.results.motion import Motion
from polhode.scenario.forces import force_at
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.validation import Array
from polhode.web.props import AxisLine, Ball
from polhode.web.stage import Grab, Stage, StageCamera

MOMENTS = (2.0, 2.0, 3.0)
MASS, SEMI_AXES = 10.0, (0.75**0.5, 0.75**0.5, 0.5)
NUTATIONS = 20
FRAMES = 1600
STEPS_PER_TURN = 4000


def _make_top(spin: float, theta: float, torque: float) -> HeavyTop:
    return HeavyTop(MOMENTS[0], MOMENTS[2], torque, radians(theta), spin)


def _make_body() -> Body:
    """A solid ellipsoid of 10 kg with moments 2, 2, 3 kg m2: a^2 = 5 (I2 + I3 - I1)/(2 m) and so on."""
    return ellipsoid(SEMI_AXES, MASS)


def scenario(spin: float, theta: float, torque: float) -> Scenario:
    """Two equal and opposite forces along z, one at each end of the axle: a couple T sin(theta)."""
    angle = plain_radians(theta)
    period = released_period(MOMENTS[0], MOMENTS[2], torque, cosine(angle), spin)
    end = SEMI_AXES[2]
    thrust = torque / (2 * end)
    every = NUTATIONS * period / FRAMES
    step = 2 * pi / (STEPS_PER_TURN * (spin + 2 * pi / period))
    return Scenario(
        _make_body(),
        State(quaternion_wxyz=from_angles((0.0, angle, 0.0)), angular_velocity_body=(0.0, 0.0, spin)),
        [force_at((0.0, 0.0, -thrust), (0.0, 0.0, end)), force_at((0.0, 0.0, thrust), (0.0, 0.0, -end))],
        duration=FRAMES * every,
        step=every / -(-every // step),
        output_step=every,
        method="rk4",
        name="rocket-top",
    )


def _conserved_quantities(motion: Motion, torque: float) -> dict[str, Array]:
    """L_z, L_3 and E + T cos(theta)."""
    L, axle = motion.angular_momentum, motion.rotation_matrix[:, :, 2]
    energy = motion.kinetic_energy + torque * axle[:, 2]
    return {"L along z": L[:, 2], "L along the axle": np.einsum("ti,ti->t", L, axle), "E + T cos θ": energy}


def _largest_magnitude(values: Array) -> float:
    return float(np.abs(values).max())


def numbers(motion: Motion, spin: float, theta: float, torque: float) -> list[ReferenceCheck]:
    """Amplitude and period of the nutation, mean precession, and conserved quantities."""
    top = _make_top(spin, theta, torque)
    turns = turning_times(motion)
    lowest = degrees(inclination(motion.at(turns[0])))
    phi = np.unwrap(motion.euler_angles[:, 0])
    mean = float((phi[-1] - phi[0]) / motion.times[-1])
    period = 2 * first_interval(turns, "a turning point")
    formula = "cos = b - sqrt(b^2 - 2 b cos(theta0) + 1), b = (I3 w3)^2/(4 I1 T)"
    checks = [
        check("largest angle", "deg", lowest, degrees(top.released_theta), 1e-10, formula),
        check("nutation period", "s", period, top.period, 1e-10, "4 K(m)/sqrt((2 T/I1)(u3 - u1))"),
        check("mean precession", "rad/s", mean, top.mean_precession, 1e-11, "elliptic integrals of the third kind"),
    ]
    for name, values in _conserved_quantities(motion, torque).items():
        off = float(np.abs(values - values[0]).max() / _largest_magnitude(values))
        checks.append(check(f"relative drift of {name}", "1", off, 0.0, 1e-12, "conserved", size=1.0))
    return checks


@panels("AB;AC;DE", size=(12.0, 7.6), widths=(1.0, 1.05))
def picture(motion: Motion, spin: float, theta: float, torque: float) -> list[DrawPanel]:
    """The top and its thrusters, the paths of its axle and of L, theta over the closed form, and the drift."""
    top, early = _make_top(spin, theta, torque), motion.times <= 8 / NUTATIONS * motion.times[-1]
    t, closed = motion.times[early], np.degrees(top.angles_at(motion.times[early]))
    phi, nodding = np.degrees(np.unwrap(motion.euler_angles[:, 0])[early]), np.degrees(motion.euler_angles[early, 1])

    def angle(title: str, name: str, found: Array, gray: Array, downward: bool = False) -> Curves:
        line = Line(found, "simulated", ANGLE_COLORS[name], x=t)
        return Curves(title, "deg", line, Closed(gray, x=t), x=(0.0, t[-1]), downward=downward)

    drift = []
    for name, values in _conserved_quantities(motion, torque).items():
        off = np.abs(values - values[0])[early] / _largest_magnitude(values)
        drift.append(Line(off, name if off.any() else f"{name}: 0", x=t, width=1.0))
    return [
        _thrusters(motion, top),
        angle("angle θ from z", "θ", nodding, closed[:, 1], downward=True),
        angle("angle φ about z", "φ", phi, closed[:, 0]),
        _from_above(motion, early),
        Curves("drift", "relative", drift, x=(0.0, t[-1]), log="y", y=(1e-17, 1e-9), most_ticks=6),
    ]


def _thrusters(motion: Motion, top: HeavyTop) -> DrawPanel:
    """The final top, its thrusters, and the paths of its axle and of L."""
    tip, axle, L = 1.5, motion.rotation_matrix[-1, :, 2], motion.angular_momentum
    scene, direction = space(*_camera_angles(axle)), L / np.linalg.norm(L, axis=1)[:, None]
    scene.globe(tip, top.turning_angles)
    scene.top(_make_body(), (0, 0, 0), motion.rotation_matrix[-1], tip, -0.8)
    scene.line(tip * motion.rotation_matrix[:, :, 2], "axis_3", "path of the axle", width=1.6)
    scene.line(tip * direction, "L", "path of L", width=2.0)
    scene.arrow((0, 0, 0), 1.25 * tip * direction[-1], "L", "L")
    beside = -6.0 if axle[2] > 0.5 else 6.0
    far = 0.75 if axle[2] > -0.1 else 0.0  # above this the arrow ends at the thruster, below it starts there
    for sign in (1.0, -1.0):
        tail = sign * (SEMI_AXES[2] * axle + np.array((0.0, 0.0, far)))
        scene.arrow(tail, (0.0, 0.0, -0.7 * sign), "force", width=3.0)
        scene.text(tail if far else tail - (0.0, 0.0, 0.7 * sign), "thruster", "force", (beside * sign, 0.0))
    return scene.panel("the top, its two thrusters, and the paths of its axle and L", legend=(-0.3, 0.0))


def _camera_angles(axle: Array) -> tuple[float, float]:
    """Yaw and pitch of a camera normal to the axle, with its upper end to the right, so that both ends are visible."""
    theta = acos(float(axle[2]))
    pitch = min(0.35, 0.7 * theta)
    across = acos(max(-1.0, min(1.0, -tan(pitch) / tan(theta))))
    return atan2(float(axle[0]), -float(axle[1])) - across, pitch


def _from_above(motion: Motion, first: Array) -> Curves:
    """The axle circles around L, while L precesses about z."""
    L, axle = motion.angular_momentum[first], motion.rotation_matrix[first, :, 2]
    unit = L / np.linalg.norm(L, axis=1)[:, None]
    lines = [Line(axle[:, 1], "axle", "axis_3", x=axle[:, 0]), Line(unit[:, 1], "direction of L", "L", x=unit[:, 0])]
    return Curves("from above", "y", lines, across="x", equal="datalim")


def stage(spin: float, theta: float, torque: float) -> Stage:
    """An axle with a thruster at each end, in the air; z is the axis of the precession."""
    end = SEMI_AXES[2]
    thrusters = [Ball((0, 0, side * end), 0.08, attached="body") for side in (-1, 1)]
    return Stage(
        camera=StageCamera(elevation_deg=14.0, radius=1.65),
        switches=("trailL", "trailAxis3"),
        off=("trailOmega", "bodyAxes"),
        panels=("tilt_precession", "angular_momentum", "energy"),
        props=(*thrusters, AxisLine((0, 0, 1), label="z")),
        floor=False,
        grabs=(
            Grab("attitude", knob="theta", component="tilt", scale=180 / pi),
            Grab("angular_velocity", knob="spin", component=2),
            Grab("force", knob="torque", force="force at 1", scale=2 * end),
        ),
        shows="A spinning ellipsoid floats; two thrusters at the ends of its axle make it precess about the vertical.",
    )


MODEL = Model(
    name="rocket-top",
    title="Two thrusters drive a free top as gravity drives a top on a table",
    theme="tops and gyroscopes",
    source="[Tops report, section 7, figure 6]; errata: the torque is perpendicular to z",
    explanation="""\
A spinning ellipsoid floats freely. Two thrusters, one at each end of its axle, push with equal and
opposite forces: the center stays, and the torque is T sin(theta) along z x x3, as for a weight. This is
the Lagrange top without a table: the angular momentum precesses about z on a cone, and the axle circles
around it. The torque is normal to both z and the axle, so the components of L along both are conserved,
and so is the energy with the potential T cos(theta), although the thrusters fire.""",
    parameters=(
        Parameter("spin", "rad/s", 3.0, 2.0, 12.0, "angular velocity along the axle"),
        Parameter("theta", "deg", 30.0, 10.0, 120.0, "initial angle of the axle from z"),
        Parameter("torque", "N m", 1.0, 0.2, 3.0, "T: total torque of the thrusters with the axle normal to z"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=stage,
    lesson=Lesson(
        formulas=(
            Formula(
                r"\boldsymbol{\tau} = T\,\mathbf{z}\times\mathbf{x}_3",
                "the torque of the thrusters, normal to z and to the axle",
            ),
            Formula(r"E = E_{\mathrm{rot}} + T\cos\theta", "is conserved, as for a weight"),
        ),
        steps=(
            TryThis("L goes round z, and the axle round L.", switches=("trailL", "trailAxis3")),
            TryThis("A fast top precesses slowly and hardly nutates.", values={"spin": 12.0}, switches=("trailAxis3",)),
            TryThis("Three times the thrust.", values={"torque": 3.0}, switches=("trailAxis3",)),
            TryThis("Started below the horizontal.", values={"theta": 120.0}, switches=("trailAxis3",)),
        ),
        references=("Tops report, section 7", "Goldstein 1980, section 5.7"),
    ),
)
