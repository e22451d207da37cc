"""An ensemble in batches: each thread takes the next few thousand members, packs them, and runs them.

So only a few members at a time are in the layout of the loops, in the caches of the processor, and packing is parallel
too.  A member has the same bits in whatever batch it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextvars import copy_context
from itertools import pairwise
from threading import Event as Flag
from threading import Lock
from typing import Any

import numpy as np

from polhode.ensembles.chunks import BLOCK_MEMBERS, split_into_blocks
from polhode.errors import CancelledError
from polhode.integrate.driver import run_scenario
from polhode.integrate.integrator import CORES
from polhode.integrate.run_result import Report, RunResult
from polhode.scenario.scenario import Scenario

BATCH_BODIES = 16_384
"""Bodies of a batch: many enough that starting it does not matter, few enough to stay in the caches."""
GPU_BATCH_BODIES = 262_144
"""Of a batch that runs on a GPU, which takes tens of thousands at once; ..."""
GPU_BATCH_NUMBERS = 32_000_000
"""... numbers in its samples."""
BATCH_NUMBERS = 8_000_000
"""Numbers in the samples of a batch, at most, ..."""
FEWEST_MEMBERS = 512
"""... unless it had fewer members than this."""
BATCHES_PER_THREAD = 4
"""With fewer batches for each thread, all threads get equally many."""

Run = Callable[[Scenario, bool, int | None, Report | None], RunResult]
Look = Callable[[Scenario, RunResult], Any]
"""Called, in the thread of a batch, with its members and their samples."""


def run_in_batches(
    scenario: Scenario,
    counts_work: bool,
    threads: int | None = None,
    report: Report | None = None,
    look: Look | None = None,
    run: Run = run_scenario,
) -> RunResult:
    """Run an ensemble; its user functions have been traced.

    A member whose run cannot go on has NaN from there on; the others go on.
    """
    ranges = divide_members(scenario, threads or CORES)
    if len(ranges) == 1:
        return run_whole(scenario, counts_work, threads, report, look, run)
    in_parallel = not depends_on_neighbors(scenario)
    workers = min(threads or CORES, len(ranges)) if in_parallel else 1
    job = _Job(scenario, counts_work, 1 if in_parallel else threads, report, look, run, len(ranges))
    if workers == 1:
        return join_batches(scenario, ((a, b, job.run(i, a, b)) for i, (a, b) in enumerate(ranges)))
    return join_batches(scenario, _run_on_threads(job, ranges, workers))


def join_batches(scenario: Scenario, batches: Iterable[tuple[int, int, RunResult]]) -> RunResult:
    """The result of an ensemble from those of its batches, (first, last, result), which come in any order."""
    parts = ((slice(first, last), result) for first, last, result in batches)
    takes_own_steps = scenario.used_method.is_adaptive or bool(scenario.events) or scenario.is_constrained
    return RunResult.concat(parts, scenario.times, scenario.members or 1, same_steps=not takes_own_steps)


def depends_on_neighbors(scenario: Scenario) -> bool:
    """Whether the last digits of a member depend on the members that run with it.

    The terms of a Taylor series are those that are not zero for all; contacts, and searches for events along a closed
    form, are measured by the largest body, and the fastest.
    """
    method = scenario.used_method
    return method.is_taylor_series or scenario.is_constrained or (method.is_closed_form and bool(scenario.events))


def divide_members(scenario: Scenario, threads: int = 1) -> list[tuple[int, int]]:
    """The members of each batch: blocks where bits depend on neighbors, so that they do not depend on the chunk.

    Else as many as suit the caches, and enough batches that all threads have some.
    """
    members = scenario.members or 1
    if depends_on_neighbors(scenario):
        return list(split_into_blocks(0, members))
    bodies = len(scenario.bodies)
    numbers = len(scenario.times) * bodies * (sum(scenario.form.sizes) + 1)
    most, most_numbers = BATCH_BODIES, BATCH_NUMBERS
    if scenario.engine == "gpu":
        most, most_numbers = GPU_BATCH_BODIES, GPU_BATCH_NUMBERS
    size = max(min(most // bodies, most_numbers // numbers), min(FEWEST_MEMBERS, most // bodies), 1)
    count = max(1, round(members / size))
    if count == 1 and members <= BLOCK_MEMBERS:
        return [(0, members)]
    if scenario.engine == "cpu" and count < BATCHES_PER_THREAD * threads:
        count = max(count, min(threads * -(-count // threads), members // FEWEST_MEMBERS))
    cuts = [members * i // count for i in range(count + 1)]
    return list(pairwise(cuts))


class _EndedByOtherError(CancelledError):
    """Ends a batch because another one has failed, or was canceled."""


class _Job:
    """What the batches of an ensemble share: how they are run, and how far they have come."""

    def __init__(
        self,
        scenario: Scenario,
        counts_work: bool,
        threads: int | None,
        report: Report | None,
        look: Look | None,
        run: Run,
        count: int,
    ) -> None:
        self.scenario, self.counts_work, self.threads = scenario, counts_work, threads
        self.report, self.look, self.run_members = report, look, run
        self.ended = Flag()
        self._lock, self._shares = Lock(), np.zeros(count)
        self._weights = np.zeros(count)

    def run(self, i: int, a: int, b: int) -> RunResult:
        """Run members a to b - 1."""
        try:
            return self._run_batch(i, a, b)
        except BaseException:
            self.ended.set()
            raise

    def _run_batch(self, i: int, a: int, b: int) -> RunResult:
        self._check_goes_on()
        batch = self.scenario.take(slice(a, b))
        self._weights[i] = (b - a) / (self.scenario.members or 1)
        hear: Report = lambda t: self._hear(i, t)  # noqa: E731
        result = run_whole(batch, self.counts_work, self.threads, hear, self.look, self.run_members)
        self._hear(i, self.scenario.end_time)
        return result

    def _hear(self, i: int, t: float) -> None:
        """Report the share of the whole that is done, as a time."""
        self._check_goes_on()
        if self.report is None:
            return
        start, duration = self.scenario.start_time, self.scenario.duration
        with self._lock:
            self._check_goes_on()
            self._shares[i] = (t - start) / duration
            share = float(self._shares @ self._weights)
            try:
                self.report(start + duration * min(share, 1.0))
            except BaseException:
                self.ended.set()
                raise

    def _check_goes_on(self) -> None:
        if self.ended.is_set():
            raise _EndedByOtherError("another batch of the ensemble has ended the run")


def _run_on_threads(job: _Job, ranges: list[tuple[int, int]], workers: int) -> Iterator[tuple[int, int, RunResult]]:
    """Run all batches, which come as they are done; the first error ends the others, and is raised."""
    errors: list[BaseException] = []
    with ThreadPoolExecutor(workers) as pool:
        try:
            places = {pool.submit(copy_context().run, job.run, i, a, b): (a, b) for i, (a, b) in enumerate(ranges)}
            while places and not errors:
                for batch in wait(places, return_when=FIRST_COMPLETED).done:
                    a, b = places.pop(batch)
                    if (error := batch.exception()) is not None:
                        errors.append(error)
                    elif not errors:
                        yield a, b, batch.result()
        finally:
            job.ended.set()
            pool.shutdown(wait=True, cancel_futures=True)
    errors += [e for e in (batch.exception() for batch in places if not batch.cancelled()) if e is not None]
    for error in sorted(errors, key=lambda e: isinstance(e, _EndedByOtherError)):  # what ended the others comes first
        raise error


def run_whole(
    scenario: Scenario, counts_work: bool, threads: int | None, report: Report | None, look: Look | None, run: Run
) -> RunResult:
    """Run all members at once; where a failure has ended the run of all, those that are not concerned run again."""
    result = run(scenario, counts_work, threads, report)
    if len(result.times) < len(scenario.times):
        result = _complete(scenario, result, counts_work, threads, run)
    if look is not None:
        look(scenario, result)
    return result


def _complete(scenario: Scenario, result: RunResult, counts_work: bool, threads: int | None, run: Run) -> RunResult:
    """The run of an ensemble that a failure has cut short: half and half, until the members that fail are alone."""
    members = scenario.members or 1
    if members == 1:
        return RunResult.concat([(slice(0, 1), result)], scenario.times, 1)
    job = _Job(scenario, counts_work, threads, None, None, run, 2)
    halves = (0, members // 2), (members // 2, members)
    return join_batches(scenario, ((a, b, job.run(i, a, b)) for i, (a, b) in enumerate(halves)))
