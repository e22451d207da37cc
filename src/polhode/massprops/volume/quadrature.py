"""Volume, mass, and first and second moments of a cell, by Gauss quadrature on the cube.

A density that is a polynomial of degree d, times two coordinates, has degree (d + 2) k along each direction of the cube
if the cell's map has degree k; the Jacobian determinant adds its own degree j.  Gauss's rule with n points is exact to
degree 2 n - 1, so n = ceil(((d + 2) k + j + 1) / 2) points along each direction are necessary and sufficient:

    type                         k    j          points for d = 0    for d = 2
    tetra                        1    2, 1, 0    3 x 2 x 2 (*)       4 x 3 x 3
    wedge                        1    2, 1, 2    3 x 2 x 3           4 x 3 x 4
    pyramid                      1    1, 1, 2    2 x 2 x 3           3 x 3 x 4
    hexahedron                   1    2, 2, 2    3 x 3 x 3           4 x 4 x 4
    tetra10                      2    5, 4, 3    5 x 5 x 4           7 x 7 x 6
    wedge15, 18                  2    5, 4, 5    5 x 5 x 5           7 x 7 x 7
    pyramid13, 14, hex20, 27     2    5, 5, 5    5 x 5 x 5           7 x 7 x 7

(*) For constant density on a tetrahedron with flat faces four points are enough: the symmetric rule of degree 2, with
barycentric coordinates (5 + 3 sqrt 5)/20 once and (5 - sqrt 5)/20 three times.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from typing import Any

import numpy as np

from polhode.massprops.volume.cell_types import CELL_TYPES, CellType, line_shape_functions
from polhode.validation import Array

POINTS_PER_CHUNK = 1 << 14
"""Points processed together: 3 MB, which fit into the processor's cache; 40 MB take 30 times as long."""
SECOND_MOMENT_PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))

DensityFunction = Callable[[Array], Array]
"""The density at points (3, m) of the nodes' coordinates."""


@dataclass(frozen=True, eq=False)
class QuadratureRule:
    """A quadrature rule for a cell type."""

    weights: Array
    values: Array
    """Shape functions at the points, (points, nodes)."""
    slopes: Array
    """Their derivatives along the cube's directions, (3 times points, nodes)."""


def points_per_direction(kind: CellType, degree: int) -> tuple[int, ...]:
    """Gauss points per direction that are exact for a density of this degree times two coordinates."""
    return tuple(-(-((degree + 2) * kind.order + jacobian + 1) // 2) for jacobian in kind.jacobian_degrees)


@lru_cache(maxsize=64)
def quadrature_rule(name: str, degree: int, of_brick: bool = False) -> QuadratureRule:
    """The rule for a cell type, for cells given by their nodes or by the 8 or 27 points of their brick."""
    kind = CELL_TYPES[name]
    if name == "tetra" and degree == 0 and not of_brick:
        cube, weights = _four_point_rule()
    else:
        lines = [np.polynomial.legendre.leggauss(n) for n in points_per_direction(kind, degree)]
        cube = np.stack(np.meshgrid(*((x + 1) / 2 for x, _ in lines), indexing="ij"), axis=-1).reshape(-1, 3)
        weights = np.einsum("i,j,k->ijk", *(w / 2 for _, w in lines)).ravel()
    values, slopes = brick_shape_functions(kind.order, cube)
    if not of_brick:
        values, slopes = values @ kind.brick, slopes @ kind.brick
    return QuadratureRule(weights, values, slopes.reshape(-1, slopes.shape[-1]))


def brick_shape_functions(order: int, cube: Array) -> tuple[Array, Array]:
    """Shape functions of a brick, (points, 8 or 27), and their derivatives, (3, points, 8 or 27)."""
    at, slope = line_shape_functions(order, cube)

    def product(*factors: Array) -> Array:
        return np.asarray(np.einsum("pi,pj,pk->pijk", *factors).reshape(len(cube), -1))

    mixed = [[slope[:, j] if j == i else at[:, j] for j in range(3)] for i in range(3)]
    return product(*(at[:, j] for j in range(3))), np.stack([product(*factors) for factors in mixed])


def _four_point_rule() -> tuple[Array, Array]:
    """The rule of degree 2 on a tetrahedron, in the cube's coordinates: there its weights carry 1/((1-u)^2 (1-v))."""
    far, near = (5 + 3 * sqrt(5)) / 20, (5 - sqrt(5)) / 20
    r, s, t = np.where(np.vstack((np.zeros(3), np.eye(3))) == 1, far, near).T
    u, v, w = r, s / (1 - r), t / (1 - r - s)
    return np.stack((u, v, w), axis=-1), 1 / 24 / ((1 - u) ** 2 * (1 - v))


@dataclass(frozen=True, eq=False)
class CellMoments:
    """Moments of cells, one column per cell, each about the cell's own `middle`, so that nothing cancels in sums."""

    middle: Array
    volume: Array
    mass: Array
    first: Array
    second: Array
    """Integrals of rho times xx, yy, zz, xy, yz, zx."""

    def times(self, density: Array) -> CellMoments:
        """The same cells with these densities, if the moments are for density 1."""
        return CellMoments(self.middle, self.volume, self.mass * density, self.first * density, self.second * density)

    def select(self, which: Any) -> CellMoments:
        """The moments of some of the cells."""
        return CellMoments(*(array[..., which] for array in vars(self).values()))


def integrate_cell_moments(nodes: Array, rule: QuadratureRule, density: DensityFunction | None = None) -> CellMoments:
    """The moments of cells given by their nodes, (3, nodes per cell, cells); the default density is 1."""
    middle = nodes.mean(axis=1)
    about = nodes - middle[:, None, :]
    points, cells = len(rule.weights), nodes.shape[-1]
    slopes = (rule.slopes @ about).reshape(3, 3, points, cells)
    volumes = determinant_3x3(slopes) * rule.weights[:, None]
    x = rule.values @ about
    masses = volumes
    if density is not None:
        places = (x + middle[:, None, :]).reshape(3, -1)
        masses = volumes * density(places).reshape(points, cells)
    moments = x * masses
    return CellMoments(
        middle,
        volumes.sum(axis=0),
        masses.sum(axis=0),
        moments.sum(axis=1),
        np.stack([np.einsum("pc,pc->c", moments[i], x[j]) for i, j in SECOND_MOMENT_PAIRS]),
    )


def determinant_3x3(m: Array) -> Array:
    """The determinant of matrices of shape (3, 3, ...)."""
    (a, b, c), (d, e, f), (g, h, i) = m
    found: Array = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
    return found


@dataclass(frozen=True, eq=False)
class TotalMoments:
    """Volume, mass, center of mass, and second moments (3 x 3) about it."""

    volume: float
    mass: float
    center: Array
    second: Array


def sum_cell_moments(contents: CellMoments) -> TotalMoments:
    """The total of many cells, by the parallel-axis theorem: diagonal terms are positive, so nothing cancels."""
    mass = float(contents.mass.sum())
    volume = float(contents.volume.sum())
    if mass == 0:
        return TotalMoments(volume, 0.0, np.zeros(3), np.zeros((3, 3)))
    start = contents.middle @ (contents.mass / mass)
    center = start + ((contents.middle - start[:, None]) * contents.mass + contents.first).sum(axis=1) / mass
    away = contents.middle - center[:, None]
    second = np.empty((3, 3))
    for (i, j), own in zip(SECOND_MOMENT_PAIRS, contents.second, strict=True):
        terms = own + contents.first[i] * away[j] + (contents.first[j] + contents.mass * away[j]) * away[i]
        second[i, j] = second[j, i] = terms.sum()
    return TotalMoments(volume, mass, center, second)


def combine_totals(wholes: list[TotalMoments]) -> TotalMoments:
    """The sum of several totals."""
    mass = np.array([whole.mass for whole in wholes])
    second = np.array([[whole.second[i, j] for i, j in SECOND_MOMENT_PAIRS] for whole in wholes]).T
    volume = np.array([whole.volume for whole in wholes])
    return sum_cell_moments(
        CellMoments(np.array([w.center for w in wholes]).T, volume, mass, np.zeros((3, len(wholes))), second)
    )
