"""A cannonball with drag: straight up in uniform air, and eastward over the Earth."""

from __future__ import annotations

from collections.abc import Mapping
from math import atan, cos, log, tan
from typing import Any

import numpy as np

from polhode.equations.elementary import atan2
from polhode.equations.scalar_ops import sqrt
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.pictures import Closed, Curves, Line, panels
from polhode.massprops.body import Body
from polhode.results.motion import Motion
from polhode.scenario.air import constant
from polhode.scenario.earth import WGS84
from polhode.scenario.flight_forces import drag, earth_gravity
from polhode.scenario.forces import STANDARD_GRAVITY, gravity
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.web.props import Globe
from polhode.web.stage import Stage, StageCamera, ThirdFrame

BALL = Body(mass=14.593902937206362, inertia=(4.880944613993042,) * 3)
AREA, DENSITY, DURATION = 0.018241465452480, 1.225, 30.0
EAST, UP, VACUUM = "eastward, with drag", "straight up, in uniform air", "eastward, without air"


def scenario(speed: float, coefficient: float) -> dict[str, Scenario]:
    """Eastward at 45 degrees over the rotating Earth, with and without air; and straight up over flat ground."""
    east = State.from_geodetic(
        velocity_ned=(0.0, speed, -speed),
        yaw_pitch_roll=(np.pi / 2, 0, 0),
        angular_velocity_body_relative_to_earth=(0, 0, 0),
    )
    weight, air = earth_gravity(), drag(AREA, coefficient, earth="WGS84")
    common = {"duration": DURATION, "output_step": 0.1, "name": "cannonball"}
    rise = 0.8 * _time_to_apex(speed, coefficient)
    uniform = [gravity(), drag(AREA, coefficient, constant(DENSITY))]
    return {
        EAST: Scenario(BALL, east, [weight, air], **common),  # type: ignore[arg-type]
        UP: Scenario(BALL, State(velocity=(0, 0, speed)), uniform, duration=rise, rtol=1e-11, name="upward"),
        VACUUM: Scenario(BALL, east, [weight], **common),  # type: ignore[arg-type]
    }


def _terminal(coefficient: float) -> float:
    terminal: float = sqrt(2 * float(BALL.mass) * STANDARD_GRAVITY / (DENSITY * AREA * coefficient))
    return terminal


def _time_to_apex(speed: float, coefficient: float) -> Any:
    terminal = _terminal(coefficient)
    return terminal / STANDARD_GRAVITY * atan2(speed, terminal)


def numbers(motions: Mapping[str, Motion], speed: float, coefficient: float) -> list[ReferenceCheck]:
    """Height and speed on the way up; how much energy the air has taken."""
    up, vt, g = motions[UP], _terminal(coefficient), STANDARD_GRAVITY
    angle = atan(speed / vt)
    left = angle - g * float(up.times[-1]) / vt
    east, empty = motions[EAST], motions[VACUUM]
    lost = east.energy[0] - east.energy[-1]
    return [
        check(
            "height at 0.8 of the time to the apex",
            "m",
            up.position[-1, 2],
            vt**2 / g * log(cos(left) / cos(angle)),
            1e-7,
            "v_t²/g ln(cos(φ - g t/v_t)/cos φ), tan φ = v/v_t",
        ),
        check("speed there", "m/s", up.velocity[-1, 2], vt * tan(left), 1e-7, "v_t tan(φ - g t/v_t)"),
        check(
            "energy that the air took from the eastward ball",
            "J",
            lost,
            -_work_of_drag(east),
            1e-4 * float(lost),
            "∫ drag times velocity dt, inertial",
        ),
        check(
            "change of the angular momentum about the Earth's axis without air",
            "1",
            float(_axial(empty)[-1] / _axial(empty)[0]) - 1,
            0.0,
            1e-12,
            "it stays",
            size=1.0,
        ),
    ]


def _axial(motion: Motion) -> np.ndarray:
    return np.asarray(np.cross(motion.position, motion.velocity)[:, 2])


def _work_of_drag(motion: Motion) -> float:
    """By Simpson's rule over the outputs."""
    force = np.asarray(motion.acceleration) * float(BALL.mass) - _weight(motion)
    y, h = (force * motion.velocity).sum(axis=1), float(motion.times[1] - motion.times[0])
    return float(h / 3 * (y[0] + 4 * y[1:-1:2].sum() + 2 * y[2:-1:2].sum() + y[-1]))


def _weight(motion: Motion) -> np.ndarray:
    from polhode.scenario.earth import WGS84

    return np.asarray(float(BALL.mass) * WGS84.gravity(motion.position))


@panels(size=(11.0, 7.2))
def picture(motions: Mapping[str, Motion], speed: float, coefficient: float) -> list[Curves]:
    """Paths with and without air, what the ball meets, and the shot straight up."""
    east, up, flight = motions[EAST], motions[UP], motions[EAST].flight()
    g, vt = STANDARD_GRAVITY, _terminal(coefficient)
    angle = atan(speed / vt)
    expected = vt**2 / g * np.log(np.cos(angle - g * up.times / vt) / cos(angle))

    def path(motion: Motion, name: str) -> Line:
        seen = motion.in_frame("enu", origin=(0.0, 0.0, 0.0))
        return Line(motion.in_frame("ned").height / 1000, name, x=seen.position[:, 0] / 1000)

    paths = [path(east, "with air"), path(motions[VACUUM], "without")]
    return [
        Curves("path", "height (km)", paths, across="east (km)"),
        Curves("Mach number", "Mach", Line(flight.mach), over=east),
        Curves("dynamic pressure", "kPa", Line(flight.dynamic_pressure / 1000), over=east),
        Curves("straight up", "m", Line(up.position[:, 2], "simulated"), Closed(expected), up),
    ]


def stage(speed: float, coefficient: float, run: str) -> Stage:
    """The shot as it is seen from the rotating Earth, or over flat ground."""
    panels = ("speed", "forces", "velocity", "position")
    off = ("omega", "L", "forces", "trailOmega", "bodyAxes")
    shows = "A ball is shot upward and eastward; the path behind it is the one seen from the ground."
    if run == UP:
        return Stage(
            switches=("trailCenter",), off=(*off, "follow"), panels=(*panels, "energy"), floor=0.0, shows=shows
        )
    along, ground = speed * DURATION, WGS84.radius
    return Stage(
        camera=StageCamera(
            10.0, 6.0, target=(ground + 0.24 * along, 0.45 * along, 0.0), radius=0.68 * along, up=(1, 0, 0)
        ),
        off=(*off, "follow"),
        panels=panels,
        props=(Globe(ground, rate=WGS84.rotation_rate),),
        floor=False,
        frame=ThirdFrame("Earth", (0.0, 0.0, WGS84.rotation_rate), first=True),
        shows=shows,
    )


MODEL = Model(
    name="cannonball",
    title="A cannonball with drag, over the rotating Earth",
    theme="flight",
    source="NASA/TM-2015-218675, check case 9",
    explanation="""\
A sphere is shot eastward at 45 degrees from the rotating Earth, with drag in the US Standard Atmosphere, which turns
with it, and once more without air. What the air takes from the energy is the work of the drag. Straight up in uniform
air and gravity the motion has a closed form, which gives the numbers. NASA's simulations of the eastward shot differ by
up to 5.5 m after 30 s.""",
    parameters=(
        Parameter("speed", "m/s", 304.8, 150.0, 400.0, "eastward, and upward; 304.8 m/s are 1000 ft/s"),
        Parameter("coefficient", "1", 0.1, 0.02, 1.0, "of drag"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=stage,
    lesson=Lesson(
        formulas=(
            Formula(
                (
                    r"m\dot{\mathbf{v}} = m\mathbf{g} - \frac{1}{2}\rho\,C_D "
                    r"A\,\lvert\mathbf{v}\rvert\,\mathbf{v}"
                ),
                "gravity and drag; v relative to the air",
            ),
        ),
        steps=(
            TryThis("Eastward at 45 degrees.", run="eastward, with drag"),
            TryThis("Without air it flies much farther.", run="eastward, without air"),
            TryThis("Ten times the drag.", values={"coefficient": 1.0}, run="eastward, with drag"),
            TryThis("Straight up, in uniform air.", run="straight up, in uniform air"),
        ),
        references=("NASA/TM-2015-218675, check case 9", "US76"),
    ),
)
