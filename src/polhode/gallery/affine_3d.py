"""Two rotations in both orders: a prism ends in different attitudes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from polhode import affine, rotations
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.pictures import Closed, Curves, DrawPanel, Line, panels, space
from polhode.gallery.plain_formulas import radians
from polhode.gallery.rotation_sequence import isotropic_prism, prism_corners, sequence_scenario
from polhode.results.motion import Motion
from polhode.scenario.scenario import Scenario
from polhode.web.props import AxisLine, Polygon
from polhode.web.stage import Stage, StageCamera

SIDES = 6
RADIUS = 0.5
MASS = 2.0
X, Z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
SHIFT = np.array((0.0, 1.0, 0.0))
PALE_BLUE = "#8fc3e3"
EYE = (0.55, 0.42)
BESIDE = np.array((1.1, 0.75, 0.0))
"""Where the result of the other order is shown."""
ORDERS = ("x, then z", "z, then x")


def scenario(about_x: float, about_z: float) -> dict[str, Scenario]:
    """The same prism twice, one second per rotation: about x then z, and about z then x."""
    prism = isotropic_prism(SIDES, RADIUS, MASS)
    first, second = (X, radians(about_x)), (Z, radians(about_z))
    return {
        ORDERS[0]: sequence_scenario(prism, (first, second), "world", X, "affine-3d"),
        ORDERS[1]: sequence_scenario(prism, (second, first), "world", Z, "affine-3d-other-order"),
    }


def _final_angle_deg(about_x: float, about_z: float) -> float:
    """Angle between the two final attitudes, in deg, at most 180: sin(angle/4) = sin(a/2) sin(b/2)."""
    halves = np.sin(np.radians((about_x, about_z)) / 2)
    whole = float(np.degrees(4 * np.arcsin(halves[0] * halves[1])))
    return min(whole, 360.0 - whole)


def numbers(motions: Mapping[str, Motion], about_x: float, about_z: float) -> list[ReferenceCheck]:
    """Angle between the two results, and the final position of a corner by simulation and by matrices."""
    a, b = np.radians(about_x), np.radians(about_z)
    ends = [motion.final.quaternion_wxyz for motion in motions.values()]
    corners = prism_corners(SIDES, RADIUS)
    r_x, r_z, move = affine.rotation(a, axis=X), affine.rotation(b, axis=Z), affine.translation(SHIFT)
    product = affine.applied(affine.combined(r_x, r_z), affine.point(corners[-1]))
    corner = motions[ORDERS[0]].points(corners)[-1, -1]
    nearest = float(affine.projected(affine.point(motions[ORDERS[0]].points(corners)[-1]))[1].max())
    swapped = affine.combined(r_x, move) - affine.combined(move, r_x)
    twice = affine.combined(affine.translation((1, 2, 3)), move) - affine.combined(move, affine.translation((1, 2, 3)))
    rows = [
        (
            "angle between the two final attitudes",
            "deg",
            np.degrees(rotations.angle_between(*ends)),
            _final_angle_deg(about_x, about_z),
            180.0,
            "sin(angle/4) = sin(a/2) sin(b/2), axes at right angles",
        ),
        (
            "x of an upper corner, rotated about x, then z",
            "m",
            corner[0],
            product[0],
            RADIUS,
            "R_z R_x p [Christian 2011, eq. 17.9]",
        ),
        (
            "z of an upper corner, rotated about x, then z",
            "m",
            corner[2],
            product[2],
            RADIUS,
            "R_z R_x p [Christian 2011, eq. 17.9]",
        ),
        (
            "depth of the nearest corner, viewed along z",
            "m",
            nearest,
            _highest_corner(a),
            RADIUS,
            "h/2 abs(cos a) + r sin 60 deg sin a",
        ),
        (
            "commutator of a 1 m translation along y and the x rotation",
            "m",
            np.linalg.norm(swapped[:3, 3]),
            2 * np.sin(a / 2),
            1.0,
            "abs((1 - R) d) = 2 abs(d) sin(a/2)",
        ),
        ("commutator of two translations", "m", np.abs(twice).max(), 0.0, 1.0, "translations commute"),
    ]
    return [
        check(label, unit, found, expected, 4e-12 * size, source, size=size)
        for label, unit, found, expected, size, source in rows
    ]


def _highest_corner(a: float) -> float:
    """Height of the highest corner after a rotation about x by a, in m; a rotation about z does not change it."""
    half_height = float(prism_corners(SIDES, RADIUS)[-1, 2])
    return float(half_height * abs(np.cos(a)) + RADIUS * np.sin(np.pi / 3) * np.sin(a))


@panels("ABCD;EFGH;IIII", size=(12.0, 8.2), widths=(1.0, 1.0, 1.0, 1.15), heights=(1.0, 1.0, 0.72))
def picture(motions: Mapping[str, Motion], about_x: float, about_z: float) -> list[DrawPanel]:
    """Both orders step by step, the final prism with and without depth sorting, and the angle between them."""
    angles, found = {"x": about_x, "z": about_z}, list[DrawPanel]()
    for order, motion in motions.items():
        first, second = order[0], order[-1]
        titles = ("start", f"{angles[first]:g}° about {first}", f"then {angles[second]:g}° about {second}")
        found += [_prism_at(motion, float(k), title) for k, title in enumerate(titles)]
        found.append(_flat_prism(motions[ORDERS[0]], by_depth=order == ORDERS[0]))
    return [*found, _angle_between(motions, about_x, about_z)]


def _prism_at(motion: Motion, time: float, title: str) -> DrawPanel:
    """The prism at one time, its upper half colored, with its axes."""
    scene, turn = space(*EYE), motion.at(time).orientation.as_matrix()
    scene.body(motion.scenario.bodies[0], rotation=turn, half=2, half_color=PALE_BLUE)
    for i, reach in enumerate((RADIUS, RADIUS, float(prism_corners(SIDES, RADIUS)[-1, 2]))):
        name = "" if scene.hides((reach + 0.25) * turn[:, i]) else "123"[i]
        scene.arrow(reach * turn[:, i], 0.4 * turn[:, i], f"axis_{i + 1}", name)
    return scene.panel(title, x=(-1.0, 1.0), y=(-0.88, 1.0))


def _flat_prism(motion: Motion, by_depth: bool) -> DrawPanel:
    """The final prism (x, then z) as flat polygons, viewed along z.  [Christian 2011, exercise 17.3 b]"""
    from scipy.spatial.transform import Rotation

    from polhode.gallery.drawing import DepthLayers

    layers = DepthLayers()
    camera = affine.rotation(Rotation.from_matrix(np.stack(space(*EYE).camera)))
    corners = affine.applied(camera, affine.point(motion.points(prism_corners(SIDES, RADIUS))[-1]))[:, :3]
    for side in range(SIDES):
        other = (side + 1) % SIDES
        layers.polygon(corners[[side, other, SIDES + other, SIDES + side]], "body")
    layers.polygon(corners[SIDES:], "axis_3")
    layers.polygon(corners[:SIDES], "axis_1")
    return layers.panel("faces sorted by depth" if by_depth else "unsorted: misleading", by_depth)


def _angle_between(motions: Mapping[str, Motion], about_x: float, about_z: float) -> Curves:
    """The angle between the two prisms over time, on top of the quaternion product."""
    one, other = motions.values()
    t, a, b = one.times, np.radians(about_x), np.radians(about_z)
    found = np.degrees(rotations.angle_between(one.quaternion_wxyz, other.quaternion_wxyz))
    first, second = np.clip(t, 0.0, 1.0), np.clip(t - 1.0, 0.0, 1.0)
    ways = [
        rotations.product(rotations.quaternion(later, second * angle_2), rotations.quaternion(axis, first * angle_1))
        for axis, angle_1, later, angle_2 in ((X, a, Z, b), (Z, b, X, a))
    ]
    return Curves(
        "angle between the two prisms; at 1 s impulses change the spin of each",
        "deg",
        Line(found, f"simulated, finally {found[-1]:.5f}°", "ink"),
        Closed(np.degrees(rotations.angle_between(*ways))),
        over=one,
        marks=(1.0,),
        y=(0.0, 1.1 * float(found.max())),
    )


def stage(about_x: float, about_z: float, run: str = ORDERS[0]) -> Stage:
    """The two axes, and the prism as it ends after the rotations in the other order, beside."""
    other = (Z, about_z, X, about_x) if run == ORDERS[0] else (X, about_x, Z, about_z)
    first, second = (rotations.matrix(other[i], np.radians(other[i + 1])) for i in (0, 2))
    corners = prism_corners(SIDES, RADIUS) @ (second @ first).T + BESIDE
    name = ORDERS[1] if run == ORDERS[0] else ORDERS[0]
    faces = [corners[:SIDES], corners[SIDES:]]
    faces += [corners[[k, (k + 1) % SIDES, SIDES + (k + 1) % SIDES, SIDES + k]] for k in range(SIDES)]
    labels = [f"{name}: ends so"] + [""] * (len(faces) - 1)
    return Stage(
        camera=StageCamera(-55.0, 22.0, target=tuple(BESIDE / 2), radius=1.75),
        switches=("trailAxis1", "trailAxis3"),
        off=("L", "trailOmega", "torque"),
        panels=("quaternion", "angular_velocity_world"),
        props=(
            AxisLine(X, (0.0, 0.0, 0.0), 2.6, label="x"),
            AxisLine(Z, (0.0, 0.0, 0.0), 2.6, label="z"),
            *(Polygon(face, label=label, color="axis1") for face, label in zip(faces, labels, strict=True)),
        ),
        floor=False,
        shows="A prism makes two rotations; beside it stands where it ends if they are made in the other order.",
        moment=0.8,
    )


MODEL = Model(
    name="affine-3d",
    title="Two rotations in both orders give two different attitudes",
    theme="transformations and rotations",
    source="[Christian 2011, section 17.2, exercise 17.3]",
    explanation="""\
A prism rotates about the world x axis, then about the z axis; a second one makes the same rotations in
the other order. Matrices do not commute, and the final attitudes differ: by 120 degrees for two quarter
turns, by sin(angle/4) = sin(a/2) sin(b/2) in general. Two translations commute; a translation and a
rotation do not. The prism has three equal moments of inertia, so it spins steadily about any axis, and
a pair of impulses changes the axis halfway. In the drawing, far faces are painted before near ones.""",
    parameters=(
        Parameter("about_x", "deg", 90.0, 5.0, 170.0, "rotation angle about x"),
        Parameter("about_z", "deg", 90.0, 5.0, 170.0, "rotation angle about z"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=stage,
    lesson=Lesson(
        formulas=(
            Formula(
                r"\sin\frac{\gamma}{4} = \sin\frac{\alpha}{2}\sin\frac{\beta}{2}",
                "the angle between the two final attitudes, after rotations by the angles alpha and beta",
            ),
            Formula(r"R_x R_z \ne R_z R_x", "rotations about different axes do not commute"),
        ),
        steps=(
            TryThis("First about x, then about z.", run="x, then z"),
            TryThis("The same rotations in the other order: another attitude, 120 degrees away.", run="z, then x"),
            TryThis(
                "Small rotations almost commute: with 10 degrees each, the attitudes differ by 1.7 degrees.",
                values={"about_x": 10.0, "about_z": 10.0},
                run="z, then x",
            ),
        ),
        references=("Christian 2011, section 17.2, exercise 17.3",),
    ),
)
