"""Runs in closed form, without steps: the state at any time, straight from the start of its segment."""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np

from polhode.integrate import integrator
from polhode.integrate.integrator import Integrator, RunAlone, on_threads
from polhode.integrate.journal import Snapshot, StreamReader, failure_of_snapshot
from polhode.integrate.loops.closed_form_loop import ClosedFormRun
from polhode.integrate.run_result import Failure, Report
from polhode.integrate.timeline import apply_impulses, impulses_at
from polhode.scenario.scenario import Scenario
from polhode.validation import Array

SECONDS_PER_EVALUATION = 2e-6
"""Approximate cost of the compiled loop for one body at one time."""


class ClosedForm(Integrator):
    """The motion of a scenario in closed form, at any time, also outside the run."""

    def __init__(
        self, scenario: Scenario, counts_work: bool, threads: int | None = None, report: Report | None = None
    ) -> None:
        super().__init__(scenario, counts_work, threads, report)
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

    def save(self) -> Any:
        return (list(self._starts), list(self._buffers), self._reached)

    def restore(self, saved: Any) -> None:
        starts, buffers, self._reached = saved
        self._starts, self._buffers, self._bound = list(starts), list(buffers), {}

    def snapshot(self) -> Snapshot:
        numbers = {"starts": np.array(self._starts), "buffers": np.stack(self._buffers), "reached": self._reached}
        return {**super().snapshot(), **numbers}

    def restore_snapshot(self, snapshot: Snapshot, inside: Snapshot | None, reader: StreamReader) -> None:
        self.failure = failure_of_snapshot(snapshot["failure"])
        self._starts, self._reached = snapshot["starts"].tolist(), snapshot["reached"]
        self._buffers, self._bound = [buffer.copy() for buffer in snapshot["buffers"]], {}
        self.buffer = self._buffers[-1]
        if inside is not None:
            self.inside = {"rows": reader.take("samples")}

    def read_segment(self, reader: StreamReader, wanted: Array, is_last: bool, ended: bool) -> Array:  # noqa: ARG002
        rows = reader.take("samples", None if ended else len(wanted))
        return rows.reshape(len(rows), self.scenario.count, -1)

    def set_state(self, samples: Array) -> None:
        """Begin a segment with these samples, where the last one ended."""
        self.buffer = self.buffer.copy()
        self.packing.write_state(self.buffer, samples)

    def apply_impulses(self, t: float) -> None:
        if not (impulses := impulses_at(self.scenario, t)):
            return
        self.set_state(apply_impulses(self.scenario, self.samples_at(np.array([t]))[0], self.columns, t, impulses))
        if t > self._starts[-1]:
            self._starts.append(t)
            self._buffers.append(self.buffer)
        self._buffers[-1] = self.buffer

    def samples_at(self, times: Array) -> Array:
        """Samples of all bodies at increasing times: (times, bodies, columns)."""
        out = self.plan.program.new_output((len(times), len(self._buffers[0]), self.layout.sample_size))
        cuts = [0, *np.searchsorted(times, self._starts[1:]).tolist(), len(times)]
        for i, (start, buffer) in enumerate(zip(self._starts, self._buffers, strict=True)):
            if cuts[i] < cuts[i + 1]:
                self._evaluate(buffer, start, times[cuts[i] : cuts[i + 1]], out[cuts[i] : cuts[i + 1]])
        return self.packing.unpack(out)

    def _evaluate(self, buffer: Array, start: float, times: Array, out: Array) -> None:
        run = ClosedFormRun(buffer, float(start), np.ascontiguousarray(times), out)
        self.check_program(run)
        with self._alone:
            on_threads(self.plan.program.bind(run), len(buffer), self.threads)

    def segment_record(self, a: float, b: float, wanted: Array, is_last: bool) -> ClosedFormRun:  # noqa: ARG002
        out = self.plan.program.new_output((len(wanted), len(self.buffer), self.layout.sample_size))
        return ClosedFormRun(self.buffer, float(self._starts[-1]), np.ascontiguousarray(wanted), out)

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

    def integrate(self, a: float, b: float, wanted: Array, is_last: bool) -> Array:  # noqa: ARG002
        """Evaluate the samples at the wanted times, reporting progress."""
        self._reached = b
        portion = max(1, int(integrator.PORTION_S / (SECONDS_PER_EVALUATION * self.scenario.count)))
        if self.journal is None and (self.report is None or len(wanted) <= portion):
            return self.samples_at(wanted)
        samples = np.empty((len(wanted), self.scenario.count, self.layout.sample_size // self.layout.lanes))
        inside = self.take_inside()
        first = written = 0 if inside is None else len(inside["rows"])
        if inside is not None:
            samples[:first] = inside["rows"].reshape(-1, *samples.shape[1:])
        for i in range(first, len(wanted), portion):
            samples[i : i + portion] = self.samples_at(wanted[i : i + portion])
            until, time = min(i + portion, len(wanted)), float(wanted[min(i + portion, len(wanted)) - 1])
            if self.report is not None:
                self.report(time)
            if self.journal is not None and (self.journal.is_due() or until == len(wanted)):
                self.journal.append("samples", samples[written:until].reshape(until - written, -1))
                written = until
                if until < len(wanted):
                    self.write_snapshot(time, {})
        return samples

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
