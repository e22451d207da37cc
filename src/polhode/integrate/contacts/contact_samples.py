"""Corrections of what rounding leaves of gaps and speeds in contact, and the samples of a run."""

from __future__ import annotations

from typing import Any

from polhode.equations.quaternions import normalize
from polhode.equations.scalar_ops import sqrt
from polhode.equations.vectors import cross, dot, plus, scaled
from polhode.integrate.contacts.contact_forces import solve_least
from polhode.integrate.contacts.contact_scene import (
    ACTIVE,
    ARM,
    ARM_B,
    CLOSING,
    FLIGHT,
    NUMBERS,
    RESTING,
    ROLLING,
    SLIDING,
    STATE,
    STICKS,
    TOUCH,
    TURNED,
    TURNED_B,
    ContactRun,
    ContactScene,
    N,
    SceneLoops,
    force_of,
    velocity_along,
)
from polhode.integrate.contacts.contact_shapes import (
    quaternion,
    store,
    vector,
)
from polhode.integrate.loops.layout import Layout
from polhode.ir.loops import Loop, loop


def build_projection(points: SceneLoops, layout: Layout) -> tuple[Loop, Loop]:
    """(run, unit, scene): remove what rounding and the errors of a step have left of gaps and speeds in contact."""
    find_point, build_matrix, gap_of = points.find_point, points.build_matrix, points.gap_of
    find_inverses, push, has_pairs = points.find_inverses, points.push, points.has_pairs
    size, at_per_mass = layout.size, layout.body.inverse_mass

    def shift_body(unit: Any, at: Any, row: Any, turned_at: int, y: Any, i: Any, by: Any) -> None:
        store(y, i, plus(vector(y, i), scaled(by * unit[at_per_mass + at], vector(row, N))))
        w, x, yy, z = quaternion(y, i + 3)
        a, b, c = scaled(by / 2, vector(row, turned_at))  # world axes: q + (0, a)/2 q
        turned = (
            w - (a * x + b * yy + c * z),
            x + (a * w + b * z - c * yy),
            yy + (b * w + c * x - a * z),
            z + (c * w + a * yy - b * x),
        )
        store(y, i + 3, normalize(turned))

    def shift_owner(unit: Any, at: Any, row: Any, y: Any, i: Any, by: Any) -> None:
        shift_body(unit, at, row, TURNED, y, i, by)

    def shift_other(unit: Any, at: Any, row: Any, y: Any, i: Any, by: Any) -> None:
        shift_body(unit, at, row, TURNED_B, y, i, -by)

    @loop
    def solve_rows(scene: ContactScene, only_normal: bool) -> None:
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
        for r in range(rows):
            scene.x[r] = 0.0
        solve_least(rows, scene.k, scene.u, scene.g, scene.x, scene.rest)
        rows = 0
        for i in range(n):
            for r in range(3):
                scene.p[3 * i + r] = 0.0
                if r == 0 or (scene.modes[i] == STICKS and not only_normal):
                    scene.p[3 * i + r] = scene.x[rows]
                    rows += 1

    @loop
    def close_gaps(run: ContactRun, unit: Any, scene: ContactScene, y: Any) -> None:
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
                b, other = scene.owners[i, 0], scene.owners[i, 1]
                shift_owner(unit, b * size, scene.points[i], y, b * NUMBERS, scene.p[3 * i])
                if has_pairs:  # noqa: SIM102
                    if other >= 0:
                        shift_other(unit, other * size, scene.points[i], y, other * NUMBERS, scene.p[3 * i])

    @loop
    def project(run: ContactRun, unit: Any, scene: ContactScene) -> None:
        n = scene.whole[ACTIVE]
        if n > 0 and scene.whole[STATE] != RESTING:
            close_gaps(run, unit, scene, scene.y0)
            for i in range(n):
                find_point(run, unit, scene, scene.y0, i)
                velocity_along(scene.points[i], scene.bias, 3 * i)
            build_matrix(scene)
            solve_rows(scene, False)
            for i in range(n):
                push(unit, scene, scene.y0, scene.y0, i)
            for m in range(len(scene.y)):
                scene.y[m] = scene.y0[m]

    return project, close_gaps


def build_output(rates: Loop, close_gaps: Loop, layout: Layout) -> tuple[Loop, Loop, Loop]:
    """(run, unit, scene, u, s): the sample of a unit, and the forces of its points in contact; then each by itself."""
    columns, numbers = layout.sample_size, layout.drift
    size, at_per_mass = layout.size, layout.body.inverse_mass

    def add_force(row: Any, p: Any, j: Any, out: Any, at: Any) -> None:
        force = force_of(row, p, j)
        store(out, at, plus(vector(out, at), force))
        store(out, at + 3, plus(vector(out, at + 3), cross(vector(row, ARM), force)))
        out[at + 6] = out[at + 6] + 1.0

    def add_reaction(row: Any, p: Any, j: Any, out: Any, at: Any) -> None:
        force = scaled(-1.0, force_of(row, p, j))
        store(out, at, plus(vector(out, at), force))
        store(out, at + 3, plus(vector(out, at + 3), cross(vector(row, ARM_B), force)))
        out[at + 6] = out[at + 6] + 1.0

    @loop
    def note_state(scene: ContactScene, i: int, contact: Any, at: int) -> None:
        if scene.modes[i] != STICKS:
            contact[at + 7] = float(SLIDING)
        if contact[at + 7] == float(FLIGHT):
            contact[at + 7] = float(ROLLING)

    @loop
    def write_state(run: ContactRun, scene: ContactScene, u: int, s: int) -> None:
        sample = run.out[s, u]
        for b in range(scene.inverse.shape[0]):
            i = b * NUMBERS
            store(scene.y, i + 3, normalize(quaternion(scene.y, i + 3)))
            for c in range(numbers):
                sample[b * columns + c] = scene.y[i + c]
            sample[b * columns + numbers] = 0.0

    @loop
    def write_forces(run: ContactRun, unit: Any, scene: ContactScene, u: int, s: int) -> None:
        contact = run.contact[s, u]
        for b in range(scene.inverse.shape[0]):
            for c in range(7):
                contact[8 * b + c] = 0.0
            contact[8 * b + 7] = float(FLIGHT)
        for i in range(scene.whole[ACTIVE]):
            at, other = 8 * scene.owners[i, 0], 8 * scene.owners[i, 1]
            add_force(scene.points[i], scene.p, 3 * i, contact, at)
            note_state(scene, i, contact, at)
            if other >= 0:
                add_reaction(scene.points[i], scene.p, 3 * i, contact, other)
                note_state(scene, i, contact, other)
        for b in range(scene.inverse.shape[0]):
            p, w = vector(scene.y, b * NUMBERS + 7), vector(scene.y, b * NUMBERS + 10)
            speed = unit[b * size + at_per_mass] * sqrt(dot(p, p)) + run.size[b] * sqrt(dot(w, w))
            if contact[8 * b + 6] > 0.0 and speed <= 10.0 * scene.real[CLOSING]:
                contact[8 * b + 7] = float(RESTING)

    @loop
    def emit(run: ContactRun, unit: Any, scene: ContactScene, u: int, s: int) -> None:
        if scene.whole[ACTIVE] > 0:
            if scene.whole[STATE] != RESTING:
                close_gaps(run, unit, scene, scene.y)
            rates(run, unit, scene, run.start + run.times[s], scene.y, scene.stage)
        write_state(run, scene, u, s)
        write_forces(run, unit, scene, u, s)

    return emit, write_state, write_forces
