"""Forces as a part of a scenario."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.errors import ForceError, ScenarioError
from polhode.scenario.earth_validation import validate_earths
from polhode.scenario.flight_forces import describe_bad_function, describe_start_outside
from polhode.scenario.force import Force, as_force
from polhode.scenario.forces import FORCES as MAKERS
from polhode.scenario.part import ListPart, OwnFunction, Plain, validate_indices
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
    kinds_in_module = True

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

    def forces(self, held: Any) -> tuple[Force, ...]:
        return tuple(held)

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

    def read_one(self, table: Any) -> Force:
        force: Force = super().read_one(table)
        if "on" not in table:
            return force
        if not isinstance(table["on"], (list, tuple, np.ndarray)):
            raise ForceError(f"force {table['kind']!r} acts on a list of bodies, on = [0, 2], not on {table['on']!r}")
        return force.on(*table["on"])

    def write(self, one: Any, plain: Plain) -> dict[str, Any]:
        if one.function is not None:
            raise ForceError(
                f"{one.name} is your own function, which no file can hold: keep it in Python, add it after reading"
            )
        if not one.arguments:
            raise ForceError(
                f"{one.name} is one member's of an ensemble, which no file can hold: make it again with its own numbers"
            )
        table = {key: plain(value) for key, value in one.arguments.items() if value is not None}
        if one.kind != "pair" and one.bodies is not None:
            table["on"] = list(one.bodies)
        return {"kind": one.name, **table}

    def describe(self, held: Any, table: Any, digest: Callable[[Any], str]) -> Any:
        return [_describe(f, digest) for f in held]


def _describe(f: Force, digest: Callable[[Any], str]) -> dict[str, Any]:
    table: dict[str, Any] = {"kind": f.name, "on": f.bodies, "at": f.instant}
    if f.function is not None:
        return {**table, "params": f.params, "function": digest(f.kernel), "axes": f.axes}
    return {**table, **(f.arguments or {"params": f.params})}
