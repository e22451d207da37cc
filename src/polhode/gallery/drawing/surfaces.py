"""Floors and slopes that bodies touch, seen from the side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.plot.style import COLORS

if TYPE_CHECKING:
    from polhode.plot.scene import Scene


def draw_ground(scene: Scene, start: Any, end: Any, hatch: float) -> None:
    """The edge of a surface from one point to another, hatched below; `hatch` is the length of a stroke in m."""
    a, b = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    scene.line((a, b), COLORS["ink"], width=1.6)
    along = (b - a) / np.linalg.norm(b - a)
    below = np.cross(along, (0.0, -1.0, 0.0))
    for foot in a + np.arange(hatch, np.linalg.norm(b - a), hatch)[:, None] * along:
        scene.line((foot, foot + hatch * (below - along) / np.sqrt(2)), COLORS["muted"], width=0.7)
