"""Errata of [Hydra 2017] (docs/reference/errata.md): the printed form fails, the corrected one holds."""

from fractions import Fraction

import numpy as np
import pytest
import sympy
from scipy.spatial.transform import Rotation

import polhode as ph
from independent_formulas import cloud, conjugate, cross, matrix, orders, product, pure, rk4, star, tensor
from polhode.reference.free_rotation import SymmetricTop

BLOCK = ph.Body(mass=48.0, inertia=(80.0, 208.0, 160.0))  # 6 x 2 x 4 m, the block of [Baraff 1997]
NODES = np.array(((3.0, 1.0, 2.0), (-3.0, 1.0, -2.0)))  # two of its corners
START = ph.State(position=(1.0, 2.0, 3.0), velocity=(0.5, 0.0, -1.0), angular_velocity_body=(0.2, 0.7, -0.4))
QUARTER = np.array(((0, -1, 0), (1, 0, 0), (0, 0, 1)))  # a quarter turn about z


def moved(times):
    return ph.simulate(BLOCK, START, duration=times[-1], output_times=times, method="exact")


def test_a_point_is_rotated_as_an_offset_from_the_center():
    """[(2.4), (2.6)]  At t = 0 nothing has moved: the world place p(0) put into R p(0) + x is off by x_cm."""
    motion = moved([0.0, 1.0])
    places, (x0, x1), (_, turn) = motion.points(NODES), motion.position, motion.rotation_matrix
    assert places[0] == pytest.approx(NODES + x0, abs=1e-15)
    assert places[1] == pytest.approx((places[0] - x0) @ turn.T + x1, abs=1e-14)
    assert places[0] + x0 != pytest.approx(places[0], abs=0.5)  # as printed, R = 1


def test_the_matrix_is_omega_star_not_omega():
    """[(2.9)]  It turns a vector b into w x b, and w itself into nothing."""
    w, b = np.array(sympy.symbols("wx wy wz")), np.array(sympy.symbols("bx by bz"))
    assert [sympy.expand(c) for c in star(w) @ b - cross(w, b)] == [0, 0, 0]
    assert [sympy.expand(c) for c in star(w) @ w] == [0, 0, 0]
    assert star(w).shape != w.shape


def test_the_energy_of_turning_needs_the_speeds():
    """[(2.20)]  Exactly, on particles: w.L/2 is the sum of m (w x r)^2/2; the printed sum has energy at rest."""
    masses, offsets = cloud()
    for w in (np.array((1, -2, 3)), np.array((0, 0, 0))):
        right = sum(m * (cross(w, r) @ cross(w, r)) for m, r in zip(masses, offsets, strict=True)) / 2
        assert right == Fraction(w @ tensor(masses, offsets) @ w) / 2
    printed = sum(m * (r @ r) for m, r in zip(masses, offsets, strict=True)) / 2
    assert right == 0 < printed


def test_one_sign_convention_for_products_of_inertia():
    """[(2.22), (2.23) against (5.6)]  Entries of (5.6) have their minus sign; (2.22) gives them a second one."""
    masses, offsets = cloud()
    w, entries = np.array((1, -2, 3)), tensor(masses, offsets)
    diagonal = np.diag(np.diag(entries))
    by_particles = sum(m * cross(r, cross(w, r)) for m, r in zip(masses, offsets, strict=True))
    energy = sum(m * (cross(w, r) @ cross(w, r)) for m, r in zip(masses, offsets, strict=True)) / 2
    assert (entries @ w == by_particles).all()
    assert w @ entries @ w / 2 == energy
    twice_signed = 2 * diagonal - entries
    assert (twice_signed @ w != by_particles).any()
    assert w @ twice_signed @ w / 2 != energy


def test_a_rotation_matrix_has_no_gimbal_lock():
    """[chapter 3]  At every right angle R is as good as anywhere: det 1, R' finite, exactly; (17.36) is what fails."""
    phi, theta, psi = sympy.symbols("phi theta psi")
    about = {"z": lambda a: sympy.rot_axis3(-a), "x": lambda a: sympy.rot_axis1(-a)}
    general = about["z"](phi) * about["x"](theta) * about["z"](psi)
    rates = sympy.Matrix(
        [
            [sympy.sin(theta) * sympy.sin(psi), sympy.cos(psi), 0],
            [sympy.sin(theta) * sympy.cos(psi), -sympy.sin(psi), 0],
            [sympy.cos(theta), 0, 1],
        ]
    )
    w = sympy.Matrix(star(np.array((1, 2, 3))))
    for turns in np.ndindex(4, 4, 4):
        here = {angle: k * sympy.pi / 2 for angle, k in zip((phi, theta, psi), turns, strict=True)}
        r = general.subs(here)
        assert r.det() == 1
        assert (r * r.T, all(entry.is_finite for entry in w * r)) == (sympy.eye(3), True)
        assert (rates.subs(here).det() == 0) == (turns[1] % 2 == 0)


def test_normalising_stops_the_skew_but_not_the_error_of_the_angle():
    """[chapter 3]  RK4, p rad per step, normalized: no skew, as it says, but each step lags by p^5/1920."""

    def lag(p, count=50):
        q = np.array((1.0, 0.0, 0.0, 0.0))
        for _ in range(count):
            q = rk4(lambda y: product(pure((0.0, 0.0, 0.5)), y), q, p, 1)
            q = q / np.linalg.norm(q)
        assert abs(np.linalg.norm(q) - 1) < 1e-15
        return count * p - 2 * np.arctan2(q[3], q[0])

    assert lag(0.06) == pytest.approx(50 * 0.06**5 / 1920, rel=1e-3)
    assert orders([lag(0.06), lag(0.03)]) == pytest.approx(5, abs=0.01)


def test_several_forces_have_a_torque_each():
    """[(2.13)]  A net force at one point gives no couple: the block of [Baraff 1997, section 5.4] would not rotate."""
    places, pushes = np.array(((-3, 0, -2), (3, 0, 2))), np.array(((0, 0, 5), (0, 0, -5)))
    net = pushes.sum(axis=0)
    assert [np.cross(p, net).tolist() for p in places] == [[0, 0, 0]] * 2
    assert np.cross(places, pushes).sum(axis=0).tolist() == [0, 30, 0]
    start = ph.State()
    forces = [ph.forces.force_at(push, place) for push, place in zip(pushes, places, strict=True)]
    rate = ph.Scenario(BLOCK, start, forces, duration=1.0).derivative(0.0, start.to_array(BLOCK))
    assert rate[10:13].tolist() == [0, 30, 0]


def test_a_quaternion_normalised_in_every_stage_keeps_order_4_with_other_digits():
    """[(4.19)]  Against the closed form of the symmetric top."""
    moments, w = np.array((2.0, 2.0, 3.0)), (1.0, 0.0, 1.5)
    momentum = moments * w

    def rate(unit):
        def of(q):
            turn = matrix(q / np.linalg.norm(q))
            spin = turn @ (turn.T @ momentum / moments)
            return product(pure(spin / 2), q / np.linalg.norm(q) if unit else q)

        return of

    exact, found = SymmetricTop(moments, w).quaternions_at(2.0), {}
    for unit in (True, False):
        ends = []
        for count in (20, 40, 80):
            q = np.array((1.0, 0.0, 0.0, 0.0))
            for _ in range(count):
                q = rk4(rate(unit), q, 2.0 / count, 1)
                q = q / np.linalg.norm(q)
            ends.append(q)
        found[unit] = ends
        assert orders([np.linalg.norm(q - exact) for q in ends]) == pytest.approx(4, abs=0.15)
    assert np.linalg.norm(found[True][0] - found[False][0]) > 1e-8


def test_the_tensor_of_a_turned_body_comes_from_the_constant_one():
    """[(4.21), (4.22)]  Overwritten, it is turned again in every evaluation: at a quarter turn it comes back."""
    body = np.diag((2, 5, 4))
    right = QUARTER @ body @ QUARTER.T
    assert right.tolist() == np.diag((5, 2, 4)).tolist()
    kept = body
    for _ in range(2):  # two evaluations of F in the same state
        kept = QUARTER @ kept @ QUARTER.T
    assert kept.tolist() == body.tolist() != right.tolist()
    turned = ph.State(quaternion_wxyz=(1, 0, 0, 1)).orientation.as_matrix()
    assert turned @ body @ turned.T == pytest.approx(right, abs=1e-14)


def test_the_offset_of_a_node_is_taken_once_at_the_start():
    """[(4.24)]  p_i = x_i(t) - x_cm(t) has turned already; turned once more it misses the node."""
    motion = moved([0.0, 2.0])
    places, centers, turn = motion.points(NODES), motion.position, motion.rotation_matrix[-1]
    offsets = places[0] - centers[0]
    assert centers[1] + offsets @ turn.T == pytest.approx(places[1], abs=1e-14)
    assert centers[1] + (places[1] - centers[1]) @ turn.T != pytest.approx(places[1], abs=1.0)


def test_a_body_at_rest_has_zero_displacement():
    """[(4.25)]  As printed a node of a body at rest is displaced by its own offset."""
    motion = ph.simulate(BLOCK, ph.State(position=(1.0, 2.0, 3.0)), duration=1.0, method="exact")
    places, centers, turn = motion.points(NODES), motion.position, motion.rotation_matrix[-1]
    printed = NODES @ turn.T + (centers[-1] - centers[0])
    assert np.array_equal(places[-1] - places[0], np.zeros((2, 3)))
    assert printed - NODES == pytest.approx(places[-1] - places[0], abs=1e-15)
    assert printed == pytest.approx(NODES, abs=1e-15)


def test_the_velocity_of_a_node_takes_its_turned_offset():
    """[(4.26)]  Checked against differences of places of the closed form, which fall with order 2."""
    right, printed = [], []
    for h in (1 / 8, 1 / 16, 1 / 32):
        motion = moved([2.0 - h, 2.0, 2.0 + h])
        slope = (motion.points(NODES)[2] - motion.points(NODES)[0]) / (2 * h)
        w, v, turn = motion.angular_velocity[1], motion.velocity[1], motion.rotation_matrix[1]
        right.append(np.abs(np.cross(w, NODES @ turn.T) + v - slope).max())
        printed.append(np.abs(np.cross(w, NODES) + v - slope).max())
    assert orders(right) == pytest.approx(2, abs=0.05)
    assert min(printed) > 1.0  # m/s


def test_stage_states_are_not_the_solution():
    """[4.2, steps 6 and 7]  A steady turn, z' = i z: after a stage the place errs by h^2/8, after a step by h^5/120."""
    stages, steps = [], []
    for h in (0.4, 0.2, 0.1):
        stages.append(abs(1 + 1j * h / 2 - np.exp(1j * h / 2)))
        steps.append(abs(rk4(lambda z: 1j * z, 1.0, h, 1) - np.exp(1j * h)))
    assert orders(stages) == pytest.approx(2, abs=0.01)
    assert orders(steps) == pytest.approx(5, abs=0.02)
    assert stages[-1] == pytest.approx(0.1**2 / 8, rel=1e-3)
    assert steps[-1] == pytest.approx(0.1**5 / 120, rel=2e-2)


def test_the_solver_needs_the_tensor_about_the_center_of_mass():
    """[(5.5), (5.6)]  Particles that only turn: their energy is w.I w/2 about the center, more about the origin."""
    masses, offsets = cloud()
    center, w = np.array((Fraction(2), Fraction(-1), Fraction(3))), np.array((1, 2, -1))
    energy = sum(m * (cross(w, r) @ cross(w, r)) for m, r in zip(masses, offsets, strict=True)) / 2
    assert w @ tensor(masses, offsets) @ w / 2 == energy
    assert (
        w @ tensor(masses, offsets + center) @ w / 2 - energy
        == masses.sum() * (cross(w, center) @ cross(w, center)) / 2
    )
    body = ph.Body.from_particles(masses.astype(float), (offsets + center).astype(float))
    spun = ph.simulate(body, ph.State(angular_velocity_body=w), duration=1.0, method="exact")
    assert spun.rotational_energy[0] == pytest.approx(float(energy), rel=1e-13)
    assert body.inertia_about((0, 0, 0)) == pytest.approx(tensor(masses, offsets + center).astype(float), rel=1e-13)


def test_the_helpers_agree_with_scipy():
    """The reference formulas of these files against SciPy."""
    rng = np.random.default_rng(1)
    for _ in range(5):
        p, q = rng.normal(size=(2, 4))
        p, q = p / np.linalg.norm(p), q / np.linalg.norm(q)
        theirs = Rotation.from_quat(p, scalar_first=True) * Rotation.from_quat(q, scalar_first=True)
        assert matrix(product(p, q)) == pytest.approx(theirs.as_matrix(), abs=1e-14)
        assert matrix(conjugate(q)) == pytest.approx(matrix(q).T, abs=1e-15)
