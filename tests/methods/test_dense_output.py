"""What an adaptive method shows between its steps: as many outputs as one likes, and not one step more."""

from __future__ import annotations

from itertools import pairwise
from math import log2

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import polhode as ph
from polhode.equations.law import law
from polhode.methods.dense_output import build_interpolant, dense_stages, evaluate_interpolant
from polhode.methods.dop853 import DOP853
from polhode.methods.runge_kutta import evaluate_stages, tableau_stages
from polhode.reference.free_rotation import AsymmetricTop

f = ph.forces
pytestmark = pytest.mark.filterwarnings("ignore:engine='python'")
SOLID = ph.Body(2.0, (1.0, 2.0, 2.5))
THROWN = ph.State(position=(1.0, 0.0, 2.0), velocity=(3.0, 1.0, 5.0), angular_velocity_body=(0.1, 2.0, 0.3))
AIR = [f.gravity(), f.quadratic_drag(0.3, wind=(1.0, 0.0, 0.0)), f.rotational_drag(0.05)]
WELL = [f.spring(9.0, (0.0, 0.0, 1.0), (0.1, 0.0, 0.2), damping=0.2, length=0.5)]
DOP853_RUN = {"method": "dop853", "engine": "python"}


# The interpolant ---------------------------------------------------------------------------------------------------
@law
def _pendulum(t, y, data):
    """x'' = -x + x^3/6 - t x'/10, and a sum beside it."""
    (x, v), _, _ = y
    return ((v, -x + x * x * x / 6 - t * v / 10), (0.0 * t,), (x * v + t * t,))


def interpolant_error(h, theta):
    """At the part `theta` of one step of length h, against a hundred small ones."""
    y = ((1.0, 0.3), (1.0,), (0.2,))
    stages, used = tableau_stages(DOP853), dense_stages(DOP853).used
    k, new = evaluate_stages(_pendulum, stages, 0.5, y, h, (), (), y)
    interpolant = build_interpolant(DOP853, _pendulum)(0.5, y, new, h, tuple(k[i] for i in used), ())
    exact, steps = y, 20
    for i in range(steps):
        exact = evaluate_stages(
            _pendulum, stages, 0.5 + i * theta * h / steps, exact, theta * h / steps, (), (), exact
        )[1]
    found = evaluate_interpolant(y, theta, interpolant)
    return max(abs(a - b) for one, other in zip(found, exact, strict=True) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("theta", [0.17, 0.5, 0.83])
def test_the_interpolant_has_order_7(theta):
    """Its error in one step falls with the eighth power of the step's length."""
    errors = [interpolant_error(h, theta) for h in (0.8, 0.4, 0.2)]
    assert all(7.9 < log2(a / b) < 8.4 for a, b in pairwise(errors))


def test_the_interpolant_begins_and_ends_with_the_step_and_its_slopes():
    y, h = ((1.0, 0.3), (1.0,), (0.2,)), 0.5
    k, new = evaluate_stages(_pendulum, tableau_stages(DOP853), 0.5, y, h, (), (), y)
    interpolant = build_interpolant(DOP853, _pendulum)(
        0.5, y, new, h, tuple(k[i] for i in dense_stages(DOP853).used), ()
    )
    small = 1e-6
    for theta, value, slope in ((0.0, y, k[0]), (1.0, new, _pendulum(0.5 + h, new, ()))):
        at = evaluate_interpolant(y, theta, interpolant)
        ahead, behind = (
            evaluate_interpolant(y, theta + small, interpolant),
            evaluate_interpolant(y, theta - small, interpolant),
        )
        for group, other, rate, a, b in zip(at, value, slope, ahead, behind, strict=True):
            assert group == pytest.approx(other, rel=1e-15)
            assert (np.array(a) - b) / (2 * small * h) == pytest.approx(rate, abs=1e-8)


def test_the_stages_of_the_interpolant_are_at_their_nodes():
    assert DOP853.dense is not None
    for node, row in zip(DOP853.dense.nodes, DOP853.dense.rows, strict=True):
        assert sum(row) == pytest.approx(node, rel=1e-14)
    for row in DOP853.dense.curve_rows:
        assert sum(row) == pytest.approx(0.0, abs=1e-12)


# Against others ------------------------------------------------------------------------------------------------------
PROBLEMS = {
    "falling through air": (SOLID, THROWN, AIR, 4.0),
    "on a spring": (SOLID, THROWN, WELL, 5.0),
    "around a star": (
        ph.particle(1.0),
        ph.State(position=(1.0, 0.0, 0.0), velocity=(0.0, 0.7, 0.1)),
        [f.point_gravity(1.0)],
        6.0,
    ),
    "tumbling": (SOLID, ph.State(angular_velocity_body=(0.01, 3.0, 0.02)), [], 8.0),
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("rtol", [1e-6, 1e-9])
def test_outputs_are_scipys_within_the_tolerance(name, rtol):
    body, start, forces, duration = PROBLEMS[name]
    scenario = ph.Scenario(body, start, forces, duration=duration, rtol=rtol, output_step=duration / 40, **DOP853_RUN)
    motion = ph.simulate(scenario)
    y0, times = start.to_array(body), motion.times
    exact = solve_ivp(scenario.derivative, (0, duration), y0, "DOP853", times, rtol=3e-14, atol=1e-14).y
    theirs = solve_ivp(scenario.derivative, (0, duration), y0, "DOP853", times, rtol=rtol, atol=rtol).y
    for group in (slice(0, 3), slice(3, 7), slice(7, 10), slice(10, 13)):
        outputs = (motion.position, motion.quaternion_wxyz, motion.linear_momentum, motion.angular_momentum)
        ours = dict(zip((0, 3, 7, 10), outputs, strict=True))[group.start].T
        size = max(np.abs(exact[group]).max(), 1e-3)
        error, their_error = (np.abs(y - exact[group]).max() / size for y in (ours, theirs[group]))
        assert error < 3e3 * rtol
        assert error < max(30 * their_error, 10 * rtol)


def test_outputs_of_a_tumbling_body_against_the_closed_form():
    rates = (0.5, 1.0, 2.0)
    spinning = ph.State(angular_velocity_body=rates)
    motion = ph.simulate(SOLID, spinning, duration=20.0, rtol=1e-11, output_step=0.01, **DOP853_RUN)
    exact = AsymmetricTop((1.0, 2.0, 2.5), rates).rates_at(motion.times)
    assert np.abs(motion.angular_velocity_body - exact).max() < 1e-8
    assert motion.steps < 300
    assert len(motion.times) == 2001


# Outputs and steps ---------------------------------------------------------------------------------------------------
IMPULSES = [f.impulse((0.0, 1.0, 0.0), 0.7, (0.1, 0.0, 0.0)), f.thruster((0.1, 0, 0), (0, 0, 1), 4.0, 1.1, 1.9)]
PAIR = [f.spring_between(0, 1, 5.0)]


@pytest.mark.parametrize("is_system", [False, True], ids=["body", "system"])
@pytest.mark.parametrize("more", [[], IMPULSES], ids=["smooth", "with_impulses"])
def test_output_times_do_not_change_the_steps(is_system, more):
    def run(**settings):
        bodies, states = ([SOLID, SOLID], [THROWN, ph.State()]) if is_system else (SOLID, THROWN)
        forces = [*AIR, *more, *(PAIR if is_system else [])]
        return ph.simulate(bodies, states, forces, duration=3.0, **DOP853_RUN, **settings)

    motions = [run(output_times=[3.0]), run(output_step=0.3), run(output_step=0.0137), run()]
    finals = [np.atleast_1d(motion.final) for motion in motions]
    for motion, final in zip(motions, finals, strict=True):
        assert motion.steps == motions[0].steps
        for one, other in zip(final, finals[0], strict=True):
            assert np.array_equal(one.to_array(SOLID), other.to_array(SOLID))


@pytest.mark.parametrize("is_system", [False, True], ids=["body", "system"])
def test_a_time_between_outputs_is_what_an_output_there_would_have_been(is_system):
    moments = [0.123, 0.7, 0.71, 1.0, 1.5, 2.222]
    bodies, states = ([SOLID, SOLID], [THROWN, ph.State()]) if is_system else (SOLID, THROWN)
    forces = [*AIR, *IMPULSES, *(PAIR if is_system else [])]
    sparse = ph.simulate(bodies, states, forces, duration=3.0, output_step=0.5, **DOP853_RUN)
    dense = ph.simulate(bodies, states, forces, duration=3.0, output_times=moments, **DOP853_RUN)
    for i, t in enumerate(moments):
        positions = [state.position for state in np.atleast_1d(sparse.at(t))]
        assert np.array_equal(positions, np.atleast_2d(dense.position[i]))


def test_a_motion_on_disk_still_knows_the_times_between(tmp_path):
    motion = ph.simulate(SOLID, THROWN, AIR, duration=2.0, output_step=0.5, **DOP853_RUN)
    motion.save(tmp_path / "motion.zarr")
    assert np.array_equal(ph.load(tmp_path / "motion.zarr").at(1.3).position, motion.at(1.3).position)


def test_q_has_length_one_between_steps_and_the_work_balances():
    motion = ph.simulate(SOLID, THROWN, AIR, duration=3.0, output_step=0.01, rtol=1e-10, **DOP853_RUN)
    assert np.abs(np.linalg.norm(motion.quaternion_wxyz, axis=1) - 1).max() < 1e-15
    assert motion.audit()["work-energy residual"].relative < 1e-9
    assert (motion.attitude_drift[1:] >= 0).all()


@pytest.mark.parametrize("formulation", ["momentum_matrix", "body_rates", "quaternion_acceleration", "euler_angles"])
def test_every_formulation_shows_the_same_motion_between_its_steps(formulation):
    settings = {"duration": 2.0, "rtol": 1e-11, "output_step": 0.03, **DOP853_RUN}
    start = THROWN.replace(quaternion_wxyz=(0.8, 0.6, 0.0, 0.0))
    one = ph.simulate(SOLID, start, AIR, formulation=formulation, **settings)
    other = ph.simulate(SOLID, start, AIR, **settings)
    assert one.position == pytest.approx(other.position, abs=1e-8)
    assert one.rotation_matrix == pytest.approx(other.rotation_matrix, abs=1e-7)


# Tolerances ----------------------------------------------------------------------------------------------------------
def test_each_kind_of_quantity_may_have_its_own_tolerance():
    def run(**settings):
        return ph.simulate(SOLID, THROWN, AIR, duration=3.0, output_times=[3.0], **DOP853_RUN, **settings)

    assert np.array_equal(run(rtol=1e-7).final.position, run(rtol=(1e-7,) * 4).final.position)
    assert run(rtol=(1e-7, 1e-12, 1e-7, 1e-12)).steps > 1.3 * run(rtol=1e-7).steps
    assert run(rtol=(1e-7, 0.1, 1e-7, 0.1)).steps <= run(rtol=1e-7).steps
    assert run(rtol=1e-12, atol=(1e-6, 1e-3, 1e-6, 1e-3)).steps < run(rtol=1e-12).steps


@pytest.mark.parametrize(
    ("rtol", "phrase"),
    [((1e-9, 1e-9), "one number, or four"), ((1e-9, 0.0, 1e-9, 1e-9), "greater than 0"), (float("nan"), "finite")],
)
def test_a_tolerance_that_makes_no_sense_is_refused(rtol, phrase):
    with pytest.raises(ph.PolhodeError, match=phrase):
        ph.Scenario(SOLID, THROWN, AIR, duration=1.0, rtol=rtol)
