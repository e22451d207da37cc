"""How bodies in contact move: steps with error control, dense output inside them, and flights in closed form."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.equations.contact_laws import relative_turn, rotate_briefly
from polhode.equations.law import Groups
from polhode.equations.quaternions import conjugate, product
from polhode.equations.scalar_ops import sqrt
from polhode.equations.vectors import dot, minus, plus, scaled
from polhode.integrate.contacts.contact_modes import pulls
from polhode.integrate.contacts.contact_scene import (
    ACTIVE,
    DIPPED,
    FITTED,
    NUMBERS,
    SPEED,
    STEP,
    TRIED,
    ContactRun,
    ContactScene,
)
from polhode.integrate.contacts.contact_shapes import (
    quaternion,
    store,
    vector,
)
from polhode.integrate.loops.layout import Layout, read, read_constants
from polhode.integrate.loops.stages import padded, tableau_arrays
from polhode.ir.loops import Loop, loop
from polhode.methods.runge_kutta import step_factor
from polhode.methods.tableaus import Tableau

STEP_SHARE = 1 / 16
"""The error that one step may have, as a fraction of rtol: the sum of many should stay below it."""
MOST_GROWTH = 5.0
"""The largest factor from one step to the next."""
SHORT_TURN = 0.02
"""A flight that turns by less, in rad, is computed by a step, whose small changes have all their digits."""


def build_step(rates: Loop, tableau: Tableau) -> Loop:
    """(run, unit, scene, t, h): y = y0 + dy after a step of any length."""
    count = len(tableau.nodes)
    nodes, rows, _ = tableau_arrays(tableau, count)
    weights = padded(tableau.coordinate_weights, count)

    @loop
    def step(run: ContactRun, unit: Any, scene: ContactScene, t: float, h: float) -> None:
        size = len(scene.y)
        scene.whole[DIPPED] = 0
        for i in range(count):
            for m in range(size):
                scene.stage[m] = scene.y0[m]
            for j in range(i):
                if rows[i, j] != 0.0:
                    for m in range(size):
                        scene.stage[m] += (h * rows[i, j]) * scene.slopes[j, m]
            rates(run, unit, scene, t + nodes[i] * h, scene.stage, scene.slopes[i])
            for k in range(scene.whole[ACTIVE]):
                if pulls(scene, k):
                    scene.whole[DIPPED] = 1
        for m in range(size):
            scene.dy[m] = 0.0
        for j in range(count):
            if weights[j] != 0.0:
                for m in range(size):
                    scene.dy[m] += (h * weights[j]) * scene.slopes[j, m]
        for m in range(size):
            scene.y[m] = scene.y0[m] + scene.dy[m]

    return step


def build_attempt(step: Loop, tableau: Tableau, layout: Layout) -> Loop:
    """(run, unit, scene, t, left) -> the length of a step whose error is small enough; y after it."""
    count = len(tableau.nodes)
    assert tableau.control is not None
    fifth, third = (padded(row, count) for row in tableau.control.error_rows)
    control = tableau.control._replace(most=MOST_GROWTH)
    size, at_per_mass = layout.size, layout.body.inverse_mass

    def factor_of(error: Any) -> Any:
        return step_factor(error, control)

    @loop
    def error_of(run: ContactRun, unit: Any, scene: ContactScene, h: float, row: Any) -> Any:
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
        return worst / (STEP_SHARE * run.rtol)

    @loop
    def attempt(run: ContactRun, unit: Any, scene: ContactScene, t: float, left: float) -> Any:
        h = min(scene.real[STEP], left)
        for _ in range(60):
            step(run, unit, scene, t, h)
            e5, e3 = error_of(run, unit, scene, h, fifth), error_of(run, unit, scene, h, third)
            below = sqrt(e5 * e5 + 0.01 * e3 * e3)
            error = e5 * e5 / below if below > 0.0 else 0.0
            factor = MOST_GROWTH
            if error > 0.0:
                factor = factor_of(error)
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


def build_fit(rates: Loop, tableau: Tableau) -> Loop:
    """(run, unit, scene, t, h): the coefficients of dense output of the step that was tried."""
    dense, count = tableau.dense, len(tableau.nodes)
    assert dense is not None
    total = count + 1 + len(dense.nodes)
    nodes = np.array(dense.nodes, dtype=float)
    rows, curve_rows = (np.array([padded(row, total) for row in part]) for part in (dense.rows, dense.curve_rows))
    more, curves = len(dense.nodes), len(dense.curve_rows)

    @loop
    def fit(run: ContactRun, unit: Any, scene: ContactScene, t: float, h: float) -> None:
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


def build_evaluation(fit: Loop, free_motion: Any, layout: Layout) -> Loop:
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
    def take_step(run: ContactRun, unit: Any, scene: ContactScene, t: float, tau: float) -> None:
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
        def evaluate_step(
            run: ContactRun, unit: Any, scene: ContactScene, t: float, tau: float, in_flight: bool
        ) -> None:
            take_step(run, unit, scene, t, tau)

        return evaluate_step

    @loop
    def evaluate(run: ContactRun, unit: Any, scene: ContactScene, t: float, tau: float, in_flight: bool) -> None:
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
