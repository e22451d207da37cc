"""Panels of a sweep: each draws one thing about its results and inputs into given axes."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from polhode.plot.style import COLORS
from polhode.quantities.quantity import WRITTEN_UNITS

if TYPE_CHECKING:
    from polhode.ensembles.sensitivity import Sensitivity
    from polhode.ensembles.summary import QuantileBand, SummarizedResult, SweepSummary
    from polhode.ensembles.summary_inputs import SummarizedInput

RISES, FALLS, NEITHER = "#d55e00", "#0072b2", "#8a8a8a"
"""The color of an input with which a result rises, or falls; or neither."""
BAND = "#0072b2"
NARROW = 0.1
"""A band that is narrower than this part of the median's range is drawn from its median."""
MOST_BARS = 5
MOST_COLUMNS = 14
"""How many inputs are listed in a panel of bars, and in the table of correlations."""
CLEAR = 3
"""A number that exceeds so many of its standard errors is not chance."""
MEAN_POINTS = 20

UNITS = {**WRITTEN_UNITS, "1": ""}


def format_unit(unit: str) -> str:
    """A unit as it is written in pictures.

    Examples
    --------
    >>> format_unit("m s-1")
    'm/s'
    """
    return UNITS.get(unit, unit)


def format_count(count: int, thing: str) -> str:
    """So many things, in words.

    Examples
    --------
    >>> format_count(1, "member"), format_count(20000, "member")
    ('1 member', '20,000 members')
    """
    return f"{count:,} {thing}{'s' * (count != 1)}"


def with_unit(text: str, unit: str) -> str:
    """A label with its unit in parentheses."""
    written = format_unit(unit)
    return f"{text} ({written})" if written else text


def format_label(label: str) -> str:
    """A result as it is called in pictures.

    Examples
    --------
    >>> format_label("yaw_pitch_roll.pitch@final"), format_label("position[body 1].x@landing")
    ('pitch at the end', 'position x of body 1 at landing')
    """
    what, _, when = label.partition("@")
    owner = re.search(r"\[(.*?)\]", what)
    name, dot, component = re.sub(r"\[.*?\]", "", what).partition(".")
    shown = component if name in ("yaw_pitch_roll", "euler_angles") and dot else f"{name} {component}".rstrip()
    shown = shown.replace("_", " ") + (f" of {owner[1]}" if owner else "")
    return shown + (f" at {'the end' if when == 'final' else when}" if when else "")


def shorten_name(name: str, most: int = 20) -> str:
    """The end of a long name, which says most.

    Examples
    --------
    >>> shorten_name("bodies.0.angular_velocity_body.2")
    '…lar_velocity_body.2'
    """
    return name if len(name) <= most else "…" + name[1 - most :]


def format_with_error(value: float, error: float) -> str:
    """A number with its standard error, both to the second digit of the error.

    Examples
    --------
    >>> format_with_error(2972.574, 0.1234), format_with_error(0.03302, 6.1e-05)
    ('2972.57 ± 0.12', '0.033020 ± 0.000061')
    """
    if not (np.isfinite(error) and error > 0):
        return f"{value:.6g}"
    digits = 1 - math.floor(math.log10(error))
    if not 0 <= digits <= 8:
        return f"{value:.6g} ± {error:.1e}"
    return f"{value:.{digits}f} ± {error:.{digits}f}"


def round_to(value: float, resolution: float) -> str:
    """A number without digits that are smaller than a resolution.

    Examples
    --------
    >>> round_to(0.000072317, 0.0003), round_to(226.98, 0.08)
    ('0.0001', '226.98')
    """
    if not (np.isfinite(resolution) and resolution > 0):
        return f"{value:.6g}"
    digits = -math.floor(math.log10(resolution))
    return f"{value:.{digits}f}" if 0 <= digits <= 8 else f"{value:.4g}"


def draw_band(axes: Axes, band: QuantileBand) -> None:
    """Quantiles over time: nested bands, and the median as a line; counted from the median where the band is narrow."""
    count = len(band.probabilities)
    median, values = band.values[count // 2], band.values
    narrow = count % 2 == 1 and np.nanmax(values[-1] - values[0]) < NARROW * np.ptp(median[np.isfinite(median)])
    values = values - median if narrow else values
    axes.set_title(with_unit(format_label(band.label) + (" from its median" if narrow else ""), band.unit))
    for i in range(count // 2):
        low, high = band.probabilities[i], band.probabilities[count - 1 - i]
        axes.fill_between(
            band.times,
            values[i],
            values[count - 1 - i],
            color=BAND,
            alpha=0.2 + 0.2 * i,
            linewidth=0,
            label=f"{100 * (high - low):.3g} %",
        )
    if count % 2:
        axes.plot(band.times, values[count // 2], color=BAND, linewidth=1.8, label="median")
    axes.set_xlim(band.times[0], band.times[-1])
    fewer = band.counted.min() < band.counted.max()
    axes.set_xlabel("time (s), without members that have ended" if fewer else "time (s)")
    _few_ticks(axes)


def draw_histogram(axes: Axes, result: SummarizedResult) -> None:
    """How a result scatters: the counts of all members, the mean, and where the middle of them is."""
    axes.set_title(with_unit(format_label(result.label), result.unit))
    axes.stairs(result.counts, result.edges, fill=True, color=BAND, alpha=0.5)
    low, high = min(result.quantiles), max(result.quantiles)
    axes.axvspan(result.quantiles[low], result.quantiles[high], color=BAND, alpha=0.13, linewidth=0)
    axes.axvline(result.mean, color=COLORS["ink"], linewidth=1.3)
    axes.set_xlabel(f"mean {format_with_error(result.mean, result.standard_error)}")
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.set_ylim(0, 1.08 * max(float(result.counts.max()), 1.0))


def draw_shares(axes: Axes, summary: SweepSummary, i: int) -> None:
    """The inputs that matter most for a result: the share of its variance that each explains, with standard errors."""
    axes.set_title("share of its variance")
    drawn = list_strongest(summary, i, MOST_BARS)
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
        axes.text(end + 2, float(place), f"{max(100 * s.variance_share, 0.0):.0f} %", va="center", fontsize=8.5)
    axes.set_yticks(places, [shorten_name(summary.inputs[k].name) for k in drawn])
    axes.set_ylim(max(MOST_BARS, len(drawn)) - 0.4, -0.6)
    axes.set_xlim(0, 122)
    axes.set_xticks([0, 50, 100], ["0", "50", "100 %"])
    axes.set_xlabel(f"together {round(100 * summary.explained(i))} %")
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)


def list_strongest(summary: SweepSummary, i: int, most: int) -> list[int]:
    """The inputs that matter for a result beyond chance, strongest first; the strongest one in any case."""
    found = summary.sensitivities[i]
    known = [k for k in summary.strongest_inputs(i) if np.isfinite(found[k].variance_share)]
    clear = [k for k in known if found[k].variance_share > CLEAR * found[k].variance_share_error]
    return (clear or known[:1])[:most]


def color_of_sign(found: Sensitivity) -> str:
    """Whether a result rises or falls with an input, beyond chance."""
    if not abs(found.rank_correlation) > CLEAR * found.rank_correlation_error:
        return NEITHER
    return RISES if found.rank_correlation > 0 else FALLS


def draw_scatter(axes: Axes, given: SummarizedInput, result: SummarizedResult, found: Sensitivity) -> None:
    """One input and one result of the members that were compared, and the mean result for each range of the input."""
    share = f"{max(100 * found.variance_share, 0.0):.0f} %" if np.isfinite(found.variance_share) else "unknown share"
    axes.set_title(f"{share} of its variance")
    axes.plot(
        given.values,
        result.sample,
        linestyle="none",
        marker=".",
        markersize=2.4,
        markeredgewidth=0,
        color=color_of_sign(found),
        alpha=0.4,
        rasterized=True,
    )
    axes.plot(*find_conditional_means(given.values, result.sample), color=COLORS["ink"], linewidth=1.5)
    axes.set_xlabel(shorten_name(given.name, 36))
    axes.set_ylabel(format_unit(result.unit))
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
            text = f"{r:+.2f}" if clear else "·"
            axes.text(j, i, text, ha="center", va="center", fontsize=8.5, color=COLORS["ink" if clear else "muted"])
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(len(summary.results) - 0.5, -0.5)
    axes.set_yticks(range(len(summary.results)), [format_label(result.label) for result in summary.results])
    axes.set_xticks(
        range(len(columns)), [shorten_name(summary.inputs[k].name) for k in columns], rotation=30, ha="right"
    )
    axes.grid(visible=False)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _few_ticks(axes: Axes) -> None:
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_locator(MaxNLocator(5))
