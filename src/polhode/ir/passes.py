"""Passes: a trace repeated in a graph whose `add` rewrites what is added.

`Graph` itself shares equal nodes, and a `Trace` drops dead ones.
"""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Callable, Container, Iterable
from typing import Any

from polhode.ir.graph import BITS, LEAVES, Graph, Trace, TraceError
from polhode.ir.numbers import Traced, compare
from polhode.ir.operations import OPERATIONS, PRIMITIVES


class LoweringGraph(Graph):
    """Operations that are not kept become what they are made of."""

    def __init__(self, kept: Container[str] = PRIMITIVES) -> None:
        super().__init__()
        self._kept = kept

    def add(self, op: str, *args: Any) -> int:
        if op in LEAVES or op in self._kept:
            return super().add(op, *args)
        key = (op, args)
        found = self._seen.get(key)
        if found is None:
            operation = OPERATIONS[op]
            made = (operation.lowering or operation.value)(*map(Traced, args))
            found = self._seen[key] = self.node_of(made)
        return found


def lower(trace: Trace, kept: Container[str] = PRIMITIVES) -> Trace:
    """The trace in operations that a target has."""
    ops = trace.graph.ops
    if all(ops[i] in kept or ops[i] in LEAVES for i in trace.order):
        return trace
    return trace.rewritten(LoweringGraph(kept))


def evaluate(
    graph: Graph, roots: Iterable[int], leaf: Callable[[int], Any], known: dict[int, Any] | None = None
) -> dict[int, Any]:
    """The values of nodes, on floats or on arrays of them: those known already, the values of leaves, and the rest."""
    values = {} if known is None else known
    ops, args = graph.ops, graph.args
    for i in graph.live(roots, values):
        if i not in values:
            op = ops[i]
            if op in LEAVES:
                values[i] = graph.value(i) if op == "const" else leaf(i)
            else:
                values[i] = OPERATIONS[op].value(*[values[a] for a in args[i]])
    return values


# Precision ------------------------------------------------------------------------------------------------------------
STRICT, FUSED, SINGLE = PRECISIONS = ("strict", "fused", "single")
"""The bits of the plain law; fused multiply-adds and shared reciprocals; the same with numbers of 32 bits."""
SMALLEST_SINGLE, LARGEST_SINGLE = 2.0**-126, 2.0**128 - 2.0**104
ROUNDER_SINGLE, HALF_RANGE_SINGLE = 1.5 * 2.0**23, 2.0**22
"""What rounds 32 bits to an integer when it is added and subtracted, below the second of these."""
WIDE = frozenset(("exp", "log", "power", "expm1", "log1p", "sinh", "cosh", "tanh"))
"""Operations whose lowering counts on the exponents and the digits of 64 bits."""


def prepare(trace: Trace, precision: str = STRICT) -> Trace:
    """The trace as a processor gets it, in one of the precisions."""
    if precision == STRICT:
        return lower(trace)
    lowered = lower(trace) if precision == FUSED else trace.rewritten(SingleGraph())
    return fuse_multiply_adds(share_reciprocals(lowered))


class SingleGraph(LoweringGraph):
    """Numbers of 32 bits: constants are rounded to them, and integers are found with their digits."""

    def add(self, op: str, *args: Any) -> int:
        if op == "const":
            return super().add(op, BITS.pack(as_single(BITS.unpack(args[0])[0])))
        if op in WIDE:
            raise TraceError(f"the function {op}, whose exponents and digits 32 bits do not hold: {_USE_FUSED}")
        if op == "nearest":
            return self.node_of(self._rounded(*map(Traced, args)))
        if op == "round":
            x = Traced(args[0])
            return self.node_of(compare("lt", abs(x), HALF_RANGE_SINGLE).choose(self._rounded(x), x) + 0.0)
        return super().add(op, *args)

    @staticmethod
    def _rounded(x: Traced) -> Any:
        return (x + ROUNDER_SINGLE) - ROUNDER_SINGLE


_USE_FUSED = "use precision='fused' instead of 'single'"


def as_single(value: float) -> float:
    """A number rounded to 32 bits; one that has no place there is refused."""
    if math.isfinite(value) and value != 0 and not SMALLEST_SINGLE <= abs(value) <= LARGEST_SINGLE:
        raise TraceError(f"a number such as {value:g}, which 32 bits do not hold: {_USE_FUSED}")
    return float(struct.unpack("<f", struct.pack("<f", value))[0])


def share_reciprocals(trace: Trace) -> Trace:
    """Divisions by one number, and those of a constant, become a reciprocal and products."""
    source, graph = trace.graph, Graph()
    count = Counter(source.args[i][1] for i in trace.order if source.ops[i] == "div")

    def rewrite(op: str, args: tuple[int, ...], i: int) -> int:
        if op == "div" and (count[source.args[i][1]] > 1 or source.ops[source.args[i][0]] == "const"):
            one = graph.constant(1.0)
            inverse = graph.add("div", one, args[1])
            return inverse if args[0] == one else graph.add("mul", args[0], inverse)
        return graph.add(op, *args)

    return _rewritten(trace, graph, rewrite)


def fuse_multiply_adds(trace: Trace) -> Trace:
    """Sums and differences of products become fused multiply-adds; of two products that which nothing else needs."""
    source, graph = trace.graph, Graph()
    uses = Counter(a for i in trace.order for a in source.operands(i))
    uses.update((*trace.stores.values(), *trace.returned))

    def rewrite(op: str, args: tuple[int, ...], i: int) -> int:
        if op not in ("add", "sub"):
            return graph.add(op, *args)
        products = [k for k in (0, 1) if graph.ops[args[k]] == "mul"]
        if not products:
            return graph.add(op, *args)
        k = min(products, key=lambda k: uses[source.args[i][k]])
        (a, b), rest = graph.args[args[k]], args[1 - k]
        if op == "sub":
            a, rest = (graph.add("neg", a), rest) if k == 1 else (a, graph.add("neg", rest))
        return graph.add("fma", a, b, rest)

    return _rewritten(trace, graph, rewrite)


def _rewritten(trace: Trace, graph: Graph, rewrite: Callable[[str, tuple[int, ...], int], int]) -> Trace:
    """A trace in a new graph: every node by a function of its operation, its new operands, and the node."""
    source, made = trace.graph, dict[int, int]()
    for i in trace.order:
        op = source.ops[i]
        is_leaf = op in LEAVES
        made[i] = graph.add(op, *source.args[i]) if is_leaf else rewrite(op, tuple(made[a] for a in source.args[i]), i)
    return trace.moved(graph, made)
