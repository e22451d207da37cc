"""Resting, sliding, rolling and tipping against closed forms, and against SciPy's integration of the Lagrangian."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import polhode as ph
from contact_reference import G

GRAVITY = [ph.forces.gravity(G)]
BOX = ph.shapes.box((0.3, 0.2, 0.1), mass=2.0)


def about_y(angle):
    return Rotation.from_rotvec([0.0, angle, 0.0])


def downhill(angle):
    return np.array([math.cos(angle), 0.0, -math.sin(angle)])


def on_slope(body, height, angle, friction, **settings):
    """A body whose center stands `height` over a slope, along its normal, at rest."""
    up = np.array([math.sin(angle), 0.0, math.cos(angle)])
    start = ph.State(position=height * up, orientation=about_y(angle))
    return ph.simulate(body, start, GRAVITY, contacts=[ph.slope(angle, friction=friction)], **settings)


@pytest.mark.parametrize("degrees", [15.0, 16.6])
def test_a_box_rests_on_a_slope_for_an_hour(degrees):
    motion = on_slope(BOX, 0.05, math.radians(degrees), 0.3, duration=3600.0, output_times=[0.0, 1.0, 60.0, 3600.0])
    assert abs(motion.position - motion.position[0]).max() < 1e-12
    assert motion.contact_state[-1] == "resting"
    assert motion.contact_forces[-1] == pytest.approx([0.0, 0.0, 2.0 * G], abs=1e-12)


def test_a_box_dropped_on_a_slope_comes_to_rest_and_stays():
    angle = math.radians(15.0)
    motion = on_slope(BOX, 0.06, angle, 0.3, duration=3600.0, output_times=[10.0, 1000.0, 3600.0])
    assert (motion.position[1:] == motion.position[0]).all()
    assert not motion.velocity.any()


@pytest.mark.parametrize("degrees", [17.2, 30.0])
def test_a_box_slides_down_a_steeper_slope_with_the_right_acceleration(degrees):
    angle, times = math.radians(degrees), np.array([0.0, 0.5, 1.0, 2.0])
    motion = on_slope(BOX, 0.05, angle, 0.3, duration=2.0, output_times=times, rtol=1e-11)
    acceleration = G * (math.sin(angle) - 0.3 * math.cos(angle))
    path = (motion.position - motion.position[0]) @ downhill(angle)
    assert path[1:] == pytest.approx(acceleration * times[1:] ** 2 / 2, rel=1e-9)
    assert motion.velocity[1:] @ downhill(angle) == pytest.approx(acceleration * times[1:], rel=1e-9)
    assert motion.contact_state[-1] == "sliding"


@pytest.mark.parametrize(("name", "ratio"), [("sphere", 2 / 5), ("cylinder", 1 / 2), ("ring", 1.0)])
def test_round_bodies_roll_down_a_slope_with_the_right_acceleration(name, ratio):
    radius, angle, times = 0.1, math.radians(20.0), np.array([0.0, 0.5, 1.0, 2.0])
    lying = Rotation.from_rotvec([math.pi / 2, 0.0, 0.0])  # the axis of symmetry along y
    body = {
        "sphere": ph.shapes.sphere(radius, mass=1.5),
        "cylinder": ph.shapes.cylinder(radius, 0.3, mass=1.5).turn(lying),
        "ring": ph.shapes.tube(radius, radius * (1 - 1e-9), 0.2, mass=1.5).turn(lying),
    }[name]
    motion = on_slope(body, radius, angle, 0.5, duration=2.0, output_times=times)
    acceleration = G * math.sin(angle) / (1 + ratio)
    path = (motion.position - motion.position[0]) @ downhill(angle)
    assert path[1:] == pytest.approx(acceleration * times[1:] ** 2 / 2, rel=1e-8)
    assert motion.angular_velocity[1:, 1] == pytest.approx(acceleration * times[1:] / radius, rel=1e-8)
    assert motion.contact_state[-1] == "rolling"


def test_a_sphere_on_a_slippery_slope_slides_and_turns():
    radius, angle, mu, t = 0.1, math.radians(40.0), 0.1, 1.5
    motion = on_slope(ph.shapes.sphere(radius, mass=1.5), radius, angle, mu, duration=t, output_times=[t])
    acceleration = G * (math.sin(angle) - mu * math.cos(angle))
    assert motion.velocity[-1] @ downhill(angle) == pytest.approx(acceleration * t, rel=1e-9)
    assert motion.angular_velocity[-1, 1] == pytest.approx(5 / 2 * mu * G * math.cos(angle) * t / radius, rel=1e-9)


def test_a_bowling_ball_slides_and_then_rolls():
    radius, v, mu = 0.11, 7.0, 0.12
    change = 2 * v / (7 * mu * G)
    times = np.array([change / 2, change * 0.999, change * 1.001, 2 * change, 3 * change])
    start = ph.State(position=(0.0, 0.0, radius), velocity=(v, 0.0, 0.0))
    motion = ph.simulate(
        ph.shapes.sphere(radius, mass=6.0), start, GRAVITY, duration=times[-1], output_times=times,
        contacts=[ph.floor(friction=mu)],
    )  # fmt: skip
    slid = np.minimum(times, change)
    path = v * slid - mu * G * slid**2 / 2 + 5 / 7 * v * (times - slid)
    assert motion.position[:, 0] == pytest.approx(path, rel=1e-9)
    assert motion.velocity[:, 0] == pytest.approx(v - mu * G * slid, rel=1e-9)
    assert motion.velocity[-1, 0] == pytest.approx(5 / 7 * v, rel=1e-9)
    assert list(motion.contact_state) == ["sliding", "sliding", "rolling", "rolling", "rolling"]
    assert motion.position[:, 2] == pytest.approx(np.full(5, radius), abs=1e-11)


def test_a_ball_spinning_sideways_slides_on_a_parabola():
    """While it slides, the direction of slip does not change: the path is a parabola.  Then it rolls straight on."""
    radius, mu, v, w = 0.11, 0.2, np.array([3.0, 0.0, 0.0]), np.array([-20.0, -10.0, 0.0])
    slip = v + np.cross(w, [0.0, 0.0, -radius])
    size = np.linalg.norm(slip)
    change = 2 * size / (7 * mu * G)
    start = ph.State(position=(0.0, 0.0, radius), velocity=v, angular_velocity=w)
    times = [change / 2, 2 * change]
    motion = ph.simulate(
        ph.shapes.sphere(radius, mass=6.0), start, GRAVITY, duration=times[-1], output_times=times,
        contacts=[ph.floor(friction=mu)],
    )  # fmt: skip
    push = -mu * G * slip / size
    rolling = v + push * change
    expected = [v * times[0] + push * times[0] ** 2 / 2, v * change + push * change**2 / 2 + rolling * change]
    assert motion.position[:, :2] == pytest.approx(np.array(expected)[:, :2], rel=1e-9)


def test_a_sliding_block_stops_and_stays():
    v, mu = 2.0, 0.3
    stop = v / (mu * G)
    times = [stop / 2, stop, stop + 1.0, 100.0]
    start = ph.State(position=(0.0, 0.0, 0.05), velocity=(v, 0.0, 0.0))
    motion = ph.simulate(BOX, start, GRAVITY, duration=100.0, output_times=times, contacts=[ph.floor(friction=mu)])
    assert motion.position[0, 0] == pytest.approx(v * stop / 2 - mu * G * stop**2 / 8, rel=1e-10)
    assert motion.position[2:, 0] == pytest.approx([v * v / (2 * mu * G)] * 2, rel=1e-10)
    assert (motion.position[3] == motion.position[2]).all()
    assert not motion.velocity[2:].any()
    assert list(motion.contact_state)[2:] == ["resting", "resting"]


def test_a_spinning_block_on_a_corner_free_floor_keeps_its_spin_without_friction():
    start = ph.State(position=(0.0, 0.0, 0.05), velocity=(0.4, 0.0, 0.0), angular_velocity=(0.0, 0.0, 3.0))
    motion = ph.simulate(BOX, start, GRAVITY, duration=10.0, output_times=[10.0], contacts=[ph.floor()])
    assert motion.angular_velocity[-1] == pytest.approx([0.0, 0.0, 3.0], abs=1e-10)
    assert motion.position[-1] == pytest.approx([4.0, 0.0, 0.05], abs=1e-9)


def test_a_disk_rolls_in_a_circle_against_steady_precession():
    """(I3 + m a^2) w3 W sin th - I1 W^2 sin th cos th + m g a cos th = 0, th between the axis and the vertical."""
    a, theta, precession = 0.25, math.radians(65.0), 2.5
    sine, cosine = math.sin(theta), math.cos(theta)
    spin = (precession**2 * sine * cosine / 4 - G / a * cosine) / (3 / 2 * precession * sine)
    # axis e3 leans toward -y; e1 = x is horizontal, e2 points up in the plane of the disk
    e1, e2, e3 = np.array([1.0, 0, 0]), np.array([0.0, cosine, sine]), np.array([0.0, -sine, cosine])
    w = precession * sine * e2 + spin * e3
    v = np.cross(w, a * e2)
    start = ph.State(
        position=(0.0, 0.0, a * sine),
        velocity=v,
        orientation=Rotation.from_matrix(np.stack([e1, e2, e3], axis=1)),
        angular_velocity=w,
    )
    times = np.linspace(0.0, 2 * math.pi / precession, 9)
    motion = ph.simulate(
        ph.shapes.thin_disk(a, mass=0.8), start, GRAVITY, duration=times[-1], output_times=times,
        contacts=[ph.floor(friction=2.0)],
    )  # fmt: skip
    center = np.array([0.0, v[0] / precession, a * sine])  # a circle about it: v = W z x (r - center)
    turned = Rotation.from_rotvec(np.multiply.outer(precession * times, [0.0, 0.0, 1.0]))
    assert motion.position == pytest.approx(center + turned.apply(motion.position[0] - center), abs=1e-7)
    assert motion.velocity == pytest.approx(turned.apply(v), abs=1e-6)
    assert motion.angular_velocity == pytest.approx(turned.apply(w), abs=1e-6)
    assert set(motion.contact_state) == {"rolling"}


def test_a_box_tips_over_its_edge_like_a_pendulum_by_scipy():
    sides, mass, lean = (0.2, 0.5, 0.6), 3.0, 0.15
    arm = math.hypot(sides[0], sides[2]) / 2
    balance = math.atan2(sides[0], sides[2])
    moment = mass * (sides[0] ** 2 + sides[2] ** 2) / 12 + mass * arm * arm

    def fall(t, y):
        return [y[1], mass * G * arm * math.sin(y[0]) / moment]

    times = np.linspace(0.0, 0.5, 12)
    truth = solve_ivp(fall, (0.0, times[-1]), [lean, 0.0], t_eval=times, rtol=1e-12, atol=1e-14, method="DOP853").y
    turn, rate = truth
    assert turn[-1] < math.pi / 2 - balance  # not yet on its side
    push = 1 - 3 / 4 * np.sin(turn) ** 2 - rate**2 * np.cos(turn) * arm / G  # of the floor, in units of the weight
    pull = 3 / 4 * np.sin(turn) * np.cos(turn) - rate**2 * np.sin(turn) * arm / G
    assert (abs(pull) < 2.5 * push).all()  # does not slip yet
    # leaning to +x over the edge x = +side/2: turned by balance + lean
    start = ph.State(position=(arm * math.sin(lean), 0.0, arm * math.cos(lean)), orientation=about_y(balance + lean))
    motion = ph.simulate(
        ph.shapes.box(sides, mass=mass), start, GRAVITY, duration=times[-1], output_times=times,
        contacts=[ph.floor(friction=3.0)],
    )  # fmt: skip
    angle = np.arctan2(motion.position[:, 0], motion.position[:, 2])
    assert angle == pytest.approx(truth[0], abs=1e-8)
    assert motion.angular_velocity[:, 1] == pytest.approx(truth[1], abs=1e-7)
    assert np.hypot(motion.position[:, 0], motion.position[:, 2]) == pytest.approx(np.full(12, arm), abs=1e-9)


@pytest.mark.parametrize("grips", [False, True])
def test_a_rocking_ellipsoid_against_its_lagrangian_by_scipy(grips):
    """In the plane: height h(phi); the center keeps its x without friction, and moves by h phi' where it rolls."""
    a, b, c, mass = 0.3, 0.2, 0.15, 1.2
    moment = mass * (a * a + c * c) / 5

    def height(phi):
        h = math.sqrt((a * math.sin(phi)) ** 2 + (c * math.cos(phi)) ** 2)
        first = (a * a - c * c) * math.sin(phi) * math.cos(phi) / h
        return h, first, ((a * a - c * c) * math.cos(2 * phi) - first * first) / h

    def rock(t, y):
        h, first, second = height(y[0])
        inertia = moment + mass * (first * first + (h * h if grips else 0.0))
        half_slope = mass * first * (second + (h if grips else 0.0))
        return [y[1], (-half_slope * y[1] ** 2 - mass * G * first) / inertia, h * y[1] if grips else 0.0]

    times = np.linspace(0.0, 3.0, 31)
    truth = solve_ivp(rock, (0, 3.0), [0.6, 0.0, 0.0], t_eval=times, rtol=1e-12, atol=1e-14, method="DOP853").y
    start = ph.State(position=(0.0, 0.0, height(0.6)[0]), orientation=about_y(0.6))
    motion = ph.simulate(
        ph.shapes.ellipsoid((a, b, c), mass=mass), start, GRAVITY, duration=3.0, output_times=times,
        contacts=[ph.floor(friction=5.0 if grips else 0.0)],
    )  # fmt: skip
    q = motion.quaternion_wxyz
    assert 2 * np.arctan2(q[:, 2], q[:, 0]) == pytest.approx(truth[0], abs=1e-7)
    assert motion.angular_velocity[:, 1] == pytest.approx(truth[1], abs=1e-6)
    assert motion.position[:, 0] == pytest.approx(truth[2], abs=1e-7)
    assert motion.position[:, 2] == pytest.approx([height(phi)[0] for phi in truth[0]], abs=1e-8)


def test_a_box_pushed_over_the_limit_of_friction_starts_to_slide():
    """A growing force: it rests until F = mu m g, and then slides with the difference."""

    @ph.force
    def ramp(t, state, body, params):
        return (params[0] * t, 0.0, 0.0), (0.0, 0.0, 0.0)

    mass, mu, rate = 2.0, 0.3, 2.0
    begins = mu * mass * G / rate
    start = ph.State(position=(0.0, 0.0, 0.05))
    motion = ph.simulate(
        BOX, start, [*GRAVITY, ramp(rate)], duration=begins + 1.0, output_times=[begins - 0.01, begins + 1.0],
        contacts=[ph.floor(friction=mu)], method="dop853", rtol=1e-11,
    )  # fmt: skip
    assert abs(motion.velocity[0]).max() < 1e-12
    assert motion.velocity[1, 0] == pytest.approx(rate / mass / 2, rel=1e-7)
    assert motion.position[1, 0] == pytest.approx(rate / mass / 6, rel=1e-7)


def test_a_ball_lifted_by_a_force_leaves_the_floor():
    @ph.force
    def lift(t, state, body, params):
        return (0.0, 0.0, params[0] * t), (0.0, 0.0, 0.0)

    mass, rate = 2.0, 10.0
    leaves = mass * G / rate
    ball = ph.shapes.sphere(0.1, mass=mass)
    motion = ph.simulate(
        ball, ph.State(position=(0, 0, 0.1)), [*GRAVITY, lift(rate)], duration=leaves + 1.0,
        output_times=[leaves - 0.01, leaves + 1.0], contacts=[ph.floor(0.5, 0.3)], method="dop853", rtol=1e-11,
    )  # fmt: skip
    assert motion.position[:, 2] - 0.1 == pytest.approx([0.0, rate / mass / 6], rel=1e-7, abs=1e-12)
    assert list(motion.contact_state) == ["resting", "flight"]
