"""The normal form of a graph: every number as a sum of products of powers of atoms, of which Taylor series are made.

Like terms are collected, constants are separated from variables, and |q| = 1 of unit quaternions is used, so that few
products remain for a target whose cost grows with each.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from polhode.ir.graph import Graph
from polhode.ir.operations import COMPARISONS, OPERATIONS

Monomial: TypeAlias = tuple[tuple[int, float], ...]
"""(atom, exponent), ordered by atom."""
Terms: TypeAlias = dict[Monomial, float]
"""A formula: a sum of products with plain factors."""
ONE: Monomial = ()
EXPANDED_TERMS = 400
"""A formula with more terms than this after expansion is left unexpanded."""


class Atom(NamedTuple):
    """A factor of a product: a constant or variable, an operation, or a sum in brackets."""

    kind: str
    """"constant", "variable", "sum", or the name of the operation."""
    parts: tuple[Terms, ...]
    is_constant: bool
    node: int
    """At which it first appeared."""


class UndefinedError(ZeroDivisionError):
    """A number has no formula.  Its arguments: why, and at which node."""

    def __str__(self) -> str:
        return str(self.args[0])


Form: TypeAlias = Terms | UndefinedError


class NormalForm:
    """The formulas of the nodes of a graph, the atoms in them, and the values of the constants."""

    def __init__(
        self,
        graph: Graph,
        leaf: Callable[[NormalForm, int], Terms],
        unit_quaternions: Mapping[int, Sequence[int]] = MappingProxyType({}),
    ) -> None:
        """`leaf` makes a constant or variable of a node "in".

        `unit_quaternions`: by the node of its squared norm, the four nodes of each quaternion whose length is 1.
        """
        self.atoms: list[Atom] = []
        self.values: dict[int, Any] = {}
        self._graph = graph
        self._forms: list[Form] = []
        self._index: dict[Any, int] = {}
        self._units: list[tuple[int, ...]] = []
        self._ones: set[Any] = set()
        self._steady: list[bool] = []
        """Of each atom, as far as asked for, whether it is constant but for jumps."""
        self._has_undefined = False
        for self._node, op in enumerate(graph.ops):
            form: Form
            try:
                form = leaf(self, self._node) if op == "in" else self._formula_of(op, graph.args[self._node])
            except UndefinedError as error:  # maybe nobody asks for it: the other side of a choice
                form, self._has_undefined = error, True
            self._forms.append(form)
            if self._node in unit_quaternions:  # from now on this is 1
                parts = [self.formula(i) for i in unit_quaternions[self._node]]
                self._ones.add(key_of(self.formula(self._node)))
                self._units += [tuple(map(index_of, parts))] if all(len(part) == 1 for part in parts) else []
                self._forms[self._node] = number(1.0)

    def formula(self, i: int) -> Terms:
        """The formula of a node."""
        return _defined(self._forms[i])

    # Atoms ----------------------------------------------------------------------------------------------------------
    def constant(self, value: Any) -> Terms:
        """A constant; exactly 0, 1 and -1 stay plain numbers."""
        if getattr(value, "ndim", 0) == 0 and float(value) in (0.0, 1.0, -1.0):
            return number(float(value))
        self.values[len(self.atoms)] = value
        return self._atom("constant", key=len(self.atoms))

    def variable(self) -> Terms:
        """A variable."""
        return self._atom("variable", key=len(self.atoms))

    def _atom(self, kind: str, *parts: Terms, exponent: float = 1.0, key: Any = None) -> Terms:
        key = (kind, key, *map(key_of, parts))
        at = self._index.setdefault(key, len(self.atoms))
        if at == len(self.atoms):
            is_constant = kind != "variable" and all(map(self.is_constant, parts))
            self.atoms.append(Atom(kind, parts, is_constant, self._node))
        return {((at, exponent),): 1.0}

    def is_constant(self, terms: Terms) -> bool:
        """Whether a formula contains no variables."""
        return all(self.atoms[index].is_constant for monomial in terms for index, _ in monomial)

    # From operations to formulas ------------------------------------------------------------------------------------
    def _formula_of(self, op: str, args: tuple[Any, ...]) -> Terms:
        if op == "const":
            return number(self._graph.value(self._node))
        if op in COMPARISONS:
            return {}  # choices read them from the graph
        operands: Any = [self._forms[a] for a in args]
        if op == "sel":
            low, high = map(self.formula, self._graph.args[args[0]])
            return self._if_less(low, high, *operands[1:])
        if self._has_undefined:
            operands = list(map(_defined, operands))
        if op in ("add", "sub", "mul", "div"):
            x, y = operands
            y = negate(y) if op == "sub" else self.reciprocal(y) if op == "div" else y
            x, y = (y, x) if self._graph.ops[args[0]] == "const" else (x, y)  # a plain number comes second
            return self.add(x, y) if op in ("add", "sub") else self.multiply(x, y)
        if op == "neg":
            return negate(*operands)
        rule = self._root if op == "sqrt" else self._raise if op == "power" else partial(self._atom, op)
        return rule(*operands)

    def _root(self, x: Terms) -> Terms:
        if (plain := as_number(x)) is not None:
            if plain < 0:
                raise UndefinedError("the square root of a negative number", self._node)
            return number(math.sqrt(plain))
        if len(x) == 1:
            ((monomial, factor),) = x.items()
            if len(monomial) == 1 and monomial[0][1] == 1.0 and factor > 0:
                return {((monomial[0][0], 0.5),): math.sqrt(factor)}
        return self._atom("sum", x, exponent=0.5)

    def _raise(self, x: Terms, y: Terms) -> Terms:
        exponent = as_number(y)
        if exponent == 0.5:
            return self._root(x)
        if exponent is None or not exponent.is_integer():
            return self._atom("power", x, y)
        if exponent < 0:
            return self.reciprocal(self._raise(x, number(-exponent)))
        if exponent == 0 or not x:
            return number(0.0 if exponent else 1.0)
        ((m, c),) = self._as_bracket(x).items()
        return {tuple((i, e * exponent) for i, e in m): c**exponent}

    def _if_less(self, low: Terms, high: Terms, x: Form, y: Form) -> Terms:
        difference = self.add(low, negate(high))
        plain = difference.get(ONE, 0.0)
        if as_number(difference) is not None or math.isinf(plain):
            return _defined(x if plain < 0 else y)
        if (chosen := self._choose_by_choice(low, high, x, y)) is not None:
            return chosen
        yes, no = _defined(x), _defined(y)
        return yes if yes == no else self._atom("sel", low, high, yes, no)

    def _choose_by_choice(self, low: Terms, high: Terms, x: Form, y: Form) -> Terms | None:
        """A comparison of a constant with a choice between others, as a clamp makes: the choice decides first.

        Else the difference would be 0 as long as the clamp holds, where no series says to which side it goes on.
        """
        for one, other in ((low, high), (high, low)):
            if len(one) != 1 or not self.is_constant(other):
                continue
            ((monomial, factor),) = one.items()
            if factor != 1.0 or len(monomial) != 1 or monomial[0][1] != 1.0:
                continue
            atom = self.atoms[monomial[0][0]]
            if atom.kind == "sel" and any(map(self.is_constant, atom.parts[2:])):
                sides = [(part, high) if one is low else (low, part) for part in atom.parts[2:]]
                yes, no = (self._decide(*pair, x, y) for pair in sides)
                return self._if_less(atom.parts[0], atom.parts[1], yes, no)
        return None

    def _decide(self, low: Terms, high: Terms, x: Form, y: Form) -> Form:
        """A choice, made now if constants decide it."""
        difference = self.add(low, negate(high))
        if self.is_constant(difference):
            is_less = np.asarray(self.value(difference) < 0)
            if is_less.all() or not is_less.any():
                return x if is_less.all() else y
        try:
            return self._if_less(low, high, x, y)
        except UndefinedError as error:
            return error

    def may_cross_zero(self, terms: Terms) -> bool:
        """Whether a formula may change its sign continuously.

        Constants do not, nor what is made of choices between constants, which jumps where these choices change; nor a
        sum of even powers and roots with factors of one sign, as the square of a length, which at most touches zero.
        """
        split = self.split_constants(terms)
        if all(self._is_piecewise_constant(index) for moving in split for index, _ in moving):
            return False
        signs = {bool(side) for constant in split.values() for side in np.ravel(np.asarray(self.value(constant)) < 0)}
        powers = (exponent for moving in split for _, exponent in moving)
        return len(signs) > 1 or not all(exponent % 2 in (0.0, 0.5, 1.5) for exponent in powers)

    def _is_piecewise_constant(self, index: int) -> bool:
        for i in range(len(self._steady), len(self.atoms)):
            kind, parts, is_constant, _ = self.atoms[i]
            if kind == "sel":
                parts = parts[2:]
            inner = (self._steady[j] for part in parts for monomial in part for j, _ in monomial)
            self._steady.append(is_constant or (kind != "variable" and all(inner)))
        return self._steady[index]

    # Sums and products ----------------------------------------------------------------------------------------------
    def add(self, a: Terms, b: Terms) -> Terms:
        """a + b, or 1 if that is the squared norm of a unit quaternion."""
        terms = dict(a)
        for monomial, factor in b.items():
            _add_term(terms, monomial, factor)
        return number(1.0) if len(terms) == 4 and key_of(terms) in self._ones else terms

    def multiply(self, a: Terms, b: Terms) -> Terms:
        """a b: brackets are multiplied out with constants only."""
        if len(a) != 1:
            a, b = b, a
        if not a or not b:
            return {}
        if len(b) == 1 or (len(a) == 1 and self.is_constant(a)):
            ((m, c),) = a.items()
            return {_multiply_monomials(m, n): c * d for n, d in b.items()}
        return self.multiply(self._as_bracket(a), self._as_bracket(b))

    def reciprocal(self, a: Terms) -> Terms:
        """1 / a"""
        if not (bracket := self._as_bracket(a)):
            raise UndefinedError("division by zero", self._node)
        ((m, c),) = bracket.items()
        return {tuple((i, -e) for i, e in m): 1 / c}

    def _as_bracket(self, a: Terms) -> Terms:
        """As one term: common constant factors times a bracket.  A constant sum with the value 0 is 0."""
        if len(a) < 2:
            return a
        if self.is_constant(a) and not _is_nonzero(self.value(a)):
            return {}
        first = min(a)
        common = tuple(f for f in first if self.atoms[f[0]].is_constant and all(f in other for other in a))
        lead = a[first]
        factor = math.copysign(2.0 ** (math.frexp(abs(lead))[1] - 1), lead)  # a power of two, so exact
        undo = tuple((i, -e) for i, e in common)
        inner = {_multiply_monomials(m, undo): c / factor for m, c in a.items()}
        ((bracket, _),) = self._atom("sum", inner).items()
        return {_multiply_monomials(common, bracket): factor}

    # What formulas are used for -------------------------------------------------------------------------------------
    def value(self, terms: Terms, known: dict[int, Any] | None = None) -> Any:
        """The value of a formula, given the values of its atoms; adds those that it evaluates to `known`."""
        known = self.values if known is None else known
        total: Any = 0.0
        for monomial, factor in terms.items():
            product: Any = factor
            for index, exponent in monomial:
                if index not in known:
                    atom = self.atoms[index]
                    parts = [self.value(part, known) for part in atom.parts]
                    known[index] = parts[0] if atom.kind == "sum" else _FUNCTIONS[atom.kind](*parts)
                product = product * (known[index] if exponent == 1.0 else known[index] ** exponent)
            total = total + product
        return total

    def split_constants(self, terms: Terms) -> dict[Monomial, Terms]:
        """The variable part of each term and its constant coefficient; terms whose coefficient is zero are dropped."""
        grouped: dict[Monomial, Terms] = {}
        for monomial, factor in terms.items():
            constant = tuple(f for f in monomial if self.atoms[f[0]].is_constant)
            moving = tuple(f for f in monomial if not self.atoms[f[0]].is_constant)
            grouped.setdefault(moving, {})[constant] = factor
        return {moving: c for moving, c in sorted(grouped.items()) if _is_nonzero(self.value(c))}

    def expand(self, terms: Terms) -> Terms | None:
        """Multiply out, with q0^2 of unit quaternions eliminated; None if that has too many terms."""
        total: Terms = {}
        for monomial, factor in terms.items():
            product: Terms = {ONE: factor}
            for index, exponent in monomial:
                atom = self.atoms[index]
                if atom.kind == "sum" and exponent > 0 and exponent.is_integer():
                    inner = self.expand(atom.parts[0])
                    if inner is None:
                        return None
                    for _ in range(int(exponent)):
                        product = self._multiply_out(product, inner)
                else:
                    product = self._multiply_out(product, {((index, exponent),): 1.0})
            for m, c in product.items():
                _add_term(total, m, c)
            if len(total) > EXPANDED_TERMS:
                return None
        return total

    def _multiply_out(self, a: Terms, b: Terms) -> Terms:
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

    def count_products(self, formulas: Iterable[Terms]) -> int:
        """The number of products and operations of variables in these formulas; shared ones count once."""
        seen: set[Any] = set()
        opened: set[int] = set()
        waiting = list(formulas)
        while waiting:
            for moving in self.split_constants(waiting.pop()):
                chain: Monomial = ()
                for index, exponent in moving:
                    atom = self.atoms[index]
                    if index not in opened:
                        opened.add(index)
                        waiting += atom.parts
                    if atom.kind in OPERATIONS:
                        seen.add(index)
                    if exponent != 1.0:
                        seen.add((index, exponent))
                    if chain:
                        seen.add(chain + ((index, exponent),))
                    chain += ((index, exponent),)
        return len(seen)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in ("sin", "cos", "tan", "exp", "log")},
    "atan2": np.arctan2,
    "power": operator.pow,
    "sel": lambda a, b, x, y: np.where(a < b, x, y),
}
"""What evaluates operations on constants."""


def number(value: float) -> Terms:
    """A plain number as a formula."""
    return {ONE: value} if value else {}


def as_number(terms: Terms) -> float | None:
    """The plain number that a formula is, if it is one."""
    if not terms:
        return 0.0
    return terms[ONE] if len(terms) == 1 and ONE in terms else None


def key_of(terms: Terms) -> frozenset[Any]:
    """Equal for equal formulas."""
    return frozenset(terms.items())


def index_of(terms: Terms) -> int:
    """The index of the atom that a formula is."""
    ((monomial, _),) = terms.items()
    return monomial[0][0]


def negate(terms: Terms) -> Terms:
    """-a"""
    return {monomial: -factor for monomial, factor in terms.items()}


def _defined(form: Form) -> Terms:
    if isinstance(form, UndefinedError):
        raise form
    return form


def _is_nonzero(value: Any) -> bool:
    return bool(value.any() if getattr(value, "ndim", 0) else value)


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
    if a[-1][0] < b[0][0]:
        return a + b
    powers = dict(a)
    for index, exponent in b:
        powers[index] = powers.get(index, 0.0) + exponent
    return tuple(sorted([factor for factor in powers.items() if factor[1]]))
