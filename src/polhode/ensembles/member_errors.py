"""The error of every member of an ensemble, by method "auto": each is run twice, and again where that shows too much.

A sample of the members decides the tolerance for all.  The second, coarser run of each member costs about 0.6 of the
first one with DOP853, whose steps are 1.8 times as long at a tolerance that is a hundred times larger.  It has no more
outputs: where these show so little of a motion that its error seems large, because it ends where it began, it is looked
at once more, with outputs enough.  Members whose estimate is then above what was asked are run again with finer
tolerances, until it is not, or that does not help.  Which runs a member takes depends on the member alone, so that its
bits do not depend on the chunk that it is in.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from polhode.ensembles.batches import run_whole
from polhode.ensembles.failures import find_wrong_outputs
from polhode.ensembles.member_source import IntArray
from polhode.integrate.run_result import Report, RunResult
from polhode.scenario.scenario import Scenario
from polhode.solve.auto_method import (
    ACCEPTED_ERROR,
    REFERENCE_SEGMENTS,
    REFINEMENT,
    AllowedErrors,
    ErrorCheck,
    allowed_errors,
    cut_run,
    dense_times,
    over_members,
    run_with_dense_output,
    scaled_differences,
)
from polhode.validation import Array

CHECKED_NUMBERS = 2_000_000
"""Numbers in the samples of the coarser run of some members, at most: 16 MB."""
GPU_CHECKED_NUMBERS = 32_000_000
"""The same on a GPU, which takes tens of thousands of members at once."""
FIRST_SHARE = 0.6
"""The first run takes this part of the time of both: 1 / (1 + 0.6)."""


@dataclass(frozen=True)
class CheckedRun:
    """Runs an ensemble whose tolerance has been decided, and estimates the error of each member."""

    check: ErrorCheck

    def __call__(
        self, scenario: Scenario, counts_work: bool, threads: int | None = None, report: Report | None = None
    ) -> RunResult:
        """The samples of all members, and their `member_errors`."""
        result = run_with_dense_output(scenario, counts_work, threads, _share(report, scenario, 0.0, FIRST_SHARE))
        if len(result.times) < len(
            scenario.times
        ):  # a member failed: those that are not concerned run again without it
            return result
        coarser = _run_all(self._coarsen(scenario), threads, _share(report, scenario, FIRST_SHARE, 1.0))
        errors = self._estimate(scenario, coarser, result)[0]
        doubtful, size = np.flatnonzero(errors > ACCEPTED_ERROR), _members_at_once(scenario)
        finer: list[tuple[IntArray, RunResult]] = []
        for first in range(0, len(doubtful), size):
            own = doubtful[first : first + size]
            some, run = scenario.take(own), result.take(own)
            coarse = self._coarsen(some)
            if (times := dense_times(some)) is not None:
                coarse = coarse.with_settings(output_step=None, output_times=times)
            found, allowed = self._estimate(some, _run_all(coarse, threads, _pulse(report, scenario)), run)
            for numbers, again in self._run_finer(some, run, allowed, found, threads):
                finer.append((own[numbers], again))
            errors[own] = found
        return replace(_replace_members(scenario, result, finer), member_errors=errors)

    def _coarsen(self, scenario: Scenario) -> Scenario:
        return scenario.with_settings(**dict(self.check.coarser))

    def _estimate(self, scenario: Scenario, coarser: RunResult, run: RunResult) -> tuple[Array, AllowedErrors]:
        """The error of each member; too large where the outputs of the coarser run do not show how far it moves."""
        allowed = allowed_errors(scenario, coarser, np.array(self.check.asked), np.array(self.check.asked_atol))
        return _compare(scenario, allowed, coarser, run) / self.check.gain, allowed

    def _run_finer(
        self, scenario: Scenario, result: RunResult, allowed: AllowedErrors, errors: Array, threads: int | None
    ) -> list[tuple[IntArray, RunResult]]:
        """Members whose errors are too large with their finer runs, the finest last; `errors` becomes theirs.

        These runs are not taken to be better than they differ from those before.  Where that is more than was estimated
        before, rounding is what grows: then nothing finer helps, and the member keeps the run that it had.
        """
        found: list[tuple[IntArray, RunResult]] = []
        asked, atol, cuts = np.array(self.check.asked), np.array(self.check.asked_atol), REFERENCE_SEGMENTS
        part = min(scenario.tolerances[0]) / asked.min()
        finest = (scenario.used_method.finest_rtol or 0.0) / asked.min()
        numbers = np.flatnonzero(errors > 1)
        before = result.take(numbers)
        while len(numbers) and part > finest:
            part, some = max(part / REFINEMENT, finest), scenario.take(numbers)
            tolerance = {"rtol": tuple(asked * part), "atol": tuple(atol * part) if atol.any() else 0.0}
            again = _run_all(some.with_settings(**tolerance, breaks=cut_run(some, cuts)), threads)
            apart = _compare(some, allowed.take(numbers), before, again)
            known = ~np.isnan(apart)  # the steps of others became too short
            better = known & (apart < errors[numbers])
            errors[numbers[known]] = apart[known]
            found.append((numbers[better], again.take(np.flatnonzero(better))))
            left = np.flatnonzero(better & (apart > ACCEPTED_ERROR))
            numbers, before, cuts = numbers[left], again.take(left), cuts + 2
        return found


def _run_all(scenario: Scenario, threads: int | None, report: Report | None = None) -> RunResult:
    """Run some members; those that fail have NaN from there on."""
    return run_whole(scenario, False, threads, report, None, run_with_dense_output)


def _compare(scenario: Scenario, allowed: AllowedErrors, one: RunResult, other: RunResult) -> Array:
    """How far two runs of each member are apart; infinity if it fails in the first one, NaN if in the other."""
    apart = over_members(scaled_differences(allowed, one, other))
    apart[find_wrong_outputs(scenario, one).any(axis=0)] = np.inf
    apart[find_wrong_outputs(scenario, other).any(axis=0)] = np.nan
    return apart


def _replace_members(scenario: Scenario, result: RunResult, runs: list[tuple[IntArray, RunResult]]) -> RunResult:
    """The result with other runs of some members, the last one that each has."""
    if not runs:
        return result
    last = np.full(scenario.members or 1, -1)
    for i, (numbers, _) in enumerate(runs):
        last[numbers] = i
    parts = [(np.flatnonzero(last < 0), result.take(np.flatnonzero(last < 0)))] if (last < 0).any() else []
    for i, (numbers, run) in enumerate(runs):
        if len(own := np.flatnonzero(last[numbers] == i)):
            parts.append((numbers[own], run.take(own)))
    return RunResult.concat(parts, result.times, scenario.members or 1)


def _members_at_once(scenario: Scenario) -> int:
    times = dense_times(scenario)
    outputs = len(scenario.times if times is None else times)
    numbers = outputs * len(scenario.bodies) * (sum(scenario.form.sizes) + 1)
    return max(1, (GPU_CHECKED_NUMBERS if scenario.engine == "gpu" else CHECKED_NUMBERS) // numbers)


def _pulse(report: Report | None, scenario: Scenario) -> Report | None:
    """A report of what takes no time worth mention: that the run goes on."""
    return None if report is None else lambda _: report(scenario.end_time)


def _share(report: Report | None, scenario: Scenario, begin: float, end: float) -> Report | None:
    """The progress of a part of a run."""
    if report is None:
        return None
    start, duration = scenario.start_time, scenario.duration
    return lambda t: report(start + duration * begin + (t - start) * (end - begin))
