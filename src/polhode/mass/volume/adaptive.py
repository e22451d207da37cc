"""What cells hold whose density is a function of the place: two rules a cell, and smaller pieces where they differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from polhode.checks import Array
from polhode.errors import InertiaError
from polhode.mass.geometry import Indices
from polhode.mass.volume.cells import KINDS, lattice
from polhode.mass.volume.quadrature import (
    CHUNK,
    PAIRS,
    Contents,
    Density,
    Whole,
    brick_functions,
    contents_of,
    joined,
    rule_for,
    together,
)

MOST_POINTS = 200_000_000
"""At how many points the density is asked for, besides those of the first look, before giving up: some ten seconds."""
HIGHER = 2
"""How much higher the degree of the rule is that judges."""
RAISED, MOST_RAISED = 2, 8
"""By how much the degree grows with each cut, and at most: a smooth density gains more from it than from cutting."""
ROUNDING = 64 * float(np.finfo(float).eps)
"""Two rules that differ by less, relative to a piece's mass, agree."""

Report = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Level:
    """Pieces of one kind of cell: what each holds, how uncertain that is, and how to get their bricks."""

    kind: str
    contents: Contents
    error: Array
    bricks: Callable[[Array], Array]
    """The bricks' points of some of the pieces, (3, 8 or 27, pieces)."""


def adaptive_whole(
    blocks: list[tuple[str, Indices]], nodes: Array, density: Density, degree: int, rtol: float, report: Report
) -> Whole:
    """Everything together, with an error of the mass below rtol of it, and of the moments likewise.

    A piece's error is the largest difference between the rule for `degree` and one for a higher degree, in its mass and
    in its moments about its middle, these divided by the radii of gyration of the bounding box.  Pieces with the
    smallest errors are taken as they are, as long as all errors taken do not use up half of what is left of the allowed
    one; the others are cut in eight.  A polynomial of this degree makes both rules agree: nothing is cut.
    """
    used_nodes = np.concatenate([cells.ravel() for _, cells in blocks])
    look = _Look(density, np.ptp(nodes[used_nodes], axis=0) / np.sqrt(12))
    levels = _of_cells(blocks, nodes, look, degree, report)
    heaps: list[Whole] = []
    used, pieces, points, depth = 0.0, 0, 0, 0
    while True:
        mass = sum(heap.mass for heap in heaps) + sum(float(level.contents.mass.sum()) for level in levels)
        errors = np.concatenate([level.error for level in levels])
        allowed = rtol * mass
        if used + errors.sum() <= allowed:
            return joined(heaps + [together(level.contents) for level in levels])
        order = np.argsort(errors, kind="stable")
        keep = np.zeros(len(errors), dtype=bool)
        keep[order[np.cumsum(errors[order]) <= (allowed - used) / 2]] = True
        parts = np.split(keep, np.cumsum([len(level.error) for level in levels])[:-1])
        raised = degree + min(RAISED * (depth + 1), MOST_RAISED)
        points += sum(
            8 * int((~kept).sum()) * _cost(level.kind, raised) for level, kept in zip(levels, parts, strict=True)
        )
        if points > MOST_POINTS:
            raise InertiaError(_too_many(rtol, used + float(errors.sum()), mass, depth, pieces))
        used += float(errors[keep].sum())
        next_levels = []
        for level, kept in zip(levels, parts, strict=True):
            if kept.any():
                heaps.append(together(level.contents.taken(kept)))
            if not kept.all():
                next_levels.append(_cut(level, ~kept, look, raised))
                pieces += len(next_levels[-1].error)
                report(points, MOST_POINTS)
        levels, depth = next_levels, depth + 1


def _of_cells(blocks: list[tuple[str, Indices]], nodes: Array, look: _Look, degree: int, report: Report) -> list[Level]:
    """The cells themselves, kind by kind."""
    levels, done, total = [], 0, sum(len(cells) for _, cells in blocks)
    for kind in dict.fromkeys(kind for kind, _ in blocks):
        cells = np.concatenate([cells for name, cells in blocks if name == kind])
        step, found = _chunk(kind, degree), []
        for start in range(0, len(cells), step):
            found.append(look.at(nodes[cells[start : start + step]].transpose(2, 1, 0), kind, degree, False))
            report(done + start, total)
        done += len(cells)
        brick = KINDS[kind].brick

        def bricks(which: Array, cells: Indices = cells, brick: Array = brick) -> Array:
            return np.asarray(brick @ nodes[cells[which]].transpose(2, 1, 0))

        levels.append(Level(kind, *_gathered(found), bricks))
    return levels


def _cut(level: Level, which: Array, look: _Look, degree: int) -> Level:
    """Each of these pieces in eight: its brick's halves along every direction."""
    order = KINDS[level.kind].order
    eighths = [brick_functions(order, (lattice(order) + corner) / 2)[0] for corner in lattice(1)]
    parents = level.bricks(which)
    bricks = np.concatenate([eighth @ parents for eighth in eighths], axis=-1)
    step = _chunk(level.kind, degree)
    found = [
        look.at(bricks[..., start : start + step], level.kind, degree, True)
        for start in range(0, bricks.shape[-1], step)
    ]
    return Level(level.kind, *_gathered(found), lambda some: bricks[..., some])


@dataclass(frozen=True, eq=False)
class _Look:
    """A density, and the body's radii of gyration, against which errors of moments count."""

    density: Density
    radii: Array

    def at(self, nodes: Array, kind: str, degree: int, of_brick: bool) -> tuple[Contents, Array]:
        """What pieces hold by the higher rule, and how far the lower one is from it."""
        lower = contents_of(nodes, rule_for(kind, degree, of_brick), self.density)
        higher = contents_of(nodes, rule_for(kind, degree + HIGHER, of_brick), self.density)
        products = np.array([self.radii[i] * self.radii[j] for i, j in PAIRS])
        differences = (
            np.abs(higher.mass - lower.mass)[None],
            np.abs(higher.first - lower.first) / self.radii[:, None],
            np.abs(higher.second - lower.second) / products[:, None],
        )
        error = np.concatenate(differences).max(axis=0)
        return higher, np.where(error <= ROUNDING * higher.mass, 0.0, error)


def _gathered(parts: list[tuple[Contents, Array]]) -> tuple[Contents, Array]:
    columns = zip(*(vars(contents).values() for contents, _ in parts), strict=True)
    return Contents(*(np.concatenate(column, axis=-1) for column in columns)), np.concatenate([e for _, e in parts])


def _chunk(kind: str, degree: int) -> int:
    return max(1, CHUNK // len(rule_for(kind, degree + HIGHER).weights))


def _cost(kind: str, degree: int) -> int:
    """The number of points in a piece."""
    return sum(len(rule_for(kind, d, True).weights) for d in (degree, degree + HIGHER))


def _too_many(rtol: float, error: float, mass: float, depth: int, pieces: int) -> str:
    share = error / mass if mass > 0 else np.inf
    return (
        f"the density could not be integrated to rtol = {rtol:g}: after cutting cells in eight, {depth} times over, "
        f"into {pieces} pieces, the estimated error is still {share:.1e} of the mass. A density with a jump or a kink "
        "within cells converges slowly: let the cells' faces follow the jump and give one density for each region, or "
        "give a larger rtol"
    )
