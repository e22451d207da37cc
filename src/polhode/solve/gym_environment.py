"""The class of environments, which exists only where Gymnasium is installed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import gymnasium
import numpy as np

from polhode.errors import InputError, RunError
from polhode.scenario.scenario import Scenario
from polhode.solve.stepper import Stepper
from polhode.validation import Array, check_number, check_numbers, shape_of

ROUNDING = 1e-6
"""An action beyond its limits by this fraction was rounded to 32 bits."""


class ScenarioEnvironment(gymnasium.Env):  # type: ignore[misc, type-arg, unused-ignore]
    """A scenario as a Gymnasium environment: see `ph.environment`."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(
        self,
        scenario: Scenario,
        interval: float,
        actions: list[tuple[str, int, Array]],
        reward: Callable[[Stepper, Any], float] | None,
        observe: Callable[[Stepper], Any] | None,
        ends: Callable[[Stepper], bool] | None,
        start: Callable[[Any], Any] | None,
    ) -> None:
        self.scenario, self.interval = scenario, interval
        self._actions, self._reward, self._observe, self._ends, self._draw = actions, reward, observe, ends, start
        self._limits = np.concatenate([limits[limits > 0.0] for _, _, limits in actions])
        self.action_space = gymnasium.spaces.Box(-self._limits, self._limits, dtype=np.float64)
        self.stepper = Stepper(scenario)
        """The motion of the episode."""
        self._beginning = self.stepper.save()
        self._taken, self._is_over = 0, False
        shape = self._look().shape
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, shape=shape, dtype=np.float64)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Begin an episode."""
        super().reset(seed=seed)
        if options:
            raise InputError(f"reset takes no options, but got {options!r}: a random start is given by `start`")
        if self._draw is None:
            self.stepper.restore(self._beginning)
        else:
            state = self._draw(self.np_random)
            self.stepper = Stepper(replace(self.scenario, state=state))
        self._taken, self._is_over = 0, False
        return self._look(), {"time": self.stepper.time}

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Hold a load for an interval."""
        if self._is_over:
            raise InputError("the episode is over: call reset() before the next step")
        self._apply(action)
        stepper, start = self.stepper, self.stepper.scenario.start_time
        end = start + self.scenario.duration
        following = start + (self._taken + 1) * self.interval
        is_last = following >= end - 1e-9 * self.interval
        info: dict[str, Any] = {}
        terminated = False
        try:
            happened = stepper.advance_to(end if is_last else following)
            if happened is not None:
                info["impacts" if stepper.scenario.contacts else "events"] = happened
            terminated = stepper.has_stopped
        except RunError as error:
            info["error"], terminated = str(error), True
        self._taken += 1
        terminated = terminated or (self._ends is not None and bool(self._ends(stepper)))
        truncated = is_last and not terminated
        self._is_over = terminated or truncated
        reward = 0.0 if self._reward is None else check_number(self._reward(stepper, action), "the reward")
        return self._look(), reward, terminated, truncated, info | {"time": stepper.time}

    def _apply(self, action: Any) -> None:
        numbers = check_numbers(action, "action", shape_of(action), wanted=f"{len(self._limits)} numbers")
        if numbers.shape != self._limits.shape:
            raise InputError(f"action must be {len(self._limits)} numbers, but has the shape {numbers.shape}")
        beyond = np.abs(numbers) > self._limits * (1 + ROUNDING)
        if beyond.any():
            i = int(np.argmax(beyond))
            raise InputError(
                f"number {i} of the action, {numbers[i]:g}, is beyond its limit, {self._limits[i]:g}: clip it, or let "
                "gymnasium.wrappers.ClipAction do so"
            )
        loads: dict[int, dict[str, Any]] = {}
        first = 0
        for name, body, limits in self._actions:
            vector, driven = np.zeros(3), limits > 0.0
            last = first + int(driven.sum())
            vector[driven] = np.clip(numbers[first:last], -limits[driven], limits[driven])
            loads.setdefault(body, {})[name] = vector
            first = last
        for body, given in loads.items():
            self.stepper.set_loads(body=body, **given)

    def _look(self) -> Array:
        if self._observe is not None:
            return np.array(self._observe(self.stepper), dtype=np.float64)
        states = self.stepper.state if self.stepper.scenario.is_system else [self.stepper.state]
        parts = [(s.position, s.quaternion_wxyz, s.velocity, s.angular_velocity_body) for s in states]
        return np.concatenate([np.asarray(part) for each in parts for part in each])
