"""Lagrange's top in closed form, against mpmath, by SciPy's DOP853, by a 40-digit answer, and by simple tops."""

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
from polhode.reference.cubic_roots import roots_about_zero
from polhode.reference.elliptic_third_kind import JacobiPhases, third_kind_difference, third_kind_integral
from polhode.rotations import angle_between

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


class MpmathTop:
    """The same top by mpmath: roots by polyroots, integrals by the tanh-sinh rule, in the precision at work."""

    def __init__(self, top):
        m = mpmath.mpf
        self.u0, p, r = mpmath.cos(m(top.theta)), m(top.precession), m(top.theta_rate)
        self.a = m(top.axial_moment) * m(top.spin) / m(top.moment)
        self.beta = 2 * m(top.weight_times_height) / m(top.moment)
        self.b = p * (1 - self.u0**2) + self.a * self.u0
        alpha = r**2 + p**2 * (1 - self.u0**2) + self.beta * self.u0
        cubic = [self.beta, -(alpha + self.a**2), 2 * self.a * self.b - self.beta, alpha - self.b**2]
        self.roots = sorted(mpmath.re(x) for x in mpmath.polyroots(cubic, 400, extraprec=200))
        self.middle, self.swing = (self.roots[0] + self.roots[1]) / 2, (self.roots[1] - self.roots[0]) / 2

    def over(self, f, parts):  # u = middle - swing cos(x) takes the square roots at both ends away
        def integrand(x):
            u = self.middle - self.swing * mpmath.cos(x)
            return f(u) / mpmath.sqrt(self.beta * (self.roots[2] - u))

        return mpmath.quad(integrand, parts)

    def time(self, parts):
        return self.over(lambda u: 1, parts)

    def phi(self, parts):
        return self.over(lambda u: (self.b - self.a * u) / (1 - u * u), parts)


@pytest.mark.parametrize("name", ["released", "pushed", "coming up", "almost steady", "near the vertical"])
def test_period_and_precession_against_mpmath_quadrature(name):
    """At 30 digits."""
    top = TOPS[name]
    with mpmath.workdps(30):
        exact = MpmathTop(top)
        close = [mpmath.pi - mpmath.mpf(10) ** -k for k in range(1, 5)]
        parts = sorted(mpmath.linspace(0, mpmath.pi, 3) + close)
        period = 2 * exact.time(parts)
        mean = 2 * exact.phi(parts) / period
        expected = [float(x) for x in (*(u - exact.u0 for u in exact.roots), period, mean)]
    scale = 1e-14 if name != "almost steady" else 3e-9  # the nutation of 1e-6 hangs on the last digits of the start
    assert top.roots[:2] == pytest.approx(expected[:2], rel=scale, abs=3e-16)
    assert top.roots[2] == pytest.approx(expected[2], rel=1e-14, abs=0)
    assert top.period == pytest.approx(expected[3], rel=1e-13, abs=0)
    assert top.mean_precession == pytest.approx(expected[4], rel=1e-12, abs=0)


@pytest.mark.parametrize("spin", [1e3, 1e4, 1e6, 1e9])
def test_slow_precession_of_a_fast_top_against_mpmath_quadrature(spin):
    """Let go: phi' is the small rest of two large terms.  From u2 down, and up again to two thirds of the way in x."""
    top = HeavyTop(1.2, 0.4, 1.0, theta=1.0, spin=spin)
    with mpmath.workdps(50):
        exact = MpmathTop(top)
        down, up = [0, mpmath.pi / 2, mpmath.pi], [0, mpmath.pi / 3, 2 * mpmath.pi / 3]
        t, phi = exact.time(down) + exact.time(up), exact.phi(down) + exact.phi(up)
        mean = float(exact.phi(down) / exact.time(down))
        low, high = (float(mpmath.acos(u)) for u in exact.roots[1::-1])
    assert top.angles_at(float(t))[0] == pytest.approx(float(phi), rel=3e-15, abs=0)
    assert top.mean_precession == pytest.approx(mean, rel=2e-15, abs=0)
    assert top.turning_angles == pytest.approx((low, high), rel=1e-15, abs=0)
    assert top.mean_precession == pytest.approx(top.steady_rates[0], rel=20 / spin**2 + 1e-15, abs=0)


@pytest.mark.parametrize("weight", [1e-4, 1e-8, 1e-12])
def test_phi_under_a_tiny_weight_against_mpmath_quadrature(weight):
    """From the start down to u1, and up again to u2: about the time and the turn of one nutation."""
    top = HeavyTop(1.2, 0.4, weight, theta=1.0, spin=5.0, precession=1.0, theta_rate=0.3)
    with mpmath.workdps(50):
        exact = MpmathTop(top)
        start = mpmath.acos((exact.middle - exact.u0) / exact.swing)
        down, up = [0, start / 2, start], [0, mpmath.pi / 2, mpmath.pi]
        t, phi = exact.time(down) + exact.time(up), exact.phi(down) + exact.phi(up)
    assert top.angles_at(float(t))[0] == pytest.approx(float(phi), rel=0, abs=5e-15)
    assert top.period == pytest.approx(float(2 * exact.time(up)), rel=1e-15, abs=0)


@pytest.mark.parametrize("near", [1e-15, 1e-4, 0.3])
def test_integrals_of_the_third_kind_against_mpmath(near):
    """Over two half periods and a rest, with one end close to 0."""
    m, halves, phi = 0.7, 2.0, 0.9
    state = JacobiPhases(np.array(halves), np.sin(phi), np.cos(phi), np.sqrt(1 - m * np.sin(phi) ** 2))
    with mpmath.workdps(30):
        angle = mpmath.asin(mpmath.mpf(float(state.sn))) + mpmath.pi * halves
        first = mpmath.ellipf(angle, mpmath.mpf(m))
        falling = mpmath.ellippi(1 - mpmath.mpf(near), angle, mpmath.mpf(m)) - first
        growing = mpmath.ellippi(-1 / mpmath.mpf(near), angle, mpmath.mpf(m)) / mpmath.mpf(near)
        less = (growing - first / mpmath.mpf(near)) * mpmath.mpf(near) ** 2
    assert third_kind_difference(state, 1 - m, 1.0, near - 1, near) == pytest.approx(float(falling), rel=3e-15, abs=0)
    assert third_kind_difference(state, 1 - m, near, 1.0, near + 1) * near**2 == pytest.approx(
        float(less), rel=3e-15, abs=0
    )
    assert third_kind_integral(state, 1 - m, near, 1.0, 1 / m) == pytest.approx(float(growing), rel=3e-15, abs=0)


@pytest.mark.parametrize("small", [1e-12, 1e-28, 1e-100])
def test_a_tiny_root_beside_large_ones_keeps_its_digits_against_mpmath(small):
    cubic = (small, 3.1e-4, -1.6e-4, 4e-28)
    with mpmath.workdps(160):
        expected = sorted(
            float(mpmath.re(x)) for x in mpmath.polyroots([mpmath.mpf(c) for c in cubic[::-1]], 4000, extraprec=900)
        )
    assert roots_about_zero(cubic, -0.1) == pytest.approx(expected, rel=1e-14, abs=0)


def test_fast_top_against_the_40_digit_answer():
    top = HeavyTop(5.0, 1.0, 20.0, theta=0.05, spin=50.0)
    problem = ph.reference.problem("simo_wong_heavy_top")
    assert problem.error_of(quaternion_wxyz=top.quaternion_at(10.0)).attitude < 3e-14


def test_theta_near_the_vertical_keeps_its_digits():
    """A fast top struck on the vertical: theta = theta'/nu |sin(nu t)|, nu^2 = a^2/4 - M g l/Is, for a small theta'."""
    top = HeavyTop(**DISC, theta=0.0, spin=30.0, theta_rate=1e-7)
    nu = sqrt((0.4 * 30 / 1.202) ** 2 / 4 - 1 / 1.202)
    times = np.linspace(0.0, 3.0, 50)
    assert top.theta_at(times) == pytest.approx(np.abs(1e-7 / nu * np.sin(nu * times)), rel=0, abs=1e-14)


@pytest.mark.parametrize("theta", [1e-8, 1e-11])
def test_a_slow_top_let_go_next_to_the_vertical_falls_as_the_linear_equation_says(theta):
    """x'' = i a x' + (M g l/Is) x for the axis x + i y, by mpmath: good to theta^2."""
    top = HeavyTop(1.2, 0.4, 1.0, theta=theta, spin=1.0)
    times = np.array((0.1, 1.0, 2.0, 5.0))
    with mpmath.workdps(30):
        a, held = mpmath.mpf(0.4) / mpmath.mpf(1.2), 1 / mpmath.mpf(1.2)
        root = mpmath.sqrt(4 * held - a * a)
        one, two = (1j * a + root) / 2, (1j * a - root) / 2
        share = [(one * mpmath.exp(two * t) - two * mpmath.exp(one * t)) / (one - two) for t in times.tolist()]
        expected = [theta * float(abs(x)) for x in share]
    assert top.theta_at(times) == pytest.approx(expected, rel=1e-13, abs=0)


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
    assert fast.turning_angles == slow.turning_angles == (0.0, 0.0)


def test_sleeping_top_at_the_critical_spin():
    """w3 = 2 sqrt(Is M g l)/I3: all three roots meet at the vertical."""
    top = HeavyTop(1.0, 1.0, 1.0, theta=0.0, spin=2.0)
    assert top.least_spin == top.spin
    assert top.period == inf
    assert top.turning_angles == (0.0, 0.0)
    assert top.angles_at(3.0) == pytest.approx((3.0, 0.0, 3.0), rel=1e-15)


def test_top_that_comes_up_to_the_vertical_for_ever():
    """Without spin a pendulum on its separatrix, from the bottom: tan(theta/4) = exp(-t)."""
    top = HeavyTop(1.0, 1.0, 1.0, theta=pi, spin=0.0, theta_rate=-2.0)
    assert top.period == inf
    assert top.mean_precession == 0.0
    times = np.array((0.0, 1.0, 3.0, 2000.0))
    assert top.theta_at(times) == pytest.approx(4 * np.arctan(np.exp(-times)), rel=0, abs=2e-15)


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
    assert level.steady_rates[1] == inf
    assert replace(level, spin=-2.0).steady_rates[1] == -inf
    assert level.least_spin == 0.0
    with pytest.raises(InputError, match="give a nonzero spin"):
        _ = replace(level, spin=0.0).steady_rates
    assert below.least_spin == 0.0
    for p in below.steady_rates:
        assert 1.202 * cos(2.0) * p * p - 0.8 * p + 1.0 == pytest.approx(0.0, abs=1e-14)
    hanging = replace(below, spin=0.0)  # a conical pendulum, either way round
    assert hanging.steady_rates == pytest.approx((sqrt(1 / (1.202 * -cos(2.0))), -sqrt(1 / (1.202 * -cos(2.0)))))


def test_released_theta_is_the_largest_turning_angle():
    for spin in (0.0, 0.5, 10.0, 1e4):
        top = replace(TOPS["released"], spin=spin)
        assert top.released_theta == pytest.approx(top.turning_angles[1], rel=1e-14, abs=0)


@pytest.mark.parametrize("theta", [1e-9, 1e-5, 1e-3, 2.0, pi - 1e-7, pi])
@pytest.mark.parametrize("spin", [0.5, 5.0, 5.478, 10.0])
def test_released_theta_next_to_the_vertical_has_all_its_digits(theta, spin):
    """By the formula with acos, at 50 digits; the closest number to pi stands for pi."""
    top = HeavyTop(1.2, 0.4, 1.0, theta=theta, spin=spin)
    with mpmath.workdps(50):
        b = (mpmath.mpf(0.4) * spin) ** 2 / (4 * mpmath.mpf(1.2))
        u0 = mpmath.cos(theta if theta < pi else mpmath.pi)
        expected = float(mpmath.re(mpmath.acos(b - mpmath.sqrt(b * b - 2 * b * u0 + 1))))
    assert top.released_theta == pytest.approx(expected, rel=1e-14 if spin != 5.478 else 1e-12, abs=0)
    assert top.turning_angles[1] == pytest.approx(expected, rel=1e-14 if spin != 5.478 else 1e-12, abs=0)


def test_a_top_of_any_size_is_the_same_top():
    """Moments and weight together by one factor change nothing; weight and the squares of all rates change the time."""
    top = TOPS["pushed"]
    for size in (1e-200, 1e200):
        large = replace(top, moment=1.202 * size, axial_moment=0.4 * size, weight_times_height=size)
        assert large.angles_at(2.0) == pytest.approx(top.angles_at(2.0), rel=1e-13)
        assert large.least_spin == pytest.approx(top.least_spin, rel=1e-14, abs=0)
    slow = HeavyTop(1e-200, 1e-200, 1.0, theta=1.0, spin=1.0)
    assert slow.period == pytest.approx(1e-100 * HeavyTop(1.0, 1.0, 1.0, 1.0, 1e-100).period, rel=1e-14, abs=0)
    for rate in (1e-100, 1e100):
        quick = replace(top, weight_times_height=rate**2, spin=-4 * rate, precession=1.7 * rate, theta_rate=0.9 * rate)
        assert quick.angles_at(2.0 / rate) == pytest.approx(top.angles_at(2.0), rel=1e-13)
        assert quick.period * rate == pytest.approx(top.period, rel=1e-13, abs=0)
        assert np.array(replace(quick, spin=7 * rate).steady_rates) / rate == pytest.approx(
            replace(top, spin=7.0).steady_rates, rel=1e-13, abs=0
        )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"moment": 0.0}, "moment must be greater than 0 kg m2"),
        ({"theta": 4.0}, "not an angle from the vertical"),
        ({"theta": 0.0, "theta_rate": -1.0}, "change the sign of theta_rate"),
        ({"spin": float("nan")}, "spin must be finite"),
        ({"spin": [1.0, 2.0]}, "spin must be one number"),
        ({"spin": 1e200}, "negligible beside spin"),
        ({"theta": 1e-90}, "too close to rest on the upper vertical"),
        ({"theta": 0.0, "theta_rate": 1e-90, "spin": 1.0}, "too close to rest on the upper vertical"),
        ({"moment": 1e-300, "axial_moment": 1e300, "spin": 1e10}, "exceed double precision"),
    ],
)
def test_impossible_tops_get_a_sentence(change, words):
    with pytest.raises(InputError, match=words):
        replace(TOPS["released"], **change)


@pytest.mark.parametrize("method", ["theta_at", "cosine_at", "angles_at", "quaternion_at", "axis_at"])
@pytest.mark.parametrize("name", ["released", "asleep"])
def test_times_that_are_no_numbers_get_a_sentence(method, name):
    top = TOPS["released"] if name == "released" else replace(TOPS["released"], theta=0.0)
    for wrong in ("x", [[1.0, 2.0], [3.0]], inf):
        with pytest.raises(InputError, match="t must be"):
            getattr(top, method)(wrong)


def test_too_slow_for_steady_precession_gets_a_sentence():
    with pytest.raises(InputError, match=r"at least 3\.876209 rad/s"):
        _ = replace(TOPS["released"], spin=3.8).steady_rates
