"""A run of an ensemble in its store: which arrays it has, what of a chunk goes where, and a motion read back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polhode.archive.layout import MEMBER, ArraySpec
from polhode.ensembles.chunk_run import ChunkResult
from polhode.ensembles.chunks import ChunkPlan, digest_blocks
from polhode.ensembles.failures import MemberFailure
from polhode.ensembles.member_source import IntArray, MemberSource
from polhode.ensembles.store import TIME, EnsembleStore
from polhode.ensembles.stored_members import MemberNumbers, collect_member_numbers, describe_members, restore_members
from polhode.errors import FileError, InputError
from polhode.integrate.run_result import (
    CONTACT_NUMBERS,
    AutoReport,
    EventRecord,
    RunResult,
    SampleColumns,
    match_members,
)
from polhode.results.motion import Motion
from polhode.results.stored_rows import BODY, pack_events, pack_impacts, unpack_event, unpack_impacts
from polhode.results.stored_rows import MEMBER as EVENT_MEMBER
from polhode.scenario.scenario import Scenario
from polhode.validation import Array

SAMPLES, CONTACT, IMPACT_TOTALS = "samples", "contact", "impact_totals"
INPUT_PREFIX, PARTIAL_PREFIX = "input_", "partial/"
EVENTS, IMPACTS, EVENT_NAMES = "events", "impacts", "event_names"
MEMBER_ERRORS = "member_errors"
"""Of method "auto", attached to a chunk: the estimated error of each member, as a multiple of the tolerance."""
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

    `about` must be the same when the run is resumed: the hash of the emitted code, the reductions.  `changes` are
    settings that were decided for all members, as in `RunSettings`, and the output times.
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
    common = {TIME: ((TIME,), np.asarray(one.times), {"units": "s"})}
    return StoredRun(EnsembleStore.create(path, run, plan, arrays, common=common, resume=resume), source, numbers)


def write_result(
    run: StoredRun, k: int, result: ChunkResult, partials: Mapping[str, Mapping[str, Any]] | None = None
) -> None:
    """Write what was computed of a chunk: samples if they are kept, inputs, failures, events, partial reductions."""
    keeps, out = run.store.manifest.run["keeps_samples"], result.run_result
    members = np.arange(result.first, result.last)
    names = name_input_arrays(run.source.input_names)
    arrays = {names[name]: np.asarray(v, dtype=np.float64) for name, v in run.source.inputs(members).items()}
    arrays |= collect_member_numbers(run.numbers, run.source, result)
    record: dict[str, Any] = {
        "steps": int(out.steps),
        "refused": int(out.refused),
        "auto_report": None if out.auto_report is None else asdict(out.auto_report),
    }
    if keeps:
        arrays |= {SAMPLES: out.samples}
        if out.contact is not None and out.impact_totals is not None:
            arrays |= {CONTACT: out.contact, IMPACT_TOTALS: out.impact_totals}
    else:
        record[SAMPLE_BLOCKS] = digest_blocks(out.samples, 1)
    attached = {
        f"{PARTIAL_PREFIX}{name}/{key}": values for name, one in (partials or {}).items() for key, values in one.items()
    }
    attached |= _pack_failures(result.failures)
    if out.crossings:
        attached[EVENTS], record[EVENT_NAMES] = _pack_events(result)
    if out.member_errors is not None:
        attached[MEMBER_ERRORS] = out.member_errors
    if keeps and out.impacts is not None and len(out.impacts):
        impacts = out.impacts.copy()
        impacts["member"] += result.first
        attached[IMPACTS] = pack_impacts(impacts)
    run.store.write_chunk(k, arrays, record, attached)


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


def read_auto_report(store: EnsembleStore, k: int) -> AutoReport | None:
    """What method "auto" found of the members of a chunk."""
    found = store.read_record(k).content["auto_report"]
    return None if found is None else AutoReport(**found)


def read_motion(
    store: EnsembleStore, members: IntArray, scenario: Scenario | None = None, unknown_forces: tuple[str, ...] = ()
) -> Motion:
    """The motion of some members; with their scenario from the store, unless it is known."""
    about = store.manifest.run
    if not about["keeps_samples"]:
        raise FileError(
            f"{store.path} holds reductions, not samples, so there is no motion of single members: run it again with "
            "keep='samples'"
        )
    samples = store.read_members(SAMPLES, members)
    records = [store.read_record(int(k)) for k in np.unique(members // store.plan.chunk_members)]
    steps = [int(record.content["steps"]) for record in records]
    auto, errors = records[0].content["auto_report"], _collect_errors(store, members)
    events, impacts = _collect_events(store, [record.chunk for record in records], members)
    has_contact = CONTACT in store.manifest.arrays
    result = RunResult(
        store.read_common(TIME),
        samples,
        SampleColumns.of(tuple(about["columns"]["sizes"]), counts_work=False),
        max(steps),
        crossings=events,
        auto_report=_report_of(auto, errors),
        member_errors=errors,
        impacts=impacts if has_contact else None,
        contact=store.read_members(CONTACT, members) if has_contact else None,
        impact_totals=store.read_members(IMPACT_TOTALS, members) if has_contact else None,
    )
    if scenario is not None:
        return Motion(scenario, result, unknown_forces)
    return Motion(restore_members(store, members), result, tuple(about["members"]["unknown_forces"]))


def _collect_errors(store: EnsembleStore, members: IntArray) -> Array | None:
    """The estimated errors of some members; None if there are none."""
    size = store.plan.chunk_members
    found, owner = np.full(len(members), np.nan), members // size
    for k in np.unique(owner):
        attached = store.read_attached(int(k))
        if MEMBER_ERRORS not in attached:
            return None
        found[owner == k] = attached[MEMBER_ERRORS][members[owner == k] - k * size]
    return found


def read_errors(store: EnsembleStore, k: int) -> Array | None:
    """The estimated errors of the members of a chunk, as multiples of the tolerance; None if there are none."""
    errors: Array | None = store.read_attached(k).get(MEMBER_ERRORS)
    return errors


def _report_of(found: Any, errors: Array | None) -> AutoReport | None:
    """What method "auto" found of some members, who are numbered anew."""
    if found is None:
        return None
    return AutoReport(**found) if errors is None else AutoReport(**found).with_members(errors)


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
        arrays[CONTACT] = ArraySpec((times, members, *bodies, CONTACT_NUMBERS), (TIME, MEMBER, *axes, "contact_number"))
        arrays[IMPACT_TOTALS] = ArraySpec((members, *bodies, 3), (MEMBER, *axes, "impact_total"))
    return arrays


def _input_arrays(source: MemberSource) -> dict[str, ArraySpec]:
    found, names = {}, name_input_arrays(source.input_names)
    for name, values in source.inputs(np.zeros(1, dtype=np.int64)).items():
        shape = np.shape(values)[1:]
        dims = (MEMBER, *(f"{names[name]}_{i}" for i in range(len(shape))))
        found[names[name]] = ArraySpec((source.members, *shape), dims, attributes={"long_name": name})
    return found


def name_input_arrays(inputs: Iterable[str]) -> dict[str, str]:
    """The names of the arrays that hold drawn inputs, by the names of these, which may have any letters.

    Examples
    --------
    >>> name_input_arrays(["body.mass", "body_mass", "speed"])
    {'body.mass': 'input_body_mass', 'body_mass': 'input_body_mass_2', 'speed': 'input_speed'}
    """
    found: dict[str, str] = {}
    for name in sorted(inputs):
        plain = INPUT_PREFIX + re.sub(r"[^A-Za-z0-9]", "_", name)
        more = (f"_{i}" if i > 1 else "" for i in count(1))
        found[name] = next(plain + end for end in more if plain + end not in found.values())
    return found


def stored_inputs(store: EnsembleStore) -> dict[str, str]:
    """The names of the arrays of a store that hold drawn inputs, by the names of these."""
    arrays = store.manifest.arrays
    return {spec.attributes["long_name"]: name for name, spec in arrays.items() if name.startswith(INPUT_PREFIX)}


def _pack_failures(failures: list[MemberFailure]) -> dict[str, Any]:
    if not failures:
        return {}
    columns = zip(*failures, strict=True)
    return {f"failure/{name}": np.array(column) for name, column in zip(MemberFailure._fields, columns, strict=True)}


def _pack_events(result: ChunkResult) -> tuple[Array, list[str]]:
    found, count = result.run_result.crossings, result.last - result.first
    outside = [c for c in found if not 0 <= c.owner < count]
    if outside:
        raise InputError(f"an event of member {outside[0].owner} is among those of {count} members")
    return pack_events(c.given_to(result.first + c.owner) for c in found)


def _collect_events(store: EnsembleStore, chunks: list[int], members: IntArray) -> tuple[list[EventRecord], Any]:
    """The events and impacts of some members, who are numbered anew in their order."""
    events: list[EventRecord] = []
    impacts = [unpack_impacts([])]
    for k in chunks:
        attached = store.read_attached(k)
        if EVENTS in attached:
            rows, names = attached[EVENTS], store.read_record(k).content[EVENT_NAMES]
            owners = np.where(rows[:, EVENT_MEMBER] < 0, rows[:, BODY], rows[:, EVENT_MEMBER]).astype(np.int64)
            chosen, places = match_members(owners, members)
            events += [unpack_event(rows[i], names).given_to(int(at)) for i, at in zip(chosen, places, strict=True)]
        if IMPACTS in attached:
            found = unpack_impacts(attached[IMPACTS])
            chosen, places = match_members(found["member"], members)
            impacts.append(found[chosen])
            impacts[-1]["member"] = places
    events.sort(key=lambda c: c.time)
    every = np.concatenate(impacts)
    return events, every[np.argsort(every["time"], kind="stable")]


def read_inputs(store: EnsembleStore, members: IntArray) -> dict[str, Array]:
    """The drawn numbers of some members, by name."""
    return {name: store.read_members(array, members) for name, array in stored_inputs(store).items()}
