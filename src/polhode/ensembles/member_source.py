"""Where the members of an ensemble come from: arrays that hold their numbers, or draws that are made on demand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from polhode.errors import ScenarioError
from polhode.scenario.scenario import Scenario
from polhode.validation import Array

IntArray: TypeAlias = NDArray[np.int64]


class MemberSource(Protocol):
    """The members of an ensemble, by number."""

    members: int
    """How many there are."""
    input_names: tuple[str, ...]
    """The names of drawn inputs; () if the numbers were given as arrays."""

    def take(self, members: IntArray | range) -> Scenario:
        """The ensemble of just these members, in this order; with a leading axis, also for one member.

        Consecutive ones come as a range, of which no numbers are written out.
        """
        ...

    def inputs(self, members: IntArray) -> dict[str, Array]:
        """The drawn numbers of these members by name, each (members, ...)."""
        ...

    def describe(self) -> dict[str, Any]:
        """What the members are made from, as plain JSON: two sources with equal members have equal descriptions."""
        ...


class ArraySource:
    """A scenario whose numbers carry a leading axis for the members."""

    input_names: tuple[str, ...] = ()

    def __init__(self, scenario: Scenario) -> None:
        if scenario.members is None:
            raise ScenarioError(
                "an ensemble needs a number in body, state, forces or contacts with a leading axis for its members; "
                "for one motion use ph.simulate"
            )
        self.scenario, self.members = scenario, scenario.members

    def take(self, members: IntArray | range) -> Scenario:
        """The ensemble of just these members."""
        chosen = as_slice(members)
        is_all = isinstance(chosen, slice) and chosen == slice(0, self.members)
        return self.scenario if is_all else self.scenario.take(chosen)

    def inputs(self, members: IntArray) -> dict[str, Array]:  # noqa: ARG002
        """Nothing is drawn."""
        return {}

    def describe(self) -> dict[str, Any]:
        """A digest of all numbers of the scenario."""
        return {"kind": "arrays", "members": self.members, "digest": self._digest}

    @cached_property
    def _digest(self) -> str:
        """Found once: every part that is sent to another machine has it."""
        return digest_numbers_of(self.scenario)


class PartSource:
    """Some consecutive members of a larger ensemble, with its numbers for them: what is sent to another machine."""

    def __init__(self, source: MemberSource, first: int, last: int) -> None:
        self.members, self.input_names, self.first = source.members, source.input_names, first
        members = np.arange(first, last)
        self.scenario, self._inputs = source.take(range(first, last)), source.inputs(members)
        self._description = source.describe()

    def take(self, members: IntArray | range) -> Scenario:
        """The ensemble of just these members, which are among those of the part."""
        chosen = as_slice(members)
        if isinstance(chosen, slice):
            return self.scenario.take(slice(chosen.start - self.first, chosen.stop - self.first))
        return self.scenario.take(chosen - self.first)

    def inputs(self, members: IntArray) -> dict[str, Array]:
        """The drawn numbers of these members."""
        return {name: values[np.asarray(members) - self.first] for name, values in self._inputs.items()}

    def describe(self) -> dict[str, Any]:
        """What the whole ensemble is made from."""
        return self._description


def for_any_engine(scenario: Scenario) -> Scenario:
    """The scenario as any engine may compute it: all have the same bits, so one may complete what another has begun."""
    return replace(scenario, engine="cpu") if scenario.precision == "strict" and scenario.engine != "cpu" else scenario


def digest_numbers_of(scenario: Scenario) -> str:
    """A SHA-256 of everything that a scenario says but its engine; functions count by their names alone."""
    found, scenario = sha256(), for_any_engine(scenario)
    _digest(tuple(getattr(scenario, field.name) for field in fields(scenario)), found)
    return found.hexdigest()


def _digest(value: Any, found: Any) -> None:
    if isinstance(value, np.ndarray):
        found.update(repr((value.shape, value.dtype.str)).encode())
        found.update(np.ascontiguousarray(value).data)
    elif isinstance(value, (bool, int, float, str, np.generic, type(None))):
        found.update(repr(value.item() if isinstance(value, np.generic) else value).encode() + b";")
    elif isinstance(value, Mapping):
        _digest(tuple(value.items()), found)
    elif isinstance(value, (tuple, list, set, frozenset)):
        found.update(f"{len(value)}[".encode())
        for part in sorted(value, key=repr) if isinstance(value, (set, frozenset)) else value:
            _digest(part, found)
    elif is_dataclass(value) and not isinstance(value, type):
        found.update(type(value).__qualname__.encode())
        _digest(tuple(getattr(value, field.name) for field in fields(value)), found)
    else:
        name = getattr(value, "__qualname__", type(value).__qualname__)
        found.update(name.encode() + b";")


def as_slice(members: IntArray | range) -> Any:
    """Consecutive members as a slice, which copies nothing; others as they are."""
    if isinstance(members, range):
        return slice(members.start, members.stop)
    count = len(members)
    if count and members[-1] - members[0] == count - 1 and (count == 1 or bool((np.diff(members) == 1).all())):
        return slice(int(members[0]), int(members[-1]) + 1)
    return members
