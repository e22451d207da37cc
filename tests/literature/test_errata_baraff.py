"""Errata of [Baraff 1997] (docs/reference/errata.md): the printed form fails, the corrected one holds."""

from fractions import Fraction

import numpy as np
import pytest
import sympy
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from scipy.special import ellipk

import polhode as ph
from independent_formulas import CLOUD_MASSES, cloud, tensor

SPHERE = ph.shapes.sphere(1.0, mass=1.0)


def turned(rates, times, body=SPHERE):
    """A body that turns freely, in closed form."""
    return ph.simulate(
        body, ph.State(angular_velocity_body=rates), duration=times[-1], output_times=times, method="exact"
    )


def test_the_center_of_mass_is_the_geometric_center_only_for_a_uniform_density():
    """[2.1; Slides]  Two unit cubes side by side reach from 0 to 2; the center by hand, in fractions."""
    for heavy, center in ((1.0, Fraction(1)), (3.0, Fraction(5, 4))):
        light = ph.shapes.box((1, 1, 1), density=1.0).move((0.5, 0.5, 0.5))
        both = light.join(ph.shapes.box((1, 1, 1), density=heavy).move((1.5, 0.5, 0.5)))
        by_hand = (Fraction(1, 2) + Fraction(3, 2) * Fraction(heavy)) / (1 + Fraction(heavy))
        assert by_hand == center
        assert both.center_of_mass == pytest.approx((float(center), 0.5, 0.5), rel=1e-15)
        assert (center == 1) == (heavy == 1.0)


def test_an_angular_velocity_is_in_radians_per_time():
    """[2.3]  |w| = 1 for 1 s: SciPy's angle is 1 rad, and a point at radius 1 has the speed |w x r| = 1, not 2 pi."""
    motion = turned((0.0, 0.0, 1.0), [0.0, 1.0])
    assert motion.final.orientation.magnitude() == pytest.approx(1.0, rel=1e-14)
    assert np.linalg.norm(motion.point_velocities((1.0, 0, 0))[0]) == pytest.approx(1.0, rel=1e-14)
    assert motion.final.orientation.magnitude() != pytest.approx(2 * np.pi, rel=0.5)


def test_the_first_index_of_r_xy_is_the_body_axis():
    """[(2-2); Hydra 2017; Slides]  r_xy is the y component of the body's x axis: row 2, column 1 of SciPy's matrix."""
    matrix = turned((0.0, 0.0, np.radians(30.0)), [0.0, 1.0]).rotation_matrix[-1]
    assert matrix == pytest.approx(Rotation.from_euler("z", 30, degrees=True).as_matrix(), abs=1e-15)
    body_x_along_world_y = turned((0.0, 0.0, np.radians(30.0)), [0.0, 1.0]).points((1.0, 0.0, 0.0))[-1][1]
    assert matrix[1, 0] == pytest.approx(body_x_along_world_y, rel=1e-14)
    assert matrix[0, 1] == pytest.approx(-body_x_along_world_y, rel=1e-14)  # read as row x, column y


def test_the_tip_of_a_turning_vector_draws_a_circle_of_radius_b():
    """[figure 4]  r = a + b, b across w: half a turn moves the tip by 2 abs(b)."""
    w, r = np.array((0.0, 0.0, 2.0)), np.array((0.6, 0.8, 5.0))
    b = np.linalg.norm(r - (r @ w) * w / (w @ w))
    tips = turned(w, [0.0, np.pi / 2]).points(r)
    assert np.linalg.norm(tips[1] - tips[0]) == pytest.approx(2 * b, rel=1e-14)
    assert np.linalg.norm(tips[1] - tips[0]) != pytest.approx(b, rel=0.5)


def test_a_product_of_inertia_holds_two_coordinates_and_no_more():
    """[(2-32)]  Twice as large, four times the tensor; with the printed third factor the products grow eightfold."""

    def printed_product(masses, offsets):
        return sum(-float(m) * np.sqrt(float(r @ r)) * float(r[0] * r[1]) for m, r in zip(masses, offsets, strict=True))

    masses, offsets = cloud()
    small, large = tensor(masses, offsets), tensor(masses, 2 * offsets)
    assert (large == 4 * small).all()
    assert printed_product(masses, 2 * offsets) == pytest.approx(8 * printed_product(masses, offsets), rel=1e-14)
    body = ph.Body.from_particles(masses.astype(float), offsets.astype(float))
    assert body.inertia_body == pytest.approx(small.astype(float), rel=1e-14)
    assert body.inertia_body[0, 1] != pytest.approx(printed_product(masses, offsets), rel=0.1)


def test_the_tensor_of_world_places_is_about_the_origin():
    """[(2-33), (2-35) to (2-37)]  With r_i in place of r_i - x it is too large by M (x.x 1 - x x^T), exactly."""
    masses, offsets = cloud()
    x = np.array([Fraction(c) for c in (4, -1, 2)])
    printed = tensor(masses, offsets + x)
    assert (
        printed - tensor(masses, offsets) == sum(CLOUD_MASSES) * (x @ x * np.eye(3, dtype=int) - np.outer(x, x))
    ).all()
    body = ph.Body.from_particles(masses.astype(float), (offsets + x).astype(float))
    assert body.inertia_body == pytest.approx(tensor(masses, offsets).astype(float), rel=1e-13)


def test_the_sum_covers_both_terms_of_the_tensor():
    """[(2-33); Slides; notation]  Read as a sum of the first term only, what is left depends on what i means."""
    masses, offsets = cloud()
    first = sum(m * (r @ r) for m, r in zip(masses, offsets, strict=True)) * np.eye(3, dtype=int)
    second = [m * np.outer(r, r) for m, r in zip(masses, offsets, strict=True)]
    assert (first - sum(second) == tensor(masses, offsets)).all()
    assert len({tuple((first - one).ravel()) for one in second}) == len(masses)
    assert not any((first - one == tensor(masses, offsets)).all() for one in second)


def test_the_printed_loop_shows_301_frames_and_ends_late():
    """[RunSimulation]  1/30 is not exact: after 300 turns t is still below 10."""
    frames, t = [], 0.0
    while t < 10.0:
        frames.append(t + 1.0 / 30.0)
        t += 1.0 / 30.0
    assert len(frames) == 301
    assert frames[-1] == pytest.approx(10 + 1 / 30, abs=1e-9)
    right = [k / 30 for k in range(1, 301)]
    motion = ph.simulate(SPHERE, duration=10.0, output_times=right, method="exact")
    assert (len(motion.times), motion.times[-1]) == (300, 10.0)


def test_the_solver_hands_back_the_state_not_its_rate():
    """[RunSimulation, comment]  "copy d/dt Y(t + 1/30)": SciPy as `ode`, a particle at 3 m/s from 0."""
    end = solve_ivp(lambda t, y: (y[1], 0.0), (0.0, 1 / 30), (0.0, 3.0)).y[:, -1]
    assert end == pytest.approx((0.1, 3.0), rel=1e-12)
    assert end != pytest.approx((3.0, 0.0), rel=0.1)


def test_a_torque_need_not_turn_the_body_about_its_own_direction():
    """[2.7, figure 6]  From rest the body begins to turn about I^-1 torque: here 24 degrees from the torque."""
    block = ph.shapes.box((1, 2, 3), density=1.0)
    push, arm = np.array((0.0, 1.0, 0.0)), np.array((1.0, 0.0, -1.0))
    torque = np.cross(arm, push)
    assert torque.tolist() == [1, 0, 1]
    began = ph.simulate(block, forces=[ph.forces.force_at(push, arm)], duration=1e-4, step=1e-4, method="rk4").final
    axis = began.angular_velocity / np.linalg.norm(began.angular_velocity)
    by_hand = torque / (6.5, 5.0, 2.5)
    assert axis == pytest.approx(by_hand / np.linalg.norm(by_hand), abs=1e-7)
    between = np.degrees(np.arccos(axis @ torque / np.sqrt(2)))
    assert between == pytest.approx(45 - np.degrees(np.arctan(2.5 / 6.5)), abs=1e-5)
    about_a_principal_axis = np.array((0.0, 1.0, 0.0)) / (6.5, 5.0, 2.5)
    assert np.cross(about_a_principal_axis, (0, 1, 0)).tolist() == [0, 0, 0]


def test_the_brackets_of_the_block_hold_y_and_x():
    """[(5-1)]  With y0 for y, and without x, nothing varies between the limits and the bars give zero."""
    x, y, x0, y0, z0 = sympy.symbols("x y x0 y0 z0", positive=True)

    def between(f, v, side):
        return f.subs(v, side / 2) - f.subs(v, -side / 2)

    assert between(y0**3 / 3 * z0 + z0**3 / 12 * y0, y, y0) == 0
    inner = between(y**3 / 3 * z0 + z0**3 / 12 * y, y, y0)
    assert sympy.expand(inner - (y0**3 * z0 / 12 + z0**3 * y0 / 12)) == 0
    assert between(inner, x, x0) == 0
    assert sympy.expand(between(inner * x, x, x0) - x0 * y0 * z0 * (y0**2 + z0**2) / 12) == 0


def test_products_of_inertia_carry_a_minus_sign():
    """[(5-2)]  Two particles on the line x = y: a spin along that line moves neither, so its energy is 0."""
    masses, places = np.array((1, 1)), np.array(((1, 1, 0), (-1, -1, 0)))
    right = tensor(masses, places)
    printed = np.diag(np.diag(right)) - (right - np.diag(np.diag(right)))
    spin = np.array((1, 1, 0))
    assert (spin @ right @ spin, spin @ printed @ spin) == (0, 8)
    assert ph.Body.from_particles(masses, places).inertia_body[0, 1] == pytest.approx(-2.0, rel=1e-15)
    x, y, z = sympy.symbols("x y z")
    assert sympy.integrate(x * y, (x, -1, 1), (y, -2, 2), (z, -3, 3)) == 0  # in the block both signs serve


def test_the_weight_is_divided_by_the_mass():
    """[5.2]  Mg/M = g; Mg/g would be M."""
    mass, g, start = 48.0, 9.80665, ph.State()
    block = ph.Body(mass=mass, inertia=(80.0, 208.0, 160.0))
    rate = ph.Scenario(block, start, [ph.forces.gravity(g)], duration=1.0).derivative(0.0, start.to_array(block))
    weight = -rate[9]
    assert weight / mass == pytest.approx(g, rel=1e-15)
    assert weight / g == pytest.approx(mass, rel=1e-15)


def test_the_two_arms_add_up_to_minus_four():
    """[5.3]"""
    total, push = np.array((-3, 0, -2)) + np.array((3, 0, -2)), np.array((0, 0, 7))
    assert total.tolist() == [0, 0, -4]
    assert np.cross(total, push).tolist() == np.cross((0, 0, -2), push).tolist() == [0, 0, 0]


def test_a_longer_path_is_not_more_work():
    """[5.5, figure 12]  The turning block is a pendulum: its extra energy is F . (R r - r), 0 at rest."""
    push, arm = np.array((0.0, 0.0, 1.0)), np.array((2.0, 0.0, 0.0))
    body = ph.shapes.box((4.0, 1.0, 1.0), mass=4.0)
    rest = 2 * ellipk(0.5) / np.sqrt(2.0 / body.principal_moments[1])
    times = np.linspace(0.0, rest, 1001)
    motion = ph.simulate(
        body, forces=[ph.forces.force_at(push, arm)], duration=rest, step=0.01, method="rk4", output_times=times
    )
    path = np.linalg.norm(np.diff(motion.points(arm), axis=0), axis=1).sum()
    straight = np.linalg.norm(motion.position[-1])
    assert path > straight + 1.5  # m: the point traveled farther than the center
    assert motion.rotational_energy[-1] < 1e-9  # J: and did no more work
    assert motion.work[-1] == pytest.approx(push @ motion.position[-1], rel=1e-9)
    extra = (motion.points(arm) - motion.position - arm) @ push
    assert motion.rotational_energy == pytest.approx(extra, abs=1e-8)
    assert motion.rotational_energy.max() == pytest.approx(np.linalg.norm(push) * np.linalg.norm(arm), rel=1e-5)
