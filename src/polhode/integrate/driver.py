"""One run, from a scenario to its samples: an integrator is taken through the segments between discontinuities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from polhode.integrate import timeline
from polhode.integrate.clocked_steps import ClockedSteps
from polhode.integrate.closed_form import ClosedForm
from polhode.integrate.event_log import label_event_records
from polhode.integrate.integrator import FixedSteps, Integrator, OneByOneError, runs_in_lanes
from polhode.integrate.journal import Journal, Recorder, Snapshot, StreamReader
from polhode.integrate.run_result import Report, RunResult, report_of_part
from polhode.integrate.timeline import Checkpoint, impulses_at
from polhode.scenario.scenario import Scenario
from polhode.validation import Array


def run_scenario(
    scenario: Scenario,
    counts_work: bool,
    threads: int | None = None,
    report: Report | None = None,
    checkpoint: Checkpoint | None = None,
    recorder: Recorder | None = None,
) -> RunResult:
    """Compute a scenario's motion at its output times; its user functions have been traced.

    With a recorder a single run can be killed at any instant and continued; ensembles are not recorded here.
    """
    groups = _group_members(scenario) if scenario.members is not None else []
    if len(groups) > 1:
        parts = _run_groups(scenario, groups, counts_work, threads, report)
        result = RunResult.concat(parts, scenario.times, scenario.members or 1)
    elif scenario.used_method.is_taylor_series and scenario.members is not None and not runs_in_lanes(scenario):
        result = _run_member_by_member(scenario, counts_work, report)
    else:
        with np.errstate(all="ignore"):  # a non-finite state is detected and reported with its time
            try:
                journal = None if recorder is None or scenario.members is not None else recorder.next_run()
                result = drive(integrator_for(scenario, counts_work, threads, report), checkpoint, journal)
            except OneByOneError:
                result = _run_one_by_one(scenario, counts_work, threads, report, recorder)
    if result.crossings:
        label_event_records(scenario, result.crossings)
    if len(scenario.shape) > 1 and result.samples.ndim == 3:
        result.samples = result.samples.reshape(len(result.samples), *scenario.shape, -1)
    return result


def integrator_for(
    scenario: Scenario, counts_work: bool, threads: int | None = None, report: Report | None = None
) -> Integrator:
    """What advances the bodies of a scenario by its method; the others are not even imported."""
    method = scenario.used_method
    if scenario.contacts:
        from polhode.integrate.contact_steps import ContactSteps

        return ContactSteps(scenario, counts_work, threads, report)
    if method.is_closed_form and not scenario.events:
        return ClosedForm(scenario, counts_work, threads, report)
    if method.is_taylor_series:
        from polhode.integrate.taylor.taylor_series import TaylorSeries

        return TaylorSeries(scenario, counts_work, threads, report)
    if method.is_adaptive or scenario.events:
        return ClockedSteps(scenario, counts_work, threads, report)
    if scenario.engine == "gpu":
        from polhode.integrate.gpu_steps import GpuFixedSteps

        return GpuFixedSteps(scenario, counts_work, threads, report)
    return FixedSteps(scenario, counts_work, threads, report)


def _run_one_by_one(
    scenario: Scenario, counts_work: bool, threads: int | None, report: Report | None, recorder: Recorder | None
) -> RunResult:
    """Taylor series of a force that switches at different times for different bodies, which cannot share lanes."""
    if scenario.members is not None:
        return _run_member_by_member(scenario, counts_work, report)
    from polhode.integrate.taylor.taylor_series import TaylorSeries

    together = TaylorSeries(scenario, counts_work, threads, report)
    together.in_lanes = False
    return drive(together, None, None if recorder is None else recorder.next_run())


def drive(integrator: Integrator, checkpoint: Checkpoint | None = None, journal: Journal | None = None) -> RunResult:
    """Take an integrator through all segments of its scenario."""
    scenario = integrator.scenario
    times, end = scenario.times, timeline.last_boundary(scenario)
    edges = [scenario.start_time, *timeline.segment_boundaries(scenario), end]
    if checkpoint is not None:
        edges = [checkpoint.segment, *(t for t in edges if t > checkpoint.segment)]
        integrator.resume(checkpoint)
    spans = list(pairwise(edges if len(edges) > 1 else [end, end]))
    portions: list[Array] = []
    checkpoints: list[Array] = []
    integrator.journal = journal
    resumed = None if journal is None else journal.resume(integrator.starting_numbers())
    if resumed is not None:
        assert journal is not None
        _read_segments(integrator, resumed, StreamReader(journal), spans, portions, checkpoints)
        journal.forget_streams()
    has_ended = resumed is not None and resumed.get("outputs") is not None
    for i, (a, b) in enumerate(() if has_ended else spans):
        if i < len(portions):
            continue
        is_last = b == end
        integrator.segment = i
        if integrator.inside is None:
            if checkpoint is None or a != checkpoint.segment:
                integrator.apply_impulses(a)
            integrator.begin_segment(a, b)
        portions.append(integrator.integrate(a, b, _wanted(times, a, b, is_last), is_last))
        if integrator.checkpoints is not None:
            checkpoints.append(integrator.checkpoints[: len(portions[-1])])
        if integrator.failure is not None or integrator.stopped_at is not None or times[-1] < b:
            break
        if integrator.report is not None and not is_last:
            integrator.report(b)
        if journal is not None and not is_last and journal.is_due():
            integrator.segment = i + 1
            integrator.write_snapshot(b)
    if journal is not None and not has_ended:
        snapshot = {"segment": integrator.segment, "integrator": integrator.snapshot(), "inside": None}
        journal.write(end, {**snapshot, "outputs": len(portions[-1])}, ended=True)
    integrator.journal = None
    samples = np.concatenate(portions) if len(portions) > 1 else portions[0]
    times = times[: len(samples)]
    if integrator.stopped_at is not None:
        if not len(times) or times[-1] != integrator.stopped_at:
            times = np.append(times, integrator.stopped_at)
            samples = np.concatenate([samples, integrator.samples[None]])
    elif integrator.failure is None and len(times) and times[-1] == end and end > scenario.start_time:
        _apply_last_impulses(integrator, end, samples)
    failure = integrator.finish(times, samples, run_scenario)
    result = RunResult(times, samples, integrator.columns, integrator.steps, integrator.refused, failure)
    result.crossings, result.closed_form = integrator.crossings, integrator.closed_form
    result.switches = integrator.switches
    if checkpoints and len(checkpoints[0]):
        result.checkpoints = np.concatenate(checkpoints)
    integrator.record(result)
    return result


def segment_records(integrator: Integrator) -> Iterator[Any]:
    """The records of a run's segments, without computing them; each time the integrator is as the segment begins.

    That holds where nothing but the program itself carries the state from one segment to the next: no impulses inside.
    """
    scenario = integrator.scenario
    times, end = scenario.times, timeline.last_boundary(scenario)
    inside = () if scenario.used_method.is_closed_form else timeline.segment_boundaries(scenario)
    edges = [scenario.start_time, *inside, end]
    integrator.apply_impulses(scenario.start_time)
    for a, b in pairwise(edges if len(edges) > 1 else [end, end]):
        integrator.begin_segment(a, b)
        yield integrator.segment_record(a, b, _wanted(times, a, b, b == end), b == end)
        if times[-1] < b:
            return


def _wanted(times: Array, a: float, b: float, is_last: bool) -> Array:
    """The output times of a segment."""
    return times[(times >= a) & ((times <= b) if is_last else (times < b))]


def _read_segments(
    integrator: Integrator,
    resumed: Snapshot,
    reader: StreamReader,
    spans: list[tuple[float, float]],
    portions: list[Array],
    checkpoints: list[Array],
) -> None:
    """Read the outputs of the segments that are finished, and put the integrator where the run was killed."""
    times, end = integrator.scenario.times, spans[-1][1]
    outputs, first = resumed.get("outputs"), resumed["segment"]
    for i, (a, b) in enumerate(spans[: first + (outputs is not None)]):
        is_last, has_ended = b == end, i == first
        samples = integrator.read_segment(reader, _wanted(times, a, b, is_last), is_last, has_ended)
        portions.append(samples[:outputs] if has_ended else samples)
        if integrator.checkpoints is not None:
            checkpoints.append(integrator.checkpoints[: len(portions[-1])])
    if resumed["inside"] is not None:
        integrator.begin_segment(*spans[first])
    integrator.segment = first
    integrator.restore_snapshot(resumed["integrator"], resumed["inside"], reader)


def _apply_last_impulses(integrator: Integrator, end: float, samples: Array) -> None:
    """An impulse at the very end shows in the last sample; members that have ended before get none."""
    if not impulses_at(integrator.scenario, end):
        return
    part = integrator.columns.integrated
    now = samples[-1].copy()
    integrator.set_state(now)
    integrator.apply_impulses(end)
    samples[-1][:, part] = np.where(np.isfinite(now[:, part]), integrator.samples[:, part], np.nan)


# Members with discontinuities at different times ----------------------------------------------------------------------
def _group_members(scenario: Scenario) -> list[Any]:
    """Groups of members that share all discontinuity times; empty if all do."""
    events = timeline.discontinuity_times(scenario)
    if not any(np.ndim(event) for event in events):
        return []
    each = np.stack([np.broadcast_to(event, (scenario.members or 1,)) for event in events], axis=-1)
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


def _run_member_by_member(scenario: Scenario, counts_work: bool, report: Report | None) -> RunResult:
    """Run each member of an ensemble separately."""
    assert scenario.members is not None
    members, times = scenario.members, scenario.times

    def parts() -> Iterator[tuple[slice, RunResult]]:
        for member in range(members):
            own = report_of_part(report, scenario, member, members)
            part = run_scenario(scenario.take(member), counts_work, 1, own)
            yield slice(member, member + 1), _as_ensemble_of_one(part, times, scenario.is_system)
            if own is not None:
                own(scenario.end_time)

    return RunResult.concat(parts(), times, members)


def _as_ensemble_of_one(run: RunResult, times: Array, is_system: bool) -> RunResult:
    """The run of a single member, at the output times that it reached; of one that stopped, where only the end counts,
    the state in which it stopped.
    """
    samples = run.samples
    if len(run.times) and run.failure is None and run.times[-1] < times[-1] and run.times[-1] not in times:
        samples = samples[-1:] if len(times) == 1 else samples[:-1]
    crossings = [replace(c, member=0) if is_system else c for c in run.crossings]
    return replace(run, samples=samples[:, None] if is_system else samples, crossings=crossings)
