"""A pendulum let go at rest, in closed form: also what a body does that a force of fixed direction turns."""

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
    """a'' = -w0^2 sin(a), at rest at a = amplitude when t = 0: sin(a/2) = k cd(w0 t, m), k = sin(amplitude/2), m = k^2.

    A force F of fixed direction at a distance d from the centre of mass of a block turns it like that, with
    w0^2 = F d/I: the arm swings about the direction of the force.  [seed 000 section 5.5]

    Parameters
    ----------
    small_rate : float
        w0, the angular frequency of small swings, in rad/s.
    amplitude : float
        The angle from the place of rest, in rad, more than 0 and less than pi.

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
                f"amplitude is {self.amplitude:g} rad: a pendulum that is let go swings only if it is more than 0 and "
                "less than pi"
            )

    @property
    def parameter(self) -> float:
        """m = sin(amplitude/2)^2 of the elliptic functions."""
        return float(np.sin(self.amplitude / 2) ** 2)

    @property
    def _complement(self) -> float:
        """1 - m, with all its digits."""
        return float(np.cos(self.amplitude / 2) ** 2)

    @property
    def period(self) -> float:
        """4 K(m)/w0, in s; half of it passes until the first rest on the other side."""
        return 4 * elliptic_k(self._complement) / self.small_rate

    def _jacobi(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        return jacobi_sn_cn_dn(self.small_rate * argument_checks.finite_array(t, "t"), self._complement)

    def angle_at(self, t: ArrayLike) -> Array:
        """a at times t (s), in rad."""
        _, cn, _ = self._jacobi(t)
        # sin(a/2) = k cn/dn and cos(a/2) = k'/dn: the arc tangent keeps its digits where the sine is close to 1.
        return np.asarray(2 * np.arctan2(np.sin(self.amplitude / 2) * cn, np.cos(self.amplitude / 2)))

    def rate_at(self, t: ArrayLike) -> Array:
        """a' at times t (s), in rad/s: -2 w0 k k' sn/dn, k'^2 = 1 - m."""
        sn, _, dn = self._jacobi(t)
        return np.asarray(-self.small_rate * np.sin(self.amplitude) * sn / dn)

    def turned_at(self, t: ArrayLike) -> Array:
        """By how much it has turned since the start: amplitude - a, in rad."""
        return self.amplitude - self.angle_at(t)
