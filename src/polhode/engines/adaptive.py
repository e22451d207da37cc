"""Kernels for adaptive steps with step-size control: a step is tried, then accepted or rejected by its error.

Every body of a block has its own clock, and all lanes try a step in lockstep.  The bodies of a system share one clock,
that of its first body.  Dense output gives the states inside a step.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.engines.kernels import Layout, Loop, loop, read, unpack_constants, use_wide_vectors, write
from polhode.equations.law import Groups, law
from polhode.equations.scalar_ops import if_less, larger
from polhode.methods.dense_output import build_interpolant, dense_stages, interpolant_coefficients
from polhode.methods.runge_kutta import (
    add_scaled_group,
    combine_stages,
    comparable_error,
    convert_row,
    evaluate_stages,
    mixed_error,
    next_clock,
    select_groups,
    state_error,
    step_to_try,
    tableau_stages,
)
from polhode.methods.tableaus import Tableau


# Bodies with their own clocks ----------------------------------------------------------------------------------------
def lane_attempt(rate: Loop, tableau: Tableau, layout: Layout) -> Loop:
    """Try a step on every body of a block: its result, length and error, and the slopes for dense output."""
    lanes, state, body, params, trial = layout.lanes, layout.state, layout.body, layout.params, layout.trial
    clock, result, slopes, least = layout.clock, layout.attempt, layout.slopes, layout.least
    stages = tableau_stages(tableau)
    fifth, third = (convert_row(row, float) for row in tableau.error_rows or ((), ()))
    select_slopes = select_entries(dense_stages(tableau).used if slopes else ())

    @loop
    def attempt(unit: Any, pairs: Any, end: float, rtol: Groups, user_atol: Groups) -> None:
        use_wide_vectors()
        for lane in range(lanes):
            t, h = unit[clock[0] + lane], unit[clock[1] + lane]
            tried = step_to_try(t, h, end)
            y = read(unit, lane, state)
            data = (unpack_constants(read(unit, lane, body)), read(unit, lane, params))
            k, new = evaluate_stages(rate, stages, t, y, tried, data, (), y)
            zero_state = combine_stages(y, -1.0, (1.0,), (1.0,), (y,))
            atol = add_scaled_group(user_atol, 1.0, read(unit, lane, least))
            error_5 = state_error(y, new, k[0], tried, combine_stages(zero_state, tried, fifth, fifth, k), rtol, atol)
            error_3 = state_error(y, new, k[0], tried, combine_stages(zero_state, tried, third, third, k), rtol, atol)
            write(unit, lane, trial, new)
            write(unit, lane, slopes, select_slopes(k))
            write(unit, lane, result, (tried, comparable_error(mixed_error(error_5, error_3), tried)))

    return attempt


def select_entries(indices: tuple[int, ...]) -> Loop:
    """(k) -> the entries of a tuple at these indices."""
    if not indices:
        return _select_none
    first, rest = indices[0], select_entries(indices[1:])

    @law
    def select(k: Groups) -> Groups:
        entries: Groups = (k[first],) + rest(k)
        return entries

    return select


@law
def _select_none(k: Groups) -> Groups:
    return ()


def lane_acceptance(renormalize: Loop, layout: Layout) -> Loop:
    """Accept or reject the step of every body of a block; an accepted state is renormalized."""
    lanes, state, trial, drift_at = layout.lanes, layout.state, layout.trial, layout.drift
    clock, result = layout.clock, layout.attempt

    @loop
    def finish_step(unit: Any, end: float) -> None:
        use_wide_vectors()
        for lane in range(lanes):
            tried, error = read(unit, lane, result)
            new, largest = read(unit, lane, trial), unit[drift_at + lane]
            renormalized, drift = renormalize(new[:4], tried)
            write(unit, lane, state, select_groups(1.0, error, read(unit, lane, state), renormalized + new[4:]))
            unit[drift_at + lane] = if_less(1.0, error, largest, larger(largest, drift))
            write(unit, lane, clock, next_clock(read(unit, lane, clock), end, tried, error))

    return finish_step


def lane_dense_output(rate: Loop, tableau: Tableau, layout: Layout) -> Loop:
    """The interpolants of the steps that the bodies of a block have tried."""
    lanes, state, body, params, trial = layout.lanes, layout.state, layout.body, layout.params, layout.trial
    clock, result, slopes, places = layout.clock, layout.attempt, layout.slopes, layout.curve
    interpolant = build_interpolant(tableau, rate)

    @loop
    def fit(unit: Any, pairs: Any) -> None:
        use_wide_vectors()
        for lane in range(lanes):
            t, tried = unit[clock[0] + lane], unit[result[0] + lane]
            data = (unpack_constants(read(unit, lane, body)), read(unit, lane, params))
            y, new, k = read(unit, lane, state), read(unit, lane, trial), read(unit, lane, slopes)
            write(unit, lane, places, interpolant(t, y, new, tried, k, data))

    return fit


# A system with one clock ---------------------------------------------------------------------------------------------
def system_attempt(run_stages: Loop, sum_slopes: Loop, tableau: Tableau, layout: Layout) -> Loop:
    """Try a step on all bodies of a system; the error is the largest of all bodies."""
    lanes, size, state, trial, point = layout.lanes, layout.size, layout.state, layout.trial, layout.point
    a, b = np.array(tableau.coordinate_weights, dtype=float), np.array(tableau.momentum_weights, dtype=float)
    fifth, third = (np.array(row, dtype=float) for row in tableau.error_rows or ((), ()))
    first_slope, error_at, count = layout.slopes[0], layout.point[0][0], len(tableau.nodes)
    clock, result, least = layout.clock, layout.attempt, layout.least

    @loop
    def errors(unit: Any, at: int, h: float, rtol: Any, user_atol: Any) -> float:
        atol = add_scaled_group(user_atol, 1.0, read(unit, at, least))
        y, new, k = read(unit, at, state), read(unit, at, trial), read(unit, at, first_slope)
        error: float = state_error(y, new, k, h, read(unit, at, point), rtol, atol)
        return error

    @loop
    def attempt(unit: Any, pairs: Any, end: float, rtol: Any, atol: Any) -> None:
        t = unit[clock[0]]
        tried = step_to_try(t, unit[clock[1]], end)
        run_stages(unit, pairs, t, tried)
        sum_slopes(unit, trial[0][0], False, tried, a, b, count)
        bodies = len(unit) // size * lanes
        error_5 = np.empty(bodies)
        sum_slopes(unit, error_at, True, tried, fifth, fifth, count)
        for i in range(bodies):
            error_5[i] = errors(unit, i // lanes * size + i % lanes, tried, rtol, atol)
        sum_slopes(unit, error_at, True, tried, third, third, count)
        worst = 0.0
        for i in range(bodies):
            error_3 = errors(unit, i // lanes * size + i % lanes, tried, rtol, atol)
            worst = larger(worst, comparable_error(mixed_error(error_5[i], error_3), tried))
        write(unit, 0, result, (tried, worst))

    return attempt


def system_acceptance(accept: Loop, layout: Layout) -> Loop:
    """Accept or reject the step of all bodies of a system together."""
    clock, result = layout.clock, layout.attempt

    @loop
    def finish_step(unit: Any, end: float) -> None:
        tried, error = read(unit, 0, result)
        if error <= 1.0:
            accept(unit, tried)
        write(unit, 0, clock, next_clock(read(unit, 0, clock), end, tried, error))

    return finish_step


def system_dense_output(evaluate: Loop, sum_slopes: Loop, tableau: Tableau, layout: Layout) -> Loop:
    """The interpolants of all bodies for the step that a system has tried."""
    lanes, size, state, trial, places = layout.lanes, layout.size, layout.state, layout.trial, layout.curve
    clock, result, stride, point = layout.clock, layout.attempt, layout.drift, layout.point[0][0]
    dense, count = tableau.dense, len(tableau.nodes)
    assert dense is not None
    used, _, rows = dense_stages(tableau)
    slopes, at_end = tuple(layout.slopes[i] for i in (*used, *range(count, len(layout.slopes)))), layout.slopes[count]
    more = len(dense.nodes)
    nodes, weights = np.array(dense.nodes), np.array(tableau.coordinate_weights, dtype=float)
    points = np.zeros((more, count + more))
    for i, row in enumerate(dense.rows):
        points[i, : len(row)] = row

    @loop
    def fit(unit: Any, pairs: Any) -> None:
        use_wide_vectors()
        t, tried = unit[clock[0]], unit[result[0]]
        sum_slopes(unit, point, False, tried, weights, weights, count)
        evaluate(unit, pairs, t + tried, count * stride)
        for i in range(more):
            sum_slopes(unit, point, False, tried, points[i], points[i], count + 1 + i)
            evaluate(unit, pairs, t + nodes[i] * tried, (count + 1 + i) * stride)
        for block in range(len(unit) // size):
            for lane in range(lanes):
                at = block * size + lane
                y, new, k = read(unit, at, state), read(unit, at, trial), read(unit, at, slopes)
                write(unit, at, places, interpolant_coefficients(y, new, tried, k, read(unit, at, at_end), rows))

    return fit
