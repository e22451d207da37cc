"""Errata of [Tops report] (docs/reference/errata.md): the printed form fails, the corrected one holds."""

import numpy as np
import pytest
import sympy
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import polhode as ph
from independent_formulas import matrix, orders, product, pure, rk4
from polhode.reference.free_rotation import SymmetricTop

TOP, SPIN = np.array((2.0, 2.0, 8.0)), np.array((1.0, 0.0, 1.0))  # figure 1
ROCKETS = np.array((2.0, 2.0, 3.0))


def wdot(w, torque, moments):
    """getWdot of section 7."""
    return (torque + np.cross(moments * w, w)) / moments


def qdot(w, q):
    """getQdot of section 3.4, completed: the body's w turned into the world, then half its product with q."""
    return product(pure(matrix(q) @ w), q) / 2


def rocket_top(until):
    """The top of figure 6 by SciPy: moments (2, 2, 3), torque z x x3, 30 degrees, w3 = 3 and else at rest."""

    def rate(t, y):
        q, w = y[:4] / np.linalg.norm(y[:4]), y[4:]
        turn = matrix(q)
        return np.concatenate((qdot(w, y[:4]), wdot(w, turn.T @ np.cross((0, 0, 1), turn[:, 2]), ROCKETS)))

    start = [np.cos(np.pi / 12), np.sin(np.pi / 12), 0.0, 0.0, 0.0, 0.0, 3.0]
    times = np.linspace(0, until, 101)
    y = solve_ivp(rate, (0, until), start, method="DOP853", t_eval=times, rtol=1e-12, atol=1e-13).y.T
    turns = np.array([matrix(q / np.linalg.norm(q)) for q in y[:, :4]])
    return turns, np.einsum("tij,tj->ti", turns, ROCKETS * y[:, 4:])


def test_the_rockets_have_no_torque_about_z():
    """[abstract]  z x x3 is perpendicular to z, so L_z stays while L does not.  SciPy integrates."""
    turns, momentum = rocket_top(5.0)
    torques = np.cross((0, 0, 1), turns[:, :, 2])
    assert np.abs(torques[:, 2]).max() == 0.0
    assert np.linalg.norm(torques, axis=1).min() > 0.4
    assert momentum[:, 2] == pytest.approx(momentum[0, 2], rel=1e-10)
    assert np.ptp(momentum[:, 0]) > 0.5


def test_the_second_component_is_a_sine():
    """[3.1]  Put into Euler's equations (5) by SymPy, and at t = 0 against the start (w0, 0, w3)."""
    t, w0, w3, a, c = sympy.symbols("t w0 w3 lambda1 lambda3", positive=True)
    rate = (c - a) / a * w3

    def left(w):
        return [
            sympy.simplify(w[0].diff(t) - (a - c) / a * w[1] * w3),
            sympy.simplify(w[1].diff(t) - (c - a) / a * w3 * w[0]),
        ]

    assert left((w0 * sympy.cos(rate * t), w0 * sympy.sin(rate * t))) == [0, 0]
    assert left((w0 * sympy.cos(rate * t), w0 * sympy.cos(rate * t))) != [0, 0]
    assert (w0 * sympy.cos(rate * t)).subs(t, 0) == w0 != 0


def wdot_without_torque(w, unused, moments):
    """getWdot of section 3.1."""
    return np.cross(moments * w, w) / moments


def test_the_second_argument_of_getwdot_is_unused_in_3_and_a_torque_in_7():
    """[3.1, 3.4 against 7]  Reference: the energy of the free top of figure 1, called with the time as in 3.4.

    3.1's function keeps it; 7's does not: there the second argument must be the torque.
    """

    def energy_after(second, function):
        y = np.array((*SPIN, 0.0))
        y = rk4(lambda y: np.array((*function(y[:3], second(y[3]), TOP), 1.0)), y, 0.01, 100)
        return y[:3] @ (TOP * y[:3]) / 2

    start = SPIN @ (TOP * SPIN) / 2
    assert energy_after(lambda t: t * np.ones(3), wdot_without_torque) == pytest.approx(start, rel=1e-9)
    assert energy_after(lambda t: np.zeros(3), wdot) == pytest.approx(start, rel=1e-9)
    assert energy_after(lambda t: t * np.ones(3), wdot) > 1.05 * start


def test_figure_2_is_a_track_of_300_steps_and_its_radius_tells_the_step():
    """[figure 2]  The phase of RK4 lags by (Omega h)^5/120 a step, Omega = 3: 300 steps, h = 0.03: 1.4761e-5 rad/s."""

    def track(h, count):
        w, errors = SPIN, []
        for k in range(1, count + 1):
            w = rk4(lambda w: wdot(w, 0.0, TOP), w, h, 1)
            errors.append(np.hypot(w[0] - np.cos(3 * h * k), w[1] - np.sin(3 * h * k)))
        return np.array(errors)

    spiral = track(0.03, 300)
    assert spiral[-1] == pytest.approx(300 * 0.09**5 / 120, rel=5e-3)
    assert spiral[-1] == pytest.approx(1.4761e-5, abs=5e-10)
    assert spiral[[99, 199]] == pytest.approx(spiral[-1] * np.array((1, 2)) / 3, rel=1e-3)  # it grows with the time
    assert orders([spiral[-1], track(0.015, 300)[-1]]) == pytest.approx(5, abs=0.02)  # for one number of steps


def test_in_a_product_the_right_quaternion_turns_first():
    """[(8)]  SciPy turns a vector, one rotation after the other."""
    first, second = Rotation.from_euler("x", 90, degrees=True), Rotation.from_euler("z", 90, degrees=True)
    v, (q1, q2) = np.array((0.0, 1.0, 0.0)), (r.as_quat(scalar_first=True) for r in (second, first))
    assert matrix(product(q1, q2)) @ v == pytest.approx(second.apply(first.apply(v)), abs=1e-15)
    assert matrix(product(q1, q2)) @ v != pytest.approx(first.apply(second.apply(v)), abs=0.5)


def test_the_rate_of_a_quaternion_has_a_half():
    """[3.3]  1 rad/s about z for 1 s, by SciPy's rotation: without the half the body turns by 2 rad."""
    for factor, angle in ((0.5, 1.0), (1.0, 2.0)):
        q = rk4(
            lambda q, factor=factor: factor * product(pure((0.0, 0.0, 1.0)), q), np.array((1.0, 0, 0, 0)), 0.001, 1000
        )
        assert Rotation.from_quat(q, scalar_first=True).magnitude() == pytest.approx(angle, rel=1e-12)


def test_getqdot_needs_one_more_line():
    """[3.4]  w_inl = R w has three numbers and is no rate of q; completed, the printed RK4 has order 4."""
    assert (matrix((1.0, 0, 0, 0)) @ SPIN).shape != (4,)
    exact, errors = SymmetricTop(TOP, SPIN).quaternions_at(1.0), []
    for count in (20, 40, 80):
        y = np.array((1.0, 0.0, 0.0, 0.0, *SPIN))
        for _ in range(count):
            y = rk4(lambda y: np.concatenate((qdot(y[4:], y[:4]), wdot(y[4:], 0.0, TOP))), y, 1 / count, 1)
            y[:4] /= np.linalg.norm(y[:4])
        errors.append(np.linalg.norm(y[:4] - exact))
    assert orders(errors) == pytest.approx(4, abs=0.2)


def test_points_along_omega_rest_and_the_axis_moves_across_the_plane():
    """[4]  v = w x r, by whole numbers: I = (2, 2, 8), w = (1, 0, 1), in body axes."""
    w, axis = np.array((1, 0, 1)), np.array((0, 0, 1))
    momentum = np.array((2, 2, 8)) * w
    assert np.cross(w, 5 * w).tolist() == [0, 0, 0]
    velocity, normal = np.cross(w, axis), np.cross(momentum, axis)
    assert velocity.tolist() == [0, -1, 0]
    assert np.cross(velocity, normal).tolist() == [0, 0, 0]


def test_the_spin_relative_to_the_precession_is_not_omega_3():
    """[(11)]  w = (abs(L)/lambda1) along L + s along x3 leaves one s; (11) is w3 and does not add up."""
    momentum = TOP * SPIN
    length = np.linalg.norm(momentum)
    cosine = momentum[2] / length
    precession = length / TOP[0] * momentum / length
    s = (SPIN - precession)[2]
    assert precession + s * np.array((0, 0, 1)) == pytest.approx(SPIN, abs=1e-15)
    assert s == pytest.approx(length * cosine * (1 / TOP[2] - 1 / TOP[0]), rel=1e-14)
    assert length * cosine / TOP[2] == pytest.approx(SPIN[2], rel=1e-14)
    assert (s, SPIN[2]) == pytest.approx((-3.0, 1.0), rel=1e-14)


def test_an_ellipsoid_with_semi_axes_i_has_other_moments():
    """[5]  By the integral m (b^2 + c^2)/5: semi-axes (2, 2, 8) make a prolate body of an oblate one."""

    def moments(axes):
        squares = np.square(axes)
        return (squares.sum() - squares) / 5

    drawn = moments((2.0, 2.0, 8.0))
    assert drawn == pytest.approx((13.6, 13.6, 1.6))
    assert drawn[2] < drawn[0]  # but 8 > 2
    wanted = np.array((2.0, 2.0, 3.0))
    right = np.sqrt(5 * (wanted.sum() - 2 * wanted) / 2)
    assert moments(right) == pytest.approx(wanted, rel=1e-14)
    assert ph.Body(mass=1.0, inertia=wanted).ellipsoid_semi_axes == pytest.approx(right, rel=1e-14)


@pytest.mark.parametrize("moments", [(2.0, 2.0, 8.0), (2.0, 8.0, 4.0)])
def test_the_moments_of_the_figures_belong_to_no_solid(moments):
    """[figures 1, 4, 5]  A squared semi-axis of the equivalent ellipsoid is negative; Euler's equations still run."""
    squares = np.sum(moments) - 2 * np.array(moments)
    assert squares.min() < 0
    with pytest.raises(ph.PolhodeError, match="no solid"):
        ph.Body(mass=1.0, inertia=moments)
    only_mathematics = ph.Body(mass=1.0, inertia=moments, allow_unphysical=True)
    motion = ph.simulate(only_mathematics, ph.State(angular_velocity_body=(1, 0, 1)), duration=2.0, method="exact")
    assert motion.kinetic_energy == pytest.approx(motion.kinetic_energy[0], rel=1e-13)


def test_free_rotation_is_not_chaotic():
    """[8]  Neighbors part in proportion to the time, as in every integrable motion, not exponentially."""
    body = ph.Body(mass=1.0, inertia=(0.6, 0.8, 1.0))
    starts = [ph.State(angular_velocity_body=(1.0, 0.5 + off, -0.9)) for off in (0.0, 1e-7)]
    times = np.linspace(0.0, 8000.0, 4001)
    one, other = (
        ph.simulate(body, s, duration=8000.0, output_times=times, method="exact").rotation_matrix for s in starts
    )
    apart = np.linalg.norm(one - other, axis=(1, 2))
    farthest = [apart[(times > 0.5 * t) & (times <= t)].max() for t in (1000.0, 2000.0, 4000.0, 8000.0)]
    assert np.divide(farthest[1:], farthest[:-1]) == pytest.approx(2.0, abs=0.05)


def test_an_unbalanced_wheel_on_its_axle_keeps_omega_and_turns_its_angular_momentum():
    """[1]  Not the wheel goes round L, but L round the axle: L turns by the wheel's own angle, omega stays."""
    moments, w, tilt = np.diag((1.0, 1.0, 2.0)), np.array((0.0, 0.0, 5.0)), Rotation.from_euler("x", 10, degrees=True)
    found = []
    for angle in (0.0, 40.0):
        turn = (Rotation.from_euler("z", angle, degrees=True) * tilt).as_matrix()
        found.append(turn @ moments @ turn.T @ w)
    assert found[1] == pytest.approx(Rotation.from_euler("z", 40, degrees=True).apply(found[0]), abs=1e-14)
    assert np.linalg.norm(np.cross(found[0], w)) > 0.1
    assert np.linalg.norm(found[1] - found[0]) > 0.1


def test_the_torque_of_eulers_equation_is_in_body_axes():
    """[7, tau_w]  L' in the world is the torque: SciPy turns L back into the body."""
    q = Rotation.from_rotvec((0.3, -0.8, 0.5))
    w, torque_world, h = np.array((1.0, 0.5, -0.7)), np.array((0.4, -0.2, 0.9)), 1e-5
    momentum = q.apply(ROCKETS * w)

    def body_momentum(t):
        return (q * Rotation.from_rotvec(w * t)).inv().apply(momentum + t * torque_world)

    slope = (body_momentum(h) - body_momentum(-h)) / (2 * h)
    assert slope + np.cross(w, ROCKETS * w) == pytest.approx(q.inv().apply(torque_world), abs=1e-8)
    assert slope + np.cross(w, ROCKETS * w) != pytest.approx(torque_world, abs=0.1)
