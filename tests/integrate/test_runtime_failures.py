"""A run that cannot go on stops with a sentence, the body, the time and the last good state, and keeps what it had."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from invalid_input import BODY, START, assert_refused
from polhode.errors import ForceError, NonFiniteError, RunError, SingularityError

RK4 = {"step": 0.01, "method": "rk4"}
NAN = math.nan
FLYING = ph.State(velocity=(1.0, 0.0, 0.0), angular_velocity_body=(0.1, 0.2, 0.3))
REST = (0.0, 0.0, 0.0)
PUSHES = {"east": 1.0}


@ph.force
def cliff(t, state, body, params):
    """Not a number from x = params[0] and from t = params[1] on."""
    push = ph.if_less(t, params[1], ph.if_less(state.position[0], params[0], 0.0, NAN), NAN)
    return (push, 0.0, 0.0), REST


NEVER = 9.0


# Forces of one's own -------------------------------------------------------------------------------------------------
@ph.force
def forgets_the_torque(t, state, body, params):
    return (0.0, 0.0, -9.81)


@ph.force
def flat(t, state, body, params):
    return (0.0, -9.81), REST


@ph.force
def a_text(t, state, body, params):
    return ("up", 0.0, 0.0), REST


@ph.force
def wants_more(t, state, body, params):
    return (params[3], 0.0, 0.0), REST


@ph.force
def an_array(t, state, body, params):
    return np.zeros(3), REST


@ph.force
def looks_up(t, state, body, params):
    push = PUSHES["east"]
    return (push, 0.0, 0.0), REST


@ph.force
def indexes(t, state, body, params):
    push = (PUSHES["east"], 0.0)[int(0.0 * t)]
    return (push, 0.0, 0.0), REST


@ph.force
def gives_up(t, state, body, params):
    if t > 0.5:
        raise ValueError("too late")
    return REST, REST


@ph.pair_force
def one_torque(t, a, body_a, b, body_b, params):
    return REST, REST


def line_of(law, offset):
    return f"{__file__}, line {law.function.__code__.co_firstlineno + offset}: "


OWN = {
    "torque forgotten": (forgets_the_torque, "must return (force, torque)", "returned (0.0, 0.0, -9.81)"),
    "two components": (flat, "(force, torque), each three numbers", "its force is (0.0, -9.81)"),
    "text": (a_text, "(force, torque), each three numbers", "its force is ('up', 0.0, 0.0)"),
    "parameter missing": (wants_more, "fails at the start", "index out of range", line_of(wants_more, 2)),
    "not compilable": (indexes, "cannot be compiled", line_of(indexes, 2), "ph.interp", "engine='python'"),
    "raises later": (gives_up, "fails during the run, after t =", "too late", line_of(gives_up, 3)),
}


@pytest.mark.parametrize(("law", "phrases"), [pytest.param(c[0], c[1:], id=name) for name, c in OWN.items()])
def test_a_force_of_ones_own_with_a_slip_is_refused(law, phrases):
    attempt = lambda: ph.simulate(BODY, START, [law()], duration=1.0, step=0.1)  # noqa: E731
    assert_refused(attempt, ForceError, (law.name, *phrases))


def test_arrays_and_tables_of_python_are_compiled():
    """The closed form: a constant force of 1 N east for 2 s, and none."""
    end = ph.simulate(BODY, START, [looks_up(), an_array()], duration=2.0, step=0.1).final
    drift = 2.0 * np.asarray(START.velocity) + START.position
    assert end.position == pytest.approx(drift + np.array([2.0 / BODY.mass, 0.0, 0.0]), rel=1e-13)


def test_a_pair_force_with_a_slip_is_refused():
    attempt = lambda: ph.simulate([BODY, BODY], [START, START], [one_torque(0, 1)], duration=1.0, step=0.1)  # noqa: E731
    assert_refused(attempt, ForceError, ("one_torque", "(force on a, torque on a, torque on b)"))


def test_what_cannot_be_compiled_runs_uncompiled_and_says_that_it_is_slow():
    with pytest.warns(UserWarning, match="thousand times slower"):
        motion = ph.simulate(BODY, START, [indexes()], duration=2.0, step=0.1, engine="python")
    assert motion.final.position[0] == pytest.approx(2.0, rel=1e-13)
    with pytest.warns(UserWarning, match="slower"), pytest.raises(ForceError, match="gives_up fails during the run"):
        ph.simulate(BODY, START, [gives_up()], duration=1.0, step=0.1, engine="python")


# Numbers that stop being numbers -------------------------------------------------------------------------------------
def stopped(kind, run):
    with pytest.raises(RunError) as caught:
        run()
    error = caught.value
    assert type(error) is kind
    assert math.isfinite(error.time)
    assert error.last_good.time == error.time
    for name in ("position", "quaternion_wxyz", "velocity", "angular_velocity_body"):
        assert np.isfinite(getattr(error.last_good, name)).all()
    for phrase in (f"t = {error.time:g} s", "Last good state: position", ".motion"):
        assert phrase in str(error)
    return error


def assert_readable(motion, whole):
    """What was computed before the stop is what a run that ends there computes."""
    assert np.isfinite(motion.position).all()
    count = len(motion.times)
    same = count // 5 if motion.scenario.used_method.is_adaptive else count  # then other steps show the same times
    for name in ("position", "quaternion_wxyz"):
        found, expected = getattr(motion, name), getattr(whole, name)[:count]
        assert np.array_equal(found[:same], expected[:same])
        assert found == pytest.approx(expected, rel=2e-11, abs=2e-11)  # what rtol = 1e-9 leaves of dense output
    assert "computed by" in str(motion.audit())
    assert motion.audit()["work-energy residual"].relative < 1e-12
    assert len(motion.dataset.time) == len(motion.times)
    between = motion.at(0.77 * float(motion.times[-1]))
    reference = whole.at(0.77 * float(motion.times[-1]))
    for state, other in zip(np.atleast_1d(between), np.atleast_1d(reference), strict=True):
        assert state.position == pytest.approx(other.position, rel=1e-12)


@pytest.mark.parametrize(("settings", "last"), [(RK4, 0.49), ({**RK4, "output_step": 0.3}, 0.49)])
def test_one_body_stops_at_the_last_good_step(settings, last):
    run = lambda edge: ph.simulate(BODY, FLYING, [cliff(NEVER, edge)], duration=1.0, **settings)  # noqa: E731
    error = stopped(NonFiniteError, lambda: run(0.5))
    assert error.time == pytest.approx(last)
    assert error.body == 0
    assert error.last_good.position == pytest.approx([last, 0.0, 0.0])
    assert "body 0 became infinite or NaN" in str(error)
    assert error.motion.times[-1] <= error.time
    assert_readable(error.motion, run(NEVER))


def test_the_adaptive_method_stops_where_the_force_does():
    run = lambda edge: ph.simulate(BODY, FLYING, [cliff(NEVER, edge)], duration=1.0, method="dop853")  # noqa: E731
    error = stopped(NonFiniteError, lambda: run(0.5))
    assert error.time == pytest.approx(0.5, rel=1e-12)
    assert error.last_good.position[0] == pytest.approx(0.5, rel=1e-12)
    assert "steps too short" in str(error)
    assert error.motion.times[-1] == pytest.approx(0.495)
    assert_readable(error.motion, run(NEVER))


@pytest.mark.parametrize("settings", [RK4, {"method": "dop853"}], ids=["rk4", "dop853"])
def test_a_run_that_fails_before_its_first_output_still_says_where(settings):
    error = stopped(
        NonFiniteError,
        lambda: ph.simulate(BODY, FLYING, [cliff(NEVER, 0.5)], duration=1.0, output_times=[0.9], **settings),
    )
    assert error.time == pytest.approx(0.5, abs=0.011)
    assert error.motion.position.shape == (0, 3)
    assert error.motion.audit()["linear momentum"].departure == 0.0
    with pytest.raises(ph.PolhodeError, match="before its first output"):
        _ = error.motion.final
    with pytest.raises(ph.PolhodeError, match="outside the run"):
        error.motion.at(0.2)


@pytest.mark.parametrize("settings", [RK4, {"method": "dop853"}], ids=["rk4", "dop853"])
def test_a_force_that_is_nan_from_the_start_leaves_the_start(settings):
    error = stopped(NonFiniteError, lambda: ph.simulate(BODY, FLYING, [cliff(NEVER, -1.0)], duration=1.0, **settings))
    assert error.time == 0.0
    assert error.last_good.velocity.tolist() == [1.0, 0.0, 0.0]
    assert error.motion.position.tolist() == [[0.0, 0.0, 0.0]]


@pytest.mark.parametrize("settings", [RK4, {"method": "dop853"}], ids=["rk4", "dop853"])
def test_in_a_system_the_body_at_fault_is_named(settings):
    run = lambda edge: ph.simulate([BODY] * 3, [START, FLYING, START], [cliff(edge, NEVER)], duration=1.0, **settings)  # noqa: E731
    error = stopped(NonFiniteError, lambda: run(0.4))
    assert error.body == 1
    assert "body 1" in str(error)
    assert error.time == pytest.approx(0.4, abs=0.011)
    assert error.last_good.position == pytest.approx([error.time, 0.0, 0.0])
    assert_readable(error.motion, run(NEVER))


@pytest.mark.parametrize("settings", [RK4, {"method": "dop853"}], ids=["rk4", "dop853"])
def test_in_a_coupled_system_the_body_at_fault_is_named(settings):
    forces = [cliff(0.4, NEVER), ph.forces.spring_between(0, 1, 0.0)]
    error = stopped(NonFiniteError, lambda: ph.simulate([BODY] * 2, [START, FLYING], forces, duration=1.0, **settings))
    assert error.body == 1
    assert error.last_good.position == pytest.approx([error.time, 0.0, 0.0])


@pytest.mark.parametrize("settings", [RK4, {**RK4, "output_step": 0.1}], ids=str)
def test_in_an_ensemble_the_other_members_come_through(settings):
    velocity = [(0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.1, 0.0, 0.0)]
    run = lambda edge: ph.ensemble(  # noqa: E731
        BODY,
        ph.State(velocity=velocity, angular_velocity_body=(0.1, 0.2, 0.3)),
        [cliff(edge, NEVER)],
        duration=1.0,
        **settings,
    )
    error = stopped(NonFiniteError, lambda: run(0.4))
    assert error.body == 1
    assert "member 1" in str(error)
    assert error.time == pytest.approx(0.4, abs=0.011)
    assert error.last_good.position == pytest.approx([error.time, 0.0, 0.0])
    well = run(NEVER)
    for name in ("position", "quaternion_wxyz", "velocity", "angular_velocity_body"):
        final, whole = getattr(error.motion.final, name), getattr(well.final, name)
        assert (final[[0, 2]] == whole[[0, 2]]).all()
        assert np.isnan(final[1]).all()
    assert (error.motion.position[:, [0, 2]] == well.position[:, [0, 2]]).all()
    assert (error.motion.at(0.77).position[[0, 2]] == well.at(0.77).position[[0, 2]]).all()
    assert math.isfinite(error.motion.audit()["angular momentum"].relative)


# Euler angles --------------------------------------------------------------------------------------------------------
LEANING = Rotation.from_euler("ZXZ", (0.0, 0.5, 0.0))
ANGLES = {"duration": 1.0, **RK4, "formulation": "euler_angles"}


def start(*across):
    """A body that leans by 0.5 rad and turns to the vertical, past it by `across`."""
    return ph.State(orientation=LEANING, angular_velocity_body=(-1.0, *across, 0.0))


def test_euler_angles_stop_near_the_vertical_instead_of_giving_garbage():
    error = stopped(SingularityError, lambda: ph.simulate(BODY, start(1e-4), **ANGLES))
    assert error.time == pytest.approx(0.49)
    assert error.body == 0
    for phrase in ("body 0", "too close to the vertical", "more than 1 rad in one step", "'momentum'"):
        assert phrase in str(error)
    exact = ph.simulate(BODY, start(1e-4), duration=1.0, **RK4)
    there = (error.last_good.orientation * exact.at(0.49).orientation.inv()).magnitude()
    assert there < 1e-7
    assert len(error.motion.times) == 50


def test_euler_angles_pass_exactly_through_the_vertical():
    motion = ph.simulate(BODY, start(0.0), **ANGLES)
    exact = ph.simulate(BODY, start(0.0), duration=1.0, **RK4)
    between = Rotation.from_quat(motion.quaternion_wxyz, scalar_first=True)
    apart = between * Rotation.from_quat(exact.quaternion_wxyz, scalar_first=True).inv()
    assert apart.magnitude().max() < 1e-11
    assert motion.euler_angles[:, 1].min() < 0.006  # it did pass there


def test_in_an_ensemble_of_euler_angles_nobody_sees_garbage():
    rates = [(-1.0, 0.0, 0.0), (-1.0, 1e-4, 0.0), (0.1, 0.0, 0.0)]
    members = ph.State(orientation=LEANING, angular_velocity_body=rates)
    error = stopped(SingularityError, lambda: ph.ensemble(BODY, members, **ANGLES))
    assert (error.body, error.time) == (1, pytest.approx(0.49))
    assert np.isnan(error.motion.final.quaternion_wxyz[1]).all()
    exact = ph.simulate(BODY, start(0.0), duration=1.0, **RK4)
    assert error.motion.final.quaternion_wxyz[0] == pytest.approx(exact.final.quaternion_wxyz, abs=1e-11)
