"""The inverse of the normal distribution function against mpmath and SciPy."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from scipy import special

from polhode.ensembles.sampling.normal_quantile import lower_tail, normal_quantile

TAILS = [5e-324, 1e-300, 1e-100, 1e-16, 2.0**-53, 1e-9, 1e-3, 0.0749999, 0.075, 0.0750001, 0.3, 0.4999999, 0.5]


def quantile_with_50_digits(p):
    """By Newton's method on log Phi, whose derivative is known."""
    with mpmath.workdps(50):
        p = mpmath.mpf(p)
        x = mpmath.mpf(float(special.ndtri(float(p))))
        for _ in range(8):
            below = mpmath.ncdf(x)
            x -= (mpmath.log(below) - mpmath.log(p)) * below / mpmath.npdf(x)
        assert abs(mpmath.ncdf(x) / p - 1) < mpmath.mpf(10) ** -30
        return x


@pytest.mark.parametrize("p", [*TAILS, 0.6, 0.9, 0.925, 0.99999, 1 - 2.0**-53])
def test_quantile_against_mpmath(p):
    exact = quantile_with_50_digits(p)
    found = float(normal_quantile(np.array([p]))[0])
    assert abs(found - exact) <= 1e-15 * abs(exact)


def test_quantiles_against_scipy():
    p = (2 * np.arange(100_000) + 1) / 200_000
    assert np.allclose(normal_quantile(p), special.ndtri(p), rtol=2e-15, atol=0)


def test_the_quantile_is_odd_about_one_half():
    u = (2 * np.arange(1, 1000) + 1) * 2.0**-53
    assert np.array_equal(normal_quantile(1 - u), -normal_quantile(u))


def test_lower_tails_against_scipy():
    for x in (0.0, -0.1, -1.0, -1.4395, -3.0, -8.0, -20.0, -37.0):
        assert math.isclose(lower_tail(x), special.ndtr(x), rel_tol=3e-13), x
    assert lower_tail(-50.0) == lower_tail(-math.inf) == 0.0
