"""Derivatives of operations, laws, forces, events and steps, against mpmath: the same functions at 60 digits.

mpmath evaluates the law itself, on its own numbers and functions, at two points 1e-20 apart; no rule is involved.
"""

from __future__ import annotations

import math
import random

import mpmath
import numpy as np
import pytest

import polhode as ph
from law_samples import BODY, FOR_DOUBLES, MOMENTUM, SAMPLES, T
from polhode.equations import force_laws
from polhode.equations.formulations import FORMULATIONS
from polhode.equations.free_motion import build_free_motion
from polhode.equations.right_hand_side import build_right_hand_side, sum_forces
from polhode.ir.derivatives import jvp, vjp
from polhode.ir.graph import TraceError, tracing
from polhode.ir.language import record_function
from polhode.ir.operations import OPERATIONS
from polhode.methods.registry import METHODS
from polhode.methods.runge_kutta import build_step
from polhode.methods.splitting import build_splitting_step, kick_tableau
from scalar_types import groups, leaves, mapped, refilled

TOLERANCE = 1e-13
STEP = mpmath.mpf(10) ** -20
QUICK, MANY = 12, 1000


def relative(numbers, rng, spread):
    return [x * (1 + u) if x else u for x, u in ((x, rng.uniform(-spread, spread)) for x in numbers)]


def assert_agrees_with_mpmath(function, sample, count, spread=0.2, exact=None, tolerance=TOLERANCE):
    """`jvp` along a direction of the size of the arguments, and `vjp`, which must give the same product."""
    rng, flat = random.Random(count), [float(x) for x in leaves(sample)]
    points = [relative(flat, rng, spread) for _ in range(count)]
    along = [rng.uniform(-1, 1) * (abs(x) or 1.0) for x in flat]
    given = refilled(sample, list(np.array(points).T))
    directions = refilled(sample, [np.full(count, d) for d in along])
    value, tangent = jvp(function, given, directions)
    weights = mapped(lambda _: np.full(count, rng.uniform(-1, 1)), value)
    _, adjoints = vjp(function, given, weights)
    table = np.array([np.broadcast_to(t, count) for t in leaves(tangent)]).reshape(-1, count)
    wanted, sizes = [], []
    for point in points:
        above, below = (
            (exact or function)(
                *refilled(sample, [mpmath.mpf(x) + s * STEP * mpmath.mpf(d) for x, d in zip(point, along, strict=True)])
            )
            for s in (1, -1)
        )
        slopes = [
            (mpmath.mpf(a) - mpmath.mpf(b)) / (2 * STEP) for a, b in zip(leaves(above), leaves(below), strict=True)
        ]
        wanted.append(slopes)
        sizes.append([])
        for group in groups(above):
            own = slopes[len(sizes[-1]) : len(sizes[-1]) + len(group)]
            size = max(float(max(map(abs, own))), float(max(abs(mpmath.mpf(x)) for x in group)))
            sizes[-1] += [size] * len(group)
    # Where a derivative almost vanishes, its rounding is that of the terms that cancel: it is measured by other points.
    sizes = np.maximum(sizes, np.median(sizes, axis=0))
    for p, slopes in enumerate(wanted):
        for j, exactly in enumerate(slopes):
            assert abs(mpmath.mpf(float(table[j, p])) - exactly) <= tolerance * sizes[p, j], (p, j)
    forward = sum(w * t for w, t in zip(leaves(weights), table, strict=True))
    terms = [a * d for a, d in zip(leaves(adjoints), along, strict=True)]
    size = sum(map(np.abs, terms)) + sum(np.abs(w * t) for w, t in zip(leaves(weights), table, strict=True))
    assert (np.abs(forward - sum(terms)) <= 10 * tolerance * size).all()


@pytest.fixture(autouse=True)
def sixty_digits():
    with mpmath.workdps(60):
        yield


# Operations -----------------------------------------------------------------------------------------------------------
TWO, ONE = (0.7, 1.9), (0.7,)
BY_MPMATH = {
    "add": (TWO, lambda x, y: x + y), "sub": (TWO, lambda x, y: x - y), "mul": (TWO, lambda x, y: x * y),
    "div": (TWO, lambda x, y: x / y), "neg": (ONE, lambda x: -x), "sqrt": (ONE, mpmath.sqrt),
    "rcp": (ONE, lambda x: 1 / x), "rsqrt": (ONE, lambda x: 1 / mpmath.sqrt(x)),
    "fma": ((0.7, 1.9, -0.4), lambda x, y, z: x * y + z), "floor": (ONE, mpmath.floor), "round": (ONE, mpmath.nint),
    "nearest": (ONE, mpmath.nint), "fmod": ((7.7, 1.9), lambda x, y: x - y * mpmath.floor(x / y)),
    "mod": ((-7.7, 1.9), lambda x, y: x - y * mpmath.floor(x / y)), "floordiv": (TWO, lambda x, y: mpmath.floor(x / y)),
    "sin": (ONE, mpmath.sin), "cos": (ONE, mpmath.cos), "tan": (ONE, mpmath.tan), "asin": (ONE, mpmath.asin),
    "acos": (ONE, mpmath.acos), "atan": (ONE, mpmath.atan), "atan2": (TWO, mpmath.atan2), "exp": (ONE, mpmath.exp),
    "log": (ONE, mpmath.log), "power": (TWO, mpmath.power), "expm1": ((1e-3,), mpmath.expm1),
    "log1p": ((1e-3,), mpmath.log1p), "sinh": (ONE, mpmath.sinh), "cosh": (ONE, mpmath.cosh),
    "tanh": (ONE, mpmath.tanh),
}  # fmt: skip
OTHERS = {"lt", "le", "eq", "sel", "pick", "interp"}
"""Comparisons, and what the branches below are made of."""


def traced_operation(name):
    def function(*operands):
        from polhode.ir.numbers import apply

        return apply(name, *operands)

    return function


def test_no_operation_is_missed():
    assert set(BY_MPMATH) | OTHERS == set(OPERATIONS)


@pytest.mark.parametrize("name", BY_MPMATH)
def test_an_operation_at_a_thousand_points(name):
    sample, exact = BY_MPMATH[name]
    assert_agrees_with_mpmath(traced_operation(name), sample, MANY, 0.2, exact)


KNOTS = (0.0, 0.5, 0.8, 1.5, 2.0)


def by_hand(x, *values):
    for i in range(len(KNOTS) - 1):
        if x < KNOTS[i + 1]:
            return (values[i + 1] - values[i]) / (mpmath.mpf(KNOTS[i + 1]) - KNOTS[i]) * (x - KNOTS[i]) + values[i]
    raise AssertionError


def test_a_table_by_its_place_and_by_its_values():
    sample = (1.0, 1.0, 3.0, -2.0, 0.5, 4.0)
    assert_agrees_with_mpmath(lambda x, *values: ph.interp(x, KNOTS, values), sample, MANY, 0.9, by_hand)


def test_branches_that_are_not_taken_add_nothing():
    """Behind a choice the other branch may be infinite or NaN."""

    def guarded(x):
        return ph.if_less(0.0, x, ph.sqrt(x) + ph.log(x) + 1.0 / x, x * x)

    for x, slope in ((-0.3, -0.6), (0.25, 1.0 + 4.0 - 16.0)):
        assert jvp(guarded, (x,), (1.0,))[1] == pytest.approx(slope, rel=1e-14)
        assert vjp(guarded, (x,), 1.0)[1][0] == pytest.approx(slope, rel=1e-14)
    nothing = vjp(lambda x: ph.if_less(x, 1.0, x, 1.0 / (x - x)), (0.5,), 1.0)[1]
    assert nothing == (1.0,)


def test_one_number_given_twice_is_two_arguments():
    with tracing() as graph:
        from polhode.ir.numbers import Traced
        from polhode.ir.passes import evaluate

        x = Traced(graph.add("uniform", "%x"))
        closure = x * x  # what a function reads from outside is constant
        _, (first, second) = vjp(lambda a, b: a * b * b * closure, (x, x), 1.0)
        values = evaluate(graph, [first.i, second.i], lambda _: 3.0)
    assert [values[first.i], values[second.i]] == [3.0**2 * 9.0, 2 * 3.0**2 * 9.0]


def test_arrays_and_floats_give_the_same_bits():
    law, xs = (lambda x: ph.sin(x) * ph.exp(-x) / (1.0 + x * x)), np.linspace(-2.0, 2.0, 7)
    assert [vjp(law, (x,), 1.0)[1][0] for x in xs.tolist()] == vjp(law, (xs,), np.ones(7))[1][0].tolist()


def test_an_unknown_derivative_is_refused():
    with tracing(), pytest.raises(TraceError, match="int"):
        jvp(lambda x: int(x), (1.0,), (1.0,))


# Laws, forces, events -------------------------------------------------------------------------------------------------
LAWS = [sample for sample in SAMPLES if sample.law not in FOR_DOUBLES]


@pytest.mark.parametrize("sample", LAWS, ids=[sample.name for sample in LAWS])
def test_a_law(sample):
    assert_agrees_with_mpmath(sample.runs, sample.args, QUICK)


@pytest.mark.long
@pytest.mark.parametrize("sample", LAWS, ids=[sample.name for sample in LAWS])
def test_a_law_at_a_thousand_points(sample):
    assert_agrees_with_mpmath(sample.runs, sample.args, MANY)


def users_force(t, state, body, params):
    """With functions, a table, a decision and a remainder."""
    (k, c), (x, y, z), v = params, state.position, state.velocity
    push = -k * x if x < 0.4 else -k * 0.4 - 3.0 * k * (x - 0.4)
    lift = ph.interp(y, (0.0, 0.4, 1.0, 3.0), (0.0, 1.0, 0.5, 2.0))
    return (
        (push + math.sin(3 * t) * c, lift - c * v[1] * math.hypot(*v), math.exp(-z) + math.atan2(y, x) % 0.7),
        (math.tanh(v[0]), abs(v[2]) ** 1.5, c * math.log1p(k)),
    )


def users_force_by_hand(t, position, velocity, params):
    m = mpmath
    (k, c), (x, y, z), v = params, position, velocity
    push = -k * x if x < 0.4 else -k * m.mpf(0.4) - 3 * k * (x - m.mpf(0.4))
    knots, values = (0.0, 0.4, 1.0, 3.0), (0.0, 1.0, 0.5, 2.0)
    i = next(i for i in range(3) if y < knots[i + 1])
    lift = m.mpf(values[i]) + (m.mpf(values[i + 1]) - values[i]) / (m.mpf(knots[i + 1]) - knots[i]) * (y - knots[i])
    angle = m.atan2(y, x)
    return (
        (
            push + m.sin(3 * t) * c,
            lift - c * v[1] * m.sqrt(sum(u * u for u in v)),
            m.exp(-z) + angle - m.mpf(0.7) * m.floor(angle / m.mpf(0.7)),
        ),
        (m.tanh(v[0]), abs(v[2]) ** m.mpf(1.5), c * m.log1p(k)),
    )


def test_a_users_force_with_every_kind_of_function():
    vector, unit = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)
    seen = ph.StateView(vector, unit, vector, vector, vector, vector, vector)
    body = ph.BodyConstants(1.0, 1.0, vector, vector, unit, vector)
    recorded = record_function(users_force, {"t": 0.0, "state": seen, "body": body, "params": (0.0, 0.0)}, 2)

    def force(t, position, velocity, params):
        return recorded(t, seen._replace(position=position, velocity=velocity), body, params)

    sample = (0.3, (0.4, 0.5, 0.2), (1.0, -0.7, 0.9), (2.0, 0.3))
    assert_agrees_with_mpmath(force, sample, MANY, 0.3, users_force_by_hand)


def test_a_users_event():
    recorded = record_function(lambda t, s: s[2] * s[2] - math.cos(s[0]) - t, {"t": 0.0, "s": (0.0, 0.0, 0.0)}, 0)
    assert_agrees_with_mpmath(
        recorded, (0.3, (0.4, 0.5, 0.2)), MANY, 0.3, lambda t, s: s[2] * s[2] - mpmath.cos(s[0]) - t
    )


# Steps ----------------------------------------------------------------------------------------------------------------
LOAD = sum_forces((force_laws.gravity, force_laws.quadratic_drag))
PARAMS = ((0.0, 0.0, -10.0),), (0.25, (0.5, 0.0, 1.0))


def step_of(method, number=float):
    """One step of a method as a function of the state, with the numbers of its tableau in another type."""
    rate = build_right_hand_side(FORMULATIONS["momentum"], LOAD)
    data = BODY, PARAMS
    if method.is_closed_form:
        step, data = build_free_motion(sum_forces((force_laws.gravity,))), (BODY, PARAMS[:1])
    elif method.composition is not None:
        tableau = kick_tableau(method.composition, True, False)
        step = build_splitting_step(method.composition, rate, tableau)
    else:
        step = build_step(method.tableau, rate, number)
    data = mapped(number, data)
    return lambda y: step(number(T), y, number(1 / 64), data)


STEPS = [m for m in METHODS.values() if not m.is_taylor_series]


@pytest.mark.parametrize("method", STEPS, ids=[m.name for m in STEPS])
@pytest.mark.parametrize("count", [QUICK, pytest.param(MANY, marks=pytest.mark.long)])
def test_a_step_of_every_method(method, count):
    def exact(y):
        return step_of(method, lambda x: mpmath.mpf(float(x)))(y)

    assert_agrees_with_mpmath(step_of(method), (MOMENTUM,), count, exact=exact)
