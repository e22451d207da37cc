"""The summary of a sweep as one page: pictures as inline SVG, tables, no script, nothing from the network."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes

from polhode.io.atomic_files import check_suffix, write_atomic
from polhode.plot import sweep_panels as panels
from polhode.plot.style import COLORS, styled_figure
from polhode.plot.sweep_figures import list_panels
from polhode.version import __version__
from polhode.web.html_page import HTML_SUFFIXES

if TYPE_CHECKING:
    from polhode.ensembles.summary import SweepSummary

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
THEME_COLORS = {
    COLORS["ink"]: "var(--ink)",
    "#555555": "var(--soft)",
    COLORS["muted"]: "var(--soft)",
    "#9a9a9a": "var(--edge)",
    "#e8e8e8": "var(--grid)",
    panels.FALLS: "var(--blue)",
    panels.RISES: "var(--orange)",
}
"""Colors of the pictures, which follow the page in light and dark."""
PANEL = (3.5, 2.35)
"""Of one picture, in inches."""
STYLE = """
:root { color-scheme: light dark; --paper: #ffffff; --card: #f7f6f3; --ink: #222222; --soft: #5c5c5c; --edge: #9a9a9a;
  --grid: #e4e2dd; --blue: #0072b2; --orange: #d55e00; }
@media (prefers-color-scheme: dark) { :root { --paper: #15181b; --card: #1e2226; --ink: #e8e6e1; --soft: #a9a7a2;
  --edge: #6d7175; --grid: #30353a; --blue: #56b4e9; --orange: #f0883e; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1280px; padding: 1.5rem clamp(0.9rem, 3vw, 2.5rem) 3rem; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.7rem; margin: 0; } h2 { font-size: 1.2rem; margin: 2.2rem 0 0.4rem; }
h3 { font-size: 1.02rem; margin: 0; }
p { margin: 0.3rem 0 0.6rem; max-width: 85ch; } .soft { color: var(--soft); }
section.result { background: var(--card); border-radius: 10px; padding: 0.9rem 1rem 0.6rem; margin: 0.8rem 0; }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 265px), 1fr)); gap: 0.4rem 0.9rem; }
figure { margin: 0; } figure svg { display: block; width: 100%; height: auto; }
figure svg text { font-family: system-ui, sans-serif !important; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: 0.88rem; }
th, td { padding: 0.28rem 0.6rem; text-align: left; border-bottom: 1px solid var(--grid); white-space: nowrap; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; } th { font-weight: 600; }
table.r td { text-align: center; min-width: 3.6rem; } table.r thead th { vertical-align: bottom; white-space: normal; }
.key { white-space: nowrap; margin-right: 1em; } .key i { display: inline-block; width: 0.75em; height: 0.75em;
  border-radius: 2px; margin-right: 0.35em; }
ul { padding-left: 1.1rem; max-width: 80ch; } footer { margin-top: 2.5rem; color: var(--soft); font-size: 0.85rem; }
"""


class PageTexts(NamedTuple):
    """What a page says beside its numbers."""

    results: Sequence[str]
    """One or two sentences for each result."""
    counts: Sequence[str]
    """One for each count of members with a property."""
    caveats: Sequence[str]
    """What the numbers can and cannot say."""


def write_sweep_page(summary: SweepSummary, texts: PageTexts, path: Path) -> None:
    """Write the page of a sweep."""
    check_suffix(path, HTML_SUFFIXES, "a page")
    write_atomic(path, build_sweep_page(summary, texts).encode())


def build_sweep_page(summary: SweepSummary, texts: PageTexts) -> str:
    """The page as one text."""
    parts = [
        _head(summary, texts.counts),
        _results(summary, texts.results),
        _bands(summary),
        _correlations(summary),
        _inputs(summary),
    ]
    parts += [_settings(summary), _caveats(summary, texts.caveats)]
    title = html.escape(summary.title)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}: sweep of {panels.format_count(summary.members, 'member')}</title>"
        f"<style>{STYLE}</style></head><body>\n"
        + "\n".join(part for part in parts if part)
        + f"\n<footer>Polhode {html.escape(__version__)}</footer>\n</body></html>\n"
    )


def _head(summary: SweepSummary, counts: Sequence[str]) -> str:
    failed = ""
    if summary.failed:
        first = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in summary.failures)
        failed = f"<p><strong>{panels.format_count(summary.failed, 'member')} failed</strong>; "
        failed += "their numbers are missing from there on.</p>"
        failed += f"<ul>{first}</ul>" if first else ""
    listed = "".join(f"<li>{html.escape(text)}</li>" for text in counts)
    counted = ((summary.members, "member"), (len(summary.inputs), "uncertain input"), (len(summary.results), "result"))
    about = ", ".join(panels.format_count(count, thing) for count, thing in counted)
    return (
        f"<header><h1>{html.escape(summary.title)}</h1><p class='soft'>{about}</p></header>"
        f"{failed}{_overview(summary)}{f'<ul>{listed}</ul>' if listed else ''}"
    )


def _overview(summary: SweepSummary) -> str:
    """One row for each result."""
    if not summary.results:
        return ""
    probabilities = sorted(summary.results[0].quantiles)
    shown = [p for p in probabilities if p in (min(probabilities), 0.5, max(probabilities))]
    head = "".join(f"<th class='n'>{100 * p:g} %</th>" for p in shown)
    rows = []
    for i, result in enumerate(summary.results):
        fine = result.standard_deviation / 30
        numbers = "".join(f"<td class='n'>{panels.round_to(result.quantiles[p], fine)}</td>" for p in shown)
        strongest = panels.list_strongest(summary, i, 1) if summary.inputs else []
        named = f"{html.escape(summary.inputs[strongest[0]].name)}" if strongest else ""
        share = f" ({100 * max(summary.sensitivities[i][strongest[0]].variance_share, 0.0):.0f} %)" if strongest else ""
        rows.append(
            f"<tr><th>{html.escape(panels.format_label(result.label))}</th>"
            f"<td>{html.escape(panels.format_unit(result.unit))}</td>"
            f"<td class='n'>{panels.format_with_error(result.mean, result.standard_error)}</td>{numbers}"
            + _extreme_cell(result.smallest, result.smallest_member, fine)
            + _extreme_cell(result.largest, result.largest_member, fine)
            + f"<td>{named}{share}</td></tr>"
        )
    return (
        "<div class='scroll'><table><thead><tr><th>result</th><th></th><th class='n'>mean</th>"
        f"{head}<th class='n'>smallest, member</th><th class='n'>largest, member</th><th>strongest input</th></tr>"
        f"</thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _extreme_cell(value: float, member: int, fine: float) -> str:
    return f"<td class='n'>{panels.round_to(value, fine)} <span class='soft'>#{member}</span></td>"


def _results(summary: SweepSummary, sentences: Sequence[str]) -> str:
    if not summary.results:
        return ""
    cards = []
    for i, (result, sentence) in enumerate(zip(summary.results, sentences, strict=True)):
        label = panels.format_label(result.label)
        pictures = "".join(
            _figure(draw, f"{label}: {what}")
            for draw, what in zip(
                list_panels(summary, i), ("distribution", "shares of its variance", *["scatter"] * 2), strict=False
            )
        )
        number = panels.format_with_error(result.mean, result.standard_error)
        unit = panels.format_unit(result.unit)
        cards.append(
            f"<section class='result'><h3>{html.escape(label)}: {number} {html.escape(unit)}</h3>"
            f"<p>{html.escape(sentence).replace(' %', '&nbsp;%')}</p><div class='grid'>{pictures}</div></section>"
        )
    keys = (("--orange", "the result rises with the input"), ("--blue", "it falls"), ("--soft", "neither"))
    legend = " ".join(
        f"<span class='key'><i style='background: var({color})'></i>{text}</span>" for color, text in keys
    )
    note = "Means with their standard errors; shaded, where 90 % of the members are; lines, the mean."
    note += f"<br>{legend}" if summary.inputs else ""
    return f"<h2>Results, and what decides them</h2><p class='soft'>{note}</p>{''.join(cards)}"


def _bands(summary: SweepSummary) -> str:
    if not summary.bands:
        return ""
    pictures = "".join(
        _figure(lambda axes, band=band: panels.draw_band(axes, band), f"{panels.format_label(band.label)} over time")  # type: ignore[misc]
        for band in summary.bands
    )
    error = max(band.rank_error for band in summary.bands)
    exact = "These quantiles are exact." if error == 0 else f"Ranks are within {100 * error:.2g} % of the members."
    shares = sorted(
        {
            f"{100 * (b.probabilities[-1 - i] - b.probabilities[i]):.3g} %"
            for b in summary.bands
            for i in range(len(b.probabilities) // 2)
        }
    )
    return (
        "<h2>Over time</h2>"
        f"<p class='soft'>The median, and where {' and '.join(shares)} of the members are. {exact}</p>"
        f"<div class='grid'>{pictures}</div>"
    )


def _correlations(summary: SweepSummary) -> str:
    if not summary.inputs or not summary.results:
        return ""
    head = "".join(f"<th>{html.escape(one.name)}</th>" for one in summary.inputs)
    rows = []
    for result, found in zip(summary.results, summary.sensitivities, strict=True):
        cells = "".join(_correlation_cell(s.rank_correlation, s.rank_correlation_error) for s in found)
        rows.append(f"<tr><th>{html.escape(panels.format_label(result.label))}</th>{cells}</tr>")
    return (
        "<h2>Rank correlations</h2><p class='soft'>+1: the result always rises with the input; -1: it always falls; "
        "dots may be chance.</p>"
        f"<div class='scroll'><table class='r'><thead><tr><th></th>{head}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _correlation_cell(r: float, error: float) -> str:
    if not np.isfinite(r) or abs(r) <= panels.CLEAR * error:
        return "<td class='soft'>·</td>"
    color, depth = ("--orange" if r > 0 else "--blue"), round(75 * abs(r))
    return f"<td style='background: color-mix(in srgb, var({color}) {depth}%, transparent)'>{r:+.2f}</td>"


def _inputs(summary: SweepSummary) -> str:
    if not summary.inputs:
        return ""
    rows = "".join(
        f"<tr><th>{html.escape(one.name)}</th><td>{html.escape(one.distribution)}</td>"
        f"<td class='n'>{panels.round_to(one.mean, one.deviation / 30)}</td><td class='n'>{one.deviation:.3g}</td></tr>"
        for one in summary.inputs
    )
    return (
        "<h2>Inputs</h2><div class='scroll'><table><thead><tr><th>input</th><th>distribution</th>"
        f"<th class='n'>mean</th><th class='n'>standard deviation</th></tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _settings(summary: SweepSummary) -> str:
    rows = "".join(
        f"<tr><th>{html.escape(key)}</th><td>{html.escape(value)}</td></tr>" for key, value in summary.settings.items()
    )
    return f"<h2>Settings</h2><div class='scroll'><table><tbody>{rows}</tbody></table></div>" if rows else ""


def _caveats(summary: SweepSummary, caveats: Sequence[str]) -> str:
    told = [*summary.notes, *(caveats if summary.inputs else ())]
    items = "".join(f"<li>{html.escape(text)}</li>" for text in told)
    return f"<h2>How to read this</h2><ul>{items}</ul>" if items else ""


def _figure(draw: Callable[[Axes], None], label: str) -> str:
    """A panel as inline SVG, in the colors of the page."""
    stream = io.StringIO()
    with styled_figure(*PANEL) as figure, matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": label}):
        draw(figure.subplots())
        figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None, "Creator": None}, dpi=144)
    return f"<figure>{_as_inline(stream.getvalue(), label)}</figure>"


def _as_inline(text: str, label: str) -> str:
    """An SVG file as a part of a page: no prolog, no metadata, no names that several pictures share."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    used = set(re.findall(r'(?:url\(#|href="#)([^)"]+)', text))
    text = re.sub(r' id="([^"]*)"', lambda found: found[0] if found[1] in used else "", text)
    for color, variable in THEME_COLORS.items():
        text = text.replace(color, variable)
    text = re.sub(r'(<svg [^>]*?) width="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'(<svg [^>]*?) height="[^"]*"', r"\1", text, count=1)
    return text.replace("<svg ", f'<svg role="img" aria-label="{html.escape(label, quote=True)}" ', 1).strip()
