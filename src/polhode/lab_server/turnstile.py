"""A limit on how many computations run at once on a server."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

MAX_COMPUTATIONS = max(2, min(4, os.cpu_count() or 2))
"""Computations at once on one server, of all its pages: more would only slow each other down."""
CHECK_INTERVAL_S = 0.1
"""How often a computation that waits looks whether it is still wanted."""


class Turnstile:
    """Lets in a limited number of threads at once; the others wait in the order in which they came.

    Examples
    --------
    >>> turnstile = Turnstile(2)
    >>> with turnstile.turn(lambda ahead: print(f"waiting for {ahead} others")):
    ...     turnstile.inside
    1
    """

    def __init__(self, places: int = MAX_COMPUTATIONS) -> None:
        self._places = places
        self._changed = threading.Condition()
        self._queue: deque[object] = deque()
        self.inside = 0

    @contextmanager
    def turn(self, on_wait: Callable[[int], None]) -> Iterator[None]:
        """Enter when there is a place.

        While waiting, `on_wait` is called with the number of those inside and ahead, several times a second; it may
        raise an error, which leaves the queue.
        """
        ticket = object()
        with self._changed:
            self._queue.append(ticket)
            try:
                while self._queue[0] is not ticket or self.inside >= self._places:
                    on_wait(self.inside + self._queue.index(ticket))
                    self._changed.wait(CHECK_INTERVAL_S)
                self.inside += 1
            finally:
                self._queue.remove(ticket)
                self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self.inside -= 1
                self._changed.notify_all()
