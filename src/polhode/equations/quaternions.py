"""Quaternions (w, x, y, z) with Hamilton's product, body to world: r_world = q r_body q*.

A quaternion rotates as q/|q| does; nothing here requires unit length.
"""

from __future__ import annotations

from polhode.equations.law import Matrix, Number, Quaternion, Vector, law
from polhode.equations.scalar_ops import cos, if_less, sin, sqrt


@law
def squared_norm(q: Quaternion) -> Number:
    """|q|^2"""
    return (q[0] * q[0] + q[1] * q[1]) + (q[2] * q[2] + q[3] * q[3])


@law
def product(p: Quaternion, q: Quaternion) -> Quaternion:
    """p q: rotate by q, then by p.  [Baraff 1997, eq. 4-1; Hydra 2017, eq. 3.4]

    Examples
    --------
    >>> import polhode as ph
    >>> ph.quaternion_product((0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0))
    (0.0, 0.0, 0.0, 1.0)
    """
    return (
        p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
        p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
        p[0] * q[2] + p[2] * q[0] + p[3] * q[1] - p[1] * q[3],
        p[0] * q[3] + p[3] * q[0] + p[1] * q[2] - p[2] * q[1],
    )


@law
def conjugate(q: Quaternion) -> Quaternion:
    """q*: the inverse rotation.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.quaternion_conjugate((0.5, 0.5, -0.5, 0.5))
    (0.5, -0.5, 0.5, -0.5)
    """
    return (q[0], -q[1], -q[2], -q[3])


quaternion_product, quaternion_conjugate = product, conjugate  # the public names


@law
def normalize(q: Quaternion) -> Quaternion:
    """q/|q|"""
    s = 1 / sqrt(squared_norm(q))
    return (s * q[0], s * q[1], s * q[2], s * q[3])


@law
def to_world(q: Quaternion, v: Vector) -> Vector:
    """R(q/|q|) v: body components to world components.  [q v q*/|q|^2 = v + s (w u + e x u), u = e x v, s = 2/|q|^2]

    Examples
    --------
    >>> import polhode as ph
    >>> ph.to_world((0.5, 0.5, 0.5, 0.5), (1.0, 0.0, 0.0))
    (0.0, 1.0, 0.0)
    """
    s = 2 / squared_norm(q)
    ux, uy, uz = q[2] * v[2] - q[3] * v[1], q[3] * v[0] - q[1] * v[2], q[1] * v[1] - q[2] * v[0]
    return (
        v[0] + s * (q[0] * ux + (q[2] * uz - q[3] * uy)),
        v[1] + s * (q[0] * uy + (q[3] * ux - q[1] * uz)),
        v[2] + s * (q[0] * uz + (q[1] * uy - q[2] * ux)),
    )


@law
def to_body(q: Quaternion, v: Vector) -> Vector:
    """R(q/|q|)^T v: world components to body components.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.to_body((0.5, 0.5, 0.5, 0.5), (0.0, 1.0, 0.0))
    (1.0, 0.0, 0.0)
    """
    return to_world(conjugate(q), v)


@law
def matrix(q: Quaternion) -> Matrix:
    """R(q/|q|), row by row.  [Baraff 1997, section 4; Hydra 2017, eq. 3.5]"""
    w, x, y, z = q
    s = 2 / squared_norm(q)
    return (
        1 - s * (y * y + z * z),
        s * (x * y - w * z),
        s * (x * z + w * y),
        s * (x * y + w * z),
        1 - s * (x * x + z * z),
        s * (y * z - w * x),
        s * (x * z - w * y),
        s * (y * z + w * x),
        1 - s * (x * x + y * y),
    )


@law
def from_matrix(m: Matrix) -> Quaternion:
    """The quaternion of a rotation matrix, by four branches that are selected without a jump.

    Each branch is one column of 4 q q^T, divided by twice its leading component.  [Baraff 1997, section 4]
    """
    xx, xy, xz, yx, yy, yz, zx, zy, zz = m
    ww = (1 + xx + yy + zz, zy - yz, xz - zx, yx - xy)
    ii = (zy - yz, 1 + xx - yy - zz, xy + yx, zx + xz)
    jj = (xz - zx, xy + yx, 1 + yy - xx - zz, yz + zy)
    kk = (yx - xy, zx + xz, yz + zy, 1 + zz - xx - yy)
    largest_ij = _select(xx, yy, ii, jj)
    largest_ijk = _select(if_less(xx, yy, yy, xx), zz, largest_ij, kk)
    column = _select(0 * xx, xx + yy + zz, largest_ijk, ww)
    best = _select_diagonal(xx, yy, zz)
    s = 1 / (2 * sqrt(best))
    return (s * column[0], s * column[1], s * column[2], s * column[3])


@law
def _select(a: Number, b: Number, x: Quaternion, y: Quaternion) -> Quaternion:
    """y where a < b, else x."""
    return (
        if_less(a, b, y[0], x[0]),
        if_less(a, b, y[1], x[1]),
        if_less(a, b, y[2], x[2]),
        if_less(a, b, y[3], x[3]),
    )


@law
def _select_diagonal(xx: Number, yy: Number, zz: Number) -> Number:
    """Four times the square of the leading component of the selected branch."""
    ij = if_less(xx, yy, 1 + yy - xx - zz, 1 + xx - yy - zz)
    ijk = if_less(if_less(xx, yy, yy, xx), zz, 1 + zz - xx - yy, ij)
    return if_less(0 * xx, xx + yy + zz, 1 + xx + yy + zz, ijk)


@law
def times_vector(q: Quaternion, v: Vector) -> Quaternion:
    """q (0, v)"""
    w, x, y, z = q
    a, b, c = v
    return (-x * a - y * b - z * c, w * a + y * c - z * b, w * b + z * a - x * c, w * c + x * b - y * a)


@law
def rate(q: Quaternion, angular_velocity_body: Vector) -> Quaternion:
    """q' = 1/2 q (0, w), w in body axes.  [Christian 2011, eq. 17.44; in world axes Baraff 1997, eq. 4-2]"""
    a, b, c = angular_velocity_body
    return times_vector(q, (a / 2, b / 2, c / 2))


@law
def from_angles(angles: Vector) -> Quaternion:
    """The quaternion of the ZXZ angles (phi, theta, psi): about z by phi, the new x by theta, the new z by psi."""
    half_sum, half_difference, half_theta = (angles[0] + angles[2]) / 2, (angles[0] - angles[2]) / 2, angles[1] / 2
    c, s = cos(half_theta), sin(half_theta)
    return (c * cos(half_sum), s * cos(half_difference), s * sin(half_difference), c * sin(half_sum))
