"""Which input matters most: rank correlations, and the share of a result's variance that one input explains.

Two numbers for each input and result, from the same members; no further runs are needed.

- Spearman's rank correlation sees whether the result rises or falls with the input.  It does not see a dependence that
  rises and falls again.
- The correlation ratio, the variance of the mean of the result given the input divided by the variance of the result,
  sees every dependence on this one input, and no sign.  For independent inputs it is the first-order Sobol' index: the
  share of the variance that would vanish, on average, if that input were known.  [Saltelli 2008, section 1.2]

Neither sees an input that acts only together with others; the shares of independent inputs add up to less than 1 by
what such interactions contribute.  If inputs depend on each other, each share includes what others bring with it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from polhode.validation import Array

LEAST_PER_BIN, MOST_BINS = 30, 40
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
    y = y - y[0]  # a large offset would cost digits
    whole = _rank_correlation(x, y), _correlation_ratio(x, y, bins)
    group = np.arange(n) % GROUPS
    parts = np.array(
        [
            (_rank_correlation(x[group != g], y[group != g]), _correlation_ratio(x[group != g], y[group != g], bins))
            for g in range(GROUPS)
        ]
    )
    error = np.sqrt((GROUPS - 1) * parts.var(axis=0))  # the jackknife
    return Sensitivity(whole[0], float(error[0]), whole[1], float(error[1]), n, bins)


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


def _rank_correlation(x: Array, y: Array) -> float:
    a, b = (ranks - ranks.mean() for ranks in (find_ranks(x), find_ranks(y)))
    size = np.sqrt((a * a).sum() * (b * b).sum())
    return float((a * b).sum() / size) if size > 0 else float("nan")


def _correlation_ratio(x: Array, y: Array, bins: int) -> float:
    """The variance between the bins over that of all, corrected for the members being few.  [Kelley 1935]

    Equal numbers stay in one bin, so that there may be fewer bins than asked for.
    """
    n = len(x)
    ranks = find_ranks(x)
    place = np.minimum((bins * (ranks - 0.5) / n).astype(np.int64), bins - 1)
    _, place = np.unique(place, return_inverse=True)
    count = np.bincount(place)
    if len(count) < 2:
        return float("nan")
    mean = np.bincount(place, y) / count
    within, total = ((y - mean[place]) ** 2).sum(), ((y - y.mean()) ** 2).sum()
    if total == 0:
        return float("nan")
    return float(1 - (within / (n - len(count))) / (total / (n - 1)))
