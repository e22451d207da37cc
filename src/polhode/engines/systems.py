"""Kernels for interacting bodies: a system advances stage by stage, all its bodies together.

The numbers of a state are contiguous, coordinates before momenta, so that a stage is a sum of slices of the buffer, by
the same formula and in the same order as `methods.runge_kutta.combine_stages`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from polhode.engines.kernels import Layout, Loop, loop, read, unpack_constants, use_wide_vectors, write
from polhode.equations.law import law
from polhode.equations.vectors import minus, plus
from polhode.methods.tableaus import Tableau


def pair_loads(
    kernels: Sequence[Loop], places: Sequence[Any], sizes: Sequence[int], view: Loop, layout: Layout
) -> Loop:
    """Add all pair forces to the wrenches of the bodies, in a fixed order."""
    total: Loop = _no_pairs
    for i, (kernel, place, size) in enumerate(zip(kernels, places, sizes, strict=True)):
        total = _chain_pair_loads(total, kernel, i, place, size, view, layout)
    return total


@law
def _no_pairs(unit: Any, pairs: Any, t: float) -> None:
    return


def _chain_pair_loads(
    rest: Loop, kernel: Loop, i: int, numbers_places: Any, stride: int, view: Loop, layout: Layout
) -> Loop:
    lanes, size, point, body, wrench = layout.lanes, layout.size, layout.point, layout.body, layout.wrench

    @loop
    def total(unit: Any, pairs: Any, t: float) -> None:
        rest(unit, pairs, t)
        joins, numbers = pairs[i]
        for p in range(len(joins)):
            at_a = joins[p, 0] // lanes * size + joins[p, 0] % lanes
            at_b = joins[p, 1] // lanes * size + joins[p, 1] % lanes
            body_a, body_b = unpack_constants(read(unit, at_a, body)), unpack_constants(read(unit, at_b, body))
            a, b = view(read(unit, at_a, point), body_a), view(read(unit, at_b, point), body_b)
            push, turn_a, turn_b = kernel(t, a, body_a, b, body_b, read(numbers, p * stride, numbers_places))
            force_a, torque_a = read(unit, at_a, wrench)
            write(unit, at_a, wrench, (plus(force_a, push), plus(torque_a, turn_a)))
            force_b, torque_b = read(unit, at_b, wrench)
            write(unit, at_b, wrench, (minus(force_b, push), plus(torque_b, turn_b)))

    return total


def stage_slopes(view: Loop, load: Loop, motion_law: Loop, between: Loop, layout: Layout) -> Loop:
    """The slopes (right-hand side) of all bodies at the current stage."""
    lanes, size, point, body = layout.lanes, layout.size, layout.point, layout.body
    params, wrench, slope = layout.params, layout.wrench, layout.slopes[0]

    @loop
    def evaluate(unit: Any, pairs: Any, t: float, beyond: int) -> None:
        """Write the slopes `beyond` the places of the first stage."""
        use_wide_vectors()
        for block in range(len(unit) // size):
            for lane in range(lanes):
                at = block * size + lane
                c = unpack_constants(read(unit, at, body))
                state = view(read(unit, at, point), c)
                write(unit, at, wrench, load(t, state, c, read(unit, at, params)))
        between(unit, pairs, t)
        for block in range(len(unit) // size):
            for lane in range(lanes):
                at = block * size + lane
                c = unpack_constants(read(unit, at, body))
                y = read(unit, at, point)
                force, torque = read(unit, at, wrench)
                write(unit, at + beyond, slope, motion_law(y, view(y, c), c, force, torque))

    return evaluate


def stage_sums(layout: Layout) -> Loop:
    """target = start + h (a1 k1 + a2 k2 + ...), a for the coordinates and b for the momenta; start may be 0."""
    size, stride = layout.size, layout.drift
    first_slope, momenta, end = layout.slopes[0][0][0], layout.state[2][0], layout.drift

    @loop
    def sum_slopes(unit: Any, target: int, starts_at_zero: bool, h: float, a: Any, b: Any, count: int) -> None:
        use_wide_vectors()
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


def all_stages(tableau: Tableau, evaluate: Loop, sum_slopes: Loop, layout: Layout) -> Loop:
    """The slopes of every stage of a step, each from the previous ones."""
    nodes, coordinate_rows, momentum_rows = tableau_arrays(tableau)
    count, point, stride = len(tableau.nodes), layout.point[0][0], layout.drift

    @loop
    def run_stages(unit: Any, pairs: Any, t: float, h: float) -> None:
        for i in range(count):
            sum_slopes(unit, point, False, h, coordinate_rows[i], momentum_rows[i], i)
            evaluate(unit, pairs, t + nodes[i] * h, i * stride)

    return run_stages


def system_sweep(run_stages: Loop, sum_slopes: Loop, accept_step: Loop, tableau: Tableau, layout: Layout) -> Loop:
    """One step of all bodies of a system."""
    a, b = np.array(tableau.coordinate_weights, dtype=float), np.array(tableau.momentum_weights, dtype=float)
    count, target = len(tableau.nodes), layout.point[0][0]

    @loop
    def sweep(unit: Any, pairs: Any, t: float, h: float) -> None:
        run_stages(unit, pairs, t, h)
        sum_slopes(unit, target, False, h, a, b, count)
        accept_step(unit, h)

    return sweep


def tableau_arrays(tableau: Tableau) -> tuple[Any, Any, Any]:
    """Nodes and rows of a tableau as arrays, the rows padded with zeros."""
    count = len(tableau.nodes)
    coordinate_rows, momentum_rows = np.zeros((count, count)), np.zeros((count, count))
    for i in range(count):
        coordinate_rows[i, :i] = [float(x) for x in tableau.coordinate_rows[i]]
        momentum_rows[i, :i] = [float(x) for x in tableau.momentum_rows[i]]
    return np.array(tableau.nodes, dtype=float), coordinate_rows, momentum_rows
