"""The right-hand side of bodies in contact: the forces of the points that touch, each sticking or sliding."""

from __future__ import annotations

from typing import Any

from polhode.equations.contact_laws import point_velocity
from polhode.equations.quaternions import to_world
from polhode.equations.right_hand_side import power
from polhode.equations.scalar_ops import sqrt
from polhode.equations.vectors import cross, dot, plus, scaled
from polhode.integrate.contacts.contact_forces import solve_least
from polhode.integrate.contacts.contact_scene import (
    ACTIVE,
    ARM,
    ARM_B,
    MU,
    NUMBERS,
    PAINLEVE,
    PER_MASS,
    PER_MASS_B,
    SLOW,
    STARTS,
    STICKS,
    T1,
    T2,
    ContactRun,
    ContactScene,
    N,
    SceneLoops,
    U,
    find_bias,
    force_of,
)
from polhode.integrate.contacts.contact_shapes import (
    quaternion,
    store,
    vector,
)
from polhode.integrate.loops.layout import Layout, read, read_constants, write
from polhode.ir.loops import Loop, Sweep, loop


def build_rates(loads: tuple[Sweep, Loop], motion: Any, points: SceneLoops, layout: Layout) -> Loop:
    """(run, unit, scene, t, y, out): the slopes of all bodies, with the forces of the points in contact.

    The forces stay in scene.p, in the axes of each point.
    """
    size, point, wrench = layout.size, layout.point, layout.wrench
    at_per_mass, (load_all, add_pairs) = layout.body.inverse_mass, loads
    find_point, find_inverses, push, has_pairs = points.find_point, points.find_inverses, points.push, points.has_pairs
    view, rate = motion

    def put_point(unit: Any, at: Any, y: Any, i: Any) -> None:
        write(unit, at, point[:4], (vector(y, i), quaternion(y, i + 3), vector(y, i + 7), vector(y, i + 10)))

    def move_one(unit: Any, at: Any, out: Any, i: Any) -> None:
        c, y = read_constants(unit, at, layout), read(unit, at, point[:4])
        force, torque = read(unit, at, wrench)
        slope = rate(y, c, force, torque)
        store(out, i, slope[0] + slope[1] + slope[2] + slope[3])
        out[i + 13] = power(view(y, c), force, torque)

    def power_on_owner(row: Any, p: Any, j: Any) -> Any:
        return dot(force_of(row, p, j), vector(row, U))

    def power_on_other(unit: Any, at: Any, row: Any, y: Any, i: Any, p: Any, j: Any) -> Any:
        w = to_world(quaternion(y, i + 3), vector(y, i + 10))
        moved = point_velocity(scaled(unit[at_per_mass + at], vector(y, i + 7)), w, vector(row, ARM_B))
        return -dot(force_of(row, p, j), moved)

    @loop
    def add_power(unit: Any, scene: ContactScene, y: Any, out: Any, i: int) -> None:
        """The power of a force at a point: what both bodies get is that of the relative velocity."""
        b, other = scene.owners[i, 0], scene.owners[i, 1]
        both = power_on_owner(scene.points[i], scene.p, 3 * i)
        if has_pairs:  # noqa: SIM102
            if other >= 0:
                theirs = power_on_other(unit, other * size, scene.points[i], y, other * NUMBERS, scene.p, 3 * i)
                out[other * NUMBERS + 13] = out[other * NUMBERS + 13] + theirs
                both = both - theirs
        out[b * NUMBERS + 13] = out[b * NUMBERS + 13] + both

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
    def place_rows(scene: ContactScene) -> int:
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
                    scene.x[count + r] = scene.reference[i, r]
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
                scene.x[count] = scene.reference[i, 0]
                place_column(scene.columns[count], 0, row, tensor, tensor_b, (1.0, -mu * d1, -mu * d2))
                count += 1
        return count

    @loop
    def solve_forces(scene: ContactScene) -> None:
        """The forces of the points in contact, each sticking or sliding as it does.

        Where the points are more than the motion needs, their forces are those nearest to the ones found last.
        """
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
    def rates(run: ContactRun, unit: Any, scene: ContactScene, t: float, y: Any, out: Any) -> None:
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
                find_bias(scene, y, out, i)
            solve_forces(scene)
            for i in range(n):
                push(unit, scene, y, out, i)
                add_power(unit, scene, y, out, i)

    return rates


@loop
def find_sliding(scene: ContactScene, i: int) -> None:
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
