"""The worked examples of the source texts, as numbers."""

from fractions import Fraction

import numpy as np
import pytest
import sympy
from scipy.special import ellipk

import polhode as ph
from polhode.equations import force_laws as kernels
from polhode.equations import right_hand_side
from polhode.equations.formulations import FORMULATIONS
from polhode.equations.inertia import BodyConstants
from polhode.methods import runge_kutta, tableaus

BLOCK = {"mass": 48.0, "inertia": (48 / 12 * (4 + 16), 48 / 12 * (36 + 16), 48 / 12 * (36 + 4))}  # 6 x 2 x 4


def accelerations(body, forces, state=None):
    """P' and L' at the start, through the solver's public interface."""
    state = state or ph.State()
    rate = ph.Scenario(body, state, forces, duration=1.0).derivative(0.0, state.to_array(body))
    return rate[7:10], rate[10:13]


def test_baraff_5_1_the_inertia_of_a_block_is_the_integral_over_its_volume():
    """Gauss points integrate y^2 + z^2 exactly: an independent route to M/12 (y0^2 + z0^2)."""
    sides = np.array((1.0, 2.0, 3.0))
    nodes = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * sides / 2 / np.sqrt(3)
    mass = sides.prod() / 8
    tensor = sum(mass * (r @ r * np.eye(3) - np.outer(r, r)) for r in nodes)
    assert tensor == pytest.approx(np.diag((6.5, 5.0, 2.5)), abs=1e-14)
    assert ph.shapes.box(sides, density=1.0).inertia_body == pytest.approx(tensor, rel=1e-14, abs=1e-15)


def test_baraff_5_2_a_uniform_field_pulls_at_the_center_and_turns_nothing():
    rng = np.random.default_rng(0)
    points, masses, g = rng.normal(size=(50, 3)), rng.uniform(1, 2, 50), np.array((0.3, -0.2, -9.8))
    points -= masses @ points / masses.sum()
    assert np.abs(np.cross(points, masses[:, None] * g).sum(axis=0)).max() < 1e-14 * masses.sum() * 9.8 * 3
    push, turn = accelerations(ph.Body(**BLOCK), [ph.forces.gravity(g)])
    assert push == pytest.approx(48 * g)
    assert np.array_equal(turn, np.zeros(3))


def test_baraff_5_3_two_equal_forces_move_the_block_without_turning_it():
    f = 3.0
    forces = [ph.forces.force_at((0, 0, f), point) for point in ((-3, 0, -2), (3, 0, -2))]
    push, turn = accelerations(ph.Body(**BLOCK), forces)
    assert push / 48 == pytest.approx((0, 0, f / 24))
    assert np.array_equal(turn, np.zeros(3))
    motion = ph.simulate(ph.Body(**BLOCK), forces=forces, duration=2.0, step=0.1)
    assert motion.final.position == pytest.approx((0, 0, f / 24 * 2), abs=1e-14)
    assert np.array_equal(motion.final.angular_velocity, np.zeros(3))


@pytest.mark.parametrize("second", [(3, 0, 2), (3, 0, -2)])
def test_baraff_5_4_two_opposite_forces_turn_the_block_without_moving_it(second):
    f = 2.0
    forces = [ph.forces.force_at((0, 0, f), (-3, 0, -2)), ph.forces.force_at((0, 0, -f), second)]
    push, turn = accelerations(ph.Body(**BLOCK), forces)
    assert np.array_equal(push, np.zeros(3))
    assert turn == pytest.approx((0, 6 * f, 0))
    small = ph.simulate(ph.Body(**BLOCK), forces=forces, duration=1e-3, step=1e-4).final
    assert small.angular_velocity[1] / 1e-3 == pytest.approx(6 * f / 208, rel=1e-6)


def test_baraff_5_5_the_force_off_center_does_more_work_because_its_point_moves_farther_along_it():
    """Block 4 x 1 x 1, M = 4, F = (0, 0, 1) at (2, 0, 0) for 10 s: extra energy = F . (R r - r), a pendulum's."""
    body = ph.shapes.box((4.0, 1.0, 1.0), mass=4.0)
    center = ph.simulate(body, forces=[ph.forces.force_at((0, 0, 1.0))], duration=10.0, step=0.01)
    offset = ph.simulate(body, forces=[ph.forces.force_at((0, 0, 1.0), (2.0, 0, 0))], duration=10.0, step=0.01)
    assert center.kinetic_energy[-1] == pytest.approx(12.5, rel=1e-12)
    assert offset.translational_energy[-1] == pytest.approx(12.5, rel=1e-12)
    moved = offset.points((2.0, 0, 0))[-1] - np.array((2.0, 0, 0))
    assert moved[2] * 1.0 == pytest.approx(14.2326716, abs=1e-7)
    assert offset.work[-1] == pytest.approx(14.2326716, abs=1e-7)
    assert offset.rotational_energy[-1] == pytest.approx(1.7326716, abs=1e-7)
    angle = offset.final.orientation.magnitude()
    assert angle == pytest.approx(1.0478187, abs=1e-7)
    rest = 2 * ellipk(0.5) / np.sqrt(2.0 / body.principal_moments[1])
    assert rest == pytest.approx(6.2417455, abs=1e-7)
    assert np.linalg.norm(offset.at(rest).angular_velocity) < 1e-7


def test_slides_the_exercise_by_hand_with_g_and_h_as_symbols():
    """Two Euler steps of a pushed sphere: x2 = h^2 (4 cos 30, 2 - g, 0), R2 = 1 + h (0, 0, -5h)*."""
    g, h = sympy.symbols("g h", positive=True)
    push = (4 * sympy.sqrt(3) / 2, sympy.Integer(2), sympy.Integer(0))
    moment = sympy.Rational(2, 5)
    body = BodyConstants(
        sympy.Integer(1),
        sympy.Integer(1),
        (moment,) * 3,
        (1 / moment,) * 3,
        (sympy.Integer(1), *(sympy.Integer(0),) * 3),
        (sympy.Integer(0),) * 3,
    )
    form = FORMULATIONS["momentum_matrix"]
    zero = (sympy.Integer(0),) * 3
    identity = tuple(sympy.Integer(int(i == j)) for i in range(3) for j in range(3))
    load = right_hand_side.sum_forces([kernels.gravity, kernels.world_force_at_body_point])
    step = runge_kutta.build_step(
        tableaus.EULER, right_hand_side.build_right_hand_side(form, load), number=sympy.Rational
    )
    y = (zero, identity, zero, zero)
    point = (sympy.Integer(-1), sympy.Integer(0), sympy.Integer(0))
    y = step(sympy.Integer(0), y, h, (body, (((0, -g, 0),), (push, point))))
    y = step(h, y, h, (body, (((0, -g, 0),), (zero, point))))
    expected = (h**2 * 4 * sympy.cos(sympy.pi / 6), h**2 * (2 - g) - h**2 * g * 0, 0)
    assert [sympy.simplify(a - b) for a, b in zip(y[0], expected, strict=True)] == [0, 0, 0]
    r = sympy.Matrix(3, 3, y[1])
    assert sympy.simplify(r - sympy.Matrix([[1, 5 * h**2, 0], [-5 * h**2, 1, 0], [0, 0, 1]])) == sympy.zeros(3)
    assert sympy.expand(r.det()) == 1 + 25 * h**4


def test_slides_the_exercise_with_the_engine():
    """The push acts during the first step only: a window that closes at h."""
    g, h = 9.80665, 0.01
    push = np.array((4 * np.cos(np.radians(30)), 2.0, 0.0))
    thruster = ph.forces.thruster((-1, 0, 0), push, np.linalg.norm(push), start=0.0, stop=h)
    motion = ph.simulate(
        ph.shapes.sphere(1.0, mass=1.0),
        forces=[ph.forces.gravity((0, -g, 0)), thruster],
        duration=2 * h,
        step=h,
        method="euler",
        formulation="momentum_matrix",
    )
    assert motion.final.position == pytest.approx(h**2 * np.array((4 * np.cos(np.radians(30)), 2 - g, 0)), abs=1e-17)
    assert motion.rotation_matrix[-1] == pytest.approx(
        np.array([[1, 5 * h**2, 0], [-5 * h**2, 1, 0], [0, 0, 1]]), abs=1e-16
    )


def test_hydra_the_printed_weights_are_of_order_1_and_the_corrected_ones_of_order_4():
    """A heavy top that rotates and falls, against a tight adaptive run.  [Hydra 2017, eq. 4.15]"""
    printed = tableaus.RK4._replace(
        coordinate_weights=(Fraction(1, 6), Fraction(1, 3), Fraction(1, 6), Fraction(1, 3)),
        momentum_weights=(Fraction(1, 6), Fraction(1, 3), Fraction(1, 6), Fraction(1, 3)),
    )
    body = ph.Body(mass=1.0, inertia=(0.6, 0.8, 1.0))
    state = ph.State(angular_velocity_body=(1.0, 0.5, -0.9))
    form = FORMULATIONS["momentum"]
    exact = ph.simulate(body, state, duration=1.0, rtol=1e-13, output_times=[1.0]).final.quaternion_wxyz
    found = {}
    for name, table in (("printed", printed), ("corrected", tableaus.RK4)):
        step = runge_kutta.build_step(table, right_hand_side.build_right_hand_side(form, right_hand_side.no_load))
        errors = []
        for n in (20, 40, 80):
            y = state.momenta(body)
            for k in range(n):
                y = step(k / n, y, 1 / n, (body.constants(), ()))
                y = form.renormalize(y, 1 / n)[0]
            errors.append(np.abs(np.array(y[1]) - exact).max())
        found[name] = np.log2(np.array(errors[:-1]) / errors[1:])
    assert found["printed"] == pytest.approx(1.0, abs=0.1)
    assert found["corrected"] == pytest.approx(4.0, abs=0.2)
