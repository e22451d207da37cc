"""Derivatives of functions by the rules of their operations: forward (`jvp`) and backward (`vjp`).

Inside a trace the results are traced numbers, so a derivative is compiled like any law; of floats and arrays they are
floats and arrays.  At a branch the derivative is that of the branch taken: what a switch itself does is not in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np

from polhode.ir.graph import (
    LEAVES,
    Graph,
    TraceError,
    current_graph,
    is_tracing,
    leaves_of,
    map_nest,
    replay,
    tracing,
)
from polhode.ir.numbers import Comparison, Traced
from polhode.ir.operations import COMPARISONS, OPERATIONS
from polhode.ir.passes import evaluate

Function = Callable[..., Any]
Nest = Any
"""Nested tuples of numbers."""
_fresh = count()


def jvp(function: Function, primals: tuple[Nest, ...], tangents: tuple[Nest, ...]) -> tuple[Nest, Nest]:
    """The value of a function, and its derivative along tangents, which are nested as its arguments.

    A tangent that is the plain number 0.0 costs nothing.
    """
    found: tuple[Nest, Nest] = _differentiate(function, primals, tangents, _push_forward)
    return found


def vjp(function: Function, primals: tuple[Nest, ...], adjoints: Nest) -> tuple[Nest, tuple[Nest, ...]]:
    """The value of a function, and the derivative of (adjoints . value) by every number of its arguments.

    `adjoints` are nested as the value is.
    """
    found: tuple[Nest, tuple[Nest, ...]] = _differentiate(function, primals, adjoints, _pull_back)
    return found


def _differentiate(function: Function, primals: tuple[Nest, ...], directions: Nest, rule: Function) -> Any:
    if is_tracing():
        graph = current_graph()
        return _in_trace(graph, function, primals, directions, rule)
    given: list[Any] = []
    with tracing() as graph:

        def leaf(value: Any) -> Traced:
            given.append(value)
            return Traced(graph.add("in", ("given", (), len(given) - 1)))

        found = _in_trace(graph, function, map_nest(leaf, primals), map_nest(leaf, directions), rule)
        roots = [graph.node_of(x) for x in leaves_of(found)]
        with np.errstate(all="ignore"):
            values = evaluate(graph, roots, lambda i: np.float64(1.0) * given[graph.args[i][0][2]])
    numbers = iter([values[i].item() if isinstance(values[i], np.generic) else values[i] for i in roots])
    return map_nest(lambda _: next(numbers), found)


def _in_trace(graph: Graph, function: Function, primals: tuple[Nest, ...], directions: Nest, rule: Function) -> Any:
    """The function is traced from leaves of its own, so that nothing else it reads counts; then these are replaced."""
    places: list[int] = []

    def leaf(_: Any) -> Traced:
        places.append(graph.add("in", ("derivative", (), next(_fresh))))
        return Traced(places[-1])

    answer = function(*map_nest(leaf, primals))
    results = [graph.node_of(x) for x in leaves_of(answer)]
    made = replay(graph, graph.live(results, places), _WithRules(graph))  # type: ignore[arg-type]
    results = [made[i] for i in results]
    found = rule(graph, places, results, leaves_of(directions))
    known = {i: graph.node_of(x) for i, x in zip(places, leaves_of(primals), strict=True)}
    nodes = [graph.node_of(x) for x in (*map(Traced, results), *found)]
    made = replay(graph, graph.live(nodes, known), graph, known)
    numbers = iter([Traced(made[i]) for i in nodes])
    value = map_nest(lambda _: next(numbers), answer)
    return value, map_nest(lambda _: next(numbers), answer if rule is _push_forward else primals)


class _WithRules:
    """A graph in which operations without a rule become what they are made of."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def add(self, op: str, *args: Any) -> int:
        operation = OPERATIONS.get(op)
        if operation is None or operation.partials or operation.tangent or operation.lowering is None:
            return self._graph.add(op, *args)
        return self._graph.node_of(operation.lowering(*map(Traced, args)))


def _number(graph: Graph, i: int) -> Any:
    return Comparison(i) if graph.ops[i] in COMPARISONS else Traced(i)


def _is_zero(graph: Graph, x: Any) -> bool:
    """Whether a number is known to be 0."""
    if isinstance(x, Traced):
        return graph.ops[x.i] == "const" and graph.value(x.i) == 0.0
    return x is None or x == 0.0


def _times(graph: Graph, factor: Any, x: Any) -> Any:
    """A product, of which nothing is left where a factor is 0, 1 or -1; None for 0."""
    if _is_zero(graph, factor) or _is_zero(graph, x):
        return None
    for one, other in ((factor, x), (x, factor)):
        if isinstance(one, float) and abs(one) == 1.0:
            return other if one == 1.0 else -other
    return factor * x


def _push_forward(graph: Graph, places: Sequence[int], results: Sequence[int], given: Sequence[Any]) -> list[Any]:
    """The tangents of the results."""
    tangents: dict[int, Any] = {i: None if _is_zero(graph, x) else x for i, x in zip(places, given, strict=True)}
    for i in graph.live(results, places):
        if i not in tangents:
            operands = graph.operands(i)
            along = [tangents[a] for a in operands]
            is_moving = any(t is not None for t in along)
            tangents[i] = _tangent(graph, i, along) if is_moving else None
    return [0.0 if tangents[i] is None else tangents[i] for i in results]


def _tangent(graph: Graph, i: int, along: Sequence[Any]) -> Any:
    operation, operands = OPERATIONS[graph.ops[i]], [_number(graph, a) for a in graph.args[i]]
    if operation.tangent is not None:
        return operation.tangent(operands, _number(graph, i), along)
    total = None
    for partial, tangent in zip(_partials(graph, i, operands), along, strict=True):
        part = _times(graph, partial, tangent)
        total = part if total is None else (total if part is None else total + part)
    return total


def _partials(graph: Graph, i: int, operands: Sequence[Any]) -> Sequence[Any]:
    operation = OPERATIONS[graph.ops[i]]
    if operation.partials is None:
        raise TraceError(f"the operation {operation.name} has no derivative")
    partials: Sequence[Any] = operation.partials(operands, _number(graph, i))
    return partials


def _pull_back(graph: Graph, places: Sequence[int], results: Sequence[int], given: Sequence[Any]) -> list[Any]:
    """The adjoints of the places.

    Behind a choice an adjoint is 0 in the branch that was not taken, where a partial derivative may be infinite or NaN:
    there it counts only where it is not 0.
    """
    order, moving = graph.live(results, places), set(places)
    for i in order:
        if not moving.isdisjoint(graph.operands(i)):
            moving.add(i)
    adjoints: dict[int, Any] = {}
    behind_choice: set[int] = set()

    def give(i: int, adjoint: Any, is_behind: bool) -> None:
        if adjoint is not None and i in moving:
            before = adjoints.get(i)
            adjoints[i] = adjoint if before is None else before + adjoint
            if is_behind:
                behind_choice.add(i)

    for i, adjoint in zip(results, given, strict=True):
        give(i, None if _is_zero(graph, adjoint) else adjoint, False)
    for i in reversed(order):
        if i in adjoints and i not in places and graph.ops[i] not in LEAVES:
            _give_operands(graph, i, adjoints[i], i in behind_choice, moving, give)
    return [adjoints.get(i, 0.0) for i in places]


def _give_operands(
    graph: Graph, i: int, adjoint: Any, is_behind: bool, moving: Iterable[int] | Mapping[int, Any], give: Function
) -> None:
    """Give every operand its part of the adjoint of a node."""
    operation, places = OPERATIONS[graph.ops[i]], graph.args[i]
    operands = [_number(graph, a) for a in places]
    if operation.adjoints is not None:
        for a, part in zip(places, operation.adjoints(operands, _number(graph, i), adjoint), strict=True):
            give(a, part, True)
        return
    for a, partial in zip(places, _partials(graph, i, operands), strict=True):
        if a in moving:
            part = _times(graph, partial, adjoint)
            if is_behind and isinstance(partial, Traced) and part is not None and isinstance(adjoint, Traced):
                part = (adjoint == 0.0).choose(0.0, part)
            give(a, part, is_behind)
