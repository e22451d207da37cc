"""Members are the same in any chunk, any subset and any process; build functions that cannot work are explained."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

import polhode as ph
from polhode.ensembles.sampling.designs import DESIGNS
from polhode.errors import InputError, ScenarioError
from polhode.scenario.force import flatten_leaves


def build(draw):
    body = ph.Body(
        mass=draw.lognormal("mass", 2.0, 0.1),
        inertia=draw.scattered_inertia("inertia", (1.0, 2.0, 2.5), 0.2, 0.1),
    )
    state = ph.State(
        position=draw.uniform("position", (-1, -1, 0), (1, 1, 2)),
        quaternion_wxyz=draw.random_rotation("attitude"),
        velocity=draw.normal("velocity", (1.0, 2.0, 3.0), covariance=np.diag((1.0, 0.5, 0.1))),
        angular_velocity_body=5 * draw.random_direction("spin", half_angle=0.1),
    )
    forces = [ph.forces.gravity(), ph.forces.quadratic_drag(draw.truncated_normal("drag", 0.1, 0.1, low=0.0))]
    return ph.Scenario(body, state, forces, duration=0.1, step=0.01, method="rk4")


def build_backwards(draw):
    """The same inputs, drawn in another order, beside one more."""
    drag = draw.truncated_normal("drag", 0.1, 0.1, low=0.0)
    draw.normal("another", 0.0, 1.0)
    mass = draw.lognormal("mass", 2.0, 0.1)
    body = ph.Body(mass=mass, inertia=(1.0, 2.0, 2.5))
    return ph.Scenario(body, None, [ph.forces.quadratic_drag(drag)], duration=0.1, step=0.01, method="rk4")


def numbers(scenario):
    return [np.asarray(leaf) for leaf in flatten_leaves(tuple(scenario.problem))]


def assert_same_members(whole, places, part):
    """The numbers of a part are those of these places of the whole, to the bit."""
    for all_of_them, some in zip(numbers(whole), numbers(part), strict=True):
        assert np.array_equal(all_of_them[places] if all_of_them.ndim else all_of_them, some)


@pytest.mark.parametrize("design", DESIGNS)
def test_members_do_not_depend_on_chunks_and_subsets(design):
    source = ph.DrawnSource(build, 1000, seed=5, design=design)
    whole = source.take(np.arange(1000))
    drawn = source.inputs(np.arange(1000))
    for places in (np.arange(1), np.arange(2), np.arange(3), np.arange(4, 7), np.arange(100, 228), [999, 3, 3, 500]):
        assert_same_members(whole, places, source.take(places))
        assert source.take(places).members == len(places)
        for name, values in source.inputs(places).items():
            assert np.array_equal(values, drawn[name][places])


@pytest.mark.parametrize("design", DESIGNS)
def test_a_billion_members_are_taken_by_their_numbers(design):
    source = ph.DrawnSource(build, 10**9, seed=5, design=design)
    some = np.linspace(0, 10**9 - 1, 64).astype(np.int64)
    assert_same_members(source.take(some), [63], source.take([10**9 - 1]))


def test_the_run_of_some_members_has_the_bits_of_the_run_of_all():
    source = ph.DrawnSource(build, 200, seed=1)
    whole = ph.ensemble(source.take(np.arange(200))).final
    part = ph.ensemble(source.take([7, 150, 8])).final
    assert np.array_equal(part.position, whole.position[[7, 150, 8]])
    assert np.array_equal(part.quaternion_wxyz, whole.quaternion_wxyz[[7, 150, 8]])


def test_inputs_are_what_the_scenario_is_made_of():
    source = ph.DrawnSource(build, 50, seed=1)
    scenario, drawn = source.take(np.arange(50)), source.inputs(np.arange(50))
    assert source.input_names == ("attitude", "drag", "inertia", "mass", "position", "spin", "velocity")
    assert {name: values.shape for name, values in drawn.items()} == {
        "attitude": (50, 4),
        "drag": (50,),
        "inertia": (50, 3, 3),
        "mass": (50,),
        "position": (50, 3),
        "spin": (50, 3),
        "velocity": (50, 3),
    }
    assert np.array_equal(scenario.body.mass, drawn["mass"])
    assert np.array_equal(scenario.body.inertia_body, drawn["inertia"])
    assert np.array_equal(scenario.state.angular_velocity_body, 5 * drawn["spin"])


@pytest.mark.parametrize("design", ["random", "latin_hypercube"])
def test_order_and_other_inputs_do_not_matter(design):
    one = ph.DrawnSource(build, 100, seed=5, design=design).inputs(np.arange(100))
    other = ph.DrawnSource(build_backwards, 100, seed=5, design=design).inputs(np.arange(100))
    assert np.array_equal(one["mass"], other["mass"])
    assert np.array_equal(one["drag"], other["drag"])
    third = ph.DrawnSource(build, 100, seed=6, design=design).inputs(np.arange(100))
    assert not np.isin(one["mass"], third["mass"]).any()


def test_moments_of_three_members_are_not_a_tensor():
    def with_moments(draw):
        moments = draw.uniform("moments", (2.0, 2.0, 2.0), (3.0, 3.0, 3.0))
        return ph.Scenario(ph.Body(mass=1.0, inertia=moments), duration=1.0)

    source = ph.DrawnSource(with_moments, 10)
    assert np.array_equal(source.take([0, 1, 2]).body.principal_moments, source.inputs([0, 1, 2])["moments"])


def test_tables_of_a_force_are_not_taken_for_members():
    @ph.force
    def gust(t, state, body, params):
        times, speeds, strength = params
        return (strength * ph.interp(t, times, speeds), 0.0, 0.0), (0.0, 0.0, 0.0)

    def with_table(draw):
        table = np.linspace(0.0, 1.0, 7)
        force = gust(table, table**2, draw.normal("strength", 1.0, 0.1))
        return ph.Scenario(ph.particle(1.0), None, [force], duration=0.2, step=0.1, method="rk4")

    source = ph.DrawnSource(with_table, 20)
    whole = ph.ensemble(source.take(np.arange(20))).final.velocity
    assert np.ptp(whole[:, 0]) > 0
    for n in (5, 6, 7, 8):
        assert np.array_equal(ph.ensemble(source.take(np.arange(n))).final.velocity, whole[:n])


def test_a_source_travels_to_other_processes():
    source = ph.DrawnSource(build, 1000, seed=5, design="sobol")
    sent = pickle.loads(pickle.dumps(source))
    assert_same_members(source.take(np.arange(10)), np.arange(10), sent.take(np.arange(10)))


def test_descriptions_are_plain_and_tell_sources_apart():
    def heavier(draw):
        return ph.Scenario(ph.particle(draw.normal("mass", 1.0, 0.1)), duration=1.0)

    def lighter(draw):
        return ph.Scenario(ph.particle(draw.normal("mass", 1.0, 0.1) / 2), duration=1.0)

    described = ph.DrawnSource(build, 1000, seed=5).describe()
    assert json.loads(json.dumps(described, allow_nan=False)) == described
    assert described["inputs"]["mass"] == {
        "distribution": "lognormal",
        "median": 2.0,
        "log_standard_deviation": 0.1,
    }
    assert described == ph.DrawnSource(build, 1000, seed=5).describe()
    assert described["digest"] != ph.DrawnSource(build, 1000, seed=6).describe()["digest"]
    assert ph.DrawnSource(heavier, 9).describe()["digest"] != ph.DrawnSource(lighter, 9).describe()["digest"]


def scenario_of(mass):
    return ph.Scenario(ph.particle(mass), duration=1.0)


def draw_differently():
    calls = []

    def sometimes(draw):
        calls.append(draw)
        return scenario_of(draw.normal("mass" if len(calls) < 2 else "weight", 1.0, 0.1))

    return sometimes


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda draw: (draw.normal("mass", 1.0, 0.1), scenario_of(1.0))[1], "nothing in the scenario .*mass"),
        (lambda draw: scenario_of(1.0), "build draws nothing"),
        (lambda draw: draw.normal("mass", 1.0, 0.1), "build must return a Scenario"),
        (lambda draw: scenario_of(draw.normal("mass", 1.0, 0.1)[:2]), "called for 5 members, but returned a .* of 2"),
        (lambda draw: scenario_of(draw.normal("b", draw.normal("a", 1, 0.1), 0.1)[:, 0]), "'b' changes from call to"),
        (draw_differently(), "draw the same inputs in every call, but mass, weight"),
    ],
)
def test_a_build_function_that_cannot_work_is_explained(attempt, message):
    with pytest.raises(ScenarioError, match=message):
        ph.DrawnSource(attempt, 100)


GENERATOR = np.random.default_rng(0)


@pytest.mark.parametrize(
    "factor",
    [
        lambda mass: GENERATOR.uniform(1.0, 2.0, len(mass)),
        lambda mass: np.random.default_rng(1).uniform(1.0, 2.0, len(mass)),
        lambda mass: np.linspace(1.0, 2.0, len(mass)),
        lambda mass: 1.0 + np.arange(len(mass)),
        lambda mass: 1.0 / mass.mean(),
    ],
)
def test_numbers_that_are_not_drawn_are_refused(factor):
    def build(draw):
        mass = draw.uniform("mass", 1.0, 2.0)
        return scenario_of(mass * factor(mass))

    with pytest.raises(ScenarioError, match="every number that varies must come from draw"):
        ph.DrawnSource(build, 100)


def test_numbers_that_follow_from_the_number_of_the_member_are_not():
    def build(draw):
        return scenario_of(draw.uniform("mass", 1.0, 2.0) + draw.members)

    assert ph.DrawnSource(build, 100).take([99]).members == 1


def test_numbers_that_no_body_can_have_get_a_note():
    with pytest.raises(InputError, match="mass must be greater than 0") as caught:
        ph.DrawnSource(lambda draw: scenario_of(draw.normal("mass", -1.0, 0.1)), 100)
    assert "draw.truncated_normal" in caught.value.__notes__[0]


def test_components_that_are_arrays_are_stacked():
    def build(draw):
        speed = draw.uniform("speed", 1.0, 2.0)
        return ph.Scenario(ph.particle(1.0), ph.State(velocity=(speed, 0.0, speed)), duration=1.0)

    with pytest.raises(InputError, match=r"not a tuple of arrays: write np.stack\(np.broadcast_arrays"):
        ph.DrawnSource(build, 100)


def test_scalar_thinking_gets_a_note():
    with pytest.raises((TypeError, ValueError)) as caught:
        ph.DrawnSource(lambda draw: scenario_of(float(draw.normal("mass", 1.0, 0.1))), 100)
    assert "called with arrays" in caught.value.__notes__[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"members": 0}, "members must be a whole number, 1 or more"),
        ({"members": 1.5}, "members must be a whole number"),
        ({"seed": -1}, "seed must be a whole number, 0 or more"),
        ({"design": "sobel"}, "did you mean 'sobol'"),
        ({"build": 3}, "needs a function build"),
    ],
)
def test_wrong_arguments_are_explained(change, message):
    with pytest.raises(ScenarioError, match=message):
        ph.DrawnSource(**({"build": build, "members": 10} | change))


@pytest.mark.parametrize("members", [[-1], [10], [], [0.5], [[1, 2]]])
def test_members_that_are_not_there_are_refused(members):
    with pytest.raises(InputError, match="members"):
        ph.DrawnSource(build, 10).take(members)
