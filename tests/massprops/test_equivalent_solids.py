"""Equivalent ellipsoids and boxes, against the solids that they came from."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from assembly_cases import SIZES

TURN = Rotation.from_euler("xyz", (0.4, -1.0, 2.0))


def test_the_equivalent_box_of_a_box_and_ellipsoid_of_an_ellipsoid():
    assert ph.shapes.box((1, 2, 3), mass=7.0).box_sides == pytest.approx([1.0, 2.0, 3.0], rel=1e-15)
    assert ph.shapes.sphere(3.0, mass=7.0).ellipsoid_semi_axes == pytest.approx([3.0] * 3, rel=1e-15)
    a, b, c, m = 0.3, 0.4, 0.6, 5.0
    by_hand = ph.Body(m, (m * (b * b + c * c) / 5, m * (c * c + a * a) / 5, m * (a * a + b * b) / 5))
    assert by_hand.ellipsoid_semi_axes == pytest.approx([a, b, c], rel=1e-14)
    assert ph.particle(1.0).box_sides.tolist() == [0.0, 0.0, 0.0]
    assert ph.Body.from_particles((1, 1), ((0, 0, 0), (0, 0, 1))).box_sides.tolist() == [0.0, 0.0, np.sqrt(3.0)]


@pytest.mark.parametrize("size", SIZES)
def test_equivalent_solids_have_the_moments_back(size):
    rng = np.random.default_rng(6)
    second = rng.uniform(0.01, 1.0, (200, 3)) * size**2
    moments = second.sum(axis=1, keepdims=True) - second
    masses = rng.uniform(0.1, 10.0, 200)
    bodies = ph.Body(masses, moments)
    back = ph.shapes.box(bodies.box_sides, mass=masses)
    assert back.principal_moments == pytest.approx(moments, rel=1e-14)
    a2, b2, c2 = (bodies.ellipsoid_semi_axes**2).T
    assert np.stack((b2 + c2, c2 + a2, a2 + b2), axis=1) * masses[:, None] / 5 == pytest.approx(moments, rel=1e-14)


def test_flat_bodies_have_flat_equivalents():
    """A strict triangle test would refuse many of them; turned ones have rounding in their thickness."""
    rng = np.random.default_rng(7)
    for a, b in rng.uniform(0.1, 1.0, (100, 2)):
        flat = ph.Body(1.0, (b * b / 12, a * a / 12, b * b / 12 + a * a / 12))
        assert flat.box_sides == pytest.approx([a, b, 0.0], rel=1e-13)
        assert flat.box_sides[2] == 0.0
        assert flat.turn(Rotation.from_quat(rng.normal(size=4))).box_sides.min() == 0.0
