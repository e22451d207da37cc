"""A scenario's numbers alone: a nest of plain floats and arrays, unchecked, that an engine packs or JAX takes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode.equations.formulations import Formulation
from polhode.equations.inertia import BodyConstants
from polhode.equations.law import Groups
from polhode.equations.quaternions import product, to_body, to_world
from polhode.equations.vectors import plus, scaled, times
from polhode.massprops.body import Body
from polhode.model.force import Force
from polhode.model.members import over_bodies, stack_nests
from polhode.model.state import State
from polhode.validation import as_leaves

if TYPE_CHECKING:
    from polhode.model.scenario import Scenario


class Problem(NamedTuple):
    """The numbers of a scenario.  Of a system each is an array over its bodies, of an ensemble over its members."""

    start: Groups
    """The initial state in the formulation's groups; with a pivot: its position, no momentum, and the spin about it."""
    constants: BodyConstants
    """Mass, moments and axes, about the center of mass or about the pivot; then also about the center of mass."""
    load_params: Groups
    """The parameters of the forces on single bodies, force by force."""
    pair_params: Groups
    """The parameters of the forces between two bodies, force by force."""
    event_params: Groups
    """The parameters of the events, event by event."""
    error_floor: Groups
    """Of adaptive methods: errors of position, attitude, momentum and spin that no tolerance forbids."""


def build_problem(scenario: Scenario) -> Problem:
    """The numbers of a valid scenario."""
    constants = body_constants(scenario, scenario.pivot)
    return Problem(
        _initial_groups(scenario),
        constants,
        tuple(_load_params(scenario, f) for f in scenario.of_kind("body")),
        tuple(f.params for f in scenario.of_kind("pair")),
        tuple(over_bodies(e.params, scenario) for e in scenario.events),
        _error_floor(scenario, constants) if scenario.used_method.is_adaptive else (),
    )


def body_constants(scenario: Scenario, pivot: Any) -> BodyConstants:
    """The constants of all bodies about a pivot, or with None about the center of mass."""
    each = [body.constants(pivot) for body in scenario.bodies]
    return each[0] if not scenario.is_system else BodyConstants(*stack_nests(each))


def _initial_groups(scenario: Scenario) -> Groups:
    both = zip(scenario.states, scenario.bodies, strict=True)
    each = [_principal_start(state, body, scenario.pivot, scenario.form) for state, body in both]
    groups: Groups = each[0] if not scenario.is_system else stack_nests(each)
    return groups


def _principal_start(state: State, body: Body, pivot: Any, form: Formulation) -> Groups:
    """A body's start: attitude and spin in its principal axes, about its center of mass or about its pivot."""
    x, q, p, angular_momentum = state.momenta(body)
    constants = body.constants(pivot)
    q_principal = product(q, constants.axes)
    w = to_body(constants.axes, as_leaves(state.angular_velocity_body))
    if pivot is None:
        spin: Any = tuple(component + 0.0 for component in angular_momentum)  # no -0: steps keep none
    else:
        com_to_pivot = to_world(q, constants.com_to_pivot)
        x, p, spin = plus(x, com_to_pivot), scaled(0, com_to_pivot), to_world(q_principal, times(constants.moments, w))
    groups = form.start(x, q_principal, p, spin, constants)
    if not form.keeps_body_rates:
        return groups
    turns = tuple(np.where(np.asarray(i) > 0, c, 0.0) for i, c in zip(constants.inverse_moments, w, strict=True))
    return (*groups[:3], tuple(float(c) if c.ndim == 0 else c for c in turns))  # as given, not by way of L


def _load_params(scenario: Scenario, f: Force) -> Groups:
    """A force's parameters; of one that acts on some bodies only, behind a 1 or 0 for each body."""
    params: Groups = over_bodies(f.params, scenario)
    if f.bodies is None:
        return params
    acts = np.isin(np.arange(len(scenario.bodies)), f.bodies).astype(float)
    return (acts if scenario.is_system else float(acts[0]), params)


def _error_floor(scenario: Scenario, constants: BodyConstants) -> Groups:
    """Errors of position, attitude, momentum and spin that no tolerance forbids, for every body.

    A momentum that moves the body over the whole run by less than the tolerated error of its position, and a spin that
    turns it by less than that of its attitude, do not matter: at rest both are mere rounding.  The positions of bodies
    that act on each other are measured by the size of the system.
    """
    rtol, time = scenario.tolerances[0], scenario.duration
    unit: Any = 1.0
    position: Any
    size: Any
    if scenario.members is None and not scenario.is_system:
        x, y, z = scenario.states[0].position.tolist()
        position, size = 0.0, math.sqrt(x * x + y * y + z * z)
        if scenario.form.keeps_momenta:
            unit = max(constants.moments)
    else:
        sizes = []
        for state in scenario.states:
            x, y, z = np.moveaxis(np.asarray(state.position), -1, 0)
            sizes.append(np.sqrt(x * x + y * y + z * z))
        coupled = bool(scenario.of_kind("pair"))
        each = np.stack(np.broadcast_arrays(*sizes), axis=-1) if scenario.is_system else sizes[0]
        size = each.max(axis=-1, keepdims=True) if coupled else each
        position = rtol[0] * size if coupled else 0.0
        if scenario.form.keeps_momenta:
            unit = np.max(np.broadcast_arrays(*constants.moments), axis=0)
    with np.errstate(all="ignore"):  # what overflows forbids no error
        return (position, 0.0, rtol[0] * constants.mass * size / time, rtol[1] * unit / time)
