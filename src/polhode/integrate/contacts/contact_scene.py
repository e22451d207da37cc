"""The workspace of a run with contacts, and the points in contact: where they are, how they move, how they interact."""

from __future__ import annotations

from typing import Any, NamedTuple

from polhode.equations.contact_laws import inverse_tensor, point_velocity, tangents
from polhode.equations.quaternions import to_body, to_world
from polhode.equations.scalar_ops import sqrt
from polhode.equations.vectors import cross, dot, minus, plus, scaled
from polhode.integrate.contacts.contact_distance import (
    ANCHOR,
    ANCHOR_KIND,
    ARM_A,
    MOST_MANIFOLD,
    NORMAL_RATE,
    PLACE_RATE,
    UNUSED,
    closest,
)
from polhode.integrate.contacts.contact_distance import ARM_B as ANSWER_ARM_B
from polhode.integrate.contacts.contact_distance import NORMAL as ANSWER_NORMAL
from polhode.integrate.contacts.contact_pairs import find_anchored_point, find_manifold, pair_terms, room_left
from polhode.integrate.contacts.contact_shapes import (
    FRICTION,
    NORMAL,
    OFFSET,
    RESTITUTION,
    counts,
    depth_of_lowest,
    find_lowest,
    quaternion,
    store,
    vector,
)
from polhode.integrate.loops.layout import Layout, read
from polhode.ir.loops import Loop, loop

NUMBERS = 14
"""Of a body in the workspace: position, attitude, linear momentum, angular velocity (principal axes), work."""
MOST_POINTS = 24
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
    pair_bodies: Any
    """The two bodies of each pair that can touch."""
    pair_skins: Any
    """The distance at which they touch."""
    pair_laws: Any
    """Restitution and friction between bodies."""
    pair_step: int
    """How many rows of these each unit has for itself: 0 if all share one."""
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


class ContactScene(NamedTuple):
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
    anchors: Any
    """What holds the points of contact of two bodies, MOST_MANIFOLD for each pair."""
    pair: Any
    """The workspace for two bodies; None if bodies do not touch each other."""


ACTIVE, UNIT, PLANE_ROW, FEATURE_ROW, HIT, STALLED, STATE, PAINLEVE = 0, 1, 2, 3, 4, 5, 6, 7
"""Whole numbers of a scene: points in contact, the unit, its first plane and feature, the candidate that touches..."""
STEP, SPEED, TOUCH, CLOSING, SLOW, TRIED, SIZE, LOWEST, FASTEST, SINCE, COARSE_AT = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
"""Numbers of a scene: the step, the natural speed, the gap that counts as touching, the speeds that do not bounce and
do not slide, the length of the step that was tried last, the size; how deep bodies in contact are in each other; the
largest speed of a point, or the natural one; when segments in contact were first counted; when coarse steps ended."""
FLIGHT, SLIDING, ROLLING, RESTING = 0, 1, 2, 3


UNIT_ROUNDOFF = 2.0**-52
RUNNING, DONE, LOG_FULL, ENDLESS, PARADOX, NOT_FINITE, CROWDED, INSIDE, OVERLAP, STARTS_INSIDE = range(10)
"""Why a unit has left the loop."""
AT_STEP, AT_TIME, AT_OUTPUT, AT_STATUS, AT_IMPACTS, AT_LOST, AT_STEPS, AT_LOGGED, AT_STATE, AT_COARSE, MEMORY = range(
    11
)
"""The memory of a unit."""
LOG_NUMBERS = 16
"""Of an impact at a point: time, body, other body, plane, point, normal, normal impulse, tangential impulse, energy
lost, kind."""
SLIP, STICK, SETTLE, JAM = 0, 1, 2, 3
"""Kinds of impacts."""
FRESH, LOOK, LEFT_OUT, FITTED, SUNK, SEGMENTS, COARSER, OUTPUT, DIPPED = 8, 9, 10, 11, 12, 13, 14, 15, 16
"""Whole numbers of a scene: whether the points were just decided; whether they must be looked at after the step...; the
segments in contact since a time, how often coarse steps were not enough, the next output, and whether a point pulled
at a stage of the step."""
NEVER, ROUNDED_UP = 1e300, 1 + 2.0**-40


class SceneLoops(NamedTuple):
    """What the loops ask about the points in contact."""

    find_point: Loop
    """(run, unit, scene, y, i): everything about the i-th point in contact."""
    build_matrix: Loop
    """(scene): the matrix A of all points in contact."""
    gap_of: Loop
    """(run, scene, y, k): how high a candidate is above its plane; very high if it cannot touch as it lies."""
    height_of: Loop
    """(run, scene, y, k): how high a feature is above its plane, however it lies."""
    bound_spins: Loop
    """(unit, scene, y): how fast bodies in flight can turn, and how fast that can change, in scene.limits."""
    find_inverses: Loop
    """(unit, scene, y): the inverse inertia tensors of all bodies."""
    push: Loop
    """(unit, scene, y, out, i): add the impulse (or force) of the i-th point to the bodies (or their rates) in out."""
    find_manifolds: Loop
    """(run, scene, y): where two bodies touch, and what holds these points from here on."""
    has_pairs: bool
    """Whether bodies touch each other."""


NEAR_FACE = 1e-7
"""Corners so near to the plane between two bodies, as a fraction of their size, are listed as points of contact."""
BEYOND_EDGE = 2e-6
"""A corner that has gone so far beyond the edge of a face, as a fraction of the size, has left it."""


@loop
def plane_candidates(run: ContactRun) -> int:
    """Features over planes; behind them come the points of contact of two bodies."""
    count: int = len(run.owner) * run.plane_count
    return count


@loop
def candidate_count(run: ContactRun) -> int:
    """Everything that can touch."""
    count: int = len(run.owner) * run.plane_count + MOST_MANIFOLD * len(run.pair_bodies)
    return count


class PairRows(NamedTuple):
    """The features of both bodies of a pair."""

    first_a: Any
    last_a: Any
    first_b: Any
    last_b: Any
    base: Any
    """The row from which CIRCLE_ROW counts."""

    @classmethod
    def of(cls, run: ContactRun, scene: ContactScene, p: Any) -> PairRows:
        """Those of the p-th pair."""
        a, b, base = run.pair_bodies[p, 0], run.pair_bodies[p, 1], scene.whole[FEATURE_ROW]
        return cls(base + run.first[a], base + run.first[a + 1], base + run.first[b], base + run.first[b + 1], base)


@loop
def size_of_pair(run: ContactRun, p: int) -> float:
    """The sizes of both bodies."""
    size: float = run.size[run.pair_bodies[p, 0]] + run.size[run.pair_bodies[p, 1]]
    return size


@loop
def distance_of_pair(run: ContactRun, scene: ContactScene, y: Any, p: int) -> Any:
    """How far two bodies are from touching; more where they are far apart."""
    i, j = run.pair_bodies[p, 0] * NUMBERS, run.pair_bodies[p, 1] * NUMBERS
    reach = size_of_pair(run, p)
    shift = minus(vector(y, i), vector(y, j))
    if dot(shift, shift) > 4.0 * reach * reach:
        return reach
    found: float = closest(run.features, PairRows.of(run, scene, p), y, (i, j), scene.pair)
    return found - run.pair_skins[p]


@loop
def is_held(run: ContactRun, scene: ContactScene, p: int) -> bool:
    """Whether a point of contact of two bodies is in contact."""
    first, held = plane_candidates(run) + MOST_MANIFOLD * p, False
    for i in range(scene.whole[ACTIVE]):
        k = scene.candidates[i]
        held = held or (k >= first and k < first + MOST_MANIFOLD)
    return held


@loop
def pair_room(run: ContactRun, scene: ContactScene, y: Any) -> float:
    """How far bodies in contact are from another contact, and points of contact from leaving their faces and edges."""
    least, planes = 1.0, plane_candidates(run)
    for p in range(len(run.pair_bodies)):
        if is_held(run, scene, p):
            least = min(least, distance_of_pair(run, scene, y, p) - scene.real[LOWEST] + scene.real[TOUCH])
    for n in range(scene.whole[ACTIVE]):
        slot = scene.candidates[n] - planes
        if slot >= 0:
            p = slot // MOST_MANIFOLD
            at = (run.pair_bodies[p, 0] * NUMBERS, run.pair_bodies[p, 1] * NUMBERS)
            limits = (scene.real[TOUCH], BEYOND_EDGE * size_of_pair(run, p))
            rows = PairRows.of(run, scene, p)
            least = min(least, room_left(run.features, rows, y, at, scene.pair, scene.anchors[slot], limits))
    return least


@loop
def find_manifolds(run: ContactRun, scene: ContactScene, y: Any) -> None:
    """Where bodies touch each other, and what holds these points from here on."""
    for p in range(len(run.pair_bodies)):
        for m in range(MOST_MANIFOLD):
            scene.anchors[MOST_MANIFOLD * p + m, ANCHOR_KIND] = UNUSED
        if distance_of_pair(run, scene, y, p) <= scene.real[TOUCH]:
            at = (run.pair_bodies[p, 0] * NUMBERS, run.pair_bodies[p, 1] * NUMBERS)
            near = NEAR_FACE * size_of_pair(run, p)
            count = find_manifold(run.features, PairRows.of(run, scene, p), y, at, scene.pair, near)
            for m in range(count):
                for c in range(ANCHOR):
                    scene.anchors[MOST_MANIFOLD * p + m, c] = scene.pair.anchors[m, c]


@loop
def bound_square(own: float, others: Any, energy: float, excess: Any, now: float) -> Any:
    """The largest square that one component of a free angular velocity can have: see `bound_free_spin`."""
    if own <= 0.0:
        return now
    j, k = others
    most = energy / own
    if j != own and (j - own) * (j - k) >= 0.0:
        most = min(most, excess[0] / (own * (j - own)))
    if k != own and (k - own) * (k - j) >= 0.0:
        most = min(most, excess[1] / (own * (k - own)))
    return most


@loop
def bound_free_spin(moments: Any, w: Any, out: Any) -> None:
    """out[0], out[1] = bounds of |w| and of |w'| in a free rotation, from its energy and its angular momentum.

    2 T I_k - L^2 = sum_j I_j (I_k - I_j) w_j^2 is constant, and its terms have one sign if I_k is the largest or the
    smallest moment; then w_i^2 <= (2 T I_k - L^2)/(I_i (I_k - I_i)).  Always w_i^2 <= 2 T/I_i and |w| <= L/I_min.
    """
    a, b, c = moments
    x, y, z = w[0] * w[0], w[1] * w[1], w[2] * w[2]
    energy, least = a * x + b * y + c * z, min(a, b, c)
    of_a = b * (a - b) * y + c * (a - c) * z
    of_b = a * (b - a) * x + c * (b - c) * z
    of_c = a * (c - a) * x + b * (c - b) * y
    first = bound_square(a, (b, c), energy, (of_b, of_c), x)
    second = bound_square(b, (c, a), energy, (of_c, of_a), y)
    third = bound_square(c, (a, b), energy, (of_a, of_b), z)
    total = first + second + third
    if least > 0.0:
        total = min(total, (a * a * x + b * b * y + c * c * z) / (least * least))
    rates = 0.0
    if a > 0.0:
        rates = rates + (b - c) * (b - c) / (a * a) * second * third
    if b > 0.0:
        rates = rates + (c - a) * (c - a) / (b * b) * third * first
    if c > 0.0:
        rates = rates + (a - b) * (a - b) / (c * c) * first * second
    out[0], out[1] = sqrt(total), sqrt(rates)


def build_scene_loops(layout: Layout, has_pairs: bool) -> SceneLoops:
    """The loops for bodies in this layout."""
    size, at_per_mass, at_inverse = layout.size, layout.body.inverse_mass, layout.body.inverse_moments

    def inverse_of(unit: Any, at: Any, y: Any, i: Any, out: Any, j: Any) -> None:
        moments = tuple(unit[place + at] for place in at_inverse)
        q = (y[i + 3], y[i + 4], y[i + 5], y[i + 6])
        store(out, j, tuple(number for row in inverse_tensor(moments, q) for number in row))

    at_moments = layout.body.moments

    @loop
    def bound_spins(unit: Any, scene: ContactScene, y: Any) -> None:
        for b in range(scene.inverse.shape[0]):
            at = b * size
            moments = (unit[at + at_moments[0]], unit[at + at_moments[1]], unit[at + at_moments[2]])
            bound_free_spin(moments, vector(y, b * NUMBERS + 10), scene.low)
            scene.limits[b, 1], scene.limits[b, 2] = ROUNDED_UP * scene.low[0], ROUNDED_UP * scene.low[1]

    @loop
    def find_inverses(unit: Any, scene: ContactScene, y: Any) -> None:
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

    def velocities_of(unit: Any, a: Any, b: Any, y: Any, i: Any, j: Any) -> Any:
        return scaled(unit[at_per_mass + a], vector(y, i + 7)), scaled(unit[at_per_mass + b], vector(y, j + 7))

    def place_pair_point(row: Any, unit: Any, a: Any, b: Any, y: Any, i: Any, j: Any, answer: Any) -> None:
        """Arms, axes, relative velocity and turning of a point in the middle between two bodies."""
        shift, on_a, on_b = minus(vector(y, i), vector(y, j)), vector(answer, ARM_A), vector(answer, ANSWER_ARM_B)
        arms = (
            scaled(0.5, plus(minus(on_b, shift), on_a)),
            scaled(0.5, plus(plus(on_a, shift), on_b)),
        )
        spins = (
            to_world(quaternion(y, i + 3), vector(y, i + 10)),
            to_world(quaternion(y, j + 3), vector(y, j + 10)),
        )
        normal = vector(answer, ANSWER_NORMAL)
        u, turning, normal_turning = pair_terms(
            velocities_of(unit, a, b, y, i, j), spins, arms, vector(answer, NORMAL_RATE), vector(answer, PLACE_RATE)
        )
        first, second = tangents(normal)
        store(row, ARM, arms[0])
        store(row, ARM_B, arms[1])
        store(row, N, normal)
        store(row, T1, first)
        store(row, T2, second)
        store(row, U, u)
        store(row, TURNING, turning)
        row[NORMAL_TURNING] = normal_turning
        row[PER_MASS] = unit[at_per_mass + a]
        row[PER_MASS_B] = unit[at_per_mass + b]

    @loop
    def find_pair_point(run: ContactRun, unit: Any, scene: ContactScene, y: Any, i: int) -> None:
        slot = scene.candidates[i] - plane_candidates(run)
        p = slot // MOST_MANIFOLD
        a, b = run.pair_bodies[p, 0], run.pair_bodies[p, 1]
        at, law = (a * NUMBERS, b * NUMBERS), run.pair_laws[scene.whole[UNIT] * run.pair_step]
        velocities = velocities_of(unit, a * size, b * size, y, at[0], at[1])
        rows = PairRows.of(run, scene, p)
        find_anchored_point(run.features, rows, y, at, velocities, scene.pair, scene.anchors[slot])
        row = scene.points[i]
        place_pair_point(row, unit, a * size, b * size, y, at[0], at[1], scene.pair.answer)
        row[BOUNCE], row[MU] = law[0], law[1]
        scene.owners[i, 0], scene.owners[i, 1] = a, b

    @loop
    def find_point(run: ContactRun, unit: Any, scene: ContactScene, y: Any, i: int) -> None:
        if has_pairs:
            if scene.candidates[i] >= plane_candidates(run):
                find_pair_point(run, unit, scene, y, i)
            else:
                find_plane_point(run, unit, scene, y, i)
        else:
            find_plane_point(run, unit, scene, y, i)

    @loop
    def find_plane_point(run: ContactRun, unit: Any, scene: ContactScene, y: Any, i: int) -> None:
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
    def build_matrix(scene: ContactScene) -> None:
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

    def push_body(unit: Any, at: Any, arm: Any, y: Any, i: Any, out: Any, force: Any) -> None:
        turning = to_body(quaternion(y, i + 3), cross(arm, force))
        store(out, i + 7, plus(vector(out, i + 7), force))
        spun = tuple(unit[place + at] * part for place, part in zip(at_inverse, turning, strict=True))
        store(out, i + 10, plus(vector(out, i + 10), spun))

    def push_owner(unit: Any, at: Any, row: Any, y: Any, i: Any, out: Any, p: Any, j: Any) -> None:
        push_body(unit, at, vector(row, ARM), y, i, out, force_of(row, p, j))

    def push_other(unit: Any, at: Any, row: Any, y: Any, i: Any, out: Any, p: Any, j: Any) -> None:
        push_body(unit, at, vector(row, ARM_B), y, i, out, scaled(-1.0, force_of(row, p, j)))

    @loop
    def push(unit: Any, scene: ContactScene, y: Any, out: Any, i: int) -> None:
        b, other = scene.owners[i, 0], scene.owners[i, 1]
        push_owner(unit, b * size, scene.points[i], y, b * NUMBERS, out, scene.p, 3 * i)
        if has_pairs:  # noqa: SIM102
            if other >= 0:
                push_other(unit, other * size, scene.points[i], y, other * NUMBERS, out, scene.p, 3 * i)

    @loop
    def gap_of(run: ContactRun, scene: ContactScene, y: Any, k: int) -> Any:
        if has_pairs:  # noqa: SIM102
            if k >= plane_candidates(run):
                return gap_of_pair(run, scene, y, k)
        return gap_of_plane(run, scene, y, k)

    @loop
    def gap_of_pair(run: ContactRun, scene: ContactScene, y: Any, k: int) -> Any:
        slot = k - plane_candidates(run)
        if scene.anchors[slot, ANCHOR_KIND] == UNUSED:
            return 1e300
        p = slot // MOST_MANIFOLD
        at = (run.pair_bodies[p, 0] * NUMBERS, run.pair_bodies[p, 1] * NUMBERS)
        still = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
        rows = PairRows.of(run, scene, p)
        gap: float = find_anchored_point(run.features, rows, y, at, still, scene.pair, scene.anchors[slot])
        return gap - run.pair_skins[p]

    @loop
    def gap_of_plane(run: ContactRun, scene: ContactScene, y: Any, k: int) -> float:
        count = len(run.owner)
        f, s = k % count, k // count
        turned = body_normal(y, run.owner[f] * NUMBERS, vector(run.planes[scene.whole[PLANE_ROW] + s], NORMAL))
        if not counts(run.features, scene.whole[FEATURE_ROW] + f, scene.whole[FEATURE_ROW], turned):
            return 1e300
        gap: float = height_of(run, scene, y, k)
        return gap

    @loop
    def height_of(run: ContactRun, scene: ContactScene, y: Any, k: int) -> float:
        count = len(run.owner)
        f, s = k % count, k // count
        plane = run.planes[scene.whole[PLANE_ROW] + s]
        feature = run.features[scene.whole[FEATURE_ROW] + f]
        normal, j = vector(plane, NORMAL), run.owner[f] * NUMBERS
        turned = body_normal(y, j, normal)
        height: float = dot(normal, vector(y, j)) - plane[OFFSET] + depth_of_lowest(feature, turned)
        return height

    return SceneLoops(
        find_point, build_matrix, gap_of, height_of, bound_spins, find_inverses, push, find_manifolds, has_pairs
    )


def build_kinetic_energy(layout: Layout) -> Any:
    """(unit, at, y, i): the kinetic energy of a body, p^2/(2 m) + w.I w/2."""

    def kinetic_energy(unit: Any, at: Any, y: Any, i: Any) -> Any:
        p, w = vector(y, i + 7), vector(y, i + 10)
        spin = tuple(m * part for m, part in zip(read(unit, at, layout.body.moments), w, strict=True))
        return (unit[layout.body.inverse_mass + at] * dot(p, p) + dot(spin, w)) / 2

    return kinetic_energy


def lever_product(p: Any, i: Any, q: Any, j: Any) -> Any:
    """The product of two levers."""
    return dot(vector(p, i), vector(q, j))


def force_of(row: Any, p: Any, j: Any) -> Any:
    """The force or impulse p[j], p[j + 1], p[j + 2] at a point, in world axes."""
    normal, first = scaled(p[j], vector(row, N)), scaled(p[j + 1], vector(row, T1))
    return plus(plus(normal, first), scaled(p[j + 2], vector(row, T2)))


def velocity_along(row: Any, u: Any, j: Any) -> None:
    """u[j], u[j + 1], u[j + 2] = the velocity of a point along its axes."""
    u[j] = dot(vector(row, N), vector(row, U))
    u[j + 1] = dot(vector(row, T1), vector(row, U))
    u[j + 2] = dot(vector(row, T2), vector(row, U))


def accelerate_owner(row: Any, y: Any, i: Any, out: Any, bias: Any, j: Any) -> None:
    """The acceleration of a point in contact, along its axes, without contact forces: that of its body."""
    spin_rate = to_world(quaternion(y, i + 3), vector(out, i + 10))
    moved = plus(scaled(row[PER_MASS], vector(out, i + 7)), cross(spin_rate, vector(row, ARM)))
    total = plus(moved, vector(row, TURNING))
    bias[j] = dot(vector(row, N), total) + row[NORMAL_TURNING]
    bias[j + 1] = dot(vector(row, T1), total)
    bias[j + 2] = dot(vector(row, T2), total)


def accelerate_other(row: Any, y: Any, i: Any, out: Any, bias: Any, j: Any) -> None:
    """Less that of the other body."""
    spin_rate = to_world(quaternion(y, i + 3), vector(out, i + 10))
    moved = plus(scaled(row[PER_MASS_B], vector(out, i + 7)), cross(spin_rate, vector(row, ARM_B)))
    bias[j] = bias[j] - dot(vector(row, N), moved)
    bias[j + 1] = bias[j + 1] - dot(vector(row, T1), moved)
    bias[j + 2] = bias[j + 2] - dot(vector(row, T2), moved)


@loop
def find_bias(scene: ContactScene, y: Any, out: Any, i: int) -> None:
    """The acceleration of the i-th point without contact forces, from the rates of the bodies in `out`."""
    accelerate_owner(scene.points[i], y, scene.owners[i, 0] * NUMBERS, out, scene.bias, 3 * i)
    if scene.owners[i, 1] >= 0:
        accelerate_other(scene.points[i], y, scene.owners[i, 1] * NUMBERS, out, scene.bias, 3 * i)
