"""What derivatives of a step cost, in steps: a gradient by `vjp`, and thirteen directions at once by `jvp` in lanes."""

from __future__ import annotations

from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from polhode.equations import force_laws
from polhode.equations.formulations import FORMULATIONS
from polhode.equations.inertia import BodyConstants
from polhode.equations.right_hand_side import build_right_hand_side, sum_forces
from polhode.integrate.loops.layout import assign_places, read, write
from polhode.ir.derivatives import jvp, vjp
from polhode.ir.loops import Sweep, loop
from polhode.ir.program import Program
from polhode.methods.runge_kutta import build_step
from polhode.methods.tableaus import RK4

UNITS, REPEATS, STEP = 256, 200, 1e-6
SHAPE = ((0,) * 3, (0,) * 4, (0,) * 3, (0,) * 3)
LANES = 16
"""For 13 directions."""
BODY = BodyConstants(2.0, 0.5, (1.0, 2.0, 2.5), (1.0, 0.5, 0.4), (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
PARAMS = (((0.0, 0.0, -9.8),), (0.1, (0.3, 0.0, 0.0)))
FORCES = {"gravity and drag": (force_laws.gravity, force_laws.quadratic_drag), "gravity": (force_laws.gravity,)}


def _step(formulation: str, forces: str) -> Any:
    laws = FORCES[forces]
    rate = build_right_hand_side(FORMULATIONS[formulation], sum_forces(laws))
    step, data = build_step(RK4, rate), (BODY, PARAMS[: len(laws)])
    return lambda y: step(0.0, y, STEP, data)


class Record(NamedTuple):
    """What the loops take."""

    buffer: Any
    states: Any


def _seconds(one: Any, lanes: int, size: int, has_one_state: bool = False) -> float:
    """The time of one call for `lanes` bodies, or for one state that all lanes share."""
    sweep = Sweep(one, lanes, size)

    @loop
    def run(record: Record, first: int, last: int) -> None:
        for u in range(first, last):
            sweep(record.buffer[u])

    @loop
    def run_one_state(record: Record, first: int, last: int) -> None:
        for u in range(first, last):
            y = record.states[u]
            x, p, s = (y[0], y[1], y[2]), (y[7], y[8], y[9]), (y[10], y[11], y[12])
            sweep(record.buffer[u], (x, (y[3], y[4], y[5], y[6]), p, s))

    units = UNITS
    random = np.random.default_rng(1)
    record = Record(random.uniform(0.5, 1.0, (units, size)), random.uniform(0.5, 1.0, (units, 13)))
    call = Program(run_one_state if has_one_state else run, True, size).bind(record)
    call(0, units)
    best = np.inf
    for _ in range(REPEATS):
        began = perf_counter()
        call(0, units)
        best = min(best, perf_counter() - began)
    return best / units


def measure(formulation: str = "momentum", forces: str = "gravity and drag") -> dict[str, float]:
    """Seconds of a step, of its gradient, and of thirteen directions, for one body and in eight lanes."""
    step, times = _step(formulation, forces), {}
    for lanes in (1, 8):
        state, end = assign_places(SHAPE, 0, lanes)
        adjoint, size = assign_places(SHAPE, end, lanes)

        def take_step(unit: Any, at: Any, state: Any = state) -> None:
            write(unit, at, state, step(read(unit, at, state)))

        def take_gradient(unit: Any, at: Any, state: Any = state, adjoint: Any = adjoint) -> None:
            value, (found,) = vjp(step, (read(unit, at, state),), read(unit, at, adjoint))
            write(unit, at, state, value)
            write(unit, at, adjoint, found)

        times[f"step, {lanes} lanes"] = _seconds(take_step, lanes, size)
        times[f"gradient, {lanes} lanes"] = _seconds(take_gradient, lanes, size)
    along, size = assign_places(SHAPE, 0, LANES)

    def push(unit: Any, at: Any, y: Any) -> None:
        write(unit, at, along, jvp(step, (y,), (read(unit, at, along),))[1])

    times["13 directions in lanes"] = _seconds(push, LANES, size, True)
    return times


def main() -> None:
    """Print the table."""
    for forces in FORCES:
        for formulation in ("momentum",):
            times = measure(formulation, forces)
            for name, seconds in times.items():
                base = times["step, 8 lanes" if "gradient, 8" in name else "step, 1 lanes"]
                print(f"{forces}, {formulation}, {name}: {seconds * 1e9:.0f} ns, {seconds / base:.2f} steps")


if __name__ == "__main__":
    main()
