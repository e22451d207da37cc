"""Laws of a whole motion: what follows from the samples of a run and from what is attached to its bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.equations.inertia import world_tensor
from polhode.equations.matrices import matmul
from polhode.equations.quaternions import conjugate, matrix, product
from polhode.errors import InputError
from polhode.integrate.run_result import ContactColumns
from polhode.quantities.dynamics import rotor_torques
from polhode.results.impacts import name_contact_states
from polhode.scenario.state import stack_components

if TYPE_CHECKING:
    from polhode.equations.law import Matrix
    from polhode.results.trajectory import Trajectory
    from polhode.validation import Array


def without_body_axis(motion: Trajectory, values: Any) -> Array:
    """Values (times, members or bodies, ...), without the second axis if there is a single body."""
    array = np.asarray(values)
    return array[:, 0] if motion.axis is None else array


def _as_matrices(motion: Trajectory, entries: Matrix) -> Array:
    array = without_body_axis(motion, stack_components(entries))
    return array.reshape(*array.shape[:-1], 3, 3)


# Attitude -----------------------------------------------------------------------------------------------------------
def rotation_matrix(motion: Trajectory) -> Array:
    """R as the run has computed it."""
    if not motion.scenario.form.keeps_matrix:
        return orthonormal_rotation_matrix(motion)
    attitude: Any = tuple(np.moveaxis(motion.known_samples[..., motion.run_result.columns.attitude], -1, 0))
    return _as_matrices(motion, matmul(attitude, matrix(conjugate(motion.scenario.problem.constants.axes))))


def orthonormal_rotation_matrix(motion: Trajectory) -> Array:
    """R(q/|q|)."""
    return _as_matrices(motion, matrix(motion.state_view.orientation))


def attitude_drift(motion: Trajectory) -> Array:
    """The deviation from a rotation, as the run has recorded it."""
    drift = motion.known_samples[..., motion.run_result.columns.drift]
    return without_body_axis(motion, np.zeros_like(drift) if motion.scenario.form.keeps_angles else drift)


def work(motion: Trajectory) -> Array | None:
    """The work as the run has counted it; None if it has not."""
    run = motion.run_result
    return None if run.columns.work is None else without_body_axis(motion, run.samples[..., run.columns.work])


# Mass ---------------------------------------------------------------------------------------------------------------
def mass(motion: Trajectory) -> Array:
    """At the output times: with a course, what it is then."""
    scenario = motion.scenario
    now = scenario.problem.constants.mass if scenario.mass_course is None else motion.state_view.current_mass[0]
    return without_body_axis(motion, np.broadcast_to(now, motion.run_result.samples.shape[:-1]))


def center_of_mass(motion: Trajectory) -> Array:
    """In the coordinates of the body."""
    if motion.scenario.mass_course is not None:
        return _mass_properties(motion)[..., 1:4]
    each = [np.asarray(body.center_of_mass) for body in motion.scenario.bodies]
    center = np.stack(np.broadcast_arrays(*each), axis=-2) if motion.scenario.is_system else each[0]
    return np.broadcast_to(center, motion.position.shape)


def inertia_world(motion: Trajectory) -> Array:
    """R I_body R^T."""
    if motion.scenario.mass_course is not None:
        xx, yy, zz, xy, xz, yz = np.moveaxis(_mass_properties(motion)[..., 4:], -1, 0)
        tensor = np.moveaxis(np.array(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))), (0, 1), (-2, -1))
        r = motion.rotation_matrix
        return np.asarray(r @ tensor @ r.swapaxes(-1, -2))
    c = motion.scenario.constants_about(None)
    return _as_matrices(motion, world_tensor(c.moments, product(motion.state_view.orientation, c.axes)))


def _mass_properties(motion: Trajectory) -> Array:
    """Of a body whose mass changes: mass, center and tensor at the output times."""
    course, columns = motion.scenario.mass_course, motion.run_result.columns
    assert course is not None
    clock = without_body_axis(motion, motion.run_result.samples[..., columns.more.stop - 1])
    return course.values(clock, motion.scenario.bodies[0])


def total_kinetic_energy(motion: Trajectory) -> Array:
    """Summed over the bodies of a system."""
    kinetic = motion.kinetic_energy
    return np.asarray(kinetic.sum(axis=-1)) if "body" in motion.axes else kinetic


# Rotors -------------------------------------------------------------------------------------------------------------
def rotor_speed(motion: Trajectory) -> Array:
    """Of each rotor, from the state."""
    return _of_rotors(motion, motion.state_view.rotor_speed)


def rotor_momentum(motion: Trajectory) -> Array:
    """Of each rotor, from the state."""
    return _of_rotors(motion, motion.state_view.rotor_momentum)


def rotor_torque(motion: Trajectory) -> Array:
    """Of each motor, by its law."""
    _require_rotors(motion)
    return rotor_torques(motion)


def _of_rotors(motion: Trajectory, numbers: Any) -> Array:
    """Numbers of rotors as an array; in a system each from the body that carries it."""
    _require_rotors(motion)
    array = without_body_axis(motion, stack_components(numbers))
    if "body" not in motion.axes:
        return array
    return np.stack([array[..., rotor.body, i] for i, rotor in enumerate(motion.scenario.rotors)], axis=-1)


def _require_rotors(motion: Trajectory) -> None:
    if not motion.scenario.rotors:
        raise InputError("this motion has no rotors: simulate with rotors=[ph.rotor(axis, inertia)]")


# Contacts -----------------------------------------------------------------------------------------------------------
def contact_forces(motion: Trajectory) -> Array:
    """As the run has recorded them."""
    return _contact_column(motion, ContactColumns().force)


def contact_torques(motion: Trajectory) -> Array:
    """As the run has recorded them."""
    return _contact_column(motion, ContactColumns().torque)


def contact_points(motion: Trajectory) -> Array:
    """As the run has recorded them."""
    return np.asarray(np.nan_to_num(_contact_column(motion, ContactColumns().points)).astype(np.int64))


def contact_state(motion: Trajectory) -> Array:
    """In words."""
    return name_contact_states(_contact_column(motion, ContactColumns().state))


def require_contacts(motion: Trajectory, what: str) -> None:
    """Refuse what only motions with contacts have."""
    if not motion.scenario.contacts:
        raise InputError(
            f"this motion has no {what}: it was computed without contacts. Simulate with contacts=[ph.floor()], "
            "or with walls, slopes or ph.between_bodies()"
        )


def _contact_column(motion: Trajectory, column: slice | int) -> Array:
    require_contacts(motion, "contact forces")
    return without_body_axis(motion, np.asarray(motion.run_result.contact)[..., column])
