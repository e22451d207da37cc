"""Forces and potentials of a scenario evaluated in plain arithmetic, at one time or over all output times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from polhode.equations import matrices, quaternions
from polhode.equations.formulations import FORMULATIONS, StateView
from polhode.equations.inertia import BodyConstants, constants_for_forces
from polhode.equations.law import Groups
from polhode.equations.right_hand_side import restrict_to_bodies
from polhode.equations.vectors import minus, plus
from polhode.errors import InputError
from polhode.massprops.body import Body
from polhode.scenario.force import Force
from polhode.scenario.state import split_groups, stack_components
from polhode.validation import Array

_restrict_to_bodies = lru_cache(maxsize=256)(restrict_to_bodies)


def restricted_kernel(f: Force) -> Callable[..., Any]:
    """The function of a force on single bodies, restricted if it acts on some bodies only."""
    return f.kernel if f.bodies is None else _restrict_to_bodies(f.kernel)


def body_pairs(f: Force, count: int) -> list[tuple[int, int]]:
    """The pairs of `count` bodies that a pair force joins."""
    if f.bodies is not None:
        return [(f.bodies[0], f.bodies[1])]
    return [(a, b) for a in range(count) for b in range(a + 1, count)]


def evaluate_wrenches(
    t: Any, views: Sequence[StateView], constants: Sequence[BodyConstants], forces: Sequence[Force]
) -> list[tuple[Any, Any]]:
    """The force and the torque on each body at time t, in whatever kind of number the views hold."""
    zero = minus(views[0].position, views[0].position)
    constants = [constants_for_forces(c, view.current_mass) for c, view in zip(constants, views, strict=True)]
    loads = [(zero, zero)] * len(views)
    for f in forces:
        if f.kind == "body":
            for i in range(len(views)) if f.bodies is None else f.bodies:
                push, turn = f.kernel(t, views[i], constants[i], f.params)
                loads[i] = (plus(loads[i][0], push), plus(loads[i][1], turn))
        elif f.kind == "pair":
            for a, b in body_pairs(f, len(views)):
                push, turn_a, turn_b = f.kernel(t, views[a], constants[a], views[b], constants[b], f.params)
                loads[a] = (plus(loads[a][0], push), plus(loads[a][1], turn_a))
                loads[b] = (minus(loads[b][0], push), plus(loads[b][1], turn_b))
    return loads


def evaluate_wrenches_over_times(
    times: Array, views: Sequence[StateView], constants: Sequence[BodyConstants], forces: Sequence[Force]
) -> list[tuple[Any, Any]]:
    """The same over many times, which are the first axis of all components of the views.

    A user's function may branch on its numbers: with one among the forces all are evaluated time by time.
    """
    if not any(f.function is not None for f in forces):
        return evaluate_wrenches(times, views, constants, forces)
    moments = np.ravel(times).tolist()
    rows = [
        evaluate_wrenches(t, [view_at_time(view, i) for view in views], constants, forces)
        for i, t in enumerate(moments)
    ]
    return [(_stack_over_time(rows, b, 0), _stack_over_time(rows, b, 1)) for b in range(len(views))]


def view_at_time(view: StateView, index: Any) -> StateView:
    """A view at one time: of plain floats, or of the members' arrays."""
    vectors: Any = (tuple(c[index].tolist() if c[index].ndim == 0 else c[index] for c in vector) for vector in view)
    return StateView(*vectors)


def _stack_over_time(rows: list[Any], body: int, which: int) -> Any:
    return tuple(np.moveaxis(np.array([stack_components(row[body][which]) for row in rows]), -1, 0))


def potential_energy(
    t: Any, views: Sequence[StateView], constants: Sequence[BodyConstants], forces: Sequence[Force]
) -> Any:
    """The sum of the potentials of the forces that have one."""
    total: Any = 0.0
    constants = [constants_for_forces(c, view.current_mass) for c, view in zip(constants, views, strict=True)]
    for f in forces:
        if f.potential is None:
            continue
        if f.kind == "body":
            for i in range(len(views)) if f.bodies is None else f.bodies:
                total = total + f.potential(t, views[i], constants[i], f.params)
        else:
            for a, b in body_pairs(f, len(views)):
                total = total + f.potential(t, views[a], constants[a], views[b], constants[b], f.params)
    return total


def derivative(t: float, y: Array, bodies: Sequence[Body], forces: Sequence[Force]) -> Array:
    """dY/dt of a flat array of 13 or 18 numbers a body, attitudes in body axes."""
    n = len(bodies)
    name = {13 * n: "momentum", 18 * n: "momentum_matrix"}.get(y.size)
    if name is None or y.ndim != 1:
        raise InputError(f"y must hold 13 or 18 numbers for each of {n} bodies, but has the shape {y.shape}")
    form, turned, turned_back = FORMULATIONS[name], *_ATTITUDE_CONVERSIONS[name]
    constants = [body.constants() for body in bodies]
    states: list[Groups] = []
    for part, c in zip(y.reshape(n, -1).tolist(), constants, strict=True):
        x, attitude, p, angular_momentum = split_groups(part, form.sizes)
        states.append((x, turned(attitude, c.axes), p, angular_momentum))
    views = [form.view(state, c) for state, c in zip(states, constants, strict=True)]
    rates: list[float] = []
    for state, c, (push, turn) in zip(states, constants, evaluate_wrenches(t, views, constants, forces), strict=True):
        v, attitude_rate, *momentum_rates = form.rate(state, c, push, turn)
        rates += [*v, *turned_back(attitude_rate, c.axes), *momentum_rates[0], *momentum_rates[1]]
    return np.array(rates)


_ATTITUDE_CONVERSIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "momentum": (quaternions.product, lambda q, axes: quaternions.product(q, quaternions.conjugate(axes))),
    "momentum_matrix": (
        lambda r, axes: matrices.matmul(r, quaternions.matrix(axes)),
        lambda r, axes: matrices.matmul(r, matrices.transpose(quaternions.matrix(axes))),
    ),
}
"""How an attitude is converted from body axes to principal axes and back."""
