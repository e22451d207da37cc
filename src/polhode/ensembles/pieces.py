"""An ensemble in pieces: each thread takes the next few thousand members, packs them, and runs them.

So only a few members at a time are in the layout of the loops, in the caches of the processor, and packing is parallel
too.  A member has the same bits in whatever piece it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import replace
from itertools import pairwise
from operator import attrgetter
from threading import Event as Flag
from threading import Lock
from typing import Any

import numpy as np

from polhode.ensembles.chunks import BLOCK_MEMBERS, split_into_blocks
from polhode.errors import CancelledError
from polhode.integrate.driver import run_scenario
from polhode.integrate.integrator import CORES
from polhode.integrate.run_result import EventRecord, Failure, Report, RunResult
from polhode.scenario.scenario import Scenario
from polhode.validation import Array

PIECE_BODIES = 16_384
"""Bodies of a piece: many enough that starting it does not matter, few enough to stay in the caches."""
GPU_PIECE_BODIES = 262_144
"""Of a piece that runs on a GPU, which takes tens of thousands at once; ..."""
GPU_PIECE_NUMBERS = 32_000_000
"""... numbers in its samples."""
PIECE_NUMBERS = 8_000_000
"""Numbers in the samples of a piece, at most, ..."""
FEWEST_MEMBERS = 512
"""... unless it had fewer members than this."""
PIECES_PER_THREAD = 4
"""With fewer pieces for each thread, all threads get equally many."""

Run = Callable[[Scenario, bool, int | None, Report | None], RunResult]
Look = Callable[[Scenario, RunResult], Any]
"""Called, in the thread of a piece, with its members and their samples."""


def run_in_pieces(
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
        return _run_whole(scenario, counts_work, threads, report, look, run)
    in_parallel = not depends_on_neighbors(scenario)
    workers = min(threads or CORES, len(ranges)) if in_parallel else 1
    job = _Job(scenario, counts_work, 1 if in_parallel else threads, report, look, run, len(ranges))
    if workers == 1:
        parts = [job.run(i, a, b) for i, (a, b) in enumerate(ranges)]
    else:
        parts = _run_on_threads(job, ranges, workers)
    return job.finish(parts)


def join_pieces(scenario: Scenario, pieces: Iterable[tuple[int, int, RunResult]]) -> RunResult:
    """The result of an ensemble from those of its pieces, (first, last, result), which come in any order."""
    job = _Job(scenario, False, None, None, None, run_scenario, 0)
    parts: dict[int, RunResult] = {}
    for first, last, result in pieces:
        job.place(first, last, result)
        parts[first] = result
    return job.finish([parts[first] for first in sorted(parts)])


def depends_on_neighbors(scenario: Scenario) -> bool:
    """Whether the last digits of a member depend on the members that run with it.

    The terms of a Taylor series are those that are not zero for all; contacts, and searches for events along a closed
    form, are measured by the largest body, and the fastest.
    """
    method = scenario.used_method
    return method.is_taylor_series or bool(scenario.contacts) or (method.is_closed_form and bool(scenario.events))


def divide_members(scenario: Scenario, threads: int = 1) -> list[tuple[int, int]]:
    """The members of each piece: blocks where bits depend on neighbors, so that they do not depend on the chunk.

    Else as many as suit the caches, and enough pieces that all threads have some.
    """
    members = scenario.members or 1
    if depends_on_neighbors(scenario):
        return list(split_into_blocks(0, members))
    bodies = len(scenario.bodies)
    numbers = len(scenario.times) * bodies * (sum(scenario.form.sizes) + 1)
    most, most_numbers = PIECE_BODIES, PIECE_NUMBERS
    if scenario.engine == "gpu":
        most, most_numbers = GPU_PIECE_BODIES, GPU_PIECE_NUMBERS
    size = max(min(most // bodies, most_numbers // numbers), min(FEWEST_MEMBERS, most // bodies), 1)
    count = max(1, round(members / size))
    if count == 1 and members <= BLOCK_MEMBERS:
        return [(0, members)]
    if scenario.engine == "cpu" and count < PIECES_PER_THREAD * threads:
        count = max(count, min(threads * -(-count // threads), members // FEWEST_MEMBERS))
    cuts = [members * i // count for i in range(count + 1)]
    return list(pairwise(cuts))


class _EndedByOtherError(CancelledError):
    """Ends a piece because another one has failed, or was canceled."""


class _Job:
    """What the pieces of an ensemble share: where their samples go, and how far they have come."""

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
        self.samples: Array | None = None
        self.contact: Array | None = None
        self.ended = Flag()
        self._lock, self._shares = Lock(), np.zeros(count)
        self._weights = np.zeros(count)

    def run(self, i: int, a: int, b: int) -> RunResult:
        """Run members a to b - 1; their samples are written where they belong, and left out of what is returned."""
        try:
            return self._run_piece(i, a, b)
        except BaseException:
            self.ended.set()
            raise

    def _run_piece(self, i: int, a: int, b: int) -> RunResult:
        self._check_goes_on()
        piece = self.scenario.take(slice(a, b))
        self._weights[i] = (b - a) / (self.scenario.members or 1)
        hear: Report = lambda t: self._hear(i, t)  # noqa: E731
        result = _run_whole(piece, self.counts_work, self.threads, hear, self.look, self.run_members)
        self.place(a, b, result)
        self._hear(i, self.scenario.end_time)
        return result

    def place(self, a: int, b: int, result: RunResult) -> None:
        """Write the samples of members a to b - 1 where they belong, and leave them out of their result."""
        with self._lock:
            if self.samples is None:
                self.samples = _room_for(self.scenario, result.samples)
                self.contact = None if result.contact is None else _room_for(self.scenario, result.contact)
        self.samples[: len(result.samples), a:b] = result.samples
        if self.contact is not None and result.contact is not None:
            self.contact[: len(result.contact), a:b] = result.contact
        count_members_from(result, a, len(self.scenario.bodies))
        result.samples, result.contact, result.closed_form = result.samples[:0], None, None

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
            raise _EndedByOtherError("another piece of the ensemble has ended the run")

    def finish(self, parts: Sequence[RunResult]) -> RunResult:
        """The pieces as one result."""
        scenario, first = self.scenario, parts[0]
        assert self.samples is not None
        takes_own_steps = scenario.used_method.is_adaptive or bool(scenario.events) or bool(scenario.contacts)
        steps = [part.steps for part in parts]
        crossings: list[EventRecord] = sorted((c for part in parts for c in part.crossings), key=attrgetter("time"))
        failures: list[Failure] = [part.failure for part in parts if part.failure is not None]
        result = RunResult(
            scenario.times,
            self.samples,
            first.columns,
            sum(steps) if takes_own_steps else max(steps),
            sum(part.refused for part in parts),
            failures[0] if failures else None,
            crossings,
            switches=sum(part.switches for part in parts),
            contact=self.contact,
        )
        if first.impacts is not None:
            impacts = np.concatenate([part.impacts for part in parts])
            result.impacts = impacts[np.argsort(impacts["time"], kind="stable")]
        if first.impact_totals is not None:
            result.impact_totals = np.concatenate([part.impact_totals for part in parts])
        return result


def _run_on_threads(job: _Job, ranges: list[tuple[int, int]], workers: int) -> list[RunResult]:
    """Run all pieces; the first error ends the others, and is raised."""
    with ThreadPoolExecutor(workers) as pool:
        try:
            running = [pool.submit(copy_context().run, job.run, i, a, b) for i, (a, b) in enumerate(ranges)]
            wait(running, return_when=FIRST_EXCEPTION)
        finally:
            job.ended.set()
            pool.shutdown(wait=True, cancel_futures=True)
    errors = [e for e in (piece.exception() for piece in running if not piece.cancelled()) if e is not None]
    for error in sorted(errors, key=lambda e: isinstance(e, _EndedByOtherError)):  # what ended the others comes first
        raise error
    return [piece.result() for piece in running]


def _run_whole(
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
        for name in ("samples", "contact"):
            if (short := getattr(result, name)) is not None:
                room = _room_for(scenario, short)
                room[: len(short)] = short
                setattr(result, name, room)
        result.times = scenario.times
        return result
    job = _Job(scenario, counts_work, threads, None, None, run, 2)
    return job.finish([job.run(0, 0, members // 2), job.run(1, members // 2, members)])


def _room_for(scenario: Scenario, like: Array) -> Array:
    """Room for the numbers of all members, NaN where nothing will be written."""
    shape = (len(scenario.times), scenario.members or 1, *like.shape[2:])
    return np.empty(shape) if len(like) == len(scenario.times) else np.full(shape, np.nan)


def count_members_from(result: RunResult, first: int, bodies: int) -> None:
    """Count the members of a result from the first one of its piece."""
    for crossing in result.crossings:
        if crossing.member is None:
            crossing.body += first
        else:
            crossing.member += first
    if result.failure is not None:
        result.failure = replace(result.failure, body=result.failure.body + first * bodies)
    if result.impacts is not None:
        result.impacts["member"] += first
