"""A motion as a film: the two views and the clock of `instant`, frame by frame."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from math import floor, log10, pi
from pathlib import Path
from typing import Any, cast

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from polhode import validation
from polhode.errors import InputError
from polhode.plot.snapshot.figure import (
    WIDTH,
    add_corner_text,
    draw_static_parts,
    timeline_scale,
    validate_body_index,
    view_aspect,
)
from polhode.plot.snapshot.layout import lay_out_views
from polhode.plot.snapshot.trajectory import TrajectorySamples, sample_trajectory
from polhode.plot.snapshot.views import SnapshotViews
from polhode.plot.style import COLORS, styled_figure
from polhode.plot.time_labels import LONG_SPAN, TimeFormat, choose_time_format, format_duration
from polhode.plot.video_writer import RGBImage, check_film, open_video_writer
from polhode.progress import progress
from polhode.results.trajectory import Trajectory
from polhode.validation import Array

MIN_REALTIME, MAX_REALTIME, DEFAULT_LENGTH = 2.0, 20.0, 8.0
"""What lasts from 2 to 20 s is shown as fast as it is; what is shorter or longer, in about 8 s."""
MAX_FRAMES = 36_000
"""Twenty minutes at 30 frames a second: more were hardly meant."""
FILM_TRAIL_POINTS = 400
"""Of a trail in a film, at most."""
DEFAULT_SIZES = {".gif": (800, 450)}
DEFAULT_RATES = {".gif": 20.0}
"""What a .gif gets that says nothing; an .mp4 gets 1280 x 720 pixels and 30 frames a second."""
TIMES_SIGN = "\N{MULTIPLICATION SIGN}"
MIN_RESOLUTION = (72.0, 640)
"""A film has at least so many pixels an inch, so that letters can be read; one less than so many wide has fewer."""
SIZE_LIMITS = (160, 7680)
"""The least and the largest width, and height times 16/9."""


class FilmWarning(UserWarning):
    """The eye is deceived: a body turns more than half a turn between two frames."""


@dataclass(frozen=True)
class Film:
    """A film that was written."""

    path: Path
    frames: int
    seconds: float
    """How long it plays."""
    pace: float
    """Seconds of the motion in a second of the film."""
    frames_per_second: float
    size: tuple[int, int]
    """Width and height in pixels."""
    warning: str | None
    """Where the eye is deceived: how, and what would show it right."""


def film(
    motion: Trajectory,
    path: str | Path,
    title: str = "",
    *,
    pace: float | None = None,
    frames_per_second: float | None = None,
    size: tuple[int, int] | None = None,
    start: float | None = None,
    end: float | None = None,
    body: int = 0,
) -> Film:
    """Write a motion as a film: in space and seen from the body, with one camera; below, the clock.

    Parameters
    ----------
    motion : Motion
        Of a body, of several, or of an ensemble, of which up to 300 members are drawn.
    path : str or pathlib.Path
        Where to: .mp4 (needs the extra `polhode[film]`) or .gif.  It appears when the film is complete.
    title : str, optional
        The scenario's name if not given.
    pace : float, optional
        Seconds of the motion in a second of the film: 0.1 is slow motion.  If not given, 1 where the part that is
        shown lasts 2 to 20 s; else what shows it in about 8 s.  It is written in the picture.
    frames_per_second : float, optional
        30, in a .gif 20 if not given.
    size : tuple of int, optional
        Width and height in pixels: (1280, 720), of a .gif (800, 450) if not given.
    start, end : float, optional
        Of the part to show, in s; the whole motion if not given.
    body : int, optional
        Of a system: from which body the second view looks, counted from 0.

    Returns
    -------
    Film
        Where it is, how many frames it has, how long it plays, and how fast.

    Warns
    -----
    FilmWarning
        Where a body turns more than half a turn between two frames: one sees it turn too slowly, or backwards.

    Examples
    --------
    >>> import polhode as ph, tempfile, pathlib
    >>> from polhode.plot.film import film
    >>> book = ph.shapes.box((0.03, 0.15, 0.22), mass=0.6)
    >>> motion = ph.simulate(book, ph.State(angular_velocity_body=(0.1, 4.0, 0.1)), duration=3.0, method="exact")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = film(motion, pathlib.Path(folder) / "book.gif", end=0.2, pace=1, size=(320, 180))
    >>> made.frames, made.seconds
    (5, 0.25)
    """
    place = Path(path)
    shown, rate = validate_format(place, frames_per_second, size)
    first, last = _validate_interval(motion, start, end)
    speed = default_pace(last - first) if pace is None else _validate_positive(pace, "pace")
    times = frame_times(first, last, speed, rate)
    width, height = shown
    wide = figure_width(width)
    tall = wide * height / width
    set_up = lay_out_views(motion, validate_body_index(motion, body), view_aspect(tall, wide))
    warning = aliasing_warning(set_up.trail, set_up.sizes, speed, rate)
    if warning is not None:
        warnings.warn(warning, FilmWarning, stacklevel=2)
    frames = sample_trajectory(motion, times)
    with styled_figure(wide, tall, constrained=False) as figure:
        said = choose_time_format(first, last, speed / rate)
        projector = _FrameRenderer(figure, width, set_up, motion, title, speed, said, warning)

        def samples() -> list[RGBImage]:
            return [projector.picture(frames.at(k)) for k in sorted({(len(times) - 1) * i // 4 for i in range(5)})]

        with open_video_writer(place, shown, rate, samples) as add, progress("film", "frames") as report:
            for k in range(len(times)):
                add(projector.picture(frames.at(k)))
                report(k + 1, len(times))
    return Film(place, len(times), len(times) / rate, speed, rate, shown, warning)


def validate_format(
    place: Path, frames_per_second: float | None, size: tuple[int, int] | None
) -> tuple[tuple[int, int], float]:
    """The size in pixels and the frames a second, as given or usual, of a film that can be written there."""
    suffix = place.suffix.lower()
    shown = validate_size(DEFAULT_SIZES.get(suffix, (1280, 720)) if size is None else size)
    rate = (
        DEFAULT_RATES.get(suffix, 30.0)
        if frames_per_second is None
        else _validate_positive(frames_per_second, "frames_per_second")
    )
    check_film(place, shown, rate)
    return shown, rate


def figure_width(pixels: int) -> float:
    """How wide the sheet is, in inches: smaller in a small film, whose letters would have too few pixels."""
    per_inch, least = MIN_RESOLUTION
    return min(WIDTH, max(pixels, least) / per_inch)


def default_pace(duration: float) -> float:
    """True speed for what lasts 2 to 20 s; else a round number that shows it in about 8 s."""
    return 1.0 if MIN_REALTIME <= duration <= MAX_REALTIME else float(f"{duration / DEFAULT_LENGTH:.1g}")


def frame_times(first: float, last: float, pace: float, rate: float) -> Array:
    """When each frame is, in s: frame k at first + k pace/rate, not after k sums of it.  [seed 000 section 3]"""
    count = (last - first) * rate / pace * (1 + 1e-12)
    if count >= MAX_FRAMES:
        raise InputError(
            f"at a pace of {pace:g} the film would have {count:.3g} frames, more than {MAX_FRAMES}: choose a larger "
            f"pace (such as {default_pace(last - first):g}), or a part of the motion"
        )
    return np.asarray(np.minimum(first + np.arange(floor(count) + 1) * (pace / rate), last))


def aliasing_warning(trail: TrajectorySamples, sizes: Array, pace: float, rate: float) -> str | None:
    """The sentence for bodies that turn more than half a turn between two frames; None if none does.  [004 17.6]"""
    seen = trail.omega[:, np.broadcast_to(sizes > 0, trail.omega.shape[1])]
    fastest = float(np.nanmax(np.linalg.norm(seen, axis=-1), initial=0.0))
    turn = fastest * pace / rate
    if turn <= pi:
        return None
    right = _round_down(pi / 2 * rate / fastest)
    return (
        f"the eye is deceived: up to {turn / (2 * pi):.3g} turns between two frames look like fewer, or like turning "
        f"back; a pace of {right:g} shows it right"
    )


def describe_pace(pace: float) -> str:
    """How fast the film is, in words."""
    return (
        "true speed"
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
    except (TypeError, ValueError):
        raise InputError(f"size must be width and height in pixels, such as (1280, 720), not {size!r}") from None
    least, most = SIZE_LIMITS
    if not whole or not (least <= width <= most and least <= height * 16 / 9 <= 2 * most):
        raise InputError(
            f"size = {width} x {height} pixels cannot be: from {least} x {least * 9 // 16} on, to {most} wide"
        )
    return width, height


def _validate_positive(value: Any, name: str) -> float:
    number = validation.check_number(value, name)
    if number <= 0:
        raise InputError(f"{name} must be above 0, but is {number:g}")
    return number


def _validate_interval(motion: Trajectory, start: float | None, end: float | None) -> tuple[float, float]:
    """The part of the motion that is shown, in s."""
    if len(motion.times) < 2:
        raise InputError("a film takes a motion with at least two output times: simulate with an output_step")
    low, high = float(motion.times[0]), float(motion.times[-1])
    first = low if start is None else validation.check_number(start, "start")
    last = high if end is None else validation.check_number(end, "end")
    if not low <= first < last <= high:
        raise InputError(
            f"from {first:g} to {last:g} s is no part of the motion, which reaches from {low:g} to {high:g} s"
        )
    return first, last


def _round_down(value: float) -> float:
    unit = 10.0 ** (floor(log10(value)) - 1)
    return float(f"{floor(value / unit) * unit:.2g}")


class _FrameRenderer:
    """Draws frames: what stays the same is drawn once, and lies below all of them."""

    def __init__(
        self,
        figure: Figure,
        width: int,
        set_up: SnapshotViews,
        motion: Trajectory,
        title: str,
        pace: float,
        times: TimeFormat,
        warning: str | None,
    ) -> None:
        figure.set_dpi(width / figure.get_figwidth())
        self._canvas = cast(Any, FigureCanvasAgg(figure))  # Matplotlib gives it no types
        self._stage = set_up
        self._space, self._from_body, self._clock = draw_static_parts(
            figure, set_up, motion, title, () if warning is None else (warning,)
        )
        add_corner_text(figure, 0.04, describe_pace(pace), 11, color=COLORS["ink"])
        self._views = [view for view in (self._space, self._from_body) if view is not None]
        self._cursor = self._clock.axvline(0.0, color=COLORS["ink"], linewidth=1.2, animated=True)
        self._time = add_corner_text(figure, 0.965, "", 14, animated=True)
        along = timeline_scale(set_up)
        self._along = along
        self._times = replace(times, zero=along.zero) if times.zero and along.zero else times
        for view in self._views:
            view.set_visible(False)
        self._canvas.draw()
        self._below = self._canvas.copy_from_bbox(figure.bbox)
        for view in self._views:
            view.set_visible(True)

    def picture(self, now: TrajectorySamples) -> RGBImage:
        """One frame."""
        for view in self._views:
            for artist in (*view.collections, *view.texts, *view.lines):
                artist.remove()
        self._stage.draw_space(self._space, now, FILM_TRAIL_POINTS)
        if self._from_body is not None:
            self._stage.draw_body(self._from_body, now, FILM_TRAIL_POINTS)
        moment = float(now.times[0])
        self._cursor.set_xdata([self._along.place(moment)] * 2)
        self._time.set_text(f"t = {self._times.said(moment)}")
        self._canvas.restore_region(self._below)
        renderer = self._canvas.get_renderer()
        for artist in (*self._views, self._cursor, self._time):
            artist.draw(renderer)
        return np.array(self._canvas.buffer_rgba())[..., :3]
