"""Free rotation in closed form: Jacobi's elliptic functions, or sine and cosine if two moments are equal.

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
    """Free rotation of a body with three different moments.

    With J3 the moment about the axis that the angular velocity circles (the largest if L^2 > 2 E J2, else the
    smallest), J2 the intermediate one and J1 the other:
    w1 = W1 cn(u), w2 = +-W2 sn(u), w3 = +-W3 dn(u), u = rate t + u0.  [Landau and Lifshitz, section 37]
    The formulas avoid cancellation near the separatrix L^2 = 2 E J2.

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
        """Indices of axes 1, 2 and 3."""
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
        """1 - m, computed directly: 0 on the separatrix, where the period is infinite."""
        j1, j2, j3 = self.moments[self._order]
        return float(abs(j1 - j3) * abs(self._beyond_separatrix) / (abs(j2 - j3) * self._invariants[1]))

    @cached_property
    def phase_rate(self) -> float:
        """du/dt = sqrt((Ic - Ib)(L^2 - 2 E Ia)/(Ia Ib Ic)), or with a and c exchanged, in 1/s."""
        j1, j2, j3 = self.moments[self._order]
        return float(np.sqrt(abs(j2 - j3) * self._invariants[1] / (j1 * j2 * j3)))

    @cached_property
    def quarter(self) -> float:
        """K(m), the quarter period of sn in u."""
        return elliptic_k(self.complement)

    @property
    def period(self) -> float:
        """Period of the angular velocity in body axes, 4 K/rate, in s; infinite on the separatrix."""
        return 4 * self.quarter / self.phase_rate

    @property
    def flip_time(self) -> float:
        """Time between two reversals of the rate about the intermediate axis, 2 K/rate, in s."""
        return 2 * self.quarter / self.phase_rate

    @property
    def first_flip(self) -> float:
        """Time of the first zero of the rate about the intermediate axis, in s."""
        if not np.isfinite(self.quarter):
            return np.inf
        ahead = -self._start % (2 * self.quarter)
        return float((ahead or 2 * self.quarter) / self.phase_rate)

    @cached_property
    def _amplitudes(self) -> Array:
        """Amplitudes of (w1, w2, w3), with the signs required by Euler's equations."""
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
        """u0 = F(phi, m) = s R_F(c^2, d^2, 1), from the initial cn = c, sn = s.  [DLMF 19.25.5]"""
        if self._invariants[0] == 0:
            return 0.0  # a pure spin about axis 3
        c, s = self.rates[self._order][:2] / self._amplitudes[:2]
        c, s = np.array((c, s)) / np.hypot(c, s)
        within_a_quarter = float(s * carlson_rf(c * c, c * c + self.complement * s * s, 1.0))
        return within_a_quarter if c >= 0 else 2 * self.quarter - within_a_quarter

    def rates_at(self, t: ArrayLike) -> Array:
        """Angular velocity in body axes at times t (s): (..., 3), in rad/s.

        Examples
        --------
        >>> import polhode as ph
        >>> top = ph.reference.AsymmetricTop((2.0, 8.0, 4.0), (0.0, 1.0, 0.1))
        >>> top.rates_at(top.period / 4).round(7).tolist()
        [0.1154701, 1.000833, 0.0]
        """
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
    """Free rotation of a body with two or three equal moments.

    In body axes w precesses about the symmetry axis at (I3/I1 - 1) w3; in world axes the axis precesses about L at
    L/I1.  [Tops report, section 4; Christian 2011, section 17.5]

    Parameters
    ----------
    moments, rates : array_like
        Principal moments, and the angular velocity in body axes at t = 0.

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
        """Index of the symmetry axis."""
        a, b, c = self.moments
        return 2 if a == b else 0 if b == c else 1

    @property
    def _transverse(self) -> float:
        return float(self.moments[self.axis - 1])

    @property
    def body_precession(self) -> float:
        """Precession rate of w about the symmetry axis in body axes, (I3/I1 - 1) w3, in rad/s."""
        return float((self.moments[self.axis] / self._transverse - 1) * self.rates[self.axis])

    @property
    def space_precession(self) -> float:
        """Precession rate of the symmetry axis about L in world axes, |L|/I1, in rad/s."""
        return float(np.linalg.norm(self.moments * self.rates) / self._transverse)

    def rates_at(self, t: ArrayLike) -> Array:
        """Angular velocity in body axes at times t (s): (..., 3), in rad/s.

        Examples
        --------
        >>> import polhode as ph
        >>> ph.reference.SymmetricTop((2.0, 2.0, 8.0), (1.0, 0.0, 1.0)).rates_at(0.1).round(6).tolist()
        [0.955336, 0.29552, 1.0]
        """
        angle = self.body_precession * np.asarray(validation.check_numbers(t, "t", np.shape(t)))
        i, j, k = (self.axis + 1) % 3, (self.axis + 2) % 3, self.axis
        c, s = np.cos(angle), np.sin(angle)
        found = np.empty((*angle.shape, 3))
        found[..., i] = self.rates[i] * c - self.rates[j] * s
        found[..., j] = self.rates[i] * s + self.rates[j] * c
        found[..., k] = self.rates[k]
        return found

    def quaternions_at(self, t: ArrayLike) -> Array:
        """Orientation (w, x, y, z), body to world, at times t (s): (..., 4); body and world axes coincide at t = 0.

        A rotation about the symmetry axis at -body_precession, followed by one about L at L/I1.

        Examples
        --------
        >>> import polhode as ph
        >>> ph.reference.SymmetricTop((2.0, 2.0, 8.0), (1.0, 0.0, 1.0)).quaternions_at(0.1).round(6).tolist()
        [0.99751, 0.049089, 0.007419, 0.050083]
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


def _axis_quaternion(axis: Any, angle: Array) -> Any:
    """Quaternion of a rotation about a unit axis."""
    s = np.sin(angle / 2)
    return (np.cos(angle / 2), s * axis[0], s * axis[1], s * axis[2])


def _check_inputs(moments: Any, rates: Any) -> tuple[Array, Array]:
    j, w = validation.check_numbers(moments, "moments", (3,)), validation.check_numbers(rates, "rates", (3,))
    if j.ndim != 1 or w.ndim != 1:
        raise InputError("the closed form is for one body: give three moments and three rates")
    if not (j > 0).all():
        raise InputError(f"moments must be greater than 0 kg m2, but are {j.tolist()}")
    return j, w
