"""The panels of a figure: each draws one quantity of a motion into given axes."""

from __future__ import annotations

import warnings
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from polhode.equations.quaternions import to_body
from polhode.plot.projection import draw_polhode
from polhode.plot.style import (
    AXIS_COLORS,
    COLOR_CYCLE,
    COLORS,
    OMEGA_LABELS,
    XYZ_LABELS,
    add_legend_above,
    format_power_of_ten,
)
from polhode.quantities import dynamics
from polhode.results.audit import audit_motion
from polhode.results.impacts import Impacts
from polhode.results.trajectory import Trajectory
from polhode.validation import Array

MAX_CURVES, MAX_DOTS = 12, 2000
"""Maximum number of bodies or members drawn over time, or as dots at a single time."""
MAX_IMPACT_LINES = 60
"""Up to this many impacts are marked by vertical lines, more by ticks at the lower edge."""
IMPULSE_DECADES = 1e-6
"""Impulses below this fraction of the largest are not drawn."""
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
LETTER_WIDTH = 0.072
"""Approximate width of a letter in a legend, in inches."""
LINE_STYLES = ("solid", (0, (5, 2)), (0, (1, 1.5)))
"""For the components of several bodies, where the color identifies the body."""


def select_drawn(motion: Trajectory) -> Array:
    """Indices of the bodies or members to draw: all, or an evenly spaced selection."""
    count = motion.scenario.count
    most = MAX_CURVES if len(motion.times) > 1 else MAX_DOTS
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))


def has_bands(motion: Trajectory) -> bool:
    """Whether quantiles are drawn over time instead of curves: of more members than can be told apart."""
    return motion.axis == "member" and motion.scenario.count > MAX_CURVES and len(motion.times) > 1


def describe_selection(motion: Trajectory) -> str:
    """The part of the title that says how many bodies or members are drawn."""
    count, drawn = motion.scenario.count, len(select_drawn(motion))
    if motion.axis is None:
        return ""
    if has_bands(motion):
        return f"{count:,} members: median, middle 50 % and 90 %"
    things = "bodies" if motion.axis == "body" else "members"
    return f"{drawn} of {count:,} {things}" if drawn < count else f"{count} {things}"


def draw_vector_components(
    axes: Axes, motion: Trajectory, values: Array, symbols: tuple[str, str, str], title: str, unit: str
) -> None:
    """The components of a vector that are not always 0, colored by component or, for several bodies, by body."""
    axes.set_title(title)
    axes.set_ylabel(unit)
    drawn = [i for i in range(3) if np.any(values[..., i])] or [0, 1, 2]
    if motion.axis is None:
        for i in drawn:
            axes.plot(motion.times, values[:, i], color=AXIS_COLORS[i], label=symbols[i], marker=_marker(motion))
    elif len(motion.times) == 1:
        for i in drawn:
            _draw_dots(axes, motion, values[0, :, i], AXIS_COLORS[i], symbols[i])
        return
    elif has_bands(motion):
        for i in drawn:
            draw_quantiles(axes, motion.times, values[..., i], AXIS_COLORS[i], symbols[i])
    else:
        _draw_several_bodies(axes, motion, values, drawn, symbols)
    mark_impacts(axes, motion)
    format_time_axis(axes, motion)
    add_legend_above(axes, 8)


def draw_quantiles(axes: Axes, times: Array, values: Array, color: str, label: str) -> None:
    """The median of all members over time, (times, members), in bands that hold 50 % and 90 % of them.

    Members that have ended are left out from then on.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # times after which no member goes on
        outer, low, median, high, other = np.nanquantile(values.reshape(len(times), -1), QUANTILES, axis=1)
    axes.fill_between(times, outer, other, color=color, alpha=0.13, linewidth=0)
    axes.fill_between(times, low, high, color=color, alpha=0.25, linewidth=0)
    axes.plot(times, median, color=color, label=label)


def _draw_several_bodies(
    axes: Axes, motion: Trajectory, values: Array, drawn: list[int], symbols: tuple[str, str, str]
) -> None:
    who = select_drawn(motion)
    few = motion.axis == "body" and len(who) <= 4
    for n, one in enumerate(who):
        color = COLOR_CYCLE[n % len(COLOR_CYCLE)]
        for i in drawn:
            axes.plot(
                motion.times, values[:, one, i], color=color, linestyle=LINE_STYLES[i], linewidth=1.6 if few else 1.0
            )
        if few:
            axes.plot([], [], color=color, label=f"body {one}")
    for i in drawn:
        axes.plot([], [], color=COLORS["muted"], linestyle=LINE_STYLES[i], label=symbols[i])


def _draw_dots(axes: Axes, motion: Trajectory, values: Array, color: str, label: str) -> None:
    """One value for each body or member at a single time."""
    who = select_drawn(motion)
    axes.plot(who, values[who], color=color, label=label, marker=".", markersize=4, linestyle="none")
    axes.set_xlabel(f"{motion.axis}, at t = {motion.times[0]:g} s")
    add_legend_above(axes, 8)


def draw_polhode_panel(axes: Axes, motion: Trajectory, finer: Array | None = None) -> None:
    """The polhode of a single body on its energy ellipsoid; if the energy changes, the path alone.

    `finer` are rates along the principal axes at more times than the outputs, (n, 3), to draw instead.
    """
    moments, rates = principal_rates(motion)
    rates = rates if finer is None else finer
    energies = (moments * rates**2).sum(axis=1)
    turned = not has_principal_axes(motion)
    axes.set_title(f"polhode: {'ω along the principal axes' if turned else 'angular velocity in the body'} (rad/s)")
    if np.ptp(energies) <= 1e-3 * energies.max():
        draw_polhode(axes, moments, rates)
        return
    a, c = np.sort(np.argsort(np.ptp(rates, axis=0), kind="stable")[1:])  # the two components that change most
    axes.plot(rates[:, a], rates[:, c], color=COLORS["omega"])
    axes.set_title("path of ω in the body")
    axes.set_xlabel(f"{OMEGA_LABELS[a]} (rad/s)")
    axes.set_ylabel(f"{OMEGA_LABELS[c]} (rad/s)")
    axes.set_aspect("equal", adjustable="datalim")


def has_principal_axes(motion: Trajectory) -> bool:
    """Whether the axes of a single body are its principal axes."""
    return tuple(motion.scenario.bodies[0].constants().axes) == (1.0, 0.0, 0.0, 0.0)


def principal_rates(motion: Trajectory) -> tuple[Array, Array]:
    """The principal moments of a single body, and the angular velocity along those axes."""
    body = motion.scenario.bodies[0]
    components: Any = to_body(body.constants().axes, tuple(motion.angular_velocity_body.T))
    return body.principal_moments, np.stack(components, axis=-1)


def draw_energies(axes: Axes, motion: Trajectory) -> None:
    """Kinetic energies, potential energy, and the total if every force has a potential."""
    axes.set_title("energy")
    axes.set_ylabel("J")
    series = dynamics.energies(motion)
    for name, values in series.items():
        if motion.axis == "member" and len(motion.times) == 1:
            _draw_dots(axes, motion, values[0], COLORS[name], name)
            continue
        if has_bands(motion):
            draw_quantiles(axes, motion.times, values, COLORS[name], name)
            continue
        drawn = values if values.ndim == 1 else values[:, select_drawn(motion)]
        lines = axes.plot(
            motion.times, drawn, color=COLORS[name], marker=_marker(motion), linewidth=1.6 if drawn.ndim == 1 else 0.9
        )
        lines[0].set_label(name)
    values = np.concatenate([np.ravel(v) for v in series.values()])
    if np.ptp(values) <= 1e-6 * np.abs(values).max():
        middle = float(np.median(values))
        axes.set_ylim(min(0.0, 1.25 * middle), max(0.0, 1.25 * middle) or 1.0)
    if motion.axis != "member" or len(motion.times) > 1:
        mark_impacts(axes, motion)
        format_time_axis(axes, motion)
    add_legend_above(axes, len(series))


def mark_impacts(axes: Axes, motion: Trajectory) -> None:
    """The times of the impacts of what is drawn, as thin vertical lines, or as ticks at the lower edge."""
    times = np.unique(_drawn_impacts(motion).marked.time) if motion.scenario.contacts else np.zeros(0)
    if 0 < len(times) <= MAX_IMPACT_LINES:
        axes.vlines(times, 0, 1, transform=axes.get_xaxis_transform(), color=COLORS["impact"], linewidth=0.6, alpha=0.5)
    elif len(times):
        options: Any = {"linestyle": "none", "marker": "|", "markersize": 9, "alpha": 0.5, "clip_on": False}
        axes.plot(times, np.zeros_like(times), transform=axes.get_xaxis_transform(), color=COLORS["impact"], **options)


def _drawn_impacts(motion: Trajectory) -> Impacts:
    """The impacts of the bodies or members that are drawn."""
    impacts = motion.impacts
    if motion.axis is None:
        return impacts
    return impacts[np.isin(impacts.member if motion.axis == "member" else impacts.body, select_drawn(motion))]


def draw_contact_force(axes: Axes, motion: Trajectory) -> None:
    """The force of sustained contact."""
    draw_vector_components(axes, motion, motion.contact_forces, XYZ_LABELS, "contact force", "N")


def draw_impulses(axes: Axes, motion: Trajectory) -> None:
    """The normal and the tangential impulse of each impact, summed over its points, on a logarithmic axis."""
    axes.set_title("impacts")
    axes.set_ylabel("N s, J")
    impacts = _drawn_impacts(motion)
    if len(impacts):
        nth = impacts.at_once
        times = impacts.time[np.unique(nth, return_index=True)[1]]
        sideways = np.linalg.norm(impacts.tangential_impulse, axis=1)
        series = {"normal": impacts.normal_impulse, "tangential": sideways, "energy lost": impacts.energy_lost}
        styles = (("impact", "o"), ("force", "x"), ("total", "."))
        for (name, values), (color, marker) in zip(series.items(), styles, strict=True):
            sums = np.bincount(nth, values)
            if (sums > 0).any():
                shown = np.where(sums > 0, sums, np.nan)
                axes.plot(times, shown, linestyle="none", marker=marker, markersize=4, color=COLORS[color], label=name)
        axes.set_yscale("log")
        axes.yaxis.set_minor_locator(NullLocator())
        largest = float(np.bincount(nth, impacts.normal_impulse).max())
        if largest > 0:  # most bounces before rest are as good as none
            axes.set_ylim(bottom=IMPULSE_DECADES * largest)
        add_legend_above(axes, 3)
    format_time_axis(axes, motion)


def draw_conserved_drift(axes: Axes, motion: Trajectory) -> None:
    """Drift of the conserved quantities, relative to their magnitude, on a logarithmic axis."""
    axes.set_title("drift of conserved quantities")
    axes.set_ylabel("relative drift")
    axes.set_yscale("log")
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(format_power_of_ten)
    kept = [f for f in audit_motion(motion).findings if f.conserved]
    moved, exact = [f for f in kept if f.departure], [f.quantity for f in kept if not f.departure]
    for n, finding in enumerate(moved):
        shown = np.where(finding.history > 0, finding.history, np.nan)
        axes.plot(motion.times, shown, color=COLOR_CYCLE[n % len(COLOR_CYCLE)], linewidth=1.2, label=finding.quantity)
    letters = int(axes.get_window_extent().width / axes.figure.dpi / LETTER_WIDTH)
    staying = wrap("exactly 0: " + ", ".join(exact), max(20, min(62, letters - 5))) if exact else []
    if exact:
        axes.plot([], [], linestyle="none", label="\n".join(staying))
    eps = float(np.finfo(float).eps)
    axes.axhline(eps, color=COLORS["muted"], linewidth=1.0, linestyle=(0, (3, 3)))
    place: dict[str, Any] = {"transform": axes.get_yaxis_transform(), "ha": "right", "va": "top"}
    axes.text(0.995, 0.8 * eps, "rounding", color=COLORS["muted"], fontsize=8, **place)
    # Space above the curves for the legend, a line for each entry.
    lines = len(moved) + len(staying)
    top = max([f.relative for f in moved] + [1e-13])
    share = min((0.2 * lines + 0.1) * axes.figure.dpi / axes.get_window_extent().height, 0.6)
    axes.set_ylim(1e-17, 1e-17 * (top / 1e-17) ** (1 / (1 - share)))
    format_time_axis(axes, motion)
    if lines:
        axes.legend(loc="upper left", handlelength=1.2, borderaxespad=0.1, labelspacing=0.3).set_in_layout(False)


def format_time_axis(axes: Axes, motion: Trajectory) -> None:
    """Label and limits of the time axis."""
    axes.set_xlabel("time (s)")
    if len(motion.times) > 1:
        axes.set_xlim(float(motion.times[0]), float(motion.times[-1]))


def _marker(motion: Trajectory) -> str:
    return "o" if len(motion.times) == 1 else ""
