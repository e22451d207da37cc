"""Runs in closed form, without steps: the state at any time, straight from the start of its segment."""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np

from polhode.integrate import integrator
from polhode.integrate.integrator import Integrator, RunAlone, on_threads
from polhode.integrate.journal import StreamReader
from polhode.integrate.loops.closed_form_loop import ClosedFormRun
from polhode.integrate.outputs import Outputs
from polhode.integrate.run_plan import RunPlan
from polhode.integrate.run_result import Failure, Report
from polhode.integrate.run_state import Snapshot
from polhode.integrate.timeline import Segment, apply_impulses
from polhode.validation import Array

SECONDS_PER_EVALUATION = 2e-6
"""Approximate cost of the compiled loop for one body at one time."""


class ClosedForm(Integrator):
    """The motion of a scenario in closed form, at any time, also outside the run."""

    STATE = ("_starts", "_buffers", "_reached", "failure")

    def __init__(self, run: RunPlan, threads: int | None = None, report: Report | None = None) -> None:
        super().__init__(run, threads, report)
        scenario = run.scenario
        self._alone = Lock()  # the loop works in place in the buffers, which threads share
        self._starts: list[float] = [scenario.start_time]
        """The times at which the segments between impulses begin."""
        self._buffers: list[Array] = [self.buffer]
        self._moment, self._now = np.zeros(1), np.empty((1, len(self.buffer), self.layout.sample_size))
        self._bound: dict[int, Any] = {}
        self._reached = scenario.start_time

    @property
    def closed_form(self) -> ClosedForm:
        """What evaluates the motion at any time: not an attribute, since a cycle would keep its buffers alive."""
        return self

    @property
    def samples(self) -> Array:
        """The samples at the time that has been reached."""
        samples: Array = self.samples_at(np.array([self._reached]))[0]
        return samples

    def restore(self, saved: Any) -> None:
        super().restore(saved)
        self._bound = {}

    def restore_snapshot(self, snapshot: Snapshot, inside: Snapshot | None, reader: StreamReader) -> None:
        super().restore_snapshot(snapshot, inside, reader)
        self.buffer, self._bound = self._buffers[-1], {}

    def new_outputs(self, record: ClosedFormRun) -> Outputs:
        return Outputs.of_one_clock(record.out)

    def outputs_of(self, record: ClosedFormRun, count: int) -> Array:
        return self.packing.unpack(record.out)[:count]

    def set_state(self, samples: Array) -> None:
        """Begin a segment with these samples, where the last one ended."""
        self.buffer = self.buffer.copy()
        self.packing.write_state(self.buffer, samples)

    def apply_impulses(self, t: float) -> bool:
        if not (impulses := self.run.timeline.impulses_at(t)):
            return False
        self.set_state(apply_impulses(self.scenario, self.samples_at(np.array([t]))[0], self.columns, t, impulses))
        if t > self._starts[-1]:
            self._starts.append(t)
            self._buffers.append(self.buffer)
        self._buffers[-1] = self.buffer
        return True

    def samples_at(self, times: Array) -> Array:
        """Samples of all bodies at increasing times: (times, bodies, columns)."""
        out = self.plan.program.new_output((len(times), len(self._buffers[0]), self.layout.sample_size))
        self._fill(out, times)
        return self.packing.unpack(out)

    def _fill(self, out: Array, times: Array) -> None:
        cuts = [0, *np.searchsorted(times, self._starts[1:]).tolist(), len(times)]
        for i, (start, buffer) in enumerate(zip(self._starts, self._buffers, strict=True)):
            if cuts[i] < cuts[i + 1]:
                self._evaluate(buffer, start, times[cuts[i] : cuts[i + 1]], out[cuts[i] : cuts[i + 1]])

    def _evaluate(self, buffer: Array, start: float, times: Array, out: Array) -> None:
        run = ClosedFormRun(buffer, float(start), np.ascontiguousarray(times), out)
        self.check_program(run)
        with self._alone:
            on_threads(self.plan.program.bind(run), len(buffer), self.threads)

    def segment_record(self, segment: Segment) -> ClosedFormRun:
        out = self.plan.program.new_output((len(segment.outputs), len(self.buffer), self.layout.sample_size))
        return ClosedFormRun(self.buffer, float(self._starts[-1]), np.ascontiguousarray(segment.outputs), out)

    def numbers_at(self, t: float) -> list[float]:
        """The sample of a single body at one time, as plain floats; cheap enough to call often."""
        i = len(self._starts) - 1
        while i > 0 and t < self._starts[i]:
            i -= 1
        with self._alone:
            if i not in self._bound:
                run = ClosedFormRun(self._buffers[i], float(self._starts[i]), self._moment, self._now)
                self._bound[i] = self.plan.program.bind(run)
            self._moment[0] = t
            self._bound[i](0, 1)
            numbers: list[float] = self._now[0, 0].tolist()
        return numbers

    def integrate(self, segment: Segment) -> Array:
        """Evaluate the samples at the outputs, reporting progress."""
        wanted, self._reached = segment.outputs, segment.end
        portion = max(1, int(integrator.PORTION_S / (SECONDS_PER_EVALUATION * self.scenario.count)))
        if self.journal is None and (self.report is None or len(wanted) <= portion):
            return self.samples_at(wanted)
        record = self.segment_record(segment)
        outputs, _ = self.begin_outputs(record)
        for i in range(int(outputs.done[0]), len(wanted), portion):
            until = min(i + portion, len(wanted))
            self._fill(record.out[i:until], wanted[i:until])
            outputs.done[0], time = until, float(wanted[until - 1])
            if self.report is not None:
                self.report(time)
            if self.journal is not None and (self.journal.is_due() or until == len(wanted)):
                self.write_outputs(outputs)
                if until < len(wanted):
                    self.write_snapshot(time, {})
        return self.packing.unpack(record.out)

    def finish(self, times: Array, samples: Array, run_alone: RunAlone) -> Failure | None:  # noqa: ARG002
        finite: Any = np.isfinite(samples).all(axis=2)
        if finite.all():
            return None
        body = int(np.argmin(finite.all(axis=0)))
        bad = int(np.argmin(finite[:, body]))
        if bad == 0:
            first = self.packing.samples_of(self._buffers[0])[body]
            return Failure("non-finite", self.scenario.start_time, body, first)
        return Failure("non-finite", float(times[bad - 1]), body, samples[bad - 1, body])
