"""Poinsot's picture of free rotation: the invariable plane, the herpolhode's circles, the rolling cones, small wobbles.

Moments and rates are along the principal axes, in kg m2 and rad/s.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode import validation
from polhode.errors import InputError
from polhode.reference import argument_checks
from polhode.validation import Array


def invariable_plane_distance(moments: Any, rates: Any) -> float:
    """2 E/L, in rad/s: how far the plane L . w = 2 E, in which the tip of w stays, is from the centre.

    The ellipsoid of all w with the same energy, whose semi-axes are sqrt(2 E/I), touches that plane at w.

    Examples
    --------
    >>> from polhode.reference.poinsot import plane_distance
    >>> plane_distance((2.0, 2.0, 2.0), (0.0, 0.6, 0.8))
    1.0
    """
    j, w, fastest = _scale_inputs(moments, rates)
    return float((j * w**2).sum() / np.linalg.norm(j * w)) * fastest


def herpolhode_radii(moments: Any, rates: Any) -> tuple[float, float]:
    """The radii of the two circles about L between which the tip of w runs in the invariable plane, in rad/s.

    With D_i = L^2 - 2 E I_i they are sqrt(-D_j D_k/(I_j I_k))/L: where w_i = 0, and w has a component along L of 2 E/L.
    One of the two has i the middle axis; in the other i is the axis of the largest or of the smallest moment,
    whichever w does not circle.

    Examples
    --------
    >>> from polhode.reference.poinsot import herpolhode_radii
    >>> [round(radius, 9) for radius in herpolhode_radii((2.0, 2.0, 8.0), (1.0, 0.0, 1.0))]
    [0.727606875, 0.727606875]
    """
    j, w, fastest = _scale_inputs(moments, rates)
    small, middle, large = np.argsort(j, kind="stable")
    momentum = float(np.linalg.norm(j * w))
    beyond = np.array([(j * (j - one) * w**2).sum() for one in j])
    other = small if beyond[middle] >= 0 else large
    found = []
    for absent in (middle, other):
        a, b = (i for i in range(3) if i != absent)
        both = np.sqrt(np.abs(beyond[[a, b]]) / j[[a, b]]) if beyond[a] * np.sign(beyond[b]) < 0 else np.zeros(2)
        found.append(float(both[0] * both[1] / momentum) * fastest)
    return min(found), max(found)


@dataclass(frozen=True)
class Cones:
    """The cones that roll on each other while a symmetric body turns freely: half-angles in rad.

    w lies on both.  The space cone is fixed, about L; the body cone is fixed in the body, about its symmetry axis, and
    rolls on it.  Of a flat (oblate) body the body cone holds the space cone within, of a long (prolate) one it rolls
    outside.  [seed 003 section 4; seed 004 eq. 17.47]
    """

    body: float
    """Between w and the symmetry axis, on its side of w."""
    tilt: float
    """Between L and the symmetry axis: theta."""

    @property
    def space(self) -> float:
        """Between w and L."""
        return abs(self.body - self.tilt)


def cones(moments: Any, rates: Any, axis: int) -> Cones:
    """The cones of a body that is symmetric about the principal axis 0, 1 or 2.

    Examples
    --------
    >>> import numpy as np
    >>> from polhode.reference.poinsot import cones
    >>> found = cones((2.0, 2.0, 8.0), (1.0, 0.0, 1.0), axis=2)
    >>> [round(float(np.degrees(angle)), 6) for angle in (found.body, found.tilt, found.space)]
    [45.0, 14.036243, 30.963757]
    """
    j, w, _ = _scale_inputs(moments, rates)
    axis = argument_checks.integer_in_range(axis, "axis", range(3))
    a, b = np.delete(j, axis)
    if a != b:
        raise InputError(
            f"the moments across axis {axis} differ: cones roll on each other only where a body is symmetric about it"
        )
    across = float(np.hypot(*np.delete(w, axis)))
    along = abs(float(w[axis]))
    return Cones(float(np.arctan2(across, along)), float(np.arctan2(a * across, j[axis] * along)))


def wobble_rate_squared(moments: Any, axis: int) -> float:
    """What the rate of a small wobble is for a unit spin about a principal axis, squared: (I - Ia)(I - Ib)/(Ia Ib).

    Positive about the axes of the largest and of the smallest moment: the wobble swings at its square root.  Negative
    about the middle axis: there it grows as exp(rate t), by the square root of what is missing.  [seed 003 section 6]

    Examples
    --------
    >>> from polhode.reference.poinsot import small_wobble
    >>> small_wobble((2.0, 8.0, 4.0), axis=2)
    -0.5
    """
    j = argument_checks.positive_vector(moments, "moments", "kg m2")
    one = j[argument_checks.integer_in_range(axis, "axis", range(3))]
    a, b = np.delete(j, axis)
    return float((one - a) / a * ((one - b) / b))


def _scale_inputs(moments: Any, rates: Any) -> tuple[Array, Array, float]:
    """Moments over the largest, rates over the fastest, so that no square overflows, and the fastest, in rad/s."""
    j, w = argument_checks.positive_vector(moments, "moments", "kg m2"), validation.check_vector(rates, "rates", "body")
    fastest = float(np.abs(w).max())
    if fastest == 0:
        raise InputError("a body at rest has no axis of rotation: give an angular velocity")
    return j / j.max(), w / fastest, fastest
