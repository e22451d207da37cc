"""Chunks: consecutive members of an ensemble that are computed, and stored, together; and digests of their blocks."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from polhode.archive.trees import digest_numbers
from polhode.errors import ScenarioError, show
from polhode.validation import is_whole_number

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

    def count_members(self, chunks: Sequence[int]) -> int:
        """How many members some chunks have."""
        missing = self.count * self.chunk_members - self.members  # in the last one
        return len(chunks) * self.chunk_members - missing * (self.count - 1 in chunks)


def plan_chunks(members: int, chunk_members: Any = None) -> ChunkPlan:
    """The chunks of an ensemble, with the size that the caller asks for."""
    if chunk_members is None:
        return ChunkPlan(members)
    blocks, rest = divmod(chunk_members, BLOCK_MEMBERS) if is_whole_number(chunk_members) else (0, 1)
    if rest or blocks < 1 or blocks & (blocks - 1):
        raise ScenarioError(
            f"chunk_members must be {BLOCK_MEMBERS} times a power of two ({BLOCK_MEMBERS}, {2 * BLOCK_MEMBERS}, "
            f"{4 * BLOCK_MEMBERS}, ...), so that reductions do not depend on it, but is {show(chunk_members)}"
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


# Digests of numbers, block by block: the same for every chunk size, engine and store ----------------------------------
def digest_blocks(values: Any, member_axis: int) -> list[str]:
    """The SHA-256 of each block of members, from the first member on, which begins a block.

    What is digested are the bytes of the block's numbers as doubles (or whatever their type is), little-endian, in the
    order of the axes.

    Examples
    --------
    >>> import numpy as np
    >>> samples = np.zeros((3, 5000, 14))
    >>> parts = digest_blocks(samples[:, :4096], 1) + digest_blocks(samples[:, 4096:], 1)
    >>> len(parts), digest_blocks(samples, 1) == parts
    (2, True)
    """
    blocks = -(-values.shape[member_axis] // BLOCK_MEMBERS)
    before = (slice(None),) * member_axis
    return [digest_numbers(values[(*before, slice(i * BLOCK_MEMBERS, (i + 1) * BLOCK_MEMBERS))]) for i in range(blocks)]


def combine_digests(digests: Iterable[str]) -> str:
    """The SHA-256 over the digests of all blocks, in the order of the members: the checksum of an ensemble."""
    return hashlib.sha256(b"".join(bytes.fromhex(one) for one in digests)).hexdigest()
