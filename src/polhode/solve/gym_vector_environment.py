"""The class of vectors of environments, which exists only where Gymnasium is installed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from polhode.errors import InputError, show
from polhode.scenario.scenario import Scenario
from polhode.solve.driven_loads import DrivenLoads
from polhode.solve.environment import check_seed, returned_numbers
from polhode.solve.episode_clock import EpisodeClock
from polhode.solve.many_motions import Happening, ManyMotions
from polhode.validation import Array, is_whole_number

Info = dict[str, Any]
RESET_MASK = "reset_mask"


class ScenarioVectorEnvironment(gymnasium.vector.VectorEnv):  # type: ignore[misc, type-arg, unused-ignore]
    """Many environments of one scenario, advanced together: see `ph.vector_environment`.

    It does what `gymnasium.vector.SyncVectorEnv` of as many `ph.environment` does, with the same numbers.
    """

    def __init__(
        self,
        scenario: Scenario,
        count: int,
        interval: float,
        actions: DrivenLoads,
        reward: Callable[[ManyMotions, Any], Any] | None,
        observe: Callable[[ManyMotions], Any] | None,
        ends: Callable[[ManyMotions], Any] | None,
        start: Callable[[Any], Any] | None,
        autoreset: AutoresetMode,
    ) -> None:
        self.scenario, self.interval, self.num_envs = scenario, interval, count
        self.metadata = {"render_modes": [], "autoreset_mode": autoreset}
        self._actions, self._reward, self._observe, self._ends, self._draw = actions, reward, observe, ends, start
        self._mode = autoreset
        self.single_action_space = gymnasium.spaces.Box(-actions.limits, actions.limits, dtype=np.float64)
        self.action_space = batch_space(self.single_action_space, count)
        self.motions = ManyMotions.of(scenario, count, actions)
        """The motions of the episodes."""
        self._clock = EpisodeClock(scenario.start_time, scenario.duration, interval)
        self._taken, self._is_over = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=bool)
        self._seeds: list[int | None] = [None] * count
        """Of random streams that have not been asked for yet; None: one that nobody has chosen."""
        self._streams: list[np.random.Generator | None] = [None] * count
        shape = self._look().shape[1:]
        self.single_observation_space = gymnasium.spaces.Box(-np.inf, np.inf, shape=shape, dtype=np.float64)
        self.observation_space = batch_space(self.single_observation_space, count)

    # Random streams -------------------------------------------------------------------------------------------------
    @property
    def np_random(self) -> Any:
        """The random streams of the environments, each its own."""
        return tuple(self._stream(i) for i in range(self.num_envs))

    @property
    def np_random_seed(self) -> Any:
        """Their seeds."""
        _ = self.np_random
        return tuple(self._seeds)

    def _stream(self, i: int) -> np.random.Generator:
        found = self._streams[i]
        if found is None:
            found, self._seeds[i] = seeding.np_random(self._seeds[i])
            self._streams[i] = found
        return found

    def _seed(self, seed: Any, numbers: Any) -> None:
        """Begin the streams of these environments anew: seed, seed + 1, ..., or as a list says."""
        if seed is None:
            return
        is_number = is_whole_number(seed)
        seeds = [int(seed) + i for i in range(self.num_envs)] if is_number else seed
        if not isinstance(seeds, (list, tuple)) or len(seeds) != self.num_envs:
            raise InputError(f"seed must be a whole number, or a list of {self.num_envs}, not {show(seed)}")
        for one in seeds:
            check_seed(one)
        for i in numbers:
            if seeds[i] is not None:
                self._seeds[i], self._streams[i] = int(seeds[i]), None

    # Episodes -------------------------------------------------------------------------------------------------------
    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, Info]:
        """Begin an episode in every environment, or in those that `options={"reset_mask": ...}` names."""
        if options is not None and not isinstance(options, Mapping):
            raise InputError(f"options of reset must be a dict, such as {{'reset_mask': ...}}, not {show(options)}")
        given = dict(options or {})
        mask = self._check_mask(given.pop(RESET_MASK, None))
        if given:
            raise InputError(f"reset takes no options but 'reset_mask', not {show(given)}")
        numbers = np.flatnonzero(mask)
        self._seed(seed, numbers)
        self._begin(numbers)
        return self._look(), self._times_of(mask)

    def _check_mask(self, given: Any) -> Any:
        if given is None:
            return np.ones(self.num_envs, dtype=bool)
        if not isinstance(given, np.ndarray) or given.dtype != np.bool_ or given.shape != (self.num_envs,):
            raise InputError(f"reset_mask must be an array of {self.num_envs} truth values, not {show(given)}")
        if not given.any():
            raise InputError("reset_mask names no environment: at least one must be True")
        return given

    def _begin(self, numbers: Any) -> None:
        if len(numbers):
            states = None if self._draw is None else [self._draw(self._stream(i)) for i in numbers.tolist()]
            self.motions.begin(numbers, states)
        self._taken[numbers], self._is_over[numbers] = 0, False

    def step(self, actions: Any) -> tuple[Array, Array, Any, Any, Info]:
        """Hold the loads for an interval; environments whose episodes were over begin anew, as `metadata` says."""
        if self._mode == AutoresetMode.DISABLED and self._is_over.any():
            raise InputError(
                f"the episode of environment {int(np.argmax(self._is_over))} is over: begin it anew with "
                "reset(options={'reset_mask': ...}) before the next step"
            )
        moving = ~self._is_over
        numbers = self._actions.clip(actions, (self.num_envs, len(self._actions.limits)), moving)
        self.motions.set_loads(numbers, moving)
        times, is_last = self._clock.ends_of_steps(self._taken + 1)
        happened = self.motions.advance(moving, times)
        self._taken[moving] += 1
        self._begin(np.flatnonzero(~moving))

        terminated = self._ended() & moving
        for happening in happened:
            terminated[happening.number] |= happening.is_over
        truncated = is_last & moving & ~terminated
        rewards = np.where(moving, self._rewards(actions), 0.0)
        over = terminated | truncated
        info = self._times_of(np.ones(self.num_envs, dtype=bool))
        if self._mode == AutoresetMode.SAME_STEP and over.any():
            info = self._end_and_begin(over, happened)
        else:
            self._tell(info, happened)
            self._is_over = over
        return self._look(), rewards, terminated, truncated, info

    def _end_and_begin(self, over: Any, happened: list[Happening]) -> Info:
        """Begin those anew that are over; what they saw last is in the information, as Gymnasium has it."""
        last = np.full(self.num_envs, None, dtype=object)
        observations = self._look()
        for i in np.flatnonzero(over).tolist():
            last[i] = observations[i]
        final = self._times_of(over)
        self._tell(final, [h for h in happened if over[h.number]])
        self._begin(np.flatnonzero(over))
        info = self._times_of(np.ones(self.num_envs, dtype=bool))
        self._tell(info, [h for h in happened if not over[h.number]])
        return info | {"final_obs": last, "_final_obs": over.copy(), "final_info": final, "_final_info": over.copy()}

    def _times_of(self, mask: Any) -> Info:
        return {"time": np.where(mask, self.motions.time, 0.0), "_time": np.array(mask)}

    def _tell(self, info: Info, happened: list[Happening]) -> None:
        for happening in happened:
            self._add_info(info, happening.info, happening.number)

    # What a user's functions say ------------------------------------------------------------------------------------
    def _look(self) -> Array:
        if self._observe is None:
            return self.motions.read_states()
        seen = returned_numbers(self._observe(self.motions), "observe")
        if seen.ndim == 0 or len(seen) != self.num_envs:
            raise InputError(
                f"observe must return a row for each of the {self.num_envs} environments, but returned the shape "
                f"{seen.shape}: the states have a leading axis for them, so sum over axis=-1"
            )
        return np.array(seen)

    def _rewards(self, actions: Any) -> Array:
        if self._reward is None:
            return np.zeros(self.num_envs)
        rewards = returned_numbers(self._reward(self.motions, actions), "reward")
        self._check_one_each(rewards, "reward")
        if not np.isfinite(rewards).all():
            i = int(np.argmax(~np.isfinite(rewards)))
            raise InputError(f"the reward of environment {i} must be finite, but is {rewards[i]:g}")
        return rewards

    def _ended(self) -> Any:
        if self._ends is None:
            return np.zeros(self.num_envs, dtype=bool)
        ended = np.asarray(self._ends(self.motions))
        if ended.dtype != np.bool_:
            raise InputError(f"ends must return truth values, one for each environment, not {show(ended)}")
        self._check_one_each(ended, "ends")
        return ended

    def _check_one_each(self, given: Any, name: str) -> None:
        if given.shape != (self.num_envs,):
            raise InputError(
                f"{name} must return one value for each of the {self.num_envs} environments, but returned the shape "
                f"{given.shape}: the states have a leading axis for them, so sum over axis=-1"
            )
