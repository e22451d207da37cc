"""The workspace of a run with contacts, and the points in contact: where they are, how they move, how they interact."""

from __future__ import annotations

from typing import Any, NamedTuple

from polhode.backends.contact_shapes import (
    FRICTION,
    NORMAL,
    OFFSET,
    RESTITUTION,
    counts,
    depth_of_lowest,
    find_lowest,
    store,
    vector,
)
from polhode.backends.layout import Layout
from polhode.backends.loops import Loop, loop
from polhode.equations.contact_laws import inverse_tensor, point_velocity, tangents
from polhode.equations.quaternions import to_body, to_world
from polhode.equations.vectors import cross, dot, plus, scaled

NUMBERS = 14
"""Of a body in the workspace: position, attitude, linear momentum, angular velocity (principal axes), work."""
MOST_POINTS = 16
"""Points in contact that are resolved together."""
STICKS, SLIDES, STARTS = 1, 2, 3
"""How a point in contact moves.  One that has stuck starts to slide along the acceleration that friction leaves."""
ARM, N, T1, T2, U, TURNING, MU, BOUNCE, ARM_B, NORMAL_TURNING = 0, 3, 6, 9, 12, 15, 18, 19, 20, 23
LEVER, TURNED, LEVER_B, TURNED_B, PER_MASS, PER_MASS_B, POINT_NUMBERS = 24, 33, 42, 51, 60, 61, 62
"""Of a point in contact: arm from the center of mass, axes, relative velocity, acceleration at constant momenta,
friction, restitution; levers r x e of its three axes and the spin that each gives the body; the same of the other."""


class ContactRun(NamedTuple):
    """What the loop takes."""

    buffer: Any
    pairs: Any
    start: float
    """The time at which the segment begins."""
    duration: float
    times: Any
    """The output times, from the start of the segment on."""
    out: Any
    contact: Any
    memory: Any
    log: Any
    features: Any
    planes: Any
    owner: Any
    """The body of each feature."""
    first: Any
    """The first feature of each body, and their number at the end."""
    plane_count: int
    plane_step: int
    feature_step: int
    """How many rows of planes and of features each unit has for itself: 0 if all share them."""
    size: Any
    """The size of the bodies of each unit."""
    rtol: float
    is_constant: bool
    """Whether what acts on a body at rest never changes."""
    budget: int
    """Segments after which a unit pauses."""


class Scene(NamedTuple):
    """The workspace of one unit."""

    y0: Any
    y: Any
    dy: Any
    stage: Any
    slopes: Any
    turn: Any
    limits: Any
    base: Any
    skip: Any
    candidates: Any
    modes: Any
    sliding: Any
    points: Any
    owners: Any
    inverse: Any
    a: Any
    g: Any
    k: Any
    bias: Any
    p: Any
    u: Any
    rest: Any
    x: Any
    law: Any
    slack: Any
    low: Any
    whole: Any
    real: Any
    tried: Any
    begun: Any
    saved: Any
    rows: Any
    columns: Any
    whose: Any
    work: Any
    curve: Any
    status: Any
    slip: Any
    target: Any
    before: Any
    kept: Any
    reference: Any


ACTIVE, UNIT, PLANE_ROW, FEATURE_ROW, HIT, STALLED, STATE, PAINLEVE = 0, 1, 2, 3, 4, 5, 6, 7
"""Whole numbers of a scene: points in contact, the unit, its first plane and feature, the candidate that touches..."""
STEP, SPEED, TOUCH, CLOSING, SLOW, TRIED, SIZE = 0, 1, 2, 3, 4, 5, 6
"""Numbers of a scene: the step, the natural speed, the gap that counts as touching, the speeds that do not bounce and
do not slide, the length of the step that was tried last."""
FLIGHT, SLIDING, ROLLING, RESTING = 0, 1, 2, 3


UNIT_ROUNDOFF = 2.0**-52
RUNNING, DONE, LOG_FULL, ENDLESS, PARADOX, NOT_FINITE, CROWDED, INSIDE = 0, 1, 2, 3, 4, 5, 6, 7
"""Why a unit has left the loop."""
AT_STEP, AT_TIME, AT_OUTPUT, AT_STATUS, AT_IMPACTS, AT_LOST, AT_STEPS, AT_LOGGED, AT_STATE, MEMORY = range(10)
"""The memory of a unit."""
LOG_NUMBERS = 16
"""Of an impact at a point: time, body, other body, plane, point, normal, normal impulse, tangential impulse, energy
lost, kind."""
SLIP, STICK, SETTLE, JAM = 0, 1, 2, 3
"""Kinds of impacts."""
FRESH, LOOK, LEFT_OUT, FITTED, SUNK = 8, 9, 10, 11, 12
"""Whole numbers of a scene: whether the points were just decided; whether they must be looked at after the step."""
NEVER = 1e300


class SceneLoops(NamedTuple):
    """What the loops ask about the points in contact."""

    find_point: Loop
    """(run, unit, scene, y, i): everything about the i-th point in contact."""
    build_matrix: Loop
    """(scene): the matrix A of all points in contact."""
    gap_of: Loop
    """(run, scene, y, k): how high a candidate is above its plane."""
    find_inverses: Loop
    """(unit, scene, y): the inverse inertia tensors of all bodies."""


def build_scene_loops(layout: Layout) -> SceneLoops:
    """The loops for bodies in this layout."""
    size, at_per_mass, at_inverse = layout.size, layout.body[1], layout.body[3]

    def inverse_of(unit: Any, at: Any, y: Any, i: Any, out: Any, j: Any) -> None:
        moments = tuple(unit[place + at] for place in at_inverse)
        q = (y[i + 3], y[i + 4], y[i + 5], y[i + 6])
        store(out, j, tuple(number for row in inverse_tensor(moments, q) for number in row))

    @loop
    def find_inverses(unit: Any, scene: Scene, y: Any) -> None:
        for b in range(scene.inverse.shape[0]):
            inverse_of(unit, b * size, y, b * NUMBERS, scene.inverse[b], 0)

    def place_point(row: Any, unit: Any, at: Any, y: Any, i: Any, low: Any, normal: Any) -> None:
        """Arm, axes, velocity and turning of a point that touches a plane."""
        q = (y[i + 3], y[i + 4], y[i + 5], y[i + 6])
        w = to_world(q, vector(y, i + 10))
        velocity = scaled(unit[at_per_mass + at], vector(y, i + 7))
        arm = to_world(q, vector(low, 0))
        first, second = tangents(normal)
        arm_rate = plus(cross(w, arm), to_world(q, vector(low, 3)))
        store(row, ARM, arm)
        store(row, N, normal)
        store(row, T1, first)
        store(row, T2, second)
        store(row, U, point_velocity(velocity, w, arm))
        store(row, TURNING, cross(w, arm_rate))
        store(row, ARM_B, scaled(0.0, arm))
        row[NORMAL_TURNING] = 0.0 * arm[0]
        row[PER_MASS] = unit[at_per_mass + at]
        row[PER_MASS_B] = 0.0 * arm[0]

    def place_levers(row: Any, tensor: Any, arm_at: int, lever: int, turned: int) -> None:
        arm = vector(row, arm_at)
        rows = (vector(tensor, 0), vector(tensor, 3), vector(tensor, 6))
        for axis in range(3):
            turning = cross(arm, vector(row, N + 3 * axis))
            store(row, lever + 3 * axis, turning)
            store(row, turned + 3 * axis, tuple(dot(r, turning) for r in rows))

    def body_normal(y: Any, i: Any, normal: Any) -> Any:
        return to_body((y[i + 3], y[i + 4], y[i + 5], y[i + 6]), normal)

    @loop
    def find_point(run: ContactRun, unit: Any, scene: Scene, y: Any, i: int) -> None:
        count = len(run.owner)
        k = scene.candidates[i]
        f, s = k % count, k // count
        b = run.owner[f]
        plane = run.planes[scene.whole[PLANE_ROW] + s]
        feature = run.features[scene.whole[FEATURE_ROW] + f]
        normal = vector(plane, NORMAL)
        at, j = b * size, b * NUMBERS
        find_lowest(feature, body_normal(y, j, normal), vector(y, j + 10), scene.low)
        row = scene.points[i]
        place_point(row, unit, at, y, j, scene.low, normal)
        row[MU] = plane[FRICTION]
        row[BOUNCE] = plane[RESTITUTION]
        scene.owners[i, 0] = b
        scene.owners[i, 1] = -1

    @loop
    def build_matrix(scene: Scene) -> None:
        n = scene.whole[ACTIVE]
        for i in range(n):
            place_levers(scene.points[i], scene.inverse[scene.owners[i, 0]], ARM, LEVER, TURNED)
            if scene.owners[i, 1] >= 0:
                place_levers(scene.points[i], scene.inverse[scene.owners[i, 1]], ARM_B, LEVER_B, TURNED_B)
        for i in range(n):
            for j in range(i, n):
                p, q = scene.points[i], scene.points[j]
                a_i, b_i, a_j, b_j = scene.owners[i, 0], scene.owners[i, 1], scene.owners[j, 0], scene.owners[j, 1]
                for r in range(3):
                    for c in range(3):
                        direct = lever_product(p, N + 3 * r, q, N + 3 * c)
                        total = 0.0
                        if a_i == a_j:
                            total = direct * p[PER_MASS] + lever_product(p, LEVER + 3 * r, q, TURNED + 3 * c)
                        if b_i >= 0 or b_j >= 0:
                            if b_i == b_j:
                                total = total + direct * p[PER_MASS_B]
                                total = total + lever_product(p, LEVER_B + 3 * r, q, TURNED_B + 3 * c)
                            if a_i == b_j:
                                total = total - direct * p[PER_MASS]
                                total = total - lever_product(p, LEVER + 3 * r, q, TURNED_B + 3 * c)
                            if b_i == a_j:
                                total = total - direct * p[PER_MASS_B]
                                total = total - lever_product(p, LEVER_B + 3 * r, q, TURNED + 3 * c)
                        scene.a[3 * i + r, 3 * j + c] = total
                        scene.a[3 * j + c, 3 * i + r] = total

    @loop
    def gap_of(run: ContactRun, scene: Scene, y: Any, k: int) -> Any:
        count = len(run.owner)
        f, s = k % count, k // count
        b = run.owner[f]
        plane = run.planes[scene.whole[PLANE_ROW] + s]
        feature = run.features[scene.whole[FEATURE_ROW] + f]
        normal, j = vector(plane, NORMAL), b * NUMBERS
        turned = body_normal(y, j, normal)
        if not counts(run.features, scene.whole[FEATURE_ROW] + f, scene.whole[FEATURE_ROW], turned):
            return 1e300
        return dot(normal, vector(y, j)) - plane[OFFSET] + depth_of_lowest(feature, turned)

    return SceneLoops(find_point, build_matrix, gap_of, find_inverses)


def lever_product(p: Any, i: Any, q: Any, j: Any) -> Any:
    """The product of two levers."""
    return dot(vector(p, i), vector(q, j))
