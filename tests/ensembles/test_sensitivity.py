"""Which input matters most: beside SciPy, and functions whose Sobol' indices are known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import rankdata, spearmanr

from polhode.ensembles.sensitivity import find_ranks, measure_sensitivity

RNG = np.random.default_rng(8)
N = 4000


def test_rank_correlation_against_scipy():
    x, noise = RNG.normal(size=(2, N))
    y = np.exp(x) + noise
    found = measure_sensitivity(x, y)
    assert found.rank_correlation == pytest.approx(spearmanr(x, y).statistic, abs=1e-12)
    rounded = np.round(x)
    assert find_ranks(rounded).tolist() == rankdata(rounded).tolist()
    assert measure_sensitivity(rounded, y).rank_correlation == pytest.approx(spearmanr(rounded, y).statistic, abs=1e-12)


def test_the_errors_are_those_found_by_repetition():
    found = [measure_sensitivity(x, x + 2 * e) for x, e in RNG.normal(size=(150, 2, 1000))]
    for value, error in (("rank_correlation", "rank_correlation_error"), ("variance_share", "variance_share_error")):
        spread = np.std([getattr(one, value) for one in found])
        assert np.mean([getattr(one, error) for one in found]) == pytest.approx(spread, rel=0.25)


def test_shares_of_a_linear_result_against_their_closed_form():
    slopes = np.array((3.0, 2.0, 1.0, 0.0))
    x = RNG.normal(size=(4, N))
    y = 1e9 + slopes @ x
    expected = slopes**2 / (slopes**2).sum()
    for column, share in zip(x, expected, strict=True):
        found = measure_sensitivity(column, y)
        assert abs(found.variance_share - share) < 4 * found.variance_share_error + 0.01
        assert found.variance_share_error < 0.03


def test_shares_of_ishigamis_function_against_their_closed_form():
    """y = sin a + 7 sin(b)^2 + 0.1 c^4 sin a; c acts only together with a.  [Saltelli 2008]"""
    a, b, c = RNG.uniform(-np.pi, np.pi, (3, 20_000))
    y = np.sin(a) + 7 * np.sin(b) ** 2 + 0.1 * c**4 * np.sin(a)
    for column, share in ((a, 0.3139), (b, 0.4424), (c, 0.0)):
        found = measure_sensitivity(column, y)
        assert abs(found.variance_share - share) < 4 * found.variance_share_error + 0.005
    assert abs(measure_sensitivity(b, y).rank_correlation) < 0.03  # which it cannot see


def test_an_input_without_influence_has_no_share_on_average():
    shares = [measure_sensitivity(*pair).variance_share for pair in RNG.normal(size=(300, 2, 500))]
    assert abs(np.mean(shares)) < 4 * np.std(shares) / 300**0.5
    assert min(shares) < 0 < max(shares)


def test_missing_numbers_are_left_out():
    x, y = RNG.normal(size=(2, N))
    y += x
    holes = y.copy()
    holes[::3] = np.nan
    kept = ~np.isnan(holes)
    assert measure_sensitivity(x, holes) == measure_sensitivity(x[kept], y[kept])


@pytest.mark.parametrize(("x", "y"), [(np.ones(N), RNG.normal(size=N)), (RNG.normal(size=N), np.full(N, 0.1))])
def test_constants_have_no_sensitivity(x, y):
    assert np.isnan(measure_sensitivity(x, y).variance_share)
    assert np.isnan(measure_sensitivity(x, y).rank_correlation)


def test_few_members_have_none():
    assert np.isnan(measure_sensitivity(*RNG.normal(size=(2, 59))).variance_share)
    assert not np.isnan(measure_sensitivity(*RNG.normal(size=(2, 60))).variance_share)


def test_an_input_of_two_values_is_divided_into_two():
    x = RNG.integers(0, 2, N).astype(float)
    y = 2 * x + RNG.normal(size=N)
    found = measure_sensitivity(x, y)
    assert abs(found.variance_share - 0.5) < 4 * found.variance_share_error
