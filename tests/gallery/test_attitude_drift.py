"""Drift of a matrix against that of a quaternion, its numbers and its picture.  [Baraff 1997, section 4]"""

import numpy as np
import pytest

import polhode as ph
from polhode.gallery import MODELS

TURN, STEPS = 0.1, 10_000


def rotation(formulation, renormalize=True):
    """A spin about a fixed axis, 0.1 rad per step, ten thousand RK4 steps."""
    body = ph.Body(mass=1.0, inertia=(1.0, 1.0, 1.0))
    return ph.simulate(
        body,
        ph.State(angular_velocity_body=(0.0, 0.0, 1.0)),
        duration=TURN * STEPS,
        step=TURN,
        method="rk4",
        formulation=formulation,
        renormalize=renormalize,
        output_step=TURN * 100,
    )


def shrinkage(p):
    """By how much RK4 shortens a number that turns by p per step, squared, in N steps: 1 - (1 - p^6/72 + p^8/576)^N."""
    return -np.expm1(STEPS * np.log1p(-(p**6) / 72 + p**8 / 576))


def test_the_matrix_drifts_as_rk4_s_stability_polynomial_says():
    motion = rotation("momentum_matrix")
    assert shrinkage(TURN) == pytest.approx(1.387057e-4, rel=1e-6)
    assert motion.attitude_drift[-1] == pytest.approx(shrinkage(TURN), rel=1e-9)
    assert motion.audit()["orthogonality of R"].departure == pytest.approx(shrinkage(TURN), rel=1e-9)


def test_the_quaternion_drifts_sixty_times_less_when_never_rescaled():
    motion = rotation("momentum", renormalize=False)
    squared = np.linalg.norm(motion.quaternion_wxyz[-1]) ** 2
    assert shrinkage(TURN / 2) == pytest.approx(2.169458e-6, rel=1e-6)
    assert 1 - squared == pytest.approx(shrinkage(TURN / 2), rel=1e-8)
    assert shrinkage(TURN) / shrinkage(TURN / 2) > 60


def test_the_rescaled_quaternion_does_not_drift_and_the_audit_tells_what_was_found():
    motion = rotation("momentum")
    assert np.abs(np.linalg.norm(motion.quaternion_wxyz, axis=-1) - 1).max() < 1e-15
    found = motion.audit()["length of q"]
    in_one_step = -np.expm1(np.log1p(-((TURN / 2) ** 6) / 72 + (TURN / 2) ** 8 / 576) / 2)
    assert found.departure == pytest.approx(in_one_step, abs=1e-15)


def test_the_picture_shows_the_three_drifts():
    model = MODELS["drift"]
    values = model.values(turn=TURN, steps=STEPS)
    figure = model.picture(model.run(**values), **values)
    (axes,) = [axes for axes in figure.axes if axes.get_title(loc="left") == "drift over time"]
    assert axes.get_yscale() == "log"
    assert "s" in axes.get_xlabel()
    names = ("matrix", "quaternion, not renormalized", "quaternion, renormalized")
    ends = {line.get_label(): line.get_ydata()[-1] for line in axes.lines if len(line.get_ydata())}
    matrix, quaternion, renormalized = (ends[name] for name in names)
    assert matrix > 50 * quaternion > 50 * renormalized
