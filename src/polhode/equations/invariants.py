"""Quantities that a motion conserves: energy and angular momentum."""

from __future__ import annotations

from polhode.equations.formulations import StateView
from polhode.equations.gyrostat import rotor_energy
from polhode.equations.law import Number, Vector, law
from polhode.equations.pivot import angular_momentum_about_pivot
from polhode.equations.vectors import dot, minus


@law
def translational_energy(state: StateView) -> Number:
    """v . P/2  [Hydra 2017, eq. 2.21, 4.27]"""
    return dot(state.velocity, state.linear_momentum) / 2


@law
def rotational_energy(state: StateView) -> Number:
    """w . L/2 = w . (I w)/2, and with rotors sum of H s/2 more.  [Hydra 2017, eq. 2.21, 4.27]"""
    energy = dot(state.angular_velocity, state.angular_momentum) / 2
    if len(state.rotor_speed) == 0:
        return energy
    return energy + rotor_energy(state.rotor_speed, state.rotor_momentum)


@law
def kinetic_energy(state: StateView) -> Number:
    """M v^2/2 + w . (I w)/2  [Hydra 2017, eq. 4.27]"""
    return translational_energy(state) + rotational_energy(state)


@law
def angular_momentum_about(state: StateView, point: Vector) -> Vector:
    """L + (x - point) x P: the angular momentum about a fixed point of the world."""
    return angular_momentum_about_pivot(state.angular_momentum, minus(state.position, point), state.linear_momentum)
