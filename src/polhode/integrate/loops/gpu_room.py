"""The memory of a GPU, shared by threads that run units on it at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition

LARGEST_SHARE = 0.4
"""The part of a GPU's memory that the units of one thread may take."""
USED = 0.8
"""The part that those of all threads take: blocks of memory are larger than what lies in them."""


class RoomForUnits:
    """Who has claimed how much of a GPU's memory.

    Threads that looked only at what is free would all see the same room before any of them has taken its part.
    """

    def __init__(self, usable_memory: Callable[[], int]) -> None:
        self._usable_memory = usable_memory
        self._claimed = 0
        self._changed = Condition()

    @contextmanager
    def claim(self, unit_bytes: int, units: int) -> Iterator[int]:
        """How many of the units may be on the GPU at once, at least one; waits until other threads leave the room."""
        usable = self._usable_memory()
        most = max(1, min(units, int(LARGEST_SHARE * usable / max(unit_bytes, 1))))
        size = most * unit_bytes
        with self._changed:
            self._changed.wait_for(lambda: not self._claimed or self._claimed + size <= USED * usable)
            self._claimed += size
        try:
            yield most
        finally:
            with self._changed:
                self._claimed -= size
                self._changed.notify_all()
