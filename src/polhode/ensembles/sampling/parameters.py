"""Parameters of distributions: checked, and one for each component of what is drawn."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from polhode import validation
from polhode.errors import InputError, show
from polhode.validation import Array

SEMIDEFINITE_RTOL = 1e-10
"""How far, relative to the variances, a covariance matrix may be from a positive semidefinite one: its rounding."""


class Components(NamedTuple):
    """Parameters of the components of a vector, or of a single number."""

    values: tuple[Array, ...]
    """Each parameter, for all components."""
    is_vector: bool

    @property
    def size(self) -> int:
        """How many components there are."""
        return len(self.values[0])


def check_components(where: str, may_be_infinite: tuple[str, ...] = (), **parameters: Any) -> Components:
    """Parameters as numbers, each one number for all components or one for each."""
    arrays = {}
    for name, value in parameters.items():
        label = f"{name} of {where}"
        try:
            array = validation.as_floats(value)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"{label} must be a number or a list of numbers, not {show(value)}") from None
        if array.ndim > 1 or array.size == 0:
            raise InputError(f"{label} must be a number, or a vector of them, but has the shape {array.shape}")
        if np.isnan(array).any() or (name not in may_be_infinite and np.isinf(array).any()):
            raise InputError(f"{label} must be finite, but is {array.tolist()}")
        arrays[name] = array
    sizes = {len(array) for array in arrays.values() if array.ndim}
    if len(sizes) > 1:
        found = ", ".join(f"{len(a)} of {name}" if a.ndim else f"1 of {name}" for name, a in arrays.items())
        raise InputError(f"the parameters of {where} have different numbers of components: {found}")
    size = sizes.pop() if sizes else 1
    return Components(tuple(np.broadcast_to(a, (size,)) for a in arrays.values()), any(a.ndim for a in arrays.values()))


def check_not_negative(values: Array, name: str, where: str) -> None:
    """Raise if a standard deviation, a weight or the like is negative."""
    if (values < 0).any():
        raise InputError(f"{name} of {where} must not be negative, but is {values.min():g}")


def factor_covariance(covariance: Any, size: int, where: str) -> list[list[float]]:
    """The lower triangular L of L L^T = covariance, which may be singular; in plain arithmetic, for equal bits."""
    label = f"covariance of {where}"
    matrix = validation.check_numbers(covariance, label, (size, size))
    if matrix.shape != (size, size):
        raise InputError(f"{label} must be {size} x {size} numbers, but has the shape {matrix.shape}")
    deviations = np.sqrt(np.maximum(np.diagonal(matrix), 0.0))
    allowed = SEMIDEFINITE_RTOL * np.outer(deviations, deviations)
    if (np.abs(matrix - matrix.T) > allowed).any():
        row, column = np.unravel_index(np.abs(matrix - matrix.T).argmax(), matrix.shape)
        raise InputError(f"{label} is not symmetric: its entries {row}, {column} and {column}, {row} differ")
    a, factor = matrix.tolist(), [[0.0] * size for _ in range(size)]
    for j in range(size):
        pivot = a[j][j] - _dot(factor[j], factor[j], j)
        if pivot > allowed[j, j]:
            factor[j][j] = math.sqrt(pivot)
            for i in range(j + 1, size):
                factor[i][j] = (a[i][j] - _dot(factor[i], factor[j], j)) / factor[j][j]
    found = np.array(factor)
    if (np.abs(found @ found.T - matrix) > 100 * allowed).any() or (np.diagonal(matrix) < 0).any():
        least = float(np.linalg.eigvalsh(matrix)[0])
        raise InputError(
            f"{label} is not positive semidefinite: its smallest eigenvalue is {least:.3g}, so that some combination "
            "of the components would have a negative variance. Check its signs, and that no correlation exceeds 1"
        )
    return factor


def _dot(x: list[float], y: list[float], count: int) -> float:
    """The product of the first components, added from left to right: what `sum` does depends on Python's version."""
    total = 0.0
    for i in range(count):
        total += x[i] * y[i]
    return total
