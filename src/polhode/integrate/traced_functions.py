"""The functions of a user in a scenario, as a run takes them: traced at the moment when the run begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

from polhode.equations.formulations import StateView
from polhode.equations.inertia import BodyConstants, constants_for_forces
from polhode.equations.right_hand_side import convert_body_torque
from polhode.errors import ForceError, ScenarioError
from polhode.ir.language import Recorded, in_plain_python, record_function
from polhode.scenario.event import Event
from polhode.scenario.force import Force, flatten_leaves, map_leaves
from polhode.scenario.preflight import locate_error
from polhode.scenario.rotor import Rotor
from polhode.scenario.scenario import Scenario

_VECTOR, _QUATERNION = (0.0,) * 3, (0.0,) * 4
_VELOCITIES = ("velocity", "angular_velocity", "angular_velocity_body", "linear_momentum", "angular_momentum")

LONG_TABLE = 32
"""A table of so many numbers that all members of an ensemble share becomes part of the compiled function."""

_in_world_axes = lru_cache(maxsize=256)(convert_body_torque)


def trace_functions(scenario: Scenario) -> Scenario:
    """The scenario with every function of the user traced as it is now; in plain Python with `engine="python"`.

    What it reads from globals, closures and tables is what these hold at this moment.
    """
    acting: tuple[Any, ...] = (*scenario.forces, *scenario.rotors)
    if not scenario.events and all(one.function is None for one in acting):
        return scenario
    is_traced = scenario.engine != "python"
    bind = _bind_tables if scenario.members is not None else lambda unchanged: unchanged
    sees = _seen(scenario)
    forces = tuple(_settle_force(bind(f), sees, is_traced) if f.function is not None else f for f in scenario.forces)
    events = tuple(_settle_event(bind(e), sees, is_traced) for e in scenario.events)
    rotors = tuple(_settle_rotor(r, sees, is_traced) if r.function is not None else r for r in scenario.rotors)
    return scenario.with_settings(forces=forces, events=events, rotors=rotors)


def trace_law(scenario: Scenario, name: str, function: Callable[..., Any], dimensions: int) -> Callable[..., Any]:
    """A function (t, state, body) of the user that returns a number, or with one dimension three, traced as it is now.

    On a scenario with `engine="python"` it is called as it stands.
    """
    state, body = _seen(scenario)
    arguments = {"t": 0.0, "state": state, "body": body}
    is_traced = scenario.engine != "python"
    if not dimensions:
        return _settle(name, function, arguments, 0, is_traced, ScenarioError)
    of_vectors = _settle(name, partial(_as_one_vector, function), arguments, 1, is_traced, ScenarioError)
    return lambda t, state, body: of_vectors(t, state, body)[0]


def _as_one_vector(function: Callable[..., Any], t: Any, state: Any, body: Any) -> Any:
    return (function(t, state, body),)


class _Seen(NamedTuple):
    """What the functions of a user are given of a body: its nesting alone matters."""

    state: StateView = StateView(_VECTOR, _QUATERNION, _VECTOR, _VECTOR, _VECTOR, _VECTOR, _VECTOR)
    body: BodyConstants = BodyConstants(0.0, 0.0, _VECTOR, _VECTOR, (1.0, 0.0, 0.0, 0.0), _VECTOR)


def _seen(scenario: Scenario) -> _Seen:
    state, body = _Seen()
    if scenario.rotors:
        speeds = (0.0,) * len(scenario.rotors)
        state = state._replace(rotor_speed=speeds, rotor_momentum=speeds)
    if scenario.mass_course is not None:
        changing = scenario.mass_course.changing_entries(scenario.bodies[0])
        state = state._replace(current_mass=(1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0)[: 2 + changing])
        body = constants_for_forces(body, state.current_mass)
    return _Seen(state, body)


def _bind_tables(f: Any) -> Any:
    """A force or event of an ensemble with the long tables that all members share in its functions.

    Among the parameters every member would have its own copy of them.
    """
    tables = {k: part for k, part in enumerate(f.params) if isinstance(part, tuple) and _is_long_table(part)}
    if not tables or f.function is None:
        return f
    names = ("function", "potential") if isinstance(f, Force) else ("function", "change")
    functions = {name: getattr(f, name) for name in names if getattr(f, name) is not None}
    bound = {name: partial(_call_with_tables, function, tables) for name, function in functions.items()}
    return replace(f, params=tuple(part for k, part in enumerate(f.params) if k not in tables), **bound)


def _is_long_table(part: Any) -> bool:
    leaves = flatten_leaves(part)
    return len(leaves) >= LONG_TABLE and all(isinstance(leaf, float) for leaf in leaves)


def _call_with_tables(function: Callable[..., Any], tables: dict[int, Any], *arguments: Any) -> Any:
    *given, params = arguments
    others = iter(params)
    every = range(len(tables) + len(params))
    return function(*given, tuple(tables[k] if k in tables else next(others) for k in every))


def _settle_force(f: Force, sees: _Seen, is_traced: bool) -> Force:
    assert f.function is not None
    arguments = _arguments(f, sees)
    kernel = _settle(f.name, f.function, arguments, 3 if f.kind == "pair" else 2, is_traced, ForceError)
    potential = f.potential
    if potential is not None:
        potential = _settle(f"the potential of {f.name}", potential, arguments, 0, is_traced, ForceError)
    return replace(f, kernel=_in_world_axes(kernel) if f.axes == "body" else kernel, potential=potential)


def _settle_rotor(rotor: Rotor, sees: _Seen, is_traced: bool) -> Rotor:
    name = f"the torque of {rotor.name}"
    return replace(rotor, kernel=_settle(name, rotor.function, _arguments(rotor, sees), 0, is_traced, ForceError))


def _settle_event(e: Event, sees: _Seen, is_traced: bool) -> Event:
    arguments = _arguments(e, sees)
    function = e.function if e.function is not None else e.kernel
    kernel = _settle(e.name, function, arguments, 0, is_traced, ScenarioError)
    change = e.change
    if change is not None:
        change = _settle(f"the change of {e.name}", change, arguments, 2, is_traced, ScenarioError)
    return replace(e, kernel=kernel, change=change)


def _arguments(f: Force | Event | Rotor, sees: _Seen) -> dict[str, Any]:
    """The arguments of a function by name; only their nesting matters."""
    params, (state, body) = map_leaves(lambda _: 0.0, f.params), sees
    if isinstance(f, Force) and f.kind == "pair":
        return {"t": 0.0, "a": state, "body_a": body, "b": state, "body_b": body, "params": params}
    return {"t": 0.0, "state": state, "body": body, "params": params}


def _settle(
    name: str, function: Any, arguments: dict[str, Any], vectors: int, is_traced: bool, kind: type[Exception]
) -> Callable[..., Any]:
    if isinstance(function, Recorded):
        function = function.function
    if not is_traced:
        return in_plain_python(function, vectors)
    try:
        return record_function(function, arguments, vectors)
    except Exception as error:  # whatever the user's code meets with numbers that are not known
        raise kind(
            f"{name} cannot be compiled: {error}{locate_error(function, error)}. The documentation lists what can, "
            "under 'Forces of your own'; or run it uncompiled with engine='python', about a thousand times slower."
        ) from error


# What the functions read ----------------------------------------------------------------------------------------------
def forces_need_velocity(scenario: Scenario) -> bool:
    """Whether any force reads velocities or momenta, on whatever way through its function."""
    return any(_reads(f, _VELOCITIES) for f in scenario.forces if f.kind != "impulse")


def loads_depend_on_time(scenario: Scenario) -> bool:
    """Whether any force on a body or rotor may depend on the time: those that pass it on count as well."""
    return any(rotor.kernel is not None for rotor in scenario.rotors) or any(
        _reads(f, ("t",)) for f in scenario.forces if f.kind != "impulse"
    )


def _reads(f: Force, names: Sequence[str]) -> bool:
    try:
        used = _used(f.kernel, map_leaves(lambda _: 0.0, f.params), f.kind)
    except Exception:  # a function that cannot be traced: whatever it reads, the kicks for velocities suit all forces
        return True
    return any(name.rpartition(".")[2] in names for name in used)


@lru_cache(maxsize=256)
def _used(kernel: Any, params: Any, kind: str) -> frozenset[str]:
    if isinstance(kernel, Recorded):
        return kernel.used
    arguments = _arguments(Force("force", kernel, params, kind=kind), _Seen())
    return record_function(kernel, arguments, 3 if kind == "pair" else 2).used
