"""The sine and cosine that the laws write out in arithmetic, against mpmath."""

import math

import mpmath
import numpy as np
import pytest

from polhode.equations import scalar_ops
from scalar_types import by_machine_code, by_numpy

RNG = np.random.default_rng(20)
LIMIT = 3e9

MAGNITUDES = [1e-300, 1e-30, 1e-8, 1e-3, 0.1, 0.7, 1.0, 3.0, 10.0, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 2.999e9]


def around(size):
    """Random numbers up to `size`, half of them negative."""
    return RNG.uniform(size / 10, size, 300) * RNG.choice([-1.0, 1.0], 300)


def beside_quarter_turns():
    """The doubles next to multiples of pi/2, where almost all digits of the reduced angle cancel."""
    multiples = [*range(1, 200), *(int(n) for n in RNG.integers(200, int(LIMIT / 1.5708), 500))]
    with mpmath.workdps(60):
        nearest = [float(n * mpmath.pi / 2) for n in multiples]
    return np.array([y for x in nearest for y in (math.nextafter(x, 0), x, math.nextafter(x, math.inf))])


def at_branches():
    """The doubles next to the odd multiples of pi/4, where the quadrant changes."""
    with mpmath.workdps(60):
        nearest = [float(n * mpmath.pi / 4) for n in range(1, 400, 2)]
    return np.array([y for x in nearest for y in (math.nextafter(x, 0), x, math.nextafter(x, math.inf))])


SETS = {f"{size:g}": around(size) for size in MAGNITUDES}
SETS |= {"beside quarter turns": beside_quarter_turns(), "at branches": at_branches()}


@pytest.mark.parametrize("which", SETS)
@pytest.mark.parametrize("name", ["sin", "cos"])
def test_within_two_units_in_the_last_place_of_mpmath(name, which):
    ours, reference = getattr(scalar_ops, name), getattr(mpmath, name)
    with mpmath.workdps(60):
        for x in SETS[which].tolist():
            exact = reference(mpmath.mpf(x))
            assert abs(ours(x) - exact) <= 2 * mpmath.mpf(math.ulp(float(exact))), x


def test_the_worst_of_many_stays_within_two_units():
    """The measured worst is about 1: a wrong coefficient in the last digit would show here."""
    worst = 0.0
    with mpmath.workdps(40):
        for x in RNG.uniform(-8, 8, 20_000).tolist():
            for ours, reference in ((scalar_ops.sin, mpmath.sin), (scalar_ops.cos, mpmath.cos)):
                exact = reference(mpmath.mpf(x))
                worst = max(worst, float(abs(ours(x) - exact)) / math.ulp(float(exact)))
    assert worst <= 1.5


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_equal_bits_on_floats_numpy_and_machine_code(name):
    ours, written_out = getattr(scalar_ops, name), {"sin": scalar_ops.sine, "cos": scalar_ops.cosine}[name]
    angles = np.concatenate([*SETS.values(), [0.0, -0.0, LIMIT, 4e9, -1e12, 1e100]])
    floats = [ours(x).hex() for x in angles.tolist()]
    assert [x.hex() for x in ours(angles).tolist()] == floats
    lanes = [(x,) for x in angles.tolist()]
    assert [float(x).hex() for x in by_numpy(written_out, lanes)] == floats
    assert [x.hex() for x in by_machine_code(written_out, lanes)] == floats


@pytest.mark.parametrize("x", [3.0001e9, -3.0001e9, 1e10, 1e100, 1e300, math.nan, math.inf, -math.inf])
def test_nan_beyond_three_billion(x):
    assert math.isnan(scalar_ops.sin(x))
    assert math.isnan(scalar_ops.cos(x))
    with np.errstate(over="ignore", invalid="ignore"):
        assert np.isnan(scalar_ops.sin(np.array([x]))).all()
        assert np.isnan(scalar_ops.cos(np.array([x]))).all()


def test_landmarks():
    """sin is odd, cos is even, cos(0) = 1, and sin^2 + cos^2 = 1 to rounding."""
    assert scalar_ops.sin(0.0) == 0
    assert scalar_ops.cos(0.0) == 1
    for x in SETS["1e+06"].tolist():
        assert scalar_ops.sin(-x) == -scalar_ops.sin(x)
        assert scalar_ops.cos(-x) == scalar_ops.cos(x)
        assert abs(scalar_ops.sin(x) ** 2 + scalar_ops.cos(x) ** 2 - 1) < 5e-16


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_the_limit_is_part_of_the_range(name):
    """Just inside the limit the answer is good, just outside it is not a number."""
    inside, outside = math.nextafter(LIMIT, 0), math.nextafter(LIMIT, math.inf)
    ours, reference = getattr(scalar_ops, name), getattr(mpmath, name)
    with mpmath.workdps(60):
        exact = reference(mpmath.mpf(inside))
        assert abs(ours(inside) - exact) <= 2 * mpmath.mpf(math.ulp(float(exact)))
    assert math.isnan(ours(outside))
