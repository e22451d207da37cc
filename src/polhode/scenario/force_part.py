"""Forces as a part of a scenario."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.errors import ForceError, ScenarioError
from polhode.scenario.earth_validation import validate_earths
from polhode.scenario.flight_forces import describe_bad_function, describe_start_outside
from polhode.scenario.force import Force, ForceLaw, PairForceLaw, as_force
from polhode.scenario.forces import FORCES as MAKERS
from polhode.scenario.own_functions import Finder, name_or_refuse
from polhode.scenario.part import (
    Call,
    ListPart,
    OwnFunction,
    Plain,
    find_law,
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


class ForcesPart(ListPart):
    """What acts on the bodies, or between them."""

    setting = Setting(
        "forces",
        "Sequence[Force | ForceLaw]",
        "tuple[Force, ...]",
        "()",
        "sequence of Force, optional",
        "From `ph.forces`, or made by `@ph.force`.",
        in_file=False,
        by_position=True,
    )
    words = "forces"
    kinds: Mapping[str, Callable[..., Any]] = MAKERS
    example = "gravity"
    file_error = ForceError
    more_keys = ("on",)

    def as_record(self, given: Any) -> Force:
        return as_force(given)

    def validate(self, scenario: Scenario) -> None:
        for f in scenario.forces:
            if f.kind == "pair" and len(scenario.bodies) < 2:
                raise ForceError(f"{f.name} acts between bodies: give at least two, in a list")
            validate_indices(scenario, f.bodies, f"{f.name} acts on", ForceError)
        validate_earths(scenario)
        for f in scenario.forces:
            if f.environment is not None:
                for state in scenario.states if f.bodies is None else [scenario.states[b] for b in f.bodies]:
                    if (sentence := describe_bad_function(f, state.time, state)) is not None:
                        raise ForceError(sentence)
                    if (sentence := describe_start_outside(f, state.time, state)) is not None:
                        raise ScenarioError(sentence)

    def lengths(self, held: Any) -> set[int]:
        return super().lengths(held) | {len(f.instant) for f in held if np.ndim(f.instant) > 0}

    def numbers(self, held: Any) -> list[Any]:
        return [f.instant for f in held if f.instant is not None]

    def obstacle(self, scenario: Scenario) -> str | None:
        others = [f.name for f in scenario.forces if f.kind != "impulse" and not f.uniform]
        return f"{', '.join(dict.fromkeys(others))} acts" if others else None

    def times(self, held: Any) -> list[Any]:
        """Those of impulses, and the edges of windows."""
        edges = [edge for f in held if f.kind == "body" for window in f.windows for edge in window]
        return [f.instant for f in held if f.kind == "impulse"] + edges

    def own_functions(self, held: Any) -> list[OwnFunction]:
        own = [f for f in held if f.function is not None]
        return [OwnFunction(f.name, f.function, f, ForceError, "pair" if f.kind == "pair" else "force") for f in own]

    def without_own_functions(self, held: Any) -> Any:
        return tuple(f for f in held if f.function is None)

    def trace(self, held: Any, tracer: Any) -> Any:
        return tuple(self._trace(tracer.bind(f), tracer) if f.function is not None else f for f in held)

    def _trace(self, f: Force, tracer: Any) -> Force:
        kernel = tracer.settle(f.name, f.function, f, 3 if f.kind == "pair" else 2, ForceError)
        potential = f.potential
        if potential is not None:
            potential = tracer.settle(f"the potential of {f.name}", potential, f, 0, ForceError)
        kernel = tracer.in_world_axes(kernel) if f.axes == "body" else kernel
        return replace(f, kernel=kernel, potential=potential)

    def read_one(self, table: Any, find: Finder) -> Force:
        """One of `ph.forces`, or of the user's own, named as `function`; a force between bodies names them."""
        on = table.get("on") if isinstance(table, Mapping) else None
        if on is not None and not isinstance(on, (list, tuple, np.ndarray)):
            what = table.get("kind", table.get("function"))
            raise ForceError(f"force {what!r} acts on a list of bodies, on = [0, 2], not on {on!r}")
        force: Force
        if isinstance(table, Mapping) and "function" in table:
            given, name = dict(table), table["function"]
            refuse_unknown_keys(given, ("function", "params", "on", "between"), f"the force {name}")
            law = find_law(find, name, (ForceLaw, PairForceLaw), "@ph.force or @ph.pair_force")
            params = read_params(given, name)
            if isinstance(law, PairForceLaw):
                if len(read_bodies(given.get("between", ()), name)) != 2:
                    raise ForceError(f"the force {name} acts between two bodies: name them, between = [0, 1]")
                return law(*given["between"], *params)
            force = law(*params)
        else:
            force = super().read_one(table, find)
        return force if on is None else force.on(*on)

    def write(self, one: Any, plain: Plain) -> dict[str, Any]:
        key = "between" if one.kind == "pair" else "on"
        table: dict[str, Any] = {} if one.bodies is None else {key: list(one.bodies)}
        if one.function is not None:
            return {"function": name_or_refuse(one.function, one.name, ForceError), **write_params(one, plain), **table}
        refuse_one_member(one, ForceError)
        given = {key: plain(value) for key, value in one.arguments.items() if value is not None}
        return {"kind": one.name, **given, **(table if one.kind != "pair" else {})}

    def call(self, table: Mapping[str, Any]) -> Call:
        on = table.get("on", ())
        if "function" not in table:
            given = {key: value for key, value in table.items() if key not in ("kind", "on")}
            return Call(f"ph.forces.{table['kind']}", given, on)
        imports, params = (f"import {table['function'].rpartition('.')[0]}",), table.get("params", ())
        return Call(table["function"], {}, on, imports, (*table.get("between", ()), *params))

    def describe(self, held: Any, table: Any, digest: Callable[[Any], str]) -> Any:
        return [_describe(f, digest) for f in held]


def _describe(f: Force, digest: Callable[[Any], str]) -> dict[str, Any]:
    table: dict[str, Any] = {"kind": f.name, "on": f.bodies, "at": f.instant}
    if f.function is not None:
        return {**table, "params": f.params, "function": digest(f.kernel), "axes": f.axes}
    return {**table, **(f.arguments or {"params": f.params})}
