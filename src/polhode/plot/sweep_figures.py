"""The summary of a sweep as one picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.axes import Axes

from polhode.plot import sweep_panels as panels
from polhode.plot.style import COLORS, styled_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from polhode.ensembles.summary import SweepSummary

COLUMNS = 4
PANEL_WIDTH, PANEL_HEIGHT = 3.5, 2.55
"""In inches."""

Panel = Callable[[Axes], None]


def draw_sweep(summary: SweepSummary) -> Figure:
    """The whole summary: results, bands over time, which input matters most, scatter, correlations.

    Parameters
    ----------
    summary : SweepSummary
        Made by `summarize_sweep`.

    Returns
    -------
    matplotlib.figure.Figure
        `figure.savefig("sweep.png")` writes it.
    """
    sections = [(title, drawn) for title, drawn in list_sections(summary) if drawn]
    rows = [-(-len(drawn) // COLUMNS) for _, drawn in sections]
    table = 0.9 + 0.36 * len(summary.results)
    heights = [0.35 + PANEL_HEIGHT * count for count in rows] + (
        [0.8 + table] if summary.sensitivities and summary.inputs else []
    )
    with styled_figure(COLUMNS * PANEL_WIDTH, 0.9 + sum(heights)) as figure:
        top, *parts = figure.subfigures(len(heights) + 1, 1, height_ratios=[0.75, *heights])
        draw_heading(top, summary)
        for part, (title, drawn), count in zip(parts, sections, rows, strict=False):
            part.suptitle(title, x=0.012, ha="left", fontsize=12, fontweight="bold")
            grid = part.subplots(count, COLUMNS, squeeze=False).ravel()
            for axes, panel in zip(grid, drawn, strict=False):
                panel(axes)
            for axes in grid[len(drawn) :]:
                axes.axis("off")
        if len(parts) > len(sections):
            parts[-1].suptitle(
                "rank correlations: +1 the result always rises with the input, −1 it always falls; · may be chance",
                x=0.012,
                ha="left",
                fontsize=12,
                fontweight="bold",
            )
            panels.draw_correlations(parts[-1].subplots(), summary)
    return figure


def draw_heading(part: Any, summary: SweepSummary) -> None:
    """Title, and how the sweep was made, in one line."""
    part.text(0.012, 0.78, summary.title, fontsize=16, fontweight="bold", ha="left", va="center")
    about = [f"{summary.members:,} members", *(f"{key} {value}" for key, value in list(summary.settings.items())[:6])]
    about += [f"{summary.failed:,} failed"] if summary.failed else []
    part.text(0.012, 0.3, " · ".join(about), fontsize=10, ha="left", va="center", color=COLORS["muted"])


def list_sections(summary: SweepSummary) -> list[tuple[str, list[Panel]]]:
    """The panels by section, without the table of correlations."""
    return [
        ("results: how they scatter", [_bind(panels.draw_histogram, result) for result in summary.results]),
        ("over time: median, and where half and nine tenths of the members are", list_bands(summary)),
        (
            "which input matters most: orange, the result rises with it; blue, it falls; gray, neither",
            [_bind(panels.draw_shares, summary, i) for i in range(len(summary.results)) if summary.inputs],
        ),
        (
            "each result beside the input that matters most for it; the line is the mean",
            [_scatter(summary, i, k) for i in range(len(summary.results)) for k in list_drawn_inputs(summary, i, 1)],
        ),
    ]


def list_bands(summary: SweepSummary) -> list[Panel]:
    """The panels over time."""
    return [_bind(panels.draw_band, band) for band in summary.bands]


def list_drawn_inputs(summary: SweepSummary, result: int, most: int) -> Sequence[int]:
    """The inputs whose scatter with a result is drawn: the strongest ones, if their share is not chance."""
    found = summary.sensitivities[result]
    strongest = [k for k in summary.strongest_inputs(result) if found[k].variance_share == found[k].variance_share]
    clear = [k for k in strongest if found[k].variance_share > panels.CLEAR * found[k].variance_share_error]
    return (clear or strongest[:1])[:most]


def _scatter(summary: SweepSummary, i: int, k: int) -> Panel:
    return _bind(panels.draw_scatter, summary.inputs[k], summary.results[i], summary.sensitivities[i][k])


def _bind(draw: Callable[..., None], *arguments: Any) -> Panel:
    return lambda axes: draw(axes, *arguments)
