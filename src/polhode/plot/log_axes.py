"""Logarithmic axes with few ticks, labeled as powers of ten or as plain numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullLocator

from polhode.plot.style import format_power_of_ten
from polhode.validation import Array


def set_log_y(axes: Axes, ticks: int = 12) -> None:
    """A logarithmic y axis with at most `ticks` ticks, at powers of ten."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(numticks=ticks))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(format_power_of_ten)


def set_log_y_limits(axes: Axes, low: float, high: float, ticks: int = 12) -> None:
    """A logarithmic y axis with limits."""
    set_log_y(axes, ticks)
    axes.set_ylim(low, high)


def mask_nonpositive(values: Array) -> Array:
    """Replace values that are not positive by NaN, which leaves a gap on a logarithmic axis."""
    return np.where(values > 0, values, np.nan)


def set_log_x(axes: Axes, ticks: Sequence[float]) -> None:
    """A logarithmic x axis with these ticks."""
    axes.set_xscale("log")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(list(ticks), [f"{tick:.3g}" for tick in ticks])
