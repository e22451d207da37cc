"""A run by Taylor series: heyoka's adaptive integrator, fed with the scenario's own equations.  [Biscani 2021]

Steps are as long as the series allow; outputs come from the series (dense output), so they change no step.  Within a
segment q is not renormalized (q' is linear in q, and the series keep |q| to rounding); it is renormalized in the
samples, at the ends of segments, and every few thousand steps.
"""

from __future__ import annotations

import copy
import threading
from contextlib import closing
from dataclasses import replace
from time import perf_counter
from types import SimpleNamespace
from typing import Any

import numpy as np

from polhode.equations.inertia import constants_for_forces
from polhode.equations.right_hand_side import build_view
from polhode.equations.rigid_body import turn_per_step
from polhode.errors import ScenarioError
from polhode.integrate.event_log import ZENO_INTERVAL
from polhode.integrate.integrator import (
    CORES,
    PORTION_S,
    Integrator,
    OneByOneError,
    RunAlone,
    on_threads,
    runs_in_lanes,
)
from polhode.integrate.journal import StreamReader
from polhode.integrate.outputs import Outputs
from polhode.integrate.run_plan import RunPlan
from polhode.integrate.run_result import EventRecord, Failure, Report
from polhode.integrate.run_state import Log, Snapshot, events_of_rows, rows_of_events
from polhode.integrate.taylor.heyoka_equations import SWITCH, SegmentEquations, build_equations
from polhode.integrate.taylor.heyoka_integrator import (
    LARGEST_RATIO,
    SAME_INSTANT,
    SegmentIntegrator,
    TaylorVariables,
    propagate_batch,
)
from polhode.integrate.taylor.heyoka_pool import (
    UNROLLED_LIMIT,
    UNROLLED_LIMIT_FOR_MANY,
    acquire_integrator,
    parameter_values,
    release_integrator,
)
from polhode.integrate.timeline import Segment, apply_impulses
from polhode.ir.targets.heyoka import import_heyoka
from polhode.scenario.event import Event
from polhode.scenario.force import flatten_leaves, map_leaves
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import split_groups
from polhode.validation import Array

FIRST_PORTION, LARGEST_PORTION = 50, 5000
"""Steps between two checks of the units of the groups and of |q|."""
MANY = 1000
"""An ensemble of more members than this is worth a longer compilation."""
EVENT_START_FRACTION = 2.0**-20
"""As a fraction of a segment: an event this soon after its start counts as an event at its start."""
STANDS_STILL = 1e-6
"""A change that leaves less than this of the slope of an event's function has stopped it."""
MOST_SWITCHES = 100_000
"""A force that switches branches more often than this in one segment is chattering."""


class TaylorSeries(Integrator):
    """Steps by Taylor series, of one body or of bodies that act on each other; or of independent ones in SIMD lanes."""

    STATE = (
        "now", "steps", "switches", "switched", "stopped_at", "failure", "counts", "last", "until", "boundary",
        "landing", "is_zeno", "failed",
    )  # fmt: skip
    LOGS = (Log("events", "crossings", rows_of_events, events_of_rows),)

    def __init__(self, run: RunPlan, threads: int | None = None, report: Report | None = None) -> None:
        import_heyoka()
        scenario = run.scenario
        if max(scenario.tolerances[1]) > 0:
            raise ScenarioError(
                f"method 'taylor' takes no atol, but atol={scenario.atol!r} was given: set the accuracy with rtol, "
                "or use method='dop853'"
            )
        self.run, self.scenario, self.report, self.threads = run, scenario, report, threads or CORES
        self.variables = TaylorVariables(scenario, run.counts_work)
        self.columns = self.variables.columns
        self.now = self.variables.start()
        self.in_lanes = runs_in_lanes(scenario)
        self.steps = self.switches = self.refused = 0
        self.switched = -np.inf
        """The time of the last switch of branches."""
        self.crossings = []
        self.counts = [0] * len(scenario.events)
        self.last: dict[tuple[int, int], float] = {}
        """The last time of each (event, body)."""
        self.until: dict[tuple[int, int], float] = {}
        """When the function of an (event, body) has left the zero of the start, or of its last change."""
        self.boundary: list[tuple[int, float]] = []
        """The events whose functions are zero at the end of a segment, and the side from which each came."""
        self.landing: tuple[int, float] | None = None
        """The event that has just made a change, and the slope of its function as it came."""
        self.is_zeno = False
        self.failed = np.zeros(scenario.count, dtype=bool)
        self._in_journal = 0
        """How many outputs of the segment the journal has."""

    @property
    def end(self) -> float:
        """The end of the run; a stepper knows none."""
        return np.inf if self.is_stepped else float(self.scenario.times[-1])

    # What the driver asks ---------------------------------------------------------------------------------------------
    @property
    def samples(self) -> Array:
        return self.variables.to_samples(self.now)

    def set_state(self, samples: Array) -> None:
        self.now = np.array(samples[:, self.columns.integrated])

    def apply_impulses(self, t: float) -> bool:
        impulses = self.run.timeline.impulses_at(t)
        if impulses:
            self.now = self._after_impulses(self.samples, t, impulses)
        return bool(impulses)

    def begin_segment(self, segment: Segment) -> None:
        self._middle = segment.middle

    def integrate(self, segment: Segment) -> Array:
        """The samples at the outputs of a segment; advances `now` to its end."""
        a, b, wanted = segment.start, segment.end, segment.outputs
        rows: list[Array] = []
        self._in_journal = 0
        if a == b:
            rows.append(self.samples[None][: len(wanted)] if self.in_lanes else self.now[None][: len(wanted)])
            self._append_rows(rows, 0)
            return self.samples[None][: len(wanted)]
        if self.in_lanes:
            return self._integrate_lanes(a, b, wanted, self._middle)
        # A step that starts at an event's zero misses the next one: keep it short.
        ends = [a + EVENT_START_FRACTION * (b - a), b] if self.scenario.events else [b]
        if self.inside is not None:
            a, rows = self.inside["begin"], [self.inside["rows"].reshape(-1, *self.now.shape)]
            self._in_journal = len(rows[0]) - self.inside["held_back"]
        for end in ends:
            while a < end and self.failure is None and self.stopped_at is None:
                left = wanted[self.inside["first"] if self.inside is not None else sum(map(len, rows)) :]
                a = self._integrate_coupled(a, end, left if end == b else left[left < end], self._middle, rows)
        self._append_rows(rows, 0)
        samples = self.variables.to_samples(np.concatenate([np.empty((0, *self.now.shape)), *rows]))
        if self.stopped_at is not None:
            samples = samples[: int((wanted < self.stopped_at).sum())]
        return samples

    def finish(self, times: Array, samples: Array, run_alone: RunAlone) -> Failure | None:  # noqa: ARG002
        self.crossings.sort(key=lambda crossing: crossing.time)
        return self.failure or self._failed_member(samples, run_alone)

    def params_of(self, force: int, body: int) -> Array:  # noqa: ARG002
        return np.array(flatten_leaves(self.scenario.of_kind("body")[force].params))

    def set_params(self, force: int, numbers: Array, body: int) -> None:  # noqa: ARG002
        f, values = self.scenario.of_kind("body")[force], iter(numbers.tolist())
        changed = replace(f, params=map_leaves(lambda _: next(values), f.params))
        forces = tuple(changed if other is f else other for other in self.scenario.forces)
        self.scenario = self.variables.scenario = replace(self.scenario, forces=forces)

    def save(self) -> Any:
        return self.scenario, super().save()

    def restore(self, saved: Any) -> None:
        self.scenario, state = saved
        self.variables.scenario = self.scenario
        super().restore(state)

    # Continuing a run that was killed -------------------------------------------------------------------------------
    def starting_numbers(self) -> bytes:
        return np.ascontiguousarray(self.now).tobytes()

    def restore_snapshot(self, snapshot: Snapshot, inside: Snapshot | None, reader: StreamReader) -> None:
        super().restore_snapshot(snapshot, inside, reader)
        if self.inside is not None and inside is not None:
            rows, held_back = self.inside["rows"], inside["held_back"]
            rows = np.concatenate([part.reshape(len(part), self.now.size) for part in (rows, held_back)])
            self.inside = {**inside, "rows": rows, "held_back": len(held_back)}

    def read_segment(self, reader: StreamReader, segment: Segment, ended: bool) -> Array:
        rows = reader.take(Outputs.STREAM, None if ended else len(segment.outputs))
        if self.in_lanes:
            return rows.reshape(len(rows), self.scenario.count, -1)
        return self.variables.to_samples(rows.reshape(len(rows), *self.now.shape))

    def _append_rows(self, rows: list[Array], held_back: int) -> None:
        """Give the journal the outputs that are new, but the last ones, which may still change; and the events."""
        if self.journal is None:
            return
        first, last = self._in_journal, sum(map(len, rows)) - held_back
        if last > first:
            new = np.concatenate(rows)[first:last]
            self.journal.append(Outputs.STREAM, new.reshape(len(new), -1))
        for name, new_rows in self.state.new_rows().items():
            self.journal.append(name, new_rows)
        self._in_journal = max(first, last)

    def _write_inside(self, integrator: SegmentIntegrator, rows: list[Array], place: Snapshot) -> None:
        """Write down all that is needed to continue in the middle of a segment."""
        done = sum(map(len, rows))
        held_back = rows[-1][-1:] if done > self._in_journal else np.empty((0, *self.now.shape))
        self._append_rows(rows, len(held_back))
        inside = {**place, **integrator.snapshot(), "held_back": held_back}
        self.write_snapshot(integrator.time, inside)

    def _after_impulses(self, samples: Array, t: float, impulses: list[Any]) -> Array:
        """The state after impulses, (bodies or members, numbers)."""
        columns = self.variables.columns
        return apply_impulses(self.scenario, samples, columns, t, impulses)[:, columns.integrated]

    # One body, or a system ------------------------------------------------------------------------------------------
    def _integrate_coupled(self, a: float, b: float, wanted: Array, middle: float, rows: list[Array]) -> float:
        """Integrate to b, or to an event that changes the motion; return the time reached."""
        with closing(SegmentIntegrator(self.variables, self.now, a, b, middle)) as integrator:
            return self._advance_coupled(integrator, a, b, wanted, rows)

    def _advance_coupled(
        self, integrator: SegmentIntegrator, a: float, b: float, wanted: Array, rows: list[Array]
    ) -> float:
        first, has_moved = sum(map(len, rows)), False
        if self.inside is None:
            self._settle_events(integrator)
        until = b
        if self.scenario.events and b == self.end:  # an event exactly at the end lies inside the last step
            until = b + self._rounding_of_time(b)
        pending = np.append(wanted, until) if not len(wanted) or wanted[-1] < until else wanted
        count, portion, most = len(wanted), FIRST_PORTION, self.switches + MOST_SWITCHES
        inside, self.inside = self.inside, None
        if inside is None:
            goes_on = not self._handle_boundary(integrator) or self._resume(integrator)
        else:
            goes_on, first = True, inside["first"]
            pending = pending[len(pending) - inside["pending"] :]
            count, portion, most = inside["count"], inside["portion"], inside["most"]
            integrator.restore_snapshot(inside)
        while goes_on:
            while len(pending) and pending[0] <= integrator.time:
                pending = pending[1:]
                if count:
                    rows.append(integrator.state()[None])
                    count -= 1
            if not len(pending):
                break
            if not integrator.settles:
                self._fail_between_branches(integrator)
            if self.failure is not None:
                break
            if has_moved and self.journal is not None and self.journal.is_due() and integrator.can_be_restored():
                place = {"begin": a, "first": first, "pending": len(pending), "count": count}
                self._write_inside(integrator, rows, {**place, "portion": portion, "most": most})
            before, has_moved = integrator.save(), True
            if integrator.ahead:
                outcome, taken, states = integrator.leave_switch(float(pending[0]))
            else:
                outcome, taken, states = integrator.advance(pending, portion)
            if self.journal is not None and isinstance(outcome, int):
                integrator.mark_stop()
            self.steps += taken
            if len(states[:count]):
                rows.append(integrator.unpack_state(states[:count]))
            pending, count = pending[len(states) :], max(0, count - len(states))
            if isinstance(outcome, int) and integrator.system.events[outcome][0] == SWITCH:
                self.switched = integrator.time
            self._log_recorded_events(integrator)
            if outcome == "end":
                continue
            stands_still = integrator.time - before[0] <= 4 * taken * np.spacing(abs(before[0]))
            if outcome == "failed" or (outcome == "portion" and stands_still):
                self._locate_failure(integrator, before, outcome)
                break
            if isinstance(outcome, int):
                if self._handle_stop(integrator, outcome):
                    if count < len(wanted):
                        self._show_change(rows, float(wanted[len(wanted) - count - 1]), integrator.time)
                    goes_on = self._resume(integrator)
                    continue
                if self.switches > most:
                    self._locate_failure(integrator, integrator.save(), outcome)
                    break
                continue
            integrator.renormalize()
            portion = min(2 * portion, LARGEST_PORTION)
            if self.report is not None:
                self.report(integrator.time)
        if self.failure is None:
            reached, self.now = (
                integrator.time,
                self.variables.renormalize(integrator.state() if self.changed is None else self.changed),
            )
            if until > b and reached > b and self.stopped_at is None:  # the last output is at b
                self.now = self.variables.renormalize(rows[-1][-1])
            reached = min(reached, b)  # heyoka's clock may end a rounding after b
            self.boundary = self._zeros_at(integrator)
        else:
            reached = b
        self.changed = None
        return reached

    changed: Array | None = None
    """The state after an event's change, until the run continues from it."""

    def _resume(self, integrator: SegmentIntegrator) -> bool:
        """Continue from the state after a change; False if the run is over, or needs another integrator."""
        if self.failure is not None or self.changed is None or not integrator.replace_state(self.changed):
            return False
        self.changed = None
        self._settle_events(integrator)
        return True

    def _show_change(self, rows: list[Array], shown: float, time: float) -> None:
        """An output at the time of a change shows the state after it."""
        if self.changed is not None and abs(shown - time) <= self._rounding_of_time(time):
            rows[-1][-1] = self.changed

    def _locate_failure(self, integrator: SegmentIntegrator, before: Any, outcome: Any) -> None:
        """Repeat the failed portion step by step: record when and why it failed."""
        integrator.restore(before)
        reason, good, time = "stuck", integrator.state(), integrator.time
        bad = good
        for _ in range(LARGEST_PORTION if outcome == "failed" else 0):
            if not integrator.step():
                bad = integrator.state()
                break
            good, time = integrator.state(), integrator.time
        if time == integrator.begin and (culprits := integrator.singular_forces()):
            raise ScenarioError(
                f"{' and '.join(culprits)} has no Taylor series at t = {time:g} s: it takes the root of 0, or divides "
                "by 0 there. Start slightly away from that state (drag: not exactly at rest in the wind), or use "
                "method='dop853'."
            )
        finite = np.isfinite(bad).all(axis=-1)
        body = int(np.argmin(finite)) if finite.any() else 0
        if self.scenario.form.keeps_angles and self._is_vertical(good[body]):
            reason = "singular"
        self.failure = Failure(reason, time, body, self.variables.to_samples(good)[body])

    def _fail_between_branches(self, integrator: SegmentIntegrator) -> None:
        """No branch of a force continues the motion."""
        self.failure = Failure("sliding", integrator.time, 0, self.variables.to_samples(integrator.state())[0])

    def _is_vertical(self, numbers: Array) -> bool:
        groups: Any = split_groups(numbers, self.scenario.form.sizes)
        turn = turn_per_step(groups[1], groups[3], self.scenario.duration / 1000)
        return not turn <= self.scenario.largest_turn**2

    # Events ---------------------------------------------------------------------------------------------------------
    def _log_recorded_events(self, integrator: SegmentIntegrator) -> None:
        """Log the events that are only recorded, except at a switch: there both branches decide."""
        for i, time, u in integrator.pop_recorded_events():
            event, body, _ = integrator.system.events[i]
            if abs(time - self.switched) > self._rounding_of_time(time):
                self._log_event(event, body, time, integrator.unpack_state(u))

    def _zeros_at(self, integrator: SegmentIntegrator) -> list[tuple[int, float]]:
        """The events whose functions are zero here, and the side from which each came."""
        instant = self._rounding_of_time(integrator.time)
        own = [i for i, (number, _, _) in enumerate(integrator.system.events) if number != SWITCH]
        return [(i, integrator.leave_zero(i, -1)[1]) for i in own if integrator.is_zero(i, instant)]

    def _handle_boundary(self, integrator: SegmentIntegrator) -> bool:
        """Handle the events exactly between two segments; return True if one ends the run or changes the state."""
        came, self.boundary = self.boundary, []
        went = [(i, side, integrator.leave_zero(i, 1)[1]) for i, side in came]
        handled = [self._handle_crossing(integrator, i, 1 if to > 0 else -1) for i, side, to in went if side * to < 0]
        return any(handled)

    def _settle_events(self, integrator: SegmentIntegrator) -> None:
        """An event that is zero at the start, or after its change, does not count until its function has left zero.

        If the change has stopped the function, and the forces drive it on to the far side, it would never come back.
        """
        events = integrator.system.events
        instant = self._rounding_of_time(integrator.time)
        for i, (number, body, _) in enumerate(events):
            if number != SWITCH and integrator.is_zero(i, instant):
                ahead, _ = integrator.leave_zero(i, 1)
                integrator.ahead = max(integrator.ahead, ahead)
                if integrator.time == self.scenario.start_time:
                    self.until[number, body] = integrator.time + max(instant, ahead)
        if self.landing is None:
            return
        (i, slope), self.landing = self.landing, None
        number, body, _ = events[i]
        ahead, change = integrator.leave_zero(i, 1)
        self.until[number, body] = integrator.time + max(instant, ahead)
        count = self.scenario.events[number].count
        is_watched = count is None or self.counts[number] < count
        if is_watched and change * slope > 0 and change / ahead / slope < STANDS_STILL:
            sample = self.variables.to_samples(integrator.state())[body]
            self.failure = Failure("through", integrator.time, body, sample, self.scenario.events[number].name)

    def _rounding_of_time(self, time: float) -> float:
        return float(SAME_INSTANT * max(self.scenario.duration, abs(time)))

    def _handle_stop(self, integrator: SegmentIntegrator, i: int) -> bool:
        """Handle the event or the switch that heyoka stopped at; return True if the run ends or the state changes."""
        is_switch = integrator.system.events[i][0] == SWITCH
        switch = i if is_switch else integrator.switch_here()
        if switch < 0:
            return self._handle_event(integrator, i)
        self.switches += 1
        integrator.settles = integrator.settle_switches(switch)
        handled = [self._handle_crossing(integrator, j, sign) for j, sign in integrator.crossed]
        return any(handled)

    def _handle_event(self, integrator: SegmentIntegrator, i: int) -> bool:
        """Handle an event of the user; return True if it ends the run or changes the state."""
        number, body, _ = integrator.system.events[i]
        event: Event = self.scenario.events[number]
        now = integrator.state()
        if not self._log_event(number, body, integrator.time, now):
            return False
        if event.action == "stop":
            if self.counts[number] == event.count:
                self.stopped_at = min(integrator.time, self.end)
            return self.stopped_at is not None
        ahead, change = integrator.leave_zero(i, -1)
        self.landing = i, -change / ahead if ahead else 0.0
        self.changed = self._apply_change(event, body, integrator.time, now)
        if self.is_zeno:
            self.failure = Failure("endless", integrator.time, body, self.variables.to_samples(now)[body], event.name)
        return True

    def _handle_crossing(self, integrator: SegmentIntegrator, i: int, sign: int) -> bool:
        """Handle an event that occurs where a force or an event function switches branches."""
        number, body, _ = integrator.system.events[i]
        event: Event = self.scenario.events[number]
        if event.direction == -sign:
            return False
        if event.action != "record":
            return self._handle_event(integrator, i)
        self._log_event(number, body, integrator.time, integrator.state())
        return False

    def _log_event(self, number: int, body: int, time: float, now: Array) -> bool:
        """Count and log an event, unless it is the start itself or a repetition of the last one."""
        event: Event = self.scenario.events[number]
        time = min(time, self.end)
        if time <= self.until.get((number, body), -np.inf):
            return False
        since = time - self.last.get((number, body), self.scenario.start_time)
        if since <= self._rounding_of_time(time):
            return False
        if event.count is not None and self.counts[number] >= event.count:
            return False
        self.counts[number] += 1
        self.is_zeno = (number, body) in self.last and since < ZENO_INTERVAL * self.scenario.duration
        self.last[number, body] = time
        self.crossings.append(EventRecord(number, body, time, self.variables.to_samples(now)[body]))
        return True

    def _apply_change(self, event: Event, body: int, time: float, now: Array) -> Array:
        """The state after a user's change of the momenta of one body."""
        scenario, samples = self.scenario, self.variables.to_samples(now)
        constants = scenario.body_constants(body)
        groups = split_groups(samples[body].tolist(), scenario.form.sizes)
        view = build_view(scenario.form)(groups, constants)
        assert event.change is not None
        jumps = event.change(time, view, constants_for_forces(constants), event.params)
        impulse = SimpleNamespace(kernel=lambda *_: jumps, params=(), bodies=(body,) if scenario.is_system else None)
        return self._after_impulses(samples, time, [impulse])

    # Independent bodies, in SIMD lanes ------------------------------------------------------------------------------
    def _integrate_lanes(self, a: float, b: float, wanted: Array, middle: float) -> Array:
        system = build_equations(self.scenario, self.now, middle, self.variables.counts_work, True)
        if system.events:
            raise OneByOneError
        count = self.scenario.count
        stops = np.append(wanted, b) if not len(wanted) or wanted[-1] < b else wanted
        out = np.repeat(self.now[None], len(stops), axis=0)
        if system.moving:
            units = self.variables.units(system, self.now, a, b - a)
            rows = np.arange(count)
            peaks = self._integrate_batches(system, units, rows, a, stops, out)
            grown = np.flatnonzero(peaks.max(axis=1) > LARGEST_RATIO)
            if len(grown):
                units[grown] *= 2.0 ** np.rint(np.log2(np.maximum(peaks[grown], 1.0)))
                self._integrate_batches(system, units, grown, a, stops, out)
        self.now = self.variables.renormalize(out[-1])
        self.failed |= ~np.isfinite(out[-1]).all(axis=-1)
        if self.report is not None:
            self.report(b)
        samples = self.variables.to_samples(out[: len(wanted)])
        if self.journal is not None:
            self.journal.append(Outputs.STREAM, samples.reshape(len(samples), -1))
        return samples

    def _integrate_batches(
        self, system: SegmentEquations, units: Array, rows: Any, a: float, stops: Array, out: Array
    ) -> Array:
        """Integrate these members, one per SIMD lane; return the largest size of each group."""
        lanes = int(import_heyoka().recommended_simd_size())
        unrolled = UNROLLED_LIMIT_FOR_MANY if len(rows) > MANY else UNROLLED_LIMIT
        used = acquire_integrator(self.scenario, system, self.variables.tolerance, lanes, unrolled)
        batches = -(-len(rows) // lanes)
        padded = rows[np.minimum(np.arange(batches * lanes), len(rows) - 1)]  # unused lanes repeat the last member

        def in_batches(values: Array) -> Array:
            return np.ascontiguousarray(values.reshape(-1, batches, lanes).swapaxes(0, 1))

        groups = self.variables.group_of[system.moving]
        scale = units[padded][:, groups].T
        values = parameter_values(system, used.constants, units)
        pars = in_batches(np.array([np.broadcast_to(value, (len(self.now),))[padded] for value in values]))
        start = in_batches(self.now[padded][:, system.moving].T / scale)
        times = stops if stops[0] == a else np.append(a, stops)
        ends = np.empty((len(times), len(groups), batches, lanes))
        steps = np.empty((batches, lanes), dtype=np.int64)
        stop = threading.Event()

        def work(first: int, last: int) -> None:
            integrator = used.integrator if first == 0 else copy.deepcopy(used.integrator)
            reported = perf_counter()
            for i in range(first, last):
                if stop.is_set():
                    return
                ends[:, :, i], steps[i] = propagate_batch(integrator, a, times, start[i], pars[i], stop)
                if self.report is not None and perf_counter() - reported > PORTION_S:
                    self.report(a + (i + 1 - first) / (last - first) * float(stops[-1] - a))
                    reported = perf_counter()

        on_threads(work, batches, min(self.threads, batches), stop)
        release_integrator(used)
        count = len(rows)
        self.steps += int(steps.ravel()[:count].sum())
        u = ends.reshape(len(times), len(groups), -1)[len(times) - len(stops) :, :, :count]
        out[:, rows[:, None], system.moving] = np.moveaxis(u * scale[:, :count], 1, 2)
        peaks = np.zeros(units.shape)
        for g in set(groups.tolist()) & {2, 3}:
            peaks[rows, g] = np.nan_to_num(np.abs(u[:, groups == g]).max(axis=(0, 1)))
        return peaks

    def _failed_member(self, samples: Array, run_alone: RunAlone) -> Failure | None:
        """All members run to the end; the first that failed is run again alone to find out when."""
        if not self.failed.any():
            return None
        first = int(np.argmax(self.failed))
        is_member = self.scenario.members is not None
        alone = self.scenario.take(first) if is_member else _body_alone(self.scenario, first)
        failure = run_alone(alone, False, 1, self.report).failure
        if failure is None:
            return Failure("non-finite", float(self.scenario.times[0]), first, samples[0, first])
        return Failure(failure.reason, failure.time, first, failure.last_good)


def _body_alone(scenario: Scenario, i: int) -> Scenario:
    """The scenario of one body of a system whose bodies do not interact."""
    forces = tuple(replace(f, bodies=None) for f in scenario.forces if f.bodies is None or i in f.bodies)
    return replace(scenario, body=scenario.bodies[i], state=scenario.states[i], forces=forces)
