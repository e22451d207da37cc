"""A 3D scene as vector graphics: bodies, arrows, paths and axes in parallel projection, drawn back to front."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb

from polhode.plot.depth_order import ScenePiece, is_hidden, sort_by_depth
from polhode.plot.drawable_mesh import SUBDIVISION, build_drawable_mesh, face_normals, split_by_plane
from polhode.plot.projection import LIGHT_DIRECTION, Camera, make_camera
from polhode.plot.scene_artists import draw_pieces
from polhode.plot.style import AXIS_COLORS, COLORS, arrow_style, draw_label, named_color
from polhode.validation import Array

if TYPE_CHECKING:
    import trimesh

    from polhode.massprops.body import Body
    from polhode.massprops.geometry import Surface

GRAZING_COSINE = 0.2
"""Faces with a smaller cosine between normal and viewing direction are drawn without edges."""
LINE_PIECE_POINTS = 3
"""Points per piece of a path; each piece has its own depth."""
SHAFT_PIECES = 24
"""Pieces of an arrow's shaft, which may begin inside a body and end in front of it."""


def world_camera(yaw: float = 0.6, pitch: float = 0.4) -> Camera:
    """A camera with world z up; at yaw 0 and pitch 0 it looks from -y, with x to the right.  Angles in rad."""
    return make_camera((1.0, 0.0, 0.0), (0.0, 0.0, 1.0), yaw, pitch)


@dataclass
class Scene:
    """Collects objects in world coordinates (m), then draws them with `draw`.

    A color is a name of `COLORS`, a place in the cycle of colors, or a color of Matplotlib.

    Examples
    --------
    >>> import polhode as ph
    >>> from polhode.plot.scene import Scene, world_camera
    >>> from polhode.plot.style import COLORS, styled_figure
    >>> scene = Scene(world_camera())
    >>> scene.body(ph.shapes.box((1, 2, 3), mass=1.0))
    >>> scene.arrow((0, 0, 0), (0, 0, 3), COLORS["omega"], "ω")
    >>> with styled_figure(4.0, 4.0) as figure:
    ...     scene.draw(figure.subplots())
    """

    camera: Camera
    _pieces: list[ScenePiece] = field(default_factory=list)
    _extent: list[Array] = field(default_factory=list)
    _labels: list[tuple[Array, tuple[float, float], str]] = field(default_factory=list)
    _entries: list[tuple[str, str, Any]] = field(default_factory=list)

    def body(
        self,
        body: Body | Surface | trimesh.Trimesh,
        position: Any = (0.0, 0.0, 0.0),
        rotation: Any = None,
        color: str | int | Callable[[Array], list[str]] = "body",
        half: int | None = None,
        half_color: str | None = None,
        alpha: float = 1.0,
        segments: int = 48,
        finest: float = SUBDIVISION,
    ) -> None:
        """A body, its center of mass at `position`, turned by the 3 x 3 matrix `rotation` (body to world).

        `half` is a body axis (0, 1, 2): the half on its side gets that axis' color, which makes rotation visible.
        `color` may be a function of the face centers (n, 3) in body axes that returns a color for each.  A mesh is
        drawn about its own origin.  Edges of faces are split to at most the body's size divided by `finest`.
        """
        skin = build_drawable_mesh(body, segments, finest)
        turn = np.eye(3) if rotation is None else np.asarray(rotation, dtype=float)
        at = np.asarray(position, dtype=float)
        triangles, edges, beside = skin.triangles, skin.edges, skin.beside
        if half is not None:
            triangles, border, normals = split_by_plane(triangles, half)
            edges, beside = (
                np.concatenate((edges, border)),
                np.concatenate((beside, normals[:, None].repeat(2, axis=1))),
            )
        colors = _face_colors(triangles.mean(axis=1), color, half, half_color)
        self._faces(triangles @ turn.T + at, colors, alpha, both_sides=skin.two_sided)
        visible = ((beside @ turn.T) @ self.camera.eye > 0).any(axis=1) | skin.two_sided
        lift = 1e-3 * float(np.ptp(skin.triangles, axis=(0, 1)).max())
        for pair in edges[visible] @ turn.T + at + lift * self.camera.eye:
            self._line_piece(pair, ("#3a3a3a", 0.6, "solid", alpha))

    def surface(self, corners: Any, faces: Any, color: str | int, alpha: float = 1.0) -> None:
        """Two-sided triangles."""
        triangles = np.asarray(corners, dtype=float)[np.asarray(faces)]
        self._faces(triangles, np.array([to_rgb(named_color(color))] * len(triangles)), alpha, both_sides=True)

    def _faces(self, triangles: Array, colors: Array, alpha: float, both_sides: bool = False) -> None:
        facing, shaded = shade_faces(triangles, colors, self.camera, both_sides)
        flat, depths = self.camera.flat(triangles), triangles @ self.camera.eye
        middles = depths.mean(axis=1)
        for i in np.flatnonzero(facing > 0):
            color = (*shaded[i], alpha)
            # A thin edge hides the seams; on a transparent face it would show them, and cover a grazing face.
            style = (color, alpha == 1.0 and facing[i] > GRAZING_COSINE)
            self._pieces.append(ScenePiece(float(middles[i]), "face", flat[i], style, depths[i]))
        self._extent.append(flat.reshape(-1, 2))

    def _line_piece(self, points: Array, style: Any) -> None:
        depths = points @ self.camera.eye
        self._pieces.append(ScenePiece(float(depths.mean()), "line", self.camera.flat(points), style, depths))

    def line(
        self,
        points: Any,
        color: str | int,
        label: str = "",
        width: float = 1.6,
        style: Any = "solid",
        alpha: float = 1.0,
    ) -> None:
        """A path through points (n, 3); a label adds a legend entry."""
        path = np.asarray(points, dtype=float)
        size = len(path) if style != "solid" else LINE_PIECE_POINTS
        color = named_color(color)
        flat, depths, options = self.camera.flat(path), path @ self.camera.eye, (color, width, style, alpha)
        for i in range(0, len(path) - 1, size):
            part = slice(i, i + size + 1)
            self._pieces.append(ScenePiece(float(depths[part].mean()), "line", flat[part], options, depths[part]))
        self._extent.append(flat)
        if label:
            self._entries.append((label, color, style))

    def arrow(self, start: Any, vector: Any, color: str | int, label: str = "", width: float = 2.0) -> None:
        """An arrow from a point, labeled at its tip."""
        color = named_color(color)
        ends = np.stack((np.asarray(start, dtype=float), np.asarray(start, dtype=float) + np.asarray(vector)))
        flat = self.camera.flat(ends)
        along = flat[1] - flat[0]
        length = float(np.hypot(*along))
        self._extent.append(flat)
        if length <= 1e-9 * float(np.linalg.norm(vector)):  # toward the viewer: a dot
            self.dot(start, color, label=label)
            return
        shaft = ends[0] + np.linspace(0.0, 1.0, SHAFT_PIECES + 1)[:, None] * (ends[1] - ends[0])
        for i in range(SHAFT_PIECES - 1):
            self._line_piece(shaft[i : i + 2], (color, width, "solid", 1.0))
        head = self.camera.flat(shaft[-2:])

        def draw(axes: Axes, order: float) -> None:
            place: Any = {"xy": tuple(head[1]), "xytext": tuple(head[0]), "annotation_clip": False}
            axes.annotate("", arrowprops=arrow_style(color, width), zorder=order, **place)

        depths = shaft[-2:] @ self.camera.eye
        self._pieces.append(ScenePiece(float(depths.mean()), "drawn", head, draw, depths))
        if label:
            self.text(ends[1], label, color, tuple(7.0 * along / length))

    def dot(self, point: Any, color: str | int, size: float = 5.0, label: str = "") -> None:
        """A dot; `size` in points."""
        at = np.asarray(point, dtype=float)
        flat = self.camera.flat(at)
        self._extent.append(flat[None])

        def draw(axes: Axes, order: float) -> None:
            axes.plot(*flat, marker="o", markersize=size, color=named_color(color), zorder=order)

        depth = float(at @ self.camera.eye)
        self._pieces.append(ScenePiece(depth, "drawn", flat[None], draw, np.array([depth])))
        if label:
            self.text(at, label, color, (6.0, 6.0))

    def text(self, point: Any, text: str, color: str | int = "ink", offset: tuple[float, float] = (0, 0)) -> None:
        """Text near a point, `offset` in points, in front of everything else, with a thin white outline."""
        flat = self.camera.flat(np.asarray(point, dtype=float))
        self._labels.append((flat, offset, text))

        def draw(axes: Axes, order: float) -> None:
            draw_label(axes, flat, text, offset, named_color(color), order + 1e4)

        self._pieces.append(ScenePiece(np.inf, "drawn", flat[None], draw, None))

    def triad(
        self,
        origin: Any,
        length: float,
        rotation: Any = None,
        names: tuple[str, str, str] = ("1", "2", "3"),
        colors: tuple[str, str, str] = AXIS_COLORS,
    ) -> None:
        """Three axes, by default those of a body in their colors."""
        turn = np.eye(3) if rotation is None else np.asarray(rotation, dtype=float)
        for i in range(3):
            self.arrow(origin, length * turn[:, i], colors[i], names[i])

    def world_axes(self, length: float, origin: Any = (0.0, 0.0, 0.0)) -> None:
        """The world axes x, y and z, in a muted color."""
        self.triad(origin, length, names=("x", "y", "z"), colors=(COLORS["muted"],) * 3)

    def draw(self, axes: Axes, title: str = "", margin: float = 0.06, legend: Any = "upper left") -> None:
        """Draw everything back to front, into axes without a frame and with equal scales."""
        draw_pieces(axes, sort_by_depth(self._pieces), 2.0)
        if self._extent:
            (left, right), (bottom, top) = self._limits(axes, margin)
            axes.set_xlim(left, right)
            axes.set_ylim(bottom, top)
        axes.set_aspect("equal")
        axes.axis("off")
        if title:
            axes.set_title(title)
        for label, color, style in self._entries:
            axes.plot([], [], color=color, linestyle=style, label=label)
        if self._entries:
            axes.legend(loc=legend, borderaxespad=0.0)

    def hides(self, point: Any) -> bool:
        """Whether a face collected so far hides this point."""
        at = np.asarray(point, dtype=float)
        return is_hidden(self._pieces, self.camera.flat(at), float(at @ self.camera.eye))

    def draw_inset(self, axes: Axes, at: tuple[float, float], scale: tuple[float, float]) -> None:
        """Draw faces and lines only, about a point of axes of another plot: `scale` in axis units per meter."""
        before = len(axes.collections)
        ordered = [piece for piece in sort_by_depth(self._pieces) if piece.kind != "drawn"]
        size, place = np.array(scale), np.array(at)
        moved = [ScenePiece(p.depth, p.kind, p.points * size + place, p.style, p.depths) for p in ordered]
        draw_pieces(axes, moved, 3.0)
        for collection in list(axes.collections)[before:]:
            collection.set_clip_on(False)

    def _limits(self, axes: Axes, margin: float) -> tuple[tuple[float, float], tuple[float, float]]:
        """Limits in x and y that include everything, with space for the labels, whose size does not scale.

        Without that space a label at the top would overlap the title, and one at the edge would be cut off.
        """
        points = np.concatenate([*self._extent, *(flat[None] for flat, _, _ in self._labels)])
        low, high = points.min(axis=0), points.max(axis=0)
        room = margin * float((high - low).max())
        if self._labels:
            extent = axes.get_window_extent()
            space = np.array((extent.width, extent.height)) * (72 / axes.figure.dpi)
            low, high = _widen_for_labels(low, high, self._labels, space)
        return (low[0] - room, high[0] + room), (low[1] - room, high[1] + room)


def shade_faces(triangles: Array, colors: Array, camera: Camera, two_sided: bool) -> tuple[Array, Array]:
    """The cosine between each face's normal and the direction to the viewer, and the color (n, 3) of the lit face."""
    normals = face_normals(triangles) @ np.stack(camera).T
    if two_sided:
        normals = normals * np.where(normals[:, 2:] < 0, -1.0, 1.0)
    strength = 0.70 + 0.30 * np.clip(normals @ (LIGHT_DIRECTION / np.linalg.norm(LIGHT_DIRECTION)), 0.0, None)
    return normals[:, 2], strength[:, None] * colors


def _face_colors(
    centers: Array, color: str | int | Callable[[Array], list[str]], half: int | None, half_color: str | None
) -> Array:
    """The color of each face by its center, (n, 3)."""
    if callable(color):
        return np.array([to_rgb(named_color(c)) for c in color(centers)])
    own = to_rgb(named_color(color))
    other = own if half is None else to_rgb(half_color or AXIS_COLORS[half])
    return np.where((centers[:, [half or 0]] > 0) & (half is not None), other, own)


def _widen_for_labels(
    low: Array, high: Array, labels: list[tuple[Array, tuple[float, float], str]], space: Array
) -> Any:
    """Widen the limits for the labels, iterating with the resulting scale; `space` in points."""
    first = low, high
    for _ in range(8):
        point = float(((high - low) / np.maximum(space, 1.0)).max())
        low, high = first
        for flat, offset, text in labels:
            lines = text.split("\n")
            size = np.array((6.5 * max(map(len, lines)), 13.0 * len(lines)))
            shift = np.array(offset)
            start = flat + point * (shift - np.where(shift >= 3, 0.0, np.where(shift <= -3, size, size / 2)))
            low, high = np.minimum(low, start), np.maximum(high, start + point * size)
    return low, high
