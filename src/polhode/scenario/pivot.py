"""A pivot: a point of one body that is held fixed in the world."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import validation
from polhode.equations.pivot import com_velocity, pivot_to_com_world
from polhode.errors import ScenarioError
from polhode.scenario.members import select_members
from polhode.scenario.part import ScenarioPart
from polhode.scenario.setting import Setting
from polhode.scenario.state import stack_components
from polhode.validation import as_leaves

if TYPE_CHECKING:
    from polhode.scenario.scenario import Scenario


class PivotPart(ScenarioPart):
    """Three numbers, perhaps over members, from the center of mass along the body axes, in m."""

    setting = Setting(
        "pivot",
        "ArrayLike | None",
        "Array | None",
        "None",
        "array_like, optional",
        "A point of the body (from its center of mass, body axes, in m) that is held fixed in the world.",
    )
    words = "a pivot"

    def check(self, given: Any, bodies: Any) -> Any:
        return None if given is None else validation.check_numbers(given, "pivot", (3,), ScenarioError)

    def validate(self, scenario: Scenario) -> None:
        if scenario.is_system:
            raise ScenarioError("a pivot holds one body: give the body by itself, not in a list")
        _validate_velocity(scenario)

    def lengths(self, held: Any) -> set[int]:
        return {len(held)} if np.ndim(held) == 2 else set()

    def select(self, held: Any, members: Any) -> Any:
        return None if held is None else select_members(held, 1, members)

    def obstacle(self, scenario: Scenario) -> str | None:
        return "gravity turns a body about its pivot" if scenario.of_kind("body") else None


def _validate_velocity(scenario: Scenario) -> None:
    """The velocity of the center of mass follows from the rotation about the pivot: zero means that."""
    _ = scenario.members  # as many of everything
    given, state, pivot = scenario.states[0].velocity, scenario.states[0], np.asarray(scenario.pivot)
    with np.errstate(over="ignore"):
        moment = scenario.bodies[0].mass * (pivot * pivot).sum(axis=-1)
    validation.check_still_finite(np.asarray(moment), "the moment of inertia about the pivot")
    pivot_to_com = pivot_to_com_world(as_leaves(state.quaternion_wxyz), as_leaves(pivot))
    turning = stack_components(com_velocity(as_leaves(state.angular_velocity), pivot_to_com))
    off = np.linalg.norm(given - turning, axis=-1) > 1e-9 * np.linalg.norm(turning, axis=-1)
    if np.any(given) and off.any():
        raise ScenarioError(
            "with a pivot the velocity of the center of mass follows from the angular velocity: leave it at zero"
        )
