"""Detect truncated netCDF-3 files, whose reader fills missing data at the end with zeros.

The header lists every variable with its offset.  [NetCDF classic format specification: CDF-1, CDF-2, CDF-5]
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from polhode.errors import FileError

T = TypeVar("T")

TYPE_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 4, 6: 8, 7: 1, 8: 2, 9: 4, 10: 8, 11: 8}
"""Bytes per value of each type: byte, char, short, int, float, double, and CDF-5's unsigned and 64-bit types."""
DIMENSION_TAG, VARIABLE_TAG, ATTRIBUTE_TAG = 10, 11, 12
VERSIONS = (1, 2, 5)


def check_netcdf3_length(path: Path) -> None:
    """Raise if a netCDF-3 file is shorter than its header says; other files pass."""
    with path.open("rb") as file:
        if file.read(3) != b"CDF" or (file.read(1) or b"\0")[0] not in VERSIONS:
            return
    content = path.read_bytes()
    try:
        needed = _NetcdfHeader(content).end()
    except (IndexError, KeyError):
        raise FileError(f"{path} is truncated or damaged within its header: copy or export it again") from None
    if len(content) < needed:
        raise FileError(
            f"{path} is truncated: its header requires {needed} bytes, but it has {len(content)}. Copy or export it "
            "again"
        )


class _NetcdfHeader:
    """A sequential parser of the header."""

    def __init__(self, content: bytes) -> None:
        self.content, self.at = content, 4
        self.count_size = 8 if content[3] == 5 else 4
        self.place_size = 4 if content[3] == 1 else 8

    def end(self) -> int:
        """The offset at which the last variable ends."""
        records = self.number(self.count_size)
        is_known = records != (1 << 8 * self.count_size) - 1  # else the number of records is not stated
        lengths = self.read_list(DIMENSION_TAG, self.dimension)
        self.read_list(ATTRIBUTE_TAG, self.attribute)
        fixed, repeated = [0], []
        for dimensions, size, begin in self.read_list(VARIABLE_TAG, self.variable):
            if dimensions and lengths[dimensions[0]] == 0:
                repeated.append((begin, size * math.prod(lengths[d] for d in dimensions[1:])))
            else:
                fixed.append(begin + size * math.prod(lengths[d] for d in dimensions))
        if not repeated or not is_known or records == 0:
            return max(self.at, *fixed)
        step = repeated[0][1] if len(repeated) == 1 else sum(_pad_to_four(size) for _, size in repeated)
        return max(self.at, *fixed, *(begin + (records - 1) * step + size for begin, size in repeated))

    def number(self, size: int) -> int:
        part = self.content[self.at : self.at + size]
        if len(part) < size:
            raise IndexError("the header ends here")
        self.at += size
        return int.from_bytes(part, "big")

    def read_list(self, tag: int, item: Callable[[], T]) -> list[T]:
        found, count = self.number(4), self.number(self.count_size)
        if found not in (tag, 0) or (found == 0 and count):
            raise IndexError("no list")
        return [item() for _ in range(count)]

    def skip(self, size: int) -> None:
        self.at += _pad_to_four(size)

    def name(self) -> None:
        self.skip(self.number(self.count_size))

    def dimension(self) -> int:
        self.name()
        return self.number(self.count_size)

    def attribute(self) -> None:
        self.name()
        size = TYPE_SIZES[self.number(4)]
        self.skip(size * self.number(self.count_size))

    def variable(self) -> tuple[list[int], int, int]:
        """Its dimension indices, the size of one value, and its offset."""
        self.name()
        dimensions = [self.number(self.count_size) for _ in range(self.number(self.count_size))]
        self.read_list(ATTRIBUTE_TAG, self.attribute)
        size = TYPE_SIZES[self.number(4)]
        self.number(self.count_size)
        return dimensions, size, self.number(self.place_size)


def _pad_to_four(size: int) -> int:
    """Rounded up to a multiple of four."""
    return -(-size // 4) * 4
