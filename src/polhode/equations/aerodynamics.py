"""Forces and moments of the air on a body, from what the body does relative to the air."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from polhode.equations.atmosphere import AirProperties, look_up, look_up_in_two
from polhode.equations.earth import height_and_up, ned_to_world
from polhode.equations.elementary import atan2
from polhode.equations.formulations import StateView
from polhode.equations.inertia import BodyConstants
from polhode.equations.law import Groups, Number, Vector, law
from polhode.equations.quaternions import to_body, to_world
from polhode.equations.scalar_ops import if_less, sqrt
from polhode.equations.vectors import cross, dot, minus, plus, scaled

Kernel = Callable[..., tuple[Vector, Vector]]


class Flow(NamedTuple):
    """What a body meets: everything relative to the air around it, body axes, and the air itself.

    Examples
    --------
    >>> import polhode as ph
    >>> def lift(flow: ph.Flow):
    ...     return 5.7 * flow.angle_of_attack
    """

    height: Number
    """Above the ellipsoid, or over flat ground z, in m."""
    velocity_body: Vector
    """Of the center of mass relative to the air, along body axes, in m/s."""
    angular_velocity_body: Vector
    """Relative to the air, which turns with the Earth, along body axes, in rad/s."""
    airspeed: Number
    air: AirProperties

    @property
    def dynamic_pressure(self) -> Number:
        """density V^2/2, in Pa."""
        return self.air.density * self.airspeed * self.airspeed / 2

    @property
    def mach(self) -> Number:
        """V/speed of sound."""
        return self.airspeed / self.air.speed_of_sound

    @property
    def angle_of_attack(self) -> Number:
        """atan2(w, u) of the velocity (u, v, w) relative to the air, in rad.  [Stevens 2016, eq. 2.3-6b]"""
        return atan2(self.velocity_body[2], self.velocity_body[0])

    @property
    def sideslip(self) -> Number:
        """asin(v/V) of the velocity (u, v, w) relative to the air, in rad.  [Stevens 2016, eq. 2.3-6b]"""
        u, v, w = self.velocity_body
        return atan2(v, sqrt(u * u + w * w))


@law
def over_ground(position: Vector, params: Groups) -> tuple[Number, Vector, Vector, Vector]:
    """Height, up, and the velocity and angular velocity of air that rests, over flat ground: z is up."""
    zero = 0 * position[2]
    still = (zero, zero, zero)
    return position[2], (zero, zero, 1 + zero), still, still


@law
def over_earth(position: Vector, params: Groups) -> tuple[Number, Vector, Vector, Vector]:
    """Height, up, and the velocity and angular velocity of air that turns with the Earth."""
    radius, k, rate = params
    height, up = height_and_up(position, radius, k)
    zero = 0 * height
    spin = (zero, zero, rate + zero)
    return height, up, cross(spin, position), spin


@law
def flat_ned_to_world(up: Vector, ned: Vector) -> Vector:
    """Over flat ground x is east and y is north."""
    return (ned[1], ned[0], -ned[2])


@lru_cache(maxsize=256)
def build_flow(place: Any, air: Any, wind: Any) -> Callable[..., Flow]:
    """(t, state, params) -> Flow, params = (of the place, of the air, of the wind); `wind` is None in calm air."""
    from_ned = ned_to_world if place is over_earth else flat_ned_to_world

    @law
    def flow(t: Number, state: StateView, params: Groups) -> Flow:
        height, up, still, spin = place(state.position, params[0])
        if wind is not None:
            still = plus(still, from_ned(up, wind(t, height, params[2])))
        velocity = minus(state.velocity, still)
        return Flow(
            height,
            to_body(state.orientation, velocity),
            to_body(state.orientation, minus(state.angular_velocity, spin)),
            sqrt(dot(velocity, velocity)),
            air(height, params[1]),
        )

    return flow


# Drag -----------------------------------------------------------------------------------------------------------------
@lru_cache(maxsize=256)
def build_drag(flow: Callable[..., Flow], coefficient: Callable[..., Number], has_arm: bool) -> Kernel:
    """-density V S CD/2 times the velocity relative to the air; params = (surroundings, S, CD, arm)."""

    @law
    def drag(t: Number, state: StateView, body: BodyConstants, params: Groups) -> tuple[Vector, Vector]:
        surroundings, area, cd, com_to_pressure_body = params
        met = flow(t, state, surroundings)
        size = -met.air.density * met.airspeed * area * coefficient(met, cd) / 2
        force_body = scaled(size, met.velocity_body)
        zero = 0 * size
        torque_body = cross(com_to_pressure_body, force_body) if has_arm else (zero, zero, zero)
        return to_world(state.orientation, force_body), to_world(state.orientation, torque_body)

    return drag


# Coefficients: (flow, params) -> number ---------------------------------------------------------------------------
@law
def constant_coefficient(flow: Flow, params: Groups) -> Number:
    """A number."""
    return params[0]


@lru_cache(maxsize=256)
def table_coefficient(variables: tuple[str, ...], is_held: bool) -> Callable[..., Number]:
    """A table in one or two variables of the flow; params = (knots, values), or (knots, knots, rows).

    Beyond its ends NaN, or with `is_held` the value at the end.
    """

    @law
    def in_one(flow: Flow, params: Groups) -> Number:
        knots, values = params
        return look_up(_bounded(getattr(flow, variables[0]), knots, is_held), knots, values)

    @law
    def in_two(flow: Flow, params: Groups) -> Number:
        knots, more_knots, rows = params
        x, y = (getattr(flow, variable) for variable in variables)
        return look_up_in_two(_bounded(x, knots, is_held), _bounded(y, more_knots, is_held), knots, more_knots, rows)

    return in_one if len(variables) == 1 else in_two


def _bounded(x: Number, knots: Groups, is_held: bool) -> Number:
    if not is_held:
        return x
    last = len(knots) - 1
    return if_less(x, knots[0], knots[0], if_less(knots[last], x, knots[last], x))


# Forces and moments -------------------------------------------------------------------------------------------------
FORCE_COEFFICIENTS = {"wind": ("CD", "CY", "CL"), "body": ("CX", "CY", "CZ")}
MOMENT_COEFFICIENTS = ("Cl", "Cm", "Cn")
DAMPING_COEFFICIENTS = {"Clp": (0, 0), "Clr": (0, 2), "Cmq": (1, 1), "Cnp": (2, 0), "Cnr": (2, 2)}
"""Each: the axis of the moment, and of the angular velocity."""


@law
def wind_to_body(velocity_body: Vector, wind_axes: Vector) -> Vector:
    """From wind axes (x along the velocity relative to the air, z in the body's x-z plane) to body axes.

    [Stevens 2016, eq. 2.3-2, transposed]
    """
    u, v, w = velocity_body
    zero = 0 * u
    level = sqrt(u * u + w * w)
    speed = sqrt(u * u + v * v + w * w)
    safe_level, safe_speed = if_less(zero, level, level, 1 + zero), if_less(zero, speed, speed, 1 + zero)
    cos_a, sin_a = if_less(zero, level, u / safe_level, 1 + zero), w / safe_level
    cos_b, sin_b = if_less(zero, speed, level / safe_speed, 1 + zero), v / safe_speed
    x, y, z = wind_axes
    level_x = x * cos_b - y * sin_b
    return (cos_a * level_x - sin_a * z, sin_b * x + cos_b * y, sin_a * level_x + cos_a * z)


@law
def damping_moment(
    density: Number, airspeed: Number, area: Number, arm: Number, derivative: Number, rate: Number
) -> Number:
    """q S l C (w l'/(2 V)) = density V S l l' C w/4, arm = l l': no division, so that it holds at rest too."""
    return density * airspeed * area * arm * derivative * rate / 4


@lru_cache(maxsize=256)
def build_aerodynamics(
    flow: Callable[..., Flow], names: tuple[str, ...], laws: tuple[Any, ...], axes: str, by_inertial_rates: bool
) -> Kernel:
    """Forces and moments of the coefficients of these names; params = (surroundings, S, (b, c, b), arm, coefficients).

    [Stevens 2016, section 2.3]
    """
    order = FORCE_COEFFICIENTS[axes]
    signs = (-1, 1, -1) if axes == "wind" else (1, 1, 1)

    @law
    def aerodynamics(t: Number, state: StateView, body: BodyConstants, params: Groups) -> tuple[Vector, Vector]:
        surroundings, area, lengths, com_to_reference_body, coefficients = params
        met = flow(t, state, surroundings)
        values = {names[i]: laws[i](met, coefficients[i]) for i in range(len(names))}
        zero = 0 * met.airspeed
        force_of = met.dynamic_pressure * area
        push: Any = tuple(signs[i] * values[order[i]] * force_of if order[i] in values else zero for i in range(3))
        force_body = wind_to_body(met.velocity_body, push) if axes == "wind" else push
        turn = [zero, zero, zero]
        for i in range(3):
            if MOMENT_COEFFICIENTS[i] in values:
                turn[i] = turn[i] + force_of * lengths[i] * values[MOMENT_COEFFICIENTS[i]]
        for name, (moment, rate) in DAMPING_COEFFICIENTS.items():
            if name in values:
                rates = state.angular_velocity_body if by_inertial_rates else met.angular_velocity_body
                arm, spin = lengths[moment] * lengths[rate], rates[rate]
                damping = damping_moment(met.air.density, met.airspeed, area, arm, values[name], spin)
                turn[moment] = turn[moment] + damping
        torque_body = plus((turn[0], turn[1], turn[2]), cross(com_to_reference_body, force_body))
        return to_world(state.orientation, force_body), to_world(state.orientation, torque_body)

    return aerodynamics
