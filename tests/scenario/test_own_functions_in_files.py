"""Functions of the user by dotted name: files, scripts and sweeps say everything; archives and pages import nothing."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest

import polhode as ph
from own_functions_for_files import at_height, attraction, bounce, lift, motor
from polhode.errors import PolhodeError, ScenarioError
from polhode.results.stored_scenario import restore_scenario
from polhode.scenario.scenario_file import scenario_arguments

BODY = ph.Body(mass=2.0, inertia=(1.0, 2.0, 2.5))


def scenario():
    return ph.Scenario(
        BODY,
        ph.State(position=(0, 0, 1.0), velocity=(0, 0, 3.0), angular_velocity_body=(0.1, 0.2, 0.3)),
        [ph.forces.gravity(), lift(2.5)],
        duration=2.0,
        events=[at_height(0.5, direction=-1, change=bounce), ph.events.apex(action="record")],
        rotors=[ph.rotor((0, 0, 1), 0.01, torque=motor, params=(0.2,))],
    )


def test_a_file_and_a_script_give_the_same_motion_to_the_bit(tmp_path):
    given = scenario()
    given.to_toml(tmp_path / "toml")
    read = ph.Scenario.from_toml(tmp_path / "toml")
    made: dict = {}
    exec(given.as_python().split("motion = ")[0], made)
    first = ph.simulate(given)
    assert len(first.crossings) > 2
    for other in (read, made["scenario"]):
        motion = ph.simulate(other)
        assert motion.position.tobytes() == first.position.tobytes()
        assert motion.rotor_speed.tobytes() == first.rotor_speed.tobytes()
        assert [(c.name, c.time) for c in motion.crossings] == [(c.name, c.time) for c in first.crossings]


def test_a_force_between_bodies_names_them(tmp_path):
    states = [ph.State(), ph.State(position=(1, 0, 0))]
    given = ph.Scenario([BODY, BODY], states, [attraction(0, 1, 0.5), lift(1.0).on(1)], duration=1.0)
    given.to_toml(tmp_path / "pair.toml")
    read = ph.Scenario.from_toml(tmp_path / "pair.toml")
    assert read.as_toml() == given.as_toml()
    made: dict = {}
    exec(given.as_python().split("motion = ")[0], made)
    assert made["scenario"].as_toml() == given.as_toml()
    assert ph.simulate(read).position.tobytes() == ph.simulate(given).position.tobytes()


def test_a_module_beside_the_file_is_found_after_all_others(tmp_path, monkeypatch):
    (tmp_path / "beside_the_file.py").write_text(
        "import colorsys\nimport polhode as ph\n@ph.force\ndef push(t, state, body, params):\n"
        "    return (params[0], 0.0, 0.0), (0.0,) * 3\n"
    )
    (tmp_path / "colorsys.py").write_text("raise RuntimeError('hides a module of Python')\n")
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    (tmp_path / "push.toml").write_text(
        "duration = 2.0\n[body]\nparticle = true\nmass = 1.0\n[[forces]]\nfunction = 'beside_the_file.push'\n"
        "params = [3.0]\n"
    )
    path = list(sys.path)
    motion = ph.simulate(ph.Scenario.from_toml(tmp_path / "push.toml"))
    assert sys.path == path
    assert motion.final.position[0] == pytest.approx(6.0, abs=1e-9)


def test_a_sweep_draws_parameters_of_own_functions(tmp_path):
    (tmp_path / "sweep.toml").write_text(
        "duration = 2.0\n[body]\nparticle = true\nmass = 1.0\n[[forces]]\nfunction = 'own_functions_for_files.lift'\n"
        "params = [{ uniform = [1.0, 2.0] }]\n[sweep]\nmembers = 4\n"
    )
    source = ph.DrawnSource.from_toml(tmp_path / "sweep.toml")
    drawn = source.inputs(np.arange(4))["forces.0.params.0"]
    motion = ph.ensemble(source.take(np.arange(4)))
    assert motion.final.position[:, 2] == pytest.approx(2 * drawn, abs=1e-9)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ("[[forces]]\nfunction = 'no_such_module.lift'", "cannot be imported: ModuleNotFoundError"),
        ("[[forces]]\nfunction = 'own_functions_for_files.lifts'", "has no 'lifts'"),
        ("[[forces]]\nfunction = 'own_functions_for_files.not_decorated'", "@ph.force"),
        ("[[forces]]\nfunction = 'own_functions_for_files.at_height'", "@ph.force"),
        ("[[forces]]\nfunction = 'lift'", "module and name"),
        ("[[forces]]\nfunction = 'own_functions_for_files.lift'\nparam = [1.0]", "param"),
        ("[[forces]]\nfunction = 'own_functions_for_files.attraction'", "between"),
        ("[[events]]\nfunction = 'own_functions_for_files.bounce'", "@ph.event"),
        ("[[events]]\nfunction = 'own_functions_for_files.at_height'\nparams = 3", "params"),
        ("[[events]]\nkind = 'landings'", "landing"),
        ("[[events]]\nkind = 'landing'\nhight = 1.0", "height"),
        ("[[rotors]]\naxis = [0, 0, 1]\ninertia = 0.01\ntorque = 'own_functions_for_files.__name__'", "not a function"),
    ],
)
def test_what_cannot_be_imported_or_is_not_decorated_is_a_sentence(table, sentence, tmp_path):
    (tmp_path / "one.toml").write_text(f"duration = 1.0\n[body]\nmass = 1.0\ninertia = [1, 1, 1]\n{table}\n")
    with pytest.raises(PolhodeError, match=sentence):
        ph.Scenario.from_toml(tmp_path / "one.toml")


def test_a_function_that_no_module_has_at_its_top_cannot_be_written():
    @ph.event
    def local(t, state, body, params):
        return state.position[2]

    given = ph.Scenario(BODY, duration=1.0, events=[local()])
    for write in (given.as_toml, given.as_python):
        with pytest.raises(ScenarioError, match="top of a module"):
            write()


@pytest.mark.parametrize(
    "table",
    [
        {"forces": [{"function": "never_imported.push"}]},
        {"events": [{"function": "never_imported.push"}]},
        {"events": [{"kind": "landing", "change": "never_imported.push"}]},
        {"rotors": [{"axis": [0, 0, 1], "inertia": 0.01, "torque": "never_imported.push"}]},
    ],
)
def test_what_an_archive_or_a_page_sends_is_never_imported(table, tmp_path, monkeypatch):
    (tmp_path / "never_imported.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    content = {"duration": 1.0, "body": {"mass": 1.0, "inertia": [1, 1, 1]}, **table}
    with pytest.raises(ScenarioError, match="nothing that an archive holds or a page sends runs"):
        scenario_arguments(content)
    with pytest.raises(ScenarioError, match="nothing that an archive holds"):
        restore_scenario({"scenario": content, "appearance": [None]}, 0)
    assert "never_imported" not in sys.modules


def test_an_archive_names_no_function(tmp_path):
    motion = ph.simulate(scenario())
    motion.save(tmp_path / "run.zarr")
    loaded = ph.load(tmp_path / "run.zarr")
    assert loaded.position.tobytes() == motion.position.tobytes()
    assert not loaded.scenario.own_functions
    texts = [p.read_text(errors="replace") for p in (tmp_path / "run.zarr").rglob("*.json")]
    assert not any("own_functions_for_files" in text for text in texts)


def test_a_run_is_resumed_with_ready_made_events(tmp_path):
    given = scenario()
    motion = ph.simulate(given, store=tmp_path / "run.zarr")
    again = ph.simulate(given, store=tmp_path / "run.zarr", resume=True)
    assert again.position.tobytes() == motion.position.tobytes()


def test_a_scenario_is_the_same_after_it_was_sent_to_another_process():
    wheel, start = ph.rotor((0, 0, 1), 0.01, torque=((0.0, 1.0), (0.1, 0.2))), ph.State(velocity=(0, 0, 3.0))
    events = [ph.events.apex(action="record")]
    given = ph.Scenario(BODY, start, [ph.forces.gravity()], duration=2.0, events=events, rotors=[wheel])
    _ = given.parts, given.problem  # what is worked out is sent, too
    sent = pickle.loads(pickle.dumps(given))
    assert sent.as_toml() == given.as_toml()
    assert sent.parts == given.parts
