"""Contacts between bodies against closed forms, momentum balances and the separating axis theorem in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from contact_reference import G, random_quaternions

GRAVITY = [ph.forces.gravity(G)]
BALL = ph.shapes.sphere(0.1, mass=1.0)
HEAVY_BALL = ph.shapes.sphere(0.1, mass=3.0)
HALF = np.array([0.1, 0.1, 0.05])
BOX = ph.shapes.box(2 * HALF, mass=1.0)


def collide(restitution, friction, offset, spin=(0.0, 0.0, 0.0)):
    """A ball of 1 kg flies at 2 m/s at one of 3 kg at rest, `offset` beside its center."""
    states = [
        ph.State(velocity=(2.0, 0.0, 0.0), angular_velocity=spin),
        ph.State(position=(1.0, offset, 0.0)),
    ]
    return ph.simulate(
        [BALL, HEAVY_BALL],
        states,
        duration=1.0,
        output_times=[1.0],
        contacts=[ph.between_bodies(restitution, friction)],
    )


@pytest.mark.parametrize("offset", [0.0, 0.05, 0.15])
@pytest.mark.parametrize("restitution", [0.0, 0.6, 1.0])
def test_smooth_balls_against_the_closed_form(offset, restitution):
    motion = collide(restitution, 0.0, offset)
    normal = np.array([np.sqrt(0.04 - offset**2), offset, 0.0]) / 0.2
    impulse = (1 + restitution) * (2.0 * normal[0]) / (1 / 1.0 + 1 / 3.0)
    assert motion.impacts.time == pytest.approx([(1.0 - 0.2 * normal[0]) / 2.0], rel=1e-13)
    assert motion.velocity[-1, 0] == pytest.approx([2.0, 0.0, 0.0] - impulse * normal, abs=1e-13)
    assert motion.velocity[-1, 1] == pytest.approx(impulse * normal / 3.0, abs=1e-13)
    assert motion.impacts.energy_lost == pytest.approx(
        [(1 - restitution**2) * (2 * normal[0]) ** 2 / (2 * (1 / 1.0 + 1 / 3.0))], abs=1e-13
    )


@pytest.mark.parametrize(("friction", "kind"), [(0.05, "slip"), (2.0, "stick")])
def test_rough_balls_against_the_closed_form(friction, kind):
    """One point: friction changes the relative velocity there by 7/2 of what it does to a particle."""
    spin, e, radius = np.array([0.0, 0.0, 30.0]), 0.7, 0.1
    motion = collide(e, friction, 0.0, spin)
    reduced = 1 / (1 / 1.0 + 1 / 3.0)
    push = (1 + e) * 2.0 * reduced
    slip = np.cross(spin, [radius, 0.0, 0.0])  # of the surface of the first over the second
    sideways = -slip * min(2 / 7 * reduced, friction * push / np.linalg.norm(slip))
    assert motion.velocity[-1, 0] == pytest.approx([2.0 - push, *sideways[1:]], abs=1e-13)
    assert motion.velocity[-1, 1] == pytest.approx(np.array([push, *-sideways[1:]]) / 3.0, abs=1e-13)
    turned = spin + np.cross([radius, 0.0, 0.0], sideways) / (0.4 * 1.0 * radius**2)
    assert motion.angular_velocity[-1, 0] == pytest.approx(turned, abs=1e-11)
    assert motion.impacts[0].kind == kind


def test_collisions_in_free_space_keep_momentum_and_angular_momentum():
    rng = np.random.default_rng(8)
    bodies = [BOX, ph.shapes.cylinder(0.08, 0.2, mass=2.0), ph.shapes.ellipsoid((0.15, 0.1, 0.07), mass=0.5)]
    states = [
        ph.State(
            position=p,
            velocity=-1.5 * np.array(p) + 0.1 * rng.normal(size=3),
            quaternion_wxyz=random_quaternions(rng, 1)[0],
            angular_velocity=4 * rng.normal(size=3),
        )
        for p in ((0.5, 0.0, 0.0), (-0.3, 0.4, 0.0), (-0.2, -0.4, 0.3))
    ]
    motion = ph.simulate(bodies, states, duration=2.0, output_step=0.02, contacts=[ph.between_bodies(0.8, 0.4)])
    assert len(motion.impacts) >= 3
    linear = motion.linear_momentum.sum(axis=1)
    mass = np.array([body.mass for body in bodies])
    orbital = np.cross(motion.position, mass[:, None] * motion.velocity)
    tensors = [np.asarray(body.inertia_body) for body in bodies]
    spins = [
        Rotation.from_quat(motion.quaternion_wxyz[:, b], scalar_first=True).apply(
            motion.angular_velocity_body[:, b] @ tensors[b]
        )
        for b in range(3)
    ]
    angular = orbital.sum(axis=1) + sum(spins)
    assert abs(linear - linear[0]).max() < 1e-14
    assert abs(angular - angular[0]).max() < 1e-13
    kinetic = motion.kinetic_energy.sum(axis=1)
    assert (np.diff(kinetic) < 1e-13).all()
    assert kinetic[0] - kinetic[-1] == pytest.approx(motion.impact_totals.energy_lost, rel=1e-10)


def test_three_boxes_on_each_other_carry_their_weights_for_an_hour():
    states = [ph.State(position=(0.01 * i, 0.005 * i, 0.05 + 0.1 * i)) for i in range(3)]
    surfaces = [ph.floor(0.2, 0.5), ph.between_bodies(0.2, 0.5)]
    motion = ph.simulate([BOX] * 3, states, GRAVITY, duration=3600.0, output_times=[1.0, 3600.0], contacts=surfaces)
    assert set(motion.contact_state[-1]) == {"resting"}
    assert np.array_equal(motion.position[0], motion.position[1])
    assert motion.contact_forces[-1] == pytest.approx(np.tile([0.0, 0.0, G], (3, 1)), abs=1e-11)
    assert abs(motion.position[-1] - [state.position for state in states]).max() < 1e-8


def test_a_block_on_a_slab_shares_its_momentum_by_friction():
    """On a smooth floor: the block slides on the slab until both move together, at its share of the momentum."""
    slab, block = ph.shapes.box((4.0, 1.0, 0.1), mass=4.0), ph.shapes.box((0.2, 0.2, 0.2), mass=1.0)
    v, mu = 1.5, 0.2
    until = v / (mu * G * (1 + 1 / 4))
    states = [ph.State(position=(0, 0, 0.05)), ph.State(position=(-1.0, 0.0, 0.2), velocity=(v, 0.0, 0.0))]
    surfaces = [ph.floor(), ph.between_bodies(0.0, mu)]
    times = [until / 2, 2 * until]
    motion = ph.simulate([slab, block], states, GRAVITY, duration=times[-1], output_times=times, contacts=surfaces)
    assert motion.velocity[0, :, 0] == pytest.approx([mu * G / 4 * times[0], v - mu * G * times[0]], rel=1e-7)
    assert motion.velocity[1, :, 0] == pytest.approx([v / 5, v / 5], rel=1e-7)
    slid = motion.position[1, 1, 0] - motion.position[1, 0, 0] + 1.0
    assert slid == pytest.approx(v * until / 2, rel=1e-7)
    assert list(motion.contact_state[0]) == ["sliding", "sliding"]


def test_a_ball_rolls_off_another():
    """Without friction a ball leaves a fixed one at cos(angle) = 2/3; the lower one is heavy and held by its mass."""
    low, high = ph.shapes.sphere(0.1, mass=1e9), ph.shapes.sphere(0.05, mass=1.0)
    tilt = 0.05
    top = 0.15 * np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    states = [ph.State(position=(0, 0, 0.1)), ph.State(position=np.array([0, 0, 0.1]) + top)]
    surfaces = [ph.floor(), ph.between_bodies()]
    motion = ph.simulate([low, high], states, GRAVITY, duration=0.6, output_step=1e-3, contacts=surfaces)
    away = motion.position[:, 1] - motion.position[:, 0]
    distance = np.linalg.norm(away, axis=-1)
    left = np.argmax(motion.contact_points[:, 1] == 0)
    assert abs(distance[:left] - 0.15).max() < 1e-10
    cosine = away[:, 2] / distance
    assert cosine[left - 1] > 2 / 3 * np.cos(tilt) > cosine[left]


def overlap_of_boxes(positions, quaternions):
    """How far two boxes are apart along the best of 15 axes (negative: how deep), at every output."""
    turned = [Rotation.from_quat(quaternions[:, b], scalar_first=True).as_matrix() for b in range(2)]
    axes = [turned[b][:, :, i] for b in range(2) for i in range(3)]
    axes += [np.cross(turned[0][:, :, i], turned[1][:, :, j]) for i in range(3) for j in range(3)]
    apart = positions[:, 1] - positions[:, 0]
    best = np.full(len(positions), -np.inf)
    for axis in axes:
        length = np.linalg.norm(axis, axis=-1)
        unit = axis / np.where(length > 1e-6, length, 1.0)[:, None]
        reach = sum(abs(np.einsum("tij,ti->tj", turned[b], unit)) @ HALF for b in range(2))
        best = np.where(length > 1e-6, np.maximum(best, abs((unit * apart).sum(-1)) - reach), best)
    return best


@pytest.mark.parametrize("seed", range(6))
def test_two_thrown_boxes_never_overlap_and_gain_no_energy(seed):
    rng = np.random.default_rng(seed)
    q = random_quaternions(rng, 2)
    e, mu = rng.uniform(0, 0.8), rng.uniform(0, 1)
    states = [
        ph.State(position=(0, 0, 0.25), quaternion_wxyz=q[0], angular_velocity_body=3 * rng.normal(size=3)),
        ph.State(
            position=(*0.08 * rng.normal(size=2), 0.7),
            quaternion_wxyz=q[1],
            angular_velocity_body=3 * rng.normal(size=3),
        ),
    ]
    surfaces = [ph.floor(e, mu), ph.between_bodies(e, mu)]
    motion = ph.simulate([BOX, BOX], states, GRAVITY, duration=2.0, output_step=0.01, contacts=surfaces)
    assert overlap_of_boxes(motion.position, motion.quaternion_wxyz).min() > -1e-9 * np.linalg.norm(HALF)
    total = motion.kinetic_energy.sum(axis=1) + G * motion.position[..., 2].sum(axis=1)
    assert np.diff(total).max() < 1e-8 * total[0]


def test_an_ensemble_of_pairs_has_the_bits_of_single_runs():
    rng = np.random.default_rng(2)
    q = random_quaternions(rng, 3)
    low = ph.State(position=(0, 0, 0.05))
    many = [low, ph.State(position=(0.02, 0.01, 0.4), quaternion_wxyz=q)]
    surfaces = [ph.floor(0.2, 0.5), ph.between_bodies(0.2, 0.5)]
    settings = {"duration": 0.6, "output_step": 0.05, "contacts": surfaces}
    together = ph.ensemble([BOX, BOX], many, GRAVITY, **settings)
    for i in range(3):
        alone = ph.simulate(
            [BOX, BOX], [low, ph.State(position=(0.02, 0.01, 0.4), quaternion_wxyz=q[i])], GRAVITY, **settings
        )
        assert np.array_equal(together.member(i).position, alone.position)
        assert np.array_equal(together.member(i).contact_forces, alone.contact_forces)


@pytest.mark.parametrize("apart", [0.0, 0.05, 0.0999])
def test_bodies_that_start_inside_each_other_are_refused(apart):
    states = [ph.State(position=(0, 0, 5)), ph.State(position=(0, 0, 1)), ph.State(position=(0, 0, 1 + apart))]
    with pytest.raises(
        ph.PolhodeError, match=r"body 1 starts inside body 2: the two overlap at t = 0 s\. Move them apart"
    ):
        ph.simulate([BOX] * 3, states, GRAVITY, duration=1.0, contacts=[ph.between_bodies()])


def test_a_member_whose_bodies_overlap_is_named():
    states = [ph.State(position=(0, 0, 1)), ph.State(position=[(0, 0, 3), (0, 0, 1.05)])]
    with pytest.raises(ph.PolhodeError, match="body 0 of member 1 starts inside body 1"):
        ph.ensemble([BOX, BOX], states, GRAVITY, duration=0.1, contacts=[ph.between_bodies()])
