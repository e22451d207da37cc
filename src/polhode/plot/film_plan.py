"""What a film will be, whoever draws it: size, pace and times of its frames, and what is said of it."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log10, pi
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polhode import validation
from polhode.errors import InputError, show
from polhode.plot.time_labels import LONG_SPAN, format_duration
from polhode.plot.video_writer import check_film
from polhode.results.trajectory import Trajectory
from polhode.validation import Array

MIN_REALTIME, MAX_REALTIME, DEFAULT_LENGTH = 2.0, 20.0, 8.0
"""A motion of 2 to 20 s plays in real time; a shorter or longer one in about 8 s."""
MAX_FRAMES = 36_000
"""Twenty minutes at 30 frames per second."""
DEFAULT_SIZES = {".gif": (800, 450)}
DEFAULT_RATES = {".gif": 20.0}
"""Defaults of a .gif; those of an .mp4 are 1280 x 720 pixels and 30 frames per second."""
TIMES_SIGN = "\N{MULTIPLICATION SIGN}"
SIZE_LIMITS = (160, 7680)
"""Minimum and maximum of the width, and of the height times 16/9."""


class FilmWarning(UserWarning):
    """Aliasing: a body rotates by more than half a turn between two frames."""


@dataclass(frozen=True)
class Film:
    """A film that has been written."""

    path: Path
    frames: int
    seconds: float
    """Playing time in s."""
    pace: float
    """Seconds of motion per second of film."""
    frames_per_second: float
    size: tuple[int, int]
    """Width and height in pixels."""
    warning: str | None
    """If the rotation is aliased: by how much, and the pace that avoids it."""


class FilmPlan(NamedTuple):
    """What a film will be."""

    size: tuple[int, int]
    rate: float
    """Frames per second."""
    pace: float
    times: Array
    """Of the frames, in s."""


def plan_film(
    motion: Trajectory,
    path: Path,
    *,
    pace: float | None,
    frames_per_second: float | None,
    size: tuple[int, int] | None,
    start: float | None,
    end: float | None,
) -> FilmPlan:
    """The size, pace and times of a film, given or default, after checking that it can be written."""
    shown, rate = validate_format(path, frames_per_second, size)
    first, last = _validate_interval(motion, start, end)
    speed = default_pace(last - first) if pace is None else _validate_positive(pace, "pace")
    return FilmPlan(shown, rate, speed, frame_times(first, last, speed, rate))


def validate_format(
    place: Path, frames_per_second: float | None, size: tuple[int, int] | None
) -> tuple[tuple[int, int], float]:
    """The size in pixels and the frames per second, given or default, after checking that the film can be written."""
    suffix = place.suffix.lower()
    shown = validate_size(DEFAULT_SIZES.get(suffix, (1280, 720)) if size is None else size)
    rate = (
        DEFAULT_RATES.get(suffix, 30.0)
        if frames_per_second is None
        else _validate_positive(frames_per_second, "frames_per_second")
    )
    check_film(place, shown, rate)
    return shown, rate


def default_pace(duration: float) -> float:
    """Real time for 2 to 20 s of motion; otherwise a round number that plays it in about 8 s."""
    return 1.0 if MIN_REALTIME <= duration <= MAX_REALTIME else float(f"{duration / DEFAULT_LENGTH:.1g}")


def frame_times(first: float, last: float, pace: float, rate: float) -> Array:
    """The time of each frame in s: frame k at first + k pace/rate, without summing steps.  [Baraff 1997, section 3]"""
    count = (last - first) * rate / pace * (1 + 1e-12)
    if count >= MAX_FRAMES:
        raise InputError(
            f"at a pace of {pace:g} the film would have {count:.3g} frames, more than {MAX_FRAMES}: choose a larger "
            f"pace (such as {default_pace(last - first):g}), or a part of the motion"
        )
    return np.asarray(np.minimum(first + np.arange(floor(count) + 1) * (pace / rate), last))


def aliasing_warning(motion: Trajectory, pace: float, rate: float) -> str | None:
    """Warning if a body rotates by more than half a turn between frames, else None.  [Christian 2011, section 17.6]"""
    is_body = np.array([not body.is_particle for body in motion.scenario.bodies])
    rates = np.linalg.norm(motion.angular_velocity_body, axis=-1) * is_body
    fastest = float(np.nanmax(rates, initial=0.0))
    turn = fastest * pace / rate
    if turn <= pi:
        return None
    right = _round_down(pi / 2 * rate / fastest)
    return (
        f"the rotation is aliased: up to {turn / (2 * pi):.3g} turns between two frames look slower, or reversed; "
        f"a pace of {right:g} shows it correctly"
    )


def describe_pace(pace: float) -> str:
    """The pace in words."""
    return (
        "real time"
        if pace == 1
        else f"1 s shows {format_duration(pace)}"
        if pace >= LONG_SPAN / 30
        else f"{TIMES_SIGN} {pace:g}"
    )


def validate_size(size: Any) -> tuple[int, int]:
    """Width and height in pixels."""
    try:
        width, height = (int(n) for n in size)
        whole = (width, height) == tuple(size)
    except (TypeError, ValueError, OverflowError, np.ma.MaskError):
        raise InputError(f"size must be width and height in pixels, such as (1280, 720), not {show(size)}") from None
    least, most = SIZE_LIMITS
    if not whole or not (least <= width <= most and least <= height * 16 / 9 <= 2 * most):
        raise InputError(
            f"size = {width} x {height} pixels is out of range: from {least} x {least * 9 // 16} to {most} wide"
        )
    return width, height


def _validate_positive(value: Any, name: str) -> float:
    number = validation.check_number(value, name)
    if number <= 0:
        raise InputError(f"{name} must be positive, but is {number:g}")
    return number


def _validate_interval(motion: Trajectory, start: float | None, end: float | None) -> tuple[float, float]:
    """The part of the motion to show, in s."""
    if len(motion.times) < 2:
        raise InputError("a film needs a motion with at least two output times: simulate with an output_step")
    low, high = float(motion.times[0]), float(motion.times[-1])
    first = low if start is None else validation.check_number(start, "start")
    last = high if end is None else validation.check_number(end, "end")
    if not low <= first < last <= high:
        raise InputError(f"{first:g} to {last:g} s is not a part of the motion, which lasts from {low:g} to {high:g} s")
    return first, last


def _round_down(value: float) -> float:
    unit = 10.0 ** (floor(log10(value)) - 1)
    return float(f"{floor(value / unit) * unit:.2g}")
