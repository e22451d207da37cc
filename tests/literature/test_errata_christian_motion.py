"""Errata of [Christian 2011] (docs/reference/errata.md), motion: the printed form fails, the corrected one holds."""

from fractions import Fraction

import numpy as np
import pytest
import sympy
from scipy.spatial.transform import Rotation

import polhode as ph
from independent_formulas import conjugate, cross, matrix, orders, product, pure

UNIT = np.array([Fraction(c, 2) for c in (1, 1, -1, 1)])  # a rotation by 120 degrees, in fractions
SPIN = np.array([Fraction(c) for c in (1, 2, -3)])  # body axes
ARM = np.array([Fraction(c) for c in (2, -1, 5)])  # a point of the body
RATE = product(UNIT, pure(SPIN)) / 2  # q' = q (0, w)/2
IS_CENTER, IS, I3, SIXTY = 0.202, 1.202, 0.4, np.radians(60.0)  # the gyroscope of 17.6, M = g = z0 = 1


def gyroscope(precession, gravity=(0.0, 0.0, -1.0), duration=2.0):
    """Spun at 10 rad/s, 60 degrees from the vertical, on its pivot."""
    spin = (0.0, precession * np.sin(SIXTY), 10.0)
    start = ph.State(orientation=Rotation.from_euler("x", SIXTY), angular_velocity_body=spin)
    top = ph.Body(mass=1.0, inertia=(IS_CENTER, IS_CENTER, I3))
    forces = [ph.forces.gravity(gravity)]
    motion = ph.simulate(top, start, forces, duration=duration, step=1e-3, method="rk4", pivot=(0, 0, -1.0))
    return motion.euler_angles[:, 1]


def test_in_17_34_the_components_change_not_the_vector():
    """[(17.34)]  A free body: L rests in space, its body components change at L x w; differences fall with order 2."""
    body = ph.Body(mass=1.0, inertia=(2.0, 3.0, 4.0))
    errors = []
    for h in (1 / 16, 1 / 32, 1 / 64):
        motion = ph.simulate(
            body,
            ph.State(angular_velocity_body=(1.0, 0.4, 0.7)),
            duration=2.0,
            output_times=[1 - h, 1.0, 1 + h],
            method="exact",
        )
        components = motion.angular_velocity_body * (2.0, 3.0, 4.0)
        slope = (components[2] - components[0]) / (2 * h)
        errors.append(np.linalg.norm(slope - np.cross(components[1], motion.angular_velocity_body[1])))
        assert motion.angular_momentum[2] == pytest.approx(motion.angular_momentum[0], abs=1e-14)
        assert np.linalg.norm(slope) > 0.1
    assert orders(errors) == pytest.approx(2, abs=0.05)


def test_a_body_omega_multiplies_from_the_right():
    """[17.5]  A point of the body must move at (R w) x (R r), in fractions; from the left it moves at w x (R r)."""

    def velocity(rate):
        whole = product(product(rate, pure(ARM)), conjugate(UNIT)) + product(product(UNIT, pure(ARM)), conjugate(rate))
        return whole[1:]

    turn = matrix(UNIT)
    assert (velocity(product(UNIT, pure(SPIN)) / 2) == cross(turn @ SPIN, turn @ ARM)).all()
    left = velocity(product(pure(SPIN), UNIT) / 2)
    assert (left == cross(SPIN, turn @ ARM)).all()
    assert (left != cross(turn @ SPIN, turn @ ARM)).any()


def test_17_39_ends_with_q_times_the_rate_of_q_star():
    """In fractions: r' = q' q* r + r q q*', and both forms printed behind it agree only so."""
    r = pure(matrix(UNIT) @ ARM)
    first = product(product(RATE, conjugate(UNIT)), r)
    right = first + product(r, product(UNIT, conjugate(RATE)))
    printed = first + product(r, product(RATE, conjugate(UNIT)))
    velocity = pure(cross(matrix(UNIT) @ SPIN, matrix(UNIT) @ ARM))
    assert (right == velocity).all()
    assert (first - product(r, product(RATE, conjugate(UNIT))) == velocity).all()
    assert (printed != velocity).any()


def test_17_41_gives_world_components_and_q_star_q_rate_those_of_the_body():
    """In fractions: 2 q' q* = (0, R w), 2 q* q' = (0, w), and (17.42) is the latter."""
    world, body = 2 * product(RATE, conjugate(UNIT)), 2 * product(conjugate(UNIT), RATE)
    assert (world == pure(matrix(UNIT) @ SPIN)).all()
    assert (body == pure(SPIN)).all()
    q0, q1, q2, q3 = UNIT
    w = np.array([[-q1, q0, q3, -q2], [-q2, -q3, q0, q1], [-q3, q2, -q1, q0], [q0, q1, q2, q3]])
    assert (2 * w @ RATE == [*SPIN, 0]).all()
    assert (world != body).any()


def plate(h, middle, degrees=10.0):
    """1 s of the code after (17.46) for a plate at 10 rad/s: q' at t as printed, or at t + h/2."""
    moments, q = np.array((1.0, 1.0, 2.0)), np.array((1.0, 0.0, 0.0, 0.0))
    momentum = moments * (20 * np.tan(np.radians(degrees)), 0.0, 10.0)

    def rate(q):
        return product(q, pure(matrix(q).T @ momentum / moments)) / 2

    for _ in range(round(1 / h)):
        at = q
        if middle:
            at = q + h / 2 * rate(q)
            at = at / np.linalg.norm(at)
        q = q + h * rate(at)
        q = q / np.linalg.norm(q)
    spin = matrix(q).T @ momentum / moments
    exact = Rotation.from_rotvec(momentum) * Rotation.from_rotvec((0, 0, -10.0))
    error = (Rotation.from_quat(q, scalar_first=True) * exact.inv()).magnitude()
    start = momentum / moments
    return error, (spin @ (moments * spin)) / (start @ (moments * start)) - 1


def test_the_code_behind_17_46_is_explicit_euler():
    """Order 1, and 3.5 % energy in 1 s at 4 ms; with q' at t + h/2, as (17.46) says, order 2.  By the closed form."""
    steps = (4e-3, 2e-3, 1e-3)
    printed, right = ([plate(h, middle) for h in steps] for middle in (False, True))
    assert orders([error for error, _ in printed]) == pytest.approx(1, abs=0.2)
    assert orders([error for error, _ in right]) == pytest.approx(2, abs=0.05)
    assert printed[0][1] == pytest.approx(0.035, abs=5e-4)
    assert abs(right[0][1]) < 1e-4
    on_the_axis = [plate(h, middle=False, degrees=0.0) for h in steps]  # where nothing of it shows
    assert orders([error for error, _ in on_the_axis]) == pytest.approx(2, abs=0.05)
    assert abs(on_the_axis[0][1]) < 1e-12


def test_17_48_differentiates_q_star_q_rate():
    """By SymPy, for any q(t): (q* q')' = q*' q' + q* q''; q* q itself is 1, and its rate says nothing."""
    t = sympy.symbols("t")
    q = np.array([sympy.Function(f"q{i}")(t) for i in range(4)])
    rate, second = (np.array([c.diff(t, n) for c in q]) for n in (1, 2))
    left = [c.diff(t) for c in product(conjugate(q), rate)]
    right = product(conjugate(rate), rate) + product(conjugate(q), second)
    assert [sympy.expand(a - b) for a, b in zip(left, right, strict=True)] == [0, 0, 0, 0]
    printed = product(conjugate(rate), q) + product(conjugate(q), rate)
    assert [sympy.expand(c) for c in printed[1:]] == [0, 0, 0]  # what is left is (abs(q)^2)' = 0
    assert sympy.expand(printed[0] - (sum(c * c for c in q)).diff(t)) == 0


def test_gravity_pulls_down():
    """[17.6]  Released, the axis sinks towards 68.26 degrees; with gravity along +z it rises."""
    down, up = gyroscope(0.0, duration=1.0), gyroscope(0.0, gravity=(0.0, 0.0, 1.0), duration=1.0)
    assert np.degrees(down.max()) == pytest.approx(68.2622295, abs=1e-2)
    assert down.min() > SIXTY - 1e-9
    assert np.degrees(up.min()) < 55


def test_the_steady_rates_need_the_moment_about_the_pivot():
    """[17.6, (17.51)]  Is cos(theta) p^2 - I3 w3 p + M g l = 0: with Is about the pivot theta stays, else not."""
    for moment, stays in ((IS, True), (IS_CENTER, False)):
        fast = max(np.roots((moment * np.cos(SIXTY), -I3 * 10.0, 1.0)))
        away = np.abs(gyroscope(fast) - SIXTY).max()
        assert (away < 1e-8) if stays else (away > 0.5)
    assert I3 * 10 / (IS * np.cos(SIXTY)) == pytest.approx(6.6555740, abs=5e-8)  # (17.51a) with the right moment


def test_omega_3_is_constant_for_two_equal_moments():
    """[problem 17.6]  (17.35c) in fractions: I1 = I2 is enough, and needed where w1 w2 is not 0."""
    w1, w2 = Fraction(3), Fraction(-2)
    rate = {moments: Fraction(moments[0] - moments[1], moments[2]) * w1 * w2 for moments in ((2, 2, 3), (2, 3, 4))}
    assert rate[2, 2, 3] == 0 != rate[2, 3, 4]
    for moments, constant in (((2.0, 2.0, 3.0), True), ((2.0, 3.0, 4.0), False)):
        body = ph.Body(mass=1.0, inertia=moments)
        motion = ph.simulate(body, ph.State(angular_velocity_body=(3, -2, 1)), duration=3.0, method="exact")
        change = np.ptp(motion.angular_velocity_body[:, 2])
        assert (change < 1e-13) if constant else (change > 1.0)
