"""Passes and the verifier: what they make has the values of what they were given, and a broken graph is found."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from polhode.ir.graph import Graph, Trace, TraceError, tracing
from polhode.ir.numbers import Traced, apply, compare
from polhode.ir.operations import OPERATIONS, PRIMITIVES
from polhode.ir.passes import (
    SINGLE,
    FoldingGraph,
    evaluate,
    fuse_multiply_adds,
    lower,
    prepare,
    share_reciprocals,
    use_rough_reciprocals,
)
from polhode.ir.verifier import GraphError, verify


def traced(function, count):
    """A function of some numbers as a trace."""
    with tracing() as graph:
        numbers = [Traced(graph.add("in", ("x", (), k))) for k in range(count)]
        returned = [graph.node_of(x) for x in function(*numbers)]
        return Trace(graph, {("x", (), k): x.i for k, x in enumerate(numbers)}, {}, returned)


def values_of(trace, given):
    with np.errstate(all="ignore"):
        found = evaluate(trace.graph, trace.returned, lambda i: np.float64(given[trace.graph.args[i][0][2]]))
    return [float(found[i]) for i in trace.returned]


NUMBERS = {name: len(op.signature) - 2 for name, op in OPERATIONS.items() if set(op.signature) <= set("n:")}
"""Operations of numbers, and how many they take."""


@pytest.mark.parametrize("name", [name for name in NUMBERS if name != "fma"])
def test_lowered_arithmetic_has_the_bits_of_the_value(name):
    rng = random.Random(name)
    trace = traced(lambda *x: (apply(name, *x),), NUMBERS[name])
    lowered = verify(lower(trace))
    assert {lowered.graph.ops[i] for i in lowered.order} <= PRIMITIVES | {"in", "const"}
    specials = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 0.5, 1e300, -1e-300]
    for k in range(300):
        given = [rng.choice(specials) if rng.random() < 0.2 else rng.uniform(-4, 4) for _ in range(NUMBERS[name])]
        (value,), (written_out,) = values_of(trace, given), values_of(lowered, given)
        assert value == written_out or (math.isnan(value) and math.isnan(written_out)), (k, given)
        assert math.copysign(1.0, value) == math.copysign(1.0, written_out) or math.isnan(value)


def test_a_table_is_lowered_with_the_bits_of_plain_python():
    knots, heights = (0.0, 0.25, 1.0, 3.0), (1.0, -2.0, 0.5, 7.0)
    trace = traced(lambda x: (apply("interp", x, *knots, *heights),), 1)
    for x in np.linspace(-1.0, 4.0, 101).tolist():
        assert values_of(lower(trace), [x]) == values_of(trace, [x])


def test_divisions_by_one_number_share_its_reciprocal():
    trace = traced(lambda a, b, c: (a / c + b / c, 3.0 / a, a / b), 3)
    shared = verify(share_reciprocals(trace))
    assert [shared.graph.ops[i] for i in shared.order].count("div") == 3
    assert values_of(shared, [0.3, 0.7, 1.9]) == pytest.approx(values_of(trace, [0.3, 0.7, 1.9]), rel=1e-15)


def test_products_are_added_in_one_operation():
    """Of two products the one that nothing else needs disappears."""
    trace = traced(lambda a, b, c: (a * b + c, c - a * b, a * b - c, a * c + a * b), 3)
    fused = verify(fuse_multiply_adds(trace))
    ops = [fused.graph.ops[i] for i in fused.order]
    assert ops.count("fma") == 4
    assert ops.count("mul") == 1
    assert ops.count("add") + ops.count("sub") == 0
    assert values_of(fused, [0.3, 0.7, 1.9]) == pytest.approx(values_of(trace, [0.3, 0.7, 1.9]), rel=1e-15)


def rough(trace, bits=20):
    """The values of a trace on a processor whose reciprocals have so many bits."""

    def value(name, exact):
        return lambda x: np.float64(exact(x) * (1.0 + 0.9 * 2.0**-bits))

    records = {
        "rcp": value("rcp", lambda x: 1.0 / x),
        "rsqrt": value("rsqrt", lambda x: 1.0 / np.sqrt(x)),
    }
    return {name: OPERATIONS[name]._replace(value=made) for name, made in records.items()}


def test_rough_reciprocals_are_refined_to_the_last_digits(monkeypatch):
    trace = traced(lambda a, b: (a / b, 1.0 / apply("sqrt", a), apply("sqrt", b), apply("sqrt", a - a), b / (a - a)), 2)
    refined = verify(use_rough_reciprocals(share_reciprocals(trace), is_refined=True))
    ops = {refined.graph.ops[i] for i in refined.order}
    assert "div" not in ops
    assert "sqrt" not in ops
    wanted = values_of(trace, [0.3, 1.9])
    for name, record in rough(trace).items():
        monkeypatch.setitem(OPERATIONS, name, record)
    assert values_of(refined, [0.3, 1.9]) == pytest.approx(wanted, rel=4e-16)


@pytest.mark.parametrize(
    ("function", "count"),
    [
        (lambda x: (x * 0.0 + 1.0 * x, x - 0.0, 0.0 - x, x / 1.0, 0.0 / x, 0.0 + x, apply("sin", 0.5) * x), 7),
        (lambda x: (compare("lt", 1.0, 2.0).choose(x, 1.0 / x), compare("lt", x, 0.0).choose(x, x)), 2),
    ],
)
def test_zeros_and_ones_take_their_operations_with_them(function, count):
    trace = traced(function, 1)
    folded = verify(lower(trace).rewritten(FoldingGraph()))
    assert values_of(folded, [0.7]) == values_of(trace, [0.7])
    assert len(folded.returned) == count
    assert {folded.graph.ops[i] for i in folded.order} <= {"in", "const", "neg", "mul"}


def test_single_precision_rounds_constants_and_finds_integers_with_its_digits():
    trace = prepare(traced(lambda x: (apply("sin", x) * 0.1, apply("round", x)), 1), SINGLE)
    constants = [trace.graph.value(i) for i in trace.order if trace.graph.ops[i] == "const"]
    constants = [c for c in constants if not math.isnan(c)]
    assert constants == [float(np.float32(c)) for c in constants]
    assert 1.5 * 2**23 in constants
    found = evaluate(trace.graph, trace.returned, lambda _: np.float32(2.6))
    assert found[trace.returned[1]] == 3.0
    assert found[trace.returned[0]] == pytest.approx(0.1 * math.sin(2.6), abs=1e-7)


@pytest.mark.parametrize("function", [lambda x: (apply("exp", x),), lambda x: (x * 1e300,)], ids=["exp", "1e300"])
def test_what_32_bits_do_not_hold_is_refused(function):
    with pytest.raises(TraceError, match="use precision='fused'"):
        prepare(traced(function, 1), SINGLE)


def broken(change):
    """A trace of a*b + sin(a), spoiled."""
    trace = lower(traced(lambda a, b: (a * b + apply("sin", a),), 2))
    change(trace)
    return trace


def spoil_arity(trace):
    i = next(i for i in trace.order if trace.graph.ops[i] == "mul")
    trace.graph.args[i] = trace.graph.args[i][:1]


def spoil_order(trace):
    i = next(i for i in trace.order if trace.graph.ops[i] == "mul")
    trace.graph.args[i] = (trace.order[-1], trace.order[-1])


def spoil_kind(trace):
    i = next(i for i in trace.order if trace.graph.ops[i] == "sel")
    trace.graph.args[i] = (trace.graph.args[i][1], *trace.graph.args[i][1:])


def spoil_truth(trace):
    ops = trace.graph.ops
    truth = next(i for i in trace.order if ops[i] == "lt")
    i = next(i for i in trace.order if ops[i] == "sub" and i > truth)
    trace.graph.args[i] = (truth, truth)


def spoil_name(trace):
    trace.graph.ops[trace.order[-1]] = "sin"


def spoil_end(trace):
    trace.order.append(trace.graph.add("mul", trace.order[-1], trace.order[-1]))


def spoil_result(trace):
    trace.returned.append(next(i for i in trace.order if trace.graph.ops[i] == "lt"))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (spoil_arity, "takes 2 operands, but has 1"),
        (spoil_order, "not all are made before it"),
        (spoil_kind, "which is no truth"),
        (spoil_truth, "takes a truth where a number belongs"),
        (spoil_name, "no operation that a target has"),
        (spoil_end, "made and not needed"),
        (spoil_result, "a truth is stored or returned"),
    ],
)
def test_a_broken_graph_is_found(change, sentence):
    verify(broken(lambda _: None))
    with pytest.raises(GraphError, match=sentence):
        verify(broken(change))


def test_a_pass_leaves_its_source_as_it_is():
    trace = traced(lambda a, b: (apply("sin", a) / b + a / b,), 2)
    before = list(trace.graph.ops)
    prepare(trace, "fused")
    assert trace.graph.ops == before
    assert isinstance(trace.graph, Graph)
