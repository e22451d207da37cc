"""One chunk of an ensemble, from its members to their samples."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from polhode.ensembles.batches import Run, run_in_batches
from polhode.ensembles.chunks import BLOCK_MEMBERS
from polhode.ensembles.failures import MemberFailure, find_failures
from polhode.ensembles.member_errors import CheckedRun
from polhode.ensembles.member_source import MemberSource
from polhode.errors import InputError
from polhode.integrate.run_result import AutoReport, Report, RunResult
from polhode.integrate.traced_functions import trace_functions
from polhode.results.trajectory import Trajectory
from polhode.scenario.method_choice import AUTO
from polhode.scenario.scenario import Scenario
from polhode.solve.auto_method import ErrorCheck, decide_tolerance, run_with_dense_output, sample_members
from polhode.solve.long_steps import StepFigures, find_step_figures, merge_step_figures
from polhode.solve.simulate import ask_for_final_states, explain_errors


class RunSettings(NamedTuple):
    """How the chunks of an ensemble are run: decided once for the whole ensemble.  Plain data, which can be sent."""

    threads: int | None = None
    changes: tuple[tuple[str, Any], ...] = ()
    """Fields of the scenario that were decided for the whole ensemble: with method "auto" its method and tolerance."""
    auto_report: AutoReport | None = None
    """Of method "auto": what it chose and why, and what it found of a sample of the members."""
    check: ErrorCheck | None = None
    """Of method "auto": how the error of each member is estimated, if that is needed."""

    @property
    def run(self) -> Run:
        """What runs members whose tolerance method "auto" has decided."""
        return run_with_dense_output if self.check is None else CheckedRun(self.check)

    def report_of(self, result: RunResult, first: int = 0) -> AutoReport | None:
        """What method "auto" found of members that were run so, who are counted from `first`."""
        if self.auto_report is None or self.check is None:
            return self.auto_report
        errors = result.member_errors
        return self.auto_report.with_members(
            np.full(result.samples.shape[1], np.nan) if errors is None else errors, first
        )


class ChunkResult(NamedTuple):
    """The members first to last - 1 of an ensemble."""

    first: int
    last: int
    scenario: Scenario
    """The members as they were computed."""
    run_result: RunResult
    """What came of them; it counts them from 0."""
    failures: list[MemberFailure]
    step_figures: StepFigures | None = None
    """What tells whether fixed steps were too long."""


def run_chunk(
    source: MemberSource,
    first: int,
    last: int,
    settings: RunSettings,
    report: Report | None = None,
    lists_failures: bool = True,
) -> ChunkResult:
    """Compute the members first to last - 1: the same bits in whatever chunk a member is.

    The first one begins a block.  A member that fails has NaN from there on, and is listed; the others go on.
    """
    if first % BLOCK_MEMBERS:
        raise InputError(f"a chunk begins with a block of {BLOCK_MEMBERS} members, but member {first} does not")
    try:
        scenario = trace_functions(prepare_members(source, range(first, last), settings))
    except InputError as error:
        error.add_note(f"this happened while members {first} to {last - 1} of the ensemble were prepared")
        raise
    figures: list[StepFigures | None] = []

    def look(members: Scenario, result: RunResult) -> None:
        figures.append(find_step_figures(Trajectory(members, result)))

    with explain_errors(scenario):
        if settings.auto_report is None:
            result = run_in_batches(scenario, False, settings.threads, report, look)
        else:
            result = run_in_batches(scenario, False, settings.threads, report, run=settings.run)
    result.auto_report = settings.report_of(result, first)
    failures = find_failures(scenario, result, first) if lists_failures else []
    return ChunkResult(first, last, scenario, result, failures, merge_step_figures(figures))


def prepare_members(source: MemberSource, members: Any, settings: RunSettings) -> Scenario:
    """The scenario of some members, with what was decided for all; without output times only final states are kept."""
    scenario = source.take(members)
    return ask_for_final_states(scenario.with_settings(**dict(settings.changes)))


def decide_settings(
    source: MemberSource, threads: int | None = None, report: Report | None = None, one: Scenario | None = None
) -> tuple[RunSettings, RunResult | None]:
    """How the chunks of an ensemble are run; with method "auto" some of its members decide the tolerance for all.

    If these are all the members that there are, so few, their result is the second one.  `one` is the scenario of one
    member, if it is known.
    """
    one = source.take(np.arange(1)) if one is None else one
    changes: dict[str, Any] = {}
    if one.output_step is None and one.output_times is None:
        changes["output_times"] = (one.end_time,)
    if one.method != AUTO:
        return RunSettings(threads, tuple(changes.items())), None
    scenario = trace_functions(source.take(sample_members(source.members)).with_settings(**changes))
    choice = scenario.choice
    chosen: dict[str, Any] = {**changes, "method": choice.method.name, "formulation": choice.formulation}
    if scenario.is_constrained or choice.method.is_closed_form:
        return RunSettings(threads, tuple(chosen.items()), AutoReport(choice.why)), None
    with explain_errors(scenario):
        decided = decide_tolerance(scenario.with_settings(**chosen), choice.why, source.members, threads, report)
    settings = RunSettings(threads, tuple({**chosen, **decided.changes}.items()), decided.report, decided.check)
    return settings, decided.result
