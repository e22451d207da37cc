"""Events inside a step: where a function of the state crosses zero.

The curve through a step shows each function at a few points; where its sign has changed, the instant is found with
steps of the method itself, from the same start and ever nearer to it, so that the state there is as exact as any other.
A function that crosses zero twice between two of those points is not noticed.

A unit has one clock here: a body alone, or all bodies of a system.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.engines.kernels import Layout, Loop, loop, read, unpack_constants, write
from polhode.methods.dense_output import evaluate_interpolant
from polhode.methods.runge_kutta import add_scaled, step_end
from polhode.model.force import map_leaves

POINTS = 8
"""In how many parts a step is looked through."""
AHEAD = 1 / 64
"""How far, in steps, the tangent is followed to see where a function is going."""
STOP, RECORD, CHANGE = 0.0, 1.0, 2.0
ACTION, DIRECTION, LIMIT, WITHIN, BODIES = 0, 1, 2, 3, 4
"""The columns of the rules, a row for each event; the last ones say for each body whether it is watched."""
UNKNOWN, HANDLED = 0.0, 2.0
"""Of a function's last side of zero, besides 1 and -1: not seen yet, or just brought to zero by an event."""
SIDE, SINCE, ZENO_COUNT = 0, 1, 2
"""The memory of an event and a body: its last side of zero, when it was last changed, and how often in a hurry."""
UNASKED, NOTED = -1.0, -2.0
"""In place of the instant of a crossing: nobody asked for it, or it was written down."""
LOG_HEADER = 4
"""Numbers before the state in the log: event, unit, body, time."""
UNIT_ROUNDOFF = 2.0**-52


@loop
def sign(x: float) -> float:
    """1, -1 or 0."""
    return 1.0 if x > 0.0 else (-1.0 if x < 0.0 else 0.0)


def build_event_evaluator(values: Loop, view: Loop, layout: Layout) -> Loop:
    """The numbers of all events for a body."""
    body, params = layout.body, layout.event_params

    @loop
    def evaluate_events(unit: Any, at: int, t: float, y: Any) -> Any:
        c = unpack_constants(read(unit, at, body))
        return values(t, view(y, c), c, read(unit, at, params))

    return evaluate_events


def build_event_sampler(evaluate_events: Loop, tidy: Loop, layout: Layout) -> Loop:
    """The numbers of all events at points of the step that was tried, of which the first is its start."""
    lanes, size, state, trial, places = layout.lanes, layout.size, layout.state, layout.trial, layout.curve
    clock, result = layout.clock, layout.attempt

    @loop
    def note(g: Any, j: int, b: int, values: Any) -> None:
        for e in range(len(values)):
            g[j, e, b] = values[e]

    @loop
    def sample(unit: Any, end: float, g: Any) -> None:
        t, tried = unit[clock[0]], unit[result[0]]
        for b in range(g.shape[2]):
            at = b // lanes * size + b % lanes
            y, new = read(unit, at, state), read(unit, at, trial)
            note(g, 0, b, evaluate_events(unit, at, t, y[:4]))
            for j in range(1, POINTS):
                between = evaluate_interpolant(y, j / POINTS, read(unit, at, places))
                note(g, j, b, evaluate_events(unit, at, t + j / POINTS * tried, tidy(between[:4], tried)[0]))
            note(g, POINTS, b, evaluate_events(unit, at, step_end(t, unit[clock[1]], end), tidy(new[:4], tried)[0]))

    return sample


def build_side_finder(evaluate_events: Loop, layout: Layout) -> Loop:
    """On which side of zero a function sets out: that of its value, or the one that it is going to."""
    lanes, size, state, places = layout.lanes, layout.size, layout.state, layout.curve
    clock, result = layout.clock, layout.attempt

    @loop
    def side_of(unit: Any, e: int, b: int, value: float, last: float) -> float:
        """An event that was just handled stands at zero but for rounding: there the value says nothing."""
        at = b // lanes * size + b % lanes
        t, tried = unit[clock[0]], unit[result[0]]
        y, curve = read(unit, at, state), read(unit, at, places)
        rise = add_scaled(curve[0], 1.0, curve[1])  # h y'
        ahead = evaluate_events(unit, at, t + AHEAD * tried, add_scaled(y, AHEAD, rise)[:4])
        behind = evaluate_events(unit, at, t - AHEAD * tried, add_scaled(y, -AHEAD, rise)[:4])
        going = (ahead[e] - behind[e]) / 2
        near = 0.0 if last == UNKNOWN else abs(going) / (8 * AHEAD)
        return sign(value) if abs(value) > near else sign(going)

    return side_of


def build_trial_evaluator(evaluate_events: Loop, tidy: Loop, attempt: Loop, layout: Layout) -> Loop:
    """The number of an event after a step of some length."""
    trial, clock = layout.trial, layout.clock

    @loop
    def after(unit: Any, pairs: Any, end: float, rtol: Any, atol: Any, e: int, at: int, tau: float) -> float:
        unit[clock[1]] = tau
        attempt(unit, pairs, end, rtol, atol)
        y = tidy(read(unit, at, trial)[:4], tau)[0]
        values = evaluate_events(unit, at, step_end(unit[clock[0]], tau, end), y)
        return float(values[e])

    return after


def build_root_finder(after: Loop) -> Loop:
    """Where a function crosses zero."""

    @loop
    def locate(
        unit: Any, pairs: Any, end: float, rtol: Any, atol: Any, e: int, at: int, side: float, tried: float, j: int,
        within: float,
    ) -> float:  # fmt: skip
        """The length of the step to the crossing in part j of a step; infinite if steps see none where the curve did.

        Regula falsi with the Illinois rule, and a bisection now and then.
        """
        low, high = tried * ((j - 1) / POINTS), tried * (j / POINTS)
        g_low, g_high = 0.0, after(unit, pairs, end, rtol, atol, e, at, high)
        if not side * g_high <= 0.0:
            return np.inf
        if low > 0.0:
            g_low = after(unit, pairs, end, rtol, atol, e, at, low)
            if side * g_low <= 0.0:  # it lies a little earlier than the curve said
                high, g_high = low, g_low
                low, g_low = max(low - tried / POINTS, 0.0), 0.0
        weight_low, weight_high, last = g_low, g_high, 0
        for i in range(200):
            least = max(within / 2, UNIT_ROUNDOFF * high)
            if g_high == 0.0 or high - low <= 2 * least:
                break
            middle = low + (high - low) / 2
            if side * weight_low > 0.0 and i % 6 != 5:
                middle = low + (high - low) * (weight_low / (weight_low - weight_high))
                middle = min(max(middle, low + least), high - least)
            if not (low < middle and middle < high):
                break
            g = after(unit, pairs, end, rtol, atol, e, at, middle)
            if side * g > 0.0:
                low, g_low, weight_low = middle, g, g
                weight_high = weight_high / 2 if last == 1 else weight_high
                last = 1
            else:
                high, g_high, weight_high = middle, g, g
                weight_low = weight_low / 2 if last == -1 else weight_low
                last = -1
        return low if side * g_low > 0.0 and abs(g_low) < abs(g_high) else high

    return locate


def build_event_recorder(after: Loop, tidy: Loop, layout: Layout) -> Loop:
    """Write down the state after a step of some length."""
    trial, clock, drift_at = layout.trial, layout.clock, layout.drift // layout.lanes
    numbers = map_leaves(lambda place: LOG_HEADER + place // layout.lanes, layout.state)

    @loop
    def record(
        unit: Any, pairs: Any, end: float, rtol: Any, atol: Any, u: int, e: int, b: int, at: int, tau: float, log: Any,
        found: Any,
    ) -> None:  # fmt: skip
        after(unit, pairs, end, rtol, atol, e, at, tau)
        new = read(unit, at, trial)
        renormalized, drift = tidy(new[:4], tau)
        row = log[found[0]]
        row[0], row[1], row[2], row[3] = e, u, b, step_end(unit[clock[0]], tau, end)
        write(row, 0, numbers, renormalized + new[4:])
        row[LOG_HEADER + drift_at] = drift
        found[0] += 1

    return record


def build_event_search(fit: Loop, attempt: Loop, evaluate_events: Loop, tidy: Loop, layout: Layout) -> Loop:
    """Look through a step about to be accepted: write down what is only recorded, and find what ends it."""
    lanes, size, clock, result = layout.lanes, layout.size, layout.clock, layout.attempt
    sample, side_of, after = (
        build_event_sampler(evaluate_events, tidy, layout),
        build_side_finder(evaluate_events, layout),
        build_trial_evaluator(evaluate_events, tidy, attempt, layout),
    )
    locate, record = build_root_finder(after), build_event_recorder(after, tidy, layout)

    @loop
    def search(
        unit: Any, pairs: Any, u: int, j: int, tried: float, end: float, rtol: Any, atol: Any, rules: Any, memory: Any,
        counts: Any, g: Any, roots: Any,
    ) -> bool:  # fmt: skip
        """The instants of all crossings in part j of a step; whether any had to be located."""
        any_located = False
        for e in range(g.shape[1]):
            for b in range(g.shape[2]):
                roots[e, b] = np.inf
                side, value = memory[u, e, b, SIDE], g[j, e, b]
                if rules[e, BODIES + b] == 0.0 or side == UNKNOWN or not side * value <= 0.0:
                    continue
                if counts[u, e] >= rules[e, LIMIT] or rules[e, DIRECTION] * side > 0.0:
                    roots[e, b] = UNASKED
                else:
                    at = b // lanes * size + b % lanes
                    roots[e, b] = locate(unit, pairs, end, rtol, atol, e, at, side, tried, j, rules[e, WITHIN])
                    any_located = True
        return any_located

    @loop
    def first_of(roots: Any) -> int:
        """The earliest instant, counted over events and bodies; -1 if there is none."""
        first, earliest = -1, np.inf
        for e in range(roots.shape[0]):
            for b in range(roots.shape[1]):
                if 0.0 < roots[e, b] < earliest:
                    first, earliest = e * roots.shape[1] + b, roots[e, b]
        return first

    @loop
    def search_step(
        unit: Any, pairs: Any, u: int, end: float, rtol: Any, atol: Any, rules: Any, memory: Any, counts: Any, log: Any,
        found: Any, g: Any, roots: Any,
    ) -> int:  # fmt: skip
        """The event, times the number of bodies, plus the body that ends the step, or -1."""
        h, tried, bodies = unit[clock[1]], unit[result[0]], g.shape[2]
        fit(unit, pairs)
        sample(unit, end, g)
        for e in range(g.shape[1]):
            for b in range(bodies):
                last = memory[u, e, b, SIDE]
                if last in (UNKNOWN, HANDLED):
                    memory[u, e, b, SIDE] = side_of(unit, e, b, g[0, e, b], last)
        ending, disturbed = -1, False
        for j in range(1, POINTS + 1):
            if search(unit, pairs, u, j, tried, end, rtol, atol, rules, memory, counts, g, roots):
                disturbed = True
            first = first_of(roots)
            while first >= 0:
                e, b = first // bodies, first % bodies
                left = rules[e, LIMIT] - counts[u, e]
                if left > 0.0 and (rules[e, ACTION] == CHANGE or (rules[e, ACTION] == STOP and left == 1.0)):
                    ending = first
                    break
                if left > 0.0:
                    at = b // lanes * size + b % lanes
                    record(unit, pairs, end, rtol, atol, u, e, b, at, roots[e, b], log, found)
                    counts[u, e] += 1
                roots[e, b] = NOTED
                first = first_of(roots)
            for e in range(g.shape[1]):  # where the step ends before its part does, the rest may come yet
                for b in range(bodies):
                    passed = roots[e, b] == UNASKED or memory[u, e, b, SIDE] == UNKNOWN
                    if roots[e, b] == NOTED or (passed and ending < 0):
                        memory[u, e, b, SIDE] = sign(g[j, e, b])
            if ending >= 0:
                break
        if disturbed and ending < 0:
            unit[clock[1]] = h
            attempt(unit, pairs, end, rtol, atol)
        return ending

    return search_step
