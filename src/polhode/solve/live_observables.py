"""What the page shows of a sample, as one traced function: poses, momenta, forces and energies.

The laws are those of `polhode.results`, in the same order of operations, so the page has the bits of Python.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from polhode.equations import invariants
from polhode.equations.formulations import StateView
from polhode.equations.inertia import BodyConstants, constants_for_forces, euler_rate
from polhode.equations.pivot import angular_momentum_about_pivot, com_acceleration, torque_about_pivot
from polhode.equations.quaternions import product, to_body, to_world
from polhode.equations.right_hand_side import build_view
from polhode.equations.scalar_ops import sqrt
from polhode.equations.vectors import minus, plus, scaled
from polhode.integrate.loops.layout import read, read_constants
from polhode.integrate.prepare import group_like_pairs
from polhode.integrate.straight import sample_function
from polhode.integrate.traced_functions import trace_law
from polhode.ir.targets.source import SourceFunction
from polhode.quantities.own import known_quantities
from polhode.scenario import force_evaluation
from polhode.scenario.force import Force, flatten_leaves, map_leaves
from polhode.scenario.scenario import Scenario
from polhode.solve.write_source import SourceExporter


class Column(NamedTuple):
    """Numbers of one kind in the output of the function."""

    name: str
    start: int
    size: int
    """The number of numbers, of each body or of the whole."""


class Observables(NamedTuple):
    """The function, and what it writes."""

    function: SourceFunction
    columns: list[Column]
    forces: list[dict[str, Any]]
    energies: list[str]
    size: int


class _Writer:
    """Collects what the function writes."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.columns: list[Column] = []

    def add(self, name: str, rows: Sequence[Sequence[Any]]) -> str:
        """One row for each body, or a single one of the whole."""
        flat = [number for row in rows for number in row]
        self.columns.append(Column(name, len(self.values), len(flat)))
        self.values += flat
        return name


def build_observables(exporter: SourceExporter) -> Observables:
    """The function of a scenario."""
    writer = _Writer()
    listed: list[dict[str, Any]] = []
    energies: list[str] = []

    def observe(given: Any) -> None:
        energies.extend(_observe(exporter, given, writer, listed))
        for i, value in enumerate(writer.values):
            given.seen[i] = value

    comment = "What is shown of a sample at time t, in s."
    function = sample_function("polhode_observe", exporter.arrays, observe, comment)
    return Observables(function, writer.columns, listed, energies, len(writer.values))


def _observe(exporter: SourceExporter, given: Any, writer: _Writer, listed: list[dict[str, Any]]) -> list[str]:
    scenario, layout = exporter.scenario, exporter.plan.layout
    t, bodies = given.number("t"), range(exporter.arrays.bodies)
    view_of: Callable[..., StateView] = build_view(scenario.form)
    groups = [read(given.unit, b * layout.size, layout.state) for b in bodies]
    states = [each[: len(scenario.form.sizes)] for each in groups]
    constants = [read_constants(given.unit, b * layout.size, layout) for b in bodies]
    views = [view_of(y, c) for y, c in zip(states, constants, strict=True)]
    forces = [f for f in _with_parameters(exporter, given) if f.kind != "impulse"]
    unit_q = [_normalized(view.orientation) for view in views]
    writer.add("position", [view.position for view in views])
    writer.add("velocity", [view.velocity for view in views])
    writer.add("quaternion", unit_q)
    writer.add("angular_velocity", [view.angular_velocity for view in views])
    writer.add("linear_momentum", [view.linear_momentum for view in views])
    arms: list[Any] = []
    if scenario.pivot is None:
        writer.add("angular_momentum", [view.angular_momentum for view in views])
    else:
        pivots = [_pivot_position(view, q, c) for view, q, c in zip(views, unit_q, constants, strict=True)]
        arms = [minus(view.position, p) for view, p in zip(views, pivots, strict=True)]
        pairs = zip(views, arms, strict=True)
        about = [angular_momentum_about_pivot(v.angular_momentum, arm, v.linear_momentum) for v, arm in pairs]
        writer.add("angular_momentum", about)
        writer.add("pivot_world", pivots)
    wrenches = force_evaluation.evaluate_wrenches(t, views, constants, forces)
    if forces:
        torques = [turn for _, turn in wrenches]
        if arms:
            torques = [torque_about_pivot(turn, arm, push) for (push, turn), arm in zip(wrenches, arms, strict=True)]
        writer.add("torque", torques)
    names = [f.name for f in forces]
    for i, f in enumerate(forces):
        name = f.name if names.count(f.name) == 1 else f"{f.name} {names[: i + 1].count(f.name)}"
        pushes = [push for push, _ in force_evaluation.evaluate_wrenches(t, views, constants, [f])]
        listed.append({"name": name.replace("_", " "), "array": writer.add(f"force_{i}", pushes)})
    if arms and not scenario.is_system:
        reaction = _reaction(views[0], constants[0], states[0][0], *wrenches[0])
        listed.append({"name": "reaction of the pivot", "array": writer.add("reaction", [reaction])})
    if exporter.counts_work:
        writer.add("work", [[_sum(each[-1][0] for each in groups)]])
    for name, one in known_quantities().items():
        if not one.on_page or one.law is None:
            continue
        law = trace_law(scenario, name, one.law, len(one.axes)) if one.is_own else one.law
        seen = zip(views, constants, strict=True)
        values = [law(t, view, constants_for_forces(c, view.current_mass)) for view, c in seen]
        writer.add(f"quantity_{name}", [value if one.axes else (value,) for value in values])
    writer.add("attitude_drift", [[given.unit[layout.drift + b * layout.size]] for b in bodies])
    return _write_energies(writer, scenario, t, views, constants, forces)


def _with_parameters(exporter: SourceExporter, given: Any) -> list[Force]:
    """The forces with their parameters read from the arrays of the unit, those of the first body for all."""
    scenario, layout = exporter.scenario, exporter.plan.layout
    pairs = iter(_pair_starts(exporter))
    body_places = iter(layout.params)
    found = []
    for f in scenario.acting_forces:
        if f.kind == "body":
            places = next(body_places)
            where = places if f.bodies is None else places[1]
            found.append(_with(f, read(given.unit, 0, where)))
        elif f.kind == "pair":
            start = next(pairs)
            found.append(_with(f, _read_in_order(given.parameters, start, f.params)))
        else:
            found.append(f)
    return found


def _read_in_order(numbers: Any, start: int, shape: Any) -> Any:
    """Numbers that lie one after the other, in the nesting of a shape."""
    places = iter(range(start, start + len(flatten_leaves(shape))))
    return map_leaves(lambda _: numbers[next(places)], shape)


def _with(f: Force, params: Any) -> Force:
    """A force with other parameters, unchecked: they are traced numbers."""
    made = copy.copy(f)
    object.__setattr__(made, "params", params)
    return made


def _pair_starts(exporter: SourceExporter) -> list[int]:
    """The place of the parameters of the first pair of each pair force, in the order of the forces."""
    starts = []
    for group, (_, _, forces) in enumerate(group_like_pairs(exporter.scenario.of_kind("pair"))):
        at = exporter.arrays.pair_start(group)
        for f in forces:
            starts.append(at)
            at += len(flatten_leaves(f.params)) * len(force_evaluation.body_pairs(f, len(exporter.scenario.bodies)))
    return starts


def _normalized(q: Any) -> Any:
    """q/|q|, as NumPy computes the length."""
    w, x, y, z = q
    n = sqrt(((w * w + x * x) + y * y) + z * z)
    return (w / n, x / n, y / n, z / n)


def _pivot_position(view: StateView, q: Any, c: BodyConstants) -> Any:
    return plus(view.position, to_world(q, c.com_to_pivot))


def _reaction(view: StateView, c: Any, pivot: Any, push: Any, turn: Any) -> Any:
    arm = minus(view.position, pivot)
    q, torque = product(view.orientation, c.axes), torque_about_pivot(turn, arm, push)
    w_rate = to_world(q, euler_rate(c, to_body(q, view.angular_velocity), to_body(q, torque)))
    return minus(scaled(c.mass, com_acceleration(w_rate, view.angular_velocity, arm)), push)


def _sum(values: Any) -> Any:
    total = None
    for value in values:
        total = value if total is None else total + value
    return total


def _potential(t: Any, views: Any, constants: Any, forces: Sequence[Force]) -> Any:
    if not any(f.potential is not None for f in forces):
        return None
    return force_evaluation.potential_energy(t, views, constants, forces)


def _write_energies(
    writer: _Writer, scenario: Scenario, t: Any, views: Any, constants: Any, forces: Sequence[Force]
) -> list[str]:
    parts = {
        "translational": _sum(invariants.translational_energy(view) for view in views),
        "rotational": _sum(invariants.rotational_energy(view) for view in views),
    }
    potential = _potential(t, views, constants, forces)
    if potential is not None:
        parts["potential"] = potential
        if all(f.potential is not None for f in scenario.acting_forces):
            parts["total"] = _sum(invariants.kinetic_energy(view) for view in views) + potential
    for name, value in parts.items():
        writer.add(f"energy_{name}", [[value]])
    return list(parts)
