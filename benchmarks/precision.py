"""The work-precision record: error at the end against wall time, Polhode and its peers, all in one run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from benchmarks import method_comparisons, polhode_contestants
from benchmarks.contestant import Contestant
from benchmarks.peers import INSTALL, PEERS, Peer
from benchmarks.throughput import machine_info, package_versions
from benchmarks.work_precision import (
    FULL_BUDGET,
    QUICK_BUDGET,
    TARGETS,
    ContestantResult,
    TimingBudget,
    fastest_contestants,
    run_contest,
)
from polhode.errors import PolhodeError
from polhode.reference.problems import PROBLEMS

ReportProgress = Callable[[float, str], Any]
"""Called with the part that is done, 0 to 1, and what comes next."""


def measure_precision(
    quick: bool = False,
    budget: TimingBudget | None = None,
    problems: Sequence[str] | None = None,
    report: ReportProgress = lambda part, text: None,
    peers: Sequence[Peer] = PEERS,
) -> dict[str, Any]:
    """All figures."""
    spent = budget or (QUICK_BUDGET if quick else FULL_BUDGET)
    names = list(PROBLEMS) if problems is None else list(problems)
    contestants, missing = polhode_contestants.contestants(quick), {}
    for peer in peers:
        found, why = load_contestants(peer)
        contestants += found
        if why:
            missing[peer.name] = why
    total = len(names) * (len(contestants) + spent.rounds - 1 + 2 * len(TARGETS)) + 3
    done = 0

    def tick(where: str, what: str = "") -> None:
        nonlocal done
        report(done / total, where + what)
        done += 1

    results = []
    for name in names:
        entries = run_contest(PROBLEMS[name], contestants, spent, partial(tick, f"{name}: "))
        results.append(_problem_record(name, entries))
    members = 64 if quick else method_comparisons.MEMBERS
    besides = {
        "closed_form": lambda: method_comparisons.compare_closed_form(members, spent.repeats),
        "dop853": lambda: method_comparisons.compare_dop853(members, spent.repeats),
        "auto": lambda: method_comparisons.measure_auto(repeats=spent.repeats),
    }
    extra = {}
    for name, section in besides.items():
        tick(name)
        extra[name] = _run_or_explain(section)
    found_versions = {p.name: p.version for p in peers if p.name not in missing}
    return {
        "what": "final error (attitude in rad; the center of mass relative to its path, if that is larger) against "
        "wall time in s, double precision, one thread, prepared runs",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine_info(),
        "versions": {k: v for k, v in package_versions().items() if k != "mujoco"} | found_versions,
        "missing": missing,
        "best_of": {"rounds": spent.rounds, "repeats": spent.repeats},
        "problems": results,
        **extra,
    }


def load_contestants(peer: Peer) -> tuple[list[Contestant], str | None]:
    """A peer's contestants, or why there are none."""
    if peer.version is None:
        return [], INSTALL
    try:
        return peer.contestants(), None
    except ImportError as error:
        return [], f"does not start here: {error}"


def _run_or_explain(section: Callable[[], Any]) -> Any:
    try:
        return section()
    except PolhodeError as error:
        return {"failed": str(error)}


def _problem_record(name: str, entries: Sequence[ContestantResult]) -> dict[str, Any]:
    problem = PROBLEMS[name]
    return {
        "name": name,
        "title": problem.title,
        "is_forced": bool(problem.forces),
        "conditioning_rad": problem.conditioning.attitude,
        "record": [fastest_contestants(entries, polhode_contestants.FAMILY, target, False) for target in TARGETS],
        "record_per_member": [
            fastest_contestants(entries, polhode_contestants.FAMILY, target, True) for target in TARGETS
        ],
        "refused": {e.contestant.name: e.refused for e in entries if e.refused},
        "contestants": [_contestant_record(e) for e in entries if e.points],
    }


def _contestant_record(entry: ContestantResult) -> dict[str, Any]:
    return {
        "name": entry.contestant.name,
        "family": entry.contestant.family,
        "per_member": entry.contestant.per_member,
        "best_error": entry.best_error,
        "seconds_to": {f"{target:g}": entry.seconds_to(target) for target in TARGETS},
        "points": [
            {
                "setting": p.attempt.setting,
                "error": p.error,
                "attitude_rad": p.attitude_rad,
                "position_relative": p.position_relative,
                "seconds": p.seconds,
            }
            for p in entry.points
        ],
    }
