"""The matrix that the formulation "momentum_matrix" computes, as it is: no rotation any more."""

import numpy as np
import pytest

import polhode as ph
from polhode.errors import InputError
from polhode.gallery.measurements import lever_arms

TILTED = ph.Body(mass=2.0, inertia=np.array(((2.0, 0.3, 0.1), (0.3, 1.6, -0.2), (0.1, -0.2, 1.2))))
START = ph.State(quaternion_wxyz=(0.5, 0.5, -0.5, 0.5), angular_velocity_body=(0.4, -0.7, 1.1))


def run(bodies=TILTED, states=START, **settings):
    settings = {"formulation": "momentum_matrix", "method": "rk4", "step": 0.25, "duration": 5.0} | settings
    return ph.simulate(bodies, states, **settings)


def test_it_starts_as_the_rotation_of_the_body():
    """Reference: the quaternion given; the body's axes are not its principal ones."""
    motion = run()
    assert motion.matrix_as_computed.shape == (len(motion.times), 3, 3)
    assert motion.matrix_as_computed[0] == pytest.approx(START.orientation.as_matrix(), abs=1e-15)


def test_it_departs_from_a_rotation_by_the_drift():
    """Reference: `attitude_drift`, along principal axes, in which the largest entry is meant."""
    motion = run()
    moments, axes = np.linalg.eigh(TILTED.inertia_body)
    assert moments[0] > 0
    R = motion.matrix_as_computed
    off = np.abs(axes.T @ (R.transpose(0, 2, 1) @ R - np.eye(3)) @ axes).max(axis=(1, 2))
    assert off[-1] > 1e-6
    assert off[1:] == pytest.approx(motion.attitude_drift[1:], rel=1e-9, abs=1e-14)
    assert motion.rotation_matrix == pytest.approx(R, abs=3 * float(off[-1]))


def test_a_system_has_one_for_each_body():
    motion = run([TILTED, ph.shapes.box((1, 2, 3), mass=1.0)], [START, ph.State(angular_velocity_body=(0, 1, 0.1))])
    assert motion.matrix_as_computed.shape == (len(motion.times), 2, 3, 3)
    assert motion.matrix_as_computed[:, 0] == pytest.approx(run().matrix_as_computed, abs=1e-14)


def test_other_formulations_have_none():
    with pytest.raises(InputError, match="'momentum' keeps no matrix: simulate with formulation='momentum_matrix'"):
        _ = run(formulation="momentum").matrix_as_computed


def test_arms_turn_with_the_body():
    """Reference: R r, from the quaternion by SciPy."""
    motion = run(formulation="momentum")
    expected = [ph.State(quaternion_wxyz=q).orientation.apply((1.0, 2.0, 3.0)) for q in motion.quaternion_wxyz]
    assert lever_arms(motion, (1.0, 2.0, 3.0)) == pytest.approx(np.array(expected), abs=1e-9)
