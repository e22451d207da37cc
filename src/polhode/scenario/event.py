"""Events: functions of the state whose zero crossings stop a run, are recorded, or change momenta."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, TypeAlias

from polhode import validation
from polhode.equations.formulations import StateView
from polhode.equations.inertia import BodyConstants
from polhode.errors import ScenarioError, show
from polhode.scenario.force import Params, as_param, check_arguments, check_body_indices, name_of_function

ACTIONS = ("stop", "record", "change")
EVENT_SIGNATURE = "(t, state, body, params)"
EventFunction: TypeAlias = Callable[[Any, StateView, BodyConstants, Any], Any]
"""(t, state, body, params) -> a number"""


@dataclass(frozen=True, eq=False)
class Event:
    """A function of the state and what to do where it crosses zero.  Made by calling what `@ph.event` returns."""

    name: str
    kernel: Callable[..., Any]
    """(t, state, body, params) -> a number; the event is where it crosses zero."""
    params: Params
    action: str
    """"stop", "record" or "change"."""
    direction: int
    """1: rising crossings only, -1: falling ones only, 0: both."""
    count: int | None
    """The crossing that stops the run; or the most that are recorded or make a change (None: no limit)."""
    within: float
    """The tolerance of its time, in s; 0: to rounding."""
    change: Callable[..., Any] | None = None
    """(t, state, body, params) -> the jumps of linear and of angular momentum, in world axes."""
    bodies: tuple[int, ...] | None = None
    """The indices of the bodies of a system that are watched; None: all."""
    function: Callable[..., Any] | None = field(default=None, repr=False)
    """The user's function."""

    def on(self, *bodies: int) -> Event:
        """The same event, on these bodies of a system only (indices from 0).

        Examples
        --------
        >>> import polhode as ph
        >>> @ph.event
        ... def landing(t, state, body, params):
        ...     return state.position[2]
        >>> landing().on(0, 2).bodies
        (0, 2)
        """
        if not bodies:
            raise ScenarioError(f"{self.name}.on() names no body: give their indices, from 0")
        return replace(self, bodies=check_body_indices(bodies, self.name))


@dataclass(frozen=True, eq=False)
class EventLaw:
    """What `@ph.event` makes of a function: call it with its parameters to get an `Event`."""

    name: str
    kernel: Callable[..., Any]
    function: Callable[..., Any]

    def __call__(
        self,
        *params: Any,
        action: str = "stop",
        direction: int = 0,
        count: int | None = None,
        within: float = 0.0,
        change: Callable[..., Any] | None = None,
    ) -> Event:
        """The event with these parameters: numbers, or vectors (tuples).

        Parameters
        ----------
        action : {"stop", "record", "change"}, optional
            End the run there, record it and go on, or change the momenta.
        direction : {0, 1, -1}, optional
            Both kinds of crossings (default), rising ones only, or falling ones only.
        count : int, optional
            The crossing that stops the run (default the first); for the other actions, the most that count.
        within : float, optional
            The tolerance of its time, in s; by default it is found to rounding.
        change : callable, optional
            (t, state, body, params) -> (impulse, angular impulse) in world axes, for action="change", which it implies.
        """
        values = tuple(as_param(value, f"parameter {i + 1} of {self.name}") for i, value in enumerate(params))
        if change is not None and action == "stop":
            action = "change"
        validation.check_word(action, f"action of {self.name}", ACTIONS, ScenarioError)
        if (action == "change") != (change is not None):
            raise ScenarioError(f"{self.name}: action='change' and change=a function {EVENT_SIGNATURE} go together")
        if change is not None:
            _check_signature(change, "change")
        if (
            not isinstance(direction, Real)
            or isinstance(direction, validation.NO_NUMBERS)
            or direction not in (-1, 0, 1)
        ):
            raise ScenarioError(f"direction={show(direction)} of {self.name} is unknown: 1 (rising), -1 (falling) or 0")
        if count is not None and (not validation.is_whole_number(count) or count < 1):
            raise ScenarioError(f"count of {self.name} must be an integer of at least 1, but is {show(count)}")
        tolerance = validation.check_number(within, f"within of {self.name}", ScenarioError)
        if tolerance < 0:
            raise ScenarioError(f"within of {self.name} is a time of at least 0 s, but is {tolerance:g}")
        times = int(count) if count is not None else (1 if action == "stop" else None)
        return Event(
            self.name,
            self.kernel,
            values,
            action,
            int(direction),
            times,
            tolerance,
            change,
            function=self.function,
        )


def event(function: EventFunction) -> EventLaw:
    """Make an event of a plain function (t, state, body, params) -> number: it happens where the number crosses zero.

    A discontinuous sign change or a NaN does not trigger an event.  The function takes what a force takes, and may
    be written with what a force may be written with.

    Examples
    --------
    >>> import polhode as ph
    >>> @ph.event
    ... def at_height(t, state, body, params):
    ...     return state.position[2] - params[0]
    >>> at_height(2.0, action="record", direction=-1).name
    'at_height'
    """
    if not callable(function):
        raise ScenarioError(f"@ph.event goes before a function {EVENT_SIGNATURE}, not before {show(function)}")
    _check_signature(function, "event")
    return EventLaw(name_of_function(function), function, function)


def as_event(given: Any) -> Event:
    """An event, or one that needs no parameters."""
    if isinstance(given, Event):
        return given
    if isinstance(given, EventLaw):
        return given()
    if callable(given):
        raise ScenarioError(f"{getattr(given, '__name__', given)!s} is a plain function: put @ph.event before it")
    raise ScenarioError(f"{show(given)} is not an event: make one with @ph.event")


def _check_signature(function: Callable[..., Any], what: str) -> None:
    try:
        arguments = inspect.signature(function).parameters.values()
    except (TypeError, ValueError, OverflowError):
        raise ScenarioError(f"{what} must be a Python function {EVENT_SIGNATURE}, not {show(function)}") from None
    rule = f"a function of an {what} takes 4: {EVENT_SIGNATURE}"
    check_arguments(function, arguments, 4, rule, ScenarioError)
