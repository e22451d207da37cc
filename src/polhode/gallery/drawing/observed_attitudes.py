"""Computed and observed attitudes: an axis on the sky, the angles between them, and their uncertainty."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from polhode.plot.style import COLORS, add_legend_above
from polhode.validation import Array


def long_axis(quaternions: Array) -> Array:
    """The direction of body axis 3 along world axes, (..., 3)."""
    w, x, y, z = np.moveaxis(quaternions, -1, 0)
    return np.stack((2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)), axis=-1)


def equatorial_coordinates(vectors: Array) -> tuple[Array, Array]:
    """Right ascension and declination of unit vectors, in degrees."""
    ascension = np.degrees(np.arctan2(vectors[..., 1], vectors[..., 0])) % 360
    return ascension, np.degrees(np.arcsin(np.clip(vectors[..., 2], -1, 1)))


def draw_sky_path(axes: Axes, path: Array, points: Sequence[Array], names: Sequence[str]) -> None:
    """The path of an axis, and its computed and observed directions, connected in pairs; three legend labels."""
    right, up = equatorial_coordinates(path)
    right = np.where(np.abs(np.diff(right, prepend=right[0])) > 180, np.nan, right)
    axes.plot(right, up, color=COLORS["axis_3"], linewidth=1.2, label=names[0])
    (right_0, up_0), (right_1, up_1) = (equatorial_coordinates(p) for p in points)
    for k in np.flatnonzero(np.abs(right_0 - right_1) < 180):
        axes.plot((right_0[k], right_1[k]), (up_0[k], up_1[k]), color=COLORS["muted"], linewidth=1.0)
    axes.plot(right_0, up_0, "o", color=COLORS["axis_3"], markersize=4.5, label=names[1])
    axes.plot(right_1, up_1, "o", color=COLORS["axis_1"], markersize=5.5, markerfacecolor="none", label=names[2])
    low, high = float(min(up.min(), up_1.min())), float(max(up.max(), up_1.max()))
    axes.set_xlim(360, 0)
    axes.set_ylim(max(low - 10, -90), min(high + 15, 90))
    axes.set_xticks(range(0, 361, 60))
    axes.set_title("its long axis on the sky")
    axes.set_xlabel("right ascension (deg)")
    axes.set_ylabel("declination (deg)")
    add_legend_above(axes, 3)


def draw_stems(axes: Axes, times: Array, angles: Array, label: str) -> None:
    """A stem plot of angles in degrees over time, with their median."""
    axes.vlines(times, 0, angles, color=COLORS["axis_3"], linewidth=2.5)
    axes.plot(times, angles, "o", color=COLORS["axis_3"])
    axes.axhline(float(np.median(angles)), color=COLORS["muted"], linewidth=1.0, linestyle=(0, (4, 3)))
    axes.set_ylim(0, None)
    axes.set_ylabel("deg")
    axes.set_xlabel(label)


def draw_spread(axes: Axes, angle: float, others: Array) -> None:
    """An angle in degrees, and samples of its uncertainty."""
    aside = np.random.default_rng(0).uniform(-0.2, 0.2, len(others))
    axes.plot(aside, others, ".", color=COLORS["muted"], markersize=4)
    axes.plot(0, angle, "o", color=COLORS["axis_3"], markersize=7)
    axes.set_xlim(-0.5, 0.5)
    axes.set_ylim(0, 180)
    axes.set_yticks(range(0, 181, 30))
    axes.set_xticks([])
    axes.set_ylabel("deg")
