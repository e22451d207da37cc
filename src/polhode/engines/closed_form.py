"""Runs in closed form, without steps: the state at any time, straight from the start of its segment."""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np

from polhode.engines import segments
from polhode.engines.buffer import current_samples, pack_buffer, unpack_samples, write_state
from polhode.engines.impulses import apply_impulses, impulses_at
from polhode.engines.prepare import prepare_kernel, structure_of
from polhode.engines.result import Failure, Report, RunResult, SampleColumns
from polhode.engines.runner import PORTION_S
from polhode.engines.threads import CORES, on_threads
from polhode.model.scenario import Scenario
from polhode.validation import Array

SECONDS_PER_EVALUATION = 2e-6
"""Approximate cost of the compiled kernel for one body at one time."""


class ClosedForm:
    """The motion of a scenario in closed form, at any time, also outside the run."""

    def __init__(self, scenario: Scenario, counts_work: bool, threads: int | None = None) -> None:
        self.scenario = scenario
        self._alone = Lock()  # the kernel works in place in the buffers, which threads share
        plan = prepare_kernel(structure_of(scenario, counts_work))
        self._advance, self._layout = plan.advance, plan.layout
        self._columns = SampleColumns.of(scenario.form.sizes, counts_work)
        buffer = pack_buffer(scenario, plan)
        self._threads = min(threads or CORES, len(buffer))
        self._starts: list[float] = []
        """The times at which the segments between impulses begin."""
        self._buffers: list[Array] = []
        start, end = scenario.start_time, float(scenario.times[-1])
        for edge in [
            start,
            *segments.segment_boundaries(scenario),
            *([end] if end > start and impulses_at(scenario, end) else []),
        ]:
            if self._starts:
                buffer = buffer.copy()
                write_state(buffer, self._layout, self.samples_at(np.array([edge]))[0])
            if impulses := impulses_at(scenario, edge):
                now = current_samples(buffer, self._layout, scenario.count)
                write_state(buffer, self._layout, apply_impulses(scenario, now, self._columns, edge, impulses))
            self._starts.append(edge)
            self._buffers.append(buffer)
        self._moment, self._now = np.zeros(1), np.empty((1, len(buffer), self._layout.sample_size))

    def samples_at(self, times: Array) -> Array:
        """Samples of all bodies at increasing times: (times, bodies, columns)."""
        out = np.empty((len(times), len(self._buffers[0]), self._layout.sample_size))
        cuts = [0, *np.searchsorted(times, self._starts[1:]).tolist(), len(times)]
        for i, (start, buffer) in enumerate(zip(self._starts, self._buffers, strict=True)):
            if cuts[i] < cuts[i + 1]:
                self._evaluate(buffer, start, times[cuts[i] : cuts[i + 1]], out[cuts[i] : cuts[i + 1]])
        return unpack_samples(out, self._layout, self.scenario.count)

    def _evaluate(self, buffer: Array, start: float, times: Array, out: Array) -> None:
        def work(first: int, last: int) -> None:
            self._advance(buffer, first, last, start, times, out)

        with self._alone:
            on_threads(work, len(buffer), self._threads)

    def numbers_at(self, t: float) -> list[float]:
        """The sample of a single body at one time, as plain floats; cheap enough to call often."""
        i = len(self._starts) - 1
        while i > 0 and t < self._starts[i]:
            i -= 1
        with self._alone:
            self._moment[0] = t
            self._advance(self._buffers[i], 0, 1, self._starts[i], self._moment, self._now)
            numbers: list[float] = self._now[0, 0].tolist()
        return numbers

    def run(self, report: Report | None) -> RunResult:
        """Evaluate the samples at the output times, reporting progress."""
        times = self.scenario.times
        portion = max(1, int(PORTION_S / (SECONDS_PER_EVALUATION * self.scenario.count)))
        if report is None or len(times) <= portion:
            samples = self.samples_at(times)
        else:
            samples = np.empty((len(times), self.scenario.count, self._layout.sample_size // self._layout.lanes))
            for i in range(0, len(times), portion):
                samples[i : i + portion] = self.samples_at(times[i : i + portion])
                report(float(times[min(i + portion, len(times)) - 1]))
        return RunResult(times, samples, self._columns, 0, failure=self._failure(samples), closed_form=self)

    def _failure(self, samples: Array) -> Failure | None:
        finite: Any = np.isfinite(samples).all(axis=2)
        if finite.all():
            return None
        body = int(np.argmin(finite.all(axis=0)))
        bad = int(np.argmin(finite[:, body]))
        if bad == 0:
            return Failure(
                "non-finite", self.scenario.start_time, body, current_samples(self._buffers[0], self._layout, 1)[0]
            )
        return Failure("non-finite", float(self.scenario.times[bad - 1]), body, samples[bad - 1, body])
