"""What cells hold whose density is a function of the place: the worst pieces are cut until the whole is good enough."""

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
"""At how many points the density is asked for, besides those of the first look, before giving up: some ten seconds."""
SETTLED_ERROR_SHARE = 1 / 8
"""The part of the allowed error that may be in pieces which are not looked at again."""
RTOL_MARGIN = 1.5
"""How much larger than the error reached the accuracy is that is proposed."""

ProgressCallback = Callable[[int, int], None]


def integrate_adaptively(
    blocks: list[tuple[str, Indices]],
    nodes: Array,
    density: DensityFunction,
    degree: int,
    rtol: float,
    report: ProgressCallback,
) -> TotalMoments:
    """Everything together, with an error of the mass below rtol of it, and of the moments likewise.

    A piece's error is the largest difference between the rule for a degree and one for a higher degree, in its mass and
    in its moments about its middle, these divided by the radii of gyration of the bounding box; or what both rules
    missed.  Of all pieces the worst are cut, along the directions in which the density varies, until the errors' sum is
    small enough.  A polynomial of the given degree makes both rules agree: nothing is cut.
    """
    used = np.concatenate([cells.ravel() for _, cells in blocks])
    look = SubcellIntegrator(density, np.ptp(nodes[used], axis=0) / np.sqrt(12), rtol, np.random.default_rng(0))
    pieces = _integrate_whole_cells(blocks, nodes, look, degree, report)
    settled: list[TotalMoments] = []
    done, points, rounds = 0.0, 0, 0
    while True:
        mass = sum(heap.mass for heap in settled) + sum(float(part.contents.mass.sum()) for part in pieces)
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
        pieces, heaps, asked = _refine_subcells(pieces, which, look, degree)
        settled += heaps
        points, rounds = points + asked, rounds + 1
        report(points, MAX_POINTS)


def _select_worst(
    pieces: list[Subcells], order: Indices, sums: Array, error: float, allowed: float, points: int
) -> Indices:
    """The pieces to cut: so many of the worst that the others could stay as they are, or that halving is enough.

    No more than there are points for.
    """
    enough = max(error - allowed / 2, 0.0), 2 * (error - 0.95 * allowed)
    rest = sums[-1] - min(*enough, float(sums[-1]))
    first = min(int(np.searchsorted(sums, rest, side="right")), len(order) - 1)
    worst = order[first:][::-1]
    prices = np.concatenate([_refinement_costs(part) for part in pieces])[worst]
    return worst[: int(np.searchsorted(np.cumsum(prices), points, side="right"))]


def _refinement_costs(part: Subcells) -> Array:
    """At how many points the density is asked for if a piece is cut."""
    parts = 2 ** np.array([i.bit_count() for i in range(8)])
    prices = {
        int(change): quadrature_cost(part.kind, max(0, part.degree + int(change))) for change in np.unique(part.change)
    }
    each = np.array([prices.get(change, 0) for change in (-2, 0, 2)])[part.change // 2 + 1]
    return np.asarray(parts[part.directions] * each, dtype=float)


def _integrate_whole_cells(
    blocks: list[tuple[str, Indices]], nodes: Array, look: SubcellIntegrator, degree: int, report: ProgressCallback
) -> list[Subcells]:
    """The cells themselves, kind by kind."""
    found, done, total = [], 0, sum(len(cells) for _, cells in blocks)
    places = max(MIN_PROBES_PER_SUBCELL, MAX_PROBES_PER_BATCH // total)

    def more(count: int) -> None:
        nonlocal done
        done += count
        report(done, total)

    for kind in dict.fromkeys(kind for kind, _ in blocks):
        cells = np.concatenate([cells for name, cells in blocks if name == kind])
        found.append(look.integrate_cells(kind, cells, nodes, degree, places, more))
    return found


def _refine_subcells(
    pieces: list[Subcells], which: Indices, look: SubcellIntegrator, degree: int
) -> tuple[list[Subcells], list[TotalMoments], int]:
    """The pieces after those marked 2 were cut, what those marked 1 hold, and how many points that took."""
    marks = np.split(which, np.cumsum([len(part) for part in pieces])[:-1])
    whole_cells, heaps, asked = [], [], 0
    others: dict[tuple[str, int], list[Subcells]] = {}
    for part, mark in zip(pieces, marks, strict=True):
        if (mark == 1).any():
            heaps.append(sum_cell_moments(part.contents.taken(mark == 1)))
        stay = part if (mark == 0).all() else part.taken(mark == 0)
        if len(stay) and stay.bricks is None:
            whole_cells.append(stay)
        elif len(stay):
            others.setdefault((stay.kind, stay.degree), []).append(stay)
        if not (mark == 2).any():
            continue
        cut = part.taken(mark == 2)
        for directions, change in sorted({*zip(cut.directions.tolist(), cut.change.tolist(), strict=True)}):
            some = cut.taken((cut.directions == directions) & (cut.change == change))
            new = look.integrate_cut(some, directions, change, degree)
            others.setdefault((new.kind, new.degree), []).append(new)
            asked += len(new) * quadrature_cost(new.kind, new.degree)
    merged = [parts[0] if len(parts) == 1 else concatenate_subcells(parts) for parts in others.values()]
    return whole_cells + merged, heaps, asked


def _not_converged_message(rtol: float, error: float, mass: float, rounds: int, pieces: int) -> str:
    share = error / mass if mass > 0 else math.inf
    larger = "a finer mesh"
    if RTOL_MARGIN * share < 1:
        digit = 10.0 ** math.floor(math.log10(RTOL_MARGIN * share))
        larger = f"a larger rtol, such as {math.ceil(RTOL_MARGIN * share / digit) * digit:.0e}"
    return (
        f"the density could not be integrated to rtol = {rtol:g}: after cutting the worst pieces of cells, {rounds} "
        f"times over, into {pieces} pieces, the estimated error is still {share:.1e} of the mass. A density with a "
        "jump or a kink within cells converges slowly: let the cells' faces follow the jump and give one density for "
        f"each region, or give {larger}"
    )
