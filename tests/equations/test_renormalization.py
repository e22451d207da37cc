"""What is done to a state after a step, and what is watched, against hand numbers; exactly."""

from fractions import Fraction

import pytest

from law_samples import BODY, vector
from polhode.equations import quaternions, rigid_body
from polhode.equations.formulations import FORMULATIONS

X, P, L = vector(1, -2, 3, over=4), vector(3, 5, -7, over=8), vector(5, 7, -4, over=8)
LONG = vector(2, 4, 5, 6)  # of length 9
UNIT = vector(2, 4, 5, 6, over=9)
H = Fraction(1, 8)


@pytest.mark.parametrize("name", ["momentum", "body_rates"])
def test_renormalization_gives_q_unit_length_and_leaves_the_rest(name):
    formulation = FORMULATIONS[name]
    assert formulation.renormalize((X, LONG, P, L), H) == ((X, UNIT, P, L), 8)
    assert formulation.with_drift((X, LONG, P, L), H) == ((X, LONG, P, L), 8)
    short = vector(2, 4, 5, 6, over=18)
    assert formulation.renormalize((X, short, P, L), H) == ((X, UNIT, P, L), Fraction(1, 2))


def test_renormalizing_quaternion_accelerations_leaves_the_spin():
    """q and q' shrink by the same number, so that w = 2 q^-1 q' stays."""
    formulation = FORMULATIONS["quaternion_acceleration"]
    q_rate = quaternions.rate(LONG, L)
    (x, q, p, rate), watched = formulation.renormalize((X, LONG, P, q_rate), H)
    assert (x, q, p, watched) == (X, UNIT, P, 8)
    assert rate == tuple(a / 9 for a in q_rate)
    assert rigid_body.spin_of(q, rate) == L
    assert formulation.with_drift((X, LONG, P, q_rate), H) == ((X, LONG, P, q_rate), 8)


def test_a_matrix_is_watched_and_left_as_it_is():
    stretched = vector(1, 0, 0, 0, 2, 0, 0, 0, 1)
    for do in (FORMULATIONS["momentum_matrix"].renormalize, FORMULATIONS["momentum_matrix"].with_drift):
        assert do((X, stretched, P, L), H) == ((X, stretched, P, L), 3)


def test_angles_are_watched_and_left_as_they_are():
    """(phi' h)^2 at psi = 0: (w2 h/sin(theta))^2."""
    y = ((0.0, 0.0, 0.0), (0.3, 0.5, 0.0), (0.0, 0.0, 0.0), (0.7, 2.0, 0.1))
    for do in (FORMULATIONS["euler_angles"].renormalize, FORMULATIONS["euler_angles"].with_drift):
        same, watched = do(y, 0.25)
        assert same == y
        assert watched == pytest.approx((2.0 * 0.25 / 0.479425538604203) ** 2, rel=1e-15)


def test_an_euler_angles_start_is_undone_by_its_finish():
    state = ((0.25, -0.5, 0.75), (2 / 9, 4 / 9, 5 / 9, 6 / 9), (0.375, 0.625, -0.875), (0.625, 0.875, -0.5))
    formulation = FORMULATIONS["euler_angles"]
    back = formulation.finish(formulation.start(*state, BODY), BODY)
    assert back[0] == state[0]
    assert back[2] == state[2]
    assert back[1] == pytest.approx(state[1], rel=4e-16)
    assert back[3] == pytest.approx(state[3], rel=4e-15)


@pytest.mark.parametrize("name", FORMULATIONS)
def test_a_formulation_says_how_many_numbers_its_groups_hold(name):
    formulation = FORMULATIONS[name]
    y = formulation.start(*(tuple(float(a) for a in group) for group in (X, UNIT, P, L)), BODY)
    assert formulation.name == name
    assert tuple(len(group) for group in y) == formulation.sizes
    assert (
        tuple(len(group) for group in formulation.rate(y, BODY, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))) == formulation.sizes
    )
