"""The kernel of the closed form: evaluates the state at any time without changing the initial state."""

from __future__ import annotations

from typing import Any

from polhode.engines.kernels import Layout, Loop, loop, read, unpack_constants, use_wide_vectors, write


def build_exact_kernel(free_motion: Loop, renormalize: Loop, layout: Layout, tag: str) -> Loop:
    """Write the samples of units at any times, from their states at t_start."""
    lanes, state, drift_at, body, params = layout.lanes, layout.state, layout.drift, layout.body, layout.params
    trial, trial_at = layout.trial, layout.trial[0][0]

    @loop
    def evaluate(unit: Any, t: float, h: float) -> None:
        use_wide_vectors()
        for lane in range(lanes):
            y = read(unit, lane, state)
            y = free_motion(t, y, h, (unpack_constants(read(unit, lane, body)), read(unit, lane, params)))
            renormalized, drift = renormalize(y[:4], h)
            write(unit, lane, trial, renormalized + y[4:])
            unit[drift_at + lane] = drift

    def advance(buffer: Any, first: int, last: int, t_start: float, times: Any, out: Any) -> None:
        """Write the samples at each time, unit by unit, to `out`."""
        _ = tag
        for u in range(first, last):
            unit = buffer[u]
            for s in range(len(times)):
                evaluate(unit, t_start, times[s] - t_start)
                for i in range(drift_at):
                    out[s, u, i] = unit[trial_at + i]
                for i in range(drift_at, drift_at + lanes):
                    out[s, u, i] = unit[i]

    return advance
