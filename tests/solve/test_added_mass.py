"""Added mass: a body in an ideal fluid against Kirchhoff's equations, closed forms, and what the fluid conserves."""

import math
import warnings

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from scipy.special import ellipk

import polhode as ph
from polhode.errors import PolhodeError

TENSOR = np.array(((0.9, 0.05, -0.02), (0.05, 1.1, 0.03), (-0.02, 0.03, 1.4)))
HULL = ph.Body(mass=3.0, inertia=TENSOR)
ADDED = np.array(
    (
        (0.8, 0.1, 0.0, 0.05, -0.1, 0.2),
        (0.1, 2.5, 0.2, 0.0, 0.1, 0.3),
        (0.0, 0.2, 4.0, -0.1, -0.4, 0.0),
        (0.05, 0.0, -0.1, 0.1, 0.02, 0.0),
        (-0.1, 0.1, -0.4, 0.02, 0.6, 0.05),
        (0.2, 0.3, 0.0, 0.0, 0.05, 0.9),
    )
)
MATRIX = ADDED.copy()
MATRIX[:3, :3] += 3.0 * np.eye(3)
MATRIX[3:, 3:] += TENSOR
START = ph.State(
    position=(1, -2, 0.5),
    velocity=(0.4, 0.1, -0.3),
    quaternion_wxyz=(1, 2, -1, 3),
    angular_velocity_body=(0.3, -0.6, 0.2),
)


@ph.force
def push(t, state, body, params):
    return (0.3 * ph.cos(t), -0.2, 0.1 * state.velocity[0]), (0.1, 0.05 * ph.sin(2 * t), 0.0)


def kirchhoff(t, y):
    """x', q', and v', w' in body axes: M (v', w') = (p x w + f, l x w + p x v + torque).  [Lamb 1932]"""
    turn = Rotation.from_quat(y[3:7] / np.linalg.norm(y[3:7]), scalar_first=True)
    q, v, w = y[3:7], y[7:10], y[10:]
    p, spin = np.split(MATRIX @ y[7:], 2)
    v_world = turn.apply(v)
    force = np.array((0.3 * math.cos(t), -0.2, 0.1 * v_world[0]))
    torque = np.array((0.1, 0.05 * math.sin(2 * t), 0.0))
    right = np.concatenate(
        [
            np.cross(p, w) + turn.apply(force, inverse=True),
            np.cross(spin, w) + np.cross(p, v) + turn.apply(torque, inverse=True),
        ]
    )
    half = 0.5 * np.array((-q[1:] @ w, *(q[0] * w + np.cross(q[1:], w))))
    return np.concatenate([v_world, half, np.linalg.solve(MATRIX, right)])


@pytest.mark.parametrize(("method", "rtol"), [("auto", 1e-11), ("dop853", 1e-13)])
def test_a_body_in_a_fluid_against_kirchhoffs_equations(method, rtol):
    times = np.linspace(0.0, 10.0, 21)
    motion = ph.simulate(
        HULL, START, [push], added_mass=ADDED, duration=10.0, output_times=times, method=method, rtol=rtol
    )
    v_body = START.orientation.apply(START.velocity, inverse=True)
    y = np.concatenate([START.position, START.quaternion_wxyz, v_body, START.angular_velocity_body])
    found = solve_ivp(kirchhoff, (0.0, 10.0), y, "DOP853", times, rtol=3e-14, atol=1e-15).y.T
    turns = Rotation.from_quat(found[:, 3:7], scalar_first=True)
    assert np.abs(motion.position - found[:, :3]).max() < 1e-10
    assert (turns.inv() * Rotation.from_quat(motion.quaternion_wxyz, scalar_first=True)).magnitude().max() < 1e-10
    assert np.abs(motion.velocity - turns.apply(found[:, 7:10])).max() < 1e-10
    assert np.abs(motion.angular_velocity_body - found[:, 10:]).max() < 1e-10
    momenta = found[:, 7:] @ MATRIX
    assert np.abs(motion.linear_momentum - turns.apply(momenta[:, :3])).max() < 1e-9
    energy = np.einsum("ti,ij,tj->t", found[:, 7:], MATRIX, found[:, 7:]) / 2
    np.testing.assert_allclose(motion.kinetic_energy, energy, rtol=1e-9)
    assert motion.audit()["work-energy residual"].relative < 1e-9


def test_a_bubble_rises_with_twice_the_acceleration_of_gravity():
    """A sphere without mass of its own: buoyancy rho V g on the added mass rho V/2.  [Lamb 1932]"""
    displaced = 1.0
    bubble = ph.Body(mass=1e-6 * displaced, inertia=(1e-8,) * 3)
    added = np.diag((displaced / 2,) * 3 + (0.0,) * 3)
    lift = ph.forces.force_at((0.0, 0.0, displaced * 9.80665))
    motion = ph.simulate(bubble, forces=[ph.forces.gravity(), lift], added_mass=added, duration=1.0)
    expected = 9.80665 * (1 - 1e-6) / (0.5 + 1e-6)
    np.testing.assert_allclose(motion.velocity[-1, 2], expected, rtol=1e-9)
    np.testing.assert_allclose(motion.acceleration[:, 2], expected, rtol=1e-12)


def test_broadside_swings_like_a_pendulum():
    """I phi'' = -P^2 (1/m2 - 1/m1) sin(phi), phi twice the angle from broadside: its period is an elliptic integral."""
    body = ph.Body(mass=2.0, inertia=(0.5, 0.5, 0.3))
    added = np.diag((3.0, 0.5, 0.5, 0.1, 0.1, 0.2))
    m1, m2, inertia, momentum, angle = 5.0, 2.5, 0.5, 4.0, 0.6
    # P along world x; the body, turned by the angle about z, moves with v1 = P cos/m1, v2 = -P sin/m2 in its own axes
    v_body = (momentum * math.cos(angle) / m1, -momentum * math.sin(angle) / m2, 0.0)
    turn = Rotation.from_euler("z", angle)
    start = ph.State(orientation=turn, velocity=turn.apply(v_body))
    rate = math.sqrt(momentum**2 / inertia * (1 / m2 - 1 / m1))
    period = 4 * ellipk(math.sin(angle) ** 2) / rate  # the amplitude of phi is 2 angle
    motion = ph.simulate(body, start, added_mass=added, duration=period, method="dop853", rtol=1e-12)
    np.testing.assert_allclose(motion.linear_momentum, np.tile((momentum, 0, 0), (len(motion.times), 1)), atol=1e-14)
    np.testing.assert_allclose(motion.quaternion_wxyz[-1], start.quaternion_wxyz, atol=1e-9)
    half = motion.at(period / 2)
    np.testing.assert_allclose(half.orientation.as_euler("zxy")[0], -angle, rtol=1e-9)


def test_what_the_fluid_conserves():
    motion = ph.simulate(HULL, START, added_mass=ADDED, duration=20.0, method="dop853", rtol=1e-12)
    audit = motion.audit()
    for quantity in ("kinetic energy", "linear momentum", "angular momentum about the origin"):
        assert audit[quantity].conserved
        assert audit[quantity].relative < 1e-10
    assert np.ptp(motion.angular_momentum, axis=0).max() > 0.1  # about the center of mass, which moves
    assert np.ptp(np.linalg.norm(motion.velocity, axis=1)) > 0.01


def test_without_added_mass_in_the_matrix_nothing_changes():
    free = ph.simulate(HULL, START, [push], duration=5.0, method="dop853", rtol=1e-12)
    wet = ph.simulate(HULL, START, [push], added_mass=np.zeros((6, 6)), duration=5.0, method="dop853", rtol=1e-12)
    np.testing.assert_allclose(wet.final.position, free.final.position, rtol=1e-10)
    np.testing.assert_allclose(wet.final.angular_velocity, free.final.angular_velocity, rtol=1e-9)


def test_the_error_of_rk4_falls_sixteenfold():
    fine = ph.simulate(HULL, START, [push], added_mass=ADDED, duration=4.0, method="dop853", rtol=1e-13)
    errors = []
    for step in (1 / 4, 1 / 8, 1 / 16):
        motion = ph.simulate(HULL, START, [push], added_mass=ADDED, duration=4.0, method="rk4", step=step)
        errors.append(np.abs(motion.position[-1] - fine.position[-1]).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (orders > 3.7).all()
    assert (orders < 4.4).all()


def test_the_acceleration_is_the_rate_of_the_velocity():
    wheel = ph.rotor((1, 2, 0), 0.1, speed=20.0, torque=0.5)
    motion = ph.simulate(
        HULL, START, [push], added_mass=ADDED, rotors=[wheel], duration=0.01, output_step=1e-4, rtol=1e-12
    )
    a = (motion.velocity[2:] - motion.velocity[:-2]) / 2e-4
    np.testing.assert_allclose(motion.acceleration[1:-1], a, rtol=1e-5, atol=1e-6)


def test_a_wheel_in_a_submarine_keeps_the_total():
    wheel = ph.rotor((1, 2, 0), 0.1, speed=20.0, torque=0.5)
    motion = ph.simulate(HULL, START, added_mass=ADDED, rotors=[wheel], duration=5.0, rtol=1e-11)
    about_origin = motion.audit()["angular momentum about the origin"]
    assert about_origin.conserved
    assert about_origin.relative < 1e-10
    assert motion.audit()["work-energy residual"].relative < 1e-9


@pytest.mark.parametrize(("method", "step"), [("rk4", 0.1), ("midpoint", 0.1), ("dop853", None)])
def test_compiled_runs_have_the_bits_of_plain_python(method, step):
    settings = {"added_mass": ADDED, "duration": 1.0, "method": method, "step": step}
    compiled = ph.simulate(HULL, START, [push], **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = ph.simulate(HULL, START, [push], engine="python", **settings)
    assert (compiled.run_result.samples == plain.run_result.samples).all()


def test_members_of_an_ensemble_have_their_own_matrices():
    matrices = np.array([s * ADDED for s in np.linspace(0.1, 1.0, 40)])
    many = ph.ensemble(HULL, START, [push], added_mass=matrices, duration=2.0, method="rk4", step=0.05)
    alone = ph.simulate(HULL, START, [push], added_mass=matrices[7], duration=2.0, method="rk4", step=0.05)
    np.testing.assert_allclose(many.velocity[-1, 7], alone.velocity[-1], rtol=1e-14)
    assert (many.member(7).velocity[-1] == many.velocity[-1, 7]).all()


def test_one_body_of_a_system_in_a_fluid():
    both = ph.simulate(
        [HULL, HULL], [START, START], [push], added_mass=[None, ADDED], duration=3.0, method="rk4", step=0.05
    )
    dry = ph.simulate(HULL, START, [push], duration=3.0, method="rk4", step=0.05)
    wet = ph.simulate(HULL, START, [push], added_mass=ADDED, duration=3.0, method="rk4", step=0.05)
    np.testing.assert_allclose(both.position[-1, 0], dry.position[-1], rtol=1e-6)
    np.testing.assert_allclose(both.position[-1, 1], wet.position[-1], rtol=1e-13)


@pytest.mark.parametrize(("method", "step"), [("rk4", 0.01), ("dop853", None)])
def test_a_stepper_with_loads_against_a_run(method, step):
    """A light body in a dense fluid, loads set from outside."""
    light = ph.Body(mass=0.05, inertia=(0.01, 0.02, 0.025))
    stepper = ph.Stepper(light, START, added_mass=ADDED, method=method, step=step, rtol=1e-12)
    for _ in range(100):
        stepper.set_loads(force=(0.2, 0.0, -0.1), torque=(0.0, 0.05, 0.0))
        stepper.advance(0.02)

    @ph.force
    def same(t, state, body, params):
        return (0.2, 0.0, -0.1), (0.0, 0.05, 0.0)

    motion = ph.simulate(light, START, [same], added_mass=ADDED, duration=2.0, method="dop853", rtol=1e-13)
    np.testing.assert_allclose(stepper.state.position, motion.final.position, rtol=1e-7)
    np.testing.assert_allclose(stepper.state.velocity, motion.final.velocity, rtol=1e-6, atol=1e-8)


def test_an_impulse_moves_the_fluid_too():
    blow = ph.forces.impulse((1.0, 2.0, -1.0), 0.5)
    motion = ph.simulate(HULL, ph.State(), [blow], added_mass=ADDED, duration=0.5, method="rk4", step=0.1)
    expected = np.linalg.solve(MATRIX, (1.0, 2.0, -1.0, 0.0, 0.0, 0.0))
    np.testing.assert_allclose(motion.velocity[-1], expected[:3], rtol=1e-13)
    np.testing.assert_allclose(motion.angular_velocity[-1], expected[3:], rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(motion.work[-1], motion.kinetic_energy[-1], rtol=1e-13)


@pytest.mark.parametrize("is_system", [False, True])
def test_a_scenario_and_a_motion_go_through_files(is_system, tmp_path):
    one = {"body": HULL, "state": START, "added_mass": ADDED}
    two = {"body": [HULL, HULL], "state": [START, START], "added_mass": [ADDED, None]}
    scenario = ph.Scenario(**(two if is_system else one), duration=1.0, method="rk4", step=0.1)
    scenario.to_toml(tmp_path / "hull.toml")
    motion = ph.simulate(scenario)
    assert (ph.simulate(ph.Scenario.from_toml(tmp_path / "hull.toml")).velocity == motion.velocity).all()
    motion.save(tmp_path / "hull.zarr")
    assert (ph.load(tmp_path / "hull.zarr").velocity == motion.velocity).all()


SKEW = ADDED.copy()
SKEW[0, 4] = 0.3


@pytest.mark.parametrize(
    ("matrix", "settings", "sentence"),
    [
        (SKEW, {}, r"symmetric, but entry \(0, 4\) is 0.3 and entry \(4, 0\) is -0.1"),
        (np.diag((-4.0, 0, 0, 0, 0, 0)), {}, "not positive definite"),
        (np.eye(3), {}, "6 x 6"),
        (np.full((6, 6), np.nan), {}, "finite"),
        (ADDED, {"pivot": (0, 0, 1)}, "pivot"),
        (ADDED, {"method": "exact"}, "a fluid adds mass"),
        (ADDED, {"method": "splitting4", "step": 0.1}, "does not advance added mass"),
        (ADDED, {"formulation": "body_rates"}, "formulation 'momentum'"),
        (ADDED, {"mass_course": ph.mass_course((0, 1), (3, 2))}, "leave out one of the two"),
    ],
)
def test_what_makes_no_sense_is_refused(matrix, settings, sentence):
    with pytest.raises(PolhodeError, match=sentence):
        ph.simulate(HULL, added_mass=matrix, duration=1.0, **settings)


def test_a_system_needs_a_matrix_for_each_body():
    with pytest.raises(PolhodeError, match="as many 6 x 6 matrices"):
        ph.simulate([HULL, HULL], [START, START], added_mass=ADDED, duration=1.0)
