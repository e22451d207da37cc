"""Steps that are tried: every body, or every system, has its own clock and step size, and its events."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import numpy as np

from polhode.integrate import integrator
from polhode.integrate.event_log import EventLog
from polhode.integrate.integrator import Integrator, RunAlone, on_threads
from polhode.integrate.journal import StreamReader
from polhode.integrate.loops.clocked import ClockedRun
from polhode.integrate.loops.layout import KEPT_CLOCK, first_place
from polhode.integrate.outputs import Outputs
from polhode.integrate.run_result import Failure
from polhode.integrate.run_state import Log, Snapshot, events_of_rows, rows_of_events
from polhode.integrate.timeline import Checkpoint, Segment
from polhode.scenario.scenario import Scenario
from polhode.validation import Array

TURN_PER_SEARCH = 0.5
"""The turn, in rad, of a step of the closed form in which events are searched."""


UNLIMITED = 2**40
"""Attempts for each body that no run makes."""


def _search_step(scenario: Scenario) -> float:
    """The length of the steps of the closed form, each of them exact, in which events are searched."""
    fastest = 0.0
    for body, state in zip(scenario.bodies, scenario.states, strict=True):
        moments = np.array(np.broadcast_arrays(*body.constants().moments))
        spin = np.linalg.norm(state.angular_velocity_body, axis=-1).max()
        if moments.max() > 0.0:
            fastest = max(fastest, float(spin * moments.max() / moments[moments > 0.0].min()))
    return min(scenario.duration / 64, TURN_PER_SEARCH / fastest if fastest > 0.0 else np.inf)


class ClockedSteps(Integrator):
    """Steps with step-size control, or of one length where events are watched.  Clocks count from the run's start."""

    STATE = (*Integrator.STATE, "event_log.memory", "event_log.counts", "event_log.halted")
    LOGS = (Log("events", "event_log.found", rows_of_events, events_of_rows),)

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        scenario, layout = self.scenario, self.layout
        self.is_adaptive = scenario.used_method.is_adaptive
        self.slots = 1 if self.run.is_system else layout.lanes
        bodies = len(scenario.bodies) if self.run.is_system else 1
        self.clocks = len(self.buffer) * self.slots
        self._bodies = len(scenario.bodies)
        self.event_log = EventLog(scenario, self.clocks, bodies, self.slots, layout.sample_size // layout.lanes)
        blocks = self.buffer.reshape(-1, self.packing.size)
        for place in layout.clock:
            blocks[:, place : place + layout.lanes] = 0.0
        h, step = layout.clock.h, scenario.step or scenario.duration / 1000
        blocks[:, h : h + layout.lanes] = _search_step(scenario) if scenario.used_method.is_closed_form else step
        if not self.run.is_system:  # unused lanes make no steps
            blocks[-1, h + layout.lanes - len(blocks) * layout.lanes + scenario.count : h + layout.lanes] = 0.0

    def resume(self, checkpoint: Checkpoint) -> None:
        """Continue from a row of checkpoints, at the start of the step that covers an output."""
        layout = self.layout
        for unit, row in zip(self.buffer, checkpoint.samples, strict=True):
            blocks = unit.reshape(-1, self.packing.size)
            width = len(blocks) * layout.sample_size
            blocks[:, : layout.sample_size] = row[:width].reshape(len(blocks), -1)
            unit[list(layout.clock[:KEPT_CLOCK])] = row[width:]

    def apply_impulses(self, t: float) -> bool:
        acts = super().apply_impulses(t)
        if acts:
            self.event_log.forget_sides()
        return acts

    def begin_segment(self, segment: Segment) -> None:
        super().begin_segment(segment)
        if not self.is_adaptive:  # a new grid of steps
            clock = self.layout.clock
            for place, value in ((clock.step, 0.0), (clock.origin, segment.start - self.scenario.start_time)):
                self.buffer.reshape(-1, self.packing.size)[:, place : place + self.layout.lanes] = value

    def restore_snapshot(self, snapshot: Snapshot, inside: Snapshot | None, reader: StreamReader) -> None:
        super().restore_snapshot(snapshot, inside, reader)
        self.crossings = self.event_log.found

    def new_outputs(self, record: ClockedRun) -> Outputs:
        count, units, width = record.out.shape
        arrays = [record.out.reshape(count, units, width // self.slots, self.slots), record.checkpoints[..., None]]
        outputs = Outputs(arrays, len(self._clock("t")), len(record.done))
        outputs.done = record.done
        return outputs

    def outputs_of(self, record: ClockedRun, count: int) -> Array:
        self.checkpoints = record.checkpoints
        return self.packing.unpack(record.out)[:count]

    def _clock(self, name: str) -> Array:
        """A field of all clocks."""
        place, lanes = getattr(self.layout.clock, name), self.layout.lanes
        if self.run.is_system or lanes == 1:
            return self.buffer[:, place]
        return self.buffer[:, place : place + lanes].reshape(-1)[: self.scenario.count]

    @property
    def _is_stopped(self) -> bool:
        """Whether an event has stopped the run; the members of an ensemble stop individually."""
        return self.scenario.members is None and bool(self.event_log.is_stopped.any())

    def segment_record(self, segment: Segment) -> ClockedRun:
        start, log = self.scenario.start_time, self.event_log
        through = self.is_stepped or segment.goes_on
        rtol, atol = self.scenario.group_tolerances if self.is_adaptive else ((), ())
        units, width = len(self.buffer), self.layout.sample_size * (self.buffer.shape[1] // self.packing.size)
        has_one_clock = self.run.is_system or self.layout.lanes == 1
        keeps = self.scenario.members is None and not self.scenario.events and has_one_clock
        count, done = len(segment.outputs), np.zeros(units * self.slots, dtype=np.int64)
        checkpoints = np.empty((count if keeps else 0, units, width + KEPT_CLOCK))
        out = self.plan.program.new_output((count, units, width))
        return ClockedRun(
            self.buffer, self.pairs, float(start), float(segment.end - start), through, segment.is_last,
            segment.outputs - start, tuple(rtol), tuple(atol), UNLIMITED, done, out, checkpoints, *log.fields(),
        )  # fmt: skip

    def integrate(self, segment: Segment) -> Array:
        scenario, log, wanted = self.scenario, self.event_log, segment.outputs
        record = self.segment_record(segment)
        start, end, through, out = record.start, record.end, record.through, record.out
        outputs = None if self.journal is None else self.begin_outputs(record)[0]
        while True:
            budget = max(10, int(integrator.PORTION_S / self.seconds_per_step / 3))
            rows, found = log.log()
            run = record._replace(budget=budget, log=rows, found=found)
            self.check_program(run)
            self._advance(run)
            t, h = self._clock("t"), self._clock("h")
            written = record.done[: len(t)]
            left = (written < len(wanted)) | (through & (t < end))
            if not (left & (h > 0)).any():
                break
            if self.report is not None:
                self.report(start + float(t.mean()))
            if self.journal is not None and self.journal.is_due():
                self.write_outputs(outputs)
                self.write_snapshot(start + float(t.mean()), {})
        self.write_outputs(outputs)
        self.crossings, self.checkpoints = log.found, record.checkpoints
        self.steps, self.refused = (int(self._clock(name).sum()) for name in ("accepted", "wasted"))
        if self._is_stopped:
            self.stopped_at = start + float(self._clock("t")[0])
        if left.any():
            self._fail_or_blank(out, written, left)
        samples = self.packing.unpack(out)
        if left.any():
            if self.failure is not None or scenario.members is None:
                return samples[: self._count_finite(samples[: int(written.min())])]
        elif scenario.members is None and not np.isfinite(samples).all():  # a slope only of dense output was NaN
            good = max(self._count_finite(samples), 1)
            self._fail(float(wanted[good - 1]), samples[min(good, len(samples) - 1)], samples[good - 1])
            return samples[:good]
        return samples

    def _advance(self, run: ClockedRun) -> None:
        """Run the loop, with one event log for each thread."""
        if not self.scenario.events:
            on_threads(self.plan.program.bind(run), len(self.buffer), self.threads)
            return

        def work(first: int, last: int) -> None:
            for rows in self.plan.program.collect(run, self.event_log.log, first, last):
                self.event_log.take(rows)

        on_threads(work, len(self.buffer), self.threads)

    def _count_finite(self, samples: Array) -> int:
        """The number of leading samples that are finite."""
        finite: Any = np.isfinite(samples).all(axis=(1, 2))
        return len(finite) if finite.all() else int(np.argmin(finite))

    def _fail_or_blank(self, out: Array, written: Any, stuck: Any) -> None:
        """A body whose step has shrunk to zero fails the run; in an ensemble its remaining samples become NaN."""
        if self._is_stopped:
            return
        if self.scenario.members is None:
            unit = int(np.argmax(stuck))
            body = self._first_nonfinite_slope() if self.run.is_system else unit
            now = self.samples
            self._fail(self.scenario.start_time + float(self._clock("t")[unit]), now, now, "stuck", body)
            self._report_halting_event()
            return
        if self.run.is_system:
            for member in np.flatnonzero(stuck):
                out[written[member] :, member] = np.nan
            return
        lanes = self.layout.lanes
        by_lane = out.reshape(len(out), len(self.buffer), out.shape[2] // lanes, lanes)  # there may be no outputs
        missing = np.zeros((len(out), len(self.buffer) * lanes), dtype=bool)
        missing[:, : len(stuck)] = stuck & (np.arange(len(out))[:, None] >= written)
        np.copyto(by_lane, np.nan, where=missing.reshape(len(out), len(self.buffer), 1, lanes))

    def finish(self, times: Array, samples: Array, run_alone: RunAlone) -> Failure | None:  # noqa: ARG002
        """The failure of the run, or of the first member whose step has shrunk to zero."""
        self.crossings = sorted(self.event_log.found, key=attrgetter("time"))
        if self.scenario.events and self.scenario.members is not None and len(times) == 1:
            now = self.samples  # only final states are sampled: of a member, the one at which an event stopped it
            stopped = np.repeat(self.event_log.is_stopped[: self.scenario.members], self._bodies)
            samples[0, stopped] = now[stopped]
        stuck = (self._clock("h") == 0.0) & ~self.event_log.is_stopped[: len(self._clock("h"))]
        if self.failure is not None or self.scenario.members is None or not stuck.any():
            return self.failure
        clock, now = int(np.argmax(stuck)), self.samples
        body = clock * self._bodies if self.run.is_system else clock
        self._fail(self.scenario.start_time + float(self._clock("t")[clock]), now, now, "stuck", body)
        self._report_halting_event()
        return self.failure

    def _report_halting_event(self) -> None:
        """If the body that failed was halted by an event, report that instead."""
        halting = self.event_log.halting_event()
        if halting is None or self.failure is None:
            return
        reason, clock, event, body = halting
        if self.scenario.members is not None:
            if clock != self.failure.body // self._bodies:
                return
            body += clock * self._bodies
        self.failure = Failure(reason, self.failure.time, body, self.samples[body], self.scenario.events[event].name)

    def _first_nonfinite_slope(self) -> int:
        """The first body of a system whose slope became non-finite in the failed step."""
        blocks = self.buffer.reshape(-1, self.layout.size)
        for stage in self.layout.slopes:
            slopes: Any = blocks[:, first_place(stage) : first_place(stage) + self.layout.drift]
            each = slopes.reshape(len(blocks), -1, self.layout.lanes)
            wrong = ~np.isfinite(each).all(axis=1).ravel()[: len(self.scenario.bodies)]
            if wrong.any():
                return int(np.argmax(wrong))
        return 0
