"""Coarse steps: impulses over a short time, where contacts change so often that the exact loop makes no progress.

A step of Moreau's time stepping: the velocities after it fulfill the laws of contact, for all points that are near.  It
is of first order, without rebound, and never creates energy; the steps are 1e-6 to 1e-4 of the natural time.
"""

from __future__ import annotations

from typing import Any

from polhode.equations.quaternions import normalize, times_vector
from polhode.equations.scalar_ops import sqrt
from polhode.equations.vectors import plus, scaled
from polhode.integrate.contacts.contact_forces import solve_together
from polhode.integrate.contacts.contact_scene import (
    ACTIVE,
    AT_COARSE,
    AT_LOST,
    COARSE_AT,
    COARSER,
    CROWDED,
    FASTEST,
    FRESH,
    MOST_POINTS,
    MU,
    NOT_FINITE,
    NUMBERS,
    OUTPUT,
    RUNNING,
    SIZE,
    SLIDES,
    SLOW,
    STALLED,
    STICKS,
    TOUCH,
    UNIT,
    ContactRun,
    ContactScene,
    SceneLoops,
    build_kinetic_energy,
    candidate_count,
    velocity_along,
)
from polhode.integrate.contacts.contact_shapes import quaternion, store, vector
from polhode.integrate.loops.layout import Layout
from polhode.ir.loops import Loop, loop

SHORTEST, MOST_DOUBLINGS = 1e-6, 6
"""The length of a coarse step, as a fraction of the natural time, and how often it is doubled where it did not help."""
BATCH = 64
"""Coarse steps before the exact loop tries again; they are doubled too."""


def build_coarse_steps(rates: Loop, after: tuple[Loop, Loop, Loop], points: SceneLoops, layout: Layout) -> Loop:
    """(run, unit, scene, u, now) -> status after some coarse steps; `after` each come part_bodies and the outputs."""
    part_bodies, write_state, write_forces = after
    find_point, build_matrix, gap_of = points.find_point, points.build_matrix, points.gap_of
    find_inverses, find_manifolds, has_pairs = points.find_inverses, points.find_manifolds, points.has_pairs
    push, size, at_per_mass = points.push, layout.size, layout.body.inverse_mass

    kinetic_energy = build_kinetic_energy(layout)

    def move(unit: Any, at: Any, y: Any, i: Any, h: Any) -> None:
        """x' = v, q' = 1/2 q (0, w), at constant velocities."""
        q, w = quaternion(y, i + 3), vector(y, i + 10)
        turned = tuple(a + h / 2 * b for a, b in zip(q, times_vector(q, w), strict=True))
        store(y, i, plus(vector(y, i), scaled(h * unit[at_per_mass + at], vector(y, i + 7))))
        store(y, i + 3, normalize(turned))

    @loop
    def total_energy(unit: Any, scene: ContactScene, sign: float) -> float:
        """The kinetic energy; it is added to the work of each body, with a sign."""
        total = 0.0
        for b in range(scene.inverse.shape[0]):
            energy = kinetic_energy(unit, b * size, scene.y0, b * NUMBERS)
            scene.y0[b * NUMBERS + 13] += sign * energy
            total = total + energy
        return total

    @loop
    def step_coarsely(run: ContactRun, unit: Any, scene: ContactScene, t: float, h: float) -> int:
        """One step; the mean forces in it are scene.p of the points."""
        scene.whole[ACTIVE] = 0
        rates(run, unit, scene, t, scene.y0, scene.stage)
        for m in range(len(scene.y0)):
            if m % NUMBERS >= 7:
                scene.y0[m] += h * scene.stage[m]
        find_inverses(unit, scene, scene.y0)
        if has_pairs:
            find_manifolds(run, scene, scene.y0)
        near = scene.real[TOUCH] + 2.0 * h * scene.real[FASTEST]
        for k in range(candidate_count(run)):
            gap = gap_of(run, scene, scene.y0, k)
            if gap <= near:
                n = scene.whole[ACTIVE]
                if n == MOST_POINTS:
                    return CROWDED
                scene.candidates[n] = k
                find_point(run, unit, scene, scene.y0, n)
                velocity_along(scene.points[n], scene.bias, 3 * n)
                scene.bias[3 * n] += max(gap, 0.0) / h
                scene.law[n, 0], scene.law[n, 1], scene.law[n, 4] = scene.points[n, MU], 0.0, 0.0
                scene.whole[ACTIVE] = n + 1
        n = scene.whole[ACTIVE]
        if n > 0:
            build_matrix(scene)
            solve_together(scene, n)
            before = total_energy(unit, scene, -1.0)
            for i in range(n):
                if scene.p[3 * i] > 0.0:
                    push(unit, scene, scene.y0, scene.y0, i)
            after = total_energy(unit, scene, 1.0)
            run.memory[scene.whole[UNIT]][AT_LOST] += before - after
        for i in range(n):
            u1, u2 = scene.u[3 * i + 1], scene.u[3 * i + 2]
            scene.modes[i] = SLIDES if sqrt(u1 * u1 + u2 * u2) > scene.real[SLOW] else STICKS
            for c in range(3):
                scene.p[3 * i + c] = scene.p[3 * i + c] / h
        for b in range(scene.inverse.shape[0]):
            move(unit, b * size, scene.y0, b * NUMBERS, h)
        for m in range(len(scene.y)):
            scene.y[m] = scene.y0[m]
        run.memory[scene.whole[UNIT]][AT_COARSE] += 1.0
        return RUNNING

    @loop
    def cross_coarsely(run: ContactRun, unit: Any, scene: ContactScene, u: int, now: float) -> int:
        """Some coarse steps, until the time scene.real[COARSE_AT].  An output is the state after its step."""
        length = SHORTEST * scene.real[SIZE] / scene.real[FASTEST]
        steps, status, reached = BATCH, RUNNING, now
        for _ in range(scene.whole[COARSER]):
            length, steps = 2.0 * length, 2 * steps
        for _ in range(steps):
            h = min(length, run.duration - reached)
            if status == RUNNING and h > 0.0:
                for m in range(len(scene.y0)):
                    scene.saved[m] = scene.y0[m]
                status = step_coarsely(run, unit, scene, run.start + reached, h)
                reached = run.duration if h < length else reached + h
                first, s = scene.whole[OUTPUT], scene.whole[OUTPUT]
                while s < len(run.times) and run.times[s] < reached:
                    write_forces(run, unit, scene, u, s)
                    s += 1
                part_bodies(run, unit, scene)
                total = 0.0
                for m in range(len(scene.y0)):
                    total = total + scene.y0[m] * 0.0
                if total != 0.0:
                    status = NOT_FINITE
                    for m in range(len(scene.y0)):
                        scene.y0[m], scene.y[m] = scene.saved[m], scene.saved[m]
                for m in range(first, s):
                    write_state(run, scene, u, m)
                scene.whole[OUTPUT] = s
        scene.whole[ACTIVE], scene.whole[FRESH], scene.whole[STALLED] = 0, 1, 0
        scene.whole[COARSER] = min(scene.whole[COARSER] + 1, MOST_DOUBLINGS)
        scene.real[COARSE_AT] = reached
        return status

    return cross_coarsely
