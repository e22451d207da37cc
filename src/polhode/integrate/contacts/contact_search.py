"""Looking ahead: the scales of the motion, and the first touch, which no step can pass."""

from __future__ import annotations

from typing import Any

from polhode.equations.quaternions import to_body
from polhode.equations.scalar_ops import sqrt
from polhode.equations.vectors import dot, minus, plus, scaled
from polhode.integrate.contacts.contact_distance import MOST_MANIFOLD, closest
from polhode.integrate.contacts.contact_modes import slack_of
from polhode.integrate.contacts.contact_pairs import time_apart, time_until_near
from polhode.integrate.contacts.contact_scene import (
    ACTIVE,
    CLOSING,
    FASTEST,
    FEATURE_ROW,
    FRESH,
    HIT,
    LOWEST,
    MU,
    NEVER,
    NUMBERS,
    PAINLEVE,
    PER_MASS,
    PER_MASS_B,
    PLANE_ROW,
    SIZE,
    SLIDES,
    SLOW,
    SPEED,
    STEP,
    STICKS,
    SUNK,
    T1,
    T2,
    TOUCH,
    UNIT_ROUNDOFF,
    ContactRun,
    ContactScene,
    PairRows,
    SceneLoops,
    U,
    candidate_count,
    distance_of_pair,
    is_held,
    plane_candidates,
    size_of_pair,
)
from polhode.integrate.contacts.contact_shapes import (
    CENTER,
    CIRCLE,
    KIND,
    NORMAL,
    RADIUS,
    REACH,
    counts,
    falling_rate,
    find_lowest,
    quaternion,
    safe_step,
    store,
    sunk,
    time_without_contact,
    vector,
)
from polhode.integrate.loops.layout import Layout, read
from polhode.ir.loops import Loop, loop

FEW_REST, MANY_REST = 1e-15, 1e-5
"""The speed that does not bounce, as a fraction of the natural speed sqrt(a size): of bodies that can touch at one
point only, and of others, whose bounces are counted in hundreds."""
LOST = 1e-4
"""A body that is inside a surface by this fraction of its size ends the run: its contact was lost."""
TOUCHING = 1e-11
"""A gap that counts as touching, as a fraction of the size of the body."""
TILTED = 1e-8
"""A tilt at which the lowest point of a circle is still hardly below those points of its rim that are tested."""
MANY_PROBES, BISECTIONS = 500, 48
STAGES = 12


@loop
def turn_sliding(scene: ContactScene, i: int) -> None:
    """The direction in which a point slides, at the start of a step."""
    row = scene.points[i]
    u1, u2 = dot(vector(row, U), vector(row, T1)), dot(vector(row, U), vector(row, T2))
    speed = sqrt(u1 * u1 + u2 * u2)
    if scene.modes[i] == SLIDES and speed > scene.real[SLOW]:
        d1, d2 = u1 / speed, u2 / speed
        store(scene.sliding[i], 0, plus(scaled(d1, vector(row, T1)), scaled(d2, vector(row, T2))))


def build_beginning(rates: Loop, points: SceneLoops, layout: Layout) -> Loop:
    """(run, unit, scene, t): the scales of the motion, and how high every candidate is, at the start of a segment."""
    size, at_force, at_per_mass = layout.size, layout.wrench.force, layout.body.inverse_mass
    height_of = points.height_of

    def free_acceleration(unit: Any, at: Any) -> Any:
        force = read(unit, at, at_force)
        return unit[at_per_mass + at] * sqrt(dot(force, force))

    @loop
    def begin(run: ContactRun, unit: Any, scene: ContactScene, t: float) -> None:
        scene.whole[PAINLEVE], scene.whole[SUNK] = 0, 0
        rates(run, unit, scene, t, scene.y0, scene.slopes[0])
        points.bound_spins(unit, scene, scene.y0)
        speed, noise, extent = 0.0, 0.0, 0.0
        for b in range(scene.inverse.shape[0]):
            i, at, reach = b * NUMBERS, b * size, run.size[b]
            a = free_acceleration(unit, at)
            scene.limits[b, 0] = a
            p, spin = vector(scene.y0, i + 7), vector(scene.y0, i + 10)
            speed = max(speed, sqrt(a * reach))
            noise = max(noise, unit[at + at_per_mass] * sqrt(dot(p, p)) + reach * sqrt(dot(spin, spin)))
            extent = max(extent, reach)
        scene.real[SPEED], scene.real[FASTEST] = speed, max(speed, noise)
        if scene.real[STEP] <= 0.0:
            scene.real[STEP] = 0.05 * extent / speed if speed > 0.0 else run.duration / 1000.0
        scene.real[TOUCH] = TOUCHING * extent
        scene.real[SIZE] = extent
        threshold = FEW_REST if len(run.owner) == scene.inverse.shape[0] else MANY_REST
        scene.real[CLOSING] = threshold * speed + 8.0 * UNIT_ROUNDOFF * noise
        scene.real[SLOW] = max(scene.real[CLOSING], 1e-10 * speed, 4.0 * run.rtol * noise)
        for k in range(plane_candidates(run)):
            gap = height_of(run, scene, scene.y0, k)  # a circle may come to lie flat: then its rim counts
            if gap < -LOST * extent:
                scene.whole[SUNK] = 1
            scene.base[k] = 0.0 if abs(gap) <= scene.real[TOUCH] else gap
        if points.has_pairs:
            scene.real[LOWEST] = 0.0
            for k in range(len(run.pair_bodies)):
                gap = distance_of_pair(run, scene, scene.y0, k)
                if gap < -LOST * extent:
                    scene.whole[SUNK] = 2
                if is_held(run, scene, k):
                    scene.real[LOWEST] = min(scene.real[LOWEST], gap)
        if scene.whole[FRESH] == 0:
            for k in range(candidate_count(run)):
                scene.skip[k] = 0.0
        scene.whole[FRESH] = 0
        for i in range(scene.whole[ACTIVE]):
            scene.skip[scene.candidates[i]] = NEVER
            turn_sliding(scene, i)
            for what in range(3):
                scene.slack[i, what] = slack_of(scene, i, what)
            p, mu = scene.p[3 * i], scene.points[i, MU]
            per_mass = scene.points[i, PER_MASS] + scene.points[i, PER_MASS_B]
            small = 1e-10 * speed * speed / (extent * per_mass)
            if p < small:
                scene.slack[i, 0] = 0.0
            if scene.modes[i] == STICKS and scene.slack[i, 1] < max(1e-9 * mu * p, mu * small):
                scene.slack[i, 1] = 0.0

    return begin


@loop
def time_flat(feature: Any, gap: float, rate: float, limits: Any) -> Any:
    """How long a circle that lies flat cannot touch anywhere, or hardly tilts."""
    a, w, w_rate = limits
    if w <= 0.0:
        return NEVER
    slow = safe_step(gap, rate - feature[RADIUS] * w, a + (w_rate + w * w) * feature[REACH])
    return max(slow, TILTED / w)


def build_search(evaluate: Loop, layout: Layout, has_pairs: bool) -> Loop:
    """(run, unit, scene, t, length, in_flight) -> the time of the first touch, or `length`; y there."""
    size, at_per_mass = layout.size, layout.body.inverse_mass

    def velocities_of(unit: Any, at_a: Any, at_b: Any, y: Any, i: Any, j: Any) -> Any:
        return scaled(unit[at_per_mass + at_a], vector(y, i + 7)), scaled(unit[at_per_mass + at_b], vector(y, j + 7))

    def relative_acceleration(unit: Any, at_a: Any, at_b: Any, rates: Any, i: Any, j: Any) -> Any:
        a, b = velocities_of(unit, at_a, at_b, rates, i, j)
        return sqrt(dot(minus(a, b), minus(a, b)))

    @loop
    def skip_of_pair(run: ContactRun, scene: ContactScene, p: int) -> float:
        """Until when two bodies that have just parted cannot touch."""
        least = NEVER
        first = plane_candidates(run) + MOST_MANIFOLD * p
        for k in range(first, first + MOST_MANIFOLD):
            if scene.skip[k] > 0.0:
                least = min(least, scene.skip[k])
        return least if least < NEVER else 0.0

    @loop
    def pair_span(run: ContactRun, unit: Any, scene: ContactScene, p: int, in_flight: bool) -> float:
        """A time in which two bodies cannot touch."""
        a, b = run.pair_bodies[p, 0], run.pair_bodies[p, 1]
        i, j, at_a, at_b = a * NUMBERS, b * NUMBERS, a * size, b * size
        v_a, v_b = velocities_of(unit, at_a, at_b, scene.y, i, j)
        each_a, each_b = scene.limits[a, 0], scene.limits[b, 0]
        if in_flight:  # all that is common to both does not bring them together
            each_a = relative_acceleration(unit, at_a, at_b, scene.slopes[0], i, j) / 2.0
            each_b = each_a
        skin = run.pair_skins[p]
        reach = size_of_pair(run, p) + skin
        far: float = time_until_near(scene.y, (i, j), (v_a, v_b), reach, each_a + each_b)
        if far > 0.0:
            return far
        rows = PairRows.of(run, scene, p)
        closest(run.features, rows, scene.y, (i, j), scene.pair)
        limits_a = (each_a, scene.limits[a, 1], scene.limits[a, 2])
        limits_b = (each_b, scene.limits[b, 1], scene.limits[b, 2])
        motion = (v_a, v_b, limits_a, limits_b, skin)
        span: float = time_apart(run.features, rows, scene.y, (i, j), motion, scene.pair)
        return span

    @loop
    def widen_limits(unit: Any, scene: ContactScene, length: float) -> None:
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
    def start_over(scene: ContactScene) -> None:
        for m in range(len(scene.y)):
            scene.y[m] = scene.y0[m]
            scene.dy[m] = 0.0
        for b in range(scene.inverse.shape[0]):
            scene.turn[b, 0], scene.turn[b, 1], scene.turn[b, 2], scene.turn[b, 3] = 1.0, 0.0, 0.0, 0.0

    def body_normal(y: Any, i: Any, normal: Any) -> Any:
        return to_body(quaternion(y, i + 3), normal)

    @loop
    def safe_time(run: ContactRun, unit: Any, scene: ContactScene, tau: float, most: float, in_flight: bool) -> Any:
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
                        elif run.features[row, KIND] == CIRCLE and scene.whole[ACTIVE] == 0:
                            # It lies flat, and only points of its rim count: look again before it tilts
                            feature = run.features[row]
                            gap = scene.base[k] + risen + sunk(feature, before, turn)
                            rate = falling_rate(velocity, normal, after, w, vector(feature, CENTER))
                            span = time_flat(feature, gap, rate, limits)
                            if span < best:
                                best = span
                                scene.whole[HIT] = -2
        if has_pairs:
            for p in range(len(run.pair_bodies)):
                if not is_held(run, scene, p):
                    skip = skip_of_pair(run, scene, p)
                    span = skip - tau if skip > tau else pair_span(run, unit, scene, p, in_flight)
                    if span < best:
                        best = span
                        scene.whole[HIT] = -2 if skip > tau else plane_candidates(run) + MOST_MANIFOLD * p
        return best

    @loop
    def find_sunk_pair(run: ContactRun, scene: ContactScene, tau: float) -> int:
        """Two bodies that had just parted at tau, and overlap now; -1 if there are none."""
        for p in range(len(run.pair_bodies)):
            if skip_of_pair(run, scene, p) > tau and not is_held(run, scene, p):  # noqa: SIM102
                if distance_of_pair(run, scene, scene.y, p) < -scene.real[TOUCH]:
                    return p
        return -1

    @loop
    def find_sinking(
        run: ContactRun, unit: Any, scene: ContactScene, t: float, span: Any, p: int, in_flight: bool
    ) -> Any:
        """When these begin to overlap, by bisection; y there."""
        low, high = span
        for _ in range(BISECTIONS):
            middle = (low + high) / 2.0
            evaluate(run, unit, scene, t, middle, in_flight)
            if distance_of_pair(run, scene, scene.y, p) < -scene.real[TOUCH]:
                high = middle
            else:
                low = middle
        evaluate(run, unit, scene, t, high, in_flight)
        return high

    @loop
    def search(run: ContactRun, unit: Any, scene: ContactScene, t: float, length: float, in_flight: bool) -> Any:
        if not in_flight:
            widen_limits(unit, scene, length)
        start_over(scene)
        tau = 0.0
        for _ in range(MANY_PROBES):
            span = safe_time(run, unit, scene, tau, length - tau, in_flight)
            if scene.whole[HIT] >= 0 and span <= 2.0 * UNIT_ROUNDOFF * tau:
                return tau
            is_last, before = scene.whole[HIT] == -1, tau
            tau = length if is_last else tau + span
            if not is_last or has_pairs:
                evaluate(run, unit, scene, t, tau, in_flight)
            if has_pairs:
                p = find_sunk_pair(run, scene, before)
                if p >= 0:
                    tau = find_sinking(run, unit, scene, t, (before, tau), p, in_flight)
                    scene.whole[HIT] = plane_candidates(run) + MOST_MANIFOLD * p
                    return tau
            if is_last:
                return length
        scene.whole[HIT] = -1  # nothing touches yet: the next segment goes on from here
        return tau

    return search
