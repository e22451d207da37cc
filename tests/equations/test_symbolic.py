"""Symbols against plain numbers: the same law, written down and then evaluated, gives the same."""

import random

import pytest

from polhode.equations import force_laws, symbolic
from polhode.equations.formulations import FORMULATIONS
from polhode.equations.inertia import BodyConstants
from polhode.equations.quaternions import normalize, squared_norm, to_body, to_world
from polhode.equations.right_hand_side import build_right_hand_side, sum_forces
from polhode.equations.scalar_ops import if_less, sqrt
from polhode.equations.symbolic import SymbolTable

MOMENTS = (2.0, 3.0, 4.5)
BODY = (2.5, 0.4, MOMENTS, tuple(1 / m for m in MOMENTS), (1.0, 0.0, 0.0, 0.0), (0.1, -0.2, -0.7))
FORCES = [
    force_laws.gravity,
    force_laws.quadratic_drag,
    force_laws.body_force_at_body_point,
    force_laws.rotational_drag,
    force_laws.spring,
]
PARAMS = (
    ((0.0, 0.5, -9.8),),
    (0.3, (0.1, 0.2, 0.0)),
    ((1.0, 2.0, 3.0), (0.1, 0.2, 0.3)),
    (0.4,),
    (3.0, 0.2, 0.5, (0.1, 0.0, 0.2), (1.0, 1.0, 1.0)),
)


def make_symbols(table, nest, name, make):
    if isinstance(nest, tuple):
        return tuple(make_symbols(table, part, f"{name}.{i}", make) for i, part in enumerate(nest))
    return make(name, nest)


@pytest.mark.parametrize("pivoted", [False, True])
@pytest.mark.parametrize("name", list(FORMULATIONS))
def test_every_formulation_against_plain_floats(name, pivoted):
    rng, form = random.Random(name), FORMULATIONS[name]
    start = tuple(tuple(rng.uniform(-1, 1) for _ in range(3)) for _ in range(4))
    q = normalize(tuple(rng.uniform(-1, 1) for _ in range(4)))
    y = form.start(start[0], q, start[2], start[3], BodyConstants(*BODY))
    rate = build_right_hand_side(form, sum_forces(FORCES), pivoted)
    expected = rate(0.3, y, (BodyConstants(*BODY), PARAMS))

    table, known = SymbolTable(), {}

    def moving(name, value):
        symbol = table.variable(name)
        known[table.index_of(symbol)] = value
        return symbol

    symbols = make_symbols(table, y, "y", moving)
    if len(y[1]) == 4:
        table.assume_unit_norm(symbols[1])
    body = BodyConstants(*make_symbols(table, BODY, "body", table.constant))
    found = rate(table.variable("t"), symbols, (body, make_symbols(table, PARAMS, "force", table.constant)))
    known |= table.values
    for group, plain in zip(found, expected, strict=True):
        for symbol, number in zip(group, plain, strict=True):
            size = max(abs(n) for n in plain)
            assert abs(table.value(symbol + 0 * table.number(1.0), known) - number) < 1e-13 * max(size, 1.0)
            flat = table.expand(symbol)
            if flat is not None:
                assert abs(table.value(flat, known) - number) < 1e-12 * max(size, 1.0)


def test_there_and_back_is_the_vector_itself():
    """R^T R = 1 follows from |q| = 1 alone."""
    table = SymbolTable()
    q = tuple(table.variable(f"q{i}") for i in range(4))
    table.assume_unit_norm(q)
    v = tuple(table.constant(f"v{i}", 1.5 + i) for i in range(3))
    back = to_body(q, to_world(q, v))
    assert [table.expand(part).key for part in back] == [part.key for part in v]
    assert squared_norm(q).as_number == 1.0


def test_a_heavy_top_takes_as_few_products_as_by_hand():
    """q' takes 12, Euler's equations 3, and the weight's torque 4: jk, si, ik, sj."""
    table, form = SymbolTable(), FORMULATIONS["body_rates"]
    y = tuple(tuple(table.variable(f"{g}{i}") for i in range(n)) for g, n in enumerate(form.sizes))
    table.assume_unit_norm(y[1])
    body = (*BODY[:5], (0.0, 0.0, -0.7))
    body = BodyConstants(*make_symbols(table, body, "body", table.constant))
    rates = build_right_hand_side(form, sum_forces([force_laws.gravity]), True)(
        table.variable("t"), y, (body, make_symbols(table, (((0.0, 0.0, -9.8),),), "g", table.constant))
    )
    assert table.count_products(rates[1]) == 12
    assert table.count_products([table.expand(rate) for rate in rates[3]]) == 7


def test_what_cancels_is_gone():
    table = SymbolTable()
    x, y = table.variable("x"), table.variable("y")
    assert ((x + y) - y - x).as_number == 0.0
    assert ((-x) * (-x)).key == (x**2).key
    assert (x * y / (y * x)).as_number == 1.0
    rr = x * x + y * y
    assert table.count_products([1 / (rr * sqrt(rr))]) == 3  # x^2, y^2, and one power
    a = table.constant("a", 2.0)
    assert not table.split_constants((a - table.constant("b", 2.0)) * x)


def test_decisions():
    table = SymbolTable()
    x = table.variable("x")
    with pytest.raises(TypeError, match="if_less"):
        _ = 1 if x > 0 else 2
    assert if_less(x, x + 1, 3.0, 4.0).as_number == 3.0
    chosen = if_less(x, 0.0, -x, x)
    assert table.value(chosen, {table.index_of(x): -2.5}) == 2.5
    assert table.value(abs(x), {table.index_of(x): -2.5}) == 2.5
    assert symbolic.atan2(x, 1.0).table is table
