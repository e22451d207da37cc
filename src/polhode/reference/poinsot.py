"""The Poinsot construction of free rotation: the circles of the herpolhode and the rolling cones.

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


def herpolhode_radii(moments: Any, rates: Any) -> tuple[float, float]:
    """Radii of the two circles around L between which the tip of w moves in the invariable plane, in rad/s.

    With D_i = L^2 - 2 E I_i they are sqrt(-D_j D_k/(I_j I_k))/L, where w_i = 0 and the component of w along L is 2 E/L.
    For one of the two, i is the intermediate axis; for the other, the axis of largest or smallest moment that w does
    not circle.

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
    """Body and space cone of a freely rotating symmetric body: half-angles in rad.

    Both contain w.  The space cone is fixed around L; the body cone, around the symmetry axis, rolls on it: for an
    oblate body it encloses the space cone, for a prolate one it rolls outside.  [Tops report, section 4]
    """

    body: float
    """Acute angle between w and the symmetry axis."""
    tilt: float
    """Acute angle theta between L and the symmetry axis."""

    @property
    def space(self) -> float:
        """Angle between w and L."""
        return abs(self.body - self.tilt)


def cones(moments: Any, rates: Any, axis: int) -> Cones:
    """Cones of a body that is symmetric about principal axis 0, 1 or 2.

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
            f"the moments normal to axis {axis} differ: only a body that is symmetric about it has rolling cones"
        )
    across = float(np.hypot(*np.delete(w, axis)))
    along = abs(float(w[axis]))
    return Cones(float(np.arctan2(across, along)), float(np.arctan2(a * across, j[axis] * along)))


def _scale_inputs(moments: Any, rates: Any) -> tuple[Array, Array, float]:
    """Moments over the largest, rates over the fastest (so that no square overflows), and the fastest, in rad/s."""
    j, w = argument_checks.positive_vector(moments, "moments", "kg m2"), validation.check_vector(rates, "rates", "body")
    fastest = float(np.abs(w).max())
    if fastest == 0:
        raise InputError("a body at rest has no axis of rotation: give an angular velocity")
    return j / j.max(), w / fastest, fastest
