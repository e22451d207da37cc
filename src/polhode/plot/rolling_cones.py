"""The body cone that rolls on the space cone in the free rotation of a symmetric body."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from polhode.errors import InputError
from polhode.plot.free_rotation_data import FreeRotationData, extract_free_rotation
from polhode.plot.scene import Scene
from polhode.plot.style import AXIS_COLORS, COLORS
from polhode.reference.poinsot import cones
from polhode.results.trajectory import Trajectory
from polhode.validation import Array

CONE_SEGMENTS, CONE_RINGS = 72, 8
"""Faces of a cone around its axis, and along it."""


def cone_axes(motion: Trajectory, time: float | None = None) -> tuple[Array, Array, Array]:
    """The unit vectors along L, along the symmetry axis (toward w), and along w, in the world at a time (s)."""
    body, axis = _require_symmetric(motion)
    k = body.frame_at(time)
    sign = -1.0 if body.rates[k, axis] < 0 else 1.0
    w = body.rates_world[k]
    return body.along_l, sign * body.turns[k][:, axis], w / np.linalg.norm(w)


def draw_cones(axes: Axes, motion: Trajectory, time: float | None = None) -> None:
    """Both cones at a time (s), by default the first output, with w along their line of contact.

    The rims are the paths of the tip of w, on the space cone in the world and on the body cone in the body.
    """
    body, axis = _require_symmetric(motion)
    k = body.frame_at(time)
    along_l, symmetry, along_w = cone_axes(motion, time)
    angles = cones(body.moments, body.rates[0], axis)
    size = float(np.linalg.norm(body.rates_world[k]))
    is_flat = body.moments[axis] > body.moments[axis - 1]
    scene = Scene(body.camera(body.across(symmetry), -0.45, 0.3))
    for direction, angle, color, name in (
        (along_l, angles.space, COLORS["L"], "space cone"),
        (symmetry, angles.body, AXIS_COLORS[axis], "body cone"),
    ):
        corners, faces = _cone_mesh(direction, angle, size)
        scene.surface(corners, faces, color, alpha=0.3)
        scene.line(_cone_rim(direction, angle, size), color, f"{name}, {np.degrees(angle):.4g}°", width=1.6)
    far = 1.3 * size
    scene.arrow((0, 0, 0), far * along_l, COLORS["L"], "L")
    scene.arrow((0, 0, 0), far * symmetry, AXIS_COLORS[axis], f"axis {axis + 1}")
    scene.arrow((0, 0, 0), size * along_w, COLORS["omega"], "ω", width=2.6)
    where = "around" if is_flat else "outside"
    scene.draw(axes, f"the body cone rolls {where} the space cone", legend="lower left")
    bottom, top = axes.get_ylim()
    axes.set_ylim(bottom - 0.2 * (top - bottom), top)
    axes.set_anchor("NW")


def _require_symmetric(motion: Trajectory) -> tuple[FreeRotationData, int]:
    body = extract_free_rotation(motion)
    axis = body.symmetry_axis
    if axis is None:
        raise InputError(
            "rolling cones need two equal principal moments and a different third one: for other bodies use "
            "draw_poinsot"
        )
    return body, axis


def _cone_rim(direction: Array, angle: float, size: float) -> Array:
    """The rim of a cone with its apex at the origin, (n, 3); `size` is its slant height."""
    first = np.eye(3)[int(np.abs(direction).argmin())]
    first = first - (first @ direction) * direction
    first /= np.linalg.norm(first)
    turn = np.linspace(0.0, 2 * np.pi, CONE_SEGMENTS + 1)[:, None]
    ring = np.cos(turn) * first + np.sin(turn) * np.cross(direction, first)
    points: Array = size * (np.cos(angle) * direction + np.sin(angle) * ring)
    return points


def _cone_mesh(direction: Array, angle: float, size: float) -> tuple[Array, Array]:
    """The lateral surface of that cone as triangles."""
    ring = _cone_rim(direction, angle, 1.0)[:-1]
    corners = np.concatenate([size * i / CONE_RINGS * ring for i in range(1, CONE_RINGS + 1)] + [np.zeros((1, 3))])
    here, after = np.arange(CONE_SEGMENTS), (np.arange(CONE_SEGMENTS) + 1) % CONE_SEGMENTS
    faces = [np.stack((np.full(CONE_SEGMENTS, len(corners) - 1), here, after), axis=1)]
    for i in range(1, CONE_RINGS):
        inner, outer = (i - 1) * CONE_SEGMENTS, i * CONE_SEGMENTS
        faces += [
            np.stack((inner + here, outer + here, outer + after), axis=1),
            np.stack((inner + here, outer + after, inner + after), axis=1),
        ]
    return corners, np.concatenate(faces)
