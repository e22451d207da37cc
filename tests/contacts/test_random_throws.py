"""A thousand random throws of five bodies: no point is under the floor, none is lost, each ends for a reason."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from scipy.integrate import solve_ivp

import polhode as ph
from contact_reference import G, box_corners, lowest_point, random_quaternions
from polhode.integrate.contacts.contact_scene import bound_free_spin

THROWS = 200
HULL = trimesh.Trimesh(np.random.default_rng(4).normal(size=(14, 3)) * [0.10, 0.07, 0.05]).convex_hull
SLENDER = (1.0, 0.01, 0.01)
BODIES = {
    "box": (lambda: ph.shapes.box((0.3, 0.2, 0.1), mass=1.0), "points", box_corners((0.3, 0.2, 0.1)), 0.19),
    "cylinder": (lambda: ph.shapes.cylinder(0.1, 0.25, mass=1.0), "cylinder", (0.1, 0.25), 0.16),
    "cone": (lambda: ph.shapes.cone(0.12, 0.3, mass=1.0), "cone", (0.12, 0.3), 0.23),
    "ellipsoid": (lambda: ph.shapes.ellipsoid((0.2, 0.12, 0.08), mass=1.0), "ellipsoid", (0.2, 0.12, 0.08), 0.2),
    "rod": (lambda: ph.shapes.box(SLENDER, mass=1.0), "points", box_corners(SLENDER), 0.5),
    "disk": (lambda: ph.shapes.cylinder(0.1, 0.004, mass=0.3), "cylinder", (0.1, 0.004), 0.1),
    "hull": (lambda: ph.Body.from_mesh(HULL, mass=1.0), "points", HULL.vertices, 0.2),
}
"""How each is made, its kind and sizes for the independent judge, and its size in m."""


def throw(rng, n):
    return ph.State(
        position=np.array([0.0, 0.0, 0.5]) + rng.uniform(0, 1, size=(n, 3)),
        quaternion_wxyz=random_quaternions(rng, n),
        velocity=2 * rng.normal(size=(n, 3)),
        angular_velocity_body=10 * rng.normal(size=(n, 3)),
    )


def judge(name, throws, duration, seed):
    make, kind, sizes, size = BODIES[name]
    body = make()
    rng = np.random.default_rng(seed)
    restitution = np.where(np.arange(throws) % 3 == 0, 0.0, rng.uniform(0, 0.9, size=throws))
    contacts = [ph.floor(restitution, rng.uniform(0.05, 1.0, size=throws))]
    motion = ph.ensemble(
        body, throw(rng, throws), [ph.forces.gravity(G)], duration=duration, output_step=0.01, contacts=contacts
    )
    center = body.center_of_mass if name == "hull" else (0.0, 0.0, 0.0)  # shapes are about their center of mass
    values = (motion.position, motion.quaternion_wxyz, motion.velocity, motion.angular_velocity_body)
    assert all(np.isfinite(value).all() for value in values)
    depth = -lowest_point(kind, sizes, center, motion.position, motion.quaternion_wxyz)
    assert depth.max() < 1e-9 * size
    assert abs(np.asarray(motion.impacts.point)[:, 2]).max() < 2e-8 * size  # whatever strikes the floor is at the floor
    assert motion.times[-1] == duration
    return motion, depth


@pytest.mark.parametrize("name", BODIES)
def test_no_point_is_under_the_floor(name):
    judge(name, 20, 2.0, seed=1)


@pytest.mark.long
@pytest.mark.parametrize("name", BODIES)
def test_a_thousand_throws_end_at_rest_or_for_a_reason(name):
    motion, depth = judge(name, THROWS, 10.0, seed=2)
    size = BODIES[name][3]
    last = np.asarray(motion.contact_state)[-1]
    speed = np.linalg.norm(motion.velocity[-1], axis=-1) + size * np.linalg.norm(motion.angular_velocity[-1], axis=-1)
    assert set(last) <= {"resting", "rolling", "sliding", "flight"}
    assert (speed[last == "resting"] <= (1e-20 if name == "rod" else 0.0)).all()
    assert (abs(depth[-1])[last != "flight"] < 1e-9 * size).all()
    struck_at = np.zeros(THROWS)
    np.maximum.at(struck_at, np.asarray(motion.impacts.member), np.asarray(motion.impacts.time))
    assert (struck_at[last == "flight"] > 8.0).all()  # in flight only between bounces
    if name in ("box", "hull"):
        assert (last == "resting").mean() > 0.9  # nothing flat rolls on and on


def test_bounds_of_the_spin_against_scipy():
    """The search for touches relies on them: no free rotation may exceed them, and they may not be far off."""
    rng = np.random.default_rng(1)
    for n in range(60):
        a, b, c = moments = np.exp(rng.normal(size=3) * rng.choice([0.1, 1.0, 3.0]))
        if n % 3 == 0:
            b = c
        w = rng.normal(size=3) * np.exp(rng.normal(size=3))

        def rate(_, w, a=a, b=b, c=c):
            return np.array([(b - c) / a * w[1] * w[2], (c - a) / b * w[2] * w[0], (a - b) / c * w[0] * w[1]])

        pace = np.linalg.norm(w)
        found = solve_ivp(rate, (0, 15 / pace), w, method="DOP853", rtol=1e-9, atol=1e-12, max_step=0.2 / pace).y
        bounds = np.zeros(2)
        bound_free_spin((a, b, c), tuple(w), bounds)
        fastest, turning = bounds
        spins, rates = np.linalg.norm(found, axis=0), np.linalg.norm(rate(0, found), axis=0)
        assert spins.max() <= fastest * (1 + 1e-8)
        assert rates.max() <= turning * (1 + 1e-8) + 1e-12
        assert fastest <= 1.5 * spins.max() or found.shape[1] < 20 or moments.min() < 0.02 * moments.max()


@pytest.mark.parametrize("name", ["cylinder", "disk"])
def test_a_round_body_that_does_not_rebound_touches_again_elsewhere(name):
    """Without gravity and rebound: another part of the rim comes down after the first."""
    make, kind, sizes, size = BODIES[name]
    rng = np.random.default_rng(3)
    start = ph.State(position=(0, 0, 1), velocity=(0, 0, -1.0), quaternion_wxyz=random_quaternions(rng, 20))
    motion = ph.ensemble(make(), start, duration=2.5, output_step=0.01, contacts=[ph.floor()])
    depth = -lowest_point(kind, sizes, (0.0, 0.0, 0.0), motion.position, motion.quaternion_wxyz)
    assert depth.max() < 1e-9 * size
    assert (np.bincount(np.asarray(motion.impacts.member), minlength=20) > 1).any()


@pytest.mark.parametrize("seed", [8, 11, 14, 21])
def test_a_floor_never_pulls_a_spinning_ellipsoid(seed):
    """Its force falls to zero and would come back within one step: it must leave the floor between."""
    spin = 30 * np.random.default_rng(seed).normal(size=3)
    body, start = (
        ph.shapes.ellipsoid((0.126, 0.156, 0.049), mass=1.0),
        ph.State((0, 0, 0.16), angular_velocity_body=spin),
    )
    surfaces = [ph.floor(0.5, 0.1)]
    motion = ph.simulate(body, start, [ph.forces.gravity()], duration=3.0, output_step=0.0005, contacts=surfaces)
    assert motion.contact_forces[:, 2].min() >= 0.0
    assert (motion.contact_forces[:, 2] > 1.0).any()
