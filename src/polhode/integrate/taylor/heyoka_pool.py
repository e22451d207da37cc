"""Compiled integrators of heyoka, which are reused for other values of their parameters."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from threading import Lock, Thread
from typing import Any

import numpy as np

from polhode.errors import ScenarioError
from polhode.integrate.taylor.heyoka_equations import SWITCH, SegmentEquations
from polhode.ir.normal_form import Terms
from polhode.ir.targets.heyoka import HeyokaWriter, import_heyoka
from polhode.scenario.scenario import Scenario
from polhode.validation import Array

UNROLLED_LIMIT, UNROLLED_LIMIT_FOR_MANY = 10_000, 100_000
"""With more products, times the order squared, heyoka compiles loops (compact mode) instead of unrolled code: half a
second of compilation instead of several, and steps that take twice as long.  For many members unrolled code pays."""
POOL_SIZE = 64
EVENT_COOLDOWN = 1e-12
"""As a fraction of the duration: heyoka ignores an event for this long after it.  (Its default grows with the
tolerance, and would miss the last bounces of a ball.)"""


class EventRecorder:
    """A callback of heyoka's: it appends the event, the time and the state to a list."""

    def __init__(self, log: list[tuple[int, float, Array]], event: int) -> None:
        self.log, self.event = log, event

    def __call__(self, integrator: Any, time: float, _sign: int) -> None:
        integrator.update_d_output(time)
        self.log.append((self.event, time, integrator.d_output[:-1].copy()))

    def __deepcopy__(self, memo: Any) -> EventRecorder:
        return self  # heyoka copies callbacks; all copies must append to the same list


@dataclass
class CompiledIntegrator:
    """A compiled integrator, and the constants behind its parameters."""

    integrator: Any
    log: list[tuple[int, float, Array]]
    """The recorded events: (event, time, state)."""
    evaluate: Any
    """With events or switches: (variables, parameters, time) -> the rates and the functions of the events."""
    constants: list[Terms]
    recorded: list[int]
    """The events that heyoka only records (non-terminal)..."""
    ending: list[int]
    """... and those at which it stops (terminal)."""
    key: Any


_POOL: OrderedDict[Any, list[CompiledIntegrator]] = OrderedDict()
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
    scenario: Scenario, system: SegmentEquations, tolerance: float, lanes: int, unrolled: int = UNROLLED_LIMIT
) -> CompiledIntegrator:
    """Take an integrator from the pool, or compile one."""
    writer = HeyokaWriter(system.form, system.variables, system.time, system.shifts)
    formulas = [*system.rates, *(value for _, _, value in system.events)]
    places = [writer.translate(formula) for formula in formulas]
    events = [None if i == SWITCH else scenario.events[i] for i, _, _ in system.events]
    actions = ["switch" if e is None else e.action for e in events]
    directions = [0 if e is None else e.direction for e in events]
    recorded = [i for i, action in enumerate(actions) if action == "record"]
    ending = [i for i, action in enumerate(actions) if action != "record"]
    anchor = ERROR_NORM_FLOOR if tolerance > ROUNDING and not lanes else 1.0
    order = series_order(tolerance / anchor)
    products = system.form.count_products(formulas)
    compact = products * order**2 > unrolled
    pause = EVENT_COOLDOWN * scenario.duration if events else 0.0
    how = (len(system.rates), tuple(actions), tuple(directions), pause, order, anchor, lanes, compact)
    key = (tuple(writer.instructions), tuple(places), *how)
    with _LOCK:
        spare = _POOL.get(key)
        ready = spare.pop() if spare else None
    if ready is not None:
        return replace(ready, constants=writer.constants[: len(ready.constants)])
    hy: Any = import_heyoka()
    log: list[tuple[int, float, Array]] = []
    built = writer.build()
    expressions = [built[place] for place in places]
    rates, functions = expressions[: len(system.rates)], expressions[len(system.rates) :]
    constants = writer.constants[: _count_parameters(expressions)]
    settings: dict[str, Any] = {"tol": math.exp(-2 * (order - 1)) * (1 + 1e-9), "compact_mode": compact}
    # A factor for each: heyoka takes the functions into the norm of its errors, where large ones would hide the rest.
    scaled = [hy.par[len(constants) + i] * function for i, function in enumerate(functions)]
    if functions:
        codes = (hy.event_direction.any, hy.event_direction.positive, hy.event_direction.negative)
        settings["nt_events"] = [
            hy.nt_event(scaled[i], EventRecorder(log, i), direction=codes[directions[i]]) for i in recorded
        ]
        settings["t_events"] = [hy.t_event(scaled[i], direction=codes[directions[i]], cooldown=pause) for i in ending]
    variables = [hy.make_vars(f"y{i}") for i in range(len(rates))]
    equations, shape = list(zip(variables, rates, strict=True)), (lanes,) if lanes else ()
    start, pars = np.zeros((len(rates), *shape)), np.zeros((len(constants) + len(functions), *shape))
    if not lanes:
        equations, start = [*equations, (hy.make_vars("anchor"), hy.expression(0.0))], np.append(start, anchor)
    build = hy.taylor_adaptive_batch if lanes else hy.taylor_adaptive
    try:
        integrator = _compile(build, equations, start, pars=pars, **settings)
    except ValueError as error:
        if "constants or parameters" not in str(error):
            raise
        own = ", ".join(e.name for e in events if e is not None)
        raise ScenarioError(f"an event ({own}) does not depend on what moves: it can never happen") from None
    evaluate = None
    if functions:
        evaluate = _compile(hy.cfunc, [*rates, *functions], variables, batch_size=1, compact_mode=compact)
    return CompiledIntegrator(integrator, log, evaluate, constants, recorded, ending, key)


def _compile(build: Callable[..., Any], *given: Any, **settings: Any) -> Any:
    """What heyoka compiles, in a thread of its own: this one waits, and an interrupt ends the wait at once."""
    made: Future[Any] = Future()

    def work() -> None:
        try:
            made.set_result(build(*given, **settings))
        except BaseException as error:
            made.set_exception(error)

    Thread(target=work).start()
    return made.result()


def _count_parameters(expressions: list[Any]) -> int:
    """How many parameters are left: heyoka drops a term whose variable factors cancel, and its constant with it."""
    places = [int(str(each).removeprefix("p")) for each in import_heyoka().get_params(expressions)]
    return max(places, default=-1) + 1


def release_integrator(used: CompiledIntegrator) -> None:
    """Return an integrator to the pool."""
    used.log.clear()
    with _LOCK:
        _POOL.setdefault(used.key, []).append(used)
        _POOL.move_to_end(used.key)
        while len(_POOL) > POOL_SIZE:
            _POOL.popitem(last=False)


def parameter_values(system: SegmentEquations, constants: Sequence[Terms], units: Array) -> list[Any]:
    """The values of the parameters, given units (bodies or lanes, groups)."""
    known = system.known(units)
    return [system.form.value(constant, known) for constant in constants]
