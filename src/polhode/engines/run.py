"""One run, from a scenario to its samples: segment by segment between discontinuities, portion by portion."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np

from polhode.engines import runner, segments, taylor
from polhode.engines.adaptive_run import AdaptiveRunner
from polhode.engines.buffer import buffer_samples, current_samples, unpack_samples, write_state
from polhode.engines.checkpoint import Checkpoint
from polhode.engines.closed_form import ClosedForm
from polhode.engines.event_log import label_event_records
from polhode.engines.impulses import impulses_at
from polhode.engines.result import Failure, Report, RunResult, report_of_part
from polhode.engines.runner import Runner
from polhode.model.scenario import Scenario
from polhode.validation import Array


def run_scenario(
    scenario: Scenario,
    counts_work: bool,
    threads: int | None = None,
    report: Report | None = None,
    checkpoint: Checkpoint | None = None,
) -> RunResult:
    """Compute a scenario's motion at its output times."""
    result = _run_method(scenario, counts_work, threads, report, checkpoint)
    if result.crossings:
        label_event_records(scenario, result.crossings)
    return result


def _run_method(
    scenario: Scenario, counts_work: bool, threads: int | None, report: Report | None, checkpoint: Checkpoint | None
) -> RunResult:
    groups = _group_members(scenario) if scenario.members is not None else []
    if len(groups) > 1:
        return _merge_groups(scenario, [*_run_groups(scenario, groups, counts_work, threads, report)])
    if scenario.used_method.is_closed_form:
        return ClosedForm(scenario, counts_work, threads).run(report)
    if scenario.used_method.is_taylor_series:
        return taylor.run_taylor(scenario, counts_work, threads, report, checkpoint)
    with np.errstate(all="ignore"):  # a non-finite state is detected and reported with its time
        kind = AdaptiveRunner if scenario.used_method.is_adaptive else FixedRunner
        return kind(scenario, counts_work, threads, report).run(checkpoint)


class FixedRunner(Runner):
    """A run with steps of one length."""

    def run(self, checkpoint: Checkpoint | None) -> RunResult:
        scenario = self.scenario
        times, end = scenario.times, float(scenario.times[-1])
        edges = [scenario.start_time, *segments.segment_boundaries(scenario), end]
        first = 0
        if checkpoint is not None:
            edges = [checkpoint.segment, *(t for t in edges if t > checkpoint.segment)]
            write_state(self.buffer, self.layout, checkpoint.samples)
            first = checkpoint.k
        portions: list[Array] = []
        for a, b in pairwise(edges if len(edges) > 1 else [end, end]):
            is_last = b == end
            if checkpoint is None or a != checkpoint.segment:
                self._apply_impulses(a)
                first = 0
            self._open_windows((a + b) / 2)
            wanted = times[(times >= a) & ((times <= b) if is_last else (times < b))]
            stops = wanted if is_last else np.append(wanted, b)
            out = self._integrate_segment(a, stops, first)
            done = unpack_samples(out, self.layout, scenario.count)
            portions.append(done[: len(wanted)])
            if self.failure is not None:
                break
            if not is_last:
                write_state(self.buffer, self.layout, done[-1])
                if self.report is not None:
                    self.report(b)
        samples = np.concatenate(portions) if len(portions) > 1 else portions[0]
        if self.failure is None and impulses_at(scenario, end) and end > scenario.start_time:
            write_state(self.buffer, self.layout, samples[-1])
            self._apply_impulses(end)
            samples[-1] = current_samples(self.buffer, self.layout, self.scenario.count)
        failure = self.failure or self._failed_member(samples)
        return RunResult(times[: len(samples)], samples, self.columns, self.steps, self.refused, failure)

    # Fixed steps ----------------------------------------------------------------------------------------------------
    def _integrate_segment(self, a: float, stops: Array, k: int) -> Array:
        h = self.scenario.needed_step
        stop_k, rest = segments.locate_on_grid(stops, a, h)
        out = np.empty(
            (len(stops), len(self.buffer), self.layout.sample_size * (self.buffer.shape[1] // self.layout.size))
        )
        last = int(stop_k[-1])
        s = int(np.searchsorted(stop_k, k))
        detects_failure = self.scenario.members is None
        while True:
            portion = max(1, int(runner.PORTION_S / self.seconds_per_step))
            k_end = min(last, k + portion)
            before = self.buffer.copy() if detects_failure else None
            began = perf_counter()
            self._on_threads(a, h, k, k_end, stop_k, rest, s, out)
            s_end = int(np.searchsorted(stop_k, k_end, side="right"))
            self.steps += k_end - k
            if before is not None and not (
                self._is_valid(out[s:s_end]) and self._is_valid(buffer_samples(self.buffer, self.layout))
            ):
                good = self._locate_failure(before, a, h, k, k_end)
                return out[: int(np.searchsorted(stop_k + (rest > 0), good, side="right"))]
            if k_end == last:
                return out
            if k_end - k == portion:
                self.seconds_per_step = max((perf_counter() - began) / portion, 1e-9)
            if self.report is not None:
                self.report(a + k_end * h)
            k, s = k_end, s_end

    def _locate_failure(self, before: Array, a: float, h: float, k: int, k_end: int) -> int:
        """Repeat the failed portion step by step: record the failure, return the index of the last valid step."""
        unit_out = self.layout.sample_size * (self.buffer.shape[1] // self.layout.size)
        good, good_samples = k, current_samples(before, self.layout, self.scenario.count)
        self.buffer = before
        while good < k_end:
            ks = np.arange(good + 1, min(good + 256, k_end) + 1)
            out = np.empty((len(ks), len(self.buffer), unit_out))
            self.plan.advance(
                self.buffer, self.pairs, 0, len(self.buffer), a, h, good, int(ks[-1]), ks, np.zeros(len(ks)), 0, out
            )
            valid = [self._is_valid(row) for row in out]
            first_bad = valid.index(False) if False in valid else len(ks)
            if first_bad > 0:
                good, good_samples = (
                    int(ks[first_bad - 1]),
                    unpack_samples(out, self.layout, self.scenario.count)[first_bad - 1],
                )
            if first_bad < len(ks):
                bad = unpack_samples(out, self.layout, self.scenario.count)[first_bad]
                self._fail(a + good * h, bad, good_samples)
                return good
        self._fail(a + good * h, good_samples, good_samples)  # only a step between grid points failed
        return good

    # Failures --------------------------------------------------------------------------------------------------------
    def _is_valid(self, samples: Array) -> bool:
        """Whether all samples are finite, and Euler angles turn slowly enough."""
        blocks = samples.reshape(-1, self.layout.sample_size)
        if not np.isfinite(blocks).all():
            return False
        if not self.scenario.form.keeps_angles:
            return True
        turns = blocks[:, self.layout.drift :]
        return bool((turns <= self.scenario.largest_turn**2).all())

    def _failed_member(self, samples: Array) -> Failure | None:
        """All members of an ensemble run to the end; rerun the first that failed alone to find out when."""
        if self.scenario.members is None:
            return None
        if self.scenario.form.keeps_angles:
            singular = np.logical_or.accumulate(samples[..., self.columns.drift] > self.scenario.largest_turn**2)
            samples[singular] = np.nan  # past the singularity the angles are meaningless
        wrong = ~np.isfinite(samples).all(axis=(0, 2))
        if not wrong.any():
            return None
        member = int(np.argmax(wrong))
        alone = run_scenario(self.scenario.take(member), False, 1, self.report).failure
        if alone is None:
            return Failure("non-finite", float(self.scenario.times[0]), member, samples[0, member])
        return Failure(alone.reason, alone.time, member, alone.last_good)


def _group_members(scenario: Scenario) -> list[Any]:
    """Groups of members that share all discontinuity times; empty if all do."""
    events = segments.discontinuity_times(scenario)
    if not any(np.ndim(event) for event in events):
        return []
    each = np.stack([np.broadcast_to(event, (scenario.count,)) for event in events], axis=-1)
    unique, index = np.unique(each, axis=0, return_inverse=True)
    return [np.flatnonzero(index.ravel() == i) for i in range(len(unique))]


def _run_groups(
    scenario: Scenario, groups: list[Any], counts_work: bool, threads: int | None, report: Report | None
) -> Iterator[tuple[Any, RunResult]]:
    for i, rows in enumerate(groups):
        own = report_of_part(report, scenario, i, len(groups))
        yield rows, run_scenario(scenario.take(rows), counts_work, threads, own)
        if own is not None:
            own(scenario.end_time)


def _merge_groups(scenario: Scenario, parts: list[tuple[Any, RunResult]]) -> RunResult:
    """Merge the runs of groups of members, in the order of the members."""
    first = parts[0][1]
    samples = np.full((len(scenario.times), scenario.count, first.samples.shape[-1]), np.nan)
    failure = None
    for rows, part in parts:
        samples[: len(part.samples), rows] = part.samples
        if part.failure is not None and failure is None:
            failure = part.failure
            failure.body = int(rows[failure.body])
        for crossing in part.crossings:
            crossing.body = int(rows[crossing.body])
    crossings = sorted((c for _, part in parts for c in part.crossings), key=lambda c: c.time)
    steps, refused = sum(p.steps for _, p in parts), sum(p.refused for _, p in parts)
    return RunResult(scenario.times, samples, first.columns, steps, refused, failure, crossings)
