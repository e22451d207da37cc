"""A ball thrown straight up on a rotating platform, in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from polhode import validation
from polhode.reference import argument_checks
from polhode.validation import Array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class PlatformThrow:
    """A throw from (radius, 0, 0) with `speed` along z relative to a platform that rotates about z at `rate`.

    On the ground x = r, y = W r t, z = u t - g t^2/2, while the platform's axes rotate by W t.  SI units.
    [Christian 2011, project 17.1]

    Examples
    --------
    >>> from polhode.gallery.closed_forms.turning_platform import PlatformThrow
    >>> throw = PlatformThrow(2.0, 10.0, 1.0, 9.80665)
    >>> throw.on_platform_at(throw.duration)[:2].round(7).tolist(), throw.energy
    ([2.7357629, -3.6266706], 48.0)
    """

    radius: float
    speed: float
    rate: float
    g: float

    def __post_init__(self) -> None:
        for name in ("radius", "rate"):
            object.__setattr__(self, name, validation.check_number(getattr(self, name), name))
        for name, unit in (("speed", "m/s"), ("g", "m/s2")):
            object.__setattr__(self, name, argument_checks.positive_number(getattr(self, name), name, unit))

    @property
    def duration(self) -> float:
        """Time of flight, in s."""
        return 2 * self.speed / self.g

    @property
    def energy(self) -> float:
        """Conserved energy on the platform, v^2/2 + g z - W^2 rho^2/2, in J/kg."""
        return self.speed**2 / 2 - (self.rate * self.radius) ** 2 / 2

    def on_ground_at(self, t: ArrayLike) -> Array:
        """Position in the ground frame at times t: (..., 3)."""
        times = argument_checks.finite_array(t, "t")
        height = times * (self.speed - self.g * times / 2)
        return np.stack((np.full_like(times, self.radius), self.rate * self.radius * times, height), axis=-1)

    def on_platform_at(self, t: ArrayLike) -> Array:
        """Position in the platform frame at times t: (..., 3)."""
        x, y, z = np.moveaxis(self.on_ground_at(t), -1, 0)
        angle = self.rate * np.asarray(t)
        c, s = np.cos(angle), np.sin(angle)
        return np.stack((c * x + s * y, c * y - s * x, z), axis=-1)

    def platform_acceleration_at(self, t: ArrayLike) -> Array:
        """Acceleration in the platform frame at times t: (..., 3).

        x + i y = r (1 + i W t) e^(-i W t) has the second derivative r W^2 (1 - i W t) e^(-i W t).
        """
        angle = self.rate * argument_checks.finite_array(t, "t")
        across = self.radius * self.rate**2 * (1 - 1j * angle) * np.exp(-1j * angle)
        return np.stack((across.real, across.imag, np.full_like(angle, -self.g)), axis=-1)
