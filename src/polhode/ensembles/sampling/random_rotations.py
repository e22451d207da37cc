"""Rotations and directions from numbers between 0 and 1.  Quaternions are (w, x, y, z), body to world."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from polhode import validation
from polhode.ensembles.sampling.distributions import Distribution, plain
from polhode.ensembles.sampling.normal_quantile import normal_quantile
from polhode.ensembles.sampling.parameters import check_components, check_not_negative
from polhode.equations.quaternions import product
from polhode.equations.scalar_ops import cos, sin
from polhode.errors import InputError, show
from polhode.validation import Array

TURN = 2 * np.pi


def random_rotation() -> Distribution:
    """Uniform on SO(3)."""
    return Distribution("random_rotation", {}, 3, lambda u, members: uniform_rotations(u))


def small_rotation(where: str, standard_deviation: Any, mean: Any) -> Distribution:
    """Attitudes about a mean one."""
    deviations = check_three(standard_deviation, "standard_deviation", where)
    q = validation.check_numbers(mean, f"mean of {where}", (4,))
    if q.shape != (4,) or not q.any():
        raise InputError(f"mean of {where} must be one quaternion (w, x, y, z), not 0, but is {show(mean)}")
    unit = normalized(q)
    parameters = {"standard_deviation": plain(standard_deviation), "mean": plain(mean)}
    return Distribution("small_rotation", parameters, 3, lambda u, members: rotations_about(unit, deviations, u))


def random_direction(where: str, axis: Any, half_angle: Any) -> Distribution:
    """Uniform on the sphere, or in a cone."""
    direction = validation.check_vector(axis, f"axis of {where}", "axis")
    angle = validation.check_number(half_angle, f"half_angle of {where}")
    if not direction.any():
        raise InputError(f"axis of {where} must have a direction, but is 0")
    if not 0 <= angle <= np.pi:
        raise InputError(f"half_angle of {where} must be from 0 to pi rad, but is {angle:g}: is it in degrees?")
    unit = normalized(direction)
    parameters = {"axis": plain(axis), "half_angle": angle}
    return Distribution("random_direction", parameters, 2, lambda u, members: directions_in_cone(unit, angle, u))


def check_three(value: Any, name: str, where: str) -> Array:
    """Three standard deviations, given as one for all or one for each."""
    components = check_components(where, **{name: value})
    if components.size not in (1, 3):
        raise InputError(f"{name} of {where} must be one number or three, not {show(value)}")
    check_not_negative(components.values[0], name, where)
    return np.broadcast_to(components.values[0], (3,))


def normalized(vector: Array) -> Array:
    """A vector of length 1; its largest component is brought to 1 first, so that nothing overflows."""
    scaled: Array = vector / np.abs(vector).max()
    squared = 0.0
    for x in scaled.tolist():
        squared += x * x
    return scaled / math.sqrt(squared)


def uniform_rotations(u: Array) -> Array:
    """Unit quaternions of rotations that are uniform on SO(3), (n, 4), from (n, 3) numbers.  [Shoemake 1992]"""
    outer, inner = np.sqrt(1.0 - u[:, 0]), np.sqrt(u[:, 0])
    a, b = TURN * u[:, 1], TURN * u[:, 2]
    return np.stack((inner * cos(b), outer * sin(a), outer * cos(a), inner * sin(b)), axis=-1)


def rotations_about(mean: Array, deviations: Array, u: Array) -> Array:
    """mean * exp(v/2): v, a rotation vector along the body axes, has independent normal components; (n, 4)."""
    vector = [deviations[i] * normal_quantile(u[:, i]) for i in range(3)]
    angle = np.sqrt((vector[0] * vector[0] + vector[1] * vector[1]) + vector[2] * vector[2])
    half = angle / 2
    # sin(angle/2)/angle; without a turn it is 1/2.
    scale = np.where(angle > 0.0, sin(half) / np.where(angle > 0.0, angle, 1.0), 0.5)
    turn = (cos(half), scale * vector[0], scale * vector[1], scale * vector[2])
    return np.stack(product(tuple(mean.tolist()), turn), axis=-1)


def directions_in_cone(axis: Array, half_angle: float, u: Array) -> Array:
    """Unit vectors, uniform on the part of the sphere within an angle from the axis; (n, 3) from (n, 2) numbers."""
    sine = sin(half_angle / 2)
    depth = 2.0 * sine * sine * u[:, 0]  # 1 - cos(angle from the axis), without cancellation in a narrow cone
    along, across = 1.0 - depth, np.sqrt(depth * (2.0 - depth))
    angle = TURN * u[:, 1]
    first, second = perpendicular_pair(axis)
    x, y = across * cos(angle), across * sin(angle)
    return np.stack([along * axis[i] + (x * first[i] + y * second[i]) for i in range(3)], axis=-1)


def perpendicular_pair(axis: Array) -> tuple[Array, Array]:
    """Two unit vectors that make a right-handed frame with a unit vector; x and y if that is z.  [Duff 2017]"""
    x, y, z = axis.tolist()
    sign = 1.0 if z >= 0 else -1.0
    a = -1.0 / (sign + z)
    b = x * y * a
    return np.array((1.0 + sign * x * x * a, sign * b, -sign * x)), np.array((b, sign + y * y * a, -y))
