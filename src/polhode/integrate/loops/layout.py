"""The memory of a run: all numbers of a unit of bodies in one flat array, divided into blocks of lanes.

A block is a structure of arrays with one lane for each of its bodies; state and constants share it.  A unit advances
together: one block of independent bodies, or all the blocks of a system.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, get_type_hints

from polhode.equations.inertia import BodyConstants
from polhode.equations.law import Groups

EVENT_POINTS = 8
"""The number of subintervals of a step that are searched for events."""


class GridClock(NamedTuple):
    """The clock of a body, or system, that makes steps of one length on a grid; see also `runge_kutta.Clock`."""

    t: Any
    """From the start of the run on."""
    h: Any
    step: Any
    """The number of the step in its grid."""
    accepted: Any
    wasted: Any
    origin: Any
    """The time at which the grid begins."""


KEPT_CLOCK = 3
"""The first numbers of a clock are all that a run needs to go on from a checkpoint: the others count."""


class TriedStep(NamedTuple):
    """A step that was tried."""

    length: Any
    error: Any


class Wrench(NamedTuple):
    """What acts on a body, in world axes, about the center of mass."""

    force: Any
    torque: Any


class DrivenWrench(NamedTuple):
    """What acts on a body with parts that are driven."""

    force: Any
    torque: Any
    drives: Any
    """What drives each number that the parts add to the state."""


class EventValues(NamedTuple):
    """The values of all event functions."""

    points: Any
    """At EVENT_POINTS + 1 points of a step.  The change that an event makes writes those before and after it here."""
    trial: Any
    """After a step that was tried."""


class KernelArray(NamedTuple):
    """Says of an array in the record of a loop, `buffer: Annotated[Any, KernelArray(0)]`, what a kernel has to know."""

    unit_axis: int | None = None
    """Its axis of units, if it has one: each GPU gets a part."""
    is_written: bool = True
    """Whether the loop writes to it, if it has an axis of units."""
    has_known_extents: bool = False
    """Whether its extents, all but the first, are part of the program."""
    is_own: bool = False
    """Whether every unit has one of its own."""


class KernelFields(NamedTuple):
    """What a kernel has to know about the record of a loop: it follows from the record's annotations."""

    unit_axes: Mapping[str, int]
    """Arrays with an axis of units, and which axis that is."""
    written: tuple[str, ...]
    """Those of them that the loop writes."""
    known_extents: tuple[str, ...]
    """Arrays whose extents, all but the first, are part of the program."""
    own: tuple[str, ...] = ()
    """Arrays of which every unit has its own."""

    @classmethod
    def of(cls, kind: type) -> KernelFields:
        """Of a kind of record."""
        hints = get_type_hints(kind, include_extras=True)
        found = {name: next(iter(getattr(hint, "__metadata__", ())), None) for name, hint in hints.items()}
        arrays = {name: array for name, array in found.items() if isinstance(array, KernelArray)}
        return cls(
            {name: array.unit_axis for name, array in arrays.items() if array.unit_axis is not None},
            tuple(name for name, array in arrays.items() if array.unit_axis is not None and array.is_written),
            tuple(name for name, array in arrays.items() if array.has_known_extents),
            tuple(name for name, array in arrays.items() if array.is_own),
        )


class Layout(NamedTuple):
    """The place of each number of the first body of a block; the other lanes follow at stride 1.

    The columns of a sample come first: the state, then the attitude drift.
    """

    lanes: int
    state: Groups
    drift: int
    sample_size: int
    body: BodyConstants
    params: Groups
    event_params: Groups
    """The parameters of the events."""
    member: Any
    """Of systems that act on each other: the number of the member, which has its own parameters of pair forces."""
    least: Groups
    """Of an adaptive method: the error floor of position, attitude, momentum, spin and parts for this body."""
    clock: Any
    """A `Clock`, with steps of one length a `GridClock`; () without."""
    carried: int
    """The end of the numbers that belong to a body; the rest is workspace."""
    trial: Groups
    """The state after the step that was tried."""
    point: Groups
    """Of a step that is made stage by stage: the states at the current stage."""
    wrench: Any
    """A `Wrench` or `DrivenWrench` of such a step."""
    slopes: Groups
    """The slopes of all stages of such a step; otherwise those that dense output needs."""
    curve: Groups
    """The coefficients of the interpolant; may overlap slopes that are no longer needed."""
    attempt: Any
    event_values: Any
    event_slopes: Groups
    """The change of each event function over a small part of the step."""
    size: int


def _alike(shape: tuple[Any, ...], parts: Any) -> Any:
    """The parts as a tuple with the names of another."""
    return shape._make(parts) if hasattr(shape, "_make") else tuple(parts)


def assign_places(shape: Any, start: int, stride: int) -> tuple[Any, int]:
    """Assign places from `start` at a stride to a nested shape; return them, by the same names, and the end."""
    if not isinstance(shape, tuple):
        return start, start + stride
    places = []
    for part in shape:
        place, start = assign_places(part, start, stride)
        places.append(place)
    return _alike(shape, places), start


def first_place(places: Any) -> int:
    """The first of nested places."""
    while isinstance(places, tuple):
        places = places[0]
    return int(places)


def read(unit: Any, at: Any, places: Any) -> Any:
    """Read the numbers of one body at nested places, in the same nesting and by the same names.

    In the place of a place may be a number that is known.
    """
    if isinstance(places, tuple):
        return _alike(places, (read(unit, at, place) for place in places))
    return places if isinstance(places, float) else unit[places + at]


def write(unit: Any, at: Any, places: Any, values: Any) -> None:
    """Write numbers where `read` finds them."""
    if isinstance(places, tuple):
        for place, value in zip(places, values, strict=True):
            write(unit, at, place, value)
    else:
        unit[places + at] = values


def read_constants(unit: Any, at: Any, layout: Layout) -> BodyConstants:
    """The constants of a body."""
    constants: BodyConstants = read(unit, at, layout.body)
    return constants


def put_known(places: Any, known: Any) -> Any:
    """Nested places, with numbers in the place of those that are known; None: not known."""
    if not isinstance(places, tuple):
        return places if known is None else known
    return _alike(places, (put_known(p, k) for p, k in zip(places, known, strict=True)))
