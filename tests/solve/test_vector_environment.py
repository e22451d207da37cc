"""`ph.vector_environment` against Gymnasium's SyncVectorEnv over single environments, to the bit, and closed forms."""

import numpy as np
import pytest

import polhode as ph
from polhode.errors import InputError, PolhodeError
from polhode.solve.many_motions import ManyMotions

gymnasium = pytest.importorskip("gymnasium")
SATELLITE = ph.Body(mass=50.0, inertia=(4.0, 5.0, 6.0))
LIGHT = ph.Body(mass=1e-3, inertia=(1e-4, 1e-4, 1e-4))
TUMBLING = ph.State(angular_velocity_body=(0.02, -0.01, 0.03))
MODES = ("next_step", "same_step")
COUNT = 41
"""More than a block of lanes, and not a multiple of it."""


@ph.force
def wobble(t, state, body, params):
    return (ph.sin(t), 0.0, 0.0), (0.0, 0.0, ph.cos(3 * t))


@ph.event
def climbs(t, state, body, params):
    return state.position[2] - params[0]


def random_start(random):
    return ph.State(angular_velocity_body=random.normal(size=3) / 100, velocity=random.normal(size=3))


def first_of(given):
    """The state of the first body."""
    return given.state[0] if isinstance(given.state, list) else given.state


def reward(given, action):
    return -abs(first_of(given).angular_velocity_body).sum(axis=-1)


def ends(given):
    return abs(first_of(given).angular_velocity_body)[..., 0] > 0.02


def assert_same(ours, theirs, where="step"):
    """Nested tuples, dicts and arrays are the same to the last bit, in the same types."""
    if isinstance(theirs, (tuple, list)):
        for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            assert_same(a, b, f"{where}[{i}]")
    elif isinstance(theirs, dict):
        assert set(ours) == set(theirs), where
        for key in theirs:
            assert_same(ours[key], theirs[key], f"{where}[{key!r}]")
    elif isinstance(theirs, np.ndarray) and theirs.dtype == object:
        assert_same(list(ours), list(theirs), where)
    elif isinstance(theirs, np.ndarray):
        assert ours.dtype == theirs.dtype, where
        assert np.array_equal(ours, theirs, equal_nan=True), where
    else:
        assert repr(ours) == repr(theirs), where


def both(scenario, mode, count=COUNT, **settings):
    """Ours, and Gymnasium's over as many single ones."""
    given = {"interval": 0.1, "actions": {"torque_body": 0.2, "force": (1, 0, 1)}, **settings}
    ours = ph.vector_environment(scenario, count, autoreset=mode, **given)
    mode = gymnasium.vector.AutoresetMode[mode.upper()]
    theirs = gymnasium.vector.SyncVectorEnv([lambda: ph.environment(scenario, **given)] * count, autoreset_mode=mode)
    assert ours.metadata["autoreset_mode"] is mode
    for name in ("observation_space", "action_space", "single_observation_space", "single_action_space"):
        assert getattr(ours, name) == getattr(theirs, name)
    return ours, theirs


def assert_equal_episodes(ours, theirs, steps=25, seed=5):
    assert_same(ours.reset(seed=seed), theirs.reset(seed=seed), "reset")
    random, high = np.random.default_rng(1), ours.single_action_space.high
    ended = 0
    for k in range(steps):
        actions = random.uniform(-1, 1, (ours.num_envs, len(high))) * high
        found, expected = ours.step(actions), theirs.step(actions)
        assert_same(found, expected, f"step {k}")
        ended += int((found[2] | found[3]).sum())
    return ended


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("method", "step"), [("rk4", 0.05), ("rk4", 0.03), ("splitting4", 0.05), ("dop853", None), ("auto", None)]
)
@pytest.mark.parametrize("forces", [[], [wobble()], [ph.forces.linear_drag(0.5)]], ids=["free", "wobble", "drag"])
def test_every_environment_has_the_bits_of_one_alone(method, step, forces, mode):
    """Their episodes end at different times, so that their clocks differ; steps of 0.03 s do not fit the interval."""
    scenario = ph.Scenario(SATELLITE, TUMBLING, forces, duration=1.0, method=method, step=step)
    ours, theirs = both(scenario, mode, start=random_start, reward=reward, ends=ends)
    assert type(ours.motions).__name__ == "_InLanes"
    assert assert_equal_episodes(ours, theirs) > 2 * COUNT


OTHERS = {
    "two bodies": lambda: ph.Scenario([SATELLITE, ph.particle(2.0)], duration=0.5, method="rk4", step=0.05),
    "nine bodies": lambda: ph.Scenario([SATELLITE] * 9, duration=0.5, method="dop853"),
    "matrix": lambda: ph.Scenario(
        SATELLITE, TUMBLING, duration=0.5, method="rk4", step=0.05, formulation="momentum_matrix"
    ),
    "body rates": lambda: ph.Scenario(
        SATELLITE, TUMBLING, duration=0.5, method="rk4", step=0.05, formulation="body_rates"
    ),
    "drifting": lambda: ph.Scenario(SATELLITE, TUMBLING, duration=0.5, method="euler", step=0.05, renormalize=False),
    "tensor": lambda: ph.Scenario(
        ph.Body(2.0, [[1.5, 0.1, 0.2], [0.1, 1.7, -0.1], [0.2, -0.1, 2.3]]),
        TUMBLING,
        duration=0.5,
        method="rk4",
        step=0.1,
    ),
    "rotors": lambda: ph.Scenario(
        SATELLITE, TUMBLING, duration=0.5, rotors=[ph.rotor((0, 0, 1), 0.1, speed=3.0, torque=0.01)], method="dop853"
    ),
    "added mass": lambda: ph.Scenario(SATELLITE, TUMBLING, duration=0.5, added_mass=np.eye(6), method="rk4", step=0.05),
    "always on": lambda: ph.Scenario(
        SATELLITE, TUMBLING, [ph.forces.torque((0.0, 0.1, 0.0), start=-5.0)], duration=0.5, method="rk4", step=0.05
    ),
}
ONE_BY_ONE = {
    "events": lambda: ph.Scenario(SATELLITE, TUMBLING, events=[climbs(0.0005)], duration=0.5),
    "window": lambda: ph.Scenario(
        SATELLITE, TUMBLING, [ph.forces.torque((0.0, 0.1, 0.0), start=0.12, stop=0.33)], duration=0.5, method="dop853"
    ),
    "pair": lambda: ph.Scenario(
        [SATELLITE, SATELLITE], [TUMBLING, ph.State(position=(1, 0, 0))], [ph.forces.spring_between(0, 1, 2.0)],
        duration=0.5, method="rk4", step=0.05,
    ),
    "contacts": lambda: ph.Scenario(
        ph.shapes.sphere(0.1, mass=1.0), ph.State(position=(0, 0, 0.12)), [ph.forces.gravity()],
        contacts=[ph.floor(restitution=0.5)], duration=0.5,
    ),
    "python": lambda: ph.Scenario(SATELLITE, TUMBLING, duration=0.5, method="rk4", step=0.05, engine="python"),
}  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", [*OTHERS, *ONE_BY_ONE])
def test_whatever_the_scenario(name, mode):
    scenario = (OTHERS | ONE_BY_ONE)[name]()
    ours, theirs = both(scenario, mode, count=9, reward=reward, ends=ends)
    assert type(ours.motions).__name__ == ("_InLanes" if name in OTHERS else "_OneByOne")
    assert assert_equal_episodes(ours, theirs, steps=12) >= 9


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("settings", [{"method": "rk4", "step": 0.05}, {"method": "dop853"}])
def test_one_that_fails_ends_its_own_episode(mode, settings):
    ours, theirs = both(ph.Scenario(LIGHT, TUMBLING, duration=0.5, **settings), mode, actions={"force": 1.7e308})
    assert_same(ours.reset(seed=3), theirs.reset(seed=3))
    failed = 0
    for k in range(8):
        actions = np.zeros((COUNT, 3))
        actions[k::7, 1] = 1.7e308
        found = ours.step(actions)
        assert_same(found, theirs.step(actions), f"step {k}")
        failed += int(found[2].sum())
    assert failed > COUNT // 2


def test_episodes_can_be_begun_anew_by_hand():
    scenario = ph.Scenario(SATELLITE, TUMBLING, duration=0.3, method="rk4", step=0.05)
    ours, theirs = both(scenario, "disabled", count=9, start=random_start, ends=ends)
    assert_same(ours.reset(seed=2), theirs.reset(seed=2))
    over = np.zeros(9, dtype=bool)
    begun = 0
    for k in range(12):
        if over.any():
            begun += int(over.sum())
            with pytest.raises(InputError, match=f"of environment {int(np.argmax(over))} is over"):
                ours.step(np.zeros((9, 5)))
            given = [ours.reset(options={"reset_mask": over}), theirs.reset(options={"reset_mask": over.copy()})]
            assert_same(given[0][0], given[1][0])
            assert np.array_equal(given[0][1]["_time"], over)
        actions = np.full((9, 5), 0.1 * (-1) ** k)
        found = ours.step(actions)
        assert_same(found, theirs.step(actions), f"step {k}")
        over = found[2] | found[3]
    assert begun > 9


def test_seeds_are_reproduced_and_each_environment_has_its_own_stream():
    scenario = ph.Scenario(SATELLITE, duration=1.0, method="rk4", step=0.05)
    envs = ph.vector_environment(scenario, 64, interval=0.1, actions={"force": 1.0}, start=random_start)
    first, _ = envs.reset(seed=7)
    assert len(np.unique(first[:, 7])) == 64
    again, _ = envs.reset(seed=7)
    other, _ = envs.reset(seed=8)
    assert np.array_equal(first, again)
    assert np.array_equal(first[1:], other[:-1])  # seeds 7, 8, ... and 8, 9, ...
    listed, _ = envs.reset(seed=[7, *range(100, 163)])
    assert np.array_equal(listed[0], first[0])
    assert not np.array_equal(listed[1], first[1])
    alone = ph.environment(scenario, interval=0.1, actions={"force": 1.0}, start=random_start)
    assert np.array_equal(alone.reset(seed=12)[0], first[5])
    assert envs.np_random_seed[:2] == (7, 100)
    unseeded = ph.vector_environment(scenario, 3, interval=0.1, actions={"force": 1.0}, start=random_start)
    assert len(np.unique(unseeded.reset()[0][:, 7])) == 3


def test_constant_forces_against_the_parabola():
    """z = F t^2 / 2 m, for each environment its own force."""
    scenario = ph.Scenario(SATELLITE, duration=1.0, method="rk4", step=0.05)
    envs = ph.vector_environment(
        scenario, 100, interval=0.25, actions={"force": (0, 0, 100.0)}, reward=lambda m, a: m.state.position[:, 2]
    )
    envs.reset(seed=1)
    force = np.linspace(-100.0, 100.0, 100)
    for k in range(4):
        observations, rewards, terminated, truncated, info = envs.step(force[:, None])
        expected = force / 50 * (0.25 * (k + 1)) ** 2 / 2
        np.testing.assert_allclose(rewards, expected, rtol=1e-12)
        np.testing.assert_allclose(observations[:, 2], expected, rtol=1e-12)
        assert np.array_equal(info["time"], np.full(100, 0.25 * (k + 1)))
    assert truncated.all()
    assert not terminated.any()


def test_it_is_made_and_wrapped_as_gymnasium_makes_and_wraps():
    def one(**given):
        return ph.environment(ph.Scenario(SATELLITE, TUMBLING, duration=0.5), interval=0.1, actions={"force": 1.0})

    def many(num_envs, **given):
        scenario = ph.Scenario(SATELLITE, TUMBLING, duration=0.5)
        return ph.vector_environment(scenario, num_envs, interval=0.1, actions={"force": 1.0}, reward=reward)

    gymnasium.register("PolhodeTumbling-v0", entry_point=one, vector_entry_point=many)
    try:
        envs = gymnasium.make_vec("PolhodeTumbling-v0", num_envs=5, vectorization_mode="vector_entry_point")
        assert (envs.num_envs, envs.spec.id) == (5, "PolhodeTumbling-v0")
        envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(gymnasium.wrappers.vector.ClipAction(envs))
        observations, _ = envs.reset(seed=1)
        assert observations in envs.observation_space
        for _ in range(5):
            observations, rewards, terminated, truncated, info = envs.step(envs.action_space.sample())
            assert observations in envs.observation_space
            assert (rewards.shape, terminated.dtype, truncated.dtype) == ((5,), np.bool_, np.bool_)
        assert info["episode"]["l"].tolist() == [5] * 5
        envs.close()
    finally:
        del gymnasium.registry["PolhodeTumbling-v0"]


def test_what_it_returns_is_not_written_again():
    scenario = ph.Scenario(SATELLITE, TUMBLING, duration=1.0, method="rk4", step=0.05)
    envs = ph.vector_environment(scenario, 40, interval=0.1, actions={"force": 1.0})
    first, _ = envs.reset(seed=1)
    kept = first.copy()
    second = envs.step(np.ones((40, 3)))[0]
    assert np.array_equal(first, kept)
    assert not np.shares_memory(first, second)
    state = envs.motions.state
    kept = state.position.copy()
    envs.step(np.ones((40, 3)))
    assert np.array_equal(state.position, kept)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"num_envs": 0}, "num_envs must be a whole number from 1"),
        ({"num_envs": 2.0}, "num_envs must be a whole number"),
        ({"num_envs": 10**20}, "num_envs must be a whole number"),
        ({"interval": 2.0}, "at most the duration"),
        ({"actions": {"push": 1.0}}, "is no load"),
        ({"autoreset": "never"}, "autoreset 'never' is unknown"),
        ({"autoreset": ["same_step"]}, "autoreset .* is unknown"),
        ({"ends": 3}, "ends must be a function"),
    ],
)
def test_what_makes_no_vector_says_so(settings, sentence):
    given = {"interval": 0.1, "actions": {"force": 1.0}, "num_envs": 3, **settings}
    with pytest.raises(PolhodeError, match=sentence):
        ph.vector_environment(ph.Scenario(SATELLITE, duration=1.0), given.pop("num_envs"), **given)


def make(**settings):
    given = {"interval": 0.1, "actions": {"force": 1.0}, **settings}
    return ph.vector_environment(ph.Scenario(SATELLITE, duration=1.0, method="rk4", step=0.05), 3, **given)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"reward": lambda m, a: 1.0}, r"reward must return one value for each of the 3 .* shape \(\)"),
        ({"reward": lambda m, a: [1.0, np.nan, 0.0]}, "the reward of environment 1 must be finite"),
        ({"reward": lambda m, a: "good"}, "reward must return numbers, not 'good'"),
        ({"ends": lambda m: [1, 0, 0]}, "ends must return truth values"),
        ({"ends": lambda m: np.array([True])}, r"ends must return one value .* shape \(1,\)"),
    ],
)
def test_functions_that_return_something_else_are_named(settings, sentence):
    envs = make(**settings)
    envs.reset()
    with pytest.raises(InputError, match=sentence):
        envs.step(np.zeros((3, 3)))


def test_bad_calls_say_what_is_wrong():
    envs = make()
    envs.reset()
    bad = np.zeros((3, 3))
    bad[1, 2] = 2.0
    for actions, sentence in (
        (bad, "number 2 of the action of environment 1, 2, is beyond its limit"),
        (np.zeros(3), "3 x 3 numbers"),
        (np.full((3, 3), np.nan), "finite"),
    ):
        with pytest.raises(InputError, match=sentence):
            envs.step(actions)
        assert envs.motions.time.tolist() == [0.0] * 3
    for given, sentence in (
        ({"seed": -1}, "a seed is a whole number of at least 0"),
        ({"seed": [1, 2]}, "a list of 3"),
        ({"seed": 1.5}, "seed must be a whole number"),
        ({"options": {"wind": 3}}, "no options but 'reset_mask'"),
        ({"options": {"reset_mask": np.zeros(3, dtype=bool)}}, "at least one must be True"),
        ({"options": {"reset_mask": [True] * 3}}, "3 truth values"),
    ):
        with pytest.raises(InputError, match=sentence):
            envs.reset(**given)
    with pytest.raises(InputError, match="observe must return a row for each"):
        make(observe=lambda m: np.zeros(2))
    for start, sentence in (
        (lambda random: 3.0, "start must return one ph.State"),
        (lambda random: ph.State(time=1.0), "begin at the time of the scenario"),
    ):
        with pytest.raises(InputError, match=sentence):
            make(start=start).reset()


def test_those_that_share_no_clock_are_still_all_there():
    """The motions themselves: each advanced to its own time, in any grouping, against the stepper."""
    scenario = ph.Scenario(SATELLITE, TUMBLING, [wobble()], duration=10.0, method="rk4", step=0.03)
    envs = ph.vector_environment(scenario, 70, interval=0.1, actions={"force": 1.0})
    assert isinstance(envs.motions, ManyMotions)
    random, moving = np.random.default_rng(3), np.ones(70, dtype=bool)
    times = np.cumsum(random.choice([0.07, 0.1, 0.15], (4, 70)), axis=0)
    for row in times:
        assert envs.motions.advance(moving, row) == []
    for i in (0, 17, 69):
        stepper = ph.Stepper(scenario)
        for t in times[:, i].tolist():
            stepper.advance_to(t)
        assert np.array_equal(envs.motions.read_states()[i], stepper.read_states())
