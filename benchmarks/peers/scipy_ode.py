"""SciPy: `solve_ivp` with DOP853, and its older interfaces to compiled DOP853 and LSODA; the right-hand side in Python.

The right-hand side on plain numbers takes half the time of one on NumPy arrays.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import integrate

from benchmarks.contestant import Contestant, ProblemData, TimedRun
from benchmarks.peers import ode_system
from polhode.scenario.scenario import Scenario

TOLERANCES = tuple(10.0**-n for n in (3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 13.5, 14))

SolveFunction = Callable[[Callable[..., Any], float, float, Any, float, float], Any]
"""(rate(t, y, fires), from, to, y, rtol, fires: 0 or 1) -> y at the end"""


def python_right_hand_side(task: ProblemData) -> Callable[[float, Any, float], Any]:
    """(t, y, fires) -> dy/dt, in plain numbers."""
    slope = ode_system.make_right_hand_side(task, math.sqrt)

    def rate(t: float, y: Any, fires: float = 0.0) -> Any:
        return slope(y.tolist(), fires)

    return rate


def solve_ivp(rate: Any, a: float, b: float, y: Any, rtol: float, fires: float) -> Any:
    """DOP853, in Python from end to end."""
    return integrate.solve_ivp(rate, (a, b), y, "DOP853", rtol=rtol, atol=rtol, t_eval=(b,), args=(fires,)).y[:, -1]


def compiled_dop853(rate: Any, a: float, b: float, y: Any, rtol: float, fires: float) -> Any:
    """The older interface: only the right-hand side is Python."""
    solver = integrate.ode(rate).set_integrator("dop853", rtol=rtol, atol=rtol, nsteps=10**7)
    return solver.set_initial_value(y, a).set_f_params(fires).integrate(b)


def lsoda(rate: Any, a: float, b: float, y: Any, rtol: float, fires: float) -> Any:
    """LSODA through `odeint`."""
    return integrate.odeint(rate, y, (a, b), (fires,), rtol=rtol, atol=rtol, mxstep=10**7, tfirst=True)[-1]


def _make_runs(solve: SolveFunction) -> Callable[[ProblemData, Scenario], Iterator[TimedRun]]:
    def attempts(task: ProblemData, scenario: Scenario) -> Iterator[TimedRun]:
        for rtol in TOLERANCES:
            yield _timed_run(task, solve, rtol)

    return attempts


def _timed_run(task: ProblemData, solve: SolveFunction, rtol: float) -> TimedRun:
    rate, begin = python_right_hand_side(task), np.array(ode_system.initial_state(task))
    end: list[Any] = []

    def go() -> None:
        y = begin
        for a, b, fires in task.segments:
            y = solve(rate, a, b, y, rtol, float(fires))
        end[:] = [y]

    def quiet() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            go()

    def state() -> tuple[Any, Any]:
        return end[0][:4], end[0][7:10] if task.moves else None

    return TimedRun(rtol, lambda: None, quiet, state)


def contestants() -> list[Contestant]:
    """The three interfaces."""
    return [
        Contestant("SciPy solve_ivp DOP853", "scipy", _make_runs(solve_ivp)),
        Contestant("SciPy ode dop853", "scipy", _make_runs(compiled_dop853)),
        Contestant("SciPy odeint LSODA", "scipy", _make_runs(lsoda)),
    ]
