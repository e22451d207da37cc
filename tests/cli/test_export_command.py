"""`polhode export` against `polhode run`: the program prints the motion of the file."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest
from click.testing import CliRunner

import polhode as ph
from polhode.cli import cli

SCENARIO = """
duration = 0.5
step = 0.01
method = "rk4"
[body]
mass = 1.0
inertia = [1.0, 2.0, 2.5]
angular_velocity_body = [0.1, 3.0, 0.0]
[[forces]]
kind = "gravity"
"""


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "top.toml"
    path.write_text(SCENARIO)
    return path


def invoke(*arguments):
    return CliRunner().invoke(cli, ["export", *map(str, arguments)])


def test_the_program_prints_the_motion_of_the_file(scenario, tmp_path):
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    found = invoke(scenario, "-o", tmp_path / "top.js")
    assert found.exit_code == 0, found.output
    assert "top.js" in found.output
    text = subprocess.run(["node", tmp_path / "top.js"], check=True, capture_output=True, text=True).stdout
    rows = np.array([[float(x) for x in line.split(",")] for line in text.splitlines()[1:]])
    motion = ph.simulate(ph.Scenario.from_toml(scenario))
    assert rows[:, 0].tolist() == motion.times.tolist()
    assert rows[:, 2:5].tolist() == motion.position.tolist()


@pytest.mark.parametrize(("language", "suffix"), [("c", ".c"), ("cuda", ".cu"), ("rust", ".rs"), ("javascript", ".js")])
def test_the_language_chooses_the_name(scenario, language, suffix, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert invoke(scenario, "--language", language).exit_code == 0
    assert (tmp_path / f"top{suffix}").read_text().startswith("// The motion of a body: method rk4")


def test_a_model_of_the_gallery_with_a_parameter(tmp_path):
    found = invoke("dzhanibekov", "--spin", "3", "-o", tmp_path / "flip.c")
    assert found.exit_code == 0, found.output
    assert "polhode_attempt(double *state" in (tmp_path / "flip.c").read_text()


def test_a_model_as_a_page_with_live_knobs(tmp_path):
    found = invoke("rotating-frame", "--speed", "3", "--live", "-o", tmp_path / "frame.html")
    assert found.exit_code == 0, found.output
    assert "(radius, speed, rate)" in found.output
    assert "polhode-program" in (tmp_path / "frame.html").read_text()


def test_a_model_that_no_page_computes_says_why(tmp_path):
    found = invoke("falling-box", "--live", "-o", tmp_path / "box.html")
    assert found.exit_code != 0
    assert "a scenario with contacts cannot be exported" in found.output


def test_a_wrong_suffix_and_a_missing_folder_are_refused(scenario, tmp_path):
    found = invoke(scenario, "--language", "c", "-o", tmp_path / "top.js")
    assert found.exit_code != 0
    assert "must end with .c" in found.output
    found = invoke(scenario, "-o", tmp_path / "nowhere" / "top.c")
    assert found.exit_code != 0
    assert "there is no folder" in found.output
