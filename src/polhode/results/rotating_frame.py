"""A motion in a uniformly rotating frame: on a turntable, on the Earth."""

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
from polhode.quantities import dynamics
from polhode.results.trajectory import Trajectory
from polhode.scenario.state import stack_components
from polhode.validation import Array


@dataclass(frozen=True)
class RotatingFrameMotion:
    """A motion in a uniformly rotating frame: what `motion.seen_from` returns.

    Vectors are along the frame's own axes, positions are relative to the point about which it rotates.  The arrays
    have the motion's shape: time first, then body or member, then components.

    Examples
    --------
    >>> import polhode as ph
    >>> resting = ph.simulate(ph.particle(1.0), ph.State(position=(2, 0, 0)), duration=1.0, method="exact")
    >>> resting.seen_from((0, 0, 1)).acceleration[0].tolist()
    [-2.0, 0.0, 0.0]
    """

    motion: Trajectory
    frame_angular_velocity: tuple[float, float, float]
    """Of the frame, in rad/s: the same along its own axes and the world's, since it is the axis of rotation."""
    origin: tuple[float, float, float]
    """A fixed point of the world, in m."""

    @property
    def times(self) -> Array:
        """The output times, in s."""
        return self.motion.times

    @property
    def position(self) -> Array:
        """Position of the center of mass, in m."""
        return self._along_frame(lambda: self._com)

    @property
    def velocity(self) -> Array:
        """Velocity of the center of mass, in m/s: the rate of `position`.  [Christian 2011, eq. 17.33]"""
        v = _components(self.motion.velocity)
        return self._along_frame(lambda: velocity_in_rotating_frame(self.frame_angular_velocity, self._com, v))

    @property
    def acceleration(self) -> Array:
        """Acceleration of the center of mass, in m/s2: the rate of `velocity`, with Coriolis and centrifugal terms."""
        v, a = _components(self.motion.velocity), _components(dynamics.acceleration(self.motion))
        return self._along_frame(lambda: acceleration_in_rotating_frame(self.frame_angular_velocity, self._com, v, a))

    @property
    def quaternion_wxyz(self) -> Array:
        """The orientation as a quaternion, body to frame, scalar first."""
        q: Any = _components(self.motion.quaternion_wxyz)
        return stack_components(product(conjugate(self._frame), q))

    @property
    def angular_velocity(self) -> Array:
        """Angular velocity relative to the frame, in rad/s."""
        w = _components(self.motion.angular_velocity)
        return self._along_frame(lambda: minus(w, self.frame_angular_velocity))

    @property
    def _com(self) -> Any:
        """From the origin to the center of mass, along the world's axes."""
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
        known = np.isfinite(self.motion.position)  # NaN for members that failed
        validation.check_still_finite(array[known], "the motion in the frame")
        return array


def transform_to_rotating_frame(motion: Trajectory, angular_velocity: Any, origin: Any) -> RotatingFrameMotion:
    """The motion in a rotating frame whose angle is known at every output time."""
    rate = validation.check_vector(angular_velocity, "angular_velocity", "frame")
    place = validation.check_vector(origin, "origin", "frame")
    turned = hypot(*rate.tolist()) * float(np.abs(motion.times).max(initial=0.0))
    if not turned * np.finfo(np.float64).eps < 1:
        raise InputError(
            f"angular_velocity is {rate.tolist()} rad/s: since t = 0 the frame has turned by {turned:g} rad, so "
            "far that rounding exceeds a radian and its orientation is unknown. Give a slower frame."
        )
    return RotatingFrameMotion(motion, tuple(rate.tolist()), tuple(place.tolist()))


def _components(array: Array) -> Any:
    return tuple(np.moveaxis(array, -1, 0))
