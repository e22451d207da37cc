"""Energy at impacts: kept without loss, and never created.  Energies are computed in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

import polhode as ph
from contact_reference import G, energy, random_quaternions

GRAVITY = [ph.forces.gravity(G)]


def box_tensor(sides, mass):
    squares = np.asarray(sides) ** 2
    return np.diag(mass / 12 * (squares.sum() - squares))


def test_an_elastic_box_keeps_its_energy_over_a_thousand_impacts():
    sides, mass = (0.3, 0.2, 0.1), 2.0
    start = ph.State(position=(0.0, 0.0, 1.0), velocity=(0.5, 0.0, 0.0), angular_velocity=(3.0, 2.0, 1.0))
    motion = ph.simulate(
        ph.shapes.box(sides, mass=mass), start, GRAVITY, duration=500.0, output_step=0.5, contacts=[ph.floor(1.0)]
    )
    assert len(motion.impacts) >= 1000
    found = energy(motion, mass, box_tensor(sides, mass))
    assert abs(found / found[0] - 1).max() < 1e-12
    assert motion.velocity[:, 0] == pytest.approx(np.full(len(found), 0.5), rel=1e-12)  # no friction
    assert abs(np.asarray(motion.impacts.energy_lost)).max() < 1e-13 * found[0]


def test_an_elastic_ellipsoid_keeps_its_energy():
    axes, mass = np.array([0.2, 0.12, 0.08]), 1.5
    start = ph.State(position=(0.0, 0.0, 0.8), angular_velocity=(3.0, -4.0, 5.0))
    motion = ph.simulate(
        ph.shapes.ellipsoid(axes, mass=mass), start, GRAVITY, duration=100.0, output_step=0.5, contacts=[ph.floor(1.0)]
    )
    tensor = np.diag(mass / 5 * ((axes**2).sum() - axes**2))
    found = energy(motion, mass, tensor)
    assert len(motion.impacts) > 100
    assert abs(found / found[0] - 1).max() < 1e-12


HULLS, THROWS = 25, 40


def random_hull(rng):
    points = rng.normal(size=(rng.integers(5, 20), 3)) * 0.1 * rng.uniform(0.4, 1.6, size=3)
    return ph.Body.from_mesh(trimesh.Trimesh(points).convex_hull, mass=rng.uniform(0.1, 3.0))


@pytest.mark.long
def test_energy_never_grows_in_ten_thousand_random_impacts():
    rng = np.random.default_rng(15)
    impacts = 0
    for _ in range(HULLS):
        body = random_hull(rng)
        start = ph.State(
            position=np.array([0.0, 0.0, 1.0]) + rng.uniform(0, 0.5, size=(THROWS, 3)),
            quaternion_wxyz=random_quaternions(rng, THROWS),
            velocity=rng.normal(size=(THROWS, 3)),
            angular_velocity_body=8 * rng.normal(size=(THROWS, 3)),
        )
        surfaces = [
            ph.floor(rng.uniform(0, 1, size=THROWS), rng.uniform(0, 1.5, size=THROWS)),
            ph.wall((-1, 0, 0.3), (1.5, 0, 0), rng.uniform(0, 1, size=THROWS), rng.uniform(0, 1.5, size=THROWS)),
        ]
        motion = ph.ensemble(body, start, GRAVITY, duration=3.0, output_step=0.02, contacts=surfaces)
        found = energy(motion, body.mass, np.asarray(body.inertia_body))
        assert np.isfinite(found).all()
        growth = np.diff(found, axis=0)
        assert growth.max() < 1e-9 * found.max()  # rolling is integrated with rtol=1e-9; impacts are held to rounding
        lost = np.asarray(motion.impacts.energy_lost)
        assert _sums_of_impacts(motion.impacts, lost).min() > -1e-13 * found.max()
        assert (np.asarray(motion.impacts.normal_impulse) >= 0).all()
        impacts += len(lost)
    assert impacts >= 10_000


def _sums_of_impacts(impacts, values):
    """Of the points that are struck at once."""
    keys = np.stack([np.asarray(impacts.member, dtype=float), np.asarray(impacts.time)], axis=1)
    _, which = np.unique(keys, axis=0, return_inverse=True)
    return np.bincount(which.ravel(), values)


def test_the_tangential_impulse_stays_in_the_cone_of_friction():
    rng = np.random.default_rng(3)
    n, mu = 50, 0.4
    start = ph.State(
        position=(0, 0, 0.6),
        quaternion_wxyz=random_quaternions(rng, n),
        velocity=3 * rng.normal(size=(n, 3)),
        angular_velocity_body=10 * rng.normal(size=(n, 3)),
    )
    motion = ph.ensemble(
        ph.shapes.box((0.3, 0.2, 0.1), mass=1.0), start, GRAVITY, duration=1.5, output_step=0.5,
        contacts=[ph.floor(0.5, mu)],
    )  # fmt: skip
    sideways = np.linalg.norm(motion.impacts.tangential_impulse, axis=-1)
    push = np.asarray(motion.impacts.normal_impulse)
    assert len(push) > 200
    assert (sideways <= mu * push * (1 + 1e-9) + 1e-15).all()
    assert abs(np.asarray(motion.impacts.tangential_impulse)[:, 2]).max() < 1e-15


def test_work_of_contacts_balances_the_energy():
    """Lost at impacts, plus work of gravity, less gain of kinetic energy, is what friction took while sliding."""
    body = ph.shapes.box((0.3, 0.2, 0.1), mass=1.0)
    start = ph.State(position=(0, 0, 0.8), velocity=(1.0, 0.3, 0.0), angular_velocity=(2.0, 5.0, 1.0))
    motion = ph.simulate(body, start, GRAVITY, duration=5.0, output_step=0.01, contacts=[ph.floor(0.4, 0.3)])
    found = energy(motion, 1.0, box_tensor((0.3, 0.2, 0.1), 1.0))
    lost = np.sum(motion.impacts.energy_lost)
    assert found[0] - found[-1] >= lost * (1 - 1e-12)
    assert (np.diff(found) < 1e-13).all()
    work = motion.work - motion.work[0]
    kinetic = found - G * motion.position[:, 2]
    assert work == pytest.approx(kinetic - kinetic[0], abs=1e-9)
