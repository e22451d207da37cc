"""Multiprecision helpers: exact fractions, arithmetic-geometric means, and theta series with mpmath.

`mp` is mpmath's context, set to the working precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isfinite
from typing import Any

from polhode.errors import InputError

Mpf = Any
"""An mpmath number."""


def to_fractions(values: Sequence[Any], count: int) -> list[Fraction]:
    """Convert floats, decimal strings or mpmath numbers to exact fractions."""
    if len(values) != count:
        raise InputError(f"{count} numbers are needed, not {len(values)}: {values!r}")
    return [to_fraction(value) for value in values]


def to_fraction(value: Any) -> Fraction:
    """Convert a float, a decimal string or an mpmath number to an exact fraction."""
    try:
        if hasattr(value, "_mpf_"):
            sign, mantissa, exponent, _ = value._mpf_
            if mantissa or not exponent:
                whole, power = (-1) ** sign * int(mantissa), int(exponent)
                return Fraction(whole * 2**power if power >= 0 else Fraction(whole, 2**-power))
        elif isinstance(value, (str, int, Fraction)):
            return Fraction(value)
        elif isfinite(value):
            return Fraction(float(value))
    except (ValueError, TypeError, ZeroDivisionError):
        pass
    raise InputError(f"{value!r} is not a finite number: give floats, decimal strings or mpmath numbers")


def to_mpf(mp: Any, value: Fraction | int) -> Mpf:
    return mp.mpf(value.numerator) / value.denominator


def decimal_exponent(value: Fraction) -> int:
    """Approximate decimal exponent; 0 for 0."""
    bits = abs(value.numerator).bit_length() - value.denominator.bit_length()
    return int(bits * 0.302) if value else 0


def sign_of(value: Any) -> int:
    return -1 if value < 0 else 1


def quaternion_product(p: Sequence[Mpf], q: Sequence[Mpf]) -> list[Mpf]:
    """Hamilton product."""
    a, b, c, d = p
    e, f, g, h = q
    return [
        a * e - b * f - c * g - d * h,
        a * f + b * e + c * h - d * g,
        a * g - b * h + c * e + d * f,
        a * h + b * g - c * f + d * e,
    ]


def agm_sequence(mp: Any, complement: Mpf) -> list[tuple[Mpf, Mpf]]:
    """Arithmetic and geometric means of 1 and sqrt(1 - m) until convergence.  [DLMF 19.8.1]"""
    a, b = mp.mpf(1), mp.sqrt(complement)
    found = [(a, b)]
    while abs(a - b) > mp.eps * a * 8:
        a, b = (a + b) / 2, mp.sqrt(a * b)
        found.append((a, b))
    return found


def elliptic_f(mp: Any, phi: Mpf, means: Any) -> Mpf:
    """F(phi | m): tan(phi' - phi) = (b/a) tan phi, until phi/(2^N a) converges.  [DLMF 19.8.16, Landen]"""
    for a, b in means[:-1]:
        turns = mp.pi * mp.nint(phi / mp.pi)
        within = phi - turns
        phi += turns + mp.atan2(b * mp.sin(within), a * mp.cos(within))
    return phi / (2 ** (len(means) - 1) * means[-1][0])


def jacobi_amplitude(mp: Any, u: Mpf, means: Any) -> Mpf:
    """am(u | m), by the same sequence in reverse.  [DLMF 22.20.2 to 22.20.4]"""
    phi = 2 ** (len(means) - 1) * means[-1][0] * u
    for (a, b), (mean, _) in zip(means[-2::-1], means[:0:-1], strict=True):
        phi = (phi + mp.asin((a - b) / (2 * mean) * mp.sin(phi))) / 2
    return phi


def theta4(mp: Any, nome: Mpf, z: Any) -> Any:
    """theta4(z) = 1 + 2 sum (-1)^n q^(n^2) cos 2nz  [DLMF 20.2.4]"""
    return 1 + 2 * sum(sign * (up + down) / 2 for _, sign, up, down in _theta4_terms(mp, nome, 2j * z))


def theta4_log_derivative(mp: Any, nome: Mpf, y: Mpf) -> Mpf:
    """theta4'(iy)/(i theta4(iy)), real."""
    value, slope = mp.mpf(1), mp.mpf(0)
    for n, sign, up, down in _theta4_terms(mp, nome, 2 * y):
        value += sign * (up + down)
        slope -= 2 * n * sign * (up - down)
    return slope / value


def _theta4_terms(mp: Any, nome: Mpf, exponent: Any) -> Any:
    """n, (-1)^n, q^(n^2) e^(n x) and q^(n^2) e^(-n x), until they are negligible."""
    rise, fall = mp.exp(exponent), mp.exp(-exponent)
    up, down, odd, sign, n = nome * rise, nome * fall, nome, -1, 1
    square = nome * nome
    while True:
        yield n, sign, up, down
        odd *= square
        n, sign, up, down = n + 1, -sign, up * odd * rise, down * odd * fall
        if abs(up) * n < mp.eps and abs(down) * n < mp.eps:
            return
