"""The summary of a sweep as one picture."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from matplotlib.axes import Axes

from polhode.plot import sweep_panels as panels
from polhode.plot.style import COLORS, styled_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from polhode.ensembles.summary import SweepSummary

COLUMNS = 4
PANEL_WIDTH, PANEL_HEIGHT, HEADING = 3.4, 2.3, 0.5
"""In inches."""
RESULTS = "results: how they scatter, which inputs matter most, and the two strongest ones beside each result"
CORRELATIONS = "rank correlations: +1, the result always rises with the input; -1, it always falls; ·, it may be chance"
SIGNS = "orange: the result rises with the input; blue: it falls; gray: neither. Lines: the mean"

Panel = Callable[[Axes], None]


def draw_sweep(summary: SweepSummary) -> Figure:
    """The whole summary: results and what decides them, bands over time, and correlations.

    Parameters
    ----------
    summary : SweepSummary
        Made by `summarize_sweep`.

    Returns
    -------
    matplotlib.figure.Figure
        `figure.savefig("sweep.png")` writes it.
    """
    bands: list[Panel] = [_bind(panels.draw_band, band) for band in summary.bands]
    sections: list[tuple[str, list[list[Panel]]]] = []
    if summary.results:
        sections.append((RESULTS, [list_panels(summary, i) for i in range(len(summary.results))]))
    if bands:
        rows = [bands[i : i + COLUMNS] for i in range(0, len(bands), COLUMNS)]
        sections.append((f"over time: the median, and where {_shares(summary)} of the members are", rows))
    heights = [HEADING + PANEL_HEIGHT * len(rows) for _, rows in sections]
    compared = bool(summary.inputs and summary.results)
    heights += [HEADING + 1.0 + 0.34 * len(summary.results)] if compared else []
    with styled_figure(COLUMNS * PANEL_WIDTH, 0.9 + sum(heights)) as figure:
        figure.set_layout_engine("constrained", w_pad=0.08, h_pad=0.07, hspace=0.0, wspace=0.03)
        top, *parts = figure.subfigures(len(heights) + 1, 1, height_ratios=[0.9, *heights], squeeze=False).ravel()
        draw_heading(top, summary)
        for part, (title, rows) in zip(parts, sections, strict=False):
            _draw_title(part, title)
            grid = part.subplots(len(rows), COLUMNS, squeeze=False)
            for line, drawn in zip(grid, rows, strict=True):
                for i, axes in enumerate(line):
                    if i < len(drawn):
                        drawn[i](axes)
                    else:
                        axes.axis("off")
        if compared:
            _draw_title(parts[-1], CORRELATIONS)
            panels.draw_correlations(parts[-1].subplots(), summary)
    return figure


def draw_heading(part: Any, summary: SweepSummary) -> None:
    """Title, how the sweep was made, and what the colors mean."""
    part.text(0.012, 0.82, summary.title, fontsize=16, fontweight="bold", ha="left", va="center")
    about = [
        panels.format_count(summary.members, "member"),
        *(f"{key} {value}" for key, value in list(summary.settings.items())[:6]),
    ]
    about += [f"{summary.failed:,} failed"] if summary.failed else []
    part.text(0.012, 0.47, " · ".join(about), fontsize=10, ha="left", va="center", color=COLORS["muted"])
    if summary.inputs:
        part.text(0.012, 0.18, SIGNS, fontsize=10, ha="left", va="center", color=COLORS["muted"])


def list_panels(summary: SweepSummary, i: int) -> list[Panel]:
    """What is drawn of one result: how it scatters, which inputs matter most, and the two strongest beside it."""
    drawn: list[Panel] = [_bind(panels.draw_histogram, summary.results[i])]
    if not summary.inputs:
        return drawn
    drawn.append(_bind(panels.draw_shares, summary, i))
    for k in panels.list_strongest(summary, i, 2):
        found = summary.sensitivities[i][k]
        drawn.append(_bind(panels.draw_scatter, summary.inputs[k], summary.results[i], found))
    return drawn


def _shares(summary: SweepSummary) -> str:
    found = {
        f"{100 * (p[-1 - i] - p[i]):.3g} %"
        for p in (band.probabilities for band in summary.bands)
        for i in range(len(p) // 2)
    }
    return " and ".join(sorted(found, key=lambda text: float(text.split()[0])))


def _draw_title(part: Any, title: str) -> None:
    part.suptitle(title, x=0.012, ha="left", fontsize=12, fontweight="bold")


def _bind(draw: Callable[..., None], *arguments: Any) -> Panel:
    return lambda axes: draw(axes, *arguments)
