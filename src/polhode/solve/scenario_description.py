"""What a run is, in plain numbers and words: to tell whether a stored run is the one that is asked for."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

from polhode.ir.language import Recorded
from polhode.scenario.force import Force
from polhode.scenario.scenario import Scenario
from polhode.version import __version__

LONG_LIST = 64
"""Longer lists of numbers are described by their length and digest."""
DIGEST = "SHA-256"
"""In the description of numbers that are too many to be told."""
MOST_DIFFERENCES = 5
"""So many differences are named."""
PACKAGES = ("numpy", "llvmlite", "heyoka")
_PLAIN = (bool, int, float, str, list, tuple, dict, np.ndarray, np.generic)
"""What a function may read from globals that is told in numbers and words."""


def describe_run(scenario: Scenario) -> dict[str, Any]:
    """The scenario of a run whose user functions have been traced, and the versions that compute it."""
    versions: dict[str, Any] = {"polhode": __version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = None
    return {"versions": versions, "scenario": describe_for_comparison(scenario)}


def describe_for_comparison(scenario: Scenario) -> dict[str, Any]:
    """All numbers and words of a scenario, and digests of the functions of the user and of long lists."""
    wheels = [rotor.without_function() for rotor in scenario.rotors]
    content = replace(scenario, rotors=wheels).as_mapping((), bool(scenario.contacts))  # type: ignore[arg-type]
    content["forces"] = [_describe_force(f) for f in scenario.forces]
    content["events"] = [
        {
            "name": e.name,
            "action": e.action,
            "direction": e.direction,
            "count": e.count,
            "within": e.within,
            "on": e.bodies,
            "params": e.params,
            "function": digest_function(e.kernel),
            "change": None if e.change is None else digest_function(e.change),
        }
        for e in scenario.events
    ]
    for table, rotor in zip(content.get("rotors", []), scenario.rotors, strict=False):
        if rotor.function is not None:
            table |= {"params": rotor.params, "function": digest_function(rotor.kernel)}
    content["output_times"] = scenario.times
    described: dict[str, Any] = _plain(content)
    return described


def describe_differences(stored: Any, given: Any) -> str:
    """What differs between two descriptions, the first of which is in a store; "" if nothing does."""
    found = [_describe_difference(*one) for one in iterate_differences(stored, given)]
    more = f"; and {len(found) - MOST_DIFFERENCES} more" if len(found) > MOST_DIFFERENCES else ""
    return "; ".join(found[:MOST_DIFFERENCES]) + more


def _describe_difference(name: str, old: Any, new: Any) -> str:
    if all(isinstance(value, str) and DIGEST in value for value in (old, new)):
        return f"the numbers of {name} are others"
    return f"{name} is {_short(old)} in the store and {_short(new)} now"


def iterate_differences(stored: Any, given: Any, name: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Where two descriptions in plain values differ, and both values; None for one that is not there."""
    if isinstance(stored, Mapping) and isinstance(given, Mapping):
        for key in [*stored, *(key for key in given if key not in stored)]:
            yield from iterate_differences(stored.get(key), given.get(key), f"{name}.{key}" if name else str(key))
    elif isinstance(stored, list) and isinstance(given, list) and len(stored) == len(given):
        for i, (old, new) in enumerate(zip(stored, given, strict=True)):
            yield from iterate_differences(old, new, f"{name}[{i}]")
    elif stored != given:
        yield name, stored, given


def _short(value: Any) -> str:
    if value is None:
        return "not given"
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _describe_force(f: Force) -> dict[str, Any]:
    table: dict[str, Any] = {"kind": f.name, "on": f.bodies, "at": f.instant}
    if f.function is not None:
        return {**table, "params": f.params, "function": digest_function(f.kernel), "axes": f.axes}
    return {**table, **(f.arguments or {"params": f.params})}


def digest_functions(scenario: Scenario) -> list[str]:
    """The digests of all functions of the user in a scenario: what acts, what is watched, and what that changes."""
    acting: list[Any] = [*scenario.forces, *scenario.rotors]
    kernels = [one.kernel for one in acting if one.function is not None]
    kernels += [part for e in scenario.events for part in (e.kernel, e.change) if part is not None]
    return [digest_function(one) for one in kernels]


def digest_function(function: Any, seen: tuple[int, ...] = ()) -> str:
    """The digest of a function of the user: of its operations if it was traced, else of its code and what it holds."""
    if isinstance(function, Recorded):
        return function.key
    digest = sha256()
    for part in _parts_of(function, (*seen, id(function))):
        digest.update(repr(part).encode() + b"\0")
    return digest.hexdigest()


def _parts_of(function: Callable[..., Any], seen: tuple[int, ...]) -> Iterator[Any]:
    yield getattr(function, "__qualname__", type(function).__qualname__)
    held: list[Any] = [getattr(function, name, None) for name in ("__defaults__", "__kwdefaults__")]
    held += [vars(function.__self__)] if isinstance(function, MethodType) else []
    code: CodeType | None = getattr(function, "__code__", None)
    if isinstance(function, partial):
        held += [function.func, *function.args, *function.keywords.values()]
    elif code is not None:
        names, shared = set(_names_in(code)), getattr(function, "__globals__", {})
        yield from _parts_of_code(code)
        held += [cell.cell_contents for cell in getattr(function, "__closure__", None) or () if cell != CellType()]
        held += [shared[name] for name in sorted(names & shared.keys()) if isinstance(shared[name], _PLAIN)]
    elif isinstance(call := type(function).__call__, FunctionType):  # an object of the user
        held += [call, getattr(function, "__dict__", None)]
    for one in held:
        if not callable(one):
            yield _plain(one)
        elif id(one) not in seen:
            yield digest_function(one, seen)


def _parts_of_code(code: CodeType) -> Iterator[Any]:
    yield code.co_code
    yield code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _parts_of_code(constant)
        else:
            yield sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)


def _plain(value: Any) -> Any:
    """Plain numbers, words, lists and dictionaries; long lists of numbers as their length and digest."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple, np.ndarray, np.generic)):
        try:
            numbers = np.asarray(value)
        except ValueError:  # ragged
            numbers = np.asarray(0)
        if numbers.dtype.kind in "fiub" and numbers.size > LONG_LIST:
            content = np.ascontiguousarray(numbers, dtype=np.float64).tobytes()
            return f"{list(numbers.shape)} numbers, {DIGEST} {sha256(content).hexdigest()[:16]}"
        if isinstance(value, (np.ndarray, np.generic)):
            return value.tolist()
        return [_plain(part) for part in value]
    return _describe_object(value)


def _describe_object(value: Any) -> str:
    """A record that is an argument of a force: its type and its fields."""
    fields = getattr(value, "__dict__", None) or getattr(value, "_asdict", dict)()
    shown = {key: _plain(part) for key, part in fields.items() if not callable(part) and not key.startswith("_")}
    return f"{type(value).__name__}({shown})"
