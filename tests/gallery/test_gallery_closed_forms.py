"""Closed forms behind the gallery's frames and bodies, each against an independent reference."""

from __future__ import annotations

from math import pi

import mpmath
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.errors import InputError
from polhode.gallery.closed_forms.libration import Libration
from polhode.gallery.closed_forms.runge_kutta_rotation import amplification_factor, phase_error, rk4_norm_loss
from polhode.gallery.closed_forms.solid_of_revolution import Slice, integrate_revolution
from polhode.gallery.closed_forms.tilted_box_on_axle import TiltedBox
from polhode.gallery.closed_forms.turning_platform import PlatformThrow


@pytest.mark.parametrize("order", [2, 4])
def test_factor_of_a_step_against_forty_digits(order):
    with mpmath.workdps(40):
        z = mpmath.mpc(0, mpmath.mpf(0.3))
        exact = mpmath.fsum(z**k / mpmath.factorial(k) for k in range(order + 1))
        too_far = mpmath.arg(exact) - mpmath.mpf(0.3)
        lost = 1 - abs(exact) ** 2000
    assert complex(amplification_factor(0.3, order)) == pytest.approx(complex(exact), rel=1e-15)
    assert float(phase_error(0.3, order)) == pytest.approx(float(too_far), abs=1e-16)
    if order == 4:
        assert float(rk4_norm_loss(0.3, 1000)) == pytest.approx(float(lost), rel=1e-12)


@pytest.mark.parametrize("order", [1, 2, 3, 4, 8])
def test_too_large_a_turn_keeps_its_digits_against_forty_digits(order):
    """At steps from very small to so large that the series' last term rules."""
    angles = [1e-4, -1e-4, 1e-3, 0.3, 2.0, order + 0.99, order + 1.01, 12.0]
    expected = []
    with mpmath.workdps(80):
        for angle in angles:
            z = mpmath.mpc(0, mpmath.mpf(angle))
            step = mpmath.fsum(z**k / mpmath.factorial(k) for k in range(order + 1))
            expected.append(float(mpmath.arg(step * mpmath.exp(-z))))
    assert phase_error(angles, order) == pytest.approx(expected, rel=3e-14, abs=0)
    assert phase_error([[0.0, 0.1]], order).shape == (1, 2)


def test_too_large_a_turn_falls_with_the_methods_order():
    for order in (2, 4):
        a, b = (float(phase_error(angle, order)) for angle in (0.02, 0.01))
        assert np.log2(a / b) == pytest.approx(order + 1, abs=0.01)


def test_platform_throws_acceleration_against_second_differences_with_an_error_of_order_2():
    throw, times, errors = PlatformThrow(2.0, 10.0, 1.3, 9.80665), np.array((0.2, 0.9, 1.7)), []
    for h in (0.02, 0.01):
        ahead, here, back = (throw.on_platform_at(times + by) for by in (h, 0.0, -h))
        errors.append(np.abs((ahead - 2 * here + back) / h**2 - throw.platform_acceleration_at(times)).max())
    assert errors[1] < 1e-3
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.01)


def test_platform_throw_against_scipys_rotations():
    throw = PlatformThrow(1.5, 7.0, -0.8, 9.81)
    times = np.linspace(0, throw.duration, 9)
    ground = np.stack((np.full(9, 1.5), -0.8 * 1.5 * times, 7 * times - 9.81 * times**2 / 2), axis=-1)
    turned_back = Rotation.from_rotvec(np.outer(0.8 * times, (0, 0, 1))).apply(ground)
    assert throw.on_platform_at(times) == pytest.approx(turned_back, abs=1e-14)
    assert throw.on_ground_at(throw.duration)[2] == pytest.approx(0, abs=1e-14)


def test_tilted_box_against_scipys_rotations():
    box = TiltedBox((0.3, 0.5, 0.2), 4.0, 0.7, -2.0)
    times = np.linspace(0, 3, 7)
    body = np.diag(ph.shapes.box((0.3, 0.5, 0.2), mass=4.0).principal_moments)
    turns = Rotation.from_rotvec(np.outer(-2.0 * times, (0, 0, 1))) * Rotation.from_rotvec((0.7, 0, 0))
    tensors = turns.as_matrix() @ body @ turns.inv().as_matrix()
    assert box.inertia_at(times) == pytest.approx(tensors, abs=1e-15)
    momenta = tensors @ (0, 0, -2.0)
    torques = turns.inv().apply(np.cross((0, 0, -2.0), momenta))
    assert torques == pytest.approx(np.tile((box.torque, 0, 0), (7, 1)), abs=1e-15)
    assert np.linalg.norm(momenta, axis=1) == pytest.approx(np.full(7, box.angular_momentum), rel=1e-14)


def test_solids_of_revolution_against_the_shapes():
    shapes = (
        (ph.shapes.cylinder(0.4, 1.2, density=3.0), Slice(-0.6, 0.6, lambda z: np.full_like(z, 0.16), 3.0)),
        (ph.shapes.sphere(0.7, density=2.0), Slice(-0.7, 0.7, lambda z: 0.49 - z * z, 2.0)),
        (ph.shapes.cone(0.5, 2.0, density=1.0), Slice(0.0, 2.0, lambda z: (0.5 - z / 4) ** 2, 1.0)),
    )
    for body, piece in shapes:
        found = integrate_revolution([piece])
        assert found.mass == pytest.approx(body.mass, rel=1e-14)
        assert (found.transverse, found.transverse, found.axial) == pytest.approx(body.principal_moments, rel=1e-14)
    two = integrate_revolution([Slice(0.0, 1.0, np.ones_like, 1.0), Slice(1.0, 2.0, np.ones_like, 3.0)])
    assert (two.mass, two.center) == pytest.approx((4 * pi, 1.25), rel=1e-15)


@pytest.mark.parametrize("amplitude", [0.01, 0.6, 1.5])
def test_libration_against_scipy(amplitude):
    swing = Libration((3.0, 3.5, 1.0), 0.7, amplitude)
    stiffness = 3 * 0.7**2 * (3.0 - 1.0) / 3.5

    def rates(t, y):
        return y[1], -stiffness * np.sin(2 * y[0]) / 2

    times = np.linspace(0, swing.period, 9)
    solution = solve_ivp(rates, (0, swing.period), (amplitude, 0), "DOP853", t_eval=times, rtol=1e-12, atol=1e-14)
    assert swing.pitch_at(times) == pytest.approx(solution.y[0], abs=1e-9)


def test_a_satellite_that_lies_down_gets_a_sentence():
    with pytest.raises(InputError, match="long axis vertically"):
        Libration((1.0, 3.5, 3.0), 0.7, 0.1)


NAN = float("nan")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: TiltedBox((1, 2, 3), 1.0, "a", 1.0), "tilt must be a number"),
        (lambda: TiltedBox((1, 2, 3), 1.0, NAN, 1.0), "tilt must be finite"),
        (lambda: TiltedBox((1, 2, 3), 1.0, 0.1, [1.0, 2.0]), "rate must be one number"),
        (lambda: TiltedBox((1, -2, 3), 1.0, 0.1, 1.0), "sides must be greater than 0 m"),
        (lambda: TiltedBox([(1, 2, 3)], 1.0, 0.1, 1.0), r"sides must be 3 numbers, .*: give one body at a time"),
        (lambda: TiltedBox((1, 2, 3), [1.0, 2.0], 0.1, 1.0), "mass must be one number"),
        (lambda: PlatformThrow(NAN, 1.0, 1.0, 1.0), "radius must be finite"),
        (lambda: PlatformThrow(1.0, 1.0, "1", 1.0), "rate must be a number"),
        (lambda: PlatformThrow(1.0, [1.0, 2.0], 1.0, 1.0), "speed must be one number"),
        (lambda: PlatformThrow(1.0, 1.0, 1.0, 0.0), "g must be greater than 0 m/s2"),
        (lambda: Libration((1, -1, 0.2), 1.0, 0.1), "moments must be greater than 0 kg m2"),
        (lambda: Libration([(1, 1, 0.2)], 1.0, 0.1), "moments must be 3 numbers"),
        (lambda: Libration((1, 1, 0.2), "a", 0.1), "orbital_rate must be a number"),
        (lambda: Libration((1, 1, 0.2), -1.0, 0.1), "orbital_rate must be greater than 0 rad/s"),
        (lambda: Libration((1, 1, 0.2), 1.0, 2.0), "amplitude is 2 rad"),
        (lambda: integrate_revolution([]), "at least one slice"),
        (lambda: integrate_revolution(3), "at least one slice"),
        (lambda: integrate_revolution([Slice(1.0, 1.0, np.ones_like, 1.0)]), "from 1 to 1 m is empty"),
        (lambda: integrate_revolution([Slice(0.0, 1.0, np.ones_like, 0.0)]), "density must be greater than 0"),
        (lambda: integrate_revolution([Slice(0.0, 1.0, lambda z: z - 0.5, 1.0)]), "squared_radius must be 0 or more"),
        (lambda: amplification_factor(0.1, 2.5), "order must be an integer from 1 to 100, not 2.5"),
        (lambda: amplification_factor(0.1, True), "order must be an integer"),
        (lambda: phase_error(0.1, 0), "order must be an integer"),
        (lambda: rk4_norm_loss(0.1, "a"), "steps must be a number"),
    ],
)
def test_what_no_closed_form_holds_for_gets_a_sentence(make, words):
    with pytest.raises(InputError, match=words):
        make()
