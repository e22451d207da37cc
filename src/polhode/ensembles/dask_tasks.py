"""Chunks as Dask tasks: a few ahead of the workers; workers that die cost their chunks, deadly chunks are found."""

from __future__ import annotations

import asyncio
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, NamedTuple

from polhode.ensembles.dask_cluster import LOST_SCHEDULER, explain_lost_scheduler
from polhode.ensembles.dask_worker import WorkerObstacle
from polhode.errors import ClusterError

LOOK_S = 1.0
"""How often the workers are counted."""
NO_WORKERS_S = 120.0
"""How long a run waits for workers after the last one has gone."""
FETCH_S = 60.0
"""How long the results of some chunks may take to come, before each is asked for alone."""
DEATHS_ALONE = 3
"""A chunk is deadly once so many workers have died that ran nothing else of this ensemble."""
HOPELESS = 3
"""So many deadly chunks, and not one that was computed, end the run."""


class DeadlyChunk(NamedTuple):
    """A chunk that killed the workers which ran it, while they ran nothing else."""

    chunk: int
    deaths: int


class ChunkTasks:
    """The tasks of some chunks: iterate over (chunk, value) as they are done; `deadly` are those that never will be.

    The scheduler blames each task that a worker held when it died, also those that only waited there.  A blamed chunk
    is therefore a suspect, no more: suspects are run again at the end, one at a time, and a chunk is deadly only if
    workers die with it alone.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    submit : function
        (chunk, key) -> Future.
    chunks : iterable of int
        What is to be computed.
    run_name : str
        Begins the keys of the tasks: no other run on the cluster has it.
    replenish : function
        Called where there are fewer workers than there were.
    """

    def __init__(
        self,
        client: Any,
        submit: Callable[[int, str], Any],
        chunks: Iterable[int],
        run_name: str,
        replenish: Callable[[], Any],
    ) -> None:
        self.client, self.submit, self.run_name, self.replenish = client, submit, run_name, replenish
        self.waiting = deque(chunks)
        self.total = len(self.waiting)
        self.suspects: deque[int] = deque()
        self.deadly: list[DeadlyChunk] = []
        self.finished = 0
        self._running: dict[str, tuple[int, Any]] = {}
        self._done: SimpleQueue[Any] = SimpleQueue()
        self._unsettled: list[Any] = []
        """Tasks that were done, but whose results died with their workers: they are computed again."""
        self._submissions = 0
        self._threads: dict[str, int] = {}
        self._looked = -LOOK_S
        self._most_workers = 0
        self._seen_worker = monotonic()
        self._unfit: dict[str, str] = {}

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        """(chunk, value), in the order in which they are done."""
        try:
            yield from self._run_waiting()
            yield from self._run_suspects()
        finally:
            self._cancel()
        if self.finished + len(self.deadly) != self.total:
            raise ClusterError(
                f"{self.total} chunks were begun, but {self.finished} were computed and {len(self.deadly)} given up: "
                "some were lost, which must not happen. Resume the run, and report this as a bug"
            )

    def _run_waiting(self) -> Iterator[tuple[int, Any]]:
        while self.waiting or self._running:
            if not self.finished and len(self.suspects) >= HOPELESS:
                yield from self._drain()
                yield from self._run_suspects()
            while self.waiting and len(self._running) < self._window():
                self._start(self.waiting.popleft())
            yield from self._await_some(self.suspects)

    def _drain(self) -> Iterator[tuple[int, Any]]:
        while self._running:
            yield from self._await_some(self.suspects)

    def _run_suspects(self) -> Iterator[tuple[int, Any]]:
        """Each suspect alone: it is done, or it is deadly."""
        while self.suspects:
            chunk = self.suspects.popleft()
            deaths = 0
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
        key = f"polhode-{self.run_name}-{chunk}-{self._submissions}"
        self._submissions += 1
        future = self.submit(chunk, key)
        self._running[key] = chunk, future
        future.add_done_callback(self._done.put)

    def _await_some(self, killed: deque[int]) -> Iterator[tuple[int, Any]]:
        """Yield the chunks that are done, if some are done soon; those that died with a worker go to `killed`."""
        self._count_workers()
        done, self._unsettled = self._unsettled + self._take_done(), []
        finished: list[Any] = []
        failed: list[Any] = []
        for future in done:
            status = future.status  # read once: it changes if the worker that has the result dies
            if status == "cancelled":
                raise ClusterError(LOST_SCHEDULER)
            {"finished": finished, "error": failed}.get(status, self._unsettled).append(future)
        for key, value in self._fetch(finished):
            self.finished += 1
            yield self._running.pop(key)[0], value
        for future in failed:
            self._handle_error(self._running.pop(future.key)[0], future, killed)

    def _fetch(self, finished: list[Any]) -> list[tuple[str, Any]]:
        """(key, value) of what can be fetched; a result that died with its worker is computed again, and comes later.

        All at once: one by one they would wait for the scheduler one by one.
        """
        if not finished:
            return []
        loop = self.client.loop.asyncio_loop
        together = asyncio.run_coroutine_threadsafe(self.client.gather(finished, asynchronous=True), loop)
        try:
            return [(f.key, value) for f, value in zip(finished, together.result(FETCH_S), strict=True)]
        except Exception:  # one of them is lost: which?
            return [found for future in finished for found in self._fetch_one(future)]

    def _fetch_one(self, future: Any) -> list[tuple[str, Any]]:
        if future.status == "finished":
            with suppress(Exception):  # what has become of it is looked at again
                return [(future.key, future.result(timeout=FETCH_S))]
        self._unsettled.append(future)
        return []

    def _take_done(self) -> list[Any]:
        try:
            found = [self._done.get(timeout=LOOK_S)]
        except Empty:
            return []
        with suppress(Empty):
            while True:
                found.append(self._done.get_nowait())
        return found

    def _handle_error(self, chunk: int, future: Any, killed: deque[int]) -> None:
        from distributed.scheduler import KilledWorker

        with explain_lost_scheduler():
            error = future.exception()
        if isinstance(error, KilledWorker):
            self._last_deaths = error.allowed_failures + 1
            killed.append(chunk)
        elif isinstance(error, WorkerObstacle):
            self._note_unfit_worker(error)
            self._start(chunk)
        else:
            raise error

    def _note_unfit_worker(self, obstacle: WorkerObstacle) -> None:
        """A worker that came later and is not fit: the others do its chunks, as long as there are others."""
        if obstacle.worker not in self._unfit:
            self._unfit[obstacle.worker] = obstacle.sentence
            warnings.warn(
                f"worker {obstacle.worker} does nothing for this run: {obstacle.sentence}", RuntimeWarning, stacklevel=2
            )
        if all(worker in self._unfit for worker in self._threads):
            raise ClusterError(f"none of the workers is fit: worker {obstacle.worker}: {obstacle.sentence}")

    def _window(self) -> int:
        """How many tasks are with the scheduler: enough to keep all workers busy, few enough to hold in memory."""
        threads = sum(self._threads.values())
        return 2 * threads + 2

    def _count_workers(self) -> None:
        now = monotonic()
        if now - self._looked < LOOK_S:
            return
        with explain_lost_scheduler():
            self._threads = self.client.nthreads()
        self._looked = now
        self._most_workers = max(self._most_workers, len(self._threads))
        if len(self._threads) < self._most_workers:
            self.replenish()
        if self._threads:
            self._seen_worker = now
        elif now - self._seen_worker > NO_WORKERS_S:
            raise ClusterError(
                f"all workers are gone, and none has come for {NO_WORKERS_S:.0f} s: start some with 'dask worker "
                "ADDRESS', with a nanny, which starts a worker anew when it dies"
            )

    def _cancel(self) -> None:
        """Nothing of this run goes on: a worker notices at its next report; what it is just writing is completed."""
        futures = [future for _, future in self._running.values()]
        self._running.clear()
        if futures:
            with suppress(Exception):  # the scheduler may be gone
                self.client.cancel(futures, force=True)
