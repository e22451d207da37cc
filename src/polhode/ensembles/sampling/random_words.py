"""Random words by number: the word of a member is found without those of the members before it.

The words are those of the counter-based generator Philox4x64-10 [Salmon 2011], whose stream NumPy guarantees.  Its key
is a hash of the seed and of the name of the input, so that neither the order in which inputs are drawn nor the other
inputs matter.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from polhode.validation import Array

Words: TypeAlias = NDArray[np.uint64]
Members: TypeAlias = NDArray[np.int64]

STREAM_VERSION = "polhode draws 1"
"""Part of every key: another stream of words needs another version."""
BLOCK_WORDS = 4
"""Words of one counter of Philox."""
LARGEST_GAP = 64
"""Members that are skipped rather than reached by starting anew."""


def stream_key(seed: int, name: str, purpose: str = "") -> Words:
    """The key, two words, of the stream of an input."""
    digest = sha256("\0".join((STREAM_VERSION, str(seed), name, purpose)).encode()).digest()
    return np.frombuffer(digest[:16], dtype="<u8").astype(np.uint64)


def random_words(key: Words, members: Members, count: int) -> Words:
    """So many random words of 64 bits for each of these members, in any order: (members, count)."""
    if len(members) == 0 or count == 0:
        return np.empty((len(members), count), dtype=np.uint64)
    steps = np.diff(members)
    if bool((steps == 1).all()):
        return _consecutive_words(key, int(members[0]), len(members), count)
    rising, places = np.unique(members, return_inverse=True)
    cuts = np.flatnonzero(np.diff(rising) > LARGEST_GAP) + 1
    found = np.empty((len(rising), count), dtype=np.uint64)
    for first, last in zip([0, *cuts], [*cuts, len(rising)], strict=True):
        run = rising[first:last]
        found[first:last] = _consecutive_words(key, int(run[0]), int(run[-1] - run[0]) + 1, count)[run - run[0]]
    return found[places]


def _consecutive_words(key: Words, first: int, members: int, count: int) -> Words:
    start = first * count
    counter, skipped = divmod(start, BLOCK_WORDS)
    words = np.random.Philox(key=key, counter=counter).random_raw(skipped + members * count)
    return words[skipped:].reshape(members, count)


def to_unit_interval(words: Words) -> Array:
    """Doubles between 0 and 1, never 0 or 1: odd multiples of 2**-53, symmetric about 1/2."""
    return ((words >> np.uint64(11)) | np.uint64(1)).astype(np.float64) * 2.0**-53
