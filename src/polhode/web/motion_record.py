"""The record of a motion that the page displays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from polhode.equations.pivot import angular_momentum_about_pivot, torque_about_pivot
from polhode.equations.quaternions import to_world
from polhode.errors import InputError
from polhode.massprops.appearance import Appearance, appearance_of
from polhode.massprops.geometry import Indices
from polhode.quantities import dynamics
from polhode.quantities.page import describe_quantity
from polhode.results.audit import audit_motion
from polhode.results.contact_patches import contact_patches
from polhode.results.dataset import quantities_of
from polhode.results.trajectory import Trajectory
from polhode.scenario.contact import HalfSpace
from polhode.scenario.force import Force
from polhode.scenario.state import apply_to_vectors, stack_components
from polhode.validation import Array
from polhode.web import downsampling, notes
from polhode.web.closed_form_overlay import ClosedFormOverlay, find_closed_form
from polhode.web.decimation import decimate_mesh
from polhode.web.record_encoding import MotionRecord
from polhode.web.stage import Stage

MAX_BODIES_WITH_FORCES = 20
"""Forces are sent for at most this many bodies."""
FLOAT32_ROUNDING, POSITION_TOLERANCE = 2.0**-24, 1e-4
"""Positions are sent in 64 bits if float32 rounding exceeds this fraction of the smallest body."""
MAX_IMPACTS = 50_000
"""Points of contact that are sent at most."""
PATCH_MARGIN, PATCH_ROOM, PATCH_CELLS = 1.15, 2.5, 14
"""Half the size of a floor: so many times half the extent of the paths and so many sizes of a body; its squares."""
FREE_TOLERANCE = 1e-2
"""Maximum relative change of L for Poinsot's construction."""


@np.errstate(over="ignore", invalid="ignore")  # from members that failed
def record_motion(
    motion: Trajectory,
    *,
    id: int = 0,
    name: str = "",
    title: str = "",
    runs: Sequence[str] = (),
    run: str = "",
    stage: Stage | None = None,
    has_closed_form: bool = True,
) -> MotionRecord:
    """The record of a motion, downsampled for display, with the appearance of each body.

    `id` is the request that it answers; `runs` are the names of all motions of a model, and `run` is that of this one.
    `stage` is how the page shows it at first; by default that of the model that made it, if one did.
    Without `has_closed_form` the closed form beside the motion is left out, which saves time.

    Examples
    --------
    >>> import polhode as ph
    >>> from polhode.web.motion_record import record_motion
    >>> box, spin = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0), ph.State(angular_velocity_body=(0.1, 5.0, 0.1))
    >>> record = record_motion(ph.simulate(box, spin, duration=3.0, output_step=0.01, method="rk4", step=0.01))
    >>> record.arrays["quaternion"].shape
    (301, 1, 4)
    """
    if len(motion.times) == 0:
        raise InputError("this motion has no output times: there is nothing to show")
    members = downsampling.select_visible_members(motion)
    some = downsampling.restrict_to_members(motion, members)
    fine = downsampling.refine_exact_motion(some)
    rows = downsampling.select_times(fine, len(members))
    shown = downsampling.select_outputs(fine, rows)
    if stage is None:
        stage = Stage() if motion.model_run is None else motion.model_run.stage
    appearances, appearance_index = _collect_appearances(shown)
    if stage.likeness is not None:
        like = Appearance("likeness", appearance_of(stage.likeness).surface)
        appearances = [like if appearance.kind == "ellipsoid" else appearance for appearance in appearances]
    meta: dict[str, Any] = {
        "id": id,
        "name": name or motion.scenario.name or "motion",
        "title": title or motion.scenario.name or "",
        "axis": motion.axis,
        "runs": list(runs),
        "run": run,
        "members": members,
        "unknownForces": list(motion.unknown_forces),
        "stage": stage.describe(),
        "forcesOmitted": len(members) > MAX_BODIES_WITH_FORCES,
    }
    arrays: dict[str, Any] = {"time": shown.times}
    exact = {"time"}
    _add_poses(meta, arrays, exact, shown, appearances)
    _add_bodies(meta, arrays, shown, appearances, appearance_index)
    _add_forces(meta, arrays, shown)
    _add_energies(meta, arrays, shown)
    _add_quantities(meta, arrays, shown)
    _add_drift(meta, arrays, some, fine, rows)
    _add_closed_form(meta, arrays, exact, shown, has_closed_form)
    _add_contacts(meta, arrays, exact, shown, appearances)
    meta["events"] = notes.collect_event_markers(shown)
    meta["notes"] = notes.compose_notes(motion, shown, appearances)
    return MotionRecord(meta, arrays, frozenset(exact))


def _with_body_axis(motion: Trajectory, values: Array) -> Array:
    """Values of shape (times, bodies, ...), also for a single body."""
    return values[:, None] if motion.axis is None else values


def _add_poses(
    meta: dict[str, Any], arrays: dict[str, Any], exact: set[str], motion: Trajectory, appearances: list[Appearance]
) -> None:
    position = _with_body_axis(motion, motion.position)
    known = np.isfinite(position).all(axis=-1)
    origin = np.zeros(3)
    if known.any():
        middle = (position[known].min(axis=0) + position[known].max(axis=0)) / 2
        spread = float(np.ptp(position[known], axis=0).max())
        size = max([appearance.size for appearance in appearances] + [spread])
        if np.abs(middle).max() > 100 * size:  # far from the origin: relative to the middle of the path
            origin = middle
        smallest = min([appearance.size for appearance in appearances if appearance.size] or [spread])
        if np.abs(position[known] - origin).max() * FLOAT32_ROUNDING > POSITION_TOLERANCE * smallest:
            exact.add("position")
    arrays["position"] = position - origin
    arrays["velocity"] = _with_body_axis(motion, motion.velocity)
    arrays["quaternion"] = _with_body_axis(motion, _normalize_quaternion(motion.quaternion_wxyz))
    arrays["angular_velocity"] = _with_body_axis(motion, motion.angular_velocity)
    momentum = _with_body_axis(motion, motion.angular_momentum)
    meta["origin"], meta["hasPivot"] = origin, motion.scenario.pivot is not None
    if motion.scenario.pivot is not None:
        pivot = _pivot_positions(motion)
        linear_momentum = _with_body_axis(motion, motion.linear_momentum)
        momentum = apply_to_vectors(angular_momentum_about_pivot, momentum, position - pivot, linear_momentum)
        arrays["pivot_world"] = pivot[0] - origin
        arrays["pivot_body"] = np.broadcast_to(motion.scenario.pivot, pivot[0].shape)
    arrays["angular_momentum"] = momentum


def _normalize_quaternion(q: Array) -> Array:
    """Unit quaternions, also if the motion was not renormalized: the rotation is that of q/|q|."""
    return np.asarray(q / np.linalg.norm(q, axis=-1, keepdims=True))


def _pivot_positions(motion: Trajectory) -> Array:
    """Position of the pivot of each body or member, (times, bodies, 3); constant up to rounding."""
    point = np.broadcast_to(np.asarray(motion.scenario.pivot), (motion.scenario.count, 3))
    q: Any = tuple(np.moveaxis(_with_body_axis(motion, _normalize_quaternion(motion.quaternion_wxyz)), -1, 0))
    return np.asarray(
        _with_body_axis(motion, motion.position)
        + stack_components(to_world(q, (point[:, 0], point[:, 1], point[:, 2])))
    )


def _collect_appearances(motion: Trajectory) -> tuple[list[Appearance], Indices]:
    """The different appearances, and the index of that of each body."""
    scenario = motion.scenario
    if motion.axis == "member":
        (body,) = scenario.bodies
        if body.members is None:
            return [appearance_of(body)], np.zeros(scenario.count, dtype=np.int64)
        several = min(scenario.count, notes.MAX_APPEARANCES) if scenario.count <= notes.MAX_APPEARANCES else 1
        appearances = [appearance_of(scenario.take(i).bodies[0]) for i in range(several)]
        return appearances, np.arange(scenario.count) % several
    different = list({id(body): body for body in scenario.bodies}.values())
    places = {id(body): i for i, body in enumerate(different)}
    return [appearance_of(body) for body in different], np.array([places[id(b)] for b in scenario.bodies])


def _add_bodies(
    meta: dict[str, Any],
    arrays: dict[str, Any],
    motion: Trajectory,
    appearances: list[Appearance],
    appearance_index: Indices,
) -> None:
    """Appearances, and the principal moments and axes of each body."""
    meta["appearances"] = []
    axes = [body.constants().axes for body in motion.scenario.bodies]
    each = np.stack(
        [np.broadcast_to(stack_components(a), (notes.count_members(motion), 4)) for a in axes], axis=1
    ).reshape(-1, 4)
    moments = [np.zeros(3) if b.is_particle else b.principal_moments for b in motion.scenario.bodies]
    arrays["moments"] = np.stack(
        [np.broadcast_to(m, (notes.count_members(motion), 3)) for m in moments], axis=1
    ).reshape(-1, 3)
    arrays["axes"], arrays["appearance_index"] = each, appearance_index
    for i, appearance in enumerate(appearances):
        surface = decimate_mesh(appearance.surface, notes.MAX_FACES)
        arrays[f"vertices_{i}"], arrays[f"faces_{i}"] = surface.vertices, surface.faces.astype(np.uint32)
        meta["appearances"].append(
            {
                "kind": appearance.kind,
                "sentence": appearance.sentence,
                "size": appearance.size,
                "vertices": f"vertices_{i}",
                "faces": f"faces_{i}",
                "axes": each[int(np.flatnonzero(appearance_index == i)[0])],
            }
        )


def _add_forces(meta: dict[str, Any], arrays: dict[str, Any], motion: Trajectory) -> None:
    """Each force, the total torque, and whether the motion is torque-free."""
    scenario, meta["forces"] = motion.scenario, []
    rotates = not all(body.is_particle for body in scenario.bodies) and bool(np.any(motion.angular_velocity_body))
    if motion.unknown_forces:
        meta["isFree"], meta["poinsotUnavailable"] = False, "A force is unknown: a file cannot store it."
        return
    acting = [f for f in scenario.forces if f.kind != "impulse"]
    torque = np.zeros_like(motion.position)
    by_contacts = motion.contact_torques if scenario.contacts else torque
    if acting:
        push, torque = dynamics.loads(motion, acting)
        if scenario.pivot is not None:
            pivots = _pivot_positions(motion)
            pivot_to_com = motion.position - (pivots[:, 0] if motion.axis is None else pivots)
            torque = apply_to_vectors(torque_about_pivot, torque, pivot_to_com, push)
    torque = torque + by_contacts
    if motion.scenario.count <= MAX_BODIES_WITH_FORCES:
        if np.nan_to_num(torque).any():
            arrays["torque"] = _with_body_axis(motion, torque)
        names = [f.name for f in acting]
        for i, f in enumerate(acting):
            name = f.name if names.count(f.name) == 1 else f"{f.name} {names[: i + 1].count(f.name)}"
            _add_force(meta, arrays, motion, f"force_{i}", name, dynamics.loads(motion, [f])[0], _application_point(f))
        if scenario.contacts:
            _add_force(meta, arrays, motion, "contact_force", "contact force", motion.contact_forces, None)
        if scenario.pivot is not None and motion.axis is None:
            _add_force(meta, arrays, motion, "reaction", "reaction of the pivot", dynamics.reaction_force(motion), None)
    momenta = motion.angular_momentum
    size = np.linalg.norm(momenta, axis=-1).max(initial=0.0, where=np.isfinite(momenta).all(axis=-1))
    is_constant = np.nanmax(np.abs(momenta - momenta[:1]), initial=0.0) <= FREE_TOLERANCE * size
    meta["poinsotUnavailable"] = (
        "Nothing rotates."
        if not rotates
        else "The body is on a pivot; the construction is drawn for free bodies only."
        if scenario.pivot is not None
        else "The body has rotors, a mass that changes or added mass; the construction is drawn for rigid bodies only."
        if scenario.is_extended
        else "The body strikes something: the angular momentum changes, so there is no invariable plane."
        if scenario.contacts and len(motion.impacts)
        else "A torque or an impulse acts: the angular momentum changes, so there is no invariable plane."
        if np.nan_to_num(torque).any() or not is_constant
        else ""
    )
    meta["isFree"] = meta["poinsotUnavailable"] == ""


def _add_force(
    meta: dict[str, Any], arrays: dict[str, Any], motion: Trajectory, array: str, name: str, values: Array, point: Any
) -> None:
    if np.nan_to_num(values).any():
        arrays[array] = _with_body_axis(motion, values)
        meta["forces"].append({"name": name.replace("_", " "), "unit": "N", "point": point, "array": array})


def _application_point(force: Force) -> Any:
    """The point of application of a force in the body, if it is the same for all bodies."""
    named = (force.arguments.get(name) for name in ("com_to_point_body", "com_to_nozzle_body"))
    return next((np.asarray(point) for point in named if point is not None and np.shape(point) == (3,)), None)


def _add_energies(meta: dict[str, Any], arrays: dict[str, Any], motion: Trajectory) -> None:
    meta["energies"] = []
    for name, values in dynamics.energies(motion).items():
        arrays[f"energy_{name}"] = values.reshape(len(motion.times), -1)
        meta["energies"].append({"name": name, "unit": "J", "array": f"energy_{name}"})


def _add_quantities(meta: dict[str, Any], arrays: dict[str, Any], motion: Trajectory) -> None:
    """What the plots show besides what they compute from poses, momenta and forces."""
    meta["quantities"] = []
    if len(motion.axes) > 1 or (motion.axis == "body" and motion.scenario.count > MAX_BODIES_WITH_FORCES):
        return
    for name, one in quantities_of(motion).items():
        if one.on_page:
            values = np.asarray(one.values(motion), dtype=np.float64)
            counts = values.shape[values.ndim - len(one.axes) :]
            is_per_body = not (one.of_system and motion.axis == "body")
            rows = _with_body_axis(motion, values) if is_per_body else values
            arrays[f"quantity_{name}"] = rows.reshape(*rows.shape[: 1 + is_per_body], -1)
            about = {"name": name, "isPerBody": is_per_body, "array": f"quantity_{name}"}
            meta["quantities"].append({**describe_quantity(one, counts), **about})


def _add_drift(
    meta: dict[str, Any], arrays: dict[str, Any], motion: Trajectory, fine: Trajectory, rows: Indices
) -> None:
    """The audit; the largest drift of omitted outputs is assigned to the output shown before them."""
    audit = audit_motion(motion)
    meta["computed"] = audit.computed
    fields = ("quantity", "unit", "conserved", "relative", "time", "reason")
    meta["findings"] = [{"drift": f.departure, **{name: getattr(f, name) for name in fields}} for f in audit.findings]
    meta["drifts"] = []
    for finding in (audit if fine is motion else audit_motion(fine)).findings:
        if finding.conserved:
            array = f"drift_{len(meta['drifts'])}"
            history = finding.history[-len(fine.times) :]  # an audit includes the start, even if it is not an output
            arrays[array] = np.fmax.reduceat(history, rows)[:, None]
            meta["drifts"].append({"name": finding.quantity, "unit": "1", "array": array})


def _add_closed_form(
    meta: dict[str, Any], arrays: dict[str, Any], exact: set[str], motion: Trajectory, is_wanted: bool
) -> None:
    found: ClosedFormOverlay | str
    if motion.scenario.count > MAX_BODIES_WITH_FORCES:
        found = "Not drawn: there are too many bodies."
    else:
        found = find_closed_form(motion) if is_wanted else "Not drawn while a knob is dragged."
    meta["hasClosedForm"] = isinstance(found, ClosedFormOverlay)
    meta["closedFormUnavailable"] = found if isinstance(found, str) else ""
    if isinstance(found, ClosedFormOverlay):
        arrays["closed_form_quaternion"] = _with_body_axis(motion, found.quaternion_wxyz)
        arrays["closed_form_position"] = _with_body_axis(motion, found.position) - meta["origin"]
        arrays["closed_form_velocity"] = _with_body_axis(motion, found.velocity)
        arrays["closed_form_angular_velocity"] = _with_body_axis(motion, found.angular_velocity)
        exact |= {f"closed_form_{name}" for name in exact & {"position"}}


def _add_contacts(
    meta: dict[str, Any], arrays: dict[str, Any], exact: set[str], motion: Trajectory, appearances: list[Appearance]
) -> None:
    """Floors, walls and slopes around the motion, and the points of contact with their impulses."""
    surfaces = [c for c in motion.scenario.contacts if isinstance(c, HalfSpace)]
    places = motion.position.reshape(-1, 3)
    places = places[np.isfinite(places).all(axis=1)]
    meta["contacts"], meta["hasImpacts"], meta["patches"] = [c.name for c in motion.scenario.contacts], False, []
    if surfaces and len(places):
        low, high = places.min(axis=0), places.max(axis=0)
        size = max(appearance.size for appearance in appearances) or float(np.ptp(places, axis=0).max()) or 1.0
        radius = PATCH_MARGIN * (float((high - low).max()) / 2 + PATCH_ROOM * size)
        for patch in contact_patches(surfaces, (low + high) / 2, radius, PATCH_CELLS):
            if len(patch.corners) > 2:
                one = {"name": patch.name, "corners": patch.corners - meta["origin"], "cell": patch.cell}
                meta["patches"].append({**one, "lines": (patch.lines - meta["origin"]).reshape(-1, 3)})
    if motion.scenario.contacts and len(motion.impacts):
        impacts = motion.impacts.marked[:MAX_IMPACTS]
        meta["hasImpacts"] = True
        arrays["impact_time"] = impacts.time
        arrays["impact_point"] = impacts.point - meta["origin"]
        arrays["impact_impulse"] = impacts.impulse
        arrays["impact_body"] = impacts.member if motion.axis == "member" else impacts.body
        exact |= {"impact_time", "impact_point"}
