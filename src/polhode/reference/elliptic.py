"""Elliptic integrals and functions of 1 - m instead of m, accurate where m is close to 1.

SciPy's functions take m (except `ellipkm1`), which cannot represent 1 - m accurately near 1.
"""

from __future__ import annotations

import math

import numpy as np

from polhode.validation import Array


def elliptic_k(complement: float) -> float:
    """K(m) = pi/(2 agm(1, sqrt(1 - m))); infinite at m = 1.  [DLMF 19.8.5]"""
    if complement == 0:
        return math.inf
    return math.pi / (2 * _agm_sequence(complement)[-1][0])


def carlson_rf(x: float, y: float, z: float) -> float:
    """R_F by duplication, then its series around equal arguments.  [DLMF 19.26.18, 19.36.1]"""
    mean = (x + y + z) / 3
    while max(abs(mean - x), abs(mean - y), abs(mean - z)) > 1e-3 * mean:
        step = math.sqrt(x * y) + math.sqrt(y * z) + math.sqrt(z * x)
        x, y, z = (x + step) / 4, (y + step) / 4, (z + step) / 4
        mean = (x + y + z) / 3
    a, b = 1 - x / mean, 1 - y / mean
    c = -a - b
    e2, e3 = a * b - c * c, a * b * c
    return (1 - e2 / 10 + e3 / 14 + e2 * e2 / 24 - 3 * e2 * e3 / 44) / math.sqrt(mean)


def jacobi_sn_cn_dn(u: Array, complement: float) -> tuple[Array, Array, Array]:
    """sn, cn and dn of u, given 1 - m, by the descending Landen transformation.  [DLMF 22.7.2 to 22.7.4]

    In each step cn/sn is multiplied by the previous dn, and dn is a quotient of sums of squares: without subtractions,
    cn stays accurate near the quarter period.
    """
    if complement == 0:
        half = np.exp(-np.abs(u))
        sech = np.asarray(2 * half / (1 + half * half))
        return np.tanh(u), sech, sech
    means = _agm_sequence(complement)
    s, c = np.sin(means[-1][0] * u), means[-1][0] * np.cos(means[-1][0] * u)
    dn = np.ones_like(s)
    for (a, b), (mean, _) in zip(means[-2::-1], means[:0:-1], strict=True):
        from_c, from_s = c * c / mean, s * s
        c, dn = c * dn, (from_c + b * from_s) / (from_c + a * from_s)  # c/s is a cn/sn
    size = np.hypot(s, c)
    return s / size, c / size, dn


def _agm_sequence(complement: float) -> list[tuple[float, float]]:
    """Arithmetic and geometric means of 1 and sqrt(1 - m) until convergence."""
    a, b = 1.0, math.sqrt(complement)
    found = [(a, b)]
    while abs(a - b) > 1e-16 * a and len(found) < 40:
        a, b = (a + b) / 2, math.sqrt(a * b)
        found.append((a, b))
    return found
