"""A user's function as a graph: what a force may be written with, and how it is traced.

A function is traced anew at every run, so what it reads from globals, closures and tables is always what they hold now.
An `if` on a traced number is followed both ways, and the results are joined by selection.  Functions of `math` and
NumPy are replaced by our own, so that they have the same bits in plain Python and everywhere else.
"""

from __future__ import annotations

import dis
import math
import traceback
from collections.abc import Callable, Sequence
from hashlib import sha256
from types import BuiltinFunctionType, CellType, FunctionType
from typing import Any

import numpy as np

from polhode.backends import graph as graphs
from polhode.backends.graph import LEAVES, Comparison, Graph, Place, Traced, TraceError, deciding, tracing
from polhode.equations import elementary, interpolation, scalar_ops

MOST_PATHS = 64
"""Ways through a function that its `if`s may make."""


# What stands for `math`, NumPy and helpers ----------------------------------------------------------------------------
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
        return result if any(type(x) is Traced for x in flat) else result.astype(float)

    return each


def _root(x: Any) -> Any:
    return graphs.sqrt(x) if type(x) is Traced else math.sqrt(x)


def _floor(x: Any) -> Any:
    return graphs.apply("floor", x) if type(x) is Traced else math.floor(x)


def _maximum(a: Any, b: Any) -> Any:
    return graphs.if_less(a, b, b, a) if type(a) is Traced or type(b) is Traced else max(a, b)


def _minimum(a: Any, b: Any) -> Any:
    return graphs.if_less(b, a, b, a) if type(a) is Traced or type(b) is Traced else min(a, b)


def _extreme(of_two: Callable[..., Any], plain: Callable[..., Any]) -> Callable[..., Any]:
    def of_many(*values: Any, **more: Any) -> Any:
        entries = list(values[0]) if len(values) == 1 else list(values)
        if more or not any(type(v) is Traced for v in entries):
            return plain(*values, **more)
        best = entries[0]
        for entry in entries[1:]:
            best = of_two(best, entry)
        return best

    return of_many


def _hypot(*values: Any) -> Any:
    total = values[0] * values[0]
    for value in values[1:]:
        total = total + value * value
    return _root(total)


def _where(condition: Any, x: Any, y: Any) -> Any:
    return graphs.select(condition, x, y) if isinstance(condition, Comparison) else np.where(condition, x, y)


def _sign(x: Any) -> Any:
    return scalar_ops.if_less(x, 0.0, -1.0, scalar_ops.if_less(0.0, x, 1.0, 0.0 * x))


def _copysign(x: Any, y: Any) -> Any:
    return scalar_ops.if_less(y, 0.0, -abs(x), abs(x)) if Traced in (type(x), type(y)) else math.copysign(x, y)


def _float(x: Any = 0.0) -> Any:
    return x if type(x) is Traced else float(x)


def _interp(x: Any, xp: Any, fp: Any) -> Any:
    return interpolation.interp(x, tuple(xp), tuple(fp))


_COMMON: dict[str, Callable[..., Any]] = {
    "sqrt": _root,
    "sin": scalar_ops.sin,
    "cos": scalar_ops.cos,
    "tan": lambda x: elementary.tan(x),
    "exp": lambda x: elementary.exp(x),
    "log": lambda x: elementary.log(x),
    "hypot": _hypot,
    "floor": _floor,
    "ceil": lambda x: -_floor(-x),
    "fabs": abs,
    "degrees": lambda x: x * (180.0 / math.pi),
    "radians": lambda x: x * (math.pi / 180.0),
    "copysign": _copysign,
    "pow": lambda x, y: elementary.power(x, y),
}
_INVERSE: dict[str, Callable[..., Any]] = {
    "atan2": lambda y, x: elementary.atan2(y, x),
    "atan": lambda x: elementary.atan2(x, 1.0),
    "asin": lambda x: elementary.atan2(x, _root((1 - x) * (1 + x))),
    "acos": lambda x: elementary.atan2(_root((1 - x) * (1 + x)), x),
}
_MATH = {**_COMMON, **_INVERSE}
_NUMPY: dict[str, Callable[..., Any]] = {
    **{name: _elementwise(function) for name, function in _COMMON.items()},
    **{name.replace("a", "arc", 1): _elementwise(function) for name, function in _INVERSE.items()},
    "power": _elementwise(_COMMON["pow"]),
    "abs": _elementwise(abs),
    "absolute": _elementwise(abs),
    "sign": _elementwise(_sign),
    "maximum": _elementwise(_maximum),
    "minimum": _elementwise(_minimum),
    "clip": lambda x, low, high: _elementwise(_minimum)(_elementwise(_maximum)(x, low), high),
    "deg2rad": _elementwise(_COMMON["radians"]),
    "rad2deg": _elementwise(_COMMON["degrees"]),
    "interp": _interp,
    "where": _where,
}
_BUILTINS: dict[str, Callable[..., Any]] = {
    "max": _extreme(_maximum, max),
    "min": _extreme(_minimum, min),
    "float": _float,
    "pow": _COMMON["pow"],
}


class _Module:
    """Stands for a module: our functions where there are such, otherwise its own."""

    def __init__(self, module: Any, own: dict[str, Any]) -> None:
        self._module, self._own = module, own

    def __getattr__(self, name: str) -> Any:
        return self._own[name] if name in self._own else getattr(self._module, name)


_STANDARD_MATH, _STANDARD_NUMPY = _Module(math, _MATH), _Module(np, _NUMPY)


class _Globals(dict[str, Any]):
    """The globals of a user's function, read when they are asked for, with `math`, NumPy and helpers replaced."""

    def __init__(self, real: dict[str, Any]) -> None:
        super().__init__()
        self._real = real
        self._helpers: dict[Any, Any] = {}

    def __missing__(self, name: str) -> Any:
        if name in self._real:
            return self.adapt(self._real[name])
        return _BUILTINS[name]  # a KeyError leaves the others to Python

    def adapt(self, value: Any) -> Any:
        """What a value is in a traced function."""
        if value is math:
            return _STANDARD_MATH
        if value is np:
            return _STANDARD_NUMPY
        if isinstance(value, BuiltinFunctionType) and value.__module__ == "math":
            return _MATH.get(value.__name__, value)
        if isinstance(value, np.ufunc):
            return _NUMPY.get(value.__name__, value)
        if isinstance(value, FunctionType) and _is_users(value):
            if value not in self._helpers:
                self._helpers[value] = None  # a function that calls itself
                self._helpers[value] = portable(value)
            return self._helpers[value] or value
        return value


_OURS = ("polhode", "numpy", "scipy", "builtins")


def _is_users(function: Any) -> bool:
    return (getattr(function, "__module__", None) or "").partition(".")[0] not in _OURS


def portable(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function on our `math`, so that it has the same bits in plain Python and everywhere else.

    A function that is not made of Python code, or that assigns globals, is left as it is.
    """
    if not isinstance(function, FunctionType) or not _is_users(function) or _assigns_globals(function):
        return function
    own = _Globals(function.__globals__)
    cells = tuple(CellType(own.adapt(cell.cell_contents)) for cell in function.__closure__ or () if _is_filled(cell))
    if len(cells) != len(function.__closure__ or ()):
        return function
    copy = FunctionType(function.__code__, own, function.__name__, function.__defaults__, cells)
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__module__ = function.__module__
    return copy


def _is_filled(cell: CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _assigns_globals(function: FunctionType) -> bool:
    return any(i.opname in ("STORE_GLOBAL", "DELETE_GLOBAL") for i in dis.get_instructions(function.__code__))


def _apply_ufunc(self: Traced, ufunc: Any, method: str, *inputs: Any, **more: Any) -> Any:
    """NumPy's arithmetic with a traced number: element by element."""
    own = _NUMPY.get(ufunc.__name__)
    if method != "__call__" or more:
        raise TraceError(f"np.{ufunc.__name__}.{method} of a number that changes during the run")
    if own is not None:
        return own(*inputs)
    boxed = []
    for x in inputs:
        box = np.empty((), dtype=object)
        box[()] = x.item() if isinstance(x, np.generic) else x  # NumPy's scalars would ask again
        boxed.append(x if isinstance(x, np.ndarray) else box)
    try:
        answer = ufunc(*boxed)
    except TypeError as error:
        raise TraceError(f"np.{ufunc.__name__} of a number that changes during the run") from error
    return answer[()] if isinstance(answer, np.ndarray) and answer.ndim == 0 else answer


def _apply_function(self: Traced, function: Any, kinds: Any, arguments: Any, more: Any) -> Any:
    own = _NUMPY.get(function.__name__)
    if own is None or more:
        raise TraceError(f"np.{function.__name__} of a number that changes during the run")
    return own(*arguments)


Traced.__array_ufunc__ = _apply_ufunc
Traced.__array_function__ = _apply_function  # type: ignore[attr-defined]


# Tracing --------------------------------------------------------------------------------------------------------------
class Recorded:
    """A user's function as it was when it was traced.  Equal functions are equal: they have the same graph."""

    def __init__(
        self, function: Callable[..., Any], graph: Graph, inputs: dict[str, list[int]], answer: Any, problem: str
    ) -> None:
        self.function, self.problem = function, problem
        """The function in plain Python; and, if it may raise an error, the sentence about it."""
        outputs = _leaves(answer)
        order = graph.live([i for i in outputs if i is not None])
        number = {i: k for k, i in enumerate(order)}
        self.ops = [graph.ops[i] for i in order]
        self.args: list[tuple[Any, ...]] = [
            graph.args[i] if graph.ops[i] in LEAVES else tuple(number[a] for a in graph.args[i]) for i in order
        ]
        self.answer = _map(lambda i: number[i], answer)
        self.used = frozenset(name for name, nodes in inputs.items() if any(i in number for i in nodes))
        """The names of the arguments that it reads."""
        self.key = sha256(repr((self.ops, self.args, self.answer)).encode()).hexdigest()
        self.__name__ = getattr(function, "__name__", "function")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Recorded) and other.key == self.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __len__(self) -> int:
        return len(self.ops)

    def __call__(self, *arguments: Any) -> Any:
        leaves = _leaves(arguments)
        if any(type(x) is Traced for x in leaves):
            values = self._trace_again(leaves)
        elif all(isinstance(x, (float, int, np.ndarray, np.number)) for x in leaves):
            with np.errstate(all="ignore"):
                values = self._evaluate(leaves)
        else:
            return self.function(*arguments)
        return _map(lambda i: values[i], self.answer)

    def _trace_again(self, leaves: list[Any]) -> list[Any]:
        graph = graphs._graphs[-1]
        nodes: list[int] = []
        for op, args in zip(self.ops, self.args, strict=True):
            if op == "const":
                nodes.append(graph.add(op, *args))
            elif op == "in":
                nodes.append(graph.node_of(leaves[args[0][2]]))
            elif op == "pick":
                nodes.append(graph.node_of(graphs.pick([Traced(nodes[a]) for a in args[1:]], Traced(nodes[args[0]]))))
            else:
                nodes.append(graph.add(op, *[nodes[a] for a in args]))
        return [Traced(i) for i in nodes]

    def _evaluate(self, leaves: list[Any]) -> list[Any]:
        values: list[Any] = []
        for op, args in zip(self.ops, self.args, strict=True):
            if op == "const":
                values.append(graphs._BITS.unpack(args[0])[0])
            elif op == "in":
                leaf = leaves[args[0][2]]
                values.append(leaf if isinstance(leaf, np.ndarray) else np.float64(leaf))
            else:
                values.append(_ARITHMETIC[op](*[values[a] for a in args]))
        return [v.item() if isinstance(v, np.generic) else v for v in values]


def _pick(index: Any, *numbers: Any) -> Any:
    place = np.asarray(index).astype(int)
    table = np.stack(np.broadcast_arrays(*numbers, place)[:-1]) if np.ndim(place) else np.stack(numbers)
    if np.ndim(place) == 0:
        return table[place]
    return np.take_along_axis(table, place[None], axis=0)[0]


_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: np.float64(a) / b,
    "neg": lambda a: -a,
    "sqrt": np.sqrt,
    "floor": np.floor,
    "fmod": np.fmod,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "eq": lambda a, b: a == b,
    "sel": lambda c, x, y: np.asarray(np.where(c, x, y))[()],
    "pick": _pick,
}


def record_function(function: Callable[..., Any], arguments: dict[str, Any], vectors: int) -> Recorded:
    """Trace a function that returns some vectors of three numbers, or one number if `vectors` is 0.

    `arguments` are its arguments by name, as nested tuples of numbers; their values do not matter.
    """
    plain = portable(function)
    if isinstance(function, FunctionType) and _assigns_globals(function):
        raise TraceError(f"a `global` statement in {function.__name__}: a function that is traced assigns no globals")
    with tracing() as graph:
        inputs: dict[str, list[int]] = {}
        count = 0

        def incoming(value: Any, name: str) -> Any:
            nonlocal count
            if isinstance(value, tuple):
                named = getattr(value, "_fields", None)
                parts = [
                    incoming(part, f"{name}.{named[k]}" if named else name) for k, part in enumerate(value)
                ]
                return type(value)(*parts) if named else tuple(parts)
            place: Place = ("argument", (), count)
            count += 1
            inputs.setdefault(name, []).append(graph.add("in", place))
            return Traced(inputs[name][-1])

        given = [incoming(value, name) for name, value in arguments.items()]
        answer, problem = _follow_all_paths(plain, given, vectors)
        nodes = _map(graph.node_of, answer)
        return Recorded(function, graph, inputs, nodes, problem)


class _Script:
    """The answers to the `if`s of one way through a function."""

    def __init__(self, given: list[bool]) -> None:
        self.given = given
        self.taken: list[tuple[int, bool]] = []

    def decide(self, condition: Comparison) -> bool:
        for node, answer in self.taken:  # the same question again
            if node == condition.i:
                return answer
        k = len(self.taken)
        if k >= MOST_PATHS:
            raise TraceError("a loop, or a recursion, that ends when a number that changes during the run says so")
        self.taken.append((condition.i, self.given[k] if k < len(self.given) else True))
        return self.taken[-1][1]


def _follow_all_paths(function: Callable[..., Any], arguments: Sequence[Any], vectors: int) -> tuple[Any, str]:
    """The result of a function whichever way its `if`s go; and what it raises on some way, a sentence or nothing."""
    paths: list[tuple[list[tuple[int, bool]], Any]] = []
    given: list[bool] = []
    problem = ""
    while True:
        script = _Script(given)
        with deciding(script.decide):
            try:
                answer = normalize(function(*arguments), vectors)
            except (TraceError, TypeError, AttributeError):
                raise
            except Exception as error:
                if not script.taken:
                    raise
                problem = f"{error}{line_of(function, error)}"
                answer = _map(lambda _: math.nan, ((0,) * 3,) * vectors if vectors else 0)
        paths.append((script.taken, answer))
        if len(paths) > MOST_PATHS:
            raise TraceError(f"more than {MOST_PATHS} ways through its `if`s: ph.if_less, max and min make none")
        given = [answer for _, answer in script.taken]
        while given and given[-1] is False:
            given.pop()
        if not given:
            return _join(paths, 0), problem
        given[-1] = False


def _join(paths: list[Any], depth: int) -> Any:
    if len(paths) == 1:
        return paths[0][1]
    yes = [path for path in paths if path[0][depth][1]]
    no = [path for path in paths if not path[0][depth][1]]
    return _select(Comparison(paths[0][0][depth][0]), _join(yes, depth + 1), _join(no, depth + 1))


def _select(condition: Comparison, x: Any, y: Any) -> Any:
    if isinstance(x, tuple):
        return tuple(_select(condition, a, b) for a, b in zip(x, y, strict=True))
    if type(x) is Traced and type(y) is Traced and x.i == y.i:
        return x
    return graphs.select(condition, x, y)


def normalize(answer: Any, vectors: int) -> Any:
    """What a function returns as tuples: lists, arrays and NumPy numbers are as good as tuples and floats."""
    if vectors == 0:
        return _number(answer)
    if not isinstance(answer, (tuple, list, np.ndarray)) or len(answer) != vectors:
        raise TypeError(f"it returned {answer!r}")
    for vector in answer:
        if not isinstance(vector, (tuple, list, np.ndarray)) or len(vector) != 3:
            raise TypeError(f"it returned {answer!r}")
    return tuple(tuple(_number(c) for c in vector) for vector in answer)


def _number(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        if x.ndim and x.dtype.kind == "f":  # numbers of many members
            return x
        x = x[()] if x.ndim == 0 else x
    if type(x) is Traced or type(x) is float:
        return x
    if isinstance(x, (int, float, np.number)) and not isinstance(x, bool):
        return float(x)
    raise TypeError(f"{x!r} is not a number")


def line_of(function: Any, error: BaseException) -> str:
    """The line of a user's function that an error came from."""
    code = getattr(function, "__code__", None)
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if code is not None and frame.filename == code.co_filename:
            return f" ({frame.filename}, line {frame.lineno}: {frame.line})"
    return ""


def _leaves(nest: Any) -> list[Any]:
    if isinstance(nest, tuple):
        return [leaf for part in nest for leaf in _leaves(part)]
    return [nest]


def _map(function: Callable[[Any], Any], nest: Any) -> Any:
    return tuple(_map(function, part) for part in nest) if isinstance(nest, tuple) else function(nest)

