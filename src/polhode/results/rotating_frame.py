"""A motion as somebody sees it who turns steadily: on a platform, on the Earth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import hypot
from typing import Any

import numpy as np

from polhode import validation
from polhode.equations.quaternions import conjugate, product, to_body
from polhode.equations.rotating_frame import acceleration_in_rotating_frame, velocity_in_rotating_frame
from polhode.equations.vectors import minus
from polhode.errors import InputError
from polhode.model.state import stack_components
from polhode.results import dynamics
from polhode.results.trajectory import Trajectory
from polhode.validation import Array


@dataclass(frozen=True)
class RotatingFrameMotion:
    """How a motion looks from a turning frame: what `motion.seen_from` gives.

    Vectors are along the frame's own axes, and places are measured from the point about which it turns.  The arrays
    have the motion's shape: time first, then body or member, then components.
    """

    motion: Trajectory
    frame_angular_velocity: tuple[float, float, float]
    """Of the frame, in rad/s: the same along its own axes and the world's, since it is the axis of the turn."""
    origin: tuple[float, float, float]
    """A fixed point of the world, in m."""

    @property
    def times(self) -> Array:
        """In s."""
        return self.motion.times

    @property
    def position(self) -> Array:
        """Of the centre of mass, in m."""
        return self._along_frame(lambda: self._away)

    @property
    def velocity(self) -> Array:
        """Of the centre of mass, in m/s: the rate of `position`.  [seed 004 eq. 17.33]"""
        v = _components(self.motion.velocity)
        return self._along_frame(lambda: velocity_in_rotating_frame(self.frame_angular_velocity, self._away, v))

    @property
    def acceleration(self) -> Array:
        """Of the centre of mass, in m/s2: the rate of `velocity`, with the Coriolis and the centrifugal term."""
        v, a = _components(self.motion.velocity), _components(dynamics.acceleration(self.motion))
        return self._along_frame(lambda: acceleration_in_rotating_frame(self.frame_angular_velocity, self._away, v, a))

    @property
    def quaternion_wxyz(self) -> Array:
        """The orientation, body to frame, scalar first."""
        q: Any = _components(self.motion.quaternion_wxyz)
        return stack_components(product(conjugate(self._frame), q))

    @property
    def angular_velocity(self) -> Array:
        """In rad/s: the body's less the frame's."""
        w = _components(self.motion.angular_velocity)
        return self._along_frame(lambda: minus(w, self.frame_angular_velocity))

    @property
    def _away(self) -> Any:
        """From the origin to the centre of mass, along the world's axes."""
        return minus(_components(self.motion.position), self.origin)

    @property
    def _frame(self) -> Any:
        """The frame's orientation, frame to world, at each time: along the world's axes at t = 0."""
        half = self.times / 2 if self.motion.axis is None else self.times[:, None] / 2
        rate = hypot(*self.frame_angular_velocity)
        share = half * np.sinc(rate * half / np.pi)  # sin(rate t/2)/rate, also at rest
        x, y, z = self.frame_angular_velocity
        return (np.cos(rate * half), x * share, y * share, z * share)

    def _along_frame(self, vector: Callable[[], Any]) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            array = stack_components(to_body(self._frame, vector()))
        known = np.isfinite(self.motion.position)  # what a member that failed would have shown is no number
        validation.check_still_finite(array[known], "what the frame shows")
        return array


def transform_to_rotating_frame(motion: Trajectory, angular_velocity: Any, origin: Any) -> RotatingFrameMotion:
    """The motion from one frame, if the angle by which the frame has turned is known at every time."""
    rate = validation.check_vector(angular_velocity, "angular_velocity", "frame")
    place = validation.check_vector(origin, "origin", "frame")
    turned = hypot(*rate.tolist()) * float(np.abs(motion.times).max(initial=0.0))
    if not turned * np.finfo(np.float64).eps < 1:
        raise InputError(
            f"angular_velocity is {rate.tolist()} rad/s: since t = 0 the frame has turned by {turned:g} rad, so many "
            "that the rounding is of a radian, and where its axes point is not known. Give a slower frame."
        )
    return RotatingFrameMotion(motion, tuple(rate.tolist()), tuple(place.tolist()))


def _components(array: Array) -> Any:
    return tuple(np.moveaxis(array, -1, 0))
