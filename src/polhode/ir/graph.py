"""A number that records what is done with it: the graph of a law, in single assignment, with equal nodes shared.

Nothing is reordered and nothing is simplified, so whatever is emitted from a graph has the bits of the plain law.

The operations: const, in (a number loaded from memory), uniform (a number that all lanes share), add, sub, mul, div,
neg, sqrt, floor, fmod, lt, le, eq, sel (condition, x, y), and pick (index, numbers...: the entry at a whole number).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Real
from threading import local
from typing import Any

from polhode.errors import PolhodeError

_BITS = struct.Struct("<d")
LEAVES = ("const", "in", "uniform")
"""The operations whose arguments are no nodes."""
COMPARISONS = ("lt", "le", "eq")


class TraceError(PolhodeError):
    """A function does something with its numbers that cannot be traced."""


class Graph:
    """Nodes in the order of their making: node i is ops[i] of the nodes args[i], all of them earlier."""

    def __init__(self) -> None:
        self.ops: list[str] = []
        self.args: list[tuple[Any, ...]] = []
        self._seen: dict[Any, int] = {}

    def add(self, op: str, *args: Any) -> int:
        """The node of an operation: the one that exists, or a new one."""
        key = (op, args)
        found = self._seen.get(key)
        if found is None:
            found = self._seen[key] = len(self.ops)
            self.ops.append(op)
            self.args.append(args)
        return found

    def constant(self, value: float) -> int:
        """The node of a constant.  By its bits: 0.0 and -0.0 are two."""
        return self.add("const", _BITS.pack(value))

    def value(self, i: int) -> float:
        """The value of a constant."""
        number: float = _BITS.unpack(self.args[i][0])[0]
        return number

    def node_of(self, x: Any) -> int:
        """The node of an operand: a traced number, a comparison, or a plain number."""
        if type(x) is Traced or type(x) is Comparison:
            return x.i
        try:
            return self.constant(float(x))
        except (TypeError, ValueError, OverflowError):
            raise TraceError(f"{x!r} is not a number") from None

    def live(self, roots: Sequence[int]) -> list[int]:
        """The nodes that some root needs, in order."""
        needed, stack = set(roots), list(roots)
        while stack:
            i = stack.pop()
            if self.ops[i] not in LEAVES:
                fresh = [a for a in self.args[i] if a not in needed]
                needed.update(fresh)
                stack.extend(fresh)
        return sorted(needed)


class _Tracing(local):
    """What this thread traces; another may trace something else at the same time."""

    def __init__(self) -> None:
        self.graphs: list[Graph] = []
        self.deciders: list[Callable[[Comparison], bool]] = []
        """What answers an `if` on a traced number, innermost last."""


_now = _Tracing()


@contextmanager
def tracing() -> Iterator[Graph]:
    """A new graph, into which all traced numbers of this thread record."""
    graph = Graph()
    _now.graphs.append(graph)
    try:
        yield graph
    finally:
        _now.graphs.pop()


def current_graph() -> Graph:
    """The graph into which numbers are being recorded."""
    return _now.graphs[-1]


@contextmanager
def deciding(decide: Callable[[Comparison], bool]) -> Iterator[None]:
    """Answer every `if` on a traced number by a function."""
    _now.deciders.append(decide)
    try:
        yield
    finally:
        _now.deciders.pop()


def is_tracing() -> bool:
    """Whether numbers are being recorded."""
    return bool(_now.graphs)


def apply(op: str, *operands: Any) -> Traced:
    """The result of an operation as a traced number."""
    graph = _now.graphs[-1]
    return Traced(graph.add(op, *[graph.node_of(x) for x in operands]))


def compare(op: str, a: Any, b: Any) -> Comparison:
    """A comparison of two numbers."""
    graph = _now.graphs[-1]
    return Comparison(graph.add(op, graph.node_of(a), graph.node_of(b)))


_ROUNDER, _HALF_RANGE = 6755399441055744.0, 2251799813685248.0
"""1.5 * 2**52: to add and subtract it rounds to a whole number; 2**51: larger numbers are left alone."""


def _refuse(what: str, advice: str) -> Callable[..., Any]:
    def refuse(self: Any, *_: Any, **__: Any) -> Any:
        raise TraceError(f"{what} of a number that changes during the run{advice}")

    return refuse


class Traced:
    """A number of which only the way it was made is known."""

    __slots__ = ("i",)
    __add__: Any
    __radd__: Any
    __sub__: Any
    __rsub__: Any
    __mul__: Any
    __rmul__: Any
    __truediv__: Any
    __rtruediv__: Any
    """Defined below, all in the same way."""

    def __init__(self, i: int) -> None:
        self.i = i

    def __neg__(self) -> Traced:
        return Traced(_now.graphs[-1].add("neg", self.i))

    def __pos__(self) -> Traced:
        return self

    def __abs__(self) -> Any:
        return select(compare("lt", self, 0.0), -self, self + 0.0)

    def __pow__(self, exponent: Any) -> Any:
        return NotImplemented if _is_array(exponent) else raise_to(self, exponent)

    def __rpow__(self, base: Any) -> Any:
        return NotImplemented if _is_array(base) else raise_to(base, self)

    def __mod__(self, other: Any) -> Any:
        return NotImplemented if _is_array(other) else divide_with_rest(self, other)[1]

    def __rmod__(self, other: Any) -> Any:
        return NotImplemented if _is_array(other) else divide_with_rest(other, self)[1]

    def __floordiv__(self, other: Any) -> Any:
        return NotImplemented if _is_array(other) else divide_with_rest(self, other)[0]

    def __rfloordiv__(self, other: Any) -> Any:
        return NotImplemented if _is_array(other) else divide_with_rest(other, self)[0]

    def __divmod__(self, other: Any) -> Any:
        return divide_with_rest(self, other)

    def __rdivmod__(self, other: Any) -> Any:
        return divide_with_rest(other, self)

    def __floor__(self) -> Any:
        return apply("floor", self) + 0.0  # no -0, as of Python's whole numbers

    def __ceil__(self) -> Any:
        return 0.0 - apply("floor", -self)

    def __trunc__(self) -> Any:
        return select(compare("lt", self, 0.0), self.__ceil__(), self.__floor__())

    def __lt__(self, other: Any) -> Comparison:
        return compare("lt", self, other)

    def __gt__(self, other: Any) -> Comparison:
        return compare("lt", other, self)

    def __le__(self, other: Any) -> Comparison:
        return compare("le", self, other)

    def __ge__(self, other: Any) -> Comparison:
        return compare("le", other, self)

    def __eq__(self, other: object) -> Any:
        return compare("eq", self, other)

    def __ne__(self, other: object) -> Any:
        return ~compare("eq", self, other)

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return bool(self != 0.0)

    # NumPy: an array of traced numbers is an array of objects, whose elements it asks for these methods
    def sqrt(self) -> Traced:
        return apply("sqrt", self)

    def conjugate(self) -> Traced:
        return self

    def __format__(self, form: str) -> str:
        return repr(self)

    def __repr__(self) -> str:
        return "<a number of the run>"

    def __round__(self, digits: Any = None) -> Any:
        if digits is not None:
            raise TraceError("round() to some digits of a number that changes during the run: scale it, round(100 * x)")
        near = select(compare("lt", abs(self), _HALF_RANGE), (self + _ROUNDER) - _ROUNDER, self)
        return near + 0.0

    __float__ = _refuse("float(), or a function that takes plain floats only,", "")
    __int__ = _refuse("int()", ": math.floor keeps it a number, and ph.interp, or `if`, looks it up in a table")
    __index__ = _refuse("the use as an index", ": look it up with ph.interp(x, xp, fp), or by `if`")
    __array_ufunc__: Any = None
    """Set by `polhode.ir.language`, which knows what NumPy may do with traced numbers."""


def _define_operator(op: str, symbol: str) -> None:
    def forward(self: Traced, other: Any) -> Any:
        graph = _now.graphs[-1]
        if type(other) is Traced:
            return Traced(graph.add(op, self.i, other.i))
        return NotImplemented if _is_array(other) else Traced(graph.add(op, self.i, graph.node_of(other)))

    def backward(self: Traced, other: Any) -> Any:
        graph = _now.graphs[-1]
        return NotImplemented if _is_array(other) else Traced(graph.add(op, graph.node_of(other), self.i))

    setattr(Traced, f"__{symbol}__", forward)
    setattr(Traced, f"__r{symbol}__", backward)


def _is_array(x: Any) -> bool:
    return bool(getattr(x, "ndim", 0))


for _op, _symbol in (("add", "add"), ("sub", "sub"), ("mul", "mul"), ("div", "truediv")):
    _define_operator(_op, _symbol)


class Comparison:
    """A comparison of traced numbers.  An `if` asks for its truth, which somebody has to decide."""

    __slots__ = ("i", "negated")

    def __init__(self, i: int, negated: bool = False) -> None:
        self.i, self.negated = i, negated

    def __invert__(self) -> Comparison:
        return Comparison(self.i, not self.negated)

    def __and__(self, other: Any) -> Comparison:
        return compare("eq", select(self, _as_number(other), 0.0), 1.0)

    def __or__(self, other: Any) -> Comparison:
        return compare("eq", select(self, 1.0, _as_number(other)), 1.0)

    def __xor__(self, other: Any) -> Comparison:
        return compare("eq", select(self, 1.0, 0.0) + _as_number(other), 1.0)

    def __index__(self) -> int:
        return int(bool(self))

    __int__ = __index__
    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __bool__(self) -> bool:
        if not _now.deciders:
            raise TraceError("an `if` on a number that changes during the run")
        return _now.deciders[-1](Comparison(self.i)) != self.negated


def _as_number(truth: Any) -> Any:
    return select(truth, 1.0, 0.0) if type(truth) is Comparison else float(bool(truth))


def _define_arithmetic_of_conditions(symbol: str) -> None:
    def forward(self: Comparison, other: Any) -> Any:
        return NotImplemented if _is_array(other) else getattr(_as_number(self), symbol)(_plain(other))

    def _plain(other: Any) -> Any:
        return _as_number(other) if isinstance(other, (Comparison, bool)) else other

    setattr(Comparison, symbol, forward)


for _symbol in ("add", "sub", "mul", "truediv", "lt", "gt", "le", "ge"):
    _define_arithmetic_of_conditions(f"__{_symbol}__")
    if _symbol in ("add", "sub", "mul", "truediv"):
        _define_arithmetic_of_conditions(f"__r{_symbol}__")


# The functions that `polhode.equations.scalar_ops` looks for ----------------------------------------------------------
def sqrt(x: Any) -> Traced:
    """The square root."""
    return apply("sqrt", x)


def select(condition: Comparison, x: Any, y: Any) -> Any:
    """x where the condition holds, else y."""
    if condition.negated:
        return select(~condition, y, x)
    return apply("sel", condition, x, y)


def if_less(a: Any, b: Any, x: Any, y: Any) -> Any:
    """x where a < b, else y."""
    return select(compare("lt", a, b), x, y)


def divide_with_rest(x: Any, y: Any) -> tuple[Any, Any]:
    """x // y and x % y, by Python's rules: the rest has the sign of y and is exact, the quotient is whole."""
    rest = apply("fmod", x, y)
    below, above = compare("lt", rest, 0.0), compare("lt", 0.0, rest)
    negative, positive = compare("lt", y, 0.0), compare("lt", 0.0, y)
    is_off = select(below, select(positive, 1.0, 0.0), select(above, select(negative, 1.0, 0.0), 0.0))
    is_exact = compare("eq", rest, 0.0)
    quotient = (x - rest) / y - is_off
    whole = apply("floor", quotient)
    whole = select(compare("lt", 0.5, quotient - whole), whole + 1.0, whole)
    zero = apply("div", x, y) * 0.0
    whole = select(compare("eq", quotient, 0.0), zero, whole)
    off = compare("eq", is_off, 1.0)
    return whole, select(is_exact, select(negative, -0.0, 0.0), select(off, rest + y, rest))


def raise_to(base: Any, exponent: Any) -> Any:
    """base ** exponent: small whole powers by multiplication, the square root, everything else by `power`."""
    from polhode.equations import elementary, scalar_ops

    if not _is_constant(exponent):
        return elementary.power(base, exponent)
    if float(exponent).is_integer() and 0 <= exponent <= 16:
        half = int(exponent) // 2
        if exponent <= 1:
            return base if exponent else 1.0
        root = raise_to(base, half)
        return root * root * base if int(exponent) % 2 else root * root
    if exponent == 0.5:
        return scalar_ops.sqrt(base)
    if exponent in (-1, -2):
        return 1.0 / raise_to(base, -exponent)
    return elementary.power(base, float(exponent))


def _is_constant(x: Any) -> bool:
    """Whether it is a number of Python or NumPy, not one of ours."""
    return isinstance(x, Real) and not type(x).__module__.startswith("polhode.")


def pick(numbers: Sequence[Any], index: Any) -> Any:
    """The entry of a table at a whole number that is computed."""
    graph = _now.graphs[-1]
    nodes = [graph.node_of(x) for x in numbers]
    if _lie_in_a_row(graph, nodes):
        return Traced(graph.add("pick", graph.node_of(index), *nodes))
    value = numbers[-1]
    for k in range(len(numbers) - 2, -1, -1):
        value = if_less(index, k + 0.5, numbers[k], value)
    return value


def _lie_in_a_row(graph: Graph, nodes: list[int]) -> bool:
    """Whether all are constants, or loaded from places at equal distances."""
    kinds = {graph.ops[i] for i in nodes}
    if kinds != {"in"}:
        return kinds == {"const"}
    places = [graph.args[i][0] for i in nodes]
    stride = places[1][2] - places[0][2] if len(places) > 1 else 1
    return all(p == (*places[0][:2], places[0][2] + k * stride) for k, p in enumerate(places))


def interp(x: Any, xp: Sequence[Any], fp: Sequence[Any]) -> Any:
    """Linear interpolation in a table: the place is found by bisection; constant beyond its ends."""
    n, step = len(xp), 1
    if n == 1:
        return fp[0] + 0.0 * x
    while 2 * step < n:
        step *= 2
    place = 0.0 * x
    place = select(compare("eq", place, place), place, 0.0)  # where x is not finite
    while step:
        further = place + float(step)
        inside = compare("lt", further, float(n - 1))
        reached = compare("le", pick(xp, select(inside, further, float(n - 1))), x)
        place = select(inside, select(reached, further, place), place)
        step //= 2
    x0, x1, y0, y1 = pick(xp, place), pick(xp, place + 1.0), pick(fp, place), pick(fp, place + 1.0)
    value = (y1 - y0) / (x1 - x0) * (x - x0) + y0
    value = select(compare("le", xp[-1], x), fp[-1], value)
    return select(compare("lt", x, xp[0]), fp[0], value)


# What a function loads and stores -------------------------------------------------------------------------------------
class Offset:
    """A place in an array that is known up to some whole numbers: names, and a rest."""

    __slots__ = ("names", "rest")

    def __init__(self, names: tuple[str, ...] = (), rest: int = 0) -> None:
        self.names, self.rest = names, rest

    def __add__(self, other: Any) -> Offset:
        if isinstance(other, Offset):
            return Offset(tuple(sorted(self.names + other.names)), self.rest + other.rest)
        return Offset(self.names, self.rest + int(other))

    __radd__ = __add__


Place = tuple[str, tuple[str, ...], int]
"""An array, the names of the whole numbers to add, and the rest."""


class Block:
    """Stands for an array while a function is traced.  Places with different names are taken to be different places."""

    def __init__(self, graph: Graph, name: str, loads: dict[Place, Traced], stores: dict[Place, Traced]) -> None:
        self._graph, self._name, self._loads, self._stores = graph, name, loads, stores

    def _place(self, key: Any) -> Place:
        return (self._name, key.names, key.rest) if isinstance(key, Offset) else (self._name, (), int(key))

    def __getitem__(self, key: Any) -> Traced:
        place = self._place(key)
        found = self._stores.get(place, self._loads.get(place))
        if found is None:
            found = self._loads[place] = Traced(self._graph.add("in", place))
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        self._stores[self._place(key)] = value if type(value) is Traced else Traced(self._graph.node_of(value))


class Trace:
    """What a function does: the numbers that it loads, those that it stores, and those that it returns."""

    def __init__(
        self, graph: Graph, loads: dict[Place, Traced], stores: dict[Place, Traced], returned: Sequence[int] = ()
    ) -> None:
        self.graph, self.returned = graph, list(returned)
        self.stores = {p: v.i for p, v in stores.items() if graph.ops[v.i] != "in" or graph.args[v.i][0] != p}
        self.order = graph.live([*self.stores.values(), *self.returned])
        used = set(self.order)
        self.loads = {p: v.i for p, v in loads.items() if v.i in used}
