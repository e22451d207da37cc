"""Fixed steps that are too long for the motion: a warning with the numbers."""

from __future__ import annotations

import warnings

import numpy as np

from polhode.results.trajectory import Trajectory

LONGEST_TURN = 1.0
"""Turning by more than this in one step, in rad, a body escapes a Runge-Kutta method."""
LARGEST_LOSS = 0.1
"""A step that changes |q| by more than this part was too long for the rotation."""
LARGEST_OVERRUN = 1e-6
"""Beyond the largest speed of a rotor, as a part of it."""
LOOKED_AT = 64
"""Output times that are looked at, besides the first and the last."""


def warn_of_long_steps(motion: Trajectory, stacklevel: int) -> None:
    """Warn if bodies turn too far in one step, or lose too much of |q|.  The result is returned all the same."""
    scenario, run = motion.scenario, motion.run_result
    method = scenario.used_method
    if not method.needs_step or scenario.form.keeps_angles or not len(run.samples):
        return
    if scenario.rotors:
        _warn_of_overrun(motion, stacklevel + 1)
    if all(body.is_particle for body in scenario.bodies):
        return
    rows = np.unique(np.linspace(0, len(run.samples) - 1, LOOKED_AT + 2).astype(int))
    with np.errstate(all="ignore"):
        w = np.array(motion.state_view_of(run.samples[rows]).angular_velocity)
        fastest = float(np.nanmax(np.sqrt((w * w).sum(axis=0)), initial=0.0))
        losses = run.samples[..., run.columns.drift]
        loss = 0.0 if scenario.form.keeps_matrix else float(np.nanmax(losses, initial=0.0))
    step = scenario.needed_step
    first = max(float(np.linalg.norm(s.angular_velocity_body, axis=-1).max()) for s in scenario.states)
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


def _warn_of_overrun(motion: Trajectory, stacklevel: int) -> None:
    """Warn if a step was too long to see the torque fall near the largest speed of a rotor, and ran past it."""
    speeds = motion.rotor_speed
    for i, rotor in enumerate(motion.scenario.rotors):
        used = np.nanmax(np.abs(speeds[..., i]) * rotor.inverse_max_speed, initial=0.0)
        if used > 1 + LARGEST_OVERRUN:
            warnings.warn(
                f"{rotor.name} runs past its max_speed by {100 * (used - 1):.2g} %: the rotation of its body carries "
                f"it there, or a step of {motion.scenario.needed_step:g} s is too long to see its torque fall. Choose "
                "a shorter step, a larger taper, or method='dop853', which finds its own steps",
                stacklevel=stacklevel,
            )
