"""The work-precision record as a picture: a panel a problem, error against wall time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from polhode.plot.style import COLORS, format_power_of_ten, styled_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FAMILIES = {
    "polhode": ("Polhode", "#0072b2"),
    "heyoka": ("heyoka", "#d55e00"),
    "scipy": ("SciPy", "#009e73"),
    "mujoco": ("MuJoCo", "#8e3b8b"),
    "drake": ("Drake", "#e69f00"),
    "basilisk": ("Basilisk", "#56b4e9"),
}
"""Name and color of each package."""
TITLES = {
    "hairer_vilmart_asymmetric": "free, asymmetric",
    "hairer_vilmart_flat": "free, flat",
    "boxes_complex": "box under gravity",
    "simo_wong_heavy_top": "heavy top",
    "drag_and_thruster": "gravity, drag, thruster",
}
HIGHEST, LOWEST = 1e-1, 1e-16
NEVER_SLOWER = 1.0
LEAST_GAIN = 1.5


def pareto_front(points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points (seconds, error) that no other beats in both, fastest first; more time must gain something."""
    found: list[tuple[float, float]] = []
    for seconds, error in sorted(points):
        if error < (found[-1][1] / LEAST_GAIN if found else HIGHEST):
            found.append((seconds, error))
    return found


def draw_precision_figure(result: dict[str, Any]) -> Figure:
    """Five panels and a legend."""
    with styled_figure(9.6, 6.6, "Error at the end against wall time, one run") as drawn:
        panels = drawn.subplots(2, 3, sharex=True, sharey=True).ravel()
        for axes, problem in zip(panels, result["problems"], strict=False):
            _draw_problem(axes, problem)
        for i, axes in enumerate(panels[: len(result["problems"])]):
            if i % 3 == 0:
                axes.set_ylabel("error (rad)")
        for axes in panels[len(result["problems"]) - 3 : len(result["problems"])]:
            axes.set_xlabel("wall time (s)")
            axes.xaxis.set_tick_params(labelbottom=True)
        for axes in panels[len(result["problems"]) :]:
            axes.set_axis_off()
        _draw_legend(panels[-1], result["problems"])
    return drawn


def _draw_problem(axes: Any, problem: dict[str, Any]) -> None:
    axes.set_title(TITLES.get(problem["name"], problem["name"]))
    axes.set(xscale="log", yscale="log", xlim=(5e-7, NEVER_SLOWER), ylim=(LOWEST, HIGHEST))
    axes.xaxis.set_major_formatter(format_power_of_ten)
    axes.yaxis.set_major_formatter(format_power_of_ten)
    axes.axhline(problem["conditioning_rad"], color=COLORS["muted"], linewidth=0.9, linestyle=(0, (1, 2)), zorder=1)
    singles = [entry for entry in problem["contestants"] if not entry["per_member"]]
    for family, (_, color) in reversed(FAMILIES.items()):
        of_family = [_finite_points(entry) for entry in singles if entry["family"] == family]
        if family == "polhode":
            for points in _points_by_method(singles):
                axes.plot(*_columns(pareto_front(points)), color=color, linewidth=0.7, alpha=0.3, zorder=2)
        best = pareto_front(point for points in of_family for point in points)
        if best and best[0][1] < problem["conditioning_rad"]:
            best = best[:1]  # it is exact: what others gain on it is luck
        bold = family == "polhode"
        if bold and len(best) == 1:
            axes.annotate("exact", best[0], xytext=(7, -3), textcoords="offset points", color=color, fontsize=9)
        axes.plot(
            *_columns(best),
            color=color,
            linewidth=2.4 if bold else 1.5,
            marker="o",
            markersize=(7 if len(best) == 1 else 4) if bold else 2.6,
            zorder=4 if bold else 3,
        )


def _points_by_method(entries: Sequence[dict[str, Any]]) -> Iterable[list[tuple[float, float]]]:
    """The points of each method of ours, in all formulations together."""
    found: dict[str, list[tuple[float, float]]] = {}
    for entry in entries:
        if entry["family"] == "polhode":
            found.setdefault(entry["name"].partition(",")[0], []).extend(_finite_points(entry))
    return found.values()


def _finite_points(entry: dict[str, Any]) -> list[tuple[float, float]]:
    """As measured, without those that went astray."""
    return [
        (p["seconds"], max(p["error"], LOWEST))
        for p in entry["points"]
        if p["error"] is not None and math.isfinite(p["error"]) and p["error"] < HIGHEST
    ]


def _columns(points: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [seconds for seconds, _ in points], [error for _, error in points]


def _draw_legend(axes: Any, problems: Sequence[dict[str, Any]]) -> None:
    from matplotlib.lines import Line2D

    seen = {entry["family"] for problem in problems for entry in problem["contestants"]}
    handles = [
        Line2D([], [], color=color, linewidth=2.4 if family == "polhode" else 1.5, marker="o", markersize=4, label=name)
        for family, (name, color) in FAMILIES.items()
        if family in seen
    ]
    own = FAMILIES["polhode"][1]
    handles += [
        Line2D([], [], color=own, linewidth=0.7, alpha=0.4, label="Polhode's methods, each"),
        Line2D(
            [],
            [],
            color=COLORS["muted"],
            linewidth=0.9,
            linestyle=(0, (1, 2)),
            label="one unit in the data's\nlast places",
        ),
    ]
    axes.legend(handles=handles, loc="center", fontsize=10, labelspacing=0.7, title="each package at its best")
