"""The same contacts by another road: ensembles, threads, engine, method and stepper."""

from __future__ import annotations

import numpy as np
import pytest

import polhode as ph
from contact_reference import G, random_quaternions

pytestmark = pytest.mark.filterwarnings("ignore:engine='python'")
GRAVITY = [ph.forces.gravity(G)]
BODIES = {
    "box": ph.shapes.box((0.3, 0.2, 0.1), mass=1.0),
    "cylinder": ph.shapes.cylinder(0.1, 0.25, mass=1.0),
    "ellipsoid": ph.shapes.ellipsoid((0.2, 0.12, 0.08), mass=1.0),
}


def throws(n, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "position": np.array([0.0, 0.0, 0.5]) + rng.uniform(0, 0.3, size=(n, 3)),
        "quaternion_wxyz": random_quaternions(rng, n),
        "velocity": rng.normal(size=(n, 3)),
        "angular_velocity_body": 6 * rng.normal(size=(n, 3)),
    }


def one(numbers, i):
    return ph.State(**{name: value[i] for name, value in numbers.items()})


def assert_same_bits(a, b):
    assert np.array_equal(a.position, b.position)
    assert np.array_equal(a.quaternion_wxyz, b.quaternion_wxyz)
    assert np.array_equal(a.velocity, b.velocity)
    assert np.array_equal(a.angular_velocity_body, b.angular_velocity_body)
    assert np.array_equal(a.impacts.time, b.impacts.time)
    assert np.array_equal(a.impacts.normal_impulse, b.impacts.normal_impulse)
    assert np.array_equal(a.contact_forces, b.contact_forces)


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("method", ["exact", "dop853"])
def test_members_of_an_ensemble_equal_single_runs_to_the_last_bit(name, method):
    n, numbers = 6, throws(6)
    friction, restitution = np.linspace(0.05, 0.8, n), np.linspace(0.1, 0.8, n)
    settings = {"duration": 2.0, "output_step": 0.05, "method": method}
    many = ph.ensemble(
        BODIES[name], ph.State(**numbers), GRAVITY, contacts=[ph.floor(restitution, friction)], **settings
    )
    for i in range(n):
        floor = ph.floor(restitution[i], friction[i])
        assert_same_bits(
            many.member(i), ph.simulate(BODIES[name], one(numbers, i), GRAVITY, contacts=[floor], **settings)
        )


def test_the_number_of_threads_changes_no_bit():
    numbers = throws(64, seed=1)
    settings = {"duration": 3.0, "output_step": 0.1, "contacts": [ph.floor(0.5, 0.3)]}
    a, b = (ph.ensemble(BODIES["box"], ph.State(**numbers), GRAVITY, threads=threads, **settings) for threads in (1, 2))
    assert np.array_equal(a.position, b.position)
    assert np.array_equal(a.quaternion_wxyz, b.quaternion_wxyz)
    assert np.array_equal(a.impacts.time, b.impacts.time)


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("method", ["exact", "dop853"])
def test_the_python_engine_equals_the_compiled_one_to_the_last_bit(name, method):
    settings = {"duration": 0.6, "output_step": 0.05, "method": method, "contacts": [ph.floor(0.3, 0.3)]}
    state = one(throws(1, seed=2), 0)
    compiled, written = (
        ph.simulate(BODIES[name], state, GRAVITY, engine=engine, **settings) for engine in ("cpu", "python")
    )
    assert len(compiled.impacts) > 0
    assert_same_bits(compiled, written)


def test_outputs_do_not_change_the_motion():
    state = one(throws(1, seed=3), 0)
    floor = [ph.floor(0.5, 0.3)]
    few = ph.simulate(BODIES["box"], state, GRAVITY, duration=2.0, output_times=[2.0], contacts=floor)
    many = ph.simulate(BODIES["box"], state, GRAVITY, duration=2.0, output_step=0.001, contacts=floor)
    assert np.array_equal(few.position[-1], many.position[-1])
    assert np.array_equal(few.impacts.time, many.impacts.time)


def test_exact_and_dop853_find_the_same_first_impacts():
    state = one(throws(1, seed=4), 0)
    floor = [ph.floor(0.5, 0.3)]
    exact = ph.simulate(BODIES["box"], state, GRAVITY, duration=1.0, output_times=[1.0], contacts=floor, method="exact")
    steps = ph.simulate(
        BODIES["box"], state, GRAVITY, duration=1.0, output_times=[1.0], contacts=floor, method="dop853", rtol=1e-12
    )
    n = min(4, len(exact.impacts))
    assert n >= 2
    assert steps.impacts.time[:n] == pytest.approx(exact.impacts.time[:n], abs=1e-8)


def test_a_stepper_equals_a_run():
    state = one(throws(1, seed=5), 0)
    floor = [ph.floor(0.5, 0.3)]
    times = np.arange(1, 41) * 0.05
    run = ph.simulate(
        BODIES["box"], state, GRAVITY, duration=2.0, output_times=times, contacts=floor, method="dop853", rtol=1e-12
    )
    stepper = ph.Stepper(BODIES["box"], state, GRAVITY, contacts=floor, method="dop853", duration=2.0, rtol=1e-12)
    first = run.impacts.time[min(3, len(run.impacts) - 1)]
    for i, _ in enumerate(times):
        stepper.advance(0.05)
        if times[i] < first:
            assert stepper.state.position == pytest.approx(run.position[i], abs=1e-8)
    assert stepper.state.position[2] == pytest.approx(run.position[-1, 2], abs=0.2)


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("length", [2.0**-20, 2.0**20])
def test_a_motion_in_other_units_has_the_same_bits(name, length):
    """Powers of two in mass, length and time: any absolute tolerance would show."""
    mass, time = 2.0**-9, 2.0**4
    make = {
        "box": lambda s, m: ph.shapes.box(np.array((0.3, 0.2, 0.1)) * s, mass=m),
        "cylinder": lambda s, m: ph.shapes.cylinder(0.1 * s, 0.25 * s, mass=m),
        "ellipsoid": lambda s, m: ph.shapes.ellipsoid(np.array((0.2, 0.12, 0.08)) * s, mass=m),
    }[name]

    def run(length, mass, time):
        rng = np.random.default_rng(5)
        start = ph.State(
            position=np.array([0.0, 0.0, 0.6]) * length,
            quaternion_wxyz=random_quaternions(rng, 1)[0],
            velocity=rng.normal(size=3) * (length / time),
            angular_velocity_body=6 * rng.normal(size=3) / time,
        )
        return ph.simulate(
            make(length, mass), start, [ph.forces.gravity(G * length / time**2)], duration=1.5 * time,
            output_step=0.125 * time, contacts=[ph.floor(0.4, 0.3)],
        )  # fmt: skip

    ours, theirs = run(1.0, 1.0, 1.0), run(length, mass, time)
    assert len(ours.impacts) == len(theirs.impacts) > 3
    assert np.array_equal(ours.impacts.time, np.asarray(theirs.impacts.time) / time)
    assert np.array_equal(ours.position, theirs.position / length)
    assert np.array_equal(ours.quaternion_wxyz, theirs.quaternion_wxyz)
