"""Exact proofs: what free motion keeps, as identities of rational functions; and that power is the rate of energy."""

from fractions import Fraction

import pytest
import sympy
from law_samples import BODY, vector
from number_kinds import leaves, mapped, refilled
from sympy.polys.fields import field

from polhode.equations import forces, invariants, loads, motion, quaternions
from polhode.equations.formulations import FORMULATIONS
from polhode.equations.inertia import Constants
from polhode.equations.vectors import cross, dot, minus, plus, scaled, times

QUATERNION = ("q0", "q1", "q2", "q3")
SPIN = ("s1", "s2", "s3")
MOMENTS = ("i1", "i2", "i3")


def rational_functions(*names):
    """A field of rational functions, in which equal means identical, and its variables by name."""
    made, *variables = field([name for group in names for name in group], sympy.QQ)
    each = iter(variables)
    return made, [tuple(next(each) for _ in group) for group in names]


def body_of(moments, one):
    """A body of mass 1 in its principal axes."""
    zero = 0 * one
    reciprocals = tuple(1 / m for m in moments)
    return Constants(one, one, moments, reciprocals, (one, zero, zero, zero), (zero, zero, zero))


def along(function, variables, rates):
    """The rate of `function` by the chain rule."""
    return sum(function.diff(x) * r for x, r in zip(variables, rates, strict=True))


def free(formulation, q, spin, moments):
    """The rates of attitude and spin without force and torque."""
    zero = 0 * moments[0]
    nothing = (zero, zero, zero)
    rate = FORMULATIONS[formulation].rate((nothing, q, nothing, spin), body_of(moments, 1 + zero), nothing, nothing)
    return rate[1], rate[3]


# Free motion -------------------------------------------------------------------------------------------------------
def test_momentum_keeps_energy_and_angular_momentum_for_quaternions_of_any_length():
    _, (q, momentum, moments) = rational_functions(QUATERNION, SPIN, MOMENTS)
    q_rate, momentum_rate = free("momentum", q, momentum, moments)
    momentum_body = quaternions.to_body(q, momentum)
    energy = sum(a * a / i for a, i in zip(momentum_body, moments, strict=True)) / 2
    assert leaves(momentum_rate) == [0, 0, 0]
    assert energy != 0
    assert along(energy, q + momentum, q_rate + momentum_rate) == 0


def test_momentum_matrix_keeps_energy_for_any_matrix():
    """A matrix that has drifted from a rotation spoils the motion, but not the energy L . w/2."""
    nine = tuple(f"r{i}" for i in range(9))
    _, (r, momentum, moments) = rational_functions(nine, SPIN, MOMENTS)
    r_rate, momentum_rate = free("momentum_matrix", r, momentum, moments)
    columns = [(r[i], r[i + 3], r[i + 6]) for i in range(3)]
    energy = sum(dot(c, momentum) ** 2 / i for c, i in zip(columns, moments, strict=True)) / 2
    assert leaves(momentum_rate) == [0, 0, 0]
    assert along(energy, r + momentum, r_rate + momentum_rate) == 0


def test_body_rates_keep_energy_and_the_vector_of_angular_momentum():
    _, (q, w, moments) = rational_functions(QUATERNION, SPIN, MOMENTS)
    q_rate, w_rate = free("body_rates", q, w, moments)
    momentum_body = times(moments, w)
    assert along(dot(w, momentum_body) / 2, w, w_rate) == 0
    assert along(dot(momentum_body, momentum_body), w, w_rate) == 0
    for component in quaternions.to_world(q, momentum_body):
        assert component != 0
        assert along(component, q + w, q_rate + w_rate) == 0


def test_quaternion_acceleration_keeps_energy_and_angular_momentum_where_the_length_is_kept():
    """Where q . q' = 0, that is q' = 1/2 q (0, w); and q . q' stays 0."""
    names = ("p0", "p1", "p2", "p3")
    made, (q, p, w, moments) = rational_functions(QUATERNION, names, SPIN, MOMENTS)
    q_rate, p_rate = free("quaternion_acceleration", q, p, moments)
    w_of = motion.spin_of(q, p)
    on_the_sphere = list(zip(p, quaternions.rate(q, w), strict=True))

    def there(function):
        one = function.numer.compose([(x.numer, y.numer) for x, y in halves])
        two = function.denom.compose([(x.numer, y.numer) for x, y in halves])
        return made(one) / made(two)

    # The half in q' = 1/2 q (0, w) would leave the ring of whole-number denominators: put w = 2 u.
    halves = [(x, made(y.as_expr().subs({s: 2 * sympy.Symbol(s) for s in SPIN}))) for x, y in on_the_sphere]
    momentum_body = times(moments, w_of)
    for kept in (dot(w_of, momentum_body), dot(momentum_body, momentum_body)):
        assert there(kept) != 0
        assert there(along(kept, q + p, q_rate + p_rate)) == 0
    along_q = sum(a * b for a, b in zip(q, p, strict=True))
    assert along(along_q, q + p, q_rate + p_rate) == 0


def test_euler_angles_keep_the_vector_of_angular_momentum():
    """The angles' rates turn the body so that R I w stands still: with u = tan of the quarter angles it is algebra."""
    a, b, c, *rest = sympy.symbols("a b c w1 w2 w3 i1 i2 i3", real=True)
    w, moments = tuple(rest[:3]), tuple(rest[3:])
    angles = (2 * a, 2 * c, 2 * b)
    nothing = (sympy.S.Zero,) * 3
    rate = motion.euler_angles((nothing, angles, nothing, w), body_of(moments, sympy.S.One), nothing, nothing)
    rates = [x.replace(sympy.Piecewise, lambda *cases: cases[0][0]) for x in rate[1] + rate[3]]
    half_rates = [rates[0] / 2, rates[2] / 2, rates[1] / 2, *rates[3:]]
    q = quaternions.from_angles(angles)
    matrix = sympy.Matrix(3, 3, quaternions.matrix(q))
    momentum = matrix * sympy.Matrix([i * x for i, x in zip(moments, w, strict=True)])
    for component in momentum:
        change = sum(component.diff(x) * r for x, r in zip((a, b, c, *w), half_rates, strict=True))
        assert sympy.cancel(by_quarter_angles(change, (a, b, c))) == 0
        assert sympy.cancel(by_quarter_angles(component, (a, b, c))) != 0


def by_quarter_angles(expression, angles):
    expression = sympy.expand_trig(expression)
    for angle in angles:
        u = sympy.Symbol(f"u_{angle}")
        expression = expression.subs({sympy.cos(angle): (1 - u**2) / (1 + u**2), sympy.sin(angle): 2 * u / (1 + u**2)})
    return expression


def test_the_quaternion_rate_keeps_the_length():
    _, (q, w) = rational_functions(QUATERNION, SPIN)
    assert along(quaternions.squared_norm(q), q, quaternions.rate(q, w)) == 0


def test_the_quaternion_rate_is_the_half_product_from_either_side():
    """q' = 1/2 q (0, w_body) = 1/2 (0, w_world) q.  [seed 000 eq. 4-2; seed 004 eq. 17.44]"""
    made, (q, w) = rational_functions(QUATERNION, SPIN)
    zero = made(0)
    right, left = quaternions.product(q, (zero, *w)), quaternions.product((zero, *quaternions.to_world(q, w)), q)
    assert [2 * x for x in quaternions.rate(q, w)] == list(right) == list(left)


def test_rotations_keep_lengths_and_angles_for_quaternions_of_any_length():
    _, (q, v, w) = rational_functions(QUATERNION, SPIN, MOMENTS)
    assert dot(quaternions.to_world(q, v), quaternions.to_world(q, w)) == dot(v, w)
    assert quaternions.to_body(q, quaternions.to_world(q, v)) == v
    assert cross(quaternions.to_world(q, v), quaternions.to_world(q, w)) == quaternions.to_world(q, cross(v, w))
