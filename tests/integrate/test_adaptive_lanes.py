"""Adaptive members in the lanes of a block: each with its own clock, and with the bits that it has alone."""

from __future__ import annotations

import numpy as np
import pytest

import polhode as ph

f = ph.forces
BODY = ph.Body(2.0, (1.0, 2.0, 2.5))
QUANTITIES = ("position", "quaternion_wxyz", "velocity", "angular_velocity_body")


def crowd(count, duration=3.0, **settings):
    """Members that need very different steps: slow and fast spins, thin and thick air."""
    rng = np.random.default_rng(11)
    start = ph.State(
        velocity=rng.normal(size=(70, 3))[:count] * 5,
        angular_velocity_body=(rng.normal(size=(70, 3)) * np.geomspace(0.01, 30.0, 70)[:, None])[:count],
    )
    forces = [f.gravity(), f.quadratic_drag(rng.uniform(0.0, 1.0, 70)[:count])]
    settings = {"method": "dop853", "rtol": 1e-8, "formulation": "body_rates", **settings}  # as "auto" has it
    return ph.Scenario(BODY, start, forces, duration=duration, **settings)


def assert_same(motion, i, alone):
    for name in QUANTITIES:
        assert np.array_equal(getattr(motion, name)[:, i], getattr(alone, name)), name


@pytest.mark.parametrize("count", [8, 31, 33, 70])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_member_has_the_bits_that_it_has_alone(count, threads):
    motion = ph.ensemble(crowd(count, output_times=[3.0]), threads=threads)
    for i in {0, count // 2, count - 1}:
        assert_same(motion, i, ph.simulate(crowd(70, output_times=[3.0]).take(i)))


def test_outputs_inside_steps_have_the_same_bits_too():
    scenario = crowd(40, output_step=0.11)
    motion = ph.ensemble(scenario)
    for i in (0, 7, 39):
        alone = ph.simulate(scenario.take(i))
        assert_same(motion, i, alone)
        assert np.array_equal(motion.attitude_drift[:, i], alone.attitude_drift)


@pytest.mark.filterwarnings("ignore:engine='python'")
def test_plain_python_has_the_same_bits():
    motion = ph.ensemble(crowd(40, output_step=0.5))
    assert_same(motion, 5, ph.simulate(crowd(40, output_step=0.5, engine="python").take(5)))


@pytest.mark.parametrize("portion", [1e-9, 1e-5])
def test_lanes_do_not_depend_on_how_a_run_is_portioned(portion, monkeypatch):
    whole = ph.ensemble(crowd(40, output_step=0.5))
    monkeypatch.setattr("polhode.integrate.integrator.PORTION_S", portion)
    cut = ph.ensemble(crowd(40, output_step=0.5))
    for name in QUANTITIES:
        assert np.array_equal(getattr(whole, name), getattr(cut, name))
    assert whole.steps == cut.steps


@ph.force
def cliff(t, state, body, params):
    """Not a number from x = params[0] on."""
    push = ph.if_less(state.position[0], params[0], 0.0, float("nan"))
    return (push, 0.0, 0.0), (0.0, 0.0, 0.0)


def pushed(cliff_at, start, stop):
    """A cliff and a thruster's window: one structure, and so one compilation, for both tests below."""
    return [cliff(cliff_at), f.thruster((0.1, 0, 0), (0, 0, 1), 2.0, start, stop)]


def test_members_keep_their_own_step_across_impulses_and_windows():
    forces = [*pushed(1e9, 1.0, 1.3), f.impulse((1.0, 0.0, 0.0), 0.7, (0.0, 0.1, 0.0))]
    with_impulses = ph.Scenario(BODY, crowd(40).state, forces, duration=3.0, output_step=0.4, rtol=1e-8)
    motion = ph.ensemble(with_impulses, threads=2)
    for i in (0, 20, 39):
        assert_same(motion, i, ph.simulate(with_impulses.take(i)))


def test_an_ensemble_takes_the_steps_of_its_members():
    motion = ph.ensemble(crowd(33, output_times=[3.0]))
    alone = [ph.simulate(crowd(33, output_times=[3.0]).take(i)) for i in range(33)]
    assert motion.steps == sum(one.steps for one in alone)
    assert motion.audit().refused == sum(one.audit().refused for one in alone)
    assert max(one.steps for one in alone) > 3 * min(one.steps for one in alone)


@pytest.mark.parametrize("settings", [{}, {"output_step": 0.1}], ids=["final", "outputs"])
def test_a_member_that_fails_does_not_disturb_its_neighbors(settings):
    speeds = np.zeros((40, 3))
    speeds[:, 0] = np.linspace(0.1, 0.9, 40)
    speeds[3, 0] = 2.0
    start = ph.State(velocity=speeds, angular_velocity_body=(0.1, 0.2, 0.3))
    with pytest.raises(ph.PolhodeError, match="member 3") as stopped:
        ph.ensemble(
            BODY,
            start,
            pushed(1.0, np.inf, np.inf),
            duration=1.0,
            method="dop853",
            formulation="body_rates",
            **settings,
        )
    error = stopped.value
    assert error.time == pytest.approx(0.5, rel=1e-9)
    others = np.arange(40) != 3
    assert np.isfinite(error.motion.position[:, others]).all()
    assert error.motion.final.position[others, 0] == pytest.approx(speeds[others, 0], rel=1e-9)
    assert np.isnan(error.motion.final.position[3]).all()
    valid = error.motion.times < 0.5
    assert np.isfinite(error.motion.position[valid, 3]).all()


def test_lanes_without_a_body_are_no_failure(monkeypatch):
    """37 bodies leave 27 lanes of two blocks unused; their memory is whatever was there before: here NaN."""
    bodies = 37
    states = [ph.State(velocity=(0, 0.1 * i, 0), angular_velocity_body=(0.1, 1.0 + i, 0.2)) for i in range(bodies)]
    body, forces = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0), [f.linear_drag(0.5)]
    settings = {"duration": 0.5, "output_step": 0.01, "method": "dop853"}
    alone, empty = ph.simulate(body, states[36], forces, **settings), np.empty

    def full_of_nan(*arguments, **options):
        room = empty(*arguments, **options)
        if room.dtype == np.float64:
            room.fill(np.nan)
        return room

    monkeypatch.setattr(np, "empty", full_of_nan)
    motion = ph.simulate([body] * bodies, states, forces, **settings)
    assert np.array_equal(motion.quaternion_wxyz[:, 36], alone.quaternion_wxyz)
