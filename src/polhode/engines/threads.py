"""Thread-parallel work: compiled kernels release the GIL, so plain threads suffice."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

CORES = os.cpu_count() or 1


def on_threads(work: Callable[[int, int], Any], units: int, threads: int) -> None:
    """Call work(first, last) for all units, divided evenly among the threads."""
    if threads == 1:
        work(0, units)
        return
    cuts = np.linspace(0, units, threads + 1).astype(int).tolist()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, cuts[:-1], cuts[1:]))
