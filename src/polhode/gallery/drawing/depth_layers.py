"""Solids drawn with flat elements (polygons, lines, disks), sorted by depth or in the given order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import Circle, Polygon

from polhode.gallery import affine
from polhode.plot.style import COLORS
from polhode.validation import Array


@dataclass
class DepthLayers:
    """Collects flat elements in space, then draws them seen from the positive end of an axis.

    Examples
    --------
    >>> from polhode.gallery.drawing.depth_layers import DepthLayers
    >>> from polhode.plot.style import styled_figure
    >>> layers = DepthLayers()
    >>> layers.disc((0, 0, 1), 0.5, "#0072b2")
    >>> layers.line((0, 0, 1), (1, 0, -1), "#333333")
    >>> with styled_figure(3.0, 3.0) as figure:
    ...     layers.draw(figure.subplots())
    """

    along: str = "z"
    _elements: list[tuple[float, Any]] = field(default_factory=list)
    _extent: list[Array] = field(default_factory=list)

    def _project(self, points: Any) -> tuple[Array, float]:
        flat, depths = affine.projected(affine.point(points), along=self.along)
        return flat, float(np.mean(depths))

    def polygon(self, corners: Any, color: str, alpha: float = 1.0) -> None:
        """A filled polygon with corners (n, 3)."""
        flat, depth = self._project(corners)
        options: dict[str, Any] = {"facecolor": (*to_rgb(color), alpha), "edgecolor": COLORS["ink"], "linewidth": 1.0}
        self._elements.append((depth, lambda: [Polygon(flat, closed=True, joinstyle="round", **options)]))
        self._extent.append(flat)

    def line(self, start: Any, end: Any, color: str, width: float = 3.0) -> None:
        """A line of a width in points."""
        flat, depth = self._project(np.stack((np.asarray(start, dtype=float), np.asarray(end, dtype=float))))
        options: dict[str, Any] = {"closed": False, "fill": False, "capstyle": "round"}
        edge: dict[str, Any] = {"edgecolor": COLORS["ink"], "linewidth": width + 1.2}
        self._elements.append(
            (
                depth,
                lambda: [Polygon(flat, **edge, **options), Polygon(flat, edgecolor=color, linewidth=width, **options)],
            )
        )
        self._extent.append(flat)

    def disc(self, center: Any, radius: float, color: str) -> None:
        """A sphere as a disk, with rings that become lighter toward the light."""
        flat, depth = self._project(np.asarray(center, dtype=float)[None])
        x, y = flat[0].tolist()
        base = np.array(to_rgb(color))

        def patches() -> list[Any]:
            found: list[Any] = [Circle((x, y), radius, facecolor=base, edgecolor=COLORS["ink"], linewidth=1.0)]
            for share in np.linspace(0.08, 0.95, 14):
                shift = 0.38 * share * radius
                options = {"facecolor": base + 0.75 * share**1.5 * (1 - base), "edgecolor": "none"}
                found.append(Circle((x - shift, y + shift), radius * 0.97 * (1 - share), **options))
            return found

        self._elements.append((depth, patches))
        self._extent.append(flat + radius * np.array([(-1.0, -1.0), (1.0, 1.0)]))

    def draw(self, axes: Axes, title: str = "", by_depth: bool = True) -> None:
        """Draw everything, back to front or in the given order, into axes without a frame."""
        order = np.argsort([depth for depth, _ in self._elements], kind="stable")
        for place, index in enumerate(order if by_depth else range(len(self._elements))):
            for patch in self._elements[index][1]():
                patch.set_zorder(2 + 0.001 * place)
                axes.add_patch(patch)
        points = np.concatenate(self._extent)
        room = 0.06 * float(np.ptp(points, axis=0).max())
        axes.set_xlim(points[:, 0].min() - room, points[:, 0].max() + room)
        axes.set_ylim(points[:, 1].min() - room, points[:, 1].max() + room)
        axes.set_aspect("equal")
        axes.axis("off")
        if title:
            axes.set_title(title)
