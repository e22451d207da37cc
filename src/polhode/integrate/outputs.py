"""The outputs of a segment while they are computed: they fill up, and checkpoints keep those that are new."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polhode.integrate.journal import Journal
from polhode.validation import Array


class Outputs:
    """Arrays, (outputs, units, numbers, slots), and how many outputs each clock has written.

    Each slot of each unit has a clock of its own; without clocks all belongs to one unit and one slot.
    """

    STREAM = "samples"

    def __init__(self, arrays: Sequence[Array], clocks: int = 1, room: int = 1) -> None:
        self._arrays, self._clocks = [array for array in arrays if array.size], clocks
        self.count = max(map(len, arrays))
        self.done = np.zeros(room, dtype=np.int64)
        """The outputs that each clock has written; there is room for clocks that no body uses."""
        self._kept = self.done.copy()
        """Those that checkpoints have."""

    @classmethod
    def of_one_clock(cls, *arrays: Array) -> Outputs:
        """All bodies write an output together."""
        return cls([array.reshape(len(array), 1, -1, 1) for array in arrays if array.size] or list(arrays))

    @property
    def size(self) -> int:
        """The rows of a segment that has been computed to its end."""
        return self.count * self._clocks

    def append_to(self, journal: Journal) -> None:
        """Give a journal the outputs that are new, clock by clock: if there are several, each with its number."""
        if not self._arrays:
            return
        slots = self._arrays[0].shape[3]
        for clock in np.flatnonzero((self.done > self._kept)[: self._clocks]):
            new, (unit, slot) = slice(self._kept[clock], self.done[clock]), divmod(clock, slots)
            columns = [array[new, unit, :, slot] for array in self._arrays]
            if len(self.done) > 1:
                columns.insert(0, np.full((len(columns[0]), 1), float(clock)))
            journal.append(self.STREAM, np.concatenate(columns, axis=1))
        self._kept[:] = self.done

    def fill(self, rows: Array) -> None:
        """Put the rows of a journal where they belong."""
        clocks = np.zeros(len(rows), dtype=np.int64)
        if len(self.done) > 1:
            clocks, rows = rows[:, 0].astype(np.int64), rows[:, 1:]
        self.done[:] = self._kept[:] = np.bincount(clocks, minlength=len(self.done))
        order, ends = np.argsort(clocks, kind="stable"), np.cumsum(self.done)
        for clock in np.flatnonzero(self.done):
            own, first = rows[order[ends[clock] - self.done[clock] : ends[clock]]], 0
            for array in self._arrays:
                (unit, slot), width = divmod(clock, array.shape[3]), array.shape[2]
                array[: len(own), unit, :, slot] = own[:, first : first + width]
                first += width
