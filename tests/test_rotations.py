"""Rotations: against SymPy (exactly), SciPy, mpmath (small angles) and algebra."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.equations import quaternions
from polhode.errors import InputError

rot = ph.rotations
part = st.floats(-5, 5, allow_nan=False).map(lambda x: round(x, 3))
triple = st.tuples(part, part, part)
angle = st.floats(-7, 7, allow_nan=False)


@given(triple, triple, angle)
def test_four_formulas_against_scipy(axis, v, a):
    assume(any(axis))
    size = np.linalg.norm(v)
    turn = Rotation.from_rotvec(a * np.array(axis) / np.linalg.norm(axis))
    q = rot.quaternion(axis, a)
    for found in (
        rot.rodrigues(v, axis, a),
        rot.matrix(axis, a) @ v,
        rot.sandwiched(q, v),
        rot.skewed_matrix(q) @ v,
    ):
        assert np.abs(found - turn.apply(v)).max() <= 2e-15 * size


def test_formulas_agree_to_4e_16_at_the_texts_example():
    q = rot.turn_between((1, 0, 0), (1, 2, 1))
    axis, a = rot.axis_and_angle(q)
    ways = [rot.rodrigues((1, 0, 0), axis, a), rot.matrix(axis, a)[:, 0], rot.sandwiched(q, (1, 0, 0))]
    ways.append(Rotation.from_quat(q, scalar_first=True).apply((1, 0, 0)))
    assert np.ptp(ways, axis=0).max() <= 4e-16
    assert ways[0] == pytest.approx(np.array((1, 2, 1)) / np.sqrt(6), abs=4e-16)
    assert np.degrees(a) == pytest.approx(65.905157, abs=5e-7)
    assert q == pytest.approx([0.83912106, 0, -0.24325947, 0.48651894], abs=5e-9)


def test_matrix_17_17_is_rodrigues_by_sympy():
    """The matrix as the code makes it, entry by entry, is (17.16) written out: for symbols, so for all numbers."""
    x, y, z, c, s = sympy.symbols("x y z c s", real=True)
    v = sympy.Matrix(sympy.symbols("a b d", real=True))
    r = sympy.Matrix([x, y, z])
    formula = (1 - c) * v.dot(r) * r + s * r.cross(v) + c * v
    t = 1 - c
    printed = sympy.Matrix(
        [
            [t * x * x + c, t * x * y - s * z, t * x * z + s * y],
            [t * x * y + s * z, t * y * y + c, t * y * z - s * x],
            [t * x * z - s * y, t * y * z + s * x, t * z * z + c],
        ]
    )
    assert (printed * v - formula).expand() == sympy.zeros(3, 1)
    numbers = {x: 1 / 3, y: 2 / 3, z: 2 / 3, c: np.cos(0.7), s: np.sin(0.7)}
    assert rot.matrix((1, 2, 2), 0.7) == pytest.approx(np.array(printed.subs(numbers), dtype=float), abs=4e-16)


def test_17_28_is_the_transpose_by_sympy():
    """As printed it takes space to body; for a non-unit q it is 1 + |q|^2 (R - 1), and q v q* is |q|^2 R v."""
    w, x, y, z = q = sympy.symbols("w x y z", real=True)
    half = sympy.Rational(1, 2)
    printed = 2 * sympy.Matrix(
        [
            [half - y**2 - z**2, x * y + w * z, x * z - w * y],
            [x * y - w * z, half - x**2 - z**2, y * z + w * x],
            [x * z + w * y, y * z - w * x, half - x**2 - y**2],
        ]
    )
    n = quaternions.squared_norm(q)
    turn = sympy.Matrix(3, 3, quaternions.matrix(q))
    assert (printed.T - sympy.eye(3) - n * (turn - sympy.eye(3))).applyfunc(sympy.simplify) == sympy.zeros(3)
    some = (0.4, -1.1, 0.3, 2.0)
    expected = np.array(printed.subs(dict(zip(q, some, strict=True))).T, dtype=float)
    assert rot.skewed_matrix(some) == pytest.approx(expected, rel=1e-14)


def test_a_quaternion_of_wrong_length_by_hand():
    """Exercise 17.9 c."""
    assert rot.sandwiched((1, 0, 0, 1), (1, 0, 0)).tolist() == [0, 2, 0]
    skewed = rot.skewed_matrix((1, 0, 0, 1))
    assert skewed.tolist() == [[-1, -2, 0], [2, -1, 0], [0, 0, 1]]
    for act in (rot.sandwiched, rot.quaternion_rate):
        with pytest.raises(InputError, match="not a rotation"):
            act((0, 0, 0, 0), (1, 0, 0))
    with pytest.raises(InputError, match="not a rotation"):
        rot.axis_and_angle((0, 0, 0, 0))


@given(st.tuples(part, part, part, part), triple)
def test_sandwich_scales_by_the_squared_norm(q, v):
    assume(any(q))
    n = np.dot(q, q)
    expected = n * np.array(quaternions.to_world(tuple(map(float, q)), v))
    assert rot.sandwiched(q, v) == pytest.approx(expected, abs=1e-13 * n * (1 + np.linalg.norm(v)))


@given(st.tuples(part, part, part, part), st.tuples(part, part, part, part), st.tuples(part, part, part, part))
def test_product_is_associative_and_keeps_lengths(p, q, r):
    size = np.linalg.norm(p) * np.linalg.norm(q) * np.linalg.norm(r)
    left, right = rot.product(rot.product(p, q), r), rot.product(p, rot.product(q, r))
    assert np.abs(left - right).max() <= 2e-15 * size
    assert np.linalg.norm(left) == pytest.approx(size, rel=1e-14, abs=1e-300)


def test_hamiltons_rules_by_hand():
    i, j, k = np.eye(4)[1:]
    for a, b, c in ((i, j, k), (j, k, i), (k, i, j)):
        assert rot.product(a, b).tolist() == c.tolist()
        assert rot.product(b, a).tolist() == (-c).tolist()
        assert rot.product(a, a).tolist() == [-1, 0, 0, 0]


@pytest.mark.parametrize("exponent", [-1, -4, -8, -12, -100, -250])
def test_small_angles_against_mpmath(exponent):
    """(17.27a) corrected: 2 atan2 keeps all digits where 2 acos keeps none."""
    with mpmath.workdps(320):
        exact = mpmath.mpf(10) ** exponent
        q = [float(mpmath.cos(exact / 2)), 0.0, 0.0, float(mpmath.sin(exact / 2))]
        _, found = rot.axis_and_angle(q)
        assert abs(found / exact - 1) < 4e-16
        if exponent <= -8:
            assert abs(2 * np.arccos(q[0]) / exact - 1) > 0.3


@given(triple, st.floats(1e-3, 3.1))
def test_axis_and_angle_are_found_again(axis, a):
    assume(any(axis))
    for sign in (1.0, -1.0):
        found_axis, found = rot.axis_and_angle(sign * 3.0 * rot.quaternion(axis, a))
        assert found == pytest.approx(a, rel=1e-13)
        assert found_axis == pytest.approx(np.array(axis) / np.linalg.norm(axis), abs=1e-13)


@given(triple, triple)
def test_turn_between_takes_one_to_the_other(start, end):
    assume(any(start) and any(end))
    a, b = (np.array(v) / np.linalg.norm(v) for v in (start, end))
    assume(np.linalg.norm(a + b) > 1e-2)
    q = rot.turn_between(start, end)
    assert np.linalg.norm(q) == pytest.approx(1, abs=1e-15)
    assert rot.sandwiched(q, a) == pytest.approx(b, abs=1e-13)
    between = np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b)
    assert rot.angle_between((1, 0, 0, 0), q) == pytest.approx(between, abs=1e-13)


@given(triple, angle, triple, angle)
def test_angle_between_against_scipy(axis, a, other, b):
    assume(any(axis) and any(other))
    p, q = rot.quaternion(axis, a), rot.quaternion(other, b)
    first, second = (Rotation.from_quat(x, scalar_first=True) for x in (p, q))
    assert rot.angle_between(first, -2 * q) == pytest.approx((first.inv() * second).magnitude(), abs=1e-14)


def test_angle_between_many_attitudes_at_once_against_scipy():
    """Also of one with many; to all digits where it is small."""
    many = Rotation.from_rotvec(np.geomspace(1e-12, 3.0, 9)[:, None] * np.array((0.6, 0.0, -0.8)))
    one = Rotation.from_rotvec((0.3, -1.0, 0.2))
    assert rot.angle_between(one, one * many) == pytest.approx(many.magnitude(), rel=1e-14, abs=1e-15)
    found = rot.angle_between(many.as_quat(scalar_first=True), (1, 0, 0, 0))
    assert found == pytest.approx(many.magnitude(), rel=1e-14, abs=0)


@pytest.mark.parametrize(("degrees", "apart"), [(90, 120.0), (30, 15.36386)])
def test_turns_about_x_and_z_in_two_orders_by_hand(degrees, apart):
    x, z = (rot.quaternion(axis, np.radians(degrees)) for axis in ((1, 0, 0), (0, 0, 1)))
    found = np.degrees(rot.angle_between(rot.product(x, z), rot.product(z, x)))
    assert found == pytest.approx(apart, abs=5e-6)
    assert found == pytest.approx(np.degrees(4 * np.arcsin(np.sin(np.radians(degrees) / 2) ** 2)), abs=1e-12)


def test_turn_between_of_equal_and_opposite_directions():
    assert rot.turn_between((0, 0, 2), (0, 0, 5)).tolist() == [1, 0, 0, 0]
    with pytest.raises(InputError, match="opposite"):
        rot.turn_between((1, 2, 3), (-2, -4, -6))


@given(angle, st.floats(0.05, 3.09), angle)
def test_euler_angles_against_scipy(phi, theta, psi):
    turn = Rotation.from_euler("ZXZ", (phi, theta, psi))
    q = rot.from_euler_angles(phi, theta, psi)
    assert Rotation.from_quat(q, scalar_first=True).as_matrix() == pytest.approx(turn.as_matrix(), abs=1e-14)
    back = rot.euler_angles(turn)
    assert back[1] == pytest.approx(theta, abs=1e-13)
    assert np.exp(1j * back[[0, 2]]) == pytest.approx(np.exp(1j * np.array((phi, psi))), abs=1e-12)


def test_third_row_of_the_matrix_by_hand():
    q = rot.from_euler_angles(*np.radians((30, 60, 45)))
    row = Rotation.from_quat(q, scalar_first=True).as_matrix()[2]
    assert row == pytest.approx([0.6123724, 0.6123724, 0.5], abs=5e-8)


def test_17_10_mended_is_scipys_transpose():
    """The printed third row has psi in place of phi: then the matrix is not even orthogonal."""
    phi, theta, psi = np.radians((30, 60, 45))
    c, s = np.cos, np.sin
    rows = [
        (c(psi) * c(phi) - c(theta) * s(phi) * s(psi), c(psi) * s(phi) + c(theta) * c(phi) * s(psi), s(theta) * s(psi)),
        (
            -s(psi) * c(phi) - c(theta) * s(phi) * c(psi),
            -s(psi) * s(phi) + c(theta) * c(phi) * c(psi),
            s(theta) * c(psi),
        ),
    ]
    scipys = Rotation.from_euler("ZXZ", (phi, theta, psi)).as_matrix()
    corrected = np.array([*rows, (s(phi) * s(theta), -c(phi) * s(theta), c(theta))])
    printed = np.array([*rows, (s(psi) * s(theta), -c(psi) * s(theta), c(theta))])
    assert np.abs(corrected.T - scipys).max() <= 4e-16
    assert np.abs(printed @ printed.T - np.eye(3)).max() > 0.1


def test_17_8_is_the_transpose():
    """As printed it gives components along turned axes: space to body."""
    c, s = np.cos(0.3), np.sin(0.3)
    printed = np.array([(c, s, 0), (-s, c, 0), (0, 0, 1)])
    assert np.abs(rot.matrix((0, 0, 1), 0.3) - printed.T).max() <= 1e-16
    assert np.abs(Rotation.from_euler("z", 0.3).as_matrix() - printed.T).max() <= 2e-16


def test_upright_the_rotation_matrix_is_not_singular_but_17_36_is():
    turn = Rotation.from_quat(rot.from_euler_angles(0.4, 0.0, 0.9), scalar_first=True)
    assert np.linalg.det(turn.as_matrix()) == pytest.approx(1, abs=1e-15)
    assert np.linalg.det(rot.rate_matrix(0.0, 0.9)) == 0


def test_the_part_that_stays_is_the_projection_of_v_onto_r():
    r, v = np.array((1, 2, 2)) / 3, np.array((0.0, 3.0, 0.0))
    half, back = rot.rodrigues(v, r, np.pi), rot.rodrigues(v, r, 0.0)
    assert (half + back) / 2 == pytest.approx((v @ r) * r, abs=1e-15)


@pytest.mark.filterwarnings("ignore:Gimbal lock")
def test_upright_only_the_sum_of_phi_and_psi_is_known_and_shared_out_as_by_scipy():
    """Upside down their difference.  Reference: SciPy, which gives all of it to phi; q and -q, to the last bit."""
    for phi, psi in ((0.4, 0.9), (1.5, -0.2), (-0.3, 1.6), (2.0, 1.5), (-2.0, -1.5)):
        for q in (
            rot.from_euler_angles(phi, 0.0, psi),
            rot.product(rot.from_euler_angles(phi - psi, 0, 0), (0, 1, 0, 0)),
        ):
            found = rot.euler_angles(q)
            scipys = Rotation.from_quat(q, scalar_first=True).as_euler("ZXZ")
            assert found == pytest.approx(scipys, abs=1e-15)
            assert rot.euler_angles(-q).tolist() == found.tolist()
        assert rot.euler_angles(rot.from_euler_angles(phi, 0.0, psi))[1:].tolist() == [0, 0]
    for q in ((1, 0, 0, 0), (-1, 0, 0, 0), (1, -0.0, 0, 0), (1, -0.0, -0.0, -0.0), (-1, -0.0, 0, -0.0)):
        assert rot.euler_angles(q).tolist() == [0, 0, 0]


def test_euler_angles_lie_within_a_turn_and_do_not_see_the_sign_of_q():
    """Reference: SciPy's as_euler, of 400 rotations put together from three each; q and -q, to the last bit."""
    draw = np.random.default_rng(7)
    first, second, third = (Rotation.random(400, random_state=draw) for _ in range(3))
    q = rot.product(*(r.as_quat(scalar_first=True) for r in (first * second, third)))
    found = rot.euler_angles(q)
    assert found == pytest.approx((first * second * third).as_euler("ZXZ"), abs=1e-13)
    assert np.array_equal(rot.euler_angles(-q), found)
    assert (np.abs(found[:, [0, 2]]) <= np.pi).all()
    for q in (rot.from_euler_angles(2, 1, 0.5), rot.from_euler_angles(2 + 2 * np.pi, 1, 0.5 - 4 * np.pi)):
        for same in (q, -q):
            assert rot.euler_angles(same) == pytest.approx([2, 1, 0.5], abs=1e-14)
    assert rot.euler_angles((0, 0, 1, 0)).tolist() == [np.pi, np.pi, 0]
    assert rot.euler_angles(rot.from_euler_angles(-np.pi, np.pi / 2, 0))[0] == pytest.approx(np.pi, abs=1e-15)


def test_rate_matrix_by_sympy():
    """(17.36) from the quaternion's rate: omega = 2 q* q' along any change of the angles; determinant -sin theta."""
    t = sympy.symbols("t", real=True)
    names = "phi theta psi"
    values, rates = sympy.symbols(names), sympy.symbols("a b c")
    angles = [f(t) for f in map(sympy.Function, names.split())]
    q = quaternions.from_angles(angles)
    omega = [2 * part for part in quaternions.product(quaternions.conjugate(q), [sympy.diff(x, t) for x in q])][1:]
    there = {sympy.diff(x, t): rate for x, rate in zip(angles, rates, strict=True)}
    there |= dict(zip(angles, values, strict=True))
    jacobian = sympy.Matrix([x.subs(there) for x in omega]).jacobian(rates)
    numbers = dict(zip(values, (0.3, 1.1, -0.7), strict=True))
    assert rot.rate_matrix(1.1, -0.7) == pytest.approx(np.array(jacobian.subs(numbers), dtype=float), abs=1e-15)
    _, theta, psi = values
    s, c = sympy.sin, sympy.cos
    printed = sympy.Matrix([[s(theta) * s(psi), c(psi), 0], [s(theta) * c(psi), -s(psi), 0], [c(theta), 0, 1]])
    assert sympy.simplify(printed.det()) == -s(theta)


@given(st.floats(0.01, 3.13), angle)
def test_inverse_rate_matrix_undoes(theta, psi):
    both = rot.rate_matrix(theta, psi) @ rot.inverse_rate_matrix(theta, psi)
    assert both == pytest.approx(np.eye(3), abs=1e-12)
    assert np.linalg.det(rot.rate_matrix(theta, psi)) == pytest.approx(-np.sin(theta), abs=1e-15)


@pytest.mark.parametrize("theta", [0.0, np.pi, -np.pi, 20 * np.pi])
def test_inverse_rate_matrix_upright_is_refused(theta):
    with pytest.raises(InputError, match="rotate about the same line"):
        rot.inverse_rate_matrix(theta, 0.3)


@given(st.tuples(part, part, part, part), triple)
def test_w_matrix_against_the_quaternion_rate(q, w):
    """(17.42) to (17.44): W is |q| times orthogonal; q' = 1/2 W^T (w, 0) and w = 2 W q'/|q|^2."""
    assume(any(q))
    n, matrix = np.dot(q, q), rot.w_matrix(q)
    assert matrix @ matrix.T == pytest.approx(n * np.eye(4), abs=1e-13 * n)
    rate = rot.quaternion_rate(q, w)
    assert rate == pytest.approx(matrix.T @ (*w, 0.0) / 2, abs=1e-13)
    assert rot.spin(q, rate) == pytest.approx(np.array(w), abs=1e-11)


@pytest.mark.parametrize("theta", [1e-5, 1e-20, 1e-200, 1e-307, -1e-100, np.pi - 1e-12])
def test_inverse_rate_matrix_close_to_upright_undoes(theta):
    """As long as 1/sin(theta) is a number.  Reference: the products of the entries, one by one."""
    matrix, inverse = rot.rate_matrix(theta, 0.4), rot.inverse_rate_matrix(theta, 0.4)
    assert np.isfinite(inverse).all()
    assert matrix @ inverse == pytest.approx(np.eye(3), abs=1e-15)
    assert inverse[0, 0] == pytest.approx(np.sin(0.4) / np.sin(theta), rel=1e-15, abs=0)


def test_w_matrices_of_many_are_those_of_each():
    many = np.arange(24.0).reshape(2, 3, 4)
    assert np.array_equal(rot.w_matrix(many), [[rot.w_matrix(q) for q in row] for row in many])
    assert rot.w_matrix([(1, 0, 0, 0)] * 2).shape == (2, 4, 4)


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e-160, 1e160, 1e200, 1e300])
def test_quaternions_of_any_length(size):
    """Reference: the same of length 1; a spin is 2 q^-1 q', in which the size of q cancels."""
    q, rate = np.array((0.5, 0.1, -0.7, 0.2)), np.array((0.3, -0.2, 0.1, 1.0))
    assert rot.spin(size * q, size * rate) == pytest.approx(rot.spin(q, rate), rel=1e-14, abs=0)
    assert rot.spin((size, 0, 0, 0), (0, size, 0, 0)).tolist() == [2, 0, 0]
    assert rot.spin(size * q, np.zeros(4)).tolist() == [0, 0, 0]
    assert rot.euler_angles(size * q) == pytest.approx(rot.euler_angles(q), rel=1e-15)
    assert rot.skewed_matrix((size, 0, 0, 0)).tolist() == np.eye(3).tolist()
    if size < 1:
        assert rot.skewed_matrix(size * q).tolist() == pytest.approx(np.eye(3), abs=1e-15)
        assert rot.skewed_matrix((1e-200, 0, 0, 1e-200)).tolist() == np.eye(3).tolist()
    else:
        with pytest.raises(InputError, match=r"the matrix overflows: its numbers are beyond 1\.8e\+308"):
            rot.skewed_matrix(size * q)


def test_arrays_go_together():
    angles = np.linspace(0.1, 3, 7)
    vectors = np.arange(21.0).reshape(7, 3)
    each = [rot.rodrigues(v, (1, 2, 3), a) for v, a in zip(vectors, angles, strict=True)]
    assert np.array_equal(rot.rodrigues(vectors, (1, 2, 3), angles), each)
    assert np.array_equal(rot.quaternion((1, 2, 3), angles), [rot.quaternion((1, 2, 3), a) for a in angles])
    assert rot.matrix((1, 2, 3), angles).shape == (7, 3, 3)
    assert rot.sandwiched(rot.quaternion((1, 2, 3), angles), (1, 0, 0)).shape == (7, 3)


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1e300])
def test_axes_of_any_length(size):
    assert rot.matrix((0, size, size), 0.4) == pytest.approx(rot.matrix((0, 1, 1), 0.4), abs=1e-16)
    assert rot.axis_and_angle((0.5 * size, 0, 0.5 * size, 0))[1] == pytest.approx(np.pi / 2)


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (lambda: rot.rodrigues((1, 2), (0, 0, 1), 1.0), "vector must be 3 numbers"),
        (lambda: rot.rodrigues((1, 2, 3), (0, 0, 0), 1.0), "has no direction"),
        (lambda: rot.rodrigues(np.ones((2, 3)), (0, 0, 1), np.ones(5)), "do not broadcast"),
        (lambda: rot.matrix((0, 0, np.nan), 1.0), "axis must be finite"),
        (lambda: rot.quaternion((0, 0, 1), "much"), "angle must be"),
        (lambda: rot.product((1, 0, 0), (1, 0, 0, 0)), "p must be 4 numbers"),
        (lambda: rot.axis_and_angle((1, 0, 0, 0)), "the identity rotation has no axis"),
        (lambda: rot.axis_and_angle(Rotation.identity(2)), "one rotation at a time"),
        (lambda: rot.turn_between((0, 0, 0), (1, 0, 0)), "start is"),
        (lambda: rot.turn_between([(1, 0, 0), (0, 1, 0)], (1, 0, 0)), "one direction each"),
        (lambda: rot.spin((0, 0, 0, 0), (1, 0, 0, 0)), "not a rotation"),
        (lambda: rot.w_matrix((1, 2, 3)), "q must be 4 numbers"),
        (lambda: rot.rate_matrix(np.inf, 0.0), "theta must be finite"),
        (lambda: rot.inverse_rate_matrix(1e-310, 1.0), "rotate about the same line"),
        (lambda: rot.matrix("z", 1.0), r"axis must be 3 numbers, or an array of shape \(..., 3\), not 'z'"),
        (lambda: rot.matrix([(0, 0, 1), (0, 1)], 1.0), r"axis must be 3 numbers, or an array of shape \(..., 3\), not"),
        (lambda: rot.quaternion((0, 0, 1), [(1, 2), (3,)]), "angle must be a number or an array of numbers, not"),
        (lambda: rot.turn_between((1, 0), (1, 0, 0)), r"but has the shape \(2,\)$"),
        (lambda: rot.spin((1e-200, 0, 0, 0), (0, 1e200, 0, 0)), "the angular velocity overflows"),
        (lambda: rot.product((1e200, 0, 0, 0), (1e200, 0, 0, 0)), "the product overflows"),
        (lambda: rot.sandwiched((1e200, 0, 0, 0), (1, 0, 0)), "overflows"),
        (lambda: rot.quaternion_rate((1e200, 0, 0, 0), (1e200, 0, 0)), "overflows"),
        (lambda: rot.rodrigues([1.7e308] * 3, (1, 0, -1), 1.0), "the rotated vector overflows"),
    ],
)
def test_bad_input_gets_a_sentence(act, sentence):
    with pytest.raises(InputError, match=sentence):
        act()


@pytest.mark.parametrize(
    "act",
    [
        lambda q: rot.product(q, (1, 0, 0, 0)),
        lambda q: rot.product((1, 0, 0, 0), q),
        lambda q: rot.sandwiched(q, (1, 0, 0)),
        rot.skewed_matrix,
        rot.w_matrix,
        lambda q: rot.quaternion_rate(q, (1, 0, 0)),
        lambda q: rot.spin(q, (1, 0, 0, 0)),
        lambda q: rot.spin((1, 0, 0, 0), q),
    ],
)
def test_where_the_length_matters_a_rotation_is_told_how_to_enter(act):
    turn = Rotation.from_rotvec((0.1, 0.2, 0.3))
    with pytest.raises(InputError, match=r"must be 4 numbers, \(w, x, y, z\), .*as_quat\(scalar_first=True\)"):
        act(turn)
    assert np.isfinite(act(turn.as_quat(scalar_first=True))).all()
