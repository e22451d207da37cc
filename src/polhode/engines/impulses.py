"""Impulses: instantaneous jumps of linear and angular momentum."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.engines.result import SampleColumns
from polhode.equations.right_hand_side import build_impulse_law, build_view
from polhode.scenario.members import over_bodies
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import split_groups
from polhode.validation import Array


def impulses_at(scenario: Scenario, t: float) -> list[Any]:
    """The impulses at time t."""
    return [f for f in scenario.of_kind("impulse") if float(np.ravel(f.instant)[0]) == t]


def apply_impulses(scenario: Scenario, samples: Array, columns: SampleColumns, t: float, impulses: list[Any]) -> Array:
    """Samples (bodies, columns) after impulses; the work done is the jump of the kinetic energy."""
    form, c = scenario.form, scenario.problem.constants
    pivoted, work = scenario.pivot is not None, (1,) * (columns.work is not None)
    view, apply_impulse = build_view(form, pivoted), build_impulse_law(form, pivoted)
    for f in impulses:
        columns_first = samples.T.reshape(-1, *scenario.shape)
        groups = split_groups(columns_first, (*form.sizes, *work))
        c = scenario.constants_for_samples(c, columns_first)
        jump, angular_jump = f.kernel(t, view(groups, c), c, over_bodies(f.params, scenario))
        if f.bodies is not None:
            acts = np.isin(np.arange(len(scenario.bodies)), f.bodies).astype(float)
            jump, angular_jump = tuple(acts * j for j in jump), tuple(acts * j for j in angular_jump)
        after = apply_impulse(groups, c, jump, angular_jump)
        numbers = [np.broadcast_to(n, scenario.shape).ravel() for group in after for n in group]
        samples = np.stack([*numbers, samples[:, columns.drift]], axis=-1)
    return samples
