"""One chunk of an ensemble, from its members to their samples."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from polhode.engines.driver import run_scenario
from polhode.engines.result import AutoReport, EventRecord, Report, RunResult, SampleColumns
from polhode.engines.user_functions import settle_functions
from polhode.ensembles.member_source import MemberSource
from polhode.model.method_choice import AUTO
from polhode.model.scenario import Scenario
from polhode.solve.auto_method import run_auto
from polhode.validation import Array


class RunSettings(NamedTuple):
    """How the chunks of an ensemble are run: decided once for the whole ensemble.  Plain data, which can be sent."""

    threads: int | None = None
    changes: tuple[tuple[str, Any], ...] = ()
    """Fields of the scenario that were decided for the whole ensemble: with method "auto" its method and tolerance."""
    auto_report: AutoReport | None = None


class MemberFailure(NamedTuple):
    """A member that failed: its samples are NaN from there on."""

    member: int
    time: float
    """The last time at which it was valid, in s."""
    reason: str
    sentence: str


class ChunkResult(NamedTuple):
    """The samples of members first to last - 1, and what happened to them.  Members are counted in the ensemble."""

    first: int
    last: int
    scenario: Scenario
    """The members as they were computed."""
    run_result: RunResult
    failures: list[MemberFailure]

    @property
    def times(self) -> Array:
        """The output times, in s."""
        return self.run_result.times

    @property
    def samples(self) -> Array:
        """(times, members, columns), or (times, members, bodies, columns) of systems."""
        return self.run_result.samples

    @property
    def columns(self) -> SampleColumns:
        """Where the numbers of a sample are."""
        return self.run_result.columns

    @property
    def steps(self) -> int:
        """Steps taken."""
        return self.run_result.steps

    @property
    def refused(self) -> int:
        """Steps tried and refused."""
        return self.run_result.refused

    @property
    def crossings(self) -> list[EventRecord]:
        """The events that occurred, in order of time."""
        return self.run_result.crossings


def run_chunk(
    source: MemberSource, first: int, last: int, settings: RunSettings, report: Report | None = None
) -> ChunkResult:
    """Compute the members first to last - 1: the same bits in whatever chunk a member is."""
    scenario = settle_functions(prepare_members(source, first, last, settings))
    if scenario.method == AUTO:
        scenario, result = run_auto(scenario, False, settings.threads, report)
    else:
        result = run_scenario(scenario, False, settings.threads, report)
    return ChunkResult(first, last, scenario, result, [])


def prepare_members(source: MemberSource, first: int, last: int, settings: RunSettings) -> Scenario:
    """The scenario of some members; without output times only their final states are asked for."""
    scenario = source.take(np.arange(first, last))
    changes: dict[str, Any] = dict(settings.changes)
    if scenario.output_step is None and scenario.output_times is None:
        changes["output_times"] = [scenario.end_time]
    return replace(scenario, **changes) if changes else scenario
