"""`ensemble` computes many motions that differ in their numbers only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from polhode.ensembles.dask_workers import check_cluster
from polhode.ensembles.member_source import ArraySource
from polhode.ensembles.reduction_kinds import Reduction
from polhode.ensembles.result import EnsembleResult
from polhode.ensembles.runner import check_kept, run_ensemble
from polhode.errors import ScenarioError
from polhode.massprops.body import Body
from polhode.results.motion import Motion
from polhode.scenario.contact import Contact
from polhode.scenario.event import Event, EventLaw
from polhode.scenario.force import Force, ForceLaw, array_lengths
from polhode.scenario.mass_course import MassCourse
from polhode.scenario.parts import PARTS
from polhode.scenario.rotor import Rotor
from polhode.scenario.scenario import Scenario
from polhode.scenario.settings import documented
from polhode.scenario.state import State
from polhode.solve.simulate import as_scenario, explain_arguments

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

RUN_OPTIONS = (
    "store",
    "resume",
    "reduce",
    "keep",
    "chunk_members",
    "scheduler",
    "worker_engine",
    "threads",
    "progress",
)
"""The arguments that are not part of a scenario."""


@overload
def ensemble(
    # settings, written by tests/test_settings.py: arguments of ensemble
    body: Body | Sequence[Body] | Scenario,
    state: State | Sequence[State] | None = None,
    forces: Sequence[Force | ForceLaw] = (),
    *,
    duration: float | None = None,
    step: float | None = None,
    method: str = "auto",
    formulation: str = "momentum",
    engine: str = "cpu",
    precision: str = "strict",
    output_step: float | None = None,
    output_times: ArrayLike | None = None,
    events: Sequence[Event | EventLaw] = (),
    contacts: Sequence[Contact] = (),
    rotors: Sequence[Rotor] = (),
    mass_course: MassCourse | None = None,
    added_mass: ArrayLike | Sequence[ArrayLike | None] | None = None,
    pivot: ArrayLike | None = None,
    renormalize: bool = True,
    rtol: float | Sequence[float] = 1e-9,
    atol: float | Sequence[float] = 0.0,
    breaks: ArrayLike = (),
    largest_turn: float = 1.0,
    name: str = "",
    # end of settings
    store: None = None,
    resume: bool = False,
    reduce: None = None,
    keep: str | None = None,
    chunk_members: int | None = None,
    scheduler: Any = None,
    worker_engine: str | None = None,
    threads: int | None = None,
    progress: bool | None = None,
) -> Motion: ...


@overload
def ensemble(
    # settings, written by tests/test_settings.py: arguments of ensemble
    body: Body | Sequence[Body] | Scenario,
    state: State | Sequence[State] | None = None,
    forces: Sequence[Force | ForceLaw] = (),
    *,
    duration: float | None = None,
    step: float | None = None,
    method: str = "auto",
    formulation: str = "momentum",
    engine: str = "cpu",
    precision: str = "strict",
    output_step: float | None = None,
    output_times: ArrayLike | None = None,
    events: Sequence[Event | EventLaw] = (),
    contacts: Sequence[Contact] = (),
    rotors: Sequence[Rotor] = (),
    mass_course: MassCourse | None = None,
    added_mass: ArrayLike | Sequence[ArrayLike | None] | None = None,
    pivot: ArrayLike | None = None,
    renormalize: bool = True,
    rtol: float | Sequence[float] = 1e-9,
    atol: float | Sequence[float] = 0.0,
    breaks: ArrayLike = (),
    largest_turn: float = 1.0,
    name: str = "",
    # end of settings
    store: str | Path | None = None,
    resume: bool = False,
    reduce: Reduction | str | Sequence[Reduction | str] | None = None,
    keep: str | None = None,
    chunk_members: int | None = None,
    scheduler: Any = None,
    worker_engine: str | None = None,
    threads: int | None = None,
    progress: bool | None = None,
) -> EnsembleResult: ...


@explain_arguments(*RUN_OPTIONS)
@documented
def ensemble(
    # settings, written by tests/test_settings.py: arguments of ensemble
    body: Body | Sequence[Body] | Scenario,
    state: State | Sequence[State] | None = None,
    forces: Sequence[Force | ForceLaw] = (),
    *,
    duration: float | None = None,
    step: float | None = None,
    method: str = "auto",
    formulation: str = "momentum",
    engine: str = "cpu",
    precision: str = "strict",
    output_step: float | None = None,
    output_times: ArrayLike | None = None,
    events: Sequence[Event | EventLaw] = (),
    contacts: Sequence[Contact] = (),
    rotors: Sequence[Rotor] = (),
    mass_course: MassCourse | None = None,
    added_mass: ArrayLike | Sequence[ArrayLike | None] | None = None,
    pivot: ArrayLike | None = None,
    renormalize: bool = True,
    rtol: float | Sequence[float] = 1e-9,
    atol: float | Sequence[float] = 0.0,
    breaks: ArrayLike = (),
    largest_turn: float = 1.0,
    name: str = "",
    # end of settings
    store: str | Path | None = None,
    resume: bool = False,
    reduce: Reduction | str | Sequence[Reduction | str] | None = None,
    keep: str | None = None,
    chunk_members: int | None = None,
    scheduler: Any = None,
    worker_engine: str | None = None,
    threads: int | None = None,
    progress: bool | None = None,
) -> Motion | EnsembleResult:
    """Compute many independent motions that differ in their numbers only.

    Any number in body, state, forces, contacts or rotors may carry a leading axis of length N; the motion then has a
    `member` axis.  Without `output_step` or `output_times` only the final states are kept.  Members whose impulses or
    thruster windows are at different times run in groups, about 1 ms for each group.

    Parameters
    ----------
    settings : see polhode/scenario/settings.py
    store : str or Path, optional
        A folder, such as "throws.zarr", into which the samples stream, chunk by chunk, while the run goes on: for
        ensembles larger than memory, and runs that may be interrupted.
    resume : bool, optional
        Complete the store if it is there: chunks that it has are not computed again.
    reduce : sequence of Reduction or str, optional
        What is wanted of all members together, from `ph.reductions` or as texts such as "mean:position"; computed while
        the run goes on.  The samples are then not kept, unless keep="samples" puts them into the store.
    keep : {"samples", "reductions"}, optional
        What a store keeps; "reductions" is the default if there are any.
    chunk_members : int, optional
        The members of a chunk of the store: 4096 times a power of two.  No result depends on it.
    scheduler : str, Client or Cluster, optional
        With engine="dask": the address of a scheduler, such as "tcp://10.0.0.1:8786", or an object of Dask.  By default
        a cluster on this machine that lasts as long as the run.
    worker_engine : str, optional
        With engine="dask": the engine that computes a chunk on a worker, "cpu" by default.
    threads : int, optional
        How many threads to use at most, or with engine="dask" how many processes on this machine; the result does not
        depend on it.
    progress : bool, optional
        Show a progress bar on runs of more than two seconds; by default if stderr is a terminal.

    Returns
    -------
    Motion or EnsembleResult
        The states of all members, with a `member` axis after the time; a member that fails is an error.  With `store`
        or `reduce` an `EnsembleResult`, which reads motions from the store and has the reductions; members that fail
        are listed in its `failures`, and the others go on.

    Examples
    --------
    >>> import polhode as ph
    >>> start = ph.State(velocity=[(0, 0, 1), (0, 0, 2)])
    >>> motion = ph.ensemble(ph.particle(1.0), start, duration=3.0)
    >>> motion.final.position[:, 2].round(9).tolist()
    [3.0, 6.0]

    A million throws, of which only the mean and the spread of the range are kept:

    >>> import numpy as np
    >>> throws = ph.State(velocity=np.linspace((10.0, 0.0, 10.0), (10.1, 0.0, 10.1), 1_000_000))
    >>> gravity = [ph.forces.gravity()]
    >>> result = ph.ensemble(ph.particle(1.0), throws, gravity, duration=2.0, reduce=["mean:position.x@final"])
    >>> result.reductions["mean:position.x@final"]["mean"].round(6).item()
    20.1
    """
    given = locals()
    cluster = check_cluster(engine, scheduler, worker_engine, threads)
    scenario = as_scenario(given if cluster is None else {**given, "engine": worker_engine or "cpu"})
    if scenario.members is None and not isinstance(body, Scenario):
        scenario = replace(scenario, **_with_members(given))
    kept = check_kept(store, resume, reduce, keep, chunk_members)
    return run_ensemble(ArraySource(scenario), kept, threads, progress, cluster)


def _with_members(given: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of an ensemble in which nothing but the arrays in their parameters has members."""
    held = {part: part.check(given[part.name], given["body"]) for part in PARTS}
    lengths = array_lengths([nest for part, own in held.items() for nest in part.params(own)])
    if len(lengths) > 1:
        raise ScenarioError(
            f"the arrays in the parameters of forces and events have {sorted(lengths)} rows: which of these is the "
            "number of members? Give tables as tuples or lists, and only what differs between members as an array"
        )
    count = lengths.pop() if lengths else None
    return {part.name: part.settle(own, count) for part, own in held.items()}
