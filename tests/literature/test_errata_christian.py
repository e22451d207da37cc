"""Errata of [Christian 2011], rotations and bodies: the printed form fails, the corrected one holds."""

from fractions import Fraction
from math import acos, atan2

import mpmath
import numpy as np
import pytest
import sympy
from scipy.spatial.transform import Rotation

import polhode as ph
from independent_formulas import conjugate, cross, matrix, product, pure

UNIT = np.array([Fraction(c, 2) for c in (1, 1, -1, 1)])  # a rotation by 120 degrees, in fractions
PHI, THETA, PSI = sympy.symbols("phi theta psi")


def matrix_17_8(angle):
    """(17.8), as printed."""
    c, s = sympy.cos(angle), sympy.sin(angle)
    return sympy.Matrix([[c, s, 0], [-s, c, 0], [0, 0, 1]])


def matrix_about_x(angle):
    """The same about x."""
    c, s = sympy.cos(angle), sympy.sin(angle)
    return sympy.Matrix([[1, 0, 0], [0, c, s], [0, -s, c]])


def matrix_17_28(q):
    """(17.28), as printed."""
    q0, q1, q2, q3 = q
    return np.array(
        [
            [1 - 2 * q2 * q2 - 2 * q3 * q3, 2 * (q1 * q2 + q0 * q3), 2 * (q1 * q3 - q0 * q2)],
            [2 * (q1 * q2 - q0 * q3), 1 - 2 * q1 * q1 - 2 * q3 * q3, 2 * (q2 * q3 + q0 * q1)],
            [2 * (q1 * q3 + q0 * q2), 2 * (q2 * q3 - q0 * q1), 1 - 2 * q1 * q1 - 2 * q2 * q2],
        ]
    )


def test_17_8_and_17_28_are_space_to_body():
    """SciPy turns the body; (17.1), (17.17) and q a q* agree with it, the two printed matrices are transposed."""
    angle = np.pi / 6
    turn = Rotation.from_rotvec((0, 0, angle))
    printed = np.array(matrix_17_8(angle)).astype(float)
    assert turn.as_matrix() == pytest.approx(printed.T, abs=1e-15)
    assert printed != pytest.approx(turn.as_matrix(), abs=0.5)
    by_17_26 = np.array([product(product(UNIT, pure(e)), conjugate(UNIT))[1:] for e in np.eye(3, dtype=int)]).T
    assert (by_17_26 == matrix_17_28(UNIT).T).all()
    assert (by_17_26 != matrix_17_28(UNIT)).any()
    assert (by_17_26 == matrix(UNIT)).all()


def test_the_third_row_of_17_10_holds_phi():
    """The product of its own three factors by SymPy; transposed, SciPy's from_euler("ZXZ")."""
    right = matrix_17_8(PSI) * matrix_about_x(THETA) * matrix_17_8(PHI)
    third = sympy.Matrix([[sympy.sin(PHI) * sympy.sin(THETA), -sympy.cos(PHI) * sympy.sin(THETA), sympy.cos(THETA)]])
    printed = sympy.Matrix([[sympy.sin(PSI) * sympy.sin(THETA), -sympy.cos(PSI) * sympy.sin(THETA), sympy.cos(THETA)]])
    assert sympy.simplify(right[2, :] - third) == sympy.zeros(1, 3)
    assert sympy.simplify((right[0, :] * printed.T)[0]) != 0  # as printed the rows are not at right angles
    assert sympy.simplify((right[0, :] * third.T)[0]) == 0
    angles = {PHI: np.radians(30), THETA: np.radians(60), PSI: np.radians(45)}
    theirs = Rotation.from_euler("ZXZ", [30, 60, 45], degrees=True).as_matrix()
    assert theirs == pytest.approx(np.array(right.subs(angles)).astype(float).T, abs=1e-15)
    assert theirs[2] == pytest.approx((0.6123724, 0.6123724, 0.5), abs=5e-8)


def test_17_10_is_never_singular_and_17_36_is():
    """[17.3.1]  Determinants 1 and -sin(theta)."""
    rates = sympy.Matrix(
        [
            [sympy.sin(THETA) * sympy.sin(PSI), sympy.cos(PSI), 0],
            [sympy.sin(THETA) * sympy.cos(PSI), -sympy.sin(PSI), 0],
            [sympy.cos(THETA), 0, 1],
        ]
    )
    assert sympy.simplify((matrix_17_8(PSI) * matrix_about_x(THETA) * matrix_17_8(PHI)).det()) == 1
    assert sympy.simplify(rates.det()) == -sympy.sin(THETA)


def test_the_parallel_part_is_v_projected_onto_the_axis():
    """[17.3.2]  (v.r) r lies along r, and v less it across r; r projected onto v lies along v."""
    v, r = np.array((3.0, 1.0, 2.0)), np.array((0.0, 0.6, 0.8))
    parallel, other_way = (v @ r) * r, (r @ v) * v / (v @ v)
    assert np.cross(parallel, r) == pytest.approx(np.zeros(3), abs=1e-15)
    assert (v - parallel) @ r == pytest.approx(0.0, abs=1e-15)
    assert np.linalg.norm(np.cross(other_way, r)) > 0.1


@pytest.mark.parametrize("angle", [1e-3, 1e-6, 1e-9])
def test_acos_loses_small_angles_and_atan2_does_not(angle):
    """[(17.27a)]  mpmath halves the angle; at 1e-9 rad acos gives 0, and (17.27b) is 0/0 without a rotation."""
    half = mpmath.mpf(angle) / 2
    q0, size = float(mpmath.cos(half)), float(mpmath.sin(half))
    assert 2 * atan2(size, q0) == pytest.approx(angle, rel=4e-16, abs=0)
    lost = abs(2 * acos(q0) - angle) / angle
    assert lost > min(0.5, 1e-17 / angle**2)
    if angle == 1e-9:
        assert acos(q0) == 0.0
    assert Rotation.from_quat([0.0, 0.0, size, q0]).magnitude() == pytest.approx(angle, rel=1e-15, abs=0)


def test_a_quaternion_that_is_not_normalised_answers_in_two_ways():
    """[exercise 17.9 c]  q = (1, 0, 0, 1): q v q* doubles lengths, (17.28) skews; a zero q is refused."""
    q = (1, 0, 0, 1)
    images = np.array([product(product(q, pure(e)), conjugate(q))[1:] for e in np.eye(3, dtype=int)]).T
    assert images[:, 0].tolist() == [0, 2, 0]
    assert (images.T @ images).tolist() == (4 * np.eye(3, dtype=int)).tolist()
    skewed = matrix_17_28(q).T
    assert skewed.tolist() == [[-1, -2, 0], [2, -1, 0], [0, 0, 1]]
    assert (skewed.T @ skewed).tolist() == np.diag((5, 5, 1)).tolist()
    assert ph.State(quaternion_wxyz=q).orientation.as_rotvec() == pytest.approx((0, 0, np.pi / 2), abs=1e-15)
    with pytest.raises(ph.PolhodeError):
        ph.State(quaternion_wxyz=(0, 0, 0, 0))


def test_the_normal_moment_of_a_sheet_is_the_sum_of_the_other_two():
    """[table 17.1]  x^2 + y^2 over the sheet by SymPy: m (a^2 + b^2)/12; every flat body has I3 = I1 + I2."""
    x, y, a, b, m = sympy.symbols("x y a b m", positive=True)
    sides = (x, -a / 2, a / 2), (y, -b / 2, b / 2)
    normal = sympy.integrate(m / (a * b) * (x**2 + y**2), *sides)
    assert sympy.simplify(normal - m * (a**2 + b**2) / 12) == 0
    assert sympy.simplify(m * b**2 / 12 + m * a**2 / 12 - normal) == 0
    assert sympy.simplify(m * (a**2 + b**2) / 2 - normal) != 0
    assert ph.shapes.thin_sheet((3.0, 4.0), mass=12.0).principal_moments[2] == pytest.approx(25.0, rel=1e-15)


def test_a_rod_needs_a_radius_to_spin():
    """[table 17.1, problem 17.7]  With I3 = 0 (17.35c) is 0/0; the integral over a cylinder gives both moments."""
    r, length, m = sympy.symbols("r l m", positive=True)
    s, z, turn = sympy.symbols("s z turn", positive=True)
    limits = (s, 0, r), (turn, 0, 2 * sympy.pi), (z, -length / 2, length / 2)
    density = m / (sympy.pi * r**2 * length)
    axial = sympy.integrate(density * s**2 * s, *limits)
    across = sympy.integrate(density * ((s * sympy.cos(turn)) ** 2 + z**2) * s, *limits)
    assert sympy.simplify(axial - m * r**2 / 2) == 0
    assert sympy.simplify(across - m * (3 * r**2 + length**2) / 12) == 0
    assert axial.subs(r, 0) == 0
    with pytest.raises(ph.PolhodeError):
        ph.simulate(ph.shapes.thin_rod(1.0, 0.0, mass=1.0), duration=1.0)
    rod = ph.shapes.thin_rod(1.0, 0.05, mass=1.0)
    assert rod.principal_moments[2] == pytest.approx(0.00125, rel=1e-15)
    spun = ph.simulate(rod, ph.State(angular_velocity_body=(3, 0, 5)), duration=1.0, method="exact")
    drift = (0.00125 / rod.principal_moments[0] - 1) * 5
    assert drift == pytest.approx(-4.9255583, abs=5e-8)
    assert spun.angular_velocity_body[-1] == pytest.approx((3 * np.cos(drift), 3 * np.sin(drift), 5), abs=1e-13)


def test_a_tilt_about_the_shaft_needs_no_torque():
    """[17.4]  w x (I w) of a box turned about z, and of one tilted across the shaft: -4.3522078 N m."""
    body = np.diag(ph.shapes.box((0.1, 0.4, 0.9), mass=10.0).principal_moments)
    w = np.array((0.0, 0.0, 5.0))
    torques = {}
    for axis in "zx":
        turn = Rotation.from_euler(axis, 20, degrees=True).as_matrix()
        torques[axis] = np.cross(w, turn @ body @ turn.T @ w)
    assert torques["z"] == pytest.approx(np.zeros(3), abs=1e-15)
    by_hand = 10 * 25 * (0.16 - 0.81) * np.sin(np.radians(40)) / 24
    assert torques["x"] == pytest.approx((by_hand, 0, 0), abs=1e-14)
    assert by_hand == pytest.approx(-4.3522078, abs=5e-8)


def test_the_exact_helpers_of_this_file_are_rotations():
    """Self-check: the matrix in fractions has whole entries and the determinant 1."""
    assert sorted(set(matrix(UNIT).ravel())) == [-1, 0, 1]
    assert sympy.Matrix(matrix(UNIT)).det() == 1
    assert (cross((1, 0, 0), (0, 1, 0)) == (0, 0, 1)).all()
