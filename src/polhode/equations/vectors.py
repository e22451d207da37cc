"""Vectors: tuples of three numbers."""

from __future__ import annotations

from polhode.equations.law import Number, Vector, law


@law
def plus(a: Vector, b: Vector) -> Vector:
    """a + b"""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@law
def minus(a: Vector, b: Vector) -> Vector:
    """a - b"""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@law
def scaled(s: Number, a: Vector) -> Vector:
    """s a"""
    return (s * a[0], s * a[1], s * a[2])


@law
def times(a: Vector, b: Vector) -> Vector:
    """Elementwise: the diagonal matrix a times b."""
    return (a[0] * b[0], a[1] * b[1], a[2] * b[2])


@law
def dot(a: Vector, b: Vector) -> Number:
    """a . b

    Examples
    --------
    >>> import polhode as ph
    >>> ph.dot((1.0, 2.0, 3.0), (4.0, 5.0, 6.0))
    32.0
    """
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@law
def cross(a: Vector, b: Vector) -> Vector:
    """a x b = a* b, a* the skew matrix of a.  [Baraff 1997, eq. 2-9]

    Examples
    --------
    >>> import polhode as ph
    >>> ph.cross((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    (0.0, 0.0, 1.0)
    """
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@law
def zero_vector(t: Number) -> Vector:
    """The zero vector, in the scalar type of t."""
    return (0 * t, 0 * t, 0 * t)
