"""What the tests of the source texts share, written independently of the package."""

from fractions import Fraction

import numpy as np

CLOUD_MASSES = [Fraction(m) for m in (1, 2, 3, 1, 2)]
CLOUD_PLACES = [[Fraction(c) for c in r] for r in ((1, 0, 2), (-1, 3, 0), (0, -1, 1), (2, 2, -1), (-3, 0, 1))]


def star(a):
    """The matrix a* with a* b = a x b.  [Baraff 1997, eq. 2-9]"""
    x, y, z = a
    return np.array([[0 * x, -z, y], [z, 0 * x, -x], [-y, x, 0 * x]])


def cross(a, b):
    """a x b of any numbers, exactly.  [Baraff 1997, section 2.3]"""
    return np.array([a[1] * b[2] - b[1] * a[2], -a[0] * b[2] + b[0] * a[2], a[0] * b[1] - b[0] * a[1]])


def product(p, q):
    """Hamilton's product of (w, x, y, z).  [Christian 2011, eq. 17.24]"""
    (a, *u), (b, *v) = p, q
    u, v = np.array(u), np.array(v)
    return np.array([a * b - u @ v, *(b * u + a * v + cross(u, v))])


def conjugate(q):
    """q*.  [Christian 2011, eq. 17.21]"""
    return np.array([q[0], -q[1], -q[2], -q[3]])


def pure(v):
    """(0, v)"""
    return np.array([0 * v[0], *v])


def matrix(q):
    """The rotation matrix of a unit quaternion, body to world.  [Baraff 1997, section 4]"""
    s, x, y, z = q
    return np.array(
        [
            [1 - 2 * y * y - 2 * z * z, 2 * x * y - 2 * s * z, 2 * x * z + 2 * s * y],
            [2 * x * y + 2 * s * z, 1 - 2 * x * x - 2 * z * z, 2 * y * z - 2 * s * x],
            [2 * x * z - 2 * s * y, 2 * y * z + 2 * s * x, 1 - 2 * x * x - 2 * y * y],
        ]
    )


def cloud(numbers=Fraction):
    """Five particles: masses, and places as seen from their center of mass."""
    masses, places = np.array(CLOUD_MASSES), np.array(CLOUD_PLACES)
    offsets = places - (masses @ places) / masses.sum()
    return (masses, offsets) if numbers is Fraction else (masses.astype(float), offsets.astype(float))


def tensor(masses, offsets):
    """The sum of m (r.r 1 - r r^T).  [Baraff 1997, eq. 2-38]"""
    return sum(m * ((r @ r) * np.eye(3, dtype=int) - np.outer(r, r)) for m, r in zip(masses, offsets, strict=True))


def rk4(rate, y, h, count):
    """`count` classical Runge-Kutta steps of y' = rate(y)."""
    for _ in range(count):
        a = rate(y)
        b = rate(y + h / 2 * a)
        c = rate(y + h / 2 * b)
        d = rate(y + h * c)
        y = y + h / 6 * (a + 2 * b + 2 * c + d)
    return y


def orders(errors):
    """How fast errors fall when the step is halved: log2 of their quotients."""
    errors = np.array(errors)
    return np.log2(errors[:-1] / errors[1:])
