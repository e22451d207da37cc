"""A satellite turned by a reaction wheel: a PD law, gains by LQR, and a motor that saturates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import degrees, radians, sqrt
from typing import Any

import numpy as np

from polhode.equations.elementary import atan2
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.pictures import Closed, Curves, Line, panels
from polhode.massprops.body import Body
from polhode.massprops.shapes import box
from polhode.results.motion import Motion
from polhode.rotations import quaternion
from polhode.scenario.rotor import rotor
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.web.props import Rod, TargetDirection
from polhode.web.stage import Grab, Stage, StageCamera

MOMENT, WHEEL = 12.0, 0.02
"""Of the satellite with its wheel, about z, and of the wheel, in kg m2."""
TURNED = MOMENT - WHEEL
"""What the motor turns, beside the wheel."""
BODY = Body(mass=80.0, inertia=(10.0, 11.0, MOMENT))
DURATION, MAX_TORQUE = 60.0, 0.05
FREE, SATURATED = "no limit", "0.05 N m"


def steer(t: Any, state: Any, body: Any, params: Any) -> Any:
    """The torque on the wheel: opposite to -kp angle - kd rate of the body about z."""
    kp, kd = params
    w, _, _, z = state.orientation
    return kp * 2 * atan2(z, w) + kd * state.angular_velocity_body[2]


def lqr_gains(angle_weight: float, rate_weight: float) -> tuple[float, float]:
    """Of I angle'' = u for the cost of weight angle^2 + weight rate^2 + u^2: Riccati's equation in closed form."""
    kp = sqrt(angle_weight)
    return kp, sqrt(rate_weight + 2 * TURNED * kp)


def scenario(angle: float, weight: float) -> dict[str, Scenario]:
    """The same turn with a motor that can do anything, and with one that cannot."""
    gains = lqr_gains(weight, weight)
    start = State(quaternion_wxyz=quaternion((0, 0, 1), radians(angle)))

    def turn(limits: dict[str, Any], name: str) -> Scenario:
        wheel = rotor((0, 0, 1), WHEEL, torque=steer, params=gains, **limits)
        return Scenario(
            BODY, start, rotors=[wheel], duration=DURATION, output_step=0.2, rtol=1e-11, method="dop853", name=name
        )

    return {FREE: turn({}, "attitude-control"), SATURATED: turn({"max_torque": MAX_TORQUE}, "saturated")}


def _response(t: Any, angle: float, weight: float) -> Any:
    """Of the damped oscillator I x'' + kd x' + kp x = 0 from rest."""
    kp, kd = lqr_gains(weight, weight)
    decay, squared = kd / (2 * TURNED), kp / TURNED - (kd / (2 * TURNED)) ** 2
    rate = np.sqrt(abs(squared))
    if squared > 0:
        return radians(angle) * np.exp(-decay * t) * (np.cos(rate * t) + decay / rate * np.sin(rate * t))
    return radians(angle) * np.exp(-decay * t) * (np.cosh(rate * t) + decay / rate * np.sinh(rate * t))


def _angle(motion: Motion) -> Any:
    q = motion.quaternion_wxyz
    return 2 * np.arctan2(q[:, 3], q[:, 0])


def numbers(motions: Mapping[str, Motion], angle: float, weight: float) -> list[ReferenceCheck]:
    """The angle on its way, the momentum of the wheel, and the cost that LQR minimizes."""
    free, kp, kd = motions[FREE], *lqr_gains(weight, weight)
    at = int(np.argmin(np.abs(free.times - 2.0)))
    x, v = _angle(free), free.angular_velocity_body[:, 2]
    torque = -kp * x - kd * v
    y = weight * x**2 + weight * v**2 + torque**2
    h = float(free.times[1] - free.times[0])
    cost = float(h / 3 * (y[0] + 4 * y[1:-1:2].sum() + 2 * y[2:-1:2].sum() + y[-1]))
    least = kd * sqrt(weight) * radians(angle) ** 2  # x P x, P11 = kp kd for these weights
    speeds = np.asarray(free.rotor_speed)[:, 0]
    momentum = float(np.abs(MOMENT * v + WHEEL * speeds).max())
    return [
        check(
            "angle after 2 s",
            "deg",
            degrees(float(x[at])),
            degrees(float(_response(free.times[at], angle, weight))),
            1e-8 * angle,
            "I x'' + kd x' + kp x = 0, in closed form",
        ),
        check(
            "cost of the turn",
            "1",
            cost,
            least,
            0.02 * least,
            "kp kd x²: what Riccati's equation gives, for an endless time",
        ),
        check(
            "largest angular momentum of body and wheel together",
            "kg m2/s",
            momentum,
            0.0,
            1e-10,
            "the motor acts between the two",
            size=1.0,
        ),
    ]


@panels(size=(11.0, 7.2))
def picture(motions: Mapping[str, Motion], angle: float, weight: float) -> list[Curves]:
    """Angle, rate, torque and speed of the wheel, with and without a limit."""
    kp, kd = lqr_gains(weight, weight)
    free = motions[FREE]

    def both(measure: Callable[[Motion], Any]) -> list[Line]:
        return [Line(measure(motion), name) for name, motion in motions.items()]

    return [
        Curves(
            "angle",
            "deg",
            both(lambda motion: np.degrees(_angle(motion))),
            Closed(np.degrees(_response(free.times, angle, weight))),
            free,
        ),
        Curves("rate", "deg/s", both(lambda motion: np.degrees(motion.angular_velocity_body[:, 2])), over=free),
        Curves(
            "torque asked for",
            "N m",
            both(lambda motion: -kp * _angle(motion) - kd * motion.angular_velocity_body[:, 2]),
            over=free,
        ),
        Curves("speed of the wheel", "rad/s", both(lambda motion: np.asarray(motion.rotor_speed)[:, 0]), over=free),
    ]


def stage(angle: float, weight: float) -> Stage:
    """A satellite with a telescope along axis 1, which is to look along x, and the wheel on top of it."""
    wings = [box((0.5, 1.1, 0.03), 1.0).move((0.0, side * 1.15, 0.0)) for side in (-1.0, 1.0)]
    return Stage(
        camera=StageCamera(azimuth_deg=-38.0, elevation_deg=30.0, zoom=1.15),
        off=("omega", "L", "trailOmega"),
        panels=("yaw_pitch_roll", "angular_velocity", "energy", "drift"),
        props=(
            TargetDirection((1, 0, 0), label="target"),
            Rod((0.4, 0, 0), (0.85, 0, 0), 0.14, 0.2, color="path", attached="body"),
            Rod((0, 0, 0.45), (0, 0, 0.53), 0.3, label="wheel", color="omega", attached="body"),
        ),
        floor=False,
        grabs=(Grab("attitude", knob="angle", component=2, scale=degrees(1.0)),),
        likeness=box((0.8, 0.8, 0.9), 1.0).join(*wings),
        shows="A satellite turns until its telescope looks at the target; a wheel on it turns the other way.",
    )


MODEL = Model(
    name="attitude-control",
    title="A reaction wheel turns a satellite, by a PD law with gains from LQR",
    theme="flight",
    source="Schaub 2018, chapter 8; Kalman 1960",
    explanation="""\
A satellite is to turn back by some angle. A motor spins a wheel one way, and the satellite turns the other way; the
angular momentum of both together stays zero. The law is proportional to angle and rate; its gains minimize the
integral of weighted squares of angle, rate and torque (LQR), for one axis in closed form. A weak motor saturates: the
same law then turns more slowly, and overshoots.""",
    parameters=(
        Parameter("angle", "deg", 60.0, 1.0, 170.0, "to turn back by"),
        Parameter("weight", "1", 0.5, 0.05, 5.0, "of squared angle and rate, beside that of the torque, 1"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=stage,
    lesson=Lesson(
        formulas=(
            Formula(r"\tau = -k_p\,\theta - k_d\,\dot\theta", "the law: proportional to angle and rate"),
            Formula(r"\int(q\,\theta^2 + q\,\dot\theta^2 + \tau^2)\,\mathrm{d}t \to \min", "what its gains make least"),
            Formula(r"L_{\mathrm{satellite}} + L_{\mathrm{wheel}} = 0", "the wheel takes what the satellite gets"),
        ),
        steps=(
            TryThis("Back by 60 degrees, without a limit of the motor.", run="no limit"),
            TryThis("A motor of 0.05 N m: slower, and it overshoots.", run="0.05 N m"),
            TryThis(
                "A larger weight of the error: a faster turn, for more torque.", values={"weight": 5.0}, run="no limit"
            ),
            TryThis("Almost half a turn with the weak motor.", values={"angle": 170.0}, run="0.05 N m"),
        ),
        references=("Schaub 2018, chapter 8",),
    ),
)
