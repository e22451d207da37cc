"""Numbers that remember how they were made from knobs: floats that compute as ever, and record a graph beside it.

A scenario is built from plain floats, some of which depend on knobs.  While a `Trail` is open, its `Known`s record
every operation in a graph.  Arrays keep the bits of numbers and lose the rest, so the trail also knows numbers by their
bits: `polhode.validation` asks it where numbers go into arrays and come back from them.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import local
from typing import Any

import numpy as np

from polhode.ir import numbers
from polhode.ir.graph import Graph, tracing
from polhode.ir.numbers import Known, Traced, compare, select
from polhode.ir.passes import evaluate
from polhode.validation import Array, following

_BITS = struct.Struct("<d")
_SIMPLE = 1024
"""Whole numbers, and multiples of 1/1024 up to 1024, may be anybody's: they are not known by their bits."""
_ALL_WHOLE = 2.0**53
"""From here on every double is a whole number, whatever it was made of."""
MOST_NUMBERS = 10_000
"""Larger arrays are not looked into: they are tables and meshes."""
_COMPARED = {"less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge", "equal": "eq", "not_equal": "ne"}
_EXACT = ("isfinite", "isnan", "isinf", "signbit", "floor", "ceil", "rint", "trunc", "sign", "logical_not")
"""Functions of NumPy whose results only choose: they are compared when the trail is verified."""


class NumberLog:
    """Stands for a trail in a run with plain numbers: the numbers that go through arrays, in order."""

    def __init__(self) -> None:
        self.entries: list[list[float]] = []

    def find(self, value: float) -> float:
        self.entries.append([value])
        return value

    def array(self, array: Any) -> Any:
        self.entries.append(array.ravel().tolist() if array.size <= MOST_NUMBERS else [])
        return array


class Trail:
    """What is known of the numbers made from knobs.

    Numbers come back from arrays by their bits.  Two may be equal by accident: then the logs of runs with other values
    of the knobs tell them apart.
    """

    def __init__(self, graph: Graph, knobs: Sequence[Array] = (), logs: Sequence[NumberLog] = ()) -> None:
        self.graph = graph
        self.nodes: dict[bytes, list[int]] = {}
        """The nodes of numbers, by their bits; the last is the most likely."""
        self.simple: dict[bytes, list[int]] = {}
        """Those of numbers that anybody may write, such as a difference that happens to be 0."""
        self.guards: dict[tuple[str, int, int], bool] = {}
        """Comparisons on the way, and their results."""
        self.lost: dict[str, None] = {}
        """Functions that left the trail, in order."""
        self._knobs, self._logs, self._asked = knobs, logs, 0
        self._values: dict[int, Array] = {}

    @property
    def is_open(self) -> bool:
        """Whether it is the one that records now."""
        return bool(_now.trails) and _now.trails[-1] is self

    def knob(self, place: int, value: float) -> Known:
        """The number of a knob."""
        return self.keep(value, self.graph.add("in", ("knobs", (), place)))

    def keep(self, value: float, node: int) -> Known:
        """A number with its node, from now on known by its bits."""
        known = (self.simple if is_simple(value) else self.nodes).setdefault(_BITS.pack(value), [])
        if node not in known:
            known.append(node)
        return Known(value, node, self)

    def recall(self, value: float) -> float:
        """A number by its bits: with its node if it is known, otherwise as it is."""
        known = self.nodes.get(_BITS.pack(value))
        return value if known is None else Known(float(value), known[-1], self)

    def candidates(self, value: float) -> list[int]:
        """The nodes of all numbers with these bits."""
        bits = _BITS.pack(value)
        return self.nodes.get(bits, self.simple.get(bits, []))

    def node(self, x: Any) -> int:
        """The node of an operand; a plain number is a constant."""
        return x.i if type(x) is Known and x.trail is self else self.graph.constant(float(x))

    def node_by_bits(self, value: float) -> int:
        """The node of a number of an array."""
        known = self.nodes.get(_BITS.pack(value))
        return self.graph.constant(value) if known is None else known[-1]

    def knows(self, x: Any) -> bool:
        """Whether an operand depends on knobs."""
        return (type(x) is Known and x.trail is self) or _BITS.pack(float(x)) in self.nodes

    def guard(self, op: str, a: int, b: int, truth: bool) -> None:
        """Note the result of a comparison."""
        if op in ("gt", "ge"):
            op, a, b = {"gt": "lt", "ge": "le"}[op], b, a
        if op == "ne":
            op, truth = "eq", not truth
        self.guards[op, a, b] = truth

    @staticmethod
    def apply_ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """NumPy's arithmetic with a number of a trail."""
        return apply_ufunc(ufunc, method, inputs, options)

    # What `polhode.validation` asks for
    def find(self, value: float) -> float:
        """A number that comes back from an array."""
        self._choose([value])
        return self.recall(value)

    def array(self, array: Any) -> Any:
        """An array that was given: it goes on recording if it holds a number of the trail."""
        numbers = array.ravel().tolist() if array.size <= MOST_NUMBERS else []
        self._choose(numbers)
        return array.view(TrailArray) if any(_BITS.pack(x) in self.nodes for x in numbers) else array

    def _choose(self, numbers: list[float]) -> None:
        """Of several nodes with the bits of a number, make that the last which has the logged values."""
        at, self._asked = self._asked, self._asked + 1
        rows = [log.entries[at] if at < len(log.entries) else [] for log in self._logs]
        if not rows or any(len(row) != len(numbers) for row in rows):
            return
        for i, value in enumerate(numbers):
            known = self.nodes.get(_BITS.pack(value), [])
            if len(known) > 1:
                wanted = np.array([row[i] for row in rows])
                right = next((n for n in sorted(known) if (self._value(n) == wanted).all()), None)
                if right is not None:
                    known.remove(right)
                    known.append(right)

    def _value(self, node: int) -> Array:
        evaluate_for(self.graph, [node], self._knobs, self._values)
        return self._values[node]


@np.errstate(all="ignore")
def evaluate_for(
    graph: Graph, roots: Sequence[int], knobs: Sequence[Array], values: dict[int, Any] | None = None
) -> dict[int, Any]:
    """The values of nodes for many values of the knobs at once; those known already are kept."""
    found = evaluate(graph, roots, lambda i: knobs[graph.args[i][0][2]], values)
    for i in roots:
        found[i] = np.broadcast_to(found[i], knobs[0].shape)
    return found


class _Recording(local):
    """What this thread records."""

    def __init__(self) -> None:
        self.trails: list[Trail] = []


_now = _Recording()


@contextmanager
def following_knobs(knobs: Sequence[Array] = (), logs: Sequence[NumberLog] = ()) -> Iterator[Trail]:
    """A new trail, recorded until the end of the block; `logs` were made with other values of the knobs."""
    with tracing() as graph:
        trail = Trail(graph, knobs, logs)
        _now.trails.append(trail)
        try:
            with _asking(trail):
                yield trail
        finally:
            _now.trails.pop()


@contextmanager
def logging_numbers() -> Iterator[NumberLog]:
    """A log of the numbers that go through arrays until the end of the block."""
    log = NumberLog()
    with _asking(log):
        yield log


@contextmanager
def _asking(whom: Any) -> Iterator[None]:
    before, following.trail = following.trail, whom
    try:
        yield
    finally:
        following.trail = before


def is_simple(value: float) -> bool:
    """Whether a number is one that anybody may write."""
    scaled = value * _SIMPLE
    if not abs(scaled) < 2.0**1000:
        return True
    is_whole = abs(value) < _ALL_WHOLE and value == int(value)
    return is_whole or (abs(value) <= _SIMPLE and scaled == int(scaled))


# Arrays ---------------------------------------------------------------------------------------------------------------
class TrailArray(np.ndarray[Any, np.dtype[np.float64]]):
    """An array of floats whose arithmetic is recorded, number by number."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return apply_ufunc(ufunc, method, inputs, options)

    def __getitem__(self, key: Any) -> Any:
        return _come_back(super().__getitem__(key))

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))


def _come_back(found: Any) -> Any:
    """A number of an array, as a number of the trail."""
    if isinstance(found, np.floating) and _now.trails:
        return _now.trails[-1].recall(float(found))
    return found


def _plain(x: Any) -> Any:
    if type(x) is Known:
        return float(x)
    return x.view(np.ndarray) if isinstance(x, TrailArray) else x


def apply_ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    plain = [_plain(x) for x in inputs]
    options = {name: tuple(map(_plain, x)) if isinstance(x, tuple) else _plain(x) for name, x in options.items()}
    result = getattr(ufunc, method)(*plain, **options)
    trail = _now.trails[-1] if _now.trails else None
    if (
        trail is None
        or method != "__call__"
        or "out" in options
        or not isinstance(result, (np.ndarray, np.floating, np.bool_))
    ):
        return result
    is_scalar = not any(isinstance(x, np.ndarray) for x in plain)
    return _record(trail, ufunc, plain, result, is_scalar)


def _record(trail: Trail, ufunc: Any, plain: list[Any], result: Any, is_scalar: bool) -> Any:
    name, shape = ufunc.__name__, np.shape(result)
    if ufunc.signature is not None:  # of whole vectors and matrices
        if any(trail.knows(x) for whole in plain for x in np.ravel(whole).tolist()):
            trail.lost[f"numpy.{name}"] = None
        return result
    operands = [np.broadcast_to(np.asarray(x, dtype=np.float64), shape).ravel().tolist() for x in plain]
    values = np.asarray(result).ravel().tolist()
    if name in _COMPARED:
        _guard_closest(trail, _COMPARED[name], operands, values)
        return result
    makers = {
        "radians": lambda x: x * (math.pi / 180),
        "deg2rad": lambda x: x * (math.pi / 180),
        "negative": lambda x: -x,
        "sqrt": numbers.sqrt,
        "square": lambda x: x * x,
        "absolute": abs,
        "maximum": lambda x, y: select(compare("lt", x, y), y, x),
        "minimum": lambda x, y: select(compare("lt", x, y), x, y),
        "add": lambda x, y: x + y,
        "subtract": lambda x, y: x - y,
        "multiply": lambda x, y: x * y,
        "divide": lambda x, y: x / y,
    }
    if name not in makers:
        if name not in _EXACT and any(trail.knows(x) for column in operands for x in column):
            trail.lost[f"numpy.{name}"] = None
        return result
    for value, *given in zip(values, *operands, strict=True):
        if any(trail.knows(x) for x in given):
            made = makers[name](*(Traced(trail.node_by_bits(x)) for x in given))  # type: ignore[operator]
            trail.keep(value, made.i)
    if np.ndim(result) == 0 and is_scalar:
        return trail.recall(float(result))
    return np.asarray(result).view(TrailArray)


def _guard_closest(trail: Trail, op: str, operands: list[list[float]], truths: list[bool]) -> None:
    """Of comparisons of arrays the closest is noted, among those that hold and among the others."""
    for truth in (True, False):
        rows = [
            (abs(a - b) / (abs(a) + abs(b) or 1.0), a, b)
            for a, b, found in zip(*operands, truths, strict=True)
            if bool(found) is truth and (trail.knows(a) or trail.knows(b))
        ]
        if rows:
            _, a, b = min(rows)
            trail.guard(op, trail.node_by_bits(a), trail.node_by_bits(b), truth)
