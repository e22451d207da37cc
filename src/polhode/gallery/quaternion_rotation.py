"""The rotation that points a long box along a given direction, by quaternion; and non-unit quaternions."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np

from polhode import rotations
from polhode.equations.elementary import atan2
from polhode.equations.scalar_ops import sqrt
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.pictures import Closed, Color, Curves, DrawPanel, Line, components, panels, space
from polhode.gallery.rotation_sequence import steady_spin_scenario
from polhode.massprops.shapes import box
from polhode.results.motion import Motion
from polhode.scenario.scenario import Scenario
from polhode.validation import Array
from polhode.web.props import AxisLine, Polyline, StageArrow
from polhode.web.stage import Stage, StageCamera

SIDES = (2.0, 0.6, 0.6)
MASS = 2.0
LONG_AXIS = np.array((1.0, 0.0, 0.0))
ROUNDING = 4e-15
"""Rounding error of a component after some twenty operations of 1.1e-16 each."""


def _turn_to_target(target: tuple[float, float, float]) -> tuple[Array, Array, float]:
    """Quaternion from the x axis to the target, its axis, and its angle in rad."""
    q = rotations.turn_between(LONG_AXIS, target)
    return q, *rotations.axis_and_angle(q)


def scenario(target_x: float, target_y: float, target_z: float, last: float) -> Scenario:
    """A long box of square section spins about a transverse axis and points at the target after one second."""
    across = sqrt(target_y * target_y + target_z * target_z)
    rate = atan2(across, target_x) / across  # about the normal of both, (0, -z, y)
    return steady_spin_scenario(box(SIDES, mass=MASS), (0.0, -rate * target_z, rate * target_y), "quaternion-rotation")


def numbers(motion: Motion, target_x: float, target_y: float, target_z: float, last: float) -> list[ReferenceCheck]:
    """Rotation angle and quaternion, agreement of the formulas, and the effect of a non-unit q."""
    target = (target_x, target_y, target_z)
    q, axis, angle = _turn_to_target(target)
    length = float(np.linalg.norm(target))
    across, s = float(np.hypot(target_y, target_z)), np.sqrt((1 - target_x / length) / 2)
    found = motion.final.quaternion_wxyz
    ways = [
        rotations.rodrigues(LONG_AXIS, axis, angle),
        rotations.matrix(axis, angle) @ LONG_AXIS,
        rotations.sandwiched(q, LONG_AXIS),
    ]
    ways.append(_matrix_by_scipy(q))
    stretched = rotations.sandwiched((1.0, 0.0, 0.0, last), LONG_AXIS)
    half = "(cos(a/2), sin(a/2) (0, -z, y)/sqrt(y^2 + z^2)), cos a = x/length"
    rows = [
        (
            "rotation angle",
            "deg",
            np.degrees(rotations.axis_and_angle(found)[1]),
            np.degrees(np.arctan2(across, target_x)),
            180.0,
            "atan2(sqrt(y^2 + z^2), x)",
        ),
        ("q0", "1", found[0], np.sqrt((1 + target_x / length) / 2), 1.0, half),
        ("q1", "1", found[1], 0.0, 1.0, half),
        ("q2", "1", found[2], -s * target_z / across, 1.0, half),
        ("q3", "1", found[3], s * target_y / across, 1.0, half),
        ("x of q e_x q* for q = (1, 0, 0, last)", "1", stretched[0], 1 - last**2, 1 + last**2, "1 - last^2"),
        ("y of q e_x q* for q = (1, 0, 0, last)", "1", stretched[1], 2 * last, 1 + last**2, "2 last"),
    ]
    checks = [
        check(label, unit, value, expected, 2e-12 * float(size), source, size)
        for label, unit, value, expected, size, source in rows
    ]
    spread = float(np.ptp(ways, axis=0).max())
    return [
        *checks,
        check("spread of (17.16), (17.17), q v q* and SciPy", "1", spread, 0.0, ROUNDING, "the same rotation", 1.0),
    ]


def _matrix_by_scipy(q: Array) -> Array:
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_quat(q, scalar_first=True).apply(LONG_AXIS))


@panels("AB;CD", size=(12.0, 7.8), heights=(1.2, 1.0))
def picture(motion: Motion, target_x: float, target_y: float, target_z: float, last: float) -> list[DrawPanel]:
    """The box before and after, its quaternion over time, non-unit quaternions, and small angles."""
    target = (target_x, target_y, target_z)
    _, axis, angle = _turn_to_target(target)
    names, colors = ("q₀", "q₁", "q₂", "q₃"), ("ink", "axis_1", "axis_2", "axis_3")
    return [
        _box_and_target(motion, target),
        Curves(
            "the quaternion",
            "component",
            components(motion.quaternion_wxyz, names, colors),
            Closed(rotations.quaternion(axis, angle * motion.times), "(17.25)"),
            motion,
        ),
        _lengths(last),
        _small_angles(),
    ]


def _box_and_target(motion: Motion, target: tuple[float, float, float]) -> DrawPanel:
    from polhode.gallery.drawing import choose_clearest_camera

    _, axis, angle = _turn_to_target(target)
    direction, tip = np.array(target) / np.linalg.norm(target), SIDES[0] / 2 * LONG_AXIS
    scene = space(camera=choose_clearest_camera((LONG_AXIS, direction, axis)))
    corners = np.array(list(product((-0.5, 0.5), repeat=3))) * SIDES
    for a, b in combinations(corners, 2):
        if np.count_nonzero(a != b) == 1:  # an edge of the box as it was
            scene.line([a, b], "muted", width=1.0, style=(0, (3, 2)))
    scene.frames(motion, [-1], half=0, half_color="#f0b48a")
    closed = rotations.rodrigues(1.6 * tip, axis, np.linspace(0, angle, 80))
    scene.line(closed, "closed_form", "q v q*", width=4.5)
    scene.line(scene.toward(1.6 * motion.points(tip), 0.1), "omega", "simulated")
    scene.arrow(tip, 0.9 * LONG_AXIS, "muted", "x")
    scene.arrow(direction, 0.9 * direction, "axis_1", f"({target[0]:.3g}, {target[1]:.3g}, {target[2]:.3g})")
    scene.arrow((0, 0, 0), 1.3 * axis, "omega", "axis")
    title = f"from the x axis to the target: {np.degrees(angle):.6f}°"
    return scene.panel(title, legend=(0.0, -0.14), anchor="W")


def _lengths(last: float) -> Curves:
    """Image of the tip of e_x under q = (1, 0, 0, k), by three rules.  [Christian 2011, exercise 17.9 c]"""
    k = np.linspace(-1.0, 1.0, 201) * max(2.0, abs(last))
    many, here = (np.stack((1 + 0 * x, 0 * x, 0 * x, x), axis=-1) for x in (k, np.array([last])))

    def image(q: Array, rule: str) -> Array:
        if rule.startswith("(17.28)"):
            return np.array([rotations.skewed_matrix(one) @ LONG_AXIS for one in q])
        unit = q / np.linalg.norm(q, axis=-1, keepdims=True)
        return rotations.sandwiched(unit if rule.startswith("q/") else q, LONG_AXIS)

    rules: dict[str, Color] = {"q v q*: rotated and scaled": 0, "(17.28): distorted": 1, "q/|q|: a rotation": "ink"}
    curves = [Line(image(many, rule)[:, 1], rule, color, x=image(many, rule)[:, 0]) for rule, color in rules.items()]
    dots = [Line(image(here, rule)[:, 1], "", color, "o", image(here, rule)[:, 0]) for rule, color in rules.items()]
    is_far = abs(last) > 1.2
    return Curves(
        f"non-unit q = (1, 0, 0, k); dots: k = {last:g}",
        "y",
        [*curves, *dots, Line([0.0], "v = (1, 0)", "muted", "s", [1.0])],
        across="x",
        x=(-2.2 * last**2, 2.4 * last**2) if is_far else (-3.6, 5.6),
        y=(-1.3 * last**2, 1.3 * last**2) if is_far else (-2.6, 2.6),
        equal="box",
        legend="center right",
    )


def _small_angles() -> Curves:
    """(17.27a) by acos and by atan2, for small rotations about z."""
    angles, eps = np.geomspace(1e-10, 1.0, 161), float(np.finfo(float).eps)
    q = rotations.quaternion((0, 0, 1), angles)
    ways = {
        "2 acos q₀, as printed": 2 * np.arccos(q[:, 0]),
        "2 atan2(|q|, q₀)": np.array([rotations.axis_and_angle(one)[1] for one in q]),
    }
    off = {name: np.maximum(np.abs(found / angles - 1), 2e-17) for name, found in ways.items()}
    return Curves(
        "error of the recovered angle, (17.27)",
        "relative",
        [Line(values, name, 1 - n, ".", angles, size=4) for n, (name, values) in enumerate(off.items())],
        Closed(eps / angles**2, "rounding/angle²", angles),
        across="angle (rad)",
        log="xy",
        x_ticks=(1e-10, 1e-8, 1e-6, 1e-4, 0.01, 1.0),
        y=(1e-17, 1e2),
        legend="upper right",
    )


def stage(target_x: float, target_y: float, target_z: float, last: float) -> Stage:
    """The target, the axis of the rotation, and the arc along which the long side goes."""
    target = np.array((target_x, target_y, target_z))
    _, axis, angle = _turn_to_target((target_x, target_y, target_z))
    arc = [rotations.rodrigues(1.6 * LONG_AXIS, axis, share * angle) for share in np.linspace(0.0, 1.0, 49)]
    return Stage(
        camera=StageCamera(-35.0, 26.0, radius=2.3),
        switches=(),
        off=("omega", "L", "trailOmega", "bodyAxes"),
        panels=("quaternion", "angular_velocity_world"),
        props=(
            StageArrow((0.0, 0.0, 0.0), 2.0 * target / np.linalg.norm(target), label="target", color="axis1"),
            StageArrow((1.0, 0.0, 0.0), (0.75, 0.0, 0.0), label="long side", attached="body", color="axis3"),
            AxisLine(axis, (0.0, 0.0, 0.0), 3.6, label="axis of rotation", color="ink"),
            Polyline(arc, dashed=True, color="axis3"),
        ),
        shows="A long box turns about an axis that is normal to its side and to the target until it points at it.",
        moment=0.6,
    )


MODEL = Model(
    name="quaternion-rotation",
    title="A quaternion points a box in a given direction",
    theme="transformations and rotations",
    source="[Christian 2011, section 17.3.3, exercises 17.8 to 17.10, eqs. 17.25 to 17.28]",
    explanation="""\
Which rotation points the long side of a box, along x, at a target? The axis is normal to both, the angle
lies between them, and q = (cos a/2, r sin a/2). Four formulas agree to the last digit, and a box spinning
about that axis arrives there. With a quaternion of another norm, q v q* rotates and scales by the square
of the norm, and the matrix (17.28) distorts; a zero quaternion is rejected. The angle is recovered with
atan2: acos loses half the digits of small angles, and finally all of them.""",
    parameters=(
        Parameter("target_x", "1", 1.0, -3.0, 3.0, "x of the target direction, any length"),
        Parameter("target_y", "1", 2.0, -3.0, 3.0, "y of the target direction"),
        Parameter("target_z", "1", 1.0, 0.1, 3.0, "z of the target direction"),
        Parameter("last", "1", 1.0, -3.0, 3.0, "k of a non-unit quaternion (1, 0, 0, k)"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=stage,
    lesson=Lesson(
        formulas=(
            Formula(
                r"q = \left(\cos\frac{\alpha}{2},\ \mathbf{r}\sin\frac{\alpha}{2}\right)",
                "the quaternion of a rotation by α about the unit vector r",
            ),
            Formula(r"\mathbf{v}' = q\,\mathbf{v}\,q^*", "it rotates a vector"),
            Formula(
                r"\alpha = 2\arctan\frac{\lvert\mathbf{q}\rvert}{q_0}", "and gives the angle without losing digits"
            ),
        ),
        steps=(
            TryThis("The shortest rotation points the long side at (1, 2, 1)."),
            TryThis(
                "Straight up: a quarter turn about the y axis.",
                values={"target_x": 0.0, "target_y": 0.0, "target_z": 1.0},
            ),
            TryThis(
                "A target almost behind: nearly half a turn, 178 degrees.",
                values={"target_x": -3.0, "target_y": 0.0, "target_z": 0.1},
            ),
        ),
        references=("Christian 2011, section 17.3.3",),
    ),
)
