"""Motions on disk: an xarray dataset in a Zarr directory, with the scenario beside it."""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.errors import FileError, PolhodeError
from polhode.integrate.run_result import (
    CONTACT_STATES,
    IMPACT,
    AutoReport,
    ContactColumns,
    EventRecord,
    RunResult,
    SampleColumns,
)
from polhode.io.atomic_folders import atomic_folder, read_folder
from polhode.io.checkpoint_files import flush_folder
from polhode.io.unfinished_runs import is_unfinished_run, refuse_unfinished_run
from polhode.massprops.body_table import to_plain_values
from polhode.results.store_manifest import MANIFEST, build_manifest, read_verified, refuse_links
from polhode.results.trajectory import Trajectory
from polhode.scenario import scenario_file
from polhode.scenario.scenario import Scenario
from polhode.validation import Array
from polhode.version import __version__

if TYPE_CHECKING:
    import xarray

UNITS = {
    "position": "m",
    "orientation": "1",
    "linear_momentum": "kg m s-1",
    "angular_momentum": "kg m2 s-1",
    "work": "J",
    "mass": "kg",
    "rotor_speed": "rad s-1",
    "rotor_momentum": "kg m2 s-1",
    "attitude_drift": "1",
    "crossing_time": "s",
    "crossing_body": "1",
    "crossing_member": "1",
    "crossing_name": "1",
    "contact_force": "N",
    "contact_torque": "N m",
    "contact_points": "1",
    "contact_state": "1",
    "impact_time": "s",
    "impact_member": "1",
    "impact_body": "1",
    "impact_other": "1",
    "impact_surface": "1",
    "impact_point": "m",
    "impact_normal": "1",
    "impact_normal_impulse": "N s",
    "impact_tangential_impulse": "N s",
    "impact_energy_lost": "J",
    "impact_kind": "1",
}
NAMES = {
    "position": "position of the center of mass, world axes",
    "orientation": "quaternion_wxyz, body to world",
    "linear_momentum": "linear momentum, world axes",
    "angular_momentum": "angular momentum about the center of mass, world axes",
    "work": "work done by the forces since the start",
    "mass": "mass of the body",
    "rotor_speed": "speed of each rotor relative to its body",
    "rotor_momentum": "angular momentum of each rotor along its axis",
    "attitude_drift": "largest deviation of the attitude from a rotation since the previous output, before rescaling",
    "crossing_time": "when an event happened",
    "crossing_body": "body or member to which it happened",
    "crossing_member": "member of an ensemble of systems to which it happened",
    "crossing_name": "name of the event",
    "contact_force": "force of all contacts on the body, world axes; impacts are not included",
    "contact_torque": "torque of all contacts about the center of mass, world axes",
    "contact_points": "number of points in contact",
    "contact_state": "state of contact: " + ", ".join(f"{i} {word}" for i, word in enumerate(CONTACT_STATES)),
    "impact_time": "when a point of contact received an impulse",
    "impact_member": "member of an ensemble",
    "impact_body": "body that was struck",
    "impact_other": "the other body, or -1 for a floor, wall or slope",
    "impact_surface": "name of the contact",
    "impact_point": "point of contact, world axes",
    "impact_normal": "unit normal toward the body, world axes",
    "impact_normal_impulse": "impulse on the body along the normal",
    "impact_tangential_impulse": "impulse on the body across the normal, world axes",
    "impact_energy_lost": "energy lost at the point of contact",
    "impact_kind": "slip, stick, settle or touch",
}
COMPUTED = "computed"
"""The variable of a stored motion that holds the samples as computed, in the formulation's own variables."""
EVENT_RECORDS = "crossing_computed"
"""The variable that holds the event records."""
IMPACT_ROWS, CONTACT_LOADS, IMPACT_TOTALS = "impact_computed", "contact_computed", "impact_totals_computed"
"""The variables that hold the impacts, as rows of numbers, the loads of the contacts, and the totals."""
CONTACT_ARRAYS = (IMPACT_ROWS, CONTACT_LOADS, IMPACT_TOTALS)
RUN = "polhode_run"
"""The attribute that says what a run with a store was: its scenario, and the versions that computed it."""
ARRAY_PREFIX = "scenario_array_"
LONG_LIST = 64
"""Longer lists of numbers are stored as arrays beside the scenario, not in its text; meshes always are."""


def to_dataset(motion: Trajectory) -> xarray.Dataset:
    """A motion as an xarray dataset."""
    import xarray

    crossings = motion.run_result.crossings
    outer = ("time", *motion.axes)
    vectors = ("position", "linear_momentum", "angular_momentum")
    variables: dict[str, Any] = {name: ((*outer, "axis"), getattr(motion, name)) for name in vectors}
    variables["orientation"] = ((*outer, "quaternion_wxyz"), motion.quaternion_wxyz)
    variables["attitude_drift"] = (outer, motion.attitude_drift)
    if motion.work is not None:
        variables["work"] = (outer, motion.work)
    if motion.scenario.rotors:
        across = ("time", *(axis for axis in motion.axes if axis != "body"), "rotor")
        variables |= {name: (across, getattr(motion, name)) for name in ("rotor_speed", "rotor_momentum")}
    if motion.scenario.mass_course is not None:
        variables["mass"] = (outer, motion.mass)
    if crossings:
        variables["crossing_time"] = (("crossing",), np.array([c.time for c in crossings]))
        variables["crossing_body"] = (("crossing",), np.array([c.body for c in crossings]))
        if "body" in motion.axes and motion.axis == "member":
            variables["crossing_member"] = (("crossing",), np.array([c.member for c in crossings]))
        variables["crossing_name"] = (
            ("crossing",),
            np.array([c.name for c in crossings], dtype=object),
        )
    if motion.scenario.contacts:
        variables |= _contact_variables(motion)
    return xarray.Dataset(
        {n: (dims, values, {"units": UNITS[n], "long_name": NAMES[n]}) for n, (dims, values) in variables.items()},
        coords={
            "time": ("time", motion.times, {"units": "s"}),
            "axis": np.array(["x", "y", "z"], dtype=object),
            "quaternion_wxyz": np.array(["w", "x", "y", "z"], dtype=object),
        },
        attrs={
            "title": motion.scenario.name or "motion of rigid bodies",
            "source": f"polhode {__version__}",
            "method": motion.scenario.used_method.name,
            "formulation": motion.scenario.formulation,
            "steps": motion.steps,
        },
    )


def _contact_variables(motion: Trajectory) -> dict[str, Any]:
    """The loads of the contacts at the output times; the impacts, if there were any."""
    outer, impacts, points = ("time", *motion.axes), motion.impacts, motion.contact_points
    codes = np.asarray(motion.run_result.contact)[..., ContactColumns().state]
    variables: dict[str, Any] = {
        "contact_force": ((*outer, "axis"), motion.contact_forces),
        "contact_torque": ((*outer, "axis"), motion.contact_torques),
        "contact_points": (outer, points),
        "contact_state": (outer, codes.reshape(points.shape)),
    }
    if len(impacts) == 0:
        return variables
    numbers = ["time", "body", "other", "normal_impulse", "energy_lost"] + ["member"] * (motion.axis == "member")
    variables |= {f"impact_{name}": (("impact",), getattr(impacts, name)) for name in numbers}
    vectors = ("point", "normal", "tangential_impulse")
    variables |= {f"impact_{name}": (("impact", "axis"), getattr(impacts, name)) for name in vectors}
    words = ("surface", "kind")
    return variables | {f"impact_{name}": (("impact",), getattr(impacts, name).astype(object)) for name in words}


def write_motion(motion: Trajectory, dataset: xarray.Dataset, path: Path, description: str | None = None) -> None:
    """Write a motion and its dataset, whole or not at all.

    With the description of a run with a store: in place of its checkpoints, and forced to the disk.
    """
    if path == Path():
        raise FileError("a motion is saved under a name, for example 'motion.zarr', but the path is empty")
    content, appearance, unknown = describe_scenario(motion.scenario)
    unknown += motion.acts_besides
    (content, appearance), arrays = extract_long_lists((content, appearance))
    run = motion.run_result
    number_axes = ("time", *(f"computed_{name}" for name in motion.axes or ("body",)), "number")
    dataset = dataset.assign({COMPUTED: (number_axes, run.samples, {"long_name": "the numbers as computed"})})
    crossed = _event_rows(run.crossings)
    if len(crossed):
        dataset = dataset.assign({EVENT_RECORDS: (("crossing", "crossing_number"), crossed)})
    dataset = dataset.assign(_contact_numbers(run, number_axes))
    dataset = dataset.assign({name: ((f"{name}_length",), values) for name, values in arrays.items()})
    dataset.attrs.update(
        {
            "polhode_scenario": json.dumps(content),
            "polhode_looks": json.dumps(appearance),
            "polhode_unknown_forces": json.dumps(unknown),
            "polhode_event_names": json.dumps([c.name for c in run.crossings]),
            "polhode_event_members": json.dumps([c.member for c in run.crossings]),
            "polhode_refused": run.refused,
            "polhode_chosen": json.dumps(asdict(run.auto_report) if run.auto_report is not None else None),
            "polhode_members": motion.scenario.members or 0,
        }
    )
    if description is not None:
        dataset.attrs[RUN] = description
    # Everything else is derived from these, and stored for other readers.
    names = [name for name in ("time", COMPUTED, EVENT_RECORDS, *CONTACT_ARRAYS, *arrays) if name in dataset]
    dataset.attrs[MANIFEST] = build_manifest(dataset.attrs, {name: dataset[name].values for name in names})
    try:
        check = _check_overwrite if description is None else _check_overwrite_run
        with atomic_folder(path, check) as draft, warnings.catch_warnings():
            # Without it xarray warns everyone who opens the motion; with it Zarr warns here.
            warnings.filterwarnings("ignore", message="Consolidated metadata")
            try:
                dataset.to_zarr(draft, mode="w-", consolidated=True, encoding=_fill_values(dataset))
            except BaseException:
                _wait_for_zarr()
                raise
            if description is not None:
                flush_folder(draft)
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error}") from None


def describe_scenario(scenario: Scenario) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """The scenario and the appearance of its bodies as plain values, and the names of functions that are not stored."""
    from polhode.massprops.appearance_table import appearance_to_table

    known = [f for f in scenario.forces if f.function is None]
    own: tuple[Any, ...] = (*scenario.forces, *scenario.rotors)
    unknown = [one.name for one in own if one.function is not None]
    wheels = [rotor.without_function() for rotor in scenario.rotors]
    plain = replace(without_gpu(scenario), rotors=wheels)  # type: ignore[arg-type]
    return plain.as_mapping(known, plain=_keep_long_arrays), appearance_to_table(scenario.bodies), unknown


def without_gpu(scenario: Scenario) -> Scenario:
    """The scenario as any machine can run it, if the numbers are the same without a GPU."""
    return replace(scenario, engine="cpu") if (scenario.engine, scenario.precision) == ("gpu", "strict") else scenario


def _keep_long_arrays(value: Any) -> Any:
    """Plain numbers and lists, except for arrays that are stored as such."""
    array = None if isinstance(value, (bool, str)) else np.asarray(value)
    if array is None or array.ndim == 0 or len(array) <= LONG_LIST or array.dtype.kind not in "fiu":
        return to_plain_values(value)
    return np.asarray(array, dtype=np.float64)


def restore_scenario(content: Any, appearance: Any, members: int) -> Scenario:
    """The scenario that was described, with this number of members; 0 if it is no ensemble."""
    given = scenario_file.scenario_arguments(content)
    given["body"] = _restore_appearance(given["body"], appearance)
    return _with_members(Scenario(**given), members)


def _wait_for_zarr() -> None:
    """After an error, wait until Zarr has ended the writing that it does in the background."""
    from zarr.core.sync import sync

    async def end() -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        if others:
            await asyncio.wait(others)

    sync(end())


def read_motion(path: Path) -> tuple[Scenario, RunResult, tuple[str, ...]]:
    """The scenario, the run's output and the names of forces not stored: what a `Trajectory` is made of."""
    return read_folder(path, _read_place)


def read_run_description(path: Path) -> str | None:
    """What the run with a store was that has written a motion; None if `motion.save` has written it."""
    attributes, _ = read_folder(path, _read_content)
    found: str | None = attributes.get(RUN)
    return found


def _read_place(place: Path) -> tuple[Scenario, RunResult, tuple[str, ...]]:
    try:
        if not place.exists():
            raise FileError(f"there is no motion at {place}")
        refuse_unfinished_run(place)
        if not is_stored_motion(place):
            raise FileError(
                f"{place} is not a stored motion: motion.save and `polhode run --save` write a .zarr folder. "
                "If it was one, its zarr.json is missing or damaged. Restore a copy of it, or simulate again."
            )
        return _restore_motion(*_read_content(place))
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


def _read_content(place: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Attributes and arrays, verified."""
    import zarr

    refuse_links(place)
    group: Any = zarr.open_group(place, mode="r", zarr_format=3, use_consolidated=False)
    if MANIFEST not in group.attrs:
        writer = group.attrs.get("source", "an unknown program")
        raise FileError(
            f"{place} has no {MANIFEST}, by which its content could be verified: it was written by {writer} in another "
            f"format, or is damaged, and this is polhode {__version__}. Restore a copy of it, or simulate again."
        )
    return read_verified(group)


def _restore_motion(
    attributes: Mapping[str, Any], arrays: Mapping[str, Any]
) -> tuple[Scenario, RunResult, tuple[str, ...]]:
    content = insert_long_lists(json.loads(attributes["polhode_scenario"]), arrays)
    appearance = insert_long_lists(json.loads(attributes["polhode_looks"]), arrays)
    scenario = restore_scenario(content, appearance, int(attributes["polhode_members"]))
    samples, sizes = np.ascontiguousarray(arrays[COMPUTED]), scenario.form.sizes
    run = RunResult(
        arrays["time"],
        samples,
        SampleColumns.of(sizes, counts_work=samples.shape[-1] > sum(sizes) + 1),
        int(attributes["steps"]),
        int(attributes["polhode_refused"]),
        crossings=_read_event_records(arrays.get(EVENT_RECORDS, ()), json.loads(attributes["polhode_event_names"])),
        auto_report=_read_auto_report(attributes["polhode_chosen"]),
        impacts=_read_impacts(arrays.get(IMPACT_ROWS, np.zeros((0, 0)))) if scenario.contacts else None,
        contact=arrays[CONTACT_LOADS] if scenario.contacts else None,
        impact_totals=arrays[IMPACT_TOTALS] if scenario.contacts else None,
    )
    for crossing, member in zip(run.crossings, json.loads(attributes["polhode_event_members"]), strict=True):
        crossing.member = member
    return scenario, run, tuple(json.loads(attributes["polhode_unknown_forces"]))


def _restore_appearance(given: Any, stored: Any) -> Any:
    """The body, or a system's bodies, with their appearance."""
    from polhode.massprops.appearance_table import restore_appearance

    return restore_appearance(given, stored) if isinstance(given, list) else restore_appearance([given], stored)[0]


def _read_auto_report(text: str) -> AutoReport | None:
    """What "auto" chose, if it was used."""
    stored = json.loads(text)
    return None if stored is None else AutoReport(**stored)


def _event_rows(crossings: list[EventRecord]) -> Array:
    """Event records as rows: event, body, time, whether it ended the run, and the sample."""
    return np.array([[c.event, c.body, c.time, c.ends, *c.sample] for c in crossings])


def _read_event_records(rows: Any, names: list[str]) -> list[EventRecord]:
    return [
        EventRecord(int(row[0]), int(row[1]), float(row[2]), row[4:], name, bool(row[3]))
        for row, name in zip(rows, names, strict=True)
    ]


def _contact_numbers(run: RunResult, number_axes: tuple[str, ...]) -> dict[str, Any]:
    """The numbers of the contacts, from which they are restored."""
    if run.impacts is None:
        return {}
    columns = [np.asarray(run.impacts[name], dtype=np.float64) for name in IMPACT.names or ()]
    bodies = number_axes[1:-1]
    found: dict[str, Any] = {
        CONTACT_LOADS: (("time", *bodies, "contact_number"), run.contact),
        IMPACT_TOTALS: ((*bodies, "impact_total"), run.impact_totals),
    }
    if len(run.impacts):  # an empty array cannot be stored
        found[IMPACT_ROWS] = (("impact", "impact_number"), np.column_stack(columns))
    return found


def _read_impacts(rows: Any) -> Any:
    """The impacts from rows of numbers."""
    found, first = np.zeros(len(rows), dtype=IMPACT), 0
    for name in IMPACT.names or () if len(rows) else ():
        column = found[name]  # a view
        size = int(np.prod(column.shape[1:]))
        column[...] = rows[:, first : first + size].reshape(column.shape)
        first += size
    return found


def _with_members(scenario: Scenario, members: int) -> Scenario:
    """Restore the number of members of a scenario whose members differed only in a force not stored."""
    if not members or scenario.members is not None:
        return scenario
    first, *others = scenario.states
    first = first.replace(position=np.tile(first.position, (members, 1)))
    return replace(scenario, state=[first, *others] if scenario.is_system else first)


def _check_overwrite_run(path: Path) -> None:
    """Overwrite the checkpoints of an unfinished run, too."""
    if not is_unfinished_run(path):
        _check_overwrite(path)


def _check_overwrite(path: Path) -> None:
    """Overwrite a stored motion, but nothing else."""
    if path.exists() and not is_stored_motion(path):
        raise FileError(f"{path} exists and is not a stored motion: choose another name")


def is_stored_motion(path: Path) -> bool:
    """Whether the path holds a stored motion, complete or damaged."""
    try:
        return "polhode_scenario" in json.loads((path / "zarr.json").read_text())["attributes"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


def _fill_values(dataset: xarray.Dataset) -> dict[str, Any]:
    """Fill values for chunks whose file is missing, where Zarr's 0 would look like data: NaN, or -1."""
    kinds = {str(name): dataset[name].dtype.kind for name in dataset.variables}
    return {name: {"fill_value": np.nan if kind == "f" else -1} for name, kind in kinds.items() if kind in "fi"}


def extract_long_lists(content: Any) -> tuple[Any, dict[str, Any]]:
    """The content with long lists of numbers replaced by names of arrays, and these arrays."""
    arrays: dict[str, Any] = {}

    def short(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: short(part) for key, part in value.items()}
        if isinstance(value, np.ndarray):
            name = f"{ARRAY_PREFIX}{len(arrays):04d}"
            arrays[name] = value.ravel()
            return {"array": name, "shape": list(value.shape)}
        if isinstance(value, (list, tuple)):
            if len(value) > LONG_LIST and not isinstance(value[0], (dict, np.ndarray)):
                return short(np.asarray(value, dtype=np.float64))
            return [short(part) for part in value]
        return value

    return short(content), arrays


def insert_long_lists(content: Any, arrays: Mapping[str, Any]) -> Any:
    """The content with its arrays back in their places."""
    if isinstance(content, dict):
        if set(content) == {"array", "shape"}:
            return arrays[content["array"]].reshape(content["shape"])
        return {key: insert_long_lists(part, arrays) for key, part in content.items()}
    if isinstance(content, list):
        return [insert_long_lists(part, arrays) for part in content]
    return content
