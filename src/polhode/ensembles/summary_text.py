"""What a summary says, in sentences."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from polhode.ensembles.reduced_quantity import ReducedQuantity
from polhode.ensembles.sensitivity import LEAST_MEMBERS
from polhode.plot.sweep_panels import CLEAR, format_label, format_unit, list_strongest
from polhode.web.sweep_page import PageTexts

if TYPE_CHECKING:
    from polhode.ensembles.summary import SummarizedResult, SweepSummary

PROPERTY = re.compile(r"([<>])([^<>:]+)")
CAVEATS = (
    "A share of the variance is what would vanish, on average, if that input alone were known. It is estimated by "
    "straight lines in up to 20 equally frequent ranges of the input, without bias for an input that has no influence; "
    "± is one standard error.",
    "Shares see every dependence on one input, also one that rises and falls again, which a rank correlation does not "
    "see. Neither sees inputs that act only together: what is missing to 100 % is due to such interactions, or to a "
    "dependence that is finer than the ranges.",
    "If inputs depend on each other, their shares overlap, and may add up to more than 100 %.",
    "Shares and correlations hold for the distributions that were drawn: an input that was drawn from a narrow one "
    "matters little.",
)


def write_page_texts(summary: SweepSummary) -> PageTexts:
    """All sentences of the page of a summary."""
    results = [describe_result(summary, i) for i in range(len(summary.results))]
    return PageTexts(results, [describe_count(one) for one in summary.counts], CAVEATS)


def describe_result(summary: SweepSummary, i: int) -> str:
    """Where a result lies, and which inputs decide it, in one or two sentences."""
    result = summary.results[i]
    unit = f" {format_unit(result.unit)}".rstrip()
    low, high = min(result.quantiles), max(result.quantiles)
    text = (
        f"{100 * (high - low):.3g} % of the members lie between {result.quantiles[low]:.4g} and "
        f"{result.quantiles[high]:.4g}{unit}."
    )
    if result.counted < summary.members:
        text += f" {describe_missing(summary, result)}."
    return f"{text} {_describe_inputs(summary, i)}" if summary.inputs else text


def describe_missing(summary: SweepSummary, result: SummarizedResult) -> str:
    """How many members a result leaves out: an event did not happen to them, or they failed or stopped before."""
    return f"{summary.members - result.counted:,} of {summary.members:,} members have no value, and are left out"


def describe_count(reduced: ReducedQuantity) -> str:
    """How many members have a property, with the interval in which the probability lies."""
    what = [f"{'above' if sign == '>' else 'below'} {number}" for sign, number in PROPERTY.findall(reduced.name)]
    label = " ".join((format_label(reduced.quantity), " and ".join(what))).strip()
    numbers = {name: 100 * float(reduced[name]) for name in ("fraction", "lower", "upper")}
    of_which = f" of the {int(reduced['count']):,} with a value" if reduced.missing else ""
    return (
        f"{label}: {int(reduced['having']):,} members, {numbers['fraction']:.3g} %{of_which} "
        f"({numbers['lower']:.3g} to {numbers['upper']:.3g} % with 95 % confidence)"
    )


def _describe_inputs(summary: SweepSummary, i: int) -> str:
    found = summary.sensitivities[i]
    if all(one.variance_share != one.variance_share for one in found):
        return f"With fewer than {LEAST_MEMBERS} members it cannot be said which input matters."
    clear = (found[k].variance_share > CLEAR * found[k].variance_share_error for k in list_strongest(summary, i, 3))
    names = [
        f"{summary.inputs[k].name} ({100 * found[k].variance_share:.0f} %)"
        for k, is_clear in zip(list_strongest(summary, i, 3), clear, strict=True)
        if is_clear
    ]
    if not names:
        return "No single input explains a part of its variance that stands out from chance."
    listed = names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
    explained = summary.explained(i)
    if not summary.is_missing_something(i):
        return f"Its variance is explained by {listed}."
    return (
        f"Single inputs explain {round(100 * explained)} % of its variance: {listed}. The rest comes from inputs that "
        "act together, or from a dependence that is finer than this resolves."
    )
