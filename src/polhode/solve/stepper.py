"""`Stepper`: a motion advanced from outside, step by step, with loads that somebody else computes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from math import isfinite, nextafter
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.errors import ScenarioError
from polhode.integrate.driver import integrator_for
from polhode.integrate.event_log import label_event_records
from polhode.integrate.integrator import Integrator
from polhode.integrate.loops.state_loop import STATE_NUMBERS
from polhode.integrate.run_plan import RunPlan
from polhode.integrate.run_result import ContactColumns, Failure, RunResult
from polhode.integrate.timeline import Segment
from polhode.integrate.traced_functions import trace_functions
from polhode.massprops.body import Body
from polhode.methods.registry import METHODS
from polhode.results.impacts import Impacts, ImpactTotals, name_contact_states
from polhode.results.motion import Motion
from polhode.results.nodes import BodyKinematics, Nodes, accelerations_of, check_one_body, kinematics_of, offsets_of
from polhode.results.trajectory import Crossing, state_from_sample, view_of_sample
from polhode.scenario.contact import Contact
from polhode.scenario.event import Event, EventLaw
from polhode.scenario.force import Force, ForceLaw
from polhode.scenario.mass_course import MassCourse
from polhode.scenario.method_choice import AUTO, RUNGE_KUTTA
from polhode.scenario.preflight import check_user_functions
from polhode.scenario.rotor import Rotor
from polhode.scenario.scenario import Scenario
from polhode.scenario.scenario_validation import check_positive_number, warn_of_step
from polhode.scenario.state import State, normalize_quaternion
from polhode.solve.applied_loads import NAMES, ZERO, AppliedLoads, with_applied_loads
from polhode.solve.quick_advance import QuickAdvance, QuickStates
from polhode.solve.run_errors import run_error
from polhode.synonyms import check_argument_names, explain_unknown_attributes
from polhode.validation import Array, check_number, check_numbers, shape_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@explain_unknown_attributes("a Stepper")
class Stepper:
    """A body, or a system of bodies, that is advanced from outside.

    Takes what `ph.simulate` takes, and loads that may change before every advance.  A step lands exactly on the time
    that is asked for: with a fixed `step` the last one is shortened where necessary.

    Parameters
    ----------
    body, state, forces, events, contacts, rotors, mass_course, added_mass, pivot, breaks
        As in `ph.simulate`.
    method, step, formulation, engine, renormalize, rtol, atol
        As in `ph.simulate`.  Method "auto" is "dop853" here.
    duration : float, optional
        The length of time that matters, in s (default 1): adaptive methods measure by it which momenta are too small to
        matter.  The motion may go on beyond it.

    Examples
    --------
    >>> import polhode as ph
    >>> stepper = ph.Stepper(ph.particle(2.0), method="rk4", step=1e-3)
    >>> stepper.set_loads(force=(0, 0, 4.0))
    >>> before = stepper.save()
    >>> for _ in range(100):
    ...     stepper.advance(0.01)
    >>> round(stepper.time, 9), round(float(stepper.state.velocity[2]), 9)
    (1.0, 2.0)
    >>> stepper.restore(before)
    >>> stepper.time
    0.0
    """

    def __init__(
        self,
        body: Body | Sequence[Body] | Scenario,
        state: State | Sequence[State] | None = None,
        forces: Sequence[Force | ForceLaw] = (),
        *,
        duration: float = 1.0,
        events: Sequence[Event | EventLaw] = (),
        contacts: Sequence[Contact] = (),
        rotors: Sequence[Rotor] = (),
        mass_course: MassCourse | None = None,
        added_mass: ArrayLike | Sequence[ArrayLike | None] | None = None,
        step: float | None = None,
        method: str = AUTO,
        formulation: str = "momentum",
        engine: str = "cpu",
        pivot: ArrayLike | None = None,
        renormalize: bool = True,
        rtol: float | Sequence[float] = 1e-9,
        atol: float | Sequence[float] = 0.0,
        breaks: ArrayLike = (),
        name: str = "",
    ) -> None:
        if isinstance(body, Scenario):
            scenario = body
        else:
            if isinstance(method, str) and method == AUTO:
                method = RUNGE_KUTTA.name
                if step is not None:
                    warn_of_step(check_positive_number(step, "step"), RUNGE_KUTTA)
            scenario = Scenario(
                body, state, forces, duration=duration, events=events, contacts=contacts, rotors=rotors,
                mass_course=mass_course, added_mass=added_mass, step=step, method=method, formulation=formulation,
                engine=engine, pivot=pivot, renormalize=renormalize, rtol=rtol, atol=atol, breaks=breaks, name=name,
            )  # fmt: skip
        if scenario.members is not None:
            raise ScenarioError("a Stepper advances one motion: use ph.ensemble for many members")
        self._given = scenario = choose_stepped_method(scenario)
        takes_loads = not METHODS[scenario.method].is_closed_form
        scenario = to_stepped_scenario(scenario)
        check_user_functions(scenario)
        self.scenario = trace_functions(scenario)
        self._time = scenario.start_time
        self._applied = False
        """Whether the impulses at the current time have been applied."""
        self._open: float | None = None
        """The start of the segment for which the windows of forces have been set."""
        self._seen: dict[tuple[int, int], int] = {}
        """How often each event has happened."""
        plan = RunPlan(self.scenario, counts_work=False)
        self._timeline = plan.timeline
        with np.errstate(all="ignore"):
            self._integrator = integrator_for(plan, 1)
        self._integrator.is_stepped = True
        self._quick = QuickAdvance.of(self._integrator)
        """What advances without the driver: used once the windows are set."""
        self._loads = AppliedLoads(self._integrator) if takes_loads else None
        self._quick_loads = [] if self._loads is None else self._loads.quick
        self._first = self._integrator.samples[None]
        """Where the motion began."""
        self._records: list[tuple[float, Array]] = []

    # Reading --------------------------------------------------------------------------------------------------------
    @property
    def has_edges(self) -> bool:
        """Whether there are times at or after the start that no step may cross, such as one at which a force begins."""
        return any(t >= self.scenario.start_time for t in self._timeline.instants)

    @property
    def integrator(self) -> Integrator:
        """What advances the bodies."""
        return self._integrator

    @property
    def has_quick_steps(self) -> bool:
        """Whether nothing but the loop itself advances the motion."""
        return self._quick is not None

    @property
    def time(self) -> float:
        """The time that has been reached, in s."""
        return self._time

    @property
    def has_stopped(self) -> bool:
        """Whether an event has stopped the motion: it goes on only from an earlier state."""
        return self._integrator.stopped_at is not None

    @property
    def state(self) -> Any:
        """The state of the body at that time; of a system, a list of states."""
        if self._states is not None:
            rows = self._states.read()
            if rows.ndim == 1 and not self.scenario.is_system:
                return State.of_rows(rows, self._time)
            return [State.of_rows(row, self._time) for row in rows.reshape(-1, STATE_NUMBERS)]
        samples = self._integrator.samples.tolist()  # plain numbers are faster
        states = [state_from_sample(self.scenario, i, row, self._time) for i, row in enumerate(samples)]
        return states if self.scenario.is_system else states[0]

    @cached_property
    def _states(self) -> QuickStates | None:
        """What reads states the short way, compiled when the first is read."""
        return QuickStates.of(self._integrator)

    def read_states(self) -> Array:
        """All states one after the other, 13 numbers a body: position, quaternion, velocity, body rates."""
        if self._states is not None:
            rows: Array = self._states.read().reshape(-1)
            for first in range(3, len(rows), STATE_NUMBERS):
                q = rows[first : first + 4]
                if (unit := normalize_quaternion(q)) is not q:
                    rows[first : first + 4] = unit
            return rows
        states = self.state if self.scenario.is_system else [self.state]
        parts = [(s.position, s.quaternion_wxyz, s.velocity, s.angular_velocity_body) for s in states]
        return np.concatenate([part for each in parts for part in each])

    @property
    def rotor_speed(self) -> Array:
        """The speed of each rotor relative to its body at that time, in rad/s."""
        return self._rotors("rotor_speed")

    @property
    def rotor_momentum(self) -> Array:
        """The angular momentum of each rotor along its axis at that time, in kg m2/s."""
        return self._rotors("rotor_momentum")

    def _rotors(self, name: str) -> Array:
        scenario, samples = self.scenario, self._integrator.samples.tolist()
        if not scenario.rotors:
            raise ScenarioError("there are no rotors: make the stepper with rotors=[ph.rotor(axis, inertia)]")
        views = [view_of_sample(scenario, i, sample) for i, sample in enumerate(samples)]
        return np.array([getattr(views[rotor.body], name)[i] for i, rotor in enumerate(scenario.rotors)])

    @property
    def contact_forces(self) -> Array:
        """The force of all contacts on the body, or on each body, where the last advance ended, in N."""
        return self._contact_column(ContactColumns().force)

    @property
    def contact_torques(self) -> Array:
        """The torque of all contacts about the center of mass there, in N m."""
        return self._contact_column(ContactColumns().torque)

    @property
    def contact_state(self) -> Any:
        """ "flight", "sliding", "rolling" (it moves, no point of contact slips) or "resting"."""
        names = name_contact_states(self._contact_column(ContactColumns().state))
        return names if self.scenario.is_system else str(names)

    def nodes(self, points: ArrayLike | None = None, *, body: int = 0) -> Nodes:
        """The nodes of the mesh of a body where the motion has arrived: positions, displacements, velocities, ...

        Parameters
        ----------
        points : array_like, optional
            (nodes, 3), in m, in the coordinates of the body; by default the nodes of the mesh that it was made from, or
            those that `use_nodes` has named.
        body : int, optional
            Which body of a system.

        Examples
        --------
        >>> import polhode as ph, trimesh
        >>> cube = ph.Body.from_mesh(trimesh.creation.box((1, 1, 1)), mass=6.0)
        >>> stepper = ph.Stepper(cube, ph.State(velocity=(0, 0, 2.0)), method="rk4", step=0.01)
        >>> nodes = stepper.nodes()
        >>> stepper.advance(0.5)
        >>> nodes.positions().shape, nodes.displacements()[0].round(12).tolist()
        ((8, 3), [0.0, 0.0, 1.0])
        """
        number = check_one_body(self.scenario.bodies, body, ())
        if points is None and self._loads is not None:
            offsets = self._loads.nodes_of(number)
        else:
            offsets = offsets_of(self.scenario.bodies[number], number, points)

        def kinematics_at(t: float | None) -> BodyKinematics:
            self._refuse_time(t)
            state = self.state[number] if self.scenario.is_system else self.state
            return BodyKinematics(state.position, state.quaternion_wxyz, state.velocity, state.angular_velocity)

        def accelerations_at(t: float | None) -> tuple[Array, Array]:
            scenario = self.scenario if self._loads is None else self._loads.present_scenario()
            return accelerations_of(self._present_motion(scenario), number)

        return Nodes(
            offsets,
            kinematics_at,
            accelerations_at,
            kinematics_of(self._present_motion(self.scenario), self._first, number),
        )

    @staticmethod
    def _refuse_time(t: float | None) -> None:
        if t is not None:
            raise ScenarioError("the nodes of a stepper are where it has arrived: leave the time out")

    def _present_motion(self, scenario: Scenario) -> Motion:
        """A motion with one output: where the stepper has arrived."""
        integrator = self._integrator
        result = RunResult(np.array([self._time]), integrator.samples[None], integrator.columns, integrator.steps)
        if integrator.forces is not None:
            none = np.zeros((1, scenario.count, 8))
            result.contact = integrator.forces[-1][-1:] if integrator.forces else none
        return Motion(scenario, result)

    def _contact_column(self, column: slice | int) -> Array:
        integrator = self._integrator
        if integrator.forces is None:
            raise ScenarioError("this stepper has no contacts: make it with contacts=[ph.floor()], or with walls")
        if not integrator.forces:
            raise ScenarioError("the forces of the contacts are known after the first advance")
        each: Array = integrator.forces[-1][-1][..., column]
        return each if self.scenario.is_system else each[0]

    # Loads ----------------------------------------------------------------------------------------------------------
    def set_loads(
        self,
        force: ArrayLike = ZERO,
        torque: ArrayLike = ZERO,
        *,
        force_body: ArrayLike = ZERO,
        torque_body: ArrayLike = ZERO,
        nodal_forces: ArrayLike | None = None,
        body: int = 0,
        ramp_until: float | None = None,
        **unknown: Any,
    ) -> None:
        """Set the load on a body from now on: it replaces the one set before and stays until the next is set.

        A load that is refused changes nothing.

        Parameters
        ----------
        force, torque : array_like, optional
            In world axes, in N and N m; the force acts at the center of mass, the torque is about it.
        force_body, torque_body : array_like, optional
            The same in body axes: they turn with the body.
        nodal_forces : array_like, optional
            Forces at the nodes of the body's mesh, (nodes, 3), in world axes, in N: see `set_nodal_forces`.
        body : int, optional
            Which body of a system.
        ramp_until : float, optional
            The time, in s, at which these values are reached: until then the load changes linearly from what it is
            now.  By default they act at once.

        Examples
        --------
        >>> import polhode as ph
        >>> stepper = ph.Stepper(ph.particle(1.0), method="rk4", step=0.1)
        >>> stepper.set_loads(force=(2.0, 0.0, 0.0))
        >>> stepper.advance(1.0)
        >>> round(float(stepper.state.velocity[0]), 12)
        2.0
        >>> stepper.set_loads(force=(0.0, 0.0, 0.0), ramp_until=2.0)
        >>> stepper.advance(1.0)
        >>> round(float(stepper.state.velocity[0]), 12)
        3.0
        """
        if unknown:  # a decorator would cost time
            known = (*NAMES, "nodal_forces", "body", "ramp_until")
            check_argument_names("set_loads", unknown, known, ScenarioError)
        is_plain = nodal_forces is None and ramp_until is None and type(body) is int
        if is_plain and 0 <= body < len(self._quick_loads):
            quick = self._quick_loads[body]
            if quick.write(force, torque, force_body, torque_body):
                return
        given = dict(zip(NAMES, (force, torque, force_body, torque_body), strict=True))
        self._change_loads(given, (nodal_forces, "world"), body, ramp_until)

    def set_load_numbers(self, numbers: list[float], body: int) -> None:
        """Set the load on a body to twelve finite numbers: what `set_loads` takes, one vector after the other."""
        if self._quick_loads and self._quick_loads[body].write_numbers(numbers):
            return
        vectors = (numbers[i : i + 3] for i in range(0, len(numbers), 3))
        self._change_loads(dict(zip(NAMES, vectors, strict=True)), (None, "world"), body, None)

    def set_nodal_forces(
        self, nodal_forces: ArrayLike, *, body: int = 0, axes: str = "world", ramp_until: float | None = None
    ) -> None:
        """Set the load on a body to forces at the nodes of its mesh; it replaces the one set before.

        They act as their sum at the center of mass, and their torque about it, wherever it is: the nodes move with the
        body, so during an advance the arms of forces in world axes turn while the forces do not.

        Parameters
        ----------
        nodal_forces : array_like
            (nodes, 3), in N, in the order of `body.nodes`: of the mesh, surface or volume, that the body was made from.
        body : int, optional
            Which body of a system.
        axes : {"world", "body"}, optional
            Forces in body axes turn with the body.
        ramp_until : float, optional
            As in `set_loads`.

        Examples
        --------
        >>> import polhode as ph, numpy as np, trimesh
        >>> cube = ph.Body.from_mesh(trimesh.creation.box((1, 1, 1)), mass=6.0)
        >>> stepper = ph.Stepper(cube, method="rk4", step=0.01)
        >>> forces = np.cross((0, 0, 3.0), cube.nodes)              # 3 N m2 about z, spread over the eight corners
        >>> stepper.set_nodal_forces(forces, axes="body")
        >>> stepper.advance(0.5)
        >>> print(stepper.state.angular_velocity.round(9))
        [0. 0. 6.]
        """
        if nodal_forces is None:
            raise ScenarioError("nodal_forces must be 3 numbers a node, not None: set_loads() takes loads away")
        self._change_loads(dict.fromkeys(NAMES, ZERO), (nodal_forces, axes), body, ramp_until)

    def use_nodes(self, nodes: ArrayLike, *, body: int = 0) -> None:
        """Name the points of a body at which nodal forces act, instead of the nodes of its own mesh.

        Parameters
        ----------
        nodes : array_like
            (nodes, 3), in m, in the coordinates of the body, like `body.nodes`: the mesh of another program.
        body : int, optional
            Which body of a system.

        Examples
        --------
        >>> import polhode as ph
        >>> stepper = ph.Stepper(ph.shapes.box((2, 2, 2), mass=1.0), method="rk4", step=0.1)
        >>> stepper.use_nodes([(1, 0, 0), (-1, 0, 0)])
        >>> stepper.set_nodal_forces([(0, 0, 1.0), (0, 0, 1.0)])
        >>> stepper.advance(1.0)
        >>> round(float(stepper.state.velocity[2]), 12)
        2.0
        """
        loads = self._require_loads()
        loads.use_nodes(nodes, loads.check_body(body))

    def _change_loads(self, given: dict[str, Any], nodal: tuple[Any, str], body: Any, ramp_until: Any) -> None:
        loads = self._require_loads()
        loads.set_from(given, nodal, body, self._time, ramp_until)
        self._set_quick_end()

    def _require_loads(self) -> AppliedLoads:
        if self._loads is None:
            raise ScenarioError(
                f"method {self.scenario.method!r} is the closed form of a motion without loads: use another method"
            )
        return self._loads

    def set_rotor_torques(self, torques: ArrayLike) -> None:
        """Set the torques of the motors on the rotors from now on, in N m, in the order of `rotors=[...]`.

        They replace the constant torques; a table or a law of a rotor adds to them.  Each stays within its rotor's
        limits, and until the next is set.

        Examples
        --------
        >>> import polhode as ph
        >>> wheel = ph.rotor((0, 0, 1), 0.5)
        >>> stepper = ph.Stepper(ph.Body(mass=1.0, inertia=(1.0, 1.0, 1.0)), rotors=[wheel], method="rk4", step=0.1)
        >>> stepper.set_rotor_torques([0.25])
        >>> stepper.advance(2.0)
        >>> stepper.rotor_speed.round(12).tolist(), stepper.state.angular_velocity.round(12).tolist()
        ([2.0], [0.0, 0.0, -1.0])
        """
        rotors = self.scenario.rotors
        if not rotors:
            raise ScenarioError("there are no rotors: make the stepper with rotors=[ph.rotor(axis, inertia)]")
        given: Any = torques.tolist() if type(torques) is np.ndarray else torques
        is_plain = isinstance(given, (tuple, list)) and all(type(torque) in (float, int) for torque in given)
        if is_plain and len(given) == len(rotors) and isfinite(sum(given)):  # quickly: a controller sets them often
            self._integrator.set_rotor_commands(given)
            return
        wanted = f"{len(rotors)} numbers, one for each rotor"
        numbers = check_numbers(torques, "torques", shape_of(torques), ScenarioError, wanted)
        if numbers.shape != (len(rotors),):
            raise ScenarioError(f"torques must be {wanted}, but have the shape {numbers.shape}")
        self._integrator.set_rotor_commands(numbers.tolist())

    # Advancing ------------------------------------------------------------------------------------------------------
    def advance(self, duration: float) -> list[Crossing] | Impacts | None:
        """Advance by a length of time, in s.

        Returns what happened on the way: the events, if any are watched; the impacts, if there are contacts; else None.
        An event that stops the run ends the advance there (`stepper.time` says where).  If the motion fails, the error
        says when and why, and the state stays as it was before.

        Examples
        --------
        >>> import polhode as ph
        >>> stepper = ph.Stepper(ph.particle(1.0), forces=[ph.forces.gravity()], method="dop853")
        >>> stepper.advance(0.5)
        >>> round(float(stepper.state.velocity[2]), 6)
        -4.903325
        """
        if type(duration) is not float:
            duration = _as_time(duration, "duration")
        now, quick = self._time, self._quick
        time = now + duration
        if quick is not None and now < time < quick.until:
            if quick.advance(now, time):
                self._time = time
                return None
            quick.take_back()  # and again, to find out when it failed
        return self._advance_slowly(time)

    def advance_to(self, time: float) -> list[Crossing] | Impacts | None:
        """Advance to a time, in s.

        Examples
        --------
        >>> import polhode as ph
        >>> stepper = ph.Stepper(ph.particle(1.0), method="rk4", step=0.1)
        >>> stepper.advance_to(0.25)
        >>> stepper.time
        0.25
        """
        if type(time) is not float:
            time = _as_time(time, "time")
        quick = self._quick
        if quick is not None and self._time < time < quick.until:
            if quick.advance(self._time, time):
                self._time = time
                return None
            quick.take_back()
        return self._advance_slowly(time)

    def _advance_slowly(self, time: float) -> list[Crossing] | Impacts | None:
        """Advance segment by segment between discontinuities, as the driver of a run does."""
        self._check_time(time)
        before = self.save()
        try:
            with np.errstate(all="ignore"):
                self._advance_by_segments(time)
        except Exception:
            self.restore(before)
            raise
        return self._report()

    def _check_time(self, time: float) -> None:
        """Refuse a time to which no advance goes."""
        now = self._time
        if self._integrator.stopped_at is not None:
            raise ScenarioError(f"an event stopped this motion at t = {now:g} s: restore an earlier state")
        if not isfinite(time) or time < now:
            raise ScenarioError(f"cannot advance from t = {now:g} s to {time:g} s: time goes forward")
        if time == now:
            raise ScenarioError(
                f"cannot advance from t = {now:g} s by nothing: give a step greater than 0, and large enough to change "
                "the time"
            )

    def _advance_by_segments(self, time: float) -> None:
        integrator, loads = self._integrator, self._loads
        while self._time < time or not self._applied:
            if not self._applied:
                integrator.apply_impulses(self._time)
                self._applied, self._open = True, None
            if self._time == time:
                break
            if loads is not None:
                loads.settle(self._time)
            following = self._timeline.following(self._time)
            b = min(time, following, np.inf if loads is None else loads.next_ramp_end)
            if self._open is None:
                until = following if isfinite(following) else self._time + 1.0
                integrator.begin_segment(Segment(self._time, until, np.empty(0)))
                self._open = self._time
            integrator.integrate(Segment(self._time, b, np.array([b])))
            if integrator.failure is not None:
                self._fail(integrator.failure)
            if integrator.stopped_at is not None:
                self._time = integrator.stopped_at
                break
            self._time = b
            if b == following:
                self._applied = False
        self._set_quick_end()

    def _set_quick_end(self) -> None:
        """Until when advances can go the short way: to the next discontinuity, or to the end of a linear load."""
        if self._quick is None:
            return
        if self._open is None or not self._applied:
            self._quick.until = -np.inf
            return
        ramp_end = np.inf if self._loads is None else self._loads.next_ramp_end
        self._quick.until = min(self._timeline.following(self._time), nextafter(ramp_end, np.inf))

    def _report(self) -> list[Crossing] | Impacts | None:
        """What has happened since the last report."""
        integrator = self._integrator
        if integrator.forces is not None:
            rows = integrator.pop_impacts()
            names = tuple(contact.name for contact in self.scenario.contacts)
            return Impacts(rows, names, ImpactTotals(len(rows), float(rows["energy_lost"].sum())))
        if not self.scenario.events:
            return None
        found = integrator.pop_events()
        label_event_records(self.scenario, found, self._seen)
        return [
            Crossing(
                c.name, c.time, c.body, state_from_sample(self.scenario, c.body, c.sample.tolist(), c.time), c.ends
            )
            for c in found
        ]

    def _fail(self, failure: Failure) -> None:
        """Raise the error of a run that had to stop."""
        integrator, samples = self._integrator, self._integrator.samples
        result = RunResult(np.array([failure.time]), samples[None], integrator.columns, integrator.steps)
        raise run_error(failure, Motion(self.scenario, result))

    # Recording ------------------------------------------------------------------------------------------------------
    def record(self) -> None:
        """Keep the present state as an output of `recorded`; those at this time and later are replaced.

        So after a rollback the steps that were taken back are gone.
        """
        now, columns = self._time, self._integrator.columns
        while self._records and self._records[-1][0] >= now:
            self._records.pop()
        sample = self._integrator.samples
        sample[:, columns.drift] = 0.0
        self._records.append((now, sample))

    @property
    def recorded(self) -> Motion:
        """The states that `record` has kept, after that at the start, as a motion: to plot, store and export.

        The loads are not part of it, so it is known at its outputs only.

        Examples
        --------
        >>> import polhode as ph
        >>> stepper = ph.Stepper(ph.particle(2.0), method="rk4", step=1e-3)
        >>> for k in range(4):
        ...     stepper.set_loads(force=(k, 0, 0))
        ...     stepper.advance(0.5)
        ...     stepper.record()
        >>> stepper.recorded.velocity[:, 0].round(9).tolist()
        [0.0, 0.0, 0.25, 0.75, 1.5]
        """
        columns, given = self._integrator.columns, self._given
        kept = [record for record in self._records if record[0] > given.start_time]
        first = self._first.copy()
        first[..., columns.drift] = 0.0
        times = np.array([given.start_time, *(t for t, _ in kept)])
        samples = np.concatenate([first, *(sample[None] for _, sample in kept)])
        scenario = replace(
            given, contacts=(), events=(), duration=max(given.duration, float(times[-1] - times[0])),
            output_times=times, output_step=None, formulation=self.scenario.formulation,
        )  # fmt: skip
        result = RunResult(times, samples, columns, self._integrator.steps)
        return Motion(scenario, result, ("the loads on the stepper",))

    def go_on_at(self, time: float) -> None:
        """Go on at a time, from the numbers that somebody has written into the memory of the loop."""
        self._time, self._applied, self._open = time, True, None
        self._set_quick_end()

    # Saving ---------------------------------------------------------------------------------------------------------
    def save(self) -> Any:
        """A copy of everything that the motion depends on: state, clock, loads and events.

        Examples
        --------
        >>> import polhode as ph
        >>> stepper = ph.Stepper(ph.particle(1.0), forces=[ph.forces.gravity()], method="dop853")
        >>> token = stepper.save()
        >>> stepper.advance(1.0)
        >>> first = stepper.state.position
        >>> stepper.restore(token)
        >>> stepper.advance(1.0)
        >>> bool((stepper.state.position == first).all())
        True
        """
        loads, quick = self._loads, self._quick
        return (
            self._integrator,
            self._time,
            self._applied,
            self._open,
            None if loads is None else (loads.ramp_ends.copy(), [quick.is_plain for quick in loads.quick]),
            -np.inf if quick is None else quick.until,
            self._seen.copy() if self._seen else (),
            self._integrator.save(),
        )

    def restore(self, token: Any) -> None:
        """Go back to what `save` has returned; it can be restored again and again."""
        if type(token) is not tuple or len(token) != 8 or token[0] is not self._integrator:
            raise ScenarioError("restore takes what `save` of the same stepper has returned")
        integrator, self._time, self._applied, self._open, ramps, until, seen, saved = token
        integrator.restore(saved)
        self._seen = dict(seen)
        if self._quick is not None:
            self._quick.until = until
        if ramps is not None and self._loads is not None:
            self._loads.restore(*ramps)


def choose_stepped_method(scenario: Scenario) -> Scenario:
    """The scenario by a method that goes on without an end: "auto" is an adaptive one."""
    return scenario.with_settings(method=RUNGE_KUTTA.name) if scenario.method == AUTO else scenario


def to_stepped_scenario(scenario: Scenario) -> Scenario:
    """The scenario as it is stepped: with a load on every body, where its method takes loads, and without outputs."""
    if not METHODS[scenario.method].is_closed_form:
        scenario = with_applied_loads(scenario)
    return scenario.with_settings(output_step=None, output_times=[scenario.end_time])


def _as_time(given: Any, name: str) -> float:
    """A time or a length of time, as a plain float: numbers of NumPy with 32 bits would make a sum of 32 bits."""
    if isinstance(given, float):
        return float(given)
    return check_number(given, name, ScenarioError)
