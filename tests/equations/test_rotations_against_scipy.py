"""Quaternions, matrices and angles against SciPy's Rotation, and their rates against mpmath."""

from itertools import pairwise
from math import log2, pi

import heyoka
import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from polhode.equations import inertia, matrices, quaternions, rigid_body
from polhode.equations.formulations import angles_of
from polhode.equations.inertia import BodyConstants
from scalar_types import mapped

ROUNDING = 4e-15
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
COMPONENT = st.floats(-1, 1, allow_subnormal=False)


@st.composite
def quaternion(draw):
    """A quaternion of any length between 0.1 and 2."""
    q = np.array([draw(COMPONENT) for _ in range(4)])
    assume(np.linalg.norm(q) > 0.1)
    return tuple(q.tolist())


VECTOR = st.tuples(COMPONENT, COMPONENT, COMPONENT)


def scipys(q):
    return Rotation.from_quat(q, scalar_first=True)


def close(ours, theirs, tolerance=ROUNDING):
    np.testing.assert_allclose(np.ravel(ours), np.ravel(theirs), rtol=0, atol=tolerance)


def same_rotation(ours, theirs, tolerance=ROUNDING):
    """Equal up to the common sign of all four components."""
    ours, theirs = np.array(ours), np.array(theirs)
    close(ours * np.sign(ours @ theirs), theirs, tolerance)


# Against SciPy -------------------------------------------------------------------------------------------------------
@given(quaternion(), quaternion(), VECTOR)
def test_products_and_turns_against_scipy(p, q, v):
    close(quaternions.to_world(q, v), scipys(q).apply(v))
    close(quaternions.to_body(q, v), scipys(q).apply(v, inverse=True))
    close(quaternions.to_world(quaternions.product(p, q), v), scipys(p).apply(scipys(q).apply(v)))
    same_rotation(quaternions.normalize(quaternions.product(p, q)), (scipys(p) * scipys(q)).as_quat(scalar_first=True))
    same_rotation(quaternions.normalize(quaternions.conjugate(q)), scipys(q).inv().as_quat(scalar_first=True))
    close(matrices.matvec(quaternions.matrix(q), v), quaternions.to_world(q, v))


@given(quaternion())
def test_matrices_against_scipy_and_baraff_1997(q):
    """A q of any length gives R(q/|q|); for |q| = 1 that is [Baraff 1997, section 4]."""
    close(quaternions.matrix(q), scipys(q).as_matrix())
    s, x, y, z = quaternions.normalize(q)
    expected = [
        [1 - 2 * y**2 - 2 * z**2, 2 * x * y - 2 * s * z, 2 * x * z + 2 * s * y],
        [2 * x * y + 2 * s * z, 1 - 2 * x**2 - 2 * z**2, 2 * y * z - 2 * s * x],
        [2 * x * z - 2 * s * y, 2 * y * z + 2 * s * x, 1 - 2 * x**2 - 2 * y**2],
    ]
    close(quaternions.matrix((s, x, y, z)), expected)
    close(quaternions.matrix(q), expected)


@given(quaternion())
def test_from_matrix_against_scipy(q):
    same_rotation(quaternions.from_matrix(quaternions.matrix(q)), scipys(q).as_quat(scalar_first=True))


def baraff_matrix_to_quaternion(m):
    """[Baraff 1997, section 4] as printed, with its branches."""
    trace = m[0, 0] + m[1, 1] + m[2, 2]
    if trace >= 0:
        s = np.sqrt(trace + 1)
        r = 0.5 / s
        return 0, (0.5 * s, (m[2, 1] - m[1, 2]) * r, (m[0, 2] - m[2, 0]) * r, (m[1, 0] - m[0, 1]) * r)
    i = 1 if m[1, 1] > m[0, 0] else 0
    i = 2 if m[2, 2] > m[i, i] else i
    j, k = (i + 1) % 3, (i + 2) % 3
    s = np.sqrt(m[i, i] - (m[j, j] + m[k, k]) + 1)
    r = 0.5 / s
    q = [(m[k, j] - m[j, k]) * r, 0, 0, 0]
    q[1 + i], q[1 + j], q[1 + k] = 0.5 * s, (m[i, j] + m[j, i]) * r, (m[k, i] + m[i, k]) * r
    return 1 + i, tuple(q)


def largest_component(which, tilt):
    """A rotation whose component `which` is the largest, and which stays away from the branches' borders."""
    q = np.full(4, tilt)
    q[which] = 1
    return tuple(q / np.linalg.norm(q))


@pytest.mark.parametrize("branch", range(4))
@pytest.mark.parametrize("tilt", [0.0, 0.1, -0.3, 0.4])
def test_each_branch_of_from_matrix_against_baraff_1997(branch, tilt):
    q = largest_component(branch, tilt)
    m = np.array(quaternions.matrix(q)).reshape(3, 3)
    taken, theirs = baraff_matrix_to_quaternion(m)
    assert taken == branch
    ours = quaternions.from_matrix(quaternions.matrix(q))
    close(ours, theirs, 1e-15)
    same_rotation(ours, q, 1e-15)
    assert ours[branch] > 0


@pytest.mark.parametrize("aside", [0.0, 1e-16, -1e-16, 1e-12, -1e-12, 1e-6, -1e-6])
@pytest.mark.parametrize(
    "border",
    [(1, 3**0.5, 0, 0), (1, 0, 3**0.5, 0), (1, 0, 0, 3**0.5), (1, 1, 1, 1), (0, 1, 1, 0), (0, 0, 1, 1), (0, 1, 0, 1)],
    ids=["trace 0 x", "trace 0 y", "trace 0 z", "all equal", "x = y", "y = z", "x = z"],
)
def test_from_matrix_at_the_borders_of_its_branches(border, aside):
    """The trace is 0, or two diagonal entries are equal, to within a few roundings."""
    q = np.array(border, float) / np.linalg.norm(border)
    q = q + aside * np.array([1, -1, 2, 0])
    q = tuple((q / np.linalg.norm(q)).tolist())
    same_rotation(quaternions.from_matrix(quaternions.matrix(q)), q, 1e-15)


def test_from_matrix_of_half_turns_and_of_no_turn():
    for i in range(4):
        q = tuple(float(i == k) for k in range(4))
        assert quaternions.from_matrix(quaternions.matrix(q)) == q


@given(st.floats(-pi, pi), st.floats(0.01, pi - 0.01), st.floats(-pi, pi))
def test_angles_against_scipy(phi, theta, psi):
    """Intrinsic z, x, z: SciPy's 'ZXZ'.  [Christian 2011, eq. 17.10, as the errata read it]"""
    theirs = Rotation.from_euler("ZXZ", [phi, theta, psi])
    q = quaternions.from_angles((phi, theta, psi))
    same_rotation(q, theirs.as_quat(scalar_first=True))
    back = angles_of(q)
    assert 0 <= back[1] <= pi
    close(back[1], theta, 1e-14)
    same_rotation(quaternions.from_angles(back), q)
    turns = (np.array(back) - theirs.as_euler("ZXZ")) / (2 * pi)
    close(turns, np.round(turns), 1e-13)


@pytest.mark.parametrize("theta", [0.0, 1e-300, 1e-12, pi - 1e-12, pi])
def test_angles_at_the_poles_give_the_rotation_back(theta):
    q = quaternions.from_angles((0.4, theta, -1.3))
    back = angles_of(q)
    close(back[1], theta, 1e-15)
    same_rotation(quaternions.from_angles(back), q)


# Rates against mpmath ------------------------------------------------------------------------------------------------
W = (0.7, -1.1, 0.4)


def turned_steadily(q, w_body, t):
    """q(t) under a constant body rate: q exp(w t/2), in mpmath."""
    speed = mpmath.sqrt(sum(mpmath.mpf(x) ** 2 for x in w_body))
    half = speed * t / 2
    axis = [mpmath.sin(half) * mpmath.mpf(x) / speed for x in w_body]
    return quaternions.product(mapped(mpmath.mpf, q), (mpmath.cos(half), *axis))


@given(quaternion())
@settings(max_examples=30)
def test_the_quaternion_rate_against_the_derivative_of_a_steady_turn(q):
    with mpmath.workdps(40):
        for i in range(4):
            slope = mpmath.diff(lambda t, i=i: turned_steadily(q, W, t)[i], 0)
            assert abs(slope - quaternions.rate(q, W)[i]) < 1e-15


def test_the_matrix_rate_against_the_derivative_of_a_steady_turn():
    q = (0.5, -0.1, 0.7, 0.3)
    r = quaternions.matrix(q)
    w = matrices.matvec(r, W)
    with mpmath.workdps(40):
        for i in range(9):
            slope = mpmath.diff(lambda t, i=i: quaternions.matrix(turned_steadily(q, W, t))[i], 0)
            assert abs(slope - matrices.rate(r, w)[i]) < 1e-15


@given(st.floats(-3, 3), st.floats(0.1, 3), st.floats(-3, 3))
@settings(max_examples=30)
def test_the_angles_rates_turn_the_quaternion_with_the_body(phi, theta, psi):
    """d/dt from_angles(angles) = 1/2 q (0, w): the inverse of [Christian 2011, eq. 17.36]."""
    angles = (phi, theta, psi)
    rates = rigid_body.angle_rates(angles, W)
    q = quaternions.from_angles(angles)
    with mpmath.workdps(40):
        moved = [lambda t, a=a, r=r: mpmath.mpf(a) + t * mpmath.mpf(r) for a, r in zip(angles, rates, strict=True)]

        def component(t, i):
            return quaternions.from_angles(tuple(m(t) for m in moved))[i]

        slopes = [mpmath.diff(lambda t, i=i: component(t, i), 0) for i in range(4)]
    close([float(x) for x in slopes], quaternions.rate(q, W), 1e-15 / abs(np.sin(theta)) + 1e-15)


def test_the_angles_rates_stay_finite_where_nothing_diverges():
    """A top that sleeps at the pole: w along its axis, sin(theta) = 0 and the numerator exactly 0."""
    assert rigid_body.angle_rates((0.3, 0.0, 0.0), (2.0, 0.0, 5.0)) == (0.0, 2.0, 5.0)


def test_the_angles_rates_have_the_right_slope_where_the_numerator_is_zero():
    """w along the axis of a tilted top: phi' = 0, but d phi'/d w2 = cos(psi)/sin(theta), which jacfwd must see."""
    jax.config.update("jax_enable_x64", True)
    theta, psi = 0.5, 0.0

    def phi_rate(w):
        return rigid_body.angle_rates((0.3, theta, psi), (w[0], w[1], w[2]))[0]

    slope = jax.jacfwd(phi_rate)(jnp.array([0.0, 0.0, 3.0]))
    close(slope, [np.sin(psi) / np.sin(theta), np.cos(psi) / np.sin(theta), 0], 1e-15)


def test_heyokas_taylor_series_of_a_released_top_against_small_steps():
    """A tilted top released with w along its axis: phi' is 0 at the start, and must not stay so in the series."""
    names = heyoka.make_vars("phi", "theta", "psi", "w1", "w2", "w3")
    body = BodyConstants(1.0, 1.0, (2.0, 2.0, 1.0), (0.5, 0.5, 1.0), (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    torque_body = (0.4, 0.0, 0.0)
    angles, w = tuple(names[:3]), tuple(names[3:])
    slopes = rigid_body.angle_rates(angles, w) + inertia.euler_rate(body, w, torque_body)
    start = np.array([0.3, 0.5, 0.0, 0.0, 0.0, 3.0])
    orbit = heyoka.taylor_adaptive(list(zip(names, slopes, strict=True)), start.copy())
    orbit.propagate_until(0.25)

    def rate(y):
        angles, w = tuple(y[:3].tolist()), tuple(y[3:].tolist())
        return np.array(rigid_body.angle_rates(angles, w) + inertia.euler_rate(body, w, torque_body))

    def by_rk4(count):
        y, h = start, 0.25 / count
        for _ in range(count):
            a = rate(y)
            b = rate(y + h / 2 * a)
            c = rate(y + h / 2 * b)
            y = y + h / 6 * (a + 2 * b + 2 * c + rate(y + h * c))
        return y

    errors = [np.abs(by_rk4(count) - orbit.state).max() for count in (8, 16, 32)]
    assert all(3.7 < log2(a / b) < 4.3 for a, b in pairwise(errors)), errors


@given(quaternion(), VECTOR)
def test_spin_of_undoes_the_quaternion_rate(q, w):
    close(rigid_body.spin_of(q, quaternions.rate(q, w)), w)
    assert (
        rigid_body.turn_per_step((0.1, 0.7, 0.2), W, 0.5) == (rigid_body.angle_rates((0.1, 0.7, 0.2), W)[0] * 0.5) ** 2
    )
