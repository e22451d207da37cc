"""Formulations of bodies that are more than rigid: with rotors inside.

The state is that of the formulation "momentum", attitude of the body axes, followed by a group for the rotors.
"""

from __future__ import annotations

from functools import cache

from polhode.equations.formulations import FORMULATIONS, Formulation, StateView
from polhode.equations.gyrostat import rotor_speeds, sum_along_axes
from polhode.equations.inertia import BodyConstants, inertia_times
from polhode.equations.interpolation import interp
from polhode.equations.law import Groups, Number, Vector, law
from polhode.equations.matrices import matvec
from polhode.equations.quaternions import rate as quaternion_rate
from polhode.equations.quaternions import to_body, to_world
from polhode.equations.vectors import cross, minus, plus, scaled


@law
def gyrostat_view(y: Groups, body: BodyConstants) -> StateView:
    """w = (I - sum of J a a^T)^-1 (R^T L - sum of H a).  [Hughes 1986, section 3.4, with H instead of s]"""
    x, q, p, angular_momentum, momenta = y[:5]
    w = matvec(body.inverse_tensor, minus(to_body(q, angular_momentum), sum_along_axes(body.rotors, momenta)))
    speeds = rotor_speeds(body.rotors, momenta, w)
    velocity = scaled(body.inverse_mass, p)
    return StateView(x, q, p, angular_momentum, velocity, to_world(q, w), w, speeds, momenta)


@law
def gyrostat(y: Groups, body: BodyConstants, force: Vector, torque: Vector, rotor_torques: Groups) -> Groups:
    """x' = P/M, q' = 1/2 q w, P' = F, L' = torque, H' = u: L is that of body and rotors.  [Hughes 1986, section 3.4]"""
    state = gyrostat_view(y, body)
    q_rate = quaternion_rate(y[1], state.angular_velocity_body)
    return (state.velocity, q_rate, force, torque, rotor_torques)


@law
def gyrostat_acceleration(state: StateView, body: BodyConstants, torque_body: Vector, rotor_torques: Groups) -> Vector:
    """w' = (I - sum of J a a^T)^-1 (torque - w x L - sum of u a), body axes; all about the center or about the pivot."""
    w = state.angular_velocity_body
    relative = tuple(rotor[1] * speed for rotor, speed in zip(body.rotors, state.rotor_speed, strict=True))
    total = plus(inertia_times(body, w), sum_along_axes(body.rotors, relative))
    left = minus(minus(torque_body, cross(w, total)), sum_along_axes(body.rotors, rotor_torques))
    return matvec(body.inverse_tensor, left)


def torque_from_table(t: Number, state: StateView, body: BodyConstants, params: Groups) -> Number:
    """The torque at the time t, interpolated linearly in a table: params = (times, torques)."""
    return interp(t, params[0], params[1])


@cache
def extended_formulation(rotors: int) -> Formulation:
    """The formulation of a body with this many rotors."""
    momentum = FORMULATIONS["momentum"]
    return momentum._replace(
        sizes=(*momentum.sizes, rotors), rate=gyrostat, view=gyrostat_view, controlled=len(momentum.sizes) + 1
    )
