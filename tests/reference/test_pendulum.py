"""The pendulum's closed form against integration, SciPy's elliptic functions, and what stays constant."""

import mpmath
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk

from polhode.errors import InputError
from polhode.reference.elliptic import jacobi_sn_cn_dn
from polhode.reference.pendulum import Pendulum


@pytest.mark.parametrize("amplitude", [0.01, 1.0, np.pi / 2, 2.2, 3.1])
def test_against_integration_by_scipy(amplitude):
    pendulum = Pendulum(1.7, amplitude)
    times = np.linspace(0, 12.0, 40)
    found = solve_ivp(
        lambda t, y: (y[1], -(1.7**2) * np.sin(y[0])),
        (0, 12.0),
        (amplitude, 0.0),
        method="DOP853",
        t_eval=times,
        rtol=1e-12,
        atol=1e-14,
    )
    assert pendulum.angle_at(times) == pytest.approx(found.y[0], rel=0, abs=1e-8 * amplitude)
    assert pendulum.rate_at(times) == pytest.approx(found.y[1], rel=0, abs=1e-8 * amplitude)


@pytest.mark.parametrize("amplitude", [0.3, 1.5707, 2.9])
def test_against_scipys_elliptic_functions(amplitude):
    pendulum, times = Pendulum(0.8, amplitude), np.linspace(0, 20.0, 50)
    sn, cn, dn, _ = ellipj(0.8 * times, pendulum.parameter)
    k = np.sin(amplitude / 2)
    assert np.sin(pendulum.angle_at(times) / 2) == pytest.approx(k * cn / dn, rel=0, abs=1e-12)
    assert pendulum.rate_at(times) == pytest.approx(-0.8 * np.sin(amplitude) * sn / dn, rel=0, abs=1e-12)
    assert pendulum.period == pytest.approx(4 * ellipk(pendulum.parameter) / 0.8, rel=1e-14)


def test_the_energy_stays_and_half_a_period_leads_to_the_other_side():
    pendulum = Pendulum(3.0, 2.0)
    t = np.linspace(0, 5.0, 100)
    energy = pendulum.rate_at(t) ** 2 / 2 - 9.0 * np.cos(pendulum.angle_at(t))
    assert energy == pytest.approx(-9.0 * np.cos(2.0), rel=0, abs=1e-13)
    assert float(pendulum.turned_at(pendulum.period / 2)) == pytest.approx(4.0, rel=1e-14)
    assert float(pendulum.turned_at(0.0)) == 0.0


@pytest.mark.parametrize("short", [1e-3, 1e-6, 1e-9, 1e-12])
def test_let_go_next_to_the_top_it_keeps_its_digits_through_the_bottom_against_mpmath(short):
    """sin(a/2) = k cd(t) at 60 digits; the time itself is only known to its last digit."""
    pendulum = Pendulum(1.0, np.pi - short)
    with mpmath.workdps(60):
        k = mpmath.sin(mpmath.mpf(pendulum.amplitude) / 2)
        times = [float(share * mpmath.ellipk(k * k)) for share in (0.3, 0.8, 0.99, 1 - 1e-9, 1.0, 1.1)]
        cn, sn, dn = ([mpmath.ellipfun(name, t, m=k * k) for t in times] for name in ("cn", "sn", "dn"))
        angles = [float(2 * mpmath.asin(k * c / d)) for c, d in zip(cn, dn, strict=True)]
        rates = [float(-mpmath.sin(pendulum.amplitude) * s / d) for s, d in zip(sn, dn, strict=True)]
    assert pendulum.angle_at(times) == pytest.approx(angles, rel=0, abs=5e-14)
    assert pendulum.rate_at(times) == pytest.approx(rates, rel=5e-14, abs=0)


@pytest.mark.parametrize("complement", [0.7, 1e-8, 1e-24])
def test_jacobis_functions_have_all_their_digits_on_both_sides_of_the_quarter_against_mpmath(complement):
    """Of cn and dn too, where they are small."""
    with mpmath.workdps(60):
        m = 1 - mpmath.mpf(complement)
        u = [float(share * mpmath.ellipk(m)) for share in (1e-9, 0.3, 0.5, 0.8, 0.99, 1.3, 1.9)]
        expected = [[float(mpmath.ellipfun(name, x, m=m)) for x in u] for name in ("sn", "cn", "dn")]
    for found, wanted in zip(jacobi_sn_cn_dn(np.array(u), complement), expected, strict=True):
        assert found == pytest.approx(wanted, rel=5e-14, abs=0)


def test_jacobis_functions_on_the_separatrix_go_on_for_ever():
    """tanh and sech, where cosh overflows beyond 710."""
    sn, cn, dn = jacobi_sn_cn_dn(np.array((-1000.0, -2.0, 0.0, 2.0, 1000.0)), 0.0)
    assert sn == pytest.approx(np.tanh((-1000.0, -2.0, 0.0, 2.0, 1000.0)), rel=1e-15, abs=0)
    assert cn == pytest.approx((0.0, 1 / np.cosh(2.0), 1.0, 1 / np.cosh(2.0), 0.0), rel=1e-15, abs=0)
    assert cn.tolist() == dn.tolist()


def test_the_period_of_a_small_swing_approaches_two_pi_over_w0_with_the_square_of_the_angle():
    excess = [Pendulum(1.0, a).period / (2 * np.pi) - 1 for a in (0.2, 0.1, 0.05)]
    assert np.log2(np.array(excess[:-1]) / excess[1:]) == pytest.approx(2.0, abs=0.01)
    assert excess[-1] == pytest.approx(0.05**2 / 16, rel=1e-3)


@pytest.mark.parametrize("amplitude", [0.0, np.pi, -1.0, 4.0])
def test_an_amplitude_that_does_not_swing_gets_a_sentence(amplitude):
    with pytest.raises(InputError, match="more than 0 and less than pi"):
        Pendulum(1.0, amplitude)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (([1.0, 2.0], 1.0), "small_rate must be one number"),
        ((1.0, [1.0]), "amplitude must be one number"),
        (("1", 1.0), "small_rate must be a number"),
        ((0.0, 1.0), "small_rate must be greater than 0 rad/s"),
    ],
)
def test_what_is_no_pendulum_gets_a_sentence(values, words):
    with pytest.raises(InputError, match=words):
        Pendulum(*values)


def test_times_of_uneven_rows_get_a_sentence():
    with pytest.raises(InputError, match="t must be a number"):
        Pendulum(1.0, 1.0).angle_at([[1.0, 2.0], [3.0]])
