"""Subcells of adaptive quadrature: integration by two rules, error estimates, and splitting.

Where a density has a jump or a narrow feature, two rules may agree and both be wrong.  So each subcell is also probed
at random points that no rule uses: there the polynomial through the values at the rule's points must predict the
density.  For a smooth density the error of that prediction is about the square root of the rule's own; a prediction
worse than the square root of the tolerance, while both rules agree, shows that something was missed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from polhode.massprops.geometry import Indices
from polhode.massprops.volume.cell_types import CELL_TYPES, cube_lattice
from polhode.massprops.volume.quadrature import (
    POINTS_PER_CHUNK,
    SECOND_MOMENT_PAIRS,
    CellMoments,
    DensityFunction,
    brick_shape_functions,
    integrate_cell_moments,
    points_per_direction,
    quadrature_rule,
)
from polhode.validation import Array

HIGHER_DEGREE_STEP = 2
"""Increase in degree of the second rule, for the error estimate."""
DEGREE_STEP, MAX_DEGREE_RAISE = 2, 8
"""Increase of the degree with a split, and its maximum: a smooth density gains more from it than from splitting."""
MIN_CUT_DEGREE = 2
"""Minimum degree: for a density that is not smooth the degree decreases, since it gains more from splitting."""
SMOOTH_RATIO, ROUGH_RATIO, JUMP_RATIO = 1 / 8, 1 / 3, 0.45
"""Ratio of errors after and before a split: below for a smooth density, above for a rough one, or a jump."""
AGREEMENT_RTOL = 64 * float(np.finfo(float).eps)
"""Difference relative to the mass below which two rules agree."""
MIN_PROBES_PER_SUBCELL, MAX_PROBES_PER_BATCH = 8, 8192
"""Number of random probes: per subcell, and per batch."""
MISSED_RATIO = 1 / 100
"""If the rules differ by less than this fraction of the error at the probes, they have missed a feature."""
CUT_DIRECTION_RATIO = 1 / 8
"""Variation relative to the largest below which a subcell is not split along a direction."""
INHERITED_ERROR_SHARE = 1 / 8
"""Fraction of the parent's error that its parts inherit, evenly, where they may have missed something."""


@dataclass(frozen=True, eq=False)
class Subcells:
    """Subcells of one cell type, integrated with rules of one degree; one column per subcell."""

    kind: str
    degree: int
    contents: CellMoments
    error: Array
    change: Indices
    """Change of the degree with the next split."""
    directions: Indices
    """Directions to split along, as a bit mask of 1, 2 and 4 for the cube's axes."""
    bricks: Array | None
    """The bricks' points, (3, 8 or 27, subcells)."""
    cells: tuple[Indices, Array] | None = None
    """For unsplit cells instead: their node indices, and all nodes."""

    def __len__(self) -> int:
        return len(self.error)

    def select(self, which: Any) -> Subcells:
        """Some of the subcells."""
        bricks = None if self.bricks is None else self.bricks[..., which]
        cells = None if self.cells is None else (self.cells[0][which], self.cells[1])
        columns = self.error[which], self.change[which], self.directions[which]
        return Subcells(self.kind, self.degree, self.contents.select(which), *columns, bricks, cells)

    def as_bricks(self) -> Array:
        """The points of all bricks."""
        if self.bricks is not None:
            return self.bricks
        assert self.cells is not None
        cells, nodes = self.cells
        return np.asarray(CELL_TYPES[self.kind].brick @ nodes[cells].transpose(2, 1, 0))


def concatenate_subcells(parts: list[Subcells]) -> Subcells:
    """Subcells of one type and degree as one record."""
    columns = zip(*(vars(part.contents).values() for part in parts), strict=True)
    contents = CellMoments(*(np.concatenate(column, axis=-1) for column in columns))
    return Subcells(
        parts[0].kind,
        parts[0].degree,
        contents,
        np.concatenate([part.error for part in parts]),
        np.concatenate([part.change for part in parts]),
        np.concatenate([part.directions for part in parts]),
        np.concatenate([part.as_bricks() for part in parts], axis=-1),
    )


def quadrature_cost(kind: str, degree: int) -> int:
    """The number of density evaluations per subcell."""
    return (
        sum(len(quadrature_rule(kind, d, True).weights) for d in (degree, degree + HIGHER_DEGREE_STEP))
        + MIN_PROBES_PER_SUBCELL
    )


@dataclass(eq=False)
class SubcellIntegrator:
    """A density, the radii of gyration that scale the errors of moments, and the relative tolerance."""

    density: DensityFunction
    radii: Array
    rtol: float
    generator: np.random.Generator
    """Generator of the probe points, with a fixed seed."""

    def integrate_cells(
        self, kind: str, cells: Indices, nodes: Array, degree: int, places: int, report: Any
    ) -> Subcells:
        """Integrate unsplit cells."""
        step, found = _chunk_size(kind, degree), []
        for start in range(0, len(cells), step):
            some = nodes[cells[start : start + step]].transpose(2, 1, 0)
            found.append(self.at(np.ascontiguousarray(some), kind, degree, False, places))
            report(len(some[0]))
        contents, error, directions = _concatenate_columns(found)
        change = np.full(len(cells), DEGREE_STEP)
        return Subcells(kind, degree, contents, error, change, directions, None, (cells, nodes))

    def integrate_cut(self, pieces: Subcells, directions: int, change: int, degree: int) -> Subcells:
        """Split subcells along these directions, and integrate the parts with rules of the changed degree."""
        order = CELL_TYPES[pieces.kind].order
        along = np.array([directions >> axis & 1 for axis in range(3)])
        corners = np.array(list(product(*(range(1 + a) for a in along))))
        bricks = pieces.as_bricks()
        parts = [
            brick_shape_functions(order, (cube_lattice(order) + corner) / (1 + along))[0] @ bricks for corner in corners
        ]
        together = np.concatenate(parts, axis=-1)
        raised = int(np.clip(pieces.degree + change, min(MIN_CUT_DEGREE, degree), degree + MAX_DEGREE_RAISE))
        step, places = (
            _chunk_size(pieces.kind, raised),
            max(MIN_PROBES_PER_SUBCELL, MAX_PROBES_PER_BATCH // together.shape[-1]),
        )
        found = [
            self.at(together[..., start : start + step], pieces.kind, raised, True, places)
            for start in range(0, together.shape[-1], step)
        ]
        contents, error, onwards = _concatenate_columns(found)
        left = error.reshape(len(corners), -1).sum(axis=0)
        is_smooth, is_rough = left <= SMOOTH_RATIO * pieces.error, left > ROUGH_RATIO * pieces.error
        after = np.tile(np.where(is_smooth, DEGREE_STEP, np.where(is_rough, -DEGREE_STEP, 0)), len(corners))
        has_jump = left > JUMP_RATIO * pieces.error
        error = np.maximum(error, np.tile(has_jump * pieces.error * INHERITED_ERROR_SHARE / len(corners), len(corners)))
        return Subcells(pieces.kind, raised, contents, error, after, onwards, together)

    def at(
        self, nodes: Array, kind: str, degree: int, of_brick: bool, places: int
    ) -> tuple[CellMoments, Array, Indices]:
        """The moments by the higher rule, their error estimates, and the directions to split along."""
        seen: list[Array] = []

        def record_density(points: Array) -> Array:
            seen.append(self.density(points))
            return seen[-1]

        lower = integrate_cell_moments(nodes, quadrature_rule(kind, degree, of_brick), self.density)
        higher = integrate_cell_moments(
            nodes, quadrature_rule(kind, degree + HIGHER_DEGREE_STEP, of_brick), record_density
        )
        products = np.array([self.radii[i] * self.radii[j] for i, j in SECOND_MOMENT_PAIRS])
        differences = (
            np.abs(higher.mass - lower.mass)[None],
            np.abs(higher.first - lower.first) / self.radii[:, None],
            np.abs(higher.second - lower.second) / products[:, None],
        )
        error = np.concatenate(differences).max(axis=0)
        error = np.where(error <= AGREEMENT_RTOL * higher.mass, 0.0, error)
        counts = points_per_direction(CELL_TYPES[kind], degree + HIGHER_DEGREE_STEP)
        values = seen[0].reshape(*counts, -1)
        missed = self.prediction_error(nodes, kind, of_brick, values, places) * higher.volume
        is_missed = (missed > np.sqrt(self.rtol) * higher.mass) & (error < MISSED_RATIO * missed)
        directions = np.where(is_missed, 7, _cut_directions(values))
        return higher, np.where(is_missed, missed, error), directions

    def prediction_error(self, nodes: Array, kind: str, of_brick: bool, values: Array, places: int) -> Array:
        """Mean error of the polynomial through the rule's points at random probe points."""
        cube = self.generator.random((places, 3))
        functions = brick_shape_functions(CELL_TYPES[kind].order, cube)[0]
        functions = functions if of_brick else functions @ CELL_TYPES[kind].brick
        lines = [_lagrange_basis(n, x) for n, x in zip(values.shape[:3], cube.T, strict=True)]
        weights = np.einsum("pi,pj,pk->pijk", *lines).reshape(places, -1)
        flat = values.reshape(weights.shape[1], -1)
        total = np.zeros(nodes.shape[-1])
        step = max(1, POINTS_PER_CHUNK // places)
        for start in range(0, nodes.shape[-1], step):
            some = nodes[..., start : start + step]
            found = self.density(np.ascontiguousarray((functions @ some).reshape(3, -1))).reshape(places, -1)
            total[start : start + step] = np.abs(found - weights @ flat[:, start : start + step]).mean(axis=0)
        return total


@lru_cache(maxsize=64)
def _gauss_legendre_line(count: int) -> tuple[Array, Array]:
    """Gauss points in (0, 1), and the weights that give the highest Legendre coefficient from values there."""
    x, w = np.polynomial.legendre.leggauss(count)
    return (x + 1) / 2, w * np.polynomial.legendre.Legendre.basis(count - 1)(x)


def _lagrange_basis(count: int, x: Array) -> Array:
    """Lagrange polynomials of the Gauss points, at positions x: (positions, count)."""
    points = _gauss_legendre_line(count)[0]
    apart = points[:, None] - points + np.eye(count)
    factors = (x[:, None, None] - points) / apart
    factors[:, np.arange(count), np.arange(count)] = 1.0
    return np.asarray(factors.prod(axis=-1))


def _cut_directions(values: Array) -> Indices:
    """The directions of the cube along which a density is not resolved, as a bit mask.

    The measure is the highest coefficient of the Legendre series along each line of points.
    """
    sizes = []
    for axis in range(3):
        top = _gauss_legendre_line(values.shape[axis])[1]
        sizes.append(np.abs(np.tensordot(top, values, axes=(0, axis))).sum(axis=(0, 1)))
    found = np.stack(sizes) / (np.array(values.shape[:3])[[[1, 0, 0], [2, 2, 1]]].prod(axis=0)[:, None])
    chosen = found >= CUT_DIRECTION_RATIO * found.max(axis=0)
    result: Indices = np.array((1, 2, 4)) @ chosen
    return np.where(found.max(axis=0) > 0, result, 7)


def _concatenate_columns(found: list[tuple[CellMoments, Array, Indices]]) -> tuple[CellMoments, Array, Indices]:
    columns = zip(*(vars(contents).values() for contents, _, _ in found), strict=True)
    contents = CellMoments(*(np.concatenate(column, axis=-1) for column in columns))
    return contents, np.concatenate([e for _, e, _ in found]), np.concatenate([d for _, _, d in found])


def _chunk_size(kind: str, degree: int) -> int:
    return max(1, POINTS_PER_CHUNK // len(quadrature_rule(kind, degree + HIGHER_DEGREE_STEP).weights))
