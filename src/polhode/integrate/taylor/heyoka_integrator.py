"""heyoka's integrator on its way through a segment, and the units of its variables.

heyoka measures the error relative to the largest entry of the state.  So every group has its own unit, a power of two
near its size; position and work, which are integrals of the others, get one so large that they never set the step.
"""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event
from typing import Any

import numpy as np

from polhode.integrate.run_result import SampleColumns
from polhode.integrate.taylor.heyoka_equations import SegmentEquations, build_equations
from polhode.integrate.taylor.heyoka_pool import (
    CompiledIntegrator,
    acquire_integrator,
    moving_state,
    parameter_values,
    release_integrator,
)
from polhode.ir.normal_form import key_of
from polhode.ir.targets.heyoka import import_heyoka
from polhode.scenario.force import flatten_leaves
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import split_groups
from polhode.validation import Array

LARGEST_RATIO = 64.0
"""A group that has grown or shrunk by more than this gets a new unit."""
PROBES = 10.0 ** np.arange(-16, -1)
"""As fractions of a segment: very short steps that show to which side of a switch the motion continues."""
SHORTEST_PROBE = 4 * np.finfo(float).eps
"""As a fraction of the time: shorter steps are lost when the time is rounded, far from 0 or in short segments."""
RETREATS = 10.0 ** np.arange(-10, -2)
"""As fractions of a segment: how far to go back from a stop to come to it again."""
CLEARLY = 1000.0
"""How much farther to look to tell a function that is zero from one that is not."""
INTEGRALS = (0, 4)
"""Position and work."""
NEVER_DECIDES = 2.0**20
TINY = 2.0**-10
"""As a part of a unit: a change that shows how fast a function changes."""
SAME_INSTANT = 64 * np.finfo(float).eps
"""As a fraction of the duration: an event this close to the start, or to its last occurrence, is the same one."""


class TaylorVariables:
    """The variables of a run by Taylor series: their groups and units."""

    def __init__(self, scenario: Scenario, counts_work: bool) -> None:
        self.scenario, self.counts_work = scenario, counts_work
        self.columns = SampleColumns.of(scenario.form.sizes, counts_work)
        sizes = scenario.form.sizes + ((1,) if counts_work else ())
        self.group_of = np.repeat(np.arange(len(sizes)), sizes)
        self.width = len(self.group_of)
        self.tolerance = min(scenario.tolerances[0])

    def start(self) -> Array:
        """The initial state, (bodies or members, numbers)."""
        each = [*flatten_leaves(self.scenario.problem.start), *((0.0,) if self.counts_work else ())]
        return np.stack([np.broadcast_to(number, (self.scenario.count,)) for number in each], axis=-1)

    def to_samples(self, numbers: Array) -> Array:
        """States (..., bodies, numbers) as samples: renormalized, with the attitude drift appended."""
        form = self.scenario.form
        groups: Any = split_groups(np.moveaxis(numbers, -1, 0), form.sizes)
        state, drift = form.after_step(self.scenario.renormalize)(groups, 0.0)
        parts = [*flatten_leaves(state), *((numbers[..., self.columns.work],) if self.counts_work else ()), drift]
        return np.stack(parts, axis=-1)

    def renormalize(self, numbers: Array) -> Array:
        """The state with q renormalized."""
        return self.to_samples(numbers)[..., self.columns.integrated]

    def sizes(self, numbers: Array) -> Array:
        """The largest magnitude in each group, (bodies or members, groups)."""
        groups = range(int(self.group_of[-1]) + 1)
        return np.stack([np.abs(numbers[:, self.group_of == g]).max(axis=1) for g in groups], axis=-1)

    def units(self, system: SegmentEquations, now: Array, t: float, span: float) -> Array:
        """A power of two near the size of each group, (bodies or members, groups)."""
        known, slopes = system.known(None), np.zeros(now.shape)
        places = [(slice(None), i) if system.in_lanes else divmod(i, self.width) for i in system.moving]
        for place, index in zip(places, system.variables, strict=True):
            known[index] = now[place]
        known[system.time] = t
        for place, rate in zip(places, system.rates, strict=True):
            slopes[place] = system.form.value(rate, known)
        size, travel = self.sizes(now), self.sizes(slopes) * span
        units = np.where(size > 0, size, travel / 32)
        units[:, 1] = 1.0
        for g in INTEGRALS:
            units[:, g : g + 1] = (NEVER_DECIDES * np.maximum(np.maximum(size, travel), 1.0))[:, g : g + 1]
        units[~(np.isfinite(units) & (units > 0))] = 1.0
        return np.asarray(2.0 ** np.rint(np.log2(units)))


class SegmentIntegrator:
    """A heyoka integrator that advances one body, or a coupled system, through a segment."""

    stop: dict[str, Any] | None = None
    """The numbers at the last stop, if the run can be killed and continued."""
    _spare: CompiledIntegrator | None = None
    """Another one, to try out whether it can be."""

    def __init__(self, variables: TaylorVariables, now: Array, begin: float, end: float, middle: float) -> None:
        self.variables, self.begin, self.span = variables, begin, end - begin
        shortest = SHORTEST_PROBE * max(abs(begin), abs(end))
        self.probes = np.append(shortest, PROBES[self.span * PROBES > shortest] * self.span)
        self.base = now.copy()
        self.system = build_equations(variables.scenario, now, middle, variables.counts_work, False)
        self.used: CompiledIntegrator = acquire_integrator(variables.scenario, self.system, variables.tolerance, 0)
        self.integrator = self.used.integrator
        self.places = np.array(self.system.moving, dtype=int)
        among = {key_of(constant): i for i, constant in enumerate(self.used.constants)}
        choices = [(i, *choice) for i, switch in enumerate(self.system.switches) for choice in switch.shifts.values()]
        used = {(among[key_of(shift)], i, sign) for i, shift, sign in choices if key_of(shift) in among}
        self.shifts = np.array(sorted(used), dtype=int).reshape(-1, 3).T
        """The parameters that shift bounds, whose switches they are, and their signs."""
        self.integrator.time = begin
        if self.integrator.with_events:
            self.integrator.reset_cooldowns()
        self._set_units(variables.units(self.system, now, begin, self.span), self.base)

    def _set_units(self, units: Array, now: Array) -> None:
        self.units = units
        width, group_of = self.variables.width, self.variables.group_of
        self.scale = units[self.places // width, group_of[self.places % width]]
        constants = parameter_values(self.system, self.used.constants, units)
        self.integrator.pars[: len(constants)] = constants
        moving_state(self.integrator, 0)[:] = self.pack_state(now)
        self._scale_functions()
        self.settles = self.settle_switches()

    def _scale_functions(self) -> None:
        """Divide functions of events that are larger than 1, the size of a unit, by a power of two.

        Where one is small, its change counts while the fastest variable changes by a unit: it is about to be as large.
        """
        if not self.system.events:
            return
        u = moving_state(self.integrator, 0)
        sets_steps = ~np.isin(self.variables.group_of[self.places % self.variables.width], INTEGRALS)
        fastest = np.abs(self._call(u, self.time)[: len(u)][sets_steps]).max(initial=1 / self.span)
        now, then = self._evaluate(0.0), self._evaluate(TINY / fastest)
        size = np.maximum(np.abs(now), np.abs(then - now) / TINY)
        powers = np.ceil(np.log2(np.where(np.isfinite(size), np.maximum(size, 1.0), 1.0)))
        self.integrator.pars[len(self.used.constants) :] = 2.0**-powers

    @property
    def time(self) -> float:
        """The current time in s."""
        return float(self.integrator.time)

    def pack_state(self, numbers: Array) -> Array:
        """The variables that change, in their units."""
        return np.asarray(numbers.ravel()[self.places] / self.scale)

    def unpack_state(self, u: Array) -> Array:
        """The full state of the bodies, from the variables that change; at several times, if `u` has rows."""
        numbers = np.broadcast_to(self.base.ravel(), (*u.shape[:-1], self.base.size)).copy()
        numbers[..., self.places] = u * self.scale
        return numbers.reshape(*u.shape[:-1], *self.base.shape)

    def state(self) -> Array:
        """The current full state."""
        return self.unpack_state(moving_state(self.integrator, 0))

    def advance(self, stops: Array, max_steps: int) -> tuple[Any, int, Array]:
        """Integrate towards the last of `stops`: the outcome, the steps taken, and the states at the stops reached."""
        times = np.append(self.integrator.time, stops)
        outcome, _, _, taken, _, states = self.integrator.propagate_grid(times, max_steps=max_steps, callback=_go_on)
        return self._name_outcome(outcome), int(taken), states[1:, :-1]

    def _name_outcome(self, outcome: Any) -> Any:
        """The outcome in a word, or the index of the event at which heyoka stopped."""
        kinds = import_heyoka().taylor_outcome
        names = {
            kinds.time_limit: "end",
            kinds.success: "end",
            kinds.step_limit: "portion",
            kinds.err_nf_state: "failed",
        }
        how = names.get(outcome)
        return self.used.ending[-int(outcome) - 1] if how is None else how

    def step(self) -> bool:
        """Take one step; return whether the state is still finite."""
        outcome, _ = self.integrator.step()
        return bool(outcome != import_heyoka().taylor_outcome.err_nf_state)

    def replace_state(self, now: Array) -> bool:
        """Continue from another state; return False if it changes variables that this integrator holds constant."""
        if (np.delete(now.ravel(), self.places) != np.delete(self.base.ravel(), self.places)).any():
            return False
        self._set_units(self.units, now)
        return True

    # Zeros of events ------------------------------------------------------------------------------------------------
    def value_of(self, i: int) -> float:
        """The value of the function of an event."""
        return float(self._evaluate(0.0)[i])

    def leave_zero(self, i: int, direction: int) -> tuple[float, float]:
        """The time after which the function of an event has left zero, on (1) or back (-1), and its change until then.

        Both are 0 if it stays.
        """
        times = self.probes
        changes = self._evaluate(direction * times)[i] - self.value_of(i)
        has_left = np.abs(changes) > self._roundings()[i]
        first = int(np.argmax(has_left))
        return (float(times[first]), float(changes[first])) if has_left[first] else (0.0, 0.0)

    def is_zero(self, i: int, instant: float) -> bool:
        """Whether the function of an event is zero here, to rounding, or within an instant."""
        value = self.value_of(i)
        near = np.abs(self._evaluate(np.array([instant, -instant]))[i] - value).max()
        return bool(abs(value) <= self._roundings()[i] + near)

    def _roundings(self) -> Array:
        """How much rounding of the variables and of the time changes the functions of the events."""
        u, eps = moving_state(self.integrator, 0), np.finfo(float).eps
        factors = 1 + 16 * eps * np.eye(len(u), len(u) + 1)
        times = np.append(np.full(len(u), self.time), self.time * (1 + 4 * eps))
        values = self._call(u[:, None] * factors, times)[len(u) :]
        return np.asarray(np.abs(values - self._evaluate(0.0)[:, None]).sum(axis=1))

    # Switches -------------------------------------------------------------------------------------------------------
    def settle_switches(self, landed: int = -1) -> bool:
        """Where a function is about to switch branches, choose those on whose side the motion continues.

        `landed` is the index of the switch at which heyoka stopped.  Return False if there are none: each branch drives
        the state to the side of the other, as dry friction does at rest.
        """
        switches, count = self.system.switches, len(self.system.events)
        self.ahead, self.crossed = 0.0, []
        if not switches:
            return True
        own = slice(count - len(switches), count)
        near = is_less = np.zeros(len(switches), dtype=bool)
        for _ in range(2):  # the second time on fixed branches, where one switch does not make others jump
            self._hold_branches(near, is_less)
            value, rounding = self._evaluate(0.0)[own], self._roundings()[own]
            reach = np.abs(self._evaluate(self.probes[0])[own] - value)  # zeros so close are at one time
            near, is_less = np.abs(value) <= rounding + reach, value < 0
            if landed >= 0:
                near[landed - count] = True
        unknown = np.zeros(len(switches), dtype=bool)
        for ahead in self.probes.tolist() if near.any() else ():
            self.ahead, turned = ahead, np.zeros(len(switches), dtype=bool)
            while True:
                self._hold_branches(near, is_less)
                then = self._evaluate(ahead)[own]
                unknown |= near & np.isnan(then)
                moved = near & ~(np.abs(then - value) <= rounding)
                # By where it goes, not by its sign: heyoka's zero is that of a series, and the function is not yet 0.
                wrong = moved & np.where(np.isnan(then), ~turned, is_less != (then < value))
                if not wrong.any():
                    break
                stuck = wrong & turned
                if (stuck & ~unknown).any():
                    return False
                is_less, turned = is_less ^ wrong, turned | wrong
                if stuck.any():  # the motion goes where a table or the air is unknown
                    break
            if moved[near].all():
                break
        if landed >= 0:
            self.crossed = self._crossed_with_switch(landed - count)
        shift = np.maximum(rounding, 4 * np.abs(value)) + np.finfo(float).tiny
        self._shift_bounds(np.where(near, np.where(is_less, shift, -shift), 0.0))
        return True

    def switch_here(self) -> int:
        """The index of a switch that is zero here, or -1."""
        count = len(self.system.events)
        if not self.system.switches:
            return -1
        now, then = self._evaluate(0.0), self._evaluate(CLEARLY * self.probes[0])
        zero = CLEARLY * np.abs(now) < 8 * np.abs(then)
        zero[: count - len(self.system.switches)] = False
        return int(np.argmax(zero)) if zero.any() else -1

    def _crossed_with_switch(self, landed: int) -> list[tuple[int, int]]:
        """The user's events whose functions cross zero where a switch does, and their directions.

        heyoka may miss them: the crossing lies in neither of the two series.
        """
        count, far = len(self.system.events) - len(self.system.switches), CLEARLY * self.ahead
        if not count:
            return []
        after, ahead = self._evaluate(0.0)[:count], self._evaluate(far)[:count]
        places, switches, _ = self.shifts
        self.integrator.pars[places[switches == landed % len(self.system.switches)]] *= -1  # the branch until now
        before, behind = self._evaluate(0.0)[:count], self._evaluate(-far)[:count]
        is_zero = (CLEARLY * np.abs(after) < 8 * np.abs(ahead)) & (CLEARLY * np.abs(before) < 8 * np.abs(behind))
        crosses = is_zero & (ahead * behind < 0)
        return [(i, 1 if ahead[i] > 0 else -1) for i in np.flatnonzero(crosses).tolist()]

    def _hold_branches(self, near: Array, is_less: Array) -> None:
        """Fix the branches of some switches."""
        self._shift_bounds(np.where(near, np.where(is_less, np.inf, -np.inf), 0.0))

    def _shift_bounds(self, by: Array) -> None:
        """Shift the bounds of each switch, so that its function is negative in a wider or in a narrower range."""
        places, switches, signs = self.shifts
        self.integrator.pars[places] = signs * by[switches]

    def leave_switch(self, stop: float) -> tuple[Any, int, Array]:
        """The very short step, no further than `stop`, after which no switch is zero: heyoka finds its next zero.

        It ends at a double: heyoka keeps the time of a zero in two, and would go back to the first, across the switch.
        """
        high, low = self.integrator.dtime
        end = min(high + self.ahead, stop)
        outcome, _ = self.integrator.step(max_delta_t=end - high - low)
        if outcome == import_heyoka().taylor_outcome.time_limit:
            self.integrator.dtime = end, 0.0
        self.ahead = 0.0
        return self._name_outcome(outcome), 1, np.empty((0, len(self.places)))

    def _evaluate(self, ahead: Any) -> Array:
        """The functions of the events, now or after very short steps (midpoint rule)."""
        u, t = moving_state(self.integrator, 0), self.time
        n = len(u)
        if np.ndim(ahead):
            u = np.repeat(u[:, None], len(ahead), axis=1)
        if np.any(ahead):
            middle = u + ahead / 2 * self._call(u, t + 0 * ahead)[:n]
            u, t = u + ahead * self._call(middle, t + ahead / 2)[:n], t + ahead
        return self._call(u, t)[n:]

    def _call(self, u: Array, t: Any) -> Array:
        """The rates and the functions of the events; for several states, if `u` has columns."""
        pars = self.integrator.pars[: len(self.used.constants)]
        if u.ndim > 1:
            u, pars = np.ascontiguousarray(u), np.repeat(pars[:, None], u.shape[1], axis=1)
        return np.asarray(self.used.evaluate(u, pars=pars, time=t))

    def save(self) -> Any:
        """The time and state to `restore` later."""
        return self.time, self.integrator.state.copy()

    def restore(self, saved: Any) -> None:
        """Return to a saved time and state."""
        self.integrator.time = saved[0]
        self.integrator.state[:] = saved[1]

    # Continuing a run that was killed ---------------------------------------------------------------------------------
    def mark_stop(self) -> None:
        """Remember where heyoka has stopped, before anything is done about it."""
        self.stop = _numbers_of(self.integrator)

    def can_be_restored(self) -> bool:
        """Whether `restore_snapshot` would restore everything here.

        After an event heyoka ignores its zero for a moment, and has no way to set that: it is brought about by letting
        another integrator come to the same stop.
        """
        pauses = _pauses_of(self.integrator)
        if all(pause is None for pause in pauses):
            return True
        if self.stop is None:
            return False
        if self._spare is None:
            self._spare = acquire_integrator(self.variables.scenario, self.system, self.variables.tolerance, 0)
        return _pause_again(self._spare.integrator, self.stop, pauses, self.span)

    def snapshot(self) -> dict[str, Any]:
        """Everything that a portion leaves behind; the rest follows from the start of the segment."""
        pauses = _pauses_of(self.integrator)
        return {
            "numbers": _numbers_of(self.integrator),
            "pauses": pauses,
            "stop": self.stop if any(pause is not None for pause in pauses) else None,
            "units": self.units,
            "ahead": self.ahead,
            "settles": self.settles,
            "crossed": [list(pair) for pair in self.crossed],
        }

    def restore_snapshot(self, snapshot: dict[str, Any]) -> None:
        """Continue where a portion has ended."""
        self._set_units(snapshot["units"], self.base)
        self.stop = snapshot["stop"]
        if self.stop is not None and not _pause_again(self.integrator, self.stop, snapshot["pauses"], self.span):
            raise RuntimeError("heyoka does not come to the stop again that it had come to when a checkpoint was made")
        self.used.log.clear()
        _set_numbers(self.integrator, snapshot["numbers"])
        self.ahead, self.settles = snapshot["ahead"], snapshot["settles"]
        self.crossed = [(i, sign) for i, sign in snapshot["crossed"]]

    def renormalize(self) -> None:
        """Renormalize q, and give groups whose size has changed a new unit."""
        now = self.state()
        if self.variables.scenario.renormalize:
            now = self.variables.renormalize(now)
        size = self.variables.sizes(now)[:, 2:4]
        ratio = np.where(size > 0, size, self.units[:, 2:4]) / self.units[:, 2:4]
        units = self.units.copy()
        if (ratio > LARGEST_RATIO).any() or (ratio < 1 / LARGEST_RATIO).any():
            units[:, 2:4] *= 2.0 ** np.rint(np.log2(ratio))
        self._set_units(units, now)

    def pop_recorded_events(self) -> Iterator[tuple[int, float, Array]]:
        """The events that heyoka has recorded since the last call."""
        entries = list(self.used.log)
        self.used.log.clear()
        yield from entries

    def singular_forces(self) -> list[str]:
        """The names of the forces that take the root of 0, or divide by 0, at the start of the segment."""
        form, known = self.system.form, self.system.known(self.units)
        known |= dict(zip(self.system.variables, self.pack_state(self.base), strict=True))
        known[self.system.time] = self.begin
        for rate in self.system.rates:
            form.value(rate, known)
        singular = {
            index
            for formula in [*self.system.rates, *(part for atom in form.atoms for part in atom.parts)]
            for monomial in formula
            for index, exponent in monomial
            if (exponent < 0 or not exponent.is_integer()) and index in known and np.any(known[index] == 0)
        }
        owners = [self.system.owners[form.atoms[index].node] for index in sorted(singular)]
        return list(dict.fromkeys(one.name for one in owners if one is not None))

    def close(self) -> None:
        """Return the integrator to the cache."""
        release_integrator(self.used)
        if self._spare is not None:
            release_integrator(self._spare)


def _go_on(_: Any) -> bool:
    """Called by heyoka after every step: an interrupt is raised where Python runs."""
    return True


def _numbers_of(integrator: Any) -> dict[str, Any]:
    """Time (two doubles), state and parameters."""
    return {"time": list(integrator.dtime), "state": integrator.state.copy(), "pars": integrator.pars.copy()}


def _set_numbers(integrator: Any, numbers: dict[str, Any]) -> None:
    integrator.dtime = tuple(numbers["time"])
    integrator.state[:] = numbers["state"]
    integrator.pars[:] = numbers["pars"]


def _pauses_of(integrator: Any) -> list[list[float] | None]:
    """For how long heyoka has ignored the zero of each event that stops it, and how long it will; None: it does not."""
    if not integrator.with_events:
        return []
    return [None if pause is None else list(pause) for pause in integrator.te_cooldowns]


def _pause_again(integrator: Any, stop: dict[str, Any], pauses: list[list[float] | None], span: float) -> bool:
    """Let an integrator come to a stop again from slightly before, so that it ignores zeros there; False: in vain."""
    for delta in (span * RETREATS).tolist():
        _set_numbers(integrator, stop)
        integrator.reset_cooldowns()
        integrator.step(max_delta_t=-delta)
        if _pauses_of(integrator) == pauses:
            return True
        integrator.reset_cooldowns()
        integrator.step(max_delta_t=2 * delta)
        if _pauses_of(integrator) == pauses:
            return True
    return False


def propagate_batch(
    integrator: Any, a: float, times: Array, start: Array, pars: Array, stop: Event
) -> tuple[Array, Any]:
    """The states of a batch at some times, NaN from where a lane failed, and the steps of each lane.

    heyoka stops all lanes when one fails; the others then run again, with a healthy one in its place.  After an
    interrupt, when `stop` is set, what it returns counts for nothing.
    """
    lanes, columns = start.shape[1], np.repeat(times[:, None], start.shape[1], axis=1)
    steps = np.zeros(lanes, dtype=np.int64)
    healthy = np.ones(lanes, dtype=bool)
    result: Any = None
    while True:
        source: Any = slice(None) if healthy.all() else np.where(healthy, np.arange(lanes), np.argmax(healthy))
        integrator.set_time(a)
        integrator.state[:] = start[:, source]
        if len(pars):
            integrator.pars[:] = pars[:, source]
        _, states = integrator.propagate_grid(columns, callback=lambda _: not stop.is_set())
        steps[healthy] += np.array([outcome[3] for outcome in integrator.propagate_res])[healthy]
        if result is None:
            result = states
        else:
            result[:, :, healthy] = states[:, :, healthy]
        if np.isfinite(states[-1]).all() or stop.is_set():
            return result, steps
        bad = import_heyoka().taylor_outcome.err_nf_state
        failed = np.array([outcome[0] == bad for outcome in integrator.propagate_res]) & healthy
        healthy &= ~failed
        if not (failed.any() and healthy.any()):
            return result, steps
