"""A brick that tumbles while it falls: gravity at the center of mass does not disturb its free rotation."""

from __future__ import annotations

from collections.abc import Mapping
from math import degrees

import numpy as np

from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.pictures import Closed, Curves, Line, components, panels
from polhode.gallery.plain_formulas import radians
from polhode.massprops.body import Body
from polhode.massprops.shapes import box
from polhode.results.motion import Motion
from polhode.rotations import angle_between
from polhode.scenario.earth import WGS84
from polhode.scenario.flight_forces import earth_gravity
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.web.props import Globe
from polhode.web.stage import Grab, Stage, StageCamera, ThirdFrame

BRICK = Body(mass=2.267961893, inertia=(0.002568217474, 0.008421011037, 0.009754655927))
"""0.155404754 slug; 0.00189422, 0.006211019 and 0.007194665 slug ft2, to 10 digits."""
LIKENESS = box((0.2032, 0.1016, 0.05715), 1.0)
"""8, 4 and 2.25 inches: how it is drawn."""
DURATION = 30.0
FALL, FREE = "in the fall", "free rotation"


def scenario(roll: float, pitch: float, yaw: float) -> dict[str, Scenario]:
    """The fall over the Earth, and the same rotation where nothing acts, in closed form."""
    start = State.from_geodetic(0.0, 0.0, 9144.0, angular_velocity_body=tuple(map(radians, (roll, pitch, yaw))))
    fall = Scenario(
        BRICK, start, [earth_gravity()], duration=DURATION, output_step=0.1, rtol=1e-11, name="tumbling-brick"
    )
    return {FALL: fall, FREE: Scenario(BRICK, start, duration=DURATION, output_step=0.1, method="exact", name="free")}


def numbers(motions: Mapping[str, Motion], roll: float, pitch: float, yaw: float) -> list[ReferenceCheck]:
    """The rotation against its closed form."""
    fall, free = motions[FALL], motions[FREE]
    rate = float(np.linalg.norm(free.angular_velocity_body[-1]))
    labels = ("roll rate", "pitch rate", "yaw rate")
    checks = [
        check(
            f"{label} in the end",
            "deg/s",
            degrees(fall.angular_velocity_body[-1, i]),
            degrees(free.angular_velocity_body[-1, i]),
            1e-7 * degrees(rate) / 10,
            "Jacobi's closed form of free rotation",
            size=degrees(rate),
        )
        for i, label in enumerate(labels)
    ]
    turned = float(np.max(angle_between(fall.quaternion_wxyz, free.quaternion_wxyz)))
    checks.append(
        check("largest angle from the closed form", "deg", degrees(turned), 0.0, 1e-7, "attitude", size=360.0)
    )
    largest = [check for check in checks[:3] if abs(check.expected) > 0.1 * check.size]  # type: ignore[operator]
    return sorted(checks, key=lambda check: check not in largest)


@panels(size=(11.0, 7.2))
def picture(motions: Mapping[str, Motion], roll: float, pitch: float, yaw: float) -> list[Curves]:
    """Rates and angles of flight."""
    fall, names = motions[FALL], ("roll", "pitch", "yaw")
    rates, exact = (np.degrees(motion.angular_velocity_body) for motion in motions.values())
    angles = np.degrees(fall.in_frame("ned").yaw_pitch_roll[:, ::-1])
    return [
        *(
            Curves(f"{name} rate", "deg/s", Line(rates[:, i], "simulated"), Closed(exact[:, i]), fall)
            for i, name in enumerate(names)
        ),
        Curves("from north, east, down", "deg", components(angles, names), over=fall),
    ]


MODEL = Model(
    name="tumbling-brick",
    title="A brick tumbles while it falls, as if nothing acted on it",
    theme="flight",
    source="NASA/TM-2015-218675, check case 2",
    explanation="""\
A brick falls over the rotating Earth without air and tumbles. Gravity acts at its center of mass, so the rotation is
the free one, for which a closed form exists. Angles are yaw, pitch and roll from the local north, east, down, which
themselves turn as the brick falls. NASA's simulations of this case differ by 3.7 deg among each other after 30 s; the
nearest of them is met within 1e-8 deg.""",
    parameters=(
        Parameter("roll", "deg/s", 10.0, -100.0, 100.0, "rate about x, the longest side"),
        Parameter("pitch", "deg/s", 20.0, 1.0, 100.0, "rate about y"),
        Parameter("yaw", "deg/s", 30.0, -100.0, 100.0, "rate about z"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=Stage(
        camera=StageCamera(azimuth_deg=20.0, elevation_deg=3.0, target="body", up=(1.0, 0.0, 0.0)),
        switches=("closedForm",),
        off=("L", "trailOmega", "forces"),
        panels=("angular_velocity", "quaternion", "speed"),
        props=(Globe(WGS84.radius, rate=WGS84.rotation_rate),),
        floor=False,
        frame=ThirdFrame("Earth", (0.0, 0.0, WGS84.rotation_rate), first=True),
        grabs=tuple(
            Grab("angular_velocity", knob=knob, component=i, scale=degrees(1.0))
            for i, knob in enumerate(("roll", "pitch", "yaw"))
        ),
        likeness=LIKENESS,
        shows="A brick falls over the Earth and tumbles as if nothing acted on it.",
    ),
    lesson=Lesson(
        formulas=(
            Formula(
                r"I\dot{\boldsymbol{\omega}} = -\boldsymbol{\omega}\times I\boldsymbol{\omega}",
                "free rotation: gravity exerts no torque about the center of mass",
            ),
        ),
        steps=(
            TryThis("It tumbles as it falls.", run="in the fall"),
            TryThis("Alone in space: the same rotation.", run="free rotation"),
            TryThis(
                "Spun about y, its intermediate axis, with a small nudge: it flips.",
                values={"roll": 1.0, "pitch": 100.0, "yaw": 0.0},
                run="in the fall",
            ),
        ),
        references=("NASA/TM-2015-218675, check case 2",),
    ),
)
