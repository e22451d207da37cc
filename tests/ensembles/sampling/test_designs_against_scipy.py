"""Latin hypercubes by counting, Sobol' points against SciPy's, and both by number."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from scipy.stats import qmc

from polhode.ensembles.sampling import designs
from polhode.ensembles.sampling.permutations import permute
from polhode.ensembles.sampling.random_words import stream_key
from polhode.ensembles.sampling.sobol_points import (
    BITS,
    LARGEST_DIMENSION,
    direction_numbers,
    scramble_directions,
    sobol_digits,
)
from polhode.errors import ScenarioError

SIZES = {"c": 1, "a": 3, "b": 2}


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 10, 64, 97, 1000, 4096, 10_007])
def test_a_permutation_has_every_number_once(n):
    numbers = np.arange(n)
    assert sorted(permute(numbers, n, stream_key(1, "x")).tolist()) == numbers.tolist()
    assert np.array_equal(permute(numbers[::-1], n, stream_key(1, "x")), permute(numbers, n, stream_key(1, "x"))[::-1])


@pytest.mark.parametrize("n", [4, 6, 13])
def test_permutations_of_few_numbers_are_uniform(n):
    """Over many seeds every pair of places is as frequent as any other."""
    seeds = 2000
    found = np.array([permute(np.arange(n), n, stream_key(seed, "x")) for seed in range(seeds)])
    pairs = np.zeros((n, n))
    np.add.at(pairs, (found[:, 0], found[:, n - 1]), 1)
    counts = pairs[~np.eye(n, dtype=bool)]
    assert np.trace(pairs) == 0
    assert stats.chisquare(counts).pvalue > 1e-3
    for place in range(n):
        assert stats.chisquare(np.bincount(found[:, place], minlength=n)).pvalue > 1e-4


def test_neighbors_are_not_correlated_by_a_permutation():
    n = 100_003
    found = permute(np.arange(n), n, stream_key(3, "x")) / n
    assert abs(np.corrcoef(found[:-1], found[1:])[0, 1]) < 0.02
    assert abs(np.corrcoef(found, np.arange(n))[0, 1]) < 0.02


@pytest.mark.parametrize("n", [1, 2, 3, 10, 100, 1001, 4096])
def test_a_latin_hypercube_has_one_member_in_every_part(n):
    u = designs.make_design("latin_hypercube", 3, n, SIZES).uniforms("a", 3, np.arange(n))
    for column in u.T:
        assert sorted(int(Fraction(x) * n) for x in column.tolist()) == list(range(n))
    assert ((u > 0) & (u < 1)).all()


@pytest.mark.parametrize("n", [10**9, 2**40 + 1, 2**52])
def test_a_large_latin_hypercube_keeps_its_parts_apart(n):
    design = designs.make_design("latin_hypercube", 3, n, SIZES)
    members = np.random.default_rng(1).integers(0, n, 2000)
    u = design.uniforms("c", 1, members)[:, 0]
    parts = permute(members, n, stream_key(3, "c", "latin hypercube 0"))
    for part, x in zip(parts.tolist(), u.tolist(), strict=True):
        assert Fraction(part, n) < Fraction(x) < Fraction(part + 1, n)


def test_points_of_a_latin_hypercube_are_uniform_within_their_parts():
    n = 5000
    u = designs.make_design("latin_hypercube", 8, n, SIZES).uniforms("c", 1, np.arange(n))[:, 0]
    assert stats.kstest((u * n) % 1, "uniform").pvalue > 1e-3


@pytest.mark.parametrize("dimensions", [1, 2, 7, 40])
def test_sobol_points_against_scipy(dimensions):
    engine = qmc.Sobol(dimensions, scramble=False, bits=BITS)
    rows = direction_numbers(dimensions)
    members = np.arange(2**12)
    ours = np.stack([sobol_digits(members, row, np.uint64(0)) for row in rows], axis=-1) * 2.0**-BITS
    assert np.array_equal(ours, engine.random(2**12))
    engine = qmc.Sobol(dimensions, scramble=False, bits=30)  # SciPy 1.17 cannot go forward with more bits
    engine.fast_forward(2**20)
    far = np.stack([sobol_digits(members + 2**20, row, np.uint64(0)) for row in rows], axis=-1) * 2.0**-BITS
    assert np.array_equal(far, engine.random(2**12))


def test_scrambled_sobol_points_against_scipy():
    """With the numbers that SciPy scrambled, the points are those that SciPy gives."""
    engine = qmc.Sobol(5, scramble=True, bits=BITS)
    members = np.arange(1024)
    pairs = zip(engine._sv, engine._shift, strict=True)
    ours = np.stack([sobol_digits(members, row, np.uint64(shift)) for row, shift in pairs], axis=-1) * 2.0**-BITS
    assert np.array_equal(ours, engine.random(1024))


def test_scrambling_is_a_lower_triangular_map_of_the_digits():
    """Judged by a product of matrices of digits, modulo 2; the map is found from the images of single digits."""
    key = stream_key(9, "x", "sobol 0")
    single = np.uint64(1) << np.arange(BITS - 1, -1, -1, dtype=np.uint64)  # digit 0 is the most significant

    def digits(words):
        return (words[:, None] >> np.arange(BITS - 1, -1, -1, dtype=np.uint64)) & np.uint64(1)

    image, _ = scramble_directions(single, key)
    matrix = digits(image).T  # column j: the image of digit j
    assert np.array_equal(np.diagonal(matrix), np.ones(BITS))
    assert np.array_equal(matrix, np.tril(matrix))
    below = matrix[np.tril_indices(BITS, -1)]
    assert abs(below.mean() - 0.5) < 0.05
    given = direction_numbers(3)[2]
    found, _ = scramble_directions(given, key)
    assert np.array_equal(digits(found), (digits(given) @ matrix.T) % np.uint64(2))


def test_scrambled_sobol_points_are_balanced():
    """2^m points have one in each of 2^m parts of every axis, and in every elementary interval of the first two."""
    design = designs.make_design("sobol", 6, 2**10, {"a": 2, "b": 3})
    assert design.first_dimensions == {"a": 0, "b": 2}
    for m in (3, 6, 10):
        n = 2**m
        plane = design.uniforms("a", 2, np.arange(n))
        for column in (*plane.T, *design.uniforms("b", 3, np.arange(n)).T):
            assert sorted((column * n).astype(int).tolist()) == list(range(n))
        for split in range(m + 1):
            cells = (plane * (2**split, 2 ** (m - split))).astype(int)
            assert len({tuple(cell) for cell in cells.tolist()}) == n
    u = design.uniforms("b", 3, np.arange(1024))
    assert qmc.discrepancy(u) < qmc.discrepancy(np.random.default_rng(1).random((1024, 3))) / 10


@pytest.mark.parametrize("kind", designs.DESIGNS)
def test_designs_do_not_depend_on_the_members_asked_for(kind):
    n = 10**9
    design = designs.make_design(kind, 5, n, SIZES)
    whole = design.uniforms("a", 3, np.arange(n - 1000, n))
    picked = np.array([999, 0, 500, 500, 3])
    assert np.array_equal(design.uniforms("a", 3, picked + n - 1000), whole[picked])
    assert design.uniforms("a", 3, np.linspace(0, n - 1, 64).astype(np.int64)).shape == (64, 3)


def test_too_many_dimensions_and_members_are_refused():
    assert LARGEST_DIMENSION == qmc.Sobol.MAXDIM
    with pytest.raises(ScenarioError, match="at most 21201 dimensions"):
        designs.make_design("sobol", 0, 10, {"a": 21_202})
    with pytest.raises(ScenarioError, match=r"more than 2\*\*52"):
        designs.make_design("random", 0, 2**52 + 1, {"a": 1})
