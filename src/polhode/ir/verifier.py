"""A graph is checked before it is emitted: what a pass has broken is found here, not in the numbers of a run."""

from __future__ import annotations

from polhode.errors import PolhodeError
from polhode.ir.graph import LEAVES, Trace
from polhode.ir.operations import OPERATIONS, PRIMITIVES


class GraphError(PolhodeError):
    """A graph that means nothing: a mistake of ours."""


_TAKES = {name: operation.signature.partition(":")[0] for name, operation in OPERATIONS.items() if name in PRIMITIVES}
_TRUTHS = frozenset(name for name, operation in OPERATIONS.items() if operation.gives_truth)


def verify(trace: Trace) -> Trace:
    """The trace, if every node is a known operation of as many earlier nodes of the right kind, and is needed."""
    ops, args = trace.graph.ops, trace.graph.args
    made: set[int] = set()
    truths: set[int] = set()
    needed = {*trace.stores.values(), *trace.returned}
    for i in trace.order:
        op = ops[i]
        if op not in LEAVES:
            takes, operands = _TAKES.get(op), args[i]
            if takes is None:
                raise GraphError(f"node {i}: {op} is no operation that a target has; lower the trace first")
            if not made.issuperset(operands):
                raise GraphError(f"node {i}: {op} of {operands}, of which not all are made before it")
            if truths and not truths.isdisjoint(operands) and (takes[:1] != "t" or not truths.isdisjoint(operands[1:])):
                raise GraphError(f"node {i}: {op} takes a truth where a number belongs")
            if takes != "*" and len(takes) != len(operands):
                raise GraphError(f"node {i}: {op} takes {len(takes)} operands, but has {len(operands)}")
            if takes[0] == "t" and operands[0] not in truths:
                raise GraphError(f"node {i}: {op} chooses by node {operands[0]}, which is no truth")
            needed.update(operands)
            if op in _TRUTHS:
                truths.add(i)
        made.add(i)
    if len(needed) != len(made) or needed != made:
        raise GraphError(f"nodes {sorted(needed ^ made)[:9]} are made and not needed, or needed and not made")
    if not truths.isdisjoint((*trace.stores.values(), *trace.returned)):
        raise GraphError("a truth is stored or returned")
    return trace
