"""Passes: a trace repeated in a graph whose `add` rewrites what is added.

`Graph` itself shares equal nodes, and a `Trace` drops dead ones.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from typing import Any

from polhode.ir.graph import LEAVES, Graph, Trace
from polhode.ir.numbers import Traced
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
