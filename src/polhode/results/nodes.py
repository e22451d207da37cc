"""The nodes of a mesh that moves with a body: positions, displacements, velocities and accelerations, as arrays.

One pass over the memory for each: about the time that NumPy takes to copy the result.  [Hydra 2017, eq. 4.24 to 4.26,
corrected]
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode.errors import InputError, show
from polhode.integrate.loops.node_loops import evaluate_nodes
from polhode.integrate.run_result import RunResult
from polhode.massprops.body import Body
from polhode.quantities import dynamics
from polhode.results.material_points import rotation_between
from polhode.scenario.scenario import Scenario
from polhode.validation import Array, check_numbers, is_whole_number, shape_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from polhode.results.trajectory import Trajectory


RECENT_TIMES = 8
"""How many times are kept at which the motion was computed: one asks for positions, then for velocities, ..."""


class BodyKinematics(NamedTuple):
    """How a body moves at one time: world axes, the attitude as a quaternion."""

    position: Array
    attitude: Array
    velocity: Array
    angular_velocity: Array


class Nodes:
    """Points that move with a body: what `motion.nodes()` and `stepper.nodes()` return.

    Of a motion, each method takes a time of the run (s), or several; of a stepper it takes none, since there is one
    time only.  The result has the shape (nodes, 3), or (times, nodes, 3), and is written to `out` if that is given.
    """

    def __init__(
        self,
        offsets_body: Array,
        kinematics_at: Callable[[float | None], BodyKinematics],
        accelerations_at: Callable[[float | None], tuple[Array, Array]],
        start: BodyKinematics,
    ) -> None:
        self.offsets_body = offsets_body
        """From the center of mass, along the body's axes, in m.  [Hydra 2017, eq. 4.24]"""
        self._kinematics_at, self._accelerations_at, self._start = kinematics_at, accelerations_at, start

    def __len__(self) -> int:
        return len(self.offsets_body)

    def positions(self, t: ArrayLike | None = None, *, out: Array | None = None) -> Array:
        """x + R p, in m."""

        def numbers(k: BodyKinematics, t: float | None) -> tuple[Any, ...]:
            return k.attitude, k.position

        return self._evaluate("position", numbers, t, out)

    def velocities(self, t: ArrayLike | None = None, *, out: Array | None = None) -> Array:
        """v + w x (R p), in m/s.  [Hydra 2017, eq. 4.26, corrected]"""

        def numbers(k: BodyKinematics, t: float | None) -> tuple[Any, ...]:
            return k.attitude, k.velocity, k.angular_velocity

        return self._evaluate("velocity", numbers, t, out)

    def displacements(self, t: ArrayLike | None = None, *, out: Array | None = None) -> Array:
        """(x - x0) + (R p - R0 p) since the start, in m; 0 for a body at rest.  [Hydra 2017, eq. 4.25, corrected]"""

        def numbers(k: BodyKinematics, t: float | None) -> tuple[Any, ...]:
            w, e = rotation_between(self._start.attitude, k.attitude)
            return self._start.attitude, k.position - self._start.position, e, (0.0, 0.0, 0.0), float(w)

        return self._evaluate("displacement", numbers, t, out)

    def accelerations(self, t: ArrayLike | None = None, *, out: Array | None = None) -> Array:
        """a + w' x (R p) + w x (w x (R p)), in m/s2, from the forces, between impacts."""

        def numbers(k: BodyKinematics, t: float | None) -> tuple[Any, ...]:
            acceleration, angular = self._accelerations_at(t)
            return k.attitude, acceleration, k.angular_velocity, angular

        return self._evaluate("acceleration", numbers, t, out)

    def _evaluate(self, what: str, numbers: Callable[..., tuple[Any, ...]], t: Any, out: Array | None) -> Array:
        times: list[Any] = [None]
        if t is not None:
            moments = check_numbers(t, "t", shape_of(t), InputError, "a time or several")
            if moments.ndim > 1:
                raise InputError(f"t must be a time or several, but has the shape {moments.shape}")
            times = np.atleast_1d(moments).tolist()
        shape = (len(times), len(self), 3) if np.ndim(t) else (len(self), 3)
        if out is None:
            out = np.empty(shape)
        elif not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != float or not out.flags.c_contiguous:
            raise InputError(f"out must be a C-contiguous array of doubles of the shape {shape}")
        for moment, each in zip(times, out.reshape(len(times), len(self), 3), strict=True):
            evaluate_nodes(what, self.offsets_body, each, *numbers(self._kinematics_at(moment), moment))
        return out


def nodes_of_motion(motion: Trajectory, points: Any, body: Any) -> Nodes:
    """The nodes of one body of a motion."""
    refuse_moving_center(motion.scenario, "nodes")
    number = check_one_body(motion.scenario.bodies, body, motion.axes)

    @lru_cache(maxsize=RECENT_TIMES)
    def kinematics_at(t: float | None) -> BodyKinematics:
        if t is None:
            raise InputError("give a time of the run, in s: nodes.positions(0.5)")
        return kinematics_of(motion, motion.samples_at(t)[None], number)

    @lru_cache(maxsize=RECENT_TIMES)
    def accelerations_at(t: float | None) -> tuple[Array, Array]:
        assert t is not None
        if motion.scenario.contacts:
            there = motion.recomputed_at([t])
        else:
            run = motion.run_result
            there = type(motion)(motion.scenario, RunResult(np.array([t]), motion.samples_at(t)[None], run.columns, 0))
        return accelerations_of(there, number)

    first = motion.samples_at(motion.scenario.start_time)[None]
    offsets = offsets_of(motion.scenario.bodies[number], number, points)
    return Nodes(offsets, kinematics_at, accelerations_at, kinematics_of(motion, first, number))


def kinematics_of(motion: Trajectory, samples: Array, body: int) -> BodyKinematics:
    """How a body moves, from one sample of all bodies."""
    view = motion.state_view_of(samples)
    vectors = (view.position, view.orientation, view.velocity, view.angular_velocity)
    return BodyKinematics(*(np.array([np.asarray(c)[0, body] for c in vector]) for vector in vectors))


def accelerations_of(motion: Trajectory, body: int) -> tuple[Array, Array]:
    """The acceleration of a body's center of mass and its angular acceleration, at the last output of a motion."""
    both = dynamics.acceleration(motion), dynamics.angular_acceleration(motion)
    linear, angular = (np.broadcast_to(each, motion.position.shape)[-1] for each in both)
    return (linear[body], angular[body]) if motion.axis == "body" else (linear, angular)


def refuse_moving_center(scenario: Scenario, what: str) -> None:
    """Refuse what counts from a center of mass that stays in its place in the body."""
    if scenario.mass_course is not None and scenario.mass_course.moves_center:
        raise InputError(
            f"{what} of a body whose center of mass moves within it are not known: leave center_of_mass out of the "
            "mass course, or compute them from motion.position, motion.rotation_matrix and motion.center_of_mass"
        )


def check_one_body(bodies: tuple[Body, ...], body: Any, axes: tuple[str, ...]) -> int:
    """The index of a body."""
    if "member" in axes:
        raise InputError("this is an ensemble: take one of its members, motion.member(0), and then its nodes")
    if not is_whole_number(body) or not 0 <= body < len(bodies):
        count = "there is one body, 0" if len(bodies) == 1 else f"the bodies are numbered from 0 to {len(bodies) - 1}"
        raise InputError(f"body={show(body)}: {count}")
    return int(body)


def offsets_of(body: Body, number: int, points: Any = None, name: str = "points") -> Array:
    """p_i = x_i(0) - x_cm(0) of the nodes of a body's mesh, or of given points, along its axes.

    [Hydra 2017, eq. 4.24, corrected]
    """
    if points is None:
        nodes = body.nodes
        if nodes is None:
            raise InputError(
                f"body {number} was not made from a mesh, so it has no nodes: make it with ph.Body.from_mesh or "
                "ph.Body.from_volume_mesh, or name points of it, in its coordinates"
            )
    else:
        nodes = check_numbers(points, name, shape_of(points), InputError, "3 numbers a point")
        if nodes.ndim != 2 or nodes.shape[1] != 3 or not len(nodes):
            raise InputError(f"{name} must be 3 numbers a point, but has the shape {nodes.shape}")
    return np.ascontiguousarray(nodes - np.asarray(body.center_of_mass), dtype=np.float64)
