"""The free rotation of one body in one figure, and its panels: in space, in the body, and over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from polhode.massprops.appearance import appearance_of
from polhode.plot import panels
from polhode.plot.free_rotation_data import FreeRotationData, extract_free_rotation
from polhode.plot.poinsot_construction import draw_herpolhode, draw_poinsot
from polhode.plot.projection import make_camera
from polhode.plot.rolling_cones import draw_cones
from polhode.plot.scene import Scene
from polhode.plot.style import AXIS_COLORS, COLORS, OMEGA_LABELS, draw_closed_form, format_power_of_ten, styled_figure
from polhode.results.trajectory import Trajectory
from polhode.validation import Array

if TYPE_CHECKING:
    from polhode.massprops.body import Body

NO_SOLID = "no solid has these moments:\nthe inertia ellipsoid is drawn"
LABEL_CLEARANCE = np.cos(0.16)
"""Cosine of the angle between two arrows in the picture below which their labels would overlap."""
MOMENTUM_LABELS = ("L₁", "L₂", "L₃")
LEGEND_LINE_HEIGHT = 0.26
"""Height of a line of a legend, in inches."""


def free_rotation_sheet(motion: Trajectory, title: str = "", time: float | None = None) -> Figure:
    """Plot the free rotation of one body in one figure.

    Top row: the body in space with L, w and the path of an axis; the polhode with its neighbors; Poinsot's
    construction, or the rolling cones if two moments are equal.  Bottom row: w and L in the body over time, over the
    closed form; the herpolhode between its bounding circles; the drift of the conserved quantities.

    Parameters
    ----------
    motion : Motion
        The motion of one body without torque.
    title : str, optional
        Default: the name of the scenario.
    time : float, optional
        The time in s at which the body, the ellipsoid and the cones are drawn: the nearest output or, for the exact
        method, the nearest of a finer grid.  Default: the start.

    Returns
    -------
    matplotlib.figure.Figure
        `figure.savefig("rotation.svg")` writes it.

    Examples
    --------
    >>> import polhode as ph
    >>> from polhode.plot import free_rotation_sheet
    >>> book = ph.shapes.box((0.03, 0.15, 0.22), mass=0.6)
    >>> motion = ph.simulate(book, ph.State(angular_velocity_body=(0.1, 4.0, 0.1)), duration=8.0)
    >>> figure = free_rotation_sheet(motion, "A book turns over")
    >>> len(figure.axes)
    7
    """
    body = extract_free_rotation(motion)
    with styled_figure(13.0, 8.2, title or motion.scenario.name or "free rotation", constrained=False) as figure:
        # Fixed positions: long arrows or wide numbers would push the panels into each other.
        above = [figure.add_axes((0.015 + 0.33 * i, 0.47, 0.315, 0.42)) for i in range(3)]
        below = [figure.add_axes((0.055 + 0.247 * i, 0.07, 0.19, 0.32)) for i in range(4)]
        draw_in_space(above[0], motion, time)
        panels.draw_polhode_panel(above[1], motion, body.rates)
        (draw_poinsot if body.symmetry_axis is None else draw_cones)(above[2], motion, time)
        draw_rates(below[0], motion)
        draw_momenta(below[1], motion)
        draw_herpolhode(below[2], motion)
        panels.draw_conserved_drift(below[3], motion)
    return figure


def draw_rates(axes: Axes, motion: Trajectory) -> None:
    """The components of w along the principal axes over time, over the closed form."""
    body = extract_free_rotation(motion)
    _draw_components(axes, motion, body, np.ones(3), OMEGA_LABELS, "rad/s")
    axes.set_title(f"ω{_describe_axes(motion)}")


def draw_momenta(axes: Axes, motion: Trajectory) -> None:
    """The components of L along the principal axes over time, over the closed form."""
    body = extract_free_rotation(motion)
    _draw_components(axes, motion, body, body.moments, MOMENTUM_LABELS, "kg m²/s")
    axes.set_title(f"L{_describe_axes(motion)}")


def _describe_axes(motion: Trajectory) -> str:
    return ", body axes" if panels.has_principal_axes(motion) else " along the principal axes"


def _draw_components(
    axes: Axes, motion: Trajectory, body: FreeRotationData, factors: Array, names: tuple[str, str, str], unit: str
) -> None:
    """Three components over the closed form, with a legend above; very small or large ones scaled by a power of ten."""
    found, closed = factors * body.rates, factors * body.closed_form_rates()
    power = float(np.floor(np.log10(np.abs(found).max())))
    scale = 10.0**power if power < -2 or power > 3 else 1.0
    axes.set_ylabel(unit if scale == 1.0 else f"{format_power_of_ten(scale)} {unit}")
    found, closed = found / scale, closed / scale
    draw_closed_form(axes, body.times, closed)
    for i in range(3):
        axes.plot(body.times, found[:, i], color=AXIS_COLORS[i], label=names[i])
    low, high = float(found.min()), float(found.max())
    room = 0.08 * ((high - low) or abs(high))
    share = min(LEGEND_LINE_HEIGHT * axes.figure.dpi / axes.get_window_extent().height, 0.4)
    axes.set_ylim(low - room, low - room + (high - low + 2 * room) / (1 - share))
    panels.format_time_axis(axes, motion)
    options: Any = {"columnspacing": 0.8, "handlelength": 0.9, "handletextpad": 0.4, "borderaxespad": 0.1}
    axes.legend(loc="upper left", ncols=4, **options)


def draw_in_space(
    axes: Axes, motion: Trajectory, time: float | None = None, path_of: int | None = None, title: str = ""
) -> None:
    """The body at a time (s), with L upward, w, its principal axes, and the path of the tip of one of them.

    By default that of the symmetry axis, or of the axis nearest to w at the start; `path_of` (0, 1, 2) selects one.
    """
    body = extract_free_rotation(motion)
    k = body.frame_at(time)
    axis = _traced_axis(body) if path_of is None else path_of
    scene = Scene(body.camera(body.across(body.turns[k][:, axis]), -0.5, 0.32))
    reach = add_body(scene, motion.scenario.bodies[0], body.attitudes[k])
    size = 1.35 * reach
    scene.line(size * body.turns[:, :, axis], AXIS_COLORS[axis], f"path of axis {axis + 1}", width=1.0, alpha=0.7)
    w = body.rates_world[k]
    up = 1.7 * reach * body.along_l
    scene.arrow((0, 0, 0), up, COLORS["L"], "L")
    _draw_labeled_arrow(scene, 1.55 * reach * w / np.linalg.norm(w), up, COLORS["omega"], "ω", -1.0)
    for i in range(3):
        _draw_labeled_arrow(scene, size * body.turns[k][:, i], up, AXIS_COLORS[i], f"{i + 1}", 1.0)
    scene.draw(axes, title or "in space", legend="lower left")
    _make_legend_room(axes, motion.scenario.bodies[0])


def draw_in_body(axes: Axes, motion: Trajectory, title: str = "") -> None:
    """The view from the body: the paths of w and L around it.  [Christian 2011, problem 17.4 e]"""
    body = extract_free_rotation(motion)
    one = motion.scenario.bodies[0]
    turn = one.principal_axes.as_matrix()
    axis = _traced_axis(body)
    scene = Scene(make_camera(turn[:, (axis + 1) % 3], turn[:, axis], 0.6, 0.4))
    reach = add_body(scene, one, np.eye(3))
    momenta = body.moments * body.rates
    up = 1.7 * reach * turn[:, axis]
    for path, color, name, side, size in (
        (body.rates, COLORS["omega"], "ω", -1.0, 1.55),
        (momenta, COLORS["L"], "L", 1.0, 1.7),
    ):
        scaled = size * reach * path / np.linalg.norm(path, axis=1).max() @ turn.T
        scene.line(scaled, color, f"path of {name}", width=1.4)
        _draw_labeled_arrow(scene, scaled[0], up, color, name, side)
    for i in range(3):
        _draw_labeled_arrow(scene, 1.3 * reach * turn[:, i], up, AXIS_COLORS[i], f"{i + 1}", 1.0)
    scene.draw(axes, title or "seen from the body", legend="lower left")
    _make_legend_room(axes, one)


def _draw_labeled_arrow(scene: Scene, vector: Array, other: Array, color: str, name: str, side: float) -> None:
    """An arrow from the center, without a label if its tip is hidden.

    Where it lies along `other` in the picture, the label goes to that side (-1 or 1).
    """
    (x, y), (p, q) = scene.camera.flat(vector), scene.camera.flat(other)
    if scene.hides(vector):
        scene.arrow((0, 0, 0), vector, color)
    elif x * p + y * q > LABEL_CLEARANCE * np.hypot(x, y) * np.hypot(p, q):
        scene.arrow((0, 0, 0), vector, color)
        scene.text(vector, name, color, (9.0 * side, 0.0))
    else:
        scene.arrow((0, 0, 0), vector, color, name)


def add_body(scene: Scene, body: Body, rotation: Array) -> float:
    """Draw a body, or the ellipsoid that represents it, about the origin; return its radius in m."""
    appearance = appearance_of(body, segments=36)
    scene.body(appearance.surface, rotation=rotation, segments=36)
    return appearance.size


def _make_legend_room(axes: Axes, body: Body) -> None:
    """Space below the drawing for the legend, with a remark if an ellipsoid is drawn."""
    is_ellipsoid = appearance_of(body).kind == "inertia ellipsoid"
    bottom, top = axes.get_ylim()
    axes.set_ylim(bottom - (0.3 if is_ellipsoid else 0.14) * (top - bottom), top)
    axes.set_anchor("NW")
    if is_ellipsoid:
        axes.plot([], [], linestyle="none", label=NO_SOLID)
        axes.legend(loc="lower left", borderaxespad=0.0, labelspacing=0.3)


def _traced_axis(body: FreeRotationData) -> int:
    """The symmetry axis, or the principal axis nearest to w at the start."""
    if body.symmetry_axis is not None:
        return body.symmetry_axis
    return int(np.abs(body.rates[0]).argmax())
