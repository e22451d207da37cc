"""Members of an ensemble selected, and bodies of a system stacked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.massprops.body import Body
from polhode.scenario.force import map_leaves
from polhode.scenario.state import State

if TYPE_CHECKING:
    from polhode.scenario.scenario import Scenario


def stack_nests(nests: Sequence[Any]) -> Any:
    """Nested tuples of numbers, one for each body, as one nested tuple of arrays."""
    first = nests[0]
    if isinstance(first, tuple):
        return tuple(stack_nests([nest[i] for nest in nests]) for i in range(len(first)))
    if any(np.ndim(leaf) for leaf in nests):  # members first, then bodies
        return np.stack(np.broadcast_arrays(*nests), axis=-1).astype(np.float64)
    return np.array(nests, dtype=np.float64)


def over_bodies(nest: Any, scenario: Scenario) -> Any:
    """Numbers of members, of an ensemble of systems, with an axis for the bodies; all others as they are."""
    if len(scenario.shape) < 2:
        return nest
    return map_leaves(lambda leaf: np.asarray(leaf)[:, None] if np.ndim(leaf) == 1 else leaf, nest)


def select_members(value: Any, dimensions: int, members: Any) -> Any:
    """The values of some members, of a value that may have a leading axis."""
    array = np.asarray(value)
    return array[members] if array.ndim > dimensions else value


def select_body_members(body: Body, members: Any) -> Body:
    """The body of one member (a number), or of some (an array of numbers)."""
    has_members = body.inertia_body.ndim > 2
    return replace(
        body,
        mass=select_members(body.mass, 0, members),
        inertia=body.inertia_body[members] if has_members else body.inertia,
        diagonalized=None if body.diagonalized is None else body.diagonalized.select_members(members),
        center_of_mass=select_members(body.center_of_mass, 1, members),
        volume=None if body.volume is None else select_members(body.volume, 0, members),
        area=None if body.area is None else select_members(body.area, 0, members),
        parts=tuple(part.select_members(members) for part in body.parts),
    )


def select_state_members(state: State, members: Any) -> State:
    """The initial state of one member, or of some."""
    return State(
        position=select_members(state.position, 1, members),
        quaternion_wxyz=select_members(state.quaternion_wxyz, 1, members),
        velocity=select_members(state.velocity, 1, members),
        angular_velocity_body=select_members(state.angular_velocity_body, 1, members),
        time=state.time,
    )
