"""Force versus torque: the same force gives a block more energy when it acts off center."""

from __future__ import annotations

from collections.abc import Mapping
from math import pi

import numpy as np

from polhode.equations.scalar_ops import sqrt
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.measurements import zero_crossings
from polhode.gallery.pictures import Closed, Curves, DrawPanel, Line, Note, energies, panels, space
from polhode.gallery.plain_formulas import quarter_period
from polhode.massprops.shapes import box
from polhode.reference.pendulum import Pendulum
from polhode.results.motion import Motion
from polhode.scenario.forces import force_at
from polhode.scenario.scenario import Scenario
from polhode.validation import Array
from polhode.web.props import Ball, Polygon, Text
from polhode.web.stage import Stage, StageCamera

SIDES = (4.0, 1.0, 1.0)
OFF_CENTER, AT_CENTER, UNTIL_REST = "off the center", "at the center", "off the center, until it stops to turn"
FRAMES, PAST_REST = 400, 1.02
"""Outputs, and how much longer the last run is than until the rotation stops."""
LEAST = 1000
"""Minimum number of steps per period of small oscillations."""


def _pendulum(force: float, arm: float, mass: float) -> Pendulum:
    moment = mass * (SIDES[0] ** 2 + SIDES[2] ** 2) / 12
    return Pendulum((force * arm / moment) ** 0.5, pi / 2)


def scenario(force: float, arm: float, mass: float, duration: float) -> dict[str, Scenario]:
    """The long block from rest, pushed along z off center and at its center; and off center until it stops to turn."""
    rate = sqrt(force * arm / (mass * (SIDES[0] ** 2 + SIDES[2] ** 2) / 12))
    stop = 2 * quarter_period(0.5) / rate
    runs = {OFF_CENTER: (arm, duration), AT_CENTER: (0.0, duration), UNTIL_REST: (arm, PAST_REST * stop)}
    return {
        name: Scenario(
            box(SIDES, mass),
            forces=[force_at((0.0, 0.0, force), (at, 0.0, 0.0))],
            duration=FRAMES * frame,
            step=frame / -(-(frame * LEAST * rate / (2 * pi)) // 1),
            output_times=[k * frame for k in range(FRAMES + 1)],
            method="rk4",
            name=f"force-vs-torque, {name}",
        )
        for name, at, frame in ((name, at, lasts / FRAMES) for name, (at, lasts) in runs.items())
    }


def _turn_angle(motion: Motion) -> Array:
    """Rotation angle about -y, in rad."""
    turn = motion.rotation_matrix
    return np.unwrap(np.arctan2(turn[:, 2, 0], turn[:, 0, 0]))


def _point_speed(t: Array, force: float, arm: float, mass: float) -> Array:
    """Speed of the point of application in closed form."""
    swing = _pendulum(force, arm, mass)
    angle, rate = swing.turned_at(t), -swing.rate_at(t)
    return np.hypot(arm * rate * np.sin(angle), force * t / mass + arm * rate * np.cos(angle))


def _path_length(force: float, arm: float, mass: float, duration: float) -> float:
    """Path length of that point, by 4-point Gauss quadrature on 2000 intervals."""
    nodes, weights = np.polynomial.legendre.leggauss(4)
    part = duration / 2000
    t = part * (np.arange(2000)[:, None] + (nodes + 1) / 2)
    return float((_point_speed(t, force, arm, mass) @ weights).sum() * part / 2)


def numbers(
    motions: Mapping[str, Motion], force: float, arm: float, mass: float, duration: float
) -> list[ReferenceCheck]:
    """Energies, work and angle after the given time, and the time at which the rotation stops."""
    motion, swing = motions[OFF_CENTER], _pendulum(force, arm, mass)
    along, angle = (force * duration) ** 2 / (2 * mass), float(swing.turned_at(duration))
    extra, most = force * arm * float(np.sin(angle)), force * arm
    later = motions[UNTIL_REST]
    rest = zero_crossings(later, later.angular_velocity[:, 1], lambda state: state.angular_velocity[1])[1]
    at_rest = float(later.at(swing.period / 2).angular_velocity[1]) ** 2 / 2 * most / swing.small_rate**2
    speeds = np.linalg.norm(motion.point_velocities((arm, 0.0, 0.0)), axis=1)
    path = float(speeds[0] + speeds[-1] + 4 * speeds[1:-1:2].sum() + 2 * speeds[2:-1:2].sum()) * duration / (3 * FRAMES)
    length = _path_length(force, arm, mass, duration)
    return [
        check(
            "extra energy",
            "J",
            motion.rotational_energy[-1],
            extra,
            1e-9 * most,
            "F . (R r - r) = F d sin(angle)",
            most,
        ),
        check(
            "work of the off-center force",
            "J",
            np.asarray(motion.work)[-1],
            along + extra,
            1e-9 * along,
            "F . (displacement of the point of application)",
        ),
        *(
            check(
                f"translational energy, pushed {name}",
                "J",
                m.translational_energy[-1],
                along,
                1e-11 * along,
                "(F t)^2/(2 M), independent of the point",
            )
            for name, m in ((name, motions[name]) for name in (OFF_CENTER, AT_CENTER))
        ),
        check(
            "rotation angle", "rad", _turn_angle(motion)[-1], angle, 1e-9, "pendulum released at 90 degrees, cd(w0 t)"
        ),
        check(
            "time at which the rotation first stops",
            "s",
            rest,
            swing.period / 2,
            1e-10 * swing.period,
            "2 K(1/2)/w0, w0^2 = F d/I",
        ),
        check(
            "extra energy at that time",
            "J",
            at_rest,
            0.0,
            1e-12 * most,
            "the point has risen as far as the center",
            most,
        ),
        check(
            "path length of the point of application",
            "m",
            path,
            length,
            1e-5 * length,
            "integral of its speed; not the displacement that does work",
        ),
    ]


@panels("AB;AC", size=(12.0, 7.4), widths=(1, 1.25))
def picture(motions: Mapping[str, Motion], force: float, arm: float, mass: float, duration: float) -> list[DrawPanel]:
    """Both blocks in motion, the path of the point of application, and the energies."""
    swing, most = _pendulum(force, arm, mass), force * arm
    motion = max((motions[OFF_CENTER], motions[UNTIL_REST]), key=lambda one: float(one.times[-1]))
    along, extra = (force * motion.times) ** 2 / (2 * mass), most * np.sin(swing.turned_at(motion.times))
    return [
        _blocks(motions, arm),
        Curves(
            "energy, off center",
            "J",
            [Line(np.asarray(motion.work), "work", "total"), *energies(motion, "translational")],
            Closed(np.stack((along, along + extra), axis=1)),
            motion,
            across="",
        ),
        Curves(
            f"extra energy: zero again at {swing.period / 2:.6g} s",
            "J",
            Line(motion.rotational_energy, "rotational energy", "rotational"),
            Closed(extra, "F·(R r - r)"),
            motion,
            marks=(swing.period / 2,),
            levels=(most,),
            notes=[Note((0.005, 1.01 * most), "maximum F d", "width", color="muted")],
            y=(-0.04 * most, 1.15 * most),
        ),
    ]


def _blocks(motions: Mapping[str, Motion], arm: float) -> DrawPanel:
    """Both blocks side by side at the same instants; heights scaled down to fit."""
    scene, last = space(0.25, 0.22), len(motions[OFF_CENTER].times) - 1
    rise = float(motions[OFF_CENTER].position[last, 2])
    shrunk = min(1.0, 14.0 / rise)
    shares = (0.0, 0.35, 0.55, 0.7, 0.85, 1.0) if rise * shrunk > 7 else (0.0, 0.6, 1.0)
    for name, x, aside in ((AT_CENTER, 0.0, np.zeros(3)), (OFF_CENTER, arm, np.array((7.5, 0.0, 0.0)))):
        motion = motions[name]
        places, turns = motion.position * np.array((1.0, 1.0, shrunk)) + aside, motion.rotation_matrix
        acts = scene.toward(places + turns @ np.array((x, 0.0, 0.0)), 50.0)
        for n, share in enumerate(shares):
            k = int(share * last)
            scene.body(motion.scenario.bodies[0], scene.toward(places[k], 6.0 * n), turns[k], half=0)
            scene.force(scene.toward(acts[k], 10.0), (0.0, 0.0, 1.6), "F" if k == 0 else "", "ink")
            if name == AT_CENTER:
                scene.text(places[k] - np.array((2.3, 0.0, 0.0)), f"{motion.times[k]:.3g} s", offset=(-4.0, 0.0))
        scene.line(acts, "path", width=2.2)
        scene.text(aside - np.array((0.0, 0.0, 2.9)), f"pushed {name}")
    scale = "" if shrunk == 1 else f"; heights 1 : {1 / shrunk:.3g}"
    return scene.panel(f"lines: paths of the point of application{scale}", margin=0.02)


def stage(force: float, arm: float, mass: float, duration: float, run: str = OFF_CENTER) -> Stage:
    """The point at which the force acts, and where it was at the start."""
    at = (0.0 if run == AT_CENTER else arm, 0.0, 0.0)
    half = np.array(SIDES) / 2
    outline = [(sx * half[0], -half[1], sz * half[2]) for sx, sz in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    return Stage(
        camera=StageCamera(-80.0, 12.0),
        switches=("trailCenter", "trailPoint"),
        off=("L", "trailOmega", "bodyAxes", "torque"),
        point=at,
        panels=("energy", "position", "angular_velocity_world"),
        props=(
            Ball(at, 0.16, attached="body", color="impact"),
            Polygon(outline, label="start", faded=True, color="muted"),
            Text(at, label="force acts here", attached="body", until=0.15 * duration, color="impact"),
        ),
        shows="A long block is pushed at one end: it rises and swings, while its center moves on a straight line.",
    )


MODEL = Model(
    name="force-vs-torque",
    title="An off-center force does more work: its point of application moves farther along it",
    theme="forces and torques",
    source="[Baraff 1997, section 5.5, figures 10 to 12]; [Slides]",
    explanation="""\
A long block at rest is pushed for 10 s, once at its center of mass and once at its end. Both centers of
mass move identically, yet the second block also rotates: the same force gives it more energy. The work
is F times the displacement of the point of application along F, not along its path. A force of fixed
direction swings the block like a pendulum about that direction, so the extra energy F . (R r - r) is at
most F d, and returns to zero each time the rotation stops.""",
    parameters=(
        Parameter("force", "N", 1.0, 0.1, 10.0, "F, along z throughout"),
        Parameter(
            "arm", "m", 2.0, 0.25, 2.0, "d, from the center to the point of application, along the block of 4 x 1 x 1 m"
        ),
        Parameter("mass", "kg", 4.0, 0.5, 40.0, "mass of the block"),
        Parameter("duration", "s", 10.0, 1.0, 30.0, "time after which energy and work are evaluated"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=stage,
    lesson=Lesson(
        formulas=(
            Formula(
                r"W = \mathbf{F}\cdot\Delta\mathbf{r}_P", "work: force times displacement of its point of application"
            ),
            Formula(
                r"E_{\mathrm{rot}} = \mathbf{F}\cdot(R\,\mathbf{r} - \mathbf{r}) \le F d",
                "the extra energy goes into the rotation, and comes back",
            ),
        ),
        steps=(
            TryThis(
                "Pushed at its end, the block swings about the direction of the force while its center moves as "
                "before.",
                run="off the center",
            ),
            TryThis("Pushed at its center, it only moves.", run="at the center"),
            TryThis(
                "A short arm: it swings more slowly, and takes less extra energy.",
                values={"arm": 0.25},
                run="off the center",
            ),
        ),
        references=("Baraff 1997, section 5.5",),
    ),
)
