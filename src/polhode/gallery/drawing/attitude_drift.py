"""Drift of the attitude from a rotation: matrix against quaternion.  [Baraff 1997, section 4]"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from polhode.plot.log_axes import set_log_y_limits
from polhode.plot.style import COLOR_CYCLE
from polhode.validation import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from polhode.results.motion import Motion

FLOOR = 1e-17
"""Where a drift of exactly 0 is drawn on the logarithmic axis."""
LABEL_CLEARANCE = 50.0
"""If a higher curve is within this factor, the label goes below its own curve."""


def draw_attitude_drift(axes: Axes, motions: Mapping[str, Motion]) -> None:
    """The largest entry of |R^T R - 1| over time, of named motions of one body each.

    For a quaternion it is ||q|^2 - 1|, the drift that its matrix would have without renormalization.
    """
    drifts_of = {name: np.maximum(orthogonality_error(motion), FLOOR) for name, motion in motions.items()}
    highest = np.array([values.max() for values in drifts_of.values()])
    for (name, values), color in zip(drifts_of.items(), COLOR_CYCLE, strict=False):
        times, top = motions[name].times, values.max()
        axes.plot(times, values, color=color)
        if np.any((highest > top) & (highest < LABEL_CLEARANCE * top)):  # no room above
            where, aside = float(values[len(values) // 2 :].min()), (0, -14)
        else:
            where, aside = float(top), (0, 7)
        axes.annotate(name, (times[-1], where), xytext=aside, textcoords="offset points", ha="right", color=color)
    set_log_y_limits(axes, FLOOR, 10.0 ** (np.ceil(np.log10(highest.max())) + 1))
    axes.margins(x=0.0)
    axes.set_xlabel("time (s)")
    axes.set_ylabel("largest entry of |RᵀR - 1|")


def orthogonality_error(motion: Motion) -> Array:
    """Deviation of the stored attitude from a rotation, at each output."""
    if motion.scenario.form.keeps_matrix:
        return motion.attitude_drift
    return np.asarray(np.abs((motion.quaternion_wxyz**2).sum(axis=-1) - 1))
