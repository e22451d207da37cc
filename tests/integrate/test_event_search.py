"""Events between the points of a step, of bodies with many events, and in lanes.  Judges: closed forms."""

import itertools

import numpy as np
import pytest

import polhode as ph

G = 9.80665
STEPS = {"rk4": {"step": 1 / 64}, "splitting4": {"step": 1 / 64}, "exact": {}, "dop853": {}}


@ph.event
def level(t, state, body, params):
    return state.position[2] - params[0]


@ph.event
def square(t, state, body, params):
    return state.position[0] ** 2 + params[0]


@pytest.mark.parametrize("depth", [1e-4, 1e-7, 1e-9])
@pytest.mark.parametrize("method", STEPS)
def test_a_level_just_below_the_apex_is_crossed_twice(method, depth):
    """Thrown at 3 m/s: the level is passed sqrt(2 d/g) before and after the apex, far inside one step."""
    apex = 3.0 / G
    motion = ph.simulate(
        ph.particle(1.0),
        ph.State(velocity=(0, 0, 3.0)),
        [ph.forces.gravity()],
        duration=0.6,
        method=method,
        events=[level(9.0 / (2 * G) - depth, action="record")],
        **STEPS[method],
    )
    half = np.sqrt(2 * depth / G)
    rounding = 4e-15 / (G * half)  # of the height, over the speed there
    assert motion.crossing_times("level") == pytest.approx([apex - half, apex + half], abs=rounding + 1e-15)


@pytest.mark.parametrize("method", STEPS)
def test_a_function_that_only_touches_zero_makes_no_event(method):
    start = ph.State(position=(-1.0, 0, 0), velocity=(1.0, 0, 0))
    settings = {"duration": 2.0, "method": method, **STEPS[method]}
    motion = ph.simulate(ph.particle(1.0), start, events=[square(0.0, action="record")], **settings)
    assert not motion.crossings
    motion = ph.simulate(ph.particle(1.0), start, events=[square(-1e-6, action="record")], **settings)
    assert motion.crossing_times("square") == pytest.approx([0.999, 1.001], rel=1e-11)


def test_a_recorded_dip_changes_no_bit_of_the_motion():
    thrown, weight = ph.State(velocity=(0, 0, 3.0), angular_velocity_body=(1, 2, 3)), [ph.forces.gravity()]
    body = ph.Body(mass=1.0, inertia=(1, 2, 2.5))
    for method, steps in STEPS.items():
        if method == "exact":
            continue
        settings = {"duration": 0.6, "method": method, "output_times": [0.2, 0.6], **steps}
        plain = ph.simulate(body, thrown, weight, **settings)
        watched = ph.simulate(body, thrown, weight, events=[level(9.0 / (2 * G) - 1e-7, action="record")], **settings)
        assert len(watched.crossings) == 2
        assert np.array_equal(plain.final.position, watched.final.position), method
        assert np.array_equal(plain.final.quaternion_wxyz, watched.final.quaternion_wxyz), method


# A cube on a floor, corner by corner ---------------------------------------------------------------------------------
CORNERS = [tuple(0.5 * x for x in corner) for corner in itertools.product((-1.0, 1.0), repeat=3)]


def corner_event(corner, restitution=0.5):
    @ph.event
    def touches(t, state, body, params):
        return state.position[2] + ph.to_world(state.orientation, corner)[2]

    def rebound(t, state, body, params):
        r, v, w = ph.to_world(state.orientation, corner), state.velocity, state.angular_velocity
        speed = v[2] + w[0] * r[1] - w[1] * r[0]
        lever = ph.to_body(state.orientation, (r[1], -r[0], 0.0))
        push = (
            -(1 + params[0])
            * speed
            / (1 / body.mass + sum(x * x / i for x, i in zip(lever, body.moments, strict=True)))
        )
        return (0.0, 0.0, push), (r[1] * push, -r[0] * push, 0.0)

    return touches(restitution, change=rebound, direction=-1)


@pytest.mark.parametrize("tilt", [1e-4, 3e-4, 1e-3])
def test_a_cube_that_falls_almost_flat_misses_no_impact(tilt):
    """Impacts 10 to 40 us apart: two methods agree on each, and no corner is ever below the floor."""
    q = np.array([1.0, tilt, 0.3 * tilt, 0.0])
    start = ph.State(position=(0, 0, 1.5), quaternion_wxyz=q / np.linalg.norm(q))
    cube, events = ph.shapes.box((1, 1, 1), mass=1.0), [corner_event(corner) for corner in CORNERS]
    found = []
    for settings in ({"method": "dop853", "rtol": 1e-11}, {"method": "rk4", "step": 1e-3}):
        motion = ph.simulate(
            cube, start, [ph.forces.gravity()], duration=0.6, output_step=0.005, events=events, **settings
        )
        assert motion.points(CORNERS)[..., 2].min() > -1e-9
        found.append([c.time for c in motion.crossings])
    assert len(found[0]) >= 5
    assert found[0] == pytest.approx(found[1], abs=1e-8)


def test_members_in_lanes_have_the_bits_that_they_have_alone():
    """Many stones of different height, with rests, records and bounces in the lanes of one block."""
    rng = np.random.default_rng(3)
    count = 67
    start = ph.State(
        position=np.c_[np.zeros((count, 2)), rng.uniform(0.5, 3, count)], velocity=rng.normal(size=(count, 3))
    )
    events = [level(rng.uniform(0.5, 1.5, count), action="record"), level(0.0)]
    settings = {"duration": 2.0, "method": "dop853", "events": events, "output_step": 0.25}
    scenario = ph.Scenario(ph.particle(1.0), start, [ph.forces.gravity(), ph.forces.linear_drag(0.2)], **settings)
    motion = ph.ensemble(scenario, threads=2)
    for i in (0, 7, 31, 32, 50, count - 1):
        alone = ph.simulate(scenario.take(i))
        assert motion.end_times[i] == alone.times[-1]
        assert [c.time for c in alone.crossings] == [c.time for c in motion.crossings if c.body == i]
        written = np.isfinite(motion.position[:, i, 0])
        assert np.array_equal(motion.position[written, i], alone.position[: written.sum()])
