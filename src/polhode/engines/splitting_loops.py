"""Kernels of splitting methods for interacting bodies: all are kicked, then all drift."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.engines.kernels import Layout, Loop, loop, read, unpack_constants, use_wide_vectors, write
from polhode.methods.splitting_tableaus import Composition


def system_drift(drift: Loop, layout: Layout) -> Loop:
    """The free motion of every body of a system."""
    lanes, size, state, body = layout.lanes, layout.size, layout.state, layout.body

    @loop
    def drift_all(unit: Any, h: float) -> None:
        use_wide_vectors()
        for block in range(len(unit) // size):
            for lane in range(lanes):
                at = block * size + lane
                write(unit, at, state, drift(read(unit, at, state), h, unpack_constants(read(unit, at, body))))

    return drift_all


def splitting_sweep(composition: Composition, kick: Loop, drift_all: Loop, accept_step: Loop) -> Loop:
    """One step of all bodies of a system."""
    first, count = composition.kicks[0], len(composition.drifts)
    drifts, kicks = np.array(composition.drifts), np.array(composition.kicks[1:])

    @loop
    def sweep(unit: Any, pairs: Any, t: float, h: float) -> None:
        kick(unit, pairs, t, first * h)
        now = t
        for i in range(count):
            drift_all(unit, drifts[i] * h)
            now = now + drifts[i] * h
            kick(unit, pairs, now, kicks[i] * h)
        accept_step(unit, h)

    return sweep
