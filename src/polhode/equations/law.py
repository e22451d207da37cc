"""The registry of laws: plain functions on tuples of numbers, which every backend can evaluate or compile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

Number: TypeAlias = Any
"""A float, an array of floats, or any other scalar type: the laws only add, multiply, divide and compare."""
Vector: TypeAlias = tuple[Any, Any, Any]
Quaternion: TypeAlias = tuple[Any, Any, Any, Any]
Matrix: TypeAlias = tuple[Any, Any, Any, Any, Any, Any, Any, Any, Any]
"""Nine numbers, row by row."""
Groups: TypeAlias = tuple[Any, ...]
"""A state: a tuple of groups (position, attitude, linear momentum, spin), each a flat tuple of numbers."""

Law = TypeVar("Law", bound=Callable[..., Any])

LAWS: list[Callable[..., Any]] = []


def law(function: Law) -> Law:
    """Register a function as a law so that every backend can compile it; return it unchanged.

    Examples
    --------
    >>> import polhode as ph
    >>> @ph.law
    ... def stiffening(x):
    ...     return x + x * x * x
    >>> stiffening(2.0)
    10.0
    """
    LAWS.append(function)
    return function
