"""Settings shared by the models."""

from __future__ import annotations

from typing import TypedDict


class RK4Settings(TypedDict):
    """Time settings of a scenario that is integrated by RK4."""

    duration: float
    step: float
    output_step: float
    method: str


def rk4_settings(duration: float, frames: int, steps_per_frame: float) -> RK4Settings:
    """RK4 with `steps_per_frame` steps in each of `frames` output intervals."""
    return {
        "duration": duration,
        "step": duration / (frames * steps_per_frame),
        "output_step": duration / frames,
        "method": "rk4",
    }
