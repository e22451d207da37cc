"""The rules of events, the same for every method that finds them.  Judge: a ball that falls 5 m in 1 s, at 10 m/s2."""

import warnings

import numpy as np
import pytest

import polhode as ph
from polhode.errors import RunError

BALL, DROPPED, WEIGHT = ph.particle(1.0), ph.State(position=(0, 0, 5.0)), [ph.forces.gravity(10.0)]
NO_TURN = (0.0, 0.0, 0.0)
METHODS = ["taylor", "dop853"]


@ph.event
def level(t, state, body, params):
    return state.position[2] - params[0]


@ph.event
def climbing(t, state, body, params):
    return state.velocity[2]


def rebound(t, state, body, params):
    return (0.0, 0.0, -2 * state.linear_momentum[2]), NO_TURN


def land(t, state, body, params):
    p = state.linear_momentum
    return (-p[0], -p[1], -p[2]), NO_TURN


def slow_down(t, state, body, params):
    return (0.0, 0.0, -state.linear_momentum[2] / 2), NO_TURN


def push_sideways(t, state, body, params):
    return (3.0, 0.0, 0.0), NO_TURN


def run(method, start, events, duration, **settings):
    """dop853 uncompiled: short runs that need no compiler."""
    engine = "python" if method == "dop853" else "cpu"
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="engine='python'")
        return ph.simulate(
            BALL, start, WEIGHT, duration=duration, method=method, rtol=1e-12, events=events, engine=engine, **settings
        )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("time", [1.0, 0.5, 0.75])
def test_an_output_at_a_change_shows_the_state_after_it(method, time):
    start = ph.State(position=(0, 0, 5 * time**2))
    motion = run(method, start, [level(0.0, change=rebound)], 2 * time, output_step=time / 4)
    exact = np.where(motion.times < time, -10 * motion.times, 10 * (2 * time - motion.times))
    assert np.abs(motion.velocity[:, 2] - exact).max() < 1e-13


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("action", ["stop", "record"])
@pytest.mark.parametrize("time", [1.0, 0.7, 0.3])
def test_an_event_at_the_end_is_found(method, action, time):
    start = ph.State(position=(0, 0, 5 * time**2))
    motion = run(method, start, [level(0.0, action=action)], time, output_step=time / 2)
    assert motion.crossing_times("level") == pytest.approx([time], abs=1e-15)
    assert len(motion.times) == 3
    assert motion.times[-1] == pytest.approx(time, abs=1e-15)


@pytest.mark.parametrize("method", METHODS)
def test_a_change_at_the_end_is_shown(method):
    motion = run(method, DROPPED, [level(0.0, change=rebound)], 1.0, output_step=0.25)
    assert motion.crossing_times("level") == pytest.approx([1.0], abs=1e-15)
    assert motion.final.velocity[2] == pytest.approx(10.0, abs=1e-13)
    assert motion.final.position[2] == pytest.approx(0.0, abs=1e-14)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("height", [5.0, 3.3, 7.1, 1e-3])
def test_a_run_continues_after_a_stop(method, height):
    """Through the level, and thrown back up: it lands again after twice the time of the fall."""
    stopped = run(method, ph.State(position=(0, 0, height)), [level(0.0)], 5.0)
    fall = np.sqrt(height / 5)
    assert stopped.times[-1] == pytest.approx(fall, rel=1e-14)
    on = run(method, stopped.final, [level(0.0)], 1.0)
    assert not on.crossings
    assert on.times[-1] == pytest.approx(fall + 1.0, rel=1e-14)
    thrown = stopped.final.replace(velocity=-stopped.final.velocity)
    assert run(method, thrown, [level(0.0)], 5.0).times[-1] == pytest.approx(3 * fall, rel=1e-13)


@pytest.mark.parametrize("method", METHODS)
def test_a_run_continues_after_a_slow_crossing(method):
    """Just below its apex the ball crosses the level at 45 um/s, upwards, and 8.9 us later downwards."""
    below = 1e-10
    stopped = run(method, ph.State(velocity=(0, 0, 10.0)), [level(5.0 - below)], 3.0)
    rise = np.sqrt(below / 5)
    rounding = 1e-10 if method == "taylor" else 1e-9  # the sums of a step round a height of 5 m by 2e-14
    assert stopped.times[-1] == pytest.approx(1 - rise, abs=rounding)
    on = run(method, stopped.final, [level(5.0 - below)], 1.0)
    assert on.times[-1] == pytest.approx(1 + rise, abs=rounding)


@pytest.mark.parametrize("method", METHODS)
def test_a_plastic_landing_is_an_error(method):
    with pytest.raises(RunError, match=r"level stops body 0.*plastic landing.*action='stop'") as error:
        run(method, DROPPED, [level(0.0, change=land)], 10.0, output_step=0.25)
    assert error.value.time == pytest.approx(1.0, abs=1e-14)
    assert error.value.motion.times[-1] <= 1.0


@pytest.mark.parametrize("method", METHODS)
def test_a_change_may_let_the_body_pass(method):
    """Half the speed at a level, and a push at the apex: both go on to the far side."""
    motion = run(method, DROPPED, [level(0.0, change=slow_down)], 2.0, output_step=0.5)
    assert motion.final.position[2] == pytest.approx(-5.0 - 5.0, abs=1e-12)
    motion = run(method, ph.State(velocity=(0, 0, 10.0)), [climbing(change=push_sideways)], 3.0, output_step=0.5)
    assert motion.final.position == pytest.approx((6.0, 0.0, -15.0), abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_bounces_that_end_exactly_on_the_floor(method):
    motion = run(method, DROPPED, [level(0.0, change=rebound)], 10.5)
    assert motion.crossing_times("level") == pytest.approx([1.0, 3.0, 5.0, 7.0, 9.0], abs=1e-13)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("time", [1.0, 0.7, 0.3, 0.6])
def test_an_event_exactly_at_a_break_is_found(method, time):
    start, breaks = ph.State(position=(0, 0, 5 * time**2)), [time]
    noted = run(method, start, [level(0.0, action="record")], 2.5 * time, breaks=breaks)
    assert noted.crossing_times("level") == pytest.approx([time], abs=1e-15)
    thrown_back = run(method, start, [level(0.0, change=rebound)], 2.5 * time, breaks=breaks)
    assert thrown_back.crossing_times("level") == pytest.approx([time], abs=1e-15)
    assert thrown_back.final.velocity[2] == pytest.approx(-5 * time, abs=1e-12)
