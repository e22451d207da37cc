"""What is done for each chunk of an ensemble: computed, reduced, and kept, in a store or in memory."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from polhode.ensembles.chunk_run import ChunkResult, RunSettings, run_chunk
from polhode.ensembles.chunks import ChunkPlan, digest_blocks
from polhode.ensembles.failures import MemberFailure
from polhode.ensembles.member_source import ArraySource, MemberSource, PartSource
from polhode.ensembles.merge_tree import Partial
from polhode.ensembles.reduction_kinds import Reduction
from polhode.ensembles.reductions import reduce_blocks
from polhode.ensembles.store import EnsembleStore
from polhode.ensembles.stored_run import StoredRun, read_auto_report, read_failures, read_partials, write_result
from polhode.integrate.run_result import AutoReport, Report, RunResult
from polhode.results.motion import Motion
from polhode.solve.long_steps import StepFigures


class ChunkOutcome(NamedTuple):
    """What is left of a chunk once it is kept: what comes back to the process that started the run."""

    chunk: int
    partials: dict[str, Partial]
    """What the reductions found, by their names."""
    failures: list[MemberFailure]
    digests: list[str]
    """The SHA-256 of the samples of each block; empty if they are in the store, or in memory."""
    step_figures: StepFigures | None
    auto_report: AutoReport | None
    """What method "auto" found of its members."""
    result: RunResult | None = None
    """The samples, if they are kept in memory."""
    was_stored: bool = False
    """Whether it was not computed now."""


@dataclass(frozen=True)
class ChunkWork:
    """What is to be done for the chunks of an ensemble: computed, reduced, kept.  It can be sent to other processes."""

    source: MemberSource
    plan: ChunkPlan
    settings: RunSettings
    reductions: tuple[Reduction, ...] = ()
    run: StoredRun | None = field(default=None, repr=False)
    """The store, if there is one."""
    in_memory: bool = False
    """Whether the samples come back."""
    verifies: bool = False
    """Whether chunks that the store has, and that are whole, are read instead."""

    def __call__(self, k: int, report: Report | None = None) -> ChunkOutcome:
        """Everything for chunk k."""
        if self.verifies and self.run is not None and not self.run.store.find_damage([k]):
            return read_outcome(self.run.store, k)
        return self.keep(k, self.compute(k, report))

    def compute(self, k: int, report: Report | None = None) -> ChunkResult:
        """The samples of chunk k; where they stay in memory a member that fails is an error, and not looked at here."""
        first, last = self.plan.range_of(k)
        return run_chunk(self.source, first, last, self.settings, report, lists_failures=not self.in_memory)

    def keep(self, k: int, result: ChunkResult) -> ChunkOutcome:
        """Reduce a chunk, and store what is to be kept of it."""
        out = result.run_result
        partials = reduce_blocks(Motion(result.scenario, out), self.reductions, result.first)
        digests: list[str] = []
        if self.run is not None:
            write_result(self.run, k, result, partials)
        elif not self.in_memory:
            digests = digest_blocks(out.samples, 1)
        held = out if self.in_memory else None
        return ChunkOutcome(k, partials, result.failures, digests, result.step_figures, out.auto_report, held)

    def part(self, k: int) -> ChunkWork:
        """The same for chunk k alone, with just the numbers that it needs."""
        if not isinstance(self.source, ArraySource):
            return self
        source: Any = PartSource(self.source, *self.plan.range_of(k))
        return replace(self, source=source, run=None if self.run is None else self.run._replace(source=source))


def read_outcome(store: EnsembleStore, k: int) -> ChunkOutcome:
    """What is left of a chunk that was stored before."""
    return ChunkOutcome(
        k, read_partials(store, k), read_failures(store, k), [], None, read_auto_report(store, k), was_stored=True
    )
