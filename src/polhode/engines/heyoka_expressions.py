"""A scenario's equations as symbolic expressions for heyoka, between two discontinuities.

The laws are evaluated once on symbols (`equations/symbolic.py`).  Constant factors become parameters, and numbers of
the state that never change are taken out of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from polhode.equations.inertia import BodyConstants, constants_for_forces
from polhode.equations.law import Groups
from polhode.equations.quaternions import conjugate, product
from polhode.equations.right_hand_side import build_motion_law, build_view
from polhode.equations.symbolic import Symbol, SymbolTable
from polhode.equations.vectors import plus, zero_vector
from polhode.errors import ForceError
from polhode.scenario import force_evaluation
from polhode.scenario.force import Force, map_leaves
from polhode.scenario.preflight import locate_error
from polhode.scenario.scenario import Scenario
from polhode.validation import Array

EXPANDED_BODIES = 8
"""Larger systems are not expanded: that takes longer than it saves."""
SWITCH = -1
"""The pseudo-event of a user's function that switches branches (`if_less`): heyoka stops there, starts a new series."""


class Switch(NamedTuple):
    """A place where a user's function switches branches: one branch where low < high + shift, else the other."""

    atom: int
    """The index of the `if_less` in the table."""
    low: Symbol
    high: Symbol
    shift: Symbol
    """A parameter: zero, or just enough to choose the branch at a crossing, where rounding decides otherwise."""


@dataclass
class SymbolicSystem:
    """The right-hand side between two discontinuities, each variable in its own unit, and the event functions."""

    table: SymbolTable
    in_lanes: bool
    moving: list[int]
    """The indices of the numbers that change, in the state of all bodies one after another."""
    variables: list[int]
    """Their indices in the table."""
    rates: list[Symbol]
    units: list[tuple[int, int, int]]
    """(index in the table, body, group) of each unit."""
    events: list[tuple[int, int, Symbol]]
    """(event, body, event function); the event SWITCH is a change of branch in a user's function"""
    switches: list[Switch]
    lengths: list[int]
    """The number of variables in each group of each body."""

    def groups(self) -> list[list[Symbol]]:
        """The rates, group by group."""
        ends = np.cumsum([0, *self.lengths]).tolist()
        return [self.rates[a:b] for a, b in pairwise(ends)]

    def known(self, units: Array | None) -> dict[int, Any]:
        """The values of all constants, given units (bodies or members, groups); None: all units are 1."""
        known = {i: value for i, value in self.table.values.items() if self.table.atoms[i].kind == "constant"}
        for index, b, g in self.units:
            known[index] = 1.0 if units is None else (units[:, g] if self.in_lanes else units[b, g])
        return known | {self.table.index_of(switch.shift): 0.0 for switch in self.switches}

    def resting(self) -> set[int]:
        """The indices of the variables whose rate is zero."""
        return {i for i, rate in zip(self.moving, self.rates, strict=True) if not self.table.split_constants(rate)}


def build_symbolic_system(
    scenario: Scenario, now: Array, middle: float, counts_work: bool, in_lanes: bool
) -> SymbolicSystem:
    """The equations in the segment around the time `middle`, which starts from the state `now` (bodies, numbers).

    In lanes there is one body, whose numbers are arrays over non-interacting bodies or ensemble members.
    """
    still: set[int] = set()
    while True:
        system = _evaluate_laws(scenario, now, middle, counts_work, in_lanes, still)
        resting = system.resting()
        if not resting and (in_lanes or len(now) <= EXPANDED_BODIES):
            system.rates = [rate for group in system.groups() for rate in _choose_shorter(system.table, group)]
            resting = system.resting()
        if not in_lanes and len(still | resting) == now.size:
            resting.discard(0)  # heyoka needs at least one variable
        if not resting:
            return system
        still |= resting


def _evaluate_laws(
    scenario: Scenario, now: Array, middle: float, counts_work: bool, in_lanes: bool, still: set[int]
) -> SymbolicSystem:
    table, form = SymbolTable(np), scenario.form
    pivoted = scenario.pivot is not None
    result = SymbolicSystem(table, in_lanes, [], [], [], [], [], [], [])
    width, count = now.shape[1], 1 if in_lanes else len(now)
    states, views, constants = [], [], []
    make_view = build_view(form, pivoted)
    for b in range(count):
        of_body = scenario.problem.constants if in_lanes else scenario.bodies[b].constants(scenario.pivot)
        body = BodyConstants(*_make_symbols(table, f"body {b}", tuple(of_body)))
        y = _symbolic_state(result, now if in_lanes else now[b], b, width, still, form.sizes)
        q = y[1]
        if scenario.renormalize and len(q) == 4:
            table.assume_unit_norm(q)
            table.assume_unit_norm(product(q, conjugate(body.axes)))
        states.append(y)
        constants.append(body)
        views.append(make_view(y, body))
    t = table.variable("t")
    loads = [(zero_vector(t), zero_vector(t))] * count
    for i, f in enumerate(_segment_forces(scenario, middle, in_lanes)):
        f = replace(f, params=_make_symbols(table, f"force {i}", f.params))
        table.owner = f.name
        for b, (push, turn) in enumerate(
            _evaluate_on_symbols(f, partial(force_evaluation.evaluate_wrenches, t, views, constants, [f]))
        ):
            loads[b] = (plus(loads[b][0], push), plus(loads[b][1], turn))
    table.owner = ""
    motion_law = build_motion_law(form, pivoted, counts_work, False)
    for b, (y, view, body, load) in enumerate(zip(states, views, constants, loads, strict=True)):
        rates = motion_law(y, view, body, *load)
        for g, group in enumerate(rates):
            first = sum(len(part) for part in rates[:g]) + b * width
            units = [table.atoms[i].name for i, of, group_of in result.units if (of, group_of) == (b, g)]
            unit: Any = table.constant(units[0], 2.0) if units else 1.0
            own = [rate / unit for i, rate in enumerate(group) if first + i not in still]
            result.rates += own
            result.lengths.append(len(own))
    for i, e in enumerate(scenario.events):
        params = _make_symbols(table, f"event {i}", e.params)
        for b in range(count) if e.bodies is None else e.bodies:
            table.owner = e.name
            value = _evaluate_on_symbols(e, partial(e.kernel, t, views[b], constants_for_forces(constants[b]), params))
            result.events.append((i, b, 0 * t + value))
    table.owner = ""
    own_names = {f.name for f in scenario.forces if f.function is not None} | {e.name for e in scenario.events}
    formulas = [*result.rates, *(value for _, _, value in result.events)]
    result.switches = _find_switches(table, formulas, own_names)
    result.events += [(SWITCH, 0, switch.low - switch.high) for switch in result.switches]
    return result


def _find_switches(table: SymbolTable, formulas: list[Symbol], owners: set[str]) -> list[Switch]:
    """The places where the functions of these owners switch branches."""
    found: dict[int, Switch] = {}
    waiting, seen = list(formulas), set()
    while waiting:
        for monomial in waiting.pop().terms:
            for index, _ in monomial:
                atom = table.atoms[index]
                if index not in seen:
                    seen.add(index)
                    waiting += atom.parts
                    if atom.name == "if_less" and atom.owner in owners:
                        low, high = atom.parts[:2]
                        if not (low - high).is_constant:
                            found[index] = Switch(index, low, high, table.constant(f"shift {index}", 2.0))
    return [found[index] for index in sorted(found)]


def _symbolic_state(
    result: SymbolicSystem, now: Array, b: int, width: int, still: set[int], sizes: Sequence[int]
) -> Groups:
    """The state of a body in symbols: variables times their unit, and constants."""
    table, at = result.table, 0
    groups: list[Groups] = []
    while at < width:
        g = len(groups)
        size = sizes[g] if g < len(sizes) else 1
        unit: Any = 1.0
        if g != 1:
            unit = table.constant(f"unit {b} {g}", 2.0)
            result.units.append((table.index_of(unit), b, g))
        group = []
        for i in range(at, at + size):
            if b * width + i in still:
                group.append(table.constant(f"start {b} {i}", now[..., i]))
            else:
                symbol = table.variable(f"y {b} {i}")
                result.moving.append(b * width + i)
                result.variables.append(table.index_of(symbol))
                group.append(unit * symbol)
        groups.append(tuple(group))
        at += size
    return tuple(groups)


def _make_symbols(table: SymbolTable, name: str, nest: Any) -> Any:
    """Constants for the numbers of a nest; infinite bounds of a window stay numbers."""
    count = iter(range(10**6))

    def make_constant(value: Any) -> Any:
        i = next(count)
        if np.ndim(value) == 0 and math.isinf(value):
            return float(value)
        array = np.asarray(value, dtype=np.float64)
        alike = array.ndim == 0 or (array == array.flat[0]).all()
        return table.constant(f"{name} {i}", np.float64(array.flat[0]) if alike else array)

    return map_leaves(make_constant, tuple(nest))


def _segment_forces(scenario: Scenario, middle: float, in_lanes: bool) -> list[Force]:
    """The forces of a segment, with every time window replaced by always or never."""
    forces = [f for f in scenario.forces if f.kind != "impulse"]
    if in_lanes:
        loads = zip(scenario.of_kind("body"), scenario.load_kernels(), scenario.problem.load_params, strict=True)
        forces = [replace(f, kernel=kernel, params=params, bodies=None) for f, kernel, params in loads]
    result = []
    for original, f in zip([f for f in scenario.forces if f.kind != "impulse"], forces, strict=True):
        if original.has_windows:
            first = [(float(np.ravel(start)[0]), float(np.ravel(stop)[0])) for start, stop in original.windows]
            is_open = any(start <= middle < stop for start, stop in first)
            own = (*original.params[:-1], (-math.inf if is_open else math.inf, math.inf))
            f = replace(f, params=own if f.params is original.params else (f.params[0], own))
        result.append(f)
    return result


def _evaluate_on_symbols(force_or_event: Any, evaluate: Callable[[], Any]) -> Any:
    """Evaluate a force or an event on symbols; raise ForceError if its function cannot be."""
    try:
        return evaluate()
    except Exception as error:
        if force_or_event.function is None:
            raise
        where = locate_error(force_or_event, error)
        raise ForceError(
            f"{force_or_event.name} has no Taylor series: {error}{where}. Write it as arithmetic with ph.sqrt, ph.sin, "
            "ph.cos and ph.if_less, or use method='dop853'."
        ) from error


def _choose_shorter(table: SymbolTable, rates: list[Symbol]) -> list[Symbol]:
    """The rates expanded or not, whichever takes fewer products."""
    flat = [table.expand(rate) for rate in rates]
    found = [rate for rate in flat if rate is not None]
    return found if len(found) == len(rates) and table.count_products(found) < table.count_products(rates) else rates
