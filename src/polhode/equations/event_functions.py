"""Functions of the state that ready-made events watch: each is zero where the event happens."""

from __future__ import annotations

from polhode.equations.earth import height_and_up
from polhode.equations.formulations import StateView
from polhode.equations.inertia import BodyConstants
from polhode.equations.law import Groups, Number, Vector, law
from polhode.equations.quaternions import to_world
from polhode.equations.scalar_ops import sqrt
from polhode.equations.vectors import dot, minus, plus


@law
def _point_of(state: StateView, com_to_point_body: Vector) -> Vector:
    """x + R r: where a point of the body is."""
    return plus(state.position, to_world(state.orientation, com_to_point_body))


@law
def height_above(t: Number, state: StateView, body: BodyConstants, params: Groups) -> Number:
    """z of a point of the body less a height: params = (height, point from the center of mass, body axes)."""
    height, com_to_point_body = params
    return _point_of(state, com_to_point_body)[2] - height


@law
def height_above_earth(t: Number, state: StateView, body: BodyConstants, params: Groups) -> Number:
    """The same above the ellipsoid: params = (height, point, equatorial radius, (b/a)^2)."""
    height, com_to_point_body, radius, k = params
    return height_and_up(_point_of(state, com_to_point_body), radius, k)[0] - height


@law
def vertical_speed(t: Number, state: StateView, body: BodyConstants, params: Groups) -> Number:
    """v_z, which falls through zero at the highest point."""
    return state.velocity[2]


@law
def vertical_speed_over_earth(t: Number, state: StateView, body: BodyConstants, params: Groups) -> Number:
    """The rate of the height above the ellipsoid, up . v: params = (equatorial radius, (b/a)^2).

    The Earth turns about its axis of symmetry, so that its rotation changes no height.
    """
    radius, k = params
    return dot(height_and_up(state.position, radius, k)[1], state.velocity)


@law
def distance_from(t: Number, state: StateView, body: BodyConstants, params: Groups) -> Number:
    """|x - point| less a distance: params = (distance, point)."""
    distance, point = params
    apart = minus(state.position, point)
    return sqrt(dot(apart, apart)) - distance


@law
def tilt_beyond(t: Number, state: StateView, body: BodyConstants, params: Groups) -> Number:
    """|a - d|^2 - 4 sin^2(angle/2), of an axis a of the body and a direction d: params = (the last term, a, d).

    It keeps its digits where the angle is small, and cos(angle) - a . d does not.
    """
    chord, axis_body, direction = params
    apart = minus(to_world(state.orientation, axis_body), direction)
    return dot(apart, apart) - chord
