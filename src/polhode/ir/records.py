"""Records: named, typed fields, declared once; Python, the compiled loops, GPUs and checkpoints take their layout.

Every number lies in 64 bits of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from inspect import get_annotations
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

if TYPE_CHECKING:
    _Entry = object  # the stubs of NumPy forbid what its `record` does: a class of entries with attributes
else:
    _Entry = np.void

_KINDS = {"float": "d", "int": "i", "bool": "b"}
_FORMATS = {"d": "<f8", "i": "<i8", "b": "?"}


class Field(NamedTuple):
    """Where a field of a record lies, and what it is."""

    word: int
    kind: str
    """ "d", "i" or "b", as the loops call them."""
    size: int | None
    """How many numbers it is: an array; None: a single one."""


def numbers(count: int) -> Any:
    """A field of several numbers: `values: Any = numbers(9)`.

    Examples
    --------
    >>> class Sample(Record):
    ...     time: float
    ...     body: int
    ...     state: Any = numbers(3)
    >>> rows = np.zeros(2, Sample.dtype)
    >>> rows[1].body, rows[1].state[2] = 4, 0.5
    >>> rows["state"].tolist(), Sample.words
    ([[0.0, 0.0, 0.0], [0.0, 0.0, 0.5]], 5)
    """
    return Field(0, "d", count)


class Record(_Entry):
    """An entry of an array of records; a class of records declares the fields, each `float`, `int`, `bool` or several.

    `np.zeros(count, Kind.dtype)` is an array of them, in Python and in a loop; `array[i].name` is a field.
    """

    fields: ClassVar[dict[str, Field]]
    words: ClassVar[int]
    """The size in numbers of 64 bits."""
    dtype: ClassVar[np.dtype[Any]]

    def __init_subclass__(cls) -> None:
        cls.fields, cls.words = {}, 0
        for name, given in get_annotations(cls).items():
            several = vars(cls).get(name)
            if several is None:
                cls.fields[name] = Field(cls.words, _KINDS[getattr(given, "__name__", str(given))], None)
            else:
                cls.fields[name] = several._replace(word=cls.words)
            cls.words += cls.fields[name].size or 1
            setattr(cls, name, _access(name))
        places = {
            "names": list(cls.fields),
            "formats": [_FORMATS[f.kind] if f.size is None else ("<f8", (f.size,)) for f in cls.fields.values()],
            "offsets": [8 * f.word for f in cls.fields.values()],
            "itemsize": 8 * cls.words,
        }
        cls.dtype = np.dtype((cls, places))


def _access(name: str) -> Any:
    def write(entry: Any, value: Any) -> None:
        entry[name] = value

    return property(lambda entry: entry[name], write)


def fields_of(array: np.ndarray[Any, Any]) -> dict[str, np.ndarray[Any, Any]]:
    """The fields of an array of records, each as an array of floats or integers: what a checkpoint keeps."""
    columns = ((name, array[name]) for name in array.dtype.names or ())
    return {name: np.array(each, np.int64 if each.dtype == bool else each.dtype) for name, each in columns}


def set_fields(array: np.ndarray[Any, Any], fields: Mapping[str, np.ndarray[Any, Any]]) -> None:
    """Write the fields of all records of an array, as `fields_of` has returned them."""
    for name, values in fields.items():
        array[name] = values


__all__ = ["Field", "Record", "fields_of", "numbers", "set_fields"]
