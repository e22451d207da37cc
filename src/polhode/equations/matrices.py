"""3 x 3 matrices: tuples of nine numbers, row by row."""

from __future__ import annotations

from polhode.equations.law import Matrix, Number, Vector, law
from polhode.equations.scalar_ops import absolute, larger
from polhode.equations.vectors import dot


@law
def matvec(m: Matrix, v: Vector) -> Vector:
    """m v"""
    return (
        m[0] * v[0] + m[1] * v[1] + m[2] * v[2],
        m[3] * v[0] + m[4] * v[1] + m[5] * v[2],
        m[6] * v[0] + m[7] * v[1] + m[8] * v[2],
    )


@law
def transpose(m: Matrix) -> Matrix:
    """m^T"""
    return (m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8])


@law
def matmul(a: Matrix, b: Matrix) -> Matrix:
    """a b"""
    x = matvec(a, (b[0], b[3], b[6]))
    y = matvec(a, (b[1], b[4], b[7]))
    z = matvec(a, (b[2], b[5], b[8]))
    return (x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2])


@law
def rate(m: Matrix, angular_velocity: Vector) -> Matrix:
    """R' = w* R, w in world axes: each column turns like a vector.  [Baraff 1997, eq. 2-12; Hydra 2017, eq. 2.7]"""
    x, y, z = angular_velocity
    return (
        y * m[6] - z * m[3],
        y * m[7] - z * m[4],
        y * m[8] - z * m[5],
        z * m[0] - x * m[6],
        z * m[1] - x * m[7],
        z * m[2] - x * m[8],
        x * m[3] - y * m[0],
        x * m[4] - y * m[1],
        x * m[5] - y * m[2],
    )


@law
def orthogonality_drift(m: Matrix) -> Number:
    """max |R^T R - 1|: how far the matrix has drifted from a rotation.  [Baraff 1997, section 4]"""
    a, b, c = (m[0], m[3], m[6]), (m[1], m[4], m[7]), (m[2], m[5], m[8])
    lengths = larger(larger(absolute(dot(a, a) - 1), absolute(dot(b, b) - 1)), absolute(dot(c, c) - 1))
    angles = larger(larger(absolute(dot(a, b)), absolute(dot(b, c))), absolute(dot(c, a)))
    return larger(lengths, angles)
