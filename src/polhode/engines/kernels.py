"""The kernels (inner loops) as plain functions, which the CPU engine compiles and the Python engine interprets.

All numbers of a unit of bodies are in one flat array, divided into blocks; a block is a structure of arrays, with one
lane for each of its bodies.  State and constants share the array, at offsets known at compile time, so that the
compiler can prove that nothing overlaps and vectorize over the lanes.  A unit advances together: one block of
independent bodies, or all the blocks of a system.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from polhode.equations.inertia import BodyConstants
from polhode.equations.law import Groups, Law, law
from polhode.equations.scalar_ops import larger

LOOPS: list[Callable[..., Any]] = []
"""The functions that contain a loop: compiled separately, while laws are inlined into their callers."""


def loop(function: Law) -> Law:
    """Register a function as a loop; return it unchanged."""
    LOOPS.append(function)
    return function


class Layout(NamedTuple):
    """The memory layout of a block: the offset of each number of its first body; the other lanes follow at stride 1.

    The columns of a sample come first: the state, then the attitude drift.
    """

    lanes: int
    state: Groups
    drift: int
    sample_size: int
    body: Groups
    params: Groups
    event_params: Groups
    """The parameters of the events."""
    least: Groups
    """Of an adaptive method: the error floor of position, attitude, momentum and spin for this body."""
    clock: Groups
    """Of an adaptive method: (t, h, whether the last attempt was rejected, attempts accepted, attempts rejected)."""
    carried: int
    """The end of the numbers that belong to a body; the rest is workspace."""
    trial: Groups
    """Of an adaptive method: the state after the step that was tried."""
    point: Groups
    """Of a system: the states at the current stage."""
    wrench: Groups
    slopes: Groups
    """Of a system: the slopes of all stages; of a body alone: those that dense output needs."""
    curve: Groups
    """The coefficients of the interpolant; may overlap slopes that are no longer needed."""
    attempt: Groups
    """Of an adaptive method: the length of the step that was tried, and its error."""
    size: int


def read(unit: Any, at: int, places: Any) -> Any:
    """Read the numbers of one body at a nested tuple of offsets, in the same nesting."""
    if isinstance(places, tuple):
        return tuple(read(unit, at, place) for place in places)
    return unit[places + at]


def write(unit: Any, at: int, places: Any, values: Any) -> None:
    """Write numbers where `read` finds them."""
    if isinstance(places, tuple):
        for place, value in zip(places, values, strict=True):
            write(unit, at, place, value)
    else:
        unit[places + at] = values


def use_wide_vectors() -> None:
    """A hint to the compiler: prefer 512-bit vectors in the calling function."""


@law
def unpack_constants(c: Groups) -> BodyConstants:
    """The constants of a body from the plain tuple in the buffer."""
    return BodyConstants(c[0], c[1], c[2], c[3], c[4], c[5], c[6])


Loop = Callable[..., Any]


def independent_sweep(step: Loop, renormalize: Loop, layout: Layout) -> Loop:
    """One step of every body in a block of independent bodies."""
    lanes, state, body, params, drift_at = layout.lanes, layout.state, layout.body, layout.params, layout.drift

    @loop
    def sweep(unit: Any, pairs: Any, t: float, h: float) -> None:
        use_wide_vectors()
        for lane in range(lanes):
            y = read(unit, lane, state)
            y = step(t, y, h, (unpack_constants(read(unit, lane, body)), read(unit, lane, params)))
            renormalized, drift = renormalize(y[:4], h)
            write(unit, lane, state, renormalized + y[4:])
            unit[drift_at + lane] = larger(unit[drift_at + lane], drift)

    return sweep


def build_acceptance(renormalize: Loop, layout: Layout, reached: Groups) -> Loop:
    """Accept the step of every body in a unit: the state at `reached`, renormalized, becomes the state."""
    lanes, size, state, drift_at = layout.lanes, layout.size, layout.state, layout.drift

    @loop
    def accept_step(unit: Any, h: float) -> None:
        for block in range(len(unit) // size):
            for lane in range(lanes):
                at = block * size + lane
                y = read(unit, at, reached)
                renormalized, drift = renormalize(y[:4], h)
                write(unit, at, state, renormalized + y[4:])
                unit[drift_at + at] = larger(unit[drift_at + at], drift)

    return accept_step


def fixed_steps(sweep: Loop, layout: Layout, tag: str) -> Loop:
    """Advance units from step k to step k_end, writing samples at the stops on the way."""
    size, sample_size, drift_at, lanes = layout.size, layout.sample_size, layout.drift, layout.lanes

    def advance(
        buffer: Any,
        pairs: Any,
        first: int,
        last: int,
        t_start: float,
        h: float,
        k: int,
        k_end: int,
        stop_k: Any,
        stop_rest: Any,
        stop: int,
        out: Any,
    ) -> None:
        """A stop is a step number and a remainder: an output off the grid is reached by a shorter step on a copy."""
        _ = tag
        for u in range(first, last):
            unit = buffer[u]
            s = stop
            for now in range(k, k_end + 1):
                while s < len(stop_k) and stop_k[s] == now:
                    sampled = unit
                    if stop_rest[s] > 0.0:
                        sampled = unit.copy()
                        sweep(sampled, pairs, t_start + now * h, stop_rest[s])
                    for block in range(len(unit) // size):
                        for i in range(sample_size):
                            out[s, u, block * sample_size + i] = sampled[block * size + i]
                        for i in range(lanes):
                            unit[block * size + drift_at + i] = 0.0
                    s += 1
                if now < k_end:
                    sweep(unit, pairs, t_start + now * h, h)

    return advance
