"""One run, from a scenario to its samples: an integrator is taken through the segments between discontinuities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from polhode.integrate.clocked_steps import ClockedSteps
from polhode.integrate.closed_form import ClosedForm
from polhode.integrate.event_log import label_event_records
from polhode.integrate.integrator import FixedSteps, Integrator, OneByOneError, runs_in_lanes
from polhode.integrate.journal import Journal, Recorder, StreamReader
from polhode.integrate.run_plan import RunPlan
from polhode.integrate.run_result import Report, RunResult, report_of_part
from polhode.integrate.run_state import Snapshot
from polhode.integrate.timeline import Checkpoint, Segment, group_members
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
    """Compute a scenario's motion at its output times; its user functions have been traced."""
    return run_plan(RunPlan(scenario, counts_work), threads, report, checkpoint, recorder)


def run_plan(
    plan: RunPlan,
    threads: int | None = None,
    report: Report | None = None,
    checkpoint: Checkpoint | None = None,
    recorder: Recorder | None = None,
) -> RunResult:
    """Compute the motion of a plan at its output times.

    With a recorder a single run can be killed at any instant and continued; ensembles are not recorded here.
    """
    scenario = plan.scenario
    groups = group_members(scenario) if scenario.members is not None else []
    if len(groups) > 1:
        parts = _run_groups(plan, groups, threads, report)
        result = RunResult.concat(parts, scenario.times, scenario.members or 1)
    elif scenario.used_method.is_taylor_series and scenario.members is not None and not runs_in_lanes(scenario):
        result = _run_member_by_member(plan, report)
    else:
        with np.errstate(all="ignore"):  # a non-finite state is detected and reported with its time
            try:
                journal = None if recorder is None or scenario.members is not None else recorder.next_run()
                result = drive(integrator_for(plan, threads, report), checkpoint, journal)
            except OneByOneError:
                result = _run_one_by_one(plan, threads, report, recorder)
    if result.crossings:
        label_event_records(scenario, result.crossings)
    if len(scenario.shape) > 1 and result.samples.ndim == 3:
        result.samples = result.samples.reshape(len(result.samples), *scenario.shape, -1)
    return result


def integrator_for(plan: RunPlan, threads: int | None = None, report: Report | None = None) -> Integrator:
    """What advances the bodies of a plan by its method; the others are not even imported."""
    scenario, method = plan.scenario, plan.scenario.used_method
    if scenario.is_constrained:
        from polhode.integrate.contact_steps import ContactSteps

        return ContactSteps(plan, threads, report)
    if method.is_closed_form and not scenario.events:
        return ClosedForm(plan, threads, report)
    if method.is_taylor_series:
        from polhode.integrate.taylor.taylor_series import TaylorSeries

        return TaylorSeries(plan, threads, report)
    if method.is_adaptive or scenario.events:
        return ClockedSteps(plan, threads, report)
    if scenario.engine == "gpu":
        from polhode.integrate.gpu_steps import GpuFixedSteps

        return GpuFixedSteps(plan, threads, report)
    return FixedSteps(plan, threads, report)


def _run_one_by_one(plan: RunPlan, threads: int | None, report: Report | None, recorder: Recorder | None) -> RunResult:
    """Taylor series of a force that switches at different times for different bodies, which cannot share lanes."""
    if plan.scenario.members is not None:
        return _run_member_by_member(plan, report)
    from polhode.integrate.taylor.taylor_series import TaylorSeries

    together = TaylorSeries(plan, threads, report)
    together.in_lanes = False
    return drive(together, None, None if recorder is None else recorder.next_run())


def drive(integrator: Integrator, checkpoint: Checkpoint | None = None, journal: Journal | None = None) -> RunResult:
    """Take an integrator through all segments of its plan."""
    timeline = integrator.run.timeline
    segments = timeline.segments if checkpoint is None else timeline.segments_from(checkpoint.segment)
    if checkpoint is not None:
        integrator.resume(checkpoint)
    by_segment: list[Array] = []
    checkpoints: list[Array] = []

    def keep(samples: Array) -> None:
        by_segment.append(samples)
        if integrator.checkpoints is not None:
            checkpoints.append(integrator.checkpoints[: len(samples)])

    integrator.journal = journal
    resumed = None if journal is None else journal.resume(integrator.starting_numbers())
    has_ended = resumed is not None and resumed.get("outputs") is not None
    if journal is not None and resumed is not None:
        for samples in _read_segments(integrator, resumed, StreamReader(journal), segments):
            keep(samples)
        journal.forget_streams()
    for i, segment in enumerate(() if has_ended else segments):
        if i < len(by_segment):
            continue
        integrator.segment = i
        if integrator.inside is None:
            if checkpoint is None or segment.start != checkpoint.segment:
                integrator.apply_impulses(segment.start)
            integrator.begin_segment(segment)
        keep(integrator.integrate(segment))
        if integrator.failure is not None or integrator.stopped_at is not None:
            break
        if integrator.report is not None and segment.goes_on:
            integrator.report(segment.end)
        if journal is not None and segment.goes_on and journal.is_due():
            integrator.segment = i + 1
            integrator.write_snapshot(segment.end)
    if journal is not None and not has_ended:
        ended = {"segment": integrator.segment, "integrator": integrator.state.snapshot(), "inside": None}
        journal.write(timeline.end, {**ended, "outputs": len(by_segment[-1])}, ended=True)
    integrator.journal = None
    samples = np.concatenate(by_segment) if len(by_segment) > 1 else by_segment[0]
    times = timeline.outputs[: len(samples)]
    if integrator.stopped_at is not None:
        if not len(times) or times[-1] != integrator.stopped_at:
            times = np.append(times, integrator.stopped_at)
            samples = np.concatenate([samples, integrator.samples[None]])
    elif integrator.failure is None and len(times) == len(timeline.outputs) and timeline.shows_end:
        _apply_last_impulses(integrator, timeline.end, samples)
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
    A closed form goes through all in one.
    """
    timeline = integrator.run.timeline
    segments = timeline.segments
    if integrator.scenario.used_method.is_closed_form:
        segments = (Segment(timeline.start, timeline.end, timeline.outputs, is_last=True, goes_on=False),)
    integrator.apply_impulses(timeline.start)
    for segment in segments:
        integrator.begin_segment(segment)
        yield integrator.segment_record(segment)


def _read_segments(
    integrator: Integrator, resumed: Snapshot, reader: StreamReader, segments: Sequence[Segment]
) -> Iterator[Array]:
    """Read the outputs of the segments that are finished, and put the integrator where the run was killed."""
    outputs, first = resumed.get("outputs"), resumed["segment"]
    for i, segment in enumerate(segments[: first + (outputs is not None)]):
        samples = integrator.read_segment(reader, segment, i == first)
        yield samples[:outputs] if i == first else samples
    if resumed["inside"] is not None:
        integrator.begin_segment(segments[first])
    integrator.segment = first
    integrator.restore_snapshot(resumed["integrator"], resumed["inside"], reader)


def _apply_last_impulses(integrator: Integrator, end: float, samples: Array) -> None:
    """An impulse at the very end shows in the last sample; members that have ended before get none."""
    if not integrator.run.timeline.impulses_at(end):
        return
    part = integrator.columns.integrated
    now = samples[-1].copy()
    integrator.set_state(now)
    integrator.apply_impulses(end)
    samples[-1][:, part] = np.where(np.isfinite(now[:, part]), integrator.samples[:, part], np.nan)


# Members with discontinuities at different times ----------------------------------------------------------------------
def _run_groups(
    plan: RunPlan, groups: list[Any], threads: int | None, report: Report | None
) -> Iterator[tuple[Any, RunResult]]:
    for i, rows in enumerate(groups):
        own = report_of_part(report, plan.scenario, i, len(groups))
        yield rows, run_plan(plan.take(rows), threads, own)
        if own is not None:
            own(plan.scenario.end_time)


def _run_member_by_member(plan: RunPlan, report: Report | None) -> RunResult:
    """Run each member of an ensemble separately."""
    scenario = plan.scenario
    assert scenario.members is not None
    members, times = scenario.members, scenario.times

    def parts() -> Iterator[tuple[slice, RunResult]]:
        for member in range(members):
            own = report_of_part(report, scenario, member, members)
            part = run_plan(plan.take(member), 1, own)
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
