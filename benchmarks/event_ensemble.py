"""Ten thousand stones that land, each at its own time: an ensemble with an event that stops its members."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

import polhode as ph

ALONE = 20
"""So many stones are also run one by one."""


@ph.event
def ground(t: Any, state: Any, body: Any, params: Any) -> Any:
    """The height above the ground."""
    return state.position[2]


def measure_landings(stones: int, repeats: int) -> dict[str, Any]:
    """Seconds for all stones on one thread, and one by one, per stone; and whether both have the same bits."""
    rng = np.random.default_rng(0)
    velocity = np.array([3.0, 0.0, 8.0]) + rng.normal(size=(stones, 3))
    spin = rng.normal(size=(stones, 3))
    body, forces = ph.Body(0.4, (1e-3, 1.2e-3, 1.5e-3)), [ph.forces.gravity(), ph.forces.quadratic_drag(0.01)]
    settings: dict[str, Any] = {"duration": 5.0, "method": "dop853", "output_times": [5.0], "threads": 1}

    def throw(chosen: Any) -> ph.State:
        return ph.State(position=(0.0, 0.0, 1.5), velocity=velocity[chosen], angular_velocity_body=spin[chosen])

    def together() -> Any:
        events = [ground(action="stop", direction=-1)]
        return ph.ensemble(body, throw(slice(None)), forces, events=events, **settings)

    def alone(i: int) -> Any:
        return ph.simulate(body, throw(i), forces, events=[ground(action="stop", direction=-1)], **settings)

    motions, ones = together(), [alone(i) for i in range(min(ALONE, stones))]  # compiles
    all_seconds, one_seconds = [], []
    for _ in range(repeats):
        began = perf_counter()
        motions = together()
        all_seconds.append(perf_counter() - began)
        began = perf_counter()
        ones = [alone(i) for i in range(len(ones))]
        one_seconds.append((perf_counter() - began) / len(ones))
    same = all(np.array_equal(motions.final.position[i], one.final.position) for i, one in enumerate(ones))
    return {
        "stones": stones,
        "seconds": min(all_seconds),
        "microseconds_per_stone": min(all_seconds) / stones * 1e6,
        "microseconds_alone": min(one_seconds) * 1e6,
        "times_faster": min(one_seconds) * stones / min(all_seconds),
        "same_bits": same,
    }
