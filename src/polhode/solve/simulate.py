"""The two front doors: one scenario gives one motion; one scenario with members gives a motion of all of them."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from polhode.engines.result import Failure, Report
from polhode.engines.run import run_scenario
from polhode.errors import (
    CancelledError,
    ForceError,
    InputError,
    NonFiniteError,
    RunError,
    ScenarioError,
    SingularityError,
    nearest,
)
from polhode.massprops.body import Body
from polhode.model.event import Event
from polhode.model.force import Force
from polhode.model.preflight import check_user_functions, locate_error, sample_arguments
from polhode.model.scenario import Scenario
from polhode.model.state import State
from polhode.progress import progress as bar_for
from polhode.progress import wants_reports
from polhode.results.motion import Motion, state_from_sample
from polhode.solve.auto_method import run_auto


def simulate(
    body: Body | Sequence[Body] | Scenario,
    state: State | Sequence[State] | None = None,
    forces: Sequence[Any] = (),
    *,
    threads: int | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> Motion:
    """Compute the motion of a body, or of several bodies that may act on each other.

    Parameters
    ----------
    body, state : Body and State, or a list of each
        What moves, and how it starts (at rest at the origin if nothing is said).  Or a `Scenario`, and nothing else.
    forces : list, optional
        From `ph.forces`, or made by `@ph.force`.
    duration : float
        In s.
    step : float, optional
        In s.  Methods with fixed steps need it; adaptive ones take it as their first try.
    method : str, optional
        "exact" (the closed form, if nothing but uniform gravity and impulses acts), "euler", "midpoint", "rk4",
        "leapfrog", "splitting2", "splitting4", "splitting6" (fixed steps; `docs/architecture.md` lists their kin),
        "dop853", "taylor" (adaptive; the latter needs heyoka).  "auto", the default, is "exact" where that holds, else
        an adaptive method with a second run that checks it: `motion.audit()` says which, why, and the error found.
    formulation : str, optional
        "momentum" (default), "momentum_matrix", "body_rates", "quaternion_acceleration", "euler_angles".
    engine : str, optional
        "cpu" (compiled, default) or "python" (as written: slow, for functions that cannot be compiled).
    output_step, output_times : float, array_like, optional
        When to put out states: every so many seconds, or at given times.  The steps do not change with them; what lies
        inside an adaptive step is shown by a curve through it.
    events : list, optional
        Made by `@ph.event`: functions of the state that stop the run, are recorded, or let momenta jump where they
        cross zero.  For adaptive methods; `motion.crossings` lists what happened.  "dop853" looks at each function at
        eight points of every step, so two crossings between two of them may be missed, and finds the instant to
        rounding.  A run that is stopped ends there, with one more output; in an ensemble only that member stops.
    pivot : array_like, optional
        A point of the body (from its centre of mass, body axes, in m) that is held still in the world.
    renormalize : bool, optional
        Rescale the quaternion after every step (default).
    rtol, atol : float or four floats, optional
        Of adaptive methods: the error allowed in a step relative to the size of position, attitude, momentum and
        spin, and besides (default 0) in their units; each one number, or one for each kind.  With method "auto": the
        error allowed in the motion.
    breaks : array_like, optional
        Times, in s, that no step reaches across: for shorter steps about them, or to look for events more often.
    largest_turn : float, optional
        Of Euler angles with fixed steps: the run stops where phi would turn by more than this in one step, in rad
        (default 1).  With infinity it goes on, and its answer is worth nothing behind such a place.
    threads : int, optional
        How many to use at most; the result does not depend on it.
    progress : bool, optional
        Show a progress bar on runs of more than two seconds; by default if the errors go to a terminal.

    Examples
    --------
    >>> import polhode as ph
    >>> body = ph.Body(mass=1.0, inertia=(2.0, 2.0, 3.0))
    >>> state = ph.State(angular_velocity_body=(1.0, 0.0, 1.0))
    >>> motion = ph.simulate(body, state, duration=10.0, step=0.01, method="rk4")
    >>> float(motion.angular_velocity_body[-1, 2].round(9))
    1.0

    A stone that is dropped from 4.903325 m stops where it lands, after a second:

    >>> @ph.event
    ... def landing(t, state, body, params):
    ...     return state.position[2]
    >>> stone, start = ph.particle(1.0), ph.State(position=(0.0, 0.0, 4.903325))
    >>> motion = ph.simulate(stone, start, [ph.forces.gravity()], duration=5.0, events=[landing()])
    >>> round(float(motion.times[-1]), 12), motion.crossings[0].name
    (1.0, 'landing')
    """
    scenario = _scenario(body, state, forces, settings)
    if scenario.members is not None:
        raise ScenarioError(
            f"something in body, state or forces has a leading axis of {scenario.members} members: use ph.ensemble"
        )
    return _run_motion(scenario, True, threads, progress)


def ensemble(
    body: Body | Scenario,
    state: State | None = None,
    forces: Sequence[Any] = (),
    *,
    threads: int | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> Motion:
    """Compute many independent motions that differ in their numbers only.

    Takes what `ph.simulate` takes; any number in body, state or forces may carry a leading axis of length N.  The
    motion then has a `member` axis.  Without `output_step` or `output_times` only the final states are kept.  Members
    whose impulses or thruster windows lie at other times than their neighbors' run in groups, about 1 ms for each.

    Examples
    --------
    >>> import polhode as ph
    >>> start = ph.State(velocity=[(0, 0, 1), (0, 0, 2)])
    >>> motion = ph.ensemble(ph.particle(1.0), start, duration=3.0)
    >>> motion.final.position[:, 2].round(9).tolist()
    [3.0, 6.0]
    """
    scenario = _scenario(body, state, forces, settings)
    if scenario.output_step is None and scenario.output_times is None:
        scenario = replace(scenario, output_times=[scenario.end_time])
    if scenario.members is None:
        raise ScenarioError(
            "an ensemble needs a number in body, state or forces with a leading axis for its members; "
            "for one motion use ph.simulate"
        )
    return _run_motion(scenario, False, threads, progress)


def _scenario(body: Any, state: Any, forces: Any, settings: dict[str, Any]) -> Scenario:
    if isinstance(body, Scenario):
        if state is not None or len(forces) or settings:
            raise ScenarioError(
                "a Scenario already says everything: give it alone, or change it with dataclasses.replace"
            )
        return body
    known = Scenario.__dataclass_fields__
    for key in settings:
        if key not in known:
            raise ScenarioError(f"there is no setting {key!r}: {nearest(key, known)}")
    if "duration" not in settings:
        raise ScenarioError("how long? Give duration=..., in s")
    return Scenario(body, state, forces, **settings)


def _run_motion(scenario: Scenario, counts_work: bool, threads: int | None, progress: bool | None) -> Motion:
    if threads is not None and (isinstance(threads, bool) or not isinstance(threads, Integral) or threads < 1):
        raise ScenarioError(f"threads must be a whole number of at least 1, but is {threads!r}")
    check_user_functions(scenario)
    _warn_of_missed_impulses(scenario)
    if scenario.engine == "python":
        warnings.warn("engine='python' runs uncompiled: about a thousand times slower than engine='cpu'", stacklevel=3)
    with _progress_reports(scenario, progress) as report:
        try:
            if scenario.method == "auto":
                scenario, result = run_auto(scenario, counts_work, threads, report)
            else:
                result = run_scenario(scenario, counts_work, threads, report)
        except CancelledError:
            raise
        except Exception as error:
            if type(error).__module__.startswith("numba"):
                raise _compilation_error(scenario, error) from error
            if (raised := _user_function_error(scenario, error)) is not None:
                raise raised from error
            raise
    motion = Motion(scenario, result)
    if result.auto_report is not None and result.auto_report.missed:
        warnings.warn(
            f"the error of the motion is about {result.auto_report.error_found:.1e}, more than rtol = "
            f"{result.auto_report.asked:g}: it grows too fast, or a force is not smooth; motion.audit() tells more",
            stacklevel=3,
        )
    if result.failure is not None:
        raise _run_error(result.failure, motion)
    return motion


def _warn_of_missed_impulses(scenario: Scenario) -> None:
    for f in scenario.of_kind("impulse"):
        instants = np.ravel(f.instant)
        missed = instants[(instants < scenario.start_time) | (instants > scenario.end_time)]
        if missed.size:
            span = f"{scenario.start_time:g} to {scenario.end_time:g} s"
            warnings.warn(f"an impulse at {missed[0]:g} s never strikes: the run reaches from {span}", stacklevel=4)


def _compilation_error(scenario: Scenario, error: Exception) -> Exception:
    """The sentence about a user's function that the compiler refuses; the error itself, if none is at fault."""
    from polhode.engines.compiler import compilation_fault

    for name, function, f in _own_functions(scenario):
        fault = compilation_fault(function, sample_arguments(scenario, f))
        if fault is not None:
            if "<class 'function'>" in fault:
                fault += "; a function that a force or an event calls needs @ph.law before it"
            return (ForceError if isinstance(f, Force) else ScenarioError)(
                f"{name} cannot be compiled: {fault}. Write it as arithmetic on numbers and tuples (ph.sqrt, ph.sin, "
                "ph.cos, ph.if_less), or run it uncompiled with engine='python', about a thousand times slower."
            )
    return error


def _own_functions(scenario: Scenario) -> list[tuple[str, Any, Force | Event]]:
    """The user's own functions: those of forces, of events, and of the changes that events make."""
    own: list[tuple[str, Any, Force | Event]] = [(f.name, f.function, f) for f in scenario.forces]
    own += [(e.name, function, e) for e in scenario.events for function in (e.function, e.change)]
    return [each for each in own if each[1] is not None]


def _user_function_error(scenario: Scenario, error: Exception) -> InputError | None:
    """The sentence about a user's function that raised an error during the run, as machine code or as it stands."""
    own = _own_functions(scenario)
    for name, function, f in own:
        if where := locate_error(function, error):
            return (ForceError if isinstance(f, Force) else ScenarioError)(
                f"{name} fails during the run: {error}{where}"
            )
    raised_in = Path(traceback.extract_tb(error.__traceback__)[-1].filename)
    if own and "numba" in raised_in.parts:
        names = dict.fromkeys(name for name, _, _ in own)
        return ForceError(f"{' or '.join(names)} fails during the run, in machine code: {error}")
    return None


def _run_error(failure: Failure, motion: Motion) -> RunError:
    """The sentence about a run that had to stop."""
    scenario, i = motion.scenario, failure.body
    in_ensemble = motion.axis == "member"
    who = f"member {i}" if in_ensemble else f"body {i}"
    last = (
        state_from_sample(scenario.take(i), 0, failure.last_good, failure.time)
        if in_ensemble
        else state_from_sample(scenario, i, failure.last_good, failure.time)
    )
    kind: type[RunError] = NonFiniteError
    if failure.reason == "singular":
        kind = SingularityError
        sentence = (
            f"the Euler angles of {who} came too near to the vertical after t = {failure.time:g} s: phi turns by more "
            f"than {scenario.largest_turn:g} rad in one step. Take smaller steps, or a formulation without that "
            "singularity, such as 'momentum'."
        )
    elif failure.reason == "stuck":
        sentence = (
            f"at t = {failure.time:g} s {who} asks for steps too short to tell from zero: a force becomes infinite or "
            "not a number, or jumps, there. Look at the forces at the last good state."
        )
    elif failure.reason == "endless":
        kind = RunError
        sentence = (
            f"at t = {failure.time:g} s {failure.event} follows itself ever faster on {who}, as the bounces of a ball "
            "that comes to rest: infinitely many changes lie before any later time. Give the event a count=..., or "
            "stop the run by another event before that happens."
        )
    else:
        sentence = (
            f"{who} became infinite or not a number after t = {failure.time:g} s. Take smaller steps or an adaptive "
            "method, or look at the forces at the last good state."
        )
    state = f"position {_format_vector(last.position)} m, velocity {_format_vector(last.velocity)} m/s, "
    state += f"angular velocity {_format_vector(last.angular_velocity_body)} rad/s in body axes"
    sentence += f" Last good state: {state}. What was computed until then is in this error's .motion."
    return kind(sentence, time=failure.time, body=i, last_good=last, motion=motion)


def _format_vector(vector: Any) -> str:
    return "(" + ", ".join(f"{component:.6g}" for component in vector) + ")"


@contextmanager
def _progress_reports(scenario: Scenario, wanted: bool | None) -> Iterator[Report | None]:
    """A bar that appears once a run has taken two seconds, on a terminal or if asked for; and a listener's news.

    A listener is told at once that something begins, so that what is cancelled by then never does.
    """
    if not wants_reports(wanted):
        yield None
        return
    form = "{desc}: {percentage:3.0f}%|{bar}| {n:.3g}/{total:.3g} s of motion, {remaining} left"
    start, end = scenario.start_time, float(scenario.times[-1])
    with bar_for(scenario.name or "simulating", "s", form=form, wanted=wanted) as report:
        report(0.0, end - start)
        yield lambda t: report(t - start, end - start)
