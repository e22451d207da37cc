"""The control of the step against SciPy's DOP853, which follows Hairer's program."""

from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import isclose, log

import numpy as np
import pytest
from scipy.integrate import DOP853 as SCIPYS

from polhode.methods import runge_kutta
from polhode.methods.dop853 import DOP853

RNG = np.random.default_rng(8)
CONTROL = DOP853.control
next_clock = partial(runge_kutta.next_clock, control=CONTROL)


class Slopes:
    """The two things that SciPy's estimate reads of itself: the rows of the errors."""

    E5, E3 = np.array([1.0, 0.0]), np.array([0.0, 1.0])


def test_the_mixture_of_the_two_errors_is_scipys():
    """SciPy takes the root of the mean over n numbers; here the mean goes over four groups."""
    for _ in range(20):
        fifth, third = RNG.uniform(0.1, 3, 2)
        slopes = np.zeros((2, 4))
        slopes[0, 0], slopes[1, 0] = fifth, third
        theirs = SCIPYS._estimate_error_norm(Slopes, slopes, 1.0, np.ones(4))
        assert isclose(runge_kutta.mixed_error(fifth**2, third**2), theirs, rel_tol=1e-14)


def test_the_mixture_of_no_error_is_none():
    assert runge_kutta.mixed_error(0.0, 0.0) == 0


@pytest.mark.parametrize("error", [0.0, 1e-30, 1e-6, 0.3, 1.0, 4.0, 1e3, 1e30])
def test_the_next_step_is_scipys(error):
    """0.9 error^(-1/8), between 1/5 and 10."""
    theirs = 10.0 if error == 0 else min(10.0, max(0.2, 0.9 * error ** (-1 / 8)))
    assert isclose(runge_kutta.step_factor(error, CONTROL), theirs, rel_tol=1e-15)


def test_a_step_with_error_one_over_shrinks_and_the_factor_falls_with_the_eighth_root():
    factors = [runge_kutta.step_factor(error, CONTROL) for error in (0.01, 0.1, 1.0, 10.0)]
    assert all(isclose(log(a / b, 10), 1 / 8, rel_tol=1e-13) for a, b in pairwise(factors))


def test_a_groups_error_against_hand_numbers():
    """|error| = 3, and the largest of |old| = 7, |new| = 9 and |h slope| = 11 allows 2 + 11/4."""
    old, new, slope, error = (2, 3, 6), (1, 4, 8), (4, 12, 18), (1, 2, 2)
    half, quarter, two = Fraction(1, 2), Fraction(1, 4), Fraction(2)
    exact = [tuple(Fraction(x) for x in group) for group in (old, new, slope, error)]
    assert runge_kutta.group_error(*exact[:3], half, exact[3], quarter, two) == (3 / (2 + Fraction(11, 4))) ** 2
    assert (
        runge_kutta.group_error(*exact[:2], exact[3], half, exact[3], quarter, two) == (3 / (2 + Fraction(9, 4))) ** 2
    )
    assert (
        runge_kutta.group_error(exact[0], exact[3], exact[3], half, exact[3], quarter, two)
        == (3 / (2 + Fraction(7, 4))) ** 2
    )


def test_a_group_that_stays_zero_has_no_error_even_without_an_absolute_tolerance():
    zero = (0.0, 0.0, 0.0)
    assert runge_kutta.group_error(zero, zero, zero, 0.1, zero, 1e-9, 0.0) == 0


def test_groups_without_a_tolerance_do_not_count():
    """The work, a fifth group, is carried along and never shortens a step."""
    old, new, slope, error = (
        ((3.0, 4.0), (1.0,), (5.0,)),
        ((0.0, 0.0), (0.0,), (0.0,)),
        ((0.0, 0.0), (0.0,), (0.0,)),
        ((1.0, 0.0), (2.0,), (9.0,)),
    )
    both = runge_kutta.state_error(old, new, slope, 0.1, error, (0.5, 0.5), (0.0, 1.0))
    assert isclose(both, (1 / 2.5) ** 2 + (2 / 1.5) ** 2, rel_tol=1e-15)


def test_the_error_of_a_group_does_not_depend_on_the_unit_of_its_numbers():
    groups = [tuple(RNG.normal(size=3).tolist()) for _ in range(4)]
    small = [tuple(x * 2.0**-60 for x in group) for group in groups]
    ours, theirs = (runge_kutta.group_error(*g[:3], 0.125, g[3], 1e-9, 0.0) for g in (groups, small))
    assert ours == theirs


def test_a_step_is_what_is_left_or_what_was_planned():
    assert runge_kutta.step_to_try(1.0, 0.25, 2.0) == 0.25
    assert runge_kutta.step_to_try(1.0, 3.0, 2.0) == 1.0
    assert runge_kutta.step_end(1.0, 0.25, 2.0) == 1.25
    assert runge_kutta.step_end(0.7, 3.0, 0.9) == 0.9  # and not 0.7 + 0.2


def test_the_clock_after_an_accepted_and_after_a_rejected_step():
    """SciPy: 0.9 error^(-1/8), not longer than before just after a refusal."""
    easy, hard = 1 / 256, 256.0
    assert next_clock((1.0, 0.25, 0.0, 3.0, 2.0), 9.0, 0.25, easy) == (1.25, 0.25 * 1.8, 0.0, 4.0, 2.0)
    assert next_clock((1.0, 0.25, 1.0, 3.0, 2.0), 9.0, 0.25, easy) == (1.25, 0.25, 0.0, 4.0, 2.0)
    assert next_clock((1.0, 0.25, 0.0, 3.0, 2.0), 9.0, 0.25, hard) == (1.0, 0.25 * 0.45, 1.0, 3.0, 3.0)


def test_a_step_cut_short_by_the_end_forgets_nothing():
    clock = next_clock((1.0, 0.25, 0.0, 3.0, 2.0), 1.0625, 0.0625, 1.0)
    assert clock == (1.0625, 0.25, 0.0, 4.0, 2.0)


def test_an_attempt_of_no_length_changes_nothing():
    clock = (1.0, 0.0, 0.0, 3.0, 2.0)
    assert runge_kutta.comparable_error(0.0, 0.0) > 1
    assert next_clock(clock, 9.0, 0.0, runge_kutta.comparable_error(0.0, 0.0)) == clock


def test_an_error_that_is_nan_rejects_the_step():
    for error in (float("nan"), float("inf"), 1e305):
        assert runge_kutta.comparable_error(error, 0.25) == 1e300
    assert next_clock((1.0, 0.25, 0.0, 0.0, 0.0), 9.0, 0.25, 1e300)[:3] == (1.0, 0.05, 1.0)
    assert next_clock((1.0, 1e-16, 0.0, 0.0, 0.0), 9.0, 1e-16, 1e300)[1] == 0.0  # too short to change t
