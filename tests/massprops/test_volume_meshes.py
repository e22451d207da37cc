"""Volume meshes against exact integrals in fractions, closed forms, surface sums, and files."""

from __future__ import annotations

import warnings
from fractions import Fraction
from itertools import pairwise
from math import atan, e, expm1, factorial, log, pi, sin

import meshio
import numpy as np
import pytest

import polhode as ph
from invalid_input import assert_refused, checked
from polhode.errors import InertiaError, InputError, MassWarning, MeshError, PolhodeError
from polhode.massprops.volume import adaptive_quadrature
from polhode.massprops.volume.cell_types import CELL_TYPES, cube_to_reference
from polhode.massprops.volume.quadrature import (
    brick_shape_functions,
    integrate_cell_moments,
    points_per_direction,
    quadrature_rule,
)
from volume_mesh_cases import CUBE, SIX, TWO_WEDGES, block, cut, mesh_of, one

LINEAR = [kind.name for kind in CELL_TYPES.values() if kind.order == 1]
QUADRATIC = [kind.name for kind in CELL_TYPES.values() if kind.order == 2]


def tried(mesh, density, **settings):
    return lambda: ph.Body.from_volume_mesh(mesh, density, **settings)


# The reference: polynomials with fractions, {(a, b, c): coefficient of r^a s^b t^c} ---------------------------------
def times(p, q):
    result = {}
    for a, x in p.items():
        for b, y in q.items():
            power = tuple(i + j for i, j in zip(a, b, strict=True))
            result[power] = result.get(power, 0) + x * y
    return result


def plus(p, q, sign=1):
    return {power: p.get(power, 0) + sign * q.get(power, 0) for power in {**p, **q}}


def slope(p, axis):
    return {tuple(i - (n == axis) for n, i in enumerate(a)): a[axis] * x for a, x in p.items() if a[axis]}


def over(family, p):
    """The integral over the undistorted cell."""
    total = Fraction(0)
    for (a, b, c), x in p.items():
        if family == "tetra":
            part = Fraction(factorial(a) * factorial(b) * factorial(c), factorial(a + b + c + 3))
        elif family == "wedge":
            part = Fraction(factorial(a) * factorial(b), factorial(a + b + 2) * (c + 1))
        elif family == "pyramid":  # here r and s count from the axis, and reach (1 - t)/2
            beta = Fraction(factorial(c) * factorial(a + b + 2), factorial(a + b + c + 3))
            part = 0 if a % 2 or b % 2 else beta / ((a + 1) * (b + 1) * 2 ** (a + b))
        else:
            part = Fraction(1, (a + 1) * (b + 1) * (c + 1))
        total += x * part
    return total


def exact_moments(family, place, density):
    """Mass, center, tensor of the cell's image under three polynomials, with a polynomial density of x, y, z."""
    J = [[slope(f, axis) for axis in range(3)] for f in place]
    det = {}
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        det = plus(det, times(J[0][i], plus(times(J[1][j], J[2][k]), times(J[1][k], J[2][j]), -1)))
    rho = {}
    for powers, x in density.items():
        term = {(0, 0, 0): Fraction(x)}
        for f, power in zip(place, powers, strict=True):
            for _ in range(power):
                term = times(term, f)
        rho = plus(rho, term)
    weight = times(rho, det)
    mass = over(family, weight)
    first = [over(family, times(weight, f)) for f in place]
    center = [x / mass for x in first]
    S = [[over(family, times(weight, times(f, g))) - mass * a * b for g, b in zip(place, center, strict=True)]
         for f, a in zip(place, center, strict=True)]  # fmt: skip
    trace = S[0][0] + S[1][1] + S[2][2]
    tensor = [[(trace if i == j else 0) - S[i][j] for j in range(3)] for i in range(3)]
    return float(mass), np.array(center, float), np.array(tensor, float)


def image(place, points):
    r, s, t = np.asarray(points).T
    return np.stack([sum(float(x) * r**a * s**b * t**c for (a, b, c), x in f.items()) for f in place], axis=-1)


R, S, T = (1, 0, 0), (0, 1, 0), (0, 0, 1)
LEANING = (
    {(0, 0, 0): Fraction(3), R: Fraction(2), S: Fraction(1, 4), T: Fraction(-1, 2)},
    {R: Fraction(1, 8), S: Fraction(3, 2), T: Fraction(1, 4)},
    {(0, 0, 0): Fraction(-1), R: Fraction(-1, 4), T: Fraction(5, 4)},
)
BENT = (
    {**LEANING[0], (2, 0, 0): Fraction(1, 8), (0, 1, 1): Fraction(1, 4), (0, 0, 2): Fraction(-1, 16)},
    {**LEANING[1], (1, 1, 0): Fraction(1, 8), (0, 2, 0): Fraction(-1, 8)},
    {**LEANING[2], (2, 0, 0): Fraction(1, 4), (0, 2, 0): Fraction(1, 8), (1, 0, 1): Fraction(1, 16)},
)
ONE = {(0, 0, 0): 2}
CURVED = {(0, 0, 0): 20, (1, 0, 0): 1, (0, 1, 0): -1, (0, 0, 2): 2, (1, 1, 0): 1}


def function_of(density):
    return lambda x, y, z: sum(c * x**i * y**j * z**k for (i, j, k), c in density.items())


def from_axis(kind):
    """The undistorted cell's nodes in the reference's coordinates."""
    return CELL_TYPES[kind].reference - ((0.5, 0.5, 0) if CELL_TYPES[kind].family == "pyramid" else (0, 0, 0))


def assert_same(body, mass, center, tensor, rel=1e-13):
    assert body.mass == pytest.approx(mass, rel=rel)
    assert body.center_of_mass == pytest.approx(center, rel=rel, abs=rel * np.abs(center).max())
    assert np.abs(body.inertia_body - tensor).max() < rel * np.abs(tensor).max()


# The kinds ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", CELL_TYPES)
def test_each_nodes_function_is_one_there_and_zero_at_the_others(kind):
    found = CELL_TYPES[kind]
    places = found.reference.copy()
    if found.family == "pyramid":
        height = np.minimum(places[:, 2:], 0.5)  # the apex, where the square has no size, is looked at last
        places[:, :2] = 0.5 + (places[:, :2] - 0.5) / (1 - height)
    assert (found.shape(places) == np.eye(len(places))).all()
    cube = np.random.default_rng(0).random((20, 3))
    at = found.shape(cube_to_reference(found.family, cube))
    assert at.sum(axis=1) == pytest.approx(np.ones(20), rel=1e-14)
    assert brick_shape_functions(found.order, cube)[0] @ found.brick == pytest.approx(at, abs=1e-14)


@pytest.mark.parametrize("kind", CELL_TYPES)
def test_straight_cells_against_fractions(kind):
    family = CELL_TYPES[kind].family
    body = ph.Body.from_volume_mesh(one(kind, image(LEANING, from_axis(kind))), 2.0)
    assert_same(body, *exact_moments(family, LEANING, ONE))
    assert body.volume == pytest.approx(body.mass / 2, rel=1e-14)
    drawn = body.mesh()
    assert drawn.is_watertight
    assert drawn.volume == pytest.approx(body.volume, rel=1e-13)
    assert drawn.area == pytest.approx(body.area, rel=1e-13)


@pytest.mark.parametrize("kind", QUADRATIC)
@pytest.mark.parametrize("density", [ONE, CURVED])
def test_curved_cells_against_fractions(kind, density):
    """Every quadratic kind contains all maps of degree 2."""
    mesh = one(kind, image(BENT, from_axis(kind)))
    body = ph.Body.from_volume_mesh(mesh, 2.0 if density is ONE else function_of(density))
    assert_same(body, *exact_moments(CELL_TYPES[kind].family, BENT, density))


@pytest.mark.parametrize(
    ("kind", "powers"),
    [
        ("hexahedron", [(1, 1, 0), (1, 1, 1), (0, 1, 1)]),
        ("wedge", [(1, 0, 1), (0, 1, 1), (1, 0, 1)]),
        ("hexahedron20", [(2, 1, 1), (1, 2, 0), (1, 1, 2)]),
        ("wedge15", [(2, 0, 1), (0, 1, 2), (1, 1, 1)]),
        ("wedge18", [(2, 0, 2), (1, 1, 2), (0, 2, 2)]),
        ("hexahedron27", [(2, 2, 2), (2, 2, 1), (0, 2, 2)]),
    ],
)
def test_the_highest_powers_of_each_kind_against_fractions(kind, powers):
    place = [{**f, power: Fraction(3, 32)} for f, power in zip(LEANING, powers, strict=True)]
    mesh = one(kind, image(place, CELL_TYPES[kind].reference))
    assert_same(
        ph.Body.from_volume_mesh(mesh, function_of(CURVED)), *exact_moments(CELL_TYPES[kind].family, place, CURVED)
    )


def test_a_pyramid_over_a_saddle_against_fractions_on_the_cube():
    """Cone over a bilinear base: A(u, v) (1 - w) + apex w is a polynomial on the cube."""
    base = [{**f, T: 0, (1, 1, 0): Fraction(n, 8)} for n, f in enumerate(LEANING, 1)]
    apex = (Fraction(4), Fraction(1), Fraction(2))
    lid = {(0, 0, 0): Fraction(1), T: Fraction(-1)}
    place = [plus(times(f, lid), {T: tip}) for f, tip in zip(base, apex, strict=True)]
    corners = image(base, [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)])
    mesh = one("pyramid", [*corners, [float(tip) for tip in apex]])
    assert_same(ph.Body.from_volume_mesh(mesh, function_of(CURVED)), *exact_moments("cube", place, CURVED))


def test_linear_density_on_random_tetrahedra_is_exact_against_fractions():
    rng = np.random.default_rng(4)
    for _ in range(20):
        a, b, c, d = rng.integers(-64, 65, (4, 3)) / 8
        if np.linalg.det([b - a, c - a, d - a]) <= 0.1:
            continue
        place = [
            {power: Fraction(float(x)) for power, x in zip(((0, 0, 0), R, S, T), row, strict=True)}
            for row in np.stack((a, b - a, c - a, d - a)).T
        ]
        density = {(0, 0, 0): 100, R: 3, S: -2, T: 1}
        body = ph.Body.from_volume_mesh(one("tetra", [a, b, c, d]), function_of(density), degree=1, unit="m")
        assert_same(body, *exact_moments("tetra", place, density))


# How many points ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", CELL_TYPES)
@pytest.mark.parametrize("degree", [0, 1, 3])
def test_the_stated_degree_is_exact_and_recognized_at_once(kind, degree):
    rng = np.random.default_rng(degree)
    points = CELL_TYPES[kind].reference + 0.05 * rng.standard_normal(CELL_TYPES[kind].reference.shape)
    asked = []

    def density(x, y, z):
        asked.append(len(x))
        return (2 + x / 2 - y / 3 + z / 5) ** degree

    body = ph.Body.from_volume_mesh(one(kind, points), density, degree=degree, rtol=1e-13)
    assert len(asked) == 3
    assert asked[0] <= np.prod(points_per_direction(CELL_TYPES[kind], degree))
    finer = ph.Body.from_volume_mesh(one(kind, points), density, degree=degree + 5)
    assert_same(body, finer.mass, finer.center_of_mass, finer.inertia_body)


@pytest.mark.parametrize("kind", ["tetra", "wedge", "pyramid", "hexahedron", "tetra10", "wedge18", "hexahedron27"])
def test_a_higher_degree_than_stated_shows(kind):
    """The rule itself: exact for its degree, and off for one that needs a point more along some direction."""
    rng = np.random.default_rng(5)
    nodes = (CELL_TYPES[kind].reference + 0.1 * rng.standard_normal(CELL_TYPES[kind].reference.shape)).T[:, :, None]
    for degree in (0, 1, 2):
        beyond = next(
            d
            for d in (1, 2)
            if points_per_direction(CELL_TYPES[kind], degree + d) > points_per_direction(CELL_TYPES[kind], degree)
        )

        def error(of, degree=degree):
            def density(p):
                return (1 + p.sum(axis=0)) ** of

            exact = integrate_cell_moments(nodes, quadrature_rule(kind, of + 2), density).second
            return (
                np.abs(integrate_cell_moments(nodes, quadrature_rule(kind, degree), density).second - exact).max()
                / np.abs(exact).max()
            )

        assert error(degree) < 1e-13 < 1e-11 < error(degree + beyond)


# A block of many cells ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["tetra", "wedge", "hexahedron", "mixed"])
def test_a_cube_of_many_cells_against_its_closed_form(kind):
    points, hexes = block(3)
    blocks = {
        "tetra": [("tetra", cut(hexes, SIX))],
        "wedge": [("wedge", cut(hexes, TWO_WEDGES))],
        "hexahedron": [("hexahedron", hexes)],
        "mixed": [("hexahedron", hexes[:18]), ("wedge", cut(hexes[18:], TWO_WEDGES))],
    }[kind]
    body = ph.Body.from_volume_mesh(mesh_of(points, *blocks), 6.0)
    assert_same(body, 6.0, np.full(3, 0.5), np.eye(3), rel=1e-14)
    assert body.area == pytest.approx(6.0, rel=1e-14)
    assert body.volume == pytest.approx(1.0, rel=1e-14)
    assert body.nodes.tolist() == points.tolist()


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("scale", [2.0**-30, 1.0, 2.0**30])
def test_the_volume_mesh_and_the_surface_of_the_same_solid_agree(offset, scale):
    """A shaken ball-like lump; the reference sums tetrahedra from the middle to the outer triangles."""
    points, hexes = block(4, shake=0.2)
    points = (points - 0.5) * (1 + 0.3 * np.sin(5 * points[:, ::-1]))
    points = np.round(points * 2**20) / 2**20  # so that moving them is exact
    mesh = mesh_of((points + offset) * scale, ("tetra", cut(hexes, SIX)))
    body = ph.Body.from_volume_mesh(mesh, 3.0, unit="m")
    drawn = body.mesh()
    corners = np.asarray(drawn.vertices)[np.asarray(drawn.faces)] / scale - offset
    volume = np.linalg.det(corners) / 6
    mass = 3 * volume.sum()
    center = 3 * (volume @ corners.sum(axis=1)) / 4 / mass
    corners = corners - center
    volume = np.linalg.det(corners) / 6
    total = corners.sum(axis=1)
    second = (
        3 * (np.einsum("f,fci,fcj->ij", volume, corners, corners) + np.einsum("f,fi,fj->ij", volume, total, total)) / 20
    )
    assert body.mass / scale**3 == pytest.approx(mass, rel=1e-12)
    assert body.center_of_mass / scale - offset == pytest.approx(center, abs=1e-12 * (1 + offset))
    tensor = np.trace(second) * np.eye(3) - second
    assert np.abs(body.inertia_body / scale**5 - tensor).max() < 1e-12 * tensor.max()
    assert drawn.area == pytest.approx(body.area, rel=1e-12)
    assert drawn.is_watertight


def test_nothing_cancels_where_the_mass_sits_in_a_corner():
    """A heavy speck in a large light block, against the same in exact numbers by the parallel-axis theorem."""
    points, hexes = block(2)
    speck = CUBE * 2.0**-20 + 5.0
    densities = [0.0] * 8 + [2.0**60]
    body = ph.Body.from_volume_mesh(mesh_of([*points, *speck], ("hexahedron", [*hexes, range(27, 35)])), densities)
    assert_same(body, 1.0, np.full(3, 5 + 2.0**-21), np.eye(3) / 6 * 2.0**-40, rel=1e-9)


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1e9])
def test_size_does_not_matter(scale):
    points, hexes = block(3, shake=0.2)

    def body(factor):
        return ph.Body.from_volume_mesh(
            mesh_of(points * factor, ("hexahedron", hexes)), lambda x, y, z: np.exp(-x / factor), unit="m", rtol=1e-9
        )

    small, usual = body(scale), body(1.0)
    assert small.mass / scale**3 == pytest.approx(usual.mass, rel=1e-13)
    assert small.inertia_body / scale**5 == pytest.approx(usual.inertia_body, rel=1e-12, abs=1e-15)
    assert small.area / scale**2 == pytest.approx(usual.area, rel=1e-13)


def test_curved_area_against_a_closed_form():
    """A quadratic cell whose lid is the parabola z = 1 + x^2: its area is that of the curve."""
    lid = ({R: Fraction(1)}, {S: Fraction(1)}, {T: Fraction(1), (2, 0, 1): Fraction(1)})
    body = ph.Body.from_volume_mesh(one("hexahedron27", image(lid, CELL_TYPES["hexahedron27"].reference)), 1.0)
    curve = 5**0.5 / 2 + log(2 + 5**0.5) / 4
    assert body.volume == pytest.approx(4 / 3, rel=1e-14)
    assert body.area == pytest.approx(curve + 1 + 2 * 4 / 3 + 1 + 2, rel=1e-12)


def test_quadratic_cells_of_a_piece_of_shell_converge_with_the_fourth_order():
    errors = []
    for n in (1, 2, 4, 8):
        points, hexes = block(n)
        places = np.einsum(
            "mn,cnk->kcm", CELL_TYPES["hexahedron"].shape(CELL_TYPES["hexahedron27"].reference), points[hexes]
        )
        radius, east, north = 1 + places[0], places[1], places[2] - 0.5
        level = radius * np.cos(north)
        shell = np.stack((level * np.cos(east), level * np.sin(east), radius * np.sin(north)), axis=-1)
        mesh = mesh_of(shell.reshape(-1, 3), ("hexahedron27", np.arange(27 * len(hexes)).reshape(-1, 27)))
        errors.append(abs(ph.Body.from_volume_mesh(mesh, 1.0).volume - 7 / 3 * 2 * sin(0.5)))
    assert all(3.8 < np.log2(a / b) < 4.2 for a, b in pairwise(errors))


# Densities ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("rtol", [1e-4, 1e-7, 1e-11])
def test_smooth_densities_against_their_antiderivatives(rtol):
    points, hexes = block(2)
    cube = mesh_of(points, ("hexahedron", hexes))
    body = ph.Body.from_volume_mesh(cube, lambda x, y, z: np.exp(3 * x) / (1 + y * y), rtol=rtol)
    mass = expm1(3) / 3 * pi / 4
    assert body.mass == pytest.approx(mass, rel=rtol)
    assert body.center_of_mass == pytest.approx(
        [(2 * e**3 + 1) / 9 / (expm1(3) / 3), log(2) / 2 / atan(1), 0.5], rel=rtol
    )
    yy = (1 - pi / 4) / (pi / 4) - (log(2) / 2 / atan(1)) ** 2
    xx = (5 * e**3 - 2) / 27 / (expm1(3) / 3) - ((2 * e**3 + 1) / 9 / (expm1(3) / 3)) ** 2
    assert body.inertia_body[2, 2] == pytest.approx(mass * (xx + yy), rel=20 * rtol)


@pytest.mark.parametrize("kind", ["tetra", "tetra10"])
def test_an_exponential_on_a_tetrahedron_against_its_closed_form(kind):
    """Over the unit tetrahedron exp(x + y + z) integrates to (e - 2)/2."""
    body = ph.Body.from_volume_mesh(one(kind), lambda x, y, z: np.exp(x + y + z), degree=1, rtol=1e-12)
    assert body.mass == pytest.approx((e - 2) / 2, rel=1e-12)


@pytest.mark.parametrize("kind", LINEAR + QUADRATIC)
def test_a_narrow_density_in_one_curved_cell_against_a_finer_run(kind):
    points = image(BENT if CELL_TYPES[kind].order == 2 else LEANING, from_axis(kind))
    middle = points.mean(axis=0)

    def density(x, y, z):
        return 1 / (0.05 + (x - middle[0]) ** 2 + (y - middle[1]) ** 2 + (z - middle[2]) ** 2)

    found = ph.Body.from_volume_mesh(one(kind, points), density, rtol=1e-7)
    finer = ph.Body.from_volume_mesh(one(kind, points), density, rtol=1e-9, degree=8)
    assert_same(found, finer.mass, finer.center_of_mass, finer.inertia_body, rel=1e-7)


def test_ways_to_say_the_same_densities():
    points, hexes = block(2)
    side = points[hexes].mean(axis=1)[:, 0] > 0.5
    mesh = meshio.Mesh(
        points,
        [("hexahedron", hexes[:5]), ("hexahedron", hexes[5:])],
        cell_data={
            "rho": [np.where(side, 3.0, 1.0)[:5], np.where(side, 3.0, 1.0)[5:]],
            "region": [np.where(side, 7, 4)[:5], np.where(side, 7, 4)[5:]],
        },
        cell_sets={
            "left": [np.flatnonzero(~side[:5]), np.flatnonzero(~side[5:])],
            "right": [np.flatnonzero(side[:5]), np.flatnonzero(side[5:])],
            "all": [np.arange(5), np.arange(3)],
        },
    )
    ways = ["rho", np.where(side, 3.0, 1.0), {4: 1.0, 7: 3.0}, {"4": 1.0, "7": 3.0}, {"left": 1.0, "right": 3.0}]
    for density in ways:
        body = ph.Body.from_volume_mesh(mesh, density)
        assert body.mass == pytest.approx(2.0, rel=1e-14)
        assert body.center_of_mass == pytest.approx([0.625, 0.5, 0.5], rel=1e-14)
    body = ph.Body.from_volume_mesh(mesh, {"left": 0.0, "right": 2.0})
    assert body.mass == pytest.approx(1.0, rel=1e-14)
    assert any("density 0" in note for note in body.notes)
    assert ph.Body.from_volume_mesh(mesh, lambda x, y, z: 5).mass == pytest.approx(5.0, rel=1e-14)


def test_a_jump_within_cells_is_refused_with_the_error_reached(monkeypatch):
    monkeypatch.setattr(adaptive_quadrature, "MAX_POINTS", 2_000_000)
    cube = one("hexahedron")
    with pytest.raises(InertiaError, match=r"pieces, the estimated error is still .*e-0\d of the mass.*per region"):
        ph.Body.from_volume_mesh(cube, lambda x, y, z: np.where(x + y / 3 < 0.4, 1.0, 2.0))
    rough = ph.Body.from_volume_mesh(cube, lambda x, y, z: np.where(x < 0.3, 1.0, 2.0), rtol=2e-2)
    assert rough.mass == pytest.approx(1.7, rel=2e-2)


TETRA = one("tetra")
CELLS = mesh_of(
    *block(1)[:1], ("hexahedron", block(1)[1]), cell_data={"rho": [np.array([1.0])], "v": [np.ones((1, 3))]}
)


@checked(
    {
        "zero": (tried(TETRA, 0.0), InertiaError, "greater than 0 kg/m3"),
        "text": (tried(CELLS, "roh"), InertiaError, "no field 'roh'", "did you mean 'rho'"),
        "vector field": (tried(CELLS, "v"), InertiaError, "one number"),
        "none": (tried(TETRA, None), InertiaError, "density must be a number"),
        "too many": (tried(TETRA, [1.0, 2.0]), InertiaError, "each of the 1 volume cells"),
        "negative cell": (tried(TETRA, [-1.0]), InertiaError, "cell 0, with -1 kg/m3"),
        "all zero": (tried(TETRA, [0.0]), InertiaError, "no mass"),
        "no regions": (tried(TETRA, {"a": 1.0}), InertiaError, "the mesh has none"),
        "negative function": (
            tried(TETRA, lambda x, y, z: x - 1),
            InertiaError, "a density must be finite and non-negative", "kg/m3 at (",
        ),
        "infinite function": (
            tried(TETRA, lambda x, y, z: np.where(x < 0.5, np.nan, 1)), InertiaError, "nan kg/m3"
        ),
        "zero function": (tried(TETRA, lambda x, y, z: 0 * x), InertiaError, "no mass"),
        "wrong shape": (tried(TETRA, lambda x, y, z: np.ones(3)), InertiaError, "shape (3,)"),
        "no arrays": (
            tried(TETRA, lambda x, y, z: 1 if x > 0 else 2), InertiaError, "np.where instead of if"
        ),
        "degree": (tried(TETRA, 1.0, degree=-1), InputError, "degree must be an integer"),
        "rtol": (tried(TETRA, 1.0, rtol=0.0), InputError, "rtol must be between"),
        "repair": (tried(TETRA, 1.0, repair="fill"), InputError, "unknown repair 'fill'"),
        "unit": (tried(TETRA, 1.0, unit="mn"), InputError, "unknown unit"),
        "no mesh": (tried(3.0, 1.0), InputError, "path of a file, or a meshio.Mesh"),
    }
)  # fmt: skip
def test_densities_and_settings_that_make_no_sense(attempt, kind, phrases):
    assert_refused(attempt, kind, phrases)


def test_regions_must_cover_every_cell_once():
    points, hexes = block(2)
    mesh = mesh_of(points, ("hexahedron", hexes), cell_sets={"a": [np.arange(5)], "b": [np.arange(4, 8)]})
    with pytest.raises(InertiaError, match=r"3 of 8 cells lie in none.*'a' \(5 cells\), 'b' \(4 cells\)"):
        ph.Body.from_volume_mesh(mesh, {"a": 1.0})
    with pytest.raises(InertiaError, match=r"1 of 8 cells lie in more than one .* first is cell 4"):
        ph.Body.from_volume_mesh(mesh, {"a": 1.0, "b": 2.0})
    with pytest.raises(InertiaError, match=r"no region 'c'"):
        ph.Body.from_volume_mesh(mesh, {"a": 1.0, "c": 2.0})
    with pytest.raises(InertiaError, match=r"must not be negative"):
        ph.Body.from_volume_mesh(mesh, {"a": -1.0})


# Defects ------------------------------------------------------------------------------------------------------------
POINTS, HEXES = block(2)


def damaged(change, pattern=None, kind="hexahedron"):
    points, cells = POINTS.copy(), (HEXES if pattern is None else cut(HEXES, pattern)).copy()
    result = change(points, cells)
    points, cells = (points, cells) if result is None else result
    return tried(mesh_of(points, (kind, cells)), 1.0)


def _nan(points, cells):
    points[3, 1] = np.nan


def _missing_node(points, cells):
    cells[1, 2] = 99


def _tangled(points, cells):
    points[13] = (1.4, 1.4, 1.4)


def _crossed(points, cells):
    cells[0, [0, 1]] = cells[0, [1, 0]]


def _flat(points, cells):
    cells[0] = cells[0, [0, 1, 2, 2]]


def _overlapping(points, cells):
    # A new tetrahedron on the outer face of cell 0 that leans inwards.
    corners = points[cells[0]]
    return np.vstack((points, corners.mean(axis=0))), np.vstack((cells, (cells[0, 0], cells[0, 1], cells[0, 2], 27)))


def _three_at_a_face(points, cells):
    tip = np.array([(0.0, 0.0, 5.0), (0.0, 0.0, 6.0), (0, 0, -1), (1, 0, 0), (0, 1, 0), (0, 0, 0)])
    return tip, np.array([(5, 3, 4, 0), (5, 3, 4, 1), (5, 4, 3, 2)])


@checked(
    {
        "nan": (damaged(_nan), MeshError, "1 of 27 nodes", "node 3"),
        "missing node": (damaged(_missing_node), MeshError, "cell 1 of the hexahedron cells refers to node 99"),
        "inverted": (
            tried(one("tetra", CELL_TYPES["tetra"].reference[[0, 2, 1, 3]]), 1.0),
            MeshError, "1 of 1 cells (number 0) is inverted", 'repair="flip"',
        ),
        "tangled": (damaged(_tangled), MeshError, "tangled"),
        "crossed": (damaged(_crossed), MeshError, "(number 0) is tangled"),
        "flat": (damaged(_flat, SIX, "tetra"), MeshError, "1 of 48 cells (number 0) is without volume"),
        "twice": (
            damaged(lambda p, c: (p, np.vstack((c, c[2, [3, 0, 1, 2, 7, 4, 5, 6]])))), MeshError,
            "cells are duplicates", "cell 8, which has the corners of cell 2",
        ),
        "overlapping": (damaged(_overlapping, SIX, "tetra"), MeshError, "on the same side"),
        "three at a face": (damaged(_three_at_a_face, SIX, "tetra"), MeshError, "more than two cells", "[0, 1, 2]"),
        "only triangles": (
            tried(mesh_of(CUBE, ("triangle", [(0, 1, 2)])), 1.0),
            MeshError, "only 1 triangle", "Body.from_mesh",
        ),
        "nothing": (tried(mesh_of(CUBE), 1.0), MeshError, "the mesh has no cells"),
        "polyhedron": (
            tried(mesh_of(CUBE, ("polyhedron8", [range(8)])), 1.0), MeshError, "'polyhedron8'"
        ),
        "cubic": (tried(mesh_of(CUBE, ("tetra20", [range(20)])), 1.0), MeshError, "'tetra20'"),
        "too few nodes": (
            tried(mesh_of(CUBE, ("tetra", [(0, 1, 2)])), 1.0), MeshError, "4 integers each"
        ),
        "flat world": (tried(mesh_of(CUBE[:, :2], ("tetra", [(0, 1, 2, 3)])), 1.0), MeshError, "three"),
        "a point": (tried(mesh_of(0 * CUBE, ("tetra", [(0, 1, 2, 3)])), 1.0), MeshError, "coincide at"),
    }
)  # fmt: skip
def test_defects_are_named(attempt, kind, phrases):
    assert_refused(attempt, kind, phrases)


def _spoiled(rng):
    """A block with one random damage."""
    points, hexes = block(2)
    kind, cells = [("tetra", cut(hexes, SIX)), ("hexahedron", hexes), ("wedge", cut(hexes, TWO_WEDGES))][
        rng.integers(3)
    ]
    points, cells = points.copy(), cells.copy()
    row, (a, b) = rng.integers(len(cells)), rng.choice(cells.shape[1], 2, replace=False)
    damage = rng.integers(5)
    if damage == 0:
        points[rng.integers(len(points)), rng.integers(3)] = rng.choice([np.nan, np.inf])
    elif damage == 1:
        cells[row, [a, b]] = cells[row, [b, a]]
    elif damage == 2:
        cells[row, a] = rng.integers(-3, len(points) + 3)
    elif damage == 3:
        cells = np.vstack((cells, rng.permutation(cells[row])))
    else:
        points[13] += 0.15 * rng.normal(size=3)
    return mesh_of(points, (kind, cells))


def test_random_damage_gives_the_right_body_or_an_error():
    """The outside stays the unit cube, so everything but that is wrong."""
    rng = np.random.default_rng(11)
    outcomes = {"right": 0, "refused": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("error", MassWarning)
        for _ in range(400):
            try:
                body = ph.Body.from_volume_mesh(_spoiled(rng), 6.0)
            except (PolhodeError, MassWarning):
                outcomes["refused"] += 1
                continue
            assert_same(body, 6.0, np.full(3, 0.5), np.eye(3))
            outcomes["right"] += 1
    assert outcomes["refused"] > 200
    assert outcomes["right"] > 20


@pytest.mark.parametrize("kind", CELL_TYPES)
def test_inverted_cells_are_reordered_only_on_request(kind):
    wrong = one(kind, CELL_TYPES[kind].reference[list(CELL_TYPES[kind].mirrored)])
    with pytest.raises(MeshError, match="inverted"):
        ph.Body.from_volume_mesh(wrong, 1.0)
    body, right = ph.Body.from_volume_mesh(wrong, 1.0, repair="flip"), ph.Body.from_volume_mesh(one(kind), 1.0)
    assert "repair='flip'" in body.notes[0]
    assert body.inertia_body == pytest.approx(right.inertia_body, rel=1e-14, abs=1e-16)
    assert body.mesh().volume == pytest.approx(right.volume, rel=1e-14)


def test_a_hexahedron_collapsed_to_a_wedge_meets_wedges():
    """Solvers write a wedge as a hexahedron with two edges collapsed: same volume, same boundary."""
    points = CELL_TYPES["wedge"].reference
    points = np.vstack((points, points[3:] + (0, 0, 1)))
    mesh = mesh_of(points, ("hexahedron", [(0, 1, 2, 2, 3, 4, 5, 5)]), ("wedge", [(3, 4, 5, 6, 7, 8)]))
    with pytest.warns(MassWarning, match="1 of 2 cells repeat a corner"):
        body = ph.Body.from_volume_mesh(mesh, 1.0)
    assert body.volume == pytest.approx(1.0, rel=1e-14)
    assert body.area == pytest.approx(1 + 2 * (2 + 2**0.5), rel=1e-13)


def test_ignored_cells_are_noted_and_nodes_kept():
    points = np.vstack((POINTS, (9.0, 9, 9)))
    mesh = mesh_of(points, ("triangle", [(0, 1, 2)]), ("hexahedron", HEXES), ("line", [(0, 1)]))
    body = ph.Body.from_volume_mesh(mesh, 1.0)
    assert body.notes == (
        "Cells without volume were ignored: 1 triangle, 1 line.",
        "1 of 28 nodes belong to no volume cell.",
    )
    assert body.nodes.tolist() == points.tolist()
    assert body.parts[0].source.blocks[0][1].tolist() == HEXES.tolist()


def test_unmerged_halves_have_one_outside():
    left, right = block(1), block(1)
    mesh = mesh_of([*left[0], *(right[0] + (1, 0, 0))], ("hexahedron", [*left[1], *(right[1] + 8)]))
    body = ph.Body.from_volume_mesh(mesh, 1.0)
    assert body.area == pytest.approx(10.0, rel=1e-14)
    assert any("4 nodes coincide" in note for note in body.notes)


def test_cells_that_only_touch_along_an_edge_warn():
    points = np.vstack((CUBE, CUBE + (1, 1, 0)))
    with pytest.warns(MassWarning, match="1 edges of the mesh's boundary"):
        ph.Body.from_volume_mesh(mesh_of(points, ("hexahedron", [range(8), range(8, 16)])), 1.0)


def test_non_matching_faces_warn():
    """A quadrilateral against two triangles: the volume holds, the area does not."""
    points, hexes = block(2)
    mesh = mesh_of(points, ("hexahedron", hexes[:4]), ("tetra", cut(hexes[4:], SIX)))
    with pytest.warns(MassWarning, match="have another cell in front of them"):
        body = ph.Body.from_volume_mesh(mesh, 6.0)
    assert_same(body, 6.0, np.full(3, 0.5), np.eye(3))


def test_units_and_the_warning_about_millimeters():
    mesh = mesh_of(POINTS * 40, ("hexahedron", HEXES))
    with pytest.warns(MassWarning, match="40 m long"):
        ph.Body.from_volume_mesh(mesh, 1000.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ph.Body.from_volume_mesh(mesh, 1000.0, unit="mm").mass == pytest.approx(0.064, rel=1e-13)
        assert ph.Body.from_volume_mesh(mesh, 1.0, unit="m").volume == pytest.approx(64000.0, rel=1e-13)
