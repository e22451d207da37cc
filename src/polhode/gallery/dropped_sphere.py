"""A sphere dropped over the rotating, ellipsoidal Earth: it falls toward the east."""

from __future__ import annotations

from math import cos, radians, sin, sqrt

import numpy as np

from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.pictures import Closed, Curves, Line, panels
from polhode.gallery.plain_formulas import radians as plain_radians
from polhode.massprops.body import Body
from polhode.results.motion import Motion
from polhode.scenario.earth import WGS84
from polhode.scenario.flight_forces import earth_gravity
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.web.props import AxisLine, Globe
from polhode.web.stage import Stage, StageCamera, ThirdFrame

DURATION = 30.0
SPHERE = Body(mass=14.593902937206362, inertia=(4.880944613993042,) * 3)
"""1 slug, 3.6 slug ft2."""


def scenario(height: float, latitude: float) -> Scenario:
    """At rest on the Earth, then free, without air."""
    start = State.from_geodetic(plain_radians(latitude), 0.0, height)
    return Scenario(SPHERE, start, [earth_gravity()], duration=DURATION, output_step=0.1, name="dropped-sphere")


def _j2_potential(position: np.ndarray) -> float:
    """-gm/r (1 - J2 (a/r)^2 (3 sin^2 - 1)/2)"""
    r = float(np.linalg.norm(position))
    sine = float(position[2]) / r
    return -WGS84.gm / r * (1 - WGS84.zonal[0] * (WGS84.radius / r) ** 2 * (3 * sine**2 - 1) / 2)


def numbers(motion: Motion, height: float, latitude: float) -> list[ReferenceCheck]:
    """What angular momentum about the axis and energy say about the end."""
    first, last = motion.position[0], motion.position[-1]
    seen = motion.in_frame("ned")
    axis, rate = np.hypot(*first[:2]), WGS84.rotation_rate
    fallen = np.hypot(*last[:2])
    speed = sqrt((rate * axis) ** 2 + 2 * (_j2_potential(first) - _j2_potential(last)))
    return [
        check(
            "speed in the end, inertial",
            "m/s",
            np.linalg.norm(motion.velocity[-1]),
            speed,
            1e-8,
            "v²/2 + V(r) stays, V with J2",
        ),
        check(
            "velocity toward the east",
            "m/s",
            seen.velocity[-1, 1],
            rate * axis**2 / fallen - rate * fallen,
            1e-8,
            "the angular momentum about the Earth's axis stays",
            size=1.0,
        ),
        check(
            "displacement toward the east",
            "m",
            (np.unwrap(seen.longitude)[-1] - seen.longitude[0]) * fallen,
            rate * cos(radians(latitude)) * abs(seen.velocity[-1, 2]) * DURATION**2 / 3,
            0.02 * rate * cos(radians(latitude)) * 9.8 * DURATION**3 / 3,
            "Ω cos(latitude) g t³/3, at first order",
        ),
    ]


@panels(size=(11.0, 7.2))
def picture(motion: Motion, height: float, latitude: float) -> list[Curves]:
    """Height, and what happens toward east and south."""
    seen = motion.in_frame("ned", origin=(radians(latitude), 0.0, height))
    local, t, g = motion.in_frame("ned"), motion.times, 9.8
    east = WGS84.rotation_rate * cos(radians(latitude)) * g * t**3 / 3
    return [
        Curves("height", "m", Line(local.height, "simulated"), Closed(height - g * t**2 / 2, "h - g t²/2"), motion),
        Curves("velocity down", "m/s", Line(local.velocity[:, 2], "simulated"), Closed(g * t, "g t"), motion),
        Curves("displacement east", "m", Line(seen.position[:, 1], "simulated"), Closed(east, "first order"), motion),
        Curves("roll from the local vertical", "deg", Line(np.degrees(local.yaw_pitch_roll[:, 2])), over=motion),
    ]


def stage(height: float, latitude: float) -> Stage:
    """The fall as it is seen from the rotating Earth, beside the plumb line."""
    start = np.asarray(State.from_geodetic(radians(latitude), 0.0, height).position)
    up = np.array((cos(radians(latitude)), 0.0, sin(radians(latitude))))
    fallen = 9.8 * DURATION**2 / 2
    middle = start - 0.5 * fallen * up
    return Stage(
        camera=StageCamera(10.0, 4.0, target=tuple(middle), radius=1.1 * fallen, up=tuple(up)),
        off=("omega", "L", "forces", "trailOmega", "bodyAxes", "follow"),
        panels=("velocity", "position", "drift"),
        props=(
            Globe(WGS84.radius, rate=WGS84.rotation_rate),
            AxisLine(tuple(up), tuple(middle), 1.3 * fallen, label="plumb line", attached="frame"),
        ),
        floor=False,
        frame=ThirdFrame("Earth", (0.0, 0.0, WGS84.rotation_rate), first=True),
        shows="A sphere falls along the plumb line, seen from the rotating Earth; east is to the right.",
    )


MODEL = Model(
    name="dropped-sphere",
    title="A sphere dropped from a height falls toward the east",
    theme="flight",
    source="NASA/TM-2015-218675, check case 1",
    explanation="""\
A sphere rests over the rotating Earth and is let go, without air. Gravity has the harmonic J2, the Earth is the WGS-84
ellipsoid. Seen from the ground the sphere falls a little toward the east: the angular momentum about the Earth's axis
stays while the distance from the axis shrinks. NASA's simulations of this case differ by 6.4e-4 m in height among each
other; this one agrees with the nearest of them within 1e-7 m.""",
    parameters=(
        Parameter("height", "m", 9144.0, 5000.0, 100000.0, "above the ellipsoid; 9144 m are 30,000 ft"),
        Parameter("latitude", "deg", 0.0, -85.0, 85.0, "geodetic"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=stage,
    lesson=Lesson(
        formulas=(
            Formula(
                r"\Delta x \approx \frac{1}{3}\,\Omega\,g\,t^3\cos\lambda",
                "how far to the east it falls, at the latitude λ",
            ),
        ),
        steps=(
            TryThis("At the equator: 6.4 m in 30 s."),
            TryThis("At 60 degrees north: half as much.", values={"latitude": 60.0}),
            TryThis("Near the pole: less than a tenth.", values={"latitude": 85.0}),
        ),
        references=("NASA/TM-2015-218675, check case 1", "Landau and Lifshitz, section 39"),
    ),
)
