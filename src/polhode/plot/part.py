"""The picture of a part: two shaded views with its center of mass and its principal axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.patches import Circle, Wedge
from matplotlib.patheffects import withStroke

from polhode.errors import InertiaError
from polhode.massprops.geometry import Flags, Surface
from polhode.massprops.surface.ray_winding import intersect_vertical_rays
from polhode.plot.drawable_mesh import DrawableMesh, build_drawable_mesh
from polhode.plot.projection import DASHES, Camera
from polhode.plot.scene import shade_faces
from polhode.plot.scene_artists import SEAM_WIDTH
from polhode.plot.style import AXIS_COLORS, COLORS, XYZ_LABELS, arrow_style, format_power_of_ten, styled_figure
from polhode.validation import Array

if TYPE_CHECKING:
    import trimesh

    from polhode.massprops.body import Body

LENGTH_UNITS = (("km", 1e3), ("m", 1.0), ("mm", 1e-3), ("µm", 1e-6), ("nm", 1e-9))
SUBDIVISION = 30.0
"""Faces are split until no edge is longer than the part's size divided by this, so that they can be sorted by depth."""
SEGMENTS = 64
"""Segments per full circle of a curved shape."""
MAX_VECTOR_FACES = 5_000
"""A part with more visible faces is a bitmap in vector formats (SVG, PDF)."""
MAX_TITLE_WIDTH = 760.0
"""Maximum width of the title, in points."""
STRIP_HEIGHT = 0.75
"""Height of the strip below each view, in inches, for the scale bar and the part's own axes."""


def part_picture(body: Body, mesh: trimesh.Trimesh | None = None, name: str = "") -> Figure:
    """Draw a part: shaded, in parallel projection, with its center of mass and its three principal axes.

    The left view is from a corner; the right one along the axis of the largest moment, with the outline of the solid
    ellipsoid of the same mass and moments.  Faces are sorted by depth and drawn as vector graphics; parts with many
    faces become a bitmap in SVG and PDF, and meshes of more than 200,000 faces are simplified for drawing.

    Parameters
    ----------
    body : Body
        A single body.
    mesh : trimesh.Trimesh, optional
        A mesh to draw in place of `body.mesh()`, in the body's coordinates and in m.
    name : str, optional
        The title.

    Returns
    -------
    matplotlib.figure.Figure
        `figure.savefig("part.png")` writes it.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.part_picture(ph.shapes.box((0.1, 0.2, 0.3), mass=1.0), name="brick").get_suptitle()
    'brick'
    """
    drawable = _build_part_mesh(body, mesh)
    used = drawable.triangles.reshape(-1, 3)
    axes_body = body.principal_axes.as_matrix()
    largest = int(body.principal_moments.argmax())
    ends = _axis_ends(axes_body, used)
    length, meters = _choose_length_unit(float(np.ptp(ends.reshape(-1, 3), axis=0).max()))
    factor, inertia = _choose_moment_unit(float(body.principal_moments.max()))
    values = [f"I{'₁₂₃'[i]} = {moment / factor:.4g}" for i, moment in enumerate(body.principal_moments)]
    views = (
        (corner_camera(), f"principal axes, moments in {inertia}", values, (0.012, 0.085, 0.52, 0.785)),
        (axis_camera(axes_body, largest), f"seen along axis {largest + 1}, that of the largest moment", "123",
         (0.548, 0.085, 0.44, 0.785)),
    )  # fmt: skip
    with styled_figure(11.0, 5.8, _fit_title(name), constrained=False) as figure:
        for text in figure.texts:
            text.set_parse_math(False)  # a dollar in a file name does not start mathtext
        for camera, title, labels, place in views:
            panel = figure.add_axes(place)
            panel.set_title(title)
            panel.axis("off")
            _draw_mesh(panel, drawable, camera)
            outline = _draw_ellipsoid_outline(panel, body, camera, axes_body) if labels == "123" else None
            flat = camera.flat(ends)
            tips = [_AxisArrow(flat[i, 0], flat[i, 1], labels[i], AXIS_COLORS[i]) for i in range(3)]
            inches = _fit_limits(panel, camera.flat(used), tips, outline)
            for i, tip in enumerate(tips):
                _draw_principal_axis(panel, tip, ends[i], camera, drawable.triangles, inches)
            _draw_center_of_mass(panel, inches)
            _draw_scale_bar(panel, length, meters, inches)
            _draw_triad(panel, camera, inches)
        figure.text(0.012, 0.025, _caption(body, length, meters), fontsize=10)
    return figure


def _build_part_mesh(body: Body, mesh: trimesh.Trimesh | None) -> DrawableMesh:
    """The surface about the center of mass; a mesh given by the caller is drawn in place of the body's own."""
    if mesh is None:
        return build_drawable_mesh(body, SEGMENTS, SUBDIVISION)
    faces = np.asarray(mesh.faces, dtype=np.int64)
    if not len(faces):
        raise InertiaError("this part has no faces to draw")
    corners = np.asarray(mesh.vertices, dtype=float) - body.center_of_mass
    used, compact = np.unique(faces, return_inverse=True)
    if not np.ptp(corners[used], axis=0).any():
        raise InertiaError("all vertices of this part coincide: there is nothing to draw")
    return build_drawable_mesh(Surface(corners[used], compact.reshape(-1, 3)), SEGMENTS, SUBDIVISION)


def _draw_mesh(panel: Axes, drawable: DrawableMesh, camera: Camera) -> None:
    """Faces, the farthest first, and the sharp edges that no face hides."""
    triangles = drawable.triangles
    facing, colors = shade_faces(triangles, np.array(to_rgb(COLORS["body"])), camera, drawable.two_sided)
    visible = np.flatnonzero(facing > 1e-3)
    order = visible[np.argsort((triangles[visible] @ camera.eye).mean(axis=1))]
    panel.add_collection(
        PolyCollection(
            camera.flat(triangles[order]),  # type: ignore[arg-type]
            facecolors=colors[order],
            edgecolors="face",
            linewidths=SEAM_WIDTH,
            rasterized=len(order) > MAX_VECTOR_FACES,
        )
    )
    edges = drawable.edges[~_are_hidden(drawable.edges.mean(axis=1), triangles, camera)]
    panel.add_collection(LineCollection(list(camera.flat(edges)), colors="#3a3a3a", linewidths=0.7, capstyle="round"))


def _are_hidden(points: Array, triangles: Array, camera: Camera) -> Flags:
    """Whether a face lies in front of each of these points; a face through the point does not hide it."""
    view, place = triangles.reshape(-1, 3) @ np.stack(camera).T, points @ np.stack(camera).T
    nearest, size = np.full(len(points), -np.inf), float(np.ptp(view, axis=0).max())
    if len(points):
        # Beside an edge that two triangles share, not on it, where a ray could miss both.
        hits = intersect_vertical_rays(
            view, np.arange(len(view)).reshape(-1, 3), place[:, :2] + (1.3e-6 * size, 7e-7 * size)
        )
        np.maximum.at(nearest, hits.point, hits.height)
    hidden: Flags = nearest > place[:, 2] + 2e-3 * size
    return hidden


class _AxisArrow(NamedTuple):
    """A principal axis in the picture: its start, its end, its label and its color."""

    start: Array
    end: Array
    label: str
    color: str

    @property
    def sides(self) -> tuple[str, str]:
        """Horizontal and vertical alignment of the label at the tip."""
        across, upwards = self.end / max(float(np.linalg.norm(self.end)), 1e-300)
        horizontal = "center" if abs(across) < 0.75 else "left" if across > 0 else "right"
        return horizontal, "center" if abs(upwards) < 0.3 else "bottom" if upwards > 0 else "top"


def corner_camera() -> Camera:
    """A view from the corner between +x, +y and +z, with z up."""
    turn, rise = np.radians(35.0), np.radians(28.0)
    eye = np.array((np.cos(turn) * np.cos(rise), np.sin(turn) * np.cos(rise), np.sin(rise)))
    right = np.array((-np.sin(turn), np.cos(turn), 0.0))
    return Camera(right, np.cross(eye, right), eye)


def axis_camera(axes_body: Array, axis: int) -> Camera:
    """A view along a principal axis, with the others to the right and up."""
    right, up = (np.delete(axes_body, axis, axis=1)[:, i] for i in range(2))
    return Camera(right, up, np.cross(right, up))


def _axis_ends(axes_body: Array, corners: Array) -> Array:
    """The ends of each axis, (3, 2, 3): a little behind the part, and well in front of it."""
    along_it = corners @ axes_body
    size = float(np.ptp(corners, axis=0).max())
    low, high = along_it.min(axis=0) - 0.05 * size, along_it.max(axis=0) + 0.16 * size
    return np.stack((low[:, None] * axes_body.T, high[:, None] * axes_body.T), axis=1)


def _fit_limits(panel: Axes, points: Array, tips: list[_AxisArrow], outline: Array | None) -> float:
    """Set the limits so that the part, the arrows and their labels just fit; return the length of an inch in m."""
    (left, bottom), (right, top) = points.min(axis=0), points.max(axis=0)
    things = [(x, y, 0.05, 0.05, 0.05, 0.05) for x in (left, right) for y in (bottom, top)]
    for tip in tips:
        wide, (across, upwards) = 0.09 * len(tip.label) + 0.08, tip.sides
        room = {"center": (wide / 2, wide / 2), "left": (0.0, wide), "right": (wide, 0.0)}[across]
        high = {"center": (0.1, 0.1), "bottom": (0.0, 0.3), "top": (0.3, 0.0)}[upwards]
        things += [(*tip.end, *room, *high), (*tip.start, 0.0, 0.0, 0.0, 0.0)]
    if outline is not None:
        things += [(x, y, 0.05, 0.05, 0.05, 0.05) for x, y in outline.T]
    x, y, *rooms = np.array(things, dtype=float).T
    box = panel.get_position(original=True)
    width, height = (panel.figure.get_size_inches() * (box.width, box.height)).tolist()  # type: ignore[union-attr]
    spaces = (((x, rooms[0], rooms[1]), width), ((y, rooms[2], rooms[3]), height - STRIP_HEIGHT))
    few, many = 0.0, 2 * max(width, height) / max(right - left, top - bottom)
    for _ in range(60):
        scale = (few + many) / 2
        fits = all((at * scale + after).max() - (at * scale - before).min() <= s for (at, before, after), s in spaces)
        few, many = (scale, many) if fits else (few, scale)
    inch = 1 / few
    for (at, before, after), space in spaces:
        low, high = (at - before * inch).min(), (at + after * inch).max()
        middle, half = (low + high) / 2, space * inch / 2
        if at is x:
            panel.set_xlim(middle - half, middle + half)
        else:
            panel.set_ylim(middle - half - STRIP_HEIGHT * inch, middle + half)
    return inch


def _draw_principal_axis(
    panel: Axes, tip: _AxisArrow, ends: Array, camera: Camera, triangles: Array, inch: float
) -> None:
    """An arrow along a principal axis: solid where it is visible, dashed inside the part and behind it."""
    text: dict[str, Any] = {"color": tip.color, "fontsize": 11, "zorder": 7, "textcoords": "offset points"}
    text["path_effects"] = [withStroke(linewidth=3, foreground="white", alpha=0.85)]
    if np.linalg.norm(tip.end) < 1e-6 * np.linalg.norm(ends[1]):
        # Seen end-on: a ring around the center of mass.
        ring = Circle((0.0, 0.0), 0.14 * inch, fill=False, edgecolor=tip.color, linewidth=1.9, zorder=6)
        panel.add_patch(ring)
        panel.annotate(tip.label, xy=(0.0, 0.0), xytext=(-11, -11), ha="right", va="top", **text)
        return
    line = ends[0] + np.linspace(0.0, 1.0, 300)[:, None] * (ends[1] - ends[0])
    flat, forward = camera.flat(line), (line @ (ends[1] - ends[0]) >= 0)[:, None]
    is_seen = ~_are_hidden(line, triangles, camera)[:, None]
    for is_bold, width in ((forward, 1.9), (~forward, 1.1)):
        solid, hidden = (np.where(is_bold & which, flat, np.nan).T for which in (is_seen, ~is_seen))
        panel.plot(*solid, color=tip.color, linewidth=width, zorder=4)
        panel.plot(*hidden, color=tip.color, linewidth=0.6 * width, linestyle=(0, (4, 2)), alpha=0.75, zorder=3)
    arrow = arrow_style(tip.color, 1.9, head_length=0.6)
    start = tip.end - 0.05 * inch * tip.end / np.linalg.norm(tip.end)
    panel.annotate("", xy=tuple(tip.end), xytext=tuple(start), arrowprops=arrow, zorder=5)
    across, upwards = 5 * tip.end / np.linalg.norm(tip.end)
    ha, va = tip.sides
    panel.annotate(tip.label, xy=tuple(tip.end), xytext=(across, upwards), ha=ha, va=va, **text)


def _draw_center_of_mass(panel: Axes, inch: float) -> None:
    """The usual symbol of a center of mass: a disk in black and white quarters."""
    for k in range(4):
        color = COLORS["ink"] if k % 2 else COLORS["paper"]
        quarter = Wedge((0.0, 0.0), 0.075 * inch, 90 * k, 90 * (k + 1), facecolor=color, linewidth=0, zorder=6)
        panel.add_patch(quarter)
    ring = Circle((0.0, 0.0), 0.075 * inch, fill=False, edgecolor=COLORS["ink"], linewidth=0.9, zorder=6)
    panel.add_patch(ring)


def _draw_ellipsoid_outline(panel: Axes, body: Body, camera: Camera, axes_body: Array) -> Array | None:
    """Draw the outline of the solid ellipsoid with the same mass and moments; None if no ellipsoid has them."""
    try:
        semi = body.ellipsoid_semi_axes
    except InertiaError:
        return None
    # The outline is an ellipse: the image of a great circle of the unit sphere, perpendicular to the view.
    u, size, _ = np.linalg.svd(np.stack((camera.right, camera.up)) @ axes_body * semi, full_matrices=False)
    turn = np.linspace(0.0, 2 * np.pi, 241)
    outline: Array = (u * size) @ np.stack((np.cos(turn), np.sin(turn)))
    panel.plot(*outline, color=COLORS["muted"], linewidth=1.0, linestyle=DASHES, zorder=2, label="equivalent ellipsoid")
    panel.legend(loc="lower right", handlelength=2.2, borderaxespad=0.2)
    return outline


def _draw_scale_bar(panel: Axes, unit: str, meters: float, inch: float) -> None:
    """A scale bar in the strip below."""
    length = _round_length(1.2 * inch / meters)
    x, y, tick = panel.get_xlim()[0] + 1.0 * inch, panel.get_ylim()[0] + 0.12 * inch, 0.05 * inch
    end = x + length * meters
    panel.plot((x, x, x, end, end, end), (y - tick, y + tick, y, y, y + tick, y - tick), color=COLORS["ink"], lw=1.2)
    panel.text((x + end) / 2, y + 0.06 * inch, f"{length:g} {unit}", ha="center", va="bottom", fontsize=9)


def _draw_triad(panel: Axes, camera: Camera, inch: float) -> None:
    """The axes of the part's coordinates, in the strip below."""
    at = np.array((panel.get_xlim()[0] + 0.42 * inch, panel.get_ylim()[0] + 0.3 * inch))
    arrow = arrow_style("#777777", 0.9, 0.12, 0.25)
    for i, flat in enumerate(camera.flat(np.eye(3))):
        if np.linalg.norm(flat) < 0.15:
            continue
        panel.annotate("", xy=tuple(at + 0.27 * inch * flat), xytext=tuple(at), arrowprops=arrow)
        place = at + 0.27 * inch * flat + 0.09 * inch * flat / np.linalg.norm(flat)
        panel.text(place[0], place[1], XYZ_LABELS[i], color="#555555", fontsize=9, ha="center", va="center")


def _fit_title(name: str) -> str:
    """The name, shortened in the middle if too wide, with a replacement character for letters the font lacks."""
    font = get_font(findfont(FontProperties(weight="bold")))
    known = font.get_charmap()
    clean = "".join(letter if letter.isprintable() and ord(letter) in known else "\ufffd" for letter in name)
    font.set_size(14, 72)
    for letters in range(min(len(name), 200), 0, -1):
        short = clean if letters == len(name) else f"{clean[: letters - letters // 3]}…{clean[-letters // 3 :]}"
        font.set_text(short)
        if font.get_width_height()[0] / 64 <= MAX_TITLE_WIDTH:
            return short
    return ""


def _caption(body: Body, unit: str, meters: float) -> str:
    # Coordinates of the center of mass that are rounding errors are written as 0.
    rounding = 1e-12 * float(np.sqrt(body.principal_moments.max() / body.mass))
    center = ", ".join(f"{(x if abs(x) > rounding else 0.0) / meters:.6g}" for x in body.center_of_mass)
    parts = [f"mass {body.mass:.6g} kg"]
    if body.volume:
        parts.append(f"volume {_format_number(body.volume)} m³")
    if body.density:
        parts.append(f"density {body.density:.5g} kg/m³")
    return ",   ".join([*parts, f"center of mass at ({center}) {unit}"])


def _choose_length_unit(size: float) -> tuple[str, float]:
    """A suitable unit for a length, and its size in meters."""
    return next(((unit, meters) for unit, meters in LENGTH_UNITS if size >= meters), LENGTH_UNITS[-1])


def _choose_moment_unit(largest: float) -> tuple[float, str]:
    """A suitable factor for moments of inertia, and its unit as text."""
    power = _decimal_exponent(largest, 4)
    return (1.0, "kg m²") if -2 <= power <= 3 else (10.0**power, f"{format_power_of_ten(10.0**power)} kg m²")


def _format_number(value: float) -> str:
    """A number with five digits, such as 1.2345 · 10⁻⁵ if far from 1."""
    power = _decimal_exponent(value, 5)
    return f"{value:.5g}" if -2 <= power <= 3 else f"{value / 10.0**power:.5g} · {format_power_of_ten(10.0**power)}"


def _decimal_exponent(value: float, digits: int) -> int:
    """The decimal exponent of a number rounded to `digits` digits."""
    return int(f"{value:.{digits - 1}e}".split("e")[1])


def _round_length(about: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that is not larger."""
    power = 10.0 ** np.floor(np.log10(about))
    return float(power * max(step for step in (1, 2, 5) if step * power <= about * (1 + 1e-9)))
