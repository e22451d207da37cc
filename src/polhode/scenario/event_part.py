"""Events as a part of a scenario."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from polhode.errors import ScenarioError
from polhode.scenario.event import Event, EventLaw, as_event
from polhode.scenario.events import EVENTS
from polhode.scenario.own_functions import Finder, name_or_refuse
from polhode.scenario.part import (
    Call,
    ListPart,
    OwnFunction,
    Plain,
    Source,
    find_law,
    make_by_kind,
    read_bodies,
    read_params,
    refuse_one_member,
    refuse_unknown_keys,
    validate_indices,
    write_params,
)
from polhode.scenario.setting import Setting

if TYPE_CHECKING:
    from polhode.scenario.scenario import Scenario

OPTIONS = ("action", "direction", "count", "within", "change")
"""What every event takes."""


class EventsPart(ListPart):
    """What is watched for."""

    setting = Setting(
        "events",
        "Sequence[Event | EventLaw]",
        "tuple[Event, ...]",
        "()",
        "sequence of Event, optional",
        "From `ph.events`, or made by `@ph.event`: functions of the state that stop the run, are recorded, or change "
        "momenta where they cross zero; `motion.crossings` lists what happened.  A step looks at each function at "
        "eight points, so two crossings between two of them may be missed, and finds the time to rounding.  A run "
        "that is stopped ends there, with one more output; in an ensemble only that member stops.",
        in_file=False,
    )
    words = "events"

    def as_record(self, given: Any) -> Event:
        return as_event(given)

    def validate(self, scenario: Scenario) -> None:
        for e in scenario.events:
            validate_indices(scenario, e.bodies, f"{e.name} watches")

    def own_functions(self, held: Any) -> list[OwnFunction]:
        own = [(e, *each) for e in held for each in ((e.function, "number"), (e.change, "change"))]
        return [OwnFunction(e.name, function, e, ScenarioError, gives) for e, function, gives in own if function]

    def without_own_functions(self, held: Any) -> Any:
        return ()

    def trace(self, held: Any, tracer: Any) -> Any:
        return tuple(self._trace(tracer.bind(e), tracer) for e in held)

    def _trace(self, e: Event, tracer: Any) -> Event:
        function = e.function if e.function is not None else e.kernel
        kernel, change = tracer.settle(e.name, function, e, 0, ScenarioError), e.change
        if change is not None:
            change = tracer.settle(f"the change of {e.name}", change, e, 2, ScenarioError)
        return replace(e, kernel=kernel, change=change)

    def read_one(self, table: Any, find: Finder) -> Event:
        """A ready-made event, or one of the user's own, named as `function`; `change` is a name in both."""
        given = dict(table) if isinstance(table, Mapping) else table
        on = given.pop("on", None) if isinstance(given, dict) else None
        if isinstance(given, dict) and "change" in given:
            given["change"] = find(given["change"])
        made: Event
        if isinstance(given, dict) and "function" in given:
            name = given.pop("function")
            refuse_unknown_keys(given, ("params", *OPTIONS), f"the event {name}")
            made = find_law(find, name, EventLaw, "@ph.event")(*read_params(given, name), **given)
        else:
            made = make_by_kind(given, "event", EVENTS, ScenarioError, "landing")
        return made if on is None else made.on(*read_bodies(on, made.name))

    def write(self, one: Any, plain: Plain) -> dict[str, Any]:
        if one.function is not None:
            table = {"function": name_or_refuse(one.function, f"the event {one.name}"), **write_params(one, plain)}
            defaults: dict[str, Any] = {"direction": 0}
        else:
            refuse_one_member(one)
            defaults = {"direction": inspect.signature(EVENTS[one.name]).parameters["direction"].default}
            table = {"kind": one.name, **{key: plain(v) for key, v in one.arguments.items() if v is not None}}
        defaults |= {"action": "stop" if one.change is None else "change", "within": 0.0}
        table |= {key: getattr(one, key) for key, usual in defaults.items() if getattr(one, key) != usual}
        if one.count != (1 if one.action == "stop" else None):
            table["count"] = one.count
        if one.change is not None:
            table["change"] = name_or_refuse(one.change, f"the change of {one.name}")
        return table | ({} if one.bodies is None else {"on": list(one.bodies)})

    def call(self, table: Mapping[str, Any]) -> Call:
        given = {key: value for key, value in table.items() if key not in ("kind", "on", "params", "function")}
        if "change" in given:
            given["change"] = Source(given["change"])
        function = table.get("function", f"ph.events.{table.get('kind')}")
        modules = [name.rpartition(".")[0] for name in (table.get("function"), table.get("change")) if name]
        imports = tuple(f"import {module}" for module in modules)
        return Call(function, given, table.get("on", ()), imports, table.get("params", ()))

    def describe(self, held: Any, table: Any, digest: Callable[[Any], str]) -> Any:
        return [_describe(e, digest) for e in held]


def _describe(e: Event, digest: Callable[[Any], str]) -> dict[str, Any]:
    return {
        "name": e.name,
        "action": e.action,
        "direction": e.direction,
        "count": e.count,
        "within": e.within,
        "on": e.bodies,
        "params": e.params,
        "function": digest(e.kernel),
        "change": None if e.change is None else digest(e.change),
    }
