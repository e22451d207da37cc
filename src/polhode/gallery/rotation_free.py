"""Two equal forces at two points of a block: it translates without rotating."""

from __future__ import annotations

import numpy as np

from polhode.equations.scalar_ops import sqrt
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.measurements import lever_arms
from polhode.gallery.pictures import Closed, Curves, DrawPanel, Line, panels, space
from polhode.gallery.shared import rk4_settings
from polhode.massprops.shapes import box
from polhode.results.motion import Motion
from polhode.scenario.forces import force_at
from polhode.scenario.scenario import Scenario
from polhode.web.props import Ball, Polygon, StageArrow
from polhode.web.stage import Stage, StageCamera

SIDES = (6.0, 2.0, 4.0)
RISE = 8.0
FRAMES = 200
STEPS_PER_FRAME = 5


def _force_points(arm: float) -> tuple[tuple[float, float, float], ...]:
    return (-arm, 0.0, -SIDES[2] / 2), (arm, 0.0, -SIDES[2] / 2)


def scenario(force: float, mass: float, arm: float) -> Scenario:
    """The block from rest until it has risen by 8 m.  [Baraff 1997, figure 8]"""
    duration = sqrt(RISE * mass / force)
    return Scenario(
        box(SIDES, mass),
        forces=[force_at((0.0, 0.0, force), point) for point in _force_points(arm)],
        **rk4_settings(duration, FRAMES, STEPS_PER_FRAME),
        name="rotation-free",
    )


def numbers(motion: Motion, force: float, mass: float, arm: float) -> list[ReferenceCheck]:
    """The acceleration, and the absence of torque and rotation."""
    end = float(motion.times[-1])
    acceleration = 2 * force / mass
    work = mass * (acceleration * end) ** 2 / 2
    torque = float(np.linalg.norm(motion.angular_momentum[-1])) / end
    turned = 2 * float(np.linalg.norm(motion.quaternion_wxyz[-1, 1:]))
    rise = float(motion.velocity[-1, 2]) / end
    one = arm * force
    return [
        check("acceleration", "m/s2", rise, acceleration, 1e-12 * acceleration, "2 F/M"),
        check("total torque", "N m", torque, 0.0, 1e-13 * one, "((-a,0,-h) + (a,0,-h)) x (0,0,F) = 0", one),
        check("rotation angle", "rad", turned, 0.0, 1e-13, "no torque, no rotation", 1.0),
        check("total work", "J", np.asarray(motion.work)[-1], work, 1e-12 * work, "M v^2/2, v = 2 F t/M"),
    ]


@panels("AB;AC", size=(11.0, 6.4), widths=(1, 1.35))
def picture(motion: Motion, force: float, mass: float, arm: float) -> list[DrawPanel]:
    """The rising block, its height with the closed form, and the torques of both forces, which cancel."""
    each = [np.cross(lever_arms(motion, point), (0.0, 0.0, force))[:, 1] for point in _force_points(arm)]
    torques = [*map(Line, each, ("left force", "right force")), Line(sum(each), "sum", "ink", width=2.2)]
    return [
        _rising(motion, arm),
        Curves(
            f"height: a = {2 * force / mass:.6g} m/s2",
            "m",
            Line(motion.position[:, 2], "simulated", "translational"),
            Closed(force / mass * motion.times**2, "closed form F t²/M"),
            motion,
        ),
        Curves("torque about y", "N m", torques, over=motion, y=(-1.3 * arm * force, 1.3 * arm * force)),
    ]


def _rising(motion: Motion, arm: float) -> DrawPanel:
    """The block at the start and in the end, with the two forces on it."""
    scene, frames = space(0.45, -0.22), (0, FRAMES)
    scene.frames(motion, frames)
    center = scene.toward(motion.points((0.0, -1.0, 0.0)), 20.0)
    for k in frames:
        for point in _force_points(arm):
            scene.force(motion.points(point)[k], (0.0, 0.0, 2.2), "F" if k == 0 else "")
        scene.dot(center[k], "ink")
        scene.text(motion.points((-1.6, -1.0, 0.0))[k], f"t = {motion.times[k]:.3g} s")
    scene.line(center, "translational", style=(0, (4, 3)), width=1.2)
    return scene.panel("the same force F at two points", margin=0.02)


def stage(force: float, mass: float, arm: float) -> Stage:
    """The two points at which the forces act, and where the block was."""
    points = _force_points(arm)
    half = np.array(SIDES) / 2
    outline = [(sx * half[0], -half[1], sz * half[2]) for sx, sz in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    return Stage(
        camera=StageCamera(-75.0, 12.0),
        off=("bodyAxes",),
        panels=("position", "velocity", "energy"),
        props=(
            *(Ball(point, 0.3, attached="body", color="impact") for point in points),
            Polygon(outline, label="start", faded=True, color="muted"),
            StageArrow((0.0, 0.0, 0.0), (0.0, 0.0, 3.0), attached="body", color="axis3", label="sum, at the center"),
        ),
        shows="Two equal forces push a block upward on its left and on its right: it rises without turning.",
    )


MODEL = Model(
    name="rotation-free",
    title="Two equal forces, one on each side: the block translates without rotating",
    theme="forces and torques",
    source="[Baraff 1997, section 5.3, figure 8]; [Slides]",
    explanation="""\
A block of 6 x 2 x 4 m is pushed upwards at two points of its underside, equally far to the left and right
of the center of mass. Each force alone would rotate the block; together their torques are
((-3,0,-2) + (3,0,-2)) x (0,0,F) = (0,0,-4) x (0,0,F) = 0 (the text obtains (0,0,-2) for the sum, and the
product is 0 all the same). The block rises with a = 2 F/M as if both forces acted at its center of mass,
and all of their work becomes translational energy.""",
    parameters=(
        Parameter("force", "N", 3.0, 0.1, 1000.0, "F, each of the two upward forces"),
        Parameter("mass", "kg", 48.0, 1.0, 1000.0, "mass of the block; 48 is a density of 1"),
        Parameter("arm", "m", 3.0, 0.2, 3.0, "distance of each force from the center"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=stage,
    lesson=Lesson(
        formulas=(
            Formula(r"\sum_i\mathbf{r}_i\times\mathbf{F}_i = 0", "the torques of the two forces cancel"),
            Formula(r"a = \frac{2F}{M}", "the block rises as if both acted at its center of mass"),
        ),
        steps=(
            TryThis("Two forces, one on each side: it rises 8 m without turning."),
            TryThis("Four times the force: the same 8 m in half the time.", values={"force": 12.0}),
            TryThis("Close to the center or far from it: the motion is the same.", values={"arm": 0.2}),
        ),
        references=("Baraff 1997, section 5.3",),
    ),
)
