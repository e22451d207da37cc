"""The driver loops of adaptive runs: step to the end of a segment, writing samples on the way.

Samples come from dense output, so they change no step.  A lane whose body has arrived takes the next body, so that no
lane waits for another.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.engines.kernels import Layout, Loop, loop, read, write
from polhode.equations.law import Groups
from polhode.equations.scalar_ops import larger
from polhode.methods.dense_output import evaluate_interpolant
from polhode.methods.runge_kutta import step_end


# Output --------------------------------------------------------------------------------------------------------------
def build_checkpoint_writer(layout: Layout) -> Loop:
    """Save the start of a step and its clock as a checkpoint, from which the run can resume."""
    size, sample_size, clock = layout.size, layout.sample_size, layout.clock

    @loop
    def save_checkpoint(unit: Any, u: int, s: int, checkpoints: Any) -> None:
        """Only for units with one clock; does nothing if `checkpoints` is empty."""
        if s < len(checkpoints):
            blocks = len(unit) // size
            for block in range(blocks):
                for i in range(sample_size):
                    checkpoints[s, u, block * sample_size + i] = unit[block * size + i]
            for i in range(3):
                checkpoints[s, u, blocks * sample_size + i] = unit[clock[i]]

    return save_checkpoint


def build_sample_writer(save_checkpoint: Loop, layout: Layout, shared: bool) -> Loop:
    """Write the samples that are due; return True while integration must continue."""
    lanes, size, sample_size, drift_at, clock = (
        layout.lanes,
        layout.size,
        layout.sample_size,
        layout.drift,
        layout.clock,
    )
    numbers = sample_size // lanes

    @loop
    def write_samples(
        unit: Any,
        c: int,
        u: int,
        lane: int,
        done: Any,
        stops: Any,
        end: float,
        through: bool,
        out: Any,
        checkpoints: Any,
    ) -> bool:
        """Clock c of `unit` is that of body `lane` of unit u; done[u, lane] counts its outputs.

        With `through` the integration continues to `end` even after the last output.
        """
        bodies = len(unit) // size * lanes if shared else 1
        t, s = unit[clock[0] + c], done[u, lane]
        while s < len(stops) and stops[s] <= t:
            save_checkpoint(unit, u, s, checkpoints)
            for b in range(bodies):
                at, to = c + b // lanes * size + b % lanes, lane + b // lanes * sample_size + b % lanes
                for i in range(numbers):
                    out[s, u, to + i * lanes] = unit[at + i * lanes]
                unit[drift_at + at] = 0.0
            s += 1
        done[u, lane] = s
        return unit[clock[1] + c] > 0.0 and (s < len(stops) or (through and t < end))

    return write_samples


def build_dense_sample_writer(
    renormalize: Loop, fit_interpolant: Loop, save_checkpoint: Loop, layout: Layout, shared: bool
) -> Loop:
    """Write the samples inside steps that are about to be accepted, by dense output, renormalized."""
    lanes, size, sample_size, drift_at, clock = (
        layout.lanes,
        layout.size,
        layout.sample_size,
        layout.drift,
        layout.clock,
    )
    state, places, result = layout.state, layout.curve, layout.attempt

    @loop
    def is_inside(unit: Any, c: int, s: int, stops: Any, end: float) -> bool:
        if s >= len(stops) or unit[result[1] + c] > 1.0:
            return False
        return bool(stops[s] < step_end(unit[clock[0] + c], unit[clock[1] + c], end))

    @loop
    def write_point(unit: Any, at: int, theta: float, h: float, row: Any, to: int) -> None:
        y = evaluate_interpolant(read(unit, at, state), theta, read(unit, at, places))
        renormalized, drift = renormalize(y[:4], h)
        write(row, to, state, renormalized + y[4:])
        row[drift_at + to] = larger(unit[drift_at + at], drift)
        unit[drift_at + at] = 0.0

    @loop
    def write_dense_samples(
        unit: Any, pairs: Any, units: Any, places: Any, done: Any, stops: Any, end: float, out: Any, checkpoints: Any
    ) -> None:
        """units and places: the body that each clock belongs to."""
        wanted = False
        for c in range(len(units)):
            if is_inside(unit, c, done[units[c], places[c]], stops, end):
                wanted = True
        if not wanted:
            return
        fit_interpolant(unit, pairs)
        bodies = len(unit) // size * lanes if shared else 1
        for c in range(len(units)):
            u, lane = units[c], places[c]
            while is_inside(unit, c, done[u, lane], stops, end):
                s, tried = done[u, lane], unit[result[0] + c]
                theta = (stops[s] - unit[clock[0] + c]) / tried
                save_checkpoint(unit, u, s, checkpoints)
                for b in range(bodies):
                    at, to = c + b // lanes * size + b % lanes, lane + b // lanes * sample_size + b % lanes
                    write_point(unit, at, theta, tried, out[s, u], to)
                done[u, lane] = s + 1

    return write_dense_samples


@loop
def no_dense_samples(
    unit: Any, pairs: Any, units: Any, places: Any, done: Any, stops: Any, end: float, out: Any, checkpoints: Any
) -> None:
    """Outputs only at the ends of segments: nothing to write inside a step."""


# Outer loops --------------------------------------------------------------------------------------------------------
def unit_loop(attempt: Loop, write_samples: Loop, write_dense_samples: Loop, finish_step: Loop, tag: str) -> Loop:
    """Advance units with one clock each: a body alone, or a system."""

    def advance_units(
        buffer: Any,
        pairs: Any,
        first: int,
        last: int,
        done: Any,
        stops: Any,
        end: float,
        through: bool,
        rtol: Groups,
        atol: Groups,
        budget: int,
        out: Any,
        checkpoints: Any,
    ) -> None:
        """Make at most `budget` attempts for each unit; the next call continues where this one stops."""
        _ = tag
        units, lanes = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
        for u in range(first, last):
            unit, left = buffer[u], budget
            units[0] = u
            while write_samples(unit, 0, u, 0, done, stops, end, through, out, checkpoints) and left > 0:
                attempt(unit, pairs, end, rtol, atol)
                write_dense_samples(unit, pairs, units, lanes, done, stops, end, out, checkpoints)
                finish_step(unit, end)
                left -= 1

    return advance_units


def lane_loop(
    attempt: Loop, write_samples: Loop, write_dense_samples: Loop, finish_step: Loop, layout: Layout, tag: str
) -> Loop:
    """Advance bodies in the lanes of one block; a lane whose body has arrived takes the next."""
    lanes, size, carried, h_at = layout.lanes, layout.size, layout.carried, layout.clock[1]

    def advance_units(
        buffer: Any,
        pairs: Any,
        first: int,
        last: int,
        done: Any,
        stops: Any,
        end: float,
        through: bool,
        rtol: Groups,
        atol: Groups,
        budget: int,
        out: Any,
        checkpoints: Any,
    ) -> None:
        """Make about `budget` attempts for each body; the next call continues where this one stops."""
        _ = tag
        block, units, places = np.zeros(size), np.zeros(lanes, dtype=np.int64), np.zeros(lanes, dtype=np.int64)
        upcoming, final, left = first * lanes, last * lanes, budget * (last - first)
        busy = np.zeros(lanes, dtype=np.bool_)
        count = 1
        while count > 0:
            count = 0
            for c in range(lanes):
                while True:
                    if busy[c]:
                        must_continue = write_samples(
                            block, c, units[c], places[c], done, stops, end, through, out, checkpoints
                        )
                        if must_continue and left > 0:
                            count += 1
                            break
                        for i in range(c, carried, lanes):
                            buffer[units[c], i - c + places[c]] = block[i]
                        busy[c] = False
                    if upcoming == final or left <= 0:
                        block[h_at + c] = 0.0  # an empty lane tries steps of zero length
                        break
                    units[c], places[c], busy[c] = upcoming // lanes, upcoming % lanes, True
                    for i in range(c, carried, lanes):
                        block[i] = buffer[units[c], i - c + places[c]]
                    upcoming += 1
            if count > 0:
                attempt(block, pairs, end, rtol, atol)
                write_dense_samples(block, pairs, units, places, done, stops, end, out, checkpoints)
                finish_step(block, end)
                left -= 1

    return advance_units
