"""The scenario of an ensemble in its store: what all members share once, and the numbers of each member as arrays.

Members that a function draws are described by calling it for two numbers of members: lists whose length follows that
number belong to the members, all others are the same for all.  Nothing that a store holds is executed: the scenario is
made of its numbers, and functions of the user are only named.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from polhode.archive.layout import MEMBER, ArraySpec
from polhode.archive.trees import ArrayName, decode_tree, digest_numbers, encode_tree
from polhode.ensembles.chunk_run import ChunkResult
from polhode.ensembles.member_source import ArraySource, IntArray, MemberSource, for_any_engine
from polhode.ensembles.store import EnsembleStore
from polhode.errors import ForceError, ScenarioError
from polhode.results.stored_scenario import convert_long_lists, describe_scenario, restore_scenario
from polhode.scenario.scenario import Scenario
from polhode.scenario.scenario_file import READ_SEPARATELY

Path = tuple[Any, ...]
PROBES = (11, 13)
"""Numbers of members that no vector or matrix has as a length."""


class MemberNumbers(NamedTuple):
    """How the scenario of an ensemble is stored."""

    description: dict[str, Any]
    """A tree, with the names of arrays in place of what differs between members."""
    arrays: dict[str, ArraySpec]
    """What differs between members, by name."""
    paths: dict[str, Path]
    """Where each of these arrays belongs in the description."""
    shared: Any = None
    """What all members have in common: it is compared with that of every chunk."""


def describe_members(source: MemberSource, changes: dict[str, Any]) -> MemberNumbers:
    """How the members of a source are stored; `changes` are settings that were decided for all of them."""
    if isinstance(source, ArraySource):
        return MemberNumbers(convert_long_lists(_describe(replace(source.scenario, **changes))), {}, {})
    tree, other = (_describe(replace(_take_probe(source, count), **changes)) for count in PROBES)
    paths = {f"scenario_{i:02d}": path for i, path in enumerate(_find_member_paths(tree, other))}
    arrays = {}
    for name, path in paths.items():
        shape = np.shape(_get(tree, path))[1:]
        dims = (MEMBER, *(f"{name}_{i}" for i in range(len(shape))))
        label = ".".join(map(str, path))
        arrays[name] = ArraySpec((source.members, *shape), dims, attributes={"long_name": f"{label} of the scenario"})
        _set(tree, path, ArrayName(name))
    return MemberNumbers(convert_long_lists(tree), arrays, paths, _extract_shared(tree))


def collect_member_numbers(numbers: MemberNumbers, source: MemberSource, result: ChunkResult) -> dict[str, Any]:
    """The arrays of a chunk that hold what differs between its members."""
    if not numbers.paths:
        return {}
    count = result.last - result.first
    tree = _describe_chunk(source, result)
    found = {}
    for name, path in numbers.paths.items():
        values = np.asarray(_get(tree, path), dtype=np.float64)
        found[name] = values[:count]
        _set(tree, path, ArrayName(name))
    if _extract_shared(tree) != numbers.shared:
        raise ScenarioError(
            f"the scenario of members {result.first} to {result.last - 1} differs from that of others in a number that "
            "is not one for each member: everything that varies must be drawn for each member"
        )
    return found


def restore_all_members(store: EnsembleStore) -> Scenario | None:
    """The scenario of an ensemble that was given by arrays over all members, from the store alone; else None."""
    if store.manifest.run["member_arrays"]:
        return None
    return restore_scenario(decode_tree(_stored_tree(store), store.read_common), store.plan.members)


def restore_members(store: EnsembleStore, members: IntArray) -> Scenario:
    """The scenario of some members of an ensemble that was drawn, from the store alone."""
    common = {name: store.read_common(name) for name in store.manifest.common}
    tree = _stored_tree(store)
    padded = np.append(members, np.full(_padding(decode_tree(tree, common.get), len(members)), members[-1]))
    whole = decode_tree(tree, lambda name: common[name] if name in common else store.read_members(name, padded))
    scenario = restore_scenario(whole, len(padded))
    return scenario if len(padded) == len(members) else scenario.take(np.arange(len(members)))


def _stored_tree(store: EnsembleStore) -> Any:
    return store.manifest.content["run"]["members"]


def _describe(scenario: Scenario) -> dict[str, Any]:
    tree = describe_scenario(for_any_engine(scenario))
    content = tree["scenario"]
    for table, body in zip(content.get("bodies", [content.get("body")]), scenario.bodies, strict=True):
        if "inertia" in table and body.diagonalized is not None:  # always: a file has them only where they matter
            table["inertia"] = body.inertia_body
            table["principal_moments"] = body.diagonalized.moments
            table["principal_axes_wxyz"] = body.diagonalized.axes
    changing = dict.fromkeys(e.name for e in scenario.events if e.action == "change")
    return {**tree, "unknown_forces": [*tree["unknown_forces"], *changing]}


def _describe_chunk(source: MemberSource, result: ChunkResult) -> dict[str, Any]:
    """The description of a chunk's scenario; with more members if some of its forces were cut out of a larger one."""
    try:
        return _describe(result.scenario)
    except ForceError:
        members = np.arange(result.first, result.last)
        padding = next(size for size in PROBES if size > 1)
        return _describe(source.take(np.append(members, np.full(padding, members[-1]))))


def _take_probe(source: MemberSource, count: int) -> Scenario:
    return source.take(np.arange(count) % source.members)


def _extract_shared(tree: Any) -> Any:
    """What all members have in common, with digests of long lists."""
    shared = {key: tree["scenario"].get(key) for key in READ_SEPARATELY}
    return encode_tree(convert_long_lists(shared), digest_numbers)


def _find_member_paths(one: Any, other: Any, path: Path = ()) -> list[Path]:
    """Where two descriptions for different numbers of members have lists of different lengths."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return [found for key in one for found in _find_member_paths(one[key], other[key], (*path, key))]
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        one, other = np.asarray(one), np.asarray(other)
        if one.shape == other.shape:
            return []
    if isinstance(one, (list, tuple, np.ndarray)) and isinstance(other, (list, tuple, np.ndarray)):
        if (len(one), len(other)) == PROBES:
            return [path]
        if len(one) == len(other):
            pairs = enumerate(zip(one, other, strict=True))
            return [found for i, (a, b) in pairs for found in _find_member_paths(a, b, (*path, i))]
    elif type(one) is type(other) and one == other:
        return []
    raise ScenarioError(
        f"{'.'.join(map(str, path))} of the scenario depends on how many members are computed together: everything "
        "that varies must be drawn for each member"
    )


def _get(tree: Any, path: Path) -> Any:
    for key in path:
        tree = tree[key]
    return tree


def _set(tree: Any, path: Path, value: Any) -> None:
    _get(tree, path[:-1])[path[-1]] = value


def _padding(tree: Any, count: int) -> int:
    """How many members to add so that no list of the description has as many entries as there are members."""
    lengths: set[int] = {2, 3}

    def collect(part: Any) -> None:
        if isinstance(part, np.ndarray):
            lengths.update(part.shape)
        elif isinstance(part, dict):
            for one in part.values():
                collect(one)
        elif isinstance(part, list):
            lengths.add(len(part))
            for one in part:
                collect(one)

    collect(tree)
    return next(more for more in range(len(lengths) + 1) if count + more not in lengths)
