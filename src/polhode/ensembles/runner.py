"""Ensembles of any size, chunk by chunk: into memory, into a store, into reductions, or both."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from threading import current_thread, main_thread
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from polhode.archive.layout import METADATA
from polhode.ensembles.batches import join_batches
from polhode.ensembles.chunk_run import RunSettings, decide_settings, prepare_members
from polhode.ensembles.chunk_work import ChunkOutcome, ChunkWork, read_outcome
from polhode.ensembles.chunks import BLOCK_MEMBERS, CHUNK_MEMBERS, ChunkPlan, plan_chunks
from polhode.ensembles.dask_worker import share_store
from polhode.ensembles.dask_workers import Cluster, run_on_cluster
from polhode.ensembles.emitted_code import digest_emitted_code
from polhode.ensembles.failures import MemberFailure
from polhode.ensembles.interrupts import Interrupts, interrupts
from polhode.ensembles.member_source import ArraySource, MemberSource
from polhode.ensembles.memory_check import check_memory, count_sample_bytes, format_bytes
from polhode.ensembles.merge_tree import MergeTree
from polhode.ensembles.reduced_quantity import ReducedQuantity
from polhode.ensembles.reduction_kinds import Reduction
from polhode.ensembles.reductions import check_reductions
from polhode.ensembles.result import EnsembleResult
from polhode.ensembles.run_chunks import ChunkRun, LocalThreads
from polhode.ensembles.store import EnsembleStore, is_ensemble_store
from polhode.ensembles.stored_reductions import describe_reductions, write_reductions
from polhode.ensembles.stored_run import StoredRun, open_run_store
from polhode.errors import DeadlyChunksError, ScenarioError, find_stacklevel, show
from polhode.integrate.run_result import AutoReport, RunResult
from polhode.integrate.traced_functions import trace_functions
from polhode.progress import progress as bar_for
from polhode.progress import wants_reports
from polhode.results.motion import Motion
from polhode.scenario.preflight import check_user_functions
from polhode.scenario.scenario import Scenario
from polhode.solve.auto_method import SAMPLED_MEMBERS, sample_members
from polhode.solve.long_steps import StepFigures, merge_step_figures, warn_of_long_steps
from polhode.solve.precision_check import compare_precision, warn_of_lost_precision
from polhode.solve.simulate import (
    ask_for_final_states,
    check_run_options,
    finish_motion,
    warn_before_run,
    warn_of_missed_tolerance,
)
from polhode.validation import check_flag, check_path

CHUNK_NUMBERS = 16_000_000
"""Numbers in the samples of a chunk, at most, unless it had less than a block of members."""
GPU_CHUNK_MEMBERS = 2**20
"""Members of a chunk that runs on a GPU, unless asked for otherwise."""
SAMPLES, REDUCTIONS = "samples", "reductions"
LARGEST_MOTION = 2 * 2**30
"""Bytes of samples that may come back from the workers of a cluster; more belong into a store."""
FEWEST_CHUNKS = 4
"""So many chunks for each worker, if there are members enough, so that none waits long for the last."""
MEMBER_BAR = "{desc}: {percentage:3.0f}%|{bar}| {n:.0f}/{total:.0f} members, {rate_noinv_fmt}, {remaining} left"
Progress: TypeAlias = Callable[..., None]
"""Called with the number of members that are done, and whether they were before this run began."""


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
    if keep is not None and (not isinstance(keep, str) or keep not in (SAMPLES, REDUCTIONS)):
        raise ScenarioError(f"keep must be {SAMPLES!r} or {REDUCTIONS!r}, not {show(keep)}")
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


class Where(NamedTuple):
    """Where the chunks of a run are computed, who hears of it, and who may end it."""

    threads: int | None
    cluster: Cluster | None
    report: Progress | None
    interrupt: Interrupts


def run_ensemble(
    source: MemberSource, kept: Kept | None, threads: int | None, progress: bool | None, cluster: Cluster | None = None
) -> Motion | EnsembleResult:
    """Run all members of a source, chunk by chunk.

    With a cluster its workers compute the chunks, each on one thread.  If nothing is said about what is kept, the
    samples of all are held in memory, and a member that fails is an error.  Otherwise what a store already has is not
    computed again; members that fail are listed in the result, with a warning, and the others go on.
    """
    check_run_options(threads, progress)
    if progress is not None:
        check_flag(progress, "progress", ScenarioError)
    one = source.take(np.arange(1))
    check_user_functions(one, source.members)
    sampled = ask_for_final_states(one)
    plan = plan_memory(sampled, source.members, cluster) if kept is None else _plan(source, kept, sampled)
    if cluster is None:
        _check_memory(sampled, plan, kept is None)
    with interrupts() as interrupt, report_members(source.members, progress, interrupt, one.name) as report:
        where = Where(threads, cluster, report, interrupt)
        if kept is None:
            return _run_in_memory(source, one, plan, where)
        return _run_and_keep(source, one, plan, kept, where)


def _run_in_memory(source: MemberSource, one: Scenario, plan: ChunkPlan, where: Where) -> Motion:
    """Memory is one chunk, or with a cluster several, whose samples come here."""
    level = find_stacklevel() + 1
    settings, result = _decide(source, one, where, is_all=source.members <= SAMPLED_MEMBERS)
    scenario = trace_functions(prepare_members(source, range(source.members), settings))
    warn_before_run(scenario, level)
    figures: list[StepFigures | None] = []
    if result is None or where.cluster is not None:
        whole = ArraySource(scenario)  # as decided: nothing is to be changed any more
        own = settings._replace(changes=(), threads=where.threads if where.cluster is None else 1)
        work = ChunkWork(whole, plan, own, in_memory=True)
        with closing(run_chunks(work, range(plan.count), where, scenario)) as outcomes:
            result = _join_results(outcomes, plan, scenario, figures)
        result.auto_report = settings.report_of(result)
    if where.cluster is None:  # elsewhere there may be GPUs, and none here
        result.precision_report = compare_precision(scenario)
    warn_of_long_steps(scenario, merge_step_figures(figures), level)
    warn_of_lost_precision(result.precision_report, level)
    return finish_motion(Motion(scenario, result), level)


def _join_results(
    outcomes: Iterable[ChunkOutcome], plan: ChunkPlan, scenario: Scenario, figures: list[StepFigures | None]
) -> RunResult:
    """The samples of all chunks; those of a single one are not copied."""

    def results() -> Iterator[tuple[int, int, RunResult]]:
        for outcome in outcomes:
            assert outcome.result is not None
            figures.append(outcome.step_figures)
            yield (*plan.range_of(outcome.chunk), outcome.result)

    if plan.count == 1:
        [(_, _, result)] = results()
        return result
    return join_batches(scenario, results())


def _run_and_keep(source: MemberSource, one: Scenario, plan: ChunkPlan, kept: Kept, where: Where) -> EnsembleResult:
    level = find_stacklevel() + 1
    with ExitStack() as stack:
        settings, _ = _decide(source, one, where, is_all=False)
        scenario = trace_functions(prepare_members(source, sample_members(source.members), settings))
        warn_before_run(scenario, level)
        run = _open_store(source, plan, settings, kept, scenario)
        if run is not None:
            stack.callback(run.store.close)
        is_far = where.cluster is not None and where.cluster.scheduler is not None
        own = settings if where.cluster is None else settings._replace(threads=1)
        work = ChunkWork(source, plan, own, kept.reductions, run, verifies=is_far and kept.resume)
        # What is there is read here, or by machines that may be many, and nearer to it.
        chunks = range(plan.count) if run is None or work.verifies else run.store.pending()
        gathered = Gathered(plan, kept.reductions)
        if run is not None:
            for k in sorted({*range(plan.count)} - {*chunks}):
                gathered.add(read_outcome(run.store, k))
        lost: DeadlyChunksError | None = None
        try:
            with closing(run_chunks(work, chunks, where, scenario)) as outcomes:
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
        if run is not None and where.cluster is not None:
            run.store.remove_drafts()  # of workers that were killed
        precision_report = compare_precision(scenario) if where.cluster is None else None  # here there may be no GPU
        reduced = gathered.finish_reductions()
        if run is not None and reduced and lost is None:
            write_reductions(run.store, reduced)
    warn_of_long_steps(scenario, merge_step_figures(gathered.figures), level)
    warn_of_missed_tolerance(gathered.auto_report, level)
    warn_of_lost_precision(precision_report, level)
    warn_of_failures(gathered.failures, source.members, level)
    changes = dict(settings.changes)
    if run is not None:
        found = EnsembleStore.open(run.store.path)
        result = EnsembleResult.from_store(found, reduced, source, changes, gathered.auto_report)
    else:
        result = EnsembleResult(
            source.members,
            scenario.times,
            reductions=reduced,
            source=source,
            changes=changes,
            failures=gathered.failures,
            auto_report=gathered.auto_report,
            sample_digests=[digest for k in sorted(gathered.digests) for digest in gathered.digests[k]],
        )
    if lost is not None:
        lost.result = result
        raise lost
    return result


def _decide(source: MemberSource, one: Scenario, where: Where, is_all: bool) -> tuple[RunSettings, RunResult | None]:
    """How the chunks are run; `is_all`: what that takes is the whole run."""
    report, share_of = where.report, share_of_time(one)
    hear = None if report is None else lambda t: report(is_all * source.members * share_of(t))
    return decide_settings(source, where.threads, hear, one)


class Gathered:
    """What the chunks of an ensemble leave, in whatever order they come."""

    def __init__(self, plan: ChunkPlan, reductions: tuple[Reduction, ...]) -> None:
        self.plan, self.reductions = plan, reductions
        self.trees = {reduction.name: MergeTree(reduction.merge) for reduction in reductions}
        self.digests: dict[int, list[str]] = {}
        self.figures: list[StepFigures | None] = []
        self._failures: dict[int, list[MemberFailure]] = {}
        self._reports: dict[int, AutoReport] = {}

    @property
    def failures(self) -> list[MemberFailure]:
        """The members that failed, in their order."""
        return [one for k in sorted(self._failures) for one in self._failures[k]]

    @property
    def auto_report(self) -> AutoReport | None:
        """What method "auto" found of all members."""
        return AutoReport.concat((self._reports[k] for k in sorted(self._reports)), self.plan.members)

    def add(self, outcome: ChunkOutcome) -> None:
        """A chunk that has been computed."""
        k = outcome.chunk
        for name, tree in self.trees.items():
            tree.add(k, outcome.partials.get(name))
        self.digests[k], self._failures[k] = outcome.digests, outcome.failures
        self.figures.append(outcome.step_figures)
        if outcome.auto_report is not None:
            self._reports[k] = outcome.auto_report

    def leave_out(self, chunks: Iterable[int]) -> None:
        """Chunks that could not be computed."""
        for k in chunks:
            for tree in self.trees.values():
                tree.add(k, None)

    def finish_reductions(self) -> dict[str, ReducedQuantity]:
        """What the reductions found, by their names."""
        totals = {reduction.name: self.trees[reduction.name].total() for reduction in self.reductions}
        return {one.name: one.finish(total) for one in self.reductions if (total := totals[one.name]) is not None}


def run_chunks(work: ChunkWork, chunks: Sequence[int], where: Where, scenario: Scenario) -> Generator[ChunkOutcome]:
    """Compute chunks, on the threads of this process or by the workers of a cluster, in any order.

    `scenario` has the times of the motion.
    """
    plan = work.plan
    done = plan.members - plan.count_members(chunks)
    report: Progress = where.report or (lambda *_: None)
    report(done, True)
    if not chunks:
        return
    with where.interrupt.held():
        if where.cluster is None:
            share_of = share_of_time(scenario)
            before = [done]

            def begin(k: int) -> Callable[[float], None]:
                first, size = before[0], plan.count_members([k])
                before[0] += size
                return lambda t: report(first + size * share_of(t))

            threads = LocalThreads(work, begin, scenario.end_time, where.interrupt, len(chunks) == 1)
            with closing(iter(ChunkRun(threads, chunks, where.interrupt))) as found:
                for _, outcome in found:
                    yield outcome
            return
        store = None if work.run is None else share_store(work.run.store.path, METADATA)
        there = run_on_cluster(work.part, chunks, work.plan, where.cluster, where.interrupt, store)
        with closing(there):
            for k, outcome in there:
                done += plan.count_members([k])
                report(done, outcome.was_stored)
                yield outcome


def share_of_time(scenario: Scenario) -> Callable[[float], float]:
    """Which part of a run has been done at a time of the motion."""
    start, duration = scenario.start_time, scenario.duration
    return lambda t: (t - start) / duration


@contextmanager
def report_members(
    members: int, wanted: bool | None, interrupt: Interrupts, name: str = ""
) -> Iterator[Progress | None]:
    """A progress bar that counts members, with their rate, once a run has taken two seconds; and reports to a listener.

    A listener hears at once that a run begins, so that one that is already canceled never does.
    """
    if not wants_reports(wanted):
        yield None
        return
    with bar_for(name or "simulating", "members", form=MEMBER_BAR, wanted=wanted) as report:

        def count(done: float, was_done_before: bool = False) -> None:
            if current_thread() is not main_thread():
                report(done, members, was_done_before)
                return
            with interrupt.raised():
                report(done, members, was_done_before)

        count(0.0)
        yield count


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
    """The chunks of what is kept: as asked for; else those of the store that is resumed; else as memory allows."""
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


def plan_memory(scenario: Scenario, members: int, cluster: Cluster | None) -> ChunkPlan:
    """Memory is one chunk; with a cluster as many as keep its workers busy, each at least one block."""
    if cluster is None:
        return ChunkPlan(members, members)
    bytes_ = count_sample_bytes(scenario, members)
    if bytes_ > LARGEST_MOTION:
        raise ScenarioError(
            f"the samples of this ensemble are {format_bytes(bytes_)}, too much to send them all to this process: give "
            "store='/shared/name.zarr', which the workers write, or reduce=[...]"
        )
    size = BLOCK_MEMBERS
    while 2 * size <= CHUNK_MEMBERS and 2 * size * FEWEST_CHUNKS * (cluster.workers or 1) <= members:
        size *= 2
    return ChunkPlan(members, size)


def _check_memory(scenario: Scenario, plan: ChunkPlan, is_whole: bool) -> None:
    """Raise ScenarioError if the samples do not fit: all, or of the chunk that is computed and of the one before."""
    times, members = len(scenario.times), min(plan.chunk_members, plan.members)
    if is_whole:
        check_memory(
            count_sample_bytes(scenario, members),
            f"the samples of {members:,} members at {times:,} output times",
            "give store='name.zarr', to which they stream, or reduce=[...], which keeps what is wanted of all members "
            "together; or ask for fewer output times",
        )
    else:
        check_memory(
            2 * count_sample_bytes(scenario, members),
            f"the samples of two chunks of {members:,} members at {times:,} output times",
            "ask for fewer output times" + (", or smaller chunks (chunk_members=)" if members > BLOCK_MEMBERS else ""),
        )


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
