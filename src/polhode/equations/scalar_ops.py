"""The few operations beyond + - * / that the laws use, for every scalar type.

Doubles agree to the last bit, as floats, in NumPy arrays and in compiled code: for them `sin` and `cos` are written out
in arithmetic.  Other types (JAX, heyoka, SymPy, mpmath) use the functions of their own library.  `elementary` has more
functions.
"""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import Any

from polhode.equations.law import Number, law

_HOMES = {"jax": "jax.numpy", "jaxlib": "jax.numpy"}
_WRITTEN_OUT = ("math", "numpy")
"""The libraries of floats and of arrays of them, for which functions are written out in arithmetic, for equal bits."""


def library_of(*values: Number) -> Any:
    """The module whose functions accept values of these types: `math` for floats, `numpy` for them and arrays."""
    found: Any = math
    for value in values:
        module = type(value).__module__
        if module == "builtins":
            continue
        top = module.partition(".")[0]
        found = sys.modules[module if top == "polhode" else _HOMES.get(top, top)]
        if top != "numpy":
            break
    return found


def is_written_out(library: Any) -> bool:
    """Whether the functions of numbers of this library are written out in arithmetic."""
    return library.__name__ in _WRITTEN_OUT


def library_function(library: Any, name: str) -> Any:
    """A function of a library by its name; fractions have none."""
    if library.__name__ == "fractions":
        raise ValueError(f"{name} of a fraction is irrational: use floats or mpmath for laws with such functions")
    return getattr(library, name)


def sqrt(x: Number) -> Number:
    """The square root, in the scalar type of x.

    Examples
    --------
    >>> import polhode as ph
    >>> from fractions import Fraction
    >>> ph.sqrt(2.0), ph.sqrt(Fraction(9, 4))
    (1.4142135623730951, Fraction(3, 2))
    """
    library = library_of(x)
    if library is math:
        return math.sqrt(x)
    if isinstance(x, Fraction):
        root = Fraction(math.isqrt(x.numerator), math.isqrt(x.denominator))
        if root * root != x:
            raise ValueError(f"the square root of {x} is irrational: use floats or mpmath for laws with square roots")
        return root
    return library.sqrt(x)


def if_less(a: Number, b: Number, x: Number, y: Number) -> Number:
    """x where a < b, else y: the only branch in the laws.  Both x and y are always evaluated.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.if_less(1.0, 2.0, "below", "above")
    'below'
    """
    library = library_of(a, b)
    name = library.__name__
    if name == "math" or name == "fractions" or name == "mpmath":
        return x if a < b else y
    if name == "sympy":
        return library.Piecewise((x, a < b), (y, True))
    if name.startswith("polhode."):
        return library.if_less(a, b, x, y)
    if name == "heyoka":
        number = library.expression
        a, b, x, y = (v if isinstance(v, number) else number(float(v)) for v in (a, b, x, y))
        return library.select(library.lt(a, b), x, y)
    return library.where(a < b, x, y)[()]


def sin(x: Number) -> Number:
    """The sine: within 2 ulp for |x| < 3e9, NaN beyond.  The same bits on every backend.

    Examples
    --------
    >>> import polhode as ph
    >>> round(ph.sin(0.5), 12)
    0.479425538604
    """
    library = library_of(x)
    return sine(x) if is_written_out(library) else library_function(library, "sin")(x)


def cos(x: Number) -> Number:
    """The cosine: within 2 ulp for |x| < 3e9, NaN beyond.  The same bits on every backend.

    Examples
    --------
    >>> import polhode as ph
    >>> round(ph.cos(0.5), 12)
    0.87758256189
    """
    library = library_of(x)
    return cosine(x) if is_written_out(library) else library_function(library, "cos")(x)


def sign_with_zeros(x: Number) -> Number:
    """1 or -1: the sign of x, also of the two zeros of doubles.  Of doubles only."""
    library = library_of(x)
    if library.__name__ == "math" or library.__name__ == "numpy":
        return library.copysign(1.0, x)
    return if_less(x + 1.0 / x, 0.0, -1.0, 1.0)  # 1/x tells the zeros apart, x the infinities


def nearest_integer(x: Number) -> Number:
    """The nearest integer, in the scalar type of x.  Not available in heyoka, whose expressions must be smooth."""
    library = library_of(x)
    name = library.__name__
    if is_written_out(library):
        return round_by_addition(x)
    if name.startswith("polhode."):
        return library.nearest(x)
    if name == "fractions":
        return Fraction(round(x))
    if name == "sympy":
        return library.floor(x + library.Rational(1, 2))
    if name == "mpmath":
        return library.nint(x)
    return library_function(library, "round")(x)


@law
def larger(a: Number, b: Number) -> Number:
    """max(a, b), without a branch."""
    return if_less(a, b, b, a)


@law
def absolute(x: Number) -> Number:
    """|x|, without a branch."""
    return if_less(x, 0, -x, x)


@law
def within(t: Number, start: Number, stop: Number) -> Number:
    """1 while start <= t < stop, else 0."""
    zero = 0 * t
    return if_less(t, start, zero, if_less(t, stop, 1 + zero, zero))


# pi/2 in four parts of at most 22 bits and a rest, so that n * part is exact for n < 2**31 (Cody and Waite, 1980).
QUARTER = (
    float.fromhex("0x1.921fb0p+0"),
    float.fromhex("0x1.5110b0p-22"),
    float.fromhex("0x1.184698p-44"),
    float.fromhex("0x1.3198a2e037073p-69"),
)
ROUNDER = 6755399441055744.0  # 1.5 * 2**52: adding and subtracting it rounds to an integer


def round_by_addition(x: Number) -> Number:
    """The nearest integer of a double below 2**51 in size."""
    return (x + ROUNDER) - ROUNDER


@law
def _reduce_argument(x: Number) -> tuple[Number, Number]:
    """x = n pi/2 + r with |r| <= pi/4: r, and n modulo 4 as -2, -1, 0, 1 or 2."""
    n = nearest_integer(x * 0.6366197723675814)
    r = (((x - n * QUARTER[0]) - n * QUARTER[1]) - n * QUARTER[2]) - n * QUARTER[3]
    r = if_less(x * x, 9e18, r, math.nan)
    return r, n - 4.0 * nearest_integer(n * 0.25)


@law
def sine_beyond(r: Number) -> Number:
    """sin r - r for |r| <= pi/4.  [coefficients: fdlibm k_sin, Sun Microsystems 1993]"""
    z = r * r
    p = 8.33333333332248946124e-03 + z * (
        -1.98412698298579493134e-04
        + z * (2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10))
    )
    return (z * r) * (-1.66666666666666324348e-01 + z * p)


@law
def cosine_parts(r: Number) -> tuple[Number, Number]:
    """cos r for |r| <= pi/4, as a sum of a large and a small part.  [coefficients: fdlibm k_cos]"""
    z = r * r
    p = z * (
        4.16666666666666019037e-02
        + z
        * (
            -1.38888888888741095749e-03
            + z
            * (
                2.48015872894767294178e-05
                + z * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 - z * 1.13596475577881948265e-11))
            )
        )
    )
    half = 0.5 * z
    whole = 1.0 - half
    return whole, (1.0 - whole) - half + z * p


@law
def _small_sine(r: Number) -> Number:
    """sin r for |r| <= pi/4."""
    return r + sine_beyond(r)


@law
def _small_cosine(r: Number) -> Number:
    """cos r for |r| <= pi/4."""
    large, small = cosine_parts(r)
    return large + small


@law
def _by_quadrant(quadrant: Number, zero: Number, one: Number) -> Number:
    """zero, one, -zero, -one for the quadrants 0, 1, 2 (or -2), 3 (or -1)."""
    return if_less(
        quadrant,
        -1.5,
        -zero,
        if_less(quadrant, -0.5, -one, if_less(quadrant, 0.5, zero, if_less(quadrant, 1.5, one, -zero))),
    )


@law
def sine(x: Number) -> Number:
    """The sine, written out."""
    r, quadrant = _reduce_argument(x)
    return _by_quadrant(quadrant, _small_sine(r), _small_cosine(r))


@law
def cosine(x: Number) -> Number:
    """The cosine, written out."""
    r, quadrant = _reduce_argument(x)
    return _by_quadrant(quadrant, _small_cosine(r), -_small_sine(r))


# Large angles and whole turns ---------------------------------------------------------------------------------------
_REACH = 16777216.0  # 2**24 quarter turns, a multiple of whole turns


@law
def remove_whole_turns(x: Number) -> Number:
    """x minus whole turns, within the range of `sin` and `cos`; up to 5e16, as far as rounding allows."""
    n = nearest_integer(x * (0.6366197723675814 / _REACH))
    far = n * _REACH
    return (((x - far * QUARTER[0]) - far * QUARTER[1]) - far * QUARTER[2]) - far * QUARTER[3]


@law
def remove_half_turns(x: Number) -> tuple[Number, Number]:
    """x = n pi + r with |r| <= pi/2: n and r."""
    n = nearest_integer(x * 0.3183098861837907)
    twice = 2 * n
    return n, (((x - twice * QUARTER[0]) - twice * QUARTER[1]) - twice * QUARTER[2]) - twice * QUARTER[3]


@law
def cos_of_quarters(n: Number) -> Number:
    """cos(n pi/2) of an integer n."""
    return _by_quadrant(n - 4 * nearest_integer(n / 4), 1 + 0 * n, 0 * n)


@law
def sin_of_quarters(n: Number) -> Number:
    """sin(n pi/2) of an integer n."""
    return _by_quadrant(n - 4 * nearest_integer(n / 4), 0 * n, 1 + 0 * n)
