"""The same bits, whatever stands beside a body: alone or in a crowd, in any lane, on any thread, in plain Python."""

import numpy as np
import pytest

import polhode as ph

COUNTS = (1, 15, 16, 17, 31, 32, 33, 1000)
SETTINGS = {"duration": 0.5, "step": 0.01, "method": "rk4"}


@ph.force
def gust(t, state, body, params):
    """A force of the user's own, with a sine and a decision in it."""
    push = params[0] * ph.sin(3.0 * t) * ph.if_less(state.position[2], 0.0, 1.0, 0.5)
    return (push, 0.0 * t, 0.0 * t), ph.to_world(state.orientation, (0.0 * t, push, 0.0 * t))


def crowd(count):
    """The first `count` members of one fixed crowd."""
    rng = np.random.default_rng(7)
    draw = {name: rng.normal(size=(1000, 3)) for name in ("position", "velocity", "spin")}
    q = rng.normal(size=(1000, 4))
    moments, mass, drag = rng.uniform(1.0, 1.5, (1000, 3)), rng.uniform(1.0, 3.0, 1000), rng.uniform(0.0, 0.3, 1000)
    body = ph.Body(mass=mass[:count], inertia=moments[:count, :, None] * np.eye(3))
    state = ph.State(
        position=draw["position"][:count],
        quaternion_wxyz=q[:count],
        velocity=draw["velocity"][:count],
        angular_velocity_body=draw["spin"][:count],
    )
    forces = [ph.forces.gravity(), ph.forces.quadratic_drag(drag[:count], wind=(1, 0, 0)), gust(drag[:count])]
    return body, state, forces


def alone(i):
    body, state, forces = crowd(1000)
    one = ph.Scenario(body, state, forces, **SETTINGS).take(i)
    return one.bodies[0], one.states[0], one.forces


def same_bits(a, b):
    return all(
        np.array_equal(getattr(a, name), getattr(b, name))
        for name in ("position", "quaternion_wxyz", "velocity", "angular_velocity_body")
    )


def member(state, i):
    return ph.State(
        position=state.position[i],
        quaternion_wxyz=state.quaternion_wxyz[i],
        velocity=state.velocity[i],
        angular_velocity_body=state.angular_velocity_body[i],
    )


@pytest.fixture(scope="module")
def thousand():
    return ph.ensemble(*crowd(1000), **SETTINGS).final


@pytest.mark.parametrize("count", COUNTS)
def test_a_member_has_the_same_bits_in_crowds_of_every_size_and_on_1_and_2_threads(count, thousand):
    for threads in (1, 2):
        final = ph.ensemble(*crowd(count), threads=threads, **SETTINGS).final
        for i in {0, count // 2, count - 1}:
            assert same_bits(member(final, i), member(thousand, i))


@pytest.mark.parametrize("i", [0, 15, 16, 31, 32, 999])
def test_a_member_has_the_same_bits_alone(i, thousand):
    final = ph.simulate(*alone(i), **SETTINGS).final
    assert same_bits(final, member(thousand, i))


def test_plain_python_has_the_same_bits(thousand):
    with pytest.warns(UserWarning, match="uncompiled"):
        final = ph.simulate(*alone(5), engine="python", **SETTINGS).final
    assert same_bits(final, member(thousand, 5))


def test_runs_repeat_to_the_bit():
    finals = [ph.ensemble(*crowd(17), **SETTINGS).final for _ in range(3)]
    assert same_bits(finals[0], finals[1])
    assert same_bits(finals[1], finals[2])


@pytest.mark.parametrize("method", ["rk4", "leapfrog"])
def test_a_system_whose_spring_is_slack_has_the_bits_of_free_bodies(method):
    """The stage-by-stage loop of systems and the lanes of ensembles compute the same sums in the same order."""
    rng = np.random.default_rng(3)
    spins, settings = rng.normal(size=(20, 3)), {"duration": 0.5, "step": 0.01, "method": method}
    body = ph.Body(mass=2.0, inertia=(1.0, 1.2, 1.4))
    spring = ph.forces.spring_between(0, 1, 0.0)
    together = ph.simulate(
        [body] * 20, [ph.State(angular_velocity_body=w) for w in spins], [ph.forces.gravity(), spring], **settings
    ).final
    free = ph.ensemble(body, ph.State(angular_velocity_body=spins), [ph.forces.gravity()], **settings).final
    for i, state in enumerate(together):
        assert np.array_equal(state.quaternion_wxyz, free.quaternion_wxyz[i])
        assert np.array_equal(state.angular_velocity_body, free.angular_velocity_body[i])


@pytest.mark.parametrize("count", [1, 17])
def test_adaptive_members_have_the_same_bits_alone_and_in_a_crowd(count):
    body, state, forces = crowd(1000)
    scenario = ph.Scenario(body, state, forces[:2], duration=0.5, output_times=[0.5])
    final = ph.ensemble(scenario.take(np.arange(count))).final
    last = ph.simulate(scenario.take(count - 1)).final
    assert same_bits(last, member(final, count - 1))


def test_output_times_do_not_change_the_motion():
    body, state, forces = alone(2)
    few = ph.simulate(body, state, forces, output_times=[0.5], **SETTINGS)
    many = ph.simulate(body, state, forces, output_step=0.0037, **SETTINGS)
    assert same_bits(few.final, many.final)


@pytest.mark.parametrize("settings", [SETTINGS, {"duration": 0.5}])
def test_a_time_between_outputs_is_what_an_output_there_would_have_been(settings):
    body, state, forces = alone(3)
    forces = [*forces[:2], ph.forces.impulse((1.0, 0.0, 0.0), 0.2043, (0.0, 0.1, 0.0))]
    moments = [0.1, 0.1234, 0.2043, 0.2044, 0.333, 0.41]
    sparse = ph.simulate(body, state, forces, output_step=0.05, **settings)
    dense = ph.simulate(body, state, forces, output_times=moments, **settings)
    for i, t in enumerate(moments):
        between = sparse.at(t)
        assert np.array_equal(between.position, dense.position[i])
        assert np.array_equal(between.angular_velocity_body, dense.angular_velocity_body[i])


@pytest.mark.parametrize("formulation", ["momentum", "momentum_matrix"])
def test_a_spin_that_nothing_can_change_is_left_alone_to_the_bit(formulation):
    """Gravity and drag turn nothing: the crowd's steps skip the angular momentum, the lone body's add zero to it."""
    body, state, forces = crowd(40)
    settings = {**SETTINGS, "formulation": formulation}
    final = ph.ensemble(body, state, forces[:2], **settings).final
    scenario = ph.Scenario(body, state, forces[:2], **settings)
    for i in (0, 39):
        assert same_bits(ph.simulate(scenario.take(i)).final, member(final, i))


@pytest.mark.parametrize("portion", [1e-9, 1e-4])
def test_adaptive_steps_do_not_depend_on_how_a_run_is_portioned(portion, monkeypatch):
    """A crowd reports more often than a lone body: what a refused step taught must outlast the report."""
    body, orbit = ph.particle(1.0), ph.State(position=(1.0, 0.0, 0.0), velocity=(0.0, 0.3, 0.0))
    pull = [ph.forces.point_gravity(1.0)]
    whole = ph.simulate(body, orbit, pull, duration=20.0, output_times=[20.0], rtol=1e-8, method="dop853")
    monkeypatch.setattr("polhode.integrate.integrator.PORTION_S", portion)
    cut = ph.simulate(body, orbit, pull, duration=20.0, output_times=[20.0], rtol=1e-8, method="dop853")
    assert whole.audit().refused > 20
    assert same_bits(whole.final, cut.final)


def test_adaptive_members_keep_their_own_step_across_an_event():
    body, state, forces = crowd(1000)
    impulse = ph.forces.impulse((1.0, 0.0, 0.0), 0.2, (0.0, 0.1, 0.0))
    scenario = ph.Scenario(body, state, [*forces[:2], impulse], duration=0.5, output_times=[0.5], method="dop853")
    final = ph.ensemble(scenario.take(np.arange(5))).final
    for i in range(5):
        assert same_bits(ph.simulate(scenario.take(i)).final, member(final, i))
