"""method="exact": the closed form of free motion, held against 50 digits, parabolas, and itself run otherwise."""

import math
import warnings

import numpy as np
import pytest

import free_rotation_cases
import polhode as ph
from polhode.equations.free_rotation import rotate_freely
from polhode.reference import problem

CASES = free_rotation_cases.cases(seed=20260, per_regime=2)
LIMIT = 20
"""How many times its own conditioning a case may be off."""
BODY = ph.Body(mass=2.0, inertia=(0.6, 0.8, 1.0))
START = ph.State(position=(1, 2, 3), velocity=(0.5, -1, 4), angular_velocity_body=(3.0, 0.5, -0.9))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_the_law_is_as_good_as_its_inputs(case):
    """Judge: `reference.precise` at 50 digits; the allowance is what one unit in the last place of the inputs does."""
    _, moments, w, q, t = case
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        q_later, w_later = rotate_freely(tuple(q), tuple(w), tuple(moments), t)
    assert free_rotation_cases.attitude_error(q_later, case) <= LIMIT * free_rotation_cases.conditioning(case)
    assert free_rotation_cases.rates_error(w_later, case) <= LIMIT * free_rotation_cases.conditioning_of_rates(case)


@pytest.mark.parametrize("spin_power", [-800, -300, 0, 300, 800])
@pytest.mark.parametrize("moment_power", [-800, -300, 0, 300, 800])
def test_the_law_holds_for_moments_and_spins_of_any_magnitude(moment_power, spin_power):
    """Judge: the attitude depends on the ratios of the moments and on w t alone."""
    large, fast = 2.0**moment_power, 2.0**spin_power
    for _, moments, w, q, t in free_rotation_cases.cases(seed=7, per_regime=1):
        q_here, w_here = rotate_freely(tuple(q), tuple(w), tuple(moments), t)
        elsewhere = tuple(fast * c for c in w), tuple(large * c for c in moments), t / fast
        q_there, w_there = rotate_freely(tuple(q), *elsewhere)
        assert q_there == pytest.approx(q_here, abs=4e-16)
        size = max(map(abs, w))
        assert tuple(c / fast for c in w_there) == pytest.approx(w_here, rel=1e-14, abs=1e-15 * size)


@pytest.mark.parametrize("wobble", [1e-150, 1e-155, 1e-158, 1e-160, 1e-162])
def test_a_wobble_whose_square_underflows_does_not_change_the_spin(wobble):
    """Judge: a pure spin about the axis of the largest moment."""
    q, w = rotate_freely((1.0, 0.0, 0.0, 0.0), (wobble, 1.25, -2 * wobble), (2.0, 3.0, 1.5), 7.0)
    assert w[1] == pytest.approx(1.25, rel=1e-15)
    assert q == pytest.approx((math.cos(1.25 * 3.5), 0.0, math.sin(1.25 * 3.5), 0.0), abs=4e-15)


@pytest.mark.parametrize("name", ["hairer_vilmart_asymmetric", "hairer_vilmart_flat"])
def test_hairer_and_vilmart(name):
    """Judge: the end states to 40 digits."""
    given = problem(name)
    final = ph.simulate(given.scenario(method="exact")).final
    error = given.error_of(
        quaternion_wxyz=final.quaternion_wxyz, angular_velocity_body=final.angular_velocity_body, of_doubles=True
    )
    assert error.attitude <= 2e-14
    assert error.rates <= 2e-14


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("t", [-3.0, 0.7, 1e3, 1e9])
def test_pure_spins_stay_forever(axis, t):
    """Judge: q = (cos wt/2, sin wt/2 along the axis), the middle axis included."""
    w = [0.0, 0.0, 0.0]
    w[axis] = -1.25
    q, later = rotate_freely((1.0, 0.0, 0.0, 0.0), tuple(w), (1.0, 3.0, 2.0), t)
    assert later == pytest.approx(w, abs=1e-15)
    expected = [math.cos(-1.25 * t / 2), 0.0, 0.0, 0.0]
    expected[axis + 1] = math.sin(-1.25 * t / 2)
    assert q == pytest.approx(expected, abs=1e-15 + 4e-16 * abs(t))


def test_no_time_no_change():
    for _, moments, w, q, _ in CASES:
        q_later, w_later = rotate_freely(tuple(q), tuple(w), tuple(moments), 0.0)
        assert q_later == pytest.approx(q, abs=1e-15)
        assert w_later == pytest.approx(w, rel=1e-14, abs=1e-15 * np.linalg.norm(w))


def test_there_and_back():
    """Judge: the start.  A step forward and the same step back."""
    for moments, w in (((1, 2, 3), (0.3, -0.2, 1)), ((3, 1, 2), (1, 0.2, 0.1)), ((2, 2, 3), (1, 1, 1))):
        there = rotate_freely((1.0, 0.0, 0.0, 0.0), w, moments, 7.3)
        q, back = rotate_freely(*there, moments, -7.3)
        assert q == pytest.approx((1, 0, 0, 0), abs=1e-13)
        assert back == pytest.approx(w, abs=1e-13)


@pytest.mark.parametrize("w", [(3.0, 0.5, -0.9), (0.2, 0.5, -2.0)])
def test_the_quaternion_never_jumps(w):
    """q and -q are one attitude; the motion stays on one side, over many periods and about either axis."""
    motion = ph.simulate(BODY, ph.State(angular_velocity_body=w), duration=100.0, method="exact", output_step=0.01)
    q = motion.quaternion_wxyz
    assert (np.einsum("ti,ti->t", q[1:], q[:-1]) > 0.99).all()


def test_gravity_is_a_parabola_and_leaves_the_rotation_alone():
    """Judges: x + vt + gt^2/2; the rotation without gravity, bit by bit."""
    g = np.array((0.5, 0.0, -9.8))
    falling = ph.simulate(BODY, START, [ph.forces.gravity(g)], duration=10.0, method="exact")
    free = ph.simulate(BODY, START, duration=10.0, method="exact")
    t = falling.times[:, None]
    np.testing.assert_allclose(falling.position, START.position + START.velocity * t + g * t**2 / 2, rtol=1e-14)
    np.testing.assert_allclose(falling.velocity, START.velocity + g * t, rtol=1e-14, atol=1e-14)
    assert np.array_equal(falling.quaternion_wxyz, free.quaternion_wxyz)
    assert falling.audit()["energy"].relative < 1e-14
    assert falling.audit()["work-energy residual"].relative < 1e-13


def test_at_reaches_any_time_without_steps():
    """Judge: a longer run, and a run back from there."""
    motion = ph.simulate(BODY, START, [ph.forces.gravity()], duration=2.0, method="exact")
    longer = ph.simulate(BODY, START, [ph.forces.gravity()], duration=500.0, method="exact", output_step=100.0)
    for later in (motion.at(500.0), longer.at(500.0), longer.final):
        assert np.array_equal(later.quaternion_wxyz, longer.quaternion_wxyz[-1])
        assert np.array_equal(later.position, longer.position[-1])
    before = motion.at(-3.0)
    again = ph.simulate(BODY, before, [ph.forces.gravity()], duration=3.0, method="exact").final
    np.testing.assert_allclose(again.quaternion_wxyz, START.quaternion_wxyz, atol=1e-14)
    np.testing.assert_allclose(again.position, START.position, atol=1e-13)
    assert motion.steps == 0


def test_same_bits_alone_in_a_crowd_in_python_and_on_two_threads():
    rng = np.random.default_rng(5)
    w = rng.normal(size=(100, 3))
    w[3] = 0.0
    w[4] = (0.0, 1.0, 0.0)
    moments = np.array([(1.0, 2.0, 2.5)]) * rng.uniform(0.9, 1.1, size=(100, 3))
    moments[5], moments[6], moments[7] = (2, 2, 3), (2, 3, 3), (3, 3, 3)
    settings = {"duration": 40.0, "method": "exact", "output_times": [0.0, 7.0, 40.0]}
    crowd = ph.ensemble(ph.Body(mass=1.0, inertia=moments), ph.State(angular_velocity_body=w), threads=1, **settings)
    two = ph.ensemble(ph.Body(mass=1.0, inertia=moments), ph.State(angular_velocity_body=w), threads=2, **settings)
    assert np.array_equal(crowd.quaternion_wxyz, two.quaternion_wxyz)
    for i in (0, 3, 4, 5, 6, 7, 31, 32, 99):
        body, start = ph.Body(mass=1.0, inertia=moments[i]), ph.State(angular_velocity_body=w[i])
        alone = ph.simulate(body, start, **settings)
        assert np.array_equal(alone.quaternion_wxyz, crowd.quaternion_wxyz[:, i])
        assert np.array_equal(alone.angular_velocity_body, crowd.angular_velocity_body[:, i])
        with pytest.warns(UserWarning, match="uncompiled"):
            python = ph.simulate(body, start, engine="python", **settings)
        assert np.array_equal(alone.quaternion_wxyz, python.quaternion_wxyz)
    assert np.array_equal(
        crowd.at(33.0).quaternion_wxyz[9],
        ph.simulate(ph.Body(mass=1.0, inertia=moments[9]), ph.State(angular_velocity_body=w[9]), **settings)
        .at(33.0)
        .quaternion_wxyz,
    )


@pytest.mark.filterwarnings("ignore:engine='python'")
def test_impulses_between_free_pieces():
    """Judge: the adaptive method at a tight tolerance."""
    with_impulses = [
        ph.forces.gravity(),
        ph.forces.impulse((0.0, 1.0, 0.0), time=1.5, com_to_point_body=(0.1, 0.2, 0.0)),
        ph.forces.impulse((0.3, 0.0, 0.0), time=4.0),
    ]
    settings = {"duration": 4.0, "output_step": 0.5}
    exact = ph.simulate(BODY, START, with_impulses, method="exact", **settings)
    steps = ph.simulate(BODY, START, with_impulses, method="dop853", rtol=1e-13, engine="python", **settings)
    np.testing.assert_allclose(exact.quaternion_wxyz, steps.quaternion_wxyz, atol=1e-11)
    np.testing.assert_allclose(exact.position, steps.position, atol=1e-11)
    np.testing.assert_allclose(exact.velocity, steps.velocity, atol=1e-11)
    np.testing.assert_allclose(exact.work, steps.work, atol=1e-10)
    assert np.array_equal(exact.at(3.0).quaternion_wxyz, exact.quaternion_wxyz[6])


@pytest.mark.filterwarnings("ignore:engine='python'")
def test_a_body_turning_freely_about_a_pivot():
    """Judge: the adaptive method at a tight tolerance."""
    settings = {"duration": 3.0, "pivot": (0.0, 0.3, -0.2), "output_step": 0.5}
    start = ph.State(angular_velocity_body=(3.0, 0.5, -0.9))
    exact = ph.simulate(BODY, start, **settings)
    assert exact.audit().method == "exact"
    steps = ph.simulate(BODY, start, method="dop853", rtol=1e-13, engine="python", **settings)
    np.testing.assert_allclose(exact.position, steps.position, atol=1e-11)
    np.testing.assert_allclose(exact.reaction_force, steps.reaction_force, atol=1e-9)


def test_axes_of_the_users_choice():
    """Judge: the same body described in its principal axes."""
    from scipy.spatial.transform import Rotation

    turn = Rotation.from_euler("xyz", (0.3, -1.0, 2.0))
    moments = np.array((0.6, 0.8, 1.0))
    body = ph.Body(mass=1.0, inertia=turn.as_matrix() @ np.diag(moments) @ turn.as_matrix().T)
    w = np.array((3.0, 0.5, -0.9))
    oblique = ph.simulate(body, ph.State(angular_velocity_body=turn.apply(w)), duration=10.0, method="exact").final
    plain = ph.simulate(ph.Body(mass=1.0, inertia=moments), ph.State(angular_velocity_body=w), duration=10.0).final
    together = oblique.orientation * turn
    relative = together * (turn * plain.orientation).inv()
    assert relative.magnitude() < 1e-13
    np.testing.assert_allclose(oblique.angular_velocity_body, turn.apply(plain.angular_velocity_body), atol=1e-13)


def test_a_stored_motion_is_exact_again(tmp_path):
    motion = ph.simulate(BODY, START, [ph.forces.gravity()], duration=2.0)
    motion.save(tmp_path / "m.zarr")
    again = ph.load(tmp_path / "m.zarr")
    assert again.audit().method == "exact"
    assert np.array_equal(again.at(17.0).quaternion_wxyz, motion.at(17.0).quaternion_wxyz)


def test_what_is_not_free_is_refused():
    with pytest.raises(ph.PolhodeError, match="at most uniform gravity acts, but quadratic_drag acts"):
        ph.simulate(BODY, START, [ph.forces.quadratic_drag(0.1)], duration=1.0, method="exact")
    with pytest.raises(ph.PolhodeError, match="gravity turns a body about its pivot"):
        ph.simulate(
            BODY,
            ph.State(),
            [ph.forces.gravity()],
            duration=1.0,
            method="exact",
            pivot=(0, 0, 1),
        )


def test_beyond_all_numbers_is_said():
    motion = ph.simulate(BODY, START, [ph.forces.gravity()], duration=1.0)
    with pytest.raises(ph.PolhodeError, match="no longer finite"):
        motion.at(1e200)
