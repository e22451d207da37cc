"""Polhode among the contestants: every method with every formulation, on one thread."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from benchmarks.contestant import HEYOKA_TOLERANCES, Contestant, ProblemData, TimedRun, UnsupportedProblemError
from benchmarks.repeatable_run import RepeatableRun
from polhode.equations.formulations import FORMULATIONS
from polhode.errors import PolhodeError
from polhode.integrate.run_result import RunResult, SampleColumns
from polhode.methods.registry import METHODS
from polhode.results.motion import Motion
from polhode.scenario.method_choice import AUTO
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.solve.auto_method import run_auto
from polhode.solve.simulate import simulate

FAMILY = "polhode"
RTOLS = tuple(10.0**-n for n in (3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 14.5, 15))
FAVORITES = ("momentum", "body_rates")
"""The formulations that have won something; the others get fewer settings, as every one compiles anew for "taylor"."""
MEMBERS = 512
QUICK_ENSEMBLE_METHODS = ("exact", "dop853", "splitting4", "taylor")
"""The methods that may win with many members."""
LIMIT_S = 0.1
"""What takes longer than this is no candidate for a record."""


class PreparedRun(NamedTuple):
    """A run of which all that can be done beforehand is done: compiled, packed, all arrays made; `go` is timed."""

    reset: Callable[[], Any]
    go: Callable[[], Any]
    motion: Callable[[], Motion]


def prepared_run(scenario: Scenario) -> PreparedRun:
    """The machine code of a run and nothing else.  Of "auto": the run that it returns, not those that check it."""
    settled = scenario if scenario.method != AUTO else run_auto(scenario, False, 1, None)[0]
    rerun = RepeatableRun(settled)

    def motion() -> Motion:
        columns = SampleColumns.of(settled.form.sizes, counts_work=False)
        return Motion(settled, RunResult(settled.times, rerun.final_samples()[None], columns, 0))

    return PreparedRun(rerun.reset, rerun.go, motion)


def contestants(quick: bool = False) -> list[Contestant]:
    """All methods with all formulations; and members of an ensemble.  Quick: two formulations."""
    methods = [*METHODS, AUTO]
    forms = list(FAVORITES) if quick else list(FORMULATIONS)
    single = [
        Contestant(_contestant_name(m, f), FAMILY, _attempts(m, f, 1), limit_s=LIMIT_S)
        for m in methods
        for f in forms
        if f in _known_formulations(m)
    ]
    many = [
        Contestant(
            f"{_contestant_name(m, f)}, {MEMBERS} members", FAMILY, _attempts(m, f, MEMBERS), True, limit_s=LIMIT_S * 3
        )
        for m in METHODS
        if not quick or m in QUICK_ENSEMBLE_METHODS
        for f in (FAVORITES if METHODS[m].is_adaptive else FAVORITES[:1])
    ]
    return single + many


def _known_formulations(method: str) -> Collection[str]:
    """Those that a method knows."""
    return FORMULATIONS if method == AUTO else METHODS[method].formulations or FORMULATIONS


def _contestant_name(method: str, formulation: str) -> str:
    shown = "auto's choice" if method == AUTO else method
    return shown if formulation == "momentum" else f"{shown}, {formulation}"


def _attempts(method: str, formulation: str, members: int) -> Callable[[ProblemData, Scenario], Iterator[TimedRun]]:
    def attempts(task: ProblemData, scenario: Scenario) -> Iterator[TimedRun]:
        base = make_ensemble(scenario, members) if members > 1 else scenario
        for name, value in _settings(method, formulation, task):
            try:
                fineness: dict[str, Any] = {name: value} if name else {}
                prepared = prepared_run(replace(base, method=method, formulation=formulation, **fineness))
            except PolhodeError as error:
                raise UnsupportedProblemError(str(error).partition(":")[0]) from error
            yield TimedRun(value, prepared.reset, prepared.go, _final_state(prepared, task), members)

    return attempts


def _settings(method: str, formulation: str, task: ProblemData) -> Iterator[tuple[str, float]]:
    """The name and the value of what makes a method finer; a closed form has nothing of the kind."""
    known = METHODS.get(method)  # "auto" is none of them
    if known is not None and known.is_closed_form:
        yield "", 0.0
    elif known is None or known.is_adaptive:
        rtols = HEYOKA_TOLERANCES if known is not None and known.is_taylor_series else RTOLS
        few = slice(None, None, 1 if formulation in FAVORITES else 3)
        yield from (("rtol", rtol) for rtol in rtols[few])
    else:
        order = known.order or 1
        yield from (("step", task.duration / count) for count in task.counts(factor=4 if order < 4 else 2))


def _final_state(prepared: PreparedRun, task: ProblemData) -> Callable[[], tuple[Any, Any]]:
    def state() -> tuple[Any, Any]:
        motion = prepared.motion()
        if motion.times[-1:].tolist() != [task.duration]:
            return np.full(4, np.nan), None  # it had to stop on the way
        q, x = motion.quaternion_wxyz[-1], motion.position[-1]
        if motion.axis is not None:
            q, x = q[0], x[0]
        return q, x if task.moves else None

    return state


def make_ensemble(scenario: Scenario, members: int, spread: float = 0.0) -> Scenario:
    """So many members of a scenario; with a spread, the spin of each is another, by up to that part."""
    start = scenario.states[0]
    factors = 1 + spread * np.random.default_rng(0).uniform(-1, 1, (members, 3))
    many = State(
        position=np.tile(start.position, (members, 1)),
        quaternion_wxyz=np.tile(start.quaternion_wxyz, (members, 1)),
        velocity=np.tile(start.velocity, (members, 1)),
        angular_velocity_body=start.angular_velocity_body * factors,
    )
    return replace(scenario, state=many)


def simulate_call(scenario: Scenario) -> Callable[[], Motion]:
    """`ph.simulate`, all included."""
    return lambda: simulate(scenario, threads=1, progress=False)
