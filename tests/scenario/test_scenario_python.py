"""Scenarios as Python scripts and as TOML: what is read back has the same bits."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.errors import PolhodeError
from polhode.gallery import MODELS
from polhode.lab_server.texts import model_as_text

WITH_FUNCTIONS = {"attitude-control", "eulers-disk"}
"""Models with forces or torques that are functions."""


def scenario_of(script):
    made = {}
    exec(compile(script.split("\nmotion = ")[0], "script", "exec"), made)
    return made["scenario"]


def content(scenario):
    """All numbers, as text: -0.0 and 0.0 differ."""
    return repr(scenario.as_mapping(with_parts=True))


def runs_of(name):
    made = MODELS[name].scenario(**MODELS[name].values())
    return made if isinstance(made, dict) else {"": made}


@pytest.mark.parametrize("name", sorted(set(MODELS) - WITH_FUNCTIONS))
def test_every_gallery_scenario_is_made_again_to_the_last_bit(name, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for scenario in runs_of(name).values():
            assert content(scenario_of(scenario.as_python())) == content(scenario)
            scenario.to_toml(tmp_path / "scenario.toml")
            assert content(ph.Scenario.from_toml(tmp_path / "scenario.toml")) == content(scenario)


def test_a_script_runs_and_has_the_bits_of_the_motion(tmp_path, capsys):
    scenario = ph.Scenario(
        ph.shapes.box((0.1, 0.4, 0.9), density=300.0),
        ph.State(position=(0, 0, 20), velocity=(4, 0, 6), angular_velocity_body=(0.1, 5.0, 0.1)),
        [ph.forces.gravity(), ph.forces.quadratic_drag(0.2, wind=(-3, 1, 0)), ph.forces.torque((0, 0, 1), stop=1.0)],
        duration=2.0,
        name='a "box"',
    )
    scenario.to_python(tmp_path / "box.py")
    made = {}
    exec(compile((tmp_path / "box.py").read_text(), "box.py", "exec"), made)
    assert "energy" in capsys.readouterr().out
    motion = ph.simulate(scenario)
    for name in ("times", "position", "quaternion_wxyz", "angular_velocity_body"):
        assert np.array_equal(getattr(made["motion"], name), getattr(motion, name))


def test_a_shape_is_written_as_a_shape_if_it_has_the_same_bits():
    box = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0)
    plain, moved = (ph.Scenario(body, duration=1.0) for body in (box, box.move((1, 0, 0))))
    assert "ph.shapes.box(sides=(0.1, 0.4, 0.9), mass=10.0)" in plain.as_python()
    assert 'kind = "box"' in plain.as_toml()
    assert "inertia" not in plain.as_toml()
    assert "ph.Body(" in moved.as_python()
    assert "center_of_mass = [1.0, 0.0, 0.0]" in moved.as_toml()


def test_a_turned_and_joined_body_keeps_its_bits(tmp_path):
    bar, stem = (ph.shapes.cylinder(0.007, height, density=7850.0) for height in (0.11, 0.055))
    turned = stem.turn(Rotation.from_euler("xyz", (0.3, -1.0, 2.0))).move((0, 0.0345, 0))
    scenario = ph.Scenario(bar.join(turned), ph.State(angular_velocity_body=(0, 1, 2)), duration=1.0)
    assert content(scenario_of(scenario.as_python())) == content(scenario)
    scenario.to_toml(tmp_path / "t.toml")
    read = ph.Scenario.from_toml(tmp_path / "t.toml")
    assert content(read) == content(scenario)
    assert np.array_equal(read.bodies[0].principal_axes.as_quat(), scenario.bodies[0].principal_axes.as_quat())


def test_functions_of_ones_own_are_refused_with_a_sentence():
    @ph.force
    def lift(t, state, body, params):
        return (0.0, 0.0, 1.0), (0.0, 0.0, 0.0)

    with pytest.raises(PolhodeError, match="lift is your own function"):
        ph.Scenario(ph.particle(1.0), forces=[lift()], duration=1.0).as_python()


def test_a_gallery_model_with_functions_is_run_by_its_name():
    model = MODELS["eulers-disk"]
    text = model_as_text("python", model, model.values(), "rough floor")
    assert 'MODELS["eulers-disk"](' in text
    assert '["rough floor"]' in text
    compile(text, "script", "exec")
    with pytest.raises(PolhodeError, match="your own function"):
        model_as_text("toml", model, model.values(), "rough floor")


# Parts and turns in files ---------------------------------------------------------------------------------------------
def read(tmp_path, text):
    (tmp_path / "s.toml").write_text(f"duration = 1.0\n[body]\n{text}\n")
    return ph.Scenario.from_toml(tmp_path / "s.toml")


def test_a_placed_shape_against_turn_and_move(tmp_path):
    shape = "kind = 'box', sides = [0.1, 0.4, 0.9], mass = 2.0"
    place = "position = [1, 2, 3], rotation = { axis = [0, 0, 1], angle_deg = 90 }"
    found = read(tmp_path, f"shape = {{ {shape}, {place} }}").bodies[0]
    by_hand = ph.shapes.box((0.4, 0.1, 0.9), mass=2.0)
    assert found.center_of_mass.tolist() == [1.0, 2.0, 3.0]
    assert found.inertia_body == pytest.approx(by_hand.inertia_body, rel=1e-12, abs=1e-15)
    same = read(tmp_path, f"shape = {{ {shape}, position = [1, 2, 3], quaternion_wxyz = [1, 0, 0, 1] }}").bodies[0]
    assert same.inertia_body == pytest.approx(found.inertia_body, rel=1e-12, abs=1e-15)


def test_an_orientation_by_axis_and_angle_against_scipy(tmp_path):
    body = "mass = 1.0\ninertia = [1, 2, 2.5]\n"
    turns = "[{ axis = [0, 0, 2], angle_deg = 40 }, { axis = [1, 0, 0], angle = 0.5 }]"
    found = read(tmp_path, f"{body}rotation = {turns}").states[0].quaternion_wxyz
    expected = Rotation.from_euler("x", 0.5) * Rotation.from_euler("z", 40, degrees=True)
    assert Rotation.from_quat(np.roll(found, -1)).approx_equal(expected, atol=1e-15)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("parts = []", "must be a list of tables"),
        ("parts = [{ is_hole = true, shape = { kind = 'sphere', radius = 1, mass = 1 } }]", "all parts .* are holes"),
        ("parts = [{}]", "needs one of shape, mesh, volume_mesh and particle"),
        ("parts = [{ shape = { kind = 'sphere', radius = 1 } }]", "mass|density"),
        ("parts = [{ shape = { kind = 'sphere', radius = 1, mass = 1 }, linear = 3 }]", "geometry without mass"),
        ("parts = [{ shape = { kind = 'sphere', radius = 1, mass = 1 }, color = 3 }]", "no key 'color'"),
        ("parts = [{ particle = { position = [0, 0, 1] } }]", "needs its mass"),
        ("mass = 1\nparts = [{ particle = { mass = 1 } }]", "takes its mass from its parts"),
        ("shape = { kind = 'sphere', radius = 1, mass = 1, rotation = 3 }", "an axis and an angle"),
        ("shape = { kind = 'sphere', radius = 1, mass = 1, rotation = { axis = [1, 0, 0] } }", "one angle"),
        ("shape = { kind = 'sphere', radius = 1, mass = 1, quaternion_wxyz = [0, 0, 0, 0] }", "must not be zero"),
        ("mass = 1\nparticle = true\nrotation = []", "empty list"),
        (
            "mass = 1\ninertia = [1, 1, 1]\nrotation = { axis = [1, 0, 0], angle = 1 }\nquaternion_wxyz = [1, 0, 0, 0]",
            "give one of them",
        ),
        (
            "mass = 1\ninertia = [1, 1, 1]\nparts = [{ shape = { kind = 'sphere', radius = 1, mass = 1 } }]",
            "the mass is the body's",
        ),
        (
            "mass = 1\ninertia = [1, 1, 1]\nparts = [{ shape = { kind = 'sphere', radius = 1, position = [1, 0] } }]",
            "linear and offset",
        ),
    ],
)
def test_wrong_parts_and_turns_are_refused(tmp_path, text, sentence):
    with pytest.raises(PolhodeError, match=sentence):
        read(tmp_path, text)
