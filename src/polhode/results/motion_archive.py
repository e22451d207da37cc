"""Motions on disk: an archive with the scenario, the samples as computed, and variables for other readers."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polhode.archive.archive import build_archive, read_array, resolve_path, write_archive
from polhode.archive.checkpoints import is_unfinished_run, refuse_unfinished_run
from polhode.archive.folders import read_folder
from polhode.archive.manifest import MOTION, Manifest, find_kind, read_manifest, refuse_earlier
from polhode.archive.trees import decode_tree
from polhode.errors import FileError, PolhodeError
from polhode.integrate.run_result import AutoReport, RunResult, SampleColumns
from polhode.results.dataset import stored_attributes, stored_variables
from polhode.results.stored_rows import pack_events, pack_impacts, unpack_event, unpack_impacts
from polhode.results.stored_scenario import convert_long_lists, describe_scenario, restore_scenario
from polhode.results.trajectory import Trajectory
from polhode.scenario.scenario import Scenario

COMPUTED = "computed"
"""The variable of a stored motion that holds the samples as computed, in the formulation's own variables."""
EVENT_ROWS = "crossing_computed"
"""The variable that holds the events as rows of numbers."""
IMPACT_ROWS, CONTACT_LOADS, IMPACT_TOTALS = "impact_computed", "contact_computed", "impact_totals_computed"
"""The variables that hold the impacts as rows of numbers, the loads of the contacts, and the totals."""


class StoredMotion(NamedTuple):
    """What a motion is made of, read from an archive."""

    scenario: Scenario
    run_result: RunResult
    unknown_forces: tuple[str, ...]
    """The names of forces that are functions, which are not stored."""
    description: Any
    """What the run with a store was that has written it; None if `motion.save` has."""


def write_motion(motion: Trajectory, path: Path, description: Any = None) -> None:
    """Write a motion, whole or not at all.

    With the description of a run with a store: in place of its checkpoints, and forced to the disk.
    """
    resolve_path(path, "a motion is saved under a name, for example 'motion.zarr'")
    run, scenario = motion.run_result, convert_long_lists(describe_scenario(motion.scenario))
    bodies = tuple(f"computed_{name}" for name in motion.axes or ("body",))
    arrays = stored_variables(motion)
    arrays[COMPUTED] = ("time", *bodies, "number"), run.samples, {"long_name": "the numbers as computed"}
    rows, names = pack_events(run.crossings)
    if names:
        arrays[EVENT_ROWS] = ("crossing", "crossing_number"), rows
    if run.impacts is not None:
        arrays[CONTACT_LOADS] = ("time", *bodies, "contact_number"), run.contact
        arrays[IMPACT_TOTALS] = (*bodies, "impact_total"), run.impact_totals
        if len(run.impacts):  # an empty array cannot be stored
            arrays[IMPACT_ROWS] = ("impact", "impact_number"), pack_impacts(run.impacts)
    content = {
        "name": motion.scenario.name,
        **scenario,
        "unknown_forces": [*scenario["unknown_forces"], *motion.acts_besides],
        "members": motion.scenario.members or 0,
        "steps": run.steps,
        "refused": run.refused,
        "auto_report": None if run.auto_report is None else asdict(run.auto_report),
        "event_names": names,
        "stored_run": description,
    }
    about: dict[str, Any] = {"title": "motion of rigid bodies", "attributes": stored_attributes(motion)}
    manifest, files = build_archive(MOTION, content, arrays, **about)
    check = _check_overwrite if description is None else _check_overwrite_run
    try:
        write_archive(path, manifest, files, check, forced=description is not None)
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error}") from None


def read_motion(path: Path) -> StoredMotion:
    """What a motion is made of, verified."""
    return read_folder(path, _read_place)


def is_stored_motion(path: Path) -> bool:
    """Whether the path holds a stored motion, complete or damaged."""
    return find_kind(path) == MOTION


def _read_place(place: Path) -> StoredMotion:
    if not os.path.lexists(place):
        raise FileError(f"there is no motion at {place}")
    refuse_unfinished_run(place)
    if not is_stored_motion(place):
        refuse_earlier(place, "simulate again")
        raise FileError(
            f"{place} is not a stored motion: motion.save and `polhode run --save` write a .zarr folder. "
            "If it was one, its zarr.json is missing or damaged. Restore a copy of it, or simulate again."
        )
    try:
        return _restore_motion(place, read_manifest(place, MOTION, "simulate again"))
    except FileError:
        raise
    except (PermissionError, MemoryError) as error:
        raise FileError(f"{place} cannot be read: {error or 'not enough memory'}") from None
    except PolhodeError as error:
        raise FileError(f"{place} holds a scenario that cannot be read: {error}") from None
    except Exception as error:
        raise FileError(
            f"{place} is damaged: its content is not what was stored, a part is missing or was changed. "
            "Restore a copy of it, or simulate again."
        ) from error


def _restore_motion(place: Path, manifest: Manifest) -> StoredMotion:
    def read(name: str) -> Any:
        return read_array(place, manifest, name)

    run: dict[str, Any] = decode_tree(manifest.content["run"], read)
    scenario = restore_scenario(run, run["members"])
    samples, sizes, names = read(COMPUTED), scenario.form.sizes, run["event_names"]
    impacts = None
    if scenario.contacts:
        impacts = unpack_impacts(read(IMPACT_ROWS) if IMPACT_ROWS in manifest.common else np.zeros((0, 0)))
    result = RunResult(
        read("time"),
        samples,
        SampleColumns.of(sizes, counts_work=samples.shape[-1] > sum(sizes) + 1),
        run["steps"],
        run["refused"],
        crossings=[unpack_event(row, names) for row in read(EVENT_ROWS)] if names else [],
        auto_report=None if run["auto_report"] is None else AutoReport(**run["auto_report"]),
        impacts=impacts,
        contact=read(CONTACT_LOADS) if scenario.contacts else None,
        impact_totals=read(IMPACT_TOTALS) if scenario.contacts else None,
    )
    return StoredMotion(scenario, result, tuple(run["unknown_forces"]), run["stored_run"])


def _check_overwrite_run(path: Path) -> None:
    """Overwrite the checkpoints of an unfinished run, too."""
    if not is_unfinished_run(path):
        _check_overwrite(path)


def _check_overwrite(path: Path) -> None:
    """Overwrite a stored motion, but nothing else."""
    if path.exists() and not is_stored_motion(path):
        raise FileError(f"{path} exists and is not a stored motion: choose another name")
