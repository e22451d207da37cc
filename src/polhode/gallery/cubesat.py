"""A CubeSat in a circular orbit librates about the vertical like a pendulum."""

from __future__ import annotations

from math import acos, degrees, pi, radians
from typing import Any

import numpy as np

from polhode.equations.scalar_ops import cos, sin, sqrt
from polhode.gallery.closed_forms.libration import Libration
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.measurements import zero_crossings
from polhode.gallery.pictures import Closed, Curves, DrawPanel, Line, panels, space
from polhode.gallery.plain_formulas import radians as plain_radians
from polhode.gallery.shared import rk4_settings
from polhode.massprops.body import Body
from polhode.massprops.shapes import box
from polhode.results.motion import Motion
from polhode.scenario.forces import point_gravity
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.validation import Array
from polhode.web.props import Globe, LocalVertical
from polhode.web.stage import Grab, Stage, StageCamera, ThirdFrame

EARTH = 3.986004418e14
"""G M of the Earth, in m3/s2."""
EARTH_RADIUS = 6.371e6
SIDEREAL_RATE = 7.292115e-5
"""Of the Earth's rotation, in rad/s."""
WIDTH, LENGTH, MASS = 0.1, 0.34, 4.0
PANEL = (0.004, 0.2, 0.3)
"""Sides along track, along the orbit normal, and upwards, in m."""
UNITS = 3
ORBITS = 2
FRAMES = 300
STEPS_PER_FRAME = 24


def satellite(panels: float) -> Body:
    """Three units stacked along z, with two panels of the given mass at both sides along y."""
    height = LENGTH / UNITS
    unit = box((WIDTH, WIDTH, height), MASS / UNITS)
    parts = [unit.move((0.0, 0.0, (k - 1) * height)) for k in range(UNITS)]
    if panels > 0:
        arm = (WIDTH + PANEL[1]) / 2
        parts += [box(PANEL, panels).move((0.0, side * arm, 0.0)) for side in (-1.0, 1.0)]
    return parts[0].join(*parts[1:])


def moments(panels: float) -> Array:
    """By hand, about the roll (x), pitch (y) and yaw (z) axes: boxes and the parallel axis theorem."""
    thin, wide, high = PANEL
    arm = (WIDTH + wide) / 2
    across, along = MASS * (WIDTH**2 + LENGTH**2) / 12, MASS * WIDTH**2 / 6
    return np.array(
        (
            across + 2 * panels * ((wide**2 + high**2) / 12 + arm**2),
            across + 2 * panels * (thin**2 + high**2) / 12,
            along + 2 * panels * ((thin**2 + wide**2) / 12 + arm**2),
        )
    )


def _orbital_rate(altitude: float) -> float:
    radius = EARTH_RADIUS + 1e3 * altitude
    rate: float = sqrt(EARTH / (radius * radius * radius))
    return rate


def _libration(amplitude: float, altitude: float, panels: float) -> Libration:
    return Libration(moments(panels), _orbital_rate(altitude), radians(amplitude))


def scenario(amplitude: float, altitude: float, panels: float) -> Scenario:
    """Two revolutions of a circular orbit about z; released at a pitch angle, at rest relative to the vertical."""
    r, n = EARTH_RADIUS + 1e3 * altitude, _orbital_rate(altitude)
    duration = ORBITS * 2 * pi / n
    # Body x, y, z along world y, z, x (along track, normal, up), then rotated about the normal.
    half = plain_radians(amplitude) / 2
    c, s = cos(half), sin(half)
    return Scenario(
        satellite(panels),
        State(
            position=(r, 0.0, 0.0),
            velocity=(0.0, n * r, 0.0),
            quaternion_wxyz=((c - s) / 2, (c - s) / 2, (c + s) / 2, (c + s) / 2),
            angular_velocity_body=(0.0, n, 0.0),
        ),
        [point_gravity(EARTH)],
        **rk4_settings(duration, FRAMES, STEPS_PER_FRAME),
        name="cubesat",
    )


def _pitch(position: Any, axis: Any) -> Any:
    """Angle from the vertical to the long axis in the orbital plane, in rad."""
    x, y = position[..., 0], position[..., 1]
    return np.arctan2(x * axis[..., 1] - y * axis[..., 0], x * axis[..., 0] + y * axis[..., 1])


def _pitches(motion: Motion) -> Array:
    return np.asarray(_pitch(motion.position, motion.rotation_matrix[:, :, 2]))


def _pitch_of_state(state: Any) -> float:
    return float(_pitch(state.position, state.to_world((0.0, 0.0, 1.0), kind="vector")))


def numbers(motion: Motion, amplitude: float, altitude: float, panels: float) -> list[ReferenceCheck]:
    """Libration frequency and orbital rate."""
    closed = _libration(amplitude, altitude, panels)
    passages = zero_crossings(motion, _pitches(motion), _pitch_of_state)
    period = float(2 * (passages[-1] - passages[0]) / (len(passages) - 1))
    orbit_angle = np.unwrap(np.arctan2(motion.position[:, 1], motion.position[:, 0]))
    orbital = float((orbit_angle[-1] - orbit_angle[0]) / motion.times[-1])
    small = closed.small_rate / closed.orbital_rate
    body, by_hand = motion.scenario.bodies[0], moments(panels)
    integral, level = _libration_integral(motion, closed), -(closed.small_rate**2) * np.cos(2 * radians(amplitude)) / 4
    worst = integral[np.argmax(np.abs(integral - level))]
    return [
        check(
            "pitch libration over orbital rate, small-amplitude limit",
            "1",
            2 * pi / period / orbital * (closed.period * closed.small_rate / (2 * pi)),
            small,
            1e-10 * small,
            "sqrt(3 (I_roll - I_yaw)/I_pitch); at amplitude a the period is 2 K(sin^2 a)/pi times longer",
        ),
        check(
            "period of the libration",
            "s",
            period,
            closed.period,
            1e-10 * closed.period,
            "4 K(sin^2 a)/rate, a the amplitude",
        ),
        check(
            "orbital rate",
            "rad/s",
            orbital,
            closed.orbital_rate,
            1e-11 * closed.orbital_rate,
            "sqrt(G M/r^3), Kepler's third law",
        ),
        check(
            "final pitch",
            "deg",
            degrees(float(_pitches(motion)[-1])),
            degrees(float(closed.pitch_at(motion.times[-1]))),
            1e-9 * amplitude,
            "half the angle of a pendulum, by Jacobi's elliptic functions",
            size=amplitude,
        ),
        check(
            "libration energy at its largest deviation",
            "rad2/s2",
            worst,
            level,
            1e-10 * closed.small_rate**2,
            "p'^2/2 - rate^2 cos(2 p)/4 is conserved",
            size=closed.small_rate**2 / 4,
        ),
        check(
            "moment about the pitch axis",
            "kg m2",
            body.inertia_body[1, 1],
            by_hand[1],
            1e-13 * float(by_hand[1]),
            "m (0.1^2 + 0.34^2)/12, and the panels by the parallel axis theorem",
        ),
    ]


def _pitch_rates(motion: Motion, closed: Libration) -> Array:
    """Pitch rates relative to the vertical, in rad/s."""
    return motion.angular_velocity[:, 2] - closed.orbital_rate


def _libration_integral(motion: Motion, closed: Libration) -> Array:
    rates = _pitch_rates(motion, closed)
    return np.asarray(rates**2 / 2 - closed.small_rate**2 * np.cos(2 * _pitches(motion)) / 4)


@panels("AB;AC", size=(12.0, 8.4), heights=(1.0, 1.15))
def picture(motion: Motion, amplitude: float, altitude: float, panels: float) -> list[DrawPanel]:
    """The satellite on its orbit, its pitch over the closed form, and the phase plane."""
    closed = _libration(amplitude, altitude, panels)
    rounds = motion.times * closed.orbital_rate / (2 * pi)
    swings = 2 * pi / closed.period / closed.orbital_rate
    pitch = Curves(
        f"pitch: {swings:.4f} librations per orbit",
        "deg",
        Line(np.degrees(_pitches(motion)), "simulated", "omega", x=rounds),
        Closed(np.degrees(closed.pitch_at(motion.times)), x=rounds),
        across="orbits",
        x=(0.0, ORBITS),
    )
    return [_orbit(motion), pitch, _phase_plane(motion, closed)]


def _orbit(motion: Motion) -> DrawPanel:
    """One orbit at twelve instants; Earth and satellite are not to scale."""
    from polhode.massprops.shapes import sphere

    scene = space(0.0, 1.2)
    orbit = motion.position[: FRAMES // ORBITS + 1] / np.linalg.norm(motion.position[0])
    scene.body(sphere(0.34, 1.0), color="closed_form", segments=32)
    scene.text((0, 0, 0.0), "Earth")
    scene.line(orbit, "muted", width=0.9)
    for frame in np.linspace(0, FRAMES // ORBITS, 13)[:-1].round().astype(int):
        place = orbit[frame]
        scene.line(np.stack((0.62 * place, 1.36 * place)), "muted", width=0.8, style=(0, (2, 2)))
        scene.body(motion.scenario.bodies[0], place, motion.rotation_matrix[frame], _face_colors)
    return scene.panel("one orbit, counterclockwise; dashed: vertical; not to scale", margin=0.02)


def _face_colors(centers: Array) -> list[str]:
    """The lowest unit in the color of axis 3, to tell up from down; the panels dark."""
    return ["muted" if abs(y) > 0.501 * WIDTH else "axis_3" if z < -LENGTH / 6 else "body" for _, y, z in centers]


def _phase_plane(motion: Motion, closed: Libration) -> Curves:
    """This libration, others, and the separatrix beyond which the satellite tumbles."""
    turn, n, w = np.linspace(0, 2 * pi, 241), closed.orbital_rate, closed.small_rate

    # sin p = sin a sin(u), p' = rate sin a cos(u)
    def orbit(largest: float, name: str, color: str, style: str, width: float) -> Line:
        pitch = np.degrees(np.arcsin(largest * np.sin(turn)))
        return Line(w / n * largest * np.cos(turn), name, color, style, pitch, width)

    rates = _pitch_rates(motion, closed) / n
    return Curves(
        "phase plane",
        "pitch rate / orbital rate",
        [
            *(orbit(a, "", "closed_form", "-", 0.9) for a in np.sin(np.radians((15, 30, 45, 60, 75)))),
            orbit(1.0, "separatrix", "separatrix", "--", 1.3),
            Line(rates, "this libration", "omega", x=np.degrees(_pitches(motion)), width=2.2),
        ],
        across="pitch (deg)",
        x=(-90.0, 90.0),
        x_ticks=(-90, -60, -30, 0, 30, 60, 90),
    )


def stage(amplitude: float, altitude: float, panels: float) -> Stage:
    """Seen from the frame that goes round with the satellite: the Earth below, and the satellite swings."""
    rate = _orbital_rate(altitude)
    # The camera looks down so far that the horizon is in the picture.
    horizon = degrees(acos(EARTH_RADIUS / (EARTH_RADIUS + 1e3 * altitude)))
    return Stage(
        camera=StageCamera(
            azimuth_deg=8.0, elevation_deg=min(75.0, max(10.0, horizon - 8.0)), target="body", up=(1.0, 0.0, 0.0)
        ),
        off=("omega", "L", "trailOmega", "trailCenter", "forces"),
        panels=("angular_velocity", "torque", "drift"),
        props=(Globe(EARTH_RADIUS, rate=SIDEREAL_RATE, label="Earth"), LocalVertical(label="toward the Earth")),
        floor=False,
        frame=ThirdFrame("orbit", (0.0, 0.0, rate), first=True),
        grabs=(Grab("attitude", knob="amplitude", component=1, scale=180 / pi),),
        shows="A satellite above the Earth swings about the vertical like a pendulum while it goes round.",
    )


MODEL = Model(
    name="cubesat",
    title="A CubeSat librates about the vertical while it orbits the Earth",
    theme="real bodies",
    source="gravity-gradient torque 3 G M/r^3 n x I n; inertia tensor: [Christian 2011, table 17.1]",
    explanation="""\
A 3U CubeSat, 0.1 x 0.1 x 0.34 m, flies upright in a circular orbit. Its lower end is pulled slightly
more strongly than its upper end, and this gravity gradient exerts a restoring torque. Tilted and
released, it librates in the orbital plane like a pendulum: 1.588 times per orbit if the amplitude is
small, more slowly if it is large, with a period given by a complete elliptic integral. The ratio does
not depend on mass or altitude, only on the shape. Beyond the separatrix the satellite tumbles.""",
    parameters=(
        Parameter("amplitude", "deg", 25.0, 0.1, 80.0, "initial pitch angle, released at rest"),
        Parameter("altitude", "km", 500.0, 200.0, 36_000.0, "altitude of the orbit"),
        Parameter("panels", "kg", 0.0, 0.0, 1.0, "mass of each of two solar panels, 0.2 x 0.3 m; 0 for none"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=stage,
    lesson=Lesson(
        formulas=(
            Formula(
                r"\boldsymbol{\tau} = \frac{3 G M}{r^3}\,\mathbf{n}\times I\mathbf{n}",
                "the gravity gradient; n points to the Earth's center",
            ),
            Formula(
                r"\omega_{\mathrm{lib}} = n\sqrt{3\,\frac{I_1 - I_3}{I_2}}",
                "small librations: 1.588 per orbit for this shape",
            ),
        ),
        steps=(
            TryThis("Released at 25 degrees, it swings about the vertical."),
            TryThis("One degree: the period of small angles.", values={"amplitude": 1.0}),
            TryThis("At 80 degrees it is close to tumbling, and slow.", values={"amplitude": 80.0}),
            TryThis("Far out, at 36,000 km: as many swings per orbit.", values={"altitude": 36000.0}),
        ),
        references=("Hughes 1986", "Wertz 1978"),
    ),
)
