"""The summary of a sweep in the terminal: tables with small histograms and bars."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.ensembles.sensitivity import LEAST_MEMBERS
from polhode.ensembles.summary_text import describe_count, describe_missing
from polhode.plot.sweep_panels import (
    FALLS,
    RISES,
    color_of_sign,
    format_label,
    format_unit,
    format_with_error,
    list_strongest,
    round_to,
)

if TYPE_CHECKING:
    from polhode.ensembles.summary import SweepSummary

LEVELS, BLOCKS = " ▁▂▃▄▅▆▇█", " ▏▎▍▌▋▊▉█"
PLAIN_LEVELS = " .:-=+*#@"
HISTOGRAM_WIDTH, BAR_WIDTH = 16, 20
MOST_INPUTS = 4


def can_print_blocks() -> bool:
    """Whether the terminal, or the file that output goes to, can hold the characters of bars."""
    try:
        (LEVELS + BLOCKS + "±").encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def draw_small_histogram(counts: Any, levels: str = LEVELS, width: int = HISTOGRAM_WIDTH) -> str:
    """Counts as a line of characters, each for a part of the bins.

    Examples
    --------
    >>> import numpy as np
    >>> draw_small_histogram(np.array([0, 1, 4, 8, 4, 1]), width=6)
    ' ▁▄█▄▁'
    """
    parts = np.array_split(np.asarray(counts, dtype=np.float64), min(width, len(counts)))
    sums = np.array([part.mean() for part in parts])
    top = sums.max()
    if top == 0:
        return levels[0] * len(sums)
    steps = np.ceil((len(levels) - 1) * sums / top).astype(int)  # what is there at all is seen
    return "".join(levels[step] for step in steps)


def draw_bar(share: float, blocks: str = BLOCKS, width: int = BAR_WIDTH) -> str:
    """A part of 1 as a bar.

    Examples
    --------
    >>> draw_bar(0.5, width=4), draw_bar(0.3, width=4)
    ('██  ', '█▎  ')
    """
    eighths = round(8 * width * min(max(share, 0.0), 1.0))
    full, rest = divmod(eighths, 8)
    return (blocks[-1] * full + (blocks[rest] if rest else "")).ljust(width)


def format_summary(summary: SweepSummary, blocks: bool = True) -> list[str]:
    """The lines of the summary, without its title; `blocks`: with the characters of bars."""
    lines = list(_result_rows(summary, blocks))
    if summary.inputs and summary.results:
        lines += ["", *_share_rows(summary, blocks)]
    if missing := [one for one in summary.results if one.counted < summary.members]:
        lines += ["", *(f"{format_label(one.label)}: {describe_missing(summary, one)}" for one in missing)]
    if summary.counts:
        lines += ["", *(describe_count(one) for one in summary.counts)]
    if summary.notes:
        lines += ["", *(f"note: {note}" for note in summary.notes)]
    return lines if blocks else [line.replace("±", "+-") for line in lines]


def _result_rows(summary: SweepSummary, blocks: bool) -> Iterator[str]:
    if not summary.results:
        return
    chosen = [p for p in summary.results[0].quantiles if p in (0.05, 0.5, 0.95)]
    rows = [["result", "", *(f"{100 * p:g} %" for p in chosen), "mean ± its error", "all members"]]
    for result in summary.results:
        numbers = [round_to(result.quantiles[p], result.standard_deviation / 30) for p in chosen]
        mean = format_with_error(result.mean, result.standard_error)
        small = draw_small_histogram(result.counts, LEVELS if blocks else PLAIN_LEVELS)
        rows.append([format_label(result.label), format_unit(result.unit), *numbers, mean, small])
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    for row in rows:
        cells = [
            cell.ljust(width) if k in (0, 1, len(row) - 1) else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


def _share_rows(summary: SweepSummary, blocks: bool) -> Iterator[str]:
    signs = {RISES: "+", FALLS: "-"}
    if all(s.variance_share != s.variance_share for row in summary.sensitivities for s in row):
        yield f"which input matters most: that takes at least {LEAST_MEMBERS} members"
        return
    yield "which input matters most: its share of the variance; + the result rises with it, - falls"
    labels = [format_label(result.label) for result in summary.results]
    width = max(map(len, labels))
    names = max(len(one.name) for one in summary.inputs)
    for i, label in enumerate(labels):
        for line, k in enumerate(list_strongest(summary, i, MOST_INPUTS)):
            found = summary.sensitivities[i][k]
            bar = draw_bar(found.variance_share, BLOCKS if blocks else "        #")
            share = f"{100 * max(found.variance_share, 0.0):3.0f} % ± {100 * found.variance_share_error:.1f}"
            sign = signs.get(color_of_sign(found), " ")
            yield f"{label if line == 0 else '':<{width}}  {sign} {summary.inputs[k].name:<{names}}  {bar} {share}"
        together = summary.explained(i)
        rest = (
            "; the rest: inputs that act together, or finer than this sees" if summary.is_missing_something(i) else ""
        )
        yield f"{'':<{width}}    {'single inputs together':<{names + BAR_WIDTH + 3}}{round(100 * together):3d} %{rest}"
