"""A scenario's numbers alone: a nest of plain floats and arrays, unchecked, that an engine packs or JAX takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode.equations.formulations import Formulation
from polhode.equations.gyrostat import RotorConstants, sum_along_axes
from polhode.equations.inertia import BodyConstants, inertia_times
from polhode.equations.law import Groups
from polhode.equations.quaternions import product, to_body, to_world
from polhode.equations.scalar_ops import larger, sqrt
from polhode.equations.vectors import dot, plus, scaled, times
from polhode.errors import InertiaError
from polhode.massprops.body import Body
from polhode.scenario.force import Force
from polhode.scenario.members import over_bodies, stack_nests
from polhode.scenario.state import State
from polhode.validation import Array, as_leaves

if TYPE_CHECKING:
    from polhode.scenario.rotor import Rotor
    from polhode.scenario.scenario import Scenario


class Problem(NamedTuple):
    """The numbers of a scenario.  Of a system each is an array over its bodies, of an ensemble over its members."""

    start: Groups
    """The initial state in the formulation's groups; with a pivot: its position, no momentum, and the spin about it."""
    constants: BodyConstants
    """Mass, moments and axes, about the center of mass or about the pivot; then also about the center of mass."""
    load_params: Groups
    """The parameters of the forces on single bodies, force by force; with rotors those of all rotors come last."""
    pair_params: Groups
    """The parameters of the forces between two bodies, force by force."""
    event_params: Groups
    """The parameters of the events, event by event."""
    error_floor: Groups
    """Of adaptive methods: errors of position, attitude, momentum, spin and of each rotor that no tolerance forbids."""


def build_problem(scenario: Scenario) -> Problem:
    """The numbers of a valid scenario."""
    problem = Problem(
        _initial_groups(scenario),
        body_constants(scenario, scenario.pivot),
        tuple(_load_params(scenario, f) for f in scenario.of_kind("body")) + _rotor_params(scenario),
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
    """The constants of one body of a system, with its rotors, about a pivot or with None about the center of mass."""
    body = scenario.bodies[i]
    constants = body.constants(pivot)
    if not scenario.is_extended:
        return constants
    if scenario.mass_course is not None:
        constants = constants._replace(course=scenario.mass_course.piece(scenario.start_time, body))
    if not scenario.rotors and scenario.added_mass is None:
        return constants
    rotors = tuple(_rotor_constants(rotor, rotor.body == i) for rotor in scenario.rotors)
    tensor = np.asarray(body.inertia_body)
    if pivot is not None:
        r = np.asarray(pivot)[..., None]
        squared = (r * r).sum(axis=-2, keepdims=True)
        tensor = tensor + np.asarray(body.mass)[..., None, None] * (squared * np.eye(3) - r * r.swapaxes(-1, -2))
    for rotor in scenario.rotors:
        if rotor.body == i:
            a = rotor.axis[..., None]
            tensor = tensor - np.asarray(rotor.inertia)[..., None, None] * (a * a.swapaxes(-1, -2))
    _check_carries_rotors(tensor, i)
    if scenario.added_mass is not None:
        inverse = _invert(_mass_matrix(body.mass, tensor, scenario.added_mass[i]))
        added = (_entries(inverse[..., :3, :3]), _entries(inverse[..., :3, 3:]))
        return constants._replace(rotors=rotors, inverse_tensor=_entries(inverse[..., 3:, 3:]), added=added)
    return constants._replace(rotors=rotors, inverse_tensor=_entries(_invert(tensor)))


def _mass_matrix(mass: Any, tensor: Array, added: Array) -> Array:
    """The 6 x 6 matrix of a body and the fluid around it; its total must resist every motion."""
    members = np.broadcast_shapes(np.shape(mass), tensor.shape[:-2], added.shape[:-2])
    total = np.zeros((*members, 6, 6))
    total[..., :3, :3], total[..., 3:, 3:] = np.asarray(mass)[..., None, None] * np.eye(3), tensor
    total = total + added
    size = np.sqrt(np.abs(np.diagonal(total, axis1=-2, axis2=-1)))
    scaled_total = total / np.where(size > 0, size, 1)[..., :, None] / np.where(size > 0, size, 1)[..., None, :]
    if not np.linalg.eigvalsh(scaled_total).min() > 0:
        raise InertiaError(
            "the mass matrix of the body and its added mass is not positive definite: some motion would have no "
            "inertia, or a negative one. Are the entries in SI units, about the center of mass, in body axes, velocity "
            "before rotation?"
        )
    return total


def _invert(matrix: Array) -> Array:
    """The inverse of a symmetric matrix, symmetric to the last bit."""
    inverse = np.linalg.inv(matrix)
    return np.asarray((inverse + inverse.swapaxes(-1, -2)) / 2)


def _entries(matrix: Array) -> Any:
    """A 3 x 3 matrix as nine numbers, each perhaps over members."""
    return as_leaves(matrix.reshape(*matrix.shape[:-2], 9))


def _rotor_constants(rotor: Rotor, is_carried: bool) -> RotorConstants:
    if not is_carried:
        return RotorConstants((0.0, 0.0, 0.0), 0.0, 0.0)
    return RotorConstants(as_leaves(rotor.axis), rotor.inertia, 1 / rotor.inertia)


def _check_carries_rotors(rest: Array, i: int) -> None:
    """Refuse rotors with more inertia than the whole body: what is left without them must resist rotation."""
    least = np.linalg.eigvalsh(rest).min()
    if not least > 0:
        raise InertiaError(
            f"the moments of the rotors exceed that of body {i}, which carries them, about some axis (by {-least:.3g} "
            "kg m2): the inertia of the body is that of the whole, with the rotors in it, locked"
        )


def _rotor_params(scenario: Scenario) -> Groups:
    """The parameters of all rotors: (command, largest torque, 1/largest speed, taper, those of its law) each."""
    if not scenario.rotors:
        return ()
    each = tuple(
        (rotor.command, rotor.max_torque, rotor.inverse_max_speed, rotor.taper, rotor.params)
        for rotor in scenario.rotors
    )
    return (over_bodies(each, scenario),)


def _extended_start(scenario: Scenario, i: int) -> Groups:
    """A start with rotors: x, q of the body axes, P, L of body and rotors, H of each rotor, and the time if needed."""
    state, body, pivot = scenario.states[i], scenario.bodies[i], scenario.pivot
    x, q, p, _ = state.momenta(body)
    constants, w = constants_of_body(scenario, i, pivot), as_leaves(state.angular_velocity_body)
    speeds = [rotor.speed if rotor.body == i else 0.0 for rotor in scenario.rotors]
    momenta = tuple(
        inertia * (dot(axis, w) + speed) for (axis, inertia, _), speed in zip(constants.rotors, speeds, strict=True)
    )
    relative = tuple(inertia * speed for (_, inertia, _), speed in zip(constants.rotors, speeds, strict=True))
    spin = inertia_times(constants, w)
    if relative:
        spin = plus(spin, sum_along_axes(constants.rotors, relative))
    if scenario.added_mass is not None:
        moved = np.einsum("...ij,...j->...i", scenario.added_mass[i], _motion_of(state))
        p = plus(p, to_world(q, as_leaves(moved[..., :3])))
        spin = plus(spin, as_leaves(moved[..., 3:]))
    spin = to_world(q, spin)
    if pivot is not None:
        com_to_pivot = to_world(q, constants.com_to_pivot)
        x, p = plus(x, com_to_pivot), scaled(0, com_to_pivot)
    more = ((momenta,) if momenta else ()) + (((scenario.start_time,),) if scenario.mass_course is not None else ())
    return (x, q, p, tuple(component + 0.0 for component in spin), *more)


def _motion_of(state: State) -> Array:
    """(v, w) in body axes."""
    velocity = to_body(as_leaves(state.quaternion_wxyz), as_leaves(state.velocity))
    return np.stack(np.broadcast_arrays(*velocity, *as_leaves(state.angular_velocity_body)), axis=-1)


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
    """Errors of position, attitude, momentum, spin and of each rotor that no tolerance forbids, for every body.

    A momentum that moves the body over the whole run by less than the tolerated error of its position, and a spin that
    turns it by less than that of its attitude, do not matter: at rest both are mere rounding.  Nor does the momentum of
    a rotor that turns the rotor, whatever the size of its body, by less than that.  The positions of bodies that act on
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
        wheels = tuple(rtol[1] * inertia / time for _, inertia, _ in constants.rotors)
        return position, 0.0, rtol[0] * constants.mass * size / time, spin, *wheels
