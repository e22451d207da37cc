"""One run, from a scenario to its output: segment by segment between events, in portions that can be watched."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np

from polhode.checks import Array
from polhode.engines import grid
from polhode.engines.buffer import kept_now, kept_of, packed, pair_numbers, put, put_state, unpacked
from polhode.engines.prepare import Prepared, prepared, structure_of
from polhode.equations.invariants import kinetic_energy
from polhode.equations.loads import view_of
from polhode.equations.motion import turn_per_step
from polhode.equations.vectors import cross, minus, plus
from polhode.scenario import Scenario
from polhode.state import split

CORES = os.cpu_count() or 1
PORTION_S = 0.2
"""About how long the machine code runs before it reports."""

Report = Callable[[float], None]
"""Called with the time, in s, that the run has reached."""


@dataclass
class Failure:
    """Why a run had to stop: the body, the last time at which all was well, and its numbers then."""

    reason: str
    time: float
    body: int
    last_good: Array


@dataclass
class Run:
    """The output of a run.  `kept` is (times, bodies, numbers): the state, the work if counted, the watched number."""

    times: Array
    kept: Array
    steps: int
    refused: int = 0
    failure: Failure | None = None


@dataclass
class Anchor:
    """A place to take up a run again: step k of the segment that began at `segment`, and the numbers there."""

    segment: float
    k: int
    kept: Array


def run(
    scenario: Scenario,
    counts_work: bool,
    threads: int | None = None,
    report: Report | None = None,
    anchor: Anchor | None = None,
) -> Run:
    """Compute a scenario's motion at its output times."""
    groups = _groups(scenario) if scenario.members is not None else []
    if len(groups) > 1:
        return _merged(scenario, [(rows, run(scenario.take(rows), counts_work, threads, report)) for rows in groups])
    with np.errstate(all="ignore"):  # what becomes infinite is found, and told with its time and place
        return _Runner(scenario, counts_work, threads, report).run(anchor)


class _Runner:
    """The state of a run while it goes on: its buffer, its clock, and what has been put out."""

    def __init__(self, scenario: Scenario, counts_work: bool, threads: int | None, report: Report | None) -> None:
        self.scenario, self.report = scenario, report
        self.plan: Prepared = prepared(structure_of(scenario, counts_work))
        self.layout = self.plan.layout
        self.buffer = packed(scenario, self.plan)
        self.pairs = pair_numbers(scenario)
        self.threads = min(threads or CORES, len(self.buffer))
        self.seconds_per_step = scenario.count * _guessed_seconds(scenario.engine, self.layout.lanes)
        self.steps = self.refused = 0
        self.next_steps = np.full(len(self.buffer), scenario.step or 0.0)
        """What each unit tries next; 0: nothing known yet."""
        self.failure: Failure | None = None

    def run(self, anchor: Anchor | None) -> Run:
        scenario = self.scenario
        times, end = scenario.times, float(scenario.times[-1])
        edges = [scenario.start_time, *grid.breaks(scenario), end]
        first = 0
        if anchor is not None:
            edges = [anchor.segment, *(t for t in edges if t > anchor.segment)]
            put_state(self.buffer, self.layout, anchor.kept)
            first = anchor.k
        portions: list[Array] = []
        for a, b in pairwise(edges if len(edges) > 1 else [end, end]):
            is_last = b == end
            if anchor is None or a != anchor.segment:
                self._strike(a)
                first = 0
            self._open_windows((a + b) / 2)
            wanted = times[(times >= a) & ((times <= b) if is_last else (times < b))]
            stops = wanted if is_last else np.append(wanted, b)
            out = self._adaptive(a, b, stops) if self.plan.is_adaptive else self._fixed(a, stops, first)
            done = unpacked(out, self.layout, scenario.count)
            portions.append(done[: len(wanted)])
            if self.failure is not None:
                break
            if not is_last:
                put_state(self.buffer, self.layout, done[-1])
        kept = np.concatenate(portions) if len(portions) > 1 else portions[0]
        if self.failure is None and self._strikes_at(end) and end > scenario.start_time:
            put_state(self.buffer, self.layout, kept[-1])
            self._strike(end)
            kept[-1] = kept_now(self.buffer, self.layout, self.scenario.count)
        return Run(times[: len(kept)], kept, self.steps, self.refused, self.failure or self._failed_member(kept))

    # Fixed steps ----------------------------------------------------------------------------------------------------
    def _fixed(self, a: float, stops: Array, k: int) -> Array:
        h = self.scenario.needed_step
        stop_k, rest = grid.on_grid(stops, a, h)
        out = np.empty((len(stops), len(self.buffer), self.layout.kept * (self.buffer.shape[1] // self.layout.size)))
        last = int(stop_k[-1])
        s = int(np.searchsorted(stop_k, k))
        watching = self.scenario.members is None
        while True:
            portion = max(1, int(PORTION_S / self.seconds_per_step))
            k_end = min(last, k + portion)
            before = self.buffer.copy() if watching else None
            began = perf_counter()
            self._on_threads(a, h, k, k_end, stop_k, rest, s, out)
            s_end = int(np.searchsorted(stop_k, k_end, side="right"))
            self.steps += k_end - k
            if before is not None and not (
                self._is_well(out[s:s_end]) and self._is_well(kept_of(self.buffer, self.layout))
            ):
                good = self._locate(before, a, h, k, k_end)
                return out[: int(np.searchsorted(stop_k + (rest > 0), good, side="right"))]
            if k_end == last:
                return out
            if k_end - k == portion:
                self.seconds_per_step = max((perf_counter() - began) / portion, 1e-9)
            if self.report is not None:
                self.report(a + k_end * h)
            k, s = k_end, s_end

    def _locate(self, before: Array, a: float, h: float, k: int, k_end: int) -> int:
        """Step by step from the last portion that was well: the last step at which all was, and what was wrong then."""
        unit_out = self.layout.kept * (self.buffer.shape[1] // self.layout.size)
        good, good_kept = k, kept_now(before, self.layout, self.scenario.count)
        self.buffer = before
        while good < k_end:
            ks = np.arange(good + 1, min(good + 256, k_end) + 1)
            out = np.empty((len(ks), len(self.buffer), unit_out))
            self.plan.advance(
                self.buffer, self.pairs, 0, len(self.buffer), a, h, good, int(ks[-1]), ks, np.zeros(len(ks)), 0, out
            )
            well = [self._is_well(row) for row in out]
            first_bad = well.index(False) if False in well else len(ks)
            if first_bad > 0:
                good, good_kept = int(ks[first_bad - 1]), unpacked(out, self.layout, self.scenario.count)[first_bad - 1]
            if first_bad < len(ks):
                bad = unpacked(out, self.layout, self.scenario.count)[first_bad]
                self._fail(a + good * h, bad, good_kept)
                return good
        self._fail(a + good * h, good_kept, good_kept)  # only a step to the side went wrong
        return good

    # Adaptive steps -------------------------------------------------------------------------------------------------
    def _adaptive(self, a: float, b: float, stops: Array) -> Array:
        units = len(self.buffer)
        rtol, atol = self.scenario.tolerances
        clocks = np.zeros((units, 4))
        clocks[:, 0], clocks[:, 1] = a, np.where(self.next_steps > 0, self.next_steps, (b - a) / 1000 or 1.0)
        done = np.zeros(units, dtype=np.int64)
        out = np.empty((len(stops), units, self.layout.kept * (self.buffer.shape[1] // self.layout.size)))
        while True:
            budget = max(10, int(PORTION_S / self.seconds_per_step / 3))
            self._on_threads(clocks, done, stops, rtol, atol, budget, out)
            stuck = (clocks[:, 1] == 0.0) & (done < len(stops))
            if (stuck | (done == len(stops))).all():
                break
            if self.report is not None:
                self.report(float(clocks[:, 0].mean()))
        self.steps += int(clocks[:, 2].sum())
        self.refused += int(clocks[:, 3].sum())
        self.next_steps = clocks[:, 1].copy()
        if stuck.any():
            unit = int(np.argmax(stuck))
            if self.scenario.members is None:
                kept = kept_now(self.buffer, self.layout, self.scenario.count)
                body = self._first_wrong_slope() if self.plan.is_coupled else unit
                self._fail(float(clocks[unit, 0]), kept, kept, "stuck", body)
                return out[: int(done[stuck].min())]
            for u in np.flatnonzero(stuck):
                out[done[u] :, u] = np.nan
        elif not self._is_well(out):
            well = [self._is_well(row) for row in out]
            good = max(well.index(False), 1)
            kept = unpacked(out, self.layout, self.scenario.count)
            self._fail(float(stops[good - 1]), kept[good], kept[good - 1])
            return out[:good]
        return out

    # What can go wrong ----------------------------------------------------------------------------------------------
    def _is_well(self, kept: Array) -> bool:
        """Whether all numbers put out are finite, and Euler angles turn slowly enough."""
        blocks = kept.reshape(-1, self.layout.kept)
        if not np.isfinite(blocks).all():
            return False
        if self.scenario.formulation != "euler_angles" or self.plan.is_adaptive:
            return True
        turns = blocks[:, self.layout.watch :]
        return bool((turns <= self.scenario.largest_turn**2).all())

    def _fail(self, time: float, bad: Array, good: Array, reason: str = "non-finite", body: int | None = None) -> None:
        finite = np.isfinite(bad).all(axis=-1)
        if body is None:
            body = int(np.argmin(finite)) if not finite.all() else int(np.argmax(bad[:, -1]))
        if self.scenario.formulation == "euler_angles" and (finite.all() or self._is_vertical(good[body])):
            reason = "singular"
        self.failure = Failure(reason, time, body, good[body])

    def _is_vertical(self, kept: Array) -> bool:
        """Whether the Euler angles of a body are about to lose their meaning."""
        groups: Any = split(kept, self.scenario.form.sizes)
        turn = turn_per_step(groups[1], groups[3], self.scenario.step or self.scenario.duration / 1000)
        return not turn <= self.scenario.largest_turn**2

    def _first_wrong_slope(self) -> int:
        """Of a system whose step failed: the body whose slope was the first that is no number."""
        blocks = self.buffer.reshape(-1, self.layout.size)
        for stage in self.layout.slopes:
            slopes = blocks[:, stage[0][0] : stage[0][0] + self.layout.watch].reshape(
                len(blocks), -1, self.layout.lanes
            )
            wrong = ~np.isfinite(slopes).all(axis=1).ravel()[: self.scenario.count]
            if wrong.any():
                return int(np.argmax(wrong))
        return 0

    def _failed_member(self, kept: Array) -> Failure | None:
        """In an ensemble all members run to the end; the first that failed is run again alone to see when."""
        if self.scenario.members is None:
            return None
        if self.scenario.formulation == "euler_angles" and not self.plan.is_adaptive:
            singular = np.logical_or.accumulate(kept[:, :, -1] > self.scenario.largest_turn**2)
            kept[singular] = np.nan  # from there on the angles mean nothing
        wrong = ~np.isfinite(kept).all(axis=(0, 2))
        if not wrong.any():
            return None
        member = int(np.argmax(wrong))
        alone = run(self.scenario.take(member), False, 1).failure
        if alone is None:
            return Failure("non-finite", float(self.scenario.times[0]), member, kept[0, member])
        return Failure(alone.reason, alone.time, member, alone.last_good)

    # Numbers in the buffer ------------------------------------------------------------------------------------------
    def _on_threads(self, *arguments: Any) -> None:
        """Let the machine code advance all units, on as many threads as there are to use."""
        units = len(self.buffer)
        cuts = np.linspace(0, units, self.threads + 1).astype(int).tolist()

        def work(first: int, last: int) -> None:
            self.plan.advance(self.buffer, self.pairs, first, last, *arguments)

        if self.threads == 1:
            work(0, units)
            return
        with ThreadPoolExecutor(self.threads) as pool:
            list(pool.map(work, cuts[:-1], cuts[1:]))

    def _open_windows(self, middle: float) -> None:
        """Within a segment a window is open or shut from end to end: no stage may see its edge."""
        for f, places in zip(self.scenario.of_kind("body"), self.layout.params, strict=True):
            if f.window is None:
                continue
            own = places if f.bodies is None else places[1]
            start, stop = f.params[f.window[0]], f.params[f.window[1]]
            is_open = (np.asarray(start) <= middle) & (middle < np.asarray(stop))
            put(self.buffer, self.layout, own[f.window[0]], np.where(is_open, -np.inf, np.inf), self.scenario.count)
            put(self.buffer, self.layout, own[f.window[1]], np.inf, self.scenario.count)

    def _strikes_at(self, t: float) -> list[Any]:
        return [f for f in self.scenario.of_kind("impulse") if float(np.ravel(f.instant)[0]) == t]

    def _strike(self, t: float) -> None:
        """Apply the impulses of this instant: momenta jump, and the work done is the jump of kinetic energy."""
        scenario, form, c = self.scenario, self.scenario.form, self.scenario.constants
        seen = view_of(form, scenario.pivot is not None)
        for f in self._strikes_at(t):
            kept = kept_now(self.buffer, self.layout, self.scenario.count)
            groups = split(kept.T, form.sizes)
            view = seen(groups, c)
            jump, turn = f.kernel(t, view, c, f.params)
            if f.bodies is not None:
                acts = np.isin(np.arange(scenario.count), f.bodies).astype(float)
                jump, turn = tuple(acts * j for j in jump), tuple(acts * j for j in turn)
            x, q, p, angular_momentum = form.finish(groups, c)
            if scenario.pivot is None:
                struck = form.start(x, q, plus(p, jump), plus(angular_momentum, turn), c)
            else:
                turn = plus(turn, cross(minus(view.position, x), jump))
                struck = form.start(x, q, p, plus(angular_momentum, turn), c)
            gained = kinetic_energy(seen(struck, c)) - kinetic_energy(view)
            work = [kept[:, -2] + gained] if len(self.layout.state) > 4 else []
            numbers = [np.broadcast_to(n, (scenario.count,)) for group in struck for n in group]
            put_state(self.buffer, self.layout, np.stack([*numbers, *work, kept[:, -1]], axis=-1))


def _guessed_seconds(engine: str, lanes: int) -> float:
    """About how long a step of one body takes, before it has been measured."""
    if engine == "python":
        return 1e-3
    return 3e-7 if lanes == 1 else 3e-8


def _groups(scenario: Scenario) -> list[Any]:
    """The members that share all event times, group by group; nothing if all do."""
    events = grid.event_times(scenario)
    if not any(np.ndim(event) for event in events):
        return []
    each = np.stack([np.broadcast_to(event, (scenario.count,)) for event in events], axis=-1)
    unique, index = np.unique(each, axis=0, return_inverse=True)
    return [np.flatnonzero(index.ravel() == i) for i in range(len(unique))]


def _merged(scenario: Scenario, parts: list[tuple[Any, Run]]) -> Run:
    """The runs of groups of members, put together in the members' order."""
    first = parts[0][1]
    kept = np.full((len(scenario.times), scenario.count, first.kept.shape[-1]), np.nan)
    failure = None
    for rows, part in parts:
        kept[: len(part.kept), rows] = part.kept
        if part.failure is not None and failure is None:
            failure = part.failure
            failure.body = int(rows[failure.body])
    return Run(scenario.times, kept, sum(p.steps for _, p in parts), sum(p.refused for _, p in parts), failure)
