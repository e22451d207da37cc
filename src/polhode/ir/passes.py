"""Passes: a trace repeated in a graph whose `add` rewrites what is added.

`Graph` itself shares equal nodes, and a `Trace` drops dead ones.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from polhode.equations.interpolation import choose_line
from polhode.ir.graph import LEAVES, Graph, Trace, TraceError
from polhode.ir.numbers import Traced
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
        return super().add(op, *args)

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
