"""The loop of steps that are tried: every body, or every system, has its own clock, samples and events.

A lane whose body has arrived takes the next body, so that no lane waits for another.  Where the value of an event
function changes sign inside a step, its root is located with steps of the method itself from the same start, so that
the state there is as accurate as any other: for a while the lane tries steps of lengths that the search chooses, and
its clock stands still.  So a body has the same steps, and the same bits, alone and in any lane.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from polhode.equations.scalar_ops import larger
from polhode.integrate.attempts import Attempts, grid_rounding
from polhode.integrate.event_laws import (
    ACTION,
    BODIES,
    CHANGE,
    DIRECTION,
    HANDLED,
    LIMIT,
    LOG_HEADER,
    SIDE,
    SINCE,
    STOP,
    UNKNOWN,
    WITHIN,
    ZENO_COUNT,
    EventLaws,
    sign,
    starting_side,
)
from polhode.integrate.layout import EVENT_POINTS, KernelFields, Layout, read, write
from polhode.ir.loops import Loop, loop
from polhode.methods.dense_output import evaluate_interpolant
from polhode.methods.runge_kutta import step_end

RUNNING, STOPPED, ENDLESS, WRONG_SIDE = 0, 1, 2, 3
"""Whether and why a body or system was halted by an event."""
ZENO_LIMIT = 3
"""This many changes in a row, each within the shortest interval after the last, would go on forever."""
UNSEEN, IGNORED, LOGGED = -3.0, -1.0, -2.0
"""In place of the time of a crossing: not looked at yet, it does not count, or it was logged."""
UNIT_ROUNDOFF = 2.0**-52
ROOT = EVENT_POINTS + 1
"""What a search has found in a step: the values of all functions at the points of the step, and then their roots."""

STEP, HIGH, LOW, REFINE, PROBE, RECORDING, SAMPLING, LAST, ACCEPTED = 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0
"""What an attempt of a lane is for: a step; an end of the interval of a root, or a point inside; the bottom of a dip; a
state to be logged or sampled; the step that will be accepted, and that is accepted now."""
PHASE, FULL, TRIED, SUB, EVENT, BODY, FINAL, LOW_T, HIGH_T, LOW_G, HIGH_G, LOW_W, HIGH_W, SHRUNK, TURN = range(15)
ENDING, MID_T, MID_G, DIP_E, DIP_B, DOWN_T, UP_T, LOOKED, STAGE, BACK_T, BACK_G, MEMO = range(15, 27)
"""The memory of a lane's search: h and the length of the step; the subinterval; event and body; the length that will
be accepted; the interval of the root with values and weights; which end moved last; iterations; whether an event ends
it; the middle of the interval of a dip; its event and body, and the times at which the function crosses zero and
comes back; how many functions were looked at for dips; which of the two times is being located; and where it has come
back."""
DIP = 1 / 64
"""A minimum of a function is looked at closely if a parabola puts it below this part of its range in the step."""
TOUCH = 1e-12
"""A function whose minimum is this part of its range in the step touches zero."""
PROBES = 12
"""The most steps to find the bottom of a dip."""
STANDSTILL = 1e-16
"""A change has stopped a function if its first rate moves it by less than this part of its way in the next step."""


class ClockedRun(NamedTuple):
    """What the loop takes.  Times count from `start`; a row of `done` and of the events' memory is a body or system."""

    buffer: Any
    pairs: Any
    start: float
    end: float
    through: bool
    """Whether to go on to `end` after the last output."""
    is_last: bool
    """Whether the run ends at `end`."""
    stops: Any
    rtol: Any
    atol: Any
    budget: int
    """Attempts for each body, about; the next call continues."""
    done: Any
    """The number of outputs written."""
    out: Any
    checkpoints: Any
    rules: Any
    memory: Any
    counts: Any
    halted: Any
    shortest: float
    log: Any
    found: Any

    @property
    def kernel_fields(self) -> KernelFields:
        """What a kernel has to know."""
        return _FIELDS

    @property
    def variant(self) -> int:
        """Which of the kernels takes it."""
        return 0

    @property
    def is_begun(self) -> bool:
        """Whether outputs have been written before."""
        return bool(self.done.any())


_PER_UNIT = {"buffer": 0, "done": 0, "out": 1, "checkpoints": 1, "memory": 0, "counts": 0, "halted": 0}
_FIELDS = KernelFields(_PER_UNIT, tuple(_PER_UNIT), ("buffer", "memory", "rules"), ("log", "found"))


def build_clocked_loop(
    attempts: Attempts, events: EventLaws | None, renormalize: Loop, layout: Layout, is_system: bool, is_dense: bool
) -> Loop:
    """Advance bodies, or systems of bodies, by steps that are tried."""
    attempt, finish = attempts.attempt, attempts.finish
    lanes, size, carried, at_h = layout.lanes, layout.size, layout.carried, layout.clock[1]
    slots = 1 if is_system else lanes
    count_events = events.number if events is not None else 0
    write_samples = _build_sample_writer(layout, is_system)
    write_inside = _build_inside_writer(attempts, renormalize, layout, is_system, is_dense)
    search: Any = None
    act: Any = None
    if events is not None:
        search = _build_search(attempts, events, renormalize, layout, is_system, is_dense)
        act = _build_action(events, layout, is_system)

    @loop
    def load(run: ClockedRun, block: Any, c: int, u: int, lane: int) -> None:
        if is_system:
            for i in range(len(block)):
                block[i] = run.buffer[u, i]
        else:
            for i in range(0, carried, lanes):
                block[c + i] = run.buffer[u, i + lane]

    @loop
    def unload(run: ClockedRun, block: Any, c: int, u: int, lane: int) -> None:
        if is_system:
            for i in range(len(block)):
                run.buffer[u, i] = block[i]
        else:
            for i in range(0, carried, lanes):
                run.buffer[u, i + lane] = block[c + i]

    @loop
    def advance(run: ClockedRun, first: int, last: int) -> None:
        block = np.zeros(run.buffer.shape[1] if is_system else size)
        who = np.zeros(slots, dtype=np.int64)
        busy, memo = np.zeros(slots, dtype=np.bool_), np.zeros((slots, MEMO))
        bodies = run.memory.shape[2]
        found = np.zeros((slots, ROOT + 1, count_events, bodies))
        upcoming, final, left = first * slots, last * slots, run.budget * (last - first)
        most = len(run.log) - slots * (EVENT_POINTS + 1) * count_events * bodies
        count = 1
        while count > 0:
            count = 0
            for c in range(slots):
                while True:
                    if busy[c]:
                        u, lane = who[c] // slots, who[c] % slots
                        if count_events > 0 and memo[c, PHASE] != STEP:
                            count += 1
                            break
                        if write_samples(run, block, c, u, lane) and left > 0 and run.found[0] <= most:
                            count += 1
                            break
                        unload(run, block, c, u, lane)
                        busy[c] = False
                    if upcoming == final or left <= 0 or run.found[0] > most:
                        block[at_h + c] = 0.0  # an empty lane tries steps of zero length
                        break
                    who[c], busy[c] = upcoming, True
                    load(run, block, c, upcoming // slots, upcoming % slots)
                    upcoming += 1
            if count > 0:
                attempt(run, block)
                if count_events > 0:
                    search(run, block, who, busy, memo, found)
                write_inside(run, block, who, busy, memo)
                finish(run, block)
                if count_events > 0:
                    for c in range(slots):
                        if busy[c] and memo[c, PHASE] == ACCEPTED:
                            memo[c, PHASE] = STEP
                            if memo[c, ENDING] > 0.0:
                                block[at_h + c] = memo[c, FULL]
                                act(run, block, c, who[c], int(memo[c, EVENT]), int(memo[c, BODY]))
                left -= 1

    return advance


# Samples --------------------------------------------------------------------------------------------------------------
def _build_sample_writer(layout: Layout, is_system: bool) -> Loop:
    """Write the samples that are due; return True while integration must continue."""
    lanes, size, sample_size, drift_at = layout.lanes, layout.size, layout.sample_size, layout.drift
    at_t, at_h, numbers = layout.clock[0], layout.clock[1], layout.sample_size // layout.lanes
    save_checkpoint = _build_checkpoint_writer(layout)
    slots = 1 if is_system else lanes

    @loop
    def write_samples(run: ClockedRun, unit: Any, c: int, u: int, lane: int) -> bool:
        """Clock c of `unit` is that of body `lane` of unit u."""
        bodies = len(unit) // size * lanes if is_system else 1
        who = u * slots + lane
        t, s = unit[at_t + c], run.done[who]
        while s < len(run.stops) and run.stops[s] <= t:
            save_checkpoint(run, unit, u, s)
            for b in range(bodies):
                at, to = c + b // lanes * size + b % lanes, lane + b // lanes * sample_size + b % lanes
                for i in range(numbers):
                    run.out[s, u, to + i * lanes] = unit[at + i * lanes]
                unit[drift_at + at] = 0.0
            s += 1
        run.done[who] = s
        return unit[at_h + c] > 0.0 and (s < len(run.stops) or (run.through and t < run.end))

    return write_samples


def _build_checkpoint_writer(layout: Layout) -> Loop:
    """Save the start of a step and its clock as a checkpoint, from which the run can resume."""
    size, sample_size, at_clock, lanes = layout.size, layout.sample_size, layout.clock[0], layout.lanes

    @loop
    def save_checkpoint(run: ClockedRun, unit: Any, u: int, s: int) -> None:
        """Only for units with one clock; does nothing if `checkpoints` is empty."""
        if s < len(run.checkpoints):
            blocks = len(unit) // size
            for block in range(blocks):
                for i in range(sample_size):
                    run.checkpoints[s, u, block * sample_size + i] = unit[block * size + i]
            for i in range(3):
                run.checkpoints[s, u, blocks * sample_size + i] = unit[at_clock + i * lanes]

    return save_checkpoint


def build_point_writer(renormalize: Loop, layout: Layout) -> Loop:
    """Write the state of a body at the fraction theta of a step to a row of samples, renormalized."""
    state, curve, drift_at = layout.state, layout.curve, layout.drift

    def write_point(unit: Any, at: Any, theta: Any, h: Any, row: Any, to: Any) -> None:
        y = evaluate_interpolant(read(unit, at, state), theta, read(unit, at, curve))
        renormalized, drift = renormalize(y[:4], h)
        write(row, to, state, renormalized + y[4:])
        row[drift_at + to] = larger(unit[drift_at + at], drift)
        unit[drift_at + at] = 0.0

    return write_point


def _build_inside_writer(
    attempts: Attempts, renormalize: Loop, layout: Layout, is_system: bool, is_dense: bool
) -> Loop:
    """Write the samples inside steps that are about to be accepted, by dense output, renormalized."""
    lanes, size, sample_size = layout.lanes, layout.size, layout.sample_size
    fit, write_point = attempts.fit, build_point_writer(renormalize, layout)
    at_t, at_h, at_tried, at_error = layout.clock[0], layout.clock[1], layout.attempt[0], layout.attempt[1]
    save_checkpoint, slots = _build_checkpoint_writer(layout), 1 if is_system else lanes

    @loop
    def is_inside(run: ClockedRun, unit: Any, c: int, s: int, memo: Any) -> bool:
        """An output within rounding of an event that ends the step shows the state after it."""
        if s >= len(run.stops) or unit[at_error + c] > 1.0:
            return False
        reached = step_end(unit[at_t + c], unit[at_h + c], run.end)
        if memo[c, PHASE] == ACCEPTED and memo[c, ENDING] > 0.0:
            reached = reached - grid_rounding(run.start + reached, 0.0)
        return run.stops[s] < reached

    @loop
    def write_inside(run: ClockedRun, unit: Any, who: Any, busy: Any, memo: Any) -> None:
        wanted = False
        for c in range(slots):
            if busy[c] and is_inside(run, unit, c, run.done[who[c]], memo):
                wanted = True
        if not wanted:
            return
        fit(run, unit)
        bodies = len(unit) // size * lanes if is_system else 1
        for c in range(slots):
            while busy[c] and is_inside(run, unit, c, run.done[who[c]], memo):
                u, lane, s, tried = who[c] // slots, who[c] % slots, run.done[who[c]], unit[at_tried + c]
                theta = (run.stops[s] - unit[at_t + c]) / tried
                save_checkpoint(run, unit, u, s)
                for b in range(bodies):
                    at, to = c + b // lanes * size + b % lanes, lane + b // lanes * sample_size + b % lanes
                    write_point(unit, at, theta, tried, run.out[s, u], to)
                run.done[who[c]] = s + 1

    @loop
    def write_nothing(run: ClockedRun, unit: Any, who: Any, busy: Any, memo: Any) -> None:
        """Outputs only at the ends of segments, or by steps of their own."""

    return write_inside if is_dense else write_nothing


# Events ---------------------------------------------------------------------------------------------------------------
def _build_search(
    attempts: Attempts, events: EventLaws, renormalize: Loop, layout: Layout, is_system: bool, is_dense: bool
) -> Loop:
    """After an attempt of all lanes: what each lane does next.

    Lanes that are to be accepted or rejected are left as they are; the others are held by an attempt of no length.
    """
    lanes, size, fit, count_events = layout.lanes, layout.size, attempts.fit, events.number
    at_t, at_h, at_tried, at_error = layout.clock[0], layout.clock[1], layout.attempt[0], layout.attempt[1]
    values, slopes = layout.event_values, layout.event_slopes
    points, after = values[: EVENT_POINTS + 1], values[EVENT_POINTS + 1]
    first_point, point_stride, event_stride = points[0][0], points[1][0] - points[0][0], lanes
    is_adaptive = events.is_adaptive
    after_at, slope_at, slots = after[0], slopes[0], 1 if is_system else lanes
    sample_events, evaluate_trial, log_trial = events.sample, events.evaluate_trial, events.log_trial
    write_trial = _build_trial_writer(renormalize, layout, is_system)

    @loop
    def place_of(c: int, b: int) -> int:
        return c + b // lanes * size + b % lanes

    @loop
    def begin_search(run: ClockedRun, unit: Any, c: int, who: int, memo: Any, found: Any) -> bool:
        """Note the values of all functions in the step; return False if one is on the wrong side after its change."""
        memo[c, FULL], memo[c, TRIED], memo[c, SUB] = unit[at_h + c], unit[at_tried + c], 1.0
        memo[c, FINAL], memo[c, ENDING], memo[c, LOOKED] = unit[at_h + c], 0.0, 0.0
        memo[c, DOWN_T], memo[c, UP_T], memo[c, STAGE] = 0.0, 0.0, 0.0
        for e in range(count_events):
            for b in range(run.memory.shape[2]):
                at = place_of(c, b)
                found[c, ROOT, e, b] = UNSEEN
                for j in range(EVENT_POINTS + 1):
                    found[c, j, e, b] = unit[at + first_point + j * point_stride + e * event_stride]
                last, slope = run.memory[who, e, b, SIDE], unit[at + slope_at + e * event_stride]
                beyond = last * found[c, EVENT_POINTS, e, b] < 0.0 and last * found[c, 1, e, b] < 0.0
                if abs(last) == HANDLED and beyond and abs(slope) <= STANDSTILL * abs(found[c, EVENT_POINTS, e, b]):
                    return False
                run.memory[who, e, b, SIDE] = starting_side(last, found[c, 0, e, b], slope)
        return True

    @loop
    def refine(unit: Any, c: int, memo: Any, side: float, within: float) -> bool:
        """The next point to try: regula falsi with the Illinois rule, every sixth a bisection.  False: it is found."""
        low, high, turn = memo[c, LOW_T], memo[c, HIGH_T], int(memo[c, TURN])
        least = max(within / 2, UNIT_ROUNDOFF * high)
        if turn == 200 or memo[c, HIGH_G] == 0.0 or high - low <= 2 * least:
            return False
        middle = low + (high - low) / 2
        if side * memo[c, LOW_W] > 0.0 and turn % 6 != 5:
            middle = low + (high - low) * (memo[c, LOW_W] / (memo[c, LOW_W] - memo[c, HIGH_W]))
            middle = min(max(middle, low + least), high - least)
        if not (low < middle and middle < high):
            return False
        memo[c, PHASE], unit[at_h + c] = REFINE, middle
        return True

    @loop
    def find_dip(run: ClockedRun, unit: Any, c: int, who: int, memo: Any, found: Any) -> bool:
        """Find a function that may dip to zero and come back between two points; return True if it is to be probed."""
        bodies = run.memory.shape[2]
        for k in range(int(memo[c, LOOKED]), count_events * bodies):
            e, b = k // bodies, k % bodies
            memo[c, LOOKED] = k + 1
            side, top, lowest = run.memory[who, e, b, SIDE], 0.0, np.inf
            for j in range(EVENT_POINTS + 1):
                top, lowest = max(top, side * found[c, j, e, b]), min(lowest, side * found[c, j, e, b])
            is_watched = run.rules[e, BODIES + b] != 0.0 and run.counts[who, e] < run.rules[e, LIMIT]
            if not (is_watched and lowest > 0.0):
                continue
            for j in range(1, EVENT_POINTS):
                low, mid, high = side * found[c, j - 1, e, b], side * found[c, j, e, b], side * found[c, j + 1, e, b]
                bend, fall = low - 2.0 * mid + high, low - high
                if bend > 0.0 and abs(fall) <= 2.0 * bend and mid - fall * fall / (8.0 * bend) < DIP * top:
                    part = memo[c, TRIED] / EVENT_POINTS
                    memo[c, EVENT], memo[c, BODY], memo[c, TURN], memo[c, LOW_W] = e, b, 0.0, top
                    memo[c, LOW_T], memo[c, MID_T], memo[c, HIGH_T] = part * (j - 1), part * j, part * (j + 1)
                    memo[c, LOW_G], memo[c, MID_G], memo[c, HIGH_G] = low, mid, high
                    memo[c, PHASE], unit[at_h + c] = PROBE, part * (j + fall / (2.0 * bend))
                    return True
        return False

    @loop
    def probe(run: ClockedRun, unit: Any, c: int, who: int, memo: Any) -> bool:
        """Use the value at a point of a dip; return True if the search goes on there.

        If the function is on the other side, it crosses zero twice.  One that only touches zero makes no event.
        """
        e, b, x = int(memo[c, EVENT]), int(memo[c, BODY]), unit[at_h + c]
        side, top = run.memory[who, e, b, SIDE], memo[c, LOW_W]
        value = side * unit[place_of(c, b) + after_at + e * event_stride]
        if abs(value) <= TOUCH * top:
            return False
        if value < 0.0:
            is_left = x < memo[c, MID_T]
            memo[c, DIP_E], memo[c, DIP_B], memo[c, STAGE] = e, b, 1.0
            memo[c, BACK_T] = memo[c, MID_T] if is_left else memo[c, HIGH_T]
            memo[c, BACK_G] = side * (memo[c, MID_G] if is_left else memo[c, HIGH_G])
            if not is_left:
                memo[c, LOW_T], memo[c, LOW_G] = memo[c, MID_T], memo[c, MID_G]
            memo[c, LOW_G] = side * memo[c, LOW_G]
            memo[c, HIGH_T], memo[c, HIGH_G] = x, side * value
            memo[c, LOW_W], memo[c, HIGH_W] = memo[c, LOW_G], memo[c, HIGH_G]
            memo[c, MID_T], memo[c, MID_G], memo[c, TURN], memo[c, SHRUNK] = x, side * value, 0.0, 0.0
            return refine(unit, c, memo, side, run.rules[e, WITHIN])
        if value < memo[c, MID_G]:
            if x < memo[c, MID_T]:
                memo[c, HIGH_T], memo[c, HIGH_G] = memo[c, MID_T], memo[c, MID_G]
            else:
                memo[c, LOW_T], memo[c, LOW_G] = memo[c, MID_T], memo[c, MID_G]
            memo[c, MID_T], memo[c, MID_G] = x, value
        elif x < memo[c, MID_T]:
            memo[c, LOW_T], memo[c, LOW_G] = x, value
        else:
            memo[c, HIGH_T], memo[c, HIGH_G] = x, value
        memo[c, TURN] += 1.0
        left, right = memo[c, MID_T] - memo[c, LOW_T], memo[c, HIGH_T] - memo[c, MID_T]
        down, up = memo[c, LOW_G] - memo[c, MID_G], memo[c, HIGH_G] - memo[c, MID_G]
        bend = down * right + up * left
        if memo[c, TURN] >= PROBES or memo[c, MID_G] > DIP * top or not bend > 0.0:
            return False
        following = memo[c, MID_T] + (up * left * left - down * right * right) / (-2.0 * bend)
        is_inside = memo[c, LOW_T] < following and following < memo[c, HIGH_T]
        if not is_inside or following == x or following == memo[c, MID_T]:
            return False
        unit[at_h + c] = following
        return True

    @loop
    def next_of(c: int, found: Any) -> int:
        """The flat index (event, body) of the earliest root; -1 if there is none."""
        first, earliest = -1, np.inf
        for e in range(found.shape[2]):
            for b in range(found.shape[3]):
                if found[c, ROOT, e, b] > 0.0 and found[c, ROOT, e, b] < earliest:
                    first, earliest = e * found.shape[3] + b, found[c, ROOT, e, b]
        return first

    @loop
    def is_zero_at_end(run: ClockedRun, unit: Any, c: int, before: float, value: float) -> bool:
        """Whether a function reaches zero within rounding of the end of the run, but not before it."""
        reached = unit[at_t + c] + unit[at_tried + c]
        rounding = 2.0 * grid_rounding(run.start + run.end, 0.0)
        if not run.is_last or run.end - reached > rounding:
            return False
        rate = (before - value) * EVENT_POINTS / unit[at_tried + c]
        return value >= 0.0 and rate > 0.0 and value <= rate * rounding

    @loop
    def look(run: ClockedRun, unit: Any, c: int, who: int, memo: Any, found: Any) -> bool:
        """Classify all crossings in the current subinterval; return True if one has to be located first."""
        j = int(memo[c, SUB])
        for e in range(count_events):
            for b in range(run.memory.shape[2]):
                if found[c, ROOT, e, b] != UNSEEN:
                    continue
                side, down = run.memory[who, e, b, SIDE], memo[c, DOWN_T]
                part = memo[c, TRIED] / EVENT_POINTS
                is_here = part * (j - 1) < down and down <= part * j and memo[c, DIP_E] == e and memo[c, DIP_B] == b
                if j == EVENT_POINTS and is_zero_at_end(
                    run, unit, c, side * found[c, j - 1, e, b], side * found[c, j, e, b]
                ):
                    is_counted = run.rules[e, BODIES + b] != 0.0 and run.counts[who, e] < run.rules[e, LIMIT]
                    is_counted = is_counted and run.rules[e, DIRECTION] * side <= 0.0 and side != UNKNOWN
                    found[c, ROOT, e, b] = memo[c, TRIED] if is_counted else IGNORED
                elif is_here:
                    found[c, ROOT, e, b] = down
                    if memo[c, UP_T] > 0.0 and run.rules[e, DIRECTION] * side > 0.0:
                        found[c, ROOT, e, b], memo[c, UP_T] = memo[c, UP_T], 0.0
                elif run.rules[e, BODIES + b] == 0.0 or side == UNKNOWN or not side * found[c, j, e, b] < 0.0:
                    found[c, ROOT, e, b] = np.inf
                elif run.counts[who, e] >= run.rules[e, LIMIT] or run.rules[e, DIRECTION] * side > 0.0:
                    found[c, ROOT, e, b] = IGNORED
                else:
                    memo[c, EVENT], memo[c, BODY] = e, b
                    memo[c, LOW_T] = memo[c, TRIED] * ((j - 1) / EVENT_POINTS)
                    memo[c, HIGH_T] = memo[c, TRIED] * (j / EVENT_POINTS)
                    memo[c, PHASE], unit[at_h + c] = HIGH, memo[c, HIGH_T]
                    return True
        return False

    @loop
    def conclude(run: ClockedRun, unit: Any, c: int, who: int, memo: Any) -> bool:
        """Before the step is accepted: write outputs inside it, and try it once more if others came between."""
        s, t = run.done[who], unit[at_t + c]
        if not is_dense and s < len(run.stops):
            rest, rounding = run.stops[s] - t, grid_rounding(run.start + t, memo[c, FULL])
            if rest < min(memo[c, FINAL], run.end - t) - rounding:
                memo[c, PHASE], unit[at_h + c] = SAMPLING, rest
                return False
        if unit[at_h + c] == memo[c, FINAL] and memo[c, PHASE] == STEP:
            memo[c, PHASE] = ACCEPTED
            return True
        memo[c, PHASE], unit[at_h + c] = LAST, memo[c, FINAL]
        return False

    @loop
    def go_on(run: ClockedRun, unit: Any, c: int, who: int, memo: Any, found: Any) -> bool:
        """Go through the subintervals; return True if the step that was tried is to be accepted as it is."""
        bodies = run.memory.shape[2]
        while memo[c, SUB] <= EVENT_POINTS:
            if look(run, unit, c, who, memo, found):
                return False
            first = next_of(c, found)
            while first >= 0 and memo[c, ENDING] == 0.0:
                e, b = first // bodies, first % bodies
                left = run.rules[e, LIMIT] - run.counts[who, e]
                if left > 0.0:
                    memo[c, EVENT], memo[c, BODY] = e, b
                    if run.rules[e, ACTION] == CHANGE or (run.rules[e, ACTION] == STOP and left == 1.0):
                        memo[c, ENDING], memo[c, FINAL] = 1.0, found[c, ROOT, e, b]
                        break
                    memo[c, PHASE], unit[at_h + c] = RECORDING, found[c, ROOT, e, b]
                    return False
                found[c, ROOT, e, b] = LOGGED
                first = next_of(c, found)
            j = int(memo[c, SUB])
            for e in range(count_events):  # if the step ends in this subinterval, later crossings are still to come
                for b in range(bodies):
                    passed = found[c, ROOT, e, b] == IGNORED or run.memory[who, e, b, SIDE] == UNKNOWN
                    if found[c, ROOT, e, b] == LOGGED or (passed and memo[c, ENDING] == 0.0):
                        run.memory[who, e, b, SIDE] = sign(found[c, j, e, b])
                    found[c, ROOT, e, b] = UNSEEN
            if memo[c, ENDING] > 0.0:
                break
            memo[c, SUB] += 1.0
        return conclude(run, unit, c, who, memo)

    @loop
    def locate(run: ClockedRun, unit: Any, c: int, who: int, memo: Any, found: Any) -> bool:
        """Use the value after the step that was tried; return True if the search goes on with another."""
        e, b, phase = int(memo[c, EVENT]), int(memo[c, BODY]), memo[c, PHASE]
        side, value = run.memory[who, e, b, SIDE], unit[place_of(c, b) + after_at + e * event_stride]
        if memo[c, STAGE] == 2.0:
            side = -side
        if phase == HIGH:
            memo[c, HIGH_G], memo[c, LOW_G], memo[c, TURN], memo[c, SHRUNK] = value, 0.0, 0.0, 0.0
            if not side * value <= 0.0:  # steps find no root where the interpolant did
                found[c, ROOT, e, b] = np.inf
                return False
            if memo[c, LOW_T] > 0.0:
                memo[c, PHASE], unit[at_h + c] = LOW, memo[c, LOW_T]
                return True
            memo[c, LOW_W], memo[c, HIGH_W] = 0.0, value
        elif phase == LOW:
            memo[c, LOW_G] = value
            if side * value <= 0.0:  # slightly earlier than the interpolant suggested
                memo[c, HIGH_T], memo[c, HIGH_G] = memo[c, LOW_T], value
                memo[c, LOW_T], memo[c, LOW_G] = max(memo[c, LOW_T] - memo[c, TRIED] / EVENT_POINTS, 0.0), 0.0
            memo[c, LOW_W], memo[c, HIGH_W] = memo[c, LOW_G], memo[c, HIGH_G]
        elif side * value > 0.0:
            memo[c, LOW_T], memo[c, LOW_G], memo[c, LOW_W] = unit[at_h + c], value, value
            if memo[c, SHRUNK] == 1.0:
                memo[c, HIGH_W] = memo[c, HIGH_W] / 2
            memo[c, SHRUNK], memo[c, TURN] = 1.0, memo[c, TURN] + 1.0
        else:
            memo[c, HIGH_T], memo[c, HIGH_G], memo[c, HIGH_W] = unit[at_h + c], value, value
            if memo[c, SHRUNK] == -1.0:
                memo[c, LOW_W] = memo[c, LOW_W] / 2
            memo[c, SHRUNK], memo[c, TURN] = -1.0, memo[c, TURN] + 1.0
        if refine(unit, c, memo, side, run.rules[e, WITHIN]):
            return True
        is_low = side * memo[c, LOW_G] > 0.0 and abs(memo[c, LOW_G]) < abs(memo[c, HIGH_G])
        root = memo[c, LOW_T] if is_low else memo[c, HIGH_T]
        if memo[c, STAGE] == 0.0:
            found[c, ROOT, e, b] = root
        elif memo[c, STAGE] == 1.0:  # and now where it comes back
            memo[c, DOWN_T], memo[c, STAGE], memo[c, TURN], memo[c, SHRUNK] = root, 2.0, 0.0, 0.0
            memo[c, LOW_T], memo[c, LOW_G], memo[c, LOW_W] = memo[c, MID_T], memo[c, MID_G], memo[c, MID_G]
            memo[c, HIGH_T], memo[c, HIGH_G], memo[c, HIGH_W] = memo[c, BACK_T], memo[c, BACK_G], memo[c, BACK_G]
            return refine(unit, c, memo, -side, run.rules[e, WITHIN])
        else:
            memo[c, UP_T], memo[c, STAGE], memo[c, LOOKED] = root, 0.0, count_events * run.memory.shape[2]
        return False

    @loop
    def decide(run: ClockedRun, unit: Any, c: int, who: int, memo: Any, found: Any) -> bool:
        """What a lane does next; return True if its step is to be accepted or rejected as it is."""
        phase = memo[c, PHASE]
        if phase == LAST:
            memo[c, PHASE] = ACCEPTED
            unit[at_error + c] = min(unit[at_error + c], 1.0)
            if not is_adaptive:
                unit[at_h + c] = memo[c, FULL]
            return True
        if phase == STEP:
            if unit[at_error + c] > 1.0:
                return True
            if not begin_search(run, unit, c, who, memo, found):
                unit[at_h + c], run.halted[who] = 0.0, WRONG_SIDE
                return False
            if find_dip(run, unit, c, who, memo, found):
                return False
        elif phase == PROBE:
            if probe(run, unit, c, who, memo) or find_dip(run, unit, c, who, memo, found):
                return False
        elif phase == RECORDING:
            e, b = int(memo[c, EVENT]), int(memo[c, BODY])
            row = run.log[run.found[0]]
            row[0], row[1], row[2] = e, who, b
            reached = step_end(unit[at_t + c], unit[at_h + c], run.end)
            log_trial(unit, place_of(c, b), row, run.start + reached, unit[at_h + c])
            run.found[0] += 1
            run.counts[who, e] += 1
            found[c, ROOT, e, b] = LOGGED
            if memo[c, UP_T] > 0.0 and memo[c, DIP_E] == e and memo[c, DIP_B] == b:
                if run.rules[e, DIRECTION] == 0.0:  # and it comes back
                    found[c, ROOT, e, b] = memo[c, UP_T]
                memo[c, UP_T] = 0.0
        elif phase == SAMPLING:
            write_trial(run, unit, c, who)
            return conclude(run, unit, c, who, memo)
        elif locate(run, unit, c, who, memo, found):
            return False
        return go_on(run, unit, c, who, memo, found)

    @loop
    def search(run: ClockedRun, unit: Any, who: Any, busy: Any, memo: Any, found: Any) -> None:
        begins, locates = False, False
        for c in range(slots):
            if busy[c] and memo[c, PHASE] == STEP and unit[at_error + c] <= 1.0:
                begins = True
            if busy[c] and memo[c, PHASE] >= HIGH and memo[c, PHASE] <= PROBE:
                locates = True
        if begins:
            fit(run, unit)
            sample_events(run, unit)
        if locates:
            evaluate_trial(run, unit)
        for c in range(slots):
            if busy[c] and not decide(run, unit, c, who[c], memo, found):
                unit[at_tried + c], unit[at_error + c] = 0.0, 1e300

    return search


def _build_trial_writer(renormalize: Loop, layout: Layout, is_system: bool) -> Loop:
    """Write the state after the step that was tried as the next sample."""
    lanes, size, sample_size, drift_at = layout.lanes, layout.size, layout.sample_size, layout.drift
    state, trial, at_tried, slots = layout.state, layout.trial, layout.attempt[0], 1 if is_system else lanes

    def write_one(unit: Any, at: Any, h: Any, row: Any, to: Any) -> None:
        y = read(unit, at, trial)
        renormalized, drift = renormalize(y[:4], h)
        write(row, to, state, renormalized + y[4:])
        row[drift_at + to] = larger(unit[drift_at + at], drift)
        unit[drift_at + at] = 0.0

    @loop
    def write_trial(run: ClockedRun, unit: Any, c: int, who: int) -> None:
        bodies, s = len(unit) // size * lanes if is_system else 1, run.done[who]
        u, lane = who // slots, who % slots
        for b in range(bodies):
            at, to = c + b // lanes * size + b % lanes, lane + b // lanes * sample_size + b % lanes
            write_one(unit, at, unit[at_tried + c], run.out[s, u], to)
        run.done[who] = s + 1

    return write_trial


def _build_action(events: EventLaws, layout: Layout, is_system: bool) -> Loop:
    """After a step that ended at an event: log it, then stop or apply the jump of the momenta."""
    lanes, size, numbers = layout.lanes, layout.size, layout.sample_size // layout.lanes
    at_t, at_h, at_flag = layout.clock[0], layout.clock[1], layout.clock[2]
    count_events, changes = events.number, events.changes
    before_at, behind_at = layout.event_values[0][0], layout.event_values[1][0]
    is_adaptive = events.is_adaptive

    @loop
    def act(run: ClockedRun, unit: Any, c: int, who: int, e: int, b: int) -> None:
        at, t = c + b // lanes * size + b % lanes, unit[at_t + c]
        row = run.log[run.found[0]]
        row[0], row[1], row[2], row[3] = e, who, b, run.start + t
        for i in range(numbers):
            row[LOG_HEADER + i] = unit[at + i * lanes]
        run.found[0] += 1
        run.counts[who, e] += 1
        if is_adaptive:
            unit[at_flag + c] = 0.0
        if run.rules[e, ACTION] == STOP:
            unit[at_h + c], run.halted[who] = 0.0, STOPPED
            return
        for i in range(count_events):
            change = changes[i]
            if e == i:
                change(unit, at, run.start + t)
        for i in range(count_events):  # a discontinuous sign change does not trigger an event
            before, behind = unit[at + before_at + i * lanes], unit[at + behind_at + i * lanes]
            if i == e:
                run.memory[who, i, b, SIDE] = HANDLED * run.memory[who, i, b, SIDE]
            elif before * behind < 0.0:
                run.memory[who, i, b, SIDE] = sign(behind)
        zeno_count = run.memory[who, e, b, ZENO_COUNT] + 1.0
        if not t - run.memory[who, e, b, SINCE] < run.shortest:
            zeno_count = 0.0
        run.memory[who, e, b, ZENO_COUNT], run.memory[who, e, b, SINCE] = zeno_count, t
        if zeno_count >= ZENO_LIMIT:
            unit[at_h + c], run.halted[who] = 0.0, ENDLESS

    return act
