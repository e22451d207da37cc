"""Pieces of cells: what each holds by two rules, how far these differ, what both may have missed, and cutting.

Where a density has a jump or a narrow place, two rules may agree and both be wrong.  So each piece is also looked at in
some places more, which no rule uses: there the polynomial through the values at the rule's points must foretell them.
For a smooth density the error of that foretelling is about the root of the rule's own; so a foretelling that is worse
than the root of the wanted accuracy, while both rules agree, shows that something was missed.
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
"""How much higher the degree of the rule is that judges."""
DEGREE_STEP, MAX_DEGREE_RAISE = 2, 8
"""By how much the degree grows with a cut, and at most: a smooth density gains more from it than from cutting."""
MIN_CUT_DEGREE = 2
"""A density that is not smooth gains more from cutting: the degree falls, but not below this."""
SMOOTH_RATIO, ROUGH_RATIO, JUMP_RATIO = 1 / 8, 1 / 3, 0.45
"""What a cut leaves of the error: at most where the density is smooth, at least where it is not, or has a jump."""
AGREEMENT_RTOL = 64 * float(np.finfo(float).eps)
"""Two rules that differ by less, relative to a piece's mass, agree."""
MIN_PROBES_PER_SUBCELL, MAX_PROBES_PER_BATCH = 8, 8192
"""Places to look at besides: in each piece, and in all pieces together that are looked at in one go."""
MISSED_RATIO = 1 / 100
"""Rules that differ by less than this part of what the places show are taken to have missed it."""
CUT_DIRECTION_RATIO = 1 / 8
"""A piece is not cut along a direction in which the density varies by less than this part of the largest variation."""


INHERITED_ERROR_SHARE = 1 / 8
"""The part of the error that stays with the parts of a piece, evenly, where they may have missed something."""


@dataclass(frozen=True, eq=False)
class Subcells:
    """Pieces of one kind of cell that were integrated with rules of one degree; one column for each."""

    kind: str
    degree: int
    contents: CellMoments
    error: Array
    change: Indices
    """By how much the degree is to change with the next cut."""
    directions: Indices
    """Along which directions to cut: 1, 2 and 4 for the cube's three, added up."""
    bricks: Array | None
    """The bricks' points, (3, 8 or 27, pieces)."""
    cells: tuple[Indices, Array] | None = None
    """For whole cells instead: their nodes' numbers, and all nodes."""

    def __len__(self) -> int:
        return len(self.error)

    def taken(self, which: Any) -> Subcells:
        """Some of the pieces."""
        bricks = None if self.bricks is None else self.bricks[..., which]
        cells = None if self.cells is None else (self.cells[0][which], self.cells[1])
        shown = self.error[which], self.change[which], self.directions[which]
        return Subcells(self.kind, self.degree, self.contents.taken(which), *shown, bricks, cells)

    def as_bricks(self) -> Array:
        """All the bricks' points."""
        if self.bricks is not None:
            return self.bricks
        assert self.cells is not None
        cells, nodes = self.cells
        return np.asarray(CELL_TYPES[self.kind].brick @ nodes[cells].transpose(2, 1, 0))


def concatenate_subcells(parts: list[Subcells]) -> Subcells:
    """Pieces of one kind and degree as one heap."""
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
    """The number of points in a piece."""
    return (
        sum(len(quadrature_rule(kind, d, True).weights) for d in (degree, degree + HIGHER_DEGREE_STEP))
        + MIN_PROBES_PER_SUBCELL
    )


@dataclass(eq=False)
class SubcellIntegrator:
    """A density, the body's radii of gyration against which errors of moments count, and the accuracy wanted."""

    density: DensityFunction
    radii: Array
    rtol: float
    chance: np.random.Generator
    """Where to look besides; the same in every run."""

    def integrate_cells(
        self, kind: str, cells: Indices, nodes: Array, degree: int, places: int, report: Any
    ) -> Subcells:
        """Whole cells."""
        step, found = _chunk_size(kind, degree), []
        for start in range(0, len(cells), step):
            some = nodes[cells[start : start + step]].transpose(2, 1, 0)
            found.append(self.at(np.ascontiguousarray(some), kind, degree, False, places))
            report(len(some[0]))
        contents, error, directions = _concatenate_columns(found)
        change = np.full(len(cells), DEGREE_STEP)
        return Subcells(kind, degree, contents, error, change, directions, None, (cells, nodes))

    def integrate_cut(self, pieces: Subcells, directions: int, change: int, degree: int) -> Subcells:
        """The parts of pieces that are cut along these directions, integrated with rules of the changed degree."""
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
        in_doubt = left > JUMP_RATIO * pieces.error
        error = np.maximum(error, np.tile(in_doubt * pieces.error * INHERITED_ERROR_SHARE / len(corners), len(corners)))
        return Subcells(pieces.kind, raised, contents, error, after, onwards, together)

    def at(
        self, nodes: Array, kind: str, degree: int, of_brick: bool, places: int
    ) -> tuple[CellMoments, Array, Indices]:
        """What pieces hold by the higher rule, how uncertain that is, and along which directions to cut."""
        seen: list[Array] = []

        def kept(points: Array) -> Array:
            seen.append(self.density(points))
            return seen[-1]

        lower = integrate_cell_moments(nodes, quadrature_rule(kind, degree, of_brick), self.density)
        higher = integrate_cell_moments(nodes, quadrature_rule(kind, degree + HIGHER_DEGREE_STEP, of_brick), kept)
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
        missed = self.missed(nodes, kind, of_brick, values, places) * higher.volume
        is_missed = (missed > np.sqrt(self.rtol) * higher.mass) & (error < MISSED_RATIO * missed)
        directions = np.where(is_missed, 7, _cut_directions(values))
        return higher, np.where(is_missed, missed, error), directions

    def missed(self, nodes: Array, kind: str, of_brick: bool, values: Array, places: int) -> Array:
        """By how much the values at the rule's points fail to foretell those at other places, in the mean."""
        cube = self.chance.random((places, 3))
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
    """Gauss's points between 0 and 1, and what takes the highest coefficient of a Legendre series from values there."""
    x, w = np.polynomial.legendre.leggauss(count)
    return (x + 1) / 2, w * np.polynomial.legendre.Legendre.basis(count - 1)(x)


def _lagrange_basis(count: int, x: Array) -> Array:
    """The polynomials that are 1 at one of Gauss's points and 0 at the others, at places x: (places, count)."""
    points = _gauss_legendre_line(count)[0]
    apart = points[:, None] - points + np.eye(count)
    factors = (x[:, None, None] - points) / apart
    factors[:, np.arange(count), np.arange(count)] = 1.0
    return np.asarray(factors.prod(axis=-1))


def _cut_directions(values: Array) -> Indices:
    """Along which of the cube's directions a density varies too much for a polynomial, judged by a rule's points.

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
