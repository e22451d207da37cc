"""A motion as a film: the two views and the time line of `draw_snapshot`, frame by frame."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from polhode.plot.film_plan import Film, FilmWarning, aliasing_warning, describe_pace, plan_film
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
from polhode.plot.time_labels import TimeFormat, choose_time_format
from polhode.plot.video_writer import RGBImage, open_video_writer
from polhode.progress import progress
from polhode.results.trajectory import Trajectory

FILM_TRAIL_POINTS = 400
"""Maximum number of points of a trail in a film."""
MIN_RESOLUTION = (72.0, 640)
"""Minimum pixels per inch, so that text stays readable, and the width in pixels below which there are fewer."""


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
        A .mp4 (needs the extra `film`) or .gif.  The file appears when the film is complete.
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


def figure_width(pixels: int) -> float:
    """Width of the figure in inches: smaller for a small film, whose text would have too few pixels."""
    per_inch, least = MIN_RESOLUTION
    return min(WIDTH, max(pixels, least) / per_inch)


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
