"""Choice of a camera."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.plot.projection import Camera
from polhode.plot.scene import world_camera
from polhode.validation import Array


def choose_clearest_camera(tips: Any) -> Camera:
    """The camera, z up, that best separates arrows from the origin to these points (n, 3)."""
    places = np.asarray(tips, dtype=float)
    views = [world_camera(yaw, pitch) for yaw in np.linspace(0.1, 1.4, 14) for pitch in (0.25, 0.4, 0.55)]
    return max(views, key=lambda camera: _clearance(camera.flat(places)))


def _clearance(tips: Array) -> float:
    """The smallest distance between two projected tips, or twice the smallest area between two arrows."""
    x, y = tips.T
    itself = np.diag(np.full(len(tips), np.inf))
    apart = np.hypot(x[:, None] - x, y[:, None] - y) + itself
    areas = np.abs(np.outer(x, y) - np.outer(y, x)) + itself
    return float(min(apart.min(), 2 * areas.min()))
