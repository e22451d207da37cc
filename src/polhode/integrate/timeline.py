"""The timeline of a run: the times that it must hit, the segments between them, and where it can be resumed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import inf, isfinite
from typing import Any, NamedTuple

import numpy as np

from polhode.equations.law import Number, law
from polhode.equations.right_hand_side import build_impulse_law, build_view
from polhode.equations.scalar_ops import absolute, if_less, larger, nearest_integer
from polhode.integrate.run_result import RunResult, SampleColumns
from polhode.scenario.force import Force
from polhode.scenario.members import over_bodies
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import split_groups
from polhode.validation import Array

GRID_ROUNDING = 4 * 2.0**-52
"""Of a number of steps, or of t over the step where that is more: t - start, the quotient, and t itself are rounded."""


# Segments -------------------------------------------------------------------------------------------------------------
class Segment(NamedTuple):
    """What lies between two times that a run must hit: inside nothing jumps."""

    start: float
    end: float
    outputs: Array
    """Its output times."""
    is_last: bool = False
    """Whether it ends where the run does: then an output there is its own; else it belongs to the next segment."""
    goes_on: bool = True
    """Whether the run goes on after it."""

    @property
    def middle(self) -> float:
        """The time that tells which windows are open: none opens or closes inside."""
        return (self.start + self.end) / 2

    @property
    def stops(self) -> Array:
        """The times at which its state is wanted: its outputs, and its end, from which the next segment begins."""
        return self.outputs if self.is_last else np.append(self.outputs, self.end)


@dataclass(frozen=True)
class Timeline:
    """The times of a run whose members share them: windows, impulses, knots of tables in time, breaks and outputs."""

    start: float
    end: float
    """The end of the last segment: the last output, or with dense output the end of the run."""
    outputs: Array
    instants: tuple[float, ...]
    """All times that no step may cross, also outside the run, in order."""
    impulses: tuple[Force, ...]

    @classmethod
    def of(cls, scenario: Scenario) -> Timeline:
        """The timeline of a scenario."""
        jumps = {_first(time) for time in discontinuity_times(scenario)} | set(scenario.breaks)
        end = scenario.end_time if scenario.used_method.has_dense_output else float(scenario.times[-1])
        instants = tuple(sorted(t for t in jumps if isfinite(t)))
        return cls(scenario.start_time, end, scenario.times, instants, scenario.of_kind("impulse"))

    @property
    def boundaries(self) -> list[float]:
        """The times inside the run that no step may cross."""
        return [t for t in self.instants if self.start < t < self.end]

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """The segments up to the one with the last output."""
        return self.segments_from(self.start)

    def segments_from(self, start: float) -> tuple[Segment, ...]:
        """The segments of a run that begins, or goes on, at a time."""
        edges = [start, *(t for t in (*self.boundaries, self.end) if t > start)]
        made, latest = [], float(self.outputs[-1])
        for a, b in pairwise(edges if len(edges) > 1 else [self.end, self.end]):
            is_last = b == self.end
            first, last = self.outputs.searchsorted(a), self.outputs.searchsorted(b, "right" if is_last else "left")
            made.append(Segment(a, b, self.outputs[first:last], is_last, not is_last and latest >= b))
            if latest < b:
                break
        return tuple(made)

    @property
    def has_output_inside(self) -> bool:
        """Whether any output lies inside a segment."""
        edges = {self.start, *self.boundaries, self.end}
        return len(self.outputs) > len(edges) or not edges.issuperset(self.outputs.tolist())

    def following(self, t: float) -> float:
        """The next time after t that no step may cross, also beyond the end of the run; infinite if there is none."""
        i = bisect_right(self.instants, t)
        return self.instants[i] if i < len(self.instants) else inf

    def impulses_at(self, t: float) -> list[Force]:
        """The impulses at time t."""
        return [f for f in self.impulses if _first(f.instant) == t]

    @property
    def shows_end(self) -> bool:
        """Whether the last output lies at the end of the run, so that impulses there show in it."""
        return float(self.outputs[-1]) == self.end > self.start


def discontinuity_times(scenario: Scenario) -> list[Any]:
    """The times of impulses, of the edges of windows and of the knots of tables: numbers, or arrays over members."""
    return [time for part in scenario.parts for time in part.times(getattr(scenario, part.name))]


def group_members(scenario: Scenario) -> list[Any]:
    """Groups of members that share all discontinuity times; empty if all do."""
    times = discontinuity_times(scenario)
    if not any(np.ndim(time) for time in times):
        return []
    each = np.stack([np.broadcast_to(time, (scenario.members or 1,)) for time in times], axis=-1)
    unique, index = np.unique(each, axis=0, return_inverse=True)
    return [np.flatnonzero(index.ravel() == i) for i in range(len(unique))]


def open_windows(windows: Sequence[tuple[Any, Any]], segment: Segment) -> list[Any]:
    """Of each window of a force whether it is open in a segment: a flag, or one for each member."""
    middle = segment.middle
    return [(np.asarray(start) <= middle) & (middle < np.asarray(stop)) for start, stop in windows]


def _first(time: Any) -> float:
    return float(np.ravel(time)[0])


@law
def place_on_grid(t: Number, start: Number, step: Number) -> tuple[Number, Number]:
    """A time as a number of whole steps from `start` and a remainder, which is 0 if it is only rounding."""
    steps = (t - start) / step
    nearest = nearest_integer(steps)
    off, rounding = absolute(steps - nearest), GRID_ROUNDING * larger(1 + 0 * t, absolute(t) / step)
    below = if_less(steps, nearest, nearest - 1, nearest)
    rest = t - (start + below * step)
    return if_less(rounding, off, below, nearest), if_less(rounding, off, rest, 0 * t)


def locate_on_grid(times: Array, start: float, step: float) -> tuple[Any, Array]:
    """The same of several times, with whole numbers."""
    whole, rest = place_on_grid(np.asarray(times), float(start), float(step))
    return whole.astype(np.int64), rest


# Impulses -------------------------------------------------------------------------------------------------------------
def apply_impulses(scenario: Scenario, samples: Array, columns: SampleColumns, t: float, impulses: list[Any]) -> Array:
    """Samples (bodies, columns) after impulses; the work done is the jump of the kinetic energy."""
    form, c = scenario.form, scenario.problem.constants
    work = (1,) * (columns.work is not None)
    view, apply_impulse = build_view(form), build_impulse_law(form)
    for f in impulses:
        columns_first = samples.T.reshape(-1, *scenario.shape)
        groups = split_groups(columns_first, (*form.sizes, *work))
        c = scenario.constants_for_samples(c, columns_first)
        jump, angular_jump = f.kernel(t, view(groups, c), c, over_bodies(f.params, scenario))
        if f.bodies is not None:
            acts = np.isin(np.arange(len(scenario.bodies)), f.bodies).astype(float)
            jump, angular_jump = tuple(acts * j for j in jump), tuple(acts * j for j in angular_jump)
        after = apply_impulse(groups, c, jump, angular_jump)
        numbers = [np.broadcast_to(n, scenario.shape).ravel() for group in after for n in group]
        samples = np.stack([*numbers, samples[:, columns.drift]], axis=-1)
    return samples


# Checkpoints ----------------------------------------------------------------------------------------------------------
@dataclass
class Checkpoint:
    """A place to resume a run: step k of the segment that began at `segment`, and the samples there.

    With adaptive steps `samples` is a row of `RunResult.checkpoints`, of an output in that segment.
    """

    segment: float
    k: int
    samples: Array


def checkpoint_before(t: float, scenario: Scenario, result: RunResult) -> Checkpoint | None:
    """The last output of a run before t that lies on a step of its own segment; None: begin at the start."""
    times = result.times
    if scenario.events or any(np.ndim(event) for event in discontinuity_times(scenario)):
        return None
    segment = max([s for s in Timeline.of(scenario).boundaries if s <= t], default=scenario.start_time)
    if scenario.used_method.has_dense_output:  # the step with the last output before: the same steps again
        before = np.flatnonzero((times >= segment) & (times <= t))
        if result.checkpoints is None or not len(before):
            return None
        return Checkpoint(segment, 0, result.checkpoints[before[-1]])
    before = np.flatnonzero((times > segment) & (times <= t))
    if scenario.used_method.is_adaptive:
        return Checkpoint(float(times[before[-1]]), 0, result.samples[before[-1]]) if len(before) else None
    steps, rest = locate_on_grid(times[before], segment, scenario.needed_step)
    whole = np.flatnonzero(rest == 0.0)
    return Checkpoint(segment, int(steps[whole[-1]]), result.samples[before[whole[-1]]]) if len(whole) else None
