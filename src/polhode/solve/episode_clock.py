"""When the steps of an episode end."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.validation import Array


class EpisodeClock:
    """Steps end at multiples of the interval, and the last with the scenario."""

    def __init__(self, start: float, duration: float, interval: float) -> None:
        self._start, self._interval, self._end = start, interval, start + duration
        self._last = self._end - 1e-9 * interval
        """A step that ends so near to the end of the scenario is the last: the rest is rounding of multiples."""

    def end_of_step(self, number: int) -> tuple[float, bool]:
        """The time at which a step ends, counted from 1, and whether it is the last."""
        time = self._start + number * self._interval
        return (self._end, True) if time >= self._last else (time, False)

    def ends_of_steps(self, numbers: Any) -> tuple[Array, Any]:
        """The same for many."""
        times = self._start + numbers * self._interval
        is_last = times >= self._last
        return np.where(is_last, self._end, times), is_last
