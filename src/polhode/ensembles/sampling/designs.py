"""Designs: how the members of a sweep fill the unit interval of each input.

Every design gives numbers between 0 and 1, never 0 or 1, that depend only on the seed, the number of the member, and
the name of the input; those of a Latin hypercube also on how many members there are, those of a Sobol' sequence also on
the place of the name among all names in alphabetical order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from polhode.ensembles.sampling.permutations import permute
from polhode.ensembles.sampling.random_words import Members, random_words, stream_key, to_unit_interval
from polhode.ensembles.sampling.sobol_points import BITS, LARGEST_DIMENSION, sobol_coordinates
from polhode.errors import ScenarioError
from polhode.validation import Array

DESIGNS = ("random", "latin_hypercube", "sobol")
MANTISSA_BITS = 52


class Design(Protocol):
    """Numbers between 0 and 1 for the members of a sweep."""

    def uniforms(self, name: str, dimensions: int, members: Members) -> Array:
        """The numbers of an input for these members, (members, dimensions)."""
        ...


@dataclass(frozen=True)
class RandomDesign:
    """Independent random numbers."""

    seed: int

    def uniforms(self, name: str, dimensions: int, members: Members) -> Array:
        """The numbers of an input for these members, (members, dimensions)."""
        return to_unit_interval(random_words(stream_key(self.seed, name), members, dimensions))


@dataclass(frozen=True)
class LatinHypercube:
    """One member in each of n equal parts of the interval, for every dimension of every input.  [McKay 1979]"""

    seed: int
    members: int

    def uniforms(self, name: str, dimensions: int, members: Members) -> Array:
        """The numbers of an input for these members, (members, dimensions)."""
        words = random_words(stream_key(self.seed, name), members, dimensions)
        # So few digits inside a part that adding its number is exact, and no rounding leads into the next part.
        kept = MANTISSA_BITS - int(self.members - 1).bit_length()
        inside = ((words >> np.uint64(1)) >> np.uint64(63 - kept)).astype(np.float64)
        inside = (inside + 0.5) * 2.0**-kept
        keys = [stream_key(self.seed, name, f"latin hypercube {i}") for i in range(dimensions)]
        parts = [permute(members, self.members, key).astype(np.float64) for key in keys]
        return (np.stack(parts, axis=-1) + inside) / self.members if parts else inside


@dataclass(frozen=True)
class SobolDesign:
    """Scrambled Sobol' points, one dimension for each number that an input needs."""

    seed: int
    first_dimensions: Mapping[str, int]
    """The first dimension of each input, by its name."""
    dimensions: int

    def uniforms(self, name: str, dimensions: int, members: Members) -> Array:
        """The numbers of an input for these members, (members, dimensions)."""
        first = self.first_dimensions[name]
        found = np.empty((len(members), dimensions))
        for i in range(dimensions):
            key = stream_key(self.seed, name, f"sobol {i}")
            found[:, i] = sobol_coordinates(members, first + i, key, self.dimensions)
        return found


def make_design(kind: str, seed: int, members: int, sizes: Mapping[str, int]) -> Design:
    """The design of a name, for inputs that need so many numbers each."""
    if members > 2**MANTISSA_BITS:
        raise ScenarioError(f"{members} members are more than 2**{MANTISSA_BITS}, which is as far as doubles can count")
    if kind == "random":
        return RandomDesign(seed)
    if kind == "latin_hypercube":
        return LatinHypercube(seed, members)
    names = sorted(name for name, size in sizes.items() if size)
    first, total = {}, 0
    for name in names:
        first[name], total = total, total + sizes[name]
    if total > LARGEST_DIMENSION:
        raise ScenarioError(
            f"the inputs need {total} random numbers for each member, but Sobol' sequences have at most "
            f"{LARGEST_DIMENSION} dimensions: use design='latin_hypercube'"
        )
    assert BITS >= MANTISSA_BITS  # as many points as members
    return SobolDesign(seed, first, total)
