"""Tops in space: the body on its axle above the pivot, and the path of its tip on a sphere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.plot.scene import Scene
from polhode.plot.style import COLOR_CYCLE, COLORS
from polhode.validation import Array

if TYPE_CHECKING:
    from polhode.massprops.body import Body

GRID_COLOR, STRIPE_COLOR = "#d9d5cc", "#b3a384"
SECTORS = 8
EULER_ANGLE_COLORS = dict(zip("φθψ", COLOR_CYCLE, strict=False))
"""Colors of the Euler angles."""


def draw_globe(scene: Scene, radius: float, thetas: tuple[float, ...] = ()) -> None:
    """A wire-frame sphere about the origin, with dashed circles at these angles from the vertical (rad)."""
    turn = np.linspace(0.0, 2 * np.pi, 97)
    circle = np.stack((np.cos(turn), np.sin(turn), np.zeros_like(turn)), axis=-1)
    right, up, _ = scene.camera
    scene.line(radius * (np.outer(np.cos(turn), right) + np.outer(np.sin(turn), up)), GRID_COLOR, width=1.2)
    for theta in np.pi * np.arange(1, 6) / 6:
        scene.line(radius * _latitude_circle(circle, theta), GRID_COLOR, width=0.6)
    for k in range(SECTORS // 2):
        angle = 2 * np.pi * k / SECTORS
        direction = np.array((np.cos(angle), np.sin(angle), 0.0))
        scene.line(
            radius * (np.outer(np.sin(turn), direction) + np.outer(np.cos(turn), (0, 0, 1))), GRID_COLOR, width=0.6
        )
    for theta in thetas:
        dash: Any = (0, (4, 3))
        scene.line(radius * _latitude_circle(circle, theta), COLORS["muted"], width=0.9, style=dash)


def _latitude_circle(circle: Array, theta: float) -> Array:
    return np.asarray(circle * np.sin(theta) + np.array((0.0, 0.0, np.cos(theta))))


def draw_top(
    scene: Scene, body: Body, position: Any, rotation: Any, tip: float, foot: float, alpha: float = 1.0
) -> None:
    """A body with colored sectors, on an axle from `foot` to `tip` (m along body axis 3, from its center)."""
    center, turn = np.asarray(position, dtype=float), np.asarray(rotation, dtype=float)
    along = np.linspace(foot, tip, 25)[:, None] * turn[:, 2] + center
    scene.line(along, "#6b6256", width=3.0)
    scene.body(body, center, turn, color=_sector_colors, alpha=alpha)


def _sector_colors(centers: Array) -> list[str]:
    """Color every other eighth around axis 3, so that the spin is visible."""
    turn = np.arctan2(centers[:, 1], centers[:, 0])
    odd = np.floor(turn * SECTORS / (2 * np.pi)).astype(int) % 2
    return [STRIPE_COLOR if k else COLORS["body"] for k in odd]
