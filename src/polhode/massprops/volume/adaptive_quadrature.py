"""Adaptive quadrature of a density function over cells: the worst subcells are refined until the total converges."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from polhode.errors import InertiaError
from polhode.massprops.geometry import Indices
from polhode.massprops.volume.quadrature import DensityFunction, TotalMoments, combine_totals, sum_cell_moments
from polhode.massprops.volume.subcells import (
    MAX_PROBES_PER_BATCH,
    MIN_PROBES_PER_SUBCELL,
    SubcellIntegrator,
    Subcells,
    concatenate_subcells,
    quadrature_cost,
)
from polhode.validation import Array

MAX_POINTS = 100_000_000
"""Maximum number of density evaluations after the first pass, some ten seconds."""
SETTLED_ERROR_SHARE = 1 / 8
"""Fraction of the allowed error in subcells that are not refined further."""
RTOL_MARGIN = 1.5
"""Ratio of the suggested rtol to the error reached."""

ProgressCallback = Callable[[int, int], None]


def integrate_adaptively(
    blocks: list[tuple[str, Indices]],
    nodes: Array,
    density: DensityFunction,
    degree: int,
    rtol: float,
    report: ProgressCallback,
) -> TotalMoments:
    """The total moments, with a relative error of the mass below rtol, and of the moments likewise.

    The error of a subcell is the largest difference between two rules of different degree, in its mass and in its
    moments about its center, scaled by the radii of gyration of the bounding box; or what both rules missed.  The worst
    subcells are split, along the directions in which the density varies, until the sum of errors is small enough.  For
    a polynomial of the given degree both rules agree, and nothing is split.
    """
    used = np.concatenate([cells.ravel() for _, cells in blocks])
    integrator = SubcellIntegrator(density, np.ptp(nodes[used], axis=0) / np.sqrt(12), rtol, np.random.default_rng(0))
    pieces = _integrate_whole_cells(blocks, nodes, integrator, degree, report)
    settled: list[TotalMoments] = []
    done, points, rounds = 0.0, 0, 0
    while True:
        mass = sum(total.mass for total in settled) + sum(float(part.contents.mass.sum()) for part in pieces)
        errors = np.concatenate([part.error for part in pieces])
        allowed, error = rtol * mass, done + float(errors.sum())
        if error <= allowed:
            return combine_totals(settled + [sum_cell_moments(part.contents) for part in pieces])
        order = np.argsort(errors, kind="stable")
        sums = np.cumsum(errors[order])
        small = int(np.searchsorted(sums, SETTLED_ERROR_SHARE * allowed / 2 ** (rounds + 1), side="right"))
        done += float(sums[small - 1]) if small else 0.0
        worst = _select_worst(pieces, order, sums, error, allowed, MAX_POINTS - points)
        if not len(worst):
            count = sum(map(len, pieces))
            raise InertiaError(_not_converged_message(rtol, error, mass, rounds, count))
        which = np.zeros(len(errors), dtype=np.int64)
        which[order[:small]], which[worst] = 1, 2
        pieces, totals, evaluations = _refine_subcells(pieces, which, integrator, degree)
        settled += totals
        points, rounds = points + evaluations, rounds + 1
        report(points, MAX_POINTS)


def _select_worst(
    pieces: list[Subcells], order: Indices, sums: Array, error: float, allowed: float, points: int
) -> Indices:
    """The subcells to split: enough of the worst that the rest could stay, or that halving their errors is enough.

    No more than the remaining number of points allows.
    """
    enough = max(error - allowed / 2, 0.0), 2 * (error - 0.95 * allowed)
    rest = sums[-1] - min(*enough, float(sums[-1]))
    first = min(int(np.searchsorted(sums, rest, side="right")), len(order) - 1)
    worst = order[first:][::-1]
    prices = np.concatenate([_refinement_costs(part) for part in pieces])[worst]
    return worst[: int(np.searchsorted(np.cumsum(prices), points, side="right"))]


def _refinement_costs(part: Subcells) -> Array:
    """The number of density evaluations if a subcell is split."""
    parts = 2 ** np.array([i.bit_count() for i in range(8)])
    prices = {
        int(change): quadrature_cost(part.kind, max(0, part.degree + int(change))) for change in np.unique(part.change)
    }
    each = np.array([prices.get(change, 0) for change in (-2, 0, 2)])[part.change // 2 + 1]
    return np.asarray(parts[part.directions] * each, dtype=float)


def _integrate_whole_cells(
    blocks: list[tuple[str, Indices]],
    nodes: Array,
    integrator: SubcellIntegrator,
    degree: int,
    report: ProgressCallback,
) -> list[Subcells]:
    """The unsplit cells, by type."""
    found, done, total = [], 0, sum(len(cells) for _, cells in blocks)
    places = max(MIN_PROBES_PER_SUBCELL, MAX_PROBES_PER_BATCH // total)

    def more(count: int) -> None:
        nonlocal done
        done += count
        report(done, total)

    for kind in dict.fromkeys(kind for kind, _ in blocks):
        cells = np.concatenate([cells for name, cells in blocks if name == kind])
        found.append(integrator.integrate_cells(kind, cells, nodes, degree, places, more))
    return found


def _refine_subcells(
    pieces: list[Subcells], which: Indices, integrator: SubcellIntegrator, degree: int
) -> tuple[list[Subcells], list[TotalMoments], int]:
    """The subcells with those marked 2 split, totals of those marked 1, and the number of evaluations."""
    marks = np.split(which, np.cumsum([len(part) for part in pieces])[:-1])
    whole_cells, totals, evaluations = [], [], 0
    others: dict[tuple[str, int], list[Subcells]] = {}
    for part, mark in zip(pieces, marks, strict=True):
        if (mark == 1).any():
            totals.append(sum_cell_moments(part.contents.select(mark == 1)))
        stay = part if (mark == 0).all() else part.select(mark == 0)
        if len(stay) and stay.bricks is None:
            whole_cells.append(stay)
        elif len(stay):
            others.setdefault((stay.kind, stay.degree), []).append(stay)
        if not (mark == 2).any():
            continue
        cut = part.select(mark == 2)
        for directions, change in sorted({*zip(cut.directions.tolist(), cut.change.tolist(), strict=True)}):
            some = cut.select((cut.directions == directions) & (cut.change == change))
            new = integrator.integrate_cut(some, directions, change, degree)
            others.setdefault((new.kind, new.degree), []).append(new)
            evaluations += len(new) * quadrature_cost(new.kind, new.degree)
    merged = [parts[0] if len(parts) == 1 else concatenate_subcells(parts) for parts in others.values()]
    return whole_cells + merged, totals, evaluations


def _not_converged_message(rtol: float, error: float, mass: float, rounds: int, pieces: int) -> str:
    share = error / mass if mass > 0 else math.inf
    larger = "a finer mesh"
    if RTOL_MARGIN * share < 1:
        digit = 10.0 ** math.floor(math.log10(RTOL_MARGIN * share))
        larger = f"a larger rtol, such as {math.ceil(RTOL_MARGIN * share / digit) * digit:.0e}"
    return (
        f"the density could not be integrated to rtol = {rtol:g}: after {rounds} refinements of the worst cells, into "
        f"{pieces} pieces, the estimated error is still {share:.1e} of the mass. A density with a jump or a kink "
        "inside cells converges slowly: align the cells with the jump and give one density per region, or use "
        f"{larger}"
    )
