"""Records from tables of a file: keys are fields, and every value has the type of its field."""

from __future__ import annotations

import math
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any, Literal, TypeVar, Union

from numpy.typing import ArrayLike

from polhode.errors import ScenarioError
from polhode.synonyms import suggest_name

Record = TypeVar("Record")
ARRAY_HINTS = frozenset(typing.get_args(ArrayLike))
"""What an annotation has in place of "points": all that NumPy makes an array of."""


def read_record(
    record: type[Record], table: Any, where: str, readers: Mapping[str, Callable[[Any, str], Any]] | None = None
) -> Record:
    """A frozen record from a table; `readers` read the fields that are records themselves.

    Examples
    --------
    >>> from polhode.web.stage import StageCamera
    >>> read_record(StageCamera, {"azimuth_deg": 30, "zoom": 2.0}, "camera").zoom
    2.0
    >>> read_record(StageCamera, {"azimut_deg": 30}, "camera")
    Traceback (most recent call last):
    ...
    polhode.errors.ScenarioError: camera has no key 'azimut_deg': did you mean 'azimuth_deg'?...
    """
    if not isinstance(table, Mapping):
        raise ScenarioError(f"{where} must be a table of keys and values, not {table!r}")
    known: dict[str, Any] = {field.name: field for field in fields(typing.cast(Any, record)) if field.init}
    hints = typing.get_type_hints(record)
    given: dict[str, Any] = {}
    for key, value in table.items():
        if key not in known:
            raise ScenarioError(f"{where} has no key {key!r}: {suggest_name(key, list(known))}")
        if readers is not None and key in readers:
            given[key] = readers[key](value, f"{key} of {where}")
        elif not _fits(value, hints[key]):
            raise ScenarioError(f"{key} of {where} must be {_describe_hint(hints[key])}, not {value!r}")
        else:
            given[key] = tuple(value) if isinstance(value, list) else value
    needed = [n for n, f in known.items() if f.default is MISSING and f.default_factory is MISSING and n not in given]
    if needed:
        raise ScenarioError(f"{where} needs {', '.join(needed)}")
    return record(**given)


def read_list(value: Any, where: str, read: Callable[[Any, str], Record]) -> tuple[Record, ...]:
    """Each of a list of tables."""
    if not isinstance(value, list):
        raise ScenarioError(f"{where} must be a list of tables, not {value!r}")
    return tuple(read(one, f"{where}, number {i},") for i, one in enumerate(value))


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value of a file has the type of an annotation."""
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return True
    if origin in (Union, types.UnionType):
        others = [one for one in inside if one not in ARRAY_HINTS]
        return any(_fits(value, one) for one in others) or (len(others) < len(inside) and _is_list_of_numbers(value))
    if origin is Literal:
        return value in inside
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return isinstance(value, Mapping) and all(_fits(one, inside[1]) for one in value.values())
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return isinstance(value, list) and all(_fits(one, inside[0]) for one in value)
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(hint, type) and isinstance(value, hint)


def _is_list_of_numbers(value: Any) -> bool:
    """Whether it is a point, or a list of points."""
    return isinstance(value, list) and all(_fits(one, float) or _is_list_of_numbers(one) for one in value)


def _describe_hint(hint: Any) -> str:
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        others = [_describe_hint(one) for one in inside if one is not type(None) and one not in ARRAY_HINTS]
        points = [] if not ARRAY_HINTS & set(inside) else ["a list of numbers"]
        return " or ".join([*others, *points])
    if origin is Literal:
        return " or ".join(repr(one) for one in inside)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return "a table of numbers"
    if isinstance(origin, type) and issubclass(origin, Sequence):
        of = _describe_hint(inside[0])
        return f"a list of {'numbers' if of == 'a number' else of.replace('a ', '', 1) + 's'}"
    return {float: "a number", int: "an integer", bool: "true or false", str: "a string"}.get(hint, str(hint))
