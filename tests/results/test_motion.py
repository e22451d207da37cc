"""What a motion shows, by two routes; and forces that depend on time, against their integrals."""

from __future__ import annotations

from itertools import pairwise
from math import log2

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph

f = ph.forces
# The laws as they stand give the same bits as compiled ones, and need no compilation.
pytestmark = pytest.mark.filterwarnings("ignore:engine='python'")

TENSOR = np.array([[2.0, -0.1, 0.2], [-0.1, 2.5, 0.3], [0.2, 0.3, 3.0]])
BODY = ph.Body(mass=2.0, inertia=TENSOR)
START = ph.State(
    position=(0.3, -0.2, 1.5),
    orientation=Rotation.from_rotvec((0.3, 0.5, -0.2)),
    velocity=(1.0, 0.5, 2.0),
    angular_velocity_body=(1.5, 2.0, -1.0),
    time=0.5,
)
HELD = START.replace(velocity=(0.0, 0.0, 0.0))
FORMULATIONS = ["momentum", "momentum_matrix", "body_rates", "quaternion_acceleration", "euler_angles"]


@pytest.fixture(params=[*FORMULATIONS, "pivot"], scope="module")
def motion(request):
    settings = {"duration": 1.0, "step": 0.05, "engine": "python"}
    if request.param == "pivot":
        return ph.simulate(BODY, HELD, [f.gravity(3.0)], pivot=(0.1, 0.2, -0.5), **settings)
    return ph.simulate(BODY, START, [f.gravity(3.0), f.torque((1.0, 0.2, 0.1))], formulation=request.param, **settings)


def closely(values, motion):
    """Equal but for rounding; a matrix that has drifted from a rotation is one only as nearly as the audit says."""
    drift = motion.attitude_drift.max() if motion.scenario.formulation == "momentum_matrix" else 0.0
    assert drift < 1e-5
    return pytest.approx(values, abs=1e-12 + 10 * drift)


def test_velocities_momenta_and_energies_agree_with_scipys_rotations(motion):
    turns = Rotation.from_quat(motion.quaternion_wxyz, scalar_first=True)
    w_body = turns.inv().apply(motion.angular_velocity)
    assert motion.angular_velocity_body == closely(w_body, motion)
    assert motion.angular_momentum == closely(turns.apply(w_body @ TENSOR), motion)
    assert motion.inertia_world == closely(turns.as_matrix() @ TENSOR @ turns.inv().as_matrix(), motion)
    assert motion.rotation_matrix == closely(turns.as_matrix(), motion)
    assert motion.linear_momentum == closely(2.0 * motion.velocity, motion)
    assert motion.translational_energy == closely((motion.velocity**2).sum(axis=1), motion)
    rotational = (w_body * (w_body @ TENSOR)).sum(axis=1) / 2
    assert motion.rotational_energy == closely(rotational, motion)
    assert motion.kinetic_energy == closely(motion.translational_energy + rotational, motion)
    assert motion.potential_energy == closely(2.0 * 3.0 * motion.position[:, 2], motion)
    angles = Rotation.from_euler("ZXZ", motion.euler_angles)
    assert (angles * turns.inv()).magnitude() == closely(0, motion)


def test_euler_angles_lie_within_a_turn_as_scipys_do(motion):
    """Also where q is on its other side.  Reference: SciPy's as_euler."""
    found = motion.euler_angles
    assert found == closely(Rotation.from_quat(motion.quaternion_wxyz, scalar_first=True).as_euler("ZXZ"), motion)
    assert found == pytest.approx(ph.rotations.euler_angles(-motion.quaternion_wxyz), abs=1e-15)


def test_angles_of_a_long_spin_stay_within_a_turn_and_unwrap_to_what_was_turned():
    """Reference: the closed form, 3 rad/s about the vertical for 10 turns, the axle upright or carried round.

    Upright, this motion's q has a theta of 1e-16 rad by rounding, from which no psi must come.
    """
    times = np.linspace(0.0, 20.0, 201)
    ball = ph.shapes.sphere(1.0, mass=1.0)
    for theta in (0.0, 1.0):
        start = ph.State(orientation=Rotation.from_euler("x", theta), angular_velocity=(0.0, 0.0, 3.0))
        found = ph.simulate(ball, start, duration=20.0, output_times=times, method="exact").euler_angles
        assert (np.abs(found[:, 0]) <= np.pi).all()
        assert np.unwrap(found[:, 0]) == pytest.approx(3 * times, abs=1e-13)
        assert found[:, 1:] == pytest.approx(np.tile((theta, 0.0), (201, 1)), abs=1e-14)


def test_a_member_that_failed_has_no_angles():
    nothing = np.full((2, 4), np.nan)
    nothing[1] = (1, 0, 0, 0)
    found = ph.rotations.angles_within_a_turn(nothing)
    assert np.isnan(found[0]).all()
    assert found[1].tolist() == [0, 0, 0]


def test_states_agree_with_arrays(motion):
    for i in (0, 7, 20):
        state = motion.at(float(motion.times[i]))
        for name in ("position", "quaternion_wxyz", "velocity", "angular_velocity", "angular_velocity_body"):
            assert getattr(state, name) == closely(getattr(motion, name)[i], motion), name
    assert (motion.final.position == motion.position[-1]).all()


def test_points_move_with_the_body(motion):
    corners = np.array([(0.1, 0.2, 0.3), (-0.5, 0.0, 1.0)])
    turns = Rotation.from_quat(motion.quaternion_wxyz, scalar_first=True)
    for i, corner in enumerate(corners):
        arm = turns.apply(corner)
        assert motion.points(corners)[:, i] == closely(motion.position + arm, motion)
        speed = motion.velocity + np.cross(motion.angular_velocity, arm)
        assert motion.point_velocities(corners)[:, i] == closely(speed, motion)
        assert (motion.points(corner) == motion.points(corners)[:, i]).all()


# Time ----------------------------------------------------------------------------------------------------------------
@ph.force
def swinging(t, state, body, params):
    """params[0] sin 3t along x, and about x."""
    push = params[0] * ph.sin(3.0 * t)
    return (push, 0.0, 0.0), (push, 0.0, 0.0)


@ph.pair_force
def swinging_between(t, a, body_a, b, body_b, params):
    push = params[0] * ph.sin(3.0 * t)
    return (push, 0.0, 0.0), (push, 0.0, 0.0), (-push, 0.0, 0.0)


ROUND = ph.Body(mass=2.0, inertia=(4.0, 4.0, 4.0))
BEGIN, LENGTH = 0.5, 2.0


def path():
    """Of a body of 1 kg from rest, pushed with 6 sin 3t from BEGIN on for LENGTH: its velocity, and how far it came."""
    end = BEGIN + LENGTH
    return 2 * (np.cos(3 * BEGIN) - np.cos(3 * end)), 2 * np.cos(3 * BEGIN) * LENGTH - 2 / 3 * (
        np.sin(3 * end) - np.sin(3 * BEGIN)
    )


def errors(method, steps, events=()):
    velocity, distance = path()
    for n in steps:
        settings = {"method": method, "step": LENGTH / n, "duration": LENGTH, "engine": "python"}
        final = ph.simulate(ROUND, ph.State(time=BEGIN), [swinging(6.0), *events], **settings).final
        yield abs(final.velocity[0] - velocity / 2) + abs(final.position[0] - distance / 2)


@pytest.mark.parametrize(("method", "order"), [("euler", 1), ("midpoint", 2), ("rk4", 4), ("leapfrog", 2)])
def test_a_force_that_depends_on_time_keeps_the_order_against_its_integral(method, order):
    found = list(errors(method, (40, 80, 160)))
    assert all(order - 0.15 < log2(a / b) < order + 0.15 for a, b in pairwise(found))


def test_a_force_that_depends_on_time_does_so_behind_an_event_and_in_the_adaptive_method():
    """A thruster without thrust switches at a time that is no step's: only the steps know."""
    event = f.thruster((0, 0, 0), (1, 0, 0), 0.0, 1.0, 1.7)
    found = list(errors("rk4", (40, 80, 160), [event]))
    assert all(log2(a / b) > 3.7 for a, b in pairwise(found))
    velocity, distance = path()
    for extra in ([], [event]):
        motion = ph.simulate(
            ROUND, ph.State(time=BEGIN), [swinging(6.0), *extra], duration=LENGTH, rtol=1e-12, engine="python"
        )
        assert motion.final.velocity[0] == pytest.approx(velocity / 2, rel=1e-11)
        assert motion.final.position[0] == pytest.approx(distance / 2, rel=1e-11)
        turned = motion.final.orientation.as_rotvec()[0]  # 4 kg m2 against 2 kg: half as far
        assert np.exp(1j * turned) == pytest.approx(np.exp(1j * distance / 4), abs=1e-10)


@pytest.mark.parametrize(
    "method", [{"method": "rk4", "step": LENGTH / 160}, {"method": "dop853"}], ids=["rk4", "dop853"]
)
def test_a_pair_force_that_depends_on_time_against_its_integral(method):
    velocity, distance = path()
    motion = ph.simulate(
        [ROUND, ph.particle(3.0)],
        [ph.State(time=BEGIN)] * 2,
        [swinging_between(0, 1, 6.0)],
        duration=LENGTH,
        engine="python",
        **method,
    )
    one, other = motion.final
    assert one.position[0] == pytest.approx(distance / 2, rel=1e-7)
    assert other.position[0] == pytest.approx(-distance / 3, rel=1e-7)
    assert one.velocity[0] == pytest.approx(velocity / 2, rel=1e-7)
    assert one.angular_velocity[0] == pytest.approx(velocity / 4, rel=1e-7)


# Ensembles -----------------------------------------------------------------------------------------------------------
def test_an_ensemble_keeps_the_final_states_only_unless_asked_for_more():
    stones, settings = ph.particle([1.0, 2.0, 3.0, 4.0]), {"step": 0.125, "engine": "python"}
    for state in (None, ph.State(), ph.State(time=2.0)):
        for duration in (1.0, 1, np.float64(1.0), np.int64(1)):
            motion = ph.ensemble(stones, state, [f.gravity()], duration=duration, **settings)
            assert motion.times.tolist() == [1.0 if state is None else state.time + 1.0]
            assert motion.position.shape == (1, 4, 3)
    motion = ph.ensemble(stones, None, [f.gravity()], duration=1.0, output_step=0.25, **settings)
    assert motion.times.tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
