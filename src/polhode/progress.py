"""Progress of long computations: a bar after two seconds, a line about what cannot tell how far it is, and reports."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Timer
from time import perf_counter
from typing import Any

QUIET_S = 2.0
ANNOUNCED_S = 1.0
"""What takes longer than this, and cannot tell how far it is, says what it is."""
REFRESH_S = 0.1
"""The bar is redrawn no more often than this: there may be thousands of reports."""


@dataclass(frozen=True)
class ProgressReport:
    """What a listener receives: `done` of `total`, and the share of the whole."""

    what: str
    done: float
    total: float
    unit: str
    part: str
    """Which of several parts this is, in words; "" if it is the only one."""
    share: float
    """From 0 to 1, all parts together."""
    rate: float | None = None
    """How much of the total is done in a second, on the average so far; None at the start."""
    time_left: float | None = None
    """In s, at that rate."""


Listener = Callable[[ProgressReport], None]


@dataclass(frozen=True)
class _Part:
    words: str = ""
    first: float = 0.0
    size: float = 1.0


_listener: ContextVar[Listener | None] = ContextVar("polhode_listener", default=None)
_part: ContextVar[_Part] = ContextVar("polhode_part", default=_Part())  # noqa: B039, it is frozen


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Call a function with every progress report inside the block, whether a bar is drawn or not.

    If it raises `CancelledError` the computation ends there; compiled runs report about every 0.2 s.

    Examples
    --------
    >>> heard = []
    >>> with listening(heard.append), progress("counting", "sheep") as report:
    ...     report(3, 4)
    >>> heard[0].what, heard[0].share
    ('counting', 0.75)
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def progress_part(count: int, number: int, name: str) -> Iterator[None]:
    """Inside the block, progress is that of part `number` (from 0) of `count`; a listener gets the total share."""
    outer = _part.get()
    words = f"{name}, {number + 1} of {count}" if count > 1 else outer.words
    token = _part.set(_Part(words, outer.first + outer.size * number / count, outer.size / count))
    try:
        yield
    finally:
        _part.reset(token)


@contextmanager
def progress(
    what: str, unit: str = "", *, form: str | None = None, wanted: bool | None = None
) -> Iterator[Callable[..., None]]:
    """A function that takes (done, total), reports to the listener, and draws a bar once two seconds have passed.

    A bar is drawn on a terminal, or as `wanted` says; `form` is tqdm's `bar_format`.  The rate is that since the first
    report of what was done before, such as by a run that is resumed: its third argument is then True.
    """
    began = counted = drawn = perf_counter()
    listener, part = _listener.get(), _part.get()  # here, not in the report: other threads may call it
    bar: Any = None
    before = 0.0

    def report(done: float, total: float, was_done_before: bool = False) -> None:
        nonlocal bar, drawn, counted, before
        now = perf_counter()
        if was_done_before:
            counted, before = now, done
        if listener is not None:
            share = min(max(done / total, 0.0), 1.0) if total else 1.0
            rate = (done - before) / (now - counted) if done > before and now > counted else None
            left = None if rate is None else max(total - done, 0.0) / rate
            listener(ProgressReport(what, done, total, unit, part.words, part.first + part.size * share, rate, left))
        if bar is None and shows_bar(wanted) and now - began > QUIET_S:
            from tqdm import tqdm

            bar = tqdm(total=total, desc=what, unit=f" {unit}", bar_format=form, leave=False, initial=before)
            bar.start_t -= now - counted  # so that its rate is that since then
        if bar is not None and now - drawn > REFRESH_S:
            bar.total, bar.n, drawn = total, done, now
            bar.refresh()

    try:
        yield report
    finally:
        if bar is not None:
            bar.close()


@contextmanager
def announced(what: str) -> Iterator[None]:
    """Say what is being done in the block if it takes longer than a second: on the error stream, also into a file.

    Examples
    --------
    >>> with announced("adding two numbers"):
    ...     1 + 1
    2
    """
    timer = Timer(ANNOUNCED_S, _say, [what])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _say(what: str) -> None:
    if sys.stderr is not None:
        with suppress(OSError, ValueError):  # closed, or full
            print(f"polhode: {what}", file=sys.stderr, flush=True)


def shows_bar(wanted: bool | None) -> bool:
    """Whether a bar is drawn: on a terminal, unless `wanted` decides."""
    return sys.stderr.isatty() if wanted is None else wanted


def wants_reports(wanted: bool | None) -> bool:
    """Whether reports are of use: there is a listener, or a bar is drawn."""
    return _listener.get() is not None or shows_bar(wanted)
