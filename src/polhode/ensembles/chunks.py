"""Chunks: the consecutive members of an ensemble that are computed, and stored, together."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, NamedTuple

from polhode.errors import ScenarioError

BLOCK_MEMBERS = 4096
"""Reductions and checksums work on blocks of so many consecutive members."""
CHUNK_MEMBERS = 65_536
"""Members of a chunk, unless the caller chooses."""


class ChunkPlan(NamedTuple):
    """How the members of an ensemble are divided into chunks: all of one size, except the last."""

    members: int
    chunk_members: int = CHUNK_MEMBERS
    """A block, or two, four, eight, ... blocks."""

    @property
    def count(self) -> int:  # type: ignore[override]
        """The number of chunks."""
        return -(-self.members // self.chunk_members)

    def range_of(self, k: int) -> tuple[int, int]:
        """(first, last) of chunk k: it has the members first, first + 1, ..., last - 1."""
        if not 0 <= k < self.count:
            raise IndexError(f"there is no chunk {k}: the chunks are 0 to {self.count - 1}")
        return k * self.chunk_members, min((k + 1) * self.chunk_members, self.members)


def plan_chunks(members: int, chunk_members: Any = None) -> ChunkPlan:
    """The chunks of an ensemble, with the size that the caller asks for."""
    if chunk_members is None:
        return ChunkPlan(members)
    blocks, rest = divmod(chunk_members, BLOCK_MEMBERS) if _is_whole(chunk_members) else (0, 1)
    if rest or blocks < 1 or blocks & (blocks - 1):
        raise ScenarioError(
            f"chunk_members must be {BLOCK_MEMBERS} times a power of two ({BLOCK_MEMBERS}, {2 * BLOCK_MEMBERS}, "
            f"{4 * BLOCK_MEMBERS}, ...), so that reductions do not depend on it, but is {chunk_members!r}"
        )
    return ChunkPlan(members, int(chunk_members))


def split_into_blocks(first: int, last: int, size: int = BLOCK_MEMBERS) -> Iterator[tuple[int, int]]:
    """The ranges of members first to last - 1 between multiples of the size of a block.

    Examples
    --------
    >>> list(split_into_blocks(4096, 9000))
    [(4096, 8192), (8192, 9000)]
    """
    while first < last:
        end = min(last, (first // size + 1) * size)
        yield first, end
        first = end


def _is_whole(number: Any) -> bool:
    return isinstance(number, Integral) and not isinstance(number, bool)
