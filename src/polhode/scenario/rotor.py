"""Rotors: flywheels, gyroscopes and reaction wheels inside a body, each with a motor."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from polhode import validation
from polhode.equations.extended_body import torque_from_table
from polhode.equations.formulations import StateView
from polhode.equations.gyrostat import RotorConstants, sum_along_axes
from polhode.equations.inertia import BodyConstants
from polhode.equations.law import Groups
from polhode.equations.vectors import dot
from polhode.errors import ForceError, InertiaError, ScenarioError, show
from polhode.massprops.frozen_arrays import freeze_arrays
from polhode.scenario.force import Params, as_param, check_arguments, check_body_index, map_leaves, name_of_function
from polhode.scenario.members import over_bodies
from polhode.scenario.own_functions import Finder, name_or_refuse
from polhode.scenario.part import (
    Call,
    Extension,
    ListPart,
    OwnFunction,
    Plain,
    Source,
    Start,
    is_same,
    refuse_unknown_keys,
    validate_indices,
    write_params,
)
from polhode.scenario.setting import Setting
from polhode.scenario.tensors import invert, matrix_entries
from polhode.synonyms import explain_unknown_arguments
from polhode.validation import Array, Leaf, as_leaf, as_leaves

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from polhode.scenario.scenario import Scenario

ROTOR_SIGNATURE = "(t, state, body, params)"
RotorTorque: TypeAlias = Callable[[Any, StateView, BodyConstants, Any], Any]
"""(t, state, body, params) -> the torque of the motor on the rotor, in N m"""
ARGUMENT_DIMENSIONS = {"axis": 1}
"""Array dimensions of an argument that is not a scalar; one more is the ensemble axis."""


@dataclass(frozen=True, eq=False)
class Rotor:
    """A symmetric wheel that spins about an axis fixed in its body.  Made by `ph.rotor`.

    In an ensemble any of its numbers may have a leading axis for the members.
    """

    name: str
    axis: Array
    """A unit vector, body axes."""
    inertia: Leaf
    """About the axis, in kg m2."""
    speed: Leaf
    """At the start, relative to the body, in rad/s."""
    command: Leaf
    """The constant part of the motor's torque on the rotor, in N m; a stepper sets it anew."""
    kernel: Callable[..., Any] | None
    """The part of the torque that follows a law, (t, state, body, params) -> N m; None if there is none."""
    params: Params
    """The parameters of that law."""
    max_torque: Leaf
    """In N m; infinite if there is no limit."""
    inverse_max_speed: Leaf
    """1 over the largest speed, in s/rad; 0 if there is no limit."""
    taper: Leaf
    body: int
    """The body of a system that carries it."""
    arguments: dict[str, Any] = field(repr=False)
    """The arguments of `ph.rotor`, for scenario files."""
    knots: tuple[float, ...] = ()
    """The times of its table, which no step crosses."""
    function: Callable[..., Any] | None = field(default=None, repr=False)
    """The user's law, if it has one."""

    @property
    def bodies(self) -> tuple[int, ...]:
        """The body that carries it, as forces and events name theirs."""
        return (self.body,)

    @property
    def members(self) -> int | None:
        """The number of members, if its numbers differ between the members of an ensemble."""
        numbers = (self.inertia, self.speed, self.command, self.max_torque, self.inverse_max_speed, self.taper)
        return validation.member_count((self.axis, 1), *((np.asarray(x), 0) for x in numbers))

    def without_function(self) -> Rotor:
        """The rotor without a torque of the user's own, which no archive holds."""
        if self.function is None:
            return self
        arguments = {**self.arguments, "torque": 0.0, "params": ()}
        return replace(self, kernel=None, params=(), function=None, arguments=arguments)

    def select_members(self, members: Any) -> Rotor:
        """The rotor of one member of an ensemble (an index), or of several (an array of indices)."""
        names = ("inertia", "speed", "command", "max_torque", "inverse_max_speed", "taper")
        dimensions = {**dict.fromkeys(names, 0), "axis": 1}
        chosen = {name: _select(getattr(self, name), size, members) for name, size in dimensions.items()}
        arguments = {name: _select_given(name, value, members) for name, value in self.arguments.items()}
        params = map_leaves(lambda leaf: _select(leaf, 0, members), self.params)
        return replace(self, **chosen, params=params, arguments=arguments)


@explain_unknown_arguments(ScenarioError)
def rotor(
    axis: ArrayLike,
    inertia: ArrayLike,
    *,
    speed: ArrayLike = 0.0,
    torque: ArrayLike | RotorTorque = 0.0,
    params: Sequence[Any] = (),
    max_torque: ArrayLike | None = None,
    max_speed: ArrayLike | None = None,
    taper: ArrayLike = 0.01,
    body: int = 0,
    name: str = "rotor",
) -> Rotor:
    """A wheel inside a body, for `rotors=[...]`: a gyroscope's flywheel, or a reaction wheel with its motor.

    The body that carries it is given as a whole: its mass and inertia are those with the wheel in it, locked.  The
    motor turns the wheel one way and the body the other, so the angular momentum of both together is unchanged.

    Parameters
    ----------
    axis : array_like
        The direction of its axis, body axes; need not be normalized.
    inertia : float
        The wheel's moment of inertia about its axis, in kg m2.  It is symmetric about that axis.
    speed : float, optional
        Of the wheel relative to the body at the start, in rad/s.
    torque : float, table or callable, optional
        Of the motor on the wheel, in N m.  A number; a table of two rows, times (s) and torques, interpolated linearly
        and constant beyond its ends; or a function (t, state, body, params) -> N m.  `state.rotor_speed` and
        `state.rotor_momentum` hold those of all wheels, in the order of the list.
    params : sequence, optional
        The parameters of that function.
    max_torque : float, optional
        The largest torque of the motor, in N m.  A larger one is cut to it.
    max_speed : float, optional
        The largest speed relative to the body, in rad/s.  Toward it the torque that drives the wheel faster falls to
        zero; braking is not limited.
    taper : float, optional
        Over which last part of the way to `max_speed` that torque falls, linearly: 0.01 is the last hundredth.
    body : int, optional
        Which body of a system carries it, counted from 0.
    name : str, optional
        What it is called in results.

    Examples
    --------
    A wheel at 100 rad/s is braked by its motor, and the satellite takes over its angular momentum:

    >>> import polhode as ph
    >>> satellite = ph.Body(mass=10.0, inertia=(0.4, 0.5, 0.6))
    >>> wheel = ph.rotor((0, 0, 1), 0.002, speed=100.0, torque=-0.02)
    >>> motion = ph.simulate(satellite, rotors=[wheel], duration=5.0)
    >>> motion.rotor_speed[-1].round(9).tolist(), motion.angular_velocity[-1].round(9).tolist()
    ([49.83277592], [0.0, 0.0, 0.16722408])
    """
    validation.check_text(name, "name", ScenarioError)
    direction = validation.check_numbers(axis, f"axis of {name}", (3,), ScenarioError)
    longest = np.abs(direction).max(axis=-1, keepdims=True)
    if not longest.all():
        raise ScenarioError(f"axis of {name} must not be (0, 0, 0): give its direction in the body")
    unit = direction / longest
    unit = unit / np.linalg.norm(unit, axis=-1, keepdims=True)
    given: dict[str, Any] = {
        "axis": axis, "inertia": inertia, "speed": speed, "torque": torque, "params": params, "max_torque": max_torque,
        "max_speed": max_speed, "taper": taper, "body": body, "name": name,
    }  # fmt: skip
    largest = np.array(0.0)
    if max_speed is not None:
        largest = 1 / validation.check_positive(max_speed, f"max_speed of {name}", "rad/s", ScenarioError)
    part = validation.check_positive(taper, f"taper of {name}", "", ScenarioError)
    if (part > 1).any():
        raise ScenarioError(f"taper of {name} is a part of max_speed, at most 1, but is {show(taper)}")
    start = validation.check_numbers(speed, f"speed of {name}", (), ScenarioError)
    if (np.abs(start) * largest > 1).any():
        raise ScenarioError(
            f"{name} starts at {show(speed)} rad/s, faster than its max_speed of {show(max_speed)} rad/s"
        )
    strongest = np.array(np.inf)
    if max_torque is not None:
        strongest = validation.check_positive(max_torque, f"max_torque of {name}", "N m", ScenarioError)
    command, kernel, law_params, knots, function = _read_torque(torque, params, name)
    numbers: dict[str, Leaf] = {
        "inertia": as_leaf(validation.check_positive(inertia, f"inertia of {name}", "kg m2", InertiaError)),
        "speed": as_leaf(start),
        "command": as_leaf(command),
        "max_torque": as_leaf(strongest),
        "inverse_max_speed": as_leaf(largest),
        "taper": as_leaf(part),
    }
    frozen: dict[str, Any] = {key: freeze_arrays(value) for key, value in numbers.items()}
    return Rotor(
        name,
        freeze_arrays(unit),
        **frozen,
        kernel=kernel,
        params=law_params,
        body=check_body_index(body, name),
        arguments=given,
        knots=knots,
        function=function,
    )


def as_rotor(given: Any) -> Rotor:
    """A rotor."""
    if not isinstance(given, Rotor):
        raise ScenarioError(f"{show(given)} is not a rotor: make one with ph.rotor(axis, inertia)")
    return given


def _read_torque(torque: Any, params: Any, name: str) -> tuple[Array, Any, Params, tuple[float, ...], Any]:
    """The constant part of a torque, its law with parameters, the times of its table, and the user's function."""
    if callable(torque):
        arguments = inspect.signature(torque).parameters.values()
        check_arguments(torque, arguments, 4, f"the torque of a rotor takes 4: {ROTOR_SIGNATURE}", ForceError)
        what = f"params of {name_of_function(torque)}"
        if not isinstance(params, (tuple, list)):
            raise ForceError(f"{what} must be a tuple, params=(...), not {show(params)}")
        return np.array(0.0), torque, as_param(tuple(params), what), (), torque
    if not isinstance(params, (tuple, list)) or len(params):
        raise ForceError(f"params are those of a function given as torque, but the torque of {name} is {show(torque)}")
    if validation.shape_of(torque)[:1] == (2,) and len(validation.shape_of(torque)) == 2:
        times, torques = validation.check_numbers(torque, f"torque of {name}", validation.shape_of(torque), ForceError)
        if times.size == 0 or (np.diff(times) <= 0).any():
            raise ForceError(f"the times of the torque of {name} must increase: {times.tolist()}")
        table = (tuple(times.tolist()), tuple(torques.tolist()))
        return np.array(0.0), torque_from_table, table, table[0], None
    wanted = "a number, a table of two rows (times and torques) or a function"
    return validation.check_numbers(torque, f"torque of {name}", (), ForceError, wanted), None, (), (), None


def _select_given(name: str, value: Any, members: Any) -> Any:
    """An argument of `ph.rotor` for some members; a table of torques, and parameters, stay as they are."""
    if value is None or isinstance(value, str) or callable(value) or name == "params":
        return value
    if name == "torque" and np.ndim(value) > 1:
        return value
    return _select(value, ARGUMENT_DIMENSIONS.get(name, 0), members)


def _select(value: Any, dimensions: int, members: Any) -> Any:
    array = np.asarray(value)
    return as_leaf(array[members]) if array.ndim > dimensions else value


class RotorsPart(ListPart):
    """Flywheels, gyroscopes and reaction wheels inside the bodies."""

    setting = Setting(
        "rotors",
        "Sequence[Rotor]",
        "tuple[Rotor, ...]",
        "()",
        "sequence of Rotor, optional",
        'Made by `ph.rotor`: flywheels and reaction wheels inside the bodies.  For "auto", "dop853" and the other '
        "Runge-Kutta methods.",
        in_file=False,
    )
    words = "rotors"
    extends = True

    def as_record(self, given: Any) -> Rotor:
        return as_rotor(given)

    def validate(self, scenario: Scenario) -> None:
        for one in scenario.rotors:
            validate_indices(scenario, (one.body,), f"{one.name} is in")
            if scenario.bodies[one.body].is_particle:
                raise ScenarioError(
                    f"{one.name} is in a particle, which does not turn: give a body with moments of inertia"
                )

    def obstacle(self, scenario: Scenario) -> str | None:
        return "there are rotors"

    def times(self, held: Any) -> list[Any]:
        return [knot for one in held for knot in one.knots]

    def own_functions(self, held: Any) -> list[OwnFunction]:
        own = [one for one in held if one.function is not None]
        return [OwnFunction(f"the torque of {one.name}", one.function, one, ForceError, "torque") for one in own]

    def without_own_functions(self, held: Any) -> Any:
        return tuple(one.without_function() for one in held)

    def trace(self, held: Any, tracer: Any) -> Any:
        return tuple(self._trace(one, tracer) if one.function is not None else one for one in held)

    def _trace(self, one: Rotor, tracer: Any) -> Rotor:
        return replace(one, kernel=tracer.settle(f"the torque of {one.name}", one.function, one, 0, ForceError))

    def sizes(self, held: Any) -> tuple[int, ...]:
        """The momentum of each along its axis."""
        return (len(held),)

    def state_names(self, held: Any) -> list[str]:
        return [f"rotor{i}" for i in range(len(held))]

    def drives(self, held: Any) -> tuple[Callable[..., Any] | None, ...]:
        return tuple(one.kernel for one in held)

    def drive_params(self, scenario: Scenario) -> Groups:
        """(command, largest torque, 1/largest speed, taper, those of its law) each."""
        each = tuple(
            (one.command, one.max_torque, one.inverse_max_speed, one.taper, one.params) for one in scenario.rotors
        )
        return (over_bodies(each, scenario),)

    def with_commands(self, held: Any, commands: Sequence[float]) -> Any:
        return tuple(replace(one, command=torque) for one, torque in zip(held, commands, strict=True))

    def extend(self, scenario: Scenario, i: int, extension: Extension) -> Extension:
        """Without the rotors the body resists rotation with I - sum of J a a^T."""
        constants, tensor = extension
        for one in scenario.rotors:
            if one.body == i:
                a = one.axis[..., None]
                tensor = tensor - np.asarray(one.inertia)[..., None, None] * (a * a.swapaxes(-1, -2))
        _check_carried(tensor, i)
        carried = tuple(_constants(one, one.body == i) for one in scenario.rotors)
        return Extension(constants._replace(rotors=carried, inverse_tensor=matrix_entries(invert(tensor))), tensor)

    def start(self, scenario: Scenario, i: int, constants: BodyConstants) -> Start:
        w = as_leaves(scenario.states[i].angular_velocity_body)
        speeds = [one.speed if one.body == i else 0.0 for one in scenario.rotors]
        each = list(zip(constants.rotors, speeds, strict=True))
        momenta = tuple(inertia * (dot(axis, w) + speed) for (axis, inertia, _), speed in each)
        relative = tuple(inertia * speed for (_, inertia, _), speed in each)
        return Start(angular=sum_along_axes(constants.rotors, relative), groups=(momenta,))

    def units(self, constants: BodyConstants) -> tuple[Any, ...]:
        """The momentum of each at 1 rad/s, whatever the size of its body."""
        return tuple(inertia for _, inertia, _ in constants.rotors)

    def shape_view(self, scenario: Scenario, state: StateView, body: BodyConstants) -> tuple[StateView, BodyConstants]:
        speeds = (0.0,) * len(scenario.rotors)
        return state._replace(rotor_speed=speeds, rotor_momentum=speeds), body

    def read_one(self, table: Any, find: Finder) -> Rotor:
        """A torque that is a function of the user's own is a string, its name."""
        if not isinstance(table, Mapping):
            raise ScenarioError(f"every rotor is a table headed [[rotors]], not {show(table)}")
        refuse_unknown_keys(table, inspect.signature(rotor).parameters, "a rotor")
        for key in ("axis", "inertia"):
            if key not in table:
                raise ScenarioError(f"every rotor needs its {key}")
        if not isinstance(table.get("torque"), str):
            return rotor(**table)
        function = find(table["torque"])
        if not callable(function):
            raise ScenarioError(f"{table['torque']} is {show(function)}, not a function {ROTOR_SIGNATURE}")
        return rotor(**{**table, "torque": function})

    def write(self, one: Any, plain: Plain) -> dict[str, Any]:
        defaults = {key: p.default for key, p in inspect.signature(rotor).parameters.items()}
        shown = {key: value for key, value in one.arguments.items() if value is not None and key != "params"}
        if one.function is not None:
            shown["torque"] = name_or_refuse(one.function, f"the torque of {one.name}", ForceError)
        table = {key: plain(value) for key, value in shown.items() if not is_same(value, defaults[key])}
        return table | write_params(one, plain) if one.function is not None else table

    def call(self, table: Mapping[str, Any]) -> Call:
        if not isinstance(table.get("torque"), str):
            return super().call(table)
        torque, imports = table["torque"], (f"import {table['torque'].rpartition('.')[0]}",)
        return Call("ph.rotor", {**table, "torque": Source(torque)}, imports=imports)

    def describe(self, held: Any, table: Any, digest: Callable[[Any], str]) -> Any:
        for row, one in zip(table, held, strict=True):
            if one.function is not None:
                row |= {"params": one.params, "function": digest(one.kernel)}
        return table


def _constants(one: Rotor, is_carried: bool) -> RotorConstants:
    if not is_carried:
        return RotorConstants((0.0, 0.0, 0.0), 0.0, 0.0)
    return RotorConstants(as_leaves(one.axis), one.inertia, 1 / one.inertia)


def _check_carried(rest: Array, i: int) -> None:
    """Refuse rotors with more inertia than the whole body: what is left without them must resist rotation."""
    least = np.linalg.eigvalsh(rest).min()
    if not least > 0:
        raise InertiaError(
            f"the moments of the rotors exceed that of body {i}, which carries them, about some axis (by {-least:.3g} "
            "kg m2): the inertia of the body is that of the whole, with the rotors in it, locked"
        )
