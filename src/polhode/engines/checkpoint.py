"""Checkpoints: places from which a run can be resumed, with the same steps as before."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polhode.engines import segments
from polhode.engines.result import RunResult
from polhode.scenario.scenario import Scenario
from polhode.validation import Array


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
    if scenario.events or any(np.ndim(event) for event in segments.discontinuity_times(scenario)):
        return None
    segment = max([s for s in segments.segment_boundaries(scenario) if s <= t], default=scenario.start_time)
    if scenario.used_method.has_dense_output:  # the step with the last output before: the same steps again
        before = np.flatnonzero((times >= segment) & (times <= t))
        if result.checkpoints is None or not len(before):
            return None
        return Checkpoint(segment, 0, result.checkpoints[before[-1]])
    before = np.flatnonzero((times > segment) & (times <= t))
    if scenario.used_method.is_adaptive:
        return Checkpoint(float(times[before[-1]]), 0, result.samples[before[-1]]) if len(before) else None
    steps, rest = segments.locate_on_grid(times[before], segment, scenario.needed_step)
    whole = np.flatnonzero(rest == 0.0)
    return Checkpoint(segment, int(steps[whole[-1]]), result.samples[before[whole[-1]]]) if len(whole) else None
