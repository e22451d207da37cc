"""Free rotation of any body to any number of digits: the reference for all free rotation.

The regime (which axis is circled, the distance from the separatrix, equal moments) is decided in exact fractions.  The
rest is mpmath, with as many guard digits as the regime requires.

Axes 1, 2, 3 below: 3 is the axis that the angular velocity circles (that of the largest moment if L^2 > 2 E J2, else
that of the smallest), 2 the intermediate one; their signs are chosen so that w1 >= 0 and w3 > 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from importlib import import_module
from typing import Any, NamedTuple

from polhode.errors import InputError, PolhodeError
from polhode.reference.multiprecision import (
    Mpf,
    agm_sequence,
    decimal_exponent,
    elliptic_f,
    jacobi_amplitude,
    quaternion_product,
    sign_of,
    theta4,
    theta4_log_derivative,
    to_fractions,
    to_mpf,
)

__all__ = ["free_rotation"]

GUARD_DIGITS = 15
"""Digits beyond those requested, in the easiest regime."""


def free_rotation(
    moments: Sequence[Any],
    angular_velocity_body: Sequence[Any],
    quaternion_wxyz: Sequence[Any],
    t: Any,
    digits: int = 50,
) -> tuple[tuple[Mpf, Mpf, Mpf, Mpf], tuple[Mpf, Mpf, Mpf]]:
    """Orientation and angular velocity of a free body at time t.

    Parameters
    ----------
    moments, angular_velocity_body : sequence of three numbers
        Along the principal axes, in any order, in kg m2 and rad/s.
    quaternion_wxyz : sequence of four numbers
        Initial orientation, principal axes to world, scalar first, of any nonzero norm.
    t : number
        Time in s, positive or negative.
    digits : int, optional
        Absolute accuracy of the quaternion, and relative accuracy of the angular velocity.

    Numbers are floats, integers, fractions, mpmath numbers or decimal strings, all taken exactly.

    Returns
    -------
    quaternion_wxyz, angular_velocity_body : tuples of mpmath numbers
        The quaternion may have either sign.

    Examples
    --------
    >>> from polhode.reference import precise
    >>> q, w = precise.free_rotation(("0.6", "0.8", "1"), (3, "0.5", "-0.9"), (1, 0, 0, 0), 10, digits=30)
    >>> import mpmath
    >>> mpmath.nstr(w[0], 30)
    '2.9432708475303458928785841364'
    """
    try:
        mpmath = import_module("mpmath")
    except ImportError:
        raise PolhodeError("multiprecision needs mpmath, which is not installed: pip install mpmath") from None
    J, w, q, time = (
        to_fractions(moments, 3),
        to_fractions(angular_velocity_body, 3),
        to_fractions(quaternion_wxyz, 4),
        to_fractions([t], 1)[0],
    )
    if min(J) <= 0:
        raise InputError(f"moments must be greater than 0 kg m2, but are {[float(x) for x in J]}")
    if not any(q):
        raise InputError("the quaternion is zero, which is not an orientation")
    digits = int(digits)
    turn_digits = max(0, decimal_exponent(max(abs(x) for x in w) * time * max(J) / min(J)))
    if sum(x != 0 for x in w) <= 1 or time == 0:
        work, move = digits + GUARD_DIGITS + turn_digits, _rotate_steadily
    elif len(set(J)) < 3:
        work, move = digits + GUARD_DIGITS + turn_digits + max(0, decimal_exponent(max(J) / min(J))), _rotate_symmetric
    else:
        top = _order_axes(J, w)
        move = _rotate_on_separatrix if top.beyond == 0 else _rotate_asymmetric
        work = digits + GUARD_DIGITS + turn_digits + _lost_digits(top)
    with mpmath.workdps(work):
        mp = mpmath.mp
        turned, w_end = move(mp, J, w, time)
        size = mp.sqrt(to_mpf(mp, sum(x * x for x in q)))
        start = [to_mpf(mp, x) / size for x in q]
        end = quaternion_product(start, turned)
    with mpmath.workdps(digits):
        a, b, c, d = (+x for x in end)
        x, y, z = (+x for x in w_end)
        return (a, b, c, d), (x, y, z)


class _ExactTop(NamedTuple):
    """A body with three different moments, not spinning about a principal axis, in exact fractions."""

    order: tuple[int, int, int]
    """Indices of the body axes 1, 2 and 3."""
    senses: tuple[int, int, int]
    """+1 or -1: signs of axes 1, 2, 3 relative to the body axes."""
    J: tuple[Fraction, ...]
    w: tuple[Fraction, ...]
    beyond: Fraction
    """|L^2 - 2 E J2|: 0 on the separatrix."""
    a: Fraction
    """|L^2 - 2 E J3| = J1 |J1 - J3| w1^2 + J2 |J2 - J3| w2^2"""
    b: Fraction
    """|L^2 - 2 E J1| = J2 |J1 - J2| w2^2 + J3 |J1 - J3| w3^2"""

    @property
    def parameter(self) -> Fraction:
        """m = |J1 - J2| a/(|J2 - J3| b)  [Landau and Lifshitz, eq. 37.11]"""
        j1, j2, j3 = self.J
        return abs(j1 - j2) * self.a / (abs(j2 - j3) * self.b)

    @property
    def complement(self) -> Fraction:
        """1 - m = |J1 - J3| |L^2 - 2 E J2|/(|J2 - J3| b)"""
        j1, j2, j3 = self.J
        return abs(j1 - j3) * self.beyond / (abs(j2 - j3) * self.b)

    @property
    def rate_squared(self) -> Fraction:
        """(du/dt)^2 = |J2 - J3| b/(J1 J2 J3)  [Landau and Lifshitz, eq. 37.9]"""
        j1, j2, j3 = self.J
        return abs(j2 - j3) * self.b / (j1 * j2 * j3)

    @property
    def start_cosine_squared(self) -> Fraction:
        """cn^2(u0) = J1 |J1 - J3| w1^2/a, and sn^2(u0) = 1 - cn^2(u0)."""
        return self.J[0] * abs(self.J[0] - self.J[2]) * self.w[0] ** 2 / self.a


def _order_axes(J: Sequence[Fraction], w: Sequence[Fraction]) -> _ExactTop:
    small, middle, large = sorted(range(3), key=lambda i: J[i])
    beyond = (
        J[large] * (J[large] - J[middle]) * w[large] ** 2 - J[small] * (J[middle] - J[small]) * w[small] ** 2
    )  # L^2 - 2 E J2
    order = (small, middle, large) if beyond >= 0 else (large, middle, small)
    even = order in ((0, 1, 2), (1, 2, 0), (2, 0, 1))
    first = -1 if w[order[0]] < 0 else 1
    third = -1 if w[order[2]] < 0 else 1
    senses = (first, first * third * (1 if even else -1), third)  # right-handed
    j1, j2, j3 = (J[i] for i in order)
    w1, w2, w3 = (sense * w[i] for i, sense in zip(order, senses, strict=True))
    a = j1 * abs(j1 - j3) * w1**2 + j2 * abs(j2 - j3) * w2**2
    b = j2 * abs(j1 - j2) * w2**2 + j3 * abs(j1 - j3) * w3**2
    return _ExactTop(order, senses, (j1, j2, j3), (w1, w2, w3), abs(beyond), a, b)


def _lost_digits(top: _ExactTop) -> int:
    """Upper bound on the digits lost by the formulas below in this regime."""
    small = [top.complement or Fraction(1), top.parameter, top.start_cosine_squared or Fraction(1)]
    small += [min(top.J) / max(top.J), abs(top.J[1] - top.J[2]) / max(top.J), abs(top.J[0] - top.J[1]) / max(top.J)]
    return sum(max(0, -decimal_exponent(x)) for x in small)


# The regimes: each returns the rotation since t = 0, in the initial body axes, and the angular velocity ---------
def _rotate_steadily(mp: Any, J: Any, w: Any, t: Fraction) -> Any:
    """Constant spin about a principal axis, or no spin, or t = 0."""
    rates = [to_mpf(mp, x) for x in w]
    if t == 0:
        return [mp.mpf(1), mp.mpf(0), mp.mpf(0), mp.mpf(0)], rates
    half = [rate * to_mpf(mp, t) / 2 for rate in rates]
    return [mp.cos(sum(half)), *(mp.sin(x) for x in half)], rates


def _rotate_symmetric(mp: Any, J: Any, w: Any, t: Fraction) -> Any:
    """Two or three equal moments: a rotation about L at L/J1 and one about the symmetry axis at (1 - J3/J1) w3.

    [Landau and Lifshitz, section 33]
    """
    k = 2 if J[0] == J[1] else 0 if J[1] == J[2] else 1
    i, j = (k + 1) % 3, (k + 2) % 3
    momentum = [to_mpf(mp, x * y) for x, y in zip(J, w, strict=True)]
    size = mp.sqrt(sum(x * x for x in momentum))
    half = size * to_mpf(mp, t / J[i]) / 2
    about_l = [mp.cos(half), *(mp.sin(half) * x / size for x in momentum)]
    spin = to_mpf(mp, (1 - J[k] / J[i]) * w[k] * t)
    about_axis = [mp.cos(spin / 2), mp.mpf(0), mp.mpf(0), mp.mpf(0)]
    about_axis[1 + k] = mp.sin(spin / 2)
    c, s = mp.cos(spin), mp.sin(spin)
    rates = [to_mpf(mp, x) for x in w]
    rates[i], rates[j] = c * rates[i] + s * rates[j], c * rates[j] - s * rates[i]
    return quaternion_product(about_l, about_axis), rates


def _rotate_on_separatrix(mp: Any, J: Any, w: Any, t: Fraction) -> Any:
    """L^2 = 2 E J2 exactly: sn = tanh, cn = dn = sech, and the angle about L is elementary.

    With A1, A2 the amplitudes of L1, L2:  integral of du/(A1^2 cn^2 + A2^2 sn^2)
    = u/A2^2 + sqrt(A2^2 - A1^2)/(A1 A2^2) atan(sqrt(A2^2 - A1^2)/A1 tanh u)
    """
    top = _order_axes(J, w)
    sigma = 1 if top.J[2] > top.J[1] else -1
    rate = mp.sqrt(to_mpf(mp, top.rate_squared))
    c2 = top.start_cosine_squared
    s0 = mp.sqrt(to_mpf(mp, 1 - c2)) * sign_of(sigma * top.w[1])
    c0 = mp.sqrt(to_mpf(mp, c2))
    u0 = mp.asinh(s0 / c0)
    u = u0 + rate * to_mpf(mp, t)
    j1, j2, j3 = top.J
    a1_squared, a2_squared = j1 / abs(j1 - j3), j2 / abs(j2 - j3)  # times a, which drops out
    steep = mp.sqrt(to_mpf(mp, a2_squared / a1_squared - 1))
    size = _momentum_norm(mp, top)

    def swing(s: Mpf) -> Mpf:
        return steep * mp.atan(steep * s)

    gained = (u - u0 + swing(mp.tanh(u)) - swing(s0)) * to_mpf(mp, 1 / a2_squared) / rate
    phi = size * to_mpf(mp, t / j3) + sigma * size / to_mpf(mp, j3) * gained
    ends = [(s0, c0, c0, 0), (mp.tanh(u), mp.sech(u), mp.sech(u), 0)]
    return _assemble_rotation(mp, top, sigma, phi, ends)


def _rotate_asymmetric(mp: Any, J: Any, w: Any, t: Fraction) -> Any:
    """w1 = W1 cn u, w2 = +-W2 sn u, w3 = W3 dn u; the angle about L by Jacobi's integral of the third kind.

    phi' = L (J1 w1^2 + J2 w2^2)/(L1^2 + L2^2)  [Landau and Lifshitz, eq. 37.17], or with L1 = A1 cn u and
    n = -J3 |J1 - J2|/(J1 |J2 - J3|):  phi' = L/J3 +- L |J1 - J3|/(J1 J3) 1/(1 - n sn^2 u).
    n = m sn^2(i alpha | m) has a real alpha, tan^2 am(alpha | 1 - m) = J3 b/(J1 a), with which the integral is
    (C - zeta) u + arg Theta(u + i alpha), C = L |J1 - J3|/(J1 J3 du/dt), i zeta = Z(i alpha).
    [Whittaker and Watson, section 22.74; DLMF 20.2.4, 22.16.32]
    """
    top = _order_axes(J, w)
    sigma = 1 if top.J[2] > top.J[1] else -1
    j1, _, j3 = top.J
    complement, parameter = to_mpf(mp, top.complement), to_mpf(mp, top.parameter)
    means, co_means = agm_sequence(mp, complement), agm_sequence(mp, parameter)
    quarter, co_quarter = (mp.pi / (2 * ladder[-1][0]) for ladder in (means, co_means))
    nome = mp.exp(-mp.pi * co_quarter / quarter)
    rate = mp.sqrt(to_mpf(mp, top.rate_squared))
    size = _momentum_norm(mp, top)

    c2 = top.start_cosine_squared
    c0, s0 = mp.sqrt(to_mpf(mp, c2)), mp.sqrt(to_mpf(mp, 1 - c2)) * sign_of(sigma * top.w[1])
    u0 = elliptic_f(mp, mp.atan2(s0, c0), means)
    moved = rate * to_mpf(mp, t)
    halves = int(mp.nint((u0 + moved) / (2 * quarter)))
    u = u0 + moved - 2 * quarter * halves

    alpha = elliptic_f(mp, mp.atan(mp.sqrt(to_mpf(mp, j3 * top.b / (j1 * top.a)))), co_means)
    to_z = mp.pi / (2 * quarter)
    zeta = to_z * theta4_log_derivative(mp, nome, alpha * to_z)
    end, start = (mp.arg(theta4(mp, nome, mp.mpc(x * to_z, alpha * to_z))) for x in (u, u0))
    growth = size * to_mpf(mp, abs(j1 - j3) / (j1 * j3)) / rate
    phi = size * to_mpf(mp, t / j3) + sigma * ((growth - zeta) * moved + end - start)

    am = jacobi_amplitude(mp, u, means)
    s, c = mp.sin(am), mp.cos(am)
    ends = [(s0, c0, mp.sqrt(c0 * c0 + complement * s0 * s0), 0), (s, c, mp.sqrt(c * c + complement * s * s), halves)]
    return _assemble_rotation(mp, top, sigma, phi, ends)


def _assemble_rotation(mp: Any, top: _ExactTop, sigma: int, phi: Mpf, ends: Any) -> Any:
    """Rotation and rates from the angle about L and the initial and final (sn, cn, dn, half periods).

    In axes with z along L the attitude is Rz(phi) Rx(theta) Rz(psi), with L (sin theta sin psi, sin theta cos psi,
    cos theta) the angular momentum in body axes.  [Landau and Lifshitz, eq. 37.14]
    """
    j1, j2, j3 = top.J
    d13, d23 = abs(j1 - j3), abs(j2 - j3)
    W1, W2, W3 = (mp.sqrt(to_mpf(mp, x)) for x in (top.a / (j1 * d13), top.a / (j2 * d23), top.b / (j3 * d13)))
    L1, L2, L3 = W1 * to_mpf(mp, j1), W2 * to_mpf(mp, j2), W3 * to_mpf(mp, j3)
    attitudes, rates = [], []
    for (sn, cn, dn, halves), angle in zip(ends, (mp.mpf(0), phi), strict=True):
        x, y, z = L1 * cn, sigma * L2 * sn, L3 * dn
        theta = mp.atan2(mp.hypot(x, y), z)
        psi = mp.pi / 2 - sigma * (mp.atan2(L2 * sn, L1 * cn) + mp.pi * halves)
        plus, minus = (angle + psi) / 2, (angle - psi) / 2
        ct, st = mp.cos(theta / 2), mp.sin(theta / 2)
        attitudes.append([ct * mp.cos(plus), st * mp.cos(minus), st * mp.sin(minus), ct * mp.sin(plus)])
        flip = -1 if halves % 2 else 1
        rates.append((flip * W1 * cn, flip * sigma * W2 * sn, W3 * dn))
    w0, *v0 = attitudes[0]
    turned = quaternion_product([w0, *(-x for x in v0)], attitudes[1])
    vector, w_end = [mp.mpf(0)] * 3, [mp.mpf(0)] * 3
    for i, sense, x, rate in zip(top.order, top.senses, turned[1:], rates[1], strict=True):
        vector[i], w_end[i] = sense * x, sense * rate
    return [turned[0], *vector], w_end


def _momentum_norm(mp: Any, top: _ExactTop) -> Mpf:
    return mp.sqrt(to_mpf(mp, sum((x * y) ** 2 for x, y in zip(top.J, top.w, strict=True))))
