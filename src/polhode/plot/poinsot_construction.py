"""Poinsot's construction: the energy ellipsoid rolls on the invariable plane; polhode and herpolhode."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Polygon

from polhode.plot.free_rotation_data import FreeRotationData, extract_free_rotation
from polhode.plot.projection import DASHES, Camera, draw_ellipsoid, draw_path_on_ellipsoid
from polhode.plot.style import AXIS_COLORS, COLORS, arrow_style, draw_closed_form, draw_label
from polhode.reference.poinsot import herpolhode_radii
from polhode.results.trajectory import Trajectory
from polhode.validation import Array

PLANE_COLOR = "#a9c4d8"
"""The invariable plane."""
HERPOLHODE_COLOR = "#c47cc2"
"""The herpolhode, beside the polhode."""
LABEL_CLEARANCE = np.cos(0.3)
"""Cosine of the angle between an arrow and L in the picture below which their labels would overlap."""
INSET_BELOW = 0.2
"""If the outer circle is smaller than this, relative to the ellipsoid, an inset shows the tip of w enlarged."""
MIN_HERPOLHODE = 1e-6
"""A herpolhode smaller than this, relative to w, is rounding error."""


def herpolhode_path(body: FreeRotationData) -> Array:
    """The tip of w in the invariable plane, (n, 2), in rad/s, relative to L; the first point on the first axis."""
    first = body.across(body.rates_world[0])
    second = np.cross(body.along_l, first)
    return np.stack((body.rates_world @ first, body.rates_world @ second), axis=-1)


def draw_herpolhode(axes: Axes, motion: Trajectory) -> None:
    """The path of the tip of w in the invariable plane, seen along L, between its bounding circles."""
    body = extract_free_rotation(motion)
    path = herpolhode_path(body)
    least = MIN_HERPOLHODE * float(np.linalg.norm(body.rates[0]))
    inner, outer = (r if r > least else 0.0 for r in herpolhode_radii(body.moments, body.rates[0]))
    turn = np.linspace(0.0, 2 * np.pi, 361)
    if outer - inner <= 1e-6 * outer:
        draw_closed_form(axes, outer * np.cos(turn), outer * np.sin(turn), f"closed form, {outer:.4g} rad/s")
    else:
        options: Any = {"color": COLORS["ink"], "linewidth": 1.0, "linestyle": DASHES}
        for radius in (inner, outer):
            axes.plot(radius * np.cos(turn), radius * np.sin(turn), zorder=2.5, **options)
        axes.plot([], [], label=f"{inner:.4g} and {outer:.4g} rad/s", **options)
    axes.plot(path[:, 0], path[:, 1], color=COLORS["omega"], linewidth=1.6, label="tip of ω", zorder=3)
    axes.plot(0.0, 0.0, marker="o", markersize=5, color=COLORS["L"], linestyle="none", label="L", zorder=4)
    axes.plot(*path[0], marker="o", markersize=4, color=COLORS["omega"], zorder=4)
    reach = 1.08 * max(outer, float(np.abs(path).max()), least)
    axes.set_xlim(-reach, reach)
    axes.set_ylim(-reach, 1.6 * reach)
    axes.set_aspect("equal")
    axes.set_title("herpolhode, in the invariable plane")
    axes.set_xlabel("rad/s")
    axes.set_ylabel("rad/s")
    axes.legend(loc="upper left", borderaxespad=0.2, labelspacing=0.3)


def draw_poinsot(axes: Axes, motion: Trajectory, time: float | None = None) -> None:
    """Poinsot's construction at a time (s), by default the first output, with the fixed plane seen from above.

    The ellipsoid contains every w of this energy; its semi-axes are sqrt(2 E/I), along the principal axes.  It touches
    the invariable plane, perpendicular to L and 2 E/L from the center, at w, and rolls on it.
    """
    body = extract_free_rotation(motion)
    k = body.frame_at(time)
    to_world = body.turns[k]
    level = body.moments / body.twice_energy
    semi = 1 / np.sqrt(level)
    above = body.camera(body.across(body.rates_world[k]), 0.5, 0.5)
    camera = Camera(*(to_world.T @ v for v in above))  # along the principal axes at that time
    draw_ellipsoid(axes, level, camera)
    draw_path_on_ellipsoid(axes, body.rates, level, camera, color=COLORS["omega"], width=2.2)
    _draw_principal_axes(axes, semi, camera, camera.flat(to_world.T @ body.along_l))
    foot = body.plane_distance * body.along_l
    inner, outer = herpolhode_radii(body.moments, body.rates[0])
    reach = max(1.3 * outer, 0.75 * float(semi.max()))
    _draw_plane(axes, body, foot, reach, above)
    for radius in {inner, outer}:
        _draw_line(axes, above.flat(foot + _circle_about_momentum(body, radius)), COLORS["ink"], 0.9, DASHES, 6.0)
    _draw_line(axes, above.flat(body.rates_world), HERPOLHODE_COLOR, 1.6, "solid", 6.1)
    _draw_line(axes, above.flat(np.stack((np.zeros(3), foot))), COLORS["L"], 1.4, (0, (2, 2)), 5.5)
    up = above.flat(body.along_l)
    _draw_arrow(axes, above.flat(np.stack((np.zeros(3), body.rates_world[k]))), COLORS["omega"], "ω", 6.5, up, 1.0)
    tip = foot + 0.55 * float(semi.max()) * body.along_l
    _draw_arrow(axes, above.flat(np.stack((foot, tip))), COLORS["L"], "L", 6.6)
    axes.plot([], [], color=COLORS["omega"], linewidth=2.2, label="polhode")
    axes.plot([], [], color=HERPOLHODE_COLOR, linewidth=1.6, label="herpolhode")
    axes.plot([], [], color=PLANE_COLOR, linewidth=5, alpha=0.6, label=f"plane, 2E/L = {body.plane_distance:.4g} rad/s")
    _set_limits(
        axes,
        np.concatenate((above.flat(foot + _circle_about_momentum(body, reach)), above.flat(tip[None]))),
        semi,
        camera,
    )
    axes.set_title("Poinsot: rolling on the invariable plane")
    axes.legend(loc="lower left", borderaxespad=0.0, labelspacing=0.3)
    if MIN_HERPOLHODE * semi.max() < outer < INSET_BELOW * semi.max():
        _draw_tip_inset(axes, body, k, outer)


def _draw_tip_inset(axes: Axes, body: FreeRotationData, k: int, outer: float) -> None:
    """An inset on the right: polhode and herpolhode near the contact point, enlarged, seen along L."""
    left, right = axes.get_xlim()
    axes.set_xlim(left, right + 0.55 * (right - left))
    inset = axes.inset_axes((0.66, 0.08, 0.34, 0.46))
    first = body.across(body.rates_world[k])
    along = Camera(first, np.cross(body.along_l, first), body.along_l)
    polhode, foot = along.flat(body.rates @ body.turns[k].T), along.flat(body.plane_distance * body.along_l)
    inner, _ = herpolhode_radii(body.moments, body.rates[0])
    for radius in (inner, outer):
        _draw_line(inset, along.flat(_circle_about_momentum(body, radius)), COLORS["ink"], 0.9, DASHES, 2.0)
    _draw_line(inset, along.flat(body.rates_world), HERPOLHODE_COLOR, 1.3, "solid", 3.0)
    _draw_line(inset, polhode, COLORS["omega"], 2.2, "solid", 4.0)
    for place, color in ((foot, "L"), (along.flat(body.rates_world[k]), "omega")):
        inset.plot(*place, marker="o", markersize=4.5, color=COLORS[color], zorder=5.0)
    points = np.concatenate((along.flat(_circle_about_momentum(body, outer)), polhode))
    middle, half = (points.max(axis=0) + points.min(axis=0)) / 2, 0.56 * np.ptp(points, axis=0).max()
    inset.set_xlim(middle[0] - half, middle[0] + half)
    inset.set_ylim(middle[1] - half, middle[1] + half)
    inset.set_aspect("equal")
    inset.set_facecolor("#eaf1f6")
    inset.grid(visible=False)
    inset.tick_params(bottom=False, left=False, labelbottom=False, labelleft=False)
    inset.set_xlabel("contact point,\nseen along L", fontsize=9)


def _circle_about_momentum(body: FreeRotationData, radius: float) -> Array:
    """A circle about L in the world, (n, 3)."""
    turn = np.linspace(0.0, 2 * np.pi, 181)[:, None]
    first = body.across(body.rates_world[0])
    points: Array = radius * (np.cos(turn) * first + np.sin(turn) * np.cross(body.along_l, first))
    return points


def _draw_plane(axes: Axes, body: FreeRotationData, foot: Array, reach: float, above: Camera) -> None:
    disk = Polygon(
        above.flat(foot + _circle_about_momentum(body, reach)), closed=True, facecolor=PLANE_COLOR, alpha=0.38, zorder=5
    )
    axes.add_patch(disk)
    _draw_line(axes, above.flat(foot + _circle_about_momentum(body, reach)), "#7f9cb3", 0.8, "solid", 5.1)


def _draw_principal_axes(axes: Axes, semi: Array, camera: Camera, up: Array) -> None:
    """The visible ends of the principal axes outside the ellipsoid; `up` is L in the picture."""
    for i in range(3):
        sign = 1.0 if camera.eye[i] >= 0 else -1.0
        ends = np.stack((semi[i], semi[i] + 0.16 * semi.max())) * sign
        flat = camera.flat(ends[:, None] * np.eye(3)[i])
        _draw_arrow(axes, flat, AXIS_COLORS[i], f"{i + 1}" if sign > 0 else f"-{i + 1}", 4.5, up, -1.0)


def _draw_line(axes: Axes, flat: Array, color: str, width: float, style: Any, order: float) -> None:
    axes.plot(flat[:, 0], flat[:, 1], color=color, linewidth=width, linestyle=style, zorder=order)


def _draw_arrow(
    axes: Axes, flat: Array, color: str, label: str, order: float, other: Array | None = None, side: float = 1.0
) -> None:
    """An arrow labeled beyond its tip; where it lies along `other`, the label goes to that side (-1 or 1)."""
    along = flat[1] - flat[0]
    length = float(np.hypot(*along))
    if length == 0:
        return
    ends: Any = {"xy": tuple(flat[1]), "xytext": tuple(flat[0]), "annotation_clip": False}
    axes.annotate("", arrowprops=arrow_style(color, 1.8), zorder=order, **ends)
    dx, dy = 8.0 * along / length
    if other is not None and along @ other > LABEL_CLEARANCE * length * np.hypot(*other):
        dx, dy = 9.0 * side, 0.0
    draw_label(axes, flat[1], label, (dx, dy), color, order + 2)


def _set_limits(axes: Axes, points: Array, semi: Array, camera: Camera) -> None:
    """Fit everything, with space below for the legend and above for a label."""
    reach = 1.2 * np.sqrt((np.stack((camera.right, camera.up)) ** 2 * semi**2).sum(axis=1))
    low, high = np.minimum(points.min(axis=0), -reach), np.maximum(points.max(axis=0), reach)
    size = float((high - low).max())
    axes.set_xlim(low[0] - 0.04 * size, high[0] + 0.04 * size)
    axes.set_ylim(low[1] - 0.28 * size, high[1] + 0.12 * size)
    axes.set_aspect("equal", anchor="NW")
    axes.axis("off")
