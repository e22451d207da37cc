"""Members that fail while the others go on: which, when, and why."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from polhode.ensembles.chunks import split_into_blocks
from polhode.integrate.driver import run_scenario
from polhode.integrate.run_result import Failure, RunResult
from polhode.scenario.scenario import Scenario
from polhode.solve.run_errors import describe_failure, name_member, traced_error

DESCRIBED = 16
"""Of each block, so many members that failed are run again alone, to find out when and why; the others are listed."""


class MemberFailure(NamedTuple):
    """A member that failed: its samples are NaN from there on."""

    member: int
    time: float
    """The last time at which it was valid, in s; where the reason is not known in detail, the last such output."""
    reason: str
    sentence: str


def find_failures(scenario: Scenario, result: RunResult, first: int) -> list[MemberFailure]:
    """The members of an ensemble that failed, counted from `first`; their samples become NaN from there on.

    A member that an event has stopped has not failed: it has no samples after that.
    """
    wrong = find_wrong_outputs(scenario, result)
    failed = np.flatnonzero(wrong.any(axis=0))
    if not len(failed):
        return []
    since = np.argmax(wrong, axis=0)
    for member in failed:
        result.samples[since[member] :, member] = np.nan
    found = []
    for a, b in split_into_blocks(first, first + (scenario.members or 1)):
        own = failed[(failed >= a - first) & (failed < b - first)]
        found += [_describe(scenario, result, int(m), first) for m in own[:DESCRIBED]]
        found += [_list_only(scenario, result, int(m), int(since[m]), first) for m in own[DESCRIBED:]]
    return found


def find_wrong_outputs(scenario: Scenario, result: RunResult) -> Any:
    """(times, members): whether a member has no finite sample, though no event has stopped it before."""
    samples = result.samples
    wrong = ~np.isfinite(samples).all(axis=tuple(range(2, samples.ndim)))
    if not wrong.any():
        return wrong
    ends = np.full(scenario.members or 1, np.inf)
    for crossing in result.crossings:
        if crossing.ends:
            ends[crossing.body if crossing.member is None else crossing.member] = crossing.time
    return wrong & (result.times[:, None] < ends)


def _describe(scenario: Scenario, result: RunResult, member: int, first: int) -> MemberFailure:
    """What a member that is run again alone says about its failure."""
    alone, bodies = scenario.take(member), len(scenario.bodies)
    failure = result.failure
    if failure is None or failure.body // bodies != member:
        failure = run_scenario(alone, False, 1).failure
    else:
        failure = Failure(failure.reason, failure.time, failure.body % bodies, failure.last_good, failure.event)
    if failure is None:  # alone it comes through: its last digits depend on its neighbors
        wrong = ~np.isfinite(result.samples[:, member]).reshape(len(result.times), -1).all(axis=1)
        return _list_only(scenario, result, member, int(np.argmax(wrong)), first)
    if (raised := traced_error(scenario, failure)) is not None:
        return MemberFailure(first + member, failure.time, failure.reason, f"member {first + member}: {raised}")
    who = name_member(scenario, first + member, failure.body)
    return MemberFailure(
        first + member, failure.time, failure.reason, describe_failure(failure, alone, failure.body, who)[1]
    )


def _list_only(scenario: Scenario, result: RunResult, member: int, since: int, first: int) -> MemberFailure:
    time = float(result.times[since - 1]) if since else scenario.start_time
    sentence = f"member {first + member} failed after the output at t = {time:g} s"
    if not since:
        sentence = f"member {first + member} failed before its first output, after the start at t = {time:g} s"
    return MemberFailure(first + member, time, "failed", f"{sentence}; simulate it alone to see why.")
