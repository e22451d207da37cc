"""Thrusters and impulses against sums by hand: no step crosses a discontinuity."""

from __future__ import annotations

import numpy as np
import pytest

import polhode as ph

f = ph.forces
# The laws as they stand give the same bits as compiled ones, and need no compilation.
pytestmark = pytest.mark.filterwarnings("ignore:engine='python'")
STONE = ph.particle(2.0)
METHODS = [{"step": 0.0625, "method": "rk4"}, {"step": 0.07, "method": "midpoint"}, {"method": "dop853"}]


def run(forces, body=STONE, state=None, duration=1.0, **settings):
    return ph.simulate(body, state, forces, duration=duration, engine="python", **settings)


def pushed(t, thrust, start, stop):
    """Velocity and path of a stone of 2 kg that a thruster pushes from `start` to `stop`."""
    a, burnt = thrust / 2.0, np.clip(t, start, stop) - start
    return a * burnt, a * burnt**2 / 2 + a * burnt * np.maximum(t - stop, 0.0)


@pytest.mark.parametrize("settings", METHODS, ids=lambda settings: settings["method"])
@pytest.mark.parametrize("window", [(0.0, 0.5), (0.2, 0.21), (0.3, 0.777), (0.5, np.inf), (-1.0, 0.4), (0.25, 0.25)])
def test_a_thruster_pushes_from_its_start_to_its_stop_and_not_longer(window, settings):
    times = np.array([0.0, 0.1, 0.2, 0.21, 0.3, 0.33, 0.4, 0.5, 0.777, 0.9, 1.0])
    motion = run([f.thruster((0, 0, 0), (0, 3, 0), 4.0, *window)], output_times=times, **settings)
    velocity, path = pushed(times, 4.0, max(window[0], 0.0), window[1])
    assert motion.velocity[:, 1] == pytest.approx(velocity, abs=1e-14)
    assert motion.position[:, 1] == pytest.approx(path, abs=1e-14)
    assert not motion.position[:, [0, 2]].any()
    velocity, path = pushed(0.35, 4.0, max(window[0], 0.0), window[1])
    assert motion.at(0.35).position[1] == pytest.approx(path, abs=1e-14)


@pytest.mark.filterwarnings("ignore:an impulse at")
def test_thrusters_and_impulses_add_up():
    forces = [
        f.thruster((0, 0, 0), (0, 1, 0), 4.0, 0.1, 0.35),
        f.thruster((0, 0, 0), (0, 1, 0), 2.0, 0.35, 0.6),
        f.impulse((0.0, 3.0, 0.0), 0.35),
        f.impulse((0.0, 1.0, 0.0), 0.35),
        f.impulse((0.0, 5.0, 0.0), 0.0),
        f.impulse((0.0, 7.0, 0.0), 1.0),
        f.impulse((0.0, 900.0, 0.0), 1.5),
    ]
    motion = run(forces, step=0.0625, output_times=[0.0, 0.34, 0.35, 0.36, 1.0])
    momentum = motion.linear_momentum[:, 1]
    assert momentum == pytest.approx([5.0, 5.96, 5.0 + 1.0 + 4.0, 10.02, 5.0 + 1.0 + 4.0 + 0.5 + 7.0], rel=1e-14)
    assert motion.work[-1] == pytest.approx(momentum[-1] ** 2 / 4.0, rel=1e-13)


def test_an_impulse_acts_only_on_its_bodies():
    motion = ph.simulate(
        [STONE, STONE, STONE],
        [ph.State()] * 3,
        [f.impulse((4.0, 0.0, 0.0), 0.5).on(0, 2)],
        duration=1.0,
        step=0.125,
        engine="python",
    )
    assert motion.velocity[-1, :, 0].tolist() == [2.0, 0.0, 2.0]
    assert motion.position[-1, :, 0] == pytest.approx([1.0, 0.0, 1.0])


def test_an_impulse_off_center_turns_the_body():
    """L jumps by r x J, about the center; about a pivot by (r from the pivot) x J."""
    body, impulse, arm = ph.Body(2.0, (1.0, 2.0, 2.5)), np.array((0.0, 0.0, 3.0)), np.array((0.5, 0.0, 0.0))
    free = run([f.impulse(impulse, 0.5, arm)], body, step=0.125).at(0.5)
    assert free.velocity.tolist() == [0.0, 0.0, 1.5]
    assert free.angular_velocity_body == pytest.approx(np.cross(arm, impulse) / (1.0, 2.0, 2.5))
    pivot = np.array((0.0, -1.0, 0.0))
    held = run([f.impulse(impulse, 0.5, arm)], body, step=0.125, pivot=pivot).at(0.5)
    about_pivot = np.diag((1.0, 2.0, 2.5)) + 2.0 * (pivot @ pivot * np.eye(3) - np.outer(pivot, pivot))
    assert held.angular_velocity == pytest.approx(np.linalg.solve(about_pivot, np.cross(arm - pivot, impulse)))


def test_members_with_windows_and_impulses_of_their_own_move_as_alone():
    starts, impulses = np.array([0.1, 0.25, 0.1, 0.4]), np.array([0.3, 0.3, 0.7, 0.05])

    def forces(start, impulse):
        return [f.thruster((0.1, 0, 0), (0, 1, 1), 4.0, start, 0.5), f.impulse((1.0, 2.0, 0.0), impulse, (0, 0, 0.1))]

    body = ph.Body(2.0, (1.0, 2.0, 2.5))
    settings = {"duration": 1.0, "step": 0.0625, "engine": "python", "output_step": 0.25}
    many = ph.ensemble(body, ph.State(), forces(starts, impulses), **settings)
    for i in range(4):
        alone = ph.simulate(body, ph.State(), forces(float(starts[i]), float(impulses[i])), **settings)
        assert (many.position[:, i] == alone.position).all()
        assert (many.quaternion_wxyz[:, i] == alone.quaternion_wxyz).all()
        assert (many.at(0.6).velocity[i] == alone.at(0.6).velocity).all()
