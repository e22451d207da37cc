"""Things in space drawn on paper: bodies, arrows, paths and axes in parallel projection, the far ones first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgb, to_rgba
from matplotlib.patheffects import withStroke

from polhode.checks import Array
from polhode.plots.projection import LIGHT, Camera, camera
from polhode.plots.style import AXES, COLOURS

if TYPE_CHECKING:
    import trimesh

    from polhode.body import Body

FINEST = 7.0
"""Large faces are cut until an edge is shorter than the body's size over this, so that paths can pass before them."""
SHARP = 0.35
"""Edges between faces that differ by more than this many rad are drawn."""
PIECE = 6
"""A path is cut into pieces of so many points, each with its own depth."""


def world_camera(yaw: float = 0.6, pitch: float = 0.4) -> Camera:
    """A camera with the world's z upwards; at yaw 0, pitch 0 it sees x to the right, from -y.  In rad."""
    return camera((1.0, 0.0, 0.0), (0.0, 0.0, 1.0), yaw, pitch)


@dataclass(frozen=True)
class _Piece:
    """Something of one depth: a face or a part of a path, or a function that draws."""

    depth: float
    kind: str
    points: Array
    style: Any


@dataclass
class Scene:
    """Collects things at places of the world (m), then draws them with `draw`.

    Examples
    --------
    >>> import polhode as ph
    >>> from polhode.plots.scene import Scene, world_camera
    >>> from polhode.plots.style import COLOURS, sheet
    >>> scene = Scene(world_camera())
    >>> scene.body(ph.shapes.box((1, 2, 3), mass=1.0))
    >>> scene.arrow((0, 0, 0), (0, 0, 3), COLOURS["omega"], "ω")
    >>> with sheet(4.0, 4.0) as figure:
    ...     scene.draw(figure.subplots())
    """

    seen: Camera
    _pieces: list[_Piece] = field(default_factory=list)
    _extent: list[Array] = field(default_factory=list)
    _entries: list[tuple[str, str, Any]] = field(default_factory=list)

    def body(
        self,
        body: Body | trimesh.Trimesh,
        position: Any = (0.0, 0.0, 0.0),
        rotation: Any = None,
        colour: str | Callable[[Array], list[str]] = COLOURS["body"],
        half: int | None = None,
        half_colour: str | None = None,
        alpha: float = 1.0,
        segments: int = 48,
    ) -> None:
        """A body, its centre of mass at `position`, turned by the 3 x 3 matrix `rotation` (body to world).

        `half` names a body axis (0, 1, 2): the half towards it gets that axis' colour, so that a turn shows.  Or
        `colour` is a function of the faces' centres (n, 3) in body axes that gives a colour for each.  A trimesh is
        taken as it is, about its own origin.
        """
        mesh, origin = _mesh_of(body, segments)
        turn = np.eye(3) if rotation is None else np.asarray(rotation, dtype=float)
        own = np.asarray(mesh.vertices) - origin
        corners = own @ turn.T + np.asarray(position, dtype=float)
        faces, centres = np.asarray(mesh.faces), own[np.asarray(mesh.faces)].mean(axis=1)
        if callable(colour):
            colours = [to_rgb(c) for c in colour(centres)]
        elif half is not None:
            other = to_rgb(half_colour or AXES[half])
            colours = [other if c[half] > 0 else to_rgb(colour) for c in centres]
        else:
            colours = [to_rgb(colour)] * len(faces)
        self._faces(corners, faces, np.array(colours), alpha)
        self._sharp_edges(mesh, corners, alpha)

    def surface(self, corners: Any, faces: Any, colour: str, alpha: float = 1.0) -> None:
        """Any triangles, seen from both sides."""
        points, indices = np.asarray(corners, dtype=float), np.asarray(faces)
        self._faces(points, indices, np.array([to_rgb(colour)] * len(indices)), alpha, both_sides=True)

    def _faces(self, corners: Array, faces: Array, colours: Array, alpha: float, both_sides: bool = False) -> None:
        triangles = corners[faces]
        normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), np.finfo(float).tiny)
        towards = normals @ np.stack(self.seen).T
        if both_sides:
            towards = towards * np.where(towards[:, 2:] < 0, -1.0, 1.0)
        strength = 0.70 + 0.30 * np.clip(towards @ (LIGHT / np.linalg.norm(LIGHT)), 0.0, None)
        depths = triangles.mean(axis=1) @ self.seen.eye
        for i in np.flatnonzero(towards[:, 2] > 0):
            style = (*(strength[i] * colours[i]), alpha)
            self._pieces.append(_Piece(float(depths[i]), "face", self.seen.flat(triangles[i]), style))
        self._extent.append(self.seen.flat(corners))

    def _sharp_edges(self, mesh: trimesh.Trimesh, corners: Array, alpha: float) -> None:
        sharp = np.asarray(mesh.face_adjacency_angles) > SHARP
        pairs = np.asarray(mesh.face_adjacency)[sharp]
        normals = np.cross(*np.moveaxis(np.diff(corners[mesh.faces], axis=1), 1, 0))
        front = ((normals @ self.seen.eye)[pairs] > 0).any(axis=1)
        lift = 1e-3 * float(np.ptp(corners, axis=0).max())
        for a, b in corners[np.asarray(mesh.face_adjacency_edges)[sharp][front]]:
            ends = np.stack((a, b))
            style = ("#3a3a3a", 0.6, "solid", alpha)
            self._pieces.append(
                _Piece(float((ends @ self.seen.eye).mean()) + lift, "line", self.seen.flat(ends), style)
            )

    def line(
        self,
        points: Any,
        colour: str,
        label: str = "",
        width: float = 1.6,
        style: Any = "solid",
        alpha: float = 1.0,
    ) -> None:
        """A path through points (n, 3); with a label it gets an entry in the legend."""
        path = np.asarray(points, dtype=float)
        depths, flat = path @ self.seen.eye, self.seen.flat(path)
        size = len(path) if style != "solid" else PIECE
        for i in range(0, len(path) - 1, size):
            part = slice(i, i + size + 1)
            self._pieces.append(_Piece(float(depths[part].mean()), "line", flat[part], (colour, width, style, alpha)))
        self._extent.append(flat)
        if label:
            self._entries.append((label, colour, style))

    def arrow(self, start: Any, vector: Any, colour: str, label: str = "", width: float = 2.0) -> None:
        """An arrow from a place, with its name at the tip."""
        ends = np.stack((np.asarray(start, dtype=float), np.asarray(start, dtype=float) + np.asarray(vector)))
        flat = self.seen.flat(ends)
        along = flat[1] - flat[0]
        length = float(np.hypot(*along))
        self._extent.append(flat)
        if length <= 1e-9 * float(np.linalg.norm(vector)):  # towards the eye: a dot
            self.dot(start, colour, label=label)
            return
        look = {"arrowstyle": "-|>,head_width=0.28,head_length=0.55", "color": colour, "linewidth": width}
        look |= {"shrinkA": 0, "shrinkB": 0}

        def draw(axes: Axes, order: float) -> None:
            axes.annotate("", xy=tuple(flat[1]), xytext=tuple(flat[0]), arrowprops=look, zorder=order)

        self._pieces.append(_Piece(float((ends @ self.seen.eye).mean()), "drawn", flat, draw))
        if label:
            self.text(ends[1], label, colour, tuple(7.0 * along / length))

    def dot(self, point: Any, colour: str, size: float = 5.0, label: str = "") -> None:
        """A dot at a place; `size` in points."""
        at = np.asarray(point, dtype=float)
        flat = self.seen.flat(at)
        self._extent.append(flat[None])

        def draw(axes: Axes, order: float) -> None:
            axes.plot(*flat, marker="o", markersize=size, color=colour, zorder=order)

        self._pieces.append(_Piece(float(at @ self.seen.eye), "drawn", flat, draw))
        if label:
            self.text(at, label, colour, (6.0, 6.0))

    def text(self, point: Any, text: str, colour: str = COLOURS["ink"], offset: tuple[float, float] = (0, 0)) -> None:
        """Words near a place, `offset` in points, before everything else, with a thin white edge."""
        flat = self.seen.flat(np.asarray(point, dtype=float))
        self._extent.append(flat[None])
        across, upwards = offset

        def draw(axes: Axes, order: float) -> None:
            axes.annotate(
                text,
                xy=tuple(flat),
                xytext=offset,
                textcoords="offset points",
                color=colour,
                ha="center" if abs(across) < 3 else "left" if across > 0 else "right",
                va="center" if abs(upwards) < 3 else "bottom" if upwards > 0 else "top",
                fontsize=10.5,
                zorder=order + 1e4,
                path_effects=[withStroke(linewidth=2.5, foreground="white")],
            )

        self._pieces.append(_Piece(np.inf, "drawn", flat, draw))

    def triad(
        self,
        origin: Any,
        length: float,
        rotation: Any = None,
        names: tuple[str, str, str] = ("1", "2", "3"),
        colours: tuple[str, str, str] = AXES,
    ) -> None:
        """Three axes: those of a body in their colours, or the world's with `names` x, y, z and a muted colour."""
        turn = np.eye(3) if rotation is None else np.asarray(rotation, dtype=float)
        for i in range(3):
            self.arrow(origin, length * turn[:, i], colours[i], names[i])

    def world_axes(self, length: float, origin: Any = (0.0, 0.0, 0.0)) -> None:
        """The axes x, y and z of the world, muted."""
        self.triad(origin, length, names=("x", "y", "z"), colours=(COLOURS["muted"],) * 3)

    def draw(self, axes: Axes, title: str = "", margin: float = 0.06, legend: Any = "upper left") -> None:
        """Everything, the far things first, into axes without a frame, the same scale both ways."""
        ordered = sorted(self._pieces, key=lambda piece: piece.depth)
        for order, (kind, run) in enumerate(groupby(ordered, key=lambda piece: piece.kind)):
            _DRAWN[kind](axes, list(run), 2 + 0.001 * order)
        if self._extent:
            points = np.concatenate(self._extent)
            low, high = points.min(axis=0), points.max(axis=0)
            room = margin * float((high - low).max())
            axes.set_xlim(low[0] - room, high[0] + room)
            axes.set_ylim(low[1] - room, high[1] + room)
        axes.set_aspect("equal")
        axes.axis("off")
        if title:
            axes.set_title(title)
        for label, colour, style in self._entries:
            axes.plot([], [], color=colour, linestyle=style, label=label)
        if self._entries:
            axes.legend(loc=legend, borderaxespad=0.0)


def _mesh_of(body: Body | trimesh.Trimesh, segments: int) -> tuple[trimesh.Trimesh, Array]:
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


def _draw_faces(axes: Axes, pieces: list[_Piece], order: float) -> None:
    colours = [piece.style for piece in pieces]
    shapes: Any = [piece.points for piece in pieces]
    opaque = all(c[3] == 1.0 for c in colours)  # a thin edge hides the seams; on glass it would show them
    axes.add_collection(
        PolyCollection(
            shapes, facecolors=colours, edgecolors=colours if opaque else "none", linewidths=0.4, zorder=order
        )
    )


def _draw_lines(axes: Axes, pieces: list[_Piece], order: float) -> None:
    segments: Any = [piece.points for piece in pieces]
    colours = [to_rgba(colour, alpha) for colour, _, _, alpha in (piece.style for piece in pieces)]
    widths = [piece.style[1] for piece in pieces]
    styles: Any = [piece.style[2] for piece in pieces]
    axes.add_collection(
        LineCollection(segments, colors=colours, linewidths=widths, linestyles=styles, capstyle="round", zorder=order)
    )


def _draw_each(axes: Axes, pieces: Iterable[_Piece], order: float) -> None:
    for piece in pieces:
        piece.style(axes, order)


_DRAWN: dict[str, Callable[[Axes, list[_Piece], float], None]] = {
    "face": _draw_faces,
    "line": _draw_lines,
    "drawn": _draw_each,
}
