"""What a step of a Gymnasium environment costs beyond the step itself, and many of them one by one and as a vector."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

import polhode as ph
from benchmarks.stepper import MANY, best_time

INTERVAL = 0.1
LIMIT = 0.2
WANTED_US = 15.0
"""Of `env.step`, beyond the step."""
WANTED_TIMES = 20.0
"""How much faster a vector is than one by one."""
METHODS: dict[str, dict[str, Any]] = {
    "rk4": {"method": "rk4", "step": 0.05},
    "splitting4": {"method": "splitting4", "step": 0.05},
    "dop853": {"method": "dop853"},
}


def _start(random: np.random.Generator) -> ph.State:
    return ph.State(angular_velocity_body=random.normal(size=3) / 100)


def _effort(given: Any, action: Any) -> Any:
    """A reward that reads the state, of one environment or of many."""
    return -abs(given.state.angular_velocity_body).sum(axis=-1)


def _ends(given: Any) -> Any:
    """Episodes that end at different times: the clocks of a vector differ from then on."""
    return given.state.angular_velocity_body[..., 0] > LIMIT / 10


def measure_environment(environments: int, steps: int, repeats: int) -> dict[str, dict[str, float]] | None:
    """Microseconds of steps, by method; None without Gymnasium."""
    if find_spec("gymnasium") is None:
        return None
    return {name: _measure(settings, environments, steps, repeats) for name, settings in METHODS.items()}


def _measure(settings: dict[str, Any], environments: int, steps: int, repeats: int) -> dict[str, float]:
    satellite = ph.Body(mass=50.0, inertia=(4.0, 5.0, 6.0))
    scenario = ph.Scenario(satellite, forces=[ph.forces.gravity()], duration=1e6, **settings)
    given: dict[str, Any] = {"interval": INTERVAL, "actions": {"torque_body": LIMIT}, "start": _start}
    env, rewarded = ph.environment(scenario, **given), ph.environment(scenario, reward=_effort, **given)
    for one in (env, rewarded):
        one.reset(seed=1)
    actions = np.random.default_rng(1).uniform(-LIMIT, LIMIT, (environments, 3))

    stepper = ph.Stepper(scenario)
    stepper.advance(INTERVAL)
    one_advance = best_time(partial(stepper.advance, INTERVAL), steps, repeats)
    many = best_time(partial(stepper.advance, MANY * INTERVAL), max(1, steps // MANY), repeats)
    alone = (many - one_advance) / (MANY - 1)

    single = best_time(partial(env.step, actions[0]), steps, repeats)
    with_reward = best_time(partial(rewarded.step, actions[0]), steps, repeats)
    count = max(1, steps // environments)
    vector = _vector_time(scenario, environments, actions, count, repeats, given)
    vector_rewarded = _vector_time(scenario, environments, actions, count, repeats, given | {"reward": _effort})
    mixed = given | {"reward": _effort, "ends": _ends}
    return {
        "step": alone * 1e6,
        "env_step": single * 1e6,
        "beyond": (single - alone) * 1e6,
        "with_reward_beyond": (with_reward - alone) * 1e6,
        "wanted": WANTED_US,
        "environments": environments,
        "one_by_one": single * environments * 1e6,
        "vector": vector * 1e6,
        "times_faster": single * environments / vector,
        "one_by_one_with_reward": with_reward * environments * 1e6,
        "vector_with_reward": vector_rewarded * 1e6,
        "times_faster_with_reward": with_reward * environments / vector_rewarded,
        "vector_of_mixed_clocks": _vector_time(scenario, environments, actions, count, repeats, mixed) * 1e6,
        "wanted_times": WANTED_TIMES,
    }


def _vector_time(
    scenario: ph.Scenario, environments: int, actions: Any, count: int, repeats: int, given: dict[str, Any]
) -> float:
    envs = ph.vector_environment(scenario, environments, **given)
    envs.reset(seed=1)
    for _ in range(20):  # until the clocks differ, where episodes end
        envs.step(actions)
    return best_time(partial(envs.step, actions), count, repeats)


def format_environment(found: dict[str, dict[str, float]]) -> list[str]:
    """The figures for people, line by line."""
    count = next(iter(found.values()))["environments"]
    lines = [
        f"a Gymnasium environment, us; wanted {WANTED_US:g} beyond the step",
        f"{'':<14} {'step':>8} {'env.step':>9} {'beyond':>8} {'with a reward':>14}",
    ]
    lines += [
        f"  {name:<12} {row['step']:8.2f} {row['env_step']:9.2f} {row['beyond']:8.2f} {row['with_reward_beyond']:14.2f}"
        for name, row in found.items()
    ]
    lines += [
        "",
        f"{count:,.0f} environments, ms a step; wanted {WANTED_TIMES:g} times faster than one by one",
        f"{'':<14} {'one by one':>10} {'vector':>8} {'times':>6} {'with a reward':>14} {'vector':>8} {'times':>6} "
        f"{'mixed clocks':>13}",
    ]
    for name, row in found.items():
        lines.append(
            f"  {name:<12} {row['one_by_one'] / 1e3:10.2f} {row['vector'] / 1e3:8.3f} {row['times_faster']:6.1f} "
            f"{row['one_by_one_with_reward'] / 1e3:14.2f} {row['vector_with_reward'] / 1e3:8.3f} "
            f"{row['times_faster_with_reward']:6.1f} {row['vector_of_mixed_clocks'] / 1e3:13.3f}"
        )
    return lines
