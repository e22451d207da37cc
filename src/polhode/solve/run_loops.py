"""How an exported program walks through a run: plain functions, which `write_loop` writes in its language."""

from __future__ import annotations

from typing import Any

from polhode.ir.targets.loop_source import In, Number, Out, Whole

program: Any = None
"""The sizes, tables and functions of the program that is written."""


def write(out: Out, row: Whole, unit: Whole, sample: In) -> None:
    """Write a sample: the time, then the numbers of each body."""
    at: Whole = (row * program.UNITS + unit) * (1 + program.SAMPLE_SIZE)
    out[at] = program.output_times[row]
    for i in range(program.SAMPLE_SIZE):
        out[at + 1 + i] = sample[i]


def clear_drift(state: Out) -> None:
    """The drift of the attitude is counted from the last sample on."""
    for body in range(program.BODIES):
        state[body * program.COLUMNS + program.COLUMNS - 1] = 0.0


def copy_state(to: Out, source: In) -> None:
    """Copy all but the drift."""
    for i in range(program.SAMPLE_SIZE):
        if i % program.COLUMNS != program.COLUMNS - 1:
            to[i] = source[i]


def load(unit: Whole, state: Out, parameters: Out) -> None:
    """The first numbers of a unit."""
    for i in range(program.STATE_SIZE):
        state[i] = program.initial_states[unit * program.STATE_SIZE + i]
    for i in range(program.PARAMETER_SIZE):
        parameters[i] = program.initial_parameters[unit * program.PARAMETER_SIZE + i]


def reread(out: In, row: Whole, unit: Whole, state: Out) -> None:
    """Read a sample that has been written."""
    at: Whole = (row * program.UNITS + unit) * (1 + program.SAMPLE_SIZE) + 1
    for i in range(program.SAMPLE_SIZE):
        state[i] = out[at + i]


def rewrite(out: Out, row: Whole, unit: Whole, state: In) -> None:
    """Write a sample again, all but the drift."""
    at: Whole = (row * program.UNITS + unit) * (1 + program.SAMPLE_SIZE) + 1
    for i in range(program.SAMPLE_SIZE):
        if i % program.COLUMNS != program.COLUMNS - 1:
            out[at + i] = state[i]


def apply_last_impulses(out: Out, unit: Whole, state: Out, parameters: In) -> None:
    """Impulses at the very end show in the last sample."""
    reread(out, program.OUTPUTS - 1, unit, state)
    program.impulses(program.SEGMENTS, state, parameters)
    rewrite(out, program.OUTPUTS - 1, unit, state)


COMMON = (write, clear_drift, copy_state, load, reread, rewrite, apply_last_impulses)


def locate(steps: Out, rests: Out) -> None:
    """Each stop as a number of whole steps from the start of its segment, and a rest."""
    place: Out = [0.0] * 2
    for segment in range(program.SEGMENTS):
        for s in range(int(program.segment_stops[segment]), int(program.segment_stops[segment + 1])):
            t: Number = program.segment_ends[segment]
            if program.stop_outputs[s] >= 0.0:
                t = program.output_times[int(program.stop_outputs[s])]
            program.place_on_grid(place, t, program.segment_starts[segment], program.STEP)
            steps[s] = place[0]
            rests[s] = place[1]


def run_fixed(unit: Whole, out: Out) -> None:
    """The whole run of a unit: an output off the grid of steps is reached by a shorter step on a copy."""
    state: Out = [0.0] * program.STATE_SIZE
    copy: Out = [0.0] * program.STATE_SIZE
    parameters: Out = [0.0] * program.PARAMETER_SIZE
    load(unit, state, parameters)
    for segment in range(program.SEGMENTS):
        program.impulses(segment, state, parameters)
        program.windows(segment, parameters)
        start: Number = program.segment_starts[segment]
        k: Whole = 0
        for s in range(int(program.segment_stops[segment]), int(program.segment_stops[segment + 1])):
            while k < int(program.stop_steps[s]):
                program.step(state, parameters, start + float(k) * program.STEP, program.STEP)
                k += 1
            for i in range(program.STATE_SIZE):
                copy[i] = state[i]
            rest: Number = program.stop_rests[s]
            if rest > 0.0:
                program.step(copy, parameters, start + float(k) * program.STEP, rest)
            if program.stop_outputs[s] >= 0.0:
                write(out, int(program.stop_outputs[s]), unit, copy)
            else:
                copy_state(state, copy)
            clear_drift(state)
    apply_last_impulses(out, unit, state, parameters)


def run_closed_form(unit: Whole, out: Out) -> None:
    """The whole run of a unit: each sample straight from the last impulse."""
    state: Out = [0.0] * program.STATE_SIZE
    sample: Out = [0.0] * program.SAMPLE_SIZE
    parameters: Out = [0.0] * program.PARAMETER_SIZE
    origin: Number = program.START
    load(unit, state, parameters)
    for segment in range(program.SEGMENTS):
        if program.segment_has_impulses[segment] > 0.0:
            program.state_at(sample, state, parameters, origin, program.segment_starts[segment] - origin)
            copy_state(state, sample)
            program.impulses(segment, state, parameters)
            origin = program.segment_starts[segment]
        for s in range(int(program.segment_stops[segment]), int(program.segment_stops[segment + 1])):
            program.state_at(sample, state, parameters, origin, program.output_times[s] - origin)
            write(out, s, unit, sample)
    if program.segment_has_impulses[program.SEGMENTS] > 0.0:
        reread(out, program.OUTPUTS - 1, unit, state)
        program.impulses(program.SEGMENTS, state, parameters)
        program.state_at(sample, state, parameters, program.output_times[program.OUTPUTS - 1], 0.0)
        rewrite(out, program.OUTPUTS - 1, unit, sample)


def attempt(state: Out, parameters: In, work: Out, start: Number, end: Number) -> None:
    """One attempt at a step, at most to time end (from start on, in s); the clock in the state tells its result."""
    program.try_(state, parameters, work, start, end)
    program.finish(state, work, end)


def advance(
    unit: Whole,
    state: Out,
    parameters: In,
    work: Out,
    end: Number,
    first: Whole,
    last: Whole,
    through: Number,
    out: Out,
) -> None:
    """Advance to time `end`, from the start of the run on; write the outputs from `first` to below `last`."""
    sample: Out = [0.0] * program.SAMPLE_SIZE
    s: Whole = first
    while True:
        while s < last and program.output_times[s] - program.START <= state[program.TIME]:
            write(out, s, unit, state)
            clear_drift(state)
            s += 1
        if not (state[program.STEP_SIZE] > 0.0 and (s < last or (through > 0.0 and state[program.TIME] < end))):
            return
        program.try_(state, parameters, work, program.START, end)
        if program.HAS_DENSE_OUTPUT:
            t: Number = state[program.TIME]
            reached: Number = t + state[program.STEP_SIZE] if state[program.STEP_SIZE] < end - t else end
            if work[program.STEP_ERROR] <= 1.0 and s < last and program.output_times[s] - program.START < reached:
                program.fit(state, parameters, work, program.START)
                while s < last and program.output_times[s] - program.START < reached:
                    theta: Number = (program.output_times[s] - program.START - t) / work[program.STEP_TRIED]
                    program.inside(sample, state, work, theta)
                    write(out, s, unit, sample)
                    s += 1
        program.finish(state, work, end)


def run_adaptive(unit: Whole, out: Out) -> None:
    """The whole run of a unit.  Samples that are not reached, since the step has shrunk to zero, are NaN."""
    state: Out = [0.0] * program.STATE_SIZE
    parameters: Out = [0.0] * program.PARAMETER_SIZE
    work: Out = [0.0] * program.WORK_SIZE
    load(unit, state, parameters)
    for s in range(program.OUTPUTS):
        at: Whole = (s * program.UNITS + unit) * (1 + program.SAMPLE_SIZE) + 1
        for i in range(program.SAMPLE_SIZE):
            out[at + i] = program.NOT_REACHED
    for segment in range(program.SEGMENTS):
        program.impulses(segment, state, parameters)
        program.windows(segment, parameters)
        end: Number = program.segment_ends[segment] - program.START
        first: Whole = int(program.segment_stops[segment])
        last: Whole = int(program.segment_stops[segment + 1])
        advance(unit, state, parameters, work, end, first, last, program.segment_through[segment], out)
    apply_last_impulses(out, unit, state, parameters)
