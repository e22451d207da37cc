"""The chunks of an ensemble on a Dask cluster: computed and stored by its workers, in any order, with the same bits."""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, NamedTuple

from polhode.archive.layout import METADATA
from polhode.ensembles.chunk_work import ChunkOutcome, ChunkWork
from polhode.ensembles.chunks import BLOCK_MEMBERS, CHUNK_MEMBERS, ChunkPlan
from polhode.ensembles.dask_cluster import check_workers, explain_lost_scheduler, open_client
from polhode.ensembles.dask_tasks import ChunkTasks, DeadlyChunk
from polhode.ensembles.dask_worker import ChunkTask, SharedStore, compute_task, describe_software, share_store
from polhode.ensembles.pieces import Look, Run, join_pieces, run_in_pieces
from polhode.ensembles.store import EnsembleStore
from polhode.errors import DeadlyChunksError, ScenarioError
from polhode.integrate.driver import run_scenario
from polhode.integrate.integrator import CORES
from polhode.integrate.run_result import Report, RunResult
from polhode.scenario.scenario import Scenario

DASK = "dask"
NAMED_CHUNKS = 5
"""A sentence names so many chunks; the error has all of them."""
LARGEST_MOTION = 2 * 2**30
"""Bytes of samples that may come back from the workers; more belong into a store."""
FEWEST_CHUNKS = 4
"""So many chunks for each worker, if there are members enough, so that none waits long for the last."""
Work = Callable[[int, Report], Any]
"""(chunk, report) -> what comes back to this process; `report` may end the computation."""


class Cluster(NamedTuple):
    """Where the chunks of an ensemble are computed."""

    scheduler: Any = None
    """An address, a Client or a cluster of Dask; None for one on this machine that lasts as long as the run."""
    workers: int | None = None
    """Processes of a cluster on this machine; by default one for each core."""


def check_cluster(engine: Any, scheduler: Any, worker_engine: Any, threads: Any) -> Cluster | None:
    """The cluster that a user asks for; None for any other engine."""
    if engine != DASK:
        for name, given in (("scheduler", scheduler), ("worker_engine", worker_engine)):
            if given is not None:
                found = ": give that too" if engine is None else f", but the engine is {engine!r}"
                raise ScenarioError(f"{name}={given!r} is for engine='dask'{found}")
        return None
    if scheduler is not None and threads is not None:
        raise ScenarioError(
            "threads counts the processes of a cluster that is started on this machine; with a scheduler the workers "
            "decide, by --nworkers and --nthreads of 'dask worker'"
        )
    if worker_engine == DASK:
        raise ScenarioError("worker_engine is what computes a chunk on a worker: 'cpu', 'gpu' or 'python'")
    return Cluster(scheduler, threads)


def run_chunks_on_cluster(
    work: ChunkWork, chunks: list[int], report: Callable[..., None] | None, cluster: Cluster
) -> Iterator[ChunkOutcome]:
    """What `run_chunks` does, by the workers of a cluster: they write to the store, and only outcomes come back."""
    plan = work.plan
    done = plan.members - sum(last - first for first, last in map(plan.range_of, chunks))
    if report is not None:
        report(done, True)
    store = None if work.run is None else share_store(work.run.store.path, METADATA)
    with closing(run_on_cluster(work.part, chunks, plan, cluster, store)) as outcomes:
        for k, outcome in outcomes:
            first, last = plan.range_of(k)
            done += last - first
            if report is not None:
                report(done)
            yield outcome


def find_pending_on_cluster(store: EnsembleStore, cluster: Cluster) -> list[int]:
    """What `store.pending` finds; with workers on other machines they read and verify what is there."""
    if cluster.scheduler is None:
        return store.pending()
    there = store.recorded()
    found = run_on_cluster(lambda k: VerifyWork(store), there, store.plan, cluster, share_store(store.path, METADATA))
    with closing(found) as verdicts:
        whole = {k for k, is_whole in verdicts if is_whole}
    return [k for k in range(store.plan.count) if k not in whole]


@dataclass(frozen=True)
class VerifyWork:
    """Reads a chunk of a store, and says whether it is whole."""

    store: EnsembleStore

    def __call__(self, k: int, report: Report) -> bool:
        """Whether chunk k is there, and what was written."""
        report(0.0)
        return not self.store.find_damage([k])


def run_members_on_cluster(
    scenario: Scenario,
    counts_work: bool,
    threads: int | None,
    report: Report | None = None,
    look: Look | None = None,
    run: Run = run_scenario,
    *,
    cluster: Cluster,
) -> RunResult:
    """What `run_in_pieces` does, by the workers of a cluster: all samples come back."""
    members = scenario.members or 1
    size = 8 * len(scenario.times) * members * len(scenario.bodies) * (sum(scenario.form.sizes) + 1)
    if size > LARGEST_MOTION:
        raise ScenarioError(
            f"the samples of this ensemble are {size / 2**30:.1f} GiB, too much to send them all to this process: give "
            "store='/shared/name.zarr', which the workers write, or reduce=[...]"
        )
    plan = plan_pieces(members, cluster.workers)

    def pieces() -> Iterator[tuple[int, int, RunResult]]:
        done = 0
        work_of: Callable[[int], Work] = lambda k: PieceWork(  # noqa: E731
            scenario.take(slice(*plan.range_of(k))), counts_work, run
        )
        with closing(run_on_cluster(work_of, range(plan.count), plan, cluster)) as results:
            for k, result in results:
                first, last = plan.range_of(k)
                done += last - first
                if look is not None:
                    look(scenario.take(slice(first, last)), result)
                if report is not None:
                    report(scenario.start_time + scenario.duration * done / members)
                yield first, last, result

    return join_pieces(scenario, pieces())


@dataclass(frozen=True)
class PieceWork:
    """Computes some members of an ensemble, whose samples come back."""

    scenario: Scenario
    counts_work: bool
    run: Run

    def __call__(self, k: int, report: Report) -> RunResult:  # noqa: ARG002
        """Their result; k is the number of the piece."""
        result = run_in_pieces(self.scenario, self.counts_work, 1, report, run=self.run)
        result.closed_form = None
        return result


def plan_pieces(members: int, workers: int | None) -> ChunkPlan:
    """Pieces that keep some workers busy, each at least one block, and no larger than a chunk."""
    size = BLOCK_MEMBERS
    while 2 * size <= CHUNK_MEMBERS and 2 * size * FEWEST_CHUNKS * (workers or 1) <= members:
        size *= 2
    return ChunkPlan(members, size)


def run_on_cluster(
    work_of: Callable[[int], Work],
    chunks: Sequence[int],
    plan: ChunkPlan,
    cluster: Cluster,
    store: SharedStore | None = None,
) -> Generator[tuple[int, Any], None, None]:
    """Compute chunks on a cluster: (chunk, value) as they are done, in any order.

    Parameters
    ----------
    work_of : function
        What is to be done for a chunk, with just the numbers that the chunk needs: it is sent to the worker.
    chunks : sequence of int
        Which chunks.
    plan : ChunkPlan
        Their members.
    cluster : Cluster
        Where.
    store : SharedStore, optional
        The store that each worker must reach.

    Raises
    ------
    DeadlyChunksError
        After all other chunks are done, if some chunks killed the workers which ran them.
    ClusterError
        If the scheduler is lost, or no worker is there, or none is fit.
    """
    if not chunks:
        return
    with open_client(cluster.scheduler, min(cluster.workers or CORES, len(chunks))) as (client, replenish):
        import cloudpickle

        check_workers(client, store)
        software = describe_software()

        def submit(chunk: int, key: str) -> Any:
            task = ChunkTask(cloudpickle.dumps(work_of(chunk)), software, store)
            with warnings.catch_warnings(), explain_lost_scheduler():
                warnings.filterwarnings("ignore", "Sending large graph", UserWarning)  # a chunk's numbers may be large
                return client.submit(compute_task, task, chunk, key=key, pure=False)

        tasks = ChunkTasks(client, submit, chunks, uuid.uuid4().hex[:8], replenish)
        yield from tasks
    if tasks.deadly:
        raise _deadly_chunks_error(tasks.deadly, plan, store)


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
