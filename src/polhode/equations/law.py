"""The list of laws.  A law is a plain function on tuples of numbers; an engine that compiles looks for them here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

Number: TypeAlias = Any
"""A float, an array of floats, or any other kind of number: the laws only add, multiply, divide and compare it."""
Vector: TypeAlias = tuple[Any, Any, Any]
Quaternion: TypeAlias = tuple[Any, Any, Any, Any]
Matrix: TypeAlias = tuple[Any, Any, Any, Any, Any, Any, Any, Any, Any]
"""Nine numbers, row after row."""
Groups: TypeAlias = tuple[Any, ...]
"""A state: a tuple of groups (position, attitude, linear momentum, spin), each a flat tuple of numbers."""

Law = TypeVar("Law", bound=Callable[..., Any])

LAWS: list[Callable[..., Any]] = []


def law(function: Law) -> Law:
    """List `function` among the laws and hand it back unchanged."""
    LAWS.append(function)
    return function
