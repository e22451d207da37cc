"""Steps stage by stage, all bodies of a unit together: for bodies that act on each other, and for long laws.

The numbers of a state are contiguous, coordinates before momenta, so that a stage is a sum of slices of the buffer, by
the same formula and in the same order as `methods.runge_kutta.combine_stages`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from polhode.equations.inertia import constants_for_forces
from polhode.equations.vectors import minus, plus
from polhode.integrate.loops.fixed_steps import build_acceptance
from polhode.integrate.loops.layout import Layout, Wrench, first_place, read, read_constants, write
from polhode.ir.loops import Loop, Sweep, loop
from polhode.ir.records import Record
from polhode.methods.splitting_tableaus import Composition
from polhode.methods.tableaus import Tableau


class Pair(Record):
    """Two bodies that a force joins."""

    first: int
    second: int


class StageLoops(NamedTuple):
    """The parts of a step that is made stage by stage."""

    evaluate: Loop
    """(unit, pairs, t, beyond): the slopes at the current stage, written `beyond` the places of the first."""
    sum_slopes: Loop
    """(unit, target, starts_at_zero, h, a, b, count)"""
    run_stages: Loop
    """(unit, pairs, t, h): the slopes of every stage."""


def build_stage_loops(
    tableau: Tableau, view: Loop, load: Loop, motion_law: Loop, pair_laws: Sequence[Any], layout: Layout
) -> StageLoops:
    """The loops of a tableau; a pair law is (kernel, places of its parameters, how many they are)."""
    evaluate = _stage_slopes(view, load, motion_law, build_pair_loads(pair_laws, view, layout), layout)
    sum_slopes = _stage_sums(layout)
    return StageLoops(evaluate, sum_slopes, _all_stages(tableau, evaluate, sum_slopes, layout))


def build_pair_loads(pair_laws: Sequence[Any], view: Loop, layout: Layout) -> Loop:
    """Add all pair forces to the wrenches of the bodies, in a fixed order."""
    lanes, size = layout.lanes, layout.size
    acts = tuple(_pair_law(kernel, places, view, layout) for kernel, places, _ in pair_laws)
    strides = tuple(stride for _, _, stride in pair_laws)
    count, at_member = len(acts), layout.member

    @loop
    def add_pairs(unit: Any, pairs: Any, t: float) -> None:
        for i in range(count):
            act, stride = acts[i], strides[i]
            joins, numbers, of_member = pairs[i]
            start = int(unit[at_member]) * of_member
            for p in range(len(joins)):
                a, b = joins[p].first, joins[p].second
                at_a, at_b = a // lanes * size + a % lanes, b // lanes * size + b % lanes
                act(unit, at_a, at_b, numbers, start + p * stride, t)

    return add_pairs


def _pair_law(kernel: Loop, places: Any, view: Loop, layout: Layout) -> Loop:
    point, wrench = layout.point, Wrench(layout.wrench.force, layout.wrench.torque)

    def act(unit: Any, at_a: Any, at_b: Any, numbers: Any, at: Any, t: Any) -> None:
        body_a, body_b = read_constants(unit, at_a, layout), read_constants(unit, at_b, layout)
        a, b = view(read(unit, at_a, point), body_a), view(read(unit, at_b, point), body_b)
        seen_a, seen_b = constants_for_forces(body_a, a.current_mass), constants_for_forces(body_b, b.current_mass)
        push, turn_a, turn_b = kernel(t, a, seen_a, b, seen_b, read(numbers, at, places))
        force_a, torque_a = read(unit, at_a, wrench)
        force_b, torque_b = read(unit, at_b, wrench)
        write(unit, at_a, wrench, (plus(force_a, push), plus(torque_a, turn_a)))
        write(unit, at_b, wrench, (minus(force_b, push), plus(torque_b, turn_b)))

    return act


def _stage_slopes(view: Loop, load: Loop, motion_law: Loop, add_pairs: Loop, layout: Layout) -> Loop:
    """The slopes (right-hand side) of all bodies at the current stage."""
    point, params, wrench, (slope, *_) = layout.point, layout.params, layout.wrench, layout.slopes

    def load_one(unit: Any, at: Any, t: Any) -> None:
        c = read_constants(unit, at, layout)
        write(unit, at, wrench, load(t, view(read(unit, at, point), c), c, read(unit, at, params)))

    def move_one(unit: Any, at: Any, beyond: Any) -> None:
        c, y = read_constants(unit, at, layout), read(unit, at, point)
        write(unit, at + beyond, slope, motion_law(y, view(y, c), c, *read(unit, at, wrench)))

    load_all, move_all = (Sweep(one, layout.lanes, layout.size) for one in (load_one, move_one))

    @loop
    def evaluate(unit: Any, pairs: Any, t: float, beyond: int) -> None:
        load_all(unit, t)
        add_pairs(unit, pairs, t)
        move_all(unit, beyond)

    return evaluate


def _stage_sums(layout: Layout) -> Loop:
    """target = start + h (a1 k1 + a2 k2 + ...), a for the coordinates and b for the momenta; start may be 0."""
    size, stride = layout.size, layout.drift
    first_slope, momenta, end = first_place(layout.slopes), first_place(layout.state[2:]), layout.drift

    @loop
    def sum_slopes(unit: Any, target: int, starts_at_zero: bool, h: float, a: Any, b: Any, count: int) -> None:
        for block in range(len(unit) // size):
            base = block * size
            for i in range(end):
                unit[base + target + i] = 0.0 if starts_at_zero else unit[base + i]
            for j in range(count):
                slope = base + first_slope + j * stride
                if a[j] != 0.0:
                    for i in range(momenta):
                        unit[base + target + i] += (h * a[j]) * unit[slope + i]
                if b[j] != 0.0:
                    for i in range(momenta, end):
                        unit[base + target + i] += (h * b[j]) * unit[slope + i]

    return sum_slopes


def _all_stages(tableau: Tableau, evaluate: Loop, sum_slopes: Loop, layout: Layout) -> Loop:
    """The slopes of every stage of a step, each from the previous ones."""
    nodes, coordinate_rows, momentum_rows = tableau_arrays(tableau, len(layout.slopes))
    count, point, stride = len(tableau.nodes), first_place(layout.point), layout.drift

    @loop
    def run_stages(unit: Any, pairs: Any, t: float, h: float) -> None:
        for i in range(count):
            sum_slopes(unit, point, False, h, coordinate_rows[i], momentum_rows[i], i)
            evaluate(unit, pairs, t + nodes[i] * h, i * stride)

    return run_stages


def staged_step(loops: StageLoops, renormalize: Loop, tableau: Tableau, layout: Layout) -> Loop:
    """One step of all bodies of a unit."""
    length = len(layout.slopes)
    a, b = padded(tableau.coordinate_weights, length), padded(tableau.momentum_weights, length)
    count, target = len(tableau.nodes), first_place(layout.point)
    sum_slopes, run_stages = loops.sum_slopes, loops.run_stages
    accept = build_acceptance(renormalize, layout, layout.point)

    @loop
    def step_all(unit: Any, pairs: Any, t: float, h: float) -> None:
        run_stages(unit, pairs, t, h)
        sum_slopes(unit, target, False, h, a, b, count)
        accept(unit, h)

    return step_all


def staged_splitting(composition: Composition, kick: Loop, drift: Loop, renormalize: Loop, layout: Layout) -> Loop:
    """One step of a splitting method: all bodies are kicked, then all drift."""
    (first, *others), count, state = composition.kicks, len(composition.drifts), layout.state
    drifts, kicks = np.array(composition.drifts), np.array(others)

    def drift_one(unit: Any, at: Any, h: Any) -> None:
        write(unit, at, state, drift(read(unit, at, state), h, read_constants(unit, at, layout)))

    drift_all = Sweep(drift_one, layout.lanes, layout.size)
    accept = build_acceptance(renormalize, layout, state)

    @loop
    def step_all(unit: Any, pairs: Any, t: float, h: float) -> None:
        kick(unit, pairs, t, first * h)
        now = t
        for i in range(count):
            drift_all(unit, drifts[i] * h)
            now = now + drifts[i] * h
            kick(unit, pairs, now, kicks[i] * h)
        accept(unit, h)

    return step_all


def padded(row: Sequence[Any], length: int) -> Any:
    """A row of weights as an array, padded with zeros: rows of one length are compiled once."""
    return np.array([*(float(x) for x in row), *(0.0,) * (length - len(row))])


def tableau_arrays(tableau: Tableau, length: int) -> tuple[Any, Any, Any]:
    """Nodes and rows of a tableau as arrays, the rows padded with zeros."""
    coordinate_rows, momentum_rows = (
        np.array([padded(row, length) for row in rows]) for rows in (tableau.coordinate_rows, tableau.momentum_rows)
    )
    return np.array(tableau.nodes, dtype=float), coordinate_rows, momentum_rows
