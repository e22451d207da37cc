"""Logarithmic axes with few ticks, written as powers of ten or as plain numbers."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullLocator

from polhode.plots.style import power_of_ten


def powers_upwards(axes: Axes, ticks: int = 12) -> None:
    """A logarithmic axis upwards with at most so many ticks, at powers of ten."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(numticks=ticks))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(power_of_ten)


def numbers_across(axes: Axes, ticks: Sequence[float]) -> None:
    """A logarithmic axis across with these ticks."""
    axes.set_xscale("log")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(list(ticks), [f"{tick:g}" for tick in ticks])
