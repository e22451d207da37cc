"""A motion as CSV: one row for each output and body, numbers with all their digits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from polhode.io.atomic_files import check_suffix, write_atomic
from polhode.progress import progress
from polhode.results.dataset import choose_quantities, split_components
from polhode.results.flight import flight_columns

if TYPE_CHECKING:
    from polhode.results.motion import Motion

ROWS_AT_ONCE = 10_000


def write_csv(motion: Motion, path: Path, names: Sequence[str] | None = None) -> None:
    """Write the table atomically; a number that is read again is the same double."""
    check_suffix(path, (".csv",), "a table")
    shape = motion.position.shape[:-1]
    parts = [np.broadcast_to(motion.times.reshape(-1, *[1] * (len(shape) - 1)), shape)[..., None]]
    heads = ["time_s", *motion.axes]
    parts += [np.broadcast_to(index, shape)[..., None] for index in np.indices(shape)[1:]]
    for one in choose_quantities(motion, names).values():
        if names is not None or one.csv:
            columns = split_components(motion, one)
            heads += [f"{label}{_in_names(one.unit)}" for label in columns]
            parts += [np.asarray(values)[..., None] for values in columns.values()]
    if motion.axis is None and names is None:
        more = flight_columns(motion)
        heads += more
        parts += [np.asarray(values)[:, None] for values in more.values()]
    table = [part.reshape(-1, part.shape[-1]) for part in parts]
    count = len(table[0])
    lines = [",".join(heads)]
    with progress(f"writing {path.name}", "rows") as report:
        for first in range(0, count, ROWS_AT_ONCE):
            rows = [part[first : first + ROWS_AT_ONCE].tolist() for part in table]
            lines += [",".join(repr(number) for cells in row for number in cells) for row in zip(*rows, strict=True)]
            report(min(first + ROWS_AT_ONCE, count), count)
    write_atomic(path, ("\n".join(lines) + "\n").encode())


def _in_names(unit: str) -> str:
    """A unit as the end of a column's name: "_kg_m2_s" of "kg m2 s-1"; nothing for pure numbers."""
    return "" if unit == "1" else "_" + re.sub(r"-1\b", "", unit).replace("-", "").replace(" ", "_")
