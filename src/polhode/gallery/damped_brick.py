"""A brick whose tumbling the air damps: aerodynamic damping derivatives in the US Standard Atmosphere."""

from __future__ import annotations

from collections.abc import Mapping
from math import radians

import numpy as np

from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.pictures import Closed, Curves, Line, components, panels
from polhode.gallery.tumbling_brick import BRICK, DURATION, LIKENESS
from polhode.results.motion import Motion
from polhode.scenario.earth import WGS84
from polhode.scenario.flight_forces import aerodynamics, earth_gravity
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.validation import Array
from polhode.web.props import Globe
from polhode.web.stage import Stage, StageCamera, ThirdFrame

AREA, SPAN, CHORD = 0.020644913, 0.101598984, 0.203201016
"""0.22222 ft2, 0.33333 ft, 0.66667 ft."""
TUMBLING, ROLLING = "tumbling", "rolling, over an Earth at rest"


def scenario(damping: float, height: float) -> dict[str, Scenario]:
    """NASA's brick, and a brick that only rolls, over an Earth that does not turn: that one has a closed form."""
    return {
        TUMBLING: _fall(damping, height, WGS84, (10.0, 20.0, 30.0)),
        ROLLING: _fall(damping, height, WGS84.replace(name="resting", rotation_rate=0.0), (30.0, 0.0, 0.0)),
    }


def _fall(damping: float, height: float, earth: object, rates: tuple[float, float, float]) -> Scenario:
    start = State.from_geodetic(height=height, angular_velocity_body=np.radians(rates), earth=earth)  # type: ignore[arg-type]
    coefficients = {"Clp": -damping, "Cmq": -damping, "Cnr": -damping}
    air = aerodynamics(AREA, coefficients, SPAN, CHORD, earth=earth)  # type: ignore[arg-type]
    forces = [earth_gravity(earth), air]  # type: ignore[arg-type]
    return Scenario(BRICK, start, forces, duration=DURATION, output_step=0.05, rtol=1e-11, name="damped-brick")


def _expected_roll(motion: Motion, damping: float) -> Array:
    """p = p0 exp(-damping S b^2/(4 Ix) integral of density V dt), by Simpson's rule over the outputs."""
    flight = motion.flight()
    y, h = flight.density * flight.airspeed, float(motion.times[1] - motion.times[0])
    pairs = h / 3 * (y[:-2:2] + 4 * y[1:-1:2] + y[2::2])
    passed = np.concatenate(([0.0], np.cumsum(pairs)))
    k = damping * AREA * SPAN**2 / (4 * BRICK.principal_moments[0])
    return np.asarray(radians(30.0) * np.exp(-k * passed))


def _heights(motions: Mapping[str, Motion]) -> Array:
    """The height of one less that of the other, less the lift by the Earth's rotation."""
    tumbling, rolling = (motions[name].in_frame("ned").height for name in (TUMBLING, ROLLING))
    lift = WGS84.rotation_rate**2 * WGS84.radius * motions[TUMBLING].times ** 2 / 2
    return np.asarray(tumbling - rolling - lift)


def numbers(motions: Mapping[str, Motion], damping: float, height: float) -> list[ReferenceCheck]:
    """The decay of the roll rate against its integral; both bricks fall alike."""
    rolling = motions[ROLLING]
    expected, found = _expected_roll(rolling, damping), rolling.angular_velocity_body[::2, 0]
    middle = len(expected) // 3
    return [
        check(
            "roll rate after 10 s, over the first",
            "1",
            found[middle] / found[0],
            expected[middle] / expected[0],
            1e-8 * float(expected[middle] / expected[0]),
            "exp(-Clp S b²/(4 I) ∫ density V dt)",
        ),
        check(
            "largest difference of the roll rate from the closed form, over the first",
            "1",
            np.abs(found - expected).max() / found[0],
            0.0,
            1e-9,
            "exp(-Clp S b²/(4 I) ∫ density V dt)",
            size=1.0,
        ),
        check(
            "height where the two differ most",
            "m",
            np.abs(_heights(motions)).max(),
            0.0,
            0.05 * 60.0,
            "moments do not push: they fall alike but for the turning of the Earth, W² r t²/2 at the rate W",
            size=60.0,
        ),
    ]


@panels(size=(11.0, 7.2))
def picture(motions: Mapping[str, Motion], damping: float, height: float) -> list[Curves]:
    """Rates of both bricks, dynamic pressure, and the angles."""
    tumbling, rolling, names = motions[TUMBLING], motions[ROLLING], ("roll", "pitch", "yaw")
    angles = tumbling.in_frame("ned").yaw_pitch_roll
    expected = np.degrees(_expected_roll(rolling, damping))
    return [
        Curves(
            "rates of the tumbling brick",
            "deg/s",
            components(np.degrees(tumbling.angular_velocity_body), names),
            over=tumbling,
        ),
        Curves("from north, east, down", "deg", components(np.degrees(angles[:, ::-1]), names), over=tumbling),
        Curves(
            "the brick that rolls",
            "deg/s",
            Line(np.degrees(rolling.angular_velocity_body[:, 0]), "simulated"),
            Closed(expected, x=rolling.times[::2]),
            rolling,
        ),
        Curves("dynamic pressure", "Pa", Line(tumbling.flight().dynamic_pressure), over=tumbling),
    ]


MODEL = Model(
    name="damped-brick",
    title="The air stops the tumbling of a falling brick",
    theme="flight",
    source="NASA/TM-2015-218675, check case 3",
    explanation="""\
The tumbling brick again, now with aerodynamic damping: moments against the rates relative to the air, proportional to
density and airspeed, from the derivatives Clp, Cmq and Cnr. The air is the US Standard Atmosphere 1976 and turns with
the Earth, so in the end the brick rests relative to the Earth, not to the stars. A brick that only rolls has a closed
form: its rate falls exponentially with the air that it has passed.""",
    parameters=(
        Parameter("damping", "1", 1.0, 0.01, 2.0, "of Clp, Cmq and Cnr, with the opposite sign"),
        Parameter("height", "m", 9144.0, 6000.0, 40000.0, "above the ellipsoid"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=Stage(
        camera=StageCamera(azimuth_deg=20.0, elevation_deg=3.0, target="body", up=(1.0, 0.0, 0.0)),
        switches=(),
        off=("L", "trailOmega", "forces"),
        panels=("angular_velocity", "torque", "quaternion", "speed"),
        props=(Globe(WGS84.radius, rate=WGS84.rotation_rate),),
        floor=False,
        frame=ThirdFrame("Earth", (0.0, 0.0, WGS84.rotation_rate), first=True),
        likeness=LIKENESS,
        shows="A brick falls over the Earth; the air stops its tumbling.",
    ),
    lesson=Lesson(
        formulas=(
            Formula(
                r"M_x = C_{lp}\,\frac{p\,b}{2V}\,\frac{\rho V^2}{2}\,S\,b",
                "the damping moment about x, against the rate p",
            ),
        ),
        steps=(
            TryThis("The air stops the tumbling.", run="tumbling"),
            TryThis("Twice the damping.", values={"damping": 2.0}, run="tumbling"),
            TryThis("Hardly any damping: it tumbles on.", values={"damping": 0.01}, run="tumbling"),
            TryThis("From 40 km, where the air is thin.", values={"height": 40000.0}, run="tumbling"),
        ),
        references=("NASA/TM-2015-218675, check case 3", "Stevens 2016"),
    ),
)
