"""Inertia against sums over particles, NumPy's matrices and the equations of the Tops report."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from law_samples import BODY, vector
from polhode.equations import inertia, matrices, quaternions
from scalar_types import mapped

RNG = np.random.default_rng(3)
MASSES = [Fraction(int(x), 4) for x in RNG.integers(1, 9, 12)]
POINTS = [vector(*(int(x) for x in row), over=8) for row in RNG.integers(-20, 20, (12, 3))]


def tensor_about(point):
    """sum m (|r|^2 1 - r r^T), r from the point.  [Baraff 1997, eq. 2-32]"""
    total = [Fraction(0)] * 9
    for m, place in zip(MASSES, POINTS, strict=True):
        r = [a - b for a, b in zip(place, point, strict=True)]
        rr = sum(x * x for x in r)
        for i in range(3):
            for j in range(3):
                total[3 * i + j] += m * (rr * (i == j) - r[i] * r[j])
    return tuple(total)


def test_shifted_against_a_sum_over_particles_exactly():
    mass = sum(MASSES)
    center = tuple(sum(m * p[i] for m, p in zip(MASSES, POINTS, strict=True)) / mass for i in range(3))
    for offset in (vector(1, 2, 3), vector(-7, 1, 0, over=3), vector(0, 0, 0)):
        point = tuple(a + b for a, b in zip(center, offset, strict=True))
        assert inertia.shift_inertia(tensor_about(center), mass, offset) == tensor_about(point)


settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
UNIT = st.floats(-1, 1, allow_subnormal=False)


@given(st.tuples(UNIT, UNIT, UNIT, UNIT).filter(lambda q: sum(x * x for x in q) > 0.01), st.tuples(UNIT, UNIT, UNIT))
def test_world_tensor_against_numpy(q, moments):
    """R I R^T.  [Baraff 1997, eq. 2-39]"""
    r = np.array(quaternions.matrix(q)).reshape(3, 3)
    ours = np.array(inertia.world_tensor(moments, q)).reshape(3, 3)
    np.testing.assert_allclose(ours, r @ np.diag(moments) @ r.T, rtol=0, atol=2e-15)


def test_inertia_times_against_the_tensor_in_the_users_axes():
    body = mapped(float, BODY)
    v = (0.3, -1.2, 0.8)
    r = np.array(quaternions.matrix(body.axes)).reshape(3, 3)
    np.testing.assert_allclose(inertia.inertia_times(body, v), r @ np.diag(body.moments) @ r.T @ v, rtol=1e-14)


def test_euler_rate_against_the_tops_report_eq_5():
    """w1' = (I2 - I3)/I1 w2 w3 and so on, and torque/I added; exactly."""
    w, torque = vector(3, -5, 7, over=4), vector(1, 2, -3, over=5)
    i1, i2, i3 = BODY.moments
    expected = ((i2 - i3) / i1 * w[1] * w[2], (i3 - i1) / i2 * w[2] * w[0], (i1 - i2) / i3 * w[0] * w[1])
    assert inertia.euler_rate(BODY, w, vector(0, 0, 0)) == expected
    pushed = tuple(a + n / i for a, n, i in zip(expected, torque, BODY.moments, strict=True))
    assert inertia.euler_rate(BODY, w, torque) == pushed


def test_a_particle_does_not_turn():
    """Moments and reciprocal moments 0: no rate of spin, whatever the torque."""
    particle = BODY._replace(moments=vector(0, 0, 0), inverse_moments=vector(0, 0, 0))
    assert inertia.euler_rate(particle, vector(1, 2, 3), vector(4, 5, 6)) == (0, 0, 0)


def test_matrix_products_against_numpy():
    a, b = RNG.normal(size=(2, 3, 3))
    v = RNG.normal(size=3)
    flat_a, flat_b = tuple(a.ravel().tolist()), tuple(b.ravel().tolist())
    np.testing.assert_allclose(matrices.matmul(flat_a, flat_b), (a @ b).ravel(), rtol=0, atol=1e-14)
    np.testing.assert_allclose(matrices.matvec(flat_a, tuple(v.tolist())), a @ v, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(matrices.transpose(flat_a), a.T.ravel())
    largest = np.abs(a.T @ a - np.eye(3)).max()
    np.testing.assert_allclose(matrices.orthogonality_drift(flat_a), largest, rtol=1e-14)


def test_the_departure_sees_each_entry_alone():
    """One entry of R^T R - 1 at a time, diagonal and off it."""
    for i in range(3):
        for j in range(3):
            m = np.eye(3)
            m[i, j] += 0.25
            ours = matrices.orthogonality_drift(tuple(m.ravel().tolist()))
            assert ours == np.abs(m.T @ m - np.eye(3)).max()
