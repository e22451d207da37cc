"""The inertia tensor of a block in three ways: by formula, by integration over its mesh, and from its rotation."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from polhode.equations.scalar_ops import larger
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.pictures import Closed, Curves, DrawPanel, Line, Note, panels, space
from polhode.massprops.body import Body
from polhode.massprops.shapes import box
from polhode.results.motion import Motion
from polhode.scenario.forces import impulse
from polhode.scenario.scenario import Scenario
from polhode.validation import Array
from polhode.web.props import AxisLine, Polyline, StageArrow
from polhode.web.stage import Stage

TENSOR_ENTRIES = ("I_xx", "I_yy", "I_zz")
ROTATIONS = ("about x", "about y", "about z")
LARGEST_ANGLE = 2.5
"""Largest rotation angle, in rad: less than pi, so that the attitude determines it."""
FRAMES = 100


def _moments(sides: Array, density: float) -> Array:
    """M (y0^2 + z0^2)/12 and so on.  [Baraff 1997, eq. 5-1]"""
    squares = sides**2
    return np.asarray(density * float(sides.prod()) / 12 * (squares.sum() - squares))


def _make_impulse(sides: Any, axis: int) -> tuple[tuple[float, ...], tuple[Any, ...]]:
    """1 N s along axis + 2, at the center of the face normal to axis + 1: L is half that side times 1 N s."""
    along = tuple(float(i == (axis + 2) % 3) for i in range(3))
    return along, tuple(sides[i] / 2 if i == (axis + 1) % 3 else 0.0 for i in range(3))


def scenario(x: float, y: float, z: float, density: float) -> dict[str, Scenario]:
    """The block at rest, given an impulse that makes it rotate about each axis in turn."""
    mass, squares, sides = density * x * y * z, (x * x, y * y, z * z), (x, y, z)
    moments = [mass * (squares[(i + 1) % 3] + squares[(i + 2) % 3]) / 12 for i in range(3)]
    rates = [sides[(i + 1) % 3] / 2 / moment for i, moment in enumerate(moments)]
    duration = LARGEST_ANGLE / larger(larger(rates[0], rates[1]), rates[2])
    plans = {}
    for axis, name in enumerate(ROTATIONS):
        along, at = _make_impulse(sides, axis)
        plans[name] = Scenario(
            box(sides, density=density),
            forces=[impulse(along, 0.0, at)],
            duration=duration,
            step=duration / (4 * FRAMES),
            output_step=duration / FRAMES,
            method="rk4",
            name=f"block-inertia, {name}",
        )
    return plans


def _turn_angles(motion: Motion, axis: int) -> Array:
    """Rotation angle about an axis, in rad, from the attitude."""
    return 2 * np.arctan2(motion.quaternion_wxyz[:, axis + 1], motion.quaternion_wxyz[:, 0])


def _moments_from_mesh(sides: Array, density: float) -> Array:
    return Body.from_mesh(box(sides, density=density).mesh(), density=density).inertia_body


def _moments_from_turning(motions: Mapping[str, Motion], sides: Array) -> list[float]:
    """L t/angle for each run."""
    arms = np.roll(sides, -1) / 2
    return [
        float(arms[axis] * motion.times[-1] / _turn_angles(motion, axis)[-1])
        for axis, motion in enumerate(motions.values())
    ]


def numbers(motions: Mapping[str, Motion], x: float, y: float, z: float, density: float) -> list[ReferenceCheck]:
    """The three moments from the mesh, and from angle = L t/I after an impulse."""
    sides = np.array((x, y, z))
    expected, tensor = _moments(sides, density), _moments_from_mesh(sides, density)
    largest = float(expected.max())
    products = float(np.abs(tensor - np.diag(tensor.diagonal())).max())
    formulas = ("M (y0^2 + z0^2)/12", "M (x0^2 + z0^2)/12", "M (x0^2 + y0^2)/12")
    checks = [
        check(f"{entry} integrated over the mesh", "kg m2", found, value, 1e-12 * value, formula)
        for entry, found, value, formula in zip(
            TENSOR_ENTRIES, tensor.diagonal().tolist(), expected.tolist(), formulas, strict=True
        )
    ]
    for axis, (name, found) in enumerate(zip(motions, _moments_from_turning(motions, sides), strict=True)):
        value = float(expected[axis])
        checks.append(
            check(f"{TENSOR_ENTRIES[axis]} from rotation {name}", "kg m2", found, value, 1e-11 * value, formulas[axis])
        )
    source = "integral of rho x y over a centered block; [Baraff 1997, eq. 5-2] lacks a sign, which has no effect"
    return [*checks, check("products of inertia", "kg m2", products, 0.0, 1e-13 * largest, source, largest)]


@panels("AB;AB;AC;DC", size=(11.5, 7.0), widths=(1, 1.15), heights=(0.5, 0.5, 0.6, 0.4))
def picture(motions: Mapping[str, Motion], x: float, y: float, z: float, density: float) -> list[DrawPanel]:
    """The block with its axes and sides, the angles after three impulses, and the convergence of point-mass sums."""
    sides = np.array((x, y, z))
    turning = list(motions.values())
    slopes = [m.times / moment for m, moment in zip(turning, _moments(sides, density), strict=True)]
    lines = [
        Line(_turn_angles(motion, i) / (sides[(i + 1) % 3] / 2), name, f"axis_{i + 1}")
        for i, (name, motion) in enumerate(motions.items())
    ]
    return [
        _block(sides, density),
        Curves("rotation angle per N m s", "rad/(N m s)", lines, Closed(np.stack(slopes, axis=1), "t/I"), turning[0]),
        _point_mass_sums(sides, density),
        _three_ways(motions, sides, density),
    ]


def _block(sides: Array, density: float) -> DrawPanel:
    """The block with the names and lengths of its sides.  [Baraff 1997, figure 7]"""
    scene = space(0.55, 0.35)
    scene.body(box(sides, density=density), alpha=0.45)
    half, reach = sides / 2, float(sides.max())
    middles = ((0.0, -half[1], -half[2]), (half[0], 0.0, -half[2]), (-half[0], -half[1], 0.0))
    aside = ((-6.0, -9.0), (8.0, -6.0), (-8.0, 0.0))
    for i, (name, middle, offset) in enumerate(zip("xyz", middles, aside, strict=True)):
        tip = (half[i] + 0.28 * reach) * np.eye(3)[i]
        scene.arrow(scene.toward(np.zeros(3), 2 * reach), tip, f"axis_{i + 1}", name)
        scene.text(middle, f"{name}₀ = {sides[i]:.3g} m", f"axis_{i + 1}", offset)
    scene.dot(scene.toward(np.zeros(3), 3 * reach), "ink")
    return scene.panel(f"the block, {density * sides.prod():.4g} kg, about its center of mass", margin=0.12)


def _three_ways(motions: Mapping[str, Motion], sides: Array, density: float) -> Curves:
    """The moments from each of the three methods, one row per axis."""
    mesh, turning = _moments_from_mesh(sides, density).diagonal(), _moments_from_turning(motions, sides)
    columns = zip(TENSOR_ENTRIES, _moments(sides, density), mesh, turning, strict=True)
    rows = [
        ("kg m2", "by formula", "from mesh", "from rotation"),
        *((n, *map("{:.6g}".format, m)) for n, *m in columns),
    ]
    notes = [
        Note((x, 0.9 - 0.26 * i), text, "panel", ("left" if x == 0 else "right", "center"), color, 10.0)
        for i, (row, color) in enumerate(zip(rows, ("muted", "axis_1", "axis_2", "axis_3"), strict=True))
        for x, text in zip((0.0, 0.36, 0.68, 1.0), row, strict=True)
    ]
    return Curves("", "", notes=notes, also=lambda axes: axes.axis("off"))


def _point_mass_sums(sides: Array, density: float) -> Curves:
    """n^3 equal point masses at cell centers: their sum is smaller than the integral by a fraction 1/n^2."""
    counts, exact = np.array((1, 2, 4, 8, 16, 32)), _moments(sides, density)
    short = []
    for n in counts:
        middles = ((np.arange(n) + 0.5) / n - 0.5)[:, None] * sides
        squares = density * float(sides.prod()) * (middles**2).mean(axis=0)
        short.append((exact - (squares.sum() - squares)) / exact)
    marks = enumerate(zip(TENSOR_ENTRIES, np.transpose(short), "osD", strict=True))
    return Curves(
        "error of n³ point masses",
        "relative to I",
        [Line(y, entry, f"axis_{i + 1}", f"-{mark}", counts, size=7 - 2 * i) for i, (entry, y, mark) in marks],
        Closed(1.0 / counts**2, "1/n²", counts),
        across="n, cells along each side",
        log="xy",
        x_ticks=counts.tolist(),
    )


def stage(x: float, y: float, z: float, density: float, run: str = ROTATIONS[0]) -> Stage:
    """The axis of the rotation, and the impulse that starts it."""
    sides, axis = np.array((x, y, z)), ROTATIONS.index(run) if run in ROTATIONS else 0
    along, at = map(np.array, _make_impulse(sides, axis))
    size = 0.45 * float(np.linalg.norm(sides))
    corners = np.array(list(product((-0.5, 0.5), repeat=3))) * sides
    outline = corners[[0, 1, 3, 2, 0, 4, 5, 1, 5, 7, 3, 7, 6, 2, 6, 4]]
    return Stage(
        off=("trailOmega", "L", "bodyAxes"),
        panels=("angular_velocity", "angular_momentum", "quaternion"),
        props=(
            AxisLine(np.eye(3)[axis], (0.0, 0.0, 0.0), 1.6 * float(np.linalg.norm(sides)), label="xyz"[axis]),
            StageArrow(at - size * along, size * along, label="impulse", color="impact"),
            Polyline(outline, color="muted"),
        ),
        floor=False,
        shows="A block at rest is struck off center and turns about one of its axes.",
    )


MODEL = Model(
    name="block-inertia",
    title="The inertia tensor of a block: by formula, from its mesh, and from its rotation",
    theme="forces and torques",
    source="[Baraff 1997, section 5.1, figure 7]; [Hydra 2017, chapter 5]; [Slides]",
    explanation="""\
A block of constant density has moments M (y0^2 + z0^2)/12 and so on about its center of mass, and no
products of inertia, since the mass at x and at -x is equal. The same numbers follow from integrating
over the triangles of its surface, and from an experiment: an impulse of 1 N s off center gives the block
at rest an angular momentum L that does not depend on its inertia, and the block rotates by L t/I. A sum
over n^3 point masses [Baraff 1997, eq. 2-32] is smaller than the integral by a fraction 1/n^2.""",
    parameters=(
        Parameter("x", "m", 1.0, 0.2, 5.0, "side along x"),
        Parameter("y", "m", 2.0, 0.2, 5.0, "side along y"),
        Parameter("z", "m", 3.0, 0.2, 5.0, "side along z"),
        Parameter("density", "kg/m3", 1.0, 0.1, 10000.0, "mass density, uniform"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=stage,
    lesson=Lesson(
        formulas=(
            Formula(r"I_x = \frac{M}{12}(y_0^2 + z_0^2)", "the moment about x of a block with sides x₀, y₀, z₀"),
            Formula(r"\varphi = \frac{L\,t}{I}", "the angle after an impulse that gives the angular momentum L"),
        ),
        steps=(
            TryThis("The impulse turns the block about x.", run="about x"),
            TryThis("About z, the long side: the moment is the smallest.", run="about z"),
            TryThis("A cube has the same moment about all axes.", values={"x": 2.0, "y": 2.0, "z": 2.0}),
        ),
        references=("Baraff 1997, section 5.1", "Hydra 2017, chapter 5"),
    ),
)
