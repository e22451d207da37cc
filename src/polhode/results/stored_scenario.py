"""A scenario in an archive: a tree of plain values and arrays.

Functions of the user are only named: nothing that an archive holds is executed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from polhode.massprops.body_table import to_plain_values
from polhode.scenario import scenario_file
from polhode.scenario.scenario import Scenario

LONG_LIST = 64
"""Longer lists of numbers are stored as arrays beside the scenario, not in its text; meshes always are."""


def describe_scenario(scenario: Scenario) -> dict[str, Any]:
    """The scenario, the appearance of its bodies, and the names of functions that are not stored."""
    from polhode.massprops.appearance_table import appearance_to_table

    plain = _without_gpu(scenario).without_own_functions()
    return {
        "scenario": plain.as_mapping(plain=_keep_long_arrays),
        "appearance": appearance_to_table(scenario.bodies),
        "unknown_forces": [own.record.name for own in scenario.own_functions if own.record not in scenario.events],
    }


def restore_scenario(tree: Any, members: int) -> Scenario:
    """The scenario that was described, with this number of members; 0 if it is no ensemble."""
    from polhode.massprops.appearance_table import restore_appearance

    given = scenario_file.scenario_arguments(tree["scenario"])
    body, looks = given["body"], tree["appearance"]
    given["body"] = restore_appearance(body, looks) if isinstance(body, list) else restore_appearance([body], looks)[0]
    return _with_members(Scenario(**given), members)


def _without_gpu(scenario: Scenario) -> Scenario:
    """The scenario as any machine can run it, if the numbers are the same without a GPU."""
    return replace(scenario, engine="cpu") if (scenario.engine, scenario.precision) == ("gpu", "strict") else scenario


def _keep_long_arrays(value: Any) -> Any:
    """Plain numbers and lists, except for arrays that are stored as such."""
    array = None if isinstance(value, (bool, str)) else np.asarray(value)
    if array is None or array.ndim == 0 or len(array) <= LONG_LIST or array.dtype.kind not in "fiu":
        return to_plain_values(value)
    return np.asarray(array, dtype=np.float64)


def convert_long_lists(tree: Any) -> Any:
    """The tree with long lists of numbers as arrays."""
    if isinstance(tree, dict):
        return {key: convert_long_lists(part) for key, part in tree.items()}
    if not isinstance(tree, (list, tuple)):
        return tree
    if len(tree) > LONG_LIST and not isinstance(tree[0], (dict, np.ndarray)):
        return np.asarray(tree, dtype=np.float64)
    return [convert_long_lists(part) for part in tree]


def _with_members(scenario: Scenario, members: int) -> Scenario:
    """Restore the number of members of a scenario whose members differed only in a force not stored."""
    if not members or scenario.members is not None:
        return scenario
    first, *others = scenario.states
    first = first.replace(position=np.tile(first.position, (members, 1)))
    return replace(scenario, state=[first, *others] if scenario.is_system else first)
