"""`simulate` computes one motion."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np

from polhode.errors import CancelledError, ScenarioError, show
from polhode.integrate.driver import run_scenario
from polhode.integrate.journal import Recorder
from polhode.integrate.run_result import AutoReport, Report
from polhode.integrate.traced_functions import trace_functions
from polhode.massprops.body import Body
from polhode.progress import progress as bar_for
from polhode.progress import wants_reports
from polhode.results.motion import Motion
from polhode.scenario.contact import Contact
from polhode.scenario.event import Event, EventLaw
from polhode.scenario.force import Force, ForceLaw
from polhode.scenario.mass_course import MassCourse
from polhode.scenario.method_choice import AUTO
from polhode.scenario.preflight import check_user_functions
from polhode.scenario.rotor import Rotor
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.solve.auto_method import run_auto
from polhode.solve.durable_run import open_run_store
from polhode.solve.long_steps import find_step_figures, warn_of_long_steps
from polhode.solve.precision_check import compare_precision, warn_of_lost_precision
from polhode.solve.run_errors import run_error, traced_error, user_function_error
from polhode.synonyms import check_argument_names
from polhode.validation import check_flag, check_path, is_whole_number

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

P = ParamSpec("P")
R = TypeVar("R")
RUN_OPTIONS = ("threads", "progress", "store", "resume")
"""The arguments that are not part of a scenario."""


def explain_arguments(*run_options: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Refuse unknown arguments, with what they are called here, and arguments beside a Scenario but run options."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        known = list(inspect.signature(function).parameters)

        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            check_argument_names(function.__name__, kwargs, known, ScenarioError)
            given = args[0] if args else kwargs.get("body")
            if isinstance(given, Scenario) and (len(args) > 1 or set(kwargs) - {"body", *run_options}):
                raise ScenarioError(
                    "a Scenario already says everything: give it alone, or change it with dataclasses.replace"
                )
            return function(*args, **kwargs)

        return checked

    return decorate


@explain_arguments(*RUN_OPTIONS)
def simulate(
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
    threads: int | None = None,
    progress: bool | None = None,
    store: str | Path | None = None,
    resume: bool = False,
) -> Motion:
    """Compute the motion of a body, or of several bodies that may act on each other.

    Parameters
    ----------
    body : Body, sequence of Body, or Scenario
        What moves; a list makes a system, whose bodies may act on each other.  A `Scenario` is given alone.
    state : State or sequence of State, optional
        How each body starts; at rest at the origin by default.
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
    engine : {"cpu", "gpu", "python"}, optional
        Compiled (default), compiled for an NVIDIA GPU, which pays for ensembles only, or the laws as written: slow, for
        functions that cannot be compiled.
    precision : {"strict", "fused", "single"}, optional
        Of a GPU: the CPU's bits (default); fused multiply-adds; or numbers of 32 bits.
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
    threads : int, optional
        How many threads to use at most; the result does not depend on it.
    progress : bool, optional
        Show a progress bar on runs of more than two seconds; by default if stderr is a terminal.
    store : str or Path, optional
        A folder, "motion.zarr", that holds the run while it goes on, with a checkpoint every few seconds, and at the
        end the motion, as `motion.save` stores it.  It must not exist, unless `resume` is given.
    resume : bool, optional
        Continue the run that was begun in `store`, with the bits that it would have had without the interruption.  If
        there is none it begins; if it is finished its motion is returned.

    Returns
    -------
    Motion
        The states at the output times, and everything that can be derived from them.

    Examples
    --------
    >>> import polhode as ph
    >>> body = ph.Body(mass=1.0, inertia=(2.0, 2.0, 3.0))
    >>> state = ph.State(angular_velocity_body=(1.0, 0.0, 1.0))
    >>> motion = ph.simulate(body, state, duration=10.0, step=0.01, method="rk4")
    >>> float(motion.angular_velocity_body[-1, 2].round(9))
    1.0

    A stone dropped from 4.903325 m stops where it lands, after one second:

    >>> @ph.event
    ... def landing(t, state, body, params):
    ...     return state.position[2]
    >>> stone, start = ph.particle(1.0), ph.State(position=(0.0, 0.0, 4.903325))
    >>> motion = ph.simulate(stone, start, [ph.forces.gravity()], duration=5.0, events=[landing()])
    >>> round(float(motion.times[-1]), 12), motion.crossings[0].name
    (1.0, 'landing')
    """
    scenario = as_scenario(
        body,
        state,
        forces,
        duration,
        step=step,
        method=method,
        formulation=formulation,
        engine=engine,
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
    if scenario.members is not None:
        raise ScenarioError(
            f"something in body, state, forces or contacts has a leading axis of {scenario.members} members: use "
            "ph.ensemble"
        )
    if check_flag(resume, "resume", ScenarioError) and store is None:
        raise ScenarioError("resume=True continues a run that was begun with store=...: give that store")
    scenario = _prepare_run(scenario, threads, progress)
    if store is None:
        return run_motion(scenario, True, threads, progress)
    with open_run_store(check_path(store, "the run"), scenario, resume) as run_store:
        if run_store.finished is not None:
            return run_store.finished
        motion = run_motion(scenario, True, threads, progress, run_store)
        run_store.finish(motion)
        return motion


def as_scenario(body: Any, state: Any, forces: Any, duration: float | None, **arguments: Any) -> Scenario:
    """The scenario of the arguments of a run."""
    if isinstance(body, Scenario):
        return body
    if duration is None:
        raise ScenarioError("how long? Give duration=..., in s")
    return Scenario(body, state, forces, duration=duration, **arguments)


def ask_for_final_states(scenario: Scenario) -> Scenario:
    """The scenario of an ensemble: without output times only its final states are kept."""
    if scenario.output_step is None and scenario.output_times is None:
        return scenario.with_settings(output_times=[scenario.end_time])
    return scenario


def check_run_options(threads: Any, progress: Any) -> None:
    """Refuse a number of threads that is none, and a bar that is neither wanted nor not."""
    if progress is not None:
        check_flag(progress, "progress", ScenarioError)
    if threads is not None and (not is_whole_number(threads) or threads < 1):
        raise ScenarioError(f"threads must be an integer of at least 1, but is {show(threads)}")


def _prepare_run(scenario: Scenario, threads: int | None, progress: bool | None) -> Scenario:
    """Check what was given; the scenario with the functions of the user traced."""
    check_run_options(threads, progress)
    check_user_functions(scenario)
    scenario = trace_functions(scenario)
    warn_before_run(scenario, stacklevel=5)
    return scenario


def run_motion(
    scenario: Scenario,
    counts_work: bool,
    threads: int | None,
    progress: bool | None,
    recorder: Recorder | None = None,
) -> Motion:
    """Run a scenario whose functions have been traced: its motion, or the error that says why there is none."""
    with _progress_reports(scenario, progress) as report, explain_errors(scenario):
        if scenario.method == AUTO:
            scenario, result = run_auto(scenario, counts_work, threads, report, recorder=recorder)
        else:
            result = run_scenario(scenario, counts_work, threads, report, recorder=recorder)
        result.precision_report = compare_precision(scenario)
    motion = Motion(scenario, result)
    warn_of_long_steps(scenario, find_step_figures(motion), stacklevel=5)
    warn_of_lost_precision(result.precision_report, stacklevel=5)
    return finish_motion(motion, stacklevel=5)


def finish_motion(motion: Motion, stacklevel: int) -> Motion:
    """The motion, if it could be computed to its end; a warning if its error is larger than asked for."""
    result = motion.run_result
    warn_of_missed_tolerance(result.auto_report, stacklevel + 1)
    if result.failure is not None:
        if (raised := traced_error(motion.scenario, result.failure)) is not None:
            raise raised
        raise run_error(result.failure, motion)
    return motion


def warn_of_missed_tolerance(report: AutoReport | None, stacklevel: int) -> None:
    """Warn if method "auto" has not reached the tolerance."""
    if report is None or not report.missed:
        return
    if report.worst_member is None:
        what, where = f"the error of the motion is about {report.error_found:.1e}, more than", "motion.audit()"
    else:
        which = f"the largest, of member {report.worst_member}, is about {report.error_found:.1e}"
        what = f"the errors of {report.missed_members:,} of {report.of_members:,} members ({which}) exceed"
        where = "estimated_errors, which has that of each member"
    warnings.warn(
        f"{what} rtol = {report.asked:g}: it grows too fast, a force is not smooth, or rounding adds up over many "
        f"cycles; see {where}",
        stacklevel=stacklevel,
    )


@contextmanager
def explain_errors(scenario: Scenario) -> Iterator[None]:
    """What a user's function raises in the block becomes an error that names the function."""
    try:
        yield
    except CancelledError:
        raise
    except Exception as error:
        if (raised := user_function_error(scenario, error)) is not None:
            raise raised from error
        raise


def warn_before_run(scenario: Scenario, stacklevel: int) -> None:
    """Warn of impulses outside the run, and of the uncompiled engine."""
    if scenario.engine == "python":
        warnings.warn(
            "engine='python' runs uncompiled: about a thousand times slower than engine='cpu'", stacklevel=stacklevel
        )
    for f in scenario.of_kind("impulse"):
        instants = np.ravel(f.instant)
        missed = instants[(instants < scenario.start_time) | (instants > scenario.end_time)]
        if missed.size:
            span = f"{scenario.start_time:g} to {scenario.end_time:g} s"
            warnings.warn(
                f"an impulse at {missed[0]:g} s is never applied: the run is from {span}", stacklevel=stacklevel
            )


@contextmanager
def _progress_reports(scenario: Scenario, wanted: bool | None) -> Iterator[Report | None]:
    """A progress bar once a run has taken two seconds, on a terminal or if asked for; and reports to a listener.

    A listener hears at once that a run begins, so that one that is already canceled never does.
    """
    if not wants_reports(wanted):
        yield None
        return
    form = "{desc}: {percentage:3.0f}%|{bar}| {n:.3g}/{total:.3g} s of motion, {remaining} left"
    start, end = scenario.start_time, float(scenario.times[-1])
    with bar_for(scenario.name or "simulating", "s", form=form, wanted=wanted) as report:
        report(0.0, end - start)
        yield lambda t: report(t - start, end - start)
