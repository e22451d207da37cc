"""The operations of a graph: each is one record with its value, its derivative, its lowering and heyoka's name for it.

Targets print the primitive operations.  The others are lowered into these by a pass: with the formulas that floats and
arrays of them are computed with, so the bits are the same everywhere.  To add an operation, add its record here; if it
is primitive, also its phrase to the tables of the targets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from polhode.equations import elementary, scalar_ops

Rule = Callable[..., Any]


class Operation(NamedTuple):
    """An operation."""

    name: str
    signature: str
    """What it takes, n numbers and t truths ("*": any number of numbers), and what it gives after the colon."""
    value: Rule
    """Its value, of floats and of arrays.  Of one that is not primitive, run on traced numbers, its lowering."""
    partials: Rule | None = None
    """(operands, result) -> the derivative of the result by each operand, None for one that is zero."""
    heyoka: str = ""
    """The function of heyoka, if it has one; the others are lowered for it."""
    is_primitive: bool = False
    lowering: Rule | None = None
    """Its lowering, where that is not how its value is computed."""
    tangent: Rule | None = None
    """(operands, result, tangents) -> the tangent of the result, where no partial derivatives say it well."""
    adjoints: Rule | None = None
    """(operands, result, adjoint) -> the adjoint of each operand, likewise."""

    @property
    def gives_truth(self) -> bool:
        """Whether it is a comparison."""
        return self.signature.endswith("t")


# Values ---------------------------------------------------------------------------------------------------------------
def _divide(a: Any, b: Any) -> Any:
    return np.float64(a) / b


def _choose(c: Any, x: Any, y: Any) -> Any:
    return np.where(c, x, y)[()]


def _pick(index: Any, *entries: Any) -> Any:
    place = np.asarray(index).astype(int)
    if place.ndim == 0:
        return entries[int(place)]
    table: Any = np.stack(np.broadcast_arrays(*entries, place)[:-1])
    return np.take_along_axis(table, place[None], axis=0)[0]


def _fmod(x: Any, y: Any) -> Any:
    """The remainder by truncation, exact: of floats by the C library, of traced numbers an operation."""
    library = scalar_ops.library_of(x, y)
    return library.fmod(x, y) if library.__name__.startswith("polhode.") else np.fmod(x, y)


_HALF_RANGE = 2251799813685248.0
"""2**51: larger numbers are left alone by rounding."""


def _round(x: Any) -> Any:
    size = scalar_ops.absolute(x)
    return scalar_ops.if_less(size, _HALF_RANGE, scalar_ops.nearest_integer(x), x) + 0.0


def _quotient_and_rest(x: Any, y: Any) -> tuple[Any, Any]:
    """x // y and x % y, by Python's rules: the rest has the sign of y and is exact, the quotient is whole."""
    if_less, floor = scalar_ops.if_less, _floor
    rest = _fmod(x, y)
    is_off = if_less(rest, 0.0, if_less(0.0, y, 1.0, 0.0), if_less(0.0, rest, if_less(y, 0.0, 1.0, 0.0), 0.0))
    quotient = (x - rest) / y - is_off
    whole = floor(quotient)
    whole = if_less(0.5, quotient - whole, whole + 1.0, whole)
    size = scalar_ops.absolute(quotient)
    whole = if_less(0.0, size, whole, if_less(size, 1.0, x / y * 0.0, whole))
    size = scalar_ops.absolute(rest)
    moved = if_less(0.5, is_off, rest + y, rest)
    return whole, if_less(0.0, size, moved, if_less(size, 1.0, if_less(y, 0.0, -0.0, 0.0), moved))


def _floor(x: Any) -> Any:
    """The whole number below."""
    library = scalar_ops.library_of(x)
    return library.floor(x) if library.__name__.startswith("polhode.") else np.floor(x)


def _interpolate(x: Any, *table: Any) -> Any:
    from polhode.equations.interpolation import interp

    return interp(x, table[: len(table) // 2], table[len(table) // 2 :])


def _interpolate_by_bisection(x: Any, *table: Any) -> Any:
    return scalar_ops.library_of(x, *table).interpolate_by_bisection(x, *table)


# Derivatives ----------------------------------------------------------------------------------------------------------
def _zeros(operands: Sequence[Any], _: Any) -> tuple[None, ...]:
    return (None,) * len(operands)


def _of_power(operands: Sequence[Any], result: Any) -> tuple[Any, Any]:
    """y x^(y - 1), and x^y log x, which is 0 at x = 0."""
    x, y = operands
    logarithm = elementary.log(scalar_ops.if_less(0.0, x, x, 1.0 + 0.0 * x))
    of_zero = scalar_ops.if_less(x, 0.0, x / 0.0 - x / 0.0, 0.0 * x)  # NaN below zero
    return y * elementary.power(x, y - 1.0), result * logarithm + of_zero


def _of_angle(operands: Sequence[Any], _: Any) -> tuple[Any, Any]:
    y, x = operands
    square = x * x + y * y
    return x / square, -y / square


def _tangent_of_choice(operands: Sequence[Any], _: Any, tangents: Sequence[Any]) -> Any:
    x, y = (0.0 if t is None else t for t in tangents[1:])
    return operands[0].choose(x, y)


def _adjoints_of_choice(operands: Sequence[Any], _: Any, adjoint: Any) -> tuple[Any, Any, Any]:
    return None, operands[0].choose(adjoint, 0.0), operands[0].choose(0.0, adjoint)


def _tangent_of_pick(operands: Sequence[Any], _: Any, tangents: Sequence[Any]) -> Any:
    """The tangent of the entry that was picked, by choices: tangents need not lie in a row."""
    total: Any = None
    for k, tangent in enumerate(tangents[1:]):
        if tangent is not None:
            total = (operands[0] == float(k)).choose(tangent, 0.0 if total is None else total)
    return total


def _adjoints_of_pick(operands: Sequence[Any], _: Any, adjoint: Any) -> tuple[Any, ...]:
    return (None, *((operands[0] == float(k)).choose(adjoint, 0.0) for k in range(len(operands) - 1)))


def _primitive(name: str, signature: str, value: Rule, partials: Rule | None = None, **more: Any) -> Operation:
    return Operation(name, signature, value, partials, is_primitive=True, **more)


_RECORDS = (
    _primitive("add", "nn:n", lambda a, b: a + b, lambda o, r: (1.0, 1.0)),
    _primitive("sub", "nn:n", lambda a, b: a - b, lambda o, r: (1.0, -1.0)),
    _primitive("mul", "nn:n", lambda a, b: a * b, lambda o, r: (o[1], o[0])),
    _primitive("div", "nn:n", _divide, lambda o, r: (1.0 / o[1], -r / o[1])),
    _primitive("neg", "n:n", lambda a: -a, lambda o, r: (-1.0,)),
    _primitive("fma", "nnn:n", lambda a, b, c: a * b + c, lambda o, r: (o[1], o[0], 1.0)),
    _primitive("sqrt", "n:n", np.sqrt, lambda o, r: (0.5 / r,), heyoka="sqrt"),
    _primitive("rcp", "n:n", lambda x: _divide(1.0, x), lambda o, r: (-r * r,)),
    _primitive("rsqrt", "n:n", lambda x: _divide(1.0, np.sqrt(x)), lambda o, r: (-0.5 * r * r * r,)),
    _primitive("floor", "n:n", np.floor, _zeros),
    _primitive("fmod", "nn:n", np.fmod, lambda o, r: (1.0, (r - o[0]) / o[1])),
    _primitive("lt", "nn:t", lambda a, b: a < b, _zeros),
    _primitive("le", "nn:t", lambda a, b: a <= b, _zeros),
    _primitive("eq", "nn:t", lambda a, b: a == b, _zeros),
    _primitive("sel", "tnn:n", _choose, tangent=_tangent_of_choice, adjoints=_adjoints_of_choice),
    _primitive("pick", "*:n", _pick, tangent=_tangent_of_pick, adjoints=_adjoints_of_pick),
    Operation("sin", "n:n", scalar_ops.sine, lambda o, r: (scalar_ops.cos(o[0]),), "sin"),
    Operation("cos", "n:n", scalar_ops.cosine, lambda o, r: (-scalar_ops.sin(o[0]),), "cos"),
    Operation("tan", "n:n", elementary.tangent, lambda o, r: (1.0 + r * r,), "tan"),
    Operation("asin", "n:n", elementary.arcsine, lambda o, r: (1.0 / scalar_ops.sqrt((1.0 - o[0]) * (1.0 + o[0])),)),
    Operation("acos", "n:n", elementary.arccosine, lambda o, r: (-1.0 / scalar_ops.sqrt((1.0 - o[0]) * (1.0 + o[0])),)),
    Operation("atan", "n:n", elementary.arctangent, lambda o, r: (1.0 / (1.0 + o[0] * o[0]),)),
    Operation("atan2", "nn:n", elementary.angle, _of_angle, "atan2"),
    Operation("exp", "n:n", elementary.exponential, lambda o, r: (r,), "exp"),
    Operation("log", "n:n", elementary.logarithm, lambda o, r: (1.0 / o[0],), "log"),
    Operation("power", "nn:n", elementary.raised, _of_power, "pow"),
    Operation("expm1", "n:n", elementary.exponential_less_one, lambda o, r: (r + 1.0,)),
    Operation("log1p", "n:n", elementary.logarithm_of_one_more, lambda o, r: (1.0 / (1.0 + o[0]),)),
    Operation("sinh", "n:n", elementary.hyperbolic_sine, lambda o, r: (elementary.cosh(o[0]),)),
    Operation("cosh", "n:n", elementary.hyperbolic_cosine, lambda o, r: (elementary.sinh(o[0]),)),
    Operation("tanh", "n:n", elementary.hyperbolic_tangent, lambda o, r: (1.0 / elementary.cosh(o[0]) ** 2,)),
    Operation("round", "n:n", _round, _zeros),
    Operation("nearest", "n:n", scalar_ops.round_by_addition, _zeros),
    Operation("floordiv", "nn:n", lambda x, y: _quotient_and_rest(x, y)[0], _zeros),
    Operation("mod", "nn:n", lambda x, y: _quotient_and_rest(x, y)[1], lambda o, r: (1.0, -(o[0] // o[1]))),
    Operation("interp", "*:n", _interpolate, lowering=_interpolate_by_bisection),
)
OPERATIONS = {operation.name: operation for operation in _RECORDS}
"""All operations, by name."""
PRIMITIVES = frozenset(operation.name for operation in _RECORDS if operation.is_primitive)
"""What a target prints, besides the leaves."""
COMPARISONS = frozenset(operation.name for operation in _RECORDS if operation.gives_truth)
