"""What is done for each chunk of an ensemble that is not held in memory: computed, reduced, stored, then forgotten."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from polhode.ensembles.chunk_run import ChunkResult, MemberFailure, RunSettings, run_chunk
from polhode.ensembles.chunks import ChunkPlan, digest_blocks, split_into_blocks
from polhode.ensembles.member_source import ArraySource, MemberSource, PartSource
from polhode.ensembles.merge_tree import MergeTree, Partial
from polhode.ensembles.reduction_kinds import Reduction
from polhode.ensembles.stored_run import StoredRun, write_result
from polhode.integrate.run_result import Report
from polhode.solve.long_steps import StepFigures


class ChunkOutcome(NamedTuple):
    """What is left of a chunk once it is stored: small, so that it can be sent."""

    chunk: int
    partials: dict[str, Partial]
    """What the reductions found, by their names."""
    failures: list[MemberFailure]
    digests: list[str]
    """The SHA-256 of the samples of each block; empty if they are in the store."""
    step_figures: StepFigures | None
    steps: int


@dataclass(frozen=True)
class ChunkWork:
    """Computes chunks, reduces them, and writes them to the store; it can be sent to other processes."""

    source: MemberSource
    plan: ChunkPlan
    settings: RunSettings
    reductions: tuple[Reduction, ...] = ()
    run: StoredRun | None = field(default=None, repr=False)
    """The store, if there is one."""

    def __call__(self, k: int, report: Report | None = None) -> ChunkOutcome:
        """Everything for chunk k."""
        return self.keep(k, self.compute(k, report))

    def compute(self, k: int, report: Report | None = None) -> ChunkResult:
        """The samples of chunk k."""
        first, last = self.plan.range_of(k)
        return run_chunk(self.source, first, last, self.settings, report)

    def keep(self, k: int, result: ChunkResult) -> ChunkOutcome:
        """Reduce a chunk, and store what is to be kept of it."""
        partials = reduce_chunk(self.reductions, result)
        digests: list[str] = []
        if self.run is not None:
            write_result(self.run, k, result, partials)
        else:
            digests = digest_blocks(result.samples, 1)
        return ChunkOutcome(k, partials, result.failures, digests, result.step_figures, result.steps)

    def part(self, k: int) -> ChunkWork:
        """The same for chunk k alone, with just the numbers that it needs."""
        if not isinstance(self.source, ArraySource):
            return self
        source: Any = PartSource(self.source, *self.plan.range_of(k))
        return replace(self, source=source, run=None if self.run is None else self.run._replace(source=source))


def reduce_chunk(reductions: tuple[Reduction, ...], result: ChunkResult) -> dict[str, Partial]:
    """What reductions remember of a chunk: its blocks merged, in the order of the members."""
    if not reductions:
        return {}
    trees = [MergeTree(reduction.merge) for reduction in reductions]
    for i, (first, last) in enumerate(split_into_blocks(result.first, result.last)):
        motion = result.motion_of(first, last)
        for reduction, tree in zip(reductions, trees, strict=True):
            tree.add(i, reduction.partial(motion, first))
    totals = [tree.total() for tree in trees]
    return {one.name: total for one, total in zip(reductions, totals, strict=True) if total is not None}
