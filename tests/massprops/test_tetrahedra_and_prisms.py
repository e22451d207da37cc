"""Tetrahedra and prisms against exact fractions of the very numbers given, also far away and very thin."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from shape_cases import CORNERS, L_SHAPE, SPIKY, assert_same_tensor, near


def exact_tetrahedron(corners):
    """Volume, center, and the tensor of unit mass, in fractions of the very numbers given."""
    c = [[Fraction(float(x)) for x in corner] for corner in corners]
    (a, b, d), (e, f, g), (h, i, j) = ([x - y for x, y in zip(corner, c[0], strict=True)] for corner in c[1:])
    volume = abs(a * (f * j - g * i) - b * (e * j - g * h) + d * (e * i - f * h)) / 6
    center = [sum(axis) / 4 for axis in zip(*c, strict=True)]
    near = [[x - y for x, y in zip(corner, center, strict=True)] for corner in c]
    mean = [[sum(p[k] * p[m] for p in near) / 20 for m in range(3)] for k in range(3)]
    trace = sum(mean[k][k] for k in range(3))
    tensor = [[float((trace if k == m else 0) - mean[k][m]) for m in range(3)] for k in range(3)]
    return float(volume), [float(x) for x in center], np.array(tensor)


def _triangle(a, b, c):
    """By Heron's formula, at 50 digits."""
    p, q, r = mpmath.norm(b - a), mpmath.norm(c - b), mpmath.norm(a - c)
    return mpmath.sqrt((p + q + r) * (p + q - r) * (q + r - p) * (r + p - q)) / 4


NEEDLES = [
    np.multiply(CORNERS, (1e-5, 1.0, 1e-4)),
    [(0.1, 0.2, 0.3), (1.1, 1.2, 1.3), (1.1 + 1e-4, 1.2, 1.3), (1.1, 1.2, 1.3 + 1e-4)],
]


@pytest.mark.parametrize("away", [0.0, 1e6, -3e8])
@pytest.mark.parametrize("corners", [CORNERS, *NEEDLES])
def test_tetrahedra_far_away_against_fractions(corners, away):
    size = np.ptp(corners, axis=0).max() if corners is CORNERS else 0.0
    corners = np.add(corners, away * size * np.array((1.0, -0.7, 0.3)))
    body = ph.shapes.tetrahedron(corners, mass=1.0)
    volume, center, tensor = exact_tetrahedron(corners)
    assert body.volume == near(volume, 1e-14)
    assert_same_tensor(body.inertia_body, tensor, 1e-14)
    assert body.center_of_mass == near(center, 1e-15)
    with mpmath.workdps(50):
        exact = [mpmath.matrix([mpmath.mpf(float(x)) for x in corner]) for corner in corners]
        area = sum(_triangle(*(exact[k] for k in range(4) if k != left_out)) for left_out in range(4))
    assert body.area == near(float(area), 1e-14)


def exact_polygon(corners):
    """Area, center, and the mean of r r' about it, by sums along the rim, in fractions."""
    c = [[Fraction(float(x)) for x in corner] for corner in corners]
    pairs = [(*p, *q, p[0] * q[1] - q[0] * p[1]) for p, q in zip(c, c[1:] + c[:1], strict=True)]
    area = sum(k for *_, k in pairs) / 2
    x0, y0 = (
        sum((x + u) * k for x, _, u, _, k in pairs) / (6 * area),
        sum((y + v) * k for _, y, _, v, k in pairs) / (6 * area),
    )
    xx = sum((x * x + x * u + u * u) * k for x, _, u, _, k in pairs) / (12 * area) - x0 * x0
    yy = sum((y * y + y * v + v * v) * k for _, y, _, v, k in pairs) / (12 * area) - y0 * y0
    xy = sum((2 * x * y + x * v + u * y + 2 * u * v) * k for x, y, u, v, k in pairs) / (24 * area) - x0 * y0
    return abs(float(area)), (float(x0), float(y0)), [[float(xx), float(xy)], [float(xy), float(yy)]]


def thin_walled(wall):
    """A slotted frame: almost a closed square line, as a polygon of almost no area."""
    return [(0, 0), (1, 0), (1, 1), (0, 1), (0, wall), (wall, wall), (wall, 1 - wall), (1 - wall, 1 - wall),
            (1 - wall, wall / 2), (0, wall / 2)]  # fmt: skip


@pytest.mark.parametrize(
    ("base", "away"),
    [
        *((base, away) for base in (L_SHAPE, SPIKY, SPIKY[::-1], thin_walled(2.0**-20)) for away in (0.0, 1e6)),
        (thin_walled(2.0**-40), 0.0),
    ],
)
def test_prisms_far_away_against_fractions(base, away):
    base = np.add(base, away * np.array((1.0, -0.7)))
    body = ph.shapes.prism(base, 0.5, mass=1.0)
    area, (x, y), mean = exact_polygon(base)
    assert body.volume == near(0.5 * area, 1e-14)
    assert body.center_of_mass == near((x, y, 0.25), 1e-15 * 2)
    found = body.inertia_body
    assert found[2, 2] == near(mean[0][0] + mean[1][1], 1e-14)
    assert found[0, 0] == near(mean[1][1] + 1 / 48, 1e-14)
    assert found[0, 1] == pytest.approx(-mean[0][1], rel=1e-13, abs=1e-15)


def test_a_turned_tetrahedron_against_the_turned_tensor():
    for turn in Rotation.random(50, rng=4):
        body, turned = (ph.shapes.tetrahedron(corners, mass=1.0) for corners in (CORNERS, turn.apply(CORNERS)))
        matrix = turn.as_matrix()
        assert turned.inertia_body == pytest.approx(matrix @ body.inertia_body @ matrix.T, abs=1e-14)
