"""Means and covariances, merged in a tree, beside the same in exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from merged_blocks import merge_blocks
from polhode.ensembles.moments import find_moments, merge_moments, sum_pairwise

RNG = np.random.default_rng(5)
EPSILON = 2.0**-52


def moments_of(vectors, block=256):
    blocks = [find_moments(vectors[..., i : i + block]) for i in range(0, vectors.shape[-1], block)]
    return merge_blocks(merge_moments, blocks)


def exact_moments(x, y):
    pairs = [(Fraction(float(a)), Fraction(float(b))) for a, b in zip(x, y, strict=True) if a == a and b == b]
    n = len(pairs)
    mean_x, mean_y = sum(a for a, _ in pairs) / n, sum(b for _, b in pairs) / n
    return mean_x, mean_y, sum((a - mean_x) * (b - mean_y) for a, b in pairs)


@pytest.mark.parametrize("offset", [0.0, 1.0, 6.4e6, -1e12, 1e15])
@pytest.mark.parametrize("order", ["random", "sorted", "alternating"])
def test_against_exact_fractions(offset, order):
    n = 3000
    x, y = RNG.normal(size=(2, n))
    if order == "sorted":
        x = np.sort(x)
    if order == "alternating":
        x = np.where(np.arange(n) % 2, x + 1e4, x - 1e4)
    x, y = x + offset, 0.5 * x + y - 2 * offset
    x[::17] = np.nan
    found = moments_of(np.stack([x, y])[None])
    mean_x, mean_y, product = exact_moments(x, y)
    _, _, own = exact_moments(x, x)
    _, _, other = exact_moments(y, y)
    for i, exact in enumerate((mean_x, mean_y)):
        mean = float(found["origin"][0, i] + found["mean"][0, i])
        spread = float(max(own, other) / n) ** 0.5
        assert abs(Fraction(mean) - exact) <= EPSILON * abs(exact) + 4 * EPSILON * Fraction(spread)
    bound = 8 * EPSILON * np.sqrt(float(own) * float(other))
    assert abs(Fraction(float(found["products"][0, 0, 1])) - product) <= Fraction(bound)
    assert abs(Fraction(float(found["products"][0, 0, 0])) - own) <= 8 * EPSILON * own
    assert found["count"].tolist() == [n - len(range(0, n, 17))]


def test_a_constant_has_no_variance_to_the_last_bit():
    found = moments_of(np.full((1, 1, 10_000), 0.1))
    assert float(found["origin"][0, 0] + found["mean"][0, 0]) == 0.1
    assert found["products"].tolist() == [[[0.0]]]


def test_blocks_without_numbers_change_nothing():
    x = RNG.normal(size=1024) + 1e9
    padded = np.concatenate((np.full(256, np.nan), x[:256], np.full(512, np.nan), x[256:], np.full(256, np.nan)))
    found, expected = moments_of(padded[None, None]), moments_of(x[None, None])
    assert found["count"].tolist() == [1024]
    mean = found["origin"] + found["mean"]
    assert abs(mean - (expected["origin"] + expected["mean"])).max() <= 1e9 * EPSILON
    np.testing.assert_allclose(found["products"], expected["products"], rtol=8 * EPSILON)


def test_nothing_but_missing_numbers():
    found = moments_of(np.full((2, 3, 500), np.nan))
    assert found["count"].tolist() == [0, 0]
    assert not np.isnan(found["products"]).any()


def test_the_sum_does_not_depend_on_the_layout():
    values = RNG.normal(size=(7, 4096)) * 10.0 ** RNG.integers(-8, 8, (7, 4096))
    rows, columns = np.ascontiguousarray(values), np.asfortranarray(values)
    assert sum_pairwise(rows).tolist() == sum_pairwise(columns).tolist()
    exact = [float(sum(Fraction(v) for v in row)) for row in values.tolist()]
    np.testing.assert_allclose(sum_pairwise(rows), exact, atol=14 * EPSILON * np.abs(values).sum(axis=1).max())
    assert sum_pairwise(np.empty((2, 0))).tolist() == [0.0, 0.0]
