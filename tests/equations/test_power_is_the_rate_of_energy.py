"""Power against the rate of kinetic energy, exactly: ratios in, and an equality out, for one motion after another."""

from fractions import Fraction

import pytest
import sympy
from sympy.polys.fields import field

from law_samples import BODY, H, T, vector
from polhode.equations import force_laws, formulations, invariants, matrices, quaternions, right_hand_side
from polhode.equations.formulations import FORMULATIONS
from polhode.equations.vectors import cross, minus, plus, scaled
from scalar_types import leaves, mapped, refilled

LINE, S = field("s", sympy.QQ)

X, Q, P = vector(1, -2, 3, over=4), vector(2, 4, 5, 6, over=9), vector(3, 5, -7, over=8)
SPINS = {
    "momentum": vector(5, 7, -4, over=8),
    "body_rates": vector(2, -1, 3, over=2),
    "quaternion_acceleration": quaternions.rate(Q, vector(2, -1, 3, over=2)),
}
"""The formulations whose rates take no root and no sine; q need not have length 1."""
LENGTHS = {
    "of unit length": Q,
    "of length 3": vector(6, 12, 15, 18, over=9),
    "the third of a turn": vector(1, 1, 1, 1, over=2),
}


def spring(view):
    """A spring whose point stands (2, 3, 6) from the anchor: its length, 7, is rational."""
    arm = vector(1, 0, -2, over=3)
    point = plus(view.position, quaternions.to_world(view.orientation, arm))
    return (Fraction(40), Fraction(3, 2), Fraction(5), arm, minus(point, vector(2, 3, 6)))


ARM, FORCE = vector(1, 2, -2, over=3), vector(4, -1, 7, over=5)
LOADS = {
    # name: (kernel, view -> params)
    "gravity": (force_laws.gravity, lambda view: (FORCE,)),
    "point gravity": (
        force_laws.point_gravity,
        lambda view: (Fraction(9), minus(view.position, vector(2, 6, 9))),
    ),
    "linear drag": (force_laws.linear_drag, lambda view: (T, FORCE)),
    "quadratic drag": (force_laws.quadratic_drag, lambda view: (T, minus(view.velocity, vector(2, 3, 6)))),
    "rotational drag": (force_laws.rotational_drag, lambda view: (T,)),
    "force at a body point": (force_laws.world_force_at_body_point, lambda view: (FORCE, ARM)),
    "body force at a body point": (force_laws.body_force_at_body_point, lambda view: (FORCE, ARM)),
    "force at a world point": (force_laws.world_force_at_world_point, lambda view: (FORCE, ARM)),
    "body force at a world point": (force_laws.body_force_at_world_point, lambda view: (FORCE, ARM)),
    "torque": (force_laws.world_torque, lambda view: (FORCE,)),
    "body torque": (force_laws.body_torque, lambda view: (FORCE,)),
    "thruster": (force_laws.thruster, lambda view: (ARM, FORCE, (T, T + H))),
    "spring": (force_laws.spring, spring),
    "spring of length 0": (force_laws.spring, lambda view: (*spring(view)[:2], Fraction(0), *spring(view)[3:])),
}


def rate_of(kept, seen, y, rates):
    """d/ds of kept(y + s y') at s = 0, by differentiating quotients of polynomials."""
    moved = [on_line(a) + S * on_line(r) for a, r in zip(leaves(y), leaves(rates), strict=True)]
    value = kept(seen(refilled(y, moved), mapped(on_line, BODY)))
    return mapped(lambda x: Fraction(str(x.diff(S).subs(S, 0).as_expr())), value)


def rate_of_energy(seen, y, rates):
    return rate_of(invariants.kinetic_energy, seen, y, rates)


def on_line(x):
    return LINE(sympy.QQ(x.numerator, x.denominator))


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("formulation", SPINS)
@pytest.mark.parametrize("pivoted", [False, True], ids=["free", "pivoted"])
def test_power_equals_the_rate_of_kinetic_energy_exactly(formulation, load, pivoted):
    kernel, params_of = LOADS[load]
    y = (X, Q, scaled(0, P) if pivoted else P, SPINS[formulation])
    seen = right_hand_side.build_view(FORMULATIONS[formulation]._replace(is_held=pivoted))
    view = seen(y, BODY)
    params = params_of(view)
    rates = right_hand_side.build_right_hand_side(FORMULATIONS[formulation]._replace(is_held=pivoted), kernel, True)(
        T, y, (BODY, params)
    )
    power = right_hand_side.power(view, *kernel(T, view, BODY, params))
    assert isinstance(power, Fraction)
    assert power != 0
    assert rates[4] == (power,), "the work that a run counts grows by the power"
    assert rate_of_energy(seen, y, rates[:4]) == power


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("formulation", SPINS)
def test_the_angular_momentum_about_a_fixed_point_changes_by_the_torque_about_it_exactly(formulation, load):
    """d/dt (L + (x - p) x P) = torque + (x - p) x F."""
    kernel, params_of = LOADS[load]
    y, point = (X, Q, P, SPINS[formulation]), vector(3, 1, -2)
    seen = FORMULATIONS[formulation].view
    view = seen(y, BODY)
    force, torque = kernel(T, view, BODY, params_of(view))
    rates = FORMULATIONS[formulation].rate(y, BODY, force, torque)

    def about_point(state):
        return invariants.angular_momentum_about(state, mapped(on_line, point))

    assert rate_of(about_point, seen, y, rates) == plus(torque, cross(minus(X, point), force))


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("pivoted", [False, True], ids=["free", "pivoted"])
def test_free_motion_keeps_kinetic_energy_exactly(length, pivoted):
    y = (X, LENGTHS[length], scaled(0, P) if pivoted else P, SPINS["momentum"])
    seen = right_hand_side.build_view(FORMULATIONS["momentum"]._replace(is_held=pivoted))
    form = FORMULATIONS["momentum"]._replace(is_held=pivoted)
    rates = right_hand_side.build_right_hand_side(form, right_hand_side.no_load, True)(T, y, (BODY, ()))
    assert rates[4] == (0,)
    assert rate_of_energy(seen, y, rates[:4]) == 0


@pytest.mark.parametrize("formulation", SPINS)
def test_start_and_finish_undo_each_other_exactly(formulation):
    start, finish = FORMULATIONS[formulation].start, FORMULATIONS[formulation].finish
    state = (X, Q, P, vector(5, 7, -4, over=8))
    assert finish(start(*state, BODY), BODY) == state


def test_the_matrix_formulation_undoes_its_start_exactly():
    """With |q| = 1 and rational roots from_matrix is exact, up to the sign of q."""
    state = (X, Q, P, vector(5, 7, -4, over=8))
    formulation = FORMULATIONS["momentum_matrix"]
    assert formulation.finish(formulation.start(*state, BODY), BODY) == state


def test_all_exact_formulations_see_the_same_body():
    """The same state, started in four formulations, looks the same to a force."""
    state = (X, Q, P, vector(5, 7, -4, over=8))
    views = [
        formulation.view(formulation.start(*state, BODY), BODY)
        for name, formulation in FORMULATIONS.items()
        if name != "euler_angles"
    ]
    assert all(view == views[0] for view in views)


def test_a_view_is_consistent_with_its_body():
    """P = M v, L = R I R^T w, and w in the user's axes is the same vector, exactly."""
    view = formulations._view_rates((X, Q, P, SPINS["body_rates"]), BODY)
    assert scaled(BODY.mass, view.velocity) == P
    assert quaternions.to_world(view.orientation, view.angular_velocity_body) == view.angular_velocity
    tensor = matrices.matmul(*_tensor_factors())
    assert matrices.matvec(tensor, view.angular_velocity) == view.angular_momentum


def _tensor_factors():
    r = quaternions.matrix(Q)
    a, b, c = BODY.moments
    diagonal = (a, 0 * a, 0 * a, 0 * a, b, 0 * a, 0 * a, 0 * a, c)
    return matrices.matmul(r, diagonal), matrices.transpose(r)
