"""`ph.environment` against Gymnasium's own checker, the stepper, and closed forms."""

import builtins
import warnings

import numpy as np
import pytest

import polhode as ph
from polhode.errors import InputError, PolhodeError

gymnasium = pytest.importorskip("gymnasium")
SATELLITE = ph.Body(mass=50.0, inertia=(4.0, 5.0, 6.0))
TUMBLING = ph.State(angular_velocity_body=(0.02, -0.01, 0.03))


def scenario(**settings):
    return ph.Scenario(SATELLITE, TUMBLING, **{"duration": 1.0, "method": "rk4", "step": 0.05, **settings})


def test_gymnasiums_checker_has_nothing_to_complain_about():
    from gymnasium.utils.env_checker import check_env

    def start(rng):
        return TUMBLING.replace(angular_velocity_body=rng.normal(size=3) / 100)

    env = ph.environment(scenario(), interval=0.1, actions={"torque_body": 0.02, "force": (1, 0, 1)}, start=start)
    assert env.action_space.shape == (5,)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.filterwarnings("ignore", message=".*(infinity|render|spec|normalize|float32|precision).*")
        check_env(env, skip_render_check=True)


def test_an_episode_has_the_bits_of_the_stepper_and_ends_with_the_duration():
    env = ph.environment(scenario(), interval=0.1, actions={"torque_body": 0.02})
    stepper = ph.Stepper(scenario())
    first, _ = env.reset(seed=1)
    assert first[10:] == pytest.approx(TUMBLING.angular_velocity_body, rel=1e-14)
    ends = []
    for k in range(10):
        action = 0.02 * np.sin(k + np.arange(3))
        observation, reward, terminated, truncated, info = env.step(action)
        stepper.set_loads(torque_body=action)
        stepper.advance_to((k + 1) * 0.1 if k < 9 else 1.0)
        assert np.array_equal(observation[3:7], stepper.state.quaternion_wxyz)
        assert (info["time"], reward, terminated) == (stepper.time, 0.0, False)
        ends.append(truncated)
    assert ends == [False] * 9 + [True]
    with pytest.raises(InputError, match=r"call reset\(\)"):
        env.step(np.zeros(3))
    again, _ = env.reset()
    assert np.array_equal(again, first)


def test_a_constant_force_against_the_parabola():
    env = ph.environment(
        scenario(), interval=0.25, actions={"force": (0, 0, 100.0)}, reward=lambda s, a: float(s.state.position[2])
    )
    env.reset()
    rewards = [env.step([100.0])[1] for _ in range(4)]
    assert rewards == pytest.approx([t * t for t in (0.25, 0.5, 0.75, 1.0)], rel=1e-12)  # F/m t^2/2


def test_random_starts_follow_the_seed():
    def start(rng):
        return ph.State(velocity=rng.normal(size=3))

    env = ph.environment(scenario(), interval=0.1, actions={"torque": 1.0}, start=start)
    one, other, again = (env.reset(seed=seed)[0] for seed in (3, 4, 3))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


def test_stops_failures_and_ends_terminate():
    @ph.event
    def height(t, state, body, params):
        return state.position[2] - params[0]

    falling = ph.Scenario(ph.particle(1.0), forces=[ph.forces.gravity(10.0)], events=[height(-1.25)], duration=2.0)
    env = ph.environment(falling, interval=0.4, actions={"force": 1e308})
    env.reset()
    assert env.step(np.zeros(3))[2] is False
    _, _, terminated, truncated, info = env.step(np.zeros(3))
    assert (terminated, truncated, [event.name for event in info["events"]]) == (True, False, ["height"])
    assert info["time"] == pytest.approx(0.5)
    env.reset()
    _, _, terminated, _, info = env.step(np.full(3, 1e308))
    assert terminated
    assert "error" in info
    short = ph.environment(falling, interval=0.1, actions={"force": 1.0}, ends=lambda s: s.state.velocity[2] < -1.5)
    short.reset()
    assert [short.step(np.zeros(3))[2] for _ in range(2)] == [False, True]


def test_impacts_are_in_the_information():
    ball, start = ph.shapes.sphere(0.1, mass=1.0), ph.State(position=(0, 0, 0.1 + 1.25))
    drop = ph.Scenario(ball, start, [ph.forces.gravity(10.0)], contacts=[ph.floor(restitution=0.5)], duration=1.0)
    env = ph.environment(drop, interval=0.6, actions={"force": 1.0})
    env.reset()
    impacts = env.step(np.zeros(3))[-1]["impacts"]
    assert impacts.time == pytest.approx([0.5], rel=1e-9)


def test_bodies_of_a_system_have_their_own_actions():
    two = ph.Scenario([ph.particle(1.0), ph.particle(2.0)], duration=1.0, method="rk4", step=0.1)
    env = ph.environment(two, interval=1.0, actions={("force", 1): (4.0, 0, 0), ("force", 0): (1.0, 0, 0)})
    observation, _ = env.reset()
    assert observation.shape == (26,)
    observation = env.step([4.0, 1.0])[0]
    assert (observation[0], observation[13]) == pytest.approx((0.5, 1.0))


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"interval": 0.0}, "must be above 0"),
        ({"interval": 2.0}, "at most the duration"),
        ({"actions": {"push": 1.0}}, "is no load"),
        ({"actions": {}}, "must name loads"),
        ({"actions": {"force": 0.0}}, "all limits"),
        ({"actions": {"force": (1, 2)}}, "one number or three"),
        ({"actions": {("force", 3): 1.0}}, "numbered from 0 to 0"),
        ({"reward": 3.0}, "reward must be a function"),
    ],
)
def test_what_makes_no_environment_says_so(settings, sentence):
    with pytest.raises(PolhodeError, match=sentence):
        ph.environment(scenario(), **{"interval": 0.1, "actions": {"force": 1.0}, **settings})


def test_bad_actions_change_nothing():
    env = ph.environment(scenario(), interval=0.1, actions={"force": 1.0})
    env.reset()
    for action, sentence in (([2.0, 0, 0], "beyond its limit"), ([0, 0], "3 numbers"), ([0, np.nan, 0], "finite")):
        with pytest.raises(InputError, match=sentence):
            env.step(action)
        assert env.stepper.time == 0.0


def test_without_gymnasium_there_is_a_sentence(monkeypatch):
    real = builtins.__import__

    def without(wanted, *rest):
        if wanted == "gymnasium":
            raise ImportError("No module named 'gymnasium'")
        return real(wanted, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError, match=r"pip install '.*\[control\]'"):
        ph.environment(scenario(), interval=0.1, actions={"force": 1.0})
