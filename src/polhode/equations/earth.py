"""The Earth: gravity with zonal harmonics, height above the ellipsoid, and the local horizontal.

World axes are inertial, with the Earth's center at the origin and its axis along z.  Nothing here depends on the angle
by which the Earth has turned: gravity, height, up, north and east are the same for all longitudes.
"""

from __future__ import annotations

from collections.abc import Sequence

from polhode.equations.formulations import StateView
from polhode.equations.inertia import BodyConstants, inertia_times, trace_of_inertia
from polhode.equations.law import Groups, Number, Vector, law
from polhode.equations.quaternions import to_body, to_world
from polhode.equations.scalar_ops import if_less, sqrt
from polhode.equations.vectors import cross, dot, minus, plus, scaled, zero_vector

NEWTON_STEPS = 2
"""Enough for 16 digits of the height wherever it is above -500 km, for flattenings as small as the Earth's."""


# Gravity --------------------------------------------------------------------------------------------------------------
@law
def zonal_acceleration(position: Vector, gm: Number, radius: Number, zonal: Groups) -> Vector:
    """g = -grad V of `zonal_potential`, zonal = (J2, J3, ...).  [Vallado 2013, section 8.6]

    With s = z/r and (n + 1) P_n + s P_n' = P'_(n+1):
    g = -gm/r^3 (1 - sum J_n (a/r)^n P'_(n+1)(s)) r - gm/r^2 sum J_n (a/r)^n P'_n(s) z_axis.
    """
    rr = dot(position, position)
    r = sqrt(rr)
    s, ratio = position[2] / r, radius / r
    before, legendre, slope, power = 1 + 0 * s, s, 1 + 0 * s, ratio
    outward, axial = 0 * s, 0 * s
    for k in range(len(zonal)):
        n = k + 2
        before, legendre = legendre, ((2 * n - 1) * s * legendre - (n - 1) * before) / n
        slope, power = n * before + s * slope, power * ratio
        outward = outward + zonal[k] * power * ((n + 1) * legendre + s * slope)
        axial = axial + zonal[k] * power * slope
    pull = scaled(-gm / (rr * r) * (1 - outward), position)
    return (pull[0], pull[1], pull[2] - gm / rr * axial)


@law
def zonal_potential(position: Vector, gm: Number, radius: Number, zonal: Groups) -> Number:
    """V = -gm/r (1 - sum J_n (a/r)^n P_n(z/r)), per mass.  [Vallado 2013, eq. 8-19]"""
    r = sqrt(dot(position, position))
    s, ratio = position[2] / r, radius / r
    before, legendre, power = 1 + 0 * s, s, ratio
    total = 0 * s
    for k in range(len(zonal)):
        n = k + 2
        before, legendre = legendre, ((2 * n - 1) * s * legendre - (n - 1) * before) / n
        power = power * ratio
        total = total + zonal[k] * power * legendre
    return -gm / r * (1 - total)


@law
def earth_gravity(t: Number, state: StateView, body: BodyConstants, params: Groups) -> tuple[Vector, Vector]:
    """F = M g at the center of mass, no torque."""
    gm, radius, zonal = params
    return scaled(body.mass, zonal_acceleration(state.position, gm, radius, zonal)), zero_vector(t)


@law
def earth_gravity_potential(t: Number, state: StateView, body: BodyConstants, params: Groups) -> Number:
    """V = M V(r)"""
    gm, radius, zonal = params
    return body.mass * zonal_potential(state.position, gm, radius, zonal)


def legendre_derivatives(s: Number, highest: int) -> tuple[tuple[Number, ...], ...]:
    """P_m and its first three derivatives at s: row k, column m, with m from 0 to the highest.

    (m + 1) P_(m+1) = (2 m + 1) s P_m - m P_(m-1), and P_(m+1)^(k+1) = (m + 1 + k) P_m^(k) + s P_m^(k+1).
    """
    zero = 0 * s
    rows: list[list[Number]] = [[1 + zero, s], [zero, 1 + zero], [zero, zero], [zero, zero]]
    for m in range(1, highest):
        rows[0].append(((2 * m + 1) * s * rows[0][m] - m * rows[0][m - 1]) / (m + 1))
        for k in range(3):
            rows[k + 1].append((m + 1 + k) * rows[k][m] + s * rows[k + 1][m])
    return tuple(tuple(row) for row in rows)


@law
def zonal_slopes(s: Number, ratio: Number, zonal: Groups) -> tuple[tuple[Number, ...], ...]:
    """Sums of J_n (a/r)^n P_(n+i)^(k)(s) over the harmonics: row k = 1, 2, 3, column i = 0..3.

    With G(m, k) = r^-(m+k+1) P_m^(k)(z/r) a harmonic is a multiple of G(n, 0), and its gradients follow from
    grad G(m, k) = G(m, k+1) k - G(m+1, k+1) r, k the axis of the Earth.
    """
    rows = legendre_derivatives(s, len(zonal) + 4)[1:]
    weights, power = [], ratio
    for j in zonal:
        power = power * ratio
        weights.append(j * power)
    return tuple(tuple(_weighted(weights, row[i + 2 :], 0 * s) for i in range(4)) for row in rows)


def _weighted(weights: Sequence[Number], numbers: Sequence[Number], total: Number) -> Number:
    """The sum of products, from left to right."""
    for w, x in zip(weights, numbers, strict=False):  # rows are longer than some sums need
        total = total + w * x
    return total


@law
def earth_gravity_with_gradient(
    t: Number, state: StateView, body: BodyConstants, params: Groups
) -> tuple[Vector, Vector]:
    """`earth_gravity`, and what its gradient does to a body with extent, to second order in size/r.

    With the second derivatives H of the potential: torque sum_l I_l x H_l (columns), force grad(H:I)/2.
    Inverse square: torque 3 gm/r^3 n x (I n); force -3 gm/(2 r^4) ((tr I - 5 n.I n) n + 2 I n), n outward.
    [Schaub 2018, eq. 4.158]  Zonal harmonics, with k the axis of the Earth and s1, s2, s3 of `zonal_slopes`:
    H = gm/r^3 (s2[2] n n - s2[1] (n k + k n) + s2[0] k k - s1[1] 1).
    """
    gm, radius, zonal = params
    force, _ = earth_gravity(t, state, body, params)
    rr = dot(state.position, state.position)
    r = sqrt(rr)
    n_body = scaled(1 / r, to_body(state.orientation, state.position))
    turned = inertia_times(body, n_body)
    trace = trace_of_inertia(body)
    share = plus(scaled(trace - 5 * dot(n_body, turned), n_body), scaled(2, turned))
    torque_body = scaled(3 * gm / (rr * r), cross(n_body, turned))
    more_body = scaled(-3 * gm / (2 * rr * rr), share)
    if zonal:
        axis_body = to_body(state.orientation, (0 * r, 0 * r, 1 + 0 * r))
        turned_axis = inertia_times(body, axis_body)
        _, s2, s3 = zonal_slopes(state.position[2] / r, radius / r, zonal)
        nn, nk, kk = dot(n_body, turned), dot(axis_body, turned), dot(axis_body, turned_axis)
        along_n = trace * s2[2] - nn * s3[3] + 2 * nk * s3[2] - kk * s3[1]
        along_k = -trace * s2[1] + nn * s3[2] - 2 * nk * s3[1] + kk * s3[0]
        along = plus(scaled(along_n, n_body), scaled(along_k, axis_body))
        across = minus(scaled(2 * s2[2], turned), scaled(2 * s2[1], turned_axis))
        more_body = plus(more_body, scaled(gm / (2 * rr * rr), plus(along, across)))
        pure = plus(scaled(s2[2], cross(turned, n_body)), scaled(s2[0], cross(turned_axis, axis_body)))
        mixed = scaled(s2[1], plus(cross(turned_axis, n_body), cross(turned, axis_body)))
        torque_body = plus(torque_body, scaled(gm / (rr * r), minus(pure, mixed)))
    return plus(force, to_world(state.orientation, more_body)), to_world(state.orientation, torque_body)


@law
def earth_gravity_with_gradient_potential(t: Number, state: StateView, body: BodyConstants, params: Groups) -> Number:
    """V = M V(r) - H:I/2, of the inverse square M V(r) - gm/(2 r^3) (tr I - 3 n.I n).  [Schaub 2018, eq. 4.166]"""
    gm, radius, zonal = params
    rr = dot(state.position, state.position)
    r = sqrt(rr)
    n_body = scaled(1 / r, to_body(state.orientation, state.position))
    trace = trace_of_inertia(body)
    turned = inertia_times(body, n_body)
    second = gm / (2 * rr * r) * (trace - 3 * dot(n_body, turned))
    if zonal:
        axis_body = to_body(state.orientation, (0 * r, 0 * r, 1 + 0 * r))
        s1, s2, _ = zonal_slopes(state.position[2] / r, radius / r, zonal)
        mixed = s2[2] * dot(n_body, turned) - 2 * s2[1] * dot(axis_body, turned)
        contracted = mixed + s2[0] * dot(axis_body, inertia_times(body, axis_body)) - s1[1] * trace
        second = second + gm / (2 * rr * r) * contracted
    return earth_gravity_potential(t, state, body, params) - second


# Height and the vertical ----------------------------------------------------------------------------------------------
@law
def vertical_root(pp: Number, zz: Number, k: Number, v: Number) -> Number:
    """One step of Newton's method for the root of p^2/(v + 1 - k)^2 + k z^2/v^2 = 1, lengths in equatorial radii.

    The ellipsoid's normal through (p, z) meets it at p/(v + 1 - k), k z/v, where k = (b/a)^2 and v > 0 is the largest
    root; the left side is convex, so that steps from below increase and never pass it.  [Eberly 2013, section 3]
    """
    outer = v + (1 - k)
    across, along = pp / (outer * outer), k * zz / (v * v)
    return v + (across + along - 1) / (2 * (across / outer + along / v))


@law
def height_and_up(position: Vector, radius: Number, k: Number) -> tuple[Number, Vector]:
    """Geodetic height, and the outward normal of the ellipsoid, without angles: valid above -500 km.

    `radius` is the equatorial one, k = (b/a)^2.  The start of the iteration is right to first order in 1 - k.
    """
    x, y, z = scaled(1 / radius, position)
    pp, zz = x * x + y * y, z * z
    rr = pp + zz
    r = sqrt(rr)
    v = r - (1 - k) * (pp / rr + zz / (2 * r))
    for _ in range(NEWTON_STEPS):
        v = vertical_root(pp, zz, k, v)
    return height_and_up_of_root((x, y, z), radius, k, v)


@law
def height_and_up_of_root(place: Vector, radius: Number, k: Number, v: Number) -> tuple[Number, Vector]:
    """Height and outward normal, of a place in equatorial radii and its root v."""
    outer = v + (1 - k)
    n = (place[0] / outer, place[1] / outer, place[2] / v)
    length = sqrt(dot(n, n))
    return radius * (v - k) * length, scaled(1 / length, n)


@law
def north_and_east(up: Vector) -> tuple[Vector, Vector]:
    """East = z_axis x up, normalized, and north = up x east; on the axis east is y."""
    across = up[0] * up[0] + up[1] * up[1]
    zero = 0 * across
    away = if_less(zero, across, across, 1 + zero)
    inverse = 1 / sqrt(away)
    east = (-up[1] * inverse, if_less(zero, across, up[0] * inverse, 1 + zero), zero)
    return cross(up, east), east


@law
def ned_to_world(up: Vector, ned: Vector) -> Vector:
    """A vector given by its components north, east and down."""
    north, east = north_and_east(up)
    return plus(plus(scaled(ned[0], north), scaled(ned[1], east)), scaled(-ned[2], up))
