"""Fixed steps that are too long for the motion: a warning with the numbers."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from polhode.results.trajectory import Trajectory
from polhode.scenario.scenario import Scenario

LONGEST_TURN = 1.0
"""Turning by more than this in one step, in rad, a body escapes a Runge-Kutta method."""
LARGEST_LOSS = 0.1
"""A step that changes |q| by more than this part was too long for the rotation."""
LARGEST_OVERRUN = 1e-6
"""Beyond the largest speed of a rotor, as a part of it."""
LOOKED_AT = 64
"""Output times that are looked at, besides the first and the last."""


class StepFigures(NamedTuple):
    """How fast the bodies of a run turn, and what its steps lose."""

    first: float
    """The largest angular velocity of the initial states, in rad/s."""
    fastest: float
    """The largest angular velocity of the outputs, in rad/s; a bound of it where that is small enough."""
    loss: float
    """The largest change of |q| in one step."""
    overruns: tuple[float, ...]
    """The largest speed of each rotor, as a part of its max_speed."""


def find_step_figures(motion: Trajectory) -> StepFigures | None:
    """The figures that tell whether fixed steps were too long; None if the steps are not fixed, or have no figures."""
    scenario, run = motion.scenario, motion.run_result
    if not scenario.used_method.needs_step or scenario.form.keeps_angles or not len(run.samples):
        return None
    overruns: tuple[float, ...] = ()
    if scenario.rotors:
        speeds = motion.rotor_speed
        overruns = tuple(
            float(np.nanmax(np.abs(speeds[..., i]) * rotor.inverse_max_speed, initial=0.0))
            for i, rotor in enumerate(scenario.rotors)
        )
    if all(body.is_particle for body in scenario.bodies):
        return StepFigures(0.0, 0.0, 0.0, overruns)
    last = len(run.samples) - 1
    rows = [*range(0, last, -(-last // (LOOKED_AT + 1)) or 1), last]
    with np.errstate(all="ignore"):
        fastest = _bound_rates(motion, rows)
        if not fastest * scenario.needed_step <= LONGEST_TURN:
            w = np.array(motion.state_view_of(run.samples[rows]).angular_velocity)
            fastest = float(np.nanmax(np.sqrt((w * w).sum(axis=0)), initial=0.0))
        losses = run.samples[..., run.columns.drift]
        loss = 0.0 if scenario.form.keeps_matrix else float(np.fmax.reduce(losses, axis=None, initial=0.0))
    rates = [state.angular_velocity_body for state in scenario.states]
    first = max(float(np.sqrt((w * w).sum(axis=-1).max())) for w in rates)
    return StepFigures(first, fastest, loss, overruns)


def _bound_rates(motion: Trajectory, rows: Sequence[int]) -> float:
    """A bound of the angular velocities of these outputs, |L| over the least moment, which is cheap to find; or NaN."""
    scenario, run = motion.scenario, motion.run_result
    if not scenario.form.keeps_momenta or scenario.is_extended:
        return np.nan
    spins = run.samples[rows][..., run.columns.spin]
    inverse = reduce(np.maximum, scenario.problem.constants.inverse_moments)
    return float(np.fmax.reduce(np.sqrt((spins * spins).sum(axis=-1)) * inverse, axis=None, initial=0.0))


def merge_step_figures(each: Iterable[StepFigures | None]) -> StepFigures | None:
    """The figures of several parts of an ensemble together: the largest of each."""
    known = [figures for figures in each if figures is not None]
    if not known:
        return None
    overruns = tuple(max(values) for values in zip(*(figures.overruns for figures in known), strict=True))
    first, fastest, loss = (max(values) for values in zip(*(figures[:3] for figures in known), strict=True))
    return StepFigures(first, fastest, loss, overruns)


def warn_of_long_steps(scenario: Scenario, figures: StepFigures | None, stacklevel: int) -> None:
    """Warn if bodies turn too far in one step, or lose too much of |q|.  The result is returned all the same."""
    if figures is None:
        return
    step, method = scenario.needed_step, scenario.used_method
    for rotor, used in zip(scenario.rotors, figures.overruns, strict=True):
        if used > 1 + LARGEST_OVERRUN:
            warnings.warn(
                f"{rotor.name} runs past its max_speed by {100 * (used - 1):.2g} %: the rotation of its body carries "
                f"it there, or a step of {step:g} s is too long to see its torque fall. Choose "
                "a shorter step, a larger taper, or method='dop853', which finds its own steps",
                stacklevel=stacklevel,
            )
    first, fastest, loss, _ = figures
    fastest = first if first * step > LONGEST_TURN else max(first, fastest)  # what is given, before what diverges
    turn = fastest * step
    drifts_exactly = method.composition is not None and method.composition.drift == "exact"
    if turn > LONGEST_TURN and not drifts_exactly:
        warnings.warn(
            f"a body turns by {turn:.3g} rad in one step of {step:g} s ({fastest:.3g} rad/s): {method.name} cannot "
            f"follow that. Choose step={LONGEST_TURN / 10 / fastest:.1g} or shorter, or method='dop853', which finds "
            "its own steps",
            stacklevel=stacklevel,
        )
    elif loss > LARGEST_LOSS:
        warnings.warn(
            f"a step of {step:g} s changed |q| by {loss:.2g}: it is too long for the rotation. Choose a shorter step, "
            "or method='dop853', which finds its own steps",
            stacklevel=stacklevel,
        )
