"""Tables and functions of a mass course as polynomials of the time, piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from polhode import validation
from polhode.errors import InertiaError, ScenarioError
from polhode.validation import Array

DEGREE = 7
"""Of the polynomials that functions of time are replaced by, piece by piece."""
MOST_PIECES = 1024
FIT_RTOL = 1e-13
"""The largest deviation of such a polynomial from its function, as a part of the largest value."""
SAME = 1e-9
"""How closely the course at the start must agree with the body, as a part of the size."""
TENSOR = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
"""The order of the entries of a symmetric tensor."""
SHAPES: dict[str, list[tuple[int, ...]]] = {"mass": [()], "center_of_mass": [(3,)], "inertia": [(3,), (3, 3)]}
"""Of what is given for one time."""


def has_members(name: str, shape: tuple[int, ...], count: int) -> bool:
    """Whether a table has an axis for the members before that of the times."""
    allowed = [(count, *each) for each in SHAPES[name]]
    return shape not in allowed and shape[1:] in allowed


def check_rows(value: Any, name: str, count: int) -> Array:
    """Numbers of a table, ([members,] times, 1), (..., 3) or (..., 6)."""
    shape = validation.shape_of(value)
    numbers = validation.check_numbers(value, name, shape, ScenarioError)
    is_varied = has_members(name, numbers.shape, count)
    allowed: list[Any] = [(count, *each) for each in SHAPES[name]]
    if numbers.shape not in allowed and not is_varied:
        wanted = " or ".join(map(str, allowed))
        raise ScenarioError(
            f"{name} of a mass course with {count} times has the shape {wanted}, in an ensemble after an axis for the "
            f"members, but is {numbers.shape}"
        )
    return _as_rows(numbers, name, numbers.ndim - is_varied == 3)


def _as_row(value: Any, name: str) -> Array:
    """One, three or six numbers."""
    numbers = np.asarray(value, dtype=np.float64)
    return _as_rows(numbers, name, numbers.ndim == 2)


def _as_rows(numbers: Array, name: str, is_tensor: bool) -> Array:
    """One, three or six numbers of each of many values."""
    if name == "mass":
        return numbers[..., None]
    if name == "center_of_mass":
        return numbers
    if not is_tensor:
        return np.concatenate([numbers, np.zeros_like(numbers)], axis=-1)
    turned = numbers.swapaxes(-1, -2)
    largest = np.abs(numbers).max(axis=(-1, -2))
    if (np.abs(numbers - turned).max(axis=(-1, -2)) > SAME * largest).any():
        raise InertiaError("an inertia tensor of the mass course is not symmetric")
    return np.stack([(numbers[..., i, j] + numbers[..., j, i]) / 2 for i, j in TENSOR], axis=-1)


def join_by_lines(values: Array, knots: Array) -> Array:
    """([members,] pieces, numbers, 2): the lines between the rows of a table."""
    slopes = np.diff(values, axis=-2) / np.diff(knots)[..., None]
    return np.stack([np.broadcast_to(values[..., :-1, :], slopes.shape), slopes], axis=-1)


def _nodes() -> Array:
    """Chebyshev points in -1 to 1."""
    return np.cos(np.pi * (2 * np.arange(DEGREE + 1)[::-1] + 1) / (2 * DEGREE + 2))


def sample_functions(knots: Array, given: Mapping[str, Any]) -> tuple[Array, dict[str, Array]]:
    """Times between which polynomials replace the functions, and the values (pieces, nodes, numbers) that they fit."""
    if len(knots) != 2 or not all(callable(value) for value in given.values()):
        raise ScenarioError(
            "a mass course is given by tables, or by functions only: then times are the first and the last time"
        )
    pieces = 1
    while pieces <= MOST_PIECES:
        edges = np.linspace(knots[0], knots[1], pieces + 1)
        values = {name: _call(function, name, edges, _nodes()) for name, function in given.items()}
        checks = np.linspace(-1, 1, 2 * DEGREE + 1)
        worst = 0.0
        for name, function in given.items():
            found = _evaluate(fit_polynomials(values[name]), checks)
            expected = _call(function, name, edges, checks)
            worst = max(worst, float(np.abs(found - expected).max() / max(np.abs(expected).max(), 1e-300)))
        if worst <= FIT_RTOL:
            return edges, values
        pieces *= 2
    raise ScenarioError(
        f"a function of the mass course is not smooth (no polynomials follow it closer than {worst:.1g}): give a "
        "table, or functions that are smooth between the first and the last time"
    )


def _call(function: Callable[[float], Any], name: str, edges: Array, nodes: Array) -> Array:
    """(pieces, nodes, numbers)"""
    middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    rows = []
    for m, h in zip(middle, half, strict=True):
        answers = [function(float(m + h * s)) for s in nodes]
        if any(validation.shape_of(answer) not in SHAPES[name] for answer in answers):
            raise ScenarioError(f"the function {name} of the mass course returned {answers[0]!r}")
        checked = [validation.check_numbers(a, name, validation.shape_of(a), ScenarioError) for a in answers]
        rows.append([_as_row(answer, name) for answer in checked])
    return np.array(rows)


def fit_polynomials(values: Array) -> Array:
    """(pieces, numbers, degree + 1): the polynomials through values at the Chebyshev points."""
    matrix = np.polynomial.polynomial.polyvander(_nodes(), DEGREE)
    return np.asarray(np.moveaxis(np.linalg.solve(matrix, values), 1, 2), dtype=np.float64)


def _evaluate(coefficients: Array, s: Array) -> Array:
    """(pieces, points, numbers)"""
    powers = np.polynomial.polynomial.polyvander(s, DEGREE)
    return np.asarray(np.einsum("pnd,sd->psn", coefficients, powers))
