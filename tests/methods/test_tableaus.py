"""The tableaus of the one-step methods against the order conditions, which exact numbers decide."""

from fractions import Fraction
from itertools import pairwise
from math import exp, factorial, log2, prod

import numpy as np
import pytest
from scipy.integrate._ivp import dop853_coefficients as scipy_dop853

from polhode.methods.dop853 import DOP853
from polhode.methods.runge_kutta import build_step
from polhode.methods.tableaus import EULER, HEUN, LEAPFROG, MIDPOINT, RK4, RK6

AS_PRINTED = RK4._replace(
    coordinate_weights=(Fraction(1, 6), Fraction(1, 3), Fraction(1, 6), Fraction(1, 3)),
    momentum_weights=(Fraction(1, 6), Fraction(1, 3), Fraction(1, 6), Fraction(1, 3)),
)
"""The weights of [Hydra 2017, eq. 4.15] as printed."""
LAST_STAGE_AT_THE_START = RK4._replace(nodes=(*RK4.nodes[:3], Fraction(0)))
"""F4 evaluated at t^n, as [Hydra 2017, eq. 4.14] is printed."""
HALF = Fraction(1, 2)


# Rooted trees: a tree is the sorted tuple of its branches, each of which is a tree -----------------------------------
def trees(order):
    """The rooted trees with `order` vertices."""
    return {tuple(sorted(branches)) for branches in forests(order - 1)}


def forests(size):
    """The collections of trees with `size` vertices together."""
    if size == 0:
        return {()}
    return {
        tuple(sorted((tree, *rest)))
        for first in range(1, size + 1)
        for tree in trees(first)
        for rest in forests(size - first)
    }


def vertices(tree):
    return 1 + sum(vertices(branch) for branch in tree)


def density(tree):
    """gamma: the product of the sizes of all subtrees.  [Hairer, Norsett, Wanner 1993, section II.2]"""
    return vertices(tree) * prod(density(branch) for branch in tree)


def stage_weights(tree, rows):
    """The product over the branches of sum_j a_ij (...)_j, for every stage i."""
    inner = [stage_weights(branch, rows) for branch in tree]
    return [prod(sum(a * x for a, x in zip(row, values, strict=False)) for values in inner) for row in rows]


def defect(tree, rows, weights):
    """sum_i b_i (...)_i - 1/gamma: 0 where the method gets this term of the Taylor series right."""
    return sum(b * x for b, x in zip(weights, stage_weights(tree, rows), strict=True)) - Fraction(1, density(tree))


def test_there_are_as_many_trees_as_cayley_counted():
    assert [len(trees(n)) for n in range(1, 9)] == [1, 1, 2, 4, 9, 20, 48, 115]


@pytest.mark.parametrize("table", [EULER, MIDPOINT, HEUN, RK4, RK6], ids=lambda table: table.name)
def test_a_tableau_has_its_order_by_the_rooted_trees_exactly(table):
    assert table.coordinate_rows == table.momentum_rows
    assert table.coordinate_weights == table.momentum_weights
    assert [sum(row) for row in table.coordinate_rows] == list(table.nodes)
    defects = {
        n: [defect(tree, table.coordinate_rows, table.coordinate_weights) for tree in trees(n)]
        for n in range(1, table.order + 2)
    }
    assert all(d == 0 for n in range(1, table.order + 1) for d in defects[n])
    assert any(d != 0 for d in defects[table.order + 1]), "its order is higher than the tableau says"


@pytest.mark.parametrize("table", [EULER, MIDPOINT, HEUN, RK4, RK6, LEAPFROG, DOP853], ids=lambda table: table.name)
def test_a_tableau_is_explicit_and_its_rows_have_the_same_count(table):
    for rows in (table.coordinate_rows, table.momentum_rows):
        assert [len(row) for row in rows] == list(range(len(table.nodes)))
    assert len(table.coordinate_weights) == len(table.momentum_weights) == len(table.nodes)
    assert table.source


# Leap-frog, partitioned into coordinates and momenta -----------------------------------------------------------------
def partitioned_defects(table, order):
    """The conditions of order 1 and 2 for q' = f(t, q, p), p' = g(t, q, p), all four couplings and the time."""
    weights = (table.coordinate_weights, table.momentum_weights)
    if order == 1:
        return [sum(w) - 1 for w in weights]
    rows = [[sum(row) for row in table.coordinate_rows], [sum(row) for row in table.momentum_rows], list(table.nodes)]
    return [sum(b * c for b, c in zip(w, nodes, strict=True)) - HALF for w in weights for nodes in rows]


def test_leapfrog_has_order_two_forevery_coupling_of_coordinates_and_momenta_exactly():
    assert partitioned_defects(LEAPFROG, 1) == [0] * 2
    assert partitioned_defects(LEAPFROG, 2) == [0] * 6
    cubic = sum(b * c * c for b, c in zip(LEAPFROG.momentum_weights, LEAPFROG.nodes, strict=True)) - Fraction(1, 3)
    assert cubic != 0, "its order is higher than the tableau says"


def test_leapfrog_is_kick_drift_kick_and_runs_back_exactly_where_force_depends_on_place_only():
    """[Christian 2011, eq. 17.45, 17.46]  q' = p, p' = -q^3: the step, and its return with -h, to the last ratio."""

    def rate(t, y, data):
        (q,), _, (p,), _ = y
        return ((p,), (), (-q * q * q,), ())

    step = build_step(LEAPFROG, rate, Fraction)
    q, p, h = Fraction(2, 3), Fraction(-1, 5), Fraction(1, 7)
    there = step(Fraction(0), ((q,), (), (p,), ()), h, ())
    half_kicked = p - q**3 * h / 2
    drifted = q + half_kicked * h
    assert there == ((drifted,), (), (half_kicked - drifted**3 * h / 2,), ())
    assert step(h, there, -h, ()) == ((q,), (), (p,), ())


# DOP853 --------------------------------------------------------------------------------------------------------------
def test_dop853_has_scipys_coefficients():
    stages = scipy_dop853.N_STAGES
    assert list(DOP853.nodes) == list(scipy_dop853.C[:stages])
    for i, row in enumerate(DOP853.coordinate_rows):
        assert list(row) == list(scipy_dop853.A[i, :i])
    assert list(DOP853.coordinate_weights) == list(scipy_dop853.B)
    fifth, third = DOP853.control.error_rows
    assert list(fifth) == list(scipy_dop853.E5[:stages])
    assert list(third) == list(scipy_dop853.E3[:stages])
    assert scipy_dop853.E5[stages] == scipy_dop853.E3[stages] == 0, "the slope at the end has no part in the errors"
    assert DOP853.coordinate_rows == DOP853.momentum_rows
    assert DOP853.coordinate_weights == DOP853.momentum_weights


def test_dop853_has_order_eight_by_the_rooted_trees_to_rounding():
    """Row sums, quadrature, and all 200 conditions up to order 8; those of order 9 it does not meet."""
    rows, weights = exactly(DOP853.coordinate_rows), exactly((DOP853.coordinate_weights,))[0]
    for row, c in zip(rows, DOP853.nodes, strict=True):
        assert abs(sum(row) - Fraction(c)) < 1e-14
    for k in range(1, 9):
        quadrature = sum(b * Fraction(c) ** (k - 1) for b, c in zip(weights, DOP853.nodes, strict=True))
        assert abs(quadrature - Fraction(1, k)) < 1e-14
    for order in range(1, 9):
        assert max(abs(defect(tree, rows, weights)) for tree in trees(order)) < 1e-14
    assert max(abs(defect(tree, rows, weights)) for tree in trees(9)) > 1e-8


def exactly(rows):
    return [[Fraction(a) for a in row] for row in rows]


@pytest.mark.parametrize(("which", "order"), [(0, 5), (1, 3)])
def test_an_error_estimate_of_dop853_is_a_difference_of_methods_of_order_8_and_less(which, order):
    """Each estimate sums to 0 against the trees up to its order, and no further."""
    rows, error = exactly(DOP853.coordinate_rows), exactly(DOP853.control.error_rows)[which]

    def size(n):
        weights = [stage_weights(tree, rows) for tree in trees(n)]
        return max(abs(sum(e * x for e, x in zip(error, values, strict=True))) for values in weights)

    assert max(size(n) for n in range(1, order + 1)) < 1e-14
    assert size(order + 1) > 1e-5


# Measured orders -----------------------------------------------------------------------------------------------------
def measured_orders(table, rate, exact, counts=(16, 32, 64), start=(1.0, 1.0), end=1.0):
    """log2 of the ratios of the errors at t = end; y is a state (coordinate, momentum)."""
    step = build_step(table, rate)
    errors = []
    for count in counts:
        y, h = ((start[0],), (), (start[1],), ()), end / count
        for i in range(count):
            y = step(i * h, y, h, ())
        errors.append(np.hypot(y[0][0] - exact[0], y[2][0] - exact[1]))
    return [log2(a / b) for a, b in pairwise(errors)]


def autonomous(t, y, data):
    """u' = u^2/2 for the coordinate, v' = -v^2 for the momentum: 1/(1 - t/2) and 1/(1 + t)."""
    return ((y[0][0] * y[0][0] / 2,), (), (-y[2][0] * y[2][0],), ())


def driven(t, y, data):
    """u' = v - u - t exp(-t), v' = u - v: u = exp(-t), v = t exp(-t)."""
    return ((y[2][0] - y[0][0] - t * exp(-t),), (), (y[0][0] - y[2][0],), ())


AUTONOMOUS = (2.0, 0.5)
DRIVEN = (exp(-1), exp(-1))


@pytest.mark.parametrize("table", [EULER, MIDPOINT, RK4, LEAPFROG], ids=lambda table: table.name)
def test_the_error_falls_with_the_order_of_the_tableau(table):
    bound = 0.15 if table.order < 4 else 0.2
    for order in measured_orders(table, autonomous, AUTONOMOUS, counts=(32, 64, 128)):
        assert abs(order - table.order) < bound
    for order in measured_orders(table, driven, DRIVEN, counts=(32, 64, 128), start=(1.0, 0.0)):
        assert abs(order - table.order) < bound


def test_the_error_of_dop853_falls_with_the_eighth_power():
    for order in measured_orders(DOP853, autonomous, AUTONOMOUS, counts=(2, 4, 8)):
        assert 7.5 < order < 9


def test_the_printed_weights_of_hydra_2017_have_order_one():
    """[Hydra 2017, eq. 4.15]  sum b c = 7/12 instead of 1/2."""
    weights = AS_PRINTED.coordinate_weights
    assert sum(weights) == 1
    assert sum(b * c for b, c in zip(weights, AS_PRINTED.nodes, strict=True)) == Fraction(7, 12)
    for order in measured_orders(AS_PRINTED, autonomous, AUTONOMOUS, counts=(64, 128, 256)):
        assert 0.9 < order < 1.1


def test_the_printed_last_stage_of_hydra_2017_has_order_one_where_time_enters_and_four_where_it_does_not():
    """[Hydra 2017, eq. 4.14]  The time's own condition is sum b c = 1/3; an autonomous problem does not see it."""
    table = LAST_STAGE_AT_THE_START
    assert sum(b * c for b, c in zip(table.coordinate_weights, table.nodes, strict=True)) == Fraction(1, 3)
    for order in measured_orders(table, driven, DRIVEN, counts=(64, 128, 256), start=(1.0, 0.0)):
        assert 0.9 < order < 1.1
    for order in measured_orders(table, autonomous, AUTONOMOUS):
        assert 3.8 < order < 4.2


def test_a_step_on_fractions_is_the_taylor_polynomial_of_its_order():
    """y' = y: one step multiplies by 1 + h + ... + h^n/n!, exactly."""
    h = Fraction(1, 3)

    def rate(t, y, data):
        return y

    for table in (EULER, MIDPOINT, RK4):
        ((grown,),) = build_step(table, rate, Fraction)(Fraction(0), ((Fraction(1),),), h, ())
        assert grown == sum(h**k / factorial(k) for k in range(table.order + 1))
