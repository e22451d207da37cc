"""What stands for `math`, NumPy and builtin functions in a user's function: the same bits for every kind of number."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from polhode.equations import elementary, interpolation, scalar_ops
from polhode.ir import numbers
from polhode.ir.graph import TraceError, is_tracing
from polhode.ir.numbers import Comparison, Known, Traced

_OWN = (Traced, Known, Comparison)


def _elementwise(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of numbers, applied to every element of arrays."""

    def each(*values: Any) -> Any:
        if not any(isinstance(v, (np.ndarray, list, tuple)) for v in values):
            return function(*values)
        arrays = np.broadcast_arrays(*[np.asarray(v, dtype=object) for v in values])
        flat = [function(*entries) for entries in zip(*(a.ravel() for a in arrays), strict=True)]
        result: Any = np.empty(len(flat), dtype=object)
        result[:] = flat
        result = result.reshape(arrays[0].shape)
        if any(type(x) in _OWN for x in flat):
            return result
        return result.astype(bool if all(isinstance(x, bool) for x in flat) else float)

    return each


# Functions of numbers -------------------------------------------------------------------------------------------------
def _floor(x: Any) -> Any:
    return x.__floor__() if type(x) is Traced else math.floor(x)


def _ceil(x: Any) -> Any:
    return x.__ceil__() if type(x) is Traced else math.ceil(x)


def _trunc(x: Any) -> Any:
    return x.__trunc__() if type(x) is Traced else math.trunc(x)


def _fmod(x: Any, y: Any) -> Any:
    if Traced in (type(x), type(y)):
        return numbers.apply("fmod", x, y)
    return Known(math.fmod(x, y)) if Known in (type(x), type(y)) else math.fmod(x, y)


def _maximum(a: Any, b: Any) -> Any:
    return scalar_ops.if_less(a, b, b, a)


def _minimum(a: Any, b: Any) -> Any:
    return scalar_ops.if_less(b, a, b, a)


def _hypot(*values: Any) -> Any:
    total = values[0] * values[0]
    for value in values[1:]:
        total = total + value * value
    return scalar_ops.sqrt(total)


def _dist(a: Any, b: Any) -> Any:
    return _hypot(*(x - y for x, y in zip(a, b, strict=True)))


def _product(values: Any, start: Any = 1) -> Any:
    for value in values:
        start = start * value
    return start


def _choose(condition: Any, x: Any, y: Any) -> Any:
    if isinstance(condition, Comparison):
        return numbers.select(condition, x, y)
    return x if condition else y


def _sign(x: Any) -> Any:
    return scalar_ops.if_less(x, 0.0, -1.0, scalar_ops.if_less(0.0, x, 1.0, 0.0 * x))


def _copysign(x: Any, y: Any) -> Any:
    if Traced in (type(x), type(y)):
        return abs(x) * scalar_ops.sign_with_zeros(y)
    return Known(math.copysign(x, y)) if Known in (type(x), type(y)) else math.copysign(x, y)


def _heaviside(x: Any, at_zero: Any) -> Any:
    return scalar_ops.if_less(x, 0.0, 0.0, scalar_ops.if_less(0.0, x, 1.0, at_zero + 0.0 * x))


def _log(x: Any, base: Any = None) -> Any:
    return elementary.log(x) if base is None else elementary.log(x) / elementary.log(base)


def _polyval(p: Any, x: Any) -> Any:
    value = 0.0 * x
    for coefficient in p:
        value = value * x + coefficient
    return value


def _is_nan(x: Any) -> Any:
    return x != x


def _is_finite(x: Any) -> Any:
    return x - x == 0.0


def _is_infinite(x: Any) -> Any:
    return abs(x) == math.inf


_COMMON: dict[str, Callable[..., Any]] = {
    "sqrt": scalar_ops.sqrt,
    "sin": scalar_ops.sin,
    "cos": scalar_ops.cos,
    "tan": elementary.tan,
    "exp": elementary.exp,
    "log": _log,
    "log2": lambda x: elementary.log(x) / elementary.log(2.0),
    "log10": lambda x: elementary.log(x) / elementary.log(10.0),
    "log1p": elementary.log1p,
    "expm1": elementary.expm1,
    "sinh": elementary.sinh,
    "cosh": elementary.cosh,
    "tanh": elementary.tanh,
    "hypot": _hypot,
    "floor": _floor,
    "ceil": _ceil,
    "trunc": _trunc,
    "fmod": _fmod,
    "fabs": abs,
    "degrees": lambda x: x * (180.0 / math.pi),
    "radians": lambda x: x * (math.pi / 180.0),
    "copysign": _copysign,
    "pow": elementary.power,
    "isnan": _is_nan,
    "isfinite": _is_finite,
    "isinf": _is_infinite,
}
_INVERSE: dict[str, Callable[..., Any]] = {
    "atan2": elementary.atan2,
    "atan": elementary.atan,
    "asin": elementary.asin,
    "acos": elementary.acos,
}
MATH = {**_COMMON, **_INVERSE, "dist": _dist, "prod": _product}


# NumPy ----------------------------------------------------------------------------------------------------------------
def _holds_own(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_holds_own, value))
    return type(value) in _OWN or (isinstance(value, np.ndarray) and value.dtype == object)


def _as_objects(value: Any) -> Any:
    """Sequences of our numbers as arrays of objects: NumPy would make floats of some."""
    return np.array(value, dtype=object) if isinstance(value, (list, tuple)) and _holds_own(value) else value


def _as_floats(value: Any) -> Any:
    return np.asarray(value, dtype=np.float64) if _holds_own(value) else value


def _array(value: Any, *arguments: Any, **more: Any) -> Any:
    if _holds_own(value):
        return np.array(value, dtype=object)
    return np.array(value, *arguments, **more)


def _made_of_floats(make: Callable[..., Any]) -> Callable[..., Any]:
    """A new array that can take our numbers."""

    def made(*arguments: Any, **more: Any) -> Any:
        array = make(*arguments, **more)
        return array.astype(object) if array.dtype == np.float64 else array

    return made


def _full(shape: Any, value: Any, *_: Any, **__: Any) -> Any:
    array = np.empty(shape, dtype=object)
    array.fill(value)
    return array


def _dot(a: Any, b: Any) -> Any:
    return np.dot(_as_objects(a), _as_objects(b))


def _norm(x: Any, ord: Any = None, axis: Any = None) -> Any:
    entries = np.asarray(_as_objects(x))
    if entries.ndim != 1 or axis not in (None, 0, -1) or ord not in (None, 2, 1, math.inf):
        if _holds_own(x):
            raise TraceError("np.linalg.norm of anything but one vector, of order 2, 1 or infinity")
        return np.linalg.norm(x, ord, axis)
    if ord in (None, 2):
        return _hypot(*entries)
    sizes = [abs(entry) for entry in entries]
    return sum(sizes[1:], sizes[0]) if ord == 1 else BUILTINS["max"](sizes)


def _interp(x: Any, xp: Any, fp: Any) -> Any:
    xp, fp = tuple(xp), tuple(fp)
    return _elementwise(lambda one: interpolation.interp(one, xp, fp))(x)


def _clip(a: Any, a_min: Any, a_max: Any) -> Any:
    return _elementwise(_minimum)(_elementwise(_maximum)(a, a_min), a_max)


def _extreme(of_two: Callable[..., Any], plain: Callable[..., Any]) -> Callable[..., Any]:
    def of_many(*values: Any, **more: Any) -> Any:
        entries = list(values[0]) if len(values) == 1 else list(values)
        if more or not any(type(v) in _OWN for v in entries):
            return plain(entries, **more)
        best = entries[0]
        for entry in entries[1:]:
            best = of_two(best, entry)
        return best

    return of_many


def _extreme_of_array(of_two: Callable[..., Any], plain: Callable[..., Any]) -> Callable[..., Any]:
    def of_array(values: Any, *axis: Any, **more: Any) -> Any:
        if axis or more or not _holds_own(values):
            return plain(values, *axis, **more)
        return _extreme(of_two, plain)(list(np.ravel(_as_objects(values))))

    return of_array


class StandardModule:
    """Stands for a module: our functions where there are such, otherwise its own."""

    def __init__(self, module: ModuleType, own: dict[str, Any], adapt: Callable[[Any], Any]) -> None:
        self._module, self._own, self._adapt = module, own, adapt

    def __getattr__(self, name: str) -> Any:
        return self._own[name] if name in self._own else self._adapt(getattr(self._module, name))


class Unrepeatable:
    """Stands for what has another value at every call: as a constant of a trace it would be wrong in silence."""

    def __init__(self, name: str, value: Any) -> None:
        self._name, self._value = name, value

    def __getattr__(self, name: str) -> Any:
        return Unrepeatable(f"{self._name}.{name}", getattr(self._value, name))

    def __call__(self, *arguments: Any, **more: Any) -> Any:
        if not is_tracing():
            return self._value(*arguments, **more)
        raise TraceError(
            f"{self._name}(): a function that a run traces has the same value for the same arguments. Draw numbers "
            "before the run, and give them as parameters"
        )


def _of_math(value: Any) -> Any:
    """A function of `math` for which we have none."""
    if not callable(value):
        return value

    def of_constants(*arguments: Any) -> Any:
        if is_tracing() and any(map(_holds_own, arguments)):
            known = ", ".join(sorted(MATH))
            raise TraceError(f"math.{value.__name__} of a number that changes during the run. There are: {known}")
        return value(*arguments)

    return of_constants


def _of_numpy(value: Any) -> Any:
    """A function of NumPy for which we have none: NumPy's own does for arrays of objects what it is made of."""
    if not callable(value) or isinstance(value, (type, np.ufunc)):
        return value

    def of_objects(*arguments: Any, **more: Any) -> Any:
        try:
            return value(*map(_as_objects, arguments), **more)
        except TypeError as error:
            if not _holds_own(arguments):
                raise
            if not is_tracing():
                return value(*map(_as_floats, arguments), **more)
            raise TraceError(f"np.{value.__name__} of numbers that change during the run: {error}") from error

    return of_objects


NUMPY: dict[str, Any] = {
    **{name: _elementwise(function) for name, function in _COMMON.items()},
    **{name.replace("a", "arc", 1): _elementwise(function) for name, function in _INVERSE.items()},
    "array": _array,
    "asarray": _array,
    "zeros": _made_of_floats(np.zeros),
    "ones": _made_of_floats(np.ones),
    "empty": _made_of_floats(np.zeros),
    "full": _full,
    "dot": _dot,
    "vdot": _dot,
    "inner": _dot,
    "power": _elementwise(numbers.raise_to),
    "abs": _elementwise(abs),
    "absolute": _elementwise(abs),
    "sign": _elementwise(_sign),
    "heaviside": _elementwise(_heaviside),
    "maximum": _elementwise(_maximum),
    "minimum": _elementwise(_minimum),
    "max": _extreme_of_array(_maximum, np.max),
    "amax": _extreme_of_array(_maximum, np.max),
    "min": _extreme_of_array(_minimum, np.min),
    "amin": _extreme_of_array(_minimum, np.min),
    "clip": _clip,
    "deg2rad": _elementwise(_COMMON["radians"]),
    "rad2deg": _elementwise(_COMMON["degrees"]),
    "rint": _elementwise(round),
    "interp": _interp,
    "polyval": _polyval,
    "where": _elementwise(_choose),
    "logical_and": _elementwise(lambda a, b: a & b),
    "logical_or": _elementwise(lambda a, b: a | b),
    "logical_not": _elementwise(lambda a: ~a if isinstance(a, Comparison) else not a),
}
NUMPY["random"] = Unrepeatable("np.random", np.random)
NUMPY["linalg"] = StandardModule(np.linalg, {"norm": _norm}, _of_numpy)
POLHODE: dict[str, Any] = {
    **{name: NUMPY[name] for name in ("sqrt", "sin", "cos", "tan", "exp", "log", "interp")},
    "power": _elementwise(elementary.power),
    "atan2": NUMPY["arctan2"],
    "if_less": _elementwise(scalar_ops.if_less),
}
standard_math = StandardModule(math, MATH, _of_math)
standard_numpy = StandardModule(np, NUMPY, _of_numpy)


# Builtin functions ----------------------------------------------------------------------------------------------------
class _FloatType(type):
    """`float` in a user's function: its numbers are floats.  As the type of an array it lets these in."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, (float, Traced))

    def __call__(cls, x: Any = 0.0) -> Any:
        if type(x) is Comparison:
            return numbers.select(x, 1.0, 0.0)
        return x if type(x) in (Traced, Known) else float(x)


BUILTINS: dict[str, Any] = {
    "max": _extreme(_maximum, max),
    "min": _extreme(_minimum, min),
    "float": _FloatType("float", (), {}),
    "print": numbers.print_numbers,
    "pow": lambda x, y, *modulus: pow(x, y, *modulus) if modulus else numbers.raise_to(x, y),
}
NUMPY["float64"] = BUILTINS["float"]
