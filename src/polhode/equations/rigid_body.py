"""The time derivative of a rigid body's state, in five formulations.

A state is four groups: position, attitude, linear momentum, spin.  `force` and `torque` are in world axes, the torque
about the center of mass; attitudes are principal axes to world.
"""

from __future__ import annotations

from polhode.equations import matrices, quaternions
from polhode.equations.inertia import BodyConstants, euler_rate
from polhode.equations.law import Groups, Number, Quaternion, Vector, law
from polhode.equations.quaternions import conjugate, product, squared_norm, to_body
from polhode.equations.scalar_ops import cos, if_less, sin
from polhode.equations.vectors import scaled, times


@law
def momentum(y: Groups, body: BodyConstants, force: Vector, torque: Vector) -> Groups:
    """x' = P/M, q' = 1/2 w q, P' = F, L' = torque, w = I^-1 L: 13 numbers.

    [Baraff 1997, eq. 2-43, 4-2; Hydra 2017, eq. 3.7]
    """
    _, q, linear_momentum, angular_momentum = y
    a, b, c = body.inverse_moments
    half_w = times((a / 2, b / 2, c / 2), to_body(q, angular_momentum))
    return (scaled(body.inverse_mass, linear_momentum), quaternions.times_vector(q, half_w), force, torque)


@law
def momentum_matrix(y: Groups, body: BodyConstants, force: Vector, torque: Vector) -> Groups:
    """x' = P/M, R' = w* R, P' = F, L' = torque, w = R I^-1 R^T L: 18 numbers.

    [Baraff 1997, eq. 2-43; Hydra 2017, eq. 2.19]
    """
    _, r, linear_momentum, angular_momentum = y
    w_body = times(body.inverse_moments, matrices.matvec(matrices.transpose(r), angular_momentum))
    w = matrices.matvec(r, w_body)
    return (scaled(body.inverse_mass, linear_momentum), matrices.rate(r, w), force, torque)


@law
def body_rates(y: Groups, body: BodyConstants, force: Vector, torque: Vector) -> Groups:
    """q' = 1/2 q w, I w' = torque - w x (I w), w in body axes: 13 numbers.  [Tops report, eq. 5, 6, section 7]"""
    _, q, linear_momentum, w = y
    return (
        scaled(body.inverse_mass, linear_momentum),
        quaternions.rate(q, w),
        force,
        euler_rate(body, w, to_body(q, torque)),
    )


@law
def quaternion_acceleration(y: Groups, body: BodyConstants, force: Vector, torque: Vector) -> Groups:
    """q'' = 1/2 q (0, w') - (|q'|/|q|)^2 q, with w from q': 8 numbers of rotation.

    [Christian 2011, eq. 17.42, 17.50]
    """
    _, q, linear_momentum, q_rate = y
    w = spin_of(q, q_rate)
    turning = quaternions.rate(q, euler_rate(body, w, to_body(q, torque)))
    s = squared_norm(q_rate) / squared_norm(q)
    acceleration = (turning[0] - s * q[0], turning[1] - s * q[1], turning[2] - s * q[2], turning[3] - s * q[3])
    return (scaled(body.inverse_mass, linear_momentum), q_rate, force, acceleration)


@law
def euler_angles(y: Groups, body: BodyConstants, force: Vector, torque: Vector) -> Groups:
    """(phi, theta, psi)' = `angle_rates`, I w' = torque - w x (I w), w in body axes: 12 numbers.

    [Christian 2011, eq. 17.35, 17.36]
    """
    _, angles, linear_momentum, w = y
    q = quaternions.from_angles(angles)
    return (
        scaled(body.inverse_mass, linear_momentum),
        angle_rates(angles, w),
        force,
        euler_rate(body, w, to_body(q, torque)),
    )


@law
def spin_of(q: Quaternion, q_rate: Quaternion) -> Vector:
    """w = 2 q^-1 q', the vector part, body axes.  [Christian 2011, eq. 17.42]"""
    p = product(conjugate(q), q_rate)
    return scaled(2 / squared_norm(q), (p[1], p[2], p[3]))


@law
def angle_rates(angles: Vector, w: Vector) -> Vector:
    """The rates of the ZXZ angles, w in body axes; singular at sin(theta) = 0.  [Christian 2011, inverse of eq. 17.36]

    phi' = (w1 sin psi + w2 cos psi)/sin theta; where both are exactly 0 (a top that passes through the vertical, or
    sleeps there) phi' is 0.
    """
    _, theta, psi = angles
    sin_psi, cos_psi = sin(psi), cos(psi)
    across, sin_theta = w[0] * sin_psi + w[1] * cos_psi, sin(theta)
    phi_rate = across / if_less(0 * across, across * across + sin_theta * sin_theta, sin_theta, 1 + 0 * across)
    return (phi_rate, w[0] * cos_psi - w[1] * sin_psi, w[2] - cos(theta) * phi_rate)


@law
def turn_per_step(angles: Vector, w: Vector, h: Number) -> Number:
    """(phi' h)^2: the angle turned in one step, squared; beyond about 1 rad the angles are meaningless."""
    turn = angle_rates(angles, w)[0] * h
    return turn * turn
