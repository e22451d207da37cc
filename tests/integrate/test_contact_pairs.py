"""Contact of two convex bodies, against closed forms, support functions and SciPy; compiled and as plain Python."""

from functools import lru_cache
from itertools import combinations_with_replacement, product
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.integrate.contact_steps import _stack_features
from polhode.integrate.contacts.contact_distance import (
    ANCHOR,
    ANSWER,
    MANIFOLD,
    MOST_CORNERS,
    MOST_MANIFOLD,
    SKIN,
    VERTEX,
    PairSpace,
    closest,
)
from polhode.integrate.contacts.contact_pairs import (
    find_anchored_point,
    find_manifold,
    find_pair_rates,
    pair_terms,
    time_apart,
    time_until_near,
)
from polhode.integrate.contacts.contact_shapes import FEATURE, vector
from polhode.ir.loops import loop
from polhode.ir.program import Program
from polhode.scenario.outline import outline_of, outline_support

S = ph.shapes
BODIES = {
    "box": S.box((1.0, 0.7, 0.4), mass=1.0),
    "sphere": S.sphere(0.5, mass=1.0),
    "capsule": S.capsule(0.2, 1.0, mass=1.0),
    "cylinder": S.cylinder(0.4, 1.0, mass=1.0),
    "disk": S.thin_disk(0.5, mass=1.0),
    "cone": S.cone(0.4, 0.9, mass=1.0),
    "ellipsoid": S.ellipsoid((0.6, 0.4, 0.25), mass=1.0),
    "torus": S.torus(0.5, 0.15, mass=1.0),
}
PAIRS = list(combinations_with_replacement(BODIES, 2))
PAIR_SHAPES = (
    (4, VERTEX),
    (3, VERTEX),
    (3, VERTEX),
    (3, VERTEX),
    (VERTEX,),
    (3,),
    (6,),
    (10,),
    (6, 7),
    (3,),
    (5,),
    (ANSWER,),
    (MOST_CORNERS, 4),
    (MOST_CORNERS, 4),
    (MOST_CORNERS, 4),
    (3 * MOST_CORNERS, 2),
    (3 * MOST_CORNERS, 2),
    (MOST_MANIFOLD, MANIFOLD),
    (MOST_MANIFOLD, ANCHOR),
    (6, FEATURE),
    (3,),
)
"""The arrays of a PairSpace, the last of whole numbers."""
(A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11, A12, A13, A14, A15, A16, A17, A18, A19, A20, A21) = PAIR_SHAPES
POINTS, SPAN, NUMBERS = ANSWER, ANSWER + 1, ANSWER + 2
CUBE = S.box((1.0, 1.0, 1.0), mass=1.0)
IDENTITY = (1.0, 0.0, 0.0, 0.0)


class Run(NamedTuple):
    buffer: Any
    rows: Any
    features: Any
    velocities: Any
    limits: Any
    out: Any
    manifold: Any
    anchors: Any
    tolerance: float


@loop
def look(run, first, last):
    space = PairSpace(
        np.zeros(A1), np.zeros(A2), np.zeros(A3), np.zeros(A4), np.zeros(A5), np.zeros(A6), np.zeros(A7), np.zeros(A8),
        np.zeros(A9), np.zeros(A10), np.zeros(A11), np.zeros(A12), np.zeros(A13), np.zeros(A14), np.zeros(A15),
        np.zeros(A16), np.zeros(A17), np.zeros(A18), np.zeros(A19), np.zeros(A20), np.zeros(A21, dtype=np.int64),
    )  # fmt: skip
    r = run.rows
    rows, at = (r[0], r[1], r[2], r[3], r[4]), (0, 14)
    for u in range(first, last):
        y, v, bounds = run.buffer[u], run.velocities[u], run.limits[u]
        closest(run.features, rows, y, at, space)
        velocities = (vector(v, 0), vector(v, 3))
        find_pair_rates(run.features, y, at, velocities, space)
        motion = (velocities[0], velocities[1], vector(bounds, 0), vector(bounds, 3), 0.0)
        run.out[u, SPAN] = time_apart(run.features, rows, y, at, motion, space)
        for m in range(ANSWER):
            run.out[u, m] = space.answer[m]
        count = find_manifold(run.features, rows, y, at, space, run.tolerance)
        run.out[u, POINTS] = float(count)
        for k in range(count):
            for m in range(7):
                run.manifold[u, k, m] = space.manifold[k, m]
            for m in range(ANCHOR):
                run.anchors[u, k, m] = space.anchors[k, m]


@lru_cache
def program():
    return Program(look, True, None, 1)


def seen(a, b, poses, velocities=None, limits=None, is_compiled=True):
    """What the loop answers about two bodies in poses (n, 28)."""
    features, first, _ = _stack_features((a, b), 1)
    poses = np.ascontiguousarray(poses, dtype=float)
    n = len(poses)
    run = Run(
        poses,
        np.array([first[0], first[1], first[1], first[2], 0]),
        features,
        np.zeros((n, 6)) if velocities is None else velocities,
        np.zeros((n, 6)) if limits is None else limits,
        np.zeros((n, NUMBERS)),
        np.zeros((n, 8, 7)),
        np.zeros((n, 8, ANCHOR)),
        1e-9,
    )
    if is_compiled:
        program().bind(run)(0, n)
    else:
        look(run, 0, n)
    return run


def poses_at(rng, n, distance):
    """Random attitudes of both bodies, A in a random direction from B."""
    poses = np.zeros((n, 28))
    direction = rng.normal(size=(n, 3))
    poses[:, 0:3] = distance * direction / np.linalg.norm(direction, axis=1)[:, None]
    for i in (3, 17):
        poses[:, i : i + 4] = Rotation.random(n, random_state=rng).as_quat(scalar_first=True)
    return poses


def pose(position, attitude=IDENTITY, other=IDENTITY):
    one = np.zeros((1, 28))
    one[0, 0:3], one[0, 3:7], one[0, 17:21] = position, attitude, other
    return one


def about(axis, degrees):
    return Rotation.from_rotvec(np.radians(degrees) * np.array(axis)).as_quat(scalar_first=True)


def at_gap(a, b, poses, gap):
    """The poses with A moved along the normal until the gap is so large."""
    out = seen(a, b, poses).out
    moved = poses.copy()
    moved[:, 0:3] -= (out[:, 9:10] - gap) * out[:, 0:3]
    return moved, out


def turned(body, q):
    """The rotations from the axes in which a body was made to world axes."""
    return Rotation.from_quat(q, scalar_first=True) * body.principal_axes.inv()


# The distance -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_distance_against_the_support_functions(a, b):
    """The gap between the supporting planes is a lower bound of the distance, two points of the bodies an upper."""
    rng = np.random.default_rng(7)
    first, second = BODIES[a], BODIES[b]
    poses = poses_at(rng, 60, 1.5)
    out = seen(first, second, poses).out
    assert (out[:, 9] > 0).all()
    directions = rng.normal(size=(200, 3))
    for y, row in zip(poses, out, strict=True):
        r_a, r_b, n = turned(first, y[3:7]), turned(second, y[17:21]), row[0:3]
        low = y[0:3] @ n - outline_support(outline_of(first), r_a.inv().apply(-n))
        high = y[14:17] @ n + outline_support(outline_of(second), r_b.inv().apply(n))
        assert low - high == pytest.approx(row[9], abs=1e-14)
        assert np.linalg.norm(y[0:3] + row[3:6] - y[14:17] - row[6:9]) == pytest.approx(row[9], abs=1e-11)
        for body, turn, arm in ((first, r_a, row[3:6]), (second, r_b, row[6:9])):
            inside = outline_support(outline_of(body), turn.inv().apply(directions)) - directions @ arm
            assert inside.min() > -1e-7  # a point of a rim is known to the square root of rounding


def test_spheres_against_the_closed_form():
    rng = np.random.default_rng(1)
    poses = poses_at(rng, 50, 3.0)
    out = seen(S.sphere(0.7, mass=1.0), S.sphere(0.2, mass=1.0), poses).out
    assert np.abs(out[:, 9] - (np.linalg.norm(poses[:, 0:3], axis=1) - 0.9)).max() < 1e-15
    assert np.abs(out[:, 0:3] - poses[:, 0:3] / 3.0).max() < 4e-16


def distance_of_segments(p, q, r, s):
    """The distance of the segments p q and r s: the lines' nearest points, or an end of one to the other."""
    d, e = q - p, s - r

    def to_segment(x, a, b):
        t = np.clip((x - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1)
        return np.linalg.norm(x - a - t * (b - a))

    best = min(to_segment(p, r, s), to_segment(q, r, s), to_segment(r, p, q), to_segment(s, p, q))
    (t, u), *_ = np.linalg.lstsq(np.stack((d, -e), axis=1), r - p, rcond=None)
    return min(best, np.linalg.norm(p + t * d - r - u * e)) if 0 < t < 1 and 0 < u < 1 else best


def test_capsules_against_the_distance_of_segments():
    rng = np.random.default_rng(2)
    capsule = BODIES["capsule"]
    poses = poses_at(rng, 200, 1.2)
    out = seen(capsule, capsule, poses).out
    for y, row in zip(poses, out, strict=True):
        ends = [
            y[i : i + 3] + turned(capsule, y[i + 3 : i + 7]).apply((0, 0, side))
            for i in (0, 14)
            for side in (-0.5, 0.5)
        ]
        assert row[9] == pytest.approx(distance_of_segments(*ends) - 0.4, abs=2e-15)


def test_boxes_against_points_and_edges():
    """Two boxes that are apart are nearest at a corner of one, or at an edge of each."""
    rng = np.random.default_rng(3)
    half = np.array((0.5, 0.35, 0.2))
    signs = np.array(list(product((-1, 1), repeat=3)))
    edges = [(i, j) for i in range(8) for j in range(i) if np.abs(signs[i] - signs[j]).sum() == 2]
    poses = poses_at(rng, 60, 1.3)
    out = seen(BODIES["box"], BODIES["box"], poses).out
    for y, row in zip(poses, out, strict=True):
        turns = [turned(BODIES["box"], y[i + 3 : i + 7]) for i in (0, 14)]
        corners = [y[i : i + 3] + turn.apply(signs * half) for i, turn in zip((0, 14), turns, strict=True)]
        best = np.inf
        for this, other, i in ((0, 1, 14), (1, 0, 0)):
            inside = turns[other].inv().apply(corners[this] - y[i : i + 3])
            best = min(best, np.linalg.norm(inside - np.clip(inside, -half, half), axis=1).min())
        for i, j in edges:
            for k, m in edges:
                best = min(best, distance_of_segments(corners[0][i], corners[0][j], corners[1][k], corners[1][m]))
        assert row[9] == pytest.approx(best, abs=4e-15)


def test_ellipsoids_against_scipy():
    rng = np.random.default_rng(4)
    body = BODIES["ellipsoid"]
    semi = np.array((0.6, 0.4, 0.25))
    poses = poses_at(rng, 10, 1.3)
    out = seen(body, body, poses).out
    for y, row in zip(poses, out, strict=True):
        turns = [turned(body, y[i + 3 : i + 7]) for i in (0, 14)]

        def gap(x, y=y, turns=turns):
            return y[0:3] + turns[0].apply(semi * x[:3]) - y[14:17] - turns[1].apply(semi * x[3:])

        found = minimize(
            lambda x, gap=gap: gap(x) @ gap(x),
            0.1 * rng.normal(size=6),
            constraints=[{"type": "ineq", "fun": lambda x: (1 - x[:3] @ x[:3], 1 - x[3:] @ x[3:])}],
            method="SLSQP",
            options={"ftol": 1e-15, "maxiter": 500},
        )
        assert row[9] == pytest.approx(np.sqrt(found.fun), abs=1e-7)


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_at_the_skin_the_distance_keeps_its_digits_and_the_normal_eight(a, b):
    rng = np.random.default_rng(5)
    near, far = at_gap(BODIES[a], BODIES[b], poses_at(rng, 200, 1.5), SKIN)
    out = seen(BODIES[a], BODIES[b], near).out
    assert np.abs(out[:, 9] - SKIN).max() < 1e-14
    assert np.linalg.norm(out[:, 0:3] - far[:, 0:3], axis=1).max() < 2e-7


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_bodies_that_overlap_have_a_negative_distance(a, b):
    rng = np.random.default_rng(6)
    poses = poses_at(rng, 30, 0.02)
    poses[0, 0:3] = 0.0
    poses[1] = pose((0.0, 0.0, 0.0))
    out = seen(BODIES[a], BODIES[b], poses).out
    if not (a == b == "disk"):  # two disks in one plane touch, and do not overlap
        assert (out[:, 9] < 0).all()
    assert np.isfinite(out).all()


@pytest.mark.parametrize(("a", "b"), PAIRS[::3])
def test_compiled_and_plain_agree_to_the_last_bit(a, b):
    rng = np.random.default_rng(8)
    poses, velocities, limits = poses_at(rng, 3, 1.4), rng.normal(size=(3, 6)), rng.uniform(size=(3, 6))
    poses = np.concatenate([poses, at_gap(BODIES[a], BODIES[b], poses, SKIN)[0], pose((0.1, 0.0, 2.0))])[-6:]
    compiled = seen(BODIES[a], BODIES[b], poses, np.tile(velocities, (2, 1)), np.tile(limits, (2, 1)))
    plain = seen(BODIES[a], BODIES[b], poses, np.tile(velocities, (2, 1)), np.tile(limits, (2, 1)), is_compiled=False)
    assert np.array_equal(compiled.out, plain.out)
    assert np.array_equal(compiled.manifold, plain.manifold)
    assert np.array_equal(compiled.anchors, plain.anchors)


def test_thin_and_long_bodies_are_no_exception():
    rng = np.random.default_rng(9)
    thin = [
        S.box((1.0, 1e-4, 1e-4), mass=1.0),
        S.box((1.0, 1.0, 1e-4), mass=1.0),
        S.cylinder(1e-3, 1.0, mass=1.0),
        S.cylinder(0.5, 1e-3, mass=1.0),
        S.ellipsoid((1.0, 0.5, 1e-3), mass=1.0),
    ]
    for a, b in combinations_with_replacement(thin, 2):
        near, _ = at_gap(a, b, poses_at(rng, 200, 2.1), 1e-8)
        assert np.abs(seen(a, b, near).out[:, 9] - 1e-8).max() < 1e-13


# The manifold ---------------------------------------------------------------------------------------------------------
def points_of(run, y):
    """The points of the manifold in world axes, sorted; both arms must give the same."""
    count = int(run.out[0, POINTS])
    rows = run.manifold[0, :count]
    on_a, on_b = y[0, 0:3] + rows[:, 0:3], y[0, 14:17] + rows[:, 3:6]
    assert np.abs(on_a - on_b).max() < 1e-15
    assert np.abs(rows[:, 6] - run.out[0, 9]).max() < 1e-14
    rounded = np.round(on_a, 7) + 0.0
    return rounded[np.lexsort(rounded.T[::-1])]


ROOT = np.sqrt(0.5)
EIGHT = np.tan(np.pi / 8) / 2
STACKS = {
    "a cube on a cube": (CUBE, CUBE, pose((0.3, 0.2, 1 + SKIN)), list(product((-0.2, 0.5), (-0.3, 0.5)))),
    "turned by 45 degrees": (
        CUBE, CUBE, pose((0, 0, 1 + SKIN), about((0, 0, 1), 45)),
        sorted((*product((-0.5, 0.5), (-EIGHT, EIGHT)), *product((-EIGHT, EIGHT), (-0.5, 0.5)))),
    ),
    "an edge on a face": (
        CUBE, CUBE, pose((0.3, 0, 0.5 + ROOT + SKIN), about((1, 0, 0), 45)), [(-0.2, 0.0), (0.5, 0.0)],
    ),
    "an edge across an edge": (
        CUBE, CUBE, pose((0, 0, 2 * ROOT + SKIN), about((1, 0, 0), 45), about((0, 1, 0), 45)), [(0.0, 0.0)],
    ),
    "an edge along an edge": (
        CUBE, CUBE, pose((0.4, 0, 2 * ROOT + SKIN), about((1, 0, 0), 45), about((1, 0, 0), 45)),
        [(-0.1, 0.0), (0.5, 0.0)],
    ),
    "a ball on a cube": (BODIES["sphere"], CUBE, pose((0.1, 0.2, 1 + SKIN)), [(0.1, 0.2)]),
    "a cube on a ball": (CUBE, BODIES["sphere"], pose((0.1, 0.2, 1 + SKIN)), [(0.0, 0.0)]),
    "a capsule on its side": (
        BODIES["capsule"], CUBE, pose((0.4, 0.2, 0.7 + SKIN), about((1, 0, 0), 90)), [(0.4, -0.3), (0.4, 0.5)],
    ),
    "a cylinder on its side": (
        BODIES["cylinder"], CUBE, pose((0.2, 0, 0.9 + SKIN), about((1, 0, 0), 90)), [(0.2, -0.5), (0.2, 0.5)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STACKS)
def test_manifold_against_the_figure(name):
    a, b, y, expected = STACKS[name]
    points = points_of(seen(a, b, y), y)
    assert points[:, :2] == pytest.approx(np.array(expected), abs=1e-7)
    level = y[0, 2] - 1 if name == "a cube on a ball" else 0.0
    if "edge a" not in name:
        assert points[:, 2] == pytest.approx(0.5 + level, abs=1e-7)


def test_a_cylinder_stands_on_its_rim():
    y = pose((0.0, 0.0, 1 + SKIN))
    points = points_of(seen(BODIES["cylinder"], CUBE, y), y)
    assert len(points) == 8
    assert np.hypot(points[:, 0], points[:, 1]) == pytest.approx(0.4, abs=1e-7)


# The motion -----------------------------------------------------------------------------------------------------------
def with_spins(poses, spins):
    poses = poses.copy()
    for i, w in zip((0, 14), spins, strict=True):
        poses[:, i + 10 : i + 13] = Rotation.from_quat(poses[:, i + 3 : i + 7], scalar_first=True).inv().apply(w)
    return poses


def moved_by(poses, velocities, spins, t):
    """The poses after a time, at constant velocities and spins in world axes."""
    later = poses.copy()
    for k, (i, w) in enumerate(zip((0, 14), spins, strict=True)):
        later[:, i : i + 3] += t * velocities[:, 3 * k : 3 * k + 3]
        turn = Rotation.from_rotvec(t * w) * Rotation.from_quat(poses[:, i + 3 : i + 7], scalar_first=True)
        later[:, i + 3 : i + 7] = turn.as_quat(scalar_first=True)
    return with_spins(later, spins)


def test_rates_of_spheres_against_the_closed_form():
    """n' = u_t/D and D'' = |u_t|^2/D, D the distance of the centers."""
    rng = np.random.default_rng(11)
    n = 20
    poses, velocities, spins = poses_at(rng, n, 0.7), rng.normal(size=(n, 6)), rng.normal(size=(2, n, 3))
    a, b = S.sphere(0.5, mass=1.0), S.sphere(0.2, mass=1.0)
    out = seen(a, b, with_spins(poses, spins), velocities).out
    for k in range(n):
        normal, u = poses[k, 0:3] / 0.7, velocities[k, :3] - velocities[k, 3:]
        across = u - u @ normal * normal
        assert out[k, 10:13] == pytest.approx(across / 0.7, abs=1e-14)
        assert out[k, 13] == pytest.approx(u @ normal, abs=1e-14)
        terms = pair_terms(
            (velocities[k, :3], velocities[k, 3:]), (spins[0, k], spins[1, k]), (out[k, 3:6], out[k, 6:9]),
            out[k, 10:13], out[k, 14:17],
        )  # fmt: skip
        _, turning, normal_turning = terms
        assert np.dot(turning, normal) + normal_turning == pytest.approx(across @ across / 0.7, abs=1e-13)


def test_the_normal_of_a_face_turns_with_its_body():
    """A ball on a cube that turns and moves: n' = w x n."""
    rng = np.random.default_rng(12)
    poses = np.repeat(pose((0.1, 0.2, 1 + SKIN)), 10, axis=0)
    spins, velocities = rng.normal(size=(2, 10, 3)), rng.normal(size=(10, 6))
    out = seen(BODIES["sphere"], CUBE, with_spins(poses, spins), velocities).out
    assert out[:, 10:13] == pytest.approx(np.cross(spins[1], (0, 0, 1)), abs=1e-14)
    contact = velocities[:, 3:] + np.cross(spins[1], (0.1, 0.2, 0.5))
    assert out[:, 13] == pytest.approx(velocities[:, 2] - contact[:, 2], abs=1e-8)


@pytest.mark.parametrize(("a", "b"), [p for p in PAIRS if {"ellipsoid", "capsule", "sphere", "torus"} & set(p)])
def test_rates_against_differences(a, b):
    """Normal, gap, place of contact, and the second derivative of the gap."""
    rng = np.random.default_rng(13)
    n, h = 40, 1e-6
    velocities, spins = rng.normal(size=(n, 6)), rng.normal(size=(2, n, 3))
    poses, _ = at_gap(BODIES[a], BODIES[b], poses_at(rng, n, 1.5), 1e-5)

    def rates(t):
        y = moved_by(poses, velocities, spins, t)
        out = seen(BODIES[a], BODIES[b], y, velocities).out
        return out, (y[:, 0:3] + out[:, 3:6] + y[:, 14:17] + out[:, 6:9]) / 2

    (now, _), (later, place_later), (before, place_before) = rates(0.0), rates(h), rates(-h)
    slope = (later - before) / (2 * h)
    assert np.median(np.abs(now[:, 10:13] - slope[:, 0:3])) < 1e-8
    assert np.median(np.abs(now[:, 13] - slope[:, 9])) < 1e-8
    assert np.median(np.abs(now[:, 14:17] - (place_later - place_before) / (2 * h))) < 1e-8
    expected = []
    for k in range(n):
        terms = pair_terms(
            (velocities[k, :3], velocities[k, 3:]), (spins[0, k], spins[1, k]), (now[k, 3:6], now[k, 6:9]),
            now[k, 10:13], now[k, 14:17],
        )  # fmt: skip
        expected.append(np.dot(terms[1], now[k, 0:3]) + terms[2])
    error = np.abs(np.array(expected) - slope[:, 13]) / (1 + np.abs(expected))
    assert np.quantile(error, 0.8) < 1e-4  # the bodies are 1e-5 apart


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_bodies_stay_apart_for_the_time_that_is_promised(a, b):
    rng = np.random.default_rng(14)
    n = 40
    velocities, spins = rng.normal(size=(n, 6)), 3 * rng.normal(size=(2, n, 3))
    for gap in (0.3, 1e-4):
        poses, _ = at_gap(BODIES[a], BODIES[b], poses_at(rng, n, 1.5), gap)
        limits = np.zeros((n, 6))
        limits[:, 1], limits[:, 4] = np.linalg.norm(spins, axis=-1)
        span = np.minimum(seen(BODIES[a], BODIES[b], with_spins(poses, spins), velocities, limits).out[:, SPAN], 2.0)
        assert (span > 0).all()
        for part in (0.25, 0.5, 0.75, 1.0):
            later = np.concatenate([
                moved_by(poses[k : k + 1], velocities[k : k + 1], spins[:, k : k + 1], part * span[k]) for k in range(n)
            ])  # fmt: skip
            assert (seen(BODIES[a], BODIES[b], later).out[:, 9] > -1e-15).all()


def test_the_time_apart_of_balls_that_meet_is_exact():
    y = pose((0.0, 0.0, 3.0))
    velocities = np.array([[0.0, 0.0, -2.0, 0.0, 0.0, 1.0]])
    assert seen(BODIES["sphere"], BODIES["sphere"], y, velocities).out[0, SPAN] == pytest.approx(2 / 3, rel=1e-15)


# Points that stay -----------------------------------------------------------------------------------------------------
def anchored(a, b, anchor, poses, velocities):
    """The answers about one anchored point, as plain Python."""
    features, first, _ = _stack_features((a, b), 1)
    space = PairSpace(*(np.zeros(shape) for shape in PAIR_SHAPES[:-1]), np.zeros(PAIR_SHAPES[-1], dtype=np.int64))
    rows = (int(first[0]), int(first[1]), int(first[1]), int(first[2]), 0)
    answers = []
    for y, v in zip(poses, velocities, strict=True):
        pair = (vector(v, 0), vector(v, 3))
        find_anchored_point(features, rows, y, (0, 14), pair, space, anchor)
        answers.append(space.answer.copy())
    return np.array(answers)


LINES = {
    "two capsules side by side": (
        BODIES["capsule"], BODIES["capsule"], pose((0.4 + SKIN, 0, 0.3)), [(0.2, 0.0, -0.2), (0.2, 0.0, 0.5)],
    ),
    "two cylinders side by side": (
        BODIES["cylinder"], BODIES["cylinder"], pose((0.8 + SKIN, 0, 0.3)), [(0.4, 0.0, -0.2), (0.4, 0.0, 0.5)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LINES)
def test_line_contact_against_the_figure(name):
    a, b, y, expected = LINES[name]
    assert points_of(seen(a, b, y), y) == pytest.approx(np.array(expected), abs=1e-7)


@pytest.mark.parametrize("name", [*(name for name in STACKS if "an edge a" not in name), *LINES])
def test_anchored_points_against_differences(name):
    """As the bodies move: the gap, its rate, the rate of the normal and of the place, and the second derivative."""
    a, b, y, _ = STACKS[name] if name in STACKS else LINES[name]
    rng = np.random.default_rng(15)
    run = seen(a, b, y)
    velocities, spins = rng.normal(size=(1, 6)), rng.normal(size=(2, 1, 3))
    h = 1e-9 if name in LINES else 1e-6 if run.out[0, POINTS] > 1 else 1e-10  # rims: far less than their distance
    for anchor, point in zip(run.anchors[0], run.manifold[0, : int(run.out[0, POINTS])], strict=False):
        before, now, later = (
            anchored(a, b, anchor, moved_by(y, velocities, spins, t), velocities)[0] for t in (-h, 0.0, h)
        )
        slope = (later - before) / (2 * h)
        assert now[9] == pytest.approx(point[6], abs=1e-13)
        assert now[3:6] == pytest.approx(point[0:3], abs=1e-7)
        assert now[6:9] == pytest.approx(point[3:6], abs=1e-7)
        assert now[13] == pytest.approx(slope[9], abs=1e-4)
        if run.out[0, POINTS] > 1:
            assert now[10:13] == pytest.approx(slope[0:3], abs=1e-6)
            on_a, on_b = slope[3:6] + velocities[0, :3], slope[6:9] + velocities[0, 3:]
            assert now[14:17] == pytest.approx((on_a + on_b) / 2, abs=1e-6)
            terms = pair_terms(
                (velocities[0, :3], velocities[0, 3:]), (spins[0, 0], spins[1, 0]), (now[3:6], now[6:9]), now[10:13],
                now[14:17],
            )  # fmt: skip
            assert np.dot(terms[1], now[0:3]) + terms[2] == pytest.approx(slope[13], abs=1e-5)


def test_the_time_until_balls_are_near_against_the_closed_form():
    """Falling toward a resting one: 3 - 2 = 9.81/2 t^2; in straight motion never too late; 0 if they are near."""
    y = pose((0.0, 0.0, 3.0))[0]
    still = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    assert time_until_near(y, (0, 14), still, 2.0, 9.81) == pytest.approx(np.sqrt(2 / 9.81), rel=1e-15)
    assert time_until_near(y, (0, 14), still, 2.0, 0.0) > 1e100
    assert time_until_near(y, (0, 14), still, 3.0, 9.81) == 0.0
    v = np.array((0.3, 0.1, -1.0))
    span = time_until_near(y, (0, 14), (tuple(v), still[1]), 2.0, 0.0)
    assert span == pytest.approx(1.0)
    assert np.linalg.norm(y[0:3] + span * v) > 2.0
