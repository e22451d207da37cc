"""Steps that are tried before they are accepted: with step-size control, or of one length where events are watched.

Every body of a block has its own clock, and all lanes try a step in lockstep.  The bodies of a system share one clock,
that of its first body.  An interpolant gives the states inside a step.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from polhode.equations.law import Groups
from polhode.equations.scalar_ops import absolute, if_less, larger
from polhode.integrate.loops.fixed_steps import build_acceptance
from polhode.integrate.loops.layout import GridClock, Layout, first_place, read, read_constants, write
from polhode.integrate.loops.stages import StageLoops, padded
from polhode.ir.loops import Loop, Sweep, loop
from polhode.methods.dense_output import build_interpolant, dense_stages, interpolant_coefficients
from polhode.methods.runge_kutta import (
    add_scaled_group,
    combine_stages,
    comparable_error,
    convert_row,
    evaluate_stages,
    next_clock,
    select_groups,
    state_error,
    step_end,
    step_error,
    step_to_try,
    tableau_stages,
)
from polhode.methods.tableaus import Tableau


class Attempts(NamedTuple):
    """What the loop with clocks needs of a method."""

    attempt: Loop
    """(run, unit): try a step on every body; its result, length and error."""
    fit: Loop
    """(run, unit): the interpolants of the steps that were tried."""
    finish: Loop
    """(run, unit): accept or reject the step of every body."""


# Step-size control, bodies with their own clocks ----------------------------------------------------------------------
def lane_attempts(rate: Loop, renormalize: Loop, tableau: Tableau, layout: Layout) -> Attempts:
    """The attempts of independent bodies."""
    state, params, trial, drift_at = layout.state, layout.params, layout.trial, layout.drift
    clock, result, slopes, least = layout.clock, layout.attempt, layout.slopes, layout.least
    stages = tableau_stages(tableau)
    control = tableau.control
    assert control is not None
    error_rows = tuple(convert_row(row, float) for row in control.error_rows)
    used = dense_stages(tableau).used if slopes else ()
    slopes = slopes[: len(used)]
    interpolant = build_interpolant(tableau, rate)

    def try_one(unit: Any, at: Any, start: Any, end: Any, rtol: Groups, user_atol: Groups) -> None:
        t, h = unit[clock.t + at], unit[clock.h + at]
        tried = step_to_try(t, h, end)
        y = read(unit, at, state)
        data = (read_constants(unit, at, layout), read(unit, at, params))
        k, new = evaluate_stages(rate, stages, start + t, y, tried, data, (), y)
        first, *_ = k
        zero_state = combine_stages(y, -1.0, (1.0,), (1.0,), (y,))
        atol = add_scaled_group(user_atol, 1.0, read(unit, at, least))
        errors = tuple(
            state_error(y, new, first, tried, combine_stages(zero_state, tried, row, row, k), rtol, atol)
            for row in error_rows
        )
        write(unit, at, trial, new)
        write(unit, at, slopes, tuple(k[i] for i in used))
        write(unit, at, result, (tried, comparable_error(step_error(errors), tried)))

    def finish_one(unit: Any, at: Any, end: Any) -> None:
        tried, error = read(unit, at, result)
        new, largest = read(unit, at, trial), unit[drift_at + at]
        renormalized, drift = renormalize(new[:4], tried)
        write(unit, at, state, select_groups(1.0, error, read(unit, at, state), renormalized + new[4:]))
        unit[drift_at + at] = if_less(1.0, error, largest, larger(largest, drift))
        write(unit, at, clock, next_clock(read(unit, at, clock), end, tried, error, control))

    def fit_one(unit: Any, at: Any, start: Any) -> None:
        t, tried = unit[clock.t + at], unit[result.length + at]
        data = (read_constants(unit, at, layout), read(unit, at, params))
        y, new, k = read(unit, at, state), read(unit, at, trial), read(unit, at, slopes)
        write(unit, at, layout.curve, interpolant(start + t, y, new, tried, k, data))

    try_all, finish_all, fit_all = (Sweep(one, layout.lanes, layout.size) for one in (try_one, finish_one, fit_one))

    @loop
    def attempt(run: Any, unit: Any) -> None:
        try_all(unit, run.start, run.end, run.rtol, run.atol)

    @loop
    def finish(run: Any, unit: Any) -> None:
        finish_all(unit, run.end)

    @loop
    def fit(run: Any, unit: Any) -> None:
        fit_all(unit, run.start)

    return Attempts(attempt, fit, finish)


# Step-size control, stage by stage with one clock ---------------------------------------------------------------------
def staged_attempts(loops: StageLoops, renormalize: Loop, tableau: Tableau, layout: Layout, is_dense: bool) -> Attempts:
    """The attempts of all bodies of a unit together; the error is the largest of all bodies."""
    lanes, size, state, trial, point = layout.lanes, layout.size, layout.state, layout.trial, layout.point
    length = len(layout.slopes)
    a, b = padded(tableau.coordinate_weights, length), padded(tableau.momentum_weights, length)
    control = tableau.control
    assert control is not None
    first_row, *others = (padded(row, length) for row in control.error_rows)
    second_row, has_two = others[0] if others else first_row, bool(others)
    (first_slope, *_), error_at, count = layout.slopes, first_place(layout.point), len(tableau.nodes)
    clock, result, least = layout.clock, layout.attempt, layout.least
    run_stages, sum_slopes = loops.run_stages, loops.sum_slopes
    accept = build_acceptance(renormalize, layout, trial)
    at_trial, at_t, at_h = first_place(trial), clock.t, clock.h
    at_tried, at_error = result

    def error_of(unit: Any, at: Any, h: Any, rtol: Groups, user_atol: Groups) -> Any:
        atol = add_scaled_group(user_atol, 1.0, read(unit, at, least))
        y, new, k = read(unit, at, state), read(unit, at, trial), read(unit, at, first_slope)
        return state_error(y, new, k, h, read(unit, at, point), rtol, atol)

    def store_first(unit: Any, at: Any, h: Any, rtol: Groups, atol: Groups) -> None:
        unit[at_error + at] = error_of(unit, at, h, rtol, atol)

    def store_last(unit: Any, at: Any, h: Any, rtol: Groups, atol: Groups) -> None:
        before = (unit[at_error + at],) if has_two else ()
        unit[at_error + at] = comparable_error(step_error((*before, error_of(unit, at, h, rtol, atol))), h)

    store_first_all, store_last_all = (Sweep(one, lanes, size) for one in (store_first, store_last))

    @loop
    def attempt(run: Any, unit: Any) -> None:
        tried = step_to_try(unit[at_t], unit[at_h], run.end)
        run_stages(unit, run.pairs, run.start + unit[at_t], tried)
        sum_slopes(unit, at_trial, False, tried, a, b, count)
        sum_slopes(unit, error_at, True, tried, first_row, first_row, count)
        if has_two:
            store_first_all(unit, tried, run.rtol, run.atol)
            sum_slopes(unit, error_at, True, tried, second_row, second_row, count)
        store_last_all(unit, tried, run.rtol, run.atol)
        _, _, bodies = run.memory.shape  # without unused lanes
        worst = 0.0
        for i in range(bodies):
            worst = larger(worst, unit[at_error + i // lanes * size + i % lanes])
        unit[at_tried] = tried
        unit[at_error] = worst

    def tick(unit: Any, at: Any, end: Any) -> None:
        tried, error = read(unit, at, result)
        write(unit, at, clock, next_clock(read(unit, at, clock), end, tried, error, control))

    @loop
    def finish(run: Any, unit: Any) -> None:
        if unit[at_error] <= 1.0:
            accept(unit, unit[at_tried])
        tick(unit, 0, run.end)

    return Attempts(attempt, _staged_interpolant(loops, tableau, layout) if is_dense else no_interpolant, finish)


def _staged_interpolant(loops: StageLoops, tableau: Tableau, layout: Layout) -> Loop:
    """The interpolants of all bodies for the step that a unit has tried."""
    state, trial, places = layout.state, layout.trial, layout.curve
    at_t, at_tried, stride, point = layout.clock.t, layout.attempt.length, layout.drift, first_place(layout.point)
    dense, count = tableau.dense, len(tableau.nodes)
    assert dense is not None
    used, added, _, rows = dense_stages(tableau)
    known = count if tableau.is_fsal else count + 1
    slopes, at_end = tuple(layout.slopes[i] for i in (*used, *range(count, count + added))), layout.slopes[known - 1]
    more, evaluate, sum_slopes, is_fsal = len(dense.nodes), loops.evaluate, loops.sum_slopes, tableau.is_fsal
    length = len(layout.slopes)
    nodes, weights = np.array(dense.nodes, dtype=float), padded(tableau.coordinate_weights, length)
    points = np.array([padded(row, length) for row in dense.rows])

    def fit_one(unit: Any, at: Any, tried: Any) -> None:
        y, new, k = read(unit, at, state), read(unit, at, trial), read(unit, at, slopes)
        write(unit, at, places, interpolant_coefficients(y, new, tried, k, read(unit, at, at_end), rows))

    fit_all = Sweep(fit_one, layout.lanes, layout.size)

    @loop
    def fit(run: Any, unit: Any) -> None:
        t, tried = run.start + unit[at_t], unit[at_tried]
        if not is_fsal:
            sum_slopes(unit, point, False, tried, weights, weights, count)
            evaluate(unit, run.pairs, t + tried, count * stride)
        for i in range(more):
            sum_slopes(unit, point, False, tried, points[i], points[i], known + i)
            evaluate(unit, run.pairs, t + nodes[i] * tried, (known + i) * stride)
        fit_all(unit, tried)

    return fit


@loop
def no_interpolant(run: Any, unit: Any) -> None:
    """Outputs only at the ends of segments: nothing is asked inside a step."""


# Steps of one length --------------------------------------------------------------------------------------------------
def grid_rounding(t: Any, h: Any) -> Any:
    """How far a time may be from a multiple of the step because of rounding alone."""
    return larger(absolute(t), h) * (4 * 2.0**-52)


def fixed_step_to_try(t: Any, h: Any, start: Any, end: Any) -> Any:
    """The whole step, or the rest of the way to `end` if that is shorter by more than rounding."""
    left = end - t
    return if_less(left, h - grid_rounding(start + t, h), left, h)


def next_fixed_clock(clock: GridClock, start: Any, end: Any, tried: Any) -> GridClock:
    """The clock after a step; a short one begins a new grid."""
    t, h, k, taken, wasted, origin = clock
    zero = 0 * t
    close = if_less(end - t - grid_rounding(start + t, h), tried, end, origin + (k + 1) * h)
    whole = GridClock(close, h, k + 1, taken + 1, wasted, origin)
    landed = step_end(t, tried, end)
    shorter = GridClock(landed, h, zero, taken + 1, wasted, landed)
    moved = tuple(if_less(tried, h, x, y) for x, y in zip(shorter, whole, strict=True))
    return GridClock(*(if_less(zero, tried, x, y) for x, y in zip(moved, clock, strict=True)))


def fixed_lane_attempts(step: Loop, rate: Loop, renormalize: Loop, layout: Layout) -> Attempts:
    """The attempts of independent bodies, each with its own clock."""
    state, params, trial, drift_at = layout.state, layout.params, layout.trial, layout.drift
    clock, result = layout.clock, layout.attempt

    def data_of(unit: Any, at: Any) -> Groups:
        return (read_constants(unit, at, layout), read(unit, at, params))

    def try_one(unit: Any, at: Any, start: Any, end: Any) -> None:
        t, h = unit[clock.t + at], unit[clock.h + at]
        tried = fixed_step_to_try(t, h, start, end)
        write(unit, at, trial, step(start + t, read(unit, at, state), tried, data_of(unit, at)))
        write(unit, at, result, (tried, comparable_error(0 * tried, tried)))

    def fit_one(unit: Any, at: Any, start: Any) -> None:
        t, tried, data = start + unit[clock.t + at], unit[result.length + at], data_of(unit, at)
        y, new = read(unit, at, state), read(unit, at, trial)
        slopes = _, at_end = rate(t, y, data), rate(t + tried, new, data)
        write(unit, at, layout.curve, interpolant_coefficients(y, new, tried, slopes, at_end, ()))

    def finish_one(unit: Any, at: Any, start: Any, end: Any) -> None:
        tried, error = read(unit, at, result)
        new, largest = read(unit, at, trial), unit[drift_at + at]
        renormalized, drift = renormalize(new[:4], tried)
        write(unit, at, state, select_groups(1.0, error, read(unit, at, state), renormalized + new[4:]))
        unit[drift_at + at] = if_less(1.0, error, largest, larger(largest, drift))
        taken = if_less(1.0, error, 0 * tried, tried)
        write(unit, at, clock, next_fixed_clock(read(unit, at, clock), start, end, taken))

    try_all, finish_all, fit_all = (Sweep(one, layout.lanes, layout.size) for one in (try_one, finish_one, fit_one))

    @loop
    def attempt(run: Any, unit: Any) -> None:
        try_all(unit, run.start, run.end)

    @loop
    def finish(run: Any, unit: Any) -> None:
        finish_all(unit, run.start, run.end)

    @loop
    def fit(run: Any, unit: Any) -> None:
        fit_all(unit, run.start)

    return Attempts(attempt, fit, finish)


def fixed_staged_attempts(step_all: Loop, loops: StageLoops, renormalize: Loop, layout: Layout) -> Attempts:
    """The attempts of all bodies of a unit together; `step_all` leaves its result in place, not renormalized."""
    state, trial, point = layout.state, layout.trial, layout.point
    clock, result, stride, evaluate = layout.clock, layout.attempt, layout.drift, loops.evaluate
    at_t, at_h, (at_tried, at_error) = clock.t, clock.h, result
    accept = build_acceptance(renormalize, layout, trial)

    def copy_to_trial(unit: Any, at: Any) -> None:
        write(unit, at, trial, read(unit, at, state))

    def exchange(unit: Any, at: Any) -> None:
        y, new = read(unit, at, trial), read(unit, at, state)
        write(unit, at, state, y)
        write(unit, at, trial, new)

    def start_to_point(unit: Any, at: Any) -> None:
        write(unit, at, point, read(unit, at, state))

    def end_to_point(unit: Any, at: Any) -> None:
        write(unit, at, point, read(unit, at, trial))

    def fit_one(unit: Any, at: Any, tried: Any) -> None:
        y, new = read(unit, at, state), read(unit, at, trial)
        slopes = _, at_end = read(unit, at, layout.slopes[:2])
        write(unit, at, layout.curve, interpolant_coefficients(y, new, tried, slopes, at_end, ()))

    def tick(unit: Any, at: Any, start: Any, end: Any) -> None:
        tried, error = read(unit, at, result)
        taken = if_less(1.0, error, 0 * tried, tried)
        write(unit, at, clock, next_fixed_clock(read(unit, at, clock), start, end, taken))

    copy_all, exchange_all, start_all, end_all, fit_all = (
        Sweep(one, layout.lanes, layout.size)
        for one in (copy_to_trial, exchange, start_to_point, end_to_point, fit_one)
    )

    @loop
    def attempt(run: Any, unit: Any) -> None:
        tried = fixed_step_to_try(unit[at_t], unit[at_h], run.start, run.end)
        copy_all(unit)
        step_all(unit, run.pairs, run.start + unit[at_t], tried)
        exchange_all(unit)
        unit[at_tried] = tried
        unit[at_error] = comparable_error(0.0 * tried, tried)

    @loop
    def fit(run: Any, unit: Any) -> None:
        t, tried = run.start + unit[at_t], unit[at_tried]
        start_all(unit)
        evaluate(unit, run.pairs, t, 0)
        end_all(unit)
        evaluate(unit, run.pairs, t + tried, stride)
        fit_all(unit, tried)

    @loop
    def finish(run: Any, unit: Any) -> None:
        if unit[at_error] <= 1.0:
            accept(unit, unit[at_tried])
        tick(unit, 0, run.start, run.end)

    return Attempts(attempt, fit, finish)
