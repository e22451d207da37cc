"""What the pictures of the gallery are drawn with: panels of curves, scenes in space, flat elements by depth."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb, to_rgba
from matplotlib.patches import Circle, Polygon

from polhode import affine
from polhode.gallery.pictures import Closed, Curves, DrawPanel, Line
from polhode.plot.log_axes import mask_nonpositive, set_log_x, set_log_y
from polhode.plot.panels import format_time_axis, mark_impacts
from polhode.plot.projection import Camera
from polhode.plot.scene import Scene, world_camera
from polhode.plot.style import COLORS, add_legend_above, arrow_style, draw_closed_form, draw_label, named_color
from polhode.validation import Array

if TYPE_CHECKING:
    from polhode.massprops.body import Body
    from polhode.results.motion import Motion

DASHES: dict[str, Any] = {"--": (0, (5, 3)), "-": "solid", ":": (0, (2, 2)), "": "none"}
GRID_COLOR, STRIPE_COLOR = "#d9d5cc", "#b3a384"
SECTORS = 8
"""Colored sectors of a top, which make its spin visible."""


def draw_curves(axes: Axes, panel: Curves) -> None:
    """Draw a declared panel."""
    times: Any = None if panel.over is None else panel.over.times
    if "x" in panel.log:
        set_log_x(axes, panel.x_ticks or ())
    if "y" in panel.log:
        set_log_y(axes, panel.most_ticks)
    for y, label, x in [panel.closed] if isinstance(panel.closed, Closed) else panel.closed:
        draw_closed_form(axes, times if x is None else x, y, label)
    if panel.stacked:
        colors = [named_color(k if line.color is None else line.color) for k, line in enumerate(panel.stacked)]
        labels = [line.label for line in panel.stacked]
        axes.stackplot(times, *(line.y for line in panel.stacked), colors=colors, alpha=0.75, labels=labels)
    for corners, label, color, filled, alpha in panel.shapes:
        edge, dashed = (
            to_rgba(named_color(color), min(1.0, 0.35 + 2 * alpha)),
            {"fill": False, "linestyle": (0, (4, 2))},
        )
        face: dict[str, Any] = {"facecolor": to_rgba(named_color(color), alpha)} if filled else dashed
        axes.fill(*np.transpose(corners), edgecolor=edge, linewidth=1.5 if filled else 1.1, label=label, **face)
    for k, line in enumerate([panel.lines] if isinstance(panel.lines, Line) else panel.lines):
        _draw_line(axes, line, times, k, "y" in panel.log)
    thin: dict[str, Any] = {"color": COLORS["muted"], "linewidth": 0.9, "linestyle": (0, (3, 3))}
    for level in panel.levels:
        axes.axhline(level, **thin)
    for place in panel.marks:
        axes.axvline(place, **thin)
    for start, vector, color, label in panel.arrows:
        _draw_arrow(axes, np.asarray(start, dtype=float), np.asarray(vector, dtype=float), named_color(color), label)
    axes.set_title(panel.title)
    axes.set_ylabel(panel.up)
    if panel.over is not None:
        format_time_axis(axes, panel.over)
    axes.set_xlabel(panel.across)
    _set_limits(axes, panel)
    transforms = {"data": axes.transData, "width": axes.get_yaxis_transform(), "panel": axes.transAxes}
    for (x, y), text, within, (ha, va), color, size in panel.notes:
        look: dict[str, Any] = {"ha": ha, "va": va, "fontsize": size, "transform": transforms[within]}
        axes.text(x, y, text, color=named_color(color), **look)
    if panel.impacts and panel.over is not None:
        mark_impacts(axes, panel.over)
    if panel.also is not None:
        panel.also(axes)
    _add_legend(axes, panel.legend)


def _draw_line(axes: Axes, line: Line, times: Any, place: int, positive: bool) -> None:
    marker = line.style.strip("-:")
    look: dict[str, Any] = {"color": named_color(place if line.color is None else line.color), "label": line.label}
    look |= {"linestyle": DASHES[line.style.removesuffix(marker)], "marker": marker, "markersize": line.size or 5}
    look |= {"linewidth": line.width} if line.width else {}
    y = np.asarray(line.y, dtype=float)
    axes.plot(times if line.x is None else line.x, mask_nonpositive(y) if positive else y, **(look | dict(line.look)))


def _draw_arrow(axes: Axes, start: Array, vector: Array, color: str, label: str) -> None:
    end = start + vector
    axes.annotate("", xy=tuple(end), xytext=tuple(start), arrowprops=arrow_style(color, 2.0, 0.26, 0.5), zorder=4)
    axes.plot(*np.stack((start, end)).T, alpha=0.0)
    offset = (6.0, 6.0) if vector[0] * vector[1] <= 0 else (6.0, -6.0)
    draw_label(axes, (start + end) / 2, label, offset, color, 5.0, fontsize=9.5)


def _set_limits(axes: Axes, panel: Curves) -> None:
    if panel.x is not None:
        axes.set_xlim(*panel.x)
    if panel.y is not None:
        axes.set_ylim(*panel.y)
    if panel.x_ticks is not None and "x" not in panel.log:
        axes.set_xticks(panel.x_ticks)
    if panel.y_ticks is not None:
        axes.set_yticks(panel.y_ticks)
    if panel.downward:
        axes.ticklabel_format(useOffset=False)
        axes.invert_yaxis()
    if panel.equal:
        axes.set_aspect("equal", adjustable=panel.equal)  # type: ignore[arg-type]


def _add_legend(axes: Axes, legend: str | tuple[int, int] | None) -> None:
    entries = len(axes.get_legend_handles_labels()[1])
    if not entries:
        return
    if legend is None:
        add_legend_above(axes, entries)
    elif isinstance(legend, str):
        axes.legend(loc=legend, borderaxespad=0.2, handlelength=1.4)  # type: ignore[call-overload]
    else:
        columns, rows = legend
        axes.set_title(axes.get_title(loc="left"), pad=10.0 + 13.5 * rows)
        place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (-0.01, 0.985), "borderaxespad": 0.2}
        axes.legend(ncols=columns, columnspacing=1.0, handlelength=1.4, handletextpad=0.5, labelspacing=0.3, **place)


class GalleryScene(Scene):
    """A scene in space with forces, floors, bodies at several times, and tops."""

    def panel(
        self,
        title: str = "",
        margin: float = 0.06,
        legend: Any = "upper left",
        x: tuple[float, float] | None = None,
        y: tuple[float, float] | None = None,
        anchor: str = "C",
    ) -> DrawPanel:
        """The panel that shows it, with these limits if given."""

        def draw(axes: Axes) -> None:
            axes.set_anchor(anchor)
            self.draw(axes, title, margin, legend)
            if x is not None:
                axes.set_xlim(x)
            if y is not None:
                axes.set_ylim(y)

        return draw

    def toward(self, points: Any, by: float) -> Array:
        """Points moved toward the viewer by a distance in m: their projection is unchanged, and nothing hides them."""
        return np.asarray(np.asarray(points, dtype=float) + by * self.camera.eye)

    def force(self, point: Any, vector: Any, name: str = "", color: str = "force") -> None:
        """A force as an arrow whose tip is at its point of application, labeled at the other end."""
        at, along = np.asarray(point, dtype=float), np.asarray(vector, dtype=float)
        self.arrow(at - along, along, color)
        if name:
            away = self.camera.flat(-along)
            self.text(at - along, name, color, tuple(9.0 * away / max(float(np.hypot(*away)), 1e-300)))

    def ground(self, start: Any, end: Any, hatch: float) -> None:
        """The edge of a floor or slope from one point to another, hatched below; `hatch` is the length of a stroke."""
        a, b = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
        self.line((a, b), "ink", width=1.6)
        along = (b - a) / np.linalg.norm(b - a)
        below = np.cross(along, (0.0, -1.0, 0.0))
        for foot in a + np.arange(hatch, np.linalg.norm(b - a), hatch)[:, None] * along:
            self.line((foot, foot + hatch * (below - along) / np.sqrt(2)), "muted", width=0.7)

    def frames(self, motion: Motion, frames: Any, apart: Any = (0.0, 0.0, 0.0), **look: Any) -> None:
        """The body of a motion at these outputs, each moved by `apart` from the one before."""
        for n, frame in enumerate(frames):
            place = motion.position[frame] + n * np.asarray(apart, dtype=float)
            self.body(motion.scenario.bodies[0], place, motion.rotation_matrix[frame], **look)

    def globe(self, radius: float, thetas: tuple[float, ...] = ()) -> None:
        """A wire-frame sphere about the origin, with dashed circles at these angles from the vertical (rad)."""
        turn = np.linspace(0.0, 2 * np.pi, 97)
        circle = np.stack((np.cos(turn), np.sin(turn), np.zeros_like(turn)), axis=-1)
        right, up, _ = self.camera

        def latitude(theta: float) -> Array:
            return np.asarray(radius * (circle * np.sin(theta) + np.array((0.0, 0.0, np.cos(theta)))))

        self.line(radius * (np.outer(np.cos(turn), right) + np.outer(np.sin(turn), up)), GRID_COLOR, width=1.2)
        for theta in np.pi * np.arange(1, 6) / 6:
            self.line(latitude(theta), GRID_COLOR, width=0.6)
        for angle in 2 * np.pi * np.arange(SECTORS // 2) / SECTORS:
            direction = np.array((np.cos(angle), np.sin(angle), 0.0))
            meridian = np.outer(np.sin(turn), direction) + np.outer(np.cos(turn), (0, 0, 1))
            self.line(radius * meridian, GRID_COLOR, width=0.6)
        for theta in thetas:
            self.line(latitude(theta), "muted", width=0.9, style=(0, (4, 3)))

    def top(self, body: Body, position: Any, rotation: Any, tip: float, foot: float) -> None:
        """A body with colored sectors, on an axle from `foot` to `tip` (m along body axis 3, from its center)."""
        center, turn = np.asarray(position, dtype=float), np.asarray(rotation, dtype=float)
        self.line(np.linspace(foot, tip, 25)[:, None] * turn[:, 2] + center, "#6b6256", width=3.0)
        self.body(body, center, turn, color=_sector_colors)


def _sector_colors(centers: Array) -> list[str]:
    """Color every other eighth around axis 3, so that the spin is visible."""
    turn = np.arctan2(centers[:, 1], centers[:, 0])
    odd = np.floor(turn * SECTORS / (2 * np.pi)).astype(int) % 2
    return [STRIPE_COLOR if k else COLORS["body"] for k in odd]


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


@dataclass
class DepthLayers:
    """Collects flat elements in space, then draws them seen from the positive end of an axis.

    Examples
    --------
    >>> from polhode.gallery.drawing import DepthLayers
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
        face = (*to_rgb(named_color(color)), alpha)
        options: dict[str, Any] = {"facecolor": face, "edgecolor": COLORS["ink"], "linewidth": 1.0}
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

    def panel(self, title: str, by_depth: bool = True, reach: float | None = None) -> DrawPanel:
        """The panel that shows it; with `reach`, from -reach to reach on both axes."""

        def draw(axes: Axes) -> None:
            self.draw(axes, title, by_depth)
            if reach is not None:
                axes.set(xlim=(-reach, reach), ylim=(-reach, reach))

        return draw

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
