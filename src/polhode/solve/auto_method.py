"""method="auto": the closed form where it holds; otherwise an adaptive run, and a finer one that checks it.

The tolerance of an adaptive method bounds the error of each step.  What a user asks for is the error of the motion:
so the run is repeated with a finer tolerance until two runs agree as well as asked, and the finer one is returned.
Which method comes first is chosen in `polhode.model.method_choice`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from polhode.engines.result import AutoReport, Report, RunResult
from polhode.engines.driver import run_scenario
from polhode.errors import ForceError
from polhode.model.method_choice import RUNGE_KUTTA, TAYLOR, has_taylor_series
from polhode.model.scenario import Scenario
from polhode.model.state import split_groups
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
"""With tolerances below this a finer run is not certain to be better."""
SAMPLED_MEMBERS = 64
"""This many members of an ensemble decide the tolerance for all."""

Run = Callable[[Scenario], RunResult]


def run_auto(
    scenario: Scenario, counts_work: bool, threads: int | None, report: Report | None
) -> tuple[Scenario, RunResult]:
    """The motion of a scenario with method "auto", and the scenario as it was computed, with everything named."""
    run = partial(run_scenario, counts_work=counts_work, threads=threads, report=report)
    choice = scenario.choice
    settled = replace(scenario, method=choice.method.name, formulation=choice.formulation)
    if choice.method.is_closed_form:
        result = run(settled)
        result.auto_report = AutoReport(choice.why)
        return settled, result
    count = scenario.members
    if count is None or count <= SAMPLED_MEMBERS:
        return _run_with_fallback(settled, choice.why, run)
    some = np.linspace(0, count - 1, SAMPLED_MEMBERS).astype(int)
    tried, sample = _run_with_fallback(settled.take(some), choice.why, run)
    settled = replace(settled, method=tried.method, rtol=tried.rtol, atol=tried.atol)
    result = run(settled)
    if sample.auto_report is not None:
        result.auto_report = replace(sample.auto_report, members=SAMPLED_MEMBERS)
    return settled, result


def _run_with_fallback(scenario: Scenario, why: str, run: Run) -> tuple[Scenario, RunResult]:
    """The best run; by DOP853 where Taylor series were chosen but a force has none."""
    try:
        return _run_best_method(scenario, why, run)
    except ForceError as error:
        if not scenario.used_method.is_taylor_series:
            raise
        why = f"{why}, but {str(error).partition(':')[0]}"
        return _run_best_method(replace(scenario, method=RUNGE_KUTTA.name), why, run)


def _run_best_method(scenario: Scenario, why: str, run: Run) -> tuple[Scenario, RunResult]:
    """The run by the method chosen; if its error cannot be brought down, by Taylor series, if these can."""
    settled, result = _run_to_tolerance(scenario, why, run)
    first = result.auto_report
    if first is None or first.error is None or not first.missed:
        return settled, result
    if scenario.used_method.is_taylor_series or not has_taylor_series() or np.any(np.array(settled.atol)):
        return settled, result
    why = f"{why}; {scenario.method} came no nearer than {first.error_found:.1e}"
    try:
        series, better = _run_to_tolerance(replace(scenario, method=TAYLOR.name), why, run)
    except ForceError:  # one that has no Taylor series
        return settled, result
    found = better.auto_report.error if better.auto_report is not None else None
    if better.auto_report is None or found is None:
        return settled, result
    rtol, atol = (np.array(four) for four in scenario.tolerances)
    apart = _scaled_difference(scenario, result, better, rtol, atol)
    if apart > 3 * (first.error + found):  # both cannot be right
        better.auto_report, found = replace(better.auto_report, error=apart), apart
    return (series, better) if found < max(first.error, 1.0) else (settled, result)


def _run_to_tolerance(scenario: Scenario, why: str, run: Run) -> tuple[Scenario, RunResult]:
    """The run whose error, estimated from the one before, is below what was asked for; or the best that there is."""
    rtol, atol = (np.array(four) for four in scenario.tolerances)
    asked, finest = float(rtol.min()), scenario.used_method.finest_rtol or 0.0

    def refine(part: float, pieces: int) -> tuple[Scenario, RunResult]:
        cuts = scenario.start_time + scenario.duration * np.arange(1, pieces) / pieces
        finer = replace(
            scenario,
            rtol=tuple(rtol * part),
            atol=tuple(atol * part) if atol.any() else 0.0,
            breaks=(*scenario.breaks, *cuts.tolist()),
        )
        return finer, run(finer)

    part = max(0.1, finest * REFINEMENT / asked)
    settled, result = refine(part, 1)
    error, pieces = np.inf, REFERENCE_SEGMENTS
    while result.failure is None and part * asked > finest and error > ACCEPTED_ERROR:
        finer = max(part / REFINEMENT / (error if 1 < error < np.inf else 1.0), finest / asked)
        settled, second = refine(finer, pieces)
        if second.failure is None:
            gain = min(ERROR_REDUCTION, (part / finer) ** 0.75) if finer * asked > ROUNDING_RTOL else 1.0
            error = _scaled_difference(scenario, result, second, rtol, atol) / gain
        result, part, pieces = second, finer, pieces + 2
    result.auto_report = AutoReport(why, asked, None if error == np.inf else float(error))
    return settled, result


def _scaled_difference(scenario: Scenario, one: RunResult, other: RunResult, rtol: Array, atol: Array) -> float:
    """The largest difference of two runs at common times, in units of what is allowed, group by group."""
    times, i, j = np.intersect1d(one.times, other.times, return_indices=True)
    if len(times) == 0:
        return np.inf
    sizes = scenario.form.sizes
    first, second = (split_groups(np.moveaxis(kept, -1, 0), sizes) for kept in (one.samples[i], other.samples[j]))
    lengths = [np.fmax.reduce(_length(group), axis=0) for group in second]
    scales = _scales(scenario, lengths)
    worst = 0.0
    for k in range(len(sizes)):
        difference = np.fmax.reduce(_length(np.array(first[k]) - np.array(second[k])), axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.where(difference > 0, difference / (atol[k] + rtol[k] * scales[k]), 0.0)
        worst = max(worst, float(np.fmax.reduce(ratio, axis=None)))
    return worst


def _scales(scenario: Scenario, lengths: list[Array]) -> list[Array]:
    """The size of position, attitude, momentum and spin, or the size that would matter over the duration of the run.

    A momentum that is only rounding is not an error if it moves nothing.
    """
    x, attitude, p, spin = lengths
    mass, time = scenario.problem.constants.mass, scenario.duration
    spin_of_one_turn = _largest_moment(scenario) if scenario.form.keeps_momenta else 1.0
    return [
        np.fmax(x, time * p / mass),
        attitude,
        np.fmax(p, mass * x / time),
        np.fmax(spin, spin_of_one_turn / time),
    ]


def _largest_moment(scenario: Scenario) -> Any:
    return np.max(np.broadcast_arrays(*scenario.problem.constants.moments), axis=0)


def _length(vectors: Any) -> Array:
    array = np.asarray(vectors)
    return np.asarray(np.sqrt((array * array).sum(axis=0)))
