"""Ready-made events against closed forms and SciPy, and in files, scripts, ensembles and steppers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import polhode as ph
from polhode.errors import ScenarioError

G = 9.80665
STONE = ph.particle(1.0)
GRAVITY = ph.forces.gravity()
BOX = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0)


def time_of(events, body=STONE, forces=(GRAVITY,), duration=9.0, **state):
    return float(ph.simulate(body, ph.State(**state), list(forces), duration=duration, events=[events]).times[-1])


def test_landing_and_apex_against_the_parabola():
    up = {"position": (0.0, 0.0, 2.0), "velocity": (3.0, 0.0, 20.0)}
    apex = 20.0 / G
    assert time_of(ph.events.apex(), **up) == pytest.approx(apex, abs=1e-12)
    assert time_of(ph.events.landing(height=-1.0), **up) == pytest.approx(
        apex + math.sqrt(apex**2 + 2 * 3.0 / G), abs=1e-12
    )
    assert time_of(ph.events.landing(height=5.0, direction=1), **up) == pytest.approx(
        apex - math.sqrt(apex**2 - 2 * 3.0 / G), abs=1e-12
    )


def test_a_point_of_a_turning_body_lands_by_its_own_closed_form():
    # A body that spins about x at w: its point (0, 0, -a) has the height h - g t^2/2 - a cos(w t).
    body, w, a = ph.Body(mass=1.0, inertia=(1.0, 1.0, 1.0)), 3.0, 0.4
    found = time_of(
        ph.events.landing(com_to_point_body=(0, 0, -a)), body, position=(0, 0, 2.0), angular_velocity_body=(w, 0, 0)
    )
    assert 2.0 - G * found**2 / 2 - a * math.cos(w * found) == pytest.approx(0.0, abs=1e-10)


def test_distance_and_angle_against_uniform_motion():
    straight = {"position": (-3.0, 4.0, 0.0), "velocity": (1.0, 0.0, 0.0)}
    assert time_of(ph.events.distance(4.5, direction=-1), forces=(), **straight) == pytest.approx(
        3.0 - math.sqrt(4.5**2 - 16), abs=1e-12
    )
    assert time_of(ph.events.distance(4.5, direction=1), forces=(), **straight) == pytest.approx(
        3.0 + math.sqrt(4.5**2 - 16), abs=1e-12
    )
    for small in (1e-6, 0.3, 3.0):
        found = time_of(
            ph.events.angle(small), ph.Body(mass=1.0, inertia=(1, 1, 1)), (), angular_velocity_body=(0, 0.5, 0)
        )
        assert found == pytest.approx(2 * small, rel=1e-9)


def test_earth_surface_and_apex_against_scipy():
    earth = ph.earth.WGS84
    start = ph.State.from_geodetic(0.7, 0.2, 1000.0, velocity_ned=(200.0, 50.0, -400.0))
    gravity, body = ph.forces.earth_gravity(), ph.particle(3.0)
    landing, apex = (
        ph.simulate(body, start, [gravity], duration=300.0, rtol=1e-12, method="dop853", events=[event])
        for event in (ph.events.landing(earth="WGS84"), ph.events.apex(earth="WGS84"))
    )

    def height(_t, y):
        return float(earth.height(y[:3]))

    def rate(t, y):
        scenario = ph.Scenario(body, start, [gravity], duration=1.0)
        full = np.concatenate((y[:3], (1, 0, 0, 0), 3.0 * y[3:], (0, 0, 0)))
        return np.concatenate((y[3:], scenario.derivative(t, full)[7:10] / 3.0))

    def down(t, y):
        return height(t, y)

    down.terminal, down.direction = True, -1
    y0 = np.concatenate((start.position, start.velocity))
    solved = solve_ivp(rate, (0, 300), y0, rtol=1e-11, atol=1e-6, events=down, method="DOP853", dense_output=True)
    assert landing.times[-1] == pytest.approx(solved.t_events[0][0], abs=1e-6)
    times = apex.times[-1] + np.array((-1e-2, 0.0, 1e-2))
    heights = [height(0.0, solved.sol(t)) for t in times]
    assert heights[1] > max(heights[0], heights[2])


def test_members_have_their_own_numbers():
    heights = np.array((0.0, 1.0, 2.0))
    motion = ph.ensemble(
        STONE, ph.State(position=(0, 0, 5.0)), [GRAVITY], duration=3.0, events=[ph.events.landing(heights)]
    )
    assert motion.end_times == pytest.approx(np.sqrt(2 * (5.0 - heights) / G), abs=1e-12)
    alone = ph.simulate(STONE, ph.State(position=(0, 0, 5.0)), [GRAVITY], duration=3.0, events=[ph.events.landing(1.0)])
    assert float(motion.end_times[1]) == float(alone.times[-1])


@pytest.mark.parametrize("method", ["rk4", "dop853", "vern9", "exact", "leapfrog", "taylor"])
def test_every_method_finds_the_landing(method):
    if method == "taylor":
        pytest.importorskip("heyoka")
    step = {"step": 0.01} if method in ("rk4", "leapfrog") else {}
    motion = ph.simulate(
        STONE, ph.State(position=(0, 0, 5.0)), [GRAVITY], duration=3.0, method=method, **step,
        events=[ph.events.landing()],
    )  # fmt: skip
    assert float(motion.times[-1]) == pytest.approx(math.sqrt(10 / G), abs=1e-9)


def test_a_stepper_stops_where_a_run_does():
    stepper = ph.Stepper(STONE, ph.State(position=(0, 0, 5.0)), [GRAVITY], events=[ph.events.landing()], duration=3.0)
    stepper.advance(2.0)
    assert stepper.has_stopped
    assert stepper.time == pytest.approx(math.sqrt(10 / G), abs=1e-12)


def test_it_is_watched_on_a_body_of_a_system():
    states = [ph.State(position=(0, 0, 5.0)), ph.State(position=(0, 0, 1.0))]
    event = ph.events.landing(action="record").on(0)
    motion = ph.simulate([STONE, STONE], states, [GRAVITY], duration=2.0, events=[event])
    assert [(c.body, round(c.time, 9)) for c in motion.crossings] == [(0, round(math.sqrt(10 / G), 9))]


EVENTS = [
    ph.events.landing(0.5, com_to_point_body=(0, 0, -0.1)),
    ph.events.landing(earth={"base": "WGS84", "rotation_rate": 0.0}, action="record", count=3),
    ph.events.apex(direction=1),
    ph.events.distance(3.0, (1, 2, 3), within=1e-6, action="record"),
    ph.events.angle(0.3, (1, 1, 0), (0, 1, 0), count=2).on(0),
]


def test_files_and_scripts_give_the_same_back(tmp_path):
    scenario = ph.Scenario(BOX, ph.State(velocity=(0, 0, 3.0)), [GRAVITY], duration=0.5, events=EVENTS)
    scenario.to_toml(tmp_path / "one.toml")
    again = ph.Scenario.from_toml(tmp_path / "one.toml")
    made: dict = {}
    exec(scenario.as_python().split("motion = ")[0], made)
    for other in (again, made["scenario"]):
        assert [repr((e.name, e.params, e.action, e.direction, e.count, e.within, e.bodies)) for e in other.events] == [
            repr((e.name, e.params, e.action, e.direction, e.count, e.within, e.bodies)) for e in scenario.events
        ]
        assert other.as_toml() == scenario.as_toml()


def test_a_sweep_draws_the_numbers_of_an_event(tmp_path):
    (tmp_path / "drop.toml").write_text(
        "duration = 3.0\n[body]\nparticle = true\nmass = 1.0\nposition = [0, 0, 5]\n[[forces]]\nkind = 'gravity'\n"
        "[[events]]\nkind = 'landing'\nheight = { uniform = [0.0, 2.0] }\n[sweep]\nmembers = 5\n"
    )
    source = ph.DrawnSource.from_toml(tmp_path / "drop.toml")
    assert source.input_names == ("events.0.height",)
    heights = source.inputs(np.arange(5))["events.0.height"]
    motion = ph.ensemble(source.take(np.arange(5)))
    assert motion.end_times == pytest.approx(np.sqrt(2 * (5.0 - heights) / G), abs=1e-12)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: ph.events.angle(0.0), "never crosses"),
        (lambda: ph.events.angle(60.0), "math.radians"),
        (lambda: ph.events.angle(0.3, (0, 0, 0)), "must not be"),
        (lambda: ph.events.distance(-1.0), "distance"),
        (lambda: ph.events.landing("high"), "height of landing"),
        (lambda: ph.events.landing(hight=1.0), "height"),
        (lambda: ph.events.landing(earth="Mars"), "Mars"),
        (lambda: ph.events.apex(action="jump"), "action of apex"),
        (lambda: ph.events.landing(0.0, action="change"), "go together"),
        (lambda: ph.Scenario(STONE, duration=1.0, events=[ph.events.landing]), "call it"),
    ],
)
def test_mistakes_are_sentences(make, sentence):
    with pytest.raises((ScenarioError, ph.PolhodeError), match=sentence):
        make()


def test_members_bounce_on_floors_of_their_own():
    def bounce(t, state, body, params):
        return (0.0, 0.0, -1.8 * state.linear_momentum[2]), (0.0, 0.0, 0.0)

    heights, start = (0.0, 1.0, 2.0), ph.State(position=(0, 0, 5.0))
    settings = {"duration": 2.0, "output_times": [1.0, 2.0], "method": "dop853"}
    motion = ph.ensemble(
        STONE, start, [GRAVITY], **settings, events=[ph.events.landing(np.array(heights), change=bounce, count=3)]
    )
    for k, height in enumerate(heights):
        event = ph.events.landing(height, change=bounce, count=3)
        one = ph.simulate(STONE, start, [GRAVITY], **settings, events=[event])
        assert motion.position[:, k].tolist() == one.position.tolist()
