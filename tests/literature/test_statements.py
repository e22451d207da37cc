"""Statements and questions of the source texts, checked against particles, SciPy and SymPy.

Errors among the statements are in test_errata_*.py, worked examples in test_worked_examples.py.
"""

import numpy as np
import pytest
import sympy
from scipy.spatial.transform import Rotation

import polhode as ph
from independent_formulas import cloud, conjugate, cross, orders, product, pure, rk4, star, tensor
from polhode.reference.free_rotation import SymmetricTop

MASSES, PARTICLES = cloud(float)  # places from the center of mass
BODY = ph.Body.from_particles(MASSES, PARTICLES)
START = ph.State(
    position=(1.0, -2.0, 3.0),
    velocity=(0.5, 0.2, -1.0),
    orientation=Rotation.from_rotvec((0.3, -0.4, 0.9)),
    angular_velocity_body=(0.8, 0.5, -0.6),
)
STEPS = (1 / 16, 1 / 32, 1 / 64)
PUSH, AT = np.array((1.0, -2.0, 3.0)), np.array((0.7, 0.3, -0.5))  # a force in world axes, at a point of the body


def free(times, start=START, body=BODY):
    return ph.simulate(body, start, duration=max(times) or 1.0, output_times=times, method="exact")


def pushed(times):
    forces = [ph.forces.force_at(PUSH, AT)]
    return ph.simulate(BODY, START, forces, duration=max(times), step=1 / 512, method="rk4", output_times=times)


def slope_errors(motion_of, quantity, rate):
    """How far differences over 2h lie from the stated rate, for halved h."""
    errors = []
    for h in STEPS:
        motion = motion_of([1 - h, 1.0, 1 + h])
        values = quantity(motion)
        errors.append(np.abs((values[2] - values[0]) / (2 * h) - rate(motion)).max())
    return errors


# Position and orientation ------------------------------------------------------------------------------------------
def test_a_point_of_the_body_is_where_r_turns_it_and_x_moves_it():
    """[Baraff 1997, eq. 2-1, 2-13; Slides: what is the world coordinate of an arbitrary point?]  SciPy's rotation."""
    motion = free([0.0, 2.0])
    turn = Rotation.from_quat(motion.quaternion_wxyz[-1], scalar_first=True)
    assert motion.points(PARTICLES)[-1] == pytest.approx(turn.apply(PARTICLES) + motion.position[-1], abs=1e-14)


def test_x_is_the_center_of_mass_at_all_times():
    """[Baraff 1997, eq. 2-18 to 2-20; Slides: what is the physical meaning of x?]"""
    motion = free([0.0, 1.0, 2.0])
    places = motion.points(PARTICLES)
    assert np.einsum("i,tij->tj", MASSES, places) / MASSES.sum() == pytest.approx(motion.position, abs=1e-14)
    offsets = places - motion.position[:, None]
    assert np.einsum("i,tij->tj", MASSES, offsets) == pytest.approx(np.zeros((3, 3)), abs=1e-13)


def test_the_columns_of_r_are_the_body_axes_in_the_world():
    """[Baraff 1997, eq. 2-3; Hydra 2017, eq. 2.2; Slides: what is the physical meaning of R?]"""
    motion = free([0.0, 2.0])
    tips = motion.points(np.eye(3))[-1] - motion.position[-1]
    assert motion.rotation_matrix[-1] == pytest.approx(tips.T, abs=1e-14)


def test_a_rigid_body_keeps_its_distances():
    """[Baraff 1997, section 2.3]  d|r|/dt = 0 for a vector fixed to the body, and so between any two points."""
    places = free([0.0, 1.0, 2.0, 5.0]).points(PARTICLES)
    between = np.linalg.norm(places[:, :, None] - places[:, None], axis=-1)
    assert between == pytest.approx(np.broadcast_to(between[0], between.shape), abs=1e-13)


# Velocities ---------------------------------------------------------------------------------------------------------
def test_v_is_the_rate_of_x():
    """[Baraff 1997, eq. 2-4]  A body that is pushed, so that v changes."""
    errors = slope_errors(pushed, lambda m: m.position, lambda m: m.velocity[1])
    assert max(errors) < 1e-12  # a constant force: differences of a parabola are exact


def test_the_direction_of_omega_is_the_axis_and_its_size_the_speed():
    """[Slides: direction of omega? magnitude?]  Points along omega only move along; one 1 m across it at abs(omega)."""
    motion = free([0.0])
    w, v = motion.angular_velocity[0], motion.velocity[0]
    along = motion.rotation_matrix[0].T @ w
    across = np.cross(along, (1.0, 0.0, 0.0)) / np.linalg.norm(np.cross(along, (1.0, 0.0, 0.0)))
    moving = motion.point_velocities(np.array((2 * along, across)))[0] - v
    assert moving[0] == pytest.approx(np.zeros(3), abs=1e-15)
    assert np.linalg.norm(moving[1]) == pytest.approx(np.linalg.norm(w), rel=1e-14)


def test_the_rate_of_r_is_omega_star_r():
    """[Baraff 1997, eq. 2-12; Hydra 2017, eq. 2.7; Slides: R and omega?]  Differences of the closed form, order 2."""
    errors = slope_errors(
        free, lambda m: m.rotation_matrix, lambda m: star(m.angular_velocity[1]) @ m.rotation_matrix[1]
    )
    assert orders(errors) == pytest.approx(2, abs=0.05)


def test_a_column_of_r_changes_at_omega_cross_itself():
    """[Baraff 1997, eq. 2-8; Slides: what is the derivative of the first column?]"""
    errors = slope_errors(
        free,
        lambda m: m.rotation_matrix[:, :, 0],
        lambda m: np.cross(m.angular_velocity[1], m.rotation_matrix[1][:, 0]),
    )
    assert orders(errors) == pytest.approx(2, abs=0.05)


def test_the_velocity_of_a_particle_has_a_linear_and_an_angular_part():
    """[Baraff 1997, eq. 2-17; Hydra 2017, eq. 2.6; Slides]"""
    errors = slope_errors(
        free,
        lambda m: m.points(PARTICLES),
        lambda m: m.velocity[1] + np.cross(m.angular_velocity[1], m.points(PARTICLES)[1] - m.position[1]),
    )
    assert orders(errors) == pytest.approx(2, abs=0.05)


def test_the_rate_of_q_is_half_omega_q():
    """[Baraff 1997, eq. 4-2; Hydra 2017, eq. 3.6; Slides]  World omega from the left, body omega from the right."""
    left = slope_errors(
        free,
        lambda m: m.quaternion_wxyz,
        lambda m: product(pure(m.angular_velocity[1]), m.quaternion_wxyz[1]) / 2,
    )
    right = slope_errors(
        free,
        lambda m: m.quaternion_wxyz,
        lambda m: product(m.quaternion_wxyz[1], pure(m.angular_velocity_body[1])) / 2,
    )
    assert orders(left) == pytest.approx(2, abs=0.05)
    assert left == pytest.approx(right, rel=1e-6)


# Mass ---------------------------------------------------------------------------------------------------------------
def test_the_tensor_depends_on_the_orientation_and_not_on_the_place():
    """[Baraff 1997, eq. 2-39, 2-40; Slides]  I(t) = R I_body R^T is the sum over the particles where they are."""
    motion = free([0.0, 2.0])
    for places, x, found in zip(motion.points(PARTICLES), motion.position, motion.inertia_world, strict=True):
        assert found == pytest.approx(tensor(MASSES, places - x), abs=1e-12)
    turn = motion.rotation_matrix[-1]
    inverse = turn @ np.linalg.inv(BODY.inertia_body) @ turn.T
    assert np.linalg.inv(motion.inertia_world[-1]) == pytest.approx(inverse, abs=1e-14)
    assert motion.inertia_world[0] != pytest.approx(motion.inertia_world[1], abs=1.0)
    elsewhere = free([0.0], START.replace(position=(50.0, 60.0, 70.0)))
    assert np.array_equal(elsewhere.inertia_world[0], motion.inertia_world[0])


def test_a_bounding_box_is_inaccurate_and_point_samples_converge():
    """[Slides: approximate inertia tensor]  A ball: its box has 5/3 of its moment; midpoints of n^3 cells close in."""
    ball = ph.shapes.sphere(1.0, mass=1.0).principal_moments[0]
    assert ph.shapes.box((2, 2, 2), mass=1.0).principal_moments[0] / ball == pytest.approx(5 / 3, rel=1e-14)
    errors = []
    for n in (8, 64):
        axis = (np.arange(n) + 0.5) / n * 2 - 1
        x, y, z = np.meshgrid(axis, axis, axis)
        inside = x * x + y * y + z * z < 1
        errors.append(abs((y * y + z * z)[inside].mean() / ball - 1))
    assert errors[1] < errors[0] / 8
    assert errors[1] < 0.002


# Force, torque, momentum ---------------------------------------------------------------------------------------------
def test_the_torque_changes_with_the_point_of_attack_and_the_force_does_not():
    """[Baraff 1997, eq. 2-22, 2-23; Slides: which one depends on the location?]"""
    rates = []
    for place in ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 2.0, -1.0)):
        scenario = ph.Scenario(BODY, START, [ph.forces.force_at(PUSH, place)], duration=1.0)
        rate = scenario.derivative(0.0, START.to_array(BODY))
        rates.append((rate[7:10], rate[10:13]))
        assert rate[10:13] == pytest.approx(np.cross(START.orientation.apply(place), PUSH), abs=1e-14)
    assert [force.tolist() for force, _ in rates] == [PUSH.tolist()] * 3
    assert len({tuple(torque.round(6)) for _, torque in rates}) == 3


def momenta_by_particles(start):
    """P, and L about the center, of the particles of a body in a state."""
    motion = free([0.0], start)
    places, speeds = motion.points(PARTICLES)[0], motion.point_velocities(PARTICLES)[0]
    return MASSES @ speeds, (MASSES[:, None] * np.cross(places - motion.position[0], speeds)).sum(axis=0), motion


def test_l_does_not_change_when_the_body_is_moved_nor_p_when_it_is_turned():
    """[Slides: does L depend on x? on R? what about P?]  With omega given, L does change with R: I(t) does."""
    w, turned = START.angular_velocity, START.orientation * Rotation.from_rotvec((0.5, 0.5, 0.0))
    starts = {
        "here": START,
        "there": START.replace(position=(9.0, 8.0, 7.0)),
        "turned": START.replace(orientation=turned, angular_velocity_body=turned.inv().apply(w)),
        "faster": START.replace(angular_velocity_body=(3.0, 0.0, 0.0)),
    }
    p, spin = {}, {}
    for name, start in starts.items():
        p[name], spin[name], motion = momenta_by_particles(start)
        assert motion.linear_momentum[0] == pytest.approx(p[name], abs=1e-13)
        assert motion.angular_momentum[0] == pytest.approx(spin[name], abs=1e-12)
    assert p["here"] == pytest.approx(MASSES.sum() * START.velocity, abs=1e-13)
    assert all(other == pytest.approx(p["here"], abs=1e-13) for other in p.values())
    assert spin["there"] == pytest.approx(spin["here"], abs=1e-12)
    assert spin["turned"] != pytest.approx(spin["here"], abs=1.0)


def test_the_rate_of_p_is_the_force_and_that_of_l_the_torque():
    """[Baraff 1997, eq. 2-29, 2-31; Hydra 2017, eq. 2.15, 2.17; Tops report, eq. 4]  A body pushed off its center."""
    assert max(slope_errors(pushed, lambda m: m.linear_momentum, lambda m: PUSH)) < 1e-11
    errors = slope_errors(
        pushed, lambda m: m.angular_momentum, lambda m: np.cross(m.points(AT)[1] - m.position[1], PUSH)
    )
    assert orders(errors) == pytest.approx(2, abs=0.05)


def test_the_moments_of_the_particles_accelerations_are_the_rate_of_l():
    """[Slides, proof of L' = tau]  Sum of r' x m a, a by second differences, against the torque: order 2."""
    errors = []
    for h in STEPS:
        motion = pushed([1 - h, 1.0, 1 + h])
        before, places, after = motion.points(PARTICLES)
        accelerations = (before - 2 * places + after) / h**2
        moments = np.cross(places - motion.position[1], MASSES[:, None] * accelerations).sum(axis=0)
        errors.append(np.abs(moments - np.cross(motion.points(AT)[1] - motion.position[1], PUSH)).max())
        assert MASSES @ accelerations == pytest.approx(PUSH, abs=1e-7)
    assert orders(errors) == pytest.approx(2, abs=0.05)


def test_the_moments_of_the_accelerations_are_eulers_equation_exactly():
    """[Slides, proof]  The same with a = w' x r + w x (w x r), in fractions: d(I w)/dt = I w' + w x I w."""
    masses, offsets = cloud()
    w, w_rate = np.array((1, -2, 3)), np.array((4, 0, -1))
    moments = sum(m * cross(r, cross(w_rate, r) + cross(w, cross(w, r))) for m, r in zip(masses, offsets, strict=True))
    inertia = tensor(masses, offsets)
    assert (moments == inertia @ w_rate + cross(w, inertia @ w)).all()


def test_without_torque_l_stays_and_omega_does_not():
    """[Baraff 1997, section 2.9; Slides: why momentum; Tops report, section 1]"""
    motion = free([0.0, 1.0, 2.0])
    assert motion.angular_momentum == pytest.approx(np.tile(motion.angular_momentum[0], (3, 1)), abs=1e-12)
    assert np.linalg.norm(motion.angular_velocity[1] - motion.angular_velocity[0]) > 0.1


def test_kinetic_energy_by_three_routes():
    """[Hydra 2017, eq. 2.21; 2.23 with entries for products; 4.27]  And by the particles' speeds."""
    motion = free([0.0, 2.0])
    for k in range(2):
        v, w = motion.velocity[k], motion.angular_velocity[k]
        i, m = motion.inertia_world[k], BODY.mass
        momenta = v @ motion.linear_momentum[k] / 2 + w @ motion.angular_momentum[k] / 2
        written_out = (
            m * (v @ v) / 2
            + (i[0, 0] * w[0] ** 2 + i[1, 1] * w[1] ** 2 + i[2, 2] * w[2] ** 2) / 2
            + (i[0, 1] * w[0] * w[1] + i[0, 2] * w[0] * w[2] + i[1, 2] * w[1] * w[2])
        )
        particles = MASSES @ (motion.point_velocities(PARTICLES)[k] ** 2).sum(axis=1) / 2
        assert (momenta, written_out, motion.kinetic_energy[k]) == pytest.approx((particles,) * 3, rel=1e-13)


def test_a_state_is_18_numbers_with_a_matrix_and_13_with_a_quaternion():
    """[Baraff 1997, section 3, 4; Hydra 2017, section 2.4]"""
    lengths = [len(START.to_array(BODY, form)) for form in ("momentum_matrix", "momentum")]
    assert lengths == [18, 13]


def test_all_formulations_are_one_motion():
    """[Baraff 1997, eq. 2-43, 4-2; Tops report, eq. 5; Christian 2011, eqs. 17.36, 17.50]  Against the closed form."""
    exact = free([1.0]).final.orientation
    for name in ("momentum", "momentum_matrix", "body_rates", "quaternion_acceleration", "euler_angles"):
        motion = ph.simulate(BODY, START, duration=1.0, step=1 / 128, method="rk4", formulation=name)
        assert (motion.final.orientation * exact.inv()).magnitude() < 1e-8, name


# Rotations ------------------------------------------------------------------------------------------------------------
def test_rodrigues_formula_and_its_matrix_are_scipys_rotation():
    """[Christian 2011, eq. 17.16, 17.17; exercises 17.5, 17.6]  The inverse is the transpose."""
    r, angle, v = np.array((2.0, -1.0, 2.0)) / 3, 0.8, np.array((0.3, 1.0, -2.0))
    c, s, t = np.cos(angle), np.sin(angle), 1 - np.cos(angle)
    x, y, z = r
    matrix = np.array(
        [
            [t * x * x + c, t * x * y - s * z, t * x * z + s * y],
            [t * x * y + s * z, t * y * y + c, t * y * z - s * x],
            [t * x * z - s * y, t * y * z + s * x, t * z * z + c],
        ]
    )
    theirs = Rotation.from_rotvec(angle * r)
    assert matrix == pytest.approx(theirs.as_matrix(), abs=1e-15)
    assert t * (v @ r) * r + s * np.cross(r, v) + c * v == pytest.approx(theirs.apply(v), abs=1e-15)
    assert Rotation.from_rotvec(-angle * r).as_matrix() == pytest.approx(matrix.T, abs=1e-15)
    turned = ph.simulate(
        ph.shapes.sphere(1.0, mass=1.0), ph.State(angular_velocity_body=angle * r), duration=1.0, method="exact"
    )
    assert turned.rotation_matrix[-1] == pytest.approx(matrix, abs=1e-15)


def test_hamiltons_rules_give_the_product():
    """[Christian 2011, eq. 17.20 to 17.24; exercise 17.7]  i, j, k as 2 x 2 matrices of complex numbers, by SymPy."""
    i = sympy.I
    units = [
        sympy.eye(2),
        sympy.Matrix([[i, 0], [0, -i]]),
        sympy.Matrix([[0, 1], [-1, 0]]),
        sympy.Matrix([[0, i], [i, 0]]),
    ]
    assert [u * u for u in units[1:]] == [-sympy.eye(2)] * 3
    assert units[1] * units[2] * units[3] == -sympy.eye(2)
    p, q = np.array(sympy.symbols("p0:4")), np.array(sympy.symbols("q0:4"))

    def of(numbers):
        return sum((n * u for n, u in zip(numbers, units, strict=True)), sympy.zeros(2))

    assert (of(p) * of(q) - of(product(p, q))).expand() == sympy.zeros(2)


def test_a_unit_quaternion_keeps_lengths():
    """[Christian 2011, exercise 17.8]  abs(q v q*) = abs(q)^2 abs(v), by SymPy."""
    q, v = np.array(sympy.symbols("q0:4")), np.array(sympy.symbols("v1:4"))
    image = product(product(q, pure(v)), conjugate(q))
    assert sympy.expand(image[0]) == 0
    assert sympy.expand(image[1:] @ image[1:] - (q @ q) ** 2 * (v @ v)) == 0


def test_in_the_plane_a_rotation_is_a_complex_product():
    """[Christian 2011, eq. 17.1, 17.18]"""
    a, angle = 3.0 + 4.0j, 0.7
    turned = Rotation.from_rotvec((0, 0, angle)).apply((a.real, a.imag, 0.0))
    assert a * np.exp(1j * angle) == pytest.approx(complex(*turned[:2]), rel=1e-15)


def test_parallel_lines_stay_parallel():
    """[Christian 2011, exercise 17.2 d]  Any matrix of (17.4), one with determinant 0 included, by whole numbers."""
    rng = np.random.default_rng(0)
    for affine in ([*rng.integers(-5, 5, (2, 3)), (0, 0, 1)], [(1, 2, 3), (2, 4, 0), (0, 0, 1)]):
        points = np.array(((0, 0, 1), (2, 1, 1), (5, -3, 1), (9, -1, 1)))
        a, b, c, d = points @ np.array(affine).T
        assert np.cross(b - a, d - c).tolist() == [0, 0, 0]
        assert (b - a)[2] == 0  # the difference of two points is a vector


def test_the_bonds_of_methane_have_the_tetrahedral_angle():
    """[Christian 2011, problem 17.1, with its hint]"""
    h = np.sqrt(1 - 4 * np.cos(np.pi / 6) ** 2 / 9)
    top, side = np.array((0, 0, 0.75 * h)), np.array((1 / np.sqrt(3), 0, -0.25 * h))
    assert np.linalg.norm(top - side) == pytest.approx(1.0, rel=1e-15)
    assert np.degrees(np.arccos(top @ side / np.linalg.norm(top) / np.linalg.norm(side))) == pytest.approx(109.4712206)


# Free rotation --------------------------------------------------------------------------------------------------------
def test_a_rate_seen_from_the_body_and_from_the_world():
    """[Tops report, eq. 1; Christian 2011, eq. 17.33]  For a vector that moves in both, order 2."""
    given = np.array((0.3, 1.0, -0.2))

    def in_world(m):
        return np.array([given * np.sin(t) for t in m.times])

    def in_body(m):
        return np.einsum("tji,tj->ti", m.rotation_matrix, in_world(m))

    errors = slope_errors(
        free,
        in_body,
        lambda m: m.rotation_matrix[1].T @ (given * np.cos(1.0) - np.cross(m.angular_velocity[1], given * np.sin(1.0))),
    )
    assert orders(errors) == pytest.approx(2, abs=0.1)


def test_l_has_one_length_in_both_frames():
    """[Christian 2011, exercise 17.11]"""
    motion = free([0.0, 1.0, 2.0])
    in_body = motion.angular_velocity_body @ BODY.inertia_body
    assert np.linalg.norm(in_body, axis=1) == pytest.approx(np.linalg.norm(motion.angular_momentum, axis=1), rel=1e-14)
    assert np.einsum("tij,tj->ti", motion.rotation_matrix, in_body) == pytest.approx(motion.angular_momentum, abs=1e-12)


def test_about_a_principal_axis_l_and_omega_are_parallel():
    """[Tops report, section 2; Christian 2011, problem 17.6]  And the body rotates steadily about any of them."""
    for axis in BODY.principal_axes.as_matrix().T:
        spun = free([0.0, 3.0], ph.State(angular_velocity_body=2 * axis))
        assert np.cross(spun.angular_momentum[0], spun.angular_velocity[0]) == pytest.approx(np.zeros(3), abs=1e-12)
        assert spun.angular_velocity[-1] == pytest.approx(spun.angular_velocity[0], abs=1e-12)


def test_only_the_middle_axis_is_unstable():
    """[Tops report, section 6; Christian 2011, problem 17.3]  Linearized Euler's equations (5) about each axis."""
    a, b, c = moments = (2.0, 3.0, 4.0)
    body = ph.Body(mass=1.0, inertia=moments)
    for axis, square in enumerate(
        ((a - c) * (b - a) / (b * c), (b - a) * (c - b) / (a * c), (c - b) * (a - c) / (a * b))
    ):
        off = 1e-6
        spin = np.where(np.arange(3) == axis, 1.0, off)
        rates = ph.simulate(body, ph.State(angular_velocity_body=spin), duration=20.0, output_step=0.1, method="exact")
        farthest = np.abs(np.delete(rates.angular_velocity_body, axis, axis=1)).max()
        assert (square > 0) == (axis == 1) == (farthest > 100 * off)
        if axis == 1:
            times = rates.times[100:]
            grown = np.log(np.abs(rates.angular_velocity_body[100:, 0]))
            assert np.polyfit(times, grown, 1)[0] == pytest.approx(np.sqrt(square), rel=1e-3)


def test_omega_goes_round_the_axis_at_17_47():
    """[Christian 2011, eq. 17.47, problem 17.5; Tops report, section 3.1]  Rate (I3/Is - 1) w cos(alpha), by RK4."""
    moments, w = np.array((2.0, 2.0, 3.0)), np.array((0.6, 0.0, 0.8))
    rate = (3 / 2 - 1) * 1.0 * 0.8
    found = rk4(lambda w: np.cross(moments * w, w) / moments, w, 0.01, 500)
    assert found == pytest.approx((0.6 * np.cos(5 * rate), 0.6 * np.sin(5 * rate), 0.8), abs=1e-9)
    assert SymmetricTop(moments, w).rates_at(5.0) == pytest.approx(found, abs=1e-9)


def test_a_flat_body_keeps_the_part_of_omega_in_its_plane():
    """[Christian 2011, problem 17.4 c]  I3 = I1 + I2 makes w1^2 + w2^2 constant for laminas only."""
    for sides, constant in (((0.3, 0.5), True), ((0.3, 0.5, 0.4), False)):
        body = (ph.shapes.thin_sheet if constant else ph.shapes.box)(sides, mass=1.0)
        motion = ph.simulate(body, ph.State(angular_velocity_body=(1.0, 0.5, 6.0)), duration=5.0, method="exact")
        change = np.ptp((motion.angular_velocity_body[:, :2] ** 2).sum(axis=1))
        assert (change < 1e-12) if constant else (change > 0.05)
