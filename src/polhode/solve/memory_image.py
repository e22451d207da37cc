"""The memory in which a compiled loop works: the words of its records, then their arrays, as it is before the run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    records: list[int]
    """Where each record begins, in bytes."""
    arrays: dict[str, tuple[int, Array]]
    """The arrays by name, those of later records with the number of the record: where each begins, in bytes, and what
    it was made from."""


def image_of(records: Sequence[Any], results: Sequence[str] = ()) -> Image:
    """The image of records that may share arrays; arrays that hold nothing yet, `results`, come last, name by name."""
    words: list[int] = []
    starts: list[int] = []
    uses: list[tuple[int, int]] = []
    found: dict[int, tuple[int, int, Array]] = {}
    names: dict[int, str] = {}
    for k, record in enumerate(records):
        starts.append(8 * len(words))
        at = len(words)
        words += pack_record(record).tolist()
        for name, value in record._asdict().items():
            for leaf in _flatten(value):
                if isinstance(leaf, np.ndarray):
                    uses.append((at, id(leaf)))
                    found.setdefault(id(leaf), (results.index(name) + 1 if name in results else 0, len(found), leaf))
                    names.setdefault(id(leaf), name if not k else f"{name}_{k}")
                at += words_of(like(leaf))
    places, kept, arrays = {}, 8 * len(words), {}
    end, last_rank = kept, 0
    for is_result, _, array in sorted(found.values(), key=lambda one: one[:2]):
        is_next = is_result == last_rank > 0  # results of one name follow each other without a gap
        places[id(array)] = start = end if is_next else _aligned(end)
        last_rank = is_result
        end = start + array.nbytes
        kept = kept if is_result else end
        name = names[id(array)]
        arrays[f"{name}_at_{start}" if name in arrays else name] = (start, array)
    for at, key in uses:
        words[at] = places[key]
    data = np.zeros(_aligned(kept), dtype=np.uint8)
    data[: 8 * len(words)] = np.array(words, dtype=np.int64).view(np.uint8)
    for rank, _, array in found.values():
        if not rank:
            data[places[id(array)] : places[id(array)] + array.nbytes] = np.frombuffer(array.tobytes(), dtype=np.uint8)
    return Image(data.view(np.int64), _aligned(end), [at for at, _ in uses], starts, arrays)


def _flatten(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple):
        for part in value:
            yield from _flatten(part)
    else:
        yield value


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
