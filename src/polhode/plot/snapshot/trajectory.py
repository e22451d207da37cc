"""A motion sampled for drawing, at any times: positions, attitudes, and the vectors drawn as arrows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from polhode import validation
from polhode.equations.formulations import StateView
from polhode.equations.quaternions import matrix
from polhode.errors import InputError
from polhode.massprops.body import Body
from polhode.plot.snapshot.interpolation import Poses, interpolate_poses, split_components
from polhode.results.trajectory import Trajectory
from polhode.scenario import force_evaluation
from polhode.scenario.members import select_body_members
from polhode.scenario.state import stack_components
from polhode.validation import Array

MAX_MEMBERS = 300
"""Maximum number of members of an ensemble that are drawn."""
POSE_NAMES = ("position", "quaternion_wxyz", "velocity", "angular_velocity_body")


@dataclass(frozen=True)
class TrajectorySamples:
    """Samples at k times of n bodies or members; world axes, SI units."""

    times: Array
    """(k,), in s."""
    position: Array
    """Positions of the centers of mass, (k, n, 3)."""
    attitude: Array
    """Body to world, (k, n, 3, 3)."""
    velocity: Array
    omega: Array
    """The angular velocity, (k, n, 3)."""
    reference_point: Array
    """Reference of L and torque, (k, n, 3): the pivot of a pivoted body, otherwise the center of mass."""
    momentum: Array
    """The angular momentum L about the reference point; 0 for the members of an ensemble."""
    force: Array
    """The total force without the pivot's reaction; 0 for the members of an ensemble."""
    torque: Array
    """About the reference point; 0 for the members of an ensemble."""

    def in_body(self, vectors: Array) -> Array:
        """Vectors (k, n, 3) in the body axes."""
        return np.asarray(np.einsum("knji,knj->kni", self.attitude, vectors))

    def at(self, k: int) -> TrajectorySamples:
        """The samples of one time."""
        return TrajectorySamples(**{name: values[k : k + 1] for name, values in vars(self).items()})

    def until(self, time: float) -> TrajectorySamples:
        """The samples before a time."""
        last = int(np.searchsorted(self.times, time))
        return replace(self, **{name: values[:last] for name, values in vars(self).items()})

    def then(self, other: TrajectorySamples) -> TrajectorySamples:
        """Concatenate with later samples."""
        both = {name: np.concatenate((values, getattr(other, name))) for name, values in vars(self).items()}
        return TrajectorySamples(**both)


def select_drawn_bodies(motion: Trajectory) -> tuple[list[int], list[Body]]:
    """Indices of the bodies or members to draw, and their bodies: a single one if all members share it."""
    scenario, count = motion.scenario, motion.scenario.count
    if motion.axis != "member":
        return list(range(count)), list(scenario.bodies)
    who, (body,) = np.unique(np.linspace(0, count - 1, min(count, MAX_MEMBERS)).round().astype(int)), scenario.bodies
    return who.tolist(), [body] if body.members is None else [select_body_members(body, i) for i in who.tolist()]


def sample_trajectory(motion: Trajectory, times: Any) -> TrajectorySamples:
    """Sample a motion at any times within it.

    The state of an exact motion is computed at each time, and a motion with impacts, which no interpolation can show,
    is computed again; otherwise the outputs are interpolated.
    """
    moments = np.atleast_1d(np.asarray(times, dtype=float))
    who, _ = select_drawn_bodies(motion)
    if motion.scenario.contacts and not motion.unknown_forces:
        return _recompute_samples(motion, who, moments)
    if motion.scenario.used_method.is_closed_form and not motion.unknown_forces:
        return _samples_from_states(motion, who, moments, [motion.at(float(t)) for t in moments])
    outputs = Poses(*(_add_body_axis(motion, getattr(motion, name))[:, who] for name in POSE_NAMES))
    poses = interpolate_poses(motion, who, outputs, moments)
    if motion.scenario.pivot is not None:
        poses = _hold_pivot_fixed(motion, who, outputs, poses)
    return _build_samples(motion, moments, poses.position, poses.attitude, poses.velocity, poses.rates)


def _recompute_samples(motion: Trajectory, who: list[int], times: Array) -> TrajectorySamples:
    """Samples of a motion with contacts, computed in one more run."""
    different, row = np.unique(times, return_inverse=True)
    again = motion.recomputed_at(different, who if motion.axis == "member" else None)
    row = np.minimum(row, len(again.times) - 1)  # a run that failed has no more
    poses = (_add_body_axis(again, getattr(again, name))[row] for name in POSE_NAMES)
    return _build_samples(motion, times, *poses)


def _hold_pivot_fixed(motion: Trajectory, who: list[int], outputs: Poses, poses: Poses) -> Poses:
    """Poses whose positions follow from the attitudes, so that the pivot stays fixed."""
    pivot = np.asarray(motion.scenario.pivot, dtype=float)
    arm = np.broadcast_to(-(pivot[who] if pivot.ndim > 1 else pivot), (len(who), 3))
    fixed = outputs.position[:1] - _rotate_to_world(outputs.attitude[:1], arm)
    velocity = _rotate_to_world(poses.attitude, np.cross(poses.rates, arm))
    return replace(poses, position=fixed + _rotate_to_world(poses.attitude, arm), velocity=velocity)


def sample_trajectory_at(motion: Trajectory, time: float) -> tuple[TrajectorySamples, str]:
    """Sample `motion.at(time)`; and a remark if that is not possible.

    For a stored motion with forces that a file cannot hold it is the nearest output.
    """
    if len(motion.times) == 0:
        raise InputError("the run stopped before its first output time: there is nothing to draw")
    moment, first, last = validation.check_number(time, "t"), motion.scenario.start_time, float(motion.times[-1])
    if not first <= moment <= last:
        raise InputError(f"t = {moment:g} s is outside the run, which lasts from {first:g} to {last:g} s")
    who, _ = select_drawn_bodies(motion)
    remark = ""
    if motion.unknown_forces and moment not in motion.times:
        requested, moment = moment, float(motion.times[np.abs(motion.times - moment).argmin()])
        remark = f"nearest stored output to {requested:g} s, since the file does not hold all forces"
    if motion.scenario.contacts:
        return sample_trajectory(motion, [moment]), remark
    now = _samples_from_states(motion, who, np.array([moment]), [motion.at(moment)])
    if motion.axis == "member" and moment >= motion.times[0] and not np.isfinite(now.position).all():
        stopped = sample_trajectory(motion, now.times)  # no outputs are kept of members that an event has stopped
        now = TrajectorySamples(
            **{n: np.where(np.isnan(values), getattr(stopped, n), values) for n, values in vars(now).items()}
        )
    return now, remark


def _add_body_axis(motion: Trajectory, array: Array) -> Array:
    return array[:, None] if motion.axis is None else array


def _samples_from_states(motion: Trajectory, who: list[int], times: Array, states: list[Any]) -> TrajectorySamples:
    """Samples from the result of `motion.at`: a state, a list of states, or one state with all members."""

    def gather(name: str) -> Array:
        if motion.axis == "body":
            return np.array([[getattr(state, name) for state in each] for each in states])[:, who]
        array = np.array([getattr(state, name) for state in states])
        return array[:, who] if motion.axis == "member" else array[:, None]

    return _build_samples(motion, times, *(gather(name) for name in POSE_NAMES))


def _rotation_matrices(q: Array) -> Array:
    return np.stack(matrix(split_components(q)), axis=-1).reshape(*q.shape[:-1], 3, 3)


def _rotate_to_world(q: Array, vectors: Array) -> Array:
    """Rotate vectors ([k,] n, 3) from body to world axes."""
    return np.asarray((_rotation_matrices(q) @ vectors[..., None])[..., 0])


def _build_samples(motion: Trajectory, times: Array, x: Array, q: Array, v: Array, w_body: Array) -> TrajectorySamples:
    q = q / np.linalg.norm(q, axis=-1, keepdims=True)  # a run without renormalization lets it drift
    attitude = _rotation_matrices(q)
    w = np.einsum("knij,knj->kni", attitude, w_body)
    nothing = np.zeros_like(x)
    if motion.axis == "member":
        return TrajectorySamples(times, x, attitude, v, w, x, nothing, nothing, nothing)
    bodies, pivot = motion.scenario.bodies, motion.scenario.pivot
    own = np.einsum("nij,knj->kni", np.array([body.inertia_body for body in bodies]), w_body)
    momentum = np.einsum("knij,knj->kni", attitude, own)
    momenta = np.array([body.mass for body in bodies])[:, None] * v
    views = [
        StateView(*(split_components(array[:, i]) for array in (x, q, momenta, momentum, v, w, w_body)))
        for i in range(len(bodies))
    ]
    if motion.scenario.is_extended:
        views = _interpolate_views(motion, times, views)
        momentum = np.stack([stack_components(view.angular_momentum) for view in views], axis=1)
        momenta = np.stack([stack_components(view.linear_momentum) for view in views], axis=1)
    force, torque = _sum_loads(motion, times, views, x.shape)
    if pivot is None:
        return TrajectorySamples(times, x, attitude, v, w, x, momentum, force, torque)
    reference_point = x + attitude @ np.asarray(pivot, dtype=float)
    arm = x - reference_point
    about = (momentum + np.cross(arm, momenta), torque + np.cross(arm, force))
    return TrajectorySamples(times, x, attitude, v, w, reference_point, about[0], force, about[1])


def _interpolate_views(motion: Trajectory, times: Array, views: list[StateView]) -> list[StateView]:
    """Of bodies that are more than rigid: momenta, rotors and mass between the outputs, linearly."""
    known = motion.state_view

    def between(i: int, group: Any) -> Any:
        return tuple(np.interp(times, motion.times, component[:, i]) for component in group)

    names = ("linear_momentum", "angular_momentum", "rotor_speed", "rotor_momentum", "current_mass")
    return [view._replace(**{name: between(i, getattr(known, name)) for name in names}) for i, view in enumerate(views)]


def _sum_loads(motion: Trajectory, times: Array, views: list[StateView], shape: tuple[int, ...]) -> tuple[Array, Array]:
    """Total force and torque on each body, (k, n, 3); 0 if forces are unknown."""
    forces = motion.scenario.acting_forces
    if not forces or motion.unknown_forces:
        return np.zeros(shape), np.zeros(shape)
    constants = [motion.scenario.body_constants(i) for i in range(len(motion.scenario.bodies))]
    pairs = force_evaluation.evaluate_wrenches_over_times(times, views, constants, forces)
    each = [[np.stack(np.broadcast_arrays(*part, times)[:3], axis=-1) for part in pair] for pair in pairs]
    load = np.moveaxis(np.array(each, dtype=float), 2, 0)
    return load[:, :, 0], load[:, :, 1]
