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
from polhode.integrate import timeline
from polhode.integrate.driver import run_scenario
from polhode.integrate.journal import Recorder
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
FEW_REFUSED = 0.2
"""As a fraction of the steps: where forces are smooth, no more are refused."""
FEWEST_OUTPUTS = 64
"""The first run has at least this many outputs, which show how far each body moves."""
ROUNDING = 8 * np.finfo(float).eps
"""The error that rounding alone may leave in a position, as a fraction of its distance from the origin."""

Run = Callable[[Scenario], RunResult]


class AllowedErrors(NamedTuple):
    """The error allowed in each group of the state of each body or member, and in time."""

    columns: SampleColumns
    of_groups: list[Array]
    of_time: float
    """As a fraction of the duration."""
    duration: float

    def ratio(self, differences: Array) -> float:
        """The largest of some differences of samples (times, bodies, columns), in units of what is allowed."""
        columns, worst = self.columns, 0.0
        groups = (columns.position, columns.attitude, columns.momentum, columns.spin)
        for group, allowed in zip(groups, self.of_groups, strict=True):
            difference = np.fmax.reduce(_length(differences[..., group]), axis=0)
            with np.errstate(invalid="ignore", divide="ignore"):
                worst = max(
                    worst, float(np.fmax.reduce(np.where(difference > 0, difference / allowed, 0.0), axis=None))
                )
        return worst


class Attempt(NamedTuple):
    """The best run by one method, and the errors that are allowed in it."""

    scenario: Scenario
    result: RunResult
    allowed: AllowedErrors


def run_auto(
    scenario: Scenario,
    counts_work: bool,
    threads: int | None,
    report: Report | None,
    run_members: Callable[..., RunResult] | None = None,
    recorder: Recorder | None = None,
) -> tuple[Scenario, RunResult]:
    """The motion of a scenario with method "auto", and the scenario as it was computed, with everything named.

    `run_members` runs a scenario whose method and tolerance have been decided, instead of `run_with_dense_output`.
    """
    run_members = run_members or partial(run_with_dense_output, recorder=recorder)
    choice = scenario.choice
    settled = scenario.with_settings(method=choice.method.name, formulation=choice.formulation)
    if scenario.contacts or choice.method.is_closed_form:
        result = run_members(settled, counts_work, threads, report)
        result.auto_report = AutoReport(choice.why)
        return settled, result
    count = scenario.members
    if count is None or count <= SAMPLED_MEMBERS:
        run = partial(run_with_dense_output, counts_work=counts_work, threads=threads, report=report, recorder=recorder)
        return _run_with_fallback(settled, choice.why, run)[:2]
    changes, auto_report = decide_tolerance(settled.take(sample_members(count)), choice.why, count, threads, report)
    settled = settled.with_settings(**changes)
    result = run_members(settled, counts_work, threads, report)
    result.auto_report = auto_report
    return settled, result


def sample_members(count: int) -> Any:
    """The members of an ensemble that decide the tolerance for all."""
    return np.linspace(0, count - 1, SAMPLED_MEMBERS).astype(int) if count > SAMPLED_MEMBERS else np.arange(count)


def decide_tolerance(
    sample: Scenario, why: str, count: int, threads: int | None, report: Report | None
) -> tuple[dict[str, Any], AutoReport | None]:
    """The fields of an ensemble that its sample decides for all members, and what was found.

    `sample` has the method and the formulation that "auto" has chosen.
    """
    run = partial(run_with_dense_output, counts_work=False, threads=threads, report=report)
    tried, result, _ = _run_with_fallback(sample, why, run)
    rtol, atol = (tuple(map(float, np.atleast_1d(given))) for given in (tried.rtol, tried.atol))
    changes: dict[str, Any] = {"method": tried.method, "rtol": rtol, "atol": atol if len(atol) > 1 else atol[0]}
    if count <= SAMPLED_MEMBERS:
        return {**changes, "breaks": tried.breaks}, result.auto_report
    if result.auto_report is None:
        return changes, None
    return changes, replace(result.auto_report, members=SAMPLED_MEMBERS)


def run_with_dense_output(
    scenario: Scenario,
    counts_work: bool,
    threads: int | None = None,
    report: Report | None = None,
    recorder: Recorder | None = None,
) -> RunResult:
    """A run that is compiled with dense output even if it has outputs only at its end: all runs are one program."""
    is_dense = scenario.used_method.is_closed_form or timeline.has_output_inside_segments(scenario)
    if is_dense or scenario.contacts or scenario.events:  # events need it anyway; and where a member stops, it ends
        return run_scenario(scenario, counts_work, threads, report, recorder=recorder)
    inside = (scenario.start_time + min([*scenario.breaks, scenario.end_time])) / 2
    dense = scenario.with_settings(output_step=None, output_times=np.union1d(scenario.times, inside))
    result = run_scenario(dense, counts_work, threads, report, recorder=recorder)
    kept = result.times != inside
    result.times, result.samples = result.times[kept], result.samples[kept]
    if result.checkpoints is not None:
        result.checkpoints = result.checkpoints[kept[: len(result.checkpoints)]]
    return result


def _run_with_fallback(scenario: Scenario, why: str, run: Run) -> Attempt:
    """The best run; by DOP853 where Taylor series were chosen but a force has none."""
    try:
        return _run_best_method(scenario, why, run)
    except InputError as error:
        if not scenario.used_method.is_taylor_series:
            raise
        why = f"{why}, but {str(error).partition(':')[0]}"
        return _run_best_method(scenario.with_settings(method=RUNGE_KUTTA.name), why, run)


def _run_best_method(scenario: Scenario, why: str, run: Run) -> Attempt:
    """The run by the method chosen; where it fails, or its error stays large, by Taylor series, if they do better."""
    first = _run_to_tolerance(scenario, why, run)
    report, failure = first.result.auto_report, first.result.failure
    assert report is not None
    fails = failure is not None and failure.reason in ("stuck", "non-finite")
    if (
        scenario.used_method.is_taylor_series
        or not has_taylor_series()
        or not (fails or report.missed)
        or scenario.is_extended
        or scenario.engine == "gpu"
    ):
        return first
    came = (
        f"failed at t = {failure.time:g} s" if failure is not None else f"came no nearer than {report.error_found:.1e}"
    )
    try:
        second = _run_to_tolerance(replace(scenario, method=TAYLOR.name), f"{why}; {scenario.method} {came}", run)
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
    return second if error < max(report.error, 1.0) else first


def _run_to_tolerance(scenario: Scenario, why: str, run: Run) -> Attempt:
    """The run whose error, estimated from the one before, is below what was asked for; or the best that there is."""
    rtol, atol = (np.array(four) for four in scenario.tolerances)
    asked, finest = float(rtol.min()), scenario.used_method.finest_rtol or 0.0

    def refine(part: float, pieces: int, times: Any = None) -> tuple[Scenario, RunResult]:
        cuts = scenario.start_time + scenario.duration * np.arange(1, pieces) / pieces
        finer = scenario.with_settings(
            rtol=tuple(rtol * part),
            atol=tuple(atol * part) if atol.any() else 0.0,
            breaks=(*scenario.breaks, *cuts.tolist()),
        )
        return finer, run(finer if times is None else finer.with_settings(output_step=None, output_times=times))

    part = max(0.1, finest * REFINEMENT / asked)
    settled, result = refine(part, 1, _dense_times(scenario))
    allowed = _allowed_errors(scenario, result, rtol, atol)
    error, pieces = np.inf, REFERENCE_SEGMENTS
    while result.failure is None and part * asked > finest and error > ACCEPTED_ERROR:
        finer = max(part / REFINEMENT / (error if 1 < error < np.inf else 1.0), finest / asked)
        finer_settled, second = refine(finer, pieces)
        if second.failure is not None and error < np.inf:
            break  # the steps became too short; the error of the run before is known
        if second.failure is None:
            is_better = finer * asked > _rounding_rtol(scenario, second) and _is_smooth(second)
            gain = min(ERROR_REDUCTION, (part / finer) ** 0.75) if is_better else 1.0
            error = _scaled_difference(allowed, result, second) / gain
        settled, result, part, pieces = finer_settled, second, finer, pieces + 2
    result.auto_report = AutoReport(
        why,
        asked,
        None if error == np.inf else float(error),
        mean_step=_mean_step(scenario, result) if _has_user_functions(scenario) else None,
    )
    return Attempt(settled, result, allowed)


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
    acting: tuple[Any, ...] = (*scenario.forces, *scenario.rotors)
    return any(one.function is not None for one in acting)


def _dense_times(scenario: Scenario) -> Array | None:
    """The output times and more, if they are too few to show how far a body moves."""
    if len(scenario.times) >= FEWEST_OUTPUTS:
        return None
    return np.union1d(scenario.times, np.linspace(scenario.start_time, scenario.end_time, FEWEST_OUTPUTS + 1))


def _scaled_difference(allowed: AllowedErrors, one: RunResult, other: RunResult) -> float:
    """The largest difference of two runs at common times and where they stopped, in units of what is allowed."""
    times, i, j = np.intersect1d(one.times, other.times, return_indices=True)
    if len(times) == 0:
        return np.inf
    worst = allowed.ratio(one.samples[i] - other.samples[j])
    first, second = ({_whose(c): c for c in run.crossings if c.ends} for run in (one, other))
    if first.keys() != second.keys():
        return 1 / allowed.of_time  # one run stopped, the other did not
    for whose, stop in first.items():
        difference = np.zeros(other.samples.shape[1:])
        difference[whose] = stop.sample - second[whose].sample
        apart = abs(stop.time - second[whose].time) / (allowed.of_time * allowed.duration)
        worst = max(worst, apart, allowed.ratio(difference[None]))
    return worst


def _whose(crossing: EventRecord) -> tuple[int, ...]:
    """The place of a body among the samples."""
    return (crossing.body,) if crossing.member is None else (crossing.member, crossing.body)


def _allowed_errors(scenario: Scenario, result: RunResult, rtol: Array, atol: Array) -> AllowedErrors:
    """The errors allowed in each group of the state.

    A position is measured by how far the body moves in the whole run, the other groups by their size.  A momentum that
    is only rounding is no error if it moves nothing.
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
    return AllowedErrors(columns, allowed, float(rtol.min()), time)


def _largest_moment(scenario: Scenario) -> Any:
    return np.max(np.broadcast_arrays(*scenario.problem.constants.moments), axis=0)


def _length(vectors: Array) -> Array:
    return np.asarray(np.sqrt((vectors * vectors).sum(axis=-1)))
