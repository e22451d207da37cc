"""Argument checks of the closed forms: arrays, positive numbers and vectors, integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode import validation
from polhode.errors import InputError
from polhode.validation import Array


def finite_array(value: Any, name: str) -> Array:
    """Check for finite numbers of any shape and return them as an array."""
    return np.asarray(validation.check_numbers(value, name, validation.shape_of(value)))


def positive_number(value: Any, name: str, unit: str) -> float:
    """Check for one finite positive number."""
    number = validation.check_number(value, name)
    validation.check_positive(number, name, unit)
    return number


def positive_vector(value: Any, name: str, unit: str) -> Array:
    """Check for three finite positive numbers."""
    array = validation.check_vector(value, name, "body")
    if not (array > 0).all():
        raise InputError(f"{name} must be greater than 0 {unit}, but are {array.tolist()}")
    return array


def integer_in_range(value: Any, name: str, allowed: range) -> int:
    """Check for an integer in a range."""
    if not validation.is_whole_number(value) or value not in allowed:
        raise InputError(f"{name} must be an integer from {allowed[0]} to {allowed[-1]}, not {value!r}")
    return int(value)
