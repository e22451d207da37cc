"""Keyframes of an animation, close enough together that viewers interpolate rotations correctly."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from polhode.results.body_geometry import geometry_view_of
from polhode.scenario.state import stack_components
from polhode.validation import Array

if TYPE_CHECKING:
    from polhode.equations.formulations import StateView
    from polhode.results.trajectory import Trajectory

MAX_KEY_ANGLE = math.pi / 2
"""Maximum rotation between added keyframes, in rad."""
MAX_KEYS = 2_000_000
"""Maximum number of keyframes of all bodies; no more are added."""


class Keyframes(NamedTuple):
    """Keyframes of the exported bodies."""

    times: Array
    """Since the first output, in s."""
    positions: Array
    """(times, bodies, 3), in m."""
    quaternions_wxyz: Array
    """(times, bodies, 4), of unit length, without jumps from q to -q."""


def compute_keyframes(motion: Trajectory, numbers: list[int]) -> Keyframes:
    """The outputs, the impacts, and times between them where a body rotates by more than half a turn."""
    if motion.scenario.contacts and not motion.unknown_forces:
        impacts = motion.impacts.marked.time
        impacts = impacts[(impacts > motion.times[0]) & (impacts < motion.times[-1])]
        if 0 < len(impacts) * len(numbers) <= MAX_KEYS:
            motion = motion.recomputed_at(np.union1d(motion.times, impacts))
    times, view = motion.times, geometry_view_of(motion, motion.run_result.samples)
    while (turns := _largest_rotations(times, view, numbers)) is not None:
        pieces = np.where(turns > math.pi, np.ceil(turns / MAX_KEY_ANGLE), 1).astype(np.int64)
        closed_form = motion.closed_form
        if closed_form is None or pieces.sum() * len(numbers) > MAX_KEYS:
            _warn_undersampled(times, turns, closed_form is not None)
            break
        starts = np.repeat(times[:-1], pieces)
        within = np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        times = np.append(starts + within * np.repeat(np.diff(times) / pieces, pieces), times[-1])
        view = motion.state_view_of(closed_form.samples_at(times))
    turned = stack_components(view.orientation)[:, numbers]
    turned = turned / np.linalg.norm(turned, axis=-1, keepdims=True)
    flips = (turned[1:] * turned[:-1]).sum(axis=-1, keepdims=True) < 0
    signs = np.concatenate((np.ones_like(turned[:1, :, :1]), np.where(np.cumsum(flips, axis=0) % 2, -1.0, 1.0)))
    return Keyframes(times - times[0], stack_components(view.position)[:, numbers], signs * turned)


def _largest_rotations(times: Array, view: StateView, numbers: list[int]) -> Array | None:
    """The largest rotation of any body in each interval, in rad; None if all are within half a turn."""
    if len(times) < 2:
        return None
    rates = np.linalg.norm(stack_components(view.angular_velocity)[:, numbers], axis=-1)
    fastest = np.fmax(rates[1:], rates[:-1])
    turns = np.nan_to_num(fastest).max(axis=1) * np.diff(times)
    return turns if turns.max() > math.pi else None


def _warn_undersampled(times: Array, turns: Array, is_exact: bool) -> None:
    worst = int(np.argmax(turns))
    step = MAX_KEY_ANGLE * (times[worst + 1] - times[worst]) / turns[worst]
    step = math.floor(step * (scale := 10.0 ** (1 - math.floor(math.log10(step))))) / scale
    what = (
        f"from t = {times[worst]:g} s to the next output a body rotates by {turns[worst] / (2 * math.pi):.3g} "
        "turns: a viewer interpolates the shorter rotation, which is a different spin"
    )
    remedy = f"simulate with output_step={step:g} (s)"
    warnings.warn(f"{what}; {remedy}{', for a shorter time' if is_exact else ''}", stacklevel=5)
