"""Actions at events: stop the run or change the momenta of a body; and the outer loop of runs with events."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.engines.event_detection import ACTION, HANDLED, LOG_HEADER, POINTS, SIDE, SINCE, STOP, ZENO_COUNT, sign
from polhode.engines.kernels import Layout, Loop, loop, read, unpack_constants, write
from polhode.equations.law import Groups

ZENO_INTERVAL = 1e-10
"""As a fraction of the duration: two changes by one event within this interval are suspected to accumulate (Zeno)."""
ZENO_LIMIT = 3
"""This many such changes in a row would go on forever: the run is halted."""
STOPPED, ENDLESS = 1, 2
"""Why a unit was halted."""


def build_event_action(evaluate_events: Loop, view: Loop, jumps: Loop, apply_impulse: Loop, layout: Layout) -> Loop:
    """After a step that was cut short at an event: log it, then stop or apply the jump of the momenta."""
    lanes, size, state, body = layout.lanes, layout.size, layout.state, layout.body
    clock, params, numbers = layout.clock, layout.event_params, layout.sample_size // layout.lanes

    @loop
    def log_event(unit: Any, u: int, e: int, b: int, log: Any, found: Any) -> None:
        at, row = b // lanes * size + b % lanes, log[found[0]]
        row[0], row[1], row[2], row[3] = e, u, b, unit[clock[0]]
        for i in range(numbers):
            row[LOG_HEADER + i] = unit[at + i * lanes]
        found[0] += 1

    @loop
    def act_on_event(
        unit: Any, u: int, e: int, b: int, h: float, shortest: float, rules: Any, memory: Any, counts: Any, halted: Any,
        log: Any, found: Any,
    ) -> None:  # fmt: skip
        log_event(unit, u, e, b, log, found)
        counts[u, e] += 1
        unit[clock[1]], unit[clock[2]] = h, 0.0
        if rules[e, ACTION] == STOP:
            unit[clock[1]], halted[u] = 0.0, STOPPED
            return
        at, t = b // lanes * size + b % lanes, unit[clock[0]]
        y, c, p = read(unit, at, state), unpack_constants(read(unit, at, body)), read(unit, at, params)
        before = evaluate_events(unit, at, t, y[:4])
        jump, turn = jumps(e, t, view(y[:4], c), c, p)
        y = apply_impulse(y, c, jump, turn)
        write(unit, at, state, y)
        behind = evaluate_events(unit, at, t, y[:4])
        for i in range(len(before)):  # a discontinuous sign change does not trigger an event
            if i == e:
                memory[u, i, b, SIDE] = HANDLED
            elif before[i] * behind[i] < 0.0:
                memory[u, i, b, SIDE] = sign(behind[i])
        zeno_count = memory[u, e, b, ZENO_COUNT] + 1.0 if t - memory[u, e, b, SINCE] < shortest else 0.0
        memory[u, e, b, ZENO_COUNT], memory[u, e, b, SINCE] = zeno_count, t
        if zeno_count >= ZENO_LIMIT:
            unit[clock[1]], halted[u] = 0.0, ENDLESS

    return act_on_event


def event_unit_loop(
    attempt: Loop, write_samples: Loop, write_dense_samples: Loop, finish_step: Loop, search_step: Loop,
    act_on_event: Loop, layout: Layout, tag: str,
) -> Loop:  # fmt: skip
    """Advance units with one clock each, detecting events in every step."""
    clock, result = layout.clock, layout.attempt

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
        rules: Any,
        memory: Any,
        counts: Any,
        halted: Any,
        shortest: float,
        log: Any,
        found: Any,
    ) -> None:
        """Make at most `budget` attempts for each unit, and none if its events might not fit into the log."""
        _ = tag
        units, lanes = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
        events, bodies = memory.shape[1], memory.shape[2]
        g, roots = np.zeros((POINTS + 1, events, bodies)), np.zeros((events, bodies))
        most = len(log) - (POINTS + 1) * events * bodies
        for u in range(first, last):
            unit, left = buffer[u], budget
            units[0] = u
            while (
                write_samples(unit, 0, u, 0, done, stops, end, through, out, checkpoints)
                and left > 0
                and found[0] <= most
            ):
                attempt(unit, pairs, end, rtol, atol)
                h, ending = unit[clock[1]], -1
                if unit[result[1]] <= 1.0:
                    ending = search_step(unit, pairs, u, end, rtol, atol, rules, memory, counts, log, found, g, roots)
                e, b = ending // bodies, ending % bodies
                if ending >= 0:
                    unit[clock[1]] = roots[e, b]
                    attempt(unit, pairs, end, rtol, atol)
                    unit[result[1]] = min(unit[result[1]], 1.0)
                write_dense_samples(unit, pairs, units, lanes, done, stops, end, out, checkpoints)
                finish_step(unit, end)
                if ending >= 0:
                    act_on_event(unit, u, e, b, h, shortest, rules, memory, counts, halted, log, found)
                left -= 1

    return advance_units
