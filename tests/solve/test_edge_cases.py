"""Corners where a newcomer could stumble: many forces, odd starts, continued runs, claims of the audit."""

import numpy as np
import pytest

import polhode as ph
from polhode.equations.quaternions import from_angles
from polhode.errors import ScenarioError, SingularityError

BODY = ph.Body(mass=1.0, inertia=(1.0, 1.2, 2.0))


def test_a_long_chain_of_springs_is_one_loop_and_keeps_its_energy():
    count = 60
    states = [ph.State(position=(i, 0, 0.1 * (i % 3))) for i in range(count)]
    springs = [
        ph.forces.spring_between(i, i + 1, 50.0, (0.3, 0, 0), (-0.3, 0, 0), length=0.3) for i in range(count - 1)
    ]
    audit = ph.simulate([BODY] * count, states, springs, duration=0.2, step=1e-3, method="rk4").audit()
    assert audit["energy"].relative < 1e-10
    assert audit["linear momentum"].relative < 1e-13


def test_twenty_four_forces_on_one_body_add_up():
    forces = [ph.forces.force_at((0.0, 0.0, float(i)), (0.1 * i, 0.0, 0.0)) for i in range(24)]
    motion = ph.simulate(BODY, forces=forces, duration=1e-3, step=1e-3, method="euler")
    assert motion.final.velocity == pytest.approx((0, 0, sum(range(24)) * 1e-3))
    torque = -sum(0.1 * i * i for i in range(24))
    assert motion.final.angular_velocity == pytest.approx((0, torque / 1.2 * 1e-3, 0))


@ph.pair_force
def sideways(t, a, body_a, b, body_b, params):
    return (1.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)


def test_a_pair_force_of_one_s_own_is_not_said_to_keep_the_angular_momentum():
    states = [ph.State(), ph.State(position=(0, 1, 0))]
    motion = ph.simulate([BODY] * 2, states, [sideways(0, 1)], duration=1.0, step=0.01, engine="python")
    found = motion.audit()["angular momentum about the origin"]
    assert not found.conserved
    assert found.departure == pytest.approx(1.0)


def shaken_potential(t, state, body, params):
    return params[0] * state.position[0] * ph.sin(t)


@ph.force(potential=shaken_potential)
def shaken(t, state, body, params):
    return (-params[0] * ph.sin(t), 0.0, 0.0), (0.0, 0.0, 0.0)


def test_a_potential_that_changes_with_time_keeps_no_energy():
    found = ph.simulate(BODY, forces=[shaken(3.0)], duration=1.0, step=0.01, engine="python").audit()["energy"]
    assert not found.conserved
    assert "time" in found.reason


@pytest.mark.parametrize("settings", [{"step": 0.01}, {}])
def test_euler_angles_that_begin_at_the_vertical_say_so(settings):
    state = ph.State(angular_velocity_body=(0, 1, 0))
    with pytest.raises(SingularityError, match="vertical after t = 0 s"):
        ph.simulate(BODY, state, duration=1.0, formulation="euler_angles", engine="python", **settings)


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_only_the_direction_of_a_thruster_counts(size):
    assert ph.forces.thruster((0, 0, 0), (0, size, 0), 3.0).params[1] == pytest.approx((0, 3, 0))


def test_a_pivot_motion_goes_on_from_its_final_state():
    top = ph.Body(mass=1.0, inertia=(0.2, 0.2, 0.4))
    start = ph.State(quaternion_wxyz=from_angles((0.0, 0.7, 0.0)), angular_velocity_body=(0, 1, 10))
    settings = {"step": 1e-3, "method": "rk4", "pivot": (0, 0, -1.0)}
    whole = ph.simulate(top, start, [ph.forces.gravity()], duration=1.0, **settings).final
    half = ph.simulate(top, start, [ph.forces.gravity()], duration=0.5, **settings).final
    rest = ph.simulate(top, half, [ph.forces.gravity()], duration=0.5, **settings).final
    assert rest.time == 1.0
    assert rest.position == pytest.approx(whole.position, abs=1e-11)
    with pytest.raises(ScenarioError, match="leave it at zero"):
        ph.simulate(top, start.replace(velocity=(0, 1, 0)), [ph.forces.gravity()], duration=1.0, **settings)


def test_an_ensemble_keeps_only_the_end_unless_asked():
    scenario = ph.Scenario(ph.particle(1.0), ph.State(velocity=np.eye(3)), duration=1.0, step=0.01)
    assert ph.ensemble(scenario).times.tolist() == [1.0]
    assert (
        ph.ensemble(ph.particle(1.0), ph.State(velocity=np.eye(3)), duration=np.array(1.0), step=0.01).times.size == 1
    )


def test_a_time_so_late_that_no_step_shows_is_refused():
    with pytest.raises(ScenarioError, match="lost to rounding"):
        ph.simulate(BODY, ph.State(time=1e17), duration=1.0, step=0.01)


def test_an_impulse_that_never_strikes_is_told():
    with pytest.warns(UserWarning, match="never applied"):
        ph.simulate(BODY, forces=[ph.forces.impulse((1, 0, 0), 3.0)], duration=1.0, step=0.1)


@pytest.mark.parametrize("threads", [0, -1, 1.5, "two", True])
def test_threads_are_counted(threads):
    with pytest.raises(ScenarioError, match="threads"):
        ph.simulate(BODY, duration=1.0, step=0.1, threads=threads)
