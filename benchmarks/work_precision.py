"""The contest on one problem: points of error against time, and what it takes to reach an error."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from benchmarks.contestant import Contestant, TimedRun, UnsupportedProblemError, problem_data
from polhode.reference.problems import ReferenceProblem

TARGETS = (1e-6, 1e-12)
ROUNDS, REPEATS = 2, 3
SHORT_RUN_S = 0.05
"""Runs shorter than this are timed in every round, longer ones in the first only."""
MAX_REPEATS_S, MIN_REPEATS_S = 1.0, 0.005
"""No more repeats once they have taken the first; more than asked for until they have taken the second."""
ERROR_FLOOR, MAX_STALLED_SETTINGS = 1e-9, 3
"""A contestant is done when this many finer settings in a row gained nothing, and the error is below this."""
MAX_NONFINITE_SETTINGS = 6
"""A contestant whose first settings, this many, give no number at all is done."""
CONTESTANTS_PER_FAMILY, NEAR_TIME_RATIO = 2, 1.6
"""How many of each side are timed in turns, with settings of up to this factor times the deciding time."""


class TimingBudget(NamedTuple):
    """How much of it is measured."""

    rounds: int = ROUNDS
    repeats: int = REPEATS
    limit_fraction: float = 1.0
    points: int = 40
    interleaved_s: float = 1.5
    """How long the first in each family meet once more."""


FULL_BUDGET, QUICK_BUDGET = TimingBudget(), TimingBudget(rounds=1, repeats=3, limit_fraction=0.1, interleaved_s=0.4)


@dataclass
class WorkPrecisionPoint:
    """One setting: the error at the end, and the shortest time, per motion, in s."""

    attempt: TimedRun
    error: float
    attitude_rad: float
    position_relative: float | None
    seconds: float


@dataclass
class ContestantResult:
    """A contestant's result on a problem."""

    contestant: Contestant
    points: list[WorkPrecisionPoint] = field(default_factory=list)
    refused: str | None = None

    @property
    def best_error(self) -> float:
        """The smallest error seen."""
        return min((p.error for p in self.points if math.isfinite(p.error)), default=math.inf)

    def seconds_to(self, target: float) -> float | None:
        """The shortest time to reach an error: between two settings on a straight line in the logarithms."""
        points = [(p.seconds, p.error) for p in self.points]
        return seconds_to(target, points)


def seconds_to(target: float, points: Sequence[tuple[float, float]]) -> float | None:
    """From points (seconds, error), coarse to fine; None if the target is not reached."""
    found = [seconds for seconds, error in points if error <= target]
    for (s, e), (s2, e2) in pairwise(points):
        if e2 <= target < e < 1 and e2 > 0 and s < s2:
            part = math.log(e / target) / math.log(e / e2)
            found.append(s * (s2 / s) ** part)
    return min(found, default=None)


def run_contest(
    problem: ReferenceProblem,
    contestants: Sequence[Contestant],
    budget: TimingBudget = FULL_BUDGET,
    report: Callable[[str], Any] = lambda text: None,
) -> list[ContestantResult]:
    """All contestants on one problem, taking turns round after round; the best time counts."""
    scenario = problem.scenario(method="dop853", output_times=[problem.duration])
    task = problem_data(problem.name, scenario)
    entries = []
    for contestant in contestants:
        report(contestant.name)
        entry = ContestantResult(contestant)
        try:
            _refine_settings(entry, problem, contestant.attempts(task, scenario), budget)
        except UnsupportedProblemError as error:
            if not entry.points:
                entry.refused = str(error)
        entries.append(entry)
    for i in range(1, budget.rounds):
        report(f"round {i + 1}")
        for entry in entries:
            for point in entry.points:
                if point.seconds * point.attempt.members < SHORT_RUN_S:
                    point.seconds = min(point.seconds, _seconds_per_member(point.attempt, budget.repeats))
    for target in TARGETS:
        for per_member in (False, True):
            report(f"duel at {target:g}")
            _time_interleaved(
                [e for e in entries if e.contestant.per_member == per_member], target, budget.interleaved_s
            )
    return entries


def _time_interleaved(entries: Sequence[ContestantResult], target: float, duration: float) -> None:
    """The first of each family once more, turn by turn in short rounds: whatever slows one slows its rivals too."""
    times = sorted(((s, i) for i, e in enumerate(entries) if (s := e.seconds_to(target)) is not None))
    by_family: dict[str, list[tuple[float, int]]] = {}
    for time in times:
        by_family.setdefault(entries[time[1]].contestant.family, []).append(time)
    rivals = [
        point
        for first in by_family.values()
        for seconds, i in first[:CONTESTANTS_PER_FAMILY]
        for point in entries[i].points
        if point.seconds < NEAR_TIME_RATIO * seconds and NEAR_TIME_RATIO**2 * point.seconds > seconds
    ]
    short = [point for point in rivals if point.seconds * point.attempt.members < SHORT_RUN_S / 10]
    with _garbage_collection_off():
        until = perf_counter() + duration
        while short and perf_counter() < until:
            for point in short:
                for _ in range(2):
                    point.seconds = min(point.seconds, _time_once(point.attempt) / point.attempt.members)


def _time_once(attempt: TimedRun) -> float:
    attempt.reset()
    began = perf_counter()
    attempt.go()
    return perf_counter() - began


def _refine_settings(
    entry: ContestantResult, problem: ReferenceProblem, attempts: Iterator[TimedRun], budget: TimingBudget
) -> None:
    """From coarse to fine, until the time is up or nothing is gained any more."""
    limit = entry.contestant.limit_s * budget.limit_fraction
    for attempt in attempts:
        seconds = _seconds_per_member(attempt, budget.repeats)
        entry.points.append(WorkPrecisionPoint(attempt, *error_of(problem, *attempt.state()), seconds))
        errors = [p.error if math.isfinite(p.error) else math.inf for p in entry.points]
        before = min(errors[:-MAX_STALLED_SETTINGS], default=math.inf)
        idle = before < ERROR_FLOOR and min(errors[-MAX_STALLED_SETTINGS:]) > before / 2
        hopeless = len(errors) == MAX_NONFINITE_SETTINGS and min(errors) == math.inf
        if idle or hopeless or 2 * seconds * attempt.members > limit or len(errors) >= budget.points:
            return


def error_of(problem: ReferenceProblem, quaternion: Any, position: Any) -> tuple[float, float, float | None]:
    """(the larger of both, attitude in rad, position relative to the way)."""
    if not np.isfinite(quaternion).all() or (position is not None and not np.isfinite(position).all()):
        return math.nan, math.nan, None
    given = None if position is None else [float(x) for x in position]
    error = problem.error_of(quaternion_wxyz=[float(x) for x in quaternion], position=given, of_doubles=True)
    assert error.attitude is not None
    way = float(np.linalg.norm(np.subtract(problem.answer.position, problem.start.position)))
    if error.position is None or way == 0:
        return error.attitude, error.attitude, None
    return max(error.attitude, error.position / way), error.attitude, error.position / way


def _seconds_per_member(attempt: TimedRun, repeats: int) -> float:
    return best_seconds(attempt.go, repeats, attempt.reset) / attempt.members


def best_seconds(go: Callable[[], Any], repeats: int, reset: Callable[[], Any] = lambda: None) -> float:
    """The shortest of several, and of many where one is short: what remains when the machine does nothing else."""
    best, spent, count = math.inf, 0.0, 0
    with _garbage_collection_off():
        while count == 0 or (
            spent < MAX_REPEATS_S and (count < repeats or (spent < MIN_REPEATS_S and count < 40 * repeats))
        ):
            reset()
            began = perf_counter()
            go()
            seconds = perf_counter() - began
            best, spent, count = min(best, seconds), spent + seconds, count + 1
    return best


@contextmanager
def _garbage_collection_off() -> Iterator[None]:
    """Without Python's garbage collector, as `timeit` does it."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def fastest_contestants(
    entries: Sequence[ContestantResult], ours: str, target: float, per_member: bool
) -> dict[str, Any]:
    """Who reaches an error first: the best here, the fastest peer, and the fastest that is not heyoka."""
    reached = [
        (seconds, e.contestant)
        for e in entries
        if e.contestant.per_member == per_member and (seconds := e.seconds_to(target)) is not None
    ]
    own = _find_fastest(reached, lambda c: c.family == ours and not c.name.startswith("auto"))
    peer = _find_fastest(reached, lambda c: c.family != ours)
    other = _find_fastest(reached, lambda c: c.family not in (ours, "heyoka"))
    return {
        "target": target,
        "here": own,
        "fastest_peer": peer,
        "fastest_peer_but_heyoka": other,
        "ratio_to_fastest_peer": _ratio(own, peer),
        "ratio_to_fastest_peer_but_heyoka": _ratio(own, other),
    }


def _find_fastest(reached: Sequence[tuple[float, Contestant]], wanted: Callable[[Contestant], bool]) -> Any:
    of_these = [(seconds, c.name) for seconds, c in reached if wanted(c)]
    if not of_these:
        return None
    seconds, name = min(of_these)
    return {"name": name, "seconds": seconds}


def _ratio(own: Any, peer: Any) -> float | None:
    return own["seconds"] / peer["seconds"] if own and peer else None
