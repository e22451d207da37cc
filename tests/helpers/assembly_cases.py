"""What the tests of assemblies share: the definitions as raw sums, and how alike two bodies must be."""

from __future__ import annotations

import numpy as np
import pytest

SIZES = [1e-9, 1.0, 1e9]


def raw_sums(masses, points):
    """Mass, centre and tensor of points, as the definitions say, in long double numbers."""
    m, p = np.asarray(masses, np.longdouble), np.asarray(points, np.longdouble)
    mass = m.sum()
    center = (m[:, None] * p).sum(axis=0) / mass
    x, y, z = (p - center).T
    tensor = [
        [(m * (y * y + z * z)).sum(), -(m * x * y).sum(), -(m * x * z).sum()],
        [-(m * x * y).sum(), (m * (x * x + z * z)).sum(), -(m * y * z).sum()],
        [-(m * x * z).sum(), -(m * y * z).sum(), (m * (x * x + y * y)).sum()],
    ]
    return float(mass), center.astype(float), np.array(tensor).astype(float)


def assert_same(body, mass, center, tensor, rel, size=None):
    size = np.sqrt(np.trace(tensor) / mass) if size is None else size
    assert body.mass == pytest.approx(mass, rel=rel)
    assert np.abs(body.center_of_mass - center).max() <= rel * (size + np.abs(center).max())
    assert np.abs(body.inertia_body - tensor).max() <= rel * np.abs(tensor).max()


def assert_alike(found, expected, rel):
    assert_same(found, expected.mass, expected.center_of_mass, expected.inertia_body, rel)
    assert (found.volume is None) == (expected.volume is None)
    assert found.volume is None or found.volume == pytest.approx(expected.volume, rel=rel)


def cloud(rng, count=12):
    return rng.uniform(0.5, 2.0, count), rng.normal(size=(count, 3)) * (1.0, 2.0, 0.3) + (1.0, -2.0, 3.0)
