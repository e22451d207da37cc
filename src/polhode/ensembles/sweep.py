"""`sweep` computes an ensemble whose members are drawn from distributions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from polhode.ensembles.dask_workers import check_cluster
from polhode.ensembles.member_source import ArraySource, IntArray, MemberSource
from polhode.ensembles.reduction_kinds import Reduction
from polhode.ensembles.result import EnsembleResult
from polhode.ensembles.runner import SAMPLES, check_kept, run_ensemble
from polhode.ensembles.sampling import Draw, DrawnSource, read_sweep_file
from polhode.errors import ScenarioError
from polhode.scenario.scenario import Scenario
from polhode.validation import Array, check_path

DEFAULT_REDUCTIONS = ("mean:position", "mean:velocity", "extremes:position", "extremes:speed")
"""What is kept of a sweep that is asked for nothing else."""


def sweep(
    build: Callable[[Draw], Scenario] | str | Path | Scenario | MemberSource,
    *,
    members: int | None = None,
    seed: int | None = None,
    design: str | None = None,
    engine: str | None = None,
    precision: str | None = None,
    store: str | Path | None = None,
    resume: bool = False,
    reduce: Reduction | str | Sequence[Reduction | str] | None = None,
    keep: str | None = None,
    chunk_members: int | None = None,
    scheduler: Any = None,
    worker_engine: str | None = None,
    threads: int | None = None,
    progress: bool | None = None,
) -> EnsembleResult:
    """Compute many motions whose numbers are drawn from distributions, as many as one likes: they are never all held.

    What is drawn for a member depends on the seed, its number and the name of the input alone: not on chunks, threads,
    machines, or how many other members there are (with design="random").

    Parameters
    ----------
    build : callable, str or Path, Scenario, or MemberSource
        A function `build(draw)` that returns a `Scenario`, and draws its uncertain numbers by `draw.normal("mass", 1.0,
        0.02)` and the like: it is called with arrays, once for each chunk of members.  Or the path of a scenario file
        with distributions in place of numbers.  Or what has its members already: a `Scenario` with arrays, or a
        source, such as `ph.DrawnSource`.
    members : int
        How many; a file may say it in its [sweep] table.
    seed : int, optional
        Another seed draws other members; 0 by default.
    design : {"random", "latin_hypercube", "sobol"}, optional
        How the space of the inputs is covered: by independent members (default), one member in each of `members`
        equally probable parts of every input, or the points of a scrambled Sobol' sequence.
    engine : str, optional
        Instead of the engine of the scenario; "dask" computes on the workers of a cluster, of this machine or of many.
    precision : {"strict", "fused", "single"}, optional
        Of GPUs, instead of the precision of the scenario: see `ph.ensemble`.
    store : str or Path, optional
        A folder, such as "sweep.zarr", into which samples and inputs stream, chunk by chunk, while the run goes on.
    resume : bool, optional
        Complete the store if it is there: chunks that it has are not computed again.
    reduce : sequence of Reduction or str, optional
        What is wanted of all members together, from `ph.reductions` or as texts such as "mean:position".  Without
        `store` and `reduce`: what a file says, or the mean and the extremes of position and velocity.
    keep : {"samples", "reductions"}, optional
        What a store keeps; "reductions" is the default if there are any.
    chunk_members : int, optional
        The members of a chunk: 4096 times a power of two.  No result depends on it.
    scheduler : str, Client or Cluster, optional
        With engine="dask": the address of a scheduler, such as "tcp://10.0.0.1:8786", or an object of Dask.  By default
        a cluster on this machine that lasts as long as the run.
    worker_engine : str, optional
        With engine="dask": the engine that computes a chunk on a worker, instead of the engine of the scenario.
    threads : int, optional
        How many threads to use at most, or with engine="dask" how many processes on this machine; the result does not
        depend on it.
    progress : bool, optional
        Show a progress bar on runs of more than two seconds; by default if stderr is a terminal.

    Returns
    -------
    EnsembleResult
        With the reductions, the inputs, the members that failed, and the motions if there is a store.

    Examples
    --------
    >>> import polhode as ph
    >>> def build(draw):
    ...     speed = draw.normal("speed", 10.0, 0.1)
    ...     start = ph.State(velocity=speed[:, None] * [1.0, 0.0, 1.0])
    ...     return ph.Scenario(ph.particle(1.0), start, [ph.forces.gravity()], duration=1.0)
    >>> result = ph.sweep(build, members=100_000, seed=7, reduce=["mean:position@final"])
    >>> result.reductions["mean:position@final"]["mean"].round(2).tolist()
    [10.0, 0.0, 5.1]
    """
    source, file_reductions = _find_source(build, members, seed, design)
    cluster = check_cluster(engine, scheduler, worker_engine, threads)
    chosen = engine if cluster is None else worker_engine
    changes = {"engine": chosen, "precision": precision}
    changes = {name: value for name, value in changes.items() if value is not None}
    if changes:
        source = _choose_engine(source, changes)
    if reduce is None and store is None:
        reduce = file_reductions or DEFAULT_REDUCTIONS
    elif reduce is None and keep != SAMPLES:
        reduce = file_reductions or None
    kept = check_kept(store, resume, reduce, keep, chunk_members)
    if kept is None:
        raise ScenarioError("reduce=[] keeps nothing of a sweep: give reductions, or a store for the samples")
    found = run_ensemble(source, kept, threads, progress, cluster)
    assert isinstance(found, EnsembleResult)
    return found


def _find_source(build: Any, members: Any, seed: Any, design: Any) -> tuple[MemberSource, Any]:
    """The members that a user means, and the reductions that a file asks for."""
    if isinstance(build, (str, Path)):
        file = read_sweep_file(check_path(build, "a sweep", "read from"))
        return file.source(members, seed, design), file.reduce
    if isinstance(build, Scenario) or all(hasattr(build, name) for name in ("take", "inputs", "describe")):
        if any(one is not None for one in (members, seed, design)):
            raise ScenarioError(
                f"a {type(build).__name__} has its members already: members, seed and design are for a function "
                "build(draw), or a file"
            )
        return ArraySource(build) if isinstance(build, Scenario) else build, None
    if members is None:
        raise ScenarioError("how many members? Give members=..., such as 10_000")
    return DrawnSource(build, members, 0 if seed is None else seed, "random" if design is None else design), None


def _choose_engine(source: MemberSource, changes: dict[str, Any]) -> MemberSource:
    if isinstance(source, ArraySource):
        return ArraySource(replace(source.scenario, **changes))
    return _EngineSource(source, changes)


class _EngineSource:
    """The members of a source, for another engine or in another precision."""

    def __init__(self, source: MemberSource, changes: dict[str, Any]) -> None:
        self.source, self.changes = source, changes
        self.members, self.input_names = source.members, source.input_names

    def take(self, members: IntArray | range) -> Scenario:
        """The ensemble of just these members."""
        return replace(self.source.take(members), **self.changes)

    def inputs(self, members: IntArray) -> dict[str, Array]:
        """The drawn numbers of these members."""
        return self.source.inputs(members)

    def describe(self) -> dict[str, Any]:
        """What the members are made from."""
        return self.source.describe()
