"""Where the members of an ensemble come from: arrays that hold their numbers, or draws that are made on demand."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from polhode.errors import ScenarioError
from polhode.model.scenario import Scenario
from polhode.validation import Array

IntArray: TypeAlias = NDArray[np.int64]


class MemberSource(Protocol):
    """The members of an ensemble, by number."""

    members: int
    """How many there are."""
    input_names: tuple[str, ...]
    """The names of drawn inputs; () if the numbers were given as arrays."""

    def take(self, members: IntArray) -> Scenario:
        """The ensemble of just these members, in this order; with a leading axis, also for one member."""
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

    def take(self, members: IntArray) -> Scenario:
        """The ensemble of just these members."""
        return self.scenario.take(as_slice(members))

    def inputs(self, members: IntArray) -> dict[str, Array]:  # noqa: ARG002
        """Nothing is drawn."""
        return {}

    def describe(self) -> dict[str, Any]:
        """The scenario, and a digest of all its numbers."""
        return {"kind": "arrays", "members": self.members}


def as_slice(members: IntArray) -> Any:
    """Consecutive members as a slice, which copies nothing; others as they are."""
    count = len(members)
    if count and members[-1] - members[0] == count - 1 and (count == 1 or bool((np.diff(members) == 1).all())):
        return slice(int(members[0]), int(members[-1]) + 1)
    return members
