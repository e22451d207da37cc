"""Method "taylor" against 40-digit references, closed forms and the other adaptive method."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.taylor_segments import prepare_segments
from scipy.optimize import brentq

import polhode as ph
from polhode.errors import ForceError, NonFiniteError, RunError, ScenarioError, SingularityError
from polhode.integrate.driver import run_scenario

CASES = json.loads((Path(__file__).parents[1] / "data" / "reference_states.json").read_text())["cases"]
BODY = ph.Body(mass=2.0, inertia=(2.0, 3.0, 4.0))
START = ph.State(
    position=(1, 2, 3), velocity=(1, 2, 3), angular_velocity_body=(0.1, 2.0, 0.3), quaternion_wxyz=(0.9, 0.4, 0.1, 0.1)
)
GRAVITY = ph.forces.gravity()
FORCED = [
    GRAVITY,
    ph.forces.quadratic_drag(0.1),
    ph.forces.thruster((0.1, 0.2, 0.3), (1.0, 2.0, 3.0), 1.0, 2.5),
    ph.forces.rotational_drag(0.3),
    ph.forces.impulse((1, 2, 3), 2.0, (0.1, 0.0, 0.2)),
]
FIVE = ["momentum", "momentum_matrix", "body_rates", "quaternion_acceleration", "euler_angles"]


def by_dop853(*given, rtol=1e-12, **settings):
    """The other adaptive method, uncompiled: short runs that need no compiler."""
    with pytest.warns(UserWarning, match="uncompiled"):
        return ph.simulate(*given, method="dop853", engine="python", rtol=rtol, **settings)


def apart(one, other):
    """The largest difference of attitudes, and of positions."""
    q = one.quaternion_wxyz * np.sign((one.quaternion_wxyz * other.quaternion_wxyz).sum(-1))[..., None]
    return np.abs(q - other.quaternion_wxyz).max(), np.abs(one.position - other.position).max()


# References ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("name", "allowed"), [("hairer_vilmart_asymmetric", 1e-14), ("hairer_vilmart_flat", 5e-14)])
@pytest.mark.parametrize("formulation", ["body_rates", "momentum"])
def test_against_forty_digits(name, allowed, formulation):
    case = CASES[name]
    body = ph.Body(1.0, [float(m) for m in case["moments"]], allow_unphysical=True)
    state = ph.State(angular_velocity_body=[float(w) for w in case["omega0_body"]])
    motion = ph.simulate(
        body, state, duration=float(case["t"]), method="taylor", rtol=1e-16, formulation=formulation, output_step=1.0
    )
    truth = np.array([float(v) for v in case["final"]])
    q = motion.quaternion_wxyz[-1]
    assert np.abs(q * np.sign(q @ truth[:4]) - truth[:4]).max() < allowed
    assert np.abs(motion.angular_velocity_body[-1] - truth[4:]).max() < 10 * allowed


@pytest.mark.parametrize("name", ["simo_wong_heavy_top", "drag_and_thruster"])
def test_against_the_reference_library(name):
    problem = ph.reference.problem(name)
    motion = ph.simulate(problem.scenario(method="taylor", rtol=1e-15, formulation="body_rates", output_step=2.5))
    error = problem.error_of(
        quaternion_wxyz=motion.quaternion_wxyz[-1].tolist(), position=motion.position[-1].tolist(), of_doubles=True
    )
    assert error.attitude < 1e-13
    assert error.position is None or error.position < 1e-12


def test_the_error_follows_the_tolerance():
    """Against the same series at their finest: each thousandth of rtol buys at least a hundredth of the error."""

    def at(rtol):
        return ph.simulate(BODY, START, FORCED[:2], duration=5.0, method="taylor", rtol=rtol, output_times=[5.0])

    truth = at(1e-16)
    errors = [max(apart(at(rtol), truth)) for rtol in (1e-4, 1e-7, 1e-10)]
    assert errors[0] < 1e-3
    assert errors[1] < errors[0] / 100
    assert errors[2] < errors[1] / 100
    assert errors[2] < 1e-9


@pytest.mark.parametrize("formulation", FIVE)
def test_against_dop853(formulation):
    """Thruster window, impulse, drag, at outputs that lie on the edges and beside them."""
    settings = {"duration": 3.0, "output_times": [0.0, 0.7, 1.0, 2.0, 2.4, 3.0]}
    motion = ph.simulate(BODY, START, FORCED, method="taylor", rtol=1e-9, formulation=formulation, **settings)
    other = by_dop853(BODY, START, FORCED, **settings)
    assert max(apart(motion, other)) < 2e-8
    assert np.abs(motion.work - other.work).max() < 1e-7
    assert (motion.attitude_drift < 1e-8).all()
    assert max(apart_states(motion.at(2.2), other.at(2.2))) < 2e-8


def apart_states(one, other):
    q = one.quaternion_wxyz * np.sign(one.quaternion_wxyz @ other.quaternion_wxyz)
    return np.abs(q - other.quaternion_wxyz).max(), np.abs(one.position - other.position).max()


def test_about_a_pivot_against_dop853():
    """A body whose principal axes are not the user's: R^T R is known to be 1 there too."""
    body = ph.Body(1.0, inertia=[(2.0, 0.3, 0.1), (0.3, 3.0, 0.2), (0.1, 0.2, 4.0)])
    settings = {"duration": 3.0, "pivot": (0.1, 0.0, -0.5), "output_step": 0.5}
    spin = ph.State(angular_velocity_body=(1, 2, 3))
    motion = ph.simulate(body, spin, [GRAVITY], method="taylor", rtol=1e-12, **settings)
    other = by_dop853(body, spin, [GRAVITY], rtol=1e-13, **settings)
    assert max(apart(motion, other)) < 1e-11
    assert np.ptp(motion.energy) < 1e-11


def test_the_start_time_counts():
    """A force that depends on the time, against its closed form, from a clock that begins at 10."""

    @ph.force
    def swing(t, state, body, params):
        return (params[0] * ph.cos(t), 0.0, 0.0), (0.0, 0.0, 0.0)

    start = ph.State(time=10.0)
    motion = ph.simulate(ph.particle(1.0), start, [swing(2.0)], duration=3.0, method="taylor", rtol=1e-14)
    t = motion.times
    exact = -2 * np.cos(t) + 2 * np.cos(10.0) - 2 * np.sin(10.0) * (t - 10.0)
    assert np.abs(motion.position[:, 0] - exact).max() < 1e-13


# Outputs and places -------------------------------------------------------------------------------------------------
def test_outputs_change_no_step():
    settings = {"duration": 5.0, "method": "taylor", "rtol": 1e-9, "formulation": "body_rates"}
    few = ph.simulate(BODY, START, FORCED[:2], output_times=[5.0], **settings)
    many = ph.simulate(BODY, START, FORCED[:2], output_step=0.01, **settings)
    assert few.steps == many.steps
    assert (few.final.position == many.final.position).all()
    assert max(apart_states(few.at(3.3), many.at(3.3))) < 1e-9


def test_renormalize_false_leaves_the_quaternion_alone():
    settings = {"duration": 3.0, "method": "taylor", "rtol": 1e-3, "formulation": "body_rates"}
    raw = ph.simulate(BODY, START, FORCED[:2], renormalize=False, **settings)
    assert raw.attitude_drift[-1] == np.abs(np.linalg.norm(raw.quaternion_wxyz[-1]) - 1) > 1e-9
    renormalized = ph.simulate(BODY, START, FORCED[:2], **settings)
    assert np.abs(np.linalg.norm(renormalized.quaternion_wxyz, axis=1) - 1).max() < 1e-15


def test_scales_do_not_matter():
    """A microgram on a spring, and the same a trillion times as heavy: errors of the same relative size."""

    def error(mass, size):
        spring = ph.forces.spring(mass * 1e6, (0, 0, 0))
        start = ph.State(position=(size, 0, 0))
        motion = ph.simulate(
            ph.particle(mass), start, [spring], duration=0.05, method="taylor", rtol=1e-9, output_times=[0.05]
        )
        return abs(motion.position[-1, 0] / size - np.cos(50.0))

    assert error(1e-9, 1e-6) < 1e-7
    assert error(1e3, 1e-6) < 1e-7
    assert error(1e3, 1e6) < 1e-7


# Systems and ensembles ----------------------------------------------------------------------------------------------
def test_a_system_against_dop853():
    bodies = [BODY, ph.Body(1.0, (0.2, 0.3, 0.4))]
    states = [ph.State(angular_velocity_body=(0, 1, 0)), ph.State(position=(2, 0, 0), velocity=(0, 0.2, 0))]
    pairs = [
        ph.forces.spring_between(0, 1, 3.0, (0.1, 0.2, 0), (0, 0.1, 0.3), damping=0.1, length=0.5),
        ph.forces.mutual_gravity(1.0),
    ]
    settings = {"duration": 2.0, "output_step": 0.5}
    motion = ph.simulate(bodies, states, pairs, method="taylor", rtol=1e-12, **settings)
    other = by_dop853(bodies, states, pairs, rtol=1e-13, **settings)
    assert max(apart(motion, other)) < 1e-11
    assert np.abs(motion.work - other.work).max() < 1e-10
    total = motion.linear_momentum.sum(axis=1)
    assert np.abs(total - total[0]).max() < 1e-15
    assert np.abs(motion.at(1.2)[1].position - other.at(1.2)[1].position).max() < 1e-11


def test_bodies_that_feel_nothing_of_each_other():
    """They go in lanes of their own, each with the forces that act on it."""
    bodies, states = [BODY, ph.particle(3.0)], [START, ph.State(velocity=(3, 0, 0))]
    forces = [GRAVITY, ph.forces.linear_drag(0.5).on(1)]
    settings = {"duration": 2.0, "output_step": 0.5}
    motion = ph.simulate(bodies, states, forces, method="taylor", rtol=1e-13, **settings)
    alone = ph.simulate(bodies[1], states[1], [GRAVITY, ph.forces.linear_drag(0.5)], method="taylor", **settings)
    free = ph.simulate(bodies[0], states[0], [GRAVITY], method="taylor", rtol=1e-13, **settings)
    assert np.abs(motion.position[:, 1] - alone.position).max() < 1e-9
    assert np.abs(motion.quaternion_wxyz[:, 0] - free.quaternion_wxyz).max() < 1e-13


def test_members_against_single_runs():
    """Within ten times rounding: lanes and single runs are not the same bits."""
    rng = np.random.default_rng(0)
    v, w, drag = rng.normal(size=(11, 3)), rng.normal(size=(11, 3)), rng.uniform(0.1, 1, 11)
    many = ph.State(velocity=v, angular_velocity_body=w)
    settings = {"duration": 3.0, "method": "taylor", "rtol": 1e-13, "output_times": [1.0, 3.0]}
    thruster = FORCED[2]
    motion = ph.ensemble(BODY, many, [GRAVITY, ph.forces.quadratic_drag(drag), thruster], **settings)
    again = ph.ensemble(BODY, many, [GRAVITY, ph.forces.quadratic_drag(drag), thruster], threads=1, **settings)
    assert (motion.position == again.position).all()
    for i in (0, 7, 10):
        start = ph.State(velocity=v[i], angular_velocity_body=w[i])
        one = ph.simulate(BODY, start, [GRAVITY, ph.forces.quadratic_drag(drag[i]), thruster], **settings)
        assert np.abs(motion.position[:, i] - one.position).max() < 1e-13
        assert np.abs(motion.quaternion_wxyz[:, i] - one.quaternion_wxyz).max() < 1e-13
    assert np.abs(motion.at(2.0).position[7] - one.at(2.0).position).max() > 0


def test_prepared_runs_are_the_runs_themselves():
    scenario = ph.Scenario(BODY, START, FORCED[:4], duration=3.0, method="taylor", rtol=1e-9, formulation="body_rates")
    again, motion = prepare_segments(scenario), ph.simulate(scenario)
    first, second = again(), again()
    assert (first == second).all()
    assert np.abs(first[0, :3] - motion.position[-1]).max() < 1e-9
    many = replace(scenario, state=ph.State(velocity=[(1, 2, 3)] * 9, angular_velocity_body=(0.1, 2.0, 0.3)))
    ends = prepare_segments(many)()
    assert ends.shape[0] == 9
    assert np.ptp(ends, axis=0).max() == 0.0


# Forces of one's own ------------------------------------------------------------------------------------------------
def test_a_force_that_decides_against_its_closed_form():
    """A floor of springs that pushes only from below z = 0, with a jump there: half a period later the ball leaves."""

    @ph.force
    def floor(t, state, body, params):
        z = state.position[2]
        return (0.0, 0.0, ph.if_less(z, 0.0, params[1] - params[0] * z, 0.0)), (0.0, 0.0, 0.0)

    start = ph.State(position=(0, 0, 1.0), velocity=(0, 0, -2.0))
    stiffness, jump = 100.0, 30.0
    ball = {"duration": 3.0, "method": "taylor", "rtol": 1e-13}
    motion = ph.simulate(ph.particle(1.0), start, [floor(stiffness, jump)], **ball)
    below = 0.5 + (np.pi - 2 * np.arctan(jump / 20.0)) / 10.0  # z = 0.3 - 0.3 cos - 0.2 sin of 10 (t - 1/2)
    late = motion.times > below + 1e-3
    assert np.abs(motion.position[late, 2] - 2.0 * (motion.times[late] - below)).max() < 1e-11
    assert np.abs(motion.velocity[-1, 2] - 2.0) < 1e-11
    many = ph.State(position=[(0, 0, 1.0), (0, 0, 2.0)], velocity=(0, 0, -2.0))
    both = ph.ensemble(ph.particle(1.0), many, [floor(stiffness, jump)], **ball)
    assert abs(both.final.position[0, 2] - motion.final.position[2]) < 1e-11
    assert abs(both.final.position[1, 2] - motion.final.position[2] + 1.0) < 1e-11


def test_what_has_no_series_is_reported_with_its_line():
    import math

    @ph.force
    def wave(t, state, body, params):
        return (math.floor(state.position[0]), 0.0, 0.0), (0.0, 0.0, 0.0)

    @ph.force
    def beyond(t, state, body, params):
        return (1.0 / (params[0] - params[0]), 0.0, 0.0), (0.0, 0.0, 0.0)

    with pytest.raises(ForceError, match=r"wave has no Taylor series: floor jumps.*_taylor.py, line.*ph.sin.*dop853"):
        ph.simulate(BODY, START, [wave()], duration=1.0, method="taylor")
    with pytest.raises(ForceError, match=r"beyond has no Taylor series: division by zero.*dop853"):
        run_scenario(ph.Scenario(BODY, START, [beyond(2.0)], duration=1.0, method="taylor"), False)


@pytest.mark.parametrize("engine", ["cpu", "python"])
def test_an_if_is_a_switch(engine):
    """A force written with `if`, `and` and `==` against the same one with if_less, and against DOP853."""

    @ph.force
    def gusts(t, state, body, params):
        x, v = state.position[0], state.velocity[0]
        if x == 0.0 and t < 0.0:
            return (1e3, 0.0, 0.0), (0.0, 0.0, 0.0)
        if x > params[0] or x <= -params[0]:
            return (-8.0 * x, 0.0, 0.0), (0.0, 0.0, 0.3 if v >= 0.0 else -0.2)
        return (0.0, -2.0 if -0.5 < x < 0.5 and v > 0 else 1.0, 0.0), (0.0, 0.0, 0.0)

    @ph.force
    def same_gusts(t, state, body, params):
        x, v, a = state.position[0], state.velocity[0], params[0]
        push = ph.if_less(a, x, -8.0 * x, ph.if_less(-a, x, 0.0, -8.0 * x))
        turn = ph.if_less(v, 0.0, -0.2, 0.3)
        turn = ph.if_less(a, x, turn, ph.if_less(-a, x, 0.0, turn))
        side = ph.if_less(0.0, v, ph.if_less(-0.5, x, ph.if_less(x, 0.5, -2.0, 1.0), 1.0), 1.0)
        side = ph.if_less(a, x, 0.0, ph.if_less(-a, x, side, 0.0))
        return (push, side, 0.0), (0.0, 0.0, turn)

    start = ph.State(velocity=(1.3, 0.2, 0.1), angular_velocity_body=(0.1, 0.2, 0.3))
    settings = {"duration": 12.0, "output_step": 1.0}
    fine = {"method": "taylor", "rtol": 1e-14, **settings}
    if engine == "python":
        with pytest.warns(UserWarning, match="uncompiled"):
            motion = ph.simulate(BODY, start, [gusts(1.0)], engine=engine, **fine)
    else:
        motion = ph.simulate(BODY, start, [gusts(1.0)], **fine)
    same = ph.simulate(BODY, start, [same_gusts(1.0)], **fine)
    assert max(apart(motion, same)) < 1e-13
    other = ph.simulate(BODY, start, [gusts(1.0)], method="dop853", rtol=1e-13, atol=1e-15, **settings)
    assert max(apart(motion, other)) < 1e-8  # its steps find no switches


# What can go wrong --------------------------------------------------------------------------------------------------
def test_drag_at_rest_raises():
    with pytest.raises(ScenarioError, match=r"quadratic_drag has no Taylor series at t = 0 s.*root of 0.*dop853"):
        ph.simulate(BODY, ph.State(), FORCED[:2], duration=1.0, method="taylor")


def test_a_blow_up_against_its_time():
    """x'' = 6 x^2 from x = 1, x' = 2 is 1/(1 - t)^2: it ends at t = 1."""

    @ph.force
    def explosive(t, state, body, params):
        return (6 * state.position[0] * state.position[0], 0.0, 0.0), (0.0, 0.0, 0.0)

    start = ph.State(position=(1, 0, 0), velocity=(2, 0, 0))
    with pytest.raises(NonFiniteError) as error:
        ph.simulate(ph.particle(1.0), start, [explosive()], duration=3.0, method="taylor", output_step=0.4)
    assert abs(error.value.time - 1.0) < 1e-9
    assert error.value.motion.times.tolist() == [0.0, 0.4, 0.8]
    assert error.value.last_good.position[0] > 1e6
    many = ph.State(position=[(-1, 0, 0), (1, 0, 0)], velocity=[(0, 0, 0), (2, 0, 0)])
    with pytest.raises(NonFiniteError, match="member 1") as error:
        ph.ensemble(ph.particle(1.0), many, [explosive()], duration=1.5, method="taylor", output_step=0.5)
    kept = error.value.motion.position[:, :, 0]
    assert np.isfinite(kept[:, 0]).all()
    assert np.isnan(kept[-1, 1])


def test_euler_angles_at_the_vertical():
    with pytest.raises(SingularityError, match="vertical"):
        ph.simulate(
            BODY, replace(START, quaternion_wxyz=(1, 0, 0, 0)), duration=1.0, method="taylor",
            formulation="euler_angles",
        )  # fmt: skip


def test_atol_is_refused():
    with pytest.raises(ScenarioError, match=r"takes no atol.*rtol"):
        ph.simulate(BODY, START, duration=1.0, method="taylor", atol=1e-3)


def test_without_heyoka(monkeypatch):
    monkeypatch.setitem(sys.modules, "heyoka", None)
    with pytest.raises(ScenarioError, match=r"method='taylor' needs heyoka: pip install '.*\[taylor\]'"):
        ph.simulate(BODY, START, duration=1.0, method="taylor")


def test_nothing_moves():
    still = ph.simulate(BODY, ph.State(position=(1, 2, 3)), duration=1.0, method="taylor")
    assert (still.position == (1, 2, 3)).all()


# Events -------------------------------------------------------------------------------------------------------------
@ph.event
def height(t, state, body, params):
    return state.position[2] - params[0]


BALL, DROPPED = ph.particle(2.0), ph.State(position=(0, 0, 1.0), velocity=(1, 0, 0))
FALL = np.sqrt(2 / 9.80665)
"""The time of a fall from 1 m."""
QUICK = {"duration": 2.0, "method": "taylor", "output_step": 0.25}


def bounce(t, state, body, params):
    return (0.0, 0.0, -1.8 * state.linear_momentum[2]), (0.0, 0.0, 0.0)


def test_an_event_stops_the_run():
    run = run_scenario(ph.Scenario(BALL, DROPPED, [GRAVITY], events=[height(0.0)], **QUICK), True)
    assert run.times.tolist() == [0.0, 0.25, run.times[-1]]
    assert abs(run.times[-1] - FALL) < 1e-15
    assert abs(run.samples[-1, 0, 2]) < 1e-15
    assert [(c.event, c.body, c.time) for c in run.crossings] == [(0, 0, run.times[-1])]


def test_events_change_and_record():
    events = [height(0.5, action="record"), height(0.0, change=bounce)]
    run = run_scenario(ph.Scenario(BALL, DROPPED, [GRAVITY], events=events, **QUICK), True)
    bounces = [c.time for c in run.crossings if c.event == 1]
    assert np.abs(np.array(bounces) - FALL * np.array([1, 2.6, 3.88])).max() < 1e-14
    passages = [c.time for c in run.crossings if c.event == 0]
    exact = [FALL * np.sqrt(0.5), 2.6 * FALL - (0.8 + np.sqrt(0.64 - 0.5)) * FALL]
    assert np.abs(np.array(passages[:2]) - exact).max() < 1e-14
    assert [c.time for c in run.crossings] == sorted(c.time for c in run.crossings)
    motion = ph.Motion(ph.Scenario(BALL, DROPPED, [GRAVITY], events=events, **QUICK), run)
    assert np.abs(motion.work - (motion.kinetic_energy - motion.kinetic_energy[0])).max() < 1e-13


def test_direction_and_count():
    up = ph.State(velocity=(0, 0, 5.0))  # it starts on the zero, which is no crossing
    only_down = [height(0.0), height(1.0, action="record", direction=1), height(1.0, action="record", direction=-1)]
    run = run_scenario(ph.Scenario(BALL, up, [GRAVITY], events=only_down, **QUICK), False)
    assert [c.event for c in run.crossings] == [1, 2, 0]
    assert abs(run.times[-1] - 10 / 9.80665) < 1e-15
    twice = run_scenario(ph.Scenario(BALL, up, [GRAVITY], events=[height(1.0, count=2)], **QUICK), False)
    assert len(twice.crossings) == 2
    assert twice.times[-1] == pytest.approx(run.crossings[1].time, rel=1e-15)
    once = run_scenario(
        ph.Scenario(BALL, up, [GRAVITY], events=[height(1.0, action="record", count=1)], **QUICK), False
    )
    assert [c.time for c in once.crossings] == pytest.approx([run.crossings[0].time], rel=1e-15)
    assert len(once.times) == 9


def test_events_without_forces():
    """A free particle between two walls: its momentum never changes, except there."""

    @ph.event
    def walls(t, state, body, params):
        return state.position[0] * state.position[0] - 1

    def turned(t, state, body, params):
        return (-2 * state.linear_momentum[0], 0.0, 0.0), (0.0, 0.0, 0.0)

    start = ph.State(velocity=(1.0, 0, 0))
    settings = {"duration": 10.0, "method": "taylor", "output_step": 0.5}
    run = run_scenario(ph.Scenario(BALL, start, events=[walls(change=turned)], **settings), True)
    assert np.abs(np.array([c.time for c in run.crossings]) - [1, 3, 5, 7, 9]).max() < 1e-14
    assert np.abs(run.samples[:, 0, 0]).max() < 1 + 1e-14


def test_events_of_systems_and_members():
    bodies, states = [BALL, BALL], [DROPPED, ph.State(position=(5, 0, 3.0))]
    run = run_scenario(ph.Scenario(bodies, states, [GRAVITY], events=[height(0.0).on(1)], **QUICK), False)
    assert [(c.body, round(c.time, 12)) for c in run.crossings] == [(1, round(float(FALL * np.sqrt(3)), 12))]
    assert run.samples.shape[:2] == (len(run.times), 2)
    many = ph.State(position=[(0, 0, 1.0), (0, 0, 2.0), (0, 0, 100.0)])
    run = run_scenario(ph.Scenario(BALL, many, [GRAVITY], events=[height(0.0)], **QUICK), False)
    assert run.failure is None
    assert np.isfinite(run.samples[:, :, 2]).sum(axis=0).tolist() == [2, 3, 9]
    assert [c.body for c in run.crossings] == [0, 1]
    last = ph.Scenario(BALL, many, [GRAVITY], events=[height(0.0)], duration=2.0, method="taylor", output_times=[2.0])
    assert np.abs(run_scenario(last, False).samples[0, :2, 2]).max() < 3e-15


def test_bounces_without_end_raise():
    """Each bounce keeps 0.8 of the speed: from 1 m all are over after 9 times the fall."""
    scenario = ph.Scenario(
        BALL, DROPPED, [GRAVITY], events=[height(0.0, change=bounce)], duration=6.0, method="taylor", output_step=0.5
    )
    run = run_scenario(scenario, True)
    assert run.failure is not None
    assert (run.failure.reason, run.failure.event) == ("endless", "height")
    assert abs(run.failure.time - 9 * FALL) < 1e-8
    assert len(run.times) == 9


def test_between_outputs_after_events():
    events = [height(0.0, change=bounce, count=1)]
    scenario = ph.Scenario(BALL, DROPPED, [GRAVITY], events=events, **QUICK)
    motion = ph.simulate(scenario)
    t = 1.3  # after the second passage, which changes nothing any more
    up = 0.8 * 9.80665 * FALL
    exact = up * (t - FALL) - 9.80665 * (t - FALL) ** 2 / 2
    assert abs(motion.at(t).position[2] - exact) < 1e-13


@ph.event
def level(t, state, body, params):
    return state.position[2] - params[0]


@pytest.mark.parametrize("direction", [-1, 0])
def test_a_start_on_the_zero_hides_no_crossing(direction):
    """Judge: the flight time 2 v/g of a ball thrown up from the ground."""
    thrown = ph.State(velocity=(0.0, 0.0, 10.0))
    settings = {"duration": 3.0, "method": "taylor"}
    landing = level(0.0, direction=direction)
    motion = ph.simulate(ph.particle(1.0), thrown, [ph.forces.gravity(10.0)], events=[landing], **settings)
    assert motion.times[-1] == pytest.approx(2.0, abs=1e-14)
    noted = [level(0.0, action="record", direction=direction)]
    motion = ph.simulate(ph.particle(1.0), thrown, [ph.forces.gravity(10.0)], events=noted, **settings)
    assert motion.crossing_times("level") == pytest.approx([2.0], abs=1e-14)


def test_an_event_that_cannot_happen_is_refused_in_words():
    @ph.event
    def never(t, state, body, params):
        return 1.0

    with pytest.raises(ph.PolhodeError, match=r"never.* does not depend on what moves"):
        ph.simulate(ph.particle(1.0), forces=[ph.forces.gravity()], duration=1.0, method="taylor", events=[never])


# Switches -----------------------------------------------------------------------------------------------------------
NONE = (0.0, 0.0, 0.0)
FINE = {"method": "taylor", "rtol": 1e-13}


@ph.force
def hard_walls(t, state, body, params):
    x = state.position[0]
    return (ph.if_less(x, -1.0, params[0], ph.if_less(1.0, x, -params[0], 0.0)), 0.0, 0.0), NONE


@ph.force
def toward_zero(t, state, body, params):
    return (ph.if_less(state.position[0], 0.0, params[0], -params[0]), 0.0, 0.0), NONE


@ph.force
def two_springs(t, state, body, params):
    x = state.position[0]
    return (ph.if_less(x, 0.0, -params[0] * x, -params[1] * x), 0.0, 0.0), NONE


@ph.force
def dry_friction(t, state, body, params):
    return (ph.if_less(state.velocity[0], 0.0, params[0], -params[0]), 0.0, 0.0), NONE


@pytest.mark.parametrize("push", [10.0, 1000.0, 3000.0])
def test_walls_give_back_the_energy(push):
    """Judge: the speed is 1 between the walls, after every crossing; rounding alone is push * eps at each."""
    motion = ph.simulate(ph.particle(1.0), ph.State(velocity=(1, 0, 0)), [hard_walls(push)], duration=50.0, **FINE)
    inside = np.abs(motion.position[:, 0]) < 1
    crossings = 50.0 / (1 + 1 / push)
    assert np.abs(np.abs(motion.velocity[inside, 0]) - 1).max() < crossings * push * np.finfo(float).eps


@pytest.mark.parametrize("speed", [1.0, -1.0])
def test_a_start_where_a_force_switches(speed):
    """Judge: parabolas of 1 s each, and half periods of two springs."""
    start = ph.State(velocity=(speed, 0, 0))
    motion = ph.simulate(ph.particle(1.0), start, [toward_zero(2.0)], duration=40.0, **FINE)
    t = motion.times % 2
    exact = speed * np.where(t < 1, t * (1 - t), (t - 1) * (t - 2))
    assert np.abs(motion.position[:, 0] - exact).max() < 1e-11
    period = np.pi + np.pi / 2
    motion = ph.simulate(ph.particle(1.0), start, [two_springs(1.0, 4.0)], duration=10 * period, **FINE)
    assert np.abs(motion.final.position[0]) < 1e-13
    assert abs(motion.final.velocity[0] - speed) < 1e-13


def test_bodies_that_switch_at_the_same_instant():
    bodies, states = [ph.particle(1.0)] * 2, [ph.State(velocity=(v, 0, 0), position=(0, 5 * v, 0)) for v in (1.0, -1.0)]
    forces = [toward_zero(2.0), ph.forces.spring_between(0, 1, 1e-300)]  # a system that moves as two
    motion = ph.simulate(bodies, states, forces, duration=40.3, **FINE)
    assert np.abs(motion.position[-1, :, 0] - [0.21, -0.21]).max() < 1e-12


def test_a_body_that_rests_where_a_spring_begins():
    """From rest on the edge of a spring, under gravity: z = -(g/k) (1 - cos), which touches the edge once a period."""

    @ph.force
    def mattress(t, state, body, params):
        z = state.position[2]
        return (0.0, 0.0, ph.if_less(z, 0.0, -params[0] * z, 0.0)), NONE

    forces = [ph.forces.gravity(10.0), mattress(1000.0)]
    motion = ph.simulate(ph.particle(1.0), ph.State(), forces, duration=5.0, **FINE)
    exact = -0.01 * (1 - np.cos(np.sqrt(1000.0) * motion.times))
    assert np.abs(motion.position[:, 2] - exact).max() < 1e-13


@pytest.mark.parametrize(("speed", "time"), [(1.0, 0.5), (0.0, 0.0)])
def test_a_force_that_holds_the_motion_at_a_switch_is_an_error(speed, time):
    start = ph.State(velocity=(speed, 0, 0))
    with pytest.raises(RunError, match=r"if_less whose two branches.*dry friction.*continuous") as error:
        ph.simulate(ph.particle(1.0), start, [dry_friction(2.0)], duration=3.0, **FINE)
    assert error.value.time == pytest.approx(time, abs=1e-14)


@ph.force
def unit_spring(t, state, body, params):
    return (-state.position[0], 0.0, 0.0), NONE


def away_from_half(t, state, body, params):
    return abs(state.position[0]) - 0.5


def diamond(t, state, body, params):
    return abs(state.position[0]) + abs(state.velocity[0]) - 1.2


def folded_twice(t, state, body, params):
    return abs(abs(state.position[0]) - 0.5) - 0.1


def of_time(t, state, body, params):
    return abs(ph.sin(3 * t)) - 0.9


def with_a_plateau(t, state, body, params):
    return ph.if_less(state.position[0], 0.3, state.position[0] + 0.2, 0.5)


def with_a_kink_at_zero(t, state, body, params):
    return ph.if_less(state.position[0], 0.0, state.position[0], 2 * state.position[0])


def that_jumps_and_folds(t, state, body, params):
    x = state.position[0]
    return abs(ph.if_less(x, -0.3, ph.sin(3.6 * t), x - 0.9)) - 0.3


def that_jumps(t, state, body, params):
    return ph.if_less(state.position[0], 0.3, 1.0, -1.0)


def that_touches(t, state, body, params):
    return abs(state.position[0])


def cosine_crossings(values):
    """Where a function of x = cos t, v = -sin t and t changes its sign continuously, to about 1e-14, by SciPy."""
    grid = np.linspace(1e-9, 20.0, 100_001)
    sampled = values(np.cos(grid), -np.sin(grid), grid)
    at = np.flatnonzero((sampled[1:] * sampled[:-1] < 0) & (np.abs(sampled[1:] - sampled[:-1]) < 0.1))
    return [brentq(lambda t: values(np.cos(t), -np.sin(t), t), grid[i], grid[i + 1], xtol=1e-15) for i in at]


@pytest.mark.parametrize(
    ("function", "values", "count"),
    [
        (away_from_half, lambda x, v, t: np.abs(x) - 0.5, 13),
        (diamond, lambda x, v, t: np.abs(x) + np.abs(v) - 1.2, 25),
        (folded_twice, lambda x, v, t: np.abs(np.abs(x) - 0.5) - 0.1, 25),
        (of_time, lambda x, v, t: np.abs(np.sin(3 * t)) - 0.9, 38),
        (with_a_plateau, lambda x, v, t: np.where(x < 0.3, x + 0.2, 0.5), 6),
        (with_a_kink_at_zero, lambda x, v, t: np.where(x < 0, x, 2 * x), 6),
        (that_jumps_and_folds, lambda x, v, t: np.abs(np.where(x < -0.3, np.sin(3.6 * t), x - 0.9)) - 0.3, 24),
        (that_jumps, lambda x, v, t: np.where(x < 0.3, 1.0, -1.0), 0),
        (that_touches, lambda x, v, t: np.abs(x), 0),
    ],
)
def test_every_crossing_of_a_function_that_switches(function, values, count):
    """Recorded, and as the one that stops the run."""
    exact = cosine_crossings(values)
    assert len(exact) == count
    law, start = ph.event(function), ph.State(position=(1, 0, 0))
    settings = {"duration": 20.0, **FINE}
    motion = ph.simulate(ph.particle(1.0), start, [unit_spring], events=[law(action="record")], **settings)
    assert motion.crossing_times(function.__name__) == pytest.approx(exact, abs=1e-11)
    motion = ph.simulate(ph.particle(1.0), start, [unit_spring], events=[law(count=max(count, 1))], **settings)
    assert motion.times[-1] == pytest.approx(exact[-1] if exact else 20.0, abs=1e-11)


def test_an_event_where_a_force_begins():
    """A floor of springs, and an event at its surface: every passage, both ways.  Judge: the flight of a ball."""

    @ph.force
    def springs(t, state, body, params):
        z = state.position[2]
        return (0.0, 0.0, ph.if_less(z, 0.0, (10.0 - params[0] * z), 0.0)), NONE

    forces, start = [ph.forces.gravity(10.0), springs(100.0)], ph.State(position=(0, 0, 5.0))
    motion = ph.simulate(ph.particle(1.0), start, forces, duration=10.0, events=[level(0.0, action="record")], **FINE)
    below, flight = np.pi / 10, 2.0
    exact = [1 + i * flight + j * below for i in range(4) for j in (i, i + 1)]
    assert motion.crossing_times("level") == pytest.approx([t for t in exact if t < 10], abs=1e-12)


def test_no_bounce_is_missed():
    """Bounces with linear drag, watched from above only.  Judge: each flight in closed form, its end by SciPy."""
    drag, g, floor = 0.05, 9.80665, 0.2

    def height(t, z, v):
        return z - g / drag * t + (v + g / drag) / drag * -np.expm1(-drag * t)

    z, v, now, exact = 1.1, 0.5, 0.0, []
    while now < 2.8:
        down = np.log1p(v * drag / g) / drag  # the apex
        flight = brentq(lambda t, z=z, v=v: height(t, z, v) - floor, down, down + 2, xtol=1e-16)
        now, z, v = now + flight, floor, -0.8 * ((v + g / drag) * np.exp(-drag * flight) - g / drag)
        exact.append(now)

    def bounce_and_turn(t, state, body, params):
        return (0.0, 0.0, -1.8 * state.linear_momentum[2]), (0.02, 0.0, 0.0)

    events = [
        level(floor, change=bounce_and_turn, direction=-1),
        passing_down(action="record", direction=-1),
        going_far(1.2),
    ]
    body = ph.Body(2.0, (1.0, 1.7, 2.3))
    start = ph.State(position=(0.4, -0.3, 1.1), velocity=(0.3, -0.2, 0.5), angular_velocity_body=(0.7, 1.9, -0.4))
    forces = [GRAVITY, ph.forces.linear_drag(2 * drag)]
    motion = ph.simulate(body, start, forces, duration=6.0, method="taylor", events=events, output_step=0.25)
    assert motion.crossing_times("level") == pytest.approx(exact[:-1], abs=1e-8)


@ph.event
def going_far(t, state, body, params):
    return state.position[0] - params[0]


@ph.event
def passing_down(t, state, body, params):
    return state.velocity[2]


@pytest.mark.parametrize("name", ["rodrigues", "euler-angles"])
def test_a_rate_whose_variables_cancel_against_dop853(name):
    """heyoka drops such a term, and with it the last of the parameters."""
    from polhode.gallery import MODELS

    model = MODELS[name]
    scenario = next(iter(model.name_scenarios(model.values()).values()))
    settings = {"formulation": "quaternion_acceleration", "step": None}
    ours = ph.simulate(replace(scenario, method="taylor", **settings))
    other = ph.simulate(replace(scenario, method="dop853", rtol=1e-12, atol=1e-14, **settings))
    assert np.abs(ours.quaternion_wxyz - other.quaternion_wxyz).max() < 1e-11
