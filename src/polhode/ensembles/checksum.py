"""Digests of an ensemble's numbers, block by block: the same for every chunk size, engine and store."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from polhode.ensembles.chunks import BLOCK_MEMBERS


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


def digest_numbers(values: Any) -> str:
    """The SHA-256 of an array's bytes, little-endian, in the order of its axes."""
    return hashlib.sha256(little_endian(values).data).hexdigest()


def combine_digests(digests: Iterable[str]) -> str:
    """The SHA-256 over the digests of all blocks, in the order of the members: the checksum of an ensemble."""
    return hashlib.sha256(b"".join(bytes.fromhex(one) for one in digests)).hexdigest()


def little_endian(values: Any) -> Any:
    """The array itself if it is contiguous and little-endian, else a copy that is."""
    values = np.asarray(values)
    return np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
