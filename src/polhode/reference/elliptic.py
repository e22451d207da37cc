"""Elliptic integrals and functions that take 1 - m in place of m, and so keep their digits where m is close to 1.

SciPy's take m alone, which near 1 no longer holds the digits of 1 - m; its `ellipkm1` is the one exception.
"""

from __future__ import annotations

import math

import numpy as np

from polhode.checks import Array


def complete_first(complement: float) -> float:
    """K(m) = pi/(2 agm(1, sqrt(1 - m))); infinite at m = 1.  [DLMF 19.8.5]"""
    if complement == 0:
        return math.inf
    return math.pi / (2 * _means(complement)[-1][0])


def carlson_rf(x: float, y: float, z: float) -> float:
    """R_F by duplication, then its series about equal arguments.  [DLMF 19.26.18, 19.36.1]"""
    mean = (x + y + z) / 3
    while max(abs(mean - x), abs(mean - y), abs(mean - z)) > 1e-3 * mean:
        step = math.sqrt(x * y) + math.sqrt(y * z) + math.sqrt(z * x)
        x, y, z = (x + step) / 4, (y + step) / 4, (z + step) / 4
        mean = (x + y + z) / 3
    a, b = 1 - x / mean, 1 - y / mean
    c = -a - b
    e2, e3 = a * b - c * c, a * b * c
    return (1 - e2 / 10 + e3 / 14 + e2 * e2 / 24 - 3 * e2 * e3 / 44) / math.sqrt(mean)


def jacobi(u: Array, complement: float) -> tuple[Array, Array, Array]:
    """sn, cn and dn of u, given 1 - m, by the descending ladder of means.  [DLMF 22.20.2 to 22.20.5]

    The arc sine there is taken as an arc tangent, which keeps its digits at a right angle.
    """
    if complement == 0:
        return np.tanh(u), 1 / np.cosh(u), 1 / np.cosh(u)
    means = _means(complement)
    phase = 2.0 ** (len(means) - 1) * means[-1][0] * u
    for before, (a, b) in zip(means[-2::-1], means[:0:-1], strict=True):
        s, c = np.sin(phase), np.cos(phase)
        phase = (phase + np.arctan2((before[0] - before[1]) / (2 * a) * s, np.hypot(c, b / a * s))) / 2
    sn, cn = np.sin(phase), np.cos(phase)
    return sn, cn, np.sqrt(cn * cn + complement * sn * sn)


def _means(complement: float) -> list[tuple[float, float]]:
    """The arithmetic and geometric means of 1 and sqrt(1 - m), until they meet."""
    a, b = 1.0, math.sqrt(complement)
    found = [(a, b)]
    while abs(a - b) > 1e-16 * a and len(found) < 40:
        a, b = (a + b) / 2, math.sqrt(a * b)
        found.append((a, b))
    return found
