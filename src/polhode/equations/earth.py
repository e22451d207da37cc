"""The Earth: gravity with zonal harmonics, height above the ellipsoid, and the local horizontal.

World axes are inertial, with the Earth's center at the origin and its axis along z.  Nothing here depends on the angle
by which the Earth has turned: gravity, height, up, north and east are the same for all longitudes.
"""

from __future__ import annotations

from polhode.equations.formulations import StateView
from polhode.equations.inertia import BodyConstants, inertia_times, trace_of_inertia
from polhode.equations.law import Groups, Number, Vector, law
from polhode.equations.quaternions import to_body, to_world
from polhode.equations.scalar_ops import if_less, sqrt
from polhode.equations.vectors import cross, dot, plus, scaled, zero_vector

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


@law
def earth_gravity_with_gradient(
    t: Number, state: StateView, body: BodyConstants, params: Groups
) -> tuple[Vector, Vector]:
    """`earth_gravity`, and of its inverse-square part what acts on a body with extent, to second order in size/r.

    Torque 3 gm/r^3 n x (I n); force -3 gm/(2 r^4) ((tr I - 5 n.I n) n + 2 I n), n outward.  [Schaub 2018, eq. 4.158]
    """
    gm = params[0]
    force, _ = earth_gravity(t, state, body, params)
    rr = dot(state.position, state.position)
    r = sqrt(rr)
    n_body = scaled(1 / r, to_body(state.orientation, state.position))
    turned = inertia_times(body, n_body)
    trace = trace_of_inertia(body)
    share = plus(scaled(trace - 5 * dot(n_body, turned), n_body), scaled(2, turned))
    torque_body = scaled(3 * gm / (rr * r), cross(n_body, turned))
    more = to_world(state.orientation, scaled(-3 * gm / (2 * rr * rr), share))
    return plus(force, more), to_world(state.orientation, torque_body)


@law
def earth_gravity_with_gradient_potential(t: Number, state: StateView, body: BodyConstants, params: Groups) -> Number:
    """V = M V(r) - gm/(2 r^3) (tr I - 3 n.I n)  [Schaub 2018, eq. 4.166]"""
    rr = dot(state.position, state.position)
    r = sqrt(rr)
    n_body = scaled(1 / r, to_body(state.orientation, state.position))
    trace = trace_of_inertia(body)
    second = params[0] / (2 * rr * r) * (trace - 3 * dot(n_body, inertia_times(body, n_body)))
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
