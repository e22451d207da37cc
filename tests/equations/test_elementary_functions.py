"""exp, log, power, tan and atan2, which the laws write out in arithmetic, against mpmath and the C standard."""

import itertools
import math
import sys
from fractions import Fraction
from types import ModuleType
from typing import ClassVar

import heyoka
import mpmath
import numpy as np
import pytest

import polhode as ph
from polhode.equations import elementary, scalar_ops
from polhode.ir.operations import OPERATIONS
from scalar_types import by_heyoka, by_jax, by_mpmath, by_normal_form, by_sympy

RNG = np.random.default_rng(14)
COUNT = 400
INF, NAN = math.inf, math.nan
LARGEST, SMALLEST = sys.float_info.max, math.ulp(0.0)


def uniform(low, high, count=COUNT):
    return RNG.uniform(low, high, count).tolist()


def of_any_size(count=COUNT):
    """Positive numbers with all exponents, subnormal ones included."""
    return [math.ldexp(m, int(e)) for m, e in zip(uniform(1, 2, count), RNG.integers(-1074, 1024, count), strict=True)]


def signed(numbers):
    return [x * s for x, s in zip(numbers, RNG.choice([-1.0, 1.0], len(numbers)).tolist(), strict=True)]


def neighbors(numbers):
    return [y for x in numbers for y in (math.nextafter(x, -INF), x, math.nextafter(x, INF))]


def close_to_one(digits):
    return [1 + x for x in signed([10**e for e in uniform(-digits, -0.5)])]


def multiples(part, highest):
    """The doubles next to multiples of a number, small and large ones."""
    with mpmath.workdps(60):
        counts = [*range(1, 200), *(int(n) for n in RNG.integers(200, int(highest / part()), COUNT))]
        return neighbors([float(n * part()) for n in counts])


def exponents_for(bases):
    """Exponents that reach from underflow to overflow."""
    return [(x, p / (math.log(x) or 1e-16)) for x, p in zip(bases, uniform(-746, 710, len(bases)), strict=True)]


SETS = {
    ("exp", "all of its range"): [(x,) for x in uniform(-746, 710)],
    ("exp", "small"): [(x,) for x in signed([10**e for e in uniform(-320, 0)])],
    ("exp", "gradual underflow"): [(x,) for x in uniform(-745.2, -708)],
    ("exp", "its limits"): [(x,) for x in neighbors([709.782712893384, -708.3964185322641, -745.1332191019411, 0.0])],
    ("exp", "where the power of two changes"): [
        (s * x,) for x in multiples(lambda: mpmath.log(2) / 2, 700) for s in (1, -1)
    ],
    ("log", "all sizes"): [(x,) for x in of_any_size()],
    ("log", "close to 1"): [(x,) for x in close_to_one(16)],
    ("log", "from 1/2 to 2"): [(x,) for x in uniform(0.5, 2)],
    ("log", "subnormal"): [(int(n) * SMALLEST,) for n in 2 ** RNG.uniform(0, 52, COUNT)],
    ("log", "powers of two"): [(y,) for e in range(-1074, 1024, 7) for y in neighbors([math.ldexp(1.0, e)]) if y > 0],
    ("log", "where the exponent changes"): [(y,) for e in range(-200, 200) for y in neighbors([2.0 ** (e + 0.5)])],
    ("power", "all sizes"): exponents_for(of_any_size()),
    ("power", "close to 1"): exponents_for(close_to_one(15)),
    ("power", "from 1/2 to 2"): exponents_for(uniform(0.5, 2)),
    ("power", "everyday"): list(zip([10**e for e in uniform(-3, 3)], uniform(-20, 20), strict=True)),
    ("power", "subnormal results"): [(x, -RNG.uniform(708, 745) / math.log(x)) for x in uniform(2, 9)],
    ("power", "tiny exponents"): list(zip(of_any_size(), signed([10**e for e in uniform(-320, -1)]), strict=True)),
    ("power", "negative"): list(zip([-x for x in uniform(0, 9)], np.round(uniform(-200, 200)).tolist(), strict=True)),
    ("tan", "one turn"): [(x,) for x in uniform(-7, 7)],
    ("tan", "small"): [(x,) for x in signed([10**e for e in uniform(-320, 0)])],
    ("tan", "large"): [(x,) for x in signed([10**e for e in uniform(0, math.log10(2.9e9))])],
    ("tan", "beside multiples of pi/4"): [(x,) for x in multiples(lambda: mpmath.pi / 4, 2.9e9)],
    ("atan2", "one size"): list(zip(uniform(-1, 1), uniform(-1, 1), strict=True)),
    ("atan2", "all sizes"): list(zip(signed(of_any_size()), signed(of_any_size()), strict=True)),
    ("atan2", "subnormal"): [(int(a) * SMALLEST, int(b) * SMALLEST) for a, b in RNG.integers(-50, 50, (COUNT, 2))],
    ("atan2", "huge"): list(zip(uniform(-LARGEST / 2, LARGEST / 2), uniform(-LARGEST / 2, LARGEST / 2), strict=True)),
    ("atan2", "at branches"): [
        (y, x) for r in (7 / 16, 11 / 16, 1.0) for a in neighbors([r]) for s in (1, -1) for y, x in ((a, s), (s, a))
    ],
}


def exact(name, arguments):
    return getattr(mpmath, name)(*map(mpmath.mpf, arguments))


def error_in_ulp(got, expected):
    """In units in the last place; overflow begins half a unit above the largest number."""
    if abs(expected) >= mpmath.mpf(2) ** 1024 - mpmath.mpf(2) ** 970:
        return 0.0 if got == math.copysign(INF, expected) else INF
    return float(abs(mpmath.mpf(got) - expected) / mpmath.mpf(math.ulp(float(expected))))


@pytest.mark.parametrize(("name", "which"), SETS, ids=[" ".join(each) for each in SETS])
def test_within_two_units_in_the_last_place_of_mpmath(name, which):
    """The measured worst of 100,000 in each range: exp 0.9, log 0.8, power 1.3, tan 1.4, atan2 1.5."""
    ours = getattr(ph, name)
    with mpmath.workdps(60):
        errors = {each: error_in_ulp(ours(*each), exact(name, each)) for each in SETS[name, which]}
    worst = max(errors, key=errors.get)
    assert errors[worst] <= 1.5, worst


def test_powers_of_two_are_exact():
    for n in range(-541, 542):
        assert elementary._power_of_two(float(n)) == 2.0**n
    for n in range(-1082, 1083):
        assert elementary._times_power_of_two(1.0, float(n)) == (math.ldexp(1.0, n) if n < 1024 else INF)


def test_whole_powers_that_are_doubles_are_exact():
    for base in [*range(2, 120), 10**3, 10**4, 10**5]:
        for n in itertools.takewhile(lambda n, base=base: base**n < 2**53, itertools.count()):
            assert ph.power(float(base), float(n)) == base**n
            assert ph.power(-float(base), float(n)) == (-base) ** n


# The C standard, annex F.10: zeros, infinities, NaN ------------------------------------------------------------------
ODD, EVEN, BROKEN = (1.0, 3.0, 2.0**52 + 1, 2.0**53 - 1), (2.0, 2.0**53, 1e300), (0.5, 2.5, 2.0**51 + 0.5)
POWERS = [
    *[((zero, -n), math.copysign(INF, zero)) for zero in (0.0, -0.0) for n in ODD],
    *[((zero, -n), INF) for zero in (0.0, -0.0) for n in (*EVEN, *BROKEN, INF)],
    *[((zero, n), zero) for zero in (0.0, -0.0) for n in ODD],
    *[((zero, n), 0.0) for zero in (0.0, -0.0) for n in (*EVEN, *BROKEN, INF)],
    *[((-1.0, y), 1.0) for y in (INF, -INF, *EVEN)],
    *[((1.0, y), 1.0) for y in (NAN, INF, -INF, *BROKEN)],
    *[((x, zero), 1.0) for x in (NAN, INF, -INF, 0.0, -0.0, -3.0) for zero in (0.0, -0.0)],
    *[((x, y), NAN) for x in (-1.0, -3.5, -LARGEST, -SMALLEST) for n in BROKEN for y in (n, -n)],
    *[((x, -INF), INF) for x in (0.5, -0.5, SMALLEST, -SMALLEST, 1 - 2**-53)],
    *[((x, INF), 0.0) for x in (0.5, -0.5, SMALLEST, -SMALLEST, 1 - 2**-53)],
    *[((x, -INF), 0.0) for x in (1.5, -1.5, LARGEST, -LARGEST, 1 + 2**-52)],
    *[((x, INF), INF) for x in (1.5, -1.5, LARGEST, -LARGEST, 1 + 2**-52)],
    *[((-INF, -n), -0.0) for n in ODD],
    *[((-INF, -n), 0.0) for n in (*EVEN, *BROKEN)],
    *[((-INF, n), -INF) for n in ODD],
    *[((-INF, n), INF) for n in (*EVEN, *BROKEN)],
    *[((INF, -n), 0.0) for n in (*ODD, *EVEN, *BROKEN)],
    *[((INF, n), INF) for n in (*ODD, *EVEN, *BROKEN)],
    *[((x, NAN), NAN) for x in (0.0, -0.0, 2.0, -2.0, INF, -INF, NAN)],
    *[((NAN, y), NAN) for y in (1.0, -0.5, INF, -INF, NAN)],
]
ANGLES = [
    ((0.0, -0.0), math.pi),
    ((0.0, 0.0), 0.0),
    ((0.0, -2.0), math.pi),
    ((0.0, 2.0), 0.0),
    ((2.0, 0.0), math.pi / 2),
    ((2.0, -0.0), math.pi / 2),
    ((2.0, -INF), math.pi),
    ((2.0, INF), 0.0),
    ((INF, 2.0), math.pi / 2),
    ((INF, -2.0), math.pi / 2),
    ((INF, -INF), 3 * math.pi / 4),
    ((INF, INF), math.pi / 4),
]
SPECIAL = [
    *[("power", *each) for each in POWERS],
    *[("atan2", arguments, angle) for arguments, angle in ANGLES],
    *[("atan2", (-y, x), -angle) for (y, x), angle in ANGLES],
    *[("atan2", each, NAN) for each in ((NAN, 1.0), (1.0, NAN), (NAN, NAN), (NAN, INF), (-INF, NAN), (0.0, NAN))],
    *[("exp", (x,), y) for x, y in ((0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (1e300, INF), (-1e300, 0.0))],
    ("exp", (NAN,), NAN),
    *[("log", (x,), y) for x, y in ((1.0, 0.0), (0.0, -INF), (-0.0, -INF), (INF, INF))],
    *[("log", (x,), NAN) for x in (-SMALLEST, -1.0, -INF, NAN)],
    *[("tan", (x,), NAN) for x in (3.0001e9, -1e300, INF, -INF, NAN)],
    ("tan", (0.0,), 0.0),
]


@pytest.mark.parametrize(("name", "arguments", "expected"), SPECIAL)
def test_special_values_are_those_of_the_c_standard(name, arguments, expected):
    assert getattr(ph, name)(*arguments).hex() == expected.hex()


# The same bits ------------------------------------------------------------------------------------------------------
def everything(name):
    ordinary = [each for (of, _), arguments in SETS.items() if of == name for each in arguments]
    return ordinary + [arguments for of, arguments, _ in SPECIAL if of == name]


@pytest.mark.parametrize("name", ["exp", "log", "power", "tan", "atan2"])
def test_arrays_have_the_bits_of_floats(name):
    """With no warning but of overflow, and of angles beyond the range."""
    ours, arguments = getattr(ph, name), everything(name)
    with np.errstate(over="ignore", invalid="ignore" if name == "tan" else "raise", divide="raise"):
        arrays = ours(*np.array(arguments).T)
    assert [x.hex() for x in arrays.tolist()] == [ours(*each).hex() for each in arguments]


class Recorded:
    """A double on which nothing but the operations of a tracer is possible.  Equal operations are counted once."""

    __module__ = "polhode.ir.numbers"
    counted: ClassVar[set] = set()

    def __init__(self, value, key):
        self.value, self.key = np.float64(value), key

    @classmethod
    def of(cls, x):
        return x if isinstance(x, cls) else cls(x, float(x).hex())

    @classmethod
    def result(cls, value, *key):
        key = (key[0], *(part.key if isinstance(part, cls) else float(part).hex() for part in key[1:]))
        cls.counted.add(key)
        return cls(value, hash(key))

    def __neg__(self):
        return self.result(-self.value, "neg", self)

    def __add__(self, other):
        return self.result(self.value + self.of(other).value, "add", self, other)

    def __radd__(self, other):
        return self.result(other + self.value, "add", other, self)

    def __sub__(self, other):
        return self.result(self.value - self.of(other).value, "sub", self, other)

    def __rsub__(self, other):
        return self.result(other - self.value, "sub", other, self)

    def __mul__(self, other):
        return self.result(self.value * self.of(other).value, "mul", self, other)

    def __rmul__(self, other):
        return self.result(other * self.value, "mul", other, self)

    def __truediv__(self, other):
        return self.result(self.value / self.of(other).value, "div", self, other)

    def __rtruediv__(self, other):
        return self.result(np.float64(other) / self.value, "div", other, self)

    def __bool__(self):
        raise TypeError("no branches")

    __lt__ = __le__ = __gt__ = __ge__ = __float__ = __int__ = __pow__ = __rpow__ = None


def recorded_if_less(a, b, x, y):
    is_less = Recorded.result(0.0, "less", a, b)
    chosen = x if Recorded.of(a).value < Recorded.of(b).value else y
    return Recorded.result(Recorded.of(chosen).value, "select", is_less, x, y)


@pytest.fixture
def recorder(monkeypatch):
    """Stands for the numbers of a trace, with every operation lowered at once."""
    module = ModuleType("polhode.ir.numbers")
    module.if_less, module.nearest = recorded_if_less, scalar_ops.round_by_addition
    for name in COST:
        setattr(module, name, OPERATIONS[name].value)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(Recorded, "counted", set())
    return module


COST = {"exp": 65, "log": 99, "power": 319, "tan": 92, "atan2": 93}
"""Operations of one call, a comparison and a selection counted as two."""


@pytest.mark.parametrize("name", COST)
def test_nothing_but_arithmetic_comparison_and_selection(name, recorder):
    """A tracer can record the functions, at a moderate cost, and what it records has the bits of the floats."""
    ours, arguments = getattr(ph, name), everything(name)
    with np.errstate(all="ignore"):
        for each in arguments[::7] + [each for of, each, _ in SPECIAL if of == name]:
            recorder_result = ours(*(Recorded(x, i) for i, x in enumerate(each)))
            assert float(recorder_result.value).hex() == ours(*each).hex(), each
            assert len(Recorded.counted) <= COST[name]
            Recorded.counted.clear()


def test_a_recorded_number_beside_a_plain_one(recorder):
    """Also a plain zero, which Python refuses to divide by."""
    for plain in (0.0, -0.0, 2.0, np.float64(-0.0), np.float64(3.0)):
        other = Recorded(-1.5, "x")
        for ours in (ph.atan2, ph.power):
            with np.errstate(all="ignore"):
                assert float(ours(plain, other).value).hex() == float(ours(float(plain), -1.5)).hex()
                assert float(ours(other, plain).value).hex() == float(ours(-1.5, float(plain))).hex()


# Other kinds of numbers ---------------------------------------------------------------------------------------------
SAMPLES = [("exp", (0.75,)), ("log", (0.75,)), ("power", (0.75, -2.5)), ("tan", (0.75,)), ("atan2", (0.75, -2.5))]


@pytest.mark.parametrize(("name", "arguments"), SAMPLES)
def test_other_kinds_of_numbers_use_their_own_library(name, arguments):
    ours = getattr(ph, name)
    floats = pytest.approx(ours(*arguments), rel=1e-15)
    with mpmath.workdps(50):
        assert abs(by_mpmath(ours, [arguments])[0] - exact(name, arguments)) < mpmath.mpf("1e-48")
    assert [float(x) for x in by_jax(ours, [arguments])] == [floats]
    assert by_heyoka(ours, [arguments]) == [floats]
    ratios = tuple(map(Fraction, arguments))
    assert [float(x) for x in by_sympy(ours, [ratios])] == [floats]
    assert by_normal_form(ours, [arguments]) == [floats]


def test_a_plain_base_with_an_exponent_of_another_kind():
    x = heyoka.expression("x")
    assert heyoka.cfunc([ph.power(2.0, x)], vars=[x])(np.array([3.0]))[0] == pytest.approx(8.0)
    assert by_normal_form(lambda y: ph.power(2.0, y), [(3.0,)]) == [pytest.approx(8.0)]


def test_whole_numbers_are_taken_as_floats():
    for name, arguments in (("exp", (2,)), ("log", (3,)), ("power", (-2, 3)), ("tan", (1,)), ("atan2", (0, -1))):
        found = getattr(ph, name)(*arguments)
        assert type(found) is float
        assert found.hex() == getattr(ph, name)(*map(float, arguments)).hex()
        assert getattr(ph, name)(*np.array(arguments)) == found


def test_fractions_have_whole_powers_only():
    assert ph.power(Fraction(2, 3), -3) == Fraction(27, 8)
    assert ph.power(Fraction(2, 3), Fraction(2)) == Fraction(4, 9)
    with pytest.raises(ValueError, match="2/3 to the power 1/2 is irrational"):
        ph.power(Fraction(2, 3), Fraction(1, 2))
    with pytest.raises(ValueError, match="exp of a fraction is irrational"):
        ph.exp(Fraction(1, 2))


def test_a_force_with_these_functions_has_a_taylor_series():
    """x'' = exp(-t) + log(1 + t) + tan(t/2) + (1 + t)**1.5, in closed form."""

    @ph.force
    def push(t, state, body, params):
        along = ph.exp(-t) + ph.log(1 + t), ph.tan(t / 2), ph.power(1 + t, 1.5) + ph.atan2(t, 1.0)
        return along, (0.0, 0.0, 0.0)

    motion = ph.simulate(ph.particle(1.0), forces=[push()], duration=1.0, method="taylor", rtol=1e-13)
    velocity = (
        (1 - math.exp(-1)) + (2 * math.log(2) - 1),
        -2 * math.log(math.cos(0.5)),
        (2**2.5 - 1) / 2.5 + math.pi / 4 - math.log(2) / 2,
    )
    assert motion.final.velocity == pytest.approx(velocity, rel=1e-12)
