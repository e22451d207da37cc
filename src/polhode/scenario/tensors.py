"""Matrices of bodies that are more than rigid, each perhaps over members."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.validation import Array, as_leaves


def invert(matrix: Array) -> Array:
    """The inverse of a symmetric matrix, symmetric to the last bit."""
    inverse = np.linalg.inv(matrix)
    return np.asarray((inverse + inverse.swapaxes(-1, -2)) / 2)


def matrix_entries(matrix: Array) -> Any:
    """A 3 x 3 matrix as nine numbers, each perhaps over members."""
    return as_leaves(matrix.reshape(*matrix.shape[:-2], 9))
