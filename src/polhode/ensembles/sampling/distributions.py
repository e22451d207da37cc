"""Distributions: what they are called, their parameters, and how numbers between 0 and 1 become values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.ensembles.sampling.normal_quantile import lower_tail, normal_quantile
from polhode.ensembles.sampling.parameters import (
    Components,
    check_components,
    check_not_negative,
    factor_covariance,
)
from polhode.ensembles.sampling.random_words import Members
from polhode.equations.elementary import exp
from polhode.errors import InputError, show
from polhode.validation import Array


@dataclass(frozen=True, eq=False)
class Distribution:
    """A distribution with its parameters."""

    kind: str
    parameters: Mapping[str, Any]
    """Plain numbers, lists and strings, for files."""
    dimensions: int
    """How many numbers between 0 and 1 a member needs."""
    transform: Callable[[Array, Members], Array]
    """(numbers between 0 and 1, (members, dimensions); the members) -> values, (members, ...)"""

    def plain(self) -> dict[str, Any]:
        """What a manifest holds."""
        return {"distribution": self.kind, **self.parameters}


def by_component(components: Components, function: Callable[..., Array]) -> Callable[[Array, Members], Array]:
    """A transform that computes each component from its own number and parameters."""
    rows = list(zip(*(values.tolist() for values in components.values), strict=True))

    def transform(u: Array, members: Members) -> Array:
        found = [function(u[:, i], *row) for i, row in enumerate(rows)]
        return np.stack(found, axis=-1) if components.is_vector else found[0]

    return transform


def normal(where: str, mean: Any, standard_deviation: Any, covariance: Any) -> Distribution:
    """Normal numbers, independent or with a covariance matrix."""
    if (standard_deviation is None) == (covariance is None):
        raise InputError(f"{where} needs its standard_deviation or its covariance: one of the two")
    if covariance is None:
        components = check_components(where, mean=mean, standard_deviation=standard_deviation)
        check_not_negative(components.values[1], "standard_deviation", where)
        parameters = {"mean": plain(mean), "standard_deviation": plain(standard_deviation)}
        transform = by_component(components, lambda u, center, deviation: center + deviation * normal_quantile(u))
        return Distribution("normal", parameters, components.size, transform)
    center = check_components(where, mean=mean)
    if not center.is_vector:
        raise InputError(f"{where} has a covariance, so its mean must be a vector, not {show(mean)}")
    factor, means = factor_covariance(covariance, center.size, where), center.values[0].tolist()

    def correlate(u: Array, members: Members) -> Array:
        z = [normal_quantile(u[:, i]) for i in range(center.size)]
        found = np.empty_like(u)
        for i, row in enumerate(factor):
            found[:, i] = means[i]
            for j in range(i + 1):
                found[:, i] += row[j] * z[j]
        return found

    return Distribution("normal", {"mean": plain(mean), "covariance": plain(covariance)}, center.size, correlate)


def uniform(where: str, low: Any, high: Any) -> Distribution:
    """Uniform numbers."""
    components = check_components(where, low=low, high=high)
    check_order(components, where)
    check_width(components, where)

    def between(u: Array, low: float, high: float) -> Array:
        return np.minimum(low + u * (high - low), high)

    return Distribution(
        "uniform", {"low": plain(low), "high": plain(high)}, components.size, by_component(components, between)
    )


def lognormal(where: str, median: Any, log_standard_deviation: Any) -> Distribution:
    """Numbers whose logarithm is normal."""
    components = check_components(where, median=median, log_standard_deviation=log_standard_deviation)
    if not (components.values[0] > 0).all():
        raise InputError(f"median of {where} must be greater than 0, but is {components.values[0].min():g}")
    check_not_negative(components.values[1], "log_standard_deviation", where)
    parameters = {"median": plain(median), "log_standard_deviation": plain(log_standard_deviation)}
    transform = by_component(components, lambda u, median, deviation: median * exp(deviation * normal_quantile(u)))
    return Distribution("lognormal", parameters, components.size, transform)


def truncated_normal(where: str, mean: Any, standard_deviation: Any, low: Any, high: Any) -> Distribution:
    """Normal numbers, given that they lie between two limits."""
    components = check_components(
        where, ("low", "high"), low=low, high=high, mean=mean, standard_deviation=standard_deviation
    )
    check_order(components, where)
    if not (components.values[3] > 0).all():
        raise InputError(f"standard_deviation of {where} must be greater than 0, but is {components.values[3].min():g}")
    rows = [_truncation(where, *row) for row in zip(*(v.tolist() for v in components.values), strict=True)]

    def transform(u: Array, members: Members) -> Array:
        found = [truncate(u[:, i]) for i, truncate in enumerate(rows)]
        return np.stack(found, axis=-1) if components.is_vector else found[0]

    parameters = {
        "mean": plain(mean),
        "standard_deviation": plain(standard_deviation),
        "low": plain(low),
        "high": plain(high),
    }
    return Distribution("truncated_normal", parameters, components.size, transform)


def _truncation(where: str, low: float, high: float, mean: float, deviation: float) -> Callable[[Array], Array]:
    """The transform of one component: the quantile of a probability between those of both limits.

    Above the mean the mirror image is computed, since probabilities near 1 have few digits.
    """
    a, b = (low - mean) / deviation, (high - mean) / deviation
    sign = -1.0 if a > 0 else 1.0
    if a > 0:
        a, b = -b, -a
    first = lower_tail(a)
    last = lower_tail(b) if b <= 0 else 1.0 - lower_tail(-b)
    if not first < last:
        raise InputError(
            f"{where} has no number between its limits {low:g} and {high:g}: they lie more than 38 standard deviations "
            "from the mean, or are equal"
        )

    def truncate(u: Array) -> Array:
        p = np.clip(first + u * (last - first), first, last)
        p = np.clip(p, 5e-324, 1 - 2.0**-53)
        return np.clip(mean + sign * deviation * normal_quantile(p), low, high)

    return truncate


def choice(where: str, values: Any, weights: Any) -> Distribution:
    """One of several values, or of several vectors."""
    try:
        given = np.asarray(values)
        known = given.astype(np.float64) if given.dtype.kind in "fiu" else None
    except ValueError:
        known = None
    if known is None or known.ndim == 0 or len(known) == 0 or not np.isfinite(known).all():
        raise InputError(f"values of {where} must be a list of finite numbers, or of vectors, not {show(values)}")
    shares = np.ones(len(known)) if weights is None else check_components(where, weights=weights).values[0]
    check_not_negative(shares, "weights", where)
    if len(shares) != len(known) or not shares.any():
        raise InputError(f"weights of {where} must be one for each of its {len(known)} values, not all 0")
    ends = np.cumsum(shares)
    ends = ends / ends[-1]
    last = int(np.flatnonzero(shares)[-1])

    def transform(u: Array, members: Members) -> Array:
        return known[np.minimum(np.searchsorted(ends, u[:, 0], side="right"), last)]

    parameters = {"values": plain(values)} | ({} if weights is None else {"weights": plain(weights)})
    return Distribution("choice", parameters, 1, transform)


def integers(where: str, low: Any, high: Any) -> Distribution:
    """Whole numbers, both limits included, as doubles."""
    components = check_components(where, low=low, high=high)
    check_order(components, where)
    if any((values != np.rint(values)).any() or (np.abs(values) > 2.0**52).any() for values in components.values):
        raise InputError(
            f"low and high of {where} must be whole numbers within 2**52, not {show(low)} and {show(high)}"
        )

    def between(u: Array, low: float, high: float) -> Array:
        return np.minimum(low + np.floor(u * (high - low + 1.0)), high)

    parameters = {"low": plain(low), "high": plain(high)}
    return Distribution("integers", parameters, components.size, by_component(components, between))


def check_order(components: Components, where: str) -> None:
    """Raise if a lower limit is above its upper limit."""
    low, high = components.values[:2]
    if (low > high).any():
        i = int(np.flatnonzero(low > high)[0])
        raise InputError(f"low of {where} is above high, {low[i]:g} > {high[i]:g}: exchange them")


def check_width(components: Components, where: str) -> None:
    """Raise if a range is wider than the largest double."""
    low, high = components.values[:2]
    with np.errstate(over="ignore"):
        if not np.isfinite(high - low).all():
            raise InputError(f"the range of {where} is wider than the largest double: choose other units")


def plain(value: Any) -> Any:
    """Plain numbers and lists, for a file; infinities, which JSON has not, as strings."""
    array = np.asarray(value, dtype=np.float64)
    return array.tolist() if np.isfinite(array).all() else array.astype(str).tolist()
