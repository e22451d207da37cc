"""A model as one HTML file with live knobs: the page computes the motion itself, with Python's bits and no server."""

from __future__ import annotations

import base64
import gzip
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.equations.scalar_ops import sqrt
from polhode.errors import InputError, nearest, show
from polhode.massprops.body import Body
from polhode.massprops.geometry import GeometrySource, Shape
from polhode.results.audit import audit_motion, common_direction
from polhode.results.motion import Motion
from polhode.scenario.scenario import Scenario
from polhode.solve.live_numbers import KnobError, KnobRange
from polhode.solve.live_program import LiveProgram, LiveRun, build_program
from polhode.solve.simulate import simulate
from polhode.validation import as_leaves
from polhode.web.downsampling import select_outputs
from polhode.web.html_page import build_page
from polhode.web.motion_record import record_motion
from polhode.web.record_encoding import MotionRecord, encode_record

if TYPE_CHECKING:
    from polhode.gallery.gallery_model import Model
    from polhode.gallery.lesson import TryThis


def live_page(
    model: Model,
    values: Mapping[str, float],
    run: str = "",
    knobs: Sequence[str] | None = None,
    program: LiveProgram | None = None,
) -> str:
    """The page of a model with live knobs, beginning with these values.

    Parameters
    ----------
    model : Model
        A model of the gallery, or of your own.
    values : dict
        The values of all its parameters.
    run : str, optional
        The name of the motion that is shown first; by default the first.
    knobs : sequence of str, optional
        The parameters that shall be live.  One that cannot is refused with the reason.  By default all that can; the
        page lists the others with the reason.
    program : LiveProgram, optional
        If it was made before.

    Examples
    --------
    >>> from polhode.gallery import MODELS
    >>> from polhode.gallery.live_page import live_page
    >>> model = MODELS["rotating-frame"]
    >>> "polhode-program" in live_page(model, model.values())
    True
    """
    program = program_of(model, values, knobs) if program is None else program
    names = [one.name for one in program.runs]
    shown = names.index(run) if run in names else 0
    motions = [simulate(one.scenario) for one in program.runs]
    records = [
        _record_run(model, values, one, names, motion if i == shown else _ends_of(motion))
        for i, (one, motion) in enumerate(zip(program.runs, motions, strict=True))
    ]
    runs = [_describe_run(*one) for one in zip(program.runs, motions, records, strict=True)]
    for described, record in zip(runs, records, strict=True):
        is_first = record is records[shown]
        described["record"] = _compress(
            encode_record(record if is_first else _without_meshes_of(record, records[shown]))
        )
    data = {
        "model": {**model.describe(), "lesson": _lesson_of_page(model, values, program)},
        "values": dict(values),
        "knobs": [knob.name for knob in program.knobs],
        "fixed": program.fixed,
        "leftOut": program.left_out,
        "shown": shown,
        "runs": runs,
        "program": _compress(program.text.encode()),
    }
    return build_page({"mode": "file", "title": model.title}, None, data)


def _lesson_of_page(model: Model, values: Mapping[str, float], program: LiveProgram) -> dict[str, Any] | None:
    """The lesson without those steps that need another value of a knob that is fixed, or a run that is left out."""
    lesson, runs = model.lesson, {"", *(one.name for one in program.runs)}
    if lesson is None:
        return None

    def can_be_tried(step: TryThis) -> bool:
        asked = model.values(**step.values)
        return step.run in runs and all(asked[name] == values[name] for name in program.fixed)

    return replace(lesson, steps=tuple(step for step in lesson.steps if can_be_tried(step))).describe()


def program_of(model: Model, values: Mapping[str, float], knobs: Sequence[str] | None = None) -> LiveProgram:
    """The program of a model; raises KnobError if no parameter, or one of those asked for, can be live."""
    known = [p.name for p in model.parameters]
    for name in knobs or ():
        if name not in known:
            raise InputError(f"{model.name} has no parameter {show(name)}: {nearest(name, known)}")
    wanted = [KnobRange(p.name, p.low, p.high) for p in model.parameters if knobs is None or p.name in knobs]

    def build(**given: float) -> Mapping[str, Scenario]:
        made = model.scenario(**given)
        return made if isinstance(made, Mapping) else {"": made}

    try:
        program = build_program(build, wanted, values, lambda run: partial(_extra_numbers, model, run))
    except KnobError as error:
        raise KnobError(f"{model.name} has no live page: {error}") from None
    if knobs is not None and program.fixed:
        name, why = next(iter(program.fixed.items()))
        raise KnobError(f"{name} cannot be a live knob of {model.name}: {why}")
    if knobs is None:
        return program
    fixed = {name: "it was not asked for" for name in known if name not in knobs}
    return program._replace(fixed=fixed)


def _extra_numbers(model: Model, run: str, scenario: Scenario, values: Mapping[str, float]) -> Mapping[str, Any]:
    """What a page shows of the bodies besides their motion, and of what is around them."""
    found: dict[str, Any] = {
        "extra moments": [np.zeros(3) if b.is_particle else b.principal_moments for b in scenario.bodies],
        "extra axes": [b.constants().axes for b in scenario.bodies],
        "extra optional directions": _directions(scenario),
    }
    try:
        found["extra optional stage"] = list(_numbers_in(model.stage_of(values, run).describe()))
    except TypeError:  # a stage that takes plain floats only
        found["extra optional stage"] = []
    if scenario.pivot is not None:
        found["extra pivot_body"] = scenario.pivot
    for i, body in enumerate(dict.fromkeys(scenario.bodies)):
        extent = _extent(body)
        sizes = [
            number for part in body.parts for number in (*part.linear.ravel(), *part.offset, *_sizes_of(part.source))
        ]
        found |= {"the shape that is drawn": sizes} if extent is None else {f"extra extent_{i}": extent}
    return found


def _numbers_in(value: Any) -> Iterator[float]:
    """All numbers in a nest of dictionaries and lists, in order, as front/src/live/record.ts finds them."""
    if isinstance(value, Mapping):
        value = value.values()
    elif isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float | int) and not isinstance(value, bool):
        if math.isfinite(value):
            yield value
    elif not isinstance(value, str | bool) and value is not None:
        for part in value:
            yield from _numbers_in(part)


def _sizes_of(shape: GeometrySource) -> list[float]:
    if not isinstance(shape, Shape):
        return []
    return [number for size in shape.sizes.values() for number in as_leaves(np.ravel(size))]


def _extent(body: Body) -> list[float] | None:
    """Three lengths along the body axes, to which what is drawn is proportional; None if there are no such lengths."""
    if len(body.parts) == 1 and isinstance(body.parts[0].source, Shape):
        shape = body.parts[0].source
        axes, part = _EXTENTS.get(shape.name), body.parts[0]
        is_centered = not np.any(body.center_of_mass) and not np.any(part.offset)
        if axes is not None and is_centered and np.array_equal(part.linear, np.eye(3)):
            sizes = _sizes_of(shape)
            return [sizes[k] for k in axes]
    if body.parts or body.is_particle or not np.array_equal(body.constants().axes, (1, 0, 0, 0)):
        return None
    a, b, c = body.constants().moments
    if not min(b + c - a, c + a - b, a + b - c) > 0:
        return None
    return [sqrt(2.5 * twice / body.mass) for twice in (b + c - a, c + a - b, a + b - c)]


_EXTENTS = {"box": (0, 1, 2), "ellipsoid": (0, 1, 2), "sphere": (0, 0, 0), "cylinder": (0, 0, 1)}
"""Which size of a shape belongs to which axis."""


def _directions(scenario: Scenario) -> list[float]:
    """The direction along which all forces push, if there is one."""
    along = common_direction([f for f in scenario.acting_forces if f.pushes and f.kind != "pair"])
    return [] if along is None else along.tolist()


def _ends_of(motion: Motion) -> Motion:
    """The motion at its first and last output: the page computes the others."""
    found: Motion = select_outputs(motion, np.array([0, len(motion.times) - 1]))  # type: ignore[assignment]
    return found


def _record_run(
    model: Model, values: Mapping[str, float], run: LiveRun, names: list[str], motion: Motion
) -> MotionRecord:
    """A record with everything that does not change with the knobs."""
    record = record_motion(
        motion,
        name=model.name,
        title=model.title,
        runs=names if len(names) > 1 else [],
        run=run.name,
        has_closed_form=False,
        stage=model.stage_of(values, run.name),
    )
    record.meta["notes"] = [
        "This page computes the motion itself, in double precision, by the same operations as Polhode in Python.",
        *_note_on_method(model, values, run),
        *(note for note in record.meta["notes"] if "single precision" not in note),
    ]
    record.meta["computed"] = (
        f"computed by {run.scenario.used_method.name} in this page, formulation {run.scenario.form.name}"
    )
    record.meta["closedFormUnavailable"] = "A page with live knobs does not compute the closed form beside the motion."
    return record


def _without_meshes_of(record: MotionRecord, first: MotionRecord) -> MotionRecord:
    """Leave out meshes that the record shown first has too: the page takes them from there."""
    arrays = dict(record.arrays)
    for i, appearance in enumerate(record.meta["appearances"]):
        names = appearance["vertices"], appearance["faces"]
        if all(name in first.arrays and np.array_equal(arrays[name], first.arrays[name]) for name in names):
            arrays |= {name: arrays[name][:0] for name in names}
            appearance["sameAs"] = i
    return replace(record, arrays=arrays)


def _describe_run(run: LiveRun, motion: Motion, record: MotionRecord) -> dict[str, Any]:
    """A run as the page knows it: what the program computes."""
    seen = run.observables
    return {
        "name": run.name,
        "columns": {column.name: [column.start, column.size] for column in seen.columns},
        "size": seen.size,
        "forces": [{**force, "point": _point(record.meta["forces"], force["name"])} for force in seen.forces],
        "energies": seen.energies,
        "findings": _describe_findings(motion),
        "extra": run.extra,
        "direction": _directions(run.scenario),
        "base": {name: run.numbers[start:end].tolist() for name, (start, end) in run.extra.items()},
        "unfollowed": list(run.unfollowed),
    }


def _note_on_method(model: Model, values: Mapping[str, float], run: LiveRun) -> list[str]:
    made = model.scenario(**values)
    scenario = made[run.name] if isinstance(made, Mapping) else made
    if scenario.method == run.scenario.method:
        return []
    return [
        f'Method "auto" chose {run.scenario.method} with rtol = {np.min(run.scenario.rtol):g} for the first values; '
        "the page keeps that for all values."
    ]


def _point(forces: list[dict[str, Any]], name: str) -> Any:
    found = next((force["point"] for force in forces if force["name"] == name), None)
    return None if found is None else np.asarray(found).tolist()


def _describe_findings(motion: Motion) -> list[dict[str, Any]]:
    """The quantities of the audit: how the page measures them, and what is said of them."""
    kinds = {
        "kinetic energy": "kinetic",
        "energy": "energy",
        "work-energy residual": "work",
        "linear momentum": "momentum",
        "linear momentum across the force": "across",
        "angular momentum": "angular",
        "angular momentum about the origin": "origin",
        "angular momentum about the pivot": "angular",
        "angular momentum about the pivot, along the force": "along",
        "length of q": "drift",
        "orthogonality of R": "drift",
    }
    return [
        {
            "kind": kinds[f.quantity],
            "quantity": f.quantity,
            "unit": f.unit,
            "conserved": f.conserved,
            "reason": f.reason,
        }
        for f in audit_motion(motion).findings
    ]


def _compress(data: bytes) -> str:
    return base64.b64encode(gzip.compress(data, mtime=0)).decode()
