"""A run with step-size control: segment by segment, in portions that report progress."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from polhode.engines import runner, segments
from polhode.engines.buffer import current_samples, unpack_samples
from polhode.engines.checkpoint import Checkpoint
from polhode.engines.event_log import EventLog, label_event_records
from polhode.engines.impulses import impulses_at
from polhode.engines.result import Failure, RunResult
from polhode.engines.runner import Runner
from polhode.engines.threads import on_threads
from polhode.validation import Array


class AdaptiveRunner(Runner):
    """A run in which every body, or every system, has its own clock and step size."""

    event_log: EventLog | None = None
    """The log of the events, if the scenario has any."""

    def run(self, checkpoint: Checkpoint | None) -> RunResult:
        scenario = self.scenario
        times, end = scenario.times, scenario.end_time
        edges = [scenario.start_time, *segments.segment_boundaries(scenario), end]
        self._start(checkpoint)
        numbers = self.layout.sample_size // self.layout.lanes
        self.event_log = EventLog(scenario, len(self.buffer), numbers) if scenario.events else None
        if checkpoint is not None:
            edges = [checkpoint.segment, *(t for t in edges if t > checkpoint.segment)]
        portions: list[Array] = []
        checkpoints: list[Array] = []
        for a, b in pairwise(edges):
            if checkpoint is None or a != checkpoint.segment:
                self._apply_impulses(a)
                if self.event_log is not None and impulses_at(scenario, a):
                    self.event_log.forget_sides()
            self._open_windows((a + b) / 2)
            wanted = times[(times >= a) & ((times <= b) if b == end else (times < b))]
            out, saved = self._integrate_segment(wanted, b, bool(times[-1] >= b) and b < end)
            portions.append(unpack_samples(out, self.layout, scenario.count))
            checkpoints.append(saved[: len(out)])
            if self.failure is not None or times[-1] < b or self._is_stopped:
                break
            if self.report is not None:
                self.report(b)
        samples = np.concatenate(portions) if len(portions) > 1 else portions[0]
        if self._is_stopped:
            times, samples = self._append_stop(times[: len(samples)], samples)
        elif self.failure is None and impulses_at(scenario, end) and times[-1] == end:
            self._apply_impulses(end)
            now = current_samples(self.buffer, self.layout, scenario.count)
            last, part = samples[-1], self.columns.integrated
            last[:, part] = np.where(np.isfinite(last[:, part]), now[:, part], np.nan)
        taken, refused = (int(self._clock(i).sum()) for i in (3, 4))
        failure = self.failure or self._failed_member()
        run = RunResult(times[: len(samples)], samples, self.columns, taken, refused, failure)
        if len(checkpoints[0]):
            run.checkpoints = np.concatenate(checkpoints)
        if self.event_log is not None:
            run.crossings = sorted(self.event_log.found, key=lambda crossing: crossing.time)
            self._keep_final_states(run)
        return run

    @property
    def _is_stopped(self) -> bool:
        """Whether an event has stopped the run; the members of an ensemble stop individually."""
        return self.scenario.members is None and self.event_log is not None and bool(self.event_log.is_stopped.any())

    def _append_stop(self, times: Array, samples: Array) -> tuple[Array, Array]:
        """Append the state at the stop to the samples before it."""
        t = float(self._clock(0)[0])
        if len(times) and times[-1] == t:
            return times, samples
        now = current_samples(self.buffer, self.layout, self.scenario.count)
        return np.append(times, t), np.concatenate([samples, now[None]])

    def _keep_final_states(self, run: RunResult) -> None:
        """If only final states are sampled, a member that an event has stopped gets its state at the stop."""
        if self.scenario.members is not None and len(run.times) == 1:
            label_event_records(self.scenario, run.crossings)
            for crossing in run.crossings:
                if crossing.ends:
                    run.samples[0, crossing.body] = crossing.sample

    def _start(self, checkpoint: Checkpoint | None) -> None:
        """Set all clocks, from the start or from a checkpoint."""
        scenario, layout = self.scenario, self.layout
        if checkpoint is None:
            blocks, (t, h) = self.buffer.reshape(-1, layout.size), layout.clock[:2]
            blocks[:, t : t + layout.lanes] = scenario.start_time
            blocks[:, h : h + layout.lanes] = scenario.step or scenario.duration / 1000
            if not self.plan.is_coupled:  # unused lanes make no steps
                blocks[-1, h + layout.lanes - len(blocks) * layout.lanes + scenario.count : h + layout.lanes] = 0.0
            return
        for unit, row in zip(self.buffer, checkpoint.samples, strict=True):
            blocks = unit.reshape(-1, layout.size)
            width = len(blocks) * layout.sample_size
            blocks[:, : layout.sample_size] = row[:width].reshape(len(blocks), -1)
            unit[list(layout.clock[:3])] = row[width:]

    def _clock(self, i: int) -> Array:
        """The i-th entry of all clocks."""
        place, lanes = self.layout.clock[i], self.layout.lanes
        if self.plan.is_coupled:
            return self.buffer[:, place]
        return self.buffer[:, place : place + lanes].reshape(-1)[: self.scenario.count]

    def _integrate_segment(self, stops: Array, end: float, through: bool) -> tuple[Array, Array]:
        """The samples at `stops` on the way to `end`, and the checkpoints."""
        scenario, layout, units = self.scenario, self.layout, len(self.buffer)
        rtol, atol = scenario.tolerances
        clocks = 1 if self.plan.is_coupled else layout.lanes
        width = layout.sample_size * (self.buffer.shape[1] // layout.size)
        done = np.zeros((units, clocks), dtype=np.int64)
        out = np.empty((len(stops), units, width))
        saves_checkpoints = (
            scenario.members is None and not scenario.events and (self.plan.is_coupled or layout.lanes == 1)
        )
        checkpoints = np.empty((len(stops) if saves_checkpoints else 0, units, width + 3))
        while True:
            budget = max(10, int(runner.PORTION_S / self.seconds_per_step / 3))
            self._advance(done, stops, end, through, rtol, atol, budget, out, checkpoints)
            t, h, written = self._clock(0), self._clock(1), done.reshape(-1)[: self._clocks]
            left = (written < len(stops)) | (through & (t < end))
            if not (left & (h > 0)).any():
                break
            if self.report is not None:
                self.report(float(t.mean()))
        if left.any():
            self._fail_or_blank(out, written, left)
            if self.failure is not None or scenario.members is None:
                return out[: self._count_finite(out[: int(written.min())])], checkpoints
        elif scenario.members is None and not np.isfinite(out).all():  # a slope that only dense output needed was NaN
            good = max(self._count_finite(out), 1)
            samples = unpack_samples(out, layout, scenario.count)
            self._fail(float(stops[good - 1]), samples[min(good, len(samples) - 1)], samples[good - 1])
            return out[:good], checkpoints
        return out, checkpoints

    def _advance(self, *arguments: Any) -> None:
        """Run the kernel, with one event log per thread if there are events."""
        event_log = self.event_log
        if event_log is None:
            self._on_threads(*arguments)
            return
        rules, memory, counts, halted = event_log.rules, event_log.memory, event_log.counts, event_log.halted

        def work(first: int, last: int) -> None:
            log, found = event_log.log()
            more = (rules, memory, counts, halted, event_log.shortest, log, found)
            self.plan.advance(self.buffer, self.pairs, first, last, *arguments, *more)
            event_log.take(log[: int(found[0])])

        on_threads(work, len(self.buffer), self.threads)

    @property
    def _clocks(self) -> int:
        return len(self.buffer) if self.plan.is_coupled else self.scenario.count

    def _count_finite(self, out: Array) -> int:
        """The number of leading samples that are finite."""
        finite: Any = np.isfinite(out).all(axis=(1, 2))
        return len(finite) if finite.all() else int(np.argmin(finite))

    def _fail_or_blank(self, out: Array, written: Any, stuck: Any) -> None:
        """A body whose step has shrunk to zero fails the run; in an ensemble its remaining samples become NaN."""
        if self._is_stopped:
            return
        if self.scenario.members is None:
            unit = int(np.argmax(stuck))
            samples = current_samples(self.buffer, self.layout, self.scenario.count)
            body = self._first_nonfinite_slope() if self.plan.is_coupled else unit
            self._fail(float(self._clock(0)[unit]), samples, samples, "stuck", body)
            self._report_endless_event()
            return
        lanes = self.layout.lanes
        by_lane = out.reshape(len(out), len(self.buffer), out.shape[2] // lanes, lanes)  # there may be no outputs
        for member in np.flatnonzero(stuck):
            by_lane[written[member] :, member // lanes, :, member % lanes] = np.nan

    def _failed_member(self) -> Failure | None:
        """The first ensemble member whose step has shrunk to zero."""
        stuck = self._clock(1) == 0.0
        if self.event_log is not None:
            stuck &= ~self.event_log.is_stopped
        if self.scenario.members is None or not stuck.any():
            return None
        member = int(np.argmax(stuck))
        samples = current_samples(self.buffer, self.layout, self.scenario.count)
        self._fail(float(self._clock(0)[member]), samples, samples, "stuck", member)
        self._report_endless_event()
        return self.failure

    def _report_endless_event(self) -> None:
        """If the body that failed was halted by an event that repeats ever faster, report that instead."""
        endless = self.event_log.endless() if self.event_log is not None else None
        if endless is None or self.failure is None:
            return
        unit, event, body = endless
        who = body if self.scenario.members is None else unit
        if who == self.failure.body or self.scenario.members is None:
            samples = current_samples(self.buffer, self.layout, self.scenario.count)
            self.failure = Failure("endless", self.failure.time, who, samples[who], self.scenario.events[event].name)

    def _first_nonfinite_slope(self) -> int:
        """The first body of a system whose slope became non-finite in the failed step."""
        blocks = self.buffer.reshape(-1, self.layout.size)
        for stage in self.layout.slopes:
            slopes: Any = blocks[:, stage[0][0] : stage[0][0] + self.layout.drift]
            each = slopes.reshape(len(blocks), -1, self.layout.lanes)
            wrong = ~np.isfinite(each).all(axis=1).ravel()[: self.scenario.count]
            if wrong.any():
                return int(np.argmax(wrong))
        return 0
