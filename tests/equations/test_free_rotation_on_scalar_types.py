"""The closed form of free rotation in every regime: the same bits one by one, on arrays and compiled; and in mpmath."""

import mpmath
import numpy as np
import pytest

import free_rotation_cases
from polhode.equations.free_rotation import rotate_freely
from polhode.equations.inertia import BodyConstants
from polhode.methods.drifts import rotate_about_axes, rotate_exactly
from polhode.reference import precise
from scalar_types import bits, by_machine_code

CASES = [(tuple(q), tuple(w), tuple(J), t) for _, J, w, q, t in free_rotation_cases.cases(seed=77, per_regime=2)]
LATER = (0.0, 1e-9, -0.3, 2.5, -40.0, 1e3)


def columns(cases):
    """The cases' numbers as arrays, in the nesting of one case."""
    q, w, J, t = zip(*cases, strict=True)
    return tuple(np.array(q).T), tuple(np.array(w).T), tuple(np.array(J).T), np.array(t)


def cut(result, i, count):
    return tuple(tuple(float(np.broadcast_to(x, count)[i]) for x in group) for group in result)


def test_over_members_of_every_regime_as_one_by_one():
    """All regimes side by side in one array: the selections of one lane do not touch another."""
    together = rotate_freely(*columns(CASES))
    for i, case in enumerate(CASES):
        assert bits(cut(together, i, len(CASES))) == bits(rotate_freely(*case))


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=regime) for regime, case in zip(free_rotation_cases.REGIMES, CASES[::2], strict=True)],
)
def test_over_times_as_one_by_one(case):
    q, w, J, t = case
    times = np.array([t * later for later in LATER])
    together = rotate_freely(q, w, J, times)
    for i, time in enumerate(times.tolist()):
        assert bits(cut(together, i, len(times))) == bits(rotate_freely(q, w, J, time))


def test_machine_code_has_the_same_bits_in_every_regime():
    for case, compiled in zip(CASES, by_machine_code(rotate_freely, CASES), strict=True):
        assert bits(compiled) == bits(rotate_freely(*case))


@pytest.mark.parametrize("turn", [rotate_exactly, rotate_about_axes])
def test_a_drift_of_members_of_every_regime_as_one_by_one(turn):
    """The angular momentum in world axes and a short time, as a splitting method has them."""

    def arguments(q, w, J, t):
        momentum = tuple(j * x for j, x in zip(J, w, strict=True))
        inverse = tuple(1 / j for j in J)
        nothing = 0 * t
        body = BodyConstants(1 + nothing, 1 + nothing, J, inverse, (1 + nothing,) + (nothing,) * 3, (nothing,) * 3)
        return q, momentum, body, t / 1000

    together = turn(*arguments(*columns(CASES)))
    lanes = [arguments(*case) for case in CASES]
    for i, (args, compiled) in enumerate(zip(lanes, by_machine_code(turn, lanes), strict=True)):
        alone = bits(turn(*args))
        assert bits(cut((together,), i, len(CASES))) == alone
        assert bits(compiled) == alone


# mpmath --------------------------------------------------------------------------------------------------------------
def in_mpmath(case):
    """The deviations of attitude and angular velocity from `reference.precise`, in arithmetic of 40 digits."""
    q, w, J, t = case
    q_true, w_true = precise.free_rotation(J, w, q, t, digits=45)
    with mpmath.workdps(40):
        number = mpmath.mpf
        q, w, J = (tuple(map(number, group)) for group in (q, w, J))
        q_got, w_got = rotate_freely(q, w, J, number(t))
        length = mpmath.sqrt(sum(x * x for x in q))
        sign = 1 if sum(a * b for a, b in zip(q_got, q_true, strict=True)) > 0 else -1
        speed = mpmath.sqrt(sum(x * x for x in w_true)) or 1
        attitude = max(abs(a / length - sign * b) for a, b in zip(q_got, q_true, strict=True))
        rates = max(abs(a - b) for a, b in zip(w_got, w_true, strict=True)) / speed
        return float(attitude), float(rates)


@pytest.mark.parametrize("case", CASES[::2], ids=list(free_rotation_cases.REGIMES))
def test_in_mpmath_it_holds_all_digits_within_half_a_period(case):
    """Judge: `reference.precise`.  No truncation is left: 14 rungs and 14 duplications serve 36 digits."""
    q, w, J, t = case
    short = np.copysign(min(abs(t), 1e-3 / (np.linalg.norm(w) or 1)), t)
    attitude, rates = in_mpmath((q, w, J, float(short)))
    assert attitude < 1e-36
    assert rates < 1e-36


@pytest.mark.parametrize("case", CASES[::2], ids=list(free_rotation_cases.REGIMES))
def test_in_mpmath_whole_periods_bring_the_digits_of_a_double(case):
    """Judge: `reference.precise`.  The rates hold 30 digits: whole periods are taken off with pi to 37 digits.  The
    attitude's share of a period is counted with pi/4 as a double: it is off by about 3e-17 for every radian turned."""
    attitude, rates = in_mpmath(case)
    turns = abs(case[3]) * np.linalg.norm(case[1])
    assert attitude < 3e-17 * (1 + turns)
    assert rates < 1e-36 * (1000 + turns)


@pytest.mark.parametrize(("w3", "t"), [(1e-4, 15e3), (1e-4, 1e6), (1e-5, 3e4)])
def test_a_disc_spun_almost_across_its_axis(w3, t):
    """Judge: `reference.precise`, and the problem's own conditioning."""
    case = ("", (1.0, 1.0, 2.0), (1.0, 0.0, w3), (1.0, 0.0, 0.0, 0.0), t)
    q, _ = rotate_freely(case[3], case[2], case[1], t)
    assert free_rotation_cases.attitude_error(q, case) <= 20 * free_rotation_cases.conditioning(case)
