"""Libration of a satellite about the vertical in the plane of its circular orbit, by the gravity gradient."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import validation
from polhode.errors import InputError
from polhode.reference import argument_checks
from polhode.reference.pendulum import Pendulum
from polhode.validation import Array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Libration:
    """Pitch of a satellite released at rest at `amplitude` from the vertical.

    I_pitch p'' = -(3/2) n^2 (I_roll - I_yaw) sin(2 p), n^2 = gm/r^3: twice the pitch is the angle of a pendulum.

    Parameters
    ----------
    moments : array_like
        About the roll (along track), pitch (normal to the orbit) and yaw axis (vertical), in kg m2; I_roll > I_yaw.
    orbital_rate : float
        n, in rad/s.
    amplitude : float
        In rad, more than 0 and less than pi/2.

    Examples
    --------
    >>> from polhode.gallery.closed_forms.libration import Libration
    >>> cubesat = Libration((0.1**2 + 0.34**2, 0.1**2 + 0.34**2, 2 * 0.1**2), 1.0, 0.1)
    >>> round(cubesat.small_rate, 7)
    1.5881728
    """

    moments: Any
    orbital_rate: float
    amplitude: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "moments", argument_checks.positive_vector(self.moments, "moments", "kg m2"))
        object.__setattr__(
            self, "orbital_rate", argument_checks.positive_number(self.orbital_rate, "orbital_rate", "rad/s")
        )
        object.__setattr__(self, "amplitude", validation.check_number(self.amplitude, "amplitude"))
        if not 0 < self.amplitude < pi / 2:
            raise InputError(
                f"amplitude is {self.amplitude:g} rad: it librates about the vertical only from more than 0 "
                "and less than pi/2"
            )
        roll, _, yaw = self.moments
        if not roll > yaw:
            raise InputError(
                f"the moment about the vertical, {yaw:g} kg m2, is not less than {roll:g} kg m2, the one about the "
                "track: there is no restoring torque. Orient its long axis vertically."
            )

    @property
    def small_rate(self) -> float:
        """Angular frequency of small librations, n sqrt(3 (I_roll - I_yaw)/I_pitch), in rad/s."""
        roll, pitch, yaw = self.moments
        return float(self.orbital_rate * np.sqrt(3 * (roll - yaw) / pitch))

    @property
    def _pendulum(self) -> Pendulum:
        return Pendulum(self.small_rate, 2 * self.amplitude)

    @property
    def period(self) -> float:
        """Period 4 K(m)/small_rate, m = sin(amplitude)^2, in s."""
        return self._pendulum.period

    def pitch_at(self, t: ArrayLike) -> Array:
        """Pitch at times t (s), in rad."""
        return self._pendulum.angle_at(t) / 2
