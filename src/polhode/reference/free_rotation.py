"""The rotation of a free body in closed form: Jacobi's functions, or sine and cosine if two moments are equal.

Moments and rates are along the principal axes, in any order, in kg m2 and rad/s.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import validation
from polhode.equations.quaternions import product
from polhode.errors import InputError
from polhode.reference.elliptic import carlson_rf, elliptic_k, jacobi_sn_cn_dn
from polhode.validation import Array, as_leaves

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class AsymmetricTop:
    """The free rotation of a body with three different moments.

    With J3 the axis about which the angular velocity circles (that of the largest moment if L^2 > 2 E J2, else that of
    the smallest), J2 the middle one and J1 the other:
    w1 = W1 cn(u), w2 = +-W2 sn(u), w3 = +-W3 dn(u), u = rate t + u0.  [Landau and Lifshitz, Mechanics, section 37]
    Every difference below is one of positive terms, so that no digits are lost near the separatrix L^2 = 2 E J2.

    Parameters
    ----------
    moments, rates : array_like
        Principal moments, and the angular velocity in body axes at t = 0.

    Examples
    --------
    >>> from polhode.reference.free_rotation import AsymmetricTop
    >>> top = AsymmetricTop((2.0, 8.0, 4.0), (0.0, 1.0, 0.1))
    >>> round(top.period, 7)
    3.6260886
    """

    moments: Any
    rates: Any

    def __post_init__(self) -> None:
        moments, rates = _check_inputs(self.moments, self.rates)
        if len(set(moments.tolist())) < 3:
            raise InputError(f"moments {moments.tolist()} are not all different: use SymmetricTop")
        if not rates.any():
            raise InputError("a body at rest has no period: give an angular velocity")
        object.__setattr__(self, "moments", moments)
        object.__setattr__(self, "rates", rates)

    @cached_property
    def _beyond_separatrix(self) -> float:
        """L^2 - 2 E J2 = Jc (Jc - Jb) wc^2 - Ja (Jb - Ja) wa^2, moments Ja < Jb < Jc."""
        a, b, c = np.argsort(self.moments)
        j, w = self.moments, self.rates
        return float(j[c] * (j[c] - j[b]) * w[c] ** 2 - j[a] * (j[b] - j[a]) * w[a] ** 2)

    @cached_property
    def _order(self) -> Any:
        """Which axes are 1, 2 and 3."""
        order = np.argsort(self.moments)
        return order if self._beyond_separatrix > 0 else order[::-1]

    @cached_property
    def _invariants(self) -> tuple[float, float]:
        """|L^2 - 2 E J3| and |L^2 - 2 E J1|."""
        (j1, j2, j3), (w1, w2, w3) = self.moments[self._order], self.rates[self._order]
        d12, d13, d23 = abs(j1 - j2), abs(j1 - j3), abs(j2 - j3)
        return float(j1 * d13 * w1**2 + j2 * d23 * w2**2), float(j2 * d12 * w2**2 + j3 * d13 * w3**2)

    @cached_property
    def parameter(self) -> float:
        """m = k^2 of the elliptic functions."""
        j1, j2, j3 = self.moments[self._order]
        a, b = self._invariants
        return float(abs(j1 - j2) * a / (abs(j2 - j3) * b))

    @cached_property
    def complement(self) -> float:
        """1 - m, by its own formula: 0 on the separatrix, where no period is finite."""
        j1, j2, j3 = self.moments[self._order]
        return float(abs(j1 - j3) * abs(self._beyond_separatrix) / (abs(j2 - j3) * self._invariants[1]))

    @cached_property
    def phase_rate(self) -> float:
        """du/dt, in 1/s.  [dzhanibekov: sqrt((Ic - Ib)(L^2 - 2 E Ia)/(Ia Ib Ic))]"""
        j1, j2, j3 = self.moments[self._order]
        return float(np.sqrt(abs(j2 - j3) * self._invariants[1] / (j1 * j2 * j3)))

    @cached_property
    def quarter(self) -> float:
        """K(m): a quarter of the period of sn, in u."""
        return elliptic_k(self.complement)

    @property
    def period(self) -> float:
        """After which the angular velocity in body axes is back, 4 K/rate, in s; infinite on the separatrix."""
        return 4 * self.quarter / self.phase_rate

    @property
    def flip_time(self) -> float:
        """Between two reversals of the rate about the middle axis, 2 K/rate, in s."""
        return 2 * self.quarter / self.phase_rate

    @property
    def first_flip(self) -> float:
        """When the rate about the middle axis first vanishes after the start, in s."""
        if not np.isfinite(self.quarter):
            return np.inf
        ahead = -self._start % (2 * self.quarter)
        return float((ahead or 2 * self.quarter) / self.phase_rate)

    @cached_property
    def _amplitudes(self) -> Array:
        """Of (w1, w2, w3), with the signs that Euler's equations ask for: w2 grows with sn where w1 w3 drives it so."""
        order = self._order
        j1, j2, j3 = self.moments[order]
        a, b = self._invariants
        d13, d23 = abs(j1 - j3), abs(j2 - j3)
        parity = 1.0 if tuple(order) in ((0, 1, 2), (1, 2, 0), (2, 0, 1)) else -1.0
        sign_3 = -1.0 if self.rates[order[2]] < 0 else 1.0
        sign_2 = parity * np.sign(j3 - j1) * sign_3
        return np.array([np.sqrt(a / (j1 * d13)), sign_2 * np.sqrt(a / (j2 * d23)), sign_3 * np.sqrt(b / (j3 * d13))])

    @cached_property
    def _start(self) -> float:
        """u0 = F(phi, m) = s R_F(c^2, d^2, 1), from cn = c, sn = s at the start.  [DLMF 19.25.5]"""
        if self._invariants[0] == 0:
            return 0.0  # a pure spin about axis 3
        c, s = self.rates[self._order][:2] / self._amplitudes[:2]
        c, s = np.array((c, s)) / np.hypot(c, s)
        within_a_quarter = float(s * carlson_rf(c * c, c * c + self.complement * s * s, 1.0))
        return within_a_quarter if c >= 0 else 2 * self.quarter - within_a_quarter

    def rates_at(self, t: ArrayLike) -> Array:
        """The angular velocity in body axes at times t (s): (..., 3), in rad/s."""
        times = np.asarray(validation.check_numbers(t, "t", np.shape(t)))
        if np.count_nonzero(self.rates) == 1:
            return np.broadcast_to(self.rates, (*times.shape, 3)).copy()
        u = self.phase_rate * times + self._start
        if np.isfinite(self.quarter):
            u = u - 4 * self.quarter * np.rint(u / (4 * self.quarter))
        sn, cn, dn = jacobi_sn_cn_dn(u, self.complement)
        found = np.empty((*times.shape, 3))
        found[..., self._order] = np.stack((cn, sn, dn), axis=-1) * self._amplitudes
        return found


@dataclass(frozen=True)
class SymmetricTop:
    """The free rotation of a body with two equal moments, or three.

    w precesses about the symmetry axis at (I3/I1 - 1) w3 in the body; in the world the axis turns about L at L/I1.
    [seed 003 section 4; seed 004 section 17.5]

    Examples
    --------
    >>> from polhode.reference.free_rotation import SymmetricTop
    >>> SymmetricTop((2.0, 2.0, 8.0), (1.0, 0.0, 1.0)).body_precession
    3.0
    """

    moments: Any
    rates: Any

    def __post_init__(self) -> None:
        moments, rates = _check_inputs(self.moments, self.rates)
        if len(set(moments.tolist())) == 3:
            raise InputError(f"moments {moments.tolist()} are all different: use AsymmetricTop")
        object.__setattr__(self, "moments", moments)
        object.__setattr__(self, "rates", rates)

    @cached_property
    def axis(self) -> int:
        """Which of the body's axes is the symmetry axis."""
        a, b, c = self.moments
        return 2 if a == b else 0 if b == c else 1

    @property
    def _transverse(self) -> float:
        return float(self.moments[self.axis - 1])

    @property
    def body_precession(self) -> float:
        """(I3/I1 - 1) w3, in rad/s: how fast w goes round the symmetry axis, seen in the body."""
        return float((self.moments[self.axis] / self._transverse - 1) * self.rates[self.axis])

    @property
    def space_precession(self) -> float:
        """|L|/I1, in rad/s: how fast the symmetry axis goes round L, seen in the world."""
        return float(np.linalg.norm(self.moments * self.rates) / self._transverse)

    def rates_at(self, t: ArrayLike) -> Array:
        """The angular velocity in body axes at times t (s): (..., 3), in rad/s."""
        angle = self.body_precession * np.asarray(validation.check_numbers(t, "t", np.shape(t)))
        i, j, k = (self.axis + 1) % 3, (self.axis + 2) % 3, self.axis
        c, s = np.cos(angle), np.sin(angle)
        found = np.empty((*angle.shape, 3))
        found[..., i] = self.rates[i] * c - self.rates[j] * s
        found[..., j] = self.rates[i] * s + self.rates[j] * c
        found[..., k] = self.rates[k]
        return found

    def quaternions_at(self, t: ArrayLike) -> Array:
        """The orientation (w, x, y, z), body to world, at times t, from body axes along the world's at t = 0.

        A turn about L at L/I1 after a turn about the symmetry axis at -body_precession.
        """
        times = np.asarray(validation.check_numbers(t, "t", np.shape(t)))
        spin = self.moments * self.rates
        size = float(np.linalg.norm(spin))
        along_l = as_leaves(spin / size) if size > 0 else (1.0, 0.0, 0.0)
        symmetry = as_leaves(np.eye(3)[self.axis])
        turned = product(
            _axis_quaternion(along_l, self.space_precession * times),
            _axis_quaternion(symmetry, -self.body_precession * times),
        )
        return np.stack(np.broadcast_arrays(*turned), axis=-1)


def axis_precession(moments: Any, rates: ArrayLike) -> Array:
    """How fast axis 3 goes round L while the body has these rates (..., 3): L (I1 w1^2 + I2 w2^2)/(L1^2 + L2^2), rad/s.

    It is phi' of Euler's angles about L, whose direction in the body has the components sin(theta) sin(psi),
    sin(theta) cos(psi) and cos(theta).  [Landau and Lifshitz, Mechanics, section 37]

    Examples
    --------
    >>> from polhode.reference.free_rotation import axis_precession
    >>> round(float(axis_precession((2.0, 2.0, 8.0), (1.0, 0.0, 1.0))), 7)
    4.1231056
    """
    j, w = np.asarray(moments, dtype=float), np.asarray(rates, dtype=float)
    length = np.linalg.norm(j * w, axis=-1)
    return np.asarray(length * (w[..., :2] ** 2 @ j[:2]) / (w[..., :2] ** 2 @ j[:2] ** 2))


def _axis_quaternion(axis: Any, angle: Array) -> Any:
    """The quaternion of a turn about a unit axis."""
    s = np.sin(angle / 2)
    return (np.cos(angle / 2), s * axis[0], s * axis[1], s * axis[2])


def _check_inputs(moments: Any, rates: Any) -> tuple[Array, Array]:
    j, w = validation.check_numbers(moments, "moments", (3,)), validation.check_numbers(rates, "rates", (3,))
    if j.ndim != 1 or w.ndim != 1:
        raise InputError("the closed form is for one body: give three moments and three rates")
    if not (j > 0).all():
        raise InputError(f"moments must be greater than 0 kg m2, but are {j.tolist()}")
    return j, w
