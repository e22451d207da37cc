"""Validation of numeric arguments: finite, of the right shape, in an ensemble with one leading axis for the members."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection
from numbers import Integral
from os import PathLike
from pathlib import Path
from threading import local
from typing import Any, TypeAlias, TypeGuard, TypeVar

import numpy as np
from numpy.ma import MaskedArray, is_masked
from numpy.typing import NDArray

from polhode.errors import FileError, InputError, nearest, show

Array: TypeAlias = NDArray[np.float64]
AXES = ("world", "body")
"""The axes in which a vector may be given."""
NO_NUMBERS = (bool, np.timedelta64)
"""What `numbers.Real` takes for numbers: Python counts truth values as such, and NumPy spans of time."""
Kind = TypeVar("Kind")
Leaf: TypeAlias = float | Array
"""One number, or an array with one for each member of an ensemble (or body of a system)."""


Advice: TypeAlias = Callable[[str, Collection[str]], str]
"""From an unknown word and the known ones, what to do."""


class _Following(local):
    """What follows numbers through arrays while this thread traces a scenario from its knobs.

    It belongs to `polhode.solve.knob_trail`.
    """

    trail: Any = None


following = _Following()


def check_numbers(
    value: Any, name: str, shape: tuple[int, ...] = (), error: type[InputError] = InputError, wanted: str = ""
) -> Array:
    """An array of finite numbers of that shape, or of that shape after one leading axis.

    `wanted` says what should have been given, if the shape does not say it best.
    """
    wanted = wanted or ("a number" if shape == () else " x ".join(map(str, shape)) + " numbers")
    try:
        array = as_floats(value)
    except (TypeError, ValueError, OverflowError):
        if shape and isinstance(value, (tuple, list)) and any(shape_of(part) for part in value):
            raise error(
                f"{name} must be {wanted}, or one array with {wanted} for each member of an ensemble, not a "
                f"{type(value).__name__} of arrays: write np.stack(np.broadcast_arrays(x, y, z), axis=-1)"
            ) from None
        raise error(f"{name} must be {wanted}, not {show(value)}") from None
    if array.shape[array.ndim - len(shape) :] != shape or array.ndim > len(shape) + 1:
        raise error(
            f"{name} must be {wanted} (in an ensemble with one leading axis for the members), "
            f"but has the shape {array.shape}"
        )
    if not np.isfinite(array).all():
        raise error(f"{name} must be finite, but is {_format_array(array)}: find where it became infinite or NaN")
    if array.ndim > len(shape) and len(array) == 0:
        raise error(f"{name} has a leading axis of length 0: an ensemble needs at least one member")
    return array


def check_positive(value: Any, name: str, unit: str, error: type[InputError] = InputError) -> Array:
    """A finite number above zero."""
    array = check_numbers(value, name, (), error)
    if not (array > 0).all():
        raise error(f"{name} must be greater than 0 {unit}, but is {_format_array(array)}")
    return array


def check_number(value: Any, name: str, error: type[InputError] = InputError) -> float:
    """One finite number, with no members."""
    if isinstance(value, float) and following.trail is None and -math.inf < value < math.inf:
        return float(value)  # as nearly always, and faster
    array = check_numbers(value, name, shape_of(value), error, "a number")
    if array.ndim:
        raise error(f"{name} must be one number, the same for all, but has the shape {array.shape}")
    return number_of(array)


def check_vector(value: Any, name: str, of: str) -> Array:
    """Three finite numbers, with no members: of one frame, one point, or what `of` names."""
    array = check_numbers(value, name, shape_of(value), wanted="3 numbers")
    if array.shape != (3,):
        advice = f": give one {of} at a time" if array.ndim > 1 else ""
        raise InputError(f"{name} must be 3 numbers, but has the shape {array.shape}{advice}")
    return array


def check_still_finite(array: Array, what: str) -> Array:
    """What was computed from finite numbers, if it is finite too."""
    if not np.isfinite(array).all():
        raise InputError(
            f"{what} overflows: its numbers are beyond {np.finfo(np.float64).max:.2g}. "
            "Choose units in which nothing is so large or so small"
        )
    return array


def check_flag(value: Any, name: str, error: type[InputError] = InputError) -> bool:
    """True or False, not something that is only truthy."""
    if not isinstance(value, (bool, np.bool_)):
        raise error(f"{name} must be True or False, not {show(value)}")
    return bool(value)


def check_word(
    value: Any, name: str, known: Collection[str], error: type[InputError] = InputError, advice: str | Advice = nearest
) -> str:
    """One of the known words; `advice` ends the sentence about another one, or makes its end of it and the known.

    What is no text is refused before it is compared: arrays compare number by number, and lists have no hash.

    Examples
    --------
    >>> check_word("gpu", "engine", ("cpu", "gpu"))
    'gpu'
    >>> check_word(["gpu"], "engine", ("cpu", "gpu"))
    Traceback (most recent call last):
    ...
    polhode.errors.InputError: engine ['gpu'] is unknown: it must be one of 'cpu', 'gpu'
    """
    if not isinstance(value, str):
        raise error(f"{name} {show(value)} is unknown: it must be one of {', '.join(map(repr, known))}")
    if value not in known:
        raise error(f"{name} {show(value)} is unknown: {advice if isinstance(advice, str) else advice(value, known)}")
    return value


def check_text(value: Any, name: str, error: type[InputError] = InputError) -> str:
    """Any text that a file can hold."""
    if not isinstance(value, str):
        raise error(f"{name} must be a string, not {show(value)}")
    try:
        value.encode()
    except UnicodeEncodeError:  # half of a character of UTF-16
        raise error(f"{name} {show(value)} cannot be written in UTF-8: leave out what is no character") from None
    return value


def check_path(path: Any, what: str, use: str = "written to") -> Path:
    """A path from what a user gave."""
    if not isinstance(path, (str, PathLike)) or isinstance(os.fspath(path), bytes):
        raise FileError(f"{what} cannot be {use} {show(path)}: give the name of a file, as a string or a Path")
    try:
        if b"\0" in os.fsencode(path):
            raise ValueError
    except ValueError:  # also characters that no file name has
        raise FileError(f"{what} cannot be {use} {show(path)}: no file can have that name") from None
    return Path(path)


def is_whole_number(value: Any) -> TypeGuard[int]:
    """Whether it is a whole number, and no truth value.

    Examples
    --------
    >>> [is_whole_number(one) for one in (3, np.int32(3), True, np.timedelta64(3, "s"), 3.0)]
    [True, True, False, False, False]
    """
    return isinstance(value, Integral) and not isinstance(value, NO_NUMBERS)


def check_index(value: Any, name: str, count: int, error: type[InputError] = InputError) -> int:
    """A whole number from 0 to count - 1."""
    if not is_whole_number(value) or not 0 <= value < count:
        raise error(f"{name} must be a whole number from 0 to {count - 1}, not {show(value)}")
    return int(value)


def check_kind(value: Any, name: str, kind: type[Kind], error: type[InputError] = InputError) -> Kind:
    """Something of one of our kinds."""
    if not isinstance(value, kind):
        raise error(f"{name} must be a ph.{kind.__name__}, not {show(value)}")
    return value


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape of what should be numbers; () for ragged rows."""
    try:
        return np.shape(value)
    except ValueError:
        return ()


def as_leaf(array: Array) -> Leaf:
    """A plain float for one number, else the array over the members."""
    return number_of(array) if array.ndim == 0 else array


def number_of(array: Array) -> float:
    """The number in an array that holds one."""
    return float(array) if following.trail is None else following.trail.find(float(array))


def as_leaves(array: Array) -> Any:
    """The components of a vector, each a plain float or an array over the members."""
    if array.ndim == 1:
        numbers = array.tolist()
        return tuple(numbers if following.trail is None else map(following.trail.find, numbers))
    return tuple(np.ascontiguousarray(array[..., i]) for i in range(array.shape[-1]))


def member_count(*arrays_and_shapes: tuple[Array, int]) -> int | None:
    """The length of the leading axis that these (array, dimensions without members) share; None if none has one."""
    counts = {len(array) for array, dimensions in arrays_and_shapes if array.ndim > dimensions}
    if len(counts) > 1:
        raise InputError(
            f"the leading axes have different lengths, {sorted(counts)}: give every one the same number of members"
        )
    return counts.pop() if counts else None


def as_floats(value: Any) -> Array:
    """An array of floats; strings, booleans and None are not numbers."""
    if isinstance(value, MaskedArray) and is_masked(value):
        raise TypeError("some numbers are masked")
    array = np.asarray(value)
    if array.dtype.kind in "fiu":
        array = array.astype(np.float64, copy=False)
        return array if following.trail is None else following.trail.array(array)
    if array.dtype.kind != "O" or any(isinstance(part, (str, bool, type(None))) for part in array.flat):
        raise TypeError("not numbers")
    return array.astype(np.float64)


def _format_array(array: Array) -> str:
    if array.size <= 9:
        return f"{array.tolist()}"
    bad = np.argwhere(~np.isfinite(array) | (array <= 0))
    return f"{array[tuple(bad[0])]} at index {bad[0].tolist()}"
