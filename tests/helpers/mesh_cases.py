"""Meshes for the tests, and their reference: the same integrals in exact fractions, by another decomposition.

The reference cuts the solid beneath every triangle into columns along z instead of tetrahedra to a point: over the
triangle's shadow in the xy plane it integrates polynomials of z, by the rules of a triangle's monomials.  Nothing is
rounded.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import factorial

import numpy as np
import trimesh

import polhode as ph

make = trimesh.creation


def inverted(mesh):
    result = mesh.copy()
    result.invert()
    return result


def together(*meshes):
    return trimesh.util.concatenate(meshes)


def moved(mesh, *by):
    return mesh.copy().apply_translation(by)


def bracket():
    """An L, with no symmetry: three boxes cut from one."""
    corners = [(0, 0), (4, 0), (4, 1), (1, 1), (1, 3), (0, 3)]
    return ph.shapes.prism(corners, 2.0, density=1.0).mesh()


CLOSED = {
    "box": make.box((1, 2, 3)),
    "ball": make.icosphere(1),
    "torus": make.torus(1, 0.3, major_sections=12, minor_sections=8),
    "tube": make.annulus(0.5, 1, 1, sections=16),
    "bracket": bracket(),
    "ball with a void": together(make.icosphere(1), inverted(make.box((0.5, 0.6, 0.7)))),
    "two pieces": together(make.box((1, 1, 1)), moved(make.icosphere(1, radius=0.3), 2, 0.5, 0)),
    "stacked boxes": together(make.box((1, 1, 1)), moved(make.box((1, 1, 1)), 0, 0, 1)),
    "thin plate": make.box((1, 2, 1e-4)),
    "thin tube": make.annulus(0.999, 1, 3, sections=24),
}


def exact(vertices, faces):
    """Volume, center and tensor about it, of exactly these doubles, each rounded once at the end."""
    points = [tuple(map(Fraction, v)) for v in np.asarray(vertices, dtype=float).tolist()]
    sums = {powers: Fraction(0) for powers in product(range(3), repeat=3) if sum(powers) <= 2}
    for face in np.asarray(faces).tolist():
        corners = [points[i] for i in face]
        (x0, y0, _), (x1, y1, _), (x2, y2, _) = corners
        shadow = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)  # twice its area, with a sign
        for i, j, k in sums:
            # int x^i y^j z^k dV under the triangle = int x^i y^j z^(k+1) / (k+1) dA over the shadow
            sums[i, j, k] += shadow * _mean(corners, (i, j, k + 1)) / (2 * (k + 1))
    volume = sums[0, 0, 0]
    units = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    center = [sums[u] / volume for u in units]
    second = [
        [
            sums[tuple(a + b for a, b in zip(u, v, strict=True))] - volume * center[i] * center[j]
            for j, v in enumerate(units)
        ]
        for i, u in enumerate(units)
    ]
    trace = sum(second[i][i] for i in range(3))
    tensor = [[float((trace if i == j else 0) - second[i][j]) for j in range(3)] for i in range(3)]
    return float(volume), np.array([float(c) for c in center]), np.array(tensor)


def _mean(corners, powers):
    """The mean of x^i y^j z^k over a triangle: sums over barycentric monomials, a! b! c! 2 / (a + b + c + 2)!."""
    total = {(0, 0, 0): Fraction(1)}
    for axis, power in enumerate(powers):
        for _ in range(power):
            grown = {}
            for key, value in total.items():
                for corner in range(3):
                    new = tuple(key[c] + (c == corner) for c in range(3))
                    grown[new] = grown.get(new, 0) + value * corners[corner][axis]
            total = grown
    return sum(
        value * factorial(a) * factorial(b) * factorial(c) * 2 / Fraction(factorial(a + b + c + 2))
        for (a, b, c), value in total.items()
    )


def misses(body, vertices, faces, density=1.0):
    """The relative errors of mass and tensor, and that of the center in units of the size."""
    volume, center, tensor = exact(vertices, faces)
    size = np.ptp(vertices, axis=0).max()
    return (
        abs(body.mass / (density * volume) - 1),
        np.abs(body.center_of_mass - center).max() / size,
        np.abs(body.inertia_body / density - tensor).max() / np.abs(tensor).max(),
    )
