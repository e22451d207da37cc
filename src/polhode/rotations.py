"""Rotations by axis and angle, quaternion and Euler angles, for arrays of floats.

Angles are in rad; quaternions are (w, x, y, z), body to world.  Arguments named `turn`, `first` or `second` are SciPy
`Rotation` objects or quaternions of any nonzero norm.  Arguments named `p` or `q` are quaternions whose norm matters:
pass a `Rotation` as `as_quat(scalar_first=True)`.  Axes need not be unit vectors.  Leading axes broadcast.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import validation
from polhode.equations import formulations, quaternions, rigid_body
from polhode.equations.scalar_ops import cos, sin
from polhode.errors import InputError, UnitWarning, find_stacklevel, show
from polhode.validation import Array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from scipy.spatial.transform import Rotation

__all__ = [
    "angle_between",
    "angles_within_a_turn",
    "axis_and_angle",
    "euler_angles",
    "from_euler_angles",
    "from_yaw_pitch_roll",
    "inverse_rate_matrix",
    "matrix",
    "pointing_error",
    "product",
    "quaternion",
    "quaternion_rate",
    "rate_matrix",
    "rodrigues",
    "sandwiched",
    "skewed_matrix",
    "spin",
    "turn_between",
    "w_matrix",
    "yaw_pitch_roll",
    "yaw_pitch_roll_of",
]


def rodrigues(vector: ArrayLike, axis: ArrayLike, angle: ArrayLike) -> Array:
    """Rotate a vector about an axis: (1 - cos a)(v . r) r + sin a (r x v) + cos a v.  [Christian 2011, eq. 17.16]

    Examples
    --------
    >>> import numpy as np
    >>> import polhode as ph
    >>> (3 * ph.rotations.rodrigues((3, 0, 0), axis=(1, 2, 2), angle=np.pi / 2)).round(12).tolist()
    [1.0, 8.0, -4.0]
    """
    v, r, a = _vectors(vector, "vector"), _unit_direction(axis, "axis"), _numbers(angle, "angle")[..., None]
    _check_broadcast(v[..., 0], r[..., 0], a[..., 0])
    with np.errstate(over="ignore", invalid="ignore"):
        along = (v * r).sum(axis=-1, keepdims=True)
        turned = (1 - np.cos(a)) * along * r + np.sin(a) * np.cross(r, v) + np.cos(a) * v
    return validation.check_still_finite(np.asarray(turned), "the rotated vector")


def matrix(axis: ArrayLike, angle: ArrayLike) -> Array:
    """Rotation matrix, body to world: (1 - cos a) r r^T + sin a r* + cos a 1.  [Christian 2011, eq. 17.17]

    Examples
    --------
    >>> import numpy as np
    >>> import polhode as ph
    >>> ph.rotations.matrix(axis=(0, 0, 1), angle=np.pi / 2).round(12).tolist()
    [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    r, a = _unit_direction(axis, "axis"), _numbers(angle, "angle")[..., None, None]
    _check_broadcast(r[..., 0], a[..., 0, 0])
    x, y, z = _components(r)
    skew = np.stack((0 * x, -z, y, z, 0 * x, -x, -y, x, 0 * x), axis=-1).reshape(*x.shape, 3, 3)
    return np.asarray((1 - np.cos(a)) * r[..., :, None] * r[..., None, :] + np.sin(a) * skew + np.cos(a) * np.eye(3))


def quaternion(axis: ArrayLike, angle: ArrayLike) -> Array:
    """Unit quaternion (cos a/2, r sin a/2), r = axis/|axis|.  [Christian 2011, eq. 17.25]

    Examples
    --------
    >>> import numpy as np
    >>> import polhode as ph
    >>> ph.rotations.quaternion(axis=(0, 3, 0), angle=np.pi / 3).round(6).tolist()
    [0.866025, 0.0, 0.5, 0.0]
    """
    r, half = _unit_direction(axis, "axis"), _numbers(angle, "angle")[..., None] / 2
    _check_broadcast(r[..., 0], half[..., 0])
    vector = np.sin(half) * r
    return np.concatenate((np.broadcast_to(np.cos(half), (*vector.shape[:-1], 1)), vector), axis=-1)


def product(p: ArrayLike, q: ArrayLike) -> Array:
    """Hamilton product p q, which rotates by q first.  [Christian 2011, eq. 17.24]

    Examples
    --------
    >>> import polhode as ph
    >>> ph.rotations.product((0, 1, 0, 0), (0, 0, 1, 0)).tolist()
    [0.0, 0.0, 0.0, 1.0]
    """
    a, b = _four_numbers(p, "p"), _four_numbers(q, "q")
    _check_broadcast(a[..., 0], b[..., 0])
    with np.errstate(over="ignore", invalid="ignore"):
        return validation.check_still_finite(
            _stack_components(quaternions.product(_components(a), _components(b))), "the product"
        )


def sandwiched(q: ArrayLike, vector: ArrayLike) -> Array:
    """Vector part of q (0, v) q*: rotates v and scales it by |q|^2.  [Christian 2011, eq. 17.26, exercise 17.9]

    Examples
    --------
    >>> import polhode as ph
    >>> ph.rotations.sandwiched((1, 0, 0, 1), (1, 0, 0)).tolist()
    [0.0, 2.0, 0.0]
    """
    p, v = _nonzero_quaternion(q), _vectors(vector, "vector")
    _check_broadcast(p[..., 0], v[..., 0])
    with np.errstate(over="ignore", invalid="ignore"):
        turned = quaternions.product(
            quaternions.times_vector(_components(p), _components(v)), quaternions.conjugate(_components(p))
        )
    return validation.check_still_finite(_stack_components(turned[1:]), "q (0, v) q*")


def skewed_matrix(q: ArrayLike) -> Array:
    """The matrix of a quaternion without normalization: a rotation, body to world, only if |q| = 1.

    It is 1 + |q|^2 (R - 1), where R is the rotation of q/|q|.  [Christian 2011, eq. 17.28 transposed, exercise 17.9]

    Examples
    --------
    >>> import polhode as ph
    >>> ph.rotations.skewed_matrix((1, 0, 0, 1)).tolist()
    [[-1.0, -2.0, 0.0], [2.0, -1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    p = _nonzero_quaternion(q)
    w, x, y, z = _components(p)
    with np.errstate(over="ignore", invalid="ignore"):
        rows = (
            (-(y * y + z * z), x * y - w * z, x * z + w * y),
            (x * y + w * z, -(x * x + z * z), y * z - w * x),
            (x * z - w * y, y * z + w * x, -(x * x + y * y)),
        )
        return validation.check_still_finite(
            np.eye(3) + 2 * np.stack([_stack_components(row) for row in rows], axis=-2), "the matrix"
        )


def axis_and_angle(turn: Rotation | ArrayLike) -> tuple[Array, float]:
    """Unit axis and angle, 0 to pi, of a rotation: 2 atan2(|e|, |w|).  [Christian 2011, eq. 17.27]

    The identity has no axis and raises an InputError.

    Examples
    --------
    >>> import numpy as np
    >>> import polhode as ph
    >>> axis, angle = ph.rotations.axis_and_angle((1, 0, 0, -1e-9))
    >>> axis.tolist(), angle
    ([0.0, 0.0, -1.0], 2e-09)
    """
    q = _single_quaternion(turn)
    size = float(np.abs(q[1:]).max())
    if size == 0:
        raise InputError("the identity rotation has no axis: check that the angle is not 0 first.")
    direction = np.copysign(1.0, q[0]) * q[1:] / size
    return direction / np.linalg.norm(direction), float(_angle(q))


def angle_between(first: Rotation | ArrayLike, second: Rotation | ArrayLike) -> Any:
    """Angle of the rotation from one attitude to another, 0 to pi; an array for several.

    Examples
    --------
    >>> import numpy as np
    >>> import polhode as ph
    >>> x, z = (ph.rotations.quaternion(axis, np.pi / 2) for axis in ((1, 0, 0), (0, 0, 1)))
    >>> angle = ph.rotations.angle_between(ph.rotations.product(x, z), ph.rotations.product(z, x))
    >>> print(f"{np.degrees(angle):.9g} deg")
    120 deg
    """
    p, q = _scaled_quaternion(first), _scaled_quaternion(second)
    _check_broadcast(p[..., 0], q[..., 0])
    return _angle(_stack_components(quaternions.product(quaternions.conjugate(_components(p)), _components(q))))


def pointing_error(turn: Rotation | ArrayLike, direction_body: ArrayLike, target: ArrayLike) -> Any:
    """Angle between a direction of the body, turned by an attitude (body to world), and a target direction: 0 to pi.

    An array for several attitudes or targets.

    Examples
    --------
    >>> import numpy as np
    >>> import polhode as ph
    >>> tilted = ph.rotations.quaternion((1, 0, 0), 1e-9)
    >>> round(float(ph.rotations.pointing_error(tilted, (0, 0, 1), (0, 0, 1))) * 1e9, 6)
    1.0
    """
    q, a, b = (
        _scaled_quaternion(turn),
        _unit_direction(direction_body, "direction_body"),
        _unit_direction(target, "target"),
    )
    _check_broadcast(q[..., 0], a[..., 0], b[..., 0])
    turned = _stack_components(quaternions.to_world(_components(q), _components(a)))
    return np.arctan2(np.linalg.norm(np.cross(turned, b), axis=-1), (turned * b).sum(axis=-1))


def turn_between(start: ArrayLike, end: ArrayLike) -> Array:
    """Quaternion of the smallest rotation from one direction to another.  [Christian 2011, exercise 17.9 b]

    With m halfway between the two it is (start . m, start x m).  Opposite directions raise an InputError.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.rotations.turn_between((1, 0, 0), (1, 2, 1)).round(8).tolist()
    [0.83912106, 0.0, -0.24325947, 0.48651894]
    """
    a, b = (_unit_direction(v, name) for v, name in ((start, "start"), (end, "end")))
    if a.ndim + b.ndim > 2:
        raise InputError("start and end must be one direction each")
    middle = a + b
    if float(np.linalg.norm(middle)) <= 4 * np.finfo(float).eps:
        raise InputError(
            "start and end are opposite: half a turn about any axis normal to them connects them. "
            "Choose an axis and use quaternion(axis, pi)."
        )
    middle /= np.linalg.norm(middle)
    return np.array((a @ middle, *np.cross(a, middle)))


def from_euler_angles(phi: ArrayLike, theta: ArrayLike, psi: ArrayLike) -> Array:
    """Quaternion of a rotation about z by phi, then the new x by theta, then the new z by psi.

    Body to world, as SciPy's `from_euler("ZXZ", ...)`.  [Christian 2011, eq. 17.10, transposed, third row corrected]

    Examples
    --------
    >>> import numpy as np
    >>> import polhode as ph
    >>> ph.rotations.from_euler_angles(*np.radians((30, 60, 45))).round(6).tolist()
    [0.687064, 0.495722, -0.065263, 0.527203]
    """
    given = [_numbers(angle, name) for angle, name in ((phi, "phi"), (theta, "theta"), (psi, "psi"))]
    _check_broadcast(*given)
    angles: Any = np.broadcast_arrays(*given)
    return _stack_components(quaternions.from_angles(tuple(angles)))


def euler_angles(turn: Rotation | ArrayLike) -> Array:
    """Euler angles (phi, theta, psi) in (-pi, pi], [0, pi] and (-pi, pi]; the same for q and -q.

    At theta = 0 only phi + psi is determined, at theta = pi only phi - psi: there, and within rounding (1.8e-15 rad),
    psi is set to 0, as in SciPy.

    Examples
    --------
    >>> import numpy as np
    >>> import polhode as ph
    >>> for degrees in ((30, 60, 45), (30, 0, 50), (210, 60, -45)):
    ...     q = ph.rotations.from_euler_angles(*np.radians(degrees))
    ...     np.degrees(ph.rotations.euler_angles(q)).round(9).tolist()
    [30.0, 60.0, 45.0]
    [80.0, 0.0, 0.0]
    [-150.0, 60.0, -45.0]
    """
    return angles_within_a_turn(_scaled_quaternion(turn))


def angles_within_a_turn(quaternion_wxyz: Array) -> Array:
    """`euler_angles` of an array of quaternions, (..., 4), each of any length; NaN gives NaN.

    Examples
    --------
    >>> import numpy as np
    >>> import polhode as ph
    >>> ph.rotations.angles_within_a_turn(np.array([(1.0, 0, 0, 0), (0.6, 0, 0, 0.8)])).round(6).tolist()
    [[0.0, 0.0, 0.0], [1.85459, 0.0, 0.0]]
    """
    w, x, y, z = _components(_rows_of_four(quaternion_wxyz))
    leading = np.where(w != 0, w, np.where(z != 0, z, np.where(x != 0, x, y)))
    q: Any = tuple(np.where(leading < 0, -c, c) + 0.0 for c in (w, x, y, z))
    (w, x, y, z), (phi, theta, psi) = q, formulations.angles_of(q)
    across, along, rounding = np.hypot(x, y), np.hypot(w, z), 4 * np.finfo(float).eps
    upright, upside_down = across <= rounding * along, along <= rounding * across
    phi = np.where(upright, 2 * np.arctan2(z, w), np.where(upside_down, 2 * np.arctan2(y, x), phi))
    psi = np.where(upright | upside_down, 0.0, psi)
    return _stack_components((_wrap_angle(phi), theta, _wrap_angle(psi)))


def _wrap_angle(angle: Any) -> Array:
    """Wrap an angle between -2 pi and 2 pi to (-pi, pi]."""
    lifted = np.where(angle <= -np.pi, angle + 2 * np.pi, angle)
    return np.asarray(np.where(angle > np.pi, angle - 2 * np.pi, lifted))


def from_yaw_pitch_roll(yaw: ArrayLike, pitch: ArrayLike, roll: ArrayLike) -> Array:
    """Quaternion of a rotation about z by yaw, then the new y by pitch, then the new x by roll (3-2-1, Tait-Bryan).

    Body to world, as SciPy's `from_euler("ZYX", ...)`; with z down they are the angles of flight.

    Examples
    --------
    >>> import numpy as np
    >>> import polhode as ph
    >>> ph.rotations.from_yaw_pitch_roll(*np.radians((90, 0, 0))).round(6).tolist()
    [0.707107, 0.0, 0.0, 0.707107]
    """
    given = [_numbers(angle, name) for angle, name in ((yaw, "yaw"), (pitch, "pitch"), (roll, "roll"))]
    _check_broadcast(*given)
    warn_of_degrees(given)
    return _stack_components(yaw_pitch_roll_turn(*given))


def yaw_pitch_roll_turn(yaw: Any, pitch: Any, roll: Any) -> Any:
    """(w, x, y, z) of the same, of plain numbers that knobs may follow, or of arrays."""
    (cy, cp, cr), (sy, sp, sr) = ([f(angle / 2) for angle in (yaw, pitch, roll)] for f in (cos, sin))
    return (
        cr * cp * cy + sr * sp * sy,
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
    )


def warn_of_degrees(angles: list[Array]) -> None:
    """A single attitude needs no angle beyond a turn; angles over time may have been unwrapped, but for the pitch."""
    yaw, pitch, roll = angles
    wide = [float(a) for a in (yaw, roll) if a.ndim == 0 and abs(a) > 2 * np.pi]
    wide += pitch[np.abs(pitch) > np.pi].tolist()
    if wide:
        warnings.warn(
            f"yaw, pitch and roll: an angle is {wide[0]:g} rad, more than a turn (of the pitch, half of one). Is it in "
            "degrees? np.radians converts them",
            UnitWarning,
            stacklevel=find_stacklevel(),
        )


def yaw_pitch_roll(turn: Rotation | ArrayLike) -> Array:
    """Yaw, pitch and roll in (-pi, pi], [-pi/2, pi/2] and (-pi, pi]; the same for q and -q.

    Where the pitch is a quarter turn, and within rounding (1.8e-15), only yaw - roll or yaw + roll is determined: there
    roll is 0.

    Examples
    --------
    >>> import numpy as np
    >>> import polhode as ph
    >>> q = ph.rotations.from_yaw_pitch_roll(*np.radians((30, -60, 45)))
    >>> np.degrees(ph.rotations.yaw_pitch_roll(q)).round(9).tolist()
    [30.0, -60.0, 45.0]
    """
    return yaw_pitch_roll_of(_scaled_quaternion(turn))


def yaw_pitch_roll_of(quaternion_wxyz: Array) -> Array:
    """`yaw_pitch_roll` of an array of quaternions, (..., 4), each of any length; NaN gives NaN.

    Examples
    --------
    >>> import numpy as np
    >>> import polhode as ph
    >>> ph.rotations.yaw_pitch_roll_of(np.array([(1.0, 0, 0, 0)])).tolist()
    [[0.0, 0.0, 0.0]]
    """
    w, x, y, z = _components(_rows_of_four(quaternion_wxyz))
    # The quaternion times a quarter turn about y: half the sum and half the difference of yaw and roll are angles.
    a, b, c, d = w - y, x + z, w + y, z - x
    low, high = np.hypot(a, b), np.hypot(c, d)
    rounding = 4 * np.finfo(float).eps
    up, down = low <= rounding * high, high <= rounding * low
    half_sum, half_difference = np.arctan2(b, a), np.arctan2(d, c)
    yaw = np.where(up, 2 * half_difference, np.where(down, 2 * half_sum, half_sum + half_difference))
    roll = np.where(up | down, 0.0, half_sum - half_difference)
    return _stack_components((_wrap_angle(yaw), 2 * np.arctan2(high, low) - np.pi / 2, _wrap_angle(roll)))


def _rows_of_four(given: Any) -> Array:
    """Quaternions of any shape, which may be NaN where a motion has failed."""
    try:
        q = validation.as_floats(given)
    except (TypeError, ValueError, OverflowError):
        q = np.zeros(0)
    if q.shape[-1:] != (4,):
        raise InputError(f"quaternion_wxyz must be an array of quaternions, (..., 4), not {show(given)}")
    return q


def rate_matrix(theta: float, psi: float) -> Array:
    """Matrix from (phi', theta', psi') to omega in body axes; determinant -sin theta.  [Christian 2011, eq. 17.36]

    Examples
    --------
    >>> import numpy as np
    >>> import polhode as ph
    >>> print(f"{np.linalg.det(ph.rotations.rate_matrix(theta=np.pi / 6, psi=1.0)):.12g}")
    -0.5
    """
    t, p = validation.check_number(theta, "theta"), validation.check_number(psi, "psi")
    s = np.sin(t)
    return np.array([(s * np.sin(p), np.cos(p), 0.0), (s * np.cos(p), -np.sin(p), 0.0), (np.cos(t), 0.0, 1.0)])


def inverse_rate_matrix(theta: float, psi: float) -> Array:
    """Matrix from omega in body axes to (phi', theta', psi').  [Christian 2011, eq. 17.36, inverted]

    Singular where theta is a multiple of pi to rounding, which raises an InputError.

    Examples
    --------
    >>> import numpy as np
    >>> import polhode as ph
    >>> ph.rotations.inverse_rate_matrix(theta=np.pi / 2, psi=0.0).round(12).tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, -0.0, 1.0]]
    """
    t, p = validation.check_number(theta, "theta"), validation.check_number(psi, "psi")
    number, s = np.finfo(float), abs(np.sin(t))
    if s * number.max < 1 or (round(t / np.pi) != 0 and s <= 4 * number.eps * abs(t)):
        raise InputError(
            f"at theta = {t:g} rad the angles phi and psi rotate about the same line, and their rates are singular. "
            "Use quaternions there (quaternion_rate)."
        )
    columns: Any = [rigid_body.angle_rates((0.0, t, p), e) for e in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))]
    return np.array(columns).T


def w_matrix(q: ArrayLike) -> Array:
    """W, with (omega, 0) = 2 W q' and q' = 1/2 W^T (omega, 0), omega in body axes.  [Christian 2011, eq. 17.43]

    Its rows are q i, q j, q k and q: orthogonal if |q| = 1.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.rotations.w_matrix((1, 2, 3, 4))[0].tolist()
    [-2.0, 1.0, 4.0, -3.0]
    """
    p = _components(_four_numbers(q, "q"))
    units = ((0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1), (1, 0, 0, 0))
    return np.stack([_stack_components(quaternions.product(p, unit)) for unit in units], axis=-2)


def quaternion_rate(q: ArrayLike, angular_velocity_body: ArrayLike) -> Array:
    """q' = 1/2 q (0, omega), omega in body axes, in rad/s.  [Christian 2011, eq. 17.44]

    Examples
    --------
    >>> import polhode as ph
    >>> ph.rotations.quaternion_rate((0, 1, 0, 0), (3, 0, 0)).tolist()
    [-1.5, 0.0, 0.0, 0.0]
    """
    p, w = _nonzero_quaternion(q), _vectors(angular_velocity_body, "angular_velocity_body")
    _check_broadcast(p[..., 0], w[..., 0])
    with np.errstate(over="ignore", invalid="ignore"):
        return validation.check_still_finite(
            _stack_components(quaternions.rate(_components(p), _components(w))), "the rate of q"
        )


def spin(q: ArrayLike, q_rate: ArrayLike) -> Array:
    """Angular velocity in body axes, in rad/s: the vector part of 2 q^-1 q'.  [Christian 2011, eq. 17.42]

    Examples
    --------
    >>> import polhode as ph
    >>> ph.rotations.spin((1, 0, 0, 0), (0, 0, 0, 1.5)).tolist()
    [0.0, 0.0, 3.0]
    """
    p, rate = _nonzero_quaternion(q), _four_numbers(q_rate, "q_rate")
    _check_broadcast(p[..., 0], rate[..., 0])
    size, fastest = (np.abs(array).max(axis=-1, keepdims=True) for array in (p, rate))
    fastest = np.where(fastest == 0, 1.0, fastest)
    with np.errstate(over="ignore", invalid="ignore"):
        w = _stack_components(rigid_body.spin_of(_components(p / size), _components(rate / fastest))) * (fastest / size)
    return validation.check_still_finite(w, "the angular velocity")


# Argument checks ------------------------------------------------------------------------------------------------------
def _numbers(value: Any, name: str, wanted: str = "a number or an array of numbers") -> Array:
    return validation.check_numbers(value, name, validation.shape_of(value), wanted=wanted)


def _last_axis_of(value: Any, name: str, length: int) -> Array:
    wanted = f"{length} numbers, or an array of shape (..., {length})"
    array = _numbers(value, name, wanted)
    if array.ndim == 0 or array.shape[-1] != length:
        raise InputError(f"{name} must be {wanted}, but has the shape {array.shape}")
    return array


def _vectors(value: Any, name: str) -> Array:
    return _last_axis_of(value, name, 3)


def _four_numbers(value: Any, name: str) -> Array:
    if hasattr(value, "as_quat"):
        raise InputError(
            f"{name} must be 4 numbers, (w, x, y, z), and not a Rotation: pass its as_quat(scalar_first=True)"
        )
    return _last_axis_of(value, name, 4)


def _unit_direction(value: Any, name: str) -> Array:
    """Normalize, scaling by the largest component first to avoid overflow and underflow."""
    array = _vectors(value, name)
    largest = np.abs(array).max(axis=-1, keepdims=True)
    if (largest == 0).any():
        raise InputError(f"{name} is (0, 0, 0), which has no direction: give a nonzero vector")
    array = array / largest
    return np.asarray(array / np.linalg.norm(array, axis=-1, keepdims=True))


def _nonzero_quaternion(value: Any) -> Array:
    array = _four_numbers(value, "q")
    if not array.any(axis=-1).all():
        raise InputError("the quaternion is (0, 0, 0, 0), which is not a rotation: the identity is (1, 0, 0, 0)")
    return array


def _scaled_quaternion(turn: Any) -> Array:
    """A rotation as a quaternion scaled to a largest component of 1, so that no square overflows."""
    array = _nonzero_quaternion(turn.as_quat(scalar_first=True) if hasattr(turn, "as_quat") else turn)
    return np.asarray(array / np.abs(array).max(axis=-1, keepdims=True))


def _single_quaternion(turn: Any) -> Array:
    q = _scaled_quaternion(turn)
    if q.ndim > 1:
        raise InputError(f"give one rotation at a time, not {len(q)}")
    return q


def _angle(q: Array) -> Any:
    largest = np.abs(q[..., 1:]).max(axis=-1)
    size = np.where(largest > 0, largest, 1.0)
    return 2 * np.arctan2(size * np.linalg.norm(q[..., 1:] / size[..., None], axis=-1), np.abs(q[..., 0]))


def _check_broadcast(*arrays: Array) -> None:
    try:
        np.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError:
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise InputError(f"the leading axes {shapes} do not broadcast: give one of each, or equally many") from None


def _components(array: Array) -> Any:
    return tuple(np.moveaxis(array, -1, 0))


def _stack_components(parts: Any) -> Array:
    return np.stack(np.broadcast_arrays(*(np.asarray(p, dtype=float) for p in parts)), axis=-1)
