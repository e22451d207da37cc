"""Chunks by an executor: the threads of this process, other processes, or the workers of a Dask cluster.

Each chunk is one task.  A few are with the executor at a time, and they are done in any order.  Where workers die, a
chunk that they held is a suspect, no more: others may have been there too.  Suspects are run again at the end, one at a
time, and a chunk is deadly only if workers die with it alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextvars import copy_context
from threading import Event as Flag
from threading import Lock
from typing import Any, NamedTuple, Protocol

from polhode.ensembles.chunk_work import ChunkOutcome, ChunkWork
from polhode.ensembles.interrupts import Interrupts
from polhode.errors import CancelledError, ClusterError
from polhode.integrate.run_result import Report

LOOK_S = 1.0
"""How often the workers are looked at while nothing is done."""
DEATHS_ALONE = 3
"""A chunk is deadly once so many workers have died that ran nothing else of this ensemble."""
HOPELESS = 3
"""So many deadly chunks, and not one that was computed, end the run."""


class Done(NamedTuple):
    """What has become of some tasks."""

    values: list[tuple[Any, Any]]
    """(task, value)"""
    errors: list[tuple[Any, BaseException]]
    lost: list[Any]
    """Tasks that were done, but whose values died with their workers: they come again."""


class Workers(Protocol):
    """Who computes chunks: an executor, and what it knows about the deaths of its workers."""

    def submit(self, chunk: int) -> Any:
        """Begin a chunk, or put it in a queue: a future with `add_done_callback`."""
        ...

    def fetch(self, tasks: list[Any]) -> Done:
        """What has become of tasks that are done."""
        ...

    def window(self) -> int:
        """How many chunks may be there at a time: enough to keep all busy, few enough to hold in memory."""
        ...

    def look(self) -> None:
        """Called while chunks are awaited: raises if nobody is left to compute them."""
        ...

    def judge(self, error: BaseException) -> int:
        """How many workers died with a chunk that has not come; 0 if another one should compute it; else it raises."""
        ...

    def close(self) -> None:
        """End what is still going on."""
        ...


class DeadlyChunk(NamedTuple):
    """A chunk that killed the workers which ran it, while they ran nothing else."""

    chunk: int
    deaths: int


class ChunkRun:
    """The run of some chunks: iterate over (chunk, value) as they are done; `deadly` are those that never will be."""

    def __init__(self, workers: Workers, chunks: Sequence[int], interrupts: Interrupts) -> None:
        self.workers, self.interrupts = workers, interrupts
        self.waiting, self.total = iter(chunks), len(chunks)
        self._begun = 0
        self.suspects: deque[int] = deque()
        self.deadly: list[DeadlyChunk] = []
        self.finished = 0
        self._running: dict[Any, int] = {}
        self._lost: list[Any] = []

    def __iter__(self) -> Generator[tuple[int, Any]]:
        """(chunk, value), in the order in which they are done."""
        try:
            yield from self._run_waiting()
            yield from self._run_suspects()
        finally:
            self._running.clear()
            self.workers.close()
        if self.finished + len(self.deadly) != self.total:
            raise ClusterError(
                f"{self.total} chunks were begun, but {self.finished} were computed and {len(self.deadly)} given up: "
                "some were lost, which must not happen. Resume the run, and report this as a bug"
            )

    def _run_waiting(self) -> Iterator[tuple[int, Any]]:
        while self._begun < self.total or self._running:
            if not self.finished and len(self.suspects) >= HOPELESS:
                while self._running:
                    yield from self._await_some(self.suspects)
                yield from self._run_suspects()
            while self._begun < self.total and len(self._running) < self.workers.window():
                self._start(next(self.waiting))
                self._begun += 1
            yield from self._await_some(self.suspects)

    def _run_suspects(self) -> Iterator[tuple[int, Any]]:
        """Each suspect alone: it is done, or it is deadly."""
        while self.suspects:
            chunk, deaths = self.suspects.popleft(), 0
            killed: deque[int] = deque([chunk])
            while killed and deaths < DEATHS_ALONE:
                killed.clear()
                self._start(chunk)
                while self._running:
                    yield from self._await_some(killed)
                deaths += self._last_deaths if killed else 0
            if killed:
                self.deadly.append(DeadlyChunk(chunk, deaths))
                if not self.finished and len(self.deadly) >= HOPELESS:
                    raise ClusterError(
                        f"no chunk was computed, and {len(self.deadly)} of them killed every worker that ran them, "
                        "alone: something that all members have in common ends the process, or needs more memory than "
                        "a worker has. Try a few members with engine='cpu', or smaller chunks (chunk_members=)"
                    )

    def _start(self, chunk: int) -> None:
        task = self.workers.submit(chunk)
        self._running[task] = chunk
        task.add_done_callback(self.interrupts.put)

    def _await_some(self, killed: deque[int]) -> Iterator[tuple[int, Any]]:
        """Yield the chunks that are done, if some are done soon; those that died with a worker go to `killed`."""
        self.workers.look()
        done = self.workers.fetch([task for task in self._lost + self.interrupts.take(LOOK_S) if task in self._running])
        self._lost = done.lost
        for task, value in done.values:
            self.finished += 1
            yield self._running.pop(task), value
        for task, error in done.errors:
            deaths, chunk = self.workers.judge(error), self._running.pop(task)
            if deaths:
                self._last_deaths = deaths
                killed.append(chunk)
            else:
                self._start(chunk)


class _ThisThread(Executor):
    """Computes at once what is submitted."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        """A future that is done."""
        done: Future[Any] = Future()
        try:
            done.set_result(function(*args, **options))
        except BaseException as error:
            done.set_exception(error)
        return done


class LocalThreads:
    """This process computes chunk after chunk on all its threads; while one is stored, the next is computed.

    Parameters
    ----------
    work : ChunkWork
        What is to be done.
    begin : callable
        Called as a chunk begins; returns its report, which takes the time that the chunk has reached.
    end : float
        The time that it reaches.
    interrupts : Interrupts
        What ends it.
    is_single : bool
        Whether there is one chunk alone: then this thread computes it.
    """

    def __init__(
        self, work: ChunkWork, begin: Callable[[int], Report], end: float, interrupts: Interrupts, is_single: bool
    ) -> None:
        self.work, self.begin, self.end, self.interrupts = work, begin, end, interrupts
        self._computing, self._ended = Lock(), Flag()
        self._pool: Executor = _ThisThread() if is_single else ThreadPoolExecutor(2)

    def submit(self, chunk: int) -> Future[ChunkOutcome]:
        """Compute and keep a chunk, after those before it."""
        return self._pool.submit(copy_context().run, self._run, chunk)

    def _run(self, chunk: int) -> ChunkOutcome:
        with self._computing:
            try:
                self._check_goes_on()
                report = self.begin(chunk)

                def hear(time: float) -> None:
                    self._check_goes_on()
                    report(time)

                result = self.work.compute(chunk, hear)
                hear(self.end)
            except BaseException:
                self._ended.set()
                raise
        return self.work.keep(chunk, result)

    def _check_goes_on(self) -> None:
        self.interrupts.check()
        if self._ended.is_set():
            raise CancelledError("the run has ended")

    def fetch(self, tasks: list[Any]) -> Done:
        """Nothing is lost here."""
        failed = [(task, error) for task in tasks if (error := task.exception()) is not None]
        return Done([(task, task.result()) for task in tasks if task.exception() is None], failed, [])

    def window(self) -> int:
        """One that is computed, and one that is kept."""
        return 2

    def look(self) -> None:
        """Threads do not die."""

    def judge(self, error: BaseException) -> int:
        """What goes wrong here is an error."""
        raise error

    def close(self) -> None:
        """The chunk that is being computed ends at its next report; one that is being stored is completed."""
        self._ended.set()
        self._pool.shutdown(wait=True, cancel_futures=True)
