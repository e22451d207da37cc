"""The state of an integrator: it names what changes, and saving, restoring and checkpoints follow from the names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from polhode.integrate.run_result import EventRecord, Failure
from polhode.ir.records import fields_of, set_fields
from polhode.validation import Array

Snapshot: TypeAlias = dict[str, Any]
"""Numbers, words, None, arrays, and lists and dictionaries of these: what a file can hold without being executed."""


class Log(NamedTuple):
    """A list that only grows while a run goes on: checkpoints keep what is new in it as rows of a stream."""

    stream: str
    name: str
    """Of the attribute."""
    to_rows: Callable[[list[Any]], Array]
    of_rows: Callable[[Array], list[Any]]


def rows_of_events(found: list[EventRecord]) -> Array:
    """The events of a single run as rows."""
    return np.array([[record.event, record.body, record.time, *record.sample] for record in found])


def events_of_rows(rows: Array) -> list[EventRecord]:
    """The events of a single run from their rows."""
    return [EventRecord(int(row[0]), int(row[1]), float(row[2]), row[3:].copy()) for row in rows]


class RunState:
    """What changes while an integrator works: attributes, by their names, and logs.

    Arrays keep their place in memory, which loops know.  A list, a dictionary or a tuple holds numbers, tuples of
    numbers or arrays that are not written to; the keys of a dictionary are tuples of numbers.
    """

    def __init__(self, owner: Any, names: Sequence[str], logs: Sequence[Log] = ()) -> None:
        self._owner, self._names, self._logs = owner, tuple(names), tuple(logs)
        self._every = (*names, *(log.name for log in logs))
        self._readers = [attrgetter(name) for name in self._every]
        self._known = [0] * len(logs)
        """How many entries of each log the checkpoints have."""

    # In memory --------------------------------------------------------------------------------------------------------
    def save(self) -> tuple[Any, ...]:
        """A copy."""
        return tuple([_copy(read(self._owner)) for read in self._readers])

    def restore(self, saved: tuple[Any, ...]) -> None:
        """Go back to what `save` has returned; it can be restored again and again."""
        for name, value in zip(self._every, saved, strict=True):
            _put(self._owner, name, _copy(value))

    # In checkpoints ---------------------------------------------------------------------------------------------------
    def snapshot(self) -> Snapshot:
        """All of it but the logs, as a file can hold it."""
        return {name: _to_plain(attrgetter(name)(self._owner)) for name in self._names}

    def restore_snapshot(self, snapshot: Snapshot, take_rows: Callable[[str], Array]) -> None:
        """Go on from a snapshot and the rows of the logs' streams."""
        for name in self._names:
            _put(self._owner, name, _of_plain(snapshot[name], attrgetter(name)(self._owner)))
        for i, log in enumerate(self._logs):
            entries = log.of_rows(take_rows(log.stream))
            attrgetter(log.name)(self._owner)[:] = entries
            self._known[i] = len(entries)

    def new_rows(self) -> dict[str, Array]:
        """What is new in the logs since the last snapshot, as rows of their streams."""
        found = {}
        for i, log in enumerate(self._logs):
            entries = attrgetter(log.name)(self._owner)
            if len(entries) > self._known[i]:
                found[log.stream] = log.to_rows(entries[self._known[i] :])
                self._known[i] = len(entries)
        return found


def _copy(value: Any) -> Any:
    return value.copy() if isinstance(value, (np.ndarray, list, dict)) else value


def _put(owner: Any, name: str, value: Any) -> None:
    *path, last = name.split(".")
    for part in path:
        owner = getattr(owner, part)
    present = getattr(owner, last)
    if isinstance(value, np.ndarray) and present.shape == value.shape:
        present[...] = value
    elif isinstance(value, list):
        present[:] = value
    else:
        setattr(owner, last, value)


def _to_plain(value: Any) -> Any:
    if isinstance(value, Failure):
        return {**vars(value), "last_good": np.asarray(value.last_good, dtype=np.float64)}
    if isinstance(value, np.ndarray):
        if value.dtype.names:
            return fields_of(value)
        return value.astype(np.int64) if value.dtype == bool else value
    if isinstance(value, dict):
        return [[*key, number] for key, number in value.items()]
    if isinstance(value, (list, tuple)):
        return [list(one) if isinstance(one, tuple) else one for one in value]
    return value


def _of_plain(plain: Any, present: Any) -> Any:
    """A value of the kind that is there now; where nothing is, a failure or a tuple."""
    if plain is None:
        return None
    if isinstance(present, np.ndarray):
        if present.dtype.names:
            values = present.copy()
            set_fields(values, plain)
            return values
        return plain.astype(present.dtype)
    if isinstance(present, dict):
        return {tuple(key): number for *key, number in plain}
    if isinstance(plain, list):
        entries = [tuple(one) if isinstance(one, list) else one for one in plain]
        return entries if isinstance(present, list) else tuple(entries)
    return Failure(**plain) if isinstance(plain, dict) else plain
