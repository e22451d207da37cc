"""How far the numbers of a GPU are from the CPU's where they are not the same: some members are computed on both."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from polhode.integrate.driver import run_scenario
from polhode.integrate.run_result import PrecisionReport
from polhode.scenario.scenario import Scenario
from polhode.solve.auto_method import sample_members
from polhode.validation import Array

DOUBTFUL = {"fused": 1e-9, "single": 1e-3}
"""Differences, as parts of the size of what is compared, that say that rounding grows in the motion."""


def compare_precision(scenario: Scenario) -> PrecisionReport | None:
    """Compare some members with the CPU's bits; None if they are the same by design.

    The scenario names its method, and its user functions have been traced.
    """
    if scenario.precision == "strict":
        return None
    some = scenario if scenario.members is None else scenario.take(sample_members(scenario.members))
    ours, strict = (run_scenario(each, False) for each in (some, replace(some, engine="cpu", precision="strict")))
    rows = min(len(ours.samples), len(strict.samples))
    columns, difference = strict.columns, 0.0
    for part in columns.controlled(scenario.form.controlled):
        one, other = ours.samples[:rows][..., part], strict.samples[:rows][..., part]
        size = float(np.nanmax(_length(other), initial=0.0))
        if size > 0:
            difference = max(difference, float(np.nanmax(_length(one - other), initial=0.0)) / size)
    return PrecisionReport(scenario.precision, some.members, difference)


def warn_of_lost_precision(report: PrecisionReport | None, stacklevel: int) -> None:
    """Warn if the differences are larger than rounding explains."""
    if report is not None and not report.difference <= DOUBTFUL[report.precision]:
        warnings.warn(
            f"{report}: rounding grows in this motion, or it has numbers of very different sizes. Use "
            "precision='strict' for the CPU's bits",
            stacklevel=stacklevel,
        )


def _length(vectors: Array) -> Array:
    return np.asarray(np.sqrt((vectors * vectors).sum(axis=-1)))
