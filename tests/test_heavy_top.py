"""Lagrange's top in closed form, judged by mpmath, by SciPy's DOP853, by a 40-digit answer, and by simple tops."""

from dataclasses import replace
from math import cos, inf, pi, radians, sin, sqrt

import mpmath
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipk

import polhode as ph
from polhode.equations.quaternions import from_angles
from polhode.errors import InputError
from polhode.gallery.tools import angle_between
from polhode.reference.third_kind import Phases, over_falling, over_growing

HeavyTop = ph.reference.HeavyTop
DISC = {"moment": 1.202, "axial_moment": 0.4, "weight_times_height": 1.0}
TOPS = {
    "released": HeavyTop(**DISC, theta=radians(60), spin=10.0),
    "pushed": HeavyTop(**DISC, theta=1.3, spin=-4.0, precession=1.7, theta_rate=0.9),
    "coming up": HeavyTop(0.7, 1.1, 2.3, theta=2.5, spin=3.0, precession=-0.8, theta_rate=-1.5),
    "almost steady": HeavyTop(**DISC, theta=1.0, spin=9.0, precession=0.292, theta_rate=1e-6),
    "near the vertical": HeavyTop(**DISC, theta=radians(20), spin=3.0, precession=0.519835, theta_rate=-1.0),
    "through the vertical": HeavyTop(
        **DISC, theta=radians(20), spin=3.0, precession=1.2 / 1.202 / (1 + cos(radians(20))), theta_rate=-1.0
    ),
    "close to the bottom": HeavyTop(**DISC, theta=1.0, spin=0.0, precession=1e-4),
    "from the vertical": HeavyTop(**DISC, theta=0.0, spin=3.0, theta_rate=0.5),
    "from below": HeavyTop(**DISC, theta=pi, spin=3.0, theta_rate=-2.0),
}


def rate(top):
    """q' = q (0, w)/2 and Euler's equations about the pivot, in body axes."""
    across, along, weight = top.moment, top.axial_moment, top.weight_times_height

    def slope(_, y):
        a, b, c, d, w1, w2, w3 = y
        size = a * a + b * b + c * c + d * d
        k1, k2 = 2 * (b * d - a * c) / size, 2 * (c * d + a * b) / size
        return [
            (-b * w1 - c * w2 - d * w3) / 2,
            (a * w1 - d * w2 + c * w3) / 2,
            (d * w1 + a * w2 - b * w3) / 2,
            (-c * w1 + b * w2 + a * w3) / 2,
            (weight * k2 + (across - along) * w2 * w3) / across,
            (-weight * k1 - (across - along) * w1 * w3) / across,
            0 * w3,
        ]

    return slope


def start(top):
    return [*from_angles((0.0, top.theta, 0.0)), top.theta_rate, top.precession * sin(top.theta), top.spin]


@pytest.mark.parametrize("name", TOPS)
def test_attitude_against_dop853(name):
    top = TOPS[name]
    times = np.linspace(0.0, 9.0, 7)
    q = solve_ivp(rate(top), (0, 9.0), start(top), "DOP853", times, rtol=1e-12, atol=1e-13).y[:4].T
    q /= np.linalg.norm(q, axis=1)[:, None]
    assert angle_between(top.quaternion_at(times), q).max() < 3e-11


@pytest.mark.parametrize("name", ["released", "pushed", "coming up"])
def test_attitude_against_a_taylor_series_of_30_digits(name):
    top = TOPS[name]
    with mpmath.workdps(30):
        y = mpmath.odefun(rate(top), 0, [mpmath.mpf(x) for x in start(top)], tol=mpmath.mpf(10) ** -24)(1)
        q = np.array([float(x) for x in y[:4]])
    assert angle_between(top.quaternion_at(1.0), q / np.linalg.norm(q)) < 3e-15


@pytest.mark.parametrize("name", ["released", "pushed", "coming up", "almost steady", "near the vertical"])
def test_period_and_precession_against_mpmath_quadrature(name):
    """Roots by mpmath's polyroots, period and phi by its tanh-sinh rule, both at 30 digits."""
    top = TOPS[name]
    with mpmath.workdps(30):
        m = mpmath.mpf
        u0, p, r = mpmath.cos(m(top.theta)), m(top.precession), m(top.theta_rate)
        a = m(top.axial_moment) * m(top.spin) / m(top.moment)
        beta = 2 * m(top.weight_times_height) / m(top.moment)
        b = p * (1 - u0**2) + a * u0
        alpha = r**2 + p**2 * (1 - u0**2) + beta * u0
        cubic = [beta, -(alpha + a * a), 2 * a * b - beta, alpha - b * b]
        u1, u2, u3 = sorted(mpmath.re(x) for x in mpmath.polyroots(cubic, 400, extraprec=200))
        middle, swing = (u1 + u2) / 2, (u2 - u1) / 2

        def over(f):  # u = middle - swing cos(x) takes the square roots at both ends away
            def integrand(x):
                u = middle - swing * mpmath.cos(x)
                return f(u) / mpmath.sqrt(beta * (u3 - u))

            parts = mpmath.linspace(0, mpmath.pi, 3) + [mpmath.pi - m(10) ** -k for k in range(1, 5)]
            return 2 * mpmath.quad(integrand, sorted(parts))

        period = over(lambda u: 1)
        mean = over(lambda u: (b - a * u) / (1 - u * u)) / period
        expected = [float(x) for x in (u1 - u0, u2 - u0, u3 - u0, period, mean)]
    scale = 1e-14 if name != "almost steady" else 3e-9  # the nutation of 1e-6 hangs on the last digits of the start
    assert top.roots[:2] == pytest.approx(expected[:2], rel=scale, abs=3e-16)
    assert top.roots[2] == pytest.approx(expected[2], rel=1e-14, abs=0)
    assert top.period == pytest.approx(expected[3], rel=1e-13, abs=0)
    assert top.mean_precession == pytest.approx(expected[4], rel=1e-12, abs=0)


@pytest.mark.parametrize("near", [1e-15, 1e-4, 0.3])
def test_integrals_of_the_third_kind_against_mpmath(near):
    """Over two half periods and a rest, with one end close to 0."""
    m, halves, phi = 0.7, 2.0, 0.9
    state = Phases(np.array(halves), np.sin(phi), np.cos(phi), np.sqrt(1 - m * np.sin(phi) ** 2))
    with mpmath.workdps(30):
        angle = mpmath.asin(mpmath.mpf(float(state.sn))) + mpmath.pi * halves
        falling = mpmath.ellippi(1 - mpmath.mpf(near), angle, mpmath.mpf(m))
        growing = mpmath.ellippi(-1 / mpmath.mpf(near), angle, mpmath.mpf(m)) / mpmath.mpf(near)
    assert over_falling(state, 1 - m, 1.0, near) == pytest.approx(float(falling), rel=3e-15, abs=0)
    assert over_growing(state, 1 - m, near, 1.0, 1 / m) == pytest.approx(float(growing), rel=3e-15, abs=0)


def test_fast_top_against_the_40_digit_answer():
    top = HeavyTop(5.0, 1.0, 20.0, theta=0.05, spin=50.0)
    problem = ph.reference.problem("simo_wong_heavy_top")
    assert problem.error_of(quaternion_wxyz=top.quaternion_at(10.0)).attitude < 3e-13


def test_theta_near_the_vertical_keeps_its_digits():
    """A fast top struck on the vertical: theta = theta'/nu |sin(nu t)|, nu^2 = a^2/4 - M g l/Is, for a small theta'."""
    top = HeavyTop(**DISC, theta=0.0, spin=30.0, theta_rate=1e-7)
    nu = sqrt((0.4 * 30 / 1.202) ** 2 / 4 - 1 / 1.202)
    times = np.linspace(0.0, 3.0, 50)
    assert top.theta_at(times) == pytest.approx(np.abs(1e-7 / nu * np.sin(nu * times)), rel=0, abs=1e-14)


def test_without_spin_it_is_a_pendulum():
    """Released at 1 rad it swings through the lowest point: half the period of a pendulum, 2 K(cos^2(1/2))/w0."""
    top = HeavyTop(**DISC, theta=1.0, spin=0.0)
    assert top.period == pytest.approx(2 * ellipk(cos(0.5) ** 2) * sqrt(1.202), rel=1e-14, abs=0)
    assert top.turning_angles == pytest.approx((1.0, pi), rel=1e-14, abs=0)
    assert top.axis_at(np.array((0.7, 3.1)))[:, 0] == pytest.approx((0.0, 0.0), abs=1e-15)  # it stays in its plane
    assert top.axis_at(top.period)[1] == pytest.approx(sin(1.0), rel=1e-14, abs=0)  # on the other side
    around = HeavyTop(**DISC, theta=1.0, spin=0.0, theta_rate=3.0)
    assert around.turning_angles == (0.0, pi)


def test_sleeping_top():
    """Upright it stays; fast enough it only trembles, at the rate of small nutations; slower it is unstable."""
    fast, slow = (HeavyTop(**DISC, theta=0.0, spin=spin) for spin in (10.0, 3.0))
    for top in (fast, slow):
        assert top.is_steady
        assert top.theta_at(np.array((0.0, 5.0))).tolist() == [0.0, 0.0]
        turned = [np.cos(top.spin), 0.0, 0.0, np.sin(top.spin)]  # by half of spin times 2 s
        assert angle_between(top.quaternion_at(2.0), np.array(turned)) < 1e-14
    nu = sqrt((0.4 * 10 / 1.202) ** 2 - 4 / 1.202)
    assert fast.period == pytest.approx(2 * pi / nu, rel=1e-14, abs=0)
    assert slow.period == inf


def test_started_at_either_steady_rate_it_does_not_nod():
    top = TOPS["released"]
    for precession in top.steady_rates:
        steady = replace(top, precession=precession)
        low, high = steady.turning_angles
        assert high - low < 1e-15
        assert steady.mean_precession == pytest.approx(precession, rel=1e-14, abs=0)
    assert top.steady_rates == pytest.approx((0.2601702, 6.3954038), abs=5e-8)
    assert top.horizontal_reaction(top.steady_rates[1], 1.0) == pytest.approx(35.42147, abs=5e-6)


def test_slow_steady_rate_of_a_very_fast_top_has_all_its_digits():
    slow, fast = replace(TOPS["released"], spin=1e9).steady_rates
    assert slow == pytest.approx(1 / (0.4 * 1e9), rel=1e-15, abs=0)
    assert fast == pytest.approx(0.4 * 1e9 / (1.202 * cos(radians(60))), rel=1e-15, abs=0)


def test_steady_rates_at_and_below_the_horizontal():
    level, below = (replace(TOPS["released"], theta=theta, spin=2.0) for theta in (pi / 2, 2.0))
    assert level.steady_rates[0] == pytest.approx(1 / 0.8, rel=1e-12, abs=0)
    assert below.least_spin == 0.0
    for p in below.steady_rates:
        assert 1.202 * cos(2.0) * p * p - 0.8 * p + 1.0 == pytest.approx(0.0, abs=1e-14)
    hanging = replace(below, spin=0.0)  # a conical pendulum, either way round
    assert hanging.steady_rates == pytest.approx((sqrt(1 / (1.202 * -cos(2.0))), -sqrt(1 / (1.202 * -cos(2.0)))))


def test_released_theta_is_the_largest_turning_angle():
    for spin in (0.0, 0.5, 10.0, 1e4):
        top = replace(TOPS["released"], spin=spin)
        assert top.released_theta == pytest.approx(top.turning_angles[1], rel=1e-14, abs=0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"moment": 0.0}, "moment must be greater than 0 kg m2"),
        ({"theta": 4.0}, "no angle from the vertical"),
        ({"theta": 0.0, "theta_rate": -1.0}, "give theta_rate that sign"),
        ({"spin": float("nan")}, "spin must be finite"),
    ],
)
def test_impossible_tops_get_a_sentence(change, words):
    with pytest.raises(InputError, match=words):
        replace(TOPS["released"], **change)


def test_too_slow_for_steady_precession_gets_a_sentence():
    with pytest.raises(InputError, match=r"at least 3\.876209 rad/s"):
        _ = replace(TOPS["released"], spin=3.8).steady_rates
