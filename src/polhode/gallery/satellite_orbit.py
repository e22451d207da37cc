"""A satellite around the flattened Earth: its orbit's plane precesses, and the gradient of gravity makes it swing."""

from __future__ import annotations

from collections.abc import Mapping
from math import acos, degrees, pi

import numpy as np

from polhode.equations.quaternions import product
from polhode.equations.scalar_ops import cos, sin, sqrt
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.pictures import Closed, Curves, Line, panels
from polhode.gallery.plain_formulas import radians
from polhode.massprops.body import Body
from polhode.massprops.shapes import box
from polhode.results.motion import Motion
from polhode.scenario.earth import WGS84
from polhode.scenario.flight_forces import earth_gravity
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.validation import Array
from polhode.web.props import AxisLine, Globe, LocalVertical
from polhode.web.stage import Stage, StageCamera, ThirdFrame

ORBIT, SWING = "orbit, with J2", "gravity-gradient libration"
TURNS, TILT = 15, 1e-3
SATELLITE = Body(mass=50.0, inertia=(20.0, 24.0, 5.0))


def scenario(height: float, inclination: float) -> dict[str, Scenario]:
    """An orbit that would be a circle around a round Earth; and a satellite that swings about the vertical."""
    a = WGS84.radius + 1000 * height
    n, i = _mean_motion(height), radians(inclination)
    start = State(position=(a, 0, 0), velocity=(0, a * n * cos(i), a * n * sin(i)), angular_velocity=(0, 0, 1e-3))
    duration = TURNS * 2 * pi / n
    orbit = Scenario(
        SATELLITE, start, [earth_gravity()], duration=duration, output_step=duration / 3000, rtol=1e-10, name="orbit"
    )
    # x forward, y against the orbit's angular momentum, z down, and then tilted about y.
    half = sqrt(0.5)
    upright = product((0.5, -0.5, -0.5, 0.5), (1.0, 0.0, 0.0, 0.0))
    tilted = product(upright, (cos(TILT / 2), 0.0, sin(TILT / 2), 0.0))
    circle = State(
        position=(a, 0, 0),
        velocity=(0, a * n, 0),
        quaternion_wxyz=tilted,
        angular_velocity=(0, 0, n * (2 * half * half)),
    )
    swing = Scenario(
        SATELLITE,
        circle,
        [earth_gravity(degree=0, gradient_torque=True)],
        duration=2 * 2 * pi / _libration(n),
        output_step=2 * pi / _libration(n) / 400,
        rtol=1e-12,
        name="libration",
    )
    return {ORBIT: orbit, SWING: swing}


def _mean_motion(height: float) -> float:
    """n = sqrt(G M/a^3) of an orbit at this height (km)."""
    a = WGS84.radius + 1000 * height
    rate: float = sqrt(WGS84.gm / (a * a * a))
    return rate


def _node_rate(height: float, inclination: float) -> float:
    """-3/2 n J2 (a_E/a)^2 cos i, at first order."""
    flattening = WGS84.zonal[0] * (WGS84.radius / (WGS84.radius + 1000 * height)) ** 2
    return -1.5 * _mean_motion(height) * flattening * float(cos(radians(inclination)))


def _libration(n: float) -> float:
    """In plane: w^2 = 3 n^2 (Ix - Iz)/Iy."""
    ix, iy, iz = SATELLITE.principal_moments
    return n * float(sqrt(3 * (ix - iz) / iy))


def _node(motion: Motion) -> Array:
    momentum = np.cross(motion.position, motion.velocity)
    return np.unwrap(np.arctan2(momentum[:, 0], -momentum[:, 1]))


def numbers(motions: Mapping[str, Motion], height: float, inclination: float) -> list[ReferenceCheck]:
    """Angular momentum about the axis, precession of the node, and the period of the swing."""
    orbit, swing = motions[ORBIT], motions[SWING]
    a = WGS84.radius + 1000 * height
    n, i = _mean_motion(height), radians(inclination)
    axial = np.cross(orbit.position, orbit.velocity)[:, 2]
    rate = float(np.polyfit(orbit.times, _node(orbit), 1)[0])
    first_order = _node_rate(height, inclination)
    pitch = swing.in_frame("lvlh").yaw_pitch_roll[:, 1]
    at = np.flatnonzero(np.diff(np.sign(pitch)))
    times = swing.times[at] - pitch[at] * np.diff(swing.times)[at] / np.diff(pitch)[at]
    return [
        check(
            "angular momentum about the axis, per mass, in the end",
            "m2/s",
            axial[-1],
            a * a * n * cos(i),
            1e-7 * a * a * n * cos(i),
            "a² n cos i: J2 exerts no torque about the axis",
        ),
        check(
            "precession of the node",
            "deg/day",
            degrees(rate) * 86400,
            degrees(first_order) * 86400,
            0.01 * abs(degrees(first_order)) * 86400,
            "-3/2 n J2 (a_E/a)² cos i, at first order",
        ),
        check(
            "period of the swing in the plane of the orbit",
            "s",
            2 * np.diff(times).mean(),
            2 * pi / _libration(n),
            1e-4 * 2 * pi / _libration(n),
            "2π/(n √(3 (Ix - Iz)/Iy)), for small angles",
        ),
    ]


@panels(size=(11.0, 7.2))
def picture(motions: Mapping[str, Motion], height: float, inclination: float) -> list[Curves]:
    """Ground track, node, height and swing."""
    orbit, swing = motions[ORBIT], motions[SWING]
    seen, hours = orbit.in_frame("earth"), orbit.times / 3600
    longitude, latitude = np.degrees(seen.longitude), np.degrees(seen.latitude)
    longitude = np.where(np.abs(np.diff(longitude, append=longitude[-1])) > 180, np.nan, longitude)
    node = np.degrees(_node(orbit) - _node(orbit)[0])
    expected = np.degrees(_node_rate(height, inclination) * orbit.times)
    pitch = np.degrees(swing.in_frame("lvlh").yaw_pitch_roll[:, 1])
    small = np.degrees(TILT) * np.cos(_libration(_mean_motion(height)) * swing.times)
    return [
        Curves("ground track", "latitude (deg)", Line(latitude, x=longitude), across="longitude (deg)"),
        Curves("height", "km", Line(seen.height / 1000, x=hours), across="time (h)"),
        Curves(
            "precession of the node",
            "deg",
            Line(node, "simulated", x=hours),
            Closed(expected, "first order", hours),
            across="time (h)",
        ),
        Curves(
            "swing about the vertical",
            "deg",
            Line(pitch, "simulated", x=swing.times / 3600),
            Closed(small, "small angles", swing.times / 3600),
            across="time (h)",
        ),
    ]


def stage(height: float, inclination: float, run: str) -> Stage:
    """The whole orbit around the Earth; or, near the satellite, the vertical about which it swings."""
    earth = Globe(WGS84.radius, rate=WGS84.rotation_rate)
    wings = [box((0.03, 1.2, 0.5), 1.0).move((0.0, side * 0.9, 0.0)) for side in (-1.0, 1.0)]
    likeness = box((0.5, 0.5, 1.6), 4.0).join(*wings)
    if run == ORBIT:
        return Stage(
            camera=StageCamera(elevation_deg=20.0),
            off=("omega", "L", "trailOmega", "bodyAxes", "forces", "follow"),
            panels=("position", "speed", "drift"),
            props=(earth, AxisLine((0, 0, 1), (0, 0, 0), 3.2 * WGS84.radius, label="axis of the Earth")),
            floor=False,
            likeness=likeness,
            shows="A satellite goes round the Earth; the plane of its orbit turns slowly about the axis.",
        )
    a = WGS84.radius + 1000 * height
    return Stage(
        camera=StageCamera(8.0, degrees(acos(WGS84.radius / a)) - 8.0, target="body", up=(1, 0, 0)),
        off=("omega", "L", "trailOmega", "trailCenter", "forces"),
        panels=("angular_velocity", "torque", "drift"),
        props=(earth, LocalVertical(label="toward the Earth")),
        floor=False,
        frame=ThirdFrame("orbit", (0.0, 0.0, _mean_motion(height)), first=True),
        likeness=likeness,
        shows="A long satellite swings about the vertical, by a thousandth of a radian.",
    )


MODEL = Model(
    name="satellite-orbit",
    title="A satellite's orbit precesses around the flattened Earth",
    theme="flight",
    source="Vallado 2013, section 9.6; Schaub 2018, section 4.4",
    explanation="""\
The Earth's bulge, J2, turns the plane of an orbit about the axis: westward for satellites that go eastward, by some
degrees a day. Over a pole it does not turn. The energy, which the audit watches, and the angular momentum about the
axis stay. A long satellite also feels that gravity is stronger below: it swings about the vertical, for small angles
with a period that depends on its moments alone, and on the orbit's.""",
    parameters=(
        Parameter("height", "km", 700.0, 200.0, 2000.0, "above the equator"),
        Parameter("inclination", "deg", 51.6, 0.5, 85.0, "of the orbit"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=stage,
    lesson=Lesson(
        formulas=(
            Formula(
                r"\dot\Omega = -\frac{3}{2}\,n J_2\left(\frac{R}{a}\right)^2\cos i",
                "how fast the plane of the orbit turns about the Earth's axis",
            ),
        ),
        steps=(
            TryThis("The plane turns westward, some degrees a day.", run="orbit, with J2"),
            TryThis("Nearly over the poles it hardly turns.", values={"inclination": 85.0}, run="orbit, with J2"),
            TryThis("Low orbits turn faster.", values={"height": 200.0}, run="orbit, with J2"),
            TryThis("A long satellite swings about the vertical.", run="gravity-gradient libration"),
        ),
        references=("Vallado 2013, section 9.6", "Schaub 2018, section 4.4"),
    ),
)
