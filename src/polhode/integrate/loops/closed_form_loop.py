"""The loop of the closed form: the state at any time, straight from the start."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from polhode.integrate.loops.layout import KernelArray, Layout, first_place, read, read_constants, write
from polhode.ir.loops import Loop, Sweep, loop


class ClosedFormRun(NamedTuple):
    """What the loop takes."""

    buffer: Annotated[Any, KernelArray(0, is_written=False, has_known_extents=True)]
    t_start: float
    times: Any
    out: Annotated[Any, KernelArray(1)]

    @property
    def is_begun(self) -> bool:
        """Whether outputs have been written before: all are written at once."""
        return False

    @property
    def variant(self) -> int:
        """Which of the kernels takes it."""
        return 0


def build_closed_form(free_motion: Loop, renormalize: Loop, layout: Layout) -> Sweep:
    """(unit, t, h): the state of every body at t + h, from that at t, which stays."""
    state, drift_at, params, trial = layout.state, layout.drift, layout.params, layout.trial

    def evaluate_one(unit: Any, at: Any, t: Any, h: Any) -> None:
        data = (read_constants(unit, at, layout), read(unit, at, params))
        y = free_motion(t, read(unit, at, state), h, data)
        renormalized, drift = renormalize(y[:4], h)
        write(unit, at, trial, renormalized + y[4:])
        unit[drift_at + at] = drift

    return Sweep(evaluate_one, layout.lanes, layout.size)


def build_closed_form_kernel(evaluate: Sweep, layout: Layout) -> Loop:
    """The same for one unit at a time, whose numbers stay in registers."""
    drift_at, trial_at, size = layout.drift, first_place(layout.trial), layout.size

    @loop
    def advance(run: ClosedFormRun, first: int, last: int) -> None:
        own = np.zeros(size)
        for u in range(first, last):
            for i in range(size):
                own[i] = run.buffer[u, i]
            for s in range(len(run.times)):
                evaluate(own, run.t_start, run.times[s] - run.t_start)
                for i in range(drift_at):
                    run.out[s, u, i] = own[trial_at + i]
                run.out[s, u, drift_at] = own[drift_at]

    return advance


TIMES = 8
"""Of one body so many times are computed together, in vectors."""


def build_closed_form_at_times(free_motion: Loop, renormalize: Loop, layout: Layout) -> Loop:
    """Write the samples of units of one body at any times; `layout` has a lane for each of several times.

    201 samples of a body take 15 us, and 108 us one after the other.
    """
    drift_at, trial_at, size, room = layout.drift, first_place(layout.trial), layout.size, layout.size + TIMES
    state, params, columns, numbers = layout.state, layout.params, layout.drift // TIMES, layout.size // TIMES

    def evaluate_one(own: Any, at: Any, t: Any) -> None:
        h = own[size + at]
        data = (read_constants(own, at, layout), read(own, at, params))
        y = free_motion(t, read(own, at, state), h, data)
        renormalized, drift = renormalize(y[:4], h)
        write(own, at, layout.trial, renormalized + y[4:])
        own[drift_at + at] = drift

    evaluate = Sweep(evaluate_one, TIMES, room)

    @loop
    def advance(run: ClosedFormRun, first: int, last: int) -> None:
        own = np.zeros(room)
        for u in range(first, last):
            for i in range(numbers):
                for k in range(TIMES):
                    own[i * TIMES + k] = run.buffer[u, i]
            count = len(run.times)
            for s in range(0, count, TIMES):
                together = min(TIMES, count - s)
                for k in range(together):
                    own[size + k] = run.times[s + k] - run.t_start
                evaluate(own, run.t_start)
                for k in range(together):
                    for i in range(columns):
                        run.out[s + k, u, i] = own[trial_at + i * TIMES + k]
                    run.out[s + k, u, columns] = own[drift_at + k]

    return advance


def build_closed_form_loop(evaluate: Sweep, layout: Layout) -> Loop:
    """Write the samples of units at any times, from their states at t_start."""
    drift_at, lanes, trial_at = layout.drift, layout.lanes, first_place(layout.trial)

    @loop
    def advance(run: ClosedFormRun, first: int, last: int) -> None:
        for u in range(first, last):
            unit = run.buffer[u]
            for s in range(len(run.times)):
                evaluate(unit, run.t_start, run.times[s] - run.t_start)
                for i in range(drift_at):
                    run.out[s, u, i] = unit[trial_at + i]
                for i in range(drift_at, drift_at + lanes):
                    run.out[s, u, i] = unit[i]

    return advance
