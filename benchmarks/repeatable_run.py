"""A run to be repeated by any method: all that can be done beforehand is done, and what is timed is machine code.

Only the state at the end is put out.  Between two segments nothing happens but that windows open or close.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.taylor_segments import RunFunctions, TaylorSegment, prepare_segments
from polhode.errors import ScenarioError
from polhode.integrate.clocked_steps import ClockedSteps
from polhode.integrate.integrator import FixedSteps, Integrator
from polhode.integrate.loops.clocked import ClockedRun
from polhode.integrate.loops.closed_form_loop import ClosedFormRun
from polhode.integrate.loops.fixed_steps import FixedRun
from polhode.integrate.loops.layout import KEPT_CLOCK
from polhode.integrate.run_plan import RunPlan
from polhode.integrate.taylor import taylor_series as taylor
from polhode.integrate.taylor.heyoka_integrator import TaylorVariables
from polhode.integrate.timeline import Timeline, discontinuity_times, locate_on_grid
from polhode.integrate.traced_functions import trace_functions
from polhode.ir.program import Advance
from polhode.ir.targets.heyoka import import_heyoka
from polhode.scenario.scenario import Scenario
from polhode.validation import Array

UNLIMITED = 2**40
"""Attempts at a step: more than any run makes."""

SegmentCalls = list[tuple[list[tuple[Array, Array]], Advance, list[tuple[Array, Array]]]]
"""For each segment: what to copy before the machine code runs, (to, from); its loop; what to copy after it."""


class RepeatableRun:
    """A run of a scenario, as often as one likes: `reset`, `go`, `final_samples`; only `go` computes.

    `final_samples()` are the numbers at the end, (bodies, numbers): those of `run_scenario(...).samples[-1]`, or not
    finite where that run would have failed.
    """

    def __init__(self, scenario: Scenario) -> None:
        _check_scenario(scenario)
        scenario = trace_functions(scenario)
        method = scenario.used_method
        if method.is_taylor_series:
            self.parts = _prepare_taylor(scenario)
        elif method.is_closed_form:
            self.parts = _prepare_closed_form(scenario)
        elif method.is_adaptive:
            self.parts = _prepare_adaptive(scenario)
        else:
            self.parts = _prepare_fixed_step(scenario)
        self.reset, self.go, self.final_samples = self.parts
        self.reset()
        self.go()  # compiles


def _check_scenario(scenario: Scenario) -> None:
    if scenario.of_kind("impulse") or scenario.events:
        raise ScenarioError("a prepared run has no impulses and no events: use ph.simulate")
    if scenario.times.tolist() != [scenario.end_time]:
        raise ScenarioError("a prepared run shows its end only: give output_times=[the end of the run]")
    if any(np.ptp(np.asarray(t)) > 0 for t in discontinuity_times(scenario)):
        raise ScenarioError("in a prepared run all members share the times of their windows: run them group by group")


# The closed form ------------------------------------------------------------------------------------------------------
def _prepare_closed_form(scenario: Scenario) -> RunFunctions:
    integrator = Integrator(RunPlan(scenario, counts_work=False), 1)
    out = np.empty((1, len(integrator.buffer), integrator.layout.sample_size))
    run = ClosedFormRun(integrator.buffer, float(scenario.start_time), np.array(scenario.times), out)
    advance, units = integrator.plan.program.bind(run), len(integrator.buffer)
    return RunFunctions(lambda: out.fill(np.nan), lambda: advance(0, units), lambda: integrator.packing.unpack(out)[0])


# Taylor series --------------------------------------------------------------------------------------------------------
def _prepare_taylor(scenario: Scenario) -> RunFunctions:
    """An integrator for every segment, whose clock is set by `reset`; from one to the next goes but the state."""
    lanes = int(import_heyoka().recommended_simd_size()) if taylor.runs_in_lanes(scenario) else 0
    numbers = TaylorVariables(scenario, False)
    now, legs = numbers.start(), []
    with np.errstate(all="ignore"):
        for segment in Timeline.of(scenario).segments:
            leg = TaylorSegment(numbers, now, segment.start, segment.end, lanes)
            if leg.found.events:
                raise ScenarioError("a prepared run by Taylor series has no force that decides: use ph.simulate")
            leg.fill(now)
            leg.go()
            now = leg.numbers()
            legs.append(leg)
    if any(leg.found.moving != legs[0].found.moving for leg in legs):
        return prepare_segments(scenario)  # something begins or ceases to move on the way
    calls: list[tuple[list[tuple[Array, Array, Array]], list[Any], float]] = []
    for before, leg in zip([None, *legs[:-1]], legs, strict=True):
        ways = [] if before is None else _state_transfers(before, leg)
        calls.append((ways, [integrator.propagate_until for integrator in leg.integrators], leg.b))

    def reset() -> None:
        for leg in legs:
            leg.fill(leg.begin)

    def go() -> None:
        for ways, propagate, end in calls:
            for old, ratio, new in ways:
                np.multiply(old, ratio, new)
            for propagate_until in propagate:
                propagate_until(end)

    return RunFunctions(reset, go, lambda: numbers.to_samples(legs[-1].numbers()))


def _state_transfers(before: TaylorSegment, leg: TaylorSegment) -> list[tuple[Array, Array, Array]]:
    """(the state at the end of a leg, what to multiply it by, the state that the next begins with), each batch."""
    both = zip(before.states(), before.scales, leg.states(), leg.scales, strict=True)
    return [(old, there / here, new) for old, there, new, here in both]


# Adaptive steps -------------------------------------------------------------------------------------------------------
def _prepare_adaptive(scenario: Scenario) -> RunFunctions:
    """State and clocks stay in the buffer from segment to segment."""
    integrator = ClockedSteps(RunPlan(scenario, counts_work=False), 1)
    buffer, units, log = integrator.buffer, len(integrator.buffer), integrator.event_log
    width = integrator.layout.sample_size * (buffer.shape[1] // integrator.packing.size)
    out, start = np.empty((1, units, width)), scenario.start_time
    calls: SegmentCalls = []
    counters: list[Array] = []
    for _, b, windows in _iterate_segments(integrator):
        is_last = b == scenario.end_time
        stops, shown = (np.array([b - start]), out) if is_last else (np.empty(0), np.empty((0, units, width)))
        counters.append(np.zeros(units * integrator.slots, dtype=np.int64))
        run = ClockedRun(
            buffer, integrator.pairs, float(start), float(b - start), not is_last, is_last, stops,
            *scenario.tolerances, UNLIMITED, counters[-1], shown, np.empty((0, units, width + KEPT_CLOCK)),
            *log.fields(),
        )  # fmt: skip
        calls.append((windows, integrator.plan.program.bind(run), []))
    return _run_functions(integrator, calls, [out], counters)


# Fixed steps ----------------------------------------------------------------------------------------------------------
def _prepare_fixed_step(scenario: Scenario) -> RunFunctions:
    """Where a segment ends beside the grid, its last state stands in the output, and is copied back."""
    integrator = FixedSteps(RunPlan(scenario, counts_work=False), 1)
    buffer, layout, units = integrator.buffer, integrator.layout, len(integrator.buffer)
    blocks, h = buffer.reshape(-1, integrator.packing.size), scenario.needed_step
    calls: SegmentCalls = []
    outs: list[Array] = []
    for a, b, windows in _iterate_segments(integrator):
        stop_k, rest = locate_on_grid(np.array([b]), a, h)
        outs.append(np.empty((1, units, layout.sample_size * (buffer.shape[1] // integrator.packing.size))))
        state = outs[-1].reshape(-1, layout.sample_size)[:, : layout.drift]
        back = [(blocks[:, : layout.drift], state)] if rest[0] > 0 and b != scenario.end_time else []
        run = FixedRun(buffer, integrator.pairs, float(a), h, 0, int(stop_k[-1]), stop_k, rest, 0, outs[-1])
        calls.append((windows, integrator.plan.program.bind(run), back))
    return _run_functions(integrator, calls, outs, [])


# Segments -------------------------------------------------------------------------------------------------------------
def _iterate_segments(integrator: Integrator) -> Iterator[tuple[float, float, list[tuple[Array, Array]]]]:
    """From, to, and what its windows change in the buffer; those of the first are written into it."""
    buffer, segments = integrator.buffer, integrator.run.timeline.segments
    integrator.begin_segment(segments[0])
    first = now = buffer.copy()
    for i, segment in enumerate(segments):
        windows = []
        if i > 0:
            integrator.begin_segment(segment)
            then = buffer.copy()
            changed = np.flatnonzero((then != now).any(axis=0))
            windows = [
                (buffer[:, some[0] : some[-1] + 1], then[:, some[0] : some[-1] + 1].copy())
                for some in np.split(changed, np.flatnonzero(np.diff(changed) > 1) + 1)
                if len(some)
            ]
            now = then
        yield segment.start, segment.end, windows
    buffer[:] = first


def _run_functions(
    integrator: Integrator, calls: SegmentCalls, outs: list[Array], counters: list[Array]
) -> RunFunctions:
    buffer, start, units = integrator.buffer, integrator.buffer.copy(), len(integrator.buffer)
    scenario = integrator.scenario
    (_, advance, _), *others = calls

    def reset() -> None:
        buffer[:] = start
        for out in outs:
            out.fill(np.nan)
        for done in counters:
            done.fill(0)

    def go_at_once() -> None:
        advance(0, units)

    def go_in_segments() -> None:
        for before, advance_segment, after in calls:
            for to, given in before:
                to[...] = given
            advance_segment(0, units)
            for to, given in after:
                to[...] = given

    def kept() -> Array:
        shown: list[Array] = [integrator.packing.unpack(out)[0] for out in outs]
        if scenario.form.keeps_angles and not scenario.used_method.is_adaptive:
            turned = np.max([rows[:, integrator.columns.drift] for rows in shown], axis=0) > scenario.largest_turn**2
            shown[-1] = np.where(turned[:, None], np.nan, shown[-1])  # the angles mean nothing any more
        return shown[-1]

    return RunFunctions(reset, go_in_segments if others else go_at_once, kept)
