"""Quantities of a trajectory that need its forces: potential energy, accelerations, loads, the pivot's reaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.equations.extended_body import (
    added_mass_acceleration,
    added_mass_angular_acceleration,
    gyrostat_acceleration,
    variable_mass_acceleration,
)
from polhode.equations.formulations import StateView
from polhode.equations.inertia import BodyConstants, euler_rate
from polhode.equations.pivot import com_acceleration, torque_about_pivot
from polhode.equations.quaternions import product, to_body, to_world
from polhode.equations.right_hand_side import build_rotor_torques
from polhode.equations.vectors import minus, plus, scaled
from polhode.errors import InputError, ScenarioError
from polhode.scenario import force_evaluation
from polhode.scenario.force import Force
from polhode.scenario.state import split_groups, stack_components
from polhode.validation import Array

if TYPE_CHECKING:
    from polhode.results.trajectory import Trajectory


def require_forces(motion: Trajectory, what: str) -> None:
    """Refuse what cannot be known of a stored motion whose file could not hold its forces."""
    if motion.unknown_forces:
        raise ScenarioError(
            f"{what} needs {', '.join(motion.unknown_forces)}, which a file cannot hold: simulate again"
        )


def potential_energy(motion: Trajectory) -> Array:
    """Sum over all forces that have a potential, in J: one number for a whole system."""
    require_forces(motion, "the potential energy")
    forces = motion.scenario.forces
    if _has_user_function(motion):
        each_time = [
            force_evaluation.potential_energy(t, views, c, forces) for t, views, c in _views_time_by_time(motion)
        ]
        return np.asarray(each_time, dtype=np.float64)
    t, views, constants = _views_over_times(motion)
    total = force_evaluation.potential_energy(t, views, constants, forces)
    return np.broadcast_to(total, views[0].position[0].shape).astype(np.float64)


def potential_depends_on_time(motion: Trajectory) -> bool:
    """Whether a potential depends explicitly on time, so that energy is not conserved."""
    forces = motion.scenario.forces
    if not any(f.function is not None and f.potential is not None for f in forces):
        return False
    times = np.linspace(float(motion.times[0]), float(motion.times[-1]), 7).tolist()
    for _, views, constants in list(_views_time_by_time(motion))[:: max(1, len(motion.times) - 1)]:
        values = [force_evaluation.potential_energy(t, views, constants, forces) for t in times]
        if np.any(np.asarray(values) != values[0]):
            return True
    return False


def energy(motion: Trajectory) -> Array:
    """Kinetic energy (summed over a system's bodies) plus potential energy, in J."""
    kinetic = motion.kinetic_energy
    return (kinetic.sum(axis=-1) if "body" in motion.axes else kinetic) + potential_energy(motion)


def acceleration(motion: Trajectory) -> Array:
    """Acceleration of each body's center of mass, in m/s2: F/M, or that of the rotation about a pivot.

    Between impacts: the forces of contact count, impulses do not.
    """
    require_forces(motion, "the acceleration")
    pairs = zip(*_views_over_times(motion)[1:], _wrenches(motion), strict=True)
    free = _stack_bodies(motion, [_acceleration(motion, view, c, *wrench) for view, c, wrench in pairs])
    return free + _contact_acceleration(motion) if motion.scenario.contacts else free


def angular_acceleration(motion: Trajectory) -> Array:
    """The rate of each body's angular velocity, in rad/s2, world axes: R I^-1 (torque - w x I w).

    With rotors and with added mass it follows from their equations of motion.  Between impacts: the forces of
    contact count, impulses do not.
    """
    require_forces(motion, "the angular acceleration")
    if motion.scenario.mass_course is not None:
        raise InputError("the angular acceleration of a body with a mass course is not known: differentiate its motion")
    pairs = zip(*_views_over_times(motion)[1:], _wrenches(motion), _contact_torques(motion), strict=True)
    rates = [_angular_acceleration(motion, view, c, push, plus(turn, more)) for view, c, (push, turn), more in pairs]
    return np.broadcast_to(_stack_bodies(motion, rates), motion.position.shape)


def _contact_torques(motion: Trajectory) -> list[Any]:
    """The torque of the contacts on each body, or on all members."""
    count = len(motion.scenario.bodies)
    if not motion.scenario.contacts:
        return [(0.0, 0.0, 0.0)] * count
    torques = np.moveaxis(motion.contact_torques, -1, 0)
    return [tuple(torques[..., b]) for b in range(count)] if "body" in motion.axes else [tuple(torques)]


def reaction_force(motion: Trajectory) -> Array:
    """The force that the pivot exerts on the body: M a - F, in N."""
    if motion.scenario.pivot is None:
        raise InputError("only a motion about a pivot has a reaction force")
    require_forces(motion, "the reaction force")
    (view,), (c,) = _views_over_times(motion)[1:]
    push, turn = _wrenches(motion)[0]
    return stack_components(minus(scaled(c.mass, _acceleration(motion, view, c, push, turn)), push))


def rotor_torques(motion: Trajectory) -> Array:
    """The torque of each motor on its rotor, within its limits, in N m."""
    require_forces(motion, "the torque of a rotor")
    rotors = motion.scenario.rotors
    if any(rotor.function is not None for rotor in rotors):  # it may branch with `if`: time by time
        rows = [
            [_motor_torques(motion, *one) for one in zip([t] * len(views), views, constants, strict=True)]
            for t, views, constants in _views_time_by_time(motion)
        ]
        each = [
            np.array([np.stack(np.broadcast_arrays(*row[b]), axis=-1) for row in rows]) for b in range(len(rows[0]))
        ]
    else:
        times, views, constants = _views_over_times(motion)
        found = [_motor_torques(motion, times, view, c) for view, c in zip(views, constants, strict=True)]
        each = [stack_components(torques) for torques in found]
    if "body" not in motion.axes:
        return each[0]
    return np.stack([each[rotor.body][..., i] for i, rotor in enumerate(rotors)], axis=-1)


def _motor_torques(motion: Trajectory, t: Any, view: StateView, c: BodyConstants) -> Any:
    rotors = motion.scenario.rotors
    params = tuple((r.command, r.max_torque, r.inverse_max_speed, r.taper, r.params) for r in rotors)
    torques = build_rotor_torques([rotor.kernel for rotor in rotors])(t, view, c, params)
    return tuple(torque + 0.0 * view.position[0] for torque in torques)


def energies(motion: Trajectory) -> dict[str, Array]:
    """Kinetic energy in its parts, potential energy, and their sum where every force has a potential, in J.

    Parts that are 0 throughout are left out.  They are summed over a system's bodies.
    """

    def over_bodies(values: Array) -> Array:
        return np.asarray(values.sum(axis=-1)) if "body" in motion.axes else values

    parts = {
        "translational": over_bodies(motion.translational_energy),
        "rotational": over_bodies(motion.rotational_energy),
    }
    series = {name: values for name, values in parts.items() if values.any()}
    forces = motion.scenario.forces
    if not motion.unknown_forces and any(f.potential is not None for f in forces):
        series["potential"] = np.broadcast_to(potential_energy(motion), parts["rotational"].shape)
        if all(f.potential is not None for f in forces):
            series["total"] = energy(motion)
    return series or parts


def loads(motion: Trajectory, forces: Sequence[Force]) -> tuple[Array, Array]:
    """Force (N) and torque about the center of mass (N m) of some of the forces, in the shape of `motion.position`."""
    require_forces(motion, "a force")
    each = _wrenches(motion, forces)
    shape = motion.position.shape
    pushes, turns = (_stack_bodies(motion, [wrench[i] for wrench in each]) for i in (0, 1))
    return np.broadcast_to(pushes, shape), np.broadcast_to(turns, shape)


def _acceleration(motion: Trajectory, view: StateView, c: BodyConstants, push: Any, turn: Any) -> Any:
    if motion.scenario.mass_course is not None:
        columns = np.moveaxis(
            motion.run_result.samples if motion.axis == "member" else motion.run_result.samples[:, 0], -1, 0
        )
        constants = motion.scenario.constants_for_samples(c, columns)
        return variable_mass_acceleration(split_groups(columns, motion.scenario.form.sizes), constants, push)
    if motion.scenario.added_mass is not None:
        return added_mass_acceleration(view, c, push, turn, _motors(motion))
    if motion.scenario.pivot is None:
        return scaled(c.inverse_mass, push)
    w_rate = _angular_acceleration(motion, view, c, push, turn)
    return com_acceleration(w_rate, view.angular_velocity, minus(view.position, _pivot_of(motion)))


def _angular_acceleration(motion: Trajectory, view: StateView, c: BodyConstants, push: Any, turn: Any) -> Any:
    if motion.scenario.added_mass is not None:
        return added_mass_angular_acceleration(view, c, push, turn, _motors(motion))
    q, torque = product(view.orientation, c.axes), turn
    if motion.scenario.pivot is not None:
        torque = torque_about_pivot(turn, minus(view.position, _pivot_of(motion)), push)
    if motion.scenario.rotors:
        torque_body = to_body(view.orientation, torque)
        return to_world(view.orientation, gyrostat_acceleration(view, c, torque_body, _motors(motion)))
    return to_world(q, euler_rate(c, to_body(q, view.angular_velocity), to_body(q, torque)))


def _motors(motion: Trajectory) -> Any:
    """The torque of each motor; () if there are no rotors."""
    return tuple(np.moveaxis(rotor_torques(motion), -1, 0)) if motion.scenario.rotors else ()


def _pivot_of(motion: Trajectory) -> Any:
    """The fixed point of a body on a pivot."""
    run = motion.run_result
    positions = np.moveaxis(run.samples[..., run.columns.position], -1, 0)
    return tuple(positions if motion.axis == "member" else positions[..., 0])


def _contact_acceleration(motion: Trajectory) -> Array:
    """The force of the contacts over the mass, in m/s2, in the shape of `motion.position`."""
    each = [np.asarray(c.inverse_mass) for c in _constants(motion)]
    inverse = np.stack(np.broadcast_arrays(*each), axis=-1) if "body" in motion.axes else each[0]
    return np.asarray(motion.contact_forces * inverse[..., None])


def _stack_bodies(motion: Trajectory, vectors: list[Any]) -> Array:
    """Vectors of a system's bodies as one array; those of a single body or of members unchanged."""
    arrays = [stack_components(vector) for vector in vectors]
    return np.stack(arrays, axis=-2) if "body" in motion.axes else arrays[0]


def _wrenches(motion: Trajectory, forces: Sequence[Force] | None = None) -> list[tuple[Any, Any]]:
    """Force and torque on each body, or on all members at once, at the output times; of all forces, or of some."""
    forces = motion.scenario.forces if forces is None else forces
    return force_evaluation.evaluate_wrenches_over_times(*_views_over_times(motion), forces)


def _has_user_function(motion: Trajectory) -> bool:
    """Whether a force is a user's function, which may branch with `if` and so is evaluated time by time."""
    return any(f.function is not None for f in motion.scenario.forces)


def _constants(motion: Trajectory) -> list[BodyConstants]:
    return [motion.scenario.body_constants(i) for i in range(len(motion.scenario.bodies))]


def _views_over_times(motion: Trajectory) -> tuple[Array, list[StateView], list[BodyConstants]]:
    """All output times at once: the times, and each body's view and constants, or those of all members."""
    each = _constants(motion)
    times = motion.times[:, None] if motion.axis == "member" else motion.times
    if motion.axes == ("member",):
        return times, [motion.state_view], each
    return times, [force_evaluation.view_at_time(motion.state_view, (..., b)) for b in range(len(each))], each


def _views_time_by_time(motion: Trajectory) -> Iterator[tuple[float, list[StateView], list[BodyConstants]]]:
    """For each output time: the time, and each body's view and constants, in plain numbers (or members' arrays)."""
    each = _constants(motion)
    for i, t in enumerate(motion.times.tolist()):
        if motion.axes == ("member",):
            yield t, [force_evaluation.view_at_time(motion.state_view, i)], each
        else:
            yield t, [force_evaluation.view_at_time(motion.state_view, (i, ..., b)) for b in range(len(each))], each
