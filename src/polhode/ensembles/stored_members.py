"""The scenario of an ensemble in its store: what all members share once, and the numbers of each member as arrays.

Members that a function draws are described by calling it for two numbers of members: lists whose length follows that
number belong to the members, all others are the same for all.  Nothing that a store holds is executed: the scenario is
made of its numbers, and functions of the user are only named.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from polhode.ensembles.chunk_run import ChunkResult
from polhode.ensembles.member_source import ArraySource, IntArray, MemberSource, for_any_engine
from polhode.ensembles.store import EnsembleStore
from polhode.ensembles.store_layout import MEMBER, ArraySpec
from polhode.errors import ForceError, ScenarioError
from polhode.results.store import describe_scenario, extract_long_lists, insert_long_lists, restore_scenario
from polhode.scenario.scenario import Scenario

Path = tuple[Any, ...]
PROBES = (11, 13)
"""Numbers of members that no vector or matrix has as a length."""
MARK = "of_member"
"""In the description of a scenario: the name of the array that holds the numbers of the members."""
INFINITE = "infinite"
"""In the description of a scenario: the sign of an infinite number, such as the end of a thrust, which JSON lacks."""
SHARED_KEYS = ("body", "bodies", "forces", "contacts", "rotors", "added_mass", "mass_course")


class MemberNumbers(NamedTuple):
    """How the scenario of an ensemble is stored."""

    description: dict[str, Any]
    """Plain JSON, with names of arrays in place of long lists and of what differs between members."""
    common: dict[str, tuple[tuple[str, ...], Any]]
    """The long lists, by name."""
    arrays: dict[str, ArraySpec]
    """What differs between members, by name."""
    paths: dict[str, Path]
    """Where each of these arrays belongs in the description."""
    shared: Any = None
    """What all members have in common, with its long lists: it is compared with that of every chunk."""


def describe_members(source: MemberSource, changes: dict[str, Any]) -> MemberNumbers:
    """How the members of a source are stored; `changes` are settings that were decided for all of them."""
    if isinstance(source, ArraySource):
        return _store_whole(replace(source.scenario, **changes))
    probes = [_describe(replace(_take_probe(source, count), **changes)) for count in PROBES]
    paths = _find_member_paths(probes[0], probes[1])
    names = {f"scenario_{i:02d}": path for i, path in enumerate(paths)}
    tree, arrays = probes[0], {}
    for name, path in names.items():
        shape = np.shape(_get(tree, path))[1:]
        dims = (MEMBER, *(f"{name}_{i}" for i in range(len(shape))))
        label = ".".join(map(str, path))
        arrays[name] = ArraySpec((source.members, *shape), dims, attributes={"long_name": f"{label} of the scenario"})
        _set(tree, path, {MARK: name})
    description, common = _extract(tree)
    return MemberNumbers(description, common, arrays, names, _extract_shared(tree))


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
        _set(tree, path, {MARK: name})
    if not _is_same(_extract_shared(tree), numbers.shared):
        raise ScenarioError(
            f"the scenario of members {result.first} to {result.last - 1} differs from that of others in a number that "
            "is not one for each member: everything that varies must be drawn for each member"
        )
    return found


def restore_all_members(store: EnsembleStore) -> Scenario | None:
    """The scenario of an ensemble that was given by arrays over all members, from the store alone; else None."""
    if store.manifest.run["member_arrays"]:
        return None
    common = {name: store.read_common(name) for name in store.manifest.common}
    stored = _decode_infinite(store.manifest.run["members"])
    return _restore(insert_long_lists(stored, common), store.plan.members)


def restore_members(store: EnsembleStore, members: IntArray) -> Scenario:
    """The scenario of some members of an ensemble that was drawn, from the store alone."""
    stored, names = _decode_infinite(store.manifest.run["members"]), store.manifest.run["member_arrays"]
    common = {name: store.read_common(name) for name in store.manifest.common}
    padded = np.append(members, np.full(_padding(stored, len(members)), members[-1]))
    values = {name: store.read_members(name, padded) for name in names}
    scenario = _restore(_insert(insert_long_lists(stored, common), values), len(padded))
    return scenario if len(padded) == len(members) else scenario.take(np.arange(len(members)))


def _store_whole(scenario: Scenario) -> MemberNumbers:
    description, common = _extract(_describe(scenario))
    return MemberNumbers(description, common, {}, {})


def _describe(scenario: Scenario) -> dict[str, Any]:
    content, appearance, unknown = describe_scenario(for_any_engine(scenario))
    for table, body in zip(content.get("bodies", [content.get("body")]), scenario.bodies, strict=True):
        if "inertia" in table and body.diagonalized is not None:  # always: a file has them only where they matter
            table["inertia"] = body.inertia_body
            table["principal_moments"] = body.diagonalized.moments
            table["principal_axes_wxyz"] = body.diagonalized.axes
    changing = dict.fromkeys(e.name for e in scenario.events if e.action == "change")
    return {"scenario": content, "appearance": appearance, "unknown_forces": [*unknown, *changing]}


def _restore(tree: Any, members: int) -> Scenario:
    return restore_scenario(tree["scenario"], tree["appearance"], members)


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


def _extract(tree: Any) -> tuple[dict[str, Any], dict[str, tuple[tuple[str, ...], Any]]]:
    description, arrays = extract_long_lists(tree)
    lists: dict[str, tuple[tuple[str, ...], Any]]
    lists = {name: ((f"{name}_length",), values) for name, values in arrays.items() if values.size}
    return _encode_infinite(description), lists


def _encode_infinite(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: _encode_infinite(part) for key, part in tree.items()}
    if isinstance(tree, (list, tuple)):
        return [_encode_infinite(part) for part in tree]
    return {INFINITE: 1 if tree > 0 else -1} if isinstance(tree, float) and np.isinf(tree) else tree


def _decode_infinite(tree: Any) -> Any:
    if isinstance(tree, dict):
        if set(tree) == {INFINITE}:
            return tree[INFINITE] * np.inf
        return {key: _decode_infinite(part) for key, part in tree.items()}
    return [_decode_infinite(part) for part in tree] if isinstance(tree, list) else tree


def _extract_shared(tree: Any) -> Any:
    """What all members have in common; its long lists are counted by themselves, whatever else the scenario has."""
    return _extract({key: tree["scenario"].get(key) for key in SHARED_KEYS})


def _is_same(one: Any, other: Any) -> bool:
    (description, lists), (known, known_lists) = one, other
    if description != known or lists.keys() != known_lists.keys():
        return False
    return all(np.array_equal(values, known_lists[name][1], equal_nan=True) for name, (_, values) in lists.items())


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


def _insert(tree: Any, values: dict[str, Any]) -> Any:
    """The description with the numbers of the members in their places."""
    if isinstance(tree, dict):
        if set(tree) == {MARK}:
            return values[tree[MARK]]
        return {key: _insert(part, values) for key, part in tree.items()}
    return [_insert(part, values) for part in tree] if isinstance(tree, list) else tree


def _padding(tree: Any, count: int) -> int:
    """How many members to add so that no list of the description has as many entries as there are members."""
    lengths: set[int] = {2, 3}

    def collect(part: Any) -> None:
        if isinstance(part, dict):
            lengths.update(part["shape"] if set(part) == {"array", "shape"} else ())
            for one in part.values():
                collect(one)
        elif isinstance(part, list):
            lengths.add(len(part))
            for one in part:
                collect(one)

    collect(tree)
    return next(more for more in range(len(lengths) + 1) if count + more not in lengths)
