"""The summary of a sweep: results and how they scatter, bands of quantiles over time, and which input matters most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.ensembles import reductions as kinds
from polhode.ensembles.member_source import MemberSource
from polhode.ensembles.quantities import FINAL, QuantityAt, read_quantity
from polhode.ensembles.reduced_quantity import AnyArray, ReducedQuantity, as_plain
from polhode.ensembles.reduction_kinds import Reduction
from polhode.ensembles.result import EnsembleResult
from polhode.ensembles.sensitivity import LEAST_MEMBERS, Sensitivity, largest_bias, measure_sensitivity
from polhode.ensembles.summary_inputs import SummarizedInput, split_inputs
from polhode.errors import InputError, show
from polhode.plot.sweep_panels import format_label, format_unit
from polhode.scenario.scenario import Scenario
from polhode.validation import Array, check_path, check_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PROBABILITIES = (0.05, 0.25, 0.5, 0.75, 0.95)
BINS = 48
ROUNDING = 2.0**-43
"""Of a result's size: a smaller spread is that of rounding."""
MOST_FAILURES = 5
"""How many failures are told in full."""
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

    size: float
    """The largest number of the quantity, all components and times: rounding is relative to it."""

    @property
    def has_spread(self) -> bool:
        """Whether the members differ at some time by more than rounding."""
        width = self.values.max(axis=0) - self.values.min(axis=0)
        return bool(np.nanmax(width, initial=0.0) > ROUNDING * self.size)


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
    size: float
    """The largest number of the quantity, all components: rounding is relative to it."""

    @property
    def has_spread(self) -> bool:
        """Whether the members differ by more than rounding."""
        return self.largest - self.smallest > ROUNDING * self.size


@dataclass(frozen=True)
class SweepSummary:
    """What a sweep found.  `ph.summarize` makes it; printed, it is a table."""

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
        """The sum of the shares of a result's variance: about 1 if no inputs act together, and all are independent."""
        shares = [s.variance_share for s in self.sensitivities[result]]
        return float(sum(share for share in shares if share == share))

    def __str__(self) -> str:
        from polhode.ensembles.summary_table import format_summary

        return "\n".join(format_summary(self))

    def plot(self) -> Figure:
        """The summary as a picture; `figure.savefig("sweep.png")` writes it."""
        from polhode.plot.sweep_figures import draw_sweep

        return draw_sweep(self)

    def export_html(self, path: str | Path) -> None:
        """Write the summary as one page, with its pictures, that needs no script and no network."""
        from polhode.ensembles.summary_text import write_page_texts
        from polhode.web.sweep_page import write_sweep_page

        write_sweep_page(self, write_page_texts(self), check_path(path, "the page"))

    def is_missing_something(self, result: int) -> bool:
        """Whether single inputs explain less of a result's variance than chance and binning account for."""
        errors = [s.variance_share_error for s in self.sensitivities[result] if s.variance_share == s.variance_share]
        chance = 3 * float(np.sqrt(np.sum(np.square(errors))))
        is_biased = bool(errors) and self.settings.get("design") == "sobol"  # every share is too small, see the notes
        bias = len(errors) * largest_bias(len(self.sampled)) if is_biased else 0.0
        return bool(errors) and 1 - self.explained(result) > max(chance, 0.1) + bias

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


def summary_reductions(
    source: MemberSource, given: Sequence[Reduction | str] = (), results: Sequence[str] = ()
) -> list[Reduction]:
    """The reductions that `ph.summarize` needs: those given, and what else results and bands over time take.

    What is given also decides what is shown: quantiles over time become bands, and every quantity at the end, or at an
    event, a result.

    Parameters
    ----------
    source : MemberSource
        Whose members are drawn: `ph.DrawnSource(build, members)`, or `ph.DrawnSource.from_toml(path)`.
    given : sequence of Reduction or str, optional
        What is wanted besides.
    results : sequence of str, optional
        What to look at, such as "position.z@final"; by default positions and speeds at the end, or at every event.

    Examples
    --------
    >>> import polhode as ph
    >>> def build(draw):
    ...     speed = draw.normal("speed", 10.0, 1.0)
    ...     start = ph.State(velocity=speed[:, None] * [1.0, 0.0, 1.0])
    ...     return ph.Scenario(ph.particle(1.0), start, [ph.forces.gravity()], duration=1.0)
    >>> source = ph.DrawnSource(build, 10_000)
    >>> result = ph.sweep(source, reduce=ph.summary_reductions(source, results=["position.z@final"]))
    >>> summary = ph.summarize(result)
    >>> summary.results[0].label, round(summary.results[0].standard_deviation, 2)
    ('position.z@final', 1.0)
    """
    if not all(hasattr(source, name) for name in ("take", "members")) or isinstance(source, Scenario):
        raise InputError(
            "a summary looks at drawn members: give their source, such as ph.DrawnSource(build, members), not "
            f"{show(source)}"
        )
    scenario = source.take(np.arange(1))
    found = list(kinds.check_reductions(given))
    wanted = _find_results(scenario, found, results)
    names = {reduction.name for reduction in found}

    def add(reduction: Reduction) -> None:
        if reduction.name not in names:
            names.add(reduction.name)
            found.append(reduction)

    for text in ("position", "speed", *(["angular_speed"] if _has_extent(scenario) else [])):
        add(kinds.quantiles(text, PROBABILITIES))
    for quantity in wanted:
        add(kinds.mean(quantity.text))
        add(kinds.quantiles(quantity.text, PROBABILITIES))
        add(kinds.histogram(quantity.text, BINS))
        add(kinds.extremes(quantity.text))
        add(kinds.sample(quantity.text, choose_stride(source.members)))
    return found


def summarize(result: EnsembleResult, *, title: str = "", settings: Mapping[str, str] | None = None) -> SweepSummary:
    """Summarize a sweep: how results scatter, bands of quantiles over time, and which input matters most.

    Parameters
    ----------
    result : EnsembleResult
        Of `ph.sweep(source, reduce=ph.summary_reductions(source))`, or of `ph.load` from its store.
    title : str, optional
        By default "sweep".
    settings : mapping of str, optional
        What the page lists beside design and seed.

    Returns
    -------
    SweepSummary
        Printed, it is a table; `plot()` draws it, and `export_html(path)` writes a page.

    Examples
    --------
    >>> import polhode as ph
    >>> def build(draw):
    ...     velocity = draw.uniform("velocity", (1.0, 0.0, 0.0), (2.0, 0.1, 0.0))
    ...     return ph.Scenario(ph.particle(1.0), ph.State(velocity=velocity), duration=1.0)
    >>> source = ph.DrawnSource(build, 4000)
    >>> summary = ph.summarize(ph.sweep(source, reduce=ph.summary_reductions(source)))
    >>> summary.inputs[summary.strongest_inputs(0)[0]].name, round(summary.explained(0), 2)
    ('velocity.x', 1.0)
    """
    if not isinstance(result, EnsembleResult):
        raise InputError(
            "a summary is made of what ph.sweep returns with reduce=ph.summary_reductions(source), not of "
            f"{show(result)}"
        )
    check_text(title, "title")
    if settings is not None and not isinstance(settings, Mapping):
        raise InputError(f"settings must be a dict of texts by name, not {show(settings)}")
    reduced = result.reductions
    samples = [one for one in reduced.values() if one.kind == "sample" and "@" in one.quantity]
    every = [band for one in reduced.values() if one.kind == "quantiles" for band in _split_bands(one)]
    bands = [band for band in every if band.has_spread]
    if not samples and not every:
        raise InputError(
            "this result has not what a summary needs: compute it with ph.sweep(source, "
            "reduce=ph.summary_reductions(source))"
        )
    found: list[SummarizedResult] = []
    split = [one for sample in samples for one in _split_result(reduced, sample)]
    told = {one.label.partition("@")[0] for one in split}
    constant = [format_label(band.label) for band in every if not band.has_spread and band.label not in told]
    for one in split:
        if one.has_spread:
            found.append(one)
        else:
            constant.append(_describe_constant(one))
    sampled = samples[0].coordinates["member"] if samples else np.arange(0)
    about = result.about
    inputs = split_inputs(result.inputs_of(sampled), about.get("inputs", {})) if len(sampled) else []
    measured = tuple(tuple(measure_sensitivity(one.values, each.sample) for one in inputs) for each in found)
    return SweepSummary(
        title or "sweep",
        result.members,
        sampled,
        tuple(inputs),
        tuple(found),
        measured,
        tuple(bands),
        tuple(one for one in reduced.values() if one.kind == "count" and one["having"].ndim == 0),
        len(result.failures),
        tuple(failure.sentence for failure in result.failures[:MOST_FAILURES]),
        {name: str(about[name]) for name in ("design", "seed") if name in about} | dict(settings or {}),
        _make_notes(constant, sampled, result, about.get("design", "random")),
    )


def _make_notes(constant: list[str], sampled: AnyArray, result: EnsembleResult, design: str) -> tuple[str, ...]:
    members, report = result.members, result.auto_report
    notes = [f"Method 'auto': {report}."] if report is not None and report.error is not None else []
    notes += [f"Not shown, being the same for all members: {', '.join(constant)}."] if constant else []
    if 1 < len(sampled) < members:
        notes.append(
            f"Scatter, correlations and shares of the variance are from {len(sampled):,} of the {members:,} members, "
            f"one of every {sampled[1] - sampled[0]}; everything else is from all of them."
        )
    if design != "random":
        notes.append(
            "Standard errors and confidence intervals suppose independent members: with this design the errors of "
            "means are smaller than stated."
        )
    if design == "sobol" and len(sampled) >= LEAST_MEMBERS:
        notes.append(
            f"With this design shares of the variance are too small by up to {100 * largest_bias(len(sampled)):.1f} %, "
            "and an input whose points form a pattern with those of another one may get a part of its share: to "
            "compare inputs draw random members."
        )
    return tuple(notes)


def _find_results(scenario: Scenario, given: Sequence[Reduction], results: Sequence[str]) -> list[QuantityAt]:
    """The quantities, each one number for a member, or a few, at the end or at an event, that a summary looks at."""
    if isinstance(results, str) or not isinstance(results, Sequence):
        raise InputError(f"results must be a list of quantities, such as ['position.z@final'], not {show(results)}")
    wanted = [read_quantity(text) for text in (results or _default_results(scenario))]
    for quantity in wanted:
        if not quantity.at:
            raise InputError(
                f"{quantity.text!r} is a result at every time: write {quantity.text}@final, or @ and the name of an "
                "event"
            )
    for reduction in given:
        own = getattr(reduction, "quantity", None)
        if not isinstance(own, QuantityAt) or not own.at or own.function is not None:
            continue
        if own not in wanted and replace(own, component="") not in wanted:
            wanted.append(own)
    return wanted


def _default_results(scenario: Scenario) -> list[str]:
    """Where the members end, and how fast; or where each event happens, and when."""
    events = [] if scenario.is_system else [e.name for e in scenario.events]
    names = ("position", "speed", *(["angular_speed"] if _has_extent(scenario) else []))
    if not events:
        return [f"{name}@{FINAL}" for name in names]
    return [f"{name}@{event}" for event in events for name in ("time", *names)]


def _split_result(reduced: Mapping[str, ReducedQuantity], sample: ReducedQuantity) -> list[SummarizedResult]:
    """One result for each component of a quantity."""
    found = {one.kind: one for one in reduced.values() if one.quantity == sample.quantity}
    missing = [kind for kind in ("mean", "quantiles", "extremes", "histogram") if kind not in found]
    if missing:
        raise InputError(
            f"the summary of {sample.quantity} lacks {', '.join(missing)}: take all that ph.summary_reductions gives"
        )
    mean, spread, extremes, histogram = (found[kind] for kind in ("mean", "quantiles", "extremes", "histogram"))
    labels = read_quantity(sample.quantity).labels(mean.dims["mean"], mean["mean"].shape)
    columns = sample["values"].reshape(len(sample["values"]), -1)
    counts, edges = (histogram[name].reshape(len(labels), -1) for name in ("counts", "edges"))
    probabilities = spread.coordinates["quantile"].tolist()
    quantiles = spread["quantiles"].reshape(len(probabilities), -1)
    ends = np.abs((extremes["smallest"], extremes["largest"]))
    size, results = float(np.nanmax(ends, initial=0.0)), []
    for i, label in enumerate(labels):
        used = np.flatnonzero(counts[i])
        last = int(used[-1]) + 1 if len(used) else 1
        results.append(
            SummarizedResult(
                label,
                mean.units["mean"],
                columns[:, i],
                mean=float(mean["mean"].flat[i]),
                standard_error=float(mean["standard_error"].flat[i]),
                standard_deviation=float(mean["standard_deviation"].flat[i]),
                quantiles=dict(zip(probabilities, quantiles[:, i].tolist(), strict=True)),
                smallest=float(extremes["smallest"].flat[i]),
                smallest_member=int(extremes["smallest_member"].flat[i]),
                largest=float(extremes["largest"].flat[i]),
                largest_member=int(extremes["largest_member"].flat[i]),
                counts=counts[i, :last],
                edges=edges[i, : last + 1],
                counted=int(mean["count"].flat[i]),
                size=size,
            )
        )
    return results


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
    size, unit = float(np.nanmax(np.abs(values), initial=0.0)), reduced.units["quantiles"]
    bands = []
    for i, label in enumerate(labels):
        own, error = values[:, :, i], float(errors[:, :, i].max())
        bands.append(QuantileBand(label, unit, times, probabilities, own, counts[:, i], error, size))
    return bands


def _describe_constant(result: SummarizedResult) -> str:
    number = result.smallest if abs(result.smallest) > ROUNDING * result.size else 0.0
    value = "no value" if result.counted == 0 else f"{number:.6g} {format_unit(result.unit)}".rstrip()
    return f"{format_label(result.label)} ({value})"


def _has_extent(scenario: Scenario) -> bool:
    return not all(body.is_particle for body in scenario.bodies)
