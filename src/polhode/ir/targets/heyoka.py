"""Formulas in normal form as expressions of heyoka, whose constants become parameters.

heyoka compares two expressions by walking through both as trees: what is shared is visited once for each path that
leads to it, which for tables beside tables takes longer than anybody waits.  So formulas become a list of instructions
first, in which equal ones are shared; lists are what is compared, and only a new one becomes expressions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from polhode.errors import ScenarioError
from polhode.installation import install_hint
from polhode.ir.normal_form import ONE, Monomial, NormalForm, Terms, as_number, key_of, negate, number
from polhode.ir.operations import OPERATIONS


def import_heyoka() -> Any:
    """Import heyoka, or raise ScenarioError with instructions to install it."""
    try:
        import heyoka
    except ImportError:
        raise ScenarioError(f"method='taylor' needs heyoka: {install_hint('taylor')}") from None
    return heyoka


class HeyokaWriter:
    """Translates formulas into instructions of heyoka; constants become parameters, numbered as they appear."""

    def __init__(self, form: NormalForm, variables: Sequence[int], time: int, shifts: Mapping[int, Terms]) -> None:
        """`variables` and `time` are atoms; the shifts are added to the bounds of choices, by the choices' atoms."""
        self.constants: list[Terms] = []
        self.instructions: list[tuple[Any, ...]] = []
        """(name, operands): operands are places in this list, and numbers."""
        self._form, self._shifts = form, shifts
        self._places: dict[Any, int] = {}
        self._seen: dict[tuple[Any, ...], int] = {}
        self._atoms: dict[int, int] = {index: self._add("variable", i) for i, index in enumerate(variables)}
        self._atoms[time] = self._add("time")
        self._products: dict[Monomial, int] = {}

    def build(self) -> list[Any]:
        """The expression of each instruction."""
        hy: Any = import_heyoka()
        built: list[Any] = []
        for name, *operands in self.instructions:
            built.append(_BUILDERS[name](hy, built, *operands))
        return built

    def translate(self, formula: Terms) -> int:
        """The instruction that gives the value of a formula: a sum of constants times products."""
        split = self._form.split_constants(formula)
        if not split:
            return self._number(0.0)
        terms = [(*_signed(constant), moving) for moving, constant in split.items()]
        first = terms[0][1]
        if len(terms) > 1 and all(constant == first for _, constant, _ in terms):
            parts = [self._term(sign, number(1.0), moving) for sign, _, moving in terms]
            return self._times(1.0, first, self._add("sum", *parts))
        parts = [self._term(sign, constant, moving) for sign, constant, moving in terms]
        return parts[0] if len(parts) == 1 else self._add("sum", *parts)

    def _add(self, *instruction: Any) -> int:
        place = self._seen.setdefault(instruction, len(self.instructions))
        if place == len(self.instructions):
            self.instructions.append(instruction)
        return place

    def _number(self, value: float) -> int:
        return self._add("number", repr(value))  # NaN and -0.0 are numbers like others

    def _term(self, sign: float, constant: Terms, moving: Monomial) -> int:
        if moving != ONE:
            return self._times(sign, constant, self._product(moving))
        plain = as_number(constant)
        return self._number(sign * plain) if plain is not None else self._add("scale", sign, self._parameter(constant))

    def _times(self, sign: float, constant: Terms, expression: int) -> int:
        plain = as_number(constant)
        if plain is None:
            return self._add("mul", self._parameter(constant if sign > 0 else negate(constant)), expression)
        factor = sign * plain
        if factor == 1.0:
            return expression
        return self._add("neg", expression) if factor == -1.0 else self._add("scale", factor, expression)

    def _parameter(self, constant: Terms) -> int:
        place = self._places.setdefault(key_of(constant), len(self.constants))
        if place == len(self.constants):
            self.constants.append(constant)
        return self._add("parameter", place)

    def _product(self, moving: Monomial) -> int:
        if moving not in self._products:
            *before, (index, exponent) = moving
            last = self._atom(index)
            if not before:
                made = self._power(last, exponent)
            elif exponent == -1.0:
                made = self._add("div", self._product(tuple(before)), last)
            else:
                made = self._add("mul", self._product(tuple(before)), self._power(last, exponent))
            self._products[moving] = made
        return self._products[moving]

    def _power(self, base: int, exponent: float) -> int:
        if exponent == 1.0:
            return base
        if exponent == 0.5:
            return self._add("call", "sqrt", base)
        if exponent > 2 and exponent.is_integer():
            return self._add("mul", self._power(base, exponent - 1), base)
        return self._add("power of number", base, exponent)

    def _atom(self, index: int) -> int:
        if index not in self._atoms:
            kind = self._form.atoms[index].kind
            parts = [self.translate(part) for part in self._form.atoms[index].parts]
            if kind == "sum":
                made = parts[0]
            elif kind == "sel":
                if index in self._shifts:
                    parts[1] = self._add("add", parts[1], self._parameter(self._shifts[index]))
                made = self._add("sel", *parts)
            elif kind == "power":
                made = self._add("power", *parts)
            else:
                made = self._add("call", OPERATIONS[kind].heyoka, *parts)
            self._atoms[index] = made
        return self._atoms[index]


_BUILDERS: dict[str, Callable[..., Any]] = {
    "variable": lambda hy, built, i: hy.make_vars(f"y{i}"),
    "time": lambda hy, built: hy.time,
    "parameter": lambda hy, built, place: hy.par[place],
    "number": lambda hy, built, text: hy.expression(float(text)),
    "add": lambda hy, built, a, b: built[a] + built[b],
    "mul": lambda hy, built, a, b: built[a] * built[b],
    "div": lambda hy, built, a, b: built[a] / built[b],
    "neg": lambda hy, built, a: -built[a],
    "scale": lambda hy, built, factor, a: factor * built[a],
    "sum": lambda hy, built, *parts: hy.sum([built[part] for part in parts]),
    "power": lambda hy, built, a, b: built[a] ** built[b],
    "power of number": lambda hy, built, a, exponent: built[a] ** exponent,
    "sel": lambda hy, built, a, b, x, y: hy.select(hy.lt(built[a], built[b]), built[x], built[y]),
    "call": lambda hy, built, name, *parts: getattr(hy, name)(*[built[part] for part in parts]),
}
"""(heyoka, what is built already, operands) -> the expression of an instruction."""


def _signed(constant: Terms) -> tuple[float, Terms]:
    sign = math.copysign(1.0, constant[min(constant)])
    return sign, constant if sign > 0 else negate(constant)
