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

from polhode.errors import InputError
from polhode.validation import Array

Words: TypeAlias = NDArray[np.uint64]
Members: TypeAlias = NDArray[np.int64]

STREAM_VERSION = "polhode draws 1"
"""Part of every key: another stream of words needs another version."""
BLOCK_WORDS = 4
"""Words of one counter of Philox."""
MOST_WORDS = 4096
"""For each member, so that the words of 2**52 members are counted by 64 bits."""
ROUNDS = 10
MULTIPLIERS = 0xD2E7470EE14C6C93, 0xCA5A826395121157
KEY_STEPS = 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B
HALF, LOWER_HALF = np.uint64(32), np.uint64(2**32 - 1)


def stream_key(seed: int, name: str, purpose: str = "") -> Words:
    """The key, two words, of the stream of an input."""
    digest = sha256("\0".join((STREAM_VERSION, str(seed), name, purpose)).encode()).digest()
    return np.frombuffer(digest[:16], dtype="<u8").astype(np.uint64)


def random_words(key: Words, members: Members, count: int) -> Words:
    """So many random words of 64 bits for each of these members, in any order: (members, count)."""
    if count > MOST_WORDS:
        raise InputError(f"an input of {count} numbers for each member is too large: draw it in parts of {MOST_WORDS}")
    if len(members) == 0 or count == 0:
        return np.empty((len(members), count), dtype=np.uint64)
    if bool((np.diff(members) == 1).all()):
        return _consecutive_words(key, int(members[0]), len(members), count)
    firsts: Words = members.astype(np.uint64) * np.uint64(count)
    places = np.add(firsts[:, None], np.arange(count, dtype=np.uint64), dtype=np.uint64)
    blocks, of_place = np.unique(places >> np.uint64(2), return_inverse=True)
    words = _philox_blocks(key, blocks + np.uint64(1))
    found: Words = words[of_place.reshape(places.shape), places & np.uint64(3)]
    return found


def _consecutive_words(key: Words, first: int, members: int, count: int) -> Words:
    """By NumPy's generator, which counts up before its first block."""
    start = first * count
    counter, skipped = divmod(start, BLOCK_WORDS)
    words = np.random.Philox(key=key, counter=counter).random_raw(skipped + members * count)
    return words[skipped:].reshape(members, count)


def _philox_blocks(key: Words, counters: Words) -> Words:
    """The four words of each counter, for many counters that are not consecutive.  [Salmon 2011, section 3.3]"""
    a, b, c, d = counters, np.zeros_like(counters), np.zeros_like(counters), np.zeros_like(counters)
    first_key, second_key = int(key[0]), int(key[1])
    for _ in range(ROUNDS):
        (a_high, a_low), (c_high, c_low) = _full_product(MULTIPLIERS[0], a), _full_product(MULTIPLIERS[1], c)
        a, b, c, d = c_high ^ b ^ np.uint64(first_key), c_low, a_high ^ d ^ np.uint64(second_key), a_low
        first_key, second_key = (first_key + KEY_STEPS[0]) % 2**64, (second_key + KEY_STEPS[1]) % 2**64
    return np.stack((a, b, c, d), axis=-1)


def _full_product(factor: int, words: Words) -> tuple[Words, Words]:
    """The upper and the lower word of a product, by halves of words."""
    high, low = np.uint64(factor >> 32), np.uint64(factor % 2**32)
    words_high, words_low = words >> HALF, words & LOWER_HALF
    middle = high * words_low + ((low * words_low) >> HALF)
    other = low * words_high + (middle & LOWER_HALF)
    return high * words_high + (middle >> HALF) + (other >> HALF), np.uint64(factor) * words


def to_unit_interval(words: Words) -> Array:
    """Doubles between 0 and 1, never 0 or 1: odd multiples of 2**-53, symmetric about 1/2."""
    return ((words >> np.uint64(11)) | np.uint64(1)).astype(np.float64) * 2.0**-53
