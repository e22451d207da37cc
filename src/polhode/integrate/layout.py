"""The memory of a run: all numbers of a unit of bodies in one flat array, divided into blocks of lanes.

A block is a structure of arrays with one lane for each of its bodies; state and constants share it.  A unit advances
together: one block of independent bodies, or all the blocks of a system.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from polhode.equations.inertia import BodyConstants
from polhode.equations.law import Groups

EVENT_POINTS = 8
"""The number of subintervals of a step that are searched for events."""


class KernelFields(NamedTuple):
    """What a kernel has to know about the record of a loop."""

    unit_axes: Mapping[str, int]
    """Arrays with an axis of units, and which axis that is."""
    written: tuple[str, ...]
    """Those of them that the loop writes."""
    known_extents: tuple[str, ...]
    """Arrays whose extents, all but the first, are part of the program."""
    own: tuple[str, ...] = ()
    """Arrays of which every unit has its own."""


class Layout(NamedTuple):
    """The place of each number of the first body of a block; the other lanes follow at stride 1.

    The columns of a sample come first: the state, then the attitude drift.
    """

    lanes: int
    state: Groups
    drift: int
    sample_size: int
    body: Groups
    params: Groups
    event_params: Groups
    """The parameters of the events."""
    member: Groups
    """Of systems that act on each other: the number of the member, which has its own parameters of pair forces."""
    least: Groups
    """Of an adaptive method: the error floor of position, attitude, momentum and spin for this body."""
    clock: Groups
    """(t, h, whether the last attempt was rejected, attempts accepted, attempts rejected), t from the run's start on.

    With fixed steps the third is the number of the step, and a sixth is the time from which steps are counted.
    """
    carried: int
    """The end of the numbers that belong to a body; the rest is workspace."""
    trial: Groups
    """The state after the step that was tried."""
    point: Groups
    """Of a step that is made stage by stage: the states at the current stage."""
    wrench: Groups
    slopes: Groups
    """The slopes of all stages of such a step; otherwise those that dense output needs."""
    curve: Groups
    """The coefficients of the interpolant; may overlap slopes that are no longer needed."""
    attempt: Groups
    """The length of the step that was tried, and its error."""
    event_values: Groups
    """The values of all event functions at EVENT_POINTS + 1 points of a step, and after a step that was tried."""
    event_slopes: Groups
    """The change of each event function over a small part of the step."""
    size: int


def assign_places(shape: Any, start: int, stride: int) -> tuple[Any, int]:
    """Assign places from `start` at a stride to a nested shape; return them and the end."""
    if not isinstance(shape, tuple):
        return start, start + stride
    places = []
    for part in shape:
        place, start = assign_places(part, start, stride)
        places.append(place)
    return tuple(places), start


def read(unit: Any, at: Any, places: Any) -> Any:
    """Read the numbers of one body at a nested tuple of places, in the same nesting."""
    if isinstance(places, tuple):
        return tuple(read(unit, at, place) for place in places)
    return unit[places + at]


def write(unit: Any, at: Any, places: Any, values: Any) -> None:
    """Write numbers where `read` finds them."""
    if isinstance(places, tuple):
        for place, value in zip(places, values, strict=True):
            write(unit, at, place, value)
    else:
        unit[places + at] = values


def read_constants(unit: Any, at: Any, layout: Layout) -> BodyConstants:
    """The constants of a body."""
    return BodyConstants(*read(unit, at, layout.body))
