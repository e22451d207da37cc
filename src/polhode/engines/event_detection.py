"""Event detection inside a step: zero crossings of functions of the state.

Dense output samples each function at a few points of the step; where its sign changes, the root is located with steps
of the method itself from the same start, so that the state there is as accurate as any other.  A function that crosses
zero twice between two of those points is missed.

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
"""The number of subintervals of a step that are searched for a sign change."""
AHEAD = 1 / 64
"""The distance, as a fraction of the step, of the finite difference for the slope of a function."""
STOP, RECORD, CHANGE = 0.0, 1.0, 2.0
ACTION, DIRECTION, LIMIT, WITHIN, BODIES = 0, 1, 2, 3, 4
"""The columns of the rules, a row for each event; the last ones are 1 for the bodies to which it applies."""
UNKNOWN, HANDLED = 0.0, 2.0
"""Values of SIDE besides 1 and -1: not evaluated yet, or at zero because the event was just handled."""
SIDE, SINCE, ZENO_COUNT = 0, 1, 2
"""The memory of an event and a body: the last sign of the function, the time of the last change, the Zeno count."""
IGNORED, LOGGED = -1.0, -2.0
"""In place of the time of a crossing: it does not count, or it was logged."""
LOG_HEADER = 4
"""Columns before the state in the log: event, unit, body, time."""
UNIT_ROUNDOFF = 2.0**-52


@loop
def sign(x: float) -> float:
    """1, -1 or 0."""
    return 1.0 if x > 0.0 else (-1.0 if x < 0.0 else 0.0)


def build_event_evaluator(values: Loop, view: Loop, layout: Layout) -> Loop:
    """The values of all event functions for a body."""
    body, params = layout.body, layout.event_params

    @loop
    def evaluate_events(unit: Any, at: int, t: float, y: Any) -> Any:
        c = unpack_constants(read(unit, at, body))
        return values(t, view(y, c), c, read(unit, at, params))

    return evaluate_events


def build_event_sampler(evaluate_events: Loop, renormalize: Loop, layout: Layout) -> Loop:
    """The values of all event functions at points of the step that was tried, from its start to its end."""
    lanes, size, state, trial, places = layout.lanes, layout.size, layout.state, layout.trial, layout.curve
    clock, result = layout.clock, layout.attempt

    @loop
    def store_values(g: Any, j: int, b: int, values: Any) -> None:
        for e in range(len(values)):
            g[j, e, b] = values[e]

    @loop
    def sample(unit: Any, end: float, g: Any) -> None:
        t, tried = unit[clock[0]], unit[result[0]]
        for b in range(g.shape[2]):
            at = b // lanes * size + b % lanes
            y, new = read(unit, at, state), read(unit, at, trial)
            store_values(g, 0, b, evaluate_events(unit, at, t, y[:4]))
            for j in range(1, POINTS):
                between = evaluate_interpolant(y, j / POINTS, read(unit, at, places))
                store_values(
                    g, j, b, evaluate_events(unit, at, t + j / POINTS * tried, renormalize(between[:4], tried)[0])
                )
            store_values(
                g,
                POINTS,
                b,
                evaluate_events(unit, at, step_end(t, unit[clock[1]], end), renormalize(new[:4], tried)[0]),
            )

    return sample


def build_side_finder(evaluate_events: Loop, layout: Layout) -> Loop:
    """The side of zero on which a function starts: the sign of its value, or of its slope if the value is near zero."""
    lanes, size, state, places = layout.lanes, layout.size, layout.state, layout.curve
    clock, result = layout.clock, layout.attempt

    @loop
    def side_of(unit: Any, e: int, b: int, value: float, last: float) -> float:
        """After an event was handled its function is zero up to rounding: then the slope decides."""
        at = b // lanes * size + b % lanes
        t, tried = unit[clock[0]], unit[result[0]]
        y, curve = read(unit, at, state), read(unit, at, places)
        rise = add_scaled(curve[0], 1.0, curve[1])  # h y'
        ahead = evaluate_events(unit, at, t + AHEAD * tried, add_scaled(y, AHEAD, rise)[:4])
        behind = evaluate_events(unit, at, t - AHEAD * tried, add_scaled(y, -AHEAD, rise)[:4])
        slope = (ahead[e] - behind[e]) / 2
        near = 0.0 if last == UNKNOWN else abs(slope) / (8 * AHEAD)
        return sign(value) if abs(value) > near else sign(slope)

    return side_of


def build_trial_evaluator(evaluate_events: Loop, renormalize: Loop, attempt: Loop, layout: Layout) -> Loop:
    """The value of an event function after a step of length tau."""
    trial, clock = layout.trial, layout.clock

    @loop
    def value_after_step(unit: Any, pairs: Any, end: float, rtol: Any, atol: Any, e: int, at: int, tau: float) -> float:
        unit[clock[1]] = tau
        attempt(unit, pairs, end, rtol, atol)
        y = renormalize(read(unit, at, trial)[:4], tau)[0]
        values = evaluate_events(unit, at, step_end(unit[clock[0]], tau, end), y)
        return float(values[e])

    return value_after_step


def build_root_finder(value_after_step: Loop) -> Loop:
    """The root of an event function, by steps of the method."""

    @loop
    def locate(
        unit: Any, pairs: Any, end: float, rtol: Any, atol: Any, e: int, at: int, side: float, tried: float, j: int,
        within: float,
    ) -> float:  # fmt: skip
        """The step length to the root in subinterval j; infinite if steps find none where the interpolant did.

        Regula falsi with the Illinois rule, and every sixth iteration a bisection.
        """
        low, high = tried * ((j - 1) / POINTS), tried * (j / POINTS)
        g_low, g_high = 0.0, value_after_step(unit, pairs, end, rtol, atol, e, at, high)
        if not side * g_high <= 0.0:
            return np.inf
        if low > 0.0:
            g_low = value_after_step(unit, pairs, end, rtol, atol, e, at, low)
            if side * g_low <= 0.0:  # slightly earlier than the interpolant suggested
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
            g = value_after_step(unit, pairs, end, rtol, atol, e, at, middle)
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


def build_event_recorder(value_after_step: Loop, renormalize: Loop, layout: Layout) -> Loop:
    """Log the state after a step of length tau."""
    trial, clock, drift_at = layout.trial, layout.clock, layout.drift // layout.lanes
    numbers = map_leaves(lambda place: LOG_HEADER + place // layout.lanes, layout.state)

    @loop
    def record(
        unit: Any, pairs: Any, end: float, rtol: Any, atol: Any, u: int, e: int, b: int, at: int, tau: float, log: Any,
        found: Any,
    ) -> None:  # fmt: skip
        value_after_step(unit, pairs, end, rtol, atol, e, at, tau)
        new = read(unit, at, trial)
        renormalized, drift = renormalize(new[:4], tau)
        row = log[found[0]]
        row[0], row[1], row[2], row[3] = e, u, b, step_end(unit[clock[0]], tau, end)
        write(row, 0, numbers, renormalized + new[4:])
        row[LOG_HEADER + drift_at] = drift
        found[0] += 1

    return record


def build_event_search(
    fit_interpolant: Loop, attempt: Loop, evaluate_events: Loop, renormalize: Loop, layout: Layout
) -> Loop:
    """Search a step that is about to be accepted: log events that are only recorded, find the one that ends it."""
    lanes, size, clock, result = layout.lanes, layout.size, layout.clock, layout.attempt
    sample, side_of, value_after_step = (
        build_event_sampler(evaluate_events, renormalize, layout),
        build_side_finder(evaluate_events, layout),
        build_trial_evaluator(evaluate_events, renormalize, attempt, layout),
    )
    locate, record = build_root_finder(value_after_step), build_event_recorder(value_after_step, renormalize, layout)

    @loop
    def search(
        unit: Any, pairs: Any, u: int, j: int, tried: float, end: float, rtol: Any, atol: Any, rules: Any, memory: Any,
        counts: Any, g: Any, roots: Any,
    ) -> bool:  # fmt: skip
        """Find the roots of all functions in subinterval j; return whether any had to be located."""
        any_located = False
        for e in range(g.shape[1]):
            for b in range(g.shape[2]):
                roots[e, b] = np.inf
                side, value = memory[u, e, b, SIDE], g[j, e, b]
                if rules[e, BODIES + b] == 0.0 or side == UNKNOWN or not side * value <= 0.0:
                    continue
                if counts[u, e] >= rules[e, LIMIT] or rules[e, DIRECTION] * side > 0.0:
                    roots[e, b] = IGNORED
                else:
                    at = b // lanes * size + b % lanes
                    roots[e, b] = locate(unit, pairs, end, rtol, atol, e, at, side, tried, j, rules[e, WITHIN])
                    any_located = True
        return any_located

    @loop
    def first_of(roots: Any) -> int:
        """The flat index (event, body) of the earliest root; -1 if there is none."""
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
        """The flat index (event, body) of the event that ends the step, or -1."""
        h, tried, bodies = unit[clock[1]], unit[result[0]], g.shape[2]
        fit_interpolant(unit, pairs)
        sample(unit, end, g)
        for e in range(g.shape[1]):
            for b in range(bodies):
                last = memory[u, e, b, SIDE]
                if last in (UNKNOWN, HANDLED):
                    memory[u, e, b, SIDE] = side_of(unit, e, b, g[0, e, b], last)
        ending, must_retry = -1, False
        for j in range(1, POINTS + 1):
            if search(unit, pairs, u, j, tried, end, rtol, atol, rules, memory, counts, g, roots):
                must_retry = True
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
                roots[e, b] = LOGGED
                first = first_of(roots)
            for e in range(g.shape[1]):  # if the step ends inside this subinterval, later crossings are still to come
                for b in range(bodies):
                    passed = roots[e, b] == IGNORED or memory[u, e, b, SIDE] == UNKNOWN
                    if roots[e, b] == LOGGED or (passed and ending < 0):
                        memory[u, e, b, SIDE] = sign(g[j, e, b])
            if ending >= 0:
                break
        if must_retry and ending < 0:
            unit[clock[1]] = h
            attempt(unit, pairs, end, rtol, atol)
        return ending

    return search_step
