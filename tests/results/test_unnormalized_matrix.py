"""The matrix that the formulation "momentum_matrix" computes, as it is: no rotation any more."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.gallery.measurements import lever_arms

TILTED = ph.Body(mass=2.0, inertia=np.array(((2.0, 0.3, 0.1), (0.3, 1.6, -0.2), (0.1, -0.2, 1.2))))
START = ph.State(quaternion_wxyz=(0.5, 0.5, -0.5, 0.5), angular_velocity_body=(0.4, -0.7, 1.1))


def run(bodies=TILTED, states=START, **settings):
    settings = {"formulation": "momentum_matrix", "method": "rk4", "step": 0.25, "duration": 5.0} | settings
    return ph.simulate(bodies, states, **settings)


def test_it_starts_as_the_rotation_of_the_body():
    """Reference: the quaternion given; the body's axes are not its principal ones."""
    motion = run()
    assert motion.rotation_matrix.shape == (len(motion.times), 3, 3)
    assert motion.rotation_matrix[0] == pytest.approx(START.orientation.as_matrix(), abs=1e-15)


def test_it_departs_from_a_rotation_by_the_drift():
    """Reference: `attitude_drift`, along principal axes, in which the largest entry is meant."""
    motion = run()
    moments, axes = np.linalg.eigh(TILTED.inertia_body)
    assert moments[0] > 0
    R = motion.rotation_matrix
    off = np.abs(axes.T @ (R.transpose(0, 2, 1) @ R - np.eye(3)) @ axes).max(axis=(1, 2))
    assert off[-1] > 1e-6
    assert off[1:] == pytest.approx(motion.attitude_drift[1:], rel=1e-9, abs=1e-14)
    rotation = motion.orthonormal_rotation_matrix
    assert rotation == pytest.approx(R, abs=3 * float(off[-1]))
    assert np.abs(rotation.transpose(0, 2, 1) @ rotation - np.eye(3)).max() < 1e-15


def test_a_system_has_one_for_each_body():
    motion = run([TILTED, ph.shapes.box((1, 2, 3), mass=1.0)], [START, ph.State(angular_velocity_body=(0, 1, 0.1))])
    assert motion.rotation_matrix.shape == (len(motion.times), 2, 3, 3)
    assert motion.rotation_matrix[:, 0] == pytest.approx(run().rotation_matrix, abs=1e-14)


def test_it_is_what_euler_s_method_makes_of_a_matrix():
    """Reference: R <- R + h w x R by NumPy, with w held as it was at the start of the step, by its own momentum."""
    sphere, h = ph.Body(mass=1.0, inertia=(0.4, 0.4, 0.4)), 0.05
    w = np.array((0.3, -0.8, 0.5))
    motion = ph.simulate(
        sphere, ph.State(angular_velocity=w), method="euler", step=h, duration=1.0, output_step=h,
        formulation="momentum_matrix",
    )  # fmt: skip
    R = np.eye(3)
    for found in motion.rotation_matrix:
        assert found == pytest.approx(R, abs=1e-14)
        R = R + h * np.cross(w, R, axisb=0, axisc=0)
    assert np.linalg.det(motion.rotation_matrix[-1]) > 1.01


def test_other_formulations_turn_by_a_rotation_whatever_the_length_of_their_quaternion():
    """Reference: SciPy, which normalizes."""
    motion = run(formulation="momentum", renormalize=False, method="euler", step=0.05)
    lengths = np.linalg.norm(motion.quaternion_wxyz, axis=-1)
    assert lengths[-1] - 1 == pytest.approx(motion.attitude_drift[-1], rel=1e-9)
    assert lengths[-1] > 1.01
    expected = Rotation.from_quat(motion.quaternion_wxyz, scalar_first=True).as_matrix()
    assert motion.rotation_matrix == pytest.approx(expected, abs=1e-15)
    assert np.array_equal(motion.rotation_matrix, motion.orthonormal_rotation_matrix)


def test_the_dataset_and_reductions_have_what_the_run_carried():
    motion = run()
    assert np.array_equal(motion.dataset["rotation_matrix"].values, motion.rotation_matrix)
    many = ph.State(quaternion_wxyz=np.tile(START.quaternion_wxyz, (9, 1)), angular_velocity_body=(0.4, -0.7, 1.1))
    settings = {"formulation": "momentum_matrix", "method": "rk4", "step": 0.25, "duration": 5.0}
    result = ph.ensemble(TILTED, many, reduce=["mean:rotation_matrix@final"], **settings)
    (mean,) = result.reductions.values()
    assert np.asarray(mean.values["mean"]).reshape(3, 3) == pytest.approx(motion.rotation_matrix[-1], abs=1e-14)


def test_arms_turn_with_the_body():
    """Reference: R r, from the quaternion by SciPy."""
    motion = run(formulation="momentum")
    expected = [ph.State(quaternion_wxyz=q).orientation.apply((1.0, 2.0, 3.0)) for q in motion.quaternion_wxyz]
    assert lever_arms(motion, (1.0, 2.0, 3.0)) == pytest.approx(np.array(expected), abs=1e-9)
