"""Forces and pair forces against hand numbers, gradients of potentials, clouds of particles and the laws of Newton."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from law_samples import BODY, OTHER, SEEN, VIEW, T, vector
from polhode.equations import force_laws, pair_laws, quaternions, right_hand_side
from polhode.equations.formulations import FORMULATIONS, StateView, _view_momentum
from polhode.equations.inertia import BodyConstants
from polhode.equations.vectors import cross, dot, minus, plus, scaled
from scalar_types import mapped

ZERO = vector(0, 0, 0)
TURNED = vector(1, 1, 1, 1, over=2)  # x to y, y to z, z to x
UPRIGHT = vector(1, 0, 0, 0)
PARTICLE = BodyConstants(Fraction(2), Fraction(1, 2), ZERO, ZERO, UPRIGHT, ZERO)


def view(position=ZERO, orientation=UPRIGHT, velocity=ZERO, angular_velocity=ZERO):
    """What a force sees; the momenta, which no force reads, are left 0."""
    w_body = quaternions.to_body(orientation, angular_velocity)
    return StateView(position, orientation, ZERO, ZERO, velocity, angular_velocity, w_body)


# Hand numbers --------------------------------------------------------------------------------------------------------
STATE = view(vector(1, 2, 3), TURNED, vector(3, 0, 4), vector(0, 0, 5))
F, R = vector(7, 0, 0), vector(0, 2, 0)
HAND = {
    # kernel, params: force, torque; the body's axes x, y, z point along the world's y, z, x
    "gravity": (force_laws.gravity, (vector(0, 0, -9),), vector(0, 0, -18), ZERO),
    "linear drag": (force_laws.linear_drag, (Fraction(2), vector(1, 0, 0)), vector(-4, 0, -8), ZERO),
    "quadratic drag": (force_laws.quadratic_drag, (Fraction(2), ZERO), vector(-30, 0, -40), ZERO),
    "drag at rest in the wind": (force_laws.quadratic_drag, (Fraction(2), vector(3, 0, 4)), ZERO, ZERO),
    "rotational drag": (force_laws.rotational_drag, (Fraction(3),), ZERO, vector(0, 0, -15)),
    "world force, body point": (force_laws.world_force_at_body_point, (F, R), F, vector(0, 14, 0)),
    "body force, body point": (force_laws.body_force_at_body_point, (F, R), vector(0, 7, 0), vector(-14, 0, 0)),
    "world force, world point": (force_laws.world_force_at_world_point, (F, R), F, vector(0, -21, 0)),
    "body force, world point": (force_laws.body_force_at_world_point, (F, R), vector(0, 7, 0), vector(21, 0, -7)),
    "world torque": (force_laws.world_torque, (F,), ZERO, F),
    "body torque": (force_laws.body_torque, (F,), ZERO, vector(0, 7, 0)),
    "impulse": (force_laws.impulse, (F, R), F, vector(0, 14, 0)),
    "body impulse": (force_laws.body_impulse, (F, R), vector(0, 7, 0), vector(-14, 0, 0)),
    "nothing": (right_hand_side.no_load, (), ZERO, ZERO),
    # the point (1, 2, 5) stands 5 from (1, 2, 0), 2 longer than the spring, and its length grows by 4 a second
    "spring": (
        force_laws.spring,
        (Fraction(10), Fraction(1, 2), Fraction(3), R, vector(1, 2, 0)),
        vector(0, 0, -22),
        ZERO,
    ),
}


@pytest.mark.parametrize("name", HAND)
def test_a_force_against_hand_numbers(name):
    kernel, params, force, torque = HAND[name]
    assert kernel(T, STATE, PARTICLE, params) == (force, torque)


def test_a_sum_of_forces_is_the_sum_and_a_choice_chooses():
    kernel = right_hand_side.sum_forces(
        (force_laws.gravity, right_hand_side.restrict_to_bodies(force_laws.world_torque), force_laws.linear_drag)
    )
    drag = (Fraction(2), vector(1, 0, 0))
    params = ((vector(0, 0, -9),), (Fraction(1), (F,)), drag)
    assert kernel(T, STATE, PARTICLE, params) == (vector(-4, 0, -26), F)
    spared = ((vector(0, 0, -9),), (Fraction(0), (F,)), drag)
    assert kernel(T, STATE, PARTICLE, spared) == (vector(-4, 0, -26), ZERO)
    turned = right_hand_side.convert_body_torque(force_laws.world_torque)
    assert turned(T, STATE, PARTICLE, (F,)) == force_laws.body_torque(T, STATE, PARTICLE, (F,))


@pytest.mark.parametrize(
    ("t", "acts"), [(0, 0), (2 - Fraction(1, 10**9), 0), (2, 1), (3, 1), (5 - Fraction(1, 10**9), 1), (5, 0), (9, 0)]
)
def test_a_thruster_acts_from_its_start_until_just_before_its_stop(t, acts):
    force, torque = force_laws.body_force_at_body_point(T, STATE, PARTICLE, (F, R))
    ours = force_laws.thruster(Fraction(t), STATE, PARTICLE, (R, F, (Fraction(2), Fraction(5))))
    assert ours == (scaled(acts, force), scaled(acts, torque))


# Baraff 1997, section 5: the block (6, 2, 4) of unit density --------------------------------------------------------
MASS = Fraction(48)
MOMENTS = vector(80, 208, 160)
BLOCK = BodyConstants(MASS, 1 / MASS, MOMENTS, tuple(1 / m for m in MOMENTS), UPRIGHT, ZERO)
AT_REST = (vector(9, 8, 7), UPRIGHT, ZERO, ZERO)
PUSH = Fraction(5)
PUSHES = right_hand_side.sum_forces((force_laws.world_force_at_body_point, force_laws.world_force_at_body_point))


def accelerations(load, params):
    """(a, w') of the block at rest."""
    y = FORMULATIONS["body_rates"].start(*AT_REST, BLOCK)
    rate = right_hand_side.build_right_hand_side(FORMULATIONS["body_rates"], load)(T, y, (BLOCK, params))
    return scaled(BLOCK.inverse_mass, rate[2]), rate[3]


def test_the_block_of_baraff_1997_has_its_moments():
    """[Baraff 1997, eq. 5-3]"""
    x, y, z = 6, 2, 4
    assert x * y * z == MASS
    assert tuple(MASS / 12 * s for s in (y * y + z * z, x * x + z * z, x * x + y * y)) == MOMENTS


def test_a_uniform_field_gives_no_torque_as_in_baraff_1997_section_5_2():
    down = vector(0, 0, -9)
    assert accelerations(force_laws.gravity, (down,)) == (down, ZERO)


def test_two_equal_pushes_do_not_turn_the_block_as_in_baraff_1997_section_5_3():
    up = (Fraction(0), Fraction(0), PUSH)
    params = ((up, vector(-3, 0, -2)), (up, vector(3, 0, -2)))
    assert accelerations(PUSHES, params) == ((0, 0, PUSH / 24), ZERO)


@pytest.mark.parametrize("second", [vector(3, 0, 2), vector(3, 0, -2)])
def test_two_opposite_pushes_only_turn_the_block_as_in_baraff_1997_section_5_4(second):
    up, down = (Fraction(0), Fraction(0), PUSH), (Fraction(0), Fraction(0), -PUSH)
    params = ((up, vector(-3, 0, -2)), (down, second))
    state = _view_momentum(AT_REST, BLOCK)
    assert PUSHES(T, state, BLOCK, params) == (ZERO, (0, 6 * PUSH, 0))
    assert accelerations(PUSHES, params) == (ZERO, (0, 6 * PUSH / 208, 0))


# Gradients of the potentials -----------------------------------------------------------------------------------------
def moved(state, direction, s):
    """The body displaced by s along a direction."""
    return state._replace(position=plus(state.position, scaled(s, direction)))


def turned(state, axis, s):
    """The body turned by the angle s about a world axis through its center of mass."""
    turn = (mpmath.cos(s / 2), *(mpmath.sin(s / 2) * a for a in axis))
    return state._replace(orientation=quaternions.product(turn, state.orientation))


def in_mpmath(x):
    return mpmath.mpf(x.numerator) / x.denominator


AXES = [vector(1, 0, 0), vector(0, 1, 0), vector(0, 0, 1)]
STIFF = (Fraction(40), Fraction(0), Fraction(3, 4), vector(1, 2, -1, over=4), vector(0, 1, 4))


@pytest.mark.parametrize(
    ("kernel", "potential", "params"),
    [
        (force_laws.gravity, force_laws.gravity_potential, (vector(1, -2, -9),)),
        (force_laws.spring, force_laws.spring_potential, STIFF),
        (force_laws.spring, force_laws.spring_potential, (*STIFF[:2], Fraction(0), *STIFF[3:])),
    ],
    ids=["gravity", "spring", "spring of length 0"],
)
def test_force_and_torque_are_minus_the_slopes_of_the_potential(kernel, potential, params):
    with mpmath.workdps(40):
        state, body, numbers = mapped(in_mpmath, VIEW), mapped(in_mpmath, BODY), mapped(in_mpmath, params)
        force, torque = kernel(0, state, body, numbers)
        for i, axis in enumerate(AXES):
            slope = mpmath.diff(lambda s, axis=axis: potential(0, moved(state, axis, s), body, numbers), 0)
            twist = mpmath.diff(lambda s, axis=axis: potential(0, turned(state, axis, s), body, numbers), 0)
            assert abs(force[i] + slope) < 1e-15
            assert abs(torque[i] + twist) < 1e-15


PAIRS = {
    "spring": (pair_laws.spring_between, pair_laws.spring_between_potential, (*STIFF[:4], vector(-1, 1, 2, over=3))),
    "gravity": (pair_laws.mutual_gravity, pair_laws.mutual_gravity_potential, (Fraction(7),)),
}


@pytest.mark.parametrize("name", PAIRS)
def test_pair_forces_are_minus_the_slopes_of_the_potential(name):
    kernel, potential, params = PAIRS[name]
    with mpmath.workdps(40):
        a, body_a, b, body_b, numbers = mapped(in_mpmath, (VIEW, BODY, SEEN, OTHER, params))
        force, torque_a, torque_b = kernel(0, a, body_a, b, body_b, numbers)

        def slope_of(change_a, change_b):
            return mpmath.diff(lambda s: potential(0, change_a(s), body_a, change_b(s), body_b, numbers), 0)

        for i, axis in enumerate(AXES):
            assert abs(force[i] + slope_of(lambda s, axis=axis: moved(a, axis, s), lambda s: b)) < 1e-15
            assert abs(force[i] - slope_of(lambda s: a, lambda s, axis=axis: moved(b, axis, s))) < 1e-15
            assert abs(torque_a[i] + slope_of(lambda s, axis=axis: turned(a, axis, s), lambda s: b)) < 1e-15
            assert abs(torque_b[i] + slope_of(lambda s: a, lambda s, axis=axis: turned(b, axis, s))) < 1e-15


# Pairs ---------------------------------------------------------------------------------------------------------------
def rational_pair():
    """Two bodies whose spring has the rational length 7, and whose centers stand 11 apart."""
    arm_a, arm_b = vector(2, -1, 1, over=3), vector(1, 0, 2, over=5)
    b = SEEN
    point_b = plus(b.position, quaternions.to_world(b.orientation, arm_b))
    arm = quaternions.to_world(VIEW.orientation, arm_a)
    a = VIEW._replace(position=minus(plus(point_b, vector(2, 3, 6)), arm))
    return a, b, (Fraction(40), Fraction(3, 2), Fraction(3), arm_a, arm_b)


def test_a_spring_between_bodies_keeps_total_momentum_and_angular_momentum_exactly():
    """Force against force; and r_a x F + torque_a + r_b x (-F) + torque_b = 0 about any point, here the origin."""
    a, b, params = rational_pair()
    force, torque_a, torque_b = pair_laws.spring_between(T, a, BODY, b, OTHER, params)
    assert dot(force, force) > 0
    twist = plus(plus(cross(a.position, force), torque_a), minus(torque_b, cross(b.position, force)))
    assert twist == ZERO


def test_the_damper_between_bodies_only_takes_energy_and_by_its_own_law_exactly():
    """The power on both bodies is -d/dt of the spring's energy - c (d')^2, with d' the rate of its length."""
    a, b, params = rational_pair()
    force, torque_a, torque_b = pair_laws.spring_between(T, a, BODY, b, OTHER, params)
    power = right_hand_side.power(a, force, torque_a) + right_hand_side.power(b, scaled(-1, force), torque_b)
    arms = [quaternions.to_world(s.orientation, r) for s, r in ((a, params[3]), (b, params[4]))]
    velocities = [plus(s.velocity, cross(s.angular_velocity, r)) for s, r in zip((a, b), arms, strict=True)]
    length_rate = dot(vector(2, 3, 6, over=7), minus(*velocities))
    assert power == -(params[0] * (7 - params[2]) * length_rate + params[1] * length_rate**2)


def test_mutual_gravity_keeps_total_momentum_and_angular_momentum_exactly():
    a = VIEW._replace(position=plus(SEEN.position, vector(2, 6, 9)))
    force, torque_a, torque_b = pair_laws.mutual_gravity(T, a, BODY, SEEN, OTHER, (Fraction(3),))
    assert force == scaled(-3 * BODY.mass * OTHER.mass / 11**3, vector(2, 6, 9))
    assert (torque_a, torque_b) == (ZERO, ZERO)
    assert cross(minus(a.position, SEEN.position), force) == ZERO


@pytest.mark.parametrize("name", PAIRS)
def test_a_pair_looks_the_same_from_both_sides(name):
    kernel, _, params = PAIRS[name]
    swapped = params if name == "gravity" else (*params[:3], params[4], params[3])
    a, body_a, b, body_b = mapped(float, (VIEW, BODY, SEEN, OTHER))
    force, torque_a, torque_b = kernel(0.0, a, body_a, b, body_b, mapped(float, params))
    back, twist_b, twist_a = kernel(0.0, b, body_b, a, body_a, mapped(float, swapped))
    np.testing.assert_allclose(back, scaled(-1, force), rtol=1e-14)
    np.testing.assert_allclose([twist_a, twist_b], [torque_a, torque_b], rtol=0, atol=1e-13)


def test_a_pair_spring_to_an_unmoved_body_is_the_spring_to_an_anchor():
    arm, anchor = vector(1, 2, -1, over=4), vector(0, 1, 4)
    wall = view(position=anchor)
    numbers = mapped(float, (Fraction(40), Fraction(1, 2), Fraction(3, 4), arm))
    state, body, still = mapped(float, (VIEW, BODY, wall))
    force, torque, _ = pair_laws.spring_between(0.0, state, body, still, body, (*numbers, (0.0, 0.0, 0.0)))
    assert force_laws.spring(0.0, state, body, (*numbers, mapped(float, anchor))) == (force, torque)
