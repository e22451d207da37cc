"""A bar for what takes longer than two seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

QUIET_S = 2.0


@contextmanager
def progress(
    what: str, unit: str = "", *, form: str | None = None, wanted: bool | None = None
) -> Iterator[Callable[[float, float], None]]:
    """A function that takes (done, of how many) and draws a bar once two seconds have passed.

    On a terminal, or where `wanted` says so; `form` is tqdm's `bar_format`.
    """
    began = perf_counter()
    bar: Any = None

    def report(done: float, total: float) -> None:
        nonlocal bar
        if bar is None and is_shown(wanted) and perf_counter() - began > QUIET_S:
            from tqdm import tqdm

            bar = tqdm(total=total, desc=what, unit=f" {unit}", bar_format=form, leave=False)
        if bar is not None:
            bar.total, bar.n = total, done
            bar.refresh()

    try:
        yield report
    finally:
        if bar is not None:
            bar.close()


def is_shown(wanted: bool | None) -> bool:
    """Whether a bar is drawn: on a terminal, unless it is said."""
    return sys.stderr.isatty() if wanted is None else wanted
