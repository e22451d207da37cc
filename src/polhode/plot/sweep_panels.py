"""Panels of a sweep: each draws one thing about its results and inputs into given axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from polhode.plot.style import COLORS

if TYPE_CHECKING:
    from polhode.ensembles.sensitivity import Sensitivity
    from polhode.ensembles.summary import QuantileBand, SummarizedResult, SweepSummary
    from polhode.ensembles.summary_inputs import SummarizedInput

RISES, FALLS, NEITHER = "#d55e00", "#0072b2", "#8a8a8a"
"""The color of an input with which a result rises, or falls; or neither."""
BAND = "#0072b2"
MOST_BARS = 6
MOST_COLUMNS = 14
"""How many inputs are listed in a panel of bars, and in the table of correlations."""
CLEAR = 3
"""A number that exceeds so many of its standard errors is not chance."""
MEAN_POINTS = 20

UNITS = {"1": "", "m s-1": "m/s", "m s-2": "m/s²", "rad s-1": "rad/s", "rad s-2": "rad/s²", "kg m s-1": "kg m/s"}
UNITS |= {"kg m2 s-1": "kg m²/s", "kg m2": "kg m²"}


def format_unit(unit: str) -> str:
    """A unit as it is written in pictures.

    Examples
    --------
    >>> format_unit("m s-1")
    'm/s'
    """
    return UNITS.get(unit, unit)


def with_unit(text: str, unit: str) -> str:
    """A label with its unit in parentheses."""
    written = format_unit(unit)
    return f"{text} ({written})" if written else text


def format_label(label: str) -> str:
    """A result as it is called in pictures: "position.z at the end"."""
    what, _, when = label.partition("@")
    return what + (f" at {'the end' if when == 'final' else when}" if when else "")


def draw_band(axes: Axes, band: QuantileBand) -> None:
    """Quantiles over time: nested bands, and the median as a line."""
    axes.set_title(with_unit(band.label, band.unit))
    count = len(band.probabilities)
    for i in range(count // 2):
        low, high = band.probabilities[i], band.probabilities[count - 1 - i]
        share = f"{100 * (high - low):.3g} %"
        axes.fill_between(
            band.times,
            band.values[i],
            band.values[count - 1 - i],
            color=BAND,
            alpha=0.18 + 0.17 * i,
            linewidth=0,
            label=f"{share} of the members",
        )
    if count % 2:
        axes.plot(band.times, band.values[count // 2], color=BAND, linewidth=1.8, label="median")
    axes.set_xlim(band.times[0], band.times[-1])
    axes.set_xlabel("time (s)")
    _few_ticks(axes)


def draw_histogram(axes: Axes, result: SummarizedResult) -> None:
    """How a result scatters: the counts of all members, mean, and the range of the middle 90 %."""
    axes.set_title(format_label(result.label))
    axes.stairs(result.counts, result.edges, fill=True, color=BAND, alpha=0.45)
    low, high = min(result.quantiles), max(result.quantiles)
    share = f"{100 * (high - low):.3g} %"
    axes.axvspan(result.quantiles[low], result.quantiles[high], color=BAND, alpha=0.12, linewidth=0)
    axes.axvline(result.mean, color=COLORS["ink"], linewidth=1.3)
    axes.set_xlabel(with_unit(f"mean {result.mean:.4g} ± {result.standard_error:.1g}", result.unit))
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.text(
        0.99, 0.97, f"{share} within\n{result.quantiles[low]:.4g} to {result.quantiles[high]:.4g}", ha="right", va="top",
        transform=axes.transAxes, fontsize=8, color=COLORS["muted"],
    )  # fmt: skip
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.set_ylim(top=1.3 * max(float(result.counts.max()), 1.0))


def draw_shares(axes: Axes, summary: SweepSummary, i: int) -> None:
    """The inputs that matter most for a result: the share of its variance that each explains, with standard errors."""
    result = summary.results[i]
    axes.set_title(format_label(result.label))
    known = [k for k in summary.strongest_inputs(i) if np.isfinite(summary.sensitivities[i][k].variance_share)]
    drawn = known[:MOST_BARS]
    found = [summary.sensitivities[i][k] for k in drawn]
    places = np.arange(len(drawn))
    axes.barh(
        places,
        [100 * max(s.variance_share, 0.0) for s in found],
        xerr=[100 * s.variance_share_error for s in found],
        color=[color_of_sign(s) for s in found],
        height=0.62,
        error_kw={"ecolor": COLORS["ink"], "elinewidth": 1.0, "capsize": 2.5},
    )
    for place, s in zip(places, found, strict=True):
        end = 100 * (max(s.variance_share, 0.0) + s.variance_share_error)
        axes.text(end + 2, place, f"{100 * s.variance_share:.0f} %", va="center", fontsize=8.5, color=COLORS["ink"])
    axes.set_yticks(places, [summary.inputs[k].name for k in drawn])
    axes.set_ylim(max(MOST_BARS, len(drawn)) - 0.4, -0.6)
    axes.set_xlim(0, 118)
    axes.set_xticks([0, 25, 50, 75, 100], ["0", "25", "50", "75", "100 %"])
    axes.set_xlabel(f"share of the variance; together {100 * summary.explained(i):.0f} %")
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)


def color_of_sign(found: Sensitivity) -> str:
    """Whether a result rises or falls with an input, beyond chance."""
    if not abs(found.rank_correlation) > CLEAR * found.rank_correlation_error:
        return NEITHER
    return RISES if found.rank_correlation > 0 else FALLS


def draw_scatter(axes: Axes, given: SummarizedInput, result: SummarizedResult, found: Sensitivity) -> None:
    """One input and one result of the members that were compared, and the mean result for each range of the input."""
    color = color_of_sign(found)
    axes.set_title(
        f"{100 * found.variance_share:.0f} % of the variance" if found.variance_share == found.variance_share else ""
    )
    axes.plot(
        given.values, result.sample, linestyle="none", marker=".", markersize=2.2, markeredgewidth=0, color=color,
        alpha=0.35, rasterized=True,
    )  # fmt: skip
    x, y = find_conditional_means(given.values, result.sample)
    axes.plot(x, y, color=COLORS["ink"], linewidth=1.5)
    axes.set_xlabel(given.name)
    axes.set_ylabel(with_unit(format_label(result.label), result.unit))
    _few_ticks(axes)


def find_conditional_means(given: Any, result: Any) -> tuple[Any, Any]:
    """The mean of a result in equally frequent ranges of an input, beside the mean of the input there.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = find_conditional_means(np.arange(40.0), np.arange(40.0) ** 2)
    >>> x[:2].tolist(), y[:2].tolist()
    ([0.5, 2.5], [0.5, 6.5])
    """
    valid = ~(np.isnan(given) | np.isnan(result))
    order = np.argsort(given[valid], kind="stable")
    parts = np.array_split(order, max(min(MEAN_POINTS, len(order)), 1))
    x, y = given[valid], result[valid]
    return np.array([x[p].mean() for p in parts if len(p)]), np.array([y[p].mean() for p in parts if len(p)])


def choose_columns(summary: SweepSummary) -> list[int]:
    """The inputs that are listed in the table of correlations: all, or those that matter most."""
    if len(summary.inputs) <= MOST_COLUMNS:
        return list(range(len(summary.inputs)))
    best = [
        np.nanmax([abs(row[k].rank_correlation) for row in summary.sensitivities] or [0.0])
        for k in range(len(summary.inputs))
    ]
    return sorted(sorted(range(len(best)), key=lambda k: -best[k])[:MOST_COLUMNS])


def draw_correlations(axes: Axes, summary: SweepSummary) -> None:
    """Rank correlations of results and inputs, as a table of colored cells; those that may be chance are gray."""
    columns = choose_columns(summary)
    for i, row in enumerate(summary.sensitivities):
        for j, k in enumerate(columns):
            r, error = row[k].rank_correlation, row[k].rank_correlation_error
            if not np.isfinite(r):
                continue
            clear = abs(r) > CLEAR * error
            if clear:
                axes.fill_between(
                    (j - 0.47, j + 0.47),
                    i - 0.45,
                    i + 0.45,
                    color=RISES if r > 0 else FALLS,
                    alpha=0.85 * abs(r),
                    linewidth=0,
                )
            text = f"{r:+.2f}".replace("-", "−") if clear else "·"
            axes.text(j, i, text, ha="center", va="center", fontsize=8.5, color=COLORS["ink" if clear else "muted"])
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(len(summary.results) - 0.5, -0.5)
    axes.set_yticks(range(len(summary.results)), [format_label(result.label) for result in summary.results])
    axes.set_xticks(range(len(columns)), [summary.inputs[k].name for k in columns], rotation=30, ha="right")
    axes.grid(visible=False)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _few_ticks(axes: Axes) -> None:
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_locator(MaxNLocator(5))
