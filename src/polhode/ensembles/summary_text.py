"""What a summary says, in sentences."""

from __future__ import annotations

from polhode.ensembles.summary import SweepSummary
from polhode.plot.sweep_panels import CLEAR, format_label, format_unit, list_strongest

CAVEATS = (
    "A share of the variance is what would vanish, on average, if that input alone were known. It is estimated from the "
    "mean result in equally frequent ranges of the input, without bias for an input that has no influence; ± is one "
    "standard error.",
    "Shares see every dependence on one input, also one that rises and falls again, which a rank correlation does not "
    "see. Neither sees inputs that act only together: what is missing to 100 % is due to such interactions.",
    "If inputs depend on each other, their shares overlap, and may add up to more than 100 %.",
    "Shares and correlations hold for the distributions that were drawn: an input that was drawn narrowly matters little.",
)


def describe_result(summary: SweepSummary, i: int) -> str:
    """Where a result lies, and which inputs decide it, in one or two sentences."""
    result = summary.results[i]
    unit = f" {format_unit(result.unit)}".rstrip()
    low, high = min(result.quantiles), max(result.quantiles)
    text = (
        f"{100 * (high - low):.3g} % of the members lie between {result.quantiles[low]:.4g} and "
        f"{result.quantiles[high]:.4g}{unit}."
    )
    missing = summary.members - result.counted
    if missing:
        text += f" {missing:,} members have no value."
    if not summary.inputs:
        return text
    return f"{text} {_describe_inputs(summary, i)}"


def _describe_inputs(summary: SweepSummary, i: int) -> str:
    found = summary.sensitivities[i]
    strongest = [k for k in list_strongest(summary, i, 3) if found[k].variance_share > CLEAR * found[k].variance_share_error]
    if not strongest:
        return "No single input explains a part of its variance that stands out from chance."
    names = [f"{summary.inputs[k].name} ({100 * found[k].variance_share:.0f} %)" for k in strongest]
    listed = names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
    explained = summary.explained(i)
    if explained > 0.9:
        return f"{listed} explain{'s' * (len(names) == 1)} its variance almost alone." if len(names) == 1 else (
            f"{listed} explain its variance."
        )
    return (
        f"Of its variance, single inputs explain {100 * explained:.0f} %: {listed}. The rest comes from inputs that act "
        "together."
    )


def describe_label(summary: SweepSummary, i: int) -> str:
    """What a result is called."""
    return format_label(summary.results[i].label)
