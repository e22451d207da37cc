"""The loop of a run with contacts: flights, impacts, and sustained contact.

A segment is a flight in closed form, or a step of a Runge-Kutta method with the forces of the points in contact.  In it
the first touch of every other candidate is found by steps in which it cannot touch, so that none is missed, and then
the first change of the points in contact: one parts, begins to slide, or stops sliding.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.backends.contact_forces import apply_matrix, solve_least, solve_together
from polhode.backends.contact_scene import (
    ACTIVE,
    ARM,
    ARM_B,
    BOUNCE,
    CLOSING,
    FEATURE_ROW,
    FLIGHT,
    HIT,
    MOST_POINTS,
    MU,
    N,
    NORMAL_TURNING,
    NUMBERS,
    PAINLEVE,
    PER_MASS,
    PER_MASS_B,
    PLANE_ROW,
    POINT_NUMBERS,
    RESTING,
    ROLLING,
    SLIDES,
    SIZE,
    SLIDING,
    SLOW,
    SPEED,
    STALLED,
    STARTS,
    STATE,
    STEP,
    STICKS,
    T1,
    T2,
    TOUCH,
    TRIED,
    TURNED,
    TURNING,
    UNIT,
    ContactRun,
    Scene,
    SceneLoops,
    U,
)
from polhode.backends.contact_shapes import (
    NORMAL,
    counts,
    falling_rate,
    find_lowest,
    quaternion,
    store,
    sunk,
    time_without_contact,
    vector,
)
from polhode.backends.layout import Layout, read, read_constants, write
from polhode.backends.loops import Loop, Sweep, loop
from polhode.backends.stages import padded, tableau_arrays
from polhode.equations.contact_laws import relative_turn, rotate_briefly
from polhode.equations.law import Groups
from polhode.equations.quaternions import conjugate, normalize, product, to_body, to_world
from polhode.equations.right_hand_side import power
from polhode.equations.scalar_ops import sqrt
from polhode.equations.vectors import cross, dot, minus, plus, scaled
from polhode.methods.tableaus import Tableau

SHORT_TURN = 0.05
"""A flight that turns by less, in rad, is computed by a step, whose small changes have all their digits."""
UNIT_ROUNDOFF = 2.0**-52
RUNNING, DONE, LOG_FULL, ENDLESS, PARADOX, NOT_FINITE, CROWDED, INSIDE = 0, 1, 2, 3, 4, 5, 6, 7
"""Why a unit has left the loop."""
AT_STEP, AT_TIME, AT_OUTPUT, AT_STATUS, AT_IMPACTS, AT_LOST, AT_STEPS, AT_LOGGED, AT_STATE, MEMORY = range(10)
"""The memory of a unit."""
LOG_NUMBERS = 16
"""Of an impact at a point: time, body, other body, plane, point, normal, normal impulse, tangential impulse, energy
lost, kind."""
SLIP, STICK, SETTLE, TOUCHED = 0, 1, 2, 3
"""Kinds of impacts."""
MANY_PROBES = 500
LEAST_STALL = 2000
"""So many segments in a row without any progress in time end a run."""
EVENT_STEPS, EVENT_WIDTH = 100, 1e-10
"""The time of a change of contact is found to this fraction of the step."""
FRESH, LOOK, LEFT_OUT, FITTED = 8, 9, 10, 11
"""Whole numbers of a scene: whether the points were just decided; whether they must be looked at after the step."""
STAGES = 12
TOUCHING = 1e-11
"""A gap that counts as touching, as a fraction of the size of the body."""
FEW_REST, MANY_REST = 1e-15, 1e-5
"""The speed that does not bounce, as a fraction of the natural speed sqrt(a size): of bodies that can touch at one point
only, and of others, whose bounces are counted in hundreds."""
NEVER = 1e300
STARTING = 1e-5
"""A point that has stuck slides from this fraction of the natural speed on; below, friction is along its acceleration,
since the direction of so small a speed turns too fast for steps."""


def build_contact_loop(
    load_all: Sweep, add_pairs: Loop, motion: Any, free_motion: Any, points: SceneLoops, tableau: Tableau, layout: Layout
) -> Loop:
    """Advance units with contacts; free_motion is None where more than gravity acts."""
    rates = _build_rates(load_all, add_pairs, motion, points, layout)
    step = _build_step(rates, tableau)
    evaluate = _build_evaluation(_build_fit(rates, tableau), free_motion, layout)
    search = _build_search(evaluate, layout)
    modes = _build_modes(rates, points, layout)
    strike = _build_impact(points, layout)
    project, close_gaps = _build_projection(points, layout)
    attempt = _build_attempt(step, tableau, layout)
    changes = _build_changes(evaluate, rates)
    emit = _build_output(rates, close_gaps, layout)
    begin = _build_beginning(rates, points, layout)
    is_ballistic = free_motion is not None
    size = layout.size

    @loop
    def load_state(unit: Any, scene: Scene) -> None:
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
    def save_state(unit: Any, scene: Scene) -> None:
        for b in range(scene.inverse.shape[0]):
            put_state(unit, b * size, scene.y, b * NUMBERS)

    @loop
    def accept(scene: Scene) -> None:
        for b in range(scene.inverse.shape[0]):
            i = b * NUMBERS
            store(scene.y, i + 3, normalize(quaternion(scene.y, i + 3)))
        for i in range(len(scene.y)):
            scene.y0[i] = scene.y[i]

    @loop
    def release(scene: Scene, length: float) -> bool:
        """Let go of a point whose force was zero at the start of the step and would pull after it."""
        n, kept = scene.whole[ACTIVE], 0
        if scene.whole[LOOK] == 1:
            for i in range(n):
                if scene.slack[i, 0] <= 0.0 and scene.p[3 * i] < 0.0:
                    scene.skip[scene.candidates[i]] = length / 4.0 if n == 1 else NEVER
                else:
                    scene.candidates[kept] = scene.candidates[i]
                    scene.modes[kept] = scene.modes[i]
                    for c in range(3):
                        scene.sliding[kept, c] = scene.sliding[i, c]
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
    def start_sliding(scene: Scene) -> bool:
        """Let a point slide whose friction was at its limit at the start of the step and would exceed it after."""
        if scene.whole[LOOK] == 1 and scene.whole[ACTIVE] == 1 and scene.modes[0] == STICKS:
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
    def still_holds(run: ContactRun, unit: Any, scene: Scene, t: float, tau: float) -> bool:
        """Whether points that share friction in more ways than one still stick at the end of a step."""
        before, n = scene.whole[STATE], scene.whole[ACTIVE]
        evaluate(run, unit, scene, t, tau, False)
        for m in range(len(scene.y)):
            scene.saved[m] = scene.y0[m]
        accept(scene)
        status = modes(run, unit, scene, t + tau, False)
        holds = status == RUNNING and scene.whole[STATE] == before and scene.whole[ACTIVE] >= n
        for m in range(len(scene.y)):
            scene.y[m] = scene.saved[m]
        accept(scene)
        modes(run, unit, scene, t, False)
        return holds

    @loop
    def is_finite(scene: Scene) -> bool:
        total = 0.0
        for i in range(len(scene.y)):
            total = total + scene.y[i] * 0.0
        return total == 0.0

    @loop
    def advance_unit(run: ContactRun, unit: Any, scene: Scene, u: int) -> None:
        memory = run.memory[u]
        now, s = memory[AT_TIME], int(memory[AT_OUTPUT])
        status = RUNNING
        load_state(unit, scene)
        accept(scene)
        scene.whole[ACTIVE] = 0
        begin(run, unit, scene, run.start + now)
        scene.real[STEP] = memory[AT_STEP]
        status = modes(run, unit, scene, run.start + now, False)
        if status == RUNNING and scene.whole[HIT] >= 0:  # something approaches that touches already
            status = strike(run, unit, scene, now)
            if status == RUNNING:
                status = modes(run, unit, scene, run.start + now, True)
        project(run, unit, scene)
        accept(scene)
        for _ in range(run.budget):
            if status != RUNNING:
                break
            while s < len(run.times) and run.times[s] <= now:
                emit(run, unit, scene, u, s, now)
                s += 1
            left = run.duration - now
            if left <= 0.0:
                status = DONE
                break
            if scene.whole[STATE] == RESTING:
                while s < len(run.times):
                    emit(run, unit, scene, u, s, now)
                    s += 1
                now = run.duration
                status = DONE
                break
            begin(run, unit, scene, run.start + now)
            in_flight = is_ballistic and scene.whole[ACTIVE] == 0
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
                if scene.whole[LOOK] == 1 and reached > 1e-9 * scene.real[SIZE] / scene.real[SPEED]:
                    if not still_holds(run, unit, scene, run.start + now, reached):
                        scene.real[STEP] = reached / 2.0
                        continue
            is_hit = scene.whole[HIT] >= 0
            end = now + reached
            if reached >= left and not is_hit:
                end = run.duration
            while s < len(run.times) and run.times[s] < end:
                evaluate(run, unit, scene, run.start + now, run.times[s] - now, in_flight)
                emit(run, unit, scene, u, s, now)
                s += 1
            evaluate(run, unit, scene, run.start + now, reached, in_flight)
            if not is_finite(scene):
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
                    status = modes(run, unit, scene, run.start + now, True)
                project(run, unit, scene)
                accept(scene)
            else:
                if scene.whole[ACTIVE] > 0:
                    project(run, unit, scene)
                    accept(scene)
                    if changed:
                        status = modes(run, unit, scene, run.start + now, False)
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
        candidates = max(len(run.owner) * run.plane_count, 1)
        rows, most = 3 * MOST_POINTS, MOST_POINTS
        scene = Scene(
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
            np.zeros(12, dtype=np.int64),
            np.zeros(7),
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
        )
        for u in range(first, last):
            if run.memory[u, AT_STATUS] == 0.0 or run.memory[u, AT_STATUS] == 2.0:
                scene.whole[UNIT] = u
                scene.whole[PLANE_ROW] = u * run.plane_step
                scene.whole[FEATURE_ROW] = u * run.feature_step
                scene.whole[STALLED] = 0
                advance_unit(run, run.buffer[u], scene, u)

    return advance


# The right-hand side --------------------------------------------------------------------------------------------------
def _build_rates(load_all: Sweep, add_pairs: Loop, motion: Any, points: SceneLoops, layout: Layout) -> Loop:
    """(run, unit, scene, t, y, out): the slopes of all bodies, with the forces of the points in contact.

    The forces stay in scene.p, in the axes of each point.
    """
    size, point, wrench = layout.size, layout.point, layout.wrench
    at_per_mass, at_inverse = layout.body[1], layout.body[3]
    find_point, find_inverses = points.find_point, points.find_inverses
    view, rate = motion

    def put_point(unit: Any, at: Any, y: Any, i: Any) -> None:
        write(unit, at, point[:4], (vector(y, i), quaternion(y, i + 3), vector(y, i + 7), vector(y, i + 10)))

    def move_one(unit: Any, at: Any, out: Any, i: Any) -> None:
        c, y = read_constants(unit, at, layout), read(unit, at, point[:4])
        force, torque = read(unit, at, wrench)
        slope = rate(y, c, force, torque)
        store(out, i, slope[0] + slope[1] + slope[2] + slope[3])
        out[i + 13] = power(view(y, c), force, torque)

    def free_acceleration(row: Any, y: Any, i: Any, out: Any, bias: Any, j: Any) -> None:
        """The acceleration of a point in contact, along its axes, without contact forces."""
        spin_rate = to_world(quaternion(y, i + 3), vector(out, i + 10))
        moved = plus(scaled(row[PER_MASS], vector(out, i + 7)), cross(spin_rate, vector(row, ARM)))
        total = plus(moved, vector(row, TURNING))
        bias[j] = dot(vector(row, N), total) + row[NORMAL_TURNING]
        bias[j + 1] = dot(vector(row, T1), total)
        bias[j + 2] = dot(vector(row, T2), total)

    def push(unit: Any, at: Any, row: Any, y: Any, i: Any, out: Any, p: Any, j: Any) -> None:
        """Add the force at a point to the slopes of its body."""
        force = plus(
            plus(scaled(p[j], vector(row, N)), scaled(p[j + 1], vector(row, T1))), scaled(p[j + 2], vector(row, T2))
        )
        torque = to_body(quaternion(y, i + 3), cross(vector(row, ARM), force))
        store(out, i + 7, plus(vector(out, i + 7), force))
        spun = tuple(unit[place + at] * part for place, part in zip(at_inverse, torque, strict=True))
        store(out, i + 10, plus(vector(out, i + 10), spun))
        out[i + 13] = out[i + 13] + dot(force, vector(row, U))

    def place_row(rows: Any, at: Any, row: Any, axis: int) -> None:
        """A direction along which a point is held, as a row: the direction, and the levers of both bodies."""
        e = vector(row, axis)
        store(rows, at, e + cross(vector(row, ARM), e) + cross(vector(row, ARM_B), e))

    def place_column(columns: Any, at: Any, row: Any, tensor: Any, tensor_b: Any, c: Any) -> None:
        """What a unit of force at a point does: velocities and spins of both bodies."""
        along = plus(plus(scaled(c[0], vector(row, N)), scaled(c[1], vector(row, T1))), scaled(c[2], vector(row, T2)))
        store(columns, at, scaled(row[PER_MASS], along) + turned(tensor, cross(vector(row, ARM), along)))
        store(columns, at + 6, scaled(row[PER_MASS_B], along) + turned(tensor_b, cross(vector(row, ARM_B), along)))

    def turned(tensor: Any, lever: Any) -> Any:
        return tuple(dot(vector(tensor, 3 * i), lever) for i in range(3))

    @loop
    def place_rows(scene: Scene) -> int:
        """The rows and columns of all points in contact: 3 for one that sticks, 1 for one that slides."""
        n, count = scene.whole[ACTIVE], 0
        for i in range(n):
            row, tensor = scene.points[i], scene.inverse[scene.owners[i, 0]]
            tensor_b = scene.inverse[max(scene.owners[i, 1], 0)]
            scene.law[i, 1] = float(count)
            if scene.modes[i] == STICKS:
                for r in range(3):
                    place_row(scene.rows[count + r], 0, row, N + 3 * r)
                    scene.whose[count + r] = i
                    scene.u[count + r] = -scene.bias[3 * i + r]
                place_column(scene.columns[count], 0, row, tensor, tensor_b, (1.0, 0.0, 0.0))
                place_column(scene.columns[count + 1], 0, row, tensor, tensor_b, (0.0, 1.0, 0.0))
                place_column(scene.columns[count + 2], 0, row, tensor, tensor_b, (0.0, 0.0, 1.0))
                count += 3
            else:
                find_sliding(scene, i)
                mu, d1, d2 = scene.law[i, 0], scene.law[i, 2], scene.law[i, 3]
                place_row(scene.rows[count], 0, row, N)
                scene.whose[count] = i
                scene.u[count] = -scene.bias[3 * i]
                place_column(scene.columns[count], 0, row, tensor, tensor_b, (1.0, -mu * d1, -mu * d2))
                count += 1
        return count

    @loop
    def solve_forces(scene: Scene) -> None:
        """The forces of the points in contact, each sticking or sliding as it does."""
        n, rows = scene.whole[ACTIVE], place_rows(scene)
        for r in range(rows):
            i = scene.whose[r]
            a_i, b_i = scene.owners[i, 0], scene.owners[i, 1]
            for c in range(rows):
                j = scene.whose[c]
                a_j, b_j = scene.owners[j, 0], scene.owners[j, 1]
                row, column, total = scene.rows[r], scene.columns[c], 0.0
                if a_i == a_j:
                    total = total + dot(vector(row, 0), vector(column, 0)) + dot(vector(row, 3), vector(column, 3))
                if b_i >= 0 or b_j >= 0:
                    if b_i == b_j:
                        total = total + dot(vector(row, 0), vector(column, 6)) + dot(vector(row, 6), vector(column, 9))
                    if a_i == b_j:
                        total = total - dot(vector(row, 0), vector(column, 6)) - dot(vector(row, 3), vector(column, 9))
                    if b_i == a_j:
                        total = total - dot(vector(row, 0), vector(column, 0)) - dot(vector(row, 6), vector(column, 3))
                scene.k[r, c] = total
        if rows == 1:
            scene.x[0] = scene.u[0] / scene.k[0, 0]
            if scene.k[0, 0] <= 0.0:
                scene.whole[PAINLEVE] = 1
        else:
            solve_least(rows, scene.k, scene.u, scene.g, scene.x, scene.rest)
        for i in range(n):
            at = int(scene.law[i, 1])
            scene.p[3 * i] = scene.x[at]
            if scene.modes[i] == STICKS:
                scene.p[3 * i + 1], scene.p[3 * i + 2] = scene.x[at + 1], scene.x[at + 2]
            else:
                scene.p[3 * i + 1] = -scene.law[i, 0] * scene.law[i, 2] * scene.x[at]
                scene.p[3 * i + 2] = -scene.law[i, 0] * scene.law[i, 3] * scene.x[at]

    @loop
    def rates(run: ContactRun, unit: Any, scene: Scene, t: float, y: Any, out: Any) -> None:
        bodies, n = scene.inverse.shape[0], scene.whole[ACTIVE]
        for b in range(bodies):
            put_point(unit, b * size, y, b * NUMBERS)
        load_all(unit, t)
        add_pairs(unit, run.pairs, t)
        for b in range(bodies):
            move_one(unit, b * size, out, b * NUMBERS)
        if n > 0:
            find_inverses(unit, scene, y)
            for i in range(n):
                find_point(run, unit, scene, y, i)
                free_acceleration(scene.points[i], y, scene.owners[i, 0] * NUMBERS, out, scene.bias, 3 * i)
            solve_forces(scene)
            for i in range(n):
                b = scene.owners[i, 0]
                push(unit, b * size, scene.points[i], y, b * NUMBERS, out, scene.p, 3 * i)

    return rates


@loop
def find_sliding(scene: Scene, i: int) -> None:
    """The direction in which a point slides, continued through a reversal inside a step.

    law[i] = (friction, ..., direction along the tangents).
    """
    row, kept = scene.points[i], scene.sliding[i]
    u1, u2 = dot(vector(row, U), vector(row, T1)), dot(vector(row, U), vector(row, T2))
    k1, k2 = dot(vector(kept, 0), vector(row, T1)), dot(vector(kept, 0), vector(row, T2))
    if scene.modes[i] == STARTS:
        u1, u2 = k1, k2
    else:
        if u1 * k1 + u2 * k2 < 0.0:
            u1, u2 = -u1, -u2
        u1 = u1 + k1 * 1e-3 * scene.real[SLOW]
        u2 = u2 + k2 * 1e-3 * scene.real[SLOW]
    speed = sqrt(u1 * u1 + u2 * u2)
    scene.law[i, 0] = row[MU]
    scene.law[i, 2] = u1 / speed if speed > 0.0 else 0.0
    scene.law[i, 3] = u2 / speed if speed > 0.0 else 0.0


# Steps ----------------------------------------------------------------------------------------------------------------
def _build_step(rates: Loop, tableau: Tableau) -> Loop:
    """(run, unit, scene, t, h): y = y0 + dy after a step of any length."""
    count = len(tableau.nodes)
    nodes, rows, _ = tableau_arrays(tableau, count)
    weights = padded(tableau.coordinate_weights, count)

    @loop
    def step(run: ContactRun, unit: Any, scene: Scene, t: float, h: float) -> None:
        size = len(scene.y)
        for i in range(count):
            for m in range(size):
                scene.stage[m] = scene.y0[m]
            for j in range(i):
                if rows[i, j] != 0.0:
                    for m in range(size):
                        scene.stage[m] += (h * rows[i, j]) * scene.slopes[j, m]
            rates(run, unit, scene, t + nodes[i] * h, scene.stage, scene.slopes[i])
        for m in range(size):
            scene.dy[m] = 0.0
        for j in range(count):
            if weights[j] != 0.0:
                for m in range(size):
                    scene.dy[m] += (h * weights[j]) * scene.slopes[j, m]
        for m in range(size):
            scene.y[m] = scene.y0[m] + scene.dy[m]

    return step


def _build_attempt(step: Loop, tableau: Tableau, layout: Layout) -> Loop:
    """(run, unit, scene, t, left) -> the length of a step whose error is small enough; y after it."""
    count = len(tableau.nodes)
    fifth, third = (padded(row, count) for row in tableau.error_rows or ((), ()))
    size, at_per_mass = layout.size, layout.body[1]

    @loop
    def error_of(run: ContactRun, unit: Any, scene: Scene, h: float, row: Any) -> float:
        worst = 0.0
        for m in range(len(scene.y)):
            part, b = m % NUMBERS, m // NUMBERS
            if part < 13:
                total = 0.0
                for j in range(count):
                    total = total + row[j] * scene.slopes[j, m]
                i = b * NUMBERS
                scale = 1.0
                if part < 3:
                    scale = run.size[b]
                if part >= 7 and part < 10:
                    p = vector(scene.y, i + 7)
                    f = vector(scene.slopes[0], i + 7)
                    scale = sqrt(dot(p, p)) + h * sqrt(dot(f, f))
                    scale = scale + 1e-3 * scene.real[SPEED] / unit[b * size + at_per_mass]
                if part >= 10:
                    w = vector(scene.y, i + 10)
                    a = vector(scene.slopes[0], i + 10)
                    scale = sqrt(dot(w, w)) + h * sqrt(dot(a, a)) + 1e-3 * scene.real[SPEED] / run.size[b]
                if not abs(total) < 1e200:
                    return 1e200
                if scale > 0.0:
                    worst = max(worst, abs(h * total) / scale)
        return worst / run.rtol

    @loop
    def attempt(run: ContactRun, unit: Any, scene: Scene, t: float, left: float) -> float:
        h = min(scene.real[STEP], left)
        for _ in range(60):
            step(run, unit, scene, t, h)
            e5, e3 = error_of(run, unit, scene, h, fifth), error_of(run, unit, scene, h, third)
            below = sqrt(e5 * e5 + 0.01 * e3 * e3)
            error = e5 * e5 / below if below > 0.0 else 0.0
            factor = 5.0
            if error > 0.0:
                factor = min(5.0, max(0.2, 0.9 / sqrt(sqrt(sqrt(error)))))
            if not error <= 1.0:
                h = h * min(factor, 0.9)
                if not h > 1e-13 * left:
                    break
            else:
                if h >= scene.real[STEP] or factor < 1.0:
                    scene.real[STEP] = h * factor
                break
        scene.real[TRIED] = h
        scene.whole[FITTED] = 0
        for m in range(len(scene.y)):
            scene.tried[m] = scene.dy[m]
        return h

    return attempt


def _build_fit(rates: Loop, tableau: Tableau) -> Loop:
    """(run, unit, scene, t, h): the coefficients of dense output of the step that was tried."""
    dense, count = tableau.dense, len(tableau.nodes)
    assert dense is not None
    total = count + 1 + len(dense.nodes)
    nodes = np.array(dense.nodes, dtype=float)
    rows, curve_rows = (np.array([padded(row, total) for row in part]) for part in (dense.rows, dense.curve_rows))
    more, curves = len(dense.nodes), len(dense.curve_rows)

    @loop
    def fit(run: ContactRun, unit: Any, scene: Scene, t: float, h: float) -> None:
        size = len(scene.y)
        for m in range(size):
            scene.stage[m] = scene.y0[m] + scene.tried[m]
        rates(run, unit, scene, t + h, scene.stage, scene.slopes[count])
        for i in range(more):
            for m in range(size):
                scene.stage[m] = scene.y0[m]
            for j in range(count + 1 + i):
                if rows[i, j] != 0.0:
                    for m in range(size):
                        scene.stage[m] += (h * rows[i, j]) * scene.slopes[j, m]
            rates(run, unit, scene, t + nodes[i] * h, scene.stage, scene.slopes[count + 1 + i])
        for m in range(size):
            rise, first, last = scene.tried[m], h * scene.slopes[0, m], h * scene.slopes[count, m]
            scene.curve[0, m], scene.curve[1, m], scene.curve[2, m] = rise, first - rise, 2.0 * rise - first - last
            for i in range(curves):
                scene.curve[3 + i, m] = 0.0
        for i in range(curves):
            for j in range(total):
                if curve_rows[i, j] != 0.0:
                    for m in range(size):
                        scene.curve[3 + i, m] += (h * curve_rows[i, j]) * scene.slopes[j, m]

    return fit


def _build_evaluation(fit: Loop, free_motion: Any, layout: Layout) -> Loop:
    """(run, unit, scene, t, tau, in_flight): y, dy and turn a time tau after the start of the segment."""
    size, params = layout.size, layout.params

    def fly(unit: Any, at: Any, scene_y0: Any, y: Any, dy: Any, i: Any, t: Any, tau: Any) -> None:
        start: Groups = (vector(scene_y0, i), quaternion(scene_y0, i + 3), vector(scene_y0, i + 7))
        start = start + (vector(scene_y0, i + 10), (scene_y0[i + 13],))
        data = (read_constants(unit, at, layout), read(unit, at, params))
        x, q, p, w, work = free_motion(t, start, tau, data)
        store(y, i, x + q + p + w + work)
        store(dy, i, minus(x, start[0]))

    def turned_far(y0: Any, y: Any, turn: Any, i: Any) -> None:
        store(turn, 0, product(conjugate(quaternion(y0, i + 3)), quaternion(y, i + 3)))

    def turned(y0: Any, dy: Any, turn: Any, i: Any) -> None:
        store(turn, 0, relative_turn(quaternion(y0, i + 3), quaternion(dy, i + 3)))

    def fly_briefly(unit: Any, at: Any, y0: Any, y: Any, dy: Any, turn: Any, i: Any, force: Any, tau: Any) -> None:
        c = read_constants(unit, at, layout)
        p = vector(y0, i + 7)
        moved = scaled(tau * c.inverse_mass, plus(p, scaled(tau / 2, force)))
        change, w = rotate_briefly(vector(y0, i + 10), c.moments, c.inverse_moments, tau)
        q = quaternion(y0, i + 3)
        turned = (1 + change[0], change[1], change[2], change[3])
        store(dy, i, moved)
        store(turn, 0, turned)
        store(y, i, plus(vector(y0, i), moved))
        store(y, i + 3, product(q, turned))
        store(y, i + 7, plus(p, scaled(tau, force)))
        store(y, i + 10, w)
        y[i + 13] = y0[i + 13] + dot(force, moved)

    @loop
    def take_step(run: ContactRun, unit: Any, scene: Scene, t: float, tau: float) -> None:
        """The state inside the step that was tried, by dense output."""
        h = scene.real[TRIED]
        if tau == h:
            for m in range(len(scene.y)):
                scene.dy[m] = scene.tried[m]
        else:
            if scene.whole[FITTED] == 0:
                fit(run, unit, scene, t, h)
                scene.whole[FITTED] = 1
            theta = tau / h
            for m in range(len(scene.y)):
                total = scene.curve[6, m]
                for j in range(6):
                    total = scene.curve[5 - j, m] + (1.0 - theta if j % 2 == 1 else theta) * total
                scene.dy[m] = theta * total
        for m in range(len(scene.y)):
            scene.y[m] = scene.y0[m] + scene.dy[m]
        for b in range(scene.inverse.shape[0]):
            turned(scene.y0, scene.dy, scene.turn[b], b * NUMBERS)

    if free_motion is None:

        @loop
        def evaluate_step(run: ContactRun, unit: Any, scene: Scene, t: float, tau: float, in_flight: bool) -> None:
            take_step(run, unit, scene, t, tau)

        return evaluate_step

    @loop
    def evaluate(run: ContactRun, unit: Any, scene: Scene, t: float, tau: float, in_flight: bool) -> None:
        if in_flight:
            for b in range(scene.inverse.shape[0]):
                i = b * NUMBERS
                if scene.limits[b, 1] * tau > SHORT_TURN:
                    fly(unit, b * size, scene.y0, scene.y, scene.dy, i, t, tau)
                    turned_far(scene.y0, scene.y, scene.turn[b], i)
                else:
                    force = vector(scene.slopes[0], i + 7)
                    fly_briefly(unit, b * size, scene.y0, scene.y, scene.dy, scene.turn[b], i, force, tau)
        else:
            take_step(run, unit, scene, t, tau)

    return evaluate


# Looking ahead --------------------------------------------------------------------------------------------------------
def _build_beginning(rates: Loop, points: SceneLoops, layout: Layout) -> Loop:
    """(run, unit, scene, t): the scales of the motion, and how high every candidate is, at the start of a segment."""
    size, wrench, at_per_mass = layout.size, layout.wrench, layout.body[1]
    at_moments, gap_of = layout.body[2], points.gap_of

    def free_acceleration(unit: Any, at: Any) -> Any:
        force = read(unit, at, wrench)[0]
        return unit[at_per_mass + at] * sqrt(dot(force, force))

    def spin_bounds(unit: Any, at: Any, y: Any, i: Any) -> Any:
        moments, w = read(unit, at, at_moments), vector(y, i + 10)
        momentum = tuple(m * part for m, part in zip(moments, w, strict=True))
        return sqrt(dot(momentum, momentum))

    @loop
    def begin(run: ContactRun, unit: Any, scene: Scene, t: float) -> None:
        rates(run, unit, scene, t, scene.y0, scene.slopes[0])
        speed, noise, extent = 0.0, 0.0, 0.0
        for b in range(scene.inverse.shape[0]):
            i, at, reach = b * NUMBERS, b * size, run.size[b]
            a = free_acceleration(unit, at)
            low = min(unit[at + at_moments[0]], unit[at + at_moments[1]], unit[at + at_moments[2]])
            high = max(unit[at + at_moments[0]], unit[at + at_moments[1]], unit[at + at_moments[2]])
            w, turning = 0.0, 0.0
            if low > 0.0:
                w = spin_bounds(unit, at, scene.y0, i) / low
                turning = w * w * (high - low) / low
            scene.limits[b, 0], scene.limits[b, 1], scene.limits[b, 2] = a, w, turning
            p, spin = vector(scene.y0, i + 7), vector(scene.y0, i + 10)
            speed = max(speed, sqrt(a * reach))
            noise = max(noise, unit[at + at_per_mass] * sqrt(dot(p, p)) + reach * sqrt(dot(spin, spin)))
            extent = max(extent, reach)
        scene.real[SPEED] = speed
        scene.real[TOUCH] = TOUCHING * extent
        scene.real[SIZE] = extent
        threshold = FEW_REST if len(run.owner) == scene.inverse.shape[0] else MANY_REST
        scene.real[CLOSING] = threshold * speed + 8.0 * UNIT_ROUNDOFF * noise
        scene.real[SLOW] = max(scene.real[CLOSING], 1e-10 * speed, 4.0 * run.rtol * noise)
        for k in range(len(run.owner) * run.plane_count):
            gap = gap_of(run, scene, scene.y0, k)
            scene.base[k] = gap if gap > scene.real[TOUCH] else 0.0
            if scene.whole[FRESH] == 0:
                scene.skip[k] = 0.0
        scene.whole[FRESH] = 0
        for i in range(scene.whole[ACTIVE]):
            scene.skip[scene.candidates[i]] = NEVER
            turn_sliding(scene, i)
            for what in range(3):
                scene.slack[i, what] = slack_of(scene, i, what)
            p, mu = scene.p[3 * i], scene.points[i, MU]
            if p < 1e-10 * speed * speed / (extent * scene.points[i, PER_MASS]):
                scene.slack[i, 0] = 0.0
            if scene.modes[i] == STICKS and scene.slack[i, 1] < 1e-9 * mu * p:
                scene.slack[i, 1] = 0.0

    return begin


def _build_search(evaluate: Loop, layout: Layout) -> Loop:
    """(run, unit, scene, t, length, in_flight) -> the time of the first touch, or `length`; y there."""
    size, at_per_mass = layout.size, layout.body[1]

    @loop
    def widen_limits(unit: Any, scene: Scene, length: float) -> None:
        """The limits of the motion in a step, from the slopes of its stages."""
        for b in range(scene.inverse.shape[0]):
            i = b * NUMBERS
            a, turning = 0.0, 0.0
            for j in range(STAGES):
                f, w_rate = vector(scene.slopes[j], i + 7), vector(scene.slopes[j], i + 10)
                a = max(a, sqrt(dot(f, f)))
                turning = max(turning, sqrt(dot(w_rate, w_rate)))
            w = vector(scene.y0, i + 10)
            scene.limits[b, 0] = 1.25 * a * unit[b * size + at_per_mass]
            scene.limits[b, 1] = sqrt(dot(w, w)) + 1.25 * turning * length
            scene.limits[b, 2] = 1.25 * turning

    @loop
    def start_over(scene: Scene) -> None:
        for m in range(len(scene.y)):
            scene.y[m] = scene.y0[m]
            scene.dy[m] = 0.0
        for b in range(scene.inverse.shape[0]):
            scene.turn[b, 0], scene.turn[b, 1], scene.turn[b, 2], scene.turn[b, 3] = 1.0, 0.0, 0.0, 0.0

    def body_normal(y: Any, i: Any, normal: Any) -> Any:
        return to_body(quaternion(y, i + 3), normal)

    @loop
    def safe_time(run: ContactRun, unit: Any, scene: Scene, tau: float, most: float) -> float:
        """How long no candidate can touch, at most `most`; the one that limits it is the hit."""
        best = most
        scene.whole[HIT] = -1
        count = len(run.owner)
        for s in range(run.plane_count):
            normal = vector(run.planes[scene.whole[PLANE_ROW] + s], NORMAL)
            for b in range(scene.inverse.shape[0]):
                i = b * NUMBERS
                before, after = body_normal(scene.y0, i, normal), body_normal(scene.y, i, normal)
                risen = dot(normal, vector(scene.dy, i))
                velocity = scaled(unit[b * size + at_per_mass], vector(scene.y, i + 7))
                turn, w = quaternion(scene.turn[b], 0), vector(scene.y, i + 10)
                limits = (scene.limits[b, 0], scene.limits[b, 1], scene.limits[b, 2])
                for f in range(run.first[b], run.first[b + 1]):
                    k = s * count + f
                    row = scene.whole[FEATURE_ROW] + f
                    if scene.skip[k] > tau:
                        if scene.skip[k] - tau < best:
                            best = scene.skip[k] - tau
                            scene.whole[HIT] = -2
                    else:
                        if counts(run.features, row, scene.whole[FEATURE_ROW], after):
                            feature = run.features[row]
                            gap = scene.base[k] + risen + sunk(feature, before, turn)
                            find_lowest(feature, after, w, scene.low)
                            rate = falling_rate(velocity, normal, after, w, vector(scene.low, 0))
                            span = time_without_contact(feature, after, gap, rate, limits)
                            if span < best:
                                best = span
                                scene.whole[HIT] = k
        return best

    @loop
    def search(run: ContactRun, unit: Any, scene: Scene, t: float, length: float, in_flight: bool) -> float:
        if not in_flight:
            widen_limits(unit, scene, length)
        start_over(scene)
        tau = 0.0
        for _ in range(MANY_PROBES):
            span = safe_time(run, unit, scene, tau, length - tau)
            if scene.whole[HIT] >= 0 and span <= 2.0 * UNIT_ROUNDOFF * tau:
                return tau
            if scene.whole[HIT] == -1:
                break
            tau = tau + span
            evaluate(run, unit, scene, t, tau, in_flight)
        if scene.whole[HIT] >= 0:
            return tau
        scene.whole[HIT] = -1
        return length

    return search


@loop
def turn_sliding(scene: Scene, i: int) -> None:
    """The direction in which a point slides, at the start of a step."""
    row = scene.points[i]
    u1, u2 = dot(vector(row, U), vector(row, T1)), dot(vector(row, U), vector(row, T2))
    speed = sqrt(u1 * u1 + u2 * u2)
    if scene.modes[i] == SLIDES and speed > scene.real[SLOW]:
        d1, d2 = u1 / speed, u2 / speed
        store(scene.sliding[i], 0, plus(scaled(d1, vector(row, T1)), scaled(d2, vector(row, T2))))


# Points in contact ----------------------------------------------------------------------------------------------------
@loop
def slack_of(scene: Scene, i: int, what: int) -> float:
    """How far a point in contact is from a change: its normal force; the rest of its friction; its speed of sliding."""
    p = scene.p[3 * i]
    if what == 0:
        return p
    row = scene.points[i]
    if scene.modes[i] == STICKS:
        if what == 1:
            t1, t2 = scene.p[3 * i + 1], scene.p[3 * i + 2]
            return row[MU] * p - sqrt(t1 * t1 + t2 * t2)
        return 1.0
    if what == 2 and row[MU] > 0.0 and scene.modes[i] == SLIDES:
        return dot(vector(row, U), vector(scene.sliding[i], 0)) - scene.real[SLOW] / 2.0
    return 1.0


def _build_changes(evaluate: Loop, rates: Loop) -> Loop:
    """(run, unit, scene, t, reached) -> the time of the first change of a point in contact, or `reached`."""

    @loop
    def slack_at(run: ContactRun, unit: Any, scene: Scene, t: float, tau: float, which: int) -> float:
        evaluate(run, unit, scene, t, tau, False)
        rates(run, unit, scene, t + tau, scene.y, scene.stage)
        return slack_of(scene, which // 3, which % 3)

    @loop
    def first_change(scene: Scene) -> int:
        """A point and quantity whose slack has become negative inside the step; -1 if there is none."""
        for i in range(scene.whole[ACTIVE]):
            for what in range(3):
                if scene.slack[i, what] > 0.0 and slack_of(scene, i, what) < 0.0:
                    return 3 * i + what
        return -1

    @loop
    def needs_look(scene: Scene) -> bool:
        """Whether something was not as it should be already at the start of the step."""
        for i in range(scene.whole[ACTIVE]):
            for what in range(3):
                if scene.slack[i, what] <= 0.0 and slack_of(scene, i, what) < 0.0:
                    return True
        return False

    @loop
    def changes(run: ContactRun, unit: Any, scene: Scene, t: float, reached: float) -> float:
        end = reached
        scene.whole[LOOK] = 0
        for _ in range(3 * MOST_POINTS):
            evaluate(run, unit, scene, t, end, False)
            rates(run, unit, scene, t + end, scene.y, scene.stage)
            which = first_change(scene)
            if which < 0:
                if needs_look(scene):
                    scene.whole[LOOK] = 1
                break
            low, f_low = 0.0, scene.slack[which // 3, which % 3]
            high, f_high = end, slack_of(scene, which // 3, which % 3)
            kept = 0
            for _ in range(EVENT_STEPS):
                middle = (low * f_high - high * f_low) / (f_high - f_low)
                if middle <= low or middle >= high:
                    middle = (low + high) / 2.0
                f = slack_at(run, unit, scene, t, middle, which)
                if f > 0.0:
                    low, f_low = middle, f
                    if kept == 1:
                        f_high = f_high / 2.0
                    kept = 1
                else:
                    high, f_high = middle, f
                    if kept == 2:
                        f_low = f_low / 2.0
                    kept = 2
                if f == 0.0 or high - low <= EVENT_WIDTH * high:
                    break
            end = high
        return end

    return changes


def _build_modes(rates: Loop, points: SceneLoops, layout: Layout) -> Loop:
    """(run, unit, scene, t, after_impact) -> status: which points stay in contact, and which of them stick.

    Where something approaches that touches, that is the hit, and nothing is decided.
    """
    find_point, build_matrix, gap_of = points.find_point, points.build_matrix, points.gap_of
    find_inverses, size, at_per_mass = points.find_inverses, layout.size, layout.body[1]

    def free_bias(row: Any, y: Any, i: Any, out: Any, bias: Any, j: Any) -> None:
        spin_rate = to_world(quaternion(y, i + 3), vector(out, i + 10))
        moved = plus(scaled(row[PER_MASS], vector(out, i + 7)), cross(spin_rate, vector(row, ARM)))
        total = plus(moved, vector(row, TURNING))
        bias[j] = dot(vector(row, N), total) + row[NORMAL_TURNING]
        bias[j + 1] = dot(vector(row, T1), total)
        bias[j + 2] = dot(vector(row, T2), total)

    @loop
    def keep_point(scene: Scene, i: int, to: int) -> None:
        scene.candidates[to] = scene.candidates[i]
        scene.modes[to] = scene.modes[i]
        for c in range(3):
            scene.sliding[to, c] = scene.sliding[i, c]

    @loop
    def drop_negative(run: ContactRun, unit: Any, scene: Scene, t: float) -> None:
        """Of more points than are needed, leave out those that the smallest solution would pull."""
        for _ in range(MOST_POINTS):
            n = scene.whole[ACTIVE]
            if n < 2:
                break
            rates(run, unit, scene, t, scene.y0, scene.stage)
            worst, least, largest = -1, 0.0, 0.0
            for i in range(n):
                largest = max(largest, scene.p[3 * i])
                if scene.p[3 * i] < least:
                    worst, least = i, scene.p[3 * i]
            if worst < 0 or least > -1e-12 * largest:
                break
            scene.skip[scene.candidates[worst]] = NEVER
            scene.whole[LEFT_OUT] = 1
            for i in range(worst + 1, n):
                keep_point(scene, i, i - 1)
            scene.whole[ACTIVE] = n - 1

    @loop
    def bring_to_rest(run: ContactRun, unit: Any, scene: Scene, t: float) -> None:
        """At rest: nothing moves, nothing accelerates."""
        rates(run, unit, scene, t, scene.y0, scene.stage)
        natural = scene.real[SPEED] * scene.real[SPEED]
        is_resting = scene.whole[ACTIVE] > 0
        for b in range(scene.inverse.shape[0]):
            i, reach = b * NUMBERS, run.size[b]
            per_mass = unit[b * size + at_per_mass]
            p, w = vector(scene.y0, i + 7), vector(scene.y0, i + 10)
            f, w_rate = vector(scene.stage, i + 7), vector(scene.stage, i + 10)
            speed = per_mass * sqrt(dot(p, p)) + reach * sqrt(dot(w, w))
            rate = per_mass * sqrt(dot(f, f)) + reach * sqrt(dot(w_rate, w_rate))
            if speed > 10.0 * scene.real[CLOSING] or rate * reach > 1e-9 * natural:
                is_resting = False
        if is_resting:
            for b in range(scene.inverse.shape[0]):
                i = b * NUMBERS
                for c in range(7, 13):
                    scene.y0[i + c] = 0.0
                    scene.y[i + c] = 0.0
            if run.is_constant:
                scene.whole[STATE] = RESTING

    @loop
    def modes(run: ContactRun, unit: Any, scene: Scene, t: float, after_impact: bool) -> int:
        scene.whole[HIT] = -1
        for k in range(len(run.owner) * run.plane_count):
            scene.begun[k] = 0
        for i in range(scene.whole[ACTIVE]):
            scene.begun[scene.candidates[i]] = 0 if scene.modes[i] == SLIDES else 1
        scene.whole[ACTIVE] = 0
        scene.whole[FRESH] = 1
        scene.whole[STATE] = FLIGHT
        scene.whole[LEFT_OUT] = 0
        find_inverses(unit, scene, scene.y0)
        for k in range(len(run.owner) * run.plane_count):
            scene.skip[k] = 0.0
            if gap_of(run, scene, scene.y0, k) <= scene.real[TOUCH]:
                n = scene.whole[ACTIVE]
                if n == MOST_POINTS:
                    return CROWDED
                scene.candidates[n] = k
                find_point(run, unit, scene, scene.y0, n)
                rate = dot(vector(scene.points[n], N), vector(scene.points[n], U))
                if rate < -scene.real[CLOSING] and not after_impact:
                    scene.whole[HIT] = k
                    scene.whole[ACTIVE] = 0
                    return RUNNING
                if rate <= scene.real[CLOSING]:
                    scene.whole[ACTIVE] = n + 1
        n = scene.whole[ACTIVE]
        if n == 0:
            return RUNNING
        build_matrix(scene)
        scene.whole[ACTIVE] = 0
        rates(run, unit, scene, t, scene.y0, scene.stage)
        scene.whole[ACTIVE] = n
        natural = 0.0
        for i in range(n):
            row = scene.points[i]
            free_bias(row, scene.y0, scene.owners[i, 0] * NUMBERS, scene.stage, scene.bias, 3 * i)
            natural = max(natural, abs(scene.bias[3 * i]), abs(scene.bias[3 * i + 1]), abs(scene.bias[3 * i + 2]))
            u1, u2 = dot(vector(row, U), vector(row, T1)), dot(vector(row, U), vector(row, T2))
            speed = sqrt(u1 * u1 + u2 * u2)
            scene.law[i, 0], scene.law[i, 1], scene.law[i, 4] = row[MU], 0.0, 0.0
            slow = scene.real[SLOW]
            if scene.begun[scene.candidates[i]] == 1:
                slow = max(slow, STARTING * scene.real[SPEED])
            if speed > slow:
                scene.law[i, 1], scene.law[i, 2], scene.law[i, 3] = 1.0, u1 / speed, u2 / speed
        if not solve_together(scene, n):
            return PARADOX
        kept = 0
        is_sliding = False
        for i in range(n):
            if scene.p[3 * i] <= 0.0 and scene.u[3 * i] > 1e-9 * natural:
                scene.skip[scene.candidates[i]] = scene.u[3 * i]  # for now, its acceleration
            else:
                scene.modes[i] = STICKS
                d1, d2 = 0.0, 0.0
                if scene.law[i, 1] == 1.0:
                    scene.modes[i] = SLIDES
                    d1, d2 = scene.law[i, 2], scene.law[i, 3]
                else:
                    u1, u2 = scene.u[3 * i + 1], scene.u[3 * i + 2]
                    t1, t2 = scene.p[3 * i + 1], scene.p[3 * i + 2]
                    rate, most = sqrt(u1 * u1 + u2 * u2), scene.law[i, 0] * scene.p[3 * i]
                    if rate > 1e-9 * natural and sqrt(t1 * t1 + t2 * t2) >= most * (1.0 - 1e-9):
                        scene.modes[i] = STARTS
                        scene.whole[LEFT_OUT] = 1  # look again after the step
                        d1, d2 = u1 / rate, u2 / rate
                    if scene.law[i, 0] == 0.0:
                        scene.modes[i] = SLIDES
                if scene.modes[i] != STICKS:
                    is_sliding = True
                row = scene.points[i]
                store(scene.sliding[i], 0, plus(scaled(d1, vector(row, T1)), scaled(d2, vector(row, T2))))
                keep_point(scene, i, kept)
                kept += 1
        scene.whole[ACTIVE] = kept
        set_skips(run, scene)
        if kept > 0:
            scene.whole[STATE] = SLIDING if is_sliding else ROLLING
            bring_to_rest(run, unit, scene, t)
            if scene.whole[STATE] != RESTING:
                drop_negative(run, unit, scene, t)
        return RUNNING

    @loop
    def set_skips(run: ContactRun, scene: Scene) -> None:
        """How long a point that parts with no speed but some acceleration cannot touch again.

        Its height is at least a t^2/2 - c t^3/6, c a bound of the third derivative.
        """
        for k in range(len(run.owner) * run.plane_count):
            if scene.skip[k] > 0.0:
                b = run.owner[k % len(run.owner)]
                w, turning = scene.limits[b, 1], scene.limits[b, 2]
                third = run.size[b] * w * (w * w + 5.0 * turning)
                scene.skip[k] = min(3.0 * scene.skip[k] / third, NEVER / 2.0) if third > 0.0 else NEVER / 2.0

    return modes


# Impacts --------------------------------------------------------------------------------------------------------------
def _build_impact(points: SceneLoops, layout: Layout) -> Loop:
    """(run, unit, scene, now) -> status: all points that touch, resolved together.

    Compression until no point approaches, then expansion with the fraction e of each normal impulse; if friction would
    make that give back more than e^2 of the energy that compression took, less of it.
    """
    find_point, build_matrix, gap_of = points.find_point, points.build_matrix, points.gap_of
    find_inverses, size, at_inverse = points.find_inverses, layout.size, layout.body[3]

    def velocity_of(row: Any, u: Any, j: Any) -> None:
        u[j] = dot(vector(row, N), vector(row, U))
        u[j + 1] = dot(vector(row, T1), vector(row, U))
        u[j + 2] = dot(vector(row, T2), vector(row, U))

    def push(unit: Any, at: Any, row: Any, y: Any, i: Any, impulse: Any) -> None:
        n, t1, t2 = impulse
        total = plus(plus(scaled(n, vector(row, N)), scaled(t1, vector(row, T1))), scaled(t2, vector(row, T2)))
        turning = to_body(quaternion(y, i + 3), cross(vector(row, ARM), total))
        store(y, i + 7, plus(vector(y, i + 7), total))
        spun = tuple(unit[place + at] * part for place, part in zip(at_inverse, turning, strict=True))
        store(y, i + 10, plus(vector(y, i + 10), spun))

    def log_point(row: Any, point: Any, y: Any, i: Any, impulse: Any) -> None:
        n, t1, t2 = impulse
        store(row, 4, plus(vector(y, i), vector(point, ARM)))
        store(row, 7, vector(point, N))
        row[10] = n
        store(row, 11, plus(scaled(t1, vector(point, T1)), scaled(t2, vector(point, T2))))

    @loop
    def strike(run: ContactRun, unit: Any, scene: Scene, now: float) -> int:
        find_inverses(unit, scene, scene.y0)
        scene.whole[ACTIVE] = 0
        hit, approach = scene.whole[HIT], 0.0
        for k in range(len(run.owner) * run.plane_count):
            if k == hit or gap_of(run, scene, scene.y0, k) <= scene.real[TOUCH]:
                n = scene.whole[ACTIVE]
                if n == MOST_POINTS:
                    return CROWDED
                scene.candidates[n] = k
                find_point(run, unit, scene, scene.y0, n)
                scene.whole[ACTIVE] = n + 1
        n = scene.whole[ACTIVE]
        build_matrix(scene)
        for i in range(n):
            velocity_of(scene.points[i], scene.bias, 3 * i)
            approach = max(approach, -scene.bias[3 * i])
            scene.law[i, 0], scene.law[i, 1], scene.law[i, 4] = scene.points[i, MU], 0.0, 0.0
        if approach <= 0.0:
            return RUNNING
        solve_together(scene, n)
        taken, bounce = 0.0, 0.0
        for i in range(n):
            e = scene.points[i, BOUNCE]
            e = e if e * approach > scene.real[CLOSING] else 0.0
            bounce = max(bounce, e)
            scene.law[i, 4] = e * scene.p[3 * i]
        for i in range(3 * n):
            taken = taken - scene.p[i] * (scene.bias[i] + scene.u[i]) / 2.0
        if bounce > 0.0:
            expand(scene, n, bounce * bounce * taken)
        apply_matrix(3 * n, scene.a, scene.p, scene.bias, scene.u)
        memory = run.memory[scene.whole[UNIT]]
        rows = run.log.shape[1]
        for i in range(n):
            b, j = scene.owners[i, 0], 3 * i
            impulse = (scene.p[j], scene.p[j + 1], scene.p[j + 2])
            lost = 0.0
            for c in range(3):
                lost = lost - scene.p[j + c] * (scene.bias[j + c] + scene.u[j + c]) / 2.0
            if rows > 0 and (scene.p[j] > 0.0 or scene.candidates[i] == hit):
                row = run.log[scene.whole[UNIT], int(memory[AT_LOGGED])]
                row[0] = run.start + now
                row[1], row[2], row[3] = float(b), -1.0, float(scene.candidates[i] // len(run.owner))
                log_point(row, scene.points[i], scene.y0, b * NUMBERS, impulse)
                row[14] = lost
                slip = sqrt(scene.u[j + 1] * scene.u[j + 1] + scene.u[j + 2] * scene.u[j + 2])
                row[15] = float(SLIP) if slip > 1e-9 * approach else float(STICK)
                if bounce == 0.0 and scene.points[i, BOUNCE] > 0.0:
                    row[15] = float(SETTLE)
                memory[AT_LOGGED] += 1.0
            if scene.p[j] > 0.0:
                memory[AT_IMPACTS] += 1.0
                memory[AT_LOST] += lost
                push(unit, b * size, scene.points[i], scene.y0, b * NUMBERS, impulse)
                scene.y0[b * NUMBERS + 13] -= lost
        for m in range(len(scene.y)):
            scene.y[m] = scene.y0[m]
        scene.whole[ACTIVE] = 0
        return LOG_FULL if rows > 0 and int(memory[AT_LOGGED]) + MOST_POINTS > rows else RUNNING

    return strike


@loop
def expand(scene: Scene, n: int, most: float) -> None:
    """Add the impulses of expansion to those of compression; they give back at most this energy."""
    for i in range(3 * n):
        scene.before[i] = scene.bias[i]
        scene.bias[i] = scene.u[i]  # the velocities after compression
        scene.kept[i] = scene.p[i]
    solve_together(scene, n)
    line, square = 0.0, 0.0
    for i in range(3 * n):
        line = line + scene.p[i] * scene.bias[i]
        for j in range(3 * n):
            square = square + scene.p[i] * scene.a[i, j] * scene.p[j]
    part = 1.0
    if line + square / 2.0 > most and square > 0.0:
        part = (sqrt(max(line * line + 2.0 * square * most, 0.0)) - line) / square
        part = min(max(part, 0.0), 1.0)
    for i in range(3 * n):
        scene.p[i] = scene.kept[i] + part * scene.p[i]
        scene.bias[i] = scene.before[i]


# Corrections ----------------------------------------------------------------------------------------------------------
def _build_projection(points: SceneLoops, layout: Layout) -> tuple[Loop, Loop]:
    """(run, unit, scene): remove what rounding and the errors of a step have left of gaps and speeds in contact."""
    find_point, build_matrix, gap_of = points.find_point, points.build_matrix, points.gap_of
    find_inverses, size, at_inverse = points.find_inverses, layout.size, layout.body[3]
    at_per_mass = layout.body[1]

    def shift(unit: Any, at: Any, row: Any, y: Any, i: Any, by: Any) -> None:
        store(y, i, plus(vector(y, i), scaled(by * unit[at_per_mass + at], vector(row, N))))
        w, x, yy, z = quaternion(y, i + 3)
        a, b, c = scaled(by / 2, vector(row, TURNED))  # world axes: q + (0, a)/2 q
        turned = (
            w - (a * x + b * yy + c * z),
            x + (a * w + b * z - c * yy),
            yy + (b * w + c * x - a * z),
            z + (c * w + a * yy - b * x),
        )
        store(y, i + 3, normalize(turned))

    def push(unit: Any, at: Any, row: Any, y: Any, i: Any, impulse: Any) -> None:
        n, t1, t2 = impulse
        total = plus(plus(scaled(n, vector(row, N)), scaled(t1, vector(row, T1))), scaled(t2, vector(row, T2)))
        turning = to_body(quaternion(y, i + 3), cross(vector(row, ARM), total))
        store(y, i + 7, plus(vector(y, i + 7), total))
        spun = tuple(unit[place + at] * part for place, part in zip(at_inverse, turning, strict=True))
        store(y, i + 10, plus(vector(y, i + 10), spun))

    def velocity_of(row: Any, u: Any, j: Any) -> None:
        u[j] = dot(vector(row, N), vector(row, U))
        u[j + 1] = dot(vector(row, T1), vector(row, U))
        u[j + 2] = dot(vector(row, T2), vector(row, U))

    @loop
    def solve_rows(scene: Scene, only_normal: bool) -> None:
        """The smallest impulses (or shifts) with A p = target along the rows that are held."""
        n, rows = scene.whole[ACTIVE], 0
        for i in range(n):
            for r in range(3):
                if r == 0 or (scene.modes[i] == STICKS and not only_normal):
                    columns = 0
                    for j in range(n):
                        for c in range(3):
                            if c == 0 or (scene.modes[j] == STICKS and not only_normal):
                                scene.k[rows, columns] = scene.a[3 * i + r, 3 * j + c]
                                columns += 1
                    scene.u[rows] = -scene.bias[3 * i + r]
                    rows += 1
        solve_least(rows, scene.k, scene.u, scene.g, scene.x, scene.rest)
        rows = 0
        for i in range(n):
            for r in range(3):
                scene.p[3 * i + r] = 0.0
                if r == 0 or (scene.modes[i] == STICKS and not only_normal):
                    scene.p[3 * i + r] = scene.x[rows]
                    rows += 1

    @loop
    def close_gaps(run: ContactRun, unit: Any, scene: Scene, y: Any) -> None:
        """Move and turn the bodies so that every point in contact touches, by the least motion."""
        n = scene.whole[ACTIVE]
        for _ in range(4):
            find_inverses(unit, scene, y)
            worst = 0.0
            for i in range(n):
                find_point(run, unit, scene, y, i)
                scene.bias[3 * i] = gap_of(run, scene, y, scene.candidates[i])
                worst = max(worst, abs(scene.bias[3 * i]))
            if worst <= 1e-5 * scene.real[TOUCH] or not worst < 1e100:
                break
            build_matrix(scene)
            solve_rows(scene, True)
            for i in range(n):
                b = scene.owners[i, 0]
                shift(unit, b * size, scene.points[i], y, b * NUMBERS, scene.p[3 * i])

    @loop
    def project(run: ContactRun, unit: Any, scene: Scene) -> None:
        n = scene.whole[ACTIVE]
        if n > 0 and scene.whole[STATE] != RESTING:
            close_gaps(run, unit, scene, scene.y0)
            for i in range(n):
                find_point(run, unit, scene, scene.y0, i)
                velocity_of(scene.points[i], scene.bias, 3 * i)
            build_matrix(scene)
            solve_rows(scene, False)
            for i in range(n):
                b, j = scene.owners[i, 0], 3 * i
                impulse = (scene.p[j], scene.p[j + 1], scene.p[j + 2])
                push(unit, b * size, scene.points[i], scene.y0, b * NUMBERS, impulse)
            for m in range(len(scene.y)):
                scene.y[m] = scene.y0[m]

    return project, close_gaps


# Output ---------------------------------------------------------------------------------------------------------------
def _build_output(rates: Loop, close_gaps: Loop, layout: Layout) -> Loop:
    """(run, unit, scene, u, s, now): the sample of a unit, and the forces of its points in contact."""
    columns, numbers = layout.sample_size, layout.drift
    size, at_per_mass = layout.size, layout.body[1]

    def add_force(row: Any, p: Any, j: Any, out: Any, at: Any) -> None:
        force = plus(
            plus(scaled(p[j], vector(row, N)), scaled(p[j + 1], vector(row, T1))), scaled(p[j + 2], vector(row, T2))
        )
        store(out, at, plus(vector(out, at), force))
        store(out, at + 3, plus(vector(out, at + 3), cross(vector(row, ARM), force)))
        out[at + 6] = out[at + 6] + 1.0

    @loop
    def emit(run: ContactRun, unit: Any, scene: Scene, u: int, s: int, now: float) -> None:
        sample, contact = run.out[s, u], run.contact[s, u]
        n = scene.whole[ACTIVE]
        if n > 0:
            if scene.whole[STATE] != RESTING:
                close_gaps(run, unit, scene, scene.y)
            rates(run, unit, scene, run.start + run.times[s], scene.y, scene.stage)
        for b in range(scene.inverse.shape[0]):
            i = b * NUMBERS
            store(scene.y, i + 3, normalize(quaternion(scene.y, i + 3)))
            for c in range(numbers):
                sample[b * columns + c] = scene.y[i + c]
            sample[b * columns + numbers] = 0.0
            for c in range(7):
                contact[8 * b + c] = 0.0
            contact[8 * b + 7] = float(FLIGHT)
        for i in range(n):
            at = 8 * scene.owners[i, 0]
            add_force(scene.points[i], scene.p, 3 * i, contact, at)
            if scene.modes[i] != STICKS:
                contact[at + 7] = float(SLIDING)
            if contact[at + 7] == float(FLIGHT):
                contact[at + 7] = float(ROLLING)
        for b in range(scene.inverse.shape[0]):
            p, w = vector(scene.y, b * NUMBERS + 7), vector(scene.y, b * NUMBERS + 10)
            speed = unit[b * size + at_per_mass] * sqrt(dot(p, p)) + run.size[b] * sqrt(dot(w, w))
            if contact[8 * b + 6] > 0.0 and speed <= 10.0 * scene.real[CLOSING]:
                contact[8 * b + 7] = float(RESTING)

    return emit
