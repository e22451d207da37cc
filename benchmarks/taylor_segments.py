"""A run by Taylor series prepared for repetition: nothing is left to time but the steps."""

from __future__ import annotations

import copy
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from polhode.integrate.taylor import taylor_series as taylor
from polhode.integrate.taylor.heyoka_equations import build_equations
from polhode.integrate.taylor.heyoka_integrator import TaylorVariables
from polhode.integrate.taylor.heyoka_pool import (
    UNROLLED_LIMIT_FOR_MANY,
    acquire_integrator,
    moving_state,
    parameter_values,
)
from polhode.integrate.timeline import Timeline
from polhode.ir.targets.heyoka import import_heyoka
from polhode.scenario.scenario import Scenario
from polhode.validation import Array


class RunFunctions(NamedTuple):
    """A run from start to end of which all that can be done beforehand is done; only `go` takes steps."""

    reset: Callable[[], None]
    go: Callable[[], None]
    final_samples: Callable[[], Array]
    """After `go`: the numbers put out at the end, (bodies, numbers)."""

    def __call__(self) -> Array:
        """All three, one after the other."""
        self.reset()
        self.go()
        return self.final_samples()


def prepare_segments(scenario: Scenario) -> RunFunctions:
    """From start to end of a scenario, in lanes or all bodies together; no events, and no outputs on the way."""
    with np.errstate(all="ignore"):
        return _prepare_segments(scenario, taylor.runs_in_lanes(scenario))


def _prepare_segments(scenario: Scenario, in_lanes: bool) -> RunFunctions:
    numbers = TaylorVariables(scenario, False)
    lanes = int(import_heyoka().recommended_simd_size()) if in_lanes else 0
    legs: list[TaylorSegment] = []
    now = numbers.start()
    for segment in Timeline.of(scenario).segments:
        leg = TaylorSegment(numbers, now, segment.start, segment.end, lanes)
        leg.fill(now)
        leg.go()
        now = leg.numbers()
        legs.append(leg)
    start, first, last = legs[0].begin, legs[0], legs[-1]
    passages = [following.make_transfer(leg) for leg, following in pairwise(legs)]

    def go() -> None:
        first.go()
        for leg, passage in zip(legs[1:], passages, strict=True):
            passage()
            leg.go()

    return RunFunctions(lambda: first.fill(start), go, lambda: numbers.to_samples(last.numbers()))


class TaylorSegment:
    """A segment with integrators of its own, one for each batch of members, or one for all bodies."""

    def __init__(self, numbers: TaylorVariables, now: Array, a: float, b: float, lanes: int) -> None:
        self.a, self.b, self.begin, self.lanes = a, b, now.copy(), lanes
        self.found = build_equations(numbers.scenario, now, (a + b) / 2, False, lanes > 0)
        units = numbers.units(self.found, now, a, b - a)
        used = acquire_integrator(numbers.scenario, self.found, numbers.tolerance, lanes, UNROLLED_LIMIT_FOR_MANY)
        values = parameter_values(self.found, used.constants, units)
        places, width, count = np.array(self.found.moving, dtype=int), numbers.width, len(now)
        if not lanes:
            self.where: list[Any] = [divmod(places, width)]
            self.scales = [units[places // width, numbers.group_of[places % width]]]
            pars = [np.array(values)]
        else:
            padded = np.minimum(np.arange(-(-count // lanes) * lanes), count - 1).reshape(-1, lanes)
            self.where = [(some[None, :], places[:, None]) for some in padded]
            self.scales = [units[some][:, numbers.group_of[places]].T for some in padded]
            pars = [np.array([np.broadcast_to(v, (count,))[some] for v in values]) for some in padded]
        self.integrators = [used.integrator, *(copy.deepcopy(used.integrator) for _ in self.where[1:])]
        for integrator, each in zip(self.integrators, pars, strict=True):
            integrator.pars[:] = each

    def fill(self, numbers: Array) -> None:
        """Put the numbers of all bodies into the integrators, and their clocks to the leg's beginning."""
        for integrator, where, scale in zip(self.integrators, self.where, self.scales, strict=True):
            moving_state(integrator, self.lanes)[:] = numbers[where] / scale
        self._reset_clocks()

    def states(self) -> list[Any]:
        """The numbers of every integrator that move."""
        return [moving_state(integrator, self.lanes) for integrator in self.integrators]

    def _reset_clocks(self) -> None:
        for integrator in self.integrators:
            if self.lanes:
                integrator.set_time(self.a)
            else:
                integrator.time = self.a

    def go(self) -> None:
        """From the leg's beginning to its end."""
        for integrator in self.integrators:
            integrator.propagate_until(self.b)

    def numbers(self) -> Array:
        """All numbers at the leg's end."""
        numbers = self.begin.copy()
        for integrator, where, scale in zip(self.integrators, self.where, self.scales, strict=True):
            numbers[where] = moving_state(integrator, self.lanes) * scale
        return numbers

    def make_transfer(self, before: TaylorSegment) -> Callable[[], None]:
        """What moves over from the end of the leg before; all else is as it was the first time."""
        shared = [place for place in self.found.moving if place in before.found.moving]
        to = np.array([self.found.moving.index(place) for place in shared])
        out_of = np.array([before.found.moving.index(place) for place in shared])
        self.fill(self.begin)
        ways = [
            (new, new.copy(), old, scale[out_of] / own[to])
            for new, old, own, scale in zip(self.states(), before.states(), self.scales, before.scales, strict=True)
        ]

        def passage() -> None:
            self._reset_clocks()
            for state, resting, old, ratio in ways:
                state[:] = resting
                state[to] = old[out_of] * ratio

        return passage
