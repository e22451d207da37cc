"""Steps of one length: the loop, and the step of independent bodies."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from polhode.equations.scalar_ops import larger
from polhode.integrate.loops.layout import KernelArray, Layout, read, read_constants, write
from polhode.ir.loops import Loop, Sweep, loop


class FixedRun(NamedTuple):
    """What the loop takes: all bodies, and the outputs on the way from step k to step k_end."""

    buffer: Annotated[Any, KernelArray(0, has_known_extents=True)]
    pairs: Any
    t_start: float
    h: float
    k: int
    k_end: int
    stop_k: Any
    stop_rest: Any
    """An output is a step number and a rest: one off the grid is reached by a shorter step on a copy."""
    stop: int
    """The first output that is still to come."""
    out: Annotated[Any, KernelArray(1)]

    @property
    def is_begun(self) -> bool:
        """Whether outputs have been written before."""
        return self.stop > 0

    @property
    def variant(self) -> int:
        """Which of the kernels takes it: 1 if all outputs are on the grid of steps."""
        return int(not self.stop_rest.any())


def independent_step(step: Loop, renormalize: Loop, layout: Layout) -> Loop:
    """One step of every body of a unit of independent bodies."""
    state, params, drift_at = layout.state, layout.params, layout.drift

    def one_body(unit: Any, at: Any, t: Any, h: Any) -> None:
        data = (read_constants(unit, at, layout), read(unit, at, params))
        y = step(t, read(unit, at, state), h, data)
        renormalized, drift = renormalize(y[:4], h)
        write(unit, at, state, renormalized + y[4:])
        unit[drift_at + at] = larger(unit[drift_at + at], drift)

    sweep = Sweep(one_body, layout.lanes, layout.size)

    @loop
    def step_all(unit: Any, pairs: Any, t: float, h: float) -> None:
        sweep(unit, t, h)

    return step_all


def build_acceptance(renormalize: Loop, layout: Layout, reached: Any) -> Sweep:
    """Accept the step of every body of a unit: the state at `reached`, renormalized, becomes the state."""
    state, drift_at = layout.state, layout.drift

    def one_body(unit: Any, at: Any, h: Any) -> None:
        y = read(unit, at, reached)
        renormalized, drift = renormalize(y[:4], h)
        write(unit, at, state, renormalized + y[4:])
        unit[drift_at + at] = larger(unit[drift_at + at], drift)

    return Sweep(one_body, layout.lanes, layout.size)


def build_fixed_kernel(step_all: Loop, layout: Layout, is_on_grid: bool) -> Loop:
    """The same for one unit at a time, whose numbers stay in registers between outputs.

    A step off the grid begins with a copy of the state in memory, since two states need twice the registers.  With
    `is_on_grid` there are none, and the kernel is half as long.
    """
    size, sample_size, drift_at = layout.size, layout.sample_size, layout.drift

    @loop
    def keep_state(run: FixedRun, own: Any, u: int) -> None:
        for block in range(len(own) // size):
            for i in range(sample_size):
                run.buffer[u, block * size + i] = own[block * size + i]

    @loop
    def advance(run: FixedRun, first: int, last: int) -> None:
        (_, length), stops = run.buffer.shape, len(run.stop_k)
        blocks = length // size
        own = np.zeros(length)
        for u in range(first, last):
            for i in range(length):
                own[i] = run.buffer[u, i]
            k = run.k
            for s in range(run.stop, stops + 1):
                is_output = s < stops and run.stop_k[s] <= run.k_end
                last_step = run.stop_k[s] if is_output else run.k_end
                for now in range(k, last_step):
                    step_all(own, run.pairs, run.t_start + now * run.h, run.h)
                k = last_step
                if is_output:
                    if not is_on_grid and run.stop_rest[s] > 0.0:
                        keep_state(run, own, u)
                        step_all(own, run.pairs, run.t_start + k * run.h, run.stop_rest[s])
                    for block in range(blocks):
                        for i in range(sample_size):
                            run.out[s, u, block * sample_size + i] = own[block * size + i]
                    if not is_on_grid and run.stop_rest[s] > 0.0:
                        for block in range(blocks):
                            for i in range(sample_size):
                                own[block * size + i] = run.buffer[u, block * size + i]
                    for block in range(blocks):
                        own[block * size + drift_at] = 0.0
            keep_state(run, own, u)

    return advance


def build_fixed_loop(step_all: Loop, layout: Layout) -> Loop:
    """Advance units by steps of one length, writing samples on the way."""
    size, sample_size, drift_at, lanes = layout.size, layout.sample_size, layout.drift, layout.lanes

    @loop
    def advance(run: FixedRun, first: int, last: int) -> None:
        _, length = run.buffer.shape
        blocks, stops = length // size, len(run.stop_k)
        copy = np.zeros(length)
        for u in range(first, last):
            unit = run.buffer[u]
            s = run.stop
            for now in range(run.k, run.k_end + 1):
                while s < stops and run.stop_k[s] == now:
                    sampled = unit
                    if run.stop_rest[s] > 0.0:
                        sampled = copy
                        for i in range(length):
                            copy[i] = unit[i]
                        step_all(sampled, run.pairs, run.t_start + now * run.h, run.stop_rest[s])
                    for block in range(blocks):
                        for i in range(sample_size):
                            run.out[s, u, block * sample_size + i] = sampled[block * size + i]
                        for i in range(lanes):
                            unit[block * size + drift_at + i] = 0.0
                    s += 1
                if now < run.k_end:
                    step_all(unit, run.pairs, run.t_start + now * run.h, run.h)

    return advance
