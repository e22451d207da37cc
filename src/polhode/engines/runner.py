"""The common base of runs with steps: buffer, threads, thruster windows, impulses and failures."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.engines.buffer import current_samples, pack_buffer, pack_pairs, write_state, write_values
from polhode.engines.impulses import apply_impulses, impulses_at
from polhode.engines.prepare import CompiledKernel, prepare_kernel, structure_of
from polhode.engines.result import Failure, Report, SampleColumns
from polhode.engines.threads import CORES, on_threads
from polhode.equations.rigid_body import turn_per_step
from polhode.model.scenario import Scenario
from polhode.model.state import split_groups
from polhode.validation import Array

PORTION_S = 0.2
"""Approximate time that a kernel runs before it returns to report progress."""


class Runner:
    """The state of a run in progress."""

    def __init__(self, scenario: Scenario, counts_work: bool, threads: int | None, report: Report | None) -> None:
        self.scenario, self.report = scenario, report
        self.plan: CompiledKernel = prepare_kernel(structure_of(scenario, counts_work))
        self.layout = self.plan.layout
        self.columns = SampleColumns.of(scenario.form.sizes, counts_work)
        self.buffer = pack_buffer(scenario, self.plan)
        self.pairs = pack_pairs(scenario)
        self.threads = min(threads or CORES, len(self.buffer))
        self.seconds_per_step = scenario.count * _estimate_step_seconds(scenario.engine, self.layout.lanes)
        self.steps = self.refused = 0
        self.failure: Failure | None = None

    def _on_threads(self, *arguments: Any) -> None:
        """Run the kernel on all units, divided among the threads."""

        def work(first: int, last: int) -> None:
            self.plan.advance(self.buffer, self.pairs, first, last, *arguments)

        on_threads(work, len(self.buffer), self.threads)

    def _open_windows(self, middle: float) -> None:
        """Set each thruster window to always or never for this segment, so that no stage sees its edge."""
        for f, places in zip(self.scenario.of_kind("body"), self.layout.params, strict=True):
            if f.window is None:
                continue
            own = places if f.bodies is None else places[1]
            start, stop = f.params[f.window[0]], f.params[f.window[1]]
            is_open = (np.asarray(start) <= middle) & (middle < np.asarray(stop))
            write_values(
                self.buffer, self.layout, own[f.window[0]], np.where(is_open, -np.inf, np.inf), self.scenario.count
            )
            write_values(self.buffer, self.layout, own[f.window[1]], np.inf, self.scenario.count)

    def _apply_impulses(self, t: float) -> None:
        """Apply the impulses at time t to the states in the buffer."""
        if impulses := impulses_at(self.scenario, t):
            now = current_samples(self.buffer, self.layout, self.scenario.count)
            write_state(self.buffer, self.layout, apply_impulses(self.scenario, now, self.columns, t, impulses))

    def _fail(self, time: float, bad: Array, good: Array, reason: str = "non-finite", body: int | None = None) -> None:
        finite = np.isfinite(bad).all(axis=-1)
        if body is None:
            body = int(np.argmin(finite)) if not finite.all() else int(np.argmax(bad[:, self.columns.drift]))
        if self.scenario.form.keeps_angles and (finite.all() or self._is_vertical(good[body])):
            reason = "singular"
        self.failure = Failure(reason, time, body, good[body])

    def _is_vertical(self, sample: Array) -> bool:
        """Whether the Euler angles of a body are near their singularity."""
        groups: Any = split_groups(sample, self.scenario.form.sizes)
        turn = turn_per_step(groups[1], groups[3], self.scenario.step or self.scenario.duration / 1000)
        return not turn <= self.scenario.largest_turn**2


def _estimate_step_seconds(engine: str, lanes: int) -> float:
    """The approximate cost of a step of one body, before it has been measured."""
    if engine == "python":
        return 1e-3
    return 3e-7 if lanes == 1 else 3e-8
