"""The five formulations of the state: initial values, rate, renormalization, and the view that a force gets."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from polhode.equations import matrices, quaternions, rigid_body
from polhode.equations.elementary import atan2
from polhode.equations.inertia import BodyConstants
from polhode.equations.law import Groups, Matrix, Number, Quaternion, Vector, law
from polhode.equations.quaternions import conjugate, product, squared_norm, to_body, to_world
from polhode.equations.scalar_ops import absolute, sqrt
from polhode.equations.vectors import scaled, times
from polhode.synonyms import explain_unknown_attributes


@explain_unknown_attributes("the state that a function receives")
class StateView(NamedTuple):
    """What a force sees of a body, whatever the formulation.  World axes, except where the name says body.

    Examples
    --------
    >>> import polhode as ph
    >>> @ph.force
    ... def damper(t, state: ph.StateView, body: ph.BodyConstants, params):
    ...     return tuple(-params[0] * v for v in state.velocity), (0.0, 0.0, 0.0)
    >>> damper(0.5).name
    'damper'
    """

    position: Vector
    orientation: Quaternion
    linear_momentum: Vector
    angular_momentum: Vector
    velocity: Vector
    angular_velocity: Vector
    angular_velocity_body: Vector
    rotor_speed: Groups = ()
    """The speed of each rotor relative to the body, in rad/s."""
    rotor_momentum: Groups = ()
    """The angular momentum of each rotor along its axis, with that of the body's own rotation, in kg m2/s."""
    current_mass: Groups = ()
    """Lower level: the mass and its reciprocal where they change, perhaps also moments; forces find them in `body`."""


class Formulation(NamedTuple):
    """One way of writing the state of a rigid body: x, attitude, P, and spin."""

    name: str
    sizes: tuple[int, ...]
    rate: Callable[..., Groups]
    """(y, body, force, torque) -> y'"""
    view: Callable[..., StateView]
    """(y, body) -> StateView"""
    renormalize: Callable[..., tuple[Groups, Number]]
    """(y, h) -> the state with q renormalized, and the attitude drift before"""
    with_drift: Callable[..., tuple[Groups, Number]]
    """(y, h) -> the state unchanged, and its attitude drift: ||q| - 1|, or (phi' h)^2 of the Euler angles"""
    start: Callable[..., Groups]
    """(x, q, P, L, body) -> y"""
    finish: Callable[..., Groups]
    """(y, body) -> (x, q, P, L)"""
    controlled: int = 4
    """How many parts of the state have a tolerance: the first four groups, and each rotor's momentum by itself.

    The time of a mass that changes needs none, since its rate is 1; nor does the work, which moves nothing: counting it
    must not change the motion.
    """

    def after_step(self, renormalizes: bool) -> Callable[..., tuple[Groups, Number]]:
        """What a step applies to its new state: `renormalize` or `with_drift`."""
        return self.renormalize if renormalizes else self.with_drift

    @property
    def keeps_momenta(self) -> bool:
        """Whether its last two groups are the linear and the angular momentum in world axes."""
        return self.name in ("momentum", "momentum_matrix")

    @property
    def keeps_matrix(self) -> bool:
        """Whether its attitude is a rotation matrix, which is never repaired."""
        return self.name == "momentum_matrix"

    @property
    def keeps_angles(self) -> bool:
        """Whether its attitude is three Euler angles, which are singular where theta is 0 or pi."""
        return self.name == "euler_angles"

    @property
    def keeps_body_rates(self) -> bool:
        """Whether its last group is the angular velocity along the principal axes."""
        return self.name in ("body_rates", "euler_angles")


@law
def _view(x: Vector, q: Quaternion, p: Vector, angular_momentum: Vector, w: Vector, body: BodyConstants) -> StateView:
    """From principal axes (q, w) to the user's body axes."""
    return StateView(
        x,
        product(q, conjugate(body.axes)),
        p,
        angular_momentum,
        scaled(body.inverse_mass, p),
        to_world(q, w),
        to_world(body.axes, w),
    )


@law
def _drift(q: Quaternion) -> Number:
    return absolute(sqrt(squared_norm(q)) - 1)


# momentum ----------------------------------------------------------------------------------------------------------
@law
def _view_momentum(y: Groups, body: BodyConstants) -> StateView:
    return _view(y[0], y[1], y[2], y[3], times(body.inverse_moments, to_body(y[1], y[3])), body)


@law
def _renormalize_quaternion(y: Groups, h: Number) -> tuple[Groups, Number]:
    n = sqrt(squared_norm(y[1]))
    s = 1 / n
    return (y[0], (s * y[1][0], s * y[1][1], s * y[1][2], s * y[1][3]), y[2], y[3]), absolute(n - 1)


@law
def _quaternion_with_drift(y: Groups, h: Number) -> tuple[Groups, Number]:
    return y, _drift(y[1])


@law
def _start_momentum(x: Vector, q: Quaternion, p: Vector, angular_momentum: Vector, body: BodyConstants) -> Groups:
    return (x, q, p, angular_momentum)


@law
def _finish_momentum(y: Groups, body: BodyConstants) -> Groups:
    return y


# momentum_matrix ---------------------------------------------------------------------------------------------------
@law
def _view_matrix(y: Groups, body: BodyConstants) -> StateView:
    w = times(body.inverse_moments, matrices.matvec(matrices.transpose(y[1]), y[3]))
    return _view(y[0], quaternions.from_matrix(y[1]), y[2], y[3], w, body)


@law
def _matrix_with_drift(y: Groups, h: Number) -> tuple[Groups, Number]:
    return y, matrices.orthogonality_drift(y[1])


@law
def _start_matrix(x: Vector, q: Quaternion, p: Vector, angular_momentum: Vector, body: BodyConstants) -> Groups:
    r: Matrix = quaternions.matrix(q)
    return (x, r, p, angular_momentum)


@law
def _finish_matrix(y: Groups, body: BodyConstants) -> Groups:
    return (y[0], quaternions.from_matrix(y[1]), y[2], y[3])


# body_rates --------------------------------------------------------------------------------------------------------
@law
def _view_rates(y: Groups, body: BodyConstants) -> StateView:
    return _view(y[0], y[1], y[2], to_world(y[1], times(body.moments, y[3])), y[3], body)


@law
def _start_rates(x: Vector, q: Quaternion, p: Vector, angular_momentum: Vector, body: BodyConstants) -> Groups:
    return (x, q, p, times(body.inverse_moments, to_body(q, angular_momentum)))


@law
def _finish_rates(y: Groups, body: BodyConstants) -> Groups:
    return (y[0], y[1], y[2], to_world(y[1], times(body.moments, y[3])))


# quaternion_acceleration -------------------------------------------------------------------------------------------
@law
def _view_acceleration(y: Groups, body: BodyConstants) -> StateView:
    w = rigid_body.spin_of(y[1], y[3])
    return _view(y[0], y[1], y[2], to_world(y[1], times(body.moments, w)), w, body)


@law
def _renormalize_acceleration(y: Groups, h: Number) -> tuple[Groups, Number]:
    """q and q' divided by |q|: w = 2 q^-1 q' is unchanged."""
    q, p = y[1], y[3]
    n = sqrt(squared_norm(q))
    s = 1 / n
    unit = (y[0], (s * q[0], s * q[1], s * q[2], s * q[3]), y[2], (s * p[0], s * p[1], s * p[2], s * p[3]))
    return unit, absolute(n - 1)


@law
def _start_acceleration(x: Vector, q: Quaternion, p: Vector, angular_momentum: Vector, body: BodyConstants) -> Groups:
    return (x, q, p, quaternions.rate(q, times(body.inverse_moments, to_body(q, angular_momentum))))


@law
def _finish_acceleration(y: Groups, body: BodyConstants) -> Groups:
    return (y[0], y[1], y[2], to_world(y[1], times(body.moments, rigid_body.spin_of(y[1], y[3]))))


# euler_angles ------------------------------------------------------------------------------------------------------
@law
def _view_angles(y: Groups, body: BodyConstants) -> StateView:
    q = quaternions.from_angles(y[1])
    return _view(y[0], q, y[2], to_world(q, times(body.moments, y[3])), y[3], body)


@law
def _angles_with_turn(y: Groups, h: Number) -> tuple[Groups, Number]:
    return y, rigid_body.turn_per_step(y[1], y[3], h)


@law
def angles_of(q: Quaternion) -> Vector:
    """The ZXZ angles (phi, theta, psi) of a quaternion, 0 <= theta <= pi.  [the inverse of from_angles]"""
    w, x, y, z = q
    half_sum, half_difference = atan2(z, w), atan2(y, x)
    theta = 2 * atan2(sqrt(x * x + y * y), sqrt(w * w + z * z))
    return (half_sum + half_difference, theta, half_sum - half_difference)


@law
def _start_angles(x: Vector, q: Quaternion, p: Vector, angular_momentum: Vector, body: BodyConstants) -> Groups:
    return (x, angles_of(q), p, times(body.inverse_moments, to_body(q, angular_momentum)))


@law
def _finish_angles(y: Groups, body: BodyConstants) -> Groups:
    q = quaternions.from_angles(y[1])
    return (y[0], q, y[2], to_world(q, times(body.moments, y[3])))


FORMULATIONS: dict[str, Formulation] = {
    f.name: f
    for f in (
        Formulation(
            "momentum",
            (3, 4, 3, 3),
            rigid_body.momentum,
            _view_momentum,
            _renormalize_quaternion,
            _quaternion_with_drift,
            _start_momentum,
            _finish_momentum,
        ),
        Formulation(
            "momentum_matrix",
            (3, 9, 3, 3),
            rigid_body.momentum_matrix,
            _view_matrix,
            _matrix_with_drift,
            _matrix_with_drift,
            _start_matrix,
            _finish_matrix,
        ),
        Formulation(
            "body_rates",
            (3, 4, 3, 3),
            rigid_body.body_rates,
            _view_rates,
            _renormalize_quaternion,
            _quaternion_with_drift,
            _start_rates,
            _finish_rates,
        ),
        Formulation(
            "quaternion_acceleration",
            (3, 4, 3, 4),
            rigid_body.quaternion_acceleration,
            _view_acceleration,
            _renormalize_acceleration,
            _quaternion_with_drift,
            _start_acceleration,
            _finish_acceleration,
        ),
        Formulation(
            "euler_angles",
            (3, 3, 3, 3),
            rigid_body.euler_angles,
            _view_angles,
            _angles_with_turn,
            _angles_with_turn,
            _start_angles,
            _finish_angles,
        ),
    )
}
