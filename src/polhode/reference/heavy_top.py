"""The symmetric heavy top (Lagrange top) in closed form, by elliptic functions and integrals."""

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
"""Smallest theta, in rad, at which 1 - cos(theta) does not underflow."""


@dataclass(frozen=True)
class HeavyTop:
    """A symmetric body with a fixed point on its axis, under gravity.  [Goldstein 1980, section 5.7]

    Euler angles (phi, theta, psi), theta from the upward vertical; phi = psi = 0 at t = 0.  With
    a = I3 w3/Is, b = phi' sin^2(theta) + a cos(theta), beta = 2 M g l/Is:
    u'^2 = (1 - u^2)(alpha - beta u) - (b - a u)^2,  u = u1 + (u2 - u1) sn^2(w t + delta),  w^2 = beta (u3 - u1)/4.

    Parameters
    ----------
    moment, axial_moment : float
        Transverse moment Is about the pivot, and axial moment I3, in kg m2.
    weight_times_height : float
        M g l, with l from the pivot to the center of mass, in N m.
    theta : float
        Initial angle from the upward vertical, in rad, 0 to pi.
    spin : float
        w3, the constant angular velocity along the axis, in rad/s.
    precession, theta_rate : float, optional
        Initial phi' and theta', in rad/s.

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
            raise InputError(f"theta = {self.theta:g} rad is not an angle from the vertical: choose from 0 to pi")
        if (self.theta == 0 and self.theta_rate < 0) or (self.theta == math.pi and self.theta_rate > 0):
            raise InputError("on the vertical theta can only move away from it: change the sign of theta_rate")
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
        """The three roots of the cubic minus the initial cos(theta)."""
        return self._nutation.roots

    @property
    def complement(self) -> float:
        """1 - m = (u3 - u2)/(u3 - u1): 0 if the axis approaches the vertical asymptotically."""
        return self._nutation.complement

    @property
    def is_steady(self) -> bool:
        """Whether theta is constant."""
        return self._nutation.is_steady

    @property
    def turning_angles(self) -> tuple[float, float]:
        """Smallest and largest theta, in rad; equal for a steady top."""
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
        """Nutation period 4 K(m)/sqrt((2 M g l/Is)(u3 - u1)), in s; for a steady top that of a small nutation.

        Infinite for a top that approaches the vertical asymptotically, or sleeps there unstably.
        """
        if not math.isfinite(self._quarter):
            return math.inf
        return 2 * self._quarter / self._phase_rate

    def _scaled_times(self, t: ArrayLike) -> Array:
        return argument_checks.finite_array(t, "t") / self._rates.unit

    def cosine_at(self, t: ArrayLike) -> Array:
        """cos(theta) at times t (s).

        Examples
        --------
        >>> import polhode as ph
        >>> top = ph.reference.HeavyTop(1.202, 0.4, 1.0, theta=1.0, spin=10.0)
        >>> round(float(top.cosine_at(1.0)), 6)
        0.416127
        """
        scaled = self._scaled_times(t)
        if self.is_steady:
            return np.full(scaled.shape, math.cos(self.theta))
        moved = self.roots.x1 + self._nutation.swing * self._nutation.phases(scaled).sn ** 2
        return np.asarray(math.cos(self.theta) + moved)

    def theta_at(self, t: ArrayLike) -> Array:
        """Theta at times t (s), in rad, 0 to pi; accurate close to the vertical too.

        Examples
        --------
        >>> import polhode as ph
        >>> top = ph.reference.HeavyTop(1.202, 0.4, 1.0, theta=1.0, spin=10.0)
        >>> round(float(top.theta_at(1.0)), 6)
        1.141615
        """
        scaled, nutation = self._scaled_times(t), self._nutation
        if self.is_steady:
            return np.full(scaled.shape, self.theta)
        _, sn, cn, _ = nutation.phases(scaled)
        from_the_top = nutation.from_the_top[0] + nutation.swing * cn * cn
        from_the_bottom = nutation.from_the_bottom[0] + nutation.swing * sn * sn
        return np.asarray(2 * np.arctan2(np.sqrt(from_the_top), np.sqrt(from_the_bottom)))

    # Precession -----------------------------------------------------------------------------------------------------
    def angles_at(self, t: ArrayLike) -> Array:
        """Euler angles (phi, theta, psi) at times t (s): (..., 3), in rad.

        phi' = A/(1 - u) + B/(1 + u), psi' = w3 - a - A/(1 - u) + B/(1 + u), A = (b - a)/2, B = (b + a)/2: elliptic
        integrals of the third kind.  Where the axis passes exactly through the vertical, phi and psi jump by pi.

        Examples
        --------
        >>> import polhode as ph
        >>> top = ph.reference.HeavyTop(1.202, 0.4, 1.0, theta=1.0, spin=10.0)
        >>> top.angles_at(1.0).round(6).tolist()
        [0.254817, 1.141615, 9.88551]
        """
        times = argument_checks.finite_array(t, "t")
        phi, difference = self._nutation.azimuth_sum_and_difference(times / self._rates.unit)
        drift = (self.spin - self._rates.a / self._rates.unit) * times
        return np.stack((phi, self.theta_at(times), drift + difference), axis=-1)

    def quaternion_at(self, t: ArrayLike) -> Array:
        """Orientation (w, x, y, z), body to world, at times t (s): (..., 4).

        Examples
        --------
        >>> import polhode as ph
        >>> top = ph.reference.HeavyTop(1.202, 0.4, 1.0, theta=1.0, spin=10.0)
        >>> top.quaternion_at(1.0).round(6).tolist()
        [0.294673, 0.055531, 0.53745, -0.788182]
        """
        phi, theta, psi = np.moveaxis(self.angles_at(t), -1, 0)
        return np.stack(from_angles((phi, theta, psi)), axis=-1)

    def axis_at(self, t: ArrayLike) -> Array:
        """Unit vector along the axis at times t (s), world axes: (..., 3).

        Examples
        --------
        >>> import polhode as ph
        >>> top = ph.reference.HeavyTop(1.202, 0.4, 1.0, theta=1.0, spin=10.0)
        >>> top.axis_at(1.0).round(6).tolist()
        [0.229208, -0.879945, 0.416127]
        """
        phi, theta, _ = np.moveaxis(self.angles_at(t), -1, 0)
        return np.stack((np.sin(theta) * np.sin(phi), -np.sin(theta) * np.cos(phi), np.cos(theta)), axis=-1)

    @property
    def mean_precession(self) -> float:
        """Mean phi' over a nutation, in rad/s.

        If the axis passes exactly through the vertical, as a pendulum does, the jumps of phi by pi are included.
        """
        if self.is_steady:
            return self.precession
        if not math.isfinite(self.period):  # upright nearly all the time
            return self._rates.a / 2 / self._rates.unit
        return float(self.angles_at(self.period)[0] / self.period)

    # Steady precession ----------------------------------------------------------------------------------------------
    @property
    def _cosine(self) -> float:
        """Initial cos(theta); exactly 0 at the float nearest to pi/2."""
        return math.cos(self.theta) if self.theta != math.pi / 2 else 0.0

    @property
    def least_spin(self) -> float:
        """Smallest |w3| for steady precession at this theta, in rad/s; 0 from the horizontal down."""
        least = math.sqrt(2 * self._rates.beta * max(self._cosine, 0.0))
        return least * (self.moment / self.axial_moment) / self._rates.unit

    @property
    def steady_rates(self) -> tuple[float, float]:
        """Slow and fast rate phi' of steady precession at this theta, in rad/s.

        The roots of Is cos(theta) p^2 - I3 w3 p + M g l = 0; [Christian 2011, eq. 17.51] has their limits for large w3.
        A spin below `least_spin` raises an InputError; at the horizontal the fast rate is infinite.
        """
        unit, a, beta, _, _ = self._rates
        discriminant = a * a - 2 * beta * self._cosine
        if a == 0 == self._cosine:
            raise InputError("without spin there is no steady precession with a horizontal axis: give a nonzero spin")
        if discriminant < 0:
            raise InputError(
                f"at {math.degrees(self.theta):g} degrees a spin of {self.spin:g} rad/s is too slow for a steady "
                f"precession: it must be at least {self.least_spin:.7g} rad/s"
            )
        half = (a + math.copysign(math.sqrt(discriminant), a)) / 2
        fast = half / self._cosine if self._cosine else math.copysign(math.inf, half)
        return beta / 2 / half / unit, fast / unit

    @property
    def released_theta(self) -> float:
        """Largest theta after release with phi' = theta' = 0, in rad.

        cos(theta1) = b - R, R^2 = b^2 - 2 b cos(theta) + 1, b = (I3 w3)^2/(4 Is M g l), evaluated without cancellation:
        R^2 = (b - 1)^2 + 4 b sin^2(theta/2), 1 - cos(theta1) = R + 1 - b, and
        1 + cos(theta1) = 4 b cos^2(theta/2)/(R + b + 1).
        """
        b = self._rates.a**2 / (2 * self._rates.beta)
        below, above = self._nutation.halves
        root = math.hypot(b - 1, 2 * math.sqrt(b * below))
        from_the_top = root + (1 - b) if b <= 1 else 4 * b * below / (root + (b - 1))
        return _polar_angle(from_the_top, 4 * b * above / (root + b + 1))

    def horizontal_reaction(self, precession: float, mass_times_height: float) -> float:
        """Horizontal pivot force in steady precession at this theta, toward the vertical: M l sin(theta) p^2, in N.

        Examples
        --------
        >>> import polhode as ph
        >>> top = ph.reference.HeavyTop(1.202, 0.4, 1.0, theta=1.0, spin=10.0)
        >>> round(top.horizontal_reaction(top.steady_rates[0], mass_times_height=1.0), 7)
        0.0573507
        """
        rate = validation.check_number(precession, "precession")
        return validation.check_number(mass_times_height, "mass_times_height") * math.sin(self.theta) * rate**2


def _polar_angle(from_the_top: float, from_the_bottom: float) -> float:
    """Theta from 1 - cos(theta) and 1 + cos(theta), the smaller of which must be accurate."""
    return 2 * math.atan2(math.sqrt(from_the_top), math.sqrt(from_the_bottom))
