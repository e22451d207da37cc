"""The loads that an action drives: which numbers of an action are which components, and how large they may be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from polhode.errors import InputError, ScenarioError, nearest, show
from polhode.scenario.scenario import Scenario
from polhode.solve.applied_loads import NAMES
from polhode.solve.stepper import Stepper
from polhode.validation import Array, check_numbers, is_whole_number, shape_of

ROUNDING = 1e-6
"""An action beyond its limits by this fraction was rounded to 32 bits."""
LOAD_NUMBERS = 3 * len(NAMES)
"""Of the load on a body: four vectors."""


class DrivenLoads:
    """What actions drive, one number after the other."""

    def __init__(self, actions: Any, scenario: Scenario) -> None:
        """Check what a user gives: loads by name, or by name and body, with the limits of their components."""
        if not isinstance(actions, Mapping) or not actions:
            raise InputError(
                f"actions must name loads and their limits, such as {{'torque_body': 0.1}}, not {show(actions)}"
            )
        places, limits = [], []
        for key, limit in actions.items():
            name, body = key if isinstance(key, tuple) and len(key) == 2 else (key, 0)
            if not isinstance(name, str) or name not in NAMES:
                raise InputError(f"actions has {show(name)}, which is no load: {nearest(name, NAMES)}")
            if not is_whole_number(body) or not 0 <= body < len(scenario.bodies):
                raise ScenarioError(
                    f"actions has body {show(body)}: they are numbered from 0 to {len(scenario.bodies) - 1}"
                )
            largest = check_numbers(limit, f"the limit of {name}", shape_of(limit), wanted="one number or three")
            if largest.shape not in ((), (3,)) or (largest < 0).any():
                raise InputError(f"the limit of {name} must be one number or three, none below 0, but is {show(limit)}")
            for i, number in enumerate(np.broadcast_to(largest, (3,)).tolist()):
                if number > 0.0:
                    places.append((body, 3 * NAMES.index(name) + i))
                    limits.append(number)
        if not limits:
            raise InputError("all limits of the actions are 0: nothing could be done")
        self.limits = np.array(limits)
        self.places = places
        """The body of each number of an action, and which of its twelve numbers it is."""
        self.bodies = sorted({body for body, _ in places})
        flat = (body * LOAD_NUMBERS + place for body, place in places)
        self._spread = list(zip(flat, limits, strict=True))
        self._room = [0.0] * (LOAD_NUMBERS * len(scenario.bodies))
        self._slices = [(body, slice(body * LOAD_NUMBERS, (body + 1) * LOAD_NUMBERS)) for body in self.bodies]

    def apply(self, action: Any, stepper: Stepper) -> None:
        """Set the loads of an action; one that is refused changes nothing."""
        if not self._takes(action):
            self._fill(self.clip(action, self.limits.shape).tolist())
        room = self._room
        for body, part in self._slices:
            stepper.set_load_numbers(room[part], body)

    def _takes(self, action: Any) -> bool:
        """Take the numbers of an array that is as it should be; of others the closer look says what is wrong."""
        if type(action) is not np.ndarray or action.dtype.kind != "f" or action.shape != self.limits.shape:
            return False
        room = self._room
        for number, (place, limit) in zip(action.tolist(), self._spread, strict=True):
            if not -limit <= number <= limit:  # NaN, too
                return False
            room[place] = number
        return True

    def _fill(self, numbers: list[float]) -> None:
        for number, (place, _) in zip(numbers, self._spread, strict=True):
            self._room[place] = number

    def clip(self, action: Any, shape: tuple[int, ...], counts: Any = None) -> Array:
        """The numbers of an action, or of many, within their limits; what is beyond by more than rounding is refused.

        Of many actions, `counts` says for which it matters.
        """
        wanted = " x ".join(map(str, shape)) + " numbers"
        numbers = check_numbers(action, "action", shape_of(action), wanted=wanted)
        if numbers.shape != shape:
            raise InputError(f"action must be {wanted}, but has the shape {numbers.shape}")
        if ((numbers >= -self.limits) & (numbers <= self.limits)).all():
            return numbers
        beyond = np.abs(numbers) > self.limits * (1 + ROUNDING)
        if counts is not None:
            beyond &= counts[:, None]
        if beyond.any():
            *environment, i = np.unravel_index(int(np.argmax(beyond)), shape)
            where = f" of environment {environment[0]}" if environment else ""
            raise InputError(
                f"number {i} of the action{where}, {numbers[*environment, i]:g}, is beyond its limit, "
                f"{self.limits[i]:g}: clip it, or let gymnasium.wrappers.ClipAction do so"
            )
        return np.clip(numbers, -self.limits, self.limits)
