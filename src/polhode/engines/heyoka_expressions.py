"""A scenario's laws written down as formulas: what moves between two events, and how.

The laws are evaluated once on symbols (`equations/symbols.py`).  What does not move becomes a parameter, whole constant
factors at a time, and what never changes leaves the state.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from polhode.equations.inertia import BodyConstants
from polhode.equations.law import Groups
from polhode.equations.quaternions import conjugate, product
from polhode.equations.right_hand_side import build_motion_law, build_view
from polhode.equations.symbolic import Symbol, SymbolTable
from polhode.equations.vectors import plus, zero_vector
from polhode.errors import ForceError
from polhode.model import force_evaluation
from polhode.model.force import Force, map_leaves
from polhode.model.preflight import locate_error
from polhode.model.scenario import Scenario
from polhode.validation import Array

EXPANDED_BODIES = 8
"""In larger systems brackets stay as they are: removing them all takes longer than it saves."""
SWITCH = -1
"""Where a user's force decides, by `if_less`, its series ends: heyoka stops there, and goes on behind it."""


@dataclass
class SymbolicSystem:
    """The rates of what moves between two events, each in its own unit, and the events that are watched."""

    book: SymbolTable
    in_lanes: bool
    moving: list[int]
    """Which numbers of the state, counted through body after body, change at all."""
    letters: list[int]
    """Their bases in the book."""
    rates: list[Symbol]
    units: list[tuple[int, int, int]]
    """(base in the book, body, group): the letters of the units."""
    events: list[tuple[int, int, Symbol]]
    """(event, body, the number that crosses zero); the event SWITCH is a decision of a user's force"""
    lengths: list[int]
    """How many moving numbers each group of each body has."""

    def groups(self) -> list[list[Symbol]]:
        """The rates, group by group."""
        ends = np.cumsum([0, *self.lengths]).tolist()
        return [self.rates[a:b] for a, b in pairwise(ends)]

    def known(self, units: Array | None) -> dict[int, Any]:
        """The values of all constants, with units (bodies or members, groups); None: all units are 1."""
        known = {i: value for i, value in self.book.values.items() if self.book.bases[i].kind == "constant"}
        for index, b, g in self.units:
            known[index] = 1.0 if units is None else (units[:, g] if self.in_lanes else units[b, g])
        return known

    def resting(self) -> set[int]:
        """Which numbers of those that might move do not."""
        return {i for i, rate in zip(self.moving, self.rates, strict=True) if not self.book.by_motion(rate)}


def build_symbolic_system(
    scenario: Scenario, now: Array, middle: float, counts_work: bool, in_lanes: bool
) -> SymbolicSystem:
    """A scenario's equations in the segment around `middle`, which begins with the numbers `now` (bodies, numbers).

    In lanes there is one body, whose numbers are arrays: the members of an ensemble, or bodies that feel nothing of
    each other.
    """
    still: set[int] = set()
    while True:
        found = _evaluate_laws(scenario, now, middle, counts_work, in_lanes, still)
        resting = found.resting()
        if not resting and (in_lanes or len(now) <= EXPANDED_BODIES):
            found.rates = [rate for group in found.groups() for rate in _choose_shorter(found.book, group)]
            resting = found.resting()
        if not in_lanes and len(still | resting) == now.size:
            resting.discard(0)  # heyoka needs something that moves, were it by nothing
        if not resting:
            return found
        still |= resting


def _evaluate_laws(
    scenario: Scenario, now: Array, middle: float, counts_work: bool, in_lanes: bool, still: set[int]
) -> SymbolicSystem:
    book, form = SymbolTable(np), scenario.form
    pivoted = scenario.pivot is not None
    result = SymbolicSystem(book, in_lanes, [], [], [], [], [], [])
    width, count = now.shape[1], 1 if in_lanes else len(now)
    states, views, constants = [], [], []
    seen = build_view(form, pivoted)
    for b in range(count):
        of_body = scenario.problem.constants if in_lanes else scenario.bodies[b].constants(scenario.pivot)
        body = BodyConstants(*_make_symbols(book, f"body {b}", tuple(of_body)))
        y = _state(result, now if in_lanes else now[b], b, width, still, form.sizes)
        q = y[1]
        if scenario.renormalize and len(q) == 4:
            book.know_unit(q)
            book.know_unit(product(q, conjugate(body.axes)))
        states.append(y)
        constants.append(body)
        views.append(seen(y, body))
    t = book.moving("t")
    loads = [(zero_vector(t), zero_vector(t))] * count
    for i, f in enumerate(_segment_forces(scenario, middle, in_lanes)):
        f = replace(f, params=_make_symbols(book, f"force {i}", f.params))
        book.owner = f.name
        for b, (push, turn) in enumerate(
            _evaluate_on_symbols(f, partial(force_evaluation.evaluate_wrenches, t, views, constants, [f]))
        ):
            loads[b] = (plus(loads[b][0], push), plus(loads[b][1], turn))
    book.owner = ""
    moved = build_motion_law(form, pivoted, counts_work, False)
    for b, (y, view, body, load) in enumerate(zip(states, views, constants, loads, strict=True)):
        rates = moved(y, view, body, *load)
        for g, group in enumerate(rates):
            first = sum(len(part) for part in rates[:g]) + b * width
            units = [book.bases[i].name for i, of, group_of in result.units if (of, group_of) == (b, g)]
            unit: Any = book.constant(units[0], 2.0) if units else 1.0
            own = [rate / unit for i, rate in enumerate(group) if first + i not in still]
            result.rates += own
            result.lengths.append(len(own))
    for i, e in enumerate(scenario.events):
        params = _make_symbols(book, f"event {i}", e.params)
        for b in range(count) if e.bodies is None else e.bodies:
            value = _evaluate_on_symbols(e, partial(e.kernel, t, views[b], constants[b], params))
            result.events.append((i, b, 0 * t + value))
    own_names = {f.name for f in scenario.forces if f.function is not None}
    result.events += [(SWITCH, 0, value) for value in _decisions(book, result.rates, own_names)]
    return result


def _decisions(book: SymbolTable, rates: list[Symbol], owners: set[str]) -> list[Symbol]:
    """The numbers at whose zeros these owners' forces decide otherwise."""
    found: dict[int, Symbol] = {}
    waiting, seen = list(rates), set()
    while waiting:
        for monomial in waiting.pop().terms:
            for index, _ in monomial:
                base = book.bases[index]
                if index not in seen:
                    seen.add(index)
                    waiting += base.parts
                    if base.name == "if_less" and base.owner in owners:
                        difference = base.parts[0] - base.parts[1]
                        if not difference.is_constant:
                            found[index] = difference
    return [found[index] for index in sorted(found)]


def _state(result: SymbolicSystem, now: Array, b: int, width: int, still: set[int], sizes: Sequence[int]) -> Groups:
    """The state of a body in letters: moving ones with their unit before them, and those that rest."""
    book, at = result.book, 0
    groups: list[Groups] = []
    while at < width:
        g = len(groups)
        size = sizes[g] if g < len(sizes) else 1
        unit: Any = 1.0
        if g != 1:
            unit = book.constant(f"unit {b} {g}", 2.0)
            result.units.append((book.index_of(unit), b, g))
        group = []
        for i in range(at, at + size):
            if b * width + i in still:
                group.append(book.constant(f"start {b} {i}", now[..., i]))
            else:
                letter = book.moving(f"y {b} {i}")
                result.moving.append(b * width + i)
                result.letters.append(book.index_of(letter))
                group.append(unit * letter)
        groups.append(tuple(group))
        at += size
    return tuple(groups)


def _make_symbols(book: SymbolTable, name: str, nest: Any) -> Any:
    """Letters for the numbers of a nest; windows that are open or shut for good stay numbers."""
    count = iter(range(10**6))

    def letter(value: Any) -> Any:
        i = next(count)
        if np.ndim(value) == 0 and math.isinf(value):
            return float(value)
        array = np.asarray(value, dtype=np.float64)
        alike = array.ndim == 0 or (array == array.flat[0]).all()
        return book.constant(f"{name} {i}", np.float64(array.flat[0]) if alike else array)

    return map_leaves(letter, tuple(nest))


def _segment_forces(scenario: Scenario, middle: float, in_lanes: bool) -> list[Force]:
    """The forces of a segment, whose windows are open or shut from end to end."""
    forces = [f for f in scenario.forces if f.kind != "impulse"]
    if in_lanes:
        loads = zip(scenario.of_kind("body"), scenario.load_kernels(), scenario.problem.load_params, strict=True)
        forces = [replace(f, kernel=kernel, params=params, bodies=None) for f, kernel, params in loads]
    result = []
    for original, f in zip([f for f in scenario.forces if f.kind != "impulse"], forces, strict=True):
        if original.window is not None:
            start, stop = (float(np.ravel(original.params[i])[0]) for i in original.window)
            edges = (-math.inf, math.inf) if start <= middle < stop else (math.inf, math.inf)
            own = list(original.params)
            own[original.window[0]], own[original.window[1]] = edges
            params = tuple(own) if f.params is original.params else (f.params[0], tuple(own))
            f = replace(f, params=params)
        result.append(f)
    return result


def _evaluate_on_symbols(acting_thing: Any, evaluate: Callable[[], Any]) -> Any:
    """Evaluate a force or an event on symbols, and complain in words if its function cannot be."""
    try:
        return evaluate()
    except Exception as error:
        if acting_thing.function is None:
            raise
        where = locate_error(acting_thing, error)
        raise ForceError(
            f"{acting_thing.name} has no Taylor series: {error}{where}. Write it as arithmetic with ph.sqrt, ph.sin, "
            "ph.cos and ph.if_less, or take method='dop853'."
        ) from error


def _choose_shorter(book: SymbolTable, rates: list[Symbol]) -> list[Symbol]:
    """The rates with or without their brackets, whichever takes fewer products."""
    flat = [book.expanded(rate) for rate in rates]
    found = [rate for rate in flat if rate is not None]
    return found if len(found) == len(rates) and book.products(found) < book.products(rates) else rates
