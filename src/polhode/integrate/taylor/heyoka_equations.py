"""A scenario's equations for heyoka, between two discontinuities.

The laws are traced once into a graph, of which the normal form is made.  Constant factors become parameters, and
numbers of the state that never change are taken out of it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np

from polhode.equations.inertia import BodyConstants, constants_for_forces
from polhode.equations.quaternions import conjugate, product, squared_norm
from polhode.equations.right_hand_side import build_motion_law, build_view
from polhode.equations.vectors import plus, zero_vector
from polhode.errors import ForceError
from polhode.ir.graph import tracing
from polhode.ir.normal_form import NormalForm, Terms, UndefinedError, index_of, key_of, negate, number
from polhode.ir.numbers import Traced
from polhode.ir.passes import SmoothGraph
from polhode.scenario import force_evaluation
from polhode.scenario.event import Event
from polhode.scenario.force import Force, map_leaves
from polhode.scenario.preflight import locate_error
from polhode.scenario.scenario import Scenario
from polhode.validation import Array

EXPANDED_BODIES = 8
"""Larger systems are not expanded: that takes longer than it saves."""
SWITCH = -1
"""The pseudo-event of a function that switches branches: heyoka stops there, and starts a new series."""


@dataclass
class Switch:
    """Where choices change branches together: what they compare differs by the same function, or its negative.

    To the upper bound of each choice a parameter is added: zero, or just enough to choose the branch at a crossing,
    where rounding decides otherwise.
    """

    difference: Terms
    """It is negative where a choice whose sign is 1 takes its first branch."""
    shifts: dict[int, tuple[Terms, int]]
    """By the atom of the choice: the parameter, and the sign."""


@dataclass
class SegmentEquations:
    """The right-hand side between two discontinuities, each variable in its own unit, and the event functions."""

    form: NormalForm
    in_lanes: bool
    moving: list[int]
    """The indices of the numbers that change, in the state of all bodies one after another."""
    variables: list[int]
    """Their atoms."""
    time: int
    """The atom of the time."""
    groups: list[list[Terms]]
    """The rates, group by group."""
    units: dict[tuple[int, int], Terms]
    """Of each (body, group)."""
    events: list[tuple[int, int, Terms]]
    """(event, body, event function); the event SWITCH is a change of branch: the last ones, in the order of switches"""
    switches: list[Switch]
    """Where functions switch branches."""
    owners: list[Force | Event | None]
    """Of each node of the graph, the force or event whose it is."""

    @property
    def rates(self) -> list[Terms]:
        """The rates of all variables."""
        return [rate for group in self.groups for rate in group]

    def known(self, units: Array | None) -> dict[int, Any]:
        """The values of all constants, given units (bodies or members, groups); None: all units are 1."""
        known = {i: value for i, value in self.form.values.items() if self.form.atoms[i].kind == "constant"}
        for (b, g), unit in self.units.items():
            known[index_of(unit)] = 1.0 if units is None else (units[:, g] if self.in_lanes else units[b, g])
        return known | {index_of(shift): 0.0 for shift in self.shifts.values()}

    @property
    def shifts(self) -> dict[int, Terms]:
        """What is added to the upper bound of a choice, by its atom."""
        return {index: shift for switch in self.switches for index, (shift, _) in switch.shifts.items()}

    def resting(self) -> set[int]:
        """The indices of the variables whose rate is zero."""
        return {i for i, rate in zip(self.moving, self.rates, strict=True) if not self.form.split_constants(rate)}


def build_equations(
    scenario: Scenario, now: Array, middle: float, counts_work: bool, in_lanes: bool
) -> SegmentEquations:
    """The equations in the segment around the time `middle`, which starts from the state `now` (bodies, numbers).

    In lanes there is one body, whose numbers are arrays over non-interacting bodies or ensemble members.
    """
    laws = _Laws(scenario, now, middle, counts_work, in_lanes)
    still: set[int] = set()
    while True:
        system = _read_equations(laws, now, in_lanes, still)
        resting = system.resting()
        if not resting and (in_lanes or len(now) <= EXPANDED_BODIES):
            system.groups = [_choose_shorter(system.form, group) for group in system.groups]
            resting = system.resting()
        if not in_lanes and len(still | resting) == now.size:
            resting.discard(0)  # heyoka needs at least one variable
        if not resting:
            return system
        still |= resting


# The graph of the laws ------------------------------------------------------------------------------------------------
class _Laws:
    """The laws of all bodies in one graph: its leaves are the constants, the numbers of the state, and the time."""

    def __init__(self, scenario: Scenario, now: Array, middle: float, counts_work: bool, in_lanes: bool) -> None:
        self.graph = SmoothGraph()
        self.constants: list[Any] = []
        self.owners: list[Force | Event | None] = []
        """Of each node, the force or event that was being evaluated."""
        self.unit_quaternions: dict[int, list[int]] = {}
        self.rates: list[tuple[int, int, int, int]] = []
        """(body, group, place in the state, node)"""
        self.events: list[tuple[int, int, int]] = []
        """(event, body, node)"""
        with tracing(self.graph):
            self._trace(scenario, now, middle, counts_work, in_lanes)
        self._let_own(None)

    def _trace(self, scenario: Scenario, now: Array, middle: float, counts_work: bool, in_lanes: bool) -> None:
        form, node_of = scenario.form, self.graph.node_of
        groups = list(enumerate((*form.sizes, 1) if counts_work else form.sizes))
        make_view, motion_law = build_view(form), build_motion_law(form, counts_work, False)
        count, place = 1 if in_lanes else len(now), itertools.count()
        states, views, constants = [], [], []
        for b in range(count):
            of_body = scenario.problem.constants if in_lanes else scenario.body_constants(b)
            body = BodyConstants(*self._leaves_of(of_body))
            y = tuple(tuple(self._leaf("state", (b, g), next(place)) for _ in range(size)) for g, size in groups)
            if scenario.renormalize and len(y[1]) == 4:
                for q in (y[1], product(y[1], conjugate(body.axes))):
                    self.unit_quaternions[node_of(squared_norm(q))] = list(map(node_of, q))
            states.append(y)
            constants.append(body)
            views.append(make_view(y, body))
        t = self._leaf("time")
        loads = [(zero_vector(t), zero_vector(t))] * count
        for f in _segment_forces(scenario, middle, in_lanes):
            f = replace(f, params=self._leaves_of(f.params))
            wrenches = self._evaluate(f, force_evaluation.evaluate_wrenches, t, views, constants, [f])
            loads = [(plus(a, push), plus(b, turn)) for (a, b), (push, turn) in zip(loads, wrenches, strict=True)]
        place = itertools.count()
        for b, (y, view, body, load) in enumerate(zip(states, views, constants, loads, strict=True)):
            for g, group in enumerate(motion_law(y, view, body, *load)):
                self.rates += [(b, g, next(place), node_of(rate)) for rate in group]
        for i, e in enumerate(scenario.events):
            params = self._leaves_of(e.params)
            for b in range(count) if e.bodies is None else e.bodies:
                value = self._evaluate(e, e.kernel, t, views[b], constants_for_forces(constants[b]), params)
                self.events.append((i, b, node_of(value)))

    def _leaf(self, kind: str, where: tuple[int, int] = (0, 0), k: int = 0) -> Traced:
        return Traced(self.graph.add("in", (kind, where, k)))

    def _leaves_of(self, nest: Any) -> Any:
        """Leaves for the numbers of a nest; infinite bounds of a window stay numbers."""

        def make_leaf(value: Any) -> Any:
            if np.ndim(value) == 0 and math.isinf(value):
                return float(value)
            array = np.asarray(value, dtype=np.float64)
            alike = array.ndim == 0 or (array == array.flat[0]).all()
            self.constants.append(np.float64(array.flat[0]) if alike else array)
            return self._leaf("constant", k=len(self.constants) - 1)

        return map_leaves(make_leaf, tuple(nest))

    def _evaluate(self, one: Force | Event, function: Callable[..., Any], *arguments: Any) -> Any:
        """Evaluate a force or an event, which owns the new nodes; raise ForceError if it has no Taylor series."""
        self._let_own(None)
        try:
            return function(*arguments)
        except Exception as error:
            _refuse(one, error)
        finally:
            self._let_own(one)

    def _let_own(self, one: Force | Event | None) -> None:
        self.owners += [one] * (len(self.graph.ops) - len(self.owners))


def _refuse(one: Force | Event | None, error: Exception) -> NoReturn:
    """Say that a user's function has no Taylor series."""
    if one is None or one.function is None:
        raise error
    raise ForceError(
        f"{one.name} has no Taylor series: {error}{locate_error(one, error)}. Write it as arithmetic with ph.sqrt, "
        "ph.sin, ph.cos and ph.if_less, or use method='dop853'."
    ) from error


def _segment_forces(scenario: Scenario, middle: float, in_lanes: bool) -> list[Force]:
    """The forces of a segment, with every time window replaced by always or never."""
    forces = [f for f in scenario.acting_forces if f.kind != "impulse"]
    if in_lanes:
        loads = zip(scenario.of_kind("body"), scenario.load_kernels(), scenario.problem.load_params, strict=True)
        forces = [replace(f, kernel=kernel, params=params, bodies=None) for f, kernel, params in loads]
    result = []
    for original, f in zip([f for f in scenario.acting_forces if f.kind != "impulse"], forces, strict=True):
        if original.has_windows:
            first = [(float(np.ravel(start)[0]), float(np.ravel(stop)[0])) for start, stop in original.windows]
            is_open = any(start <= middle < stop for start, stop in first)
            own = (*original.params[:-1], (-math.inf if is_open else math.inf, math.inf))
            f = replace(f, params=own if f.params is original.params else (f.params[0], own))
        result.append(f)
    return result


# Its normal form ------------------------------------------------------------------------------------------------------
def _read_equations(laws: _Laws, now: Array, in_lanes: bool, still: set[int]) -> SegmentEquations:
    """The equations in normal form: the numbers that are still are constants, the others variables times their unit."""
    moving: dict[int, int] = {}
    units: dict[tuple[int, int], Terms] = {}
    of_time: list[Terms] = []

    def make_leaf(form: NormalForm, i: int) -> Terms:
        kind, (b, g), k = laws.graph.args[i][0]
        if kind == "constant":
            return form.constant(laws.constants[k])
        if kind == "time":
            of_time.append(form.variable())
            return of_time[0]
        if g != 1 and (b, g) not in units:
            units[b, g] = form.constant(2.0)
        if k in still:
            return form.constant(now[:, k] if in_lanes else now.flat[k])
        variable = form.variable()
        moving[k] = index_of(variable)
        return variable if g == 1 else form.multiply(units[b, g], variable)

    form = NormalForm(laws.graph, make_leaf, laws.unit_quaternions)
    groups: dict[tuple[int, int], list[Terms]] = {}
    try:
        for b, g, k, i in laws.rates:
            unit = number(1.0) if g == 1 else form.reciprocal(units[b, g])
            groups.setdefault((b, g), []).extend([] if k in still else [form.multiply(form.formula(i), unit)])
        events = [(i, b, form.formula(value)) for i, b, value in laws.events]
    except UndefinedError as error:
        _refuse(laws.owners[error.args[1]], error)
    variables, rates, time = list(moving.values()), list(groups.values()), index_of(of_time[0])
    system = SegmentEquations(form, in_lanes, list(moving), variables, time, rates, units, events, [], laws.owners)
    system.switches = _find_switches(system)
    events += [(SWITCH, 0, switch.difference) for switch in system.switches]
    return system


def _find_switches(system: SegmentEquations) -> list[Switch]:
    """Where forces and events switch branches; not the choices that a law of motion makes to stay away from 0/0."""
    form, found = system.form, set[int]()
    waiting = [*system.rates, *(value for _, _, value in system.events)]
    while waiting:
        for index in {index for monomial in waiting.pop() for index, _ in monomial} - found:
            found.add(index)
            waiting += form.atoms[index].parts
    switches: dict[Any, Switch] = {}
    parameters: dict[Any, Terms] = {}
    for index in sorted(found):
        atom = form.atoms[index]
        if atom.kind != "sel" or system.owners[atom.node] is None:
            continue
        low, high, *_ = atom.parts
        difference = form.add(low, negate(high))
        if not form.may_cross_zero(difference):
            continue
        sign = -1 if key_of(negate(difference)) in switches else 1
        switch = switches.setdefault(key_of(difference if sign > 0 else negate(difference)), Switch(difference, {}))
        bounds = key_of(low), key_of(high)
        if bounds not in parameters:
            parameters[bounds] = form.constant(2.0)
        switch.shifts[index] = parameters[bounds], sign
    return list(switches.values())


def _choose_shorter(form: NormalForm, rates: list[Terms]) -> list[Terms]:
    """The rates expanded or not, whichever takes fewer products."""
    flat = [form.expand(rate) for rate in rates]
    found = [rate for rate in flat if rate is not None]
    return found if len(found) == len(rates) and form.count_products(found) < form.count_products(rates) else rates
