"""heyoka: Taylor's method, one body or a batch with one body in each lane of the processor's vectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import heyoka
import numpy as np

from benchmarks.contestant import TAYLOR_TOLERANCES, Attempt, Contestant, NotOfferedError, Task
from benchmarks.peers import ode_system
from polhode.model.scenario import Scenario

LANES = int(heyoka.recommended_simd_size())


PLACE_UNIT, SPEED_UNIT = 2.0**14, 2.0**7
"""m, m/s: heyoka measures errors against the largest number of the state, which shall not be a position."""


def system(task: Task, units: Any = None) -> Any:
    """The equations in heyoka's own expressions; par[0] says whether the thruster fires."""
    names = ["q0", "q1", "q2", "q3", "a", "b", "c", "x", "y", "z", "u", "v", "w"]
    symbols = heyoka.make_vars(*names[: len(ode_system.start(task))])
    sizes = np.ones(len(symbols)) if units is None else units
    seen = [s * size if size != 1 else s for s, size in zip(symbols, sizes.tolist(), strict=True)]
    slopes = ode_system.rate(task, heyoka.sqrt)(seen, heyoka.par[0])
    return [
        (s, heyoka.expression(slope) / size) for s, slope, size in zip(symbols, slopes, sizes.tolist(), strict=True)
    ]


def _units(task: Task) -> Any:
    if not task.moves:
        raise NotOfferedError("nothing to scale")
    return np.array([1.0] * 7 + [PLACE_UNIT] * 3 + [SPEED_UNIT] * 3)


def single(task: Task, scenario: Scenario) -> Iterator[Attempt]:
    """One body, in SI units."""
    return _ladder(task, np.ones(len(ode_system.start(task))))


def scaled(task: Task, scenario: Scenario) -> Iterator[Attempt]:
    """One body, in units in which neither place nor speed decides about the steps."""
    return _ladder(task, _units(task))


def _ladder(task: Task, units: Any) -> Iterator[Attempt]:
    begin, equations_of_motion = np.array(ode_system.start(task)) / units, system(task, units)
    pars = [0.0] if task.thruster else []
    for tol in TAYLOR_TOLERANCES:
        yield _single(task, heyoka.taylor_adaptive(equations_of_motion, begin, pars=pars, tol=tol), begin, tol, units)


def _single(task: Task, ta: Any, begin: Any, tol: float, units: Any) -> Attempt:
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

    return Attempt(tol, reset, go_in_segments if task.thruster else go, state)


def batch(task: Task, scenario: Scenario) -> Iterator[Attempt]:
    """The same body in every lane, in SI units: lanes that never wait for each other."""
    return _batches(task, np.ones(len(ode_system.start(task))))


def scaled_batch(task: Task, scenario: Scenario) -> Iterator[Attempt]:
    """The same in other units."""
    return _batches(task, _units(task))


def _batches(task: Task, units: Any) -> Iterator[Attempt]:
    begin = np.repeat((np.array(ode_system.start(task)) / units)[:, None], LANES, axis=1)
    equations_of_motion = system(task, units)
    pars = np.zeros((1, LANES)) if task.thruster else np.zeros((0, LANES))
    for tol in TAYLOR_TOLERANCES:
        ta = heyoka.taylor_adaptive_batch(equations_of_motion, begin, pars=pars, tol=tol)
        yield _batch(task, ta, begin, tol, units)


def _batch(task: Task, ta: Any, begin: Any, tol: float, units: Any) -> Attempt:
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

    return Attempt(tol, reset, go, state, LANES)


def contestants() -> list[Contestant]:
    """One body; one lane of a batch; each in SI units and in better ones."""
    return [
        Contestant("heyoka", "heyoka", single),
        Contestant("heyoka, scaled", "heyoka", scaled),
        Contestant(f"heyoka, batch of {LANES}", "heyoka", batch, per_member=True),
        Contestant(f"heyoka, scaled, batch of {LANES}", "heyoka", scaled_batch, per_member=True),
    ]
