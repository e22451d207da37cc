"""A box on a shaft that is not a principal axis: its angular momentum precesses, and the bearings exert a torque."""

from __future__ import annotations

from collections.abc import Mapping
from math import degrees, pi, radians

import numpy as np

from polhode.equations.scalar_ops import cos as cosine
from polhode.equations.scalar_ops import sin as sine
from polhode.gallery.closed_forms.tilted_box_on_axle import TiltedBox
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.pictures import Closed, Curves, DrawPanel, Line, components, panels, space
from polhode.gallery.plain_formulas import radians as plain_radians
from polhode.gallery.shared import rk4_settings
from polhode.massprops.shapes import box
from polhode.results.motion import Motion
from polhode.scenario.forces import torque
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.validation import Array
from polhode.web.props import AxisLine, Shaft
from polhode.web.stage import Stage, StageCamera

SIDES = (0.1, 0.4, 0.9)
MASS = 10.0
TURNS = 2
FRAMES = 240
STEPS_PER_FRAME = 10
HELD, FREE = "with the bearing torque", "without it"


def _make_axle(tilt: float, rate: float) -> TiltedBox:
    return TiltedBox(SIDES, MASS, radians(tilt), rate)


def scenario(tilt: float, rate: float) -> dict[str, Scenario]:
    """A free box with the bearing torque, and the same box without it."""
    duration = TURNS * 2 * pi / rate
    half = plain_radians(tilt) / 2
    start = State(quaternion_wxyz=(cosine(half), sine(half), 0.0, 0.0), angular_velocity=(0.0, 0.0, rate))
    _, b, c = SIDES
    bearing_torque = MASS * (rate * rate) * (b**2 - c**2) * sine(4 * half) / 24  # that of TiltedBox
    bearings = torque((bearing_torque, 0.0, 0.0), axes="body")
    return {
        name: Scenario(
            box(SIDES, MASS),
            start,
            forces,
            **rk4_settings(duration, FRAMES, STEPS_PER_FRAME),
            formulation="body_rates",
            name="fixed-axle",
        )
        for name, forces in ((HELD, [bearings]), (FREE, []))
    }


def numbers(motions: Mapping[str, Motion], tilt: float, rate: float) -> list[ReferenceCheck]:
    """The torque required by the rotating tensor, and its effect on a free box."""
    motion, axle = motions[HELD], _make_axle(tilt, rate)
    shaft = np.array((0.0, 0.0, rate))
    momenta = motion.inertia_world @ shaft
    asked = np.einsum("ti,ti->t", np.cross(shaft, momenta), motion.rotation_matrix[:, :, 0])
    size = axle.angular_momentum
    across = np.hypot(momenta[:, 0], momenta[:, 1])
    azimuth = np.unwrap(np.arctan2(momenta[:, 1], momenta[:, 0]))
    body_momenta = motion.angular_velocity_body * axle.moments
    return [
        check(
            "bearing torque along the rotating x axis",
            "N m",
            asked[-1],
            axle.torque,
            1e-10 * abs(axle.torque),
            "w x (R I R^T w) = m w^2 (b^2 - c^2) sin(2 tilt)/24",
        ),
        check(
            "|L| in world axes",
            "kg m2/s",
            np.linalg.norm(momenta[-1]),
            size,
            1e-10 * size,
            "w sqrt((I2 sin tilt)^2 + (I3 cos tilt)^2)",
        ),
        check(
            "|L| in body axes",
            "kg m2/s",
            np.linalg.norm(body_momenta[-1]),
            size,
            1e-10 * size,
            "the same: rotations preserve length [Christian 2011, exercise 17.11]",
        ),
        check(
            "angle between L and the shaft",
            "deg",
            np.degrees(np.arctan2(across[-1], momenta[-1, 2])),
            degrees(axle.angle_to_shaft),
            1e-10 * degrees(axle.angle_to_shaft),
            "tan = |I3 - I2| sin(tilt) cos(tilt)/(I2 sin^2 + I3 cos^2)",
        ),
        check(
            "precession rate of L about the shaft",
            "rad/s",
            (azimuth[-1] - azimuth[0]) / (motion.times[-1] - motion.times[0]),
            rate,
            1e-10 * rate,
            "rate of the shaft",
        ),
        check(
            "largest angle between ω and the shaft, free box with that torque",
            "rad",
            np.radians(_angle_to_shaft(motion)).max(),
            0.0,
            1e-10,
            "Euler's equations: I w' = N - w x I w = 0",
            size=1.0,
        ),
        check(
            "largest entry error of R I R^T in the motion",
            "kg m2",
            np.abs(motion.inertia_world - axle.inertia_at(motion.times)).max(),
            0.0,
            1e-10 * float(axle.moments.max()),
            "[Christian 2011, eq. 17.32] written out",
            size=axle.moments.max(),
        ),
    ]


@panels("AB;AC;AD", widths=(0.92, 1.0), heights=(1.15, 1, 1))
def picture(motions: Mapping[str, Motion], tilt: float, rate: float) -> list[DrawPanel]:
    """The box on its shaft with L and the torque, the rotating tensor, L over time, and w with and without bearings."""
    held, axle = motions[HELD], _make_axle(tilt, rate)
    entries = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "yz": (1, 2), "xz": (0, 2), "xy": (0, 1)}
    found, closed = held.inertia_world, axle.inertia_at(held.times)
    tensor = [
        Line(found[:, i, j], name, f"axis_{n % 3 + 1}", "-" if i == j else "--")
        for n, (name, (i, j)) in enumerate(entries.items())
    ]
    in_world = components(held.angular_momentum, "xyz")
    in_body = components(held.angular_velocity_body * axle.moments, ("body axes 1", "2", "3"), style="--", width=1.1)
    return [
        _box_on_shaft(held, axle),
        Curves(
            "R I Rᵀ",
            "kg m2",
            tensor,
            Closed(np.stack([closed[:, i, j] for i, j in entries.values()], axis=1)),
            held,
            across="",
        ),
        Curves("angular momentum", "kg m2/s", in_world + in_body, over=held, across=""),
        Curves(
            "angle of ω to shaft",
            "deg",
            [Line(np.maximum(_angle_to_shaft(motion), 1e-17), name) for name, motion in motions.items()],
            over=held,
            log="y",
            y=(1e-17, 1e3),
            most_ticks=6,
        ),
    ]


def _angle_to_shaft(motion: Motion) -> Array:
    """Angle of the angular velocity to the shaft, in deg."""
    w = motion.angular_velocity
    return np.asarray(np.degrees(np.arctan2(np.hypot(w[:, 0], w[:, 1]), w[:, 2])))


def _box_on_shaft(motion: Motion, axle: TiltedBox) -> DrawPanel:
    """The initial box, L and its circle, and the torque."""
    scene, reach, rotation = space(0.75, 0.28), 0.72, motion.rotation_matrix[0]
    momenta = 0.62 / axle.angular_momentum * (motion.inertia_world @ np.array((0.0, 0.0, axle.rate)))
    scene.line(np.outer(np.linspace(-reach, reach, 60), (0.0, 0.0, 1.0)), "muted", width=4.0)
    scene.body(box(SIDES, MASS), rotation=rotation)
    scene.line(momenta[: FRAMES // TURNS + 1], "L", width=1.2)
    scene.arrow((0, 0, 0), momenta[0], "L", "L", 2.6)
    scene.arrow((0, 0, reach), (0, 0, 0.2), "omega", "ω, along the shaft", 2.6)
    scene.arrow(momenta[0], 0.3 * np.sign(axle.torque) * rotation[:, 0], "torque", "torque", 2.6)
    for i, side in enumerate(SIDES):
        scene.arrow((0, 0, 0), (side / 2 + 0.14) * rotation[:, i], f"axis_{i + 1}", str(i + 1))
    angle = degrees(axle.angle_to_shaft)
    title = f"tilted by {degrees(axle.tilt):g}° about axis 1; L at {angle:.2f}° to the shaft"
    return scene.panel(title, margin=0.03)


def stage(tilt: float, rate: float, run: str = HELD) -> Stage:
    """The shaft in its bearings; without the torque, only the line where it was."""
    up, middle = (0.0, 0.0, 1.0), (0.0, 0.0, 0.0)
    shaft = Shaft(middle, up, 1.5, 0.025) if run == HELD else AxisLine(up, middle, 1.6, label="no shaft")
    return Stage(
        camera=StageCamera(-50.0, 14.0, radius=0.95),
        switches=("trailL",),
        off=("bodyAxes",),
        panels=("angular_momentum", "torque", "angular_velocity_world"),
        props=(shaft,),
        floor=False,
        shows="A box tilted on a shaft with two bearings; its angular momentum precesses about the shaft.",
    )


MODEL = Model(
    name="fixed-axle",
    title="A box tilted on its shaft: L precesses, and the bearings exert a torque",
    theme="forces and torques",
    source="[Christian 2011, section 17.4, figure 17.4, exercise 17.11]",
    explanation="""\
A box is tilted about its first axis and rotates steadily on a shaft along z. In world axes its inertia
tensor rotates with it (17.32), and L = I w points away from the shaft and precesses about it. A changing
L requires a torque w x L: the load on the bearings of an unbalanced wheel. This torque rotates with the
box, so it is constant in body axes. Applied to a free box, it keeps the angular velocity along a shaft
that is not there; without it, w leaves the shaft at once.""",
    parameters=(
        Parameter("tilt", "deg", 20.0, 5.0, 85.0, "tilt of the box relative to the shaft, about its first axis"),
        Parameter("rate", "rad/s", 5.0, 0.5, 30.0, "angular velocity of the shaft"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=stage,
    lesson=Lesson(
        formulas=(
            Formula(
                r"\boldsymbol{\tau} = \boldsymbol{\omega}\times\mathbf{L}",
                "the torque of the bearings, which turns with the box",
            ),
            Formula(
                r"\tau = \lvert I_3 - I_2\rvert\,\omega^2\sin\alpha\cos\alpha",
                "its size, for a box tilted by α about its first axis",
            ),
        ),
        steps=(
            TryThis("L is not along the shaft, and goes round it.", switches=("trailL",)),
            TryThis("At 45 degrees the bearings carry the largest torque.", values={"tilt": 45.0}),
            TryThis("Twice the rate: four times the torque.", values={"rate": 10.0}),
            TryThis("Take the bearings away: the angular velocity leaves the shaft at once.", run="without it"),
        ),
        references=("Christian 2011, section 17.4, exercise 17.11",),
    ),
)
