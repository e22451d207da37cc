"""The free rotation of one body, as the pictures of it need it: along its principal axes, and about L."""

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
"""How far L and the energy of a free body may be off, relative to their size: steps make errors, torques make more."""


MAX_PATH_ANGLE, MAX_PATH_POINTS = 0.1, 8000
"""Of an exact motion a path is drawn through points at most so many rad of turning apart, and so many at most."""


@dataclass(frozen=True)
class FreeRotationData:
    """What a free body does, at the output times; of an exact motion with few of them, at more times between."""

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
    """L at the start, along the world's axes, kg m2/s."""

    @property
    def twice_energy(self) -> float:
        """2 E at the start, in J."""
        return float((self.moments * self.rates[0] ** 2).sum())

    @property
    def along_l(self) -> Array:
        """The direction of L in the world."""
        along: Array = self.momentum / np.linalg.norm(self.momentum)
        return along

    @property
    def plane_distance(self) -> float:
        """Of the invariable plane from the centre: 2 E/L, in rad/s."""
        return self.twice_energy / float(np.linalg.norm(self.momentum))

    @cached_property
    def rates_world(self) -> Array:
        """w in the world, (n, 3)."""
        return np.asarray(np.einsum("nij,nj->ni", self.turns, self.rates))

    @cached_property
    def symmetry_axis(self) -> int | None:
        """Which principal axis is one of symmetry; None if all moments differ, or none does."""
        a, b, c = self.moments
        if len({a, b, c}) != 2:
            return None
        return 2 if a == b else 0 if b == c else 1

    @cached_property
    def closed_form(self) -> AsymmetricTop | SymmetricTop:
        """Jacobi's functions, or sine and cosine if two moments are equal."""
        kind = AsymmetricTop if len(set(self.moments.tolist())) == 3 else SymmetricTop
        return kind(self.moments, self.rates[0])

    def closed_form_rates(self) -> Array:
        """w by the closed form, from the first output on."""
        return self.closed_form.rates_at(self.times - self.times[0])

    def across(self, vector: Array) -> Array:
        """The direction of what of a vector is perpendicular to L; any such direction if nothing is."""
        rest = vector - (vector @ self.along_l) * self.along_l
        if np.linalg.norm(rest) <= 1e-9 * np.linalg.norm(vector):
            rest = np.eye(3)[int(np.abs(self.along_l).argmin())]
            rest = rest - (rest @ self.along_l) * self.along_l
        direction: Array = rest / np.linalg.norm(rest)
        return direction

    def camera(self, right: Array, yaw: float, pitch: float) -> Camera:
        """A camera with L upwards."""
        return make_camera(right, self.along_l, yaw, pitch)

    def frame_at(self, time: float | None) -> int:
        """Which of the times is nearest to one of the run, in s; the first if none is given."""
        if time is None:
            return 0
        asked, first, last = validation.check_number(time, "time"), float(self.times[0]), float(self.times[-1])
        if not first <= asked <= last:
            raise InputError(f"time = {asked:g} s is outside the motion, which reaches from {first:g} to {last:g} s")
        return int(np.abs(self.times - asked).argmin())


def extract_free_rotation(motion: Trajectory) -> FreeRotationData:
    """The rotation of the one body of a motion, which must turn freely."""
    if motion.axis is not None:
        raise InputError(
            "this picture shows one body: take one of the system's or of the ensemble's with ph.simulate by itself"
        )
    if len(motion.times) < 2 or not np.any(motion.angular_velocity_body[0]):
        raise InputError("there is no rotation to draw: it takes two output times, and a body that turns")
    momenta, energies = motion.angular_momentum, motion.rotational_energy
    moved = np.linalg.norm(momenta - momenta[0], axis=1).max() / np.linalg.norm(momenta[0])
    if moved > FREE_TOLERANCE or np.ptp(energies) > FREE_TOLERANCE * energies[0]:
        raise InputError(
            "this picture is for free rotation, but angular momentum or energy do not stay: is there a torque, or is "
            "the step too long?  motion.plot() draws any motion"
        )
    axes: Any = np.array(matrix(motion.scenario.constants_about(None).axes)).reshape(3, 3)
    times, rates, attitudes = _sample_path(motion)
    moments = np.array(motion.scenario.bodies[0].principal_moments)
    return FreeRotationData(times, moments, rates @ axes, attitudes @ axes, attitudes, momenta[0])


def _sample_path(motion: Trajectory) -> tuple[Array, Array, Array]:
    """Times, rates along the body's axes, and attitudes, close enough to each other for a line where that is free."""
    times, rates = motion.times, motion.angular_velocity_body
    fastest = float(np.linalg.norm(rates, axis=1).max())
    if not motion.scenario.used_method.is_closed_form or fastest * float(np.diff(times).max()) <= MAX_PATH_ANGLE:
        return times, rates, motion.rotation_matrix
    count = min(MAX_PATH_POINTS, int(fastest * (times[-1] - times[0]) / MAX_PATH_ANGLE) + 2)
    fine = np.linspace(times[0], times[-1], max(count, len(times)))
    states = [motion.at(float(t)) for t in fine]
    quaternions: Any = np.array([state.quaternion_wxyz for state in states]).T
    attitudes = np.stack(matrix(tuple(quaternions)), axis=-1).reshape(-1, 3, 3)
    return fine, np.array([state.angular_velocity_body for state in states]), attitudes
