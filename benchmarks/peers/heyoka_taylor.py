"""heyoka: Taylor's method, one body or a batch with one body in each lane of the processor's vectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import heyoka
import numpy as np

from benchmarks.contestant import HEYOKA_TOLERANCES, Contestant, ProblemData, TimedRun, UnsupportedProblemError
from benchmarks.peers import ode_system
from polhode.scenario.scenario import Scenario

BATCH_LANES = int(heyoka.recommended_simd_size())


LENGTH_UNIT, SPEED_UNIT = 2.0**14, 2.0**7
"""m, m/s: heyoka measures errors against the largest number of the state, which shall not be a position."""


def taylor_system(task: ProblemData, units: Any = None) -> Any:
    """The equations in heyoka's own expressions; par[0] says whether the thruster fires."""
    names = ["q0", "q1", "q2", "q3", "a", "b", "c", "x", "y", "z", "u", "v", "w"]
    symbols = heyoka.make_vars(*names[: len(ode_system.initial_state(task))])
    sizes = np.ones(len(symbols)) if units is None else units
    seen = [s * size if size != 1 else s for s, size in zip(symbols, sizes.tolist(), strict=True)]
    slopes = ode_system.make_right_hand_side(task, heyoka.sqrt)(seen, heyoka.par[0])
    return [
        (s, heyoka.expression(slope) / size) for s, slope, size in zip(symbols, slopes, sizes.tolist(), strict=True)
    ]


def _units(task: ProblemData) -> Any:
    if not task.moves:
        raise UnsupportedProblemError("nothing to scale")
    return np.array([1.0] * 7 + [LENGTH_UNIT] * 3 + [SPEED_UNIT] * 3)


def single_runs(task: ProblemData, scenario: Scenario) -> Iterator[TimedRun]:
    """One body, in SI units."""
    return _single_ladder(task, np.ones(len(ode_system.initial_state(task))))


def scaled_single_runs(task: ProblemData, scenario: Scenario) -> Iterator[TimedRun]:
    """One body, in units in which neither place nor speed decides about the steps."""
    return _single_ladder(task, _units(task))


def _single_ladder(task: ProblemData, units: Any) -> Iterator[TimedRun]:
    begin, equations_of_motion = np.array(ode_system.initial_state(task)) / units, taylor_system(task, units)
    pars = [0.0] if task.thruster else []
    for tol in HEYOKA_TOLERANCES:
        yield _single(task, heyoka.taylor_adaptive(equations_of_motion, begin, pars=pars, tol=tol), begin, tol, units)


def _single(task: ProblemData, ta: Any, begin: Any, tol: float, units: Any) -> TimedRun:
    def reset() -> None:
        ta.time, ta.state[:] = 0.0, begin

    def go() -> None:
        ta.propagate_until(task.duration)

    segments, pars = [(to, float(fires)) for _, to, fires in task.segments], ta.pars

    def go_in_segments() -> None:
        for to, fires in segments:
            pars[0] = fires
            ta.propagate_until(to)

    def state() -> tuple[Any, Any]:
        return ta.state[:4], ta.state[7:10] * units[7:10] if task.moves else None

    return TimedRun(tol, reset, go_in_segments if task.thruster else go, state)


def batch_runs(task: ProblemData, scenario: Scenario) -> Iterator[TimedRun]:
    """The same body in every lane, in SI units: lanes that never wait for each other."""
    return _batches(task, np.ones(len(ode_system.initial_state(task))))


def scaled_batch_runs(task: ProblemData, scenario: Scenario) -> Iterator[TimedRun]:
    """The same in other units."""
    return _batches(task, _units(task))


def _batches(task: ProblemData, units: Any) -> Iterator[TimedRun]:
    begin = np.repeat((np.array(ode_system.initial_state(task)) / units)[:, None], BATCH_LANES, axis=1)
    equations_of_motion = taylor_system(task, units)
    pars = np.zeros((1, BATCH_LANES)) if task.thruster else np.zeros((0, BATCH_LANES))
    for tol in HEYOKA_TOLERANCES:
        ta = heyoka.taylor_adaptive_batch(equations_of_motion, begin, pars=pars, tol=tol)
        yield _batch(task, ta, begin, tol, units)


def _batch(task: ProblemData, ta: Any, begin: Any, tol: float, units: Any) -> TimedRun:
    def reset() -> None:
        ta.set_time(0.0)
        ta.state[:] = begin

    segments, pars = [(to, float(fires)) for _, to, fires in task.segments], ta.pars

    def go() -> None:
        for to, fires in segments:
            if task.thruster:
                pars[0] = fires
            ta.propagate_until(to)

    def state() -> tuple[Any, Any]:
        return ta.state[:4, 0], ta.state[7:10, 0] * units[7:10] if task.moves else None

    return TimedRun(tol, reset, go, state, BATCH_LANES)


def contestants() -> list[Contestant]:
    """One body; one lane of a batch; each in SI units and in better ones."""
    return [
        Contestant("heyoka", "heyoka", single_runs),
        Contestant("heyoka, scaled", "heyoka", scaled_single_runs),
        Contestant(f"heyoka, batch of {BATCH_LANES}", "heyoka", batch_runs, per_member=True),
        Contestant(f"heyoka, scaled, batch of {BATCH_LANES}", "heyoka", scaled_batch_runs, per_member=True),
    ]
