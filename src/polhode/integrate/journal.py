"""What a run writes down so that it can be killed at any instant and continued with the same bits.

At the end of a portion an integrator gives its journal the outputs that are new, as rows of streams that only grow, and
everything else that changes, as plain numbers and arrays.  Without a journal none of this is done.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from polhode.integrate.run_state import Snapshot
from polhode.validation import Array


class Journal(Protocol):
    """The journal of one run."""

    def resume(self, numbers: bytes) -> Snapshot | None:
        """The last snapshot of this run, if there is one, which must have begun with these numbers."""

    def check_program(self, digest: str) -> None:
        """Raise an error if the run was begun by another program."""

    def stream(self, name: str) -> Array | None:
        """All rows of a stream up to that snapshot; None if there are none."""

    def forget_streams(self) -> None:
        """The streams have been read: their memory can be freed."""

    def is_due(self) -> bool:
        """Whether the last snapshot is old enough for another one."""

    def append(self, name: str, rows: Array) -> None:
        """Rows of a stream, final from now on, that belong to the next snapshot."""

    def write(self, time: float, snapshot: Snapshot, *, ended: bool = False) -> None:
        """Write a snapshot at a time of the run."""


class Recorder(Protocol):
    """Gives each run of several, made one after the other in the same order every time, its journal."""

    def next_run(self) -> Journal: ...


class StreamReader:
    """The rows of the streams of a run that is continued, piece by piece."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._taken: dict[str, int] = {}

    def take(self, name: str, rows: int | None = None) -> Array:
        """The next rows of a stream; all that are left by default."""
        stream, first = self._journal.stream(name), self._taken.get(name, 0)
        if stream is None:
            stream = np.zeros((0, 1))
        last = len(stream) if rows is None else first + rows
        if last > len(stream):
            raise ValueError(f"{name} has {len(stream)} rows, fewer than {last}")
        self._taken[name] = last
        return stream[first:last]
