"""A motion sampled for drawing, at any times: positions, attitudes, and the vectors drawn as arrows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from polhode import validation
from polhode.errors import InputError
from polhode.massprops.body import Body
from polhode.quantities.dynamics import loads
from polhode.results.trajectory import Trajectory
from polhode.scenario.members import select_body_members
from polhode.validation import Array

MAX_MEMBERS = 300
"""Maximum number of members of an ensemble that are drawn."""


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
    """Sample a motion at any times within it, computed in one more run.

    A member that an event has stopped stays where it stopped.  A stored motion with forces that a file cannot hold
    cannot be computed again: of such a motion the nearest outputs are taken.
    """
    moments = np.atleast_1d(np.asarray(times, dtype=float))
    who, _ = select_drawn_bodies(motion)
    ends = motion.end_times[who] if motion.axis == "member" else np.full(len(who), np.inf)
    asked = np.minimum(moments[:, None], ends)
    if motion.unknown_forces:
        middles = (motion.times[1:] + motion.times[:-1]) / 2
        return _build_samples(motion, who, moments, np.searchsorted(middles, asked))
    different, row = np.unique(asked, return_inverse=True)
    again = motion.recomputed_at(different, who if motion.axis == "member" else None)
    row = np.minimum(row.reshape(asked.shape), len(again.times) - 1)  # a run that failed has no more
    return _build_samples(again, list(range(len(who))), moments, row)


def sample_trajectory_at(motion: Trajectory, time: float) -> tuple[TrajectorySamples, str]:
    """Sample `motion.at(time)`; and a remark if that is not possible.

    For a stored motion with forces that a file cannot hold it is the nearest output.
    """
    if len(motion.times) == 0:
        raise InputError("the run stopped before its first output time: there is nothing to draw")
    moment, first, last = validation.check_number(time, "t"), motion.scenario.start_time, float(motion.times[-1])
    if not first <= moment <= last:
        raise InputError(f"t = {moment:g} s is outside the run, which lasts from {first:g} to {last:g} s")
    remark = ""
    if motion.unknown_forces and moment not in motion.times:
        requested, moment = moment, float(motion.times[np.abs(motion.times - moment).argmin()])
        remark = f"nearest stored output to {requested:g} s, since the file does not hold all forces"
    return sample_trajectory(motion, [moment]), remark


def _build_samples(motion: Trajectory, who: list[int], times: Array, row: Any) -> TrajectorySamples:
    """Samples from the outputs of a motion: that in `row` (k, n) for each time and body."""

    def gather(outputs: Array) -> Array:
        return np.asarray((outputs[:, None] if motion.axis is None else outputs)[row, who])

    x, v, w = (gather(outputs) for outputs in (motion.position, motion.velocity, motion.angular_velocity))
    attitude, nothing = gather(motion.rotation_matrix), np.zeros_like(x)
    if motion.axis == "member":
        return TrajectorySamples(times, x, attitude, v, w, x, nothing, nothing, nothing)
    momentum, force, torque = gather(motion.angular_momentum), nothing, nothing
    acting = motion.scenario.acting_forces
    if acting and not motion.unknown_forces:
        force, torque = (gather(load) for load in loads(motion, acting))
    if motion.scenario.pivot is None:
        return TrajectorySamples(times, x, attitude, v, w, x, momentum, force, torque)
    reference_point = x + attitude @ np.asarray(motion.scenario.pivot, dtype=float)
    arm = x - reference_point
    momentum, torque = momentum + np.cross(arm, gather(motion.linear_momentum)), torque + np.cross(arm, force)
    return TrajectorySamples(times, x, attitude, v, w, reference_point, momentum, force, torque)
