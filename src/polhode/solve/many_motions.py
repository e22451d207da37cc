"""Many motions of one scenario side by side, each with its own clock and loads: what a vector of environments steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import InputError, RunError, show
from polhode.integrate.clocked_steps import ClockedSteps
from polhode.integrate.driver import integrator_for
from polhode.integrate.integrator import FixedSteps, Integrator
from polhode.integrate.loops.state_loop import STATE_NUMBERS
from polhode.integrate.run_plan import RunPlan
from polhode.integrate.timeline import Segment
from polhode.integrate.traced_functions import loads_depend_on_time
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State, normalize_quaternion
from polhode.solve.driven_loads import DrivenLoads
from polhode.solve.quick_advance import QuickAdvance, QuickStates
from polhode.solve.stepper import Stepper, choose_stepped_method, to_stepped_scenario
from polhode.validation import Array


class Happening(NamedTuple):
    """What a motion has met on its way to the end of a step."""

    number: int
    info: dict[str, Any]
    is_over: bool
    """Whether it failed, or an event has stopped it."""


class ManyMotions:
    """Motions of one scenario, numbered from 0."""

    time: Array
    """Where each has arrived, in s."""

    def __init__(self, scenario: Scenario, count: int, loads: DrivenLoads) -> None:
        self.scenario, self.count, self.loads = scenario, count, loads
        self.time = np.full(count, scenario.start_time)

    @staticmethod
    def of(scenario: Scenario, count: int, loads: DrivenLoads) -> ManyMotions:
        """In the lanes of the compiled loop of ensembles, or, where that cannot be, one by one."""
        alone = Stepper(scenario)
        return _InLanes(scenario, count, loads, alone) if _fits_lanes(alone) else _OneByOne(scenario, count, loads)

    @property
    def state(self) -> Any:
        """The states of all, as one state with a leading axis; of a system, a list of such states.

        Its time is that of all, or NaN if their clocks differ.
        """
        rows = self.read_states()
        time = float(self.time[0]) if (self.time == self.time[0]).all() else np.nan
        each = [State.of_rows(rows[:, i : i + STATE_NUMBERS], time) for i in range(0, rows.shape[1], STATE_NUMBERS)]
        return each if self.scenario.is_system else each[0]

    def read_states(self) -> Array:
        """(count, 13 a body): position, quaternion, velocity, body rates."""
        raise NotImplementedError

    def begin(self, numbers: Any, states: Sequence[Any] | None) -> None:
        """Let these begin anew: from the scenario's start, or each from a state (of a system, a list) of its own."""
        raise NotImplementedError

    def set_loads(self, actions: Array, moving: Any) -> None:
        """Set the loads of those that move, one row of an action for each motion."""
        raise NotImplementedError

    def advance(self, moving: Any, times: Array) -> list[Happening]:
        """Advance those that move, each to its time.  One that fails stays where it was."""
        raise NotImplementedError

    def check_states(self, states: Sequence[Any]) -> list[list[State]]:
        """The states of each body, one after the other."""
        bodies = len(self.scenario.bodies)
        each = [list(s) if isinstance(s, (list, tuple)) else [s] for s in states]
        for own in each:
            if len(own) != bodies or any(not isinstance(s, State) or s.members is not None for s in own):
                wanted = f"a list of {bodies} ph.State" if self.scenario.is_system else "one ph.State"
                raise InputError(f"start must return {wanted}, for one environment, not {show(own)}")
            if any(s.time != self.scenario.start_time for s in own):
                raise InputError(
                    f"start returned a state at t = {own[0].time:g} s: all environments of a vector begin at the time "
                    f"of the scenario, {self.scenario.start_time:g} s"
                )
        return [[own[i] for own in each] for i in range(bodies)]


class _OneByOne(ManyMotions):
    """Each on a stepper of its own: with events, contacts, forces that begin or end, and whatever else has no lanes."""

    def __init__(self, scenario: Scenario, count: int, loads: DrivenLoads) -> None:
        super().__init__(scenario, count, loads)
        self._steppers = [Stepper(scenario) for _ in range(count)]
        self._beginnings = [stepper.save() for stepper in self._steppers]

    def read_states(self) -> Array:
        return np.array([stepper.read_states() for stepper in self._steppers])

    def begin(self, numbers: Any, states: Sequence[Any] | None) -> None:
        if states is not None:
            self.check_states(states)
        for k, i in enumerate(numbers):
            if states is None:
                self._steppers[i].restore(self._beginnings[i])
            else:
                self._steppers[i] = Stepper(replace(self.scenario, state=states[k]))
            self.time[i] = self._steppers[i].time

    def set_loads(self, actions: Array, moving: Any) -> None:
        for i in np.flatnonzero(moving):
            self.loads.apply(actions[i], self._steppers[i])

    def advance(self, moving: Any, times: Array) -> list[Happening]:
        found = []
        for i in np.flatnonzero(moving).tolist():
            stepper = self._steppers[i]
            happening = advance_one(stepper, float(times[i]), i)
            self.time[i] = stepper.time
            if happening.info or happening.is_over:
                found.append(happening)
        return found


def advance_one(stepper: Stepper, time: float, number: int = 0) -> Happening:
    """Advance a stepper to the end of a step of an environment."""
    try:
        happened = stepper.advance_to(time)
    except RunError as error:
        return Happening(number, {"error": str(error)}, True)
    if happened is None:
        return Happening(number, {}, stepper.has_stopped)
    return Happening(
        number, {"impacts" if stepper.scenario.is_constrained else "events": happened}, stepper.has_stopped
    )


def _fits_lanes(alone: Stepper) -> bool:
    """Whether nothing but the loop itself takes a motion from one time to the next."""
    return alone.has_quick_steps and not alone.has_edges and not alone.scenario.of_kind("pair")


class _Group(NamedTuple):
    """Motions that go from the same time to the same time."""

    numbers: Any
    start: float
    end: float


class _InLanes(ManyMotions):
    """In the buffer of an ensemble: the loop of the method advances those that share a time in one call.

    All go at once if they share their clocks, or if the time does not matter: with steps of one length that end on the
    grid, and forces that do not read it.  Otherwise those that share a clock are gathered in a second buffer, so that
    each makes the steps, and has the bits, of a motion by itself.
    """

    def __init__(self, scenario: Scenario, count: int, loads: DrivenLoads, alone: Stepper) -> None:
        super().__init__(scenario, count, loads)
        self._given, self._alone = choose_stepped_method(scenario), alone
        self._bodies = len(scenario.bodies)
        self._home = self._integrator_of([[state] * count for state in scenario.states])
        self._is_timeless = isinstance(self._home, FixedSteps) and not loads_depend_on_time(
            self._home.scenario.with_settings(forces=alone.scenario.forces[: -len(scenario.bodies)])
        )
        self._memory = _Memory(self._home)
        self._first = self._memory.take(np.arange(self._bodies))
        self._steps, self._states = _quick_steps(self._home), QuickStates(self._home)
        self._guests: tuple[_Memory, QuickAdvance] | None = None
        """A second buffer, and its steps, made when it is first needed."""
        self._load_rows = [
            (k, body, self._memory.row_of(self._home.param_places(self._first_load + body, body)[place]))
            for k, (body, place) in enumerate(loads.places)
        ]

    @property
    def _first_load(self) -> int:
        """The number of the first load from outside among the forces on bodies."""
        return len(self._home.scenario.of_kind("body")) - self._bodies

    def _integrator_of(self, states: list[list[State]]) -> Integrator:
        """The buffer of motions that begin in these states: a list of one state a motion for each body."""
        stacked = [_stack_states(own) for own in states]
        checked = replace(self._given, state=stacked if self.scenario.is_system else stacked[0])
        traced = self._alone.scenario
        parts = {part.name: getattr(traced, part.name) for part in traced.parts}
        ready = to_stepped_scenario(checked).with_settings(**parts)
        with np.errstate(all="ignore"):
            integrator = integrator_for(RunPlan(ready, counts_work=False), 1)
        start = ready.start_time
        integrator.begin_segment(Segment(start, start + 1.0, np.empty(0)))  # forces act always or never
        return integrator

    def read_states(self) -> Array:
        rows = self._states.read().reshape(self.count, self._bodies, STATE_NUMBERS)
        q = rows[..., 3:7]
        if (unit := normalize_quaternion(q)) is not q:
            rows[..., 3:7] = unit
        return np.asarray(rows.reshape(self.count, -1))

    def begin(self, numbers: Any, states: Sequence[Any] | None) -> None:
        if states is None:
            columns = np.tile(self._first, (len(numbers), 1))
        else:
            packed = _Memory(self._integrator_of(self.check_states(states)))
            columns = packed.take(np.arange(len(numbers) * self._bodies))
        self._memory.put(self._places_of(numbers), columns)
        self.time[numbers] = self.scenario.start_time

    def _places_of(self, numbers: Any) -> Any:
        """The bodies of these motions, as the buffer counts them."""
        if self._bodies == 1:
            return numbers
        return (np.asarray(numbers)[:, None] * self._bodies + np.arange(self._bodies)).ravel()

    def set_loads(self, actions: Array, moving: Any) -> None:  # noqa: ARG002
        for k, body, row in self._load_rows:
            self._memory.write_row(row, actions[:, k], body, self._bodies)

    def advance(self, moving: Any, times: Array) -> list[Happening]:
        groups = self._groups(moving, times)
        if len(groups) == 1:
            bad = self._advance_home(groups[0], moving)
        else:
            bad = [i for group in groups for i in self._advance_guests(group)]
        arrived = moving.copy()
        arrived[bad] = False
        self.time[arrived] = times[arrived]
        found = [self._advance_alone(i, float(times[i])) for i in bad]
        return [happening for happening in found if happening is not None]

    def _groups(self, moving: Any, times: Array) -> list[_Group]:
        numbers = np.flatnonzero(moving)
        if not len(numbers):
            return []
        starts, ends = self.time[numbers], times[numbers]
        a, b = float(starts[0]), float(ends[0])
        if (starts == a).all() and (ends == b).all():
            return [_Group(numbers, a, b)]
        if self._is_timeless and self._steps.counts_alike(starts, ends):
            return [_Group(numbers, a, b)]
        clocks, which = np.unique(np.stack([starts, ends], axis=1), axis=0, return_inverse=True)
        order, which = np.argsort(which.ravel(), kind="stable"), np.sort(which.ravel())
        cuts = np.searchsorted(which, np.arange(1, len(clocks)))
        parts = np.split(numbers[order], cuts)
        return [_Group(part, *clock) for part, clock in zip(parts, clocks.tolist(), strict=True)]

    def _advance_home(self, group: _Group, moving: Any) -> list[int]:
        """Advance all in their places; return those that need a closer look, back where they were."""
        memory = self._memory
        before = memory.changing()
        self._steps.take_steps(group.start, group.end)
        is_good = self._arrived(memory, self.count, group.end)
        back = ~(is_good & moving)
        if back.any():
            memory.put_back(before, self._places_of(np.flatnonzero(back)))
        return np.flatnonzero(moving & ~is_good).tolist()

    def _advance_guests(self, group: _Group) -> list[int]:
        """Advance some in the second buffer; return those that need a closer look, which stay where they were."""
        if self._guests is None:
            guests = self._integrator_of([[state] * self.count for state in self.scenario.states])
            self._guests = _Memory(guests), _quick_steps(guests)
        memory, steps = self._guests
        numbers, places = group.numbers, self._places_of(group.numbers)
        memory.put(np.arange(len(places)), self._memory.take(places))
        steps.units.value = memory.fill(len(places))
        steps.take_steps(group.start, group.end)
        is_good = self._arrived(memory, len(numbers), group.end)
        done = memory.take(np.arange(len(places))).reshape(len(numbers), self._bodies, -1)
        self._memory.put(self._places_of(numbers[is_good]), done[is_good].reshape(-1, done.shape[-1]))
        return numbers[~is_good].tolist()  # type: ignore[no-any-return]

    def _arrived(self, memory: _Memory, count: int, end: float) -> Any:
        """Which of the first motions of a buffer are finite, and at the end."""
        each = memory.arrived(end - self.scenario.start_time)[: count * self._bodies]
        return each if self._bodies == 1 else each.reshape(count, self._bodies).all(axis=1)

    def _advance_alone(self, i: int, time: float) -> Happening | None:
        """Advance one on a stepper, which finds out why it failed, if it did."""
        own = self._places_of([i])
        everybody, columns = np.arange(self._bodies), self._memory.take(np.asarray(own))
        memory = _Memory(self._alone.integrator)
        memory.put(everybody, columns)
        self._alone.go_on_at(float(self.time[i]))
        happening = advance_one(self._alone, time, i)
        if happening.is_over:
            return happening
        self._memory.put(own, memory.take(everybody))
        self.time[i] = time
        return None


def _quick_steps(integrator: Integrator) -> QuickAdvance:
    steps = QuickAdvance.of(integrator)
    assert steps is not None
    return steps


def _stack_states(states: list[State]) -> State:
    """States of one body as one with a leading axis."""
    names = ("position", "velocity", "angular_velocity_body", "quaternion_wxyz")
    return State(**{name: np.array([getattr(s, name) for s in states]) for name in names}, time=states[0].time)


class _Memory:
    """The buffer of independent bodies, read and written body by body: as columns (bodies, numbers)."""

    def __init__(self, integrator: Integrator) -> None:
        layout, self._lanes = integrator.layout, integrator.layout.lanes
        self._cut = integrator.buffer.reshape(-1, integrator.packing.size // self._lanes, self._lanes)
        self._carried = layout.carried // self._lanes
        self._sampled = layout.sample_size // self._lanes
        self._finite = layout.drift // self._lanes
        self._clock = [place // self._lanes for place in layout.clock]
        has_clock = isinstance(integrator, ClockedSteps)
        self._at_t = layout.clock.t // self._lanes if has_clock else None
        self._at_h = layout.clock.h // self._lanes if has_clock else None
        self._count = integrator.scenario.count

    def row_of(self, place: int) -> int:
        """The row of a place in the first block."""
        return int(place) % (self._cut.shape[1] * self._lanes) // self._lanes

    def take(self, bodies: Any) -> Array:
        """The numbers of these bodies that are carried from step to step."""
        block, lane = np.divmod(bodies, self._lanes)
        return np.asarray(self._cut[block, : self._carried, lane])

    def put(self, bodies: Any, columns: Array) -> None:
        """Write them."""
        block, lane = np.divmod(bodies, self._lanes)
        self._cut[block, : self._carried, lane] = columns

    def write_row(self, row: int, values: Array, body: int, bodies: int) -> None:
        """Write one number of a body of every motion."""
        if bodies == 1:
            whole, rest = divmod(len(values), self._lanes)
            self._cut[:whole, row] = values[: whole * self._lanes].reshape(whole, self._lanes)
            if rest:
                self._cut[whole, row, :rest] = values[whole * self._lanes :]
            return
        block, lane = np.divmod(np.arange(body, len(values) * bodies, bodies), self._lanes)
        self._cut[block, row, lane] = values

    def changing(self) -> tuple[Array, Array]:
        """A copy of what an advance changes."""
        return self._cut[:, : self._sampled].copy(), self._cut[:, self._clock].copy()

    def put_back(self, before: tuple[Array, Array], bodies: Any) -> None:
        """Put some bodies back to a copy."""
        block, lane = np.divmod(bodies, self._lanes)
        sampled, clock = before
        self._cut[block, : self._sampled, lane] = sampled[block, :, lane]
        for k, row in enumerate(self._clock):
            self._cut[block, row, lane] = clock[block, k, lane]

    def fill(self, bodies: int) -> int:
        """Let lanes behind the first bodies make no steps, if they have clocks; return the blocks of these bodies."""
        blocks = -(-bodies // self._lanes)
        if self._at_h is not None and (rest := bodies % self._lanes):
            self._cut[blocks - 1, self._at_h, rest:] = 0.0
        return blocks

    def arrived(self, end: float) -> Any:
        """Which bodies have finite numbers, and have reached the end, counted from the start of the run."""
        with np.errstate(all="ignore"):
            is_good = np.isfinite(self._cut[:, : self._finite].sum(axis=1))
        if self._at_t is not None:
            is_good &= self._cut[:, self._at_t] >= end
        return is_good.ravel()[: self._count]
