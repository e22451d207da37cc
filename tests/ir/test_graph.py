"""The graph of a law: equal nodes are shared, dead ones dropped, and nothing is reordered or simplified."""

import math
import random

import pytest

from polhode.ir.graph import Offset, Trace, TraceError, tracing
from polhode.ir.loops import trace
from polhode.ir.numbers import Block, Traced
from scalar_types import bits, by_machine_code


def numbers(graph, *names):
    return [Traced(graph.add("uniform", name)) for name in names]


def test_equal_operations_are_one_node():
    with tracing() as graph:
        a, b = numbers(graph, "%a", "%b")
        first = a * b + 2.0
        count = len(graph.ops)
        again = a * b + 2.0
    assert again.i == first.i
    assert len(graph.ops) == count


def test_nothing_is_reordered_or_simplified():
    with tracing() as graph:
        a, b, c = numbers(graph, "%a", "%b", "%c")
        pairs = [
            ((a + b) + c, a + (b + c)),
            (a + b, b + a),
            (a * 2.0, 2.0 * a),
            (a + 0.0, a),
            (a * 1.0, a),
            (a - a, 0.0 * a),
            (a / 2.0, a * 0.5),
            (a + 0.0, a + -0.0),
        ]
    for one, other in pairs:
        assert one.i != other.i


def test_dead_operations_are_dropped():
    with tracing() as graph:
        loads, stores = {}, {}
        unit = Block(graph, "unit", loads, stores)
        at = Offset(("%at",))
        used, unused = unit[at], unit[at + 8]
        unused * unused + 3.0
        unit[at] = used * 2.0
        traced = Trace(graph, loads, stores)
    assert [graph.ops[i] for i in traced.order] == ["in", "const", "mul"]
    assert list(traced.loads) == [("unit", ("%at",), 0)]


def test_what_is_stored_is_read_back_and_a_number_put_back_is_not_stored():
    def swap_twice(unit):
        unit[0], unit[1] = unit[1], unit[0]
        unit[0], unit[1] = unit[1], unit[0]
        unit[2] = unit[0] + 1.0

    from polhode.ir.loop_values import Array

    traced, _ = trace(swap_twice, [Array("unit", "d", ())])
    assert [place[2] for place in traced.stores] == [2]


@pytest.mark.parametrize(
    ("use", "phrase"),
    [(float, "float"), (int, "int"), (lambda x: [1, 2][x], "index"), (bool, "`if`")],
    ids=["float", "int", "index", "if"],
)
def test_what_cannot_be_traced_is_named(use, phrase):
    with tracing() as graph, pytest.raises(TraceError, match=phrase):
        use(numbers(graph, "%a")[0])


def random_law(seed):
    """A straight function of four numbers: a few hundred random operations."""

    def law(*x):
        rng, made = random.Random(seed), list(x)
        for _ in range(300):
            a, b = rng.choice(made[-12:]), rng.choice(made)
            op = rng.randrange(6)
            if op == 0:
                made.append(a + b)
            elif op == 1:
                made.append(a - b)
            elif op == 2:
                made.append(a * b / 3.0)
            elif op == 3:
                made.append(a / (b * b + 1.0))
            elif op == 4:
                made.append(-a + 0.1)
            else:
                made.append(rng.choice((0.1, 1e-3, 7.0)) * a)
        return tuple(made[-8:])

    return law


@pytest.mark.parametrize("width", [1, 2, 4, 8])
@pytest.mark.parametrize("seed", range(5))
def test_random_laws_have_the_bits_of_plain_python(seed, width):
    law, rng = random_law(seed), random.Random(-seed)
    lanes = [tuple(rng.uniform(-2.0, 2.0) for _ in range(4)) for _ in range(16)]
    for found, given in zip(by_machine_code(law, lanes, width), lanes, strict=True):
        assert bits(found) == bits(law(*given))
        assert all(math.isfinite(x) for x in found)
