"""Impacts: all points that touch, resolved together, by compression and expansion."""

from __future__ import annotations

from typing import Any

from polhode.equations.scalar_ops import sqrt
from polhode.equations.vectors import plus, scaled
from polhode.integrate.contacts.contact_forces import apply_matrix, solve_least, solve_together
from polhode.integrate.contacts.contact_scene import (
    ACTIVE,
    ARM,
    AT_IMPACTS,
    AT_LOGGED,
    AT_LOST,
    BOUNCE,
    CLOSING,
    CROWDED,
    HIT,
    JAM,
    LOG_FULL,
    MOST_POINTS,
    MU,
    NUMBERS,
    PARADOX,
    RUNNING,
    SETTLE,
    SLIP,
    STICK,
    T1,
    T2,
    TOUCH,
    UNIT,
    ContactRun,
    ContactScene,
    N,
    SceneLoops,
    build_kinetic_energy,
    candidate_count,
    plane_candidates,
    velocity_along,
)
from polhode.integrate.contacts.contact_shapes import (
    store,
    vector,
)
from polhode.integrate.loops.layout import Layout
from polhode.ir.loops import Loop, loop


def build_impact(points: SceneLoops, layout: Layout) -> tuple[Loop, Loop]:
    """(run, unit, scene, now) -> status: all points that touch, resolved together.

    Compression until no point approaches, then expansion with the fraction e of each normal impulse; if friction would
    make that give back more than e^2 of the energy that compression took, less of it.
    """
    find_point, build_matrix, gap_of = points.find_point, points.build_matrix, points.gap_of
    find_inverses, find_manifolds, has_pairs = points.find_inverses, points.find_manifolds, points.has_pairs
    push, size = points.push, layout.size

    kinetic_energy = build_kinetic_energy(layout)

    def log_point(row: Any, point: Any, y: Any, i: Any, p: Any, j: Any) -> None:
        store(row, 4, plus(vector(y, i), vector(point, ARM)))
        store(row, 7, vector(point, N))
        row[10] = p[j]
        store(row, 11, plus(scaled(p[j + 1], vector(point, T1)), scaled(p[j + 2], vector(point, T2))))

    @loop
    def apply_impulses(
        run: ContactRun, unit: Any, scene: ContactScene, now: float, approach: float, bounces: bool
    ) -> Any:
        """Give the impulses to the bodies, and log them; `approach` is negative where nothing approached."""
        n, hit = scene.whole[ACTIVE], scene.whole[HIT]
        memory = run.memory[scene.whole[UNIT]]
        rows, planes = run.log.shape[1], plane_candidates(run)
        if has_pairs:
            for b in range(scene.inverse.shape[0]):
                scene.y0[b * NUMBERS + 13] -= kinetic_energy(unit, b * size, scene.y0, b * NUMBERS)
        for i in range(n):
            b, j = scene.owners[i, 0], 3 * i
            lost = 0.0
            for c in range(3):
                lost = lost - scene.p[j + c] * (scene.bias[j + c] + scene.u[j + c]) / 2.0
            if rows > 0 and (scene.p[j] > 0.0 or scene.candidates[i] == hit):
                row = run.log[scene.whole[UNIT], int(memory[AT_LOGGED])]
                row[0] = run.start + now
                row[1], row[2], row[3] = float(b), float(scene.owners[i, 1]), -1.0
                if scene.candidates[i] < planes:
                    row[3] = float(scene.candidates[i] // len(run.owner))
                log_point(row, scene.points[i], scene.y0, b * NUMBERS, scene.p, j)
                row[14] = lost
                slip = sqrt(scene.u[j + 1] * scene.u[j + 1] + scene.u[j + 2] * scene.u[j + 2])
                row[15] = float(SLIP) if slip > 1e-9 * approach else float(STICK)
                if not bounces and scene.points[i, BOUNCE] > 0.0:
                    row[15] = float(SETTLE)
                if approach < 0.0:
                    row[15] = float(JAM)
                memory[AT_LOGGED] += 1.0
            if scene.p[j] > 0.0:
                memory[AT_IMPACTS] += 1.0
                memory[AT_LOST] += lost
                push(unit, scene, scene.y0, scene.y0, i)
                if not has_pairs:
                    scene.y0[b * NUMBERS + 13] -= lost
        if has_pairs:
            for b in range(scene.inverse.shape[0]):
                scene.y0[b * NUMBERS + 13] += kinetic_energy(unit, b * size, scene.y0, b * NUMBERS)
        for m in range(len(scene.y)):
            scene.y[m] = scene.y0[m]
        scene.whole[ACTIVE] = 0
        return LOG_FULL if rows > 0 and int(memory[AT_LOGGED]) + MOST_POINTS > rows else RUNNING

    @loop
    def strike(run: ContactRun, unit: Any, scene: ContactScene, now: float) -> Any:
        find_inverses(unit, scene, scene.y0)
        scene.whole[ACTIVE] = 0
        hit, approach = scene.whole[HIT], 0.0
        if has_pairs:
            find_manifolds(run, scene, scene.y0)
        for k in range(candidate_count(run)):
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
            velocity_along(scene.points[i], scene.bias, 3 * i)
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
        return apply_impulses(run, unit, scene, now, approach, bounce > 0.0)

    @loop
    def stop_points(scene: ContactScene, n: int) -> Any:
        """The impulses that stop the points whose status is 1; the one that would have to pull most, or -1."""
        count = 0
        for i in range(n):
            for c in range(3):
                scene.p[3 * i + c] = 0.0
                if scene.status[i] == 1:
                    scene.whose[count] = 3 * i + c
                    count += 1
        for r in range(count):
            scene.x[r] = 0.0
            scene.target[r] = -scene.bias[scene.whose[r]]
            for c in range(count):
                scene.k[r, c] = scene.a[scene.whose[r], scene.whose[c]]
        if count > 0:
            solve_least(count, scene.k, scene.target, scene.g, scene.x, scene.rest)
        worst, least = -1, 0.0
        for r in range(count):
            scene.p[scene.whose[r]] = scene.x[r]
            if scene.whose[r] % 3 == 0 and scene.x[r] <= least:
                worst, least = scene.whose[r] // 3, scene.x[r]
        return worst

    @loop
    def slow_down(scene: ContactScene, n: int) -> Any:
        """The impulse along the friction of the point that presses itself in most, until it slides that way no more."""
        worst, least = -1, 0.0
        for i in range(n):
            pull = scene.law[i, 2] * scene.a[3 * i, 3 * i + 1] + scene.law[i, 3] * scene.a[3 * i, 3 * i + 2]
            lift = scene.a[3 * i, 3 * i] - scene.law[i, 0] * pull
            if scene.law[i, 1] == 1.0 and lift <= least:
                worst, least = i, lift
        if worst < 0:
            return False
        at, mu, d1, d2 = 3 * worst, scene.law[worst, 0], scene.law[worst, 2], scene.law[worst, 3]
        t1 = scene.a[at, at + 1] - mu * (d1 * scene.a[at + 1, at + 1] + d2 * scene.a[at + 1, at + 2])
        t2 = scene.a[at, at + 2] - mu * (d1 * scene.a[at + 1, at + 2] + d2 * scene.a[at + 2, at + 2])
        slowing = -(t1 * d1 + t2 * d2)
        if slowing <= 0.0:
            return False
        s = (scene.bias[at + 1] * d1 + scene.bias[at + 2] * d2) / slowing
        for i in range(3 * n):
            scene.p[i] = 0.0
        scene.p[at], scene.p[at + 1], scene.p[at + 2] = s, -mu * s * d1, -mu * s * d2
        return True

    @loop
    def jam(run: ContactRun, unit: Any, scene: ContactScene, now: float) -> Any:
        """Where no force fits a point that slides (Painleve): friction stops all points at once, by an impulse.

        [an impact without collision; Genot 1999]
        """
        n = scene.whole[ACTIVE]
        for i in range(n):
            velocity_along(scene.points[i], scene.bias, 3 * i)
            scene.status[i] = 1
        for _ in range(n):
            worst = stop_points(scene, n)
            if worst < 0:
                break
            scene.status[worst] = 0
        if worst >= 0 and not slow_down(scene, n):
            return PARADOX
        apply_matrix(3 * n, scene.a, scene.p, scene.bias, scene.u)
        scene.whole[HIT] = -1
        return apply_impulses(run, unit, scene, now, -1.0, True)

    return strike, jam


@loop
def expand(scene: ContactScene, n: int, most: float) -> None:
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
