"""`environment`, `vector_environment`: a scenario as a Gymnasium environment, in which controllers are trained."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.errors import InputError, show
from polhode.installation import install_hint
from polhode.scenario.scenario import Scenario
from polhode.solve.driven_loads import DrivenLoads
from polhode.validation import Array, as_floats, check_number, check_word, is_whole_number

if TYPE_CHECKING:
    import gymnasium

    from polhode.solve.many_motions import ManyMotions
    from polhode.solve.stepper import Stepper

AUTORESETS = ("next_step", "same_step", "disabled")
MOST_ENVIRONMENTS = 10**7
"""Their buffer would take 10 GB."""
INSTALL_HINT = f"environments need Gymnasium: {install_hint('control')}"


def environment(
    scenario: Scenario,
    *,
    interval: float,
    actions: Mapping[Any, Any],
    reward: Callable[[Stepper, Any], float] | None = None,
    observe: Callable[[Stepper], Any] | None = None,
    ends: Callable[[Stepper], bool] | None = None,
    start: Callable[[np.random.Generator], Any] | None = None,
) -> gymnasium.Env[Any, Any]:
    """A scenario as a Gymnasium environment: actions are loads, held for an interval; observations are states.

    An episode is as long as the scenario (`truncated`), unless `ends`, an event that stops the motion, or a motion that
    fails ends it (`terminated`).  `info` has the time, the events or impacts of the step, and the error of a motion
    that failed.  Needs Gymnasium: `pip install '.[control]'` in a clone.

    Parameters
    ----------
    scenario : Scenario
        What is simulated: body or bodies, start, forces, events or contacts, method; its duration is that of an
        episode.
    interval : float
        The time between two actions, in s.
    actions : dict
        What the action drives, and its limits: keys are "force", "torque", "force_body" or "torque_body", for a body of
        a system ("torque_body", 1); values are the largest magnitude of each component, one number or three, in N or
        N m.  A component whose limit is 0 has no place in the action.
    reward : callable, optional
        (stepper, action) -> the reward of the step that has just been made.  By default 0.
    observe : callable, optional
        (stepper) -> the observation, an array.  By default position, quaternion (w, x, y, z), velocity and angular
        velocity in body axes, of one body after another.
    ends : callable, optional
        (stepper) -> whether the episode is over.
    start : callable, optional
        (random generator) -> the state, or the list of states, from which an episode begins.  By default the
        scenario's.

    Returns
    -------
    gymnasium.Env
        Its `stepper` is the `ph.Stepper` of the episode.

    Examples
    --------
    >>> import polhode as ph
    >>> satellite = ph.Body(mass=50.0, inertia=(4.0, 5.0, 6.0))
    >>> tumbling = ph.State(angular_velocity_body=(0.02, -0.01, 0.03))
    >>> scenario = ph.Scenario(satellite, tumbling, duration=60.0, method="rk4", step=0.05)
    >>> env = ph.environment(scenario, interval=0.1, actions={"torque_body": 0.02},
    ...                      reward=lambda stepper, action: -abs(stepper.state.angular_velocity_body).sum())
    >>> observation, info = env.reset(seed=1)
    >>> observation, reward, terminated, truncated, info = env.step((-0.02, 0.01, -0.02))
    >>> observation.shape, round(info["time"], 9), terminated, truncated
    ((13,), 0.1, False, False)
    """
    _require_gymnasium()
    from polhode.solve.gym_environment import ScenarioEnvironment

    scenario, between, driven = _check(scenario, interval, actions, reward, observe, ends, start)
    return ScenarioEnvironment(scenario, between, driven, reward, observe, ends, start)


def vector_environment(
    scenario: Scenario,
    num_envs: int,
    *,
    interval: float,
    actions: Mapping[Any, Any],
    reward: Callable[[ManyMotions, Any], Any] | None = None,
    observe: Callable[[ManyMotions], Any] | None = None,
    ends: Callable[[ManyMotions], Any] | None = None,
    start: Callable[[np.random.Generator], Any] | None = None,
    autoreset: str = "next_step",
) -> gymnasium.vector.VectorEnv[Any, Any, Any]:
    """Many environments of one scenario as a Gymnasium vector environment: the compiled loop advances all together.

    Each has its own actions, episode and random stream, and the numbers of a `ph.environment` that is seeded alike, to
    the bit.  A scenario with events, contacts, forces that begin or end, or forces between bodies runs in it too, one
    environment after the other.

    Parameters
    ----------
    scenario, interval, actions, start
        As in `ph.environment`.  `start` is called for one environment at a time, with its own random generator.
    num_envs : int
        How many.
    reward, observe, ends : callable, optional
        As in `ph.environment`, but for all environments at once: `motions.state` and `motions.time` have a leading
        axis for them, and so has what is returned.
    autoreset : {"next_step", "same_step", "disabled"}, optional
        When an environment whose episode is over begins anew: in the step after (then its reward is 0 and its action
        does not matter), in the same step (its last observation and information are `final_obs` and `final_info`), or
        by `reset(options={"reset_mask": ...})`.  `metadata["autoreset_mode"]` says so.

    Returns
    -------
    gymnasium.vector.VectorEnv
        Its `motions` are those of the episodes.

    Examples
    --------
    >>> import numpy as np, polhode as ph
    >>> satellite = ph.Body(mass=50.0, inertia=(4.0, 5.0, 6.0))
    >>> scenario = ph.Scenario(satellite, duration=60.0, method="rk4", step=0.05)
    >>> envs = ph.vector_environment(scenario, 4096, interval=0.1, actions={"torque_body": 0.02},
    ...     start=lambda random: ph.State(angular_velocity_body=random.normal(size=3) / 100),
    ...     reward=lambda motions, actions: -abs(motions.state.angular_velocity_body).sum(axis=-1))
    >>> observations, info = envs.reset(seed=1)
    >>> observations, rewards, terminated, truncated, info = envs.step(np.zeros((4096, 3)))
    >>> observations.shape, rewards.shape, bool(terminated.any())
    ((4096, 13), (4096,), False)
    """
    _require_gymnasium()
    from gymnasium.vector import AutoresetMode

    from polhode.solve.gym_vector_environment import ScenarioVectorEnvironment

    scenario, between, driven = _check(scenario, interval, actions, reward, observe, ends, start)
    if not is_whole_number(num_envs) or not 1 <= num_envs <= MOST_ENVIRONMENTS:
        raise InputError(
            f"num_envs must be a whole number from 1 to {MOST_ENVIRONMENTS:,}, the number of environments, not "
            f"{show(num_envs)}"
        )
    mode = (
        autoreset
        if isinstance(autoreset, AutoresetMode)
        else AutoresetMode[check_word(autoreset, "autoreset", AUTORESETS).upper()]
    )
    return ScenarioVectorEnvironment(scenario, int(num_envs), between, driven, reward, observe, ends, start, mode)


def _require_gymnasium() -> None:
    try:
        import gymnasium  # noqa: F401
    except ImportError as why:
        raise InputError(f"{why}; {INSTALL_HINT}") from None


def _check(
    scenario: Any, interval: Any, actions: Any, reward: Any, observe: Any, ends: Any, start: Any
) -> tuple[Scenario, float, DrivenLoads]:
    """The arguments that an environment and a vector of them share: scenario, interval, and what actions drive."""
    if not isinstance(scenario, Scenario):
        raise InputError(f"an environment is made of a ph.Scenario, not of {type(scenario).__name__}")
    scenario = replace(scenario, output_step=None, output_times=None)
    if scenario.members is not None:
        raise InputError("an environment is one motion, not an ensemble: for many take ph.vector_environment")
    between = check_number(interval, "interval")
    if not 0.0 < between <= scenario.duration:
        raise InputError(f"interval={between:g} s must be above 0 and at most the duration, {scenario.duration:g} s")
    for name, function in (("reward", reward), ("observe", observe), ("ends", ends), ("start", start)):
        if function is not None and not callable(function):
            raise InputError(f"{name} must be a function, not {show(function)}")
    return scenario, between, DrivenLoads(actions, scenario)


def check_seed(seed: Any) -> None:
    """Refuse what seeds no random stream."""
    if seed is not None and (not is_whole_number(seed) or seed < 0):
        raise InputError(f"a seed is a whole number of at least 0, or None, not {show(seed)}")


def returned_numbers(given: Any, name: str) -> Array:
    """What a function of the user has returned, if it is numbers."""
    try:
        return as_floats(given)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} must return numbers, not {show(given)}") from None
