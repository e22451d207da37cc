"""A trajectory: the output of a run, and the kinematic quantities and states derived from it on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from polhode import validation
from polhode.equations import invariants
from polhode.equations.formulations import StateView
from polhode.equations.inertia import BodyConstants, constants_for_forces
from polhode.equations.quaternions import conjugate, product, to_world
from polhode.equations.right_hand_side import build_view
from polhode.equations.vectors import scaled
from polhode.errors import InputError, nearest, show
from polhode.integrate.closed_form import ClosedForm
from polhode.integrate.driver import run_scenario
from polhode.integrate.run_plan import RunPlan
from polhode.integrate.run_result import LEAST_ERROR, RunResult
from polhode.integrate.timeline import checkpoint_before, discontinuity_times
from polhode.massprops.geometry import Indices
from polhode.quantities import dynamics, laws
from polhode.quantities.own import OWN_QUANTITIES
from polhode.quantities.table import MotionQuantities
from polhode.results import material_points
from polhode.results.impacts import Impacts, ImpactTotals
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State, split_groups, stack_components
from polhode.synonyms import unknown_member_message
from polhode.validation import Array


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
    member: int | None = None
    """Of an ensemble of systems: the member; then `body` is the body of the system."""


class Trajectory(MotionQuantities):
    """The output of a run: what was computed, the quantities of the table, and states.

    Arrays have the time first, then the body of a system or the member of an ensemble, then components.  World axes,
    SI units, except where the name says body.
    """

    def __init__(self, scenario: Scenario, run_result: RunResult, unknown_forces: tuple[str, ...] = ()) -> None:
        self.scenario = scenario
        """What was simulated."""
        self.unknown_forces = unknown_forces
        """Names of forces that acted but could not be stored with the motion."""
        self.run_result = run_result
        """Lower level: the samples in the formulation's own variables, event records, and checkpoints."""
        self.model_run: Any = None
        """Of a motion that a model made: the model, the values of its knobs, and the name of the run."""

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: value for name, value in self.__dict__.items() if name != "closed_form"}
        return {**kept, "model_run": None}  # a model is made of functions, which other processes may not have

    def __repr__(self) -> str:
        bodies, members = len(self.scenario.bodies), self.scenario.members
        each = f"{bodies} bodies" if self.scenario.is_system else "one body"
        what = each if members is None else f"{members} members" + (f" of {each}" if self.scenario.is_system else "")
        span = f"{self.times[0]:g} to {self.times[-1]:g} s" if len(self.times) else "no output"
        method = self.scenario.used_method.name
        return f"<{type(self).__name__} of {what}, {span}, {len(self.times)} output times, {method}>"

    def __getattr__(self, name: str) -> Array:
        own = OWN_QUANTITIES.get(name)
        if own is not None and "run_result" in self.__dict__:
            found: Array = own.values(self)
            return found
        if not name.startswith("_") and hasattr(type(self), name):  # a property that raised: its own error again
            return object.__getattribute__(self, name)  # type: ignore[no-any-return]
        raise AttributeError(unknown_member_message(self, f"a {type(self).__name__}", name))

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *OWN_QUANTITIES})

    # What was computed ----------------------------------------------------------------------------------------------
    @property
    def times(self) -> Array:
        """The output times, in s."""
        return self.run_result.times

    @property
    def steps(self) -> int:
        """Number of steps taken."""
        return self.run_result.steps

    @property
    def axis(self) -> str | None:
        """What the second axis of the arrays counts: "body", "member", or None if there is no such axis."""
        return self.axes[0] if self.axes else None

    @property
    def axes(self) -> tuple[str, ...]:
        """What the axes of the arrays after time count: "member", "body", both of an ensemble of systems, or none."""
        members, bodies = self.scenario.members is not None, self.scenario.is_system
        return ("member",) * members + ("body",) * bodies

    def member(self, i: int) -> Self:
        """The motion of one member of an ensemble, by its number from 0.

        Examples
        --------
        >>> import polhode as ph
        >>> start = ph.State(velocity=[(1, 0, 0), (2, 0, 0)])
        >>> motion = ph.ensemble(ph.particle(1.0), start, duration=3.0)
        >>> motion.member(1).final.position.round(9).tolist()
        [6.0, 0.0, 0.0]
        """
        members = self.scenario.members
        if members is None:
            raise InputError(f"member {show(i)}: this motion is no ensemble")
        i = validation.check_index(i, "the number of a member", members)
        run = self.run_result.take(i)
        valid: Any = np.isfinite(run.samples).all(axis=(1, 2))
        count = len(valid) if valid.all() else int(np.argmin(valid))
        contact = None if run.contact is None else run.contact[:count]
        report = None if self.run_result.member_errors is None else run.auto_report  # else it is that of all members
        result = replace(run, times=run.times[:count], samples=run.samples[:count], contact=contact, auto_report=report)
        return type(self)(self.scenario.take(i), result, self.unknown_forces)

    @property
    def estimated_errors(self) -> Array | None:
        """Of an ensemble by method "auto": the error of each member, relative to the size of its motion.

        NaN of members of which it is not known.  None if nothing was estimated: with a named method or a closed form,
        and of a motion that was stored.
        """
        run = self.run_result
        if run.member_errors is None or run.auto_report is None or run.auto_report.asked is None:
            return None
        return np.asarray(np.maximum(run.member_errors * run.auto_report.asked, LEAST_ERROR))

    def members(self, which: ArrayLike | slice) -> Self:
        """The motion of some members of an ensemble, an ensemble too: a slice, numbers from 0, or a mask.

        Members keep the order of the ensemble and are numbered anew from 0.  `motion[100:200]` is the same.

        Examples
        --------
        >>> import polhode as ph
        >>> start = ph.State(velocity=[(1, 0, 0), (2, 0, 0), (3, 0, 0)])
        >>> motion = ph.ensemble(ph.particle(1.0), start, duration=3.0)
        >>> motion.members([0, 2]).final.position[:, 0].tolist()
        [3.0, 9.0]
        """
        count = self.scenario.members
        if count is None:
            raise InputError("this motion is no ensemble: it has no members to choose from")
        chosen = _member_numbers(which, count)
        result = self.run_result.take(chosen)
        return type(self)(self.scenario.take(chosen), result, self.unknown_forces)

    def __getitem__(self, which: Any) -> Self:
        """A member of an ensemble, by its number (from the end if negative); or some of them, an ensemble too."""
        count = self.scenario.members
        if count is None:
            raise InputError(
                "motion[...] chooses members of an ensemble, and this motion is none: take an array and its rows, "
                "such as motion.position[10], or motion.at(t)"
            )
        if validation.is_whole_number(which):
            if not -count <= which < count:  # by which Python's loops know the end
                raise IndexError(f"member {show(which)}: this ensemble has members 0 to {count - 1}")
            return self.member(int(which) % count)
        return self.members(which)

    def __iter__(self) -> Iterator[Self]:
        """The motions of all members, one by one."""
        if self.scenario.members is None:
            raise InputError("only an ensemble can be iterated over: this motion has no members")
        return (self.member(i) for i in range(self.scenario.members))

    @property
    def known_samples(self) -> Array:
        """Lower level: the samples (time, body, column), with NaN for all numbers of members that have failed."""
        return _blank_failed_members(self.run_result.samples)

    @cached_property
    def state_view(self) -> StateView:
        """Lower level: all quantities at all output times, as component arrays (time, body)."""
        return self.state_view_of(self.run_result.samples)

    @cached_property
    def seen_constants(self) -> BodyConstants:
        """Lower level: what functions of the user see of the bodies at all output times."""
        return constants_for_forces(self.scenario.constants_about(None), self.state_view.current_mass)

    def state_view_of(self, samples: Array) -> StateView:
        """Lower level: all quantities of samples (time, body, column), as component arrays (time, body).

        Examples
        --------
        >>> import polhode as ph
        >>> motion = ph.simulate(ph.particle(2.0), ph.State(velocity=(1, 0, 0)), duration=3.0, method="exact")
        >>> motion.state_view_of(motion.run_result.samples[-1:]).linear_momentum[0].tolist()
        [[2.0]]
        """
        columns = np.moveaxis(_blank_failed_members(samples), -1, 0)
        view: Callable[..., StateView] = build_view(self.scenario.form)
        constants = self.scenario.constants_for_samples(self.scenario.problem.constants, columns)
        return view(split_groups(columns, self.scenario.form.sizes), constants)

    # Events ---------------------------------------------------------------------------------------------------------
    @cached_property
    def crossings(self) -> list[Crossing]:
        """The events that happened, in order of time: each with name, time (s), body or member, and state."""
        scenario, found = self.scenario, []
        for c in self.run_result.crossings:
            one, i = (scenario.take(c.body), 0) if self.axes == ("member",) else (scenario, c.body)
            one = scenario.take(c.member) if c.member is not None else one
            state = state_from_sample(one, i, c.sample.tolist(), c.time)
            found.append(Crossing(c.name, c.time, c.body, state, c.ends, c.member))
        return found

    def crossing_times(self, name: str, body: int | None = None) -> Array:
        """Times at which the event of this name happened, in s, in order; of all bodies or members, or of one.

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
        known = {e.name for e in self.scenario.events} | {c.name for c in self.run_result.crossings}
        if validation.check_text(name, "the name of an event") not in known:
            raise InputError(f"no event {show(name)} was watched: {nearest(name, known)}")
        if body is not None:
            validation.check_index(body, "body", self.scenario.members or len(self.scenario.bodies))
        return np.array([c.time for c in self.run_result.crossings if c.name == name and body in (None, c.body)])

    @property
    def end_times(self) -> Array:
        """When the run ended, in s; in an ensemble an array with the end of each member, which an event may stop."""
        end = float(self.times[-1]) if len(self.times) else self.scenario.start_time
        if self.axis != "member":
            return np.array(end)
        ends = np.full(self.scenario.members or 1, end)
        for c in self.run_result.crossings:
            if c.ends:
                ends[c.body if c.member is None else c.member] = c.time
        return ends

    @property
    def acts_besides(self) -> tuple[str, ...]:
        """Names of what acts besides the scenario's forces: forces not stored, and events that change momenta."""
        changes = dict.fromkeys(e.name for e in self.scenario.events if e.action == "change")
        return (*self.unknown_forces, *changes)

    # Contacts -------------------------------------------------------------------------------------------------------
    @property
    def impacts(self) -> Impacts:
        """The impacts in order of time, one row for each point of contact.  Printed, it is a short table.

        Each row has the time (s), the body, the surface, the point (m), the normal, the normal and the tangential
        impulse on the body (N s), the energy lost (J), and the kind: "slip", "stick", "settle" or "jam".  An ensemble
        that keeps only its final states keeps no rows, only `impact_totals`.

        Examples
        --------
        >>> import polhode as ph
        >>> ball, start = ph.shapes.sphere(0.1, mass=1.0), ph.State(position=(0.0, 0.0, 0.1 + 4.903325))
        >>> floor = ph.floor(restitution=0.5)
        >>> motion = ph.simulate(ball, start, [ph.forces.gravity()], duration=1.5, contacts=[floor])
        >>> motion.impacts.time.round(9).tolist(), motion.impacts[0].surface
        ([1.0], 'floor')
        """
        laws.require_contacts(self, "impacts")
        names = tuple(contact.name for contact in self.scenario.contacts)
        return Impacts(self.run_result.impacts, names, self.impact_totals)

    @property
    def impact_totals(self) -> ImpactTotals:
        """The number of points of contact in all impacts, the energy lost there (J), and the number of coarse steps.

        Of a whole system, or of each member of an ensemble.
        """
        laws.require_contacts(self, "impacts")
        totals = np.asarray(self.run_result.impact_totals)
        each = totals if self.axes == ("member",) else totals[..., 0, :]
        if self.scenario.members is None:
            return ImpactTotals(int(each[0]), float(each[1]), int(each[2]))
        return ImpactTotals(each[..., 0].astype(np.int64), each[..., 1], each[..., 2].astype(np.int64))

    @property
    def contact_state(self) -> Array:
        """ "flight", "sliding", "rolling" (it moves, no point of contact slips) or "resting", at the output times."""
        return laws.contact_state(self)

    # Points of the bodies -------------------------------------------------------------------------------------------
    def angular_momentum_about(self, point: ArrayLike) -> Array:
        """L + (x - point) x P of each body, about a fixed point of the world (m), in kg m2/s.

        Examples
        --------
        >>> import polhode as ph
        >>> motion = ph.simulate(ph.particle(2.0), ph.State(velocity=(1, 0, 0)), duration=3.0, method="exact")
        >>> motion.angular_momentum_about((0, -1, 0))[-1].tolist()
        [0.0, 0.0, -2.0]
        """
        at = tuple(validation.check_vector(point, "point", "point").tolist())
        return laws.without_body_axis(self, stack_components(invariants.angular_momentum_about(self.state_view, at)))

    def points(self, points_body: ArrayLike) -> Array:
        """World positions of points of the body: (..., points, 3), in m.  [Baraff 1997, eq. 2-1]

        Parameters
        ----------
        points_body : array_like
            From the center of mass, along the body's axes, in m: (points, 3), or a single point.

        Examples
        --------
        >>> import polhode as ph
        >>> box, spin = ph.shapes.box((2, 2, 1), mass=1.0), ph.State(angular_velocity=(0, 0, 1))
        >>> motion = ph.simulate(box, spin, duration=3.0, method="exact")
        >>> motion.points((1.0, 0.0, 0.0))[-1].round(6).tolist()
        [-0.989992, 0.14112, 0.0]
        """
        return self._at_points(points_body, material_points.point_position)

    def point_velocities(self, points_body: ArrayLike) -> Array:
        """Velocities v + w x (R r) of points of the body: (..., points, 3), in m/s.  [Baraff 1997, eq. 2-17]

        Examples
        --------
        >>> import polhode as ph
        >>> box, spin = ph.shapes.box((2, 2, 1), mass=1.0), ph.State(angular_velocity=(0, 0, 1))
        >>> motion = ph.simulate(box, spin, duration=3.0, method="exact")
        >>> motion.point_velocities((1.0, 0.0, 0.0))[0].tolist()
        [0.0, 1.0, 0.0]
        """
        return self._at_points(points_body, material_points.point_velocity)

    def displacements(self, points_body: ArrayLike) -> Array:
        """Displacements of points of the body since the start: (..., points, 3), in m.

        [Hydra 2017, eq. 4.25, corrected]  Exactly 0 for a body at rest, whatever its attitude: a rotation since the
        start of up to about 2e-15 rad (none of x, y, z of its quaternion above 4 times the rounding of 1, 8.9e-16)
        counts as none, since rounding alone moves q by that much.  The displacement of the center of mass is counted in
        full.

        Examples
        --------
        >>> import polhode as ph
        >>> box, spin = ph.shapes.box((2, 2, 1), mass=1.0), ph.State(angular_velocity=(0, 0, 1))
        >>> turning = ph.simulate(box, spin, duration=3.0, method="exact")
        >>> turning.displacements((1.0, 0.0, 0.0))[-1].round(6).tolist()
        [-1.989992, 0.14112, 0.0]
        """
        first = self.state_view_of(self.samples_at(self.scenario.start_time)[None])
        return self._at_points(points_body, material_points.point_displacement_from(first))

    def _at_points(self, points_body: ArrayLike, law: Callable[[StateView, Any], Any]) -> Array:
        return laws.without_body_axis(self, material_points.evaluate_at_points(self.state_view, points_body, law))

    # States ---------------------------------------------------------------------------------------------------------
    @property
    def final(self) -> Any:
        """The `State` at the last output time; for a system a list, for an ensemble one state with all members.

        A member that an event has stopped is where it stopped.  (Of an ensemble of systems with several output times
        that is not kept: such a member has NaN.)
        """
        if len(self.times) == 0:
            raise InputError("the run stopped before its first output time: there is no state to show")
        return self._state_of(self.final_samples(), float(self.times[-1]))

    def final_samples(self) -> Array:
        """The last samples; of members that an event has stopped before, if it is known, the one where they stopped."""
        run = self.run_result
        last: Array = run.samples[-1]
        ended = [c for c in run.crossings if c.ends] if self.axes == ("member",) and len(run.times) > 1 else []
        if not ended:  # with one output time the engine has put it there
            return last
        last = last.copy()
        for c in ended:
            if c.time < run.times[-1]:
                last[c.body, : len(c.sample)], last[c.body, len(c.sample) :] = c.sample, 0.0
        return last

    def at(self, t: float) -> Any:
        """The state at any time of the run (s): an output, or computed from the last one before, by the same method.

        An exact motion is evaluated at any time, before, during or after the run, in a few microseconds.  The result
        is a `State`; for a system a list of them, for an ensemble one state with all members.

        Examples
        --------
        >>> import polhode as ph
        >>> motion = ph.simulate(ph.particle(2.0), ph.State(velocity=(1, 0, 0)), duration=3.0, method="exact")
        >>> motion.at(1.5).position.tolist()
        [1.5, 0.0, 0.0]
        """
        moment = t if type(t) is float and t - t == 0.0 else validation.check_number(t, "t")
        if self.axis is None and (closed_form := self.closed_form) is not None:
            numbers = closed_form.numbers_at(moment)
            if (total := sum(numbers)) - total != 0.0:
                raise InputError(f"at t = {moment:g} s the state is no longer finite")
            return state_from_sample(self.scenario, 0, numbers, moment)
        return self._state_of(self.samples_at(moment), moment)

    def samples_at(self, t: float) -> Array:
        """Lower level: the sample of each body or member, (body, column), at any time of the run (s).

        Examples
        --------
        >>> import polhode as ph
        >>> motion = ph.simulate(ph.particle(2.0), ph.State(velocity=(1, 0, 0)), duration=3.0, method="exact")
        >>> motion.samples_at(1.5)[0, motion.run_result.columns.position].tolist()
        [1.5, 0.0, 0.0]
        """
        t = validation.check_number(t, "t")
        if (closed_form := self.closed_form) is not None:
            return np.asarray(closed_form.samples_at(np.array([t]))[0])
        if len(self.times) == 0 or not self.scenario.start_time <= t <= self.times[-1]:
            span = f"{self.scenario.start_time:g} to {self.times[-1]:g}" if len(self.times) else "nowhere to nowhere"
            raise InputError(f"t = {t:g} s is outside the run, which reaches from {span} s")
        exact = np.searchsorted(self.times, t)
        if exact < len(self.times) and self.times[exact] == t:
            return np.asarray(self.run_result.samples[exact])
        if self.scenario.contacts:
            return np.asarray(self.recomputed_at([t]).run_result.samples[-1])
        dynamics.require_forces(self, "a time between the stored ones")
        scenario = self.scenario.with_settings(output_times=[t], output_step=None)
        again = run_scenario(
            scenario, self.work is not None, checkpoint=checkpoint_before(t, self.scenario, self.run_result)
        )
        return np.asarray(again.samples[-1])

    def recomputed_at(self, times: ArrayLike, members: ArrayLike | None = None) -> Self:
        """Lower level: the same motion with outputs at other times (s, within the run), computed again from the start.

        With `members`, of an ensemble only these, by their numbers.

        Examples
        --------
        >>> import polhode as ph
        >>> motion = ph.simulate(ph.particle(2.0), ph.State(velocity=(1, 0, 0)), duration=3.0, method="exact")
        >>> motion.recomputed_at([0.5, 1.5]).position[:, 0].tolist()
        [0.5, 1.5]
        """
        dynamics.require_forces(self, "a time between the stored ones")
        count = self.scenario.members
        if members is not None and count is None:
            raise InputError("this motion is no ensemble: it has no members to choose from")
        chosen = None if members is None or count is None else _member_numbers(members, count)
        scenario = self.scenario if chosen is None else self.scenario.take(chosen)
        scenario = scenario.with_settings(output_times=times, output_step=None)
        return type(self)(scenario, run_scenario(scenario, self.work is not None))

    @cached_property
    def closed_form(self) -> ClosedForm | None:
        """Lower level: what evaluates an exact motion at any time; None if the motion needs steps."""
        if not self.scenario.used_method.is_closed_form or self.run_result.failure is not None:
            return None
        if self.scenario.contacts:  # the closed form holds between two impacts only
            return None
        if self.run_result.closed_form is None and not any(
            np.ndim(event) for event in discontinuity_times(self.scenario)
        ):
            return ClosedForm(RunPlan(self.scenario, self.work is not None))
        return self.run_result.closed_form

    def _state_of(self, samples: Array, t: float) -> Any:
        bodies = range(len(self.scenario.bodies))
        if self.axis == "member":
            columns = _blank_failed_members(samples).T
            if not self.scenario.is_system:
                return state_from_sample(self.scenario, 0, columns, t)
            return [state_from_sample(self.scenario, i, columns[:, i], t) for i in bodies]
        states = [state_from_sample(self.scenario, i, samples[i].tolist(), t) for i in bodies]
        return states if self.axis == "body" else states[0]


def _member_numbers(which: Any, count: int) -> Indices:
    """The chosen members in increasing order, each once."""
    if isinstance(which, slice):
        ends = (which.start, which.stop, which.step)
        if not all(end is None or validation.is_whole_number(end) for end in ends):
            raise InputError(f"a slice of members is of whole numbers, not {show(which)}")
        if which.step is not None and which.step < 0:
            raise InputError("members keep their order: a slice of members needs a positive step")
        chosen = np.arange(count)[which]
    else:
        try:
            given = np.asarray(which)
        except ValueError:
            given = np.array(None)  # ragged
        if given.dtype == bool:
            if given.shape != (count,):
                raise InputError(f"a mask of members needs {count} values, one for each, but has shape {given.shape}")
            chosen = np.flatnonzero(given)
        else:
            if given.ndim != 1 or given.dtype.kind not in "iu":
                raise InputError(f"members are chosen by a slice, numbers or a mask, not by {show(which)}")
            outside = given[(given < -count) | (given >= count)]
            if outside.size:
                raise InputError(f"member {outside[0]}: this ensemble has members 0 to {count - 1}")
            chosen = np.where(given < 0, given + count, given)
            if np.any(np.diff(chosen) <= 0):
                raise InputError("members keep their order: give increasing numbers, each once")
    if chosen.size == 0:
        raise InputError("no member was chosen")
    return np.asarray(chosen, dtype=np.int64)


def require_one_system(trajectory: Trajectory) -> None:
    """Refuse what shows bodies or members, but not both."""
    if len(trajectory.axes) > 1:
        raise InputError("this is an ensemble of systems: take one of its members, motion.member(0), to show it")


def _blank_failed_members(samples: Array) -> Array:
    """Every number of a member that failed becomes NaN, instead of infinite here and arbitrary there."""
    finite = np.isfinite(samples).all(axis=-1, keepdims=True)
    return samples if finite.all() else np.where(finite, samples, np.nan)


def view_of_sample(scenario: Scenario, i: int, sample: Any) -> StateView:
    """All quantities of body i from its sample, or from arrays of the members' samples."""
    constants = scenario.constants_for_samples(scenario.body_constants(i), sample)
    view: StateView = build_view(scenario.form)(split_groups(sample, scenario.form.sizes), constants)
    return view


def state_from_sample(scenario: Scenario, i: int, sample: Any, t: float) -> State:
    """The state of body i from its sample, or from arrays of the members' samples; evaluated when first read."""

    def make() -> tuple[Any, Any, Any, Any]:
        constants, groups = scenario.body_constants(i), split_groups(sample, scenario.form.sizes)
        if scenario.form.keeps_body_rates and scenario.pivot is None and len(groups[1]) == 4:
            (x, q, p, w), axes = groups, constants.axes  # which is what a state asks for
            return x, product(q, conjugate(axes)), scaled(constants.inverse_mass, p), to_world(axes, w)
        with np.errstate(invalid="ignore"):  # of members that failed
            view = view_of_sample(scenario, i, sample)
            return view.position, view.orientation, view.velocity, view.angular_velocity_body

    return State.later(make, t)
