"""Two bodies on a spring, along the line that joins them, in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import validation
from polhode.errors import InputError
from polhode.validation import Array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["SpringPair"]


@dataclass(frozen=True)
class SpringPair:
    """Two nonrotating bodies joined at their centers: the distance oscillates like one body of reduced mass.

    mu = m1 m2/(m1 + m2), d'' = -(k/mu)(d - length); the center of mass moves uniformly.  Valid while d > 0.

    Parameters
    ----------
    masses : array_like
        Two, in kg.
    stiffness, length : float
        Stiffness and natural length of the spring, in N/m and m.
    positions, velocities : array_like
        Two numbers along the line, in m and m/s; the second body ahead of the first.

    Examples
    --------
    >>> from polhode.reference.spring import SpringPair
    >>> round(SpringPair((1.0, 2.0), 6.0, 1.0, (0.0, 1.5), (0.0, 0.0)).period, 9)
    2.094395102
    """

    masses: Any
    stiffness: float
    length: float
    positions: Any
    velocities: Any

    def __post_init__(self) -> None:
        for name in ("masses", "positions", "velocities"):
            object.__setattr__(self, name, validation.check_numbers(getattr(self, name), name, (2,)))
        validation.check_positive(self.stiffness, "stiffness", "N/m")
        if not (self.masses > 0).all():
            raise InputError(f"masses must be greater than 0 kg, but are {self.masses.tolist()}")
        if self.amplitude >= self.length:
            raise InputError(
                f"the spring oscillates by {self.amplitude:g} m about its length {self.length:g} m: the bodies would "
                "collide, and the closed form ends there. Start with less stretch or less speed."
            )

    @property
    def reduced_mass(self) -> float:
        """m1 m2/(m1 + m2), in kg."""
        return float(self.masses.prod() / self.masses.sum())

    @property
    def angular_frequency(self) -> float:
        """sqrt(k/mu), in rad/s."""
        return float(np.sqrt(self.stiffness / self.reduced_mass))

    @property
    def period(self) -> float:
        """2 pi sqrt(mu/k), in s."""
        return 2 * np.pi / self.angular_frequency

    @property
    def amplitude(self) -> float:
        """Largest extension, in m."""
        stretch, rate = self._stretch
        return float(np.hypot(stretch, rate / self.angular_frequency))

    @property
    def _stretch(self) -> tuple[float, float]:
        """Initial extension and its rate."""
        return float(np.diff(self.positions)[0] - self.length), float(np.diff(self.velocities)[0])

    def stretch_at(self, t: ArrayLike) -> Array:
        """Extension of the spring at times t (s), in m.

        Examples
        --------
        >>> import polhode as ph
        >>> pair = ph.reference.SpringPair((1.0, 2.0), 6.0, 1.0, (0.0, 1.5), (0.0, 0.0))
        >>> round(float(pair.stretch_at(pair.period / 2)), 9)
        -0.5
        """
        w, (stretch, rate) = self.angular_frequency, self._stretch
        angle = w * np.asarray(validation.check_numbers(t, "t", np.shape(t)))
        return np.asarray(stretch * np.cos(angle) + rate / w * np.sin(angle))

    def positions_at(self, t: ArrayLike) -> Array:
        """Both positions along the line at times t (s): (..., 2), in m.

        Examples
        --------
        >>> import polhode as ph
        >>> pair = ph.reference.SpringPair((1.0, 2.0), 6.0, 1.0, (0.0, 1.5), (0.0, 0.0))
        >>> pair.positions_at(pair.period / 2).round(9).tolist()
        [0.666666667, 1.166666667]
        """
        times = np.asarray(validation.check_numbers(t, "t", np.shape(t)))
        share = self.masses / self.masses.sum()
        center = share @ self.positions + times * (share @ self.velocities)
        distance = self.length + self.stretch_at(times)
        return np.stack((center - share[1] * distance, center + share[0] * distance), axis=-1)
