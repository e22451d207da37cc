"""Integrals of 1, r and r r^T over a triangulated surface and over the solid that it encloses, triangle by triangle.

The divergence theorem turns volume integrals into sums over the surface.  [Slides, third approximation; the theorem is
Gauss's, not Stokes' (errata)]  Each triangle contributes the signed tetrahedron that it spans with the origin,
positive if the triangle faces away from it.
"""

from __future__ import annotations

from typing import TypeAlias

from polhode.equations.law import Number, Vector, law
from polhode.equations.scalar_ops import sqrt
from polhode.equations.vectors import cross, dot, minus, plus, scaled

Products: TypeAlias = tuple[Number, Number, Number, Number, Number, Number]
"""The entries xx, yy, zz, yz, zx, xy of a symmetric matrix."""


@law
def area_vector(a: Vector, b: Vector, c: Vector) -> Vector:
    """Twice the area of a triangle, along its normal: (b - a) x (c - a)."""
    return cross(minus(b, a), minus(c, a))


@law
def volume_beneath(a: Vector, b: Vector, c: Vector) -> Number:
    """Six times the volume of the tetrahedron of the origin and a, b, c: a . (b - a) x (c - a)."""
    return dot(a, area_vector(a, b, c))


@law
def area_of(a: Vector, b: Vector, c: Vector) -> Number:
    """Twice the area of a triangle."""
    n = area_vector(a, b, c)
    return sqrt(dot(n, n))


@law
def first_moments(weight: Number, a: Vector, b: Vector, c: Vector) -> Vector:
    """w (a + b + c): 4 int r dV of a tetrahedron of volume w with a vertex at the origin, 3 int r dA of a triangle."""
    return scaled(weight, plus(plus(a, b), c))


@law
def second_moments(weight: Number, a: Vector, b: Vector, c: Vector) -> Products:
    """w (s s^T + a a^T + b b^T + c c^T), s = a + b + c: 20 int r r^T dV, 12 int r r^T dA of the same."""
    s = plus(plus(a, b), c)
    return (
        weight * (s[0] * s[0] + a[0] * a[0] + b[0] * b[0] + c[0] * c[0]),
        weight * (s[1] * s[1] + a[1] * a[1] + b[1] * b[1] + c[1] * c[1]),
        weight * (s[2] * s[2] + a[2] * a[2] + b[2] * b[2] + c[2] * c[2]),
        weight * (s[1] * s[2] + a[1] * a[2] + b[1] * b[2] + c[1] * c[2]),
        weight * (s[2] * s[0] + a[2] * a[0] + b[2] * b[0] + c[2] * c[0]),
        weight * (s[0] * s[1] + a[0] * a[1] + b[0] * b[1] + c[0] * c[1]),
    )
