"""Nutation and azimuth of the axis of a heavy top: a cubic, elliptic functions and integrals.

u = cos(theta) obeys u'^2 = f(u), a cubic with three real roots u1 <= u <= u2 <= u3, u3 >= 1.  All is relative to the
initial value, x = u - u0, so that a small nutation is accurate, and in the time unit of the top's rates.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from polhode.reference.cubic_roots import CubicRoots, roots_about_zero
from polhode.reference.elliptic import carlson_rf, elliptic_k, jacobi_sn_cn_dn
from polhode.reference.elliptic_third_kind import JacobiPhases, third_kind_difference, third_kind_integral
from polhode.reference.top_rates import TopRates
from polhode.validation import Array

_SMALLEST_MISS = 1e-140
"""Relative size of 1 - u or 1 + u below which it counts as 0, since squares would underflow."""


@dataclass(frozen=True)
class Nutation:
    """Nutation of a top with these scaled rates and initial theta (rad)."""

    rates: TopRates
    theta: float

    @cached_property
    def halves(self) -> tuple[float, float]:
        """Initial (1 - cos(theta))/2 and (1 + cos(theta))/2; exactly 0 at theta = 0 or the float nearest to pi."""
        return math.sin(self.theta / 2) ** 2, math.cos(self.theta / 2) ** 2 if self.theta < math.pi else 0.0

    @cached_property
    def _sine_squared(self) -> float:
        return math.sin(self.theta) ** 2 if self.theta < math.pi else 0.0

    @cached_property
    def _numerators(self) -> tuple[float, float]:
        """A = (b - a)/2 and B = (b + a)/2, each computed directly."""
        a, across = self.rates.a, self.rates.precession * self._sine_squared
        below, above = self.halves
        return across / 2 - a * below, across / 2 + a * above

    # The cubic ------------------------------------------------------------------------------------------------------
    @cached_property
    def _cubic(self) -> tuple[float, float, float, float]:
        """f = c0 + c1 x + c2 x^2 + c3 x^3."""
        _, a, beta, p, r = self.rates
        s2, u0, r2 = self._sine_squared, math.cos(self.theta), r * r
        c1 = -2 * u0 * r2 + s2 * (2 * a * p - 2 * u0 * p * p - beta)
        return s2 * r2, c1, 2 * u0 * beta - r2 - p * p * s2 - a * a, beta

    @cached_property
    def is_steady(self) -> bool:
        """Whether theta is constant."""
        return self._cubic[0] == 0 == self._cubic[1]

    @cached_property
    def roots(self) -> CubicRoots:
        """The three roots of the cubic minus the initial cos(theta)."""
        return roots_about_zero(self._cubic, -2 * self.halves[1])

    @cached_property
    def swing(self) -> float:
        """u2 - u1."""
        return self.roots.x2 - self.roots.x1

    @cached_property
    def from_the_top(self) -> tuple[float, float]:
        """1 - u2 and 1 - u1.  f(1) = -(b - a)^2 gives the first where the difference would cancel."""
        top, (x1, x2, x3) = 2 * self.halves[0], self.roots
        beyond, short = x3 - top, max(top - x2, 0.0)
        if beyond > short:
            short = (2 * self._numerators[0]) ** 2 / (self.rates.beta * (top - x1) * beyond)
        return short, top - x1

    @cached_property
    def from_the_bottom(self) -> tuple[float, float]:
        """1 + u1 and 1 + u2.  f(-1) = -(b + a)^2 gives the first."""
        bottom, (_, x2, x3) = 2 * self.halves[1], self.roots
        high = bottom + x2
        low = (2 * self._numerators[1]) ** 2 / (self.rates.beta * high * (bottom + x3)) if high else 0.0
        return low, high

    # Over time ------------------------------------------------------------------------------------------------------
    @cached_property
    def complement(self) -> float:
        """1 - m = (u3 - u2)/(u3 - u1): 0 if the axis approaches the vertical asymptotically."""
        x1, x2, x3 = self.roots
        return (x3 - x2) / (x3 - x1) if x3 > x1 else 0.0

    @property
    def is_too_close(self) -> bool:
        """Whether the motion is so close to rest on the upper vertical that 1 - m underflows."""
        return not self.is_steady and 0 < self.complement < _SMALLEST_MISS

    @cached_property
    def rate(self) -> float:
        """w, the phase rate of sn."""
        return math.sqrt(self.rates.beta * (self.roots.x3 - self.roots.x1)) / 2

    @cached_property
    def quarter(self) -> float:
        """K(m)."""
        return elliptic_k(self.complement)

    @cached_property
    def _start(self) -> float:
        """delta = F(phi, m), from the initial sn^2 = -x1/(x2 - x1).  [DLMF 19.25.5]"""
        x1, x2, _ = self.roots
        if x1 == x2:
            return 0.0
        s, c = math.sqrt(-x1 / (x2 - x1)), math.sqrt(x2 / (x2 - x1))
        if c == 0:
            return self.quarter
        within = s * carlson_rf(c * c, c * c + self.complement * s * s, 1.0)
        return -within if self.rates.theta_rate > 0 else within

    def phases(self, times: Array) -> JacobiPhases:
        """Phases of sn at these times; meaningless for a steady top."""
        if self.is_steady:
            return JacobiPhases(np.zeros(times.shape), *jacobi_sn_cn_dn(np.zeros(times.shape), self.complement))
        phase = self.rate * times + self._start
        if not math.isfinite(self.quarter):
            return JacobiPhases(np.zeros(times.shape), *jacobi_sn_cn_dn(phase, 0.0))
        halves = np.floor(phase / (2 * self.quarter) + 1 / 2)
        return JacobiPhases(halves, *jacobi_sn_cn_dn(phase - 2 * self.quarter * halves, self.complement))

    def azimuth_sum_and_difference(self, times: Array) -> tuple[Array, Array]:
        """Sum and difference of the integrals of B/(1 + u) and A/(1 - u) from t = 0, in rad.

        For a fast top the two nearly cancel in the sum, which is then computed from phi' at u1 plus a correction.
        """
        A, B = self._numerators
        if self.is_steady:
            up, down = (2 * half for half in self.halves)
            above, below = times * (A / up if up else 0.0), times * (B / down if down else 0.0)
            return self.rates.precession * times if up and down else above + below, below - above
        now, start = self.phases(times), self.phases(np.zeros(()))
        (near_top, far_top), (near_bottom, far_bottom) = self.from_the_top, self.from_the_bottom

        def between(integral: Callable[..., Array], *of: float) -> Array:
            return (integral(now, self.complement, *of) - integral(start, self.complement, *of)) / self.rate

        if near_top > _SMALLEST_MISS * far_top:
            from_top = A * between(third_kind_difference, far_top, -self.swing, near_top)
        else:  # through the upper vertical: half a turn at each zero of cn
            from_top = math.copysign(math.pi, A) * (now.halves - start.halves)
        above = A / far_top * times + from_top
        if self.swing <= near_bottom:
            from_bottom = B * between(third_kind_difference, near_bottom, self.swing, far_bottom)
            at_u1 = self.rates.precession * self._sine_squared - self.rates.a * self.roots.x1
            phi = at_u1 / (far_top * near_bottom) * times + from_top + from_bottom
            return phi, B / near_bottom * times + from_bottom - above
        if near_bottom * (self.complement or 1) > _SMALLEST_MISS * far_bottom:
            below = B * between(third_kind_integral, near_bottom, self.swing, self.roots.x3 - self.roots.x1)
        else:  # through the lower vertical: half a turn at each zero of sn
            passages = [phases.halves - (phases.sn < 0) for phases in (now, start)]
            below = math.copysign(math.pi, B) * (passages[0] - passages[1])
        return above + below, below - above
