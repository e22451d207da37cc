"""A force: a plain function, its parameters, and what may be said about it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, overload

import numpy as np

from polhode.equations.law import law
from polhode.equations.right_hand_side import convert_body_torque
from polhode.errors import ForceError

Params: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Force:
    """Something that acts: on every body (`kind="body"`), between two (`"pair"`), or at an instant (`"impulse"`).

    Made by `ph.forces`, or from a function of one's own by `@ph.force`.
    """

    name: str
    kernel: Callable[..., Any]
    params: Params = ()
    kind: str = "body"
    potential: Callable[..., Any] | None = None
    """The energy that the force can give back; None if it can give back none, or nobody said."""
    pushes: bool = True
    """Whether it can change the linear momentum."""
    turns: bool = True
    """Whether it can change the angular momentum about the centre of mass."""
    uniform: bool = False
    """Whether it pulls every body, everywhere and always, with the same force in proportion to the mass."""
    direction: tuple[float, float, float] | None = None
    """The only direction, fixed in the world, in which it ever pushes."""
    window: tuple[int, int] | None = None
    """Which two of its parameters are the times between which it acts: no step may reach across them."""
    instant: Any = None
    """For an impulse: when."""
    bodies: tuple[int, ...] | None = None
    """Which bodies of a system it acts on, or for a pair which two; None: all."""
    arguments: dict[str, Any] = field(default_factory=dict, repr=False)
    """How `ph.forces` was called, for the scenario's file; empty for a force of one's own."""
    function: Callable[..., Any] | None = field(default=None, repr=False)
    """The user's own function, if this is one."""

    def on(self, *bodies: int) -> Force:
        """The same force, acting on these bodies of a system only (counted from 0).

        Examples
        --------
        >>> import polhode as ph
        >>> ph.forces.gravity().on(1).bodies
        (1,)
        """
        if self.kind == "pair":
            raise ForceError(f"{self.name} acts between two bodies: name them when you make it")
        if not bodies:
            raise ForceError(f"{self.name}.on() names no body: say which, counted from 0")
        return replace(self, bodies=tuple(check_body_index(b, self.name) for b in bodies))


@dataclass(frozen=True, eq=False)
class ForceLaw:
    """A user's force before it gets its parameters: call it with them."""

    name: str
    kernel: Callable[..., Any]
    function: Callable[..., Any]
    kind: str
    potential: Callable[..., Any] | None

    def __call__(self, *params: Any) -> Force:
        """The force with these parameters: numbers, vectors (tuples), or arrays with one row per member."""
        values = tuple(as_param(value, f"parameter {i + 1} of {self.name}") for i, value in enumerate(params))
        return Force(self.name, self.kernel, values, kind=self.kind, potential=self.potential, function=self.function)


@overload
def force(function: Callable[..., Any]) -> ForceLaw: ...
@overload
def force(*, axes: str = "world", potential: Callable[..., Any] | None = None) -> Callable[[Any], ForceLaw]: ...
def force(
    function: Callable[..., Any] | None = None, *, axes: str = "world", potential: Callable[..., Any] | None = None
) -> Any:
    """Make a force of a plain function (t, state, body, params) -> (force, torque).

    Parameters
    ----------
    function : callable
        Gets the time; the `state` (position, orientation as a quaternion w, x, y, z, velocity, angular_velocity,
        angular_velocity_body, linear_momentum, angular_momentum); the `body` (mass, moments); and the parameters as a
        tuple.  Gives the force in world axes and the torque about the centre of mass, each three numbers.  Only
        arithmetic on tuples, `ph.sqrt`, `ph.sin`, `ph.cos` and `ph.if_less`: then it runs on every kind of number.
    axes : {"world", "body"}, optional
        The axes of the torque that the function gives.
    potential : callable, optional
        (t, state, body, params) -> the potential energy, if there is one: the audit then watches the total energy.

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


def pair_force(function: Callable[..., Any]) -> Callable[..., Force]:
    """Make a force between two bodies of (t, state_a, body_a, state_b, body_b, params).

    The function gives the force on a, the torque on a and the torque on b, in world axes; b feels the opposite force.
    The result is called with the two bodies' numbers and then the parameters: `my_force(0, 1, 3.0)`.
    """
    made = _force_law(function, "pair", "world", None, 6, "(t, state_a, body_a, state_b, body_b, params)")

    def between(a: int, b: int, *params: Any) -> Force:
        return replace(made(*params), bodies=check_body_pair(a, b, made.name))

    return between


def check_body_pair(a: int, b: int, name: str) -> tuple[int, int]:
    """The numbers of two different bodies."""
    first, second = check_body_index(a, name), check_body_index(b, name)
    if first == second:
        raise ForceError(f"{name} acts between two bodies, but both ends are on body {first}")
    return first, second


def check_body_index(given: Any, name: str) -> int:
    """Which body: a whole number."""
    if isinstance(given, bool) or not isinstance(given, (int, float, np.number)) or not float(given).is_integer():
        raise ForceError(f"{name} acts on bodies by their numbers, counted from 0, not on {given!r}")
    return int(given)


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
    raise ForceError(f"{given!r} is no force: take one from ph.forces, or make one with @ph.force")


def _force_law(
    function: Callable[..., Any],
    kind: str,
    axes: str,
    potential: Callable[..., Any] | None,
    count: int,
    signature: str,
) -> ForceLaw:
    if not callable(function):
        raise ForceError(f"@ph.force goes before a function {signature}, not before {function!r}")
    if axes not in ("world", "body"):
        raise ForceError(f"axes={axes!r} is unknown: the torque comes in 'world' or in 'body' axes")
    try:
        positional = [p for p in inspect.signature(function).parameters.values() if p.kind is not p.KEYWORD_ONLY]
    except ValueError:
        raise ForceError(f"@ph.force goes before a Python function {signature}, not before {function!r}") from None
    if len(positional) != count:
        raise ForceError(
            f"{function.__name__} takes {len(positional)} arguments, but a force takes {count}: {signature}"
        )
    kernel = law(function)
    if axes == "body":
        kernel = convert_body_torque(kernel)
    return ForceLaw(function.__name__, kernel, function, kind, law(potential) if potential else None)


def as_param(value: Any, name: str) -> Any:
    """A parameter as numbers: tuples and lists stay nested, arrays are cut into components behind their first axis."""
    if isinstance(value, (tuple, list)):
        return tuple(as_param(part, name) for part in value)
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ForceError(f"{name} must be numbers, not {value!r}") from None
    if not np.isfinite(array).all():
        raise ForceError(f"{name} must be finite, but is {value!r}")
    if array.ndim == 0:
        return float(array)
    if array.ndim == 1:
        return array
    return tuple(as_param(array[:, i], name) for i in range(array.shape[1]))


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
    return {len(leaf) for leaf in flatten_leaves(tuple(nests)) if np.ndim(leaf) > 0}
