"""`polhode fmu` against `polhode run`: FMPy simulates the motion of the file."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from click.testing import CliRunner
from fmpy import simulate_fmu

import polhode as ph
from polhode.cli import cli

SCENARIO = """
duration = 0.5
step = 0.01
method = "rk4"
output_step = 0.05
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
    return CliRunner().invoke(cli, ["fmu", *map(str, arguments)])


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_fmpy_simulates_the_motion_of_the_file(scenario, version, tmp_path):
    found = invoke(scenario, "-o", tmp_path / "body.fmu", "--fmi-version", version)
    assert found.exit_code == 0, found.output
    assert "a binary for this machine" in found.output
    result = simulate_fmu(str(tmp_path / "body.fmu"), output_interval=0.05)
    motion = ph.simulate(ph.Scenario.from_toml(scenario))
    assert np.array_equal(result["time"], motion.times)
    assert np.array_equal(result["total_energy"], motion.energy)


def test_the_name_of_a_source_fmu_is_that_of_the_file(scenario, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = invoke(scenario, "--source-only")
    assert found.exit_code == 0, found.output
    assert "top.fmu (FMI 2.0, co-simulation; C source)" in found.output
    assert (tmp_path / "top.fmu").is_file()


def test_without_a_compiler_it_is_said(scenario, tmp_path, monkeypatch):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = invoke(scenario, "-o", tmp_path / "body.fmu")
    assert found.exit_code == 0, found.output
    assert "No C compiler was found" in found.output


def test_what_an_fmu_cannot_be_is_refused(tmp_path):
    found = invoke("dzhanibekov", "-o", tmp_path / "body.zip")
    assert found.exit_code == 1
    assert ".fmu" in found.output


def test_contacts_need_python(scenario, tmp_path):
    scenario.write_text(
        'duration = 0.5\n[body]\nshape = { kind = "sphere", radius = 0.1, mass = 1.0 }\nposition = [0, 0, 1]\n'
        '[[forces]]\nkind = "gravity"\n[[contacts]]\nkind = "floor"\n'
    )
    found = invoke(scenario, "-o", tmp_path / "body.fmu")
    assert found.exit_code == 1
    assert "python=True" in found.output
    found = invoke(scenario, "-o", tmp_path / "body.fmu", "--python")
    assert found.exit_code == 0, found.output
    assert "where Polhode is installed" in found.output
