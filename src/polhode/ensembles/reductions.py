"""Reductions: what is kept of an ensemble that is too large to keep, `ph.reductions`.

Each is a frozen record that looks at one block of members at a time.  Blocks are merged in a fixed order, so the result
has the same bits whatever the chunks, the threads, the engine, the machines, and the order in which they finish.

A quantity is a name, such as "position", "position.z", "speed@final" (at the last output) or "position.x@landing" (when
an event happens to a member for the first time), or a function that takes the motion of some members and returns an
array of numbers with the members first.  Members that failed, or were stopped by an event, have no values from there
on: they are left out and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polhode.ensembles.chunks import split_into_blocks
from polhode.ensembles.merge_tree import MergeTree, Partial
from polhode.ensembles.quantities import QuantityAt, QuantityFunction, read_quantity, take_members
from polhode.ensembles.reduced_quantity import ReducedQuantity
from polhode.ensembles.reduction_kinds import (
    CountReduction,
    CovarianceReduction,
    CustomReduction,
    ExtremesReduction,
    HistogramReduction,
    MeanReduction,
    QuantilesReduction,
    Reduction,
    SampleReduction,
)
from polhode.ensembles.reduction_text import parse_reduction
from polhode.errors import InputError, show
from polhode.results.motion import Motion
from polhode.validation import as_floats, check_kind, check_number, check_text, is_whole_number, shape_of

__all__ = [
    "CustomReduction",
    "ReducedQuantity",
    "apply",
    "count",
    "covariance",
    "custom",
    "extremes",
    "histogram",
    "mean",
    "quantiles",
    "read_reduction",
    "sample",
]

MEMORY = 16 * 2**20

MOST_BINS = 10**7
"""Of a histogram; with their edges they take 160 MB for each component."""


def mean(quantity: str | QuantityFunction, *, name: str | None = None) -> MeanReduction:
    """The mean, with standard deviation and standard error.

    The standard error supposes independent members; for a Latin hypercube or Sobol points it is usually too large.

    Parameters
    ----------
    quantity : str or callable
        Such as "position", "position.z@final", or a function of a motion that returns (members, ...).
    name : str, optional
        Under which the result is found; by default "mean:" and the quantity.

    Examples
    --------
    >>> import polhode as ph
    >>> motion = ph.ensemble(ph.particle(1.0), ph.State(velocity=[(1, 0, 0), (3, 0, 0)]), duration=2.0)
    >>> reduced = ph.reductions.apply(motion, [ph.reductions.mean("position.x@final")])
    >>> float(reduced["mean:position.x@final"]["mean"].round(9))
    4.0
    """
    read = _read_averageable(quantity)
    return MeanReduction(_name(name, "mean", read.text), read)


def covariance(*quantities: str | QuantityFunction, name: str | None = None) -> CovarianceReduction:
    """The covariance and correlation of all components of one quantity, or of several together.

    A member counts where none of its components is missing.

    Parameters
    ----------
    *quantities : str or callable
        Such as "position", or "position@final", "velocity@final".
    name : str, optional
        Under which the result is found; by default "covariance:" and the quantities.

    Examples
    --------
    >>> import polhode as ph
    >>> start = ph.State(velocity=[(1, 0, 0), (2, 0, 1), (3, 0, 2)])
    >>> motion = ph.ensemble(ph.particle(1.0), start, duration=1.0)
    >>> both = ph.reductions.covariance("velocity.x@final", "velocity.z@final")
    >>> ph.reductions.apply(motion, [both])[both.name]["correlation"].round(9).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    if not quantities:
        raise InputError("the covariance of what? Give a quantity, such as 'position'")
    read = tuple(_read_averageable(quantity) for quantity in quantities)
    if len({one.function is None and not one.at for one in read}) > 1:
        raise InputError(
            f"{', '.join(one.text for one in read)}: some are at all outputs and some are not; write all with @final "
            "or the name of an event, or none"
        )
    return CovarianceReduction(_name(name, "covariance", "+".join(one.text for one in read)), read)


def quantiles(
    quantity: str | QuantityFunction,
    probabilities: ArrayLike = (0.05, 0.5, 0.95),
    *,
    memory: float = MEMORY,
    keep: int | None = None,
    name: str | None = None,
) -> QuantilesReduction:
    """Quantiles, with a guaranteed bound on the error of their ranks.

    While all numbers fit, they are NumPy's `quantile`, exactly.  Beyond that, some of the sorted numbers are kept, each
    standing for many: the result says between which two numbers each quantile certainly is (`lower`, `upper`), and how
    far its rank can be off as a fraction of the members (`rank_error`).

    Parameters
    ----------
    quantity : str or callable
        Such as "position", "position.z@final", or a function of a motion that returns (members, ...).
    probabilities : array_like, optional
        Between 0 and 1.
    memory : float, optional
        For what is kept of a chunk, in bytes (default 16 MiB): it is shared by all times and components, each with at
        least 256 and at most 16,384 numbers.
    keep : int, optional
        How many numbers to keep of each time and component, instead.
    name : str, optional
        Under which the result is found; by default "quantiles:", the quantity and the probabilities.

    Examples
    --------
    >>> import polhode as ph
    >>> start = ph.State(velocity=[(v, 0, 0) for v in range(11)])
    >>> motion = ph.ensemble(ph.particle(1.0), start, duration=1.0)
    >>> reduced = ph.reductions.apply(motion, [ph.reductions.quantiles("speed@final", [0.1, 0.5], name="speed")])
    >>> reduced["speed"]["quantiles"].round(9).tolist(), reduced["speed"].error_bound
    ([1.0, 5.0], 0.0)
    """
    read = read_quantity(quantity)
    try:
        wanted = np.atleast_1d(as_floats(probabilities))
    except (TypeError, ValueError, OverflowError):
        wanted = np.array([np.nan])
    if wanted.ndim != 1 or not wanted.size or not ((wanted >= 0) & (wanted <= 1)).all():
        raise InputError(
            f"probabilities must be numbers between 0 and 1, such as (0.05, 0.5, 0.95), not {show(probabilities)}"
        )
    if keep is not None and (not is_whole_number(keep) or keep < 2):
        raise InputError(f"keep must be an integer of at least 2, but is {show(keep)}")
    texts = ",".join(f"{p:g}" for p in wanted)
    if (memory := check_number(memory, "memory")) <= 0:
        raise InputError(f"memory must be a number of bytes above 0, but is {memory:g}")
    return QuantilesReduction(
        _name(name, "quantiles", f"{read.text}:{texts}"), read, tuple(wanted.tolist()), memory, keep
    )


def histogram(
    quantity: str | QuantityFunction,
    bins: int | ArrayLike = 64,
    range: tuple[float, float] | None = None,
    *,
    name: str | None = None,
) -> HistogramReduction:
    """Counts in bins.

    Parameters
    ----------
    quantity : str or callable
        Such as "speed@final", or a function of a motion that returns (members, ...).
    bins : int or array_like, optional
        Their number, or their edges.  Without a range the bins have a width that is a power of two, the smallest for
        which at most so many bins hold every number, chosen for each time and component.
    range : (float, float), optional
        From where to where; numbers outside are counted as `below` and `above`.
    name : str, optional
        Under which the result is found; by default "histogram:", the quantity and the bins.

    Examples
    --------
    >>> import polhode as ph
    >>> start = ph.State(velocity=[(v, 0, 0) for v in (0.5, 1.5, 1.6, 7.0)])
    >>> motion = ph.ensemble(ph.particle(1.0), start, duration=1.0)
    >>> found = ph.reductions.apply(motion, [ph.reductions.histogram("speed@final", 4, (0, 4), name="speed")])["speed"]
    >>> found["counts"].tolist(), int(found["above"])
    ([1, 2, 0, 0], 1)
    """
    read = read_quantity(quantity)
    if is_whole_number(bins):
        if bins < 1 or (range is None and bins < 2):
            raise InputError(f"bins must be at least 1, and without a range at least 2, but is {show(bins)}")
        if bins > MOST_BINS:
            raise InputError(f"bins must be at most {MOST_BINS:,}, but is {show(bins)}")
        if range is None:
            return HistogramReduction(_name(name, "histogram", f"{read.text}:{bins}"), read, None, int(bins))
        if shape_of(range) != (2,):
            raise InputError(f"the range of a histogram is two numbers, (low, high), not {show(range)}")
        low, high = (check_number(end, "the range of a histogram") for end in range)
        if not low < high:
            raise InputError(f"the range of a histogram must rise, but is {low:g} to {high:g}")
        edges = np.linspace(low, high, int(bins) + 1)
        text = f"{bins},{low:g},{high:g}"
    else:
        try:
            edges = as_floats(bins)
        except (TypeError, ValueError, OverflowError):
            edges = np.empty(0)
        text = "edges"
    if edges.ndim != 1 or len(edges) < 2 or not (np.diff(edges) > 0).all() or not np.isfinite(edges).all():
        raise InputError(f"bins must be their number, or at least two edges that rise, not {show(bins)}")
    return HistogramReduction(
        _name(name, "histogram", f"{read.text}:{text}"), read, tuple(edges.tolist()), len(edges) - 1
    )


def extremes(quantity: str | QuantityFunction, *, name: str | None = None) -> ExtremesReduction:
    """The smallest and the largest value, and the numbers of the members that have them.

    Parameters
    ----------
    quantity : str or callable
        Such as "speed", or a function of a motion that returns (members, ...).
    name : str, optional
        Under which the result is found; by default "extremes:" and the quantity.

    Examples
    --------
    >>> import polhode as ph
    >>> start = ph.State(velocity=[(1, 0, 0), (5, 0, 0), (2, 0, 0)])
    >>> motion = ph.ensemble(ph.particle(1.0), start, duration=1.0)
    >>> found = ph.reductions.apply(motion, [ph.reductions.extremes("speed@final")])["extremes:speed@final"]
    >>> float(found["largest"]), int(found["largest_member"])
    (5.0, 1)
    """
    read = read_quantity(quantity)
    return ExtremesReduction(_name(name, "extremes", read.text), read)


def count(
    quantity: str | QuantityFunction,
    *,
    above: float | None = None,
    below: float | None = None,
    confidence: float = 0.95,
    name: str | None = None,
) -> CountReduction:
    """How many members have a property, as a number and as a fraction with its confidence interval.

    Parameters
    ----------
    quantity : str or callable
        Whose value is compared; or a function of a motion that returns True or False for each member.
    above, below : float, optional
        The property: greater than the one, less than the other.
    confidence : float, optional
        Of the interval (Wilson's) for the probability; it supposes independent members.
    name : str, optional
        Under which the result is found; by default "count:", the quantity and the property.

    Examples
    --------
    >>> import polhode as ph
    >>> start = ph.State(velocity=[(1, 0, 0), (5, 0, 0), (2, 0, 0)])
    >>> motion = ph.ensemble(ph.particle(1.0), start, duration=1.0)
    >>> found = ph.reductions.apply(motion, [ph.reductions.count("speed@final", above=1.5, name="fast")])["fast"]
    >>> int(found["having"]), round(float(found["fraction"]), 3)
    (2, 0.667)
    """
    read = read_quantity(quantity)
    if above is None and below is None and read.function is None:
        raise InputError(f"which members? Give above=..., below=..., or both, for {read.text!r}; or a function")
    above = None if above is None else check_number(above, "above")
    below = None if below is None else check_number(below, "below")
    if not 0 < check_number(confidence, "confidence") < 1:
        raise InputError(f"confidence must be between 0 and 1, such as 0.95, but is {show(confidence)}")
    property_text = ("" if above is None else f">{above:g}") + ("" if below is None else f"<{below:g}")
    text = read.text + (f":{property_text}" if property_text else "")
    return CountReduction(_name(name, "count", text), read, above, below, confidence)


def sample(quantity: str | QuantityFunction, every: int, *, name: str | None = None) -> SampleReduction:
    """The values of some members: those whose numbers are multiples of `every`.

    Parameters
    ----------
    quantity : str or callable
        Such as "position@final", or a function of a motion that returns (members, ...).
    every : int
        An odd number serves all designs: points of a Sobol' sequence that are a power of two apart lie close together.
    name : str, optional
        Under which the result is found; by default "sample:", the quantity and `every`.

    Examples
    --------
    >>> import polhode as ph
    >>> start = ph.State(velocity=[(v, 0, 0) for v in range(7)])
    >>> motion = ph.ensemble(ph.particle(1.0), start, duration=1.0)
    >>> found = ph.reductions.apply(motion, [ph.reductions.sample("speed@final", 3, name="some")])["some"]
    >>> found.coordinates["member"].tolist(), found["values"].round(9).tolist()
    ([0, 3, 6], [0.0, 3.0, 6.0])
    """
    read = read_quantity(quantity)
    if not is_whole_number(every) or not 1 <= every <= 2**53:
        raise InputError(f"every must be an integer of at least 1 and at most 2^53, but is {show(every)}")
    return SampleReduction(_name(name, "sample", f"{read.text}:{every}"), read, int(every))


def custom(
    name: str,
    partial: Callable[[Any, int], dict[str, Any]],
    merge: Callable[[Partial, Partial], dict[str, Any]],
    finish: Callable[[Partial], Any] = dict,
) -> CustomReduction:
    """A reduction of one's own.  Any object with `name` and these three as methods is one too.

    Parameters
    ----------
    name : str
        Under which the result is found.
    partial : callable
        `partial(motion, first)`: what to remember of a block of members, as arrays by name.  `motion` has at most 4096
        members, of which the first one has the number `first`.
    merge : callable
        `merge(left, right)`: what to remember of two such blocks; the left one has the smaller numbers.
    finish : callable, optional
        `finish(total)`: the result, as arrays by name; by default what was remembered of all.

    Examples
    --------
    >>> import numpy as np, polhode as ph
    >>> highest = ph.reductions.custom(
    ...     "highest",
    ...     lambda motion, first: {"height": motion.position[..., 2].max(initial=-np.inf)},
    ...     lambda left, right: {"height": np.maximum(left["height"], right["height"])},
    ... )
    >>> start = ph.State(velocity=[(0, 0, 1), (0, 0, 4)])
    >>> motion = ph.ensemble(ph.particle(1.0), start, duration=2.0)
    >>> float(ph.reductions.apply(motion, [highest])["highest"]["height"].round(9))
    8.0
    """
    if not isinstance(name, str) or not name:
        raise InputError(f"a reduction needs a name under which its result is found, not {show(name)}")
    for what, function in (("partial", partial), ("merge", merge), ("finish", finish)):
        if not callable(function):
            raise InputError(f"{what} of the reduction {name!r} must be a function, not {show(function)}")
    return CustomReduction(name, partial, merge, finish)


def apply(motion: Motion, reductions: Reduction | str | Sequence[Reduction | str]) -> dict[str, ReducedQuantity]:
    """Reduce an ensemble that is in memory: the results by name, with the bits that a run with `reduce=` gives.

    Examples
    --------
    >>> import polhode as ph
    >>> motion = ph.ensemble(ph.particle(1.0), ph.State(velocity=[(1, 0, 0), (3, 0, 0)]), duration=2.0)
    >>> list(ph.reductions.apply(motion, [ph.reductions.mean("speed"), ph.reductions.extremes("speed")]))
    ['mean:speed', 'extremes:speed']
    """
    members = check_kind(motion, "motion", Motion).scenario.members
    if members is None:
        raise InputError("reductions are over the members of an ensemble, but this motion has none: use ph.ensemble")
    checked = check_reductions(reductions)
    totals = reduce_blocks(motion, checked)
    return {reduction.name: reduction.finish(totals[reduction.name]) for reduction in checked}


def reduce_blocks(motion: Motion, reductions: Sequence[Reduction], first: int = 0) -> dict[str, Partial]:
    """What reductions remember of the members of a motion, by their names: blocks merged, in the order of the members.

    The first of them begins a block, and has the number `first` in the ensemble.
    """
    trees = {reduction.name: MergeTree(reduction.merge) for reduction in reductions}
    for k, (a, b) in enumerate(split_into_blocks(0, motion.scenario.members or 1) if reductions else ()):
        block = take_members(motion, a, b)
        for reduction in reductions:
            trees[reduction.name].add(k, reduction.partial(block, first + a))
    return {name: total for name, tree in trees.items() if (total := tree.total()) is not None}


def read_reduction(text: str) -> Reduction:
    """The reduction that a text means, as on the command line.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.reductions.read_reduction("quantiles:position.z:0.05,0.5").name
    'quantiles:position.z:0.05,0.5'
    """
    parsed = parse_reduction(check_text(text, "a reduction"))
    made: Reduction = _MAKERS[parsed.kind](*parsed.arguments, **parsed.options)
    return made


def check_reductions(reductions: Any) -> tuple[Reduction, ...]:
    """Reductions as given by a user: one or several, records or texts; each name once.

    Examples
    --------
    >>> [reduction.name for reduction in check_reductions(["mean:speed", extremes("speed")])]
    ['mean:speed', 'extremes:speed']
    """
    given = [reductions] if isinstance(reductions, (str, Reduction)) else reductions
    if not isinstance(given, (list, tuple)):
        raise InputError(f"reductions are given as a list, such as [ph.reductions.mean('position')], not {show(given)}")
    checked: list[Reduction] = []
    for one in given:
        if not isinstance(one, (str, Reduction)) or isinstance(one, type):
            raise InputError(
                f"{show(one)} is no reduction: give a text such as 'mean:position', or what ph.reductions.mean and its "
                "neighbors return"
            )
        made = read_reduction(one) if isinstance(one, str) else one
        if made.name in (other.name for other in checked):
            raise InputError(f"there are two reductions {made.name!r}: give one of them another name=")
        checked.append(made)
    return tuple(checked)


_MAKERS: dict[str, Callable[..., Reduction]] = {
    "mean": mean,
    "covariance": covariance,
    "quantiles": quantiles,
    "histogram": histogram,
    "extremes": extremes,
    "count": count,
    "sample": sample,
}


def _name(given: str | None, kind: str, text: str) -> str:
    if given is not None and (not isinstance(given, str) or not given):
        raise InputError(f"name must be a text, not {show(given)}")
    return f"{kind}:{text}" if given is None else given


def _read_averageable(quantity: str | QuantityFunction) -> QuantityAt:
    read = read_quantity(quantity)
    if read.function is None and read.name == "quaternion_wxyz":
        raise InputError(
            "the mean of quaternions is no attitude, since q and -q are the same one: reduce rotation_matrix, "
            "yaw_pitch_roll, or a function of the motion, such as the angle from a direction"
        )
    return read
