"""The kinds of reductions: mean, covariance, quantiles, histogram, extremes, count, sample, and one's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from polhode.ensembles import histogram_counts, moments, quantile_sketch
from polhode.ensembles.merge_tree import Partial
from polhode.ensembles.quantities import BlockValues, QuantityAt
from polhode.ensembles.reduced_quantity import AnyArray, ReducedQuantity
from polhode.errors import InputError
from polhode.quantities.quantity import AXES
from polhode.results.trajectory import Trajectory
from polhode.validation import Array


@runtime_checkable
class Reduction(Protocol):
    """What an ensemble is reduced by."""

    @property
    def name(self) -> str:
        """Under which its result is found."""

    def partial(self, motion: Trajectory, first: int) -> Partial:
        """What to remember of one block of members, whose first one has the number `first`."""

    def merge(self, left: Partial, right: Partial) -> Partial:
        """What to remember of two neighbors; the left one has the smaller member numbers."""

    def finish(self, total: Partial) -> ReducedQuantity:
        """The result."""


def _head(values: BlockValues) -> Partial:
    """What every partial result says: the number of members, the times, and the shape of the quantity."""
    return {
        "members": np.array([values.rows.shape[-1]], dtype=np.int64),
        "times": values.times,
        "shape": np.array(values.shape, dtype=np.int64),
    }


def _merge_heads(left: Partial, right: Partial, name: str) -> Partial:
    if left["shape"].tolist() != right["shape"].tolist() or not np.array_equal(left["times"], right["times"]):
        raise InputError(
            f"{name}: two chunks have different output times or shapes, {left['shape'].tolist()} and "
            f"{right['shape'].tolist()}: they belong to different runs"
        )
    return {"members": left["members"] + right["members"], "times": left["times"], "shape": left["shape"]}


@dataclass(frozen=True)
class _QuantityReduction:
    """What the reductions of one quantity share."""

    name: str
    quantity: QuantityAt

    def _result(
        self,
        kind: str,
        total: Partial,
        values: dict[str, AnyArray],
        units: dict[str, str],
        leading: dict[str, AnyArray] | None = None,
        trailing: dict[str, tuple[str, ...]] | None = None,
        **about: Any,
    ) -> ReducedQuantity:
        """Rows of numbers as arrays with dimensions: `leading` ones before, with coordinates, `trailing` ones after."""
        shape, members = tuple(total["shape"].tolist()), int(total["members"][0])
        dims, leading, trailing = self.quantity.dims(len(shape)), leading or {}, trailing or {}
        arrays, named = {}, {}
        for name, rows in values.items():
            front = tuple(leading) if rows.ndim > 1 and name not in trailing else ()
            back = trailing.get(name, ())
            outer, inner = rows.shape[: len(front)], rows.shape[len(front) + 1 :]
            arrays[name], named[name] = rows.reshape(outer + shape + inner), front + dims + back
        coordinates = {dim: np.array(AXES[dim]) for dim in dims if dim in AXES} | leading
        if dims[:1] == ("time",):
            coordinates["time"] = total["times"]
        counted = total["count"] if total["count"].size else np.zeros(1, np.int64)
        return ReducedQuantity(
            self.name,
            kind,
            self.quantity.text,
            arrays,
            named,
            units,
            coordinates,
            members,
            missing=members - int(counted.min()),
            **about,
        )

    def _angle_notes(self) -> tuple[str, ...]:
        known = self.quantity.known
        if known is None or not known.is_angle:
            return ()
        return ("Angles jump by a full turn: where members lie on both sides of the jump, this says little.",)


@dataclass(frozen=True)
class MeanReduction(_QuantityReduction):
    """Made by `ph.reductions.mean`."""

    def partial(self, motion: Trajectory, first: int) -> Partial:
        """Moments of a block."""
        values = self.quantity.values(motion)
        return _head(values) | moments.find_moments(values.rows[:, None, :])

    def merge(self, left: Partial, right: Partial) -> Partial:
        """Moments of two neighbors."""
        return _merge_heads(left, right, self.name) | moments.merge_moments(left, right)

    def finish(self, total: Partial) -> ReducedQuantity:
        """Mean, standard deviation, and standard error of the mean."""
        n = total["count"].astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.where(n > 0, total["origin"][:, 0] + total["mean"][:, 0], np.nan)
            deviation = np.sqrt(np.where(n > 1, total["products"][:, 0, 0] / (n - 1), np.nan))
            error = deviation / np.sqrt(n)
        unit = self.quantity.unit
        return self._result(
            "mean",
            total,
            {"mean": mean, "standard_deviation": deviation, "standard_error": error, "count": total["count"]},
            {"mean": unit, "standard_deviation": unit, "standard_error": unit, "count": "1"},
            notes=self._angle_notes(),
        )


@dataclass(frozen=True)
class CovarianceReduction:
    """Made by `ph.reductions.covariance`."""

    name: str
    quantities: tuple[QuantityAt, ...]

    def partial(self, motion: Trajectory, first: int) -> Partial:
        """Moments of a block, of all components together."""
        vectors, widths, times = [], [], np.empty(0)
        for quantity in self.quantities:
            values = quantity.values(motion)
            times = values.times
            outer = len(times) if quantity.dims(len(values.shape))[:1] == ("time",) else 1
            vectors.append(values.rows.reshape(outer, -1, values.rows.shape[-1]))
            widths.append(values.shape)
        together = np.concatenate(vectors, axis=1)
        head: Partial = {f"shape_{i}": np.array(shape, dtype=np.int64) for i, shape in enumerate(widths)}
        head |= {"members": np.array([together.shape[-1]], dtype=np.int64), "times": times}
        head["shape"] = np.array(together.shape[:2], dtype=np.int64)
        return head | moments.find_moments(together)

    def merge(self, left: Partial, right: Partial) -> Partial:
        """Moments of two neighbors."""
        shapes = {key: left[key] for key in left if key.startswith("shape_")}
        return _merge_heads(left, right, self.name) | shapes | moments.merge_moments(left, right)

    def finish(self, total: Partial) -> ReducedQuantity:
        """Covariance, correlation, mean and standard deviation."""
        n = total["count"].astype(np.float64)[:, None, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            covariance = np.where(n > 1, total["products"] / (n - 1), np.nan)
            mean = np.where(n[..., 0] > 0, total["origin"] + total["mean"], np.nan)
            deviation = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
            correlation = covariance / (deviation[:, :, None] * deviation[:, None, :])
        labels: list[str] = []
        units: list[str] = []
        over_time = False
        for i, quantity in enumerate(self.quantities):
            shape = tuple(total[f"shape_{i}"].tolist())
            dims = quantity.dims(len(shape))
            over_time = dims[:1] == ("time",)
            own = quantity.labels(dims[over_time:], shape[over_time:])
            labels, units = labels + own, units + [quantity.unit] * len(own)
        arrays = {"covariance": covariance, "correlation": correlation, "mean": mean, "standard_deviation": deviation}
        arrays["count"] = total["count"]
        pair, one, outer = ("component", "other_component"), ("component",), ("time",) * over_time
        dims_of = {"covariance": pair, "correlation": pair, "mean": one, "standard_deviation": one, "count": ()}
        known = len(set(units)) == 1 and units[0] != ""
        members = int(total["members"][0])
        return ReducedQuantity(
            self.name,
            "covariance",
            "+".join(quantity.text for quantity in self.quantities),
            {name: array if over_time else array[0] for name, array in arrays.items()},
            {name: outer + dims_of[name] for name in arrays},
            {"covariance": f"({units[0]})2" if known else "", "correlation": "1", "count": "1"}
            | ({"mean": units[0], "standard_deviation": units[0]} if known else {}),
            {"component": np.array(labels), "other_component": np.array(labels)}
            | ({"time": total["times"]} if over_time else {}),
            members,
            missing=members - int(total["count"].min(initial=members)),
        )


@dataclass(frozen=True)
class QuantilesReduction(_QuantityReduction):
    """Made by `ph.reductions.quantiles`."""

    probabilities: tuple[float, ...]
    memory: float
    keep: int | None

    def partial(self, motion: Trajectory, first: int) -> Partial:
        """The sketch of a block."""
        values = self.quantity.values(motion)
        capacity = self.keep or quantile_sketch.choose_capacity(len(values.rows), self.memory)
        sketch = quantile_sketch.sketch_rows(values.rows, capacity)
        return _head(values) | sketch | {"capacity": np.array([capacity], dtype=np.int64)}

    def merge(self, left: Partial, right: Partial) -> Partial:
        """The sketch of two neighbors."""
        head = _merge_heads(left, right, self.name) | {"capacity": left["capacity"]}
        return head | quantile_sketch.merge_sketches(left, right, int(left["capacity"][0]))

    def finish(self, total: Partial) -> ReducedQuantity:
        """Quantiles, and between which numbers they certainly are."""
        probabilities, unit = np.array(self.probabilities), self.quantity.unit
        found = quantile_sketch.quantiles_of_sketch(total, probabilities)
        return self._result(
            "quantiles",
            total,
            {
                "quantiles": found.values,
                "lower": found.lower,
                "upper": found.upper,
                "rank_error": found.rank_error,
                "count": found.counted,
            },
            {"quantiles": unit, "lower": unit, "upper": unit, "rank_error": "1", "count": "1"},
            leading={"quantile": probabilities},
            error_bound=float(found.rank_error.max(initial=0.0)),
            notes=self._angle_notes(),
        )


@dataclass(frozen=True)
class HistogramReduction(_QuantityReduction):
    """Made by `ph.reductions.histogram`."""

    edges: tuple[float, ...] | None
    bins: int

    def partial(self, motion: Trajectory, first: int) -> Partial:
        """The counts of a block."""
        values = self.quantity.values(motion)
        if self.edges is None:
            return _head(values) | histogram_counts.count_in_growing_bins(values.rows, self.bins)
        return _head(values) | histogram_counts.count_between_edges(values.rows, np.array(self.edges))

    def merge(self, left: Partial, right: Partial) -> Partial:
        """The counts of two neighbors."""
        head = _merge_heads(left, right, self.name)
        if self.edges is None:
            return head | histogram_counts.merge_growing_bins(left, right)
        return head | {name: left[name] + right[name] for name in ("counts", "below", "above", "count")}

    def finish(self, total: Partial) -> ReducedQuantity:
        """Counts, and the edges of their bins."""
        counts, unit = total["counts"], self.quantity.unit
        if self.edges is None:
            width = np.ldexp(1.0, total["exponent"].astype(np.int32))[:, None]
            edges = (total["start"][:, None] + np.arange(self.bins + 1)) * width
            used = max(int(np.flatnonzero(counts.any(axis=0)).max(initial=0)) + 1, 1)
            counts, edges = counts[:, :used], edges[:, : used + 1]
        else:
            edges = np.broadcast_to(np.array(self.edges), (len(counts), len(self.edges)))
        scalars = {name: total[name] for name in ("below", "above", "count")}
        return self._result(
            "histogram",
            total,
            {"counts": counts, "edges": np.ascontiguousarray(edges), **scalars},
            {"counts": "1", "edges": unit, **dict.fromkeys(scalars, "1")},
            trailing={"counts": ("bin",), "edges": ("edge",)},
            notes=self._angle_notes(),
        )


@dataclass(frozen=True)
class ExtremesReduction(_QuantityReduction):
    """Made by `ph.reductions.extremes`."""

    def partial(self, motion: Trajectory, first: int) -> Partial:
        """The extremes of a block."""
        values = self.quantity.values(motion)
        rows, valid = values.rows, ~np.isnan(values.rows)
        least, greatest = np.where(valid, rows, np.inf), np.where(valid, rows, -np.inf)
        i, j = np.argmin(least, axis=1), np.argmax(greatest, axis=1)  # the first of equal ones
        found = {"count": valid.sum(axis=1).astype(np.int64)}
        for name, extreme, at in (("least", least, i), ("greatest", greatest, j)):
            found[name] = np.take_along_axis(extreme, at[:, None], axis=1)[:, 0]
            found[f"{name}_member"] = np.where(found["count"] > 0, at + first, -1)
        return _head(values) | found

    def merge(self, left: Partial, right: Partial) -> Partial:
        """The extremes of two neighbors; of equal ones the smaller member number."""
        found = {"count": left["count"] + right["count"]}
        for name, better in (("least", np.less), ("greatest", np.greater)):
            takes_right = (right["count"] > 0) & ((left["count"] == 0) | better(right[name], left[name]))
            for key in (name, f"{name}_member"):
                found[key] = np.where(takes_right, right[key], left[key])
        return _merge_heads(left, right, self.name) | found

    def finish(self, total: Partial) -> ReducedQuantity:
        """Smallest and largest values, and whose they are; member -1 and NaN if there are none."""
        some, unit = total["count"] > 0, self.quantity.unit
        values: dict[str, AnyArray] = {
            "smallest": np.where(some, total["least"], np.nan),
            "smallest_member": total["least_member"],
            "largest": np.where(some, total["greatest"], np.nan),
            "largest_member": total["greatest_member"],
            "count": total["count"],
        }
        units = {"smallest": unit, "largest": unit, "smallest_member": "1", "largest_member": "1", "count": "1"}
        return self._result("extremes", total, values, units)


@dataclass(frozen=True)
class CountReduction(_QuantityReduction):
    """Made by `ph.reductions.count`."""

    above: float | None
    below: float | None
    confidence: float

    def partial(self, motion: Trajectory, first: int) -> Partial:
        """How many members of a block have the property."""
        values = self.quantity.values(motion)
        rows, valid = values.rows, ~np.isnan(values.rows)
        has = valid & (rows != 0) if self.above is None and self.below is None else valid
        has = has if self.above is None else has & (rows > self.above)
        has = has if self.below is None else has & (rows < self.below)
        found = {"having": has.sum(axis=1).astype(np.int64), "count": valid.sum(axis=1).astype(np.int64)}
        return _head(values) | found

    def merge(self, left: Partial, right: Partial) -> Partial:
        """Sums."""
        return _merge_heads(left, right, self.name) | {name: left[name] + right[name] for name in ("having", "count")}

    def finish(self, total: Partial) -> ReducedQuantity:
        """Number and fraction, and Wilson's interval of the probability.  [Wilson 1927]"""
        low, high = find_wilson_interval(total["having"], total["count"], self.confidence)
        with np.errstate(invalid="ignore", divide="ignore"):
            fraction = np.where(total["count"] > 0, total["having"] / total["count"], np.nan)
        values = {"having": total["having"], "fraction": fraction, "lower": low, "upper": high, "count": total["count"]}
        note = (
            f"lower and upper: where the probability is, with a confidence of {self.confidence:g}, members independent."
        )
        return self._result("count", total, values, dict.fromkeys(values, "1"), notes=(note,))


def find_wilson_interval(having: AnyArray, count: AnyArray, confidence: float) -> tuple[Array, Array]:
    """Between which bounds a probability is, if so many of so many independent trials came true.

    Examples
    --------
    >>> import numpy as np
    >>> low, high = find_wilson_interval(np.array([0]), np.array([1000]), 0.95)
    >>> low.round(5).tolist(), high.round(5).tolist()
    ([0.0], [0.00383])
    """
    from scipy.special import ndtri

    z, n = float(ndtri((1 + confidence) / 2)), np.maximum(count, 1).astype(np.float64)
    p = having / n
    middle, half = p + z * z / (2 * n), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low, high = (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)
    low, high = np.where(having == 0, 0.0, low), np.where(having == count, 1.0, high)
    return np.where(count > 0, low, np.nan), np.where(count > 0, high, np.nan)


@dataclass(frozen=True)
class SampleReduction(_QuantityReduction):
    """Made by `ph.reductions.sample`."""

    every: int

    def partial(self, motion: Trajectory, first: int) -> Partial:
        """The members of a block whose numbers are multiples of `every`."""
        values = self.quantity.values(motion)
        members = np.arange(first, first + values.rows.shape[-1])
        taken = members % self.every == 0
        return _head(values) | {
            "taken": members[taken],
            "values": values.rows[:, taken],
            "count": (~np.isnan(values.rows)).sum(axis=1).astype(np.int64),
        }

    def merge(self, left: Partial, right: Partial) -> Partial:
        """Those of two neighbors."""
        both = {name: np.concatenate((left[name], right[name]), axis=-1) for name in ("taken", "values")}
        return _merge_heads(left, right, self.name) | both | {"count": left["count"] + right["count"]}

    def finish(self, total: Partial) -> ReducedQuantity:
        """The values of some members, (member, ...)."""
        values = {"values": np.ascontiguousarray(total["values"].T), "count": total["count"]}
        units = {"values": self.quantity.unit, "count": "1"}
        return self._result("sample", total, values, units, leading={"member": total["taken"]})


@dataclass(frozen=True)
class CustomReduction:
    """Made by `ph.reductions.custom`: three functions of the user.

    Examples
    --------
    >>> import numpy as np, polhode as ph
    >>> count = lambda motion, first: {"landed": np.sum(motion.final.position[:, 2] <= 0)}
    >>> landed = ph.reductions.custom("landed", count, lambda a, b: {"landed": a["landed"] + b["landed"]}, dict)
    >>> motion = ph.ensemble(ph.particle(1.0), ph.State(velocity=[(0, 0, 1), (0, 0, -4)]), duration=2.0)
    >>> int(ph.reductions.apply(motion, [landed])["landed"]["landed"])
    1
    """

    name: str
    partial_function: Callable[[Any, int], Partial]
    merge_function: Callable[[Partial, Partial], Partial]
    finish_function: Callable[[Partial], Any]

    def partial(self, motion: Trajectory, first: int) -> Partial:
        """What the user's function remembers of a block, as arrays."""
        found = _check_arrays(self.partial_function(motion, first), self.name, "partial")
        return found | {"members of this reduction": np.array([motion.scenario.members or 1], dtype=np.int64)}

    def merge(self, left: Partial, right: Partial) -> Partial:
        """What the user's function makes of two."""
        own = "members of this reduction"
        one, two = ({key: side[key] for key in side if key != own} for side in (left, right))
        merged = _check_arrays(self.merge_function(one, two), self.name, "merge")
        return merged | {own: left[own] + right[own]}

    def finish(self, total: Partial) -> ReducedQuantity:
        """What the user's function makes of all: arrays by name, or a whole record."""
        own = {key: array for key, array in total.items() if key != "members of this reduction"}
        found = self.finish_function(own)
        if isinstance(found, ReducedQuantity):
            return found
        arrays = _check_arrays(found, self.name, "finish")
        dims = {name: tuple(f"{name}_{i}" for i in range(array.ndim)) for name, array in arrays.items()}
        members = int(total["members of this reduction"][0])
        return ReducedQuantity(self.name, "custom", self.name, arrays, dims, {}, {}, members)


def _check_arrays(found: Any, name: str, function: str) -> Partial:
    if not isinstance(found, dict) or not all(isinstance(key, str) for key in found):
        raise InputError(
            f"{function} of the reduction {name!r} must return a dictionary of arrays by name, but returned a "
            f"{type(found).__name__}"
        )
    arrays = {key: np.asarray(value) for key, value in found.items()}
    for key, array in arrays.items():
        if array.dtype.hasobject:
            raise InputError(f"{function} of the reduction {name!r} returned {key!r}, which is no array of numbers")
    return arrays
