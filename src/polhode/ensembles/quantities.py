"""What reductions look at: a quantity of a motion by its name, one of its components, at all outputs or at an event."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from polhode.errors import InputError, nearest, show
from polhode.integrate.run_result import EventRecord, RunResult
from polhode.quantities.own import known_quantities
from polhode.quantities.quantity import AXES, Quantity
from polhode.quantities.table import TIME
from polhode.results.motion import Motion
from polhode.results.trajectory import Trajectory
from polhode.validation import Array

QuantityFunction: TypeAlias = Callable[[Any], Any]
"""Takes the motion of some members and returns an array (members, ...)."""

ALSO = {"body_axis": ("x", "y", "z"), "column": ("x", "y", "z")}
"""What else the components along an axis may be called."""
FINAL = "final"


class BlockValues(NamedTuple):
    """A quantity of some members."""

    rows: Array
    """(numbers, members): one row for each number of the quantity; NaN where a member has none."""
    shape: tuple[int, ...]
    """What the rows are: the lengths of their dimensions, time first if it is one."""
    times: Array
    """The output times, in s; empty if time is no dimension."""


@dataclass(frozen=True)
class QuantityAt:
    """What a reduction looks at.  `read_quantity` makes it from a text or a function."""

    name: str
    component: str = ""
    at: str = ""
    """Empty: at all outputs; "final": at the last one, or where an event has stopped a member; else the name of an
    event, at its first time for each member."""
    function: QuantityFunction | None = None
    known: Quantity | None = field(default=None, compare=False, repr=False)
    """What is known about it; None for a function."""

    @property
    def text(self) -> str:
        """As it is written: "position.z@landing"."""
        return self.name + f".{self.component}" * bool(self.component) + f"@{self.at}" * bool(self.at)

    @property
    def unit(self) -> str:
        """Its unit; empty if unknown."""
        return "" if self.known is None else self.known.unit

    def values(self, motion: Trajectory) -> BlockValues:
        """The numbers of all members of a motion."""
        if self.function is not None:
            return self._values_of_function(motion)
        if motion.axis != "member":
            raise InputError(f"{self.text!r} is reduced over the members of an ensemble, but this motion has none")
        if self.at in ("", FINAL):
            shown = motion if not self.at else _at_the_end(motion)
            assert self.known is not None
            times = motion.end_times[None] if self.at else None
            found = self.known.values(shown, times)
            if found is None:
                raise InputError(f"{self.text!r}: this ensemble has no {self.name}: {self.known.more}")
            array = np.asarray(found, dtype=np.float64)
            if self.at and not self.known.at_events:
                # Forces are evaluated at the last output time, not at the time at which a member stopped.
                array = np.where(_along_members(motion.end_times < motion.times[-1], array), np.nan, array)
        else:
            array = _at_event(motion, self)[None]
        array = np.moveaxis(array, 1, -1)  # (time, ..., members)
        if self.component:
            array = array[..., self._index_of_component(array.shape[-2]), :]
        return _as_rows(array[0] if self.at else array, np.empty(0) if self.at else motion.times)

    def dims(self, count: int) -> tuple[str, ...]:
        """The names of so many dimensions of its values, "time" first if there is one."""
        if self.known is None:
            return tuple(f"component_{i}" for i in range(count))
        outer = () if self.at else ("time",)
        inner = self.known.axes[:-1] if self.component else self.known.axes
        return (*outer, *inner) if count == len(outer) + len(inner) else (*outer, "body", *inner)

    def labels(self, dims: tuple[str, ...], shape: tuple[int, ...]) -> list[str]:
        """One name for each component along these dimensions, such as "position.x"."""
        suffix = f"@{self.at}" if self.at else ""
        labels = [self.text.removesuffix(suffix)]
        for dim, length in zip(dims, shape, strict=True):
            words = AXES.get(dim, tuple(str(i) for i in range(length)))
            labels = [
                label + (f"[{dim} {word}]" if dim in ("body", "rotor") else f".{word}")
                for label in labels
                for word in words
            ]
        return [label + suffix for label in labels]

    def _index_of_component(self, length: int) -> int:
        assert self.known is not None
        axis = self.known.axes[-1]
        for names in (AXES.get(axis, tuple(str(i) for i in range(length))), ALSO.get(axis, ())):
            if self.component in names:
                return names.index(self.component)
        raise InputError(f"{self.text!r}: there are {length} of them, numbered from 0")

    def _values_of_function(self, motion: Trajectory) -> BlockValues:
        assert self.function is not None
        array = np.asarray(self.function(motion))
        members = motion.scenario.members
        if array.ndim == 0 or len(array) != members or array.dtype.kind not in "fiub":
            raise InputError(
                f"the function {self.name!r} must return one number, or an array of numbers, for each of the {members} "
                f"members of the motion that it is given, members first, but returned an array of the shape "
                f"{array.shape} and type {array.dtype}"
            )
        moved = np.moveaxis(array.astype(np.float64), 0, -1)
        return _as_rows(moved, np.empty(0))


def read_quantity(quantity: str | QuantityFunction | Quantity | QuantityAt) -> QuantityAt:
    """What is meant by "position", "position.z", "speed@final", "position.x@landing", or by a function.

    Examples
    --------
    >>> read_quantity("position.z@landing")
    QuantityAt(name='position', component='z', at='landing', function=None)
    >>> read_quantity("velocty")
    Traceback (most recent call last):
    polhode.errors.InputError: 'velocty' is no quantity of a motion: did you mean 'velocity'? Known: acceleration, ...
    """
    if isinstance(quantity, QuantityAt):
        return quantity
    if isinstance(quantity, Quantity):
        return QuantityAt(quantity.name, known=quantity)
    if callable(quantity):
        name = str(getattr(quantity, "__name__", type(quantity).__name__))
        return QuantityAt("function" if name == "<lambda>" else name, function=quantity)
    if not isinstance(quantity, str):
        raise InputError(
            f"a quantity is a name such as 'position' or 'speed@final', or a function of a motion, not {show(quantity)}"
        )
    rest, sign, at = (part.strip() for part in quantity.partition("@"))
    name, dot, component = rest.partition(".")
    if sign and not at:
        raise InputError(f"{quantity!r}: after @ say when, for example '{name}@final', or the name of an event")
    if name == "time":
        if at in ("", FINAL) or dot:
            raise InputError(f"{quantity!r}: the time of what? Write time@ and the name of an event: 'time@landing'")
        return QuantityAt("time", at=at, known=TIME)
    table = known_quantities()
    if name not in table:
        raise InputError(f"{name!r} is no quantity of a motion: {nearest(name, [*table, 'time@EVENT'])}")
    known = table[name]
    if at not in ("", FINAL) and not known.at_events:
        raise InputError(f"{quantity!r}: {name} depends on the forces, and is known at outputs only, not at events")
    if dot:
        (axis,) = known.axes if len(known.axes) == 1 else ("",)
        names = (*AXES.get(axis, ()), *ALSO.get(axis, ()))
        if not names and axis != "rotor":
            raise InputError(f"{quantity!r}: {name} has no components that could be taken by name")
        if (names and component not in names) or (not names and not component.isdigit()):
            shown = ", ".join(AXES.get(axis, ())) or "numbered from 0"
            raise InputError(f"{quantity!r}: the components of {name} are {shown}")
    return QuantityAt(name, component, at, known=known)


def take_members(motion: Motion, first: int, last: int) -> Motion:
    """The motion of members first to last (excluded) of an ensemble, numbered from 0.

    Examples
    --------
    >>> import polhode as ph
    >>> start = ph.State(velocity=[(1, 0, 0), (2, 0, 0), (3, 0, 0)])
    >>> motion = ph.ensemble(ph.particle(1.0), start, duration=1.0)
    >>> take_members(motion, 1, 3).final.position[:, 0].round(9).tolist()
    [2.0, 3.0]
    """
    if first == 0 and last == motion.scenario.members:
        return motion
    result = motion.run_result.take(slice(first, last))
    return Motion(motion.scenario.take(slice(first, last)), result, motion.unknown_forces)


def _at_the_end(motion: Trajectory) -> Trajectory:
    """The last output alone, so that a quantity is not computed at all of them; of members that stopped, where."""
    run = motion.run_result
    if len(run.times) == 0:
        raise InputError("the run stopped before its first output time: there is no end to look at")
    samples = motion.final_samples()[None]
    contact = None if run.contact is None else run.contact[-1:]
    last = replace(run, times=run.times[-1:], samples=samples, contact=contact)
    return type(motion)(motion.scenario, last, motion.unknown_forces)


def _along_members(chosen: Any, array: Array) -> Any:
    """One truth value for each member, in the dimensions of an array (time, members, ...)."""
    return chosen.reshape(1, -1, *(1,) * (array.ndim - 2))


def _at_event(motion: Trajectory, quantity: QuantityAt) -> Array:
    """(members, ...): a quantity when an event happened to each member first; NaN where it did not."""
    run, members = motion.run_result, motion.scenario.members or 0
    names = [e.name for e in motion.scenario.events]
    if quantity.at not in names:
        known = f"its events are {', '.join(names)}" if names else "it has no events"
        raise InputError(f"{quantity.text!r}: the scenario has no event {quantity.at!r}; {known}")
    found: dict[int, EventRecord] = {}
    for crossing in run.crossings:  # in order of time
        if crossing.name == quantity.at:
            found.setdefault(crossing.owner, crossing)
    at = np.array(list(found), dtype=np.int64)
    times = np.full(members, np.nan)
    times[at] = [crossing.time for crossing in found.values()]
    if quantity.name == "time":
        return times
    if motion.scenario.is_system:
        raise InputError(
            f"{quantity.text!r}: of a system only the time of an event is reduced, 'time@{quantity.at}': an event "
            "keeps the state of one body. Output times near the event show the others"
        )
    samples = np.full((1, *run.samples.shape[1:]), np.nan)
    if len(at):
        kept = np.array([crossing.sample for crossing in found.values()])
        samples[0, at, : kept.shape[-1]], samples[0, at, kept.shape[-1] :] = kept, 0.0
    there = type(motion)(motion.scenario, RunResult(motion.times[-1:], samples, run.columns, run.steps))
    assert quantity.known is not None
    return np.asarray(quantity.known.values(there, times[None])[0], dtype=np.float64)


def _as_rows(array: Array, times: Array) -> BlockValues:
    rows = np.ascontiguousarray(array.reshape(-1, array.shape[-1])) + 0.0  # -0.0 becomes 0.0: sorting knows one zero
    return BlockValues(rows, array.shape[:-1], times)
