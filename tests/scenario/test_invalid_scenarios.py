"""Runs that cannot be made, and files that cannot be read, are refused with a sentence."""

from __future__ import annotations

import shutil
import sys

import numpy as np
import pytest
import xarray

import polhode as ph
from invalid_input import BODY, INF, NAN, START, assert_refused, checked, scenario, two
from polhode.errors import FileError, ForceError, InputError, PolhodeError, ScenarioError, StateError

f = ph.forces
MANY = ph.State(position=np.zeros((4, 3)))
SPINNING = ph.State(angular_velocity_body=(1.0, 2.0, 3.0))

SCENARIOS = {
    "step zero": (lambda: scenario(step=0.0), ScenarioError, "step must be greater than 0", "is 0"),
    "step negative": (lambda: scenario(step=-0.1), ScenarioError, "step must be greater than 0", "-0.1"),
    "step nan": (lambda: scenario(step=NAN), ScenarioError, "step must be finite"),
    "step a text": (lambda: scenario(step="short"), ScenarioError, "step must be a number", "'short'"),
    "step longer than the run": (lambda: scenario(step=2.0), ScenarioError, "step 2 s", "duration 1 s", "shorter"),
    "first step longer than the run": (lambda: scenario(step=2.0, method="dop853"), ScenarioError, "step 2 s"),
    "step lost at the end": (lambda: scenario(step=1e-19), ScenarioError, "at the end, 1 s", "1e-19 s", "longer step"),
    "step lost in a long run": (lambda: scenario(duration=1e17, step=1e-3), ScenarioError, "1e+17 s", "0.001 s"),
    "step missing": (lambda: scenario(step=None), ScenarioError, "'rk4'", "step=...", "dop853"),
    "duration zero": (lambda: scenario(duration=0.0), ScenarioError, "duration must be greater than 0", "is 0"),
    "duration negative": (lambda: scenario(duration=-1.0), ScenarioError, "duration must be greater than 0", "-1"),
    "duration infinite": (lambda: scenario(duration=INF), ScenarioError, "duration must be finite"),
    "duration None": (lambda: scenario(duration=None), ScenarioError, "duration must be a number"),
    "duration missing": (lambda: ph.simulate(BODY, START), ScenarioError, "how long?", "duration=..."),
    "duration missing, ensemble": (lambda: ph.ensemble(BODY, MANY), ScenarioError, "how long?", "duration=..."),
    "output beyond the run": (lambda: scenario(output_times=[0.5, 2.0]), ScenarioError, "0.5 to 2 s", "from 0 to 1 s"),
    "output before the run": (lambda: scenario(output_times=[-1.0]), ScenarioError, "-1", "from 0 to 1 s"),
    "output backwards": (lambda: scenario(output_times=[0.5, 0.4]), ScenarioError, "increase", "0.4 s follows 0.5 s"),
    "output twice": (lambda: scenario(output_times=[0.5, 0.5]), ScenarioError, "increase", "0.5 s follows 0.5 s"),
    "output never": (lambda: scenario(output_times=[]), ScenarioError, "at least one time"),
    "output nan": (lambda: scenario(output_times=[NAN]), ScenarioError, "output_times must be finite"),
    "output in rows": (lambda: scenario(output_times=[[0.1, 0.2]]), ScenarioError, "list", "(1, 2)"),
    "output ragged": (lambda: scenario(output_times=[[0.1], [0.2, 0.3]]), ScenarioError, "output_times must be"),
    "output step zero": (lambda: scenario(output_step=0.0), ScenarioError, "output_step must be greater than 0"),
    "output step too long": (lambda: scenario(output_step=2.0), ScenarioError, "output_step 2 s", "duration 1 s"),
    "outputs beyond memory": (
        lambda: scenario(output_step=1e-12),
        ScenarioError,
        "every 1e-12 s for 1 s",
        "more than 10,000,000 outputs",
        "longer output_step",
    ),
    "outputs of a huge duration": (
        lambda: scenario(duration=1e300, step=1e290, output_step=1e-300),
        ScenarioError,
        "more than 10,000,000 outputs",
    ),
    "output step lost to rounding": (
        lambda: scenario(state=ph.State(time=1e17), duration=1e3, step=100.0, output_step=1.0),
        ScenarioError,
        "output_step of 1 s is lost to rounding",
    ),
    "output said twice": (lambda: scenario(output_step=0.5, output_times=[0.5]), ScenarioError, "both given"),
    "method unknown": (lambda: scenario(method="rk5"), ScenarioError, "'rk5'", "did you mean 'rk45'?", "leapfrog"),
    "method a number": (lambda: scenario(method=4), ScenarioError, "method 4 is unknown", "rk4"),
    "method a list": (lambda: scenario(method=["rk4"]), ScenarioError, "method ['rk4'] is unknown"),
    "formulation unknown": (lambda: scenario(formulation="momenta"), ScenarioError, "did you mean 'momentum'?"),
    "engine unknown": (lambda: scenario(engine="tpu"), ScenarioError, "engine 'tpu'", "cpu, gpu, python"),
    "setting unknown": (
        lambda: ph.simulate(BODY, START, duration=1.0, output_stp=0.1),
        ScenarioError,
        "'output_stp'",
        "did you mean 'output_step'?",
    ),
    "leapfrog with rates": (
        lambda: scenario(method="leapfrog", formulation="body_rates"),
        ScenarioError,
        "leapfrog",
        "'momentum'",
        "'body_rates'",
    ),
    "rtol zero": (lambda: scenario(rtol=0.0), ScenarioError, "rtol must be greater than 0"),
    "rtol of one": (lambda: scenario(rtol=1.0), ScenarioError, "rtol must be at most 0.1", "is 1.0", "relative"),
    "rtol below rounding": (
        lambda: scenario(rtol=1e-30, method="vern9"),
        ScenarioError,
        "finer than numbers of 16 digits",
        "'vern9'",
    ),
    "rtol below rounding, of four": (
        lambda: scenario(rtol=(1e-9, 1e-9, 1e-20, 1e-9), atol=(0, 1, 0, 0), method="dop853"),
        ScenarioError,
        "rtol 1e-20",
    ),
    "rtol of four": (lambda: scenario(rtol=(1e-9, 1e10, 1e-9, 1e-9)), ScenarioError, "rtol must be at most 0.1"),
    "mass too large": (
        lambda: scenario(ph.particle(1e200), forces=[f.linear_drag(1.0)], step=None, method="auto"),
        ScenarioError,
        "mass 1e+200",
        "'dop853'",
        "fixed steps",
    ),
    "mass too small": (
        lambda: scenario(ph.particle(1e-200), forces=[f.linear_drag(1.0)], step=None, method="dop853"),
        ScenarioError,
        "mass 1e-200",
        "1e-140 to 1e+140",
    ),
    "momentum too large": (
        lambda: scenario(state=ph.State(velocity=(0, 1e150, 0)), step=None, method="dop853"),
        ScenarioError,
        "linear momentum 1e+150",
    ),
    "atol negative": (lambda: scenario(atol=-1.0), ScenarioError, "atol must not be negative"),
    "atol of two": (lambda: scenario(atol=[1.0, 2.0]), ScenarioError, "one number, or four", "[1.0, 2.0]"),
    "atol nan": (lambda: scenario(atol=NAN), ScenarioError, "atol must be finite"),
    "largest turn zero": (lambda: scenario(largest_turn=0.0), ScenarioError, "largest_turn must be greater than 0"),
    "renormalize a text": (lambda: scenario(renormalize="no"), ScenarioError, "renormalize", "True or False", "'no'"),
    "name a number": (lambda: scenario(name=7), ScenarioError, "name must be a string", "7"),
    "pivot nan": (lambda: scenario(pivot=(NAN, 0, 0)), ScenarioError, "pivot must be finite"),
    "pivot of two": (lambda: scenario(pivot=(0, 0)), ScenarioError, "pivot must be 3 numbers"),
    "pivot of a moving body": (
        lambda: scenario(state=ph.State(velocity=(1, 0, 0)), pivot=(0, 0, 1)),
        ScenarioError,
        "follows from the angular velocity",
        "leave it at zero",
    ),
    "pivot of a system": (lambda: two(pivot=(0, 0, 1)), ScenarioError, "one body", "not in a list"),
    "derivative with a pivot": (lambda: scenario(pivot=(0, 0, 1)).derivative(0.0, np.zeros(13)), ScenarioError, "free"),
    "body a number": (lambda: scenario(body=5), ScenarioError, "5 is not a ph.Body", "list"),
    "no body": (lambda: scenario(body=[], state=[]), ScenarioError, "at least one body"),
    "state a number": (lambda: scenario(state=5), ScenarioError, "5 is not a ph.State"),
    "state for body": (lambda: scenario(body=START), ScenarioError, "is not a ph.Body"),
    "states too few": (lambda: scenario(body=[BODY, BODY], state=[START]), ScenarioError, "2 bodies", "1 were given"),
    "states too many": (lambda: scenario(state=[START, START]), ScenarioError, "1 bodies", "2 were given"),
    "starts at different times": (
        lambda: scenario(body=[BODY, BODY], state=[START, ph.State(time=1.0)]),
        ScenarioError,
        "same time",
    ),
    "members differ": (
        lambda: ph.ensemble(BODY, MANY, [f.gravity(np.ones(5))], duration=1.0),
        ScenarioError,
        "different lengths, [4, 5]",
        "same number",
    ),
    "ensemble of one": (lambda: ph.ensemble(BODY, START, duration=1.0), ScenarioError, "leading axis", "ph.simulate"),
    "simulate with members": (
        lambda: ph.simulate(BODY, MANY, duration=1.0),
        ScenarioError,
        "leading axis of 4 members",
        "ph.ensemble",
    ),
    "scenario and more": (
        lambda: ph.simulate(scenario(), duration=2.0),
        ScenarioError,
        "already says everything",
        "dataclasses.replace",
    ),
}


@checked(SCENARIOS)
def test_a_run_that_cannot_be_made_is_refused(attempt, kind, phrases):
    assert_refused(attempt, kind, phrases)


@pytest.mark.filterwarnings("ignore:engine='python'")
def test_a_heavy_body_runs_with_fixed_steps_and_in_closed_form():
    """Judge: g t^2/2; the drag of 1 kg/s is nothing beside 1e200 kg."""
    heavy, forces = ph.particle(1e200), [f.gravity(10.0), f.linear_drag(1.0)]
    falling = ph.simulate(heavy, forces=forces, duration=1.0, step=0.1, method="rk4", engine="python").final
    assert falling.position[2] == pytest.approx(-5.0, rel=1e-14)
    assert ph.simulate(heavy, forces=forces[:1], duration=1.0).final.position[2] == pytest.approx(-5.0, rel=1e-15)


HEAD = "duration = 1.0\nstep = 0.1\n"
SOLID = "[body]\nmass = 1.0\ninertia = [1, 1, 1]\n"
FILES = {
    "key unknown": ("durration = 2.0\n" + HEAD + SOLID, ScenarioError, "'durration'", "did you mean 'duration'?"),
    "body key unknown": (HEAD + SOLID + "masss = 2.0", ScenarioError, "[body]", "'masss'", "did you mean 'mass'?"),
    "force unknown": (HEAD + SOLID + '[[forces]]\nkind = "gravty"', ForceError, "'gravty'", "did you mean 'gravity'?"),
    "force key unknown": (
        HEAD + SOLID + '[[forces]]\nkind = "linear_drag"\nc = 1.0\nwnd = [1, 0, 0]',
        ScenarioError,
        "'linear_drag'",
        "did you mean 'wind'?",
    ),
    "force kind missing": (HEAD + SOLID + "[[forces]]\ng = 9.81", ForceError, "needs its kind", "gravity"),
    "force kind a list": (HEAD + SOLID + '[[forces]]\nkind = ["gravity"]', ForceError, "['gravity'] is unknown"),
    "force argument missing": (HEAD + SOLID + '[[forces]]\nkind = "spring"', ForceError, "stiffness, anchor"),
    "force on ragged rows": (
        HEAD + SOLID + '[[forces]]\nkind = "gravity"\non = [[0], [1, 2]]',
        ForceError,
        "by their indices",
        "not on [0]",
    ),
    "force twice on a body": (HEAD + SOLID + '[[forces]]\nkind = "gravity"\non = [0, 0]', ForceError, "more than once"),
    "force on a number": (HEAD + SOLID + '[[forces]]\nkind = "gravity"\non = 0', ForceError, "on = [0, 2]", "not on 0"),
    "forces not a list": (HEAD + SOLID + '[forces]\nkind = "gravity"', ScenarioError, "[[forces]]"),
    "bodies not a list": (HEAD + "bodies = 3", ScenarioError, "[[bodies]]", "3"),
    "body not a table": (HEAD + "body = 3", ScenarioError, "[body]", "table", "3"),
    "body and bodies": (HEAD + SOLID + "[[bodies]]\nmass = 1.0", ScenarioError, "exactly one"),
    "neither body nor bodies": (HEAD, ScenarioError, "exactly one"),
    "duration missing": (SOLID, ScenarioError, "needs its duration"),
    "mass missing": (HEAD + "[body]\ninertia = [1, 1, 1]", ScenarioError, "[body] needs its mass"),
    "inertia missing": (HEAD + "[[bodies]]\nmass = 1.0", ScenarioError, "number 0 needs its inertia", "particle"),
    "particle with inertia": (HEAD + SOLID + "particle = true", ScenarioError, "particle", "remove inertia"),
    "particle a text": (HEAD + SOLID + 'particle = "no"', ScenarioError, "True or False", "'no'"),
    "duration a truth value": ("duration = true\n" + SOLID, ScenarioError, "duration must be a number", "True"),
    "position of two": (HEAD + SOLID + "position = [1, 2]", StateError, "position must be 3 numbers"),
    "not TOML": ("duration: 1.0", FileError, "is not TOML", "line 1"),
}


@pytest.mark.parametrize(
    ("text", "kind", "phrases"), [pytest.param(case[0], case[1], case[2:], id=name) for name, case in FILES.items()]
)
def test_a_file_that_holds_no_scenario_is_refused(text, kind, phrases, tmp_path):
    path = tmp_path / "bad.toml"
    path.write_text(text)
    assert_refused(lambda: ph.Scenario.from_toml(path), kind, phrases)


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    missing = tmp_path / "missing.toml"
    assert_refused(lambda: ph.Scenario.from_toml(missing), FileError, ("there is no file", str(missing)))
    assert_refused(
        lambda: ph.Scenario.from_toml(tmp_path), FileError, ("is no file that can be read", "folder", str(tmp_path))
    )
    assert_refused(lambda: ph.Scenario.from_toml(sys.executable), FileError, ("is not UTF-8", "TOML"))
    nowhere = tmp_path / "no" / "folder.toml"
    assert_refused(lambda: scenario().to_toml(nowhere), FileError, ("cannot be written", str(nowhere)))


def chunks_of(variable):
    return [part for part in variable.rglob("*") if part.is_file() and part.name != "zarr.json"]


DAMAGES = {
    "numbers lost": lambda path: [part.unlink() for part in chunks_of(path / "computed")],
    "times lost": lambda path: [part.unlink() for part in chunks_of(path / "time")],
    "numbers cut short": lambda path: [p.write_bytes(p.read_bytes()[:40]) for p in chunks_of(path / "computed")],
    "variable lost": lambda path: shutil.rmtree(path / "computed"),
    "metadata cut short": lambda path: (path / "zarr.json").write_text((path / "zarr.json").read_text()[:99]),
    "metadata lost": lambda path: (path / "zarr.json").unlink(),
    "somebody else's": lambda path: xarray.Dataset({"a": ("t", [1.0])}).to_zarr(path, mode="w", consolidated=False),
    "emptied": lambda path: [shutil.rmtree(part) if part.is_dir() else part.unlink() for part in path.iterdir()],
}


@pytest.fixture(scope="module")
def drifting():
    return ph.simulate(BODY, SPINNING, duration=1.0, step=0.1, method="rk4")


@pytest.mark.parametrize("damage", [pytest.param(damage, id=name) for name, damage in DAMAGES.items()])
def test_a_damaged_or_foreign_motion_is_not_loaded(damage, drifting, tmp_path):
    """Zarr itself reads a lost chunk as zeros or NaN without a word: a checksum notices."""
    path = tmp_path / "motion.zarr"
    drifting.save(path)
    damage(path)
    assert_refused(lambda: ph.load(path), FileError, (str(path),))


def test_a_missing_motion_is_not_loaded(tmp_path):
    assert_refused(lambda: ph.load(tmp_path / "no.zarr"), FileError, ("there is no motion at", "no.zarr"))
    (tmp_path / "note.txt").write_text("hello")
    words = ("note.txt", "is not a stored motion", ".zarr folder")
    assert_refused(lambda: ph.load(tmp_path / "note.txt"), FileError, words)


def test_a_motion_is_not_saved_over_somebody_elses_data(drifting, tmp_path):
    file, folder, data = tmp_path / "thesis.txt", tmp_path / "folder", tmp_path / "data.zarr"
    file.write_text("years of work")
    folder.mkdir()
    (folder / "notes.txt").write_text("more work")
    xarray.Dataset({"a": ("t", [1.0, 2.0])}).to_zarr(data, consolidated=False)
    for path in (file, folder, data):
        assert_refused(lambda path=path: drifting.save(path), FileError, (str(path), "choose another name"))
    assert file.read_text() == "years of work"
    assert (folder / "notes.txt").read_text() == "more work"
    assert xarray.open_zarr(data, consolidated=False)["a"].values.tolist() == [1.0, 2.0]
    assert sorted(part.name for part in tmp_path.iterdir()) == ["data.zarr", "folder", "thesis.txt"]
    blocked = file / "inside.zarr"
    assert_refused(lambda: drifting.save(blocked), FileError, (str(blocked), "cannot be written"))


def test_a_time_outside_the_run_is_refused(drifting):
    for t in (-0.1, 1.1):
        assert_refused(lambda t=t: drifting.at(t), InputError, (f"t = {t:g} s is outside", "0 to 1 s"))
    assert_refused(lambda: drifting.at(NAN), InputError, ("t must be finite",))
    assert_refused(lambda: drifting.at("noon"), InputError, ("t must be a number", "'noon'"))
    assert_refused(lambda: drifting.reaction_force, InputError, ("pivot",))
    assert_refused(lambda: drifting.points((1.0, 2.0)), InputError, ("3 numbers a point", "(2,)"))
    with pytest.raises(KeyError, match=r"no such.*kinetic energy"):
        drifting.audit()["no such"]
    assert issubclass(InputError, PolhodeError)
