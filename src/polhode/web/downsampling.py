"""Which outputs, and which members, the page is given: as many as the eye can use."""

from __future__ import annotations

from dataclasses import replace
from math import pi

import numpy as np

from polhode.engines import segments
from polhode.massprops.geometry import Indices
from polhode.results.trajectory import Trajectory

MAX_TIMES = 3000
"""More outputs than a screen has columns of pixels."""
MIN_TIMES = 200
"""An exact motion is looked at so many times at least,"""
MAX_ANGLE = pi / 8
"""and not less often than once in this angle, in rad, if that takes no more than MOST_TIMES."""
MAX_BODIES = 2000
MAX_POSES = 200_000
"""Of all bodies at all times, 17 numbers each: 14 MB, a third more within a page."""


def refine_exact_motion(motion: Trajectory) -> Trajectory:
    """An exact motion with few outputs, at as many instants as a smooth picture needs; any other as it is.

    Where a blow strikes there are two: just before it, and after it.
    """
    closed_form = motion.closed_form
    if closed_form is None or len(motion.times) >= MAX_TIMES:
        return motion
    first, last = motion.scenario.start_time, float(motion.times[-1])
    fastest = float(np.nanmax(np.linalg.norm(motion.angular_velocity_body, axis=-1), initial=0.0))
    most = min(MAX_TIMES, max(2, MAX_POSES // (2 * motion.scenario.count)))
    count = int(min(most, max(MIN_TIMES, fastest * (last - first) / MAX_ANGLE + 1)))
    blows = np.array([t for t in segments.segment_boundaries(motion.scenario) if first < t < last])
    if last <= first or (count <= len(motion.times) and not len(blows)):
        return motion
    even = np.linspace(first, last, count) if count > len(motion.times) else motion.times[:0]
    times = np.unique(np.concatenate((even, motion.times, blows, np.nextafter(blows, -np.inf))))
    run = replace(motion.run_result, times=times, samples=closed_form.samples_at(times), checkpoints=None)
    return type(motion)(motion.scenario, run, motion.unknown_forces)


def select_times(motion: Trajectory, bodies: int) -> Indices:
    """Which outputs: all, or those nearest to even times; where these are few, since outputs are uneven, others too."""
    most = min(MAX_TIMES, max(2, MAX_POSES // bodies))
    times = motion.times
    if len(times) <= most:
        return np.arange(len(times))
    even = np.linspace(times[0], times[-1], most)
    after = np.clip(np.searchsorted(times, even), 1, len(times) - 1)
    nearest = np.unique(after - (even - times[after - 1] < times[after] - even))
    others = np.linspace(0, len(times) - 1, most - len(nearest)).round()
    return np.unique(np.concatenate((nearest, others))).astype(np.int64)


def select_visible_members(motion: Trajectory) -> Indices:
    """Which bodies or members: all, or some spread evenly over them."""
    count = motion.scenario.count
    return np.unique(np.linspace(0, count - 1, min(count, MAX_BODIES)).round().astype(np.int64))


def restrict_to_members(motion: Trajectory, members: Indices) -> Trajectory:
    """The motion of some of an ensemble's members; of a body or a system as it is."""
    if motion.axis != "member" or len(members) == motion.scenario.count:
        return motion
    places = {int(member): i for i, member in enumerate(members)}
    crossings = [replace(c, body=places[c.body]) for c in motion.run_result.crossings if c.body in places]
    kept = motion.run_result.samples[:, members]
    run = replace(motion.run_result, samples=kept, crossings=crossings, checkpoints=None, closed_form=None)
    return type(motion)(motion.scenario.take(members), run, motion.unknown_forces)


def select_outputs(motion: Trajectory, rows: Indices) -> Trajectory:
    """The motion at some of its outputs; members that an event has stopped stay where that happened."""
    run = replace(
        motion.run_result,
        times=motion.times[rows],
        samples=motion.run_result.samples[rows],
        checkpoints=None,
        closed_form=None,
    )
    stops = [c for c in run.crossings if c.ends] if motion.axis == "member" else []
    if stops:
        run.samples = run.samples.copy()
    for stop in stops:
        run.samples[run.times > stop.time, stop.body] = stop.sample
    return type(motion)(motion.scenario, run, motion.unknown_forces)
