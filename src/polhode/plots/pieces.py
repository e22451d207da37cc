"""The faces and lines of a scene: those of a body's mesh, and how Matplotlib draws them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgba

from polhode.checks import Array
from polhode.plots.order import Piece

if TYPE_CHECKING:
    import trimesh

    from polhode.body import Body

FINEST = 7.0
"""Large faces are cut until an edge is shorter than the body's size over this, so that paths can pass before them."""


def mesh_of(body: Body | trimesh.Trimesh, segments: int) -> tuple[trimesh.Trimesh, Array]:
    """The faces, cut until they are small beside the whole, and the centre of mass in their coordinates."""
    import trimesh

    if isinstance(body, trimesh.Trimesh):
        mesh, origin = body, np.zeros(3)
    else:
        mesh, origin = body.mesh(segments), np.asarray(body.center_of_mass)
    size = float(np.ptp(np.asarray(mesh.vertices), axis=0).max())
    if float(mesh.edges_unique_length.max()) <= size / FINEST:
        return mesh, origin
    corners, faces = trimesh.remesh.subdivide_to_size(mesh.vertices, mesh.faces, size / FINEST)
    return trimesh.Trimesh(corners, faces), origin


def volume(triangles: Array) -> float:
    """What the triangles (n, 3, 3) enclose; 0 of a flat body."""
    a, b, c = np.moveaxis(triangles, 1, 0)
    return abs(float((a * np.cross(b, c)).sum())) / 6


def rim(faces: Array) -> Array:
    """The edges that belong to one face alone, (n, 2)."""
    edges = np.sort(np.concatenate((faces[:, :2], faces[:, 1:], faces[:, ::2])), axis=1)
    unique, counts = np.unique(edges, axis=0, return_counts=True)
    rim: Array = unique[counts == 1]
    return rim


def _draw_faces(axes: Axes, pieces: list[Piece], order: float) -> None:
    colours = [piece.style for piece in pieces]
    shapes: Any = [piece.points for piece in pieces]
    opaque = all(c[3] == 1.0 for c in colours)  # a thin edge hides the seams; on glass it would show them
    faces = PolyCollection(
        shapes, facecolors=colours, edgecolors=colours if opaque else "none", linewidths=0.8, zorder=order
    )
    faces.set_in_layout(False)
    axes.add_collection(faces, autolim=False)


def _draw_lines(axes: Axes, pieces: list[Piece], order: float) -> None:
    segments: Any = [piece.points for piece in pieces]
    colours = [to_rgba(colour, alpha) for colour, _, _, alpha in (piece.style for piece in pieces)]
    widths = [piece.style[1] for piece in pieces]
    styles: Any = [piece.style[2] for piece in pieces]
    lines = LineCollection(
        segments, colors=colours, linewidths=widths, linestyles=styles, capstyle="round", zorder=order
    )
    lines.set_in_layout(False)
    axes.add_collection(lines, autolim=False)


def _draw_each(axes: Axes, pieces: Iterable[Piece], order: float) -> None:
    for piece in pieces:
        piece.style(axes, order)


DRAWN: dict[str, Callable[[Axes, list[Piece], float], None]] = {
    "face": _draw_faces,
    "line": _draw_lines,
    "drawn": _draw_each,
}
