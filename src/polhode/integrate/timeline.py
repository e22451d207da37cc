"""The timeline of a run: its segments between discontinuities, impulses between them, and where it can be resumed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.equations.right_hand_side import build_impulse_law, build_view
from polhode.integrate.run_result import RunResult, SampleColumns
from polhode.scenario.members import over_bodies
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import split_groups
from polhode.validation import Array


# Segments -------------------------------------------------------------------------------------------------------------
def discontinuity_times(scenario: Scenario) -> list[Any]:
    """The times that no step may cross: windows, impulses, knots of tables.  Numbers, or arrays over members."""
    events = [f.instant for f in scenario.of_kind("impulse")]
    for f in scenario.of_kind("body"):
        events += [edge for window in f.windows for edge in window]
    knots = [] if scenario.mass_course is None else scenario.mass_course.knots.tolist()
    return events + knots + [knot for rotor in scenario.rotors for knot in rotor.knots]


def segment_boundaries(scenario: Scenario) -> list[float]:
    """The discontinuity times inside the run, sorted, for members that share them."""
    start, end = scenario.start_time, last_boundary(scenario)
    found = {float(np.ravel(event)[0]) for event in discontinuity_times(scenario)} | set(scenario.breaks)
    return sorted(t for t in found if start < t < end)


def last_boundary(scenario: Scenario) -> float:
    """The end of the last segment: the last output, or with dense output the end of the run."""
    return scenario.end_time if scenario.used_method.has_dense_output else float(scenario.times[-1])


def has_output_inside_segments(scenario: Scenario) -> bool:
    """Whether any output lies inside a segment."""
    edges = [scenario.start_time, *segment_boundaries(scenario), last_boundary(scenario)]
    return len(scenario.times) > len(edges) or not all(t in edges for t in scenario.times.tolist())


def locate_on_grid(times: Array, start: float, step: float) -> tuple[Any, Array]:
    """Each time as a number of whole steps from `start` and a remainder, which is 0 if it is only rounding."""
    steps = (times - start) / step
    nearest = np.rint(steps)
    rounding = 4 * np.finfo(float).eps * np.maximum(1.0, np.abs(times) / step)
    exact = np.abs(steps - nearest) <= rounding
    whole = np.where(exact, nearest, np.floor(steps))
    rest = np.where(exact, 0.0, times - (start + whole * step))
    return whole.astype(np.int64), rest


# Impulses -------------------------------------------------------------------------------------------------------------
def impulses_at(scenario: Scenario, t: float) -> list[Any]:
    """The impulses at time t."""
    return [f for f in scenario.of_kind("impulse") if float(np.ravel(f.instant)[0]) == t]


def apply_impulses(scenario: Scenario, samples: Array, columns: SampleColumns, t: float, impulses: list[Any]) -> Array:
    """Samples (bodies, columns) after impulses; the work done is the jump of the kinetic energy."""
    form, c = scenario.form, scenario.problem.constants
    pivoted, work = scenario.pivot is not None, (1,) * (columns.work is not None)
    view, apply_impulse = build_view(form, pivoted), build_impulse_law(form, pivoted)
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
    segment = max([s for s in segment_boundaries(scenario) if s <= t], default=scenario.start_time)
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
