"""Closed forms behind the gallery's frames and bodies, each against another judge."""

from __future__ import annotations

from math import pi

import mpmath
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.errors import InputError
from polhode.reference.axle import TiltedBox
from polhode.reference.libration import Libration
from polhode.reference.revolution import Slice, turned
from polhode.reference.steady_turn import factor, rk4_shrinkage, turned_too_far
from polhode.reference.turning_platform import PlatformThrow


@pytest.mark.parametrize("order", [2, 4])
def test_factor_of_a_step_against_forty_digits(order):
    with mpmath.workdps(40):
        z = mpmath.mpc(0, mpmath.mpf(0.3))
        exact = mpmath.fsum(z**k / mpmath.factorial(k) for k in range(order + 1))
        too_far = mpmath.arg(exact) - mpmath.mpf(0.3)
        lost = 1 - abs(exact) ** 2000
    assert complex(factor(0.3, order)) == pytest.approx(complex(exact), rel=1e-15)
    assert float(turned_too_far(0.3, order)) == pytest.approx(float(too_far), abs=1e-16)
    if order == 4:
        assert float(rk4_shrinkage(0.3, 1000)) == pytest.approx(float(lost), rel=1e-12)


def test_too_large_a_turn_falls_with_the_methods_order():
    for order in (2, 4):
        a, b = (float(turned_too_far(angle, order)) for angle in (0.02, 0.01))
        assert np.log2(a / b) == pytest.approx(order + 1, abs=0.01)


def test_platform_throw_against_scipys_rotations():
    throw = PlatformThrow(1.5, 7.0, -0.8, 9.81)
    times = np.linspace(0, throw.duration, 9)
    ground = np.stack((np.full(9, 1.5), -0.8 * 1.5 * times, 7 * times - 9.81 * times**2 / 2), axis=-1)
    turned_back = Rotation.from_rotvec(np.outer(0.8 * times, (0, 0, 1))).apply(ground)
    assert throw.seen_at(times) == pytest.approx(turned_back, abs=1e-14)
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
        found = turned([piece])
        assert found.mass == pytest.approx(body.mass, rel=1e-14)
        assert (found.transverse, found.transverse, found.axial) == pytest.approx(body.principal_moments, rel=1e-14)
    two = turned([Slice(0.0, 1.0, np.ones_like, 1.0), Slice(1.0, 2.0, np.ones_like, 3.0)])
    assert (two.mass, two.center) == pytest.approx((4 * pi, 1.25), rel=1e-15)


@pytest.mark.parametrize("amplitude", [0.01, 0.6, 1.5])
def test_libration_against_scipy(amplitude):
    swing = Libration((3.0, 3.5, 1.0), 0.7, amplitude)
    stiffness = 3 * 0.7**2 * (3.0 - 1.0) / 3.5

    def rates(t, y):
        return y[1], -stiffness * np.sin(2 * y[0]) / 2

    times = np.linspace(0, swing.period, 9)
    judge = solve_ivp(rates, (0, swing.period), (amplitude, 0), "DOP853", t_eval=times, rtol=1e-12, atol=1e-14)
    assert swing.pitch_at(times) == pytest.approx(judge.y[0], abs=1e-9)
    assert swing.pitch_rate_at(times) == pytest.approx(judge.y[1], abs=1e-9)


def test_a_satellite_that_lies_down_gets_a_sentence():
    with pytest.raises(InputError, match="long axis upright"):
        Libration((1.0, 3.5, 3.0), 0.7, 0.1)
