"""A pendulum released at rest, in closed form; also the rotation of a body by a force of fixed direction."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import TYPE_CHECKING

import numpy as np

from polhode import validation
from polhode.errors import InputError
from polhode.reference import argument_checks
from polhode.reference.elliptic import elliptic_k, jacobi_sn_cn_dn
from polhode.validation import Array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Pendulum:
    """Pendulum a'' = -w0^2 sin(a), released at rest at a = amplitude.

    sin(a/2) = k cd(w0 t, m), k = sin(amplitude/2), m = k^2.  A force F of fixed direction at a distance d from the
    center of mass rotates a body the same way, with w0^2 = F d/I.  [Baraff 1997, section 5.5]

    Parameters
    ----------
    small_rate : float
        w0, the angular frequency of small oscillations, in rad/s.
    amplitude : float
        Initial angle from equilibrium, in rad, more than 0 and less than pi.

    Examples
    --------
    >>> from math import pi, sqrt
    >>> from polhode.reference.pendulum import Pendulum
    >>> block = Pendulum(sqrt(1.0 * 2.0 / (4.0 * (4.0**2 + 1.0) / 12)), pi / 2)
    >>> round(block.period / 2, 7), round(float(block.turned_at(10.0)), 7)
    (6.2417455, 1.0478187)
    """

    small_rate: float
    amplitude: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "small_rate", argument_checks.positive_number(self.small_rate, "small_rate", "rad/s"))
        object.__setattr__(self, "amplitude", validation.check_number(self.amplitude, "amplitude"))
        if not 0 < self.amplitude < pi:
            raise InputError(
                f"amplitude is {self.amplitude:g} rad: a pendulum released at rest oscillates only if it is more "
                "than 0 and less than pi"
            )

    @property
    def parameter(self) -> float:
        """m = sin(amplitude/2)^2 of the elliptic functions."""
        return float(np.sin(self.amplitude / 2) ** 2)

    @property
    def _complement(self) -> float:
        """1 - m, computed directly."""
        return float(np.cos(self.amplitude / 2) ** 2)

    @property
    def period(self) -> float:
        """Period 4 K(m)/w0, in s; the pendulum first stops after half of it."""
        return 4 * elliptic_k(self._complement) / self.small_rate

    def _jacobi(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        return jacobi_sn_cn_dn(self.small_rate * argument_checks.finite_array(t, "t"), self._complement)

    def angle_at(self, t: ArrayLike) -> Array:
        """Angle a at times t (s), in rad.

        Examples
        --------
        >>> import polhode as ph
        >>> ph.reference.Pendulum(1.0, 1.0).angle_at((0.0, 1.0)).round(6).tolist()
        [1.0, 0.600085]
        """
        _, cn, _ = self._jacobi(t)
        # sin(a/2) = k cn/dn and cos(a/2) = k'/dn: atan2 is accurate where the sine is close to 1.
        return np.asarray(2 * np.arctan2(np.sin(self.amplitude / 2) * cn, np.cos(self.amplitude / 2)))

    def rate_at(self, t: ArrayLike) -> Array:
        """Angular rate a' at times t (s), in rad/s: -2 w0 k k' sn/dn, k'^2 = 1 - m.

        Examples
        --------
        >>> import polhode as ph
        >>> round(float(ph.reference.Pendulum(1.0, 1.0).rate_at(1.0)), 6)
        -0.754964
        """
        sn, _, dn = self._jacobi(t)
        return np.asarray(-self.small_rate * np.sin(self.amplitude) * sn / dn)

    def turned_at(self, t: ArrayLike) -> Array:
        """Rotation angle since t = 0, amplitude - a, in rad.

        Examples
        --------
        >>> import polhode as ph
        >>> round(float(ph.reference.Pendulum(1.0, 1.0).turned_at(1.0)), 6)
        0.399915
        """
        return self.amplitude - self.angle_at(t)
