"""A sweep over one knob of a model: the motions side by side in one record, as members of an ensemble."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from polhode.errors import InputError, RunError
from polhode.gallery.gallery_model import Model, run_stored
from polhode.progress import progress_part
from polhode.results.motion import Motion
from polhode.scenario.scenario import Scenario
from polhode.validation import Array
from polhode.web.motion_record import MAX_BODIES_WITH_FORCES, record_motion
from polhode.web.record_encoding import MotionRecord
from polhode.web.stage import Stage

MIN_MEMBERS, MAX_MEMBERS = 5, 41
MAX_OUTPUTS = 601
"""Output times that all members have in common."""
OVER_TIME = ("velocity", "quaternion", "angular_velocity", "angular_momentum")


def record_sweep(
    model: Model, values: Mapping[str, float], knob: str, levels: Sequence[float], *, run: str = "", id: int = 0
) -> MotionRecord:
    """Simulate a model at several values of one knob; the record of all, at common output times.

    The members last as long as the motion at `values`.  Each is simulated by itself, as the model makes it: its step,
    its body and its forces may depend on the knob.

    Examples
    --------
    >>> from polhode.gallery import MODELS
    >>> model = MODELS["dzhanibekov"]
    >>> record = record_sweep(model, model.values(), "spin", [3.0, 4.0, 5.0, 6.0, 7.0])
    >>> record.arrays["quaternion"].shape, record.meta["colors"]["values"]
    ((601, 5, 4), [3.0, 4.0, 5.0, 6.0, 7.0])
    """
    scenarios, runs, chosen = _choose_scenarios(model, values, run)
    first, last = scenarios.start_time, scenarios.end_time
    times = np.linspace(first, last, min(MAX_OUTPUTS, max(2, len(scenarios.times))))
    records, failures = list[MotionRecord](), list[str]()
    for i, level in enumerate(levels):
        one = _choose_scenarios(model, {**values, knob: level}, chosen)[0]
        if one.start_time != first:
            raise InputError(f"{model.name} starts at another time where {knob} is {level:g}: it cannot be swept")
        one = replace(one, duration=max(one.duration, last - first), output_step=None, output_times=times)
        with progress_part(len(levels), i, f"{knob} {level:g}"):
            try:
                motion = run_stored(one)
            except RunError as error:
                motion = error.motion
                failures.append(f"The member with {knob} = {level:g} has failed: {str(error).partition('.')[0]}.")
                if not len(motion.times):
                    raise
        records.append(_at_common_times(motion, times))
    unit = next(p.unit for p in model.parameters if p.name == knob)
    merged = _merge_records(records, times)
    merged.meta.update(
        {
            "id": id,
            "name": model.name,
            "title": model.title,
            "runs": runs,
            "run": chosen if runs else "",
            "stage": _stage_of_many(model.stage_of(values, chosen)).describe(),
            "colors": {"knob": knob, "unit": unit, "values": [float(level) for level in levels]},
        }
    )
    merged.meta["notes"] = [*failures, *merged.meta["notes"]]
    return merged


def _choose_scenarios(model: Model, values: Mapping[str, float], run: str) -> tuple[Scenario, list[str], str]:
    """The scenario named `run`, or the first; the names of all if there are several, and the name of the chosen."""
    by_name = model.name_scenarios(values)
    chosen = run if run in by_name else next(iter(by_name))
    scenario = by_name[chosen]
    if scenario.members is not None or len(scenario.bodies) != 1:
        what = "an ensemble" if scenario.members is not None else f"a system of {len(scenario.bodies)} bodies"
        raise InputError(f"{model.name} is {what}: only models of a single body can be swept")
    return scenario, list(by_name) if len(by_name) > 1 else [], chosen


def _stage_of_many(stage: Stage) -> Stage:
    """What a stage says about one motion alone, such as its camera and its stand, is left out."""
    return replace(stage, camera=None, props=(), grabs=(), frame=None, floor=None)


def _at_common_times(motion: Motion, times: Array) -> MotionRecord:
    """The record of a motion at these times; NaN beyond its end."""
    record = record_motion(motion, has_closed_form=False)
    own = record.arrays["time"]
    rows = np.searchsorted(own, times)
    inside = rows < len(own)
    inside[inside] &= own[rows[inside]] == times[inside]
    arrays = dict(record.arrays)
    for name, array in record.arrays.items():
        if name != "time" and not name.startswith(("vertices_", "faces_", "impact_")) and len(array) == len(own):
            kept = np.full((len(times), *array.shape[1:]), np.nan)
            kept[inside] = array[rows[inside]]
            arrays[name] = kept
    return MotionRecord(record.meta, arrays, record.exact)


def _merge_records(records: Sequence[MotionRecord], times: Array) -> MotionRecord:
    """Records of single bodies at common times as one of an ensemble."""
    first = records[0].meta
    if any(one.meta["hasPivot"] != first["hasPivot"] for one in records):
        raise InputError("some of these motions are on a pivot and others are free: they cannot be shown together")
    meta = dict(first)
    arrays: dict[str, Any] = {"time": times}
    origin = first["origin"]
    shifts = [one.meta["origin"] - origin for one in records]
    arrays["position"] = np.concatenate(
        [one.arrays["position"] + shift for one, shift in zip(records, shifts, strict=True)], axis=1
    )
    for name in OVER_TIME:
        arrays[name] = np.concatenate([one.arrays[name] for one in records], axis=1)
    for name in ("moments", "axes", *(("pivot_body",) if first["hasPivot"] else ())):
        arrays[name] = np.concatenate([one.arrays[name] for one in records])
    if first["hasPivot"]:
        arrays["pivot_world"] = np.concatenate(
            [one.arrays["pivot_world"] + shift for one, shift in zip(records, shifts, strict=True)]
        )
    _merge_appearances(meta, arrays, records)
    _merge_forces(meta, arrays, records)
    _merge_energies_and_drifts(meta, arrays, records)
    _merge_impacts(meta, arrays, records, shifts)
    free = [one.meta["poinsotUnavailable"] for one in records]
    meta |= {
        "axis": "member",
        "members": list(range(len(records))),
        "isFree": not any(free),
        "poinsotUnavailable": next(filter(None, free), ""),
        "closedFormUnavailable": "Not drawn for a sweep.",
        "events": [{**event, "body": k} for k, one in enumerate(records) for event in one.meta["events"]],
        "notes": list(dict.fromkeys(note for one in records for note in one.meta["notes"])),
    }
    return MotionRecord(meta, arrays, frozenset().union(*(one.exact for one in records)) & set(arrays))


def _merge_appearances(meta: dict[str, Any], arrays: dict[str, Any], records: Sequence[MotionRecord]) -> None:
    meta["appearances"], shapes, index = [], list[tuple[Any, ...]](), []
    for one in records:
        (look,) = one.meta["appearances"]
        vertices, faces = one.arrays[look["vertices"]], one.arrays[look["faces"]]
        key = (look["kind"], look["sentence"], np.asarray(vertices).tobytes(), np.asarray(look["axes"]).tobytes())
        if key not in shapes:
            n = len(shapes)
            shapes.append(key)
            arrays[f"vertices_{n}"], arrays[f"faces_{n}"] = vertices, faces
            meta["appearances"].append({**look, "vertices": f"vertices_{n}", "faces": f"faces_{n}"})
        index.append(shapes.index(key))
    arrays["appearance_index"] = np.array(index)


def _merge_forces(meta: dict[str, Any], arrays: dict[str, Any], records: Sequence[MotionRecord]) -> None:
    """Forces and torques that all members have; of many members none, as for other ensembles."""
    meta["forces"], meta["forcesOmitted"] = [], len(records) > MAX_BODIES_WITH_FORCES
    zero = np.zeros((len(arrays["time"]), 1, 3))
    if meta["forcesOmitted"]:
        return
    if any("torque" in one.arrays for one in records):
        arrays["torque"] = np.concatenate([one.arrays.get("torque", zero) for one in records], axis=1)
    by_name = [{force["name"]: force for force in one.meta["forces"]} for one in records]
    names = dict.fromkeys(name for forces in by_name for name in forces)
    for i, name in enumerate(names):
        parts = [
            one.arrays[forces[name]["array"]] if name in forces else zero
            for one, forces in zip(records, by_name, strict=True)
        ]
        arrays[f"force_{i}"] = np.concatenate(parts, axis=1)
        known = next(forces[name] for forces in by_name if name in forces)
        meta["forces"].append({**known, "array": f"force_{i}"})


def _merge_energies_and_drifts(meta: dict[str, Any], arrays: dict[str, Any], records: Sequence[MotionRecord]) -> None:
    """Energies of each member; of the drifts and of the findings the largest of all."""
    meta["energies"], meta["drifts"], meta["findings"] = [], [], []
    for energy in records[0].meta["energies"]:
        if all(energy["array"] in one.arrays for one in records):
            arrays[energy["array"]] = np.concatenate([one.arrays[energy["array"]] for one in records], axis=1)
            meta["energies"].append(energy)
    for drift in records[0].meta["drifts"]:
        parts = [
            one.arrays[other["array"]]
            for one in records
            for other in one.meta["drifts"]
            if other["name"] == drift["name"]
        ]
        if len(parts) == len(records):
            array = f"drift_{len(meta['drifts'])}"
            arrays[array] = np.fmax.reduce(parts)
            meta["drifts"].append({**drift, "array": array})
    for finding in records[0].meta["findings"]:
        same = [f for one in records for f in one.meta["findings"] if f["quantity"] == finding["quantity"]]
        changed = [f for f in same if not f["conserved"]]
        meta["findings"].append(changed[0] if changed else max(same, key=lambda f: np.nan_to_num(f["relative"])))


def _merge_impacts(
    meta: dict[str, Any], arrays: dict[str, Any], records: Sequence[MotionRecord], shifts: Sequence[Array]
) -> None:
    having = [(k, one, shifts[k]) for k, one in enumerate(records) if one.meta["hasImpacts"]]
    meta["hasImpacts"] = bool(having)
    if not having:
        return
    time = np.concatenate([one.arrays["impact_time"] for _, one, _ in having])
    order = np.argsort(time, kind="stable")
    arrays["impact_time"] = time[order]
    arrays["impact_point"] = np.concatenate([one.arrays["impact_point"] + shift for _, one, shift in having])[order]
    arrays["impact_impulse"] = np.concatenate([one.arrays["impact_impulse"] for _, one, _ in having])[order]
    arrays["impact_body"] = np.concatenate([np.full(len(one.arrays["impact_time"]), k) for k, one, _ in having])[order]
