"""Measurements of the models against functions with known answers."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from polhode.gallery.independent_rk4 import euler_equations, quaternion_rate, renormalize, rk4_step
from polhode.gallery.measurements import initial_rate


def test_the_rate_at_the_start_of_a_sine_with_an_error_of_order_10():
    """Five outputs of an odd function leave an error of h^10: the derivative of sin at 0 is 1."""
    errors = []
    for h in (0.4, 0.2):
        times = h * np.arange(8)
        errors.append(abs(float(initial_rate(times, np.sin(times))) - 1))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(10, abs=0.3)


def test_the_rate_at_the_start_of_several_components_at_once():
    times = 0.01 * np.arange(6)
    values = np.stack((np.sin(times), np.tan(2 * times), 0 * times), axis=1)
    assert initial_rate(times, values) == pytest.approx((1, 2, 0), rel=1e-13, abs=1e-13)


def test_the_second_route_is_that_of_scipy_and_of_the_vectors():
    """q' against SciPy's rotation by a small turn, Euler's equations against I w' = torque - w x I w."""
    q, w = np.array((0.5, -0.1, 0.7, 0.5)), np.array((0.3, -2.0, 1.1))
    moments, torque = np.array((2.0, 3.0, 4.5)), np.array((0.4, -0.7, 0.2))
    by, turn = 1e-5, Rotation.from_quat(q, scalar_first=True)
    ahead, back = (
        np.linalg.norm(q) * (turn * Rotation.from_rotvec(h * w)).as_quat(scalar_first=True) for h in (by, -by)
    )
    assert quaternion_rate(q, w) == pytest.approx((ahead - back) / (2 * by), rel=1e-8)
    assert moments * euler_equations(moments, w, torque) == pytest.approx(torque - np.cross(w, moments * w), rel=1e-14)
    assert moments * euler_equations(moments, w) == pytest.approx(-np.cross(w, moments * w), rel=1e-14)


def test_the_second_routes_steps_have_order_4():
    errors = []
    for n in (8, 16):
        y = (1.0,)
        for _ in range(n):
            y = rk4_step(lambda y: (-y[0],), y, 1 / n)
        errors.append(abs(y[0] - np.exp(-1)))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4, abs=0.1)
    assert renormalize((0.0, 3.0, 0.0, 4.0, 7.0)) == pytest.approx((0.0, 0.6, 0.0, 0.8, 7.0), rel=1e-15)
