"""Pictures are drawn for every kind of motion, with labels that carry units."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import polhode as ph
from polhode.errors import InputError
from polhode.plot import COLORS, overview
from polhode.plot.projection import make_camera

BODY = ph.Body(mass=10.0, inertia=(0.81, 0.68, 0.14))
SPIN = ph.State(angular_velocity_body=(0.1, 5.0, 0.1))
SETTINGS = {"duration": 1.0, "step": 0.01, "method": "rk4"}
UNITS = {"rad/s", "m", "m/s", "J", "kg m²/s", "relative drift"}


def titles(figure):
    return [axes.get_title(loc="left") for axes in figure.axes]


def check(figure, tmp_path):
    figure.savefig(tmp_path / "picture.svg")
    text = (tmp_path / "picture.svg").read_text()
    assert "<svg" in text
    for axes in figure.axes:
        if axes.axison:
            labels = axes.get_ylabel(), axes.get_xlabel()
            assert labels[0] in UNITS or "rad/s" in labels[0], labels
            assert labels[1] in ("time (s)",) or labels[1].startswith("member") or "rad/s" in labels[1], labels
    return text


def test_free_body(tmp_path):
    figure = overview(ph.simulate(BODY, SPIN, **SETTINGS))
    check(figure, tmp_path)
    assert titles(figure)[0] == "angular velocity, body axes"
    assert titles(figure)[1] == "polhode: angular velocity in the body (rad/s)"
    assert titles(figure)[2:] == ["energy", "drift of conserved quantities"]
    assert figure.axes[3].get_yscale() == "log"


def test_motion_plot_is_the_overview():
    assert titles(ph.simulate(BODY, SPIN, **SETTINGS).plot()) == titles(overview(ph.simulate(BODY, SPIN, **SETTINGS)))


def test_body_that_moves_under_torque_and_drag(tmp_path):
    forces = [ph.forces.gravity(), ph.forces.quadratic_drag(0.1), ph.forces.rotational_drag(0.5)]
    figure = overview(ph.simulate(BODY, SPIN.replace(velocity=(3, 0, 4)), forces, name="thrown box", **SETTINGS))
    text = check(figure, tmp_path)
    assert len(figure.axes) == 6
    assert "thrown box" in text
    assert "path of ω in the body" in titles(figure)


def test_body_given_by_a_tensor_shows_its_principal_axes(tmp_path):
    body = ph.Body(mass=1.0, inertia=[[2.0, 0.3, 0.1], [0.3, 3.0, 0.2], [0.1, 0.2, 4.0]])
    figure = overview(ph.simulate(body, ph.State(angular_velocity_body=(1, 0.3, 1)), **SETTINGS))
    check(figure, tmp_path)
    assert "principal axes" in titles(figure)[1]


@pytest.mark.parametrize("moments", [(2, 2, 3), (2, 2, 2)])
def test_symmetric_bodies(moments, tmp_path):
    check(overview(ph.simulate(ph.Body(1.0, moments), SPIN, **SETTINGS)), tmp_path)


def test_particle_has_no_rotation_to_show(tmp_path):
    figure = overview(ph.simulate(ph.particle(2.0), ph.State(velocity=(1, 0, 2)), [ph.forces.gravity()], **SETTINGS))
    check(figure, tmp_path)
    assert titles(figure) == ["position", "velocity", "energy", "drift of conserved quantities"]


def test_body_at_rest(tmp_path):
    check(overview(ph.simulate(BODY, **SETTINGS)), tmp_path)


def test_system_of_many_bodies_says_how_many_are_drawn(tmp_path):
    bodies = [ph.particle(1.0 + i) for i in range(15)]
    states = [ph.State(position=(i, 0, 0), velocity=(0, i, 0), angular_velocity_body=(0, 0, 0)) for i in range(15)]
    text = check(overview(ph.simulate(bodies, states, [ph.forces.mutual_gravity(1.0)], **SETTINGS)), tmp_path)
    assert "12 of 15 bodies" in text


def test_ensemble_over_time_and_at_its_end(tmp_path):
    start = ph.State(angular_velocity_body=np.random.default_rng(0).normal(size=(30, 3)), velocity=(1, 0, 0))
    over_time = overview(ph.ensemble(BODY, start, output_step=0.1, **SETTINGS))
    assert "30 members: median, middle 50 % and 90 %" in check(over_time, tmp_path)
    at_the_end = overview(ph.ensemble(BODY, start, **SETTINGS))
    assert "30 members" in check(at_the_end, tmp_path)
    assert at_the_end.axes[0].get_xlabel() == "member, at t = 1 s"


def test_no_output_is_rejected():
    motion = ph.simulate(BODY, SPIN, **SETTINGS)
    motion.run_result.times, motion.run_result.samples = motion.times[:0], motion.run_result.samples[:0]
    with pytest.raises(InputError, match="nothing to plot"):
        overview(motion)


def test_camera_is_right_handed_and_square():
    seen = np.stack(make_camera((1, 0.3, 0), (0, 0.2, 1), 0.6, 0.4))
    assert seen @ seen.T == pytest.approx(np.eye(3), abs=1e-15)
    assert np.linalg.det(seen) == pytest.approx(1.0)


def test_things_of_the_same_kind_have_one_color_each():
    named = [COLORS[key] for key in ("axis_1", "axis_2", "axis_3", "omega", "L", "torque")]
    assert len(set(named)) == len(named)


def test_pictures_need_no_pyplot():
    code = "import sys, polhode.plot; assert 'matplotlib.pyplot' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
