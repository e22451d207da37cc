"""The numbers of a trace: operators and functions that record what is done with them.

A `Traced` number is known only by the way it was made.  A `Known` number is a float, too: it computes as compiled code
does, and on a trail (`solve.knob_trail`) it also records.  `equations.scalar_ops` and `equations.elementary` find the
functions of both kinds at the end of this module.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Real
from threading import local
from typing import Any

from polhode.ir.graph import Graph, Node, Offset, Place, TraceError, current_graph
from polhode.ir.graph import now as _tracing
from polhode.ir.operations import OPERATIONS


class _Asking(local):
    """What this thread does with decisions and texts on traced numbers."""

    def __init__(self) -> None:
        self.deciders: list[Callable[[Comparison], bool]] = []
        """What answers an `if` on a traced number, innermost last."""
        self.texts: list[str] = []
        """Where texts were made of traced numbers, as file and line."""


_now = _Asking()


@contextmanager
def deciding(decide: Callable[[Comparison], bool]) -> Iterator[None]:
    """Answer every `if` on a traced number by a function."""
    _now.deciders.append(decide)
    try:
        yield
    finally:
        _now.deciders.pop()


def print_numbers(*values: Any, **more: Any) -> None:
    """`print` in a user's function: it may show that a number is one of the run, since nothing comes back from it."""
    made = len(_now.texts)
    print(*values, **more)
    del _now.texts[made:]


@contextmanager
def refusing_texts() -> Iterator[None]:
    """Refuse what ends well although it has made a text of a traced number; an error may speak of one."""
    before, _now.texts = _now.texts, []
    try:
        yield
        if _now.texts:
            raise TraceError(
                f"a text of a number that changes during the run ({_now.texts[0]}): of the number only the way it is "
                "made is known. Leave texts to errors and to print(x), or compute with the number itself"
            )
    finally:
        _now.texts = before


def apply(op: str, *operands: Any) -> Traced:
    """The result of an operation as a traced number."""
    graph = _tracing.graphs[-1]
    return Traced(graph.add(op, *[graph.node_of(x) for x in operands]))


def compare(op: str, a: Any, b: Any) -> Comparison:
    """A comparison of two numbers."""
    graph = _tracing.graphs[-1]
    return Comparison(graph.add(op, graph.node_of(a), graph.node_of(b)))


def select(condition: Comparison, x: Any, y: Any) -> Any:
    """x where the condition holds, else y."""
    return apply("sel", condition, *((y, x) if condition.negated else (x, y)))


def _refuse(what: str, advice: str) -> Callable[..., Any]:
    def refuse(self: Any, *_: Any, **__: Any) -> Any:
        raise TraceError(f"{what} of a number that changes during the run{advice}")

    return refuse


def is_array(x: Any) -> bool:
    """Whether an operand is an array, whose operators go through its elements."""
    return bool(getattr(x, "ndim", 0))


class Traced(Node):
    """A number of which only the way it was made is known."""

    __slots__ = ()
    __add__: Any
    __radd__: Any
    __sub__: Any
    __rsub__: Any
    __mul__: Any
    __rmul__: Any
    __truediv__: Any
    __rtruediv__: Any
    __mod__: Any
    __floordiv__: Any
    """Defined below, all in the same way."""

    def __init__(self, i: int) -> None:
        self.i = i

    def __neg__(self) -> Traced:
        return Traced(_tracing.graphs[-1].add("neg", self.i))

    def __pos__(self) -> Traced:
        return self

    def __abs__(self) -> Any:
        return select(compare("lt", self, 0.0), -self, self + 0.0)

    def __pow__(self, exponent: Any) -> Any:
        return NotImplemented if is_array(exponent) else raise_to(self, exponent)

    def __rpow__(self, base: Any) -> Any:
        return NotImplemented if is_array(base) else raise_to(base, self)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __floor__(self) -> Any:
        return apply("floor", self) + 0.0  # no -0, as of Python's whole numbers

    def __ceil__(self) -> Any:
        return 0.0 - apply("floor", -self)

    def __trunc__(self) -> Any:
        return select(compare("lt", self, 0.0), self.__ceil__(), self.__floor__())

    def __round__(self, digits: Any = None) -> Any:
        if digits is not None:
            raise TraceError("round() to some digits of a number that changes during the run: scale it, round(100 * x)")
        return apply("round", self)

    def __lt__(self, other: Any) -> Comparison:
        return compare("lt", self, other)

    def __gt__(self, other: Any) -> Comparison:
        return compare("lt", other, self)

    def __le__(self, other: Any) -> Comparison:
        return compare("le", self, other)

    def __ge__(self, other: Any) -> Comparison:
        return compare("le", other, self)

    def __eq__(self, other: object) -> Any:
        return compare("eq", self, other)

    def __ne__(self, other: object) -> Any:
        return ~compare("eq", self, other)

    def __bool__(self) -> bool:
        return bool(self != 0.0)

    # NumPy: an array of traced numbers is an array of objects, whose elements it asks for these methods
    def sqrt(self) -> Traced:
        return apply("sqrt", self)

    def conjugate(self) -> Traced:
        return self

    __float__ = _refuse("float(), or a function that takes plain floats only,", "")
    __int__ = _refuse("int()", ": math.floor keeps it a number, and ph.interp, or `if`, looks it up in a table")
    __index__ = _refuse("the use as an index", ": look it up with ph.interp(x, xp, fp), or by `if`")
    __array_ufunc__: Any = None
    """Set by `polhode.ir.language`, which knows what NumPy may do with traced numbers."""


def _define_operator(op: str, symbol: str) -> None:
    def forward(self: Traced, other: Any) -> Any:
        graph = _tracing.graphs[-1]
        if type(other) is Traced:
            return Traced(graph.add(op, self.i, other.i))
        return NotImplemented if is_array(other) else Traced(graph.add(op, self.i, graph.node_of(other)))

    def backward(self: Traced, other: Any) -> Any:
        graph = _tracing.graphs[-1]
        return NotImplemented if is_array(other) else Traced(graph.add(op, graph.node_of(other), self.i))

    setattr(Traced, f"__{symbol}__", forward)
    setattr(Traced, f"__r{symbol}__", backward)


OPERATORS = {"add": "add", "sub": "sub", "mul": "mul", "div": "truediv", "mod": "mod", "floordiv": "floordiv"}
"""Operations that Python writes between two numbers, and what it calls them."""
for _op, _symbol in OPERATORS.items():
    _define_operator(_op, _symbol)


class Comparison(Node):
    """A comparison of traced numbers.  An `if` asks for its truth, which somebody has to decide."""

    __slots__ = ("negated",)

    def __init__(self, i: int, negated: bool = False) -> None:
        self.i, self.negated = i, negated

    def choose(self, x: Any, y: Any) -> Any:
        """x where it holds, else y."""
        return select(self, x, y)

    def __invert__(self) -> Comparison:
        return Comparison(self.i, not self.negated)

    def __and__(self, other: Any) -> Comparison:
        return compare("eq", select(self, _as_number(other), 0.0), 1.0)

    def __or__(self, other: Any) -> Comparison:
        return compare("eq", select(self, 1.0, _as_number(other)), 1.0)

    def __xor__(self, other: Any) -> Comparison:
        return compare("eq", select(self, 1.0, 0.0) + _as_number(other), 1.0)

    def __index__(self) -> int:
        return int(bool(self))

    __int__ = __index__
    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __bool__(self) -> bool:
        if not _now.deciders:
            raise TraceError("an `if` on a number that changes during the run")
        return _now.deciders[-1](Comparison(self.i)) != self.negated


def _note_text(self: Any, _: str = "") -> str:
    """A text made of what is known only during the run; where it is made is noted."""
    caller = sys._getframe(1)
    _now.texts.append(f"{caller.f_code.co_filename}, line {caller.f_lineno}")
    return "<a number of the run>"


for _kind in (Traced, Comparison):
    _kind.__repr__ = _kind.__str__ = _kind.__format__ = _note_text  # type: ignore[method-assign]
    _kind.__hash__ = None  # type: ignore[assignment, method-assign]


def _as_number(truth: Any) -> Any:
    return select(truth, 1.0, 0.0) if type(truth) is Comparison else float(bool(truth))


def _define_arithmetic_of_conditions(symbol: str) -> None:
    def forward(self: Comparison, other: Any) -> Any:
        given = _as_number(other) if isinstance(other, (Comparison, bool)) else other
        return NotImplemented if is_array(other) else getattr(_as_number(self), symbol)(given)

    setattr(Comparison, symbol, forward)


for _symbol in ("add", "sub", "mul", "truediv", "lt", "gt", "le", "ge", "eq", "ne"):
    _define_arithmetic_of_conditions(f"__{_symbol}__")
    if _symbol in ("add", "sub", "mul", "truediv"):
        _define_arithmetic_of_conditions(f"__r{_symbol}__")


def raise_to(base: Any, exponent: Any) -> Any:
    """base ** exponent: small whole powers by multiplication, the square root, everything else by `power`."""
    from polhode.equations import elementary, scalar_ops

    if not _is_constant(exponent):
        return elementary.power(base, exponent)
    if float(exponent).is_integer() and 0 <= exponent <= 16:
        half = int(exponent) // 2
        if exponent <= 1:
            return base if exponent else 1.0
        root = raise_to(base, half)
        return root * root * base if int(exponent) % 2 else root * root
    if exponent == 0.5:
        return scalar_ops.sqrt(base)
    if exponent in (-1, -2):
        return 1.0 / raise_to(base, -exponent)
    return elementary.power(base, float(exponent))


def _is_constant(x: Any) -> bool:
    """Whether it is a number of Python or NumPy, not one of ours."""
    return isinstance(x, Real) and not type(x).__module__.startswith("polhode.")


class Block:
    """Stands for an array while a function is traced.  Places with different names are taken to be different places."""

    def __init__(self, graph: Graph, name: str, loads: dict[Place, int], stores: dict[Place, int]) -> None:
        self._graph, self._name, self._loads, self._stores = graph, name, loads, stores

    def _place(self, key: Any) -> Place:
        return (self._name, key.names, key.rest) if isinstance(key, Offset) else (self._name, (), int(key))

    def __getitem__(self, key: Any) -> Traced:
        place = self._place(key)
        found = self._stores.get(place, self._loads.get(place))
        if found is None:
            found = self._loads[place] = self._graph.add("in", place)
        return Traced(found)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._stores[self._place(key)] = self._graph.node_of(value)


# Numbers with a value -------------------------------------------------------------------------------------------------
class Known(float):
    """A number that carries its value, and on a trail (`solve.knob_trail`) also the way it was made.

    It computes as compiled code does: Python's own powers and NumPy's own sums of products have other bits.  It prints,
    compares and indexes as floats do, so a function that cannot be traced runs with it too.
    """

    __slots__ = ("i", "trail")
    i: int
    trail: Any

    def __new__(cls, value: float, i: int = -1, trail: Any = None) -> Known:
        number = float.__new__(cls, value)
        number.i, number.trail = i, trail
        return number

    def __pow__(self, exponent: Any, modulus: Any = None) -> Any:
        return raise_to(self, exponent) if self.trail is None else _power_of_python(self, exponent)

    def __rpow__(self, base: Any, modulus: Any = None) -> Any:
        return raise_to(base, self) if self.trail is None else _power_of_python(base, self)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return _recorded(float.__abs__(self), (self,), lambda x: abs(Traced(x)).i)

    def __round__(self, digits: Any = None) -> Any:
        return round(float(self), digits)

    def __deepcopy__(self, memo: Any) -> Known:
        return self

    def __reduce__(self) -> Any:
        return float, (float(self),)

    def sqrt(self) -> Any:
        """NumPy asks the elements of an array of objects for it."""
        return sqrt(self)

    def conjugate(self) -> Known:
        return self

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if self.trail is not None:
            return self.trail.apply_ufunc(ufunc, method, inputs, options)
        return Traced.__array_ufunc__(self, ufunc, method, *inputs, **options)

    __hash__ = float.__hash__


def _active_trail(*operands: Any) -> tuple[Any, bool]:
    """The open trail to which one of the numbers belongs, if any; and whether they have left one that is closed."""
    trails = [x.trail for x in operands if type(x) is Known and x.trail is not None]
    return next((trail for trail in trails if trail.is_open), None), bool(trails)


def _recorded(value: float, operands: Sequence[Any], add: Callable[..., int]) -> Any:
    """The result of an operation: with its node if a number is on a trail, a plain float where the trail has ended."""
    trail, has_left = _active_trail(*operands)
    if trail is not None:
        return trail.keep(value, add(*map(trail.node, operands)))
    return value if has_left else Known(value)


def _power_of_python(base: Any, exponent: Any) -> Any:
    """A power of Python is one of the C library, which no other program repeats to the last bit."""
    if not isinstance(base, (float, int)) or not isinstance(exponent, (float, int)):
        return NotImplemented
    trail, _ = _active_trail(base, exponent)
    if trail is not None:
        trail.lost["a power, x ** y (write x * x, or ph.sqrt)"] = None
    plain = [float(x) if isinstance(x, float) else x for x in (base, exponent)]
    return plain[0] ** plain[1]


def _define_operator_of_known(op: str, symbol: str) -> None:
    def add(*nodes: int) -> int:
        return current_graph().add(op, *nodes)

    for name, order in ((symbol, 1), (f"r{symbol}", -1)) if op != "neg" else ((symbol, 1),):
        of_floats: Any = getattr(float, f"__{name}__")

        def operator(self: Known, *others: Any, of_floats: Any = of_floats, order: int = order) -> Any:
            if any(is_array(x) for x in others):
                return NotImplemented
            result = of_floats(self, *(float(x) if isinstance(x, float) else x for x in others))
            return result if result is NotImplemented else _recorded(result, (self, *others)[::order], add)

        setattr(Known, f"__{name}__", operator)


for _op, _symbol in (*OPERATORS.items(), ("neg", "neg")):
    _define_operator_of_known(_op, _symbol)


def _define_comparison_of_known(name: str) -> None:
    of_floats = getattr(float, f"__{name}__")

    def ask(self: Known, other: Any) -> Any:
        truth = of_floats(self, other)
        if self.trail is not None and self.trail.is_open and truth is not NotImplemented:
            self.trail.guard(name, self.i, self.trail.node(other), truth)
        return truth

    setattr(Known, f"__{name}__", ask)


for _symbol in ("lt", "le", "gt", "ge", "eq", "ne"):
    _define_comparison_of_known(_symbol)


# The functions that `polhode.equations.scalar_ops` and `elementary` look for ------------------------------------------
def _define_function(op: str, value: Callable[..., Any] | None = None) -> Callable[..., Any]:
    value_of = value or OPERATIONS[op].value

    def function(*operands: Any) -> Any:
        if any(type(x) is Traced for x in operands):
            return apply(op, *operands)
        value = float(value_of(*map(float, operands)))
        return _recorded(value, operands, lambda *nodes: current_graph().add(op, *nodes))

    function.__name__, function.__doc__ = op, f"The operation {op} of our numbers."
    return function


sin, cos, tan, atan2 = (_define_function(name) for name in ("sin", "cos", "tan", "atan2"))
asin, acos, atan = (_define_function(name) for name in ("asin", "acos", "atan"))
exp, log, power = (_define_function(name) for name in ("exp", "log", "power"))
expm1, log1p, sinh, cosh, tanh = (_define_function(name) for name in ("expm1", "log1p", "sinh", "cosh", "tanh"))
fmod, floor, nearest, _interp = (_define_function(name) for name in ("fmod", "floor", "nearest", "interp"))
_sqrt = _define_function("sqrt")


def sqrt(x: Any) -> Any:
    """The square root."""
    return Known(math.sqrt(x)) if type(x) is Known and x.trail is None else _sqrt(x)


def if_less(a: Any, b: Any, x: Any, y: Any) -> Any:
    """x where a < b, else y."""
    if type(a) is Traced or type(b) is Traced:
        return select(compare("lt", a, b), x, y)
    chosen = x if float(a) < float(b) else y
    trail, has_left = _active_trail(a, b)
    are_numbers = isinstance(x, (float, int)) and isinstance(y, (float, int))
    if trail is None:
        return Known(chosen) if isinstance(chosen, (int, float)) and not has_left else chosen
    if not are_numbers:
        trail.guard("lt", trail.node(a), trail.node(b), float(a) < float(b))
        return chosen
    condition = compare("lt", Traced(trail.node(a)), Traced(trail.node(b)))
    return trail.keep(float(chosen), select(condition, Traced(trail.node(x)), Traced(trail.node(y))).i)


def interp(x: Any, xp: Sequence[Any], fp: Sequence[Any]) -> Any:
    """Linear interpolation in a table; constant beyond its ends."""
    return _interp(x, *xp, *fp)


def pick(numbers: Sequence[Any], index: Any) -> Any:
    """The entry of a table at a whole number that is computed."""
    graph = current_graph()
    nodes = [graph.node_of(x) for x in numbers]
    if _lie_in_a_row(graph, nodes):
        return Traced(graph.add("pick", graph.node_of(index), *nodes))
    value = numbers[-1]
    for k in range(len(numbers) - 2, -1, -1):
        value = if_less(index, k + 0.5, numbers[k], value)
    return value


def _lie_in_a_row(graph: Graph, nodes: list[int]) -> bool:
    """Whether all are constants, or loaded from places at equal distances."""
    kinds = {graph.ops[i] for i in nodes}
    if kinds != {"in"}:
        return kinds == {"const"}
    places = [graph.args[i][0] for i in nodes]
    stride = places[1][2] - places[0][2] if len(places) > 1 else 1
    return all(p == (*places[0][:2], places[0][2] + k * stride) for k, p in enumerate(places))


def interpolate_by_bisection(x: Any, *table: Any) -> Any:
    """Linear interpolation in a table, knots before values: the place is found by bisection."""
    xp, fp = table[: len(table) // 2], table[len(table) // 2 :]
    n, step = len(xp), 1
    if n == 1:
        return fp[0] + 0.0 * x
    while 2 * step < n:
        step *= 2
    place = 0.0 * x
    place = select(compare("eq", place, place), place, 0.0)  # where x is not finite
    while step:
        further = place + float(step)
        inside = compare("lt", further, float(n - 1))
        reached = compare("le", pick(xp, select(inside, further, float(n - 1))), x)
        place = select(inside, select(reached, further, place), place)
        step //= 2
    x0, x1, y0, y1 = pick(xp, place), pick(xp, place + 1.0), pick(fp, place), pick(fp, place + 1.0)
    value = (y1 - y0) / (x1 - x0) * (x - x0) + y0
    value = select(compare("le", xp[-1], x), fp[-1], value)
    return select(compare("lt", x, xp[0]), fp[0], value)
