"""Scenario files with distributions in place of numbers, and a [sweep] table that says how many members to draw."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from polhode.ensembles.sampling.draw import Draw
from polhode.ensembles.sampling.drawn_source import DrawnSource
from polhode.errors import PolhodeError, ScenarioError
from polhode.scenario.body_file import GEOMETRY_KEYS, read_body
from polhode.scenario.part import refuse_unknown_keys
from polhode.scenario.scenario import Scenario
from polhode.scenario.scenario_file import (
    DISTRIBUTIONS,
    READ_SEPARATELY,
    SWEEP_KEYS,
    WITHOUT_DISTRIBUTIONS,
    distribution_of,
    find_distribution,
    load_toml,
    scenario_arguments,
    without_page_keys,
)
from polhode.scenario.settings import FILE_KEYS
from polhode.synonyms import suggest_name
from polhode.validation import Array

SEVERAL_ARGUMENTS = ("normal", "uniform", "lognormal", "truncated_normal", "integers")
"""Distributions whose list holds their arguments in order; that of the others is one argument."""
TABLE_KEYS = (*GEOMETRY_KEYS, "rotation", "air", "wind", "earth", "coefficients")
"""Keys of bodies and forces whose values may be tables."""
WITHOUT_ARGUMENTS = ("random_rotation", "random_direction")
"""Distributions that are asked for by `true`."""


@dataclass(frozen=True)
class SweepFile:
    """A scenario file with distributions, and its [sweep] table; None stands for what that does not say."""

    path: Path
    content: Mapping[str, Any]
    """The file without its [sweep]."""
    members: int | None
    seed: int | None
    design: str | None
    reduce: Any

    def source(self, members: int | None = None, seed: int | None = None, design: str | None = None) -> DrawnSource:
        """The members; arguments replace what the file says."""
        count = self.members if members is None else members
        if count is None:
            raise ScenarioError(
                f"{self.path} does not say how many members to draw: give members, or write [sweep] members = 1000"
            )
        first, kind = self.seed if seed is None else seed, self.design if design is None else design
        try:
            return DrawnSource(
                FileBuild(self.content, self.path.parent, _read_meshes(self.content, self.path.parent)),
                count,
                0 if first is None else first,
                "random" if kind is None else kind,
            )
        except PolhodeError as error:
            raise type(error)(f"{self.path}: {error}") from None


def read_sweep_file(path: str | Path) -> SweepFile:
    """Read a scenario file with distributions.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> text = "duration = 2.0\\n[body]\\nmass = { normal = [1.0, 0.1] }\\ninertia = [1, 2, 2.5]"
    >>> text += "\\n[sweep]\\nmembers = 9"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "drift.toml"
    ...     _ = path.write_text(text)
    ...     read_sweep_file(path).members
    9
    """
    path = Path(path)
    content = without_page_keys(load_toml(path))
    sweep = content.pop("sweep", {})
    try:
        refuse_unknown_keys(sweep, SWEEP_KEYS, "[sweep]")
        _refuse_unknown_distributions(content)
        if find_distribution(content) is None:
            raise ScenarioError(
                "it has no distribution, so that all members would be equal: write one in place of a number, as in "
                "mass = { normal = [1.0, 0.02] }"
            )
    except PolhodeError as error:
        raise type(error)(f"{path}: {error}") from None
    return SweepFile(path, content, *(sweep.get(key) for key in SWEEP_KEYS))


def _refuse_unknown_distributions(content: Mapping[str, Any]) -> None:
    """Raise for a table in place of a number that is no distribution."""
    for head in READ_SEPARATELY:
        tables = content.get(head, [])
        for i, table in enumerate(tables if isinstance(tables, list) else [tables]):
            place = f"{head}.{i}" if isinstance(tables, list) else head
            for key, value in table.items() if isinstance(table, Mapping) else ():
                if isinstance(value, Mapping) and key not in TABLE_KEYS and distribution_of(value) is None:
                    found = next((name for name in value if name != "name"), "")
                    raise ScenarioError(
                        f"{place}.{key}: there is no distribution {found!r}: {suggest_name(found, DISTRIBUTIONS)}"
                    )


@dataclass(frozen=True)
class FileBuild:
    """The build function of a file: draws what stands in place of numbers, and reads the result as a scenario."""

    content: Mapping[str, Any]
    folder: Path
    prepared: Mapping[str, Any]
    """The content with bodies in place of meshes, which are read once."""

    def __call__(self, draw: Draw) -> Scenario:
        return Scenario(**scenario_arguments(_Drawing(draw, self.folder).replace(self.prepared), self.folder))

    def describe(self) -> dict[str, Any]:
        """The content of the file."""
        return {"file": _to_json(self.content)}


def _to_json(value: Any) -> Any:
    """The content of a file as JSON has it: infinities, NaN and dates as strings."""
    if isinstance(value, Mapping):
        return {key: _to_json(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_to_json(part) for part in value]
    is_plain = isinstance(value, (str, bool, int)) or (isinstance(value, float) and math.isfinite(value))
    return value if is_plain else str(value)


def _read_meshes(content: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The content of a file with bodies in place of its meshes."""

    def read(table: Any, where: str) -> Any:
        kind = next((key for key in ("mesh", "volume_mesh") if isinstance(table, Mapping) and key in table), None)
        return table if kind is None else {**table, kind: read_body({kind: table[kind]}, where, folder)}

    found = dict(content)
    if "body" in content:
        found["body"] = read(content["body"], "[body]")
    if isinstance(content.get("bodies"), list):
        found["bodies"] = [read(table, f"[[bodies]] number {i}") for i, table in enumerate(content["bodies"])]
    return found


def _is_table(part: Any) -> bool:
    return isinstance(part, Mapping)


class _Drawing:
    """The content of a file, with draws in place of distributions."""

    def __init__(self, draw: Draw, folder: Path) -> None:
        self.draw, self.folder = draw, folder
        self.drawn: dict[str, tuple[Mapping[str, Any], Array]] = {}
        """What was drawn by each name, and from what."""

    def replace(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """The tables of a file with all distributions drawn."""
        for key in FILE_KEYS:
            if key != "pivot" and find_distribution({key: content.get(key)}) is not None:
                raise ScenarioError(f"{key} is the same for all members, and cannot be a distribution")
        return {key: self._replace_in(value, key) for key, value in content.items()}

    def _replace_in(self, value: Any, place: str) -> Any:
        """A value with everything in it drawn that is a distribution."""
        kind = distribution_of(value)
        if kind is not None:
            return self._draw(kind, value, place)
        if find_distribution(value) is None:
            return value
        if isinstance(value, list):
            parts = [self._replace_in(part, f"{place}.{i}") for i, part in enumerate(value)]
            is_vector = place.rpartition(".")[2] != "params"  # parameters are numbers by themselves
            return self._stack(parts, place) if is_vector and not any(map(_is_table, parts)) else parts
        return {
            key: part if key in WITHOUT_DISTRIBUTIONS else self._replace_in(part, f"{place}.{key}")
            for key, part in value.items()
        }

    def _stack(self, parts: list[Any], place: str) -> Array:
        """A vector or matrix of which some entries were drawn."""
        count = len(self.draw.members)
        try:
            given = [
                part if isinstance(part, np.ndarray) else np.asarray(part, dtype=np.float64)[None] for part in parts
            ]
            return np.stack([np.broadcast_to(part, (count, *part.shape[1:])) for part in given], axis=1)
        except (TypeError, ValueError):
            raise ScenarioError(f"{place} must be numbers, some of which are distributions, of one shape") from None

    def _draw(self, kind: str, table: Mapping[str, Any], place: str) -> Array:
        name = table.get("name", place)
        if not isinstance(name, str):
            raise ScenarioError(f"name of {place} must be a string, not {name!r}")
        asked = {key: value for key, value in table.items() if key != "name"}
        if name in self.drawn:
            before, shared = self.drawn[name]
            if before != asked:
                raise ScenarioError(
                    f"{place} is drawn as {name!r}, like another number of the file, but from another distribution: "
                    "write the same one, or give it another name"
                )
            return shared
        method = getattr(self.draw, kind)
        positional, named = _arguments(kind, asked, place)
        if kind == "table":
            positional = [self.folder / positional[0]]
        try:
            values: Array = method(name, *positional, **named)
        except TypeError as error:  # a wrong number of arguments
            needed = str(error).removeprefix(f"Draw.{kind}() ")
            raise ScenarioError(f"{place}: {kind} {needed}") from None
        except PolhodeError as error:
            raise type(error)(f"{place}: {error}") from None
        self.drawn[name] = asked, values
        return values


def _arguments(kind: str, table: Mapping[str, Any], place: str) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a distribution in order, and by name."""
    given, named = table[kind], {key: value for key, value in table.items() if key != kind}
    known = [p for p in _parameters(kind) if p != kind]
    for key in named:
        if key not in known:
            raise ScenarioError(f"{place}: {kind} has no argument {key!r}: {suggest_name(key, [*known, 'name'])}")
    if isinstance(given, Mapping):
        return [], {**given, **named}
    if kind in WITHOUT_ARGUMENTS:
        if given is not True:
            raise ScenarioError(f"{place}: write {kind} = true, not {given!r}")
        return [], named
    if kind in SEVERAL_ARGUMENTS and isinstance(given, list):
        return list(given), named
    if kind == "table" and not isinstance(given, str):
        raise ScenarioError(f"{place}: table must be the name of a CSV file, not {given!r}")
    return [given], named


def _parameters(kind: str) -> list[str]:
    return [name for name in inspect.signature(getattr(Draw, kind)).parameters if name not in ("self", "name")]
