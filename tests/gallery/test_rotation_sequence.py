"""Successive rotations by impulses against SciPy's products of rotations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.gallery.rotation_sequence import impulse_couple, isotropic_prism, prism_corners, sequence_scenario

SEQUENCE = (((1.0, 0.0, 0.0), 0.7), ((0.6, 0.0, 0.8), -2.0), ((0.0, 1.0, 0.0), 1.1))

BESIDE = (0.3, -0.5, 0.8)
"""Not parallel to any change of the spin."""


@pytest.mark.parametrize("corners", [3, 4, 6, 11])
def test_an_even_prism_has_three_equal_moments(corners):
    prism = isotropic_prism(corners, 0.5, 2.0)
    assert np.ptp(prism.principal_moments) <= 1e-15
    assert np.sort(prism.mesh().vertices - prism.center_of_mass, axis=0) == pytest.approx(
        np.sort(prism_corners(corners, 0.5), axis=0), abs=1e-15
    )


@pytest.mark.parametrize("axes", ["world", "body"])
def test_turns_against_scipy(axes):
    motion = ph.simulate(sequence_scenario(isotropic_prism(5, 0.4, 3.0), SEQUENCE, axes, BESIDE, "turns"))
    each = [Rotation.from_rotvec(angle * np.array(axis)) for axis, angle in SEQUENCE]
    whole = each[2] * each[1] * each[0] if axes == "world" else each[0] * each[1] * each[2]
    assert (whole.inv() * motion.final.orientation).magnitude() <= 1e-13
    assert np.abs(motion.position).max() <= 1e-15


def test_a_couple_gives_an_angular_impulse_and_no_impulse():
    wanted = (0.3, -0.2, 0.5)
    body = isotropic_prism(4, 0.5, 2.0)
    scenario = ph.Scenario(
        body, ph.State(), impulse_couple(wanted, 0.5, 0.2, BESIDE), duration=1.0, step=0.01, method="rk4"
    )
    final = ph.simulate(scenario).final
    assert body.principal_moments[0] * final.angular_velocity_body == pytest.approx(wanted, abs=1e-15)
    assert final.velocity == pytest.approx(np.zeros(3), abs=1e-16)
    assert impulse_couple((0.0, 0.0, 0.0), 0.5, 0.2, BESIDE) == []
