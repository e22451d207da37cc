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
    """Component by component: the diagonal matrix a applied to b."""
    return (a[0] * b[0], a[1] * b[1], a[2] * b[2])


@law
def dot(a: Vector, b: Vector) -> Number:
    """a . b"""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@law
def cross(a: Vector, b: Vector) -> Vector:
    """a x b, the product a* b of a skew matrix with b.  [seed 000 eq. 2-9]"""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@law
def zero_vector(t: Number) -> Vector:
    """The zero vector, in the kind of number of t."""
    return (0 * t, 0 * t, 0 * t)
