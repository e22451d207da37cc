"""Tables of numbers that members take their rows from: arrays, and CSV files with a line of names."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polhode.ensembles.sampling.distributions import Distribution
from polhode.errors import FileError, InputError, nearest, show
from polhode.validation import Array, as_floats, check_path, check_word


class NumberTable(NamedTuple):
    """Rows of numbers, and what the columns are called; () if they have no names."""

    columns: tuple[str, ...]
    rows: Array


def table_rows(where: str, source: Any, column: Any, rows: Any, row_name: str | None, total: int) -> Distribution:
    """Row i for member i, or a random row."""
    values, described = select_columns(source, column, where)
    count = len(values)
    advice = "it must be 'member' (row i for member i) or 'random'"
    check_word(rows, f"rows of {where}", ("member", "random"), InputError, advice)
    if rows == "random":
        parameters = {**described, "rows": rows} | ({} if row_name is None else {"row_name": row_name})
        return Distribution("table", parameters, 1, lambda u, members: values[np.floor(u[:, 0] * count).astype(int)])
    if row_name is not None:
        raise InputError(f"row_name of {where} names a choice of random rows: give rows='random' too")
    if count < total:
        raise InputError(
            f"the table of {where} has {count} rows for {total} members: shorten the sweep, lengthen the table, or "
            "take random rows, rows='random'"
        )
    return Distribution("table", {**described, "rows": rows}, 0, lambda u, members: values[members])


def select_columns(source: Any, column: Any, where: str) -> tuple[Array, dict[str, Any]]:
    """The values of a table, (rows,) or (rows, columns), and a plain description of them."""
    if isinstance(source, (str, PathLike)):
        table = read_csv(check_path(source, "a table", "read from"))
        values = _named_columns(table, column, where, str(source))
        described = {"table": Path(source).name}
    else:
        try:
            values = as_floats(source)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"the table of {where} must be an array of numbers, or the name of a CSV file") from None
        if values.ndim == 0 or len(values) == 0:
            raise InputError(f"the table of {where} must have rows, one for each member, but is {show(source)}")
        if column is not None:
            raise InputError(f"{where} names a column, which an array does not have: select it, array[:, 0]")
        described = {"table": "an array"}
    bad = np.argwhere(~np.isfinite(values))
    if bad.size:
        raise InputError(f"the table of {where} is not finite in row {int(bad[0][0])}: {values[bad[0][0]].tolist()}")
    if column is not None:
        described["column"] = column
    digest = sha256(np.ascontiguousarray(values, dtype="<f8").tobytes()).hexdigest()
    return values, {**described, "length": len(values), "sha256": digest}


def _named_columns(table: NumberTable, column: Any, where: str, path: str) -> Array:
    if column is None:
        return table.rows[:, 0] if len(table.columns) == 1 else table.rows
    names = [column] if isinstance(column, str) else column
    if not isinstance(names, Sequence) or not names:
        raise InputError(f"column of {where} must be the name of a column, or a list of names, not {show(column)}")
    for name in names:
        if name not in table.columns:
            raise InputError(f"{where}: {path} has no column {name!r}: {nearest(name, table.columns)}")
    places = [table.columns.index(name) for name in names]
    return table.rows[:, places[0]] if isinstance(column, str) else table.rows[:, places]


def read_csv(path: Path) -> NumberTable:
    """A CSV file: a line of names, then lines of numbers."""
    try:
        changed = path.stat().st_mtime_ns
    except OSError as error:
        raise FileError(f"there is no table {path}: {error.strerror}") from None
    return _read_csv(path, changed)


@lru_cache(maxsize=8)
def _read_csv(path: Path, changed: int) -> NumberTable:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = [line for line in csv.reader(file) if line]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FileError(f"{path} cannot be read as a table: {error}") from None
    if len(lines) < 2:
        raise FileError(f"{path} must have a line of names, and at least one line of numbers")
    columns = tuple(name.strip() for name in lines[0])
    if len(set(columns)) < len(columns):
        raise FileError(f"{path} has two columns of one name in its first line: {', '.join(columns)}")
    rows = np.empty((len(lines) - 1, len(columns)))
    for i, line in enumerate(lines[1:]):
        if len(line) != len(columns):
            raise FileError(f"row {i} of {path} has {len(line)} numbers for {len(columns)} columns")
        try:
            rows[i] = [float(cell) for cell in line]
        except ValueError:
            raise FileError(f"row {i} of {path} is not numbers: {','.join(line)}") from None
    rows.flags.writeable = False
    return NumberTable(columns, rows)
