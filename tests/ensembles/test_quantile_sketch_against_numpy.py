"""Quantiles by a mergeable sketch: NumPy's where all fits, else within the bound on the rank that is stated."""

from __future__ import annotations

import numpy as np
import pytest

from merged_blocks import merge_blocks
from polhode.ensembles.quantile_sketch import choose_capacity, merge_sketches, quantiles_of_sketch, sketch_rows

BLOCK = 4096
PROBABILITIES = np.array([0.0, 0.001, 0.05, 0.25, 0.5, 0.75, 0.95, 0.999, 1.0])
RNG = np.random.default_rng(17)


def sketch_of(rows, capacity, block=BLOCK):
    blocks = [sketch_rows(rows[:, i : i + block], capacity) for i in range(0, rows.shape[1], block)]
    return merge_blocks(lambda left, right: merge_sketches(left, right, capacity), blocks)


def zigzag(n):
    """Ascending and descending from both ends: neighbors in rank are far apart in order."""
    x = np.arange(float(n))
    x[1::2] = x[::-1][1::2]
    return x


def against_the_offsets(n, capacity=256):
    """Every block is 0, 0, ..., 1, 1, ...: the same pair straddles the step in each of them."""
    cut = capacity + 1
    return np.where(np.arange(n) % BLOCK < cut, 0.0, 1.0)


def rows_of_kind(kind, n):
    return {
        "random": lambda: RNG.normal(size=n),
        "lognormal": lambda: np.exp(5 * RNG.normal(size=n)),
        "sorted": lambda: np.sort(RNG.normal(size=n)),
        "reversed": lambda: np.sort(RNG.normal(size=n))[::-1],
        "constant": lambda: np.full(n, 7.25),
        "two values": lambda: RNG.integers(0, 2, n).astype(float),
        "zigzag": lambda: zigzag(n),
        "steps": lambda: against_the_offsets(n),
        "interleaved": lambda: np.arange(float(n)).reshape(-1, 8).T.ravel() if n % 8 == 0 else np.arange(float(n)),
        "with missing": lambda: np.where(RNG.random(n) < 0.3, np.nan, RNG.normal(size=n)),
        "mostly missing": lambda: np.where(RNG.random(n) < 0.999, np.nan, RNG.normal(size=n)),
    }[kind]()


KINDS = [
    *("random", "lognormal", "sorted", "reversed", "constant", "two values", "zigzag", "steps", "interleaved"),
    *("with missing", "mostly missing"),
]


def check_against_numpy(x, found, row=0):
    """The rank of each value, found by counting, is within the bound; the quantile is within the brackets."""
    valid = np.sort(x[~np.isnan(x)])
    n = len(valid)
    assert found.counted[row] == n
    exact = np.quantile(valid, PROBABILITIES)
    for p, value, low, high, error, true in zip(
        PROBABILITIES,
        found.values[:, row],
        found.lower[:, row],
        found.upper[:, row],
        found.rank_error[:, row],
        exact,
        strict=True,
    ):
        rank = 1 + p * (n - 1)
        first, last = np.searchsorted(valid, value, "left") + 1, np.searchsorted(valid, value, "right")
        off = max(first - rank, rank - last, 0.0)
        assert off <= error * n + 1e-6 or (error == 0 and value == true)
        assert low <= true <= high
        assert low <= value <= high


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 5000, 65_536, 100_003])
@pytest.mark.parametrize("capacity", [256, 1024])
def test_ranks_are_within_the_stated_bound(kind, n, capacity):
    x = rows_of_kind(kind, n)
    if np.isnan(x).all():
        x[0] = 1.0
    check_against_numpy(x, quantiles_of_sketch(sketch_of(x[None], capacity), PROBABILITIES))


def test_a_million_numbers_within_the_promised_thousandth():
    x = np.stack([RNG.normal(size=10**6), np.sort(RNG.normal(size=10**6)), zigzag(10**6)])
    found = quantiles_of_sketch(sketch_of(x, 2048), PROBABILITIES)
    for row in range(3):
        check_against_numpy(x[row], found, row)
    n_over_k = 10**6 / 2048
    assert found.rank_error.max() < 1.1 * np.log2(n_over_k) / (4 * 2048)  # the formula of the module
    assert found.rank_error.max() < 0.0013


def test_numpy_to_the_bit_while_everything_fits():
    rows = RNG.normal(size=(5, 10_000))
    rows[2, ::3] = np.nan
    found = quantiles_of_sketch(sketch_of(rows, 16_384), PROBABILITIES)
    expected = np.nanquantile(rows, PROBABILITIES, axis=1)
    assert found.values.tolist() == expected.tolist()
    assert (found.rank_error == 0).all()
    assert found.lower.tolist() == found.upper.tolist() == expected.tolist()


def test_rows_with_few_numbers_stay_exact_beside_full_ones():
    rows = RNG.normal(size=(2, 200_000))
    rows[1, RNG.random(200_000) < 0.999] = np.nan
    found = quantiles_of_sketch(sketch_of(rows, 512), PROBABILITIES)
    assert (found.rank_error[:, 1] == 0).all()
    assert (found.rank_error[1:-1, 0] > 0).all()
    assert found.values[:, 1].tolist() == np.nanquantile(rows[1], PROBABILITIES).tolist()


def test_rows_are_independent_of_their_neighbors():
    rows = RNG.normal(size=(4, 30_000))
    rows[3, 5000:] = np.nan
    together = quantiles_of_sketch(sketch_of(rows, 256), PROBABILITIES)
    for i in range(4):
        alone = quantiles_of_sketch(sketch_of(rows[i : i + 1], 256), PROBABILITIES)
        assert together.values[:, i].tolist() == alone.values[:, 0].tolist()
        assert together.rank_error[:, i].tolist() == alone.rank_error[:, 0].tolist()


def test_only_missing_numbers():
    found = quantiles_of_sketch(sketch_of(np.full((1, 5000), np.nan), 256), PROBABILITIES)
    assert np.isnan(found.values).all()
    assert found.counted.tolist() == [0]


def test_infinite_numbers_are_numbers():
    x = np.concatenate((np.full(2000, -np.inf), np.zeros(4000), np.full(2000, np.inf)))
    found = quantiles_of_sketch(sketch_of(x[None], 256), np.array([0.1, 0.5, 0.9]))
    assert found.values[:, 0].tolist() == [-np.inf, 0.0, np.inf]


def test_what_is_kept_fits_in_the_memory():
    for rows in (1, 3, 600, 60_000):
        capacity = choose_capacity(rows, 16 * 2**20)
        assert capacity in (256, 16_384) or 8 * rows * capacity <= 16 * 2**20 < 16 * rows * capacity
    sketch = sketch_of(RNG.normal(size=(2, 100_000)), 256)
    assert sketch["items"].shape[1] <= 256
