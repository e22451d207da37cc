"""Ctrl-C ends a run, wherever it arrives.

Python raises `KeyboardInterrupt` at whatever instruction the main thread is at.  If that is in a destructor, or in a
callback of a library, the exception is printed, ignored, and the run goes on.  So while a run waits for its chunks, the
signal sets a flag, which the wait looks at; before that, and in functions of the user, the exception is raised as well.
A second Ctrl-C raises it in any case.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from queue import Empty, SimpleQueue
from typing import Any

_current: ContextVar[Interrupts | None] = ContextVar("polhode_interrupts", default=None)


class Interrupts:
    """What the main thread of a run waits for: events that other threads put there, and Ctrl-C."""

    def __init__(self) -> None:
        self.asked = False
        """Whether Ctrl-C was pressed."""
        self._raises = True
        self._events: SimpleQueue[Any] = SimpleQueue()  # whose `put` may be called from a signal handler

    def put(self, event: Any) -> None:
        """Add an event; from any thread."""
        self._events.put(event)

    def take(self, seconds: float) -> list[Any]:
        """All events that are there; those that come first, after a wait, if there are none."""
        found = []
        try:
            found.append(self._events.get(timeout=seconds))
            while True:
                found.append(self._events.get_nowait())
        except Empty:
            pass
        self.check()
        return [event for event in found if event is not None]

    def check(self) -> None:
        """Raise KeyboardInterrupt if Ctrl-C was pressed."""
        if self.asked:
            raise KeyboardInterrupt

    @contextmanager
    def held(self) -> Iterator[None]:
        """Inside the block Ctrl-C is only noted: `take` and `check` raise."""
        yield from self._with_raising(False)

    @contextmanager
    def raised(self) -> Iterator[None]:
        """Inside the block, in a function of the user, it is raised at once, and noted in case that is ignored."""
        yield from self._with_raising(True)
        self.check()

    def _with_raising(self, raises: bool) -> Iterator[None]:
        before, self._raises = self._raises, raises
        try:
            yield
        finally:
            self._raises = before

    def _handle(self, *_: Any) -> None:
        was_asked, self.asked = self.asked, True
        self._events.put(None)  # wakes the wait
        if self._raises or was_asked:
            raise KeyboardInterrupt


@contextmanager
def interrupts() -> Iterator[Interrupts]:
    """Inside the block Ctrl-C is not lost.  A run inside another one shares what that has noted.

    Handlers that the program has set itself are left alone, and so are all if this is not the main thread.
    """
    if (outer := _current.get()) is not None and threading.current_thread() is threading.main_thread():
        yield outer
        outer.check()
        return
    here = Interrupts()
    own = threading.current_thread() is threading.main_thread()
    own = own and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not own:
        yield here
        return
    token = _current.set(here)
    signal.signal(signal.SIGINT, here._handle)
    try:
        yield here
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _current.reset(token)
    here.check()
