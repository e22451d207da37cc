"""A scenario's equations for heyoka, between two discontinuities.

The laws are traced once into a graph, of which the normal form is made.  Constant factors become parameters, and
numbers of the state that never change are taken out of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from polhode.equations.inertia import BodyConstants, constants_for_forces
from polhode.equations.quaternions import conjugate, product, squared_norm
from polhode.equations.right_hand_side import build_motion_law, build_view
from polhode.equations.vectors import plus, zero_vector
from polhode.errors import ForceError
from polhode.ir.graph import tracing
from polhode.ir.normal_form import NormalForm, SmoothGraph, Terms, UndefinedError, index_of, negate
from polhode.ir.numbers import Traced
from polhode.scenario import force_evaluation
from polhode.scenario.event import Event
from polhode.scenario.force import Force, map_leaves
from polhode.scenario.preflight import locate_error
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import split_groups
from polhode.validation import Array

EXPANDED_BODIES = 8
"""Larger systems are not expanded: that takes longer than it saves."""
SWITCH = -1
"""The pseudo-event of a user's function that switches branches: heyoka stops there, and starts a new series."""


class Switch(NamedTuple):
    """A place where a user's function switches branches: one branch where low < high + shift, else the other."""

    atom: int
    """The index of the choice among the atoms."""
    low: Terms
    high: Terms
    shift: Terms
    """A parameter: zero, or just enough to choose the branch at a crossing, where rounding decides otherwise."""


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
    """(event, body, event function); the event SWITCH is a change of branch in a user's function"""
    switches: list[Switch]

    @property
    def rates(self) -> list[Terms]:
        """The rates of all variables."""
        return [rate for group in self.groups for rate in group]

    def known(self, units: Array | None) -> dict[int, Any]:
        """The values of all constants, given units (bodies or members, groups); None: all units are 1."""
        known = {i: value for i, value in self.form.values.items() if self.form.atoms[i].kind == "constant"}
        for (b, g), unit in self.units.items():
            known[index_of(unit)] = 1.0 if units is None else (units[:, g] if self.in_lanes else units[b, g])
        return known | {index_of(switch.shift): 0.0 for switch in self.switches}

    def resting(self) -> set[int]:
        """The indices of the variables whose rate is zero."""
        return {i for i, rate in zip(self.moving, self.rates, strict=True) if not self.form.split_constants(rate)}


def build_equations(
    scenario: Scenario, now: Array, middle: float, counts_work: bool, in_lanes: bool
) -> SegmentEquations:
    """The equations in the segment around the time `middle`, which starts from the state `now` (bodies, numbers).

    In lanes there is one body, whose numbers are arrays over non-interacting bodies or ensemble members.
    """
    laws = _trace_laws(scenario, now.shape[1], 1 if in_lanes else len(now), middle, counts_work, in_lanes)
    still: set[int] = set()
    while True:
        system = _read_equations(laws, scenario, now, in_lanes, still)
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

    def __init__(self, scenario: Scenario) -> None:
        self.graph = SmoothGraph()
        self.constants: list[Any] = []
        self.owners: list[str] = []
        """Whose each node is: the name of the force or event that was being evaluated."""
        self.unit_quaternions: dict[int, list[int]] = {}
        self.rates: list[tuple[int, int, list[int]]] = []
        """(body, group, nodes of the rates)"""
        self.events: list[tuple[int, int, int]] = []
        """(event, body, node of the event function)"""
        own: list[Force | Event] = [f for f in scenario.forces if f.function is not None]
        self.of_user = {one.name: one for one in [*own, *scenario.events]}

    def leaf(self, kind: str, i: int) -> Traced:
        return Traced(self.graph.add("in", (kind, (), i)))

    def leaves_of(self, nest: Any) -> Any:
        """Leaves for the numbers of a nest; infinite bounds of a window stay numbers."""

        def make_leaf(value: Any) -> Any:
            if np.ndim(value) == 0 and math.isinf(value):
                return float(value)
            array = np.asarray(value, dtype=np.float64)
            alike = array.ndim == 0 or (array == array.flat[0]).all()
            self.constants.append(np.float64(array.flat[0]) if alike else array)
            return self.leaf("constant", len(self.constants) - 1)

        return map_leaves(make_leaf, tuple(nest))

    def assume_unit_norm(self, quaternion: Any) -> None:
        self.unit_quaternions[self.graph.node_of(squared_norm(quaternion))] = [part.i for part in quaternion]

    def evaluate(self, one: Force | Event, function: Callable[..., Any], *arguments: Any) -> Any:
        """Evaluate a force or an event, whose nodes are then its own; raise ForceError if it has no Taylor series."""
        self.own_nodes("")
        try:
            return function(*arguments)
        except Exception as error:
            if one.function is None:
                raise
            raise _refuse(one, error) from error
        finally:
            self.own_nodes(one.name)

    def own_nodes(self, name: str) -> None:
        """Whose the nodes are that are new."""
        self.owners += [name] * (len(self.graph.ops) - len(self.owners))


def _refuse(one: Force | Event, error: Exception) -> ForceError:
    return ForceError(
        f"{one.name} has no Taylor series: {error}{locate_error(one, error)}. Write it as arithmetic with ph.sqrt, "
        "ph.sin, ph.cos and ph.if_less, or use method='dop853'."
    )


def _trace_laws(scenario: Scenario, width: int, count: int, middle: float, counts_work: bool, in_lanes: bool) -> _Laws:
    laws, form, pivoted = _Laws(scenario), scenario.form, scenario.pivot is not None
    states, views, constants = [], [], []
    make_view, motion_law = build_view(form, pivoted), build_motion_law(form, pivoted, counts_work, False)
    with tracing(laws.graph):
        for b in range(count):
            of_body = scenario.problem.constants if in_lanes else scenario.bodies[b].constants(scenario.pivot)
            body = BodyConstants(*laws.leaves_of(of_body))
            y = split_groups([laws.leaf("state", b * width + i) for i in range(width)], _group_sizes(scenario, width))
            q = y[1]
            if scenario.renormalize and len(q) == 4:
                laws.assume_unit_norm(q)
                laws.assume_unit_norm(product(q, conjugate(body.axes)))
            states.append(y)
            constants.append(body)
            views.append(make_view(y, body))
        t = laws.leaf("time", 0)
        loads = [(zero_vector(t), zero_vector(t))] * count
        for f in _segment_forces(scenario, middle, in_lanes):
            f = replace(f, params=laws.leaves_of(f.params))
            wrenches = laws.evaluate(f, force_evaluation.evaluate_wrenches, t, views, constants, [f])
            loads = [(plus(a, push), plus(b, turn)) for (a, b), (push, turn) in zip(loads, wrenches, strict=True)]
        for b, (y, view, body, load) in enumerate(zip(states, views, constants, loads, strict=True)):
            groups = motion_law(y, view, body, *load)
            laws.rates += [(b, g, list(map(laws.graph.node_of, group))) for g, group in enumerate(groups)]
        for i, e in enumerate(scenario.events):
            params = laws.leaves_of(e.params)
            for b in range(count) if e.bodies is None else e.bodies:
                value = laws.evaluate(e, e.kernel, t, views[b], constants_for_forces(constants[b]), params)
                laws.events.append((i, b, laws.graph.node_of(value)))
    laws.own_nodes("")
    return laws


def _group_sizes(scenario: Scenario, width: int) -> tuple[int, ...]:
    """How many numbers each group of the state has, with the work as one more if it is counted."""
    sizes = scenario.form.sizes
    return sizes if width == sum(sizes) else (*sizes, 1)


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


# Its normal form ------------------------------------------------------------------------------------------------------
def _read_equations(laws: _Laws, scenario: Scenario, now: Array, in_lanes: bool, still: set[int]) -> SegmentEquations:
    """The equations in normal form: the numbers that are still are constants, the others variables times their unit."""
    width = now.shape[1]
    group_of = [g for g, size in enumerate(_group_sizes(scenario, width)) for _ in range(size)]
    moving: dict[int, int] = {}
    units: dict[tuple[int, int], Terms] = {}
    of_time: list[int] = []

    def make_leaf(form: NormalForm, i: int) -> Terms:
        kind, _, k = laws.graph.args[i][0]
        if kind == "constant":
            return form.constant(laws.constants[k])
        if kind == "time":
            t = form.variable()
            of_time.append(index_of(t))
            return t
        b, at = divmod(k, width)
        g = group_of[at]
        if g != 1 and (b, g) not in units:
            units[b, g] = form.constant(2.0)
        if k in still:
            return form.constant((now if in_lanes else now[b])[..., at])
        variable = form.variable()
        moving[k] = index_of(variable)
        return variable if g == 1 else form.multiply(units[b, g], variable)

    form = NormalForm(laws.graph, make_leaf, laws.owners, laws.unit_quaternions)
    groups: list[list[Terms]] = []
    try:
        for b, g, rates in laws.rates:
            own = [form.formula(i) for k, i in enumerate(rates, b * width + group_of.index(g)) if k not in still]
            groups.append(own if g == 1 else [form.multiply(rate, form.reciprocal(units[b, g])) for rate in own])
        events = [(i, b, form.formula(value)) for i, b, value in laws.events]
    except UndefinedError as error:
        if (culprit := laws.of_user.get(error.args[1])) is None:
            raise
        raise _refuse(culprit, error) from error
    formulas = [formula for group in groups for formula in group] + [value for _, _, value in events]
    switches = _find_switches(form, formulas, laws.of_user)
    events += [(SWITCH, 0, form.add(switch.low, negate(switch.high))) for switch in switches]
    return SegmentEquations(
        form, in_lanes, list(moving), list(moving.values()), of_time[0], groups, units, events, switches
    )


def _find_switches(form: NormalForm, formulas: list[Terms], owners: Container[str]) -> list[Switch]:
    """The places where the functions of these owners switch branches."""
    found: dict[int, Switch] = {}
    waiting = list(formulas)
    seen: set[int] = set()
    while waiting:
        for index in {index for monomial in waiting.pop() for index, _ in monomial} - seen:
            atom = form.atoms[index]
            seen.add(index)
            waiting += atom.parts
            if atom.kind == "sel" and atom.owner in owners:
                low, high = atom.parts[:2]
                if not form.is_constant(form.add(low, negate(high))):
                    found[index] = Switch(index, low, high, form.constant(2.0))
    return [found[index] for index in sorted(found)]


def _choose_shorter(form: NormalForm, rates: list[Terms]) -> list[Terms]:
    """The rates expanded or not, whichever takes fewer products."""
    flat = [form.expand(rate) for rate in rates]
    found = [rate for rate in flat if rate is not None]
    return found if len(found) == len(rates) and form.count_products(found) < form.count_products(rates) else rates
