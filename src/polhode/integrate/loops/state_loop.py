"""The loop that reads states: what a user calls the state of a body, from the memory of a run, for all its bodies."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from polhode.integrate.loops.layout import Layout, assign_places, read, read_constants, write
from polhode.ir.loops import Loop, Sweep, loop
from polhode.ir.program import Program

STATE_NUMBERS = 13
"""Position, quaternion (w, x, y, z) of the body's own axes, velocity, angular velocity in these axes."""
_SHAPE = (0,) * 3, (0,) * 4, (0,) * 3, (0,) * 3


class StateRun(NamedTuple):
    """What the loop takes: the buffer of a run, and room for states in blocks of the same size."""

    buffer: Any
    out: Any


@lru_cache(maxsize=64)
def state_program(view: Any, layout: Layout, size: int, is_compiled: bool) -> Program:
    """The loop for bodies of one layout, in blocks of `size` numbers; `view` is the law of their formulation."""
    places, _ = assign_places(_SHAPE, 0, layout.lanes)

    def one_body(unit: Any, at: Any, out: Any) -> None:
        state = view(read(unit, at, layout.state), read_constants(unit, at, layout))
        write(out, at, places, (state.position, state.orientation, state.velocity, state.angular_velocity_body))

    return Program(_over_units(Sweep(one_body, layout.lanes, size)), is_compiled, None)


def _over_units(sweep: Sweep) -> Loop:
    @loop
    def read_states(run: StateRun, first: int, last: int) -> None:
        for u in range(first, last):
            sweep(run.buffer[u], run.out[u])

    return read_states


def new_states(buffer: Any) -> Any:
    """Room for the states of a buffer."""
    return np.zeros(buffer.shape)
