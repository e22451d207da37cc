"""Code generation for heyoka: symbolic systems to compiled integrators, which are reused for other parameter values."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np

from polhode.engines.heyoka_expressions import SWITCH, SymbolicSystem
from polhode.equations.symbolic import Monomial, Symbol, SymbolTable
from polhode.errors import ScenarioError
from polhode.scenario.scenario import Scenario
from polhode.validation import Array

UNROLLED_LIMIT, UNROLLED_LIMIT_FOR_MANY = 10_000, 100_000
"""With more products, times the order squared, heyoka compiles loops (compact mode) instead of unrolled code: half a
second of compilation instead of several, and steps that take twice as long.  For many members unrolled code pays."""
POOL_SIZE = 64
EVENT_COOLDOWN = 1e-12
"""As a fraction of the duration: heyoka ignores an event for this long after it.  (Its default grows with the
tolerance, and would miss the last bounces of a ball.)"""


def import_heyoka() -> Any:
    """Import heyoka, or raise ScenarioError with instructions to install it."""
    try:
        import heyoka
    except ImportError:
        raise ScenarioError("method='taylor' needs heyoka: pip install 'polhode[taylor]'") from None
    return heyoka


class HeyokaWriter:
    """Translates symbols into heyoka expressions; constants become parameters, numbered as they appear."""

    def __init__(self, system: SymbolicSystem) -> None:
        self.hy: Any = import_heyoka()
        self.table: SymbolTable = system.table
        self.constants: list[Symbol] = []
        self._places: dict[Any, int] = {}
        names = {index: f"y{i}" for i, index in enumerate(system.variables)}
        self._atoms: dict[int, Any] = {i: self.hy.make_vars(name) for i, name in names.items()}
        self._shifts = {switch.atom: switch.shift for switch in system.switches}
        self._products: dict[Monomial, Any] = {}

    def translate(self, symbol: Symbol) -> Any:
        """The heyoka expression of a symbol: a sum of constants times products."""
        terms = [(self._signed(constant), moving) for moving, constant in self.table.split_constants(symbol).items()]
        if not terms:
            return self.hy.expression(0.0)
        shared = terms[0][0][1].key
        if len(terms) > 1 and all(constant.key == shared for (_, constant), _ in terms):
            parts = [self._term(sign, self.table.number(1.0), moving) for (sign, _), moving in terms]
            return self._times(1.0, terms[0][0][1], self.hy.sum(parts))
        parts = [self._term(sign, constant, moving) for (sign, constant), moving in terms]
        return parts[0] if len(parts) == 1 else self.hy.sum(parts)

    def _signed(self, constant: Symbol) -> tuple[float, Symbol]:
        sign = math.copysign(1.0, constant.terms[min(constant.terms)])
        return sign, constant if sign > 0 else -constant

    def _term(self, sign: float, constant: Symbol, moving: Monomial) -> Any:
        if not moving:
            number = constant.as_number
            return self.hy.expression(sign * number) if number is not None else sign * self._parameter(constant)
        return self._times(sign, constant, self._product(moving))

    def _times(self, sign: float, constant: Symbol, expression: Any) -> Any:
        number = constant.as_number
        if number is None:
            return self._parameter(constant if sign > 0 else -constant) * expression
        return (
            expression
            if sign * number == 1.0
            else (-expression if sign * number == -1.0 else sign * number * expression)
        )

    def _parameter(self, constant: Symbol) -> Any:
        place = self._places.setdefault(constant.key, len(self.constants))
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
            atom = self.table.atoms[index]
            parts = [self.translate(part) for part in atom.parts]
            if atom.kind == "variable":
                made = self.hy.time
            elif atom.kind == "sum":
                made = parts[0]
            elif atom.name == "if_less":
                bound = parts[1] + self._parameter(self._shifts[index]) if index in self._shifts else parts[1]
                made = self.hy.select(self.hy.lt(parts[0], bound), parts[2], parts[3])
            elif atom.name == "pow":
                made = parts[0] ** parts[1]
            else:
                made = getattr(self.hy, atom.name)(*parts)
            self._atoms[index] = made
        return self._atoms[index]


class HeyokaEventLog:
    """The callbacks of heyoka's events: they record the time and the state."""

    def __init__(self) -> None:
        self.entries: list[tuple[int, float, Array]] = []

    def of(self, event: int) -> Any:
        return _Entry(self, event)


class _Entry:
    def __init__(self, log: HeyokaEventLog, event: int) -> None:
        self.log, self.event = log, event

    def __call__(self, integrator: Any, time: float, _sign: int) -> None:
        integrator.update_d_output(time)
        self.log.entries.append((self.event, time, integrator.d_output[:-1].copy()))

    def __deepcopy__(self, memo: Any) -> _Entry:
        return self  # heyoka copies callbacks; all copies must append to the same list


@dataclass
class CompiledIntegrator:
    """A compiled integrator, and the constants behind its parameters."""

    integrator: Any
    log: HeyokaEventLog
    constants: list[Symbol]
    recorded: list[int]
    """The events that heyoka only records (non-terminal)..."""
    ending: list[int]
    """... and those at which it stops (terminal)."""
    key: Any
    evaluate: Any
    """With events or switches: (variables, parameters, time) -> the rates and the functions of the events."""


_POOL: OrderedDict[Any, list[tuple[Any, HeyokaEventLog, Any]]] = OrderedDict()
_LOCK = Lock()


ERROR_NORM_FLOOR = 1024.0
"""A constant appended to the state.  heyoka measures errors relative to the largest entry: with this one, and a
tolerance smaller by the same factor, the error is the same, but order and steps are larger, which is faster."""
ROUNDING = 1e-13
"""Below this tolerance rounding dominates, and the appended constant gains nothing."""


def moving_state(integrator: Any, lanes: int) -> Any:
    """The variables of an integrator's state, as a view of it."""
    return integrator.state if lanes else integrator.state[:-1]


def series_order(tolerance: float) -> int:
    """The order that heyoka chooses for a tolerance.  [Jorba and Zou 2005, eq. 11]"""
    return max(2, math.ceil(1 - math.log(tolerance) / 2))


def acquire_integrator(
    scenario: Scenario, system: SymbolicSystem, tolerance: float, lanes: int, unrolled: int = UNROLLED_LIMIT
) -> CompiledIntegrator:
    """Take an integrator from the pool, or compile one."""
    writer = HeyokaWriter(system)
    rates = [writer.translate(rate) for rate in system.rates]
    functions = [writer.translate(value) for _, _, value in system.events]
    events = [None if i == SWITCH else scenario.events[i] for i, _, _ in system.events]
    actions = ["switch" if e is None else e.action for e in events]
    directions = [0 if e is None else e.direction for e in events]
    recorded = [i for i, action in enumerate(actions) if action == "record"]
    ending = [i for i, action in enumerate(actions) if action != "record"]
    anchor = ERROR_NORM_FLOOR if tolerance > ROUNDING and not lanes else 1.0
    order = series_order(tolerance / anchor)
    compact = (
        system.table.count_products([*system.rates, *(value for _, _, value in system.events)]) * order**2 > unrolled
    )
    pause = EVENT_COOLDOWN * scenario.duration if functions else 0.0
    key = (
        tuple(rates),
        tuple(functions),
        tuple(actions),
        tuple(directions),
        pause,
        order,
        anchor,
        lanes,
        compact,
    )
    with _LOCK:
        spare = _POOL.get(key)
        ready = spare.pop() if spare else None
    log = HeyokaEventLog()
    if ready is None:
        hy = writer.hy
        names = hy.make_vars(*(f"y{i}" for i in range(len(rates)))) if len(rates) > 1 else [hy.make_vars("y0")]
        tol = math.exp(-2 * (order - 1)) * (1 + 1e-9)
        shape = (lanes,) if lanes else ()
        settings: dict[str, Any] = {"tol": tol, "compact_mode": compact}
        if functions:
            codes = (hy.event_direction.any, hy.event_direction.positive, hy.event_direction.negative)
            settings["nt_events"] = [
                hy.nt_event(functions[i], log.of(i), direction=codes[directions[i]]) for i in recorded
            ]
            settings["t_events"] = [
                hy.t_event(functions[i], direction=codes[directions[i]], cooldown=pause) for i in ending
            ]
        build = hy.taylor_adaptive_batch if lanes else hy.taylor_adaptive
        start = np.zeros((len(rates), *shape))
        if not lanes:
            names, rates, start = (
                [*names, hy.make_vars("anchor")],
                [*rates, hy.expression(0.0)],
                np.append(start, anchor),
            )
        try:
            integrator = build(
                list(zip(names, rates, strict=True)),
                start,
                pars=np.zeros((len(writer.constants), *shape)),
                **settings,
            )
        except ValueError as error:
            if "constants or parameters" not in str(error):
                raise
            own = ", ".join(e.name for e in events if e is not None)
            raise ScenarioError(f"an event ({own}) does not depend on what moves: it can never happen") from None
        variables = names[: len(system.rates)]
        evaluate = hy.cfunc([*rates[: len(variables)], *functions], variables, batch_size=1) if functions else None
        ready = integrator, log, evaluate
    integrator, log, evaluate = ready
    return CompiledIntegrator(integrator, log, writer.constants, recorded, ending, key, evaluate)


def release_integrator(used: CompiledIntegrator) -> None:
    """Return an integrator to the pool."""
    used.log.entries.clear()
    with _LOCK:
        _POOL.setdefault(used.key, []).append((used.integrator, used.log, used.evaluate))
        _POOL.move_to_end(used.key)
        while len(_POOL) > POOL_SIZE:
            _POOL.popitem(last=False)


def parameter_values(system: SymbolicSystem, constants: Sequence[Symbol], units: Array) -> list[Any]:
    """The values of the parameters, given units (bodies or lanes, groups)."""
    known = system.known(units)
    return [system.table.value(constant, known) for constant in constants]
