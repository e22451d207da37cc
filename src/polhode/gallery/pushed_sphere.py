"""A sphere is pushed off center, and Euler's method takes two steps: the exercise of [Slides]."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from polhode.equations.scalar_ops import cos as cosine
from polhode.equations.scalar_ops import sin as sine
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.pictures import Closed, Curves, DrawPanel, Line, Note, panels, space
from polhode.gallery.plain_formulas import radians as plain_radians
from polhode.massprops.shapes import sphere
from polhode.results.motion import Motion
from polhode.scenario.forces import STANDARD_GRAVITY, gravity, thruster
from polhode.scenario.scenario import Scenario
from polhode.validation import Array
from polhode.web.props import PointsCloud, StageArrow
from polhode.web.stage import Stage, StageCamera

STEPS = 12
HALVINGS = 4


def _push_force(push: float, angle: float) -> Array:
    return np.array((push * cosine(plain_radians(angle)), push * sine(plain_radians(angle)), 0.0))


def _turn_per_step(push: float, angle: float, step: float) -> float:
    """omega h in every step after the first: (5/2) F_y h^2 clockwise, from L = p x F h and I = 2/5."""
    return 5 / 2 * float(_push_force(push, angle)[1]) * step**2


def scenario(step: float, push: float, angle: float, g: float) -> dict[str, Scenario]:
    """Twelve Euler steps with the push during the first and gravity along -y; then two steps each at halved sizes."""
    runs = {"the exercise": (step, STEPS)} | {f"step / {2**n}": (step / 2**n, 2) for n in range(1, HALVINGS + 1)}
    return {
        name: Scenario(
            sphere(1.0, mass=1.0),
            forces=[
                gravity((0.0, -g, 0.0)),
                thruster((-1.0, 0.0, 0.0), _push_force(push, angle), push, start=0.0, stop=h),
            ],
            duration=count * h,
            step=h,
            output_times=np.arange(count + 1) * h,
            method="euler",
            formulation="momentum_matrix",
            name=f"pushed-sphere, {name}",
        )
        for name, (h, count) in runs.items()
    }


def numbers(motions: Mapping[str, Motion], step: float, push: float, angle: float, g: float) -> list[ReferenceCheck]:
    """Position and matrix after two steps, and the deviation of the matrix from a rotation."""
    motion = motions["the exercise"]
    place, matrix = motion.position[2], motion.rotation_matrix[2]
    expected = step**2 * (_push_force(push, angle) - np.array((0.0, g, 0.0)))
    size, turn = step**2 * (push + g), _turn_per_step(push, angle, step)
    swelling = float(np.linalg.det(matrix)) - 1
    deviations = [float(np.abs(m.T @ m - np.eye(3)).max()) for m in (m.rotation_matrix[2] for m in motions.values())]
    order = float(np.log2(deviations[0] / deviations[1]))
    off = float(np.abs(matrix - np.array(((1, turn, 0), (-turn, 1, 0), (0, 0, 1)))).max())
    return [
        check("x after two steps", "m", place[0], expected[0], 1e-14 * size, "h^2 F cos(angle)", size),
        check("y after two steps", "m", place[1], expected[1], 1e-14 * size, "h^2 (F sin(angle) - g)", size),
        check("R₁₂ after two steps", "1", matrix[0, 1], turn, 1e-14 * turn, "(5/2) F sin(angle) h^2"),
        check("R₂₁ after two steps", "1", matrix[1, 0], -turn, 1e-14 * turn, "-(5/2) F sin(angle) h^2"),
        check("largest entry error of R", "1", off, 0.0, 1e-15, "R = 1 + h omega*", turn),
        check("det R - 1 after two steps", "1", swelling, turn**2, 2e-15, "((5/2) F sin(angle) h^2)^2"),
        check("power of h in |RᵀR - 1|", "1", order, 4.0, 1e-3, "omega h grows as h^2, |R^T R - 1| as its square"),
    ]


@panels("AB;CD", size=(11.5, 7.6), widths=(1, 1.3))
def picture(motions: Mapping[str, Motion], step: float, push: float, angle: float, g: float) -> list[DrawPanel]:
    """The push, the path of the center, the image of the x axis under R, and its deviation from a rotation."""
    motion = motions["the exercise"]
    sizes = np.array([m.scenario.needed_step for m in motions.values()])
    off = [float(np.abs(r.T @ r - np.eye(3)).max()) for r in (m.rotation_matrix[2] for m in motions.values())]
    return [
        _sphere_and_push(push, angle, g),
        _center_path(motion, step, _push_force(push, angle), g),
        _tangents(motion),
        Curves(
            "loss of orthogonality |RᵀR - 1|",
            "largest entry after two steps",
            Line(off, "simulated", "omega", "-o", sizes),
            Closed((_turn_per_step(push, angle, 1.0) * sizes**2) ** 2, "(5/2 F sin a)² h⁴", sizes),
            across="step h (s)",
            log="xy",
            x_ticks=sizes.tolist(),
            legend="upper left",
        ),
    ]


def _sphere_and_push(push: float, angle: float, g: float) -> DrawPanel:
    """The sphere, the push at (-1, 0, 0), and the weight of 1 kg, both arrows to the same scale."""
    from polhode.plot.projection import make_camera

    scene, scale = space(camera=make_camera((1, 0, 0), (0, 1, 0), 0.18, 0.25)), min(0.3, 2.4 / max(push, g))
    scene.body(sphere(1.0, mass=1.0), half=0, segments=32)
    point = scene.toward((-1.0, 0.0, 0.0), 3.0)
    scene.force(point, scale * _push_force(push, angle), f"F = {push:.3g} N")
    scene.text((-1.0, 0.0, 0.0), "p", offset=(7.0, 5.0))
    if g > 0:
        scene.arrow(scene.toward((0.0, 0.0, 0.0), 3.0), (0.0, -scale * g, 0.0), "weight", f"m g = {g:.3g} N")
    for i, name in enumerate("xy"):
        scene.arrow(1.05 * np.eye(3)[i], 0.55 * np.eye(3)[i], f"axis_{i + 1}", name)
    return scene.panel(f"push at {angle:.3g}° to x, during the first step")


def _center_path(motion: Motion, step: float, push: Array, g: float) -> Curves:
    """The center in Euler steps, with the exact motion."""
    t, (x, y, _) = np.linspace(0.0, float(motion.times[-1]), 200), motion.position.T
    pushed = np.where(t < step, t**2 / 2, step * (t - step / 2))
    return Curves(
        f"center: x₂ = ({x[2]:.4g}, {y[2]:.4g}, 0) m",
        "y (m)",
        [
            Line(y, "Euler", "translational", "-o", x, size=4),
            Line([y[2]], "", "ink", "o", [x[2]], size=9, look={"markerfacecolor": "none"}),
        ],
        Closed(pushed * push[1] - g * t**2 / 2, "exact motion", pushed * push[0]),
        across="x (m)",
    )


def _tangents(motion: Motion) -> Curves:
    """Image of the body's x axis under R: along tangents of the unit circle, and therefore off it."""
    around, tips = np.linspace(0, 2 * np.pi, 721), motion.rotation_matrix[1:, :2, 0]
    middle, half = (tips.max(axis=0) + tips.min(axis=0)) / 2, 0.62 * float(np.ptp(tips, axis=0).max())
    outward = tips + 0.12 * half * tips / np.hypot(*tips.T)[:, None]
    return Curves(
        f"tip of R eₓ, {STEPS} steps: length {np.hypot(*tips[-1]):.5g}",
        "y (m)",
        Line(tips[:, 1], "", "axis_1", "-o", tips[:, 0], size=4),
        Closed(np.sin(around), "unit circle", np.cos(around)),
        across="x (m)",
        x=(middle[0] - half, middle[0] + half),
        y=(middle[1] - half, middle[1] + half),
        notes=[Note(outward[n - 1], f"{n}", align=("center", "center")) for n in (1, 2, STEPS)],
        equal="box",
        legend="upper left",
    )


def stage(step: float, push: float, angle: float, g: float) -> Stage:
    """The push during the first step, and the center after every step of Euler's method."""
    force, pull = _push_force(push, angle), np.array((0.0, -g, 0.0))
    place, velocity, centers = np.zeros(3), np.zeros(3), [np.zeros(3)]
    for k in range(STEPS):
        place, velocity = place + step * velocity, velocity + step * (pull + (force if k == 0 else 0.0))
        centers.append(place)
    arrow = 1.2 * force / np.linalg.norm(force)
    return Stage(
        camera=StageCamera(-90.0, 14.0, zoom=0.85, up=(0.0, 1.0, 0.0)),
        off=("L", "forces", "trailOmega", "bodyAxes"),
        panels=("position", "velocity", "drift"),
        props=(
            StageArrow((-1.0, 0.0, 0.0) - arrow, arrow, label="push", color="impact", until=1.5 * step),
            PointsCloud(centers, step * np.arange(STEPS + 1), 7.0, color="ink"),
        ),
        floor=False,
        shows="A sphere is pushed off center, falls and spins; dots mark its center after each step.",
    )


MODEL = Model(
    name="pushed-sphere",
    title="A sphere is pushed off center: two steps of Euler's method by hand and by machine",
    theme="forces and torques",
    source="[Slides, last exercise]",
    explanation="""\
A sphere of 1 kg and radius 1 m rests at the origin. During the first time step a force F pushes it at
p = (-1, 0, 0), and gravity acts along -y. After Euler's second step the center is at
h^2 (4 cos 30, 2 - g, 0), and the matrix is R = 1 + h omega*, with 5 h^2 and -5 h^2 off its diagonal.
This is not a rotation: its determinant is 1 + 25 h^4. Each step moves along the tangent and leaves the
rotation group outwards, so the sphere grows; halving the step divides the error after two steps by 16.""",
    parameters=(
        Parameter("step", "s", 0.1, 0.005, 0.2, "h, the time step"),
        Parameter("push", "N", 4.0, 1.0, 8.0, "F, during the first step only"),
        Parameter("angle", "deg", 30.0, 5.0, 85.0, "direction of the push, from x toward y"),
        Parameter("g", "m/s2", STANDARD_GRAVITY, 0.0, 25.0, "gravity, along -y"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=stage,
    lesson=Lesson(
        formulas=(
            Formula(r"R_{k+1} = R_k + h\,\omega^* R_k", "Euler's step for the rotation matrix"),
            Formula(r"\det R = 1 + 25 h^4", "after two steps: no rotation any more"),
        ),
        steps=(
            TryThis("Two steps by hand, and ten more by machine.", run="the exercise"),
            TryThis(
                "A step of 0.2 s: the determinant is 1.04, and the sphere has grown by 4 percent.",
                values={"step": 0.2},
                run="the exercise",
            ),
            TryThis("Without gravity only the push remains.", values={"g": 0.0}, run="the exercise"),
        ),
        references=("Slides",),
    ),
)
