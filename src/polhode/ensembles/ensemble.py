"""`ensemble` computes many motions that differ in their numbers only."""

from __future__ import annotations

from collections.abc import Sequence
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
from polhode.scenario import scenario_validation as checks
from polhode.scenario.contact import Contact
from polhode.scenario.event import Event, EventLaw
from polhode.scenario.force import Force, ForceLaw, array_lengths, settle_arrays
from polhode.scenario.mass_course import MassCourse
from polhode.scenario.rotor import Rotor
from polhode.scenario.scenario import Scenario
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
    body: Body | Scenario,
    state: State | None = None,
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
    body: Body | Scenario,
    state: State | None = None,
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
def ensemble(
    body: Body | Scenario,
    state: State | None = None,
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
    body : Body or Scenario
        What moves.  A `Scenario` is given alone.
    state : State, optional
        How it starts; at rest at the origin by default.
    forces : sequence of Force, optional
        From `ph.forces`, or made by `@ph.force`.
    duration : float
        How long, in s, from the state's time on.
    step : float, optional
        The step size in s.  Methods with fixed steps need it; adaptive ones take it as their first try.
    method : str, optional
        "exact" (the closed form, if nothing but uniform gravity and impulses acts); "euler", "midpoint", "rk4",
        "leapfrog", "splitting2", "splitting4", "splitting6", "splitting2_exact", "splitting4_exact",
        "splitting6_exact" (fixed steps); "bs3", "rk45", "tsit5", "vern7", "dop853", "vern9", "taylor"
        (adaptive, of order 3, 5, 5, 7, 8, 9, and any; the last needs heyoka).  "auto", the default,
        is "exact" where that holds, else an adaptive method with a second run that estimates the error:
        `motion.audit()` says which, why, and the error found.
    formulation : str, optional
        "momentum" (default), "momentum_matrix", "body_rates", "quaternion_acceleration" or "euler_angles".
    engine : {"cpu", "gpu", "dask", "python"}, optional
        Compiled (default); compiled for NVIDIA's GPUs; on the workers of a Dask cluster, of this machine or of many; or
        the laws as written: slow, for functions that cannot be compiled.
    precision : {"strict", "fused", "single"}, optional
        Of GPUs: the CPU's bits (default); fused multiply-adds, which differ from them by rounding; or numbers of 32
        bits, about seven digits.
    output_step : float, optional
        Output every this many seconds.
    output_times : array_like, optional
        Output at these times instead, in s.  The steps do not depend on them: states inside an adaptive step come from
        its dense output.
    events : sequence of Event, optional
        Made by `@ph.event`: functions of the state that stop the run, are recorded, or change momenta where they cross
        zero.  For adaptive methods; `motion.crossings` lists what happened.  "dop853" evaluates each function at eight
        points of every step, so two crossings between two of them may be missed, and finds the time to rounding.  A run
        that is stopped ends there, with one more output; in an ensemble only that member stops.
    contacts : sequence, optional
        What the bodies can touch: `ph.floor`, `ph.wall`, `ph.slope`, `ph.between_bodies`, each with its restitution and
        friction.  Bodies are convex solids: their hulls.  For the methods "auto", "exact" and "dop853".
    rotors : sequence of Rotor, optional
        Made by `ph.rotor`: flywheels and reaction wheels inside the bodies.  For "auto", "dop853" and the other
        Runge-Kutta methods.
    mass_course : MassCourse, optional
        Made by `ph.mass_course`: mass, center and inertia that change, as where propellant burns.  For the same
        methods, and one body.
    added_mass : array_like, optional
        6 x 6, symmetric: the momentum that the fluid around a body has when it moves, about the center of mass, body
        axes, velocity before rotation, in kg, kg m and kg m2.  Of a system: a list, with None for bodies without.
    pivot : array_like, optional
        A point of the body (from its center of mass, body axes, in m) that is held fixed in the world.
    renormalize : bool, optional
        Rescale the quaternion after every step (default).
    rtol, atol : float or four floats, optional
        Tolerances of adaptive methods, for each step, relative and absolute (default 0), of position, attitude,
        momentum and spin: one number each, or one for each kind.  With method="auto": of the whole motion.
    breaks : array_like, optional
        Times, in s, that no step crosses: for shorter steps around them, or a closer search for events.
    largest_turn : float, optional
        For Euler angles with fixed steps: the run stops where phi would turn by more than this in one step, in rad
        (default 1).  With infinity it goes on, and the result beyond such a place is worthless.
    name : str, optional
        A title for plots and files.
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
    cluster = check_cluster(engine, scheduler, worker_engine, threads)
    scenario = as_scenario(
        body,
        state,
        forces,
        duration,
        step=step,
        method=method,
        formulation=formulation,
        engine=engine if cluster is None else worker_engine or "cpu",
        precision=precision,
        output_step=output_step,
        output_times=output_times,
        events=events,
        contacts=contacts,
        rotors=rotors,
        mass_course=mass_course,
        added_mass=added_mass,
        pivot=pivot,
        renormalize=renormalize,
        rtol=rtol,
        atol=atol,
        breaks=breaks,
        largest_turn=largest_turn,
        name=name,
    )
    if scenario.members is None and not isinstance(body, Scenario):
        scenario = replace(scenario, **_with_members(forces, events, rotors))
    kept = check_kept(store, resume, reduce, keep, chunk_members)
    return run_ensemble(ArraySource(scenario), kept, threads, progress, cluster)


def _with_members(forces: Any, events: Any, rotors: Any) -> dict[str, Any]:
    """The forces and events of an ensemble in which nothing but the arrays in their parameters has members."""
    made, found, wheels = checks.check_forces(forces), checks.check_events(events), checks.check_rotors(rotors)
    lengths = array_lengths([*(f.params for f in made), *(e.params for e in found), *(r.params for r in wheels)])
    if len(lengths) > 1:
        raise ScenarioError(
            f"the arrays in the parameters of forces and events have {sorted(lengths)} rows: which of these is the "
            "number of members? Give tables as tuples or lists, and only what differs between members as an array"
        )
    count = lengths.pop() if lengths else None
    return {
        "forces": [replace(f, params=settle_arrays(f.params, count)) for f in made],
        "events": [replace(e, params=settle_arrays(e.params, count)) for e in found],
        "rotors": [replace(rotor, params=settle_arrays(rotor.params, count)) for rotor in wheels],
    }
