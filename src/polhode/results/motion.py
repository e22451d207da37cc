"""A motion: what a run computed, and everything that can be derived from it when asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import rotations, validation
from polhode.engines import segments
from polhode.engines.closed_form import ClosedForm
from polhode.engines.result import Checkpoint, RunResult
from polhode.engines.run import run_scenario
from polhode.equations import invariants
from polhode.equations.formulations import StateView
from polhode.equations.inertia import world_tensor
from polhode.equations.matrices import multiplied
from polhode.equations.quaternions import conjugate, matrix, product, to_world
from polhode.equations.right_hand_side import build_view
from polhode.equations.vectors import scaled
from polhode.errors import InputError, nearest
from polhode.model.scenario import Scenario
from polhode.model.state import State, split_groups, stack_components
from polhode.results import dynamics, material_points, store
from polhode.results.doors import Doors
from polhode.validation import Array

if TYPE_CHECKING:
    import xarray

    from polhode.results.rotating_frame import RotatingFrameMotion


@dataclass(frozen=True)
class Crossing:
    """An event that happened."""

    name: str
    time: float
    """In s."""
    body: int
    """Which body of a system, or which member of an ensemble; else 0."""
    state: State
    """The body's state at that time; before the change, if the event makes one."""
    ends: bool
    """Whether the run, or this member's, ended there."""


class Motion(Doors):
    """The motion of a body, of a system's bodies, or of an ensemble's members.

    Arrays have the time first, then the body of a system or the member of an ensemble, then components.  World axes,
    SI units, except where the name says body.
    """

    def __init__(self, scenario: Scenario, run: RunResult, unknown_forces: tuple[str, ...] = ()) -> None:
        self.scenario = scenario
        self.unknown_forces = unknown_forces
        """Names of forces that acted but could not be stored with the motion."""
        self._run = run

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_closed_form"}

    def __repr__(self) -> str:
        what = {None: "one body", "body": f"{self._count} bodies", "member": f"{self._count} members"}[self.axis]
        span = f"{self.times[0]:g} to {self.times[-1]:g} s" if len(self.times) else "no output"
        return f"<Motion of {what}, {span}, {len(self.times)} output times, {self.scenario.used_method.name}>"

    # What was computed ----------------------------------------------------------------------------------------------
    @property
    def times(self) -> Array:
        """The output times, in s."""
        return self._run.times

    @property
    def steps(self) -> int:
        """How many steps were taken."""
        return self._run.steps

    @property
    def axis(self) -> str | None:
        """What the second axis of the arrays counts: "body", "member", or nothing (None)."""
        if self.scenario.members is not None:
            return "member"
        return "body" if self.scenario.is_system else None

    @property
    def _count(self) -> int:
        return self.scenario.count

    @cached_property
    def _view(self) -> StateView:
        """All quantities at all output times, in component arrays (time, body)."""
        return self._view_of(self._run.samples)

    def _view_of(self, kept: Array) -> StateView:
        numbers = np.moveaxis(_blank_failed_members(kept), -1, 0)
        seen: Callable[..., StateView] = build_view(self.scenario.form, self.scenario.pivot is not None)
        return seen(split_groups(numbers, self.scenario.form.sizes), self.scenario.constants)

    def _array(self, components: Any) -> Array:
        """Components as one array, without the second axis if there is but one body."""
        return self._scalar(stack_components(components))

    def _scalar(self, values: Any) -> Array:
        array = np.asarray(values)
        return array[:, 0] if self.axis is None else array

    @property
    def position(self) -> Array:
        """Of the centre of mass, in m."""
        return self._array(self._view.position)

    @property
    def quaternion_wxyz(self) -> Array:
        """The orientation, body to world, scalar first."""
        return self._array(self._view.orientation)

    @property
    def linear_momentum(self) -> Array:
        """In kg m/s."""
        return self._array(self._view.linear_momentum)

    @property
    def angular_momentum(self) -> Array:
        """About the centre of mass, in kg m2/s."""
        return self._array(self._view.angular_momentum)

    @property
    def work(self) -> Array | None:
        """The work that the forces have done on each body since the start, in J; an ensemble does not count it."""
        has_work = self._run.samples.shape[-1] > sum(self.scenario.form.sizes) + 1
        return self._scalar(self._run.samples[..., -2]) if has_work else None

    @property
    def attitude_drift(self) -> Array:
        """The largest departure of the attitude from a rotation found since the output before, before any rescaling.

        ||q| - 1| for quaternions, the largest entry of |R^T R - 1| for matrices, 0 for Euler angles.
        """
        watched = self._run.samples[..., -1]
        return self._scalar(watched if self.scenario.formulation != "euler_angles" else np.zeros_like(watched))

    # Events ---------------------------------------------------------------------------------------------------------
    @cached_property
    def crossings(self) -> list[Crossing]:
        """The events that happened, in the order of time: each with name, time, body (or member) and state."""
        scenario, found = self.scenario, []
        for c in self._run.crossings:
            one, i = (scenario.take(c.body), 0) if self.axis == "member" else (scenario, c.body)
            found.append(Crossing(c.name, c.time, c.body, state_from_sample(one, i, c.sample.tolist(), c.time), c.ends))
        return found

    def crossing_times(self, name: str, body: int | None = None) -> Array:
        """When the event of this name happened, in s, in order; of all bodies or members, or of one of them.

        Examples
        --------
        >>> import polhode as ph
        >>> @ph.event
        ... def landing(t, state, body, params):
        ...     return state.position[2]
        >>> stone, start = ph.particle(1.0), ph.State(position=(0.0, 0.0, 4.903325))
        >>> motion = ph.simulate(stone, start, [ph.forces.gravity()], duration=5.0, events=[landing()])
        >>> motion.crossing_times("landing").round(12).tolist()
        [1.0]
        """
        known = {e.name for e in self.scenario.events} | {c.name for c in self._run.crossings}
        if name not in known:
            raise InputError(f"no event {name!r} was watched: {nearest(name, known)}")
        return np.array([c.time for c in self._run.crossings if c.name == name and body in (None, c.body)])

    @property
    def end_times(self) -> Array:
        """When the run ended, in s; for an ensemble when each member's did, of which events may stop each by itself."""
        end = float(self.times[-1]) if len(self.times) else self.scenario.start_time
        if self.axis != "member":
            return np.array(end)
        ends = np.full(self._count, end)
        for c in self._run.crossings:
            if c.ends:
                ends[c.body] = c.time
        return ends

    @property
    def acts_besides(self) -> tuple[str, ...]:
        """What acts besides the scenario's forces: those that a file could not hold, and events that change momenta."""
        changes = dict.fromkeys(e.name for e in self.scenario.events if e.action == "change")
        return (*self.unknown_forces, *changes)

    # Derived quantities ---------------------------------------------------------------------------------------------
    @property
    def velocity(self) -> Array:
        """Of the centre of mass, in m/s."""
        return self._array(self._view.velocity)

    @property
    def acceleration(self) -> Array:
        """Of the centre of mass, in m/s2."""
        return dynamics.acceleration(self)

    @property
    def angular_velocity(self) -> Array:
        """In rad/s."""
        return self._array(self._view.angular_velocity)

    @property
    def angular_velocity_body(self) -> Array:
        """Along the body's axes, in rad/s."""
        return self._array(self._view.angular_velocity_body)

    @property
    def euler_angles(self) -> Array:
        """(phi, theta, psi) in rad: about z, then the new x, then the new z.  [seed 004 section 17.3.1]

        -pi < phi <= pi, 0 <= theta <= pi, -pi < psi <= pi: `np.unwrap(motion.euler_angles[:, 0])` follows phi beyond.
        Where theta is 0 or pi, to rounding, only phi + psi or phi - psi is known: there psi is 0.
        """
        return rotations.angles_within_a_turn(self.quaternion_wxyz)

    @property
    def rotation_matrix(self) -> Array:
        """R, body to world: 3 x 3."""
        return self._matrix(matrix(self._view.orientation))

    @property
    def matrix_as_computed(self) -> Array:
        """R as the formulation "momentum_matrix" has computed it, no rotation any more: 3 x 3, body to world.

        `rotation_matrix` is the rotation made of it, and `attitude_drift` how far it is from one.  [seed 000 section 4]
        """
        if self.scenario.formulation != "momentum_matrix":
            raise InputError(
                f"the formulation {self.scenario.formulation!r} keeps no matrix: simulate with "
                "formulation='momentum_matrix', or take rotation_matrix"
            )
        kept = split_groups(np.moveaxis(_blank_failed_members(self._run.samples), -1, 0), self.scenario.form.sizes)[1]
        return self._matrix(multiplied(kept, matrix(conjugate(self.scenario.constants.axes))))

    @property
    def inertia_world(self) -> Array:
        """R I_body R^T about the centre of mass, in kg m2: 3 x 3.  [seed 000 eq. 2-39]"""
        c = self.scenario.constants_about(None)
        return self._matrix(world_tensor(c.moments, product(self._view.orientation, c.axes)))

    def _matrix(self, entries: Any) -> Array:
        array = self._array(entries)
        return array.reshape(*array.shape[:-1], 3, 3)

    @property
    def translational_energy(self) -> Array:
        """M v^2/2, in J."""
        return self._scalar(invariants.translational_energy(self._view))

    @property
    def rotational_energy(self) -> Array:
        """w . (I w)/2, in J."""
        return self._scalar(invariants.rotational_energy(self._view))

    @property
    def kinetic_energy(self) -> Array:
        """Of each body, in J.  [seed 001 eq. 4.27]"""
        return self._scalar(invariants.kinetic_energy(self._view))

    @property
    def potential_energy(self) -> Array:
        """Of all forces that have a potential, in J: one number for a whole system."""
        return dynamics.potential_energy(self)

    @property
    def potential_depends_on_time(self) -> bool:
        """Whether a potential changes with the time alone, so that no energy is conserved."""
        return dynamics.potential_depends_on_time(self)

    @property
    def energy(self) -> Array:
        """Kinetic energy (the sum over a system's bodies) plus potential energy, in J."""
        kinetic = self.kinetic_energy
        return (kinetic.sum(axis=1) if self.axis == "body" else kinetic) + self.potential_energy

    def angular_momentum_about(self, point: Any) -> Array:
        """L + (x - point) x P of each body, about a fixed point of the world, in kg m2/s."""
        at = tuple(validation.check_vector(point, "point", "point").tolist())
        return self._array(invariants.angular_momentum_about(self._view, at))

    def points(self, points_body: Any) -> Array:
        """Where points of the body (from its centre of mass, body axes) are: (..., points, 3), in m.  [000 eq. 2-1]"""
        return self._scalar(material_points.evaluate_at_points(self._view, points_body, material_points.point_position))

    def point_velocities(self, points_body: Any) -> Array:
        """How fast points of the body move: v + w x (R r), (..., points, 3), in m/s.  [000 eq. 2-17]"""
        return self._scalar(material_points.evaluate_at_points(self._view, points_body, material_points.point_velocity))

    def displacements(self, points_body: Any) -> Array:
        """How far points of the body have come since the start: (..., points, 3), in m.  [seed 001 eq. 4.25, corrected]

        Exactly 0 for a body at rest, whatever its attitude: a turn since the start of up to about 2e-15 rad (none of x,
        y, z of its quaternion above 4 times the rounding of 1, 8.9e-16) counts as none, since rounding alone moves q by
        so much.  The way of the centre of mass is counted in full.

        Examples
        --------
        >>> import polhode as ph
        >>> box, spin = ph.shapes.box((2, 2, 1), mass=1.0), ph.State(angular_velocity=(0, 0, 1))
        >>> turning = ph.simulate(box, spin, duration=3.0, method="exact")
        >>> turning.displacements((1.0, 0.0, 0.0))[-1].round(6).tolist()
        [-1.989992, 0.14112, 0.0]
        """
        first = self._view_of(self._numbers_at(self.scenario.start_time)[None])
        return self._scalar(
            material_points.evaluate_at_points(self._view, points_body, material_points.point_displacement_from(first))
        )

    def seen_from(self, angular_velocity: Any, origin: Any = (0.0, 0.0, 0.0)) -> RotatingFrameMotion:
        """How the motion looks from a frame that turns steadily about a fixed point.  [seed 004 project 17.1]

        All bodies or members are seen from the same frame.

        Parameters
        ----------
        angular_velocity : array_like
            Of the frame, three numbers in rad/s.
        origin : array_like, optional
            The point of the world about which it turns, in m: the origin of its coordinates.  Its axes are along the
            world's at t = 0.

        Examples
        --------
        >>> import polhode as ph
        >>> resting = ph.simulate(ph.particle(1.0), ph.State(position=(2, 0, 0)), duration=1.0, method="exact")
        >>> resting.seen_from((0, 0, 1)).velocity[0].tolist()
        [0.0, -2.0, 0.0]
        """
        from polhode.results.rotating_frame import transform_to_rotating_frame

        return transform_to_rotating_frame(self, angular_velocity, origin)

    @property
    def reaction_force(self) -> Array:
        """What the pivot exerts on the body: M a - F, in N."""
        if self.scenario.pivot is None:
            raise InputError("only a motion about a pivot has a reaction force")
        return dynamics.reaction_force(self)

    # States ---------------------------------------------------------------------------------------------------------
    @property
    def final(self) -> Any:
        """The state at the last output time; for a system a list, for an ensemble one state with all members."""
        if len(self.times) == 0:
            raise InputError("the run stopped before its first output time: there is no state to show")
        return self._state_of(self._run.samples[-1], float(self.times[-1]))

    def at(self, t: float) -> Any:
        """The state at any time of the run: an output, or computed from the last one before, by the same method.

        Of an exact motion: at any time at all, before, during or after the run, in a few microseconds.
        """
        moment = t if type(t) is float and t - t == 0.0 else validation.check_number(t, "t")
        if self.axis is None and (closed_form := self._closed_form) is not None:
            numbers = closed_form.numbers_at(moment)
            if (total := sum(numbers)) - total != 0.0:
                raise InputError(f"at t = {moment:g} s the state is no longer finite: so far no number of it is known")
            return state_from_sample(self.scenario, 0, numbers, moment)
        return self._state_of(self._numbers_at(moment), moment)

    def _numbers_at(self, moment: float) -> Array:
        """What is kept of each body or member at any time of the run."""
        if (closed_form := self._closed_form) is not None:
            return np.asarray(closed_form.samples_at(np.array([moment]))[0])
        if len(self.times) == 0 or not self.scenario.start_time <= moment <= self.times[-1]:
            span = f"{self.scenario.start_time:g} to {self.times[-1]:g}" if len(self.times) else "nowhere to nowhere"
            raise InputError(f"t = {moment:g} s is outside the run, which reaches from {span} s")
        exact = np.searchsorted(self.times, moment)
        if exact < len(self.times) and self.times[exact] == moment:
            return np.asarray(self._run.samples[exact])
        dynamics.require_forces(self, "a time between the stored ones")
        scenario = replace(self.scenario, output_times=[moment], output_step=None)
        again = run_scenario(scenario, self.work is not None, checkpoint=self._checkpoint_before(moment))
        return np.asarray(again.samples[-1])

    @cached_property
    def _closed_form(self) -> ClosedForm | None:
        """What gives the state of an exact motion at any time; None if the motion needs steps."""
        if self.scenario.used_method.name != "exact" or self._run.failure is not None:
            return None
        if self._run.closed_form is None and not any(
            np.ndim(event) for event in segments.discontinuity_times(self.scenario)
        ):
            return ClosedForm(self.scenario, self.work is not None)
        return self._run.closed_form

    def _checkpoint_before(self, moment: float) -> Checkpoint | None:
        """The last output before `moment` that lies on a step of its own segment; None: begin at the start."""
        events = segments.discontinuity_times(self.scenario)
        if any(np.ndim(event) for event in events) or self.scenario.events:
            return None
        segment = max(
            [t for t in segments.segment_boundaries(self.scenario) if t <= moment], default=self.scenario.start_time
        )
        before = np.flatnonzero((self.times > segment) & (self.times <= moment))
        if self.scenario.used_method.name == "dop853":  # the step with the last output before: the same steps again
            checkpoints, before = (
                self._run.checkpoints,
                np.flatnonzero((self.times >= segment) & (self.times <= moment)),
            )
            return Checkpoint(segment, 0, checkpoints[before[-1]]) if checkpoints is not None and len(before) else None
        if self.scenario.used_method.is_adaptive:
            return Checkpoint(float(self.times[before[-1]]), 0, self._run.samples[before[-1]]) if len(before) else None
        steps, rest = segments.locate_on_grid(self.times[before], segment, self.scenario.needed_step)
        whole = np.flatnonzero(rest == 0.0)
        return Checkpoint(segment, int(steps[whole[-1]]), self._run.samples[before[whole[-1]]]) if len(whole) else None

    def _state_of(self, numbers: Array, t: float) -> Any:
        if self.axis == "member":
            return state_from_sample(self.scenario, 0, _blank_failed_members(numbers).T, t)
        states = [state_from_sample(self.scenario, i, numbers[i].tolist(), t) for i in range(self._count)]
        return states if self.axis == "body" else states[0]

    # Doors ----------------------------------------------------------------------------------------------------------
    @cached_property
    def dataset(self) -> xarray.Dataset:
        """Everything computed, as an xarray dataset with units in the attributes."""
        return store.to_dataset(self)


def _blank_failed_members(kept: Array) -> Array:
    """Of a member that failed every number is "not a number", not here infinite and there a chance value."""
    well = np.isfinite(kept).all(axis=-1, keepdims=True)
    return kept if well.all() else np.where(well, kept, np.nan)


def state_from_sample(scenario: Scenario, i: int, numbers: Any, t: float) -> State:
    """The state of body i from its kept numbers, or from arrays of the members' numbers, worked out when looked at."""

    def make() -> tuple[Any, Any, Any, Any]:
        constants, groups = scenario.bodies[i].constants(scenario.pivot), split_groups(numbers, scenario.form.sizes)
        if scenario.form.keeps_body_rates and scenario.pivot is None and len(groups[1]) == 4:
            (x, q, p, w), axes = groups, constants.axes  # which is what a state asks for
            return x, product(q, conjugate(axes)), scaled(constants.inverse_mass, p), to_world(axes, w)
        with np.errstate(invalid="ignore"):  # of members that failed
            view = build_view(scenario.form, scenario.pivot is not None)(groups, constants)
            return view.position, view.orientation, view.velocity, view.angular_velocity_body

    return State.later(make, t)
