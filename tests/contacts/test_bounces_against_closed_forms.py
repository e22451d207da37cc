"""Bouncing balls and particles against closed forms."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

import polhode as ph
from contact_reference import G

RADIUS, MASS, DROP = 0.1, 0.5, 1.0
BALL = ph.shapes.sphere(RADIUS, mass=MASS)
GRAVITY = [ph.forces.gravity(G)]
UP = np.array([0.0, 0.0, 1.0])


def drop(restitution, duration, **settings):
    start = ph.State(position=(0.2, -0.1, RADIUS + DROP))
    return ph.simulate(BALL, start, GRAVITY, duration=duration, contacts=[ph.floor(restitution)], **settings)


def bounce_times(e, n):
    """When a ball dropped from DROP strikes for the first n times, and its speed after each, to 40 digits."""
    with mpmath.workdps(40):
        first = mpmath.sqrt(2 * (mpmath.mpf(RADIUS + DROP) - mpmath.mpf(RADIUS)) / mpmath.mpf(G))
        e, times, speeds = mpmath.mpf(e), [first], [mpmath.mpf(e) * mpmath.mpf(G) * first]
        while len(times) < n:
            times.append(times[-1] + 2 * speeds[-1] / mpmath.mpf(G))
            speeds.append(speeds[-1] * e)
        return [float(t) for t in times], [float(v) for v in speeds], float(first * (1 + e) / (1 - e))


@pytest.mark.parametrize("e", [0.5, 0.8, 0.9])
def test_thirty_bounces_against_the_closed_form(e):
    times, speeds, rest = bounce_times(e, 30)
    motion = drop(e, min(times[29] * 1.001, (times[29] + rest) / 2))
    strikes = motion.impacts
    assert len(strikes) >= 30
    assert np.asarray(strikes.time)[:30] == pytest.approx(times, rel=1e-12)
    expected = [MASS * v * (1 + e) / e for v in speeds]
    assert np.asarray(strikes.normal_impulse)[:30] == pytest.approx(expected, rel=1e-12, abs=1e-12 * expected[0])
    lost = [MASS * v * v * (1 / e**2 - 1) / 2 for v in speeds]
    assert np.asarray(strikes.energy_lost)[:30] == pytest.approx(lost, rel=1e-11, abs=1e-12 * lost[0])


@pytest.mark.parametrize("e", [0.5, 0.8, 0.9])
def test_height_of_every_bounce_against_the_closed_form(e):
    times, speeds, _ = bounce_times(e, 30)
    tops = [t + v / G for t, v in zip(times, speeds, strict=True)]
    motion = drop(e, tops[-1] + 1e-3, output_times=[0.0, *tops])
    heights = motion.position[1:, 2] - RADIUS
    expected = np.array([v * v / (2 * G) for v in speeds])
    assert abs(heights - expected).max() < 1e-12 * DROP
    if e == 0.9:  # here even the last one is high above the rounding of the position
        assert heights == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("e", [0.5, 0.8, 0.9])
def test_a_ball_comes_to_rest_at_the_sum_of_all_bounces(e):
    rest = bounce_times(e, 1)[2]
    motion = drop(e, rest + 5.0, output_times=[rest + 0.001, rest + 1.0, rest + 5.0])
    settled = [impact.time for impact in motion.impacts if impact.kind == "settle"]
    assert len(settled) == 1
    assert settled[0] == pytest.approx(rest, rel=1e-14)
    assert abs(motion.position[:, 2] - RADIUS).max() < 1e-15
    assert not motion.velocity.any()
    assert list(np.ravel(motion.contact_state)) == ["resting"] * 3
    assert np.sum(motion.impacts.energy_lost) == pytest.approx(MASS * G * DROP, rel=1e-12)
    assert motion.contact_forces[-1] == pytest.approx([0.0, 0.0, MASS * G], rel=1e-14, abs=1e-14)


def test_without_restitution_a_ball_lands_and_stays():
    landing = bounce_times(0.5, 1)[0][0]
    motion = drop(0.0, 3.0, output_times=[landing / 2, landing + 1e-9, 1.0, 3.0])
    assert len(motion.impacts) == 1
    assert motion.impacts[0].time == pytest.approx(landing, rel=1e-14)
    assert motion.impacts[0].energy_lost == pytest.approx(MASS * G * DROP, rel=1e-13)
    assert abs(motion.position[1:, 2] - RADIUS).max() < 1e-15
    assert not motion.velocity[1:].any()


def spun_bounce(v, w, e, mu, normal=UP):
    """Velocity and spin of a solid ball after it struck a wall, and whether it gripped."""
    arm = -RADIUS * normal
    inertia = 2 * MASS * RADIUS**2 / 5
    contact = v + np.cross(w, arm)
    slip = contact - (contact @ normal) * normal
    push = (1 + e) * MASS * -(v @ normal)
    stop = 2 * MASS / 7 * np.linalg.norm(slip)  # brings the slip to zero: 1 / (1/m + r^2/I)
    tangential = -slip / np.linalg.norm(slip) * min(stop, mu * push)
    total = push * normal + tangential
    return v + total / MASS, w + np.cross(arm, total) / inertia, stop < mu * push


BOUNCES = {
    "backspin, slips": ((2.0, 0.0, -3.0), (0.0, -80.0, 0.0), 0.6, 0.1, False),
    "backspin, grips": ((2.0, 0.0, -3.0), (0.0, -30.0, 0.0), 0.6, 0.5, True),
    "topspin, slips": ((1.0, 0.0, -2.0), (0.0, 200.0, 0.0), 0.8, 0.2, False),
    "no spin, grips": ((1.0, 0.0, -2.0), (0.0, 0.0, 0.0), 1.0, 0.4, True),
    "any spin, slips": ((1.0, -2.0, -2.5), (70.0, 35.0, -50.0), 0.7, 0.15, False),
    "any spin, grips": ((1.0, -2.0, -2.5), (-20.0, 15.0, 40.0), 0.7, 0.6, True),
}


@pytest.mark.parametrize("case", BOUNCES)
def test_a_spinning_ball_against_the_closed_form(case):
    v, w, e, mu, grips = BOUNCES[case]
    expected_v, expected_w, gripped = spun_bounce(np.array(v), np.array(w), e, mu)
    assert gripped == grips
    start = ph.State(position=(0.0, 0.0, 1.0), velocity=v, angular_velocity=w)
    motion = ph.simulate(BALL, start, duration=1.0, output_times=[1.0], contacts=[ph.floor(e, mu)])
    assert motion.final.velocity == pytest.approx(expected_v, rel=1e-13, abs=1e-13)
    assert motion.angular_velocity[-1] == pytest.approx(expected_w, rel=1e-12, abs=1e-11)
    assert [impact.kind for impact in motion.impacts] == ["stick" if grips else "slip"]
    after = MASS * (np.array(expected_v) - v)
    assert motion.impacts[0].tangential_impulse == pytest.approx([after[0], after[1], 0.0], rel=1e-12, abs=1e-13)
    assert motion.impacts[0].time == pytest.approx((1.0 - RADIUS) / -v[2], rel=1e-14)


def test_a_spinning_ball_against_a_slanted_wall():
    normal = np.array([2.0, -1.0, 2.0]) / 3
    v, w = np.array([-1.0, 0.5, -2.0]), np.array([30.0, -60.0, 20.0])
    expected_v, expected_w, _ = spun_bounce(v, w, 0.5, 0.2, normal)
    start = ph.State(position=normal, velocity=v, angular_velocity=w)
    motion = ph.simulate(BALL, start, duration=1.0, output_times=[1.0], contacts=[ph.wall(normal, (0, 0, 0), 0.5, 0.2)])
    assert len(motion.impacts) == 1
    assert motion.final.velocity == pytest.approx(expected_v, rel=1e-13)
    assert motion.angular_velocity[-1] == pytest.approx(expected_w, rel=1e-12)
    assert motion.impacts[0].normal == pytest.approx(normal, rel=1e-14)


def unfolded(x, length):
    """Where a particle is between two mirrors at 0 and `length`, from where it would be without them."""
    return length - abs(x % (2 * length) - length)


def test_a_particle_between_six_walls_against_unfolding():
    sides, v, x = np.array([1.0, 1.3, 0.7]), np.array([1.0, 0.61, -0.37]), np.array([0.3, 0.4, 0.2])
    walls = [ph.wall(side, (0, 0, 0), 1.0, name=f"low {i}") for i, side in enumerate(np.eye(3))]
    walls += [ph.wall(-side, sides, 1.0, name=f"high {i}") for i, side in enumerate(np.eye(3))]
    times = np.linspace(0.0, 200.0, 401)
    motion = ph.simulate(
        ph.particle(2.0), ph.State(position=x, velocity=v), duration=200.0, output_times=times, contacts=walls
    )
    assert motion.position == pytest.approx(unfolded(x + np.multiply.outer(times, v), sides), abs=1e-12)
    assert len(motion.impacts) == int((abs(np.floor((x + 200.0 * v) / sides))).sum())


def test_a_particle_in_a_corner_turns_back():
    walls = [ph.wall(side, (0, 0, 0), 0.5, name=f"wall {i}") for i, side in enumerate(np.eye(3))]
    start = ph.State(position=(1.0, 1.0, 1.0), velocity=(-2.0, -2.0, -2.0))
    motion = ph.simulate(ph.particle(1.0), start, duration=1.0, output_times=[1.0], contacts=walls)
    assert motion.final.velocity == pytest.approx([1.0, 1.0, 1.0], rel=1e-14)
    assert motion.final.position == pytest.approx([0.5, 0.5, 0.5], rel=1e-14)
    assert sum(motion.impacts.energy_lost) == pytest.approx(6.0 - 1.5, rel=1e-14)


def test_a_particle_in_a_wedge_against_unfolding():
    """Mirrors at 0 and 60 degrees: the path is a straight line past their images."""
    corner = math.radians(60)
    walls = [
        ph.wall((0, 1, 0), (0, 0, 0), 1.0, name="flat"),
        ph.wall((math.sin(corner), -math.cos(corner), 0), (0, 0, 0), 1.0, name="steep"),
    ]
    x, v = np.array([2.0, 1.0, 0.0]), np.array([-1.0, -0.3, 0.0])
    motion = ph.simulate(
        ph.particle(1.0), ph.State(position=x, velocity=v), duration=9.0, output_times=[9.0], contacts=walls
    )
    straight = x + 9.0 * v
    radius, angle = math.hypot(*straight[:2]), math.atan2(straight[1], straight[0]) % (2 * corner)
    angle = min(angle, 2 * corner - angle)
    assert motion.final.position == pytest.approx([radius * math.cos(angle), radius * math.sin(angle), 0.0], abs=1e-13)
