"""A motion at one time: the view in space, the view from the body, and a time line."""

from __future__ import annotations

from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from polhode.errors import InputError
from polhode.plot import panels
from polhode.plot.snapshot.layout import lay_out_views
from polhode.plot.snapshot.trajectory import MAX_MEMBERS, sample_trajectory_at, select_drawn_bodies
from polhode.plot.snapshot.views import SnapshotViews
from polhode.plot.style import (
    AXIS_COLORS,
    COLOR_CYCLE,
    COLORS,
    OMEGA_LABELS,
    XYZ_LABELS,
    format_power_of_ten,
    styled_figure,
)
from polhode.plot.time_labels import TimeFormat, choose_time_format
from polhode.results.trajectory import Trajectory

WIDTH, HEIGHT = 12.8, 7.2
"""Default size of the figure, in inches."""
VIEW_BOX = (0.485, 0.225, 0.855)
"""Width, bottom and top of a view, as fractions of the default figure."""


def draw_snapshot(
    motion: Trajectory, time: float | None = None, title: str = "", *, body: int = 0, height: float = HEIGHT
) -> Figure:
    """Draw a motion at one time: in space and seen from the body, side by side, above a time line.

    In space: the bodies, two-colored so that rotation is visible, with arrows for angular velocity, angular momentum,
    torque and force, and the paths so far.  Arrows of a kind are to scale; the longest of the whole motion extends a
    little beyond the body.  From the body: the paths of angular velocity and angular momentum around it.

    Parameters
    ----------
    motion : Motion
        The motion of one body, a system, or an ensemble, of which up to 300 members are drawn.
    time : float, optional
        In s.  Default: the start.  The state is that of `motion.at(time)`.
    title : str, optional
        Default: the name of the scenario.
    body : int, optional
        For a system: the index of the body of the second view.
    height : float, optional
        Height of the figure in inches; its width is 12.8.

    Returns
    -------
    matplotlib.figure.Figure
        `figure.savefig("snapshot.svg")` writes it.

    Examples
    --------
    >>> import polhode as ph
    >>> from polhode.plot.snapshot.figure import draw_snapshot
    >>> book = ph.shapes.box((0.03, 0.15, 0.22), mass=0.6)
    >>> motion = ph.simulate(book, ph.State(angular_velocity_body=(0.1, 4.0, 0.1)), duration=3.0, method="exact")
    >>> figure = draw_snapshot(motion, 1.25, "A book")
    >>> figure.texts[0].get_text()
    'A book'
    """
    now, remark = sample_trajectory_at(motion, motion.scenario.start_time if time is None else time)
    set_up = lay_out_views(motion, validate_body_index(motion, body), view_aspect(height))
    moment, times = float(now.times[0]), timeline_scale(set_up)
    with styled_figure(WIDTH, height, constrained=False) as figure:
        space, from_body, clock = draw_static_parts(figure, set_up, motion, title, (remark,) if remark else ())
        add_corner_text(figure, 0.965, f"t = {times.format_short(moment)}", 14)
        set_up.draw_space(space, now)
        if from_body is not None:
            set_up.draw_body(from_body, now)
        clock.axvline(times.place(moment), color=COLORS["ink"], linewidth=1.2)
    return figure


def validate_body_index(motion: Trajectory, body: int) -> int:
    """Check the index of a body."""
    count = motion.scenario.count if motion.axis == "body" else 1
    if isinstance(body, bool) or not isinstance(body, int) or not 0 <= body < count:
        if motion.axis == "member":
            raise InputError(
                f"body = {body!r} selects a body of a system, but this is an ensemble, whose {motion.scenario.count} "
                "members are drawn together: omit body, or simulate that member alone"
            )
        raise InputError(f"there is no body {body!r}: this motion has {count}, counted from 0")
    return body


def view_aspect(height: float, width: float = WIDTH) -> float:
    """Width over height of each of two views in a figure of this size."""
    across, low, high = VIEW_BOX
    return width * across / (height * (_scale_from_top(high, height) - _scale_from_bottom(low, height)))


def _scale_from_bottom(part: float, height: float) -> float:
    """Convert a height from fractions of the default figure to those of this one, in which text is equally large."""
    return part * min(max(1.0, HEIGHT / height), 2.0)


def _scale_from_top(part: float, height: float) -> float:
    """The same for heights near the top."""
    return 1.0 - _scale_from_bottom(1.0 - part, height)


def add_corner_text(figure: Figure, part: float, text: str, fontsize: float, **options: Any) -> Any:
    """Text at the right edge of the figure, its top at this height, as a fraction of the default figure."""
    at = (_scale_from_top if part > 0.5 else _scale_from_bottom)(part, figure.get_figheight())
    return figure.text(0.985, at, text, ha="right", va="top", fontsize=fontsize, **options)


def draw_static_parts(
    figure: Figure, set_up: SnapshotViews, motion: Trajectory, title: str, remarks: tuple[str, ...] = ()
) -> tuple[Axes, Axes | None, Axes]:
    """Draw what does not change with time: titles, legend, remarks and time line; return axes for the views."""
    name, (width, low, high) = title or motion.scenario.name or "motion", VIEW_BOX
    wide, tall = figure.get_size_inches()
    low, high, above = _scale_from_bottom(low, tall), _scale_from_top(high, tall), _scale_from_top(0.885, tall)
    size = min(14.0, 14.0 * 80 / len(name) * wide / WIDTH)
    figure.text(0.015, _scale_from_top(0.965, tall), name, va="top", fontsize=size, fontweight="bold")
    width = width if set_up.turns else 2 * width
    space = figure.add_axes((0.01, low, width, high - low))
    from_body = figure.add_axes((0.505, low, width, high - low)) if set_up.turns else None
    figure.text(0.015, above, _space_title(set_up, motion), fontsize=11, va="center")
    if from_body is not None:
        whose = f"body {set_up.watched}" if motion.axis == "body" else "each body" if set_up.many else "the body"
        tips = ": dots at the tips of ω" if set_up.many else ": paths of ω and L"
        figure.text(0.515, above, f"seen from {whose}{tips}", fontsize=11, va="center")
    sentences = [*set_up.remarks, *remarks]
    if sentences:
        text = fill("; ".join(sentences), int(150 * wide / WIDTH))
        figure.text(0.985, low - 0.003, text, fontsize=8.5, color="#666666", ha="right", va="bottom", zorder=20)
    handles = set_up.legend()
    if handles:
        place = (0.99, _scale_from_top(0.945, tall))
        figure.legend(handles=handles, loc="upper right", bbox_to_anchor=place, ncols=len(handles), columnspacing=1.6)
    return space, from_body, _draw_timeline(figure, set_up, motion)


def _space_title(set_up: SnapshotViews, motion: Trajectory) -> str:
    title = "in space"
    if set_up.many:
        count = motion.scenario.count
        title += f": {MAX_MEMBERS} of {count:,} members" if count > MAX_MEMBERS else f": {count} members"
    elif motion.axis == "body":
        title += f": {motion.scenario.count} bodies"
    return title + ("; the view follows" if set_up.follows else "")


def _draw_timeline(figure: Figure, set_up: SnapshotViews, motion: Trajectory) -> Axes:
    """The angular velocity over time, body axes; the velocity if nothing rotates."""
    (wide, tall), trail = figure.get_size_inches(), set_up.trail
    left, low, high = 0.062 * WIDTH / wide, _scale_from_bottom(0.075, tall), _scale_from_bottom(0.18, tall)
    axes = figure.add_axes((left, low, 0.982 - left, high - low))
    values, what, unit = (
        (trail.in_body(trail.omega), "ω in the body", "rad/s") if set_up.turns else (trail.velocity, "velocity", "m/s")
    )
    largest = float(np.nanmax(np.abs(values)))
    power = float(np.floor(np.log10(largest))) if largest > 0 else 0.0
    scale = 10.0**power if power < -2 or power > 3 else 1.0
    times = timeline_scale(set_up)
    places = times.places(trail.times)
    if set_up.many:  # a member that an event has stopped is drawn, but does not rotate any more
        over = trail.times[:, None] > motion.end_times[select_drawn_bodies(motion)[0]]
        values = np.where(over[..., None], np.nan, values)
    if motion.axis is None or (set_up.turns and not set_up.many):
        for k, name in enumerate(OMEGA_LABELS if set_up.turns else XYZ_LABELS):
            axes.plot(places, values[:, set_up.watched, k] / scale, color=AXIS_COLORS[k], label=name, linewidth=1.3)
        axes.legend(
            loc="lower left", bbox_to_anchor=(0.09 * WIDTH / wide, 0.96), ncols=3, borderaxespad=0.1, columnspacing=1.2
        )
    else:
        what = f"|{what}|" if set_up.turns else "speed"
        for i in range(min(values.shape[1], panels.MAX_CURVES)):
            size = np.linalg.norm(values[:, i], axis=-1) / scale
            axes.plot(places, size, color=COLOR_CYCLE[i % len(COLOR_CYCLE)], linewidth=1.1)
    axes.set_title(what, fontsize=9, pad=4)
    axes.set_ylabel(unit if scale == 1.0 else f"{format_power_of_ten(scale)} {unit}", fontsize=9)
    axes.yaxis.set_major_locator(MaxNLocator(3))
    if len(places) > 1:
        axes.set_xlim(float(places[0]), float(places[-1]))
    axes.set_xlabel(times.label, fontsize=9, labelpad=2)
    return axes


def timeline_scale(set_up: SnapshotViews) -> TimeFormat:
    """The time format of the whole motion."""
    return choose_time_format(float(set_up.trail.times[0]), float(set_up.trail.times[-1]))
