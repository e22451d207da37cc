"""Rodrigues' formula: a vector rotated about any axis, by four formulas and by a spinning ball."""

from __future__ import annotations

import numpy as np

from polhode import rotations
from polhode.equations.scalar_ops import sqrt
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.pictures import Closed, Curves, DrawPanel, Line, components, panels, space
from polhode.gallery.plain_formulas import radians
from polhode.gallery.rotation_sequence import steady_spin_scenario
from polhode.massprops.shapes import sphere
from polhode.results.motion import Motion
from polhode.scenario.scenario import Scenario
from polhode.validation import Array
from polhode.web.props import AxisLine, Polyline, StageArrow
from polhode.web.stage import Stage, StageCamera

VECTOR = np.array((0.0, 3.0, 0.0))
RADIUS = 3.0
MASS = 1.0
ROUNDING = 4e-15
"""Rounding error of a component after some twenty operations of 1.1e-16 each, relative to the vector."""


def scenario(axis_x: float, axis_y: float, axis_z: float, angle: float) -> Scenario:
    """A ball, whose moments are equal, spins about the axis by the angle in one second."""
    length = sqrt(axis_x * axis_x + axis_y * axis_y + axis_z * axis_z)
    rates = tuple(radians(angle) * component / length for component in (axis_x, axis_y, axis_z))
    return steady_spin_scenario(sphere(RADIUS, mass=MASS), rates, "rodrigues")


def numbers(motion: Motion, axis_x: float, axis_y: float, axis_z: float, angle: float) -> list[ReferenceCheck]:
    """Image of the vector under the spinning ball, and agreement of the other formulas with (17.16)."""
    axis, a = (axis_x, axis_y, axis_z), np.radians(angle)
    formula = rotations.rodrigues(VECTOR, axis, a)
    simulated = motion.points(VECTOR)[-1]
    others = {
        "(17.17)": rotations.matrix(axis, a) @ VECTOR,
        "q v q*": rotations.sandwiched(rotations.quaternion(axis, a), VECTOR),
        "SciPy": _matrix_by_scipy(axis, a),
    }
    size = float(np.linalg.norm(VECTOR))
    rows = [
        check(f"{name} of the rotated vector", "m", found, value, 1e-12 * size, "[Christian 2011, eq. 17.16]", size)
        for name, found, value in zip("xyz", simulated, formula, strict=True)
    ]
    rows += [
        check(f"{name} minus (17.16)", "m", np.abs(v - formula).max(), 0.0, ROUNDING * size, "the same rotation", size)
        for name, v in others.items()
    ]
    found_axis, found_angle = rotations.axis_and_angle(motion.final.orientation)
    cosine = float(np.array(axis)[0] / np.linalg.norm(axis))
    return [
        *rows,
        check("recovered angle", "deg", np.degrees(found_angle), angle, 2e-10, "2 atan2(abs(q), q0)"),
        check("recovered direction cosine with x", "1", found_axis[0], cosine, 1e-12 / np.sin(a / 2), "r_x", 1.0),
    ]


def _matrix_by_scipy(axis: tuple[float, float, float], angle: float) -> Array:
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_rotvec(angle * np.array(axis) / np.linalg.norm(axis)).apply(VECTOR))


@panels("AB;CD", size=(12.0, 7.6), widths=(1.0, 1.05), heights=(1.25, 1.0))
def picture(motion: Motion, axis_x: float, axis_y: float, axis_z: float, angle: float) -> list[DrawPanel]:
    """The vector's parts along and normal to the axis, the direction cosines, the components, and the differences."""
    axis = np.array((axis_x, axis_y, axis_z)) / np.linalg.norm((axis_x, axis_y, axis_z))
    angles, found = np.radians(angle) * motion.times, motion.points(VECTOR)
    formula = rotations.rodrigues(VECTOR, axis, angles)
    ways = {
        "simulated": found,
        "matrix (17.17)": rotations.matrix(axis, angles) @ VECTOR,
        "q v q*": rotations.sandwiched(rotations.quaternion(axis, angles), VECTOR),
    }
    off = {name: np.abs(way - formula).max(axis=1) / np.linalg.norm(VECTOR) for name, way in ways.items()}
    return [
        _parts(motion, axis, angle),
        _cosines(motion, axis, angle),
        Curves("components of the vector", "m", components(found, "xyz"), Closed(formula, "(17.16)"), motion),
        Curves(
            "difference from (17.16), and rounding",
            "relative to v",
            [Line(values, name, None, ".", np.degrees(angles), size=4) for name, values in off.items()],
            across="angle (deg)",
            log="y",
            y=(1e-17, 1e-12),
            levels=(float(np.finfo(float).eps),),
            legend="upper left",
        ),
    ]


def _parts(motion: Motion, axis: Array, angle: float) -> DrawPanel:
    """v, its parts, w normal to both, and the path of its tip.  [Christian 2011, figure 17.2]"""
    from polhode.plot.projection import make_camera

    middle = rotations.rodrigues(VECTOR, axis, np.radians(angle) / 2)
    scene = space(camera=make_camera(np.cross(axis, middle), axis, -0.3, 0.38))
    along, w, turned = (VECTOR @ axis) * axis, np.cross(axis, VECTOR), motion.points(VECTOR)[-1]
    across = VECTOR - along
    scene.line(along + rotations.rodrigues(across, axis, np.linspace(0, 2 * np.pi, 145)), "#bbbbbb", width=1.0)
    closed = rotations.rodrigues(VECTOR, axis, np.radians(np.linspace(0, angle, 80)))
    scene.line(closed, "closed_form", "closed form", width=4.5)
    scene.line(scene.toward(motion.points(VECTOR), 1 / 8), "omega", "path of the tip, simulated")
    height, width = float(VECTOR @ axis), float(np.linalg.norm(across))
    scene.arrow((0, 0, 0), max(1.35 * abs(height), 1.6, height + 0.4 * width + 0.4) * axis, "muted", "r", width=1.2)
    sides = ((8.0, -8.0), (8.0, 6.0)) if angle < 20 else ((-7.0, -4.0), (7.0, -4.0))
    for tip, color, name, side in zip((VECTOR, turned), ("ink", "omega"), ("v", "v'"), sides, strict=True):
        scene.arrow((0, 0, 0), tip, color)
        scene.text(tip, name, color, side)
    scene.arrow((0, 0, 0), along, "axis_3")
    scene.arrow(along, across, "axis_2")
    scene.text(along / 4, "v∥", "axis_3", (6.0, 4.0))
    scene.text(along + 0.45 * across, "v⊥", "axis_2", (float(np.copysign(7.0, across @ scene.camera.right)), 4.0))
    scene.arrow(along, w, "axis_1", "w")
    scene.line([along, turned], "muted", style=(0, (3, 2)), width=1.1)
    title = f"parts along and normal to the axis r, angle {angle:g}°"
    return scene.panel(title, legend=(0.0, -0.17), anchor="W")


def _cosines(motion: Motion, axis: Array, angle: float) -> DrawPanel:
    """The axis, its direction cosines, and the body axes before and after.  [Christian 2011, figure 17.3]"""
    from polhode.gallery.drawing import choose_clearest_camera

    turn, unit = motion.rotation_matrix[-1], np.eye(3)
    scene = space(camera=choose_clearest_camera((*unit, *turn.T, axis)))
    scene.world_axes(1.25)
    scene.triad((0, 0, 0), 1.0, turn)
    for i, color in enumerate(("#e7b08c", "#8fd0ba", "#8fbbd9")):
        scene.line(rotations.rodrigues(unit[i], axis, np.radians(np.linspace(0, angle, 60))), color, width=1.2)
    scene.arrow((0, 0, 0), 1.45 * axis, "omega", "axis")
    corner = [np.zeros(3), axis[0] * unit[0], axis * (1, 1, 0), axis]
    scene.line(corner, "muted", style=(0, (2, 2)), width=1.0)
    return scene.panel(f"direction cosines ({', '.join(f'{u:.3f}' for u in axis)})", anchor="W")


def stage(axis_x: float, axis_y: float, axis_z: float, angle: float) -> Stage:
    """A ball of glass with the axis, the vector before and after, its two parts, and the circle of its tip."""
    axis = np.array((axis_x, axis_y, axis_z)) / np.linalg.norm((axis_x, axis_y, axis_z))
    along, center = (VECTOR @ axis) * axis, (0.0, 0.0, 0.0)
    end = rotations.rodrigues(VECTOR, axis, np.radians(angle))
    circle = [rotations.rodrigues(VECTOR, axis, turn) for turn in np.linspace(0.0, 2 * np.pi, 97)]
    return Stage(
        camera=StageCamera(-30.0, 24.0, radius=1.6 * RADIUS),
        off=("omega", "L", "trailOmega", "bodyAxes"),
        panels=("quaternion", "angular_velocity_world"),
        props=(
            AxisLine(axis, center, 3.0 * RADIUS, label="axis r", color="ink"),
            StageArrow(center, VECTOR, label="v", color="muted"),
            StageArrow(center, end, label="rotated", color="axis1"),
            StageArrow(center, VECTOR, label="carried", attached="body", color="axis3"),
            StageArrow(center, along, label="along r", color="axis2"),
            Polyline([along, VECTOR], dashed=True, color="axis2"),
            Polyline([along, end], dashed=True, color="axis2"),
            Polyline(circle, color="path"),
        ),
        shows="A vector in a glass ball turns about an axis; its tip moves on a circle, its part along the axis stays.",
        see_through=True,
        moment=0.6,
    )


MODEL = Model(
    name="rodrigues",
    title="Rodrigues' formula: only the part normal to the axis rotates",
    theme="transformations and rotations",
    source="[Christian 2011, section 17.3.2, exercises 17.5 and 17.6, figures 17.2 and 17.3]",
    explanation="""\
A vector is rotated about an axis r. Its part along the axis is unchanged; the part normal to it rotates in
its plane, spanned together with w = r x v. The sum is Rodrigues' formula, and in components it is the
matrix (17.17). The quaternion q = (cos a/2, r sin a/2) gives the same by q v q*. A ball that spins steadily
about the axis carries the vector to the same point. The components of r are its direction cosines. The
inverse matrix is the one for the opposite angle.""",
    parameters=(
        Parameter("axis_x", "1", 1.0, -3.0, 3.0, "x of the axis, any length"),
        Parameter("axis_y", "1", 2.0, -3.0, 3.0, "y of the axis"),
        Parameter("axis_z", "1", 2.0, 0.1, 3.0, "z of the axis"),
        Parameter("angle", "deg", 60.0, 1.0, 179.0, "rotation angle"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=stage,
    lesson=Lesson(
        formulas=(
            Formula(
                (
                    r"\mathbf{v}' = \mathbf{v}\cos\alpha + \mathbf{r}\times\mathbf{v}\,\sin\alpha + "
                    r"\mathbf{r}\,(\mathbf{r}\cdot\mathbf{v})(1 - \cos\alpha)"
                ),
                "a vector rotated by α about the unit vector r",
            ),
        ),
        steps=(
            TryThis("Sixty degrees about (1, 2, 2)."),
            TryThis(
                "A third of a turn about (1, 1, 1) exchanges the axes: x goes to y, y to z, z to x.",
                values={"axis_x": 1.0, "axis_y": 1.0, "axis_z": 1.0, "angle": 120.0},
            ),
            TryThis(
                "A quarter turn about z alone.", values={"axis_x": 0.0, "axis_y": 0.0, "axis_z": 1.0, "angle": 90.0}
            ),
        ),
        references=("Christian 2011, section 17.3.2",),
    ),
)
