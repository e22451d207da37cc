"""`Stepper`: a motion advanced from outside, step by step, with loads that somebody else computes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.backends.clocked import ClockedRun
from polhode.backends.fixed_steps import FixedRun
from polhode.engines import segments
from polhode.engines.clocked_steps import ClockedSteps
from polhode.engines.driver import integrator_for
from polhode.engines.event_log import label_event_records
from polhode.engines.integrator import FixedSteps, Integrator
from polhode.engines.result import EventRecord, Failure, RunResult
from polhode.engines.user_functions import settle_functions
from polhode.equations.force_laws import applied_load
from polhode.errors import ScenarioError
from polhode.massprops.body import Body
from polhode.methods.registry import METHODS
from polhode.model.contact import Contact
from polhode.model.event import Event, EventLaw
from polhode.model.force import Force, ForceLaw
from polhode.model.mass_course import MassCourse
from polhode.model.method_choice import AUTO, RUNGE_KUTTA
from polhode.model.preflight import check_user_functions
from polhode.model.rotor import Rotor
from polhode.model.scenario import Scenario
from polhode.model.state import State
from polhode.results.motion import Motion
from polhode.results.trajectory import state_from_sample, view_of_sample
from polhode.solve.run_errors import run_error
from polhode.validation import Array, check_numbers, shape_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_ZERO = (0.0, 0.0, 0.0)


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
            scenario = Scenario(
                body, state, forces, duration=duration, events=events, contacts=contacts, rotors=rotors,
                mass_course=mass_course, added_mass=added_mass, step=step, method=method, formulation=formulation,
                engine=engine, pivot=pivot, renormalize=renormalize, rtol=rtol, atol=atol, breaks=breaks, name=name,
            )  # fmt: skip
        if scenario.members is not None:
            raise ScenarioError("a Stepper advances one motion: use ph.ensemble for many members")
        if scenario.method == AUTO:
            scenario = replace(scenario, method=RUNGE_KUTTA.name)
        self._takes_loads = not METHODS[scenario.method].is_closed_form
        if self._takes_loads:
            loads = Force("applied_load", applied_load, (_ZERO,) * 4)
            each = [replace(loads, bodies=(i,)) for i in range(len(scenario.bodies))] if scenario.is_system else [loads]
            scenario = replace(scenario, forces=(*scenario.forces, *each))
        scenario = replace(scenario, output_step=None, output_times=[scenario.end_time])
        check_user_functions(scenario)
        self.scenario = settle_functions(scenario)
        self._time = scenario.start_time
        self._applied = False
        """Whether the impulses at the current time have been applied."""
        self._edges = sorted({*_discontinuities(self.scenario)})
        self._open: float | None = None
        """The start of the segment for which the windows of forces have been set."""
        self._loads = np.zeros((len(scenario.bodies), 12))
        self._events_seen = 0
        self._start()

    def _start(self) -> None:
        scenario = self.scenario
        with np.errstate(all="ignore"):
            self._integrator = integrator_for(scenario, False, 1)
        self._quick = _Quick.of(self._integrator)
        """What advances without the driver: set once the windows are."""

    # Reading --------------------------------------------------------------------------------------------------------
    @property
    def time(self) -> float:
        """The time that has been reached, in s."""
        return self._time

    @property
    def state(self) -> Any:
        """The state of the body at that time; of a system, a list of states."""
        samples = self._integrator.samples
        states = [state_from_sample(self.scenario, i, row, self._time) for i, row in enumerate(samples)]
        return states if self.scenario.is_system else states[0]

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

    # Loads ----------------------------------------------------------------------------------------------------------
    def set_loads(
        self,
        force: ArrayLike = _ZERO,
        torque: ArrayLike = _ZERO,
        *,
        force_body: ArrayLike = _ZERO,
        torque_body: ArrayLike = _ZERO,
        body: int = 0,
    ) -> None:
        """Set the load on a body from now on: it replaces the one set before and stays until the next is set.

        Parameters
        ----------
        force, torque : array_like, optional
            In world axes, in N and N m; the force acts at the center of mass, the torque is about it.
        force_body, torque_body : array_like, optional
            The same in body axes: they turn with the body.
        body : int, optional
            Which body of a system.

        Examples
        --------
        >>> import polhode as ph
        >>> stepper = ph.Stepper(ph.particle(1.0), method="rk4", step=0.1)
        >>> stepper.set_loads(force=(2.0, 0.0, 0.0))
        >>> stepper.advance(1.0)
        >>> round(float(stepper.state.velocity[0]), 12)
        2.0
        """
        if not self._takes_loads:
            raise ScenarioError(
                f"method {self.scenario.method!r} is the closed form of a motion without loads: use another method"
            )
        if not 0 <= body < len(self.scenario.bodies):
            raise ScenarioError(f"body={body!r}: the bodies are numbered from 0 to {len(self.scenario.bodies) - 1}")
        given = (("force", force), ("torque", torque), ("force_body", force_body), ("torque_body", torque_body))
        numbers = np.concatenate([check_numbers(value, name, (3,), ScenarioError) for name, value in given])
        self._loads[body] = numbers
        first = len(self.scenario.of_kind("body")) - len(self.scenario.bodies)
        self._integrator.set_params(first + body, numbers, body)

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
    def advance(self, duration: float) -> list[EventRecord] | None:
        """Advance by a length of time, in s.

        Returns the events on the way, if any are watched, else None.  An event that stops the run ends the advance
        there (`stepper.time` says where).

        Examples
        --------
        >>> import polhode as ph
        >>> stepper = ph.Stepper(ph.particle(1.0), forces=[ph.forces.gravity()], method="dop853")
        >>> stepper.advance(0.5)
        >>> round(float(stepper.state.velocity[2]), 6)
        -4.903325
        """
        return self.advance_to(self._time + duration)

    def advance_to(self, time: float) -> list[EventRecord] | None:
        """Advance to a time, in s.

        Examples
        --------
        >>> import polhode as ph
        >>> stepper = ph.Stepper(ph.particle(1.0), method="rk4", step=0.1)
        >>> stepper.advance_to(0.25)
        >>> stepper.time
        0.25
        """
        quick = self._quick
        if quick is not None and self._open is not None and quick.until > time > self._time:
            if quick.advance(self._time, time):
                self._time = time
                return None
            quick.take_back()  # and again, to find out when it failed, and the last good state
        return self._advance_slowly(float(time))

    def _advance_slowly(self, time: float) -> list[EventRecord] | None:
        """Advance segment by segment between discontinuities, as the driver of a run does."""
        if not isfinite(time) or time < self._time:
            raise ScenarioError(f"cannot advance from t = {self._time:g} s to {time:g} s: time goes forward")
        if self._integrator.stopped_at is not None:
            raise ScenarioError(f"an event stopped this motion at t = {self._time:g} s: restore an earlier state")
        integrator = self._integrator
        with np.errstate(all="ignore"):
            while self._time < time or not self._applied:
                if not self._applied:
                    integrator.apply_impulses(self._time)
                    self._applied, self._open = True, None
                if self._time == time:
                    break
                following = next((edge for edge in self._edges if edge > self._time), np.inf)
                b = min(time, following)
                if self._open is None:
                    integrator.begin_segment(self._time, following if isfinite(following) else self._time + 1.0)
                    self._open = self._time
                    if self._quick is not None:
                        self._quick.until = following
                integrator.integrate(self._time, b, np.array([b]), False)
                if integrator.failure is not None:
                    self._fail(integrator.failure)
                if integrator.stopped_at is not None:
                    self._time = integrator.stopped_at
                    break
                self._time = b
                if b == following:
                    self._applied = False
        return self._new_events()

    def _new_events(self) -> list[EventRecord] | None:
        if not self.scenario.events:
            return None
        found = sorted(self._integrator.crossings, key=lambda crossing: crossing.time)
        label_event_records(self.scenario, found)
        new = found[self._events_seen :]
        self._events_seen = len(found)
        return new

    def _fail(self, failure: Failure) -> None:
        """Raise the error of a run that had to stop."""
        integrator, samples = self._integrator, self._integrator.samples
        result = RunResult(np.array([failure.time]), samples[None], integrator.columns, integrator.steps)
        raise run_error(failure, Motion(self.scenario, result))

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
        return (self._time, self._applied, self._open, self._loads.copy(), self._events_seen, self._integrator.save())

    def restore(self, token: Any) -> None:
        """Go back to what `save` has returned; it can be restored again and again."""
        self._time, self._applied, self._open, loads, self._events_seen, saved = token
        self._loads[:] = loads
        self._integrator.restore(saved)
        if self._quick is not None and self._open is not None:
            self._quick.until = next((edge for edge in self._edges if edge > self._time), np.inf)


def _discontinuities(scenario: Scenario) -> list[float]:
    """All times that no step may cross."""
    found = {float(np.ravel(event)[0]) for event in segments.discontinuity_times(scenario)} | set(scenario.breaks)
    return [t for t in found if t >= scenario.start_time and isfinite(t)]


class _Quick:
    """The compiled loop of one motion, bound once: an advance writes two or three numbers and makes one call."""

    until = -np.inf
    """The end of the segment for which the windows of forces have been set."""

    @staticmethod
    def of(integrator: Integrator) -> _Quick | None:
        """The quick way of an integrator, if it has one."""
        if integrator.scenario.events or integrator.scenario.engine == "python":
            return None
        if not isinstance(integrator, (ClockedSteps, FixedSteps)) or len(integrator.buffer) != 1:
            return None
        if integrator.scenario.form.keeps_angles:  # its singularity is watched by the integrator
            return None
        return _QuickClocked(integrator) if isinstance(integrator, ClockedSteps) else _QuickFixed(integrator)

    def advance(self, a: float, b: float) -> bool:
        """Advance from a to b; return False if the motion became infinite or NaN, or its step shrank to zero."""
        raise NotImplementedError

    def _bind(self, integrator: Integrator, run: Any) -> None:
        self._run = run  # the loop knows the addresses of its arrays
        self._numbers, self._words, self._call, self._address = integrator.plan.program.bind_words(run)
        self._slots = integrator.plan.program.slots(run)
        state = integrator.buffer[0, : integrator.layout.drift]
        self._state, self._ones = state, np.ones(len(state))
        self._row, self._before = integrator.buffer[0], integrator.buffer[0].copy()

    def take_back(self) -> None:
        """Go back to the start of the last advance."""
        np.copyto(self._row, self._before)

    def _is_finite(self) -> bool:
        return isfinite(self._state.dot(self._ones))


class _QuickFixed(_Quick):
    def __init__(self, integrator: FixedSteps) -> None:
        self._h = integrator.scenario.needed_step
        none = np.empty(0, dtype=np.int64)
        out = np.empty((0, 1, integrator.layout.sample_size))
        run = FixedRun(integrator.buffer, integrator.pairs, 0.0, self._h, 0, 0, none, np.empty(0), 0, out)
        self._bind(integrator, run)
        self._at_t, self._at_h, self._at_end = (self._slots[name] for name in ("t_start", "h", "k_end"))

    def advance(self, a: float, b: float) -> bool:
        np.copyto(self._before, self._row)
        h, numbers = self._h, self._numbers
        steps = (b - a) / h
        whole = round(steps)
        if abs(steps - whole) > 8.881784197001252e-16 * max(1.0, abs(b) / h):
            whole = int(steps)
            rest = b - (a + whole * h)
        else:
            rest = 0.0
        numbers[self._at_t], numbers[self._at_h], self._words[self._at_end] = a, h, whole
        self._call(self._address, 0, 1)
        if rest > 0.0:
            numbers[self._at_t], numbers[self._at_h], self._words[self._at_end] = a + whole * h, rest, 1
            self._call(self._address, 0, 1)
        return self._is_finite()


class _QuickClocked(_Quick):
    def __init__(self, integrator: ClockedSteps) -> None:
        self._start, log = integrator.scenario.start_time, integrator.event_log
        rtol, atol = integrator.scenario.group_tolerances
        width = integrator.layout.sample_size * (integrator.buffer.shape[1] // integrator.packing.size)
        none, done = np.empty(0), np.zeros(integrator.slots, dtype=np.int64)
        out, checkpoints = np.empty((0, 1, width)), np.empty((0, 1, width + 3))
        run = ClockedRun(
            integrator.buffer, integrator.pairs, float(self._start), 0.0, True, False, none, rtol, atol, 2**40, done,
            out, checkpoints, log.rules, log.memory, log.counts, log.halted, log.shortest, *log.log(),
        )  # fmt: skip
        self._bind(integrator, run)
        self._at_end = self._slots["end"]
        self._at_t, self._at_h = integrator.layout.clock[0], integrator.layout.clock[1]

    def advance(self, a: float, b: float) -> bool:  # noqa: ARG002
        np.copyto(self._before, self._row)
        end = b - self._start
        self._numbers[self._at_end] = end
        self._call(self._address, 0, 1)
        return self._row.item(self._at_t) >= end and self._is_finite()
