"""Passes: a trace repeated in a graph whose `add` rewrites what is added.

`Graph` itself shares equal nodes, and a `Trace` drops dead ones.
"""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Callable, Container, Iterable
from typing import Any

import numpy as np

from polhode.equations.interpolation import choose_line
from polhode.ir.graph import BITS, LEAVES, Graph, Trace, TraceError, tracing
from polhode.ir.numbers import Traced, apply, compare
from polhode.ir.operations import COMPARISONS, OPERATIONS, PRIMITIVES

ARITHMETIC = COMPARISONS | {"add", "sub", "mul", "div", "neg", "sel"}
JUMPING = frozenset(("floor", "fmod", "pick", "round", "nearest", "floordiv", "mod"))


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


class SmoothGraph(LoweringGraph):
    """What has a Taylor series: operations of heyoka, and choices by `lt`.  Those that jump raise TraceError."""

    def __init__(self) -> None:
        super().__init__(ARITHMETIC | {name for name, operation in OPERATIONS.items() if operation.heyoka})

    def add(self, op: str, *args: Any) -> int:
        key = (op, args)
        found = self._seen.get(key)
        if found is not None or op in LEAVES or op in COMPARISONS:
            return super().add(op, *args) if found is None else found
        if op == "sel" and self.ops[args[0]] != "lt":
            return self._choose_by_less(*args)
        if op in JUMPING:
            raise TraceError(f"{op} jumps, and at a jump there are no derivatives")
        if self.ops[args[0]] == "const" and all(self.ops[a] == "const" for a in args):
            self._seen[key] = self.constant(OPERATIONS[op].value(*map(self.value, args)))
        elif op == "interp":
            x, *table = map(Traced, args)
            half = len(table) // 2
            self._seen[key] = self.node_of(choose_line(x, tuple(table[:half]), tuple(table[half:])))
        elif op == "atan2" and not self._is_positive(args[1]):
            return self._turn_angle(*args)
        return super().add(op, *args)

    def _is_positive(self, i: int) -> bool:
        return self.ops[i] == "sqrt" or (self.ops[i] == "const" and self.value(i) > 0)

    def _turn_angle(self, y: int, x: int) -> int:
        """atan2(y, x), whose jump by a full turn at y = 0, x < 0 is a choice: no series has it."""
        back = super().add("atan2", self.add("neg", y), self.add("neg", x))  # it jumps elsewhere
        half_turn, zero = self.constant(math.pi), self.constant(0.0)
        left = self.add(
            "sel", self.add("lt", y, zero), self.add("sub", back, half_turn), self.add("add", back, half_turn)
        )
        return self.add("sel", self.add("lt", x, zero), left, super().add("atan2", y, x))

    def _choose_by_less(self, condition: int, x: int, y: int) -> int:
        """x where a <= b, or a = b, else y; of a choice ("and", "or"), whichever it takes."""
        op, (a, b) = self.ops[condition], self.args[condition]
        if op == "le":
            return self.add("sel", self.add("lt", b, a), y, x)
        for one, other in ((a, b), (b, a)):
            if self.ops[one] == "sel":
                inner, *taken = self.args[one]
                return self.add("sel", inner, *(self.add("sel", self.add("eq", c, other), x, y) for c in taken))
        return self.add("sel", self.add("lt", a, b), y, self.add("sel", self.add("lt", b, a), y, x))


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
    if precision == SINGLE:
        folded = trace.rewritten(SingleGraph()).rewritten(FoldingGraph())
        return fuse_multiply_adds(use_rough_reciprocals(share_reciprocals(folded), is_refined=False))
    folded = lower(trace).rewritten(FoldingGraph())
    return fuse_multiply_adds(use_rough_reciprocals(share_reciprocals(folded), is_refined=True))


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


class FoldingGraph(Graph):
    """What is known to be 0 or 1 takes its operations with it: x + 0, x * 1, and x * 0, whatever x may be."""

    def add(self, op: str, *args: Any) -> int:
        if op in LEAVES:
            return super().add(op, *args)
        known = [self.value(a) if self.ops[a] == "const" else None for a in args]
        if op == "sel":
            return self._choose(*args)
        if None not in known and op not in COMPARISONS:
            with np.errstate(all="ignore"):
                return self.constant(float(OPERATIONS[op].value(*known)))
        found = self._fold(op, args, known) if len(args) == 2 else None
        return super().add(op, *args) if found is None else found

    def _fold(self, op: str, args: tuple[int, ...], known: list[float | None]) -> int | None:
        a, b = known
        if (op == "mul" and 0.0 in known) or (op == "div" and a == 0.0):
            return self.constant(0.0)
        if op == "sub" and a == 0.0:
            return self.add("neg", args[1])
        neutral = {"mul": 1.0, "div": 1.0, "add": 0.0, "sub": 0.0}.get(op)
        if neutral is not None and b == neutral:
            return args[0]
        return args[1] if op in ("mul", "add") and a == neutral else None

    def _choose(self, condition: int, x: int, y: int) -> int:
        compared = self.args[condition]
        if x == y:
            return x
        if all(self.ops[a] == "const" for a in compared):
            holds = OPERATIONS[self.ops[condition]].value(*map(self.value, compared))
            return x if holds else y
        return super().add("sel", condition, x, y)


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


UNDERFLOW, UNDERFLOW_SINGLE = 2.0**-1000, 2.0**-120
"""Added to what a root is taken of, so that the root of 0 is 0: it is lost in the rounding of all but tiny numbers."""


def use_rough_reciprocals(trace: Trace, is_refined: bool) -> Trace:
    """Reciprocals and roots by the processor's rough ones: as they are, or refined by a step of third order to 60 bits.

    Of a rough r, 1/x = r (1 + e + e^2 + ...) with e = 1 - x r, and 1/sqrt(x) = r (1 + e/2 + 3/8 e^2 + ...) with
    e = 1 - x r^2.
    """
    source, graph = trace.graph, Graph()
    underflow = UNDERFLOW if is_refined else UNDERFLOW_SINGLE

    def inverse_root(x: Traced) -> Any:
        x = x + underflow
        rough = apply("rsqrt", x)
        e = 1.0 - (x * rough) * rough
        return rough + rough * (e * (0.5 + 0.375 * e)) if is_refined else rough

    def inverse(x: Traced) -> Any:
        rough = apply("rcp", x)
        e = 1.0 - x * rough
        return (e == e).choose(rough + rough * (e + e * e), rough) if is_refined else rough  # 1/0 and 1/inf stay

    def rewrite(op: str, args: tuple[int, ...], i: int) -> int:
        if op == "sqrt":
            return graph.node_of(Traced(args[0]) * inverse_root(Traced(args[0])))
        if op != "div":
            return graph.add(op, *args)
        over, under = source.args[i]
        is_root = source.ops[under] == "sqrt"
        found = inverse_root(Traced(graph_of[source.args[under][0]])) if is_root else inverse(Traced(args[1]))
        is_one = source.ops[over] == "const" and source.value(over) == 1.0
        return graph.node_of(found if is_one else Traced(args[0]) * found)

    graph_of: dict[int, int] = {}
    with tracing(graph):
        return _rewritten(trace, graph, rewrite, graph_of)


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


def _rewritten(
    trace: Trace, graph: Graph, rewrite: Callable[[str, tuple[int, ...], int], int], made: dict[int, int] | None = None
) -> Trace:
    """A trace in a new graph: every node by a function of its operation, its new operands, and the node."""
    source, made = trace.graph, {} if made is None else made
    for i in trace.order:
        op = source.ops[i]
        is_leaf = op in LEAVES
        made[i] = graph.add(op, *source.args[i]) if is_leaf else rewrite(op, tuple(made[a] for a in source.args[i]), i)
    return trace.moved(graph, made)
