"""What advances the bodies of a scenario: the common part of all methods, and steps of one length."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property
from threading import Event
from time import perf_counter
from typing import Any

import numpy as np

from polhode.equations.rigid_body import turn_per_step
from polhode.integrate import timeline
from polhode.integrate.buffer import pack_buffer, pack_pairs, packing_of
from polhode.integrate.journal import Journal, Snapshot, StreamReader, failure_of_snapshot, failure_to_snapshot
from polhode.integrate.loops.fixed_steps import FixedRun
from polhode.integrate.prepare import Plan, plan_of, structure_of
from polhode.integrate.run_result import EventRecord, Failure, Report, RunResult, SampleColumns
from polhode.integrate.timeline import Checkpoint, apply_impulses, impulses_at
from polhode.integrate.traced_functions import forces_need_velocity
from polhode.scenario.force import flatten_leaves
from polhode.scenario.members import over_bodies
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import split_groups
from polhode.validation import Array

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


def plan_scenario(scenario: Scenario, counts_work: bool) -> Plan:
    """The program and memory layout of a scenario."""
    inside = timeline.has_output_inside_segments(scenario)
    needs_velocity = scenario.used_method.is_splitting and forces_need_velocity(scenario)
    return plan_of(structure_of(scenario, counts_work, inside, needs_velocity))


class OneByOneError(Exception):
    """A force switches branches at different times for different members, so they cannot share lanes."""


def runs_in_lanes(scenario: Scenario) -> bool:
    """Whether there are several bodies or members that do not interact."""
    alone = scenario.members is None and len(scenario.bodies) == 1
    return not (alone or scenario.of_kind("pair") or scenario.events or len(scenario.shape) > 1)


class Integrator:
    """The bodies of a scenario on their way.  The driver takes it through the segments of a run."""

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

    def __init__(self, scenario: Scenario, counts_work: bool, threads: int | None, report: Report | None) -> None:
        self.scenario, self.report = scenario, report
        self.plan = plan_scenario(scenario, counts_work)
        self.layout = self.plan.layout
        self.columns = SampleColumns.of(scenario.form.sizes, counts_work)
        self.packing = packing_of(scenario, self.plan)
        self.units, self.width = self.packing.buffer_shape(self.plan.is_system)
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
        return pack_buffer(self.scenario, self.packing, self.plan.is_system)

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

    def apply_impulses(self, t: float) -> None:
        """Apply the impulses at time t."""
        if impulses := impulses_at(self.scenario, t):
            self.set_state(apply_impulses(self.scenario, self.samples, self.columns, t, impulses))

    def begin_segment(self, a: float, b: float) -> None:
        """Before a segment: each force that acts in a window acts always or never, so that no stage sees its edge."""
        middle = (a + b) / 2
        for f, places in zip(self.scenario.of_kind("body"), self.layout.params, strict=False):  # rotors come last
            times = (places if f.bodies is None else places[1])[-1] if f.has_windows else ()
            for (start, stop), at_start, at_stop in zip(f.windows, times[::2], times[1::2], strict=True):
                is_open = (np.asarray(start) <= middle) & (middle < np.asarray(stop))
                opened = over_bodies(np.where(is_open, -np.inf, np.inf), self.scenario)
                self.packing.write_values(self.buffer, at_start, np.broadcast_to(opened, self.scenario.shape).ravel())
                self.packing.write_values(self.buffer, at_stop, np.inf)
        if self.scenario.mass_course is not None:
            piece = self.scenario.mass_course.piece(middle, self.scenario.bodies[0])
            places = self.layout.body.course
            blocks, lanes = self.buffer.reshape(-1, self.packing.size), self.layout.lanes
            for place, number in zip(flatten_leaves(places), flatten_leaves(tuple(piece)), strict=True):
                blocks[:, place : place + lanes] = number

    def integrate(self, a: float, b: float, wanted: Array, is_last: bool) -> Array:
        """Advance from a to b; return the samples at the wanted times, (times, bodies, columns)."""
        raise NotImplementedError

    def segment_record(self, a: float, b: float, wanted: Array, is_last: bool) -> Any:
        """What the loop of the program takes to compute a segment from its beginning, in one call if it can."""
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

    def set_rotor_commands(self, torques: Sequence[float]) -> None:
        """Change the constant torque of each rotor, for all bodies: those that do not carry it ignore it."""
        lanes, blocks = self.layout.lanes, self.buffer.reshape(-1, self.packing.size)
        for places, torque in zip(self.layout.params[-1], torques, strict=True):
            blocks[:, places[0] : places[0] + lanes] = torque

    def rotor_commands(self) -> list[float]:
        """The constant torque of each rotor now."""
        if not self.scenario.rotors:
            return []
        block = self.buffer.reshape(-1, self.packing.size)[0]
        return [float(block[places[0]]) for places in self.layout.params[-1]]

    def save(self) -> Any:
        """A copy of everything that changes."""
        return (self.buffer.copy(), self.stopped_at, self.steps, self.refused)

    def restore(self, saved: Any) -> None:
        """Go back to what `save` has returned."""
        buffer, self.stopped_at, self.steps, self.refused = saved
        self.buffer[:] = buffer
        self.failure = None

    # Continuing a run that was killed ---------------------------------------------------------------------------------
    def starting_numbers(self) -> bytes:
        """All numbers at the start: what the bits of the run depend on beside its program."""
        numbers = [self.buffer, *(part for joins, numbers, _ in self.pairs for part in (joins, numbers))]
        return b"".join(np.ascontiguousarray(part).tobytes() for part in numbers)

    def snapshot(self) -> Snapshot:
        """Everything that changes, but the rows of streams."""
        return {
            "buffer": self.buffer,
            "steps": self.steps,
            "refused": self.refused,
            "stopped_at": self.stopped_at,
            "failure": failure_to_snapshot(self.failure),
        }

    def restore_snapshot(self, snapshot: Snapshot, inside: Snapshot | None, reader: StreamReader) -> None:  # noqa: ARG002
        """Continue from a snapshot; the outputs of the segments before it have been read."""
        self.buffer[:] = snapshot["buffer"]
        self.steps, self.refused, self.stopped_at = (snapshot[key] for key in ("steps", "refused", "stopped_at"))
        self.failure = failure_of_snapshot(snapshot["failure"])

    def read_segment(self, reader: StreamReader, wanted: Array, is_last: bool, ended: bool) -> Array:
        """The samples of a segment that was finished, as `integrate` has returned them.

        If the run has ended in it, there may be fewer outputs than wanted, and rows that `integrate` did not return.
        """
        raise NotImplementedError

    def write_snapshot(self, time: float, inside: Snapshot | None = None) -> None:
        """Write down all that is needed to continue here."""
        assert self.journal is not None
        self.journal.write(time, {"segment": self.segment, "integrator": self.snapshot(), "inside": inside})

    def check_program(self, run: Any) -> None:
        """Make sure that a run which is continued was begun by the same program."""
        if self.journal is not None:
            self.journal.check_program(self.plan.program.digest(run))

    def take_inside(self) -> Snapshot | None:
        """What the portion has left behind from which the run continues, once."""
        inside, self.inside = self.inside, None
        return inside

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

    def integrate(self, a: float, b: float, wanted: Array, is_last: bool) -> Array:
        done = self.packing.unpack(self._take_steps(self.segment_record(a, b, wanted, is_last), self.first))
        self.first = 0
        if not is_last and self.failure is None:
            self.set_state(done[-1])
        return done[: len(wanted)]

    def segment_record(self, a: float, b: float, wanted: Array, is_last: bool) -> FixedRun:
        stops, h = wanted if is_last else np.append(wanted, b), self.scenario.needed_step
        stop_k, rest = timeline.locate_on_grid(stops, a, h)
        out = self._new_rows(len(stops))
        return FixedRun(self._first_buffer(), self.pairs, float(a), h, 0, int(stop_k[-1]), stop_k, rest, 0, out)

    def _first_buffer(self) -> Array:
        return self.buffer

    def _take_steps(self, segment: FixedRun, k: int) -> Array:
        a, h, last, stop_k, rest = segment.t_start, segment.h, segment.k_end, segment.stop_k, segment.stop_rest
        out: Array = segment.out
        s = int(np.searchsorted(stop_k, k))
        written = s
        if (inside := self.take_inside()) is not None:
            k, rows = inside["k"], inside["rows"]
            s = written = len(rows)
            out[:s] = rows.reshape(-1, *self._row_shape)
        detects_failure = self.scenario.members is None
        while True:
            portion = max(1, int(PORTION_S / self.seconds_per_step))
            k_end = min(last, k + portion)
            before = self.buffer.copy() if detects_failure else None
            began = perf_counter()
            run = segment._replace(k=k, k_end=k_end, stop=s)
            self.check_program(run)
            on_threads(self.plan.program.bind(run), len(self.buffer), self.threads)
            s_end = int(np.searchsorted(stop_k, k_end, side="right"))
            self.steps += k_end - k
            if before is not None and not (
                self._is_valid(out[s:s_end]) and self._is_valid(self.packing.output_of(self.buffer))
            ):
                good = self._locate_failure(before, a, h, k, k_end)
                valid = out[: int(np.searchsorted(stop_k + (rest > 0), good, side="right"))]
                self._append_rows(valid[written:])
                return valid
            if k_end == last:
                self._append_rows(out[written:])
                return out
            if k_end - k == portion:
                self.seconds_per_step = max((perf_counter() - began) / portion, 1e-9)
            if self.report is not None:
                self.report(a + k_end * h)
            k, s = k_end, s_end
            if self.journal is not None and self.journal.is_due():
                self._append_rows(out[written:s])
                self.write_snapshot(a + k * h, {"k": k})
                written = s

    def _new_rows(self, count: int) -> Array:
        rows: Array = np.empty((count, *self._row_shape))
        return rows

    @property
    def _row_shape(self) -> tuple[int, int]:
        """The shape of one output of the loop."""
        return self.units, self.layout.sample_size * (self.width // self.layout.size)

    def _append_rows(self, rows: Array) -> None:
        if self.journal is not None and len(rows):
            self.journal.append("samples", rows.reshape(len(rows), -1))

    def restore_snapshot(self, snapshot: Snapshot, inside: Snapshot | None, reader: StreamReader) -> None:
        super().restore_snapshot(snapshot, inside, reader)
        if inside is not None:
            self.inside = {**inside, "rows": reader.take("samples")}

    def read_segment(self, reader: StreamReader, wanted: Array, is_last: bool, ended: bool) -> Array:
        rows = reader.take("samples", None if ended else len(wanted) + (not is_last))
        return self.packing.unpack(rows.reshape(-1, *self._row_shape))[: len(wanted)]

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
