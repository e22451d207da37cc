"""Segments of a run between discontinuities, and the place of outputs on the grid of fixed steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.scenario.scenario import Scenario
from polhode.validation import Array


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
