"""Any ODE solver can drive the equations: SciPy's does, and meets `simulate`."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import polhode as ph
from flat_states import state_from_array

TURNED = Rotation.from_euler("xyz", (0.3, -0.7, 1.1)).as_matrix()
BODIES = {
    "principal axes": ph.Body(mass=10.0, inertia=(0.81, 0.68, 0.14)),
    "any axes": ph.Body(mass=10.0, inertia=TURNED @ np.diag((0.81, 0.68, 0.14)) @ TURNED.T),
}
START = ph.State(
    position=(1, 2, 3),
    orientation=Rotation.from_euler("zxz", (0.1, 0.9, 0.4)),
    velocity=(3, -1, 2),
    angular_velocity_body=(1.0, 2.0, -0.5),
)
FORCES = [
    ph.forces.gravity(),
    ph.forces.quadratic_drag(0.4, wind=(1, 2, 0)),
    ph.forces.force_at((0, 1, 2), (0.2, 0.1, 0)),
]


@pytest.mark.parametrize("which", BODIES)
@pytest.mark.parametrize(("formulation", "numbers"), [("momentum", 13), ("momentum_matrix", 18)])
def test_solve_ivp_on_the_derivative_agrees_with_simulate(which, formulation, numbers):
    body = BODIES[which]
    y0 = START.to_array(body, formulation)
    assert y0.shape == (numbers,)
    scenario = ph.Scenario(body, START, FORCES, duration=2.0)
    solution = solve_ivp(scenario.derivative, (0, 2), y0, method="DOP853", rtol=1e-12, atol=1e-12)
    end = state_from_array(solution.y[:, -1], body, formulation, time=2.0)
    final = ph.simulate(body, START, FORCES, duration=2.0, rtol=1e-12, output_times=[2.0], engine="python").final
    assert end.position == pytest.approx(final.position, abs=1e-10)
    assert (end.orientation * final.orientation.inv()).magnitude() < 1e-10
    assert end.angular_velocity_body == pytest.approx(final.angular_velocity_body, abs=1e-9)


def test_solve_ivp_integrates_the_derivative_of_a_system():
    bodies = list(BODIES.values())
    states = [START, ph.State(position=(2, 2, 3), angular_velocity=(0, 0, 1))]
    forces = [
        ph.forces.spring_between(0, 1, 30.0, com_to_point_a=(0.1, 0.2, 0), damping=0.5, length=0.8),
        ph.forces.gravity().on(1),
    ]
    scenario = ph.Scenario(bodies, states, forces, duration=1.0)
    y0 = np.concatenate([s.to_array(b) for s, b in zip(states, bodies, strict=True)])
    solution = solve_ivp(scenario.derivative, (0, 1), y0, method="DOP853", rtol=1e-12, atol=1e-12)
    finals = ph.simulate(bodies, states, forces, duration=1.0, rtol=1e-12, output_times=[1.0], engine="python").final
    for part, body, final in zip(solution.y[:, -1].reshape(2, 13), bodies, finals, strict=True):
        assert state_from_array(part, body).position == pytest.approx(final.position, abs=1e-9)
        assert state_from_array(part, body).angular_velocity == pytest.approx(final.angular_velocity, abs=1e-9)


@pytest.mark.parametrize("formulation", ["momentum", "momentum_matrix"])
@pytest.mark.parametrize("which", BODIES)
def test_a_state_goes_into_an_array_and_back(which, formulation):
    body = BODIES[which]
    back = state_from_array(START.to_array(body, formulation), body, formulation)
    assert back.position == pytest.approx(START.position, rel=1e-15)
    assert back.velocity == pytest.approx(START.velocity, rel=1e-14)
    assert (back.orientation * START.orientation.inv()).magnitude() < 1e-15
    assert back.angular_velocity_body == pytest.approx(START.angular_velocity_body, rel=1e-13)


def test_the_momentum_of_the_array_is_that_of_the_state():
    body = BODIES["any axes"]
    y = START.to_array(body)
    assert y[7:10] == pytest.approx(10.0 * START.velocity)
    world = START.orientation.as_matrix() @ body.inertia_body @ START.angular_velocity_body
    assert y[10:13] == pytest.approx(world, rel=1e-13)


def test_a_particle_moves_by_newton_alone_whatever_acts():
    """[Baraff 1997, eq. 1-3]: forces at points that would turn a body only push a particle."""
    forces = [*FORCES, ph.forces.torque((1, 2, 3)), ph.forces.spring(5.0, (0, 0, 0), (0.3, 0, 0), damping=0.1)]
    particle = ph.particle(2.0)
    motion = ph.simulate(particle, ph.State(velocity=(1, 0, 0)), forces, duration=1.0, rtol=1e-10)
    assert np.array_equal(motion.angular_velocity, np.zeros_like(motion.angular_velocity))
    assert np.array_equal(motion.quaternion_wxyz[-1], (1, 0, 0, 0))
    assert motion.audit()["work-energy residual"].relative < 1e-9
