"""The free rotation of one body as its figures need it: along the principal axes, and about L."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from polhode import validation
from polhode.equations.quaternions import matrix
from polhode.errors import InputError
from polhode.plot.projection import Camera, make_camera
from polhode.reference.free_rotation import AsymmetricTop, SymmetricTop
from polhode.results.trajectory import Trajectory
from polhode.validation import Array

FREE_TOLERANCE = 1e-2
"""Relative drift of L and energy above which a motion is not considered torque-free."""


MAX_PATH_ANGLE, MAX_PATH_POINTS = 0.1, 8000
"""Paths of exact motions: maximum rotation (rad) between two points, and maximum number of points."""


@dataclass(frozen=True)
class FreeRotationData:
    """A torque-free motion at the output times; for the exact method with few outputs, at more times between."""

    times: Array
    moments: Array
    """Principal moments, kg m2."""
    rates: Array
    """w along the principal axes, (n, 3), rad/s."""
    turns: Array
    """Principal axes to world, (n, 3, 3)."""
    attitudes: Array
    """Body axes to world, (n, 3, 3)."""
    momentum: Array
    """L at the start, world axes, kg m2/s."""

    @property
    def twice_energy(self) -> float:
        """2 E at the start, in J."""
        return float((self.moments * self.rates[0] ** 2).sum())

    @property
    def along_l(self) -> Array:
        """The direction of L, world axes."""
        along: Array = self.momentum / np.linalg.norm(self.momentum)
        return along

    @property
    def plane_distance(self) -> float:
        """Distance of the invariable plane from the center: 2 E/L, in rad/s."""
        return self.twice_energy / float(np.linalg.norm(self.momentum))

    @cached_property
    def rates_world(self) -> Array:
        """w along world axes, (n, 3)."""
        return np.asarray(np.einsum("nij,nj->ni", self.turns, self.rates))

    @cached_property
    def symmetry_axis(self) -> int | None:
        """The index of the symmetry axis; None if all moments differ, or all are equal."""
        a, b, c = self.moments
        if len({a, b, c}) != 2:
            return None
        return 2 if a == b else 0 if b == c else 1

    @cached_property
    def closed_form(self) -> AsymmetricTop | SymmetricTop:
        """In Jacobi elliptic functions, or in sine and cosine if two moments are equal."""
        kind = AsymmetricTop if len(set(self.moments.tolist())) == 3 else SymmetricTop
        return kind(self.moments, self.rates[0])

    def closed_form_rates(self) -> Array:
        """w in closed form, starting from the first output."""
        return self.closed_form.rates_at(self.times - self.times[0])

    def across(self, vector: Array) -> Array:
        """The direction of a vector's component perpendicular to L; any perpendicular direction if that is 0."""
        rest = vector - (vector @ self.along_l) * self.along_l
        if np.linalg.norm(rest) <= 1e-9 * np.linalg.norm(vector):
            rest = np.eye(3)[int(np.abs(self.along_l).argmin())]
            rest = rest - (rest @ self.along_l) * self.along_l
        direction: Array = rest / np.linalg.norm(rest)
        return direction

    def camera(self, right: Array, yaw: float, pitch: float) -> Camera:
        """A camera with L upward."""
        return make_camera(right, self.along_l, yaw, pitch)

    def frame_at(self, time: float | None) -> int:
        """The index of the nearest sampled time; 0 if none is given."""
        if time is None:
            return 0
        requested, first, last = validation.check_number(time, "time"), float(self.times[0]), float(self.times[-1])
        if not first <= requested <= last:
            raise InputError(f"time = {requested:g} s is outside the motion, which lasts from {first:g} to {last:g} s")
        return int(np.abs(self.times - requested).argmin())


def extract_free_rotation(motion: Trajectory) -> FreeRotationData:
    """The rotation of the single body of a motion, which must be torque-free."""
    if motion.axis is not None:
        raise InputError(
            "this figure shows one body: simulate one body of the system, or one member of the ensemble, by itself"
        )
    if motion.scenario.is_extended:
        raise InputError(
            "this figure is for the free rotation of a rigid body, without rotors, changing mass or added mass. "
            "motion.plot() draws any motion"
        )
    if len(motion.times) < 2 or not np.any(motion.angular_velocity_body[0]):
        raise InputError("there is no rotation to draw: at least two output times and a rotating body are needed")
    momenta, energies = motion.angular_momentum, motion.rotational_energy
    moved = np.linalg.norm(momenta - momenta[0], axis=1).max() / np.linalg.norm(momenta[0])
    if moved > FREE_TOLERANCE or np.ptp(energies) > FREE_TOLERANCE * energies[0]:
        raise InputError(
            "this figure is for free rotation, but angular momentum or energy is not conserved: is there a torque, "
            "or is the step too long?  motion.plot() draws any motion"
        )
    axes: Any = np.array(matrix(motion.scenario.constants_about(None).axes)).reshape(3, 3)
    times, rates, attitudes = _sample_path(motion)
    moments = np.array(motion.scenario.bodies[0].principal_moments)
    return FreeRotationData(times, moments, rates @ axes, attitudes @ axes, attitudes, momenta[0])


def _sample_path(motion: Trajectory) -> tuple[Array, Array, Array]:
    """Times, rates along body axes, and attitudes; sampled finely enough for a line if the motion is exact."""
    times, rates = motion.times, motion.angular_velocity_body
    fastest = float(np.linalg.norm(rates, axis=1).max())
    if motion.closed_form is None or fastest * float(np.diff(times).max()) <= MAX_PATH_ANGLE:
        return times, rates, motion.rotation_matrix
    count = min(MAX_PATH_POINTS, int(fastest * (times[-1] - times[0]) / MAX_PATH_ANGLE) + 2)
    fine = np.linspace(times[0], times[-1], max(count, len(times)))
    states = [motion.at(float(t)) for t in fine]
    quaternions: Any = np.array([state.quaternion_wxyz for state in states]).T
    attitudes = np.stack(matrix(tuple(quaternions)), axis=-1).reshape(-1, 3, 3)
    return fine, np.array([state.angular_velocity_body for state in states]), attitudes
