"""Regula falsi with the Illinois rule, against exact fractions and the golden section of its order."""

from fractions import Fraction
from math import log

import pytest

from polhode.methods.roots import narrow_bracket, secant_point


def points(function, low, high, count):
    """The points that are tried for a root of a function that is above 0 at `low`."""
    bracket, moved, tried = (low, function(low), high, function(high)), 0 * low, []
    for _ in range(count):
        x = secant_point(*bracket)
        f = function(x)
        bracket, moved = narrow_bracket(bracket, moved, x, f, f)
        tried.append(x)
        assert bracket[0] <= bracket[2]
    return tried


def test_by_hand_in_fractions():
    """f = 2 - x^2 in [1, 2]: 4/3 and 7/5 are below the root, so that 2 counts half for the third point."""
    tried = points(lambda x: 2 - x * x, Fraction(1), Fraction(2), 3)
    assert tried == [Fraction(4, 3), Fraction(7, 5), Fraction(37, 26)]


def test_three_points_gain_as_many_digits_as_order_three():
    """The Illinois rule multiplies the number of digits by 3 in three points.  [Dowell and Jarratt 1971]"""
    tried = points(lambda x: 2 - x * x, Fraction(1), Fraction(2), 10)
    errors = [abs(float(x * x - 2)) for x in tried]
    assert errors[9] < 1e-15 or log(errors[9]) / log(errors[6]) == pytest.approx(3, rel=0.3)
    assert errors[8] < 1e-12


def test_a_root_near_which_the_function_is_almost_flat():
    tried = points(lambda x: 1e-12 - x**9, 0.0, 1.0, 100)
    assert tried[-1] == pytest.approx(1e-12 ** (1 / 9), rel=1e-6)
