"""The inner loops, as plain functions: the CPU engine compiles them, the Python engine runs them as they stand.

Everything that a unit of bodies needs lies in one flat array.  It is cut into blocks; a block holds, number by number,
that number of each of its bodies (its lanes).  State and constants share the array, at distances that the compiler
knows, so that it can see that nothing overlaps and treat the lanes as vectors.  A unit is what must advance together:
one block of independent bodies, or all the blocks of a system.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from polhode.equations.inertia import BodyConstants
from polhode.equations.law import Groups, Law, law
from polhode.equations.scalar_ops import larger

LOOPS: list[Callable[..., Any]] = []
"""The functions below that hold a loop: compiled each by itself, where a law is dissolved into its caller."""


def loop(function: Law) -> Law:
    """List `function` among the loops and hand it back unchanged."""
    LOOPS.append(function)
    return function


class Layout(NamedTuple):
    """Where a block holds which number of its first body; the next body's stands one further.

    The numbers that are kept at output come first: the state, then the watched one.
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
    """Of an adaptive method: errors of position, attitude, momentum and spin too small to matter for this body."""
    clock: Groups
    """Where an adaptive method keeps (t, h, whether the last attempt was refused, attempts accepted, refused)."""
    carried: int
    """Where the numbers end that belong to a body; what follows is room to compute in."""
    trial: Groups
    """Where an adaptive method puts the state that it may accept."""
    point: Groups
    """Where a system keeps the stage at which its bodies feel each other."""
    wrench: Groups
    slopes: Groups
    """Where a system keeps the slopes of all stages, and a body alone those from which a curve is made."""
    curve: Groups
    """Where the curve between the ends of a step is put: over slopes, if nobody needs them afterwards."""
    attempt: Groups
    """Where an adaptive method puts the step that it has tried, and the error."""
    size: int


def read(unit: Any, at: int, places: Any) -> Any:
    """The numbers of one body that a nested tuple of places names, in the same nesting."""
    if isinstance(places, tuple):
        return tuple(read(unit, at, place) for place in places)
    return unit[places + at]


def write(unit: Any, at: int, places: Any, values: Any) -> None:
    """Put numbers back where `read` finds them."""
    if isinstance(places, tuple):
        for place, value in zip(places, values, strict=True):
            write(unit, at, place, value)
    else:
        unit[places + at] = values


def use_wide_vectors() -> None:
    """A mark for the compiler: prefer 512-bit vectors in the function that calls this."""


@law
def unpack_constants(c: Groups) -> BodyConstants:
    """The constants of a body from the buffer's plain tuple."""
    return BodyConstants(c[0], c[1], c[2], c[3], c[4], c[5])


Loop = Callable[..., Any]


def independent_sweep(step: Loop, tidy: Loop, layout: Layout) -> Loop:
    """One step of every body in a unit of one block, none of which feels another."""
    lanes, state, body, params, drift_at = layout.lanes, layout.state, layout.body, layout.params, layout.drift

    @loop
    def sweep(unit: Any, pairs: Any, t: float, h: float) -> None:
        use_wide_vectors()
        for lane in range(lanes):
            y = read(unit, lane, state)
            y = step(t, y, h, (unpack_constants(read(unit, lane, body)), read(unit, lane, params)))
            renormalized, drift = tidy(y[:4], h)
            write(unit, lane, state, renormalized + y[4:])
            unit[drift_at + lane] = larger(unit[drift_at + lane], drift)

    return sweep


def build_acceptance(tidy: Loop, layout: Layout, reached: Groups) -> Loop:
    """Accept what a step of every body in a unit has reached: it becomes the state, renormalized."""
    lanes, size, state, drift_at = layout.lanes, layout.size, layout.state, layout.drift

    @loop
    def settle(unit: Any, h: float) -> None:
        for block in range(len(unit) // size):
            for lane in range(lanes):
                at = block * size + lane
                y = read(unit, at, reached)
                renormalized, drift = tidy(y[:4], h)
                write(unit, at, state, renormalized + y[4:])
                unit[drift_at + at] = larger(unit[drift_at + at], drift)

    return settle


def fixed_steps(sweep: Loop, layout: Layout, tag: str) -> Loop:
    """Advance units from step k to step k_end, writing out at the stops on the way."""
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
        """A stop is a step number and a rest: the output lies `rest` beyond that step, reached by a step aside."""
        _ = tag
        for u in range(first, last):
            unit = buffer[u]
            s = stop
            for now in range(k, k_end + 1):
                while s < len(stop_k) and stop_k[s] == now:
                    shown = unit
                    if stop_rest[s] > 0.0:
                        shown = unit.copy()
                        sweep(shown, pairs, t_start + now * h, stop_rest[s])
                    for block in range(len(unit) // size):
                        for i in range(sample_size):
                            out[s, u, block * sample_size + i] = shown[block * size + i]
                        for i in range(lanes):
                            unit[block * size + drift_at + i] = 0.0
                    s += 1
                if now < k_end:
                    sweep(unit, pairs, t_start + now * h, h)

    return advance
