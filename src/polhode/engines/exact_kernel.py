"""The inner loop of the closed form: a look at the state at any time, which leaves the start as it is."""

from __future__ import annotations

from typing import Any

from polhode.engines.kernels import Layout, Loop, constants, loop, read, use_wide_vectors, write


def looks(moved: Loop, tidy: Loop, layout: Layout, tag: str) -> Loop:
    """Put out the states of units at any times, from their states at t_start."""
    lanes, state, watch, body, params = layout.lanes, layout.state, layout.watch, layout.body, layout.params
    trial, shown = layout.trial, layout.trial[0][0]

    @loop
    def look(unit: Any, t: float, h: float) -> None:
        use_wide_vectors()
        for lane in range(lanes):
            y = read(unit, lane, state)
            y = moved(t, y, h, (constants(read(unit, lane, body)), read(unit, lane, params)))
            tidied, watched = tidy(y[:4], h)
            write(unit, lane, trial, tidied + y[4:])
            unit[watch + lane] = watched

    def advance(buffer: Any, first: int, last: int, t_start: float, times: Any, out: Any) -> None:
        """The numbers kept at each time, unit by unit, in `out`."""
        _ = tag
        for u in range(first, last):
            unit = buffer[u]
            for s in range(len(times)):
                look(unit, t_start, times[s] - t_start)
                for i in range(watch):
                    out[s, u, i] = unit[shown + i]
                for i in range(watch, watch + lanes):
                    out[s, u, i] = unit[i]

    return advance
