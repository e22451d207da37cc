"""The loop of steps that are tried: every body, or every system, has its own clock, samples and events.

A lane whose body has arrived takes the next body, so that no lane waits for another.  Where the value of an event
function changes sign inside a step, its root is located with steps of the method itself from the same start, so that
the state there is as accurate as any other: for a while the lane tries steps of lengths that the search chooses, and
its clock stands still.  So a body has the same steps, and the same bits, alone and in any lane.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from polhode.equations.scalar_ops import larger
from polhode.integrate.loops.attempts import Attempts, grid_rounding
from polhode.integrate.loops.event_laws import HANDLED, UNKNOWN, Action, EventLaws, sign, starting_side
from polhode.integrate.loops.layout import EVENT_POINTS, KEPT_CLOCK, KernelArray, Layout, first_place, read, write
from polhode.ir.loops import Loop, loop
from polhode.ir.records import Record, numbers
from polhode.methods.dense_output import evaluate_interpolant
from polhode.methods.roots import narrow_bracket
from polhode.methods.runge_kutta import step_end

RUNNING, STOPPED, ENDLESS, WRONG_SIDE = 0, 1, 2, 3
"""Whether and why a body or system was halted by an event."""
ZENO_LIMIT = 3
"""This many changes in a row, each within the shortest interval after the last, would go on forever."""
UNSEEN, IGNORED, LOGGED = -3.0, -1.0, -2.0
"""In place of the time of a crossing: not looked at yet, it does not count, or it was logged."""
UNIT_ROUNDOFF = 2.0**-52
DIP = 1 / 64
"""A minimum of a function is looked at closely if a parabola puts it below this part of its range in the step."""
TOUCH = 1e-12
"""A function whose minimum is this part of its range in the step touches zero."""
PROBES = 12
"""The most steps to find the bottom of a dip."""
STANDSTILL = 1e-16
"""A change has stopped a function if its first rate moves it by less than this part of its way in the next step."""


class Phase:
    """What an attempt of a lane is for."""

    STEP = 0
    HIGH, LOW, REFINE = 1, 2, 3
    """An end of the interval of a root, or a point inside."""
    PROBE = 4
    """The bottom of a dip."""
    RECORDING, SAMPLING = 5, 6
    """A state to be logged or sampled."""
    LAST, ACCEPTED = 7, 8
    """The step that will be accepted, and that is accepted now."""


class SearchMemory(Record):
    """The memory of a lane's search for events in a step."""

    phase: int
    full: float
    """The step to try next, as it was before the search."""
    tried: float
    """The length of the step."""
    interval: int
    """Which of its EVENT_POINTS subintervals is searched, from 1 on."""
    event: int
    body: int
    final: float
    """The length that will be accepted."""
    is_ending: bool
    """Whether an event ends the step."""
    low_t: float
    high_t: float
    """The interval of the root, with the values at its ends and their weights."""
    low_g: float
    high_g: float
    low_w: float
    high_w: float
    moved: float
    """Which end moved last: 1, -1, or 0."""
    turn: int
    """Iterations."""
    looked: int
    """How many functions were looked at for dips."""
    mid_t: float
    mid_g: float
    """The middle of the interval of a dip."""
    dip_event: int
    dip_body: int
    down_t: float
    up_t: float
    """The times at which the function of the dip crosses zero and comes back."""
    stage: int
    """Which of these is located: 1 or 2; 0: another root."""
    back_t: float
    back_g: float
    """Where it has come back."""


class Root(Record):
    """What a search has found in a step, of an event and a body."""

    values: Any = numbers(EVENT_POINTS + 1)
    """Of the function, at the points of the step."""
    root: float


class ClockedRun(NamedTuple):
    """What the loop takes.  Times count from `start`; a row of `done` and of the events' memory is a body or system."""

    buffer: Annotated[Any, KernelArray(0, has_known_extents=True)]
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
    done: Annotated[Any, KernelArray(0)]
    """The number of outputs written."""
    out: Annotated[Any, KernelArray(1)]
    checkpoints: Annotated[Any, KernelArray(1)]
    rules: Any
    applies: Annotated[Any, KernelArray(has_known_extents=True)]
    """(events, bodies): whether an event concerns a body."""
    memory: Annotated[Any, KernelArray(0, has_known_extents=True)]
    counts: Annotated[Any, KernelArray(0)]
    halted: Annotated[Any, KernelArray(0)]
    shortest: float
    log: Annotated[Any, KernelArray(is_own=True)]
    found: Annotated[Any, KernelArray(is_own=True)]
    """The number of rows in the log."""

    @property
    def variant(self) -> int:
        """Which of the kernels takes it."""
        return 0

    @property
    def is_begun(self) -> bool:
        """Whether outputs have been written before."""
        return bool(self.done.any())


def build_clocked_loop(
    attempts: Attempts, events: EventLaws | None, renormalize: Loop, layout: Layout, is_system: bool, is_dense: bool
) -> Loop:
    """Advance bodies, or systems of bodies, by steps that are tried."""
    attempt, finish = attempts.attempt, attempts.finish
    lanes, size, carried, at_h = layout.lanes, layout.size, layout.carried, layout.clock.h
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
        _, length = run.buffer.shape
        _, _, bodies = run.memory.shape
        block = np.zeros(length if is_system else size)
        who = np.zeros(slots, dtype=np.int64)
        busy, memos = np.zeros(slots, dtype=np.bool_), np.zeros(slots, SearchMemory.dtype)
        found = np.zeros((slots, count_events, bodies), Root.dtype)
        upcoming, final, left = first * slots, last * slots, run.budget * (last - first)
        most = len(run.log) - slots * (EVENT_POINTS + 1) * count_events * bodies
        count = 1
        while count > 0:
            count = 0
            for c in range(slots):
                while True:
                    if busy[c]:
                        u, lane = who[c] // slots, who[c] % slots
                        if count_events > 0 and memos[c].phase != Phase.STEP:
                            count += 1
                            break
                        if write_samples(run, block, c, u, lane) and left > 0 and run.found[()] <= most:
                            count += 1
                            break
                        unload(run, block, c, u, lane)
                        busy[c] = False
                    if upcoming == final or left <= 0 or run.found[()] > most:
                        block[at_h + c] = 0.0  # an empty lane tries steps of zero length
                        break
                    who[c], busy[c] = upcoming, True
                    load(run, block, c, upcoming // slots, upcoming % slots)
                    upcoming += 1
            if count > 0:
                attempt(run, block)
                if count_events > 0:
                    search(run, block, who, busy, memos, found)
                write_inside(run, block, who, busy, memos)
                finish(run, block)
                if count_events > 0:
                    for c in range(slots):
                        memo = memos[c]
                        if busy[c] and memo.phase == Phase.ACCEPTED:
                            memo.phase = Phase.STEP
                            if memo.is_ending:
                                block[at_h + c] = memo.full
                                act(run, block, c, who[c], memo.event, memo.body)
                left -= 1

    return advance


# Samples --------------------------------------------------------------------------------------------------------------
def _build_sample_writer(layout: Layout, is_system: bool) -> Loop:
    """Write the samples that are due; return True while integration must continue."""
    lanes, size, sample_size, drift_at = layout.lanes, layout.size, layout.sample_size, layout.drift
    at_t, at_h, numbers = layout.clock.t, layout.clock.h, layout.sample_size // layout.lanes
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
    size, sample_size, kept = layout.size, layout.sample_size, layout.clock[:KEPT_CLOCK]

    @loop
    def save_checkpoint(run: ClockedRun, unit: Any, u: int, s: int) -> None:
        """Only for units with one clock; does nothing if `checkpoints` is empty."""
        if s < len(run.checkpoints):
            blocks = len(unit) // size
            for block in range(blocks):
                for i in range(sample_size):
                    run.checkpoints[s, u, block * sample_size + i] = unit[block * size + i]
            for i in range(len(kept)):
                run.checkpoints[s, u, blocks * sample_size + i] = unit[kept[i]]

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
    at_t, at_h, at_tried, at_error = layout.clock.t, layout.clock.h, layout.attempt.length, layout.attempt.error
    save_checkpoint, slots = _build_checkpoint_writer(layout), 1 if is_system else lanes

    @loop
    def is_inside(run: ClockedRun, unit: Any, c: int, s: int, memo: SearchMemory) -> bool:
        """An output within rounding of an event that ends the step shows the state after it."""
        if s >= len(run.stops) or unit[at_error + c] > 1.0:
            return False
        reached = step_end(unit[at_t + c], unit[at_h + c], run.end)
        if memo.phase == Phase.ACCEPTED and memo.is_ending:
            reached = reached - grid_rounding(run.start + reached, 0.0)
        return bool(run.stops[s] < reached)

    @loop
    def write_inside(run: ClockedRun, unit: Any, who: Any, busy: Any, memos: Any) -> None:
        wanted = False
        for c in range(slots):
            if busy[c] and is_inside(run, unit, c, run.done[who[c]], memos[c]):
                wanted = True
        if not wanted:
            return
        fit(run, unit)
        bodies = len(unit) // size * lanes if is_system else 1
        for c in range(slots):
            while busy[c] and is_inside(run, unit, c, run.done[who[c]], memos[c]):
                u, lane, s, tried = who[c] // slots, who[c] % slots, run.done[who[c]], unit[at_tried + c]
                theta = (run.stops[s] - unit[at_t + c]) / tried
                save_checkpoint(run, unit, u, s)
                for b in range(bodies):
                    at, to = c + b // lanes * size + b % lanes, lane + b // lanes * sample_size + b % lanes
                    write_point(unit, at, theta, tried, run.out[s, u], to)
                run.done[who[c]] = s + 1

    @loop
    def write_nothing(run: ClockedRun, unit: Any, who: Any, busy: Any, memos: Any) -> None:
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
    at_t, at_h, at_tried, at_error = layout.clock.t, layout.clock.h, layout.attempt.length, layout.attempt.error
    values, slopes = layout.event_values, layout.event_slopes
    start_at, second_at, *_, end_at = map(first_place, values.points)
    after_at, slope_at, point_stride = first_place(values.trial), first_place(slopes), second_at - start_at
    is_adaptive = events.is_adaptive
    slots = 1 if is_system else lanes
    sample_events, evaluate_trial, log_trial = events.sample, events.evaluate_trial, events.log_trial
    write_trial = _build_trial_writer(renormalize, layout, is_system)

    @loop
    def place_of(c: int, b: int) -> int:
        return c + b // lanes * size + b % lanes

    @loop
    def begin_search(run: ClockedRun, unit: Any, c: int, who: int, memo: SearchMemory, found: Any) -> bool:
        """Note the values of all functions in the step; return False if one is on the wrong side after its change."""
        memo.full, memo.tried, memo.interval = unit[at_h + c], unit[at_tried + c], 1
        memo.final, memo.is_ending, memo.looked = unit[at_h + c], False, 0
        memo.down_t, memo.up_t, memo.stage = 0.0, 0.0, 0
        _, _, bodies = run.memory.shape
        for e in range(count_events):
            for b in range(bodies):
                at, crossing, memory = place_of(c, b) + e * lanes, found[e, b], run.memory[who, e, b]
                crossing.root = UNSEEN
                for j in range(EVENT_POINTS + 1):
                    crossing.values[j] = unit[at + start_at + j * point_stride]
                last, end, slope = memory.side, unit[at + end_at], unit[at + slope_at]
                beyond = last * end < 0.0 and last * unit[at + second_at] < 0.0
                if abs(last) == HANDLED and beyond and abs(slope) <= STANDSTILL * abs(end):
                    return False
                memory.side = starting_side(last, unit[at + start_at], slope)
        return True

    @loop
    def refine(unit: Any, c: int, memo: SearchMemory, side: float, within: float) -> bool:
        """The next point to try: regula falsi with the Illinois rule, every sixth a bisection.  False: it is found."""
        low, high, turn = memo.low_t, memo.high_t, memo.turn
        least = max(within / 2, UNIT_ROUNDOFF * high)
        if turn == 200 or memo.high_g == 0.0 or high - low <= 2 * least:
            return False
        middle = low + (high - low) / 2
        if side * memo.low_w > 0.0 and turn % 6 != 5:
            middle = low + (high - low) * (memo.low_w / (memo.low_w - memo.high_w))
            middle = min(max(middle, low + least), high - least)
        if not (low < middle and middle < high):
            return False
        memo.phase, unit[at_h + c] = Phase.REFINE, middle
        return True

    @loop
    def find_dip(run: ClockedRun, unit: Any, c: int, who: int, memo: SearchMemory, found: Any) -> bool:
        """Find a function that may dip to zero and come back between two points; return True if it is to be probed."""
        _, _, bodies = run.memory.shape
        for k in range(memo.looked, count_events * bodies):
            e, b = k // bodies, k % bodies
            memo.looked = k + 1
            side, top, lowest, values = run.memory[who, e, b].side, 0.0, np.inf, found[e, b].values
            for j in range(EVENT_POINTS + 1):
                top, lowest = max(top, side * values[j]), min(lowest, side * values[j])
            is_watched = run.applies[e, b] and run.counts[who, e] < run.rules[e].limit
            if not (is_watched and lowest > 0.0):
                continue
            for j in range(1, EVENT_POINTS):
                low, mid, high = side * values[j - 1], side * values[j], side * values[j + 1]
                bend, fall = low - 2.0 * mid + high, low - high
                if bend > 0.0 and abs(fall) <= 2.0 * bend and mid - fall * fall / (8.0 * bend) < DIP * top:
                    part = memo.tried / EVENT_POINTS
                    memo.event, memo.body, memo.turn, memo.low_w = e, b, 0, top
                    memo.low_t, memo.mid_t, memo.high_t = part * (j - 1), part * j, part * (j + 1)
                    memo.low_g, memo.mid_g, memo.high_g = low, mid, high
                    memo.phase, unit[at_h + c] = Phase.PROBE, part * (j + fall / (2.0 * bend))
                    return True
        return False

    @loop
    def probe(run: ClockedRun, unit: Any, c: int, who: int, memo: SearchMemory) -> bool:
        """Use the value at a point of a dip; return True if the search goes on there.

        If the function is on the other side, it crosses zero twice.  One that only touches zero makes no event.
        """
        e, b, x = memo.event, memo.body, unit[at_h + c]
        side, top = run.memory[who, e, b].side, memo.low_w
        value = side * unit[place_of(c, b) + after_at + e * lanes]
        if abs(value) <= TOUCH * top:
            return False
        if value < 0.0:
            is_left = x < memo.mid_t
            memo.dip_event, memo.dip_body, memo.stage = e, b, 1
            memo.back_t = memo.mid_t if is_left else memo.high_t
            memo.back_g = side * (memo.mid_g if is_left else memo.high_g)
            if not is_left:
                memo.low_t, memo.low_g = memo.mid_t, memo.mid_g
            memo.low_g = side * memo.low_g
            memo.high_t, memo.high_g = x, side * value
            memo.low_w, memo.high_w = memo.low_g, memo.high_g
            memo.mid_t, memo.mid_g, memo.turn, memo.moved = x, side * value, 0, 0
            return refine(unit, c, memo, side, run.rules[e].within)
        if value < memo.mid_g:
            if x < memo.mid_t:
                memo.high_t, memo.high_g = memo.mid_t, memo.mid_g
            else:
                memo.low_t, memo.low_g = memo.mid_t, memo.mid_g
            memo.mid_t, memo.mid_g = x, value
        elif x < memo.mid_t:
            memo.low_t, memo.low_g = x, value
        else:
            memo.high_t, memo.high_g = x, value
        memo.turn += 1
        left, right = memo.mid_t - memo.low_t, memo.high_t - memo.mid_t
        down, up = memo.low_g - memo.mid_g, memo.high_g - memo.mid_g
        bend = down * right + up * left
        if memo.turn >= PROBES or memo.mid_g > DIP * top or not bend > 0.0:
            return False
        following = memo.mid_t + (up * left * left - down * right * right) / (-2.0 * bend)
        is_inside = memo.low_t < following and following < memo.high_t
        if not is_inside or following == x or following == memo.mid_t:
            return False
        unit[at_h + c] = following
        return True

    @loop
    def next_of(found: Any) -> int:
        """The flat index (event, body) of the earliest root; -1 if there is none."""
        first, earliest = -1, np.inf
        events, bodies = found.shape
        for e in range(events):
            for b in range(bodies):
                root = found[e, b].root
                if root > 0.0 and root < earliest:
                    first, earliest = e * bodies + b, root
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
    def look(run: ClockedRun, unit: Any, c: int, who: int, memo: SearchMemory, found: Any) -> bool:
        """Classify all crossings in the current subinterval; return True if one has to be located first."""
        _, _, bodies = run.memory.shape
        j, part, down = memo.interval, memo.tried / EVENT_POINTS, memo.down_t
        for e in range(count_events):
            rule = run.rules[e]
            for b in range(bodies):
                crossing, side = found[e, b], run.memory[who, e, b].side
                if crossing.root != UNSEEN:
                    continue
                before, value = side * crossing.values[j - 1], side * crossing.values[j]
                is_here = part * (j - 1) < down and down <= part * j and memo.dip_event == e and memo.dip_body == b
                if j == EVENT_POINTS and is_zero_at_end(run, unit, c, before, value):
                    is_counted = run.applies[e, b] and run.counts[who, e] < rule.limit
                    is_counted = is_counted and rule.direction * side <= 0.0 and side != UNKNOWN
                    crossing.root = memo.tried if is_counted else IGNORED
                elif is_here:
                    crossing.root = down
                    if memo.up_t > 0.0 and rule.direction * side > 0.0:
                        crossing.root, memo.up_t = memo.up_t, 0.0
                elif not run.applies[e, b] or side == UNKNOWN or not value < 0.0:
                    crossing.root = np.inf
                elif run.counts[who, e] >= rule.limit or rule.direction * side > 0.0:
                    crossing.root = IGNORED
                else:
                    memo.event, memo.body = e, b
                    memo.low_t = memo.tried * ((j - 1) / EVENT_POINTS)
                    memo.high_t = memo.tried * (j / EVENT_POINTS)
                    memo.phase, unit[at_h + c] = Phase.HIGH, memo.high_t
                    return True
        return False

    @loop
    def conclude(run: ClockedRun, unit: Any, c: int, who: int, memo: SearchMemory) -> bool:
        """Before the step is accepted: write outputs inside it, and try it once more if others came between."""
        s, t = run.done[who], unit[at_t + c]
        if not is_dense and s < len(run.stops):
            rest, rounding = run.stops[s] - t, grid_rounding(run.start + t, memo.full)
            if rest < min(memo.final, run.end - t) - rounding:
                memo.phase, unit[at_h + c] = Phase.SAMPLING, rest
                return False
        if unit[at_h + c] == memo.final and memo.phase == Phase.STEP:
            memo.phase = Phase.ACCEPTED
            return True
        memo.phase, unit[at_h + c] = Phase.LAST, memo.final
        return False

    @loop
    def go_on(run: ClockedRun, unit: Any, c: int, who: int, memo: SearchMemory, found: Any) -> bool:
        """Go through the subintervals; return True if the step that was tried is to be accepted as it is."""
        _, _, bodies = run.memory.shape
        while memo.interval <= EVENT_POINTS:
            if look(run, unit, c, who, memo, found):
                return False
            first = next_of(found)
            while first >= 0 and not memo.is_ending:
                e, b = first // bodies, first % bodies
                rule, crossing = run.rules[e], found[e, b]
                left = rule.limit - run.counts[who, e]
                if left > 0.0:
                    memo.event, memo.body = e, b
                    if rule.action == Action.CHANGE or (rule.action == Action.STOP and left == 1.0):
                        memo.is_ending, memo.final = True, crossing.root
                        break
                    memo.phase, unit[at_h + c] = Phase.RECORDING, crossing.root
                    return False
                crossing.root = LOGGED
                first = next_of(found)
            j = memo.interval
            for e in range(count_events):  # if the step ends in this subinterval, later crossings are still to come
                for b in range(bodies):
                    crossing, memory = found[e, b], run.memory[who, e, b]
                    passed = crossing.root == IGNORED or memory.side == UNKNOWN
                    if crossing.root == LOGGED or (passed and not memo.is_ending):
                        memory.side = sign(crossing.values[j])
                    crossing.root = UNSEEN
            if memo.is_ending:
                break
            memo.interval += 1
        return conclude(run, unit, c, who, memo)

    @loop
    def locate(run: ClockedRun, unit: Any, c: int, who: int, memo: SearchMemory, found: Any) -> bool:
        """Use the value after the step that was tried; return True if the search goes on with another."""
        e, b, phase = memo.event, memo.body, memo.phase
        side, value = run.memory[who, e, b].side, unit[place_of(c, b) + after_at + e * lanes]
        if memo.stage == 2:
            side = -side
        if phase == Phase.HIGH:
            memo.high_g, memo.low_g, memo.turn, memo.moved = value, 0.0, 0, 0
            if not side * value <= 0.0:  # steps find no root where the interpolant did
                found[e, b].root = np.inf
                return False
            if memo.low_t > 0.0:
                memo.phase, unit[at_h + c] = Phase.LOW, memo.low_t
                return True
            memo.low_w, memo.high_w = 0.0, value
        elif phase == Phase.LOW:
            memo.low_g = value
            if side * value <= 0.0:  # slightly earlier than the interpolant suggested
                memo.high_t, memo.high_g = memo.low_t, value
                memo.low_t, memo.low_g = max(memo.low_t - memo.tried / EVENT_POINTS, 0.0), 0.0
            memo.low_w, memo.high_w = memo.low_g, memo.high_g
        else:
            bracket = (memo.low_t, memo.low_w, memo.high_t, memo.high_w)
            bracket, memo.moved = narrow_bracket(bracket, memo.moved, unit[at_h + c], value, side * value)
            memo.low_t, memo.low_w, memo.high_t, memo.high_w = bracket
            memo.turn = memo.turn + 1
            if side * value > 0.0:
                memo.low_g = value
            else:
                memo.high_g = value
        if refine(unit, c, memo, side, run.rules[e].within):
            return True
        is_low = side * memo.low_g > 0.0 and abs(memo.low_g) < abs(memo.high_g)
        root = memo.low_t if is_low else memo.high_t
        if memo.stage == 0:
            found[e, b].root = root
        elif memo.stage == 1:  # and now where it comes back
            memo.down_t, memo.stage, memo.turn, memo.moved = root, 2, 0, 0
            memo.low_t, memo.low_g, memo.low_w = memo.mid_t, memo.mid_g, memo.mid_g
            memo.high_t, memo.high_g, memo.high_w = memo.back_t, memo.back_g, memo.back_g
            return refine(unit, c, memo, -side, run.rules[e].within)
        else:
            _, _, bodies = run.memory.shape
            memo.up_t, memo.stage, memo.looked = root, 0, count_events * bodies
        return False

    @loop
    def decide(run: ClockedRun, unit: Any, c: int, who: int, memo: SearchMemory, found: Any) -> bool:
        """What a lane does next; return True if its step is to be accepted or rejected as it is."""
        phase = memo.phase
        if phase == Phase.LAST:
            memo.phase = Phase.ACCEPTED
            unit[at_error + c] = min(unit[at_error + c], 1.0)
            if not is_adaptive:
                unit[at_h + c] = memo.full
            return True
        if phase == Phase.STEP:
            if unit[at_error + c] > 1.0:
                return True
            if not begin_search(run, unit, c, who, memo, found):
                unit[at_h + c], run.halted[who] = 0.0, WRONG_SIDE
                return False
            if find_dip(run, unit, c, who, memo, found):
                return False
        elif phase == Phase.PROBE:
            if probe(run, unit, c, who, memo) or find_dip(run, unit, c, who, memo, found):
                return False
        elif phase == Phase.RECORDING:
            e, b = memo.event, memo.body
            reached, row = step_end(unit[at_t + c], unit[at_h + c], run.end), run.log[run.found[()]]
            row.event, row.clock, row.body, row.time = e, who, b, run.start + reached
            log_trial(unit, place_of(c, b), row.sample, unit[at_h + c])
            run.found[()] += 1
            run.counts[who, e] += 1
            found[e, b].root = LOGGED
            if memo.up_t > 0.0 and memo.dip_event == e and memo.dip_body == b:
                if run.rules[e].direction == 0.0:  # and it comes back
                    found[e, b].root = memo.up_t
                memo.up_t = 0.0
        elif phase == Phase.SAMPLING:
            write_trial(run, unit, c, who)
            return conclude(run, unit, c, who, memo)
        elif locate(run, unit, c, who, memo, found):
            return False
        return go_on(run, unit, c, who, memo, found)

    @loop
    def search(run: ClockedRun, unit: Any, who: Any, busy: Any, memos: Any, found: Any) -> None:
        begins, locates = False, False
        for c in range(slots):
            if busy[c] and memos[c].phase == Phase.STEP and unit[at_error + c] <= 1.0:
                begins = True
            if busy[c] and memos[c].phase >= Phase.HIGH and memos[c].phase <= Phase.PROBE:
                locates = True
        if begins:
            fit(run, unit)
            sample_events(run, unit)
        if locates:
            evaluate_trial(run, unit)
        for c in range(slots):
            if busy[c] and not decide(run, unit, c, who[c], memos[c], found[c]):
                unit[at_tried + c], unit[at_error + c] = 0.0, 1e300

    return search


def _build_trial_writer(renormalize: Loop, layout: Layout, is_system: bool) -> Loop:
    """Write the state after the step that was tried as the next sample."""
    lanes, size, sample_size, drift_at = layout.lanes, layout.size, layout.sample_size, layout.drift
    state, trial, at_tried, slots = layout.state, layout.trial, layout.attempt.length, 1 if is_system else lanes

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
    at_t, at_h, at_rejected = layout.clock.t, layout.clock.h, layout.clock.rejected if events.is_adaptive else 0
    count_events, changes = events.number, events.changes
    before_at, behind_at, *_ = map(first_place, layout.event_values.points)
    is_adaptive = events.is_adaptive

    @loop
    def act(run: ClockedRun, unit: Any, c: int, who: int, e: int, b: int) -> None:
        at, t, memory = c + b // lanes * size + b % lanes, unit[at_t + c], run.memory[who, e, b]
        row = run.log[run.found[()]]
        row.event, row.clock, row.body, row.time = e, who, b, run.start + t
        for i in range(numbers):
            row.sample[i] = unit[at + i * lanes]
        run.found[()] += 1
        run.counts[who, e] += 1
        if is_adaptive:
            unit[at_rejected + c] = 0.0
        if run.rules[e].action == Action.STOP:
            unit[at_h + c], run.halted[who] = 0.0, STOPPED
            return
        for i in range(count_events):
            change = changes[i]
            if e == i:
                change(unit, at, run.start + t)
        for i in range(count_events):  # a discontinuous sign change does not trigger an event
            before, behind = unit[at + before_at + i * lanes], unit[at + behind_at + i * lanes]
            if i == e:
                memory.side = HANDLED * memory.side
            elif before * behind < 0.0:
                run.memory[who, i, b].side = sign(behind)
        memory.zeno_count = memory.zeno_count + 1 if t - memory.since < run.shortest else 0
        memory.since = t
        if memory.zeno_count >= ZENO_LIMIT:
            unit[at_h + c], run.halted[who] = 0.0, ENDLESS

    return act
