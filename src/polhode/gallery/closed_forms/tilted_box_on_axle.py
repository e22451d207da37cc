"""A box on a shaft that is not a principal axis: the bearing torque in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import validation
from polhode.reference import argument_checks
from polhode.validation import Array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class TiltedBox:
    """A box of sides (a, b, c), tilted by `tilt` about x, on a shaft along z that rotates at `rate`.

    Its tensor rotates with it, I(t) = R I R^T, and L = I(t) w precesses about the shaft: the bearings must exert w x L,
    which rotates with the box.  SI units and rad.  [Christian 2011, section 17.4, eq. 17.32]

    Examples
    --------
    >>> from math import degrees, radians
    >>> from polhode.gallery.closed_forms.tilted_box_on_axle import TiltedBox
    >>> box = TiltedBox((0.1, 0.4, 0.9), 10.0, radians(20), 5.0)
    >>> round(box.torque, 7), round(box.angular_momentum, 7), round(degrees(box.angle_to_shaft), 5)
    (-4.3522078, 1.344841, 40.33421)
    """

    sides: Any
    mass: float
    tilt: float
    rate: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "sides", argument_checks.positive_vector(self.sides, "sides", "m"))
        object.__setattr__(self, "mass", argument_checks.positive_number(self.mass, "mass", "kg"))
        for name in ("tilt", "rate"):
            object.__setattr__(self, name, validation.check_number(getattr(self, name), name))

    @property
    def moments(self) -> Array:
        """Principal moments, m (b^2 + c^2)/12 and so on."""
        squares = self.sides**2
        return np.asarray(self.mass * (squares.sum() - squares) / 12)

    @property
    def torque(self) -> float:
        """Bearing torque m w^2 (b^2 - c^2) sin(2 tilt)/24, along the rotating x axis of the box."""
        _, b, c = self.sides
        return float(self.mass * self.rate**2 * (b**2 - c**2) * np.sin(2 * self.tilt) / 24)

    @property
    def angular_momentum(self) -> float:
        """|L| = w sqrt((I2 sin tilt)^2 + (I3 cos tilt)^2): the same in body and world axes."""
        return float(np.hypot(*self._across_and_along))

    @property
    def angle_to_shaft(self) -> float:
        """Angle between L and the shaft."""
        across, along = self._across_and_along
        return float(np.arctan2(abs(across), along))

    @property
    def _across_and_along(self) -> tuple[float, float]:
        """L normal to the shaft (along the untilted y) and along it."""
        _, i2, i3 = self.moments
        c, s = np.cos(self.tilt), np.sin(self.tilt)
        return float(self.rate * (i2 - i3) * s * c), float(self.rate * (i2 * s * s + i3 * c * c))

    def inertia_at(self, t: ArrayLike) -> Array:
        """R I R^T in world axes at times t, written out: (..., 3, 3)."""
        i1, i2, i3 = self.moments
        c, s = np.cos(self.tilt), np.sin(self.tilt)
        yy, zz, yz = i2 * c * c + i3 * s * s, i2 * s * s + i3 * c * c, (i2 - i3) * s * c
        angle = self.rate * argument_checks.finite_array(t, "t")
        cos, sin = np.cos(angle), np.sin(angle)
        xy = (i1 - yy) * sin * cos
        rows = (
            (i1 * cos**2 + yy * sin**2, xy, -yz * sin),
            (xy, i1 * sin**2 + yy * cos**2, yz * cos),
            (-yz * sin, yz * cos, np.full_like(angle, zz)),
        )
        return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
