"""Elliptic integrals of the third kind over a phase, for heavy tops: sums of positive terms, without cancellation.

They are built from SciPy's Carlson functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from polhode.validation import Array


class JacobiPhases(NamedTuple):
    """Phases v as a number of half periods 2 K of sn, and sn, cn and dn of the remainder, within K of 0."""

    halves: Array
    sn: Array
    cn: Array
    dn: Array


def third_kind_difference(
    phases: JacobiPhases, complement: float, at_0: float, swing: float, at_quarter: float
) -> Array:
    """Integral from 0 of 1/(at_0 + swing sn^2 v) - 1/at_0 dv, at_0 + swing = at_quarter > 0.  [DLMF 19.25.14]

    `complement` is 1 - m.  The result is proportional to the swing, of opposite sign, and fully accurate.
    """
    from scipy.special import elliprj

    def within(sn: Array, cn: Array, dn: Array) -> Array:
        c2, s2 = cn * cn, sn * sn
        carlson = elliprj(c2, dn * dn, 1.0, c2 + at_quarter / at_0 * s2)
        return np.asarray(-swing / at_0 * (sn * s2 / 3 * carlson) / at_0)

    return _add_half_periods(within, phases, complement)


def third_kind_integral(phases: JacobiPhases, complement: float, at_0: float, swing: float, gap: float) -> Array:
    """Integral from 0 of dv/(at_0 + swing sn^2 v), at_0 > 0, swing >= 0, gap = swing/m, by a transformation.

    For a swing larger than at_0.  With P = at_0, S = swing, G = gap, w2 = m (P + G)/(P + S), between m and 1, it is
    (P + G)^-1 times
    F + G (1 - m)/(P + S) Pi(w2) + G w2 sn cn R_C(P dn^2, (P + S sn^2)(1 - w2 sn^2))/sqrt(P).  [DLMF 19.7.9]
    """
    from scipy.special import elliprc, elliprf, elliprj

    at_quarter = at_0 + swing
    w2, rest = swing / gap * (at_0 + gap) / at_quarter, complement * at_0 / at_quarter

    def within(sn: Array, cn: Array, dn: Array) -> Array:
        c2, d2, s2 = cn * cn, dn * dn, sn * sn
        first, away = sn * elliprf(c2, d2, 1.0), c2 + rest * s2
        third = first + w2 / 3 * sn * s2 * elliprj(c2, d2, 1.0, away)
        last = sn * cn * elliprc(at_0 * d2, (at_0 + swing * s2) * away) / math.sqrt(at_0)
        return np.asarray((first + gap * complement / at_quarter * third + gap * w2 * last) / (at_0 + gap))

    return _add_half_periods(within, phases, complement)


def _add_half_periods(within: Callable[[Array, Array, Array], Array], phases: JacobiPhases, complement: float) -> Array:
    """Extend an integral over less than a quarter period by whole half periods."""
    part = within(phases.sn, phases.cn, phases.dn)
    if not phases.halves.any():
        return part
    return part + 2 * phases.halves * within(np.array(1.0), np.array(0.0), np.array(math.sqrt(complement)))
