"""Ensembles of any size, chunk by chunk: into a store, into reductions, or both."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from contextvars import copy_context
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polhode.ensembles.chunk_run import RunSettings, decide_settings, prepare_members
from polhode.ensembles.chunk_work import ChunkOutcome, ChunkWork
from polhode.ensembles.chunks import BLOCK_MEMBERS, CHUNK_MEMBERS, ChunkPlan, plan_chunks
from polhode.ensembles.dask_run import Cluster, find_pending_on_cluster, run_chunks_on_cluster
from polhode.ensembles.emitted_code import digest_emitted_code
from polhode.ensembles.failures import MemberFailure
from polhode.ensembles.in_memory import Progress, report_members
from polhode.ensembles.member_source import MemberSource
from polhode.ensembles.merge_tree import MergeTree
from polhode.ensembles.reduced_quantity import ReducedQuantity
from polhode.ensembles.reduction_kinds import Reduction
from polhode.ensembles.reductions import check_reductions
from polhode.ensembles.result import EnsembleResult
from polhode.ensembles.store import EnsembleStore, is_ensemble_store
from polhode.ensembles.stored_reductions import describe_reductions, write_reductions
from polhode.ensembles.stored_run import StoredRun, open_run_store, read_failures, read_partials
from polhode.errors import DeadlyChunksError, ScenarioError, find_stacklevel
from polhode.integrate.run_result import Report
from polhode.integrate.traced_functions import trace_functions
from polhode.scenario.preflight import check_user_functions
from polhode.scenario.scenario import Scenario
from polhode.solve.auto_method import sample_members
from polhode.solve.long_steps import StepFigures, merge_step_figures, warn_of_long_steps
from polhode.solve.precision_check import compare_precision, warn_of_lost_precision
from polhode.solve.simulate import check_threads, warn_before_run, warn_of_missed_tolerance
from polhode.validation import check_flag, check_path

CHUNK_NUMBERS = 16_000_000
"""Numbers in the samples of a chunk, at most, unless it had less than a block of members."""
GPU_CHUNK_MEMBERS = 2**20
"""Members of a chunk that runs on a GPU, unless asked for otherwise."""
SAMPLES, REDUCTIONS = "samples", "reductions"


class Kept(NamedTuple):
    """What is kept of an ensemble, and how it is divided: the arguments of `ph.ensemble` that concern this, checked."""

    store: Path | None
    resume: bool
    reductions: tuple[Reduction, ...]
    samples: bool
    """Whether the samples go into the store."""
    chunk_members: int | None


def check_kept(store: Any, resume: Any, reduce: Any, keep: Any, chunk_members: Any) -> Kept | None:
    """What a user asks to keep; None if the samples of all members are to be held in memory."""
    check_flag(resume, "resume", ScenarioError)
    if keep not in (None, SAMPLES, REDUCTIONS):
        raise ScenarioError(f"keep must be {SAMPLES!r} or {REDUCTIONS!r}, not {keep!r}")
    reductions = () if reduce is None else check_reductions(reduce)
    if store is None and resume:
        raise ScenarioError("resume=True completes a store: give its path, store=...")
    if not reductions and keep == REDUCTIONS:
        raise ScenarioError(f"keep={REDUCTIONS!r} keeps nothing, because no reduction is given: reduce=[...]")
    if store is None and keep == SAMPLES and reductions:
        raise ScenarioError(
            f"keep={SAMPLES!r} beside reductions needs a store for the samples: give store='name.zarr', or reduce what "
            "ph.ensemble returns with ph.reductions.apply"
        )
    if store is None and not reductions:
        if chunk_members is not None:
            raise ScenarioError("chunk_members divides a store, or a reduction: give store= or reduce=, or leave it")
        return None
    place = None if store is None else check_path(store, "the ensemble")
    return Kept(place, resume, reductions, keep != REDUCTIONS if not reductions else keep == SAMPLES, chunk_members)


def run_ensemble(
    source: MemberSource, kept: Kept, threads: int | None, progress: bool | None, cluster: Cluster | None = None
) -> EnsembleResult:
    """Run all members of a source, chunk by chunk; what a store already has is not computed again.

    Members that fail are listed in the result, with a warning, and the others go on.  With a cluster its workers
    compute the chunks, each on one thread.
    """
    check_threads(threads)
    check_user_functions(source.take(np.arange(1)), source.members)
    with ExitStack() as stack:
        report = stack.enter_context(report_members(source.members, progress))
        settings = decide_settings(source, threads, None if report is None else lambda _: report(0.0))
        scenario = trace_functions(prepare_members(source, sample_members(source.members), settings))
        warn_before_run(scenario, find_stacklevel() + 1)
        plan = _plan(source, kept, scenario)
        run = _open_store(source, plan, settings, kept, scenario)
        if run is not None:
            stack.callback(run.store.close)
        own = settings if cluster is None else settings._replace(threads=1)
        work = ChunkWork(source, plan, own, kept.reductions, run)
        if run is None:
            chunks = list(range(plan.count))
        else:
            chunks = run.store.pending() if cluster is None else find_pending_on_cluster(run.store, cluster)
        gathered = Gathered(plan, kept.reductions)
        if run is not None:
            gathered.read_stored(run.store, chunks)
        start, duration = scenario.start_time, scenario.duration
        if cluster is None:
            outcomes = run_chunks(work, chunks, report, lambda t: (t - start) / duration)
        else:
            outcomes = run_chunks_on_cluster(work, chunks, report, cluster)
        lost: DeadlyChunksError | None = None
        try:
            for outcome in outcomes:
                gathered.add(outcome)
        except DeadlyChunksError as error:
            lost = error
            gathered.leave_out(error.chunks)
        except KeyboardInterrupt:
            if run is None:
                raise
            raise KeyboardInterrupt(
                f"the run was interrupted; what was computed is in {run.store.path}, and resume=True goes on from there"
            ) from None
        if run is not None and cluster is not None:
            run.store.remove_drafts()  # of workers that were killed
        precision_report = compare_precision(scenario) if cluster is None else None  # here there may be no GPU
        reduced = gathered.finish_reductions()
        if run is not None and reduced and lost is None:
            write_reductions(run.store, reduced)
    level = find_stacklevel() + 1
    warn_of_long_steps(scenario, merge_step_figures(gathered.figures), level)
    warn_of_missed_tolerance(settings.auto_report, level)
    warn_of_lost_precision(precision_report, level)
    warn_of_failures(gathered.failures, source.members, level)
    changes = dict(settings.changes)
    if run is not None:
        result = EnsembleResult.from_store(EnsembleStore.open(run.store.path), reduced, source, changes)
    else:
        result = _hold_result(source, scenario, settings, gathered, reduced)
    if lost is not None:
        lost.result = result
        raise lost
    return result


def _hold_result(
    source: MemberSource, scenario: Scenario, settings: RunSettings, gathered: Gathered, reduced: dict[str, Any]
) -> EnsembleResult:
    return EnsembleResult(
        source.members,
        scenario.times,
        reductions=reduced,
        source=source,
        changes=dict(settings.changes),
        failures=gathered.failures,
        sample_digests=[digest for k in sorted(gathered.digests) for digest in gathered.digests[k]],
    )


class Gathered:
    """What the chunks of an ensemble leave, in whatever order they come."""

    def __init__(self, plan: ChunkPlan, reductions: tuple[Reduction, ...]) -> None:
        self.plan, self.reductions = plan, reductions
        self.trees = {reduction.name: MergeTree(reduction.merge) for reduction in reductions}
        self.digests: dict[int, list[str]] = {}
        self.figures: list[StepFigures | None] = []
        self._failures: dict[int, list[MemberFailure]] = {}

    @property
    def failures(self) -> list[MemberFailure]:
        """The members that failed, in their order."""
        return [one for k in sorted(self._failures) for one in self._failures[k]]

    def add(self, outcome: ChunkOutcome) -> None:
        """A chunk that has been computed."""
        k = outcome.chunk
        for name, tree in self.trees.items():
            tree.add(k, outcome.partials.get(name))
        self.digests[k], self._failures[k] = outcome.digests, outcome.failures
        self.figures.append(outcome.step_figures)

    def leave_out(self, chunks: Iterable[int]) -> None:
        """Chunks that could not be computed."""
        for k in chunks:
            for tree in self.trees.values():
                tree.add(k, None)

    def read_stored(self, store: EnsembleStore, missing: Iterable[int]) -> None:
        """The chunks that a store already has."""
        for k in set(range(self.plan.count)) - set(missing):
            partials = read_partials(store, k) if self.trees else {}
            for name, tree in self.trees.items():
                tree.add(k, partials.get(name))
            self._failures[k] = read_failures(store, k)

    def finish_reductions(self) -> dict[str, ReducedQuantity]:
        """What the reductions found, by their names."""
        totals = {reduction.name: self.trees[reduction.name].total() for reduction in self.reductions}
        return {one.name: one.finish(total) for one in self.reductions if (total := totals[one.name]) is not None}


def run_chunks(
    work: ChunkWork, chunks: list[int], report: Progress | None, share_of: Callable[[float], float]
) -> Iterator[ChunkOutcome]:
    """Compute chunks one after the other, on all threads; while one is reduced and stored, the next is computed.

    `share_of` says which part of the run has been done at a time of the motion.
    """
    sizes = {k: last - first for k in chunks for first, last in [work.plan.range_of(k)]}
    done = work.plan.members - sum(sizes.values())
    if report is not None:
        report(done, True)
    with ThreadPoolExecutor(1) as keeper:
        kept: Future[ChunkOutcome] | None = None
        for k in chunks:
            hear = None if report is None else _report_from(report, done, sizes[k], share_of)
            result = work.compute(k, hear)
            if kept is not None:
                yield kept.result()
            kept = keeper.submit(copy_context().run, work.keep, k, result)
            done += sizes[k]
            if report is not None:
                report(done)
        if kept is not None:
            yield kept.result()


def _report_from(report: Progress, done: int, members: int, share_of: Callable[[float], float]) -> Report:
    return lambda t: report(done + members * share_of(t))


def warn_of_failures(failures: list[MemberFailure], members: int, stacklevel: int) -> None:
    """One sentence about all members that failed."""
    if failures:
        first = "; the first: " if len(failures) > 1 else ": "
        warnings.warn(
            f"{len(failures)} of {members} members failed, and are NaN from there on (result.failures lists them)"
            f"{first}{failures[0].sentence}",
            stacklevel=stacklevel,
        )


def _plan(source: MemberSource, kept: Kept, scenario: Scenario) -> ChunkPlan:
    """The chunks: as asked for; else those of the store that is resumed; else as many members as memory allows."""
    if kept.chunk_members is not None:
        return plan_chunks(source.members, kept.chunk_members)
    if kept.resume and kept.store is not None and is_ensemble_store(kept.store):
        stored = EnsembleStore.open(kept.store).plan
        return ChunkPlan(source.members, stored.chunk_members)
    numbers = len(scenario.times) * len(scenario.bodies) * (sum(scenario.form.sizes) + 1)
    size = BLOCK_MEMBERS
    most = GPU_CHUNK_MEMBERS if scenario.engine == "gpu" else CHUNK_MEMBERS
    while 2 * size <= most and 2 * size * numbers <= CHUNK_NUMBERS:
        size *= 2
    return ChunkPlan(source.members, size)


def _open_store(
    source: MemberSource, plan: ChunkPlan, settings: RunSettings, kept: Kept, scenario: Scenario
) -> StoredRun | None:
    if kept.store is None:
        return None
    about = {
        "code": digest_emitted_code(scenario),
        "reductions": describe_reductions(kept.reductions),
        "auto": None if settings.auto_report is None else asdict(settings.auto_report),
    }
    changes = dict(settings.changes)
    return open_run_store(
        kept.store, source, plan, about=about, changes=changes, keep_samples=kept.samples, resume=kept.resume
    )
