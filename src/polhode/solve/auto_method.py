"""method="auto": the closed form where it holds; otherwise an adaptive run, and a finer one that checks it.

The tolerance of an adaptive method bounds the error of each step.  What a user asks for is the error of the motion:
so the run is repeated with a finer tolerance until two runs agree as well as asked, and the finer one is returned.
Which method comes first is chosen in `polhode.scenario.method_choice`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import InputError
from polhode.integrate.driver import run_plan
from polhode.integrate.journal import Recorder
from polhode.integrate.run_plan import RunPlan
from polhode.integrate.run_result import AutoReport, EventRecord, Report, RunResult, SampleColumns
from polhode.scenario.method_choice import RUNGE_KUTTA, TAYLOR, has_taylor_series
from polhode.scenario.scenario import Scenario
from polhode.validation import Array

REFINEMENT = 100.0
"""The second run's tolerance is finer by this factor."""
ERROR_REDUCTION = 30.0
"""By how much, at least, the error then shrinks."""
ACCEPTED_ERROR = 1 / 3
"""The estimated error, in units of what is allowed, that is small enough."""
REFERENCE_SEGMENTS = 11
"""The second run is cut into this many segments, so that its steps end at other times."""
ROUNDING_RTOL = 5e-14
"""With tolerances below this a finer run is not certain to be better..."""
CLOCK_ROUNDING = 8 * np.finfo(float).eps
"""... nor, where forces depend on time, below this times t over the mean step: rounding moves t by that part of it."""
SAMPLED_MEMBERS = 64
"""This many members of an ensemble decide the tolerance for all."""
CHECK_CUT = 0.618
"""There, as a part of the duration, the coarser run of every member of an ensemble is cut, so that its steps end at
other times; eleven segments would be most of the steps of a short run."""
COARSEST_RTOL = 0.01
"""No run that only checks another one is coarser: its steps would not follow the motion."""
FEW_REFUSED = 0.2
"""As a fraction of the steps: where forces are smooth, no more are refused."""
FEWEST_OUTPUTS = 64
"""The first run has at least this many outputs, which show how far each body moves."""
ROUNDING = 8 * np.finfo(float).eps
"""The error that rounding alone may leave in a position, as a fraction of its distance from the origin."""

Run = Callable[[RunPlan], RunResult]


class AllowedErrors(NamedTuple):
    """The error allowed in each part of the state of each body or member, and in time."""

    columns: SampleColumns
    of_parts: list[Array]
    """Of position, attitude, momentum and spin, and of each number of parts that has an error."""
    of_time: float
    """As a fraction of the duration."""
    duration: float

    def ratios(self, differences: Array) -> Array:
        """The largest of some differences of samples (times, bodies, columns), of each body, over what is allowed."""
        columns, worst = self.columns, np.zeros(differences.shape[1:-1])
        for part, allowed in zip(columns.controlled(len(self.of_parts)), self.of_parts, strict=True):
            difference = np.fmax.reduce(_length(differences[..., part]), axis=0)
            with np.errstate(invalid="ignore", divide="ignore"):
                worst = np.fmax(worst, np.where(difference > 0, difference / allowed, 0.0))
        return worst

    def take(self, members: Any) -> AllowedErrors:
        """Those of some members of an ensemble."""
        return self._replace(of_parts=[np.asarray(allowed)[members] for allowed in self.of_parts])


class Attempt(NamedTuple):
    """The best run by one method, and the errors that are allowed in it."""

    scenario: Scenario
    result: RunResult
    allowed: AllowedErrors
    coarser: Scenario | None
    """The run before it, with which it was compared; None if it is the only one."""
    gain: float
    """How many times more accurate than that one it is taken to be."""


class ErrorCheck(NamedTuple):
    """How the error of each member of an ensemble is estimated, by a coarser run.  Plain data, which can be sent."""

    asked: tuple[float, ...]
    """The requested rtol of position, attitude, momentum and spin, ..."""
    asked_atol: tuple[float, ...]
    """... and atol."""
    coarser: tuple[tuple[str, Any], ...]
    """The settings of the coarser run: its tolerance and its breaks."""
    gain: float
    """By this factor the run is taken to be more accurate than the coarser one."""


class Decision(NamedTuple):
    """What a sample of an ensemble decides for all members."""

    changes: dict[str, Any]
    """Fields of the scenario: method and tolerance."""
    report: AutoReport
    """What was found of the sample."""
    check: ErrorCheck
    """How every member is checked."""
    result: RunResult | None
    """If the sample has all members: their result."""


def run_auto(
    scenario: Scenario,
    counts_work: bool,
    threads: int | None,
    report: Report | None,
    recorder: Recorder | None = None,
) -> tuple[Scenario, RunResult]:
    """The motion of a scenario with method "auto", and the scenario as it was computed, with everything named."""
    choice = scenario.choice
    settled = scenario.with_choice()
    if scenario.is_constrained or choice.method.is_closed_form:
        result = run_with_dense_output(settled, counts_work, threads, report, recorder)
        result.auto_report = AutoReport(choice.why)
        return settled, result
    run = partial(run_plan, threads=threads, report=report, recorder=recorder)
    tried = _run_with_fallback(RunPlan(settled, counts_work), choice.why, run)
    return tried.scenario, tried.result


def sample_members(count: int) -> Any:
    """The members of an ensemble that decide the tolerance for all."""
    return np.linspace(0, count - 1, SAMPLED_MEMBERS).astype(int) if count > SAMPLED_MEMBERS else np.arange(count)


def decide_tolerance(sample: Scenario, why: str, count: int, threads: int | None, report: Report | None) -> Decision:
    """The fields of an ensemble that its sample decides for all members, and what was found.

    `sample` has the method and the formulation that "auto" has chosen.
    """
    run = partial(run_plan, threads=threads, report=report)
    tried = _run_with_fallback(RunPlan(sample, counts_work=False), why, run)
    rtol, atol = (tuple(map(float, np.atleast_1d(given))) for given in (tried.scenario.rtol, tried.scenario.atol))
    changes: dict[str, Any] = {
        "method": tried.scenario.method,
        "rtol": rtol,
        "atol": atol if len(atol) > 1 else atol[0],
    }
    found = tried.result.auto_report
    assert found is not None
    check = _check_as_sampled(sample, tried, count <= SAMPLED_MEMBERS)
    if count <= SAMPLED_MEMBERS:
        return Decision({**changes, "breaks": tried.scenario.breaks}, found, check, tried.result)
    return Decision(changes, replace(found, members=SAMPLED_MEMBERS, of_members=count), check, None)


def _check_as_sampled(sample: Scenario, tried: Attempt, is_all: bool) -> ErrorCheck:
    """A pair of runs like the last two of the sample; if that had one run alone, the other is coarser by as much."""
    asked, asked_atol = (tuple(map(float, four)) for four in sample.tolerances)
    found = tried.result.auto_report
    assert found is not None
    rtol, atol = (np.array(four) for four in (tried.coarser or tried.scenario).tolerances)
    gain, breaks = tried.gain, (*sample.breaks, sample.start_time + CHECK_CUT * sample.duration)
    if found.error is None and tried.coarser is not None:  # a member of the sample failed
        gain = min(ERROR_REDUCTION, float(rtol.max() / np.max(tried.scenario.tolerances[0])) ** 0.75)
    if tried.coarser is None:
        part = max(1.0, min(REFINEMENT, COARSEST_RTOL / float(rtol.max())))
        rtol, atol, gain = rtol * part, atol * part, min(ERROR_REDUCTION, part**0.75)
    elif is_all:
        breaks = tried.coarser.breaks
    coarser = {
        "rtol": tuple(map(float, rtol)),
        "atol": tuple(map(float, atol)) if atol.any() else 0.0,
        "breaks": breaks,
    }
    return ErrorCheck(asked, asked_atol, tuple(coarser.items()), float(gain))


def run_with_dense_output(
    scenario: Scenario,
    counts_work: bool,
    threads: int | None = None,
    report: Report | None = None,
    recorder: Recorder | None = None,
) -> RunResult:
    """A run that is compiled with dense output even if it has outputs only at its end: all runs are one program."""
    return run_plan(RunPlan(scenario, counts_work).with_dense_output(), threads, report, recorder=recorder)


def _run_with_fallback(plan: RunPlan, why: str, run: Run) -> Attempt:
    """The best run; by DOP853 where Taylor series were chosen but a force has none."""
    try:
        return _run_best_method(plan, why, run)
    except InputError as error:
        if not plan.scenario.used_method.is_taylor_series:
            raise
        why = f"{why}, but {str(error).partition(':')[0]}"
        return _run_best_method(plan.by_method(RUNGE_KUTTA.name), why, run)


def _run_best_method(plan: RunPlan, why: str, run: Run) -> Attempt:
    """The run by the method chosen; where it fails, or its error stays large, by Taylor series, if they do better."""
    scenario, first = plan.scenario, _run_to_tolerance(plan, why, run)
    report, failure = first.result.auto_report, first.result.failure
    assert report is not None
    fails = failure is not None and failure.reason in ("stuck", "non-finite")
    if (
        scenario.used_method.is_taylor_series
        or not (fails or report.missed)
        or scenario.is_extended
        or scenario.engine == "gpu"
        or not has_taylor_series()
    ):
        return first
    came = (
        f"failed at t = {failure.time:g} s" if failure is not None else f"came no nearer than {report.error_found:.1e}"
    )
    try:
        second = _run_to_tolerance(plan.by_method(TAYLOR.name), f"{why}; {scenario.method} {came}", run)
    except InputError:  # a force that has no Taylor series, or an atol, which Taylor series do not take
        return first
    better = second.result.auto_report
    if second.result.failure is not None or better is None or better.error is None:
        return first
    if report.error is None:  # it failed
        return second
    error, apart = better.error, _scaled_difference(second.allowed, first.result, second.result)
    if apart > 3 * (report.error + error):  # both cannot be right
        error, second.result.auto_report = apart, replace(better, error=apart)
        if second.result.member_errors is not None:
            errors = over_members(scaled_differences(second.allowed, first.result, second.result))
            second.result.member_errors = np.fmax(second.result.member_errors, errors)
            second.result.auto_report = second.result.auto_report.with_members(second.result.member_errors)
    return second if error < max(report.error, 1.0) else first


def _run_to_tolerance(plan: RunPlan, why: str, run: Run) -> Attempt:
    """The run whose error, estimated from the one before, is below what was asked for; or the best that there is."""
    plan = plan.with_dense_output()
    scenario = plan.scenario
    rtol, atol = (np.array(four) for four in scenario.tolerances)
    asked, finest = float(rtol.min()), scenario.used_method.finest_rtol or 0.0

    def refine(part: float, segments: int, times: Any = None) -> tuple[Scenario, RunResult]:
        finer = plan.with_controls(
            rtol=tuple(rtol * part), atol=tuple(atol * part) if atol.any() else 0.0, breaks=cut_run(scenario, segments)
        )
        shown = finer if times is None else finer.with_controls(output_step=None, output_times=times)
        return finer.scenario, run(shown)

    part = max(0.1, finest * REFINEMENT / asked)
    settled, result = refine(part, 1, dense_times(scenario))
    allowed = allowed_errors(scenario, result, rtol, atol)
    error, segments = np.inf, REFERENCE_SEGMENTS
    coarser: Scenario | None = None
    gain = 1.0
    # At the finest tolerance a second run of it, cut at other times, tells more than the coarser one before.  (Other
    # bodies have Taylor series then.)
    repeats = scenario.is_extended
    while result.failure is None and error > ACCEPTED_ERROR:
        if part * asked <= finest:
            if not repeats or not 1 < error < np.inf:
                break
            repeats = False
        finer = max(part / REFINEMENT / (error if 1 < error < np.inf else 1.0), finest / asked)
        finer_settled, second = refine(finer, segments)
        if second.failure is not None and error < np.inf:
            break  # the steps became too short; the error of the run before is known
        if second.failure is None:
            is_better = finer * asked > _rounding_rtol(scenario, second) and _is_smooth(second)
            gain = min(ERROR_REDUCTION, (part / finer) ** 0.75) if is_better else 1.0
            error = _scaled_difference(allowed, result, second) / gain
            if scenario.members is not None:
                second.member_errors = over_members(scaled_differences(allowed, result, second)) / gain
        coarser, settled, result, part, segments = settled, finer_settled, second, finer, segments + 2
    result.auto_report = AutoReport(
        why,
        asked,
        None if error == np.inf else float(error),
        mean_step=_mean_step(scenario, result) if _has_user_functions(scenario) else None,
    )
    if result.member_errors is not None:
        result.auto_report = replace(result.auto_report.with_members(result.member_errors), error=float(error))
    return Attempt(settled, result, allowed, coarser, gain)


def cut_run(scenario: Scenario, segments: int) -> tuple[float, ...]:
    """The breaks of a scenario, and those that cut it into so many pieces."""
    cuts = scenario.start_time + scenario.duration * np.arange(1, segments) / segments
    return (*scenario.breaks, *cuts.tolist())


def over_members(of_bodies: Array) -> Array:
    """The largest number of each member, from those of its bodies."""
    return of_bodies if of_bodies.ndim == 1 else np.asarray(of_bodies.max(axis=-1))


def _rounding_rtol(scenario: Scenario, result: RunResult) -> float:
    """The tolerance below which the rounding of a run may exceed the errors of its steps."""
    if not _has_own_forces(scenario):
        return ROUNDING_RTOL
    latest = max(abs(scenario.start_time), abs(scenario.end_time))
    return max(ROUNDING_RTOL, CLOCK_ROUNDING * latest / scenario.duration * result.steps / (scenario.members or 1))


def _is_smooth(result: RunResult) -> bool:
    """Whether no force jumps or has a kink: there Taylor series start anew, and steps are refused."""
    return result.switches == 0 and result.refused <= FEW_REFUSED * result.steps


def _mean_step(scenario: Scenario, result: RunResult) -> float:
    elapsed = float(result.times[-1]) - scenario.start_time if len(result.times) else scenario.duration
    return elapsed * (scenario.members or 1) / max(result.steps, 1)


def _has_user_functions(scenario: Scenario) -> bool:
    return bool(scenario.events) or _has_own_forces(scenario)


def _has_own_forces(scenario: Scenario) -> bool:
    return any(own.record not in scenario.events for own in scenario.own_functions)


def dense_times(scenario: Scenario) -> Array | None:
    """The output times and more, if they are too few to show how far a body moves."""
    if len(scenario.times) >= FEWEST_OUTPUTS:
        return None
    return np.union1d(scenario.times, np.linspace(scenario.start_time, scenario.end_time, FEWEST_OUTPUTS + 1))


def _scaled_difference(allowed: AllowedErrors, one: RunResult, other: RunResult) -> float:
    """The largest difference of two runs at common times and where they stopped, in units of what is allowed."""
    first, second = ({_whose(c) for c in run.crossings if c.ends} for run in (one, other))
    if first != second and len(np.intersect1d(one.times, other.times)):
        return 1 / allowed.of_time  # one run stopped, the other did not
    return float(np.max(scaled_differences(allowed, one, other), initial=0.0))


def scaled_differences(allowed: AllowedErrors, one: RunResult, other: RunResult) -> Array:
    """The same of each body, or member and body: what stopped in one run alone is off by the whole duration."""
    times, i, j = np.intersect1d(one.times, other.times, return_indices=True)
    shape = other.samples.shape[1:-1]
    if len(times) == 0:
        return np.full(shape, np.inf)
    worst = allowed.ratios(one.samples[i] - other.samples[j])
    first, second = ({_whose(c): c for c in run.crossings if c.ends} for run in (one, other))
    stopped = [*(first.keys() & second.keys())]
    if stopped:
        own, apart, difference = tuple(np.transpose(stopped)), np.zeros(shape), np.zeros(other.samples.shape[1:])
        difference[own] = [first[whose].sample - second[whose].sample for whose in stopped]
        apart[own] = [abs(first[whose].time - second[whose].time) for whose in stopped]
        worst = np.fmax(np.fmax(worst, apart / (allowed.of_time * allowed.duration)), allowed.ratios(difference[None]))
    for whose in first.keys() ^ second.keys():
        worst[whose] = 1 / allowed.of_time
    return worst


def _whose(crossing: EventRecord) -> tuple[int, ...]:
    """The place of a body among the samples."""
    return (crossing.body,) if crossing.member is None else (crossing.member, crossing.body)


def allowed_errors(scenario: Scenario, result: RunResult, rtol: Array, atol: Array) -> AllowedErrors:
    """The errors allowed in each part of the state.

    A position is measured by how far the body moves in the whole run, the others by their size: each part by its own,
    however small beside its body.  A momentum that is only rounding is no error if it moves nothing.
    """
    columns, samples = result.columns, result.samples
    start = np.stack([np.broadcast_to(number, scenario.shape) for number in scenario.problem.start[0]], axis=-1)
    position = np.concatenate([start[None], samples[..., columns.position]])
    distance = np.fmax.reduce(_length(position), axis=0)
    if scenario.is_system:  # bodies act on each other: the rounding of one moves the others
        distance = np.broadcast_to(distance.max(axis=-1, keepdims=True), distance.shape)
    extent = np.fmax.reduce(_length(position - start), axis=0)
    attitude, p, spin = (
        np.fmax.reduce(_length(samples[..., part]), axis=0, initial=0.0)
        for part in (columns.attitude, columns.momentum, columns.spin)
    )
    mass, time = scenario.problem.constants.mass, scenario.duration
    spin_of_one_turn = _largest_moment(scenario) if scenario.form.keeps_momenta else 1.0
    sizes = [extent, attitude, np.fmax(p, mass * distance / time), np.fmax(spin, spin_of_one_turn / time)]
    allowed = [atol[k] + rtol[k] * size for k, size in enumerate(sizes)]
    allowed[0] = allowed[0] + ROUNDING * distance
    units = [unit for part in scenario.parts for unit in part.units(scenario.problem.constants)]
    for unit, place in zip(units, columns.controlled(scenario.form.controlled)[len(sizes) :], strict=True):
        momentum = np.fmax.reduce(_length(samples[..., place]), axis=0, initial=0.0)
        allowed.append(atol[3] + rtol[3] * np.fmax(momentum, unit / time))
    return AllowedErrors(columns, allowed, float(rtol.min()), time)


def _largest_moment(scenario: Scenario) -> Any:
    return np.max(np.broadcast_arrays(*scenario.problem.constants.moments), axis=0)


def _length(vectors: Array) -> Array:
    return np.asarray(np.sqrt((vectors * vectors).sum(axis=-1)))
