"""What `Stepper.advance` costs beyond the step itself, alone and with new loads, and what save and restore cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from time import perf_counter
from typing import Any

import polhode as ph

STEP = 1e-3
WANTED_US = 3.0
"""Of an advance with new loads, beyond the step."""
WANTED_SAVE_US = 5.0
MANY = 100
"""Steps of one long advance, from which the time of a step alone follows."""


def measure_stepper(advances: int, repeats: int) -> dict[str, dict[str, float]]:
    """Microseconds of an advance by one step, of the step itself, and what is left, for two methods."""
    body, start = ph.Body(2.0, (1.0, 1.7, 2.3)), ph.State(velocity=(1, 0, 2), angular_velocity_body=(0.3, 2.0, 0.1))
    found = {}
    for method in ("rk4", "splitting4"):
        stepper = ph.Stepper(body, start, [ph.forces.gravity()], method=method, step=STEP)
        stepper.advance(STEP)
        load = iter([(0.1 * k, 0.0, -0.1 * k) for k in range(repeats * advances)])

        def advance_with_new_loads(stepper: ph.Stepper = stepper, load: Iterator[Any] = load) -> None:
            force = next(load)
            stepper.set_loads(force=force, torque=force)
            stepper.advance(STEP)

        one = best_time(partial(stepper.advance, STEP), advances, repeats)
        loaded = best_time(advance_with_new_loads, advances, repeats)
        many = best_time(partial(stepper.advance, MANY * STEP), max(1, advances // MANY), repeats)
        step = (many - one) / (MANY - 1)
        token = stepper.save()
        found[method] = {
            "advance": one * 1e6,
            "step": step * 1e6,
            "beyond": (one - step) * 1e6,
            "with_loads_beyond": (loaded - step) * 1e6,
            "wanted": WANTED_US,
            "save": best_time(stepper.save, advances, repeats) * 1e6,
            "restore": best_time(partial(stepper.restore, token), advances, repeats) * 1e6,
            "wanted_save": WANTED_SAVE_US,
        }
    return found


def best_time(work: Callable[[], Any], count: int, repeats: int) -> float:
    """The seconds of one call, the best of the repeats."""
    times = []
    for _ in range(repeats):
        began = perf_counter()
        for _ in range(count):
            work()
        times.append((perf_counter() - began) / count)
    return min(times)
