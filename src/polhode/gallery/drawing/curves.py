"""Panels of curves: four quantities of a flight, with what a closed form says drawn below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from polhode.validation import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class CurvePanel(NamedTuple):
    """One panel: curves by name, each (x, y)."""

    title: str
    across: str
    up: str
    curves: Mapping[str, tuple[Array, Array]]
    expected: Mapping[str, tuple[Any, Any]] = {}
    """From a closed form, drawn as a broad line below."""


def draw_curve_panels(title: str, panels: Sequence[CurvePanel]) -> Figure:
    """A figure of four panels."""
    from polhode.plot.style import COLOR_CYCLE, add_legend_above, draw_closed_form, styled_figure

    with styled_figure(11.0, 7.2, title) as figure:
        for axes, panel in zip(figure.subplots(2, 2).ravel(), panels, strict=True):
            for label, (x, y) in panel.expected.items():
                draw_closed_form(axes, x, y, label)
            for k, (label, (x, y)) in enumerate(panel.curves.items()):
                axes.plot(x, y, color=COLOR_CYCLE[k], label=label, linewidth=1.4)
            axes.set_title(panel.title)
            axes.set_xlabel(panel.across)
            axes.set_ylabel(panel.up)
            if len(panel.curves) + len(panel.expected) > 1:
                add_legend_above(axes, 4)
    return figure
