"""FMUs in FMPy against `ph.simulate`: equal to the last bit, with rollback; and what they refuse."""

from __future__ import annotations

import math
import shutil
import subprocess
import sys
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from fmpy import simulate_fmu
from fmpy.fmi1 import FMICallException
from fmpy.validation import validate_fmu

import polhode as ph
from fmu_instances import Fmu, FmuInstance
from polhode.errors import FileError, InputError, ScenarioError
from polhode.methods.registry import METHODS
from polhode.solve import write_fmu as write_fmu_module
from polhode.solve.fmi.binary import compile_library

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")

BODY = ph.Body(mass=2.0, inertia=[[1.0, 0.1, 0.0], [0.1, 2.0, 0.2], [0.0, 0.2, 2.5]])
START = ph.State(position=(1, 2, 3), velocity=(1, 0, 4), angular_velocity_body=(0.1, 3, 0.2))
GRAVITY, DRAG = ph.forces.gravity(), ph.forces.quadratic_drag(0.03)
VERSIONS = ("2.0", "3.0")


@ph.force(potential=lambda t, state, body, params: params[0] * state.position[0] ** 2 / 2)
def wind(t, state, body, params):
    """Depends on time, so that the times of the stages count."""
    gust = math.sin(3.0 * t) * params[0]
    if state.velocity[0] > 0.5:
        gust = gust - 0.1
    return (gust, 0.2 * gust * t, -0.01), (0.01 * gust, 0.0, 0.02)


FORCES = (GRAVITY, DRAG, wind(0.7))


def scenario_of(method="rk4", forces=FORCES, step=0.013, duration=0.6, **more):
    body, state = more.pop("body", BODY), more.pop("state", START)
    step = None if METHODS[method].is_adaptive else step
    return ph.Scenario(body, state, forces, method=method, step=step, duration=duration, **more)


@pytest.fixture(autouse=True, scope="module")
def _compile_once():
    """Equal sources are compiled once."""
    patch = pytest.MonkeyPatch()
    compile_once = lru_cache(lambda source, identifier, compiler: compile_library(source, identifier, list(compiler)))
    quick = lambda source, identifier, compiler: compile_once(source, identifier, tuple(compiler))  # noqa: E731
    patch.setattr(write_fmu_module, "compile_library", quick)
    yield
    patch.undo()


@pytest.fixture
def make(tmp_path):
    """A function that writes a scenario as an FMU, validates it, and unpacks it."""

    def write(scenario, version="2.0", name="body"):
        path = tmp_path / f"{name}-{version}.fmu"
        assert ph.write_fmu(scenario, path, version)
        assert validate_fmu(str(path)) == []
        return Fmu(path, tmp_path / f"{name}-{version}")

    return write


OUTPUTS = {
    "position": "position",
    "quaternion": "quaternion_wxyz",
    "velocity": "velocity",
    "angular_velocity": "angular_velocity",
    "angular_velocity_body": "angular_velocity_body",
    "kinetic_energy": "kinetic_energy",
    "potential_energy": "potential_energy",
    "total_energy": "energy",
}


def bits(x):
    return np.ascontiguousarray(x, dtype=float).view(np.int64).tolist()


def outputs_of(instance, prefix=""):
    names = [n for n in OUTPUTS if not prefix or n not in ("potential_energy", "total_energy")]
    return {name: instance.get(prefix + name) for name in names}


def assert_same_bits(fmu, scenario):
    """The outputs at the communication points have the bits of the samples of a run at these times."""
    motion = ph.simulate(scenario)
    instance = fmu.instance(scenario.start_time, scenario.end_time)
    for i, t in enumerate(motion.times):
        if t > instance.time:
            instance.step_to(t)
        for name, quantity in OUTPUTS.items():
            assert bits(instance.get(name)) == bits(getattr(motion, quantity)[i]), (name, t)
    instance.free()
    return motion


QUICK = ("rk4", "dop853")
STEPPED = [name for name, method in METHODS.items() if not method.is_taylor_series and not method.is_closed_form]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("method", QUICK)
def test_communication_points_off_the_grid_against_simulate(method, version, make):
    scenario = scenario_of(method, output_times=[0.0, 0.013, 0.02, 0.05, 0.051, 0.26, 0.4, 0.40001, 0.6])
    assert_same_bits(make(scenario, version), scenario)


@pytest.mark.long
@pytest.mark.parametrize("method", [name for name in STEPPED if name not in QUICK])
def test_every_method_against_simulate(method, make):
    scenario = scenario_of(method, output_step=0.05)
    assert_same_bits(make(scenario), scenario)


@pytest.mark.parametrize("formulation", ["momentum_matrix", "body_rates", "quaternion_acceleration"])
@pytest.mark.parametrize("pivot", [None, (0.1, -0.2, 0.5)])
def test_every_formulation_against_simulate(formulation, pivot, make):
    state = START if pivot is None else ph.State(position=(0, 0, 1), angular_velocity_body=(0.1, 3, 0.2))
    scenario = scenario_of(formulation=formulation, pivot=pivot, state=state, output_step=0.1)
    assert_same_bits(make(scenario), scenario)


SEGMENTED = (
    GRAVITY,
    DRAG,
    wind(0.3),
    ph.forces.thruster((0.1, 0, -1), (0, 0.2, 1), 5.0, start=0.07, stop=0.21),
    ph.forces.impulse((0, 1, 2), 0.11, (0.2, 0.1, 0)),
    ph.forces.impulse((0.5, 0, 0), 0.0),
    ph.forces.impulse((0, 0, -3), 0.6, (0, 0.1, 0), axes="body"),
)


@pytest.mark.parametrize("method", QUICK)
@pytest.mark.parametrize("output", [{"output_step": 0.05}, {"output_times": [0.11, 0.115, 0.25, 0.6]}])
def test_impulses_windows_and_breaks_against_simulate(method, output, make):
    scenario = scenario_of(method, SEGMENTED, breaks=[0.333], **output)
    assert_same_bits(make(scenario), scenario)


def test_the_automatic_method_against_simulate(make):
    """With loads of 0 the motion is the one that `ph.simulate` checks, with the method and the tolerance it finds."""
    scenario = ph.Scenario(BODY, START, (GRAVITY, DRAG), duration=0.6, output_step=0.05)
    assert scenario.method == "auto"
    assert_same_bits(make(scenario), scenario)


def test_the_automatic_method_of_a_free_motion_takes_loads(make):
    scenario = ph.Scenario(BODY, START, duration=0.6)
    assert scenario.used_method.is_closed_form
    instance = make(scenario).instance(0.0, 0.6, force=(0, 0, 3.0))
    instance.step_to(0.6)
    assert instance.get("velocity")[2] == pytest.approx(4 + 3.0 * 0.6 / 2, rel=1e-12)
    free = ph.simulate(scenario).quaternion_wxyz[-1]
    assert np.allclose(instance.get("quaternion"), free, rtol=0, atol=1e-7)
    instance.free()


def test_a_run_that_begins_later_against_simulate(make):
    scenario = scenario_of("rk4", state=START.replace(time=5.0), output_step=0.1)
    assert scenario.start_time == 5.0
    assert_same_bits(make(scenario), scenario)


@pytest.mark.parametrize("method", QUICK)
@pytest.mark.parametrize("pair", [(), (ph.forces.spring_between(0, 1, 20.0, damping=0.1),)])
def test_a_system_against_simulate(method, pair, make):
    bodies, states = [BODY, ph.shapes.sphere(0.2, mass=1.0)], [START, ph.State(velocity=(0, 1, 0))]
    forces = [GRAVITY.on(0), DRAG, *pair]
    scenario = scenario_of(method, forces, body=bodies, state=states, output_step=0.1)
    motion, fmu = ph.simulate(scenario), make(scenario, "3.0")
    instance = fmu.instance(0.0, 0.6)
    for i, t in enumerate(motion.times[1:], start=1):
        instance.step_to(t)
        for b in (0, 1):
            for name, value in outputs_of(instance, f"body{b + 1}.").items():
                assert bits(value) == bits(getattr(motion, OUTPUTS[name])[i, b]), (name, t)
        assert bits(instance.get("total_energy")) == bits(motion.energy[i])
    instance.free()


def test_fmpy_simulates_it_whole(tmp_path):
    scenario = scenario_of("rk4", step=0.01, output_step=0.05)
    motion = ph.simulate(scenario)
    for version in VERSIONS:
        ph.write_fmu(scenario, tmp_path / "body.fmu", version)
        found = simulate_fmu(str(tmp_path / "body.fmu"), output_interval=0.05)
        position = found["position"] if version == "3.0" else np.stack([found[f"position[{i}]"] for i in (1, 2, 3)], -1)
        assert bits(position) == bits(motion.position)
        assert bits(found["total_energy"]) == bits(motion.energy)


# Inputs ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("method", QUICK)
def test_loads_that_change_against_a_stepper(method, version, make):
    """A change of an input ends a step, as an advance of a Stepper does; equal inputs change nothing."""
    scenario = scenario_of(method, (GRAVITY,))
    fmu = make(scenario, version)
    instance, stepper = fmu.instance(0.0, 0.7), ph.Stepper(scenario)
    loads = {"force": (1.0, 2, -3), "torque": (0.1, 0, 0.2), "force_body": (0, 0.5, 0), "torque_body": (0, 0, -0.1)}
    for end, parts in ((0.26, 2), (0.39, 1), (0.7, 5)):
        instance.set(**loads)
        stepper.set_loads(**loads)
        stepper.advance_to(end)
        for t in np.linspace(instance.time, end, parts + 1)[1:]:
            instance.set(**loads)
            instance.step_to(float(t))
        loads = {name: tuple(-2.0 * x for x in load) for name, load in loads.items()}
        expected = stepper.state
        if method == "rk4" or end == 0.7:  # elsewhere dense output, since the step goes on
            assert bits(instance.get("position")) == bits(expected.position)
            assert bits(instance.get("quaternion")) == bits(expected.quaternion_wxyz)
            assert bits(instance.get("angular_velocity_body")) == bits(expected.angular_velocity_body)
        assert np.allclose(instance.get("position"), expected.position, rtol=1e-9, atol=0)
    instance.free()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("method", QUICK)
def test_loads_that_change_at_random_against_a_run_with_windows(method, seed, make):
    """Where an input changes a step ends, as at the edge of a window; elsewhere communication points change nothing.

    Rollbacks with other loads in between leave no trace.
    """
    rng = np.random.default_rng(seed)
    edges = [0.0, *np.sort(rng.uniform(0.05, 0.55, 3)), 0.6]
    loads = rng.normal(size=(4, 3)).round(3)
    windows = [
        ph.forces.force_at(f, (0, 0, 0), start=a, stop=b) for f, (a, b) in zip(loads, pairwise(edges), strict=True)
    ]
    times = np.unique([*edges[1:], *rng.uniform(0.0, 0.6, 25)])
    motion = ph.simulate(scenario_of(method, (GRAVITY, *windows), output_times=times))
    instance = make(scenario_of(method, (GRAVITY,))).instance(0.0, 0.6)
    for i, t in enumerate(times):
        load = loads[np.searchsorted(edges, instance.time, side="right") - 1]
        if rng.random() < 0.3:
            saved = instance.save()
            instance.set(force=rng.normal(size=3))
            instance.step_to(min(0.6, t + 0.01))
            instance.restore(saved)
        instance.set(force=load)
        instance.step_to(t)
        assert np.allclose(instance.get("position"), motion.position[i], rtol=1e-9, atol=0)
        if method == "rk4" or t == 0.6:  # in the last adaptive step before a change it is not known that it will end
            assert bits(instance.get("position")) == bits(motion.position[i]), t
            assert bits(instance.get("quaternion")) == bits(motion.quaternion_wxyz[i]), t
    instance.free()


def test_times_that_are_summed_up_against_simulate(make):
    """Rounding of the importer's clock does not leave the grid."""
    scenario = scenario_of("rk4", (GRAVITY, DRAG), step=0.01, duration=3.0, output_step=0.1)
    motion, instance = ph.simulate(scenario), make(scenario).instance()
    for i in range(30):
        instance.set(force=(-0.0, 0.0, 0.0))
        instance.step(0.1)
        assert bits(instance.get("position")) == bits(motion.position[i + 1])
    assert instance.time != 3.0
    instance.free()


def test_a_constant_force_against_the_closed_form(make):
    fmu = make(scenario_of("rk4", (), body=ph.particle(2.0), state=ph.State(), step=0.01))
    instance = fmu.instance(force=(4.0, 0, 0))
    for _ in range(10):
        instance.step(0.1)
    assert instance.get("velocity")[0] == pytest.approx(2.0, rel=1e-14)
    assert instance.get("position")[0] == pytest.approx(1.0, rel=1e-14)
    assert instance.get("kinetic_energy") == pytest.approx(4.0, rel=1e-14)
    instance.free()


# States ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("method", QUICK)
def test_rollback_has_the_same_bits(method, version, make):
    instance = make(scenario_of(method), version).instance()
    instance.set(force=(1.0, 0, 0))
    instance.step(0.037)
    instance.set(torque=(0, 0.3, 0))
    saved = instance.save()

    def advance():
        for i in range(50):
            instance.set(force=(0.1 * i, 1, 0))
            instance.step(0.0071)
        return outputs_of(instance), instance.get("force"), instance.get("torque")

    first = advance()
    instance.restore(saved)
    assert instance.get("torque").tolist() == [0, 0.3, 0]
    assert instance.get("force").tolist() == [1.0, 0, 0]
    again = advance()
    assert all(bits(first[0][name]) == bits(again[0][name]) for name in first[0])
    instance.restore(saved)  # again and again
    assert bits(advance()[0]["position"]) == bits(first[0]["position"])
    instance.free()


@pytest.mark.parametrize("version", VERSIONS)
def test_a_serialized_state_goes_on_in_another_instance(version, make):
    fmu = make(scenario_of("dop853"), version)
    one, other = fmu.instance(), fmu.instance(mass=5.0, start_position=(7, 7, 7))
    one.set(force=(1.0, 0, 0))
    one.step(0.1)
    kept = one.serialize(one.save())
    one.step(0.2)
    other.restore(other.deserialize(kept))
    assert other.get("mass") == 2.0
    other.step(0.2)
    assert all(bits(value) == bits(other.get(name)) for name, value in outputs_of(one).items())
    for wrong in (kept[1][:-1], b"x" * len(kept[1]), b""):
        with pytest.raises(FMICallException):
            other.deserialize((0.0, wrong))
    one.free()
    other.free()


def test_several_instances_do_not_disturb_each_other(make):
    fmu = make(scenario_of("dop853"))
    starts = [(float(i), 0, 0) for i in range(4)]
    alone = []
    for x in starts:
        instance = fmu.instance(start_position=x)
        for _ in range(5):
            instance.step(0.07)
        alone.append(instance.get("position"))
        instance.free()
    together = [fmu.instance(start_position=x) for x in starts]
    for _ in range(5):
        for instance in together:
            instance.step(0.07)
    assert [bits(instance.get("position")) for instance in together] == [bits(x) for x in alone]
    for instance in together:
        instance.free()


@pytest.mark.parametrize("version", VERSIONS)
def test_reset_begins_anew(version, make):
    instance = make(scenario_of(), version).instance(mass=3.0)
    instance.set(force=(5.0, 0, 0))
    instance.step(0.2)
    instance.raw.terminate()
    with pytest.raises(FMICallException):
        instance.step(0.1)
    instance.raw.reset()
    assert instance.get("mass") == 2.0
    assert instance.get("force").tolist() == [0, 0, 0]
    instance.initialize()
    instance.step_to(0.6)
    assert bits(instance.get("position")) == bits(ph.simulate(scenario_of()).position[-1])
    instance.free()


# Parameters -----------------------------------------------------------------------------------------------------------
CHANGED = {
    "mass": 3.5,
    "start_position": (0.5, 0, 1),
    "start_quaternion": (2.0, 0.5, -1.0, 0.25),
    "start_velocity": (0, 2, 1),
    "start_angular_velocity_body": (1.0, -2.0, 0.3),
}
CHANGED_STATE = ph.State(
    position=(0.5, 0, 1), quaternion_wxyz=(2.0, 0.5, -1.0, 0.25), velocity=(0, 2, 1), angular_velocity_body=(1, -2, 0.3)
)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("method", QUICK)
def test_parameters_against_a_scenario_with_these_numbers(method, version, make):
    moments = {
        "inertia_xx": 1.5,
        "inertia_yy": 2.0,
        "inertia_zz": 3.0,
        "inertia_xy": 0,
        "inertia_xz": 0,
        "inertia_yz": 0,
    }
    instance = make(scenario_of(method), version).instance(0.0, 0.6, **CHANGED, **moments)
    motion = ph.simulate(scenario_of(method, body=ph.Body(3.5, (1.5, 2.0, 3.0)), state=CHANGED_STATE))
    assert all(bits(value) == bits(getattr(motion, OUTPUTS[n])[0]) for n, value in outputs_of(instance).items())
    instance.step_to(0.6)
    assert all(bits(value) == bits(getattr(motion, OUTPUTS[n])[-1]) for n, value in outputs_of(instance).items())
    instance.free()


@pytest.mark.parametrize("pivot", [None, (0.3, -0.1, 0.8)])
@pytest.mark.parametrize(
    "tensor",
    [
        [[2.0, -0.3, 0.1], [-0.3, 1.5, 0.25], [0.1, 0.25, 1.8]],
        [[2.0, 0.5, 0.0], [0.5, 2.0, 0.0], [0.0, 0.0, 2.5]],  # two equal moments
        [[2.0, 1e-9, 0.0], [1e-9, 2.0, 0.0], [0.0, 0.0, 2.0]],
        [[2e-20, 3e-21, 0.0], [3e-21, 3e-20, 1e-22], [0.0, 1e-22, 4e-20]],
    ],
)
def test_a_full_tensor_against_a_scenario_with_it(tensor, pivot, make):
    names = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}
    values = {f"inertia_{name}": tensor[i][j] for name, (i, j) in names.items()}
    forces, changed, state = (GRAVITY,), dict(CHANGED), CHANGED_STATE
    if pivot is not None:  # the velocity follows from the angular velocity
        del changed["start_velocity"]
        state = state.replace(velocity=(0, 0, 0))
    first = START.replace(velocity=(0, 0, 0))
    instance = make(scenario_of(forces=forces, pivot=pivot, state=first)).instance(**changed, **values)
    if pivot is None:
        assert "start_velocity" in instance.fmu.sizes
    else:
        assert "start_velocity" not in instance.fmu.sizes
    body = ph.Body(3.5, tensor)
    motion = ph.simulate(scenario_of(forces=forces, body=body, state=state, pivot=pivot))
    instance.step_to(0.6)
    for name, value in outputs_of(instance).items():
        expected = getattr(motion, OUTPUTS[name])[-1]
        assert np.linalg.norm(value - expected) <= 1e-11 * np.linalg.norm(expected), name
    instance.free()


@pytest.mark.parametrize("pivot", [None, (0.0, 0.0, 2.0)])
def test_the_mass_of_a_particle(pivot, make):
    scenario = scenario_of(forces=(GRAVITY,), body=ph.particle(1.0), state=ph.State(), pivot=pivot)
    instance = make(scenario).instance(mass=4.0, force=(1.0, 0, 0))
    stepper = ph.Stepper(scenario_of(forces=(GRAVITY,), body=ph.particle(4.0), state=ph.State(), pivot=pivot))
    stepper.set_loads(force=(1.0, 0, 0))
    stepper.advance_to(0.6)
    instance.step_to(0.6)
    assert bits(instance.get("position")) == bits(stepper.state.position)
    instance.free()


def test_the_internal_step_is_a_parameter(make):
    instance = make(scenario_of()).instance(step=0.05)
    instance.step_to(0.6)
    assert bits(instance.get("position")) == bits(ph.simulate(scenario_of(step=0.05)).position[-1])
    instance.free()


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"mass": 0.0}, "mass must be greater than 0"),
        ({"inertia_xx": -1.0}, "not positive"),
        ({"inertia_xx": 100.0}, "belong to no solid"),
        ({"start_quaternion": (0, 0, 0, 0)}, "not a rotation"),
        ({"step": 0.0}, "step must be greater than 0"),
    ],
)
@pytest.mark.parametrize("version", VERSIONS)
def test_parameters_of_no_body_are_refused(values, sentence, version, make, capfd):
    fmu = make(scenario_of(), version)
    with pytest.raises(FMICallException):
        fmu.instance(**values)
    assert sentence in "".join(capfd.readouterr())


# What is refused ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("version", VERSIONS)
def test_wrong_values_leave_the_state_as_it_was(version, make, capfd):
    instance = make(scenario_of(), version).instance(0.0, 1.0)
    instance.set(force=(1.0, 2, 3))
    instance.step(0.1)
    before = outputs_of(instance)
    for wrong in (
        lambda: instance.set(force=(math.nan, 0, 0)),
        lambda: instance.set(torque=(0, math.inf, 0)),
        lambda: instance.set(mass=3.0),
        lambda: instance.put("position", (0, 0, 0)),
        lambda: instance.raw.doStep(0.1, 0.0),
        lambda: instance.raw.doStep(0.1, -0.1),
        lambda: instance.raw.doStep(0.1, math.nan),
        lambda: instance.raw.doStep(0.05, 0.1),
        lambda: instance.raw.doStep(0.1, 5.0),
        lambda: instance.raw.enterInitializationMode(),
        lambda: instance.raw.exitInitializationMode(),
    ):
        with pytest.raises(FMICallException):
            wrong()
        assert all(bits(value) == bits(instance.get(name)) for name, value in before.items())
        assert instance.get("force").tolist() == [1.0, 2, 3]
    assert "time goes forward" in "".join(capfd.readouterr())
    instance.step(0.1)
    stepper = ph.Stepper(scenario_of())
    stepper.set_loads(force=(1.0, 2, 3))
    stepper.advance_to(0.2)
    assert np.allclose(instance.get("position"), stepper.state.position, rtol=1e-14, atol=0)
    instance.free()


@pytest.mark.parametrize("method", QUICK)
def test_a_motion_that_explodes_keeps_the_last_state(method, make):
    @ph.force
    def repulsion(t, state, body, params):
        x = state.position[0]
        return (x * x * x * 1e6, 0.0, 0.0), (0.0, 0.0, 0.0)

    scenario = scenario_of(method, (repulsion(),), state=ph.State(position=(1, 0, 0)), step=0.001)
    instance = make(scenario).instance()
    instance.step(0.0005)
    before = outputs_of(instance)
    with pytest.raises(FMICallException):
        instance.step(1.0)
    assert all(bits(value) == bits(instance.get(name)) for name, value in before.items())
    instance.free()


def test_variables_that_do_not_exist_are_refused(make):
    two, three = (make(scenario_of(), version).instance() for version in VERSIONS)
    force = three.fmu.references["force"]
    for wrong in (
        lambda: two.raw.getReal([10_000]),
        lambda: two.raw.setReal([10_000], [1.0]),
        lambda: two.raw.getInteger([1]),
        lambda: three.raw.getFloat64([force], 2),  # it has three numbers
        lambda: three.raw.setFloat64([force], [1.0, 2.0]),
        lambda: three.raw.getFloat64([force + 1], 1),  # a number inside a vector is no variable
        lambda: three.raw.setFloat64([force, 10_000], [1.0, 2.0, 3.0, 4.0]),
        lambda: three.raw.getInt32([force]),
    ):
        with pytest.raises(FMICallException):
            wrong()
    assert two.get("force").tolist() == three.get("force").tolist() == [0, 0, 0]
    two.free()
    three.free()


def test_another_token_is_refused(make):
    fmu = make(scenario_of())
    fmu.description.guid = "{another}"
    with pytest.raises(Exception, match="instantiate"):
        FmuInstance(fmu).instantiate()


@ph.event
def landing(t, state, body, params):
    return state.position[2]


@pytest.mark.parametrize(
    ("scenario", "sentence"),
    [
        (lambda: scenario_of("exact", ()), "takes loads"),
        (lambda: scenario_of("taylor"), "cannot be exported"),
        (lambda: scenario_of(formulation="euler_angles"), "singular"),
        (lambda: scenario_of(state=ph.State(velocity=[(1, 0, 0), (2, 0, 0)])), "one motion"),
        (lambda: scenario_of(events=[landing()]), "events"),
    ],
)
def test_scenarios_that_cannot_be_native(scenario, sentence, tmp_path):
    with pytest.raises(ScenarioError, match=sentence):
        ph.write_fmu(scenario(), tmp_path / "body.fmu")


def test_wrong_arguments(tmp_path, monkeypatch):
    with pytest.raises(InputError, match=r"'2\.0' or '3\.0'"):
        ph.write_fmu(scenario_of(), tmp_path / "body.fmu", "1.0")
    with pytest.raises(FileError, match=r"\.fmu"):
        ph.write_fmu(scenario_of(), tmp_path / "body.zip")
    monkeypatch.setenv("CC", "false")
    with pytest.raises(FileError, match="Name another compiler"):
        ph.write_fmu(scenario_of(), tmp_path / "body.fmu")
    monkeypatch.delenv("CC")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ScenarioError, match="no C compiler"):
        ph.write_fmu(scenario_of(), tmp_path / "body.fmu", compiled=True)
    assert not ph.write_fmu(scenario_of(), tmp_path / "body.fmu")  # a source FMU


def test_equal_scenarios_are_equal_files(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        ph.write_fmu(scenario_of(), tmp_path / name / "body.fmu", compiled=False)
    assert (tmp_path / "a/body.fmu").read_bytes() == (tmp_path / "b/body.fmu").read_bytes()


# Elsewhere ------------------------------------------------------------------------------------------------------------
ALONE = """
import sys

class NoPolhode:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "polhode":
            raise ImportError("polhode is not here")

sys.meta_path.insert(0, NoPolhode())
sys.path[:] = [p for p in sys.path if not p.endswith("src")]
try:
    import polhode
    sys.exit("polhode is here")
except ImportError:
    pass
import fmpy
from fmpy.fmi2 import FMU2Slave

description = fmpy.read_model_description("body.fmu")
names = {v.name: v.valueReference for v in description.modelVariables}
fmu = FMU2Slave(guid=description.guid, instanceName="body", unzipDirectory=fmpy.extract("body.fmu"),
                modelIdentifier=description.coSimulation.modelIdentifier)
fmu.instantiate()
fmu.setupExperiment(startTime=0.0, stopTime=0.6)
fmu.enterInitializationMode()
fmu.exitInitializationMode()
for k in range(12):
    saved = fmu.getFMUstate()
    fmu.setReal([names["force[1]"]], [100.0])
    fmu.doStep(k * 0.05, 0.05)  # a trial that is taken back
    fmu.setFMUstate(saved)
    fmu.doStep(k * 0.05, 0.05)
    print(*(x.hex() for x in fmu.getReal([names[f"position[{i}]"] for i in (1, 2, 3)])))
"""


@pytest.mark.parametrize("method", QUICK)
def test_it_runs_where_polhode_is_not(method, tmp_path):
    scenario = scenario_of(method, step=0.01, output_times=[k * 0.05 + 0.05 for k in range(11)] + [0.6])
    ph.write_fmu(scenario, tmp_path / "body.fmu")
    (tmp_path / "alone.py").write_text(ALONE)
    done = subprocess.run([sys.executable, "-I", "alone.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = [[float.fromhex(x) for x in line.split()] for line in done.stdout.splitlines()]
    assert bits(found) == bits(ph.simulate(scenario).position)


def test_libcosim_simulates_it_too(tmp_path):
    """Another importer, by the Open Simulation Platform: pip install libcosimpy."""
    execution = pytest.importorskip("libcosimpy.CosimExecution")
    from libcosimpy.CosimObserver import CosimObserver
    from libcosimpy.CosimSlave import CosimLocalSlave

    scenario = scenario_of("rk4", step=0.01, output_step=0.05)
    ph.write_fmu(scenario, tmp_path / "body.fmu")
    run = execution.CosimExecution.from_step_size(50_000_000)  # in ns
    body = run.add_local_slave(CosimLocalSlave(str(tmp_path / "body.fmu"), "body"))
    observer = CosimObserver.create_last_value()
    run.add_observer(observer)
    references = {v.name.decode(): v.reference for v in run.slave_variables(body)}
    wanted = [references[f"position[{i}]"] for i in (1, 2, 3)]
    for expected in ph.simulate(scenario).position[1:]:
        assert run.step()
        assert bits(observer.last_real_values(body, wanted)) == bits(expected)


@pytest.mark.long
@pytest.mark.parametrize("version", VERSIONS)
def test_a_source_fmu_compiled_by_fmpy_has_the_same_bits(version, tmp_path):
    from fmpy.build import build_platform_binary

    scenario = scenario_of("dop853", output_step=0.1)
    path = tmp_path / "body.fmu"
    assert not ph.write_fmu(scenario, path, version, compiled=False)
    assert validate_fmu(str(path)) == []
    fmu = Fmu(path, tmp_path / "unpacked")
    build_platform_binary(Path(fmu.folder))
    assert_same_bits(fmu, scenario)
