"""Points in contact: which of them stay, stick or slide, and when that changes."""

from __future__ import annotations

from typing import Any

from polhode.equations.quaternions import to_body
from polhode.equations.scalar_ops import sqrt
from polhode.equations.vectors import dot, plus, scaled
from polhode.integrate.contacts.contact_distance import MOST_MANIFOLD
from polhode.integrate.contacts.contact_forces import solve_together
from polhode.integrate.contacts.contact_scene import (
    ACTIVE,
    CLOSING,
    CROWDED,
    DIPPED,
    FASTEST,
    FEATURE_ROW,
    FLIGHT,
    FRESH,
    HIT,
    LEFT_OUT,
    LOOK,
    MOST_POINTS,
    MU,
    NEVER,
    NUMBERS,
    PARADOX,
    PER_MASS,
    PLANE_ROW,
    RESTING,
    ROLLING,
    RUNNING,
    SIZE,
    SLIDES,
    SLIDING,
    SLOW,
    SPEED,
    STARTS,
    STATE,
    STICKS,
    T1,
    T2,
    TOUCH,
    ContactRun,
    ContactScene,
    N,
    SceneLoops,
    U,
    candidate_count,
    find_bias,
    pair_room,
    plane_candidates,
)
from polhode.integrate.contacts.contact_shapes import (
    AXIS,
    CIRCLE,
    ELLIPSOID,
    KIND,
    NORMAL,
    quaternion,
    store,
    tilt_of,
    vector,
)
from polhode.integrate.loops.layout import Layout
from polhode.ir.loops import Loop, loop
from polhode.methods.roots import narrow_bracket, secant_point

EVENT_STEPS, EVENT_WIDTH = 100, 1e-10
"""The time of a change of contact is found to this fraction of the step."""
PARTING = 1e-4
"""A point that parts with hardly any acceleration is left alone for this fraction of the natural time."""
PAIR_PARTING = 1e-2
"""Bodies that part are looked at again after this fraction of the natural time."""
PAIR_PROBES, DIP_PROBES = 4, 16
"""Points of a step at which bodies in contact are tested for other contacts, and forces for dips below 0."""
STARTING = 1e-5
"""A point that has stuck slides from this fraction of the natural speed on; below, friction is along its acceleration,
since the direction of so small a speed turns too fast for steps."""


def tilt_in_space(y: Any, i: Any, normal: Any, axis: Any) -> Any:
    """The sine of the tilt of a circle whose axis is given in the axes of its body."""
    return tilt_of(to_body(quaternion(y, i + 3), normal), axis)


@loop
def slack_of(scene: ContactScene, i: int, what: int) -> Any:
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
    if what == 2 and scene.modes[i] == STARTS:
        u1, u2 = dot(vector(row, U), vector(row, T1)), dot(vector(row, U), vector(row, T2))
        return 2.0 * max(scene.real[SLOW], STARTING * scene.real[SPEED]) - sqrt(u1 * u1 + u2 * u2)
    if what == 2 and row[MU] > 0.0 and scene.modes[i] == SLIDES:
        return dot(vector(row, U), vector(scene.sliding[i], 0)) - scene.real[SLOW] / 2.0
    return 1.0


@loop
def shares_friction(scene: ContactScene) -> bool:
    """Whether so many points stick that their friction is not determined: one at its limit says nothing."""
    count = 0
    for i in range(scene.whole[ACTIVE]):
        if scene.modes[i] == STICKS:
            count += 1
    return count > 2


@loop
def pulls(scene: ContactScene, i: int) -> Any:
    """Whether the normal force of a point pulls, by more than rounding of the weight."""
    weight = scene.real[SPEED] * scene.real[SPEED] / (scene.real[SIZE] * scene.points[i, PER_MASS])
    return scene.p[3 * i] < -1e-9 * weight


def build_changes(evaluate: Loop, rates: Loop, has_pairs: bool) -> Loop:
    """(run, unit, scene, t, reached) -> the time of the first change of a point in contact, or `reached`."""

    @loop
    def slack_at(run: ContactRun, unit: Any, scene: ContactScene, t: float, tau: float, which: int) -> Any:
        evaluate(run, unit, scene, t, tau, False)
        rates(run, unit, scene, t + tau, scene.y, scene.stage)
        return slack_of(scene, which // 3, which % 3)

    @loop
    def needs_look(scene: ContactScene) -> Any:
        """Whether something was not as it should be at the start of the step, or friction may be shared otherwise."""
        for i in range(scene.whole[ACTIVE]):
            for what in range(3):
                is_open = scene.slack[i, what] <= 0.0 or (what == 1 and shares_friction(scene))
                if is_open and slack_of(scene, i, what) < 0.0:
                    return True
        return False

    @loop
    def find_change(run: ContactRun, unit: Any, scene: ContactScene, t: float, end: float, which: int) -> Any:
        """When a slack that is positive at the start of a step and negative at `end` is zero (Illinois)."""
        low, f_low = 0.0, scene.slack[which // 3, which % 3]
        high, f_high = end, slack_of(scene, which // 3, which % 3)
        moved = 0.0
        for _ in range(EVENT_STEPS):
            middle = secant_point(low, f_low, high, f_high)
            f = slack_at(run, unit, scene, t, middle, which)
            bracket, moved = narrow_bracket((low, f_low, high, f_high), moved, middle, f, f)
            low, f_low, high, f_high = bracket
            if f == 0.0 or high - low <= EVENT_WIDTH * high:
                break
        return high

    @loop
    def room_at(run: ContactRun, unit: Any, scene: ContactScene, t: float, tau: float) -> Any:
        evaluate(run, unit, scene, t, tau, False)
        return pair_room(run, scene, scene.y)

    @loop
    def find_pair_change(run: ContactRun, unit: Any, scene: ContactScene, t: float, end: float) -> Any:
        """When bodies in contact touch at another point, or a point leaves its face; `end` if not before.

        Looked for at PAIR_PROBES points of the step.
        """
        low = 0.0
        for n in range(PAIR_PROBES):
            high = end * float(n + 1) / float(PAIR_PROBES)
            if room_at(run, unit, scene, t, high) < 0.0:
                for _ in range(EVENT_STEPS):
                    if high - low <= EVENT_WIDTH * high:
                        break
                    middle = (low + high) / 2.0
                    if room_at(run, unit, scene, t, middle) < 0.0:
                        high = middle
                    else:
                        low = middle
                return high
            low = high
        return end

    @loop
    def find_dip(run: ContactRun, unit: Any, scene: ContactScene, t: float, end: float) -> Any:
        """A time at which a point pulls that pushes at the start, and perhaps at the end, of a step; else `end`."""
        for n in range(DIP_PROBES):
            tau = end * float(n + 1) / float(DIP_PROBES)
            evaluate(run, unit, scene, t, tau, False)
            rates(run, unit, scene, t + tau, scene.y, scene.stage)
            for i in range(scene.whole[ACTIVE]):
                if pulls(scene, i):
                    return tau
        return end

    @loop
    def changes(run: ContactRun, unit: Any, scene: ContactScene, t: float, reached: float) -> Any:
        end = reached
        if has_pairs:
            end = find_pair_change(run, unit, scene, t, reached)
        if scene.whole[DIPPED] == 1:
            end = find_dip(run, unit, scene, t, end)
        evaluate(run, unit, scene, t, end, False)
        rates(run, unit, scene, t + end, scene.y, scene.stage)
        for which in range(3 * scene.whole[ACTIVE]):
            is_open = which % 3 == 1 and shares_friction(scene)
            if (
                scene.slack[which // 3, which % 3] > 0.0
                and slack_of(scene, which // 3, which % 3) < 0.0
                and not is_open
            ):
                end = find_change(run, unit, scene, t, end, which)
                evaluate(run, unit, scene, t, end, False)
                rates(run, unit, scene, t + end, scene.y, scene.stage)
        scene.whole[LOOK] = 1 if needs_look(scene) else 0
        return end

    return changes


def build_modes(rates: Loop, points: SceneLoops, layout: Layout) -> Loop:
    """(run, unit, scene, t, after_impact) -> status: which points stay in contact, and which of them stick.

    Where something approaches that touches, that is the hit, and nothing is decided.
    """
    find_point, build_matrix, gap_of = points.find_point, points.build_matrix, points.gap_of
    find_inverses, size, at_per_mass = points.find_inverses, layout.size, layout.body.inverse_mass
    find_manifolds, has_pairs = points.find_manifolds, points.has_pairs

    @loop
    def keep_point(scene: ContactScene, i: int, to: int) -> None:
        scene.candidates[to] = scene.candidates[i]
        scene.modes[to] = scene.modes[i]
        for c in range(3):
            scene.sliding[to, c] = scene.sliding[i, c]
            scene.reference[to, c] = scene.reference[i, c]

    @loop
    def bring_to_rest(run: ContactRun, unit: Any, scene: ContactScene, t: float) -> None:
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
    def modes(run: ContactRun, unit: Any, scene: ContactScene, t: float, after_impact: bool) -> int:
        scene.whole[HIT] = -1
        for k in range(candidate_count(run)):
            scene.begun[k] = 0
        for i in range(scene.whole[ACTIVE]):
            scene.begun[scene.candidates[i]] = 0 if scene.modes[i] == SLIDES else 1
        scene.whole[ACTIVE] = 0
        scene.whole[FRESH] = 1
        scene.whole[STATE] = FLIGHT
        scene.whole[LEFT_OUT] = 0
        find_inverses(unit, scene, scene.y0)
        if has_pairs:
            find_manifolds(run, scene, scene.y0)
        for k in range(candidate_count(run)):
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
            find_bias(scene, scene.y0, scene.stage, i)
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
            pull = scene.law[i, 2] * scene.a[3 * i, 3 * i + 1] + scene.law[i, 3] * scene.a[3 * i, 3 * i + 2]
            presses_itself = scene.law[i, 1] == 1.0 and scene.a[3 * i, 3 * i] <= scene.law[i, 0] * pull
            if scene.p[3 * i] <= 0.0 and (scene.u[3 * i] > 1e-9 * natural or presses_itself):
                scene.skip[scene.candidates[i]] = max(scene.u[3 * i], 1e-300)  # for now, its acceleration
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
                store(scene.reference[i], 0, vector(scene.p, 3 * i))
                store(scene.sliding[i], 0, plus(scaled(d1, vector(row, T1)), scaled(d2, vector(row, T2))))
                keep_point(scene, i, kept)
                kept += 1
        scene.whole[ACTIVE] = kept
        points.bound_spins(unit, scene, scene.y0)  # an impact may have changed them
        set_skips(run, scene)
        if kept > 0:
            scene.whole[STATE] = SLIDING if is_sliding else ROLLING
            bring_to_rest(run, unit, scene, t)
        return RUNNING

    @loop
    def third_derivative(run: ContactRun, scene: ContactScene, b: int) -> float:
        w, turning = scene.limits[b, 1], scene.limits[b, 2]
        third: float = run.size[b] * w * (w * w + 5.0 * turning)
        return third

    @loop
    def bend_of(run: ContactRun, scene: ContactScene, k: int) -> Any:
        """How much faster the height of a round feature can bend than that of a point of the body."""
        count = len(run.owner)
        f, s = k % count, k // count
        feature = run.features[scene.whole[FEATURE_ROW] + f]
        normal = vector(run.planes[scene.whole[PLANE_ROW] + s], NORMAL)
        if feature[KIND] == CIRCLE:
            tilt = tilt_in_space(scene.y0, run.owner[f] * NUMBERS, normal, vector(feature, AXIS))
            return 4.0 + 12.0 / (tilt * tilt)
        if feature[KIND] == ELLIPSOID:
            long = max(feature[AXIS], feature[AXIS + 1], feature[AXIS + 2])
            short = min(feature[AXIS], feature[AXIS + 1], feature[AXIS + 2])
            return 4.0 * long * long / (short * short)
        return 1.0

    @loop
    def set_skips(run: ContactRun, scene: ContactScene) -> None:
        """How long a point that parts with no speed but some acceleration cannot touch again.

        Its height is at least a t^2/2 - c t^3/6, c a bound of the third derivative.
        """
        planes = plane_candidates(run)
        for k in range(candidate_count(run)):
            if scene.skip[k] > 0.0:
                if k < planes:
                    third = third_derivative(run, scene, run.owner[k % len(run.owner)]) * bend_of(run, scene, k)
                else:
                    p = (k - planes) // MOST_MANIFOLD
                    third = third_derivative(run, scene, run.pair_bodies[p, 0])
                    third = third + third_derivative(run, scene, run.pair_bodies[p, 1])
                apart = min(3.0 * scene.skip[k] / third, NEVER / 2.0) if third > 0.0 else NEVER / 2.0
                # Other points of two bodies may come nearer, and forces elsewhere change: look again soon
                if k >= planes or scene.whole[ACTIVE] > 0:
                    apart = min(apart, PAIR_PARTING * scene.real[SIZE] / scene.real[FASTEST])
                scene.skip[k] = apart
                if scene.real[SPEED] > 0.0:
                    scene.skip[k] = max(apart, PARTING * scene.real[SIZE] / scene.real[SPEED])

    return modes
