"""Histograms in blocks, beside NumPy's of everything at once."""

from __future__ import annotations

import numpy as np
import pytest

from merged_blocks import merge_blocks
from polhode.ensembles.histogram_counts import count_between_edges, count_in_growing_bins, merge_growing_bins

RNG = np.random.default_rng(3)
SAMPLES = {
    "normal": RNG.normal(size=10_000),
    "growing": np.cumsum(RNG.random(10_000)) ** 2,
    "shrinking": 1 / np.arange(1.0, 10_001),
    "offset": 6.4e6 + RNG.normal(size=10_000),
    "negative": -np.exp(3 * RNG.normal(size=10_000)),
    "huge": 1e300 * RNG.normal(size=10_000),
    "tiny": 1e-300 * RNG.normal(size=10_000),
    "zeros first": np.concatenate((np.zeros(5000), 1e-290 * RNG.normal(size=5000))),
    "constant": np.full(10_000, -2.5),
    "zeros": np.zeros(10_000),
}


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("most", [2, 50, 64])
@pytest.mark.parametrize("block", [1000, 4096, 10_000])
def test_growing_bins_hold_what_numpy_counts(name, most, block):
    x = SAMPLES[name]
    parts = [count_in_growing_bins(x[None, i : i + block], most) for i in range(0, len(x), block)]
    found = merge_blocks(merge_growing_bins, parts)
    width = np.ldexp(1.0, int(found["exponent"][0]))
    edges = (found["start"][0] + np.arange(most + 1)) * width
    expected, _ = np.histogram(x, edges)
    inner = x < edges[-1]  # NumPy's last bin is closed
    assert inner.all()
    assert found["counts"][0].tolist() == expected.tolist()
    assert found["counts"].sum() == found["count"][0] == len(x)


@pytest.mark.parametrize("name", ["normal", "growing", "offset", "negative", "huge"])
def test_bins_are_as_narrow_as_they_can_be(name):
    x = SAMPLES[name]
    found = count_in_growing_bins(x[None], 50)
    narrower = np.ldexp(1.0, int(found["exponent"][0]) - 1)
    assert np.floor(x.max() / narrower) - np.floor(x.min() / narrower) >= 50


def test_blocks_do_not_matter():
    for x in SAMPLES.values():
        whole = count_in_growing_bins(x[None], 50)
        for block in (17, 512, 4096):
            parts = [count_in_growing_bins(x[None, i : i + block], 50) for i in range(0, len(x), block)]
            merged = merge_blocks(merge_growing_bins, parts)
            if not (x == 0).any():  # a block of zeros has no width yet
                assert {key: merged[key].tolist() for key in merged} == {key: whole[key].tolist() for key in whole}


def test_missing_and_infinite_numbers_are_counted_apart():
    rows = np.array([[np.nan, 1.0, np.inf, -np.inf, 3.0], [np.nan] * 5])
    found = merge_growing_bins(count_in_growing_bins(rows, 8), count_in_growing_bins(rows[:, ::-1], 8))
    assert found["counts"].sum(axis=1).tolist() == [4, 0]
    assert found["above"].tolist() == found["below"].tolist() == [2, 0]
    assert found["count"].tolist() == [8, 0]


def test_given_edges_against_numpy():
    rows = RNG.normal(size=(3, 5000))
    rows[1, ::7] = np.nan
    rows[2, :5] = (-2.0, -1.0, 0.0, 1.0, 2.0)
    edges = np.array([-2.0, -1.0, 0.0, 0.5, 2.0])
    found = count_between_edges(rows, edges)
    for row, counts, below, above, count in zip(
        *(rows, *(found[k] for k in ("counts", "below", "above", "count"))), strict=True
    ):
        valid = row[~np.isnan(row)]
        assert counts.tolist() == np.histogram(valid, edges)[0].tolist()
        assert (below, above, count) == ((valid < -2).sum(), (valid > 2).sum(), len(valid))
