"""How far the attitude drifts from a rotation: matrix against quaternion, the comparison of seed 000, section 4."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from polhode.checks import Array
from polhode.plots.style import SEVERAL, power_of_ten, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from polhode.motion import Motion

FLOOR = 1e-17
"""Where a drift of exactly 0 is drawn on the log axis."""


def drifts(motions: Mapping[str, Motion]) -> Figure:
    """A sheet with `drift_panel` alone."""
    with sheet(8.0, 4.2, "How far the attitude drifts from a rotation") as figure:
        drift_panel(figure.subplots(), motions)
    return figure


def drift_panel(axes: Axes, motions: Mapping[str, Motion]) -> None:
    """The largest entry of |R^T R - 1| over time, of motions of one body each, under their names.

    For a quaternion that is ||q|^2 - 1|, the drift that its matrix would have without rescaling.
    """
    for (name, motion), colour in zip(motions.items(), SEVERAL, strict=False):
        values = np.maximum(drift_of(motion), FLOOR)
        axes.plot(motion.times, values, color=colour)
        above = (motion.times[-1], values.max())
        axes.annotate(name, above, xytext=(0, 7), textcoords="offset points", ha="right", color=colour)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(power_of_ten)
    axes.set_ylim(bottom=FLOOR)
    axes.margins(x=0.0)
    axes.set_xlabel("time (s)")
    axes.set_ylabel("largest entry of |RᵀR - 1|")


def drift_of(motion: Motion) -> Array:
    """How far the attitude, as kept at each output, is from a rotation."""
    if motion.scenario.formulation == "momentum_matrix":
        return motion.attitude_drift
    return np.asarray(np.abs((motion.quaternion_wxyz**2).sum(axis=-1) - 1))
