"""A body at several times, side by side along a time axis."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from polhode.plot.projection import Camera
from polhode.plot.scene import Scene
from polhode.results.motion import Motion

SEGMENTS, SUBDIVISION = 20, 3.0
"""Segments per circle, and subdivision of edges, for a small picture."""


def draw_strip(axes: Axes, motion: Motion, frames: Any, camera: Camera, inches_per_meter: float, half: int = 1) -> None:
    """The body at each of these outputs; `axes` has a time axis, and its final size.

    The half on the side of body axis `half` (0, 1, 2) has that axis' color.
    """
    extent, dpi = axes.get_window_extent(), axes.figure.dpi
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    dx = (right - left) / (extent.width / dpi) * inches_per_meter
    dy = (top - bottom) / (extent.height / dpi) * inches_per_meter
    turned = motion.rotation_matrix
    for frame in frames:
        scene = Scene(camera)
        scene.body(motion.scenario.bodies[0], rotation=turned[frame], half=half, segments=SEGMENTS, finest=SUBDIVISION)
        scene.draw_inset(axes, (float(motion.times[frame]), (bottom + top) / 2), (dx, dy))
