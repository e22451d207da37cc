"""A small computer algebra: a scalar type that records its expression, as a sum of products of powers.

The laws, evaluated on symbols, return their own formula in normal form: like terms are collected, constants are
separated from variables, and |q| = 1 of unit quaternions is used, so that few products remain for a backend (Taylor
series) whose cost grows with each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

Monomial = tuple[tuple[int, float], ...]
"""(atom, exponent), ordered by atom."""
Terms = dict[Monomial, float]
ONE: Monomial = ()
EXPANDED_TERMS = 400
"""A formula with more terms than this after expansion is left unexpanded."""


class Atom(NamedTuple):
    """A factor of a product: a constant or variable, a function call, or a sum in brackets."""

    kind: str
    """"constant", "variable", "call" or "sum"."""
    name: str
    parts: tuple[Symbol, ...]
    is_constant: bool
    owner: str
    """The force that was being evaluated when this first appeared."""


class SymbolTable:
    """The atoms of one evaluation, the values of the constants, and the quaternions of unit length."""

    def __init__(self, functions: Any = math) -> None:
        self.functions = functions
        """The module whose functions evaluate constants: math, or numpy for arrays of them."""
        self.atoms: list[Atom] = []
        self.values: dict[int, Any] = {}
        self.owner = ""
        self._index: dict[Any, int] = {}
        self._units: list[tuple[int, ...]] = []
        self._ones: set[frozenset[tuple[Monomial, float]]] = set()

    def constant(self, name: str, value: Any) -> Symbol:
        """A named constant; exactly 0, 1 and -1 stay plain numbers."""
        if getattr(value, "ndim", 0) == 0 and float(value) in (0.0, 1.0, -1.0):
            return self.number(float(value))
        symbol = self._named("constant", name, True)
        self.values[self.index_of(symbol)] = value
        return symbol

    def variable(self, name: str) -> Symbol:
        """A named variable."""
        return self._named("variable", name, False)

    def _named(self, kind: str, name: str, is_constant: bool) -> Symbol:
        return Symbol(self, {((self._at((kind, name), kind, name, (), is_constant), 1.0),): 1.0})

    def number(self, value: float) -> Symbol:
        """A plain number."""
        return Symbol(self, {ONE: value} if value else {})

    def call(self, name: str, *parts: Symbol) -> Symbol:
        """A function call."""
        constant = all(part.is_constant for part in parts)
        return Symbol(self, {((self._at((name, *(p.key for p in parts)), "call", name, parts, constant), 1.0),): 1.0})

    def bracket(self, symbol: Symbol) -> int:
        """The index of a sum as one atom."""
        return self._at(("sum", symbol.key), "sum", "", (symbol,), symbol.is_constant)

    def _at(self, key: Any, kind: str, name: str, parts: tuple[Symbol, ...], is_constant: bool) -> int:
        at = self._index.get(key)
        if at is None:
            at = self._index[key] = len(self.atoms)
            self.atoms.append(Atom(kind, name, parts, is_constant, self.owner))
        return at

    @staticmethod
    def index_of(symbol: Symbol) -> int:
        """The index of a constant or variable."""
        ((monomial, _),) = symbol.terms.items()
        return monomial[0][0]

    def assume_unit_norm(self, quaternion: tuple[Symbol, ...]) -> None:
        """Assume from now on that the squares of these four add up to 1."""
        squares: Any = sum((part * part for part in quaternion[1:]), quaternion[0] * quaternion[0])
        self._ones.add(squares.key)
        if all(len(part.terms) == 1 for part in quaternion):
            self._units.append(tuple(self.index_of(part) for part in quaternion))

    def add_up(self, terms: Terms) -> Symbol:
        """The sum of terms, or 1 if it is the squared norm of a unit quaternion."""
        if len(terms) == 4 and frozenset(terms.items()) in self._ones:
            return self.number(1.0)
        return Symbol(self, terms)

    def value(self, symbol: Symbol, known: dict[int, Any] | None = None) -> Any:
        """The value of a symbol, given the values of its atoms; adds those that it evaluates to `known`."""
        known = self.values if known is None else known
        total: Any = 0.0
        for monomial, factor in symbol.terms.items():
            product: Any = factor
            for index, exponent in monomial:
                if index not in known:
                    atom = self.atoms[index]
                    parts = [self.value(part, known) for part in atom.parts]
                    known[index] = parts[0] if atom.kind == "sum" else _FUNCTIONS[atom.name](self.functions, *parts)
                product = product * (known[index] if exponent == 1.0 else known[index] ** exponent)
            total = total + product
        return total

    def split_constants(self, symbol: Symbol) -> dict[Monomial, Symbol]:
        """The variable part of each term and its constant coefficient; terms whose coefficient is zero are dropped."""
        grouped: dict[Monomial, Terms] = {}
        for monomial, factor in symbol.terms.items():
            constant = tuple(f for f in monomial if self.atoms[f[0]].is_constant)
            moving = tuple(f for f in monomial if not self.atoms[f[0]].is_constant)
            grouped.setdefault(moving, {})[constant] = factor
        constants = {moving: Symbol(self, terms) for moving, terms in sorted(grouped.items())}
        return {moving: c for moving, c in constants.items() if _is_nonzero(self.value(c))}

    # Brackets -------------------------------------------------------------------------------------------------------
    def expand(self, symbol: Symbol) -> Symbol | None:
        """Multiply out, with q0^2 of unit quaternions eliminated; None if that has too many terms."""
        total: Terms = {}
        for monomial, factor in symbol.terms.items():
            product: Terms = {ONE: factor}
            for index, exponent in monomial:
                atom = self.atoms[index]
                if atom.kind == "sum" and exponent > 0 and exponent.is_integer():
                    inner = self.expand(atom.parts[0])
                    if inner is None:
                        return None
                    for _ in range(int(exponent)):
                        product = self._multiply(product, inner.terms)
                else:
                    product = self._multiply(product, {((index, exponent),): 1.0})
            for m, c in product.items():
                _add_term(total, m, c)
            if len(total) > EXPANDED_TERMS:
                return None
        return Symbol(self, total)

    def _multiply(self, a: Terms, b: Terms) -> Terms:
        result: Terms = {}
        for m, c in a.items():
            for n, d in b.items():
                for reduced, sign in self._reduce_monomial(_multiply_monomials(m, n)):
                    _add_term(result, reduced, sign * c * d)
        return result

    def _reduce_monomial(self, monomial: Monomial) -> Iterable[tuple[Monomial, float]]:
        """q0^2 = 1 - q1^2 - q2^2 - q3^2"""
        for unit in self._units:
            for index, exponent in monomial:
                if index == unit[0] and exponent >= 2 and exponent.is_integer():
                    rest = _multiply_monomials(monomial, ((index, -2.0),))
                    yield from self._reduce_monomial(rest)
                    for other in unit[1:]:
                        for m, sign in self._reduce_monomial(_multiply_monomials(rest, ((other, 2.0),))):
                            yield m, -sign
                    return
        yield monomial, 1.0

    def count_products(self, symbols: Iterable[Symbol]) -> int:
        """The number of products and function calls of variables in these formulas; shared ones count once."""
        seen: set[Any] = set()
        opened: set[int] = set()
        waiting = list(symbols)
        while waiting:
            symbol = waiting.pop()
            for moving in self.split_constants(symbol):
                chain: Monomial = ()
                for index, exponent in moving:
                    atom = self.atoms[index]
                    if index not in opened:
                        opened.add(index)
                        waiting += atom.parts
                    if atom.kind == "call":
                        seen.add(index)
                    if exponent != 1.0:
                        seen.add((index, exponent))
                    if chain:
                        seen.add(chain + ((index, exponent),))
                    chain += ((index, exponent),)
        return len(seen)


class Condition:
    """A comparison of symbols, which has no truth value."""

    def __bool__(self) -> bool:
        raise TypeError("a formula cannot branch with `if`: use ph.if_less(a, b, x, y)")


class Symbol:
    """A number known only by its formula."""

    __slots__ = ("_key", "table", "terms")
    __array_ufunc__ = None  # NumPy scalars defer to symbols

    def __init__(self, table: SymbolTable, terms: Terms) -> None:
        self.table, self.terms = table, terms
        self._key: frozenset[tuple[Monomial, float]] | None = None

    @property
    def key(self) -> frozenset[tuple[Monomial, float]]:
        """Equal for equal formulas."""
        if self._key is None:
            self._key = frozenset(self.terms.items())
        return self._key

    @property
    def is_constant(self) -> bool:
        """Whether it contains no variables."""
        return all(self.table.atoms[index].is_constant for monomial in self.terms for index, _ in monomial)

    @property
    def as_number(self) -> float | None:
        """A plain number, if it is one."""
        if not self.terms:
            return 0.0
        return self.terms[ONE] if len(self.terms) == 1 and ONE in self.terms else None

    def _other(self, value: Any) -> Symbol:
        return _as_symbol(self.table, value)

    def __repr__(self) -> str:
        return f"<a formula of {len(self.terms)} terms>"

    # Sums -----------------------------------------------------------------------------------------------------------
    def __add__(self, other: Any) -> Symbol:
        terms = dict(self.terms)
        for monomial, factor in self._other(other).terms.items():
            _add_term(terms, monomial, factor)
        return self.table.add_up(terms)

    __radd__ = __add__

    def __neg__(self) -> Symbol:
        return Symbol(self.table, {monomial: -factor for monomial, factor in self.terms.items()})

    def __pos__(self) -> Symbol:
        return self

    def __sub__(self, other: Any) -> Symbol:
        return self + -self._other(other)

    def __rsub__(self, other: Any) -> Symbol:
        return -self + self._other(other)

    # Products -------------------------------------------------------------------------------------------------------
    def __mul__(self, other: Any) -> Symbol:
        a, b = self, self._other(other)
        if len(a.terms) != 1:
            a, b = b, a
        if not a.terms or not b.terms:
            return self.table.number(0.0)
        if len(b.terms) == 1 or (len(a.terms) == 1 and a.is_constant):
            ((m, c),) = a.terms.items()
            return Symbol(self.table, {_multiply_monomials(m, n): c * d for n, d in b.terms.items()})
        return a._as_bracket() * b._as_bracket()

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Symbol:
        return self * self._other(other)._reciprocal()

    def __rtruediv__(self, other: Any) -> Symbol:
        return self._reciprocal() * self._other(other)

    def __pow__(self, exponent: Any) -> Symbol:
        power = float(exponent)
        if power == 0.5:
            return sqrt(self)
        if not power.is_integer():
            return self.table.call("pow", self, self.table.number(power))
        if power < 0:
            return (self**-power)._reciprocal()
        if power == 0:
            return self.table.number(1.0)
        ((m, c),) = self._as_bracket().terms.items()
        return Symbol(self.table, {tuple((i, e * power) for i, e in m): c**power})

    def __abs__(self) -> Symbol:
        return if_less(self, 0.0, -self, self)

    def _reciprocal(self) -> Symbol:
        if not self.terms:
            raise ZeroDivisionError("division by zero")
        ((m, c),) = self._as_bracket().terms.items()
        return Symbol(self.table, {tuple((i, -e) for i, e in m): 1 / c})

    def _as_bracket(self) -> Symbol:
        """As one term: common constant factors times a bracket.  A constant sum with the value 0 is 0."""
        if len(self.terms) < 2:
            return self
        table = self.table
        if self.is_constant and not _is_nonzero(table.value(self)):
            return table.number(0.0)
        first = min(self.terms)
        common = tuple(f for f in first if table.atoms[f[0]].is_constant and all(f in other for other in self.terms))
        lead = self.terms[first]
        factor = math.copysign(2.0 ** (math.frexp(abs(lead))[1] - 1), lead)  # a power of two, so exact
        undo = tuple((i, -e) for i, e in common)
        inner = Symbol(table, {_multiply_monomials(m, undo): c / factor for m, c in self.terms.items()})
        return Symbol(table, {_multiply_monomials(common, ((table.bracket(inner), 1.0),)): factor})

    # Decisions ------------------------------------------------------------------------------------------------------
    def __lt__(self, other: Any) -> Condition:
        return Condition()

    __le__ = __gt__ = __ge__ = __lt__

    def __eq__(self, other: object) -> Any:
        return Condition()

    __ne__ = __eq__
    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return bool(Condition())


def sqrt(x: Symbol) -> Symbol:
    """The square root."""
    number = x.as_number
    if number is not None:
        return x.table.number(math.sqrt(number))
    if len(x.terms) == 1:
        ((monomial, factor),) = x.terms.items()
        if len(monomial) == 1 and monomial[0][1] == 1.0 and factor > 0:
            return Symbol(x.table, {((monomial[0][0], 0.5),): math.sqrt(factor)})
    return Symbol(x.table, {((x.table.bracket(x), 0.5),): 1.0})


def sin(x: Symbol) -> Symbol:
    """The sine."""
    return x.table.call("sin", x)


def cos(x: Symbol) -> Symbol:
    """The cosine."""
    return x.table.call("cos", x)


def tan(x: Symbol) -> Symbol:
    """The tangent."""
    return x.table.call("tan", x)


def exp(x: Symbol) -> Symbol:
    """The exponential."""
    return x.table.call("exp", x)


def log(x: Symbol) -> Symbol:
    """The natural logarithm."""
    return x.table.call("log", x)


def power(x: Any, y: Any) -> Symbol:
    """x to the power y."""
    table = (x if isinstance(x, Symbol) else y).table
    base, exponent = _as_symbol(table, x), _as_symbol(table, y)
    number = exponent.as_number
    return table.call("pow", base, exponent) if number is None else base**number


def atan2(y: Any, x: Any) -> Symbol:
    """The angle of the point (x, y)."""
    table = (y if isinstance(y, Symbol) else x).table
    return table.call("atan2", *(v if isinstance(v, Symbol) else table.number(float(v)) for v in (y, x)))


def if_less(a: Any, b: Any, x: Any, y: Any) -> Symbol:
    """x where a < b, else y."""
    table = (a if isinstance(a, Symbol) else b).table
    if not isinstance(b, Symbol) and math.isinf(b):
        return _as_symbol(table, x if b > 0 else y)
    low, high, yes, no = (_as_symbol(table, v) for v in (a, b, x, y))
    if (difference := (low - high).as_number) is not None:
        return yes if difference < 0 else no
    return yes if yes.key == no.key else table.call("if_less", low, high, yes, no)


def _as_symbol(table: SymbolTable, value: Any) -> Symbol:
    if isinstance(value, Symbol):
        return value
    return table.number(float(value))


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sin": lambda m, x: m.sin(x),
    "cos": lambda m, x: m.cos(x),
    "tan": lambda m, x: m.tan(x),
    "exp": lambda m, x: m.exp(x),
    "log": lambda m, x: m.log(x),
    "atan2": lambda m, y, x: (m.arctan2 if hasattr(m, "arctan2") else m.atan2)(y, x),
    "pow": lambda m, x, p: x**p,
    "if_less": lambda m, a, b, x, y: m.where(a < b, x, y) if hasattr(m, "where") else (x if a < b else y),
}


def _is_nonzero(value: Any) -> bool:
    return bool(value.any()) if hasattr(value, "any") else bool(value)


def _add_term(terms: Terms, monomial: Monomial, factor: float) -> None:
    total = terms.get(monomial, 0.0) + factor
    if total:
        terms[monomial] = total
    else:
        terms.pop(monomial, None)


def _multiply_monomials(a: Monomial, b: Monomial) -> Monomial:
    """a b"""
    if not a or not b:
        return a or b
    powers = dict(a)
    for index, exponent in b:
        powers[index] = powers.get(index, 0.0) + exponent
    return tuple(sorted((i, e) for i, e in powers.items() if e))
