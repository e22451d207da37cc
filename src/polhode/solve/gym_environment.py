"""The class of environments, which exists only where Gymnasium is installed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import gymnasium
import numpy as np

from polhode.errors import InputError, show
from polhode.scenario.scenario import Scenario
from polhode.solve.driven_loads import DrivenLoads
from polhode.solve.environment import check_seed, returned_numbers
from polhode.solve.episode_clock import EpisodeClock
from polhode.solve.many_motions import advance_one
from polhode.solve.stepper import Stepper
from polhode.validation import Array, check_flag, check_number


class ScenarioEnvironment(gymnasium.Env):  # type: ignore[misc, type-arg, unused-ignore]
    """A scenario as a Gymnasium environment: see `ph.environment`."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(
        self,
        scenario: Scenario,
        interval: float,
        actions: DrivenLoads,
        reward: Callable[[Stepper, Any], float] | None,
        observe: Callable[[Stepper], Any] | None,
        ends: Callable[[Stepper], bool] | None,
        start: Callable[[Any], Any] | None,
    ) -> None:
        self.scenario, self.interval = scenario, interval
        self._actions, self._reward, self._observe, self._ends, self._draw = actions, reward, observe, ends, start
        self.action_space = gymnasium.spaces.Box(-actions.limits, actions.limits, dtype=np.float64)
        self.stepper = Stepper(scenario)
        """The motion of the episode."""
        self._beginning = self.stepper.save()
        self._clock = EpisodeClock(scenario.start_time, scenario.duration, interval)
        self._taken, self._is_over = 0, False
        shape = self._look().shape
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, shape=shape, dtype=np.float64)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Begin an episode."""
        check_seed(seed)
        if options is not None and not (isinstance(options, Mapping) and not options):
            raise InputError(f"reset takes no options, but got {show(options)}: a random start is given by `start`")
        super().reset(seed=seed if seed is None else int(seed))
        if self._draw is None:
            self.stepper.restore(self._beginning)
        else:
            self.stepper = Stepper(replace(self.scenario, state=self._draw(self.np_random)))
            self._clock = EpisodeClock(self.stepper.time, self.scenario.duration, self.interval)
        self._taken, self._is_over = 0, False
        return self._look(), {"time": self.stepper.time}

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Hold a load for an interval."""
        if self._is_over:
            raise InputError("the episode is over: call reset() before the next step")
        stepper = self.stepper
        self._actions.apply(action, stepper)
        self._taken += 1
        time, is_last = self._clock.end_of_step(self._taken)
        _, info, terminated = advance_one(stepper, time)
        if self._ends is not None and not terminated:
            terminated = check_flag(self._ends(stepper), "what ends returns")
        truncated = is_last and not terminated
        self._is_over = terminated or truncated
        reward = 0.0 if self._reward is None else check_number(self._reward(stepper, action), "the reward")
        info["time"] = stepper.time
        return self._look(), reward, terminated, truncated, info

    def _look(self) -> Array:
        if self._observe is not None:
            return np.array(returned_numbers(self._observe(self.stepper), "observe"))
        return self.stepper.read_states()
