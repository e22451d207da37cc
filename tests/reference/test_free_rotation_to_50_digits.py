"""The 50-digit reference solution against integer Taylor series, published end states, and its own symmetries."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import mpmath
import numpy as np
import pytest
from mpmath import mpf

import free_rotation_cases
import polhode as ph
from free_rotation_cases import cases, up
from polhode.reference.precise import free_rotation
from taylor_reference import advanced

REFERENCES = json.loads((Path(__file__).parents[1] / "data" / "reference_states.json").read_text())["cases"]
Q = (0.5, -0.1, 0.7, 0.3)
BODIES = {
    "about the largest": ((1.0, 2.0, 3.0), (0.3, 0.2, 2.0)),
    "about the smallest": ((1.0, 2.0, 3.0), (2.0, 0.2, -0.3)),
    "axes zyx": ((3.0, 2.0, 1.0), (-1.4, -0.2, -0.3)),
    "axes yxz": ((2.0, 1.0, 3.0), (2.0, 0.2, -0.3)),
    "axes zxy": ((3.0, 1.0, 2.0), (-0.4, 0.2, -1.3)),
    "axes yzx": ((2.0, 3.0, 1.0), (0.4, -2.0, 1.0)),
    "axes xzy": ((1.0, 3.0, 2.0), (0.4, -2.0, 1.0)),
    "separatrix": ((2.0, 3.0, 6.0), (3.0, -1.0, 1.0)),
    "separatrix, other senses": ((6.0, 2.0, 3.0), (-1.0, -3.0, 1.0)),
    "separatrix, an ulp inside": ((2.0, 3.0, 6.0), (up(3.0), -1.0, 1.0)),
    "separatrix, an ulp outside": ((2.0, 3.0, 6.0), (3.0, -1.0, up(1.0))),
    "separatrix, 1e-30": (("2", "3", "6"), ("3.000000000000000000000000000001", "-1", "1")),
    "near oblate": ((2.0, up(2.0), 3.0), (0.3, 0.4, 1.0)),
    "near prolate": ((1.0, 2.0, up(2.0)), (0.3, 0.4, 1.0)),
    "near prolate, spin across": ((1.0, 2.0, up(2.0)), (1e-9, 0.4, 1.0)),
    "near spherical": ((2.0, up(2.0), up(2.0, 2)), (0.3, 0.4, 1.0)),
    "oblate": ((2.0, 2.0, 3.0), (0.3, 0.4, 1.0)),
    "prolate": ((1.0, 2.0, 2.0), (0.3, 0.4, 1.0)),
    "symmetric about y": ((2.0, 3.0, 2.0), (0.3, 0.4, 1.0)),
    "spherical": ((2.0, 2.0, 2.0), (0.3, 0.4, 1.0)),
    "on x": ((1.0, 2.0, 3.0), (2.0, 0.0, 0.0)),
    "on y": ((1.0, 2.0, 3.0), (0.0, -2.0, 0.0)),
    "on z": ((1.0, 2.0, 3.0), (0.0, 0.0, 1.0)),
    "near y": ((1.0, 2.0, 3.0), (1e-8, 2.0, 1e-9)),
    "near z": ((1.0, 2.0, 3.0), (1e-100, 1e-101, 1.0)),
    "no spin": ((1.0, 2.0, 3.0), (0.0, 0.0, 0.0)),
    "no rate about x": ((1.0, 2.0, 3.0), (0.0, 1.0, 0.2)),
    "no rate about y": ((1.0, 2.0, 3.0), (1.0, 0.0, 0.2)),
    "no rate about z": ((1.0, 2.0, 3.0), (1.0, 0.3, 0.0)),
    "needle": ((1e-3, 1.0, 1.0005), (1.0, 0.4, 1.0)),
    "far apart": ((1e-3, 1.0, 1e3), (1.0, 0.04, 0.002)),
}


def largest_gap(one, two):
    with mpmath.workdps(120):
        return max(abs(a - b) for a, b in zip(one, two, strict=True))


def attitude_gap(p, q):
    return min(largest_gap(p, q), largest_gap(p, [-x for x in q]))


def as_mpf(fractions):
    with mpmath.workdps(120):
        return [mpf(x.numerator) / x.denominator for x in fractions]


@pytest.mark.parametrize("t", [3.7, -2.1])
@pytest.mark.parametrize("name", BODIES)
def test_every_regime_against_taylor_series_in_whole_numbers(name, t):
    J, w = BODIES[name]
    _, _, q_taylor, w_taylor = advanced(J, w, Q, t, digits=32)
    q, rates = free_rotation(J, w, Q, t)
    assert attitude_gap(q, as_mpf(q_taylor)) < mpf("1e-31")
    assert largest_gap(rates, as_mpf(w_taylor)) < mpf("1e-31") * max(1, max(abs(x) for x in rates))


@pytest.mark.parametrize("name", [name for name in REFERENCES if not name.startswith("simo")])
def test_against_the_40_digit_end_states(name):
    case = REFERENCES[name]
    q, w = free_rotation(case["moments"], case["omega0_body"], case["q0"], case["t"])
    with mpmath.workdps(60):
        final = [mpf(x) for x in case["final"]]
    assert attitude_gap(q, final[:4]) < mpf("1e-43")
    assert largest_gap(w, final[4:]) < mpf("1e-42")


@pytest.mark.parametrize(
    "name", ["about the largest", "about the smallest", "separatrix, an ulp inside", "near prolate"]
)
def test_a_million_seconds_in_one_stride_and_in_ten(name):
    """The motion is a flow: q(a + b) follows from (q, w)(a)."""
    J, w = BODIES[name]
    q_once, w_once = free_rotation(J, w, Q, 1e6)
    q, rates = Q, w
    for _ in range(10):
        q, rates = free_rotation(J, rates, q, 1e5, digits=90)
    assert attitude_gap(q, q_once) < mpf("1e-45")
    assert largest_gap(rates, w_once) < mpf("1e-45")


def test_on_the_separatrix_a_million_seconds_end_on_the_middle_axis():
    """tanh t -> 1: the spin ends along the middle axis, with |w| = L/J2."""
    _, w = free_rotation(*BODIES["separatrix"], Q, 1e6)
    L = mpmath.sqrt(6**2 + 3**2 + 6**2)
    assert abs(abs(w[1]) - L / 3) < 1e-14
    assert abs(w[0]) < mpf("1e-100")


@pytest.mark.parametrize("case", cases(3, 1), ids=lambda case: case[0])
def test_angular_momentum_and_energy_stay_in_every_regime(case):
    """World L and E by their definitions, at t up to 10^4 s; and back again by -t."""
    _, J, w, q, t = case
    q_end, w_end = free_rotation(J, w, q, t)
    with mpmath.workdps(60):
        before, after = momentum(J, w, q), momentum(J, w_end, q_end)
        size = max(mpmath.norm(before), mpf(10) ** -300)
        assert mpmath.norm(before - after) < mpf("1e-47") * size
        energies = [sum(mpf(j) * mpf(x) ** 2 for j, x in zip(J, rates, strict=True)) for rates in (w, w_end)]
        assert abs(energies[0] - energies[1]) <= mpf("1e-47") * energies[0]
        q_far, w_far = free_rotation(J, w, q, t, digits=150)
        again, rates = free_rotation(J, w_far, q_far, -t)
        unit = [mpf(x) / mpmath.norm([mpf(y) for y in q]) for x in q]
        assert attitude_gap(again, unit) < mpf("1e-47")
        assert largest_gap(rates, [mpf(x) for x in w]) <= mpf("1e-47") * mpmath.norm([mpf(x) for x in w])


def momentum(J, w, q):
    """L in world axes."""
    a, b, c, d = (mpf(x) for x in q)
    R = mpmath.matrix(
        [
            [a * a + b * b - c * c - d * d, 2 * (b * c - a * d), 2 * (b * d + a * c)],
            [2 * (b * c + a * d), a * a - b * b + c * c - d * d, 2 * (c * d - a * b)],
            [2 * (b * d - a * c), 2 * (c * d + a * b), a * a - b * b - c * c + d * d],
        ]
    )
    L = mpmath.matrix([mpf(j) * mpf(x) for j, x in zip(J, w, strict=True)])
    return R * L / (a * a + b * b + c * c + d * d)


def test_more_digits_change_nothing():
    for J, w in BODIES.values():
        short, long = free_rotation(J, w, Q, 40.0, 50), free_rotation(J, w, Q, 40.0, 80)
        assert attitude_gap(short[0], long[0]) < mpf("1e-49")
        assert largest_gap(short[1], long[1]) < mpf("1e-47")


def test_precision_of_mpmath_is_left_alone():
    before = mpmath.mp.dps
    free_rotation((1.0, 2.0, 3.0), (1.0, 2.0, 3.0), Q, 1.0)
    assert mpmath.mp.dps == before


@pytest.mark.parametrize(
    ("moments", "w", "q", "t", "says"),
    [
        ((0.0, 1.0, 2.0), (1, 1, 1), Q, 1, "greater than 0"),
        ((1.0, 1.0, 2.0), (1, 1, 1), (0, 0, 0, 0), 1, "zero"),
        ((1.0, 1.0, 2.0), (1, math.nan, 1), Q, 1, "finite"),
        ((1.0, 1.0, 2.0), (1, 1, 1), Q, "soon", "finite"),
        ((1.0, 1.0), (1, 1, 1), Q, 1, "3 numbers"),
        ((1.0, 1.0, 2.0), (1, 1, 1), Q, mpmath.inf, "finite"),
    ],
)
def test_nonsense_is_refused_with_a_sentence(moments, w, q, t, says):
    with pytest.raises(ph.PolhodeError, match=says):
        free_rotation(moments, w, q, t)


def test_without_mpmath_a_sentence_says_how_to_get_it():
    code = (
        "import sys; sys.modules['mpmath'] = None\n"
        "from polhode.reference import precise\n"
        "try: precise.free_rotation((1, 2, 3), (1, 1, 1), (1, 0, 0, 0), 1)\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.startswith("PolhodeError multiprecision needs mpmath")


def test_conditioning_against_central_differences():
    """The summed changes by one ulp agree with derivatives taken over steps of 1e-12, on a well-behaved case."""
    case = ("", (0.6, 0.8, 1.0), (3.0, 0.5, -0.9), (0.5, 0.5, 0.5, 0.5), 10.0)
    numbers = np.array([*case[1], *case[2], *case[3], case[4]])
    total = 0.0
    for i, value in enumerate(numbers):
        ends = []
        for step in (1e-12, -1e-12):
            moved = numbers.copy()
            moved[i] += step
            ends.append(free_rotation(moved[:3], moved[3:6], moved[6:10], moved[10])[0])
        total += free_rotation_cases._angle(*ends) / 2e-12 * math.ulp(value)
    assert free_rotation_cases.conditioning(case) == pytest.approx(total + 1.1e-16, rel=0.01)
