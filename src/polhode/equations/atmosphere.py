"""Air: what its density, pressure, temperature and speed of sound are at a height, and how it moves."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from polhode.equations.elementary import exp, log
from polhode.equations.interpolation import interp
from polhode.equations.law import Groups, Number, Vector, law
from polhode.equations.scalar_ops import if_less, sqrt

STANDARD_GRAVITY = 9.80665
GAS_CONSTANT = 8314.32 / 28.9644
"""Of dry air, J/(kg K): R*/M0.  [US76, table 2]"""
HEAT_RATIO = 1.4
GEOPOTENTIAL_RADIUS = 6356766.0
"""m.  [US76, section 1.2.4]"""
LAYERS = (
    (0.0, -0.0065),
    (11000.0, 0.0),
    (20000.0, 0.001),
    (32000.0, 0.0028),
    (47000.0, 0.0),
    (51000.0, -0.0028),
    (71000.0, -0.002),
)
"""Geopotential height of the base in m, and gradient of the molecular-scale temperature in K/m.  [US76, table 4]"""
US76_RANGE = (-5000.0, 86000.0)
"""Geometric heights in m: those of the published tables below 86 km."""
MOLECULAR_WEIGHTS = (
    tuple(80000.0 + 500.0 * k for k in range(13)),
    (
        *(1.0, 0.999996, 0.999989, 0.999971, 0.999941, 0.999909, 0.999870),
        *(0.999829, 0.999786, 0.999741, 0.999694, 0.999641, 0.999579),
    ),
)
"""M/M0 against geometric height in m; 1 below.  [US76, table 8]"""


class AirProperties(NamedTuple):
    """Of the air at one height: kg/m3, Pa, K, m/s."""

    density: Number
    pressure: Number
    temperature: Number
    speed_of_sound: Number


def _find_bases() -> tuple[tuple[float, float, float, float], ...]:
    """(height, gradient, temperature, pressure) at the base of every layer, from sea level up."""
    temperature, pressure, bases = 288.15, 101325.0, []
    for k, (base, gradient) in enumerate(LAYERS):
        bases.append((base, gradient, temperature, pressure))
        thickness = LAYERS[k + 1][0] - base if k + 1 < len(LAYERS) else 0.0
        pressure = pressure * exp(_exponent(thickness, gradient, temperature))
        temperature = temperature + gradient * thickness
    return tuple(bases)


@law
def _exponent(above: Number, gradient: Number, base_temperature: Number) -> Number:
    """log(p/p_base) at `above` m over the base of a layer.  [US76, eq. 33a, 33b]"""
    zero = 0 * gradient
    slope = if_less(zero, gradient * gradient, gradient, 1 + zero)
    weight = STANDARD_GRAVITY / GAS_CONSTANT
    graded = -weight / slope * log(1 + slope * above / base_temperature)
    return if_less(zero, gradient * gradient, graded, -weight * above / base_temperature)


BASES = _find_bases()


@law
def us76(height: Number, params: Groups) -> AirProperties:
    """The US Standard Atmosphere 1976 at a geometric height from -5 to 86 km; NaN beyond.  [US76]"""
    h = GEOPOTENTIAL_RADIUS * height / (GEOPOTENTIAL_RADIUS + height)
    base, gradient, start, pressure = BASES[0]
    for above in BASES[1:]:
        base, gradient = if_less(h, above[0], base, above[0]), if_less(h, above[0], gradient, above[1])
        start, pressure = if_less(h, above[0], start, above[2]), if_less(h, above[0], pressure, above[3])
    low, high = US76_RANGE
    inside = if_less(height, low, math.nan, if_less(high, height, math.nan, 1.0))
    molecular = (start + gradient * (h - base)) * inside
    pressure = pressure * exp(_exponent(h - base, gradient, start))
    density = pressure / (GAS_CONSTANT * molecular)
    temperature = molecular * interp(height, *MOLECULAR_WEIGHTS)
    return AirProperties(density, pressure * inside, temperature, sqrt(HEAT_RATIO * GAS_CONSTANT * molecular))


@law
def exponential_air(height: Number, params: Groups) -> AirProperties:
    """density = density at height 0 times exp(-height/scale height), at one temperature."""
    density, scale_height, temperature = params
    return uniform_air(height, (density * exp(-height / scale_height), temperature))


@law
def uniform_air(height: Number, params: Groups) -> AirProperties:
    """The same air at all heights."""
    density, temperature = params
    pressure = density * GAS_CONSTANT * temperature
    return AirProperties(density, pressure, temperature, sqrt(HEAT_RATIO * GAS_CONSTANT * temperature))


# Winds: (t, height, params) -> the velocity of the air relative to the ground, north, east and down -----------------
@law
def steady_wind(t: Number, height: Number, params: Groups) -> Vector:
    """The same wind everywhere."""
    north, east, down = params[0]
    return (north, east, down)


@law
def sheared_wind(t: Number, height: Number, params: Groups) -> Vector:
    """w + (height - h) dw/dh: the line through the winds at two heights, also beyond them."""
    (low, high), (first, second) = params
    share = (height - low) / (high - low)
    return (
        first[0] + share * (second[0] - first[0]),
        first[1] + share * (second[1] - first[1]),
        first[2] + share * (second[2] - first[2]),
    )


@law
def wind_table(t: Number, height: Number, params: Groups) -> Vector:
    """Interpolated in a table of heights; NaN beyond its ends."""
    heights, north, east, down = params
    return (
        look_up(height, heights, north),
        look_up(height, heights, east),
        look_up(height, heights, down),
    )


@law
def look_up(x: Number, knots: Groups, values: Any) -> Number:
    """Linear interpolation in a table; NaN beyond its ends."""
    last = len(knots) - 1
    return if_less(x, knots[0], math.nan, if_less(knots[last], x, math.nan, interp(x, knots, values)))


@law
def look_up_in_two(x: Number, y: Number, knots: Groups, more_knots: Groups, rows: Groups) -> Number:
    """Bilinear interpolation in a table of rows, one for each of the knots of x; NaN beyond its ends."""
    across = tuple(look_up(y, more_knots, row) for row in rows)
    return look_up(x, knots, across)
