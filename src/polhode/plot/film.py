"""A motion as a film: the two views and the time line of `draw_snapshot`, frame by frame."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from math import floor, log10, pi
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from polhode import validation
from polhode.errors import InputError, show
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
"""A motion of 2 to 20 s plays in real time; a shorter or longer one in about 8 s."""
MAX_FRAMES = 36_000
"""Twenty minutes at 30 frames per second."""
FILM_TRAIL_POINTS = 400
"""Maximum number of points of a trail in a film."""
DEFAULT_SIZES = {".gif": (800, 450)}
DEFAULT_RATES = {".gif": 20.0}
"""Defaults of a .gif; those of an .mp4 are 1280 x 720 pixels and 30 frames per second."""
TIMES_SIGN = "\N{MULTIPLICATION SIGN}"
MIN_RESOLUTION = (72.0, 640)
"""Minimum pixels per inch, so that text stays readable, and the width in pixels below which there are fewer."""
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
    """Write a motion as a film: the view in space and the view from the body, above a time line.

    Parameters
    ----------
    motion : Motion
        The motion of one body, a system, or an ensemble, of which up to 300 members are drawn.
    path : str or pathlib.Path
        A .mp4 (needs the extra `polhode[film]`) or .gif.  The file appears when the film is complete.
    title : str, optional
        Default: the name of the scenario.
    pace : float, optional
        Seconds of motion per second of film: 0.1 is slow motion.  Default: 1 if the part shown lasts 2 to 20 s,
        otherwise the value that plays it in about 8 s.  The pace is written in the picture.
    frames_per_second : float, optional
        Default: 30, for a .gif 20.
    size : tuple of int, optional
        Width and height in pixels.  Default: (1280, 720), for a .gif (800, 450).
    start, end : float, optional
        The part to show, in s.  Default: the whole motion.
    body : int, optional
        For a system: the index of the body of the second view.

    Returns
    -------
    Film
        Path, number of frames, playing time and pace.

    Warns
    -----
    FilmWarning
        If a body rotates by more than half a turn between two frames: it appears to turn too slowly, or backwards.

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
    plan = plan_film(motion, place, pace=pace, frames_per_second=frames_per_second, size=size, start=start, end=end)
    shown, rate, speed, times = plan.size, plan.rate, plan.pace, plan.times
    first, last = float(times[0]), float(times[-1])
    width, height = shown
    wide = figure_width(width)
    tall = wide * height / width
    set_up = lay_out_views(motion, validate_body_index(motion, body), view_aspect(tall, wide))
    warning = aliasing_warning(motion, speed, rate)
    if warning is not None:
        warnings.warn(warning, FilmWarning, stacklevel=2)
    frames = sample_trajectory(motion, times)
    with styled_figure(wide, tall, constrained=False) as figure:
        labels = choose_time_format(first, last, speed / rate)
        renderer = _FrameRenderer(figure, width, set_up, motion, title, speed, labels)

        def samples() -> list[RGBImage]:
            return [renderer.picture(frames.at(k)) for k in sorted({(len(times) - 1) * i // 4 for i in range(5)})]

        with open_video_writer(place, shown, rate, samples) as add, progress("film", "frames") as report:
            for k in range(len(times)):
                add(renderer.picture(frames.at(k)))
                report(k + 1, len(times))
    return Film(place, len(times), len(times) / rate, speed, rate, shown, warning)


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


def figure_width(pixels: int) -> float:
    """Width of the figure in inches: smaller for a small film, whose text would have too few pixels."""
    per_inch, least = MIN_RESOLUTION
    return min(WIDTH, max(pixels, least) / per_inch)


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


class _FrameRenderer:
    """Draws frames over a background of everything that does not change, which is drawn once."""

    def __init__(
        self,
        figure: Figure,
        width: int,
        set_up: SnapshotViews,
        motion: Trajectory,
        title: str,
        pace: float,
        times: TimeFormat,
    ) -> None:
        figure.set_dpi(width / figure.get_figwidth())
        self._canvas = cast(Any, FigureCanvasAgg(figure))  # untyped in Matplotlib
        self._set_up = set_up
        self._space, self._from_body, self._clock = draw_static_parts(figure, set_up, motion, title)
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
        self._background = self._canvas.copy_from_bbox(figure.bbox)
        for view in self._views:
            view.set_visible(True)

    def picture(self, now: TrajectorySamples) -> RGBImage:
        """One frame."""
        for view in self._views:
            for artist in (*view.collections, *view.texts, *view.lines):
                artist.remove()
        self._set_up.draw_space(self._space, now, FILM_TRAIL_POINTS)
        if self._from_body is not None:
            self._set_up.draw_body(self._from_body, now, FILM_TRAIL_POINTS)
        moment = float(now.times[0])
        self._cursor.set_xdata([self._along.place(moment)] * 2)
        self._time.set_text(f"t = {self._times.format(moment)}")
        self._canvas.restore_region(self._background)
        renderer = self._canvas.get_renderer()
        for artist in (*self._views, self._cursor, self._time):
            artist.draw(renderer)
        return np.array(self._canvas.buffer_rgba())[..., :3]
