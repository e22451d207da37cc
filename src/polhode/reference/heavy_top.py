"""The symmetric heavy top in closed form: Lagrange's case, by elliptic functions and integrals."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from polhode import validation
from polhode.equations.quaternions import from_angles
from polhode.errors import InputError
from polhode.reference import argument_checks
from polhode.reference.cubic_roots import CubicRoots
from polhode.reference.nutation import Nutation
from polhode.reference.top_rates import TopRates, scale_top_rates
from polhode.validation import Array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_SMALLEST_COSINE = 1e-70
"""In rad: closer to the vertical 1 - cos(theta) is no longer held."""


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
            object.__setattr__(self, part.name, validation.check_number(getattr(self, part.name), part.name))
        for name, unit in (("moment", "kg m2"), ("axial_moment", "kg m2"), ("weight_times_height", "N m")):
            validation.check_positive(getattr(self, name), name, unit)
        if not 0 <= self.theta <= math.pi:
            raise InputError(f"theta = {self.theta:g} rad is no angle from the vertical: choose from 0 to pi")
        if (self.theta == 0 and self.theta_rate < 0) or (self.theta == math.pi and self.theta_rate > 0):
            raise InputError("on the vertical theta can only change towards the horizontal: give theta_rate that sign")
        moves_off = self.theta == 0 and self.theta_rate and not self._rates.theta_rate
        if 0 < self.theta < _SMALLEST_COSINE or moves_off or self._nutation.is_too_close:
            raise InputError(
                "this top starts too close to rest on the upper vertical for double precision: start it at rest there, "
                "or further away"
            )

    @cached_property
    def _rates(self) -> TopRates:
        return scale_top_rates(
            self.moment, self.axial_moment, self.weight_times_height, self.spin, self.precession, self.theta_rate
        )

    # Nutation -------------------------------------------------------------------------------------------------------
    @cached_property
    def _nutation(self) -> Nutation:
        return Nutation(self._rates, self.theta)

    @property
    def roots(self) -> CubicRoots:
        """The three roots of the cubic, less cos(theta) at the start."""
        return self._nutation.roots

    @property
    def complement(self) -> float:
        """1 - m = (u3 - u2)/(u3 - u1): 0 where the axis takes for ever to come up to the vertical."""
        return self._nutation.complement

    @property
    def is_steady(self) -> bool:
        """Whether theta stays where it is."""
        return self._nutation.is_steady

    @property
    def turning_angles(self) -> tuple[float, float]:
        """The smallest and the largest theta, in rad; of a steady top both are the one that it keeps."""
        if self.is_steady:
            return self.theta, self.theta
        (near_up, far_up), (near_down, far_down) = self._nutation.from_the_top, self._nutation.from_the_bottom
        return _polar_angle(near_up, far_down), _polar_angle(far_up, near_down)

    @property
    def _quarter(self) -> float:
        return self._nutation.quarter

    @property
    def _phase_rate(self) -> float:
        """w, in 1/s."""
        return self._nutation.rate / self._rates.unit

    @property
    def period(self) -> float:
        """Of the nutation, 4 K(m)/sqrt((2 M g l/Is)(u3 - u1)), in s; of a steady top that of a small nutation.

        Infinite for a top that takes for ever to come up to the vertical, or that sleeps there and would not come back.
        """
        if not math.isfinite(self._quarter):
            return math.inf
        return 2 * self._quarter / self._phase_rate

    def _counted(self, t: ArrayLike) -> Array:
        return argument_checks.finite_array(t, "t") / self._rates.unit

    def cosine_at(self, t: ArrayLike) -> Array:
        """cos(theta) at times t (s)."""
        counted = self._counted(t)
        if self.is_steady:
            return np.full(counted.shape, math.cos(self.theta))
        moved = self.roots.x1 + self._nutation.swing * self._nutation.phases(counted).sn ** 2
        return np.asarray(math.cos(self.theta) + moved)

    def theta_at(self, t: ArrayLike) -> Array:
        """theta at times t (s), in rad, 0 to pi; close to the vertical too to nearly all digits."""
        counted, nutation = self._counted(t), self._nutation
        if self.is_steady:
            return np.full(counted.shape, self.theta)
        _, sn, cn, _ = nutation.phases(counted)
        from_the_top = nutation.from_the_top[0] + nutation.swing * cn * cn
        from_the_bottom = nutation.from_the_bottom[0] + nutation.swing * sn * sn
        return np.asarray(2 * np.arctan2(np.sqrt(from_the_top), np.sqrt(from_the_bottom)))

    # Precession -----------------------------------------------------------------------------------------------------
    def angles_at(self, t: ArrayLike) -> Array:
        """(phi, theta, psi) at times t (s): (..., 3), in rad.

        phi' = A/(1 - u) + B/(1 + u), psi' = w3 - a - A/(1 - u) + B/(1 + u), A = (b - a)/2, B = (b + a)/2: integrals
        of the third kind.  Where the axis passes exactly through the vertical phi and psi jump by half a turn.
        """
        times = argument_checks.finite_array(t, "t")
        phi, beside_drift = self._nutation.turned(times / self._rates.unit)
        drift = (self.spin - self._rates.a / self._rates.unit) * times
        return np.stack((phi, self.theta_at(times), drift + beside_drift), axis=-1)

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
        """phi' over a whole nutation, in rad/s.

        Where the axis passes exactly through the vertical, as a pendulum's does, phi's jump by half a turn counts.
        """
        if self.is_steady:
            return self.precession
        if not math.isfinite(self.period):  # nearly all the time it stands upright
            return self._rates.a / 2 / self._rates.unit
        return float(self.angles_at(self.period)[0] / self.period)

    # Steady precession ----------------------------------------------------------------------------------------------
    @property
    def _cosine(self) -> float:
        """cos(theta) at the start; exactly 0 where theta is the closest to pi/2."""
        return math.cos(self.theta) if self.theta != math.pi / 2 else 0.0

    @property
    def least_spin(self) -> float:
        """The smallest |w3| that can hold a steady precession at this theta, in rad/s; 0 from the horizontal down."""
        least = math.sqrt(2 * self._rates.beta * max(self._cosine, 0.0))
        return least * (self.moment / self.axial_moment) / self._rates.unit

    @property
    def steady_rates(self) -> tuple[float, float]:
        """The slow and the fast rate phi' at which this theta stays, in rad/s.

        Refused where the top spins less than `least_spin`; from the horizontal the fast one is infinite.

        Is cos(theta) p^2 - I3 w3 p + M g l = 0.  [seed 004 eq. 17.51 has their limits for large w3]
        """
        unit, a, beta, _, _ = self._rates
        discriminant = a * a - 2 * beta * self._cosine
        if a == 0 == self._cosine:
            raise InputError("without spin nothing holds the axis horizontal in a steady precession: give it any spin")
        if discriminant < 0:
            raise InputError(
                f"at {math.degrees(self.theta):g} degrees a spin of {self.spin:g} rad/s is too slow for a steady "
                f"precession: it takes at least {self.least_spin:.7g} rad/s"
            )
        half = (a + math.copysign(math.sqrt(discriminant), a)) / 2
        fast = half / self._cosine if self._cosine else math.copysign(math.inf, half)
        return beta / 2 / half / unit, fast / unit

    @property
    def released_theta(self) -> float:
        """How far the axis falls when let go with phi' = theta' = 0, in rad.

        cos(theta1) = b - R, R^2 = b^2 - 2 b cos(theta) + 1, b = (I3 w3)^2/(4 Is M g l), here without the differences:
        R^2 = (b - 1)^2 + 4 b sin^2(theta/2), 1 - cos(theta1) = R + 1 - b, and
        1 + cos(theta1) = 4 b cos^2(theta/2)/(R + b + 1).
        """
        b = self._rates.a**2 / (2 * self._rates.beta)
        below, above = self._nutation.halves
        root = math.hypot(b - 1, 2 * math.sqrt(b * below))
        from_the_top = root + (1 - b) if b <= 1 else 4 * b * below / (root + (b - 1))
        return _polar_angle(from_the_top, 4 * b * above / (root + b + 1))

    def horizontal_reaction(self, precession: float, mass_times_height: float) -> float:
        """What the pivot pushes towards the vertical in a steady precession at this theta: M l sin(theta) p^2, in N."""
        rate = validation.check_number(precession, "precession")
        return validation.check_number(mass_times_height, "mass_times_height") * math.sin(self.theta) * rate**2


def _polar_angle(from_the_top: float, from_the_bottom: float) -> float:
    """theta from 1 - cos(theta) and 1 + cos(theta), of which the larger may be a difference."""
    return 2 * math.atan2(math.sqrt(from_the_top), math.sqrt(from_the_bottom))
