"""Free (torque-free) rotation in closed form, for any moments, spin and time.  [derivation: docs/explanation]

The angular velocity follows Jacobi elliptic functions of u = u0 + rate t.  The attitude is a rotation by psi about the
conserved angular momentum, between two rotations that carry it onto the axis of the smallest moment and back.  With
that axis psi = l t/I_max + G(u), G >= 0 an elliptic integral of the third kind: no two large terms cancel.  Every other
number is a sum of positive terms or a difference of given ones, and there are no special cases: spheres, symmetric
bodies, pure spins and bodies at rest follow the same formulas, with 1 in place of each zero denominator.
"""

from __future__ import annotations

from typing import NamedTuple

from polhode.equations.law import Groups, Number, Quaternion, Vector, law
from polhode.equations.quaternions import product
from polhode.equations.scalar_ops import (
    absolute,
    cos,
    cos_of_quarters,
    if_less,
    larger,
    remove_half_turns,
    remove_whole_turns,
    sin,
    sin_of_quarters,
    sqrt,
)
from polhode.equations.vectors import scaled

_LANDEN_STEPS = (0,) * 14
"""Enough steps for the arithmetic-geometric mean to converge, even for 1 - m = 1e-300."""
_POWERS_OF_8 = tuple(8.0**n for n in range(15))
"""One for each of 14 duplications of the integral's arguments, and one for the series at the end: near the separatrix
cn^2 and dn^2 are as small as 1 - m, and need about ten duplications to become comparable with 1."""
_MAGNITUDES = ((2.0**128, 2.0**256), (2.0**384, 2.0**512), (2.0**640, 2.0**768), (2.0**896, 2.0**960))
"""Sizes beyond the first of two powers, or below its inverse, are scaled by the second."""
_FLAT = 1e-300
"""1 - m below this counts as the separatrix itself, whose period is infinite."""
_HUGE = 1e300
_FAR = 40.0
"""On the separatrix, beyond this u, the body spins about its intermediate axis up to e^-40."""


class JacobiSolution(NamedTuple):
    """The angular velocity in Jacobi elliptic functions: it circles axis 3; axis 2 is the intermediate one."""

    high: Number
    """L^2 - 2 E I2: negative if axis 3 is that of the smallest moment, otherwise that of the largest."""
    moves: Number
    """Positive, or 0 if the angular velocity is constant in the body: a sphere, or a spin about a symmetry axis."""
    j1: Number
    j2: Number
    j3: Number
    d12: Number
    d13: Number
    d23: Number
    """Differences of the moments, none negative."""
    a: Number
    """|L^2 - 2 E J3|"""
    b: Number
    """|L^2 - 2 E J1|"""
    m: Number
    complement: Number
    """1 - m, from its own product"""
    rate: Number
    """du/dt"""
    sign: Number
    """Of the angular velocity about axis 3; that about axis 2 is sign sn."""
    s: Number
    """sn at the start"""
    c: Number
    """cn at the start"""


@law
def rotate_freely(q: Quaternion, w: Vector, moments: Vector, t: Number) -> tuple[Quaternion, Vector]:
    """q and w (principal axes) a time t later; t may be negative."""
    a, b, c = sort_axes(moments, moments)
    per_moment = power_of_two_near_inverse(absolute(c))
    per_spin = power_of_two_near_inverse(larger(larger(absolute(w[0]), absolute(w[1])), absolute(w[2])))
    i = scaled(per_moment, (a, absolute(b), absolute(c)))
    turn, w_later = _relative_rotation(i, sort_axes(moments, scaled(per_spin, w)), t / per_spin)
    x, y, z = unsort_axes(moments, (turn[1], turn[2], turn[3]))
    return product(q, (turn[0], x, y, z)), unsort_axes(moments, scaled(1 / per_spin, w_later))


@law
def power_of_two_near_inverse(size: Number) -> Number:
    """A power of two that brings a size of any magnitude near 1, so that products of sizes neither over- nor underflow.

    Multiplying by it is exact.  It is 1 for sizes that are near 1 already.
    """
    scale = 1 + 0 * size
    for bound, power in _MAGNITUDES:
        scale = if_less(size, 1 / bound, power + 0 * size, if_less(bound, size, 1 / power + 0 * size, scale))
    return scale


@law
def _relative_rotation(i: Vector, w: Vector, t: Number) -> tuple[Quaternion, Vector]:
    """The rotation from the initial axes to those at t, and the angular velocity at t; moments i sorted."""
    solution = jacobi_solution(i, w)
    l2 = _square(i[0] * w[0]) + _square(i[1] * w[1]) + _square(i[2] * w[2])
    precession = precession_form(solution, i, w, l2)
    complement = larger(solution.complement, _FLAT + 0 * t)
    rungs, mean, mean_sum = _landen_ladder(
        1 + 0 * t, sqrt(complement), sqrt(precession.one_nu), 1 + 0 * t, 0 * t, _LANDEN_STEPS
    )

    # u = rate t is n half periods and a remainder r of at most half of one; the separatrix has no period.
    u = solution.rate * t
    near = if_less(solution.complement, _FLAT, -larger(-larger(u, -_FAR), -_FAR), u)
    n, phase = remove_half_turns(near * mean)
    sr, cr, dr = jacobi_from_ladder(rungs, phase)

    # The addition theorem gives the phase at t from the initial one, up to a factor (-1)^n of sn and cn.
    s0, c0 = solution.s, solution.c
    d0 = sqrt(c0 * c0 + complement * s0 * s0)
    below = 1 / (cr * cr + _square(sr * d0))
    s = (s0 * cr * dr + sr * c0 * d0) * below
    c = (c0 * cr - s0 * d0 * sr * dr) * below
    d = sqrt(c * c + complement * s * s)

    # psi/2 as a complex number: the steady part and n periods of G, then G(r), then G(u0 + r) - G(u0) - G(r).
    period = 0.7853981633974483 / mean * mean_sum * sqrt(precession.nu * precession.m_nu / precession.one_nu)
    drifted = if_less(solution.complement, _FLAT, (u - near) * (precession.beta / (2 * precession.one_nu)), n * period)
    steady = remove_whole_turns(precession.rate * t / 2 + precession.sign * drifted)
    re, im = half_third_kind(sr, cr, dr, precession.nu, precession.beta)
    p = _complex_product((cos(steady), sin(steady)), (re, precession.sign * im))
    apart = precession.one + precession.large * _one_minus_product(s0, c0, sr, cr, s, c)
    p = _complex_product(p, _half(_unit(apart, precession.arc * s0 * sr * s)))
    p = _complex_product(p, _unwind(precession, n, sr, cr * dr))

    sign_n = cos_of_quarters(2 * n)
    before = _direction(solution, i, w, s0, c0, d0)
    after = _direction(solution, i, w, *_signed(solution, sign_n, s, c), d)
    winding = (
        if_less(solution.high, 0, cos_of_quarters(n), 1 + 0 * t),
        if_less(solution.high, 0, -solution.sign * sin_of_quarters(n), 0 * t),
    )
    return _rotation_between(before, after, _unit(p[0], p[1]), winding), _spin(solution, w, sign_n * s, sign_n * c, d)


# Sorting the axes ----------------------------------------------------------------------------------------------------
@law
def sort_axes(moments: Vector, v: Vector) -> Vector:
    """The components of v along the axes sorted by increasing moment, a right-handed set."""
    a, b, c = moments
    low = -larger(-a, -b)
    x = if_less(c, low, v[2], if_less(b, a, v[1], v[0]))
    y = if_less(c, low, v[0], if_less(b, a, v[2], v[1]))
    z = if_less(c, low, v[1], if_less(b, a, v[0], v[2]))
    swap = _swap(moments)
    return (x, if_less(swap, 0, z, y), if_less(swap, 0, -y, z))


@law
def unsort_axes(moments: Vector, v: Vector) -> Vector:
    """The inverse of `sort_axes`."""
    a, b, c = moments
    low = -larger(-a, -b)
    swap = _swap(moments)
    x, y, z = v[0], if_less(swap, 0, -v[2], v[1]), if_less(swap, 0, v[1], v[2])
    return (
        if_less(c, low, y, if_less(b, a, z, x)),
        if_less(c, low, z, if_less(b, a, x, y)),
        if_less(c, low, x, if_less(b, a, y, z)),
    )


@law
def _swap(moments: Vector) -> Number:
    """Negative if, with the smallest moment first in cyclic order, the third is smaller than the second."""
    a, b, c = moments
    return if_less(c, -larger(-a, -b), b - a, if_less(b, a, a - c, c - b))


# The angular velocity in Jacobi elliptic functions -------------------------------------------------------------------
@law
def jacobi_solution(i: Vector, w: Vector) -> JacobiSolution:
    """The elliptic functions that the angular velocity follows.  [Landau and Lifshitz, section 37]"""
    i1, i2, i3 = i
    low, top = i2 - i1, i3 - i2
    high = i3 * top * (w[2] * w[2]) - i1 * low * (w[0] * w[0])
    j1, w1 = if_less(high, 0, i3, i1), if_less(high, 0, w[2], w[0])
    j3, w3 = if_less(high, 0, i1, i3), if_less(high, 0, w[0], w[2])
    d12, d13, d23 = if_less(high, 0, top, low), i3 - i1, if_less(high, 0, low, top)
    a = j1 * d13 * (w1 * w1) + i2 * d23 * (w[1] * w[1])
    b = i2 * d12 * (w[1] * w[1]) + j3 * d13 * (w3 * w3)
    moves = d23 * b
    scale = 1 / _or_one(moves)
    sign = if_less(w3, 0, -1 + 0 * a, 1 + 0 * a)
    outer, middle = sqrt(j1 * d13) * w1, sign * sqrt(i2 * d23) * w[1]
    per_wobble = power_of_two_near_inverse(larger(absolute(outer), absolute(middle)))
    c, s = _unit(per_wobble * outer, per_wobble * middle)
    complement = if_less(0, moves, d13 * absolute(high) * scale, 1 + 0 * a)
    rate = sqrt(moves / _or_one(j1 * i2 * j3))
    return JacobiSolution(high, moves, j1, i2, j3, d12, d13, d23, a, b, d12 * a * scale, complement, rate, sign, s, c)


class PrecessionForm(NamedTuple):
    """How psi is written: a steady rate, and an integral of the third kind of characteristic -nu, 0 <= nu <= 1."""

    rate: Number
    """l/I_max; or l/I_min, less an arc tangent and the integral"""
    sign: Number
    """Of the integral: 1 or -1"""
    nu: Number
    one_nu: Number
    m_nu: Number
    """nu, 1 + nu, m + nu"""
    beta: Number
    one: Number
    large: Number
    arc: Number
    """G(u0 + r) - G(u0) - G(r) = atan(arc s0 sr s/(one + large (1 - c0 cr c)))"""


@law
def precession_form(solution: JacobiSolution, i: Vector, w: Vector, l2: Number) -> PrecessionForm:
    """nu, 1 + nu and m + nu, each from its own product; where nu^2 > m, m/nu instead of nu.

    G = (beta/nu) u - atan(beta/nu s/(c d)) - G', G' with m/nu for nu.  [DLMF, 19.7.8 to 19.7.10, 19.21.12]
    """
    high, a, m = solution.high, solution.a, solution.m
    jb, jd = _or_one(solution.j3 * solution.b), _or_one(solution.j1 * solution.d23)
    nu = if_less(high, 0, solution.j3 * solution.d12 / jd, solution.j1 * a / jb)
    one_nu = if_less(high, 0, solution.j2 * solution.d13 / jd, l2 * solution.d13 / jb)
    one_nu = larger(one_nu, 1 + 0 * nu)
    part = if_less(high, 0, solution.d12 * l2 / _or_one(solution.j1), a * solution.j2 / _or_one(solution.j3))
    m_nu = part * solution.d13 / _or_one(solution.moves)
    over = 1 / _or_one(nu)
    slow = m * over - nu  # negative where nu^2 > m
    one_m_nu = m_nu * over
    arc = sqrt(one_nu * one_m_nu)
    one = 1 + 0 * nu
    nu_used = if_less(slow, 0, m * over, nu)
    one_used = if_less(slow, 0, one_m_nu, one_nu)
    m_used = if_less(slow, 0, m * (one_nu * over), m_nu)
    beta = sqrt(nu_used * one_used * m_used)
    kept = sqrt(_square(w[0]) + _square(w[1]) + _square(w[2]))
    rate = if_less(0, solution.moves, sqrt(l2) / _or_one(if_less(slow, 0, i[0], i[2])), kept)
    return PrecessionForm(
        rate,
        if_less(slow, 0, -one, one),
        nu_used,
        one_used,
        m_used,
        beta,
        if_less(slow, 0, over, one),
        if_less(slow, 0, one, nu),
        if_less(slow, 0, arc, beta),
    )


@law
def _unwind(precession: PrecessionForm, n: Number, s: Number, cd: Number) -> tuple[Number, Number]:
    """Half of -n pi - atan(beta/nu s/(c d)), as a complex number, where psi is written with l/I_min; else 1."""
    re, im = _half(_unit(cd, precession.arc * s))
    re, im = _complex_product((re, -im), (cos_of_quarters(n), -sin_of_quarters(n)))
    return if_less(precession.sign, 0, re, 1 + 0 * s), if_less(precession.sign, 0, im, 0 * s)


@law
def _signed(solution: JacobiSolution, sign: Number, s: Number, c: Number) -> tuple[Number, Number]:
    """sn and cn with the sign of the half periods; about the axis of the smallest moment the winding has it."""
    factor = if_less(solution.high, 0, 1 + 0 * sign, sign)
    return factor * s, factor * c


@law
def _spin(solution: JacobiSolution, w: Vector, s: Number, c: Number, d: Number) -> Vector:
    """The angular velocity at a phase.  [w1 = W1 cn, w2 = +-W2 sn, w3 = +-W3 dn]"""
    w1 = c * sqrt(solution.a / _or_one(solution.j1 * solution.d13))
    w2 = solution.sign * s * sqrt(solution.a / _or_one(solution.j2 * solution.d23))
    w3 = solution.sign * d * sqrt(solution.b / _or_one(solution.j3 * solution.d13))
    moves, high = solution.moves, solution.high
    return (
        if_less(0, moves, if_less(high, 0, w3, w1), w[0]),
        if_less(0, moves, w2, w[1]),
        if_less(0, moves, if_less(high, 0, w1, w3), w[2]),
    )


# Jacobi elliptic functions by Landen steps ----------------------------------------------------------------------------
@law
def _landen_ladder(
    a: Number, b: Number, p: Number, weight: Number, total: Number, left: Groups
) -> tuple[Groups, Number, Number]:
    """Ratios b/a' of the arithmetic-geometric mean of 1 and k'; the mean; the sum for the period.  [DLMF, 19.8.7]"""
    if len(left) == 0:
        return (), a, total
    a_next, product_ab, p2 = (a + b) / 2, a * b, p * p
    both = p2 + product_ab
    rest, mean, found = _landen_ladder(
        a_next,
        sqrt(product_ab),
        both / (2 * p),
        weight * (p2 - product_ab) / (2 * both),
        total + weight,
        left[1:],
    )
    return (b / a_next,) + rest, mean, found


@law
def jacobi_from_ladder(rungs: Groups, phase: Number) -> Vector:
    """sn, cn and dn at a phase of at most a right angle."""
    c, s = cos(phase), sin(phase)
    x, d = _climb_ladder(rungs, s / c)
    xx = -larger(-x * x, -_HUGE + 0 * x)
    below = 1 / (1 + xx)
    sn, cn = sqrt(xx * below), sqrt(below)
    return if_less(s, 0, -sn, sn), if_less(c, 0, -cn, cn), d


@law
def _climb_ladder(rungs: Groups, x: Number) -> tuple[Number, Number]:
    """sn/cn and dn from the tangent, step by step: the quotient is accurate where cn and dn are near 1 or near 0.

    [Gauss's transformation, DLMF, 22.7.6 to 22.7.8, with 1 + k = 2 - b/a']
    """
    if len(rungs) == 0:
        return x, 1 + 0 * x
    x, d = _climb_ladder(rungs[1:], x)
    ratio, one_k = rungs[0], 2 - rungs[0]
    xx = -larger(-x * x, -_HUGE + 0 * x)
    return one_k * x / d, (1 + ratio * xx) / (1 + one_k * xx)


# The integral of the third kind --------------------------------------------------------------------------------------
@law
def half_third_kind(s: Number, c: Number, d: Number, nu: Number, beta: Number) -> tuple[Number, Number]:
    """e^(iG/2), up to a positive factor, G = beta/3 s^3 R_J(c^2, d^2, 1, 1 + nu s^2).

    Each duplication gives an arc tangent, atan e, 2^n times: the complex number 1 + i e to that power.  [Carlson 1995]
    """
    one = 1 + 0 * s
    return _duplicate(c * c, d * d, one, 1 + nu * (s * s), beta * (s * s * s), _POWERS_OF_8)


@law
def _duplicate(x: Number, y: Number, z: Number, p: Number, e: Number, powers: Groups) -> tuple[Number, Number]:
    if len(powers) == 1:
        angle = e * _carlson_series(x, y, z, p) / (6 * powers[0])
        squared = angle * angle
        return 1 - squared / 2, angle * (1 - squared / 6)
    rx, ry, rz, rp = sqrt(x), sqrt(y), sqrt(z), sqrt(p)
    step = rx * ry + ry * rz + rz * rx
    here = e / (powers[0] * ((rp + rx) * (rp + ry) * (rp + rz)))
    re, im = _duplicate((x + step) / 4, (y + step) / 4, (z + step) / 4, (p + step) / 4, e, powers[1:])
    square, twice = re * re - im * im, 2 * (re * im)
    return square - here * twice, twice + here * square


@law
def _carlson_series(x: Number, y: Number, z: Number, p: Number) -> Number:
    """R_J of four nearly equal numbers.  [DLMF, 19.36.2]"""
    mean = (x + y + z + 2 * p) / 5
    scale = 1 / mean
    a, b, c = (mean - x) * scale, (mean - y) * scale, (mean - z) * scale
    e = -(a + b + c) / 2
    abc, ee = a * b * c, e * e
    e2 = a * b + a * c + b * c - 3 * ee
    e3 = abc + 2 * e2 * e + 4 * (ee * e)
    e4 = (2 * abc + e2 * e + 3 * (ee * e)) * e
    total = 1 - 3 * e2 / 14 + e3 / 6 + 9 * (e2 * e2) / 88 - 3 * e4 / 22 - 9 * (e2 * e3) / 52 + 3 * (abc * ee) / 26
    return total * scale * sqrt(scale)


@law
def _one_minus_product(s0: Number, c0: Number, sr: Number, cr: Number, s: Number, c: Number) -> Number:
    """1 - c0 cr c, without cancellation where it is small; cr >= 0."""
    plain = 1 - c0 * cr * c
    a, b = absolute(c0), absolute(c)
    small = s0 * s0 / (1 + a) + a * (sr * sr / (1 + cr) + cr * (s * s / (1 + b)))
    return if_less(c0 * c, 0, plain, small)


# Attitude ------------------------------------------------------------------------------------------------------------
@law
def _direction(solution: JacobiSolution, i: Vector, w: Vector, s: Number, c: Number, d: Number) -> Groups:
    """The direction of L in body axes: half its angle theta from axis 1, and its azimuth alpha, as complex numbers."""
    high, moves = solution.high, solution.moves
    root_a = sqrt(solution.a)
    outer = c * sqrt(solution.j1 / _or_one(solution.d13))
    middle = solution.sign * s * sqrt(solution.j2 / _or_one(solution.d23))
    circled = solution.sign * d * sqrt(solution.j3 * solution.b / _or_one(solution.d13))
    first = if_less(0, moves, if_less(high, 0, circled, root_a * outer), i[0] * w[0])
    second = if_less(0, moves, if_less(high, 0, middle, root_a * middle), i[1] * w[1])
    third = if_less(0, moves, if_less(high, 0, outer, circled), i[2] * w[2])
    across = sqrt(second * second + third * third) * if_less(0, moves, if_less(high, 0, root_a, 1 + 0 * d), 1 + 0 * d)
    return _half(_unit(first, across)), _unit(second, third)


@law
def _rotation_between(before: Groups, after: Groups, p: Groups, winding: Groups) -> Quaternion:
    """e^(e1 a0/2) e^(e3 th0/2) e^(e1 psi/2) e^(-e3 th/2) e^(-e1 a/2), multiplied out in complex numbers."""
    (ct0, st0), (ca0, sa0) = before
    (ct, st), (ca, sa) = after
    half = _complex_product(_half((ca * ca0 + sa * sa0, sa * ca0 - ca * sa0)), winding)
    along = _complex_product((p[0] * (ct0 * ct + st0 * st), p[1] * (ct0 * ct - st0 * st)), (half[0], -half[1]))
    across = _complex_product(
        (p[1] * (st0 * ct + ct0 * st), p[0] * (st0 * ct - ct0 * st)), _complex_product((ca0, sa0), half)
    )
    return along[0], along[1], across[0], across[1]


# Complex numbers and safe fractions ----------------------------------------------------------------------------------
@law
def _complex_product(a: Groups, b: Groups) -> tuple[Number, Number]:
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


@law
def _unit(x: Number, y: Number) -> tuple[Number, Number]:
    """(x, y)/|(x, y)|; (1, 0) for the zero vector."""
    length = sqrt(x * x + y * y)
    scale = 1 / _or_one(length)
    return if_less(0, length, x * scale, 1 + 0 * x), y * scale


@law
def _half(point: Groups) -> tuple[Number, Number]:
    """Cosine and sine of half the angle, between -pi and pi, whose cosine and sine are given."""
    x, y = point
    large = sqrt((1 + absolute(x)) / 2)
    small = y / (2 * large)
    return if_less(x, 0, absolute(small), large), if_less(x, 0, if_less(y, 0, -large, large), small)


@law
def _square(x: Number) -> Number:
    return x * x


@law
def _or_one(x: Number) -> Number:
    """x if it is positive, else 1."""
    return if_less(0, x, x, 1 + 0 * x)
