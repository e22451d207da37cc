"""Where a body is, and how it is turned, between two outputs of a motion: for pictures, not for numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.equations import quaternions
from polhode.validation import Array


def interpolate_attitudes(
    times: Array, quaternions_wxyz: Array, rates_body: Array, moments: Array, arriving: Array | None = None
) -> Array:
    """Attitudes at any moments, from those at the outputs and the angular velocities there.

    From an output on, the body turns steadily at the mean of the angular velocities at both ends (along its own axes),
    which knows of whole turns; what is missing of the rates and of the turn at the ends is made up by a cubic in time.
    The error falls as the fourth power of the time between outputs.

    Parameters
    ----------
    times : array, (n,)
        Of the outputs, in s.
    quaternions_wxyz : array, (n, ..., 4)
        The attitudes at them, body to world.
    rates_body : array, (n, ..., 3)
        The angular velocities at them, along the body's axes, in rad/s.
    moments : array, (k,)
        When to know the attitude, in s, within the outputs.
    arriving : array, (n, ..., 3), optional
        The angular velocities just before the outputs, where they jump; else the same.

    Returns
    -------
    array, (k, ..., 4)

    Examples
    --------
    >>> import numpy as np
    >>> from polhode.plot.snapshot.interpolation import attitudes_between
    >>> still, spin = np.array([(1.0, 0, 0, 0)] * 2), np.array([(0, 0, 20 * np.pi)] * 2)  # ten turns a second
    >>> attitudes_between(np.array([0.0, 1.0]), still, spin, np.array([0.025])).round(6).tolist()
    [[0.707107, 0.0, 0.0, 0.707107]]
    """
    if len(times) == 1:
        return np.asarray(quaternions_wxyz[np.zeros(len(moments), dtype=int)])
    before, share, step = _locate_intervals(times, moments, quaternions_wxyz.ndim)
    first, last = quaternions_wxyz[before], quaternions_wxyz[before + 1]
    ends = rates_body if arriving is None else arriving
    rate, rate_last = step * rates_body[before], step * ends[before + 1]  # rad in the time between the outputs
    mean = (rate + rate_last) / 2
    missing = _to_rotation_vector(
        _multiply_quaternions(_conjugate(_from_rotation_vector(mean)), _multiply_quaternions(_conjugate(first), last))
    )
    back = _from_rotation_vector(-missing)
    late = (
        rate_last
        - _multiply_quaternions(_multiply_quaternions(back, _pure_quaternion(mean)), _conjugate(back))[..., 1:]
    )
    cubic = _hermite_cubic(share, np.zeros_like(missing), rate - mean, missing, late)
    turned = _multiply_quaternions(
        _multiply_quaternions(first, _from_rotation_vector(share * mean)), _from_rotation_vector(cubic)
    )
    return np.asarray(turned / np.linalg.norm(turned, axis=-1, keepdims=True))


def interpolate_positions(
    times: Array, positions: Array, velocities: Array, moments: Array, arriving: Array | None = None
) -> Array:
    """Places (k, ..., 3) at any moments: on the cubics through places and velocities at the outputs (n, ..., 3).

    `arriving` are the velocities just before the outputs, where they jump.
    """
    if len(times) == 1:
        return np.asarray(positions[np.zeros(len(moments), dtype=int)])
    before, share, step = _locate_intervals(times, moments, positions.ndim)
    last = (velocities if arriving is None else arriving)[before + 1]
    return _hermite_cubic(share, positions[before], step * velocities[before], positions[before + 1], step * last)


def interpolate_linearly(times: Array, values: Array, moments: Array, arriving: Array | None = None) -> Array:
    """Anything that changes little from output to output, (n, ...), at any moments: on straight lines.

    `arriving` are the values just before the outputs, where they jump.
    """
    if len(times) == 1:
        return np.asarray(values[np.zeros(len(moments), dtype=int)])
    before, share, _ = _locate_intervals(times, moments, values.ndim)
    last = (values if arriving is None else arriving)[before + 1]
    return np.asarray((1 - share) * values[before] + share * last)


def apply_rotation_vector(quaternions_wxyz: Array, turn: Array) -> Array:
    """Attitudes after a turn about an axis of the body, as long as its angle."""
    return _multiply_quaternions(quaternions_wxyz, _from_rotation_vector(turn))


def rotation_vectors_between(first: Array, last: Array) -> Array:
    """The shortest turns, along the body's axes, that lead from attitudes to others."""
    return _to_rotation_vector(_multiply_quaternions(_conjugate(first), last))


def _locate_intervals(times: Array, moments: Array, dimensions: int) -> tuple[Any, Array, Array]:
    """Which output is before each moment, the share of the time to the next that has passed, and that time."""
    before = np.clip(np.searchsorted(times, moments, side="right") - 1, 0, len(times) - 2)
    step = times[before + 1] - times[before]
    shape = (-1, *(1,) * (dimensions - 1))
    return before, ((moments - times[before]) / step).reshape(shape), step.reshape(shape)


def _hermite_cubic(s: Array, start: Array, start_rate: Array, end: Array, end_rate: Array) -> Array:
    """Hermite's, from 0 to 1."""
    rise = s * s * (3 - 2 * s)
    mixed: Array = (1 - rise) * start + rise * end + s * (1 - s) * ((1 - s) * start_rate - s * end_rate)
    return mixed


def _from_rotation_vector(turn: Array) -> Array:
    """Of a turn by |turn| rad about it: (cos, turn sin/|turn|) of half the angle, smooth at 0."""
    half = np.linalg.norm(turn, axis=-1, keepdims=True) / 2
    return np.concatenate((np.cos(half), turn / 2 * np.sinc(half / np.pi)), axis=-1)


def _to_rotation_vector(quaternion: Array) -> Array:
    """The shortest turn of a quaternion, as an axis as long as its angle."""
    q = np.where(quaternion[..., :1] < 0, -quaternion, quaternion)
    size = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    angle = 2 * np.arctan2(size, q[..., :1])
    return np.asarray(q[..., 1:] * np.where(size > 0, angle / np.where(size > 0, size, 1.0), 2.0))


def _multiply_quaternions(p: Array, q: Array) -> Array:
    return np.stack(quaternions.product(_split_components(p), _split_components(q)), axis=-1)


def _conjugate(q: Array) -> Array:
    return np.asarray(q * np.array((1.0, -1.0, -1.0, -1.0)))


def _pure_quaternion(vector: Array) -> Array:
    return np.concatenate((np.zeros_like(vector[..., :1]), vector), axis=-1)


def _split_components(array: Array) -> Any:
    return tuple(np.moveaxis(array, -1, 0))
