"""The memory in which a compiled loop works: the words of its record, then its arrays, as it is before the run."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

import numpy as np

from polhode.ir.loop_values import words_of
from polhode.ir.loops import like, pack_record
from polhode.validation import Array

ALIGNMENT = 64
"""Of arrays, in bytes: a cache line."""


class Image(NamedTuple):
    """What lies in memory from some address on; an address in it counts from there."""

    data: Any
    """Its beginning, as words of 64 bits; what follows is room for results."""
    size: int
    """All of it, in bytes, with that room."""
    addresses: list[int]
    """The words that are addresses."""
    arrays: dict[str, tuple[int, Array]]
    """The arrays of the record by name: where each begins, in bytes, and what it was made from."""


def image_of(record: Any, results: Collection[str] = ()) -> Image:
    """The image of a record; arrays that hold nothing yet, `results`, come last."""
    words, addresses, found, at = pack_record(record), [], [], 0
    for name, value in record._asdict().items():
        for leaf in _flatten(value):
            if isinstance(leaf, np.ndarray):
                addresses.append(at)
                found.append((name in results, at, name, leaf))
            at += words_of(like(leaf))
    end, arrays, kept = _aligned(8 * len(words)), {}, []
    for is_result, at, name, array in sorted(found, key=lambda one: one[:2]):
        words[at] = end
        if not is_result:
            kept.append((end, array))
        arrays[name if name not in arrays else f"{name}_{at}"] = (end, array)
        end = _aligned(end + array.nbytes)
    data = np.zeros(max([8 * len(words), *(place + _aligned(array.nbytes) for place, array in kept)]), dtype=np.uint8)
    data[: 8 * len(words)] = words.view(np.uint8)
    for place, array in kept:
        data[place : place + array.nbytes] = np.frombuffer(array.tobytes(), dtype=np.uint8)
    return Image(data.view(np.int64), end, addresses, arrays)


def _flatten(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple):
        for part in value:
            yield from _flatten(part)
    else:
        yield value


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
