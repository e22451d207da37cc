"""Which input matters most: rank correlations, and the share of a result's variance that one input explains.

Two numbers for each input and result, from the same members; no further runs are needed.

- Spearman's rank correlation sees whether the result rises or falls with the input.  It does not see a dependence that
  rises and falls again.
- The correlation ratio, the variance of the mean of the result given the input divided by the variance of the result,
  sees every dependence on this one input, and no sign.  For independent inputs it is the first-order Sobol' index: the
  share of the variance that would vanish, on average, if that input were known.  [Saltelli 2008, section 1.2]

Neither sees an input that acts only together with others; the shares of independent inputs add up to less than 1 by
what such interactions contribute.  If inputs depend on each other, each share includes what others bring with it.

The mean of the result given the input is estimated by straight lines in up to 20 equally frequent ranges of the input:
what is finer than these is not seen.  The share is corrected for chance as if members were independent.  Points of a
Sobol' sequence scatter less, so that shares come out too small there, by up to (2 bins - 1) / (members - 2 bins): 1 %
for 4000 members.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from polhode.validation import Array

LEAST_PER_BIN, MOST_BINS = 30, 20
LEAST_MEMBERS = 2 * LEAST_PER_BIN
GROUPS = 20
"""The uncertainty is estimated by leaving out one of so many groups of members after the other."""


class Sensitivity(NamedTuple):
    """How one result depends on one input."""

    rank_correlation: float
    rank_correlation_error: float
    """Standard error."""
    variance_share: float
    """The correlation ratio: the first-order Sobol' index if the inputs are independent.  Without bias for a result
    that does not depend on the input, so that it may come out slightly below 0."""
    variance_share_error: float
    """Standard error."""
    members: int
    """How many members have both numbers."""
    bins: int
    """Into how many equally frequent ranges of the input they were divided."""


def measure_sensitivity(given: Array, result: Array) -> Sensitivity:
    """Compare one input and one result of the same members; NaN is left out.

    With fewer than 60 members, or if either is constant, all four numbers are NaN.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-1.0, 1.0, 2001)[np.random.default_rng(1).permutation(2001)]
    >>> found = measure_sensitivity(x, x * x)
    >>> abs(found.rank_correlation) < 0.01, round(found.variance_share, 2)
    (True, 1.0)
    """
    both = ~(np.isnan(given) | np.isnan(result))
    x, y = given[both], result[both]
    n = len(x)
    bins = min(n // LEAST_PER_BIN, MOST_BINS)
    if bins < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Sensitivity(np.nan, np.nan, np.nan, np.nan, n, max(bins, 0))
    group = np.arange(n) % GROUPS
    ranks, correlated = find_ranks(x), _leave_out(_rank_correlation, n, group)
    explained = _leave_out(_correlation_ratio, n, group)
    correlation, correlation_error = correlated(ranks, find_ranks(y), np.zeros(n, dtype=np.int64))
    place = np.minimum((bins * (ranks - 0.5) / n).astype(np.int64), bins - 1)  # of equal numbers the same
    share, share_error = explained(x, y, np.unique(place, return_inverse=True)[1])
    return Sensitivity(correlation, correlation_error, share, share_error, n, bins)


def largest_bias(members: int) -> float:
    """By how much a share is too small at most, if the members scatter less than independent ones.

    Examples
    --------
    >>> round(largest_bias(4000), 4)
    0.0098
    """
    bins = min(members // LEAST_PER_BIN, MOST_BINS)
    return (2 * bins - 1) / (members - 2 * bins)


def find_ranks(values: Array) -> Array:
    """The ranks of numbers from 1; equal ones share the mean of theirs.

    Examples
    --------
    >>> import numpy as np
    >>> find_ranks(np.array([30.0, 10.0, 10.0, 20.0])).tolist()
    [4.0, 1.5, 1.5, 3.0]
    """
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[inverse])


class _Sums(NamedTuple):
    """Sums over the members of each bin, of deviations from the means of the bin and of all."""

    members: Array
    x: Array
    y: Array
    xx: Array
    xy: Array
    yy: Array
    level: Array
    """How far the mean of the bin is from that of all, of y."""


def _leave_out(
    evaluate: Callable[[_Sums], float], n: int, group: Any
) -> Callable[[Array, Array, Any], tuple[float, float]]:
    """A function of sums over bins, evaluated with all members, and its standard error by the jackknife."""

    def run(x: Array, y: Array, place: Any) -> tuple[float, float]:
        count = np.bincount(place).astype(np.float64)
        x_mean, y_mean = np.bincount(place, x - x[0]) / count + x[0], np.bincount(place, y - y[0]) / count + y[0]
        dx, dy, level = x - x_mean[place], y - y_mean[place], y_mean - (np.mean(y - y[0]) + y[0])
        cell, cells = place * GROUPS + group, len(count) * GROUPS
        terms = (np.ones(n), dx, dy, dx * dx, dx * dy, dy * dy)
        parts = [np.bincount(cell, term, minlength=cells).reshape(-1, GROUPS) for term in terms]
        whole = evaluate(_Sums._make((*(part.sum(axis=1) for part in parts), level)))
        without = [evaluate(_Sums._make((*(p.sum(axis=1) - p[:, g] for p in parts), level))) for g in range(GROUPS)]
        return whole, float(np.sqrt((GROUPS - 1) * np.var(without)))

    return run


def _rank_correlation(sums: _Sums) -> float:
    """Pearson's correlation of ranks, all in one bin."""
    n = sums.members[0]
    xx, xy, yy = (
        float(product[0] - a[0] * b[0] / n)
        for product, a, b in ((sums.xx, sums.x, sums.x), (sums.xy, sums.x, sums.y), (sums.yy, sums.y, sums.y))
    )
    return xy / float(np.sqrt(xx * yy)) if xx > 0 and yy > 0 else float("nan")


def _correlation_ratio(sums: _Sums) -> float:
    """The part of the variance of y that straight lines in the bins explain, corrected for chance.  [Kelley 1935]

    A bin whose x are all equal has a level instead of a line.
    """
    filled = sums.members > 0
    count, x, y, xx, xy, yy, level = (values[filled] for values in sums)
    n = count.sum()
    xx, xy, yy = xx - x * x / count, xy - x * y / count, yy - y * y / count
    slanted = xx > 0
    within = float(yy.sum() - (xy[slanted] ** 2 / xx[slanted]).sum())
    means = level + y / count
    total = float(yy.sum() + (count * (means - (count * means).sum() / n) ** 2).sum())
    used = len(count) + int(slanted.sum())
    if total == 0 or used < 2 or n <= used:
        return float("nan")
    return float(1 - (max(within, 0.0) / (n - used)) / (total / (n - 1)))
