"""The inner loops of bodies that feel each other: a system advances stage by stage, all its bodies together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from polhode.engines.kernels import Layout, Loop, constants, loop, read, use_wide_vectors, write
from polhode.equations.law import Groups, law
from polhode.equations.number import larger
from polhode.equations.steps import combined, groups_error, mixed_error
from polhode.equations.vectors import minus, plus


def pair_loads(kernels: Sequence[Loop], places: Sequence[Groups], sizes: Sequence[int], view: Loop, layout: Layout) -> Loop:
    """The sum of all pair forces, added to the bodies' wrenches in a fixed order."""
    total: Loop = _no_pairs
    for i, (kernel, place, size) in enumerate(zip(kernels, places, sizes, strict=True)):
        total = _joined(total, kernel, i, place, size, view, layout)
    return total


@law
def _no_pairs(unit: Any, pairs: Any, t: float) -> None:
    return


def _joined(rest: Loop, kernel: Loop, i: int, numbers_places: Groups, stride: int, view: Loop, layout: Layout) -> Loop:
    lanes, size, point, body, wrench = layout.lanes, layout.size, layout.point, layout.body, layout.wrench

    @loop
    def total(unit: Any, pairs: Any, t: float) -> None:
        rest(unit, pairs, t)
        joins, numbers = pairs[i]
        for p in range(len(joins)):
            at_a = joins[p, 0] // lanes * size + joins[p, 0] % lanes
            at_b = joins[p, 1] // lanes * size + joins[p, 1] % lanes
            body_a, body_b = constants(read(unit, at_a, body)), constants(read(unit, at_b, body))
            a, b = view(read(unit, at_a, point), body_a), view(read(unit, at_b, point), body_b)
            push, turn_a, turn_b = kernel(t, a, body_a, b, body_b, read(numbers, p * stride, numbers_places))
            force_a, torque_a = read(unit, at_a, wrench)
            write(unit, at_a, wrench, (plus(force_a, push), plus(torque_a, turn_a)))
            force_b, torque_b = read(unit, at_b, wrench)
            write(unit, at_b, wrench, (minus(force_b, push), plus(torque_b, turn_b)))

    return total


def stage_slopes(view: Loop, load: Loop, moved: Loop, between: Loop, layout: Layout) -> Loop:
    """The slopes of all bodies at their stage points."""
    lanes, size, point, body = layout.lanes, layout.size, layout.point, layout.body
    params, wrench, slope = layout.params, layout.wrench, layout.slopes[0]

    @loop
    def evaluate(unit: Any, pairs: Any, t: float, beyond: int) -> None:
        """The slopes go into the places of the first stage, `beyond` further."""
        use_wide_vectors()
        for block in range(len(unit) // size):
            for lane in range(lanes):
                at = block * size + lane
                c = constants(read(unit, at, body))
                state = view(read(unit, at, point), c)
                write(unit, at, wrench, load(t, state, c, read(unit, at, params)))
        between(unit, pairs, t)
        for block in range(len(unit) // size):
            for lane in range(lanes):
                at = block * size + lane
                c = constants(read(unit, at, body))
                y = read(unit, at, point)
                force, torque = read(unit, at, wrench)
                write(unit, at + beyond, slope, moved(y, view(y, c), c, force, torque))

    return evaluate


def all_stages(stages: Groups, evaluate: Loop, layout: Layout) -> Loop:
    """The slopes of every stage of a step, each from the ones before it."""
    lanes, size, state, point, slopes = layout.lanes, layout.size, layout.state, layout.point, layout.slopes
    stride = slopes[1][0][0] - slopes[0][0][0] if len(slopes) > 1 else 0

    @law
    def run(unit: Any, pairs: Any, t: float, h: float, left: Groups, coming: Groups, known: Groups) -> None:
        if len(left) == 0:
            return
        c, a, b = left[0]
        for block in range(len(unit) // size):
            for lane in range(lanes):
                at = block * size + lane
                write(unit, at, point, combined(read(unit, at, state), h, a, b, read(unit, at, known)))
        evaluate(unit, pairs, t + c * h, len(known) * stride)
        run(unit, pairs, t, h, left[1:], coming[1:], known + (coming[0],))

    @law
    def run_all(unit: Any, pairs: Any, t: float, h: float) -> None:
        run(unit, pairs, t, h, stages, slopes, ())

    return run_all


def system_sweep(run_stages: Loop, weights: Groups, tidy: Loop, layout: Layout) -> Loop:
    """One step of all bodies of a system."""
    lanes, size, state, slopes, watch = layout.lanes, layout.size, layout.state, layout.slopes, layout.watch
    a, b = weights

    @loop
    def sweep(unit: Any, pairs: Any, t: float, h: float) -> None:
        run_stages(unit, pairs, t, h)
        for block in range(len(unit) // size):
            for lane in range(lanes):
                at = block * size + lane
                y = combined(read(unit, at, state), h, a, b, read(unit, at, slopes))
                tidied, watched = tidy(y[:4], h)
                write(unit, at, state, tidied + y[4:])
                unit[watch + at] = larger(unit[watch + at], watched)

    return sweep


def system_attempt(run_stages: Loop, weights: Groups, errors: Groups, layout: Layout) -> Loop:
    """An adaptive step tried on all bodies of a system; the error is that of the worst."""
    lanes, size, state, slopes, trial = layout.lanes, layout.size, layout.state, layout.slopes, layout.trial
    a, b = weights
    fifth, third = errors

    @loop
    def attempt(unit: Any, pairs: Any, t: float, h: float, rtol: float, atol: Groups) -> float:
        run_stages(unit, pairs, t, h)
        worst = 0.0
        for block in range(len(unit) // size):
            for lane in range(lanes):
                at = block * size + lane
                y, k = read(unit, at, state), read(unit, at, slopes)
                new = combined(y, h, a, b, k)
                nothing = combined(y, -1.0, (1.0,), (1.0,), (y,))
                error_5 = groups_error(y, new, k[0], h, combined(nothing, h, fifth, fifth, k), rtol, atol)
                error_3 = groups_error(y, new, k[0], h, combined(nothing, h, third, third, k), rtol, atol)
                write(unit, at, trial, new)
                error = mixed_error(error_5, error_3)
                worst = error if not error <= worst else worst
        return worst

    return attempt
