"""The language of forces: what a user may write, against plain Python; what is refused; values that have changed."""

# ruff: noqa: ARG002, ARG004, RUF021, RET505, NPY002, E501  (what users write)

import dataclasses
import enum
import functools
import math
import random
import subprocess
import sys
import textwrap
import time
from math import floor, hypot, sin

import numpy as np
import pytest

import polhode as ph
from polhode.errors import ForceError, ScenarioError
from polhode.integrate.traced_functions import _Seen
from polhode.ir.language import in_plain_python, record_function

ZERO = (0.0, 0.0, 0.0)
_STATE, _BODY = _Seen()
KNOTS, VALUES = [0.0, 0.5, 1.0, 2.0], np.array([0.0, 1.0, 0.5, -1.0])
CONSTANTS = {"k": 3.0, 1: 2.0}
MATRIX = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.5], [0.0, 0.0, 1.0]])


@dataclasses.dataclass
class Settings:
    k: float = 2.0
    v: tuple = (1.0, 2.0, 3.0)


class Mode(enum.Enum):
    SLOW = 1.5


class Level(enum.IntEnum):
    HIGH = 2


class Wing:
    def __init__(self, k):
        self.k = k

    def __call__(self, t, s, b, p):
        return (self.k * math.sin(s.position[0]), 0, 0), ZERO

    def method(self, t, s, b, p):
        return (self.k * math.sin(s.position[0]) + self.lift(t), 0, 0), ZERO

    def lift(self, t):
        return math.cos(t)

    @property
    def twice(self):
        return 2.0 * self.k

    @staticmethod
    def static(t, s, b, p):
        return (math.sin(t), 0, 0), ZERO


@dataclasses.dataclass(frozen=True)
class Vector:
    x: float
    y: float

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def length(self):
        return math.hypot(self.x, self.y)


class LongVector(Vector):
    def length(self):
        return 2.0 * super().length() + Wing.static(self.x, None, None, None)[0][0]


class Slotted:
    __slots__ = ("k",)

    def __init__(self, k):
        self.k = k

    def push(self, x):
        return self.k * math.exp(x)


SLOTTED = Slotted(2.0)
SETTINGS, WING = Settings(), Wing(1.5)


def helper(x, y=2.0):
    return x * y


BOUND = functools.partial(helper, y=4.0)


def legendre(n, x):
    if n < 2:
        return x if n else 1.0
    return ((2 * n - 1) * x * legendre(n - 1, x) - (n - 1) * legendre(n - 2, x)) / n


def with_five(k, t, s, b, p):
    return (k * math.exp(s.position[0]), 0, 0), ZERO


WORKS = {}


def works(function):
    WORKS[function.__name__] = function
    return function


def made_inside():
    k, table = 3.0, [1.0, 2.0, 3.0]

    def inner(x):
        return math.exp(x) * k

    def closure(t, s, b, p):
        return (inner(s.position[0]) * table[1], 0, 0), ZERO

    return closure


WORKS |= {
    "lists": lambda t, s, b, p: ([s.position[0], 0, 1], [0, 0, 0]),
    "one array": lambda t, s, b, p: np.array([[s.position[0], 0, 0], [0, 0, 0]]),
    "array of vectors": lambda t, s, b, p: np.stack([s.position, s.velocity]),
    "cross": lambda t, s, b, p: (np.cross(s.position, s.velocity), np.cross(np.array([0, 0, 1.0]), s.velocity)),
    "dot": lambda t, s, b, p: (np.dot(s.position, s.velocity) * np.array([1, 0, 0.0]), ZERO),
    "norm of a tuple": lambda t, s, b, p: ((-np.linalg.norm(s.velocity), math.hypot(*s.velocity), 0), ZERO),
    "matrix": lambda t, s, b, p: (MATRIX @ np.array(s.position), MATRIX @ s.velocity),
    "np.interp": lambda t, s, b, p: ((np.interp(s.position[0], KNOTS, VALUES), ph.interp(t, KNOTS, VALUES), 0), ZERO),
    "np.interp of an array": lambda t, s, b, p: (np.interp(np.array(s.position), KNOTS, VALUES), ZERO),
    "comprehension": lambda t, s, b, p: (tuple(-x * v for x, v in zip(s.position, s.velocity, strict=True)), ZERO),
    "generators": lambda t, s, b, p: ((sum(x * x for x in s.position), max(s.position), min(x for x in s.velocity)), ZERO),
    "max, min, abs": lambda t, s, b, p: ((max(s.position[0], 0.1), min(0, *s.position), abs(s.position[2])), ZERO),
    "max by a key": lambda t, s, b, p: ((max(s.position, key=abs), *sorted(s.position)[:2]), ZERO),
    "chained": lambda t, s, b, p: ((1.0 if 0 < s.position[0] < 0.5 else -0.5, 0, 0), ZERO),
    "equal": lambda t, s, b, p: ((1.0 if s.position[0] == 0.3 else (2.0 if t != 0 else 3.0), 0, 0), ZERO),
    "%": lambda t, s, b, p: ((t % 0.3, s.position[0] % -0.7, 5.0 % (abs(s.position[1]) + 1)), ZERO),
    "//": lambda t, s, b, p: ((t // 0.1, s.position[0] // -0.07, 5.0 // (abs(s.position[1]) + 1)), ZERO),
    "divmod": lambda t, s, b, p: ((*divmod(t, 0.3), 0), ZERO),
    "**": lambda t, s, b, p: ((s.position[0] ** 3, (t + 0.5) ** -3 + (t + 1) ** 0.5, (t + 0.5) ** 1.7 + 2**t), ZERO),
    "** of arrays": lambda t, s, b, p: (np.array(s.position) ** 5, np.power(s.velocity, 2)),
    "math": lambda t, s, b, p: (
        (math.tan(t), math.exp(t) + math.log(2 + t), math.atan2(s.position[0], t) + math.pi),
        (math.sinh(t), math.cosh(t), math.tanh(s.position[0])),
    ),
    "inverse": lambda t, s, b, p: ((math.asin(t / 9), math.acos(t / 9), math.atan(t)), ZERO),
    "whole": lambda t, s, b, p: ((math.floor(3 * s.position[0]), math.ceil(3 * t), math.trunc(9 * s.position[1])), ZERO),
    "round": lambda t, s, b, p: ((round(s.position[0] * 3), 2.0 * round(t), floor(t * 3)), ZERO),
    "logarithms": lambda t, s, b, p: ((math.log(2 + t, 3), math.log2(2 + t), math.log10(2 + t)), ZERO),
    "near zero": lambda t, s, b, p: ((math.log1p(t / 1e9), math.expm1(t / 1e9), math.sinh(t / 1e9)), ZERO),
    "copysign": lambda t, s, b, p: ((math.copysign(2.0, s.position[0]), math.copysign(t, -0.0), 0), ZERO),
    "copysign of zeros": lambda t, s, b, p: ((math.copysign(1.0, -0.0 * t), math.copysign(1.0, 0.0 * t), 0), ZERO),
    "fmod": lambda t, s, b, p: ((math.fmod(s.position[0], 0.3), math.dist(s.position, s.velocity), 0), ZERO),
    "from math": lambda t, s, b, p: ((sin(s.position[0]), floor(t * 3), hypot(1, t)), ZERO),
    "isfinite": lambda t, s, b, p: ((1.0 if math.isfinite(t) and not math.isnan(t) else 2.0, 0, 0), ZERO),
    "any, all": lambda t, s, b, p: (
        s.position if any(c > 0.3 for c in s.position) and all(c > -9 for c in s.position) else s.velocity,
        ZERO,
    ),
    "np.any": lambda t, s, b, p: (s.position if np.any(np.array(s.position) > 0.3) else s.velocity, ZERO),
    "np.where": lambda t, s, b, p: (np.where(np.array(s.position) > 0.1, s.position, 0.0), (np.where(t > 1, 2, 3), 0, 0)),
    "np.clip": lambda t, s, b, p: (np.clip(np.array(s.position), -0.1, 0.1), np.maximum(s.position, 0)),
    "np.sign": lambda t, s, b, p: ((np.sign(s.position[0]), np.heaviside(s.position[1], 0.5), np.square(t)), ZERO),
    "functions of arrays": lambda t, s, b, p: (np.sin(s.position) + np.exp(np.array(s.velocity)), np.tanh(s.position)),
    "ph of arrays": lambda t, s, b, p: (ph.sin(np.array(s.position)), ph.sqrt(np.array(s.position) ** 2 + 1)),
    "outer": lambda t, s, b, p: (np.outer(s.position, s.position) @ np.array(s.velocity), (np.eye(3) * 2) @ s.position),
    "einsum": lambda t, s, b, p: (np.einsum("i,i->", np.array(s.position), np.array(s.velocity)) * np.ones(3), ZERO),
    "inverse matrix": lambda t, s, b, p: (np.linalg.inv(MATRIX) @ np.array(s.position), ZERO),
    "as floats": lambda t, s, b, p: (np.array(s.position, dtype=float), np.asarray(s.velocity, np.float64).astype(float)),
    "sums": lambda t, s, b, p: ((np.sum(np.array(s.position) ** 2), np.mean(s.velocity), np.prod(s.position)), ZERO),
    "extremes": lambda t, s, b, p: ((np.max(s.position), np.min(np.array(s.velocity)), max(np.array(s.position))), ZERO),
    "polynomial": lambda t, s, b, p: ((np.polyval([1.0, 2.0, 3.0], t), 0, 0), ZERO),
    "conditions": lambda t, s, b, p: (((t < 0.5) * 2.0, 1.0 if (t > 0.2) & (s.position[0] > 0) else 0.0, True * t), ZERO),
    "equal conditions": lambda t, s, b, p: ((1.0 * ((t > 0.5) == (s.position[0] > 0)), 1.0 * ((t > 0.5) != True), 0), ZERO),  # noqa: E712
    "powers of a quotient": lambda t, s, b, p: ((divmod(7.3, 0.2 + t)[1] ** 2.5, (+t) ** 1.7, (t % 0.3) ** 0.3), ZERO),
    "table by a comparison": lambda t, s, b, p: ((KNOTS[t > 0.5], CONSTANTS["k" if s.position[0] > 0 else 1], 0), ZERO),
    "kinds": lambda t, s, b, p: ((float(s.position[0]), 1.0 if isinstance(t, float) else 2.0, np.float64(t)), ZERO),
    "constants": lambda t, s, b, p: ((CONSTANTS["k"] * t, SETTINGS.k * SETTINGS.v[1] * t, Mode.SLOW.value * t), ZERO),
    "IntEnum": lambda t, s, b, p: ((Level.HIGH * t, KNOTS[Level.HIGH], 0), ZERO),
    "recursion": lambda t, s, b, p: ((legendre(4, s.position[0]), 0, 0), ZERO),
    "default argument": lambda t, s, b, p: ((helper(t), helper(t, y=3), BOUND(t)), ZERO),
    "objects": lambda t, s, b, p: ((WING.lift(s.position[0]), WING.twice * t, 0), ZERO),
    "classes": lambda t, s, b, p: (((Vector(t, 1.0) + Vector(*s.position[:2])).length(), 0, SLOTTED.push(t)), ZERO),
    "static method of a class": lambda t, s, b, p: (Wing.static(t, s, b, p)[0], ZERO),
    "map": lambda t, s, b, p: (tuple(map(math.sin, s.position)), tuple(map(abs, s.velocity))),
    "reduce": lambda t, s, b, p: ((functools.reduce(lambda a, c: a * c, s.position), 0, 0), ZERO),
    "rotations": lambda t, s, b, p: (ph.to_world(s.orientation, np.array([1.0, 0, 0])), ph.cross(s.position, s.velocity)),
    "callable object": Wing(2.0),
    "method": Wing(2.0).method,
    "static method": Wing.static,
    "partial": functools.partial(with_five, 2.0),
    "closure": made_inside(),
}  # fmt: skip


@works
def loops(t, s, b, p):
    total = np.zeros(3)
    n = 0
    while n < 3:
        total[n] = s.position[n] * n
        n += 1
    for i, x in enumerate(s.velocity):
        total[i] += x
    total *= 2
    return total, ZERO


@works
def branches(t, s, b, p):
    x, v = s.position[0], s.velocity[0]
    if x > 0.1 and v < 0.2 or not t > 0.5:
        return (1.0, 0, 0), ZERO
    elif x < -0.3:
        return (2.0 * x, 0, 0), ZERO
    return (-1.0, 0, 0), ZERO


@works
def nine_branches(t, s, b, p):
    total = 0.0
    for c in s.position + s.velocity + s.angular_velocity:
        total += c if c > 0 else -2 * c
    return (total, 0, 0), ZERO


@works
def nested(t, s, b, p):
    import math as m
    from math import exp

    def inner(x):
        return np.interp(x, KNOTS, VALUES) if x > 0 else max(x, -1)

    double = lambda x: 2 * inner(x)  # noqa: E731
    return (double(s.position[0]), m.cos(t), exp(t)), ZERO


@works
def asserts(t, s, b, p):
    assert s.position[2] < 100, "too high"
    if s.position[1] > 100:
        raise ValueError("too far")
    return (s.position[0], 0, 0), ZERO


def random_arguments(seed):
    rng = np.random.default_rng(seed)
    state = type(_STATE)(*(tuple((rng.normal(size=len(part)) / 2).tolist()) for part in _STATE))
    body = type(_BODY)(
        *(tuple(rng.normal(size=len(part)).tolist()) if isinstance(part, tuple) else 1.5 for part in _BODY)
    )
    return float(rng.uniform(0.0, 2.0)), state, body, ()


def as_array(answer):
    return np.array([[float(c) for c in vector] for vector in answer])


@pytest.mark.parametrize("name", WORKS)
def test_what_a_force_may_be_written_with_against_plain_python(name):
    """The traced function against the function itself; and against `engine="python"` to the bit."""
    function = WORKS[name]
    traced = record_function(function, {"t": 0.0, "state": _STATE, "body": _BODY, "params": ()}, 2)
    plain = in_plain_python(function, 2)
    for seed in range(12):
        arguments = random_arguments(seed)
        found = as_array(traced(*arguments))
        assert found.tobytes() == as_array(plain(*arguments)).tobytes()
        np.testing.assert_allclose(found, as_array(function(*arguments)), rtol=4e-15, atol=1e-15)


@pytest.mark.parametrize("name", ["//", "**", "% ", "np.interp", "loops", "branches", "copysign", "matrix", "method"])
@pytest.mark.filterwarnings("ignore:engine='python'")
def test_bits_of_both_engines_alone_and_in_lanes(name):
    law = ph.force(WORKS[name.strip()])
    body, rng = ph.Body(mass=2.0, inertia=(1.0, 2.0, 2.5)), np.random.default_rng(1)
    one = ph.State(position=(0.3, -0.2, 0.4), velocity=(0.1, -0.3, 0.2), angular_velocity=(0.1, 0.2, -0.1))
    many = ph.State(position=rng.normal(size=(9, 3)) / 2, velocity=rng.normal(size=(9, 3)) / 2)
    settings = {"duration": 1.0, "step": 0.25, "method": "rk4"}
    alone = ph.simulate(body, one, [law()], **settings, engine="python")
    members = ph.ensemble(body, many, [law()], **settings, engine="python", output_step=0.25)
    compiled, lanes = (
        ph.simulate(body, one, [law()], **settings),
        ph.ensemble(body, many, [law()], **settings, output_step=0.25),
    )
    for a, b in ((alone, compiled), (members, lanes)):
        assert a.position.tobytes() == b.position.tobytes()
        assert a.quaternion_wxyz.tobytes() == b.quaternion_wxyz.tobytes()
        assert a.acceleration.tobytes() == b.acceleration.tobytes()


@pytest.mark.parametrize("x", [0.0, -0.0, 1.0, -1.0, 0.3, -7.5, 5.0, 1e300, math.inf])
@pytest.mark.parametrize("y", [0.1, -0.1, 1.0, -3.0, 2.5, math.inf, -math.inf])
def test_division_with_rest_against_python(x, y):
    quotient, rest = record_function(
        lambda t, y: ((t // y, t % y, 0.0), (*divmod(t, y), 0.0)), {"t": 0.0, "y": 0.0}, 2
    )(x, y)
    wanted = [math.nan] * 2 if math.isinf(x) else [x // y, x % y]
    for found, right in zip((*quotient[:2], *rest[:2]), wanted * 2, strict=True):
        assert (
            (found == right and math.copysign(1, found) == math.copysign(1, right)) or found != found and right != right
        )


# What is refused -----------------------------------------------------------------------------------------------------
COUNTER = {"calls": 0}
GENERATOR = np.random.default_rng(0)


def endless(t, s, b, p):
    x = s.position[0]
    while x < 10:
        x = abs(x) * 2 + 1
    return (x, 0, 0), ZERO


def catches(t, s, b, p):
    try:
        x = 1.0 / s.position[0]
    except ZeroDivisionError:
        x = 0.0
    return (x, 0, 0), ZERO


def calls_what_catches(t, s, b, p):
    return catches(t, s, b, p)


def counts(t, s, b, p):
    COUNTER["calls"] += 1
    return (1.0 * COUNTER["calls"], 0, 0), ZERO


def assigns(t, s, b, p):
    global SETTINGS
    SETTINGS = Settings()
    return ZERO, ZERO


def test_print_shows_that_a_number_is_one_of_the_run(capsys):
    def force(t, state, body, params):
        print("at", t)
        return (t, 0, 0), ZERO

    ph.simulate(ph.particle(1.0), forces=[ph.force(force)()], duration=1.0, method="rk4", step=0.5)
    assert "at <a number of the run>" in capsys.readouterr().out


REFUSED = {
    "int()": (lambda t, s, b, p: ((KNOTS[int(t)], 0, 0), ZERO), "int() of a number", "math.floor", "ph.interp"),
    "index": (lambda t, s, b, p: ((KNOTS[round(t)], 0, 0), ZERO), "as an index", "ph.interp(x, xp, fp)"),
    "digits": (lambda t, s, b, p: ((round(t, 2), 0, 0), ZERO), "round() to some digits", "round(100 * x)"),
    "math.erf": (lambda t, s, b, p: ((math.erf(t), 0, 0), ZERO), "math.erf of a number", "There are: acos, asin"),
    "np.linalg.solve": (lambda t, s, b, p: (np.linalg.solve(MATRIX, s.position), ZERO), "np.solve of numbers"),
    "length of a text": (lambda t, s, b, p: ((1.0 * len(f"{t}"), 0, 0), ZERO), "a text of a number", "is known"),
    "a text among others": (lambda t, s, b, p: ((1.0 * len(f"at {t:.2f} s"), 0, 0), ZERO), "a text of a number"),
    "a text of a comparison": (lambda t, s, b, p: ((1.0 * len(str(t > 1)), 0, 0), ZERO), "a text of a number"),
    "a set of comparisons": (lambda t, s, b, p: ((1.0 * len({t > 1, t > 2}), 0, 0), ZERO), "unhashable"),
    "a text of a tuple": (lambda t, s, b, p: ((1.0 * len(str(s.position)), 0, 0), ZERO), "a text of a number"),
    "knots": (lambda t, s, b, p: ((np.interp(t, [3, 2], [0, 1]), 0, 0), ZERO), "the knots of a table increase"),
    "shapes": (lambda t, s, b, p: (np.array(s.position) + KNOTS[: 2 + (type(t) is float)], ZERO), "broadcast"),
    "random": (lambda t, s, b, p: ((random.random(), 0, 0), ZERO), "random.random()", "Draw numbers before the run"),
    "np.random": (lambda t, s, b, p: ((np.random.normal(), 0, 0), ZERO), "np.random.normal()", "as parameters"),
    "generator": (lambda t, s, b, p: ((GENERATOR.normal(), 0, 0), ZERO), "Generator.normal()", "as parameters"),
    "endless": (endless, "a loop, or a recursion", "a known length", "while x < 10"),
    "except": (catches, "has `except`", "by `if`"),
    "except in a helper": (calls_what_catches, "catches (", "has `except`", "return catches(t, s, b, p)"),
    "counter": (counts, "something else at every call", "Keep no counters"),
    "global": (assigns, "a `global` statement"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_traced_is_refused_with_file_line_and_remedy(name):
    function, *phrases = REFUSED[name]
    start = ph.State(position=(0.3, 0.2, 0.1))
    with pytest.raises(ForceError) as refused:
        ph.simulate(ph.particle(1.0), start, [ph.force(function)()], duration=1.0)
    for phrase in (*phrases, "cannot be compiled", "engine='python'", *([__file__] if name != "counter" else [])):
        assert phrase in str(refused.value)
    if name not in ("global", "knots", "shapes"):  # uncompiled it runs
        with pytest.warns(UserWarning, match="slower"):
            ph.simulate(
                ph.particle(1.0), start, [ph.force(function)()], duration=1.0, method="euler", step=0.5, engine="python"
            )


# Values that have changed --------------------------------------------------------------------------------------------
def pushed_by(law, *params):
    """The velocity that a constant force gives a mass of 1 kg in 1 s, and its acceleration."""
    motion = ph.simulate(ph.particle(1.0), forces=[law(*params)], duration=1.0, method="rk4", step=0.5)
    assert motion.acceleration[-1, 0] == pytest.approx(motion.final.velocity[0], rel=1e-15)
    return round(float(motion.final.velocity[0]), 12)


GAIN, TABLE = 2.0, np.array([1.0, 2.0])


def strength():
    return 1.0


@ph.force
def reads_everything(t, s, b, p, scale=[1.0]):  # noqa: B006
    return (GAIN * strength() * TABLE[1] * scale[0] * np.interp(0.5, [0, 1], TABLE) * Mode.SLOW.value, 0, 0), ZERO


def test_changed_values_are_read_at_the_next_run(monkeypatch):
    law = ph.force(lambda t, s, b, p: reads_everything.function(t, s, b, p))
    module = sys.modules[__name__]
    assert pushed_by(law) == pytest.approx(2 * 1 * 2 * 1.5 * 1.5)
    monkeypatch.setattr(module, "GAIN", 3.0)
    assert pushed_by(law) == pytest.approx(3 * 1 * 2 * 1.5 * 1.5)
    monkeypatch.setattr(module, "TABLE", TABLE.copy())
    TABLE[1] = 4.0  # in place
    assert pushed_by(law) == pytest.approx(3 * 1 * 4 * 2.5 * 1.5)
    monkeypatch.setattr(module, "strength", lambda: 0.5)
    assert pushed_by(law) == pytest.approx(3 * 0.5 * 4 * 2.5 * 1.5)
    monkeypatch.setattr(Mode.SLOW, "_value_", 3.0)
    assert pushed_by(law) == pytest.approx(3 * 0.5 * 4 * 2.5 * 3)
    monkeypatch.setattr(math, "pi", 3.0)
    assert pushed_by(ph.force(lambda t, s, b, p: ((math.pi, 0, 0), ZERO))) == 3.0


def test_a_changed_closure_and_default_are_read_at_the_next_run():
    k = 1.0

    def law(t, s, b, p):
        return (k * helper_default(), 0, 0), ZERO

    def helper_default(scale=2.0):
        return scale

    assert pushed_by(ph.force(law)) == 2.0
    k = 5.0
    assert pushed_by(ph.force(law)) == 10.0
    helper_default.__defaults__ = (3.0,)
    assert pushed_by(ph.force(law)) == 15.0


@pytest.mark.parametrize("engine", ["cpu", "python"])
@pytest.mark.filterwarnings("ignore:engine='python'")
def test_acceleration_keeps_the_values_of_its_run(engine, monkeypatch):
    law = ph.force(lambda t, s, b, p: ((GAIN, 0, 0), ZERO))
    motion = ph.simulate(ph.particle(1.0), forces=[law()], duration=1.0, method="rk4", step=0.5, engine=engine)
    monkeypatch.setattr(sys.modules[__name__], "GAIN", 7.0)
    assert motion.acceleration[-1, 0] == pytest.approx(motion.final.velocity[0]) == 2.0


SCRIPT = """
import sys; sys.path.insert(0, {folder!r})
import constants, enum
import polhode as ph
class Mode(enum.Enum):
    FAST = {mode}
def scaled(x, by={default}):
    return x * by
@ph.force
def push(t, state, body, params):
    return (scaled(constants.GAIN) * Mode.FAST.value, 0, 0), (0, 0, 0)
print(ph.simulate(ph.particle(1.0), forces=[push()], duration=1.0, method="rk4", step=0.5).final.velocity[0])
"""


def test_constants_changed_between_processes_with_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("POLHODE_CACHE", str(tmp_path / "cache"))
    for gain, mode, default in ((2.0, 1.0, 1.0), (3.0, 1.0, 1.0), (3.0, 5.0, 1.0), (3.0, 5.0, 0.5), (2.0, 1.0, 1.0)):
        (tmp_path / "constants.py").write_text(f"GAIN = {gain}\n")
        script = SCRIPT.format(folder=str(tmp_path), mode=mode, default=default)
        done = subprocess.run(
            [sys.executable, "-B", "-c", script], capture_output=True, text=True, check=True, timeout=120
        )
        assert float(done.stdout) == pytest.approx(gain * mode * default)


CELLS = [
    """
    import warnings
    import numpy as np
    import polhode as ph
    gain, table = 2.0, np.array([1.0, 1.0])
    def helper(x):
        return x
    @ph.force
    def push(t, state, body, params):
        return (helper(gain) * table[1], 0, 0), (0, 0, 0)
    def speed():
        motion = ph.simulate(ph.particle(1.0), forces=[push()], duration=1.0, method="rk4", step=0.5)
        print(motion.final.velocity[0].round(9), motion.acceleration[-1, 0])
    speed()""",
    "gain = 3.0\nspeed()",
    "table[1] = 10.0\nspeed()",
    "def helper(x):\n    return 2 * x\nspeed()",
]


def test_a_notebook_kernel_sees_every_change():
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    book = nbformat.v4.new_notebook()
    book.cells = [nbformat.v4.new_code_cell(textwrap.dedent(cell).strip()) for cell in CELLS]
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3").execute()
    shown = [
        "".join(o.text for o in cell.outputs if o.output_type == "stream" and o.name == "stdout") for cell in book.cells
    ]
    assert [text.split() for text in shown] == [["2.0"] * 2, ["3.0"] * 2, ["30.0"] * 2, ["60.0"] * 2]


# Elsewhere than in forces --------------------------------------------------------------------------------------------
@pytest.mark.filterwarnings("ignore:engine='python'")
def test_events_changes_potentials_and_pair_forces_speak_the_same_language():
    levels = [0.5]

    @ph.event
    def lands(t, state, body, params):
        return np.dot((0, 0, 1.0), state.position) - max(levels)

    def bounce(t, state, body, params):
        v = np.array(state.velocity)
        return body.mass * np.array([0, 0, -2 * v[2]]) if v[2] < 0 else np.zeros(3), np.zeros(3)

    def energy(t, state, body, params):
        return body.mass * 9.0 * np.array(state.position)[2]

    @ph.force(potential=energy)
    def weight(t, state, body, params):
        return -9.0 * body.mass * np.array([0, 0, 1.0]), np.zeros(3)

    start = ph.State(position=(0, 0, 5.0))
    runs = []
    for engine in ("cpu", "python"):
        settings = {"duration": 1.5, "method": "dop853", "events": [lands(change=bounce)], "engine": engine}
        runs.append(ph.simulate(ph.particle(2.0), start, [weight()], **settings))
    assert runs[0].position.tobytes() == runs[1].position.tobytes()
    assert runs[0].crossings[0].time == pytest.approx(1.0, abs=1e-12)  # sqrt(2 * 4.5 / 9)
    np.testing.assert_allclose(runs[0].energy, 2.0 * 9.0 * 5.0, rtol=1e-12)

    @ph.pair_force
    def spring(t, a, body_a, b, body_b, params):
        return params[0] * (np.array(b.position) - a.position), ZERO, ZERO

    bodies, states = [ph.particle(1.0)] * 2, [ph.State(), ph.State(position=(1, 0, 0))]
    pair = ph.simulate(bodies, states, [spring(0, 1, 0.5)], duration=1.0, method="rk4", step=0.01)
    np.testing.assert_allclose(pair.position[-1, 0, 0], (1 - math.cos(1.0)) / 2, rtol=1e-9)


def test_functions_of_math_have_taylor_series():
    @ph.force
    def swing(t, state, body, params):
        return (-math.sin(state.position[0]) * math.exp(-t) / np.sqrt(1 + t), 0, 0), ZERO

    start = ph.State(position=(0.5, 0, 0))
    a, b = (
        ph.simulate(ph.particle(1.0), start, [swing()], duration=2.0, method=m, rtol=1e-12)
        for m in ("taylor", "dop853")
    )
    np.testing.assert_allclose(a.final.position, b.final.position, rtol=1e-10)


# Tables and vectors as parameters ------------------------------------------------------------------------------------
@ph.force
def wing(t, state, body, params):
    knots, values, k = params
    return (0.0, 0.0, k * ph.interp(state.velocity[0], knots, values)), ZERO


LONG = np.linspace(-3.0, 3.0, 1000)
SETTINGS_OF_RUNS = {"duration": 1.0, "method": "rk4", "step": 0.25}


@pytest.mark.parametrize("kind", [np.array, tuple, list])
def test_a_table_of_a_thousand_entries_against_numpy(kind):
    """A speed of 1 m/s across: the lift is constant, and the speed upwards that of NumPy's own interpolation."""
    start = ph.State(velocity=(1.0, 0, 0))
    motion = ph.simulate(ph.particle(1.0), start, [wing(kind(LONG), kind(np.sin(LONG)), 2.0)], **SETTINGS_OF_RUNS)
    assert motion.final.velocity[2] == pytest.approx(2 * np.interp(1.0, LONG, np.sin(LONG)), rel=1e-14)


def test_tables_in_an_ensemble_shared_or_one_row_for_each_member_against_numpy():
    speeds, k = np.random.default_rng(0).normal(size=(40, 3)), np.arange(1.0, 41.0)
    body, start, table = ph.particle(1.0), ph.State(velocity=speeds), np.sin(LONG)
    wanted = np.interp(speeds[:, 0], LONG, table)
    rows = np.outer(k, table)
    for law in (wing(LONG, table, k), wing(tuple(LONG), rows, 1.0), wing(LONG, tuple(rows.T), 1.0)):
        motion = ph.ensemble(body, start, [law], **SETTINGS_OF_RUNS)
        np.testing.assert_allclose(motion.final.velocity[:, 2] - speeds[:, 2], k * wanted, rtol=1e-12, atol=1e-14)
        alone = ph.simulate(motion.scenario.take(7))
        assert alone.final.velocity[2] == motion.final.velocity[7, 2]
        again = ph.ensemble(motion.scenario)
        assert (again.final.velocity == motion.final.velocity).all()
        single = ph.simulate(ph.Scenario(body, start, [law], **SETTINGS_OF_RUNS).take(7))  # its table among the numbers
        assert single.final.velocity[2] == motion.final.velocity[7, 2]
        some = ph.ensemble(motion.scenario.take(np.array([3, 7])))
        assert (some.final.velocity == motion.final.velocity[[3, 7]]).all()


def test_events_and_potentials_of_an_ensemble_share_a_long_table():
    """A weight by a table of heights, all of them 9 N/kg: a fall of 4.5 m takes 1 s."""

    def energy(t, state, body, params):
        return 9.0 * body.mass * state.position[2] + 0.0 * ph.interp(t, *params)

    @ph.force(potential=energy)
    def weight(t, state, body, params):
        return (0.0, 0.0, -body.mass * ph.interp(state.position[2], *params)), ZERO

    @ph.event
    def lands(t, state, body, params):
        return state.position[2] - ph.interp(t, params[1], params[2]) * params[0]

    heights = np.linspace(4.5, 9.0, 11)
    start = ph.State(position=np.stack([0 * heights, 0 * heights, heights], axis=1))
    forces, events = [weight(LONG, np.full(1000, 9.0))], [lands(0.5, LONG, np.zeros(1000))]
    motion = ph.ensemble(ph.particle(2.0), start, forces, duration=2.0, method="dop853", events=events, output_step=0.1)
    times = sorted(crossing.time for crossing in motion.crossings)
    np.testing.assert_allclose(times, np.sqrt(2 * heights / 9.0), rtol=1e-9)
    np.testing.assert_allclose(motion.energy[0], 18.0 * heights, rtol=1e-12)


def test_a_long_table_is_compiled_within_a_second_of_work(tmp_path, monkeypatch):
    monkeypatch.setenv("POLHODE_CACHE", str(tmp_path))
    start = ph.State(velocity=np.ones((20, 3)))
    for run, given in ((ph.simulate, ph.State(velocity=(1.0, 0, 0))), (ph.ensemble, start)):
        began = time.process_time()
        knots = np.linspace(-3.0, 3.0, 1009)
        run(ph.particle(1.0), given, [wing(knots, np.cos(knots), 1.0)], **SETTINGS_OF_RUNS)
        assert time.process_time() - began < 1.0


def test_an_array_alone_is_a_table_in_simulate_and_the_members_of_an_ensemble():
    law = ph.force(lambda t, s, b, p: ((np.sum(p[0]), 0, 0), ZERO))
    assert pushed_by(law, np.array([1.0, 2.0, 3.0, 4.0])) == 10.0
    assert pushed_by(law, np.ones((2, 3))) == 6.0
    body = ph.particle(1.0)
    rows = ph.ensemble(body, forces=[law(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))], **SETTINGS_OF_RUNS)
    np.testing.assert_allclose(rows.final.velocity[:, 0], [3.0, 7.0, 11.0], rtol=1e-14)
    with pytest.raises(ScenarioError, match=r"have \[9, 1000\] rows.*tables as tuples or lists"):
        ph.ensemble(body, forces=[wing(LONG, LONG, np.arange(9.0))], **SETTINGS_OF_RUNS)
    with pytest.raises(ForceError, match="one row for each of the 1000 members: give a table as a tuple"):
        ph.ensemble(body, ph.State(velocity=np.ones((1000, 3))), [wing(LONG, LONG, 1.0)], **SETTINGS_OF_RUNS)


def test_a_table_changed_after_the_force_was_made_does_not_change_it():
    values = np.array([1.0, 2.0])
    law = ph.force(lambda t, s, b, p: ((p[0][1], 0, 0), ZERO))(values)
    values[1] = 9.0
    assert ph.simulate(ph.particle(1.0), forces=[law], **SETTINGS_OF_RUNS).final.velocity[0] == pytest.approx(2.0)


def test_ensembles_of_systems_with_tables_have_the_bits_of_each_system_alone():
    @ph.pair_force
    def spring(t, a, body_a, b, body_b, params):
        away = np.array(b.position) - a.position
        length = np.linalg.norm(away)
        return params[0] * np.interp(length, params[1], params[2]) * away / length, ZERO, ZERO

    x, k = np.linspace(0.0, 3.0, 50), np.linspace(1.0, 2.0, 12)
    bodies, begin = [ph.particle(1.0)] * 2, ph.State()
    far = np.stack([1 + k / 10, 0 * k, 0 * k], axis=1)
    many = ph.ensemble(bodies, [begin, ph.State(position=far)], [spring(0, 1, k, x, x**2)], **SETTINGS_OF_RUNS)
    alone = ph.simulate(bodies, [begin, ph.State(position=far[5])], [spring(0, 1, k[5], x, x**2)], **SETTINGS_OF_RUNS)
    assert many.position[-1, 5].tobytes() == alone.position[-1].tobytes()


def test_a_users_module_with_the_name_of_one_of_python_is_traced(tmp_path):
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / "__init__.py").write_text("")
    (tmp_path / "test" / "lifts.py").write_text("import math\ndef lift(t):\n    return math.cos(t)\n")
    script = """
        import sys; sys.path.insert(0, sys.argv[1])
        from test import lifts
        from test.lifts import lift
        import polhode as ph
        law = ph.force(lambda t, s, b, p: ((lift(t), lifts.lift(t), 0), (0, 0, 0)))
        print(*ph.simulate(ph.particle(1.0), forces=[law()], duration=1.0, method="rk4", step=0.01).final.velocity)
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(tmp_path)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout.split()
    assert [float(number) for number in shown] == pytest.approx([math.sin(1.0), math.sin(1.0), 0.0], rel=1e-9)
