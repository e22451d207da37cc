"""What happens at an event: the run stops, or the momenta of a body jump.  And the outermost loop of such runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.engines.event_detection import ACTION, HANDLED, HEAD, HURRY, POINTS, SIDE, SINCE, STOP, sign
from polhode.engines.kernels import Layout, Loop, constants, loop, read, write
from polhode.equations.law import Groups

MOST_HURRIED = 3
"""A change that follows itself so often at once would go on for ever."""
STOPPED, ENDLESS = 1, 2
"""Why a unit was halted."""


def happening(look: Loop, view: Loop, jumps: Loop, struck: Loop, layout: Layout) -> Loop:
    """The step has been cut at an event: write it down, and stop or let the momenta jump."""
    lanes, size, state, body = layout.lanes, layout.size, layout.state, layout.body
    clock, params, numbers = layout.clock, layout.watched, layout.kept // layout.lanes

    @loop
    def note(unit: Any, u: int, e: int, b: int, log: Any, found: Any) -> None:
        at, row = b // lanes * size + b % lanes, log[found[0]]
        row[0], row[1], row[2], row[3] = e, u, b, unit[clock[0]]
        for i in range(numbers):
            row[HEAD + i] = unit[at + i * lanes]
        found[0] += 1

    @loop
    def happen(
        unit: Any, u: int, e: int, b: int, h: float, shortest: float, rules: Any, memory: Any, counts: Any, halted: Any,
        log: Any, found: Any,
    ) -> None:  # fmt: skip
        note(unit, u, e, b, log, found)
        counts[u, e] += 1
        unit[clock[1]], unit[clock[2]] = h, 0.0
        if rules[e, ACTION] == STOP:
            unit[clock[1]], halted[u] = 0.0, STOPPED
            return
        at, t = b // lanes * size + b % lanes, unit[clock[0]]
        y, c, p = read(unit, at, state), constants(read(unit, at, body)), read(unit, at, params)
        before = look(unit, at, t, y[:4])
        jump, turn = jumps(e, t, view(y[:4], c), c, p)
        y = struck(y, c, jump, turn)
        write(unit, at, state, y)
        behind = look(unit, at, t, y[:4])
        for i in range(len(before)):  # a jump across zero is no crossing
            if i == e:
                memory[u, i, b, SIDE] = HANDLED
            elif before[i] * behind[i] < 0.0:
                memory[u, i, b, SIDE] = sign(behind[i])
        hurried = memory[u, e, b, HURRY] + 1.0 if t - memory[u, e, b, SINCE] < shortest else 0.0
        memory[u, e, b, HURRY], memory[u, e, b, SINCE] = hurried, t
        if hurried >= MOST_HURRIED:
            unit[clock[1]], halted[u] = 0.0, ENDLESS

    return happen


def unit_by_unit(
    attempt: Loop, show: Loop, show_inside: Loop, settle: Loop, look_through: Loop, happen: Loop, layout: Layout,
    tag: str,
) -> Loop:  # fmt: skip
    """Advance units with one clock each, looking for events in every step."""
    clock, result = layout.clock, layout.attempt

    def pursue(
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
        marks: Any,
        rules: Any,
        memory: Any,
        counts: Any,
        halted: Any,
        shortest: float,
        log: Any,
        found: Any,
    ) -> None:
        """At most `budget` attempts are made for each unit, and none if its events might not fit into the log."""
        _ = tag
        units, lanes = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
        events, bodies = memory.shape[1], memory.shape[2]
        g, roots = np.zeros((POINTS + 1, events, bodies)), np.zeros((events, bodies))
        most = len(log) - (POINTS + 1) * events * bodies
        for u in range(first, last):
            unit, left = buffer[u], budget
            units[0] = u
            while show(unit, 0, u, 0, done, stops, end, through, out, marks) and left > 0 and found[0] <= most:
                attempt(unit, pairs, end, rtol, atol)
                h, ending = unit[clock[1]], -1
                if unit[result[1]] <= 1.0:
                    ending = look_through(unit, pairs, u, end, rtol, atol, rules, memory, counts, log, found, g, roots)
                e, b = ending // bodies, ending % bodies
                if ending >= 0:
                    unit[clock[1]] = roots[e, b]
                    attempt(unit, pairs, end, rtol, atol)
                    unit[result[1]] = min(unit[result[1]], 1.0)
                show_inside(unit, pairs, units, lanes, done, stops, end, out, marks)
                settle(unit, end)
                if ending >= 0:
                    happen(unit, u, e, b, h, shortest, rules, memory, counts, halted, log, found)
                left -= 1

    return pursue
