"""An integrator on its way through a segment, and the units that its numbers are measured in.

heyoka measures the error against the largest number of the state.  So every group has a unit of its own, a power of
two near its size, and position and work, which are integrals of what moves, get one so large that they never decide.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from polhode.engines.heyoka_codegen import (
    CompiledIntegrator,
    acquire_integrator,
    import_heyoka,
    moving_state,
    parameter_values,
    release_integrator,
)
from polhode.engines.heyoka_expressions import SymbolicSystem, build_symbolic_system
from polhode.model.force import flatten_leaves
from polhode.model.scenario import Scenario
from polhode.model.state import split_groups
from polhode.validation import Array

LARGEST_RATIO = 64.0
"""A group that has grown or shrunk by more than this gets a new unit."""
INTEGRALS = (0, 4)
"""Position and work."""
NEVER_DECIDES = 2.0**20
SAME_INSTANT = 64 * np.finfo(float).eps
"""Of the duration: an event so near to the start, or to its last occurrence, is the same one."""


class TaylorVariables:
    """What the numbers of a run by Taylor series are: the groups that they belong to, and their sizes."""

    def __init__(self, scenario: Scenario, counts_work: bool) -> None:
        self.scenario, self.counts_work = scenario, counts_work
        sizes = scenario.form.sizes + ((1,) if counts_work else ())
        self.group_of = np.repeat(np.arange(len(sizes)), sizes)
        self.width = len(self.group_of)
        self.tolerance = min(scenario.tolerances[0])

    def start(self) -> Array:
        """Where the run begins, (bodies or members, numbers)."""
        each = [*flatten_leaves(self.scenario.start), *((0.0,) if self.counts_work else ())]
        return np.stack([np.broadcast_to(number, (self.scenario.count,)) for number in each], axis=-1)

    def to_samples(self, numbers: Array) -> Array:
        """Numbers (..., bodies, numbers) as they are put out: tidy, and with what is watched behind them."""
        form = self.scenario.form
        groups: Any = split_groups(np.moveaxis(numbers, -1, 0), form.sizes)
        tidy, drift = (form.renormalized if self.scenario.renormalize else form.with_drift)(groups, 0.0)
        parts = [*flatten_leaves(tidy), *((numbers[..., -1],) if self.counts_work else ()), drift]
        return np.stack(parts, axis=-1)

    def tidy(self, numbers: Array) -> Array:
        """With q rescaled."""
        return self.to_samples(numbers)[..., :-1]

    def sizes(self, numbers: Array) -> Array:
        """The largest number of each group, (bodies or members, groups)."""
        groups = range(int(self.group_of[-1]) + 1)
        return np.stack([np.abs(numbers[:, self.group_of == g]).max(axis=1) for g in groups], axis=-1)

    def units(self, found: SymbolicSystem, now: Array, t: float, span: float) -> Array:
        """A power of two near the size of each group, (bodies or members, groups)."""
        book, known, slopes = found.book, found.known(None), np.zeros(now.shape)
        places = [(slice(None), i) if found.in_lanes else divmod(i, self.width) for i in found.moving]
        for place, letter in zip(places, found.letters, strict=True):
            known[letter] = now[place]
        known[book.index_of(book.moving("t"))] = t
        for place, rate in zip(places, found.rates, strict=True):
            slopes[place] = book.value(rate, known)
        size, travel = self.sizes(now), self.sizes(slopes) * span
        units = np.where(size > 0, size, travel / 32)
        units[:, 1] = 1.0
        for g in INTEGRALS:
            units[:, g : g + 1] = (NEVER_DECIDES * np.maximum(np.maximum(size, travel), 1.0))[:, g : g + 1]
        units[~(np.isfinite(units) & (units > 0))] = 1.0
        return np.asarray(2.0 ** np.rint(np.log2(units)))


class SegmentIntegrator:
    """An integrator on its way through a segment."""

    def __init__(self, numbers: TaylorVariables, now: Array, begin: float, end: float, middle: float) -> None:
        self.numbers, self.begin, self.span = numbers, begin, end - begin
        self.base = now.copy()
        self.found = build_symbolic_system(numbers.scenario, now, middle, numbers.counts_work, False)
        self.used: CompiledIntegrator = acquire_integrator(numbers.scenario, self.found, numbers.tolerance, 0)
        self.integrator = self.used.integrator
        self.places = np.array(self.found.moving, dtype=int)
        self.integrator.time = begin
        if self.integrator.with_events:
            self.integrator.reset_cooldowns()
        self._with_units(numbers.units(self.found, now, begin, self.span), self.base)

    def _with_units(self, units: Array, now: Array) -> None:
        self.units = units
        width, group_of = self.numbers.width, self.numbers.group_of
        self.scale = units[self.places // width, group_of[self.places % width]]
        self.integrator.pars[:] = parameter_values(self.found, self.used.constants, units)
        moving_state(self.integrator, 0)[:] = self.pack(now)

    @property
    def time(self) -> float:
        """Where the flight is, in s."""
        return float(self.integrator.time)

    def pack(self, numbers: Array) -> Array:
        """The numbers that move, in their units."""
        return np.asarray(numbers.ravel()[self.places] / self.scale)

    def full(self, u: Array) -> Array:
        """All numbers of the bodies, from those that move; of several times, if `u` has rows."""
        numbers = np.broadcast_to(self.base.ravel(), (*u.shape[:-1], self.base.size)).copy()
        numbers[..., self.places] = u * self.scale
        return numbers.reshape(*u.shape[:-1], *self.base.shape)

    def state(self) -> Array:
        """All numbers as they are now."""
        return self.full(moving_state(self.integrator, 0))

    def advanced(self, stops: Array, most: int) -> tuple[Any, int, Array]:
        """Towards the last of `stops`: how it ended, the steps taken, and the states at the stops reached."""
        hy = import_heyoka()
        times = np.append(self.integrator.time, stops)
        outcome, _, _, taken, _, states = self.integrator.propagate_grid(times, max_steps=most)
        ways = {
            hy.taylor_outcome.time_limit: "end",
            hy.taylor_outcome.step_limit: "portion",
            hy.taylor_outcome.err_nf_state: "failed",
        }
        how = ways.get(outcome)
        return self.used.ending[-int(outcome) - 1] if how is None else how, int(taken), states[1:, :-1]

    def stepped(self) -> bool:
        """One step; whether all is still finite."""
        outcome, _ = self.integrator.step()
        return bool(outcome != import_heyoka().taylor_outcome.err_nf_state)

    def takes(self, now: Array) -> bool:
        """Go on from other numbers, if only such have changed as move anyway."""
        if (np.delete(now.ravel(), self.places) != np.delete(self.base.ravel(), self.places)).any():
            return False
        self._with_units(self.units, now)
        return True

    def step_over(self) -> None:
        """A step just long enough for a force that decides to have decided."""
        self.integrator.step(max_delta_t=SAME_INSTANT * max(abs(self.time), self.span))

    def mark(self) -> Any:
        """A place to come back to."""
        return self.time, self.integrator.state.copy()

    def restore(self, mark: Any) -> None:
        """Back to it."""
        self.integrator.time = mark[0]
        self.integrator.state[:] = mark[1]

    def settle(self) -> None:
        """Rescale q, and give groups whose size has changed a new unit."""
        now = self.state()
        if self.numbers.scenario.renormalize:
            now = self.numbers.tidy(now)
        size = self.numbers.sizes(now)[:, 2:4]
        ratio = np.where(size > 0, size, self.units[:, 2:4]) / self.units[:, 2:4]
        units = self.units.copy()
        if (ratio > LARGEST_RATIO).any() or (ratio < 1 / LARGEST_RATIO).any():
            units[:, 2:4] *= 2.0 ** np.rint(np.log2(ratio))
        self._with_units(units, now)

    def recorded(self) -> Iterator[tuple[int, float, Array]]:
        """The events that heyoka has noted down since it was last asked."""
        entries = list(self.used.log.entries)
        self.used.log.entries.clear()
        yield from entries

    def rootless(self) -> list[str]:
        """The forces that take a root of 0, or divide by it, where this flight begins."""
        book = self.found.book
        known = self.found.known(self.units)
        known |= dict(zip(self.found.letters, self.pack(self.base), strict=True))
        known[book.index_of(book.moving("t"))] = self.begin
        for rate in self.found.rates:
            book.value(rate, known)
        singular = {
            index
            for rate in [*self.found.rates, *(part for base in book.bases for part in base.parts)]
            for monomial in rate.terms
            for index, exponent in monomial
            if (exponent < 0 or not exponent.is_integer()) and index in known and np.any(known[index] == 0)
        }
        names = [book.bases[index].owner for index in sorted(singular)]
        return list(dict.fromkeys(name for name in names if name))

    def close(self) -> None:
        """Hand the integrator back."""
        release_integrator(self.used)


def propagate_batch(integrator: Any, a: float, times: Array, start: Array, pars: Array) -> tuple[Array, Any]:
    """The states of a batch at some times, NaN from where a lane failed, and the steps of each.

    heyoka stops all lanes where one fails: then the others run again, with one of them in its place.
    """
    lanes, columns = start.shape[1], np.repeat(times[:, None], start.shape[1], axis=1)
    steps = np.zeros(lanes, dtype=np.int64)
    well = np.ones(lanes, dtype=bool)
    result: Any = None
    while True:
        source: Any = slice(None) if well.all() else np.where(well, np.arange(lanes), np.argmax(well))
        integrator.set_time(a)
        integrator.state[:] = start[:, source]
        if len(pars):
            integrator.pars[:] = pars[:, source]
        _, states = integrator.propagate_grid(columns)
        steps[well] += np.array([outcome[3] for outcome in integrator.propagate_res])[well]
        if result is None:
            result = states
        else:
            result[:, :, well] = states[:, :, well]
        if np.isfinite(states[-1]).all():
            return result, steps
        bad = import_heyoka().taylor_outcome.err_nf_state
        failed = np.array([outcome[0] == bad for outcome in integrator.propagate_res]) & well
        well &= ~failed
        if not (failed.any() and well.any()):
            return result, steps
