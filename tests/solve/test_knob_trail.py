"""Numbers that remember how they were made from knobs, against the same arithmetic on plain floats."""

from __future__ import annotations

import math

import numpy as np

import polhode as ph
from polhode import validation
from polhode.ir.numbers import Known
from polhode.solve.knob_trail import evaluate_for, following_knobs

GIVEN, OTHERS = 0.73123451234, np.array([0.1234567, 0.5, 0.99, 1.7])


def assert_followed(function) -> None:
    """The number has the value of plain arithmetic, and its graph that value for other values of the knob too."""
    with following_knobs() as trail:
        made = function(trail.knob(0, GIVEN))
        assert type(made) is Known
        values = evaluate_for(trail.graph, [made.i], [OTHERS])[made.i]
    assert float(made) == function(GIVEN)
    assert values.tolist() == [function(x) for x in OTHERS.tolist()]


def test_arithmetic_has_the_bits_of_plain_floats():
    for function in (
        lambda x: 3 * x - x / 7 + (-x) * (2 - x),
        lambda x: abs(x - 0.6) + 5 // x + 5 % x + x % 0.3,
        lambda x: ph.sin(x) * ph.cos(3 * x) + ph.sqrt(x) + ph.exp(-x),
        lambda x: ph.if_less(x, 0.6, 2 * x, x / 3),
        lambda x: float.__add__(0.0, math.pi) * x,
        lambda x: +x * sum(divmod(5, x)) - sum(divmod(x, 0.3)),
    ):
        assert_followed(function)


def test_arrays_keep_the_trail_through_validation_and_back():
    def through_arrays(x):
        lengths = validation.check_numbers((x, 2 * x, 0.5), "lengths", (3,))
        a, b, c = lengths
        product = np.sqrt(lengths * lengths)[0] + a * b * c
        return validation.as_leaves(np.array([float(product)]))[0] / x

    assert_followed(through_arrays)


def test_a_shape_and_its_constants_are_followed():
    def inverse_moment(x):
        return ph.shapes.box((x, 2 * x, 0.7), mass=3.0).constants().inverse_moments[1]

    assert_followed(inverse_moment)


def test_a_power_and_a_numpy_cosine_leave_the_trail_and_are_named():
    with following_knobs() as trail:
        x = trail.knob(0, GIVEN)
        assert type(x**2) is float
        assert type(np.cos(x)) is not Known
    assert list(trail.lost) == ["a power, x ** y (write x * x, or ph.sqrt)", "numpy.cos"]


def test_a_number_is_a_plain_float_after_the_trail_has_ended():
    with following_knobs() as trail:
        x = trail.knob(0, GIVEN)
    assert type(x + 1) is float
    assert type(np.array([1.0]) * x) is np.ndarray
    assert validation.following.trail is None


def test_comparisons_are_noted_with_their_results():
    with following_knobs() as trail:
        x = trail.knob(0, GIVEN)
        assert x < 1
        assert not x >= 2
    assert sorted((op, truth) for (op, _, _), truth in trail.guards.items()) == [("le", False), ("lt", True)]
