"""Flight in exported programs, stores, steppers and the command line: the same bits everywhere."""

import json
import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import polhode as ph
from polhode.cli import cli

CASES = Path(__file__).parents[2] / "examples" / "nesc"
TABLE = ph.CoefficientTable(("mach", "angle_of_attack"), ((0, 1, 3), (-4, 0, 4)), ((1, 0.1, 1), (1, 0.2, 1), (2, 1, 2)))
WIND = ph.air.wind_table((0.0, 4000.0, 2e4), ((0, 1, 0), (3, 5, 0), (1, 20, 0)))
START = ph.State.from_geodetic(0.6, -1.2, 9000.0, (150.0, 40.0, 5.0), (0.2, 0.1, 0.05), (0.1, 0.2, 0.3))
FORCES = [
    ph.forces.earth_gravity(degree=6, gradient_torque=True),
    ph.forces.aerodynamics(0.01, {"CD": TABLE, "CL": 0.3, "Cm": -0.2, "Cmq": -3.0}, 0.5, 0.2, wind=WIND, earth="WGS84"),
    ph.forces.drag(0.02, 0.3, ph.air.exponential(1.2, 7500.0), (2.0, -3.0, 0.0), "WGS84", (0.0, 0.1, 0.0)),
    ph.forces.magnetic_torquer((1.0, 2.0, 3.0), pulses=[(0.3, 0.4)]),
]
BODY = ph.Body(mass=5.0, inertia=(0.1, 0.2, 0.25))
FLIGHT = ph.Scenario(BODY, START, FORCES, duration=0.5, method="rk4", step=0.02, output_step=0.1)


@pytest.mark.parametrize("language", ["c", "cuda", "rust", "javascript"])
def test_exported_programs_have_the_same_bits(language, tmp_path):
    exports = runpy.run_path(str(CASES.parents[1] / "tests" / "integrate" / "test_write_source.py"))
    exports["assert_same_bits"](FLIGHT, [language], tmp_path)


@pytest.mark.filterwarnings("ignore:engine='python'")
@pytest.mark.parametrize("options", [{}, {"method": "dop853", "step": None}])
def test_plain_python_members_and_stores_have_the_same_bits(options, tmp_path):
    scenario = replace(FLIGHT, **options)
    motion = ph.simulate(scenario)
    plain = ph.simulate(replace(scenario, engine="python"))
    many = ph.ensemble(replace(scenario, state=START.replace(position=np.tile(START.position, (40, 1)))))
    motion.save(tmp_path / "flight.zarr")
    stored = ph.load(tmp_path / "flight.zarr")
    for other in (plain, many.member(3), stored):
        assert (other.position == motion.position).all()
        assert (other.quaternion_wxyz == motion.quaternion_wxyz).all()
        assert (other.in_frame("ned").velocity == motion.in_frame("ned").velocity).all()


def test_a_stepper_flies_too():
    stepper = ph.Stepper(BODY, START, FORCES, method="rk4", step=0.02)
    stepper.advance(0.5)
    assert np.abs(stepper.state.position - ph.simulate(FLIGHT).final.position).max() < 1e-8


def test_the_command_line_writes_a_table(tmp_path):
    case, table = CASES / "case-06.toml", tmp_path / "case-06.csv"
    run = CliRunner().invoke(cli, ["run", str(case), "--no-picture", "--json", "--csv", str(table)])
    assert run.exit_code == 0, run.output
    assert json.loads(run.output)["table"] == str(table)
    rows = np.genfromtxt(table, delimiter=",", names=True)
    assert len(rows) == 301
    assert abs(rows["height_m"][-1] - 0.3048 * 16284.443772) < 1e-4
    assert abs(rows["velocity_down_m_s"][-1] - 0.3048 * 864.010905567) < 1e-5
