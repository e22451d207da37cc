"""A run that starts late in time loses nothing.  Judges: the same run from time 0, and a fall of 5 m."""

import numpy as np
import pytest

import polhode as ph

BODY = ph.Body(mass=1.0, inertia=(1.0, 2.0, 2.5))


def run(start, method, **settings):
    state = ph.State(velocity=(1, 0, 0), angular_velocity_body=(0.1, 2.0, 0.3), time=start)
    forces = [ph.forces.gravity(), ph.forces.linear_drag(0.1)]
    times = start + np.array([0.5, 5.0, 10.0])
    return ph.simulate(BODY, state, forces, duration=10.0, method=method, output_times=times, **settings)


@pytest.mark.parametrize("start", [1e6, 1.7e9, 2.0**40])
@pytest.mark.parametrize(("method", "settings"), [("dop853", {"rtol": 1e-12}), ("rk4", {"step": 1 / 64})])
def test_a_late_start_changes_no_bit_of_an_autonomous_motion(start, method, settings):
    now, late = run(0.0, method, **settings), run(start, method, **settings)
    for name in ("position", "velocity", "quaternion_wxyz", "angular_velocity"):
        assert np.array_equal(getattr(now, name), getattr(late, name)), name


def test_events_of_a_late_run_against_the_closed_form():
    """Dropped from 5 m at 10 m/s2, at Unix time: it lands after 1 s."""

    @ph.event
    def landing(t, state, body, params):
        return state.position[2]

    start = 1.7e9
    state = ph.State(position=(0, 0, 5.0), time=start)
    motion = ph.simulate(ph.particle(1.0), state, [ph.forces.gravity(10.0)], duration=4.0, events=[landing()])
    assert motion.times[-1] - start == pytest.approx(1.0, abs=2 * np.spacing(start))
    assert motion.final.position[2] == pytest.approx(0.0, abs=1e-13)
    assert motion.final.velocity[2] == pytest.approx(-10.0, rel=1e-13)
