"""What cells hold whose density is a function of the place: the worst pieces are cut until the whole is good enough."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from polhode.errors import InertiaError
from polhode.massprops.geometry import Indices
from polhode.massprops.volume.quadrature import Density, Whole, joined, together
from polhode.massprops.volume.subcells import ALL_TOGETHER, FEWEST, Look, Pieces, cost, gathered
from polhode.validation import Array

MOST_POINTS = 100_000_000
"""At how many points the density is asked for, besides those of the first look, before giving up: some ten seconds."""
SETTLED = 1 / 8
"""The part of the allowed error that may be in pieces which are not looked at again."""
SPARE = 1.5
"""How much larger than the error reached the accuracy is that is proposed."""

Report = Callable[[int, int], None]


def adaptive_whole(
    blocks: list[tuple[str, Indices]], nodes: Array, density: Density, degree: int, rtol: float, report: Report
) -> Whole:
    """Everything together, with an error of the mass below rtol of it, and of the moments likewise.

    A piece's error is the largest difference between the rule for a degree and one for a higher degree, in its mass and
    in its moments about its middle, these divided by the radii of gyration of the bounding box; or what both rules
    missed.  Of all pieces the worst are cut, along the directions in which the density varies, until the errors' sum is
    small enough.  A polynomial of the given degree makes both rules agree: nothing is cut.
    """
    used = np.concatenate([cells.ravel() for _, cells in blocks])
    look = Look(density, np.ptp(nodes[used], axis=0) / np.sqrt(12), rtol, np.random.default_rng(0))
    pieces = _of_cells(blocks, nodes, look, degree, report)
    settled: list[Whole] = []
    done, points, rounds = 0.0, 0, 0
    while True:
        mass = sum(heap.mass for heap in settled) + sum(float(part.contents.mass.sum()) for part in pieces)
        errors = np.concatenate([part.error for part in pieces])
        allowed, error = rtol * mass, done + float(errors.sum())
        if error <= allowed:
            return joined(settled + [together(part.contents) for part in pieces])
        order = np.argsort(errors, kind="stable")
        sums = np.cumsum(errors[order])
        small = int(np.searchsorted(sums, SETTLED * allowed / 2 ** (rounds + 1), side="right"))
        done += float(sums[small - 1]) if small else 0.0
        worst = _worst(pieces, order, sums, error, allowed, MOST_POINTS - points)
        if not len(worst):
            count = sum(map(len, pieces))
            raise InertiaError(_too_many(rtol, error, mass, rounds, count))
        which = np.zeros(len(errors), dtype=np.int64)
        which[order[:small]], which[worst] = 1, 2
        pieces, heaps, asked = _cut(pieces, which, look, degree)
        settled += heaps
        points, rounds = points + asked, rounds + 1
        report(points, MOST_POINTS)


def _worst(pieces: list[Pieces], order: Indices, sums: Array, error: float, allowed: float, points: int) -> Indices:
    """The pieces to cut: so many of the worst that the others could stay as they are, or that halving is enough.

    No more than there are points for.
    """
    enough = max(error - allowed / 2, 0.0), 2 * (error - 0.95 * allowed)
    rest = sums[-1] - min(*enough, float(sums[-1]))
    first = min(int(np.searchsorted(sums, rest, side="right")), len(order) - 1)
    worst = order[first:][::-1]
    prices = np.concatenate([_prices(part) for part in pieces])[worst]
    return worst[: int(np.searchsorted(np.cumsum(prices), points, side="right"))]


def _prices(part: Pieces) -> Array:
    """At how many points the density is asked for if a piece is cut."""
    parts = 2 ** np.array([i.bit_count() for i in range(8)])
    prices = {int(change): cost(part.kind, max(0, part.degree + int(change))) for change in np.unique(part.change)}
    each = np.array([prices.get(change, 0) for change in (-2, 0, 2)])[part.change // 2 + 1]
    return np.asarray(parts[part.directions] * each, dtype=float)


def _of_cells(blocks: list[tuple[str, Indices]], nodes: Array, look: Look, degree: int, report: Report) -> list[Pieces]:
    """The cells themselves, kind by kind."""
    found, done, total = [], 0, sum(len(cells) for _, cells in blocks)
    places = max(FEWEST, ALL_TOGETHER // total)

    def more(count: int) -> None:
        nonlocal done
        done += count
        report(done, total)

    for kind in dict.fromkeys(kind for kind, _ in blocks):
        cells = np.concatenate([cells for name, cells in blocks if name == kind])
        found.append(look.at_cells(kind, cells, nodes, degree, places, more))
    return found


def _cut(pieces: list[Pieces], which: Indices, look: Look, degree: int) -> tuple[list[Pieces], list[Whole], int]:
    """The pieces after those marked 2 were cut, what those marked 1 hold, and how many points that took."""
    marks = np.split(which, np.cumsum([len(part) for part in pieces])[:-1])
    whole_cells, heaps, asked = [], [], 0
    others: dict[tuple[str, int], list[Pieces]] = {}
    for part, mark in zip(pieces, marks, strict=True):
        if (mark == 1).any():
            heaps.append(together(part.contents.taken(mark == 1)))
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
            new = look.at_cut(some, directions, change, degree)
            others.setdefault((new.kind, new.degree), []).append(new)
            asked += len(new) * cost(new.kind, new.degree)
    merged = [parts[0] if len(parts) == 1 else gathered(parts) for parts in others.values()]
    return whole_cells + merged, heaps, asked


def _too_many(rtol: float, error: float, mass: float, rounds: int, pieces: int) -> str:
    share = error / mass if mass > 0 else math.inf
    larger = "a finer mesh"
    if SPARE * share < 1:
        digit = 10.0 ** math.floor(math.log10(SPARE * share))
        larger = f"a larger rtol, such as {math.ceil(SPARE * share / digit) * digit:.0e}"
    return (
        f"the density could not be integrated to rtol = {rtol:g}: after cutting the worst pieces of cells, {rounds} "
        f"times over, into {pieces} pieces, the estimated error is still {share:.1e} of the mass. A density with a "
        "jump or a kink within cells converges slowly: let the cells' faces follow the jump and give one density for "
        f"each region, or give {larger}"
    )
