"""Settings and panel formatting shared by the models."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

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


def finish_time_panel(axes: Axes, motion: Trajectory, title: str, ylabel: str, columns: int) -> None:
    """Set title, axis labels and time limits, and add a legend with `columns` columns."""
    from polhode.plot.panels import format_time_axis
    from polhode.plot.style import add_legend_above

    axes.set_title(title)
    axes.set_ylabel(ylabel)
    format_time_axis(axes, motion)
    add_legend_above(axes, columns)
