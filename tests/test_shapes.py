"""Shapes against integrals done by hand, and against each other."""

from __future__ import annotations

import numpy as np
import pytest

import polhode as ph
from polhode.errors import InertiaError


def test_box_against_the_texts_block():
    """[seed 000 eq. 5-1: sides (1, 2, 3), density 1: diag(6.5, 5, 2.5)]"""
    body = ph.shapes.box((1, 2, 3), density=1.0)
    assert body.mass == 6.0
    assert body.principal_moments.tolist() == [6.5, 5.0, 2.5]


def test_box_and_sphere_against_sums_over_a_grid():
    n = 60
    line = (np.arange(n) + 0.5) / n - 0.5
    x, y, z = np.meshgrid(line * 0.4, line * 0.7, line * 1.1, indexing="ij")
    cell = 3.0 / n**3
    found = ph.shapes.box((0.4, 0.7, 1.1), mass=3.0).principal_moments
    by_sum = [cell * (y * y + z * z).sum(), cell * (z * z + x * x).sum(), cell * (x * x + y * y).sum()]
    assert found == pytest.approx(by_sum, rel=1e-3)

    x, y, z = np.meshgrid(*(2 * line,) * 3, indexing="ij")
    inside = x * x + y * y + z * z <= 1
    by_sum = (2 / n) ** 3 * 5.0 * (x * x + y * y)[inside].sum()
    assert ph.shapes.sphere(1.0, density=5.0).principal_moments == pytest.approx([by_sum] * 3, rel=1e-2)


def test_mass_and_density_agree():
    by_mass, by_density = ph.shapes.sphere(0.3, mass=2.0), ph.shapes.sphere(0.3, density=2.0 / (4 / 3 * np.pi * 0.027))
    assert by_density.mass == pytest.approx(by_mass.mass, rel=1e-15)
    assert by_density.principal_moments == pytest.approx(by_mass.principal_moments, rel=1e-15)


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_shapes_have_no_scale_of_their_own(scale):
    small = ph.shapes.box((scale, 2 * scale, 3 * scale), mass=6 * scale)
    assert small.principal_moments / scale**3 == pytest.approx([6.5, 5.0, 2.5], rel=1e-14)


@pytest.mark.parametrize("count", [2, 3])
def test_members_of_an_ensemble(count):
    """Three boxes are three boxes, though three by three numbers might look like one tensor."""
    sides = np.arange(1.0, 3 * count + 1).reshape(count, 3)
    together = ph.shapes.box(sides, density=2.0)
    assert together.members == count
    for i in range(count):
        alone = ph.shapes.box(sides[i], density=2.0)
        assert together.mass[i] == alone.mass
        assert together.principal_moments[i].tolist() == alone.principal_moments.tolist()


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: ph.shapes.box((1, 2, 3)), "neither was given"),
        (lambda: ph.shapes.box((1, 2, 3), mass=1.0, density=1.0), "both were given"),
        (lambda: ph.shapes.box((1, 2), mass=1.0), "sides must be 3 numbers"),
        (lambda: ph.shapes.box((1, 0, 3), mass=1.0), "sides must be greater than 0 m, but the smallest is 0 m"),
        (lambda: ph.shapes.sphere(-1.0, mass=1.0), "radius must be greater than 0 m, but the smallest is -1 m"),
        (lambda: ph.shapes.sphere(np.nan, mass=1.0), "radius must be finite"),
        (lambda: ph.shapes.sphere(1.0, mass=0.0), "mass must be greater than 0 kg"),
        (lambda: ph.shapes.sphere(1.0, density=-1.0), "density must be greater than 0 kg/m3"),
    ],
)
def test_bad_shapes_are_refused_with_a_sentence(make, sentence):
    with pytest.raises(InertiaError, match=sentence):
        make()
