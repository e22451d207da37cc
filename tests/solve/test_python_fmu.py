"""Python-based FMUs in FMPy against a `ph.Stepper`: contacts, events, and forces that cannot be compiled."""

from __future__ import annotations

import math
import sys
from dataclasses import replace

import numpy as np
import pytest
from fmpy.fmi1 import FMICallException
from fmpy.validation import validate_fmu

import polhode as ph
from fmu_instances import Fmu
from polhode.errors import FileError, InputError, ScenarioError
from polhode.solve.fmi.python_slave import SlaveMotion

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith(("linux", "win")), reason="pythonfmu has libraries for Linux and Windows"
)

BALL, DROP = ph.shapes.sphere(0.1, mass=1.0), ph.State(position=(0, 0, 1), velocity=(0.5, 0, 0))
GRAVITY = ph.forces.gravity()


@ph.force
def unruly(t, state, body, params):
    """A function that takes plain numbers only."""
    return (params[0] * math.erf(state.position[2]), 0.0, 0.0), (0.0, 0.0, 0.0)


@ph.event
def landing(t, state, body, params):
    return state.position[2] - 0.5


@pytest.fixture
def make(tmp_path):
    def write(scenario):
        path = tmp_path / "ball.fmu"
        assert ph.write_fmu(scenario, path, python=True)
        assert validate_fmu(str(path)) == []
        return Fmu(path, tmp_path / "ball")

    return write


def assert_same_state(instance, stepper):
    state = stepper.state
    assert instance.get("position").tolist() == state.position.tolist()
    assert instance.get("quaternion").tolist() == state.quaternion_wxyz.tolist()
    assert instance.get("velocity").tolist() == state.velocity.tolist()
    assert instance.get("angular_velocity_body").tolist() == state.angular_velocity_body.tolist()


def test_contacts_against_a_stepper(make):
    scenario = ph.Scenario(BALL, DROP, [GRAVITY], duration=2.0, contacts=[ph.floor(restitution=0.5, friction=0.3)])
    instance, stepper = make(scenario).instance(), ph.Stepper(scenario)
    for k in range(15):
        loads = {"force": (0.1 * k, 0, 0), "torque_body": (0, 0, 0.01)}
        instance.set(**loads)
        stepper.set_loads(**loads)
        instance.step(0.1)
        stepper.advance_to(instance.time)
        assert_same_state(instance, stepper)
    height = stepper.state.position[2]
    assert instance.get("potential_energy") == pytest.approx(9.80665 * height, rel=1e-14)
    instance.free()


def test_a_force_that_cannot_be_compiled_against_a_stepper(make, tmp_path):
    scenario = ph.Scenario(BALL, DROP, [GRAVITY, unruly(0.2)], duration=1.0, method="rk4", step=0.01)
    with pytest.raises(ph.PolhodeError, match="python=True"):
        ph.write_fmu(scenario, tmp_path / "native.fmu")
    instance, stepper = make(scenario).instance(), ph.Stepper(replace(scenario, engine="python"))
    for _ in range(3):
        instance.step(0.1)
        stepper.advance_to(instance.time)
    assert_same_state(instance, stepper)
    instance.free()


BOX, SPUN = ph.shapes.box((0.1, 0.4, 0.9), mass=4.0), ph.State(velocity=(1, 0, 0), angular_velocity_body=(0.5, -2, 1))
MORE_THAN_RIGID = {
    "mass course": {"mass_course": ph.mass_course((0.0, 1.0), (4.0, 2.0), exhaust_velocity=(0, 0, -9.0))},
    "rotors": {"rotors": [ph.rotor((0, 0, 1), 0.01, speed=300.0, torque=0.05)]},
    "added mass": {"added_mass": np.diag((1.0, 2.0, 3.0, 0.1, 0.2, 0.3))},
}


@pytest.mark.parametrize("more", MORE_THAN_RIGID.values(), ids=MORE_THAN_RIGID)
def test_energies_of_bodies_that_are_more_than_rigid_against_simulate(make, more):
    scenario = ph.Scenario(BOX, SPUN, [GRAVITY], duration=1.0, method="rk4", step=0.01, output_step=0.25, **more)
    instance, motion = make(scenario).instance(), ph.simulate(scenario)
    for k in range(5):
        if k:
            instance.step_to(0.25 * k)
        assert instance.get("position").tolist() == pytest.approx(motion.position[k].tolist(), rel=1e-12, abs=1e-15)
        assert instance.get("kinetic_energy") == pytest.approx(motion.kinetic_energy[k], rel=1e-12)
        assert instance.get("potential_energy") == pytest.approx(motion.potential_energy[k], rel=1e-12, abs=1e-13)
        assert instance.get("total_energy") == pytest.approx(motion.energy[k], rel=1e-12, abs=1e-13)
    instance.free()


def test_rollback_and_serialized_states(make):
    scenario = ph.Scenario(BALL, DROP, [GRAVITY], duration=2.0, contacts=[ph.floor(restitution=0.5)])
    fmu = make(scenario)
    one, other = fmu.instance(mass=2.0), fmu.instance()
    one.set(force=(1.0, 0, 0))
    one.step(0.3)
    saved = one.save()
    kept = one.serialize(saved)
    one.set(force=(7.0, 0, 0))
    one.step(0.4)
    one.restore(saved)
    assert one.get("force").tolist() == [1.0, 0, 0]
    one.step(0.4)
    other.restore(other.deserialize(kept))
    assert other.get("mass") == 2.0
    other.step(0.4)
    for name in ("position", "velocity", "total_energy"):
        assert np.array_equal(one.get(name), other.get(name))
    one.free()
    other.free()


def test_parameters_against_a_stepper_with_these_numbers(make):
    scenario = ph.Scenario(BALL, DROP, [GRAVITY], duration=2.0, method="rk4", step=0.01, contacts=[])
    moments = {"inertia_xx": 1.5, "inertia_yy": 2.0, "inertia_zz": 3.0}
    instance = make(scenario).instance(start=3.0, mass=2.0, start_velocity=(1, 2, 3), step=0.02, **moments)
    instance.set(force=(0, 4, 0))
    start = ph.State(position=(0, 0, 1), velocity=(1, 2, 3), time=3.0)
    stepper = ph.Stepper(ph.Body(2.0, (1.5, 2.0, 3.0)), start, [GRAVITY], method="rk4", step=0.02)
    stepper.set_loads(force=(0, 4, 0))
    instance.step(0.5)
    stepper.advance_to(3.5)
    assert_same_state(instance, stepper)
    instance.free()


def test_wrong_values_leave_the_state_as_it_was(make):
    instance = make(ph.Scenario(BALL, DROP, [GRAVITY], duration=2.0, method="rk4", step=0.01)).instance(0.0, 1.0)
    instance.step(0.1)
    before = instance.get("position").tolist()
    for wrong in ((0.1, -0.1), (0.1, math.nan), (0.5, 0.1), (0.1, 5.0)):
        with pytest.raises(FMICallException):
            instance.raw.doStep(*wrong)
        assert instance.get("position").tolist() == before
    for refused in ({"force": (math.nan, 0, 0)}, {"mass": 3.0}):  # no step goes on without them
        instance.set(**refused)
        with pytest.raises(FMICallException):
            instance.step(0.1)
        assert instance.get("position").tolist() == before
        assert (instance.get("force").tolist(), instance.get("mass")) == ([0, 0, 0], 1.0)
        instance.set(force=(0, 0, 0))
    instance.step(0.1)
    instance.free()


def test_parameters_that_no_body_has_are_discarded_with_a_sentence(make):
    fmu = make(ph.Scenario(BALL, DROP, [GRAVITY], duration=2.0, method="rk4", step=0.01))
    instance = fmu.instance(mass=-5.0)
    assert np.isnan(instance.get("position")).all()
    for _ in range(2):
        with pytest.raises(FMICallException) as raised:
            instance.step(0.1)
        assert raised.value.status == 2  # discard
        instance.set(force=(0, 0, 0))
    assert instance.get("mass") == -5.0
    instance.free()
    motion = SlaveMotion(ph.Scenario(BALL, DROP, duration=2.0, method="rk4", step=0.01))
    motion.give_up("mass must be greater than 0")
    with pytest.raises(InputError, match="greater than 0"):
        motion.step(0.0, 0.1)


def test_an_event_that_stops_ends_the_steps(make):
    scenario = ph.Scenario(BALL, DROP, [GRAVITY], duration=2.0, events=[landing()])
    instance = make(scenario).instance()
    instance.step(0.3)
    with pytest.raises(FMICallException):
        instance.step(0.3)
    assert instance.get("position")[2] == pytest.approx(1 - 9.80665 * 0.09 / 2, rel=1e-9)
    instance.free()


def test_what_a_python_fmu_cannot_be(tmp_path):
    scenario = ph.Scenario(BALL, DROP, [GRAVITY], duration=2.0)
    with pytest.raises(InputError, match="FMI 2"):
        ph.write_fmu(scenario, tmp_path / "ball.fmu", "3.0", python=True)
    with pytest.raises(InputError, match=r"made from a ph\.Scenario"):
        ph.write_fmu(3, tmp_path / "ball.fmu")
    for wrong in (None, 3):
        with pytest.raises(FileError, match="give the name of a file"):
            ph.write_fmu(scenario, wrong)
        with pytest.raises(FileError, match="give the name of a file"):
            ph.simulate(scenario).export_csv(wrong)
    many = ph.Scenario(BALL, ph.State(velocity=[(1, 0, 0), (2, 0, 0)]), duration=1.0)
    with pytest.raises(ScenarioError, match="one motion"):
        ph.write_fmu(many, tmp_path / "ball.fmu", python=True)
