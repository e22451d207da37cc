"""Nodes of a mesh: against rotation matrices of SciPy, exact rows of the manual, finite differences, and rest."""

import numpy as np
import pytest
import trimesh
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.errors import InputError, ScenarioError

MESH = trimesh.creation.icosphere(2).apply_translation((0.3, -0.2, 0.1))
MESH.apply_scale((1.0, 0.7, 0.4))
BODY = ph.Body.from_mesh(MESH, mass=3.0)
TILTED = Rotation.from_euler("xyz", (0.3, -0.7, 1.1)).as_quat(scalar_first=True)
START = ph.State(position=(1, 2, 3), velocity=(0.5, 0, -1), angular_velocity_body=(0.4, 5.0, 0.1),
                 quaternion_wxyz=TILTED, time=2.0)  # fmt: skip
FIELD = [ph.forces.gravity(), ph.forces.spring(30.0, (0, 0, 5), com_to_point_body=(0.1, 0.2, 0.0))]


@pytest.fixture(scope="module")
def motion():
    return ph.simulate(BODY, START, FIELD, duration=1.0, output_step=0.25, method="dop853", rtol=1e-12)


@pytest.mark.parametrize("t", [2.0, 2.25, 2.618])
def test_positions_velocities_and_displacements_against_scipy(motion, t):
    """x_cm + R p, u = R p - R0 p + x_cm - x_cm(0), v = v_cm + w x (R p).  [Hydra 2017, eq. 4.24 to 4.26, corrected]"""
    state, p = motion.at(t), BODY.nodes - BODY.center_of_mass
    turn = Rotation.from_quat(state.quaternion_wxyz, scalar_first=True)
    first = Rotation.from_quat(TILTED, scalar_first=True)
    nodes = motion.nodes()
    assert len(nodes) == len(MESH.vertices)
    assert np.allclose(nodes.positions(t), state.position + turn.apply(p), rtol=0, atol=1e-14)
    moved = turn.apply(p) - first.apply(p) + state.position - START.position
    assert np.allclose(nodes.displacements(t), moved, rtol=0, atol=1e-14)
    expected = state.velocity + np.cross(state.angular_velocity, turn.apply(p))
    assert np.allclose(nodes.velocities(t), expected, rtol=0, atol=1e-13)


def test_the_bits_are_those_of_the_points_of_the_motion(motion):
    offsets, nodes = BODY.nodes - BODY.center_of_mass, motion.nodes()
    assert np.array_equal(nodes.positions(motion.times), motion.points(offsets))
    assert np.array_equal(nodes.velocities(motion.times), motion.point_velocities(offsets))
    assert np.array_equal(nodes.displacements(motion.times), motion.displacements(offsets))


def rate(function, t, h=1e-3):
    """Central differences of order 6."""
    terms = [(45, 1), (-9, 2), (1, 3)]
    return sum(c * (function(t + k * h) - function(t - k * h)) for c, k in terms) / (60 * h)


@pytest.mark.parametrize("pivot", [None, (0.1, 0.2, -0.3)])
def test_velocities_and_accelerations_are_rates(pivot):
    start = START.replace(velocity=None) if pivot is not None else START
    if pivot is not None:
        start = ph.State(angular_velocity_body=(0.4, 5.0, 0.1), quaternion_wxyz=TILTED, time=2.0)
    forces = [ph.forces.gravity(), ph.forces.torque((0.1, 0, 0.2), axes="body")]
    motion = ph.simulate(BODY, start, forces, duration=1.0, method="dop853", rtol=1e-13, pivot=pivot)
    nodes = motion.nodes()
    for t in (2.3, 2.7):
        assert np.allclose(nodes.velocities(t), rate(nodes.positions, t), rtol=0, atol=1e-9)
        assert np.allclose(nodes.accelerations(t), rate(nodes.velocities, t), rtol=0, atol=1e-7)
        turn = rate(lambda t: motion.at(t).angular_velocity, t)
        again = motion.recomputed_at([t])
        assert np.allclose(again.angular_acceleration[-1], turn, rtol=0, atol=1e-8)


WHEELS = [ph.rotor((0, 0, 1), 0.05, speed=80.0, torque=0.3), ph.rotor((1, 2, 0), 0.02, speed=-30.0, torque=-0.1)]
DRAGGED = np.diag((1.0, 2.0, 3.0, 0.1, 0.2, 0.3))
DRAGGED[0, 4] = DRAGGED[4, 0] = 0.2
BOTH = {"rotors": WHEELS, "added_mass": DRAGGED}
EXTENDED = [{"rotors": WHEELS}, {"added_mass": DRAGGED}, BOTH, {"rotors": WHEELS, "pivot": (0.1, 0.2, -0.3)}]


@pytest.mark.parametrize("more", EXTENDED)
def test_accelerations_with_rotors_and_added_mass_are_rates(more):
    start = ph.State(angular_velocity_body=(0.4, 5.0, 0.1), quaternion_wxyz=TILTED, time=2.0)
    if "pivot" not in more:
        start = START
    forces = [ph.forces.gravity(), ph.forces.torque((0.1, 0, 0.2), axes="body")]
    motion = ph.simulate(BODY, start, forces, duration=1.0, method="dop853", rtol=1e-13, **more)
    nodes = motion.nodes()
    for t in (2.3, 2.7):
        assert np.allclose(nodes.accelerations(t), rate(nodes.velocities, t), rtol=0, atol=1e-6)
        turn = rate(lambda t: motion.at(t).angular_velocity, t)
        assert np.allclose(motion.recomputed_at([t]).angular_acceleration[-1], turn, rtol=0, atol=1e-6)


def test_accelerations_of_bodies_of_which_one_has_a_rotor_are_rates():
    wheel = ph.rotor((0, 0, 1), 0.05, speed=80.0, torque=0.3, body=1)
    spring = ph.forces.spring_between(0, 1, 20.0)
    motion = ph.simulate(
        [BODY, BODY], [START, START.replace(position=(4, 2, 3))], [spring],
        duration=1.0, method="dop853", rtol=1e-13, rotors=[wheel],
    )  # fmt: skip
    for body in (0, 1):
        nodes = motion.nodes(body=body)
        assert np.allclose(nodes.accelerations(2.4), rate(nodes.velocities, 2.4), rtol=0, atol=1e-6)


def test_accelerations_of_a_stepper_count_the_torques_that_its_rotors_have_now():
    stepper = ph.Stepper(BODY, START, rotors=WHEELS, rtol=1e-12)
    stepper.advance(0.3)
    stepper.set_rotor_torques((2.0, -1.0))
    nodes, h, around = stepper.nodes(), 1e-4, []
    stepper.advance(0.1)
    for k in range(3):
        around.append((nodes.velocities(), nodes.accelerations()))
        if k < 2:
            stepper.advance(h)
    assert np.allclose(around[1][1], (around[2][0] - around[0][0]) / (2 * h), rtol=0, atol=1e-4)


def test_nodes_of_a_body_whose_mass_changes_about_a_center_that_stays():
    """Against SciPy; nodal forces that sum to F accelerate it by F/m, with m at that time."""
    course = ph.mass_course((2.0, 3.0), (3.0, 1.0))
    motion = ph.simulate(BODY, START, mass_course=course, duration=1.0, rtol=1e-12)
    state, turn = motion.at(2.6), Rotation.from_quat(motion.at(2.6).quaternion_wxyz, scalar_first=True)
    there = state.position + turn.apply(BODY.nodes - BODY.center_of_mass)
    assert np.allclose(motion.nodes().positions(2.6), there, rtol=0, atol=1e-12)
    assert np.allclose(motion.nodes().velocities(2.6), rate(motion.nodes().positions, 2.6), rtol=0, atol=1e-8)
    stepper, still = ph.Stepper(BODY, mass_course=ph.mass_course((0, 1), (3.0, 1.0)), rtol=1e-12), len(BODY.nodes)
    stepper.set_nodal_forces(np.full((still, 3), 1 / still) * (2.0, 0, 0))
    stepper.advance(1.0)
    assert stepper.state.velocity[0] == pytest.approx(np.log(3.0), rel=1e-9)  # the integral of 2/(3 - 2 t)
    assert np.allclose(stepper.nodes().positions().shape, (still, 3))


def test_nodes_of_a_body_whose_center_of_mass_moves_are_refused():
    ends = np.array([BODY.center_of_mass, BODY.center_of_mass + np.array((0, 0, 0.1))])
    course = ph.mass_course((2.0, 3.0), (3.0, 1.0), ends)
    with pytest.raises(InputError, match="center of mass moves within it"):
        ph.simulate(BODY, START, mass_course=course, duration=1.0).nodes()
    with pytest.raises(ScenarioError, match="center of mass moves within it"):
        ph.Stepper(BODY, START, mass_course=course).set_nodal_forces(np.zeros((len(BODY.nodes), 3)))


def test_a_body_at_rest_has_no_displacement_to_the_bit():
    start = ph.State(position=(1, 2, 3), quaternion_wxyz=TILTED)
    motion = ph.simulate(BODY, start, duration=1.0, method="rk4", step=0.1)
    nodes = motion.nodes()
    assert not nodes.displacements([0.0, 0.35, 1.0]).any()
    assert not nodes.velocities(0.5).any()
    assert not nodes.accelerations(0.5).any()


def test_nodes_of_a_body_that_rests_on_the_floor_do_not_accelerate():
    cube = ph.Body.from_mesh(trimesh.creation.box((1, 1, 1)), mass=2.0)
    scene = {"contacts": [ph.floor(restitution=0.0, friction=0.5)]}
    start = ph.State(position=(0, 0, 0.6))
    motion = ph.simulate(cube, start, [ph.forces.gravity()], duration=1.0, **scene)
    assert np.abs(motion.nodes().accelerations(1.0)).max() < 1e-9
    assert np.allclose(motion.nodes().accelerations(0.05), (0, 0, -9.80665))
    stepper = ph.Stepper(cube, start, [ph.forces.gravity()], **scene)
    stepper.advance(1.0)
    assert np.abs(stepper.nodes().accelerations()).max() < 1e-9


@pytest.mark.parametrize("method", ["rk4", "dop853", "taylor"])
def test_nodes_of_a_stepper_are_those_of_the_motion(method):
    settings = {"method": method, "duration": 0.5, **({"step": 1 / 256} if method == "rk4" else {"rtol": 1e-12})}
    bodies, states = [ph.particle(1.0), BODY], [ph.State(time=2.0), START]
    loads = [ph.forces.force_at((1, 2, 3)).on(1), ph.forces.torque((0.1, 0.2, 0.3)).on(1)]
    motion = ph.simulate(bodies, states, loads, output_times=[2.0, 2.5], **settings)
    stepper = ph.Stepper(bodies, states, **settings)
    stepper.set_loads(force=(1, 2, 3), torque=(0.1, 0.2, 0.3), body=1)
    nodes, theirs = stepper.nodes(body=1), motion.nodes(body=1)
    stepper.advance(0.5)
    assert np.allclose(nodes.positions(), theirs.positions(2.5), rtol=0, atol=1e-11)
    assert np.allclose(nodes.displacements(), theirs.displacements(2.5), rtol=0, atol=1e-11)
    assert np.allclose(nodes.velocities(), theirs.velocities(2.5), rtol=0, atol=1e-10)
    assert np.allclose(nodes.accelerations(), theirs.accelerations(2.5), rtol=0, atol=1e-9)


def test_several_times_and_an_array_to_write_to(motion):
    nodes, out = motion.nodes(), np.empty((len(BODY.nodes), 3))
    assert nodes.positions(2.5, out=out) is out
    assert np.array_equal(nodes.positions([2.25, 2.5])[1], out)
    with pytest.raises(InputError, match="out must be a C-contiguous array"):
        nodes.positions(2.5, out=np.empty((3, len(nodes))).T)


def test_what_has_no_nodes_says_so(motion):
    with pytest.raises(InputError, match="give a time"):
        motion.nodes().positions()
    with pytest.raises(InputError, match="outside the run"):
        motion.nodes().positions(9.0)
    with pytest.raises(InputError, match="there is one body"):
        motion.nodes(body=2)
    with pytest.raises(InputError, match="3 numbers a point"):
        motion.nodes(np.zeros(3))
    shape = ph.simulate(ph.shapes.box((1, 1, 1), mass=1.0), duration=1.0)
    with pytest.raises(InputError, match="was not made from a mesh"):
        shape.nodes()
    assert shape.nodes([(0.5, 0, 0)]).positions(1.0).tolist() == [[0.5, 0, 0]]
    many = ph.ensemble(BODY, START.replace(velocity=np.ones((2, 3))), duration=1.0)
    with pytest.raises(InputError, match="take one of its members"):
        many.nodes()
    stepper = ph.Stepper(BODY, START, method="rk4", step=0.1)
    with pytest.raises(ScenarioError, match="leave the time out"):
        stepper.nodes().positions(1.0)


def test_the_global_kinetic_energy_against_a_sum_over_bodies(motion):
    two = ph.simulate([BODY, ph.particle(2.0)], [START, ph.State(velocity=(0, 3, 0), time=2.0)], duration=1.0)
    by_hand = two.kinetic_energy[:, 0] + 2.0 * 9.0 / 2
    assert np.allclose(two.total_kinetic_energy, by_hand, rtol=1e-12)
    assert np.array_equal(motion.total_kinetic_energy, motion.kinetic_energy)
