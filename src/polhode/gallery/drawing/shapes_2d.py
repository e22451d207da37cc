"""Plane figures: polygons, arrows and arcs, before and after a transformation."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

from polhode.plot.style import COLORS, arrow_style, draw_label


def draw_polygon(
    axes: Axes, corners: Any, color: str, label: str = "", filled: bool = True, alpha: float = 0.3, width: float = 1.5
) -> None:
    """A polygon, filled with a paler color, or only its dashed outline; a label adds a legend entry."""
    ring = np.asarray(corners, dtype=float)
    options: dict[str, Any] = (
        {"facecolor": to_rgba(color, alpha)} if filled else {"fill": False, "linestyle": (0, (4, 2))}
    )
    edge = to_rgba(color, min(1.0, 0.35 + 2 * alpha))
    axes.fill(*ring.T, edgecolor=edge, linewidth=width if filled else 1.1, joinstyle="round", label=label, **options)


def draw_arrow(axes: Axes, start: Any, vector: Any, color: str, label: str = "") -> None:
    """An arrow labeled at its middle."""
    a, v = np.asarray(start, dtype=float), np.asarray(vector, dtype=float)
    axes.annotate("", xy=tuple(a + v), xytext=tuple(a), arrowprops=arrow_style(color, 2.0, 0.26, 0.5), zorder=4)
    axes.plot(*np.stack((a, a + v)).T, alpha=0.0)
    if label:
        label_point(axes, a + v / 2, label, (6.0, 6.0) if v[0] * v[1] <= 0 else (6.0, -6.0), color)


def label_point(axes: Axes, place: Any, text: str, offset: tuple[float, float], color: str = COLORS["ink"]) -> None:
    """Text beside a point, `offset` in points, which also sets the alignment."""
    draw_label(axes, np.asarray(place, dtype=float), text, offset, color, 5.0, fontsize=9.5)


def draw_arc(axes: Axes, center: Any, start: Any, angle: float, label: str = "", color: str = COLORS["ink"]) -> None:
    """The arc of a point around a center by an angle in rad, with radii to both ends.  [Christian 2011, fig. 17.1]"""
    c, r = np.asarray(center, dtype=float), np.asarray(start, dtype=float) - np.asarray(center, dtype=float)
    a = np.linspace(0.0, angle, 80)[:, None]
    path = c + np.cos(a) * r + np.sin(a) * np.array((-r[1], r[0]))
    for end in (path[0], path[-1]):
        axes.plot(*np.stack((c, end)).T, color=color, linewidth=0.8)
        axes.plot(*end, color=color, marker="o", markersize=3.5)
    axes.plot(*path.T, color=color, linewidth=1.2)
    if label:
        x, y = (c + 0.62 * (path[len(path) // 2] - c)).tolist()
        axes.text(x, y, label, fontsize=9.5, ha="center", va="center", bbox=LABEL_BOX)


LABEL_BOX = {"facecolor": "white", "edgecolor": "none", "pad": 1.0, "alpha": 0.8}


def format_plane_axes(axes: Axes) -> None:
    """Axes x and y in m, equal scales, with lines through the origin."""
    axes.axhline(0.0, color="#bbbbbb", linewidth=0.9, zorder=1)
    axes.axvline(0.0, color="#bbbbbb", linewidth=0.9, zorder=1)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xlabel("x (m)")
    axes.set_ylabel("y (m)")
    axes.margins(0.06)
    if axes.get_legend_handles_labels()[1]:
        axes.legend(loc="best", framealpha=0.85, frameon=True, edgecolor="none", handlelength=1.2, borderpad=0.2)
