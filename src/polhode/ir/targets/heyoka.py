"""Formulas in normal form as expressions of heyoka, whose constants become parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from polhode.errors import ScenarioError
from polhode.ir.normal_form import ONE, Monomial, NormalForm, Terms, as_number, key_of, negate, number
from polhode.ir.operations import OPERATIONS


def import_heyoka() -> Any:
    """Import heyoka, or raise ScenarioError with instructions to install it."""
    try:
        import heyoka
    except ImportError:
        raise ScenarioError("method='taylor' needs heyoka: pip install 'polhode[taylor]'") from None
    return heyoka


class HeyokaWriter:
    """Translates formulas into heyoka expressions; constants become parameters, numbered as they appear."""

    def __init__(self, form: NormalForm, variables: Sequence[int], time: int, shifts: Mapping[int, Terms]) -> None:
        """`variables` and `time` are atoms; the shifts are added to the bounds of choices, by the choices' atoms."""
        self.hy: Any = import_heyoka()
        self.constants: list[Terms] = []
        self._form, self._shifts = form, shifts
        self._places: dict[Any, int] = {}
        self._atoms: dict[int, Any] = {index: self.hy.make_vars(f"y{i}") for i, index in enumerate(variables)}
        self._atoms[time] = self.hy.time
        self._products: dict[Monomial, Any] = {}

    def translate(self, formula: Terms) -> Any:
        """The heyoka expression of a formula: a sum of constants times products."""
        split = self._form.split_constants(formula)
        if not split:
            return self.hy.expression(0.0)
        terms = [(*_signed(constant), moving) for moving, constant in split.items()]
        first = terms[0][1]
        if len(terms) > 1 and all(constant == first for _, constant, _ in terms):
            parts = [self._term(sign, number(1.0), moving) for sign, _, moving in terms]
            return self._times(1.0, first, self.hy.sum(parts))
        parts = [self._term(sign, constant, moving) for sign, constant, moving in terms]
        return parts[0] if len(parts) == 1 else self.hy.sum(parts)

    def _term(self, sign: float, constant: Terms, moving: Monomial) -> Any:
        if moving != ONE:
            return self._times(sign, constant, self._product(moving))
        plain = as_number(constant)
        return self.hy.expression(sign * plain) if plain is not None else sign * self._parameter(constant)

    def _times(self, sign: float, constant: Terms, expression: Any) -> Any:
        plain = as_number(constant)
        if plain is None:
            return self._parameter(constant if sign > 0 else negate(constant)) * expression
        factor = sign * plain
        return expression if factor == 1.0 else -expression if factor == -1.0 else factor * expression

    def _parameter(self, constant: Terms) -> Any:
        place = self._places.setdefault(key_of(constant), len(self.constants))
        if place == len(self.constants):
            self.constants.append(constant)
        return self.hy.par[place]

    def _product(self, moving: Monomial) -> Any:
        if moving not in self._products:
            *before, (index, exponent) = moving
            last = self._atom(index)
            if not before:
                made = self._power(last, exponent)
            elif exponent == -1.0:
                made = self._product(tuple(before)) / last
            else:
                made = self._product(tuple(before)) * self._power(last, exponent)
            self._products[moving] = made
        return self._products[moving]

    def _power(self, base: Any, exponent: float) -> Any:
        if exponent == 1.0:
            return base
        if exponent == 0.5:
            return self.hy.sqrt(base)
        if exponent > 2 and exponent.is_integer():
            return self._power(base, exponent - 1) * base
        return base**exponent

    def _atom(self, index: int) -> Any:
        if index not in self._atoms:
            kind = self._form.atoms[index].kind
            parts = [self.translate(part) for part in self._form.atoms[index].parts]
            if kind == "sum":
                made = parts[0]
            elif kind == "sel":
                bound = parts[1] + self._parameter(self._shifts[index]) if index in self._shifts else parts[1]
                made = self.hy.select(self.hy.lt(parts[0], bound), parts[2], parts[3])
            elif kind == "power":
                made = parts[0] ** parts[1]
            else:
                made = getattr(self.hy, OPERATIONS[kind].heyoka)(*parts)
            self._atoms[index] = made
        return self._atoms[index]


def _signed(constant: Terms) -> tuple[float, Terms]:
    sign = math.copysign(1.0, constant[min(constant)])
    return sign, constant if sign > 0 else negate(constant)
