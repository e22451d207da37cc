"""Which outputs, and which members, the page is given: as many as the eye can use."""

from __future__ import annotations

from dataclasses import replace
from math import pi

import numpy as np

from polhode.mass.geometry import Indices
from polhode.motion import Motion

MOST_TIMES = 3000
"""More outputs than a screen has columns of pixels."""
FEWEST_TIMES = 200
"""An exact motion is looked at so many times at least,"""
TURN = pi / 8
"""and not less often than once in this angle, in rad, if that takes no more than MOST_TIMES."""
MOST_BODIES = 2000
MOST_POSES = 300_000
"""Of all bodies at all times: about 20 bytes for each of 17 numbers once the page holds them."""


def finer(motion: Motion) -> Motion:
    """An exact motion with few outputs, at as many instants as a smooth picture needs; any other as it is."""
    closed_form = motion._closed_form
    if closed_form is None or len(motion.times) >= MOST_TIMES:
        return motion
    first, last = motion.scenario.start_time, float(motion.times[-1])
    fastest = float(np.nanmax(np.linalg.norm(motion.angular_velocity_body, axis=-1), initial=0.0))
    most = min(MOST_TIMES, max(2, MOST_POSES // motion.scenario.count))
    count = int(min(most, max(FEWEST_TIMES, fastest * (last - first) / TURN + 1)))
    if last <= first or count <= len(motion.times):
        return motion
    times = np.unique(np.concatenate((np.linspace(first, last, count), motion.times)))
    run = replace(motion._run, times=times, kept=closed_form.kept_at(times), marks=None)
    return Motion(motion.scenario, run, motion.unknown_forces)


def times_shown(motion: Motion, bodies: int) -> Indices:
    """Which outputs: all, or those nearest to as many even times as can be shown."""
    most = min(MOST_TIMES, max(2, MOST_POSES // bodies))
    times = motion.times
    if len(times) <= most:
        return np.arange(len(times))
    even = np.linspace(times[0], times[-1], most)
    after = np.clip(np.searchsorted(times, even), 1, len(times) - 1)
    return np.unique(after - (even - times[after - 1] < times[after] - even)).astype(np.int64)


def members_shown(motion: Motion) -> Indices:
    """Which bodies or members: all, or some spread evenly over them."""
    count = motion.scenario.count
    return np.unique(np.linspace(0, count - 1, min(count, MOST_BODIES)).round().astype(np.int64))


def thinned(motion: Motion, rows: Indices, members: Indices) -> Motion:
    """The motion at some of its outputs, and of some of its members."""
    run = replace(motion._run, times=motion.times[rows], kept=motion._run.kept[rows], marks=None, closed_form=None)
    if len(members) == motion.scenario.count or motion.axis != "member":
        return Motion(motion.scenario, run, motion.unknown_forces)
    some = replace(run, kept=run.kept[:, members], crossings=[])
    return Motion(motion.scenario.take(members), some, motion.unknown_forces)
