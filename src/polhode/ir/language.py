"""A user's function as a graph: what a force may be written with, and how it is traced.

A function is traced anew at every run, so what it reads from globals, closures and tables is always what they hold now.
An `if` on a traced number is followed both ways, and the results are joined by selection.  Functions of `math` and
NumPy are replaced by our own (`standard_functions`), so that they have the same bits in plain Python and everywhere
else.
"""

from __future__ import annotations

import builtins
import copy
import dis
import math
import random
import sys
import sysconfig
import time
from collections.abc import Callable, Sequence
from enum import Enum
from functools import cached_property, lru_cache, partial
from hashlib import sha256
from itertools import count
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from polhode.ir.graph import (
    Graph,
    Place,
    Trace,
    TraceError,
    current_graph,
    is_tracing,
    leaves_of,
    map_nest,
    replay,
    tracing,
)
from polhode.ir.numbers import Comparison, Known, Traced, deciding, refusing_texts, select
from polhode.ir.passes import evaluate, lower
from polhode.ir.standard_functions import (
    BUILTINS,
    NUMPY,
    POLHODE,
    StandardModule,
    Unrepeatable,
    standard_math,
    standard_numpy,
)
from polhode.scenario.force import name_of_function
from polhode.scenario.preflight import locate_error

MOST_PATHS = 1024
"""Ways through a function that its `if`s may make."""
MOST_DECISIONS = 64
"""Questions on one way: more are taken for a loop without end."""
_SMALL = 1000
"""Longer lists and dictionaries are taken for tables, without functions in them."""


# What stands for `math`, NumPy and helpers ----------------------------------------------------------------------------
class _Adapter:
    """Replaces what a user's function reads by what computes alike everywhere."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[Any, Any]] = {}
        self.builtins = {**vars(builtins), **BUILTINS, "__import__": self._import}

    def _import(self, name: str, *arguments: Any) -> Any:
        return self.adapt(__import__(name, *arguments))

    def adapt(self, value: Any) -> Any:
        """What a value is in a user's function."""
        if type(value) in (float, int, str, bool, np.ndarray, type(None), Traced, Known):
            return value
        if id(value) in self._made:
            return self._made[id(value)][1]
        self._made[id(value)] = (value, value)  # what refers to itself
        made = self._adapt(value)
        self._made[id(value)] = (value, made)
        return made

    def _adapt(self, value: Any) -> Any:
        if value is math:
            return standard_math
        if value is np:
            return standard_numpy
        if isinstance(value, ModuleType):
            if value.__name__ == "polhode":
                return StandardModule(value, POLHODE, self.adapt)
            if value in (random, time, np.random):
                return Unrepeatable(value.__name__, value)
            return StandardModule(value, {}, self.adapt) if _is_users(value) else value
        if isinstance(value, (random.Random, np.random.Generator, np.random.RandomState)):
            return Unrepeatable(type(value).__name__, value)
        if isinstance(value, BuiltinFunctionType):
            if value.__module__ == "math":
                return getattr(standard_math, value.__name__)
            refused = isinstance(value.__self__, (random.Random, np.random.RandomState)) or value.__module__ == "time"
            return Unrepeatable(value.__name__, value) if refused else value
        if isinstance(value, np.ufunc):
            return NUMPY.get(value.__name__, value)
        name, home = getattr(value, "__name__", ""), getattr(value, "__module__", None)
        if home in _ELEMENTARY:
            return POLHODE.get(name, value)
        if home == "numpy" and value is getattr(np, name, None):
            return getattr(standard_numpy, name)
        if isinstance(value, (FunctionType, MethodType, partial)):
            return self.adapt_function(value)
        if type(value) in (list, tuple) and len(value) <= _SMALL:
            parts = [self.adapt(part) for part in value]
            return value if all(a is b for a, b in zip(parts, value, strict=True)) else type(value)(parts)
        if type(value) is dict and len(value) <= _SMALL:
            known = {key: self.adapt(part) for key, part in value.items()}
            return value if all(known[key] is part for key, part in value.items()) else known
        kind = value if isinstance(value, type) else type(value)
        if issubclass(kind, (Enum, BaseException)) or not _is_users(kind) or _is_installed(kind):
            return value
        return self._adapt_class(kind) if kind is value else self._adapt_object(value)

    def adapt_function(self, function: Any) -> Any:
        """A function, method or partial on our own `math` and NumPy."""
        if isinstance(function, partial):
            given = {name: self.adapt(value) for name, value in function.keywords.items()}
            return partial(self.adapt(function.func), *map(self.adapt, function.args), **given)
        if isinstance(function, MethodType):
            if not isinstance(function.__func__, FunctionType):
                return function
            return MethodType(self.adapt(function.__func__), self.adapt(function.__self__))
        if not isinstance(function, FunctionType) or not _is_users(function):
            return function
        if _has_operation(function, ("STORE_GLOBAL", "DELETE_GLOBAL")):
            return _refuse_to_trace(function, function, "a `global` statement: a function that is traced assigns none")
        own = _Globals(function.__globals__, self)
        cells = tuple(CellType() for _ in function.__closure__ or ())
        copied: Any = FunctionType(
            function.__code__,
            own,
            function.__name__,
            self.adapt(function.__defaults__),
            cells,
        )
        copied.__kwdefaults__ = self.adapt(function.__kwdefaults__)
        copied.__module__ = function.__module__
        if _has_operation(function, ("CHECK_EXC_MATCH",)):
            problem = "`except`: compiled code raises no errors that it could catch. Ask beforehand, by `if`"
            copied = _refuse_to_trace(function, copied, problem)
        self._made[id(function)] = (function, copied)  # a function that calls itself
        for name, cell, original in zip(function.__code__.co_freevars, cells, function.__closure__ or (), strict=True):
            try:
                now = original.cell_contents
            except ValueError:  # an empty cell
                continue
            cell.cell_contents = now if name == "__class__" else self.adapt(now)  # super() goes on from the real class
        return copied

    def _adapt_class(self, kind: type) -> type:
        """A subclass of a user's class whose methods are adapted."""
        methods: dict[str, Any] = {"__slots__": (), "__module__": kind.__module__, "__qualname__": kind.__qualname__}
        try:
            made = type(kind)(kind.__name__, (kind,), methods)
        except Exception:  # a class that has no such subclasses
            return kind
        self._made[id(kind)] = (kind, made)
        for base in reversed(kind.__mro__):
            for name, member in vars(base).items() if _is_users(base) else ():
                if isinstance(member, FunctionType):
                    setattr(made, name, self.adapt(member))
                elif isinstance(member, (staticmethod, classmethod)):
                    setattr(made, name, type(member)(self.adapt(member.__func__)))
                elif isinstance(member, property):
                    setattr(made, name, property(self.adapt(member.fget)))
        return made

    def _adapt_object(self, value: Any) -> Any:
        """A copy of a user's object whose methods and contents are adapted."""
        try:
            made = copy.copy(value)
            object.__setattr__(made, "__class__", self.adapt(type(value)))
        except Exception:  # an object that cannot be copied
            return value
        self._made[id(value)] = (value, made)
        for name, part in getattr(made, "__dict__", {}).items():
            made.__dict__[name] = self.adapt(part)
        return made


class _Globals(dict[str, Any]):
    """The globals of a user's function, read once in each run, with `math`, NumPy and helpers replaced."""

    def __init__(self, real: dict[str, Any], adapter: _Adapter) -> None:
        super().__init__(__builtins__=adapter.builtins)
        self._real, self._adapter = real, adapter

    def __missing__(self, name: str) -> Any:
        self[name] = self._adapter.adapt(self._real[name])  # a KeyError leaves the others to the builtins
        return self[name]


def _refuse_to_trace(function: FunctionType, copied: Callable[..., Any], problem: str) -> Callable[..., Any]:
    def call(*arguments: Any, **more: Any) -> Any:
        if not is_tracing():
            return copied(*arguments, **more)
        code = function.__code__
        raise TraceError(f"{function.__name__} ({code.co_filename}, line {code.co_firstlineno}) has {problem}")

    return call


_ELEMENTARY = tuple(f"polhode.equations.{name}" for name in ("elementary", "interpolation", "scalar_ops"))
_OURS = ("polhode", "numpy", "scipy", "builtins", "_pytest")


def _is_users(thing: Any) -> bool:
    """Whether a function, class or module is neither ours nor Python's own."""
    home = thing.__name__ if isinstance(thing, ModuleType) else getattr(thing, "__module__", None) or ""
    top = home.partition(".")[0]
    if top in _OURS:
        return False
    if top not in sys.stdlib_module_names:
        return True
    source = getattr(sys.modules.get(home), "__file__", None)  # a user's module may be called "test"
    return source is not None and not source.startswith(sysconfig.get_path("stdlib"))


def _is_installed(kind: type) -> bool:
    """Whether a class comes from an installed package."""
    source = getattr(sys.modules.get(kind.__module__), "__file__", None) or ""
    return source.startswith(sysconfig.get_path("purelib"))


def portable(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function on our `math`, so that it has the same bits in plain Python and everywhere else.

    A function that is not made of Python code is left as it is.
    """
    adapted: Callable[..., Any] = _Adapter().adapt(function)
    return adapted


def in_plain_python(function: Callable[..., Any], vectors: int) -> Callable[..., Any]:
    """A function as `engine="python"` calls it: uncompiled, with the bits of compiled code."""
    adapted = portable(function)

    def call(*given: Any) -> Any:
        sizes = {len(leaf) for leaf in leaves_of(given) if isinstance(leaf, np.ndarray)}
        if sizes:  # members of an ensemble, one by one
            rows = [call(*_of_member(given, k)) for k in range(sizes.pop())]
            return _transpose(rows)
        if any(type(leaf) is Traced for leaf in leaves_of(given)):
            return _follow_all_paths(adapted, given, vectors)[0]
        return normalize(adapted(*map_nest(Known, given)), vectors)

    return call


def _of_member(nest: Any, k: int) -> Any:
    return map_nest(lambda x: x[k] if isinstance(x, np.ndarray) else x, nest)


def _transpose(rows: list[Any]) -> Any:
    if isinstance(rows[0], tuple):
        return tuple(_transpose([row[i] for row in rows]) for i in range(len(rows[0])))
    return np.array(rows)


def _has_operation(function: Any, names: tuple[str, ...]) -> bool:
    code = getattr(function, "__code__", None)
    return code is not None and _code_has_operation(code, names)


@lru_cache(maxsize=1024)
def _code_has_operation(code: CodeType, names: tuple[str, ...]) -> bool:
    return any(i.opname in names for i in dis.get_instructions(code))


def _apply_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **more: Any) -> Any:
    """NumPy's arithmetic with one of our numbers: element by element."""
    own = NUMPY.get(ufunc.__name__)
    if method != "__call__" or more:
        raise TraceError(f"np.{ufunc.__name__}.{method} of a number that changes during the run")
    if own is not None:
        return own(*inputs)
    boxed = []
    for x in inputs:
        box = np.empty((), dtype=object)
        box[()] = x.item() if isinstance(x, np.generic) else x
        boxed.append(x if isinstance(x, np.ndarray) else box)
    try:
        answer = ufunc(*boxed)
    except TypeError as error:
        if type(self) is Known:
            return ufunc(*(np.asarray(x, dtype=np.float64) for x in inputs))
        raise TraceError(f"{ufunc.__name__} of a number that changes during the run") from error
    return answer[()] if isinstance(answer, np.ndarray) and answer.ndim == 0 else answer


Traced.__array_ufunc__ = _apply_ufunc


# Tracing --------------------------------------------------------------------------------------------------------------
class Recorded:
    """A user's function as it was when it was traced.  Equal functions are equal: they have the same graph."""

    def __init__(
        self, function: Callable[..., Any], graph: Graph, inputs: dict[str, list[int]], answer: Any, problem: str
    ) -> None:
        self.function, self.problem = function, problem
        """The function in plain Python; and, if it may raise an error, the sentence about it."""
        self.graph = Graph()
        number = replay(graph, graph.live(leaves_of(answer)), self.graph)
        self.answer = map_nest(lambda i: number[i], answer)
        self.used = frozenset(name for name, nodes in inputs.items() if any(i in number for i in nodes))
        """The names of the arguments that it reads."""
        self.count = sum(map(len, inputs.values()))
        """How many numbers its arguments hold."""
        self.key = sha256(repr((self.graph.ops, self.graph.args, self.answer)).encode()).hexdigest()
        self.__name__ = name_of_function(function)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Recorded) and other.key == self.key

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def length(self) -> int:
        """How many operations of a processor it takes."""
        return _count_operations(self)

    def __call__(self, *arguments: Any) -> Any:
        leaves = leaves_of(arguments)
        if len(leaves) != self.count:  # each is known by its place among all
            raise ValueError(f"{self.__name__} was traced with {self.count} numbers, but is called with {len(leaves)}")
        if any(type(x) is Traced for x in leaves):
            graph = current_graph()
            known = {i: graph.node_of(leaves[self._place(i)]) for i in self._incoming}
            try:
                values: Any = replay(self.graph, range(len(self.graph.ops)), graph, known)
            except TraceError:  # the graph refuses an operation: the function itself leads to the line
                vectors = len(self.answer) if isinstance(self.answer, tuple) else 0
                _follow_all_paths(portable(self.function), arguments, vectors)
                raise
            return map_nest(lambda i: Traced(values[i]), self.answer)
        if not all(isinstance(x, (float, int, np.ndarray, np.number)) for x in leaves):
            return portable(self.function)(*arguments)
        with np.errstate(all="ignore"):
            given = [leaf if isinstance(leaf, np.ndarray) else np.float64(leaf) for leaf in leaves]
            values = evaluate(self.graph, leaves_of(self.answer), lambda i: given[self._place(i)])
        return map_nest(lambda i: values[i].item() if isinstance(values[i], np.generic) else values[i], self.answer)

    @cached_property
    def _incoming(self) -> list[int]:
        return [i for i, op in enumerate(self.graph.ops) if op == "in"]

    def _place(self, i: int) -> int:
        """Which of its arguments a node is."""
        place: int = self.graph.args[i][0][2]
        return place


@lru_cache(maxsize=256)
def _count_operations(recorded: Recorded) -> int:
    """Of all functions with that graph: it is traced at every run, but need not be lowered each time."""
    return len(lower(Trace(recorded.graph, {}, {}, leaves_of(recorded.answer))).order)


def record_function(function: Callable[..., Any], arguments: dict[str, Any], vectors: int) -> Recorded:
    """Trace a function that returns some vectors of three numbers, or one number if `vectors` is 0.

    `arguments` are its arguments by name, as nested tuples of numbers; their values do not matter.
    """
    graph, places = Graph(), count()
    inputs: dict[str, list[int]] = {}

    def incoming(value: Any, name: str) -> Any:
        if isinstance(value, tuple):
            named = getattr(value, "_fields", None)
            parts = [incoming(part, f"{name}.{named[k]}" if named else name) for k, part in enumerate(value)]
            return type(value)(*parts) if named else tuple(parts)
        place: Place = ("argument", (), next(places))
        inputs.setdefault(name, []).append(graph.add("in", place))
        return Traced(inputs[name][-1])

    given = [incoming(value, name) for name, value in arguments.items()]
    again = graph.copy()
    recorded = _record_once(function, graph, inputs, given, vectors)
    if recorded != _record_once(function, again, inputs, given, vectors):
        raise TraceError(
            "it does something else at every call: a function that a run traces depends on its arguments alone. Keep "
            "no counters and draw no random numbers in it"
        )
    return recorded


def _record_once(
    function: Callable[..., Any], graph: Graph, inputs: dict[str, list[int]], given: Sequence[Any], vectors: int
) -> Recorded:
    """Trace a function of numbers that the graph has."""
    with tracing(graph):
        answer, problem = _follow_all_paths(portable(function), given, vectors)
        nodes = map_nest(graph.node_of, answer)
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
        if k >= MOST_DECISIONS:
            raise TraceError(
                "a loop, or a recursion, that ends when a number that changes during the run says so, or more than "
                f"{MOST_DECISIONS} `if`s: give a loop a known length, and look tables up with ph.interp"
            )
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
                with refusing_texts():
                    answer = normalize(function(*arguments), vectors)
            except (TraceError, TypeError, AttributeError):
                raise
            except Exception as error:
                if not script.taken:
                    raise
                problem = f"{error}{locate_error(function, error)}"
                answer = map_nest(lambda _: math.nan, ((0,) * 3,) * vectors if vectors else 0)
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
    return select(condition, x, y)


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
