"""`environment`: a scenario as a Gymnasium environment, in which controllers are trained."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.errors import InputError, ScenarioError, nearest
from polhode.scenario.scenario import Scenario
from polhode.solve.applied_loads import NAMES
from polhode.validation import check_number, check_numbers, shape_of

if TYPE_CHECKING:
    import gymnasium

    from polhode.solve.stepper import Stepper

INSTALL_HINT = "environments need Gymnasium: pip install 'polhode[control]'"


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
    that failed.  Needs Gymnasium: `pip install 'polhode[control]'`.

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
    try:
        import gymnasium  # noqa: F401
    except ImportError as why:
        raise InputError(f"{why}; {INSTALL_HINT}") from None
    from polhode.solve.gym_environment import ScenarioEnvironment

    if not isinstance(scenario, Scenario):
        raise InputError(f"an environment is made of a ph.Scenario, not of {type(scenario).__name__}")
    scenario = replace(scenario, output_step=None, output_times=None)
    between = check_number(interval, "interval")
    if not 0.0 < between <= scenario.duration:
        raise InputError(f"interval={between:g} s must be above 0 and at most the duration, {scenario.duration:g} s")
    for name, function in (("reward", reward), ("observe", observe), ("ends", ends), ("start", start)):
        if function is not None and not callable(function):
            raise InputError(f"{name} must be a function, not {function!r}")
    return ScenarioEnvironment(scenario, between, _check_actions(actions, scenario), reward, observe, ends, start)


def _check_actions(actions: Any, scenario: Scenario) -> list[tuple[str, int, Any]]:
    """What is driven: the name of the load, the body, and the limits of its components."""
    if not isinstance(actions, Mapping) or not actions:
        raise InputError(f"actions must name loads and their limits, such as {{'torque_body': 0.1}}, not {actions!r}")
    found = []
    for key, limit in actions.items():
        name, body = key if isinstance(key, tuple) and len(key) == 2 else (key, 0)
        if name not in NAMES:
            raise InputError(f"actions has {name!r}, which is no load: {nearest(str(name), NAMES)}")
        if isinstance(body, bool) or not isinstance(body, int) or not 0 <= body < len(scenario.bodies):
            raise ScenarioError(f"actions has body {body!r}: they are numbered from 0 to {len(scenario.bodies) - 1}")
        limits = check_numbers(limit, f"the limit of {name}", shape_of(limit), wanted="one number or three")
        if limits.shape not in ((), (3,)) or (limits < 0).any():
            raise InputError(f"the limit of {name} must be one number or three, none below 0, but is {limit!r}")
        found.append((name, body, np.broadcast_to(limits, (3,)).copy()))
    if not any(limits.any() for _, _, limits in found):
        raise InputError("all limits of the actions are 0: nothing could be done")
    return found
