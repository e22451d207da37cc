"""The graph of a law: operations in single assignment, with equal nodes shared, and traces of what functions do.

Nothing is reordered and nothing is simplified, so whatever is emitted from a graph has the bits of the plain law.  What
the operations are is said in `operations`; the numbers that record them are in `numbers`; a pass is a graph whose `add`
rewrites (`passes`).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import local
from typing import Any

from polhode.errors import PolhodeError

BITS = struct.Struct("<d")
"""The arguments of a constant: the eight bytes of a double, by which 0.0 and -0.0 are two."""
LEAVES = ("const", "in", "uniform")
"""A constant, a number loaded from a place in memory, one that all lanes share: their arguments are no nodes."""
Place = tuple[str, tuple[str, ...], int]
"""An array, the names of the whole numbers to add, and the rest."""


class TraceError(PolhodeError):
    """A function does something with its numbers that cannot be traced."""


class Node:
    """Something with a node in the graph that is being made: a number or a comparison."""

    __slots__ = ("i",)
    i: int


class Graph:
    """Nodes in the order of their making: node i is ops[i] of the nodes args[i], all of them earlier."""

    def __init__(self) -> None:
        self.ops: list[str] = []
        self.args: list[tuple[Any, ...]] = []
        self._seen: dict[Any, int] = {}

    def copy(self) -> Graph:
        """A graph with the same nodes."""
        made = Graph()
        made.ops, made.args, made._seen = self.ops.copy(), self.args.copy(), self._seen.copy()
        return made

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
        return self.add("const", BITS.pack(value))

    def value(self, i: int) -> float:
        """The value of a constant."""
        number: float = BITS.unpack(self.args[i][0])[0]
        return number

    def node_of(self, x: Any) -> int:
        """The node of an operand: a traced number, a comparison, or a plain number."""
        if isinstance(x, Node):
            return x.i
        try:
            return self.constant(float(x))
        except (TypeError, ValueError, OverflowError):
            raise TraceError(f"{x!r} is not a number") from None

    def operands(self, i: int) -> tuple[int, ...]:
        """The nodes that a node is made of."""
        return () if self.ops[i] in LEAVES else self.args[i]

    def live(self, roots: Iterable[int], known: Container[int] = ()) -> list[int]:
        """The nodes that some root needs, in order; those that are known need nothing."""
        needed = set(roots)
        stack = list(needed)
        while stack:
            i = stack.pop()
            if self.ops[i] not in LEAVES and i not in known:
                fresh = [a for a in self.args[i] if a not in needed]
                needed.update(fresh)
                stack.extend(fresh)
        return sorted(needed)


class _Tracing(local):
    """What this thread traces; another may trace something else at the same time."""

    def __init__(self) -> None:
        self.graphs: list[Graph] = []


now = _Tracing()


@contextmanager
def tracing(graph: Graph | None = None) -> Iterator[Graph]:
    """A graph, new if none is given, into which all traced numbers of this thread record."""
    now.graphs.append(Graph() if graph is None else graph)
    try:
        yield now.graphs[-1]
    finally:
        now.graphs.pop()


def current_graph() -> Graph:
    """The graph into which numbers are being recorded."""
    return now.graphs[-1]


def is_tracing() -> bool:
    """Whether numbers are being recorded."""
    return bool(now.graphs)


def replay(
    source: Graph, order: Iterable[int], target: Graph, known: Mapping[int, int] | None = None
) -> dict[int, int]:
    """Repeat nodes of a graph in another, which may rewrite them; `known` says what stands for some of them."""
    ops, args, add = source.ops, source.args, target.add
    made = dict(known or {})
    for i in order:
        if i not in made:
            op = ops[i]
            made[i] = add(op, *args[i]) if op in LEAVES else add(op, *[made[a] for a in args[i]])
    return made


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


class Trace:
    """What a function does: the numbers that it loads, those that it stores, and those that it returns, by nodes."""

    def __init__(
        self, graph: Graph, loads: Mapping[Place, int], stores: Mapping[Place, int], returned: Sequence[int] = ()
    ) -> None:
        self.graph, self.returned = graph, list(returned)
        self.stores = {p: i for p, i in stores.items() if graph.ops[i] != "in" or graph.args[i][0] != p}
        self.order = graph.live([*self.stores.values(), *self.returned])
        used = set(self.order)
        self.loads = {p: i for p, i in loads.items() if i in used}

    def rewritten(self, graph: Graph) -> Trace:
        """The same trace in an empty graph that rewrites what is added."""
        with tracing(graph):
            made = replay(self.graph, self.order, graph)
        return self.moved(graph, made)

    def moved(self, graph: Graph, made: Mapping[int, int]) -> Trace:
        """The same trace in another graph, given what has become of its nodes."""
        loads = {p: made[i] for p, i in self.loads.items()}
        stores = {p: made[i] for p, i in self.stores.items()}
        return Trace(graph, loads, stores, [made[i] for i in self.returned])


# Nested tuples of numbers: arguments, and what functions return -------------------------------------------------------
def map_nest(change: Callable[[Any], Any], nest: Any) -> Any:
    """A function applied to every number of a nest; named tuples keep their names."""
    if not isinstance(nest, tuple):
        return change(nest)
    parts = [map_nest(change, part) for part in nest]
    return type(nest)(*parts) if hasattr(nest, "_fields") else tuple(parts)


def leaves_of(nest: Any) -> list[Any]:
    """The numbers of a nest, in order."""
    return [leaf for part in nest for leaf in leaves_of(part)] if isinstance(nest, tuple) else [nest]
