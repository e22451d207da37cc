"""Selection of the outputs and members that are sent to the page."""

from __future__ import annotations

from dataclasses import replace
from math import pi

import numpy as np

from polhode.integrate.timeline import Timeline
from polhode.massprops.geometry import Indices
from polhode.results.trajectory import Trajectory

MAX_TIMES = 3000
"""About the number of pixel columns of a screen."""
MIN_TIMES = 200
"""Minimum number of samples of an exact motion."""
MAX_ANGLE = pi / 8
"""Maximum rotation between samples of an exact motion, in rad, unless that takes more than MAX_TIMES."""
MAX_BODIES = 2000
MAX_POSES = 200_000
"""Bodies times outputs, 17 numbers each: 14 MB, a third more in an HTML file."""


def refine_exact_motion(motion: Trajectory) -> Trajectory:
    """Resample an exact motion, or one with contacts, finely enough for smooth display; others are returned unchanged.

    Each impulse and each impact gets two samples, one just before and one after it.
    """
    contacts = bool(motion.scenario.contacts) and not motion.unknown_forces
    if (not contacts and motion.closed_form is None) or len(motion.times) >= MAX_TIMES:
        return motion
    first, last = motion.scenario.start_time, float(motion.times[-1])
    fastest = float(np.nanmax(np.linalg.norm(motion.angular_velocity_body, axis=-1), initial=0.0))
    most = min(MAX_TIMES, max(2, MAX_POSES // (2 * motion.scenario.count)))
    count = int(min(most, max(MIN_TIMES, fastest * (last - first) / MAX_ANGLE + 1)))
    jumps = np.unique(motion.impacts.time) if contacts else np.array(Timeline.of(motion.scenario).boundaries)
    jumps = jumps[(first < jumps) & (jumps < last)]
    if contacts:
        jumps = jumps[: max(0, most - count - len(motion.times)) // 2]
    if last <= first or (count <= len(motion.times) and not len(jumps)):
        return motion
    even_times = np.linspace(first, last, count) if count > len(motion.times) else motion.times[:0]
    times = np.unique(np.concatenate((even_times, motion.times, jumps, np.nextafter(jumps, -np.inf))))
    if contacts:
        return motion.recomputed_at(times)
    assert motion.closed_form is not None
    run = replace(motion.run_result, times=times, samples=motion.closed_form.samples_at(times), checkpoints=None)
    return type(motion)(motion.scenario, run, motion.unknown_forces)


def select_times(motion: Trajectory, bodies: int) -> Indices:
    """Indices of all outputs, or of those nearest to even_times times, filled up with others if outputs are uneven."""
    most = min(MAX_TIMES, max(2, MAX_POSES // bodies))
    times = motion.times
    if len(times) <= most:
        return np.arange(len(times))
    even_times = np.linspace(times[0], times[-1], most)
    after = np.clip(np.searchsorted(times, even_times), 1, len(times) - 1)
    nearest = np.unique(after - (even_times - times[after - 1] < times[after] - even_times))
    others = np.linspace(0, len(times) - 1, most - len(nearest)).round()
    return np.unique(np.concatenate((nearest, others))).astype(np.int64)


def select_visible_members(motion: Trajectory) -> Indices:
    """Indices of all bodies or members, or of some evenly spaced ones."""
    count = motion.scenario.count
    return np.unique(np.linspace(0, count - 1, min(count, MAX_BODIES)).round().astype(np.int64))


def restrict_to_members(motion: Trajectory, members: Indices) -> Trajectory:
    """The motion of some members of an ensemble; a body or a system is returned unchanged."""
    if motion.axis != "member" or len(members) == motion.scenario.count:
        return motion
    return motion.members(members)


def select_outputs(motion: Trajectory, rows: Indices) -> Trajectory:
    """The motion at some of its outputs; members stopped by an event keep their final state."""
    run = replace(
        motion.run_result,
        times=motion.times[rows],
        samples=motion.run_result.samples[rows],
        checkpoints=None,
        closed_form=None,
        contact=None if motion.run_result.contact is None else motion.run_result.contact[rows],
    )
    stops = [c for c in run.crossings if c.ends] if motion.axis == "member" else []
    if stops:
        run.samples = run.samples.copy()
    for stop in stops:
        run.samples[run.times > stop.time, stop.body] = stop.sample
    return type(motion)(motion.scenario, run, motion.unknown_forces)
