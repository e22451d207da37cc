"""Invalid shapes are refused, with a message that says what was found and what to do."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from invalid_input import assert_refused, checked, scenario
from polhode.errors import InertiaError, InputError, ScenarioError
from shape_cases import CORNERS, L_SHAPE, SKEW, near

s = ph.shapes
SQUARE = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
FLAT = [(0.1, 0.2, 0.0), (1.3, 0.1, 0.0), (0.7, 1.9, 0.0), (-0.3, 0.4, 0.0)]

AMOUNTS = {
    "neither": (lambda: s.box((1, 2, 3)), InertiaError, "a box needs its mass (kg)", "density (kg/m3)", "neither"),
    "both": (lambda: s.box((1, 2, 3), mass=1.0, density=1.0), InertiaError, "both were given"),
    "mass zero": (lambda: s.sphere(1.0, mass=0.0), InertiaError, "mass must be greater than 0 kg"),
    "density": (lambda: s.sphere(1.0, density=-1.0), InertiaError, "density must be greater than 0 kg/m3"),
    "disk": (lambda: s.thin_disk(1.0), InertiaError, "a thin disk needs its mass (kg) or its area_density (kg/m2)"),
    "ring": (lambda: s.ring(1.0), InertiaError, "a ring needs its mass (kg) or its line_density (kg/m)"),
    "rod": (lambda: s.thin_rod(1.0, 0.1, mass=1.0, density=1.0, line_density=1.0), InertiaError, "all were given"),
    "line": (lambda: s.thin_rod(1.0, 0.0, density=1.0), InertiaError, "radius 0 has no volume", "line_density"),
    "thin shell": (lambda: s.spherical_shell(1.0, density=1.0), InertiaError, "infinitely thin", "area_density"),
    "thick shell": (lambda: s.spherical_shell(1.0, 0.5, area_density=1.0), InertiaError, "omit inner_radius"),
}
SIZES = {
    "two sides": (lambda: s.box((1, 2), mass=1.0), InertiaError, "sides must be 3 numbers"),
    "no side": (lambda: s.box((1, 0, 3), mass=1.0), InertiaError, "sides must be greater than 0 m", "smallest is 0 m"),
    "radius": (lambda: s.sphere(-1.0, mass=1.0), InertiaError, "radius must be greater than 0 m", "smallest is -1 m"),
    "nan": (lambda: s.sphere(np.nan, mass=1.0), InertiaError, "radius must be finite"),
    "cone": (lambda: s.cone(1.0, 0.0, mass=1.0), InertiaError, "height must be greater than 0 m"),
    "rod": (lambda: s.thin_rod(1.0, -0.1, mass=1.0), InertiaError, "radius must be 0 m or more", "-0.1"),
    "rods": (lambda: s.thin_rod(1.0, [0.0, 0.1], mass=1.0), InertiaError, "0 m for some members"),
    "tube": (
        lambda: s.tube(1.0, 1.0, 2.0, mass=1.0),
        InertiaError,
        "inner_radius 1.0 m must be less than outer_radius",
    ),
    "tubes": (lambda: s.tube([3.0, 1.0], 2.0, 2.0, mass=1.0), InertiaError, "inner_radius 2.0 m", "outer_radius 1.0 m"),
    "shell": (
        lambda: s.spherical_shell(1.0, 1.5, mass=1.0),
        InertiaError,
        "inner_radius 1.5 m must be less than radius",
    ),
    "torus": (lambda: s.torus(1.0, 1.5, mass=1.0), InertiaError, "tube_radius 1.5 m exceeds", "overlap itself"),
    "members": (lambda: s.cylinder([1.0, 2.0], [1.0, 2.0, 3.0], mass=1.0), InputError, "different lengths, [2, 3]"),
    "masses": (lambda: s.box(np.ones((2, 3)), mass=[1.0, 2.0, 3.0]), InputError, "different lengths, [2, 3]"),
    "densities": (lambda: s.prism(L_SHAPE, [1.0, 2.0], density=np.ones(3)), InputError, "different lengths, [2, 3]"),
}
CORNER_CASES = {
    "three corners": (lambda: s.tetrahedron(CORNERS[:3], mass=1.0), InertiaError, "corners must be 4 x 3 numbers"),
    "flat": (lambda: s.tetrahedron(FLAT, mass=1.0), InertiaError, "lie in one plane", "no volume"),
    "point": (lambda: s.tetrahedron(np.ones((4, 3)), mass=1.0), InertiaError, "coincide"),
    "one of three": (lambda: s.tetrahedron([CORNERS, FLAT, CORNERS], mass=1.0), InertiaError, "(member 1)"),
    "edges": (lambda: s.parallelepiped(SKEW[:2], mass=1.0), InertiaError, "edges must be 3 x 3 numbers"),
    "flat edges": (lambda: s.parallelepiped(FLAT[:3], mass=1.0), InertiaError, "three edges", "lie in one plane"),
    "no edge": (lambda: s.parallelepiped(np.zeros((3, 3)), mass=1.0), InertiaError, "lie in one plane"),
    "two corners": (lambda: s.prism(SQUARE[:2], 1.0, mass=1.0), InertiaError, "at least three corners", "(2, 2)"),
    "ragged": (lambda: s.prism([(0, 0), (1,), (2, 2)], 1.0, mass=1.0), InertiaError, "at least three corners"),
    "closed": (lambda: s.prism([*SQUARE, SQUARE[0]], 1.0, mass=1.0), InertiaError, "corner 0", "repeats corner 4"),
    "bow tie": (
        lambda: s.prism([(0, 0), (2, 2), (3, 0), (0, 1)], 1.0, mass=1.0),
        InertiaError,
        "crosses or touches itself",
        "from corner 0 and from corner 2",
    ),
    "equal loops": (lambda: s.prism([(0, 0), (1, 1), (1, 0), (0, 1)], 1.0, mass=1.0), InertiaError, "no area"),
    "touching": (
        lambda: s.prism([(0, 0), (4, 0), (4, 3), (2, 0), (0, 3)], 1.0, mass=1.0),
        InertiaError,
        "from corner 0 and from corner 2 meet",
    ),
    "spike": (
        lambda: s.prism([(0, 0), (4, 0), (4, 4), (4, 9), (4, 3), (0, 4)], 1.0, mass=1.0),
        InertiaError,
        "from corner 1 and from corner 3 meet",
    ),
    "line": (lambda: s.prism([(0, 0), (1, 1), (3, 3)], 1.0, mass=1.0), InertiaError, "no area", "collinear"),
    "height": (lambda: s.prism(SQUARE, 0.0, mass=1.0), InertiaError, "height must be greater than 0 m"),
}
MESHES = {
    "two": (lambda: s.sphere(1.0, mass=1.0).mesh(2), InputError, "segments must be an integer, 3 or more, not 2"),
    "part": (lambda: s.sphere(1.0, mass=1.0).mesh(7.5), InputError, "an integer", "7.5"),
    "true": (lambda: s.sphere(1.0, mass=1.0).mesh(True), InputError, "an integer", "True"),
}


@checked(AMOUNTS | SIZES | CORNER_CASES | MESHES)
def test_refused_with_a_message(attempt, kind, phrases):
    assert_refused(attempt, kind, phrases)


@pytest.mark.parametrize("away", [0.0, 1.0, 1e6])
def test_flat_ones_are_refused_however_they_are_turned_and_moved(away):
    """Turned, rounding gives them a volume."""
    for turn in Rotation.random(200, rng=3):
        with pytest.raises(InertiaError, match="one plane"):
            s.tetrahedron(turn.apply(FLAT) + away, mass=1.0)
        with pytest.raises(InertiaError, match="one plane"):
            s.parallelepiped(turn.apply(FLAT[:3]), mass=1.0)
        line = np.outer((0.0, 1.0, 0.3, 0.8), turn.apply((1.0, 0.0, 0.0)))
        with pytest.raises(InertiaError, match="one plane"):
            s.tetrahedron(line + away, mass=1.0)
        with pytest.raises(InertiaError, match=r"no area|crosses or touches itself"):
            s.prism(line[:, :2] + away, 1.0, mass=1.0)


def test_very_thin_shapes_are_not_flat():
    """A foil of a millionth, turned and as far away as it is wide; a needle along an axis."""
    for turn in Rotation.random(50, rng=5):
        foil = turn.apply(np.multiply(CORNERS, (1, 1, 1e-6))) + 1.0
        assert s.tetrahedron(foil, mass=1.0).volume == near(s.tetrahedron(CORNERS, mass=1.0).volume / 1e6, 1e-8)
    assert s.parallelepiped(np.diag((1.0, 1e-9, 1e-9)), mass=1.0).volume == near(1e-18, 1e-15)
    assert s.prism(np.multiply(SQUARE, (1.0, 1e-15)), 1.0, mass=1.0).volume == near(1e-15, 1e-15)


@pytest.mark.parametrize("keyword", ["density", "thickness"])
def test_thin_shapes_have_no_density_argument(keyword):
    for make in (s.thin_disk, s.ring, lambda size, **given: s.thin_sheet((size, size), **given)):
        with pytest.raises(InertiaError, match=f"has no argument '{keyword}'"):
            make(1.0, **{keyword: 1.0})


def test_words_of_other_packages_are_answered_with_ours():
    attempts = {
        "Body has no argument 'inertia_tensor': here it is called 'inertia'": lambda: ph.Body(1.0, inertia_tensor=1),
        "'centre_of_mass': here it is called 'center_of_mass'": lambda: ph.Body(
            1.0, (1, 1, 1), centre_of_mass=(0, 0, 0)
        ),
        "from_mesh has no argument 'rho': here it is called 'density'": lambda: ph.Body.from_mesh("part.stl", rho=1.0),
        "box has no argument 'm': here it is called 'mass'": lambda: s.box((1, 1, 1), m=1.0),
    }
    for sentence, attempt in attempts.items():
        assert_refused(attempt, InertiaError, (sentence,))
    with pytest.raises(AttributeError, match=r"ph\.shapes has no 'cube': here it is called 'box'"):
        _ = s.cube


def test_a_rod_without_radius_has_mass_properties_but_no_motion():
    line = s.thin_rod(6.0, 0.0, mass=1.0)
    assert line.is_line
    assert line.principal_moments.tolist() == [3.0, 3.0, 0.0]
    assert_refused(lambda: ph.simulate(scenario(line)), ScenarioError, ("no extent across a line", "Give it a radius"))
    assert not s.thin_rod(6.0, 1e-9, mass=1.0).is_line
