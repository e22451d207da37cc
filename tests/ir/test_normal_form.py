"""The normal form against plain numbers: a law written down as a formula and then evaluated gives the same."""

import math
import random
from typing import NamedTuple

import heyoka
import numpy as np
import pytest

import polhode as ph
from polhode.equations import force_laws
from polhode.equations.formulations import FORMULATIONS
from polhode.equations.inertia import BodyConstants
from polhode.equations.quaternions import normalize, squared_norm, to_body, to_world
from polhode.equations.right_hand_side import build_right_hand_side, sum_forces
from polhode.equations.scalar_ops import if_less, sqrt
from polhode.ir.graph import TraceError, tracing
from polhode.ir.language import record_function
from polhode.ir.normal_form import NormalForm, UndefinedError, as_number, index_of, negate
from polhode.ir.numbers import Traced
from polhode.ir.passes import SmoothGraph
from polhode.ir.targets.heyoka import HeyokaWriter
from scalar_types import groups, leaves, mapped

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


class Formulas(NamedTuple):
    """What a law gives on variables and constants."""

    form: NormalForm
    result: object
    """Its formulas, nested as it returns them."""
    known: dict
    """The values of constants and variables."""

    def value(self, formula):
        return self.form.value(formula, self.known)


def formulas_of(law, variables, constants=(), unit=None):
    """The normal form of law(variables, constants), nested tuples of numbers; `unit` picks a quaternion of length 1."""
    numbers, known, of_unit = [float(x) for x in leaves((variables, constants))], {}, {}
    with tracing(SmoothGraph()) as graph:
        each = iter([Traced(graph.add("in", ("number", (), k))) for k in range(len(numbers))])
        given = mapped(lambda _: next(each), (variables, constants))
        if unit is not None:
            of_unit = {squared_norm(unit(given[0])).i: [part.i for part in unit(given[0])]}
        nodes = mapped(graph.node_of, law(*given))

    def leaf(form, i):
        k = graph.args[i][0][2]
        if k >= len(leaves(variables)):
            return form.constant(numbers[k])
        made = form.variable()
        known[index_of(made)] = numbers[k]
        return made

    form = NormalForm(graph, leaf, of_unit)
    return Formulas(form, mapped(form.formula, nodes), form.values | known)


@pytest.mark.parametrize("pivoted", [False, True])
@pytest.mark.parametrize("name", list(FORMULATIONS))
def test_every_formulation_against_plain_floats(name, pivoted):
    rng, form = random.Random(name), FORMULATIONS[name]
    start = tuple(tuple(rng.uniform(-1, 1) for _ in range(3)) for _ in range(4))
    q = normalize(tuple(rng.uniform(-1, 1) for _ in range(4)))
    y = form.start(start[0], q, start[2], start[3], BodyConstants(*BODY))
    rate = build_right_hand_side(form._replace(is_held=pivoted), sum_forces(FORCES))
    expected = rate(0.3, y, (BodyConstants(*BODY), PARAMS))

    def law(variables, constants):
        return rate(variables[0], variables[1], (BodyConstants(*constants[0]), constants[1]))

    unit = (lambda variables: variables[1][1]) if len(y[1]) == 4 else None
    found = formulas_of(law, (0.3, y), (BODY, PARAMS), unit)
    for group, plain in zip(found.result, expected, strict=True):
        for formula, exact in zip(group, plain, strict=True):
            size = max(1.0, *(abs(n) for n in plain))
            assert abs(found.value(formula) - exact) < 1e-13 * size
            flat = found.form.expand(formula)
            if flat is not None:
                assert abs(found.value(flat) - exact) < 1e-12 * size


def test_heyoka_computes_the_same_numbers():
    form = FORMULATIONS["body_rates"]
    q = normalize((0.5, 0.1, -0.7, 0.3))
    y = form.start((1.0, 2.0, 3.0), q, (0.1, -0.4, 0.6), (2.0, -1.0, 0.5), BodyConstants(*BODY))
    rate = build_right_hand_side(form, sum_forces(FORCES))
    found = formulas_of(lambda y, c: rate(0.0, y, (BodyConstants(*c[0]), c[1])), y, (BODY, PARAMS), lambda y: y[1])
    places = [i for i in found.known if found.form.atoms[i].kind == "variable"]
    writer = HeyokaWriter(found.form, places, -1, {})
    made = [writer.translate(formula) for formula in leaves(found.result)]
    built = writer.build()
    made = [built[place] for place in made]
    run = heyoka.cfunc(made, vars=[heyoka.expression(f"y{k}") for k in range(len(places))])
    pars = np.array([found.value(constant) for constant in writer.constants])
    values = run(np.array([found.known[i] for i in places]), pars=pars)
    exact = leaves(rate(0.0, y, (BodyConstants(*BODY), PARAMS)))
    assert values == pytest.approx(exact, rel=1e-13, abs=1e-13)


def test_there_and_back_is_the_vector_itself():
    """R^T R = 1 follows from |q| = 1 alone."""
    law = lambda q, v: (to_body(q, to_world(q, v)), v, squared_norm(q))  # noqa: E731
    found = formulas_of(law, (0.5, 0.5, 0.5, 0.5), (1.5, 2.5, 3.5), lambda q: q)
    back, given, norm = found.result
    assert tuple(map(found.form.expand, back)) == given
    assert as_number(norm) == 1.0


def test_a_heavy_top_takes_as_few_products_as_by_hand():
    """q' takes 12, Euler's equations 3, and the weight's torque 4: jk, si, ik, sj."""
    form = FORMULATIONS["body_rates"]
    rate = build_right_hand_side(form._replace(is_held=True), sum_forces([force_laws.gravity]))
    y = tuple((0.5,) * size for size in form.sizes)
    constants = ((*BODY[:5], (0.0, 0.0, -0.7)), (((0.0, 0.0, -9.8),),))
    found = formulas_of(lambda y, c: rate(0.0, y, (BodyConstants(*c[0]), c[1])), y, constants, lambda y: y[1])
    rates = found.result
    assert found.form.count_products(rates[1]) == 12
    assert found.form.count_products([found.form.expand(rate) for rate in rates[3]]) == 7


def test_what_cancels_is_gone():
    def law(given, constants):
        (x, y), (a, b) = given, constants
        rr = x * x + y * y
        one = ((x + y) - y - x, x * y / (y * x))
        return one, ((-x) * (-x), x**2, ph.power(x, 2.0)), 1 / (rr * sqrt(rr)), (a - b) * x

    found = formulas_of(law, (0.3, 0.4), (2.0, 2.5))
    (zero, one), squares, inverse, _ = found.result
    assert (as_number(zero), as_number(one)) == (0.0, 1.0)
    assert squares[0] == squares[1] == squares[2]
    assert found.form.count_products([inverse]) == 3  # x^2, y^2, and one power
    alike = formulas_of(law, (0.3, 0.4), (2.0, 2.0))
    assert not alike.form.split_constants(alike.result[3])


CHOICES = {
    "if_less": lambda x, y: if_less(x, y, -x, y),
    "abs": lambda x, y: abs(x) - abs(x - y),
    "less or equal": lambda x, y: x + 1 if x <= y else 3 * y,
    "not less": lambda x, y: x + 1 if not x < y else 3 * y,
    "equal": lambda x, y: 1.0 if x == y else x,
    "unequal": lambda x, y: x if x != 1.0 else 7.0,
    "both": lambda x, y: (1.0 if (x > 0) & (y > 0) else 2.0) if x < 5 and y < 5 else 3.0,
    "either": lambda x, y: 1.0 if (x > 0) | (y == 1.0) else 2.0,
    "one of the two": lambda x, y: 1.0 if (x > 0) ^ (y > 0) else 2.0,
    "clipped": lambda x, y: max(-0.5, min(0.5, x * y)),
    "finite": lambda x, y: x if math.isfinite(x) and not math.isinf(y) and not math.isnan(y) else 0.0,
    "guarded": lambda x, y: 0.0 if x == y else 1.0 / (x - y),
}


@pytest.mark.parametrize("name", list(CHOICES))
def test_choices_against_python(name):
    recorded = record_function(CHOICES[name], {"x": 0.0, "y": 0.0}, 0)
    for x, y in ((0.3, 1.0), (1.0, 1.0), (-2.0, 1.0), (1.5, -0.25), (-3.0, -4.0), (6.0, 5.0)):
        if (name, x) == ("guarded", y):
            continue  # the formula of the other side is infinite there, and its value is not asked for
        found = formulas_of(lambda given, _: recorded(*given), (x, y))
        assert found.value(found.result) == CHOICES[name](x, y)


def test_the_side_of_a_choice_that_is_not_taken_may_have_no_formula():
    recorded = record_function(CHOICES["guarded"], {"x": 0.0, "y": 0.0}, 0)
    assert as_number(formulas_of(lambda x, _: recorded(x, x), 0.5).result) == 0.0
    with pytest.raises(UndefinedError, match="division by zero"):
        formulas_of(lambda x, _: 1 / (x - x), 0.5)


@pytest.mark.parametrize("law", [round, math.floor, lambda x: x % 2.0, lambda x: x // 2.0, lambda x: math.fmod(x, 2.0)])
def test_what_jumps_is_refused(law):
    recorded = record_function(lambda x: law(x), {"x": 0.0}, 0)
    with pytest.raises(TraceError, match="jumps, and at a jump there are no derivatives"):
        formulas_of(lambda x, _: recorded(x), 0.5)


@pytest.mark.parametrize("name", ["asin", "acos", "atan", "sinh", "cosh", "tanh", "expm1", "log1p"])
def test_other_functions_become_what_they_are_made_of(name):
    function = getattr(math, name)
    recorded = record_function(lambda x: function(x), {"x": 0.0}, 0)
    found = formulas_of(lambda x, _: recorded(x), 0.4)
    assert found.value(found.result) == pytest.approx(function(0.4), rel=1e-14)
    assert negate(negate(found.result)) == found.result
    assert len(groups(found.result)) == 1
