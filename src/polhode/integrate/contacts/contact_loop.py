"""The loop of a run with contacts: flights, impacts, and sustained contact.

A segment is a flight in closed form, or a step of a Runge-Kutta method with the forces of the points in contact.  In it
the first touch of every other candidate is found by steps in which it cannot touch, so that none is missed, and then
the first change of the points in contact: one parts, begins to slide, or stops sliding.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.equations.quaternions import normalize
from polhode.equations.scalar_ops import sqrt
from polhode.equations.vectors import plus, scaled
from polhode.integrate.contacts.contact_coarse import build_coarse_steps
from polhode.integrate.contacts.contact_distance import (
    ANCHOR,
    ANSWER,
    MANIFOLD,
    MOST_CORNERS,
    MOST_MANIFOLD,
    VERTEX,
    PairSpace,
)
from polhode.integrate.contacts.contact_impacts import build_impact
from polhode.integrate.contacts.contact_modes import build_changes, build_modes, slack_of
from polhode.integrate.contacts.contact_motion import build_attempt, build_evaluation, build_fit, build_step
from polhode.integrate.contacts.contact_rates import build_rates
from polhode.integrate.contacts.contact_samples import build_output, build_projection
from polhode.integrate.contacts.contact_scene import (
    ACTIVE,
    AT_OUTPUT,
    AT_STATE,
    AT_STATUS,
    AT_STEP,
    AT_STEPS,
    AT_TIME,
    COARSE_AT,
    COARSER,
    DONE,
    ENDLESS,
    FASTEST,
    FEATURE_ROW,
    FLIGHT,
    FRESH,
    HIT,
    INSIDE,
    LEFT_OUT,
    LOOK,
    MOST_POINTS,
    MU,
    NOT_FINITE,
    NUMBERS,
    OUTPUT,
    OVERLAP,
    PAINLEVE,
    PARADOX,
    PLANE_ROW,
    POINT_NUMBERS,
    RESTING,
    RUNNING,
    SEGMENTS,
    SINCE,
    SIZE,
    SLIDES,
    SLIDING,
    SPEED,
    STALLED,
    STARTS,
    STARTS_INSIDE,
    STATE,
    STEP,
    STICKS,
    SUNK,
    T1,
    T2,
    TOUCH,
    UNIT,
    ContactRun,
    ContactScene,
    SceneLoops,
    candidate_count,
    distance_of_pair,
    size_of_pair,
)
from polhode.integrate.contacts.contact_search import build_beginning, build_search
from polhode.integrate.contacts.contact_shapes import (
    FEATURE,
    quaternion,
    store,
    vector,
)
from polhode.integrate.loops.layout import Layout, read, write
from polhode.ir.loops import Loop, Sweep, loop
from polhode.methods.tableaus import Tableau

LEAST_STALL = 2000
"""So many segments in a row without any progress in time, and coarse steps in vain, end a run."""
OVERLAPPING = 1e-7
"""Bodies that start deeper in each other, as a fraction of their size, are refused; less is rounding, and undone."""
FEW_STALLS = 8
"""How often points that slide back are decided anew without any progress in time."""
PATIENCE, PAIR_PATIENCE = 500, 60
"""Segments in a row without any progress in time before coarse steps; with bodies that touch each other."""
MANY_SEGMENTS, SHORT_TIME = 1000, 1e-4
MANY_PAIR_SEGMENTS, SHORT_PAIR_TIME = 400, 1e-3
"""So many segments within this fraction of the natural time call for coarse steps too; with bodies that touch each
other."""


def build_contact_loop(
    loads: tuple[Sweep, Loop], motion: Any, free_motion: Any, points: SceneLoops, tableau: Tableau, layout: Layout
) -> Loop:
    """Advance units with contacts; free_motion is None where more than gravity acts."""
    rates = build_rates(loads, motion, points, layout)
    step = build_step(rates, tableau)
    evaluate = build_evaluation(build_fit(rates, tableau), free_motion, layout)
    search = build_search(evaluate, layout, points.has_pairs)
    modes = build_modes(rates, points, layout)
    strike, jam = build_impact(points, layout)
    project, close_gaps = build_projection(points, layout)
    attempt = build_attempt(step, tableau, layout)
    changes = build_changes(evaluate, rates, points.has_pairs)
    emit, write_state, write_forces = build_output(rates, close_gaps, layout)
    begin = build_beginning(rates, points, layout)
    is_ballistic = free_motion is not None
    size, has_pairs = layout.size, points.has_pairs

    @loop
    def load_state(unit: Any, scene: ContactScene) -> None:
        for b in range(scene.inverse.shape[0]):
            get_state(unit, b * size, scene.y, b * NUMBERS)

    def get_state(unit: Any, at: Any, y: Any, i: Any) -> None:
        groups = read(unit, at, layout.state)
        store(y, i, groups[0] + groups[1] + groups[2] + groups[3])
        y[i + 13] = groups[4][0] if len(groups) > 4 else 0.0 * groups[0][0]

    def put_state(unit: Any, at: Any, y: Any, i: Any) -> None:
        groups = (vector(y, i), quaternion(y, i + 3), vector(y, i + 7), vector(y, i + 10), (y[i + 13],))
        write(unit, at, layout.state, groups[: len(layout.state)])

    @loop
    def save_state(unit: Any, scene: ContactScene) -> None:
        for b in range(scene.inverse.shape[0]):
            put_state(unit, b * size, scene.y, b * NUMBERS)

    @loop
    def accept(scene: ContactScene) -> None:
        for b in range(scene.inverse.shape[0]):
            i = b * NUMBERS
            store(scene.y, i + 3, normalize(quaternion(scene.y, i + 3)))
        for i in range(len(scene.y)):
            scene.y0[i] = scene.y[i]

    @loop
    def release(scene: ContactScene, length: float) -> Any:
        """Let go of a point whose force was zero at the start of the step and would pull after it."""
        n, kept, parting = scene.whole[ACTIVE], 0, 0
        if scene.whole[LOOK] == 1:
            for i in range(n):
                parting += 1 if scene.slack[i, 0] <= 0.0 and scene.p[3 * i] < 0.0 else 0
            for i in range(n):
                if scene.slack[i, 0] <= 0.0 and scene.p[3 * i] < 0.0:
                    scene.skip[scene.candidates[i]] = length / 4.0 if parting == n else length
                else:
                    scene.candidates[kept] = scene.candidates[i]
                    scene.modes[kept] = scene.modes[i]
                    for c in range(3):
                        scene.sliding[kept, c] = scene.sliding[i, c]
                        scene.reference[kept, c] = scene.reference[i, c]
                    kept += 1
            if kept < n:
                scene.whole[ACTIVE] = kept
                scene.whole[FRESH] = 1
                scene.whole[LEFT_OUT] = 1
                scene.whole[STALLED] = scene.whole[STALLED] + 1
                if kept == 0:
                    scene.whole[STATE] = FLIGHT
                return True
        return False

    @loop
    def start_sliding(scene: ContactScene) -> Any:
        """Let a point slide whose friction was at its limit at the start of the step and would exceed it after."""
        is_alone = scene.whole[ACTIVE] == 1 and scene.modes[0] == STICKS
        if scene.whole[LOOK] == 1 and is_alone:  # noqa: SIM102
            if scene.slack[0, 1] <= 0.0 and slack_of(scene, 0, 1) < 0.0:
                row, t1, t2 = scene.points[0], scene.p[1], scene.p[2]
                pull = sqrt(t1 * t1 + t2 * t2)
                d1, d2 = -t1 / pull, -t2 / pull
                store(scene.sliding[0], 0, plus(scaled(d1, vector(row, T1)), scaled(d2, vector(row, T2))))
                scene.modes[0] = STARTS
                scene.whole[STATE] = SLIDING
                scene.whole[LEFT_OUT] = 1
                scene.whole[STALLED] = scene.whole[STALLED] + 1
                return True
        return False

    @loop
    def still_holds(run: ContactRun, unit: Any, scene: ContactScene, t: float, tau: float) -> Any:
        """Whether points that share friction in more ways than one still stick at the end of a step."""
        before, n = scene.whole[STATE], scene.whole[ACTIVE]
        if scene.whole[HIT] >= 0:  # the impact decides
            return True
        evaluate(run, unit, scene, t, tau, False)
        for m in range(len(scene.y)):
            scene.saved[m] = scene.y0[m]
        accept(scene)
        status = modes(run, unit, scene, t + tau, False)
        holds = status == RUNNING and scene.whole[STATE] == before and scene.whole[ACTIVE] >= n
        for m in range(len(scene.y)):
            scene.y[m] = scene.saved[m]
        accept(scene)
        modes(run, unit, scene, t, False)  # what the step was computed with
        return holds and scene.whole[STATE] == before and scene.whole[ACTIVE] == n

    @loop
    def slides_back(scene: ContactScene) -> Any:
        """Whether a point slides against the direction for which its friction was found: it does not slide any more."""
        for i in range(scene.whole[ACTIVE]):
            if scene.modes[i] == SLIDES and scene.points[i, MU] > 0.0 and scene.slack[i, 2] <= 0.0:
                return True
        return False

    @loop
    def is_finite(scene: ContactScene) -> Any:
        total = 0.0
        for i in range(len(scene.y)):
            total = total + scene.y[i] * 0.0
        return total == 0.0

    @loop
    def decide(run: ContactRun, unit: Any, scene: ContactScene, now: float, after_impact: bool) -> Any:
        """Which points stay in contact; where no force fits, after an impulse that stops the sliding ones."""
        status = modes(run, unit, scene, run.start + now, after_impact)
        if status == PARADOX:
            status = jam(run, unit, scene, now)
            if status == RUNNING:
                status = modes(run, unit, scene, run.start + now, False)
            if status == RUNNING and scene.whole[HIT] >= 0:  # the impulse has made something approach
                status = strike(run, unit, scene, now)
                if status == RUNNING:
                    status = modes(run, unit, scene, run.start + now, True)
        return status

    @loop
    def part_bodies(run: ContactRun, unit: Any, scene: ContactScene) -> None:
        """Move bodies that start closer than the distance at which they touch to that distance, and keep the others."""
        scene.whole[ACTIVE] = 0
        if has_pairs:
            points.find_manifolds(run, scene, scene.y0)
        for k in range(candidate_count(run)):
            n = scene.whole[ACTIVE]
            if points.gap_of(run, scene, scene.y0, k) <= scene.real[TOUCH] and n < MOST_POINTS:
                scene.candidates[n] = k
                scene.whole[ACTIVE] = n + 1
        close_gaps(run, unit, scene, scene.y0)
        scene.whole[ACTIVE] = 0
        for m in range(len(scene.y)):
            scene.y[m] = scene.y0[m]
        accept(scene)

    cross_coarsely = build_coarse_steps(rates, (part_bodies, write_state, write_forces), points, layout)

    @loop
    def is_stuck(scene: ContactScene, now: float) -> Any:
        """Whether the points in contact change so often that time does not pass."""
        if scene.whole[STALLED] > (PAIR_PATIENCE if has_pairs else PATIENCE):
            return True
        natural = scene.real[SIZE] / scene.real[FASTEST] if scene.real[FASTEST] > 0.0 else 0.0
        if now - scene.real[COARSE_AT] > natural:
            scene.whole[COARSER] = 0
        scene.whole[SEGMENTS] = scene.whole[SEGMENTS] + 1
        if scene.whole[SEGMENTS] >= (MANY_PAIR_SEGMENTS if has_pairs else MANY_SEGMENTS):
            passed = now - scene.real[SINCE]
            scene.whole[SEGMENTS], scene.real[SINCE] = 0, now
            return passed < (SHORT_PAIR_TIME if has_pairs else SHORT_TIME) * natural and scene.whole[ACTIVE] > 0
        return False

    @loop
    def advance_unit(run: ContactRun, unit: Any, scene: ContactScene, u: int) -> None:
        memory = run.memory[u]
        now, s = memory[AT_TIME], int(memory[AT_OUTPUT])
        status = RUNNING
        load_state(unit, scene)
        accept(scene)
        scene.whole[ACTIVE] = 0
        begin(run, unit, scene, run.start + now)
        scene.real[STEP] = memory[AT_STEP]
        scene.real[SINCE], scene.real[COARSE_AT] = now, now
        scene.whole[SEGMENTS], scene.whole[COARSER], scene.whole[STALLED] = 0, 0, 0
        if has_pairs:
            for p in range(len(run.pair_bodies)):
                if distance_of_pair(run, scene, scene.y0, p) < -OVERLAPPING * size_of_pair(run, p):
                    memory[AT_STATE], memory[AT_STATUS] = float(p), float(STARTS_INSIDE)
                    return
            part_bodies(run, unit, scene)
        status = decide(run, unit, scene, now, False)
        if status == RUNNING and scene.whole[HIT] >= 0:  # something approaches that touches already
            status = strike(run, unit, scene, now)
            if status == RUNNING:
                status = decide(run, unit, scene, now, True)
        project(run, unit, scene)
        accept(scene)
        for _ in range(run.budget):
            if status != RUNNING:
                break
            while s < len(run.times) and run.times[s] <= now:
                emit(run, unit, scene, u, s)
                s += 1
            left = run.duration - now
            if left <= 0.0:
                status = DONE
                break
            if scene.whole[STATE] == RESTING:
                while s < len(run.times):
                    emit(run, unit, scene, u, s)
                    s += 1
                now = run.duration
                status = DONE
                break
            begin(run, unit, scene, run.start + now)
            if scene.whole[SUNK] > 0:
                status = INSIDE if scene.whole[SUNK] == 1 else OVERLAP
                break
            if scene.whole[PAINLEVE] == 1:
                status = decide(run, unit, scene, now, True)
                project(run, unit, scene)
                accept(scene)
                scene.whole[STALLED] = scene.whole[STALLED] + 1
                if scene.whole[STALLED] > LEAST_STALL:
                    status = PARADOX
                continue
            if scene.whole[STALLED] < FEW_STALLS and slides_back(scene):
                status = decide(run, unit, scene, now, True)
                project(run, unit, scene)
                accept(scene)
                scene.whole[STALLED] = scene.whole[STALLED] + 1
                continue
            in_flight = is_ballistic and scene.whole[ACTIVE] == 0
            if is_stuck(scene, now):
                scene.whole[OUTPUT] = s
                status = cross_coarsely(run, unit, scene, u, now)
                now, s = scene.real[COARSE_AT], scene.whole[OUTPUT]
                scene.real[SINCE] = now
                if status == RUNNING:
                    begin(run, unit, scene, run.start + now)
                    status = decide(run, unit, scene, now, True)
                    project(run, unit, scene)
                    accept(scene)
                continue
            length = left
            if not in_flight:
                length = attempt(run, unit, scene, run.start + now, left)
                memory[AT_STEPS] += 1.0
            reached = search(run, unit, scene, run.start + now, length, in_flight)
            changed = False
            if scene.whole[ACTIVE] > 0:
                earlier = changes(run, unit, scene, run.start + now, reached)
                changed = scene.whole[LOOK] == 1 or scene.whole[LEFT_OUT] == 1
                if earlier < reached:
                    changed = True
                    scene.whole[HIT] = -1
                    reached = earlier
                if release(scene, reached) or start_sliding(scene):
                    continue
                is_long = reached > 1e-9 * scene.real[SIZE] / scene.real[SPEED]
                if scene.whole[LOOK] == 1 and is_long:  # noqa: SIM102
                    if not still_holds(run, unit, scene, run.start + now, reached):
                        scene.real[STEP] = reached / 2.0
                        continue
            is_hit = scene.whole[HIT] >= 0
            end = now + reached
            if reached >= left and not is_hit:
                end = run.duration
            while s < len(run.times) and run.times[s] < end:
                evaluate(run, unit, scene, run.start + now, run.times[s] - now, in_flight)
                emit(run, unit, scene, u, s)
                s += 1
            evaluate(run, unit, scene, run.start + now, reached, in_flight)
            if not is_finite(scene):
                if has_pairs and scene.whole[COARSER] == 0:  # a degenerate contact of two bodies: go around it
                    scene.whole[STALLED] = PATIENCE + 1
                    continue
                status = NOT_FINITE
                break
            scene.whole[STALLED] = scene.whole[STALLED] + 1
            if end > now:
                scene.whole[STALLED] = 0
            if scene.whole[STALLED] > LEAST_STALL:
                status = ENDLESS
                break
            now = end
            accept(scene)
            if is_hit:
                status = strike(run, unit, scene, now)
                if status == RUNNING:
                    status = decide(run, unit, scene, now, True)
                project(run, unit, scene)
                accept(scene)
            else:
                if scene.whole[ACTIVE] > 0:
                    project(run, unit, scene)
                    accept(scene)
                    if changed:
                        status = decide(run, unit, scene, now, False)
                        project(run, unit, scene)
                        accept(scene)
        save_state(unit, scene)
        memory[AT_STEP] = scene.real[STEP]
        memory[AT_TIME] = now
        memory[AT_OUTPUT] = float(s)
        memory[AT_STATUS] = float(status)
        memory[AT_STATE] = float(scene.whole[STATE])

    @loop
    def advance(run: ContactRun, first: int, last: int) -> None:
        bodies = len(run.first) - 1
        candidates = max(candidate_count(run), 1)
        rows, most = 3 * MOST_POINTS, MOST_POINTS
        scene = ContactScene(
            np.zeros(bodies * NUMBERS),
            np.zeros(bodies * NUMBERS),
            np.zeros(bodies * NUMBERS),
            np.zeros(bodies * NUMBERS),
            np.zeros((16, bodies * NUMBERS)),
            np.zeros((bodies, 4)),
            np.zeros((bodies, 3)),
            np.zeros(candidates),
            np.zeros(candidates),
            np.zeros(most, dtype=np.int64),
            np.zeros(most, dtype=np.int64),
            np.zeros((most, 3)),
            np.zeros((most, POINT_NUMBERS)),
            np.zeros((most, 2), dtype=np.int64),
            np.zeros((bodies, 9)),
            np.zeros((rows, rows)),
            np.zeros((rows, rows)),
            np.zeros((rows, rows)),
            np.zeros(rows),
            np.zeros(rows),
            np.zeros(rows),
            np.zeros(rows),
            np.zeros(rows),
            np.zeros((most, 5)),
            np.zeros((most, 3)),
            np.zeros(6),
            np.zeros(17, dtype=np.int64),
            np.zeros(11),
            np.zeros(bodies * NUMBERS),
            np.zeros(candidates, dtype=np.int64),
            np.zeros(bodies * NUMBERS),
            np.zeros((rows, 9)),
            np.zeros((rows, 12)),
            np.zeros(rows, dtype=np.int64),
            np.zeros((2, rows)),
            np.zeros((7, bodies * NUMBERS)),
            np.zeros(most, dtype=np.int64),
            np.zeros((most, 2)),
            np.zeros(rows),
            np.zeros(rows),
            np.zeros(rows),
            np.zeros((most, 3)),
            np.zeros((MOST_MANIFOLD * len(run.pair_bodies), ANCHOR)),
            PairSpace(
                np.zeros((4, VERTEX)),
                np.zeros((3, VERTEX)),
                np.zeros((3, VERTEX)),
                np.zeros((3, VERTEX)),
                np.zeros(VERTEX),
                np.zeros(3),
                np.zeros(6),
                np.zeros(10),
                np.zeros((6, 7)),
                np.zeros(3),
                np.zeros(5),
                np.zeros(ANSWER),
                np.zeros((MOST_CORNERS, 4)),
                np.zeros((MOST_CORNERS, 4)),
                np.zeros((MOST_CORNERS, 4)),
                np.zeros((3 * MOST_CORNERS, 2)),
                np.zeros((3 * MOST_CORNERS, 2)),
                np.zeros((MOST_MANIFOLD, MANIFOLD)),
                np.zeros((MOST_MANIFOLD, ANCHOR)),
                np.zeros((6, FEATURE)),
                np.zeros(3, dtype=np.int64),
            )
            if has_pairs
            else None,
        )
        for u in range(first, last):
            if run.memory[u, AT_STATUS] == 0.0 or run.memory[u, AT_STATUS] == 2.0:
                scene.whole[UNIT] = u
                scene.whole[PLANE_ROW] = u * run.plane_step
                scene.whole[FEATURE_ROW] = u * run.feature_step
                scene.whole[STALLED] = 0
                advance_unit(run, run.buffer[u], scene, u)

    return advance
