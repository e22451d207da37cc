"""The functions of events, as the loops call them: sampled inside a step, after a step that was tried, and changes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from polhode.equations.inertia import constants_for_forces
from polhode.equations.right_hand_side import build_event_values
from polhode.equations.vectors import plus, zero_vector
from polhode.integrate.loops.layout import EVENT_POINTS, Layout, read, read_constants, write
from polhode.ir.loops import Loop, Sweep, loop
from polhode.ir.records import Record, numbers
from polhode.methods.dense_output import evaluate_interpolant
from polhode.methods.runge_kutta import add_scaled, step_end
from polhode.scenario.force import map_leaves

AHEAD = 1 / 64
"""The distance, as a fraction of the step, of the finite difference for the slope of a function."""
UNKNOWN, HANDLED = 0.0, 2.0
"""Sides besides 1 and -1: not evaluated yet; and twice the last side, if the event was just handled."""
SAME = 2.0**-40
"""As a part of its change in a step: a function that starts as near to zero starts at zero."""


class Action:
    """What an event does."""

    STOP, RECORD, CHANGE = range(3)


class Rule(Record):
    """What is to happen at an event."""

    action: int
    direction: float
    """1: only where the function rises; -1: only where it falls; 0: both."""
    limit: float
    """How often it may happen; inf: as often as it likes."""
    within: float
    """How exactly its time is located, in s."""


class EventMemory(Record):
    """What is known of an event and a body from step to step."""

    side: float
    """The last sign of the function."""
    since: float
    """The time of the last change."""
    zeno_count: int
    """How many changes in a row were too close to each other."""


@lru_cache
def log_record(size: int) -> type[Record]:
    """The rows of a log of events, with samples of so many numbers."""

    class LogRow(Record):
        event: int
        clock: int
        """Of a member, a body or a system."""
        body: int
        """Of the system."""
        time: float
        sample: Any = numbers(size)

    return LogRow


class EventLaws(NamedTuple):
    """The functions of all events of a run."""

    number: int
    is_adaptive: bool
    sample: Loop
    """(run, unit): the values of all functions at points of the step that was tried, and their slopes at its start."""
    evaluate_trial: Loop
    """(run, unit): the values of all functions after the step that was tried."""
    log_trial: Loop
    """(unit, at, sample, tried): the state after the step that was tried, into the sample of a row of the log."""
    changes: tuple[Loop, ...]
    """(unit, at, t): for each event, the change that it makes."""


@loop
def sign(x: float) -> float:
    """1, -1 or 0."""
    return 1.0 if x > 0.0 else (-1.0 if x < 0.0 else 0.0)


@loop
def starting_side(last: float, value: float, slope: float) -> float:
    """The side of zero on which a function starts a step: the last one, or where none is known the sign of its value.

    After an event was handled its function is zero up to rounding: then the slope decides.  So it does at the start of
    a run that continues where an event has stopped another.
    """
    if last == 1.0 or last == -1.0:
        return last
    near = abs(slope) / AHEAD * (SAME if last == UNKNOWN else 1 / 8)
    return sign(value) if abs(value) > near else sign(slope)


def build_event_laws(
    functions: Sequence[Loop],
    changes: Sequence[Loop | None],
    view: Loop,
    renormalize: Loop,
    apply_impulse: Loop,
    layout: Layout,
    is_adaptive: bool,
    is_system: bool,
) -> EventLaws:
    """The laws of the events with these functions and changes."""
    values_of = build_event_values(functions)
    state, trial, curve, params = layout.state, layout.trial, layout.curve, layout.event_params
    at_t, at_h, at_tried = layout.clock.t, layout.clock.h, layout.attempt.length
    values, slopes = layout.event_values, layout.event_slopes
    columns, drift_at = map_leaves(lambda place: place // layout.lanes, state), layout.drift // layout.lanes
    (first, *inside, last), (before, behind, *_) = values.points, values.points

    def evaluate(unit: Any, at: Any, t: Any, y: Any) -> Any:
        c = read_constants(unit, at, layout)
        return values_of(t, view(y, c), c, read(unit, at, params))

    def unit_attitude(y: Any, tried: Any) -> Any:
        return renormalize(y[:4], tried)[0] + y[4:]

    def sample_one(unit: Any, at: Any, start: Any, t: Any, tried: Any, end_time: Any) -> None:
        y, new, coefficients = read(unit, at, state), read(unit, at, trial), read(unit, at, curve)
        write(unit, at, first, evaluate(unit, at, start + t, y))
        for j, place in enumerate(inside, 1):
            between = evaluate_interpolant(y, j / EVENT_POINTS, coefficients)
            moment = start + (t + j / EVENT_POINTS * tried)
            write(unit, at, place, evaluate(unit, at, moment, unit_attitude(between, tried)))
        write(unit, at, last, evaluate(unit, at, start + end_time, unit_attitude(new, tried)))
        one, two, *_ = coefficients
        rise = add_scaled(one, 1.0, two)  # h y'
        ahead = evaluate(unit, at, start + (t + AHEAD * tried), add_scaled(y, AHEAD, rise))
        back = evaluate(unit, at, start + (t - AHEAD * tried), add_scaled(y, -AHEAD, rise))
        write(unit, at, slopes, tuple((a - b) / 2 for a, b in zip(ahead, back, strict=True)))

    def after_one(unit: Any, at: Any, start: Any, tried: Any, end_time: Any) -> None:
        y = unit_attitude(read(unit, at, trial), tried)
        write(unit, at, values.trial, evaluate(unit, at, start + end_time, y))

    def sample_lane(unit: Any, at: Any, start: Any, end: Any) -> None:
        t, h, tried = unit[at_t + at], unit[at_h + at], unit[at_tried + at]
        sample_one(unit, at, start, t, tried, step_end(t, h, end))

    def after_lane(unit: Any, at: Any, start: Any, end: Any) -> None:
        t, h, tried = unit[at_t + at], unit[at_h + at], unit[at_tried + at]
        after_one(unit, at, start, tried, step_end(t, h, end))

    lane_samples, lane_after, all_samples, all_after = (
        Sweep(one, layout.lanes, layout.size) for one in (sample_lane, after_lane, sample_one, after_one)
    )

    @loop
    def sample(run: Any, unit: Any) -> None:
        if is_system:
            t = unit[at_t]
            all_samples(unit, run.start, t, unit[at_tried], step_end(t, unit[at_h], run.end))
        else:
            lane_samples(unit, run.start, run.end)

    @loop
    def evaluate_trial(run: Any, unit: Any) -> None:
        if is_system:
            all_after(unit, run.start, unit[at_tried], step_end(unit[at_t], unit[at_h], run.end))
        else:
            lane_after(unit, run.start, run.end)

    def log_trial(unit: Any, at: Any, sample: Any, tried: Any) -> None:
        new = read(unit, at, trial)
        renormalized, drift = renormalize(new[:4], tried)
        write(sample, 0, columns, renormalized + new[4:])
        sample[drift_at] = drift

    def change_of(i: int, change: Loop | None) -> Loop:
        def act(unit: Any, at: Any, t: Any) -> None:
            y, c, p = read(unit, at, state), read_constants(unit, at, layout), read(unit, at, params)
            write(unit, at, before, evaluate(unit, at, t, y))
            if change is not None:
                state_now = view(y, c)
                push, turn = change(t, state_now, constants_for_forces(c, state_now.current_mass), p[i])
                y = apply_impulse(y, c, plus(push, zero_vector(t)), plus(turn, zero_vector(t)))
                write(unit, at, state, y)
            write(unit, at, behind, evaluate(unit, at, t, y))

        return act

    made = tuple(change_of(i, change) for i, change in enumerate(changes))
    return EventLaws(len(functions), is_adaptive, sample, evaluate_trial, log_trial, made)
