"""Gravity on an extended body against a cloud of point masses; a spring of no length through its anchor."""

from fractions import Fraction
from itertools import pairwise
from math import cos, exp, log2, sin, sqrt

import mpmath
import numpy as np
import pytest

from law_samples import BODY, vector
from polhode.equations import force_laws, quaternions, right_hand_side
from polhode.equations.formulations import FORMULATIONS, StateView
from polhode.equations.inertia import BodyConstants
from polhode.equations.vectors import cross
from polhode.methods.runge_kutta import build_step
from polhode.methods.tableaus import RK4
from scalar_types import mapped

ZERO = (0.0, 0.0, 0.0)


# A cloud far from the attracting point ------------------------------------------------------------------------------
def cloud():
    """Point masses about their center of mass, and the body that they make: principal moments and axes by NumPy."""
    rng = np.random.default_rng(11)
    masses, points = rng.uniform(1, 3, 8), rng.uniform(-1, 1, (8, 3))
    points -= masses @ points / masses.sum()
    tensor = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, points, strict=True))
    moments, columns = np.linalg.eigh(tensor)
    columns[:, 2] *= np.linalg.det(columns)
    axes = quaternions.from_matrix(tuple(columns.ravel().tolist()))
    body = BodyConstants(masses.sum(), 1 / masses.sum(), tuple(moments), tuple(1 / moments), axes, ZERO)
    return masses, points, mapped(float, body)


MASSES, POINTS, CLOUD = cloud()
GM, ATTITUDE = 7.0, (0.3, -0.5, 0.7, 0.2)


def from_the_cloud(r):
    """Force and torque of a point at the origin on the cloud at r, summed in mpmath."""
    with mpmath.workdps(40):
        force, torque = [mpmath.mpf(0)] * 3, [mpmath.mpf(0)] * 3
        for m, p in zip(MASSES.tolist(), POINTS.tolist(), strict=True):
            arm = quaternions.to_world(mapped(mpmath.mpf, ATTITUDE), mapped(mpmath.mpf, tuple(p)))
            place = [a + b for a, b in zip(r, arm, strict=True)]
            pull = [-GM * m * x / mpmath.sqrt(sum(y * y for y in place)) ** 3 for x in place]
            twist = cross(arm, pull)
            force = [a + b for a, b in zip(force, pull, strict=True)]
            torque = [a + b for a, b in zip(torque, twist, strict=True)]
        return np.array([float(x) for x in force]), np.array([float(x) for x in torque])


def from_the_law(r):
    state = StateView(tuple(r), ATTITUDE, ZERO, ZERO, ZERO, ZERO, ZERO)
    force, torque = force_laws.point_gravity(0.0, state, CLOUD, (GM, ZERO))
    return np.array(force), np.array(torque)


def test_the_gravity_gradient_against_a_cloud_of_particles():
    """The torque falls with r^-3 and is wrong by r^-4; the force falls with r^-2 and is wrong by r^-4."""
    direction = np.array([2.0, 3.0, 6.0]) / 7
    torques, torque_errors, force_errors = [], [], []
    for distance in (32.0, 64.0, 128.0, 256.0):
        r = tuple((distance * direction).tolist())
        (force, torque), (true_force, true_torque) = from_the_law(r), from_the_cloud(r)
        torques.append(np.linalg.norm(torque))
        torque_errors.append(np.linalg.norm(torque - true_torque))
        force_errors.append(np.linalg.norm(force - true_force))
    assert all(2.99 < log2(a / b) < 3.01 for a, b in pairwise(torques))
    assert all(3.9 < log2(a / b) < 4.1 for a, b in pairwise(torque_errors))
    assert all(3.9 < log2(a / b) < 4.1 for a, b in pairwise(force_errors))


def test_the_gravity_gradient_about_another_center():
    """Only the way from the center counts."""
    r, center = (3.0, 4.0, 12.0), (100.0, -50.0, 25.0)
    shifted = StateView(tuple(a + b for a, b in zip(r, center, strict=True)), ATTITUDE, ZERO, ZERO, ZERO, ZERO, ZERO)
    np.testing.assert_array_equal(force_laws.point_gravity(0.0, shifted, CLOUD, (GM, center)), from_the_law(r))


def test_a_sphere_feels_no_gravity_gradient_and_a_principal_axis_along_the_line_none_either():
    sphere = CLOUD._replace(moments=(2.0, 2.0, 2.0))
    state = StateView((3.0, 4.0, 12.0), ATTITUDE, ZERO, ZERO, ZERO, ZERO, ZERO)
    np.testing.assert_allclose(force_laws.point_gravity(0.0, state, sphere, (GM, ZERO))[1], 0, atol=1e-17)
    upright = StateView(vector(0, 5, 0), vector(1, 0, 0, 0), *[vector(0, 0, 0)] * 5)
    aligned = BODY._replace(axes=vector(1, 0, 0, 0))
    pull = vector(0, -7 * BODY.mass / 25, 0)
    assert force_laws.point_gravity(0, upright, aligned, (Fraction(7), vector(0, 0, 0))) == (pull, vector(0, 0, 0))


# A spring of no length ----------------------------------------------------------------------------------------------
def test_a_spring_has_no_direction_at_its_anchor_and_pulls_nowhere():
    for length in (0.0, 2.0):
        assert force_laws.spring_force(ZERO, (1.0, 2.0, 3.0), 40.0, 3.0, length) == ZERO
    away = (np.array([0.0, 3.0]), np.array([0.0, 0.0]), np.array([0.0, 4.0]))
    lanes = force_laws.spring_force(away, ZERO, 40.0, 3.0, 1.0)
    np.testing.assert_array_equal(np.array(lanes).T, [[0, 0, 0], [-96, 0, -128]])


def test_a_spring_of_no_length_is_linear_through_its_anchor():
    for x in (1e-200, 1e-8, 0.5, -3.0):
        assert force_laws.spring_force((x, 0.0, 0.0), ZERO, 40.0, 0.0, 0.0)[0] == -40.0 * x


@pytest.mark.parametrize("damping", [0.0, 0.5])
def test_a_body_swings_through_the_anchor_of_a_spring_of_no_length_as_the_closed_form(damping):
    """x'' = -k/M x - c/M x': RK4 meets the damped sine with order 4, through the anchor and back."""
    body = mapped(float, BODY)
    stiffness, start, end = 3.0, 0.1, 5.0
    step = build_step(RK4, right_hand_side.build_right_hand_side(FORMULATIONS["momentum"], force_laws.spring))
    decay = damping / (2 * body.mass)
    frequency = sqrt(stiffness / body.mass - decay**2)

    def place(t):
        return exp(-decay * t) * sin(frequency * t)

    def speed(t):
        return exp(-decay * t) * (frequency * cos(frequency * t) - decay * sin(frequency * t))

    def error(count):
        h = (end - start) / count
        y = ((place(start), 0.0, 0.0), (1.0, 0.0, 0.0, 0.0), (body.mass * speed(start), 0.0, 0.0), ZERO)
        for i in range(count):
            y = step(start + i * h, y, h, (body, (stiffness, damping, 0.0, ZERO, ZERO)))
        return abs(y[0][0] - place(end))

    errors = [error(count) for count in (200, 400, 800)]
    assert all(3.9 < log2(a / b) < 4.1 for a, b in pairwise(errors)), errors
