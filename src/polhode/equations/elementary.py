"""Elementary functions beyond `sqrt`, `sin` and `cos`, for every scalar type.

For doubles they are written out with nothing but + - * /, comparisons and selection, so that floats, NumPy arrays,
compiled code, GPUs and browsers agree to the last bit.  Bits are out of reach: exponents are found by bisection, and
powers of two by rounding.  Other types use the functions of their own library.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from polhode.equations.law import Number, law
from polhode.equations.scalar_ops import (
    QUARTER,
    absolute,
    cosine_parts,
    if_less,
    is_written_out,
    library_function,
    library_of,
    nearest_integer,
    sign_with_zeros,
    sine_beyond,
    sqrt,
)


def exp(x: Number) -> Number:
    """The exponential: within 1 ulp, infinite above 709.78, subnormal below -708.4 and 0 below -745.13.

    The same bits on every backend.

    Examples
    --------
    >>> import polhode as ph
    >>> round(ph.exp(0.5), 12)
    1.6487212707
    """
    library = library_of(x)
    return exponential(x) if is_written_out(library) else library_function(library, "exp")(x)


def log(x: Number) -> Number:
    """The natural logarithm: within 1 ulp, -inf of 0 and NaN below.  The same bits on every backend.

    Examples
    --------
    >>> import polhode as ph
    >>> round(ph.log(2.0), 12)
    0.69314718056
    """
    library = library_of(x)
    return logarithm(x) if is_written_out(library) else library_function(library, "log")(x)


def power(x: Number, y: Number) -> Number:
    """x to the power y: within 2 ulp.  The same bits on every backend.

    A negative x has powers with whole y only, and gives NaN with others; zeros, infinities and NaN are treated as by
    `pow` in C: power(x, 0) and power(1, y) are 1.  A square is cheaper as x * x, a square root as sqrt(x).

    Examples
    --------
    >>> import polhode as ph
    >>> round(ph.power(2.0, 0.5), 12), ph.power(-2.0, 3.0)
    (1.414213562373, -8.0)
    """
    library = library_of(x, y)
    name = library.__name__
    if is_written_out(library):
        return raised(x, y)
    if name.startswith("polhode."):
        return library.power(x, y)
    if name == "fractions":
        if y != int(y):
            raise ValueError(f"{x} to the power {y} is irrational: use floats or mpmath for laws with such powers")
        return x ** int(y)
    if name == "heyoka" and not isinstance(x, library.expression):
        x = library.expression(float(x))
    return x**y


def tan(x: Number) -> Number:
    """The tangent: within 2 ulp for |x| < 3e9, NaN beyond.  The same bits on every backend.

    Examples
    --------
    >>> import polhode as ph
    >>> round(ph.tan(0.5), 12)
    0.546302489844
    """
    library = library_of(x)
    return tangent(x) if is_written_out(library) else library_function(library, "tan")(x)


def atan2(y: Number, x: Number) -> Number:
    """The angle of the point (x, y), from -pi to pi: within 2 ulp.  The same bits on every backend.

    Zeros keep their signs as in C: atan2(0.0, -1.0) is pi and atan2(-0.0, -1.0) is -pi.

    Examples
    --------
    >>> import polhode as ph
    >>> round(ph.atan2(1.0, -1.0), 12)
    2.356194490192
    """
    library = library_of(y, x)
    if is_written_out(library):
        return angle(y, x)
    return library_function(library, "arctan2" if hasattr(library, "arctan2") else "atan2")(y, x)


# Sums and products with their rounding errors -----------------------------------------------------------------------
@law
def _two_sum(a: Number, b: Number) -> tuple[Number, Number]:
    """a + b, and its rounding error.  [Knuth, section 4.2.2]"""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@law
def _fast_two_sum(a: Number, b: Number) -> tuple[Number, Number]:
    """a + b, and its rounding error, for |a| >= |b| or a = 0.  [Dekker 1971]"""
    total = a + b
    return total, b - (total - a)


@law
def _halves(a: Number) -> tuple[Number, Number]:
    """a as a sum of two numbers of 26 bits, after Veltkamp.  [Dekker 1971]"""
    scaled = 134217729.0 * a  # 2**27 + 1
    high = scaled - (scaled - a)
    return high, a - high


@law
def _two_product(a: Number, b: Number) -> tuple[Number, Number]:
    """a b, and its rounding error.  [Dekker 1971]"""
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    total = a * b
    return total, (((a_high * b_high - total) + a_high * b_low) + a_low * b_high) + a_low * b_low


@law
def _polynomial(x: Number, coefficients: tuple[float, ...]) -> Number:
    """c0 + c1 x + c2 x^2 + ..., by Horner's rule."""
    value = coefficients[len(coefficients) - 1]
    for i in range(len(coefficients) - 1):
        value = coefficients[len(coefficients) - 2 - i] + x * value
    return value


# Powers of two ------------------------------------------------------------------------------------------------------
_POWERS = tuple((float(n), 2.0**n, 2.0**-n) for n in (512, 256, 128, 64, 32, 16, 8, 4, 2, 1))
"""n, 2**n and 2**-n"""


@law
def _power_of_two(n: Number) -> Number:
    """2**n for whole |n| <= 541: roughly, by squaring a series twelve times, and then rounded to one bit."""
    u = n * (0.6931471805599453 / 4096.0)
    value = 1.0 + u * (1.0 + u * (0.5 + u * 0.16666666666666666))
    for _ in range(12):
        value = value * value
    scaled = 4503599627370497.0 * value  # 2**52 + 1: as in _halves, but with one bit in the upper part
    return scaled - (scaled - value)


@law
def _times_power_of_two(x: Number, n: Number) -> Number:
    """x 2**n for whole |n| <= 1082 and x close to 1, rounded once: also to a subnormal number, 0 or infinity."""
    half = nearest_integer(0.5 * n - 0.25)
    scale = _power_of_two(half)
    return (x * (scale * (1.0 + (n - 2.0 * half)))) * scale  # n is twice the half, or one more


@law
def _mantissa_and_exponent(x: Number) -> tuple[Number, Number]:
    """x = m 2**k of a positive finite number: m from sqrt(1/2) to sqrt(2), and k."""
    exponent = if_less(x, 1.0, -1023.0, 0.0)
    x = x * if_less(x, 1.0, 2.0**1023, 1.0)
    exponent = exponent - if_less(x, 1.0, 52.0, 0.0)
    x = x * if_less(x, 1.0, 2.0**52, 1.0)
    for bit, up, down in _POWERS:
        exponent = exponent + if_less(x, up, 0.0, bit)
        x = x * if_less(x, up, 1.0, down)
    exponent = exponent + if_less(x, 1.4142135623730951, 0.0, 1.0)
    return x * if_less(x, 1.4142135623730951, 1.0, 0.5), exponent


# Exponential and logarithm ------------------------------------------------------------------------------------------
_LOG2_HIGH, LOG2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
"""log 2 in two parts, the first of 32 bits, so that its product with an exponent is exact."""
_EXPONENTIAL = (
    1.66666666666666019037e-01,
    -2.77777777770155933842e-03,
    6.61375632143793436117e-05,
    -1.65339022054652515390e-06,
    4.13813679705723846039e-08,
)
_LOGARITHM = (
    6.666666666666735130e-01,
    3.999999999940941908e-01,
    2.857142874366239149e-01,
    2.222219843214978396e-01,
    1.818357216161805012e-01,
    1.531383769920937332e-01,
    1.479819860511658591e-01,
)


def exponential(x: Number) -> Number:
    """exp(x), written out."""
    return _exponential(x, 0.0)


@law
def _exponential(x: Number, tail: Number) -> Number:
    """exp(x + tail), tail within the rounding error of x.  [fdlibm e_exp, Sun Microsystems 2004]"""
    inside = if_less(-750.0, x, if_less(x, 750.0, tail, 0.0), 0.0)
    x = if_less(x, -750.0, -750.0, if_less(750.0, x, 750.0, x))
    n = nearest_integer(x * 1.44269504088896338700)
    high, low = x - n * _LOG2_HIGH, n * LOG2_LOW - inside
    r = high - low
    z = r * r
    c = r - z * _polynomial(z, _EXPONENTIAL)
    return _times_power_of_two(1.0 - ((low - (r * c) / (2.0 - c)) - high), n)


@law
def logarithm(x: Number) -> Number:
    """log x = k log 2 + log(1 + f).  [fdlibm e_log, Sun Microsystems 1993]"""
    m, k = _mantissa_and_exponent(if_less(0.0, x, if_less(x, math.inf, x, 1.0), 1.0))
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    half = 0.5 * f * f
    value = k * _LOG2_HIGH - ((half - (s * (half + z * _polynomial(z, _LOGARITHM)) + k * LOG2_LOW)) - f)
    return if_less(x, math.inf, if_less(0.0, x, value, if_less(x, 0.0, math.nan, -math.inf)), x)


# Powers -------------------------------------------------------------------------------------------------------------
_THREE_OVER_ODD = (3 / 5, 3 / 7, 3 / 9, 3 / 11, 3 / 13, 3 / 15, 3 / 17, 3 / 19, 3 / 21, 3 / 23, 3 / 25)


@law
def _logarithm_in_two_parts(x: Number) -> tuple[Number, Number]:
    """log x to about 64 bits, x positive and finite: log m = 2/3 s (3 + s^2 + 3/5 s^4 + ...), s = (m - 1)/(m + 1)."""
    m, k = _mantissa_and_exponent(x)
    f = m - 1.0
    below, below_low = _fast_two_sum(2.0, f)
    inverse = 1.0 / below
    s = f * inverse
    product, product_low = _two_product(s, below)
    s_low = (((f - product) - product_low) - s * below_low) * inverse
    z, z_low = _two_product(s, s)
    rest = z * z * _polynomial(z, _THREE_OVER_ODD) + (z_low + 2.0 * (s * s_low))
    bracket, bracket_low = _fast_two_sum(3.0, z)
    bracket, bracket_low = _fast_two_sum(bracket, bracket_low + rest)
    thrice, thrice_low = _two_product(s, bracket)
    thrice_low = thrice_low + (s * bracket_low + s_low * bracket)
    third = thrice * 0.3333333333333333
    third_low = (((thrice - 2.0 * third) - third) + thrice_low) * 0.3333333333333333
    high, low = _fast_two_sum(k * _LOG2_HIGH, 2.0 * third)
    return _fast_two_sum(high, low + (2.0 * third_low + k * LOG2_LOW))


@law
def _whole(x: Number) -> Number:
    """The nearest integer of x >= 0, however large."""
    return if_less(x, 4503599627370496.0, (x + 4503599627370496.0) - 4503599627370496.0, x)  # 2**52


@law
def raised(x: Number, y: Number) -> Number:
    """x**y = exp(y log x) in two parts, and what C says about zeros, infinities and NaN.  [C17, F.10.4.4]"""
    size = absolute(x)
    high, low = _logarithm_in_two_parts(if_less(0.0, size, if_less(size, math.inf, size, 1.0), 1.0))
    # Beyond 2**64 every y takes every x but 1 to 0 or infinity.
    bounded = if_less(y, -(2.0**64), -(2.0**64), if_less(2.0**64, y, 2.0**64, y))
    exponent, exponent_low = _two_product(bounded, high)
    value = _exponential(exponent, exponent_low + bounded * low)
    of_zero, of_infinity = if_less(y, 0.0, math.inf, 0.0), if_less(y, 0.0, 0.0, math.inf)
    value = if_less(0.0, size, if_less(size, math.inf, value, of_infinity), of_zero)
    lifted = absolute(bounded)
    half = 0.5 * lifted
    odd = 2.0 * absolute(half - _whole(half))  # 1 or 0, if y is whole
    of_fractions = if_less(-math.inf, x, if_less(x, 0.0, math.nan, 1.0), 1.0)
    sign = if_less(0.0, absolute(lifted - _whole(lifted)), of_fractions, 1.0 - 2.0 * odd)
    value = _or_nan(x, _or_nan(y, if_less(sign_with_zeros(x), 0.0, sign * value, value)))
    value = if_less(0.0, lifted, value, _or_nan(y, 1.0))
    return if_less(x, 1.0, value, if_less(1.0, x, value, if_less(0.0, x, 1.0, value)))


@law
def _or_nan(x: Number, value: Number) -> Number:
    """The value, or x if that is NaN."""
    return if_less(x, 1.0, value, if_less(0.0, x, value, x))


# Angles -------------------------------------------------------------------------------------------------------------
@law
def tangent(x: Number) -> Number:
    """sin/cos or -cos/sin of the angle less n quarter turns, each in two parts."""
    n = nearest_integer(x * 0.6366197723675814)
    r, error = _two_sum(x - n * QUARTER[0], -(n * QUARTER[1]))
    r, next_error = _two_sum(r, -(n * QUARTER[2]))
    r, r_low = _two_sum(r, (error + next_error) - n * QUARTER[3])
    r = if_less(x * x, 9e18, r, math.nan)
    large, small = cosine_parts(r)
    sine, sine_low = _fast_two_sum(r, sine_beyond(r) + r_low * large)
    cosine, cosine_low = _fast_two_sum(large, small - r_low * r)
    half = 0.5 * n
    is_odd = absolute(half - nearest_integer(half))  # 0 or 1/2
    top, top_low = if_less(is_odd, 0.25, sine, -cosine), if_less(is_odd, 0.25, sine_low, -cosine_low)
    bottom, bottom_low = if_less(is_odd, 0.25, cosine, sine), if_less(is_odd, 0.25, cosine_low, sine_low)
    ratio = top / bottom
    return ratio + (top_low - ratio * bottom_low) / bottom


_ARCTANGENT = (
    3.33333333333329318027e-01,
    -1.99999999998764832476e-01,
    1.42857142725034663711e-01,
    -1.11111104054623557880e-01,
    9.09088713343650656196e-02,
    -7.69187620504482999495e-02,
    6.66107313738753120669e-02,
    -5.83357013379057348645e-02,
    4.97687799461593236017e-02,
    -3.65315727442169155270e-02,
    1.62858201153657823623e-02,
)
_HALF_TURN = (3.141592653589793, 1.2246467991473531772e-16)
_ATAN_HALF = (4.63647609000806093515e-01, 2.26987774529616870924e-17)


@law
def angle(y: Number, x: Number) -> Number:
    """The angle in the first octant, by differences to atan(1/2) and atan(1), and then its mirror images.

    [coefficients: fdlibm s_atan, Sun Microsystems 1993]
    """
    up, along = absolute(y), absolute(x)
    short, long = if_less(up, along, up, along), if_less(up, along, along, up)
    # Large and small sizes are scaled, so that no sum overflows and no product underflows; 0/0 is 0, inf/inf is 1.
    scale = if_less(long, 2.0**-900, 2.0**100, if_less(2.0**1000, long, 2.0**-100, 1.0))
    a = if_less(long, math.inf, short * scale, if_less(short, math.inf, 0.0, 1.0))
    b = if_less(0.0, long, if_less(long, math.inf, long * scale, 1.0), 1.0)
    slope, flat, steep = 16.0 * a, 7.0 * b, 11.0 * b
    top = if_less(slope, flat, a, if_less(slope, steep, 2.0 * a - b, a - b))
    bottom = if_less(slope, flat, b, if_less(slope, steep, 2.0 * b + a, b + a))
    base = if_less(slope, flat, 0.0, if_less(slope, steep, _ATAN_HALF[0], 0.25 * _HALF_TURN[0]))
    base_low = if_less(slope, flat, 0.0, if_less(slope, steep, _ATAN_HALF[1], 0.25 * _HALF_TURN[1]))
    w = top / bottom
    z = w * w
    octant = base - ((w * (z * _polynomial(z, _ARCTANGENT)) - base_low) - w)
    side = sign_with_zeros(x)
    upright = 0.5 * _HALF_TURN[0] - (side * octant - 0.5 * _HALF_TURN[1])
    lying = if_less(side, 0.0, _HALF_TURN[0] - (octant - _HALF_TURN[1]), octant)
    return _or_nan(0.5 * up + 0.5 * along, sign_with_zeros(y) * if_less(along, up, upright, lying))


# Functions that are made of these ------------------------------------------------------------------------------------
def arcsine(x: Number) -> Number:
    """The angle whose sine is x, from -pi/2 to pi/2."""
    return atan2(x, sqrt((1 - x) * (1 + x)))


def arccosine(x: Number) -> Number:
    """The angle whose cosine is x, from 0 to pi."""
    return atan2(sqrt((1 - x) * (1 + x)), x)


def arctangent(x: Number) -> Number:
    """The angle whose tangent is x, from -pi/2 to pi/2."""
    return atan2(x, 1.0)


_SINH = tuple(1.0 / math.factorial(k) for k in range(19, 1, -2))


def hyperbolic_sine(x: Number) -> Number:
    """(e^x - e^-x)/2, near 0 by its series."""
    series, square = 0.0, x * x
    for coefficient in _SINH:
        series = (series + coefficient) * square
    e = exp(x)
    return if_less(square, 1.0, x + x * series, (e - 1.0 / e) / 2.0)


def hyperbolic_cosine(x: Number) -> Number:
    """(e^x + e^-x)/2"""
    e = exp(absolute(x) + 0.0)
    return (e + 1.0 / e) / 2.0


def hyperbolic_tangent(x: Number) -> Number:
    """sinh x / cosh x, and far from 0 by one exponential."""
    inside = if_less(x * x, 1.0, x, 0.0 * x)
    return if_less(x * x, 1.0, sinh(inside) / cosh(inside), 1.0 - 2.0 / (exp(2.0 * x) + 1.0))


def exponential_less_one(x: Number) -> Number:
    """exp(x) - 1, by Kahan's correction near 0."""
    e = exp(x)
    near = if_less(x * x, 1.0, e, 2.0 + 0.0 * x)
    near = if_less(absolute(near - 1.0), 1e-300, 2.0 + 0.0 * x, near)
    small = (near - 1.0) * x / log(near)
    small = if_less(absolute(e - 1.0), 1e-300, x, small)
    return if_less(x * x, 1.0, small, e - 1.0)


def logarithm_of_one_more(x: Number) -> Number:
    """log(1 + x), by Kahan's correction near 0."""
    u = 1.0 + x
    other = if_less(absolute(u - 1.0), 1e-300, 2.0 + 0.0 * x, u)
    return if_less(absolute(u - 1.0), 1e-300, x, log(other) * (x / (other - 1.0)))


def _by_kind(name: str, written_out: Callable[[Number], Number]) -> Callable[[Number], Number]:
    """A function that is written out for doubles, an operation of traced numbers, and else what their library has."""

    def function(x: Number) -> Number:
        library = library_of(x)
        if is_written_out(library) or not hasattr(library, name):
            return written_out(x)
        return getattr(library, name)(x)

    function.__name__, function.__doc__ = name, written_out.__doc__
    return function


asin, acos, atan = _by_kind("asin", arcsine), _by_kind("acos", arccosine), _by_kind("atan", arctangent)
sinh, cosh, tanh = (
    _by_kind("sinh", hyperbolic_sine),
    _by_kind("cosh", hyperbolic_cosine),
    _by_kind("tanh", hyperbolic_tangent),
)
expm1, log1p = _by_kind("expm1", exponential_less_one), _by_kind("log1p", logarithm_of_one_more)
