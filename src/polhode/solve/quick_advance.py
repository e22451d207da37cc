"""The short way of a stepper: its compiled loop, bound once; an advance writes a few numbers and makes one call."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from functools import partial
from math import isfinite
from typing import Any

import numpy as np

from polhode.equations.right_hand_side import build_view
from polhode.integrate.clocked_steps import ClockedSteps
from polhode.integrate.integrator import FixedSteps, Integrator
from polhode.integrate.loops.clocked import ClockedRun
from polhode.integrate.loops.fixed_steps import FixedRun
from polhode.integrate.loops.layout import KEPT_CLOCK
from polhode.integrate.loops.state_loop import STATE_NUMBERS, StateRun, new_states, state_program
from polhode.ir.program import Program

ROUNDING = 4 * float(np.finfo(float).eps)
"""A number of steps so near to a whole one is that, as in `timeline.locate_on_grid`."""
FEW = 64
"""Numbers that Python sums faster than NumPy."""


def _view(array: Any) -> Any:
    """The numbers of an array, which are read and written faster one by one."""
    return memoryview(array)


def _ready(call: Any, address: int, units: ctypes.c_int64) -> Callable[[], None]:
    """A call of a compiled loop for the first units: arguments that are ready made are passed faster."""
    place = ctypes.cast(call, ctypes.c_void_p).value
    assert place is not None
    untyped = ctypes.CFUNCTYPE(None)(place)
    return partial(untyped, ctypes.c_void_p(address), ctypes.c_int64(0), units)


class QuickAdvance:
    """The compiled loop of one motion, bound once."""

    until = -np.inf
    """Advances that end before this time can go the short way."""

    @staticmethod
    def of(integrator: Integrator) -> QuickAdvance | None:
        """The short way of an integrator, if it has one."""
        if integrator.scenario.events or integrator.scenario.engine != "cpu":
            return None
        if not isinstance(integrator, (ClockedSteps, FixedSteps)):
            return None
        if integrator.scenario.form.keeps_angles:  # its singularity is watched by the integrator
            return None
        return _QuickClocked(integrator) if isinstance(integrator, ClockedSteps) else _QuickFixed(integrator)

    def counts_alike(self, starts: Any, ends: Any) -> bool:  # noqa: ARG002
        """Whether the same number of whole steps leads from each of these times to each of those; False if unknown."""
        return False

    take_steps: Callable[[float, float], None]
    """Make the steps from a to b, whatever becomes of the motion."""
    advance: Callable[[float, float], bool]
    """Advance from a to b; return False if the motion became infinite or NaN, or its step shrank to zero."""

    def _bind(self, integrator: Integrator, run: Any) -> None:
        self._run = run  # the loop knows the addresses of its arrays
        program = integrator.plan.program
        assert isinstance(program, Program)
        numbers, words, call, address = program.bind_words(run)
        self._numbers, self._words, self._kept = _view(numbers), _view(words), call
        self.units = ctypes.c_int64(len(integrator.buffer))
        """How many of the first units go on."""
        self._call = _ready(call, address, self.units)
        self._slots = program.slots(run)
        flat = integrator.buffer.reshape(-1)
        blocks = flat.reshape(-1, integrator.packing.size)
        self._states: Any = blocks[:, : integrator.layout.drift]
        self._row, self._before = _view(flat), _view(flat.copy())
        is_small = len(blocks) == 1 and integrator.layout.drift <= FEW
        self._first = _view(self._states[0]) if is_small else None

    def take_back(self) -> None:
        """Go back to the start of the last advance."""
        self._row[:] = self._before

    def _is_finite(self) -> bool:
        if self._first is not None:
            return isfinite(sum(self._first))
        return isfinite(np.add.reduce(self._states, axis=None))


class _QuickFixed(QuickAdvance):
    def counts_alike(self, starts: Any, ends: Any) -> bool:
        steps = (ends - starts) / self._h
        whole = np.rint(steps)
        rounding = ROUNDING * np.maximum(1.0, np.abs(ends) / self._h)
        return bool((whole == whole[0]).all() and (np.abs(steps - whole) <= rounding).all())

    def __init__(self, integrator: FixedSteps) -> None:
        self._h = integrator.scenario.needed_step
        none = np.empty(0, dtype=np.int64)
        width = integrator.layout.sample_size * (integrator.buffer.shape[1] // integrator.packing.size)
        out = np.empty((0, len(integrator.buffer), width))
        run = FixedRun(integrator.buffer, integrator.pairs, 0.0, self._h, 0, 0, none, np.empty(0), 0, out)
        self._bind(integrator, run)
        at_t, at_h, at_end = (self._slots[name] for name in ("t_start", "h", "k_end"))
        h, row, before, numbers, words, call = self._h, self._row, self._before, self._numbers, self._words, self._call
        first, is_finite = self._first, self._is_finite

        def take_steps(a: float, b: float) -> None:  # a closure: its names are found faster than attributes
            steps = (b - a) / h
            whole = round(steps)
            off, rest = steps - whole, 0.0
            if not -ROUNDING < off < ROUNDING and abs(off) > ROUNDING * max(1.0, abs(b) / h):
                whole = int(steps)
                rest = b - (a + whole * h)
            numbers[at_t] = a
            numbers[at_h] = h
            words[at_end] = whole
            call()
            if rest > 0.0:
                numbers[at_t] = a + whole * h
                numbers[at_h] = rest
                words[at_end] = 1
                call()

        def advance(a: float, b: float) -> bool:
            before[:] = row
            take_steps(a, b)
            if first is None:
                return is_finite()
            total = sum(first)
            return total - total == 0.0  # type: ignore[no-any-return]

        self.take_steps, self.advance = take_steps, advance


class _QuickClocked(QuickAdvance):
    def __init__(self, integrator: ClockedSteps) -> None:
        self._start, log = integrator.scenario.start_time, integrator.event_log
        rtol, atol = integrator.scenario.group_tolerances
        width = integrator.layout.sample_size * (integrator.buffer.shape[1] // integrator.packing.size)
        units = len(integrator.buffer)
        none, done = np.empty(0), np.zeros(units * integrator.slots, dtype=np.int64)
        out, checkpoints = np.empty((0, units, width)), np.empty((0, units, width + KEPT_CLOCK))
        run = ClockedRun(
            integrator.buffer, integrator.pairs, float(self._start), 0.0, True, False, none, rtol, atol, 2**40, done,
            out, checkpoints, *log.fields(),
        )  # fmt: skip
        self._bind(integrator, run)
        at_end, at_t, start = self._slots["end"], integrator.layout.clock.t, float(self._start)
        row, before, numbers, call, is_finite = self._row, self._before, self._numbers, self._call, self._is_finite
        lanes, size = integrator.layout.lanes, integrator.packing.size
        clocks = 1 if integrator.plan.is_system else integrator.scenario.count
        others = [at_t + i // lanes * size + i % lanes for i in range(1, clocks)]

        def take_steps(a: float, b: float) -> None:
            numbers[at_end] = b - start
            call()

        def advance(a: float, b: float) -> bool:
            before[:] = row
            end = b - start
            numbers[at_end] = end
            call()
            if row[at_t] < end:
                return False
            for place in others:
                if row[place] < end:
                    return False
            return is_finite()

        self.take_steps, self.advance = take_steps, advance


class QuickStates:
    """The states of all bodies, read from the memory of the loop by a loop of its own."""

    def __init__(self, integrator: Integrator) -> None:
        scenario, layout, packing = integrator.scenario, integrator.layout, integrator.packing
        view = build_view(scenario.form)
        self._out, self._packing = new_states(integrator.buffer), packing
        program = state_program(view, layout, packing.size, True)
        run = StateRun(integrator.buffer, self._out)
        self._run, (_, self._words, call, address) = run, program.bind_words(run)
        self._call = _ready(call, address, ctypes.c_int64(len(integrator.buffer)))
        self._row = self._out[0, :STATE_NUMBERS] if self._out.shape == (1, packing.size) and layout.lanes == 1 else None

    @classmethod
    def of(cls, integrator: Integrator) -> QuickStates | None:
        """That of an integrator whose numbers lie in a buffer of the CPU, and whose bodies stay what they are."""
        scenario = integrator.scenario
        if not isinstance(integrator, (ClockedSteps, FixedSteps)) or scenario.engine != "cpu":
            return None
        return None if any(part.moves_clock for part in scenario.parts) else cls(integrator)

    def read(self) -> Any:
        """(bodies, 13), or (13,) of a body by itself: x, q, v, w, as the laws give them; the quaternion as it came."""
        self._call()
        if self._row is not None:
            return self._row.copy()
        lanes = self._packing.layout.lanes
        rows = self._out.reshape(-1, self._packing.size)[:, : STATE_NUMBERS * lanes]
        by_body = rows.reshape(self._packing.systems, -1, STATE_NUMBERS, lanes).swapaxes(2, 3)
        each = by_body.reshape(self._packing.systems, -1, STATE_NUMBERS)[:, : self._packing.bodies]
        own = each.reshape(-1, STATE_NUMBERS)
        is_view = np.may_share_memory(own, self._out)  # of the room, which the next call fills
        return own.copy() if is_view else own


class QuickLoads:
    """The numbers of the load on a body in the memory of the loop."""

    is_plain = True
    """Whether the load neither changes in time nor acts at nodes: then twelve numbers are all that changes."""

    def __init__(self, buffer: Any, places: Any) -> None:
        self._row, self._places = _view(buffer), places[:12].tolist()
        self._bytes, self._offset, self._pack = self._row.cast("B"), 8 * self._places[0], None
        if self._places == list(range(self._places[0], self._places[0] + 12)):  # one behind the other
            self._pack = struct.Struct("12d").pack_into

    @classmethod
    def of(cls, integrator: Integrator, first: int) -> list[QuickLoads]:
        """Those of all bodies of an integrator, if it keeps them in a buffer; `first` is the first force."""
        if not isinstance(integrator, (ClockedSteps, FixedSteps)) and not integrator.scenario.is_constrained:
            return []
        flat, bodies = integrator.buffer.reshape(-1), range(len(integrator.scenario.bodies))
        return [cls(flat, integrator.param_places(first + i, i)) for i in bodies]

    def write_numbers(self, numbers: list[float]) -> bool:
        """Write twelve finite numbers; return False, and write nothing, if the load needs a closer look."""
        if not self.is_plain:
            return False
        if self._pack is not None:
            self._pack(self._bytes, self._offset, *numbers)
            return True
        for place, number in zip(self._places, numbers, strict=True):
            self._row[place] = number
        return True

    def write(self, force: Any, torque: Any, force_body: Any, torque_body: Any) -> bool:
        """Write twelve numbers; return False, and write nothing, if they need a closer look."""
        if not self.is_plain:
            return False
        if type(force) is np.ndarray:
            force = force.tolist()
        if type(torque) is np.ndarray:
            torque = torque.tolist()
        if type(force_body) is np.ndarray:
            force_body = force_body.tolist()
        if type(torque_body) is np.ndarray:
            torque_body = torque_body.tolist()
        try:
            a, b, c = force
            d, e, f = torque
            g, h, i = force_body
            j, k, m = torque_body
            total = 0.0 + a + b + c + d + e + f + g + h + i + j + k + m
            if not isinstance(total, float) or total - total != 0.0:
                return False
            if self._pack is not None:
                self._pack(self._bytes, self._offset, a, b, c, d, e, f, g, h, i, j, k, m)
                return True
            row = self._row
            for place, number in zip(self._places, (a, b, c, d, e, f, g, h, i, j, k, m), strict=True):
                row[place] = number
        except (TypeError, ValueError, OverflowError, struct.error):
            return False
        return True
