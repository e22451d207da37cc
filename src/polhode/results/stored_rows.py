"""Events and impacts in an archive: as rows of numbers, of single motions and of the members of an ensemble alike."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from polhode.integrate.run_result import IMPACT, EventRecord
from polhode.validation import Array

EVENT, BODY, TIME, ENDS, MEMBER, NAME = range(6)
"""The columns of the rows of events; the sample follows.  A member of -1 is none, a name the place in a list."""
FIRST_OF_SAMPLE = 6


def pack_events(found: Iterable[EventRecord]) -> tuple[Array, list[str]]:
    """Events as rows, and the names of those that occurred."""
    every = list(found)
    names = list(dict.fromkeys(c.name for c in every))
    places = {name: i for i, name in enumerate(names)}
    rows = [
        [c.event, c.body, c.time, c.ends, -1 if c.member is None else c.member, places[c.name], *c.sample]
        for c in every
    ]
    return np.array(rows, dtype=np.float64), names


def unpack_event(row: Any, names: list[str]) -> EventRecord:
    """The event of a row."""
    member = None if row[MEMBER] < 0 else int(row[MEMBER])
    sample, name = row[FIRST_OF_SAMPLE:], names[int(row[NAME])]
    return EventRecord(int(row[EVENT]), int(row[BODY]), float(row[TIME]), sample, name, bool(row[ENDS]), member)


def pack_impacts(impacts: Any) -> Array:
    """Impacts as rows, one column for each number."""
    return np.column_stack([np.asarray(impacts[name], dtype=np.float64) for name in IMPACT.names or ()])


def unpack_impacts(rows: Any) -> Any:
    """The impacts of rows."""
    found, first = np.zeros(len(rows), dtype=IMPACT), 0
    for name in IMPACT.names or () if len(rows) else ():
        column = found[name]  # a view
        size = int(np.prod(column.shape[1:]))
        column[...] = rows[:, first : first + size].reshape(column.shape)
        first += size
    return found
