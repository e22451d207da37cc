"""Points of Sobol' sequences by number, scrambled: random linear maps of the digits, and a digital shift.

[Sobol 1967] for the sequence, [Joe and Kuo 2008] for the direction numbers, which are SciPy's, [Matousek 1998] for the
scrambling.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from polhode.ensembles.sampling.random_words import Members, Words, random_words
from polhode.errors import ScenarioError
from polhode.validation import Array

BITS = 52
"""Binary digits of a coordinate; with half a unit of the last one added it is a double between 0 and 1."""
LARGEST_DIMENSION = 21201
"""As far as SciPy has direction numbers."""
CHECKED_POINTS = 16


@lru_cache(maxsize=4)
def direction_numbers(dimensions: int) -> Words:
    """SciPy's direction numbers, (dimensions, BITS), checked against the points that SciPy makes of them."""
    from scipy.stats import qmc  # takes long to load

    engine = qmc.Sobol(dimensions, scramble=False, bits=BITS)
    numbers = np.asarray(getattr(engine, "_sv", np.zeros((dimensions, BITS))), dtype=np.uint64)
    first = np.arange(CHECKED_POINTS, dtype=np.int64)
    ours = np.stack([sobol_digits(first, row, np.uint64(0)) for row in numbers], axis=-1) * 2.0**-BITS
    if not np.array_equal(ours, engine.random(CHECKED_POINTS)):
        raise ScenarioError(
            "this version of SciPy keeps the direction numbers of its Sobol' sequences elsewhere, so that points "
            "cannot be computed by their numbers: use design='latin_hypercube', or SciPy 1.14 to 1.17"
        )
    return numbers


def sobol_digits(members: Members, directions: Words, shift: np.uint64) -> Words:
    """The coordinates of points by their numbers, as BITS binary digits: the directions of the bits of a Gray code."""
    gray = members.astype(np.uint64)
    gray = gray ^ (gray >> np.uint64(1))
    found = np.full(members.shape, shift, dtype=np.uint64)
    for bit in range(int(gray.max(initial=0)).bit_length()):
        found ^= directions[bit] * ((gray >> np.uint64(bit)) & np.uint64(1))
    return found


def scramble_directions(directions: Words, key: Words) -> tuple[Words, np.uint64]:
    """Direction numbers after a random lower triangular map of their digits, and a random shift.

    Digit i, from the first, becomes itself plus a random sum of the digits before it, modulo 2: every number of
    points that is a power of two keeps its balance.  [Matousek 1998]
    """
    random = random_words(key, np.arange(BITS + 1, dtype=np.int64), 1)[:, 0]
    found = np.zeros_like(directions)
    for i in range(BITS):
        place = np.uint64(BITS - 1 - i)
        above = random[i] >> np.uint64(64 - i) if i else np.uint64(0)  # i random bits, for the digits before this one
        mask = (above << (place + np.uint64(1))) | (np.uint64(1) << place)
        found |= (np.bitwise_count(directions & mask).astype(np.uint64) & np.uint64(1)) << place
    return found, np.uint64(random[BITS] >> np.uint64(64 - BITS))


def sobol_coordinates(members: Members, dimension: int, key: Words, dimensions: int) -> Array:
    """One coordinate, from 0 to 1, of the points of these numbers; the key chooses the scrambling."""
    directions, shift = scramble_directions(direction_numbers(dimensions)[dimension], key)
    return (sobol_digits(members, directions, shift).astype(np.float64) + 0.5) * 2.0**-BITS
