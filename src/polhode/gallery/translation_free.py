"""Two opposite forces at two points of a block: it rotates, and its center of mass stays at rest."""

from __future__ import annotations

from math import atan2, hypot, pi

import numpy as np

from polhode.equations.scalar_ops import sqrt
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.measurements import initial_rate, lever_arms, zero_crossings
from polhode.gallery.pictures import Closed, Curves, DrawPanel, Line, drawn, panels, space
from polhode.gallery.plain_formulas import quarter_period
from polhode.gallery.shared import rk4_settings
from polhode.massprops.shapes import box
from polhode.reference.pendulum import Pendulum
from polhode.results.motion import Motion
from polhode.scenario.forces import force_at
from polhode.scenario.scenario import Scenario
from polhode.validation import Array
from polhode.web.props import AxisLine, Ball, Polyline
from polhode.web.stage import Stage, StageCamera

SIDES = (6.0, 2.0, 4.0)
FIRST_POINT = (-3.0, 0.0, -2.0)
SWINGS = 1.06
FRAMES = 424
"""400 frames per oscillation, so that one lies at the far end."""
STEPS_PER_FRAME = 10


def _moment_about_y(mass: float) -> float:
    """Moment about y, M (x^2 + z^2)/12."""
    return mass * (SIDES[0] ** 2 + SIDES[2] ** 2) / 12


def _second_point(height: float) -> tuple[float, float, float]:
    return (3.0, 0.0, height)


def _pendulum(force: float, height: float, mass: float) -> Pendulum:
    """The torque at angle a is f (6 cos a + (2 + z) sin a): the line between the points swings about z."""
    across, along = 6.0, height + 2.0
    return Pendulum((force * hypot(across, along) / _moment_about_y(mass)) ** 0.5, pi / 2 + atan2(along, across))


def scenario(force: float, height: float, mass: float) -> Scenario:
    """The block from rest for one full oscillation.  [Baraff 1997, figure 9]"""
    across, along = 6.0, height + 2.0
    line = sqrt(across * across + along * along)
    # From rest at pi/2 + atan(along/across): m = sin^2 of half that angle, and 1 - m = (1 - along/line)/2 = cos^2.
    complement = across * across / (2 * line * (line + along))
    duration = SWINGS * 4 * quarter_period(complement) / sqrt(force * line / _moment_about_y(mass))
    return Scenario(
        box(SIDES, mass),
        forces=[force_at((0.0, 0.0, force), FIRST_POINT), force_at((0.0, 0.0, -force), _second_point(height))],
        **rk4_settings(duration, FRAMES, STEPS_PER_FRAME),
        name="translation-free",
    )


def _turn_angle(motion: Motion) -> Array:
    """Rotation angle about y, in rad."""
    turn = motion.rotation_matrix
    return np.unwrap(np.arctan2(turn[:, 0, 2], turn[:, 0, 0]))


def _first_rest(motion: Motion) -> float:
    """Time at which the rotation first stops."""
    return float(zero_crossings(motion, motion.angular_velocity[:, 1], lambda state: state.angular_velocity[1])[1])


def numbers(motion: Motion, force: float, height: float, mass: float) -> list[ReferenceCheck]:
    """Initial torque and angular acceleration, the first stop, and the fixed center of mass."""
    swing = _pendulum(force, height, mass)
    torque = initial_rate(motion.times, motion.angular_momentum)
    turning = float(initial_rate(motion.times, motion.angular_velocity[:, 1]))
    moved, free = float(np.abs(motion.position).max()), force * float(motion.times[-1]) ** 2 / (2 * mass)
    expected = 6 * force / _moment_about_y(mass)
    largest, widest = float(np.abs(_turn_angle(motion)).max()), 2 * swing.amplitude
    across = float(np.hypot(torque[0], torque[2]))
    return [
        check("initial torque about y", "N m", torque[1], 6 * force, 1e-9 * force, "(0, 6 f, 0)"),
        check("initial angular acceleration", "rad/s2", turning, expected, 1e-9 * expected, "12 * 6 f/(52 M)"),
        check("torque about x and z", "N m", across, 0.0, 1e-12 * force, "(0, 6 f, 0)", 6 * force),
        check("displacement of the center of mass", "m", moved, 0.0, 1e-12 * free, "F1 + F2 = 0", free),
        check(
            "time at which the rotation first stops",
            "s",
            _first_rest(motion),
            swing.period / 2,
            1e-10 * swing.period,
            "2 K(m)/w0",
        ),
        check("largest angle", "rad", largest, widest, 1e-10, "pi + 2 atan((2 + z)/6), on the other side"),
    ]


@panels("AB;AC;AD", size=(11.5, 7.2), widths=(1.25, 1))
def picture(motion: Motion, force: float, height: float, mass: float) -> list[DrawPanel]:
    """The rotating block, its angle with the pendulum's closed form, and the torque."""
    from polhode.plot.panels import draw_conserved_drift

    swing, t = _pendulum(force, height, mass), motion.times
    acting = [(f.arguments["com_to_point_body"], f.arguments["force"]) for f in motion.scenario.forces]
    torque = np.sum([np.cross(lever_arms(motion, point), vector) for point, vector in acting], axis=0)[:, 1]
    return [
        _swing(motion, height),
        Curves(
            "angle",
            "deg",
            Line(np.degrees(_turn_angle(motion)), "simulated", "omega"),
            Closed(np.degrees(swing.turned_at(t)), "pendulum, closed form"),
            motion,
            across="",
            marks=(swing.period / 2,),
        ),
        Curves(
            "torque about y",
            "N m",
            Line(torque, "simulated", "torque"),
            Closed(_moment_about_y(mass) * swing.small_rate**2 * np.sin(swing.angle_at(t))),
            motion,
            across="",
        ),
        drawn(draw_conserved_drift, motion),
    ]


def _swing(motion: Motion, height: float) -> DrawPanel:
    """Four instants of the first half oscillation, side by side."""
    scene, angles = space(0.35, 0.28), _turn_angle(motion)
    first, pushes = int(np.argmax(angles)), ((FIRST_POINT, 2.2, "F₁"), (_second_point(height), -2.2, "F₂"))
    for n, share in enumerate((0.0, 1 / 3, 2 / 3, 1.0)):
        k = int(np.argmin(np.abs(angles[: first + 1] - share * angles[first])))
        place, turn = np.array((10.5 * (n % 2), 0.0, -10.5 * (n // 2))), motion.rotation_matrix[k]
        scene.body(motion.scenario.bodies[0], place, turn, half=0)
        center = scene.toward(place + np.array((0.0, -SIDES[1] / 2, 0.0)), 20.0)
        for point, push, name in pushes:
            at = center + turn @ np.array(point)
            scene.line((center, at), "muted", width=1.0)
            scene.force(at, (0.0, 0.0, push), name)
        scene.dot(center, "ink", 4.0)
        words = f"{motion.times[k]:.3g} s, {np.degrees(angles[k]):.3g} deg"
        scene.text(place + np.array((0.0, 0.0, -4.9)), words)
    return scene.panel("rotation about y until it stops on the other side")


def stage(force: float, height: float, mass: float) -> Stage:
    """The two points, the line between them, which swings like a pendulum, and the axis."""
    points = (FIRST_POINT, _second_point(height))
    return Stage(
        camera=StageCamera(-75.0, 16.0, radius=6.0),
        off=("bodyAxes", "L", "trailOmega"),
        panels=("angular_velocity_world", "torque", "energy"),
        props=(
            *(Ball(point, 0.28, attached="body", color="impact") for point in points),
            Polyline(points, attached="body", color="impact"),
            AxisLine((0.0, 1.0, 0.0), (0.0, 0.0, 0.0), 7.0, label="axis"),
        ),
        floor=False,
        see_through=True,
        shows="Two opposite forces at two points of a block: it swings about its center, which stays at rest.",
    )


MODEL = Model(
    name="translation-free",
    title="Two opposite forces: the block rotates and its center of mass stays at rest",
    theme="forces and torques",
    source="[Baraff 1997, section 5.4, figure 9]; [Slides]",
    explanation="""\
The block of 6 x 2 x 4 m is pushed upwards at (-3, 0, -2) and downwards at (3, 0, 2), points that move with
it. The net force is zero, so the center of mass stays at rest; the initial torque is (0, 6 f, 0), also with
the second point at (3, 0, -2), and the angular acceleration is 6 f/208 at 48 kg. The lever arm changes as
the block rotates: the line between the two points swings like a pendulum about the direction of the
forces, comes to rest on the other side, and returns.""",
    parameters=(
        Parameter("force", "N", 2.0, 0.1, 1000.0, "f, each of the two forces"),
        Parameter("height", "m", 2.0, -2.0, 2.0, "z of the second point; the text prints both 2 and -2"),
        Parameter("mass", "kg", 48.0, 1.0, 1000.0, "mass of the block; 48 is a density of 1"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=stage,
    lesson=Lesson(
        formulas=(
            Formula(r"\mathbf{F}_1 + \mathbf{F}_2 = 0", "the center of mass stays at rest"),
            Formula(r"\ddot\theta = \frac{6 f}{I_2}", "at the start; I₂ is 208 kg m² for 48 kg"),
        ),
        steps=(
            TryThis("The block turns like a pendulum about the direction of the forces."),
            TryThis(
                "The second point at (3, 0, -2): the same torque at the start, another swing.", values={"height": -2.0}
            ),
            TryThis("Four times the force: everything happens twice as fast.", values={"force": 8.0}),
        ),
        references=("Baraff 1997, section 5.4",),
    ),
)
