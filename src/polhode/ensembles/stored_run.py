"""A run of an ensemble in its store: which arrays it has, what of a chunk goes where, and a motion read back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polhode.engines.result import IMPACT, AutoReport, ContactColumns, EventRecord, RunResult, SampleColumns
from polhode.ensembles.checksum import digest_blocks
from polhode.ensembles.chunk_run import ChunkResult, MemberFailure
from polhode.ensembles.chunks import ChunkPlan
from polhode.ensembles.member_source import IntArray, MemberSource
from polhode.ensembles.store import TIME, EnsembleStore
from polhode.ensembles.store_layout import MEMBER, ArraySpec
from polhode.ensembles.stored_members import MemberNumbers, collect_member_numbers, describe_members, restore_members
from polhode.errors import FileError, InputError
from polhode.model.scenario import Scenario
from polhode.results.motion import Motion
from polhode.validation import Array

SAMPLES, CONTACT, IMPACT_TOTALS = "samples", "contact", "impact_totals"
INPUT_PREFIX, PARTIAL_PREFIX = "input_", "partial/"
CROSSING_FIELDS = ("event", "body", "time", "sample", "name", "ends", "member")
SAMPLE_BLOCKS = "sample_blocks"
"""In the record of a chunk whose samples are not kept: their digests."""


class StoredRun(NamedTuple):
    """A store that a run writes, and how the members of its source are stored."""

    store: EnsembleStore
    source: MemberSource
    numbers: MemberNumbers


def open_run_store(
    path: str | Path,
    source: MemberSource,
    plan: ChunkPlan,
    *,
    about: dict[str, Any],
    changes: Mapping[str, Any] | None = None,
    keep_samples: bool = True,
    resume: bool = False,
) -> StoredRun:
    """Make, or resume, the store of a run.

    Parameters
    ----------
    path : str or Path
        The store.
    source : MemberSource
        The members.
    plan : ChunkPlan
        Their chunks.
    about : dict
        Plain JSON that must be the same when the run is resumed: the hash of the emitted code, the reductions.
    changes : mapping, optional
        Settings that were decided for all members, as in `RunSettings`, and the output times.
    keep_samples : bool, optional
        Whether the samples are stored (default), or only what is attached to the chunks.
    resume : bool, optional
        Complete the store if it is there.
    """
    numbers = describe_members(source, dict(changes or {}))
    one = replace(source.take(np.zeros(1, dtype=np.int64)), **dict(changes or {}))
    columns = SampleColumns.of(one.form.sizes, counts_work=False)
    arrays = {**_input_arrays(source), **numbers.arrays}
    if keep_samples:
        arrays |= _sample_arrays(one, columns, plan.members)
    run = {
        **about,
        "name": one.name,
        "members": numbers.description,
        "member_arrays": list(numbers.arrays),
        "columns": {"sizes": list(one.form.sizes), "names": name_columns(columns)},
        "bodies": len(one.bodies) if one.is_system else None,
        "keeps_samples": keep_samples,
        "source": source.describe(),  # last: what differs is better seen elsewhere
    }
    common = {TIME: ((TIME,), np.asarray(one.times)), **numbers.common}
    return StoredRun(EnsembleStore.create(path, run, plan, arrays, common=common, resume=resume), source, numbers)


def write_result(
    run: StoredRun, k: int, result: ChunkResult, partials: Mapping[str, Mapping[str, Any]] | None = None
) -> None:
    """Write what was computed of a chunk: samples if they are kept, inputs, failures, events, partial reductions."""
    arrays, record, attached = pack_result(run, result, partials)
    run.store.write_chunk(k, arrays, record, attached)


def pack_result(
    run: StoredRun, result: ChunkResult, partials: Mapping[str, Mapping[str, Any]] | None = None
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The arguments of `EnsembleStore.write_chunk`."""
    keeps, out = run.store.manifest.run["keeps_samples"], result.run_result
    members = np.arange(result.first, result.last)
    arrays = {INPUT_PREFIX + name: np.asarray(v, dtype=np.float64) for name, v in run.source.inputs(members).items()}
    arrays |= collect_member_numbers(run.numbers, run.source, result)
    record: dict[str, Any] = {
        "steps": int(result.steps),
        "refused": int(result.refused),
        "auto_report": None if out.auto_report is None else asdict(out.auto_report),
    }
    if keeps:
        arrays |= {SAMPLES: result.samples}
        if out.contact is not None and out.impact_totals is not None:
            arrays |= {CONTACT: out.contact, IMPACT_TOTALS: out.impact_totals}
    else:
        record[SAMPLE_BLOCKS] = digest_blocks(result.samples, 1)
    attached = {
        f"{PARTIAL_PREFIX}{name}/{key}": values for name, one in (partials or {}).items() for key, values in one.items()
    }
    attached |= _pack_failures(result.failures) | _pack_crossings(result)
    if keeps and out.impacts is not None and len(out.impacts):
        attached["impacts"] = out.impacts
    return arrays, record, attached


def read_partials(store: EnsembleStore, k: int) -> dict[str, dict[str, Any]]:
    """What the reductions found in a chunk, by their names."""
    found: dict[str, dict[str, Any]] = {}
    for key, values in store.read_attached(k).items():
        if key.startswith(PARTIAL_PREFIX):
            name, _, array = key.removeprefix(PARTIAL_PREFIX).rpartition("/")
            found.setdefault(name, {})[array] = values
    return found


def read_failures(store: EnsembleStore, k: int) -> list[MemberFailure]:
    """The members of a chunk that failed."""
    attached = store.read_attached(k)
    if "failure/member" not in attached:
        return []
    columns = [attached[f"failure/{name}"].tolist() for name in MemberFailure._fields]
    return [MemberFailure(*row) for row in zip(*columns, strict=True)]


def read_motion(store: EnsembleStore, members: IntArray, scenario: Scenario | None = None) -> Motion:
    """The motion of some members; with the scenario from the store, unless it is known."""
    about = store.manifest.run
    if not about["keeps_samples"]:
        raise FileError(
            f"{store.path} holds reductions, not samples, so there is no motion of single members: run it again with "
            "keep='samples'"
        )
    samples = store.read_members(SAMPLES, members)
    records = [store.read_record(int(k)) for k in np.unique(members // store.plan.chunk_members)]
    steps = [int(record.content["steps"]) for record in records]
    auto = records[0].content["auto_report"]
    events, impacts = _collect_events(store, [record.chunk for record in records], members)
    has_contact = CONTACT in store.manifest.arrays
    result = RunResult(
        store.read_common(TIME),
        samples,
        SampleColumns.of(tuple(about["columns"]["sizes"]), counts_work=False),
        max(steps),
        crossings=events,
        auto_report=None if auto is None else AutoReport(**auto),
        impacts=impacts if has_contact else None,
        contact=store.read_members(CONTACT, members) if has_contact else None,
        impact_totals=store.read_members(IMPACT_TOTALS, members) if has_contact else None,
    )
    if scenario is not None:
        return Motion(scenario, result)
    return Motion(restore_members(store, members), result, tuple(about["members"]["unknown_forces"]))


def name_columns(columns: SampleColumns) -> list[str]:
    """A name for each number of a sample, such as position_0, in the formulation's own variables."""
    names = [""] * (columns.drift + 1)
    for group in ("position", "attitude", "momentum", "spin", "more"):
        for i, at in enumerate(range(*getattr(columns, group).indices(columns.drift))):
            names[at] = f"{group}_{i}"
    names[columns.drift] = "attitude_drift"
    return names


def _sample_arrays(one: Scenario, columns: SampleColumns, members: int) -> dict[str, ArraySpec]:
    times, bodies = len(one.times), (len(one.bodies),) if one.is_system else ()
    axes = ("body",) if one.is_system else ()
    about = {"long_name": "the numbers as computed", "columns": name_columns(columns)}
    arrays = {
        SAMPLES: ArraySpec(
            (times, members, *bodies, columns.drift + 1), (TIME, MEMBER, *axes, "number"), attributes=about
        )
    }
    if one.contacts:
        loads = ContactColumns().state + 1
        arrays[CONTACT] = ArraySpec((times, members, *bodies, loads), (TIME, MEMBER, *axes, "contact_number"))
        arrays[IMPACT_TOTALS] = ArraySpec((members, *bodies, 3), (MEMBER, *axes, "impact_total"))
    return arrays


def _input_arrays(source: MemberSource) -> dict[str, ArraySpec]:
    found = {}
    for name, values in source.inputs(np.zeros(1, dtype=np.int64)).items():
        shape = np.shape(values)[1:]
        dims = (MEMBER, *(f"{INPUT_PREFIX}{name}_{i}" for i in range(len(shape))))
        found[INPUT_PREFIX + name] = ArraySpec((source.members, *shape), dims, attributes={"long_name": name})
    return found


def _pack_failures(failures: list[MemberFailure]) -> dict[str, Any]:
    if not failures:
        return {}
    columns = zip(*failures, strict=True)
    return {f"failure/{name}": np.array(column) for name, column in zip(MemberFailure._fields, columns, strict=True)}


def _pack_crossings(result: ChunkResult) -> dict[str, Any]:
    found = result.crossings
    if not found:
        return {}
    outside = [c for c in found if not result.first <= member_of_event(c) < result.last]
    if outside:
        raise InputError(
            f"an event of member {member_of_event(outside[0])} is among members {result.first} to {result.last - 1}"
        )
    columns = {name: [getattr(c, name) for c in found] for name in CROSSING_FIELDS}
    columns["member"] = [-1 if member is None else member for member in columns["member"]]
    return {f"crossing/{name}": np.array(column) for name, column in columns.items()}


def member_of_event(crossing: EventRecord) -> int:
    """The member to which an event happened."""
    return crossing.body if crossing.member is None else crossing.member


def _collect_events(store: EnsembleStore, chunks: list[int], members: IntArray) -> tuple[list[EventRecord], Any]:
    """The events and impacts of some members, who are numbered anew in their order."""
    places: dict[int, list[int]] = {}
    for place, member in enumerate(members.tolist()):
        places.setdefault(member, []).append(place)
    events: list[EventRecord] = []
    impacts: list[Any] = []
    for k in chunks:
        attached = store.read_attached(k)
        for c in _read_crossings(attached):
            own = places.get(member_of_event(c), ())
            events += [replace(c, body=place) if c.member is None else replace(c, member=place) for place in own]
        for row in attached.get("impacts", ()):
            for place in places.get(int(row["member"]), ()):
                impacts.append(row.copy())
                impacts[-1]["member"] = place
    events.sort(key=lambda c: c.time)
    impacts.sort(key=lambda row: row["time"])
    return events, np.array(impacts, dtype=IMPACT)


def _read_crossings(attached: dict[str, Any]) -> list[EventRecord]:
    if "crossing/time" not in attached:
        return []
    columns = {name: attached[f"crossing/{name}"] for name in CROSSING_FIELDS}
    found = []
    for i in range(len(columns["time"])):
        member = int(columns["member"][i])
        found.append(
            EventRecord(
                int(columns["event"][i]),
                int(columns["body"][i]),
                float(columns["time"][i]),
                columns["sample"][i],
                str(columns["name"][i]),
                bool(columns["ends"][i]),
                None if member < 0 else member,
            )
        )
    return found


def read_inputs(store: EnsembleStore, members: IntArray) -> dict[str, Array]:
    """The drawn numbers of some members, by name."""
    names = [name for name in store.manifest.arrays if name.startswith(INPUT_PREFIX)]
    return {name.removeprefix(INPUT_PREFIX): store.read_members(name, members) for name in names}
