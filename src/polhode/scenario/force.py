"""A force: a plain function, its parameters, and what is known about it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Real
from typing import Any, TypeAlias, overload

import numpy as np

from polhode.equations.formulations import StateView
from polhode.equations.inertia import BodyConstants
from polhode.equations.right_hand_side import convert_body_torque
from polhode.errors import ForceError, InputError, show
from polhode.validation import AXES, NO_NUMBERS, Array, as_floats, check_word

Params: TypeAlias = tuple[Any, ...]
ForceFunction: TypeAlias = Callable[[Any, StateView, BodyConstants, Any], Any]
"""(t, state, body, params) -> (force, torque)"""
PotentialFunction: TypeAlias = Callable[[Any, StateView, BodyConstants, Any], Any]
"""(t, state, body, params) -> potential energy"""
PairForceFunction: TypeAlias = Callable[[Any, StateView, BodyConstants, StateView, BodyConstants, Any], Any]
"""(t, state_a, body_a, state_b, body_b, params) -> (force on a, torque on a, torque on b)"""


@dataclass(frozen=True, eq=False)
class Force:
    """Something that acts: on every body (`kind="body"`), between two (`"pair"`), or at an instant (`"impulse"`).

    Made by the functions of `ph.forces`, or from your own function by `@ph.force`.

    Examples
    --------
    >>> import polhode as ph
    >>> drag = ph.forces.linear_drag(0.5)
    >>> drag.name, drag.kind, drag.turns
    ('linear_drag', 'body', False)
    """

    name: str
    kernel: Callable[..., Any]
    params: Params = ()
    kind: str = "body"
    potential: Callable[..., Any] | None = None
    """Its potential energy, (t, state, body, params) -> J; None if it has none, or none was given."""
    pushes: bool = True
    """Whether it can change the linear momentum."""
    turns: bool = True
    """Whether it can change the angular momentum about the center of mass."""
    uniform: bool = False
    """Whether it accelerates every body, everywhere and at all times, alike: uniform gravity."""
    direction: tuple[float, float, float] | None = None
    """The direction, fixed in the world, in which it always pushes; None if there is no such direction."""
    has_windows: bool = False
    """Whether its last parameter is the times between which it acts, (start, stop, start, stop, ...)."""
    instant: Any = None
    """Of an impulse: its time, in s."""
    bodies: tuple[int, ...] | None = None
    """The indices of the bodies of a system that it acts on, or of the two of a pair; None: all."""
    arguments: dict[str, Any] = field(default_factory=dict, repr=False)
    """The arguments of the function of `ph.forces`, for scenario files; empty for your own force."""
    function: Callable[..., Any] | None = field(default=None, repr=False)
    """The user's function, if it is one."""
    axes: str = "world"
    """The axes of the torque that the user's function returns: "world" or "body"."""
    environment: Any = field(default=None, repr=False)
    """Of forces of flight: the Earth, the air and the wind that they take, and where these are known."""

    @property
    def windows(self) -> tuple[tuple[Any, Any], ...]:
        """The times between which it acts, (start, stop) each, in s; no step crosses them.  Empty: it acts always."""
        times = self.params[-1] if self.has_windows else ()
        return tuple(zip(times[::2], times[1::2], strict=True))

    def on(self, *bodies: int) -> Force:
        """The same force, acting on these bodies of a system only (indices from 0).

        Examples
        --------
        >>> import polhode as ph
        >>> ph.forces.gravity().on(1).bodies
        (1,)
        """
        if self.kind == "pair":
            raise ForceError(f"{self.name} acts between two bodies: name them when you make it")
        if not bodies:
            raise ForceError(f"{self.name}.on() names no body: give their indices, from 0")
        return replace(self, bodies=check_body_indices(bodies, self.name))


@dataclass(frozen=True, eq=False)
class ForceLaw:
    """What `@ph.force` makes of a function: call it with its parameters to get a `Force`."""

    name: str
    kernel: Callable[..., Any]
    function: Callable[..., Any]
    kind: str
    potential: Callable[..., Any] | None
    axes: str = "world"

    def __call__(self, *params: Any) -> Force:
        """The force with these parameters: numbers, vectors and tables.

        A tuple or list is a vector or a table, the same for all members; its entries may be arrays over the members.
        A NumPy array whose first axis is as long as the ensemble has members is one row for each member; any other
        array is a table, the same for all.
        """
        values = tuple(as_param(value, f"parameter {i + 1} of {self.name}") for i, value in enumerate(params))
        about: Any = {"kind": self.kind, "potential": self.potential, "axes": self.axes}
        return Force(self.name, self.kernel, values, function=self.function, **about)


@overload
def force(function: ForceFunction) -> ForceLaw: ...
@overload
def force(*, axes: str = "world", potential: PotentialFunction | None = None) -> Callable[[Any], ForceLaw]: ...
def force(
    function: ForceFunction | None = None, *, axes: str = "world", potential: PotentialFunction | None = None
) -> Any:
    """Make a force of a plain function (t, state, body, params) -> (force, torque).

    Annotate `state: ph.StateView` and `body: ph.BodyConstants`, and an editor completes what they have.

    Parameters
    ----------
    function : callable
        Takes the time; the `state` (position, orientation as a quaternion w, x, y, z, velocity, angular_velocity,
        angular_velocity_body, linear_momentum, angular_momentum); the `body` (mass, and moments about the center of
        mass, also with a pivot); and the parameters as a tuple.  Returns the force in world axes and the torque about
        the center of mass, each three numbers.  It may use `if`, loops, helper functions, `math`, NumPy and tables, as
        the page "Forces of your own" lists.  With nothing but arithmetic on tuples, `ph.sqrt`, `ph.sin`, `ph.cos` and
        `ph.if_less` it runs on every kind of number.
    axes : {"world", "body"}, optional
        The axes of the torque that the function returns.
    potential : callable, optional
        (t, state, body, params) -> the potential energy, if there is one: the audit then checks the total energy.

    Examples
    --------
    >>> import polhode as ph
    >>> @ph.force
    ... def lift(t, state, body, params):
    ...     return (0.0, 0.0, params[0] * body.mass), (0.0, 0.0, 0.0)
    >>> motion = ph.simulate(ph.particle(2.0), forces=[lift(3.0)], duration=2.0)
    >>> round(float(motion.final.position[2]), 9)
    6.0
    """
    if function is None:
        return lambda f: _force_law(f, "body", axes, potential, 4, "(t, state, body, params)")
    return _force_law(function, "body", axes, potential, 4, "(t, state, body, params)")


def pair_force(function: PairForceFunction) -> Callable[..., Force]:
    """Make a force between two bodies of a function (t, state_a, body_a, state_b, body_b, params).

    The function returns the force on a, the torque on a and the torque on b, in world axes; b feels the opposite force.
    Call the result with the indices of the two bodies and then the parameters: `my_force(0, 1, 3.0)`.

    Examples
    --------
    >>> import polhode as ph
    >>> @ph.pair_force
    ... def attraction(t, state_a, body_a, state_b, body_b, params):
    ...     push = tuple(params[0] * (b - a) for a, b in zip(state_a.position, state_b.position))
    ...     return push, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    >>> pair, apart = [ph.particle(1.0)] * 2, [ph.State(), ph.State(position=(1, 0, 0))]
    >>> motion = ph.simulate(pair, apart, [attraction(0, 1, 0.5)], duration=1.0, engine="python")
    >>> motion.position[-1, :, 0].round(6).tolist()
    [0.229849, 0.770151]
    """
    made = _force_law(function, "pair", "world", None, 6, "(t, state_a, body_a, state_b, body_b, params)")

    def between(a: int, b: int, *params: Any) -> Force:
        return replace(made(*params), bodies=check_body_pair(a, b, made.name))

    return between


def check_body_pair(a: int, b: int, name: str) -> tuple[int, int]:
    """The indices of two different bodies."""
    first, second = check_body_index(a, name), check_body_index(b, name)
    if first == second:
        raise ForceError(f"{name} acts between two bodies, but both ends are on body {first}")
    return first, second


def check_body_indices(given: Sequence[Any], name: str) -> tuple[int, ...]:
    """The indices of different bodies."""
    indices = tuple(check_body_index(b, name) for b in given)
    twice = [b for b in indices if indices.count(b) > 1]
    if twice:
        raise ForceError(f"{name} names body {twice[0]} more than once: give each index once")
    return indices


def check_body_index(given: Any, name: str) -> int:
    """The index of a body."""
    if isinstance(given, NO_NUMBERS) or not isinstance(given, Real) or given % 1 != 0:
        raise ForceError(f"{name} acts on bodies by their indices, from 0, not on {show(given)}")
    index: Any = given
    return int(index)


def as_force(given: Any) -> Force:
    """A force, or a user's force that needs no parameters."""
    if isinstance(given, Force):
        return given
    if isinstance(given, ForceLaw):
        return given()
    if callable(given):
        name = getattr(given, "__name__", repr(given))
        raise ForceError(
            f"{name} is a plain function: put @ph.force before it. If it comes from ph.forces, call it: {name}(...)"
        )
    raise ForceError(f"{show(given)} is not a force: take one from ph.forces, or make one with @ph.force")


def _force_law(
    function: Callable[..., Any],
    kind: str,
    axes: str,
    potential: Callable[..., Any] | None,
    count: int,
    signature: str,
) -> ForceLaw:
    if not callable(function):
        raise ForceError(f"@ph.force goes before a function {signature}, not before {show(function)}")
    check_word(axes, "axes", AXES, ForceError, "the torque is in 'world' or in 'body' axes")
    if potential is not None and not callable(potential):
        raise ForceError(f"potential must be a function {signature} that returns an energy, not {show(potential)}")
    try:
        arguments = inspect.signature(function).parameters.values()
    except ValueError:
        raise ForceError(f"@ph.force goes before a Python function {signature}, not before {show(function)}") from None
    check_arguments(function, arguments, count, f"a force takes {count}: {signature}", ForceError)
    kernel: Callable[..., Any] = function
    if axes == "body":
        kernel = convert_body_torque(kernel)
    return ForceLaw(name_of_function(function), kernel, function, kind, potential, axes)


def check_arguments(
    function: Callable[..., Any], arguments: Iterable[inspect.Parameter], count: int, rule: str, error: type[InputError]
) -> None:
    """Refuse a function that cannot be called with so many arguments; more may have default values."""
    arguments, name = list(arguments), name_of_function(function)
    needed = [p for p in arguments if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    bound = function.keywords if isinstance(function, partial) else {}
    named = [p.name for p in arguments if p.kind is p.KEYWORD_ONLY and p.name not in bound]
    if named:
        raise error(
            f"{name} takes {named[0]!r} by keyword only, which no run passes: read it from params, and "
            f"give its value when you call {name}(...)"
        )
    most = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in arguments)
    takes_any = any(p.kind is p.VAR_POSITIONAL for p in arguments)
    if len(needed) > count or (most < count and not takes_any):
        raise error(f"{name} takes {len(needed) or most} arguments, but {rule}")


def name_of_function(function: Any) -> str:
    """The name of a function, of what a partial calls, or of the class of a callable object."""
    while isinstance(function, partial):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__))


@dataclass(frozen=True, eq=False)
class ArrayParam:
    """An array given as a parameter: a table, or one row for each member of an ensemble, as the scenario will tell."""

    values: Array


def as_param(value: Any, name: str) -> Any:
    """A parameter as numbers: tuples and lists stay nested; what an array means, the scenario decides."""
    if isinstance(value, (tuple, list)):
        try:
            return tuple(as_param(part, name) for part in value)
        except RecursionError:
            raise ForceError(f"{name} is nested without end: give numbers, or tuples of numbers") from None
    try:
        array = np.array(as_floats(value))
    except (TypeError, ValueError, OverflowError):
        raise ForceError(f"{name} must be numbers, not {show(value)}") from None
    if not np.isfinite(array).all():
        raise ForceError(f"{name} must be finite, but is {show(value)}")
    return float(array) if array.ndim == 0 else ArrayParam(array)


def array_lengths(nests: Any) -> set[int]:
    """The lengths of the arrays of which it is not yet decided what they mean."""
    return {len(leaf.values) for leaf in flatten_leaves(tuple(nests)) if isinstance(leaf, ArrayParam)}


_ANNOUNCED: ContextVar[int | None] = ContextVar("announced members", default=None)


@contextmanager
def announce_members(count: int) -> Iterator[None]:
    """Scenarios that are made meanwhile are ensembles of so many members.

    It matters where nothing but arrays in the parameters of a user's function varies, which are tables otherwise.
    """
    token = _ANNOUNCED.set(count)
    try:
        yield
    finally:
        _ANNOUNCED.reset(token)


def announced_members() -> int | None:
    """How many members a scenario that is made now will have, if that is known beforehand."""
    return _ANNOUNCED.get()


def settle_arrays(nest: Any, members: int | None) -> Any:
    """Parameters in which every array is one row for each member, if it is as long as there are; else a table."""

    def settle(leaf: Any) -> Any:
        if not isinstance(leaf, ArrayParam):
            return leaf
        if len(leaf.values) == members:
            return _split(np.moveaxis(leaf.values, 0, -1), 1)
        return _split(leaf.values, 0)

    return map_leaves(settle, nest)


def _split(array: Array, last_axes: int) -> Any:
    """An array as nested tuples, down to its last axes."""
    if array.ndim > last_axes:
        return tuple(_split(part, last_axes) for part in array)
    return np.ascontiguousarray(array) if last_axes else float(array)


def map_leaves(function: Callable[[Any], Any], nest: Any) -> Any:
    """Apply a function to every number of a nested tuple."""
    if isinstance(nest, tuple):
        return tuple(map_leaves(function, part) for part in nest)
    return function(nest)


def flatten_leaves(nest: Any) -> list[Any]:
    """The numbers of a nested tuple, in order."""
    leaves: list[Any] = []
    _collect((nest,), leaves)
    return leaves


def _collect(nest: Any, leaves: list[Any]) -> None:
    for part in nest:
        if isinstance(part, tuple):
            _collect(part, leaves)
        else:
            leaves.append(part)


def leading_lengths(nests: Sequence[Any]) -> set[int]:
    """The lengths of the leading axes of all arrays in nested tuples."""
    return {len(leaf) for leaf in flatten_leaves(tuple(nests)) if type(leaf) is not float and np.ndim(leaf) > 0}
