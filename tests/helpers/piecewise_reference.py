"""Motions whose forces switch branches, by SciPy: the branches are held, and it is looked where they end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

SHORT = 1e-7
"""A time in s after which a function that is zero at the start has left zero, to one side or the other."""


def integrate_piecewise(
    rate: Callable[[float, Any, list[bool]], Any],
    functions: Sequence[Callable[[float, Any], float]],
    start: Sequence[float],
    times: Sequence[float],
    cuts: Sequence[float] = (),
    jumps: Mapping[float, Any] | None = None,
    longest: float = 0.05,
) -> np.ndarray:
    """The states at increasing times after 0; `rate` is told which functions are negative.

    At cuts the integration begins anew, after adding the jump of that time.  No step is longer than `longest`.
    """
    now, state, end = 0.0, np.array(start, dtype=float), float(times[-1])
    found: list[Any] = []
    for cut in sorted({c for c in cuts if 0 < c < end} | {end}):
        is_negative = _branches(rate, functions, now, state)
        while now < cut:
            run = solve_ivp(
                lambda t, y, held: rate(t, y, held),
                (now, cut),
                state,
                method="DOP853",
                rtol=3e-14,
                atol=1e-15,
                max_step=longest,
                dense_output=True,
                args=(is_negative,),
                events=[_leaves(f, is_negative[i]) for i, f in enumerate(functions)],
            )
            assert run.status >= 0, run.message
            found += [run.sol(t) for t in times[len(found) :] if t <= run.t[-1] and (t < cut or cut == end)]
            now, state = float(run.t[-1]), run.y[:, -1]
            if run.status == 1:
                (which,) = (i for i, hits in enumerate(run.t_events) if len(hits))
                is_negative[which] = not is_negative[which]
        state = state + (jumps or {}).get(cut, 0.0)
    return np.array(found)


def _leaves(function: Callable[[float, Any], float], is_negative: bool) -> Callable[..., float]:
    """An event where a function leaves its side."""

    def event(t: float, y: Any, _: Any) -> float:
        return function(t, y)

    event.terminal, event.direction = True, 1 if is_negative else -1  # type: ignore[attr-defined]
    return event


def _branches(rate: Any, functions: Sequence[Callable[[float, Any], float]], t: float, y: Any) -> list[bool]:
    """On which side each function is, or is about to be."""
    values = [f(t, y) for f in functions]
    held = [value < 0 for value in values]
    middle = y + SHORT / 2 * np.asarray(rate(t, y, held))
    ahead = y + SHORT * np.asarray(rate(t + SHORT / 2, middle, held))
    return [(f(t + SHORT, ahead) if abs(v) < 1e-13 else v) < 0 for f, v in zip(functions, values, strict=True)]
