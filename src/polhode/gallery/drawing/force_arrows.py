"""A body and the forces on it, in a scene."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.plot.style import COLORS

if TYPE_CHECKING:
    from polhode.massprops.body import Body
    from polhode.plot.scene import Scene
    from polhode.results.motion import Motion
    from polhode.validation import Array

FORCE_COLOR = COLORS["force"]


def move_toward_camera(scene: Scene, points: Any, by: float) -> Array:
    """Points moved toward the viewer by a distance in m: their projection is unchanged, and nothing hides them."""
    return np.asarray(np.asarray(points, dtype=float) + by * scene.camera.eye)


def draw_force(scene: Scene, point: Any, vector: Any, name: str = "", color: str = FORCE_COLOR) -> None:
    """A force as an arrow whose tip is at its point of application, labeled at the other end."""
    at, along = np.asarray(point, dtype=float), np.asarray(vector, dtype=float)
    scene.arrow(at - along, along, color)
    if name:
        away = scene.camera.flat(-along)
        scene.text(at - along, name, color, tuple(9.0 * away / max(float(np.hypot(*away)), 1e-300)))


def draw_body_at_times(
    scene: Scene,
    motion: Motion,
    body: Body,
    frames: Sequence[int],
    forces: Sequence[tuple[Any, Any, str]] = (),
    half: int | None = None,
    name_at: int = 0,
) -> None:
    """A body at some output times, with the forces on it: (point of the body, arrow in world axes, name) each.

    The labels are drawn at entry `name_at` of `frames`.
    """
    for n, frame in enumerate(frames):
        place, turn = motion.position[frame], motion.rotation_matrix[frame]
        scene.body(body, place, turn, half=half)
        for point, arrow, name in forces:
            draw_force(scene, place + turn @ np.asarray(point, dtype=float), arrow, name if n == name_at else "")
