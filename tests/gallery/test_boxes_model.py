"""The benchmark of the gallery's boxes: 40 digits, Taylor series, the order of RK4; and Toutatis' last digits."""

import math
from itertools import pairwise

import numpy as np
import pytest

import polhode as ph
from polhode.gallery import boxes, toutatis
from polhode.rotations import angle_between

PROBLEM = ph.reference.problem("boxes_complex")


def test_the_model_is_the_published_problem():
    scenario = boxes.scenario(spin=5.0, nudge=0.1, step=1e-3)["exact"]
    assert tuple(scenario.bodies[0].principal_moments) == pytest.approx(PROBLEM.moments, rel=1e-15, abs=0)
    assert scenario.states[0].velocity.tolist() == list(PROBLEM.start.velocity)
    assert scenario.states[0].angular_velocity_body.tolist() == list(PROBLEM.start.angular_velocity_body)
    assert scenario.forces[0].params == ((0.0, 0.0, -9.8),)
    assert scenario.duration == PROBLEM.duration


@pytest.mark.parametrize("method", ["exact", "taylor"])
def test_attitude_at_ten_seconds_against_40_digits(method):
    settings = {"rtol": 1e-15, "formulation": "body_rates"} if method == "taylor" else {}
    motion = ph.simulate(PROBLEM.scenario(method=method, output_step=10.0, **settings))
    assert PROBLEM.error_of(quaternion_wxyz=motion.quaternion_wxyz[-1].tolist()).attitude < 1e-11


def test_plain_rk4_falls_sixteenfold_against_scipy(monkeypatch):
    """The second route's own order: 20, 10 and 5 ms."""
    truth, errors = boxes._attitude_by_scipy(3.0, 0.3), []
    for frames in (500, 1000, 2000):
        monkeypatch.setattr(boxes, "FRAMES", frames)
        errors.append(float(angle_between(boxes._attitude_by_plain_rk4(3.0, 0.3), truth)))
    assert all(3.8 < math.log2(a / b) < 4.2 for a, b in pairwise(errors))


def test_table_of_toutatis_against_its_text():
    seen = toutatis.radar_observations()
    assert len(seen.times) == 18
    assert seen.times[0] == pytest.approx(23 * 86400 + 3 * 3600 + 50 * 60 + 13, abs=0)
    assert seen.rates[-1].tolist() == [-0.4, -36.2, -98.9]
    assert np.linalg.norm(seen.quaternions, axis=1) == pytest.approx(np.ones(18), abs=1e-15)


def test_last_digits_move_the_2008_attitude_by_several_degrees():
    """By hand: each input's half digit alone moves it by up to 5.9 degrees, all together by at most 15.6."""
    values = toutatis.MODEL.values()
    angles = toutatis.perturb_last_digits(**values)
    assert 5.0 < np.abs(angles - 130.97).max() < 15.6
    assert np.median(angles) == pytest.approx(130.97, abs=3.0)
