"""Pseudo-random permutations of 0 ... n - 1 in which every place is found without the others."""

from __future__ import annotations

import numpy as np

from polhode.ensembles.sampling.random_words import Members, Words, random_words

ROUNDS = 10


def permute(numbers: Members, n: int, key: Words) -> Members:
    """Where a permutation of 0 ... n - 1, chosen by the key, takes these numbers.

    A Feistel network on the bits of n - 1; a result beyond n - 1 is taken through it again until it is within
    (cycle walking), which keeps it a permutation.  [Black and Rogaway 2002]
    """
    bits = max(int(n - 1).bit_length(), 2)
    round_keys = random_words(key, np.arange(ROUNDS, dtype=np.int64), 1)[:, 0]
    found = _network(numbers.astype(np.uint64), bits, round_keys)
    outside = np.flatnonzero(found >= n)
    while outside.size:
        found[outside] = _network(found[outside], bits, round_keys)
        outside = outside[found[outside] >= n]
    return found.astype(np.int64)


def _network(x: Words, bits: int, round_keys: Words) -> Words:
    """Each round adds a hash of the one half, modulo a power of two, to the other, and exchanges them."""
    left_bits, right_bits = bits // 2, bits - bits // 2
    left, right = x >> np.uint64(right_bits), x & _mask(right_bits)
    for key in round_keys:
        left, right = right, (left ^ _mix(right + key)) & _mask(left_bits)
        left_bits, right_bits = right_bits, left_bits
    return (left << np.uint64(right_bits)) | right


def _mask(bits: int) -> np.uint64:
    return np.uint64((1 << bits) - 1)


def _mix(x: Words) -> Words:
    """The upper half of a word that depends on every bit.  [Steele 2014, splitmix64]"""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x >> np.uint64(32)
