"""The summary of a sweep: results and how they scatter, bands of quantiles over time, and which input matters most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from polhode.ensembles import reductions as kinds
from polhode.ensembles.quantities import FINAL, Quantity, read_quantity
from polhode.ensembles.reduced_quantity import AnyArray, ReducedQuantity, as_plain
from polhode.ensembles.reduction_kinds import QuantilesReduction, Reduction
from polhode.ensembles.sensitivity import Sensitivity, measure_sensitivity
from polhode.ensembles.summary_inputs import SummarizedInput
from polhode.errors import InputError
from polhode.model.scenario import Scenario
from polhode.validation import Array

PROBABILITIES = (0.05, 0.25, 0.5, 0.75, 0.95)
BINS = 48
MOST_SAMPLED = 4000
"""How many members at most are compared one by one, for scatter and sensitivity."""


@dataclass(frozen=True)
class QuantileBand:
    """Quantiles of one number over time."""

    label: str
    unit: str
    times: Array
    probabilities: tuple[float, ...]
    values: Array
    """(probabilities, times)"""
    counted: AnyArray
    """How many members have a value, at each time."""
    rank_error: float
    """How far a rank may be off, as a fraction of the members; 0 is exact."""


@dataclass(frozen=True)
class SummarizedResult:
    """One number of each member: at the end, or at an event."""

    label: str
    unit: str
    sample: Array
    """Of the members that were compared one by one."""
    mean: float
    standard_error: float
    standard_deviation: float
    quantiles: Mapping[float, float]
    smallest: float
    smallest_member: int
    largest: float
    largest_member: int
    counts: AnyArray
    edges: Array
    """Of the bins of `counts`, which are of all members."""
    counted: int
    """How many members have a value."""


@dataclass(frozen=True)
class SweepSummary:
    """What a sweep found.  `summarize_sweep` makes it."""

    title: str
    members: int
    sampled: AnyArray
    """The numbers of the members that were compared one by one."""
    inputs: tuple[SummarizedInput, ...]
    results: tuple[SummarizedResult, ...]
    sensitivities: tuple[tuple[Sensitivity, ...], ...]
    """Of each result to each input."""
    bands: tuple[QuantileBand, ...]
    counts: tuple[ReducedQuantity, ...] = ()
    """Reductions that count members with a property, at one time."""
    failed: int = 0
    failures: tuple[str, ...] = ()
    """What happened to the first few of those that failed."""
    settings: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def strongest_inputs(self, result: int) -> list[int]:
        """The inputs in the order of the share of a result's variance that they explain; those without one last."""
        shares = [s.variance_share for s in self.sensitivities[result]]
        return sorted(range(len(shares)), key=lambda i: -shares[i] if shares[i] == shares[i] else np.inf)

    def explained(self, result: int) -> float:
        """The sum of the shares of a result's variance, none counted below 0."""
        return float(
            sum(max(s.variance_share, 0.0) for s in self.sensitivities[result] if s.variance_share == s.variance_share)
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers and texts, for JSON, without the members that were compared one by one."""
        return {
            "title": self.title,
            "members": self.members,
            "compared_one_by_one": len(self.sampled),
            "failed": self.failed,
            "failures": list(self.failures),
            "settings": dict(self.settings),
            "notes": list(self.notes),
            "inputs": [
                {
                    "name": one.name,
                    "distribution": one.distribution,
                    "mean": one.mean,
                    "standard_deviation": one.deviation,
                }
                for one in self.inputs
            ],
            "results": [self._result_as_dict(i) for i in range(len(self.results))],
            "bands": [
                {
                    "label": band.label,
                    "unit": band.unit,
                    "probabilities": list(band.probabilities),
                    "times": band.times.tolist(),
                    "values": as_plain(band.values),
                    "rank_error": band.rank_error,
                }
                for band in self.bands
            ],
        }

    def _result_as_dict(self, i: int) -> dict[str, Any]:
        result = self.results[i]
        names = ("label", "unit", "mean", "standard_error", "standard_deviation", "smallest", "smallest_member")
        plain = {name: getattr(result, name) for name in (*names, "largest", "largest_member", "counted")}
        plain["quantiles"] = {f"{p:g}": value for p, value in result.quantiles.items()}
        plain["sensitivities"] = {
            one.name: found._asdict() for one, found in zip(self.inputs, self.sensitivities[i], strict=True)
        }
        return plain


def choose_stride(members: int) -> int:
    """Every how many members one is compared one by one: an odd number, for at most 4000 of them.

    Examples
    --------
    >>> choose_stride(3000), choose_stride(1_000_000)
    (1, 251)
    """
    stride = -(-members // MOST_SAMPLED)
    return stride + (stride % 2 == 0)


def default_results(scenario: Scenario) -> list[str]:
    """What is looked at if nothing is asked for: where the members end, and how fast; or where each event happens."""
    turns = not all(body.is_particle for body in scenario.bodies)
    moments = [e.name for e in scenario.events] if not scenario.is_system else []
    return [
        *(f"{name}@{when}" for when in (moments or [FINAL]) for name in ("position", "speed")),
        *(f"time@{when}" for when in moments),
        *([f"angular_speed@{when}" for when in (moments or [FINAL])] if turns else []),
    ]


def summary_reductions(
    scenario: Scenario, members: int, given: Sequence[Reduction] = (), results: Sequence[str] = ()
) -> tuple[Reduction, ...]:
    """The reductions that a summary is made of: those given, and what else is needed for results and bands.

    What is given decides: quantiles over time become bands, and every quantity at the end or at an event a result.
    `results` are looked at beside them; if it is empty, positions and speeds.

    Examples
    --------
    >>> import polhode as ph
    >>> scenario = ph.Scenario(ph.particle(1.0), ph.State(velocity=[(1, 0, 0), (2, 0, 0)]), duration=1.0)
    >>> [reduction.name for reduction in summary_reductions(scenario, 2, results=["speed@final"])][:2]
    ['quantiles:position:0.05,0.25,0.5,0.75,0.95', 'quantiles:speed:0.05,0.25,0.5,0.75,0.95']
    """
    found = list(given)
    names = {reduction.name for reduction in found}

    def add(reduction: Reduction) -> None:
        if reduction.name not in names:
            names.add(reduction.name)
            found.append(reduction)

    for text in ("position", "speed", *(["angular_speed"] if not _are_particles(scenario) else [])):
        add(kinds.quantiles(text, PROBABILITIES))
    for quantity in find_results(scenario, given, results):
        add(kinds.mean(quantity.text))
        add(kinds.quantiles(quantity.text, PROBABILITIES))
        add(kinds.histogram(quantity.text, BINS))
        add(kinds.extremes(quantity.text))
        add(kinds.sample(quantity.text, choose_stride(members)))
    return tuple(found)


def find_results(scenario: Scenario, given: Sequence[Reduction], results: Sequence[str]) -> list[Quantity]:
    """The quantities, each one number for a member, or a few, at the end or at an event, that a summary looks at."""
    wanted = [read_quantity(text) for text in (results or default_results(scenario))]
    for quantity in wanted:
        if not quantity.at:
            raise InputError(
                f"{quantity.text!r} is a result at every time: write {quantity.text}@final, or @ and the name of an event"
            )
    for reduction in given:
        quantity = getattr(reduction, "quantity", None)
        if not isinstance(quantity, Quantity) or not quantity.at or quantity.function is not None:
            continue
        if quantity not in wanted and replace(quantity, component="") not in wanted:
            wanted.append(quantity)
    return wanted


def summarize_sweep(
    reduced: Mapping[str, ReducedQuantity],
    reductions: Sequence[Reduction],
    results: Sequence[Quantity],
    inputs: Sequence[SummarizedInput],
    *,
    title: str = "sweep",
    members: int,
    failed: int = 0,
    failures: Sequence[str] = (),
    settings: Mapping[str, str] | None = None,
) -> SweepSummary:
    """Make the summary from what the reductions found, and from the inputs of the members that were sampled."""
    stride = choose_stride(members)
    sampled = np.arange(0, members, stride)
    found: list[SummarizedResult] = []
    constant: list[str] = []
    for quantity in results:
        for one in _split_result(reduced, quantity, stride):
            varies = one.smallest < one.largest
            if varies:
                found.append(one)
            else:
                constant.append(_describe_constant(one))
    bands = [
        band for one in reductions if isinstance(one, QuantilesReduction) for band in _split_bands(reduced[one.name])
    ]
    measured = tuple(tuple(measure_sensitivity(one.values, result.sample) for one in inputs) for result in found)
    notes = [f"Not shown, since it is the same for all members: {', '.join(constant)}."] if constant else []
    if stride > 1:
        notes.append(
            f"Scatter, correlations and shares of the variance are from {len(sampled):,} of the {members:,} members, "
            f"every {stride}th; everything else is from all of them."
        )
    counted = (one for one in reduced.values() if one.kind == "count" and one["having"].ndim == 0)
    return SweepSummary(
        title,
        members,
        sampled,
        tuple(inputs),
        tuple(found),
        measured,
        tuple(bands),
        tuple(counted),
        failed,
        tuple(failures),
        settings or {},
        tuple(notes),
    )


def _split_result(reduced: Mapping[str, ReducedQuantity], quantity: Quantity, stride: int) -> list[SummarizedResult]:
    """One result for each component."""
    mean, spread, extremes, histogram, sample = (
        reduced[reduction.name]
        for reduction in (
            kinds.mean(quantity.text),
            kinds.quantiles(quantity.text, PROBABILITIES),
            kinds.extremes(quantity.text),
            kinds.histogram(quantity.text, BINS),
            kinds.sample(quantity.text, stride),
        )
    )
    shape, dims = mean["mean"].shape, mean.dims["mean"]
    labels = quantity.labels(dims, shape)
    columns = sample["values"].reshape(len(sample["values"]), -1)
    counts, edges = (histogram[name].reshape(len(labels), -1) for name in ("counts", "edges"))
    quantiles = spread["quantiles"].reshape(len(PROBABILITIES), -1)
    found = []
    for i, label in enumerate(labels):
        own = {name: float(mean[name].ravel()[i]) for name in ("mean", "standard_error", "standard_deviation")} | {
            name: float(extremes[name].ravel()[i]) for name in ("smallest", "largest")
        }
        used = np.flatnonzero(counts[i])
        last = int(used[-1]) + 1 if len(used) else 1
        found.append(
            SummarizedResult(
                label,
                quantity.unit,
                columns[:, i],
                quantiles=dict(zip(PROBABILITIES, quantiles[:, i].tolist(), strict=True)),
                smallest_member=int(extremes["smallest_member"].ravel()[i]),
                largest_member=int(extremes["largest_member"].ravel()[i]),
                counts=counts[i, :last],
                edges=edges[i, : last + 1],
                counted=int(mean["count"].ravel()[i]),
                **own,
            )
        )
    return found


def _split_bands(reduced: ReducedQuantity) -> list[QuantileBand]:
    """One band for each component that varies, if there is more than one time."""
    dims = reduced.dims["quantiles"][1:]
    if dims[:1] != ("time",) or len(reduced.coordinates["time"]) < 2:
        return []
    times = reduced.coordinates["time"]
    probabilities = tuple(reduced.coordinates["quantile"].tolist())
    values = reduced["quantiles"].reshape(len(probabilities), len(times), -1)
    counts, errors = (
        reduced["count"].reshape(len(times), -1),
        reduced["rank_error"].reshape(len(probabilities), len(times), -1),
    )
    labels = read_quantity(reduced.quantity).labels(dims[1:], reduced["quantiles"].shape[2:])
    bands = []
    for i, label in enumerate(labels):
        own = values[:, :, i]
        if np.nanmax(own, initial=-np.inf) > np.nanmin(own, initial=np.inf):
            error = float(errors[:, :, i].max())
            bands.append(
                QuantileBand(label, reduced.units["quantiles"], times, probabilities, own, counts[:, i], error)
            )
    return bands


def _describe_constant(result: SummarizedResult) -> str:
    value = "no value" if result.counted == 0 else f"{result.smallest:.6g} {result.unit}".strip()
    return f"{result.label} ({value})"


def _are_particles(scenario: Scenario) -> bool:
    return all(body.is_particle for body in scenario.bodies)
