"""A body may be described along any axes: nobody outside notices the principal ones inside."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.equations.formulations import FORMULATIONS

# The laws as they stand give the same bits as compiled ones, and need no compilation.
pytestmark = pytest.mark.filterwarnings("ignore:engine='python'")
MOMENTS = np.diag((0.6, 0.8, 1.0))
OTHER = Rotation.from_euler(
    "xyz", (0.4, -1.0, 2.0)
)  # components along the second set of axes = OTHER applied to the first
START = {"position": (1.0, 0.0, 2.0), "velocity": (0.5, 1.0, 0.0)}
SPIN, ATTITUDE = np.array((1.0, -0.5, 2.0)), Rotation.from_euler("zxz", (0.2, 0.8, -0.3))


@ph.force(axes="body")
def steering(t, state, body, params):
    """A torque in body axes that depends on the velocity seen from the body."""
    wind = ph.to_body(state.orientation, state.velocity)
    w = state.angular_velocity_body
    torque = params[0]
    return (0.0 * t, 0.0 * t, 0.0 * t), (
        torque[0] - 0.1 * wind[0] - 0.05 * w[0],
        torque[1] - 0.1 * wind[1] - 0.05 * w[1],
        torque[2] - 0.1 * wind[2] - 0.05 * w[2],
    )


def described(turn):
    """The same body, start and forces with every body vector given along turned axes."""

    def t(vector):
        return tuple(turn.apply(vector))

    tensor = turn.as_matrix() @ MOMENTS @ turn.as_matrix().T
    body = ph.Body(mass=2.0, inertia=tensor if turn.magnitude() else (0.6, 0.8, 1.0))
    state = ph.State(orientation=ATTITUDE * turn.inv(), angular_velocity_body=t(SPIN), **START)
    forces = [
        ph.forces.point_gravity(300.0, (0.0, 0.0, -9.0)),
        ph.forces.force_at((0.3, 0.0, 0.1), t((0.1, 0.2, 0.3))),
        ph.forces.force_at(t((0.2, 0.1, 0.0)), t((0.0, 0.3, 0.1)), axes="body"),
        ph.forces.torque(t((0.1, 0.0, 0.2)), axes="body"),
        ph.forces.thruster(t((0.0, 0.1, 0.0)), t((1.0, 1.0, 0.0)), 0.7, start=0.1, stop=0.6),
        ph.forces.spring(3.0, (0.0, 1.0, 0.0), t((0.2, 0.0, 0.1)), damping=0.2, length=0.5),
        steering(t((0.05, 0.1, -0.1))),
    ]
    return body, state, forces


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_the_motion_does_not_depend_on_the_axes_of_the_description(formulation):
    settings = {"duration": 1.0, "step": 0.01, "method": "rk4", "formulation": formulation, "engine": "python"}
    a = ph.simulate(*described(Rotation.identity()), **settings).final
    b = ph.simulate(*described(OTHER), **settings).final
    assert b.position == pytest.approx(a.position, abs=1e-7)
    assert (b.orientation * OTHER * a.orientation.inv()).magnitude() < 1e-6
    assert b.angular_velocity == pytest.approx(a.angular_velocity, abs=1e-6)
    assert b.angular_velocity_body == pytest.approx(OTHER.apply(a.angular_velocity_body), abs=1e-6)


def test_all_formulations_tell_the_same_motion():
    body, state, forces = described(OTHER)
    settings = {"duration": 1.0, "step": 2e-3, "method": "rk4", "engine": "python"}
    finals = [ph.simulate(body, state, forces, formulation=name, **settings).final for name in FORMULATIONS]
    for final in finals[1:]:
        assert final.position == pytest.approx(finals[0].position, abs=1e-10)
        assert (final.orientation * finals[0].orientation.inv()).magnitude() < 1e-9


def test_impulses_strike_alike_in_both_axes():
    for axes in ("world", "body"):
        ends = []
        for turn in (Rotation.identity(), OTHER):
            body, state, _ = described(turn)
            impulse = (1.0, 0.5, -0.2) if axes == "world" else tuple(turn.apply((1.0, 0.5, -0.2)))
            kick = ph.forces.impulse(impulse, 0.305, tuple(turn.apply((0.1, 0.0, 0.2))), axes=axes)
            ends.append(ph.simulate(body, state, [kick], duration=1.0, step=0.01).final)
        assert ends[0].position == pytest.approx(ends[1].position, abs=1e-12)
        assert ends[0].angular_velocity == pytest.approx(ends[1].angular_velocity, abs=1e-8)


def test_points_and_the_world_tensor_follow_scipy_s_rotation():
    body, state, _ = described(OTHER)
    motion = ph.simulate(body, state, duration=1.0, step=0.01, method="rk4")
    r = motion.final.orientation.as_matrix()
    assert motion.inertia_world[-1] == pytest.approx(r @ body.inertia_body @ r.T, abs=1e-12)
    assert motion.rotation_matrix[-1] == pytest.approx(r, abs=1e-15)
    points = np.array([(0.1, 0.2, 0.3), (-1.0, 0.0, 0.5)])
    assert motion.points(points)[-1] == pytest.approx(points @ r.T + motion.final.position, abs=1e-14)
    late, soon = motion.at(0.5 + 1e-5), motion.at(0.5 - 1e-5)
    speed = (late.to_world(points) - soon.to_world(points)) / 2e-5
    assert motion.point_velocities(points)[50] == pytest.approx(speed, abs=1e-8)
    assert motion.final.to_body(motion.final.to_world(points)) == pytest.approx(points, abs=1e-15)
    spin = motion.final.to_world(motion.final.angular_velocity_body, kind="vector")
    assert spin == pytest.approx(motion.final.angular_velocity, abs=1e-15)


def test_the_ensemble_takes_tensors_along_any_axes_too():
    rng = np.random.default_rng(5)
    turns = Rotation.random(20, random_state=rng)
    r = turns.as_matrix()
    body = ph.Body(mass=2.0, inertia=r @ MOMENTS @ np.swapaxes(r, 1, 2))
    state = ph.State(orientation=ATTITUDE * turns.inv(), angular_velocity_body=turns.apply(SPIN))
    final = ph.ensemble(body, state, duration=1.0, step=0.01, method="rk4").final
    alone = ph.simulate(
        ph.Body(mass=2.0, inertia=(0.6, 0.8, 1.0)),
        ph.State(orientation=ATTITUDE, angular_velocity_body=SPIN),
        duration=1.0,
        step=0.01,
        method="rk4",
    ).final
    assert final.angular_velocity == pytest.approx(np.tile(alone.angular_velocity, (20, 1)), abs=1e-6)
