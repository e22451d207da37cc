"""Settings and panel formatting shared by the models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from polhode.results.trajectory import Trajectory


class RK4Settings(TypedDict):
    """Time settings of a scenario that is integrated by RK4."""

    duration: float
    step: float
    output_step: float
    method: str


def rk4_settings(duration: float, frames: int, steps_per_frame: float) -> RK4Settings:
    """RK4 with `steps_per_frame` steps in each of `frames` output intervals."""
    return {
        "duration": duration,
        "step": duration / (frames * steps_per_frame),
        "output_step": duration / frames,
        "method": "rk4",
    }


def finish_time_panel(axes: Axes, motion: Trajectory, title: str, ylabel: str, columns: int, rows: int = 0) -> None:
    """Set title, axis labels and time limits, and add a legend: beside the title, or in `rows` rows below it."""
    from polhode.plot.panels import format_time_axis
    from polhode.plot.style import add_legend_above

    axes.set_title(title)
    axes.set_ylabel(ylabel)
    format_time_axis(axes, motion)
    if rows:
        add_legend_below_title(axes, columns, rows)
    else:
        add_legend_above(axes, columns)


def add_legend_below_title(axes: Axes, columns: int, rows: int = 1) -> None:
    """A legend between the panel and its title, for more entries than fit beside the title."""
    axes.set_title(axes.get_title(loc="left"), pad=10.0 + 13.5 * rows)
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (-0.01, 0.985), "borderaxespad": 0.2}
    axes.legend(ncols=columns, columnspacing=1.0, handlelength=1.4, handletextpad=0.5, labelspacing=0.3, **place)
