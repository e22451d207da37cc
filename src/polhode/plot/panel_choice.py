"""Panels by name: `motion.plot(panels=["angular_velocity", "phase:position_x:position_z"])`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from polhode.errors import InputError, nearest, show
from polhode.plot import panels
from polhode.plot.style import AXIS_COLORS, COLOR_CYCLE, COLORS, XYZ_LABELS, add_legend_above
from polhode.quantities import dynamics
from polhode.quantities.own import known_quantities
from polhode.quantities.quantity import AXES, Quantity
from polhode.quantities.table import QUANTITIES
from polhode.results.dataset import find_component, split_components, take_component
from polhode.validation import Array

Panel = Callable[[Axes, Any], None]

PHASE = "phase:"
"""Begins the name of a panel that draws one quantity over another."""
SUBSCRIPTS = str.maketrans("123", "₁₂₃")
POLE = 1e-3
"""Where sin(theta) is smaller than this, phi and psi are hardly determined, and are not drawn."""


def find_panel(name: str) -> Panel:
    """The function that draws the panel of this name.

    Examples
    --------
    >>> find_panel("speeds")
    Traceback (most recent call last):
    ...
    polhode.errors.InputError: there is no panel 'speeds': ...speed...
    """
    if not isinstance(name, str):
        raise InputError(f"a panel is chosen by its name, such as 'angular_velocity', not by {show(name)}")
    if name.startswith(PHASE):
        parts = name.removeprefix(PHASE).split(":")
        if len(parts) != 2:
            raise InputError(f"a phase plot is 'phase:X:Y', such as 'phase:position_x:position_z', not {show(name)}")
        return partial(_draw_phase, x=parts[0], y=parts[1])
    if name == "tilt_precession":
        raise InputError("'tilt_precession' of the interactive page is two panels here: 'tilt' and 'precession'")
    if name in PANELS:
        return PANELS[name]
    known = known_quantities()
    if name in known:
        return partial(_draw_quantity, one=known[name])
    raise InputError(f"there is no panel {show(name)}: {nearest(name, [*PANELS, *known, 'phase:X:Y'])}")


def _draw_quantity(axes: Axes, motion: Any, one: Quantity) -> None:
    """A quantity of the table, or of a user's own: its components over time."""
    if one.axes in (("axis",), ("body_axis",)):
        labels: Any = tuple(_label(one, end) for end in AXES[one.axes[0]])
        panels.draw_vector_components(axes, motion, one.values(motion), labels, one.title, one.written_unit)
        return
    if not one.axes:
        values = np.asarray(one.values(motion))
        _draw_scalar(axes, motion, values, one.symbol or one.title, one.title, one.written_unit, COLORS["path"])
        return
    axes.set_title(one.title)
    axes.set_ylabel(one.written_unit)
    for i, (label, values) in enumerate(split_components(motion, one).items()):
        _draw_component(axes, motion, values, label.replace("_", " "), COLOR_CYCLE[i % len(COLOR_CYCLE)])
    panels.format_time_axis(axes, motion)
    add_legend_above(axes, 4)


def _label(one: Quantity, end: str) -> str:
    """ω₁ along axis 1 of the body, x along an axis of the world.  (Mathtext takes Matplotlib a tenth of a second.)"""
    return one.symbol + end.translate(SUBSCRIPTS) if one.axes == ("body_axis",) else end


def _draw_scalar(axes: Axes, motion: Any, values: Array, label: str, title: str, unit: str, color: str) -> None:
    """One number over time, of one body, of several, or of many members."""
    axes.set_title(title)
    axes.set_ylabel(unit)
    if values.ndim == 1:
        axes.plot(motion.times, values, color=color, label=label)
    elif panels.has_bands(motion):
        panels.draw_quantiles(axes, motion.times, values, color, label)
    else:
        for n, i in enumerate(panels.select_drawn(motion)):
            axes.plot(motion.times, values[:, i], color=COLOR_CYCLE[n % len(COLOR_CYCLE)], label=f"{motion.axis} {i}")
    panels.mark_impacts(axes, motion)
    panels.format_time_axis(axes, motion)
    if values.ndim == 1 or len(panels.select_drawn(motion)) <= 6:
        add_legend_above(axes, 6)


def _draw_quaternion(axes: Axes, motion: Any) -> None:
    axes.set_title("quaternion, body to world")
    axes.set_ylabel("1")
    values = motion.quaternion_wxyz
    for i, (label, color) in enumerate(zip("wxyz", (COLORS["ink"], *AXIS_COLORS), strict=True)):
        _draw_component(axes, motion, values[..., i], label, color)
    panels.format_time_axis(axes, motion)
    add_legend_above(axes, 4)


def _draw_component(axes: Axes, motion: Any, values: Array, label: str, color: str) -> None:
    if panels.has_bands(motion):
        panels.draw_quantiles(axes, motion.times, values, color, label)
        return
    drawn = values if values.ndim == 1 else values[:, panels.select_drawn(motion)]
    lines = axes.plot(motion.times, drawn, color=color, linewidth=1.6 if drawn.ndim == 1 else 0.9)
    lines[0].set_label(label)


def follow_angle(angles: Array, hidden: Array | None = None) -> Array:
    """Angles over time in degrees, continued beyond a full turn; NaN where `hidden`.

    Examples
    --------
    >>> follow_angle(np.radians([170.0, 179.0, -172.0])).round(9).tolist()
    [170.0, 179.0, 188.0]
    """
    known = np.nan_to_num(angles)
    found = np.degrees(np.unwrap(known, axis=0))
    gone = ~np.isfinite(angles) if hidden is None else hidden | ~np.isfinite(angles)
    return np.where(gone, np.nan, found)


def _angle(which: int, label: str, title: str, color: str) -> Panel:
    """One Euler angle on axes of its own; phi and psi are left out near theta = 0 and 180 degrees."""

    def draw(axes: Axes, motion: Any) -> None:
        angles = motion.euler_angles
        hidden = None if which == 1 else np.abs(np.sin(angles[..., 1])) < POLE
        _draw_scalar(axes, motion, follow_angle(angles[..., which], hidden), label, title, "deg", color)

    return draw


def _draw_angles(axes: Axes, motion: Any, values: Array, labels: tuple[str, ...], title: str) -> None:
    """Angles in degrees: within a turn, where a line ends as it passes from 180 to -180; of many members beyond it."""
    axes.set_title(title)
    axes.set_ylabel("deg")
    for i, label in enumerate(labels):
        angle = follow_angle(values[..., i])  # quantiles of angles that jump would be those of nothing
        if not panels.has_bands(motion):
            angle = np.degrees(values[..., i])
            angle = np.where(np.abs(np.diff(angle, axis=0, prepend=angle[:1])) > 180, np.nan, angle)
        _draw_component(axes, motion, angle, label, AXIS_COLORS[i])
    panels.format_time_axis(axes, motion)
    add_legend_above(axes, 3)


def _draw_euler_angles(axes: Axes, motion: Any) -> None:
    angles = motion.euler_angles
    at_pole = np.abs(np.sin(angles[..., 1])) < POLE
    shown = np.where(at_pole[..., None] & np.array([True, False, True]), np.nan, angles)
    _draw_angles(axes, motion, shown, ("φ", "θ", "ψ"), "Euler angles (z, x, z)")


def _draw_yaw_pitch_roll(axes: Axes, motion: Any) -> None:
    _draw_angles(axes, motion, motion.yaw_pitch_roll, ("yaw", "pitch", "roll"), "yaw, pitch and roll (z, y, x)")


def _draw_torque(axes: Axes, motion: Any) -> None:
    torque = dynamics.loads(motion, [f for f in motion.scenario.acting_forces if f.kind != "impulse"])[1]
    title = "torque on the body"
    panels.draw_vector_components(axes, motion, torque, XYZ_LABELS, title, "N m")


def _draw_forces(axes: Axes, motion: Any) -> None:
    """The magnitude of each force."""
    axes.set_title("forces, magnitude")
    axes.set_ylabel("N")
    acting = [f for f in motion.scenario.acting_forces if f.kind != "impulse"]
    for n, force in enumerate(acting):
        size = np.linalg.norm(dynamics.loads(motion, [force])[0], axis=-1)
        _draw_component(axes, motion, size, force.name.replace("_", " "), COLOR_CYCLE[n % len(COLOR_CYCLE)])
    panels.format_time_axis(axes, motion)
    if acting:
        add_legend_above(axes, 4)


def _draw_polhode(axes: Axes, motion: Any) -> None:
    if motion.axis is not None:
        raise InputError("the polhode is drawn of one body: choose a member, motion[0].plot(panels=['polhode'])")
    panels.draw_polhode_panel(axes, motion)


def _draw_phase(axes: Axes, motion: Any, x: str, y: str) -> None:
    """One quantity over another: a path, with a dot at its start."""
    across, up = (_continued(motion, name) for name in (x, y))
    axes.set_title(f"{y.replace('_', ' ')} over {x.replace('_', ' ')}")
    axes.set_xlabel(_with_unit(motion, x))
    axes.set_ylabel(_with_unit(motion, y))
    drawn = [()] if across.ndim == 1 else [(i,) for i in panels.select_drawn(motion)]
    for n, which in enumerate(drawn):
        color = COLORS["path"] if across.ndim == 1 else COLOR_CYCLE[n % len(COLOR_CYCLE)]
        a, b = across[:, *which], up[:, *which] if up.ndim > 1 else up
        axes.plot(a, b, color=color, linewidth=1.4 if across.ndim == 1 else 0.9)
        axes.plot(a[:1], b[:1], "o", color=color, markersize=4)
    if x.startswith("position_") and y.startswith("position_"):
        axes.set_aspect("equal", adjustable="datalim")


def _continued(motion: Any, name: str) -> Array:
    values = take_component(motion, name)
    return follow_angle(values) if _unit_of(motion, name) == "rad" else values


def _with_unit(motion: Any, name: str) -> str:
    unit = _unit_of(motion, name)
    return f"{name.replace('_', ' ')} ({'deg' if unit == 'rad' else unit})"


def _unit_of(motion: Any, name: str) -> str:
    return find_component(name, len(motion.scenario.rotors)).written_unit


def _panel_of(name: str) -> Panel:
    return partial(_draw_quantity, one=QUANTITIES[name])


PANELS: dict[str, Panel] = {
    "angular_velocity": _panel_of("angular_velocity_body"),
    "angular_velocity_world": _panel_of("angular_velocity"),
    "angular_momentum": _panel_of("angular_momentum"),
    "polhode": _draw_polhode,
    "euler_angles": _draw_euler_angles,
    "tilt": _angle(1, "θ", "tilt θ from the z axis", COLORS["axis_2"]),
    "precession": _angle(0, "φ", "precession φ about the z axis", COLORS["axis_1"]),
    "spin_angle": _angle(2, "ψ", "spin ψ about axis 3", COLORS["axis_3"]),
    "yaw_pitch_roll": _draw_yaw_pitch_roll,
    "quaternion": _draw_quaternion,
    **{name: _panel_of(name) for name in ("position", "velocity", "speed", "linear_momentum")},
    **{name: _panel_of(name) for name in ("acceleration", "angular_acceleration")},
    "energy": panels.draw_energies,
    "forces": _draw_forces,
    "torque": _draw_torque,
    "reaction_force": _panel_of("reaction_force"),
    "contact_force": panels.draw_contact_force,
    "impulses": panels.draw_impulses,
    "drift": panels.draw_conserved_drift,
}
"""The panels that a figure may want, by name.  Every other quantity is a panel by its own name."""

__all__ = ["PANELS", "PHASE", "Panel", "find_panel", "follow_angle"]
