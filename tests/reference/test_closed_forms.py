"""The closed forms against an ODE solver at its tightest, against printed numbers, and against conserved quantities."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from polhode.errors import InputError
from polhode.reference.elliptic import carlson_rf, elliptic_k, jacobi_sn_cn_dn
from polhode.reference.fall import with_linear_drag, with_quadratic_drag
from polhode.reference.free_rotation import AsymmetricTop, SymmetricTop
from polhode.reference.spring import SpringPair


def solved(rate, start, times):
    answer = solve_ivp(rate, (0.0, times[-1]), start, method="DOP853", t_eval=times, rtol=1e-13, atol=1e-14)
    return answer.y.T


def euler(moments):
    moments = np.asarray(moments, dtype=float)
    return lambda t, w: -np.cross(w, moments * w) / moments


BOX = 10 / 12 * np.array((0.16 + 0.81, 0.81 + 0.01, 0.01 + 0.16))


# Free rotation -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(24))
def test_asymmetric_top_against_solve_ivp(seed):
    """Every order of the moments, both regimes, all signs, starts on coordinate planes."""
    random = np.random.default_rng(seed)
    moments, rates = random.permutation(np.cumsum(random.uniform(0.2, 1.0, 3))), random.normal(size=3)
    if seed % 4 == 0:
        rates[random.integers(3)] = 0.0
    times = np.linspace(0, 12, 25)
    top = AsymmetricTop(moments, rates)
    assert top.rates_at(times) == pytest.approx(solved(euler(moments), rates, times), abs=3e-11)
    middle = int(np.argsort(moments)[1])
    for k in range(3):
        assert abs(top.rates_at(top.first_flip + k * top.flip_time)[middle]) < 1e-12
    assert top.rates_at(times + top.period) == pytest.approx(top.rates_at(times), abs=1e-11)


def test_asymmetric_top_against_mpmath():
    """K and the Jacobi functions at 30 digits, close to the separatrix."""
    mpmath = pytest.importorskip("mpmath")
    top = AsymmetricTop(BOX, (0.01, 20.0, 0.01))
    with mpmath.workdps(30):
        a, b, c = (mpmath.mpf(float(x)) for x in BOX)
        w = [mpmath.mpf(x) for x in (0.01, 20.0, 0.01)]
        spin = (a * w[0]) ** 2 + (b * w[1]) ** 2 + (c * w[2]) ** 2
        twice_energy = a * w[0] ** 2 + b * w[1] ** 2 + c * w[2] ** 2
        rate = mpmath.sqrt((a - b) * (spin - twice_energy * c) / (a * b * c))
        m = (b - c) * (twice_energy * a - spin) / ((a - b) * (spin - twice_energy * c))
        flip = 2 * mpmath.ellipk(m) / rate
        assert top.flip_time == pytest.approx(float(flip), rel=1e-13)
        assert top.complement == pytest.approx(float(1 - m), rel=1e-12)


def test_asymmetric_top_against_printed_numbers():
    """[the Dzhanibekov box; Tops report, figures 4 and 5]"""
    box = AsymmetricTop(BOX, (0.1, 5.0, 0.1))
    assert box.phase_rate == pytest.approx(3.8458152, abs=5e-8)
    assert box.parameter == pytest.approx(0.99985999, abs=5e-9)
    assert box.flip_time == pytest.approx(3.0284221, abs=5e-8)
    assert box.first_flip == pytest.approx(1.1659600, abs=5e-8)
    stable = AsymmetricTop((2, 8, 4), (0, 1, 0.1))
    assert stable.period == pytest.approx(3.6260886, abs=5e-8)
    assert np.abs(stable.rates_at(np.linspace(0, 4, 4001))[:, 0]).max() == pytest.approx(0.1154700, abs=1e-6)
    unstable = AsymmetricTop((2, 8, 4), (0, 0.1, 1))
    assert unstable.period == pytest.approx(15.6519306, abs=5e-8)
    assert unstable.first_flip == pytest.approx(3.9129827, abs=1e-7)


def test_asymmetric_top_on_the_separatrix():
    """Moments (1, 5, 9), rates in the ratio 3 : 1: L^2 = 2 E I2 to the last bit.  Never back, and no period."""
    top = AsymmetricTop((1.0, 5.0, 9.0), (3.0, 0.5, 1.0))
    times = np.linspace(0, 2, 9)
    assert top.complement == 0
    assert top.period == top.flip_time == top.first_flip == np.inf
    assert top.rates_at(times) == pytest.approx(solved(euler((1.0, 5.0, 9.0)), (3.0, 0.5, 1.0), times), abs=1e-10)


@pytest.mark.parametrize("axis", range(3))
def test_pure_spins_stay(axis):
    rates = 2.0 * np.eye(3)[axis]
    assert AsymmetricTop((1.0, 2.0, 2.5), rates).rates_at([0.0, 7.0]).tolist() == [rates.tolist()] * 2


@pytest.mark.parametrize("moments", [(2, 2, 3), (3, 2, 2), (2, 3, 2), (2, 2, 2)])
def test_symmetric_top_against_solve_ivp(moments):
    rates, times = (0.3, -1.2, 0.7), np.linspace(0, 10, 11)
    top = SymmetricTop(moments, rates)
    assert top.rates_at(times) == pytest.approx(solved(euler(moments), rates, times), abs=1e-11)

    def attitude_rate(t, q):
        w, x, y, z = q
        a, b, c = top.rates_at(t)
        return 0.5 * np.array(
            (-x * a - y * b - z * c, w * a + y * c - z * b, w * b + z * a - x * c, w * c + x * b - y * a)
        )

    assert top.quaternions_at(times) == pytest.approx(solved(attitude_rate, (1, 0, 0, 0), times), abs=1e-11)


def test_symmetric_top_against_printed_numbers():
    """[Tops report, figure 1: I = (2, 2, 8), omega = (1, 0, 1); Christian 2011, problem 17.7: a rod]"""
    top = SymmetricTop((2, 2, 8), (1, 0, 1))
    assert top.body_precession == 3
    assert top.space_precession == pytest.approx(4.1231056, abs=5e-8)


def test_a_nearly_symmetric_top_meets_the_symmetric_one():
    times = np.linspace(0, 5, 6)
    nearly = AsymmetricTop((2.0, 2.0 + 1e-9, 3.0), (1.0, 0.2, 1.0)).rates_at(times)
    assert nearly == pytest.approx(SymmetricTop((2, 2, 3), (1.0, 0.2, 1.0)).rates_at(times), abs=2e-8)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: AsymmetricTop((1, 1, 2), (1, 0, 0)), "use SymmetricTop"),
        (lambda: SymmetricTop((1, 2, 3), (1, 0, 0)), "use AsymmetricTop"),
        (lambda: AsymmetricTop((1, 2, 3), (0, 0, 0)), "at rest"),
        (lambda: AsymmetricTop((1, -2, 3), (1, 0, 0)), "greater than 0"),
        (lambda: AsymmetricTop([(1, 2, 3)] * 2, (1, 0, 0)), "one body"),
        (lambda: SpringPair((1, 2), 1.0, 1.0, (0, 2.5), (0, 0)), "the bodies would collide"),
        (lambda: SpringPair((1, 0), 1.0, 1.0, (0, 1.5), (0, 0)), "masses must be greater than 0"),
        (lambda: with_quadratic_drag(1.0, 1.0, 0.0, 9.8), "c must be greater than 0"),
    ],
)
def test_closed_forms_refuse_what_they_do_not_cover(make, sentence):
    with pytest.raises(InputError, match=sentence):
        make()


# Fall ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("c", [0.0, 1e-9, 0.3, 40.0])
def test_linear_drag_against_solve_ivp(c):
    mass, g, wind = 2.0, np.array((0.1, 0.0, -9.8)), np.array((3.0, -1.0, 0.5))
    start, times = np.array((1.0, 2, 3, 4, 5, 6)), np.linspace(0, 8, 9)
    expected = solved(lambda t, y: np.concatenate((y[3:], g - c / mass * (y[3:] - wind))), start, times)
    found = with_linear_drag(times, mass, c, g, start[:3], start[3:], wind)
    assert found.position == pytest.approx(expected[:, :3], rel=1e-11)
    assert found.velocity == pytest.approx(expected[:, 3:], rel=1e-10)


def test_linear_drag_against_the_printed_number():
    """[thirty frames: m = 1, c = 0.5, wind 3 m/s, 10 s]"""
    found = with_linear_drag(10.0, 1.0, 0.5, (0, 0, -9.80665), wind=(3, 0, 0)).position
    assert found == pytest.approx([24.0404277, 0.0, -157.1707068], abs=5e-8)


def test_linear_drag_is_smooth_where_its_series_ends():
    times = 1 + np.array((-1e-13, 1e-13))
    before, after = with_linear_drag(times, 1.0, 1.0, (0, 0, -9.8)).position[:, 2]
    assert after == pytest.approx(before, rel=1e-12)


@pytest.mark.parametrize("speed", [0.0, 5.0, 56.0, 300.0, -20.0, -200.0])
@pytest.mark.parametrize("c", [1e-6, 0.25, 20.0])
def test_quadratic_drag_against_solve_ivp(c, speed):
    mass, g, times = 80.0, 9.80665, np.linspace(0, 30, 31)
    expected = solved(lambda t, y: np.array((y[1], g - c / mass * abs(y[1]) * y[1])), (0.0, speed), times)
    found = with_quadratic_drag(times, mass, c, g, speed)
    size = np.abs(expected).max(axis=0)
    assert found.position == pytest.approx(expected[:, 0], rel=1e-9, abs=1e-9 * size[0])
    assert found.velocity == pytest.approx(expected[:, 1], rel=1e-9, abs=1e-9 * size[1])


def test_quadratic_drag_far_and_near():
    """Beyond the reach of cosh, and where all but the first digits of cosh - 1 would be lost."""
    assert np.isfinite(with_quadratic_drag(1e6, 1.0, 1.0, 1.0).position)
    assert with_quadratic_drag(1e-6, 1.0, 1.0, 1.0).position == pytest.approx(5e-13, rel=1e-11)


# Spring --------------------------------------------------------------------------------------------------------------
def test_spring_pair_against_solve_ivp():
    masses, k, length = np.array((1.0, 3.0)), 12.0, 1.0
    pair = SpringPair(masses, k, length, (0.2, 1.5), (0.4, -0.3))

    def rate(t, y):
        pull = k * (y[1] - y[0] - length)
        return np.array((y[2], y[3], pull / masses[0], -pull / masses[1]))

    times = np.linspace(0, 5, 21)
    expected = solved(rate, (0.2, 1.5, 0.4, -0.3), times)
    assert pair.positions_at(times) == pytest.approx(expected[:, :2], abs=1e-11)
    assert pair.stretch_at(times) == pytest.approx(expected[:, 1] - expected[:, 0] - length, abs=1e-11)
    assert pair.stretch_at(pair.period) == pytest.approx(pair.stretch_at(0.0), abs=1e-13)
    assert np.abs(pair.stretch_at(np.linspace(0, pair.period, 2001))).max() == pytest.approx(pair.amplitude, rel=1e-5)


# Elliptic functions --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("complement", [1.0, 0.7, 0.3, 1e-3, 1e-6])
def test_elliptic_functions_against_scipy(complement):
    from scipy.special import ellipj, ellipkm1, elliprf

    u = np.linspace(-5, 5, 41)
    assert elliptic_k(complement) == pytest.approx(float(ellipkm1(complement)), rel=4e-16)
    # SciPy knows 1 - m only as well as m holds it.
    for found, expected in zip(jacobi_sn_cn_dn(u, complement), ellipj(u, 1 - complement), strict=False):
        assert found == pytest.approx(expected, abs=1e-14 + 1e-16 / complement)
    assert carlson_rf(0.2, complement, 1.0) == pytest.approx(float(elliprf(0.2, complement, 1.0)), rel=4e-16)


@pytest.mark.parametrize("complement", ["0.25", "1e-8", "1e-30"])
def test_elliptic_functions_against_mpmath(complement):
    """Where m itself no longer holds the digits of 1 - m, or rounds to 1."""
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(50):
        given = mpmath.mpf(float(complement))
        m = 1 - given
        quarter = mpmath.ellipk(m)
        assert elliptic_k(float(complement)) == pytest.approx(float(quarter), rel=4e-16)
        for share in (0.1, 0.5, 0.9, 1.0, 1.7):
            u = float(quarter * share)
            for name, found in zip(("sn", "cn", "dn"), jacobi_sn_cn_dn(np.float64(u), float(complement)), strict=True):
                assert float(found) == pytest.approx(float(mpmath.ellipfun(name, u, m=m)), rel=1e-12, abs=3e-15)
        assert carlson_rf(0.3, float(complement), 1.0) == pytest.approx(
            float(mpmath.elliprf(mpmath.mpf(0.3), given, 1)), rel=4e-16
        )
