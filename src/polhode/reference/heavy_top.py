"""The symmetric heavy top in closed form: Lagrange's case, by elliptic functions and integrals.

u = cos(theta) moves in u'^2 = f(u), a cubic with three real roots u1 <= u <= u2 <= u3, u3 >= 1.  Everything is counted
from the start, x = u - u0, so that a small nutation keeps its digits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from polhode import checks
from polhode.checks import Array
from polhode.equations.quaternions import from_angles
from polhode.errors import InputError
from polhode.reference.cubic import Roots, roots_about_zero
from polhode.reference.elliptic import carlson_rf, complete_first, jacobi
from polhode.reference.third_kind import Phases, over_falling, over_growing

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class HeavyTop:
    """A symmetric body that turns about a point of its axis, under its weight.  [Goldstein, Classical Mechanics, 5.7]

    Euler angles (phi, theta, psi), theta from the upward vertical; phi = psi = 0 at the start.  With
    a = I3 w3/Is, b = phi' sin^2(theta) + a cos(theta), beta = 2 M g l/Is:
    u'^2 = (1 - u^2)(alpha - beta u) - (b - a u)^2,  u = u1 + (u2 - u1) sn^2(w t + delta),  w^2 = beta (u3 - u1)/4.

    Parameters
    ----------
    moment, axial_moment : float
        Is across the axis, about the pivot, and I3 along it, in kg m2.
    weight_times_height : float
        M g l, l from the pivot to the centre of mass, in N m.
    theta : float
        Angle from the upward vertical at the start, in rad, 0 to pi.
    spin : float
        w3, the angular velocity along the axis, in rad/s; it stays.
    precession, theta_rate : float, optional
        phi' and theta' at the start, in rad/s.

    Examples
    --------
    >>> import polhode as ph
    >>> top = ph.reference.HeavyTop(1.202, 0.4, 1.0, theta=1.0471975512, spin=10.0)
    >>> round(top.period, 7), [round(rate, 7) for rate in top.steady_rates]
    (2.0139462, [0.2601702, 6.3954038])
    """

    moment: float
    axial_moment: float
    weight_times_height: float
    theta: float
    spin: float
    precession: float = 0.0
    theta_rate: float = 0.0

    def __post_init__(self) -> None:
        for part in fields(self):
            object.__setattr__(self, part.name, checks.one_number(getattr(self, part.name), part.name))
        for name, unit in (("moment", "kg m2"), ("axial_moment", "kg m2"), ("weight_times_height", "N m")):
            checks.positive(getattr(self, name), name, unit)
        if not 0 <= self.theta <= math.pi:
            raise InputError(f"theta = {self.theta:g} rad is no angle from the vertical: choose from 0 to pi")
        if (self.theta == 0 and self.theta_rate < 0) or (self.theta == math.pi and self.theta_rate > 0):
            raise InputError("on the vertical theta can only change towards the horizontal: give theta_rate that sign")

    # The cubic ------------------------------------------------------------------------------------------------------
    @cached_property
    def _constants(self) -> tuple[float, float, float, float]:
        """a, beta, and (b - a)/2 and (b + a)/2, each by its own formula."""
        a = self.axial_moment * self.spin / self.moment
        across = self.precession * self._sine_squared
        below, above = self._halves
        return a, 2 * self.weight_times_height / self.moment, across / 2 - a * below, across / 2 + a * above

    @property
    def _halves(self) -> tuple[float, float]:
        """(1 - cos(theta))/2 and (1 + cos(theta))/2 at the start; exactly 0 where theta is 0 or the closest to pi."""
        return math.sin(self.theta / 2) ** 2, math.cos(self.theta / 2) ** 2 if self.theta < math.pi else 0.0

    @property
    def _sine_squared(self) -> float:
        return math.sin(self.theta) ** 2 if self.theta < math.pi else 0.0

    @cached_property
    def _cubic(self) -> tuple[float, float, float, float]:
        """f = c0 + c1 x + c2 x^2 + c3 x^3."""
        a, beta, _, _ = self._constants
        s2, u0 = self._sine_squared, math.cos(self.theta)
        p, r2 = self.precession, self.theta_rate**2
        c1 = -2 * u0 * r2 + s2 * (2 * a * p - 2 * u0 * p * p - beta)
        return s2 * r2, c1, 2 * u0 * beta - r2 - p * p * s2 - a * a, beta

    @cached_property
    def roots(self) -> Roots:
        """The three roots of the cubic, less cos(theta) at the start."""
        return roots_about_zero(self._cubic, -2 * self._halves[1])

    @property
    def turning_angles(self) -> tuple[float, float]:
        """The smallest and the largest theta, in rad."""
        (near_up, far_up), (near_down, far_down) = self._from_the_top, self._from_the_bottom
        return _angle(near_up, far_down), _angle(far_up, near_down)

    @cached_property
    def _from_the_top(self) -> tuple[float, float]:
        """1 - u2 and 1 - u1.  f(1) = -(b - a)^2 gives the first where the difference would lose its digits."""
        top, (x1, x2, x3) = 2 * self._halves[0], self.roots
        beyond, short = x3 - top, max(top - x2, 0.0)
        if beyond > short:
            short = (2 * self._constants[2]) ** 2 / (self._constants[1] * (top - x1) * beyond)
        return short, top - x1

    @cached_property
    def _from_the_bottom(self) -> tuple[float, float]:
        """1 + u1 and 1 + u2.  f(-1) = -(b + a)^2 gives the first."""
        bottom, (_, x2, x3) = 2 * self._halves[1], self.roots
        high = bottom + x2
        low = (2 * self._constants[3]) ** 2 / (self._constants[1] * high * (bottom + x3)) if high else 0.0
        return low, high

    # Nutation -------------------------------------------------------------------------------------------------------
    @cached_property
    def complement(self) -> float:
        """1 - m = (u3 - u2)/(u3 - u1): 0 where the axis takes for ever to come up to the vertical."""
        x1, x2, x3 = self.roots
        return (x3 - x2) / (x3 - x1)

    @cached_property
    def _phase_rate(self) -> float:
        return math.sqrt(self._constants[1] * (self.roots.x3 - self.roots.x1)) / 2

    @cached_property
    def _quarter(self) -> float:
        return complete_first(self.complement)

    @property
    def period(self) -> float:
        """Of the nutation, 4 K(m)/sqrt((2 M g l/Is)(u3 - u1)), in s; of a steady top that of a small nutation."""
        return 2 * self._quarter / self._phase_rate

    @cached_property
    def is_steady(self) -> bool:
        """Whether theta stays where it is."""
        return self._cubic[0] == 0 == self._cubic[1]

    @cached_property
    def _start(self) -> float:
        """delta = F(phi, m), from sn^2 = -x1/(x2 - x1) at the start.  [DLMF 19.25.5]"""
        x1, x2, _ = self.roots
        if x1 == x2:
            return 0.0
        s, c = math.sqrt(-x1 / (x2 - x1)), math.sqrt(x2 / (x2 - x1))
        if c == 0:
            return self._quarter
        within = s * carlson_rf(c * c, c * c + self.complement * s * s, 1.0)
        return -within if self.theta_rate > 0 else within

    def _phases(self, t: ArrayLike) -> Phases:
        times = np.asarray(checks.numbers(t, "t", np.shape(t)))
        if self.is_steady:  # nothing of sn is asked for
            start = self._start if math.isfinite(self._start) else 0.0
            return Phases(np.zeros(times.shape), *jacobi(np.full(times.shape, start), self.complement))
        phase = self._phase_rate * times + self._start
        if not math.isfinite(self._quarter):
            return Phases(np.zeros(times.shape), *jacobi(phase, 0.0))
        halves = np.floor(phase / (2 * self._quarter) + 1 / 2)
        return Phases(halves, *jacobi(phase - 2 * self._quarter * halves, self.complement))

    def cosine_at(self, t: ArrayLike) -> Array:
        """cos(theta) at times t (s)."""
        x1, x2, _ = (0.0, 0.0, 0.0) if self.is_steady else self.roots
        return math.cos(self.theta) + (x1 + (x2 - x1) * self._phases(t)[1] ** 2)

    def theta_at(self, t: ArrayLike) -> Array:
        """theta at times t (s), in rad, 0 to pi; close to the vertical too to nearly all digits."""
        if self.is_steady:
            return np.full(np.shape(t), self.theta)
        _, sn, cn, _ = self._phases(t)
        swing = self.roots.x2 - self.roots.x1
        from_the_top = self._from_the_top[0] + swing * cn * cn
        from_the_bottom = self._from_the_bottom[0] + swing * sn * sn
        return 2 * np.arctan2(np.sqrt(from_the_top), np.sqrt(from_the_bottom))

    # Precession -----------------------------------------------------------------------------------------------------
    def angles_at(self, t: ArrayLike) -> Array:
        """(phi, theta, psi) at times t (s): (..., 3), in rad.

        phi' = A/(1 - u) + B/(1 + u), psi' = w3 - a - A/(1 - u) + B/(1 + u), A = (b - a)/2, B = (b + a)/2: integrals
        of the third kind.  Where the axis passes exactly through the vertical phi and psi jump by half a turn.
        """
        times = np.asarray(checks.numbers(t, "t", np.shape(t)))
        above, below = self._turned_about(times)
        drift = (self.spin - self._constants[0]) * times
        return np.stack((above + below, self.theta_at(times), drift - above + below), axis=-1)

    def quaternion_at(self, t: ArrayLike) -> Array:
        """The orientation at times t (s), body to world, scalar first: (..., 4)."""
        phi, theta, psi = np.moveaxis(self.angles_at(t), -1, 0)
        return np.stack(from_angles((phi, theta, psi)), axis=-1)

    def axis_at(self, t: ArrayLike) -> Array:
        """Where the axis points at times t (s), world axes: (..., 3)."""
        phi, theta, _ = np.moveaxis(self.angles_at(t), -1, 0)
        return np.stack((np.sin(theta) * np.sin(phi), -np.sin(theta) * np.cos(phi), np.cos(theta)), axis=-1)

    @property
    def mean_precession(self) -> float:
        """phi' over a whole nutation, in rad/s."""
        if self.is_steady:
            return self.precession
        return float(self.angles_at(self.period)[0] / self.period)

    def _turned_about(self, times: Array) -> tuple[Array, Array]:
        """The integrals of A/(1 - u) and B/(1 + u) from the start."""
        _, _, A, B = self._constants
        if self.is_steady:
            up, down = (2 * half for half in self._halves)
            return times * (A / up if up else 0.0), times * (B / down if down else 0.0)
        now, start, none = self._phases(times), self._phases(0.0), np.zeros(times.shape)
        x1, x2, x3 = self.roots
        (near_top, far_top), (near_bottom, _) = self._from_the_top, self._from_the_bottom
        if A:
            integrals = [over_falling(phases, self.complement, far_top, near_top) for phases in (now, start)]
            above = A / self._phase_rate * (integrals[0] - integrals[1])
        else:  # exactly through the upper vertical, if it comes there: each time that cn is 0
            above = none if near_top else math.pi * (now.halves - start.halves)
        if B:
            integrals = [
                over_growing(phases, self.complement, near_bottom, x2 - x1, x3 - x1) for phases in (now, start)
            ]
            below = B / self._phase_rate * (integrals[0] - integrals[1])
        else:  # each time that sn is 0
            passages = [phases.halves - (phases.sn < 0) for phases in (now, start)]
            below = none if near_bottom else math.pi * (passages[0] - passages[1])
        return np.asarray(above), np.asarray(below)

    # Steady precession ----------------------------------------------------------------------------------------------
    @property
    def least_spin(self) -> float:
        """The smallest |w3| that can hold a steady precession at this theta, in rad/s; 0 from the horizontal down."""
        held = self.moment * self.weight_times_height * max(math.cos(self.theta), 0.0)
        return 2 * math.sqrt(held) / self.axial_moment

    @property
    def steady_rates(self) -> tuple[float, float]:
        """The slow and the fast rate phi' at which this theta stays, in rad/s; infinite where there is none.

        Is cos(theta) p^2 - I3 w3 p + M g l = 0.  [seed 004 eq. 17.51 has their limits for large w3]
        """
        along, weight = self.axial_moment * self.spin, self.weight_times_height
        across = self.moment * math.cos(self.theta)
        discriminant = along * along - 4 * across * weight
        if discriminant < 0 or along == 0 == discriminant:
            raise InputError(
                f"at {math.degrees(self.theta):g} degrees a spin of {self.spin:g} rad/s is too slow for a steady "
                f"precession: it takes at least {self.least_spin:.7g} rad/s"
            )
        half = (along + math.copysign(math.sqrt(discriminant), along)) / 2
        return weight / half, half / across if across else math.copysign(math.inf, half)

    @property
    def released_theta(self) -> float:
        """How far the axis falls when let go with phi' = theta' = 0, in rad.

        cos(theta1) = b - sqrt(b^2 - 2 b cos(theta) + 1), b = (I3 w3)^2/(4 Is M g l), here without the difference.
        """
        b = (self.axial_moment * self.spin) ** 2 / (4 * self.moment * self.weight_times_height)
        u0 = math.cos(self.theta)
        return math.acos((2 * b * u0 - 1) / (b + math.sqrt((b - u0) ** 2 + math.sin(self.theta) ** 2)))

    def horizontal_reaction(self, precession: float, mass_times_height: float) -> float:
        """What the pivot pushes towards the vertical in a steady precession at this theta: M l sin(theta) p^2, in N."""
        return mass_times_height * math.sin(self.theta) * precession**2


def _angle(from_the_top: float, from_the_bottom: float) -> float:
    """theta from 1 - cos(theta) and 1 + cos(theta), of which the larger may be a difference."""
    return 2 * math.atan2(math.sqrt(from_the_top), math.sqrt(from_the_bottom))
