"""Shapes against integrals over maps of a cube, against 50 digits, and against each other."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.massprops.support_functions import support_of_parts
from polhode.scenario.members import select_body_members
from shape_cases import CASES, NAMES, assert_same_tensor, integrated, integrated_area, near, shape

AXIAL = {"half_ellipsoid", "cylinder", "cone", "frustum", "tube", "thin_rod", "thin_sheet"}
"""Their maps begin at the base, not at the center of mass."""
DIMENSIONS = {"ring": 1, "thin_disk": 2, "thin_sheet": 2}


def dimensions(name, sizes):
    if name == "spherical_shell":
        return 3 if "inner_radius" in sizes else 2
    return (1 if sizes["radius"] == 0 else 3) if name == "thin_rod" else DIMENSIONS.get(name, 3)


@pytest.mark.parametrize(("name", "sizes"), CASES, ids=NAMES)
def test_against_integrals_over_maps(name, sizes):
    body, d = shape(name, sizes, mass=3.0), dimensions(name, sizes)
    extent, center, tensor = integrated(name, sizes, d)
    assert_same_tensor(body.inertia_body, 3 * tensor, 1e-12)
    if d == 3:
        assert body.volume == near(extent, 1e-12)
        assert shape(name, sizes, density=2.0).mass == near(2 * extent, 1e-12)
    else:
        by_extent = shape(name, sizes, **{"line_density" if d == 1 else "area_density": 2.0})
        assert by_extent.mass == near(2 * extent, 1e-12)
        assert body.volume == 0
        assert body.area == (near(extent, 1e-12) if d == 2 else 0)
    if name not in AXIAL:
        assert body.center_of_mass == pytest.approx(center, rel=1e-12, abs=1e-12 * np.sqrt(tensor.max()))


@pytest.mark.parametrize(
    ("name", "sizes"), [case for case in CASES if dimensions(*case) == 3 and "ellipsoid" not in case[0]]
)
def test_areas_against_integrals_over_the_faces(name, sizes):
    found = shape(name, sizes, mass=1.0).area
    if name == "prism":
        corners = [complex(*corner) for corner in sizes["base"]]
        rim = sum(abs(b - a) for a, b in zip(corners, corners[1:] + corners[:1], strict=True))
        expected = 2 * integrated(name, sizes)[0] / sizes["height"] + rim * sizes["height"]
    else:
        expected = integrated_area(name, sizes)
    assert found == near(expected, 1e-12)


@pytest.mark.parametrize(
    "semi_axes",
    [(1, 1.3, 1.7), (3, 2, 1), (1, 1e-3, 1e-6), (1e-6, 1, 1e3), (1, 1 - 1e-9, 0.5), (5, 5 - 1e-6, 5 - 2e-6)],
)
def test_area_of_the_ellipsoid_against_legendres_integrals(semi_axes):
    """S = 2 pi c^2 + 2 pi a b (E sin^2 + F cos^2)/sin, with cos = c/a, for a >= b >= c, by 50 digits."""
    with mpmath.workdps(50):
        a, b, c = (mpmath.mpf(x) for x in sorted(semi_axes, reverse=True))
        angle = mpmath.acos(c / a)
        m = a**2 * (b**2 - c**2) / (b**2 * (a**2 - c**2))
        e, f = mpmath.ellipe(angle, m), mpmath.ellipf(angle, m)
        sin, cos = mpmath.sin(angle), mpmath.cos(angle)
        expected = float(2 * mpmath.pi * (c**2 + a * b * (e * sin**2 + f * cos**2) / sin))
    assert ph.shapes.ellipsoid(semi_axes, mass=1.0).area == near(expected, 1e-14)
    a, b, _ = semi_axes
    assert ph.shapes.half_ellipsoid(semi_axes, mass=1.0).area == near(expected / 2 + np.pi * a * b, 1e-14)


def test_area_of_the_ellipsoid_against_the_integral_over_its_surface():
    for name in ("ellipsoid", "half_ellipsoid"):
        sizes = {"semi_axes": (1, 1.3, 1.7)}
        assert shape(name, sizes, mass=1.0).area == near(integrated_area(name, sizes), 1e-12)


@pytest.mark.parametrize("wall", [1e-3, 1e-9, 1e-14])
def test_thin_walls_against_differences_of_powers_by_50_digits(wall):
    with mpmath.workdps(50):
        R, r, h = (mpmath.mpf(x) for x in (1.3, 1.3 * (1 - wall), 0.7))
        tube_volume = mpmath.pi * (R**2 - r**2) * h
        tube_moments = [
            mpmath.pi * h / 12 * (3 * (R**4 - r**4) + h**2 * (R**2 - r**2)),
            mpmath.pi / 2 * h * (R**4 - r**4),
        ]
        tube_area = 2 * mpmath.pi * (R**2 - r**2 + (R + r) * h)
        shell_volume, shell_moment = 4 * mpmath.pi / 3 * (R**3 - r**3), 8 * mpmath.pi / 15 * (R**5 - r**5)
        cone_moment = mpmath.pi / 10 * h * (R**5 - r**5) / (R - r)
    tube, shell = ph.shapes.tube(1.3, float(r), 0.7, density=1.0), ph.shapes.spherical_shell(1.3, float(r), density=1.0)
    frustum = ph.shapes.frustum(1.3, float(r), 0.7, density=1.0)
    found = [tube.volume, *tube.principal_moments[1:], tube.area, shell.volume, shell.principal_moments[0]]
    expected = [tube_volume, *tube_moments, tube_area, shell_volume, shell_moment]
    assert found == near([float(x) for x in expected], 1e-15 * 4)
    assert frustum.principal_moments[2] == near(float(cone_moment), 1e-15 * 4)


def test_thin_bodies_are_the_limits_of_thick_ones():
    """What is left falls with the square of the thickness; for the shell with the thickness itself."""
    s = ph.shapes
    thick_and_thin = [
        (lambda d: s.cylinder(2.0, d, mass=3.0), s.thin_disk(2.0, mass=3.0), 2),
        (lambda d: s.box((1.0, 2.0, d), mass=3.0), s.thin_sheet((1.0, 2.0), mass=3.0), 2),
        (lambda d: s.torus(2.0, d, mass=3.0), s.ring(2.0, mass=3.0), 2),
        (lambda d: s.thin_rod(2.0, d, mass=3.0), s.thin_rod(2.0, 0.0, mass=3.0), 2),
        (lambda d: s.spherical_shell(2.0, 2.0 - d, mass=3.0), s.spherical_shell(2.0, mass=3.0), 1),
    ]
    for thick, thin, order in thick_and_thin:
        left = [np.abs(thick(d).inertia_body - thin.inertia_body).max() for d in (1e-2, 1e-3)]
        assert np.log10(left[0] / left[1]) == pytest.approx(order, abs=0.01)


def test_special_cases_of_one_shape_are_another():
    s, rel = ph.shapes, 1e-15 * 4
    same = [
        (s.ellipsoid((2, 2, 2), mass=1.0), s.sphere(2, mass=1.0)),
        (s.frustum(2, 2, 3, mass=1.0), s.cylinder(2, 3, mass=1.0)),
        (s.parallelepiped(np.diag((1, 2, 3)), mass=1.0), s.box((1, 2, 3), mass=1.0)),
        (s.prism([(0, 0), (1, 0), (1, 2), (0, 2)], 3, mass=1.0), s.box((1, 2, 3), mass=1.0)),
        (s.thin_rod(3.0, 0.5, mass=1.0), s.cylinder(0.5, 3.0, mass=1.0)),
    ]
    for one, other in same:
        assert one.inertia_body == near(other.inertia_body, rel)
        assert (one.volume, one.area) == near((other.volume, other.area), rel)


def test_table_17_1_row_by_row():
    """[Christian 2011, table 17.1; errata: the sheet's normal has 1/12, the rod a radius]"""
    s, m, a, b, c = ph.shapes, 60.0, 1.0, 2.0, 3.0
    rows = [
        (s.ellipsoid((a, b, c), mass=m), [m * (b * b + c * c) / 5, m * (a * a + c * c) / 5, m * (a * a + b * b) / 5]),
        (s.box((a, b, c), mass=m), [m * (b * b + c * c) / 12, m * (c * c + a * a) / 12, m * (a * a + b * b) / 12]),
        (s.sphere(b, mass=m), [m * 2 / 5 * b * b] * 3),
        (s.thin_rod(c, 0.0, mass=m), [m * c * c / 12, m * c * c / 12, 0.0]),
        (s.thin_rod(c, 0.5, mass=m), [m * (3 / 4 + c * c) / 12, m * (3 / 4 + c * c) / 12, m / 8]),
        (s.thin_disk(b, mass=m), [m * b * b / 4, m * b * b / 4, m * b * b / 2]),
        (s.thin_sheet((a, b), mass=m), [m * b * b / 12, m * a * a / 12, m * (a * a + b * b) / 12]),
    ]
    for body, moments in rows:
        assert body.principal_moments.tolist() == moments


def test_box_against_the_texts_block():
    """[Baraff 1997, eq. 5-1: sides (1, 2, 3), density 1: diag(6.5, 5, 2.5)]"""
    body = ph.shapes.box((1, 2, 3), density=1.0)
    assert body.mass == 6.0
    assert body.principal_moments.tolist() == [6.5, 5.0, 2.5]


# Amounts, members, scales ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("scale", [2.0**-40, 2.0**40])
@pytest.mark.parametrize(("name", "sizes"), CASES, ids=NAMES)
def test_shapes_are_exact_at_any_scale(name, sizes, scale):
    """A power of two changes no digit: from 1e-12 to 1e12 m."""
    one, scaled = shape(name, sizes, mass=1.0), shape(name, sizes, scale, mass=1.0)
    assert (scaled.inertia_body == one.inertia_body * scale**2).all()
    assert (scaled.center_of_mass == one.center_of_mass * scale).all()
    assert (scaled.volume, scaled.area) == (one.volume * scale**3, one.area * scale**2)


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize(("name", "sizes"), CASES, ids=NAMES)
def test_members_of_an_ensemble_against_each_alone(name, sizes, count):
    """Three boxes are three boxes, though three by three numbers might look like one tensor."""
    factors, masses = np.arange(1.0, count + 1), np.arange(2.0, count + 2)
    stacked = {key: np.multiply.outer(factors, size) for key, size in sizes.items()}
    together = getattr(ph.shapes, name)(**stacked, mass=masses)
    assert together.members == count
    only_masses = shape(name, sizes, mass=masses)
    assert only_masses.members == count
    for i in range(count):
        alone, taken = shape(name, sizes, factors[i], mass=masses[i]), select_body_members(together, i)
        assert (taken.inertia_body == alone.inertia_body).all()
        assert (taken.mass, taken.volume, taken.area) == (alone.mass, alone.volume, alone.area)
        assert (taken.center_of_mass == alone.center_of_mass).all()
        assert (taken.mesh(8).vertices == alone.mesh(8).vertices).all()
        assert taken.is_line == alone.is_line
        assert (only_masses.inertia_body[i] == shape(name, sizes, mass=masses[i]).inertia_body).all()


@pytest.mark.parametrize(("name", "sizes"), CASES, ids=NAMES)
def test_mass_and_density_agree(name, sizes):
    by_mass = shape(name, sizes, mass=3.0)
    if by_mass.volume:
        by_density = shape(name, sizes, density=3.0 / by_mass.volume)
        assert by_density.inertia_body == near(by_mass.inertia_body, 1e-15)
        assert by_density.density == near(by_mass.density, 1e-15)


def test_flat_bodies_pass_the_triangle_test_though_rounding_would_fail_a_strict_one():
    """I3 = I1 + I2: 2000 of each, as moments and, turned at random, as tensors."""
    rng, s = np.random.default_rng(17), ph.shapes
    sizes, masses = 10 ** rng.uniform(-9, 9, (2000, 1)) * rng.uniform(0.1, 1, (2000, 2)), 10 ** rng.uniform(-9, 9, 2000)
    strict = 0
    for make, size in ((s.thin_sheet, sizes), (s.thin_disk, sizes[:, 0]), (s.ring, sizes[:, 0])):
        together = make(size, mass=masses)
        turn = Rotation.random(2000, rng=rng).as_matrix()
        turned = ph.Body(mass=masses, inertia=turn @ together.inertia_body @ np.swapaxes(turn, 1, 2))
        moments = np.sort(turned.principal_moments, axis=-1)
        assert moments == near(np.sort(together.principal_moments, axis=-1), 1e-13)
        i1, i2, i3 = together.principal_moments.T
        strict += (i3 > i1 + i2).sum()
        for i in range(0, 2000, 10):
            assert (make(size[i], mass=masses[i]).principal_moments == together.principal_moments[i]).all()
            assert ph.Body(mass=masses[i], inertia=turned.inertia_body[i]).members is None
    assert strict > 200


@pytest.mark.parametrize(
    ("name", "sizes"), [case for case in CASES if case[0] != "ring" and case[1].get("radius") != 0]
)
def test_support_functions_against_the_vertices_of_fine_meshes(name, sizes):
    """Corners lie on the surface, so they reach no farther, and as far but for the square of the segments.

    Not for lines, which are drawn with a thickness that they do not have.
    """
    rng = np.random.default_rng(7)
    (part,) = shape(name, sizes, mass=1.0).parts
    part = part.transform(Rotation.from_quat(rng.normal(size=4)).as_matrix() * (1, 2, 0.5), rng.normal(size=3))
    corners = part.surface(128).vertices
    size = np.ptp(corners, axis=0).max()
    for u in (*np.eye(3), *rng.normal(size=(12, 3))):
        u = u / np.linalg.norm(u)
        missed = support_of_parts((part,), u) - (corners @ u).max()
        assert -1e-14 * (size + np.abs(corners).max()) < missed < 1e-3 * size
