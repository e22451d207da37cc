"""What advances the bodies of a scenario: the common part of all methods, and steps of one length."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property
from threading import Event
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from polhode.equations.rigid_body import turn_per_step
from polhode.integrate import timeline
from polhode.integrate.buffer import pack_buffer, pack_pairs
from polhode.integrate.journal import Journal, StreamReader
from polhode.integrate.loops.fixed_steps import FixedRun
from polhode.integrate.outputs import Outputs
from polhode.integrate.run_result import EventRecord, Failure, Report, RunResult
from polhode.integrate.run_state import Log, RunState, Snapshot
from polhode.integrate.timeline import Checkpoint, Segment, apply_impulses, open_windows
from polhode.scenario.force import flatten_leaves
from polhode.scenario.members import over_bodies
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import split_groups
from polhode.validation import Array

if TYPE_CHECKING:
    from polhode.integrate.run_plan import RunPlan

CORES = os.cpu_count() or 1
PORTION_S = 0.2
"""Approximate time that a loop runs before it returns to report progress."""

RunAlone = Callable[[Scenario, bool, int | None, Report | None], RunResult]
"""Runs another scenario: (scenario, counts work, threads, report)."""


def on_threads(work: Callable[[int, int], Any], units: int, threads: int, stop: Event | None = None) -> None:
    """Call work(first, last) for all units, divided evenly among threads: compiled loops release the GIL.

    An interrupt comes to the caller's thread alone, which waits for the others: it sets `stop`, which long work heeds.
    """
    if threads == 1:
        work(0, units)
        return
    cuts = np.linspace(0, units, threads + 1).astype(int).tolist()
    with ThreadPoolExecutor(threads) as pool:
        try:
            list(pool.map(work, cuts[:-1], cuts[1:]))
        except BaseException:
            if stop is not None:
                stop.set()
            raise


class OneByOneError(Exception):
    """A force switches branches at different times for different members, so they cannot share lanes."""


def runs_in_lanes(scenario: Scenario) -> bool:
    """Whether there are several bodies or members that do not interact."""
    alone = scenario.members is None and len(scenario.bodies) == 1
    return not (alone or scenario.of_kind("pair") or scenario.events or len(scenario.shape) > 1)


class Integrator:
    """The bodies of a scenario on their way.  The driver takes it through the segments of a run."""

    STATE: ClassVar[tuple[str, ...]] = ("buffer", "steps", "refused", "stopped_at", "failure")
    """What changes while it works, by names of attributes: see `RunState`."""
    LOGS: ClassVar[tuple[Log, ...]] = ()

    failure: Failure | None = None
    switches = 0
    """How often a force has switched branches, where that is known."""
    stopped_at: float | None = None
    """The time at which an event has stopped the run."""
    closed_form: Any = None
    is_stepped = False
    """Whether a stepper drives it: it lands on the end of every advance, also beyond the end of the scenario."""
    checkpoints: Array | None = None
    """The starts of the steps that cover the outputs of the last segment, if it keeps them."""
    journal: Journal | None = None
    """Where it writes what it needs to continue after it was killed."""
    segment = 0
    """The number of the segment that it is in."""
    forces: list[Array] | None = None
    """Of the contacts at the outputs, segment by segment, if there are contacts."""
    inside: Snapshot | None = None
    """What a portion has left behind, to continue within a segment."""

    def __init__(self, run: RunPlan, threads: int | None = None, report: Report | None = None) -> None:
        scenario = run.scenario
        self.run, self.scenario, self.report = run, scenario, report
        self.plan, self.layout, self.columns, self.packing = run.loops, run.layout, run.columns, run.packing
        self.units, self.width = self.packing.buffer_shape(run.is_system)
        """The rows of the buffer, and the numbers of each."""
        self.pairs = pack_pairs(scenario)
        self.threads = 1 if scenario.engine == "gpu" else min(threads or CORES, self.units)
        self.seconds_per_step = scenario.count * _estimate_step_seconds(scenario.engine, self.layout.lanes)
        self.steps = self.refused = 0
        self.crossings: list[EventRecord] = []
        self._param_places: dict[tuple[int, int], Any] = {}

    @cached_property
    def buffer(self) -> Array:
        """All numbers of the run, packed when they are first asked for."""
        return pack_buffer(self.scenario, self.packing, self.run.is_system)

    # What the driver asks ---------------------------------------------------------------------------------------------
    @property
    def samples(self) -> Array:
        """The current samples, (bodies, columns), as a copy."""
        return self.packing.samples_of(self.buffer)

    def set_state(self, samples: Array) -> None:
        """Continue from these samples."""
        self.packing.write_state(self.buffer, samples)

    def resume(self, checkpoint: Checkpoint) -> None:
        """Continue from a checkpoint."""
        self.set_state(checkpoint.samples)

    def apply_impulses(self, t: float) -> bool:
        """Apply the impulses at time t; return whether there are any."""
        impulses = self.run.timeline.impulses_at(t)
        if impulses:
            self.set_state(apply_impulses(self.scenario, self.samples, self.columns, t, impulses))
        return bool(impulses)

    def begin_segment(self, segment: Segment) -> None:
        """Before a segment: each force that acts in a window acts always or never, so that no stage sees its edge."""
        for f, places in zip(self.scenario.of_kind("body"), self.layout.params, strict=False):  # drives come last
            times = (places if f.bodies is None else places[1])[-1] if f.has_windows else ()
            for is_open, at_start, at_stop in zip(
                open_windows(f.windows, segment), times[::2], times[1::2], strict=True
            ):
                opened = over_bodies(np.where(is_open, -np.inf, np.inf), self.scenario)
                self.packing.write_values(self.buffer, at_start, np.broadcast_to(opened, self.scenario.shape).ravel())
                self.packing.write_values(self.buffer, at_stop, np.inf)
        for part in self.scenario.parts:
            self._write_constants(part.constants_in(self.scenario, segment.middle))

    def _write_constants(self, changed: dict[str, Any]) -> None:
        """Write constants of the bodies that are others from here on, by their names."""
        if not changed:  # a buffer that has not been packed stays so
            return
        blocks, lanes = self.buffer.reshape(-1, self.packing.size), self.layout.lanes
        for name, numbers in changed.items():
            places = getattr(self.layout.body, name)
            for place, number in zip(flatten_leaves(places), flatten_leaves(tuple(numbers)), strict=True):
                if np.ndim(number) == 0:
                    blocks[:, place : place + lanes] = number
                else:
                    self.packing.write_values(self.buffer, place, number)

    def integrate(self, segment: Segment) -> Array:
        """Advance through a segment; return the samples at its outputs, (times, bodies, columns)."""
        raise NotImplementedError

    def segment_record(self, segment: Segment) -> Any:
        """What the loop of the program takes to compute a segment from its beginning, in one call if it can."""
        raise NotImplementedError

    def new_outputs(self, record: Any) -> Outputs:
        """The outputs of a segment that `segment_record` has room for."""
        raise NotImplementedError

    def outputs_of(self, record: Any, count: int) -> Array:
        """The first outputs of a segment that has been computed, as `integrate` returns them."""
        raise NotImplementedError

    def finish(self, times: Array, samples: Array, run_alone: RunAlone) -> Failure | None:  # noqa: ARG002
        """After the last segment: what has failed, if anything; to find out when, one member can be run alone."""
        return self.failure

    def record(self, result: RunResult) -> None:
        """Write what only this kind of integrator knows into the result of the run."""

    def param_places(self, force: int, body: int) -> Any:
        """Where the parameters of a force on single bodies, counted among these, lie in the buffer, for one body."""
        known = self._param_places.get((force, body))
        if known is None:
            places, f = self.layout.params[force], self.scenario.of_kind("body")[force]
            block, lane = divmod(body, self.layout.lanes)
            own = flatten_leaves(places if f.bodies is None else places[1])
            known = self._param_places[force, body] = np.array(own) + (block * self.packing.size + lane)
        return known

    def params_of(self, force: int, body: int) -> Array:
        """The parameters of a force on single bodies, for one body."""
        return np.array(self.buffer.reshape(-1)[self.param_places(force, body)])

    def set_params(self, force: int, numbers: Array, body: int) -> None:
        """Change them."""
        self.buffer.reshape(-1)[self.param_places(force, body)] = numbers

    def pop_events(self) -> list[EventRecord]:
        """The events since the last call, in order of time."""
        found = sorted(self.crossings, key=lambda crossing: crossing.time)
        self.crossings.clear()
        return found

    def pop_impacts(self) -> Any:
        """The impacts since the last call, where there are contacts."""
        raise NotImplementedError

    def set_drive_commands(self, torques: Sequence[float]) -> None:
        """Change the constant part of each drive, for all bodies: those that do not carry it ignore it."""
        lanes, blocks = self.layout.lanes, self.buffer.reshape(-1, self.packing.size)
        for places, torque in zip(self.layout.params[-1], torques, strict=True):
            blocks[:, places[0] : places[0] + lanes] = torque

    def drive_commands(self) -> list[float]:
        """The constant part of each drive now."""
        block = self.buffer.reshape(-1, self.packing.size)[0]
        return [float(block[places[0]]) for places in self.layout.params[-1]]

    # What changes -----------------------------------------------------------------------------------------------------
    @cached_property
    def state(self) -> RunState:
        """What changes, to be saved and restored."""
        return RunState(self, self.STATE, self.LOGS)

    def save(self) -> Any:
        """A copy of everything that changes."""
        return self.state.save()

    def restore(self, saved: Any) -> None:
        """Go back to what `save` has returned."""
        self.state.restore(saved)

    # Continuing a run that was killed ---------------------------------------------------------------------------------
    def starting_numbers(self) -> bytes:
        """All numbers at the start: what the bits of the run depend on beside its program."""
        numbers = [self.buffer, *(part for joins, numbers, _ in self.pairs for part in (joins, numbers))]
        return b"".join(np.ascontiguousarray(part).tobytes() for part in numbers)

    def restore_snapshot(self, snapshot: Snapshot, inside: Snapshot | None, reader: StreamReader) -> None:
        """Continue from a snapshot; the outputs of the segments before it have been read."""
        self.state.restore_snapshot(snapshot, reader.take)
        if inside is not None:
            self.inside = {**inside, "rows": reader.take(Outputs.STREAM)}

    def read_segment(self, reader: StreamReader, segment: Segment, ended: bool) -> Array:
        """The samples of a segment that was finished, as `integrate` has returned them.

        If the run has ended in it, the last ones may not have been reached.
        """
        record = self.segment_record(segment)
        outputs = self.new_outputs(record)
        outputs.fill(reader.take(Outputs.STREAM, None if ended else outputs.size))
        return self.outputs_of(record, len(segment.outputs))

    def begin_outputs(self, record: Any) -> tuple[Outputs, Snapshot]:
        """The outputs of a segment, with those that a killed run has left, and what else it has left."""
        outputs, inside, self.inside = self.new_outputs(record), self.inside or {}, None
        if inside:
            outputs.fill(inside["rows"])
        return outputs, inside

    def write_outputs(self, outputs: Outputs | None) -> None:
        """Give the journal, if there is one, what is new."""
        if self.journal is not None and outputs is not None:
            outputs.append_to(self.journal)
            for name, rows in self.state.new_rows().items():
                self.journal.append(name, rows)

    def write_snapshot(self, time: float, inside: Snapshot | None = None) -> None:
        """Write down all that is needed to continue here; inside a segment, what its loop has to know."""
        assert self.journal is not None
        snapshot = {"segment": self.segment, "integrator": self.state.snapshot(), "inside": inside}
        self.journal.write(time, snapshot)

    def check_program(self, run: Any) -> None:
        """Make sure that a run which is continued was begun by the same program."""
        if self.journal is not None:
            self.journal.check_program(self.plan.program.digest(run))

    # Parts ------------------------------------------------------------------------------------------------------------
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
    if engine == "gpu":
        return 1e-10
    return 3e-7 if lanes == 1 else 3e-8


class FixedSteps(Integrator):
    """Steps of one length."""

    first = 0
    """The step of the segment at which to begin."""

    def resume(self, checkpoint: Checkpoint) -> None:
        super().resume(checkpoint)
        self.first = checkpoint.k

    def integrate(self, segment: Segment) -> Array:
        done = self.packing.unpack(self._take_steps(self.segment_record(segment)))
        self.first = 0
        if not segment.is_last and self.failure is None:
            self.set_state(done[-1])
        return done[: len(segment.outputs)]

    def segment_record(self, segment: Segment) -> FixedRun:
        stops, a, h = segment.stops, float(segment.start), self.scenario.needed_step
        stop_k, rest = timeline.locate_on_grid(stops, a, h)
        out = self._new_rows(len(stops))
        return FixedRun(self._first_buffer(), self.pairs, a, h, self.first, int(stop_k[-1]), stop_k, rest, 0, out)

    def _first_buffer(self) -> Array:
        return self.buffer

    def new_outputs(self, record: FixedRun) -> Outputs:
        return Outputs.of_one_clock(record.out)

    def outputs_of(self, record: FixedRun, count: int) -> Array:
        return self.packing.unpack(record.out)[:count]

    def _take_steps(self, record: FixedRun) -> Array:
        """The outputs of all steps; of a run that fails, those before."""
        a, h, last, stop_k, rest = record.t_start, record.h, record.k_end, record.stop_k, record.stop_rest
        out: Array = record.out
        outputs, inside = self.begin_outputs(record)
        k = inside.get("k", record.k)
        s = int(outputs.done[0]) if inside else int(np.searchsorted(stop_k, k))
        detects_failure = self.scenario.members is None
        while True:
            portion = max(1, int(PORTION_S / self.seconds_per_step))
            k_end = min(last, k + portion)
            before = self.buffer.copy() if detects_failure else None
            began = perf_counter()
            run = record._replace(k=k, k_end=k_end, stop=s)
            self.check_program(run)
            on_threads(self.plan.program.bind(run), len(self.buffer), self.threads)
            outputs.done[0] = int(np.searchsorted(stop_k, k_end, side="right"))
            self.steps += k_end - k
            if before is not None and not (
                self._is_valid(out[s : outputs.done[0]]) and self._is_valid(self.packing.output_of(self.buffer))
            ):
                good = self._locate_failure(before, a, h, k, k_end)
                outputs.done[0] = int(np.searchsorted(stop_k + (rest > 0), good, side="right"))
                self.write_outputs(outputs)
                return out[: outputs.done[0]]
            if k_end == last:
                self.write_outputs(outputs)
                return out
            if k_end - k == portion:
                self.seconds_per_step = max((perf_counter() - began) / portion, 1e-9)
            if self.report is not None:
                self.report(a + k_end * h)
            k, s = k_end, int(outputs.done[0])
            if self.journal is not None and self.journal.is_due():
                self.write_outputs(outputs)
                self.write_snapshot(a + k * h, {"k": k})

    def _new_rows(self, count: int) -> Array:
        rows: Array = np.empty((count, *self._row_shape))
        return rows

    @property
    def _row_shape(self) -> tuple[int, int]:
        """The shape of one output of the loop."""
        return self.units, self.layout.sample_size * (self.width // self.layout.size)

    def _locate_failure(self, before: Array, a: float, h: float, k: int, k_end: int) -> int:
        """Repeat the failed portion step by step: record the failure, return the index of the last valid step."""
        unit_out = self._row_shape[1]
        good, good_samples = k, self.packing.samples_of(before)
        self.buffer[:] = before
        while good < k_end:
            ks = np.arange(good + 1, min(good + 256, k_end) + 1)
            out = np.empty((len(ks), len(self.buffer), unit_out))
            run = FixedRun(self.buffer, self.pairs, float(a), h, good, int(ks[-1]), ks, np.zeros(len(ks)), 0, out)
            self.plan.program.bind(run)(0, len(self.buffer))
            valid = [self._is_valid(row) for row in out]
            first_bad = valid.index(False) if False in valid else len(ks)
            samples = self.packing.unpack(out)
            if first_bad > 0:
                good, good_samples = int(ks[first_bad - 1]), samples[first_bad - 1]
            if first_bad < len(ks):
                self._fail(a + good * h, samples[first_bad], good_samples)
                return good
        self._fail(a + good * h, good_samples, good_samples)  # only a step between grid points failed
        return good

    def _is_valid(self, samples: Array) -> bool:
        """Whether all samples are finite, and Euler angles turn slowly enough."""
        blocks = samples.reshape(-1, self.layout.sample_size)
        if not np.isfinite(blocks).all():
            return False
        if not self.scenario.form.keeps_angles:
            return True
        turns = blocks[:, self.layout.drift :]
        return bool((turns <= self.scenario.largest_turn**2).all())

    def finish(self, times: Array, samples: Array, run_alone: RunAlone) -> Failure | None:  # noqa: ARG002
        """All members of an ensemble run to the end; the first that failed is run again alone to find out when."""
        if self.failure is not None or self.scenario.members is None:
            return self.failure
        if self.scenario.form.keeps_angles:
            singular = np.logical_or.accumulate(samples[..., self.columns.drift] > self.scenario.largest_turn**2)
            samples[singular] = np.nan  # past the singularity the angles are meaningless
        wrong = ~np.isfinite(samples).all(axis=(0, 2))
        if not wrong.any():
            return None
        body, bodies = int(np.argmax(wrong)), len(self.scenario.bodies)
        member = body // bodies
        alone = run_alone(self.scenario.take(member), False, 1, self.report).failure
        if alone is None:
            return Failure("non-finite", float(self.scenario.times[0]), body, samples[0, body])
        return replace(alone, body=member * bodies + alone.body)
