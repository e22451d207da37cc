"""`ph.Stepper` against `ph.simulate`, to the bit, and against closed forms."""

import numpy as np
import pytest

import polhode as ph
from polhode.errors import RunError, ScenarioError

BODY = ph.Body(mass=2.0, inertia=(1.0, 2.0, 2.5))
START = ph.State(position=(1, 2, 3), velocity=(0.1, 0.2, 0.3), angular_velocity_body=(0.3, 1.0, -0.5))
FIELD = [ph.forces.gravity(), ph.forces.linear_drag(0.1)]
STEPS = ["euler", "midpoint", "rk4", "leapfrog", "splitting2", "splitting4", "splitting4_exact", "splitting6"]
METHODS = [*STEPS, "dop853", "taylor"]


def settings(method):
    return {"method": method, **({"step": 1 / 64} if method in STEPS else {})}


def same_state(one, other):
    names = ("position", "velocity", "quaternion_wxyz", "angular_velocity_body")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


@pytest.mark.parametrize("method", METHODS)
def test_one_advance_has_the_bits_of_simulate(method):
    stepper = ph.Stepper(BODY, START, FIELD, **settings(method))
    stepper.advance(1.0)
    motion = ph.simulate(BODY, START, FIELD, duration=1.0, output_times=[1.0], **settings(method))
    assert stepper.time == 1.0
    if method == "taylor":  # its loads are symbols of their own
        assert stepper.state.position == pytest.approx(motion.final.position, rel=1e-12)
    else:
        assert same_state(stepper.state, motion.final)


@pytest.mark.parametrize("method", METHODS)
def test_save_and_restore_are_exact(method):
    stepper = ph.Stepper(BODY, START, FIELD, **settings(method))
    stepper.set_loads(force=(1, 0, 0), torque_body=(0, 0.1, 0))
    stepper.advance(0.3)
    token = stepper.save()
    stepper.advance(0.2)
    stepper.advance(0.15)
    first = stepper.state
    for _ in range(2):  # a token can be restored again and again
        stepper.restore(token)
        assert stepper.time == 0.3
        stepper.advance(0.2)
        stepper.advance(0.15)
        assert same_state(stepper.state, first)


def test_a_motion_without_forces_is_exact_at_any_time():
    stepper = ph.Stepper(BODY, START, method="exact")
    for k in range(1, 8):
        stepper.advance_to(k / 7)
    motion = ph.simulate(BODY, START, duration=1.0, method="exact")
    assert same_state(stepper.state, motion.final)
    with pytest.raises(ScenarioError, match="closed form"):
        stepper.set_loads(force=(1, 0, 0))


@pytest.mark.parametrize("method", ["rk4", "dop853", "taylor"])
def test_constant_loads_against_the_parabola_and_the_spin_up(method):
    """F/m t^2/2 along the world's x, and torque/I t about a principal axis of the body."""
    stepper = ph.Stepper(BODY, **settings(method))
    stepper.set_loads(force=(3.0, 0, 0), torque_body=(0, 0, 0.5))
    stepper.advance(2.0)
    assert stepper.state.position == pytest.approx((3.0, 0, 0), abs=1e-9)
    assert stepper.state.angular_velocity_body == pytest.approx((0, 0, 0.4), abs=1e-9)
    stepper.set_loads()
    stepper.advance(1.0)
    assert stepper.state.velocity == pytest.approx((3.0, 0, 0), abs=1e-9)


def test_a_force_in_body_axes_turns_with_the_body():
    """A quarter turn about z in 1 s: the mean of a force along the body's x is (2/pi, 2/pi)."""
    spin = ph.State(angular_velocity_body=(0, 0, np.pi / 2))
    stepper = ph.Stepper(ph.Body(mass=1.0, inertia=(1, 1, 1)), spin, method="dop853", rtol=1e-12)
    stepper.set_loads(force_body=(1.0, 0, 0))
    stepper.advance(1.0)
    assert stepper.state.velocity == pytest.approx((2 / np.pi, 2 / np.pi, 0), abs=1e-11)


def test_impulses_and_windows_act_where_they_should():
    """0.5 s of 4 N on 2 kg, then an impulse of 3 N s: across the edges in one advance, or step by step."""
    forces = [
        ph.forces.thruster((0, 0, 0), (1.0, 0, 0), 4.0, start=0.25, stop=0.75),
        ph.forces.impulse((3.0, 0, 0), time=1.0),
    ]
    for parts in ([2.0], [0.1] * 20):
        stepper = ph.Stepper(BODY, forces=forces, method="rk4", step=0.01)
        for part in parts:
            stepper.advance(part)
        assert stepper.state.velocity[0] == pytest.approx(2.5, rel=1e-12)


@pytest.mark.parametrize("method", ["rk4", "dop853"])
def test_a_system_takes_loads_on_each_body(method):
    bodies, states = [ph.particle(1.0), ph.particle(2.0)], [ph.State(), ph.State(position=(1, 0, 0))]
    stepper = ph.Stepper(bodies, states, [ph.forces.spring_between(0, 1, 5.0)], **settings(method))
    stepper.set_loads(force=(1.0, 0, 0), body=0)
    stepper.set_loads(force=(0.5, 0, 0), body=1)
    stepper.advance(1.0)
    momentum = sum(m * s.velocity for m, s in zip((1.0, 2.0), stepper.state, strict=True))
    assert momentum == pytest.approx((1.5, 0, 0), abs=1e-9)


def test_events_on_the_way_are_returned_and_a_stop_ends_the_advance():
    @ph.event
    def height(t, state, body, params):
        return state.position[2] - params[0]

    start, events = ph.State(position=(0, 0, 5.0)), [height(3.75, action="record"), height(0.0)]
    stepper = ph.Stepper(ph.particle(1.0), start, [ph.forces.gravity(10.0)], events=events, method="rk4", step=0.01)
    assert stepper.advance(0.4) == []
    assert [round(e.time, 12) for e in stepper.advance(0.4)] == [0.5]
    assert [round(e.time, 12) for e in stepper.advance(0.4)] == [1.0]
    assert stepper.time == pytest.approx(1.0, rel=1e-13)
    with pytest.raises(ScenarioError, match="stopped"):
        stepper.advance(0.1)


def test_time_goes_forward_and_what_fails_says_so():
    stepper = ph.Stepper(BODY, START, FIELD, method="rk4", step=0.01)
    stepper.advance(0.5)
    with pytest.raises(ScenarioError, match="forward"):
        stepper.advance_to(0.25)
    stepper.set_loads(force=(1e308, 0, 0))
    with pytest.raises(RunError, match="infinite or NaN") as error:
        stepper.advance(100.0)
    assert np.isfinite(error.value.last_good.position).all()
    assert error.value.time >= 0.5


def test_it_takes_a_scenario_and_refuses_members():
    scenario = ph.Scenario(BODY, START, FIELD, duration=1.0, method="rk4", step=1 / 64)
    stepper = ph.Stepper(scenario)
    stepper.advance(1.0)
    assert same_state(stepper.state, ph.simulate(scenario).final)
    many = ph.State(velocity=[(1, 0, 0), (2, 0, 0)])
    with pytest.raises(ScenarioError, match=r"ph\.ensemble"):
        ph.Stepper(BODY, many, method="rk4", step=0.1)
