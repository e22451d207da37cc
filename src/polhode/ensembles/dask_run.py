"""The chunks of an ensemble on a Dask cluster: computed and stored by its workers, in any order, with the same bits."""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from polhode.ensembles.chunks import ChunkPlan
from polhode.ensembles.dask_cluster import check_workers, explain_lost_scheduler, open_client
from polhode.ensembles.dask_tasks import ChunkTasks, DeadlyChunk
from polhode.ensembles.dask_worker import ChunkTask, SharedStore, compute_task, describe_software
from polhode.errors import DeadlyChunksError

NAMED_CHUNKS = 5
"""A sentence names so many chunks; the error has all of them."""
ChunkWork = Callable[[int, Callable[[float], None]], Any]
"""(chunk, report) -> what comes back to this process; `report` may end the computation."""


def run_on_cluster(
    work_of: Callable[[int], ChunkWork],
    chunks: Sequence[int],
    plan: ChunkPlan,
    *,
    scheduler: Any = None,
    workers: int | None = None,
    store: SharedStore | None = None,
) -> Iterator[tuple[int, Any]]:
    """Compute chunks on a cluster: (chunk, value) as they are done, in any order.

    Parameters
    ----------
    work_of : function
        What is to be done for a chunk, with just the numbers that the chunk needs: it is sent to the worker.
    chunks : sequence of int
        Which chunks.
    plan : ChunkPlan
        Their members.
    scheduler : str, Client, Cluster or None
        Where; None for a cluster on this machine that lasts as long as the run.
    workers : int, optional
        Of a cluster on this machine: how many processes.
    store : SharedStore, optional
        The store that each worker must reach.

    Raises
    ------
    DeadlyChunksError
        After all other chunks are done, if some chunks killed the workers which ran them.
    ClusterError
        If the scheduler is lost, or no worker is there, or none is fit.
    """
    import cloudpickle

    if not chunks:
        return
    with open_client(scheduler, min(workers, len(chunks)) if workers else None) as (client, replenish):
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
    members = sorted(plan.range_of(one.chunk) for one in deadly)
    named = ", ".join(f"{first} to {last - 1}" for first, last in members[:NAMED_CHUNKS])
    if len(members) > NAMED_CHUNKS:
        named += f", and {len(members) - NAMED_CHUNKS} more chunks"
    kept = (
        f"all others are in {store.path}, and a resumed run tries only these again"
        if store is not None
        else "with store= the others would be kept"
    )
    return DeadlyChunksError(
        f"members {named} were not computed: {deadly[0].deaths} workers that computed nothing else died with them. "
        "Something there ends the process (a function of yours, a library), or needs more memory than a worker has; "
        f"{kept}",
        members,
    )
