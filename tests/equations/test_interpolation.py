"""Linear interpolation in tables, against exact fractions and NumPy."""

import math
import sys
from fractions import Fraction
from itertools import pairwise
from types import ModuleType

import mpmath
import numpy as np
import pytest

import polhode as ph
from scalar_types import by_heyoka, by_jax, by_mpmath, by_normal_form, by_sympy

RNG = np.random.default_rng(7)
XP, FP = (-1.5, 0.1, 0.7, 4.0), (0.3, -2.0, -2.0, 5.1)


def by_hand(x, xp, fp):
    """In exact fractions."""
    x, xp, fp = Fraction(x), [Fraction(v) for v in xp], [Fraction(v) for v in fp]
    for (a, b), (c, d) in zip(pairwise(xp), pairwise(fp), strict=True):
        if a <= x <= b:
            return c + (d - c) * (x - a) / (b - a)
    return fp[0] if x < xp[0] else fp[-1]


TABLES = [(np.cumsum(10 ** RNG.uniform(-3, 1, n)) - 2.0, RNG.normal(size=n)) for n in (1, 2, 3, 17, 200)]


@pytest.mark.parametrize(("xp", "fp"), TABLES)
def test_against_fractions_and_numpy(xp, fp):
    inside = RNG.uniform(xp[0] - 1, xp[-1] + 1, 300)
    x = np.concatenate([inside, xp, np.nextafter(xp, -np.inf), np.nextafter(xp, np.inf), [math.inf, -math.inf]])
    found = ph.interp(x, xp, fp)
    assert np.abs(found - np.interp(x, xp, fp)).max() <= 1e-15 * np.abs(fp).max()
    for each, value in zip(x[:-2].tolist(), found.tolist(), strict=False):
        assert abs(Fraction(value) - by_hand(each, xp, fp)) <= Fraction(1, 10**15) * Fraction(np.abs(fp).max())
    assert found[-2:].tolist() == [fp[-1], fp[0]]
    assert ph.interp(xp, xp, fp).tolist() == fp.tolist()


@pytest.mark.parametrize(("xp", "fp"), TABLES)
def test_floats_have_the_bits_of_arrays(xp, fp):
    x = np.concatenate([RNG.uniform(xp[0] - 1, xp[-1] + 1, 300), xp, [math.inf, -math.inf, math.nan]])
    floats = [ph.interp(each, tuple(xp), fp.tolist()).hex() for each in x.tolist()]
    assert [each.hex() for each in ph.interp(x, xp, fp).tolist()] == floats
    assert [float(ph.interp(each, xp, fp)).hex() for each in x] == floats  # NumPy's scalars


def test_nan_stays_nan():
    assert math.isnan(ph.interp(math.nan, XP, FP))
    assert np.isnan(ph.interp(np.array([math.nan, 0.0]), XP, FP)).tolist() == [True, False]


def test_a_table_for_each_member_of_an_ensemble():
    """Knots and values that are arrays give what each member's own table gives, to the bit."""
    xp = np.cumsum(RNG.uniform(0.1, 1.0, (5, 40)), axis=0)
    fp = RNG.normal(size=(5, 40))
    x = np.append(RNG.uniform(0, 4, 39), math.nan)
    together = ph.interp(x, tuple(xp), tuple(fp))
    alone = [ph.interp(x[i].item(), xp[:, i], fp[:, i]) for i in range(40)]
    assert [each.hex() for each in together.tolist()] == [each.hex() for each in alone]
    xp[3, 7] = xp[2, 7]
    with pytest.raises(ph.PolhodeError, match="increase"):
        ph.interp(x, tuple(xp), tuple(fp))


def test_whole_numbers_and_lists():
    assert ph.interp(1, [0, 2, 3], [0, 1, 5]) == 0.5
    assert ph.interp(np.arange(4), np.array([0, 2, 3]), np.array([0, 1, 5])).tolist() == [0.0, 0.5, 1.0, 5.0]


def test_a_table_changed_in_place_gives_the_new_values():
    xp, fp = np.array([0.0, 1.0]), [0.0, 1.0]
    assert ph.interp(0.5, xp, fp) == 0.5
    fp[1] = 3.0
    assert ph.interp(0.5, xp, fp) == 1.5
    xp[0] = -1.0
    assert ph.interp(0.0, xp, fp) == 1.5


# Other kinds of numbers ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("x", [-2.0, -1.5, 0.0, 0.1, 0.5, 3.0, 4.0, 5.0])
def test_other_kinds_of_numbers(x):
    def table(v):
        return ph.interp(v, XP, FP)

    exact = by_hand(x, XP, FP)
    assert table(Fraction(x)) == exact
    with mpmath.workdps(50):
        assert abs(by_mpmath(table, [(x,)])[0] - mpmath.mpf(exact.numerator) / exact.denominator) < mpmath.mpf("1e-48")
    floats = pytest.approx(float(exact), rel=1e-14)
    assert [float(v) for v in by_jax(table, [(x,)])] == [floats]
    assert by_heyoka(table, [(x,)]) == [floats]
    assert [float(v) for v in by_sympy(table, [(Fraction(x),)])] == [floats]
    assert by_normal_form(table, [(x,)]) == [floats]


def test_the_own_function_of_a_library_of_the_package(monkeypatch):
    """A kind of number whose module has `interp` gets the checked table in floats."""

    class Recorded:
        __module__ = "polhode.ir.numbers"

    module = ModuleType("polhode.ir.numbers")
    module.interp = lambda *arguments: arguments
    monkeypatch.setitem(sys.modules, module.__name__, module)
    x, knot = Recorded(), Recorded()
    assert ph.interp(x, np.array([1, 2]), [3, -0.0]) == (x, (1.0, 2.0), (3.0, 0.0))
    assert ph.interp(0.5, [0.0, knot], [3.0, 4.0]) == (0.5, (0.0, knot), (3.0, 4.0))
    with pytest.raises(ph.PolhodeError, match="increase"):
        ph.interp(x, (1.0, 1.0), (3.0, 4.0))


def test_a_force_with_a_table_by_taylor_series():
    """v' = table(t), whose integral is a sum of trapezoids."""
    knots, values = (0.25, 0.5, 1.0), (0.0, 2.0, -1.0)

    @ph.force
    def push(t, state, body, params):
        return (ph.interp(t, knots, values), 0 * t, 0 * t), (0 * t, 0 * t, 0 * t)

    motion = ph.simulate(ph.particle(1.0), forces=[push()], duration=1.5, method="taylor", rtol=1e-12)
    assert motion.final.velocity[0] == pytest.approx(0.25 * 1.0 + 0.5 * 0.5 - 0.5, abs=1e-11)


# Errors -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("xp", "fp", "sentence"),
    [
        ((0.0, 1.0), (1.0,), "2 knots xp and 1 values fp"),
        ((), (), "at least one"),
        ((0.0, 2.0, 2.0), (1.0, 2.0, 3.0), r"xp\[1\] = 2.0 is followed by xp\[2\] = 2.0: sort the table"),
        ((0.0, math.nan), (1.0, 2.0), "increase"),
        ((0.0, math.inf), (1.0, 2.0), "finite"),
        ((0.0, 1.0), (1.0, math.nan), "finite"),
        ((0.0, 5e-324), (0.0, 1.0), "almost coincide"),
    ],
)
def test_a_table_that_makes_no_sense_is_refused(xp, fp, sentence):
    for x in (0.5, np.array([0.5])):
        with pytest.raises(ph.PolhodeError, match=sentence):
            ph.interp(x, xp, fp)
    if "increase" in sentence or "knots" in sentence:
        with pytest.raises(ph.PolhodeError, match=sentence):
            ph.interp(mpmath.mpf(1), xp, fp)
