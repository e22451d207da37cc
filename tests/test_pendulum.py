"""The pendulum's closed form against integration, SciPy's elliptic functions, and what stays constant."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk

from polhode.errors import InputError
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


def test_the_period_of_a_small_swing_approaches_two_pi_over_w0_with_the_square_of_the_angle():
    excess = [Pendulum(1.0, a).period / (2 * np.pi) - 1 for a in (0.2, 0.1, 0.05)]
    assert np.log2(np.array(excess[:-1]) / excess[1:]) == pytest.approx(2.0, abs=0.01)
    assert excess[-1] == pytest.approx(0.05**2 / 16, rel=1e-3)


@pytest.mark.parametrize("amplitude", [0.0, np.pi, -1.0, 4.0])
def test_an_amplitude_that_does_not_swing_gets_a_sentence(amplitude):
    with pytest.raises(InputError, match="more than 0 and less than pi"):
        Pendulum(1.0, amplitude)
