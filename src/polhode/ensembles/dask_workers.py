"""The workers of a Dask cluster, one on this machine or the one that a scheduler's address leads to, compute chunks.

They write to the store themselves, in any order, with the same bits.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing.spawn
import uuid
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import wait
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from math import inf
from time import monotonic
from typing import Any, NamedTuple
from weakref import WeakSet

from polhode.ensembles.chunks import ChunkPlan
from polhode.ensembles.dask_worker import (
    SharedStore,
    WorkerObstacle,
    compute_chunk,
    describe_software,
    find_obstacle,
)
from polhode.ensembles.interrupts import Interrupts
from polhode.ensembles.run_chunks import LOOK_S, ChunkRun, DeadlyChunk, Done
from polhode.errors import ClusterError, DeadlyChunksError, ScenarioError, show
from polhode.installation import install_hint
from polhode.integrate.integrator import CORES

CONNECT_S = 30
"""How long a scheduler may take to answer."""
START_S = 120
"""How long the first worker may take to appear."""
FETCH_S = 60.0
"""How long the values of some chunks may take to come, before they are asked for again."""
NO_WORKERS_S = 120.0
"""How long a run waits for workers after the last one has gone."""
LOCAL_SETTINGS = {
    "distributed.scheduler.allowed-failures": 2,
    "distributed.deploy.lost-worker-timeout": "20s",
}
"""On this machine a chunk becomes a suspect after three workers have died with it, one more than are allowed.  A nanny
whose worker has been gone for so long has given up on it, and is replaced; others start another one in some seconds."""
NAMED_CHUNKS = 5
"""A sentence names so many chunks; the error has all of them."""
DASK = "dask"
WORKER_MODULE = "polhode.ensembles.dask_worker"
NANNY_PROCESS = "Dask Worker process"
LOST_SCHEDULER = "the connection to the scheduler was lost; what was computed until then is kept if there is a store"

Replenish = Callable[[], Any]


class Cluster(NamedTuple):
    """Where the chunks of an ensemble are computed."""

    scheduler: Any = None
    """An address, a Client or a cluster of Dask; None for one on this machine that lasts as long as the run."""
    workers: int | None = None
    """Processes of a cluster on this machine; by default one for each core."""


def check_cluster(engine: Any, scheduler: Any, worker_engine: Any, threads: Any) -> Cluster | None:
    """The cluster that a user asks for; None for any other engine."""
    for name, given in (("engine", engine), ("worker_engine", worker_engine)):
        if given is not None and not isinstance(given, str):
            raise ScenarioError(f"{name} is a name, 'cpu', 'gpu', 'dask' or 'python', not {show(given)}")
    if engine != DASK:
        for name, given in (("scheduler", scheduler), ("worker_engine", worker_engine)):
            if given is not None:
                found = ": give that too" if engine is None else f", but the engine is {show(engine)}"
                raise ScenarioError(f"{name}={show(given)} is for engine='dask'{found}")
        return None
    if scheduler is not None and threads is not None:
        raise ScenarioError(
            "threads counts the processes of a cluster that is started on this machine; with a scheduler the workers "
            "decide, by --nworkers and --nthreads of 'dask worker'"
        )
    if worker_engine == DASK:
        raise ScenarioError("worker_engine is what computes a chunk on a worker: 'cpu', 'gpu' or 'python'")
    return Cluster(scheduler, threads)


class DaskWorkers:
    """The workers of a cluster.

    Tasks are futures of Dask, not of its `Client.get_executor`: if a worker dies after it has said that a task is done,
    and before its value was fetched, the future of that executor may never hear of it again (3 of 12 trials with
    distributed 2026.8), although the scheduler has the task computed anew.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    work_of : callable
        What is to be done for a chunk, (chunk, report) -> value, with just the numbers that it needs: it is sent.
    store : SharedStore, optional
        The store that each worker must reach.
    replenish : callable
        Called where there are fewer workers than there were.
    interrupts : Interrupts
        What ends the wait for values.
    """

    def __init__(
        self,
        client: Any,
        work_of: Callable[[int], Any],
        store: SharedStore | None,
        replenish: Replenish,
        interrupts: Interrupts,
    ) -> None:
        self.client, self.work_of, self.store, self.replenish = client, work_of, store, replenish
        self.interrupts, self.software = interrupts, describe_software()
        self._tasks: WeakSet[Any] = WeakSet()
        self._run_name, self._submissions = uuid.uuid4().hex[:8], 0
        self._threads: dict[str, int] = {}
        self._looked = self._seen_worker = -inf
        self._most_workers = 0
        self._unfit: dict[str, str] = {}

    def submit(self, chunk: int) -> Any:
        """Send a chunk."""
        import cloudpickle

        key = f"polhode-{self._run_name}-{chunk}-{self._submissions}"
        self._submissions += 1
        sent = (cloudpickle.dumps(self.work_of(chunk)), self.software, self.store, chunk)
        with warnings.catch_warnings(), explain_lost_scheduler():
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)  # a chunk's numbers may be large
            task = self.client.submit(compute_chunk, *sent, key=key, pure=False)
        self._tasks.add(task)
        return task

    def fetch(self, tasks: list[Any]) -> Done:
        """The values of tasks that are done."""
        found = Done([], [], [])
        finished: list[Any] = []
        for task in tasks:
            status = task.status  # read once: it changes if the worker that has the value dies
            if status == "cancelled":
                raise ClusterError(LOST_SCHEDULER)
            if status == "error":
                with explain_lost_scheduler():
                    found.errors.append((task, task.exception()))
            else:
                (finished if status == "finished" else found.lost).append(task)
        values = self._gather(finished) or [one for task in finished for one in self._gather([task])]
        there = {task for task, _ in values}
        found.values.extend(values)
        found.lost.extend(task for task in finished if task not in there)
        return found

    def _gather(self, tasks: list[Any]) -> list[tuple[Any, Any]]:
        """(task, value) of tasks that have one: all at once, since one by one they would wait for the scheduler one by
        one; nothing if one is lost.
        """
        if not tasks or any(task.status != "finished" for task in tasks):
            return []
        gathered = self.client.gather(tasks, asynchronous=True)
        coming, began = asyncio.run_coroutine_threadsafe(gathered, self.client.loop.asyncio_loop), monotonic()
        while not coming.done() and monotonic() - began < FETCH_S:
            wait([coming], LOOK_S)
            self.interrupts.check()
        try:
            return list(zip(tasks, coming.result(0), strict=True))
        except Exception:  # what has become of it is looked at again
            coming.cancel()
            return []

    def window(self) -> int:
        """Enough to keep all workers busy."""
        return 2 * sum(self._threads.values()) + 2

    def look(self) -> None:
        """Count the workers, once a second; raise ClusterError if there have been none for long."""
        now = monotonic()
        if now - self._looked < LOOK_S:
            return
        with explain_lost_scheduler():
            self._threads = self.client.nthreads()
        self._looked, self._most_workers = now, max(self._most_workers, len(self._threads))
        if len(self._threads) < self._most_workers:
            self.replenish()
        if self._threads or self._seen_worker < 0:
            self._seen_worker = now
        elif now - self._seen_worker > NO_WORKERS_S:
            raise ClusterError(
                f"all workers are gone, and none has come for {NO_WORKERS_S:.0f} s: start some with 'dask worker "
                "ADDRESS', with a nanny, which starts a worker anew when it dies"
            )

    def judge(self, error: BaseException) -> int:
        """Deaths of workers are counted; a chunk that a worker could not do goes to another; the rest is raised.

        The scheduler blames each task that a worker held when it died, also those that only waited there.
        """
        from distributed.scheduler import KilledWorker

        if isinstance(error, KilledWorker):
            return int(error.allowed_failures) + 1
        if isinstance(error, WorkerObstacle):
            self._note_unfit_worker(error)
            return 0
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

    def close(self) -> None:
        """Nothing of this run goes on: a worker notices at its next report; what it is just writing is completed."""
        if tasks := [*self._tasks]:
            with suppress(Exception):  # the scheduler may be gone
                self.client.cancel(tasks, force=True)


def run_on_cluster(
    work_of: Callable[[int], Any],
    chunks: Sequence[int],
    plan: ChunkPlan,
    cluster: Cluster,
    interrupts: Interrupts,
    store: SharedStore | None = None,
) -> Generator[tuple[int, Any]]:
    """Compute chunks on a cluster: (chunk, value) as they are done, in any order.

    Raises
    ------
    DeadlyChunksError
        After all other chunks are done, if some chunks killed the workers which ran them.
    ClusterError
        If the scheduler is lost, or no worker is there, or none is fit.
    """
    if not chunks:
        return
    with open_client(cluster.scheduler, min(cluster.workers or CORES, len(chunks)), interrupts) as (client, replenish):
        check_workers(client, store)
        run = ChunkRun(DaskWorkers(client, work_of, store, replenish, interrupts), chunks, interrupts)
        with closing(iter(run)) as found:
            yield from found
    if run.deadly:
        raise _deadly_chunks_error(run.deadly, plan, store)


def _deadly_chunks_error(deadly: list[DeadlyChunk], plan: ChunkPlan, store: SharedStore | None) -> DeadlyChunksError:
    chunks = sorted(one.chunk for one in deadly)
    members = [plan.range_of(k) for k in chunks]
    named = ", ".join(f"{first} to {last - 1}" for first, last in members[:NAMED_CHUNKS])
    if len(members) > NAMED_CHUNKS:
        named += f", and those of {len(members) - NAMED_CHUNKS} more chunks"
    kept = (
        "with store= they would be kept"
        if store is None
        else f"they are in {store.path}, and resume=True tries these again"
    )
    return DeadlyChunksError(
        f"members {named} were not computed: {min(one.deaths for one in deadly)} workers that computed nothing else "
        "died with them. Something there ends the process (a function of yours, a library), or needs more memory than "
        f"a worker has. All other members were computed; {kept}",
        chunks,
        members,
    )


@contextmanager
def open_client(scheduler: Any, workers: int, interrupts: Interrupts) -> Iterator[tuple[Any, Replenish]]:
    """A client of the cluster, which has at least one worker; whatever was started here ends with the block.

    With it comes a function that starts workers in place of those whose nannies have given up, if they are ours.

    Parameters
    ----------
    scheduler : str, Client, Cluster or None
        An address such as "tcp://10.0.0.1:8786", an object of Dask, or None for a cluster on this machine.
    workers : int
        Of a cluster on this machine: how many processes, one thread each.
    """
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError:
        raise ScenarioError(f"engine='dask' needs Dask: {install_hint('cluster')}") from None
    replenish: Replenish = lambda: None  # noqa: E731
    with ExitStack() as stack:
        stack.enter_context(_quiet_logs())
        if isinstance(scheduler, Client):
            client = scheduler
        elif scheduler is None:
            stack.enter_context(_main_module_not_imported_by_workers())
            stack.enter_context(dask.config.set(LOCAL_SETTINGS))
            cluster = LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                dashboard_address="127.0.0.1:0",  # any free port, and for this machine only
                silence_logs=logging.CRITICAL + 1,
                preload=[WORKER_MODULE],
            )
            stack.callback(_close, cluster)
            client = Client(cluster, set_as_default=False)
            stack.callback(_close, client)
            replenish = partial(cluster.scale, workers)
        else:
            client = _connect(Client, scheduler)
            stack.callback(_close, client)
        _await_worker(client, interrupts)
        yield client, replenish


def check_workers(client: Any, store: SharedStore | None) -> None:
    """Raise ClusterError unless all present workers have the software of this process, and reach the store.

    A worker that dies meanwhile is no obstacle: the one that comes in its place is asked with its first chunk.
    """
    with explain_lost_scheduler():
        found: dict[str, Any] = client.run(find_obstacle, describe_software(), store, on_error="return")
    for error in found.values():
        if isinstance(error, (ModuleNotFoundError, AttributeError, TypeError)):  # what it has is not this Polhode
            raise ClusterError(
                f"a worker cannot load this version of Polhode ({error}): install the same version on all machines, "
                "with the extra [cluster], and start the workers anew"
            ) from None
        if isinstance(error, Exception) and not isinstance(error, OSError):
            raise error
    obstacles = {worker: answer for worker, answer in found.items() if answer and isinstance(answer, str)}
    if obstacles:
        worker, sentence = min(obstacles.items())
        others = f"; so or similarly {len(obstacles) - 1} more of {len(found)} workers" if len(obstacles) > 1 else ""
        raise ClusterError(f"worker {worker}: {sentence}{others}")


@contextmanager
def explain_lost_scheduler() -> Iterator[None]:
    """What Dask raises when its scheduler is gone becomes a sentence."""
    from distributed.client import FutureCancelledError

    try:
        yield
    except (OSError, FutureCancelledError, RuntimeError) as error:
        raise ClusterError(f"{LOST_SCHEDULER} ({error})") from None


def _connect(make_client: Any, scheduler: Any) -> Any:
    try:
        return make_client(scheduler, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise ClusterError(
            f"no scheduler answers at {scheduler!r} ({error}). Is it running ('dask scheduler'), and does the address "
            'read like "tcp://10.0.0.1:8786"?'
        ) from None


def _await_worker(client: Any, interrupts: Interrupts) -> None:
    began = monotonic()
    while True:
        interrupts.check()
        try:
            client.wait_for_workers(1, timeout=LOOK_S)
        except TimeoutError:
            if monotonic() - began < START_S:
                continue
            raise ClusterError(
                f"the scheduler has had no worker for {START_S} s: start some with 'dask worker ADDRESS'"
            ) from None
        return


def _close(client_or_cluster: Any) -> None:
    with suppress(Exception):  # a scheduler that is gone cannot say goodbye; what matters was said before
        client_or_cluster.close()


@contextmanager
def _quiet_logs() -> Iterator[None]:
    """What Dask logs about workers that died is said in sentences of our own."""
    logger = logging.getLogger("distributed")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(level)


@contextmanager
def _main_module_not_imported_by_workers() -> Iterator[None]:
    """Worker processes start without running the main script again.

    A spawned process imports the main module, so a script without `if __name__ == "__main__"` would start itself in
    every worker.  Ours need nothing from there: functions of the main module travel by value.
    """
    original = multiprocessing.spawn.get_preparation_data

    def without_main(name: str) -> dict[str, Any]:
        found = original(name)
        if name.startswith(NANNY_PROCESS):
            found.pop("init_main_from_name", None)
            found.pop("init_main_from_path", None)
        return found

    multiprocessing.spawn.get_preparation_data = without_main
    try:
        yield
    finally:
        multiprocessing.spawn.get_preparation_data = original
