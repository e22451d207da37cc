"""Magnetic torquers and pointing, against NumPy and closed forms."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.errors import InputError

BODY = ph.Body(mass=2.0, inertia=(1.0, 2.0, 2.5))


def torque_at(force, state, t=0.0):
    scenario = ph.Scenario(BODY, state, [force], duration=10.0)
    return scenario.derivative(t, state.to_array(BODY))[10:13]


def test_the_torque_of_a_dipole_is_its_cross_product_with_the_field():
    state = ph.State((7e6, 1e6, -2e6), Rotation.from_rotvec((0.3, -0.4, 0.5)))
    dipole = state.orientation.apply((1.0, -2.0, 3.0))
    uniform = ph.forces.magnetic_torquer((1.0, -2.0, 3.0), (1e-5, 2e-5, -3e-5))
    assert np.abs(torque_at(uniform, state) - np.cross(dipole, (1e-5, 2e-5, -3e-5))).max() < 1e-19
    r = np.linalg.norm(state.position)
    north = np.array((0.0, 0.0, -29.4041e-6 * 6371.2e3**3))  # the magnetic moment points south
    n = state.position / r
    field = (3 * (north @ n) * n - north) / r**3
    assert field[2] > 0 or abs(n[2]) > 0.5
    assert (
        np.abs(torque_at(ph.forces.magnetic_torquer((1.0, -2.0, 3.0)), state) - np.cross(dipole, field)).max() < 1e-19
    )


def test_the_field_of_the_earth_points_north_at_the_equator():
    state = ph.State((6371.2e3, 0.0, 0.0))
    assert np.abs(torque_at(ph.forces.magnetic_torquer((1.0, 0.0, 0.0)), state) - (0, -29.4041e-6, 0)).max() < 1e-18


def test_pulses_of_a_torquer_add_up():
    """In a fixed axis: angular momentum is torque times the time that it is on."""
    coil = ph.forces.magnetic_torquer((0.0, 0.0, 1e-3), (1.0, 0.0, 0.0), pulses=[(1.0, 2.0), (3.0, 3.5)])
    ball = ph.Body(mass=1.0, inertia=(1e6, 1e6, 1e6))
    assert abs(ph.simulate(ball, forces=[coil], duration=5.0).angular_momentum[-1, 1] - 1.5e-3) < 1e-13


def test_what_a_torquer_refuses():
    for make, sentence in (
        (lambda: ph.forces.magnetic_torquer((1, 0, 0), "moon"), "field='moon' is unknown"),
        (lambda: ph.forces.magnetic_torquer((1, 0, 0), start=1.0, pulses=[(2, 3)]), "start and stop, or pulses"),
    ):
        with pytest.raises(InputError, match=sentence):
            make()


def test_the_pointing_error_of_many_attitudes():
    turns = Rotation.random(50, rng=4)
    target = np.array((1.0, 2.0, -0.5))
    found = ph.rotations.pointing_error(turns, (0, 3, 0), target)
    cosine = turns.apply((0, 1, 0)) @ target / np.linalg.norm(target)
    assert np.abs(np.cos(found) - cosine).max() < 1e-15
