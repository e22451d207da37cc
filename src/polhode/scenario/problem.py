"""A scenario's numbers alone: a nest of plain floats and arrays, unchecked, that an engine packs or JAX takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode.equations.formulations import Formulation
from polhode.equations.inertia import BodyConstants, inertia_times
from polhode.equations.law import Groups
from polhode.equations.quaternions import product, to_body, to_world
from polhode.equations.scalar_ops import larger, sqrt
from polhode.equations.vectors import plus, scaled, times
from polhode.massprops.body import Body
from polhode.scenario.force import Force
from polhode.scenario.members import over_bodies, stack_nests
from polhode.scenario.part import Extension
from polhode.scenario.state import State
from polhode.validation import Array, as_leaves

if TYPE_CHECKING:
    from polhode.scenario.scenario import Scenario


class Problem(NamedTuple):
    """The numbers of a scenario.  Of a system each is an array over its bodies, of an ensemble over its members."""

    start: Groups
    """The initial state in the formulation's groups; with a pivot: its position, no momentum, and the spin about it."""
    constants: BodyConstants
    """Mass, moments and axes, about the center of mass or about the pivot; then also about the center of mass."""
    load_params: Groups
    """The parameters of the forces on single bodies, force by force; then those of the laws that drive parts."""
    pair_params: Groups
    """The parameters of the forces between two bodies, force by force."""
    event_params: Groups
    """The parameters of the events, event by event."""
    error_floor: Groups
    """Of adaptive methods: errors that no tolerance forbids, of position, attitude, momentum, spin and parts."""


def build_problem(scenario: Scenario) -> Problem:
    """The numbers of a valid scenario."""
    problem = Problem(
        _initial_groups(scenario),
        body_constants(scenario, scenario.pivot),
        (
            *(_load_params(scenario, f) for f in scenario.of_kind("body")),
            *(group for part in scenario.parts for group in part.drive_params(scenario)),
        ),
        tuple(f.params for f in scenario.of_kind("pair")),
        tuple(over_bodies(e.params, scenario) for e in scenario.events),
        (),
    )
    return with_error_floor(problem, scenario)


def with_error_floor(problem: Problem, scenario: Scenario) -> Problem:
    """The numbers with the error floor that the tolerances of a scenario give."""
    is_adaptive = scenario.used_method.is_adaptive
    return problem._replace(error_floor=_error_floor(scenario, problem.constants) if is_adaptive else ())


def body_constants(scenario: Scenario, pivot: Any) -> BodyConstants:
    """The constants of all bodies about a pivot, or with None about the center of mass."""
    each = [constants_of_body(scenario, i, pivot) for i in range(len(scenario.bodies))]
    return each[0] if not scenario.is_system else BodyConstants(*stack_nests(each))


def constants_of_body(scenario: Scenario, i: int, pivot: Any) -> BodyConstants:
    """The constants of one body of a system, with its parts, about a pivot or with None about the center of mass."""
    body = scenario.bodies[i]
    constants = body.constants(pivot)
    if not scenario.is_extended:
        return constants
    extension = Extension(constants, _tensor_about(body, pivot))
    for part in scenario.parts:
        extension = part.extend(scenario, i, extension)
    return extension.constants


def _tensor_about(body: Body, pivot: Any) -> Array:
    """The inertia about the center of mass or a pivot, body axes."""
    tensor: Array = np.asarray(body.inertia_body)
    if pivot is None:
        return tensor
    r = np.asarray(pivot)[..., None]
    squared = (r * r).sum(axis=-2, keepdims=True)
    shifted: Array = tensor + np.asarray(body.mass)[..., None, None] * (squared * np.eye(3) - r * r.swapaxes(-1, -2))
    return shifted


def _extended_start(scenario: Scenario, i: int) -> Groups:
    """A start with what parts add to it: x, q of the body axes, P, L of all together, and their own groups."""
    state, body, pivot = scenario.states[i], scenario.bodies[i], scenario.pivot
    x, q, p, _ = state.momenta(body)
    constants, w = constants_of_body(scenario, i, pivot), as_leaves(state.angular_velocity_body)
    spin = inertia_times(constants, w)
    more: list[Any] = []
    for part in scenario.parts:
        linear, angular, groups = part.start(scenario, i, constants)
        p = p if linear is None else plus(p, to_world(q, linear))
        spin = spin if angular is None else plus(spin, angular)
        more += groups
    spin = to_world(q, spin)
    if pivot is not None:
        com_to_pivot = to_world(q, constants.com_to_pivot)
        x, p = plus(x, com_to_pivot), scaled(0, com_to_pivot)
    return (x, q, p, tuple(component + 0.0 for component in spin), *more)


def _initial_groups(scenario: Scenario) -> Groups:
    both = zip(scenario.states, scenario.bodies, strict=True)
    if scenario.is_extended:
        each = [_extended_start(scenario, i) for i in range(len(scenario.bodies))]
    else:
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
    turns = (_where_it_turns(i, c) for i, c in zip(constants.inverse_moments, w, strict=True))
    return (*groups[:3], tuple(turns))  # as given, not by way of L


def _where_it_turns(inverse_moment: Any, rate: Any) -> Any:
    """A component of the angular velocity; 0 about an axis about which nothing turns."""
    if type(inverse_moment) is float and type(rate) is float:
        return rate if inverse_moment > 0 else 0.0
    turns = np.where(np.asarray(inverse_moment) > 0, rate, 0.0)
    return float(turns) if turns.ndim == 0 else turns


def _load_params(scenario: Scenario, f: Force) -> Groups:
    """A force's parameters; of one that acts on some bodies only, behind a 1 or 0 for each body."""
    params: Groups = over_bodies(f.params, scenario)
    if f.bodies is None:
        return params
    acts = np.isin(np.arange(len(scenario.bodies)), f.bodies).astype(float)
    return (acts if scenario.is_system else float(acts[0]), params)


def _error_floor(scenario: Scenario, constants: BodyConstants) -> Groups:
    """Errors of position, attitude, momentum, spin and of parts that no tolerance forbids, for every body.

    A momentum that moves the body over the whole run by less than the tolerated error of its position, and a spin that
    turns it by less than that of its attitude, do not matter: at rest both are mere rounding.  Nor does the momentum of
    a part that turns the part, whatever the size of its body, by less than that.  The positions of bodies that act on
    each other are measured by the size of the system.
    """
    rtol, time = scenario.tolerances[0], scenario.duration
    unit: Any = 1.0
    position: Any
    size: Any
    if scenario.members is None and not scenario.is_system:
        x, y, z = as_leaves(scenario.states[0].position)
        position, size = 0.0, sqrt(x * x + y * y + z * z)
        if scenario.form.keeps_momenta:
            unit = larger(larger(*constants.moments[:2]), constants.moments[2])
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
        spin = rtol[1] * unit / time
        more = tuple(rtol[1] * each / time for part in scenario.parts for each in part.units(constants))
        return position, 0.0, rtol[0] * constants.mass * size / time, spin, *more
