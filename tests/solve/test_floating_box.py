"""The floating box of the page: its water against Archimedes, its motion against closed forms, its coupling as maps.

The functions are those of `docs/howto/floating-box.md`.
"""

import doctest
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import trimesh
from scipy.spatial.transform import Rotation

import polhode as ph

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "floating-box.md"
G = 9.80665


@pytest.fixture(scope="module")
def page():
    """What the page defines."""
    names = {}
    for example in doctest.DocTestParser().get_examples(PAGE.read_text(encoding="utf-8")):
        if example.source.startswith(("import", "def", "LENGTH", "mesh =", "box =", "T, g", "rest =")):
            exec(example.source, names)
    return names


def torque(points, forces, about):
    return np.cross(points - about, forces).sum(axis=0)


def under_water(mesh):
    """The part of a convex mesh below z = 0: the hull of its corners there and of the crossings of its edges."""
    a, b = mesh.vertices[mesh.edges_unique].transpose(1, 0, 2)
    cut = a[:, 2] * b[:, 2] < 0
    t = a[cut, 2] / (a[cut, 2] - b[cut, 2])
    crossings = a[cut] + t[:, None] * (b[cut] - a[cut])
    return trimesh.convex.convex_hull(np.concatenate([mesh.vertices[mesh.vertices[:, 2] <= 0], crossings]))


SOLIDS = [trimesh.creation.icosphere(2), trimesh.creation.box(), trimesh.creation.cone(1.0, 1.0)]


@pytest.mark.parametrize("mesh", SOLIDS)
@pytest.mark.parametrize("height", [-5.0, -0.2, 0.13, 0.4, 5.0])
def test_archimedes(page, mesh, height):
    """The weight of the water displaced, upward at its center."""
    points = Rotation.from_euler("xyz", (0.3, 0.5, 0.7)).apply(mesh.vertices) + (1.0, 2.0, height)
    placed = trimesh.Trimesh(points, mesh.faces, process=False)
    forces = page["hydrostatic_forces"](points, np.asarray(mesh.faces), 1000.0, G)
    if height == 5.0:
        assert not forces.any()
        return
    wet = under_water(placed)
    weight = 1000.0 * G * wet.volume
    assert forces.sum(axis=0) == pytest.approx((0, 0, weight), rel=1e-9, abs=1e-9 * weight)
    assert torque(points, forces, wet.center_mass) == pytest.approx((0, 0, 0), abs=1e-8 * weight)


@pytest.mark.parametrize("angle", [0.02, 0.15, 0.3])
def test_the_righting_lever_of_a_wall_sided_hull(page, angle):
    """GZ = sin(a) (GM + BM tan(a)^2/2), while neither deck nor bottom meets the water."""
    half, T = page["HEIGHT"] / 2, page["T"]
    moment = page["BREADTH"] ** 2 / (12 * T)
    metacenter = T / 2 + moment - half
    com = np.array((0, 0, (half - T) * np.cos(angle)))  # where the same volume is displaced
    points = Rotation.from_rotvec((angle, 0, 0)).apply(page["mesh"].vertices) + com
    forces = page["hydrostatic_forces"](points, np.asarray(page["mesh"].faces), 1000.0, G)
    assert forces.sum(axis=0) == pytest.approx((0, 0, page["MASS"] * G), rel=1e-12, abs=1e-8)
    lever = np.sin(angle) * (metacenter + moment * np.tan(angle) ** 2 / 2)
    assert torque(points, forces, com)[0] == pytest.approx(-page["MASS"] * G * lever, rel=1e-11)


def test_the_draught(page):
    drag = ph.forces.linear_drag(3000.0)
    start = ph.State(position=(0.0, 0.0, 0.4))
    stepper = ph.Stepper(page["box"], start, [ph.forces.gravity(), drag], method="rk4", step=0.01)
    for _ in page["float_freely"](stepper, 0.01, 15.0):
        pass
    assert page["HEIGHT"] / 2 - stepper.state.position[2] == pytest.approx(page["T"], rel=1e-11)


def heaves(page, couple, step, count):
    start = ph.State(position=(0, 0, page["rest"] + 0.01))
    stepper = ph.Stepper(page["box"], start, [ph.forces.gravity()], method="rk4", step=step)
    return np.array([float(s.state.position[2]) - page["rest"] for s in page[couple](stepper, step, count * step)])


def iterate(matrix, count):
    state, heave = np.array((0.01, 0.0)), []
    for _ in range(count):
        state = matrix @ state
        heave.append(state[0])
    return np.array(heave)


def test_explicit_coupling_against_its_own_map(page):
    """A linear restoring force that is held during a step h: x + h v - w2 x h2/2, v - w2 x h."""
    h, w2 = 0.01, G / page["T"]
    matrix = np.array([[1 - w2 * h * h / 2, h], [-w2 * h, 1.0]])
    assert heaves(page, "float_freely", h, 300) == pytest.approx(iterate(matrix, 300), abs=1e-11)


def test_the_fixed_point_of_implicit_coupling(page):
    """A force that goes linearly to its value at the end: x' = x + h v + h2 (2 a + a')/6, v' = v + h (a + a')/2."""
    h, w2 = 0.01, G / page["T"]
    before = np.array([[1 - w2 * h * h / 3, h], [-w2 * h / 2, 1.0]])
    after = np.array([[1 + w2 * h * h / 6, 0.0], [w2 * h / 2, 1.0]])
    expected = iterate(np.linalg.solve(after, before), 300)
    assert heaves(page, "float_implicitly", h, 300) == pytest.approx(expected, abs=1e-10)


def test_orders_of_explicit_and_implicit_coupling_against_the_cosine(page):
    rates = {}
    for couple, steps in (("float_freely", (200, 400, 800)), ("float_implicitly", (50, 100, 200))):
        errors = []
        for n in steps:
            t = 1.0 / n * np.arange(1, n + 1)
            exact = 0.01 * np.cos(np.sqrt(G / page["T"]) * t)
            errors.append(np.abs(heaves(page, couple, 1.0 / n, n) - exact).max())
        rates[couple] = [np.log2(a / b) for a, b in pairwise(errors)]
    assert rates["float_freely"] == pytest.approx([1, 1], abs=0.1)
    assert rates["float_implicitly"] == pytest.approx([2, 2], abs=0.1)


def test_the_period_of_roll(page):
    """2 pi sqrt(I/(m g GM)) for small angles."""
    T, mass, breadth, height = page["T"], page["MASS"], page["BREADTH"], page["HEIGHT"]
    metacenter = T / 2 + breadth**2 / (12 * T) - height / 2
    inertia = mass * (breadth**2 + height**2) / 12
    start = ph.State(position=(0, 0, page["rest"]), quaternion_wxyz=(np.cos(0.002), np.sin(0.002), 0, 0))
    stepper = ph.Stepper(page["box"], start, [ph.forces.gravity()], method="rk4", step=0.004)
    roll = [float(s.state.quaternion_wxyz[1]) for s in page["float_implicitly"](stepper, 0.004, 4.0, 3)]
    expected = 2 * np.pi * np.sqrt(inertia / (mass * G * metacenter))
    assert page["period_of"](roll, 0.004) == pytest.approx(expected, rel=1e-4)
