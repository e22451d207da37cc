"""Runs with contacts: bodies that fall on fixed surfaces, rebound, slide, roll and come to rest."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from polhode.equations.quaternions import conjugate, product, to_body
from polhode.integrate.contacts.contact_distance import SKIN
from polhode.integrate.contacts.contact_scene import (
    AT_COARSE,
    AT_IMPACTS,
    AT_LOGGED,
    AT_LOST,
    AT_OUTPUT,
    AT_STATE,
    AT_STATUS,
    AT_STEP,
    AT_STEPS,
    AT_TIME,
    CROWDED,
    ENDLESS,
    INSIDE,
    LOG_FULL,
    LOG_NUMBERS,
    MEMORY,
    MOST_POINTS,
    NOT_FINITE,
    OVERLAP,
    PARADOX,
    RUNNING,
    STARTS_INSIDE,
    ContactRun,
)
from polhode.integrate.contacts.contact_shapes import (
    AXIS,
    CENTER,
    CIRCLE,
    CIRCLE_ROW,
    ELLIPSOID,
    FEATURE,
    KIND,
    OWN,
    PLANE,
    RADIUS,
    REACH,
    RIM,
    ROUNDING,
)
from polhode.integrate.integrator import Integrator, on_threads
from polhode.integrate.outputs import Outputs
from polhode.integrate.run_plan import RunPlan
from polhode.integrate.run_result import IMPACT, Failure, Report, RunResult
from polhode.integrate.run_state import Log
from polhode.integrate.timeline import Segment
from polhode.massprops.body import Body
from polhode.scenario.contact import BodyContact, HalfSpace
from polhode.scenario.outline import outline_of
from polhode.scenario.scenario import Scenario
from polhode.validation import Array

RIM_POINTS = 8
"""Points of a circle's rim on which it rests where it lies flat."""
ROUND = 1e-3
"""A body is round all over if it is rounded by balls of this fraction of the size, at least."""
LOG_ROWS = 4096
"""Rows of impacts of a single run before the loop returns; an ensemble shares a larger number among its members."""
ENSEMBLE_ROWS = 1_000_000
BUDGET = 50_000
"""Segments of a unit before the loop returns to report progress."""
FAILURES = {
    ENDLESS: "stalled",
    PARADOX: "painleve",
    NOT_FINITE: "non-finite",
    CROWDED: "crowded",
    INSIDE: "inside",
    OVERLAP: "overlap",
}


class ContactSteps(Integrator):
    """Bodies in contact with half-spaces and with each other."""

    STATE = (*Integrator.STATE, "memory")
    LOGS = (Log("impacts", "logged", np.concatenate, lambda rows: [rows] if len(rows) else []),)

    def __init__(self, run: RunPlan, threads: int | None = None, report: Report | None = None) -> None:
        super().__init__(run, threads, report)
        scenario = run.scenario
        units, bodies = len(self.buffer), len(scenario.bodies)
        self.features, self.first, self.feature_step = _stack_features(scenario.bodies, units)
        self.planes, self.plane_step = _stack_planes(scenario, units)
        self.pair_bodies, self.pair_laws, self.pair_step = _stack_pairs(scenario, units)
        self.sizes = np.array([_size_of(self.features, self.first, b) for b in range(bodies)])
        far = max(float(np.abs(state.position).max()) for state in scenario.states)
        self.sizes[self.sizes == 0.0] = far or 1.0  # a particle is measured by where it is
        self.pair_skins = np.array([self._skin(a, b) for a, b in self.pair_bodies])
        self.memory = np.zeros((units, MEMORY))
        self.memory[:, AT_STEP] = scenario.step or 0.0  # 0: chosen by the size and weight of the bodies
        keeps = scenario.members is None or len(scenario.times) > 1
        rows = LOG_ROWS if scenario.members is None else max(4 * MOST_POINTS, ENSEMBLE_ROWS // units)
        self.log = np.zeros((units, rows if keeps else 0, LOG_NUMBERS))
        self.logged: list[Array] = []
        self.forces: list[Array] = []

    def _skin(self, a: int, b: int) -> float:
        """The distance at which two bodies touch: 0 if one is round all over, so that the normal has all its digits."""
        size = float(self.sizes[a] + self.sizes[b])
        rounding = sum(_least_rounding(self.features, self.first, body) for body in (a, b))
        return 0.0 if rounding > ROUND * size else SKIN * size

    def save(self) -> Any:
        return super().save(), self.forces[-1:]

    def restore(self, saved: Any) -> None:
        before, self.forces[:] = saved
        super().restore(before)

    def new_outputs(self, record: ContactRun) -> Outputs:
        return Outputs.of_one_clock(record.out, record.contact)

    def outputs_of(self, record: ContactRun, count: int) -> Array:
        """With the loads of the contacts, which are kept."""
        contact = record.contact[:count]
        self.forces.append(contact.reshape(len(contact), self.scenario.count, 8))
        return self.packing.unpack(record.out[:count])

    def pop_impacts(self) -> Any:
        """The impacts since the last call, in order of time."""
        impacts = self._tabulate_impacts()
        self.logged.clear()
        return impacts

    def segment_record(self, segment: Segment) -> ContactRun:
        a, b, wanted = segment.start, segment.end, segment.outputs
        units, bodies = len(self.buffer), len(self.scenario.bodies)
        return ContactRun(
            self.buffer,
            self.pairs,
            float(a),
            float(b - a),
            np.ascontiguousarray(wanted - a),
            np.full((len(wanted), units, bodies * self.layout.sample_size), np.nan),
            np.zeros((len(wanted), units, bodies * 8)),
            self.memory,
            self.log,
            self.features,
            self.planes,
            np.repeat(np.arange(bodies), np.diff(self.first).astype(int)),
            self.first,
            self.pair_bodies,
            self.pair_skins,
            self.pair_laws,
            self.pair_step,
            sum(isinstance(c, HalfSpace) for c in self.scenario.contacts),
            self.plane_step,
            self.feature_step,
            self.sizes,
            min(self.scenario.tolerances[0]),
            self.scenario.used_method.is_closed_form,
            BUDGET,
        )

    def integrate(self, segment: Segment) -> Array:
        units, a, wanted = len(self.buffer), segment.start, segment.outputs
        run = self.segment_record(segment)
        outputs, inside = self.begin_outputs(run)
        if not inside:
            self.memory[:, [AT_TIME, AT_OUTPUT, AT_STATUS]] = 0.0
        self.check_program(run)
        advance = self.plan.program.bind(run)
        while True:
            on_threads(advance, units, self.threads)
            self._take_log()
            outputs.done[0] = int(self.memory[:, AT_OUTPUT].min())
            status = self.memory[:, AT_STATUS]
            going = (status == RUNNING) | (status == LOG_FULL)
            if self.report is not None:
                self.report(a + float(self.memory[going, AT_TIME].min()) if going.any() else segment.end)
            if not going.any():
                break
            if self.journal is not None and self.journal.is_due():
                self.write_outputs(outputs)
                self.write_snapshot(a + float(self.memory[going, AT_TIME].min()), {})
        self.write_outputs(outputs)
        self.steps = int(self.memory[:, AT_STEPS].sum())
        self._find_failure(a)
        is_short = self.failure is not None and self.scenario.members is None
        if self.is_stepped:  # only the last ones are asked for
            self.forces.clear()
        return self.outputs_of(run, int(outputs.done[0]) if is_short else len(wanted))

    def _take_log(self) -> None:
        counts = self.memory[:, AT_LOGGED].astype(int)
        if not counts.any():
            return
        units = np.repeat(np.arange(len(counts)), counts)
        rows = np.concatenate([self.log[u, :n] for u, n in enumerate(counts) if n])
        self.logged.append(np.column_stack([rows, units]))
        self.memory[:, AT_LOGGED] = 0.0

    def _find_failure(self, a: float) -> None:
        status = self.memory[:, AT_STATUS]
        failed = status > LOG_FULL
        if not failed.any():
            return
        unit = int(np.argmax(failed))
        bodies = len(self.scenario.bodies)
        time = a + float(self.memory[unit, AT_TIME])
        body = unit * bodies
        if int(status[unit]) == STARTS_INSIDE:
            first, other = self.pair_bodies[int(self.memory[unit, AT_STATE])]
            reason, body = f"starts inside body {other}", body + int(first)
        else:
            reason = FAILURES[int(status[unit])]
        self.failure = Failure(reason, time, body, self.samples[body])

    def record(self, result: RunResult) -> None:
        """Write what happened at the contacts into the result of the run."""
        shape = self.scenario.shape
        result.contact = np.concatenate(self.forces)[: len(result.times)].reshape(-1, *shape, 8)
        totals = np.repeat(self.memory[:, None, [AT_IMPACTS, AT_LOST, AT_COARSE]], len(self.scenario.bodies), axis=1)
        result.impact_totals = totals.reshape(*shape, 3)
        result.impacts = self._tabulate_impacts()

    def _tabulate_impacts(self) -> Any:
        rows = np.concatenate([np.zeros((0, LOG_NUMBERS + 1)), *self.logged])
        impacts = np.zeros(len(rows), dtype=IMPACT)
        surfaces = [i for i, c in enumerate(self.scenario.contacts) if isinstance(c, HalfSpace)]
        surfaces += [i for i, c in enumerate(self.scenario.contacts) if isinstance(c, BodyContact)]  # the last: -1
        impacts["time"], impacts["body"], impacts["other"] = rows[:, 0], rows[:, 1], rows[:, 2]
        impacts["member"] = -1 if self.scenario.members is None else rows[:, -1]
        impacts["surface"] = np.array(surfaces, dtype=int)[rows[:, 3].astype(int)]
        impacts["point"], impacts["normal"] = rows[:, 4:7], rows[:, 7:10]
        impacts["normal_impulse"], impacts["tangential_impulse"] = rows[:, 10], rows[:, 11:14]
        impacts["energy_lost"], impacts["kind"] = rows[:, 14], rows[:, 15]
        return impacts[np.argsort(impacts["time"], kind="stable")]


def _size_of(features: Array, first: Array, body: int) -> float:
    rows = features.reshape(-1, first[-1], FEATURE)[:, first[body] : first[body + 1]]
    return float((rows[..., REACH] + rows[..., ROUNDING]).max())


def _least_rounding(features: Array, first: Array, body: int) -> float:
    rows = features.reshape(-1, first[-1], FEATURE)[:, first[body] : first[body + 1]]
    return float(np.where(rows[..., KIND] == ELLIPSOID, 0.0, rows[..., ROUNDING]).min())


def _stack_features(bodies: tuple[Body, ...], units: int) -> tuple[Array, Array, int]:
    """The features of all bodies in principal axes, where those of each body begin, and the rows of each unit."""
    each = [_features_of(body) for body in bodies]
    first = np.cumsum([0, *(rows.shape[-2] for rows in each)])
    if all(rows.ndim == 2 for rows in each):
        joined = np.concatenate([_count_circles(rows, n) for rows, n in zip(each, first, strict=False)])
        return np.ascontiguousarray(joined), first, 0
    counted = [_count_circles(rows, n) for rows, n in zip(each, first, strict=False)]
    joined = np.concatenate([np.broadcast_to(rows, (units, *rows.shape[-2:])) for rows in counted], axis=1)
    return np.ascontiguousarray(joined.reshape(-1, FEATURE)), first, int(first[-1])


def _count_circles(rows: Array, first: int) -> Array:
    """The rows with the circle of a rim point counted among the features of all bodies."""
    counted = rows.copy()
    counted[..., CIRCLE_ROW] += first
    return counted


def _features_of(body: Body) -> Array:
    outline = outline_of(body)
    rows = np.zeros((*outline.shape[:-1], FEATURE))
    rows[..., : outline.shape[-1]] = outline
    axes = tuple(np.moveaxis(np.asarray(body.principal_axes.as_quat(scalar_first=True)), -1, 0)[..., None])

    def turned(part: slice) -> Array:
        return np.stack(to_body(axes, tuple(np.moveaxis(rows[..., part], -1, 0))), axis=-1)

    rows[..., CENTER : CENTER + 3] = turned(slice(CENTER, CENTER + 3))
    is_circle = rows[..., KIND] == CIRCLE
    axis = turned(slice(AXIS, AXIS + 3))
    rows[..., AXIS : AXIS + 3] = np.where(is_circle[..., None], axis, rows[..., AXIS : AXIS + 3])
    own = np.moveaxis(rows[..., OWN : OWN + 4], -1, 0)
    rows[..., OWN : OWN + 4] = np.stack(product(conjugate(axes), tuple(own)), axis=-1)
    reach = np.linalg.norm(rows[..., CENTER : CENTER + 3], axis=-1)
    longest = np.where(rows[..., KIND] == ELLIPSOID, rows[..., AXIS : AXIS + 3].max(axis=-1), rows[..., RADIUS])
    rows[..., REACH] = reach + longest
    rims = [_rim_of(rows[..., i, :], i) for i in range(rows.shape[-2]) if is_circle[..., i].all()]
    return np.concatenate([rows, *rims], axis=-2)


def _rim_of(circle: Array, row: int) -> Array:
    """Points of the rim of a circle, evenly spaced."""
    axis, rho = circle[..., AXIS : AXIS + 3], circle[..., RADIUS, None]
    helper = np.where(np.abs(axis[..., :1]) < 0.6, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    first = np.cross(axis, helper)
    first /= np.linalg.norm(first, axis=-1, keepdims=True)
    second = np.cross(axis, first)
    points = []
    for angle in 2 * np.pi * np.arange(RIM_POINTS) / RIM_POINTS:
        point = circle.copy()
        point[..., KIND], point[..., CIRCLE_ROW] = RIM, row
        point[..., CENTER : CENTER + 3] += rho * (np.cos(angle) * first + np.sin(angle) * second)
        points.append(point)
    return np.stack(points, axis=-2)


def _stack_pairs(scenario: Scenario, units: int) -> tuple[Any, Array, int]:
    """The pairs of bodies that can touch, their restitution and friction, and how many rows of it each unit has."""
    between = [c for c in scenario.contacts if isinstance(c, BodyContact)]
    if not between:
        return np.zeros((0, 2), dtype=np.int64), np.zeros((1, 2)), 0
    law = np.stack(np.broadcast_arrays(between[0].restitution, between[0].friction), axis=-1).reshape(-1, 2)
    if between[0].members is not None:
        law = np.broadcast_to(law, (units, 2))
    pairs = np.array(list(combinations(range(len(scenario.bodies)), 2)), dtype=np.int64)
    return pairs, np.ascontiguousarray(law, dtype=np.float64), int(between[0].members is not None)


def _stack_planes(scenario: Scenario, units: int) -> tuple[Array, int]:
    """The half-spaces as rows, and how many rows each unit has for itself."""
    spaces = [c for c in scenario.contacts if isinstance(c, HalfSpace)]
    has_members = any(space.members is not None for space in spaces)
    rows = []
    for space in spaces:
        parts = (*np.moveaxis(np.asarray(space.normal), -1, 0), space.offset, space.restitution, space.friction)
        row = np.stack(np.broadcast_arrays(*parts), axis=-1)
        rows.append(np.broadcast_to(row, (units, PLANE)) if has_members else row)
    table = np.stack(rows, axis=-2) if rows else np.zeros((0, PLANE))
    return np.ascontiguousarray(table.reshape(-1, PLANE), dtype=np.float64), len(spaces) if has_members else 0
