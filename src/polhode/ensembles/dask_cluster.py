"""The Dask cluster of an ensemble: one on this machine, or the one that a scheduler's address leads to."""

from __future__ import annotations

import logging
import multiprocessing.spawn
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from time import monotonic
from typing import Any

from polhode.ensembles.dask_worker import SharedStore, describe_software, find_obstacle
from polhode.errors import ClusterError, ScenarioError

CONNECT_S = 30
"""How long a scheduler may take to answer."""
START_S = 120
"""How long the first worker may take to appear."""
LOCAL_SETTINGS = {
    "distributed.scheduler.allowed-failures": 2,
    "distributed.deploy.lost-worker-timeout": "1000 days",
}
"""On this machine a chunk becomes a suspect after three workers have died with it, one more than are allowed.  Dask
would end a nanny whose worker has been gone for 15 s, although it may just be starting another one, which takes longer
on a busy machine: that worker would die with chunks that have done nothing.  `LocalNannies` sees to it instead."""
GIVEN_UP_S = 10.0
"""A nanny that has had no process for so long will start none."""
WORKER_MODULE = "polhode.ensembles.dask_worker"
NANNY_PROCESS = "Dask Worker process"
LOST_SCHEDULER = "the connection to the scheduler was lost; what was computed until then is kept if there is a store"

Replenish = Callable[[], Any]


@contextmanager
def open_client(scheduler: Any, workers: int) -> Iterator[tuple[Any, Replenish]]:
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
        raise ScenarioError("engine='dask' needs Dask: pip install 'polhode[cluster]'") from None
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
            replenish = LocalNannies(cluster).replenish
        else:
            client = _connect(Client, scheduler)
            stack.callback(_close, client)
        _await_worker(client)
        yield client, replenish


class LocalNannies:
    """The nannies of a cluster on this machine: those that have given up on their workers are replaced."""

    def __init__(self, cluster: Any) -> None:
        self.cluster, self.count = cluster, len(cluster.workers)
        self._idle_since: dict[Any, float] = {}
        """Since when each nanny has had no process."""

    def replenish(self) -> None:
        """Replace those that have had no process for long; to be called from time to time while workers are missing."""
        self.cluster.loop.add_callback(self._replace_idle)

    async def _replace_idle(self) -> None:
        now = monotonic()
        idle = [(name, nanny) for name, nanny in self.cluster.workers.items() if not _has_process(nanny)]
        self._idle_since = {nanny: self._idle_since.get(nanny, now) for _, nanny in idle}
        for name, nanny in idle:
            if now - self._idle_since[nanny] >= GIVEN_UP_S:
                del self.cluster.workers[name], self._idle_since[nanny]
                with suppress(Exception):  # it has nothing left that could be closed
                    await nanny.close()
        self.cluster.scale(self.count)


def _has_process(nanny: Any) -> bool:
    """Whether a nanny has a worker process, or is starting one."""
    return nanny.process is not None and nanny.process.status.name in ("starting", "running")


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


def _await_worker(client: Any) -> None:
    try:
        client.wait_for_workers(1, timeout=START_S)
    except TimeoutError:
        raise ClusterError(
            f"the scheduler has had no worker for {START_S} s: start some with 'dask worker ADDRESS'"
        ) from None


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
