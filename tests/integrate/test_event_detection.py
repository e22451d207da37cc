"""Events: where a function of the state crosses zero, against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

import polhode as ph
from polhode.errors import RunError, ScenarioError
from polhode.reference.free_rotation import AsymmetricTop

f = ph.forces
pytestmark = pytest.mark.filterwarnings("ignore:engine='python'")
G = 9.80665
STONE = ph.particle(2.0)
GRAVITY = [f.gravity()]
PLAIN = {"method": "dop853", "engine": "python"}


@ph.event
def ground(t, state, body, params):
    return state.position[2]


@ph.event
def height(t, state, body, params):
    return state.position[2] - params[0]


@ph.event
def apex(t, state, body, params):
    return state.velocity[2]


@ph.event
def second_spin(t, state, body, params):
    return state.angular_velocity_body[1]


@ph.event
def noon(t, state, body, params):
    return t - params[0]


def bounce(t, state, body, params):
    return (0.0, 0.0, -(1.0 + params[0]) * state.linear_momentum[2]), (0.0, 0.0, 0.0)


def thrown(height_m=1.0, up=3.0):
    return ph.State(position=(0.0, 0.0, height_m), velocity=(1.0, 0.0, up))


def landing_time(height_m=1.0, up=3.0):
    return (up + math.sqrt(up * up + 2 * G * height_m)) / G


def run(events, state=None, body=STONE, forces=GRAVITY, duration=5.0, **settings):
    return ph.simulate(body, state or thrown(), forces, duration=duration, events=events, **{**PLAIN, **settings})


# Stop ----------------------------------------------------------------------------------------------------------------
def test_a_thrown_stone_stops_where_it_lands():
    motion = run([ground()])
    assert motion.times[-1] == pytest.approx(landing_time(), rel=1e-15)
    assert abs(motion.final.position[2]) < 3e-15
    assert motion.final.position[0] == pytest.approx(landing_time(), rel=1e-14)
    assert motion.position.shape == (len(motion.times), 3)
    assert (np.diff(motion.times) > 0).all()
    (crossing,) = motion.crossings
    assert (crossing.name, crossing.body, crossing.ends) == ("ground", 0, True)
    assert crossing.time == motion.times[-1] == motion.end_times
    assert np.array_equal(crossing.state.position, motion.final.position)
    assert motion.audit()["energy"].relative < 1e-13


def test_samples_before_an_event_equal_those_of_a_run_without_events():
    with_event, without = run([ground()]), run([])
    before = len(with_event.times) - 1
    assert np.array_equal(with_event.times[:-1], without.times[:before])
    assert with_event.position[:-1] == pytest.approx(without.position[:before], abs=1e-13)


def test_a_time_before_the_stop_can_be_asked_for():
    motion = run([ground()])
    assert motion.at(0.3).position[2] == pytest.approx(1 + 3 * 0.3 - G * 0.045, rel=1e-14)
    with pytest.raises(ph.PolhodeError, match="outside the run"):
        motion.at(2.0)


def test_an_event_that_never_happens_changes_nothing():
    watched, free = run([height(-1e9)]), run([])
    assert np.array_equal(watched.position, free.position)
    assert watched.crossings == []
    assert watched.crossing_times("height").shape == (0,)


@pytest.mark.parametrize("rtol", [1e-5, 1e-8, 1e-11])
def test_with_air_the_landing_is_as_exact_as_the_steps(rtol):
    forces = [f.gravity(), f.quadratic_drag(0.4)]
    exact = run([ground()], forces=forces, rtol=1e-13)
    motion = run([ground()], forces=forces, rtol=rtol)
    assert motion.times[-1] == pytest.approx(exact.times[-1], rel=20 * rtol)
    assert abs(motion.final.position[2]) < 1e-15


# Record --------------------------------------------------------------------------------------------------------------
def test_the_apex_is_recorded_and_the_motion_goes_on_unchanged():
    motion, free = run([apex(action="record")]), run([])
    assert motion.crossing_times("apex") == pytest.approx([3 / G], rel=1e-15)
    assert motion.crossings[0].state.position[2] == pytest.approx(1 + 9 / (2 * G), rel=1e-14)
    assert not motion.crossings[0].ends
    assert np.array_equal(motion.position, free.position)
    assert np.array_equal(motion.times, free.times)


def test_the_flips_of_a_wingnut_against_the_closed_form():
    moments, rates = (1.0, 2.0, 3.0), (0.3, 2.0, 0.2)
    top = AsymmetricTop(moments, rates)
    motion = ph.simulate(
        ph.Body(1.0, moments),
        ph.State(angular_velocity_body=rates),
        duration=30.0,
        rtol=1e-12,
        formulation="body_rates",
        events=[second_spin(action="record")],
        **PLAIN,
    )
    times = motion.crossing_times("second_spin")
    assert len(times) == int((30.0 - times[0]) / top.flip_time) + 1
    assert np.diff(times) == pytest.approx(np.full(len(times) - 1, top.flip_time), rel=1e-9)
    assert np.abs(top.rates_at(times)[:, 1]).max() < 1e-8
    assert max(abs(c.state.angular_velocity_body[1]) for c in motion.crossings) < 1e-14


@pytest.mark.parametrize(("direction", "expected"), [(1, [0]), (-1, [1]), (0, [0, 1])])
def test_only_the_direction_asked_for_counts(direction, expected):
    both = np.array([(3 - math.sqrt(9 - 0.6 * G)) / G, (3 + math.sqrt(9 - 0.6 * G)) / G])
    motion = run([height(1.3, action="record", direction=direction)])
    assert motion.crossing_times("height") == pytest.approx(both[expected], rel=1e-14)


def test_events_come_in_the_order_of_time_also_inside_one_step():
    levels = [1.2, 0.4, 0.9, 0.1, 1.4]
    events = [height(level, action="record") for level in levels]
    motion = run([*events, apex(action="record"), ground()])
    times = [c.time for c in motion.crossings]
    assert times == sorted(times)
    assert len(times) == 2 * 2 + 3 + 1 + 1
    roots = sorted(
        t
        for z in levels
        for t in ((3 - math.sqrt(9 + 2 * G * (1 - z))) / G, (3 + math.sqrt(9 + 2 * G * (1 - z))) / G)
        if t > 0
    )
    assert motion.crossing_times("height") == pytest.approx(roots, rel=1e-13)
    assert motion.steps < 15


def test_counts_say_which_crossing_stops_and_how_many_are_noted():
    swing = {"state": ph.State(position=(0, 0, 1.0)), "forces": [f.spring(2.0 * math.pi**2, (0, 0, 0))]}
    motion = run([ground(count=3)], duration=9.0, **swing)  # cos(pi t)
    assert motion.crossing_times("ground") == pytest.approx([0.5, 1.5, 2.5], rel=1e-8)
    assert motion.times[-1] == pytest.approx(2.5, rel=1e-8)
    assert [c.ends for c in motion.crossings] == [False, False, True]
    noted = run([ground(action="record", count=2)], duration=9.0, **swing)
    assert len(noted.crossings) == 2
    assert noted.times[-1] == 9.0


@pytest.mark.parametrize("within", [0.1, 1e-3])
def test_a_tolerance_in_time_is_kept(within):
    motion = run([ground(within=within)])
    assert abs(motion.times[-1] - landing_time()) <= within
    exact = run([ground()])
    assert motion.steps <= exact.steps


def test_a_function_of_the_time_alone():
    assert run([noon(1.234)]).times[-1] == pytest.approx(1.234, rel=1e-15)


@pytest.mark.parametrize("height_m", [0.0, -0.0])
def test_a_function_that_is_zero_at_the_start_has_not_crossed_yet(height_m):
    motion = run([ground()], thrown(height_m, 3.0))
    assert motion.crossing_times("ground") == pytest.approx([6.0 / G], rel=1e-14)
    falling = run([ground(action="record")], thrown(height_m, -1.0))
    assert falling.crossings == []


def test_crossings_before_and_after_an_impulse():
    """An impulse reverses the velocity: that is a jump, no crossing; the apex after it is one."""
    motion = run([apex(action="record")], forces=[f.gravity(), f.impulse((0.0, 0.0, 20.0), 1.0)])
    assert motion.crossing_times("apex") == pytest.approx([3 / G, 1.0 + (3 - G + 10.0) / G], rel=1e-14)


# Change --------------------------------------------------------------------------------------------------------------
def bounces(restitution, count):
    """When a ball that is dropped from 1 m bounces: a geometric series."""
    first = math.sqrt(2 / G)
    gaps = 2 * first * restitution ** np.arange(1, count)
    return np.cumsum([first, *gaps])


def test_a_ball_bounces_in_a_geometric_series():
    ball = ground(0.8, change=bounce, direction=-1)
    motion = run([ball], ph.State(position=(0, 0, 1.0)), duration=3.0)
    expected = bounces(0.8, 40)
    expected = expected[expected < 3.0]
    assert motion.crossing_times("ground") == pytest.approx(expected, rel=1e-13)
    assert motion.position[:, 2].min() > -1e-12
    assert motion.audit()["work-energy residual"].relative < 1e-12
    assert "energy" not in [finding.quantity for finding in motion.audit().findings]
    speeds = [c.state.velocity[2] for c in motion.crossings]  # before the bounce
    assert speeds == pytest.approx(-math.sqrt(2 * G) * 0.8 ** np.arange(len(speeds)), rel=1e-12)
    assert motion.at(1.0).position[2] == pytest.approx(
        motion.position[np.argmin(np.abs(motion.times - 1.0)), 2], abs=0.2
    )


@pytest.mark.parametrize("restitution", [0.8, 0.3])
def test_a_ball_that_comes_to_rest_is_reported_and_does_not_hang(restitution):
    with pytest.raises(RunError, match="ground follows itself ever faster on body 0") as stopped:
        run([ground(restitution, change=bounce)], ph.State(position=(0, 0, 1.0)))
    rest = math.sqrt(2 / G) * (1 + restitution) / (1 - restitution)
    assert stopped.value.time == pytest.approx(rest, rel=1e-8)
    motion = stopped.value.motion
    assert motion.times[-1] <= rest
    found = motion.crossing_times("ground")
    assert found == pytest.approx(bounces(restitution, len(found)), rel=1e-12)


def test_a_count_ends_the_bounces():
    motion = run([ground(0.5, change=bounce, count=2)], ph.State(position=(0, 0, 1.0)), duration=3.0)
    assert motion.crossing_times("ground") == pytest.approx(bounces(0.5, 2), rel=1e-14)
    assert motion.final.position[2] < -1.0


def test_a_change_turns_a_body_and_the_work_is_counted():
    def kick(t, state, body, params):
        return (0.0, 0.0, 0.0), (0.0, 0.0, params[0])

    body, start = ph.Body(2.0, (1.0, 2.0, 2.5)), ph.State(angular_velocity_body=(0.3, 0.2, 0.1))
    motion = ph.simulate(
        body, start, duration=2.0, events=[noon(1.0, change=kick), noon(1.5, 0.7, change=kick)], **PLAIN
    )
    assert motion.work is not None
    spin = motion.angular_momentum[-1] - motion.angular_momentum[0]
    assert spin == pytest.approx([0.0, 0.0, 1.0 + 1.5], rel=1e-12)
    assert motion.audit()["work-energy residual"].relative < 1e-8


def test_a_corner_is_two_bounces_at_one_instant():
    @ph.event
    def floor(t, state, body, params):
        return state.position[2]

    @ph.event
    def wall(t, state, body, params):
        return state.position[0]

    def back(t, state, body, params):
        return (-2.0 * state.linear_momentum[0], 0.0, 0.0), (0.0, 0.0, 0.0)

    start = ph.State(position=(1.0, 0.0, 1.0), velocity=(-1.0, 0.0, -1.0))
    events = [floor(1.0, change=bounce), wall(change=back)]
    motion = ph.simulate(STONE, start, duration=2.0, events=events, **PLAIN)
    assert motion.crossing_times("floor") == pytest.approx([1.0])
    assert motion.crossing_times("wall") == pytest.approx([1.0])
    assert motion.final.position == pytest.approx([1.0, 0.0, 1.0])


# Systems -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("forces", [GRAVITY, [*GRAVITY, f.spring_between(0, 1, 0.0)]], ids=["free", "coupled"])
def test_in_a_system_each_body_has_its_events_and_a_stop_ends_all(forces):
    states = [thrown(2.0), thrown(1.0), thrown(4.0)]
    motion = ph.simulate([STONE] * 3, states, forces, duration=5.0, events=[apex(action="record"), ground()], **PLAIN)
    landing = motion.crossings[-1]
    assert (landing.name, landing.body, landing.ends) == ("ground", 1, True)
    assert motion.times[-1] == pytest.approx(landing_time(1.0), rel=1e-14)
    assert sorted(c.body for c in motion.crossings if c.name == "apex") == [0, 1, 2]
    assert [s.position[2] for s in motion.final] == pytest.approx([1.0, 0.0, 3.0], abs=1e-14)
    only = ph.simulate([STONE] * 3, states, forces, duration=5.0, events=[ground().on(2)], **PLAIN)
    assert only.times[-1] == pytest.approx(landing_time(4.0), rel=1e-14)


def test_two_balls_that_land_at_one_instant_both_bounce():
    drop = ph.State(position=(0, 0, 1.0))
    motion = ph.simulate([STONE] * 2, [drop] * 2, GRAVITY, duration=1.2, events=[ground(0.5, change=bounce)], **PLAIN)
    for body in (0, 1):
        assert motion.crossing_times("ground", body) == pytest.approx(bounces(0.5, 3), rel=1e-13)
    assert motion.position[:, :, 2].min() > -1e-12


# Ensembles -----------------------------------------------------------------------------------------------------------
def crowd(**settings):
    starts = ph.State(position=[(0.0, 0.0, z) for z in np.linspace(0.5, 5.0, 12)], velocity=(1.0, 0.0, 3.0))
    events = [apex(action="record"), height(np.linspace(0.0, 0.3, 12), direction=-1)]
    forces = [f.gravity(), f.quadratic_drag(0.01)]
    return ph.Scenario(STONE, starts, forces, events=events, duration=1.2, method="dop853", **settings)


def test_members_stop_each_at_its_own_time_with_the_bits_that_they_have_alone():
    motion = ph.ensemble(crowd(output_times=[1.2]), threads=2)
    plain = crowd(output_times=[1.2], engine="python")  # the same bits, and no second compilation
    stopped = motion.end_times < 1.2
    assert 2 < stopped.sum() < 12
    for i in (0, 3, 11):
        alone = ph.simulate(plain.take(i))
        assert motion.end_times[i] == alone.times[-1]
        assert np.array_equal(motion.final.position[i], alone.final.position)
        mine = [(c.name, c.time) for c in motion.crossings if c.body == i]
        assert mine == [(c.name, c.time) for c in alone.crossings]
    times = [c.time for c in motion.crossings]
    assert times == sorted(times)


def test_members_may_stop_in_a_segment_without_outputs():
    whole = ph.ensemble(crowd(output_times=[1.2]))
    cut = ph.ensemble(crowd(output_times=[1.2], breaks=[1.1]))
    assert (whole.end_times < 1.1).any()
    assert cut.end_times == pytest.approx(whole.end_times, rel=1e-12)


def test_outputs_after_a_members_stop_are_nan_and_no_failure():
    motion = ph.ensemble(crowd(output_step=0.1))
    for i in range(12):
        valid = motion.times <= motion.end_times[i]
        assert np.isfinite(motion.position[valid, i]).all()
        assert np.isnan(motion.position[~valid, i]).all()
    assert math.isfinite(motion.audit()["linear momentum"].relative)


def test_compiled_code_and_plain_python_agree_to_the_bit():
    compiled = ph.ensemble(crowd(output_step=0.1))
    plain = ph.ensemble(crowd(output_step=0.1, engine="python"))
    assert np.array_equal(compiled.position, plain.position, equal_nan=True)
    assert [(c.name, c.time, c.body) for c in compiled.crossings] == [(c.name, c.time, c.body) for c in plain.crossings]


def test_portions_do_not_matter(monkeypatch):
    whole = ph.ensemble(crowd(output_step=0.1))
    monkeypatch.setattr("polhode.integrate.integrator.PORTION_S", 1e-9)
    monkeypatch.setattr("polhode.integrate.event_log.LOG_ROWS", 1)
    cut = ph.ensemble(crowd(output_step=0.1), threads=2)
    assert np.array_equal(whole.position, cut.position, equal_nan=True)
    assert [(c.name, c.time, c.body) for c in whole.crossings] == [(c.name, c.time, c.body) for c in cut.crossings]


# Doors ---------------------------------------------------------------------------------------------------------------
def test_crossings_are_stored_with_the_motion(tmp_path):
    motion = run([apex(action="record"), ground()])
    motion.save(tmp_path / "thrown.zarr")
    again = ph.load(tmp_path / "thrown.zarr")
    assert [(c.name, c.time, c.ends) for c in again.crossings] == [(c.name, c.time, c.ends) for c in motion.crossings]
    assert np.array_equal(again.crossings[0].state.position, motion.crossings[0].state.position)
    assert again.dataset.crossing_time.values.tolist() == [c.time for c in motion.crossings]
    bouncing = run([ground(0.8, change=bounce)], ph.State(position=(0, 0, 1.0)), duration=2.0)
    bouncing.save(tmp_path / "bouncing.zarr")
    with pytest.raises(ph.PolhodeError, match="ground, which a file cannot hold"):
        ph.load(tmp_path / "bouncing.zarr").at(1.001)


PUSHES = [1.0] * 100


@ph.event
def not_a_scalar(t, state, body, params):
    return state.position


@ph.event
def fails(t, state, body, params):
    return params[7]


@ph.event
def halves(t, state, body, params):
    x = state.position[2]
    while x > 0.1:
        x = x / 2
    return x


def flat(t, state, body, params):
    return (0.0, 0.0), (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("events", "phrases"),
    [
        ([not_a_scalar()], ("not_a_scalar must return one number", "returned (0.0, 0.0, 1.0)")),
        ([fails()], ("fails fails at the start of the run", "index out of range", "test_event_detection.py")),
        ([ground(change=flat)], ("ground must return (impulse, angular impulse)", "flat returned")),
        ([halves()], ("halves cannot be compiled", "test_event_detection.py", "engine='python'")),
    ],
    ids=["not a scalar", "fails", "flat change", "not compilable"],
)
def test_an_event_with_a_slip_is_refused(events, phrases):
    with pytest.raises(ScenarioError) as refused:
        run(events, engine="cpu")
    for phrase in phrases:
        assert phrase in str(refused.value)


def test_an_unknown_name_raises():
    with pytest.raises(ph.PolhodeError, match="no event 'grund' was watched"):
        run([ground()]).crossing_times("grund")


@pytest.mark.parametrize(
    "method", ["exact", "euler", "midpoint", "rk4", "leapfrog", "splitting2", "splitting4", "dop853"]
)
def test_every_method_finds_the_landing_and_the_apex(method):
    """Methods that are exact in a uniform field find both to rounding; explicit Euler has its own parabola."""
    steps = {} if method in ("exact", "dop853") else {"step": 1 / 64}
    motion = run([apex(action="record"), ground()], method=method, engine="cpu", **steps)
    tolerance = 0.02 if method == "euler" else 1e-13
    assert motion.crossing_times("apex") == pytest.approx([3.0 / G], rel=tolerance)
    assert motion.times[-1] == pytest.approx(landing_time(), rel=tolerance)
    assert motion.final.position[2] == pytest.approx(0.0, abs=1e-14)
