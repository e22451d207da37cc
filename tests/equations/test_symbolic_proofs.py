"""What free motion keeps, and what a rotation keeps, proved by SymPy as identities of rational functions."""

import sympy
from sympy.polys.fields import field

from polhode.equations import quaternions, rigid_body
from polhode.equations.formulations import FORMULATIONS
from polhode.equations.inertia import BodyConstants
from polhode.equations.vectors import cross, dot, times
from scalar_types import leaves

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
    return BodyConstants(one, one, moments, reciprocals, (one, zero, zero, zero), (zero, zero, zero))


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


def test_quaternion_acceleration_turns_its_spin_by_eulers_equations():
    """So that it keeps what the body rates keep.  For q' = 1/2 q (0, w), that is q . q' = 0; and q . q' stays 0."""
    _, (q, w, moments, (e,)) = rational_functions(QUATERNION, SPIN, MOMENTS, ("e",))
    p = quaternions.rate(q, w)
    q_rate, p_rate = free("quaternion_acceleration", q, p, moments)
    assert q_rate == p
    moved = rigid_body.spin_of(stepped(q, e, q_rate), stepped(p, e, p_rate))
    w_rate = tuple(x.diff(e).subs(e, 0) for x in moved)
    assert w_rate == free("body_rates", q, w, moments)[1]
    assert sum(a * b for a, b in zip(q, p, strict=True)) == 0
    assert sum(a * a for a in p) + sum(a * b for a, b in zip(q, p_rate, strict=True)) == 0


def stepped(a, e, rate):
    return tuple(x + e * r for x, r in zip(a, rate, strict=True))


def test_euler_angles_keep_the_vector_of_angular_momentum():
    """The angles' rates turn the body so that R I w stands still: algebra in u, the tangents of quarter angles."""
    a, b, c = halves = sympy.symbols("a b c", real=True)
    w, moments = sympy.symbols(SPIN, real=True), sympy.symbols(MOMENTS, real=True)
    angles, nothing = (2 * a, 2 * c, 2 * b), (sympy.S.Zero,) * 3
    rate = rigid_body.euler_angles((nothing, angles, nothing, w), body_of(moments, sympy.S.One), nothing, nothing)
    made, _ = rational_functions(("u_a", "u_b", "u_c"), SPIN, MOMENTS)

    def algebraic(expression):
        expression = sympy.expand_trig(expression.replace(sympy.Piecewise, lambda *cases: cases[0][0]))
        for angle in halves:
            u = sympy.Symbol(f"u_{angle}")
            sine, cosine = 2 * u / (1 + u**2), (1 - u**2) / (1 + u**2)
            expression = expression.subs({sympy.sin(angle): sine, sympy.cos(angle): cosine})
        return made(expression.subs({x: sympy.Symbol(x.name) for x in (*w, *moments)}))

    phi, theta, psi = (algebraic(x) / 2 for x in rate[1])
    rates = (phi, psi, theta, *(algebraic(x) for x in rate[3]))
    for component in quaternions.to_world(quaternions.from_angles(angles), times(moments, w)):
        assert algebraic(component) != 0
        slopes = [algebraic(component.diff(x)) for x in (*halves, *w)]
        assert sum(slope * r for slope, r in zip(slopes, rates, strict=True)) == 0


def test_the_quaternion_rate_keeps_the_length():
    _, (q, w) = rational_functions(QUATERNION, SPIN)
    assert along(quaternions.squared_norm(q), q, quaternions.rate(q, w)) == 0


def test_the_quaternion_rate_is_the_half_product_from_either_side():
    """q' = 1/2 q (0, w_body) = 1/2 (0, w_world) q.  [Baraff 1997, eq. 4-2; Christian 2011, eq. 17.44]"""
    made, (q, w) = rational_functions(QUATERNION, SPIN)
    zero = made(0)
    right, left = quaternions.product(q, (zero, *w)), quaternions.product((zero, *quaternions.to_world(q, w)), q)
    assert [2 * x for x in quaternions.rate(q, w)] == list(right) == list(left)


def test_rotations_keep_lengths_and_angles_for_quaternions_of_any_length():
    _, (q, v, w) = rational_functions(QUATERNION, SPIN, MOMENTS)
    assert dot(quaternions.to_world(q, v), quaternions.to_world(q, w)) == dot(v, w)
    assert quaternions.to_body(q, quaternions.to_world(q, v)) == v
    assert cross(quaternions.to_world(q, v), quaternions.to_world(q, w)) == quaternions.to_world(q, cross(v, w))
