"""Trees as JSON: dictionaries and lists of numbers, words and None, and of arrays, which are kept elsewhere."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

ARRAY, NUMBER = "$array", "$number"
"""The keys of what stands for an array, and for a number that JSON lacks."""
TREE_ARRAY = "scenario_array_"
"""How the names of arrays begin that belong to the description of a run."""
NUMBERS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


@dataclass(frozen=True)
class ArrayName:
    """In a tree, in place of an array that is kept under this name."""

    name: str


def encode_tree(value: Any, put: Callable[[Any], Any]) -> Any:
    """A tree as plain JSON; `put` keeps an array, and returns what it is found by.

    Examples
    --------
    >>> arrays = []
    >>> encode_tree({"end": math.inf, "state": np.zeros(3)}, lambda array: arrays.append(array) or len(arrays) - 1)
    {'end': {'$number': 'inf'}, 'state': {'$array': 0}}
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        return {ARRAY: put(value)}
    if isinstance(value, ArrayName):
        return {ARRAY: value.name}
    if isinstance(value, float) and not math.isfinite(value):
        return {NUMBER: str(value)}
    if isinstance(value, Mapping):
        if set(value) & {ARRAY, NUMBER}:
            raise ValueError(f"{ARRAY} and {NUMBER} have a meaning in archives, and cannot be names in one")
        return {str(key): encode_tree(part, put) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [encode_tree(part, put) for part in value]
    return value


def decode_tree(value: Any, get: Callable[[Any], Any] = ArrayName) -> Any:
    """The tree of such JSON; `get` returns the array that is found by what `put` has returned, or its name stays."""
    if isinstance(value, dict):
        if set(value) == {ARRAY}:
            return get(value[ARRAY])
        if set(value) == {NUMBER}:
            return NUMBERS[value[NUMBER]]
        return {key: decode_tree(part, get) for key, part in value.items()}
    return [decode_tree(part, get) for part in value] if isinstance(value, list) else value


def encode_json(content: Any, indent: int | None = 1) -> bytes:
    """Plain JSON as a line, or more; NaN and infinity, which JSON does not have, are refused."""
    return (json.dumps(content, indent=indent, allow_nan=False) + "\n").encode()


def digest_json(content: Any) -> str:
    """The SHA-256 of plain JSON, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, allow_nan=False).encode()).hexdigest()


# Numbers --------------------------------------------------------------------------------------------------------------
def little_endian(values: Any) -> Any:
    """The array itself if it is contiguous and little-endian, else a copy that is."""
    values = np.asarray(values)
    return np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<")).reshape(values.shape)


def digest_numbers(values: Any) -> str:
    """The SHA-256 of an array's bytes, little-endian, in the order of its axes."""
    return hashlib.sha256(little_endian(values).data).hexdigest()
