"""What a closed form for one body takes at its door: times, three moments, a whole number."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode import validation
from polhode.errors import InputError
from polhode.validation import Array


def finite_array(value: Any, name: str) -> Array:
    """Finite numbers, in an array of any shape."""
    return np.asarray(validation.check_numbers(value, name, validation.shape_of(value)))


def positive_number(value: Any, name: str, unit: str) -> float:
    """One finite number above zero."""
    number = validation.check_number(value, name)
    validation.check_positive(number, name, unit)
    return number


def positive_vector(value: Any, name: str, unit: str) -> Array:
    """Three finite numbers above zero."""
    array = validation.check_vector(value, name, "body")
    if not (array > 0).all():
        raise InputError(f"{name} must be greater than 0 {unit}, but are {array.tolist()}")
    return array


def integer_in_range(value: Any, name: str, allowed: range) -> int:
    """A whole number from a range."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value not in allowed:
        raise InputError(f"{name} must be a whole number from {allowed[0]} to {allowed[-1]}, not {value!r}")
    return int(value)
