"""A bar for what takes longer than two seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

QUIET_S = 2.0


@contextmanager
def progress(what: str, unit: str) -> Iterator[Callable[[int, int], None]]:
    """A function that takes (done, of how many); on a terminal it draws a bar once two seconds have passed."""
    began = perf_counter()
    bar: Any = None

    def report(done: int, total: int) -> None:
        nonlocal bar
        if bar is None and sys.stderr.isatty() and perf_counter() - began > QUIET_S:
            from tqdm import tqdm

            bar = tqdm(total=total, desc=what, unit=f" {unit}", leave=False)
        if bar is not None:
            bar.total, bar.n = total, done
            bar.refresh()

    try:
        yield report
    finally:
        if bar is not None:
            bar.close()
